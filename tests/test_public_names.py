"""Public namespaces show TensorFlow's names, and a few of TapeFlow's own.

`fixtures/public_names.json` has TensorFlow's (`scripts/record.py public_names`).
"""

import functools
import inspect
import json
import pathlib
import subprocess
import sys
import types

import pytest

import tapeflow as tf
from recording import stubs

RECORDED = json.loads((pathlib.Path(__file__).parent / "fixtures" / "public_names.json").read_text())
# TapeFlow's own names.
OWN = {
    "tf": ["__compiler_version__", "__git_version__", "__version__", "install_as_tensorflow", "torch"],
    "tf.config.experimental": ["ops_computed_on_cpu"],
    "tf.distribute.cluster_resolver": ["TorchrunClusterResolver"],
    "tf.errors": ["InaccessibleTensorError"],
    "tf.summary": ["import_event"],
    "tf.version": ["TAPEFLOW_VERSION"],
}
# TensorFlow's names that TapeFlow lacks.
ABSENT = {"tf.compat": ["forward_compatibility_horizon", "forward_compatible"], "tf.distribute.experimental": ["rpc"]}
NAMESPACES = [path for path in RECORDED if path != "tf.distribute.experimental.rpc"]


def namespace(path):
    return functools.reduce(getattr, path.split(".")[1:], tf)


@pytest.mark.parametrize("path", NAMESPACES)
def test_namespace_has_the_names_of_tensorflow(path):
    module = namespace(path)
    expected = {*RECORDED[path], *OWN.get(path, ())} - set(ABSENT.get(path, ()))
    assert sorted(module.__all__) == sorted(expected) == dir(module)
    for name in expected:
        assert hasattr(module, name), name


@pytest.mark.parametrize("path", stubs.sources(), ids=lambda p: str(p.relative_to(stubs.ROOT)))
def test_stub_of_a_namespace_is_current(path):
    assert path.with_suffix(".pyi").read_text() == stubs.stub(path), "run `scripts/record.py stubs`"


def test_names_of_the_bridge_to_torch():
    assert dir(tf.torch) == sorted(tf.torch.__all__)


@pytest.mark.parametrize("path", [*NAMESPACES, "tf.raw_ops", "tf.torch"])
def test_imports_of_a_namespace_are_no_attributes(path):
    """Modules in the namespace's folder are: Python's import system sets them."""
    module = namespace(path)
    known = set(module.__all__)
    leaked = {
        name: value
        for name, value in vars(module).items()
        if not (name.startswith("_") or name in known or is_inside(value, name, module))
    }
    assert not leaked


def is_inside(value, name, module):
    """Returns True if a value is the module of that name in the folder of a namespace, as `tensorflow` too."""
    path = f"{module.__name__}.{name}"
    return isinstance(value, types.ModuleType) and value.__name__ in (path, path.replace("tapeflow", "tensorflow", 1))


@pytest.mark.parametrize("path", [*(path for path in NAMESPACES if path != "tf"), "tf.raw_ops", "tf.torch"])
def test_star_import(path, monkeypatch):
    module, names = namespace(path), {}
    if module.__spec__ is None:  # it needs TensorFlow's binaries, and is an attribute only
        monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(f"from {module.__name__} import *", names)
    assert names.keys() - {"__builtins__"} == set(module.__all__)


def test_star_import_of_everything():
    """In a process of its own: it loads all namespaces, and Keras."""
    program = "from tapeflow import *; import tapeflow; print(*(n for n in tapeflow.__all__ if n not in globals()))"
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert (run.stdout.strip(), run.returncode) == ("", 0), run.stderr


def test_names_of_tensorflow_2_in_compat():
    assert set(dir(tf.compat.v2)) == {*dir(tf), "enable_v2_behavior"} == set(tf.compat.v2.__all__)


@pytest.mark.parametrize("path", NAMESPACES)
def test_functions_open_at_their_source(path):
    """`??` of a notebook and "view source" of an editor show what was written, never code that was generated."""
    module = namespace(path)
    functions = [f for name in module.__all__ if isinstance(f := getattr(module, name), types.FunctionType)]
    for function in functions:
        if function.__module__.startswith("tapeflow"):
            source = pathlib.Path(inspect.unwrap(function).__code__.co_filename)
            assert source.is_file(), (function, source)
            assert inspect.getsource(function)
