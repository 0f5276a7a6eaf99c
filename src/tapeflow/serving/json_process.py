"""The process that reads and writes large JSON for a server.

While Python decodes JSON, and while it frees long lists, no other thread runs. In a process of its own, that delays
nobody. The server calls functions there: values go through pipes as pickles, and the memory of arrays beside them.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Any

from tapeflow.core.values.strings import StringArray
from tapeflow.serving.json_values import BadRequest

_COUNT = struct.Struct("<Q")


class JsonProcess:
    """Calls functions in another process, one at a time.

    The process starts at the first call, and again after it has failed. It ends with the server, or by `close`.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Returns the process; starts it if none runs."""
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
            )
        return self._process

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Returns the result of a function of a module for some arguments.

        Raises:
            BadRequest: the function raised it, or the process has ended.
        """
        process = self.start()
        try:
            _send_value(process.stdin, (function, [_out_of_band(arg) for arg in args]))
            has_result, value = _receive_value(process.stdout)
        except BaseException as error:  # the pipes may be anywhere in a message
            self.close()
            if isinstance(error, (OSError, EOFError)):
                raise BadRequest("The server has not enough memory for this request.", 429) from error
            raise
        if has_result:
            return value
        raise value

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                pipe.close()  # type: ignore[union-attr]


def _out_of_band(value: Any) -> Any:
    """Returns bytes as a buffer, which is not copied into the pickle."""
    return pickle.PickleBuffer(value) if isinstance(value, bytes) else value


class _Pickler(pickle.Pickler):
    """Pickles strings as two arrays."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is StringArray:
            return StringArray, (value.buffer, value.offsets, value.shape)
        return NotImplemented


def _send_value(pipe: Any, value: Any) -> None:
    buffers: list[pickle.PickleBuffer] = []
    head = io.BytesIO()
    _Pickler(head, 5, buffer_callback=buffers.append).dump(value)
    parts = [head.getbuffer(), *[buffer.raw() for buffer in buffers]]
    pipe.write(_COUNT.pack(len(parts)))
    for part in parts:
        pipe.write(_COUNT.pack(len(part)))
        pipe.write(part)
    pipe.flush()


def _receive_value(pipe: Any) -> Any:
    parts = [_read_exactly(pipe, _read_count(pipe)) for _ in range(_read_count(pipe))]
    return pickle.loads(parts[0], buffers=parts[1:])


def _read_count(pipe: IO[bytes]) -> int:
    return _COUNT.unpack(_read_exactly(pipe, _COUNT.size))[0]


def _read_exactly(pipe: Any, count: int) -> bytearray:
    buffer = bytearray(count)
    if pipe.readinto(buffer) < count:
        raise EOFError("The other process has ended.")
    return buffer


def main() -> None:
    """Calls functions for the process that started this one, until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the server, too
    calls, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    gc.disable()  # nested lists are many objects, and have no cycles
    while True:
        try:
            function, args = _receive_value(calls)
        except EOFError:
            return
        answer: tuple[bool, Any]
        try:
            answer = True, _out_of_band(function(*args))
        except MemoryError:
            answer = False, BadRequest("The server has not enough memory for this request.", 429)
        except Exception as error:  # the server answers it
            answer = False, error
        del args
        _send_value(results, answer)


if __name__ == "__main__":
    main()
