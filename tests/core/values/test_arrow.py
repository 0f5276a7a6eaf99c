"""Strings go to Arrow's C data interface and come back in the same memory."""

import ctypes
import gc
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values import arrow

TEXTS = [b"a", b"", b"\xff\0b", "é日".encode()] * 10


def test_strings_go_out_and_come_back_without_a_copy():
    tensor = tf.constant(TEXTS)
    strings = arrow.strings_of_arrow(tensor)
    assert strings.tolist() == TEXTS
    assert strings.data.ctypes.data == tensor.value.buffer.ctypes.data
    del tensor
    gc.collect()
    assert strings.tolist() == TEXTS
    del strings
    gc.collect()
    assert not arrow._held


def test_programs_end_in_silence():
    program = """
        import tapeflow as tf
        from tapeflow.core.values import arrow

        tensor = tf.constant(["a"] * 40)
        strings, capsules = arrow.strings_of_arrow(tensor), tensor.__arrow_c_array__()
        tf.keep = strings, capsules, tensor.__arrow_c_array__()  # a module frees it late
    """
    run = [sys.executable, "-c", textwrap.dedent(program)]
    assert subprocess.run(run, capture_output=True, check=True, text=True).stderr == ""


def test_parts_of_tensors():
    tensor = tf.constant(TEXTS)[3:7]
    assert arrow.strings_of_arrow(tensor).tolist() == TEXTS[3:7]
    assert arrow.strings_of_arrow(tensor[:0]).tolist() == []
    assert arrow.strings_of_arrow(tensor[:1]).tolist() == TEXTS[3:4]


@pytest.mark.parametrize("value", [tf.constant("a"), tf.constant([["a"]]), tf.constant([1])])
def test_only_vectors_of_strings_go_out(value):
    with pytest.raises(TypeError, match="Only vectors of strings"):
        value.__arrow_c_array__()


def test_arrays_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.binary(), pa.large_binary()):
        array = pa.array(TEXTS, kind)
        assert tf.constant(array).numpy().tolist() == TEXTS
        assert tf.constant(array[5:9]).numpy().tolist() == TEXTS[5:9]
        assert tf.constant(pa.chunked_array([array, array[:2]])).numpy().tolist() == TEXTS + TEXTS[:2]
    assert pa.array(tf.constant(TEXTS)).to_pylist() == TEXTS
    assert tf.constant(pa.array([1, 2])).numpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="missing strings"):
        tf.constant(pa.array(["a", None]))


@pytest.mark.parametrize("kind", ["string_view", "binary_view"])
def test_arrays_of_views(kind):
    pa = pytest.importorskip("pyarrow")
    texts = ["short", "", "a long string, which stands outside of its view", "just 12 char"] * 10
    array = pa.array(texts, getattr(pa, kind)())
    assert tf.constant(array).numpy().tolist() == [text.encode() for text in texts]
    assert tf.constant(array[2:9]).numpy().tolist() == [text.encode() for text in texts[2:9]]
    assert tf.constant(array[:0]).numpy().tolist() == []
    with pytest.raises(ValueError, match="missing strings"):
        tf.constant(pa.array(["a", None], getattr(pa, kind)()))


class _Table:
    """A table with the methods of pyarrow's, of Polars' if it has `get_column`."""

    def __init__(self, columns, names):
        self._columns = columns
        setattr(self, names, list(columns))

    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("only columns are read")

    def __getitem__(self, name):
        return self._columns[name]


def test_datasets_of_tables():
    columns = {"word": tf.constant(TEXTS), "number": list(range(40))}
    tables = [_Table(columns, "column_names"), _Table(columns, "columns")]
    tables[1].get_column = tables[1].__getitem__
    for table in tables:
        rows = list(tf.data.Dataset.from_tensor_slices(table).as_numpy_iterator())
        assert rows[2] == {"word": TEXTS[2], "number": 2}
        pair = next(iter(tf.data.Dataset.from_tensor_slices((table, columns["number"])).skip(3)))
        assert (pair[0]["word"].numpy(), int(pair[1])) == (TEXTS[3], 3)


def test_datasets_of_tables_of_libraries():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"word": pa.array(TEXTS, pa.binary()), "number": list(range(40))})
    for each in (table, table.to_batches()[0]):
        rows = list(tf.data.Dataset.from_tensor_slices(each).as_numpy_iterator())
        assert rows[5] == {"word": TEXTS[5], "number": 5}


def test_generators_of_arrow_arrays():
    spec = tf.TensorSpec([None], tf.string)
    pa = pytest.importorskip("pyarrow")
    for array in (pa.array(TEXTS, pa.binary()), pa.chunked_array([pa.array(TEXTS)])):
        dataset = tf.data.Dataset.from_generator(lambda: [array], output_signature=spec)  # noqa: B023
        assert next(dataset.as_numpy_iterator()).tolist() == TEXTS


def test_frames_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"word": ["a", "b" * 20, ""], "number": [1, 2, 3]})
    rows = list(tf.data.Dataset.from_tensor_slices(frame).as_numpy_iterator())
    assert rows[1] == {"word": b"b" * 20, "number": 2}
    assert tf.constant(frame["word"]).numpy().tolist() == [b"a", b"b" * 20, b""]


@pytest.mark.parametrize("kind", ["str", "string", "category", object])
def test_columns_of_pandas(kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"word": pd.Series(["a", "bb"], dtype=kind), "number": [1, 2]})
    rows = list(tf.data.Dataset.from_tensor_slices(dict(frame)).as_numpy_iterator())
    assert rows[1] == {"word": b"bb", "number": 2}


