"""Tables of sorted keys and values: what is written is read, and the layout is LevelDB's."""

import struct

import pytest

import tapeflow as tf
from tapeflow.train import table
from tapeflow.train.snappy import decompress


def entries(count, size=10):
    return [(f"key{i:05}".encode(), bytes([i % 256]) * size) for i in range(count)]


@pytest.mark.parametrize(
    "rows", [[], [(b"", b"")], [(b"", b"x"), (b"a", b"")], entries(1), entries(40), entries(3000, 40)]
)
def test_tables_are_read_as_written(rows):
    data = table.table_bytes(rows)
    assert list(table.table_entries(data)) == rows
    assert table.read_table(data) == dict(rows)


@pytest.mark.parametrize(
    "keys",
    [
        [b"a", b"ab", b"abc", b"b"],
        [b"a\xff", b"b", b"c\xff\xff"],
        [b"\xff", b"\xff\xff"],
        [b"abc", b"abd", b"acd", b"b", b"d"],
        [b"", b"\0", b"\0\0"],
    ],
)
def test_keys_between_blocks(keys):
    rows = [(key, bytes([i]) * 300_000) for i, key in enumerate(keys)]  # each ends a block
    assert list(table.table_entries(table.table_bytes(rows))) == rows


def blocks_of(rows):
    """The index and the first block of a table."""
    data = table.table_bytes(rows)
    position = 0
    for _ in range(2):
        _, position = table.read_varint(data[-48:], position)
    index = table._read_block(data, data[-48:][position:-8])
    return data, index


def index_keys(rows):
    return [key for key, _ in table._block_entries(blocks_of(rows)[1])]


def test_short_keys_of_the_index():
    large = b"x" * 300_000
    assert index_keys([(b"abcdef", large), (b"abzz", large)]) == [b"abd", b"b"]
    assert index_keys([(b"abc", large), (b"abd", large)]) == [b"abc", b"b"]
    assert index_keys([(b"ab\xff", large), (b"\xff\xff", large)]) == [b"b", b"\xff\xff"]
    assert index_keys([(b"\xff1", large)]) == [b"\xff2"]


def test_keys_share_their_beginnings():
    (block,) = [table._read_block(blocks_of(entries(20))[0], b"\0" + table.varint(block_size(entries(20))))]
    assert block[:3] == bytes([0, 8, 10])
    assert block[3:11] == b"key00000"
    second = block[3 + 8 + 10 :]
    assert second[:4] == bytes([7, 1, 10]) + b"1"
    assert struct.unpack("<I", block[-4:])[0] == 2  # restarts: one in 16 keys
    restart = struct.unpack("<I", block[-8:-4])[0]
    assert block[restart : restart + 11] == bytes([0, 8, 10]) + b"key00016"


def block_size(rows):
    _, index = blocks_of(rows)
    (_, handle) = next(iter(table._block_entries(index)))
    _, position = table.read_varint(handle, 0)
    return table.read_varint(handle, position)[0]


def with_block(contents, kind=0):
    """A table whose only block is that."""
    block = contents + bytes([kind])
    checked = block + struct.pack("<I", table.mask_checksum(table.crc32c(block)))
    empty = struct.pack("<II", 0, 1)
    end = len(checked)
    handle = b"\0" + table.varint(len(contents))
    entry = bytes([0, 1, len(handle)]) + b"z" + handle
    index = entry + empty
    parts = checked
    positions = []
    for each in (empty, index):
        positions.append(table.varint(len(parts)) + table.varint(len(each)))
        part = each + b"\0"
        parts += part + struct.pack("<I", table.mask_checksum(table.crc32c(part)))
    assert end
    return parts + b"".join(positions).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def block_with(*rows):
    """A block with entries that share nothing, in any order."""
    return b"".join(bytes([0, len(k), len(v)]) + k + v for k, v in rows) + struct.pack("<II", 0, 1)


def test_blocks_by_hand():
    assert table.read_table(with_block(block_with((b"a", b"1"), (b"b", b"2")))) == {b"a": b"1", b"b": b"2"}
    plain = block_with((b"a", b"1"))
    packed = table.varint(len(plain)) + bytes([(len(plain) - 1) << 2]) + plain
    assert table.read_table(with_block(packed, 1)) == {b"a": b"1"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"short", "too short to be an sstable"),
        (b"\0" * 48, "bad magic number"),
        (with_block(block_with((b"b", b"1"), (b"a", b"2"))), "the keys are out of order"),
        (with_block(block_with((b"a", b"1"), (b"a", b"2"))), "the keys are out of order"),
        (with_block(block_with((b"a", b"1")), 2), "compressed in an unknown way"),
        (with_block(b"abc"), "bad block contents"),
        (with_block(struct.pack("<I", 7)), "bad block contents"),
        (with_block(bytes([1, 1, 0]) + b"a" + struct.pack("<II", 0, 1)), "bad entry in block"),
        (with_block(bytes([0, 9, 0]) + b"a" + struct.pack("<II", 0, 1)), "bad entry in block"),
        (with_block(block_with((b"a", b"1")))[1:], "truncated|checksum|bad"),
    ],
)
def test_damaged_tables(data, message):
    with pytest.raises(ValueError, match=message):
        table.read_table(data)


def test_a_changed_byte():
    data = bytearray(with_block(block_with((b"a", b"1"))))
    data[3] ^= 1
    with pytest.raises(ValueError, match="block checksum mismatch"):
        table.read_table(bytes(data))


# ---- Snappy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\0", b""),
        (b"\x03" + bytes([2 << 2]) + b"abc", b"abc"),
        (b"\x46" + bytes([60 << 2, 69]) + b"x" * 70, b"x" * 70),
        (b"\x46" + bytes([61 << 2, 69, 0]) + b"x" * 70, b"x" * 70),
        (b"\x0a" + bytes([1 << 2]) + b"ab" + bytes([1 | 4 << 2, 2]), b"ab" * 5),
        (b"\x06" + bytes([1 << 2]) + b"ab" + bytes([2 | 3 << 2, 2, 0]), b"ab" * 3),
        (b"\x06" + bytes([1 << 2]) + b"ab" + bytes([3 | 3 << 2, 1, 0, 0, 0]), b"abbbbb"),
    ],
)
def test_snappy(data, expected):
    assert decompress(data) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x03" + bytes([2 << 2]) + b"ab", "damaged"),
        (b"\x01" + bytes([2 << 2]) + b"abc", "damaged"),
        (b"\x04" + bytes([2 << 2]) + b"abc", "cut short"),
        (b"\x06" + bytes([1 << 2]) + b"ab" + bytes([1]), "cut short"),
        (b"\x06" + bytes([1 << 2]) + b"ab" + bytes([2 | 3 << 2, 3, 0]), "copies from before its start"),
        (b"\x06" + bytes([1 << 2]) + b"ab" + bytes([2 | 3 << 2, 0, 0]), "copies from before its start"),
    ],
)
def test_damaged_snappy(data, message):
    with pytest.raises(ValueError, match=message):
        decompress(data)


def test_checkpoints_of_many_variables(tmp_path):
    path = tf.train.Checkpoint(v=[tf.Variable(float(i)) for i in range(300)]).write(str(tmp_path / "m"))
    assert tf.train.load_variable(path, "v/299/.ATTRIBUTES/VARIABLE_VALUE") == 299.0
    assert len(tf.train.list_variables(path)) == 301
