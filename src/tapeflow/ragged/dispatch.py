"""What ops give for ragged tensors.

An op that works element by element is applied to the flat values, after broadcasting where the rows differ. Others
have a function of their own here, by the op's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.ragged import arranging, broadcasting, reducing
from tapeflow.ragged.row_partition import tensor_of
from tapeflow.ragged.tensor import RaggedTensor

# Ops whose first argument is the only tensor, and which look at each element by itself.
UNARY = frozenset(
    [
        "Abs",
        "Acos",
        "Acosh",
        "Angle",
        "AsString",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "BesselI0",
        "BesselI0e",
        "BesselI1",
        "BesselI1e",
        "BesselJ0",
        "BesselJ1",
        "BesselK0",
        "BesselK0e",
        "BesselK1",
        "BesselK1e",
        "BesselY0",
        "BesselY1",
        "Bitcast",
        "Cast",
        "Ceil",
        "CheckNumerics",
        "ComplexAbs",
        "Conj",
        "Cos",
        "Cosh",
        "Dawsn",
        "DecodeBase64",
        "DecodeCompressed",
        "DecodePaddedRaw",
        "DecodeRaw",
        "Digamma",
        "Elu",
        "EncodeBase64",
        "Erf",
        "Erfc",
        "Erfinv",
        "Exp",
        "Expint",
        "Expm1",
        "Floor",
        "FresnelCos",
        "FresnelSin",
        "Identity",
        "Imag",
        "Inv",
        "Invert",
        "IsFinite",
        "IsInf",
        "IsNan",
        "LeakyRelu",
        "Lgamma",
        "Log",
        "Log1p",
        "LogicalNot",
        "Ndtri",
        "Neg",
        "OnesLike",
        "PopulationCount",
        "Real",
        "Reciprocal",
        "RegexFullMatch",
        "RegexReplace",
        "Relu",
        "Relu6",
        "Rint",
        "Round",
        "Rsqrt",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Spence",
        "Sqrt",
        "Square",
        "StaticRegexFullMatch",
        "StaticRegexReplace",
        "StopGradient",
        "StringLength",
        "StringLower",
        "StringStrip",
        "StringToHashBucket",
        "StringToHashBucketFast",
        "StringToHashBucketStrong",
        "StringToNumber",
        "StringUpper",
        "Tan",
        "Tanh",
        "UnicodeScript",
        "UnicodeTranscode",
        "ZerosLike",
    ]
)

# Ops of two or three tensors which broadcast, and look at each element by itself.
BROADCAST = frozenset(
    [
        "Add",
        "AddV2",
        "ApproximateEqual",
        "Atan2",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "ClipByValue",
        "Complex",
        "Div",
        "DivNoNan",
        "Equal",
        "FloorDiv",
        "FloorMod",
        "Greater",
        "GreaterEqual",
        "Igamma",
        "Igammac",
        "LeftShift",
        "Less",
        "LessEqual",
        "LogicalAnd",
        "LogicalOr",
        "Maximum",
        "Minimum",
        "Mod",
        "Mul",
        "MulNoNan",
        "NextAfter",
        "NotEqual",
        "Polygamma",
        "Pow",
        "RealDiv",
        "RightShift",
        "SelectV2",
        "SquaredDifference",
        "Sub",
        "Substr",
        "TruncateDiv",
        "TruncateMod",
        "Xdivy",
        "Xlog1py",
        "Xlogy",
        "Zeta",
    ]
)


def dispatch(function: Any, args: tuple[Any, ...]) -> Any:
    """What an op's function gives for arguments with ragged tensors, or NotImplemented."""
    name = function.op.name
    if name in UNARY and isinstance(args[0], RaggedTensor):
        return args[0].with_flat_values(function(args[0].flat_values, *args[1:]))
    if name in BROADCAST:
        kinds = function.op.kinds
        tensors = [a for a, kind in zip(args, kinds, strict=True) if kind == "tensor"]
        others = list(args[len(tensors) :])
        if name == "RealDiv":  # the operator's: integers become floats
            from tapeflow.math import truediv as function
        return broadcasting.apply(lambda *flat: function(*flat, *others), tensors)
    handler = _HANDLERS.get(name)
    return NotImplemented if handler is None else handler(function, *args)


# ---- ops with functions of their own ---------------------------------------------------------------------------------


def _concat(function: Any, values: Sequence[Any], axis: Any) -> Any:
    return arranging.concat(values, int(axis))


def _stack(function: Any, values: Sequence[Any], axis: Any) -> Any:
    return arranging.stack(values, int(axis))


def _sum_of_all(function: Any, inputs: Sequence[Any]) -> Any:
    total = inputs[0]
    for value in inputs[1:]:
        total = total + value
    return total


def _size(function: Any, x: RaggedTensor, out_type: Any = int32) -> Tensor:
    return function(x.flat_values, out_type)


def _shape(function: Any, x: RaggedTensor, out_type: Any = int32) -> Any:
    from tapeflow.ragged.dynamic_shape import DynamicRaggedShape

    return DynamicRaggedShape.from_tensor(x, out_type)


def _rank(function: Any, x: RaggedTensor) -> Tensor:
    return tensor_of(len(x.shape), int32)


def _expand_dims(function: Any, x: RaggedTensor, axis: Any) -> Any:
    return arranging.expand_dims(x, int(axis))


