"""Starting early: steps that only start work, which then goes on beside the steps that follow."""

from __future__ import annotations

from tapeflow.graph.codegen.program import Program, Step


def start_early(program: Program) -> None:
    """Moves steps that start work to where their inputs have been computed; they keep their order."""
    if not any(step.op.early for step in program.steps):
        return
    place = {id(t): i for i, step in enumerate(program.steps) if not step.op.early for t in step.outputs}
    after: dict[int, list[Step]] = {}  # by the number of the step that they follow
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
