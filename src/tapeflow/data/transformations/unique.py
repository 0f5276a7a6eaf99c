"""`Dataset.unique`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import int32, int64, string
from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Unary, dataset_op


@dataset_op("UniqueDataset")
class Unique(Unary):
    """The elements without repetitions."""

    def element_spec(self) -> Any:
        specs = elements.flatten(self.input_dataset.spec)
        for spec in specs:
            if getattr(spec, "dtype", None) not in (int32, int64, string):
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type {getattr(spec, 'dtype', spec)!s} -- only "
                    "`tf.int32`, `tf.int64`, and `tf.string` are supported."
                )
        if len(specs) > 1:
            raise invalid("UniqueDataset only supports inputs with a single component. [Op:UniqueDataset] name: ")
        return super().element_spec()

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        seen: set[Any] = set()

        def is_new(element: Element) -> bool:
            key = (element[0].shape, *np.ravel(element[0]).tolist())
            before = len(seen)
            seen.add(key)
            return len(seen) > before

        return filter(is_new, inputs[0])
