"""The generators' names, and the key and counter that a seed stands for."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from tapeflow.core.ops.convert import host_value
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.rng.philox import Philox, from_seed
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

_LOW = (1 << 64) - 1


class Algorithm(enum.Enum):
    """A random number generator.

    The name ThreeFry exists, but no generator has this algorithm, like in TensorFlow outside XLA.

    Example:
        >>> tf.random.Generator.from_seed(1, alg=tf.random.Algorithm.PHILOX).algorithm
        1
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


AlgorithmLike: TypeAlias = Algorithm | Tensor | str | int | None

_NAMES = {"philox": 1, "threefry": 2, "autoselect": 3}


def algorithm_number(alg: AlgorithmLike) -> Any:
    """Returns the number of an algorithm.

    Args:
        alg: its name, its number, or a member of `Algorithm`.

    Raises:
        ValueError: there is no algorithm of that name.
        TypeError: `alg` is of another type.
    """
    if isinstance(alg, (int, Tensor)):
        return alg
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, str):
        number = _NAMES.get(alg.strip().lower().replace("-", "").replace("_", ""))
        if number is None:
            raise unsupported_algorithm(alg)
        return number
    raise TypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.")


def unsupported_algorithm(alg: AlgorithmLike) -> ValueError:
    """Returns the error for an algorithm that does not exist."""
    names = ("philox", "threefry", "auto_select") if isinstance(alg, str) else (1, 2, 3)
    return ValueError(
        f"Argument `alg` got unsupported value {alg}. Supported values are {names[0]} for the Philox algorithm, "
        f"{names[1]} for the ThreeFry algorithm, and {names[2]} for auto-selection."
    )


def _uint64_tensor(values: Sequence[int]) -> torch.Tensor:
    return torch.from_numpy(np.array(values, np.uint64))


def key_and_counter(seed: Sequence[int]) -> tuple[tuple[int], tuple[int, int]]:
    """Derives the key and the counter of a seed of two integers, as Python numbers."""
    stream = from_seed(seed)
    return (stream.key,), (stream.counter & _LOW, stream.counter >> 64)


def _scrambled_rule(seed: TensorShape) -> list[TensorShape]:
    if not seed.is_compatible_with([2]):
        raise invalid(f"seed must have shape [2], not {text(seed)}")
    return [TensorShape([1]), TensorShape([2])]


@op("StatelessRandomGetKeyCounter", shape=_scrambled_rule, in_loops=lambda b, seed: b.key_and_counter(seed))
def _stateless_random_get_key_counter(seed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Derives the key and the counter of a seed."""
    if seed.shape != (2,):
        raise TypeError("the shape rule says what is wrong")
    key, counter = key_and_counter(seed.tolist())
    return _uint64_tensor(key), _uint64_tensor(counter)


not_differentiable(_stateless_random_get_key_counter)


def key_counter_alg(seed: TensorLike, alg: AlgorithmLike) -> tuple[Any, Any, Any]:
    """Derives the key, counter and algorithm arguments of a stateless op from its seed.

    Raises:
        InvalidArgumentError: the seed does not hold two integers, or the algorithm needs XLA.
        ValueError: there is no such algorithm.
    """
    alg = 3 if alg is None else algorithm_number(alg)
    if alg == 2:
        raise invalid("The ThreeFry algorithm is not supported: use 'philox' or 'auto_select'")
    if not isinstance(alg, Tensor) and alg not in (1, 3):
        raise unsupported_algorithm(alg)
    if type(seed) is EagerTensor and seed.dtype not in (int32, int64):
        _stateless_random_get_key_counter.op.check_types({"Tseed": seed.dtype})
    if type(seed) is EagerTensor or not isinstance(seed, Tensor):
        value = seed if type(seed) is tuple else host_value(seed)
        if type(value) is tuple and len(value) == 2 and type(value[0]) is int and type(value[1]) is int:
            return (*key_and_counter(value), alg)
    return (*_stateless_random_get_key_counter(seed), alg)


def stream_of(key: tuple[int, ...], counter: tuple[int, ...], alg: int) -> Philox:
    """Returns the stream of a stateless op's key and counter.

    Raises:
        InvalidArgumentError: they are of other lengths, or the algorithm is not Philox.
    """
    if alg not in (1, 3):
        raise invalid(f"Unsupported algorithm id: {alg}")
    if type(key) is not tuple or len(key) < 1:
        raise invalid(f"key must be a vector with length 1, not {key}")
    if type(counter) is not tuple or len(counter) < 2:
        raise invalid(f"counter must be a vector with length at least 2; got {counter}")
    return Philox(key[0] & _LOW, counter[0] & _LOW | (counter[1] & _LOW) << 64)
