"""The files of a checkpoint: entries of each dtype, pieces of tensors, and entries that do not fit."""

import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.array.protos import VALUE_FIELDS
from tapeflow.core.protos import BundleEntryProto, BundleHeaderProto, SavedTensorSlices
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


# ---- the format before TensorFlow 1.0 --------------------------------------------------------------------------------


def saved_slices(*tensors):
    """Returns the table of a checkpoint whose tensors are in it: for each a name, a value, and the bounds of pieces."""
    whole, rows = SavedTensorSlices(), {}
    whole.meta.versions.producer = 1
    for name, value, pieces in tensors:
        value = tf.constant(value)
        meta = whole.meta.tensor.add(name=name, type=value.dtype.as_datatype_enum)
        meta.shape.SetInParent()
        for size in value.shape:
            meta.shape.dim.add(size=size)
        for bounds in pieces:
            row = SavedTensorSlices()
            row.data.name = name
            for where in (meta.slice.add(), row.data.slice):
                for bound in bounds:
                    extent = where.extent.add()
                    if bound is not None:
                        extent.start, extent.length = bound
            part = value.numpy()[tuple(slice(None) if b is None else slice(b[0], b[0] + b[1]) for b in bounds)]
            field = VALUE_FIELDS[value.dtype.name]
            filled = np.array(part).reshape(-1)
            row.data.data.dtype = value.dtype.as_datatype_enum
            if field == "half_val":
                row.data.data.half_val.extend(filled.view(np.uint16).tolist())
            elif value.dtype.is_complex:
                getattr(row.data.data, field).extend(filled.view(filled.real.dtype).tolist())
            else:
                getattr(row.data.data, field).extend(filled.tolist())
            rows[slice_key(name, [(0, -1) if b is None else b for b in bounds])] = row.SerializeToString()
    return table_bytes([(b"", whole.SerializeToString()), *sorted(rows.items())])


OLD = {
    "a/float": np.float32([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]),
    "b/double": np.float64(7.5),
    "c/int": np.int32([1, -2, 3]),
    "d/long": np.int64([2**40]),
    "e/bool": np.array([True, False]),
    "f/text": np.array([b"a", b"", b"long text"], object),
    "g/byte": np.uint8([0, 255]),
    "h/half": np.float16([1.5, -2.0]),
    "i/complex": np.complex64([1 + 2j, 3 - 4j]),
    "j/wide": np.complex128([[1 + 2j], [5j]]),
}


def test_checkpoints_with_the_tensors_in_a_table(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(saved_slices(*[(name, value, [[None] * np.ndim(value)]) for name, value in OLD.items()]))
    reader = tf.train.load_checkpoint(str(path))
    assert reader.get_variable_to_shape_map() == {name: [*np.shape(value)] for name, value in OLD.items()}
    for name, value in OLD.items():
        found = np.array(reader.get_tensor(name))
        assert found.tolist() == value.tolist()
        assert found.dtype == value.dtype and reader.has_tensor(name)
        assert tf.train.load_variable(str(path), name + ":0").tolist() == value.tolist()
    with pytest.raises(tf.errors.NotFoundError, match="Key x not found in checkpoint"):
        reader.get_tensor("x")


def test_pieces_in_several_tables(tmp_path):
    whole, texts = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([[b"a", b"b"], [b"c", b"d"]], object)
    for i, pieces in enumerate(([[(0, 2), None]], [[(2, 2), (0, 1)], [(2, 2), (1, 2)]])):
        text = [[None, (i, 1)]]
        data = saved_slices(("whole", whole, pieces), ("texts", texts, text))
        (tmp_path / f"old-{i}-of-2").write_bytes(data)
    reader = tf.train.load_checkpoint(str(tmp_path / "old-?-of-2"))
    assert reader.get_tensor("whole").tolist() == whole.tolist()
    assert reader.get_tensor("texts").tolist() == texts.tolist()
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.load_checkpoint(str(tmp_path / "other-?-of-2"))


def test_damaged_tables_of_tensors(tmp_path):
    path, good = tmp_path / "old", saved_slices(("a", np.float32([1.0, 2.0, 3.0]), [[(0, 1)], [(1, 2)]]))
    rows = read_table(good)
    for change, message in (
        (lambda rows: rows.pop(slice_key("a", [(0, 1)])), "a piece of it is missing"),
        (lambda rows: rows.update({slice_key("a", [(0, 1)]): rows[slice_key("a", [(1, 2)])]}), "2 values instead of 1"),
    ):
        rows = read_table(good)
        change(rows)
        path.write_bytes(table_bytes(sorted(rows.items())))
        with pytest.raises(tf.errors.DataLossError, match=message):
            Bundle(str(path)).read("a")
    for data in (b"nonsense", good[:-3], table_bytes([(b"", b"\xff\xff\xff")])):
        path.write_bytes(data)
        with pytest.raises(tf.errors.DataLossError, match=r"Unable to read the checkpoint file .*old"):
            Bundle(str(path))


@pytest.mark.parametrize(
    ("name", "bounds", "key"),
    [
        ("a", [(0, 1)], "0061000101018081"),
        ("a/b", [(63, 64)], "00612f6200010101bfc040"),
        ("\0z", [(64, 65)], "0000ff7a00010101c040c041"),
        ("\u00ffname", [(8191, 8192)], "00c3bf6e616d6500010101dfffe02000"),
        ("w", [(8192, 3), (0, -1)], "007700010102e0200083807f"),
        ("w", [(1048575, 1048576)], "007700010101effffff0100000"),
        ("w", [(2**41, 1)], "007700010101fe02000000000081"),
        ("w", [(2**48, 1)], "007700010101ff0100000000000081"),
        ("w", [(2**55, 1)], "007700010101ff808000000000000081"),
        ("w", [(2**62, 1)], "007700010101ffc0400000000000000081"),
    ],
)
def test_keys_of_pieces_are_tensorflows(name, bounds, key):
    assert slice_key(name, bounds).hex() == key
