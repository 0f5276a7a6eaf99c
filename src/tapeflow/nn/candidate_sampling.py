"""Samplers of classes, for losses that look at a few classes instead of all."""

from __future__ import annotations

import functools
import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.fork_locks import new_lock
from tapeflow.core.loops import MASK, Float64s, Int64s, Words, exp, expm1, log, log1p, loop
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import OpFunction, not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.os_errors import translate_os_errors
from tapeflow.core.rng.seeds import op_seeds
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.draws import draw_below, draw_uniform, draw_uniform32, start_draws


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


_UNIFORM, _LOG_UNIFORM, _LEARNED, _FIXED = range(4)  # kinds of samplers
_TRIES = 2**17  # draws, beside 100 for each sample: enough for classes that are not as good as impossible
_BYTES_OF_SAMPLE = 64  # of a class, its count, and its place among the classes that were drawn


class _Weights(NamedTuple):
    """A sampler's knowledge of the classes.

    A learned one has the classes that occurred, in order, their numbers, and the sums of the weights of all classes up
    to each. A fixed one has the weight of each class, and Walker's aliases: class `i` stands for itself by the share
    `own[i]`, and for `alias[i]` otherwise.
    """

    total: float
    classes: np.ndarray = np.zeros(0, np.int64)
    occurrences: np.ndarray = np.zeros(0, np.int64)
    ends: np.ndarray = np.zeros(0, np.int64)
    weights: np.ndarray = np.zeros(0)
    own: np.ndarray = np.zeros(0)
    alias: np.ndarray = np.zeros(0, np.int64)


@loop
def _find_place(values: Int64s, size: int, value: int) -> int:
    """Returns the number of values that are not greater, among values that ascend."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@loop
def _probability_of(
    kind: int, value: int, range_max: int, total: float, classes: Int64s, occurrences: Int64s, size: int,
    weights: Float64s,
) -> float:  # fmt: skip
    """Returns the probability of a class."""
    if kind == _UNIFORM:
        return 1.0 / range_max
    if kind == _LOG_UNIFORM:
        return log((value + 2.0) / (value + 1.0)) / total
    if kind == _LEARNED:
        place = _find_place(classes, size, value)
        if place > 0 and classes[place - 1] == value:
            return (1.0 + occurrences[place - 1]) / total
        return 1.0 / total
    return weights[value] / total


@loop
def _sample_classes(
    kind: int, state: Words, true: Int64s, num_true: int, range_max: int, num_sampled: int, unique: int,
    most_tries: int, total: float, classes: Int64s, occurrences: Int64s, ends: Int64s, size: int, weights: Float64s,
    own: Float64s, alias: Int64s, sampled: Int64s, seen: Int64s, mask: int, counts: Float64s,
) -> int:  # fmt: skip
    """Draws classes, and computes the expected count of each true class, then of each sampled one.

    Args:
        kind: the kind of the sampler.
        state: of the random numbers.
        true: the true classes.
        num_true: their number.
        range_max: the number of classes.
        num_sampled: the number of classes to draw.
        unique: draws no class twice.
        most_tries: the largest number of draws.
        total: the sum of the weights; of a sampler by the logarithm, that of `range_max + 1`.
        classes, occurrences, ends: of a learned sampler, see `_Weights`.
        size: the number of these classes.
        weights, own, alias: of a fixed sampler.
        sampled: receives the classes.
        seen: a hash table of the classes, all -1.
        mask: the size of the table, a power of two, less 1.
        counts: receives the counts.

    Returns:
        -1; -2 if there were too many draws; the index of the first true class that is none.
    """
    for i in range(num_true):
        if not 0 <= true[i] < range_max:
            return i
    tries, found = 0, 0
    while found < num_sampled:
        if tries > most_tries:
            return -2
        tries += 1
        if kind == _UNIFORM:
            value = draw_below(state, range_max, 64)
        elif kind == _LOG_UNIFORM:
            value = (int(exp(draw_uniform(state) * total)) - 1) % range_max
        elif kind == _LEARNED:
            place = draw_below(state, int(total), 32)
            i = _find_place(ends, size, place)
            before = ends[i - 1] - classes[i - 1] - 1 if i > 0 else 0  # occurrences of smaller classes
            value = min(place - before, classes[i]) if i < size else place - before
        else:
            share = draw_uniform32(state)
            value = draw_below(state, range_max, 32)
            value = value if share < own[value] else alias[value]
        if unique:
            slot = (value * 2654435761 & MASK) >> 16 & mask
            while seen[slot] >= 0 and seen[slot] != value:
                slot = slot + 1 & mask
            if seen[slot] == value:
                continue
            seen[slot] = value
        sampled[found] = value
        found += 1
    for i in range(num_true + num_sampled):
        value = true[i] if i < num_true else sampled[i - num_true]
        count = _probability_of(kind, value, range_max, total, classes, occurrences, size, weights)
        if tries == num_sampled:
            count = count * num_sampled
        else:
            count = -expm1(tries * log1p(-count)) if count < 1.0 else 1.0
        counts[i] = count
    return -1


# ---- sampling --------------------------------------------------------------------------------------------------------


def check_at_least(least: int, **attrs: int) -> None:
    """Raises TensorFlow's error for an attr below its minimum, or one that needs more than 32 bits."""
    for name, value in attrs.items():
        if value < least:
            raise invalid(f"Value for attr '{name}' of {value} must be at least minimum {least}")
        if value >= 2**31:
            raise invalid(f"Attr {name} has value {value} out of range for an int32")


