"""Random permutations: of the rows of a tensor, and of the numbers up to a bound, one at a time."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import torch

from tapeflow.array.padding import pad_v2
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same, text
from tapeflow.core.rng import seeds
from tapeflow.core.rng.philox import Philox
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.random.algorithms import AlgorithmLike, key_counter_alg, stream_of


def _random_order(stream: Philox, length: int) -> torch.Tensor:
    """Returns a permutation of `range(length)`, by Fisher and Yates with a word for each swap."""
    words = stream.words(-(-(length - 1) // 4), torch.device("cpu")).reshape(-1)[: length - 1].numpy().view(np.uint32)
    steps = (words % np.arange(length, 1, -1, dtype=np.uint32)).tolist()
    order = list(range(length))
    for i, step in enumerate(steps):
        order[i], order[i + step] = order[i + step], order[i]
    return torch.tensor(order)


def _is_short(value: torch.Tensor) -> bool:
    return value.numel() <= 1 or value.shape[0] <= 1


@op("RandomShuffle", shape=same, moves=True, random=True)
def random_shuffle(value: torch.Tensor, seed: int = 0, seed2: int = 0) -> torch.Tensor:
    """Puts the rows of a tensor into random order."""
    if _is_short(value):
        return value.clone()
    length = value.shape[0]
    if not seed and not seed2:
        dtype = torch.int32 if length < 2**31 else torch.int64
        order = torch.randperm(length, generator=seeds.torch_generator(value.device), dtype=dtype, device=value.device)
    else:
        stream = seeds.reserve("RandomShuffle", seed, seed2, -(-(length - 1) // 4))
        order = _random_order(stream, length).to(value.device)
    return value.index_select(0, order)


def shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Puts the rows of a tensor, along its first dimension, into random order.

    Args:
        value: a tensor of any dtype and shape.
        seed: fixes the order, see `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype. No gradient passes.

    Raises:
        ValueError: `value` does not convert to a tensor.

    Example:
        >>> sorted(tf.random.shuffle([1, 2, 3]).numpy().tolist())
        [1, 2, 3]
    """
    return random_shuffle(value, *seeds.op_seeds(seed), name)


@op("StatelessShuffle", host=("key", "counter", "alg"), shape=same, moves=True)
def _stateless_shuffle(value: torch.Tensor, key: tuple[int, ...], counter: tuple[int, ...], alg: int) -> torch.Tensor:
    """Puts the rows of a tensor into the order that a key decides."""
    if _is_short(value):
        return value.clone()
    return value[_random_order(stream_of(key, counter, alg), value.shape[0]).to(value.device)]


def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: AlgorithmLike = "auto_select", name: str | None = None
) -> Tensor:
    """Puts the rows of a tensor, along its first dimension, into the order that a seed decides.

    Args:
        value: a tensor of any dtype and shape.
        seed: an integer tensor of shape `[2]`.
        alg: the generator: "philox" or "auto_select" (the default), its number, or a `tf.random.Algorithm`.

    Returns:
        A tensor of the same shape and dtype. No gradient passes.

    Raises:
        InvalidArgumentError: `seed` does not have two elements.

    Example:
        >>> tf.random.experimental.stateless_shuffle([[1, 2], [3, 4], [5, 6]], seed=[8, 9]).numpy().tolist()
        [[5, 6], [1, 2], [3, 4]]
    """
    return _stateless_shuffle(value, *key_counter_alg(seed, alg), name)


# ---- one index at a time ---------------------------------------------------------------------------------------------

_ROUND_CONSTANT = 0xFFFFFFFC
_MOST_ROUNDS = 2**10
_ROUND_SEQUENCE = 0x7369F885192C0EF5


def _encrypt_number(number: Any, key: tuple[int, ...], bits: int, rounds: int) -> Any:
    """Encrypts a number, or an array of them, by the Simon block cipher, for words of any size.

    Source: Beaulieu et al., "The SIMON and SPECK families of lightweight block ciphers", 2013.
    """
    mask = (1 << bits) - 1

    def rotated(x: np.ndarray | int, by: int) -> Any:  # to the left
        return (x << by | x >> bits - by) & mask

    keys = [k & mask for k in key]
    sequence = _ROUND_SEQUENCE & mask
    for i in range(3, rounds):
        mixed = rotated(keys[i - 1], bits - 3) ^ rotated(keys[i - 1], bits - 4)
        keys.append((_ROUND_CONSTANT & mask) ^ (sequence & 1) ^ keys[i - 3] ^ mixed)
        sequence >>= 1
    left, right = number >> bits & mask, number & mask
    for k in keys:
        left, right = right, left ^ (rotated(right, 1) & rotated(right, 8)) ^ rotated(right, 2) ^ k
    return left << bits | right


_FEWEST_BITS = 8  # of half a number


