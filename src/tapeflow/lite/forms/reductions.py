"""TFLite forms of reductions, normalizations along an axis, and searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.lite.forms.elementwise import binary, number, unary
from tapeflow.lite.forms.shapes import as_int32, numbers_of
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import FORMS, NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer


@form("All", "Any", "Max", "Mean", "Min", "Prod", "Sum")
def _lower_reduce(w: Writer, call: LoweredCall, x: LiteTensor, axis: LiteTensor) -> LiteTensor:
    code = call.code if call.code in ("MEAN", "SUM") else f"REDUCE_{call.code}"
    return _add_reduction(w, code, x, axis, call.attrs["keep_dims"], call.shape)


def _add_reduction(
    w: Writer, code: str, x: LiteTensor, axis: LiteTensor, keep: bool, shape: Sequence[int | None]
) -> LiteTensor:
    """Adds a reduction."""
    if axis.value is not None:
        axes = [i % x.rank for i in numbers_of(axis, "the axes")]
        if not axes:
            return x
        axis = w.constant(axes, int32)
    return w.add(code, [x, as_int32(w, axis)], shape, keepDims=bool(keep))


@form("Cumsum")
def _lower_cumsum(w: Writer, call: LoweredCall, x: LiteTensor, axis: LiteTensor) -> LiteTensor:
    exclusive, reverse = call.attrs["exclusive"], call.attrs["reverse"]
    return w.add("CUMSUM", [x, as_int32(w, axis)], x.shape, exclusive=exclusive, reverse=reverse)


@form("ArgMax", "ArgMin")
def _lower_arg(w: Writer, call: LoweredCall, x: LiteTensor, axis: LiteTensor) -> LiteTensor:
    if x.dtype is bool_:
        x = w.cast(x, int32)
    return w.add(call.code, [x, as_int32(w, axis)], call.shape, call.dtype, outputType=w.file.type_numbers(call.dtype))


@form("TopKV2", "TopK")
def _top_k(w: Writer, call: LoweredCall, x: LiteTensor, k: LiteTensor) -> list[LiteTensor]:
    shape = [*x.shape[:-1], call.shape[-1]]
    values, places = w.add_many("TOPK_V2", [x, as_int32(w, k)], [(shape, x.dtype), (shape, int32)])
    return [values, w.cast(places, call.attrs.get("index_type", int32))]


@form("LRN")
def _lower_lrn(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    a = call.attrs
    options = {"radius": a["depth_radius"], "bias": a["bias"], "alpha": a["alpha"], "beta": a["beta"]}
    return w.add("LOCAL_RESPONSE_NORMALIZATION", [x], x.shape, **options)


@form("FusedBatchNormV3", "FusedBatchNorm", "FusedBatchNormV2")
def _batch_norm(
    w: Writer,
    call: LoweredCall,
    x: LiteTensor,
    scale: LiteTensor,
    offset: LiteTensor,
    mean: LiteTensor,
    variance: LiteTensor,
) -> list[LiteTensor]:
    if call.attrs["is_training"] or call.attrs["data_format"] not in ("NHWC", "NDHWC"):
        raise NoForm("only the inference of the data formats NHWC and NDHWC has a form")
    values = [t.value for t in (scale, offset, mean, variance)]
    if any(v is None for v in values):
        factor = binary(w, "MUL", scale, unary(w, "RSQRT", binary(w, "ADD", variance, call.attrs["epsilon"])))
        shift = binary(w, "SUB", offset, binary(w, "MUL", mean, factor))
    else:
        factor_values = values[0] / (values[3] + call.attrs["epsilon"]) ** 0.5
        factor = w.constant(factor_values.astype(values[0].dtype))
        shift = w.constant((values[1] - values[2] * factor_values).astype(values[0].dtype))
    result = w.add("ADD", [w.add("MUL", [x, factor], x.shape), shift], x.shape)
    return [result, mean, variance, mean, variance, variance]


@form("SegmentSum", "SegmentProd", "SegmentMean")
def _lower_segments(w: Writer, call: LoweredCall, x: LiteTensor, ids: LiteTensor) -> LiteTensor:
    ids = as_int32(w, ids)
    last = w.add("REDUCE_MAX", [ids, w.constant([0], int32)], [], keepDims=False)
    inputs = [ids, binary(w, "ADD", last, 1)]
    if call.operation.type == "SegmentProd":
        return w.add("UNSORTED_SEGMENT_PROD", [x, *inputs], call.shape)
    sums = w.add("UNSORTED_SEGMENT_SUM", [x, *inputs], call.shape)
    if call.operation.type == "SegmentSum":
        return sums
    ones = binary(w, "ADD", unary(w, "ZEROS_LIKE", x), 1)
    counts = w.add("UNSORTED_SEGMENT_SUM", [ones, *inputs], call.shape)
    return binary(w, "DIV", sums, binary(w, "MAXIMUM", counts, 1))


@form("Unique", "UniqueV2")
def _lower_unique(w: Writer, call: LoweredCall, x: LiteTensor, *axis: LiteTensor) -> list[LiteTensor]:
    dtype = call.attrs["out_idx"]
    number_of = w.file.type_numbers(dtype)
    return w.add_many("UNIQUE", [x], [([None], x.dtype), (x.shape, dtype)], idxOutType=number_of)


@form("InTopKV2")
def _in_top_k(w: Writer, call: LoweredCall, predictions: LiteTensor, targets: LiteTensor, k: LiteTensor) -> LiteTensor:
    mine = w.add("GATHER", [predictions, targets], call.shape, axis=1, batchDims=1)
    column = w.add("EXPAND_DIMS", [mine, w.constant(1, int32)], [*call.shape, 1])
    larger = w.cast(w.add("GREATER", [predictions, column], predictions.shape, bool_), int32)
    count = w.add("SUM", [larger, w.constant([1], int32)], call.shape, keepDims=False)
    return w.add("LESS", [count, number(w, numbers_of(k, "k")[0], count)], call.shape, bool_)


@form("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(w: Writer, call: LoweredCall, logits: LiteTensor, labels: LiteTensor) -> list[LiteTensor]:
    product = binary(w, "MUL", labels, w.add("LOG_SOFTMAX", [logits], logits.shape))
    loss = unary(w, "NEG", w.add("SUM", [product, w.constant([1], int32)], call.shape, keepDims=False))
    return [loss, binary(w, "SUB", w.add("SOFTMAX", [logits], logits.shape, beta=1.0), labels)]


@form("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(w: Writer, call: LoweredCall, logits: LiteTensor, labels: LiteTensor) -> list[LiteTensor]:
    if logits.shape[1] is None:
        raise NoForm("the number of classes must be static")
    inputs = [labels, w.constant(logits.shape[1], int32), w.constant(1.0), w.constant(0.0)]
    one_hot = w.add("ONE_HOT", inputs, logits.shape, logits.dtype, axis=-1)
    return _cross_entropy(w, call, logits, one_hot)


@form("DenseBincount")
def _lower_bincount(w: Writer, call: LoweredCall, x: LiteTensor, size: LiteTensor, weights: LiteTensor) -> LiteTensor:
    count, dtype = call.shape[-1], weights.dtype
    numbers = [as_int32(w, size), w.constant(1, dtype), w.constant(0, dtype)]
    hits = w.add("ONE_HOT", [as_int32(w, x), *numbers], [*x.shape, count], dtype, axis=-1)
    if 0 not in weights.shape:
        hits = w.add("MUL", [hits, w.reshape(weights, [*weights.shape, 1])], hits.shape)
    code = "REDUCE_MAX" if call.attrs["binary_output"] else "SUM"
    return w.add(code, [hits, w.constant([x.rank - 1], int32)], [*x.shape[:-1], count], keepDims=False)


FORMS.update({
    "EuclideanNorm": lambda w, call, x, axis: unary(
        w, "SQRT", _add_reduction(w, "SUM", unary(w, "SQUARE", x), axis, call.attrs["keep_dims"], call.shape)
    ),
    "Bucketize": lambda w, call, x: w.add("BUCKETIZE", [x], x.shape, int32, boundaries=list(call.attrs["boundaries"])),
    "L2Loss": lambda w, call, x: binary(
        w, "MUL", _add_reduction(w, "SUM", unary(w, "SQUARE", x), w.constant([*range(x.rank)], int32), False, []), 0.5
    ),
    "Softmax": lambda w, call, x: w.add("SOFTMAX", [x], x.shape, beta=1.0),
    **dict.fromkeys((f"UnsortedSegment{name}" for name in ("Sum", "Max", "Min", "Prod")),
                    lambda w, call, x, *counts: w.add(call.code, [x, *(as_int32(w, t) for t in counts)], call.shape)),
})  # fmt: skip
