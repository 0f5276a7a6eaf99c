"""The nodes of a pipeline: sources, and nodes that choose among elements and order them.

A dataset is a tree of nodes that never changes. A node has the spec of its elements, their number (`_size`), its
inputs, and `_iterate`, which goes over its elements as often as one likes and for several iterators at once. A source
whose elements are rows of arrays also has `_rows`.
"""

from __future__ import annotations

import copy
import itertools
import operator
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.dtypes import DType, as_dtype, int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import invalid
from tapeflow.data import structure
from tapeflow.data.dataset import INFINITE, UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.options import Options
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.data.threads import END, Failure, raises_failures, with_failures


class Node(Dataset):
    """A source, or a dataset computed from others.

    Args:
        spec: the spec of the elements.
        inputs: the datasets it takes elements from.
    """

    _same_size = False  # whether there is an element for each one of the input

    def __init__(self, spec: Any, *inputs: Dataset) -> None:
        self._spec = spec
        self._input_datasets = inputs

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _input_dataset(self) -> Any:
        return self._input_datasets[0]

    def _inputs(self) -> list[Any]:
        return list(self._input_datasets)

    def _over(self, inputs: Sequence[Any]) -> Any:
        """Returns this node with other inputs."""
        node = copy.copy(self)
        node.__dict__.pop("_rewritten", None)
        node._input_datasets = tuple(inputs)
        return node

    def _function_of_rows(self) -> MappedFunction | None:
        """Returns the function that maps the input's elements to this node's, where one call can compute many; else
        None.
        """
        return None

    def _size(self) -> int:
        return self._input_dataset._size() if self._same_size else UNKNOWN

    def _functions(self) -> dict[str, MappedFunction]:
        """Returns the user's functions that this node calls, by its attributes."""
        return {name: f for name, f in self.__dict__.items() if isinstance(f, MappedFunction)}

    def _iterate(self) -> Iterator[Element]:
        """Returns an iterator over the elements. Those over its inputs begin now, and not with the first element."""
        return self._from_inputs(*[ds._iterate() for ds in self._input_datasets])

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        """Returns an iterator over the elements, of iterators over the inputs'. It goes on after an error."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<_{type(self).__name__} element_spec={self._spec}>"


class UnknownInteger(int):
    """A stand-in for a number that has no value before a graph runs, in a node that is created for its spec alone."""


def integer(value: Any) -> int:
    """Returns the number that an argument stands for.

    Raises:
        TypeError: it is no integer.
    """
    if isinstance(value, int):
        return value
    return operator.index(host_value(convert(value, None if hasattr(value, "dtype") else int64)))


# ---- rows ------------------------------------------------------------------------------------------------------------


class Rows:
    """Elements of which many can be gathered at once, by their numbers.

    Attributes:
        count: how many there are.
        take: returns the elements of these numbers as one batch.
        between: returns the elements of the numbers from `start` to `stop` as one batch.
    """

    def __init__(
        self, count: int, take: Callable[[torch.Tensor], Element], between: Callable[[int, int], Element]
    ) -> None:
        self.count = count
        self.take = take
        self.between = between

    def mapped(self, function: MappedFunction) -> Rows:
        """Returns the rows of the results for these rows of a function that has `of_batches`."""
        return Rows(
            self.count,
            lambda numbers: function.many(self.take(numbers)),
            lambda start, stop: function.many(self.between(start, stop)),
        )


def _row_taker(value: Any) -> Callable[[torch.Tensor], Any]:
    if isinstance(value, torch.Tensor):
        return lambda numbers: value.index_select(0, numbers)
    return lambda numbers: value[numbers.numpy()]


class Numbers(Node):
    """The numbers of rows, in place of the rows."""

    def __init__(self, count: int) -> None:
        super().__init__(None)
        self._count = count

    def _size(self) -> int:
        return self._count

    def _iterate(self) -> Iterator[Any]:
        return iter(range(self._count))


# ---- sources ---------------------------------------------------------------------------------------------------------


class Elements(Node):
    """The elements of a list, such as a window's. It raises the `Failure`s among them."""

    def __init__(self, elements: Sequence[Any], spec: Any) -> None:
        super().__init__(spec)
        self._elements = elements

    def _size(self) -> int:
        return len(self._elements)

    @raises_failures
    def _iterate(self) -> Generator[Any]:
        yield from self._elements

    def __repr__(self) -> str:
        return f"<_VariantDataset element_spec={self._spec}>"


