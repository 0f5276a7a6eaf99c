"""The public `tf.compat.v1.io` namespace: records of files, and sparse tensors as strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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


__getattr__ = names.finder("io")
