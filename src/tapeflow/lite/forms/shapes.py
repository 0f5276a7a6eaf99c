"""TFLite forms of ops that move elements: shapes, slices, concatenation, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.lite.program import LiteTensor, static_shape
from tapeflow.lite.table import FORMS, NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer


def numbers_of(tensor: LiteTensor, what: str) -> list[int]:
    """Returns the integers of a constant.

    Raises:
        NoForm: it is no constant.
    """
    if tensor.value is None:
        raise NoForm(f"{what} must be constant")
    return [int(v) for v in np.ravel(tensor.value)]


def as_int32(w: Writer, tensor: LiteTensor) -> LiteTensor:
    """Returns integers as int32, which most operators take alone."""
    partial = tensor.partial
    tensor = w.cast(tensor, int32)
    tensor.partial = partial
    return tensor


@form("Reshape")
def _lower_reshape(w: Writer, call: LoweredCall, x: LiteTensor, shape: LiteTensor) -> LiteTensor:
    if x.shape == call.shape and sum(d is None for d in x.shape) <= 1:
        return x
    target = [-1 if d is None else d for d in call.shape]
    if target.count(-1) > 1 and shape.partial is not None:
        target = [-1 if d is None else d for d in shape.partial]
    if target.count(-1) > 1:
        return w.add("RESHAPE", [x, as_int32(w, shape)], call.shape)
    return w.add("RESHAPE", [x, w.constant(target, int32)], call.shape, newShape=target)


@form("Squeeze", "ExpandDims")
def _change_rank(w: Writer, call: LoweredCall, x: LiteTensor, *axis: LiteTensor) -> LiteTensor:
    if sum(d is None for d in call.shape) <= 1:
        return w.reshape(x, call.shape)
    if axis:
        return w.add("EXPAND_DIMS", [x, as_int32(w, axis[0])], call.shape)
    dims = [d % x.rank for d in call.attrs["squeeze_dims"]] or [i for i, d in enumerate(x.shape) if d == 1]
    return w.add("SQUEEZE", [x], call.shape, squeezeDims=dims)


@form("Shape", "ShapeN")
def _lower_shape(w: Writer, call: LoweredCall, *inputs: Any) -> Any:
    dtype = call.attrs["out_type"]
    tensors = inputs[0] if isinstance(inputs[0], list) else [inputs[0]]
    sizes = []
    for x in tensors:
        static = None not in x.shape and x.rank
        sizes.append(w.constant(list(x.shape), dtype) if static else w.add("SHAPE", [x], [x.rank], dtype,
                     outType=w.file.type_numbers(dtype)))  # fmt: skip
    return sizes if call.operation.type == "ShapeN" else sizes[0]


@form("Size")
def _lower_size(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    dtype = call.attrs["out_type"]
    shape = w.add("SHAPE", [x], [x.rank], dtype, outType=w.file.type_numbers(dtype))
    return w.add("REDUCE_PROD", [shape, w.constant([0], int32)], [], keepDims=False)


@form("Transpose")
def _lower_transpose(w: Writer, call: LoweredCall, x: LiteTensor, order: LiteTensor) -> LiteTensor:
    if order.value is None:
        return w.add("TRANSPOSE", [x, as_int32(w, order)], call.shape)
    return w.transpose(x, [int(i) % x.rank for i in order.value])


@form("ConcatV2")
def _lower_concat(w: Writer, call: LoweredCall, values: list[LiteTensor], axis: LiteTensor) -> LiteTensor:
    at = numbers_of(axis, "the axis")[0] % len(call.shape)
    remaining = [v for v in values if v.shape[at] != 0] or values[:1]
    return remaining[0] if len(remaining) == 1 else w.add("CONCATENATION", remaining, call.shape, axis=at)


@form("Pack")
def _lower_pack(w: Writer, call: LoweredCall, values: list[LiteTensor]) -> LiteTensor:
    axis = call.attrs["axis"] % len(call.shape)
    return w.add("PACK", values, call.shape, axis=axis, valuesCount=len(values))


@form("Unpack")
def _lower_unpack(w: Writer, call: LoweredCall, x: LiteTensor) -> list[LiteTensor]:
    axis, count = call.attrs["axis"] % x.rank, len(call.outputs)
    shape = [*x.shape[:axis], *x.shape[axis + 1 :]]
    return w.add_many("UNPACK", [x], [(shape, x.dtype)] * count, axis=axis, num=count)


@form("Split", "SplitV")
def _lower_split(w: Writer, call: LoweredCall, *inputs: LiteTensor) -> list[LiteTensor]:
    place = 1 if call.operation.type == "Split" else 0  # of the tensor; the others are integers
    results = [(static_shape(t), inputs[place].dtype) for t in call.outputs]
    operands = [t if i == place else as_int32(w, t) for i, t in enumerate(inputs)]
    return w.add_many(call.code, operands, results, numSplits=len(results))


@form("BatchToSpaceND", "Slice", "SpaceToBatchND", "Tile")
def _lower_by_integers(w: Writer, call: LoweredCall, x: LiteTensor, *integers: LiteTensor) -> LiteTensor:
    return w.add(call.code, [x, *(as_int32(w, t) for t in integers)], call.shape)


class _Entry(NamedTuple):
    """An entry of a slice, for one dimension; `begin` and `end` are None if the dimension's own ends count."""

    begin: int | None = None
    end: int | None = None
    step: int = 1
    shrinks: bool = False

    def is_whole(self, size: int | None) -> bool:
        """Returns True if the slice takes all of a dimension."""
        reaches_end = self.end is None or (size is not None and self.end >= size)
        return not self.begin and reaches_end and self.step == 1