@functools.lru_cache(16)
def _encrypted_numbers(key: tuple[int, ...], rounds: int) -> list[int]:
    """Encrypts all numbers of the fewest bits."""
    return _encrypt_number(np.arange(2 ** (2 * _FEWEST_BITS)), key, _FEWEST_BITS, rounds).tolist()


def _shuffled_position(index: int, key: tuple[int, ...], max_index: int, rounds: int) -> int:
    """Returns the position of an index in the permutation of a key: encrypted until it is in the range again."""
    if not max_index:
        return 0
    bits = max(-(-(max_index - 1).bit_length() // 2), _FEWEST_BITS)
    if bits == _FEWEST_BITS:  # a few indices among many numbers: that takes many steps
        following = _encrypted_numbers(key, rounds)
        index = following[index]
        while index > max_index:
            index = following[index]
        return index
    while True:
        index = _encrypt_number(index, key, bits, rounds)
        if index <= max_index:
            return index


def _index_shuffle_rule(index: TensorShape, seed: TensorShape, max_index: TensorShape, *_: Any) -> TensorShape:
    if (index.rank or 0) > 1:
        raise invalid("Index must be a scalar or vector.")
    if seed.rank is not None and (seed.rank not in (1, 2) or seed[-1] != 3):
        raise invalid(f"Seed must be a vector of size [3] or a matrix of size [n, 3] but got {text(seed)}.")
    sizes = {s[0] for s in (index, max_index) if s.rank == 1} | ({seed[0]} if seed.rank == 2 else set())
    if (max_index.rank or 0) > 1 or len(sizes - {None}) > 1:
        raise invalid(f"Maxval must be a scalar or a vector of the same size as index but got {text(max_index)}")
    if not sizes and None in (index.rank, seed.rank, max_index.rank):
        return TensorShape(None)
    return TensorShape(list(sizes - {None} or sizes))


def _index_shuffled(index: torch.Tensor, seed: torch.Tensor, max_index: torch.Tensor, rounds: int) -> torch.Tensor:
    shape = _index_shuffle_rule(TensorShape(index.shape), TensorShape(seed.shape), TensorShape(max_index.shape))
    count = shape.num_elements() or 0
    if not 0 <= rounds <= _MOST_ROUNDS:
        raise invalid(f"rounds must be between 0 and {_MOST_ROUNDS}, not {rounds}")
    keys = [tuple([k & 0xFFFFFFFF for k in row]) for row in seed.reshape(-1, 3).tolist()]
    columns = [itertools.cycle(v) for v in (index.reshape(-1).tolist(), keys, max_index.reshape(-1).tolist())]
    positions = []
    for number, key, bound in itertools.islice(zip(*columns, strict=True), count):
        if not 0 <= number <= bound:
            raise invalid(f"max_index must be >= index, but {bound} < {number}")
        positions.append(_shuffled_position(number, key, bound, rounds))
    wide = torch.tensor([p - (1 << 64) if p >= 1 << 63 else p for p in positions], dtype=torch.int64)
    return (wide.view(index.dtype) if index.dtype == torch.uint64 else wide.to(index.dtype)).reshape(shape.as_list())


@op("RandomIndexShuffle", kernel=_index_shuffled, shape=_index_shuffle_rule)
def random_index_shuffle(
    index: TensorLike, seed: TensorLike, max_index: TensorLike, rounds: int = 4, name: str | None = None
) -> Tensor:
    """Computes positions in a random permutation of `[0, ..., max_index]`.

    See `tf.random.experimental.index_shuffle`.

    Args:
        index: an integer or a vector of them.
        seed: three integers, or a matrix with three for each index.
        max_index: a scalar or vector, the largest index; of the dtype of `index`.
        rounds: an int, the number of rounds of the cipher that permutes: even, and at least 4. The default is 4.

    Returns:
        A tensor of the dtype of `index`; a scalar if all arguments are for one index, else a vector.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> sorted(tf.random_index_shuffle(tf.range(4), [1, 2, 3], 3).numpy().tolist())
        [0, 1, 2, 3]
    """


not_differentiable(random_shuffle, _stateless_shuffle, random_index_shuffle)
_THIRD = 498247692  # completes two seeds to the three that the cipher takes


def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike) -> Tensor:
    """Computes positions in a permutation of `[0, ..., max_index]` that a seed decides, one index at a time.

    Args:
        index: an integer from 0 to `max_index`, or a vector of them.
        seed: two integers, or a matrix with two for each index.
        max_index: the largest index; of the dtype and shape of `index`, or a scalar.

    Returns:
        A tensor of the dtype of `index`; a scalar if all arguments are for one index, else a vector.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.random.experimental.index_shuffle(tf.range(4), seed=[5, 9], max_index=3).numpy().tolist()
        [2, 0, 1, 3]
    """
    two = convert(seed)
    paddings = [[0, 0]] * (len(two.shape) - 1) + [[1, 0]]
    three = pad_v2(two, paddings, convert(_THIRD, two.dtype))
    return random_index_shuffle(index, three, max_index)
