"""The nodes that call a user's functions: `map`, `filter`, `flat_map`, `interleave`, `scan` and others."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.errors import FailedPreconditionError, OpError
from tapeflow.core.ops.op_def import NO_DEFAULT
from tapeflow.core.types.dtypes import bool_, int32, int64, string
from tapeflow.core.types.spec import TensorSpec, spec_of
from tapeflow.core.values.tensor import invalid
from tapeflow.data import structure
from tapeflow.data.dataset import INFINITE, UNKNOWN
from tapeflow.data.functions import MappedFunction, state_function
from tapeflow.data.node import (
    Node,
    OpFunction,
    add_operation,
    dataset_op,
    declared_shapes,
    integer,
    op_kernel,
    rewritten,
)
from tapeflow.data.nodes import Rows
from tapeflow.data.parts import register
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


def function_of(source: Any, function: Any, name: str) -> MappedFunction:
    """Traces a user's function of the elements of a dataset, for the transformation of that name."""
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


@dataset_op("MapDataset")
class MapDataset(Node):
    """The results of a function of each element."""

    _same_size = True
    _preserve_cardinality = True

    def __init__(self, input_dataset: Any, f: MappedFunction) -> None:
        if not [s for s in structure.flatten(f.output_spec) if s.flatten()]:
            raise invalid(
                "The function passed to Dataset.map() must return at least one tensor, but it returned none. "
                "[Op:MapDataset]"
            )
        self._f = f
        super().__init__(f.output_spec, input_dataset)

    @classmethod
    def _of_op(cls, input_dataset: Any, f: OpFunction) -> MapDataset:
        return cls(input_dataset, f.typed(input_dataset.element_spec))

    def _iterate(self) -> Iterator[Element]:
        return map(self._f.caller(), self._input_dataset._iterate())

    def _rows(self) -> Rows | None:
        rows = self._input_dataset._rows()
        return None if rows is None or self._f.of_batches is None else rows.mapped(self._f)

    def _function_of_rows(self) -> MappedFunction | None:
        return None if self._f.of_batches is None else self._f


@dataset_op("ParallelMapDatasetV2", "ParallelMapDataset")
class ParallelMapDataset(MapDataset):
    """The results of a function of each element, computed in several threads."""

    _is_asynchronous = _is_slow = True

    def __init__(
        self, input_dataset: Any, f: MappedFunction, num_parallel_calls: Any, deterministic: bool | None
    ) -> None:
        self._num_parallel_calls = _parallel_calls(num_parallel_calls, "ParallelMapDatasetV2")
        self._in_order = deterministic
        super().__init__(input_dataset, f)

    @classmethod
    def _of_op(  # type: ignore[override]
        cls, input_dataset: Any, f: OpFunction, num_parallel_calls: int, deterministic: Any = None
    ) -> ParallelMapDataset:
        order = _IN_ORDER.get(deterministic if isinstance(deterministic, str) else "default")
        return cls(input_dataset, f.typed(input_dataset.element_spec), num_parallel_calls, order)

    @property
    def _deterministic(self) -> str:
        return order_attr(self._in_order)

    def _iterate(self) -> Iterator[Element]:
        ordered = self._in_order
        if ordered is None:
            ordered = self.options().deterministic is not False
        calls = self._num_parallel_calls
        return mapped_in_threads(self._f.caller(), self._input_dataset._iterate(), calls, ordered)


_IN_ORDER = {"true": True, "false": False}  # the values of an attr `deterministic`, beside "default"


def order_attr(in_order: bool | None) -> str:
    """Returns the attr `deterministic` of an op."""
    return "default" if in_order is None else "true" if in_order else "false"


@op_kernel("MapAndBatchDataset")
def _map_and_batch(input_dataset: Any, f: OpFunction, batch_size: int, drop_remainder: bool) -> Any:
    return MapDataset._of_op(input_dataset, f).batch(batch_size, drop_remainder)


