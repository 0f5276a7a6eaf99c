"""The ops of `tf.random.stateless_*`, of a key and a counter or of a seed, and functions that random ops share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.gradients import sum_like, sum_wanted
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import (
    argument_shape,
    broadcast_all,
    check_rank,
    check_ranks_first,
    stated_dims,
    text,
    too_large,
    with_dimension,
    with_rank,
)
from tapeflow.core.ops.static import Unknown
from tapeflow.core.rng import elements
from tapeflow.core.rng.philox import Philox, fill, from_seed, to_integers, to_normal, to_range, to_uniform
from tapeflow.core.rng.philox import truncated_normal as fill_truncated_normal
from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import multiply
from tapeflow.math.elementwise import exp, log, log1p
from tapeflow.math.error_functions import erfc
from tapeflow.math.extrema import maximum, minimum
from tapeflow.random import rejection
from tapeflow.random.algorithms import stream_of
from tapeflow.random.gamma_gradient import random_gamma_grad

# ---- shapes ----------------------------------------------------------------------------------------------------------


def dimensions(shape: Any) -> tuple[int, ...]:
    """Checks the shape of a result, and returns it.

    Raises:
        ValueError: it is None.
        InvalidArgumentError: it is no vector, or a dimension is negative.
    """
    if shape is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    if type(shape) is not tuple or any(type(d) is tuple for d in shape):
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {text(np.shape(shape))}")
    for d in shape:
        if d < 0:
            raise invalid(f"Dimension {d} must be >= 0")
    if math.prod(shape) >= 2**63:
        raise invalid(too_large(TensorShape(shape)))
    return shape


def created_shape(shape: Any, *_: Any) -> TensorShape:
    """Computes the shape of the result of ops with a shape argument, as their shape rule."""
    check_rank(shape, 1)
    if isinstance(shape, Unknown):
        return TensorShape(None)
    if state.graph is not None and type(shape) is tuple and not any(type(d) is tuple for d in shape):
        return TensorShape(stated_dims(shape))
    return TensorShape(list(dimensions(shape)))


def batches(shape: ShapeLike, *parameters: torch.Tensor) -> tuple[tuple[int, ...], list[np.ndarray], int]:
    """Broadcasts parameters to the end of a result's shape.

    Args:
        shape: the shape of the result.
        *parameters: the parameters of the distributions.

    Returns:
        The shape, the flat broadcast parameters, and the number of samples of each distribution.

    Raises:
        InvalidArgumentError: the shape does not end with the broadcast shape of the parameters.
    """
    dims = dimensions(shape)
    if 0 in dims and len(parameters) == 1:  # only the op of two parameters checks its last dimensions
        return dims, [np.zeros(0) for _ in parameters], 0
    batch = tuple(torch.broadcast_tensors(*parameters)[0].shape)
    if dims[len(dims) - len(batch) :] != batch or len(batch) > len(dims):
        raise invalid("Shape passed in must end with broadcasted shape.")
    arrays = [p.detach().cpu().to(_wide_dtype(p.dtype)).broadcast_to(batch).reshape(-1).numpy() for p in parameters]
    return dims, arrays, math.prod(dims[: len(dims) - len(batch)])


def _wide_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def as_result(numbers: np.ndarray, dims: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Converts an array of numbers drawn on the CPU to the op's result."""
    return torch.from_numpy(numbers).reshape(dims).to(dtype).to(device)


# ---- ops of a key and a counter --------------------------------------------------------------------------------------


def _keyed_kernel(draw: Callable[..., torch.Tensor], *args: Any) -> Callable[..., torch.Tensor]:
    def kernel(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any, device: torch.device) -> torch.Tensor:
        dims = dimensions(shape)
        return draw(stream_of(key, counter, alg), math.prod(dims), dtype.torch, device, *args).reshape(dims)

    return kernel


def _check_key(shape: Any, key: Any, counter: Any, alg: Any, *_: Any) -> TensorShape:
    for argument, rank in ((key, 1), (counter, 1), (alg, 0)):
        check_rank(argument, rank)
    with_dimension(argument_shape(key), 0, 1)
    return created_shape(shape)


_HOST = ("shape", "key", "counter", "alg")


