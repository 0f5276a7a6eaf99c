"""The specs of single values: tensors, variables, `IndexedSlices`, None; and the spec of any value.

The specs of composite values stand beside their values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import FROM_NUMPY, DType, as_dtype, float32, int64, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.type_spec import ShapedSpec, TypeSpec
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
    from tapeflow.core.values.variable import Variable

# ---- tensors and variables -------------------------------------------------------------------------------------------


class DenseSpec(ShapedSpec):
    """The base of the specs of one tensor or variable: shape, dtype and name."""

    __slots__ = ("_name",)

    _shown: tuple[str, ...] = ("dtype", "name")  # the attributes behind the shape in the text of a spec

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        shown = "".join(f", {name}={getattr(self, name)!r}" for name in self._shown)
        return f"{type(self).__name__}(shape={self._shape}{shown})"


class TensorSpec(DenseSpec):
    """The shape and dtype of a tensor; also the signature of an argument of a `tf.function`.

    Args:
        shape: a `TensorShape` or a value that converts to one; dimensions may be unknown.
        dtype: a `DType` or a value that converts to one; float32 by default.
        name: a string, the name of an argument, or None.

    Example:
        >>> tf.TensorSpec([None, 3], tf.int32)
        TensorSpec(shape=(None, 3), dtype=tf.int32, name=None)
    """

    __slots__ = ()

    value_type = Tensor
    _is_composite = False
    _proto_class = "TensorSpecProto"

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Returns a spec with the shape and dtype of another, and its name unless `name` gives one."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None) -> TensorSpec:
        """Returns the spec of a tensor.

        Raises:
            ValueError: it is no tensor.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Returns True if shape and dtype of a tensor, or of another spec, fit this spec. Names are not compared."""
        other: Any = spec_or_tensor
        return (
            isinstance(other, (TensorSpec, Tensor))
            and self._dtype.is_compatible_with(other.dtype)
            and self._shape.is_compatible_with(other.shape)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Returns True if every tensor of this spec fits `other` too; specs of different names do not."""
        return (
            type(other) is type(self)
            and self._dtype is other._dtype
            and self._name == other._name
            and self._shape.is_subtype_of(other._shape)
        )

    def flatten(self) -> list[Any]:
        return [self]

    def to_tensors(self, value: Tensor | Variable) -> list[Any]:
        return [convert(value, self._dtype)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        tensor = next(tensors)
        tensor.set_shape(self._shape)
        return tensor

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns a placeholder tensor of the context."""
        return placeholder_context.placeholder(self)

    def cast(self, value: Any, casting_context: Any) -> Any:
        """Returns the value as a tensor of this spec.

        Raises:
            TypeError: it can't be one.
        """
        if casting_context is not None and casting_context.allow_specs and isinstance(value, TensorSpec):
            if not value.is_subtype_of(self):
                raise TypeError(f"Can not cast {value!r} to {self!r}")
            return self
        tensor = convert(value, self._dtype)
        actual = TensorSpec(tensor.shape, tensor.dtype, self._name)
        if not self.is_compatible_with(actual):
            raise TypeError(f"Can not cast {actual!r} to {self!r}")
        return tensor

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Tensor) -> Any:
        return convert(value, self._dtype)

    def _from_components(self, components: Tensor) -> Any:
        return components

    def _without_tensor_names(self) -> TensorSpec:
        return self if self._name is None else TensorSpec(self._shape, self._dtype)

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is type(self)
            and self._shape == other._shape
            and self._dtype is other._dtype
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape._dims, self._dtype))


class BoundedTensorSpec(TensorSpec):
    """A `TensorSpec` with the least and greatest values the elements may have.

    Args:
        shape: the static shape, a `tf.TensorShape`, or a list that converts to it.
        dtype: the dtype of the elements.
        name: a str, the name of the argument, or None.
        minimum, maximum: numbers or arrays that broadcast to `shape`; the bounds are included.

    Raises:
        ValueError: a bound does not broadcast to the shape.

    Example:
        >>> BoundedTensorSpec = tf.core.types.spec.BoundedTensorSpec
        >>> BoundedTensorSpec([2], tf.int32, 0, 5).maximum.item()
        5
    """

    __slots__ = ("_maximum", "_minimum")

    _shown = ("dtype", "name", "minimum", "maximum")
    _proto_class = "BoundedTensorSpecProto"

    def __init__(
        self,
        shape: ShapeLike,
        dtype: DType,
        minimum: float | np.ndarray | list[int],
        maximum: float | np.ndarray | list[float],
        name: str | None = None,
    ) -> None:
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: float | np.ndarray | Sequence[float]) -> np.ndarray:
        if value is None:
            raise ValueError(f"`{which}` can not be None.")
        array = np.array(value, dtype=self._dtype.as_numpy_dtype)
        array.setflags(write=False)
        dims = self._shape._dims
        if dims is not None:
            fits = array.ndim <= len(dims) and all(
                d is None or n in (1, d) for n, d in zip(array.shape[::-1], dims[::-1], strict=False)
            )
            if not fits:
                raise ValueError(f"`{which}` {value} is not compatible with shape {self._shape}.")
        return array

    @property
    def minimum(self) -> np.ndarray:
        """The least values."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest values."""
        return self._maximum

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """Returns a spec like another, with its bounds, or its dtype's bounds if it has none."""
        dtype = as_dtype(spec.dtype)
        low, high = getattr(spec, "minimum", None), getattr(spec, "maximum", None)
        return cls(spec.shape, dtype, dtype.min if low is None else low, dtype.max if high is None else high,
                   name or spec.name)  # fmt: skip

    def is_subtype_of(self, other: BoundedTensorSpec) -> bool:
        """Returns True if every tensor of this spec fits `other` too; the bounds have to be the same."""
        return super().is_subtype_of(other) and self._same_bounds(other)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """Returns the most specific spec that fits the tensors of this and all `others`; None where bounds differ."""
        if not all(type(o) is BoundedTensorSpec and self._same_bounds(o) for o in others):
            return None
        common = TensorSpec(self._shape, self._dtype, self._name).most_specific_common_supertype(
            [TensorSpec(o.shape, o.dtype, o.name) for o in others]
        )
        return common and BoundedTensorSpec(common.shape, common.dtype, self._minimum, self._maximum, common.name)

    def _same_bounds(self, other: BoundedTensorSpec) -> bool:
        return np.array_equal(self._minimum, other._minimum) and np.array_equal(self._maximum, other._maximum)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self._same_bounds(other)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))


