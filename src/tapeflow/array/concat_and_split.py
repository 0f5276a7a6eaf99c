"""Ops that join, split and repeat tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import with_entry_for_batch
from tapeflow.array.creation import range_op
from tapeflow.array.identities import cast_to, identity
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import size_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape
from tapeflow.core.autodiff.gradients import is_unranked, shape_argument, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.arguments import is_tensor_like
from tapeflow.core.ops.batch_rules import Batch, Slices, behind, static
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import MANY, NotStatic, ops
from tapeflow.core.ops.memory import check_outputs
from tapeflow.core.ops.op import op, widen
from tapeflow.core.ops.shape_rules import leave_to_kernel, stated_dims, text
from tapeflow.core.ops.static import elements, host_static
from tapeflow.core.types.aliases import AxisLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape, unknown_shape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

# ---- concat ----------------------------------------------------------------------------------------------------------


def _concat_rule(values: list[TensorShape], axis: int) -> TensorShape:
    if isinstance(axis, tuple):
        raise invalid(f"ConcatOp : axis tensor should be a scalar, but got shape {text(np.shape(axis))}")
    first = next((v for v in values if v.rank is not None), None)
    if first is None:
        return TensorShape(None)
    rank = first.rank
    if not rank:
        raise invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    for i, v in enumerate(values):
        if v.rank is not None and v.rank != rank:
            raise invalid(
                "ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {text(first)} vs. shape[{i}] = {text(v)}"
            )
    if isinstance(axis, Tensor):  # not static
        return TensorShape([None] * rank)
    if not -rank <= axis < rank:
        raise invalid(f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}")
    axis %= rank
    dims = first.as_list()
    for i, v in enumerate(values):
        for j, (m, n) in enumerate(zip(dims, v if v.rank is not None else dims, strict=True)):
            if m is None:
                dims[j] = n
            elif m != n and j != axis and n is not None:
                raise invalid(
                    f"ConcatOp : Dimension {j} in both shapes must be equal: shape[0] = {text(first)} vs. "
                    f"shape[{i}] = {text(v)}"
                )
    lengths: list[Any] = [None if v.rank is None else v[axis] for v in values]
    total = None if None in lengths else sum(lengths)
    return TensorShape([total if j == axis else d for j, d in enumerate(dims)])


@op("ConcatV2", host=("axis",), shape=_concat_rule, moves=True, linear=True, node_name="concat")
def concat_v2(values: list[torch.Tensor], axis: int) -> torch.Tensor:
    """Joins tensors along a dimension."""
    if len(values) == 1 and type(axis) is int:
        return values[0]
    rank = values[0].ndim
    for v in values:
        if v.ndim != rank:  # torch would skip an empty vector
            raise TypeError("the shape rule says what is wrong")
    return torch.cat(values, axis)


def as_partial(numbers: list[Any]) -> tuple[Any, ...]:
    """Returns the elements of a vector that is packed from scalars. If an element is not static, negative elements are
    unknown, too, as in TensorFlow's shape functions: -1 may stand for an inferred length."""
    partial = None in numbers
    return tuple([None if partial and type(n) is int and n < 0 else n for n in numbers])


@concat_v2.static_value
def _(values: list[Tensor], axis: int) -> tuple[int | None, ...]:
    if any(v.shape.rank != 1 for v in values):
        raise NotStatic
    return as_partial([e for v in values for e in elements(v)])


def _concat_one_or_more(args: tuple[Any, Any], name: str | None = None) -> Any:
    values, axis = args
    if isinstance(values, (list, tuple)) and len(values) != 1:
        return concat_v2.op.run(args, name)
    convert(axis, int32).shape.assert_has_rank(0)
    return identity(values[0] if isinstance(values, (list, tuple)) else values)


