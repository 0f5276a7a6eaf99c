"""Hashes of strings. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

S = tf.strings
T = tf.constant(["abc", "", "  Żółć\t", "日本語x", "a,b,,c", "\U0001f600!"])

ROWS = read_rows("""
S.to_hash_bucket_fast(T, 10)
    int64 [6] [5, 3, 2, 7, 4, 1]
S.to_hash_bucket_fast(T, 2**40)
    int64 [6] [689156125545, 254201053263, 538723054244, 431716952021, 394514395572, 1028385077371]
S.to_hash_bucket(T, 10)
    int64 [6] [0, 9, 4, 0, 5, 5]
tf.compat.v1.string_to_hash_bucket(T, 10)
    int64 [6] [0, 9, 4, 0, 5, 5]
S.to_hash_bucket_strong(T, 10, [1, 2])
    int64 [6] [7, 5, 2, 0, 4, 0]
S.to_hash_bucket_strong(T, 2**40, [2**62, 5])
    int64 [6] [856095556924, 777089276437, 205465395128, 792378097611, 1037850872673, 611214751584]
S.to_hash_bucket_fast(T, 0)
    InvalidArgumentError
S.to_hash_bucket_strong(T, 10, [1])
    InvalidArgumentError
S.to_hash_bucket_strong(T, 0, [1, 2])
    InvalidArgumentError
S.to_hash_bucket_fast(["a" * n for n in range(0, 140, 7)], 1000)
    int64 [20] [263, 206, 294, 434, 77, 697, 683, 404, 785, 160, 88, 508, 517, 658, 500, 974, 832, 251, 895, 130]
S.to_hash_bucket_strong(["a" * n for n in range(0, 40, 3)], 1000, [7, 9])
    int64 [14] [164, 138, 749, 314, 63, 317, 97, 802, 826, 805, 107, 629, 537, 152]
S.to_hash_bucket_fast([5], 3)
    TypeError
sized(lambda x: S.to_hash_bucket_fast(x, 10), T)
    int64 [6] [5, 3, 2, 7, 4, 1]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
