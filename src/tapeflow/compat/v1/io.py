"""`tf.compat.v1.io`: reading TFRecord files one record after the other, as TensorBoard does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.compat.v1 import names
from tapeflow.io.records import TFRecordOptions, read_records


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a TFRecord file.

    Args:
        path: the file.
        options: how it is compressed: a `tf.io.TFRecordOptions`, or None.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: the file is cut off or damaged; all records before have been given.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/records"
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"one")
        >>> list(tf.compat.v1.io.tf_record_iterator(path))
        [b'one']
    """
    return read_records(path, TFRecordOptions.get_compression_type_string(options))


__getattr__ = names.finder("io")
