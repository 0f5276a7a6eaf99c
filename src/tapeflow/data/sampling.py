"""Elements of several datasets drawn at random, and classes drawn to a target distribution."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, float64, int32, int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.data import structure
from tapeflow.data.dataset import INFINITE, UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.maps import DirectedInterleaveDataset
from tapeflow.data.node import Node, rewritten
from tapeflow.data.parts import register
from tapeflow.data.shuffling import Seeds, Words, seeds_of
from tapeflow.data.structure import Element
from tapeflow.data.threads import Failure, raises_failures, with_failures
from tapeflow.math.elementwise import log
from tapeflow.random.stateless import stateless_categorical


def check_compatible(datasets: Sequence[Dataset]) -> None:
    """Refuses datasets without a spec in common.

    Raises:
        TypeError: they have none.
        ValueError: there is no dataset.
    """
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for i, ds in enumerate(datasets[1:], 1):
        try:
            structure.common_spec(datasets[0].element_spec, ds.element_spec)
        except TypeError as e:
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 element_spec="
                f"{datasets[0].element_spec}.\nDataset {i} element_spec={ds.element_spec}."
            ) from e


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool) -> Dataset:
    """Implements `Dataset.choose_from_datasets`."""
    check_compatible(datasets)
    spec = choice_dataset.element_spec
    if not (type(spec) is TensorSpec and spec.dtype is int64 and spec.shape.rank in (0, None)):
        raise TypeError(
            f"Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are {spec}."
        )
    return DirectedInterleaveDataset(choice_dataset, datasets, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: TensorLike | Dataset | None, seed: TensorLike | None,
    stop_on_empty_dataset: bool, rerandomize: bool | None,
) -> Dataset:  # fmt: skip
    """Implements `Dataset.sample_from_datasets`, where a pair of random numbers is the seed of each choice."""
    check_compatible(datasets)
    pairs = Dataset.random(seed, rerandomize).batch(2)
    if isinstance(weights, Dataset):
        choices = Dataset.zip((pairs, weights)).map(lambda pair, w: _choice(log(w)[None], pair))
        return DirectedInterleaveDataset(choices, datasets, stop_on_empty_dataset)
    if weights is None:
        logits: Any = [[1.0] * len(datasets)]
    else:
        probabilities = weights if isinstance(weights, Tensor) else convert(weights)
        if probabilities.dtype not in (float32, float64):
            raise TypeError(
                "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                f"{probabilities.dtype!s}."
            )
        count = probabilities.shape.num_elements()
        if count != len(datasets):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={count}` vs. `len(datasets)={len(datasets)}`."
            )
        if isinstance(probabilities, EagerTensor):  # what is never drawn is left out
            drawn = [(ds, p) for ds, p in zip(datasets, probabilities.value.tolist(), strict=True) if p > 0]
            datasets = [ds for ds, _ in drawn]
            probabilities = convert([p for _, p in drawn], probabilities.dtype)
        logits = log(probabilities)[None]
    if len(datasets) == 1:
        return datasets[0]
    choices = pairs.map(lambda pair: _choice(logits, pair))
    return DirectedInterleaveDataset(choices, datasets, stop_on_empty_dataset)


def _choice(logits: Any, pair: Any) -> Any:
    """Draws a number with the log-probabilities `[1, n]`."""
    return stateless_categorical(logits, 1, pair)[0, 0]


# ---- rejection -------------------------------------------------------------------------------------------------------

_BATCH, _SMOOTHING = 32, 10  # the distribution is estimated anew for so many; each class counts as seen so often


def _acceptance(initial: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Returns the probability that an element of each class is accepted: the ratio of both distributions, over the
    greatest.
    """
    ratio = target / np.where(initial > 0, initial, np.inf)
    return ratio / np.max(ratio)


class RejectionResampleDataset(Node):
    """Pairs of a class and an element, with elements left out so that the classes have a target distribution.

    Args:
        source: the dataset that the elements come from.
        class_func: returns an element's class.
        target: the target distribution.
        initial: the distribution of the elements; None to estimate it.
        seed: the seed of what is left out.
    """

    def __init__(self, source: Any, class_func: Callable[..., Any], target: Any, initial: Any, seed: Any) -> None:
        self._class = MappedFunction(class_func, "Dataset.rejection_resample()", source.element_spec)
        spec = self._class.output_spec
        if not (type(spec) is TensorSpec and spec.dtype in (int32, int64) and spec.shape.rank in (0, None)):
            raise TypeError(f"Invalid `class_func`. `class_func` must return an integer scalar, and gives {spec}.")
        self._target = convert(target).numpy().astype(np.float64)
        self._initial = None if initial is None else convert(initial).numpy().astype(np.float64)
        self._seeds = Seeds(seeds_of(seed), True)
        super().__init__((spec, source.element_spec), source)

    def _size(self) -> int:
        return INFINITE if self._input_dataset._size() == INFINITE else UNKNOWN

    def _iterate(self) -> Iterator[Element]:
        return self._accepted(rewritten(self._input_dataset)._iterate(), _uniform(Words(self._seeds.next())))

    @raises_failures
    def _accepted(self, elements: Iterator[Element], random: Iterator[float]) -> Generator[Any]:
        seen = np.full(len(self._target), float(_SMOOTHING))
        accept = _acceptance(seen / seen.sum() if self._initial is None else self._initial, self._target)
        class_of = self._class.caller()
        number = 0

        def with_class(element: Element) -> tuple[Element, Element]:
            return class_of(element), element

        for pair in with_failures(map(with_class, elements)):
            if type(pair) is Failure:
                yield pair
                continue
            of, element = pair
            number += 1
            label = int(of[0])
            seen[label] += 1
            if self._initial is None and number % _BATCH == 0:
                accept = _acceptance(seen / seen.sum(), self._target)
            if next(random) < accept[label]:
                yield (*of, *element)


def _uniform(words: Words) -> Iterator[float]:
    while True:
        yield from (words.take(256) / np.float64(2**32)).tolist()


register(RejectionResampleDataset, choose_from_datasets, sample_from_datasets)
