"""`tf.compat.v1` by its names: every function of its own has a test."""

import ast
import functools
import inspect
import json
import pathlib
import re
import sys

import tapeflow as tf
from goldens.case import group_names, load

ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from recording import v1_stub  # noqa: E402

SIGNATURES = json.loads((ROOT / "tests" / "fixtures" / "v1_signatures.json").read_text())


def found(path):
    try:
        return functools.reduce(getattr, path.split("."), tf.compat.v1)
    except AttributeError:
        return None


def test_parameters_of_variables():
    made = inspect.signature(type(tf.compat.v1.Variable).__call__).parameters
    wanted = re.findall(r"(\w+)=", SIGNATURES["Variable"])
    assert list(made)[1 : len(wanted) + 1] == wanted


def test_editors_know_the_functions_that_are_made():
    assert v1_stub.FILE.read_text() == v1_stub.stub(), "run `scripts/record.py v1_stub`"


# ---- every function has a case and an example ------------------------------------------------------------------------


def own():
    """What the modules of `tf.compat.v1` define and programs can reach: values and all their public names."""
    names = {}
    for path in SIGNATURES:
        value = found(path)
        if inspect.isclass(found(path.rpartition(".")[0])):  # a method
            continue
        if value is not None and str(getattr(value, "__module__", "")).startswith("tapeflow.compat.v1"):
            names.setdefault(id(value), (value, []))[1].append(path)
    return names.values()


def words_of_tests():
    """The attributes and strings in goldens, and in the tests and programs that are Python files."""
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("tests/support/*.py")]
    sources = [file.read_text() for file in files]
    for group in group_names():
        if group == "compat" or group.startswith("v1_"):
            cases = load(group).cases.values()
            sources += {case.prelude for case in cases} | {case.source for case in cases}
    words = set()
    for file in (ROOT / "tests" / "fixtures").glob("v1_*.json"):
        if file.name != "v1_signatures.json":
            words.update(re.findall(r"\w+", " ".join(json.loads(file.read_text()))))
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.update(re.findall(r"\w+", node.value))
    return words


def test_every_function_is_tested():
    words = words_of_tests()
    untested = [paths for _, paths in own() if not {path.rpartition(".")[2] for path in paths} & words]
    assert not untested, f"no golden and no test names {untested}"


def test_every_function_has_an_example():
    unexplained = [paths for value, paths in own() if ">>> " not in (inspect.getdoc(value) or "")]
    assert not unexplained


def test_namespaces_with_functions_of_their_own():
    for name in ("data", "gfile", "graph_util", "initializers", "io", "logging", "losses", "math", "nn", "train"):
        assert getattr(tf.compat.v1, name).__name__ == f"tapeflow.compat.v1.{name}"


# ---- messages that a line of a program logs --------------------------------------------------------------------------


def test_messages_are_counted_for_each_line(caplog):
    log = tf.compat.v1.logging
    for k in range(5):
        log.log_first_n(log.ERROR, "first %d", 2, k)
        log.log_every_n(log.ERROR, f"every {k}", 3)
    log.log_first_n(log.ERROR, "first %d", 1, 9)
    log.flush()
    assert caplog.messages == ["first 0", "every 0", "first 1", "every 3", "first 9"]
