"""Reports of the replacements that passes make in a program, for users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tapeflow.graph.ir.positions import stack_summary
from tapeflow.graph.program.program import Program
from tapeflow.graph.program.program_checks import run_passes


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


def _user_line(operation: Any) -> str:
    """Returns the file and line of the user's code that added an operation."""
    frames = stack_summary(operation.position)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else operation.name