_DRAW: dict[str, Any] = {"host": _HOST, "shape": _check_key, "creates": True}
uniform_of = defined_op("StatelessRandomUniformV2", _keyed_kernel(fill, to_uniform), **_DRAW, draws=elements.uniform)
integers_of = defined_op("StatelessRandomUniformFullIntV2", _keyed_kernel(fill, to_integers), **_DRAW)
normal_of = defined_op("StatelessRandomNormalV2", _keyed_kernel(fill, to_normal), **_DRAW, draws=elements.normal)
truncated_normal_of = defined_op("StatelessTruncatedNormalV2", _keyed_kernel(fill_truncated_normal), **_DRAW)


def integer_bounds(minval: torch.Tensor, maxval: torch.Tensor, count: int) -> tuple[int, int]:
    """Returns the bounds of random integers as Python ints.

    Raises:
        InvalidArgumentError: they are no scalars, or the lower is not below the upper.
    """
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.ndim:
            raise invalid(f"{name} must be 0-D, got shape {text(bound.shape)}")
    low, high = int(minval), int(maxval)
    if low >= high and count:
        raise invalid(f"Need minval < maxval, got {low} >= {high}")
    return low, high


def _integers_kernel(
    shape: Any, key: tuple[int, ...], counter: tuple[int, ...], alg: int, minval: torch.Tensor,
    maxval: torch.Tensor, device: torch.device,
) -> torch.Tensor:  # fmt: skip
    dims = dimensions(shape)
    low, high = integer_bounds(minval, maxval, math.prod(dims))
    if not math.prod(dims):
        return torch.empty(dims, dtype=minval.dtype, device=device)
    stream = stream_of(key, counter, alg)
    return fill(stream, math.prod(dims), minval.dtype, device, to_range, low, high).reshape(dims)


# Draws integers between bounds.
range_of = defined_op(
    "StatelessRandomUniformIntV2",
    _integers_kernel,
    host=_HOST,
    shape=check_ranks_first(_check_key, *[None] * 4, 0, 0),
    creates=True,
)


@op("StatelessRandomGammaV3", host=_HOST, shape=_check_key)
def gamma_of(
    shape: Sequence[int], key: tuple[int, ...], counter: tuple[int, ...], alg: int, alpha: torch.Tensor
) -> torch.Tensor:
    """Draws gamma-distributed numbers of rate 1."""
    dims, (alphas,), samples = batches(shape, alpha)
    numbers = rejection.gamma(stream_of(key, counter, alg), alphas, samples)
    return as_result(numbers, dims, alpha.dtype, alpha.device)


@gamma_of.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return gamma_gradient(call.inputs[0], call.outputs[0], dy)


def gamma_gradient(alpha: Any, sample: Any, dy: Any) -> Any:
    """Computes the gradient of gamma-distributed numbers by `alpha`, whose shape is the end of theirs."""
    return sum_like(multiply(dy, random_gamma_grad(alpha, sample)), alpha)


not_differentiable(uniform_of, integers_of, normal_of, truncated_normal_of, range_of)

# ---- ops of a seed ---------------------------------------------------------------------------------------------------


def _check_seed(seed: Any) -> Philox:
    if type(seed) is not tuple or len(seed) != 2:
        raise invalid(f"seed must have shape [2], not {text(np.shape(seed))}")
    return from_seed(seed)


def _seeded_rule(rule: Callable[..., Any], position: int) -> Any:
    """Returns a shape rule that first checks the seed among an op's arguments."""

    def check_seed(*args: Any) -> Any:
        with_dimension(with_rank(args[position], 1), 0, 2)
        return rule(*args)

    return check_seed


def _with_parameters(shape: Any, _: Any, *parameters: Any) -> TensorShape:
    broadcast_all(*parameters)
    return created_shape(shape)


def most(dtype: torch.dtype) -> float:
    """Returns the largest number of a dtype."""
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def _check_compatible(title: str, *parameters: torch.Tensor) -> None:
    shapes = [TensorShape(p.shape) for p in parameters]
    try:
        broadcast_all(*shapes)
    except InvalidArgumentError:
        listed = " vs. ".join(text(s) for s in shapes)
        raise invalid(f"{title} must have compatible batch dimensions: {listed}") from None


@op("StatelessRandomBinomial", host=("shape", "seed"), shape=_seeded_rule(created_shape, 1))
def binomial_of(
    shape: Sequence[int], seed: int | None, counts: torch.Tensor, probs: torch.Tensor, dtype: Any = int64
) -> torch.Tensor:
    """Draws binomially distributed numbers."""
    stream = _check_seed(seed)
    _check_compatible("counts and probs", counts, probs)
    dims, (count, probability), samples = batches(shape, counts, probs)
    numbers = rejection.binomial(stream, count, probability, samples)
    return as_result(numbers, dims, dtype.torch, counts.device)


