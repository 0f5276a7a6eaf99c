"""Samplers of classes, for losses that look at a few classes instead of all."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import OpFunction, not_differentiable, op
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.os_errors import translate_os_errors
from tapeflow.core.rng.seeds import op_seeds
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.draws import Draws, draws


class _Samples(NamedTuple):
    """Classes that were sampled, and the expected counts of the true and the sampled ones among them."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class AllCandidateSampler(_Samples):
    """The result of `tf.nn.all_candidate_sampler`."""


class FixedUnigramCandidateSampler(_Samples):
    """The result of `tf.random.fixed_unigram_candidate_sampler`."""


class LearnedUnigramCandidateSampler(_Samples):
    """The result of `tf.random.learned_unigram_candidate_sampler`."""


class LogUniformCandidateSampler(_Samples):
    """The result of `tf.random.log_uniform_candidate_sampler`."""


class UniformCandidateSampler(_Samples):
    """The result of `tf.random.uniform_candidate_sampler`."""


class ComputeAccidentalHits(NamedTuple):
    """The result of `tf.nn.compute_accidental_hits`."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


Draw = Callable[[Draws], int]
Probability = Callable[[int], float]
_TRIES = 2**17  # draws, beside 100 for each sample: enough for classes that are not as good as impossible
_BYTES_OF_SAMPLE = 64  # of a Python number in a list and a set

# ---- sampling --------------------------------------------------------------------------------------------------------


def check_at_least(least: int, **attrs: int) -> None:
    """Raises TensorFlow's error for an attr below its minimum, or one that needs more than 32 bits."""
    for name, value in attrs.items():
        if value < least:
            raise invalid(f"Value for attr '{name}' of {value} must be at least minimum {least}")
        if value >= 2**31:
            raise invalid(f"Attr {name} has value {value} out of range for an int32")