class VariableSpec(DenseSpec):
    """The shape and dtype of a variable, and whether it is trainable.

    Args:
        shape, dtype: the variable's shape and dtype; float32 by default.
        trainable: whether tapes watch the variable; True by default.
        alias_id: an int or None; variables with the same number are the same variable.
    """

    __slots__ = ("alias_id", "trainable")

    _is_composite = False
    _shown = ("dtype", "trainable", "alias_id")

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike = float32, trainable: bool = True, alias_id: int | None = None
    ) -> None:
        super().__init__(shape, dtype)
        self.trainable = trainable
        self.alias_id = alias_id

    @classmethod
    def from_value(cls, value: Variable) -> VariableSpec:
        """Returns the spec of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    @property
    def value_type(self) -> type:
        """`tf.Variable`."""
        return hooks.variable

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns True if shape and dtype fit this spec, and `trainable` is equal."""
        spec = spec_or_value if isinstance(spec_or_value, TypeSpec) else spec_of(spec_or_value)
        return (
            type(spec) is type(self)
            and self._shape.is_compatible_with(spec.shape)
            and self._dtype is spec.dtype
            and self.trainable == spec.trainable
        )

    def to_tensors(self, value: Any) -> list[Any]:
        return [value]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return next(tensors)

    def flatten(self) -> list[Any]:
        return [TensorSpec([], resource)]

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], resource)]

    def _to_components(self, value: Variable) -> Any:
        return [value.handle]

    def _from_components(self, components: list[Tensor]) -> Any:
        return components[0].value[()]

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self.trainable, self.alias_id


# ---- values of one class each ----------------------------------------------------------------------------------------


