"""Uses TapeFlow from eight threads for long, and checks that nothing fails and that memory stays flat.

    python scripts/stress/soak.py --minutes 60

Each thread does in turn what a service does all day: traces functions anew and drops them, trains a few steps, runs
through a pipeline, saves a checkpoint and restores it, saves a module and loads it. Resident memory is read every
second; after the warm-up (a quarter of the time) a line through it may not rise by more than `--megabytes`.
"""

from __future__ import annotations

import argparse
import collections
import gc
import pathlib
import random
import sys
import tempfile
import threading
import time
import traceback

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))

import tapeflow as tf  # noqa: E402


def retrace(rng: random.Random, folder: pathlib.Path) -> None:
    """A function of its own, traced for several shapes, and dropped."""
    factor = rng.random()

    @tf.function
    def scaled(x: tf.Tensor, times: int) -> tf.Tensor:
        total = tf.zeros_like(x)
        for _ in tf.range(times):
            total += tf.tanh(x) * factor
        return tf.reduce_sum(total)

    for size in rng.sample(range(1, 50), 4):
        times = rng.randrange(4)
        x = tf.ones([size, 3])
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = scaled(x, tf.constant(times))
        np.testing.assert_allclose(result, size * 3 * times * np.tanh(1.0) * factor, rtol=1e-4)
        assert tape.gradient(result, x).shape == x.shape


def train(rng: random.Random, folder: pathlib.Path) -> None:
    """A few steps down a slope."""
    w = tf.Variable(tf.random.stateless_normal([8, 1], [rng.randrange(99), 0]))
    x = tf.random.stateless_normal([32, 8], [0, rng.randrange(99)])

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        w.assign_sub(0.05 * tape.gradient(loss, w))
        return loss

    losses = [float(step()) for _ in range(10)]
    assert losses[-1] < losses[0]


def pipeline(rng: random.Random, folder: pathlib.Path) -> None:
    """A shuffled, mapped, batched pipeline to its end; and one that is dropped halfway."""
    count = rng.randrange(50, 300)
    numbers = tf.data.Dataset.range(count).shuffle(64).map(lambda i: i * 2, num_parallel_calls=tf.data.AUTOTUNE)
    batches = numbers.batch(16).prefetch(2)
    assert sum(int(tf.reduce_sum(batch)) for batch in batches) == count * (count - 1)
    for _ in batches.take(2):
        pass
    next(iter(batches))


def checkpoint(rng: random.Random, folder: pathlib.Path) -> None:
    """Saves through a manager that keeps two, and restores the newest."""
    values = np.arange(rng.randrange(1, 2000), dtype=np.float32)
    saved = tf.train.Checkpoint(v=tf.Variable(values), step=tf.Variable(0))
    manager = tf.train.CheckpointManager(saved, str(folder / "checkpoints"), max_to_keep=2)
    for i in range(4):
        saved.step.assign(i)
        manager.save()
    restored = tf.train.Checkpoint(v=tf.Variable(np.zeros_like(values)), step=tf.Variable(-1))
    restored.restore(manager.latest_checkpoint).assert_consumed()
    np.testing.assert_array_equal(restored.v, values)
    assert int(restored.step) == 3


def module(rng: random.Random, folder: pathlib.Path) -> None:
    """Saves a module and calls what is loaded."""

    class Scale(tf.Module):
        def __init__(self, by: float):
            super().__init__()
            self.by = tf.Variable(by)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return x * self.by

    by = rng.random()
    tf.saved_model.save(Scale(by), str(folder / "module"))
    loaded = tf.saved_model.load(str(folder / "module"))
    np.testing.assert_allclose(loaded(tf.constant([1.0, 2.0])), [by, 2 * by], rtol=1e-6)


JOBS = [retrace, train, pipeline, checkpoint, module]


class Soak:
    """What the threads share: when to stop, what they did, and what failed."""

    def __init__(self) -> None:
        self.ends = threading.Event()
        self.runs: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []

    def work(self, seed: int) -> None:
        """Does one job after another until the end."""
        rng = random.Random(seed)
        while not self.ends.is_set():
            job = rng.choice(JOBS)
            with tempfile.TemporaryDirectory() as name:
                try:
                    job(rng, pathlib.Path(name))
                except Exception:  # any failure is what is looked for
                    self.failures.append(traceback.format_exc())
                    self.ends.set()
            self.runs[job.__name__] += 1


def resident() -> float:
    """The megabytes of memory that the process holds."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def growth(samples: list[tuple[float, float]]) -> float:
    """By how much a line through `(seconds, megabytes)` rises over the time of the samples."""
    seconds, megabytes = np.array(samples).T
    slope, _ = np.polyfit(seconds, megabytes, 1)
    return float(slope * (seconds[-1] - seconds[0]))


def soak(seconds: float, threads: int) -> tuple[Soak, list[tuple[float, float]]]:
    """Runs the jobs for so long; returns what came of them and the memory after the warm-up."""
    state, samples = Soak(), []
    workers = [threading.Thread(target=state.work, args=(seed,)) for seed in range(threads)]
    started = time.monotonic()
    for worker in workers:
        worker.start()
    while not state.ends.wait(min(1.0, seconds / 20)):
        passed = time.monotonic() - started
        if passed > seconds:
            state.ends.set()
        elif passed > seconds / 4:
            gc.collect()
            samples.append((passed, resident()))
    for worker in workers:
        worker.join()
    return state, samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--megabytes", type=float, default=25.0, help="how much memory may grow after the warm-up")
    arguments = parser.parse_args()
    state, samples = soak(60 * arguments.minutes, arguments.threads)
    print("; ".join(f"{name} {count}" for name, count in sorted(state.runs.items())))
    if state.failures:
        raise SystemExit("\n".join(state.failures))
    rise = growth(samples)
    print(f"{samples[0][1]:.0f} MB after the warm-up, {samples[-1][1]:.0f} MB at the end: a rise of {rise:.1f} MB")
    if rise > arguments.megabytes:
        raise SystemExit(f"memory grows: by {rise:.1f} MB in {(samples[-1][0] - samples[0][0]) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
