#!/usr/bin/env python3
"""Every elementwise op that NumPy has too, against NumPy, on one thread: `benchmarks/elementwise.py [--ops NAME ...]`.

The ops are those of the registry with the trait. Each takes a million float32 numbers: positive ones, negative ones,
and ones of which half are NaN, for which some kernels take much longer. A ratio is TapeFlow's processor time over
NumPy's, of calls in turn, the least of the rounds; above `LIMIT`, another kernel should be looked for.
"""

import argparse
import contextlib
import functools
import pathlib
import sys
import time

import numpy as np
import torch
from tables import Table, duration, ratio

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src"))
import tapeflow as tf
from tapeflow.core.ops.definition import ops, registry

COUNT = 1_000_000
ROUNDS = 9
LIMIT = 1.3


def _in_turn(*functions):
    """Returns the function that applies NumPy's functions one after the other, in one array."""

    def apply(x):
        x = functions[0](x)
        for function in functions[1:]:
            function(x, out=x)
        return x

    return apply


# NumPy's functions of other names than the ops have, and the shortest expressions where it has none.
NUMPY = {
    "Acos": np.arccos, "Acosh": np.arccosh, "AddV2": np.add, "Asin": np.arcsin, "Asinh": np.arcsinh,
    "Atan": np.arctan, "Atan2": np.arctan2, "Atanh": np.arctanh, "FloorDiv": np.floor_divide, "FloorMod": np.mod,
    "GreaterEqual": np.greater_equal, "Inv": np.reciprocal, "LessEqual": np.less_equal, "Mul": np.multiply,
    "Neg": np.negative, "NotEqual": np.not_equal, "Pow": np.power, "RealDiv": np.divide, "Round": np.rint,
    "Relu": lambda x: np.maximum(x, 0), "Relu6": lambda x: np.clip(x, 0, 6), "Rsqrt": _in_turn(np.sqrt, np.reciprocal),
    "Sigmoid": _in_turn(np.negative, np.exp, lambda x, out: np.add(x, 1, out=out), np.reciprocal),
    "Softplus": lambda x: np.logaddexp(x, np.float32(0)), "Softsign": lambda x: x / (1 + np.abs(x)),
    "SquaredDifference": lambda x, y: np.square(x - y), "Sub": np.subtract, "TruncateMod": np.fmod,
}  # fmt: skip


def pairs():
    """Yields the names of ops with their function and NumPy's."""
    for name, op in sorted(registry.items()):
        numpys = NUMPY.get(name) or getattr(np, name.lower(), None)
        if not op.elementwise or set(op.kinds) != {"tensor"} or not (name in NUMPY or isinstance(numpys, np.ufunc)):
            continue
        with contextlib.suppress(tf.errors.InvalidArgumentError):  # of ops that do not take floats
            getattr(ops, name)(*[tf.ones([1])] * len(op.kinds))
            yield name, getattr(ops, name), numpys, len(op.kinds)


def inputs():
    """Returns pairs of arrays, by what they are."""
    arrays = {}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.05, 0.95, COUNT).astype(np.float32)
        with_nan = np.where(rng.random(COUNT) < 0.5, np.float32("nan"), x)
        for what, array in (("positive", x), ("negative", -x), ("half NaN", with_nan)):
            arrays.setdefault(what, []).append(array)
    return arrays


def least(*calls):
    """Returns the least processor time of each call."""
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, seconds in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
    return [min(seconds) for seconds in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", nargs="+", metavar="NAME")
    args = parser.parse_args()
    torch.set_num_threads(1)
    np.seterr(all="ignore")
    arrays = inputs()
    tensors = {what: [tf.constant(a) for a in pair] for what, pair in arrays.items()}
    table = Table(f"A million float32 numbers, TapeFlow and NumPy (above {LIMIT}x NumPy's time: !)", ["", *arrays])
    for name, function, numpys, count in pairs():
        if args.ops and name not in args.ops:
            continue
        cells = []
        for what in arrays:
            ours, theirs = least(
                functools.partial(function, *tensors[what][:count]), functools.partial(numpys, *arrays[what][:count])
            )
            mark = "!" if ours > LIMIT * theirs else " "
            cells.append(f"{duration(ours)} {duration(theirs)} {ratio(ours / theirs):>6} {mark}")
        table.rows.append([name, *cells])
    print(table.text())


if __name__ == "__main__":
    main()
