"""Random numbers that differ at each call, and repeat in each run if a seed is set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import joined_batches
from tapeflow.core import aten
from tapeflow.core import device as devices
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import detours
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.rng import seeds
from tapeflow.core.rng.philox import fill, to_normal, to_range, to_uniform
from tapeflow.core.rng.philox import truncated_normal as fill_truncated_normal
from tapeflow.core.rng.seeds import op_seeds, reserve, torch_generator
from tapeflow.core.settings import settings
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, bfloat16, float16, float32, float64, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.division import realdiv
from tapeflow.math.extrema import maximum
from tapeflow.random import rejection
from tapeflow.random.stateless import UNIFORM_DTYPES, check_dtype, draw_scaled, gamma_parameters, stretch_numbers
from tapeflow.random.stateless_ops import (
    as_result,
    categorical_rule,
    check_categorical,
    created_shape,
    dimensions,
    draw_categories,
    gamma_gradient,
    integer_bounds,
    most,
)

_FLOATS = frozenset({float16, bfloat16, float32, float64})
_NUMBERS = frozenset({int, float})
_BOUNDS = frozenset({int, float, type(None)})
_RESERVED = 256  # blocks that TensorFlow's kernels set aside for each number


def _is_unseeded(seed: int | None, shape: object) -> bool:
    """Tests whether a call is the common one: no seed, a shape of Python numbers, and no device scope."""
    unseeded = seed is None and seeds.state.seed is None
    return unseeded and type(shape) in (list, tuple) and not detours and not settings.deterministic


def _batch_draws(batch: Batch, shape: Any, *rest: Any) -> Any:
    if any(isinstance(r, Slices) and r.stacked for r in rest):
        raise NoRule
    return batch.run((batch.count, *vector(shape)), *[r.value if isinstance(r, Slices) else r for r in rest])


_DRAW: dict[str, Any] = {
    "host": ("shape",), "shape": created_shape, "creates": True, "random": True, "random_fill": True,
    "batching": _batch_draws,
}  # fmt: skip

# ---- uniform and normal ----------------------------------------------------------------------------------------------


def _declare_draw(
    name: str, unseeded: Callable[..., Any], seeded: Callable[..., Any], *args: Any, **traits: Any
) -> Any:
    """Declares an op that draws numbers of a distribution without parameters.

    Args:
        name: the name of the op.
        unseeded: draws them from torch's generator.
        seeded, *args: the function that draws them from the stream of the op's seeds, and its last arguments.
        **traits: the traits of the op.
    """

    def kernel(shape: tuple[int, ...], seed: int, seed2: int, dtype: Any, device: torch.device) -> torch.Tensor:
        dims = dimensions(shape)
        if not seed and not seed2:
            return unseeded(dims, generator=torch_generator(device), dtype=dtype.torch, device=device)
        count = math.prod(dims)
        stream = reserve((name, dtype), seed, seed2, _RESERVED * count)
        return seeded(stream, count, dtype.torch, device, *args).reshape(dims)

    return defined_op(name, kernel, **_DRAW, **traits)


_SQRT2 = math.sqrt(2.0)
_WITHIN_2 = math.erf(2.0 / _SQRT2)  # the probability of being less than 2 from 0


def _draw_truncated(dims: Sequence[Any], generator: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Draws normal numbers less than 2 from 0, by the inverse of their distribution."""
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    uniform = torch.empty(dims, dtype=wide, device=device).uniform_(-_WITHIN_2, _WITHIN_2, generator=generator)
    return uniform.erfinv_().mul_(_SQRT2).clamp_(-1.9999999, 1.9999999).to(dtype)


random_uniform = _declare_draw("RandomUniform", torch.rand, fill, to_uniform, node_name="random_uniform/RandomUniform")
random_standard_normal = _declare_draw(
    "RandomStandardNormal", torch.randn, fill, to_normal, node_name="random_normal/RandomStandardNormal"
)
_truncated_normal = _declare_draw("TruncatedNormal", _draw_truncated, fill_truncated_normal)


def _draw_integers(
    shape: tuple[int, ...], minval: torch.Tensor, maxval: torch.Tensor, seed: int, seed2: int, device: torch.device
) -> torch.Tensor:
    dims = dimensions(shape)
    count, dtype = math.prod(dims), minval.dtype
    low, high = integer_bounds(minval, maxval, count)
    if not count:
        return torch.empty(dims, dtype=dtype, device=device)
    if not seed and not seed2:
        return torch.randint(low, high, dims, generator=torch_generator(device), dtype=dtype, device=device)
    stream = reserve(("RandomUniformInt", dtype), seed, seed2, _RESERVED * count)
    return fill(stream, count, dtype, device, to_range, low, high).reshape(dims)


# Draws integers between bounds.
_uniform_int = defined_op("RandomUniformInt", _draw_integers, **_DRAW)


