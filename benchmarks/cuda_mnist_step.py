#!/usr/bin/env python3
"""The MNIST step of `programs/mnist_step.py` on a CUDA device: TapeFlow's eager step against PyTorch's, alternating.

    python benchmarks/cuda_mnist_step.py [--rounds N] [--steps N]

Prints the median time of a step of each, and the median over the rounds of TapeFlow's time over PyTorch's.
"""

import argparse
import pathlib
import statistics
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT.parent / "src")]

from programs import mnist_step  # noqa: E402

import tapeflow as tf  # noqa: E402


def seconds_per_step(step, steps):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("There is no CUDA device here.")

    (ours,) = mnist_step.setup(tf).values()
    with torch.device("cuda"):
        (theirs,) = mnist_step.setup_torch(torch).values()
    steps = {"tapeflow": ours["eager"], "torch": theirs}
    times = {name: [] for name in steps}
    for step in steps.values():
        seconds_per_step(step, 50)  # warms up
    for _ in range(args.rounds):
        for name, step in steps.items():
            times[name].append(seconds_per_step(step, args.steps))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for name, measured in times.items():
        print(f"{name:10} {statistics.median(measured) * 1e6:8.1f} us a step")
    ratios = [a / b for a, b in zip(times["tapeflow"], times["torch"], strict=True)]
    print(f"tapeflow / torch: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
