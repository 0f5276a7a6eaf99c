"""Messages as tensors. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from typed_values import typed

shape_proto = "tensorflow.TensorShapeProto"

VALUES = [
    (
        lambda: tf.io.decode_proto(
            [b"\x12\x02\x08\x05\x12\x04\x12\x02hi", b"\x18\x01"],
            shape_proto,
            ["dim", "unknown_rank"],
            [tf.string, tf.bool],
        ),
        (
            ("int32", [[2, 0], [0, 1]]),
            [("string", [[b"\x08\x05", b"\x12\x02hi"], [b"", b""]]), ("bool", [[False], [True]])],
        ),
    ),
    (
        lambda: tf.io.decode_proto([[b"\x12\x02\x08\x05"], [b""]], shape_proto, ["dim"], [tf.string]),
        (("int32", [[[1]], [[0]]]), [("string", [[[b"\x08\x05"]], [[b""]]])]),
    ),
    (
        lambda: tf.io.decode_proto(
            [b"\x08\x05", b"\x12\x02hi", b""],
            "tensorflow.TensorShapeProto.Dim",
            ["size", "name"],
            [tf.int64, tf.string],
        ),
        (("int32", [[1, 0], [0, 1], [0, 0]]), [("int64", [[5], [0], [0]]), ("string", [[b""], [b"hi"], [b""]])]),
    ),
    (
        lambda: tf.io.decode_proto(
            ["size: 5 name: 'a'"],
            "tensorflow.TensorShapeProto.Dim",
            ["name", "size"],
            [tf.string, tf.int64],
            message_format="text",
        ),
        (("int32", [[1, 1]]), [("string", [[b"a"]]), ("int64", [[5]])]),
    ),
    (
        lambda: tf.io.encode_proto(
            [[1, 1], [0, 1]],
            [np.int64([[5], [0]]), [["a"], ["b"]]],
            ["size", "name"],
            "tensorflow.TensorShapeProto.Dim",
        ),
        ("string", [b"\x08\x05\x12\x01a", b"\x12\x01b"]),
    ),
    (
        lambda: tf.io.encode_proto([[2], [1]], [[["\x08\x05", "\x08\x06"], ["\x08\x07", ""]]], ["dim"], shape_proto),
        ("string", [b"\x12\x02\x08\x05\x12\x02\x08\x06", b"\x12\x02\x08\x07"]),
    ),
    (
        lambda: tf.io.decode_proto([b"", b"\x18\x01"], shape_proto, ["dim"], [tf.string]),
        (("int32", [[0], [0]]), [("string", [[b""], [b""]])]),
    ),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert typed(compute()) == expected


ERRORS = [
    (
        lambda: tf.io.decode_proto([b"\x0a"], shape_proto, ["dim"], [tf.string]),
        tf.errors.DataLossError,
        "CountFields: Failed to consume entire buffer [Op:DecodeProto",
    ),
    (
        lambda: tf.io.decode_proto([b""], shape_proto, ["none"], [tf.string]),
        tf.errors.InvalidArgumentError,
        "Unknown field: none in message type tensorflow.TensorShapeProto [Op:DecodeProtoV2]",
    ),
    (
        lambda: tf.io.decode_proto([b""], shape_proto, ["dim"], [tf.int32]),
        tf.errors.InvalidArgumentError,
        "Unexpected output type for tensorflow.TensorShapeProto.dim: message to",
    ),
    (
        lambda: tf.io.decode_proto([b""], "none.Such", ["dim"], [tf.string]),
        tf.errors.InvalidArgumentError,
        "No descriptor found for message type none.Such [Op:DecodeProtoV2]",
    ),
    (
        lambda: tf.io.decode_proto(tf.constant([], tf.string), shape_proto, ["dim"], [tf.string]),
        tf.errors.InvalidArgumentError,
        "Bufs argument must contain at least one value [Op:DecodeProtoV2] name: ",
    ),
    (
        lambda: tf.io.decode_proto([b""], shape_proto, ["dim"], [tf.string], message_format="json"),
        tf.errors.InvalidArgumentError,
        "format must be one of binary or text [Op:DecodeProtoV2]",
    ),
    (
        lambda: tf.io.decode_proto(
            ["size: x"], "tensorflow.TensorShapeProto.Dim", ["size"], [tf.int64], message_format="text"
        ),
        tf.errors.DataLossError,
        "Unable to parse text protobuf",
    ),
    (
        lambda: tf.io.encode_proto([[2]], [[["a"]]], ["dim"], shape_proto),
        tf.errors.InvalidArgumentError,
        "Size 2 for field dim is larger than its values: 1 [Op:Encode",
    ),
    (
        lambda: tf.io.encode_proto([[1, 1]], [[["a"]]], ["dim"], shape_proto),
        tf.errors.InvalidArgumentError,
        "sizes.shape[-1] = 2 != len(field_names) = 1 [Op:EncodeProto]",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
