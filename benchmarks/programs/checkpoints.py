"""Writing and restoring a checkpoint: 400 MB in 40 variables, and 2000 small ones of 4 numbers.

TapeFlow syncs the files to the disk before it says that they are written; TensorFlow and `torch.save` do not. The same
files are written over and over. JAX has no checkpoints of its own.
"""

import os
import tempfile

import numpy as np

THREADS = 2

SIZES = {"400 MB": (40, 2_500_000), "2000 small": (2000, 4)}

_directory = tempfile.TemporaryDirectory()


def _arrays(count, size):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(size, np.float32) for _ in range(count)]


def _benchmarks(make):
    """`make(path, arrays)` gives a function that writes and one that restores."""
    benchmarks = {}
    for name, (count, size) in SIZES.items():
        write, restore = make(os.path.join(_directory.name, name.replace(" ", "_")), _arrays(count, size))
        write()
        benchmarks |= {f"write {name}": write, f"restore {name}": restore}
    return benchmarks


def setup(tf):
    def make(path, arrays):
        module = tf.Module()
        module.variables_of_it = [tf.Variable(a) for a in arrays]
        checkpoint, first = tf.train.Checkpoint(module=module), module.variables_of_it[0]

        def write():
            checkpoint.write(path)
            return np.float32(0)

        def restore():
            checkpoint.read(path).assert_consumed()
            return first.numpy()[:4]

        return write, restore

    return _benchmarks(make)


def setup_torch(torch):
    def make(path, arrays):
        tensors = {str(i): torch.tensor(a) for i, a in enumerate(arrays)}

        def write():
            torch.save(tensors, path)
            return np.float32(0)

        def restore():
            for name, tensor in torch.load(path, weights_only=True).items():
                tensors[name].copy_(tensor)
            return tensors["0"].numpy()[:4]

        return write, restore

    return _benchmarks(make)


def setup_jax(jax):
    return {}
