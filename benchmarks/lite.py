#!/usr/bin/env python3
"""Models as .tflite files, by TapeFlow's converter and TensorFlow's: size, time of conversion, time in the runtime.

    python benchmarks/lite.py [--models NAME ...] [--rounds N] [--python tensorflow=INTERPRETER]

It needs the extra `tflite`. Both write files of the same models with the same weights. The runtime, `ai-edge-litert` on
one thread, runs both files in turn. A ratio is TensorFlow's number over TapeFlow's: above 1, TapeFlow's file is smaller
or faster. The difference is the largest one between an output of TapeFlow's file and of the model, over the largest
output.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import zoo
from tables import Table, duration, ratio
from workers import environment, interpreters

FRAMEWORKS = ("tapeflow", "tensorflow")
KINDS = ("float32", "dynamic int8", "static int8", "float16")
NO_FILE = "no file"


def write(framework, folder, names, kinds):
    """Writes the files of models with one framework, and prints a line of JSON for each."""
    tf = __import__(framework)
    tiny = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2)])
    tf.lite.TFLiteConverter.from_keras_model(tiny).convert()  # imports modules
    for name in names:
        case = zoo.build(tf.keras, name)
        want = np.asarray(case.model(case.x, training=False))
        np.savez(folder / f"{name.replace('/', '_')}.npz", x=case.x, want=want)
        for kind in kinds:
            start = time.perf_counter()
            try:
                content = converted(tf, case, kind)
            except Exception as error:
                print(json.dumps({"name": name, "kind": kind, "error": str(error)[:200]}), flush=True)
                continue
            seconds = time.perf_counter() - start
            path = folder / f"{framework} {name} {kind}.tflite"
            path.write_bytes(content)
            print(json.dumps({"name": name, "kind": kind, "seconds": seconds, "path": str(path)}), flush=True)


def converted(tf, case, kind):
    """Returns the file of a model."""
    converter = tf.lite.TFLiteConverter.from_keras_model(case.model)
    if kind != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "static int8":
        converter.representative_dataset = lambda: ([case.x[i : i + 1]] for i in range(len(case.x)))
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    return converter.convert()


def files_of(framework, python, folder, names, kinds):
    """Returns {(model, kind): seconds and path} of the files that a framework writes."""
    command = [python, __file__, "--write", framework, str(folder), "--models", *names, "--kinds", *kinds]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(1))
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return {(line["name"], line["kind"]): line for line in lines}


class File:
    """A file in the runtime, with inputs of a batch of one."""

    def __init__(self, path, x):
        from ai_edge_litert.interpreter import Interpreter

        self.interpreter = Interpreter(path, num_threads=1)
        (entry,) = self.interpreter.get_input_details()
        self.interpreter.allocate_tensors()
        self.interpreter.set_tensor(entry["index"], x[:1])
        self.interpreter.invoke()

    def mean(self, count):
        start = time.process_time()
        for _ in range(count):
            self.interpreter.invoke()
        return (time.process_time() - start) / count


def outputs(path, x):
    """Returns the outputs of a file for a batch."""
    from ai_edge_litert.interpreter import Interpreter

    runner = Interpreter(path, num_threads=1).get_signature_runner()
    (name,) = runner.get_input_details()
    return runner(**{name: x})["output_0"]


def times(ours, theirs, x, rounds):
    """Returns TapeFlow's time of a run, and the median ratio to TensorFlow's."""
    files = File(ours, x), File(theirs, x)
    count = max(2, int(0.2 / files[0].mean(3)))
    pairs = []
    for i in range(rounds):
        pair = [f.mean(count) for f in (files if i % 2 == 0 else files[::-1])]
        pairs.append(pair if i % 2 == 0 else pair[::-1])
    return statistics.median(a for a, _ in pairs), statistics.median(b / a for a, b in pairs)


def row_of(name, ours, theirs, folder, rounds, ratios):
    """Returns the cells for a model, and adds its ratios."""
    arrays = np.load(folder / f"{name.replace('/', '_')}.npz")
    x, want = arrays["x"], arrays["want"]
    difference = np.abs(outputs(ours["path"], x) - want).max() / np.abs(want).max()
    size = os.path.getsize(ours["path"])
    cells = [name, f"{difference:.1g}", f"{size / 1e6:.2f} MB"]
    if "path" not in theirs:
        seconds = File(ours["path"], x).mean(20)
        return [*cells, NO_FILE, duration(ours["seconds"]), "", duration(seconds), ""]
    seconds, faster = times(ours["path"], theirs["path"], x, rounds)
    found = os.path.getsize(theirs["path"]) / size, theirs["seconds"] / ours["seconds"], faster
    for total, value in zip(ratios, found, strict=True):
        total.append(math.log(value))
    return [*cells, ratio(found[0]), duration(ours["seconds"]), ratio(found[1]), duration(seconds), ratio(found[2])]


def float_table(files, names, folder, rounds):
    title = ["", "difference", "size", "", "conversion", "", "run", ""]
    table, ratios = Table("Models as .tflite files (1 thread)", title), ([], [], [])
    for name in names:
        ours, theirs = (files[f].get((name, "float32"), {}) for f in FRAMEWORKS)
        table.rows.append(row_of(name, ours, theirs, folder, rounds, ratios))
    if ratios[0]:
        means = ", ".join(
            f"{label} {ratio(math.exp(statistics.mean(values)))}"
            for label, values in zip(("size", "conversion", "run"), ratios, strict=True)
        )
        table.notes.append(f"Geometric means: {means}.")
    return table


def quantized_table(files, names, folder):
    kinds = KINDS[1:]
    header = ["", *(cell for kind in kinds for cell in (kind, "", "difference", "TensorFlow's"))]
    table = Table("Quantized .tflite files: size and largest difference, and TensorFlow's", header)
    for name in names:
        arrays = np.load(folder / f"{name.replace('/', '_')}.npz")
        x, want = arrays["x"], arrays["want"]
        row = [name]
        for kind in kinds:
            pair = [files[f].get((name, kind), {}) for f in FRAMEWORKS]
            sizes = [os.path.getsize(p["path"]) if "path" in p else None for p in pair]
            errors = [np.abs(outputs(p["path"], x) - want).max() / np.abs(want).max() if "path" in p else None
                      for p in pair]  # fmt: skip
            row.append("-" if sizes[0] is None else f"{sizes[0] / 1e6:.2f} MB")
            row.append(NO_FILE if sizes[1] is None else ratio(sizes[1] / sizes[0]))
            row += ["-" if e is None else f"{e:.2g}" for e in errors]
        table.rows.append(row)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(zoo.MODELS), metavar="NAME")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS, metavar="KIND")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=INTERPRETER")
    parser.add_argument("--write", nargs=2, metavar=("FRAMEWORK", "FOLDER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.write:
        return write(args.write[0], pathlib.Path(args.write[1]), args.models, args.kinds)
    pythons = interpreters(dict(choice.split("=", 1) for choice in args.python), FRAMEWORKS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = {f: files_of(f, python, folder, args.models, args.kinds) for f, python in pythons.items()}
        print(float_table(files, args.models, folder, args.rounds).markdown())
        if len(args.kinds) > 1:
            print(f"\n{quantized_table(files, args.models, folder).markdown()}")
    return None


if __name__ == "__main__":
    sys.exit(main())
