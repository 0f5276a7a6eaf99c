"""Turns dumps of debug events on and off."""

from __future__ import annotations

import atexit
import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import detours, discard, listeners, state
from tapeflow.core.types.dtypes import as_dtype

if TYPE_CHECKING:
    from tapeflow.debugging.debug_dump import DebugEventsWriter


def enable_dump_debug_info(
    dump_root: str, tensor_debug_mode: str = "NO_TENSOR", circular_buffer_size: int = 1000,
    op_regex: str | None = None, tensor_dtypes: Sequence[Any] | Callable[[Any], bool] | None = None,
) -> DebugEventsWriter:  # fmt: skip
    """Writes what this thread computes to files that TensorFlow's debugger (tfdbg 2) reads.

    The files hold the eager ops and functions that run, the operations of functions that are traced from now on, the
    lines of the program that called them, their sources, and summaries of the results. These functions are not
    optimized. Constants in functions, strings and variants have no summaries.

    Args:
        dump_root: the folder of the files.
        tensor_debug_mode: the summaries of results. "NO_TENSOR": none; "CURT_HEALTH": whether there are infinities or
            NaNs; "CONCISE_HEALTH": how many; "FULL_HEALTH": how many, and how many negative, zero and positive
            numbers; "SHAPE": dtype and shape; "FULL_TENSOR": all elements.
        circular_buffer_size: how many of the latest executions wait for `FlushExecutionFiles`. With 0 or less,
            all are written.
        op_regex: only results of ops whose type it matches are summarized.
        tensor_dtypes: only results of these dtypes are summarized: a sequence, or a function of a dtype.

    Returns:
        The writer, with `FlushNonExecutionFiles` and `FlushExecutionFiles`.

    Raises:
        NotImplementedError: the mode is not supported.
        ValueError: the mode is unknown, or another mode or size is set already.

    Example:
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> writer = tf.debugging.experimental.enable_dump_debug_info(folder, "FULL_HEALTH")
        >>> y = tf.math.log([1.0, 0.0])
        >>> writer.FlushExecutionFiles()
        >>> tf.debugging.experimental.disable_dump_debug_info()
        >>> sorted(name.split(".")[-1] for name in os.listdir(folder))
        ['execution', 'graph_execution_traces', 'graphs', 'metadata', 'source_files', 'stack_frames']
    """
    dumping: Any = importlib.import_module("tapeflow.debugging.debug_dump")
    if tensor_debug_mode in ("FULL_NUMERICS", "REDUCE_INF_NAN_THREE_SLOTS", "UNSPECIFIED"):
        raise NotImplementedError(
            f"tfdbg dumping: support for tensor debug mode {tensor_debug_mode} is not implemented yet"
        )
    if tensor_debug_mode not in dumping.MODES:
        raise ValueError(
            f"Invalid value in tensor_debug_mode ('{tensor_debug_mode}'). Valid options are: {list(dumping.MODES)}"
        )
    if tensor_dtypes is not None and not isinstance(tensor_dtypes, (list, tuple)) and not callable(tensor_dtypes):
        raise ValueError(
            "If specified, tensor_dtypes is expected to be a list, a tuple, or a callable that takes a DType argument "
            f"and returns a boolean, but received {tensor_dtypes}"
        )
    if not dump_root:
        raise ValueError("Empty or None dump root")
    asked = {"tensor-debug mode": tensor_debug_mode, "circular-buffer size": circular_buffer_size}
    current = _current_dumper()
    if current is not None:
        for what, value in asked.items():
            if current.options[what] != value:
                raise ValueError(
                    f"There is already a dumping callback configured with a different {what} "
                    f"({current.options[what]}). Therefore the newly requested {what} ({value}) is not honored."
                )
        if current.writer.dump_root == dump_root:
            return current.writer
        disable_dump_debug_info()
    if isinstance(tensor_dtypes, (list, tuple)):
        tensor_dtypes = {as_dtype(dtype) for dtype in tensor_dtypes}.__contains__
    writer = dumping.DebugEventsWriter(dump_root, circular_buffer_size)
    dumper = dumping.Dumper(writer, asked, op_regex, tensor_dtypes)
    importlib.import_module("tapeflow.debugging.inspected_functions").add_inspector(dumper)
    for registered in (state.tapes, listeners, detours):
        registered.append(dumper)
    atexit.register(writer.Close)
    return writer


def disable_dump_debug_info() -> None:
    """Ends the dump that `enable_dump_debug_info` began in this thread, and closes its files.

    Returns:
        None.

    Example:
        >>> tf.debugging.experimental.disable_dump_debug_info()
    """
    dumper = _current_dumper()
    if dumper is not None:
        importlib.import_module("tapeflow.debugging.inspected_functions").remove_inspector(dumper)
        for registered in (state.tapes, listeners, detours):
            discard(registered, dumper)
        atexit.unregister(dumper.writer.Close)
        dumper.writer.Close()


def _current_dumper() -> Any:
    """Returns what dumps in this thread, or None."""
    return next((tape for tape in state.tapes if hasattr(tape, "writer")), None)
