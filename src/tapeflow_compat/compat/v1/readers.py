"""Readers of TensorFlow 1: they take names of files from a queue and read the files record by record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir.operation import Operation
from tapeflow.io.records import TFRecordOptions
from tapeflow_compat.queue.queue_ops import OUTPUTS, handle_node, node


class ReaderBase:
    """Base class of the readers.

    Args:
        reader_ref: the reader, a scalar `tf.resource` tensor.
        supports_serialize: whether `serialize_state` is possible.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     print(sess.run(tf.compat.v1.IdentityReader().num_records_produced()))
        0
    """

    def __init__(self, reader_ref: Any, supports_serialize: bool = False) -> None:
        if state.graph is None:
            raise RuntimeError(
                "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data "
                "into your model."
            )
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """A scalar tensor: the reader's resource handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Is True where `serialize_state` is possible."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Sequence[Tensor]:
        """Returns the next record.

        Args:
            queue: has the names of the files, strings.
            name: a string, the operation's name.

        Returns:
            Two string scalars, the record's key and the record.

        Raises:
            OutOfRangeError: when it runs: the queue is closed and empty, and so is the file.
        """
        return self._run("ReaderReadV2", name, getattr(queue, "queue_ref", queue)).outputs

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Sequence[Tensor]:
        """Returns the next records of a file, up to `num_records`.

        Args:
            queue: has the names of the files, strings.
            num_records: the largest number of records, an int64 scalar.
            name: a string, the operation's name.

        Returns:
            Two string vectors, the records' keys and the records.

        Raises:
            OutOfRangeError: when it runs: the queue is closed and empty, and so is the file.
        """
        ref = getattr(queue, "queue_ref", queue)
        return self._run("ReaderReadUpToV2", name, ref, convert(num_records, int64)).outputs

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Returns the number of records read, as an int64 scalar."""
        return self._run("ReaderNumRecordsProducedV2", name).outputs[0]

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Returns the number of files read to their ends, as an int64 scalar."""
        return self._run("ReaderNumWorkUnitsCompletedV2", name).outputs[0]

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Returns the state of the reader, as a string scalar.

        Raises:
            UnimplementedError: when it runs: the reader gives several records of a file.
        """
        return self._run("ReaderSerializeStateV2", name).outputs[0]

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Returns an operation that has it go on from a state.

        Args:
            state: what `serialize_state` gave.
            name: a string, the operation's name.
        """
        return self._run("ReaderRestoreStateV2", name, convert(state, string))

    def reset(self, name: str | None = None) -> Operation:
        """Returns an operation that has it begin anew."""
        return self._run("ReaderResetV2", name)

    def _run(self, op: str, name: str | None, *inputs: Any) -> Operation:
        return node(op, [self._reader_ref, *inputs], OUTPUTS.get(op, []), {}, name)


def _reader(op: str, name: str | None, **attrs: Any) -> Tensor | None:
    """Returns a new reader of the graph being built. None eagerly, which `ReaderBase` refuses."""
    if state.graph is None:
        return None
    return handle_node(op, {**attrs, "container": "", "shared_name": ""}, name).outputs[0]


# ---- kinds -----------------------------------------------------------------------------------------------------------


class TextLineReader(ReaderBase):
    """Gives the lines of text files, by keys `file:line`.

    Args:
        skip_header_lines: the number of lines to skip at the beginning of each file.
        name: a string, the operation's name.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
        >>> _ = path.write_text("first\\nsecond\\n")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     files = tf.queue.FIFOQueue(10, tf.string, shapes=[[]])
        ...     key, line = tf.compat.v1.TextLineReader().read(files)
        ...     sess.run(files.enqueue(str(path)))
        ...     print(sess.run(line), sess.run(line))
        b'first' b'second'
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(_reader("TextLineReaderV2", name, skip_header_lines=skip_header_lines or 0))


class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files, by keys `file:place`.

    Args:
        name: a string, the operation's name.
        options: `tf.io.TFRecordOptions`, or a compression type.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/a.tfrecord"
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"one")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     files = tf.queue.FIFOQueue(10, tf.string, shapes=[[]])
        ...     key, record = tf.compat.v1.TFRecordReader().read(files)
        ...     sess.run(files.enqueue(path))
        ...     print(sess.run(record))
        b'one'
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(_reader("TFRecordReaderV2", name, compression_type=compression))


class WholeFileReader(ReaderBase):
    """Gives whole files, by their names.

    Args:
        name: a string, the operation's name.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
        >>> _ = path.write_text("all of it")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     files = tf.queue.FIFOQueue(10, tf.string, shapes=[[]])
        ...     key, content = tf.compat.v1.WholeFileReader().read(files)
        ...     sess.run(files.enqueue(str(path)))
        ...     print(sess.run(content))
        b'all of it'
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(_reader("WholeFileReaderV2", name), supports_serialize=True)


class IdentityReader(ReaderBase):
    """Returns the elements of the queue, as key and as record.

    Args:
        name: a string, the operation's name.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     work = tf.queue.FIFOQueue(10, tf.string, shapes=[[]])
        ...     key, record = tf.compat.v1.IdentityReader().read(work)
        ...     sess.run(work.enqueue("a"))
        ...     print(*sess.run([key, record]))
        b'a' b'a'
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(_reader("IdentityReaderV2", name), supports_serialize=True)


class FixedLengthRecordReader(ReaderBase):
    """Gives records of one length, by keys `file:number`.

    Args:
        record_bytes: the length.
        header_bytes, footer_bytes: the numbers of bytes to skip at the beginning and the end of each file.
        hop_bytes: how far apart records begin; by default their length.
        name: a string, the operation's name.
        encoding: "" or "ZLIB".

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a"
        >>> _ = path.write_text("aabbcc")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     files = tf.queue.FIFOQueue(10, tf.string, shapes=[[]])
        ...     key, record = tf.compat.v1.FixedLengthRecordReader(2).read(files)
        ...     sess.run(files.enqueue(str(path)))
        ...     print(sess.run(record), sess.run(record))
        b'aa' b'bb'
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        ref = _reader(
            "FixedLengthRecordReaderV2",
            name,
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
        )
        super().__init__(ref)
