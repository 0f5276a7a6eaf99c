#!/usr/bin/env python3
"""`tf.function(jit_compile=True)` under TapeFlow (LLVM) and TensorFlow (XLA): steady state, and compiling.

    python benchmarks/compiling.py [--cases TEXT ...] [--rounds N] [--markdown FILE]
                                   [--python FRAMEWORK=INTERPRETER ...]

Each framework runs each case in a new process, on one thread: the function without and with `jit_compile=True`, calls
of both alternating; times are the processor's, medians of the rounds. Compiling is the first call with
`jit_compile=True`, in the time of the process and of the compilers that it starts; TapeFlow's with an empty cache, and
again in another process, with the cache that the first one left.
"""

import argparse
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from tables import Table, duration, ratio
from workers import interpreters

ROOT = pathlib.Path(__file__).resolve().parent
SECONDS = 0.2  # of calls in a round
CASES = {
    "elementwise chain, 1024x1024": "elementwise chain, 1024x1024",
    "10-layer MLP train step": "10-layer MLP train step",
    "LSTM cell": "LSTM cell",
    "LSTM of 80 steps: train step": "LSTM of 80 steps: train step",
    "GRU of 80 steps: train step": "GRU of 80 steps: train step",
    "100 steps of descent in a while": "100 steps of descent in a while",
    "20 elementwise steps, 512x512": "20 elementwise steps, 512x512",
    "1,000 steps of Runge and Kutta": "1,000 steps of Runge and Kutta",
    "200 steps of Runge and Kutta: gradient": "200 steps of Runge and Kutta: gradient",
    "5,000 iterations of scalars and an if": "5,000 iterations of scalars and an if",
    "80 steps of a filter, in a TensorArray": "80 steps of a filter, in a TensorArray",
    "LSTM by hand, one sample, 80 steps": "LSTM by hand, one sample, 80 steps",
    "GRU by hand, one sample, 80 steps": "GRU by hand, one sample, 80 steps",
    "500 steps of Hamiltonian Monte Carlo": "500 steps of Hamiltonian Monte Carlo",
    "crops, flips and colors of 16 images": "crops, flips and colors of 16 images",
    "pads, crops and flips of 16 images": "pads, crops and flips of 16 images",
    "causal transformer 4x128: step": "causal transformer 4x128",
    "masked bidirectional LSTM: step": "masked bidirectional LSTM, 80 steps",
    "U-Net 64x64: step": "U-Net 64x64",
    "MobileNetV2 96x96: step": "MobileNetV2 96x96",
}

# --- a process -------------------------------------------------------------------------------


def variants(tf, case):
    """Returns calls of the function without and with `jit_compile=True`."""
    import compiled
    from programs import functions, models

    if case in functions.setup(tf):
        calls = functions.setup(tf)[case]
        return calls[""], calls["jit_compile"]
    if case in compiled.functions(tf):  # each has variables of its own
        first, second = (compiled.functions(tf)[case] for _ in range(2))
        return tf.function(first), tf.function(second, jit_compile=True)
    loop = models.Loop(tf, CASES[case])
    step = lambda: loop.eager()  # noqa: E731  (a tf.function keeps no object alive for its method)
    return tf.function(step), tf.function(step, jit_compile=True)


def processor_time():
    """The processor time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def tapeflow():
    sys.path.insert(0, str(ROOT.parent / "src"))
    import torch

    import tapeflow as tf

    torch.set_num_threads(1)
    return tf


def measure(framework, case, rounds):
    if framework == "tapeflow":
        tf = tapeflow()
    else:
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    plain, compiled = (functools.partial(_finished, tf, call) for call in variants(tf, case))
    start = processor_time()
    compiled()  # before the other one, which compiles loops of its own
    compiling = processor_time() - start
    plain()
    calls = {}
    for call in (plain, compiled):
        start = time.process_time()
        call()
        calls[call] = max(1, round(SECONDS / max(time.process_time() - start, 1e-6)))
    seconds = {call: [] for call in calls}
    for _ in range(rounds):
        for call, count in calls.items():
            start = time.process_time()
            for _ in range(count):
                call()
            seconds[call].append((time.process_time() - start) / count)
    return [compiling, *(statistics.median(s) for s in seconds.values())]


def _finished(tf, call):
    """Calls, and waits for the result: XLA's may not be there yet."""
    return tf.nest.map_structure(lambda t: t.numpy(), call())


# --- all of them -----------------------------------------------------------------------------


def run(python, framework, case, cache, *options):
    environment = os.environ | {
        "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "TAPEFLOW_CACHE_DIR": cache,
    }  # fmt: skip
    command = [python, __file__, "--worker", framework, case, *options]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{framework} failed on {case}")
    figures = json.loads(done.stdout.splitlines()[-1])
    print(f"{case}, {framework}: {figures}", file=sys.stderr, flush=True)
    return figures


def row(pythons, case, rounds):
    with tempfile.TemporaryDirectory() as cache:
        cold, plain, compiled = run(pythons["tapeflow"], "tapeflow", case, cache, str(rounds))
        again, _, _ = run(pythons["tapeflow"], "tapeflow", case, cache, "1")
        cells = [case, duration(plain), f"{duration(compiled)} {ratio(plain / compiled):>6}"]
        if "tensorflow" not in pythons:
            return [*cells, "-", "-", duration(cold), duration(again), "-"]
        xla, other, other_compiled = run(pythons["tensorflow"], "tensorflow", case, cache, str(rounds))
    cells += [f"{duration(t)} {ratio(t / ours):>6}" for t, ours in ((other, plain), (other_compiled, compiled))]
    return [*cells, duration(cold), duration(again), duration(xla)]


def chosen(case, args):
    return not args.cases or any(text in case for text in args.cases)


def main():
    if sys.argv[1:2] == ["--worker"]:
        framework, case, rounds = sys.argv[2:]
        print(json.dumps(measure(framework, case, int(rounds))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", metavar="TEXT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()
    pythons = interpreters(dict(p.split("=", 1) for p in args.python), ["tapeflow", "tensorflow"])
    header = [
        "", "tapeflow", "tapeflow jit_compile", "tensorflow", "tensorflow jit_compile", "compiling", "cached", "XLA's",
    ]  # fmt: skip
    table = Table("Compiled by LLVM, against XLA (1 thread, processor time)", header)
    table.notes = [
        "The ratio of tapeflow jit_compile is that of the Python version's time to its own; those of tensorflow are to "
        "the column of the same kind.",
        "Compiling: the first call, with what the cache on disk has of an earlier process, and XLA's.",
    ]
    for case in (case for case in CASES if chosen(case, args)):
        table.rows.append(row(pythons, case, args.rounds))
    print(table.text())
    if args.markdown:
        args.markdown.write_text(table.markdown() + "\n")


if __name__ == "__main__":
    main()
