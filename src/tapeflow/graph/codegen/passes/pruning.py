"""Pruning: what no output and no side effect needs is left out."""

from __future__ import annotations

from tapeflow.graph.codegen.program import Program


def prune(program: Program) -> None:
    """Leaves out the steps whose outputs nobody takes."""
    needed = {id(t) for t in program.outputs}
    kept = []
    for step in reversed(program.steps):
        if step.must_run or any(id(t) in needed for t in step.outputs):
            kept.append(step)
            needed.update(id(t) for t in step.inputs)
    program.steps = kept[::-1]
