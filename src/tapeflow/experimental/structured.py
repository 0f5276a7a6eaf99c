"""`tf.experimental.StructuredTensor`: a tensor, ragged or not, of records with named fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from tapeflow.array.concat_and_split import concat, concat_v2
from tapeflow.array.creation import convert_to_tensor, ones, ones_like_op, range_op, zeros, zeros_like_op
from tapeflow.array.gathers import gather_v2
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.properties import shape_op, size_op
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.experimental import outer_shapes, structured_python
from tapeflow.experimental.batchable_extension_type import BatchableExtensionType, ExtensionTypeBatchEncoder
from tapeflow.experimental.dispatch import of_op
from tapeflow.experimental.extension_types import ExtensionType
from tapeflow.experimental.outer_shapes import tensor_shape
from tapeflow.math.casting import cast
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape
from tapeflow.ragged.row_partition import RowPartition
from tapeflow.ragged.tensor import RaggedTensor, as_values
from tapeflow.random.permutation import random_shuffle

_NAME = re.compile("^[a-zA-Z][a-zA-Z0-9_]*$")
_FieldName = Union[str, Sequence[str]]  # noqa: UP007 (public, and TensorFlow's is one)


class _Encoder(ExtensionTypeBatchEncoder):
    """Stacks structures by their fields, and zeros of their shape: also those without fields."""

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        return [*(value._fields[name] for name in spec._fields), outer_shapes.filled_rows(value._ragged_shape)]

    def encoding_specs(self, spec: Any) -> Any:
        return [*spec._fields.values(), outer_shapes.spec_of_zeros(spec._ragged_shape)]

    def decode(self, spec: Any, encoding: Any) -> Any:
        *fields, zeros = encoding
        shape = outer_shapes.of_value(zeros, spec.rank, spec._ragged_shape._dtype)
        return StructuredTensor(dict(zip(spec._fields, fields, strict=True)), shape)

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        return self._with(spec, lambda part: part._batch(batch_size), [batch_size, *spec.shape.as_list()])

    def unbatch(self, spec: Any) -> Any:
        return self._with(spec, lambda part: part._unbatch(), spec.shape.as_list()[1:])

    def _with(self, spec: Any, function: Callable[[Any], Any], dims: list[Any]) -> Any:
        shape = outer_shapes.spec_of_dims(dims, spec._ragged_shape._dtype)
        return type(spec)({name: function(part) for name, part in spec._fields.items()}, shape)


class StructuredTensor(BatchableExtensionType):
    """A tensor whose elements are records: dicts of tensors, ragged tensors and further records.

    The dimensions of the records are the outer dimensions of each field. They may be ragged. Create one by
    `from_pyval`, `from_fields` or `from_shape`.

    Args:
        fields: a map from names to tensors, ragged tensors and structured tensors.
        ragged_shape: the shape of the records.

    Example:
        >>> users = tf.experimental.StructuredTensor.from_pyval(
        ...     [{"name": "Ann", "ages": [3, 5]}, {"name": "Bob", "ages": []}])
        >>> users.shape, users.field_value("ages")
        (TensorShape([2]), <tf.RaggedTensor [[3, 5], []]>)
        >>> users[0].to_pyval()
        {'name': b'Ann', 'ages': [3, 5]}
    """

    __name__ = "tf.StructuredTensor"
    __batch_encoder__ = _Encoder()

    _fields: Mapping[str, RaggedTensor | ExtensionType | Tensor]
    _ragged_shape: DynamicRaggedShape

    def __init__(self, fields: Mapping[str, Any], ragged_shape: DynamicRaggedShape) -> None:
        self._fields = fields
        self._ragged_shape = ragged_shape

    class Spec:
        """The spec of structured tensors: the specs of the fields, and the spec of the records' shape."""

        _fields: Any
        _ragged_shape: Any

        def __validate__(self) -> None:
            if self._ragged_shape is None:
                raise AssertionError

        @classmethod
        def _from_fields_and_rank(cls, fields: Mapping[str, Any], rank: int) -> Any:
            return cls(_fields=fields, _ragged_shape=outer_shapes.spec_of_fields(fields, rank))  # type: ignore[call-arg]

        @classmethod
        def _from_shape(cls, shape: Any) -> Any:
            return cls(_fields={}, _ragged_shape=shape)  # type: ignore[call-arg]

        @property
        def _field_specs(self) -> Any:
            return self._fields

        @property
        def _shape(self) -> TensorShape:
            return TensorShape(outer_shapes.dims_of_spec(self._ragged_shape))

        @property
        def shape(self) -> TensorShape:
            """The static shape of the records."""
            return self._shape

        @property
        def rank(self) -> int | None:
            """The number of dimensions of the records."""
            return self._shape.rank

    # ---- creation ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_shape(cls, ragged_shape: DynamicRaggedShape) -> StructuredTensor:
        """Creates records without fields.

        Args:
            ragged_shape: the shape of the records.
        """
        return cls({}, ragged_shape)

    @classmethod
    def from_fields(
        cls, fields: Mapping[str, Any], shape: ShapeLike = (), nrows: TensorLike | None = None,
        row_partitions: Sequence[RowPartition] | None = None, validate: bool = False,
    ) -> StructuredTensor:  # fmt: skip
        """Creates records of their fields.

        Args:
            fields: a map from names to tensors, ragged tensors, structured tensors, and values that convert to one of
                these.
            shape: the static shape of the records, the outer dimensions of each field; None for ragged dimensions.
            nrows: the number of records, an int or a scalar integer tensor, if there is one dimension.
            row_partitions: the partitions of the records into rows, one for each dimension but the first.
            validate: ignored. Fields with static values that do not fit always raise an error.

        Raises:
            TypeError: `fields` is no dict, a name no string, or a field no tensor.
            ValueError: the rank is not static, arguments or fields have different shapes, or a name is not allowed.

        Example:
            >>> S = tf.experimental.StructuredTensor
            >>> S.from_fields({"x": [1, 2], "y": tf.ragged.constant([[3], []])}, shape=[2]).to_pyval()
            [{'x': 1, 'y': [3]}, {'x': 2, 'y': []}]
        """
        static = TensorShape(shape)
        rank = static.rank
        if rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        if not isinstance(fields, dict):
            raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
        if rank < 2 and row_partitions:
            raise ValueError("row_partitions must be None or [] if shape.rank<2")
        if rank == 0 and nrows is not None:
            raise ValueError("nrows must be None if shape.rank==0")
        if row_partitions is not None and len(row_partitions) != max(0, rank - 1):
            raise ValueError("len(row_partitions) must be shape.rank-1")
        for name in fields:
            if not isinstance(name, str):
                raise TypeError(f"Unexpected type for key in `fields`: {name}")
            if not _NAME.match(name):
                raise ValueError(f"Field name {name!r} is not currently allowed.")
        values = {name: _as_field(value) for name, value in fields.items()}
        outer = _outer_shape(values, static, rank, nrows, tuple(row_partitions or ()))
        return cls({name: _in_rows(value, row_partitions or ()) for name, value in values.items()}, outer)

    @classmethod
    def from_fields_and_rank(
        cls, fields: Mapping[str, Any], rank: int, validate: bool = False, dtype: DTypeLike = None
    ) -> StructuredTensor:
        """Creates records of their fields, and the number of dimensions that these share.

        Args:
            fields: a map like the one of `from_fields`, with at least one field.
            rank: an int, the number of dimensions of the records.
            validate: ignored.
            dtype: int32 or int64, the dtype of row lengths; by default the dtype in the fields.

        Raises:
            ValueError: there is no field, the rank is invalid, or the fields have different shapes.

        Example:
            >>> S = tf.experimental.StructuredTensor
            >>> S.from_fields_and_rank({"x": tf.zeros([2, 3])}, 1).shape
            TensorShape([2])
        """
        if not fields:
            raise ValueError("Must provide at least one field")
        if not isinstance(rank, int):
            raise ValueError("rank must be an integer")
        if rank < 0:
            raise ValueError("rank must be nonnegative")
        values = {name: _as_field(value) for name, value in fields.items()}
        kind = outer_shapes.dtype_of(_ragged_fields(values)) if dtype is None else as_dtype(dtype)
        values = {name: _with_dtype(value, kind) for name, value in values.items()}
        outer = outer_shapes.of_fields(values, rank, kind)
        assert outer is not None
        return cls({name: _in_rows(value, outer.row_partitions) for name, value in values.items()}, outer)

    @classmethod
    def from_pyval(cls, pyval: Any, typespec: Any = None) -> Any:
        """Converts dicts, and nested lists of them.

        Args:
            pyval: a dict, a nested list of dicts with the same keys, or a value of a field.
            typespec: the spec of the result; None infers it from the values.

        Returns:
            A structured tensor; a tensor or ragged tensor where there are no dicts.

        Raises:
            ValueError: dicts are at different depths, or values do not fit each other or the spec.
            KeyError: dicts have different keys.

        Example:
            >>> tf.experimental.StructuredTensor.from_pyval([[{"x": 1}], [{"x": 2}, {"x": 3}]]).field_value("x")
            <tf.RaggedTensor [[1], [2, 3]]>
        """
        return structured_python.read(cls, pyval, typespec, ())

    def to_pyval(self) -> Any:
        """Returns a dict, or a nested list of dicts, of Python values.

        Raises:
            ValueError: it is not eager.
        """
        if not all(isinstance(t, EagerTensor) for t in nest.flatten(self, expand_composites=True)):
            raise ValueError("StructuredTensor.to_pyval() is only supported in eager mode.")
        return structured_python.write(self)

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """The number of dimensions of the records."""
        return self._ragged_shape.rank or 0

    @property
    def shape(self) -> TensorShape:
        """The static shape of the records: None for ragged dimensions."""
        return tensor_shape(self._ragged_shape)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of the records into rows, one for each dimension but the first."""
        return outer_shapes.of_shape(self._ragged_shape, self.rank).row_partitions

    def nrows(self) -> Tensor | None:
        """Returns the length of the first dimension; None for one record."""
        return self._ragged_shape[0] if self.rank else None

    def with_shape_dtype(self, dtype: DTypeLike) -> StructuredTensor:
        """Returns these records with row lengths of another dtype.

        Args:
            dtype: int32 or int64.
        """
        return _with_dtype(self, as_dtype(dtype))

    def field_names(self) -> tuple[str, ...]:
        """Returns the names of the fields."""
        return tuple(self._fields)

    def field_value(self, field_name: _FieldName) -> Any:
        """Returns a field.

        Args:
            field_name: its name, or a path of names.

        Raises:
            KeyError: there is no such field.
        """
        if isinstance(field_name, str):
            return self._fields[field_name]
        value: Any = self
        for name in field_name:
            if not isinstance(value, StructuredTensor):
                raise KeyError(f"Field path {field_name} not found in {self}")
            value = value.field_value(name)
        return value

    def __repr__(self) -> str:
        texts = [f'"{k}": ' + str(v).replace("\n", "\n            ") for k, v in sorted(self._fields.items())]
        fields = ",\n        ".join(texts)
        return f"<StructuredTensor(\n    fields={{\n        {fields}}},\n    shape={self.shape})>"

    # ---- parts -------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """Returns some of the records, or a field of them: its name follows the indices of all dimensions.

        Raises:
            ValueError: an index is of another kind.
            KeyError: there is no such field.
        """
        keys = tuple(key) if isinstance(key, (list, tuple)) else (key,)
        if not keys:
            return self
        rank = self.rank
        if rank == 0 and keys[0] == slice(None):
            values: dict[str, Any] = dict(self._fields)
            return StructuredTensor.from_fields({name: value[keys[1:]] for name, value in values.items()})
        if len(keys) > rank:
            if not isinstance(keys[rank], (str, bytes)):
                whole = "or a full slice (':')" if rank == 0 else ""
                start = "Key for indexing a StructuredTensor must be a string"
                raise ValueError(f"{start} {whole}".rstrip())
            rest = keys[:rank] + keys[rank + 1 :]
            value: Any = self._fields[keys[rank]]
            return value[rest] if rest else value
        result = _map_structures([self], lambda values: values[0][keys])
        for index in keys:
            if not isinstance(index, (slice, int, Tensor)):
                raise ValueError(f"Slicing not supported for {'tf.newaxis' if index is None else repr(index)}")
        return result

    def merge_dims(self, outer_axis: int, inner_axis: int) -> StructuredTensor:
        """Merges neighbouring dimensions of the records into one.

        Args:
            outer_axis, inner_axis: the first and the last of them.

        Raises:
            ValueError: there is no such dimension, or they are in the wrong order.

        Example:
            >>> x = tf.experimental.StructuredTensor.from_pyval([[{"x": 1}], [{"x": 2}, {"x": 3}]])
            >>> x.merge_dims(0, 1).to_pyval()
            [{'x': 1}, {'x': 2}, {'x': 3}]
        """
        outer = _check_axis(outer_axis, self.rank, "outer_axis", "rank(self)")
        inner = _check_axis(inner_axis, self.rank, "inner_axis", "rank(self)")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})")
        return _map_structures([self], lambda values: _with_merged_dims(values[0], outer, inner))

    def partition_outer_dimension(self, row_partition: RowPartition) -> StructuredTensor:
        """Partitions the first dimension into rows.

        Args:
            row_partition: the rows.

        Raises:
            TypeError: it is no partition.
            ValueError: there is no dimension.

        Example:
            >>> x = tf.experimental.StructuredTensor.from_pyval([{"x": 1}, {"x": 2}, {"x": 3}])
            >>> x.partition_outer_dimension(tf.experimental.RowPartition.from_row_lengths([1, 2])).to_pyval()
            [[{'x': 1}], [{'x': 2}, {'x': 3}]]
        """
        if not isinstance(row_partition, RowPartition):
            raise TypeError("row_partition must be a RowPartition.")
        if self.rank == 0:
            raise ValueError(f"Shape {self.shape} must have rank at least 1")
        return _map_structures([self], lambda values: _partition_value(values[0], row_partition))

    # ---- changes -----------------------------------------------------------------------------------------------------

    def with_updates(self, updates: Mapping[_FieldName, Any], validate: bool = False) -> StructuredTensor:
        """Returns it with fields added, changed or removed.

        Args:
            updates: a map from names, or paths of names, to values, functions of the old value, or None to remove it.
            validate: not used.

        Raises:
            ValueError: a path does not exist, or is within another path; or a value has another shape.

        Example:
            >>> x = tf.experimental.StructuredTensor.from_pyval([{"x": 1}, {"x": 2}])
            >>> x.with_updates({"x": lambda v: v * 10, "y": ["a", "b"]}).to_pyval()
            [{'x': 10, 'y': b'a'}, {'x': 20, 'y': b'b'}]
        """
        items = sorted(((k,) if isinstance(k, str) else tuple(k), value) for k, value in updates.items())
        for (before, _), (path, _) in zip(items, items[1:], strict=False):
            if path[: len(before)] == before:
                raise ValueError(
                    "`StructuredTensor.with_updates` does not allow both parent and child nodes to be updated: "
                    f"parent={before}, child={path}. If needed you can update child nodes in the parent update value."
                )
        return self._with_updates((), items)

    def _with_updates(self, above: tuple[str, ...], updates: list[tuple[Any, Any]]) -> StructuredTensor:
        """Returns it with fields updated; messages name the path above."""
        fields = dict(self._fields)
        failed = "`StructuredTensor.with_updates`"
        for path, value in updates:
            if not path or not path[0]:
                raise ValueError(f"{failed} does not allow empty names {(*above, path)}.")
            name, *below = path
            full = (*above, name)
            old = fields.get(name)
            if below and old is None:
                raise ValueError(
                    f"{failed} cannot create new sub-field {above + path} if parent field {full} is not set."
                )
            if below and not isinstance(old, StructuredTensor):
                raise ValueError(
                    f"{failed} cannot create new sub-field {above + path} if parent structure {full} is not a "
                    f"`StructuredTensor` that can contain sub-structures -- it is a `{type(old)}`."
                )
            if isinstance(old, StructuredTensor) and below:
                fields[name] = old._with_updates(full, [(tuple(below), value)])
            elif value is None:
                if old is None:
                    raise ValueError(f"{failed} cannot delete field {full} because it is not present.")
                del fields[name]
            elif callable(value) and old is None:
                raise ValueError(
                    f"{failed} cannot update the field {full} because a transforming function was given, but that "
                    "field does not already exist."
                )
            else:
                fields[name] = value(old) if callable(value) else value
        try:
            return StructuredTensor.from_fields(fields, self.shape, self.nrows(), self.row_partitions)
        except ValueError as error:
            raise ValueError(f"{failed} failed" + (f" for field {above}" if above else "")) from error

    def promote(self, source_path: Sequence[str], new_name: str) -> StructuredTensor:
        """Returns it with a field of inner records as a field of the records around them.

        Args:
            source_path: the path of the field, of two names at least.
            new_name: its name there; dimensions of the inner records are merged.

        Raises:
            ValueError: the path is too short, or an argument of another type.

        Example:
            >>> x = tf.experimental.StructuredTensor.from_pyval([{"p": [{"q": 1}, {"q": 2}]}, {"p": [{"q": 3}]}])
            >>> x.promote(("p", "q"), "r").field_value("r")
            <tf.RaggedTensor [[1, 2], [3]]>
        """
        if not isinstance(new_name, str):
            raise ValueError("new_name is not a string")
        if not isinstance(source_path, (list, tuple)):
            raise ValueError("source_path must be a list or tuple")
        if len(source_path) < 2:
            raise ValueError("source_path must have length at least two")
        path = tuple(source_path)
        field, inner, outer = (self.field_value(p) for p in (path, path[:-1], path[:-2]))
        if field.shape.rank is None:
            raise ValueError("Cannot determine if dimensions should be merged.")
        last = min(inner.rank, field.shape.rank - 1)
        if inner.rank != outer.rank and last > outer.rank:
            field = _with_merged_dims(field, outer.rank, last)
        return self.with_updates({(*path[:-2], new_name): field})

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Returns the result of an op, or NotImplemented."""
        result = of_op(function, args)
        handler = _HANDLERS.get(function.op)
        return handler(*args) if result is NotImplemented and handler is not None else result


