"""The nodes that call a user's functions: `map`, `filter`, `flat_map`, `interleave`, `scan` and others."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from tapeflow.core.errors import FailedPreconditionError, OpError
from tapeflow.core.types.dtypes import bool_, int32, int64, string
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import invalid
from tapeflow.data import structure
from tapeflow.data.dataset import INFINITE, UNKNOWN
from tapeflow.data.functions import MappedFunction, state_function
from tapeflow.data.nodes import Node, Rows, integer
from tapeflow.data.parts import register
from tapeflow.data.rewriting import rewritten
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element
from tapeflow.data.threads import (
    AUTOTUNE,
    END,
    Failure,
    ahead,
    cores,
    mapped_in_threads,
    raises_failures,
    with_failures,
)
from tapeflow.logger import get_logger


def _function(source: Any, function: Any, name: str) -> MappedFunction:
    return MappedFunction(function, f"Dataset.{name}()", source.element_spec)


def _returns_dataset(function: MappedFunction) -> Any:
    """Returns the spec of the elements of the datasets that a function returns.

    Raises:
        TypeError: it returns something else.
    """
    spec = function.output_spec
    if not isinstance(spec, DatasetSpec):
        kind = getattr(spec, "value_type", type(spec))
        raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {kind!r}.")
    return spec.element_spec


def elements_of(result: Element) -> Iterator[Element]:
    """Returns an iterator over the dataset that a function returned."""
    return rewritten(result[0])._iterate()


def _parallel_calls(value: Any, op: str) -> int:
    calls = integer(value)
    if calls < 1 and calls != AUTOTUNE:
        raise invalid(f"num_parallel_calls must be greater than zero. [Op:{op}] name: ")
    return calls


class MapDataset(Node):
    """The results of a function of each element."""

    _same_size = True

    def __init__(self, source: Any, map_func: Any) -> None:
        self._function = _function(source, map_func, "map")
        spec = self._function.output_spec
        if not [s for s in structure.flatten(spec) if s.flatten()]:
            raise invalid(
                "The function passed to Dataset.map() must return at least one tensor, but it returned none. "
                "[Op:MapDataset]"
            )
        super().__init__(spec, source)

    def _iterate(self) -> Iterator[Element]:
        return map(self._function.caller(), self._input_dataset._iterate())

    def _rows(self) -> Rows | None:
        rows = self._input_dataset._rows()
        return None if rows is None or self._function.of_batches is None else rows.mapped(self._function)

    def _function_of_rows(self) -> MappedFunction | None:
        return None if self._function.of_batches is None else self._function


class ParallelMapDataset(MapDataset):
    """The results of a function of each element, computed in several threads."""

    def __init__(self, source: Any, map_func: Any, num_parallel_calls: Any, deterministic: bool | None) -> None:
        self._calls = _parallel_calls(num_parallel_calls, "ParallelMapDatasetV2")
        self._deterministic = deterministic
        super().__init__(source, map_func)

    def _iterate(self) -> Iterator[Element]:
        ordered = self._deterministic
        if ordered is None:
            ordered = self.options().deterministic is not False
        return mapped_in_threads(self._function.caller(), self._input_dataset._iterate(), self._calls, ordered)


class FilterDataset(Node):
    """The elements for which a predicate is true."""

    _name = "filter"

    def __init__(self, source: Any, predicate: Any) -> None:
        self._predicate = _function(source, predicate, self._name)
        spec = self._predicate.output_spec
        if not (hasattr(spec, "is_compatible_with") and spec.is_compatible_with(TensorSpec([], bool_))):
            raise ValueError(
                "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                f"{spec}."
            )
        super().__init__(source.element_spec, source)

    def _holds(self) -> Callable[[Element], bool]:
        predicate = self._predicate.caller()
        return lambda element: bool(predicate(element)[0])

    def _iterate(self) -> Iterator[Element]:
        return filter(self._holds(), self._input_dataset._iterate())


class TakeWhileDataset(FilterDataset):
    """The elements up to the first for which a predicate is false."""

    _name = "take_while"

    def _iterate(self) -> Iterator[Element]:
        return itertools.takewhile(self._holds(), self._input_dataset._iterate())


class FlatMapDataset(Node):
    """The elements of the datasets that a function returns, one dataset after the other."""

    def __init__(self, source: Any, map_func: Any) -> None:
        self._function = _function(source, map_func, "flat_map")
        super().__init__(_returns_dataset(self._function), source)

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        datasets = map(elements_of, map(self._function.caller(), inputs[0]))
        for elements in with_failures(datasets):
            if type(elements) is Failure:
                yield elements
            else:
                yield from with_failures(elements)


class InterleaveDataset(Node):
    """The elements of several of the datasets that a function returns, in turn."""

    _counts_failures = False

    def __init__(self, source: Any, map_func: Any, cycle_length: Any, block_length: Any) -> None:
        self._function = _function(source, map_func, "interleave")
        spec = _returns_dataset(self._function)
        self._cycle, self._block = integer(cycle_length), integer(block_length)
        if self._cycle < 1 and self._cycle != AUTOTUNE:
            raise invalid("`cycle_length` must be > 0 [Op:InterleaveDataset] name: ")
        if self._block < 1:
            raise invalid("`block_length` must be > 0 [Op:InterleaveDataset] name: ")
        super().__init__(spec, source)

    def _open(self, result: Element) -> Iterator[Element]:
        return elements_of(result)

    def _iterate(self) -> Iterator[Element]:
        datasets = map(self._function.caller(), self._input_dataset._iterate())
        cycle = self._cycle if self._cycle > 0 else cores()
        return in_turn(map(self._open, datasets), cycle, self._block, self._counts_failures)


@raises_failures
def in_turn(
    sources: Iterator[Iterator[Any]], cycle_length: int, block_length: int, counts_failures: bool = False
) -> Generator[Any]:
    """Yields `block_length` items of each of `cycle_length` iterators in turn; the next takes the place of one that has
    ended.

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


