"""Random numbers that a seed alone decides: the same seed and shape give the same numbers, on every machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import pack_op
from tapeflow.array.properties import broadcast_args, shape_op
from tapeflow.array.reshapes import broadcast_to
from tapeflow.core.context import detours, listeners
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.shape_rules import broadcast_all
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.division import realdiv
from tapeflow.math.extrema import maximum
from tapeflow.random.algorithms import AlgorithmLike, key_counter_alg
from tapeflow.random.stateless_ops import (
    binomial_of,
    bounded_normal_of,
    categories_of,
    gamma_of,
    integers_of,
    normal_of,
    poisson_of,
    range_of,
    truncated_normal_of,
    uniform_of,
)


def scale_numbers(rnd: Any, scale: Any, offset: Any, dtype: DType, name: str | None = None) -> Any:
    """Computes `rnd * scale + offset`, without the ops that Python's 1 and 0 do not need.

    Nobody else has `rnd` yet, so scalars change it in its place where no tape records.
    """
    if type(scale) not in (int, float) or scale != 1:
        rnd = _combine_with_scalar(rnd, convert(scale, dtype), torch.Tensor.mul_, multiply)
    if type(offset) not in (int, float) or offset != 0:
        rnd = _combine_with_scalar(rnd, convert(offset, dtype), torch.Tensor.add_, add, name)
    return rnd


def _combine_with_scalar(rnd: Any, scalar: Any, change: Any, function: Any, name: str | None = None) -> Any:
    """Combines random numbers with a scalar, in their place if no tape and no graph needs the op.

    The memory must be torch's own: copies of NumPy's memory can't share it until one of them is written.
    """
    plain = type(rnd) is EagerTensor and type(scalar) is EagerTensor and scalar.value.ndim == 0
    if not plain or listeners or detours or not rnd.value.untyped_storage().resizable():
        return function(rnd, scalar, name)
    change(rnd.value, scalar.value)
    return rnd


def check_dtype(dtype: DType, accepted: tuple[DType, ...]) -> None:
    """Refuses other dtypes.

    Raises:
        ValueError: the dtype is not accepted.
    """
    if dtype not in accepted:
        names = ", ".join(f"tf.{d.name}" for d in accepted)
        raise ValueError(f"Argument `dtype` got invalid value {dtype!s}. Accepted dtypes are ({names}).")


UNIFORM_DTYPES = (float16, bfloat16, float32, float64, int32, int64)


def stateless_uniform(
    shape: ShapeLike, seed: TensorLike, minval: TensorLike | None = 0, maxval: TensorLike | None = None,
    dtype: DTypeLike = float32, name: str | None = None, alg: AlgorithmLike = "auto_select",
) -> Tensor:  # fmt: skip
    """Draws uniformly distributed numbers that a seed decides.

    Args:
        shape: the shape of the result.
        seed: two integers: a list, or an int32 or int64 tensor of shape `[2]`.
        minval: the lower bound, which is included. For integers a scalar. The default is 0.
        maxval: the upper bound, not included, with a shape as `minval`; 1 by default for floats. Integers with both
            bounds None are over the whole range of their dtype.
        dtype: floating, int32 or int64; without bounds also uint32 or uint64. The default is float32.
        alg: the generator: "philox" or "auto_select", its number, or a `tf.random.Algorithm`. The default is
            "auto_select".

    Returns:
        A tensor of that shape and dtype. Gradients pass to the bounds.

    Raises:
        InvalidArgumentError: the seed does not hold two integers, or `minval >= maxval` for integers.
        ValueError: the dtype is not supported, or `minval` or `maxval` is None.

    Example:
        >>> tf.random.stateless_uniform([2], seed=[1, 2]).numpy().round(4).tolist()
        [0.8440999984741211, 0.19200000166893005]
        >>> tf.random.stateless_uniform([3], seed=[1, 2], maxval=10, dtype=tf.int32).shape
        TensorShape([3])
    """
    dtype = as_dtype(dtype)
    check_dtype(dtype, (*UNIFORM_DTYPES, uint32, uint64))
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {dtype!s}, argument `minval` and `maxval` must be both None or not "
                f"None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is None:
            return integers_of(shape, *key_counter_alg(seed, alg), dtype, name)
        if dtype in (uint32, uint64):
            raise ValueError(
                f"Argument `dtype` got invalid value {dtype!s} when argument `minval` is not None. Please don't use "
                "unsigned integers in this case."
            )
        return range_of(shape, *key_counter_alg(seed, alg), convert(minval, dtype), convert(maxval, dtype), name)
    high = 1 if maxval is None else maxval
    for bound in (minval, high):
        if type(bound) not in (int, float):
            convert(bound, dtype)
    rnd = uniform_of(_of_its_dtype(shape), *key_counter_alg(seed, alg), dtype)
    return stretch_numbers(rnd, minval, high, dtype, name)


def _of_its_dtype(shape: object) -> Any:
    """Returns a shape, of an array the tensor: functions of a seed convert it before an op could cast it."""
    return convert(shape) if isinstance(shape, (np.ndarray, np.generic)) else shape


def stretch_numbers(rnd: Tensor, minval: Any, maxval: TensorLike, dtype: DType, name: str | None = None) -> Any:
    """Maps numbers in [0, 1) to the range between bounds."""
    if type(minval) in (int, float) and minval == 0:
        return scale_numbers(rnd, maxval, 0, dtype)
    minval = convert(minval, dtype)
    return scale_numbers(rnd, subtract(convert(maxval, dtype), minval), minval, dtype, name)


def stateless_normal(
    shape: ShapeLike, seed: TensorLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = float32,
    name: str | None = None, alg: AlgorithmLike = "auto_select",
) -> Tensor:  # fmt: skip
    """Draws normally distributed numbers that a seed decides.

    Args:
        shape: the shape of the result.
        seed: an integer tensor of shape `[2]`.
        mean, stddev: the mean and the standard deviation; they broadcast to the shape.
        dtype: floating; float32 by default.
        alg: the generator: "philox" or "auto_select" (the default), its number, or a `tf.random.Algorithm`.

    Returns:
        A tensor of that shape and dtype. Gradients pass to `mean` and `stddev`.

    Raises:
        InvalidArgumentError: the seed does not hold two integers.

    Example:
        >>> tf.random.stateless_normal([2], seed=[1, 2]).numpy().round(4).tolist()
        [0.5440999865531921, 0.20739999413490295]
    """
    return draw_scaled(
        lambda dtype: normal_of(_of_its_dtype(shape), *key_counter_alg(seed, alg), dtype), mean, stddev, dtype, name
    )


def draw_scaled(draw: Callable[[DType], Any], mean: Any, stddev: Any, dtype: DTypeLike, name: str | None) -> Any:
    """Draws numbers of a normal distribution around 0, and scales them.

    Args:
        draw: draws the numbers of a dtype.
        mean, stddev: a floating tensor or number each.
        dtype: a floating dtype.
        name: of the last operation.
    """
    dtype = as_dtype(dtype)
    check_floats(dtype, mean, stddev)
    return scale_numbers(draw(dtype), stddev, mean, dtype, name)


def check_floats(dtype: DType, *numbers: Any) -> None:
    """Refuses a dtype that Python floats do not convert to, and numbers that do not convert to the dtype.

    Raises:
        InvalidArgumentError: the dtype is not floating.
        TypeError: a number does not convert to the dtype.
    """
    for number in numbers:
        if type(number) is not float or not dtype.is_floating:
            convert(number, dtype)
    if not dtype.is_floating and not dtype.is_complex:
        raise invalid(
            f"Value for attr 'dtype' of {datatype_name(dtype)} is not in the list of allowed values: half, "
            "bfloat16, float, double"
        )


def stateless_truncated_normal(
    shape: ShapeLike, seed: TensorLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = float32,
    name: str | None = None, alg: AlgorithmLike = "auto_select",
) -> Tensor:  # fmt: skip
    """Draws normally distributed numbers that a seed decides, less than two standard deviations from the mean.

    Args:
        shape: the shape of the result.
        seed: an integer tensor of shape `[2]`.
        mean, stddev: of the distribution before it is cut off; they broadcast to the shape.
        dtype: floating; float32 by default.
        alg: the generator: "philox" or "auto_select" (the default), its number, or a `tf.random.Algorithm`.

    Returns:
        A tensor of that shape and dtype. Gradients pass to `mean` and `stddev`.

    Raises:
        InvalidArgumentError: the seed does not hold two integers.

    Example:
        >>> bool(tf.reduce_all(tf.abs(tf.random.stateless_truncated_normal([1000], seed=[1, 2])) < 2))
        True
    """
    return draw_scaled(
        lambda dtype: truncated_normal_of(_of_its_dtype(shape), *key_counter_alg(seed, alg), dtype),
        mean, stddev, dtype, name,
    )  # fmt: skip


def stateless_gamma(
    shape: ShapeLike, seed: TensorLike, alpha: TensorLike, beta: TensorLike | None = None, dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws gamma-distributed numbers that a seed decides.

    Args:
        shape: the shape of the result; it ends with the broadcast shape of `alpha` and `beta`.
        seed: an integer tensor of shape `[2]`.
        alpha: the shape parameters, positive.
        beta: the rates, positive, of a shape that broadcasts with `alpha.shape`; 1 by default.
        dtype: floating; float32 by default.

    Returns:
        A tensor of that shape and dtype. Gradients pass to `alpha` and `beta`.

    Raises:
        InvalidArgumentError: the shape does not end so, or the seed does not hold two integers.
        ValueError: the dtype is not floating.

    Example:
        >>> tf.random.stateless_gamma([4, 2], seed=[1, 2], alpha=[0.5, 3.0]).shape
        TensorShape([4, 2])
    """
    dtype = as_dtype(dtype)
    alpha, beta, tiny = gamma_parameters(alpha, beta, dtype)
    rnd = gamma_of(_of_its_dtype(shape), *key_counter_alg(seed, None), alpha)
    return maximum(tiny, realdiv(rnd, beta))


