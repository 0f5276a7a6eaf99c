"""Integers of variable length: those of protocol buffers."""

import pytest

from tapeflow.core.varint import read_varint, varint


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**32, "8080808010"),
        (2**64 - 1, "ffffffffffffffffff01"),
    ],
)
def test_bytes(value, data):
    assert varint(value).hex() == data
    for before in (0, 3):
        buffer = b"\xff" * before + bytes.fromhex(data) + b"\x05"
        for kind in (bytes, memoryview):
            assert read_varint(kind(buffer), before) == (value, len(buffer) - 1)


@pytest.mark.parametrize("data", ["", "80", "ffffffffffffffffff", "ff" * 10, "80" * 11 + "01"])
def test_integers_that_are_cut_short_or_too_long(data):
    with pytest.raises(ValueError, match="a length is cut short"):
        read_varint(bytes.fromhex(data), 0)