class ParallelInterleaveDataset(InterleaveDataset):
    """The same, each dataset's elements being computed ahead in a thread."""

    _counts_failures = True

    def __init__(
        self, source: Any, map_func: Any, cycle_length: Any, block_length: Any, num_parallel_calls: Any
    ) -> None:
        self._calls = _parallel_calls(num_parallel_calls, "ParallelInterleaveDatasetV4")
        super().__init__(source, map_func, cycle_length, block_length)

    def _open(self, result: Element) -> Iterator[Element]:
        return ahead(super()._open(result), self._block if self._calls > 1 else AUTOTUNE)


class ScanDataset(Node):
    """The outputs of a function of each element and a state that it passes on."""

    _same_size = True

    def __init__(self, source: Any, initial_state: Any, scan_func: Any) -> None:
        self._initial = MappedFunction(lambda: initial_state, "Dataset.scan()", ())
        self._function, _ = state_function(
            scan_func, "Dataset.scan()", self._initial.output_spec, source.element_spec, _state_of_pair,
            "Invalid `scan_func`. ",
        )  # fmt: skip
        super().__init__(self._function.output_spec[1], source)

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        state, function = self._initial(()), self._function.caller()
        size = len(state)

        def step(element: Element) -> Element:
            return function((*state, *element))

        for result in with_failures(map(step, inputs[0])):
            if type(result) is Failure:
                yield result
                continue
            state = result[:size]
            yield result[size:]


def _state_of_pair(spec: Any) -> Any:
    if type(spec) is not tuple or len(spec) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but "
            f"its return type is {spec}."
        )
    return spec[0]


def reduction(dataset: Any, initial: MappedFunction, function: MappedFunction) -> Element:
    """Returns the state after a function has run for all elements."""
    state, step = initial(()), function.caller()
    for element in rewritten(dataset)._iterate():
        state = step((*state, *element))
    return state


