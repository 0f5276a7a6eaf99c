"""Values that Python functions and generators return are checked against what was declared. Expected: TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
InvalidArgumentError = tf.errors.InvalidArgumentError
a32, a64 = np.array([1.5, 2.0], "f"), np.array([1.5, 2.0])


def in_function(value, dtypes, call=tf.numpy_function):
    return tf.function(lambda: call(lambda: value, [], dtypes))()


def in_dataset(value, dtypes, call=tf.numpy_function):
    return next(iter(Dataset.range(1).map(lambda _: call(lambda: value, [], dtypes))))


PLACES = pytest.mark.parametrize("place", [in_function, in_dataset])


@PLACES
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (0.1, tf.float64),
        (3, tf.int64),
        (2**33, tf.int64),
        (True, tf.bool),
        ("ab", tf.string),
        (np.float32(0.5), tf.float32),
        (np.int32(4), tf.int32),
        (a32, tf.float32),
        (np.array([1, 2], "u1"), tf.uint8),
        (np.array([1], "f2"), tf.float16),
        (np.array([1j], "c8"), tf.complex64),
        (np.array(["a", "bc"]), tf.string),
        (np.array([b"a", "b"], object), tf.string),
        (np.array([1, 2], ">f4"), tf.float32),
        ([[1.5]], tf.float64),
    ],
)
def test_arrays_of_the_declared_dtype(place, value, dtype):
    result = place(value, dtype)
    expected = np.asarray(value[0] if isinstance(value, list) else value)
    assert result.dtype is dtype
    assert result.numpy() == expected if dtype is not tf.string and not expected.shape else True
    assert result.shape == expected.shape
    if dtype is not tf.string:
        np.testing.assert_array_equal(result.numpy(), expected.astype(dtype.as_numpy_dtype))


@PLACES
@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (0.1, tf.float32, "0-th value returned by .* is double, but expects float"),
        (3, tf.int32, "is int64, but expects int32"),
        (2**33, tf.int32, "is int64, but expects int32"),
        (a32, tf.float64, "is float, but expects double"),
        (a64, tf.float32, "is double, but expects float"),
        (np.array([1]), tf.int32, "is int64, but expects int32"),
        (True, tf.int32, "is bool, but expects int32"),
        ("ab", tf.float32, "is string, but expects float"),
        (1.0, tf.string, "is double, but expects string"),
        (None, tf.float32, "returns 0 values, but expects to see 1 values"),
        ((a32, a32), tf.float32, "returns 2 values, but expects to see 1 values"),
        ([1.5, 2.5], tf.float64, "returns 2 values, but expects to see 1 values"),
        (a32, [tf.float32, tf.float32], "returns 1 values, but expects to see 2 values"),
        ((a32, (2,)), [tf.float32, tf.int32], "1-th value returned by .* is int64, but expects int32"),
    ],
)
def test_other_arrays_are_refused(place, value, dtype, message):
    with pytest.raises(InvalidArgumentError, match=message):
        place(value, dtype)


@PLACES
@pytest.mark.parametrize("value", [{"a": 1}, 2**70, object(), np.datetime64("2020-01-01"), np.array([1], object)])
def test_types_that_no_tensor_has(place, value):
    with pytest.raises(tf.errors.InternalError, match="Unsupported"):
        place(value, tf.float32)


def test_items_of_the_returned_sequence():
    a, shape = in_function((a32, a32.shape), [tf.float32, tf.int64])
    assert a.numpy().tolist() == [1.5, 2]
    assert shape.numpy().tolist() == [2]  # one array, and not its numbers


def test_arguments_are_arrays_numbers_and_bytes():
    def kinds(*args):
        return np.array([type(a).__name__ for a in args])

    inputs = [tf.constant(1.0), tf.constant("a"), tf.ones(2), tf.constant(["a"])]
    names = tf.function(lambda: tf.numpy_function(kinds, inputs, tf.string))()
    assert names.numpy().tolist() == [b"float32", b"bytes", b"ndarray", b"ndarray"]


def test_py_func_of_tensorflow_1():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with pytest.raises(InvalidArgumentError, match="is int64, but expects int32"):
            session.run(tf.compat.v1.py_func(lambda: 2**33, [], tf.int32))
        assert session.run(tf.compat.v1.py_func(lambda: 0.1, [], tf.float64)) == 0.1


# ---- py_function -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_lists_are_several_values(wrap):
    def call(value, dtypes):
        return wrap(lambda: tf.py_function(lambda: value, [], dtypes))()

    assert call([1.5, 2.5], tf.float32).numpy() == 1.5  # TensorFlow drops the others, too
    assert [t.numpy() for t in call((1, 2), [tf.int64, tf.float32])] == [1, 2]
    assert call([[1.5, 2.5]], tf.float64).numpy().tolist() == [1.5, 2.5]
    with pytest.raises(InvalidArgumentError, match="returns 0 values"):
        call([], tf.float32)
    for wrong in (2.5, "ab", None):
        with pytest.raises(InvalidArgumentError):
            call(wrong, tf.int32)


def test_messages_have_the_users_lines():
    def read(_):
        return {}[3]

    def generate():
        yield 1
        raise KeyError("lost")

    for dataset, line in (
        (Dataset.range(1).map(lambda x: tf.py_function(read, [x], tf.int32)), "in read"),
        (Dataset.range(1).map(lambda x: tf.numpy_function(read, [x], tf.int32)), "return {}[3]"),
        (Dataset.from_generator(generate, tf.int32), "in generate"),
    ):
        with pytest.raises(tf.errors.UnknownError) as caught:
            list(dataset)
        assert "KeyError: " in str(caught.value)
        assert "Traceback (most recent call last):" in str(caught.value)
        assert line in str(caught.value)


# ---- declared shapes -------------------------------------------------------------------------------------------------


def declared(shape, call=tf.numpy_function):
    def function(x):
        y = call(lambda _: a32, [x], tf.float32)
        y.set_shape(shape)
        return y

    return function


wrong = Dataset.range(2).map(declared([3]))


@pytest.mark.parametrize(
    "take",
    [
        lambda: next(iter(wrong)),
        lambda: next(wrong.as_numpy_iterator()),
        lambda: next(iter(Dataset.range(1).map(declared([])))),
        lambda: next(iter(Dataset.range(1).map(declared([3], tf.py_function)))),
        lambda: next(iter(wrong.batch(2))),
        lambda: next(iter(wrong.prefetch(1))),
        lambda: next(iter(wrong.filter(lambda x: True))),
        lambda: next(iter(wrong.map(lambda x: x + 1))),
        lambda: next(iter(Dataset.zip((Dataset.range(1), wrong)))),
        lambda: next(iter(Dataset.range(1).flat_map(lambda _: Dataset.range(1).map(declared([3]))))),
        lambda: wrong.take(1).get_single_element(),
        lambda: iter(wrong).get_next_as_optional().get_value(),
        lambda: tf.function(lambda: next(iter(wrong)))(),
    ],
)
def test_shapes_that_set_shape_declares_in_datasets(take):
    with pytest.raises(InvalidArgumentError, match=r"Incompatible shapes at component \d: expected .* but got"):
        take()


def test_shapes_that_hold():
    right = Dataset.range(2).map(declared([2]))
    assert [x.tolist() for x in right.batch(2).as_numpy_iterator()] == [[[1.5, 2], [1.5, 2]]]
    assert wrong.reduce(0.0, lambda s, x: s + tf.reduce_sum(x)).numpy() == 7  # as in TensorFlow: nobody looks
    with pytest.raises(InvalidArgumentError):
        tf.function(lambda: tf.ensure_shape(declared(None)(1), [3]))()


# ---- generators ------------------------------------------------------------------------------------------------------


def yielded(value, *args, **kwargs):
    def generate():
        yield value

    return next(iter(Dataset.from_generator(generate, *args, **kwargs)))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2.5, tf.int32, None),
        (3, tf.bool, None),
        (True, tf.uint8, None),
        (None, tf.float32, None),
        (float("inf"), tf.int32, None),
        (2**70, tf.int64, None),
        ([1.5], tf.int64, None),
        (tf.constant(2.5), tf.float64, None),
        (tf.constant(3), tf.int64, None),
        (3, tf.float32, 3.0),
        ([1, 2], tf.uint8, [1, 2]),
        (a64, tf.int32, [1, 2]),
        (np.float64(0.5), tf.int32, 0),
        (a64, tf.float32, [1.5, 2]),
    ],
)
def test_lone_values_of_unknown_rank_convert_as_tensors_do(value, dtype, expected):
    for arguments in ({"output_types": dtype}, {"output_signature": tf.TensorSpec(None, dtype)}):
        if expected is None:
            with pytest.raises(InvalidArgumentError, match="could not be converted"):
                yielded(value, **arguments)
        else:
            result = yielded(value, **arguments)
            assert result.dtype is dtype
            assert result.numpy().dtype == dtype.as_numpy_dtype
            assert result.numpy().tolist() == expected


def test_numpy_casts_what_has_a_declared_rank():
    assert yielded(2.5, output_signature=tf.TensorSpec([], tf.int32)).numpy() == 2
    assert [t.numpy() for t in yielded((2.5, 1), (tf.int32, tf.float32))] == [2, 1]
    with pytest.raises(InvalidArgumentError, match="of shape"):
        yielded([1, 2], output_signature=tf.TensorSpec([3], tf.int32))


def test_structures_of_generators_are_of_the_declared_class():
    pair = (tf.int32, tf.int32)
    assert [t.numpy() for t in yielded((1, 2), pair)] == [1, 2]
    for value in ([1, 2], {"a": 1, "b": 2}, (1,), 5):
        with pytest.raises(InvalidArgumentError, match="did not match the expected structure"):
            yielded(value, pair)


# ---- elements of a declared spec -------------------------------------------------------------------------------------

WRONG = [
    (tf.TensorSpec([], tf.float32), "Data type mismatch at component 0: expected float but got int64"),
    (tf.TensorSpec([2], tf.int64), r"Incompatible shapes at component 0: expected \[2\] but got \[\]"),
    ((tf.TensorSpec([], tf.int64),) * 2, "Number of components does not match: expected 2 types but got 1"),
]


@pytest.mark.parametrize(("spec", "message"), WRONG)
def test_variants_of_other_elements(spec, message):
    held = tf.data.experimental.to_variant(Dataset.range(3))
    assert [x.numpy() for x in tf.data.experimental.from_variant(held, tf.TensorSpec([], tf.int64))] == [0, 1, 2]
    with pytest.raises(InvalidArgumentError, match=message):
        list(tf.data.experimental.from_variant(held, spec))
    iterate = tf.function(lambda v: next(iter(tf.data.experimental.from_variant(v, spec))))
    with pytest.raises(InvalidArgumentError, match=message):
        iterate(held)


def test_saved_datasets_of_other_elements(tmp_path):
    path = str(tmp_path / "saved")
    Dataset.from_tensor_slices(a32).save(path)
    for spec in (tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.string)):
        for load in (lambda s: Dataset.load(path, s), lambda s: Dataset.load(path, s).batch(2)):
            with pytest.raises(InvalidArgumentError):
                list(load(spec))
    assert [x.numpy() for x in Dataset.load(path, tf.TensorSpec(None, tf.float32))] == [1.5, 2]


def test_iterators_of_other_elements():
    with tf.Graph().as_default():
        iterator = tf.compat.v1.data.Iterator.from_structure(tf.int64, [2])
        with pytest.raises(TypeError):
            iterator.make_initializer(Dataset.range(3))
