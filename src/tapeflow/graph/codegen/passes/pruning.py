"""Pruning (dead code elimination): removes steps that no output and no side effect depends on."""

from __future__ import annotations

from tapeflow.graph.codegen.program import Program


def prune(program: Program) -> None:
    """Removes the steps whose outputs have no use, unless they must run."""
    needed = {id(t) for t in program.outputs}
    live = []
    for step in reversed(program.steps):
        if step.must_run or any(id(t) in needed for t in step.outputs):
            live.append(step)
            needed.update(id(t) for t in step.inputs)
    program.steps = live[::-1]
