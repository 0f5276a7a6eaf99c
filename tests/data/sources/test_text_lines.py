"""Lines of files. Expected values are TensorFlow's."""

import gzip
import zlib

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
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


lines = tf.data.TextLineDataset
of = Dataset.from_generator

ROWS = [
    (lambda: lines("a.txt"), [b"one", b"two", b"", b"last"], TensorSpec([], tf.string), -2),
    (lambda: lines(["a.txt", "b.txt"]), [b"one", b"two", b"", b"last", b"x", b"y"], TensorSpec([], tf.string), -2),
    (lambda: lines([["a.txt"], ["b.txt"]]), [b"one", b"two", b"", b"last", b"x", b"y"], TensorSpec([], tf.string), -2),
    (lambda: lines("b.txt").batch(3), [[b"x", b"y"]], TensorSpec([None], tf.string), -2),
    (
        lambda: lines(["a.txt", "b.txt"], num_parallel_reads=2),
        [b"one", b"x", b"two", b"y", b"", b"last"],
        TensorSpec([], tf.string),
        -2,
    ),
    (
        lambda: lines(["b.txt", "a.txt"], num_parallel_reads=1),
        [b"x", b"y", b"one", b"two", b"", b"last"],
        TensorSpec([], tf.string),
        -2,
    ),
    (lambda: lines("z.txt", compression_type="ZLIB"), [b"p", b"q"], TensorSpec([], tf.string), -2),
    (lambda: lines("g.txt", "GZIP"), [b"r", b"s"], TensorSpec([], tf.string), -2),
    (lambda: lines("b.txt", None, 3), [b"x", b"y"], TensorSpec([], tf.string), -2),
    (lambda: lines("b.txt", buffer_size=1), [b"x", b"y"], TensorSpec([], tf.string), -2),
    (lambda: lines("e.txt"), [], TensorSpec([], tf.string), -2),
    (lambda: lines([]), [], TensorSpec([], tf.string), -2),
    (
        lambda: lines(Dataset.from_tensor_slices(["b.txt", "a.txt"])),
        [b"x", b"y", b"one", b"two", b"", b"last"],
        TensorSpec([], tf.string),
        -2,
    ),
    (
        lambda: Dataset.list_files("?.txt", shuffle=False).map(lambda n: tf.strings.substr(n, -5, 5)),
        [b"a.txt", b"b.txt", b"e.txt", b"g.txt", b"z.txt"],
        TensorSpec([], tf.string),
        5,
    ),
    (
        lambda: Dataset.list_files(["b.*", "a.t*"], shuffle=False),
        [b"./a.txt", b"./b.bin", b"./b.csv", b"./b.txt"],
        TensorSpec([], tf.string),
        4,
    ),
    (
        lambda: Dataset.list_files("?.csv", seed=3),
        [b"./i.csv", b"./c.csv", b"./q.csv", b"./a.csv", b"./b.csv", b"./n.csv"],
        TensorSpec([], tf.string),
        6,
    ),
    (
        lambda: Dataset.list_files("?.csv", shuffle=True, seed=3).repeat(2),
        [
            b"./i.csv",
            b"./c.csv",
            b"./q.csv",
            b"./a.csv",
            b"./b.csv",
            b"./n.csv",
            b"./c.csv",
            b"./a.csv",
            b"./b.csv",
            b"./q.csv",
            b"./n.csv",
            b"./i.csv",
        ],
        TensorSpec([], tf.string),
        12,
    ),
    (
        lambda: Dataset.list_files("[ab].txt", shuffle=False).interleave(lambda n: lines(n), cycle_length=2),
        [b"one", b"x", b"two", b"y", b"", b"last"],
        TensorSpec([], tf.string),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: lines("none.txt"), tf.errors.NotFoundError, "none.txt; No such file or directory"),
    (lambda: lines("b.txt", "LZ"), tf.errors.InvalidArgumentError, "Unsupported compression_type: 'LZ'"),
    (
        lambda: lines("b.txt", num_parallel_reads=0),
        tf.errors.InvalidArgumentError,
        "`cycle_length` must be > 0 [Op:LegacyParallelInterleaveDatasetV2] name: ",
    ),
    (
        lambda: lines("b.txt", num_parallel_reads=-2),
        tf.errors.InvalidArgumentError,
        "`cycle_length` must be > 0 [Op:LegacyParallelInterleaveDatasetV2] name: ",
    ),
    (
        lambda: lines(3),
        TypeError,
        "The `filenames` argument must contain `tf.string` elements. Got `tf.int32` elements.",
    ),
    (
        lambda: lines(Dataset.range(3)),
        TypeError,
        "The `filenames` argument must contain `tf.string` elements. Got a dataset of `tf.int64` el",
    ),
    (
        lambda: lines(Dataset.from_tensors(["b.txt"])),
        TypeError,
        "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got",
    ),
    (lambda: Dataset.list_files("none*"), tf.errors.InvalidArgumentError, "No files matched pattern: none*"),
    (
        lambda: Dataset.list_files(["none*", "no"], shuffle=False),
        tf.errors.InvalidArgumentError,
        "No files matched pattern: none*, no",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
