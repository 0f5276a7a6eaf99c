"""Starting early: starts asynchronous work as early as possible, so it overlaps with other steps."""

from __future__ import annotations

from tapeflow.graph.program.program import Program, Step


def start_early(program: Program) -> None:
    """Moves steps that start work directly behind the steps that compute their inputs, in unchanged order."""
    if not any(step.op.early for step in program.steps):
        return
    place = {id(t): i for i, step in enumerate(program.steps) if not step.op.early for t in step.outputs}
    after: dict[int, list[Step]] = {}  # the steps to insert, by the index of the step before them
    latest = -1
    for step in program.steps:
        if step.op.early:
            latest = max([latest, *(place.get(id(t), -1) for t in step.inputs)])
            after.setdefault(latest, []).append(step)
            place.update((id(t), latest) for t in step.outputs)
    steps = after.get(-1, [])
    for i, step in enumerate(program.steps):
        if not step.op.early:
            steps.append(step)
            steps += after.get(i, [])
    program.steps = steps
