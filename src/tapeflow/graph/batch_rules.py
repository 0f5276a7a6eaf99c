"""How ops are computed for all slices of a batch at once: each by ops on tensors with one more dimension in front.

A rule takes the arguments of an op of one slice, with `Slices` for tensors, and gives the batch of what the op gives.
Families of ops share one, as they share the rule of their shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import shape_rules
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import variant
from tapeflow.core.shape import TensorShape
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.graph.batch import Batch, NoRule, Rule, Slices, behind, known, run, vector
from tapeflow.graph.conv_batch_rules import CONVOLUTIONS
from tapeflow.graph.image_batch_rules import IMAGES
from tapeflow.graph.list_batch_rules import LISTS, stacked_list

# ---- families --------------------------------------------------------------------------------------------------------


def _of_equal_shapes(batch: Batch, out: Sequence[SymbolicTensor], op: Any, *args: Any) -> Any:
    """Ops that look at each element, or at the last dimensions, of tensors that agree in the others."""
    given = [
        batch.stack(a) if kind == "tensor"
        else [batch.stack(x) for x in a] if kind == "list"
        else known(a) if kind == "host"
        else a
        for kind, a in zip(op.kinds, args, strict=True)
    ]  # fmt: skip
    return op.run(tuple(given))


def _broadcast(batch: Batch, out: Sequence[SymbolicTensor], op: Any, *args: Any) -> Any:
    rank = max(a.rank for a in args if isinstance(a, Slices))
    return op.run(tuple([batch.lift(a, rank) if isinstance(a, Slices) else a for a in args]))


def _reduced(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, axis: Any, *attrs: Any) -> Any:
    axis = known(axis)
    return op.run((x.value, tuple(range(1, x.rank + 1)) if axis is None else behind(axis), *attrs))


def _along(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, axis: Any, *attrs: Any) -> Any:
    """Ops that go along one axis, by default the first, or some of them."""
    axis = known(axis)
    return op.run((x.value, behind(0 if axis is None else axis), *attrs))


_FAMILIES: dict[Any, Rule] = {
    shape_rules.same: _of_equal_shapes,
    shape_rules.broadcast: _broadcast,
    shape_rules.reduction: _reduced,
}

# ---- ops -------------------------------------------------------------------------------------------------------------


def _clipped(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, low: Slices, high: Slices) -> Any:
    return op.run((batch.stack(x), batch.lift(low, x.rank), batch.lift(high, x.rank)))


def _of_one(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, *rest: Any) -> Any:
    """Ops that take more dimensions in front of those that they look at, of their first input alone."""
    if not x.stacked or any(isinstance(r, Slices) and r.stacked for r in rest):
        raise NoRule
    kinds = op.kinds[1:]
    others = [known(r) if k == "host" else r.value if k == "tensor" else r for k, r in zip(kinds, rest, strict=True)]
    return op.run((x.value, *others))


def _solved(batch: Batch, out: Sequence[SymbolicTensor], op: Any, a: Slices, b: Slices, *attrs: Any) -> Any:
    rank = max(a.rank, b.rank)
    both = [batch.lift(Slices(batch.stack(x), x.slice, True), rank) for x in (a, b)]
    return op.run((*both, *attrs))


def _rolled(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, shift: Any, axis: Any) -> Any:
    return op.run((x.value, known(shift), behind(known(axis))))


def _reshaped(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, shape: Any) -> Any:
    dims = vector(shape)
    found = out[0].shape.as_list() if out[0].shape.rank == len(dims) else dims
    # -1 is ambiguous where there are no slices
    return batch.reshape(x.value, [d if f is None else f for d, f in zip(dims, found, strict=True)])


def _broadcast_to(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, shape: Any) -> Any:
    dims = vector(shape)
    return op.run((batch.lift(x, len(dims)), (batch.count, *dims)))


def _expanded(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, axis: Any) -> Any:
    return op.run((x.value, behind(known(axis))))


def _squeezed(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, axis: Any) -> Any:
    axes = [axis] if isinstance(axis, int) else list(axis or ())
    if not axes:
        if not x.slice.shape.is_fully_defined():
            raise NoRule
        axes = [i for i, d in enumerate(x.slice.shape) if d == 1]
    return op.run((x.value, behind(axes))) if axes else x.value


def _transposed(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, perm: Any) -> Any:
    perm = known(perm)
    order = range(x.rank)[::-1] if perm is None else [p % x.rank for p in perm]
    return op.run((x.value, (0, *(p + 1 for p in order))))


def _in_front(first: Any) -> Rule:
    """Of an op with one more number for each dimension."""

    def rule(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, per_dim: Any, *rest: Any) -> Any:
        if any(isinstance(r, Slices) and r.stacked for r in rest):
            raise NoRule
        others = [r.value if isinstance(r, Slices) else r for r in rest]
        return op.run((x.value, (first, *vector(per_dim)), *others))

    return rule


def _sliced(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, begin: Any, size: Any) -> Any:
    return op.run((x.value, (0, *vector(begin)), (-1, *vector(size))))


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
        found = run("GatherV2", self._begin.value, self._entries, 1)
        lengths = convert([dims[a] for a in self.order[: len(self._entries)]], found.dtype)
        return self._begin._replace(
            value=run("SelectV2", run("Less", found, convert(0, found.dtype)), run("AddV2", found, lengths), found)
        )


def _strided(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, begin: Any, end: Any, strides: Any, *masks: int
) -> Any:
    if isinstance(begin, Slices) and begin.stacked:
        chosen = _Chosen(x.rank, begin, vector(strides), *masks)
        values = run("Transpose", x.value, (0, *(a + 1 for a in chosen.order)) if x.stacked else chosen.order)
        places = chosen.places(batch.dims(x))
        return run("GatherNd", values, _numbered(batch, places) if x.stacked else places.value)
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    return op.run((x.value, (0, *begins), (0, *ends), (1, *steps), begin_mask | 1, end_mask | 1, *others))


def _strided_back(
    batch: Batch,
    out: Sequence[SymbolicTensor],
    op: Any,
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
        made = run("ScatterNd", places, batch.stack(dy), (batch.count, *[dims[a] for a in chosen.order]))
        return run("Transpose", made, (0, *[chosen.order.index(a) + 1 for a in range(len(dims))]))
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    whole = (batch.count, *vector(shape))
    return op.run((whole, (0, *begins), (0, *ends), (1, *steps), dy.value, begin_mask | 1, end_mask | 1, *others))


def _joined(batch: Batch, out: Sequence[SymbolicTensor], op: Any, values: list[Slices], axis: Any) -> Any:
    return op.run(([batch.stack(v) for v in values], behind(known(axis))))


def _added(batch: Batch, out: Sequence[SymbolicTensor], op: Any, values: list[Slices]) -> Any:
    return op.run(([stacked_list(batch, v) if v.slice.dtype is variant else batch.stack(v) for v in values],))


def _unpacked(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, num: Any, axis: int) -> Any:
    return op.run((x.value, num, behind(axis)))


def _split(batch: Batch, out: Sequence[SymbolicTensor], op: Any, axis: Any, x: Slices, num: int) -> Any:
    return op.run((behind(known(axis)), x.value, num))


def _split_sizes(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, sizes: Any, axis: Any, num: int
) -> Any:
    return op.run((x.value, known(sizes), behind(known(axis)), num))


def _gathered(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, indices: Slices, axis: Any, batch_dims: int
) -> Any:
    axis = known(axis) % (x.rank or 1)
    batch_dims = batch_dims % (indices.rank + 1) if batch_dims < 0 else batch_dims
    if x.stacked and indices.stacked:
        return op.run((x.value, indices.value, axis + 1, batch_dims + 1))
    if x.stacked:
        if batch_dims:
            return op.run((x.value, batch.stack(indices), axis + 1, batch_dims + 1))
        return op.run((x.value, indices.value, axis + 1, 0))
    if batch_dims:
        return op.run((batch.stack(x), indices.value, axis + 1, batch_dims + 1))
    made = op.run((x.value, indices.value, axis, 0))  # the slices are at the axis
    rank = x.rank + indices.rank
    return made if not axis else run("Transpose", made, (axis, *range(axis), *range(axis + 1, rank)))


def _numbers(batch: Batch, dtype: Any, dims: Sequence[Any]) -> Any:
    """The slices' numbers, each repeated to a shape."""
    count = run("Cast", convert(batch.count), dtype)
    numbers = run("Range", convert(0, dtype), count, convert(1, dtype))
    return run("BroadcastTo", batch.reshape(numbers, [1] * len(dims)), (batch.count, *dims))


