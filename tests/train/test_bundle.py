"""The files of a checkpoint: entries of each dtype, pieces of tensors, and entries that do not fit."""

import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.protos import BundleEntryProto, BundleHeaderProto
from tapeflow.train.bundle import Bundle, slice_key, write_bundle
from tapeflow.train.table import read_table, table_bytes

VALUES = {
    "bool": tf.constant([True, False]),
    "bfloat16": tf.constant([1.5, -2.0], tf.bfloat16),
    "complex": tf.constant([1 + 2j, 3 - 4j], tf.complex64),
    "empty": tf.zeros([0, 3], tf.float64),
    "int8": tf.constant([[-128, 127]], tf.int8),
    "scalar": tf.constant(7, tf.int64),
    "text": tf.constant([["a", "bc"], ["", "\0d"]]),
    "text_scalar": tf.constant("x" * 300),
}


@pytest.fixture
def prefix(tmp_path):
    path = str(tmp_path / "m")
    write_bundle(path, sorted(VALUES.items()))
    return path


def change(prefix, key=None, header=None, entry=None, more=None):
    """Changes the index of a bundle."""
    index = pathlib.Path(f"{prefix}.index")
    table = read_table(index.read_bytes())
    if header is not None:
        proto = BundleHeaderProto.FromString(table[b""])
        header(proto)
        table[b""] = proto.SerializeToString()
    if entry is not None:
        proto = BundleEntryProto.FromString(table[key.encode()])
        entry(proto)
        table[key.encode()] = proto.SerializeToString()
    table.update(more or {})
    index.write_bytes(table_bytes(sorted(table.items())))


@pytest.mark.parametrize("name", VALUES)
def test_entries_of_each_dtype(prefix, name):
    bundle = Bundle(prefix)
    value = bundle.read(name)
    assert value.dtype is VALUES[name].dtype is bundle.dtype(name)
    assert bundle.shape(name) == tuple(VALUES[name].shape) == tuple(value.shape)
    assert np.array(value.numpy(), object).tolist() == np.array(VALUES[name].numpy(), object).tolist()
    assert sorted(bundle.entries) == sorted(VALUES)


def test_entries_that_are_not_there(prefix):
    bundle = Bundle(prefix)
    for call in (bundle.read, bundle.dtype, bundle.shape):
        with pytest.raises(tf.errors.NotFoundError, match="Key none not found in checkpoint"):
            call("none")
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        Bundle(prefix + "x")


@pytest.mark.parametrize(
    ("header", "kind", "message"),
    [
        (lambda h: setattr(h, "num_shards", 0), tf.errors.DataLossError, "it has no header"),
        (lambda h: setattr(h, "endianness", 1), tf.errors.UnimplementedError, "big-endian is not supported"),
    ],
)
def test_headers(prefix, header, kind, message):
    change(prefix, header=header)
    with pytest.raises(kind, match=message):
        Bundle(prefix)


@pytest.mark.parametrize(
    ("key", "entry", "kind", "message"),
    [
        ("scalar", lambda e: setattr(e, "dtype", 21), tf.errors.UnimplementedError, "variant cannot be read"),
        ("scalar", lambda e: setattr(e, "size", 4), tf.errors.DataLossError, "it has 4 bytes, where .* need 8"),
        ("scalar", lambda e: setattr(e, "crc32c", 1), tf.errors.DataLossError, "Checksum does not match"),
        ("text", lambda e: setattr(e, "size", 3), tf.errors.DataLossError, "too few for 4 strings"),
        (
            "text",
            lambda e: setattr(e, "size", e.size - 1),
            tf.errors.DataLossError,
            "lengths of its strings do not fit",
        ),
        ("text", lambda e: setattr(e, "crc32c", 1), tf.errors.DataLossError, "Checksum does not match"),
        (
            "text",
            lambda e: e.shape.dim[0].CopyFrom(type(e.shape.dim[0])(size=1)),
            tf.errors.DataLossError,
            "do not fit",
        ),
    ],
)
def test_entries_that_do_not_fit(prefix, key, entry, kind, message):
    change(prefix, key, entry=entry)
    with pytest.raises(kind, match=message):
        Bundle(prefix).read(key)