def gamma_parameters(alpha: Any, beta: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """Converts and broadcasts the parameters of gamma distributions.

    Returns:
        `alpha` broadcast against `beta`, `beta`, and the least positive number of the dtype.

    Raises:
        ValueError: the dtype is not floating.
    """
    alpha, beta = convert(alpha, dtype), convert(1 if beta is None else beta, dtype)
    if not dtype.is_floating:
        raise ValueError(f"data type {dtype.name} not inexact: gamma-distributed numbers are floating")
    static = broadcast_all(alpha.shape, beta.shape)
    shape: Any = tuple(static) if static.is_fully_defined() else broadcast_args(shape_op(alpha), shape_op(beta))
    return broadcast_to(alpha, shape), beta, convert(torch.finfo(dtype.torch).tiny, dtype)


def stateless_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """Draws Poisson-distributed numbers that a seed decides.

    Args:
        shape: the shape of the result; it ends with the shape of `lam`.
        seed: an integer tensor of shape `[2]`.
        lam: the rates, not negative, of a shape that broadcasts to `shape`.
        dtype: float16, float32, float64, int32 or int64; int32 by default.

    Returns:
        A tensor of that shape and dtype. No gradient passes.

    Raises:
        InvalidArgumentError: the shape does not end so, or the seed does not hold two integers.

    Example:
        >>> tf.random.stateless_poisson([2], seed=[1, 2], lam=3).numpy().tolist()
        [5, 5]
    """
    return poisson_of(shape, seed, lam, as_dtype(dtype), name)


def stateless_binomial(
    shape: ShapeLike, seed: TensorLike, counts: TensorLike, probs: TensorLike, output_dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws binomially distributed numbers that a seed decides.

    Args:
        shape: the shape of the result; it ends with the broadcast shape of `counts` and `probs`.
        seed: an integer tensor of shape `[2]`.
        counts: the numbers of trials, not negative, of a shape that broadcasts to `shape`.
        probs: the probabilities of success, of a shape that broadcasts to `shape`.
        output_dtype: float16, float32, float64, int32 or int64; int32 by default.

    Returns:
        A tensor of that shape and dtype. No gradient passes.

    Raises:
        InvalidArgumentError: the shape does not end so, or the seed does not hold two integers.

    Example:
        >>> tf.random.stateless_binomial([2], seed=[1, 2], counts=10.0, probs=0.5).numpy().tolist()
        [6, 6]
    """
    probability = convert(probs, None, hint=float32)
    count = convert(counts, None, hint=probability.dtype)
    return binomial_of(shape, seed, count, probability, as_dtype(output_dtype), name)


def stateless_categorical(
    logits: TensorLike, num_samples: TensorLike, seed: TensorLike, dtype: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """Draws classes that a seed and their unnormalized log-probabilities decide.

    Args:
        logits: a tensor of shape `[batch, classes]`, floating.
        num_samples: a scalar, the number of classes to draw for each row.
        seed: an integer tensor of shape `[2]`.
        dtype: int32 or int64; int64 by default.

    Returns:
        A tensor of shape `[batch, num_samples]` and that dtype. No gradient passes.

    Raises:
        InvalidArgumentError: `logits` is no matrix, or the seed does not hold two integers.
        ValueError: the dtype is another.

    Example:
        >>> tf.random.stateless_categorical([[0.0, float("-inf")]], 3, seed=[1, 2]).numpy().tolist()
        [[0, 0, 0]]
    """
    dtype = as_dtype(dtype) if dtype else int64
    check_dtype(dtype, (int32, int64))
    return categories_of(logits, num_samples, seed, dtype, name)


def stateless_parameterized_truncated_normal(
    shape: ShapeLike, seed: TensorLike, means: TensorLike = 0.0, stddevs: TensorLike = 1.0, minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws normally distributed numbers between bounds. The seed decides them.

    Args:
        shape: the shape of the result; it ends with the broadcast shape of the parameters.
        seed: an integer tensor of shape `[2]`.
        means, stddevs: of the distribution before it is cut off; of shapes that broadcast to `shape`.
        minvals, maxvals: the bounds, of shapes that broadcast to `shape`. One of them may be infinite.

    Returns:
        A tensor of that shape and the parameters' dtype. No gradient passes.

    Raises:
        InvalidArgumentError: the shape does not end so, or no number can be between the bounds.

    Example:
        >>> x = tf.random.stateless_parameterized_truncated_normal([100], [1, 2], minvals=1.0, maxvals=3.0)
        >>> bool(tf.reduce_all((x >= 1.0) & (x <= 3.0)))
        True
    """
    return bounded_normal_of(shape, seed, convert(means), convert(stddevs), convert(minvals), convert(maxvals), name)


def split(seed: TensorLike, num: TensorLike = 2, alg: AlgorithmLike = "auto_select") -> Tensor:
    """Derives new seeds from a seed.

    Args:
        seed: an integer tensor of shape `[2]`.
        num: a scalar, the number of new seeds; 2 by default.
        alg: the generator: "philox" or "auto_select" (the default), its number, or a `tf.random.Algorithm`.

    Returns:
        A tensor of shape `[num, 2]` and of the dtype of `seed`.

    Raises:
        InvalidArgumentError: `seed` does not have two elements, or `num` is negative.

    Example:
        >>> tf.random.split([1, 2]).numpy().tolist()
        [[1105988140, 1738052849], [-335576002, 370444179]]
    """
    old = convert(seed)
    return stateless_uniform([num, 2], old, None, None, old.dtype, alg=alg)


def fold_in(seed: TensorLike, data: TensorLike, alg: AlgorithmLike = "auto_select") -> Tensor:
    """Derives a new seed from a seed and a number, for example the number of a replica.

    Args:
        seed: an integer tensor of shape `[2]`.
        data: an int32 or int64 scalar.
        alg: the generator: "philox" or "auto_select" (the default), its number, or a `tf.random.Algorithm`.

    Returns:
        A tensor of shape `[2]` and of the dtype of `data`.

    Raises:
        InvalidArgumentError: `seed` does not have two elements, or `data` is not a scalar.
        ValueError: `data` is not an integer.

    Example:
        >>> tf.random.fold_in([1, 2], 3).numpy().tolist()
        [1105988140, 3]
    """
    number = convert(data)
    first = stateless_uniform([], seed, None, None, number.dtype, alg=alg)
    return pack_op([first, number], 0)
