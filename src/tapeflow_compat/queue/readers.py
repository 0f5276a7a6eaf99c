"""Readers: they take pieces of work from a queue, such as names of files, and return their records."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from tapeflow.core import errors
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.protos import ReaderBaseState
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import invalid
from tapeflow.io.records import open_records, read_records
from tapeflow_compat.queue.storage import QueueStorage

Records = Iterator[tuple[bytes, bytes]]  # keys and values
_FRAME = 16  # bytes beside a TFRecord's own: its length and two checksums

# ---- kinds -----------------------------------------------------------------------------------------------------------


def _lines(work: bytes, attrs: Mapping[str, Any]) -> Records:
    with open_records(work) as file:
        for number, line in enumerate(file, 1):
            if number > attrs["skip_header_lines"]:
                yield b"%s:%d" % (work, number), line.removesuffix(b"\n").replace(b"\r", b"")


def _tf_records(work: bytes, attrs: Mapping[str, Any]) -> Records:
    offset = 0
    for record in read_records(work, attrs["compression_type"]):
        yield b"%s:%d" % (work, offset), record
        offset += len(record) + _FRAME


def _whole_file(work: bytes, attrs: Mapping[str, Any]) -> Records:
    with open_records(work) as file:
        yield work, file.read()


def _identity(work: bytes, attrs: Mapping[str, Any]) -> Records:
    yield work, work


def _fixed_length(work: bytes, attrs: Mapping[str, Any]) -> Records:
    length = attrs["record_bytes"]
    with open_records(work, attrs["encoding"]) as file:
        data = file.read()
    last = len(data) - attrs["footer_bytes"] - length
    for number, begin in enumerate(range(attrs["header_bytes"], last + 1, attrs["hop_bytes"] or length)):
        yield b"%s:%d" % (work, number), data[begin : begin + length]


RECORDS: dict[str, Callable[[bytes, Mapping[str, Any]], Records]] = {
    "TextLineReaderV2": _lines,
    "TFRecordReaderV2": _tf_records,
    "WholeFileReaderV2": _whole_file,
    "IdentityReaderV2": _identity,
    "FixedLengthRecordReaderV2": _fixed_length,
}
_ONE_RECORD = frozenset({"WholeFileReaderV2", "IdentityReaderV2"})  # of a piece of work


class Reading:
    """The state of a reader in a session.

    Args:
        op: its kind.
        attrs: of the op.

    Attributes:
        produced: the number of records that it returned.
        finished: the number of pieces of work that it has read to their ends.
    """

    def __init__(self, op: str, attrs: Mapping[str, Any]) -> None:
        self._op, self._attrs = op, attrs
        self._lock = new_lock()
        self.reset()

    def reset(self) -> None:
        """Resets the state to the state of a new reader."""
        with self._lock:
            self._started = self.finished = self.produced = 0
            self._work = b""
            self._current: Records | None = None

    def read(self, queue: QueueStorage, most: int) -> list[tuple[bytes, bytes]]:
        """Reads one record or more, all of one piece of work.

        Args:
            queue: the source of the next piece.
            most: the greatest number of records.

        Returns:
            The keys and values of the records.

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
                    self._current = RECORDS[self._op](self._work, self._attrs)
                    self._started += 1
                records = list(itertools.islice(self._current, max(most, 0)))
                self.produced += len(records)
                if not records or self._op in _ONE_RECORD:
                    self.finished += 1
                    self._current = None
                if records:
                    return records

    def state(self) -> bytes:
        """Returns the state as a serialized `ReaderBaseState`.

        Raises:
            UnimplementedError: the position in a file is no part of that message.
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
        """Sets the state.

        Args:
            text: a serialized `ReaderBaseState`.

        Raises:
            InvalidArgumentError: it is no such message.
        """
        self._check_serializes("RestoreState")
        try:
            message = ReaderBaseState.FromString(text)
        except DecodeError:
            raise invalid(f"Could not parse state for {self._op}: {text!r}") from None
        with self._lock:
            self._started, self.finished = message.work_started, message.work_finished
            self.produced, self._work, self._current = message.num_records_produced, message.current_work, None

    def _check_serializes(self, method: str) -> None:
        if self._op not in _ONE_RECORD:
            raise errors.UnimplementedError.of(f"Reader {method}")
