"""Batches, padded and ragged ones, and their opposites: `unbatch` and windows."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from tapeflow.array.joining import stack
from tapeflow.core.errors import DataLossError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import static_shape, value_of
from tapeflow.core.types.dtypes import bool_, int64, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data import structure
from tapeflow.data.dataset import INFINITE, UNKNOWN
from tapeflow.data.maps import MapDataset, function_of
from tapeflow.data.node import Node, UnknownInteger, dataset_op, integer
from tapeflow.data.nodes import Chooser, Elements, Numbers, Rows
from tapeflow.data.parts import register
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element, flatten
from tapeflow.data.threads import Failure, raises_failures, with_failures
from tapeflow.math.casting import cast
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.ragged.tensor import RaggedTensor


def _batch_size(value: Any, op: str) -> int:
    size = integer(value)
    if size <= 0:
        raise invalid(f"Batch size must be greater than zero. [Op:{op}] name: ")
    return size


def truth_field(value: Any) -> Any:
    """Returns a boolean argument of a node: a bool, or a tensor that has no value before a graph runs."""
    tensor = convert(value, bool_)
    static = value_of(tensor) if isinstance(tensor, SymbolicTensor) else tensor.value
    return tensor if static is None else bool(static)


def _dimension(size: int, drop_remainder: Any) -> int | None:
    return size if drop_remainder is True and type(size) is int else None


def runs(elements: Iterator[Any], size: int, drop_remainder: bool) -> Iterator[list[Any]]:
    """Returns an iterator over lists of `size` elements; the last one may be shorter, unless it is to be dropped.

    It goes on after an error: with the elements after those that would have been in the list, as in TensorFlow.
    """

    def take() -> list[Any]:
        run: list[Any] = []
        try:
            run.extend(itertools.islice(elements, size))
        except Exception:
            deque(itertools.islice(with_failures(elements), size - len(run) - 1), maxlen=0)
            raise
        return run

    lists = iter(take, [])
    return filter(lambda run: len(run) == size, lists) if drop_remainder else lists


class _Batching(Node):
    """A node that combines each run of elements."""

    def __init__(self, input_dataset: Any, spec: Any, batch_size: int, drop_remainder: Any) -> None:
        super().__init__(spec, input_dataset)
        self._batch_size = batch_size
        self._drop_remainder = drop_remainder

    def _size(self) -> int:
        size = self._input_dataset._size()
        return size if size < 0 else size // self._batch_size if self._drop_remainder else -(-size // self._batch_size)


@dataset_op("BatchDatasetV2", "BatchDataset")
class BatchDataset(_Batching):
    """Elements stacked into batches."""

    def __init__(self, input_dataset: Any, batch_size: Any, drop_remainder: Any = False) -> None:
        size, drop = _batch_size(batch_size, "BatchDatasetV2"), truth_field(drop_remainder)
        spec = structure.batch_spec(input_dataset.element_spec, _dimension(size, drop))
        super().__init__(input_dataset, spec, size, drop)

    def _iterate(self) -> Iterator[Element]:
        batches = self._input_dataset._batches(self._batch_size, self._drop_remainder)
        return super()._iterate() if batches is None else batches

    def _in_place(self) -> Any:
        """Returns batches that are gathered whole, if the elements are rows that choosers order.

        Many elements of a dataset of rows (slices of tensors, a range, some of these zipped, or a map of scalars over
        them) can be gathered at once, by their numbers. `shuffle`, `take`, `skip`, `repeat` and `shard` only choose
        among elements and order them, whatever the elements are. So a batch at the end of such a chain needs no
        elements: the chain runs over their numbers, and the batch gathers the rows with these numbers. A function whose
        ops compute many elements as they compute each (`whole_batches.py`) may stand in between: it runs for the whole
        batch.
        """
        choosers, functions = [], []
        source = self._input_dataset
        while isinstance(source, Node):
            function = source._function_of_rows()
            if function is not None:
                functions.append(function)
            elif isinstance(source, Chooser):
                choosers.append(source)
            else:
                break
            source = source._input_dataset
        rows = source._rows()
        if rows is None:
            return self
        for function in reversed(functions):
            rows = rows.mapped(function)
        numbers: Any = Numbers(rows.count)
        for chooser in reversed(choosers):
            numbers = chooser._over([numbers])
        return RowBatches(self, rows, numbers if choosers else None)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        specs = flatten(self._input_dataset.element_spec)
        elements = runs(inputs[0], self._batch_size, self._drop_remainder)
        return map(functools.partial(structure.batched, specs=specs), elements)


@dataset_op("ParallelBatchDataset")
class ParallelBatchDataset(BatchDataset):
    """Batches whose elements may be built in parallel."""

    _is_asynchronous = True

    def __init__(
        self, input_dataset: Any, batch_size: Any, num_parallel_calls: Any, drop_remainder: Any,
        deterministic: Any = "default",
    ) -> None:  # fmt: skip
        super().__init__(input_dataset, batch_size, drop_remainder)
        self._num_parallel_calls, self._deterministic = integer(num_parallel_calls), deterministic


class RowBatches(Node):
    """Batches of rows, each gathered whole.

    Args:
        batch: the node that this one replaces.
        rows: the rows that the elements come from.
        numbers: the dataset of the rows' numbers; None for all in order.
    """

    def __init__(self, batch: BatchDataset, rows: Rows, numbers: Any) -> None:
        super().__init__(batch.element_spec, *([] if numbers is None else [numbers]))
        self._batch = batch
        self._source = rows

    def _size(self) -> int:
        return self._batch._size()

    def _from_inputs(self, *inputs: Iterator[Any]) -> Iterator[Element]:
        size, drop, rows = self._batch._batch_size, self._batch._drop_remainder, self._source
        if not inputs:
            starts = range(0, rows.count - size + 1 if drop else rows.count, size)
            stops = [min(start + size, rows.count) for start in starts]
            return map(rows.between, starts, stops)
        numbers = map(functools.partial(torch.tensor, dtype=torch.int64), runs(inputs[0], size, drop))
        return map(rows.take, numbers)


# ---- padded ----------------------------------------------------------------------------------------------------------


@dataset_op("PaddedBatchDatasetV2", "PaddedBatchDataset")
class PaddedBatchDataset(_Batching):
    """Elements padded to a common shape and stacked into batches."""

    def __init__(
        self, input_dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
    ) -> None:
        spec = input_dataset.element_spec
        specs = flatten(spec)
        for s in specs:
            if isinstance(s, DatasetSpec):
                raise TypeError("`padded_batch` is not supported for datasets of datasets")
            if type(s) is not TensorSpec:
                raise TypeError(
                    "`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                    f"elements in the input dataset is not a subclass of TensorSpec: `{s}`."
                )
        if padded_shapes is None:
            for i, s in enumerate(specs):
                if s.shape.rank is None:
                    raise ValueError(
                        f"You must provide `padded_shapes` argument because component {i} has unknown rank."
                    )
            targets: list[Any] = [s.shape for s in specs]
            shapes = targets
        else:
            targets = structure.flatten_up_to(spec, padded_shapes)
            shapes = [_padded_shape(t, s.shape) for t, s in zip(targets, specs, strict=True)]
        if padding_values is None or not structure.is_structure(padding_values):
            values = [padding_values] * len(specs)
        else:
            values = structure.flatten_up_to(spec, padding_values)
        self._shapes = [None if s.rank is None else tuple(s.as_list()) for s in shapes]
        self._targets = targets
        self._fills = [_padding(v, s.dtype) for v, s in zip(values, specs, strict=True)]
        size, drop = _batch_size(batch_size, "PaddedBatchDatasetV2"), truth_field(drop_remainder)
        first = TensorShape([_dimension(size, drop)])
        padded = [TensorSpec(first.concatenate(p), s.dtype) for p, s in zip(shapes, specs, strict=True)]
        super().__init__(input_dataset, structure.pack(spec, padded), size, drop)

    @classmethod
    def _of_op(
        cls, input_dataset: Any, batch_size: int, padded_shapes: Any, padding_values: Any, drop_remainder: bool = False
    ) -> PaddedBatchDataset:
        return cls(input_dataset, batch_size, tuple(padded_shapes), tuple(padding_values), drop_remainder)

    @property
    def _padded_shapes(self) -> list[Any]:
        return [_sizes_field(t, s) for t, s in zip(self._targets, self._shapes, strict=True)]

    @property
    def _padding_values(self) -> list[Any]:
        specs = flatten(self._input_dataset.element_spec)
        return [convert(v, s.dtype) for v, s in zip(self._fills, specs, strict=True)]

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        runs = iter(lambda: list(itertools.islice(inputs[0], self._batch_size)), [])  # an error ends one, nothing else
        if self._drop_remainder:
            runs = filter(lambda run: len(run) == self._batch_size, runs)
        return map(self._stacked, runs)

    def _stacked(self, run: list[Element]) -> Element:
        columns = zip(*run, strict=True)
        return tuple(map(_padded, columns, self._shapes, self._fills))


def _sizes_field(target: Any, shape: Any) -> Any:
    """Returns a padded shape for the operation: a vector with -1 for unknown sizes."""
    if isinstance(target, SymbolicTensor):
        return target
    if isinstance(target, (list, tuple)) and any(isinstance(d, SymbolicTensor) for d in target):
        return stack([cast(convert(-1 if d is None else d), int64) for d in target])
    return convert([-1 if d is None else d for d in shape], int64)


def _padded_shape(shape: Any, component: TensorShape) -> TensorShape:
    if isinstance(shape, SymbolicTensor):
        shape = static_shape(shape)
    if not isinstance(shape, TensorShape):
        dims = [integer(d) if d is not None else None for d in shape]
        shape = TensorShape([None if d == -1 or type(d) is UnknownInteger else d for d in dims])
    fits = component.rank is None or (
        shape.rank == component.rank
        and all(p is None or d is None or p >= d for p, d in zip(shape.as_list(), component.as_list(), strict=True))
    )
    if not fits:
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {component} of the corresponding input "
            "component."
        )
    return shape


def _padding(value: Any, dtype: Any) -> Any:
    """Returns the number that fills, as a Python value."""
    if value is None:
        if dtype is variant:
            raise TypeError("Unable to create default padding value for a component of type 'variant'.")
        return b"" if dtype is string else 0
    tensor = convert(value)
    if tensor.shape.rank != 0:
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got {tensor.shape}."
        )
    if tensor.dtype is not dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {tensor.dtype!s} does not match type {dtype!s} of "
            "the corresponding input component."
        )
    return tensor if isinstance(tensor, SymbolicTensor) else tensor.value.item()


def _padded(values: Sequence[Any], shape: Any, fill: Any) -> Any:
    """Returns the values of one component in one batch, filled up to one shape."""
    rank = len(shape)
    longest = [max(dims) for dims in zip(*[v.shape for v in values], strict=True)]
    if len(longest) != rank:
        raise invalid(f"All elements in a batch must have the same rank as the padded shape: {rank} expected.")
    sizes = [n if d is None else d for n, d in zip(longest, shape, strict=True)]
    if any(n > s for n, s in zip(longest, sizes, strict=True)):
        raise DataLossError(
            None, None, "Attempted to pad to a smaller size than the input element. [Op:IteratorGetNext]"
        )
    full = [len(values), *sizes]
    out: Any
    if isinstance(values[0], torch.Tensor):
        out = torch.full(full, fill, dtype=values[0].dtype)
    else:
        out = np.full(full, fill, object)
    for i, v in enumerate(values):
        out[(i, *[slice(n) for n in v.shape])] = v if v.ndim or isinstance(v, torch.Tensor) else v[()]
    return out


# ---- ragged and sparse -----------------------------------------------------------------------------------------------


class RaggedDataset(Node):
    """Elements whose tensors of unknown dimensions are counted as ragged, so that they can be batched."""

    _same_size = True

    def __init__(self, input_dataset: Any, row_splits_dtype: Any) -> None:
        def ragged(s: Any) -> Any:
            if type(s) is not TensorSpec or s.shape.rank is None or s.shape.is_fully_defined():
                return s
            rank = max(i for i, d in enumerate(s.shape.as_list()) if d is None)
            return RaggedTensorSpec(s.shape, s.dtype, rank, row_splits_dtype)

        self._dtype = row_splits_dtype
        super().__init__(structure.map_specs(ragged, input_dataset.element_spec), input_dataset)

    def _operation(self) -> Any:
        source = self._input_dataset

        def ragged(*components: Any) -> Any:
            element = components if len(components) > 1 or type(source.element_spec) is tuple else components[0]
            return structure.pack(self._spec, self._ragged(flatten(element)))

        function = function_of(source, ragged, "ragged_batch")
        function.output_spec = self._spec  # TensorFlow has variants of tensors with one ragged dimension, too
        return MapDataset(source, function)._variant_tensor

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        specs = flatten(self._input_dataset.element_spec)

        def ragged(element: Element) -> Element:
            values = [v if type(s) is not TensorSpec else EagerTensor(v, s.dtype)
                      for v, s in zip(element, specs, strict=True)]  # fmt: skip
            return tuple(map(structure.bare, self._ragged(values)))

        return map(ragged, inputs[0])

    def _ragged(self, values: Sequence[Any]) -> list[Any]:
        """Returns the components of an element, with ragged tensors."""
        return [
            RaggedTensor.from_tensor(v, ragged_rank=new.ragged_rank, row_splits_dtype=self._dtype)
            if old != new and new.ragged_rank else v
            for v, old, new in zip(values, flatten(self._input_dataset.element_spec), flatten(self._spec), strict=True)
        ]  # fmt: skip


# ---- unbatch and windows ---------------------------------------------------------------------------------------------


@dataset_op("UnbatchDataset")
class UnbatchDataset(Node):
    """The slices of the elements."""

    def __init__(self, input_dataset: Any) -> None:
        rows = None
        for s in flatten(input_dataset.element_spec):
            shape = getattr(s, "shape", None)
            if shape is None or shape.rank is None:
                continue
            if shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
            if None not in (rows, shape[0]) and rows != shape[0]:
                raise ValueError(
                    "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
                    f"dimension. Encountered both {rows} and {shape[0]}."
                )
            rows = shape[0] if rows is None else rows
        self._each = rows
        super().__init__(structure.map_specs(structure.unbatched, input_dataset.element_spec), input_dataset)

    def _size(self) -> int:
        size = self._input_dataset._size()
        if size == INFINITE:
            return INFINITE
        return UNKNOWN if size < 0 or self._each is None else size * self._each

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        for element in with_failures(inputs[0]):
            if type(element) is Failure:
                yield element
                continue
            sizes = {structure.rows_of(v) for v in element if v is not None}
            if len(sizes) > 1:
                raise invalid(f"Input element must have the same batch size in each component, not {sorted(sizes)}.")
            for i in range(sizes.pop()):
                yield tuple([structure.slice_row(v, i) for v in element])


@dataset_op("WindowDataset")
class WindowDataset(Node):
    """Datasets of elements that follow each other."""

    _renamed = MappingProxyType({"size": "_length"})

    def __init__(self, input_dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> None:
        self._length = integer(size)
        self._shift = self._length if shift is None else integer(shift)
        self._stride = integer(stride)
        self._drop_remainder = truth_field(drop_remainder)
        for value, name in ((self._length, "size"), (self._shift, "shift"), (self._stride, "stride")):
            if value <= 0:
                raise invalid(f"Window {name} must be greater than zero. [Op:WindowDataset] name: ")
        super().__init__(structure.map_specs(DatasetSpec, input_dataset.element_spec), input_dataset)

    def _size(self) -> int:
        size = self._input_dataset._size()
        if size < 0:
            return size
        if self._drop_remainder:
            span = (self._length - 1) * self._stride + 1
            return max(0, (size - span) // self._shift + 1)
        return -(-size // self._shift)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        elements = with_failures(inputs[0])  # a window with a failure raises it where its elements are asked for
        specs = flatten(self._input_dataset.element_spec)
        span = (self._length - 1) * self._stride + 1
        seen: deque[Element] = deque()
        while True:
            seen.extend(itertools.islice(elements, span - len(seen)))
            if not seen or (self._drop_remainder and len(seen) < span):
                return
            window = list(itertools.islice(seen, 0, None, self._stride))
            columns = [[e if type(e) is Failure else (e[i],) for e in window] for i in range(len(specs))]
            yield tuple(map(Elements, columns, specs))
            for _ in range(min(self._shift, len(seen))):
                seen.popleft()
            if self._shift > span:
                deque(itertools.islice(elements, self._shift - span), maxlen=0)


register(BatchDataset, PaddedBatchDataset, ParallelBatchDataset, RaggedDataset, UnbatchDataset, WindowDataset)
