"""Characters of UTF-8, read one by one."""

import numpy as np
import pytest

from tapeflow.strings.kernels import character_at


@pytest.mark.parametrize("text", ["a", "\x7f", "\x80", "é", "\u07ff", "\u0800", "€", "\uffff", "\U00010000", "😀"])
def test_characters(text):
    data = np.frombuffer(f"ab{text}c".encode(), np.uint8)
    width = len(text.encode())
    assert character_at(data, 2, len(data)) == 8 * ord(text) + width
    if width > 1:
        assert character_at(data, 2, 1 + width) == -7  # its last byte is beyond the end


@pytest.mark.parametrize(
    ("text", "width"),
    [
        (b"\xe0\x80\x80", 3),
        (b"\xe0\x9f\xbf", 3),
        (b"\xf0\x80\x80\x80", 4),
        (b"\xf0\x8f\xbf\xbf", 4),
        (b"\xf4\x90\x80\x80", 4),
    ],
)
def test_forms_that_are_too_long_and_numbers_that_are_too_large(text, width):
    assert character_at(np.frombuffer(text, np.uint8), 0, len(text)) == 8 * 0x110000 + width


@pytest.mark.parametrize("text", [b"\x80", b"\xbf\x80", b"\xc1\x80", b"\xe2\x82", b"\xe2\x82a", b"\xf5\x80\x80\x80"])
def test_bytes_that_begin_no_character(text):
    assert character_at(np.frombuffer(text, np.uint8), 0, len(text)) == -7
