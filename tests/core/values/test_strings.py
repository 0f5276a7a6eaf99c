"""The value of string tensors: what it makes of buffers, and how it shares them."""

import copy
import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.string_index import StringIndex
from tapeflow.core.values.strings import StringArray

TEXTS = [b"a", b"", b"\0\xff", b"long" * 30, b"b"] * 40  # more than are handled one by one


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:5], TEXTS[:1], [], [b""], [b"", b""], [b"x" * 9] * 100])
def test_lists_and_arrays(texts):
    strings = StringArray.of(texts)
    assert strings.tolist() == np.asarray(strings).tolist() == texts
    assert strings.lengths.tolist() == list(map(len, texts))
    assert strings.reshape(1, -1).tolist() == ([texts] if texts else [[]])
    assert pickle.loads(pickle.dumps(strings)).tolist() == copy.deepcopy(strings).tolist() == texts
    assert StringArray.from_objects(np.asarray(strings)).tolist() == texts


@pytest.mark.parametrize(
    "key",
    [0, -1, slice(2, 7), slice(None, None, -3), (slice(1, 4), 2), (..., 0), np.array([3, -1]), np.array([[0], [5]])],
)
def test_indexing_is_numpys(key):
    strings, objects = StringArray.of(TEXTS, (40, 5)), np.array(TEXTS, object).reshape(40, 5)
    assert np.asarray(strings[key]).tolist() == objects[key].tolist()


@pytest.mark.parametrize("count", [3, 40, 1000])
def test_lists_of_text(count):
    texts = ["a", "", "\0é日", "\U0001f600" * 30, "b" * count][:count] * (count // 4 or 1)
    encoded = [text.encode() for text in texts]
    assert StringArray.of_text(texts).tolist() == encoded
    for same in (
        texts,
        tuple(texts),
        np.array(texts),
        np.array(encoded),
        np.array(texts, object),
        [*encoded[:2], *texts[2:]],
    ):
        expected = [text.rstrip(b"\0") for text in encoded] if getattr(same, "dtype", "") == "S" else encoded
        assert tf.constant(same).numpy().tolist() == expected
    ascii = np.array([["ab", ""], ["c", "d\0e"]] * count)
    for same in (ascii, ascii.T[::-1], ascii.astype("S"), ascii.astype(ascii.dtype.newbyteorder(">"))):
        assert tf.constant(same).numpy().tolist() == same.astype("S").tolist()
    for wrong in ([*texts, 1], [*texts, None], [*encoded, 1.5]):
        with pytest.raises((TypeError, ValueError)):
            tf.constant(wrong)
    with pytest.raises(UnicodeEncodeError):
        tf.constant([*texts, "\ud800"])


def test_moves():
    strings, objects = StringArray.of(TEXTS, (40, 5)), np.array(TEXTS, object).reshape(40, 5)
    assert strings.transpose(1, 0).tolist() == objects.T.tolist()
    assert strings[:1].broadcast_to((3, 2, 5)).tolist() == np.broadcast_to(objects[:1], (3, 2, 5)).tolist()
    for axis in (0, 1):
        joined = StringArray.concatenate([strings, strings[:40]], axis)
        assert joined.tolist() == np.concatenate([objects, objects], axis).tolist()
    assert StringArray.stack([strings[1], strings[2]]).tolist() == objects[1:3].tolist()
    assert StringArray.full((2, 3), b"ab").tolist() == [[b"ab"] * 3] * 2
    assert strings[:2].padded((3, 6), b"?").tolist()[1:] == [[*TEXTS[5:10], b"?"], [b"?"] * 6]
    places = np.array([-1, 3, 199] * 20)
    assert strings.take(places).tolist() == [TEXTS[i] for i in places]


def test_parts_share_memory():
    strings = StringArray.of(TEXTS)
    for part in (strings[10:20], strings.reshape(40, 5)[3:], strings.take(np.arange(50, 90))):
        assert np.shares_memory(part.buffer, strings.buffer)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="cannot reshape"):
        StringArray.of(TEXTS).reshape(7, -1)


def test_numbers_of_strings():
    index, known = StringIndex(), {}
    for texts in (TEXTS, [b"%d" % i for i in range(3000)], [b"", b"\0", b"new"], []):
        assert index.add(StringArray.of(texts)).tolist() == [known.setdefault(t, len(known)) for t in texts]
    assert index.strings.tolist() == list(known)
    assert index.find(StringArray.of([b"7", b"missing", b"a"])).tolist() == [known[b"7"], -1, 0]