@widen(concat_v2, _concat_one_or_more)
def concat(values: Sequence[TensorLike] | TensorLike, axis: AxisLike, name: str | None = "concat") -> Tensor:
    """Joins tensors along an existing dimension.

    Args:
        values: tensors of one dtype and rank, equal in all dimensions but `axis`.
        axis: an int, the dimension.

    Returns:
        A tensor of the same dtype and rank. Its length along `axis` is the sum of the input lengths.

    Raises:
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.concat([[1, 2], [3]], axis=0).numpy().tolist()
        [1, 2, 3]
    """


@concat_v2.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    axis = call.attrs[0]
    count = len(call.wanted)
    if count == 1:
        return [dy]
    if isinstance(axis, Tensor):  # not static
        shapes = stack([shape_argument(call.shape(i)) for i in range(count)], 1)
        return split_sizes(dy, ops.GatherV2(shapes, axis % rank_op(dy), 0, 0), axis, count)
    sizes = [call.shape(i)[axis] for i in range(count)]
    if all(call.wanted) or is_unranked(call.shape(0)):
        return split_sizes(dy, sizes, axis, count)
    shape = call.shape(0)
    grads: list[Any] = []
    begin = 0
    for length, wanted in zip(sizes, call.wanted, strict=True):
        begins, lengths = [0] * len(shape), [-1] * len(shape)
        begins[axis], lengths[axis] = begin, length
        grads.append(ops.Slice(dy, begins, lengths) if wanted else None)
        begin += length
    return grads


# ---- stack and unstack -----------------------------------------------------------------------------------------------


def _axis_error(axis: int, rank: int) -> ValueError:
    return ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")


def _stack_rule(values: list[TensorShape], axis: int = 0) -> TensorShape:
    first = next((v for v in values if v.rank is not None), None)
    if first is None:
        return TensorShape(None)
    for i, v in enumerate(values):
        if not v.is_compatible_with(first):
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {text(first)} != values[{i}].shape = {text(v)}"
            )
        first = first.merge_with(v)
    dims = first.as_list()
    if not -len(dims) - 1 <= axis <= len(dims):
        raise invalid(f"Invalid axis: {axis}; must be in [{-len(dims) - 1},{len(dims) + 1})")
    dims.insert(axis if axis >= 0 else axis + len(dims) + 1, len(values))
    return TensorShape(dims)


@op("Pack", shape=_stack_rule, moves=True, node_name="stack")
def pack_op(values: list[torch.Tensor], axis: int = 0) -> torch.Tensor:
    """Puts tensors beside each other along a new dimension."""
    try:
        return torch.stack(values, axis)
    except IndexError:
        raise _axis_error(axis, values[0].ndim + 1) from None


@pack_op.static_value
def _(values: list[Tensor], axis: int) -> tuple[Any, ...]:
    if axis not in (0, -1 - (values[0].shape.rank or 0)):
        raise NotStatic
    return as_partial([elements(v) if v.shape.rank is not None else None for v in values])  # scalars, if it is a vector


def _stack_values(args: tuple[Any, int], name: str | None = None) -> Any:
    values, axis = args
    if axis == 0 and not (isinstance(values, (list, tuple)) and any(map(is_tensor_like, values))):
        try:
            return convert(values)
        except (TypeError, ValueError):  # numbers of several types, say
            pass
    if state.graph is not None and isinstance(values, (list, tuple)) and values and isinstance(values[0], Tensor):
        rank = values[0].shape.rank  # TensorFlow looks at the axis before the op looks at the dtypes
        if rank is not None and type(axis) is int and not -rank - 1 <= axis <= rank:
            raise _axis_error(axis, rank + 1)
    return pack_op.op.run(args, name)


@widen(pack_op, _stack_values)
def stack(values: Sequence[TensorLike] | TensorLike, axis: int = 0, name: str | None = "stack") -> Tensor:
    """Stacks tensors of one shape along a new dimension.

    Args:
        values: n tensors of one dtype and shape.
        axis: an int, the position of the new dimension; 0 by default.

    Returns:
        A tensor with one more dimension, of length n.

    Raises:
        InvalidArgumentError: the shapes or dtypes differ.
        ValueError: there is no such axis.

    Example:
        >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
        [[1, 3], [2, 4]]
    """