StructuredTensor.FieldName = _FieldName  # type: ignore[attr-defined]  # in the class it would be a field


# ---- the shape of records --------------------------------------------------------------------------------------------


def _as_field(value: Any) -> Any:
    if isinstance(value, (Tensor, RaggedTensor, ExtensionType)):
        return value
    try:
        return convert_to_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"Unexpected type for value in `fields`: {value!r}") from error


def _ragged_fields(fields: Mapping[str, Any]) -> list[Any]:
    """Returns the fields with row lengths: structured tensors as their shapes, and ragged tensors."""
    return [
        value._ragged_shape if isinstance(value, StructuredTensor) else value
        for value in fields.values()
        if isinstance(value, (StructuredTensor, RaggedTensor))
    ]


def _outer_shape(
    fields: Mapping[str, Any], static: TensorShape, rank: int, nrows: TensorLike | None,
    partitions: tuple[RowPartition, ...],
) -> DynamicRaggedShape:  # fmt: skip
    """Returns the shape that fields and arguments of `from_fields` say."""
    dtype = outer_shapes.dtype_of(
        [*_ragged_fields(fields), *partitions, *([nrows] if isinstance(nrows, Tensor) else [])]
    )
    outer = outer_shapes.of_dims(static.as_list(), rank, dtype) if static.is_fully_defined() else None
    fields = {name: _with_dtype(value, dtype) for name, value in fields.items()}
    outer = outer_shapes.merge_knowledge(outer, outer_shapes.of_fields(fields, rank, dtype))
    if partitions:
        by_argument = outer_shapes.of_rows([p.with_dtype(dtype) for p in partitions], None, dtype)
        outer = outer_shapes.merge_knowledge(outer, by_argument)
    elif rank == 1:
        count = nrows if static[0] is None else static[0]
        outer = outer_shapes.merge_knowledge(outer, None if count is None else outer_shapes.of_rows((), count, dtype))
    if outer is None and rank == 1:
        raise ValueError("Must specify `nrows`, a fully specified `shape`, or have `fields` if `rank=1`")
    if outer is None:
        raise ValueError("Must specify row_partitions, a fully specified shape, or have fields if rank > 1")
    return outer


