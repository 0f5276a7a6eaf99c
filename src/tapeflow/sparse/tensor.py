"""`tf.SparseTensor`, and its spec."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.type_spec import ShapedSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor


class SparseTensorValue(NamedTuple):
    """The parts of a sparse tensor as arrays.

    Example:
        >>> value = tf.compat.v1.SparseTensorValue([[0, 1]], [2.0], [1, 3])
        >>> tf.SparseTensor.from_value(value).dense_shape.numpy().tolist()
        [1, 3]
    """

    indices: Any
    values: Any
    dense_shape: Any


# Functions of one tensor that keep zeros zero: they are applied to the values alone.
_KEEP_ZEROS = frozenset(
    {"Abs", "BesselI0e", "BesselI1e", "Cast", "ComplexAbs", "Erf", "Identity", "Neg", "Sign", "Sqrt", "Square", "Tanh"}
)


class SparseTensor(CompositeTensor):
    """A tensor of which only some elements are given, and all others are zero.

    Args:
        indices: int64 of shape `[n, rank]`: where the elements are; sorted, for most functions.
        values: of shape `[n]`: the elements.
        dense_shape: int64 of shape `[rank]`: the shape of the whole.

    Raises:
        ValueError: the parts do not fit together.

    Example:
        >>> s = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 7], dense_shape=[3, 2])
        >>> tf.sparse.to_dense(s).numpy().tolist()
        [[0, 5], [0, 0], [7, 0]]
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"  # by which Keras and others tell it
    __slots__ = ("__dict__", "_dense_shape", "_indices", "_shape", "_values")
    _is_tensor = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = convert(indices, int64)
        self._values = convert(values)
        self._dense_shape = convert(dense_shape, int64)
        at, what, shape = self._indices.shape.with_rank(2), self._values.shape.with_rank(1), self._dense_shape.shape
        shape.assert_has_rank(1)
        for have, want in ((at[0], what[0]), (at[1], shape[0])):
            if have is not None and want is not None and have != want:
                raise ValueError(f"Dimensions {have} and {want} are not compatible")
        self._shape: TensorShape | None = None

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor of a `SparseTensorValue`, or the sparse tensor itself.

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
        """Where the elements are: int64 of shape `[n, rank]`."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements that are given, of shape `[n]`."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole: int64 of shape `[rank]`."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole, as a `tf.TensorShape`."""
        if self._shape is None:
            known = host_static(self._dense_shape) if isinstance(self._dense_shape, SymbolicTensor) else None
            if isinstance(known, tuple):
                self._shape = TensorShape(known)
            elif known is not None:
                self._shape = TensorShape([None] * rank if (rank := self._dense_shape.shape[0]) is not None else None)
            else:
                self._shape = TensorShape(self._dense_shape.numpy().tolist())
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of the whole, as a `tf.TensorShape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Makes the static shape more precise.

        Raises:
            ValueError: the shapes do not go together.
        """
        self._shape = self.shape.merge_with(shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._indices.graph

    def consumers(self) -> list[Any]:
        """The operations of a graph that use it; eagerly none."""
        return []

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        raise AttributeError("SparseTensor.eval is undefined when eager execution is enabled: look at its parts.")

    def with_values(self, new_values: Any) -> SparseTensor:
        """A sparse tensor with other values in the same places.

        Raises:
            ValueError: there are more or fewer values.
        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """What an op gives for this in the place of a tensor, or NotImplemented."""
        name = function.op.name
        if args[0] is not self:
            return NotImplemented
        if name in _KEEP_ZEROS:
            return self.with_values(function(self._values, *args[1:]))
        if name in ("Shape", "Size", "Rank"):
            from tapeflow import cast, reduce_prod, size

            if name == "Rank":
                return size(self._dense_shape)
            return cast(self._dense_shape if name == "Shape" else reduce_prod(self._dense_shape), args[1])
        return NotImplemented

    def __mul__(self, other: Any) -> SparseTensor:
        from tapeflow.sparse.dense import times_dense

        return times_dense(self, other)

    def __truediv__(self, other: Any) -> SparseTensor:
        from tapeflow.sparse.dense import divided_by_dense

        return divided_by_dense(self, other)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"


class SparseTensorSpec(ShapedSpec):
    """The spec of a `tf.SparseTensor`.

    Args:
        shape: of the whole; dimensions may be unknown.
        dtype: of the values.

    Example:
        >>> tf.SparseTensorSpec([2, None], tf.int32)
        SparseTensorSpec(TensorShape([2, None]), tf.int32)
    """

    __slots__ = ()

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor.

        Raises:
            TypeError: it is something else.
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

    def _to_components(self, value: Any) -> Any:
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
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

    def _slice(self, value: SparseTensor, i: Any) -> SparseTensor:
        """The slice of a value at an index of its first dimension."""
        from tapeflow import cast, concat, expand_dims, sparse, zeros_like

        rest = value.dense_shape[1:]
        start = concat([expand_dims(cast(i, int64), 0), zeros_like(rest)], 0)
        row = sparse.slice(value, start, concat([convert([1], int64), rest], 0))
        return sparse.reshape(row, rest)

    # Values of different sizes as one with a new first dimension: indices, values, how many there are, and shapes.

    def _stacked_parts(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self._dtype), TensorSpec([1], int64),
                TensorSpec([1, rank], int64)]  # fmt: skip

    def _to_parts(self, value: Any) -> list[Any]:
        from tapeflow import expand_dims, shape

        value = SparseTensor.from_value(value)
        return [value.indices, value.values, shape(value.values, int64), expand_dims(value.dense_shape, 0)]

    def _from_parts(self, parts: list[Any]) -> SparseTensor:
        from tapeflow import concat, expand_dims, range, reduce_max, repeat, shape

        indices, values, counts, shapes = parts
        count = shape(counts, int64)
        rows = repeat(range(count[0]), counts)
        none = convert([[0] * shapes.shape[1]], int64)
        whole = concat([count, reduce_max(concat([none, shapes], 0), 0)], 0)
        return SparseTensor(concat([expand_dims(rows, 1), indices], 1), values, whole)
