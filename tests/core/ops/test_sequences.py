"""Lists that become tensors: short and long, of each type of numbers."""

import collections

import numpy as np
import pytest

import tapeflow as tf

LONG = 70  # from 64 items on, rows are read at once


def check(value, dtype, expected_dtype):
    x = tf.constant(value, dtype)
    expected = np.array(value).astype(expected_dtype)
    assert x.dtype.name == expected_dtype and x.shape == expected.shape
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("count", [1, 3, LONG])
@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize(
    ("numbers", "dtype", "expected"),
    [
        ([1, -2, 3], None, "int32"),
        ([1, -2, 3], tf.int64, "int64"),
        ([1, -2, 3], tf.float32, "float32"),
        ([1, -2, 3], tf.float64, "float64"),
        ([1, -2, 3], tf.int8, "int8"),
        ([1.5, -2.25, 3.0], None, "float32"),
        ([1.5, -2.25, 3.0], tf.float64, "float64"),
        ([1.5, -2.25, 3.0], tf.float16, "float16"),
        ([1.5, 2, 3], None, "float32"),
        ([True, False, True], None, "bool"),
        ([1j, 2 + 0j, 3 - 1j], None, "complex128"),
        ([1j, 2 + 0j, 3 - 1j], tf.complex64, "complex64"),
        ([2**31 - 1, -(2**31), 0], None, "int32"),
        ([np.int64(1), np.int64(2), np.int64(3)], None, "int32"),
    ],
)
def test_lists_of_numbers(numbers, dtype, expected, rows, count):
    row = (numbers * count)[:count]
    value = [row[::-1], row][:rows] if rows else row
    check(value, dtype, expected)
    if rows:
        check([[value], [value]], dtype, expected)


@pytest.mark.parametrize("count", [2, LONG])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1.5, tf.int32), ("a", tf.float32), (2**63, tf.int64), (None, None), (object(), None), ([1], None), ("a", None)],
)
def test_an_element_that_does_not_fit(value, dtype, count):
    for row in ([1] * (count - 1) + [value], [value] + [1] * (count - 1)):
        with pytest.raises((TypeError, ValueError, OverflowError, SystemError)):
            tf.constant(row, dtype)
        with pytest.raises((TypeError, ValueError, OverflowError, SystemError)):
            tf.constant([row, [1] * count], dtype)


@pytest.mark.parametrize("count", [2, LONG])
def test_rows_of_other_lengths(count):
    row = [1.0] * count
    longer = [*row, 1.0]
    for value in ([row, row[1:]], [row, longer], [row, 1.0], [[row], [row, row]], [row, [row]], [[], row], [row, []]):
        with pytest.raises((TypeError, ValueError)):
            tf.constant(value)


def test_numbers_of_several_types():
    for row in ([1, 2.5, 3], [1] * LONG + [2.5], [2.5] + [1] * LONG):
        assert tf.constant(row).dtype is tf.float32 and tf.constant(row).numpy().tolist() == [float(n) for n in row]
    for row in ([1, 1j], [2.5, 1j]):
        with pytest.raises((TypeError, ValueError)):
            tf.constant(row)
    assert tf.constant([1j, 2.5, 1]).numpy().tolist() == [1j, 2.5, 1]


def test_large_numbers_in_lists():
    assert tf.constant([1.0, float("inf"), float("nan")]).numpy()[1] == np.inf
    with pytest.raises(ValueError, match="out of range"):
        tf.constant([1.0, 1e39])
    with pytest.raises(ValueError, match="out of range"):
        tf.constant([1.0] * LONG + [1e39])
    assert tf.constant([1.0, 1e39], tf.float64).numpy()[1] == 1e39
    assert tf.constant([2**53 + 1, 1], tf.float64).numpy()[0] == float(2**53 + 1)
    assert tf.constant([-(2**53), 1], tf.float32).numpy()[0] == -(2.0**53)
    assert tf.constant([2**64 - 1, 1], tf.uint64).numpy()[0] == 2**64 - 1


def test_texts():
    for count in (2, LONG):
        check_texts = ["a", "é", ""] * count
        assert tf.constant(check_texts).numpy().tolist() == [text.encode() for text in check_texts]
        assert tf.constant([check_texts, check_texts]).shape == [2, 3 * count]
        assert tf.constant([b"a", "b"] * count, tf.string).numpy().tolist() == [b"a", b"b"] * count
        for wrong in ([*check_texts, 1], [*check_texts, None], [1, *check_texts]):
            with pytest.raises((TypeError, ValueError)):
                tf.constant(wrong)


def test_empty_lists():
    for value, shape in (([], [0]), ([[]], [1, 0]), ([[], []], [2, 0]), ([[[]]], [1, 1, 0]), ((), [0])):
        assert tf.constant(value).shape == shape and tf.constant(value).dtype is tf.float32
        assert tf.constant(value, tf.int32).dtype is tf.int32 and tf.constant(value, tf.string).shape == shape


