"""Small functions that libraries import from inside TensorFlow: conversions to tensors, shapes and slices."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.creation import range as range_of
from tapeflow.array.identities import identity
from tapeflow.array.properties import get_static_value
from tapeflow.control.vectorized_map import vectorized_map
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_equal
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.ragged.value import RaggedTensorValue
from tapeflow.random.stateful import uniform
from tapeflow.random.stateless import stateless_parameterized_truncated_normal


def yes() -> bool:
    """Returns True: TensorFlow behaves as version 2."""
    return True


def convert_to_tensor_or_composite(value: Any, dtype: DTypeLike = None, name: str | None = None) -> Any:
    """Converts a value to a tensor, unless it is composite."""
    return value if isinstance(value, CompositeTensor) else convert_to_tensor(value, dtype, name=name)


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Checks that ragged tensors have rows of equal lengths; returns the operations that do.

    Args:
        nested_splits_lists: the row splits of each tensor, the outermost first.

    Raises:
        ValueError: they have different ragged ranks.
        InvalidArgumentError: rows differ.
    """
    message = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(message)
    return [
        assert_equal(expected, splits, message=message)
        for other in others
        for expected, splits in zip(first, other, strict=True)
    ]


def slice_of_variable(var: Any, slice_spec: Any) -> Any:
    """Returns a part of a variable, or of an object with the `value()` of one."""
    return (var if isinstance(var, Variable) else var.value())[slice_spec]


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """Returns the shape in a vector, with -1 and unknown numbers as unknown dimensions.

    Raises:
        ValueError: the tensor is a scalar other than -1, which is an unknown shape.
    """
    if isinstance(tensor, TensorShape):
        return tensor
    dims = get_static_value(tensor, partial=True)
    if dims is None:
        length = tensor.shape[0] if tensor.shape.rank == 1 else None
        return TensorShape(None if length is None else [None] * length)
    if np.ndim(dims) == 0:
        if dims != -1:
            raise ValueError(
                f"Received a scalar value '{dims}' as shape; require a statically known scalar with value '-1' "
                "to describe an unknown shape."
            )
        return TensorShape(None)
    return TensorShape([None if d is None or d < 0 else int(d) for d in dims])


def make_composite_tensor(cls: type, module_name: str = "tf.linalg") -> type:
    """Returns a class of operators unchanged, as its values are composite already."""
    return cls


def pfor(
    loop_fn: Callable[..., Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
    warn: bool = False,
) -> Any:
    """Returns the stacked results of a function for 0, 1, ..., `iters - 1`."""
    return vectorized_map(loop_fn, range_of(iters), fallback_to_while_loop)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """Returns a copy of a tensor that a graph computes after the dependencies."""
    with control_dependencies(dependencies):
        return identity(output_tensor, name=name)


def parameterized_truncated_normal(
    shape: ShapeLike,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws numbers of normal distributions truncated at bounds."""
    key = uniform([2], maxval=int32.max, dtype=int32, seed=seed)
    means, stddevs, minvals, maxvals = (convert_to_tensor(v, dtype) for v in (means, stddevs, minvals, maxvals))
    return stateless_parameterized_truncated_normal(shape, key, means, stddevs, minvals, maxvals, name)


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """Returns another seed, from a seed and a text."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF


def unknown_shape(rank: int | None = None) -> TensorShape:
    """Returns a shape of unknown dimensions, and of unknown rank unless it is passed."""
    return TensorShape(None if rank is None else [None] * rank)


def is_ragged(value: Any) -> bool:
    """Returns True if a value is a ragged tensor, or TensorFlow 1's value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))
