#!/usr/bin/env python3
"""Steps of models by the clock, with the default threads, alone and beside busy loops.

    python benchmarks/busy.py [--models NAME ...] [--steps NAME ...] [--loops N] [--rounds N]
                              [--python tensorflow=INTERPRETER]

`--models all` takes all models, and `--loops 0` measures them alone.

In a round, TapeFlow and TensorFlow time each benchmark in turn: first while the loops are stopped, then while they run.
A ratio is TensorFlow's time over TapeFlow's: above 1, TapeFlow is faster. The last column is the busy ratio over the
quiet one: below 1, TapeFlow loses more than TensorFlow to the loops. All figures are medians over the rounds. A
line below the table says how many processors others used: if it is not 0.0, the quiet figures are not quiet.
"""

import argparse
import contextlib
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import zoo
from tables import Table, duration, ratio
from workers import Worker, interpreters

FRAMEWORKS = ("tapeflow", "tensorflow")
MODELS = ("GPT", "ViT 32x32", "1-D convolutions", "U-Net 64x64", "DenseNet121 96x96", "causal transformer 4x128")
STEPS = ("train_on_batch", "predict", "own loop in a tf.function", "eager step")
# It ends with its parent.
LOOP = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


class Loops:
    """Processes that use a processor each while this is entered."""

    def __init__(self, count):
        self._processes = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(count)]
        self._signal(signal.SIGSTOP)

    def __enter__(self):
        self._signal(signal.SIGCONT)

    def __exit__(self, *exception):
        self._signal(signal.SIGSTOP)

    def _signal(self, number):
        for process in self._processes:
            process.send_signal(number)

    def close(self):
        for process in self._processes:
            process.kill()
            process.wait()


def used():
    """Returns the seconds that all processors have worked since the system's start."""
    user, nice, system, _, _, interrupts, soft = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def others():
    """Returns how many processors are in use while this process sleeps."""
    before, start = used(), time.perf_counter()
    time.sleep(0.3)
    return (used() - before) / (time.perf_counter() - start)


def measure(workers, loops, models, steps, rounds):
    """Returns {(benchmark, framework, whether loops run): [seconds of each round]}, and the processors in use."""
    keys = [(f"{model}: {step}", "") for model in models for step in steps]
    states = ((False, contextlib.nullcontext()), *([(True, loops)] if loops else []))
    times, load = {}, []
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        order = workers if number % 2 == 0 else workers[::-1]
        for key in keys:
            load.append(others())
            for busy, state in states:
                with state:
                    for worker in order:
                        seconds = worker.ask("mean", key)["seconds"]
                        times.setdefault((key[0], worker.framework, busy), []).append(seconds)
                        line = f"{key[0]}, {worker.framework}{', busy' * busy}: {duration(seconds)}"
                        print(line, file=sys.stderr, flush=True)
    return times, load


def table(times, load, loops):
    titles = ["", "quiet", "", *(["busy", "", "busy / quiet"] if loops else [])]
    result = Table(f"Beside {loops} busy loops (default threads)" if loops else "Models (default threads)", titles)
    logarithms = {}
    for name in dict.fromkeys(name for name, _, _ in times):
        row, ratios = [name], []
        for busy in (False, True)[: 2 if loops else 1]:
            ours, theirs = (times[name, framework, busy] for framework in FRAMEWORKS)
            ratios.append(statistics.median(y / x for x, y in zip(ours, theirs, strict=True)))
            row += [duration(statistics.median(ours)), ratio(ratios[-1])]
        logarithms.setdefault(name.partition(": ")[2], []).append(math.log(ratios[0]))
        result.rows.append([*row, *([f"{ratios[1] / ratios[0]:.2f}"] if loops else [])])
    for step, values in logarithms.items():
        result.notes.append(f"Geometric mean, quiet: {step} {ratio(math.exp(statistics.mean(values)))}.")
    result.notes.append(f"{os.cpu_count()} processors, {statistics.median(load):.1f} in use by others.")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS, metavar="NAME")
    parser.add_argument("--steps", nargs="+", default=STEPS[:3], metavar="NAME", choices=STEPS)
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=INTERPRETER")
    args = parser.parse_args()
    pythons = interpreters(dict(choice.split("=", 1) for choice in args.python), FRAMEWORKS)
    program = pathlib.Path(__file__).resolve().parent / "programs/models.py"
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(Worker(f, python, program, None)) for f, python in pythons.items()]
        loops = Loops(args.loops) if args.loops else None
        if loops:
            stack.callback(loops.close)
        models = zoo.MODELS if args.models == ["all"] else args.models
        print(table(*measure(workers, loops, models, args.steps, args.rounds), args.loops).text())


if __name__ == "__main__":
    main()
