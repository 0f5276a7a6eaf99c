"""Numbers in strings are read exactly, by compiled loops and, if these give up, by Python."""

import random
import struct

import numpy as np
import pytest

import tapeflow as tf

MANY = 64
BLANKS = ["", " ", "\t\n", "\v\f\r"]


def read(words, dtype):
    """The numbers, read after many others, by the loops; and, if they are few, by Python, to the same result."""
    words = [words] if isinstance(words, str) else words
    few = [tf.strings.to_number(word, dtype).numpy() for word in words]
    many = tf.strings.to_number(["1"] * MANY + words, dtype).numpy()[MANY:]
    assert few == many.tolist()
    return many


def next_float32(number):
    """The float32 next to a float64: `struct` rounds, and refuses numbers that are too large."""
    try:
        return np.float32(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return np.float32(np.copysign(np.inf, number))


def written_floats():
    draws = random.Random(5)
    for exponent in range(-26, 27):
        for digits in (1, 2, 14, 15, 16, 17):
            number = draws.randrange(10 ** (digits - 1), 10**digits)
            point = draws.randrange(digits + 1)
            text = f"{str(number)[:point]}.{str(number)[point:]}"
            yield f"{draws.choice(['', '-', '+'])}{text}{draws.choice('eE')}{exponent}"
            yield f"{text}e{exponent:+}"
            yield f"{number}e{exponent}"


FLOATS = [
    *written_floats(), "0", "-0", "+0.0", "1.", ".5", "-.5", "1e0", "1e00", "1e-00", "1e022", "1e0022", "3e22", "3e23",
    "-3e-22", "-3e-23", "7e308", "2e308", "1e-400", "123456789012345", "1234567890123456", "12345678901234567890123",
    "0.000000000000001", "0.0000000000000001", "inf", "-inf", "infinity", "3.4028235e38", "3.4028236e38", "1e-45",
    "0x1p4", "-0x1.8p1", "9007199254740993", "1.00000005960464477539", "1.000000059604644775390626",
]  # fmt: skip


def test_floats():
    expected = [float.fromhex(text) if "0x" in text else float(text) for text in FLOATS]
    assert [struct.pack("d", f) for f in read(FLOATS, tf.float64)] == [struct.pack("d", e) for e in expected]


def test_float32():
    texts = [text for text in FLOATS if not text.startswith("1.0000000596")]
    expected = [next_float32(float.fromhex(text) if "0x" in text else float(text)) for text in texts]
    assert np.array_equal(read(texts, tf.float32), np.array(expected, np.float32))
    # halfway between two float32s, and above it
    assert read("1.00000005960464477539", tf.float32) == 1.0 < read("1.000000059604644775390626", tf.float32)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_integers(dtype):
    numbers = [0, 1, -1, 10**17, 10**18 - 1, 10**18, -(10**18), dtype.min, dtype.max, dtype.min + 1, dtype.max - 1]
    numbers = [n for n in numbers if dtype.min <= n <= dtype.max]
    assert read([str(n) for n in numbers], dtype).tolist() == numbers
    assert read(["+7", "007", " 7", "7 "], dtype).tolist() == [7] * 4
    for text in (str(dtype.max + 1), str(dtype.min - 1), "1.0", "1e2", "", "-", "+", "1 2", "--1", "0x10"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
            read([text], dtype)
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
            tf.strings.to_number(["1"] * MANY + [text], dtype)


@pytest.mark.parametrize("before", BLANKS)
@pytest.mark.parametrize("after", BLANKS)
def test_blanks(before, after):
    assert read([f"{before}-12{after}"] * 2, tf.int64).tolist() == [-12] * 2
    assert read([f"{before}-1.5e1{after}"] * 2, tf.float64).tolist() == [-15] * 2


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize(
    "text", ["", " ", "-", ".", "e5", "1e", "1e+", "1e-", "1..2", "1.2.3", "1 2", "1e5.", "x", "1x", "--1"]
)
def test_no_floats(text, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
        read([text], dtype)
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
        tf.strings.to_number(["1"] * MANY + [text], dtype)
