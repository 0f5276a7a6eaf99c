"""Settings: logs of the devices of ops, and the filter of tracebacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.autodiff.tape import EVERYTHING, Call
from tapeflow.core.context import discard, listeners, state
from tapeflow.core.logger import get_logger
from tapeflow.core.settings import settings
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable

if TYPE_CHECKING:
    from tapeflow.core.ops.op import RegisteredOp
    from tapeflow.graph.ir.operation import GraphOp


class _PlacementLog:
    """Listens to the ops of a thread, as a tape does, and logs the device of each."""

    seen = EVERYTHING

    def __init__(self) -> None:
        self._graphs: set[Any] = set()  # of the functions whose operations were logged

    def variable_read(self, variable: Variable, read: int) -> None:
        """Does nothing: a read runs no kernel."""

    def record(
        self, op: Call | RegisteredOp, inputs: Sequence[Tensor], attrs: tuple[Any, ...], outputs: Sequence[Tensor]
    ) -> None:
        if outputs:
            get_logger().warning("Executing op %s in device %s", executed_name(op), outputs[0].device)
            self._log_operations(op, outputs[0].device)

    def _log_operations(self, op: Call | GraphOp | RegisteredOp, device: str) -> None:
        """Logs the operations of a function, and of the functions that it calls, at its first call.

        Args:
            op: the op of a call, or another one.
            device: the device of the call, which is that of all operations without another one.
        """
        bodies = [getattr(op, "body", None), *getattr(op, "bodies", {}).values()]
        for body in bodies:
            if body is None or body.graph in self._graphs:
                continue
            self._graphs.add(body.graph)
            for operation in body.graph.get_operations():
                place = operation.device or device
                get_logger().warning("%s: (%s): %s", operation.name, operation.type, place)
                self._log_operations(operation.op, place)


def executed_name(op: Any) -> str:
    """Returns TensorFlow's name of an op that was executed. That of a function contains the function's name."""
    body = getattr(op, "body", None)
    return str(op.name) if body is None else f"__inference_{body.graph.name}"


def get_log_device_placement() -> bool:
    """Returns True if each op logs the device it ran on.

    Returns:
        True or False.

    Example:
        >>> tf.debugging.get_log_device_placement()
        False
    """
    return settings.log_device_placement


def set_log_device_placement(enabled: bool) -> None:
    """Makes each op of this thread log the device it ran on, to the logger "tensorflow", as TensorFlow does.

    The first call of a function logs each of its operations too.

    Args:
        enabled: True or False.

    Returns:
        None.

    Example:
        >>> tf.debugging.set_log_device_placement(True)
        >>> tf.debugging.get_log_device_placement()
        True
        >>> tf.debugging.set_log_device_placement(False)
    """
    settings.log_device_placement = bool(enabled)
    for log in [t for t in state.tapes if isinstance(t, _PlacementLog)]:
        discard(state.tapes, log)
        discard(listeners, log)
    if enabled:
        log = _PlacementLog()
        state.tapes.append(log)
        listeners.append(log)


def enable_traceback_filtering() -> None:
    """Turns the filter on that removes the library's frames from tracebacks. It is on by default.

    Returns:
        None.

    Example:
        >>> tf.debugging.enable_traceback_filtering()
        >>> tf.debugging.is_traceback_filtering_enabled()
        True
    """
    settings.traceback_filtering = True


def disable_traceback_filtering() -> None:
    """Turns the filter off that removes the library's frames from tracebacks.

    Returns:
        None.

    Example:
        >>> tf.debugging.disable_traceback_filtering()
        >>> tf.debugging.is_traceback_filtering_enabled()
        False
        >>> tf.debugging.enable_traceback_filtering()
    """
    settings.traceback_filtering = False


def is_traceback_filtering_enabled() -> bool:
    """Returns True if the filter of tracebacks is on, see `enable_traceback_filtering`.

    Returns:
        True or False.

    Example:
        >>> tf.debugging.is_traceback_filtering_enabled()
        True
    """
    return settings.traceback_filtering