class TensorDataset(Node):
    """One element."""

    def __init__(self, tensors: Any) -> None:
        value, spec = structure.normalized(tensors)
        super().__init__(spec)
        if not [s for s in structure.flatten(spec) if s.flatten()]:
            raise invalid("An element must have at least one tensor, but there is none. [Op:TensorDataset]")
        self._element = structure.to_element(value)

    def _size(self) -> int:
        return 1

    def _iterate(self) -> Iterator[Element]:
        return iter([self._element])


class TensorSliceDataset(Node):
    """The slices of tensors along their first dimension."""

    def __init__(self, tensors: Any) -> None:
        value, spec = structure.normalized(tensors)
        flat = structure.flatten(value)
        if not [v for v in flat if v is not None]:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        super().__init__(structure.map_specs(structure.unbatched, spec))
        sizes = [structure.rows_of(v) for v in flat if v is not None]
        for size in sizes[1:]:
            if size != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {size} are not compatible")
        self._count = sizes[0]
        self._values = structure.to_element(value)

    def _size(self) -> int:
        return self._count

    def _iterate(self) -> Iterator[Element]:
        return zip(*map(self._slices, self._values), strict=False)

    def _slices(self, value: Any) -> Iterator[Any]:
        if isinstance(value, torch.Tensor):
            return (row for start in range(0, self._count, 256) for row in value[start : start + 256].unbind(0))
        return (structure.slice_row(value, i) for i in range(self._count))

    def _rows(self) -> Rows | None:
        values = self._values
        if not all(isinstance(v, (torch.Tensor, np.ndarray)) for v in values):
            return None
        takers = [_row_taker(v) for v in values]
        return Rows(
            self._count,
            lambda numbers: tuple([t(numbers) for t in takers]),
            lambda start, stop: tuple([v[start:stop] for v in values]),
        )


class RangeDataset(Node):
    """Numbers with a step between them."""

    def __init__(self, args: Sequence[Any], output_type: Any = int64) -> None:
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        numbers = [integer(a) for a in args]
        start, stop, step = (0, *numbers, 1) if len(args) == 1 else (*numbers, 1) if len(args) == 2 else numbers
        if step == 0:
            raise invalid("step must be a non-zero integer. [Op:RangeDataset] name: ")
        self._dtype: DType = as_dtype(output_type)
        self._range = range(start, stop, step)
        super().__init__(TensorSpec([], self._dtype))

    def _size(self) -> int:
        return _length(self._range)

    def _iterate(self) -> Iterator[Element]:
        dtype = self._dtype.torch
        if _length(self._range) < 64:
            return ((torch.scalar_tensor(i, dtype=dtype),) for i in self._range)
        return self._in_pieces()

    def _in_pieces(self) -> Iterator[Element]:
        start, stop, step = self._range.start, self._range.stop, self._range.step
        for first in range(start, stop, 256 * step):
            last = min(first + 256 * step, stop) if step > 0 else max(first + 256 * step, stop)
            yield from zip(torch.arange(first, last, step, dtype=self._dtype.torch).unbind(0), strict=False)

    def _rows(self) -> Rows:
        start, step, dtype = self._range.start, self._range.step, self._dtype.torch

        def between(first: int, last: int) -> Element:
            return (torch.arange(start + first * step, start + last * step, step, dtype=dtype),)

        return Rows(self._size(), lambda numbers: ((numbers * step + start).to(dtype),), between)


def _length(numbers: range) -> int:
    try:
        return len(numbers)
    except OverflowError:  # longer than sys.maxsize
        return sys.maxsize