@dataset_op("FilterDataset", "ParallelFilterDataset")
class FilterDataset(Node):
    """The elements for which a predicate is true."""

    _passes_elements = True

    def __init__(self, input_dataset: Any, predicate: MappedFunction) -> None:
        spec = predicate.output_spec
        if not (hasattr(spec, "is_compatible_with") and spec.is_compatible_with(TensorSpec([], bool_))):
            raise ValueError(
                "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                f"{spec}."
            )
        self._predicate = predicate
        super().__init__(input_dataset.element_spec, input_dataset)

    @classmethod
    def _of_op(cls, input_dataset: Any, predicate: OpFunction) -> FilterDataset:
        return cls(input_dataset, predicate.typed(input_dataset.element_spec, predicate.result_specs[0]))

    def _holds(self) -> Callable[[Element], bool]:
        predicate = self._predicate.caller()
        return lambda element: bool(predicate(element)[0])

    def _iterate(self) -> Iterator[Element]:
        return filter(self._holds(), self._input_dataset._iterate())


@dataset_op("TakeWhileDataset")
class TakeWhileDataset(FilterDataset):
    """The elements up to the first for which a predicate is false."""

    def _iterate(self) -> Iterator[Element]:
        return itertools.takewhile(self._holds(), self._input_dataset._iterate())


@dataset_op("FlatMapDataset")
class FlatMapDataset(Node):
    """The elements of the datasets that a function returns, one dataset after the other."""

    def __init__(self, input_dataset: Any, f: MappedFunction) -> None:
        self._f = f
        super().__init__(_returns_dataset(f), input_dataset)

    @classmethod
    def _of_op(cls, input_dataset: Any, f: OpFunction, spec: Any) -> FlatMapDataset:
        return cls(input_dataset, f.typed(input_dataset.element_spec, DatasetSpec(spec)))

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        datasets = map(elements_of, map(self._f.caller(), inputs[0]))
        for elements in with_failures(datasets):
            if type(elements) is Failure:
                yield elements
            else:
                yield from with_failures(elements)


@dataset_op("InterleaveDataset")
class InterleaveDataset(Node):
    """The elements of several of the datasets that a function returns, in turn."""

    _counts_failures = False

    def __init__(self, input_dataset: Any, f: MappedFunction, cycle_length: Any, block_length: Any) -> None:
        spec = _returns_dataset(f)
        self._f = f
        self._cycle_length, self._block_length = integer(cycle_length), integer(block_length)
        if self._cycle_length < 1 and self._cycle_length != AUTOTUNE:
            raise invalid("`cycle_length` must be > 0 [Op:InterleaveDataset] name: ")
        if self._block_length < 1:
            raise invalid("`block_length` must be > 0 [Op:InterleaveDataset] name: ")
        super().__init__(spec, input_dataset)

    @classmethod
    def _of_op(
        cls, input_dataset: Any, f: OpFunction, cycle_length: int, block_length: int, spec: Any
    ) -> InterleaveDataset:
        return cls(input_dataset, f.typed(input_dataset.element_spec, DatasetSpec(spec)), cycle_length, block_length)

    def _open(self, result: Element) -> Iterator[Element]:
        return elements_of(result)

    def _iterate(self) -> Iterator[Element]:
        datasets = map(self._f.caller(), self._input_dataset._iterate())
        cycle = self._cycle_length if self._cycle_length > 0 else cores()
        return in_turn(map(self._open, datasets), cycle, self._block_length, self._counts_failures)


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


