"""`Dataset.rebatch`."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Unary, dataset_op
from tapeflow.data.threads import Failure, raises_failures
from tapeflow.data.transformations.unbatch import Unbatch


@dataset_op("RebatchDatasetV2")
class Rebatch(Unary):
    """Batches cut and joined to others, of each of the sizes in turn."""

    batch_sizes: Sequence[int]
    drop_remainder: bool

    def element_spec(self) -> Any:
        if any(n <= 0 for n in self.batch_sizes):
            raise invalid("Batch size must be greater than zero. [Op:RebatchDatasetV2] name: ")
        size = self.batch_sizes[0] if self.drop_remainder and len(set(self.batch_sizes)) == 1 else None

        def other(spec: Any) -> Any:
            if getattr(getattr(spec, "shape", None), "rank", None) == 0:
                raise ValueError(
                    "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar "
                    "elements. Fix the issue by adding the `batch` transformation to the dataset."
                )
            return spec._unbatch()._batch(size)

        return elements.map_specs(other, self.input_dataset.spec)

    def iterate(self) -> Iterator[Element]:
        rows = Unbatch(self.input_dataset)
        return self._rebatched(rows.iterate(), elements.flatten(rows.spec))

    @raises_failures
    def _rebatched(self, rows: Iterator[Element], specs: Sequence[Any]) -> Generator[Any]:
        sizes = itertools.cycle(self.batch_sizes)
        size = next(sizes)
        while True:
            try:
                run = list(itertools.islice(rows, size))
            except Exception as error:
                yield Failure(error)
                continue
            if not run or (self.drop_remainder and len(run) < size):
                return
            yield elements.batch_elements(run, specs)
            size = next(sizes)
