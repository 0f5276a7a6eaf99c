"""`Dataset.window`."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Unary, dataset_op
from tapeflow.data.sources.from_list import Elements
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import Failure, raises_failures, with_failures


@dataset_op("WindowDataset")
class Window(Unary):
    """Datasets of elements that follow each other."""

    size: int
    shift: int
    stride: int
    drop_remainder: bool

    def element_spec(self) -> Any:
        for name in ("size", "shift", "stride"):
            if getattr(self, name) <= 0:
                raise invalid(f"Window {name} must be greater than zero. [Op:WindowDataset] name: ")
        self._span = (self.size - 1) * self.stride + 1
        return elements.map_specs(DatasetSpec, self.input_dataset.spec)

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        if size < 0:
            return size
        return max(0, (size - self._span) // self.shift + 1) if self.drop_remainder else -(-size // self.shift)

    @raises_failures
    def generate(self, *inputs: Iterator[Element]) -> Generator[Any]:
        source = with_failures(inputs[0])
        specs = elements.flatten(self.input_dataset.spec)
        seen: deque[Element] = deque()
        while True:
            seen.extend(itertools.islice(source, self._span - len(seen)))
            if not seen or (self.drop_remainder and len(seen) < self._span):
                return
            window = list(itertools.islice(seen, 0, None, self.stride))
            failures = [e for e in window if type(e) is Failure]
            if failures:  # in place of the whole window
                yield failures[0]
            else:
                columns = [[(e[i],) for e in window] for i in range(len(specs))]
                yield tuple([DatasetSpec.dataset(Elements(c, s)) for c, s in zip(columns, specs, strict=True)])
            for _ in range(min(self.shift, len(seen))):
                seen.popleft()
            if self.shift > self._span:
                deque(itertools.islice(source, self.shift - self._span), maxlen=0)
