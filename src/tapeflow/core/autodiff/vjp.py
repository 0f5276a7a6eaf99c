"""The gradient of an op that has none of its own: its kernel's vector-Jacobian product, through torch.

The product is itself an op with the same gradient, so gradients of any order work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core import aten
from tapeflow.core.context import state
from tapeflow.core.ops.definition import Op
from tapeflow.core.ops.kernels import on_one_device
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.core.autodiff.tape import Call


class KernelVjp(Op):
    """The op `(inputs, dys) -> gradients of the inputs` of a kernel with its attrs bound."""

    def __init__(self, name: str, kernel: Callable[..., Any], count: int, wanted: tuple[bool, ...]) -> None:
        self.name = name
        self.primal = kernel
        self.count = count  # of the kernel's inputs; the other values are cotangents
        self.wanted = wanted

    def gradient(self, call: Call, *dys: Any) -> list[Any]:
        """Returns the gradients of a product's inputs, through torch again."""
        return gradient(call, *dys)

    def kernel(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        inputs, dys = values[: self.count], values[self.count :]
        if any(map(aten.is_batchedtensor, values)):
            return self._of_slices(inputs, dys)
        nested = torch.is_grad_enabled() and any(v.requires_grad for v in values)
        with torch.enable_grad():
            leaves = [
                v if not wanted else v if v.requires_grad else v.detach().requires_grad_()
                for v, wanted in zip(inputs, self.wanted, strict=True)
            ]
            outputs = self.primal(*leaves)
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            reached = [(o, d) for o, d in zip(outputs, dys, strict=True) if o.requires_grad]
            for output, dy in reached:
                if output.shape != dy.shape:
                    shapes = f"{list(dy.shape)} for a result of the shape {list(output.shape)}"
                    raise invalid(f"{self.name} got a gradient of the shape {shapes}")
            sources = [leaf for leaf, wanted in zip(leaves, self.wanted, strict=True) if wanted]
            gradients: Sequence[torch.Tensor | None] = [None] * len(sources)
            if reached and sources:
                ends, starts = [o for o, _ in reached], [d.to(o.device) for o, d in reached]
                gradients = torch.autograd.grad(ends, sources, starts, create_graph=nested, allow_unused=True)
        return tuple([torch.zeros_like(leaf) if g is None else g for g, leaf in zip(gradients, sources, strict=True)])

    def _of_slices(self, inputs: Sequence[torch.Tensor], dys: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Computes the product inside `torch.func.vmap`, which does not support `torch.autograd`."""
        cotangents: list[torch.Tensor] = []

        def of(*leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
            own = iter(leaves)
            outputs = self.primal(*[next(own) if wanted else v for v, wanted in zip(inputs, self.wanted, strict=True)])
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            smooth = [(o, d) for o, d in zip(outputs, dys, strict=True) if o.is_floating_point() or o.is_complex()]
            cotangents[:] = [d for _, d in smooth]
            return tuple([o for o, _ in smooth])

        sources = [v for v, wanted in zip(inputs, self.wanted, strict=True) if wanted]
        back = torch.func.vjp(of, *sources)[1]
        return back(tuple(cotangents))


def _bound_kernel(op: Any, inputs: Sequence[Tensor], attrs: Sequence[Any]) -> Any:
    """Returns the op's kernel as a function of its tensors alone, in one flat sequence."""
    if isinstance(op, KernelVjp):
        return op.kernel
    in_list = len(inputs) - op.kinds.count("tensor")

    def kernel(*values: torch.Tensor) -> Any:
        return op.kernel(*op.with_tensors(values, attrs, in_list))

    return kernel


def gradient(call: Call, *dys: Any) -> list[Any]:
    """Returns the gradients of a call's inputs, through torch."""
    inputs = list(call.inputs)
    wanted = tuple([w and t.dtype.differentiable for w, t in zip(call.wanted, inputs, strict=True)])
    dense = [d if isinstance(d, Tensor) else d.__tf_tensor__() for d in dys]
    op = KernelVjp(f"{call.op.name}Grad", _bound_kernel(call.op, inputs, call.attrs), len(inputs), wanted)
    arguments = [*inputs, *dense]
    values = on_one_device(op.kernel)(*[a.value for a in arguments])
    sources = [t for t, w in zip(inputs, wanted, strict=True) if w]
    outputs = [EagerTensor(v.detach(), t.dtype) for v, t in zip(values, sources, strict=True)]
    for tape in state.tapes:
        tape.record(op, arguments, (), outputs)
    rest = iter(outputs)
    return [next(rest) if w else None for w in wanted]


def is_gradient_of(op: Op) -> bool:
    """Returns True if an op has no gradient of its own. Its kernel is then differentiated here."""
    return op.gradient is gradient or type(op) is KernelVjp
