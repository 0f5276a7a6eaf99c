"""`tf.experimental.BatchableExtensionType`: extension types that datasets and maps stack, and take slices of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow.core.types.spec import spec_of
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.extension_types import ExtensionType, ExtensionTypeSpec, _mapped


class ExtensionTypeBatchEncoder:
    """How values of an extension type become tensors that can be stacked, and values again.

    A subclass goes into a type's `__batch_encoder__` where it is not enough to stack field by field: because fields
    do not have the batch dimension in front, or differ in shape from value to value.

    Example:
        >>> class Transposed(tf.experimental.ExtensionTypeBatchEncoder):
        ...     def encode(self, spec, value, minimum_rank=0):
        ...         return tf.transpose(value.columns)
        ...     def decode(self, spec, encoding):
        ...         return Columns(tf.transpose(encoding))
        ...     def encoding_specs(self, spec):
        ...         return tf.TensorSpec(spec.columns.shape[::-1], spec.columns.dtype)
        ...     def batch(self, spec, batch_size):
        ...         shape = spec.columns.shape.as_list()
        ...         return Columns.Spec(tf.TensorSpec([*shape, batch_size], spec.columns.dtype))
        ...     def unbatch(self, spec):
        ...         return Columns.Spec(tf.TensorSpec(spec.columns.shape[:-1], spec.columns.dtype))
        >>> class Columns(tf.experimental.BatchableExtensionType):
        ...     __batch_encoder__ = Transposed()
        ...     columns: tf.Tensor
        >>> ds = tf.data.Dataset.from_tensor_slices(Columns([[1, 2, 3], [4, 5, 6]]))
        >>> next(iter(ds)).columns.numpy().tolist()
        [1, 4]
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of as many values stacked; None where it is not known how many."""
        return _with_parts(spec, lambda part: part._batch(batch_size))

    def unbatch(self, spec: Any) -> Any:
        """The spec of one of the values that were stacked."""
        return _with_parts(spec, lambda part: part._unbatch())

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """A nest of tensors (ragged and sparse ones, too) that can be stacked, each of at least the minimum rank."""
        return spec._to_components(value)

    def encoding_specs(self, spec: Any) -> Any:
        """The specs of what `encode` gives, in the same structure."""
        return spec._component_specs

    def decode(self, spec: Any, encoding: Any) -> Any:
        """The value of what `encode` gave, or of a stack or slices of it."""
        return spec._from_components(encoding)


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """The spec of a type that can be stacked."""

    @property
    def _encoder(self) -> ExtensionTypeBatchEncoder:
        return self._value_type.__batch_encoder__

    def _batch(self, batch_size: int | None) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)

    def _part_specs(self) -> list[TypeSpec]:
        """The specs of what `_encoded` gives."""
        found: list[TypeSpec] = []
        for spec in nest.flatten(self._encoder.encoding_specs(self)):
            found.extend(spec._part_specs() if isinstance(spec, BatchableExtensionTypeSpec) else [spec])
        return found

    def _encoded(self, value: Any, minimum_rank: int = 0) -> list[Any]:
        """A value as tensors that can be stacked: also those of the extension types in its fields."""
        found: list[Any] = []
        for part in nest.flatten(self._encoder.encode(self, value, minimum_rank=minimum_rank)):
            inner = None if isinstance(part, Tensor) else spec_of(part)
            if isinstance(inner, BatchableExtensionTypeSpec):
                found.extend(inner._encoded(part, minimum_rank))
            else:
                found.append(part)
        return found

    def _decoded(self, parts: Iterator[Any]) -> Any:
        """The value of the next parts of an iterator."""

        def decoded(spec: TypeSpec) -> Any:
            return spec._decoded(parts) if isinstance(spec, BatchableExtensionTypeSpec) else next(parts)

        specs = self._encoder.encoding_specs(self)
        return self._encoder.decode(self, nest.pack_sequence_as(specs, list(map(decoded, nest.flatten(specs)))))

    def _stack(self, values: Sequence[Any], index: int) -> Any:
        """Several values as one with a new first dimension; `index` says which component of an element they are."""
        from tapeflow.data import structure

        columns = zip(*[map(structure.bare, self._encoded(v)) for v in values], strict=True)
        stacked = []
        for column, spec in zip(columns, self._part_specs(), strict=True):
            batch = structure.batch_component(tuple(column), spec, index)
            stacked.append(structure.Packer(spec)((batch,)))
        return self._batch(len(values))._decoded(iter(stacked))

    def _slice(self, value: Any, index: int) -> Any:
        """One of the values that were stacked."""
        from tapeflow.data import structure

        rows = [structure.slice_row(part, index) for part in self._encoded(value, 1)]
        return self._unbatch()._decoded(iter(rows))


class BatchableExtensionType(ExtensionType):
    """An extension type that `tf.data` batches and unbatches, and `tf.map_fn` takes slices of and stacks.

    Each tensor in it has the batch dimension in front, unless a `__batch_encoder__` says how else it is stacked.

    Example:
        >>> class Point(tf.experimental.BatchableExtensionType):
        ...     x: tf.Tensor
        ...     y: tf.Tensor
        >>> points = Point(x=[1, 2, 3], y=[4, 5, 6])
        >>> ds = tf.data.Dataset.from_tensor_slices(points).batch(2)
        >>> next(iter(ds)).y.numpy().tolist()
        [4, 5]
        >>> tf.map_fn(lambda p: p.x * p.y, points, fn_output_signature=tf.int32).numpy().tolist()
        [4, 10, 18]
    """

    __batch_encoder__ = ExtensionTypeBatchEncoder()
    _spec_kind = BatchableExtensionTypeSpec


def over_parts(fn: Callable[[Any], Any], elems: Any) -> tuple[Callable[[Any], Any], Any]:
    """A function of slices of a nest as one of slices of the tensors that extension types in it are stacked as, and
    these tensors in the place of the nest."""
    flat = nest.flatten(elems)
    specs = [e._type_spec if isinstance(e, BatchableExtensionType) else None for e in flat]
    parts = [e if spec is None else spec._encoded(e, 1) for e, spec in zip(flat, specs, strict=True)]

    def of_parts(found: Any) -> Any:
        pairs = zip(found, specs, strict=True)
        values = [v if spec is None else spec._unbatch()._decoded(iter(v)) for v, spec in pairs]
        return fn(nest.pack_sequence_as(elems, values))

    return of_parts, parts


def _with_parts(spec: Any, function: Any) -> Any:
    fields = {name: _mapped(value, TypeSpec, function) for name, value in spec._serialize()}
    return type(spec)._with_fields(fields)
