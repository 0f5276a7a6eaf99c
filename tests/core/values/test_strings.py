"""The value of string tensors: what it makes of buffers, and how it shares them."""

import copy
import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.string_index import StringIndex
from tapeflow.core.values.strings import StringArray, gather_ranges, numbers_within, offsets_of

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


def texts_of(count, rng=0):
    """Returns strings of all lengths around the sizes at which loops copy in one step."""
    random = np.random.default_rng(rng)
    return [bytes(random.integers(1, 256, int(size)).astype(np.uint8)) for size in random.integers(0, 40, count)]


COUNTS = [1, 8, 9, 32, 33, 70]  # around the numbers at which arrays are lists, and loops run


@pytest.mark.parametrize("count", [0, *COUNTS])
def test_kinds_of_arrays(count):
    texts = texts_of(count)
    offsets = np.array([3, *(3 + np.cumsum([len(t) for t in texts], dtype=np.int64))], np.int64)
    for data in (b"???" + b"".join(texts), np.frombuffer(b"???" + b"".join(texts) + b"!", np.uint8)):
        strings = StringArray(data, offsets)
        assert strings.shape == (count,) and strings.ndim == 1 and len(strings) == strings.size == count
        assert (strings.listed is None) is (count > 8)
        assert strings.lengths.tolist() == [len(t) for t in texts] and strings.lengths.dtype == np.int64
        assert [*strings] == strings.flat == strings.tolist() == texts
        assert (strings.few is None) is (count > 32)
        assert (strings.listed is None) is (count > 32)  # which is known now
        packed, starts = strings.packed()
        assert type(packed) is bytes and packed == b"".join(texts) and starts.tolist() == (offsets - 3).tolist()
        assert strings.buffer.dtype == np.uint8 and strings.places().tolist() == list(range(count))
    few = StringArray.of(texts)
    assert few.tolist() == texts and bytes(few.data) == b"".join(texts)
    assert few.offsets.tolist() == (offsets - 3).tolist() and few.offsets.dtype == np.int64


def test_a_few_long_strings_stay_in_their_buffers():
    for size, few in ((1 << 16, True), ((1 << 16) + 1, False)):
        strings = StringArray(bytes(size + 5), np.array([5, 5 + size], np.int64))
        assert (strings.few is not None) is few and strings.item() == bytes(size)


def test_arrays_are_never_changed():
    texts = [b"a", b"b"]
    strings = StringArray.of(texts)
    texts.append(b"c")
    assert strings.tolist() == [b"a", b"b"]
    strings.tolist().append(b"c")
    assert strings.tolist() == [b"a", b"b"]
    assert copy.copy(strings) is strings and copy.deepcopy(strings) is strings


def test_single_strings():
    scalar = StringArray.scalar(b"text")
    assert scalar.shape == () and scalar.ndim == 0 and scalar.item() == scalar.tolist() == scalar[()] == b"text"
    assert scalar.data == b"text" and scalar.offsets.tolist() == [0, 4]
    assert StringArray.of([b"x"], (1, 1)).item() == b"x"
    for texts in ([], [b"a", b"b"]):
        with pytest.raises(ValueError, match="can only convert an array of size 1 to bytes"):
            StringArray.of(texts).item()


@pytest.mark.parametrize("count", [5, 40])
def test_indices_beyond_the_ends(count):
    texts = texts_of(count)
    strings = StringArray.of(texts)
    assert strings[-count] == texts[0] and strings[count - 1] == texts[-1]
    for index in (count, -count - 1):
        with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0 with size {count}"):
            strings[index]
    assert strings[3:1].tolist() == [] and strings[::1].tolist() == texts and strings[-2:].tolist() == texts[-2:]
    assert strings[(2,)] == texts[2] and strings[()] is strings
    rows = strings.reshape(-1, 5)
    assert rows[-1].tolist() == texts[-5:] and rows[0:1].tolist() == [texts[:5]] and rows[-1, 2] == texts[-3]
    assert [row.tolist() for row in rows] == rows.tolist()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("taken", [1, 7, 8, 9, 32, 33, 60])
