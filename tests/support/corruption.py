"""Files of every format, damaged: for tests and for scripts/stress/corrupt_files.py."""

import os
import pathlib
from collections import deque

import numpy as np

import tapeflow as tf
from tapeflow.core.varint import varint

_SIZES = [1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def damaged(data: bytes, rng) -> bytes:
    """Returns bytes with flipped bits, cut short, with parts repeated, or with huge numbers in them."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            huge = varint(rng.choice(_SIZES))
            data[at : at + rng.choice([0, 1, len(huge)])] = huge
        else:
            data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randrange(1, 40)]
    return bytes(data)


def _checkpoint(folder):
    v = [tf.Variable(np.arange(30, dtype=np.float32)), tf.Variable(["ab", "c"]), tf.Variable(1, dtype=tf.int64)]
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(os.path.join(folder, "model"))

    def read():
        checkpoint.read(path)
        reader = tf.train.load_checkpoint(path)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)

    return path, read


def _index(folder):
    path, read = _checkpoint(folder)
    return f"{path}.index", read


def _index_with_checksums(folder):
    """The damage is inside of the entries, and the checksums of the table fit."""
    from tapeflow.train.table import read_table, table_bytes

    path, read = _checkpoint(folder)
    index = pathlib.Path(f"{path}.index")
    table = sorted(read_table(index.read_bytes()).items())
    values = pathlib.Path(folder, "values")
    values.write_bytes(b"".join(value for _, value in table))

    def write_and_read():
        data, position, entries = values.read_bytes(), 0, []
        for key, value in table:
            entries.append((key, data[position : position + len(value)]))
            position += len(value)
        index.write_bytes(table_bytes(entries))
        read()

    return str(values), write_and_read


def _data(folder):
    path, read = _checkpoint(folder)
    return f"{path}.data-00000-of-00001", read


def _saved_model(folder):
    path = os.path.join(folder, "saved")
    module = tf.Module()
    module.v = [tf.Variable([1.0, 2.0]), {"a": tf.Variable(3)}]
    constant = tf.constant([1.0, 2.0])
    module.f = tf.function(
        lambda x: tf.cond(x[0] > 0.0, lambda: x + constant, lambda: x * module.v[0]),
        input_signature=[tf.TensorSpec([2])],
    )
    tf.saved_model.save(module, path)
    return os.path.join(path, "saved_model.pb"), lambda: tf.saved_model.load(path)


def _records(folder, compression=None):
    path = os.path.join(folder, "records")
    with tf.io.TFRecordWriter(path, compression) as writer:
        for i in range(10):
            writer.write(bytes(range(i * 7)))
    return path, lambda: list(tf.data.TFRecordDataset(path, compression or ""))


def _events(folder):
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        for step in range(5):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
    writer.close()
    (name,) = os.listdir(folder)
    path = os.path.join(folder, name)
    return path, lambda: list(tf.compat.v1.train.summary_iterator(path))


def _dataset(folder):
    path = os.path.join(folder, "data")
    tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "zz"]}).save(path)
    return path, lambda: deque(iter(tf.data.Dataset.load(path)), maxlen=0)  # without trusting the length


def _dataset_spec(folder):
    path, read = _dataset(folder)
    return os.path.join(path, "dataset_spec.pb"), read


def _dataset_metadata(folder):
    path, read = _dataset(folder)
    return os.path.join(path, "snapshot.metadata"), read


def _tensors(dtype, values):
    def tensor(folder):
        path = pathlib.Path(folder, "tensor")
        path.write_bytes(tf.io.serialize_tensor(tf.constant(values, dtype)).numpy())
        return str(path), lambda: tf.io.parse_tensor(path.read_bytes(), dtype)

    return tensor


def _example(folder):
    path = pathlib.Path(folder, "example")
    features = {
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])),
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"])),
    }
    path.write_bytes(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    spec = {"a": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.VarLenFeature(tf.string)}
    return str(path), lambda: tf.io.parse_single_example(path.read_bytes(), spec)


FORMATS = {
    "checkpoint index": _index,
    "checkpoint entries": _index_with_checksums,
    "checkpoint data": _data,
    "SavedModel": _saved_model,
    "TFRecord": _records,
    "TFRecord, GZIP": lambda folder: _records(folder, "GZIP"),
    "events": _events,
    "dataset spec": _dataset_spec,
    "dataset metadata": _dataset_metadata,
    "tensor, floats": _tensors(tf.float32, [[1.0, 2.0], [3.0, 4.0]]),
    "tensor, one float": _tensors(tf.float32, 1.0),
    "tensor, strings": _tensors(tf.string, ["ab", "c"]),
    "tensor, bools": _tensors(tf.bool, [True, False]),
    "Example": _example,
}
# SavedModels are refused with OSError and ValueError, as in TensorFlow.
REFUSALS = {"SavedModel": (tf.errors.OpError, OSError, ValueError)}


def attempts(name, folder, rng, count):
    """Damages a file of a format and reads it, again and again.

    Yields:
        Pairs: whether it was refused as it should, and the error, or None where the file could be read.
    """
    path, read = FORMATS[name](folder)
    whole = pathlib.Path(path).read_bytes()
    read()
    for _ in range(count):
        pathlib.Path(path).write_bytes(damaged(whole, rng))
        try:
            read()
        except Exception as error:
            yield isinstance(error, REFUSALS.get(name, tf.errors.OpError)), error
        else:
            yield False, None