def _numbered(batch: Batch, indices: Slices) -> Any:
    """Indices of elements, with the slices' numbers in front."""
    own = batch.stack(indices)
    return run("ConcatV2", [_numbers(batch, own.dtype, [*batch.dims(indices)[:-1], 1]), own], -1)


def _gathered_elements(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, indices: Slices, policy: str
) -> Any:
    if not x.stacked:
        return op.run((x.value, indices.value, policy))
    return op.run((x.value, _numbered(batch, indices), policy))


def _put(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, indices: Slices, updates: Slices, policy: str
) -> Any:
    return op.run((batch.stack(x), _numbered(batch, indices), batch.stack(updates), policy))


def _scattered(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, indices: Slices, updates: Slices, shape: Any, *attrs: Any
) -> Any:
    return op.run((_numbered(batch, indices), batch.stack(updates), (batch.count, *vector(shape)), *attrs))


def _by_segments(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, ids: Slices, number: Any) -> Any:
    number = known(number)
    own = batch.stack(ids)
    starts = run("Mul", _numbers(batch, own.dtype, batch.dims(ids)), convert(number, own.dtype))
    total = batch.count * number if isinstance(batch.count, int) else run("Mul", batch.count, number)
    placed = run("SelectV2", run("Less", own, convert(0, own.dtype)), own, run("AddV2", own, starts))
    # what is past the last segment of a slice is not in the next slice
    past = run("GreaterEqual", own, convert(number, own.dtype))
    placed = run("SelectV2", past, run("Cast", convert(total), own.dtype), placed)
    made = op.run((batch.stack(x), placed, total))
    return batch.reshape(made, [number, *batch.dims(x)[ids.rank :]])


