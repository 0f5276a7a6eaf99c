"""What `import tapeflow` costs beyond `import torch`, and with `tf.keras`, beside what the other frameworks cost to
import."""

import statistics
import subprocess
import sys

from tables import Table, duration
from workers import ROOT, environment

KERAS = " and tf.keras"
AT_LEAST = 7  # rounds: an import is disturbed more easily than a loop
PROGRAM = """
import importlib, sys, time
name, source = sys.argv[1:]
sys.path.insert(0, source)
start = time.perf_counter()
module = importlib.import_module(name.removesuffix(KERAS))
if name.endswith(KERAS):
    module.keras.layers
print(time.perf_counter() - start, getattr(module.version, "TAPEFLOW_VERSION", module.__version__))
"""


def measure(name, pythons, args, versions):
    """Imports each framework in fresh processes, in turn. The first, which finds cold caches, does not count."""
    importable = dict(pythons)
    if "tapeflow" in importable:
        importable["torch"] = importable["tapeflow"]  # torch as TapeFlow finds it
    for framework in ("tapeflow", "tensorflow"):
        if framework in importable:
            importable[framework + KERAS] = importable[framework]
    seconds = {framework: [] for framework in importable}
    variables = environment()
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    for number in range(max(args.rounds, AT_LEAST) + 1):
        for framework, python in list(importable.items()):
            done = subprocess.run(
                [python, "-c", f"KERAS = {KERAS!r}\n{PROGRAM}", framework, str(ROOT / "src")],
                env=variables, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
                print(f"{name}: {framework} is left out ({reason})", file=sys.stderr)
                del importable[framework]
                continue
            taken, versions[framework.removesuffix(KERAS)] = done.stdout.split()[-2:]
            if number:
                seconds[framework].append(float(taken))
    return import_table({framework: taken for framework, taken in seconds.items() if taken})


def import_table(seconds):
    table = Table("Import time", ["", "time"])
    table.rows = [[f"import {name}", duration(statistics.median(taken))] for name, taken in seconds.items()]
    if {"tapeflow", "torch"} <= seconds.keys():
        beyond = statistics.median(a - b for a, b in zip(seconds["tapeflow"], seconds["torch"], strict=True))
        table.rows.append(["import tapeflow beyond import torch", duration(beyond)])
    return table
