"""How ops are computed for all slices of a batch at once: each by ops on tensors with one more dimension in front.

A rule takes the arguments of an op of one slice, with `Slices` for tensors, and gives the batch of what the op gives.
Families of ops share one, as they share the rule of their shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.ops import batching
from tapeflow.core.ops.batching import (
    Batch,
    NoRule,
    Rule,
    Slices,
    along_axis,
    behind,
    broadcasting,
    equal_shapes,
    leading_dimensions,
    static,
    vector,
)
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.batching.conv_batch_rules import CONVOLUTIONS
from tapeflow.graph.batching.image_batch_rules import IMAGES
from tapeflow.graph.batching.list_batch_rules import LISTS, stacked_list

# ---- ops -------------------------------------------------------------------------------------------------------------


def _clipped(batch: Batch, x: Slices, low: Slices, high: Slices) -> Any:
    return batch.run(batch.stack(x), batch.lift(low, x.rank), batch.lift(high, x.rank))


def _solved(batch: Batch, a: Slices, b: Slices, *attrs: Any) -> Any:
    rank = max(a.rank, b.rank)
    both = [batch.lift(Slices(batch.stack(x), x.slice, True), rank) for x in (a, b)]
    return batch.run(*both, *attrs)


def _rolled(batch: Batch, x: Slices, shift: Any, axis: Any) -> Any:
    return batch.run(x.value, static(shift), behind(static(axis)))


def _reshaped(batch: Batch, x: Slices, shape: Any) -> Any:
    dims = vector(shape)
    found = batch.outputs[0].shape.as_list() if batch.outputs[0].shape.rank == len(dims) else dims
    # -1 is ambiguous where there are no slices
    return batch.reshape(x.value, [d if f is None else f for d, f in zip(dims, found, strict=True)])


def _broadcast_to(batch: Batch, x: Slices, shape: Any) -> Any:
    dims = vector(shape)
    return batch.run(batch.lift(x, len(dims)), (batch.count, *dims))


def _expanded(batch: Batch, x: Slices, axis: Any) -> Any:
    return batch.run(x.value, behind(static(axis)))


def _squeezed(batch: Batch, x: Slices, axis: Any) -> Any:
    axes = [axis] if isinstance(axis, int) else list(axis or ())
    if not axes:
        if not x.slice.shape.is_fully_defined():
            raise NoRule
        axes = [i for i, d in enumerate(x.slice.shape) if d == 1]
    return batch.run(x.value, behind(axes)) if axes else x.value


def _transposed(batch: Batch, x: Slices, perm: Any) -> Any:
    perm = static(perm)
    order = range(x.rank)[::-1] if perm is None else [p % x.rank for p in perm]
    return batch.run(x.value, (0, *(p + 1 for p in order)))


def _in_front(first: Any) -> Rule:
    """Of an op with one more number for each dimension."""

    def rule(batch: Batch, x: Slices, per_dim: Any, *rest: Any) -> Any:
        if any(isinstance(r, Slices) and r.stacked for r in rest):
            raise NoRule
        others = [r.value if isinstance(r, Slices) else r for r in rest]
        return batch.run(x.value, (first, *vector(per_dim)), *others)

    return rule


def _sliced(batch: Batch, x: Slices, begin: Any, size: Any) -> Any:
    return batch.run(x.value, (0, *vector(begin)), (-1, *vector(size)))


class _Chosen:
    """What a strided slice takes that is at another place in each slice: an element along some axes, and all along the
    others.

    Attributes:
        order: the axes along which it takes an element, then the others.

    Raises:
        NoRule: it takes something else.
    """

    def __init__(
        self, rank: int, begin: Slices, strides: Any, begin_mask: int, end_mask: int, ellipsis: int, new: int, one: int
    ) -> None:
        self._begin, self._entries = begin, []
        axes, axis = [], 0
        for i, step in enumerate(strides):
            if ellipsis >> i & 1:
                axis += rank - (len(strides) - 1)
                continue
            if one >> i & 1:
                axes.append(axis)
                self._entries.append(i)
            elif step != 1 or not (begin_mask & end_mask) >> i & 1:
                raise NoRule
            axis += 1
        if new:
            raise NoRule
        self.order = (*axes, *(a for a in range(rank) if a not in axes))

    def places(self, dims: Sequence[Any]) -> Slices:
        """The places of the elements, of a tensor of this shape."""
        found = ops.GatherV2(self._begin.value, self._entries, 1)
        lengths = convert([dims[a] for a in self.order[: len(self._entries)]], found.dtype)
        return self._begin._replace(
            value=ops.SelectV2(ops.Less(found, convert(0, found.dtype)), ops.AddV2(found, lengths), found)
        )


def _strided(batch: Batch, x: Slices, begin: Any, end: Any, strides: Any, *masks: int) -> Any:
    if isinstance(begin, Slices) and begin.stacked:
        chosen = _Chosen(x.rank, begin, vector(strides), *masks)
        values = ops.Transpose(x.value, (0, *(a + 1 for a in chosen.order)) if x.stacked else chosen.order)
        places = chosen.places(batch.dims(x))
        return ops.GatherNd(values, _numbered(batch, places) if x.stacked else places.value)
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    return batch.run(x.value, (0, *begins), (0, *ends), (1, *steps), begin_mask | 1, end_mask | 1, *others)


def _strided_back(
    batch: Batch,
    shape: Any,
    begin: Any,
    end: Any,
    strides: Any,
    dy: Slices,
    *masks: int,
) -> Any:
    if isinstance(begin, Slices) and begin.stacked:
        dims = vector(shape)
        chosen = _Chosen(len(dims), begin, vector(strides), *masks)
        places = _numbered(batch, chosen.places(dims))
        made = ops.ScatterNd(places, batch.stack(dy), (batch.count, *[dims[a] for a in chosen.order]))
        return ops.Transpose(made, (0, *[chosen.order.index(a) + 1 for a in range(len(dims))]))
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    whole = (batch.count, *vector(shape))
    return batch.run(whole, (0, *begins), (0, *ends), (1, *steps), dy.value, begin_mask | 1, end_mask | 1, *others)


def _joined(batch: Batch, values: list[Slices], axis: Any) -> Any:
    return batch.run([batch.stack(v) for v in values], behind(static(axis)))


def _added(batch: Batch, values: list[Slices]) -> Any:
    return batch.run([stacked_list(batch, v) if v.slice.dtype is variant else batch.stack(v) for v in values])


def _unpacked(batch: Batch, x: Slices, num: Any, axis: int) -> Any:
    return batch.run(x.value, num, behind(axis))


def _split(batch: Batch, axis: Any, x: Slices, num: int) -> Any:
    return batch.run(behind(static(axis)), x.value, num)


def _split_sizes(batch: Batch, x: Slices, sizes: Any, axis: Any, num: int) -> Any:
    return batch.run(x.value, static(sizes), behind(static(axis)), num)


def _gathered(batch: Batch, x: Slices, indices: Slices, axis: Any, batch_dims: int) -> Any:
    axis = static(axis) % (x.rank or 1)
    batch_dims = batch_dims % (indices.rank + 1) if batch_dims < 0 else batch_dims
    if x.stacked and indices.stacked:
        return batch.run(x.value, indices.value, axis + 1, batch_dims + 1)
    if x.stacked:
        if batch_dims:
            return batch.run(x.value, batch.stack(indices), axis + 1, batch_dims + 1)
        return batch.run(x.value, indices.value, axis + 1, 0)
    if batch_dims:
        return batch.run(batch.stack(x), indices.value, axis + 1, batch_dims + 1)
    made = batch.run(x.value, indices.value, axis, 0)  # the slices are at the axis
    rank = x.rank + indices.rank
    return made if not axis else ops.Transpose(made, (axis, *range(axis), *range(axis + 1, rank)))


def _numbers(batch: Batch, dtype: Any, dims: Sequence[Any]) -> Any:
    """The slices' numbers, each repeated to a shape."""
    count = ops.Cast(convert(batch.count), dtype)
    numbers = ops.Range(convert(0, dtype), count, convert(1, dtype))
    return ops.BroadcastTo(batch.reshape(numbers, [1] * len(dims)), (batch.count, *dims))


