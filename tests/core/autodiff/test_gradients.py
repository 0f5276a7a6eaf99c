"""Functions that gradients share: shapes, zeros, and sums that undo broadcasting."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.autodiff import gradients
from tapeflow.core.autodiff.gradients import DynamicShape, shape_of, size_of, sum_to_shape


def traced(function, *specs):
    """Returns the concrete function of a Python function."""
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def test_shapes():
    x = tf.zeros([2, 3])
    assert tuple(shape_of(x)) == (2, 3) and not gradients.is_unranked(shape_of(x))
    assert gradients.shape_argument(shape_of(x)) == (2, 3) and size_of(shape_of(x)) == 6 and size_of(()) == 1

    def body(known, partial, unknown):
        assert shape_of(known) == (2, 3)
        shape, other = shape_of(partial), shape_of(unknown)
        assert isinstance(shape, DynamicShape) and len(shape) == 2 and shape[1] == 3 and list(shape)[1] == 3
        assert isinstance(shape[0], tf.Tensor) and shape == shape_of(partial) and shape != shape_of(unknown)
        assert not gradients.is_unranked(shape) and gradients.is_unranked(other)
        assert len(gradients.shape_argument(shape)) == 2 and isinstance(gradients.shape_argument(other), tf.Tensor)
        for use in (len, list, lambda s: s[:1]):
            with pytest.raises(Exception, match=r"The rank of .* must be known while a graph is built"):
                use(other)
        with pytest.raises(TypeError, match="unhashable"):
            hash(shape)
        return shape[0], other[1], size_of(shape), size_of(other), tf.convert_to_tensor(shape)

    specs = [tf.TensorSpec(shape) for shape in ([2, 3], [None, 3], None)]
    found = traced(body, *specs)(x, tf.zeros([4, 3]), tf.zeros([5, 6]))
    assert [np.asarray(value).tolist() for value in found] == [4, 6, 12, 30, [4, 3]]


def test_conjugates_and_zeros():
    x = tf.constant([1.0, 2.0])
    assert gradients.conj(x) is x and gradients.conj(tf.constant([1 + 2j])).numpy().tolist() == [1 - 2j]
    for value in (tf.constant([[1, 2]]), tf.Variable([[1, 2]])):
        zeros = gradients.zeros_like_value(value)
        assert zeros.dtype is tf.int32 and zeros.numpy().tolist() == [[0, 0]]
    assert gradients.raw_zeros(torch.ones(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ([2, 3], [2, 3]),
        ([2, 3], [3]),
        ([4, 2, 3], [3]),
        ([2, 3], [1, 3]),
        ([2, 3], [2, 1]),
        ([2, 3], [1, 1]),
        ([2, 3], [1]),
        ([2, 3], []),
        ([4, 2, 3], [2, 1]),
        ([4, 1, 3], [1, 3]),
        ([0, 3], [3]),
        ([1, 3], [1, 3]),
        ([5, 1], [1]),
    ],
)
def test_sums_undo_broadcasting(given, shape):
    dy = np.arange(np.prod(given), dtype=np.float32).reshape(given)
    extra = len(given) - len(shape)
    axes = tuple(i for i in range(len(given)) if i < extra or (shape[i - extra] == 1 and given[i] != 1))
    expected = dy.sum(axes).reshape(shape)
    x = tf.constant(dy)
    found = sum_to_shape(x, tuple(shape))
    assert found.shape == shape and found.numpy().tolist() == expected.tolist()
    assert (found is x) is (given == shape)
    like = gradients.sum_like(x, tf.zeros(shape))
    assert like.numpy().tolist() == expected.tolist() and (like is x) is (given == shape)
    for dims in (given, [None] * len(given), None):
        for target in (shape, [None] * len(shape), None):
            concrete = traced(gradients.sum_like, tf.TensorSpec(dims), tf.TensorSpec(target))
            assert concrete(x, tf.zeros(shape)).numpy().tolist() == expected.tolist()


def test_gradients_of_wanted_inputs_alone_are_computed():
    class Call:
        inputs = (tf.zeros([3]), tf.zeros([2, 1]), tf.zeros([2, 3]))
        wanted = (True, False, True)

    dy = tf.ones([2, 3])
    found = gradients.sum_wanted(Call, lambda: dy, lambda: pytest.fail("it is not wanted"), lambda: dy * 2.0)
    assert found[0].numpy().tolist() == [2.0] * 3 and found[1] is None and found[2].numpy().tolist() == [[2.0] * 3] * 2
