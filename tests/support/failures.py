"""The calls of the op table that must fail, and how they fail: eagerly, and in a function.

`scripts/record.py errors` writes how they fail in TensorFlow, and `tests/test_error_classes.py` compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import op_table
import tapeflow as tf

NONE = "none"  # in place of a class: the call is no error


def calls() -> dict[str, tuple[op_table.Row, Any, Any]]:
    """The row, args and kwargs of each call, by its text."""
    found = {}
    for row in op_table.all_rows():
        for args, kwargs in [bad[0] for bad in row.bad] + list(_spoiled(row)):
            found[_text(row, args, kwargs)] = row, args, kwargs
    return found


def _spoiled(row: op_table.Row) -> Iterator[tuple[Any, Any]]:
    """Samples of a row with one array at a time of another shape or dtype."""
    if not row.samples:
        return
    args, kwargs = row.samples[0]
    dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
    args = [np.asarray(op_table.cast(a, dtype)) if _is_array(a) and a.dtype == np.float64 else a for a in args]
    for i, array in enumerate(args):
        if _is_array(array):
            for other in _others(array):
                yield (*args[:i], other, *args[i + 1 :]), kwargs


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _others(array: np.ndarray) -> Iterator[np.ndarray]:
    if array.ndim and array.size:
        yield np.concatenate([array, array[-1:]])
        yield np.concatenate([array, array[..., -1:]], -1)
        yield array[0]
    yield array[None]
    yield np.ones(array.shape, np.int32 if array.dtype.kind not in "iu" else np.float32)
    yield np.ones(array.shape, np.bool_)


def outcome(row: op_table.Row, args: Any, kwargs: Any) -> list[str]:
    """The classes of the errors that the call raises eagerly, while a function of it is traced, and when this runs."""
    leaves = [_leaf(a) for a in tf.nest.flatten((args, kwargs))]
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, tf.Tensor)]

    call = op_table.call_of_tensors(row.function, args, kwargs, leaves, places)
    tensors = [leaves[i] for i in places]
    specs = [tf.TensorSpec(t.shape, t.dtype) for t in tensors]
    function = tf.function(call, input_signature=specs, autograph=False)
    traced, concrete = _class_of(function.get_concrete_function)
    ran = NONE if concrete is None else _class_of(lambda: concrete(*tensors))[0]
    return [_class_of(lambda: call(*tensors))[0], traced, ran]


def _leaf(value: Any) -> Any:
    return tf.constant(value) if _is_array(value) else value


def _class_of(call: Callable[[], Any]) -> tuple[str, Any]:
    try:
        return NONE, call()
    except Exception as error:
        return type(error).__name__, None


def _text(row: op_table.Row, args: Any, kwargs: Any) -> str:
    parts = [_described(a) for a in args] + [f"{k}={_described(v)}" for k, v in kwargs.items()]
    return f"{row.name}({', '.join(parts)})"


def _described(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_described, value)) + "]"
    if isinstance(value, tf.Tensor) or _is_array(value):
        array = np.asarray(value)
        shape = f"{array.dtype.name}{list(array.shape)}"
        return f"{shape}{array.tolist()}" if array.size < 4 else shape
    return value.name if isinstance(value, tf.DType) else str(value)
