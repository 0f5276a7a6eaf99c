"""`tf.experimental.numpy`: reshaping, joining, splitting and slicing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import math
from tapeflow.array import concat_and_split, gathers, padding, reshapes
from tapeflow.array.concat_and_split import concat, unstack
from tapeflow.array.creation import range as tf_range
from tapeflow.array.dynamic_partition import dynamic_stitch
from tapeflow.array.masks import where as tf_where
from tapeflow.array.properties import broadcast_dynamic_shape
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.properties import size as size_of
from tapeflow.array.scatters import tensor_scatter_nd_update
from tapeflow.array.unranked import other_dimensions
from tapeflow.core.ops.sequences import unsupported_value
from tapeflow.core.types.aliases import AxisLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.numpy.documentation import named_function, numpy_function
from tapeflow.experimental.numpy.types import (
    Function,
    as_array,
    axis_of,
    broadcast_shape_of,
    by_rank,
    convert,
    promote_values,
    rank_of,
)
from tapeflow.math.casting import cast
from tapeflow.math.extrema import clip_by_value

# ---- shapes ----------------------------------------------------------------------------------------------------------


@numpy_function("[[1, 2]]")
def shape(a: TensorLike) -> TensorShape:
    """Returns the static shape."""
    return as_array(a).shape


@numpy_function("[[1, 2]]")
def ndim(a: TensorLike) -> int:
    """Returns the rank, -1 where a function that is traced does not know it."""
    rank = as_array(a).shape.rank
    return -1 if rank is None else rank


@numpy_function("3.0")
def isscalar(num: TensorLike) -> bool:
    """Tells whether a value has no dimensions."""
    return ndim(num) == 0


@numpy_function("[[1, 2]]")
def size(x: TensorLike, axis: None = None) -> int | Tensor:
    """Returns the number of elements, as an int if it is static.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.size`.
        NotImplementedError: `axis` is set.
    """
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    if isinstance(x, (int, float)):
        return 1
    tensor = as_array(x)
    return np.prod(tensor.shape.as_list(), dtype=int) if tensor.shape.is_fully_defined() else size_of(tensor)


@numpy_function("[1, 2, 3, 4], (2, 2)")
def reshape(a: TensorLike, newshape: ShapeLike, order: str = "C") -> Tensor:
    """Returns the elements in another shape, by rows (C) or by columns (F).

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.reshape`.
        InvalidArgumentError: the number of elements differs.
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    x = as_array(a)
    dims: Any = [newshape] if isinstance(newshape, int) else newshape
    if order == "C":
        return reshapes.reshape(x, dims)
    return reshapes.transpose(reshapes.reshape(reshapes.transpose(x), dims[::-1]))


@numpy_function("[[1, 2]]")
def ravel(a: TensorLike) -> Tensor:
    """Returns the elements as a vector."""
    return reshapes.reshape(as_array(a), [-1])


@numpy_function("[[1, 2], [3, 4]]", numpy_name="ravel")
def flatten(a: TensorLike, order: str = "C") -> Tensor:
    """Returns the elements as a vector, by rows (C, A or K) or by columns (F)."""
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return ravel(reshapes.transpose(as_array(a)) if order == "F" else a)


@numpy_function("[1, 2], 0")
def expand_dims(a: TensorLike, axis: int) -> Tensor:
    """Inserts a dimension of size 1."""
    return reshapes.expand_dims(as_array(a), axis)


@numpy_function("[[1, 2]]")
def squeeze(a: TensorLike, axis: AxisLike = None) -> Tensor:
    """Removes dimensions of size 1."""
    return reshapes.squeeze(as_array(a), axis)


@numpy_function("[[1, 2], [3, 4]]")
def transpose(a: TensorLike, axes: AxisLike = None) -> Tensor:
    """Permutes dimensions, or reverses their order."""
    return reshapes.transpose(as_array(a), axes)


