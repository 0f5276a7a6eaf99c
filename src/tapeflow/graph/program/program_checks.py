"""Checks of programs between passes: a debug mode for authors of passes.

Set `TAPEFLOW_CHECK_PASSES=1` in the environment to turn it on. It checks after each pass that an earlier step computes
each input of a step, and that the dtypes and shapes of outputs agree with the op's inference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tapeflow.core import errors
from tapeflow.core.context import CHECKS_PROGRAMS
from tapeflow.graph.ir.shapes import infer
from tapeflow.graph.program.program import Program, Step


def run_passes(program: Program, passes: Sequence[Callable[[Program], None]]) -> None:
    """Runs passes on a program. In debug mode, checks the program after each pass.

    Args:
        program: the program, which the passes change.
        passes: the passes, in their order.

    Raises:
        InternalError: in debug mode, a pass left a wrong step.
    """
    for run in passes:
        run(program)
        if CHECKS_PROGRAMS:
            for wrong in wrong_steps(program):
                raise errors.InternalError.of(f"After the pass {run.__name__!r}: {wrong}")


def wrong_steps(program: Program) -> list[str]:
    """Returns the errors in the steps of a program, one sentence each."""
    wrong = []
    computed = {id(t) for t in program.inputs} | set(program.constants)
    for step in program.steps:
        wrong += [f"{step} uses {t}, which no step before it computes." for t in step.inputs if id(t) not in computed]
        computed.update(id(t) for t in step.outputs)
        if step.registered:
            wrong += _wrong_dtypes(step) or _wrong_shapes(step)
    wrong += [f"The output {t} is never computed." for t in program.outputs if id(t) not in computed]
    return wrong


def _wrong_dtypes(step: Step) -> list[str]:
    """Returns the errors in a step's dtypes: inconsistent inputs, and outputs that differ from the op's inference."""
    op, types = step.op, step.types
    wrong = [
        f"{step} takes {tensor.name} of dtype {tensor.dtype.name} as '{argument.name}', not {wanted.name}."
        for kind, argument, arg in zip(op.kinds, op.opdef.inputs, step.args, strict=False)
        if kind in ("tensor", "list") and not argument.type_list_attr
        for tensor in (arg if kind == "list" else [arg])
        if tensor.dtype is not (wanted := argument.type or types[argument.type_attr])
    ]
    inferred = op.output_dtypes(types, len(step.outputs))
    wrong += [
        f"{step} computes {tensor.name} of dtype {dtype.name}, not {tensor.dtype.name}."
        for tensor, dtype in zip(step.outputs, inferred, strict=True)
        if tensor.dtype is not dtype
    ]
    return wrong


def _wrong_shapes(step: Step) -> list[str]:
    """Returns the errors in the shapes of a step's outputs."""
    try:
        with step.operation.graph.as_default():  # some shape rules give less specific shapes while a graph is built
            shapes = infer(step.op, step.args, step.types, len(step.outputs))
    except (errors.OpError, ValueError):  # the kernel raises it at run time
        return []
    return [
        f"{step} computes {tensor.name} of shape {shape}, not {tensor.shape}."
        for tensor, shape in zip(step.outputs, shapes, strict=True)
        if not shape.is_compatible_with(tensor.shape)
    ]
