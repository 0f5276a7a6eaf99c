"""`tf.experimental.BatchableExtensionType`: extension types that datasets and maps stack and slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow.core.types.spec import spec_of
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.extension_types import ExtensionType, ExtensionTypeSpec, _map_field


class ExtensionTypeBatchEncoder:
    """Converts values of an extension type to tensors that can be stacked, and back.

    A subclass is set as `__batch_encoder__` of a type whose fields cannot be stacked one by one: because they do not
    have the batch dimension in front, or differ in shape from value to value.

    Example:
        >>> class Transposed(tf.experimental.ExtensionTypeBatchEncoder):
        ...     def encode(self, spec, value, minimum_rank=0):
        ...         return tf.transpose(value.columns)
        ...     def decode(self, spec, encoded_value):
        ...         return Columns(tf.transpose(encoded_value))
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

    def batch(self, spec: TypeSpec, batch_size: int | None) -> Any:
        """Returns the spec of a stack of values.

        Args:
            spec: the spec of one value.
            batch_size: an int, the number of values, or None if it is unknown.
        """
        return _with_parts(spec, lambda part: part._batch(batch_size))

    def unbatch(self, spec: TypeSpec) -> Any:
        """Returns the spec of one value of a stack.

        Args:
            spec: the spec of the stack.
        """
        return _with_parts(spec, lambda part: part._unbatch())

    def encode(self, spec: TypeSpec, value: Any, minimum_rank: int = 0) -> Any:
        """Returns a nest of tensors (ragged and sparse ones, too) that can be stacked.

        Args:
            spec: the spec of the value.
            value: the value.
            minimum_rank: an int, the least rank of each tensor; 0 by default.
        """
        return spec._to_components(value)

    def encoding_specs(self, spec: TypeSpec) -> Any:
        """Returns the specs of the tensors that `encode` returns, in the same structure.

        Args:
            spec: the spec of the value.
        """
        return spec._component_specs

    def decode(self, spec: TypeSpec, encoded_value: Any) -> Any:
        """Returns the value of the tensors that `encode` returned, or of a stack or slices of them.

        Args:
            spec: the spec of the value.
            encoded_value: a nest of tensors, as `encode` returns it.
        """
        return spec._from_components(encoded_value)


class BatchableSpec(TypeSpec):
    """The spec of values that can be stacked, as tensors. A subclass defines `_batch` and `_unbatch`."""

    __slots__ = ()

    @property
    def _encoder(self) -> ExtensionTypeBatchEncoder:
        return ExtensionTypeBatchEncoder()

    def _batch(self, batch_size: int | None) -> Any:
        """Returns the spec of a stack of values."""
        raise NotImplementedError

    def _unbatch(self) -> Any:
        """Returns the spec of one value of a stack."""
        raise NotImplementedError

    def _part_specs(self) -> list[TypeSpec]:
        """Returns the specs of the tensors that `_encoded` returns."""
        specs: list[TypeSpec] = []
        for spec in nest.flatten(self._encoder.encoding_specs(self)):
            specs.extend(spec._part_specs() if isinstance(spec, BatchableSpec) else [spec])
        return specs

    def _encoded(self, value: Any, minimum_rank: int = 0) -> list[Any]:
        """Returns the tensors that a value is stacked as, including the tensors of extension types in its fields."""
        parts: list[Any] = []
        for part in nest.flatten(self._encoder.encode(self, value, minimum_rank=minimum_rank)):
            inner = None if isinstance(part, Tensor) else spec_of(part)
            if isinstance(inner, BatchableSpec):
                parts.extend(inner._encoded(part, minimum_rank))
            else:
                parts.append(part)
        return parts

    def _decoded(self, parts: Iterator[Any]) -> Any:
        """Returns the value of the next parts of an iterator."""

        def decoded(spec: TypeSpec) -> Any:
            return spec._decoded(parts) if isinstance(spec, BatchableSpec) else next(parts)

        specs = self._encoder.encoding_specs(self)
        return self._encoder.decode(self, nest.pack_sequence_as(specs, list(map(decoded, nest.flatten(specs)))))

    def _stack(self, values: Sequence[Any], index: int) -> Any:
        """Stacks values, which are the component `index` of elements of a dataset."""
        from tapeflow.data import elements  # heavy, and only datasets call this

        columns = zip(*[map(elements.bare, self._encoded(v)) for v in values], strict=True)
        stacked = []
        for column, spec in zip(columns, self._part_specs(), strict=True):
            batch = elements.batch_component(tuple(column), spec, index)
            stacked.append(_component_tensor(batch, spec))
        return self._batch(len(values))._decoded(iter(stacked))

    def _slice(self, value: Any, index: int) -> Any:
        """Returns one value of a stack."""
        from tapeflow.data import elements  # heavy, and only datasets call this

        one = self._unbatch()
        rows = [elements.slice_row(elements.bare(part), index) for part in self._encoded(value, 1)]
        tensors = list(map(_component_tensor, rows, one._part_specs()))
        return one._decoded(iter(tensors))


def _component_tensor(value: Any, spec: TypeSpec) -> Any:
    """Returns a component of elements, or a stack of components, as a tensor or composite value."""
    from tapeflow.data import elements  # heavy, and only datasets call this

    return value if isinstance(value, CompositeTensor) else elements.Packer(spec)((value,))


class BatchableExtensionTypeSpec(BatchableSpec, ExtensionTypeSpec):
    """The spec of an extension type that can be stacked."""

    @property
    def _encoder(self) -> ExtensionTypeBatchEncoder:
        return self._value_type.__batch_encoder__

    def _batch(self, batch_size: int | None) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)


class BatchableExtensionType(ExtensionType):
    """An extension type that `tf.data` batches and unbatches, and `tf.map_fn` slices and stacks.

    Each tensor in it has the batch dimension in front, unless a `__batch_encoder__` stacks it in another way.

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
    """Replaces extension types in a nest by the tensors that they are stacked as.

    Args:
        fn: a function of slices of the nest.
        elems: the nest.

    Returns:
        A function of slices of these tensors that calls `fn`, and the tensors.
    """
    flat = nest.flatten(elems)
    specs = [s if isinstance(s := getattr(e, "_type_spec", None), BatchableSpec) else None for e in flat]
    parts = [e if spec is None else spec._encoded(e, 1) for e, spec in zip(flat, specs, strict=True)]

    def of_parts(slices: Any) -> Any:
        pairs = zip(slices, specs, strict=True)
        values = [v if spec is None else spec._unbatch()._decoded(iter(v)) for v, spec in pairs]
        return fn(nest.pack_sequence_as(elems, values))

    return of_parts, parts


def _with_parts(spec: Any, function: Callable[..., Any]) -> Any:
    fields = {name: _map_field(value, TypeSpec, function) for name, value in spec._serialize()}
    return type(spec)._with_fields(fields)
