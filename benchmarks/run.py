#!/usr/bin/env python3
"""The same programs under TapeFlow, TensorFlow, PyTorch and JAX, in turn in one run.

    python benchmarks/run.py [--only NAME ...] [--benchmarks TEXT ...] [--frameworks NAME ...] [--rounds N]
                             [--clock wall|processor] [--page FILE] [--python FRAMEWORK=INTERPRETER ...] [--core]

Programs (benchmarks/programs/): small_ops, variables, gradients, vectorized, functions, small_functions, cuda_graphs,
mnist_step, keras, models, bridge, replicas, two_workers, data, strings, checkpoints, peak_memory, first_steps; and
import_time.
`--benchmarks` keeps those whose names contain a text. `--core` keeps the forty of `core.py`, and shows a progress bar.
`--page` writes Markdown, or HTML with a plot if the name ends in `.html`. TapeFlow and TensorFlow run the very same
functions; beside them stand the PyTorch and JAX programs as one writes them natively (`variables`, `keras` and
`replicas` have none, `models` runs Keras on them).

Each framework runs in a process of its own, with the interpreter that `--python tensorflow=/path/to/python` or the
variable TAPEFLOW_BENCH_PYTHON_TENSORFLOW names (and so for the others), by default this one. A framework that cannot be
imported there is left out, with a line that says so. Everything runs on the CPU, with the number of threads the program
states, but for cuda_graphs, which is left out where there is no GPU.

In a round, each framework in turn (the order changes from round to round) times one benchmark: five batches of about
20 ms, of which the fastest counts. The figures are medians over the rounds. A ratio is taken within a round, between
measurements that lie next to each other, and is that framework's time over TapeFlow's: above 1, TapeFlow is faster.
On a busy machine, `--clock processor` measures the time that the process itself ran.
The results of all frameworks are compared too, and a line says so where they differ.
"""

import argparse
import contextlib
import datetime
import math
import os
import pathlib
import platform
import runpy
import shlex
import statistics
import sys
from collections import defaultdict

import import_time
from tables import Table, duration, megabytes, ratio
from workers import FRAMEWORKS, Worker, WorkerError, interpreters

import core

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
REFERENCE = "tapeflow"
MEMORY_ROUNDS = 3  # memory varies little, and each measurement starts a process
TITLES = {
    "small_ops": "Small ops",
    "variables": "Variables",
    "vectorized": "Many derivatives at once",
    "gradients": "Gradients",
    "functions": "Traced functions",
    "small_functions": "Small functions",
    "cuda_graphs": "CUDA graphs",
    "mnist_step": "MNIST training step",
    "keras": "Keras",
    "models": "Models",
    "replicas": "Two replicas on two CPUs",
    "bridge": "Models as modules of torch",
    "two_workers": "Two workers",
    "checkpoints": "Checkpoints",
    "data": "Input pipelines, an epoch",
    "strings": "Strings",
    "peak_memory": "Peak memory of a training step",
    "first_steps": "First training step and peak memory of models",
}


def log(line):
    print(line, file=sys.stderr, flush=True)


# --- time ------------------------------------------------------------------------------------


def time_program(name, pythons, args, versions):
    path = PROGRAMS / f"{name}.py"
    stated = runpy.run_path(str(path))
    threads = stated["THREADS"]
    with contextlib.ExitStack() as stack:
        workers = []
        for framework, python in pythons.items():
            try:
                worker = stack.enter_context(Worker(framework, python, path, threads, gpu=stated.get("GPU", False)))
            except WorkerError as error:
                log(f"{name}: {framework} is left out ({error})")
                continue
            versions[framework] = worker.version
            workers.append(worker)
        times, digests = measure_in_turn(name, workers, args)
    clock = ", processor time" * (args.clock == "processor")
    title = f"{TITLES[name]} ({threads} thread{'s' * (threads > 1)}{clock})"
    return time_table(title, times, differences(digests))


def chosen(name, benchmark, args):
    """Returns whether a benchmark of the program `name` is to be measured."""
    if args.core and benchmark not in core.BENCHMARKS[name]:
        return False
    return not args.benchmarks or any(text in benchmark for text in args.benchmarks)