class CounterDataset(Node):
    """Numbers without an end."""

    def __init__(self, start: Any, step: Any, dtype: Any) -> None:
        self._dtype = as_dtype(dtype)
        self._start, self._step = integer(start), integer(step)
        super().__init__(TensorSpec([], self._dtype))

    def _size(self) -> int:
        return INFINITE

    def _iterate(self) -> Iterator[Element]:
        dtype = self._dtype.torch
        return ((torch.scalar_tensor(i, dtype=dtype),) for i in itertools.count(self._start, self._step))

    def __repr__(self) -> str:
        return f"<_ScanDataset element_spec={self._spec}>"


# ---- several datasets ------------------------------------------------------------------------------------------------


class ZipDataset(Node):
    """The elements of several datasets side by side."""

    def __init__(self, datasets: Any) -> None:
        flat = structure.flatten(datasets)
        for ds in flat:
            if isinstance(ds, list):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    "objects. Python `list` is not supported and you should use `tuple` instead."
                )
            if not isinstance(ds, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    f"objects but encountered object of type {type(ds)}."
                )
        super().__init__(structure.pack(datasets, [ds.element_spec for ds in flat]), *flat)

    def _size(self) -> int:
        sizes = [ds._size() for ds in self._input_datasets]
        if UNKNOWN in sizes:
            return UNKNOWN
        finite = [s for s in sizes if s != INFINITE]
        return min(finite) if finite else INFINITE

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        for column in zip(*map(with_failures, inputs), strict=False):
            failures = [e for e in column if type(e) is Failure]
            yield failures[0] if failures else tuple(itertools.chain.from_iterable(column))

    def _rows(self) -> Rows | None:
        rows = [r for ds in self._input_datasets if (r := ds._rows()) is not None]
        if len(rows) < len(self._input_datasets):
            return None
        return Rows(
            min(r.count for r in rows),
            lambda numbers: tuple(itertools.chain.from_iterable(r.take(numbers) for r in rows)),
            lambda start, stop: tuple(itertools.chain.from_iterable(r.between(start, stop) for r in rows)),
        )


