"""Layers: ops that multiply by weights, as kernels that take the weights prepared.

If the weights do not change between calls, a compiled function prepares them once: it scales them by the factors that
follow, and lays them out for the kernel. The kernel then computes the op, a bias and an activation in one pass over
memory. An op declares it with `@f.layer`; `graph/codegen/passes/weighted_layers.py` reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch


class Activation(NamedTuple):
    """An activation as the last part of a larger kernel.

    Attributes:
        name: ATen's name for it.
        parameters: its numbers.
    """

    name: str
    parameters: tuple[float, ...] = ()

    @property
    def arguments(self) -> tuple[str, list[float], str]:
        """The arguments of ATen's kernels."""
        return self.name, list(self.parameters), ""


NO_ACTIVATION = Activation("none")


class WeightLayer(NamedTuple):
    """The kernels of an op that multiplies by weights.

    Attributes:
        channels: the size of the result's last dimension.
        prepare: takes the weights, and the factors of the channels or None, and returns the prepared weights, in memory
            of their own.
        kernel: returns for an activation the function of the input, the prepared weights and a bias.
        adding: a function from an activation to two functions, or to None if there is no such kernel. The first takes a
            summand and the arguments of `kernel`'s function, and computes the activation of the sum. The second does
            the same in the summand's memory, if the shapes are static. If `adding` returns None for `NO_ACTIVATION`, it
            does for all activations. The summand has the result's shape; but if the number of images is dynamic, either
            may have one image.
    """

    channels: int
    prepare: Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]
    kernel: Callable[[Activation], Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]]
    adding: Callable[[Activation], tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]] | None]