def test_other_sequences():
    assert tf.constant(range(2, 5)).numpy().tolist() == [2, 3, 4]
    assert tf.constant((1, 2.5)).numpy().tolist() == [1.0, 2.5]
    assert tf.constant([np.array([1, 2]), np.array([3, 4])]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant([np.array(1), 2]).numpy().tolist() == [1, 2]
    assert tf.constant(collections.UserList([1, 2])).numpy().tolist() == [1, 2]
    assert tf.constant(collections.deque([1, 2])).numpy().tolist() == [1, 2]
    assert tf.constant([np.float64(1.5), np.float64(2.5)]).dtype is tf.float64
    assert tf.constant([np.True_, False]).numpy().tolist() == [True, False]
    with pytest.raises((TypeError, ValueError)):
        tf.constant([np.True_, 1])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([1, 2], "int32"), ([1.5, 2], "float32"), ([[True]], "bool"), (["a"], "string"), ([2**40], "int64")],
)
def test_constants_of_graphs(value, dtype):
    with tf.Graph().as_default():
        x = tf.constant(value)
        assert x.dtype.name == dtype
        with pytest.raises(TypeError):
            tf.constant([1.5], tf.int32)
        with pytest.raises(TypeError):
            tf.constant([["a"], [1]], tf.string)
        with tf.compat.v1.Session() as session:
            found = session.run(x).tolist()
            assert found == (value if dtype != "string" else [b"a"])


# What lists of one or two elements become, by the requested dtype: a dot, or the letter of the error; and without one.
ELEMENTS = {
    "bool": True, "np.bool": np.True_, "int": 1, "np.int8": np.int8(2), "float": 1.5, "np.float16": np.float16(2.5),
    "np.float64": np.float64(3.5), "complex": 1j, "text": "a",
}  # fmt: skip
DTYPES = [
    tf.bool, tf.int8, tf.uint8, tf.int32, tf.int64, tf.uint64, tf.float16, tf.bfloat16, tf.float32, tf.float64,
    tf.complex64, tf.complex128, tf.string, tf.qint8,
]  # fmt: skip
OUTCOMES = {
    ".TT....T..T.TT bool": ("bool, bool bool"),
    ".TTTTTTTTTTTTT bool": ("bool np.bool, np.bool, np.bool bool, np.bool np.bool"),
    "VVV....V..V.VV V": ("bool int, bool np.int8"),
    "VVVVVV.V..V.VV V": ("bool float, bool np.float16, bool np.float64"),
    "VVVVVVVVVVV.VV V": (
        "bool complex, int complex, np.int8 complex, float complex, np.float16 complex, np.float64 complex"
    ),
    "VVVVVVVVVVVVVV V": (
        "bool text, np.bool int, np.bool np.int8, np.bool float, np.bool np.float16, np.bool np.float64, "
        "np.bool complex, np.bool text, int np.bool, int text, np.int8 np.bool, np.int8 text, float np.bool, "
        "float text, np.float16 np.bool, np.float16 text, np.float64 np.bool, np.float64 text, complex "
        "np.bool, complex text, text bool, text np.bool, text int, text np.int8, text float, text np.float16, "
        "text np.float64, text complex"
    ),
    "T...........T. int32": (
        "int, int bool, int int, int np.int8, np.int8, np.int8 bool, np.int8 int, np.int8 np.int8"
    ),
    "TTTTTT......TT float32": (
        "int float, int np.float16, int np.float64, np.int8 float, np.int8 np.float16, np.int8 np.float64, "
        "float, float bool, float int, float np.int8, float float, float np.float16, float np.float64"
    ),
    "TTTTTT......TT float16": (
        "np.float16, np.float16 bool, np.float16 int, np.float16 np.int8, np.float16 float, np.float16 "
        "np.float16, np.float16 np.float64"
    ),
    "TTTTTT......TT float64": (
        "np.float64, np.float64 bool, np.float64 int, np.float64 np.int8, np.float64 float, np.float64 "
        "np.float16, np.float64 np.float64"
    ),
    "TTTTTTTTTT..TT complex128": (
        "complex, complex bool, complex int, complex np.int8, complex float, complex np.float16, complex "
        "np.float64, complex complex"
    ),
    "TTTTTTTTTTTT.T string": ("text, text text"),
}


def outcome(value, dtype=None):
    try:
        found = tf.constant(value, dtype).dtype
    except (TypeError, ValueError) as error:
        return type(error).__name__[0]
    return found.name if dtype is None else "." if found is dtype else "?"


@pytest.mark.parametrize("expected", OUTCOMES)
def test_kinds_of_elements(expected):
    for kinds in OUTCOMES[expected].split(", "):
        value = [ELEMENTS[kind] for kind in kinds.split()]
        for given in (value, tuple(value), [value, value], [tuple(value)]):
            assert f"{''.join(outcome(given, dtype) for dtype in DTYPES)} {outcome(given)}" == expected, kinds
        assert outcome(value * 40) == expected.split()[1]


def test_integers_beyond_all_floats():
    for value in ([10**400], [1, 10**400], [True, -(10**400)]):
        for dtype in (tf.float16, tf.float32, tf.float64):
            with pytest.raises(ValueError, match=r"range|large"):
                tf.constant(value, dtype)


def test_none_in_graphs():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="None values not supported"):
            tf.constant(None)
        for value in ([None], [1, None], [[None]]):
            with pytest.raises((TypeError, ValueError)):
                tf.constant(value)
