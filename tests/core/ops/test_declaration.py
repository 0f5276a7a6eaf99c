"""What `@op` makes of a declaration: a function with the op's parameters, whose body may be the kernel."""

import inspect

import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op


def test_a_function_without_a_kernel_is_the_kernel():
    pad = ops.Pad
    assert pad.op.kernel(torch.ones(1), ((1, 0),)).tolist() == [0.0, 1.0]
    assert list(inspect.signature(pad).parameters) == ["input", "paddings", "name"]
    assert pad(tf.ones([1]), [[1, 0]]).numpy().tolist() == [0.0, 1.0]
    assert pad.__doc__ == "Pads a tensor with zeros."
    with tf.Graph().as_default():
        assert pad(tf.ones([1]), [[1, 0]], name="wider").op.name == "wider"


def test_its_defaults_come_before_that_of_the_name():
    parameters = inspect.signature(ops.ReverseSequence).parameters
    assert (parameters["batch_dim"].default, parameters["name"].default) == (0, None)
    swapped = ops.ReverseSequence(tf.constant([[1, 2], [3, 4]]), tf.constant([2, 1]), 1)
    assert swapped.numpy().tolist() == [[2, 1], [3, 4]]


def test_a_kernel_that_serves_strings_too():
    assert ops.EnsureShape.op.string_kernel is ops.EnsureShape.op.kernel
    assert ops.EnsureShape(tf.constant([b"a"]), [1]).numpy().tolist() == [b"a"]


def test_a_function_beside_a_kernel_declares_a_name():
    with pytest.raises(TypeError, match="the last parameter of declared must be 'name'"):

        @op("Pad", kernel=torch.constant_pad_nd, shape=ops.Pad.op.shape)
        def declared(input, paddings):
            """Has no name."""


class Own:
    """A program's type: it returns the function that was called."""

    def __tf_dispatch__(self, function, args):
        return function


WIDENED = [f for room in (tf, tf.math, tf.nn) for f in vars(room).values() if hasattr(f, "widened")]
ALIKE = [tf.exp, tf.nn.relu, tf.add]


@pytest.mark.parametrize("function", dict.fromkeys([*WIDENED, *ALIKE]))
def test_a_type_is_asked_with_the_function_that_was_called(function):
    parameters = inspect.signature(function).parameters.values()
    assert function(*[Own() for p in parameters if p.default is p.empty]) is function