def _with_dtype(value: Any, dtype: DType) -> Any:
    if isinstance(value, RaggedTensor):
        return value.with_row_splits_dtype(dtype)
    if isinstance(value, StructuredTensor) and value._ragged_shape.dtype is not dtype:
        fields = {name: _with_dtype(field, dtype) for name, field in value._fields.items()}
        return StructuredTensor(fields, value._ragged_shape.with_dtype(dtype))
    return value


def _in_rows(value: Any, partitions: Sequence[RowPartition]) -> Any:
    """Returns a ragged field with these very partitions, which equal its own: fields then share them."""
    if not partitions or not isinstance(value, (RaggedTensor, StructuredTensor)):
        return value
    if isinstance(value, RaggedTensor):
        inner = _in_rows(value.values, partitions[1:])
        return RaggedTensor._from_row_partition(inner, partitions[0], validate=False)
    fields = {name: _in_rows(field, partitions) for name, field in value._fields.items()}
    own = (*partitions, *value.row_partitions[len(partitions) :])
    return StructuredTensor(fields, outer_shapes.of_rows(own, value.nrows(), partitions[0].dtype))


def _map_structures(values: Sequence[Any], function: Callable[[list[Any]], Any]) -> Any:
    """Applies a function to each field of structures, and to zeros of their shape, which say the shape of the result.

    Args:
        values: structures with the same fields; or tensors.
        function: takes a list, of one tensor of each.
    """
    first = values[0]
    if not isinstance(first, StructuredTensor):
        return function(list(values))
    outer = function([outer_shapes.filled_rows(v._ragged_shape) for v in values])
    fields = {name: _map_structures([v._fields[name] for v in values], function) for name in first._fields}
    rank, dtype = outer.shape.rank, first._ragged_shape.dtype
    of_fields = outer_shapes.of_fields({name: _with_dtype(v, dtype) for name, v in fields.items()}, rank, dtype)
    shape = outer_shapes.merge_knowledge(outer_shapes.of_value(outer, rank, dtype), of_fields)
    assert shape is not None
    return StructuredTensor(fields, shape)


