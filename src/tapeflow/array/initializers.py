"""The initializers of the top level: callables that give a tensor of a shape, for the first value of a variable."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tapeflow.array.creation import constant, ones, zeros
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, float32

_OPTIONS = ["partition_shape", "partition_offset"]


def _checked(dtype: Any, kwargs: dict[str, Any], kind: str = "numeric or boolean") -> DType:
    for key in kwargs:
        if key not in _OPTIONS:
            raise TypeError(f"Keyword argument should be one of {_OPTIONS}. Received: {key}")
    dtype = as_dtype(dtype).base_dtype
    if kind == "floating point" and not dtype.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    if not dtype.is_numeric and dtype is not bool_:
        raise ValueError(f"Argument `dtype` expected to be {kind}. Received {dtype}.")
    return dtype


class Initializer:
    """What the initializers have in common: their configuration."""

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer again."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The initializer of a configuration."""
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


class zeros_initializer(Initializer):
    """Gives zeros.

    Example:
        >>> tf.zeros_initializer()([2]).numpy().tolist()
        [0.0, 0.0]
    """

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """Zeros of a shape and a numeric or bool dtype."""
        return zeros(kwargs.get("partition_shape", shape), _checked(dtype, kwargs))


class ones_initializer(Initializer):
    """Gives ones.

    Example:
        >>> tf.ones_initializer()([2]).numpy().tolist()
        [1.0, 1.0]
    """

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """Ones of a shape and a numeric or bool dtype."""
        return ones(kwargs.get("partition_shape", shape), _checked(dtype, kwargs))


class constant_initializer(Initializer):
    """Gives the same values each time.

    Args:
        value: a number, or as many as the shape has elements, as a list or array.
        support_partition: lets parts of a partitioned variable be asked for.

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
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """The values in a shape, of a dtype."""
        if dtype is not None:
            dtype = as_dtype(dtype)
        for key in kwargs:
            if key not in _OPTIONS:
                raise TypeError(f"Keyword argument should be one of {_OPTIONS}. Received: {key}")
        if self.support_partition:
            shape = kwargs.get("partition_shape", shape)
        elif "partition_shape" in kwargs:
            raise NotImplementedError("constant_initializer makes parts of a variable only with support_partition=True")
        return constant(self.value, dtype=dtype, shape=shape)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer again."""
        return {"value": self.value}


class random_uniform_initializer(Initializer):
    """Gives uniformly distributed numbers.

    Args:
        minval, maxval: the range of the numbers.
        seed: makes the numbers the same each time.

    Example:
        >>> tf.random_uniform_initializer(0.0, 1.0)([2, 3]).shape
        TensorShape([2, 3])
    """

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """Numbers of a shape and a floating or integer dtype."""
        dtype = as_dtype(dtype).base_dtype
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        dtype = _checked(dtype, kwargs)
        shape = kwargs.get("partition_shape", shape)
        random: Any = importlib.import_module("tapeflow.random")
        if self.seed is not None:
            return random.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)
        return random.uniform(shape, self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer again."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class random_normal_initializer(Initializer):
    """Gives normally distributed numbers.

    Args:
        mean, stddev: mean and standard deviation of the distribution.
        seed: makes the numbers the same each time.

    Example:
        >>> tf.random_normal_initializer(stddev=2.0)([2, 3]).shape
        TensorShape([2, 3])
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        """Numbers of a shape and a floating dtype."""
        dtype = _checked(dtype, kwargs, "floating point")
        shape = kwargs.get("partition_shape", shape)
        random: Any = importlib.import_module("tapeflow.random")
        if self.seed is not None:
            return random.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)
        return random.normal(shape, self.mean, self.stddev, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same initializer again."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}
