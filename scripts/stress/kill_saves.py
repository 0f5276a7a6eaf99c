#!/usr/bin/env python3
"""Kills processes that save, at random moments, and counts how often something was lost.

    python scripts/stress/kill_saves.py [--kills 500] [--size 100000] [--only PART-OF-A-NAME] [--seed 0]

For each way of saving (tests/support/saves.py) a child process saves again and again into one folder and is killed
(SIGKILL) after a random part of the time that a save takes. Then this process loads: the number that was saved last,
or the one that was being saved. After all kills one more save has to leave nothing temporary behind.
"""

import argparse
import logging
import os
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "src"), str(HOME / "tests")]
os.environ["OMP_NUM_THREADS"] = "1"  # threads do not live on in a forked process
os.environ.setdefault("KERAS_BACKEND", "tensorflow")


def in_child(save, number):
    """Starts a process that saves a number; returns its id."""
    child = os.fork()
    if not child:
        try:
            save(number)
        finally:
            os._exit(0)
    return child


def try_way(way, kills, rng):
    """Returns the number of kills in the middle of a save, and what was lost."""
    way.save(1)
    seconds = []
    for _ in range(7):
        start = time.monotonic()
        os.waitpid(in_child(way.save, 1), 0)
        seconds.append(time.monotonic() - start)
    last, killed, losses = 1, 0, []
    for number in range(2, kills + 2):
        child = in_child(way.save, number)
        time.sleep(rng.uniform(0, statistics.median(seconds)))
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        try:
            loaded = way.load()
            if loaded not in (last, number):
                losses.append(f"{loaded} instead of {last} or {number}")
            last = loaded
        except Exception as error:
            losses.append(f"{type(error).__name__}: {error}"[:200])
    return killed, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--size", type=int, default=100_000, help="the number of floats in a variable")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    import torch

    torch.set_num_threads(1)
    from support.saves import WAYS, leftovers

    rng, lost = random.Random(arguments.seed), 0
    print(f"{'way of saving':34}{'kills':>7}{'within':>8}{'lost':>6}{'left over':>11}{'seconds':>9}")
    for name in [n for n in WAYS if arguments.only in n]:
        with tempfile.TemporaryDirectory() as folder:
            start, way = time.monotonic(), WAYS[name](folder, arguments.size)
            killed, losses = try_way(way, arguments.kills, rng)
            way.save(arguments.kills + 2)
            left = leftovers(folder)
            seconds = time.monotonic() - start
            print(f"{name:34}{arguments.kills:7}{killed:8}{len(losses):6}{len(left):11}{seconds:9.1f}", flush=True)
            for line in [*losses[:3], *left[:3]]:
                print(f"    {line}")
            lost += len(losses) + len(left)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