def _gather(function: Any, params: Any, indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    return arranging.gather(params, indices, int(axis), batch_dims)


def _reverse(function: Any, x: RaggedTensor, axis: Any) -> Any:
    axes = {int(a) % len(x.shape) for a in np.ravel(axis)}
    return x[tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(len(x.shape)))]


def _tile(function: Any, x: RaggedTensor, multiples: Any) -> Any:
    counts = host_static(multiples) if isinstance(multiples, Tensor) else multiples
    if isinstance(counts, Tensor) or None in (counts := np.ravel(counts).tolist()):
        raise ValueError("tile of a ragged tensor needs multiples that are known when a function is traced.")
    for axis, count in enumerate(counts):
        x = arranging.concat([x] * count, axis) if count != 1 else x
    return x


def _gather_nd(function: Any, params: Any, indices: Any, bad_indices_policy: str = "") -> Any:
    return arranging.gather_nd(params, indices) if isinstance(params, RaggedTensor) else NotImplemented


def _squeeze(function: Any, x: RaggedTensor, axis: Any = ()) -> Any:
    for a in sorted({int(a) % len(x.shape) for a in np.ravel(axis)}, reverse=True):
        x = arranging.squeeze(x, a)
    return x


def _reshape(function: Any, x: RaggedTensor, shape: Any) -> Any:
    return function(x.flat_values, shape) if list(np.ravel(shape)) == [-1] else NotImplemented


def _where(function: Any, x: RaggedTensor) -> Any:
    from tapeflow import boolean_mask

    places = x.to_sparse()
    return boolean_mask(places.indices, cast(places.values, bool_))


def _string_join(function: Any, inputs: Sequence[Any], separator: str = "") -> Any:
    return broadcasting.apply(lambda *flat: function(list(flat), separator), inputs)


def _reduce_join(function: Any, x: RaggedTensor, axis: Any, keepdims: bool = False, separator: str = "") -> Any:
    """Joins the strings of each row."""
    if len(np.ravel(axis)) > 1:
        for a in np.ravel(axis):
            x = function(x, int(a), keepdims, separator)
        return x
    a = int(np.ravel(axis)[0]) % len(x.shape)
    if a == 0:
        return NotImplemented
    if a > 1:
        inner = x.values
        reduced = _reduce_join if isinstance(inner, RaggedTensor) else lambda f, *args: f(*args)
        return x.with_values(reduced(function, inner, a - 1, keepdims, separator))
    from tapeflow.strings import unsorted_segment_join

    joined = unsorted_segment_join(x.values, x.value_rowids(), x.nrows(), separator)
    return arranging.expand_dims(joined, 1) if keepdims else joined


def _one_hot(function: Any, indices: RaggedTensor, depth: Any, on: Any, off: Any, axis: int = -1) -> Any:
    if axis != -1 and axis != len(indices.shape):
        raise invalid(f"one_hot of a RaggedTensor takes axis=-1, not {axis}")
    return indices.with_flat_values(function(indices.flat_values, depth, on, off, -1))


def _softmax(function: Any, logits: RaggedTensor) -> Any:
    from tapeflow import exp

    powers = exp(logits - reducing.reduce("Max", logits, -1, True))
    return powers / reducing.reduce("Sum", powers, -1, True)


def _reduction(function: Any, x: RaggedTensor, axis: Any = None, keepdims: bool = False) -> Any:
    return reducing.reduce(function.op.name, x, axis, keepdims)


def _unsorted_segments(function: Any, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    while isinstance(segment_ids, RaggedTensor):
        data, segment_ids = data.values, segment_ids.values
    return reducing.segments(function, data, convert(segment_ids), num_segments)


def _cumsum(function: Any, x: RaggedTensor, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Sums along the padded rows; what was padded is left out again."""
    padded = function(x.to_tensor(), axis, exclusive, reverse)
    return RaggedTensor.from_tensor(padded, lengths=list(x.nested_row_lengths()), row_splits_dtype=x.row_splits.dtype)


def _partition(function: Any, data: Any, partitions: Any, num_partitions: int) -> Any:
    from tapeflow.ragged.functions import stack_dynamic_partitions

    together = stack_dynamic_partitions(data, partitions, num_partitions)
    return [together[i] for i in range(num_partitions)]


_HANDLERS: dict[str, Callable[..., Any]] = {
    "AddN": _sum_of_all,
    "All": _reduction,
    "Any": _reduction,
    "ConcatV2": _concat,
    "Cumsum": _cumsum,
    "DynamicPartition": _partition,
    "ExpandDims": _expand_dims,
    "GatherNd": _gather_nd,
    "GatherV2": _gather,
    "Max": _reduction,
    "Mean": _reduction,
    "Min": _reduction,
    "OneHot": _one_hot,
    "Pack": _stack,
    "Prod": _reduction,
    "Rank": _rank,
    "ReduceJoin": _reduce_join,
    "Reshape": _reshape,
    "ReverseV2": _reverse,
    "Shape": _shape,
    "Size": _size,
    "Softmax": _softmax,
    "Squeeze": _squeeze,
    "StringJoin": _string_join,
    "Sum": _reduction,
    "Tile": _tile,
    "UnsortedSegmentMax": _unsorted_segments,
    "UnsortedSegmentMin": _unsorted_segments,
    "UnsortedSegmentProd": _unsorted_segments,
    "UnsortedSegmentSum": _unsorted_segments,
    "Where": _where,
}
