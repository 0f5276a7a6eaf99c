"""How ops are computed for all slices of a batch at once: each by ops on tensors with one more dimension in front.

A rule takes the arguments of an op of one slice, with `Slices` for tensors, and gives the batch of what the op gives.
Families of ops share one, as they share the rule of their shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core import shape_rules
from tapeflow.core.context import registry
from tapeflow.core.convert import convert
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import EagerTensor
from tapeflow.graph.static import numbers, partial_value, value_of


class NoRule(Exception):
    """An op can't be computed in this way with these arguments."""


class Slices(NamedTuple):
    """What a tensor of a function of one slice is for all slices.

    Attributes:
        value: the batch, or what is the same for all slices.
        slice: the tensor of the function.
        stacked: whether it is a batch.
    """

    value: Any
    slice: SymbolicTensor
    stacked: bool

    @property
    def rank(self) -> int:
        """The rank of a slice.

        Raises:
            NoRule: it is not known.
        """
        rank = self.slice.shape.rank
        if rank is None:
            raise NoRule
        return rank


def run(name: str, *args: Any) -> Any:
    """Calls a registered op."""
    return registry[name].function(*args)


class Batch:
    """A batch of slices.

    Attributes:
        count: how many slices there are: an int, or a scalar tensor where that is not known.
    """

    def __init__(self, count: Any) -> None:
        known = value_of(count) if isinstance(count, SymbolicTensor) else count.value
        self.count = count if known is None else int(known)

    def dims(self, x: Slices) -> list[Any]:
        """The dimensions of a slice: ints, and scalar tensors for those that are not known."""
        if x.slice.shape.is_fully_defined():
            return x.slice.shape.as_list()
        if x.rank and isinstance(x.value, EagerTensor):
            return list(x.value.value.shape)[x.stacked :]
        whole = run("Shape", x.value)
        return [whole[i + x.stacked] if d is None else d for i, d in enumerate(x.slice.shape)]

    def stack(self, x: Slices) -> Any:
        """A batch, also of what is the same for all slices."""
        return x.value if x.stacked else run("BroadcastTo", x.value, (self.count, *self.dims(x)))

    def lift(self, x: Slices, rank: int) -> Any:
        """The tensor with slices of a rank at least that of `x`, with which it broadcasts as `x` would."""
        made = x.value
        for _ in range(rank - x.rank if x.stacked else 0):
            made = run("ExpandDims", made, 1)
        return made

    def reshape(self, value: Any, dims: Sequence[Any]) -> Any:
        """A batch of slices of this shape."""
        return run("Reshape", value, (self.count, *dims))

    def flat(self, x: Slices) -> Any:
        """The slices, joined along their own first dimension."""
        first, *rest = self.dims(x)
        if isinstance(first, int) and isinstance(self.count, int):
            first *= self.count
        elif all(isinstance(d, int) and d for d in rest):
            first = -1  # which would be ambiguous if there were no elements in a row
        else:
            first = run("Mul", first, self.count) if isinstance(self.count, int) else run("Mul", self.count, first)
        return run("Reshape", self.stack(x), (first, *rest))

    def unflat(self, value: Any, slice: SymbolicTensor, like: Slices) -> Any:
        """Slices of what `flat` joined: of the shape of `slice`, as long as those of `like`."""
        rest = slice.shape.as_list()[1:]
        if None in rest:
            whole = run("Shape", value)
            rest = [whole[i] if d is None else d for i, d in enumerate(rest, 1)]
        return self.reshape(value, [self.dims(like)[0], *rest])


Rule = Callable[..., Any]


# ---- arguments that are numbers --------------------------------------------------------------------------------------


def known(arg: Any) -> Any:
    """A host argument whose value must be known.

    Raises:
        NoRule: it is not, or each slice has its own.
    """
    if not isinstance(arg, Slices):
        return arg
    value = None if arg.stacked else value_of(arg.slice)
    if value is None and not arg.stacked and isinstance(arg.value, EagerTensor):
        value = arg.value.value
    if value is None:
        raise NoRule
    return numbers(value)


def vector(arg: Any) -> list[Any]:
    """The elements of a host argument that is a vector: ints, and scalar tensors for those that are not known."""
    if not isinstance(arg, Slices):
        return [arg] if isinstance(arg, int) else list(arg)
    if arg.stacked:
        raise NoRule
    if isinstance(arg.value, EagerTensor):
        return list(numbers(arg.value.value))
    elements = partial_value(arg.slice)
    if elements is None:
        raise NoRule
    return [arg.value[i] if e is None else e for i, e in enumerate(elements)]


def behind(axis: Any) -> Any:
    """An axis of a slice as one of the batch; those counted from the end stay."""
    if isinstance(axis, (tuple, list)):
        return tuple([behind(a) for a in axis])
    return axis if axis < 0 else axis + 1


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


