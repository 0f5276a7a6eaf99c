"""Rows of CSV files. Expected values are TensorFlow's."""

import gzip
import zlib

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

experimental, TensorSpec = tf.data.experimental, tf.TensorSpec
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


csv = experimental.CsvDataset
all_ints = [tf.int64, tf.int64]

ROWS = [
    (
        lambda: csv("a.csv", [tf.int32, tf.string, 0.5], header=True),
        [(1, b"x", 2.5), (3, b'y,"z"', 0.5)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string), TensorSpec([], tf.float32)),
        -2,
    ),
    (
        lambda: csv("a.csv", [tf.string, tf.string, tf.string]),
        [(b"a", b"b", b"c"), (b"1", b"x", b"2.5"), "InvalidArgumentError"],
        (TensorSpec([], tf.string), TensorSpec([], tf.string), TensorSpec([], tf.string)),
        -2,
    ),
    (
        lambda: csv(["a.csv", "b.csv"], [tf.int32, tf.string, 0.5], header=True),
        [(1, b"x", 2.5), (3, b'y,"z"', 0.5), (4, b"w", 5.5), "InvalidArgumentError", (6, b"u", 7.5)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string), TensorSpec([], tf.float32)),
        -2,
    ),
    (
        lambda: csv("b.csv", [tf.int32, tf.string, tf.float64], header=True),
        [(4, b"w", 5.5), "InvalidArgumentError", (6, b"u", 7.5)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string), TensorSpec([], tf.float64)),
        -2,
    ),
    (
        lambda: csv("a.csv", [tf.int32, tf.string, tf.float32], header=True),
        [(1, b"x", 2.5), "InvalidArgumentError"],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string), TensorSpec([], tf.float32)),
        -2,
    ),
    (
        lambda: csv("c.csv", [tf.int32, tf.string, 9.5], header=True, field_delim=";", na_value="NA"),
        [(1, b"x", 9.5)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string), TensorSpec([], tf.float32)),
        -2,
    ),
    (
        lambda: csv("a.csv", [tf.int32, 8.5], header=True, select_cols=[0, 2]),
        [(1, 2.5), (3, 8.5)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.float32)),
        -2,
    ),
    (lambda: csv("a.csv", [8.5], header=True, select_cols=[2]), [(2.5,), (8.5,)], (TensorSpec([], tf.float32),), -2),
    (
        lambda: csv("a.csv", ["none"], header=True, exclude_cols=[0, 2]),
        [(b"x",), (b'y,"z"',)],
        (TensorSpec([], tf.string),),
        -2,
    ),
    (
        lambda: csv("n.csv", [tf.int64, "t"]),
        [(7, b"t"), "InvalidArgumentError", (9, b"s")],
        (TensorSpec([], tf.int64), TensorSpec([], tf.string)),
        -2,
    ),
    (
        lambda: csv("n.csv", all_ints),
        ["InvalidArgumentError", "InvalidArgumentError", "InvalidArgumentError"],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: csv("q.csv", [tf.int64, tf.string], use_quote_delim=False),
        [(1, b"'x'"), (2, b'"y')],
        (TensorSpec([], tf.int64), TensorSpec([], tf.string)),
        -2,
    ),
    (
        lambda: csv("q.csv", [tf.int64, tf.string]),
        [(1, b"'x'"), "InvalidArgumentError"],
        (TensorSpec([], tf.int64), TensorSpec([], tf.string)),
        -2,
    ),
    (
        lambda: csv("a.csv", [tf.int32, tf.string, 0.5], header=True, buffer_size=4),
        [(1, b"x", 2.5), (3, b'y,"z"', 0.5)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string), TensorSpec([], tf.float32)),
        -2,
    ),
    (
        lambda: csv("a.csv", [tf.int32, tf.string, 0.5], header=True).batch(2),
        [([1, 3], [b"x", b'y,"z"'], [2.5, 0.5])],
        (TensorSpec([None], tf.int32), TensorSpec([None], tf.string), TensorSpec([None], tf.float32)),
        -2,
    ),
    (
        lambda: csv(["b.csv", "b.csv"], [tf.int32, tf.string, tf.float64], header=True).batch(2),
        ["InvalidArgumentError", ([6, 4], [b"u", b"w"], [7.5, 5.5]), "InvalidArgumentError", ([6], [b"u"], [7.5])],
        (TensorSpec([None], tf.int32), TensorSpec([None], tf.string), TensorSpec([None], tf.float64)),
        -2,
    ),
    (
        lambda: csv("a.csv", [tf.int32], header=True, select_cols=[5]),
        ["InvalidArgumentError", "InvalidArgumentError"],
        (TensorSpec([], tf.int32),),
        -2,
    ),
    (lambda: csv("g.txt", [tf.string], compression_type="GZIP"), [(b"r",), (b"s",)], (TensorSpec([], tf.string),), -2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: csv("a.csv", [tf.int32, tf.int32], header=True, select_cols=[1]),
        tf.errors.InvalidArgumentError,
        "select_cols should match output size",
    ),
    (
        lambda: csv("a.csv", [tf.int32, tf.string], header=True, select_cols=[1, 0]),
        tf.errors.InvalidArgumentError,
        "select_cols should be strictly increasing indices",
    ),
    (
        lambda: csv("a.csv", [tf.int32], header=True, select_cols=[-1]),
        tf.errors.InvalidArgumentError,
        "select_cols should be strictly increasing indices: [-1] [Op:",
    ),
    (
        lambda: csv("a.csv", [tf.int32], header=True, select_cols=[0], exclude_cols=[1]),
        tf.errors.InvalidArgumentError,
        "Either select_cols or exclude_cols should be empty [Op:CSVDatasetV2] name: ",
    ),
    (
        lambda: csv("a.csv", [], header=True),
        tf.errors.InvalidArgumentError,
        "`record_defaults` must have at least one entry. [Op:CSVDatas",
    ),
    (
        lambda: csv("a.csv", [[1, 2], [""], [0.5]], header=True),
        tf.errors.InvalidArgumentError,
        "There should only be 1 default per field but field 0 has 2 [Op:CSVDatasetV2]",
    ),
    (
        lambda: csv("a.csv", [tf.int32, tf.string, 0.5], header=True, field_delim=",,"),
        tf.errors.InvalidArgumentError,
        "field_delim should be only 1 char [Op:",
    ),
    (lambda: csv("none.csv", [tf.int32]), tf.errors.NotFoundError, "none.csv; No such file or directory"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
