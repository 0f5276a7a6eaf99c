"""Choosing the kernel that computes a step.

It is the op's own, if that supports the dtypes at hand and returns the dtypes that the op declares. Where passes
substitute kernels of ATen, that is certain (`Step.native`). Elsewhere only a run shows it: the name in the source first
stands for a function that tries the kernel and falls back to another dtype or device (`core/ops/kernels.py`), and,
after a successful call, for the kernel itself. The source is the same in either case.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import raw_arguments, run_kernel
from tapeflow.core.types.dtypes import uint16, uint32, uint64
from tapeflow.graph.codegen.program import Step
from tapeflow.graph.ir.python_op import eager_arguments


def is_direct(step: Step) -> bool:
    """Returns True if an earlier run has shown that the step's kernel supports its dtypes."""
    return not step.registered or (step.op.key(step.args) in step.op.direct and not _is_partly_supported(step))


def _is_partly_supported(step: Step) -> bool:
    """Returns whether a run shows nothing of later ones: where ATen computes with some values of a dtype and not with
    others, as a maximum of no elements and one of several."""
    return any(t.dtype in _PARTLY_SUPPORTED for t in (*step.inputs, *step.outputs))


_PARTLY_SUPPORTED = (uint16, uint32, uint64)


def resolve(step: Step, on_success: Callable[[], None]) -> Callable[..., Any] | None:
    """Returns the function for a registered step's first call, or None if its kernel can be called directly.

    Args:
        step: the step.
        on_success: called once the kernel has computed the step without a fallback.
    """
    if is_direct(step):
        return None
    op, key = step.op, step.op.key(step.args)

    def first_call(*values: Any) -> Any:
        args = eager_arguments(op, step.args, values)
        with devices.device(step.operation.device) if step.placed else nullcontext():
            result, as_called = run_kernel(op, op.kernel, args, raw_arguments(op, args), step.types)
        if as_called and not _is_partly_supported(step):
            op.direct[key] = op.result_dtypes(step.outputs)
            on_success()
        return result

    return first_call