@dataset_op("ParallelInterleaveDatasetV4", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV2")
class ParallelInterleaveDataset(InterleaveDataset):
    """The same, each dataset's elements being computed ahead in a thread."""

    _counts_failures = True
    _is_asynchronous = _is_slow = True
    _buffer_output_elements = _prefetch_input_elements = AUTOTUNE

    def __init__(
        self,
        input_dataset: Any,
        f: MappedFunction,
        cycle_length: Any,
        block_length: Any,
        num_parallel_calls: Any,
        deterministic: bool | None = None,
    ) -> None:
        self._num_parallel_calls = _parallel_calls(num_parallel_calls, self._op)
        self._deterministic = order_attr(deterministic)
        super().__init__(input_dataset, f, cycle_length, block_length)

    @classmethod
    def _of_op(  # type: ignore[override]
        cls, input_dataset: Any, f: OpFunction, cycle_length: int, block_length: int, num_parallel_calls: int,
        spec: Any,
    ) -> ParallelInterleaveDataset:  # fmt: skip
        function = f.typed(input_dataset.element_spec, DatasetSpec(spec))
        return cls(input_dataset, function, cycle_length, block_length, num_parallel_calls)

    def _open(self, result: Element) -> Iterator[Element]:
        return ahead(super()._open(result), self._block_length if self._num_parallel_calls > 1 else AUTOTUNE)


@dataset_op("LegacyParallelInterleaveDatasetV2", "ParallelInterleaveDataset")
class LegacyInterleaveDataset(InterleaveDataset):
    """The same, as several files are read in turn."""

    _deterministic = "true"

    @property
    def _buffer_output_elements(self) -> int:
        return 2 * self._block_length

    @property
    def _prefetch_input_elements(self) -> int:
        return 2 * self._cycle_length


@dataset_op("ScanDataset")
class ScanDataset(Node):
    """The outputs of a function of each element and a state that it passes on.

    Args:
        input_dataset: the dataset.
        initial_state: the first state, an element.
        state_spec: the spec of all states.
        f: returns a pair of the new state and an output.
    """

    _same_size = True
    _preserve_cardinality = True

    def __init__(self, input_dataset: Any, initial_state: Element, state_spec: Any, f: MappedFunction) -> None:
        self._first, self._state_spec, self._f = initial_state, state_spec, f
        super().__init__(f.output_spec[1], input_dataset)

    @classmethod
    def _of_op(cls, input_dataset: Any, initial_state: list[Any], f: OpFunction) -> Any:
        states, element = tuple(map(spec_of, initial_state)), input_dataset.element_spec
        results = f.result_specs
        output_spec = (results[: len(states)], results[len(states) :])
        first = tuple([t.value for t in initial_state])
        return cls(input_dataset, first, states, f.typed((states, element), output_spec))

    @property
    def _initial_state(self) -> list[Any]:
        return structure.encoded(self._first, structure.flatten(self._state_spec))

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        state, function = self._first, self._f.caller()
        size = len(state)

        def step(element: Element) -> Element:
            return function((*state, *element))

        for result in with_failures(map(step, inputs[0])):
            if type(result) is Failure:
                yield result
                continue
            state = result[:size]
            yield result[size:]


def scanned(dataset: Any, initial_state: Any, scan_func: Callable[..., Any]) -> ScanDataset:
    """Implements `Dataset.scan`."""
    first, spec = structure.normalized(initial_state)
    function, spec = state_function(
        scan_func, "Dataset.scan()", spec, dataset.element_spec, _state_of_pair, "Invalid `scan_func`. "
    )
    return ScanDataset(dataset, structure.to_element(first), spec, function)


def _state_of_pair(spec: Any) -> Any:
    if type(spec) is not tuple or len(spec) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but "
            f"its return type is {spec}."
        )
    return spec[0]


