"""Which kernel serves a step.

It is the op's own, if that computes in the dtypes at hand and gives what the op promises. For the floating dtypes that
is certain where ATen's kernels take the place of others (`Step.native`). For the rest only a run can tell, so that the
name in the source stands for what computes the first call with care (`core/ops/kernels.py`: another dtype, another
device), and then for the op's own kernel. The source is the same in either case.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import compute
from tapeflow.graph.codegen.program import Step
from tapeflow.graph.ir.python_op import eager_arguments


def is_direct(step: Step) -> bool:
    """Whether a step's kernel has shown that it computes in the dtypes at hand as it is called."""
    return not step.registered or step.op.key(step.args) in step.op.direct


def resolve(step: Step, settle: Callable[[], None]) -> Callable[..., Any] | None:
    """Returns what computes a registered step with care, or None where its own kernel is known to do it.

    Args:
        step: the step.
        settle: is called once the kernel has shown that it can be called as it is.
    """
    if is_direct(step):
        return None
    op, key = step.op, step.op.key(step.args)

    def first_call(*values: Any) -> Any:
        args = eager_arguments(op, step.args, values)
        with devices.device(step.operation.device) if step.placed else nullcontext():
            result, as_called = compute(op, args, step.types, step.operation.name)
        if as_called:
            op.direct[key] = op.result_dtypes(step.outputs)
            settle()
        return result

    return first_call