not_differentiable(random_uniform, random_standard_normal, _truncated_normal, _uniform_int)


def normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws normally distributed random numbers.

    Args:
        shape: the shape of the result.
        mean, stddev: the mean and the standard deviation; they broadcast to the shape.
        dtype: floating; float32 by default.
        seed: repeats the numbers in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of that shape and dtype. Gradients pass to `mean` and `stddev`.

    Raises:
        InvalidArgumentError: the shape is invalid, or the parameters do not broadcast to it.

    Example:
        >>> tf.random.normal([2, 3], stddev=0.5).shape
        TensorShape([2, 3])
    """
    if type(mean) is float and type(stddev) is float and dtype in _FLOATS and _is_unseeded(seed, shape):
        dims: Any = shape
        to: Any = dtype
        device = devices.default()
        try:
            value = torch.empty(dims, dtype=to.torch, device=device)
            return EagerTensor(value.normal_(mean, stddev, generator=torch_generator(device)), to)
        except (TypeError, RuntimeError):
            pass  # the ops below raise TensorFlow's error
    return draw_scaled(lambda dtype: random_standard_normal(shape, *op_seeds(seed), dtype), mean, stddev, dtype, name)


def uniform(
    shape: ShapeLike, minval: TensorLike | None = 0, maxval: TensorLike | None = None, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws uniformly distributed random numbers.

    Args:
        shape: the shape of the result.
        minval: the lower bound, which is included. For integers a scalar. The default is 0.
        maxval: the upper bound, not included, with a shape as `minval`; 1 by default for floats.
        dtype: floating, int32 or int64; float32 by default.
        seed: repeats the numbers in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of that shape and dtype. Gradients pass to the bounds.

    Raises:
        InvalidArgumentError: the shape is invalid, or `minval >= maxval` for integers.
        ValueError: the dtype is another, or is of integers and `maxval` is None.

    Example:
        >>> x = tf.random.uniform([100], 1, 7, dtype=tf.int32)
        >>> bool(tf.reduce_all((x >= 1) & (x < 7)))
        True
    """
    if type(minval) in _NUMBERS and type(maxval) in _BOUNDS and dtype is float32 and _is_unseeded(seed, shape):
        dims: Any = shape
        low: Any = minval
        high: Any = 1.0 if maxval is None else maxval
        device = devices.default()
        try:
            value = torch.empty(dims, device=device)
            return EagerTensor(value.uniform_(low, high, generator=torch_generator(device)), float32)
        except (TypeError, RuntimeError):
            pass  # the ops below raise TensorFlow's error
    dtype = as_dtype(dtype)
    check_dtype(dtype, UNIFORM_DTYPES)
    if dtype.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        low, high = convert(minval, dtype), convert(maxval, dtype)
        return _uniform_int(shape, low, high, *op_seeds(seed), name)
    rnd = random_uniform(shape, *op_seeds(seed), dtype)
    return stretch_numbers(rnd, minval, 1 if maxval is None else maxval, dtype, name)


def truncated_normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws normally distributed random numbers less than two standard deviations from the mean.

    Args:
        shape: the shape of the result.
        mean, stddev: of the distribution before it is cut off; they broadcast to the shape.
        dtype: floating; float32 by default.
        seed: repeats the numbers in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of that shape and dtype. Gradients pass to `mean` and `stddev`.

    Raises:
        InvalidArgumentError: the shape is invalid, or the parameters do not broadcast to it.

    Example:
        >>> bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([1000])) < 2))
        True
    """
    return draw_scaled(lambda dtype: _truncated_normal(shape, *op_seeds(seed), dtype), mean, stddev, dtype, name)


# ---- gamma, Poisson, categories --------------------------------------------------------------------------------------


def _flat_parameter(parameter: torch.Tensor) -> np.ndarray:
    return parameter.detach().cpu().double().reshape(-1).numpy()


def _sample_shape(shape: Any, parameter: TensorShape, *_: Any) -> TensorShape:
    return created_shape(shape).concatenate(parameter)


@op("RandomGamma", host=("shape",), shape=_sample_shape, random=True)
def _random_gamma(shape: Sequence[int], alpha: torch.Tensor, seed: int = 0, seed2: int = 0) -> torch.Tensor:
    """Draws gamma-distributed numbers of rate 1."""
    dims = dimensions(shape)
    full = (*dims, *alpha.shape)
    if not seed and not seed2:
        wide = alpha.to(torch.float32) if alpha.itemsize == 2 else alpha
        drawn = aten.standard_gamma(wide.expand(full).contiguous(), torch_generator(alpha.device))
        return drawn.masked_fill_(wide < 0, math.nan).to(alpha.dtype)
    samples = math.prod(dims)
    stream = reserve(("RandomGamma", alpha.dtype), seed, seed2, _RESERVED * samples * alpha.numel())
    numbers = rejection.gamma(stream, _flat_parameter(alpha), samples)
    return as_result(numbers, full, alpha.dtype, alpha.device)


@_random_gamma.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return gamma_gradient(call.inputs[0], call.outputs[0], dy)


def gamma(
    shape: ShapeLike, alpha: TensorLike, beta: TensorLike | None = None, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws gamma-distributed random numbers.

    Args:
        shape: the number of samples of each distribution: the first part of the result's shape.
        alpha: the shape parameters, positive.
        beta: the rates, positive, of a shape that broadcasts with `alpha.shape`; 1 by default.
        dtype: floating; float32 by default.
        seed: repeats the numbers in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of shape `[*shape, *broadcast shape of alpha and beta]` and that dtype. Gradients pass to `alpha` and
        `beta`.

    Raises:
        InvalidArgumentError: the shape is invalid, or `alpha` and `beta` do not broadcast.
        ValueError: the dtype is not floating.

    Example:
        >>> tf.random.gamma([10], alpha=[0.5, 1.5]).shape
        TensorShape([10, 2])
    """
    dtype = as_dtype(dtype)
    alpha, beta, tiny = gamma_parameters(alpha, beta, dtype)
    return maximum(tiny, realdiv(_random_gamma(shape, alpha, *op_seeds(seed)), beta))


