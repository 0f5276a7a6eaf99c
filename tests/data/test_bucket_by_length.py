"""Batches of elements of similar lengths. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

D = tf.data.Dataset
WORDS = ["a", "bbbb", "cc", "dddddd", "eee", "f", "ggggg", "hh"]


def lines():
    """Rows of different lengths, each of its own number."""
    numbers = [[len(w)] * len(w) for w in WORDS]
    return D.from_generator(lambda: iter(numbers), output_signature=tf.TensorSpec([None], tf.int32))


def buckets(boundaries=(3, 5), sizes=(2, 2, 1), **options):
    return list(lines().bucket_by_sequence_length(lambda x: tf.shape(x)[0], list(boundaries), list(sizes), **options))


def spec(boundaries=(3, 5), sizes=(2, 2, 1), **options):
    batches = lines().bucket_by_sequence_length(lambda x: tf.shape(x)[0], list(boundaries), list(sizes), **options)
    return batches.element_spec


ROWS = read_rows(r"""
buckets()
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]]; int32
    [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 0], [2, 2]])
buckets(drop_remainder=True)
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]]; int32
    [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 0], [2, 2]])
buckets(sizes=(1, 2, 3))
    (int32 [1, 1] [[1]]; int32 [1, 2] [[2, 2]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]]; int32 [1, 1] [[1]]; int32 [1,
    2] [[2, 2]]; int32 [2, 6] [[6, 6, 6, 6, 6, 6], [5, 5, 5, 5, 5, 0]])
buckets(boundaries=(4,), sizes=(2, 3))
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [2, 3] [[3, 3, 3], [1, 0, 0]]; int32 [3, 6] [[4, 4, 4, 4, 0, 0], [6, 6, 6, 6,
    6, 6], [5, 5, 5, 5, 5, 0]]; int32 [1, 2] [[2, 2]])
buckets(boundaries=(), sizes=(3,))
    (int32 [3, 4] [[1, 0, 0, 0], [4, 4, 4, 4], [2, 2, 0, 0]]; int32 [3, 6] [[6, 6, 6, 6, 6, 6], [3, 3, 3, 0, 0, 0], [1,
    0, 0, 0, 0, 0]]; int32 [2, 5] [[5, 5, 5, 5, 5], [2, 2, 0, 0, 0]])
buckets(boundaries=(3, 5, 9), sizes=(2, 2, 1, 1), pad_to_bucket_boundary=True)
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 8] [[6, 6, 6, 6, 6, 6, 0, 0]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]];
    int32 [1, 8] [[5, 5, 5, 5, 5, 0, 0, 0]]; int32 [2, 2] [[1, 0], [2, 2]])
buckets(boundaries=(3, 5, 9), sizes=(2, 2, 1, 1), pad_to_bucket_boundary=True, drop_remainder=True)
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 8] [[6, 6, 6, 6, 6, 6, 0, 0]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]];
    int32 [1, 8] [[5, 5, 5, 5, 5, 0, 0, 0]]; int32 [2, 2] [[1, 0], [2, 2]])
buckets(padding_values=9)
    (int32 [2, 2] [[1, 9], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 9]]; int32
    [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 9], [2, 2]])
buckets(padding_values=tf.constant(9))
    (int32 [2, 2] [[1, 9], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 9]]; int32
    [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 9], [2, 2]])
buckets(padded_shapes=[7])
    (int32 [2, 7] [[1, 0, 0, 0, 0, 0, 0], [2, 2, 0, 0, 0, 0, 0]]; int32 [1, 7] [[6, 6, 6, 6, 6, 6, 0]]; int32 [2, 7]
    [[4, 4, 4, 4, 0, 0, 0], [3, 3, 3, 0, 0, 0, 0]]; int32 [1, 7] [[5, 5, 5, 5, 5, 0, 0]]; int32 [2, 7] [[1, 0, 0, 0, 0,
    0, 0], [2, 2, 0, 0, 0, 0, 0]])
buckets(padded_shapes=[None])
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]]; int32
    [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 0], [2, 2]])
buckets(padded_shapes=[3])
    DataLossError: Attempted to pad to a smaller size than the input element.
buckets(no_padding=True)
    InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [1] and
    element 1 had shape [2].
buckets(sizes=(1, 1, 1), no_padding=True)
    (int32 [1, 1] [[1]]; int32 [1, 4] [[4, 4, 4, 4]]; int32 [1, 2] [[2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32
    [1, 3] [[3, 3, 3]]; int32 [1, 1] [[1]]; int32 [1, 5] [[5, 5, 5, 5, 5]]; int32 [1, 2] [[2, 2]])
buckets(sizes=(2, 2))
    ValueError: `len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)=2` and
    `len(bucket_boundaries)=2`.
buckets(sizes=(2, 2, 2, 2))
    ValueError: `len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)=4` and
    `len(bucket_boundaries)=2`.
buckets(sizes=(0, 1, 1))
    InvalidArgumentError: Window size must be greater than zero, but got 0.
buckets(sizes=(-1, 1, 1))
    InvalidArgumentError: Window size must be greater than zero, but got -1.
buckets(boundaries=(5, 3))
    (int32 [2, 4] [[1, 0, 0, 0], [4, 4, 4, 4]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 3] [[2, 2, 0], [3, 3, 3]];
    int32 [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 0], [2, 2]])
buckets(boundaries=(3, 3))
    (int32 [1, 4] [[4, 4, 4, 4]]; int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [1, 3] [[3, 3,
    3]]; int32 [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 0], [2, 2]])
spec()
    TensorSpec(shape=(None, None), dtype=tf.int32, name=None)
spec(drop_remainder=True)
    TensorSpec(shape=(None, None), dtype=tf.int32, name=None)
spec(sizes=(2, 2, 2), drop_remainder=True)
    TensorSpec(shape=(None, None), dtype=tf.int32, name=None)
spec(padded_shapes=[7])
    TensorSpec(shape=(None, 7), dtype=tf.int32, name=None)
spec(no_padding=True)
    TensorSpec(shape=(None, None), dtype=tf.int32, name=None)
list(lines().apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 1])))
    (int32 [2, 2] [[1, 0], [2, 2]]; int32 [1, 6] [[6, 6, 6, 6, 6, 6]]; int32 [2, 4] [[4, 4, 4, 4], [3, 3, 3, 0]]; int32
    [1, 5] [[5, 5, 5, 5, 5]]; int32 [2, 2] [[1, 0], [2, 2]])
list(lines().map(lambda x: (x, tf.size(x))).bucket_by_sequence_length(lambda x, n: n, [4], [3, 3]))
    ((int32 [3, 3] [[1, 0, 0], [2, 2, 0], [3, 3, 3]]; int32 [3] [1, 2, 3]); (int32 [3, 6] [[4, 4, 4, 4, 0, 0], [6, 6, 6,
    6, 6, 6], [5, 5, 5, 5, 5, 0]]; int32 [3] [4, 6, 5]); (int32 [2, 2] [[1, 0], [2, 2]]; int32 [2] [1, 2]))
list(D.range(6).map(lambda x: tf.range(x)).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2]))
    (int64 [2, 1] [[0], [0]]; int64 [2, 4] [[0, 1, 2, 0], [0, 1, 2, 3]]; int64 [1, 2] [[0, 1]]; int64 [1, 5] [[0, 1, 2,
    3, 4]])
list(lines().bucket_by_sequence_length(lambda x: tf.shape(x, tf.int64)[0], [3, 5], [2, 2, 1]))
    TypeError: Input 'y' of 'LessEqual' Op has type int64 that does not match type int32 of argument 'x'.
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