@numpy_function("[[1, 2], [3, 4]], 0, 1")
def swapaxes(a: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Exchanges two dimensions."""
    x = as_array(a)
    order = list(range(rank_of(x, "swapaxes")))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return reshapes.transpose(x, order)


@numpy_function("[[[1, 2]]], 0, -1")
def moveaxis(a: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Moves dimensions to other places."""
    tensor = as_array(a)
    rank = tensor.shape.rank
    sources, destinations = (
        [axis_of(int(x), rank) for x in ([v] if isinstance(v, int) else v)] for v in (source, destination)
    )
    if len(sources) != len(destinations):
        raise ValueError("The lengths of source and destination must equal")
    if rank is None:
        vectors = [math.floormod(convert(v, int32), rank_op(tensor)) for v in (destinations, sources)]
        others = [other_dimensions(tensor, v) for v in vectors]
        return reshapes.transpose(tensor, dynamic_stitch([vectors[0], others[0]], [vectors[1], others[1]]))
    order = [i for i in range(rank) if i not in sources]
    for to, place in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, place)
    return tensor if order == list(range(rank)) else reshapes.transpose(tensor, order)


def _at_least_function(name: str, dimensions: int, summary: str) -> Function:
    """Returns the function that adds dimensions of size 1 in front, and for three dimensions one behind."""

    def expanded(a: Tensor, missing: int = dimensions) -> Any:
        if not missing:
            return a
        behind = 1 if dimensions == 3 and missing < 3 else 0
        ones = np.ones(missing - behind, np.int32), np.ones(behind, np.int32)
        return by_rank(
            a,
            dimensions - missing,
            lambda: reshapes.reshape(a, concat([ones[0], shape_of(a), ones[1]], 0)),
            lambda: expanded(a, missing - 1),
        )

    def function(*arys: TensorLike) -> Any:
        results = [expanded(as_array(a)) for a in arys]
        return results[0] if len(results) == 1 else results

    return named_function(function, name, summary, "[1, 2]")


atleast_1d = _at_least_function("atleast_1d", 1, "Returns tensors of at least one dimension.")
atleast_2d = _at_least_function("atleast_2d", 2, "Returns tensors of at least two dimensions.")
atleast_3d = _at_least_function("atleast_3d", 3, "Returns tensors of at least three dimensions.")


@numpy_function("[1, 2], (2, 2)")
def broadcast_to(array: TensorLike, shape: ShapeLike) -> Tensor:
    """Broadcasts to a shape.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.broadcast_to`.
        InvalidArgumentError: the shapes do not broadcast.
    """
    return reshapes.broadcast_to(as_array(array), atleast_1d(convert(shape, int32)))


@numpy_function("[1, 2], [[1], [2]]")
def broadcast_arrays(*args: TensorLike, **kwargs: Any) -> list[Tensor]:
    """Broadcasts tensors to their common shape."""
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    arrays = [as_array(a) for a in args]
    common = broadcast_shape_of(arrays) if len(arrays) > 1 else None
    return arrays if common is None else [reshapes.broadcast_to(a, common) for a in arrays]


# ---- joining and splitting -------------------------------------------------------------------------------------------


@numpy_function("([1, 2], [3])")
def concatenate(arys: Sequence[TensorLike] | TensorLike, axis: int = 0) -> Tensor:
    """Joins tensors along an axis.

    Args:
        arys, axis: as for `numpy.concatenate`; tensors whose shapes differ in `axis` alone take the place of arrays.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.concatenate`.
        InvalidArgumentError: the shapes differ in another dimension.
    """
    parts: Any = arys if isinstance(arys, (list, tuple)) else [arys]
    if not parts:
        raise ValueError(f"Need at least one array to concatenate. Received empty input: arys={arys}")
    return concat(promote_values(*parts), axis)


