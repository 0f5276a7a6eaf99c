"""Random numbers by rejection, with the numbers of TensorFlow's CPU kernels, but for whole arrays at once.

Each result uses its own part of the stream, so its draws do not change the next result. All is computed in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.memory import check_memory
from tapeflow.core.rng.philox import Philox, to_normal, to_uniform
from tapeflow.core.values.tensor import invalid

Array = np.ndarray


class _Draws:
    """Uniform and normal numbers for each result, from its own stretch of the stream.

    Args:
        stream: the stream.
        starts: the first block of each result's part of the stream.
    """

    def __init__(self, stream: Philox, starts: Array) -> None:
        self.stream = stream
        self.position = starts.astype(np.int64)
        count = len(starts)
        # A block holds two numbers of one kind. The second number is used first.
        kinds = (to_uniform, to_normal)
        self.buffers = {kind: (np.empty((count, 2)), np.zeros(count, np.int64)) for kind in kinds}

    def _draw(self, kind: Callable[..., Any], which: Array) -> Array:
        numbers, left = self.buffers[kind]
        empty = which[left[which] == 0]
        if len(empty):
            words = torch.from_numpy(self.stream.words_at(self.position[empty]).view(np.int32))
            numbers[empty] = kind(words, torch.float64).numpy().reshape(-1, 2)
            self.position[empty] += 1
            left[empty] = 2
        left[which] -= 1
        return numbers[which, left[which]]

    def uniform(self, which: Array) -> Array:
        """Draws the next uniform number in [0, 1) for each of these results."""
        return self._draw(to_uniform, which)

    def normal(self, which: Array) -> Array:
        """Draws the next normal number for each of these results."""
        return self._draw(to_normal, which)


_ROUNDS = 1000  # a round accepts at least a third of the proposals, and sums end within some dozens
_BYTES_OF_RESULT = 128  # with its draws and what is computed of them


class _Active:
    """The results that are not accepted yet.

    Args:
        numbers: the results.
        distribution: its name, for the error.
    """

    def __init__(self, numbers: Array, distribution: str) -> None:
        self.numbers, self.distribution = numbers, distribution

    def __iter__(self) -> Iterator[Array]:
        """Yields the results of each round.

        Raises:
            InvalidArgumentError: the parameters let no proposal pass.
        """
        for rounds in itertools.count():
            if not len(self.numbers):
                return
            if rounds == _ROUNDS:
                raise invalid(f"No number of the {self.distribution} distribution with these parameters can be drawn")
            yield self.numbers


def _by_parameter(parameters: list[Array], samples: int) -> tuple[list[Array], Array]:
    """Returns the parameters of each result, and its number: all samples of the first parameters come first."""
    check_memory((len(parameters[0]), samples), _BYTES_OF_RESULT)
    return [np.repeat(p.astype(np.float64), samples) for p in parameters], np.arange(len(parameters[0]) * samples)


def _samples_first(results: Array, shape: tuple[int, int]) -> Array:
    """Returns results `[samples, parameters]` of those in the order of `shape`, which is the other way round."""
    return np.ascontiguousarray(results.reshape(shape).T)


# ---- gamma -----------------------------------------------------------------------------------------------------------


def gamma(stream: Philox, alpha: Array, samples: int) -> Array:
    """Draws gamma-distributed numbers of rate 1: `[samples, len(alpha)]`.

    Source: Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).
    """
    shape = (len(alpha), samples)
    (alpha,), number = _by_parameter([alpha], samples)
    draws = _Draws(stream, 256 * number)
    out = np.empty(len(number))
    exponential = alpha == 1
    ones = number[exponential]
    out[ones] = -np.log1p(-draws.uniform(ones))
    below_one = alpha < 1
    with np.errstate(all="ignore"):
        d = alpha + np.where(below_one, 2 / 3, -1 / 3)
        c = 1 / 3 / np.sqrt(d)
    valid = alpha >= 0
    out[~valid] = np.nan
    left = _Active(number[~exponential & valid], "gamma")
    waiting = np.ones(len(number), bool)
    for active in left:
        x = draws.normal(active)
        v = 1 + c[active] * x
        usable = v > 0
        tried, x, v = active[usable], x[usable], v[usable]
        v = v * v * v
        u = draws.uniform(tried)
        with np.errstate(all="ignore"):
            good = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < 0.5 * x * x + d[tried] * (1 - v + np.log(v)))
        done = tried[good]
        out[done] = d[done] * v[good]
        small = done[below_one[done]]
        with np.errstate(all="ignore"):
            out[small] *= draws.uniform(small) ** (1 / alpha[small])
        waiting[done] = False
        left.numbers = active[waiting[active]]
    return _samples_first(out, shape)


# ---- Poisson ---------------------------------------------------------------------------------------------------------


def poisson(stream: Philox, rate: Array, samples: int, most: float) -> Array:
    """Draws Poisson-distributed numbers, none above `most`: `[samples, len(rate)]`.

    Source: for rates below 10 Knuth, "The Art of Computer Programming", vol. 2, 3.4.1; for others Hörmann, "The
    transformed rejection method for generating Poisson random variables", Insurance: Mathematics and Economics 12
    (1993).

    Raises:
        InvalidArgumentError: a rate is not finite.
    """
    if not np.isfinite(rate).all():
        raise invalid("the rates of Poisson distributions must be finite")
    shape = (len(rate), samples)
    (rate,), number = _by_parameter([rate], samples)
    draws = _Draws(stream, 256 * number)
    out = np.zeros(len(number))
    _poisson_by_products(draws, rate, number[rate < 10], out, most)
    _poisson_by_rejection(draws, rate, number[rate >= 10], out, most)
    return _samples_first(out, shape)


def _poisson_by_products(draws: _Draws, rate: Array, active: Array, out: Array, most: float) -> None:
    """Counts the uniform numbers that can be multiplied before the product falls to `exp(-rate)`."""
    product = np.ones(len(out))
    with np.errstate(over="ignore"):
        enough = np.exp(-rate)
    left = _Active(active, "Poisson")
    for active in left:
        product[active] *= draws.uniform(active)
        goes_on = ~((product[active] <= enough[active]) & (out[active] <= most))
        left.numbers = active[goes_on]
        out[left.numbers] += 1


def _poisson_by_rejection(draws: _Draws, rate: Array, active: Array, out: Array, most: float) -> None:
    b = 0.931 + 2.53 * np.sqrt(np.maximum(rate, 0))
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    left = _Active(active, "Poisson")
    for active in left:
        u = draws.uniform(active) - 0.5
        v = draws.uniform(active)
        near = 0.5 - np.abs(u)
        mean, width, height = rate[active], b[active], a[active]
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2 * height / near + width) * u + mean + 0.43)
            inside = (near >= 0.07) & (v <= 0.9277 - 3.6224 / (width - 2))
            outside = (k < 0) | ((near < 0.013) & (v > near))
            ratio = np.log(v * inverse_alpha[active] / (height / (near * near) + width))
            likelihood = -mean + k * np.log(mean) - torch.lgamma(torch.from_numpy(k + 1)).numpy()
            good = (k <= most) & (inside | (~outside & (ratio <= likelihood)))
        out[active[good]] = k[good]
        left.numbers = active[~good]


# ---- binomial --------------------------------------------------------------------------------------------------------


def binomial(stream: Philox, count: Array, probability: Array, samples: int) -> Array:
    """Draws binomially distributed numbers: `[samples, len(count)]`.

    Source: for 10 or more expected successes, Hörmann, "The generation of binomial random variates", Journal of
    Statistical Computation and Simulation 46 (1993). Otherwise, the gaps between successes are drawn, which are
    geometrically distributed.
    """
    shape = (len(count), samples)
    (count, probability), number = _by_parameter([count, probability], samples)
    many = probability > 0.5
    p = np.where(many, 1 - probability, probability)  # of the rarer outcome
    out = np.zeros(len(number))
    certain = ~((count > 0) & (probability > 0) & (probability < 1))
    often = count * p >= 10
    _binomial_by_gaps(_Draws(stream, 42 * number), count, p, number[~certain & ~often], out)
    _binomial_by_rejection(_Draws(stream, 256 * number), count, p, number[~certain & often], out)
    np.subtract(count, out, out=out, where=many & (count > 0))
    return _samples_first(np.where(np.isnan(probability), np.nan, out), shape)


def _binomial_by_gaps(draws: _Draws, count: Array, p: Array, active: Array, out: Array) -> None:
    reached = np.zeros(len(out))
    left = _Active(active, "binomial")
    for active in left:
        with np.errstate(divide="ignore"):
            reached[active] += np.ceil(np.log(draws.uniform(active)) / np.log1p(-p[active]))
        left.numbers = active[~(reached[active] > count[active])]
        out[left.numbers] += 1


# log(k!) minus Stirling's approximation of it, for k below 10.
_STIRLING_TAIL = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
])  # fmt: skip


def _stirling_tail(k: Array) -> Array:
    square = (k + 1) * (k + 1)
    tail = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, _STIRLING_TAIL[np.clip(np.nan_to_num(k), 0, 9).astype(np.int64)], tail)


def _binomial_by_rejection(draws: _Draws, count: Array, p: Array, active: Array, out: Array) -> None:
    left = _Active(active, "binomial")
    for active in left:
        n, q = count[active], p[active]
        deviation = np.sqrt(n * q * (1 - q))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * q
        r = q / (1 - q)
        mode = np.floor((n + 1) * q)
        u = draws.uniform(active)
        v = draws.uniform(active)
        u = u - 0.5
        near = 0.5 - np.abs(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2 * a / near + b) * u + n * q + 0.5)
            inside = (near >= 0.07) & (v <= 0.92 - 4.2 / b)
            possible = (k >= 0) & (k <= n)
            ratio = np.log(v * ((2.83 + 5.1 / b) * deviation) / (a / (near * near) + b))
            bound = (
                (mode + 0.5) * np.log((mode + 1) / (r * (n - mode + 1)))
                + (n + 1) * np.log((n - mode + 1) / (n - k + 1))
                + (k + 0.5) * np.log(r * (n - k + 1) / (k + 1))
                + _stirling_tail(mode)
                + _stirling_tail(n - mode)
                - _stirling_tail(k)
                - _stirling_tail(n - k)
            )
            good = inside | (possible & (ratio <= bound))
        out[active[good]] = k[good]
        left.numbers = active[~good]


# ---- categories ------------------------------------------------------------------------------------------------------


def categories(uniform: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """Returns the classes that uniform numbers choose.

    Args:
        uniform: float64 `[batch, samples]` in [0, 1).
        logits: floating `[batch, classes]`; classes of logits that are not finite are never chosen.

    Returns:
        int64 `[batch, samples]`.
    """
    finite = torch.isfinite(logits)
    wide = logits.double()
    largest = torch.where(finite, wide, -torch.inf).amax(1, keepdim=True)
    weights = torch.where(finite, torch.exp(wide - largest), 0.0)
    totals = torch.cumsum(weights, 1)
    return torch.searchsorted(totals, uniform * totals[:, -1:], right=True)


# ---- truncated normal ------------------------------------------------------------------------------------------------


def truncated_normal(stream: Philox, parameters: list[Array], samples: int, dtype: torch.dtype) -> Array:
    """Draws normally distributed numbers between bounds: `[samples, batches]`.

    The batches draw one after the other from one stream, as TensorFlow does with one thread.

    Source: Robert, "Simulation of truncated normal variables", Statistics and Computing 5 (1995).

    Args:
        stream: the stream.
        parameters: means, standard deviations, lower and upper bounds, one for each batch.
        samples: the number of results for each batch.
        dtype: float32 or float64, to compute in.

    Raises:
        InvalidArgumentError: a standard deviation is not positive, or no finite bound is below the other.
    """
    rows = []
    for mean, deviation, low, high in zip(*parameters, strict=True):
        if not (deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
            raise invalid("Invalid parameters")
        if (np.isinf(low) and low < 0) or high < mean:  # mirrored: the finite bound becomes the lower one
            low, high, deviation = high, low, -deviation
        numbers, blocks = _draw_between(stream, (low - mean) / deviation, (high - mean) / deviation, samples, dtype)
        rows.append(numbers * deviation + mean)
        stream = stream.skipped(blocks)
    return np.stack(rows, 1) if rows else np.empty((samples, 0))


def _draw_between(stream: Philox, low: Any, high: Any, samples: int, dtype: torch.dtype) -> tuple[Array, int]:
    """Draws standard normal numbers between bounds, and counts the blocks that they took."""
    kind = type(low)
    root = np.sqrt(low * low + kind(4))
    with np.errstate(over="ignore"):
        cutoff = kind(2) * np.exp(kind(0.5) + (low * (low - root)) / kind(4)) / (low + root)
    if (low < kind(-1.3) and high >= 0) or (high > kind(1.3) and low <= 0):
        propose, each = _propose_normal, 1
    elif high - low < cutoff:
        propose, each = _propose_uniform, 2
    else:
        propose, each = _propose_exponential, 1
    out: list[Array] = []
    count = used = 0
    while count < samples:
        blocks = max(2 * (samples - count) * each // (4 if dtype == torch.float32 else 2), each * 4)
        words = stream.skipped(used).words(blocks - blocks % each, torch.device("cpu"))
        number, good, block = propose(words, low, high, dtype)
        accepted = np.flatnonzero(good)[: samples - count]
        out.append(number[accepted])
        count += len(accepted)
        if count < samples:
            used += blocks - blocks % each
            if not len(accepted):
                raise invalid("TruncatedNormal failed to accept a sample: the bounds are too far from the mean")
        else:
            used += (int(block[accepted[-1]]) + 1) if samples else 0
    return np.concatenate(out) if out else np.empty(0, kind), used


def _propose_normal(
    words: torch.Tensor, low: np.generic, high: np.generic, dtype: torch.dtype
) -> tuple[Array, Array, Array]:
    """Proposes numbers; returns them, which of them are accepted, and the block that each took."""
    z = to_normal(words, dtype).numpy()
    return z, (z >= low) & (z <= high), np.arange(len(z)) // (len(z) // len(words))


def _propose_uniform(words: torch.Tensor, low: Any, high: Any, dtype: torch.dtype) -> tuple[Array, Array, Array]:
    kind = type(low)
    numbers = to_uniform(words, dtype).numpy().reshape(len(words) // 2, 2, -1)
    z = numbers[:, 0] * (high - low) + low
    plus = kind(0) if low < 0 else low * low
    good = numbers[:, 1] <= np.exp((plus - z * z) / kind(2))
    block = np.repeat(2 * np.arange(len(z)) + 1, z.shape[1])
    return z.reshape(-1), good.reshape(-1), block


def _propose_exponential(words: torch.Tensor, low: Any, high: Any, dtype: torch.dtype) -> tuple[Array, Array, Array]:
    kind = type(low)
    alpha = (low + np.sqrt(low * low + kind(4))) / kind(2)
    numbers = to_uniform(words, dtype).numpy().reshape(-1, 2)
    with np.errstate(divide="ignore"):
        z = -np.log(numbers[:, 0]) / alpha + low
    x = alpha - z if low < alpha else np.full_like(z, low - alpha)
    good = (numbers[:, 1] <= np.exp(-x * x / kind(2))) & (z < high)
    return z, good, np.arange(len(z)) // (len(z) // len(words))
