"""`Dataset.rejection_resample`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import INFINITE, UNKNOWN, Node, Unary
from tapeflow.data.seeds import Seeds, Words, seeds_of

_BATCH, _SMOOTHING = 32, 10  # the distribution is estimated anew for so many; each class counts as seen so often


def _acceptance(initial: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Returns the probability that an element of each class is accepted: the ratio of both distributions, over the
    greatest.
    """
    ratio = target / np.where(initial > 0, initial, np.inf)
    return ratio / np.max(ratio)


class RejectionResample(Unary):
    """Pairs of a class and an element. Elements are dropped to give the classes a target distribution.

    Args:
        input_dataset: the node that the elements come from.
        class_of: returns the class of an element.
        target: the target distribution.
        initial: the distribution of the elements; None to estimate it.
        seeds: the seeds of the random numbers.
    """

    class_of: MappedFunction
    target: np.ndarray
    initial: np.ndarray | None
    seeds: Seeds

    draws_seeds = True

    @classmethod
    def of(cls, node: Node, class_func: Callable[..., Any], target: Any, initial: Any, seed: Any) -> RejectionResample:
        """Returns the node for a user's function and distributions."""
        class_of = MappedFunction.for_node(node, class_func, "rejection_resample")
        target = convert(target).numpy().astype(np.float64)
        initial = None if initial is None else convert(initial).numpy().astype(np.float64)
        return cls(node, class_of, target, initial, Seeds(seeds_of(seed), True))

    def element_spec(self) -> Any:
        spec = self.class_of.output_spec
        if not (type(spec) is TensorSpec and spec.dtype in (int32, int64) and spec.shape.rank in (0, None)):
            raise TypeError(f"Invalid `class_func`. `class_func` must return an integer scalar, and gives {spec}.")
        return spec, self.input_dataset.spec

    def cardinality(self) -> int:
        return INFINITE if self.input_dataset.cardinality() == INFINITE else UNKNOWN

    def iterate(self) -> Iterator[Element]:
        random = _uniform(Words(self.seeds.next()))
        seen = np.full(len(self.target), float(_SMOOTHING))
        accept = _acceptance(seen / seen.sum() if self.initial is None else self.initial, self.target)
        class_of, numbers = self.class_of.caller(), itertools.count(1)

        def accepted(element: Element) -> Element | None:
            nonlocal accept
            of = class_of(element)
            label = int(of[0])
            seen[label] += 1
            if next(numbers) % _BATCH == 0 and self.initial is None:
                accept = _acceptance(seen / seen.sum(), self.target)
            return (*of, *element) if next(random) < accept[label] else None

        return filter(None, map(accepted, self.input_dataset.iterate()))


def _uniform(words: Words) -> Iterator[float]:
    while True:
        yield from (words.take(256) / np.float64(2**32)).tolist()
