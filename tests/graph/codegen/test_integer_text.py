"""What is written for ops of Python integers gives what their kernels give, in the range of the dtype."""

import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.definition import registry
from tapeflow.graph.codegen.integer_text import IntegerText
from tapeflow.graph.program.program import Step

OPS = [
    "AddV2", "Sub", "Mul", "Neg", "Square", "FloorDiv", "FloorMod", "Maximum", "Minimum", "Equal", "NotEqual", "Less",
    "LessEqual", "Greater", "GreaterEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
]  # fmt: skip
LARGEST = 2**31 - 1


def wrap(text, dtype):
    return f"(({text} + 2**31) % 2**32 - 2**31)"


def text_of(name, count, dtype=tf.int32):
    with tf.Graph().as_default():
        inputs = [tf.compat.v1.placeholder(dtype, [], f"x{i}") for i in range(count)]
        out = registry[name].function(*inputs)
    return IntegerText(wrap).of(Step(out.op.op, out.op.args, [out], [out.op]), [t.op.name for t in inputs])


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("values", [(7, 2), (-7, 2), (7, -2), (3, 3), (LARGEST, LARGEST), (-LARGEST - 1, 3)])
def test_integers(name, values):
    op = registry[name]
    values = values[: op.kinds.count("tensor")]
    want = op.kernel(*[torch.tensor(v, dtype=torch.int32) for v in values]).item()
    got = eval(text_of(name, len(values)), {f"x{i}": v for i, v in enumerate(values)})
    assert got == want and type(got) is type(want)


@pytest.mark.parametrize("values", [(True, False), (True, True), (False, False)])
@pytest.mark.parametrize("name", ["LogicalAnd", "LogicalOr", "LogicalNot"])
def test_bools(name, values):
    op = registry[name]
    values = values[: op.kinds.count("tensor")]
    want = op.kernel(*map(torch.tensor, values)).item()
    got = eval(text_of(name, len(values), tf.bool), {f"x{i}": v for i, v in enumerate(values)})
    assert got is want


@pytest.mark.parametrize("name", ["TruncateDiv", "RealDiv", "Sign"])
def test_other_ops_need_tensors(name):
    assert text_of(name, registry[name].kinds.count("tensor")) is None


def test_tests_of_a_loop_are_numbers():
    @tf.function
    def f(n):
        x = tf.zeros([n])
        for i in tf.range(n):
            if (i > 1 and i != 3) or i * i == 0:
                x = tf.tensor_scatter_nd_add(x, [[i]], [1.0])
        return x

    for _ in range(2):
        assert f(tf.constant(5)).numpy().tolist() == [1, 0, 1, 0, 1]
