# ruff: noqa
# fmt: off
# The oddities are what is tested.
"""The source of functions: found where it is, and refused where it is not the function's."""

import ast
import importlib.util
import linecache

import pytest

import tapeflow as tf
from tapeflow.autograph.source import SourceNotFound, tree_of

a, (b, c) = lambda x: x + 1, (lambda x: x + 2, lambda x: x + 3)
several = [lambda x, y=(1, 2): x[y[0]:y[1]], lambda: {"a": (lambda z: z)(1)}]
over_lines = (lambda x:
              x +
              4)
text = lambda: """of
 several lines"""  # after
ä = lambda ö: "ü" + ö; after = lambda: 5


def decorated(f):
    return f


class Holder:
    @decorated
    def method(self, x):
        """Text that
    reaches to the left."""
        return x

    nested = staticmethod(lambda x: x * 7)


def outer():
    def inner(x):
        y = (
    x)
        return y
    return inner


def body(node):
    return ast.unparse(node.body if isinstance(node, ast.Lambda) else node.body[-1])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (a, "x + 1"), (b, "x + 2"), (c, "x + 3"), (several[0], "x[y[0]:y[1]]"), (several[1], "{'a': (lambda z: z)(1)}"),
        (over_lines, "x + 4"), (text, "'of\\n several lines'"), (ä, "'ü' + ö"), (after, "5"),
        (Holder.method, "return x"), (Holder.nested, "x * 7"), (outer(), "return y"), (outer, "return inner"),
    ],
)
def test_definitions(function, expected):
    node = tree_of(function)
    assert body(node) == expected
    first = min(n.lineno for n in ast.walk(node) if hasattr(n, "lineno"))
    assert first in (function.__code__.co_firstlineno, function.__code__.co_firstlineno + 1)
    lines = linecache.getlines(__file__)
    part = node.body if isinstance(node, ast.Lambda) else node.body[-1]
    if isinstance(part, ast.BinOp) and part.lineno == part.end_lineno:
        encoded = lines[part.lineno - 1].encode()
        assert ast.unparse(ast.parse(encoded[part.col_offset : part.end_col_offset].decode(), mode="eval")) == expected


def load(path, source):
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "changed",
    ["", "x = 1\n", "def g(x):\n    return x\n", "def f(x:\n    return x\n", "f = lambda x: x\n"],
    ids=["empty", "statement", "name", "syntax", "lambda"],
)
def test_a_file_that_changed(tmp_path, changed):
    module = load(tmp_path / f"changed_{len(changed)}.py", "def f(x):\n    return x + 1\n")
    (tmp_path / f"changed_{len(changed)}.py").write_text(changed)
    linecache.checkcache()
    with pytest.raises(SourceNotFound, match="can't be read from|is not, or no longer, the source of"):
        tree_of(module.f)
    assert int(tf.function(module.f)(tf.constant(1))) == 2  # unconverted


def test_a_lambda_that_changed(tmp_path):
    module = load(tmp_path / "changed_lambda.py", "f = lambda x: x + 1\n")
    (tmp_path / "changed_lambda.py").write_text("f = lambda x: x + 2\n")
    linecache.checkcache()
    with pytest.raises(SourceNotFound, match="is not, or no longer, the source of"):
        tree_of(module.f)


def test_no_source():
    scope = {}
    exec("def f(x):\n    return x + 1\ng = lambda x: x + 1", scope)
    for name in "fg":
        with pytest.raises(SourceNotFound, match=r"can't be read from '<string>'"):
            tree_of(scope[name])
        assert int(tf.function(scope[name])(tf.constant(1))) == 2
