"""Conversions between bytes, texts, numbers and dimensions."""

import pathlib

import numpy as np
import pytest

import tapeflow as tf

TEXT = "grün"


@pytest.mark.parametrize(
    ("value", "encoding", "expected"),
    [
        (TEXT, "utf-8", b"gr\xc3\xbcn"),
        (TEXT, "latin-1", b"gr\xfcn"),
        (b"gr\xfcn", "utf-8", b"gr\xfcn"),
        (bytearray(b"ab"), "utf-8", b"ab"),
    ],
)
def test_as_bytes(value, encoding, expected):
    result = tf.compat.as_bytes(value, encoding)
    assert result == expected and type(result) is bytes


@pytest.mark.parametrize(
    ("value", "encoding", "expected"),
    [(TEXT, "latin-1", TEXT), (b"gr\xc3\xbcn", "utf-8", TEXT), (b"gr\xfcn", "latin-1", TEXT)],
)
def test_as_text(value, encoding, expected):
    assert tf.compat.as_text(value, encoding) == expected
    assert tf.compat.as_str(value, encoding) == expected
    assert tf.compat.as_str_any(value, encoding) == expected


@pytest.mark.parametrize("function", [tf.compat.as_bytes, tf.compat.as_text])
def test_neither_bytes_nor_text(function):
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        function(3)
    with pytest.raises(UnicodeError):
        function(TEXT if function is tf.compat.as_bytes else b"gr\xc3\xbcn", "ascii")


def test_text_of_anything():
    assert tf.compat.as_str_any(2.5) == "2.5" and tf.compat.as_str_any(None) == "None"
    assert tf.compat.as_str_any(bytearray(b"a")) == "bytearray(b'a')"


def test_paths():
    path = pathlib.PurePosixPath("a") / "b"
    assert tf.compat.path_to_str(path) == "a/b"
    assert tf.compat.path_to_str("a//b") == "a//b" and tf.compat.path_to_str(3) == 3


def test_numbers_by_kind():
    assert isinstance(np.int8(1), tf.compat.integral_types) and not isinstance(1.0, tf.compat.integral_types)
    assert isinstance(np.float16(1), tf.compat.real_types) and not isinstance(1j, tf.compat.real_types)
    assert isinstance(1j, tf.compat.complex_types) and not isinstance("1", tf.compat.complex_types)
    assert isinstance(b"", tf.compat.bytes_or_text_types) and isinstance("", tf.compat.bytes_or_text_types)


def test_dimensions():
    shape = tf.TensorShape([3, None])
    assert tf.compat.dimension_value(tf.compat.v1.Dimension(3)) == 3 and tf.compat.dimension_value(4) == 4
    assert tf.compat.dimension_value(None) is None
    assert tf.compat.dimension_at_index(shape, 0).value == 3 and tf.compat.dimension_at_index(shape, 1).value is None
    assert tf.compat.dimension_at_index(shape, -2).value == 3
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 5).value is None