class ConcatenateDataset(Node):
    """The elements of one dataset, then those of another."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__(structure.common_spec(first.element_spec, second.element_spec), first, second)

    def _size(self) -> int:
        sizes = [ds._size() for ds in self._input_datasets]
        return INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)

    def _iterate(self) -> Iterator[Element]:
        return self._from_inputs(self._input_dataset._iterate())

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        yield from with_failures(inputs[0])
        yield from with_failures(self._input_datasets[1]._iterate())


# ---- choosers --------------------------------------------------------------------------------------------------------


class Chooser(Node):
    """A node that chooses among the elements of its input, and looks at none of them.

    Args:
        source: the dataset that the elements come from.
    """

    def __init__(self, source: Any) -> None:
        super().__init__(source.element_spec, source)


class TakeDataset(Chooser):
    """The first elements."""

    def __init__(self, source: Any, count: Any) -> None:
        super().__init__(source)
        self._count = integer(count)

    def _size(self) -> int:
        size = self._input_dataset._size()
        if self._count < 0:
            return size
        if size == INFINITE:
            return self._count
        return UNKNOWN if size == UNKNOWN and self._count else min(size, self._count)

    def _iterate(self) -> Iterator[Any]:
        elements = self._input_dataset._iterate()
        return elements if self._count < 0 else self._from_inputs(elements)

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Any]) -> Generator[Any]:
        left = self._count
        while left:
            try:
                for element in itertools.islice(inputs[0], left):
                    left -= 1
                    yield element
                return
            except Exception as error:
                yield Failure(error)


class SkipDataset(Chooser):
    """All but the first elements."""

    def __init__(self, source: Any, count: Any) -> None:
        super().__init__(source)
        self._count = integer(count)

    def _size(self) -> int:
        size = self._input_dataset._size()
        if self._count < 0:
            return 0
        return size if size < 0 else max(size - self._count, 0)

    def _iterate(self) -> Iterator[Any]:
        return iter(()) if self._count < 0 else super()._iterate()

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Any]) -> Generator[Any]:
        while True:  # as in TensorFlow, an error among the elements that are left out begins anew
            try:
                first = next(itertools.islice(inputs[0], self._count, None), END)
                break
            except Exception as error:
                yield Failure(error)
        if first is not END:
            yield first
            yield from with_failures(inputs[0])


class RepeatDataset(Chooser):
    """The elements several times over."""

    def __init__(self, source: Any, count: Any) -> None:
        super().__init__(source)
        self._count = -1 if count is None else integer(count)

    def _size(self) -> int:
        size = self._input_dataset._size()
        if self._count < 0:
            return INFINITE if size else 0
        return 0 if self._count == 0 else size if size < 0 else size * self._count

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Any]) -> Generator[Any]:
        elements = inputs[0]
        for number in itertools.count() if self._count < 0 else range(self._count):
            empty = True
            for element in with_failures(elements if number == 0 else self._input_dataset._iterate()):
                empty = False
                yield element
            if empty and self._count < 0:
                return


class ShardDataset(Chooser):
    """Every `num_shards`-th element; with -1 for both numbers, which strategies replace, no element."""

    def __init__(self, source: Any, num_shards: Any, index: Any) -> None:
        super().__init__(source)
        self._num_shards, self._index = integer(num_shards), integer(index)
        self.is_hint = self._num_shards == self._index == -1
        if self.is_hint:
            return
        if self._num_shards <= 0:
            raise invalid(
                f"Number of shards must be greater than zero (currently num_shards = {self._num_shards}). "
                "[Op:ShardDataset] name: "
            )
        if not 0 <= self._index < self._num_shards:
            raise invalid(
                f"Index must be between 0 and {self._num_shards - 1} (currently index = {self._index}). "
                "[Op:ShardDataset] name: "
            )

    def _size(self) -> int:
        size = self._input_dataset._size()
        return size if size < 0 or self.is_hint else max(0, -(-(size - self._index) // self._num_shards))

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Any]) -> Generator[Any]:
        if self.is_hint:
            yield Failure(
                errors.FailedPreconditionError.of(
                    "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
                    "`tf.distribute.Strategy.experimental_distribute_dataset()` with `tf.data.experimental."
                    "AutoShardPolicy.HINT` policy, or tf.data service with "
                    "`tf.data.experimental.service.ShardingPolicy.HINT` processing mode."
                )
            )
            return
        number, steps = 0, with_failures(inputs[0])
        for element in steps:
            if type(element) is Failure:
                yield element
                continue
            if number == self._index:
                yield element
            number = (number + 1) % self._num_shards


class OptionsDataset(Chooser):
    """The same elements, with other options."""

    _same_size = True

    def __init__(self, source: Any, options: Options) -> None:
        super().__init__(source)
        self._set_options = options

    def options(self) -> Options:
        """Returns the options of the pipeline."""
        return self._input_dataset.options().merge(self._set_options)

    def _iterate(self) -> Iterator[Any]:
        return self._input_dataset._iterate()


class CacheDataset(Node):
    """The same elements, stored in memory once an iterator has gone through all."""

    _same_size = True

    def __init__(self, source: Any) -> None:
        super().__init__(source.element_spec, source)
        self._memory: dict[str, list[Element]] = {}

    def _iterate(self) -> Iterator[Element]:
        stored = self._memory.get("all")
        return super()._iterate() if stored is None else iter(stored)

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        elements = []
        for element in with_failures(inputs[0]):
            if type(element) is not Failure:
                elements.append(element)
            yield element
        self._memory.setdefault("all", elements)

    def __repr__(self) -> str:
        return f"<CacheDataset element_spec={self._spec}>"


register(
    CacheDataset,
    ConcatenateDataset,
    CounterDataset,
    OptionsDataset,
    RangeDataset,
    RepeatDataset,
    ShardDataset,
    SkipDataset,
    TakeDataset,
    TensorDataset,
    TensorSliceDataset,
    ZipDataset,
)
