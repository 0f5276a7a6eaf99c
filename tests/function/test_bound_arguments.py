"""Arguments of concrete functions, structured or flat. TensorFlow passes these tests, too."""

import collections

import pytest

import tapeflow as tf

Pair = collections.namedtuple("Pair", "first second")
X = tf.constant([1.0, 2.0])


def concrete_of(function, *args, **kwargs):
    return tf.function(function, autograph=False).get_concrete_function(*args, **kwargs)


@pytest.fixture
def structured():
    """A function of a nest, a Python value and a named tuple."""
    spec = tf.TensorSpec([2], tf.float32)
    return concrete_of(lambda n, k, p: n["a"] * k + p.first - p.second, {"a": spec}, 3, Pair(spec, spec))


def test_structured_arguments(structured):
    pair = Pair(tf.constant([10.0, 10.0]), tf.constant([1.0, 2.0]))
    expected = [12.0, 14.0]
    for args, kwargs in (
        (({"a": X}, 3, pair), {}),
        (({"a": X}, 3), {"p": pair}),
        ((), {"p": pair, "k": 3, "n": {"a": X}}),
        (({"a": [1.0, 2.0]}, 3, Pair([10.0, 10.0], [1, 2])), {}),
        ((X, *pair), {}),  # the tensors alone
    ):
        assert structured(*args, **kwargs).numpy().tolist() == expected


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (({"a": X}, 4, Pair(X, X)), "Can not cast 4 to Literal"),
        (({"b": X}, 3, Pair(X, X)), "has different keys with the TraceType"),
        ((3, 3, Pair(X, X)), "Can not cast 3 to a Dict type"),
        (({"a": X}, 3, (X, X)), "Cannot cast .* to type"),
        (({"a": tf.constant([1, 2])}, 3, Pair(X, X)), "Can not cast TensorSpec"),
        (({"a": tf.constant([1.0, 2.0, 3.0])}, 3, Pair(X, X)), "Can not cast TensorSpec"),
        (({"a": X}, 3), "missing a required argument: 'p'"),
        (({"a": X}, 3, Pair(X, X), 5), "too many positional arguments"),
    ],
)
def test_arguments_that_do_not_fit(structured, args, said):
    with pytest.raises(TypeError, match=said) as raised:
        structured(*args)
    assert "Binding inputs to tf.function failed due to" in str(raised.value)
    assert "Fallback to flat signature also failed due to" in str(raised.value)


def test_lists_and_tuples():
    spec = tf.TensorSpec([], tf.float32)
    f = concrete_of(lambda pair, rest: pair[0] - pair[1] + rest[0], (spec, spec), [spec])
    assert float(f((5.0, 2.0), [1.0])) == 4.0
    assert float(f((tf.constant(5.0), 2.0), [tf.constant(1.0)])) == 4.0
    for wrong, said in (
        (([5.0, 2.0], [1.0]), "Can not cast .* to .*tuple"),
        (((5.0, 2.0), (1.0,)), "Can not cast .* to .*list"),
        (((5.0, 2.0, 3.0), [1.0]), "to have length of 2"),
    ):
        with pytest.raises(TypeError, match=said):
            f(*wrong)


def test_names_of_flat_arguments():
    f = concrete_of(lambda a, b: a - b, tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32, name="second"))
    five, two = tf.constant(5.0), tf.constant(2.0)
    calls = ((five, two), {}), ((five,), {"b": two}), ((), {"b": two, "a": five}), ((five,), {"second": two})
    for args, kwargs in calls:
        assert float(f(*args, **kwargs)) == 3.0
    for args, kwargs, said in (
        ((five,), {}, "missing required arguments: second"),
        ((five, two, two), {}, "takes 2 positional arguments, got 3"),
        ((five, two), {"second": two}, "got two values for 'second'"),
        ((five,), {"second": two, "c": two}, "got unexpected keyword arguments: c"),
        ((five, "text"), {}, r"expected argument #1\(zero-based\) to be a Tensor; got str \(text\)"),
    ):
        with pytest.raises(TypeError, match=said):
            f(*args, **kwargs)


def test_flat_arguments_have_the_dtypes():
    f = concrete_of(lambda a: a + a, tf.TensorSpec([2], tf.float32))
    assert f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [2.0, 4.0, 6.0]  # of another shape
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"as input #0\(zero-based\) was expected"):
        f(tf.constant([1, 2]))

    @tf.function(autograph=False)
    def outer(x):
        with pytest.raises(TypeError, match="is not compatible with the shape this function was traced with"):
            f(x)
        return f(x[:2])

    assert outer(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [2.0, 4.0]


def test_shapes_are_made_more_precise_or_checked():
    f = concrete_of(lambda a: tf.reduce_sum(a), tf.TensorSpec([2, None], tf.float32))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)], autograph=False)
    def outer(x):
        result = f(x)
        assert x.shape.as_list() == [2, None]  # as the callee says
        return result

    assert float(outer(tf.ones([2, 3]))) == 6.0


def test_composite_arguments():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    f = concrete_of(lambda r: tf.reduce_sum(r, 1), spec)
    assert f(tf.ragged.constant([[1, 2], [], [3]])).numpy().tolist() == [3, 0, 3]
    for wrong in (tf.ragged.constant([[1.0]]), tf.constant([[1]]), 3):
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
            f(wrong)


def test_values_of_classes_are_compared():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __eq__(self, other):
            if not isinstance(other, Scale):
                raise RuntimeError("incomparable")
            return self.by == other.by

        def __hash__(self):
            return hash(self.by)

    kept = Scale(3.0)  # TensorFlow's functions refer to it weakly
    f = concrete_of(lambda x, scale: x * scale.by, tf.TensorSpec([2]), kept)
    assert f(X, Scale(3.0)).numpy().tolist() == [3.0, 6.0]
    for wrong in (Scale(4.0), "text"):
        with pytest.raises(TypeError, match="Fallback to flat signature also failed"):
            f(X, wrong)
