"""`Dataset.interleave`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.core.values.tensor import invalid
from tapeflow.data.elements import Element
from tapeflow.data.node import dataset_op
from tapeflow.data.threads import AUTOTUNE, END, Failure, ahead, cores, raises_failures, with_failures
from tapeflow.data.transformations.flat_map import FlatMap, elements_of
from tapeflow.data.transformations.map import check_calls


@dataset_op("InterleaveDataset")
class Interleave(FlatMap):
    """The elements of several of the datasets that a function returns, in turn."""

    cycle_length: int
    block_length: int

    counts_failures = False

    def element_spec(self) -> Any:
        spec = super().element_spec()
        if self.cycle_length < 1 and self.cycle_length != AUTOTUNE:
            raise self._size_error("cycle_length")
        if self.block_length < 1:
            raise self._size_error("block_length")
        return spec

    def _size_error(self, name: str) -> Exception:
        return invalid(f"{name} must be greater than zero. [Op:{self.op}] name: ")

    def open(self, result: Element) -> Iterator[Element]:
        """Returns an iterator over the dataset that the function returned."""
        return elements_of(result)

    def iterate(self) -> Iterator[Element]:
        datasets = map(self.f.caller(), self.input_dataset.iterate())
        cycle = self.cycle_length if self.cycle_length > 0 else cores()
        return in_turn(map(self.open, datasets), cycle, self.block_length, self.counts_failures)


@raises_failures
def in_turn(
    sources: Iterator[Iterator[Any]], cycle_length: int, block_length: int, counts_failures: bool = False
) -> Generator[Any]:
    """Yields `block_length` items of each of `cycle_length` iterators in turn. When one ends, the next takes its place.

    Args:
        sources: the iterators.
        cycle_length: how many of them take turns.
        block_length: the number of items in a turn.
        counts_failures: whether an error is an item of its turn.
    """
    cycle: list[Iterator[Any] | None] = [None] * cycle_length
    openings = with_failures(sources)
    more = True
    while more or any(cycle):
        for i in range(cycle_length):
            count = 0
            while count < block_length:
                current = cycle[i]
                if current is None:
                    opened = next(openings, END) if more and count == 0 else END
                    if type(opened) is Failure:
                        yield opened
                        if counts_failures:
                            break
                        continue
                    if opened is END:
                        more = more and count > 0
                        break
                    current = cycle[i] = with_failures(opened)
                value = next(current, END)
                if value is END:
                    cycle[i] = None
                    break
                count += type(value) is not Failure or counts_failures
                yield value


@dataset_op("ParallelInterleaveDatasetV4", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV2")
class ParallelInterleave(Interleave):
    """The same, each dataset's elements being computed ahead in a thread."""

    num_parallel_calls: int
    deterministic: str = "default"

    counts_failures = is_asynchronous = is_slow = True
    buffer_output_elements = prefetch_input_elements = AUTOTUNE

    def element_spec(self) -> Any:
        check_calls(self.num_parallel_calls, self.op)
        return super().element_spec()

    def _size_error(self, name: str) -> Exception:
        bound = f"`tf.data.AUTOTUNE` or greater than 0 but is {self.cycle_length}" if name == "cycle_length" else "> 0"
        return invalid(f"`{name}` must be {bound} [Op:{self.op}] name: ")

    def open(self, result: Element) -> Iterator[Element]:
        return ahead(super().open(result), self.block_length if self.num_parallel_calls > 1 else AUTOTUNE)


@dataset_op("LegacyParallelInterleaveDatasetV2", "ParallelInterleaveDataset")
class LegacyInterleave(Interleave):
    """The same, as several files are read in turn."""

    deterministic = "true"

    @property
    def buffer_output_elements(self) -> int:
        """The number of elements that TensorFlow buffers for each dataset."""
        return 2 * self.block_length

    @property
    def prefetch_input_elements(self) -> int:
        """The number of datasets that TensorFlow opens ahead."""
        return 2 * self.cycle_length
