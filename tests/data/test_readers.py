"""Readers of CSV files and examples. Expected values are TensorFlow's."""

import gzip
import zlib

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
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


def table(*args, **kwargs):
    return experimental.make_csv_dataset(*args, **{"num_epochs": 1, "shuffle": False, **kwargs}).map(
        lambda *parts: tf.nest.map_structure(tf.identity, tuple(dict(p) if isinstance(p, dict) else p for p in parts))
    )


of = Dataset.from_generator

ROWS = [
    (
        lambda: table("a.csv", 2),
        [({"a": [1, 3], "b": [b"x", b'y,"z"'], "c": [2.5, 0.0]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("a.csv", 1, label_name="b"),
        [({"a": [1], "c": [2.5]}, [b"x"]), ({"a": [3], "c": [0.0]}, [b'y,"z"'])],
        ({"a": TensorSpec([None], tf.int32), "c": TensorSpec([None], tf.float32)}, TensorSpec([None], tf.string)),
        -2,
    ),
    (
        lambda: table("a.csv", 2, select_columns=["c", "a"]),
        [({"a": [1, 3], "c": [2.5, 0.0]},)],
        ({"a": TensorSpec([None], tf.int32), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("a.csv", 2, select_columns=[2, 0], label_name="a"),
        [({"c": [2.5, 0.0]}, [1, 3])],
        ({"c": TensorSpec([None], tf.float32)}, TensorSpec([None], tf.int32)),
        -2,
    ),
    (
        lambda: table("a.csv", 2, column_names=["x", "y", "z"]),
        [({"x": [1, 3], "y": [b"x", b'y,"z"'], "z": [2.5, 0.0]},)],
        ({"x": TensorSpec([None], tf.int32), "y": TensorSpec([None], tf.string), "z": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("a.csv", 2, column_defaults=[tf.int64, tf.string, 1.25]),
        [({"a": [1, 3], "b": [b"x", b'y,"z"'], "c": [2.5, 1.25]},)],
        ({"a": TensorSpec([None], tf.int64), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("a.csv", 2, column_defaults=[1.25], select_columns=["c"]),
        [({"c": [2.5, 1.25]},)],
        ({"c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table(["a.csv", "b.csv"], 2, column_defaults=[tf.string, tf.string, tf.string]),
        [
            "InvalidArgumentError",
            ({"a": [b"4", b"bad"], "b": [b"w", b"v"], "c": [b"5.5", b"1"]},),
            ({"a": [b"6"], "b": [b"u"], "c": [b"7.5"]},),
        ],
        ({"a": TensorSpec([None], tf.string), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table(["a.csv", "b.csv"], 2, column_defaults=[tf.string, tf.string, tf.string], num_parallel_reads=2),
        [
            ({"a": [b"1", b"4"], "b": [b"x", b"w"], "c": [b"2.5", b"5.5"]},),
            "InvalidArgumentError",
            ({"a": [b"bad", b"6"], "b": [b"v", b"u"], "c": [b"1", b"7.5"]},),
        ],
        ({"a": TensorSpec([None], tf.string), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table("b.csv", 2),
        [({"a": [b"4", b"bad"], "b": [b"w", b"v"], "c": [5.5, 1.0]},), ({"a": [b"6"], "b": [b"u"], "c": [7.5]},)],
        (
            {
                "a": TensorSpec([None], tf.string),
                "b": TensorSpec([None], tf.string),
                "c": TensorSpec([None], tf.float32),
            },
        ),
        -2,
    ),
    (
        lambda: table("b.csv", 2, column_defaults=[tf.int32, tf.string, tf.float32], ignore_errors=True),
        [({"a": [4, 6], "b": [b"w", b"u"], "c": [5.5, 7.5]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("c.csv", 2, field_delim=";"),
        [({"a": [1], "b": [b"x"], "d": [b"NA"]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "d": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table("c.csv", 2, field_delim=";", na_value="NA"),
        [({"a": [1], "b": [b"x"], "d": [b""]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "d": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table(
            "n.csv", 2, column_names=["x", "y"], header=False, column_defaults=[tf.int32, "d"], ignore_errors=True
        ),
        [({"x": [7, 9], "y": [b"t", b"s"]},)],
        ({"x": TensorSpec([None], tf.int32), "y": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table("i.csv", 2),
        [
            ({"k": [1, 0], "l": [2147483648, 5], "m": [1.5, 0.0], "n": [1e300, 2.0], "o": [b"s", b""]},),
            ({"k": [-3], "l": [4], "m": [2.0], "n": [1.0], "o": [b"t"]},),
        ],
        (
            {
                "k": TensorSpec([None], tf.int32),
                "l": TensorSpec([None], tf.int64),
                "m": TensorSpec([None], tf.float32),
                "n": TensorSpec([None], tf.float64),
                "o": TensorSpec([None], tf.string),
            },
        ),
        -2,
    ),
    (
        lambda: table("i.csv", 3, num_rows_for_inference=None),
        [
            (
                {
                    "k": [1, 0, -3],
                    "l": [2147483648, 5, 4],
                    "m": [1.5, 0.0, 2.0],
                    "n": [1e300, 2.0, 1.0],
                    "o": [b"s", b"", b"t"],
                },
            )
        ],
        (
            {
                "k": TensorSpec([None], tf.int32),
                "l": TensorSpec([None], tf.int64),
                "m": TensorSpec([None], tf.float32),
                "n": TensorSpec([None], tf.float64),
                "o": TensorSpec([None], tf.string),
            },
        ),
        -2,
    ),
    (
        lambda: table("i.csv", 2, num_rows_for_inference=2),
        [
            ({"k": [1, 0], "l": [2147483648, 5], "m": [1.5, 0.0], "n": [1e300, 2.0], "o": [b"s", b""]},),
            ({"k": [-3], "l": [4], "m": [2.0], "n": [1.0], "o": [b"t"]},),
        ],
        (
            {
                "k": TensorSpec([None], tf.int32),
                "l": TensorSpec([None], tf.int64),
                "m": TensorSpec([None], tf.float32),
                "n": TensorSpec([None], tf.float64),
                "o": TensorSpec([None], tf.string),
            },
        ),
        -2,
    ),
    (
        lambda: table("b.csv", 3, num_rows_for_inference=1),
        ["InvalidArgumentError", ({"a": [6], "b": [b"u"], "c": [7.5]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("b.csv", 3, num_rows_for_inference=0),
        [({"a": [b"4", b"bad", b"6"], "b": [b"w", b"v", b"u"], "c": [b"5.5", b"1", b"7.5"]},)],
        ({"a": TensorSpec([None], tf.string), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table("a.csv", 2, num_epochs=2),
        [
            ({"a": [1, 3], "b": [b"x", b'y,"z"'], "c": [2.5, 0.0]},),
            ({"a": [1, 3], "b": [b"x", b'y,"z"'], "c": [2.5, 0.0]},),
        ],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("a.csv", 3, num_epochs=None).take(2),
        [
            ({"a": [1, 3, 1], "b": [b"x", b'y,"z"', b"x"], "c": [2.5, 0.0, 2.5]},),
            ({"a": [3, 1, 3], "b": [b'y,"z"', b"x", b'y,"z"'], "c": [0.0, 2.5, 0.0]},),
        ],
        ({"a": TensorSpec([3], tf.int32), "b": TensorSpec([3], tf.string), "c": TensorSpec([3], tf.float32)},),
        2,
    ),
    (
        lambda: table("a.csv", 2, shuffle=True, shuffle_seed=3),
        [({"a": [3, 1], "b": [b'y,"z"', b"x"], "c": [0.0, 2.5]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("b.csv", 2, shuffle=True, shuffle_seed=4, shuffle_buffer_size=2, num_epochs=2),
        [
            ({"a": [b"4", b"bad"], "b": [b"w", b"v"], "c": [5.5, 1.0]},),
            ({"a": [b"6", b"4"], "b": [b"u", b"w"], "c": [7.5, 5.5]},),
            ({"a": [b"bad", b"6"], "b": [b"v", b"u"], "c": [1.0, 7.5]},),
        ],
        (
            {
                "a": TensorSpec([None], tf.string),
                "b": TensorSpec([None], tf.string),
                "c": TensorSpec([None], tf.float32),
            },
        ),
        -2,
    ),
    (
        lambda: table("a.csv", 2, prefetch_buffer_size=1),
        [({"a": [1, 3], "b": [b"x", b'y,"z"'], "c": [2.5, 0.0]},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string), "c": TensorSpec([None], tf.float32)},),
        -2,
    ),
    (
        lambda: table("a.csv", 2, select_columns=["a", 1]),
        [({"a": [1, 3], "b": [b"x", b'y,"z"']},)],
        ({"a": TensorSpec([None], tf.int32), "b": TensorSpec([None], tf.string)},),
        -2,
    ),
    (
        lambda: table("q.csv", 2, column_names=["x", "y"], header=False, use_quote_delim=False),
        [({"x": [1, 2], "y": [b"'x'", b'"y']},)],
        ({"x": TensorSpec([None], tf.int32), "y": TensorSpec([None], tf.string)},),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: table("?.csv", 2, column_names=["a"], header=False), ValueError, "Problem inferring types: CSV row"),
    (lambda: table("none.csv", 2), ValueError, "No files match `file_pattern` none.csv."),
    (
        lambda: table("a.csv", 2, header=False),
        ValueError,
        "Expected `column_names` or `header` arguments. Neither is provided.",
    ),
    (
        lambda: table("a.csv", 2, column_names=["a", "a", "b"]),
        ValueError,
        "`column_names` cannot contain duplicate column names. Receiv",
    ),
    (
        lambda: table("a.csv", 2, label_name="z"),
        ValueError,
        "`label_name` provided must be one of the columns: ['a', 'b', 'c']. Received: z.",
    ),
    (
        lambda: table("a.csv", 2, select_columns=["z"]),
        ValueError,
        "Column 'z' of `select_columns` is not one of the columns: ['",
    ),
    (
        lambda: table("a.csv", 2, select_columns=[3]),
        ValueError,
        "Column number 3 of `select_columns` is not one of the 3 colu",
    ),
    (
        lambda: table("a.csv", 2, select_columns=[-1]),
        ValueError,
        "Column number -1 of `select_columns` is not one of the 3 col",
    ),
    (
        lambda: table("a.csv", 2, select_columns=["a", "a"]),
        ValueError,
        "`select_columns` cannot contain duplicates. Received: ['a',",
    ),
    (
        lambda: table(["a.csv", "c.csv"], 2),
        ValueError,
        "All input CSV files should have the same column names in the header row. File c.csv has di",
    ),
    (lambda: table("n.csv", 2, column_names=["x", "y"], header=False), ValueError, "Problem inferring types: CSV row"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
