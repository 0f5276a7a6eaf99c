"""Kernels of recurrent cells. A kernel computes all steps of a sequence.

A cell takes an input and the states of the previous step. Its first state is its output. The columns of its weights
hold the gates side by side, in Keras's order: i, f, g and o for an LSTM (Hochreiter and Schmidhuber, 1997); z, r and n
for a GRU (Cho et al., 2014) that applies the reset gate after the product.

oneDNN computes an LSTM and its gradient. A GRU computes the products with all inputs in one call before its first step.
Its gradient likewise computes the factors of all steps' cotangents before its first step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import calls_in_place

Tensors = Sequence[torch.Tensor]

_LSTM_MODE = 2  # ATen's number for oneDNN's LSTM
_tanh_backward, _sigmoid_backward = torch.ops.aten.tanh_backward.grad_input, torch.ops.aten.sigmoid_backward.grad_input
_CLOSED = 1e4  # adding this number to a sigmoid's argument gives 1, subtracting it gives 0
_FEW_WEIGHTS, _FEW_ROWS = 1 << 16, 64  # oneDNN reorders the weights at each call: few rows do not pay for many weights


class Weights(NamedTuple):
    """The weights of a cell, or their gradients.

    Attributes:
        kernel: the matrix or filters of the inputs.
        recurrent_kernel: the matrix or filters of the previous step's output.
        biases: the biases of the two products, None for zeros. An LSTM has one bias for both.
    """

    kernel: torch.Tensor
    recurrent_kernel: torch.Tensor
    biases: Sequence[torch.Tensor | None]


class Gradients(NamedTuple):
    """The gradients of a cell's inputs in all steps, its initial states and its weights; None if not requested."""

    x: torch.Tensor | None
    states: Sequence[torch.Tensor | None]
    weights: Weights


class Cell(Protocol):
    """A cell in one run over a sequence.

    Attributes:
        states: the number of states.
        gates: the number of gates.
    """

    states: int
    gates: int

    def suits(self, steps: int, x: torch.Tensor, states: Tensors, weights: Weights) -> bool:
        """Returns True if the cell supports its operands and is faster than single ops.

        Args:
            steps: the number of steps.
            x: the input of one step. All tensors have one dtype and concrete values.
            states: the initial states.
            weights: the weights.
        """

    def run(
        self, x: torch.Tensor, states: Tensors, weights: Weights, idle: torch.Tensor | None, recorded: bool
    ) -> tuple[torch.Tensor, Tensors]:
        """Returns the stacked outputs of all steps, and the last values of all states except the first.

        Args:
            x: the inputs of all steps, `(steps, batch, features)`.
            states: the initial states.
            weights: the weights.
            idle: True for padding steps at the end of a sequence: they must not change any state except the first, and
                their outputs have no use. None without such steps.
            recorded: True if `gradients` will be called.
        """

    def gradients(
        self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None], for_x: bool, for_states: bool
    ) -> Gradients:
        """Returns the gradients of a run.

        Args:
            dy: the cotangents of all outputs. The method may overwrite them.
            cotangents: the cotangents of the last values of all states except the first.
            for_x, for_states: True if the gradients of the inputs, or of the initial states, are requested.
        """


class LSTM:
    """`c' = f * c + i * g` and `h' = o * tanh(c')`."""

    states, gates = 2, 4

    def suits(self, steps: int, x: torch.Tensor, states: Tensors, weights: Weights) -> bool:
        pays = steps * len(x) >= _FEW_ROWS or sum(m.numel() for m in weights[:2]) <= _FEW_WEIGHTS
        available = x.dtype is torch.float32 and torch.backends.mkldnn.is_available()
        return pays and available and _fit(self.gates, x, states, weights)

    def run(
        self, x: torch.Tensor, states: Tensors, weights: Weights, idle: torch.Tensor | None, recorded: bool
    ) -> tuple[torch.Tensor, Tensors]:
        (kernel, recurrent_kernel, (bias,)), (h, c) = weights, states
        self._features = len(kernel)
        zeros = kernel.new_zeros(kernel.shape[1])
        if idle is not None:  # an additional feature closes the gate i and opens the gate f in idle steps
            close = kernel.new_zeros(4, h.shape[1])
            close[0], close[1] = -_CLOSED, _CLOSED
            kernel = torch.cat([kernel, close.view(1, -1)])
            x = torch.cat([x, idle.unsqueeze(-1).to(x.dtype)], -1)
        args = [x, kernel.t(), recurrent_kernel.t(), zeros if bias is None else bias, zeros, h, c]
        with torch.set_grad_enabled(recorded):  # lets oneDNN return the workspace of its gradient
            y, last_h, last_c, space = torch.ops.aten.mkldnn_rnn_layer(
                *args, False, [], _LSTM_MODE, h.shape[1], 1, True, False, False, recorded
            )
        if recorded:
            self._record = args, [y, last_h, last_c], space
        return y, [last_c]

    def gradients(
        self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None], for_x: bool, for_states: bool
    ) -> Gradients:
        args, results, space = self._record
        size, features = dy.shape[-1], self._features
        dx, d_kernel, d_recurrent, d_bias, _, dh, dc = torch.ops.aten.mkldnn_rnn_layer_backward(
            *args, *results, dy, None, cotangents[0], False, _LSTM_MODE, size, 1, True, True, False, [], False, space
        )
        d_kernel = d_kernel[:, :features].t()
        return Gradients(dx[..., :features], [dh, dc], Weights(d_kernel, d_recurrent.t(), [d_bias]))


