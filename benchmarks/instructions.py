#!/usr/bin/env python3
"""Counts the Python instructions and the calls of C functions in ten core benchmarks: exact, whatever else runs.

    python benchmarks/instructions.py             # compares with the record, and fails if one has grown by 3 %
    python benchmarks/instructions.py --record    # after a change that is worth its instructions

The record, `instructions.json`, has the counts of one version of Python: others have other instructions. With another
version nothing is compared. Times of kernels are not in these counts; `run.py` and `compare.py` measure them.
"""

import argparse
import gc
import json
import os
import pathlib
import runpy
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
RECORD = FOLDER / "instructions.json"
TOLERANCE = 0.03
WARM = 20  # calls before the counted one: caches are full by then
CORE = [
    ("small_ops", "x + y"),
    ("small_ops", "matmul"),
    ("small_ops", "reduce_mean, axis"),
    ("small_ops", "x[1:, None]"),
    ("small_ops", "convert a list"),
    ("small_ops", "variable.assign_add"),
    ("gradients", "w*w + 2.*w + 5."),
    ("gradients", "10-layer MLP"),
    ("functions", "a one-op function"),
    ("functions", "tracing and first call"),
]


def count(call):
    """Returns how many Python instructions and calls of C functions a call runs in this thread."""
    counts = {"instructions": 0, "calls": 0}

    def trace(frame, event, argument):
        frame.f_trace, frame.f_trace_opcodes, frame.f_trace_lines = trace, True, False
        if event == "opcode":
            counts["instructions"] += 1
        return trace

    def profile(frame, event, argument):
        if event == "c_call":
            counts["calls"] += 1

    gc.collect()
    gc.disable()
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
        sys.setprofile(None)
        gc.enable()
    return counts


def measure():
    """Returns the counts of all benchmarks by their names."""
    import tapeflow as tf
    from tapeflow.core import mkl

    mkl._find_slowness = lambda: mkl.Slowness(0.0, 0.0)  # a choice of kernels that processors differ in is not counted
    benchmarks = {
        program: runpy.run_path(str(FOLDER / "programs" / f"{program}.py"))["setup"](tf)
        for program in dict.fromkeys(program for program, _ in CORE)
    }
    counts = {}
    for program, name in CORE:
        call = benchmarks[program][name]
        for _ in range(WARM):
            call()
        counts[f"{program}: {name}"] = count(call)
    return counts


def measured():
    """Returns the counts of a fresh process, whose sets and dictionaries are in the same order each time."""
    fixed = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "-1"}
    paths = os.pathsep.join([str(FOLDER.parent / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, "--measure"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TAPEFLOW_")}
    environment = plain | fixed | {"PYTHONPATH": paths}
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def grown(counts, recorded):
    """Returns a line for each count that has grown by more than the tolerance."""
    return [
        f"{name}: {value} {what}, recorded are {recorded[name][what]} ({value / recorded[name][what] - 1:+.1%})"
        for name, by_kind in counts.items()
        for what, value in by_kind.items()
        if value > recorded[name][what] * (1 + TOLERANCE)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        return print(json.dumps(measure()))
    python = "{}.{}".format(*sys.version_info[:2])
    if args.record:
        RECORD.write_text(json.dumps({"python": python, "counts": measured()}, indent=2) + "\n", encoding="utf-8")
        return None
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if record["python"] != python:
        return print(f"The record is of Python {record['python']}; this is {python}, so nothing is compared.")
    counts = measured()
    for name, by_kind in counts.items():
        print(f"{name:40}", *(f"{value:8} {what}" for what, value in by_kind.items()))
    lines = grown(counts, record["counts"])
    advice = "If the change is worth it, record the counts anew: benchmarks/instructions.py --record"
    return "\n".join([*lines, advice]) if lines else None


if __name__ == "__main__":
    sys.exit(main())