def measure_in_turn(name, workers, args):
    """Returns {benchmark: {(framework, variant): [seconds of each round]}} and the digests in the same form."""
    times, digests, failed = defaultdict(lambda: defaultdict(list)), defaultdict(dict), set()
    benchmarks = list(dict.fromkeys(benchmark for worker in workers for benchmark, _ in worker.benchmarks))
    benchmarks = [benchmark for benchmark in benchmarks if chosen(name, benchmark, args)]
    request = "processor" if args.clock == "processor" else "time"
    for number in range(args.rounds):
        if not args.core:
            log(f"{name}: round {number + 1} of {args.rounds}")
        turn = number % max(1, len(workers))
        order = workers[turn:] + workers[:turn]
        for benchmark in benchmarks:
            for worker in order:
                for key in (key for key in worker.benchmarks if key[0] == benchmark):
                    column = (worker.framework, key[1])
                    if (benchmark, column) in failed:
                        continue
                    try:
                        answer = worker.ask(request, key)
                    except WorkerError as error:
                        log(f"{name}: {' '.join(column).strip()} has no figure for {benchmark!r} ({error})")
                        failed.add((benchmark, column))
                        continue
                    times[benchmark][column].append(answer["seconds"])
                    digests[benchmark][column] = answer["digest"]
            if args.core:
                args.progress.step(benchmark)
    return times, digests


def differences(digests):
    """A line for each benchmark whose results are not the same under all frameworks."""
    lines = []
    for benchmark, by_column in digests.items():
        values = list(by_column.values())
        if not all(math.isclose(value, values[0], rel_tol=1e-3, abs_tol=1e-4) for value in values):
            found = ", ".join(f"{' '.join(column).strip()} {value:.6g}" for column, value in by_column.items())
            lines.append(f"Results differ for {benchmark}: {found}")
    return lines


def time_table(title, times, notes):
    seen = dict.fromkeys(column for by_column in times.values() for column in by_column)
    columns = sorted(seen, key=lambda column: FRAMEWORKS.index(column[0]))
    reference = next((c for c in columns if c[0] == REFERENCE), None)
    others = [c for c in columns if c != reference]
    header = ["", *([REFERENCE] if reference else []), *(" ".join(c).strip() for c in others)]
    table = Table(title, header, notes=notes)
    ratios = defaultdict(list)
    for benchmark, by_column in times.items():
        row = [benchmark]
        for column in [reference, *others] if reference else others:
            seconds = by_column.get(column)
            cell = duration(statistics.median(seconds)) if seconds else "-"
            if seconds and by_column.get(reference) and column != reference:
                of_rounds = [s / r for s, r in zip(seconds, by_column[reference], strict=True)]
                ratios[column].append(statistics.median(of_rounds))
                if len(of_rounds) > 3:
                    quarter, _, three_quarters = statistics.quantiles(of_rounds, n=4)
                    table.spreads.append((three_quarters - quarter) / ratios[column][-1])
                cell += f" {ratio(ratios[column][-1]):>6}"
            row.append(cell)
        table.rows.append(row)
    if ratios:
        means = {c: statistics.geometric_mean(ratios[c]) for c in others if ratios[c]}
        table.rows.append(["geometric mean", "", *(ratio(means[c]) if c in means else "-" for c in others)])
        shares = ", ".join(f"{ratio(1 / mean)} {' '.join(c).strip()}" for c, mean in means.items())
        table.notes.insert(0, f"The other way round, TapeFlow's time is {shares}.")
    return table


# --- memory ----------------------------------------------------------------------------------


