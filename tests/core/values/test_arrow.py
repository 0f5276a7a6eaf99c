"""Strings go to Arrow's C data interface and come back in the same memory."""

import gc
import subprocess
import sys
import textwrap

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
