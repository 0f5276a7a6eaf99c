"""Decompression of Snappy blocks: literals and copies of each form, and damaged blocks."""

import pytest

from tapeflow.core.varint import varint
from tapeflow.train.snappy import decompress

LETTERS = bytes(range(97, 123)) * 12


def block(length, *parts):
    return varint(length) + b"".join(parts)


def literal(data, size=0):
    """Returns a literal with its length in its tag, or in `size` bytes after it."""
    count = len(data) - 1
    return (bytes([count << 2]) if not size else bytes([(59 + size) << 2]) + count.to_bytes(size, "little")) + data


def copy(kind, offset, count):
    """Returns a copy of earlier bytes, in the form of a tag and 1, 2 or 4 bytes of an offset."""
    if kind == 1:
        return bytes([1 | (count - 4) << 2 | (offset >> 8) << 5, offset & 255])
    return bytes([kind | (count - 1) << 2]) + offset.to_bytes(2 if kind == 2 else 4, "little")


@pytest.mark.parametrize("count", [1, 2, 59, 60])
def test_short_literals(count):
    assert decompress(block(count, literal(LETTERS[:count]))) == LETTERS[:count]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 60, 61, 62, 256])
def test_long_literals(size, count):
    data = block(2 * count, literal(LETTERS[:count], size), literal(LETTERS[5 : 5 + count], size))
    assert decompress(data) == LETTERS[:count] + LETTERS[5 : 5 + count]


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize(
    ("offset", "count"), [(1, 4), (1, 11), (2, 5), (3, 9), (4, 4), (5, 10), (26, 11), (255, 4), (256, 7), (300, 11)]
)
def test_copies(kind, offset, count):
    """A copy may overlap what it writes: then the bytes repeat."""
    expected = bytearray(LETTERS[:300])
    for _ in range(count):
        expected.append(expected[-offset])
    expected += b"end"
    data = block(303 + count, literal(LETTERS[:300], 2), copy(kind, offset, count), literal(b"end"))
    assert decompress(data) == bytes(expected)


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("count", [1, 2, 63, 64])
def test_copies_of_any_count(kind, count):
    whole = decompress(block(26 + count, literal(LETTERS[:26]), copy(kind, 26, count)))
    assert whole == LETTERS[:26] + LETTERS[:count]


def test_far_copies():
    """The offsets of 4 bytes reach further than those of 2, and those further than 11 bits."""
    long = bytes(i * i % 251 for i in range(70_000))
    for kind, offset in ((1, 2047), (2, 2048), (2, 65_535), (3, 65_536), (3, 70_000)):
        start = 70_000 - offset
        assert decompress(block(70_010, literal(long, 3), copy(kind, offset, 10)))[70_000:] == long[start:][:10]


def test_a_block_of_copies_is_much_shorter_than_its_data():
    data = block(1 + 64 * 40, literal(b"a"), copy(2, 1, 64) * 40)
    assert decompress(data) == b"a" * (1 + 64 * 40)
    assert decompress(b"\x00") == b""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (block(300, literal(b"a")), "claims more than it can hold"),
        (block(256, literal(b"a")), "cut short"),
        (block(5, b"\x00"), "damaged"),
        (block(3, literal(b"ab")), "cut short"),
        (block(1, literal(b"ab")), "damaged"),
        (block(5, literal(b"abcde")[:-1]), "damaged"),
        (block(70, literal(LETTERS[:70], 2)[:2]), "damaged"),
        (block(6, literal(b"ab"), b"\x01"), "cut short"),
        (block(3, literal(b"ab"), copy(2, 1, 1)[:-1]), "damaged"),
        (block(3, literal(b"ab"), copy(3, 1, 1)[:-1]), "damaged"),
        (block(6, literal(b"ab"), copy(1, 3, 4)), "copies from before its start"),
        (block(6, literal(b"ab"), copy(2, 0, 4)), "copies from before its start"),
        (block(6, copy(1, 1, 4), literal(b"ab")), "copies from before its start"),
        (block(7, literal(b"ab"), copy(1, 2, 4), literal(b"cd")), "damaged"),
    ],
)
def test_damaged_blocks(data, message):
    with pytest.raises(ValueError, match=message):
        decompress(data)
