"""Elements of datasets, between a user's structure and the flat tuples that go through a pipeline.

In `tf.data` a list is no structure but converts to a tensor. Inside a pipeline an element is a flat tuple with an item
for each component. The item of a tensor is its bare value, a `torch.Tensor` or a `StringArray`: elements that no
function sees are never wrapped. `tensor_dtype` tells which items are bare: rows of ragged tensors may be, too. Ragged
and sparse tensors, datasets and None are items themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat_v2, pack_op
from tapeflow.core.device import machine
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.memory import is_out_of_memory, out_of_memory
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import DType, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import NoneTensorSpec, TensorSpec, spec_of, spec_of_parts
from tapeflow.core.values import nest
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, as_numpy, invalid
from tapeflow.io import sparse as _serialized_sparse  # noqa: F401 (ops of elements)
from tapeflow.io.sparse import serialize_many_sparse_op, serialize_sparse_op
from tapeflow.ragged import variants as _ragged_variants  # noqa: F401
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.sparse import concat_and_slice as sparse
from tapeflow.sparse.dense import to_dense
from tapeflow.sparse.tensor import SparseTensor, SparseTensorSpec

if TYPE_CHECKING:
    from tapeflow.core.types.type_spec import TypeSpec

Element = tuple[Any, ...]


class _Table(nest._ContainerTable):
    """The structures of `tf.data`: the structures of `tf.nest` without lists and their like."""

    def __missing__(self, cls: type) -> Any:
        container = super().__missing__(cls)
        if container in (nest._LIST, nest._VIEW, nest._SEQUENCE):
            container = self[cls] = None
        return container


_STRUCTURES = _Table(expand_composites=False)


def flatten(structure: Any) -> list[Any]:
    """Returns the components of a structure."""
    container = _STRUCTURES[type(structure)]
    if container is None:
        return [structure]
    flat: list[Any] = []
    nest._flatten_into(flat, container.values(structure), _STRUCTURES)
    return flat


def pack(structure: Any, flat: Sequence[Any]) -> Any:
    """Returns `flat` in the form of `structure`."""
    container = _STRUCTURES[type(structure)]
    if container is None:
        return flat[0]
    return container.rebuild(structure, nest._pack_items(container, structure, flat, 0, _STRUCTURES)[1])


def flatten_up_to(structure: Any, value: Any) -> list[Any]:
    """Returns the parts of `value` that stand where `structure` has its components.

    Raises:
        TypeError, ValueError: `value` has another form.
    """
    container = _STRUCTURES[type(structure)]
    if container is None:
        return [value]
    inner = nest._PLAIN[type(value)]
    if inner is None or not isinstance(value, type(structure)):
        raise TypeError(f"expected a structure like {structure}, but got {value!r}")
    parts, values = container.values(structure), inner.values(value)
    if len(parts) != len(values):
        raise ValueError(f"expected {len(parts)} items like {structure}, but got {len(values)}: {value!r}")
    if container.keys is nest.sorted_keys and set(structure) != set(value):
        raise ValueError(f"expected the keys {list(structure)}, but got {list(value)}")
    return [leaf for part, v in zip(parts, values, strict=True) for leaf in flatten_up_to(part, v)]


def map_specs(function: Callable[[Any], Any], structure: Any) -> Any:
    """Returns a structure with `function` applied to each component."""
    return pack(structure, [function(c) for c in flatten(structure)])


def same_form(a: Any, b: Any) -> None:
    """Checks that two structures have the same form.

    Raises:
        TypeError, ValueError: they have not.
    """
    nest.assert_same_structure(map_specs(lambda _: 0, a), map_specs(lambda _: 0, b))


def tensor_dtype(spec: Any) -> Any:
    """Returns the dtype of a spec whose values are tensors, which are bare in elements; None for other specs."""
    is_tensor = type(spec) is TensorSpec or (isinstance(spec, RaggedTensorSpec) and spec.ragged_rank <= 0)
    return spec.dtype if is_tensor else None


# ---- values ----------------------------------------------------------------------------------------------------------


def component(value: Any) -> Any:
    """Returns a value as a component of an element: a tensor, or an unchanged composite value."""
    if isinstance(value, Tensor) or value is None:
        return value
    if hasattr(value, "_read"):
        return value._read()
    if isinstance(value, CompositeTensor) or spec_of(value) is not None:
        return value
    spec = spec_of_parts(value) if isinstance(value, list) else None
    return convert(value, spec.dtype if type(spec) is TensorSpec else None)


def normalize_value(value: Any) -> tuple[Any, Any]:
    """Returns a user's value as components in their structure, and their specs."""
    flat = [component(v) for v in flatten(value)]
    return pack(value, flat), pack(value, [spec_of(v) for v in flat])


