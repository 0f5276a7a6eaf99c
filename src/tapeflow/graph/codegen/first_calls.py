"""Choosing the kernel of a step.

A step calls its op's kernel directly if the kernel supports the step's dtypes and returns the declared dtypes. For
kernels that passes substitute, this is certain (see `Step.native`). For other kernels, only a run shows it. The
kernel's name in the source therefore first stands for a function that tries the kernel, with fallbacks to other dtypes
or devices (see `core/ops/kernels.py`). After a call without a fallback, the name stands for the kernel itself. The
source is the same in both cases.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import raw_arguments, run_kernel
from tapeflow.core.types.dtypes import uint16, uint32, uint64
from tapeflow.graph.ir.python_op import eager_arguments
from tapeflow.graph.program.program import Step


def is_direct(step: Step) -> bool:
    """Returns True if an earlier run has shown that the step's kernel supports its dtypes."""
    return not step.registered or (step.op.key(step.args) in step.op.direct and not _is_partly_supported(step))


def _is_partly_supported(step: Step) -> bool:
    """Returns True if a successful run says nothing about later runs.

    ATen supports some dtypes only for some values. For example, a maximum of several elements may fail after a maximum
    of no elements succeeded. Results of such dtypes alone, such as keys of random numbers, have no such limits.
    """
    return any(t.dtype in _PARTLY_SUPPORTED for t in step.op.tensors(step.args))


_PARTLY_SUPPORTED = (uint16, uint32, uint64)


def resolve(step: Step, on_success: Callable[[], None]) -> Callable[..., Any] | None:
    """Returns the function for a registered step's first call, or None if its kernel can be called directly.

    Args:
        step: the step.
        on_success: called after the kernel has computed the step without a fallback.
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