@op("RandomPoissonV2", host=("shape",), shape=_sample_shape, random=True)
def _random_poisson_v2(
    shape: Sequence[int], rate: torch.Tensor, seed: int = 0, seed2: int = 0, dtype: Any = int64
) -> torch.Tensor:
    """Draws Poisson-distributed numbers."""
    dims = dimensions(shape)
    full = (*dims, *rate.shape)
    if not seed and not seed2 and bool((rate >= 0).all()):
        drawn = torch.poisson(rate.double().expand(full).contiguous(), torch_generator(rate.device))
        return drawn.to(dtype.torch)
    samples = math.prod(dims)
    stream = reserve(("RandomPoissonV2", rate.dtype, dtype), seed, seed2, _RESERVED * samples * rate.numel())
    numbers = rejection.poisson(stream, _flat_parameter(rate), samples, most(dtype.torch))
    return as_result(numbers, full, dtype.torch, rate.device)


def poisson(
    shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Draws Poisson-distributed random numbers.

    Args:
        shape: the number of samples of each distribution: the first part of the result's shape.
        lam: the rates, not negative, of any shape.
        dtype: float16, float32, float64, int32 or int64; float32 by default.
        seed: repeats the numbers in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of shape `[*shape, *lam.shape]` and that dtype. No gradient passes.

    Raises:
        InvalidArgumentError: the shape is invalid.

    Example:
        >>> tf.random.poisson([10], lam=[0.5, 1.5]).shape
        TensorShape([10, 2])
    """
    return _random_poisson_v2(shape, lam, *op_seeds(seed), as_dtype(dtype), name)


@op("Multinomial", host=("num_samples",), shape=categorical_rule, random=True, batching=joined_batches)
def _multinomial_op(
    logits: torch.Tensor, num_samples: Any, seed: int = 0, seed2: int = 0, output_dtype: Any = int64
) -> torch.Tensor:
    """Draws classes by their logits."""
    check_categorical(logits, num_samples)
    batch = logits.shape[0]
    if not seed and not seed2:
        generator = torch_generator(logits.device)
        drawn = torch.rand(batch, num_samples, generator=generator, dtype=torch.float64, device=logits.device)
        return rejection.categories(drawn, logits).to(output_dtype.torch)
    blocks = _RESERVED * batch * (-(-num_samples // 4) * 8)
    stream = reserve(("Multinomial", logits.dtype, output_dtype), seed, seed2, blocks)
    return draw_categories(stream, logits, num_samples, output_dtype.torch)


not_differentiable(_random_poisson_v2, _multinomial_op)


def categorical(
    logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike = None, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws random classes by their unnormalized log-probabilities.

    Args:
        logits: a tensor of shape `[batch, classes]`, floating.
        num_samples: a scalar, the number of classes to draw for each row.
        dtype: int64 (the default) or int32.
        seed: repeats the classes in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of shape `[batch, num_samples]` and that dtype. No gradient passes.

    Raises:
        InvalidArgumentError: `logits` is no matrix, or `num_samples` is negative.
        ValueError: the dtype is another.

    Example:
        >>> tf.random.categorical([[0.0, float("-inf")]], 3).numpy().tolist()
        [[0, 0, 0]]
    """
    dtype = as_dtype(dtype) if dtype else int64
    check_dtype(dtype, (int32, int64))
    return _multinomial_op(logits, num_samples, *op_seeds(seed), dtype, name)