def bare(value: Any) -> Any:
    """Returns a component as it stands in an element."""
    return value.value if type(value) is EagerTensor else value


def to_element(value: Any) -> Element:
    """Returns the element of a user's structure of components."""
    element = [bare(component(v)) for v in flatten(value)]
    if machine.has_gpu:  # pipelines work on the CPU
        element = [v.cpu() if isinstance(v, torch.Tensor) else v for v in element]
    return tuple(element)


def to_tensors(element: Element, specs: Sequence[Any]) -> list[EagerTensor]:
    """Returns the tensors that an element consists of."""
    return [
        t for value, spec in zip(element, specs, strict=True)
        for t in (spec.to_tensors(value) if tensor_dtype(spec) is None else [EagerTensor(value, spec.dtype)])
    ]  # fmt: skip


def from_tensors(tensors: Iterable[Any], specs: Sequence[Any]) -> Element:
    """Returns the element that consists of tensors."""
    rest = iter(tensors)
    return tuple([spec.from_tensors(rest) if tensor_dtype(spec) is None else next(rest).value for spec in specs])


def element_attrs(spec: Any) -> tuple[list[Any], list[Any]]:
    """Returns the attrs `output_types` and `output_shapes` of ops whose elements have a spec."""
    specs = encoded_specs(spec)
    return [s.dtype for s in specs], [s.shape for s in specs]


# ---- elements of operations ------------------------------------------------------------------------------------------


def is_encoded(spec: TypeSpec) -> bool:
    """Returns True if operations see components of a spec as variants: ragged and sparse tensors."""
    return isinstance(spec, (RaggedTensorSpec, SparseTensorSpec))


def encoded_specs(spec: Any) -> list[Any]:
    """Returns the specs of the tensors in an operation's elements, for the spec of a user's elements."""
    return [part for s in flatten(spec) for part in ([TensorSpec(None, variant)] if is_encoded(s) else s.flatten())]


def encode_values(values: Iterable[Any], specs: Sequence[Any]) -> list[Any]:
    """Returns components, bare or as tensors, as the tensors of an operation's element."""
    tensors: list[Any] = []
    for value, spec in zip(values, specs, strict=True):
        dtype = tensor_dtype(spec)
        if dtype is not None:
            tensor = value if isinstance(value, Tensor) else EagerTensor(value, dtype)
            tensors.append(tensor if type(spec) is TensorSpec else ops.RaggedTensorToVariant([], tensor, False))
        elif isinstance(spec, RaggedTensorSpec):
            tensors.append(ops.RaggedTensorToVariant(list(value.nested_row_splits), value.flat_values, False))
        elif isinstance(spec, SparseTensorSpec):
            tensors.append(serialize_sparse_op(value.indices, value.values, value.dense_shape, variant))
        else:
            tensors.extend(spec.to_tensors(value))
    return tensors


def encoded_batch(values: Iterable[Any], specs: Sequence[Any]) -> list[Any]:
    """Returns batches of components as the tensors of an operation; `specs` describe one slice."""
    tensors: list[Any] = []
    for value, spec in zip(values, specs, strict=True):
        if isinstance(spec, RaggedTensorSpec):
            splits = list(getattr(value, "nested_row_splits", ()))
            tensors.append(ops.RaggedTensorToVariant(splits, value.flat_values if splits else value, True))
        elif isinstance(spec, SparseTensorSpec):
            tensors.append(serialize_many_sparse_op(value.indices, value.values, value.dense_shape, variant))
        else:
            tensors.extend(encode_values([value], [spec if type(spec) is TensorSpec else spec._batch(None)]))
    return tensors


