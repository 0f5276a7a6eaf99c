"""Messages between the tasks of a cluster, by gRPC: calls of methods, with values as TensorFlow's protobufs.

A value is a `StructuredValue`: Python values, specs, lists, tuples and dicts, and tensors as `TensorProto`. Nothing
else is sent or read, and no code. An error that a method raises comes back as a value; every error of gRPC itself means
that the other task can't be reached, or was not written for this.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tapeflow.array.protos import make_tensor_proto, tensor_of_proto
from tapeflow.core import errors
from tapeflow.core.types.spec_proto import from_proto, to_proto

_SERVICE = "tapeflow.Task"
_THREADS = 64  # the number of calls that a task answers at the same time
# A task that does not answer for so long is gone, also where its connection is open: it was stopped, or cut off.
_SILENCE_MS = 20_000
_MOST_SECONDS_TO_END = 5.0
OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.keepalive_time_ms", _SILENCE_MS // 2),
    ("grpc.keepalive_timeout_ms", _SILENCE_MS // 2),
    ("grpc.http2.ping_timeout_ms", _SILENCE_MS // 2),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", _SILENCE_MS // 4),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", _SILENCE_MS // 4),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.so_reuseport", 0),
    ("grpc.enable_http_proxy", 0),
]


class TaskUnavailableError(errors.UnavailableError):
    """A task of the cluster can't be reached: its process ended, or hangs, or is cut off."""


def to_bytes(value: Any) -> bytes:
    """Returns a value as a message.

    Raises:
        ValueError, TypeError: it holds something that is not sent.
    """
    return to_proto(value, make_tensor_proto).SerializeToString()


def from_bytes(data: bytes) -> Any:
    """Returns the value of a message; bytes as a tensor.

    Raises:
        ValueError, TypeError: it holds something that is not sent.
    """
    from tensorboard.compat.proto import struct_pb2

    return from_proto(struct_pb2.StructuredValue.FromString(data), tensor_of_proto)


class Client:
    """The calls of another task.

    Args:
        address: its address.
        task: its name, for messages.
    """

    def __init__(self, address: str, task: str) -> None:
        import grpc  # here, as it takes a while to load

        self.address, self.task = address, task
        self._channel = grpc.insecure_channel(address, OPTIONS)
        self._failure = grpc.RpcError

    def call(self, method: str, *args: Any, timeout: float | None = None, wait: bool = False) -> Any:
        """Calls a method of the task.

        Args:
            method: the method's name.
            *args: its arguments.
            timeout: the time after which the call fails, in seconds; None for no such time.
            wait: whether to wait for the task to come up, rather than fail at once.

        Returns:
            What the method returns.

        Raises:
            OpError: the method raised it.
            TaskUnavailableError: the task can't be reached.
            UnknownError: the method raised another error, which the task has logged.
        """
        call = self._channel.unary_unary(f"/{_SERVICE}/{method}")
        try:
            status, value = from_bytes(call(to_bytes(list(args)), timeout=timeout, wait_for_ready=wait))
        except self._failure as error:
            raise self._error(method, error) from None
        if status:
            raise errors.exception_type_from_error_code(status).of(value)
        return value

    def close(self) -> None:
        """Ends the calls under way, with an error, and refuses others."""
        self._channel.close()

    def _error(self, method: str, error: Any) -> errors.OpError:
        import grpc

        details = f"{error.code().name}: {error.details()}"
        if error.code() in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNIMPLEMENTED):
            return errors.UnknownError.of(f"{self.task} at {self.address} failed in '{method}' ({details})")
        return TaskUnavailableError.of(f"{self.task} at {self.address} can't be reached ({details})")


@functools.cache
def client_of(address: str, task: str) -> Client:
    """Returns the client for a task: one for each process."""
    return Client(address, task)


class Endpoint:
    """The methods that other tasks call.

    Args:
        address: the address, whose port may be 0 for a free one; only those of loopback are reached from there alone.
        methods: the methods, by their names.
        threads: the number of calls that are answered at the same time.

    Attributes:
        address: the address, with the port that it has.

    Raises:
        UnknownError: another process uses the port.
    """

    def __init__(self, address: str, methods: Mapping[str, Callable[..., Any]], threads: int = _THREADS) -> None:
        import grpc

        handlers = {name: grpc.unary_unary_rpc_method_handler(_answering_method(m)) for name, m in methods.items()}
        self._server = grpc.server(ThreadPoolExecutor(threads, "tapeflow-task"), options=OPTIONS)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
        host, _, port = address.rpartition(":")
        try:
            number = self._server.add_insecure_port(address if is_loopback(host) else f"[::]:{port}")
        except RuntimeError as error:
            raise errors.UnknownError.of(f"Could not start the server at {address}: {error}") from error
        self.address = f"{host}:{number}"

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()

    def wait(self) -> None:
        """Waits until `end` is called, or the process ended."""
        self._server.wait_for_termination()

    def end(self) -> None:
        """Stops, and waits until gRPC's threads have ended: one that the interpreter has to kill aborts the process."""
        self._server.stop(grace=None).wait(_MOST_SECONDS_TO_END)


def _answering_method(method: Callable[..., Any]) -> Callable[[bytes, Any], bytes]:
    def answer(request: bytes, context: Any) -> bytes:
        try:
            return to_bytes((0, method(*from_bytes(request))))
        except errors.OpError as error:
            return to_bytes((error.error_code, error.message))

    return answer


def is_loopback(host: str) -> bool:
    """Returns True if a host's name or address is a loopback address."""
    return host.strip("[]") in ("localhost", "::1") or host.startswith("127.")