def _check_axis(axis: int, rank: int, name: str = "axis", of: str = "ndims") -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis % rank if rank else 0


def _with_merged_dims(value: Any, outer: int, inner: int) -> Any:
    if isinstance(value, StructuredTensor):
        return value.merge_dims(outer, inner)
    if isinstance(value, RaggedTensor):
        return value.merge_dims(outer, inner) if outer < inner else value
    dims = shape_of(value)
    return reshape(value, concat([dims[:outer], [-1], dims[inner + 1 :]], 0))


def _partition_value(value: Any, rows: RowPartition) -> Any:
    length = rows.uniform_row_length()
    if length is None or isinstance(value, RaggedTensor):
        return RaggedTensor._from_row_partition(value, rows)
    return reshape(value, concat([[cast(rows.nrows(), int32), cast(length, int32)], shape_of(value)[1:]], 0))


# ---- ops -------------------------------------------------------------------------------------------------------------


def _concat_structures(values: Sequence[Any], axis: Any) -> Any:
    values = list(values)
    for value in values:
        if not isinstance(value, StructuredTensor):
            raise ValueError("values must be a list of StructuredTensors")
    paths = [_field_paths(value) for value in values]
    different = set().union(*(set(paths[0]) ^ set(other) for other in paths[1:]))
    if different:
        raise ValueError(f"Some paths are present in some, but not all, structured tensors: {different!r}")
    if any(other != paths[0] for other in paths[1:]):
        raise ValueError("Ranks of sub-message do not match")
    return _map_structures(values, lambda parts: concat(parts, _check_axis(int(axis), values[0].rank)))


