"""Blocks and patches of space. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row
from ways import check


def whole(*shape):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


B4 = whole(2, 4, 2, 1)


def ints(*shape):
    return tf.TensorSpec(shape, tf.int32)


ROWS = read_rows("""
tf.space_to_batch(B4, [2, 1], [[0, 0], [0, 0]])[:, 0, 0, 0]
    float32 [4] [0, 8, 2, 10]
tf.space_to_batch(B4, [2, 2], [[1, 1], [2, 0]])[..., 0]
    float32 [8, 3, 2] [[[0, 0], [0, 2], [0, 6]], [[0, 0], [0, 10], [0, 14]], [[0, 0], [0, 3], [0, 7]], [[0, 0], [0, 11],
    [0, 15]], [[0, 0], [0, 4], [0, 0]], [[0, 8], [0, 12], [0, 0]], [[0, 1], [0, 5], [0, 0]], [[0, 9], [0, 13], [0, 0]]]
tf.space_to_batch_nd(whole(1, 6, 2), [3], [[0, 0]])
    float32 [3, 2, 2] [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
tf.space_to_batch_nd(whole(1, 4), [2], [[1, 1]])
    float32 [2, 3] [[0, 1, 3], [0, 2, 0]]
tf.space_to_batch_nd(whole(1, 4, 2, 2), [2, 1], [[1, 1], [0, 1]])
    float32 [2, 3, 3, 2] [[[[0, 0], [0, 0], [0, 0]], [[4, 5], [6, 7], [0, 0]], [[12, 13], [14, 15], [0, 0]]], [[[0, 1],
    [2, 3], [0, 0]], [[8, 9], [10, 11], [0, 0]], [[0, 0], [0, 0], [0, 0]]]]
tf.space_to_batch_nd(whole(1, 4), np.zeros([0], int), np.zeros([0, 2], int))
    float32 [1, 4] [[0, 1, 2, 3]]
tf.space_to_batch_nd(whole(1, 5), [2], [[0, 0]])
    InvalidArgumentError
tf.space_to_batch_nd(whole(1, 4), [2, 2], [[0, 0], [0, 0]])
    InvalidArgumentError
tf.space_to_batch_nd(whole(1, 4), [2], [[0, 0], [0, 0]])
    InvalidArgumentError
tf.space_to_batch_nd(whole(1, 4), [0], [[0, 0]])
    InvalidArgumentError
tf.space_to_batch_nd(whole(1, 4), [2], [[-1, 1]])
    InvalidArgumentError
tf.space_to_batch_nd(whole(1, 4), [2], [[0, -2]])
    InvalidArgumentError
tf.space_to_batch_nd(whole(1, 4), 2, [[0, 0]])
    InvalidArgumentError
tf.batch_to_space(whole(4, 2, 1, 1), [2, 2], [[0, 0], [0, 0]])[..., 0]
    float32 [1, 4, 2] [[[0, 2], [4, 6], [1, 3], [5, 7]]]
tf.batch_to_space(whole(4, 2, 1, 1), 2, [[1, 0], [0, 1]])[..., 0]
    float32 [1, 3, 1] [[[4], [1], [5]]]
tf.batch_to_space(whole(6, 2), [3], [[1, 2]])
    float32 [2, 3] [[4, 8, 1], [6, 10, 3]]
tf.batch_to_space(whole(4, 1, 3), [2], [[0, 0]])
    float32 [2, 2, 3] [[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [9, 10, 11]]]
tf.batch_to_space(whole(5, 2), [2], [[0, 0]])
    InvalidArgumentError
tf.batch_to_space(whole(4, 2), [2], [[2, 3]])
    InvalidArgumentError
tf.batch_to_space(whole(4, 2), [2], [[2, 2]])
    float32 [2, 0] [[], []]
tf.batch_to_space(whole(4, 2), [2], [[-1, 0]])
    InvalidArgumentError
tf.batch_to_space(whole(4, 2), [-2], [[0, 0]])
    InvalidArgumentError
cube_grads(lambda x: tf.space_to_batch_nd(x, [2], [[1, 1]]), whole(1, 4))
    (float32 [1, 4] [[0, 3, 12, 27]])
cube_grads(lambda x: tf.batch_to_space(x, [2], [[1, 0]]), whole(4, 2))
    (float32 [4, 2] [[0, 3], [0, 27], [48, 75], [108, 147]])
sized(lambda x, b, p: tf.space_to_batch_nd(x, b, p), whole(1, 4), [2], [[1, 1]])
    ValueError
sized(lambda x, b, p: tf.batch_to_space(x, b, p), whole(4, 2), [2], [[1, 0]])
    ValueError
static(lambda x: tf.space_to_batch_nd(x, [2], [[1, 1]]), [1, 4, 3])
    '(2, 3, 3)'
static(lambda x: tf.space_to_batch_nd(x, [2], [[1, 1]]), [None, 4, None])
    '(None, 3, None)'
static(lambda x: tf.space_to_batch_nd(x, [2, 3], [[1, 1], [0, 0]]), [3, None, 9])
    '(18, None, 3)'
static(lambda x: tf.space_to_batch_nd(x, [2], [[1, 2]]), [1, 4])
    ValueError
static(lambda x: tf.space_to_batch_nd(x, [2], [[1, 1]]), None)
    '<unknown>'
static(lambda x: tf.space_to_batch_nd(x, [2, 2], [[1, 1], [0, 0]]), [4, 4])
    ValueError
static(lambda x: tf.space_to_batch_nd(x, [2], [[-1, 1]]), [1, 4])
    ValueError
static(lambda x, b: tf.space_to_batch_nd(x, b, [[1, 1]]), [1, 4, 3], ints(1))
    '(None, None, 3)'
static(lambda x, b: tf.space_to_batch_nd(x, b, [[1, -1]]), [1, 4, 3], ints(1))
    ValueError
static(lambda x, b: tf.space_to_batch_nd(x, b, [[1, 1]]), [1, 4, 3], ints(None))
    ValueError
static(lambda x, b: tf.space_to_batch_nd(x, b, [[1, 1], [0, 0]]), [1, 4, 3], ints(1))
    ValueError
static(lambda x, b: tf.space_to_batch_nd(x, b, [[1, 1]]), None, ints(1))
    '<unknown>'
static(lambda x, p: tf.space_to_batch_nd(x, [2], p), [1, 4, 3], ints(1, 2))
    '(2, None, 3)'
static(lambda x, p: tf.space_to_batch_nd(x, [2], p), [1, 4, 3], ints(None, 2))
    '(2, None, 3)'
static(lambda x, p: tf.space_to_batch_nd(x, [2], p), [1, 4, 3], ints(2))
    ValueError
static(lambda x: tf.batch_to_space(x, [2], [[1, 2]]), [4, 5, 3])
    '(2, 7, 3)'
static(lambda x: tf.batch_to_space(x, [2], [[1, 2]]), [None, None, 3])
    '(None, None, 3)'
static(lambda x: tf.batch_to_space(x, [2], [[1, 2]]), [5, 5])
    ValueError
static(lambda x: tf.batch_to_space(x, [2], [[1, 2]]), [4, 1])
    ValueError
static(lambda x: tf.batch_to_space(x, [2], [[1, 2]]), None)
    '<unknown>'
tf.required_space_to_batch_paddings([5, 4], [2, 4])
    (int32 [2, 2] [[0, 1], [0, 0]]; int32 [2, 2] [[0, 1], [0, 0]])
tf.required_space_to_batch_paddings([5, 4], [2, 3], [[1, 1], [0, 2]])
    (int32 [2, 2] [[1, 2], [0, 2]]; int32 [2, 2] [[0, 1], [0, 0]])
tf.required_space_to_batch_paddings([], [])
    (int32 [0, 2] []; int32 [0, 2] [])
tf.required_space_to_batch_paddings([5], [2, 4])
    ValueError
tf.required_space_to_batch_paddings([5], [[2]])
    ValueError
tf.required_space_to_batch_paddings([5], [2], [[0, 0], [0, 0]])
    ValueError
sized(lambda s: tf.required_space_to_batch_paddings(s, [2, 3], [[1, 0], [0, 0]]), [5, 4])
    (int32 [2, 2] [[1, 0], [0, 2]]; int32 [2, 2] [[0, 0], [0, 2]])
tf.image.extract_patches(whole(1, 3, 3, 1), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    float32 [1, 2, 2, 4] [[[[0, 1, 3, 4], [1, 2, 4, 5]], [[3, 4, 6, 7], [4, 5, 7, 8]]]]
tf.image.extract_patches(whole(1, 3, 3, 1), [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
    float32 [1, 2, 2, 4] [[[[0, 1, 3, 4], [2, 0, 5, 0]], [[6, 7, 0, 0], [8, 0, 0, 0]]]]
tf.image.extract_patches(whole(1, 4, 3, 1), [1, 2, 1, 1], [1, 1, 2, 1], [1, 2, 1, 1], "VALID")[..., 0]
    float32 [1, 2, 2] [[[0, 2], [3, 5]]]
tf.image.extract_patches(whole(1, 4, 3, 1), [1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 2, 1], "SAME")
    float32 [1, 2, 1, 6] [[[[0, 2, 3, 5, 6, 8]], [[6, 8, 9, 11, 0, 0]]]]
tf.image.extract_patches(whole(1, 2, 2, 2), [1, 1, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    float32 [1, 2, 1, 4] [[[[0, 1, 2, 3]], [[4, 5, 6, 7]]]]
tf.image.extract_patches(whole(1, 3, 3, 1), [1, 4, 4, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 0, 0, 16])
tf.image.extract_patches(whole(1, 3, 3, 1), [1, 5, 5, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape
    InvalidArgumentError
tf.image.extract_patches(whole(1, 3, 3, 1), [2, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape
    UnimplementedError
tf.image.extract_patches(whole(1, 3, 3, 1), [1, 2, 2, 1], [1, 1, 1, 2], [1, 1, 1, 1], "VALID").shape
    UnimplementedError
tf.image.extract_patches(whole(1, 3, 3, 1), [1, 2, 2, 1], [1, 0, 1, 1], [1, 1, 1, 1], "VALID").shape
    OutOfRangeError
tf.image.extract_patches(whole(3, 3, 1), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape
    InvalidArgumentError
tf.extract_volume_patches(whole(1, 2, 3, 2, 1), [1, 2, 2, 1, 1], [1, 1, 1, 1, 1], "VALID")
    float32 [1, 1, 2, 2, 4] [[[[[0, 2, 6, 8], [1, 3, 7, 9]], [[2, 4, 8, 10], [3, 5, 9, 11]]]]]
tf.extract_volume_patches(whole(1, 2, 3, 2, 1), [1, 2, 2, 1, 1], [1, 1, 2, 2, 1], "SAME")
    float32 [1, 2, 2, 1, 4] [[[[[0, 2, 6, 8]], [[4, 0, 10, 0]]], [[[6, 8, 0, 0]], [[10, 0, 0, 0]]]]]
tf.extract_volume_patches(whole(1, 2, 3, 2), [1, 2, 2, 1, 1], [1, 1, 2, 2, 1], "SAME")
    InvalidArgumentError
cube_grads(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"), whole(1, 3, 2, 1))
    (float32 [1, 3, 2, 1] [[[[0], [6]], [[12], [54]], [[48], [150]]]])
cube_grads(lambda x: tf.extract_volume_patches(x, [1, 2, 1, 2, 1], [1, 1, 1, 1, 1], "VALID"), whole(1, 2, 1, 3, 1))
    (float32 [1, 2, 1, 3, 1] [[[[[0], [6], [12]]], [[[27], [96], [75]]]]])
static(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"), [None, 5, 4, 3])
    '(None, 3, 2, 12)'
static(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), [2, None, 4, None])
    '(2, None, None, None)'
static(lambda x: tf.image.extract_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 2, 1, 1], "VALID"), [2, 5, 4, 3])
    '(2, 2, 1, 18)'
static(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), None)
    '(None, None, None, None)'
static(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), [2, 5, 4])
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())


def test_slices_of_a_batch():
    def moved(x):
        return [
            tf.space_to_batch(x, [2, 1], [[1, 1], [0, 0]]), tf.batch_to_space(x, [2, 1], [[1, 0], [0, 0]]),
            tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
            tf.extract_volume_patches(x[:, None], [1, 1, 2, 1, 1], [1, 1, 1, 1, 1], "VALID"),
        ]  # fmt: skip

    check(moved, B4, knows=[])