def decoded_values(tensors: Iterable[Any], specs: Sequence[Any]) -> list[Any]:
    """Returns the components that the tensors of an operation's element stand for."""
    rest = iter(tensors)
    values: list[Any] = []
    for spec in specs:
        if isinstance(spec, RaggedTensorSpec):
            dtype, splits_dtype, rank = spec.dtype, spec.row_splits_dtype, spec.ragged_rank
            *splits, flat = ops.RaggedTensorFromVariant(next(rest), -1, max(rank, 0), dtype, splits_dtype)
            for part in splits:
                _set_shape(part, [None])
            dims = None if spec.shape.rank is None else spec.shape.as_list()
            _set_shape(flat, [None, *dims[rank + 1 :]] if rank > 0 and dims is not None else dims)
            values.append(spec._from_components([flat, *splits]))
        elif isinstance(spec, SparseTensorSpec):
            parts = ops.DeserializeSparse(next(rest), spec.dtype)
            rank = spec.shape.rank
            for part, shape in zip(parts, ([None, rank], [None], [rank]), strict=True):
                _set_shape(part, shape)
            values.append(SparseTensor(*parts))
        else:
            values.append(spec.from_tensors(rest))
    return values


def pack_element(spec: Any, tensors: Iterable[Any]) -> Any:
    """Returns the element, in a user's structure, that the tensors of an operation's element stand for."""
    return pack(spec, decoded_values(tensors, flatten(spec)))


def _set_shape(tensor: Tensor, shape: ShapeLike) -> None:
    """Sets the shape of a tensor in a graph."""
    if isinstance(tensor, SymbolicTensor):
        tensor.set_shape(TensorShape(shape))


def decode_element(tensors: Iterable[Any], specs: Sequence[Any]) -> Element:
    """Returns the element that the eager tensors of an operation's element stand for."""
    return tuple(map(bare, decoded_values(tensors, specs)))


def tensors_of(values: Iterable[Any], specs: Sequence[Any]) -> list[Any]:
    """Returns the tensors that components consist of."""
    return [t for value, spec in zip(values, specs, strict=True) for t in spec.to_tensors(value)]


# ---- elements in a user's structure ----------------------------------------------------------------------------------


class Packer:
    """The function from an element to the structure that a user sees.

    Args:
        spec: the element's spec.
    """

    def __init__(self, spec: Any) -> None:
        self.spec = spec
        self.dtypes = list(map(tensor_dtype, flatten(spec)))
        self.single = self.dtypes[0] if _STRUCTURES[type(spec)] is None else None

    def __call__(self, element: Element) -> Any:
        if self.single is not None:
            return EagerTensor(element[0], self.single)
        return pack(self.spec, self.components(element))

    def components(self, element: Element) -> list[Any]:
        """Returns the components as tensors and composite values."""
        return [v if d is None else EagerTensor(v, d) for v, d in zip(element, self.dtypes, strict=True)]

    def arrays(self, element: Element) -> Any:
        """Returns the element in arrays."""
        return pack(self.spec, [_as_array(v, d) for v, d in zip(element, self.dtypes, strict=True)])


class CheckingPacker(Packer):
    """A `Packer` of elements whose shapes `set_shape` declared, and nobody has checked."""

    def __call__(self, element: Element) -> Any:
        check_shapes(element, self.spec)
        return super().__call__(element)

    def arrays(self, element: Element) -> Any:
        check_shapes(element, self.spec)
        return super().arrays(element)


def check_shapes(element: Element, spec: Any) -> None:
    """Refuses an element whose tensors have other shapes than its spec.

    Raises:
        InvalidArgumentError: it has one.
    """
    for i, (value, s) in enumerate(zip(element, flatten(spec), strict=True)):
        if type(s) is TensorSpec and not s.shape.is_compatible_with(value.shape):
            raise invalid(
                f"Incompatible shapes at component {i}: expected {text(s.shape)} but got {text(value.shape)}. "
                "[Op:IteratorGetNext] name: "
            )


def _as_array(value: Any, dtype: DType | None) -> Any:
    if dtype is None:
        if isinstance(value, SparseTensor):
            value = to_dense(value)
        return value.numpy() if hasattr(value, "numpy") else value
    array = as_numpy(value, dtype) if isinstance(value, torch.Tensor) else np.asarray(value)
    if not array.ndim:
        return array[()]
    array = array.view()
    array.setflags(write=False)
    return array


# ---- batches ---------------------------------------------------------------------------------------------------------