@pack_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return _unpack_op(dy, len(call.wanted), call.attrs[0])


@concat_v2.batching
@pack_op.batching
def _(batch: Batch, values: list[Slices], axis: int) -> Any:
    return batch.run([batch.stack(v) for v in values], behind(static(axis)))


def parallel_stack(values: Sequence[TensorLike], name: str = "parallel_stack") -> Tensor:
    """Stacks tensors in a graph, as `tf.stack` does along the first dimension.

    Args:
        values: tensors of one dtype and shape, which must be static.

    Returns:
        A tensor of one more dimension.

    Raises:
        RuntimeError: when executing eagerly.
        ValueError: the shapes differ.

    Example:
        >>> tf.function(lambda x: tf.parallel_stack([x, x]))([1, 2]).numpy().tolist()
        [[1, 2], [1, 2]]
    """
    if state.graph is None:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    if isinstance(values, SymbolicTensor):
        raise TypeError(f"`values` must be a list of tensors, not {values}")
    dtypes = [convert(v).dtype for v in values]
    if len(set(dtypes)) > 1:
        names = ", ".join(d.name for d in dtypes)
        raise TypeError(
            f"Tensors in list passed to 'values' of 'ParallelConcat' Op have types [{names}] that don't all match."
        )
    first = convert(values[0])
    count = len(values)
    if count and not first.shape.is_fully_defined():
        raise ValueError(f"shape attr must be fully defined, not {TensorShape([count]).concatenate(first.shape)}")
    return stack(values, 0, name)


def _unpack_rule(value: TensorShape, num: int, axis: int = 0) -> list[TensorShape]:
    if value.rank is None:
        return [value] * num
    if not -value.rank <= axis < value.rank:
        raise _axis_error(axis, value.rank)
    if value[axis] not in (num, None):
        raise invalid(f"Input shape axis {axis} must equal {num}, got shape {text(value)}")
    dims = value.as_list()
    del dims[axis]
    return [TensorShape(dims)] * num


@op("Unpack", shape=_unpack_rule, moves=True, node_name="unstack")
def _unpack_op(value: torch.Tensor, num: int, axis: int = 0) -> tuple[torch.Tensor, ...]:
    """Returns the slices along a dimension."""
    try:
        parts = torch.unbind(value, axis)
    except (IndexError, RuntimeError):
        raise invalid(f"axis = {axis} not in [{-value.ndim}, {value.ndim})") from None
    if len(parts) != num:
        raise TypeError("the shape rule says what is wrong")
    return parts


@_unpack_op.static_value
def _(value: Tensor, num: int, axis: int) -> tuple[Any, ...]:
    if value.shape.rank != 1:
        raise NotStatic
    return elements(value)


@_unpack_op.gradient()
def _(call: Call, *dys: Any) -> Any:
    return stack(list(dys), call.attrs[1])


