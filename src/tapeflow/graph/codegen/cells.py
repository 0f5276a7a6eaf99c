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

Tensors = Sequence[torch.Tensor]

_LSTM_MODE = 2  # oneDNN's number of this cell, as ATen has it
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
    """The gradients of a cell's inputs of all steps, of its initial states and of its weights."""

    x: torch.Tensor
    states: Tensors
    weights: Weights


class Cell(Protocol):
    """A cell in one run over a sequence.

    Attributes:
        states: the number of states.
        gates: the number of gates.
    """

    states: int
    gates: int

    @staticmethod
    def suits(steps: int, x: torch.Tensor, matrices: Tensors) -> bool:
        """Tests whether it serves, and takes less time than single ops do, for so many steps with inputs like `x`."""

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

    def gradients(self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None]) -> Gradients:
        """Returns the gradients of a run.

        Args:
            dy: the cotangents of all outputs.
            cotangents: those of the last values of the states but the first.
        """


class LSTM:
    """`c' = f * c + i * g` and `h' = o * tanh(c')`."""

    states, gates = 2, 4

    @staticmethod
    def suits(steps: int, x: torch.Tensor, matrices: Tensors) -> bool:
        pays = steps * len(x) >= _FEW_ROWS or sum(m.numel() for m in matrices) <= _FEW_WEIGHTS
        return pays and x.dtype is torch.float32 and torch.backends.mkldnn.is_available()

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

    def gradients(self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None]) -> Gradients:
        args, results, space = self._record
        size, features = dy.shape[-1], self._features
        dx, d_kernel, d_recurrent, d_bias, _, dh, dc = torch.ops.aten.mkldnn_rnn_layer_backward(
            *args, *results, dy, None, cotangents[0], False, _LSTM_MODE, size, 1, True, True, False, [], False, space
        )
        d_kernel = d_kernel[:, :features].t()
        return Gradients(dx[..., :features], [dh, dc], Weights(d_kernel, d_recurrent.t(), [d_bias]))


class GRU:
    """`h' = z * h + (1 - z) * tanh(n + r * m)`, where m is the part of the product with `h` for n."""

    states, gates = 1, 3

    @staticmethod
    def suits(steps: int, x: torch.Tensor, matrices: Tensors) -> bool:
        return x.dtype in (torch.float32, torch.float64)

    def run(
        self, x: torch.Tensor, states: Tensors, weights: Weights, idle: torch.Tensor | None, recorded: bool
    ) -> tuple[torch.Tensor, Tensors]:
        (h,), (kernel, recurrent_kernel, biases) = states, weights
        (steps, batch, features), size = x.shape, h.shape[1]
        bias, recurrent_bias = [kernel.new_zeros(3 * size) if b is None else b for b in biases]
        projected = torch.addmm(bias, x.reshape(-1, features), kernel).view(steps, batch, 3 * size)
        # What a step computes is written into the place of what it takes of these.
        gates, n = projected[..., : 2 * size], projected[..., 2 * size :]
        y, products = x.new_empty(steps, batch, size), x.new_empty(steps if recorded else 1, batch, 3 * size)
        of_steps = [t.unbind() for t in (y, gates, gates[..., :size], gates[..., size:], n)]
        parts = products, products[..., : 2 * size], products[..., 2 * size :]
        of_products = [t.unbind() if recorded else [t[0]] * steps for t in parts]
        for after, zr, z, r, new, product, for_gates, m in zip(*of_steps, *of_products, strict=True):
            torch.addmm(recurrent_bias, h, recurrent_kernel, out=product)
            zr.add_(for_gates).sigmoid_()
            new.addcmul_(r, m).tanh_()
            h = torch.lerp(new, h, z, out=after)
        if recorded:
            self._record = weights, x, states[0], y, gates, n, products[..., 2 * size :]
        return y, []

    def gradients(self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None]) -> Gradients:
        (kernel, recurrent_kernel, _), x, first, y, gates, n, m = self._record
        steps, batch, size = y.shape
        before = torch.cat([first.unsqueeze(0), y[:-1]])
        z, r = gates[..., :size], gates[..., size:]
        by_z = (before - n) * z * (1 - z)
        by_n = (1 - z) * (1 - n * n)
        by_r = m * r * (1 - r)
        d_projected, d_products = x.new_empty(2, steps, batch, 3 * size)
        transposed = recurrent_kernel.t().contiguous()
        parts = [d_products[..., i * size : (i + 1) * size] for i in range(3)]
        columns = [z, r, by_z, by_r, by_n, d_products, *parts, d_projected[..., 2 * size :]]
        dh = dy[-1]
        for i, zs, rs, to_z, to_r, to_n, d, dz, dr, dm, dn in zip(
            reversed(range(steps)), *[reversed(t.unbind()) for t in columns], strict=True
        ):
            torch.mul(dh, to_n, out=dn)
            torch.mul(dh, to_z, out=dz)
            torch.mul(dn, to_r, out=dr)
            torch.mul(dn, rs, out=dm)
            passed = torch.addcmul(dy[i - 1], dh, zs) if i else dh * zs
            dh = passed.addmm_(d, transposed)
        d_projected[..., : 2 * size] = d_products[..., : 2 * size]
        flat, d_flat = d_projected.view(-1, 3 * size), d_products.view(-1, 3 * size)
        dx = (flat @ kernel.t()).view_as(x)
        d_kernel = x.reshape(-1, x.shape[-1]).t() @ flat
        d_recurrent = before.view(-1, size).t() @ d_flat
        return Gradients(dx, [dh], Weights(d_kernel, d_recurrent, [flat.sum(0), d_flat.sum(0)]))
