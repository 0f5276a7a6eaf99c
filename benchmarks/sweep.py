#!/usr/bin/env python3
"""The public functions of seven namespaces with one usual input, beside TensorFlow: the slowest ratios first.

    python benchmarks/sweep.py [--only TEXT ...] [--rounds N] [--threads N] [--above RATIO]
                               [--python FRAMEWORK=INTERPRETER ...]

`programs/usual_inputs.py` has the calls; `--only` keeps those with a text in them. Workers and rounds are those of
`run.py`: one thread and processor time, or the clock if there are more threads. A ratio is TapeFlow's time over
TensorFlow's, the median over the rounds. It should be at most `LIMIT`.
"""

import argparse
import contextlib
import statistics

from run import PROGRAMS, differences, interpreter_option, measure_in_turn, rounds_option
from tables import Table, duration, ratio
from workers import Worker, interpreters

LIMIT = 1.5
PROGRAM = PROGRAMS / "usual_inputs.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", dest="benchmarks", nargs="+", metavar="TEXT")
    parser.add_argument("--rounds", type=rounds_option, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--above", type=float, default=LIMIT, metavar="RATIO")
    parser.add_argument("--python", type=interpreter_option, action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()
    args.core, args.clock = False, "processor" if args.threads == 1 else "wall"

    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(framework, python, PROGRAM, args.threads))
            for framework, python in interpreters(dict(args.python), ["tapeflow", "tensorflow"]).items()
        ]
        times, digests = measure_in_turn("usual_inputs", workers, args)
    rows = []
    for call, by_column in times.items():
        ours, theirs = by_column["tapeflow", ""], by_column["tensorflow", ""]
        if ours and theirs:
            median = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            rows.append((median, call, statistics.median(ours), statistics.median(theirs)))
    rows.sort(reverse=True)
    title = f"{len(rows)} functions ({args.threads} thread{'s' * (args.threads > 1)}, {args.clock} time)"
    table = Table(title, ["", "tapeflow", "tensorflow", "ratio"], notes=differences(digests))
    table.rows = [[call, duration(a), duration(b), ratio(r)] for r, call, a, b in rows if r > args.above]
    above = sum(r > LIMIT for r, *_ in rows)
    mean = statistics.geometric_mean(r for r, *_ in rows)
    table.notes.append(f"{above} of {len(rows)} are above {LIMIT}. The geometric mean is {mean:.2f}.")
    print(table.text())


if __name__ == "__main__":
    main()