@_unpack_op.batching
def _(batch: Batch, value: Slices, num: int, axis: int) -> Any:
    return batch.run(value.value, num, behind(axis))


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> list[Tensor]:
    """Splits a tensor into its slices along a dimension.

    Args:
        value: a tensor of any dtype, of rank at least 1.
        num: an int, the length of the dimension; by default the static length.
        axis: an int, the dimension to unpack, 0 by default.

    Returns:
        A list of tensors without that dimension.

    Raises:
        ValueError: there is no such dimension, or its length is unknown.
        InvalidArgumentError: it is not of length `num`.

    Example:
        >>> [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
    """
    if num is None:
        tensor: Any = value if isinstance(value, Tensor) else convert(value)
        shape = tensor.value.shape if type(tensor) is EagerTensor else tensor.shape
        rank = shape.rank if isinstance(shape, TensorShape) else len(shape)
        if rank is not None and not -rank <= axis < rank:
            raise _axis_error(axis, rank)
        num = shape[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {shape}")
        value = tensor
    return _unpack_op(value, num, axis, name)


# ---- split -----------------------------------------------------------------------------------------------------------


def _split_axis(axis: int, rank: int) -> int:
    if isinstance(axis, (list, tuple)):
        raise invalid(f"split_dim_tensor must have exactly one element, not {axis}")
    if not -rank <= axis < rank:
        raise invalid(f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}")
    return axis % rank


def _split_rule(axis: int, value: TensorShape, num_split: int) -> list[TensorShape]:
    if value.rank is None:
        return [value] * num_split
    if isinstance(axis, Tensor):  # not static
        return [TensorShape([None] * value.rank)] * num_split
    axis = _split_axis(axis, value.rank)
    length = value[axis]
    if length is not None and length % num_split:
        raise invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {length}) and num_split {num_split}"
        )
    part = None if length is None else length // num_split
    return [TensorShape([part if i == axis else d for i, d in enumerate(value)])] * num_split


@op("Split", host=("axis",), shape=_split_rule, moves=True, node_name="split")
def split_op(axis: int, value: torch.Tensor, num_split: int) -> tuple[torch.Tensor, ...]:
    """Splits a tensor into equal parts along a dimension."""
    if num_split > MANY:
        check_outputs(num_split)
    length = value.shape[axis] // num_split
    # "Unsafe" means that torch's autograd does not see in-place changes through the views. Kernels make none.
    return torch.unsafe_split_with_sizes(value, [length] * num_split, axis)


@split_op.inline
def _(axis: AxisLike, value: Tensor, num_split: int) -> Any:
    axis = host_static(axis)
    length = value.shape[axis] if value.shape.rank and isinstance(axis, int) else None
    if length is None or num_split == 1:
        return None
    return torch.unsafe_split_with_sizes, f"{{kernel}}({{0}}, {[length // num_split] * num_split}, {axis})"


@split_op.gradient()
def _(call: Call, *dys: Any) -> Any:
    return concat(list(dys), call.attrs[0])


@split_op.batching
def _(batch: Batch, axis: Slices | int, value: Slices, num_split: int) -> Any:
    return batch.run(behind(static(axis)), value.value, num_split)


def _split_sizes_rule(value: TensorShape, size_splits: TensorLike, axis: int, num_split: int) -> list[TensorShape]:
    if value.rank is None:
        return [value] * num_split
    if not value.rank:
        raise invalid("Can't split scalars")
    sizes: Any = [None] * num_split if isinstance(size_splits, Tensor) else size_splits
    if np.shape(sizes) != (num_split,):
        raise invalid(
            f"size of the split_tensor must be 1-D and have the same elements as outputs got {np.ndim(sizes)} -D and "
            f"{np.size(sizes)} elements"
        )
    if isinstance(axis, Tensor):  # not static
        return [TensorShape([None] * value.rank)] * num_split
    axis = _split_axis(axis, value.rank)
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    length = value[axis]
    if length is not None and None not in sizes:
        total = sum(s for s in sizes if s != -1)
        if (total > length) if -1 in sizes else (total != length):
            raise invalid(
                "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
                f"than the size of the input along split_dim if not fully specified.  Got: {total}"
            )
        sizes = [length - total if s == -1 else s for s in sizes]
    for i, s in enumerate(sizes):
        if s is not None and s < -1:
            raise invalid(f"Split size at index {i} must be >= 0. Got: {s}")
    lengths = [None if s == -1 else s for s in sizes]
    return [TensorShape([n if i == axis else d for i, d in enumerate(value)]) for n in lengths]


