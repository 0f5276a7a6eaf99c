"""How far a reader got: it takes pieces of work from a queue, such as names of files, and gives their records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from tapeflow.core import errors
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import invalid
from tapeflow.io.records import opened, read_records
from tapeflow.queue.storage import Storage
from tapeflow.train.protos import ReaderBaseState

Records = Iterator[tuple[bytes, bytes]]  # keys and values
_FRAME = 16  # bytes beside a TFRecord's own: its length and two checksums

# ---- kinds -----------------------------------------------------------------------------------------------------------


def _lines(work: bytes, attrs: Mapping[str, Any]) -> Records:
    with opened(work) as file:
        for number, line in enumerate(file, 1):
            if number > attrs["skip_header_lines"]:
                yield b"%s:%d" % (work, number), line.removesuffix(b"\n").replace(b"\r", b"")


def _tf_records(work: bytes, attrs: Mapping[str, Any]) -> Records:
    place = 0
    for record in read_records(work, attrs["compression_type"]):
        yield b"%s:%d" % (work, place), record
        place += len(record) + _FRAME


def _whole_file(work: bytes, attrs: Mapping[str, Any]) -> Records:
    with opened(work) as file:
        yield work, file.read()


def _work_itself(work: bytes, attrs: Mapping[str, Any]) -> Records:
    yield work, work


def _of_one_length(work: bytes, attrs: Mapping[str, Any]) -> Records:
    length = attrs["record_bytes"]
    with opened(work, attrs["encoding"]) as file:
        data = file.read()
    last = len(data) - attrs["footer_bytes"] - length
    for number, begin in enumerate(range(attrs["header_bytes"], last + 1, attrs["hop_bytes"] or length)):
        yield b"%s:%d" % (work, number), data[begin : begin + length]


RECORDS: dict[str, Callable[[bytes, Mapping[str, Any]], Records]] = {
    "TextLineReaderV2": _lines,
    "TFRecordReaderV2": _tf_records,
    "WholeFileReaderV2": _whole_file,
    "IdentityReaderV2": _work_itself,
    "FixedLengthRecordReaderV2": _of_one_length,
}
_ONE_RECORD = frozenset({"WholeFileReaderV2", "IdentityReaderV2"})  # of a piece of work


class Reading:
    """A reader of a session.

    Args:
        op: its kind.
        attrs: of the op.

    Attributes:
        produced: how many records it gave.
        finished: how many pieces of work it has read to their ends.
    """

    def __init__(self, op: str, attrs: Mapping[str, Any]) -> None:
        self._op, self._attrs = op, attrs
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Begins anew."""
        with self._lock:
            self._started = self.finished = self.produced = 0
            self._work = b""
            self._current: Records | None = None

    def read(self, queue: Storage, most: int) -> list[tuple[bytes, bytes]]:
        """One record or more, all of one piece of work.

        Args:
            queue: where the next piece comes from.
            most: how many records at most.

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
                found = [record for _, record in zip(range(most), self._current, strict=False)]
                self.produced += len(found)
                if not found or self._op in _ONE_RECORD:
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
        if self._op not in _ONE_RECORD:
            raise errors.UnimplementedError(None, None, f"Reader {what}")