@numpy_function("[1, 2], [[3]]")
def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> Tensor:
    """Appends values, along an axis or as a vector."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


@numpy_function("([1, 2], [3, 4]), 1")
def stack(arrays: Sequence[TensorLike] | TensorLike, axis: int = 0) -> Tensor:
    """Joins tensors along a new axis.

    Args:
        arrays, axis: as for `numpy.stack`; tensors of one shape take the place of arrays.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.stack`.
        InvalidArgumentError: the shapes differ.
    """
    if isinstance(arrays, Tensor):
        return arrays if axis == 0 else swapaxes(arrays, 0, axis)
    parts: Any = arrays
    return concat_and_split.stack(promote_values(*parts), axis)


def _joining_function(name: str, expand: Function, join: Function, summary: str) -> Function:
    def function(tup: Sequence[TensorLike]) -> Tensor:
        return join(promote_values(*(expand(a) for a in tup)))

    return named_function(function, name, summary, "([1, 2], [3, 4])")


def _along_columns(arrays: list[Any]) -> Any:
    return by_rank(arrays[0], 1, lambda: concat(arrays, 0), lambda: concat(arrays, 1))


hstack = _joining_function("hstack", atleast_1d, _along_columns, "Joins tensors along columns.")
vstack = _joining_function("vstack", atleast_2d, lambda arrays: concat(arrays, 0), "Joins tensors along rows.")
dstack = _joining_function(
    "dstack", atleast_3d, lambda arrays: concat(arrays, 2), "Joins tensors along the third dimension."
)


def _part_sizes(total: int, boundaries: Any) -> list[int]:
    """Returns the sizes of the parts between boundaries."""
    places = [0, *(min(int(b), total) for b in boundaries), total]
    sizes = [after - before for before, after in zip(places, places[1:], strict=False)]
    for index, length in enumerate(sizes):
        if length < 0:
            raise ValueError(
                f"The {index}-th boundary {places[index + 1]} is smaller than the previous boundary {places[index]}"
            )
    return sizes


@numpy_function("np.array([1, 2, 3, 4]), 2")
def split(ary: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Splits into equal parts, or at indices."""
    a = as_array(ary)
    parts: Any = indices_or_sections
    if not isinstance(parts, int):
        if axis >= rank_of(a, "split"):
            raise ValueError(f"axis {axis} is out of bound for shape {a.shape}")
        parts = _part_sizes(a.shape[axis], parts)
    return concat_and_split.split(a, parts, axis)


def _splitting_function(name: str, axis: int, example: str, summary: str) -> Function:
    def function(ary: TensorLike, indices_or_sections: int | Sequence[int]) -> list[Tensor]:
        a = as_array(ary)
        place = 0 if axis == 1 and a.shape.rank == 1 else axis
        length = a.shape[place]
        if isinstance(indices_or_sections, int) and length is not None and length % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        return split(a, indices_or_sections, place)

    return named_function(function, name, summary, example)


vsplit = _splitting_function("vsplit", 0, "np.array([[1], [2]]), 2", "Splits rows.")
hsplit = _splitting_function("hsplit", 1, "np.array([[1, 2]]), 2", "Splits columns.")
dsplit = _splitting_function("dsplit", 2, "np.array([[[1, 2]]]), 2", "Splits along the third dimension.")


@numpy_function("[1, 2], (2, 2)")
def tile(a: TensorLike, reps: ShapeLike) -> Tensor:
    """Repeats the whole along axes.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.tile`.
        InvalidArgumentError: a number of repetitions is negative.
    """
    x = as_array(a)
    times = reshapes.reshape(as_array(reps, int32), [-1])
    rank, count = rank_of(x, "tile"), times.shape[0]
    if count is None:
        raise ValueError("tf.experimental.numpy.tile needs `reps` of a known length.")
    x = reshapes.reshape(x, concat([np.ones(max(count - rank, 0), np.int32), shape_of(x)], 0))
    return concat_and_split.tile(x, concat([np.ones(max(rank - count, 0), np.int32), times], 0))


@numpy_function("[1, 2], 2")
def repeat(a: TensorLike, repeats: TensorLike, axis: int | None = None) -> Tensor:
    """Repeats each element.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.repeat`.
    """
    return concat_and_split.repeat(as_array(a), as_array(repeats), axis)


@numpy_function("[[1, 2]], ((1, 1), (0, 2)), 'constant'")
def pad(array: TensorLike, pad_width: TensorLike, mode: str, **kwargs: Any) -> Tensor:
    """Pads with a constant value, or with elements reflected at the edges (reflect, symmetric)."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    value = kwargs.get("constant_values", 0)
    return padding.pad(as_array(array), as_array(pad_width, int32), mode.upper(), value)


# ---- order -----------------------------------------------------------------------------------------------------------


@numpy_function("[[1, 2], [3, 4]], 0")
def flip(m: TensorLike, axis: int | None = None) -> Tensor:
    """Reverses the order along an axis, or along all."""
    x = as_array(m)
    axes = tf_range(rank_op(x)) if axis is None else [axis_of(axis, x.shape.rank)]
    return padding.reverse(x, axes)


@numpy_function("[[1, 2], [3, 4]]")
def flipud(m: TensorLike) -> Tensor:
    """Reverses rows."""
    return flip(m, 0)


@numpy_function("[[1, 2], [3, 4]]")
def fliplr(m: TensorLike) -> Tensor:
    """Reverses columns.

    Args:
        m: a tensor with at least two dimensions.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.fliplr`.
        InvalidArgumentError: there are fewer than two dimensions.
    """
    return flip(m, 1)


@numpy_function("[1, 2, 3], 1")
def roll(a: TensorLike, shift: TensorLike, axis: AxisLike = None) -> Tensor:
    """Moves elements along axes, those that fall off to the other end."""
    x = as_array(a)
    if shift is None:
        raise unsupported_value(shift, shift)
    if axis is not None:
        return padding.roll(x, shift, axis)
    return reshapes.reshape(padding.roll(ravel(x), shift, 0), shape_of(x))


@numpy_function("[[1, 2], [3, 4]]")
def rot90(m: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Rotates by quarters of a turn in the plane of two axes.

    Args:
        m, k, axes: as for `numpy.rot90`; `m` is a tensor with at least two dimensions.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.rot90`.
        InvalidArgumentError: there are fewer than two dimensions.
    """
    x = as_array(m)
    first, second = (axis_of(int(axis), rank_of(x, "rot90")) for axis in axes)
    k = k % 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, first), second)
    if k == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second)


