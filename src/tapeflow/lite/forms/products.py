"""TFLite forms of matrix products and of `einsum`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import int32
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer


@form("MatMul", "BatchMatMulV2", "BatchMatMul", "BatchMatMulV3")
def _mat_mul(w: Writer, call: LoweredCall, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    attrs = call.attrs
    flags = [attrs.get(name) for name in ("transpose_a", "transpose_b", "adj_x", "adj_y")]
    y = product(w, x, y, bool(flags[0] or flags[2]), bool(flags[1] or flags[3]), call.shape)
    return w.cast(y, call.dtype)


def product(
    w: Writer, x: LiteTensor, y: LiteTensor, adj_x: bool, adj_y: bool, shape: Sequence[int | None]
) -> LiteTensor:
    """Adds a product of matrices, or of batches of them. Constant weights are stored in rows of their outputs."""
    single = y.rank == 2 or all(d == 1 for d in y.shape[:-2])
    if y.value is not None and single and x.rank >= y.rank and y.dtype.is_floating:
        if adj_x:
            x = w.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])
        weights = w.reshape(y, y.shape[-2:])
        weights = weights if adj_y else w.transpose(weights, [1, 0])
        bias = w.constant([0.0] * weights.shape[0], x.dtype)
        return w.add("FULLY_CONNECTED", [x, weights, bias], shape, keepNumDims=x.rank > 2)
    return w.add("BATCH_MATMUL", [x, y], shape, adjX=adj_x, adjY=adj_y)


@form("Einsum")
def _lower_einsum(w: Writer, call: LoweredCall, inputs: list[LiteTensor]) -> LiteTensor:
    equation = call.attrs["equation"]
    equation = equation.decode() if isinstance(equation, bytes) else equation
    operands, _, result = equation.replace(" ", "").partition("->")
    labels = operands.split(",")
    names = _without_ellipsis(labels, [t.rank for t in inputs])
    if any(len(set(own)) < len(own) for own in names):
        raise NoForm("an einsum with a repeated label of one operand has no form")
    results = _result_labels(result, names)
    x, of_x = inputs[0], names[0]
    for i, (y, of_y) in enumerate(zip(inputs[1:], names[1:], strict=True), 2):
        later = {n for own in names[i:] for n in own} | set(results)
        remaining = results if i == len(inputs) else [n for n in dict.fromkeys([*of_x, *of_y]) if n in later]
        x, of_x = _contract_pair(w, x, of_x, y, of_y, remaining), remaining
    x, of_x = _sum_labels(w, x, of_x, set(results))
    return w.transpose(x, [of_x.index(n) for n in results])


def _contract_pair(
    w: Writer, x: LiteTensor, of_x: list[str], y: LiteTensor, of_y: list[str], result: list[str]
) -> LiteTensor:
    """Adds the einsum of two operands with these labels."""
    sizes = {**dict(zip(of_x, x.shape, strict=True)), **dict(zip(of_y, y.shape, strict=True))}
    places = {n: (t, i) for t, names in ((x, of_x), (y, of_y)) for i, n in enumerate(names)}
    x, of_x = _sum_labels(w, x, of_x, set(of_y) | set(result))
    y, of_y = _sum_labels(w, y, of_y, set(of_x) | set(result))
    batch = [n for n in result if n in of_x and n in of_y]
    inner = [n for n in of_x if n in of_y and n not in result]
    rows = [n for n in result if n in of_x and n not in of_y]
    columns = [n for n in result if n in of_y and n not in of_x]
    left = w.transpose(x, [of_x.index(n) for n in [*batch, *rows, *inner]])
    right = w.transpose(y, [of_y.index(n) for n in [*batch, *inner, *columns]])
    one_row, one_inner, one_column = (_static_size([sizes[n] for n in names]) for names in (rows, inner, columns))
    lead = [sizes[n] for n in batch]
    if len(inner) != 1 or len(columns) != 1:
        right = w.reshape(right, [*lead, one_inner, one_column])
    keeps_rows = len(inner) == 1 and (len(rows) == 1 or (not batch and right.value is not None and bool(rows)))
    if keeps_rows:
        middle = product(w, left, right, False, False, [*lead, *[sizes[n] for n in rows], one_column])
    else:
        left = w.reshape(left, [*lead, one_row, one_inner])
        middle = product(w, left, right, False, False, [*lead, one_row, one_column])
    order = [*batch, *rows, *columns]
    if len(columns) != 1 or (len(rows) != 1 and not keeps_rows):
        middle = _split_sizes(w, middle, [sizes[n] for n in order], [places[n] for n in order])
    return w.transpose(middle, [order.index(n) for n in result])


def _split_sizes(w: Writer, x: LiteTensor, shape: list[int | None], places: list[tuple[LiteTensor, int]]) -> LiteTensor:
    """Adds a reshape to sizes of other tensors, given by these tensors and their axes."""
    if shape.count(None) <= 1:
        return w.reshape(x, shape)
    target = w.add("PACK", [w.size(t, i) for t, i in places], [len(shape)], int32, axis=0, valuesCount=len(shape))
    return w.add("RESHAPE", [x, target], shape)


def _static_size(dims: list[Any]) -> int | None:
    return None if None in dims else math.prod(dims)


def _without_ellipsis(labels: list[str], ranks: list[int]) -> list[list[str]]:
    """Returns the labels of each operand, with one for each dimension that an ellipsis stands for."""
    subscripts = []
    for text, rank in zip(labels, ranks, strict=True):
        before, dots, after = text.partition("...")
        count = rank - len(before) - len(after) if dots else 0
        subscripts.append([*before, *[f".{count - i}" for i in range(count)], *after])
    return subscripts


def _result_labels(result: str, names: list[list[str]]) -> list[str]:
    """Returns the labels of the result, with one for each dimension that an ellipsis stands for."""
    before, dots, after = result.partition("...")
    longest = max(([n for n in own if n[0] == "."] for own in names), key=len)
    return [*before, *(longest if dots else []), *after]


def _sum_labels(w: Writer, x: LiteTensor, names: list[str], remaining: set[str]) -> tuple[LiteTensor, list[str]]:
    """Sums over the dimensions whose labels stand nowhere else."""
    axes = [i for i, n in enumerate(names) if n not in remaining]
    if not axes:
        return x, names
    shape = [d for i, d in enumerate(x.shape) if i not in axes]
    x = w.add("SUM", [x, w.constant(axes, int32)], shape, keepDims=False)
    return x, [n for i, n in enumerate(names) if i not in axes]