class GRU:
    """`h' = z * h + (1 - z) * tanh(n + r * m)`. The n columns of the product with `h` are m.

    One buffer has the columns n, z, r and m of all steps. The input's product goes to the first three, the state's
    product is added to the last three.
    """

    states, gates = 1, 3

    def suits(self, steps: int, x: torch.Tensor, states: Tensors, weights: Weights) -> bool:
        return x.dtype in (torch.float32, torch.float64) and _fit(self.gates, x, states, weights)

    def run(
        self, x: torch.Tensor, states: Tensors, weights: Weights, idle: torch.Tensor | None, recorded: bool
    ) -> tuple[torch.Tensor, Tensors]:
        (first,), (kernel, recurrent_kernel, biases) = states, weights
        (steps, batch, features), size = x.shape, first.shape[1]
        bias, recurrent_bias = [kernel.new_zeros(3 * size) if b is None else b for b in biases]
        columns, h = x.new_empty(steps, batch, 4 * size), x.new_empty(steps + 1, batch, size)
        before_n = torch.cat([bias[2 * size :], bias[: 2 * size] + recurrent_bias[: 2 * size]])
        of_input = columns.view(-1, 4 * size)[:, : 3 * size]
        torch.addmm(before_n, x.reshape(-1, features), _n_first(kernel, size), out=of_input)
        n, z, r, m = parts = columns.split(size, -1)
        m.copy_(recurrent_bias[2 * size :])
        h[0].copy_(first)
        of_state, gates = columns[..., size:], columns[..., size : 3 * size]
        of_steps = [t.unbind() for t in (of_state, gates, n, z, r, m, h[1:])]
        state = first
        for products, zr, new, keep, reset, of_reset, after, tanh in zip(
            *of_steps, calls_in_place(ops.Tanh.op, n), strict=True
        ):
            products.addmm_(state, recurrent_kernel)
            zr.sigmoid_()
            new.addcmul_(reset, of_reset)
            tanh()
            state = torch.lerp(new, state, keep, out=after)
        if recorded:
            self._record = weights, x, h, parts
        return h[1:], []

    def gradients(
        self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None], for_x: bool, for_states: bool
    ) -> Gradients:
        (kernel, recurrent_kernel, _), x, h, (n, z, r, m) = self._record
        steps, batch, size = dy.shape
        before = h[:-1]
        # The columns first hold the factors of the state's cotangent, then the cotangents of the columns themselves.
        columns = x.new_empty(steps, batch, 4 * size)
        by_n, by_z, by_r, by_m = columns.split(size, -1)
        _tanh_backward(1 - z, n, grad_input=by_n)
        _sigmoid_backward(before - n, z, grad_input=by_z)
        _sigmoid_backward(by_n * m, r, grad_input=by_r)
        torch.mul(by_n, r, out=by_m)
        transposed, d_first = recurrent_kernel.t().contiguous(), torch.zeros_like(h[0])
        of_steps = [columns.unflatten(-1, (4, size)), columns[..., size:], z]
        *of_states, dh = d_first, *dy.unbind()
        for d, of_state, keep, sum_ in zip(*[reversed(t.unbind()) for t in of_steps], reversed(of_states), strict=True):
            d.mul_(dh.unsqueeze(1))
            dh = sum_.addcmul_(dh, keep).addmm_(of_state, transposed)
        flat, rows = columns.view(-1, 4 * size), x.reshape(-1, x.shape[-1])
        of_input, of_state = flat[:, : 3 * size], flat[:, size:]
        dx = (of_input @ _n_first(kernel, size).t()).view_as(x) if for_x else None
        d_kernel, d_recurrent = _n_last(rows.t() @ of_input, size), before.view(-1, size).t() @ of_state
        d_bias = flat.sum(0)
        return Gradients(
            dx, [dh], Weights(d_kernel, d_recurrent, [_n_last(d_bias[: 3 * size], size), d_bias[size:]])
        )  # fmt: skip


def _fit(gates: int, x: torch.Tensor, states: Tensors, weights: Weights) -> bool:
    """Returns True if the shapes of an input, the states and the weight matrices match."""
    if x.ndim != 2 or states[0].ndim != 2:
        return False
    (rows, size), (kernel, recurrent_kernel, biases) = states[0].shape, weights
    columns = gates * size
    return (
        len(x) == rows
        and kernel.shape == (x.shape[1], columns)
        and recurrent_kernel.shape == (size, columns)
        and all(b is None or b.shape == (columns,) for b in biases)
    )


def _n_first(columns: torch.Tensor, size: int) -> torch.Tensor:
    """Reorders columns from z, r, n to n, z, r."""
    return columns.roll(size, -1)


def _n_last(columns: torch.Tensor, size: int) -> torch.Tensor:
    """Reorders columns from n, z, r to z, r, n."""
    return columns.roll(-size, -1)
