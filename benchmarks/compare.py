#!/usr/bin/env python3
"""Two checkouts of TapeFlow, in turn in one run: what a change costs or gives.

    python benchmarks/compare.py BEFORE PROGRAM ... [--benchmarks TEXT ...] [--rounds N] [--clock wall|processor]

BEFORE is the folder of another checkout (`git worktree add ../before HEAD~1`), PROGRAM the name of a file in
benchmarks/programs/. In a round both time every benchmark, one right after the other; a ratio is this checkout's time
over the other's, and the median over the rounds is printed: above 1, the change is slower. Compile both first
(`python -m compileall -q src`) where the environment keeps Python from writing bytecode.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[1]


class Side:
    """A worker of one checkout."""

    def __init__(self, root, program):
        command = [
            sys.executable,
            root / "benchmarks/worker.py",
            "tapeflow",
            root / f"benchmarks/programs/{program}.py",
        ]
        env = {**os.environ, "PYTHONPATH": str(root / "src")}
        self.process = subprocess.Popen(
            command,
            cwd=root,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.benchmarks = [tuple(key) for key in json.loads(self.process.stdout.readline())["benchmarks"]]

    def seconds(self, key, request):
        self.process.stdin.write(json.dumps({request: key}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "seconds" not in answer:
            sys.exit(f"{key}: {answer}")
        return answer["seconds"]


def compare(before, program, args):
    """Prints the ratios of a program's benchmarks, the largest first, and their geometric mean."""
    sides = Side(before, program), Side(HERE, program)
    texts = args.benchmarks or [""]
    both = [key for key in sides[1].benchmarks if key in sides[0].benchmarks]
    ratios = {key: [] for key in both if any(text in key[0] for text in texts)}
    request = "processor" if args.clock == "processor" else "time"
    for i in range(args.rounds):
        for key, so_far in ratios.items():
            order = sides if i % 2 == 0 else sides[::-1]  # whoever is first has no advantage
            seconds = {side: side.seconds(key, request) for side in order}
            so_far.append(seconds[sides[1]] / seconds[sides[0]])
    medians = {key: statistics.median(values) for key, values in ratios.items()}
    for (name, variant), ratio in sorted(medians.items(), key=lambda item: -item[1]):
        print(f"{ratio:.3f}  {program}: {name} {variant}".rstrip())
    print(f"{math.exp(statistics.fmean(map(math.log, medians.values()))):.3f}  {program}: geometric mean\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--benchmarks", nargs="+", metavar="TEXT")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    for program in args.programs:
        compare(args.before.resolve(), program, args)


if __name__ == "__main__":
    main()
