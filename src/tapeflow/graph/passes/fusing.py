"""Fusing: neighbouring steps that one kernel of ATen computes together.

A product with a bias (`addmm`), a convolution with a bias, products and quotients that are added to something
(`addcmul`, `addcdiv`). An activation that follows is then done in the result's own memory (see `reuse.py`). What is
passed over must be of no use to anybody else. A fused kernel rounds once where two would round twice, so that last bits
may differ from eager ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.graph.operation import NodeOp
from tapeflow.graph.program import Program, Step
from tapeflow.nn.conv import biased_convolution

# Bytes: from here on, sums of products cost their passes over memory and not their calls. A scalar is better added in
# place: ATen does not vectorize `addcmul` over two scalars.
_LARGE = 1 << 15


def fuse(program: Program) -> None:
    """Puts one step in the place of several."""
    fusing = _Fusing(program)
    program.steps = [fusing.fused(step) for step in program.steps]


class _Fusing:
    """What has been seen of a program on the way through it."""

    def __init__(self, program: Program) -> None:
        self._uses = program.uses()
        self._makers: dict[int, Step] = {}

    def fused(self, step: Step) -> Step:
        """The step, or one that does the work of those before it too. These are pruned later: nobody takes what they
        give."""
        rule = _RULES.get(step.name)
        made = rule(self, step) if rule is not None and _may_fuse(step) else None
        made = made or step
        for tensor in made.outputs:
            self._makers[id(tensor)] = made
        return made

    def maker(self, tensor: Any, *names: str) -> Step | None:
        """The step of one of these ops that gives a tensor which is taken only once."""
        found = self._makers.get(id(tensor))
        if found is None or found.name not in names or not _may_fuse(found):
            return None
        return found if self._uses[id(tensor)] == 1 else None


def _may_fuse(step: Step) -> bool:
    return step.registered and step.exact and not step.placed and step.outputs[0].dtype.is_floating


def _one_step(kernel: Callable[..., Any], template: str, args: list[SymbolicTensor], inner: Step, outer: Step) -> Step:
    name = f"{inner.name}{outer.name}"
    op = NodeOp(name, kernel, inline=template)
    return Step(op, args, outer.outputs, [*inner.origins, *outer.origins])


def _sum(fusing: _Fusing, step: Step) -> Step | None:
    """`AddV2`: of a product of matrices, of numbers, or of a quotient."""
    for taken, other in (step.args, step.args[::-1]):
        inner = fusing.maker(taken, "MatMul")
        if inner is not None and _spreads(other, inner.outputs[0]):
            return _product_with_bias(inner, step, other)
        inner = fusing.maker(taken, "Mul", "RealDiv")
        if inner is not None and _is_large(step.outputs[0]) and other.shape == step.outputs[0].shape:
            kernel = torch.addcmul if inner.name == "Mul" else torch.addcdiv
            return _one_step(kernel, "{kernel}({0}, {1}, {2})", [other, *inner.args], inner, step)
    return None


def _with_bias(fusing: _Fusing, step: Step) -> Step | None:
    """`BiasAdd`: to a product of matrices, or to a convolution."""
    taken, bias, data_format = step.args
    if bias.shape.rank != 1:
        return None
    inner = fusing.maker(taken, "MatMul")
    if inner is not None and _spreads(bias, inner.outputs[0]):
        return _product_with_bias(inner, step, bias)
    inner = fusing.maker(taken, "Conv2D")
    if inner is None or inner.args[5] != data_format:
        return None
    image, filters, *attrs = inner.args
    return _one_step(biased_convolution(*attrs), "{kernel}({0}, {1}, {2})", [image, filters, bias], inner, step)


def _product_with_bias(inner: Step, step: Step, bias: SymbolicTensor) -> Step:
    a, b, *transposed = inner.args
    transpose_a, transpose_b = transposed or (False, False)
    left, right = "{1}.t()" if transpose_a else "{1}", "{2}.t()" if transpose_b else "{2}"
    return _one_step(torch.addmm, f"{{kernel}}({{0}}, {left}, {right})", [bias, a, b], inner, step)


def _is_large(tensor: SymbolicTensor) -> bool:
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * tensor.dtype.size >= _LARGE


def _spreads(tensor: SymbolicTensor, to: SymbolicTensor) -> bool:
    """Whether a tensor certainly broadcasts to the shape of another one, and does not make it larger."""
    small, large = tensor.shape, to.shape
    if small.rank is None or large.rank is None or small.rank > large.rank or tensor.dtype is not to.dtype:
        return False
    pairs = zip(small.as_list()[::-1], large.as_list()[::-1], strict=False)
    return all(a == 1 or (a is not None and a == b) for a, b in pairs)


_RULES: dict[str, Callable[[_Fusing, Step], Step | None]] = {"AddV2": _sum, "BiasAdd": _with_bias}
