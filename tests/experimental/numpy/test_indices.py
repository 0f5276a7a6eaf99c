"""NumPy's indexing of tensors, beside NumPy itself."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.experimental.numpy.indices import numpy_getitem

X = np.arange(24).reshape(2, 3, 4)
T = tf.constant(X)
KEYS = """
0
-1
1:
:, 1
..., 2
[0, 1]
[1, 0, 1]
0, [0, 2]
:, [0, 2]
:, :, [3, 0]
[0, 1], [1, 2]
[0, 1], [1, 2], [3, 0]
[0, 1], :, [1, 2]
:, [0, 1], [1, 2]
..., [0, 1]
..., [0, 1], 0
..., [0, 2], [1, 3]
[[0], [1]], [[0, 1]]
[[0], [1]], :, [[0, 1, 3]]
:, None, [0]
None, [0, -1]
None, :, [0, 2], [1, 1]
:, [0], :, None
[0], None, :, [1]
:, [True, False, True]
[True, False], 1:
[False, True], [0, 2]
:, :, np.array([0, 3])
np.array([True, False])
X > 5
np.array([[0, 1], [1, 0]]), 1
np.int64(1)
1:, ::2
::-1, [2, 0]
(0, 1)
-1, -1, [-1, -4]
1, :, 2
..., None
slice(None), np.array([2], np.int32)
np.array([0, 1], np.uint8)
"""


@pytest.mark.parametrize("key", KEYS.strip().splitlines())
def test_elements_are_numpys(key):
    keys = eval(f"np.s_[{key}]", {"np": np, "X": X})
    expected = X[keys]
    found = numpy_getitem(T, keys)
    assert found.dtype == T.dtype
    np.testing.assert_array_equal(found, expected)
    function = tf.function(lambda x: numpy_getitem(x, keys), autograph=False)
    np.testing.assert_array_equal(function(T), expected)


def test_tensors_are_indices():
    np.testing.assert_array_equal(numpy_getitem(T, tf.constant([1, 0])), X[[1, 0]])
    np.testing.assert_array_equal(numpy_getitem(T, (slice(None), tf.constant([2, 0], tf.int64))), X[:, [2, 0]])
    np.testing.assert_array_equal(numpy_getitem(T, (tf.constant(1), slice(1, None))), X[1, 1:])
    np.testing.assert_array_equal(numpy_getitem(T, T > 20), X[X > 20])
    np.testing.assert_array_equal(numpy_getitem(T, tf.constant([True, False])), X[:1])


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (1.5, IndexError),
        ("a", (IndexError, TypeError, ValueError)),
        ((slice(None), [0.5]), IndexError),
        ((0, [[True, False, True]]), NotImplementedError),
        ((slice(None), [3]), (IndexError, tf.errors.InvalidArgumentError)),
    ],
)
def test_bad_indices(key, error):
    with pytest.raises(error):
        numpy_getitem(T, key)