def first_steps(name, pythons, args, versions):
    path = PROGRAMS / f"{name}.py"
    stated = runpy.run_path(str(path))
    threads, allocations = stated["THREADS"], stated.get("ALLOCATIONS", False)
    figures, digests = defaultdict(lambda: defaultdict(list)), defaultdict(dict)
    for framework, python in list(pythons.items()):
        try:
            with Worker(framework, python, path, threads) as worker:
                versions[framework], benchmarks = worker.version, worker.benchmarks
            for key in (key for key in benchmarks if chosen(name, key[0], args)):
                log(f"{name}: {framework}, {key[0]}")
                requests = ["memory"] * min(args.rounds, MEMORY_ROUNDS) + ["allocations"] * (
                    allocations and framework in ("tapeflow", "torch")
                )
                for request in requests:
                    with Worker(framework, python, path, threads) as worker:  # a fresh process each time
                        answer = worker.ask(request, key)
                    for what, value in answer.items():
                        figures[key[0], framework][what].append(value)
                digests[key[0]][framework, ""] = figures[key[0], framework]["digest"][0]
        except WorkerError as error:
            log(f"{name}: {framework} is left out ({error})")
    columns = {"first": "first step, processor time", "peak": "peak RSS", "growth": "growth in the steps"}
    columns |= {"allocations": "allocated by ATen in a step"} if allocations else {}
    table = Table(f"{TITLES[name]} ({threads} thread{'s' * (threads > 1)})", ["", *columns.values()])
    table.notes += differences(digests)
    table.notes.append("Growth: the peak beyond what the process held with the framework, data and weights loaded.")
    for (benchmark, framework), what in sorted(figures.items()):
        texts = {k: (duration if k == "first" else megabytes)(statistics.median(v)) for k, v in what.items()}
        table.rows.append([f"{benchmark}, {framework}", *(texts.get(k, "-") for k in columns)])
    return table


# --- the command line ------------------------------------------------------------------------

MEASURES = {
    "small_ops": time_program,
    "variables": time_program,
    "vectorized": time_program,
    "gradients": time_program,
    "functions": time_program,
    "small_functions": time_program,
    "cuda_graphs": time_program,
    "mnist_step": time_program,
    "keras": time_program,
    "models": time_program,
    "replicas": time_program,
    "bridge": time_program,
    "two_workers": time_program,
    "data": time_program,
    "strings": time_program,
    "checkpoints": time_program,
    "import_time": import_time.measure,
    "peak_memory": first_steps,
    "first_steps": first_steps,
}


def interpreter_option(text):
    framework, equals, path = text.partition("=")
    if framework not in FRAMEWORKS or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not FRAMEWORK=INTERPRETER")
    return framework, path


def rounds_option(text):
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least one round is needed")
    return value


def machine():
    """The processor's name and how many of it, as the operating system tells them."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        name = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def heading(versions):
    command = shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]])
    named = ", ".join(f"{framework} {version}" for framework, version in versions.items())
    return [
        "# Benchmark results",
        "",
        f"Measured on {datetime.date.today().isoformat()} on {machine()}, Python {platform.python_version()}, with",
        f"{named}, by `{command}`.",
        "",
        "A cell gives a framework's median time, and the median over the rounds of that time over TapeFlow's: above",
        "1x, TapeFlow is faster. How it is measured is told at the top of `benchmarks/run.py`.",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=MEASURES, metavar="NAME")
    parser.add_argument("--benchmarks", nargs="+", metavar="TEXT")
    parser.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, metavar="NAME")
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--rounds", type=rounds_option, default=7)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--python", type=interpreter_option, action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()

    frameworks = ("tapeflow", "tensorflow") if args.core and args.frameworks is None else args.frameworks or FRAMEWORKS
    pythons = interpreters(dict(args.python), [f for f in FRAMEWORKS if f in frameworks])
    versions, tables, busy = {}, [], core.load()
    programs = [name for name in core.BENCHMARKS if name in (args.only or name)] if args.core else args.only or MEASURES
    if args.core:
        for line in core.state_of_machine(busy, []):
            log(line)
        count = sum(chosen(name, benchmark, args) for name in programs for benchmark in core.BENCHMARKS[name])
        args.progress = core.Progress(max(1, count * args.rounds))
    for name in programs:
        table = MEASURES[name](name, pythons, args, versions)
        if not table.rows:
            continue
        tables.append(table)
        if not args.core:
            print(f"\n{table.text()}", flush=True)
    if not tables:
        sys.exit("Nothing could be measured.")
    if args.core:
        print(*(f"\n{table.text()}" for table in tables), sep="\n")
    machine_lines = core.state_of_machine(busy, [spread for table in tables for spread in table.spreads])
    print("", *machine_lines, sep="\n")
    if args.page:
        lines = [*heading(versions), "", *machine_lines]
        text = "\n\n".join(["\n".join(lines), *(table.markdown() for table in tables)]) + "\n"
        args.page.write_text(core.page(lines, tables, text) if args.page.suffix == ".html" else text, encoding="utf-8")


if __name__ == "__main__":
    main()
