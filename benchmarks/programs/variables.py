"""Changing variables: sums in memory of several sizes, rows, and steps of optimizers."""

import numpy as np

THREADS = 1

SIZES = {"16 bytes": 4, "16 KB": 1 << 12, "64 KB": 1 << 14, "256 KB": 1 << 16, "4 MB": 1 << 20}
LAYERS = [(64, 64), (64,)] * 8 + [(256, 256), (256,)] * 4


def setup(tf):
    benchmarks = {}
    for name, size in SIZES.items():
        benchmarks[f"assign_add, {name}"] = _assign_add(tf, size)
    small, large, rows = tf.Variable(np.ones(4, np.float32)), tf.Variable(np.ones(1 << 14, np.float32)), [3, 1]
    value, zeros = tf.ones([4]), tf.ones([1 << 14])
    table, updates = tf.Variable(np.ones((100, 16), np.float32)), tf.ones([2, 16])

    @tf.function
    def count():
        small.assign_add(value)
        return small * 2.0

    @tf.function
    def add_to_large():
        return large.assign_add(zeros)

    def read_and_add():
        y = large * 1.0
        large.assign_sub(zeros)
        return y

    def gradient():
        with tf.GradientTape() as tape:
            y = small * small
        return tape.gradient(y, small)

    benchmarks |= {
        "assign": lambda: small.assign(value),
        "scatter_add": lambda: table.scatter_add(tf.IndexedSlices(updates, rows)),
        "read, assign_sub": read_and_add,
        "gradient": gradient,
        "function, assign_add 16 bytes": count,
        "function, assign_add 64 KB": add_to_large,
    }
    for name in ("SGD", "Adam"):
        benchmarks |= _steps(tf, name)
    return benchmarks


def _assign_add(tf, size):
    variable, change = tf.Variable(np.ones(size, np.float32)), tf.fill([size], 1e-3)
    return lambda: variable.assign_add(change)


def _steps(tf, name):
    """Returns the steps of an optimizer: eager, and in a function."""
    variables = [tf.Variable(np.ones(shape, np.float32)) for shape in LAYERS]
    gradients = [tf.fill(shape, 1e-3) for shape in LAYERS]
    eager, optimizer = (getattr(tf.keras.optimizers, name)(1e-3) for _ in range(2))
    eager.build(variables)
    optimizer.build(variables)

    def step():
        eager.apply_gradients(zip(gradients, variables, strict=True))
        return variables[0]

    @tf.function
    def step_in_function():
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return 0

    return {f"{name}, eager": step, f"{name}, function": step_in_function}