def _draw_classes(
    op: str | tuple[float | str, ...],
    kind: int,
    weights_of: Callable[[int], _Weights],
    true_classes: torch.Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int,
    seed2: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draws classes by the weights `weights_of(range_max)`, and computes the expected count of each of them and of each
    true one."""
    check_at_least(1, num_true=num_true, num_sampled=num_sampled, range_max=range_max)
    weights = weights_of(range_max)
    true = _true_classes(true_classes, num_true)
    if unique and num_sampled > range_max:
        raise invalid("Sampler's range is too small.")
    check_memory([num_sampled], _BYTES_OF_SAMPLE)
    most = _TRIES + 100 * num_sampled if unique else num_sampled
    sampled = torch.empty(num_sampled, dtype=torch.int64)
    slots = 1 << (2 * num_sampled).bit_length() if unique else 1
    counts = torch.empty(true.numel() + num_sampled, dtype=torch.float64)
    failed = _sample_classes(
        kind, start_draws((op, num_true, num_sampled, unique, range_max), seed, seed2, 2048 * num_sampled), true,
        true.numel(), range_max, num_sampled, unique, most, weights.total, weights.classes, weights.occurrences,
        weights.ends, len(weights.classes), weights.weights, weights.own, weights.alias, sampled,
        torch.full((slots,), -1), slots - 1, counts,
    )  # fmt: skip
    if failed >= 0:
        raise invalid(f"`true_candidate` out of range [0, {range_max}), received {int(true.view(-1)[failed])}")
    if failed < -1:
        raise invalid(
            f"{num_sampled} different classes of {range_max} were not found in {most} draws: the others are "
            "too unlikely. Sample fewer, or with unique=False"
        )
    of_true, of_sampled = counts.float().to(true_classes.device).split([true.numel(), num_sampled])
    return sampled.to(true_classes.device), of_true.view(true_classes.shape), of_sampled


def _true_classes(true_classes: torch.Tensor, num_true: int) -> torch.Tensor:
    if true_classes.dim() != 2:
        raise invalid("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise invalid(f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}")
    return true_classes.cpu().contiguous()


# ---- the samplers' ops -----------------------------------------------------------------------------------------------


def _samples_rule(true_classes: TensorShape, num_true: int, num_sampled: int, *_: Any) -> list[TensorShape]:
    batch = true_classes[0] if true_classes.rank == 2 else None
    return [TensorShape(dims) for dims in ([num_sampled], [batch, num_true], [num_sampled])]


@loop
def _merge_classes(
    old: Int64s, counts: Int64s, size: int, new: Int64s, added: int, classes: Int64s, occurrences: Int64s, ends: Int64s
) -> int:
    """Adds the occurrences of classes, which ascend, to those before, and returns the number of different classes."""
    i, j, merged, before = 0, 0, 0, 0
    while i < size or j < added:
        value, count = old[i] if i < size else new[j], 0
        if j < added:
            value = min(value, new[j])
        if i < size and old[i] == value:
            count = counts[i]
            i += 1
        while j < added and new[j] == value:
            count += 1
            j += 1
        before += count
        classes[merged], occurrences[merged], ends[merged] = value, count, value + 1 + before
        merged += 1
    return merged


class _LearnedCounts:
    """The sampling weights of classes: 1 plus the number of occurrences of the class as a true class."""

    def __init__(self, range_max: int) -> None:
        self.weights = _Weights(range_max)
        self._lock = new_lock()

    def add(self, true: torch.Tensor) -> None:
        """Counts an occurrence of each class."""
        new = np.sort(true.cpu().numpy(), axis=None)
        with self._lock:
            total, old, counts, *_ = self.weights
            merged = np.empty((3, len(old) + len(new)), np.int64)
            size = _merge_classes(old, counts, len(old), new, len(new), *merged)
            self.weights = _Weights(total + len(new), *merged[:, :size])


@functools.lru_cache(64)
def _learned_counts(key: tuple[int, ...]) -> _LearnedCounts:
    """Returns the counts of the sampler with these attrs."""
    return _LearnedCounts(key[3])


def _draw_and_learn(name: str, true_classes: torch.Tensor, *attrs: Any) -> Any:
    learned = _learned_counts(attrs)
    samples = _draw_classes(name, _LEARNED, lambda _: learned.weights, true_classes, *attrs)
    learned.add(true_classes)
    return samples


def _declare_sampler(name: str, draw: Callable[..., Any], *options: Any) -> OpFunction[..., Any]:
    """Declares an op that samples classes below `range_max`, by `draw(name, *options, ...)`."""
    return defined_op(name, functools.partial(draw, name, *options), shape=_samples_rule)


_uniform = _declare_sampler("UniformCandidateSampler", _draw_classes, _UNIFORM, _Weights)
_log_uniform = _declare_sampler(
    "LogUniformCandidateSampler", _draw_classes, _LOG_UNIFORM, lambda range_max: _Weights(math.log1p(range_max))
)
_learned = _declare_sampler("LearnedUnigramCandidateSampler", _draw_and_learn)


@loop
def _fill_aliases(own: Float64s, n: int, alias: Int64s, high: Int64s, low: Int64s) -> None:
    """Turns weights whose mean is 1 into Walker's aliases: classes with large weights fill up those with small ones.

    Args:
        own: the weights, which become shares.
        n: their number.
        alias: the classes' own numbers, which become those of others.
        high, low: buffers of `n` numbers.
    """
    highs, lows = 0, 0
    for i in range(n):
        if own[i] >= 1.0:
            high[highs] = i
            highs += 1
        elif own[i] < 1.0:
            low[lows] = i
            lows += 1
    while highs > 0 and lows > 0:
        lows, highs = lows - 1, highs - 1
        a, b = low[lows], high[highs]
        alias[a] = b
        own[b] -= 1.0 - own[a]
        if own[b] < 1.0:
            low[lows] = b
            lows += 1
        else:
            high[highs] = b
            highs += 1
    for i in range(highs):
        own[high[i]] = 1.0
    for i in range(lows):
        own[low[i]] = 1.0


def _given_weights(vocab_file: str, unigrams: tuple[float, ...]) -> bytes:
    """Returns the weights in a vocabulary, or those of `unigrams`, as the bytes of float64s, which hash fast."""
    if not vocab_file and not unigrams:
        raise invalid("Must provide either vocab_file or unigrams.")
    if vocab_file and unigrams:
        raise invalid("Must only provide one of vocab_file and unigrams.")
    if not vocab_file:
        return struct.pack(f"{len(unigrams)}d", *unigrams)
    try:
        with translate_os_errors(vocab_file), open(vocab_file, encoding="utf-8") as lines:
            return np.array([float(line.rsplit(",", 1)[1]) for line in lines if line.strip()]).tobytes()
    except (IndexError, ValueError):
        raise invalid(f"Bad line in vocab_file {vocab_file}: each must end in a comma and a number") from None


@functools.lru_cache(4)
def _fixed_distribution(
    range_max: int, given: bytes, distortion: float, reserved: int, num_shards: int, shard: int
) -> tuple[_Weights, int, str]:
    """Computes the weight of each class of a shard: the given one to the power of the distortion.

    The shard's classes are numbered from 0: class `i` is the id `i * num_shards + shard`.

    Returns:
        The weights, the number of those that are not 0, and a hash of the given ones.
    """
    check_at_least(1, num_shards=num_shards)
    check_at_least(0, shard=shard)
    zeros = len(range(shard, max(reserved, 0), num_shards))
    # As in TensorFlow, the vocabulary's ids go on from the number of the shard's own reserved ones.
    own = np.frombuffer(given)[(shard - zeros) % num_shards if shard < num_shards else len(given) :: num_shards]
    if zeros + len(own) != range_max:
        raise invalid(f"range is {range_max} must be equal to weights size  {zeros + len(own)}")
    with np.errstate(all="ignore"):
        weights = np.append(np.zeros(zeros), own**distortion)
        total = sum(weights.tolist()) or nan
        shares, alias = weights * range_max / total, np.arange(range_max)
    _fill_aliases(shares, range_max, alias, *np.empty((2, range_max), np.int64))
    digest = hashlib.sha256(given).hexdigest()
    return _Weights(total, weights=weights, own=shares, alias=alias), int(np.count_nonzero(weights)), digest


@op("FixedUnigramCandidateSampler", shape=_samples_rule)
def _fixed_unigram_candidate_sampler(
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
    unigrams: tuple[float, ...],
    seed: int,
    seed2: int,
) -> Any:
    """Samples classes by weights."""
    attrs = distortion, num_reserved_ids, num_shards, shard
    given = _given_weights(vocab_file, tuple(unigrams))
    weights, likely, digest = _fixed_distribution(range_max, given, *attrs)
    if unique and likely < num_sampled <= range_max:
        raise invalid(f"{num_sampled} different classes can't be sampled: only {likely} have a weight other than 0")
    return _draw_classes(
        ("FixedUnigramCandidateSampler", vocab_file, *attrs, digest), _FIXED, lambda _: weights, true_classes, num_true,
        num_sampled, unique, range_max, seed, seed2,
    )  # fmt: skip


@op("AllCandidateSampler", shape=_samples_rule)
def _all_candidate_sampler(
    true_classes: torch.Tensor, num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int
) -> Any:
    """Returns all classes."""
    true = _true_classes(true_classes, num_true)
    if true.numel() and not 0 <= int(true.min()) <= int(true.max()) < num_sampled:
        wrong = true[(true < 0) | (true >= num_sampled)]
        raise invalid(f"`true_candidate` out of range [0, {num_sampled}), received {int(wrong[0])}")
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


@loop
def _find_hits(
    true: Int64s, size: int, columns: int, sampled: Int64s, count: int, table: Int64s, mask: int, rows: Int64s,
    places: Int64s,
) -> int:  # fmt: skip
    """Finds the true classes among the sampled ones, and returns the number of hits.

    Of a class that was sampled twice only the last is a hit, as in TensorFlow.

    Args:
        true, size: the true classes and their number.
        columns: the number of true classes of an example.
        sampled, count: the sampled classes and their number.
        table: a hash table of the places of sampled classes, all -1.
        mask: the size of the table, a power of two, less 1.
        rows, places: receive the example and the place among the sampled classes of each hit.
    """
    for i in range(count):
        slot = (sampled[i] * 2654435761 & MASK) >> 16 & mask
        while table[slot] >= 0 and sampled[table[slot]] != sampled[i]:
            slot = slot + 1 & mask
        table[slot] = i
    hits = 0
    for i in range(size):
        slot = (true[i] * 2654435761 & MASK) >> 16 & mask
        while table[slot] >= 0 and sampled[table[slot]] != true[i]:
            slot = slot + 1 & mask
        if table[slot] >= 0:
            rows[hits], places[hits] = i // columns, table[slot]
            hits += 1
    return hits


@op("ComputeAccidentalHits", shape=_hits_rule)
def _accidental_hits(
    true_classes: torch.Tensor, sampled_candidates: torch.Tensor, num_true: int, seed: int, seed2: int
) -> tuple[torch.Tensor, ...]:
    """Finds the sampled classes that are true ones."""
    if true_classes.dim() != 2 or true_classes.shape[1] != num_true:
        raise invalid("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.dim() != 1:
        raise invalid("sampled_candidates must be a vector, which is typically an output from CandidateSampler")
    true, sampled = true_classes.cpu().contiguous(), sampled_candidates.cpu().contiguous()
    slots = 1 << (2 * sampled.numel()).bit_length()
    rows, places = torch.empty(2, true.numel(), dtype=torch.int64)
    count = _find_hits(
        true, true.numel(), num_true, sampled, sampled.numel(), torch.full((slots,), -1), slots - 1, rows, places
    )  # fmt: skip
    device = true_classes.device
    least = torch.full((count,), torch.finfo(torch.float32).min, device=device)
    return rows[:count].to(device, torch.int32), places[:count].to(device), least


not_differentiable(
    _uniform, _log_uniform, _learned, _fixed_unigram_candidate_sampler, _all_candidate_sampler, _accidental_hits
)

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
    if type(unigrams) is not list:
        unigrams = [float(weight) for weight in unigrams]
    return FixedUnigramCandidateSampler(
        *_fixed_unigram_candidate_sampler(
            true_classes, num_true, num_sampled, unique, range_max, vocab_file, float(distortion),
            num_reserved_ids, num_shards, shard, tuple(unigrams), *op_seeds(seed), name,
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
    return AllCandidateSampler(
        *_all_candidate_sampler(true_classes, num_true, num_sampled, unique, *op_seeds(seed), name)
    )


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