def _sample(
    op: Any,
    true_classes: torch.Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seeds: tuple[int, int],
    draw: Draw,
    probability: Probability,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draws classes, and computes the expected count of each of them and of each true one."""
    check_at_least(1, num_true=num_true, num_sampled=num_sampled, range_max=range_max)
    true = _true_classes(true_classes, num_true, range_max)
    if unique and num_sampled > range_max:
        raise invalid("Sampler's range is too small.")
    check_memory([num_sampled], _BYTES_OF_SAMPLE)
    random = draws((op, num_true, num_sampled, unique, range_max), *seeds, 2048 * num_sampled)
    sampled: list[int] = []
    tries = num_sampled
    if unique:
        seen: set[int] = set()
        tries = 0
        while len(sampled) < num_sampled:
            if tries > _TRIES + 100 * num_sampled:
                raise invalid(
                    f"{num_sampled} different classes of {range_max} were not found in {tries} draws: the others are "
                    "too unlikely. Sample fewer, or with unique=False"
                )
            tries += 1
            value = draw(random)
            if value not in seen:
                seen.add(value)
                sampled.append(value)
    else:
        sampled = [draw(random) for _ in range(num_sampled)]

    def expected(value: int) -> float:
        p = probability(value)
        if tries == num_sampled:
            return p * num_sampled
        return -math.expm1(tries * math.log1p(-p)) if p < 1 else 1.0

    counts = [[expected(value) for value in row] for row in true]
    device = true_classes.device
    return (
        torch.tensor(sampled, dtype=torch.int64, device=device),
        torch.tensor(counts, dtype=torch.float32, device=device).view(true_classes.shape),
        torch.tensor([expected(value) for value in sampled], dtype=torch.float32, device=device),
    )


def _true_classes(true_classes: torch.Tensor, num_true: int, range_max: int) -> list[list[int]]:
    if true_classes.dim() != 2:
        raise invalid("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise invalid(f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}")
    values = true_classes.tolist()
    for row in values:
        for value in row:
            if not 0 <= value < range_max:
                raise invalid(f"`true_candidate` out of range [0, {range_max}), received {value}")
    return values


# ---- the samplers' ops -----------------------------------------------------------------------------------------------


def _samples_rule(true_classes: TensorShape, num_true: int, num_sampled: int, *_: Any) -> list[TensorShape]:
    batch = true_classes[0] if true_classes.rank == 2 else None
    return [TensorShape(dims) for dims in ([num_sampled], [batch, num_true], [num_sampled])]


def _sampler(registered_name: str, kernel: Callable[..., Any]) -> OpFunction[..., Any]:
    """Declares an op that samples classes below `range_max`."""

    @op(registered_name, kernel=kernel, shape=_samples_rule)
    def sampler(
        true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Samples classes."""

    return sampler


def _uniform_kernel(
    true_classes: torch.Tensor, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int
) -> Any:
    return _sample(
        "UniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, (seed, seed2),
        lambda random: random.below(range_max, 64), lambda _: 1 / range_max,
    )  # fmt: skip


def _log_uniform_kernel(
    true_classes: torch.Tensor, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int
) -> Any:
    span = math.log1p(range_max)
    return _sample(
        "LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, (seed, seed2),
        lambda random: (int(math.exp(random.uniform() * span)) - 1) % range_max,
        lambda value: math.log((value + 2.0) / (value + 1.0)) / span,
    )  # fmt: skip


class _LearnedCounts:
    """The sampling weights of classes: 1 plus the number of occurrences of the class as a true class."""

    def __init__(self, range_max: int) -> None:
        self.occurrences: dict[int, int] = {}
        self._total = range_max
        # The classes that occurred, in order, and for each the sum of the weights of all classes up to it.
        self._order: tuple[list[int], list[int]] = [], []

    def add(self, values: Iterable[int]) -> None:
        """Counts an occurrence of each class."""
        for value in values:
            self.occurrences[value] = self.occurrences.get(value, 0) + 1
            self._total += 1
        values = sorted(self.occurrences)
        counts = itertools.accumulate(self.occurrences[value] for value in values)
        self._order = values, [value + 1 + count for value, count in zip(values, counts, strict=True)]

    def draw(self, random: Draws) -> int:
        """Draws a class by the weights."""
        place, (values, ends) = random.below(self._total), self._order
        i = bisect.bisect_right(ends, place)
        before = ends[i - 1] - values[i - 1] - 1 if i else 0  # occurrences of smaller classes
        return min(place - before, values[i]) if i < len(values) else place - before

    def probability(self, value: int) -> float:
        """Returns the probability of a class."""
        return (1 + self.occurrences.get(value, 0)) / self._total


@functools.lru_cache(64)
def _learned_counts(key: Any) -> _LearnedCounts:
    """Returns the counts of the sampler with these attrs."""
    return _LearnedCounts(key[3])


def _learned_kernel(
    true_classes: torch.Tensor, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int
) -> Any:
    learned = _learned_counts((num_true, num_sampled, unique, range_max, seed, seed2))
    samples = _sample(
        "LearnedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, (seed, seed2),
        learned.draw, learned.probability,
    )  # fmt: skip
    learned.add(true_classes.reshape(-1).tolist())
    return samples


_uniform = _sampler("UniformCandidateSampler", _uniform_kernel)
_log_uniform = _sampler("LogUniformCandidateSampler", _log_uniform_kernel)
_learned = _sampler("LearnedUnigramCandidateSampler", _learned_kernel)


class _Alias:
    """Draws numbers by their weights in constant time, by Walker's alias method."""

    def __init__(self, weights: Iterable[float]) -> None:
        weights = list(weights)
        total, n = sum(weights) or math.nan, len(weights)
        self.own = [w * n / total for w in weights]
        self.alias = list(range(n))
        high = [i for i in range(n) if self.own[i] >= 1]
        low = [i for i in range(n) if self.own[i] < 1]
        while high and low:  # a high one fills up a low one
            a, b = low.pop(), high.pop()
            self.alias[a] = b
            self.own[b] -= 1 - self.own[a]
            (low if self.own[b] < 1 else high).append(b)
        for i in (*high, *low):
            self.own[i] = 1.0

    def draw(self, random: Draws) -> int:
        """Draws an index by the weights."""
        share = random.uniform32()
        value = random.below(len(self.own))
        return value if share < self.own[value] else self.alias[value]


class _Distribution(NamedTuple):
    """The weights of classes, their sum, the number of those that are not 0, and how to draw by them."""

    weights: list[float]
    total: float
    likely: int
    draw: Draw


def _given_weights(vocab_file: str, unigrams: tuple[float, ...]) -> tuple[float, ...]:
    """Returns the weights in a vocabulary, or those of `unigrams`."""
    if not vocab_file and not unigrams:
        raise invalid("Must provide either vocab_file or unigrams.")
    if vocab_file and unigrams:
        raise invalid("Must only provide one of vocab_file and unigrams.")
    if not vocab_file:
        return unigrams
    try:
        with translate_os_errors(vocab_file), open(vocab_file, encoding="utf-8") as lines:
            return tuple(float(line.rsplit(",", 1)[1]) for line in lines if line.strip())
    except (IndexError, ValueError):
        raise invalid(f"Bad line in vocab_file {vocab_file}: each must end in a comma and a number") from None


@functools.lru_cache(4)
def _fixed_distribution(
    range_max: int, given: tuple[float, ...], distortion: float, reserved: int, num_shards: int, shard: int
) -> _Distribution:
    """Computes the weight of each class of a shard: the given one to the power of the distortion.

    The shard's classes are numbered from 0: class `i` is the id `i * num_shards + shard`.
    """
    check_at_least(1, num_shards=num_shards)
    check_at_least(0, shard=shard)
    zeros = len(range(shard, max(reserved, 0), num_shards))
    # As in TensorFlow, the vocabulary's ids go on from the number of the shard's own reserved ones.
    own = given[(shard - zeros) % num_shards :: num_shards] if shard < num_shards else ()
    if zeros + len(own) != range_max:
        raise invalid(f"range is {range_max} must be equal to weights size  {zeros + len(own)}")
    weights = [0.0] * zeros + [_to_the_power(w, distortion) for w in own]
    likely = sum(weight != 0 for weight in weights)
    return _Distribution(weights, sum(weights) or math.nan, likely, _Alias(weights).draw)


def _to_the_power(weight: float, distortion: float) -> float:
    """Returns a weight to a power, and NaN or infinity where Python raises errors."""
    with np.errstate(all="ignore"):
        return float(np.float64(weight) ** distortion)


@op("FixedUnigramCandidateSampler", shape=_samples_rule)
def _fixed(
    true_classes: torch.Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str,
    distortion: float,
    num_reserved_ids: int,
    num_shards: int,
    shard: int,
    unigrams: Any,
    seed: int,
    seed2: int,
) -> Any:
    """Samples classes by weights."""
    attrs = (range_max, vocab_file, distortion, num_reserved_ids, num_shards, shard, tuple(unigrams))
    given = _given_weights(vocab_file, attrs[-1])
    weights, total, likely, draw = _fixed_distribution(range_max, given, *attrs[2:-1])
    if unique and likely < num_sampled <= range_max:
        raise invalid(f"{num_sampled} different classes can't be sampled: only {likely} have a weight other than 0")
    return _sample(
        ("FixedUnigramCandidateSampler", *attrs), true_classes, num_true, num_sampled, unique, range_max,
        (seed, seed2), draw, lambda value: weights[value] / total,
    )  # fmt: skip


@op("AllCandidateSampler", shape=_samples_rule)
def _all(true_classes: torch.Tensor, num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int) -> Any:
    """Returns all classes."""
    _true_classes(true_classes, num_true, num_sampled)
    device = true_classes.device
    return (
        torch.arange(num_sampled, device=device),
        torch.ones(true_classes.shape, device=device),
        torch.ones(num_sampled, device=device),
    )


def _hits_rule(true_classes: TensorShape, sampled: TensorShape, num_true: int, *_: Any) -> list[TensorShape]:
    columns = with_rank(true_classes, 2)[1]
    if columns not in (None, num_true):
        raise invalid(f"Dimension must be {num_true} but is {columns}")
    with_rank(sampled, 1)
    return [TensorShape([None])] * 3


@op("ComputeAccidentalHits", shape=_hits_rule)
def _accidental_hits(
    true_classes: torch.Tensor, sampled_candidates: torch.Tensor, num_true: int, seed: int, seed2: int
) -> tuple[torch.Tensor, ...]:
    """Finds the sampled classes that are true ones."""
    if true_classes.dim() != 2 or true_classes.shape[1] != num_true:
        raise invalid("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.dim() != 1:
        raise invalid("sampled_candidates must be a vector, which is typically an output from CandidateSampler")
    # Of a class that was sampled twice only the last is a hit, as in TensorFlow.
    place = {value: i for i, value in enumerate(sampled_candidates.tolist())}
    hits = [(i, place[v]) for i, row in enumerate(true_classes.tolist()) for v in row if v in place]
    indices = torch.tensor(hits, dtype=torch.int64, device=true_classes.device).view(-1, 2)
    least = torch.full((len(hits),), torch.finfo(torch.float32).min, device=true_classes.device)
    return indices[:, 0].int(), indices[:, 1].contiguous(), least


not_differentiable(_uniform, _log_uniform, _learned, _fixed, _all, _accidental_hits)

# ---- public functions of tf.random and tf.nn -------------------------------------------------------------------------


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> UniformCandidateSampler:
    """Samples classes below `range_max` uniformly.

    Args:
        true_classes: a tensor of shape `[batch, num_true]`, int64.
        num_true: an int, the number of true classes of an example.
        num_sampled: an int, the number of classes to sample.
        unique: samples no class twice.
        range_max: an int, the number of classes.
        seed: an int, the op's seed; see `tf.random.set_seed`.

    Returns:
        A named tuple of the sampled classes (`[num_sampled]`, int64), and the expected counts of each true class and
        each sampled class among them (float32).

    Raises:
        InvalidArgumentError: the shapes do not go together, or there are too few classes.

    Example:
        >>> sorted(tf.random.uniform_candidate_sampler([[0]], 1, 3, True, 3)[0].numpy().tolist())
        [0, 1, 2]
    """
    arguments = (true_classes, num_true, num_sampled, unique, range_max, *op_seeds(seed), name)
    return UniformCandidateSampler(*_uniform(*arguments))


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> LogUniformCandidateSampler:
    """Samples classes below `range_max`, low ones more often: for classes in the order of how frequent they are.

    The probability of a class is `log((class + 2) / (class + 1)) / log(range_max + 1)`, about Zipf's law.

    Args:
        true_classes: a tensor of shape `[batch, num_true]`, int64.
        num_true: an int, the number of true classes of an example.
        num_sampled: an int, the number of classes to sample.
        unique: samples no class twice.
        range_max: an int, the number of classes.
        seed: an int, the op's seed; see `tf.random.set_seed`.

    Returns:
        A named tuple of the sampled classes (`[num_sampled]`, int64), and the expected counts of each true class and
        each sampled class among them (float32).

    Raises:
        InvalidArgumentError: the shapes do not go together, or there are too few classes.

    Example:
        >>> sorted(tf.random.log_uniform_candidate_sampler([[0]], 1, 3, True, 3)[0].numpy().tolist())
        [0, 1, 2]
    """
    arguments = (true_classes, num_true, num_sampled, unique, range_max, *op_seeds(seed), name)
    return LogUniformCandidateSampler(*_log_uniform(*arguments))


def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> LearnedUnigramCandidateSampler:
    """Samples classes below `range_max`, by how often they were among the true classes of earlier calls.

    Args:
        true_classes: a tensor of shape `[batch, num_true]`, int64.
        num_true: an int, the number of true classes of an example.
        num_sampled: an int, the number of classes to sample.
        unique: samples no class twice.
        range_max: an int, the number of classes.
        seed: an int, the op's seed; see `tf.random.set_seed`.

    Returns:
        A named tuple of the sampled classes (`[num_sampled]`, int64), and the expected counts of each true class and
        each sampled class among them (float32).

    Raises:
        InvalidArgumentError: the shapes do not go together, or there are too few classes.

    Example:
        >>> sorted(tf.random.learned_unigram_candidate_sampler([[0]], 1, 3, True, 3)[0].numpy().tolist())
        [0, 1, 2]
    """
    arguments = (true_classes, num_true, num_sampled, unique, range_max, *op_seeds(seed), name)
    return LearnedUnigramCandidateSampler(*_learned(*arguments))


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> FixedUnigramCandidateSampler:
    """Samples classes below `range_max` by weights.

    Args:
        true_classes: a tensor of shape `[batch, num_true]`, int64.
        num_true: an int, the number of true classes of an example.
        num_sampled: an int, the number of classes to sample.
        unique: samples no class twice.
        range_max: an int, the number of classes.
        vocab_file: a text file with a class in each line, that ends in a comma and its weight.
        distortion: a float, the power that weights are raised to; 1.0 by default.
        num_reserved_ids: an int, the number of classes at the beginning that have weight 0, and none in the file; 0 by
            default.
        num_shards, shard: samples only classes whose number modulo `num_shards` is `shard`.
        unigrams: the weights, instead of a file.
        seed: an int, the op's seed; see `tf.random.set_seed`.

    Returns:
        A named tuple of the sampled classes (`[num_sampled]`, int64), and the expected counts of each true class and
        each sampled class among them (float32).

    Raises:
        InvalidArgumentError: there are no weights, or not as many as classes.
        NotFoundError: there is no such file.

    Example:
        >>> sampled = tf.random.fixed_unigram_candidate_sampler([[0]], 1, 2, False, 3, unigrams=[0.0, 1.0, 0.0])
        >>> sampled.sampled_candidates.numpy().tolist()
        [1, 1]
    """
    return FixedUnigramCandidateSampler(
        *_fixed(
            true_classes, num_true, num_sampled, unique, range_max, vocab_file, float(distortion),
            num_reserved_ids, num_shards, shard, tuple(float(u) for u in unigrams), *op_seeds(seed), name,
        )
    )  # fmt: skip


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> AllCandidateSampler:
    """Returns all classes: with it, a sampled loss is the full one.

    Args:
        true_classes: a tensor of shape `[batch, num_true]`, int64.
        num_true: an int, the number of true classes of an example.
        num_sampled: an int, the number of classes.
        unique: not used.
        seed: not used.

    Returns:
        A named tuple of the classes from 0 (`[num_sampled]`, int64), and ones for the expected counts of each true
        class and each sampled class among them (float32).

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> tf.nn.all_candidate_sampler([[0]], 1, 3, True).sampled_candidates.numpy().tolist()
        [0, 1, 2]
    """
    return AllCandidateSampler(*_all(true_classes, num_true, num_sampled, unique, *op_seeds(seed), name))


def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> ComputeAccidentalHits:
    """Finds the sampled classes that happen to be true ones. A loss can then leave them out.

    Args:
        true_classes: a tensor of shape `[batch, num_true]`, int64.
        sampled_candidates: a tensor of shape `[num_sampled]`, int64.
        num_true: an int, the number of true classes of an example.
        seed: not used.

    Returns:
        A named tuple of the rows of true classes (int32), the indices among the sampled ones (int64), and the weights
        to add to their logits, the least float32; one for each hit.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> hits = tf.nn.compute_accidental_hits([[1], [2]], [2, 5, 1], 1)
        >>> hits.indices.numpy().tolist(), hits.ids.numpy().tolist()
        ([0, 1], [2, 0])
    """
    arguments = (true_classes, sampled_candidates, num_true, *op_seeds(seed), name)
    return ComputeAccidentalHits(*_accidental_hits(*arguments))
