"""`Dataset.random`: TensorFlow's numbers for every seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, Node, dataset_op
from tapeflow.data.seeds import Seeded, Seeds, Words, seeds_of


@dataset_op("RandomDatasetV2", "RandomDataset")
class Random(Seeded, Node):
    """An infinite sequence of random integers in [0, 2**32)."""

    seeds: Seeds

    name = "RandomDatasetV2"

    @classmethod
    def of(cls, seed: TensorLike | None, rerandomize_each_iteration: bool | None) -> Random:
        """Returns the node for a user's seed, or a random one for None."""
        return cls(Seeds(seeds_of(seed), bool(rerandomize_each_iteration)))

    @classmethod
    def of_op(cls, seed: int, seed2: int, rerandomize_each_iteration: bool = False) -> Random:
        return cls(Seeds((seed, seed2), bool(rerandomize_each_iteration)))

    def element_spec(self) -> Any:
        return TensorSpec([], int64)

    @property
    def rerandomize_each_iteration(self) -> bool:
        """True if each iterator has numbers of its own."""
        return self.seeds.renew

    def cardinality(self) -> int:
        return INFINITE

    def iterate(self) -> Iterator[Element]:
        return _random_numbers(Words(self.seeds.next()))


def _random_numbers(words: Words) -> Iterator[Element]:
    while True:
        for word in words.take(256).tolist():
            yield (torch.scalar_tensor(word, dtype=torch.int64),)
