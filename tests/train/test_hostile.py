"""Checkpoints that somebody wrote to do harm. `test_corruption.py` has damaged ones."""

import pathlib

import pytest

import tapeflow as tf
from tapeflow.core.protos import BundleEntryProto
from tapeflow.train.bundle import slice_key
from tapeflow.train.table import read_table, table_bytes, table_entries

KEY = "v/.ATTRIBUTES/VARIABLE_VALUE"


def changed(folder, change):
    """Writes a checkpoint, changes the entry of its variable, and reads it.

    Args:
        folder: of the checkpoint.
        change: a function of the entry. It may return further entries.
    """
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    path = checkpoint.write(str(folder / "model"))
    index = pathlib.Path(f"{path}.index")
    table = read_table(index.read_bytes())
    entry = BundleEntryProto.FromString(table[KEY.encode()])
    table.update(change(entry) or {})
    table[KEY.encode()] = entry.SerializeToString()
    index.write_bytes(table_bytes(sorted(table.items())))
    tf.train.list_variables(path)
    with pytest.raises(tf.errors.OpError) as by_name:
        tf.train.load_variable(path, KEY)
    with pytest.raises(type(by_name.value)):
        checkpoint.read(path)
    raise by_name.value


def shape(*sizes):
    def change(entry):
        del entry.shape.dim[:]
        for size in sizes:
            entry.shape.dim.add(size=size)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shape(1 << 40), "it has 8 bytes, where its shape and dtype need 4398046511104"),
        (shape(*[1 << 62] * 3), "it has 8 bytes, where its shape and dtype need"),
        (shape(2, *[1] * 300), "its shape has 301 dimensions"),
        (shape(-7), "its shape is incomplete"),
        (lambda entry: setattr(entry, "shard_id", 1 << 30), "in file 1073741824 of 1"),
        (lambda entry: setattr(entry, "dtype", 12345), "there is no dtype of number 12345"),
        (lambda entry: setattr(entry, "offset", 1 << 62), "at bytes 4611686018427387904 to"),
    ],
)
def test_a_tensor_that_claims_what_is_not_there(change, message, tmp_path):
    with pytest.raises(tf.errors.DataLossError, match=message):
        changed(tmp_path, change)


def test_a_piece_that_claims_terabytes(tmp_path):
    def change(entry):
        shape(1 << 40)(entry)
        extent = entry.slices.add().extent.add()
        extent.start, extent.length = 0, 1 << 40
        piece = BundleEntryProto(dtype=1, size=8)
        piece.shape.dim.add(size=1 << 40)
        return {slice_key(KEY, [(0, 1 << 40)]): piece.SerializeToString()}

    with pytest.raises(tf.errors.DataLossError, match="it has 8 bytes, where its shape and dtype need 4398046511104"):
        changed(tmp_path, change)


def test_a_table_of_large_entries():
    """Only a table whose entries share their bytes has much more of them than the file."""
    value = b"x" * (1 << 20)
    entries = [(f"{i:04}".encode(), value) for i in range(40)]
    assert list(table_entries(table_bytes(entries))) == entries
