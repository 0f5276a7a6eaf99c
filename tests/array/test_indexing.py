"""Square brackets of tensors and variables, and iteration."""

import numpy as np
import pytest

import tapeflow as tf
from ids import stable
from op_table import check_gradient, rand

Invalid = tf.errors.InvalidArgumentError
X = rand(2, 3, 4)

KEYS = [
    0, -1, slice(None), slice(1, None), slice(None, None, -1), slice(5, 0, -2), slice(-100, 100), ..., None, (),
    (0, 1), (0, 1, 2), (-1, ..., 0), (..., 1), (slice(None), 1), (slice(None), None), (None, ..., None),
    (0, None, 1), (slice(None), slice(None, None, 2), slice(None, None, -1)), (slice(0, 0),),
    (slice(None), slice(5, None)),
    (slice(None, None, -1),) * 3, (0, slice(None), slice(None, None, -2)), (None, None, 0, None, 0), (1, ..., None, 2),
    np.int64(1), (np.int32(1), slice(np.int64(0), np.int8(2))),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=stable)
@pytest.mark.parametrize("dtype", ["float32", "uint16", "uint64", "bfloat16", "complex64", "bool"])
def test_a_key_means_what_it_means_to_numpy(key, dtype):
    x = tf.cast(tf.constant(X * 5), dtype)
    part = x[key]
    assert part.dtype == dtype
    np.testing.assert_array_equal(part.numpy(), x.numpy()[key])


@pytest.mark.parametrize("key", KEYS, ids=stable)
def test_strings_and_quantized_numbers_are_sliced_too(key):
    for array, dtype in ((np.arange(24).astype(bytes).astype(object), tf.string), (np.arange(24), tf.qint8)):
        x = tf.reshape(tf.constant(array, dtype), [2, 3, 4])
        assert x[key].dtype == dtype
        np.testing.assert_array_equal(x[key].numpy(), x.numpy()[key])


@pytest.mark.parametrize("key", KEYS, ids=stable)
def test_gradients_of_first_and_second_order(key):
    def cubed(x):
        return x[key] * x[key] * x[key]

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            target = tf.reduce_sum(cubed(x))
        return tape.gradient(target, x)

    check_gradient(cubed, [X], {}, [0])
    check_gradient(gradient, [X], {}, [0])


def test_tensors_and_variables_as_indices():
    x = tf.constant(X)
    one, two = tf.constant(1), tf.Variable(2, dtype=tf.int64)
    np.testing.assert_array_equal(x[one, :, two], X[1, :, 2])
    np.testing.assert_array_equal(x[:, one:, tf.constant(0, tf.int16)], X[:, 1:, 0])
    np.testing.assert_array_equal(x[..., :: tf.constant(-2)], X[..., ::-2])


def test_masks():
    x = tf.constant(X)
    np.testing.assert_array_equal(x[x > 0], X[X > 0])
    np.testing.assert_array_equal(x[tf.constant([True, False])], X[[True, False]])
    np.testing.assert_array_equal(x[np.array([[True, False, True]] * 2)], X[[[True, False, True]] * 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x[x > 0] * 2.0)
    np.testing.assert_array_equal(tape.gradient(y, x), np.where(X > 0, 2.0, 0.0))


@pytest.mark.parametrize(
    ("key", "error", "says"),
    [
        (2, Invalid, "slice index 2 of dimension 0 out of bounds. [Op:StridedSlice] name: strided_slice/"),
        (-3, Invalid, "slice index -1 of dimension 0 out of bounds. [Op:StridedSlice] name: strided_slice/"),
        ((0, 3), Invalid, "slice index 3 of dimension 1 out of bounds."),
        ((0, 0, 0, 0), Invalid, "Index out of range using input dim 3; input has only 3 dims"),
        ((..., ...), Invalid, "Multiple ellipses in slice spec not allowed"),
        (slice(None, None, 0), Invalid, "strides[0] must be non-zero"),
        (1.0, TypeError, "tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got 1.0"),
        ("a", TypeError, "valid indices, got 'a'"),
        (slice("a"), TypeError, "valid indices, got 'a'"),
        ((0, [1, 2]), TypeError, "valid indices, got [1, 2]"),
        ({}, TypeError, "valid indices, got {}"),
        (tf.constant([0, 1]), TypeError, "valid indices, got <tf.Tensor: shape=(2,)"),
        (tf.constant(1, tf.uint8), TypeError, "valid indices, got <tf.Tensor: shape=(), dtype=uint8, numpy=1>"),
        (tf.constant([True] * 3), ValueError, "Shapes (2,) and (3,) are incompatible"),
        ([True, False], Invalid, "Value for attr 'Index' of bool is not in the list of allowed values"),
    ],
)
def test_what_is_no_index(key, error, says):
    with pytest.raises(error) as caught:
        tf.constant(X)[key]
    assert type(caught.value) is error
    assert says in str(caught.value)


def test_scalars_have_no_slices():
    with pytest.raises(Invalid, match="Attempting to slice scalar input"):
        tf.constant(5)[0]
    assert tf.constant(5)[..., None].shape == [1]


def test_tensors_can_not_be_assigned_to():
    with pytest.raises(TypeError):
        tf.constant([1, 2])[0] = 3


def test_parts_of_variables_are_assigned():
    v = tf.Variable(tf.zeros([2, 3]))
    v[:, 1].assign([5.0, 6.0])
    v[0, ::-2].assign([1.0, 2.0])
    v[1:].assign(tf.constant([[7.0]]))
    assert v.numpy().tolist() == [[2.0, 5.0, 1.0], [7.0, 7.0, 7.0]]
    with pytest.raises(Invalid, match=r"Cannot broadcast input shape \[2\] into final shape \[3\]"):
        v[0].assign([1.0, 2.0])


def test_a_tensor_keeps_its_value_when_the_variable_it_was_sliced_from_changes():
    v = tf.Variable(tf.zeros([100, 100]))
    part = v[1:3, 2]
    v.assign_add(tf.ones([100, 100]))
    v[0].assign(tf.ones([100]))
    assert part.numpy().tolist() == [0.0, 0.0]


def test_gradients_pass_to_the_variable():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v[1] * v[::-1][0]
    assert tape.gradient(y, v).numpy().tolist() == [0.0, 3.0, 2.0]


def test_iteration():
    assert [int(v) for v in tf.constant([1, 2, 3])] == [1, 2, 3]
    a, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert (a.numpy().tolist(), b.numpy().tolist()) == ([1.0, 2.0], [3.0, 4.0])
    assert [bytes(v.numpy()) for v in tf.constant(["a", "b"])] == [b"a", b"b"]
    assert list(tf.zeros([0, 2])) == []
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(tf.constant(1))


def test_gradients_pass_through_iteration():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = x
        y = a * a * b
    assert tape.gradient(y, x).numpy().tolist() == [4.0, 1.0]
