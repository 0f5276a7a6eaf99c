"""Records of a fixed length. Expected values are TensorFlow's."""

import gzip
import zlib

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

TensorSpec = tf.TensorSpec
FILES = {
    "a.txt": b"one\ntwo\r\n\nlast",
    "b.txt": b"x\ny\n",
    "a.bin": b"HHaabbccF",
    "b.bin": b"HHddF",
    "c.bin": b"HHdddF",
    "d.bin": b"HF",
    "g.bin": gzip.compress(b"HHaabbF"),
    "z.txt": zlib.compress(b"p\nq"),
    "g.txt": gzip.compress(b"r\ns"),
    "e.txt": b"",
    "a.csv": b'a,b,c\n1,x,2.5\n3,"y,""z""",\n',
    "b.csv": b"a,b,c\n4,w,5.5\nbad,v,1\n6,u,7.5\n",
    "c.csv": b"a;b;d\n1;x;NA\n",
    "n.csv": b"7,t\n8\n9,s\n",
    "i.csv": b"k,l,m,n,o\n1,2147483648,1.5,1e300,s\n,5,,2,\n-3,4,2,1,t\n",
    "q.csv": b"1,'x'\n2,\"y\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)


fixed = tf.data.FixedLengthRecordDataset

ROWS = [
    (lambda: fixed("a.bin", 2, 2, 1), [b"aa", b"bb", b"cc"], TensorSpec([], tf.string), -2),
    (lambda: fixed("a.bin", 3), [b"HHa", b"abb", b"ccF"], TensorSpec([], tf.string), -2),
    (lambda: fixed("a.bin", record_bytes=1, header_bytes=7, footer_bytes=1), [b"c"], TensorSpec([], tf.string), -2),
    (
        lambda: fixed(["a.bin", "b.bin"], 2, header_bytes=2, footer_bytes=1),
        [b"aa", b"bb", b"cc", b"dd"],
        TensorSpec([], tf.string),
        -2,
    ),
    (
        lambda: fixed(["a.bin", "b.bin"], 2, 2, 1, num_parallel_reads=2),
        [b"aa", b"dd", b"bb", b"cc"],
        TensorSpec([], tf.string),
        -2,
    ),
    (lambda: fixed("g.bin", 2, 2, 1, compression_type="GZIP"), [b"aa", b"bb"], TensorSpec([], tf.string), -2),
    (lambda: fixed("a.bin", 2, 2, 1, buffer_size=2), [b"aa", b"bb", b"cc"], TensorSpec([], tf.string), -2),
    (lambda: fixed("a.bin", 2, 2, 1).batch(2), [[b"aa", b"bb"], [b"cc"]], TensorSpec([None], tf.string), -2),
    (lambda: fixed("a.bin", 9), [b"HHaabbccF"], TensorSpec([], tf.string), -2),
    (lambda: fixed("a.bin", 1, 9), [], TensorSpec([], tf.string), -2),
    (lambda: fixed("e.txt", 2), [], TensorSpec([], tf.string), -2),
    (
        lambda: fixed("g.bin", 3, 2, 1, compression_type="GZIP"),
        [b"aab", "DataLossError"],
        TensorSpec([], tf.string),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: fixed("c.bin", 2, 2, 1),
        tf.errors.InvalidArgumentError,
        'Excluding the header (2 bytes) and footer (1 bytes), input file "c.bin" has body length 3 ',
    ),
    (lambda: fixed("a.bin", 0), tf.errors.InvalidArgumentError, "`record_bytes` must be > 0"),
    (lambda: fixed("a.bin", -1), tf.errors.InvalidArgumentError, "`record_bytes` must be > 0"),
    (lambda: fixed("a.bin", 2, -1), tf.errors.InvalidArgumentError, "`header_bytes` must be >= 0"),
    (lambda: fixed("a.bin", 2, 0, -1), tf.errors.InvalidArgumentError, "`footer_bytes` must be >= 0"),
    (lambda: fixed("none.bin", 2), tf.errors.NotFoundError, "none.bin; No such file or directory"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
