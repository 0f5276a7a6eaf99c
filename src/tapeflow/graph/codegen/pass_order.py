"""The order of passes. A pass rewrites a program to compute the same results with less work.

`simplify` runs when a program is derived from a graph. The other passes substitute faster kernels for the ops' own
kernels, and run before the source is written. `SPECIALIZE` is for branches and loop bodies. `SPECIALIZE_WHOLE`
is for whole functions: it may also cache values between calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.graph.codegen.passes.attention import recognize
from tapeflow.graph.codegen.passes.bound_attrs import bind
from tapeflow.graph.codegen.passes.early_slices import select
from tapeflow.graph.codegen.passes.early_starts import start_early
from tapeflow.graph.codegen.passes.result_cache import cache
from tapeflow.graph.codegen.passes.reuse import reuse
from tapeflow.graph.codegen.passes.small_functions import compile_functions
from tapeflow.graph.codegen.passes.weighted_layers import join_layers
from tapeflow.graph.compiler.clusters import cluster, cluster_all, cluster_small
from tapeflow.graph.compiler.native_loops import compile_loops
from tapeflow.graph.ir.positions import stack_summary
from tapeflow.graph.program.program import Program
from tapeflow.graph.program.program_checks import run_passes
from tapeflow.graph.program.simplify import prune

if TYPE_CHECKING:
    from tapeflow.graph.ir.operation import Operation

Pass = Callable[[Program], None]


def specialize_inner(program: Program) -> None:
    """Substitutes faster kernels in the branches and loops that the source writes."""
    for step in program.steps:
        if step.is_written:
            step.programs = step.op.specialized()


_SMALL: tuple[Pass, ...] = select, compile_functions  # machine code computes only the rows that are used
_KERNELS: tuple[Pass, ...] = compile_loops, recognize
_ORDER: tuple[Pass, ...] = start_early, reuse, bind, specialize_inner
SPECIALIZE: tuple[Pass, ...] = (select, *_KERNELS, prune, cluster_small, *_ORDER)
SPECIALIZE_WHOLE: tuple[Pass, ...] = (*_SMALL, *_KERNELS, join_layers, prune, cache, cluster, *_ORDER)
# With `jit_compile=True`.
COMPILE: tuple[Pass, ...] = (select, *_KERNELS, prune, cluster_all, *_ORDER)
COMPILE_WHOLE: tuple[Pass, ...] = (*_SMALL, *_KERNELS, join_layers, prune, cache, cluster_all, *_ORDER)


# ---- reports ---------------------------------------------------------------------------------------------------------


def rewrites(name: str, program: Program, passes: Sequence[Any], inner: Sequence[Any]) -> list[str]:
    """Returns the replacements and near misses of passes in a program, one per line.

    Args:
        name: the name of the program.
        program: the program. It is not changed.
        passes: the passes for the program.
        inner: the passes for loop bodies and branches.
    """
    program = program.copied()
    count = len(program.steps)
    lines = []
    for run in passes:
        before = [step.op for step in program.steps]  # holding them keeps their ids unique
        known = {id(op) for op in before}
        run_passes(program, [run])
        made = [step for step in program.steps if not step.registered and id(step.op) not in known]
        calls = Counter(step.name for step in made)
        if calls:
            of = sum(len(step.origins) for step in made)
            names = ", ".join(f"{op} ({n})" if n > 1 else op for op, n in calls.items())
            lines.append(f"  {run.__name__}: {of} {'op' if of == 1 else 'ops'} as {names}")
    for miss in program.misses:
        instead = "" if miss.instead is None else f" ({miss.instead.type} at {_user_line(miss.instead)})"
        lines.append(f"  near miss: {miss.name} at {_user_line(miss.operation)}: {miss.reason}{instead}")
    bodies = [body for step in program.steps if not step.registered for body in step.op.bodies.values()]
    left = len(program.steps)
    head = f"{name}: {count} {'op' if count == 1 else 'ops'} in {left} {'call' if left == 1 else 'calls'}"
    return [head, *lines, *(line for b in bodies for line in rewrites(b.name, b.compiled.program, inner, inner))]


def _user_line(operation: Operation) -> str:
    """Returns the file and line of the user's code that added an operation."""
    frames = stack_summary(operation.position)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else operation.name