class IndexedSlicesSpec(TypeSpec):
    """The spec of `tf.IndexedSlices`.

    Args:
        shape: the shape of the whole tensor.
        dtype: the dtype of the values; float32 by default.
        indices_dtype: int32 or int64 (the default), the dtype of the indices.
        dense_shape_dtype: int32 or int64, the dtype of `dense_shape`; None (the default) if there is none.
        indices_shape: the shape of the indices, a vector; by default of unknown length.

    Example:
        >>> tf.IndexedSlicesSpec([None, 3])
        IndexedSlicesSpec(TensorShape([None, 3]), tf.float32, tf.int64, None, TensorShape([None]))
    """

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    value_type = IndexedSlices

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DType = float32,
        indices_dtype: DType = int64,
        dense_shape_dtype: DType | None = None,
        indices_shape: ShapeLike = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def _component_specs(self) -> Any:
        values = TensorSpec(self._indices_shape.concatenate(self._shape[1:]), self._dtype)
        specs = (values, TensorSpec(self._indices_shape, self._indices_dtype))
        if self._dense_shape_dtype is None:
            return specs
        return (*specs, TensorSpec([self._shape.rank], self._dense_shape_dtype))

    def _to_components(self, value: IndexedSlices) -> Any:
        if value.dense_shape is None:
            return value.values, value.indices
        return value.values, value.indices, value.dense_shape

    def _from_components(self, components: tuple[Tensor, ...]) -> IndexedSlices:
        return IndexedSlices(*components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape


class NoneTensorSpec(TypeSpec):
    """The spec of None, for a None that a dataset or a function returns in the place of a tensor.

    Example:
        >>> tf.NoneTensorSpec().is_compatible_with(None)
        True
    """

    __slots__ = ()

    value_type = type(None)

    @classmethod
    def from_value(cls, value: object) -> NoneTensorSpec:
        """Returns the spec of None."""
        return cls()

    @property
    def _component_specs(self) -> Any:
        return []

    def _to_components(self, value: Any) -> Any:
        return []

    def _from_components(self, components: list[Any]) -> Any:
        return None

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return self

    def _unbatch(self) -> NoneTensorSpec:
        return self

    def most_specific_compatible_shape(self, other: TypeSpec) -> TypeSpec:
        """Returns this spec; another spelling of `most_specific_compatible_type`.

        Raises:
            ValueError: the other spec is of something else than None.
        """
        if type(other) is not NoneTensorSpec:
            raise ValueError(f"No `TypeSpec` is compatible with both {self!r} and {other!r}.")
        return self


# ---- the spec of a value ---------------------------------------------------------------------------------------------

_converters: list[tuple[type, Callable[[Any], Any]]] = []


def register_type_spec_from_value_converter(type_object: type, converter_fn: Callable[[Any], Any]) -> None:
    """Registers a function that returns the specs of values of a type without specs of its own."""
    _converters.append((type_object, converter_fn))


def spec_of(value: Any) -> Any:
    """Returns the spec of a TensorFlow value; None for all others, also for numbers, lists and arrays."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    spec = getattr(value, "_type_spec", None)
    if spec is not None and isinstance(spec, TypeSpec):
        return spec
    if value is None:
        return NoneTensorSpec()
    return next((converter(value) for kind, converter in _converters if isinstance(value, kind)), None)


def spec_of_parts(value: Any) -> Any:
    """Returns the spec of a TensorFlow value, an array, or a list of them: its parts stacked keep their dtype.

    Returns:
        The spec; None for others, such as numbers, and for lists whose parts have no spec in common.
    """
    if isinstance(value, np.ndarray):
        dtype = FROM_NUMPY.get(value.dtype.type)
        return None if dtype is None else TensorSpec(value.shape, dtype)
    if not isinstance(value, list):
        return spec_of(value)
    first: Any = spec_of_parts(value[0]) if value else None
    if not hasattr(first, "_batch"):
        return None
    rest: list[Any] = list(map(spec_of_parts, value[1:]))
    common = None if None in rest else first.most_specific_common_supertype(rest)
    return None if common is None else common._batch(len(value))


def type_spec_from_value(value: Any) -> TypeSpec:
    """Returns the spec of a value.

    Args:
        value: a tensor, a composite value, a variable, None, or a value that converts to a tensor.

    Returns:
        The spec.

    Raises:
        TypeError: it is of another type.

    Example:
        >>> tf.type_spec_from_value([[1.0, 2.0]])
        TensorSpec(shape=(1, 2), dtype=tf.float32, name=None)
    """
    spec = spec_of_parts(value)
    if spec is not None:
        return spec
    if not isinstance(value, TypeSpec):
        with contextlib.suppress(TypeError, ValueError):
            return TensorSpec.from_tensor(convert(value))
    raise TypeError(f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}.")


hooks.spec_of, hooks.type_spec_from_value = spec_of, type_spec_from_value
hooks.tensor_spec, hooks.indexed_slices_spec = TensorSpec, IndexedSlicesSpec