def batch_component(values: tuple[Any, ...], spec: TypeSpec, index: int) -> Any:
    """Stacks the values of one component of several elements.

    Raises:
        InvalidArgumentError: shapes differ.
    """
    if type(spec) is TensorSpec:
        first = values[0]
        try:
            return torch.stack(values) if isinstance(first, torch.Tensor) else _stack_arrays(values)
        except (RuntimeError, ValueError, MemoryError) as error:
            if is_out_of_memory(error):
                raise out_of_memory(error, TensorShape([len(values), *first.shape]), spec.dtype) from error
            for i, v in enumerate(values):
                if v.shape != first.shape:
                    raise invalid(
                        f"Cannot batch tensors with different shapes in component {index}. First element had shape "
                        f"{text(first.shape)} and element {i} had shape {text(v.shape)}. [Op:IteratorGetNext]"
                    ) from None
            raise
    if isinstance(spec, NoneTensorSpec):
        return None
    if hasattr(spec, "_stack"):
        return spec._stack(values, index)
    if isinstance(spec, SparseTensorSpec):
        return sparse.concat(0, [sparse.expand_dims(v, 0) for v in values], expand_nonconcat_dims=True)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_batch(values, spec)
    raise TypeError(f"Elements of {spec!r} can't be batched.")


def _ragged_batch(values: Sequence[Any], spec: RaggedTensorSpec) -> Any:
    """Stacks ragged tensors, or tensors of different lengths."""
    dtype = tensor_dtype(spec)
    rows = [v if dtype is None else EagerTensor(v, dtype) for v in values]
    if rows[0].shape.rank == 0:
        return pack_op(rows, 0).value
    columns = zip(*map(spec._to_parts, rows), strict=True)
    return spec._from_parts([concat_v2(list(c), 0) if len(c) > 1 else c[0] for c in columns])


def _stack_arrays(values: Sequence[Any]) -> Any:
    """Stacks strings, or objects.

    Raises:
        ValueError: shapes differ.
    """
    if any(v.shape != values[0].shape for v in values):
        raise ValueError
    if isinstance(values[0], StringArray):
        return StringArray.stack(values)
    out = np.empty((len(values), *values[0].shape), object)
    for i, v in enumerate(values):
        out[i] = v[()] if not v.ndim else v
    return out


def batch_elements(elements: Sequence[Element], specs: Sequence[Any]) -> Element:
    """Returns several elements as one batch."""
    columns = zip(*elements, strict=True)
    return tuple([batch_component(c, s, i) for i, (c, s) in enumerate(zip(columns, specs, strict=True))])


def rows_of(value: Any) -> Any:
    """Returns the size of the first dimension of a component; None where it is not static."""
    if hasattr(value, "_type_spec") and hasattr(value._type_spec, "_encoded"):
        return rows_of(value._type_spec._encoded(value, 1)[0])
    rows = value.nrows() if hasattr(value, "nrows") else value.shape[0]
    if isinstance(rows, SymbolicTensor):
        rows = value_of(rows)
    return None if rows is None else int(rows)


def slice_row(value: Any, index: int) -> Any:
    """Returns one slice of a batched component."""
    if isinstance(value, torch.Tensor):
        return value[index]
    if isinstance(value, StringArray):
        row = value[index]
        return row if isinstance(row, StringArray) else StringArray.scalar(row)
    if isinstance(value, np.ndarray):
        row = value[index]
        return row if isinstance(row, np.ndarray) else box_object(row)
    if value is None:
        return None
    if isinstance(value, CompositeTensor) and hasattr(value._type_spec, "_slice"):
        return value._type_spec._slice(value, index)
    return bare(value[index])


def common_specs(a: Any, b: Any) -> list[Any]:
    """Returns the most specific spec of each two components, or None without one in common."""
    return [x.most_specific_common_supertype([y]) for x, y in zip(flatten(a), flatten(b), strict=True)]


def common_spec(a: Any, b: Any) -> Any:
    """Returns the most specific spec of the elements of both.

    Raises:
        TypeError: there is none.
    """
    try:
        same_form(a, b)
        common = common_specs(a, b)
        if None in common:
            raise TypeError
    except (TypeError, ValueError) as e:
        raise TypeError(f"Incompatible dataset elements:\n  {a} vs.   {b}") from e
    return pack(a, common)


def batch_spec(spec: Any, size: int | None) -> Any:
    """Returns the spec of batches of elements."""
    return map_specs(lambda s: s._batch(size), spec)


def is_structure(value: object) -> bool:
    """Returns whether a value is a structure, and not a component."""
    return _STRUCTURES[type(value)] is not None
