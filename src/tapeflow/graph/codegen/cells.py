"""Kernels of recurrent cells, which compute all steps of a sequence.

A cell takes an input and the states of the step before, and its first state is its output. An LSTM (Hochreiter and
Schmidhuber, 1997) has the gates i, f, g and o, and a GRU (Cho et al., 2014; with the reset gate behind the product) z,
r and n, side by side in this order in the columns of its weights, as Keras has them.

oneDNN computes an LSTM and its gradient. Of a GRU, what does not wait for the step before is computed for all steps at
once: the products with the inputs, and, for the gradient, what a step multiplies the cotangents by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import calls_in_place

Tensors = Sequence[torch.Tensor]

_LSTM_MODE = 2  # oneDNN's number of this cell, as ATen has it
_tanh_backward, _sigmoid_backward = torch.ops.aten.tanh_backward.grad_input, torch.ops.aten.sigmoid_backward.grad_input
_CLOSED = 1e4  # a summand with which a sigmoid is 1, and with its negative 0
_FEW_WEIGHTS, _FEW_ROWS = 1 << 16, 64  # oneDNN orders the weights anew at each call


class Weights(NamedTuple):
    """The weights of a cell, or their gradients.

    Attributes:
        kernel, recurrent_kernel: what inputs, and the output of the step before, are multiplied by.
        biases: what is added to these products, None for zeros; an LSTM has one for both.
    """

    kernel: torch.Tensor
    recurrent_kernel: torch.Tensor
    biases: Sequence[torch.Tensor | None]


class Gradients(NamedTuple):
    """The gradients of a cell's inputs of all steps, of its initial states and of its weights; None where unwanted."""

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
        """Tests whether it serves, and takes less time than single ops do, for so many steps with inputs like `x`.

        All tensors are of one dtype, and have values to look at.
        """

    def run(
        self, x: torch.Tensor, states: Tensors, weights: Weights, idle: torch.Tensor | None, recorded: bool
    ) -> tuple[torch.Tensor, Tensors]:
        """Returns the outputs of all steps, stacked, and the last values of the states but the first.

        Args:
            x: the inputs of all steps, `(steps, batch, features)`.
            states: the initial states.
            weights: the weights.
            idle: true for steps at the end of a sequence that change no state but the first, and whose outputs do not
                matter; None if there are none.
            recorded: whether `gradients` will be called.
        """

    def gradients(
        self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None], for_x: bool, for_states: bool
    ) -> Gradients:
        """Returns the gradients of a run.

        Args:
            dy: the cotangents of all outputs, whose memory it may use.
            cotangents: those of the last values of the states but the first.
            for_x, for_states: whether the gradients of the inputs and of the initial states are asked for.
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
        if idle is not None:  # one more feature closes the gate i and opens the gate f
            close = kernel.new_zeros(4, h.shape[1])
            close[0], close[1] = -_CLOSED, _CLOSED
            kernel = torch.cat([kernel, close.view(1, -1)])
            x = torch.cat([x, idle.unsqueeze(-1).to(x.dtype)], -1)
        args = [x, kernel.t(), recurrent_kernel.t(), zeros if bias is None else bias, zeros, h, c]
        with torch.set_grad_enabled(recorded):  # oneDNN returns what its gradient takes
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
    """`h' = z * h + (1 - z) * tanh(n + r * m)`, where m is the part of the product with `h` for n.

    What the steps compute stands side by side in the columns n, z, r and m of one buffer: those of the input's product
    are the first three, those of the state's the last three.
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
        # First what each step multiplies the state's cotangent by, then the cotangents of the columns, in their place.
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
    """Tests whether the shapes of the inputs of a step, of states and of weights that are matrices go together."""
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
    """Returns columns for z, r and n in the order n, z and r."""
    return columns.roll(size, -1)


def _n_last(columns: torch.Tensor, size: int) -> torch.Tensor:
    """Returns columns for n, z and r in the order z, r and n."""
    return columns.roll(-size, -1)