def arrow_array(kind, buffers, length, offset=0, null_count=0):
    """Returns the strings of an Arrow array with these buffers, as NumPy's arrays or None."""
    pointers = (ctypes.c_void_p * len(buffers))(*[None if b is None else b.ctypes.data for b in buffers])
    struct = arrow._Array(
        length=length, offset=offset, null_count=null_count, n_buffers=len(buffers),
        buffers=ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p)),
    )  # fmt: skip
    strings = arrow._arrow_strings(kind, struct, (buffers, pointers))
    return None if strings is None else strings.tolist()


DATA = np.frombuffer(b"abcdefgh", np.uint8).copy()


@pytest.mark.parametrize("kind", [b"u", b"z", b"U", b"Z"])
def test_arrays_of_offsets(kind):
    offsets = np.array([1, 3, 3, 8], np.int32 if kind in b"uz" else np.int64)
    assert arrow_array(kind, [None, offsets, DATA], 3) == [b"bc", b"", b"defgh"]
    assert arrow_array(kind, [None, offsets, DATA], 2, offset=1) == [b"", b"defgh"]
    assert arrow_array(kind, [None, offsets, DATA], 0) == []
    assert arrow_array(b"i", [None, offsets, DATA], 3) is None
    for wrong in ([1, 5, 3, 8], [-1, 3, 3, 8]):
        with pytest.raises(ValueError, match="damaged: its offsets do not ascend"):
            arrow_array(kind, [None, np.array(wrong, offsets.dtype), DATA], 3)


def test_missing_strings():
    offsets, valid = np.array([0, 1, 2, 3], np.int32), np.array([0b11011], np.uint8)
    for null_count in (1, -1):  # -1: nobody has counted them
        with pytest.raises(ValueError, match="An Arrow array with missing strings cannot be a tensor"):
            arrow_array(b"u", [valid, offsets, DATA], 3, null_count=null_count)
    assert arrow_array(b"u", [valid, offsets, DATA], 2, null_count=-1) == [b"a", b"b"]  # all that are there
    assert arrow_array(b"u", [valid, np.arange(6, dtype=np.int32), DATA], 2, 3, null_count=-1) == [b"d", b"e"]
    assert arrow_array(b"u", [None, offsets, DATA], 3, null_count=-1) == [b"a", b"b", b"c"]
    assert arrow_array(b"u", [valid, offsets, DATA], 3) == [b"a", b"b", b"c"]


def views_of(*rows):
    """Returns the views of strings: short ones as bytes, others as a length, a buffer and an offset."""
    out = np.zeros((len(rows), 4), np.int32)
    for view, row in zip(out, rows, strict=True):
        if isinstance(row, bytes):
            view[0] = len(row)
            view.view(np.uint8)[4 : 4 + len(row)] = np.frombuffer(row, np.uint8)
        else:
            view[[0, 2, 3]] = row
    return out


def test_views():
    long, other = np.arange(65, 95, dtype=np.uint8), np.arange(97, 117, dtype=np.uint8)
    sizes = np.array([30, 20], np.int64)
    views = views_of(b"short", (13, 1, 2), b"", (30, 0, 0), b"twelve bytes")
    expected = [b"short", bytes(other[2:15]), b"", bytes(long), b"twelve bytes"]
    buffers = [None, views, long, other, sizes]
    assert arrow_array(b"vu", buffers, 5) == expected and arrow_array(b"vz", buffers, 3, offset=2) == expected[2:]
    for wrong, said in (
        ((13, 2, 0), "no such lengths or buffers"),
        ((13, -1, 0), "no such lengths or buffers"),
        ((-1, 0, 0), "no such lengths or buffers"),
        ((13, 1, 8), "point outside of their buffers"),
        ((13, 0, -1), "point outside of their buffers"),
    ):
        with pytest.raises(ValueError, match=said):
            arrow_array(b"vu", [None, views_of(b"short", wrong), long, other, sizes], 2)


class Stream:
    """A series in several chunks, as Arrow's stream."""

    def __init__(self, kind, chunks, fails=False):
        self.kind, self.chunks, self.fails, self.kept = kind, iter(chunks), fails, []

    def __arrow_c_stream__(self, requested_schema=None):
        def get_schema(stream, address):
            struct = arrow._Schema.from_address(address)
            struct.format, struct.release = self.kind, ctypes.cast(arrow._RELEASE[arrow._Schema], ctypes.c_void_p).value
            return 0

        def get_next(stream, address):
            chunk = next(self.chunks, None)
            if chunk is None:
                return int(self.fails)
            offsets, data = chunk
            pointers = (ctypes.c_void_p * 3)(None, offsets.ctypes.data, data.ctypes.data)
            self.kept.append((pointers, chunk))
            struct = arrow._Array.from_address(address)
            struct.length, struct.n_buffers = len(offsets) - 1, 3
            struct.buffers = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))
            struct.release = ctypes.cast(arrow._RELEASE[arrow._Array], ctypes.c_void_p).value
            return 0

        fields = dict(arrow._Stream._fields_)
        self.struct = arrow._Stream(fields["get_schema"](get_schema), fields["get_next"](get_next))
        self.kept.append((get_schema, get_next))
        return arrow._new_capsule(ctypes.addressof(self.struct), b"arrow_array_stream", None)


def test_streams_of_chunks():
    chunks = [(np.array(offsets, np.int32), DATA) for offsets in ([0, 1, 3], [2, 2], [5, 8])]
    assert arrow.strings_of_arrow(Stream(b"u", chunks)).tolist() == [b"a", b"bc", b"", b"fgh"]
    assert arrow.strings_of_arrow(Stream(b"u", [])).tolist() == []
    assert arrow.strings_of_arrow(Stream(b"i", chunks)) is None
    with pytest.raises(ValueError, match="A Stream could not be read as a stream of Arrow arrays"):
        arrow.strings_of_arrow(Stream(b"u", chunks, fails=True))
