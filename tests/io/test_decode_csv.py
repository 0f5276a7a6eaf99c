"""Fields of CSV records. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from typed_values import typed

records = ["1,x,2.5", '2,"y,z",', "3,,-1e3", '4,"a""b",1e5']

VALUES = [
    (
        lambda: tf.io.decode_csv(records, [0, "d", 9.5]),
        [("int32", [1, 2, 3, 4]), ("string", [b"x", b"y,z", b"d", b'a"b']), ("float32", [2.5, 9.5, -1000.0, 100000.0])],
    ),
    (
        lambda: tf.io.decode_csv(records * 4, [0, "d", 9.5]),
        [
            ("int32", [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]),
            (
                "string",
                [
                    b"x",
                    b"y,z",
                    b"d",
                    b'a"b',
                    b"x",
                    b"y,z",
                    b"d",
                    b'a"b',
                    b"x",
                    b"y,z",
                    b"d",
                    b'a"b',
                    b"x",
                    b"y,z",
                    b"d",
                    b'a"b',
                ],
            ),
            (
                "float32",
                [
                    2.5,
                    9.5,
                    -1000.0,
                    100000.0,
                    2.5,
                    9.5,
                    -1000.0,
                    100000.0,
                    2.5,
                    9.5,
                    -1000.0,
                    100000.0,
                    2.5,
                    9.5,
                    -1000.0,
                    100000.0,
                ],
            ),
        ],
    ),
    (lambda: tf.io.decode_csv(records[0], [0, "d", 9.5]), [("int32", 1), ("string", b"x"), ("float32", 2.5)]),
    (
        lambda: tf.io.decode_csv([records[:2], records[2:]], [np.int64(0), "d", np.float64(9.5)]),
        [
            ("int64", [[1, 2], [3, 4]]),
            ("string", [[b"x", b"y,z"], [b"d", b'a"b']]),
            ("float64", [[2.5, 9.5], [-1000.0, 100000.0]]),
        ],
    ),
    (
        lambda: tf.io.decode_csv(records, [0, "d", 9.5], select_cols=[0, 1, 2]),
        [("int32", [1, 2, 3, 4]), ("string", [b"x", b"y,z", b"d", b'a"b']), ("float32", [2.5, 9.5, -1000.0, 100000.0])],
    ),
    (
        lambda: tf.io.decode_csv(records, [[7], [1.25]], select_cols=[0, 2]),
        [("int32", [1, 2, 3, 4]), ("float32", [2.5, 1.25, -1000.0, 100000.0])],
    ),
    (
        lambda: tf.io.decode_csv(records * 4, [[7], [1.25]], select_cols=[0, 2]),
        [
            ("int32", [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]),
            (
                "float32",
                [
                    2.5,
                    1.25,
                    -1000.0,
                    100000.0,
                    2.5,
                    1.25,
                    -1000.0,
                    100000.0,
                    2.5,
                    1.25,
                    -1000.0,
                    100000.0,
                    2.5,
                    1.25,
                    -1000.0,
                    100000.0,
                ],
            ),
        ],
    ),
    (
        lambda: tf.io.decode_csv(["1;NA;3", "NA;5;NA"], [7, 8, 9], field_delim=";", na_value="NA"),
        [("int32", [1, 7]), ("int32", [8, 5]), ("int32", [3, 9])],
    ),
    (
        lambda: tf.io.decode_csv(["1;NA;3", "NA;5;NA"] * 6, [7, 8, 9], ";", True, "NA"),
        [
            ("int32", [1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7]),
            ("int32", [8, 5, 8, 5, 8, 5, 8, 5, 8, 5, 8, 5]),
            ("int32", [3, 9, 3, 9, 3, 9, 3, 9, 3, 9, 3, 9]),
        ],
    ),
    (
        lambda: tf.io.decode_csv(["1,'a'", '2,"b'], [0, ""], use_quote_delim=False),
        [("int32", [1, 2]), ("string", [b"'a'", b'"b'])],
    ),
    (
        lambda: tf.io.decode_csv(["1,'a'", '2,"b'] * 6, [0, ""], use_quote_delim=False),
        [
            ("int32", [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]),
            ("string", [b"'a'", b'"b', b"'a'", b'"b', b"'a'", b'"b', b"'a'", b'"b', b"'a'", b'"b', b"'a'", b'"b']),
        ],
    ),
    (lambda: tf.io.decode_csv(["1\t2"], [0, 0], field_delim="\t"), [("int32", [1]), ("int32", [2])]),
    (lambda: tf.io.decode_csv(tf.constant([], tf.string), [0, ""]), [("int32", [0], []), ("string", [0], [])]),
    (lambda: tf.io.decode_csv([" 1 , 2.5"], [0.0, 0.0]), [("float32", [1.0]), ("float32", [2.5])]),
    (
        lambda: tf.io.decode_csv(['"1","2"'] * 10, [0, 0]),
        [("int32", [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), ("int32", [2, 2, 2, 2, 2, 2, 2, 2, 2, 2])],
    ),
    (lambda: tf.io.decode_csv(["+1,-0", "007,12"], [0, 0]), [("int32", [1, 7]), ("int32", [0, 12])]),
    (lambda: tf.io.decode_csv(["2147483648"], [np.int64(0)]), [("int64", [2147483648])]),
    (lambda: tf.io.decode_csv(["1e-3", "-.5"], [0.0]), [("float32", [0.0010000000474974513, -0.5])]),
    (
        lambda: tf.io.decode_csv(['"a\nb",1'] * 10, ["", 0]),
        [
            ("string", [b"a\nb", b"a\nb", b"a\nb", b"a\nb", b"a\nb", b"a\nb", b"a\nb", b"a\nb", b"a\nb", b"a\nb"]),
            ("int32", [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        ],
    ),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert typed(compute()) == expected


ERRORS = [
    (
        lambda: tf.io.decode_csv(["1,2\n", "3,4\r\n"], [0, 0]),
        tf.errors.InvalidArgumentError,
        "Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"], [0]),
        tf.errors.InvalidArgumentError,
        "Expect 1 fields but have 2 in record 0 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"] * 10, [0]),
        tf.errors.InvalidArgumentError,
        "Expect 1 fields but have 2 in record 0 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1"], [0, 0]),
        tf.errors.InvalidArgumentError,
        "Expect 2 fields but have 1 in record 0 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"] * 9 + ["1"], [0, 0]),
        tf.errors.InvalidArgumentError,
        "Expect 2 fields but have 1 in record 9 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["a"], [0]),
        tf.errors.InvalidArgumentError,
        "Field 0 in record 0 is not a valid int32: a [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1"] * 9 + ["a"], [0]),
        tf.errors.InvalidArgumentError,
        "Field 0 in record 9 is not a valid int32: a [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1.5"], [0]),
        tf.errors.InvalidArgumentError,
        "Field 0 in record 0 is not a valid int32: 1.5 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["2147483648"], [0]),
        tf.errors.InvalidArgumentError,
        "Field 0 in record 0 is not a valid int32: 2147483648 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv([""], [tf.constant([], tf.int32)]),
        tf.errors.InvalidArgumentError,
        "Expect 1 fields but have 0 in record 0 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,"], [tf.constant([], tf.int32), tf.constant([], tf.int32)]),
        tf.errors.InvalidArgumentError,
        "Field 1 is required but missing in record 0! [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,"] * 10, [tf.constant([], tf.int32), tf.constant([], tf.int32)]),
        tf.errors.InvalidArgumentError,
        "Field 1 is required but missing in record 0! [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(['"a"b,1'], ["", 0]),
        tf.errors.InvalidArgumentError,
        "Quote inside a string has to be escaped by another quote [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(['"a"b,1'] * 10, ["", 0]),
        tf.errors.InvalidArgumentError,
        "Quote inside a string has to be escaped by another quote [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(['a"b,1'], ["", 0]),
        tf.errors.InvalidArgumentError,
        "Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(['a"b,1'] * 10, ["", 0]),
        tf.errors.InvalidArgumentError,
        "Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(['"a,1'], ["", 0]),
        tf.errors.InvalidArgumentError,
        "Quoted field has to end with quote followed by delim or end [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(['"a'] * 10, [""]),
        tf.errors.InvalidArgumentError,
        "Quoted field has to end with quote followed by delim or end [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["a\nb,1"], ["", 0]),
        tf.errors.InvalidArgumentError,
        "Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["a\rb,1"] * 10, ["", 0]),
        tf.errors.InvalidArgumentError,
        "Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"], [0, 0], field_delim=",,"),
        tf.errors.InvalidArgumentError,
        "field_delim should be only 1 char [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"], [0], select_cols=[2]),
        tf.errors.InvalidArgumentError,
        "Expect 1 fields but have 0 in record 0 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"] * 10, [0], select_cols=[2]),
        tf.errors.InvalidArgumentError,
        "Expect 1 fields but have 0 in record 0 [Op:DecodeCSV]",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"], [True, 0]),
        tf.errors.InvalidArgumentError,
        "A field can be float32, float64, int32, int64 or string, but",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"], [[1, 2], 0]),
        tf.errors.InvalidArgumentError,
        "Shape of a default must be a length-0 or length-1 vector, or",
    ),
    (
        lambda: tf.io.decode_csv(["1,2"], []),
        tf.errors.InvalidArgumentError,
        "`record_defaults` must have at least one entry. [Op:DecodeCS",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
