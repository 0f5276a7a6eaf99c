"""Seeds: the global seed, the ops' seeds, and the positions of the streams of numbers that follow from them.

With a global seed each op without one gets the next of a sequence that the global seed decides. An op with seeds
continues its stream at each call, and so does each operation of a graph; `tf.random.set_seed` resets all streams.
Without any seed the numbers come from torch's generators, one for each thread and device, which are not the user's own.
"""

from __future__ import annotations

import random
import secrets
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core import context
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.rng.philox import Philox, from_seeds
from tapeflow.core.settings import settings
from tapeflow.core.types.aliases import TensorLike

_DEFAULT = 87654321  # stands for the global seed where only the op has one
_MODULUS = 2**31 - 1


class Streams:
    """The positions of the streams of ops with seeds.

    An operation of a graph has its own, as it has a kernel of its own in TensorFlow: two with the same seeds give the
    same numbers. Ops that run eagerly share the stream of their op, attrs and seeds.
    """

    def __init__(self) -> None:
        self._shared: dict[Any, Philox] = {}
        self._of_operations: weakref.WeakKeyDictionary[Any, dict[Any, Philox]] = weakref.WeakKeyDictionary()

    def of(self, operation: Any) -> dict[Any, Philox]:
        """Returns the streams of an operation, or the shared ones, by op, attrs and seeds."""
        return self._shared if operation is None else self._of_operations.setdefault(operation, {})

    def clear(self) -> None:
        """Resets all streams to their beginnings."""
        self._shared.clear()
        self._of_operations.clear()


class _Global:
    """The global seed, and the streams of the ops that have seeds.

    Attributes:
        seed: the global seed, or None.
        sequence: the seeds of ops without one.
        once: seeds from `sequence` of ops that are about to run; all other streams continue.
        streams: the positions of the streams.
        ops_of_graph: by graph, the number of its ops that `_following_seed` numbered.
    """

    def __init__(self) -> None:
        self.lock = new_lock()
        self.seed: Any = None
        self.sequence = random.Random()
        self.once: set[tuple[int, int]] = set()
        self.streams = Streams()
        self.ops_of_graph: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


class _Own(threading.local):
    """The streams that this thread uses in place of the program's, the operation that it runs, torch's generators."""

    streams: Streams | None = None
    operation: Any = None

    def __init__(self) -> None:
        self.generators: dict[torch.device, torch.Generator] = {}


state = _Global()
_own = _Own()


def set_seed(seed: TensorLike | None) -> None:
    """Sets the global seed. A program then draws the same random numbers each time it runs.

    Args:
        seed: a scalar integer; None removes the global seed.

    Returns:
        None.

    Raises:
        TypeError: `seed` is not a number.

    Example:
        >>> tf.random.set_seed(1)
        >>> a = tf.random.uniform([2])
        >>> tf.random.set_seed(1)
        >>> bool(tf.reduce_all(a == tf.random.uniform([2])))
        True
    """
    number = seed if seed is None or isinstance(seed, (int, float, str)) else int(np.asarray(seed))
    with state.lock:
        state.seed = number
        state.sequence = random.Random(number)
        state.once.clear()
        state.streams.clear()


def op_seeds(seed: int | str | None) -> tuple[int, int]:
    """Derives the two seed attrs of an op from its `seed` argument and the global seed; both 0 without a seed.

    Raises:
        RuntimeError: there is no seed, and `tf.config.experimental.enable_op_determinism` requires one.
    """
    seeds = lasting_seeds(seed)
    if seed is None and context.state.graph is None and seeds != (0, 0):
        with state.lock:
            state.once.add(seeds)
    return seeds


def lasting_seeds(seed: int | str | None) -> tuple[int, int]:
    """Derives the two seeds of an object that draws later and repeatedly, such as a dataset.

    Raises:
        RuntimeError: there is no seed, and determinism is enabled.
        TypeError: the seed is a symbolic tensor.
    """
    if seed is None and state.seed is None:
        if settings.deterministic:
            raise RuntimeError(
                "Random ops require a seed to be set when determinism is enabled. Please set a seed before running the "
                "op, e.g. by calling tf.random.set_seed(1)."
            )
        return 0, 0
    context.once_for_each_slice("a draw of random numbers")
    with state.lock:
        first = _DEFAULT if state.seed is None else state.seed % _MODULUS
        second = (_following_seed(context.state.graph) if seed is None else seed) % _MODULUS
    try:
        return (int(first), int(second)) if first or second else (0, _MODULUS)
    except TypeError:  # libraries look for these words
        raise TypeError(f"Expected int for argument 'seed2' not {second!r}.") from None


def _following_seed(graph: Any) -> int:
    """Returns the seed of an op without one: in a graph, the number of those before it there."""
    if graph is None:
        return state.sequence.randint(0, _MODULUS)
    count = state.ops_of_graph.get(graph, 0)
    state.ops_of_graph[graph] = count + 1
    return count


def own_streams(streams: Streams | None) -> context.override:
    """Replaces the streams that this thread uses; None stands for the program's."""
    return context.override(_own, streams=streams)


def of_operation(operation: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the kernel of an op with seeds, with the streams of an operation of a graph."""

    def with_own_streams(*values: Any) -> Any:
        before, _own.operation = _own.operation, operation
        try:
            return kernel(*values)
        finally:
            _own.operation = before

    return with_own_streams


def reserve(op: str | tuple[Any, ...], seed: int, seed2: int, blocks: int) -> Philox:
    """Returns the stream of an op from where its last call with the same attrs and seeds stopped.

    Args:
        op: its name and the attrs that distinguish its calls.
        seed, seed2: its seeds; if both are 0, the stream is another one each time.
        blocks: the distance from here to the start of the next call.
    """
    context.once_for_each_slice("a draw of random numbers")
    if not seed and not seed2:
        return from_seeds(secrets.randbits(64), secrets.randbits(64))
    with state.lock:
        if (seed, seed2) in state.once:
            state.once.remove((seed, seed2))
            return from_seeds(seed, seed2)
        streams = (state.streams if _own.streams is None else _own.streams).of(_own.operation)
        key = op, seed, seed2
        stream = streams.get(key) or from_seeds(seed, seed2)
        streams[key] = stream.skipped(blocks)
    return stream


def torch_generator(device: torch.device) -> torch.Generator:
    """Returns the generator of this thread for numbers without a seed."""
    generator = _own.generators.get(device)
    if generator is None:
        generator = _own.generators[device] = torch.Generator(device)
        generator.seed()
    return generator
