"""Conversions of texts, numbers and dimensions between versions of Python and TensorFlow."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

from tapeflow.core.types.dimension import Dimension
from tapeflow.core.types.shape import TensorShape

integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Returns the bytes of a text.

    Raises:
        TypeError: it is neither `bytes` nor `str`.

    Example:
        >>> tf.compat.as_bytes("text")
        b'text'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Returns the text in bytes.

    Raises:
        TypeError: it is neither `bytes` nor `str`.

    Example:
        >>> tf.compat.as_text(b"text")
        'text'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Returns the text in bytes, and `str(value)` of anything else.

    Example:
        >>> tf.compat.as_str_any(b"text"), tf.compat.as_str_any(3)
        ('text', '3')
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: str | os.PathLike) -> Any:
    """Returns the text of a path; anything else is returned unchanged.

    Example:
        >>> import pathlib
        >>> tf.compat.path_to_str(pathlib.PurePosixPath("a/b"))
        'a/b'
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def dimension_value(dimension: Any) -> int | None:
    """Returns the number of a dimension.

    Example:
        >>> tf.compat.dimension_value(tf.TensorShape([3, None])[0])
        3
    """
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape: TensorShape, index: int) -> Any:
    """Returns one dimension of a shape, as a `tf.compat.v1.Dimension`.

    Example:
        >>> tf.compat.dimension_at_index(tf.TensorShape([3, None]), 0)
        Dimension(3)
    """
    return Dimension(None) if shape.rank is None else Dimension(shape[index])
