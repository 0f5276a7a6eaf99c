"""The kernel of a convolutional recurrent cell (see `cells.py`).

As in Keras, one array has the filters of all gates. One convolution computes all gates and reads each image only once.
It takes five sixths of the time of four convolutions with 16 channels per gate, and a seventh for many images with one
channel. The kernel then copies each gate to contiguous memory: a sigmoid of strided memory takes twice as long as the
copy and a contiguous sigmoid together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import calls_in_place
from tapeflow.graph.codegen.cells import Gradients, Tensors, Weights
from tapeflow.nn.conv import convolve, convolve_back_filter, convolve_back_input
from tapeflow.nn.conv_layout import convolution_layout
from tapeflow.nn.packed_filters import adding_convolution

_tanh_backward, _sigmoid_backward = torch.ops.aten.tanh_backward.grad_input, torch.ops.aten.sigmoid_backward.grad_input
_CONVOLUTION = "Conv2D"
_DTYPES = (torch.float32, torch.float64)


class ConvLSTM2D:
    """A convolutional LSTM (Shi et al., 2015): `c' = f * c + i * g` and `h' = o * tanh(c')`, for each pixel.

    Args:
        attrs: the attrs of the convolution of the inputs, in NHWC format.
        state_attrs: the attrs of the convolution of the previous step's output.
    """

    states, gates = 2, 4

    def __init__(self, attrs: tuple[Any, ...], state_attrs: tuple[Any, ...]) -> None:
        self._attrs, self._state_attrs = attrs, state_attrs

    def suits(self, steps: int, x: torch.Tensor, states: Tensors, weights: Weights) -> bool:
        shape, (kernel, recurrent_kernel, (bias,)) = states[0].shape, weights
        if x.dtype not in _DTYPES or x.ndim != 4 or len(shape) != 4:
            return False
        gates = (*shape[:-1], self.gates * shape[-1])
        try:
            layouts = [
                convolution_layout(_CONVOLUTION, x.shape, kernel.shape, *self._attrs),
                convolution_layout(_CONVOLUTION, shape, recurrent_kernel.shape, *self._state_attrs),
            ]
        except InvalidArgumentError:
            return False
        fits = all(layout.output == gates and layout.groups == 1 and not layout.empty for layout in layouts)
        return fits and (bias is None or bias.shape == gates[-1:])

    def run(
        self, x: torch.Tensor, states: Tensors, weights: Weights, idle: torch.Tensor | None, recorded: bool
    ) -> tuple[torch.Tensor, Tensors]:
        (kernel, recurrent_kernel, (bias,)), (first, cell) = weights, states
        steps, size = len(x), first.shape[-1]
        sums = convolve(_CONVOLUTION, x.flatten(0, 1), kernel, *self._attrs, bias=bias).unflatten(0, (steps, -1))
        # Without a gradient, all steps share the memory of one step.
        several = (steps, 1) if recorded else (1, steps)
        gates = _repeated(first.new_empty(several[0], self.gates, *first.shape), several[1])
        tanhs = _repeated(first.new_empty(several[0], *first.shape), several[1])
        cells = _repeated(first.new_empty(several[0], *first.shape), several[1])
        h = first.new_empty(steps + 1, *first.shape)
        h[0].copy_(first)
        of_steps = sums.unbind(), gates.unbind(), cells.unbind(), tanhs.unbind(), h[1:].unbind()
        tanh_of_gates, tanh_of_cells = (calls_in_place(ops.Tanh.op, t) for t in (gates[:, 2], tanhs))
        add_product = self._adding(first.shape, recurrent_kernel)
        # Most sequences start with a state of zeros, so the first product is zero, unless a weight is not finite.
        self._first_product = int(not first.any() and bool(recurrent_kernel.isfinite().all()))
        state, c = None if self._first_product else first, cell
        for total, gate, after, tanh_c, out, tanh_g, tanh in zip(*of_steps, tanh_of_gates, tanh_of_cells, strict=True):
            if state is not None:
                add_product(total, state)
            gate.copy_(total.unflatten(-1, (self.gates, size)).movedim(-2, 0))
            gate[:2].sigmoid_()
            gate[3].sigmoid_()
            tanh_g()
            i, f, g, o = gate.unbind()
            c = torch.mul(f, c, out=after).addcmul_(i, g)
            tanh_c.copy_(c)
            tanh()
            state = torch.mul(o, tanh_c, out=out)
        if recorded:
            self._record = weights, x, h, [cell, *cells.unbind()], gates, tanhs
        return h[1:], [c]

    def _adding(self, shape: tuple[int, ...], filters: torch.Tensor) -> Callable[[torch.Tensor, torch.Tensor], Any]:
        """Returns a function that adds the convolution of a state to a sum in place."""
        attrs = self._state_attrs
        adding = adding_convolution(_CONVOLUTION, tuple(shape), filters, *attrs)
        return adding or (lambda total, state: total.add_(convolve(_CONVOLUTION, state, filters, *attrs)))

    def gradients(
        self, dy: torch.Tensor, cotangents: Sequence[torch.Tensor | None], for_x: bool, for_states: bool
    ) -> Gradients:
        (kernel, recurrent_kernel, (bias,)), x, h, cells, gates, tanhs = self._record
        steps, size = len(x), h.shape[-1]
        d_sums = dy.new_empty(*dy.shape[:-1], self.gates * size)
        dc = torch.zeros_like(h[0]) if cotangents[0] is None else cotangents[0].clone()
        product = torch.empty_like(dc)
        before: torch.Tensor | None = None  # the cotangent of the previous step's output
        for step in reversed(range(steps)):
            dh, (i, f, g, o), tanh_c, d_sum = dy[step], gates[step].unbind(), tanhs[step], d_sums[step]
            di, df, dg, do = d_sum.split(size, -1)
            _sigmoid_backward(torch.mul(dh, tanh_c, out=product), o, grad_input=do)
            dc += _tanh_backward(torch.mul(dh, o, out=product), tanh_c, grad_input=product)
            _sigmoid_backward(torch.mul(dc, g, out=product), i, grad_input=di)
            _sigmoid_backward(torch.mul(dc, cells[step], out=product), f, grad_input=df)
            _tanh_backward(torch.mul(dc, i, out=product), g, grad_input=dg)
            dc *= f
            if step or for_states:
                before = convolve_back_input(_CONVOLUTION, dh.shape, recurrent_kernel, d_sum, *self._state_attrs)
            if step and before is not None:
                dy[step - 1] += before
        sums = d_sums.flatten(0, 1)
        images, states = x.flatten(0, 1), h[self._first_product : -1].flatten(0, 1)
        of_states = d_sums[self._first_product :].flatten(0, 1)
        dx = convolve_back_input(_CONVOLUTION, images.shape, kernel, sums, *self._attrs).view_as(x) if for_x else None
        d_kernel = convolve_back_filter(_CONVOLUTION, images, kernel.shape, sums, *self._attrs)
        d_recurrent = convolve_back_filter(_CONVOLUTION, states, recurrent_kernel.shape, of_states, *self._state_attrs)
        d_bias = None if bias is None else sums.sum((0, 1, 2))
        return Gradients(dx, [before, dc] if for_states else [None, None], Weights(d_kernel, d_recurrent, [d_bias]))


def _repeated(of_step: torch.Tensor, times: int) -> torch.Tensor:
    """Returns the memory of one step, expanded to several steps without copying."""
    return of_step.expand(times, *of_step.shape[1:]) if times > 1 else of_step