def reduced(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """Implements `Dataset.reduce`."""
    initial, first_spec = structure.normalized(initial_state)
    function, spec = state_function(reduce_func, "reduce()", first_spec, dataset.element_spec, lambda s: s)
    if state.graph is None:
        return structure.Packer(spec)(reduction(dataset, structure.to_element(initial), function))
    specs = structure.flatten(spec)
    encoded = structure.encoded_specs(spec)
    fields = {
        "input_dataset": dataset._variant_tensor,
        "initial_state": structure.encoded(structure.flatten(initial), structure.flatten(first_spec)),
        "f": function,
        "output_types": [s.dtype for s in encoded],
        "output_shapes": [s.shape for s in encoded],
    }
    outputs = add_operation("ReduceDataset", lambda name, _: fields.get(name, NO_DEFAULT))
    return structure.pack(spec, structure.decoded_values(outputs, specs))


def reduction(dataset: Any, state: Element, function: MappedFunction) -> Element:
    """Returns the state after a function has run for all elements."""
    step = function.caller()
    for element in rewritten(dataset)._iterate():
        state = step((*state, *element))
    return state


@op_kernel("ReduceDataset", shape=declared_shapes)
def _reduce(input_dataset: Any, initial_state: list[Any], f: OpFunction) -> Element:
    states = tuple(map(spec_of, initial_state))
    function = f.typed((states, input_dataset.element_spec))
    return reduction(input_dataset, tuple([t.value for t in initial_state]), function)


@dataset_op("UniqueDataset")
class UniqueDataset(Node):
    """The elements without repetitions."""

    def __init__(self, input_dataset: Any) -> None:
        specs = structure.flatten(input_dataset.element_spec)
        for spec in specs:
            if getattr(spec, "dtype", None) not in (int32, int64, string):
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type {getattr(spec, 'dtype', spec)!s} -- only "
                    "`tf.int32`, `tf.int64`, and `tf.string` are supported."
                )
        if len(specs) > 1:
            raise invalid("UniqueDataset only supports inputs with a single component. [Op:UniqueDataset] name: ")
        super().__init__(input_dataset.element_spec, input_dataset)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        seen: set[Any] = set()

        def is_new(element: Element) -> bool:
            key = (element[0].shape, *np.ravel(element[0]).tolist())
            before = len(seen)
            seen.add(key)
            return len(seen) > before

        return filter(is_new, inputs[0])


@dataset_op("IgnoreErrorsDataset")
class IgnoreErrorsDataset(Node):
    """The elements without those whose computation fails."""

    _passes_elements = _passes_options = True

    def __init__(self, input_dataset: Any, log_warning: bool) -> None:
        super().__init__(input_dataset.element_spec, input_dataset)
        self._log_warning = log_warning

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        for element in with_failures(inputs[0]):
            if type(element) is not Failure or not isinstance(element.error, OpError):
                yield element
            elif self._log_warning:
                get_logger().warning("Error raised with error message %s", element.error)


@dataset_op("AssertCardinalityDataset")
class AssertCardinalityDataset(Node):
    """The same elements, whose number is checked."""

    _passes_elements = True

    def __init__(self, input_dataset: Any, cardinality: Any) -> None:
        super().__init__(input_dataset.element_spec, input_dataset)
        self._cardinality = integer(cardinality)

    def _size(self) -> int:
        return self._cardinality

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        expected, count = self._cardinality, 0
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
            f"Input dataset was expected to contain {self._cardinality} elements but contained {count} elements.",
        )


@dataset_op("DirectedInterleaveDataset")
class DirectedInterleaveDataset(Node):
    """The elements of several datasets, in the order of the numbers that a dataset holds."""

    def __init__(self, selector_input_dataset: Any, data_input_datasets: Any, stop_on_empty_dataset: bool) -> None:
        spec = functools.reduce(structure.common_spec, [ds.element_spec for ds in data_input_datasets])
        super().__init__(spec, selector_input_dataset, *data_input_datasets)
        self._stop_on_empty_dataset = bool(stop_on_empty_dataset)

    def _size(self) -> int:
        sizes = [ds._size() for ds in self._input_datasets[1:]]
        endless = (all if self._stop_on_empty_dataset else any)(size == INFINITE for size in sizes)
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
            elif self._stop_on_empty_dataset:
                return
            else:
                sources[index] = None
                if not any(s is not None for s in sources):
                    return


@dataset_op("PrefetchDataset")
class PrefetchDataset(Node):
    """The same elements, computed ahead in a thread."""

    _same_size = _passes_elements = _is_asynchronous = True

    def __init__(self, input_dataset: Any, buffer_size: Any) -> None:
        self._buffer_size = integer(buffer_size)
        if self._buffer_size < -1:
            raise invalid(
                "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning [Op:PrefetchDataset] name: "
            )
        super().__init__(input_dataset.element_spec, input_dataset)

    def _iterate(self) -> Iterator[Element]:
        elements = self._input_dataset._iterate()
        return ahead(elements, self._buffer_size) if self._buffer_size else elements


register(
    order_attr,
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
    function_of,
    reduced,
    scanned,
)
