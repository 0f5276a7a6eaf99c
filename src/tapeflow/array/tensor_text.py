"""`tf.print`: writes tensors and Python values, shortening long tensors."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.os_errors import translate_os_errors
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import python_op

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_FILE = "file://"
_MARK = re.compile("\0(\\d+)\0")  # stands for a tensor until all have been ordered


def print(*inputs: Any, **kwargs: Any) -> Operation | None:
    """Prints values; of a tensor, the first and last elements of each dimension.

    Args:
        *inputs: tensors, Python values, and nests of them.
        **kwargs: the keyword arguments that follow.
        output_stream: `sys.stderr` (the default), `sys.stdout`, another open text file, a logging function or level, or
            `"file://<path>"` to append to a file.
        summarize: the number of elements to print at the beginning and at the end of each dimension; 3 by default, -1
            for all.
        sep: the text between the values; a space by default.
        end: the text after the last value; a newline by default.
        name: ignored.

    Returns:
        In a graph, the operation that prints; eagerly None.

    Raises:
        ValueError: an argument or the stream is unknown.

    Example:
        >>> import sys
        >>> tf.print("x:", tf.range(10), output_stream=sys.stdout)
        x: [0 1 2 ... 7 8 9]
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    summarize = kwargs.pop("summarize", None)
    summarize = 3 if summarize is None else summarize
    end, separator = kwargs.pop("end", "\n"), kwargs.pop("sep", " ")
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    if state.graph is not None:
        return _print_in_graph(inputs, stream, summarize, end, separator)
    edge = None if summarize < 0 else summarize
    if len(inputs) == 1 and isinstance(inputs[0], Tensor) and inputs[0].dtype is string and not inputs[0].shape.rank:
        text = inputs[0].numpy().decode("utf-8", "surrogateescape")  # without quotes, as a Python string is
    else:
        text = separator.join([_format_top(v, edge, tensor_text) for v in inputs])
    _write_text(text, end, stream)
    return None


def _print_in_graph(inputs: tuple[Tensor | str, ...], stream: Any, summarize: int, end: str, separator: str) -> Any:
    """Adds the printing to the graph that this thread builds."""
    target = _name_of(stream)
    leaves = nest.flatten(inputs)
    if target is None or any(hasattr(v, "ragged_rank") for v in leaves):
        return _as_python(inputs, stream, summarize, end, separator)
    if len(leaves) == 1 and leaves[0] is inputs[0] and _is_text(leaves[0]):
        text = leaves[0]
    else:
        text = _print_template(inputs, max(summarize, -1), separator)

    def write(value: Tensor) -> None:
        _write_text(value.numpy().decode("utf-8", "surrogateescape"), end, stream)

    return python_op("PrintV2", write, [text], attrs={"output_stream": target, "end": end}, diagnostic=True)


def _is_text(value: object) -> bool:
    return isinstance(value, Tensor) and value.dtype is string and value.shape.rank == 0


def _print_template(inputs: tuple[Tensor | str, ...], summarize: int, separator: str) -> Tensor:
    """Returns the text of values, as an operation that puts tensors in the place of placeholders."""
    tensors: list[Any] = []

    def mark(tensor: Tensor, _: Any) -> str:
        tensors.append(convert(tensor))
        return f"\0{len(tensors) - 1}\0"

    text = separator.join([_format_top(v, None, mark) for v in inputs])
    order = [int(place) for place in _MARK.findall(text)]  # a dict prints in another order than its sorted keys
    placeholder = "{}"
    while placeholder in text:
        placeholder = f"{{{len(placeholder)}{placeholder[1:]}"
    template = _MARK.sub(lambda _: placeholder, text)
    return ops.StringFormat([tensors[i] for i in order], template, placeholder, summarize)


def _as_python(inputs: Sequence[Any], stream: Any, summarize: Any, end: str, separator: str) -> Any:
    """Adds the printing as a call of Python, for options that no attribute of an operation expresses."""
    leaves = nest.flatten(inputs, expand_composites=True)
    places = [i for i, v in enumerate(leaves) if isinstance(v, (Tensor, ReadAsTensor))]

    def write(*values: Any) -> None:
        filled = list(leaves)
        for i, value in zip(places, values, strict=True):
            filled[i] = value
        shown = nest.pack_sequence_as(inputs, filled, expand_composites=True)
        print(*shown, output_stream=stream, summarize=summarize, end=end, sep=separator)

    return python_op("PrintV2", write, [leaves[i] for i in places], diagnostic=True)


_LEVELS = {level: level for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)}
_LEVELS |= {0: logging.INFO, -1: logging.WARNING, -2: logging.ERROR}  # as `absl.logging` counts them


_LOGS = {"log(info)": logging.INFO, "log(warning)": logging.WARNING, "log(error)": logging.ERROR}


