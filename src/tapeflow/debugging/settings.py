"""Whether ops log where they run, and whether tracebacks are filtered."""

from __future__ import annotations

import logging
from typing import Any

from tapeflow.core.autodiff.tape import EVERYTHING
from tapeflow.core.context import discard, listeners, state
from tapeflow.core.settings import settings

_logger = logging.getLogger("tensorflow")


class _PlacementLog:
    """Listens to the ops of a thread, as a tape does, and logs where each ran."""

    seen = EVERYTHING

    def variable_read(self, variable: Any, read: int) -> None:
        """Reading runs no kernel."""

    def record(self, op: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        if outputs:
            _logger.warning("Executing op %s in device %s", op.name, outputs[0].device)


def get_log_device_placement() -> bool:
    """Returns whether each op logs the device it ran on.

    Example:
        >>> tf.debugging.get_log_device_placement()
        False
    """
    return settings.log_device_placement


def set_log_device_placement(enabled: bool) -> None:
    """Makes each op of this thread log the device it ran on, to the logger "tensorflow", as TensorFlow does.

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
    """Asks for tracebacks without the library's own frames. An op here is one frame deep: there is little to hide.

    Example:
        >>> tf.debugging.enable_traceback_filtering()
        >>> tf.debugging.is_traceback_filtering_enabled()
        True
    """
    settings.traceback_filtering = True


def disable_traceback_filtering() -> None:
    """Asks for tracebacks with all frames.

    Example:
        >>> tf.debugging.disable_traceback_filtering()
        >>> tf.debugging.is_traceback_filtering_enabled()
        False
        >>> tf.debugging.enable_traceback_filtering()
    """
    settings.traceback_filtering = False


def is_traceback_filtering_enabled() -> bool:
    """What was asked for with `enable_traceback_filtering` and `disable_traceback_filtering`.

    Example:
        >>> tf.debugging.is_traceback_filtering_enabled()
        True
    """
    return settings.traceback_filtering
