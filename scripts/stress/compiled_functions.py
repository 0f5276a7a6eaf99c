#!/usr/bin/env python3
"""Runs random compiled functions between protected pages: one element outside of a tensor ends the process.

    python scripts/stress/compiled_functions.py --functions 20000 [--seed 0] [--threads 1] [--no-guards]

Each function is called several times, with sizes and indices that change between calls, in child processes with limits
of time and memory (`fuzzing/compiled.py`). Each call must give what it gives eagerly, or raise where that raises. A
library that `cc` builds from `fuzzing/guard_pages.c` puts the tensors between protected pages. The same seed draws the
same functions.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

from fuzzing import processes  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first function; the next ones count on from it")
    parser.add_argument("--threads", type=int, default=1, help="of a kernel")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a function")
    parser.add_argument("--no-guards", action="store_true", help="use torch's own memory")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.functions)
    tasks = [{"id": seed, "call": {"seed": seed}, "mode": "compiled"} for seed in seeds]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ |= {"OMP_NUM_THREADS": str(arguments.threads), "TAPEFLOW_CACHE_DIR": name}
        if not arguments.no_guards:
            library, source = folder / "guard_pages.so", ROOT / "scripts" / "fuzzing" / "guard_pages.c"
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
            os.environ["LD_PRELOAD"] = str(library)
        outcomes = processes.run("tapeflow", sys.executable, tasks, folder, arguments.timeout)
    faults = {seed: outcome for seed, outcome in outcomes.items() if "same" not in outcome}
    for seed, outcome in faults.items():
        print(f"--- function {seed}")
        for kind, what in outcome.items():
            print(f"{kind}: {what}")
    calls = sum(outcome.get("same", 0) for outcome in outcomes.values())
    native = sum(outcome.get("native", False) for outcome in outcomes.values())
    print(f"{len(outcomes)} functions, {native} with machine code, {calls} calls compared, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
