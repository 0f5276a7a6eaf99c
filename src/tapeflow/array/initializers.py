"""The initializers of the top level: callables that create a tensor of a shape, for the first value of a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.array.creation import constant, ones, zeros
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, float32
from tapeflow.core.values.tensor import Tensor

_OPTIONS = ["partition_shape", "partition_offset"]


def _check_options(kwargs: dict[str, Any]) -> None:
    for key in kwargs:
        if key not in _OPTIONS:
            raise TypeError(f"Keyword argument should be one of {_OPTIONS}. Received: {key}")


def _check_dtype(dtype: DTypeLike, kwargs: dict[str, Any], kind: str = "numeric or boolean") -> DType:
    """Returns a dtype after checking it and the other keyword arguments of an initializer."""
    _check_options(kwargs)
    dtype = as_dtype(dtype).base_dtype
    if kind == "floating point" and not dtype.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    if not dtype.is_numeric and dtype is not bool_:
        raise ValueError(f"Argument `dtype` expected to be {kind}. Received {dtype}.")
    return dtype


class Initializer:
    """The base class of the initializers."""

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the same initializer again."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Creates the initializer of a configuration.

        Args:
            config: a dict as `get_config` returns it.

        Returns:
            An initializer of this class.
        """
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


class Zeros(Initializer):
    """Creates zeros.

    Example:
        >>> tf.zeros_initializer()([2]).numpy().tolist()
        [0.0, 0.0]
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        """Returns zeros of a shape and a numeric or bool dtype."""
        return zeros(kwargs.get("partition_shape", shape), _check_dtype(dtype, kwargs))


class Ones(Initializer):
    """Creates ones.

    Example:
        >>> tf.ones_initializer()([2]).numpy().tolist()
        [1.0, 1.0]
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        """Returns a tensor of ones with a shape and a numeric or bool dtype."""
        return ones(kwargs.get("partition_shape", shape), _check_dtype(dtype, kwargs))


class Constant(Initializer):
    """Creates the same values each time.

    Args:
        value: a number, or as many as the shape has elements, as a list or array; 0 by default.
        support_partition: allows calls for a part of a partitioned variable.

    Raises:
        TypeError: `value` is none of these.

    Example:
        >>> tf.constant_initializer(7)([2]).numpy().tolist()
        [7, 7]
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or tuple of "
                "values, or numpy.ndarray."
            )
        self.value: Any = value
        self.support_partition = support_partition

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None, **kwargs: Any) -> Tensor:
        """Returns the values with a shape and dtype. By default, the values have their own dtype."""
        _check_options(kwargs)
        if self.support_partition:
            shape = kwargs.get("partition_shape", shape)
        elif "partition_shape" in kwargs:
            raise ValueError("Constant initializer doesn't support partition-related arguments")
        return constant(self.value, dtype=None if dtype is None else as_dtype(dtype), shape=shape)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the same initializer again."""
        return {"value": self.value}


class RandomUniform(Initializer):
    """Creates uniformly distributed numbers.

    Args:
        minval: the lower end of their range; -0.05 by default.
        maxval: the upper end of their range; 0.05 by default.
        seed: makes the numbers the same each time.

    Example:
        >>> tf.random_uniform_initializer(0.0, 1.0)([2, 3]).shape
        TensorShape([2, 3])
    """

    def __init__(self, minval: TensorLike = -0.05, maxval: TensorLike = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the same initializer again."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        """Returns numbers of a shape and a floating or integer dtype."""
        from tapeflow.random.stateful import uniform
        from tapeflow.random.stateless import stateless_uniform

        dtype = as_dtype(dtype).base_dtype
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        dtype = _check_dtype(dtype, kwargs)
        shape = kwargs.get("partition_shape", shape)
        if self.seed is not None:
            return stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)
        return uniform(shape, self.minval, self.maxval, dtype)


class RandomNormal(Initializer):
    """Creates normally distributed numbers.

    Args:
        mean: the mean of the distribution; 0.0 by default.
        stddev: its standard deviation; 0.05 by default.
        seed: makes the numbers the same each time.

    Example:
        >>> tf.random_normal_initializer(stddev=2.0)([2, 3]).shape
        TensorShape([2, 3])
    """

    def __init__(self, mean: TensorLike = 0.0, stddev: TensorLike = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the same initializer again."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        """Returns numbers of a shape and a floating dtype."""
        from tapeflow.random.stateful import normal
        from tapeflow.random.stateless import stateless_normal

        dtype = _check_dtype(dtype, kwargs, "floating point")
        shape = kwargs.get("partition_shape", shape)
        if self.seed is not None:
            return stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)
        return normal(shape, self.mean, self.stddev, dtype)
