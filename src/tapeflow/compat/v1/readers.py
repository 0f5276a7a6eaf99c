"""Readers of TensorFlow 1: they take names of files from a queue, and give what is in the files record by record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from google.protobuf.message import DecodeError

from tapeflow import errors
from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import int64, resource, string
from tapeflow.core.held import boxed
from tapeflow.core.shape import TensorShape
from tapeflow.core.tensor import Tensor, invalid
from tapeflow.graph.operation import NodeOp, Operation
from tapeflow.io.records import TFRecordOptions, opened, read_records
from tapeflow.queue.held import held_here
from tapeflow.queue.storage import Storage
from tapeflow.train.protos import ReaderBaseState

Records = Iterator[tuple[bytes, bytes]]  # keys and values


class _Reading:
    """How far a reader of a session got.

    Args:
        records: gives the records of a piece of work, such as the name of a file.
        serializes: whether a piece of work is one record, so that a few numbers say how far it got.
    """

    def __init__(self, op: str, records: Callable[[bytes], Records], serializes: bool) -> None:
        self._op, self._records, self._serializes = op, records, serializes
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Begins anew."""
        with self._lock:
            self._started = self.finished = self.produced = 0
            self._work = b""
            self._current: Records | None = None

    def read(self, queue: Storage, most: int) -> list[tuple[bytes, bytes]]:
        """One record or more, all of one piece of work; the next piece comes from a queue.

        Raises:
            OutOfRangeError: the queue is closed and empty.
            InvalidArgumentError: it is no queue of strings.
        """
        if queue.dtypes != [string]:
            kinds = [d.name for d in queue.dtypes]
            raise invalid(f"A reader takes its work from a queue of one string component, not from one of {kinds}")
        with self._lock:
            while True:
                if self._current is None:
                    ((work,),) = queue.dequeue(1, 1)
                    self._work = work.item()
                    self._current = self._records(self._work)
                    self._started += 1
                found = [record for _, record in zip(range(most), self._current, strict=False)]
                self.produced += len(found)
                if found and not self._serializes:
                    return found
                self.finished += 1
                self._current = None
                if found:
                    return found

    def state(self) -> bytes:
        """How far it got.

        Raises:
            UnimplementedError: a few numbers do not say that.
        """
        self._check_serializes("SerializeState")
        with self._lock:
            message = ReaderBaseState(
                work_started=self._started,
                work_finished=self.finished,
                num_records_produced=self.produced,
                current_work=self._work,
            )
            return message.SerializeToString()

    def restore(self, text: bytes) -> None:
        """Goes on from a state.

        Raises:
            InvalidArgumentError: it is none.
        """
        self._check_serializes("RestoreState")
        try:
            message = ReaderBaseState.FromString(text)
        except DecodeError:
            raise invalid(f"Could not parse state for {self._op}: {text!r}") from None
        with self._lock:
            self._started, self.finished = message.work_started, message.work_finished
            self.produced, self._work, self._current = message.num_records_produced, message.current_work, None

    def _check_serializes(self, what: str) -> None:
        if not self._serializes:
            raise errors.UnimplementedError(None, None, f"Reader {what}")


def _node(
    op: str,
    kernel: Callable[..., Any],
    handles: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    name: str | None,
) -> Operation:
    """An operation whose kernel takes what handles hold, and raw values."""

    def run(*values: Any) -> Any:
        return kernel(*[handle[()] for handle in values[: len(handles)]], *values[len(handles) :])

    made = NodeOp(op, run, stateful=True, gives_tuple=True)
    return state.graph.node(made, [*handles, *inputs], outputs, name)


def _text_vector(texts: Sequence[bytes]) -> Any:
    return convert(list(texts), string).value


