"""Forms of the ops that compute cells of recurrent networks, whole or step by step, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tapeflow as tf
from tapeflow.core.ops.decompositions import form
from tapeflow.core.ops.shape_rules import divide_size, with_rank
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor

# The order of the gates in the weights: input, new cell, forget, output; in `BlockLSTMV2` the forget gate comes second.
_ICFO, _IFCO = (0, 1, 2, 3), (0, 2, 1, 3)


# ---- LSTM ------------------------------------------------------------------------------------------------------------


def _lstm_step(
    x: Any, cs_prev: Tensor, h_prev: Any, w: Any, peepholes: Sequence[Any] | None, b: Any, forget_bias: float,
    cell_clip: float, order: Sequence[int],
) -> tuple[Any, ...]:  # fmt: skip
    """Computes a step of an LSTM with peepholes (Gers and Schmidhuber 2000, https://ieeexplore.ieee.org/document/861302).

    Returns:
        The input gate, the cell state, the forget and output gates, the new cell values, the output of the cell, and
        the output.
    """
    parts = tf.split(tf.matmul(tf.concat([x, h_prev], 1), w) + b, 4, axis=1)
    i, ci, f, o = (parts[order[k]] for k in range(4))
    f = f + tf.cast(forget_bias, x.dtype)
    if peepholes is not None:
        i, f = i + cs_prev * peepholes[0], f + cs_prev * peepholes[1]
    i, f, ci = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(ci)
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = tf.clip_by_value(cs, tf.cast(-cell_clip, x.dtype), tf.cast(cell_clip, x.dtype))
    o = tf.sigmoid(o if peepholes is None else o + cs * peepholes[2])
    co = tf.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _cell_rule(x: TensorShape, cs_prev: TensorShape, *_: Any) -> list[TensorShape]:
    return [TensorShape([with_rank(x, 2)[0], with_rank(cs_prev, 2)[1]])] * 7


@form("LSTMBlockCell", shape=_cell_rule)
def _lstm_cell(
    x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, forget_bias: float,
    cell_clip: float, use_peephole: bool,
) -> Any:  # fmt: skip
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _lstm_step(x, cs_prev, h_prev, w, peepholes, b, forget_bias, cell_clip, _ICFO)


def _lstm(
    seq_len_max: Tensor, x: Tensor, cs_prev: Tensor, h_prev: Tensor, w: Any, peepholes: Any, b: Any, forget_bias: float,
    cell_clip: float, order: Sequence[int],
) -> list[Any]:  # fmt: skip
    steps = []
    cs, h = cs_prev, h_prev
    for t, x_t in enumerate(tf.unstack(x)):
        results = _lstm_step(x_t, cs, h, w, peepholes, b, forget_bias, cell_clip, order)
        running = tf.cast(t < seq_len_max, x.dtype)
        steps.append([r * running for r in results])
        cs, h = results[1], results[6]
    return [tf.stack(values) for values in zip(*steps, strict=True)] or [tf.zeros_like(x[..., :1] * cs_prev)] * 7


def _block_rule(seq_len_max: TensorShape, x: TensorShape, cs: TensorShape, h: TensorShape, w: TensorShape,
    wci: TensorShape, wcf: TensorShape, wco: TensorShape, b: TensorShape,
                *_: Any) -> list[TensorShape]:  # fmt: skip
    gates = with_rank(b, 1)[0]
    return [with_rank(x, 3)[:2] + [None if gates is None else divide_size(gates, 4)]] * 7


@form("BlockLSTM", shape=_block_rule)
def _block_lstm(
    seq_len_max: Tensor, x: Tensor, cs_prev: Tensor, h_prev: Tensor, w: Tensor, wci: Tensor, wcf: Tensor, wco: Tensor,
    b: Tensor, forget_bias: float, cell_clip: float, use_peephole: bool,
) -> Any:  # fmt: skip
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _lstm(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, forget_bias, cell_clip, _ICFO)


@form("BlockLSTMV2", shape=_block_rule)
def _block_lstm_v2(
    seq_len_max: Any, x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Tensor, wcf: Tensor, wco: Tensor, b: Any,
    cell_clip: float, use_peephole: bool,
) -> Any:  # fmt: skip
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _lstm(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, 0.0, cell_clip, _IFCO)


def _lstm_step_gradient(
    cs_prev: Tensor, peepholes: Sequence[Any] | None, i: Tensor, cs: Tensor, f: Tensor, o: Tensor, ci: Tensor,
    co: Tensor, cs_grad: Tensor, h_grad: Tensor, order: Sequence[int],
) -> tuple[Any, Any, list[Any]]:  # fmt: skip
    """Returns the gradients of a step's state, of its gates before their activations, and of the peepholes."""
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes is not None:
        dcs = dcs + do * peepholes[2]
    dci, df, di = (1 - ci * ci) * dcs * i, f * (1 - f) * dcs * cs_prev, i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    if peepholes is not None:
        cs_prev_grad = cs_prev_grad + di * peepholes[0] + df * peepholes[1]
    gates = (di, dci, df, do)
    of_peepholes = [tf.reduce_sum(v, 0) for v in (di * cs_prev, df * cs_prev, do * cs)]
    if peepholes is None:
        of_peepholes = [tf.zeros_like(v) for v in of_peepholes]
    return cs_prev_grad, tf.concat([gates[order[k]] for k in range(4)], 1), of_peepholes


def _cell_gradient_rule(x: TensorShape, cs_prev: TensorShape, *_: Any) -> list[Any]:
    batch, cell = with_rank(x, 2)[0], with_rank(cs_prev, 2)[1]
    return [[batch, cell], [batch, cell and 4 * cell], [cell], [cell], [cell]]


@form("LSTMBlockCellGrad", shape=_cell_gradient_rule)
def _lstm_cell_gradient(
    cs_prev: Tensor, wci: Tensor, wcf: Tensor, wco: Tensor, i: Tensor, cs: Tensor, f: Tensor, o: Tensor, ci: Tensor,
    co: Tensor, cs_grad: Tensor, h_grad: Tensor, use_peephole: bool,
) -> Any:  # fmt: skip
    peepholes = (wci, wcf, wco) if use_peephole else None
    state, gates, of_peepholes = _lstm_step_gradient(cs_prev, peepholes, i, cs, f, o, ci, co, cs_grad, h_grad, _ICFO)
    return state, gates, *of_peepholes


def _lstm_gradient(named: dict[str, Any], order: Sequence[int]) -> Any:
    """Returns the gradients of `BlockLSTM`, from its inputs and outputs."""
    x, w = named["x"], named["w"]
    peepholes = (named["wci"], named["wcf"], named["wco"]) if named["use_peephole"] else None
    steps = [tf.unstack(named[n]) for n in ("x", "i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")]
    cs_grad, h_grad = tf.zeros_like(named["cs_prev"]), tf.zeros_like(named["h_prev"])
    totals: list[Any] = [tf.zeros_like(named[n]) for n in ("w", "wci", "wcf", "wco", "b")]
    x_grads = []
    for t, (x_t, i, cs, f, o, ci, co, _, dcs, dh) in reversed(list(enumerate(zip(*steps, strict=True)))):
        running = tf.cast(t < named["seq_len_max"], x.dtype)
        cs_prev = steps[2][t - 1] if t else named["cs_prev"]
        h_prev = steps[7][t - 1] if t else named["h_prev"]
        state, gates, of_peepholes = _lstm_step_gradient(
            cs_prev, peepholes, i, cs, f, o, ci, co, dcs * running + cs_grad, dh * running + h_grad, order
        )
        gates = gates * running
        inputs = tf.matmul(gates, w, transpose_b=True)
        x_grads.append(inputs[:, : x.shape[2]])
        h_grad = inputs[:, x.shape[2] :] * running + h_grad * (1 - running)
        cs_grad = state * running + cs_grad * (1 - running)
        of_weights = tf.matmul(tf.concat([x_t, h_prev], 1), gates, transpose_a=True)
        changes = [of_weights, *[p * running for p in of_peepholes], tf.reduce_sum(gates, 0)]
        totals = [total + change for total, change in zip(totals, changes, strict=True)]
    return tf.stack(x_grads[::-1]), cs_grad, h_grad, *totals


def _block_gradient_rule(seq_len_max: TensorShape, *inputs: TensorShape) -> list[TensorShape]:
    return [with_rank(shape, rank) for shape, rank in zip(inputs, (3, 2, 2, 2, 1, 1, 1, 1), strict=False)]


@form("BlockLSTMGrad", shape=_block_gradient_rule)
def _block_lstm_gradient(
    seq_len_max: Tensor, x: Tensor, cs_prev: Tensor, h_prev: Tensor, w: Tensor, wci: Tensor, wcf: Tensor, wco: Tensor,
    b: Tensor, i: Tensor, cs: Tensor,
    f: Tensor, o: Tensor, ci: Tensor, co: Tensor, h: Tensor, cs_grad: Tensor, h_grad: Tensor, use_peephole: bool,
) -> Any:  # fmt: skip
    return _lstm_gradient(locals(), _ICFO)


@form("BlockLSTMGradV2", shape=_block_gradient_rule)
def _block_lstm_gradient_v2(
    seq_len_max: Tensor, x: Tensor, cs_prev: Tensor, h_prev: Tensor, w: Tensor, wci: Tensor, wcf: Tensor, wco: Tensor,
    b: Tensor, i: Tensor, cs: Tensor,
    f: Tensor, o: Tensor, ci: Tensor, co: Tensor, h: Tensor, cs_grad: Tensor, h_grad: Tensor, use_peephole: bool,
) -> Any:  # fmt: skip
    return _lstm_gradient(locals(), _IFCO)


# ---- GRU -------------------------------------------------------------------------------------------------------------


def _gru_rule(x: TensorShape, h_prev: TensorShape, *_: Any) -> list[Any]:
    return [[with_rank(x, 2)[0], with_rank(h_prev, 2)[1]]] * 4


def _gru_gradient_rule(x: TensorShape, h_prev: TensorShape, w_ru: TensorShape, *_: Any) -> list[Any]:
    x, gates = with_rank(x, 2), with_rank(w_ru, 2)[1]
    state = [x[0], with_rank(h_prev, 2)[1]]
    return [x, state, state, [x[0], gates]]


@form("GRUBlockCell", shape=_gru_rule)
def _gru_cell(x: Tensor, h_prev: Tensor, w_ru: Tensor, w_c: Tensor, b_ru: Tensor, b_c: Tensor) -> Any:
    r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h_prev], 1), w_ru) + b_ru), 2, axis=1)
    c = tf.tanh(tf.matmul(tf.concat([x, h_prev * r], 1), w_c) + b_c)
    return r, u, c, (1 - u) * c + u * h_prev


@form("GRUBlockCellGrad", shape=_gru_gradient_rule)
def _gru_cell_gradient(
    x: Tensor, h_prev: Tensor, w_ru: Tensor, w_c: Tensor, r: Tensor, u: Tensor, c: Tensor, d_h: Tensor
) -> Any:
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    of_new = tf.matmul(d_c_bar, w_c, transpose_b=True)
    d_x, d_reset = of_new[:, : x.shape[1]], of_new[:, x.shape[1] :]
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    d_r_bar_u_bar = tf.concat([d_reset * h_prev * r * (1 - r), d_u_bar], 1)
    of_gates = tf.matmul(d_r_bar_u_bar, w_ru, transpose_b=True)
    d_h_prev = d_reset * r + d_h * u + of_gates[:, x.shape[1] :]
    return d_x + of_gates[:, : x.shape[1]], d_h_prev, d_c_bar, d_r_bar_u_bar
