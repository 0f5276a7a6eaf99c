"""The calls of the op table in functions of which less than everything is static, and the shapes that they have there.

`scripts/record.py static_shapes` runs this with TensorFlow in TapeFlow's place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import op_table
import tapeflow as tf
from static_shape_rows import ROWS, TRACED_ROWS

# What is static of the arguments of a function: everything, all but the first dimension, the rank, nothing.
MODES: dict[str, Callable[[list[int]], Any]] = {
    "all": lambda dims: dims,
    "first": lambda dims: [None, *dims[1:]] if dims else [],
    "dims": lambda dims: [None] * len(dims),
    "rank": lambda dims: None,
}


class Case:
    """A call whose arrays are the arguments of a function.

    Attributes:
        row: the row of the op table.
        key: the call as text, with dtypes and shapes for arrays.
        tensors: the arguments of the function.
        call: the call, as a function of these.
    """

    def __init__(self, row: op_table.Row, args: Any, kwargs: Any) -> None:
        self.row = row
        dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
        leaves = [_as_tensor(op_table.cast(a, dtype)) for a in tf.nest.flatten((args, kwargs))]
        places = [i for i, leaf in enumerate(leaves) if tf.is_tensor(leaf) and hasattr(leaf, "numpy")]
        self.tensors = [leaves[i] for i in places]
        words = tf.nest.pack_sequence_as((args, kwargs), [_text(leaf) for leaf in leaves])
        parts = [_joined(a) for a in words[0]] + [f"{k}={_joined(v)}" for k, v in words[1].items()]
        self.key = f"{row.name}({', '.join(parts)})"

        self.call = op_table.call_of_tensors(row.function, args, kwargs, leaves, places)

    def function(self, mode: str) -> tuple[Any, list[Any]]:
        """The call as a function of which so much is static, and a list that gets its results' static shapes."""
        static: list[Any] = []

        def body(*tensors: Any) -> Any:
            out = self.call(*tensors)
            static[:] = [o.shape for o in tf.nest.flatten(out, expand_composites=True)]
            return out

        specs = [tf.TensorSpec(MODES[mode](t.shape.as_list()), t.dtype) for t in self.tensors]
        return tf.function(body, input_signature=specs, autograph=False), static

    def static_shapes(self, mode: str) -> str:
        """The static shapes of the results as text, or "raises"."""
        function, static = self.function(mode)
        try:
            function.get_concrete_function()
        except Exception:
            return "raises"
        return " ".join(shape_text(s) for s in static)


def _as_tensor(value: Any) -> Any:
    return tf.constant(value) if isinstance(value, np.ndarray) else value


def _joined(words: Any) -> str:
    if isinstance(words, dict):
        return "{" + ", ".join(f"{k}: {_joined(v)}" for k, v in words.items()) + "}"
    if isinstance(words, (list, tuple)):
        return "[" + ", ".join(_joined(w) for w in words) + "]"
    return words


def _text(leaf: Any) -> str:
    if tf.is_tensor(leaf) and hasattr(leaf, "dtype"):
        return f"{leaf.dtype.name}{str(leaf.shape.as_list()).replace(' ', '')}"
    return getattr(leaf, "name", None) or getattr(leaf, "__name__", None) or repr(leaf)


def shape_text(shape: Any) -> str:
    """A static shape, as `[?,3]`, or `?` of unknown rank."""
    if shape.rank is None:
        return "?"
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def cases() -> Iterator[Case]:
    """Each sample of the op table, and those of `static_shape_rows`, that has an array."""
    seen = set()
    for row in [*op_table.all_rows(), *ROWS, *TRACED_ROWS]:
        for args, kwargs in row.samples:
            case = Case(row, args, kwargs)
            if case.tensors and case.key not in seen:
                seen.add(case.key)
                yield case
