"""Loops over the bytes of serialized examples, compared with protobuf."""

import random

import numpy as np
import pytest

import tapeflow as tf

FEATURES = {"i": tf.io.VarLenFeature(tf.int64), "f": tf.io.VarLenFeature(tf.float32)}
FEATURES["s"] = tf.io.VarLenFeature(tf.string)
LISTS = {"i": "int64_list", "f": "float_list", "s": "bytes_list"}


def _varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def _field(number, content):
    return _varint(8 * number + 2) + _varint(len(content)) + content


def _list(draw, key):
    """Returns the bytes of a list of values: packed, one by one, or in both ways."""
    out, size = b"", draw.choice([0, 1, 2, 40])
    for _ in range(draw.choice([1, 1, 2])):
        if key == "s":
            out += b"".join(_field(1, draw.randbytes(draw.choice([0, 3, 200]))) for _ in range(size))
            continue
        values = [_varint(draw.choice([0, -1, 300, 1 << 62])) if key == "i" else draw.randbytes(4) for _ in range(size)]
        tag = b"\x08" if key == "i" else b"\x0d"
        out += _field(1, b"".join(values)) if draw.random() < 0.7 else b"".join(tag + value for value in values)
    return out


def _example(draw):
    entries = []
    for key in draw.sample(["i", "f", "s", "other"], draw.randint(0, 4)):
        kind = key if key in LISTS else "f"
        feature = _field("sfi".index(kind) + 1, _list(draw, kind)) if draw.random() < 0.9 else b""
        unknown = draw.choice([b"", b"", _field(9, b"abc"), b"\xc8\x01\x07"])
        parts = [_field(1, key.encode()), _field(2, unknown + feature)]
        entries.append(_field(1, b"".join(parts if draw.random() < 0.9 else parts[::-1])))
    if draw.random() < 0.1:  # in two parts
        return b"".join(_field(1, entry) for entry in entries)
    return _field(1, b"".join(entries)) + draw.choice([b"", b"\x4d1234"])


def _expected(texts, key):
    rows = []
    for text in texts:
        feature = tf.train.Example.FromString(text).features.feature
        rows.append(list(getattr(feature[key], LISTS[key]).value) if key in feature else [])
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_values_are_those_of_protobuf(seed):
    draw = random.Random(seed)
    texts = [_example(draw) for _ in range(draw.choice([1, 5, 60]))]
    parsed = tf.io.parse_example(texts, FEATURES)
    ragged = tf.io.parse_example(texts, {key: tf.io.RaggedFeature(f.dtype) for key, f in FEATURES.items()})
    for key in FEATURES:
        expected = _expected(texts, key)
        flat = [value for row in expected for value in row]
        np.testing.assert_array_equal(parsed[key].values.numpy().tolist(), flat)
        places = [[i, j] for i, row in enumerate(expected) for j in range(len(row))]
        assert parsed[key].indices.numpy().tolist() == places
        assert parsed[key].dense_shape.numpy().tolist() == [len(texts), max(map(len, expected))]
        assert ragged[key].row_lengths().numpy().tolist() == [*map(len, expected)]


@pytest.mark.parametrize("seed", range(10))
def test_damaged_examples_are_refused_or_read(seed):
    draw = random.Random(seed)
    for _ in range(100):
        text = bytearray(_example(draw))
        for _ in range(draw.randint(0, 3)):
            if text:
                text[draw.randrange(len(text))] = draw.randrange(256)
        damaged = bytes(text[: draw.randint(0, len(text))] if draw.random() < 0.5 else text)
        try:
            parsed = tf.io.parse_example([damaged] * 3, FEATURES)
        except tf.errors.InvalidArgumentError:
            continue
        for value in parsed.values():
            assert value.dense_shape.numpy()[0] == 3


def test_defaults_stand_where_features_are_missing():
    there = tf.train.Example(features=tf.train.Features(feature={
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2])),
        "t": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"b"])),
    })).SerializeToString()  # fmt: skip
    features = {
        "x": tf.io.FixedLenFeature([2], tf.float32, [7.0, 8.0]),
        "t": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="?"),
    }
    parsed = tf.io.parse_example([b"", there, b"", there], features)
    assert parsed["x"].numpy().tolist() == [[7, 8], [1, 2]] * 2
    assert parsed["t"].numpy().tolist() == [[b"?", b"?"], [b"a", b"b"]] * 2