def _numbered(batch: Batch, indices: Slices) -> Any:
    """Indices of elements, with the slices' numbers in front."""
    own = batch.stack(indices)
    return ops.ConcatV2([_numbers(batch, own.dtype, [*batch.dims(indices)[:-1], 1]), own], -1)


def _gathered_elements(batch: Batch, x: Slices, indices: Slices, policy: str) -> Any:
    if not x.stacked:
        return batch.run(x.value, indices.value, policy)
    return batch.run(x.value, _numbered(batch, indices), policy)


def _put(batch: Batch, x: Slices, indices: Slices, updates: Slices, policy: str) -> Any:
    return batch.run(batch.stack(x), _numbered(batch, indices), batch.stack(updates), policy)


def _scattered(batch: Batch, indices: Slices, updates: Slices, shape: Any, *attrs: Any) -> Any:
    return batch.run(_numbered(batch, indices), batch.stack(updates), (batch.count, *vector(shape)), *attrs)


def _by_segments(batch: Batch, x: Slices, ids: Slices, number: Any) -> Any:
    number = static(number)
    own = batch.stack(ids)
    starts = ops.Mul(_numbers(batch, own.dtype, batch.dims(ids)), convert(number, own.dtype))
    total = batch.count * number if isinstance(batch.count, int) else ops.Mul(batch.count, number)
    placed = ops.SelectV2(ops.Less(own, convert(0, own.dtype)), own, ops.AddV2(own, starts))
    # what is past the last segment of a slice is not in the next slice
    past = ops.GreaterEqual(own, convert(number, own.dtype))
    placed = ops.SelectV2(past, ops.Cast(convert(total), own.dtype), placed)
    made = batch.run(batch.stack(x), placed, total)
    return batch.reshape(made, [number, *batch.dims(x)[ids.rank :]])


