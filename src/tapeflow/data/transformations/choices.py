"""The random choices of `Dataset.sample_from_datasets`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from tapeflow.core.rng.philox import first_blocks, to_uniform
from tapeflow.data.elements import Element
from tapeflow.data.seeds import Words
from tapeflow.data.transformations.map import Map
from tapeflow.random import rejection


class Choices(Map):
    """Random numbers of datasets, by constant log-probabilities: a function of pairs of random integers, their seeds.

    Many are drawn at once, by the arithmetic of `tf.random.stateless_categorical` for each pair.
    """

    logits: torch.Tensor

    name = "_MapDataset"

    def iterate(self) -> Iterator[Element]:
        pairs: Any = self.input_dataset
        return _draw_choices(Words(pairs.input_dataset.seeds.next()), self.logits)


def _draw_choices(words: Words, logits: torch.Tensor) -> Iterator[Element]:
    rest = np.empty(0, np.uint32)
    while True:
        rest = np.concatenate([rest, words.take(512)])
        count = len(rest) // 2
        blocks = first_blocks(rest[: 2 * count].astype(np.int64).reshape(count, 2))
        numbers = to_uniform(torch.from_numpy(np.ascontiguousarray(blocks[:, :2]).view(np.int32)), torch.float64)
        rest = rest[2 * count :]
        for choice in rejection.categories(numbers.reshape(1, count), logits)[0].unbind():
            yield (choice,)
