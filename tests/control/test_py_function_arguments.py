"""`tf.py_function` and `tf.numpy_function`: declared results, errors, and decorators."""

import numpy as np
import pytest

import tapeflow as tf

X = tf.constant([1.0, 2.0])


def both(function):
    return [function, tf.function(function)]


def test_decorators():
    @tf.py_function(Tout=tf.float32)
    def double(x):
        assert tf.is_tensor(x)
        return x * 2.0

    @tf.numpy_function(Tout=tf.float32)
    def triple(x):
        assert isinstance(x, np.ndarray)
        return x * np.float32(3.0)

    for call in both(lambda: (double(X), triple(X))):
        doubled, tripled = call()
        assert doubled.numpy().tolist() == [2.0, 4.0] and tripled.numpy().tolist() == [3.0, 6.0]


@pytest.mark.parametrize(
    ("result", "kinds", "expected"),
    [
        (lambda: 3, tf.int32, 3),
        (lambda: [3], tf.int32, 3),
        (lambda: 3, [tf.int32], [3]),
        (lambda: (3, 4.5), [tf.int64, tf.float64], [3, 4.5]),
        (lambda: [3, 4, 5], (tf.int32, tf.int32), [3, 4]),
        (lambda: np.array([1, 2]), tf.float32, [1.0, 2.0]),
        (lambda: "text", tf.string, b"text"),
        (lambda: [[1, 2], [3, 4]], [tf.int32, tf.TensorSpec([2], tf.int64)], [[1, 2], [3, 4]]),
        (lambda: tf.Variable(7.0), tf.float32, 7.0),
    ],
)
def test_results(result, kinds, expected):
    for call in both(lambda: tf.py_function(result, [], kinds)):
        found = call()
        assert isinstance(found, list) == isinstance(kinds, (list, tuple))
        assert tf.nest.map_structure(lambda t: np.asarray(t).tolist(), found) == expected
        for tensor, kind in zip(tf.nest.flatten(found), tf.nest.flatten(kinds), strict=True):
            assert tensor.dtype == getattr(kind, "dtype", kind)


def test_composite_values():
    ragged = tf.ragged.constant([[1], [2, 3]])
    spec = tf.RaggedTensorSpec([2, None], tf.int32, 1)
    for call in both(lambda: tf.py_function(lambda r: r * 2, [ragged], spec)):
        assert call().to_list() == [[2], [4, 6]]
    for call in both(lambda: tf.py_function(lambda r: r * 2, [ragged], tf.RaggedTensorSpec([3, None], tf.int32, 1))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="did not match Tout"):
            call()
    for call in both(lambda: tf.py_function(lambda: ragged, [], tf.int32)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="did not match Tout"):
            call()


def test_no_results():
    seen = []
    tf.py_function(lambda x: seen.append(x.numpy().tolist()), [X], [])

    @tf.function
    def call():
        tf.py_function(lambda x: seen.append(x.numpy().tolist()), [X], [])

    call()
    assert seen == [[1.0, 2.0]] * 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TypeError, tf.errors.InvalidArgumentError), (ValueError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError), (MemoryError, tf.errors.ResourceExhaustedError),
        (NotImplementedError, tf.errors.UnimplementedError), (KeyError, tf.errors.UnknownError),
    ],
)  # fmt: skip
def test_errors(error, kind):
    def fail(*args):
        raise error("because")

    for function in (tf.py_function, tf.numpy_function):
        with pytest.raises(kind, match=f"{error.__name__}: .*because"):
            tf.function(lambda f=function: f(fail, [X], tf.float32))()
    with pytest.raises(kind, match=f"{error.__name__}: .*because"):
        tf.py_function(fail, [X], tf.float32)
    with pytest.raises(error, match="because"):
        tf.numpy_function(fail, [X], tf.float32)


def test_errors_of_ops_stay():
    def fail(*args):
        raise tf.errors.DataLossError(None, None, "lost")

    for function in (tf.py_function, tf.numpy_function):
        with pytest.raises(tf.errors.DataLossError, match="lost"):
            tf.function(lambda f=function: f(fail, [X], tf.float32))()
        with pytest.raises(tf.errors.DataLossError, match="lost"):
            function(fail, [X], tf.float32)


def test_numbers_of_results():
    for call in both(lambda: tf.py_function(lambda: (1,), [], [tf.int32, tf.int32])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values, but expects to see 2 values"):
            call()
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values, but expects to see 1 values"):
        tf.py_function(lambda: None, [], tf.int32)
    with pytest.raises(tf.errors.OpError):
        tf.py_function(lambda: 3, [], [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects to see 1 values"):
        tf.function(lambda: tf.numpy_function(lambda: (1, 2), [], tf.int64))()


def test_arrays():
    def negate(x, n):
        assert type(n) is np.int32 and x.dtype == np.float32
        x[0] = 9.0  # a copy
        return -x * np.float32(n), np.int64(n), "t"

    kinds = [tf.float32, tf.int64, tf.string]
    first, second, text = tf.function(lambda: tf.numpy_function(negate, [X, 3], kinds))()
    assert first.numpy().tolist() == [-27.0, -6.0] and second.numpy() == 3 and text.numpy() == b"t"
    assert X.numpy().tolist() == [1.0, 2.0]
    one = tf.numpy_function(lambda x: x + 1, [X], tf.float32)
    assert one.numpy().tolist() == [2.0, 3.0] and tf.numpy_function(lambda: None, [], []) is None
    several = tf.numpy_function(lambda: (1, [2.5]), [], [tf.int64, tf.float64])
    assert [t.numpy().tolist() for t in several] == [1, 2.5]


def test_dtypes_of_arrays():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"0-th value returned by .* is double, but expects float"):
        tf.function(lambda: tf.numpy_function(lambda: 1.5, [], tf.float32))()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"1-th value returned by .* is int64, but expects int32"):
        tf.function(lambda: tf.numpy_function(lambda: (1, 2), [], [tf.int64, tf.int32]))()


@pytest.mark.parametrize("stateful", [True, False])
def test_calls_that_are_merged(stateful):
    calls = []

    def count(x):
        calls.append(1)
        return x

    @tf.function
    def twice():
        a = tf.numpy_function(count, [X], tf.float32, stateful=stateful)
        b = tf.numpy_function(count, [X], tf.float32, stateful=stateful)
        tf.numpy_function(count, [X + 1.0], tf.float32, stateful=stateful)  # unused
        return a + b

    assert twice().numpy().tolist() == [2.0, 4.0]
    assert len(calls) == 3 if stateful else len(calls) in (1, 2)
