"""Converts architectures to modules of torch, and prints what each passes.

    benchmarks/torch_models.py --tensorflow PYTHON [--only NAME ...] [--hub FOLDER] [--folder FOLDER] [--page FILE]

Outputs and gradients are those of TensorFlow, which the interpreter PYTHON has and runs in a process of its own, with
the same weights. The batch of `torch.export` and ONNX is open, and they are run with another one than they are traced
with. A failure is named by its first line. `--folder` keeps what TensorFlow computed for another run, and `--page`
writes `benchmarks/TORCH.md`.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import architectures
import numpy as np

TOLERANCE = 1e-4
CHECKS = ("outputs", "gradients", "export", "onnx")
# Why a number is no error.
NOTES = {
    "VGG16": "before a ReLU there is -5e-8 among numbers up to 0.28. How a sum is rounded decides whether a gradient "
    "passes there, in TapeFlow itself as in the module: a tenth of that layer's largest gradient."
}


# ---- in the process of TensorFlow ------------------------------------------------------------------------------------


def record(folder: str, names: Sequence[str]) -> None:
    """Writes what TensorFlow computes for architectures: outputs for two batches, and gradients."""
    import tensorflow as tf

    files = {n: r for n, r in architectures.write_files(tf, folder).items() if not names or n in names}
    for name, run in files.items():
        y, dx = run(architectures.input_of_file(name, 2))
        more = run(architectures.input_of_file(name, 3))[0]
        save(folder, name, [y], [more], [dx])
    for name, build in builders().items():
        if names and name not in names:
            continue
        try:
            model = build(tf)
        except ImportError as error:
            print(f"{name}: {error}", flush=True)
            continue
        architectures.set_weights(model)
        x = architectures.inputs_of(model, 2)
        with tf.GradientTape() as tape:
            outputs = called(tf, model, x)
            loss = tf.add_n([tf.reduce_mean(r * r) for r in outputs])
        gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
        more = called(tf, model, architectures.inputs_of(model, 3))
        arrays = [np.zeros(0) if g is None else tf.convert_to_tensor(g).numpy() for g in gradients]
        save(folder, name, [r.numpy() for r in outputs], [r.numpy() for r in more], arrays)
        tf.keras.backend.clear_session()
        gc.collect()


def called(tf: Any, model: Any, inputs: Sequence[np.ndarray]) -> list[Any]:
    """Returns the results of a model, flat."""
    tensors = [tf.constant(x) for x in inputs]
    if isinstance(model, tf.keras.Sequential):
        return [model(tensors[0], training=False)]
    return tf.nest.flatten(model(tf.nest.pack_sequence_as(model.input, tensors), training=False))


def save(folder: str, name: str, *groups: Sequence[np.ndarray]) -> None:
    """Writes arrays of each check to a file."""
    arrays = {f"{check} {i}": a for check, group in zip(CHECKS, groups, strict=False) for i, a in enumerate(group)}
    np.savez(path_of(folder, name), **arrays)


def path_of(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.npz")


def load(folder: str, name: str) -> list[list[np.ndarray]]:
    """Returns the arrays that `save` wrote."""
    with np.load(path_of(folder, name)) as arrays:
        counts = [sum(key.startswith(check) for key in arrays.files) for check in CHECKS[:3]]
        return [[arrays[f"{check} {i}"] for i in range(n)] for check, n in zip(CHECKS, counts, strict=False)]


# ---- in this process -------------------------------------------------------------------------------------------------


def builders() -> dict[str, architectures.Builder]:
    return {**architectures.applications(), **architectures.guides(), **architectures.hub()}


def difference(results: Sequence[Any], expected: Sequence[np.ndarray]) -> float:
    """Returns the largest difference, relative to the largest number of a tensor."""
    largest = 0.0
    for r, e in zip(results, expected, strict=True):
        if tuple(r.shape) != e.shape:
            return float("inf")
        largest = max(largest, float(np.abs(r.numpy(force=True) - e).max() / max(np.abs(e).max(), 1e-3)))
    return largest


class Checks:
    """The checks of one model, each of which returns the largest difference.

    Args:
        name: its name.
        build: builds it, if it is one of Keras; by default it is a file.
        folder: what TensorFlow wrote.
    """

    def __init__(self, name: str, build: architectures.Builder | None, folder: str) -> None:
        import torch

        import tapeflow as tf

        self._tf, self._torch = tf, torch
        self._outputs, self._more_outputs, self._gradients = load(folder, name)
        self._model = None if build is None else build(tf)
        if self._model is None:
            self.module = tf.torch.module(os.path.join(folder, name)).eval()
            samples = [[architectures.input_of_file(name, n)] for n in (2, 3)]
        else:
            architectures.set_weights(self._model)
            self.module = tf.torch.module(self._model).eval()
            samples = [architectures.inputs_of(self._model, n) for n in (2, 3)]
        self.inputs, self.more = [[torch.from_numpy(x) for x in xs] for xs in samples]

    def outputs(self) -> float:
        with self._torch.no_grad():
            fast = difference(self._flat(self.module(*self.inputs)), self._outputs)
        return max(fast, difference(self._flat(self.module(*self.inputs)), self._outputs))

    def gradients(self) -> float:
        if self._model is None:
            leaf = self.inputs[0].clone().requires_grad_()
            (y,) = self._flat(self.module(leaf))
            (y * y).mean().backward()
            return difference([leaf.grad], self._gradients)
        sum((r * r).mean() for r in self._flat(self.module(*self.inputs))).backward()
        paths = [self.module._paths.get(id(v.value)) for v in self._model.trainable_variables]
        parameters = dict(self.module.named_parameters())
        pairs = [(parameters[p].grad, e) for p, e in zip(paths, self._gradients, strict=True) if p and e.size]
        largest = max(float(np.abs(e).max()) for _, e in pairs)
        return max(float(np.abs(g.numpy() - e).max()) / max(float(np.abs(e).max()), 1e-3 * largest) for g, e in pairs)

    def export(self) -> float:
        from tapeflow.torch.convert import export_module

        with self._torch.no_grad():
            program = export_module(self.module, self.inputs)
            return difference(self._flat(program.module()(*self.more)), self._more_outputs)

    def onnx(self) -> float:
        import onnxruntime
        from torch.utils import _pytree as pytree

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            self._tf.torch.convert(self.module, "onnx", path, self.inputs)
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            feeds = {i.name: x.numpy() for i, x in zip(session.get_inputs(), self.more, strict=True)}
            results = [self._torch.from_numpy(r) for r in session.run(None, feeds)]
        structure = pytree.tree_structure(self.module(*self.more))  # torch's order of keys is not TensorFlow's
        return difference(self._flat(pytree.tree_unflatten(results, structure)), self._more_outputs)

    def _flat(self, results: Any) -> list[Any]:
        return self._tf.nest.flatten(results)


def row_of(name: str, build: architectures.Builder | None, folder: str, failures: list[str]) -> list[str]:
    """Returns the cells of a model's row."""
    try:
        checks = Checks(name, build, folder)
    except Exception as error:  # whatever it is, the table has it
        failures.append(f"{name}: {first_line(error)}")
        return ["fails"] * len(CHECKS)
    cells = []
    for check in CHECKS:
        try:
            result = getattr(checks, check)()
            cells.append("passes" if result <= TOLERANCE else f"{result:.1e}")
        except Exception as error:
            cells.append("fails")
            failures.append(f"{name}, {check}: {first_line(error)}")
    return cells


