"""Splits and ngrams of many strings at once, against Python's methods of one string."""

import random

import numpy as np
import pytest

import tapeflow as tf

ALPHABETS = [b"ab,", b"a ,\t", b"ab \n\x0b\x0c\x1c\x85\xa0", b"a\0b,", b"a,\xffb"]


def random_strings(draw, alphabet):
    return [bytes(draw.choices(alphabet, k=draw.randint(0, 8))) for _ in range(draw.choice([1, 5, 20, 60]))]


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_splits_of_random_strings(alphabet):
    draw = random.Random(3)
    for _ in range(60):
        strings = random_strings(draw, alphabet)
        for separator in (None, b",", b"aa", b",,", b"\0", b"ab", b"\xff"):
            rows = [string.split(separator) for string in strings]
            assert tf.strings.split(strings, separator).to_list() == rows
            if separator is not None:
                most = draw.randint(0, 3)
                rows = [string.split(separator, most) for string in strings]
                assert tf.strings.split(strings, separator, maxsplit=most).to_list() == rows


def ngrams_of_row(row, widths, pads, most, keeps_short):
    out = []
    for width in widths:
        pad = 0 if pads is None else width - 1 if most is None else min(width - 1, most)
        padded = [pads[0]] * pad + row + [pads[1]] * pad if pad else row
        out += [b"-".join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
    if not out and keeps_short and row:
        out = [b"-".join([pads[0]] * most + row + [pads[1]] * most if pads and most else row)]
    return out


def test_ngrams_of_random_rows():
    draw = random.Random(4)
    for _ in range(400):
        strings = random_strings(draw, b"abc")
        splits = [0, *sorted(draw.choices(range(len(strings) + 1), k=draw.randint(0, 6))), len(strings)]
        widths = draw.choices([1, 2, 3, 5], k=draw.randint(1, 3))
        pads = draw.choice([None, (b"L", b"R")])
        most = None if pads is None else draw.choice([None, 1, 2])
        keeps_short = draw.random() < 0.5
        rows = tf.RaggedTensor.from_row_splits(strings, splits)
        result = tf.strings.ngrams(rows, widths, "-", pads, most, keeps_short)
        expected = [ngrams_of_row(row, widths, pads, most, keeps_short) for row in rows.to_list()]
        expected = expected if strings else [[] for _ in expected]  # rows get no pads if all are empty
        assert result.to_list() == expected


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
def test_splits_into_characters(encoding):
    texts = ["", "aé日𝄞", "b"]
    strings = np.array([text.encode(encoding) for text in texts], object)
    rows = [[character.encode(encoding) for character in text] for text in texts]
    assert tf.strings.unicode_split(strings, encoding).to_list() == rows


@pytest.mark.parametrize("alphabet", ["aé日𝄞", "aé\0"])
def test_parts_of_random_texts(alphabet):
    draw = random.Random(5)
    for _ in range(100):
        words = ["".join(draw.choices(alphabet, k=draw.randint(2, 6))) for _ in range(draw.randint(1, 9))]
        places, counts = ([draw.randint(0, 2) for _ in words] for _ in range(2))
        parts = tf.strings.substr(words, places, counts, unit="UTF8_CHAR").numpy().tolist()
        assert parts == [w[i : i + n].encode() for w, i, n in zip(words, places, counts, strict=True)]
        assert tf.strings.substr(words, 1, 2, unit="UTF8_CHAR").numpy().tolist() == [w[1:3].encode() for w in words]


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([0, 3], r"Invalid split value 3, must be in \[0, 2\]"),
        ([0, 2, 1, 2], r"Invalid split value 1, must be in \[2, 2\]"),
        ([0, 1], "Last split value must be data size. Expected 2, got 1"),
        ([1, 2], "First split value must be 0, got 1"),
    ],
)
def test_ngrams_of_rows_that_do_not_fit(splits, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.raw_ops.StringNGrams(
            data=tf.constant(["a", "b"]), data_splits=tf.constant(splits, tf.int64), separator=" ", ngram_widths=[2],
            left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False,
        )  # fmt: skip
