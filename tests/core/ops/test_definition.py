"""The arguments of ops by their kinds, the residuals of gradients, and the registry."""

import pytest

import tapeflow as tf
from tapeflow.core.ops import definition
from tapeflow.core.ops.definition import FunctionOp, Op


def op_of(*kinds):
    op = Op()
    op.name, op.kinds = "Test", kinds or None
    return op


MIXED = op_of("tensor", "host", "list", "attr", "tensor")
ARGS = ("a", 1, ["b", "c"], "name", "d")


def test_tensors_and_other_arguments():
    assert MIXED.tensors(ARGS) == ["a", "b", "c", "d"]
    assert MIXED.statics(ARGS) == [1, "name"] and MIXED.hosts(ARGS) == [1]
    bare = op_of()
    assert bare.tensors(("a", "b")) == ["a", "b"] and bare.statics(("a", "b")) == bare.hosts(("a", "b")) == []
    assert op_of("list").tensors([["a"]]) == ["a"] and op_of("attr").tensors([3]) == []
    for wrong in (ARGS[:4], (*ARGS, 1)):
        for read in (MIXED.tensors, MIXED.statics, MIXED.hosts):
            with pytest.raises(ValueError, match="zip"):
                read(wrong)


def test_functions_of_arguments():
    upper = str.upper
    assert MIXED.map(upper, ARGS) == ["A", 1, ["B", "C"], "name", "D"]
    assert MIXED.map(upper, ARGS, host=lambda n: n + 1) == ["A", 2, ["B", "C"], "name", "D"]
    assert MIXED.map(upper, ARGS, attr=len) == ["A", 1, ["B", "C"], 4, "D"]
    assert op_of().map(upper, ("a", "b")) == ["A", "B"]
    values = (10, 2, [20, 30], "other", 40)
    pairs = MIXED.map(lambda x, y: f"{x}{y}", ARGS, values)
    assert pairs == ["a10", 2, ["b20", "c30"], "other", "d40"]
    pairs = MIXED.map(lambda x, y: x, ARGS, values, host=lambda x, y: (x, y), attr=lambda x, y: x + y)
    assert pairs == ["a", (1, 2), ["b", "c"], "nameother", "d"]


def test_arguments_of_tensors_and_other_values():
    assert MIXED.with_tensors(["x", "y", "z", "u"], [7, "other"], 2) == ["x", 7, ["y", "z"], "other", "u"]
    assert MIXED.with_tensors(["x", "u"], [7, "other"]) == ["x", 7, [], "other", "u"]
    again = MIXED.with_tensors(MIXED.tensors(ARGS), MIXED.statics(ARGS), 2)
    assert again == list(ARGS)
    assert op_of().with_tensors([], []) == []


FLAGS = ("keep_all_inputs", "keep_inputs", "keep_outputs", "keep_shapes", "keep_dtypes")


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ("", (False, (), False, False, False)),
        ("inputs", (True, (), False, False, False)),
        ("input0", (False, (0,), False, False, False)),
        ("input2 input10", (False, (2, 10), False, False, False)),
        ("outputs shapes", (False, (), True, True, False)),
        ("dtypes", (False, (), False, False, True)),
        ("inputs outputs shapes dtypes", (True, (), True, True, True)),
    ],
)
def test_residuals(needs, expected):
    op = op_of("tensor")
    assert op.keep_all_inputs
    op.set_residuals(needs)
    assert tuple(getattr(op, flag) for flag in FLAGS) == expected


@pytest.mark.parametrize("needs", ["input", "inputx", "input0x", "output", "results", "inputs nothing"])
def test_unknown_residuals(needs):
    with pytest.raises(TypeError, match="Test: a gradient needs"):
        op_of("tensor").set_residuals(needs)


def test_functions_with_gradients():
    op = FunctionOp("Own", lambda dy, dz: (dy, dz))
    assert op.name == "Own" and repr(op) == "<op Own>" and not op.keep_all_inputs
    assert op.gradient("call", 1, 2) == (1, 2)


def test_the_registry():
    assert definition.find("MatMul").name == "MatMul" and definition.find("NoSuchOp") is None
    assert definition.ops.MatMul is definition.find("MatMul").function is definition.ops.MatMul
    for alias, name in list(definition.aliases.items())[:5]:
        assert definition.find(alias) is definition.find(name)
    with pytest.raises(AttributeError, match="no op is registered as 'NoSuchOp'"):
        definition.ops.NoSuchOp  # noqa: B018
    assert definition.ops.Add(tf.constant(1), tf.constant(2)).numpy() == 3
