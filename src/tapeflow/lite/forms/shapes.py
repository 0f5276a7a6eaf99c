"""TFLite forms of ops that move elements: shapes, slices, concatenation, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


@form("Split")
def _lower_split(w: Writer, call: LoweredCall, axis: LiteTensor, x: LiteTensor) -> list[LiteTensor]:
    results = [(static_shape(t), x.dtype) for t in call.outputs]
    return w.add_many("SPLIT", [as_int32(w, axis), x], results, numSplits=len(results))


@form("SplitV")
def _split_v(w: Writer, call: LoweredCall, x: LiteTensor, sizes: LiteTensor, axis: LiteTensor) -> list[LiteTensor]:
    results = [(static_shape(t), x.dtype) for t in call.outputs]
    return w.add_many("SPLIT_V", [x, as_int32(w, sizes), as_int32(w, axis)], results, numSplits=len(results))


@form("BatchToSpaceND", "Slice", "SpaceToBatchND", "Tile")
def _lower_by_integers(w: Writer, call: LoweredCall, x: LiteTensor, *integers: LiteTensor) -> LiteTensor:
    return w.add(call.code, [x, *(as_int32(w, t) for t in integers)], call.shape)


@form("StridedSlice")
def _strided_slice(
    w: Writer, call: LoweredCall, x: LiteTensor, begin: LiteTensor, end: LiteTensor, strides: LiteTensor
) -> LiteTensor:
    attrs = call.attrs
    if not x.rank:
        return w.reshape(x, call.shape)
    masks = [attrs[f"{n}_mask"] for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
    static = [t.value is not None for t in (begin, end, strides)]
    if all(static):
        full = _plain_slice(x, begin.value, end.value, strides.value, masks)
        if full is not None:
            return w.reshape(x, call.shape)
    if (masks[2] or masks[3]) and all(static):
        begin, end, strides, masks = _without_ellipsis(w, x, begin.value, end.value, strides.value, masks)
        if call.attrs["new_axis_mask"]:
            remaining = _sliced_shape(x, begin.value, end.value, strides.value, masks)
            x = _add_slice(w, x, begin, end, strides, masks, remaining)
            if sum(d is None for d in call.shape) <= 1:
                return w.reshape(x, call.shape)
            for i in _new_axes(attrs, call.shape):
                shape = [*x.shape[:i], 1, *x.shape[i:]]
                x = w.add("EXPAND_DIMS", [x, w.constant(i, int32)], shape)
            return x
    return _add_slice(w, x, begin, end, strides, masks, call.shape)


def _add_slice(w: Any, x: Any, begin: Any, end: Any, strides: Any, masks: Any, shape: Any) -> LiteTensor:
    """Adds a slice."""
    begin, end, strides = (as_int32(w, t) for t in (begin, end, strides))
    names = ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask")
    return w.add("STRIDED_SLICE", [x, begin, end, strides], shape, **dict(zip(names, masks, strict=True)))


def _plain_slice(x: LiteTensor, begin: Any, end: Any, strides: Any, masks: Sequence[int]) -> bool | None:
    """Returns True if a slice takes all of `x`, apart from axes of size one; else None."""
    if masks[2]:
        return None
    axis = 0
    for i in range(len(begin)):
        bit = 1 << i
        if masks[3] & bit:
            continue
        size = x.shape[axis]
        axis += 1
        if masks[4] & bit:
            if size != 1:
                return None
            continue
        low = masks[0] & bit or begin[i] == 0
        high = masks[1] & bit or (size is not None and end[i] >= size)
        if not (low and high and strides[i] == 1):
            return None
    return True


def _without_ellipsis(w: Writer, x: LiteTensor, begin: Any, end: Any, strides: Any, masks: Sequence[int]) -> Any:
    """Returns the bounds and masks of a slice with one entry for each dimension of `x`."""
    count = len(begin)
    consumed = sum(not (masks[2] | masks[3]) >> i & 1 for i in range(count))
    entries: list[tuple[int, ...]] = []
    for i in range(count):
        bit = 1 << i
        if masks[2] & bit:
            entries += [(0, 0, 1, 1, 1, 0)] * (x.rank - consumed)
        elif not masks[3] & bit:
            flags = [int(bool(masks[m] & bit)) for m in (0, 1, 4)]
            entries.append((int(begin[i]), int(end[i]), int(strides[i]), *flags))
    entries += [(0, 0, 1, 1, 1, 0)] * (x.rank - len(entries))
    columns = list(zip(*entries, strict=True))
    bits = [sum(f << i for i, f in enumerate(c)) for c in columns[3:]]
    return (*[w.constant(list(c), int32) for c in columns[:3]], [bits[0], bits[1], 0, 0, bits[2]])


def _sliced_shape(x: LiteTensor, begin: Any, end: Any, strides: Sequence[int], masks: Any) -> list[int | None]:
    """Returns the static shape of a slice with one entry for each dimension."""
    shape: list[int | None] = []
    for i, size in enumerate(x.shape):
        bit = 1 << i
        if masks[4] & bit:
            continue
        low = None if masks[0] & bit else int(begin[i])
        high = None if masks[1] & bit else int(end[i])
        step = int(strides[i])
        whole = (low is None or low == 0) and high is None and step == 1
        shape.append(size if whole else None if size is None else len(range(*slice(low, high, step).indices(size))))
    return shape


def _new_axes(attrs: Any, shape: Any) -> list[int]:
    """Returns the places of the new axes in the result."""
    if attrs["ellipsis_mask"]:
        raise NoForm("a slice with `...` and `tf.newaxis` of a tensor with several unknown sizes")
    places, at = [], 0
    for i in range(len(shape) + bin(attrs["shrink_axis_mask"]).count("1")):
        bit = 1 << i
        if attrs["new_axis_mask"] & bit:
            places.append(at)
        at += not (attrs["shrink_axis_mask"] & bit and not attrs["new_axis_mask"] & bit)
    return places


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


@form("ReverseSequence")
def _reverse_sequence(w: Writer, call: LoweredCall, x: LiteTensor, lengths: LiteTensor) -> LiteTensor:
    seq, batch = call.attrs["seq_dim"], call.attrs["batch_dim"]
    return w.add("REVERSE_SEQUENCE", [x, lengths], x.shape, seqDim=seq, batchDim=batch)


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
})  # fmt: skip