# ---- parts -----------------------------------------------------------------------------------------------------------


@numpy_function("[5, 6, 7], [2, 0]")
def take(a: TensorLike, indices: TensorLike, axis: int | None = None, out: None = None, mode: str = "clip") -> Tensor:
    """Takes slices by their indices; those out of bounds are clipped, or wrap."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    if mode == "raise":
        raise ValueError("The 'raise' mode to take is not supported.")
    a, places = as_array(a), as_array(indices)
    if axis is None:
        a, axis = ravel(a), 0
    length = shape_of(a, out_type=places.dtype)[axis]
    places = clip_by_value(places, 0, length - 1) if mode == "clip" else math.floormod(places, length)
    return gathers.gather(a, places, axis=axis)


@numpy_function("np.array([[5, 6]]), np.array([[1]]), 1")
def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None) -> Tensor:
    """Takes elements by indices along an axis, the other axes broadcasting."""
    a, places = as_array(arr), as_array(indices)
    if axis is None:
        return take_along_axis(ravel(a), places, 0)
    rank = a.shape.rank
    place: Any = axis + (rank_op(a) if rank is None else rank) if axis < 0 else axis
    sizes, counts = (shape_of(t, out_type=places.dtype) for t in (a, places))
    alone = [tensor_scatter_nd_update(s, [[place]], [1]) for s in (sizes, counts)]
    common, length = broadcast_dynamic_shape(*alone), sizes[place]
    a = reshapes.broadcast_to(a, tensor_scatter_nd_update(common, [[place]], [length]))
    places = reshapes.broadcast_to(places, tensor_scatter_nd_update(common, [[place]], [counts[place]]))
    static = places.shape
    places = tf_where(places < 0, places + length, places)
    source = int(axis if rank is None else place)
    a, places = (moveaxis(t, source, -1) for t in (a, places))
    rows, places_of_rows = (reshapes.reshape(t, [-1, shape_of(t)[-1]]) for t in (a, places))
    result = reshapes.reshape(gathers.gather(rows, places_of_rows, batch_dims=1), shape_of(places))
    result = moveaxis(result, -1, source)
    result.set_shape(static)
    return result


@numpy_function("[0, 3, 4]")
def nonzero(a: TensorLike) -> list[Tensor]:
    """Returns the indices of elements that are not zero, one tensor for each axis."""
    x = as_array(a)
    if x.shape.rank is None:
        raise ValueError("The rank of `a` is unknown, so we can't decide how many arrays to return.")
    x = atleast_1d(x)
    return unstack(tf_where(cast(x, bool_)), x.shape.rank, axis=1)


@numpy_function("[True, False], [1, 2], [3, 4]")
def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None) -> Any:
    """Takes elements of x where a condition holds, else of y; without both, returns where it holds.

    Args:
        condition, x, y: as for `numpy.where`; tensors whose shapes broadcast take the place of arrays.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.where`.
        InvalidArgumentError: the shapes do not broadcast.
    """
    mask = as_array(condition, bool)
    if x is None and y is None:
        return nonzero(mask)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    return tf_where(mask, *promote_values(x, y))


@numpy_function("[np.array([True, False])], [np.array([1, 2])], 9")
def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> Tensor:
    """Returns for each element the first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    if not condlist:
        raise ValueError("condlist must be non-empty")
    result, *choices = promote_values(default, *choicelist)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(condition, choice, result)
    return result