def _one_hot(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, depth: Any, on: Slices, off: Slices, axis: int
) -> Any:
    if on.stacked or off.stacked:
        raise NoRule
    return op.run((x.value, known(depth), on.value, off.value, behind(axis)))


def _product(
    batch: Batch,
    out: Sequence[SymbolicTensor],
    op: Any,
    a: Slices,
    b: Slices,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Any:
    if not b.stacked and not transpose_a:
        made = run("MatMul", batch.flat(a), b.value, False, transpose_b)
        return batch.reshape(made, [batch.dims(a)[0], batch.dims(b)[0 if transpose_b else 1]])
    if a.stacked and b.stacked and a.slice.shape[0 if transpose_a else 1] == 1:  # the gradient of a vector's product
        rows, columns = batch.dims(a)[1 if transpose_a else 0], batch.dims(b)[0 if transpose_b else 1]
        return run("Mul", batch.reshape(a.value, [rows, 1]), batch.reshape(b.value, [1, columns]))
    if a.slice.dtype.is_complex and (transpose_a or transpose_b):
        raise NoRule  # products of batches take the adjoint
    return run("BatchMatMulV2", a.value, b.value, transpose_a, transpose_b)


def _products(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, a: Slices, b: Slices, adj_x: bool = False, adj_y: bool = False
) -> Any:
    rank = max(a.rank, b.rank)
    return run("BatchMatMulV2", batch.lift(a, rank), batch.lift(b, rank), adj_x, adj_y)


def _einsum(batch: Batch, out: Sequence[SymbolicTensor], op: Any, inputs: list[Slices], equation: str) -> Any:
    letter = next(c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in equation)
    left, arrow, right = equation.partition("->")
    if not arrow:
        raise NoRule
    parts = [letter + p if x.stacked else p for p, x in zip(left.split(","), inputs, strict=True)]
    return op.run(([x.value for x in inputs], f"{','.join(parts)}->{letter}{right.strip()}"))


def _biased(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, bias: Slices, data_format: str) -> Any:
    if data_format != "NHWC":
        raise NoRule
    if not bias.stacked:
        return op.run((x.value, bias.value, data_format))
    return run("AddV2", x.value, batch.lift(bias, x.rank))


def _bias_back(batch: Batch, out: Sequence[SymbolicTensor], op: Any, dy: Slices, data_format: str) -> Any:
    if data_format != "NHWC":
        raise NoRule
    return run("Sum", dy.value, tuple(range(1, dy.rank)), False)


def _half_of_squares(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices) -> Any:
    squares = run("Sum", run("Square", x.value), tuple(range(1, x.rank + 1)), False)
    return run("Mul", squares, convert(0.5, x.slice.dtype))


def _in_segments(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, ids: Slices) -> Any:
    if ids.stacked:
        raise NoRule  # slices may have more or fewer segments
    made = op.run((run("Transpose", x.value, (1, 0, *range(2, x.rank + 1))), ids.value))
    return run("Transpose", made, (1, 0, *range(2, x.rank + 1)))


def _transformed(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, lengths: Any, axes: Any, *attrs: Any
) -> Any:
    return op.run((x.value, known(lengths), behind(known(axes)), *attrs))


def _products_of(batch: Batch, out: Sequence[SymbolicTensor], op: Any, a: Slices, b: Slices, *attrs: Any) -> Any:
    rank = max(a.rank, b.rank)
    return op.run((batch.lift(a, rank), batch.lift(b, rank), *attrs))


def _checked_shape(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, shape: Any) -> Any:
    wanted = TensorShape(shape)
    return x.value if wanted.rank is None else op.run((x.value, TensorShape([None]).concatenate(wanted)))


def _filled(batch: Batch, out: Sequence[SymbolicTensor], op: Any, dims: Any, value: Slices) -> Any:
    wanted = vector(dims)
    return run("BroadcastTo", batch.lift(value, len(wanted)), (batch.count, *wanted))


def _counted(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, size: Any, weights: Slices, binary: bool
) -> Any:
    if x.rank != 1:
        raise NoRule
    without = weights.slice.shape.num_elements() == 0 and not weights.stacked
    return op.run((batch.stack(x), known(size), weights.value if without else batch.stack(weights), binary))


def _drawn(batch: Batch, out: Sequence[SymbolicTensor], op: Any, shape: Any, *rest: Any) -> Any:
    others = [r.value if isinstance(r, Slices) else r for r in rest]
    if any(isinstance(r, Slices) and r.stacked for r in rest):
        raise NoRule
    return op.run(((batch.count, *vector(shape)), *others))


def _categories(batch: Batch, out: Sequence[SymbolicTensor], op: Any, logits: Slices, count: Any, *attrs: Any) -> Any:
    return batch.unflat(op.run((batch.flat(logits), known(count), *attrs)), out[0], logits)


_RULES: dict[str, Rule] = {
    "SelectV2": _broadcast, "ClipByValue": _clipped, "Betainc": _broadcast,
    "AdjustHue": _of_one, "AdjustSaturation": _of_one, "AdjustContrastv2": _of_one,
    "Softmax": _of_equal_shapes, "LogSoftmax": _of_equal_shapes,
    "ArgMax": _along, "ArgMin": _along, "Cumsum": _along, "Cumprod": _along, "CumulativeLogsumexp": _along,
    "ReverseV2": _along,
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
    "BatchMatMulV3": _products_of, "TridiagonalSolve": _solved, "TridiagonalMatMul": _of_equal_shapes,
    "BandedTriangularSolve": _solved,
    **dict.fromkeys([f"Segment{what}" for what in ("Sum", "Mean", "Prod", "Max", "Min")], _in_segments),
    **dict.fromkeys(("FFTND", "IFFTND", "RFFTND", "IRFFTND"), _transformed),
    "EnsureShape": _checked_shape, "Fill": _filled, "DenseBincount": _counted,
    "BiasAdd": _biased, "BiasAddGrad": _bias_back, "L2Loss": _half_of_squares,
    **CONVOLUTIONS, **IMAGES, **LISTS,
    "MatrixSolve": _solved, "MatrixTriangularSolve": _solved, "MatrixSetDiagV3": _of_equal_shapes,
    "Cross": _of_equal_shapes, "Roll": _rolled,
    **dict.fromkeys(
        ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixExponential", "Qr", "Svd",
         "MatrixSquareRoot", "MatrixLogarithm", "Lu", "SelfAdjointEigV2", "MatrixBandPart", "MatrixDiagV3",
         "MatrixDiagPartV3", "Bitcast", "IsotonicRegression", "TopKV2", "FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D",
         "IFFT3D", "RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D"), _of_one),
    "RandomUniform": _drawn, "RandomStandardNormal": _drawn, "TruncatedNormal": _drawn, "RandomUniformInt": _drawn,
    "Multinomial": _categories,
}  # fmt: skip
# Those that belong to a family by their shapes alone: they look at more than single elements.
_WHOLE = frozenset({"RandomShuffle", "StatelessShuffle", "DrawBoundingBoxesV2"})


def rule_of(op: Any) -> Rule | None:
    """The rule of a registered op, if it has one."""
    return _RULES.get(op.name) or (None if op.name in _WHOLE else _FAMILIES.get(op.shape))