def _one_hot(batch: Batch, x: Slices, depth: Any, on: Slices, off: Slices, axis: int) -> Any:
    if on.stacked or off.stacked:
        raise NoRule
    return batch.run(x.value, static(depth), on.value, off.value, behind(axis))


def _product(
    batch: Batch,
    a: Slices,
    b: Slices,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Any:
    if not b.stacked and not transpose_a:
        made = ops.MatMul(batch.flat(a), b.value, False, transpose_b)
        return batch.reshape(made, [batch.dims(a)[0], batch.dims(b)[0 if transpose_b else 1]])
    if a.stacked and b.stacked and a.slice.shape[0 if transpose_a else 1] == 1:  # the gradient of a vector's product
        rows, columns = batch.dims(a)[1 if transpose_a else 0], batch.dims(b)[0 if transpose_b else 1]
        return ops.Mul(batch.reshape(a.value, [rows, 1]), batch.reshape(b.value, [1, columns]))
    if a.slice.dtype.is_complex and (transpose_a or transpose_b):
        raise NoRule  # products of batches take the adjoint
    return ops.BatchMatMulV2(a.value, b.value, transpose_a, transpose_b)


def _products(batch: Batch, a: Slices, b: Slices, adj_x: bool = False, adj_y: bool = False) -> Any:
    rank = max(a.rank, b.rank)
    return ops.BatchMatMulV2(batch.lift(a, rank), batch.lift(b, rank), adj_x, adj_y)


def _einsum(batch: Batch, inputs: list[Slices], equation: str) -> Any:
    letter = next(c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in equation)
    left, arrow, right = equation.partition("->")
    if not arrow:
        raise NoRule
    parts = [letter + p if x.stacked else p for p, x in zip(left.split(","), inputs, strict=True)]
    return batch.run([x.value for x in inputs], f"{','.join(parts)}->{letter}{right.strip()}")


def _biased(batch: Batch, x: Slices, bias: Slices, data_format: str) -> Any:
    if data_format != "NHWC":
        raise NoRule
    if not bias.stacked:
        return batch.run(x.value, bias.value, data_format)
    return ops.AddV2(x.value, batch.lift(bias, x.rank))


def _bias_back(batch: Batch, dy: Slices, data_format: str) -> Any:
    if data_format != "NHWC":
        raise NoRule
    return ops.Sum(dy.value, tuple(range(1, dy.rank)), False)


def _half_of_squares(batch: Batch, x: Slices) -> Any:
    squares = ops.Sum(ops.Square(x.value), tuple(range(1, x.rank + 1)), False)
    return ops.Mul(squares, convert(0.5, x.slice.dtype))


def _in_segments(batch: Batch, x: Slices, ids: Slices) -> Any:
    if ids.stacked:
        raise NoRule  # slices may have more or fewer segments
    made = batch.run(ops.Transpose(x.value, (1, 0, *range(2, x.rank + 1))), ids.value)
    return ops.Transpose(made, (1, 0, *range(2, x.rank + 1)))


def _transformed(batch: Batch, x: Slices, lengths: Any, axes: Any, *attrs: Any) -> Any:
    return batch.run(x.value, static(lengths), behind(static(axes)), *attrs)


def _products_of(batch: Batch, a: Slices, b: Slices, *attrs: Any) -> Any:
    rank = max(a.rank, b.rank)
    return batch.run(batch.lift(a, rank), batch.lift(b, rank), *attrs)


def _checked_shape(batch: Batch, x: Slices, shape: Any) -> Any:
    wanted = TensorShape(shape)
    return x.value if wanted.rank is None else batch.run(x.value, TensorShape([None]).concatenate(wanted))


def _filled(batch: Batch, dims: Any, value: Slices) -> Any:
    wanted = vector(dims)
    return ops.BroadcastTo(batch.lift(value, len(wanted)), (batch.count, *wanted))


def _counted(batch: Batch, x: Slices, size: Any, weights: Slices, binary: bool) -> Any:
    if x.rank != 1:
        raise NoRule
    without = weights.slice.shape.num_elements() == 0 and not weights.stacked
    return batch.run(batch.stack(x), static(size), weights.value if without else batch.stack(weights), binary)


def _drawn(batch: Batch, shape: Any, *rest: Any) -> Any:
    others = [r.value if isinstance(r, Slices) else r for r in rest]
    if any(isinstance(r, Slices) and r.stacked for r in rest):
        raise NoRule
    return batch.run((batch.count, *vector(shape)), *others)


def _categories(batch: Batch, logits: Slices, count: Any, *attrs: Any) -> Any:
    return batch.unflat(batch.run(batch.flat(logits), static(count), *attrs), batch.outputs[0], logits)


_RULES: dict[str, Rule] = {
    "SelectV2": broadcasting, "ClipByValue": _clipped, "Betainc": broadcasting,
    "AdjustHue": leading_dimensions, "AdjustSaturation": leading_dimensions, "AdjustContrastv2": leading_dimensions,
    "Softmax": equal_shapes, "LogSoftmax": equal_shapes,
    "ArgMax": along_axis, "ArgMin": along_axis, "Cumsum": along_axis, "Cumprod": along_axis, "CumulativeLogsumexp": along_axis,
    "ReverseV2": along_axis,
    "Reshape": _reshaped, "BroadcastTo": _broadcast_to, "ExpandDims": _expanded, "Squeeze": _squeezed,
    "Transpose": _transposed, "ConjugateTranspose": _transposed,
    "Tile": _in_front(1), "Pad": _in_front((0, 0)), "PadV2": _in_front((0, 0)), "MirrorPad": _in_front((0, 0)),
    "MirrorPadGrad": _in_front((0, 0)),
    "Slice": _sliced, "StridedSlice": _strided, "StridedSliceGrad": _strided_back,
    "ConcatV2": _joined, "Pack": _joined, "AddN": _added, "Unpack": _unpacked, "Split": _split, "SplitV": _split_sizes,
    "GatherV2": _gathered, "GatherNd": _gathered_elements, "OneHot": _one_hot, "ScatterNd": _scattered,
    **dict.fromkeys([f"TensorScatter{what}" for what in ("Update", "Add", "Sub", "Max", "Min")], _put),
    **dict.fromkeys([f"UnsortedSegment{what}" for what in ("Sum", "Prod", "Max", "Min")], _by_segments),
    "MatMul": _product, "BatchMatMulV2": _products, "Einsum": _einsum,
    "BatchMatMulV3": _products_of, "TridiagonalSolve": _solved, "TridiagonalMatMul": equal_shapes,
    "BandedTriangularSolve": _solved,
    **dict.fromkeys([f"Segment{what}" for what in ("Sum", "Mean", "Prod", "Max", "Min")], _in_segments),
    **dict.fromkeys(("FFTND", "IFFTND", "RFFTND", "IRFFTND"), _transformed),
    "EnsureShape": _checked_shape, "Fill": _filled, "DenseBincount": _counted,
    "BiasAdd": _biased, "BiasAddGrad": _bias_back, "L2Loss": _half_of_squares,
    **CONVOLUTIONS, **IMAGES, **LISTS,
    "MatrixSolve": _solved, "MatrixTriangularSolve": _solved, "MatrixSetDiagV3": equal_shapes,
    "Cross": equal_shapes, "Roll": _rolled,
    **dict.fromkeys(
        ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixExponential", "Qr", "Svd",
         "MatrixSquareRoot", "MatrixLogarithm", "Lu", "SelfAdjointEigV2", "MatrixBandPart", "MatrixDiagV3",
         "MatrixDiagPartV3", "Bitcast", "IsotonicRegression", "TopKV2", "FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D",
         "IFFT3D", "RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D"), leading_dimensions),
    "RandomUniform": _drawn, "RandomStandardNormal": _drawn, "TruncatedNormal": _drawn, "RandomUniformInt": _drawn,
    "Multinomial": _categories,
}  # fmt: skip


def rule_of(op: Any) -> Rule | None:
    """Returns the batching rule of a registered op, if it has one."""
    return op.batching or _RULES.get(op.name) or batching.family_rule(op)