@op("StatelessRandomPoisson", host=("shape", "seed"), shape=_seeded_rule(created_shape, 1))
def poisson_of(shape: tuple[int, ...], seed: int | None, lam: torch.Tensor, dtype: Any) -> torch.Tensor:
    """Draws Poisson-distributed numbers."""
    stream = _check_seed(seed)
    dims, (rate,), samples = batches(shape, lam)
    return as_result(rejection.poisson(stream, rate, samples, most(dtype.torch)), dims, dtype.torch, lam.device)


def check_categorical(logits: torch.Tensor, num_samples: int) -> None:
    """Checks the arguments of an op that draws classes.

    Raises:
        InvalidArgumentError: `logits` is no matrix or has no classes, or `num_samples` is negative or no scalar.
        NotFoundError: `logits` is of integers.
    """
    if not logits.is_floating_point():
        raise NotFoundError.of("there is no kernel for logits of integers: cast them to a floating dtype")
    if logits.ndim != 2:
        raise TypeError("the shape rule says what is wrong")
    if type(num_samples) is not int:
        raise invalid(f"num_samples should be a scalar, got {num_samples}")
    if num_samples < 0:
        raise invalid(f"num_samples should be non-negative, got {num_samples}")
    if not logits.shape[1]:
        raise invalid("num_classes should be positive, got 0")


def draw_categories(stream: Philox, logits: torch.Tensor, num_samples: int, dtype: torch.dtype) -> torch.Tensor:
    """Draws classes with the next numbers of a stream, row by row."""
    batch = logits.shape[0]
    uniform = fill(stream, batch * num_samples, torch.float64, logits.device, to_uniform)
    return rejection.categories(uniform.reshape(batch, num_samples), logits).to(dtype)


def categorical_rule(logits: TensorShape, num_samples: int, *_: Any) -> TensorShape:
    """Computes the shape of samples of classes."""
    if logits.rank not in (2, None):
        raise invalid(f"logits should be a matrix, got shape {text(logits)}")
    check_rank(num_samples, 0)
    count = num_samples if isinstance(num_samples, int) else None
    return TensorShape([logits[0] if logits.rank else None, count])


@op("StatelessMultinomial", host=("num_samples", "seed"), shape=_seeded_rule(categorical_rule, 2))
def categories_of(logits: torch.Tensor, num_samples: Any, seed: int | None, output_dtype: Any = int64) -> torch.Tensor:
    """Draws classes by their logits."""
    stream = _check_seed(seed)
    check_categorical(logits, num_samples)
    return draw_categories(stream, logits, num_samples, output_dtype.torch)


def _draw_between_bounds(shape: Sequence[int], seed: Any, *parameters: torch.Tensor) -> torch.Tensor:
    stream = _check_seed(seed)
    _check_compatible("means, stddevs, minvals, maxvals", *parameters)
    dims, arrays, samples = batches(shape, *parameters)
    dtype, device = parameters[0].dtype, parameters[0].device
    return as_result(rejection.truncated_normal(stream, arrays, samples, _wide_dtype(dtype)), dims, dtype, device)


# Draws normally distributed numbers between bounds.
bounded_normal_of = defined_op(
    "StatelessParameterizedTruncatedNormal",
    _draw_between_bounds,
    host=("shape", "seed"),
    shape=_seeded_rule(_with_parameters, 1),
)


@bounded_normal_of.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    """Differentiates implicitly, through the distribution function (Figurnov et al., 2018)."""
    mean, stddev, low, high = call.inputs
    low_z, high_z, z = ((bound - mean) / stddev for bound in (low, high, call.outputs[0]))
    floor = _normal_cdf(low_z)
    share = (_normal_cdf(z) - floor) / (_normal_cdf(high_z) - floor)
    info = np.finfo(share.dtype.as_numpy_dtype)
    share = maximum(minimum(share, 1 - float(info.eps)), float(info.tiny))
    by_low = exp(0.5 * (z * z - low_z * low_z) + log1p(-share))
    by_high = exp(0.5 * (z * z - high_z * high_z) + log(share))
    return sum_wanted(call, *[functools.partial(multiply, dy, factor) for factor in (1.0, z, by_low, by_high)])


def _normal_cdf(z: Tensor) -> Any:
    """Returns the probability that a standard normal number is less."""
    return 0.5 * erfc(z * -math.sqrt(0.5))


not_differentiable(binomial_of, poisson_of, categories_of)
