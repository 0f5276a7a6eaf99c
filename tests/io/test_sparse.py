"""Serialized sparse tensors. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from typed_values import typed

raw = tf.raw_ops
matrix = tf.sparse.from_dense([[0, 7, 0], [8, 0, 9]])
names = tf.sparse.from_dense([["", "a"], ["b", ""], ["", ""]])

VALUES = [
    (
        lambda: tf.io.serialize_sparse(matrix),
        (
            "string",
            [
                b'\x08\t\x12\x08\x12\x02\x08\x03\x12\x02\x08\x02"0\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00',
                b'\x08\x03\x12\x04\x12\x02\x08\x03"\x0c\x07\x00\x00\x00\x08\x00\x00\x00\t\x00\x00\x00',
                b'\x08\t\x12\x04\x12\x02\x08\x02"\x10\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00',
            ],
        ),
    ),
    (
        lambda: tf.io.serialize_many_sparse(names),
        (
            "string",
            [
                [
                    b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x08\x01\x00\x00\x00\x00\x00\x00\x00',
                    b'\x08\x07\x12\x04\x12\x02\x08\x01"\x02\x01a',
                    b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x02\x00\x00\x00\x00\x00\x00\x00',
                ],
                [
                    b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x08\x00\x00\x00\x00\x00\x00\x00\x00',
                    b'\x08\x07\x12\x04\x12\x02\x08\x01"\x02\x01b',
                    b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x02\x00\x00\x00\x00\x00\x00\x00',
                ],
                [
                    b"\x08\t\x12\x06\x12\x00\x12\x02\x08\x01",
                    b"\x08\x07\x12\x02\x12\x00",
                    b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x02\x00\x00\x00\x00\x00\x00\x00',
                ],
            ],
        ),
    ),
    (
        lambda: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(matrix), tf.int32),
        ("sparse", ("int64", [[0, 1], [1, 0], [1, 2]]), ("int32", [7, 8, 9]), ("int64", [2, 3])),
    ),
    (
        lambda: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(names), tf.string),
        ("sparse", ("int64", [[0, 1], [1, 0]]), ("string", [b"a", b"b"]), ("int64", [3, 2])),
    ),
    (
        lambda: tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(matrix)] * 2), tf.int32),
        (
            "sparse",
            ("int64", [[0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 1], [1, 1, 0], [1, 1, 2]]),
            ("int32", [7, 8, 9, 7, 8, 9]),
            ("int64", [2, 2, 3]),
        ),
    ),
    (
        lambda: tf.io.deserialize_many_sparse(
            tf.stack([tf.io.serialize_sparse(matrix), tf.io.serialize_sparse(tf.sparse.from_dense([[1], [2], [3]]))]),
            tf.int32,
        ),
        (
            "sparse",
            ("int64", [[0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 0], [1, 1, 0], [1, 2, 0]]),
            ("int32", [7, 8, 9, 1, 2, 3]),
            ("int64", [2, 3, 3]),
        ),
    ),
    (
        lambda: raw.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(matrix), dtype=tf.int32),
        (("int64", [[0, 1], [1, 0], [1, 2]]), ("int32", [7, 8, 9]), ("int64", [2, 3])),
    ),
    (
        lambda: raw.DeserializeSparse(
            serialized_sparse=raw.SerializeSparse(
                sparse_indices=matrix.indices,
                sparse_values=matrix.values,
                sparse_shape=matrix.dense_shape,
                out_type=tf.variant,
            ),
            dtype=tf.int32,
        ),
        (("int64", [[0, 1], [1, 0], [1, 2]]), ("int32", [7, 8, 9]), ("int64", [2, 3])),
    ),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert typed(compute()) == expected


ERRORS = [
    (
        lambda: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(names), tf.string, rank=1),
        ValueError,
        "Tensor's shape (2, 2) is not compatible with supplied shape (None, 1).",
    ),
    (
        lambda: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(matrix), tf.float32),
        tf.errors.InvalidArgumentError,
        "Requested SparseTensor of type float but SparseTensor[0].values.dtype() == int32 [Op:Deser",
    ),
    (
        lambda: tf.io.deserialize_many_sparse([["a", "b", "c"]], tf.float32),
        tf.errors.InvalidArgumentError,
        "Could not parse serialized proto [Op:DeserializeManySparse]",
    ),
    (
        lambda: tf.io.deserialize_many_sparse([["a", "b"]], tf.float32),
        tf.errors.InvalidArgumentError,
        "Serialized sparse should have 3 as the last dimension [1,2] [Op:DeserializeManySparse]",
    ),
    (
        lambda: tf.io.deserialize_many_sparse(tf.zeros([0, 3], tf.string), tf.float32),
        tf.errors.InvalidArgumentError,
        "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension [0,3]",
    ),
    (
        lambda: tf.io.deserialize_many_sparse(
            tf.stack([tf.io.serialize_sparse(matrix), tf.io.serialize_sparse(tf.sparse.from_dense([1, 2]))]), tf.int32
        ),
        tf.errors.InvalidArgumentError,
        "Inconsistent shape across SparseTensors: rank prior to SparseTensor[1] was: 2 but rank of ",
    ),
    (
        lambda: tf.io.serialize_many_sparse(tf.sparse.from_dense([1, 2])),
        tf.errors.InvalidArgumentError,
        "Rank of input SparseTensor should be > 1, but saw rank: 1 [Op:SerializeManySparse] name: ",
    ),
    (
        lambda: tf.io.serialize_sparse(matrix, out_type=tf.int32),
        tf.errors.InvalidArgumentError,
        "Value for attr 'out_type' of int32 is not in the list of allowed values: string, variant",
    ),
    (lambda: tf.io.serialize_sparse([1, 2]), TypeError, "Input must be a SparseTensor."),
    (lambda: tf.io.serialize_many_sparse(3), TypeError, "Input must be a SparseTensor."),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