def test_strings_at_places(count, taken):
    texts = texts_of(count)
    places = np.random.default_rng(1).integers(0, count, taken)
    strings = StringArray.of(texts)
    assert strings.take(places).tolist() == [texts[i] for i in places]
    assert strings.take(places.reshape(-1, 1)).tolist() == [[texts[i]] for i in places]
    assert strings[places].tolist() == [texts[i] for i in places]
    if taken < count:
        for start in (0, count - taken):
            assert strings.take(np.arange(start, start + taken)).tolist() == texts[start : start + taken]


@pytest.mark.parametrize("count", COUNTS)
def test_choices_and_comparisons(count):
    a, b = texts_of(count, 1), texts_of(count, 2)
    b[::3] = a[::3]
    b[1::4] = [text + b"." for text in a[1::4]]
    first, second = StringArray.of(a, (count, 1)), StringArray.of(b, (count, 1))
    condition = np.random.default_rng(3).integers(0, 2, (count, 1)).astype(bool)
    chosen = first.select(condition, second)
    assert chosen.tolist() == [[x if c else y] for (c,), x, y in zip(condition, a, b, strict=True)]
    assert first.equals(second).tolist() == [[x == y] for x, y in zip(a, b, strict=True)]
    assert first.equals(StringArray.scalar(a[0])).tolist() == [[x == a[0]] for x in a]
    assert first.equals(second).dtype == np.bool_


@pytest.mark.parametrize("counts", [(2, 3), (30, 2), (31, 2), (40, 1), (1, 40), (0, 40), (20, 0, 20)])
def test_joins(counts):
    lists = [texts_of(count, i) for i, count in enumerate(counts)]
    joined = StringArray.concatenate([StringArray.of(each)[1:] for each in lists])
    assert joined.tolist() == [text for each in lists for text in each[1:]]
    one = StringArray.of(lists[0])
    assert StringArray.concatenate([one]) is one


def test_joins_along_other_dimensions():
    a, b = (StringArray.of(texts_of(2 * 3 * n, n), (2, n, 3)) for n in (2, 5))
    joined = StringArray.concatenate([a, b, a], 1)
    assert joined.shape == (2, 9, 3)
    assert joined.tolist() == np.concatenate([np.asarray(x) for x in (a, b, a)], 1).tolist()
    assert StringArray.concatenate([a, a], -1).tolist() == np.concatenate([np.asarray(a)] * 2, -1).tolist()
    assert StringArray.stack([a, a]).shape == (2, 2, 2, 3)


def test_wider_arrays():
    strings = StringArray.of([b"a", b"bc"], (2, 1))
    assert strings.broadcast_to([2, 3]).tolist() == [[b"a"] * 3, [b"bc"] * 3]
    assert strings.broadcast_to((2, 1)) is strings
    one = StringArray.of([b"xy"], (1, 1))
    assert one.broadcast_to((20, 2)).tolist() == [[b"xy"] * 2] * 20
    assert one.broadcast_to((1, 1)) is one
    with pytest.raises(ValueError, match="more dimensions"):
        one.broadcast_to((3,))
    with pytest.raises(ValueError, match="broadcast"):
        strings.broadcast_to((3, 2))
    for size in (0, 32, 33):
        assert StringArray.full((size,), b"ab").tolist() == [b"ab"] * size
    assert strings.padded((3, 2)).tolist() == [[b"a", b""], [b"bc", b""], [b"", b""]]
    assert strings.transpose(0, 1) is strings and strings.transpose(1, 0).tolist() == [[b"a", b"bc"]]


