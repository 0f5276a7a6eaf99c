"""Windows, n-grams, padding and joining of model inputs. TensorFlow Text gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows
from tapeflow import text

C = tf.ragged.constant
A, B = C([[1, 2], [], [3]]), C([[10], [20, 30], []])
M = tf.reshape(tf.range(24), [2, 3, 4])
SUM, MEAN, JOIN = text.Reduction.SUM, text.Reduction.MEAN, text.Reduction.STRING_JOIN
S = C([["a", "b", "c"], ["d"], []])

ROWS = read_rows(r"""
text.sliding_window([1, 2, 3], 2)
    int32 [2, 2] [[1, 2], [2, 3]]
text.sliding_window([1, 2, 3], 1)
    int32 [3, 1] [[1], [2], [3]]
text.sliding_window([1, 2, 3], 3)
    int32 [1, 3] [[1, 2, 3]]
text.sliding_window([1, 2, 3], 4)
    int32 [0, 4] []
text.sliding_window(M, 2)
    int32 [2, 3, 3, 2] [[[[0, 1], [1, 2], [2, 3]], [[4, 5], [5, 6], [6, 7]], [[8, 9], [9, 10], [10, 11]]], [[[12,
    13], [13, 14], [14, 15]], [[16, 17], [17, 18], [18, 19]], [[20, 21], [21, 22], [22, 23]]]]
text.sliding_window(M, 2, axis=1)
    int32 [2, 2, 2, 4] [[[[0, 1, 2, 3], [4, 5, 6, 7]], [[4, 5, 6, 7], [8, 9, 10, 11]]], [[[12, 13, 14, 15], [16, 17,
    18, 19]], [[16, 17, 18, 19], [20, 21, 22, 23]]]]
text.sliding_window(M, 2, axis=0)
    int32 [1, 2, 3, 4] [[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21,
    22, 23]]]]
text.sliding_window(M, 2, axis=-2)
    int32 [2, 2, 2, 4] [[[[0, 1, 2, 3], [4, 5, 6, 7]], [[4, 5, 6, 7], [8, 9, 10, 11]]], [[[12, 13, 14, 15], [16, 17,
    18, 19]], [[16, 17, 18, 19], [20, 21, 22, 23]]]]
text.sliding_window(M, 2, axis=-3)
    int32 [1, 2, 3, 4] [[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21,
    22, 23]]]]
text.sliding_window(M, 2, axis=2)
    int32 [2, 3, 3, 2] [[[[0, 1], [1, 2], [2, 3]], [[4, 5], [5, 6], [6, 7]], [[8, 9], [9, 10], [10, 11]]], [[[12,
    13], [13, 14], [14, 15]], [[16, 17], [17, 18], [18, 19]], [[20, 21], [21, 22], [22, 23]]]]
text.sliding_window(M, 2, axis=3)
    InvalidArgumentError: axis must be between -k <= axis <= -1 OR 0 <= axis < k
text.sliding_window(M, 2, axis=-4)
    InvalidArgumentError: axis must be between -k <= axis <= -1 OR 0 <= axis < k
text.sliding_window(M, 0)
    InvalidArgumentError: width must be an integer greater than 0
text.sliding_window(M, -1)
    InvalidArgumentError: width must be an integer greater than 0
text.sliding_window(M, 1.5)
    TypeError: width must be an int
text.sliding_window(M, 1, axis=0.5)
    TypeError: axis must be an int
text.sliding_window(C([[1, 2, 3], [4], [5, 6]]), 2)
    int32 (3, None, 2) [[[1, 2], [2, 3]], [], [[5, 6]]]
text.sliding_window(C([[1, 2, 3], [4], [5, 6]]), 2, axis=1)
    int32 (3, None, 2) [[[1, 2], [2, 3]], [], [[5, 6]]]
text.sliding_window(C([[[1, 2, 3], [4]], [[5, 6]]]), 2)
    int32 (2, None, None, 2) [[[[1, 2], [2, 3]], []], [[[5, 6]]]]
text.sliding_window(S, 2)
    string (3, None, 2) [[[b'a', b'b'], [b'b', b'c']], [], []]
text.ngrams([1, 2, 3], 2, reduction_type=SUM)
    int32 [2] [3, 5]
text.ngrams([1., 2., 4.], 2, reduction_type=MEAN)
    float32 [2] [1.5, 3]
text.ngrams(['a', 'b', 'c'], 2, reduction_type=JOIN)
    string [2] [b'a b', b'b c']
text.ngrams(['a', 'b', 'c'], 2, reduction_type=JOIN, string_separator='-')
    string [2] [b'a-b', b'b-c']
text.ngrams(S, 2, reduction_type=JOIN)
    string (3, None) [[b'a b', b'b c'], [], []]
text.ngrams(S, 2, reduction_type=JOIN, string_separator='+')
    string (3, None) [[b'a+b', b'b+c'], [], []]
text.ngrams(S, 1, -1, JOIN)
    string (3, None) [[b'a', b'b', b'c'], [b'd'], []]
text.ngrams(S, 2, axis=1, reduction_type=JOIN)
    InvalidArgumentError: STRING_JOIN requires that ngrams' 'axis' parameter be -1.
text.ngrams(S, 2)
    InvalidArgumentError: reduction_type must be specified, and be a Reduction.
text.ngrams(S, 2, reduction_type=3)
    InvalidArgumentError: reduction_type must be specified, and be a Reduction.
text.ngrams(M, 2, axis=1, reduction_type=SUM)
    int32 [2, 2, 4] [[[4, 6, 8, 10], [12, 14, 16, 18]], [[28, 30, 32, 34], [36, 38, 40, 42]]]
