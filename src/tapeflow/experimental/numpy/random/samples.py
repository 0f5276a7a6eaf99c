"""Random numbers with NumPy's names and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import random as tf_random
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.numpy.documentation import SHAPES, numpy_function
from tapeflow.experimental.numpy.manipulation import isscalar
from tapeflow.experimental.numpy.types import as_array, broadcast_shape_of, default_float, result_type


def _size_shape(size: Any) -> Any:
    return () if size is None else (size,) if isscalar(size) else size


@numpy_function("7", numpy_name="random.seed", comparison="{} is {}")
def seed(s: int) -> None:
    """Sets the seed of all random operations."""
    try:
        number = int(s)
    except TypeError:
        raise ValueError(f"Argument `s` got an invalid value {s}. Only integers are supported.") from None
    tf_random.set_seed(number)


@numpy_function("[2, 3]", numpy_name="random.standard_normal", comparison=SHAPES)
def standard_normal(size: ShapeLike = None) -> Tensor:
    """Returns samples of the standard normal distribution."""
    return tf_random.normal(_size_shape(size), dtype=default_float())


@numpy_function("2, 3", numpy_name="random.randn", comparison=SHAPES)
def randn(*args: int) -> Tensor:
    """Returns samples of the standard normal distribution, in a shape whose dimensions are the arguments."""
    return standard_normal(args)


@numpy_function("0.0, 1.0, [2]", numpy_name="random.uniform", comparison=SHAPES)
def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: ShapeLike = None) -> Tensor:
    """Returns samples that are uniform in an interval.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.random.uniform`.
        InvalidArgumentError: the bounds do not broadcast to `size`.
    """
    kind = default_float()
    first, last = as_array(low, kind), as_array(high, kind)
    dims = broadcast_shape_of([first, last]) if size is None else _size_shape(size)
    return tf_random.uniform(dims, first, last, dtype=kind)


@numpy_function("[2, 3]", numpy_name="random.random", comparison=SHAPES)
def random(size: ShapeLike = None) -> Tensor:
    """Returns samples that are uniform in [0, 1)."""
    return uniform(0.0, 1.0, size)


@numpy_function("2, 3", numpy_name="random.rand", comparison=SHAPES)
def rand(*size: int) -> Tensor:
    """Returns samples that are uniform in [0, 1), in a shape whose dimensions are the arguments."""
    return uniform(0.0, 1.0, size)


@numpy_function("3.0, [2]", numpy_name="random.poisson", comparison=SHAPES)
def poisson(lam: TensorLike = 1.0, size: ShapeLike = None) -> Tensor:
    """Returns samples of Poisson distributions."""
    return tf_random.poisson(_size_shape(size), lam, dtype=int64)


@numpy_function("1, 7, [2]", numpy_name="random.randint", comparison=SHAPES)
def randint(low: int, high: int | None = None, size: ShapeLike = None, dtype: DTypeLike = np.int64) -> Tensor:
    """Returns integers that are uniform from low, or zero, to high, without it.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.random.randint`.
        InvalidArgumentError: `low` is not below `high`.
    """
    kind = result_type(dtype)
    if kind not in (int32, int64):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. Only those convertible to {(np.int32, np.int64)} are "
            "supported."
        )
    first, last = (0, int(low)) if high is None else (int(low), high)
    return tf_random.uniform(_size_shape(size), first, last, dtype=kind)
