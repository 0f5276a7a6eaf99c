"""The sources of pipelines, and the nodes that choose among elements and order them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import DType, as_dtype, int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data import structure
from tapeflow.data.dataset import INFINITE, UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import Node, dataset_op, integer
from tapeflow.data.options import Options
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.data.threads import END, Failure, raises_failures, with_failures

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

    _op = "ListDataset"

    def __init__(self, elements: Sequence[Any], spec: Any) -> None:
        super().__init__(spec)
        self._elements = elements

    @property
    def _tensors(self) -> list[Tensor]:
        specs = structure.flatten(self._spec)
        return [t for element in self._elements for t in structure.encoded(element, specs)]

    def _size(self) -> int:
        return len(self._elements)

    @raises_failures
    def _iterate(self) -> Generator[Any]:
        yield from self._elements

    def __repr__(self) -> str:
        return f"<_VariantDataset element_spec={self._spec}>"


@dataset_op("TensorDataset")
class TensorDataset(Node):
    """One element."""

    def __init__(self, components: Any) -> None:
        value, spec = structure.normalized(components)
        super().__init__(spec)
        if not [s for s in structure.flatten(spec) if s.flatten()]:
            raise invalid("An element must have at least one tensor, but there is none. [Op:TensorDataset]")
        self._element = structure.to_element(value)

    @classmethod
    def _of_op(cls, components: list[Any]) -> TensorDataset:
        return cls(tuple(components))

    @property
    def _components(self) -> list[Tensor]:
        return structure.encoded(self._element, structure.flatten(self._spec))

    def _size(self) -> int:
        return 1

    def _iterate(self) -> Iterator[Element]:
        return iter([self._element])


@dataset_op("TensorSliceDataset")
class TensorSliceDataset(Node):
    """The slices of tensors along their first dimension.

    Args:
        components: the tensors.
        is_files: whether they are names of files.
    """

    def __init__(self, components: Any, is_files: bool = False) -> None:
        value, spec = structure.normalized(components)
        flat = structure.flatten(value)
        if not [v for v in flat if v is not None]:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        super().__init__(structure.map_specs(structure.unbatched, spec))
        sizes = [structure.rows_of(v) for v in flat if v is not None]
        for size in sizes[1:]:
            if size != sizes[0] and None not in (size, sizes[0]):
                raise ValueError(f"Dimensions {sizes[0]} and {size} are not compatible")
        self._count: int = sizes[0]
        self._values = structure.to_element(value)
        self._is_files = is_files

    @classmethod
    def _of_op(cls, components: list[Any], is_files: bool) -> TensorSliceDataset:
        return cls(tuple(components), bool(is_files))

    @property
    def _components(self) -> list[Tensor]:
        specs = structure.flatten(self._spec)
        return structure.encoded_batch(self._values, specs)

    def _size(self) -> int:
        return UNKNOWN if self._count is None else self._count

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


@dataset_op("RangeDataset")
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
        self._start, self._stop, self._step = start, stop, step
        self._range = range(start, stop, step)
        super().__init__(TensorSpec([], self._dtype))

    @classmethod
    def _of_op(cls, start: int, stop: int, step: int, output_types: Any) -> RangeDataset:
        return cls((start, stop, step), output_types[0])

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


# ---- several datasets ------------------------------------------------------------------------------------------------


@dataset_op("ZipDataset")
class ZipDataset(Node):
    """The elements of several datasets side by side."""

    _passes_elements = True

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

    @classmethod
    def _of_op(cls, input_datasets: list[Any]) -> Any:
        node = cls(tuple(input_datasets))
        return node._as(tuple(structure.flatten(node.element_spec)))

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


@dataset_op("ConcatenateDataset")
class ConcatenateDataset(Node):
    """The elements of one dataset, then those of another."""

    _passes_elements = True

    def __init__(self, input_dataset: Any, another_dataset: Any) -> None:
        spec = structure.common_spec(input_dataset.element_spec, another_dataset.element_spec)
        super().__init__(spec, input_dataset, another_dataset)

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
        input_dataset: the dataset that the elements come from.
    """

    _passes_elements = True

    def __init__(self, input_dataset: Any) -> None:
        super().__init__(input_dataset.element_spec, input_dataset)


@dataset_op("TakeDataset")
class TakeDataset(Chooser):
    """The first elements."""

    def __init__(self, input_dataset: Any, count: Any) -> None:
        super().__init__(input_dataset)
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


@dataset_op("SkipDataset")
class SkipDataset(Chooser):
    """All but the first elements."""

    def __init__(self, input_dataset: Any, count: Any) -> None:
        super().__init__(input_dataset)
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


@dataset_op("RepeatDataset")
class RepeatDataset(Chooser):
    """The elements several times over."""

    def __init__(self, input_dataset: Any, count: Any) -> None:
        super().__init__(input_dataset)
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


@dataset_op("ShardDataset")
class ShardDataset(Chooser):
    """Every `num_shards`-th element; with -1 for both numbers, which strategies replace, no element.

    Args:
        input_dataset: the dataset.
        num_shards: the number of shards.
        index: the number of this shard.
        require_non_empty: whether it must have an element.
    """

    def __init__(self, input_dataset: Any, num_shards: Any, index: Any, require_non_empty: bool = False) -> None:
        super().__init__(input_dataset)
        self._require_non_empty = require_non_empty
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
        number, steps, is_empty = 0, with_failures(inputs[0]), self._require_non_empty
        for element in steps:
            if type(element) is Failure:
                yield element
                continue
            if number == self._index:
                is_empty = False
                yield element
            number = (number + 1) % self._num_shards
        if is_empty:
            yield Failure(
                invalid(
                    "Could not read any data: There aren't enough elements in this dataset for each shard to have at "
                    f"least one element (# shards = {self._num_shards}). If you are using datasets with distribution "
                    "strategy, consider setting the auto sharding policy to either DATA or OFF using the "
                    "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`."
                )
            )


@dataset_op("OptionsDataset")
class OptionsDataset(Chooser):
    """The same elements, with other options."""

    _same_size = _passes_options = True

    def __init__(self, input_dataset: Any, options: Options) -> None:
        super().__init__(input_dataset)
        self._set_options = options

    @classmethod
    def _of_op(cls, input_dataset: Any, serialized_options: Any) -> OptionsDataset:
        data = serialized_options.encode() if isinstance(serialized_options, str) else serialized_options
        return cls(input_dataset, Options._of_proto(data))

    @property
    def _serialized_options(self) -> bytes:
        return self._set_options._to_proto()

    def _in_place(self) -> Any:
        return self._input_dataset

    def options(self) -> Options:
        """Returns the options of the pipeline."""
        return self._input_dataset.options().merge(self._set_options)

    def _iterate(self) -> Iterator[Any]:
        return self._input_dataset._iterate()


class CacheDataset(Node):
    """The same elements, stored in memory once an iterator has gone through all."""

    _op = "CacheDatasetV2"
    _same_size = _passes_elements = True
    _filename = ""

    def __init__(self, input_dataset: Any) -> None:
        super().__init__(input_dataset.element_spec, input_dataset)
        self._memory: dict[str, list[Element]] = {}

    @property
    def _cache(self) -> Tensor:
        return ops.DummyMemoryCache()

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
