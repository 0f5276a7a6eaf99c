"""Tables of expressions with their outcomes: a dtype, a shape and values, or the class and message of an error.

A table is a text. An expression begins a line. The indented lines that follow are what TensorFlow gave:

    tf.strings.length(["a", "bc"])
        int32 [2] [1, 2]
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?")


def read_rows(table: str) -> dict[str, str]:
    """Returns the outcomes in a table by their expressions."""
    rows: dict[str, str] = {}
    source = ""
    for line in table.strip().splitlines():
        if line[0] != " ":
            source = line
            rows[source] = ""
        else:
            rows[source] = f"{rows[source]} {line.strip()}".strip()
    return rows


def outcome(source: str, names: dict[str, Any]) -> str:
    """Evaluates an expression, in which `np` is NumPy, and describes what it gives or raises."""
    try:
        text = describe(eval(source, {"np": np, **names}))
    except Exception as error:
        lines = [line.strip() for line in str(error).strip().split("\n") if not line.startswith("\t [[")]
        places_first = lines[0] in ("in user code:", "Graph execution error:")
        message = re.sub(r"^\{\{.*?\}\} ", "", lines[-1 if places_first else 0])
        text = f"{type(error).__name__}: {re.sub(r' ?.Op:.*$', '', message)}"
    return " ".join(text.split())


def agree(found: str, expected: str) -> bool:
    """Returns True if two outcomes are equal but for roundings of float32 in their numbers.

    The class of an error alone stands for errors of any message.
    """
    if expected.isidentifier() and found.startswith(f"{expected}:"):
        return True
    if _NUMBER.sub("#", found) != _NUMBER.sub("#", expected):
        return False
    mine, theirs = ([float(n) for n in _NUMBER.findall(text)] for text in (found, expected))
    return bool(np.allclose(mine, theirs, rtol=1e-4, atol=2e-6))


def describe(value: Any) -> str:
    """Describes a value: of tensors the dtype, the static shape and the values, with five digits."""
    kind = type(value).__name__
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {describe(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"({'; '.join(map(describe, value))})"
    if kind == "StructuredTensor":
        return f"structured {value.shape} {_describe_plain(value.to_pyval())}"
    if hasattr(value, "flat_values") and hasattr(value, "to_list"):
        splits = "" if value.row_splits.dtype == np.int64 else f" {value.row_splits.dtype.name}"
        return f"{value.dtype.name} {value.shape}{splits} {_describe_plain(value.to_list())}"
    if hasattr(value, "dense_shape"):
        return f"sparse {describe(value.indices)} {describe(value.values)} {describe(value.dense_shape)}"
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        return f"{value.dtype.name} {list(value.shape)} {_describe_plain(np.asarray(value.numpy()).tolist())}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {list(value.shape)} {_describe_plain(value.tolist())}"
    if isinstance(value, np.generic):
        return f"{kind} {_describe_plain(value.item())}"
    return _describe_plain(value)


def _describe_plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_describe_plain, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_describe_plain(v)}' for k, v in value.items())}}}"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, complex):
        return f"{value.real:.5g}{value.imag:+.5g}j"
    return repr(value)