def first_line(error: BaseException) -> str:
    """Returns the type and the first line of an error, and of that which caused it."""
    text = str(error.__cause__ or error).replace("\x1b[96m", "").replace("\x1b[0m", "")
    lines = [line.strip() for line in text.splitlines() if line.strip() and "Exception encountered" not in line]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:240]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", help="an interpreter that has TensorFlow")
    parser.add_argument("--only", nargs="+", default=[], help="the names of architectures")
    parser.add_argument("--hub", help="a folder that has keras-hub, where it is not installed")
    parser.add_argument("--folder", help="where to keep what TensorFlow computed")
    parser.add_argument("--page", help="a file to write the table to")
    parser.add_argument("--record", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hub:
        sys.path.append(options.hub)
    if options.record:
        record(options.folder, options.only)
        return
    folder = options.folder or tempfile.mkdtemp()
    if options.tensorflow:
        command = [options.tensorflow, __file__, "--record", "--folder", folder]
        command += ["--hub", options.hub] if options.hub else []
        subprocess.run([*command, *(["--only", *options.only] if options.only else [])], check=True)
    import torch

    torch.set_num_threads(1)
    rows, failures = [f"| | {' | '.join(CHECKS)} |", f"|:--|{'--:|' * len(CHECKS)}"], []
    passed = dict.fromkeys(CHECKS, 0)
    known: dict[str, Callable[..., Any] | None] = {**builders()}
    recorded = sorted(f.removesuffix(".npz") for f in os.listdir(folder) if f.endswith(".npz"))
    known.update({n: None for n in recorded if n not in known})
    for name, build in known.items():
        if name not in recorded or (options.only and name not in options.only):
            continue
        begin = time.process_time()
        cells = row_of(name, build, folder, failures)
        for check, cell in zip(CHECKS, cells, strict=True):
            passed[check] += cell == "passes"
        rows.append(f"| {name.removesuffix('.pb')} | {' | '.join(cells)} |")
        print(rows[-1], f"{time.process_time() - begin:.0f} s", flush=True)
        gc.collect()
    counts = ", ".join(f"{check} {n}" for check, n in passed.items())
    print("\n".join([f"of {len(rows) - 2}: {counts}", *failures]))
    if options.page:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(page(rows, passed, failures))


def page(rows: Sequence[str], passed: dict[str, int], failures: Sequence[str]) -> str:
    """Returns the page of a run."""
    import keras
    import onnxruntime
    import torch

    root = os.path.dirname(os.path.abspath(__file__))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=root, capture_output=True, text=True)
    count = len(rows) - 2
    shares = ", ".join(f"{check} {n} ({n / count:.0%})" for check, n in passed.items())
    lines = [
        "# TensorFlow's models as modules of torch",
        "",
        f"Written by `benchmarks/torch_models.py --page` on {time.strftime('%Y-%m-%d')}, on the code of "
        f"{commit.stdout.strip()}, with torch {torch.__version__}, Keras {keras.__version__} and ONNX Runtime "
        f"{onnxruntime.__version__}.",
        "",
        "Models have the same weights, numbers of NumPy's generator, in TensorFlow 2.21 and in the module of torch.",
        f"`outputs` and `gradients` pass where they equal TensorFlow's to {TOLERANCE} of a tensor's largest number:",
        "outputs without gradients and with them, gradients of a loss for all parameters, or for the input of a file.",
        "`export` is `torch.export` with an open batch, run with another batch than it is traced with; `onnx` is the",
        "file that `python -m tapeflow convert` writes, run by ONNX Runtime with another batch. A number is the",
        "difference of what does not pass.",
        "",
        f"Of {count}: {shares}.",
        "",
        *rows,
        "",
        *[f"{name}: {note}\n" for name, note in NOTES.items() if any(f"| {name} |" in r and "e-" in r for r in rows)],
        "What fails:" if failures else "Nothing fails.",
        "",
        *[f"- {f}" for f in failures],
    ]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    main()
