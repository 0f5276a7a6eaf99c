"""The public `tf.compat.v1.io` namespace: records of files, and sparse tensors as strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow import io as tfio
from tapeflow.core.types.dtypes import string
from tapeflow.io.records import TFRecordOptions, read_records
from tapeflow_compat.compat.v1 import names


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """Returns the records of a TFRecord file.

    Args:
        path: the file.
        options: how it is compressed: a `tf.io.TFRecordOptions`, or None.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: the file is cut off or damaged; all records before it have been read.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/records"
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"one")
        >>> list(tf.compat.v1.io.tf_record_iterator(path))
        [b'one']
    """
    return read_records(path, TFRecordOptions.get_compression_type_string(options))


class TFRecordCompressionType:
    """The numbers of the compressions of TFRecord files, which `tf.io.TFRecordOptions` takes.

    Example:
        >>> tf.compat.v1.io.TFRecordCompressionType.GZIP
        2
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = string) -> Any:
    """Returns a sparse tensor as a vector of three strings, see `tf.io.serialize_sparse`.

    Args:
        sp_input: a `tf.SparseTensor`.
        out_type: `tf.string`.

    Raises:
        TypeError: it is not sparse.
        UnimplementedError: `out_type` is another.

    Example:
        >>> a = tf.SparseTensor([[0, 1]], [2.0], [1, 2])
        >>> rows = tf.compat.v1.serialize_sparse(a)[None]
        >>> tf.io.deserialize_many_sparse(rows, tf.float32).dense_shape.numpy().tolist()
        [1, 1, 2]
    """
    return tfio.serialize_sparse(sp_input, out_type, name)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = string) -> Any:
    """Returns each entry of the batch of a sparse tensor as three strings: of shape [batch, 3].

    The arguments are those of `serialize_sparse`.

    Example:
        >>> a = tf.SparseTensor([[0, 1]], [2.0], [4, 2])
        >>> tf.compat.v1.serialize_many_sparse(a).shape
        TensorShape([4, 3])
    """
    return tfio.serialize_many_sparse(sp_input, out_type, name)


__getattr__ = names.finder("io")
