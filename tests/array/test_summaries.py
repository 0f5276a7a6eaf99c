"""Histograms and fingerprints. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row


def ints(*shape):
    return tf.TensorSpec(shape, tf.int32)


def whole(*shape):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


X = whole(2, 3)
N = ints()

ROWS = read_rows("""
tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5)
    int32 [5] [2, 1, 1, 0, 2]
tf.histogram_fixed_width([1, 2, 3], [0, 4], 2)
    int32 [2] [1, 2]
tf.histogram_fixed_width([1.0, 2.0], [0.0, 5.0], 5, tf.int64)
    int64 [5] [0, 1, 1, 0, 0]
tf.histogram_fixed_width([], [0.0, 5.0], 3)
    int32 [3] [0, 0, 0]
tf.histogram_fixed_width([1.0], [5.0, 5.0], 3)
    InvalidArgumentError
tf.histogram_fixed_width([1.0], [6.0, 5.0], 3)
    InvalidArgumentError
tf.histogram_fixed_width([1.0], [0.0, 5.0], 0)
    InvalidArgumentError
tf.histogram_fixed_width([1.0], [0.0], 3)
    InvalidArgumentError
tf.histogram_fixed_width([1.0], [0.0, 5.0], [3])
    InvalidArgumentError
tf.histogram_fixed_width([np.nan, 1.0], [0.0, 5.0], 5)
    InvalidArgumentError
tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5)
    int32 [6] [0, 0, 1, 2, 4, 4]
tf.histogram_fixed_width_bins([[1, 2], [3, 9]], [0, 4], 2)
    InvalidArgumentError
tf.histogram_fixed_width_bins([1.0], [0.0, 5.0], 5, tf.int64)
    int32 [1] [1]
tf.histogram_fixed_width_bins([1.0], [0.0, 5.0], 0)
    InvalidArgumentError
tf.histogram_fixed_width_bins([1.0], [5.0, 5.0], 5)
    int32 [1] [0]
tf.histogram_fixed_width_bins([], [0.0, 5.0], 5)
    int32 [0] []
static(lambda x: tf.histogram_fixed_width(x, [0.0, 5.0], 5), [None])
    '(5,)'
static(lambda x, n: tf.histogram_fixed_width(x, [0.0, 5.0], n), [None], N)
    '(None,)'
static(lambda x: tf.histogram_fixed_width_bins(x, [0.0, 5.0], 5), [None, 2])
    '(None, 2)'
tf.fingerprint(["a", "bc"])
    uint8 [2, 8] [[227, 117, 223, 182, 101, 66, 69, 179], [119, 129, 82, 223, 68, 160, 90, 83]]
tf.fingerprint(X)
    uint8 [2, 8] [[97, 250, 103, 235, 2, 197, 12, 216], [137, 64, 115, 26, 94, 100, 213, 1]]
tf.fingerprint(tf.constant([[1, 2], [3, 4]], tf.int64))
    uint8 [2, 8] [[13, 174, 106, 137, 46, 191, 85, 144], [243, 64, 135, 33, 239, 128, 109, 162]]
tf.fingerprint([["a", "b"], ["c", "d"]])
    uint8 [2, 8] [[122, 64, 59, 169, 136, 60, 55, 83], [52, 252, 224, 38, 64, 226, 155, 60]]
tf.fingerprint([True, False])
    uint8 [2, 8] [[62, 88, 126, 177, 19, 76, 162, 71], [84, 75, 233, 245, 237, 86, 96, 190]]
tf.fingerprint("a")
    InvalidArgumentError
tf.fingerprint(["a"], "md5")
    InvalidArgumentError
tf.fingerprint(whole(2, 2, 2))
    uint8 [2, 8] [[21, 19, 218, 176, 152, 160, 0, 216], [114, 98, 211, 170, 65, 9, 34, 170]]
static(lambda x: tf.fingerprint(x), [None, 3])
    '(None, 8)'
static(lambda x: tf.fingerprint(x), None)
    '(None, 8)'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
