"""`Dataset.map`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, OpFunction
from tapeflow.data.node import Node, Rows, Unary, dataset_op, op_kernel
from tapeflow.data.threads import AUTOTUNE, mapped_in_threads
from tapeflow.data.transformations.batch import Batch, stack_batches


@dataset_op("MapDataset")
class Map(Unary):
    """The results of a function of each element."""

    f: MappedFunction

    same_size = preserve_cardinality = names_errors = is_map = True

    def element_spec(self) -> Any:
        self.f = self.f.typed(self.input_dataset.spec)
        if not [s for s in elements.flatten(self.f.output_spec) if s.flatten()]:
            raise invalid(
                "The function passed to Dataset.map() must return at least one tensor, but it returned none. "
                "[Op:MapDataset]"
            )
        return self.f.output_spec

    def iterate(self) -> Iterator[Element]:
        return map(self.f.caller(), self.input_dataset.iterate())

    def rows(self) -> Rows | None:
        rows = self.input_dataset.rows()
        return None if rows is None or self.f.of_batches is None else rows.mapped(self.f)

    def function_of_rows(self) -> MappedFunction | None:
        return None if self.f.of_batches is None else self.f

    def batches(self, size: int, drop_remainder: bool) -> Iterator[Element] | None:
        source, function = self.input_dataset, self.f
        specs = elements.flatten(source.spec)
        if function.of_batches is None or not all(type(s) is TensorSpec and s.shape.is_fully_defined() for s in specs):
            return None
        batches = source.batches(size, drop_remainder)
        if batches is None:
            batches = stack_batches(source, source.iterate(), size, drop_remainder, skips=True)
        return map(function.many, batches)


@dataset_op("ParallelMapDatasetV2", "ParallelMapDataset")
class ParallelMap(Map):
    """The results of a function of each element, computed in several threads.

    The attr `deterministic` says whether they come in the order of the elements: "true", "false", or "default" for the
    option of that name.
    """

    num_parallel_calls: int
    deterministic: str = "default"

    is_asynchronous = is_slow = True

    def element_spec(self) -> Any:
        check_calls(self.num_parallel_calls, self.op)
        return super().element_spec()

    def iterate(self) -> Iterator[Element]:
        mode = self.deterministic
        ordered = mode == "true" or (mode != "false" and self.options().deterministic is not False)
        return mapped_in_threads(self.f.caller(), self.input_dataset.iterate(), self.num_parallel_calls, ordered)


def check_calls(calls: int, op: str) -> None:
    """Refuses numbers of parallel calls below 1."""
    if calls < 1 and calls != AUTOTUNE:
        raise invalid(f"num_parallel_calls must be greater than zero. [Op:{op}] name: ")


def order_attr(in_order: bool | None) -> str:
    """Returns the attr `deterministic` of an op."""
    return "default" if in_order is None else "true" if in_order else "false"


@op_kernel("MapAndBatchDataset")
def _map_and_batch(input_dataset: Node, f: OpFunction, batch_size: int, drop_remainder: bool) -> Node:
    return Batch(Map.of_op(input_dataset=input_dataset, f=f), batch_size, drop_remainder)
