"""`Dataset.group_by_window`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from tapeflow.autograph.conversion import convert_function
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import INFINITE, UNKNOWN, Node, Unary, dataset_op
from tapeflow.data.sources.from_list import Elements
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import Chained
from tapeflow.data.transformations.flat_map import elements_of

KEY = TensorSpec([], int64)


@dataset_op("GroupByWindowDataset")
class GroupByWindow(Unary):
    """The elements of the datasets that a function returns for each full group of elements with one key."""

    key_func: MappedFunction
    reduce_func: MappedFunction
    window_size_func: MappedFunction

    @classmethod
    def of(
        cls, node: Node, key_func: Callable[..., Any], reduce_func: Callable[..., Any],
        window_size_func: Callable[..., Any],
    ) -> GroupByWindow:  # fmt: skip
        """Returns the node for a user's functions."""
        name, spec = "Dataset.group_by_window()", node.spec
        return cls(
            node,
            number_function("key_func", key_func, name, spec),
            MappedFunction(reduce_func, name, (KEY, DatasetSpec(spec))),
            number_function("window_size_func", window_size_func, name, KEY),
        )

    def element_spec(self) -> Any:
        own = self.input_dataset.spec
        self.key_func = self.key_func.typed(own)
        self.reduce_func = self.reduce_func.typed((KEY, DatasetSpec(own)), lambda f: DatasetSpec(f.declared))
        self.window_size_func = self.window_size_func.typed(KEY)
        spec = self.reduce_func.output_spec
        if not isinstance(spec, DatasetSpec):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return "
                f"type is {spec}."
            )
        return spec.element_spec

    def cardinality(self) -> int:
        return INFINITE if self.input_dataset.cardinality() == INFINITE else UNKNOWN

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        key_of, size_of = self.key_func.caller(), self.window_size_func.caller()
        reduce = self.reduce_func.caller()
        spec = self.input_dataset.spec
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}

        def results(key: int) -> Iterator[Element]:
            window = DatasetSpec.dataset(Elements(groups.pop(key), spec))
            return elements_of(reduce((torch.tensor(key), window)))

        def add(element: Element) -> Iterator[Element]:
            key = int(key_of(element)[0])
            if key not in groups:
                size = int(size_of((torch.tensor(key),))[0])
                if size <= 0:
                    raise invalid(f"Window size must be greater than zero, but got {size}.")
                groups[key], sizes[key] = [], size
            groups[key].append(element)
            return results(key) if len(groups[key]) == sizes[key] else iter(())

        def rest() -> Iterator[Iterator[Element]]:
            yield from map(results, sorted(groups))

        return Chained(itertools.chain(map(add, inputs[0]), rest()))


def number_function(which: str, function: Callable[..., Any], name: str, spec: Any) -> MappedFunction:
    """Traces a user's function that returns an int64 scalar.

    Raises:
        ValueError: it returns something else.
    """
    traced = MappedFunction(lambda *args: _as_int64(convert_function(function)(*args)), name, spec)
    if not TensorSpec([], int64).is_compatible_with(traced.output_spec):
        raise ValueError(
            f"Invalid `{which}`. `{which}` must return a single `tf.int64` scalar tensor but its return type is "
            f"{traced.output_spec}."
        )
    return traced


def _as_int64(value: TensorLike) -> Any:
    return value if isinstance(value, (Tensor, CompositeTensor)) else convert(value, int64)