@pytest.mark.parametrize("count", COUNTS)
def test_strings_between_zero_bytes(count):
    texts = [text.replace(b"\0", b"") for text in texts_of(count)]
    texts[-1] = b""
    separated = StringArray.of(texts).separated()
    assert separated == b"\0".join(texts)
    for end in (b"", b"last string", b"12345678", b"1234567"):  # the end of the buffer is read byte by byte
        whole = [*texts, end]
        for padding in (0, 300):  # from 256 bytes on a loop runs
            given = [b"x" * padding, *whole]
            data = b"\0".join(given)
            found = StringArray.from_separated(data, (len(given),))
            assert found.shape == (len(given),) and found.tolist() == given
            for shape in ((len(given) + 1,), (len(given) - 1,)):
                assert StringArray.from_separated(data, shape) is None
    assert StringArray.of([b"a", b"\0"]).separated() is None
    assert StringArray.of([]).separated() is None
    assert StringArray.from_separated(b"a\0b\0c\0d", (2, 2)).tolist() == [[b"a", b"b"], [b"c", b"d"]]
    assert StringArray.from_separated(b"", (0, 3)).shape == (0, 3)


def test_lists_whose_size_is_guessed_too_small():
    """The buffer grows: the guess looks at a few strings only."""
    texts = [b"ab"] * 100
    for place in (1, 50, 99):
        texts[place] = bytes([65 + place % 26]) * 5000
    assert StringArray.of(texts).tolist() == texts
    assert StringArray.of_text([text.decode() for text in texts]).tolist() == texts
    assert StringArray.of(tuple(texts)).tolist() == texts


def test_ranges_of_a_buffer():
    data = bytes(range(65, 91)) * 3
    starts, lengths = np.array([3, 0, 70, 60] * 3), np.array([2, 0, 8, 18] * 3)
    expected = [data[i : i + n] for i, n in zip(starts, lengths, strict=True)]
    assert gather_ranges(data, starts, lengths, (3, 4)).tolist() == [expected[:4]] * 3
    assert gather_ranges(data, starts[:1], lengths[:1], ()).tolist() == b"DE"
    assert gather_ranges(np.frombuffer(data, np.uint8), starts.astype(np.int32), lengths).tolist() == expected
    assert offsets_of(lengths[:4]).tolist() == [0, 2, 2, 10, 28] and offsets_of(lengths[:0]).tolist() == [0]
    assert numbers_within(np.array([2, 0, 3])).tolist() == [0, 1, 0, 1, 2]


def test_shapes_of_strings():
    strings = StringArray.of([b"a", b"b", b"c", b"d"])
    assert strings.reshape(-1, 2).shape == strings.reshape([2, 2]).shape == strings.reshape((2, -1)).shape == (2, 2)
    assert strings.reshape(4).shape == (4,) and strings[:1].reshape(()).shape == ()
    assert StringArray.of([]).reshape(3, -1).shape == (3, 0) and StringArray.of([]).reshape(0, -1).shape == (0, 0)
    for shape in ((3,), (2, 3), (5, -1)):
        with pytest.raises(ValueError, match=r"cannot reshape array of size 4 into shape \("):
            strings.reshape(shape)
    with pytest.raises(ValueError, match="cannot reshape"):
        strings.reshape(())


def test_arrays_of_numpy():
    strings = StringArray.of([b"a", b"bc"], (1, 2))
    assert np.asarray(strings).dtype == object and np.asarray(strings).shape == (1, 2)
    assert np.asarray(strings, "S2").dtype == "S2" and np.asarray(strings, "S2").tolist() == [[b"a", b"bc"]]
    assert StringArray.from_objects([[b"a"], [b"b"]]).shape == (2, 1)


def test_scalars_have_no_rows():
    scalar = StringArray.scalar(b"a")
    for key in (0, np.array([0]), slice(1), (0,)):
        with pytest.raises(IndexError):
            scalar[key]
    assert scalar[...].tolist() == b"a" and scalar[None].tolist() == [b"a"] and scalar[np.newaxis, ...].shape == (1,)