def _slice_entries(rank: int, bounds: Sequence[Any], masks: Sequence[int]) -> list[_Entry | None]:
    """Returns the entries of a slice of a tensor, without an ellipsis. None stands for a new dimension.

    Args:
        rank: the tensor's rank.
        bounds: the numbers `begin`, `end` and `strides`.
        masks: the masks for `begin`, `end`, ellipses, new dimensions, and dimensions that are dropped.
    """
    entries: list[_Entry | None] = []
    for i, (begin, end, step) in enumerate(zip(*bounds, strict=True)):
        from_start, to_end, is_ellipsis, is_new, shrinks = (bool(mask >> i & 1) for mask in masks)
        if is_ellipsis:
            named = sum(not (masks[2] | masks[3]) >> j & 1 for j in range(len(bounds[0])))
            entries += [_Entry()] * (rank - named)
        else:
            own = _Entry(None if from_start else int(begin), None if to_end else int(end), int(step), shrinks)
            entries.append(None if is_new else own)
    return entries + [_Entry()] * (rank - sum(e is not None for e in entries))


@form("StridedSlice")
def _strided_slice(w: Writer, call: LoweredCall, x: LiteTensor, *bounds: LiteTensor) -> LiteTensor:
    if not x.rank:
        return w.reshape(x, call.shape)
    masks = [call.attrs[f"{n}_mask"] for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
    if any(t.value is None for t in bounds):
        return _add_slice(w, x, bounds, masks, call.shape)
    entries = _slice_entries(x.rank, [t.value for t in bounds], masks)
    own = [e for e in entries if e is not None]
    pairs = list(zip(x.shape, own, strict=True))
    may_reshape = call.shape.count(None) <= 1
    if may_reshape and all(d == 1 if e.shrinks else e.is_whole(d) for d, e in pairs):
        return w.reshape(x, call.shape)
    if masks[2] or masks[3]:
        columns = [e.begin or 0 for e in own], [e.end or 0 for e in own], [e.step for e in own]
        bounds = tuple([w.constant(column, int32) for column in columns])
        flags = zip(*[(e.begin is None, e.end is None, False, False, e.shrinks) for e in own], strict=True)
        masks = [sum(flag << i for i, flag in enumerate(column)) for column in flags]
    if None not in entries:
        return _add_slice(w, x, bounds, masks, call.shape)
    kept = [(d, slice(e.begin, e.end, e.step)) for d, e in pairs if not e.shrinks]
    shape = [None if d is None else len(range(*own.indices(d))) for d, own in kept]
    x = _add_slice(w, x, bounds, masks, shape)
    if may_reshape:
        return w.reshape(x, call.shape)
    for i, e in enumerate([e for e in entries if e is None or not e.shrinks]):
        if e is None:
            x = w.add("EXPAND_DIMS", [x, w.constant(i, int32)], [*x.shape[:i], 1, *x.shape[i:]])
    return x


def _add_slice(w: Any, x: Any, bounds: Sequence[LiteTensor], masks: Any, shape: Any) -> LiteTensor:
    """Adds a slice."""
    names = ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask")
    inputs = [x, *(as_int32(w, t) for t in bounds)]
    return w.add("STRIDED_SLICE", inputs, shape, **dict(zip(names, masks, strict=True)))


@form("Pad", "PadV2")
def _lower_pad(w: Writer, call: LoweredCall, x: LiteTensor, paddings: LiteTensor, *value: LiteTensor) -> LiteTensor:
    if not x.rank:
        return x
    paddings = as_int32(w, paddings)
    if value and not (value[0].value is not None and value[0].value == 0):
        return w.add("PADV2", [x, paddings, value[0]], call.shape)
    return w.add("PAD", [x, paddings], call.shape)


@form("MirrorPad")
def _mirror_pad(w: Writer, call: LoweredCall, x: LiteTensor, paddings: LiteTensor) -> LiteTensor:
    mode = call.attrs["mode"]
    return w.add("MIRROR_PAD", [x, as_int32(w, paddings)], call.shape, mode=int(mode in ("SYMMETRIC", b"SYMMETRIC")))


@form("BroadcastTo")
def _broadcast_to(w: Writer, call: LoweredCall, x: LiteTensor, shape: LiteTensor) -> LiteTensor:
    if x.shape == call.shape and None not in x.shape:
        return x
    return w.add("BROADCAST_TO", [x, as_int32(w, shape)], call.shape)


@form("ReverseV2")
def _lower_reverse(w: Writer, call: LoweredCall, x: LiteTensor, axis: LiteTensor) -> LiteTensor:
    for i in numbers_of(axis, "the axes"):
        x = w.add("REVERSE_V2", [x, w.constant([i % x.rank], int32)], x.shape)
    return x


@form("Roll")
def _lower_roll(w: Writer, call: LoweredCall, x: LiteTensor, shift: LiteTensor, axis: LiteTensor) -> LiteTensor:
    shifts, axes = numbers_of(shift, "the shift"), numbers_of(axis, "the axis")
    for by, i in zip(shifts, axes, strict=True):
        size = x.shape[i % x.rank]
        if size == 0:
            continue
        if size is None:
            raise NoForm("it rolls along an axis of unknown size")
        x = _add_roll(w, x, i % x.rank, size - by % size)
    return x


def _add_roll(w: Writer, x: LiteTensor, axis: int, at: int) -> LiteTensor:
    """Adds an exchange of the elements before and after a place along an axis."""
    sizes = [at, x.shape[axis] - at]
    if 0 in sizes:
        return x
    shapes = [[*x.shape[:axis], s, *x.shape[axis + 1 :]] for s in sizes]
    inputs = [x, w.constant(sizes, int32), w.constant(axis, int32)]
    first, last = w.add_many("SPLIT_V", inputs, [(s, x.dtype) for s in shapes], numSplits=2)
    return w.add("CONCATENATION", [last, first], x.shape, axis=axis)


@form("SpaceToDepth", "DepthToSpace")
def _lower_depth(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    if call.attrs["data_format"] != "NHWC":
        raise NoForm("only the data format NHWC has a form")
    return w.add(call.code, [x], call.shape, blockSize=call.attrs["block_size"])


@form("MatrixDiagV3", "MatrixDiag")
def _matrix_diag(w: Writer, call: LoweredCall, x: LiteTensor, *rest: LiteTensor) -> LiteTensor:
    if rest and (numbers_of(rest[0], "k") != [0] or call.shape[-2:] != (x.shape[-1], x.shape[-1])):
        raise NoForm("only the main diagonal of a square matrix has a form")
    return w.add("MATRIX_DIAG", [x], call.shape)


@form("MatrixDiagPartV3", "MatrixDiagPartV2", "MatrixDiagPart")
def _matrix_diag_part(w: Writer, call: LoweredCall, x: LiteTensor, *rest: LiteTensor) -> LiteTensor:
    rows, columns = x.shape[-2:]
    if rows is None or columns is None or (rest and numbers_of(rest[0], "k") != [0]):
        raise NoForm("only the main diagonal of matrices of static sizes has a form")
    flat = w.reshape(x, [*x.shape[:-2], rows * columns])
    places = w.constant([i * (columns + 1) for i in range(min(rows, columns))], int32)
    return w.add("GATHER", [flat, places], call.shape, axis=flat.rank - 1, batchDims=0)


@form("MatrixBandPart")
def _band_part(w: Writer, call: LoweredCall, x: LiteTensor, lower: LiteTensor, upper: LiteTensor) -> LiteTensor:
    rows, columns = x.shape[-2:]
    if rows is None or columns is None:
        raise NoForm("the matrices must have static sizes")
    low, high = numbers_of(lower, "num_lower")[0], numbers_of(upper, "num_upper")[0]
    at = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    inside = ((low < 0) | (-at <= low)) & ((high < 0) | (at <= high))
    return w.add("SELECT_V2", [w.constant(inside, bool_), x, w.constant(0, x.dtype)], x.shape, x.dtype)


FORMS.update({
    "Fill": lambda w, call, shape, value: w.add("FILL", [as_int32(w, shape), value], call.shape, value.dtype),
    "Rank": lambda w, call, x: w.constant(x.rank, int32),
    "ReverseSequence": lambda w, call, x, lengths: w.add(
        "REVERSE_SEQUENCE", [x, lengths], x.shape, seqDim=call.attrs["seq_dim"], batchDim=call.attrs["batch_dim"]
    ),
})  # fmt: skip