def _of_images(batch: Batch, out: Sequence[SymbolicTensor], op: Any, *args: Any) -> Any:
    """Ops of batches themselves: all slices' batches are joined."""
    tensors = [a for a in args if isinstance(a, Slices)]
    made = op.run(tuple([batch.flat(a) if isinstance(a, Slices) else a for a in args]))
    results = list(made) if isinstance(made, (list, tuple)) else [made]
    return [batch.unflat(r, t, tensors[0]) for r, t in zip(results, out, strict=True)]


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


def _strided(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, begin: Any, end: Any, strides: Any, *masks: int
) -> Any:
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
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    whole = (batch.count, *vector(shape))
    return op.run((whole, (0, *begins), (0, *ends), (1, *steps), dy.value, begin_mask | 1, end_mask | 1, *others))


def _joined(batch: Batch, out: Sequence[SymbolicTensor], op: Any, values: list[Slices], axis: Any) -> Any:
    return op.run(([batch.stack(v) for v in values], behind(known(axis))))


def _added(batch: Batch, out: Sequence[SymbolicTensor], op: Any, values: list[Slices]) -> Any:
    return op.run(([batch.stack(v) for v in values],))


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


def _convolved(batch: Batch, out: Sequence[SymbolicTensor], op: Any, x: Slices, filters: Slices, *attrs: Any) -> Any:
    if filters.stacked:
        raise NoRule
    return batch.unflat(op.run((batch.flat(x), filters.value, *attrs)), out[0], x)


def _convolved_back(
    batch: Batch, out: Sequence[SymbolicTensor], op: Any, sizes: Any, filters: Slices, dy: Slices, *attrs: Any
) -> Any:
    first, *rest = known(sizes)
    if filters.stacked or not isinstance(batch.count, int):
        raise NoRule
    made = op.run(((batch.count * first, *rest), filters.value, batch.flat(dy), *attrs))
    return batch.reshape(made, [first, *rest])


def _pooled_back(batch: Batch, out: Sequence[SymbolicTensor], op: Any, shape: Any, dy: Slices, *attrs: Any) -> Any:
    first, *rest = known(shape)
    if not isinstance(batch.count, int):
        raise NoRule
    return batch.reshape(op.run(((batch.count * first, *rest), batch.flat(dy), *attrs)), [first, *rest])


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
    "Slice": _sliced, "StridedSlice": _strided, "StridedSliceGrad": _strided_back,
    "ConcatV2": _joined, "Pack": _joined, "AddN": _added, "Unpack": _unpacked, "Split": _split, "SplitV": _split_sizes,
    "GatherV2": _gathered, "GatherNd": _gathered_elements, "OneHot": _one_hot, "ScatterNd": _scattered,
    **dict.fromkeys([f"TensorScatter{what}" for what in ("Update", "Add", "Sub", "Max", "Min")], _put),
    **dict.fromkeys([f"UnsortedSegment{what}" for what in ("Sum", "Prod", "Max", "Min")], _by_segments),
    "MatMul": _product, "BatchMatMulV2": _products, "Einsum": _einsum,
    "BiasAdd": _biased, "BiasAddGrad": _bias_back, "L2Loss": _half_of_squares,
    "Conv2D": _convolved, "DepthwiseConv2dNative": _convolved, "Conv2DBackpropInput": _convolved_back,
    "MaxPool": _of_images, "AvgPool": _of_images, "MaxPoolGrad": _of_images, "AvgPoolGrad": _pooled_back,
    "SoftmaxCrossEntropyWithLogits": _of_images, "SparseSoftmaxCrossEntropyWithLogits": _of_images,
    "MatrixSolve": _solved, "MatrixTriangularSolve": _solved, "MatrixSetDiagV3": _of_equal_shapes,
    "Cross": _of_equal_shapes, "Roll": _rolled,
    **dict.fromkeys(
        ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixExponential", "Qr", "Svd",
         "MatrixSquareRoot", "MatrixLogarithm", "SelfAdjointEigV2", "MatrixBandPart", "MatrixDiagV3",
         "MatrixDiagPartV3", "TopKV2", "FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D", "RFFT", "RFFT2D", "RFFT3D",
         "IRFFT", "IRFFT2D", "IRFFT3D"), _of_one),
    "RandomUniform": _drawn, "RandomStandardNormal": _drawn, "TruncatedNormal": _drawn, "RandomUniformInt": _drawn,
    "Multinomial": _categories,
}  # fmt: skip
# Those that belong to a family by their shapes alone: they look at more than single elements.
_WHOLE = frozenset({"LRN", "RandomShuffle", "StatelessShuffle", "DrawBoundingBoxesV2"})


def rule_of(op: Any) -> Rule | None:
    """The rule of a registered op, if it has one."""
    return _RULES.get(op.name) or (None if op.name in _WHOLE else _FAMILIES.get(op.shape))