@op("SplitV", host=("size_splits", "axis"), shape=_split_sizes_rule, moves=True, node_name="split")
def split_sizes(value: torch.Tensor, size_splits: Sequence[int], axis: int, num_split: int) -> tuple[torch.Tensor, ...]:
    """Splits a tensor into parts of the specified sizes along a dimension."""
    if len(size_splits) != num_split:
        raise TypeError("the shape rule says what is wrong")
    if -1 in size_splits:
        rest = value.shape[axis] - sum(size_splits) - 1
        size_splits = [rest if s == -1 else s for s in size_splits]
    return torch.split_with_sizes(value, size_splits, axis)


@split_sizes.gradient()
def _(call: Call, *dys: Any) -> Any:
    return concat(list(dys), call.attrs[1])


@split_sizes.batching
def _(batch: Batch, value: Slices, size_splits: tuple[int, ...], axis: int, num_split: int) -> Any:
    return batch.run(value.value, static(size_splits), behind(static(axis)), num_split)


def split(
    value: TensorLike,
    num_or_size_splits: Tensor | np.ndarray | Sequence[int] | int,
    axis: AxisLike = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """Splits a tensor into parts along a dimension.

    Args:
        value: a tensor of any dtype, of rank at least 1.
        num_or_size_splits: a scalar, the number of equal parts, or a vector with the length of each part; one may be -1
            for the rest.
        axis: an int, the dimension; 0 by default.
        num: an int, the number of parts. Required if the lengths are a tensor of unknown length.

    Returns:
        A list of tensors.

    Raises:
        InvalidArgumentError: the lengths do not add up to the dimension's, or it can't be split evenly.
        ValueError: the lengths are a scalar tensor, or the number of parts is unknown.

    Example:
        >>> [t.numpy().tolist() for t in tf.split([1, 2, 3, 4], [1, 3])]
        [[1], [2, 3, 4]]
    """
    if type(num_or_size_splits) is int:
        return split_op(axis, value, num_or_size_splits, name)
    sizes = num_or_size_splits
    if not isinstance(sizes, (list, tuple)):
        ragged = hasattr(value, "row_splits")
        if isinstance(sizes, np.integer) and not ragged:
            return split(value, int(sizes), axis, num, name)
        shape = convert(sizes).shape
        if shape.rank == 0 and ragged:
            raise TypeError(f"`num_or_size_splits` must be an `int` or 1-D list or `Tensor`. Received {sizes}.")
        if shape.rank == 0:
            raise ValueError(
                "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
                f"Argument provided: {sizes}"
            )
        num = shape[0] if num is None else num
    elif num is None:
        num = len(sizes)
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {shape}")
    return split_sizes(value, sizes, axis, num, name)


# ---- repeated --------------------------------------------------------------------------------------------------------


def _tile_rule(x: TensorShape, multiples: tuple[int, ...]) -> TensorShape:
    if isinstance(multiples, Tensor) and multiples.shape.rank not in (1, None):
        raise invalid(f"Expected multiples to be 1-D, but got shape {text(multiples.shape)}")
    if isinstance(multiples, Tensor):  # not static
        return TensorShape(None if x.rank is None else [None] * x.rank)
    if not isinstance(multiples, tuple) or any(isinstance(m, tuple) for m in multiples):
        raise invalid(f"Expected multiples to be 1-D, but got shape {text(np.shape(multiples))}")
    if x.rank is None:
        x = unknown_shape(len(multiples))
    if len(multiples) != x.rank:
        raise invalid(f"Expected multiples argument to be a vector of length {x.rank} but got length {len(multiples)}")
    if state.graph is not None:
        stated_dims(multiples)
    for i, m in enumerate(multiples):
        if m is not None and m < 0:
            leave_to_kernel(f"Expected multiples[{i}] >= 0, but got {m}")
    return TensorShape([_repeat_length(d, None if m == -1 else m) for d, m in zip(x, multiples, strict=True)])


def _repeat_length(length: int | None, copies: int | None) -> int | None:
    if length is None or copies is None:
        return 0 if length == 0 or copies == 0 else None
    return length * copies


def _tile_kernel(x: torch.Tensor, multiples: Any) -> torch.Tensor:
    if len(multiples) != x.ndim:
        raise TypeError("the shape rule says what is wrong")
    return x.repeat(multiples) if x.ndim else x


@op("Tile", kernel=_tile_kernel, host=("multiples",), shape=_tile_rule, moves=True)
def tile(input: TensorLike, multiples: ShapeLike, name: str | None = None) -> Tensor:
    """Repeats a tensor along its dimensions.

    Args:
        input: a tensor of any dtype, of rank n.
        multiples: n integers: how many copies along each dimension.

    Returns:
        A tensor of the same dtype, whose dimension i is `multiples[i]` times as long.

    Raises:
        InvalidArgumentError: there are not n multiples, or one is negative.

    Example:
        >>> tf.tile([[1, 2]], [2, 2]).numpy().tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """


@tile.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    shape = call.shape(0)
    if is_unranked(shape):
        copies = reshape(stack([call.attrs[0], shape_argument(shape)], 1), [-1])
        return ops.Sum(reshape(dy, copies), range_op(0, size_op(copies), 2))
    multiples = call.attrs[0]
    dims = [n for i, d in enumerate(shape) for n in (multiples[i], d)]
    return ops.Sum(reshape(dy, dims), list(range(0, len(dims), 2)))


tile.batching(with_entry_for_batch(1))


def repeat(
    input: TensorLike,
    repeats: Tensor | np.ndarray | Sequence[int] | int,
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Repeats the elements of a tensor.

    Args:
        input: a tensor of any dtype and shape.
        repeats: how often to repeat: a scalar, or one number for each element along `axis`.
        axis: an int, the dimension to repeat along; by default the tensor is flattened first.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: `repeats` does not fit, or there is no such axis.
        TypeError: `repeats` are no integers.
        InvalidArgumentError: a number is negative.

    Example:
        >>> tf.repeat([1, 2], [3, 1]).numpy().tolist()
        [1, 1, 1, 2]
    """
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f"Argument `axis` must be an int. Received `axis` = {axis} of type {type(axis).__name__}")
    tensor: Any = input if isinstance(input, Tensor) else convert(input)
    if axis is None:
        tensor, axis = reshape(tensor, (-1,)), 0
    rank = tensor.shape.rank
    if rank == 0:
        tensor, rank = reshape(tensor, (1,)), 1
    if rank is not None:
        if not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        axis %= rank
    counts = convert(repeats)
    if not counts.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = {repeats} of dtype: "
            f"{counts.dtype}"
        )
    count = counts.shape.with_rank_at_most(1).num_elements()
    if count == 1 and rank is not None:
        once, shape = reshape(counts, ()), list(shape_of(tensor))
        copies = [1] * axis + [1, once] + [1] * (rank - axis - 1)
        if all(isinstance(d, int) and d for d in shape):
            shape[axis] = -1
        else:
            shape[axis] *= int(once) if isinstance(once, EagerTensor) else cast_to(once, int32)
        return reshape(tile(expand_dims(tensor, axis + 1), copies), shape)
    length = None if rank is None else tensor.shape[axis]
    if count is None or rank is None:  # it may turn out to be one number for all
        counts = broadcast_to(counts, [shape_of(tensor)[axis]])
    elif length is not None and count != length:
        raise ValueError(f"Dimensions {length} and {count} are not compatible")
    return ops.GatherV2(tensor, _repeated_places(counts), axis, 0)


def _repeated_places(counts: Tensor) -> Any:
    """Returns each place as often as its count says: [0, 0, 2] for the counts [2, 0, 1]."""
    counts = cast_to(counts, int64 if counts.dtype is int64 else int32)
    zero, one = (convert(n, counts.dtype) for n in (0, 1))
    numbers = range_op(zero, ops.Maximum(ops.Max(counts), zero), one)
    return ops.Where(ops.Less(numbers, expand_dims(counts, -1)))[:, 0]
