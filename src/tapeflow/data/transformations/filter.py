"""`Dataset.filter` and `Dataset.take_while`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core.types.dtypes import bool_
from tapeflow.core.types.spec import TensorSpec
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import Unary, dataset_op


@dataset_op("FilterDataset", "ParallelFilterDataset")
class Filter(Unary):
    """The elements that satisfy a predicate."""

    predicate: MappedFunction

    passes_elements = names_errors = True

    def element_spec(self) -> Any:
        self.predicate = self.predicate.typed(self.input_dataset.spec, lambda f: f.result_specs[0])
        spec = self.predicate.output_spec
        if not (hasattr(spec, "is_compatible_with") and spec.is_compatible_with(TensorSpec([], bool_))):
            raise ValueError(
                "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                f"{spec}."
            )
        return super().element_spec()

    def holds(self) -> Callable[[Element], bool]:
        """Returns the predicate for a new iterator."""
        predicate = self.predicate.caller()
        return lambda element: bool(predicate(element)[0])

    def iterate(self) -> Iterator[Element]:
        return filter(self.holds(), self.input_dataset.iterate())


@dataset_op("TakeWhileDataset")
class TakeWhile(Filter):
    """The elements before the first one that does not satisfy a predicate."""

    names_errors = False

    def iterate(self) -> Iterator[Element]:
        return itertools.takewhile(self.holds(), self.input_dataset.iterate())
