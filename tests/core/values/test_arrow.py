"""Strings go to Arrow's C data interface and come back in the same memory."""

import gc

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
