"""`tf.SparseTensor`, and its spec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from tapeflow.array.concat_and_split import concat, repeat
from tapeflow.array.creation import range as range_op
from tapeflow.array.creation import zeros_like
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape as shape_op
from tapeflow.array.properties import shape_op as registered_shape
from tapeflow.array.properties import size, size_op
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, float64, int64
from tapeflow.core.types.shape import TensorShape, listed_shape, unknown_shape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.type_spec import ShapedSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_max, reduce_prod


class SparseTensorValue(NamedTuple):
    """The components of a sparse tensor as arrays.

    Example:
        >>> value = tf.compat.v1.SparseTensorValue([[0, 1]], [2.0], [1, 3])
        >>> tf.SparseTensor.from_value(value).dense_shape.numpy().tolist()
        [1, 3]
    """

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(CompositeTensor):
    """A tensor that holds some of its elements; all others are zero.

    Args:
        indices: an int64 tensor of shape `[n, rank]`: the indices of the elements; sorted, for most functions.
        values: a tensor of shape `[n]`: the elements.
        dense_shape: an int64 tensor of shape `[rank]`: the shape of the tensor.

    Raises:
        TypeError: `dense_shape` is a scalar.
        ValueError: the components do not match.

    Example:
        >>> s = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 7], dense_shape=[3, 2])
        >>> tf.sparse.to_dense(s).numpy().tolist()
        [[0, 5], [0, 0], [7, 0]]
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"  # Keras and others recognize the class by this name
    __slots__ = ("__dict__", "_dense_shape", "_indices", "_shape", "_values")
    _is_tensor = True

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        self._indices = convert(indices, int64)
        self._values = convert(values)
        self._dense_shape = convert(dense_shape, int64)
        self._shape: TensorShape | None = None
        if isinstance(self._dense_shape, EagerTensor):
            self._shape = listed_shape(self._dense_shape.numpy())
        rows, rank = self._indices.shape.with_rank(2)
        count = self._values.shape.with_rank(1)[0]
        self._dense_shape.shape.assert_has_rank(1)
        for a, b in ((rows, count), (rank, self._dense_shape.shape[0])):
            if a is not None and b is not None and a != b:
                raise ValueError(f"Dimensions {a} and {b} are not compatible")

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseLike) -> SparseTensor:
        """Converts a `SparseTensorValue` to a sparse tensor. A sparse tensor is returned unchanged.

        Args:
            sparse_tensor_value: a `SparseTensorValue` or a `SparseTensor`.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if isinstance(sparse_tensor_value, SparseTensorValue):
            return cls(*sparse_tensor_value)
        raise TypeError(
            f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor SparseTensorValue."
        )

    @property
    def indices(self) -> Tensor:
        """The indices of the elements: int64 of shape `[n, rank]`."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements, of shape `[n]`."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape: int64 of shape `[rank]`."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape, as a `tf.TensorShape`."""
        if self._shape is None:
            dims = host_static(self._dense_shape)
            listed = isinstance(dims, (tuple, list))
            self._shape = listed_shape(dims) if listed else unknown_shape(self._dense_shape.shape[0])
        return self._shape

    def get_shape(self) -> TensorShape:
        """Returns the shape, as a `tf.TensorShape`."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Merges a shape into the static shape.

        Args:
            shape: a shape, with None for unknown dimensions.

        Raises:
            ValueError: the shapes are not compatible.
        """
        self._shape = self.shape.merge_with(shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def op(self) -> Any:
        """The operation of a graph whose output the values are."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph that the components belong to."""
        return self._indices.graph

    def consumers(self) -> list[Any]:
        """Returns an empty list: operations of a graph consume the components."""
        return []

    def eval(self, feed_dict: object = None, session: object = None) -> Any:
        """Raises an error: the components of a sparse tensor can be evaluated.

        Raises:
            AttributeError: always.
        """
        raise AttributeError("SparseTensor.eval is undefined when eager execution is enabled: look at its parts.")

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """Returns a sparse tensor with other values at the same indices.

        Args:
            new_values: of shape `[n]`.

        Raises:
            ValueError: there are more or fewer values.
        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Returns the result of an op for this in the place of a tensor, or NotImplemented."""
        op = function.op
        if args[0] is not self:
            return NotImplemented
        if op.takes_sparse:
            return self.with_values(function(self._values, *args[1:]))
        if op is rank_op.op:
            return size(self._dense_shape)
        if op is registered_shape.op:
            return cast(self._dense_shape, args[1])
        if op is size_op.op:
            return cast(reduce_prod(self._dense_shape), args[1])
        return NotImplemented

    def __mul__(self, other: TensorLike) -> SparseTensor:
        """Multiplies by a dense tensor, which is broadcast."""
        dense = self._operand(other)
        return self.with_values(ops.SparseDenseCwiseMul(self._indices, self._values, self._dense_shape, dense))

    def __truediv__(self, other: TensorLike) -> SparseTensor:
        """Divides by a dense tensor, which is broadcast; integers become floats."""
        values, dense = self._values, self._operand(other)
        if self.dtype.is_integer:
            to = float32 if self.dtype.size < 4 else float64
            values, dense = cast(values, to), cast(dense, to)
        return self.with_values(ops.SparseDenseCwiseDiv(self._indices, values, self._dense_shape, dense))

    def _operand(self, dense: TensorLike) -> Tensor:
        return convert(dense, None if isinstance(dense, Tensor) else self.dtype)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"


# The arguments of functions of `tf.sparse`.
SparseLike: TypeAlias = SparseTensor | SparseTensorValue


class SparseTensorSpec(ShapedSpec):
    """The spec of a `tf.SparseTensor`.

    Args:
        shape: the shape of the tensor, with None for unknown dimensions.
        dtype: the dtype of the values; float32 by default.

    Example:
        >>> tf.SparseTensorSpec([2, None], tf.int32)
        SparseTensorSpec(TensorShape([2, None]), tf.int32)
    """

    __slots__ = ()

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: SparseLike) -> SparseTensorSpec:
        """Returns the spec of a sparse tensor.

        Args:
            value: a `SparseTensor` or a `SparseTensorValue`.

        Raises:
            TypeError: it is neither.
        """
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(
                f"Expected SparseTensor or SparseTensorValue. Received: {value} of type {type(value).__name__}."
            )
        return SparseTensor.from_value(value)._type_spec

    @property
    def value_type(self) -> type:
        """`tf.SparseTensor`."""
        return SparseTensor

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self._dtype), TensorSpec([rank], int64)]

    def _to_components(self, value: SparseLike) -> Any:
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Sequence[Any]) -> Any:
        if not all(isinstance(c, Tensor) for c in components):
            return SparseTensorValue(*components)
        value = SparseTensor(*components)
        value.set_shape(self._shape)
        return value

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _slice(self, value: SparseTensor, i: TensorLike) -> SparseTensor:
        """Returns the slice of a value at an index of its first dimension."""
        rest = value.dense_shape[1:]
        start = concat([expand_dims(cast(i, int64), 0), zeros_like(rest)], 0)
        length = concat([convert([1], int64), rest], 0)
        indices, values, shape = ops.SparseSlice(value.indices, value.values, value.dense_shape, start, length)
        indices, shape = ops.SparseReshape(indices, shape, rest)
        return SparseTensor(indices, values, shape)

    # Values of different sizes as one with a new first dimension: indices, values, their number, and shapes.

    def _stacked_parts(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self._dtype), TensorSpec([1], int64),
                TensorSpec([1, rank], int64)]  # fmt: skip

    def _to_parts(self, value: SparseLike) -> list[Any]:
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, shape_op(value.values, int64), expand_dims(value.dense_shape, 0)]

    def _from_parts(self, parts: list[Any]) -> SparseTensor:
        indices, values, counts, shapes = parts
        count = shape_op(counts, int64)
        rows = repeat(range_op(count[0]), counts)
        none = convert([[0] * shapes.shape[1]], int64)
        shape = concat([count, reduce_max(concat([none, shapes], 0), 0)], 0)
        return SparseTensor(concat([expand_dims(rows, 1), indices], 1), values, shape)
