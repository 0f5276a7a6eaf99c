#!/usr/bin/env python3
"""Calls raw ops as a hostile file would, and checks that each call ends soon, in little memory, and without a crash.

    python scripts/stress/raw_ops.py --calls 100000 [--seed 0] [--only Conv] [--findings FILE]

Shapes don't fit together, sizes are huge or negative, tensors are empty, large or strided, attrs are out of range
(`fuzzing/hostile.py`). Calls run in child processes, eagerly, in a compiled function, and in one that knows no shape.
A call may give a result, or raise one of TensorFlow's errors, TypeError, ValueError or NotImplementedError. All else is
printed by op: a process that ended, a call that took more than `--timeout` seconds (nine times that to compile and
run), more than a gigabyte that it used beside its results, and errors of Python and torch. The same seed draws the same
calls.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import sys
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

from fuzzing import outcomes, processes  # noqa: E402

MODES = ("eager", "eager", "jit", "jit_unknown_rank")
ALLOWED = {"TypeError", "ValueError", "NotImplementedError"}
ALLOCATED = 7 << 29  # bytes that a process may have allocated, whether it uses them or not
MEMORY = 1 << 30  # bytes that a call may use beside its results
# TensorFlow raises other errors of Python for ops on references, and for variables in the place of attrs.
ALSO_OF_TENSORFLOW = ("does not support eager execution", "'SymbolicTensor' object has no attribute 'numpy'")


def draw_tasks(calls: int, seed: int, only: str) -> list[dict[str, Any]]:
    """Calls of all ops in turn, each in a mode."""
    import tapeflow as tf
    from fuzzing import drawing, hostile, raw, seeds

    tf.get_logger().setLevel("ERROR")
    names = [name for name in hostile.names(tf) if name.startswith(only)]
    functions, several = raw.functions(tf), raw.raw_seeds(tf)
    drawer = drawing.Drawer(several, functions, seeds.parameters(functions, several))
    tasks = []
    for i in range(calls):
        rng = random.Random(f"{seed}:{i}")
        call = hostile.draw(drawer, rng, names[i % len(names)])
        tasks.append({"id": i, "call": call, "mode": rng.choice(MODES)})
    return tasks


def fault(outcome: dict[str, Any]) -> str:
    """What is wrong with an outcome, or ""."""
    import tapeflow as tf

    if "crash" in outcome:
        return f"crash: {outcome['crash']}"
    if "hang" in outcome:
        return "hang"
    if outcome.get("memory", 0) > outcomes.size_of(outcome) + MEMORY:
        return f"memory: {outcome['memory'] >> 20} MiB"
    kind = outcome.get("error", "")
    if not kind or kind in ALLOWED or any(words in outcome["message"] for words in ALSO_OF_TENSORFLOW):
        return ""
    if kind == "UnknownError" or not hasattr(tf.errors, kind):
        return f"{kind}: {outcome['message']}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the beginning of the ops' names")
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--findings", type=pathlib.Path, help="write every finding here, a line of JSON for each")
    arguments = parser.parse_args()
    from fuzzing.values import written

    tasks = draw_tasks(arguments.calls, arguments.seed, arguments.only)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = processes.run("tapeflow", sys.executable, tasks, folder, arguments.timeout, ALLOCATED)
    found = [(task, fault(results[task["id"]])) for task in tasks]
    found = sorted([pair for pair in found if pair[1]], key=lambda pair: pair[0]["call"]["function"])
    for task, wrong in found:
        print(f"{wrong[:200]}\n    {task['mode']}: {written(task['call'])[:600]}")
    if arguments.findings:
        lines = [json.dumps({**task, "fault": wrong}) + "\n" for task, wrong in found]
        arguments.findings.write_text("".join(lines))
    raised = sum("error" in outcome for outcome in results.values())
    print(f"{len(tasks)} calls: {len(tasks) - raised} results, {raised} errors, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