def _field_paths(value: Any) -> dict[tuple[str, ...], int | None]:
    """Returns the paths of fields, with the ranks of those that are structures."""
    paths: dict[tuple[str, ...], int | None] = {(): value.rank}
    for name, field in value._fields.items():
        inner = _field_paths(field) if isinstance(field, StructuredTensor) else {(): None}
        paths |= {(name, *path): rank for path, rank in inner.items()}
    return paths


def _gather_structures(params: StructuredTensor, indices: TensorLike, axis: Any, batch_dims: int = 0) -> Any:
    along = _check_axis(int(axis), params.rank, of="params.shape.rank")
    return _map_structures([params], lambda parts: gather_v2(parts[0], as_values(indices), along, batch_dims))


def _shuffle_structure(value: StructuredTensor, seed: int = 0, seed2: int = 0) -> Any:
    if value.rank == 0:
        raise ValueError("Cannot shuffle a scalar StructuredTensor")
    return _gather_structures(
        value, random_shuffle(range_op(0, cast(value._ragged_shape[0], int32), 1), seed, seed2), 0
    )


def _fill_function(create: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value: value._ragged_shape._with_values(create(value._ragged_shape.inner_shape, float32))


_HANDLERS: dict[Any, Callable[..., Any]] = {
    shape_op.op: lambda value, out_type=int32: value._ragged_shape.with_dtype(out_type),
    size_op.op: lambda value, out_type=int32: size_op(outer_shapes.filled_rows(value._ragged_shape), out_type),
    rank_op.op: lambda value: convert_to_tensor(value.rank),
    expand_dims.op: lambda value, axis: _map_structures(
        [value], lambda parts: expand_dims(parts[0], _check_axis(int(axis), value.rank + 1, of="rank(st)"))
    ),
    concat_v2.op: _concat_structures,
    gather_v2.op: _gather_structures,
    random_shuffle.op: _shuffle_structure,
    zeros_like_op.op: _fill_function(zeros),
    ones_like_op.op: _fill_function(ones),
}