text.ngrams(M, 2, axis=-2, reduction_type=SUM)
    int32 [2, 2, 4] [[[4, 6, 8, 10], [12, 14, 16, 18]], [[28, 30, 32, 34], [36, 38, 40, 42]]]
text.ngrams(M, 2, axis=0, reduction_type=SUM)
    int32 [1, 3, 4] [[[12, 14, 16, 18], [20, 22, 24, 26], [28, 30, 32, 34]]]
text.ngrams(tf.cast(M, tf.float32), 2, axis=2, reduction_type=MEAN)
    float32 [2, 3, 3] [[[0.5, 1.5, 2.5], [4.5, 5.5, 6.5], [8.5, 9.5, 10.5]], [[12.5, 13.5, 14.5], [16.5, 17.5,
    18.5], [20.5, 21.5, 22.5]]]
text.ngrams(C([[1, 2, 4], [8]]), 2, reduction_type=SUM)
    int32 (2, None) [[3, 6], []]
text.ngrams(C([[1., 2., 4.], [8.]]), 2, axis=1, reduction_type=MEAN)
    float32 (2, None) [[1.5, 3], []]
[r.value for r in (SUM, MEAN, JOIN)]
    (1; 2; 3)
text.pad_model_inputs(A, 2)
    (int32 [3, 2] [[1, 2], [0, 0], [3, 0]]; int32 [3, 2] [[1, 1], [0, 0], [1, 0]])
text.pad_model_inputs(A, 1)
    (int32 [3, 1] [[1], [0], [3]]; int32 [3, 1] [[1], [0], [1]])
text.pad_model_inputs(A, 3, pad_value=-1)
    (int32 [3, 3] [[1, 2, -1], [-1, -1, -1], [3, -1, -1]]; int32 [3, 3] [[1, 1, 0], [0, 0, 0], [1, 0, 0]])
text.pad_model_inputs(A, tf.constant(3))
    (int32 [3, 3] [[1, 2, 0], [0, 0, 0], [3, 0, 0]]; int32 [3, 3] [[1, 1, 0], [0, 0, 0], [1, 0, 0]])
text.pad_model_inputs([1, 2, 3], 5)
    (int32 [5] [1, 2, 3, 0, 0]; int32 [5] [1, 1, 1, 0, 0])
text.pad_model_inputs([1, 2, 3], 2, pad_value=9)
    (int32 [2] [1, 2]; int32 [2] [1, 1])
text.pad_model_inputs([[1, 2, 3], [4, 5, 6]], 4)
    (int32 [2, 4] [[1, 2, 3, 0], [4, 5, 6, 0]]; int32 [2, 4] [[1, 1, 1, 0], [1, 1, 1, 0]])
text.pad_model_inputs(7, 2)
    TypeError: Input must be at least rank 1
text.pad_model_inputs(C([[[1, 2], [3]], [[4]]]), 4)
    (int32 [2, 4] [[1, 2, 3, 0], [4, 0, 0, 0]]; int32 [2, 4] [[1, 1, 1, 0], [1, 0, 0, 0]])
text.pad_model_inputs(tf.cast(A, tf.int64), 2)
    (int64 [3, 2] [[1, 2], [0, 0], [3, 0]]; int64 [3, 2] [[1, 1], [0, 0], [1, 0]])
text.combine_segments([A], 101, 102)
    (int32 (3, None) [[101, 1, 2, 102], [101, 102], [101, 3, 102]]; int32 (3, None) [[0, 0, 0, 0], [0, 0], [0, 0,
    0]])
text.combine_segments([A, B], 101, 102)
    (int32 (3, None) [[101, 1, 2, 102, 10, 102], [101, 102, 20, 30, 102], [101, 3, 102, 102]]; int32 (3, None) [[0,
    0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1]])
text.combine_segments([tf.cast(A, tf.int64), tf.cast(B, tf.int64)], 101, 102)
    (int64 (3, None) [[101, 1, 2, 102, 10, 102], [101, 102, 20, 30, 102], [101, 3, 102, 102]]; int64 (3, None) [[0,
    0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1]])
text.combine_segments([C([[[1], [2, 3]]]), C([[[4]]])], 101, 102)
    (int32 (1, None, None) [[[101], [1], [2, 3], [102], [4], [102]]]; int32 (1, None, None) [[[0], [0], [0, 0], [0],
    [1], [1]]])
text.combine_segments([], 101, 102)
    ValueError: `segments` must be a nonempty list.
text.combine_segments([C([[1.5]])], 101, 102)
    ValueError: `segments` must have elements with dtype of int32 or int64
text.combine_segments([C([['a']])], 101, 102)
    ValueError: `segments` must have elements with dtype of int32 or int64
text.concatenate_segments([A])
    (int32 (3, None) [[1, 2], [], [3]]; int32 (3, None) [[0, 0], [], [0]])
text.concatenate_segments([A, B])
    (int32 (3, None) [[1, 2, 10], [20, 30], [3]]; int32 (3, None) [[0, 0, 1], [1, 1], [0]])
text.concatenate_segments([A, B, A])
    (int32 (3, None) [[1, 2, 10, 1, 2], [20, 30], [3, 3]]; int32 (3, None) [[0, 0, 1, 2, 2], [1, 1], [0, 2]])
text.concatenate_segments([])
    ValueError: `segments` must be a nonempty list.
text.concatenate_segments([C([[1.5]])])
    ValueError: `segments` must have elements with dtype of int32 or int64
text.concatenate_segments([C([[[1], [2, 3]]]), C([[[4]]])])
    (int32 (1, None, None) [[[1], [2, 3], [4]]]; int32 (1, None, None) [[[0], [0, 0], [1]]])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
