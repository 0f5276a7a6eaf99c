"""Parsing strings with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tapeflow import io
from tapeflow.core.types.aliases import DTypeLike
from tapeflow_compat.compat.v1.aliases import either


def decode_raw(
    input_bytes: Any = None,
    out_type: DTypeLike = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Any:
    """Returns the numbers whose bytes are the characters of strings, see `tf.io.decode_raw`.

    Args:
        input_bytes: the strings; `bytes` is their old name.
        out_type: the dtype of the numbers.
        little_endian: the order of the bytes of a number.

    Raises:
        ValueError: the strings or the dtype are missing, or the strings are passed twice.

    Example:
        >>> tf.compat.v1.decode_raw("ab", tf.uint8).numpy().tolist()
        [97, 98]
    """
    input_bytes = either("input_bytes", input_bytes, "bytes", bytes)
    for label, value in (("out_type", out_type), ("input_bytes", input_bytes)):
        if value is None:
            raise ValueError(f"decode_raw_v1() missing 1 positional argument: '{label}'")
    return io.decode_raw(input_bytes, out_type, little_endian, name=name)