def _name_of(stream: object) -> str | None:
    """Returns the name that an operation has for a stream, or None."""
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    if isinstance(stream, str) and stream.startswith(_FILE):
        return stream
    level = _LEVELS.get(stream) if isinstance(stream, int) else None
    return next((name for name, number in _LOGS.items() if number == level), None)


def stream_of(name: str) -> Any:
    """Returns the stream for the name that an operation has for it, as `tf.print` takes it; None if it has none."""
    streams = {"stdout": sys.stdout, "stderr": sys.stderr, **_LOGS}
    return streams.get(name, name if name.startswith(_FILE) else None)


def printable(text: str) -> str:
    """Returns a text with bytes that are not UTF-8 in hexadecimal digits, for streams and messages."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _write_text(text: str, end: str, stream: Any) -> None:
    text = printable(text)
    if isinstance(stream, str) and stream.startswith(_FILE):
        path = stream[len(_FILE) :]
        with translate_os_errors(path), open(path, "a") as file:
            file.write(text + end)
    elif hasattr(stream, "write"):
        stream.write(text + end)
        stream.flush()
    elif isinstance(stream, int) and stream in _LEVELS:
        get_logger().log(_LEVELS[stream], text)
    elif callable(stream):
        stream(text)
    else:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
            "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of "
            "'file://<filepath>'."
        )


def _format_top(value: Tensor | str, edge: int | None, of_tensor: Callable[[Any, int | None], str]) -> str:
    return value if isinstance(value, str) else _format_value(value, edge, of_tensor)


def _format_value(value: Tensor, edge: int | None, of_tensor: Callable[[Any, int | None], str]) -> str:
    """Returns the text of a value inside of a nest: tensors in TensorFlow's notation, all else as Python writes it."""
    if isinstance(value, (Tensor, ReadAsTensor)):
        return of_tensor(value, edge)
    if isinstance(value, CompositeTensor):
        return _format_composite(value, edge, of_tensor)
    if nest.is_nested(value):
        shown = [_Verbatim(_format_value(v, edge, of_tensor)) for v in nest.flatten(value)]
        return repr(nest.pack_sequence_as(value, shown))
    return repr(value)


class _Verbatim:
    """A text that appears in a nest without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _format_composite(value: Any, edge: int | None, of_tensor: Callable[[Any, int | None], str]) -> str:
    if hasattr(value, "ragged_rank"):
        from tapeflow.ragged.text import text_of

        return text_of(value, edge).numpy().decode("utf-8", "surrogateescape")
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        parts = (value.indices, value.values, value.dense_shape)
        # In quotes, as TensorFlow prints it.
        shown = [of_tensor(p, edge) if isinstance(p, Tensor) else repr(p) for p in parts]
        return f"'{type(value).__name__}(indices={shown[0]}, values={shown[1]}, shape={shown[2]})'"
    return repr(value)


def tensor_text(value: Tensor | Variable, edge: int | None = 3) -> str:
    """Returns the text of a tensor in the notation of `tf.print`. Bytes that are not UTF-8 are surrogates."""
    tensor = value._read() if isinstance(value, ReadAsTensor) else value
    return _format_array(tensor._array(), tensor.dtype, edge, 0)


def _format_array(array: np.ndarray, dtype: DType, edge: int | None, depth: int) -> str:
    if not isinstance(array, np.ndarray):  # an element, as iterating gives it
        return element_text(array, dtype)
    if array.ndim == 0:
        return element_text(array[()], dtype)
    length = len(array)
    if edge is None or length <= 2 * edge:
        parts = [_format_array(part, dtype, edge, depth + 1) for part in array]
    else:
        first = [_format_array(part, dtype, edge, depth + 1) for part in array[:edge]]
        last = [_format_array(part, dtype, edge, depth + 1) for part in array[length - edge :]]
        parts = [*first, "...", *last]
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{between.join(parts)}]"


def element_text(value: Any, dtype: DType) -> str:
    """Returns the text of one element: a number with 6 or 9 digits (15 or 17 in float64), as few as identify it."""
    if dtype.is_bool:
        return str(int(value))
    if dtype.is_floating:
        return _format_number(float(value), dtype.size == 8)
    if dtype.is_complex:
        return "?"  # TensorFlow writes no complex numbers either
    return f'"{escape_bytes(value)}"' if isinstance(value, bytes) else str(value)


def _format_number(value: float, wide: bool) -> str:
    if value != value:
        return "nan"
    short = f"{value:.15g}" if wide else f"{value:.6g}"
    same = float(short) == value if wide else np.float32(short) == np.float32(value)
    return short if same else f"{value:.17g}" if wide else f"{value:.9g}"


def escape_bytes(value: bytes) -> str:
    """Escapes the ASCII characters of a string like in C."""
    text = value.decode("utf-8", "surrogateescape")
    return "".join([_ESCAPES.get(c) or (f"\\{ord(c):03o}" if c.isascii() and not c.isprintable() else c) for c in text])
