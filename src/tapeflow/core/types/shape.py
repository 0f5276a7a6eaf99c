"""Static shapes: the part of a tensor's shape that does not depend on its values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dimension import Dimension, dimension_size
from tapeflow.core.types.valueless import ValuelessType

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.core.types.aliases import ShapeLike


class TensorShape(ValuelessType):
    """The static shape of a tensor: all of it, only the rank, or nothing.

    Args:
      dims: the size of each dimension, with `None` for an unknown one; `None` if even the rank is unknown. A single
            integer is a shape of rank one. Also takes another `TensorShape` and a `TensorShapeProto`.

    Raises:
      TypeError: if a dimension is no integer.
      ValueError: if a dimension is negative.

    Example:
    >>> shape = tf.TensorShape([None, 3])
    >>> shape.rank, shape[1], shape.is_compatible_with([2, 3])
    (2, 3, True)
    >>> shape.merge_with([2, None])
    TensorShape([2, 3])
    """

    __slots__ = ("__weakref__", "_dims")

    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any):
        if type(dims) is tuple:
            for d in dims:
                if type(d) is not int or d < 0:
                    break
            else:  # the usual shape, at once
                self._dims = dims
                return
        if isinstance(dims, (tuple, list)):
            self._dims = tuple([d if d is None or (type(d) is int and d >= 0) else dimension_size(d) for d in dims])
        elif dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            self._dims = None if dims.unknown_rank else tuple([None if d.size == -1 else d.size for d in dims.dim])
        else:
            self._dims = _all_dimensions(dims)

    @staticmethod
    def _of(dims: tuple[int | None, ...] | None, _new: Callable[..., Any] = object.__new__) -> TensorShape:
        """Returns the shape of a tuple of valid dimensions, or `None`; nothing is checked."""
        shape = _new(TensorShape)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> Any:
        """The number of dimensions, or `None` if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Any] | None:
        """The dimensions as a list of `tf.compat.v1.Dimension`s, or `None` if the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[Any]:
        """Returns the dimensions as a list, with `None` for unknown ones.

        Raises:
          ValueError: if the rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> Any:
        """Returns the number of elements, or `None` if a dimension is unknown."""
        return math.prod(self._dims) if self.is_fully_defined() else None  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Returns True if no dimension is unknown."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raises a ValueError if a dimension is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    # Two shapes together.

    def is_compatible_with(self, other: Any) -> bool:
        """Returns True if one tensor could have both shapes: static dimensions of both agree."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a == b or a is None or b is None for a, b in zip(self._dims, other._dims, strict=True)
        )

    def assert_is_compatible_with(self, other: TensorShape | list[int | None]) -> None:
        """Raises a ValueError unless one tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_same_rank(self, other: ShapeLike) -> None:
        """Raises a ValueError if both ranks are static and differ."""
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """Returns the shape with the static dimensions of both.

        Raises:
          ValueError: if no tensor could have both shapes.
        """
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape._of(tuple([b if a is None else a for a, b in zip(self._dims, other._dims, strict=True)]))

    def most_specific_compatible_shape(self, other: TensorShape | list[int]) -> TensorShape:
        """Returns the shape with the dimensions that both agree on: tensors of either shape fit it."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape._of(None)
        return TensorShape._of(tuple([a if a == b else None for a, b in zip(self._dims, other._dims, strict=True)]))

    def concatenate(self, other: TensorShape | Sequence[int | None]) -> TensorShape:
        """Returns the dimensions of this shape followed by the ones in `other`; unknown if either rank is unknown."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape._of(None)
        return TensorShape._of((*self._dims, *other._dims))

    # Ranks.

    def assert_has_rank(self, rank: int | None) -> None:
        """Raises a ValueError if the rank is static and is not `rank`."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int | None) -> TensorShape:
        """Returns this shape, or `rank` unknown dimensions if its rank is unknown.

        Raises:
          ValueError: if the rank is static and is not `rank`.
        """
        if rank is None:
            return self
        if self._dims is None:
            return unknown_shape(rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Returns this shape.

        Raises:
          ValueError: if the rank is static and less than `rank`.
        """
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Returns this shape.

        Raises:
          ValueError: if the rank is static and greater than `rank`.
        """
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    # A shape as a part of the signature of a `tf.function` (tf.types.experimental.TraceType).

    def is_subtype_of(self, other: TensorShape | list[int]) -> bool:
        """Returns True if every tensor of this shape also fits `other`."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        if self._dims is None or len(self._dims) != len(other._dims):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """Returns the shape with the dimensions that all of them agree on; `None` if an item of `others` is no
        shape."""
        if not all(isinstance(other, TensorShape) for other in others):
            return None
        return functools.reduce(TensorShape.most_specific_compatible_shape, others, self)

    def as_proto(self) -> Any:
        """Returns this shape as a `TensorShapeProto`, with -1 for unknown dimensions."""
        proto = self.experimental_type_proto()
        if self._dims is None:
            return proto(unknown_rank=True)
        return proto(dim=[proto.Dim(size=-1 if d is None else d) for d in self._dims])

    experimental_as_proto = as_proto

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """Returns the protobuf message class that holds a shape."""
        from tensorboard.compat.proto import tensor_shape_pb2

        return tensor_shape_pb2.TensorShapeProto

    @classmethod
    def experimental_from_proto(cls, proto: Message) -> TensorShape:
        """Returns the shape that a `TensorShapeProto` holds."""
        return TensorShape(proto)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: int | slice) -> Any:
        if self._dims is not None:
            return TensorShape._of(self._dims[key]) if isinstance(key, slice) else self._dims[key]
        if not isinstance(key, slice):
            return None
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = key.start or 0
        if key.stop is None or start < 0 or key.stop < 0:
            return TensorShape._of(None)
        return unknown_shape(key.stop - start)

    def __add__(self, other: TensorShape | Sequence[int | None]) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Sequence[int | None] | int | None) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        if type(other) is not TensorShape:
            try:
                other = TensorShape(other)
            except TypeError:
                return NotImplemented
        return self._dims == other._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return "TensorShape(None)" if self._dims is None else f"TensorShape({list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(tuple(self._dims))

    def __reduce__(self) -> tuple:
        return TensorShape, (self._dims,)


def _all_dimensions(value: Any) -> tuple[int | None, ...]:
    """Returns the dimensions in an iterable that is no list or tuple; a lone number is a shape of rank one."""
    try:
        iterator = iter(value)
    except TypeError:
        return (dimension_size(value),)
    dims = []
    for item in iterator:
        try:
            dims.append(dimension_size(item))
        except TypeError as e:
            raise TypeError(
                f"Failed to convert '{value!r}' to a shape: '{item!r}'could not be converted to a dimension. A shape "
                "should either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
            ) from e
    return tuple(dims)


def as_shape(shape: ShapeLike) -> TensorShape:
    """Returns `shape` as a `TensorShape`."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def listed_shape(dims: Any) -> TensorShape:
    """Returns the shape whose dimensions an array lists; -1 stands for a dynamic dimension.

    Raises:
        TypeError, ValueError: the array is no vector, or a dimension is negative otherwise.
    """
    return TensorShape([None if dim == -1 else dim for dim in dims])


def unknown_shape(rank: int | None = None) -> TensorShape:
    """Returns the shape with `rank` unknown dimensions, or of unknown rank."""
    return TensorShape._of(None if rank is None else (None,) * rank)


def broadcast_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Returns the shape of the result when tensors of two shapes are broadcast, by NumPy's rules.

    An unknown dimension against one greater than 1 becomes that one, since anything else would fail; against 1 or
    another unknown one it stays unknown.

    Raises:
      ValueError: if the shapes do not broadcast.
    """
    x, y = as_shape(shape_x)._dims, as_shape(shape_y)._dims
    if x is None or y is None:
        return TensorShape._of(None)
    dims: list[int | None] = []
    for a, b in zip_longest(reversed(x), reversed(y), fillvalue=1):
        if a == b or b == 1:
            dims.append(a)
        elif a == 1:
            dims.append(b)
        elif a is None or b is None:
            dims.append((b if a is None else a) or None)  # beside 0 it may be 1
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
                f"either equal or one of them is 1. Received: {as_shape(shape_x)} and {as_shape(shape_y)}."
            )
    return TensorShape._of(tuple(reversed(dims)))