class ReaderBase:
    """What all readers have in common.

    Args:
        reader_ref: the reader, a scalar `tf.resource` tensor.
        supports_serialize: whether `serialize_state` is possible.

    Raises:
        RuntimeError: no graph is being built.
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
        """A scalar tensor that stands for the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether `serialize_state` is possible."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Sequence[Tensor]:
        """The next record.

        Args:
            queue: has the names of the files, strings.
            name: of the operation.

        Returns:
            Two string scalars, the record's key and the record.

        Raises:
            OutOfRangeError: when it runs: the queue is closed and empty, and so is the file.
        """

        def kernel(reading: _Reading, queue: Storage) -> Any:
            ((key, value),) = reading.read(queue, 1)
            return boxed(key), boxed(value)

        ref = getattr(queue, "queue_ref", queue)
        return _node("ReaderReadV2", kernel, [self._reader_ref, ref], [], [(string, [])] * 2, name).outputs

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Sequence[Tensor]:
        """The next records of a file, up to so many.

        Args:
            queue: has the names of the files, strings.
            num_records: how many at most, an int64 scalar.
            name: of the operation.

        Returns:
            Two string vectors, the records' keys and the records.

        Raises:
            OutOfRangeError: when it runs: the queue is closed and empty, and so is the file.
        """

        def kernel(reading: _Reading, queue: Storage, most: Any) -> Any:
            found = reading.read(queue, int(most))
            return _text_vector([key for key, _ in found]), _text_vector([value for _, value in found])

        ref = getattr(queue, "queue_ref", queue)
        handles, most = [self._reader_ref, ref], convert(num_records, int64)
        return _node("ReaderReadUpToV2", kernel, handles, [most], [(string, [None])] * 2, name).outputs

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records it gave, as an int64 scalar."""
        return self._number("ReaderNumRecordsProducedV2", lambda reading: reading.produced, name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files it has read to their ends, as an int64 scalar."""
        return self._number("ReaderNumWorkUnitsCompletedV2", lambda reading: reading.finished, name)

    def _number(self, op: str, count: Callable[[_Reading], int], name: str | None) -> Tensor:
        def kernel(reading: _Reading) -> Any:
            return (convert(count(reading), int64).value,)

        return _node(op, kernel, [self._reader_ref], [], [(int64, [])], name).outputs[0]

    def serialize_state(self, name: str | None = None) -> Tensor:
        """How far it got, as a string scalar.

        Raises:
            UnimplementedError: when it runs: the reader gives several records of a file.
        """

        def kernel(reading: _Reading) -> Any:
            return (boxed(reading.state()),)

        return _node("ReaderSerializeStateV2", kernel, [self._reader_ref], [], [(string, [])], name).outputs[0]

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """An operation that has it go on from a state.

        Args:
            state: what `serialize_state` gave.
            name: of the operation.
        """

        def kernel(reading: _Reading, text: Any) -> None:
            reading.restore(text.item())

        return _node("ReaderRestoreStateV2", kernel, [self._reader_ref], [convert(state, string)], [], name)

    def reset(self, name: str | None = None) -> Operation:
        """An operation that has it begin anew."""
        return _node("ReaderResetV2", _Reading.reset, [self._reader_ref], [], [], name)


def _made(
    op: str, records: Callable[[bytes], Records], name: str | None, serializes: bool = False, **attrs: Any
) -> Tensor | None:
    """A new reader of the graph being built: in each session its own. None eagerly, which `ReaderBase` refuses."""
    if state.graph is None:
        return None
    key: list[Any] = []

    def kernel() -> Any:
        return boxed(held_here((op, key[0]), lambda: _Reading(op, records, serializes)))

    made = NodeOp(op, kernel, stateful=True, attrs={**attrs, "container": "", "shared_name": ""})
    operation = state.graph.node(made, (), [(resource, TensorShape([]))], name)
    key.append(operation.name)
    return operation.outputs[0]


# ---- kinds -----------------------------------------------------------------------------------------------------------


class TextLineReader(ReaderBase):
    """Gives the lines of text files, by keys `file:line`.

    Args:
        skip_header_lines: how many lines at the beginning of each file to leave out.
        name: of the operation.

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
        skipped = skip_header_lines or 0

        def records(work: bytes) -> Records:
            with opened(work) as file:
                for number, line in enumerate(file, 1):
                    if number > skipped:
                        yield b"%s:%d" % (work, number), line.removesuffix(b"\n").replace(b"\r", b"")

        super().__init__(_made("TextLineReaderV2", records, name, skip_header_lines=skipped))


class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files, by keys `file:place`.

    Args:
        name: of the operation.
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

        def records(work: bytes) -> Records:
            place = 0
            for record in read_records(work, compression):
                yield b"%s:%d" % (work, place), record
                place += len(record) + 16  # the length and two checksums

        super().__init__(_made("TFRecordReaderV2", records, name, compression_type=compression))


class WholeFileReader(ReaderBase):
    """Gives whole files, by their names.

    Args:
        name: of the operation.

    Raises:
        RuntimeError: no graph is being built.
    """

    def __init__(self, name: str | None = None) -> None:
        def records(work: bytes) -> Records:
            with opened(work) as file:
                yield work, file.read()

        super().__init__(_made("WholeFileReaderV2", records, name, serializes=True), supports_serialize=True)


class IdentityReader(ReaderBase):
    """Gives what is in the queue, as key and as record.

    Args:
        name: of the operation.

    Raises:
        RuntimeError: no graph is being built.
    """

    def __init__(self, name: str | None = None) -> None:
        def records(work: bytes) -> Records:
            yield work, work

        super().__init__(_made("IdentityReaderV2", records, name, serializes=True), supports_serialize=True)


class FixedLengthRecordReader(ReaderBase):
    """Gives records of one length, by keys `file:number`.

    Args:
        record_bytes: the length.
        header_bytes, footer_bytes: how many bytes at the beginning and the end of each file to leave out.
        hop_bytes: how far apart records begin; by default their length.
        name: of the operation.
        encoding: "" or "ZLIB".

    Raises:
        RuntimeError: no graph is being built.
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
        before, after, hop = header_bytes or 0, footer_bytes or 0, hop_bytes or record_bytes

        def records(work: bytes) -> Records:
            with opened(work, encoding or "") as file:
                data = file.read()
            for number, begin in enumerate(range(before, len(data) - after - record_bytes + 1, hop)):
                yield b"%s:%d" % (work, number), data[begin : begin + record_bytes]

        ref = _made(
            "FixedLengthRecordReaderV2",
            records,
            name,
            record_bytes=record_bytes,
            header_bytes=before,
            footer_bytes=after,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
        )
        super().__init__(ref)
