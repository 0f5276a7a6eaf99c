"""Record and event files with hostile lengths and contents."""

import gzip
import struct

import pytest

import tapeflow as tf
from tapeflow.io.records import crc32c, frame_record, mask_checksum

LENGTHS = [1 << 34, 1 << 62, (1 << 64) - 1]


def record_of_length(length):
    """Returns the head of a record with a valid checksum, and a few bytes."""
    head = struct.pack("<Q", length)
    return head + struct.pack("<I", mask_checksum(crc32c(head))) + b"few bytes"


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_record_that_claims_to_be_huge(length, compression, tmp_path):
    path = tmp_path / "records"
    data = frame_record(b"one") + record_of_length(length)
    path.write_bytes(gzip.compress(data) if compression else data)
    records = iter(tf.data.TFRecordDataset(str(path), compression))
    assert next(records).numpy() == b"one"
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 19"):
        next(records)


@pytest.mark.parametrize("read", [tf.compat.v1.train.summary_iterator, tf.compat.v1.io.tf_record_iterator])
def test_an_event_that_claims_to_be_huge(read, tmp_path):
    path = tmp_path / "events"
    path.write_bytes(record_of_length(1 << 62))
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 0"):
        list(read(str(path)))


def test_a_record_larger_than_a_piece(tmp_path):
    path, data = str(tmp_path / "records"), bytes(range(256)) * (1 << 17)  # 32 MiB: read in two pieces
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(data)
        writer.write(b"next")
    assert [r.numpy() for r in tf.data.TFRecordDataset(path)] == [data, b"next"]


def test_a_record_that_is_no_event(tmp_path):
    path = tmp_path / "events"
    path.write_bytes(frame_record(b"\xff\xff\xff\xff"))
    with pytest.raises(tf.errors.DataLossError, match=r"A record of .* is no event"):
        list(tf.compat.v1.train.summary_iterator(str(path)))
