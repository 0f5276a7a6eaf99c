"""`Dataset.prefetch`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.core.values.tensor import invalid
from tapeflow.data.elements import Element
from tapeflow.data.node import Unary, dataset_op
from tapeflow.data.threads import ahead


@dataset_op("PrefetchDataset")
class Prefetch(Unary):
    """The same elements, computed ahead in a thread."""

    buffer_size: int

    same_size = passes_elements = is_asynchronous = shards_inside = True

    def element_spec(self) -> Any:
        if self.buffer_size < -1:
            raise invalid(
                "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning [Op:PrefetchDataset] name: "
            )
        return super().element_spec()

    def iterate(self) -> Iterator[Element]:
        elements = self.input_dataset.iterate()
        return ahead(elements, self.buffer_size) if self.buffer_size else elements