class UniqueDataset(Node):
    """The elements without repetitions."""

    def __init__(self, source: Any) -> None:
        specs = structure.flatten(source.element_spec)
        for spec in specs:
            if getattr(spec, "dtype", None) not in (int32, int64, string):
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type {getattr(spec, 'dtype', spec)!s} -- only "
                    "`tf.int32`, `tf.int64`, and `tf.string` are supported."
                )
        if len(specs) > 1:
            raise invalid("UniqueDataset only supports inputs with a single component. [Op:UniqueDataset] name: ")
        super().__init__(source.element_spec, source)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        seen: set[Any] = set()

        def is_new(element: Element) -> bool:
            key = (element[0].shape, *np.ravel(element[0]).tolist())
            before = len(seen)
            seen.add(key)
            return len(seen) > before

        return filter(is_new, inputs[0])


class IgnoreErrorsDataset(Node):
    """The elements without those whose computation fails."""

    def __init__(self, source: Any, log_warning: bool) -> None:
        super().__init__(source.element_spec, source)
        self._log_warning = log_warning

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        for element in with_failures(inputs[0]):
            if type(element) is not Failure or not isinstance(element.error, OpError):
                yield element
            elif self._log_warning:
                get_logger().warning("Error raised with error message %s", element.error)


class AssertCardinalityDataset(Node):
    """The same elements, whose number is checked."""

    def __init__(self, source: Any, expected: Any) -> None:
        super().__init__(source.element_spec, source)
        self._expected = integer(expected)

    def _size(self) -> int:
        return self._expected

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        expected, count = self._expected, 0
        for element in with_failures(inputs[0]):
            count += type(element) is not Failure
            if 0 <= expected < count:
                raise self._error(f"at least {count}")
            yield element
        if expected >= 0 and count < expected:
            raise self._error(f"only {count}")

    def _error(self, count: str) -> FailedPreconditionError:
        return FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {self._expected} elements but contained {count} elements.",
        )


class DirectedInterleaveDataset(Node):
    """The elements of several datasets, in the order of the numbers that a dataset holds."""

    def __init__(self, selector: Any, datasets: Any, stop_on_empty: bool) -> None:
        spec = functools.reduce(structure.common_spec, [ds.element_spec for ds in datasets])
        super().__init__(spec, selector, *datasets)
        self._stop_on_empty = stop_on_empty

    def _size(self) -> int:
        sizes = [ds._size() for ds in self._input_datasets[1:]]
        endless = (all if self._stop_on_empty else any)(size == INFINITE for size in sizes)
        return INFINITE if endless else UNKNOWN

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        selector, *rest = map(with_failures, inputs)
        sources: list[Any] = list(rest)
        for chosen in selector:
            if type(chosen) is Failure:
                yield chosen
                continue
            index = int(chosen[0])
            if not 0 <= index < len(sources):
                raise invalid(f"Selector index out of range: {index} >= {len(sources)}")
            element = None if sources[index] is None else next(sources[index], None)
            if element is not None:
                yield element
            elif self._stop_on_empty:
                return
            else:
                sources[index] = None
                if not any(s is not None for s in sources):
                    return


class PrefetchDataset(Node):
    """The same elements, computed ahead in a thread."""

    _same_size = True

    def __init__(self, source: Any, buffer_size: Any) -> None:
        self._buffer_size = integer(buffer_size)
        if self._buffer_size < -1:
            raise invalid(
                "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning [Op:PrefetchDataset] name: "
            )
        super().__init__(source.element_spec, source)

    def _iterate(self) -> Iterator[Element]:
        elements = self._input_dataset._iterate()
        return ahead(elements, self._buffer_size) if self._buffer_size else elements


register(
    FilterDataset,
    FlatMapDataset,
    IgnoreErrorsDataset,
    InterleaveDataset,
    MapDataset,
    ParallelInterleaveDataset,
    ParallelMapDataset,
    PrefetchDataset,
    ScanDataset,
    TakeWhileDataset,
    UniqueDataset,
    reduction,
)
