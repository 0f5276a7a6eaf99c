"""The public `tf.compat.v1.initializers` namespace: first values of variables, from their shapes."""
# ruff: noqa: F401 (the imports are public names)

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.array import creation
from tapeflow.array.ranges import eye
from tapeflow.array.reshapes import reshape
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, float32
from tapeflow.linalg.diagonals import diag_part, matrix_transpose
from tapeflow.linalg.factorizations import qr
from tapeflow.math.elementwise import sign
from tapeflow.random import stateful
from tapeflow_compat.compat.v1 import arrays
from tapeflow_compat.compat.v1.tables import tables_initializer
from tapeflow_compat.compat.v1.variables import global_variables_initializer as global_variables
from tapeflow_compat.compat.v1.variables import local_variables_initializer as local_variables
from tapeflow_compat.compat.v1.variables import variables_initializer as variables

# The standard deviation of a standard normal distribution cut off at two standard deviations.
_OF_TRUNCATED = 0.87962566103423978


class Initializer:
    """Base class of initializers; it holds the arguments of the constructor.

    A call takes a shape, a dtype (by default the initializer's), and a `partition_info`, which is ignored.

    Example:
        >>> isinstance(tf.compat.v1.zeros_initializer(), tf.compat.v1.initializers.Initializer)
        True
    """

    _floating = False  # whether it takes no other dtypes

    def __init__(self, **config: Any) -> None:
        config["dtype"] = as_dtype(config.get("dtype", float32))
        if self._floating and not config["dtype"].is_floating:
            raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {config['dtype']}.")
        self._config = config
        for name, value in config.items():
            setattr(self, name, value)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Returns the first value of a variable of that shape."""
        return self._value([int(d) for d in shape], self.dtype if dtype is None else as_dtype(dtype))

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        raise NotImplementedError

    dtype: Any

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments that create an equal initializer."""
        return {**self._config, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Returns the initializer of a configuration.

        Example:
            >>> v1 = tf.compat.v1
            >>> v1.constant_initializer.from_config(v1.constant_initializer(2).get_config())([2]).numpy().tolist()
            [2.0, 2.0]
        """
        return cls(**config)


class Zeros(Initializer):
    """Gives zeros.

    Example:
        >>> tf.compat.v1.zeros_initializer()([2]).numpy().tolist()
        [0.0, 0.0]
    """

    def __init__(self, dtype: Any = float32) -> None:
        super().__init__(dtype=dtype)

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        return creation.zeros(shape, dtype)


class Ones(Initializer):
    """Gives ones.

    Example:
        >>> tf.compat.v1.ones_initializer()([2]).numpy().tolist()
        [1.0, 1.0]
    """

    def __init__(self, dtype: Any = float32) -> None:
        super().__init__(dtype=dtype)

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        return creation.ones(shape, dtype)


class Constant(Initializer):
    """Returns constants. In a graph, the last value of a list fills the rest of a larger shape.

    Args:
        value: a number, or numbers in any nest.
        verify_shape: refuses values of another shape.

    Raises:
        TypeError: `value` is no number, list or array, or, with `verify_shape`, of another shape.

    Example:
        >>> tf.compat.v1.constant_initializer([1, 2])([2]).numpy().tolist()
        [1.0, 2.0]
    """

    def __init__(self, value: Any = 0, dtype: DTypeLike = float32, verify_shape: bool = False) -> None:
        if not np.isscalar(value) and not isinstance(value, (list, tuple, np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        super().__init__(value=value, dtype=dtype)
        self._verify_shape = verify_shape

    value: Any

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        return arrays.constant(self.value, dtype, shape, verify_shape=self._verify_shape)


class Identity(Initializer):
    """Gives the identity matrix, times `gain`.

    Raises:
        ValueError: the shape has not two dimensions, or the dtype is not floating.

    Example:
        >>> tf.compat.v1.initializers.identity(2.0)([2, 2]).numpy().tolist()
        [[2.0, 0.0], [0.0, 2.0]]
    """

    _floating = True

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = float32) -> None:
        super().__init__(gain=gain, dtype=dtype)

    gain: float

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        if len(shape) != 2:
            raise _no_matrix(shape)
        return eye(shape[0], shape[1], dtype=dtype) * self.gain


class RandomUniform(Initializer):
    """Gives numbers drawn evenly from [`minval`, `maxval`).

    Args:
        minval, maxval: the range; without `maxval` it ends at 1, and for integers at the largest one.
        seed: of the draw.

    Example:
        >>> weights = tf.compat.v1.random_uniform_initializer(2.0, 3.0)([4])
        >>> bool(tf.reduce_all((weights >= 2.0) & (weights < 3.0)))
        True
    """

    def __init__(
        self, minval: Any = 0.0, maxval: TensorLike | None = None, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        super().__init__(minval=minval, maxval=maxval, seed=seed, dtype=dtype)

    minval: Any
    maxval: Any
    seed: int | None

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        return stateful.uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


class RandomNormal(Initializer):
    """Gives numbers of a normal distribution.

    Args:
        mean, stddev: its mean and standard deviation.
        seed: of the draw.

    Raises:
        ValueError: the dtype is not floating.

    Example:
        >>> tf.compat.v1.random_normal_initializer(stddev=0.1)([2, 3]).shape
        TensorShape([2, 3])
    """

    _floating = True

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)

    mean: Any
    stddev: Any
    seed: int | None

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        return stateful.normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Gives numbers of a normal distribution, none of them further than two standard deviations from its mean.

    Example:
        >>> weights = tf.compat.v1.truncated_normal_initializer(stddev=0.5)([100])
        >>> bool(tf.reduce_max(tf.abs(weights)) <= 1.0)
        True
    """

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        return stateful.truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


def _no_matrix(shape: Sequence[int]) -> ValueError:
    return ValueError(
        "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
        f"shape={list(shape)}"
    )


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    """Returns the numbers of inputs and outputs that a weight of this shape connects."""
    if len(shape) < 2:
        size = float(shape[0]) if shape else 1.0
        return size, size
    field = math.prod(shape[:-2])
    return float(field * shape[-2]), float(field * shape[-1])


class VarianceScaling(Initializer):
    """Gives random numbers whose variance is `scale`, divided by the number of connections.

    Args:
        scale: positive.
        mode: divides by the inputs ("fan_in"), the outputs ("fan_out"), or their mean ("fan_avg").
        distribution: "uniform", "truncated_normal" (or "normal"), "untruncated_normal".

    Raises:
        ValueError: an argument is none of these, or the dtype is not floating.

    Example:
        >>> tf.compat.v1.variance_scaling_initializer(2.0, "fan_out")([3, 4]).shape
        TensorShape([3, 4])

    References: He et al. 2015 (https://arxiv.org/abs/1502.01852), and Glorot and Bengio 2010 for `fan_avg`.
    """

    _floating = True

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        distribution = distribution.lower()
        if distribution not in {"normal", "uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(
                "Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', "
                f"'untruncated_normal'). Received: {distribution}"
            )
        super().__init__(scale=scale, mode=mode, distribution=distribution, seed=seed, dtype=dtype)

    scale: float
    mode: str
    distribution: str
    seed: int | None

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        fan_in, fan_out = _fans(shape)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return RandomUniform(-limit, limit, self.seed, dtype)(shape)
        if self.distribution == "untruncated_normal":
            return RandomNormal(0.0, math.sqrt(variance), self.seed, dtype)(shape)
        return TruncatedNormal(0.0, math.sqrt(variance) / _OF_TRUNCATED, self.seed, dtype)(shape)


class GlorotUniform(VarianceScaling):
    """Glorot's uniform initializer: `variance_scaling` by the mean of inputs and outputs.

    Example:
        >>> weights = tf.compat.v1.glorot_uniform_initializer()([12, 12])
        >>> bool(tf.reduce_max(tf.abs(weights)) <= 0.5)
        True
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """Glorot's normal initializer: `variance_scaling` by the mean of inputs and outputs.

    Example:
        >>> tf.compat.v1.glorot_normal_initializer(seed=1)([12, 12]).dtype
        tf.float32
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class UniformUnitScaling(Initializer):
    """Draws numbers evenly from a range that keeps the scale of a layer's inputs: sqrt(3 / inputs) * `factor`.

    Raises:
        ValueError: the dtype is not floating.

    Example:
        >>> weights = tf.compat.v1.uniform_unit_scaling_initializer()([12, 5])
        >>> bool(tf.reduce_max(tf.abs(weights)) <= 0.5)
        True
    """

    _floating = True

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(factor=factor, seed=seed, dtype=dtype)

    factor: float
    seed: int | None

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        limit = math.sqrt(3.0 / max(1.0, float(math.prod(shape[:-1])))) * self.factor
        return RandomUniform(-limit, limit, self.seed, dtype)(shape)


class Orthogonal(Initializer):
    """Gives orthogonal matrices: the trailing dimension against all others.

    Raises:
        ValueError: the shape has fewer than two dimensions, or the dtype is not floating.

    Example:
        >>> rows = tf.compat.v1.orthogonal_initializer()([2, 3])
        >>> print(np.abs((rows @ tf.transpose(rows)).numpy()).round(4))
        [[1. 0.]
         [0. 1.]]

    References: Saxe et al. 2014 (https://arxiv.org/abs/1312.6120).
    """

    _floating = True

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(gain=gain, seed=seed, dtype=dtype)

    gain: float
    seed: int | None

    def _value(self, shape: list[int], dtype: DTypeLike) -> Any:
        if len(shape) < 2:
            raise _no_matrix(shape)
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = random_normal(0.0, 1.0, self.seed, dtype)((max(rows, columns), min(rows, columns)))
        q, r = qr(drawn, full_matrices=False)
        q = q * sign(diag_part(r))  # makes the draw even over all orthogonal matrices
        return reshape(matrix_transpose(q) if rows < columns else q, shape) * self.gain


def he_normal(seed: int | None = None) -> VarianceScaling:
    """He's normal initializer: `variance_scaling(2.0)`.

    Example:
        >>> tf.compat.v1.initializers.he_normal()([3, 4]).shape
        TensorShape([3, 4])

    References: He et al. 2015 (https://arxiv.org/abs/1502.01852).
    """
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """He's uniform initializer: `variance_scaling(2.0, distribution="uniform")`.

    Example:
        >>> bool(tf.reduce_max(tf.abs(tf.compat.v1.initializers.he_uniform()([24, 9]))) <= 0.5)
        True

    References: He et al. 2015 (https://arxiv.org/abs/1502.01852).
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """LeCun's normal initializer: `variance_scaling()`.

    Example:
        >>> tf.compat.v1.initializers.lecun_normal()([3, 4]).shape
        TensorShape([3, 4])

    References: LeCun et al. 1998 (http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf).
    """
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """LeCun's uniform initializer: `variance_scaling(distribution="uniform")`.

    Example:
        >>> bool(tf.reduce_max(tf.abs(tf.compat.v1.initializers.lecun_uniform()([12, 9]))) <= 0.5)
        True

    References: LeCun et al. 1998 (http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf).
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


# The public names. The classes have the names that TensorFlow writes into configurations.
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
random_uniform, random_normal, truncated_normal = RandomUniform, RandomNormal, TruncatedNormal
variance_scaling, uniform_unit_scaling = VarianceScaling, UniformUnitScaling
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
