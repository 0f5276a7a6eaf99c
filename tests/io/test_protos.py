"""`tf.io.decode_proto` and `encode_proto`."""

import pytest
from google.protobuf import descriptor_pb2

import tapeflow as tf

F = descriptor_pb2.FieldDescriptorProto


@pytest.fixture(scope="module")
def source():
    """A set of files with the message `p.M`, as TensorFlow takes it."""
    files = descriptor_pb2.FileDescriptorSet()
    message = files.file.add(name="a.proto", package="p", syntax="proto2").message_type.add(name="M")
    fields = {"f": F.TYPE_FLOAT, "i": F.TYPE_INT32, "s": F.TYPE_STRING, "u": F.TYPE_UINT64, "b": F.TYPE_BOOL}
    for number, (name, kind) in enumerate(fields.items(), 1):
        label = F.LABEL_REPEATED if name in "fs" else F.LABEL_OPTIONAL
        message.field.add(name=name, type=kind, label=label, number=number)
    message.field[1].default_value = "7"
    return b"bytes://" + files.SerializeToString()


@pytest.fixture(scope="module")
def encoded(source):
    values = [[[1.0, 2.0], [3.0, 0.0]], tf.constant([[5], [0]]), [["a", "z"], ["b", "c"]]]
    return tf.io.encode_proto([[2, 1, 1], [1, 0, 2]], values, ["f", "i", "s"], "p.M", source)


def test_there_and_back(source, encoded):
    dtypes = [tf.float32, tf.int32, tf.string, tf.uint64, tf.bool]
    sizes, values = tf.io.decode_proto(encoded, "p.M", ["f", "i", "s", "u", "b"], dtypes, source)
    assert sizes.numpy().tolist() == [[2, 1, 1, 0, 0], [1, 0, 2, 0, 0]]
    assert [v.numpy().tolist() for v in values] == [
        [[1.0, 2.0], [3.0, 0.0]], [[5], [7]], [[b"a", b""], [b"b", b"c"]], [[0], [0]], [[False], [False]],
    ]  # fmt: skip
    traced = tf.function(lambda t: tf.io.decode_proto(t, "p.M", ["i"], [tf.int64], source).values[0])
    assert traced(encoded[0]).numpy().tolist() == [5]


def test_text(source):
    decoded = tf.io.decode_proto(["i: 5 f: 1 f: 2"], "p.M", ["i", "f"], [tf.int32, tf.float32], source, "text")
    assert decoded.values[1].numpy().tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("text", "name", "field", "dtype", "error", "message"),
    [
        ("", "p.M", "i", tf.float32, tf.errors.InvalidArgumentError, "Unexpected output type for p.M.i: int32"),
        ("", "p.M", "x", tf.float32, tf.errors.InvalidArgumentError, "Unknown field: x in message type p.M"),
        ("", "p.N", "i", tf.int32, tf.errors.InvalidArgumentError, "No descriptor found for message type p.N"),
        ("\x0a\xff", "p.M", "i", tf.int32, tf.errors.DataLossError, "Failed to consume entire buffer"),
    ],
)
def test_errors(source, text, name, field, dtype, error, message):
    with pytest.raises(error, match=message):
        tf.io.decode_proto(text, name, [field], [dtype], source)