def test_lengths_of_texts_that_are_none(prefix):
    data = pathlib.Path(f"{prefix}.data-00000-of-00001")
    offset = Bundle(prefix).entries["text"].offset
    contents = bytearray(data.read_bytes())
    contents[offset : offset + 20] = b"\xff" * 20
    data.write_bytes(bytes(contents))
    with pytest.raises(tf.errors.DataLossError):
        Bundle(prefix).read("text")


def test_a_file_that_is_cut(prefix):
    bundle = Bundle(prefix)
    last = max(bundle.entries, key=lambda name: bundle.entries[name].offset)
    data = pathlib.Path(f"{prefix}.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-5])
    with pytest.raises(tf.errors.DataLossError):
        Bundle(prefix).read(last)
    data.unlink()
    with pytest.raises(tf.errors.NotFoundError):
        Bundle(prefix).read(last)


# ---- pieces ----------------------------------------------------------------------------------------------------------


def add_extents(entry, *pieces):
    for piece in pieces:
        extents = entry.slices.add()
        for bounds in piece:
            extent = extents.extent.add()
            if bounds is not None:
                extent.start, extent.length = bounds


def pieces_of(tmp_path, *pieces, shape=(3, 2), stored=None):
    """The value of an entry that consists of pieces, the stored ones of which are numbered."""
    prefix = str(tmp_path / "pieces")
    stored = pieces if stored is None else stored
    sizes = [[(shape[i] if b is None else b[1]) for i, b in enumerate(piece)] for piece in stored]
    values = {f"piece{i}": tf.fill(size, float(i)) for i, size in enumerate(sizes)}
    write_bundle(prefix, sorted({**values, "whole": tf.constant(0.0)}.items()))
    table = read_table(pathlib.Path(f"{prefix}.index").read_bytes())
    more = {}
    for i, piece in enumerate(stored):
        bounds = [(0, -1) if b is None else b for b in piece]
        more[slice_key("whole", bounds)] = table[f"piece{i}".encode()]

    def entry(proto):
        proto.ClearField("shape")
        for size in shape:
            proto.shape.dim.add(size=size)
        proto.size = proto.offset = proto.crc32c = 0
        add_extents(proto, *pieces)

    change(prefix, "whole", entry=entry, more=more)
    return Bundle(prefix).read("whole").numpy().tolist()


def test_tensors_of_pieces(tmp_path):
    assert pieces_of(tmp_path, [(0, 2), None], [(2, 1), None]) == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    assert pieces_of(tmp_path, [None, (1, 1)], [None, (0, 1)]) == [[1.0, 0.0]] * 3
    assert pieces_of(tmp_path, [None, None]) == [[0.0, 0.0]] * 3


@pytest.mark.parametrize(
    ("pieces", "stored", "message"),
    [
        ([[(0, 2), None], [(2, 1), None]], [[(0, 2), None]], "a piece of it is missing"),
        ([[(0, 2), None]], None, "its pieces do not fill it"),
        ([[(0, 2)], [(2, 1)]], [[(0, 2), None], [(2, 1), None]], "a piece of it has another rank|missing"),
        ([[(0, 2), None], [(2, 2), None]], None, "a piece of it does not fit"),
    ],
)
def test_pieces_that_do_not_fit(tmp_path, pieces, stored, message):
    with pytest.raises(tf.errors.DataLossError, match=message):
        pieces_of(tmp_path, *pieces, stored=stored)


def test_what_a_checkpoint_can_not_hold(tmp_path):
    with pytest.raises(tf.errors.UnimplementedError, match=r"is of dtype .*, which a checkpoint cannot hold"):
        write_bundle(str(tmp_path / "m"), [("t", tf.raw_ops.EmptyTensorList(
            element_shape=[], max_num_elements=2, element_dtype=tf.float32))])  # fmt: skip
