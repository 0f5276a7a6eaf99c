"""Small programs, and what the compiler makes of each: its source, and the instructions of its machine code.

`scripts/record.py compiled_programs` records the texts for vectors of eight numbers, whatever the processor.
"""

import collections
import json
import pathlib
import re
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import loops, machine_code, mkl
from tapeflow.core.machine_code import Target
from tapeflow.graph.codegen.compile import Written

RECORD = pathlib.Path(__file__).parents[1] / "fixtures" / "compiled_programs.txt"
INSTRUCTION = re.compile(r"^\s+(?:%\S+ = )?(?:tail |fast )?([a-z_]+)\b(?!:)", re.MULTILINE)
NUMBER = re.compile(r"((?:while_body|while_cond|cond_true|cond_false|branch|forward|backward)[a-z]*\d?)_\d+")
PLACE = re.compile(r" at \S+\.py:\d+")
LANES = 8


def random(*shape, dtype="float32"):
    """A tensor whose numbers are the same in each run."""
    return tf.constant(np.random.default_rng(len(shape)).uniform(0.1, 0.9, shape), dtype)


# ---- clusters --------------------------------------------------------------------------------------------------------


def layer_norm(x, scale, offset):
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(centered * centered, -1, keepdims=True)
    return centered / tf.sqrt(variance + 1e-5) * scale + offset


def softmax(x):
    e = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
    return e / tf.reduce_sum(e, -1, keepdims=True)


def columns(x):
    y = tf.tanh(x * 2.0)
    return y, tf.reduce_sum(y * x, [0, 1]), tf.reduce_mean(y, [0, 1], keepdims=True)


def rows_and_columns(x):
    y = tf.exp(x) * x
    return tf.reduce_sum(y, -1), tf.reduce_max(y * 2.0, [0]), y


def joins(x, y):
    """Two loops of equal sizes that do not depend on each other, and one of another size."""
    return tf.sin(x) * 2.0, tf.cos(x) + 1.0, tf.exp(y) * 3.0


def apart(x):
    """A product between two loops."""
    return tf.exp((tf.sin(x) * 2.0) @ x) * 3.0 + 1.0


def in_place(x):
    y = x @ x
    return tf.exp(y) * 2.0 + 1.0


def broadcasts(x, row, column):
    return (x * row + column) * tf.broadcast_to(row, tf.shape(x)) - 1.0


def short_rows(x, row):
    return tf.nn.relu(x * row + 1.0) * 0.5


def transposed(x):
    return tf.exp(tf.transpose(x)) * 2.0 + 1.0


def mixed_dtypes(x):
    i = tf.cast(x * 10.0, tf.int32)
    return tf.where(i % 2 == 0, tf.cast(i, tf.float64) * 0.5, 1.0), tf.cast(x, tf.bfloat16) * 2.0 + 1.0


def draws(x):
    return tf.random.stateless_uniform([64, 128], [1, 2]) * x + 1.0


def dropout(x):
    return tf.nn.experimental.stateless_dropout(x * 2.0, 0.5, [1, 2]) + 1.0


def integers(x, y):
    return (x // y + x % y) ^ (x & y), tf.bitwise.left_shift(x, y) < 100, tf.maximum(x, y)


def functions(x):
    smooth = (
        tf.math.erf, tf.math.erfc, tf.sigmoid, tf.math.log1p, tf.math.expm1, tf.exp, tf.math.log, tf.tanh, tf.sin,
        tf.cos, tf.atan, tf.asin, tf.sinh, tf.atanh, tf.nn.softplus, tf.nn.elu, tf.nn.selu, tf.math.rsqrt, tf.sqrt,
    )  # fmt: skip
    steps = tf.math.rint, tf.round, tf.floor, tf.sign, tf.abs, tf.nn.relu6, tf.math.reciprocal
    return [f(x) * 2.0 for f in (*smooth, *steps)], x ** (x * 2.0), tf.atan2(x, x * 2.0), tf.math.is_nan(x * 2.0)


def conversions(x):
    integers = [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64]
    dtypes = [*integers, tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.bool]
    return [tf.cast(tf.cast(x * 90.0, dtype), tf.float32) * 2.0 for dtype in dtypes]


def doubles_between(x):
    return tf.cast(tf.sin(tf.cast(x, tf.float64) * 1.5) + 1.0, tf.float32) * 2.0


def comparisons(x, y):
    kinds = [x < y * 2, x <= y * 2, x > y * 2, x >= y * 2, tf.equal(x, y * 2), tf.not_equal(x, y * 2)]
    return tf.where((kinds[0] | kinds[3]) & ~kinds[4], x, y), [tf.cast(k, tf.int32) + 1 for k in kinds]


def shifts(x, y):
    both = tf.bitwise.bitwise_and(x, y), tf.bitwise.bitwise_or(x, y), tf.bitwise.bitwise_xor(x, y)
    return [tf.bitwise.invert(b) for b in both], tf.bitwise.right_shift(x, y + 1), (x - y) * x // (y + 1)


def squeezed(x):
    return tf.reshape(tf.exp(x[:, None] * 2.0), [-1]) + 1.0


def bias_gradient(x):
    dy = tf.tanh(x) * 2.0
    return dy, tf.raw_ops.BiasAddGrad(out_backprop=dy)


def normalized(x):
    scale, offset = tf.ones([4]) * 1.5, tf.zeros([4]) + x[0, 0, 0]
    y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=True)
    return tf.nn.relu(y), mean, variance


def reshaped(x):
    y = tf.reshape(tf.sin(x) * 2.0, [6, -1]) + 1.0
    return tf.exp(y) * y, tf.reshape(tf.cos(x) + 1.0, [1, -1, 1]) * 2.0


def draws_of_shapes(x):
    """Draws of shapes that clusters do not draw, or hardly: columns, two numbers, one number, integers, normals."""
    seed = tf.constant([3, 4])
    shapes = [[64, 1], [2], [3], [1, 3], []]
    uniform = [tf.random.stateless_uniform(shape, seed) * 2.0 + 1.0 for shape in shapes]
    integers = tf.random.stateless_uniform([8], seed, 0, 9, tf.int32) * 2 + 1
    return uniform, integers, tf.random.stateless_normal([8], seed) * x[0, :8] + 1.0


def reductions(x):
    y = tf.sin(x) * 2.0
    axes = None, 0, 1, -1, [0, 2], [1, 2], []
    sums = [tf.reduce_sum(y + 1.0, axis) * 2.0 for axis in axes]
    others = tf.reduce_min(y * 3.0, -1), tf.reduce_max(y - 1.0, [0, 1]), tf.reduce_mean(y * y, -1), tf.reduce_prod(y, 1)
    flags = tf.reduce_any(y > 1.5, -1), tf.reduce_all(y > -2.0, 0)
    return sums, others, flags, tf.math.reduce_variance(y, -1), tf.argmax(y * 2.0, -1)


def between(x):
    """Two loops that another one, a product, stands between; and a third that depends on neither."""
    y = tf.sin(x) * 2.0
    product = y @ x
    return y + tf.cos(product) * 2.0, tf.reduce_sum(tf.exp(x) * 3.0, -1) + 1.0, tf.reduce_max(y) * y


def selections(x, y):
    clipped = tf.clip_by_value(x * 2.0, 0.3, 1.2), tf.clip_by_value(y, x, x + 1.0)
    chosen = tf.where(x > 0.5, x * 3.0, 0.0), tf.where(y[0] > 0.5, x, y) + 1.0
    return clipped, chosen, tf.minimum(x, tf.maximum(y * 2.0, 0.5)), tf.math.multiply_no_nan(x, y - y)


def logic(x, y):
    a, b = x > 30, (y < 60) & (x != y)
    return a | b, tf.math.logical_xor(a, ~b), tf.cast(a == b, tf.uint8) * 3, tf.where(a, x * 2, y) - 1


def affine(x, row):
    """Rows whose length no vector divides, and a factor of one number."""
    return tf.reduce_mean((x * row[0] + row) ** 2, -1, keepdims=True) * x - tf.squeeze(x[:1] * 2.0, 0)


LARGE = (64, 128)
CLUSTERS = {
    "layer norm": (layer_norm, [random(*LARGE), random(128), random(128)]),
    "softmax": (softmax, [random(*LARGE)]),
    "softmax of doubles": (softmax, [random(4, 8, dtype="float64")]),
    "columns": (columns, [random(2, 8, 16)]),
    "rows and columns": (rows_and_columns, [random(*LARGE)]),
    "joins": (joins, [random(*LARGE), random(3, 5)]),
    "apart": (apart, [random(16, 16)]),
    "in place": (in_place, [random(128, 128)]),
    "broadcasts": (broadcasts, [random(8, 6, 32), random(32), random(8, 1, 1)]),
    "short rows": (short_rows, [random(256, 100, 3), random(3)]),
    "transposed": (transposed, [random(*LARGE)]),
    "mixed dtypes": (mixed_dtypes, [random(*LARGE)]),
    "draws": (draws, [random(*LARGE)]),
    "dropout": (dropout, [random(*LARGE)]),
    "integers": (integers, [tf.range(1, 101), tf.range(100, 0, -1)]),
    "functions": (functions, [random(100)]),
    "functions of doubles": (functions, [random(100, dtype="float64")]),
    "conversions": (conversions, [random(100)]),
    "doubles between": (doubles_between, [random(100)]),
    "comparisons": (comparisons, [random(100), random(1)]),
    "comparisons of integers": (comparisons, [tf.range(100), tf.range(0, 200, 2)]),
    "shifts": (shifts, [tf.range(100, 200, dtype=tf.int64), tf.range(100, dtype=tf.int64) % 7]),
    "shifts of bytes": (shifts, [tf.cast(tf.range(100), tf.uint8), tf.cast(tf.range(100) % 7, tf.uint8)]),
    "squeezed": (squeezed, [random(300)]),
    "bias gradient": (bias_gradient, [random(4, 9, 32)]),
    "reshaped": (reshaped, [random(3, 4)]),
    "draws of shapes": (draws_of_shapes, [random(*LARGE)]),
    "reductions": (reductions, [random(3, 5, 9)]),
    "reductions of doubles": (reductions, [random(3, 1, 9, dtype="float64")]),
    "between": (between, [random(16, 16)]),
    "selections": (selections, [random(9, 16), random(9, 16)[::-1] * 1.5]),
    "logic": (logic, [tf.range(100), tf.range(0, 200, 2)]),
    "logic of bytes": (logic, [tf.cast(tf.range(100) + 120, tf.uint8), tf.cast(tf.range(0, 200, 2), tf.uint8)]),
    "logic of long integers": (logic, [tf.range(100, dtype=tf.int64) - 50, tf.range(0, 200, 2, tf.int64)]),
    "negative integers": (integers, [tf.range(-50, 50), tf.cast(tf.range(50, 0, -0.5), tf.int32) + 1]),
    "affine": (affine, [random(5, 37), random(37)]),
    "affine of any number": (affine, [tf.TensorSpec([None, 37]), random(37)]),
    "batch norm": (normalized, [random(2, 3, 3, 4)]),
}


def threshold(x):
    return tf.exp(x * 2.0 + 1.0) * x


# ---- updates of variables --------------------------------------------------------------------------------------------

WEIGHTS, AVERAGES = ([tf.Variable(random(*shape)) for shape in ((4, 3), (3,), (300, 300))] for _ in range(2))


def updates(x):
    """Updates of variables: small ones in one function, a large one in a loop."""
    for w, m in zip(WEIGHTS, AVERAGES, strict=True):
        m.assign(0.9 * m + 0.1 * w * x)
        w.assign_sub(0.01 * m / (tf.sqrt(m * m) + 1e-7))
    return tf.reduce_sum(WEIGHTS[1])


def reads_and_updates(x):
    before = WEIGHTS[2] * 2.0
    WEIGHTS[2].assign_add(tf.tanh(before) * x)
    return WEIGHTS[2] + before, WEIGHTS[2].assign(before)


def loop_of_updates(x):
    for i in tf.range(3):
        WEIGHTS[1].assign_add(WEIGHTS[1] * x + tf.cast(i, tf.float32))
    return WEIGHTS[1] * 2.0


# ---- small functions -------------------------------------------------------------------------------------------------


def network(x, w, b):
    return tf.reduce_mean(tf.nn.relu(x @ w + b) ** 2, 0)


def network_gradient(x, w, b):
    with tf.GradientTape() as tape:
        tape.watch([w, b])
        loss = tf.reduce_mean((tf.tanh(x @ w + b) - 1.0) ** 2)
    return tape.gradient(loss, [w, b])


def moves(x, w, b):
    rows = tf.gather(tf.concat([x, x * 2.0], 0), [0, 3, 1])
    parts = tf.split(tf.transpose(rows), 3, axis=1)
    return tf.stack([parts[0][:, 0], parts[2][:, 0]])[:, ::-1] + tf.pad(b[:1], [[1, 2]]) + tf.one_hot(1, 4)


def effect(x, w, b):
    """A check between parts that machine code computes."""
    y = tf.tanh(tf.sin(x @ w) * 2.0 + b) - 1.0
    tf.debugging.assert_less(y, 10.0)
    y = tf.debugging.check_numerics(y, "no number")
    return tf.reduce_sum(tf.exp(y * y + 1.0) * 2.0 + b)


def two_calls(x, w, b):
    called = tf.function(lambda x: tf.tanh(x @ w) + b)
    return called(called(x)) * 2.0


def rows_that_are_taken(x, w, b):
    return tf.nn.softmax(tf.tanh(x @ w) + b)[1]


def branch(x, w, b):
    y = x @ w + b
    if tf.reduce_sum(y) > 0.0:
        y = tf.exp(y) * 2.0
    else:
        y = y - 1.0
    return y * y


def case(x, w, b):
    number = tf.cast(tf.reduce_sum(b), tf.int32) - 1
    return tf.switch_case(number, [lambda: x @ w, lambda: tf.exp(x @ w) * b, lambda: (x - 1.0) @ w * b])


def same_twice(x, w, b):
    return tf.exp(x @ w) + tf.exp(x @ w) * tf.cast(tf.shape(x)[0], tf.float32), tf.identity(b) * 1.0


def batches(x, w, b):
    """A function of a batch of a dataset, whose size is unknown: it stays a call. Another one is inlined."""
    rows = tf.data.Dataset.from_tensors(x).unbatch().batch(2)
    called, inlined = (tf.function(lambda rows: tf.tanh(rows @ w) * 2.0 + b) for _ in range(2))
    return called(next(iter(rows))), inlined(tf.random.uniform([2, 4]) * 0.0)


def of_constants(x, w, b):
    """Results that do not change between calls."""
    table = tf.transpose(tf.exp(TABLE) * 2.0)
    return x @ table[:4, :5], tf.reduce_sum(tf.sin(WEIGHTS[2]) * 2.0)


def random_ops(x, w, b):
    return tf.random.uniform([3]) + x[:, 0] * 0.0 > 2.0, tf.random.stateless_normal([4], [1, 2]) * b


TABLE = random(100, 80)
SMALL = [random(3, 4), random(4, 4), random(4)]
FUNCTIONS = [
    network, network_gradient, moves, effect, two_calls, rows_that_are_taken, branch, case, same_twice, batches,
    of_constants, random_ops,
]  # fmt: skip


# ---- slices ----------------------------------------------------------------------------------------------------------


def normalize(x):
    scale, offset = tf.reshape(tf.exp(x[0, 0]), [1, 1, 6]), tf.sin(x[:1, :1])
    return (x - tf.reduce_mean(x, -1, keepdims=True)) * scale + offset + tf.reshape(ROW, [1, 1, 6])


def dense(x):
    return tf.nn.bias_add(tf.reshape(tf.matmul(tf.reshape(x, [-1, 6]), COLUMNS), [-1, 3, 5]), ROW[:5])


def one_row(x):
    return tf.nn.softmax(dense(normalize(tf.sin(x)) + x))[:, 1]


def several_rows(x):
    return tf.nn.softmax(tf.matmul(normalize(x) * tf.range(6.0), COLUMNS))[2:4, ::2]


def used_elsewhere(x):
    y = normalize(tf.sin(x))
    return tf.exp(y)[:, 0], tf.reduce_sum(y)


def one_vector(x):
    return tf.nn.log_softmax(tf.tanh(x) * 2.0)[3, 1], tf.nn.relu(dense(x))[..., 1:3]


ROW, COLUMNS = random(6), random(6, 5)
SLICES = [one_row, several_rows, used_elsewhere, one_vector]


# ---- loops -----------------------------------------------------------------------------------------------------------


def recurrent(x, w, u, b):
    steps, state = tf.shape(x)[0], tf.zeros_like(x[0] @ w)
    inputs, states = tf.TensorArray(tf.float32, steps).unstack(x), tf.TensorArray(tf.float32, steps)
    for i in tf.range(steps):
        state = tf.tanh(tf.nn.bias_add(inputs.read(i) @ w + state @ u, b))
        states = states.write(i, state)
    return states.stack()


def gated(x, w, u, b):
    state, biases = tf.zeros_like(x[0, :, :2]), tf.reshape(b, [2, 2])
    inputs = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
    for i in tf.range(tf.shape(x)[0]):
        own, others = tf.unstack(tf.tanh(biases))
        z = tf.nn.bias_add(inputs.read(i) @ w[:, :2], own) + state @ u[:2, :2] + others
        gate, rest = tf.sigmoid(z[:, :1]), z[:, 1:]
        state = gate * state + (1.0 - gate) * tf.tanh(rest)
    return state


def powers(x, w, u, b):
    for _ in tf.range(4):
        x = tf.sin(tf.matmul(x[0], w, transpose_b=False)) @ u[:, :3] + b[0] + x
    return x


def newton(x, w, u, b):
    """A loop of scalars that ends by its state."""
    y, i = x[0, 0, 0], 0
    while abs(y * y - 2.0) > 1e-6 and i < 20:
        y = y - (y * y - 2.0) / (2.0 * y)
        i += 1
    return y, i


def collatz(x, w, u, b):
    n, steps = tf.cast(w[0, 0] * 100.0, tf.int32), 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def nested(x, w, u, b):
    total = tf.zeros([4])
    for i in tf.range(3):
        for j in tf.range(i + 1):
            total += u[i] * tf.cast(j, tf.float32)
    return total


def sorts(x, w, u, b):
    """A loop with an op that machine code lacks."""
    rows = u
    for i in tf.range(3):
        rows = tf.sort(rows @ u, 0) * 0.1 + tf.cast(i, tf.float32) * tf.exp(b)
    return rows


def scatters(x, w, u, b):
    entries = tf.TensorArray(tf.float32, 4, clear_after_read=False)
    for i in tf.range(4):
        entries = entries.write(3 - i, b * tf.cast(i, tf.float32))
    total = b
    for i in [2, 0, 2]:
        total += entries.read(i)
    return total


def random_walk(x, w, u, b):
    y = b
    for i in tf.range(4):
        y += tf.random.stateless_normal([4], tf.stack([i, 1])) * 0.1
    return y


def searches(x, w, u, b):
    """Conditionals in a loop, and a break."""
    best, at = b[0], tf.constant(0)
    for i in tf.range(4):
        if b[i] > best:
            best, at = b[i], i
        if best > 0.95:
            break
    return best, at


def prologue(x, w, u, b):
    """Products with inputs are one product before the loop."""
    state, inputs = tf.zeros([2, 4]), tf.TensorArray(tf.float32, 5).unstack(x)
    for i in tf.range(5):
        state = tf.sort(inputs.read(i) @ w + state @ u) + tf.exp(b)
    return state


def counted(x, w, u, b):
    """Numbers of Python beside tensors, and a limit."""
    n, parts = tf.constant(1), tf.TensorArray(tf.int32, 0, dynamic_size=True)
    while n < 50:
        parts = parts.write(parts.size(), n)
        n = n * 2 + tf.reduce_max(parts.stack()) // 3
    return n, parts.stack()


def limited(x, w, u, b):
    return tf.while_loop(
        lambda i, y: tf.reduce_sum(y) < 100.0, lambda i, y: (i + 1, y * 1.5 + b), (0, b), maximum_iterations=3
    )


def repeats(x, w, u, b):
    """Products, reductions and selections of any dtype."""
    total = b
    for i in tf.range(9):
        rows = tf.matmul(u, u) + total * tf.cast(i, u.dtype)
        total = tf.minimum(tf.reduce_max(rows, 0) - tf.where(total > b, total, tf.reduce_sum(rows, 1)), b * 2)
    return total


def steps(x, w, u, b):
    y, t = b, tf.zeros([], b.dtype)
    while t < 1.0:
        y, t = y + 0.25 * tf.exp(-y) * tf.sin(t), t + 0.25
    return y, t


def large_rows(x, w, u, b):
    y = tf.zeros([200, 100]) + b[0]
    for i in tf.range(3):
        y = tf.tanh(y * 0.5 + tf.cast(i, tf.float32)) * b[1] + y
    return y


def indexed(x, w, u, b):
    """Parts of tensors at indices that the loop computes."""
    table = u
    for i in tf.range(4):
        at = (3 * i + 1) % 4
        row = tf.gather(table, at) + tf.gather_nd(table, [[3 - i, 1], [i, 2]])[:1]
        part = tf.slice(table, [at, 1], [1, 2]) * tf.one_hot(tf.minimum(at, 1), 2)
        table = tf.tensor_scatter_nd_update(table, [[i], [at]], tf.stack([row * 0.5, tf.tile(part[0], [2])]))
    return table, tf.gather(tf.transpose(table), [2, 0])


def lists_within(x, w, u, b):
    """A loop in a loop: the inner one reads and writes entries, and ends by its state."""
    rows, sums = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(u), tf.TensorArray(tf.float32, 3)
    for i in tf.range(3):
        total, j = b * 0.0, 0
        while j <= i and tf.reduce_sum(total) < 5.0:
            total += rows.read(j) * tf.cast(i + 1, tf.float32)
            j += 1
        rows = rows.write(i, total)
        sums = sums.write(i, tf.reduce_max(total))
    return rows.stack(), sums.stack()


def chooses_entries(x, w, u, b):
    """Branches that change lists."""
    entries, state = tf.TensorArray(tf.float32, 4), b
    for i in tf.range(4):
        if state[0] > 1.0:
            entries, state = entries.write(i, state * 2.0), state * 0.5
        else:
            entries, state = entries.write(i, -state), state + u[i]
    return entries.stack(), state


def draws_of_loops(x, w, u, b):
    """Numbers of the op's own seed, and of a key."""
    y = b
    for i in tf.range(4):
        y += tf.random.uniform([4], seed=3) * 0.0
        key, counter = tf.cast([i, 1], tf.uint64)[:1], tf.zeros([2], tf.uint64)
        bits = tf.raw_ops.StatelessRandomUniformV2(shape=[4], key=key, counter=counter, alg=1)
        y += bits * 0.1
    return y


def biases(x, w, u, b):
    """Biases of rank 3, and reductions of integers and over no or several dimensions."""
    total, count = tf.zeros([5, 2, 4]), tf.constant([1, 2])
    for i in tf.range(3):
        total = tf.nn.bias_add(tf.tanh(total), b) + tf.reduce_mean(total, [0, 2], keepdims=True)
        total = tf.reshape(tf.reduce_sum(total[None], []), [5, 2, 4])
        count = tf.reduce_sum([count, count + i], 0)
    return total, tf.reduce_sum(total, [0, 1]), count


def from_the_end(x, w, u, b):
    """A list of unknown length, read from its end."""
    parts, y = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False), b
    for i in tf.range(4):
        parts = parts.write(i, y * tf.cast(i, tf.float32))
        y = y * 0.5 + parts.read(i)
    for i in tf.range(parts.size()):
        y += parts.read(3 - i) * u[i]
    return y


def numbers(x, w, u, b):
    """Numbers of Python in a loop: sums, quotients, conversions, vectors, and what a device computes."""
    n, small, sizes = tf.constant(7), tf.constant(200, tf.uint8), tf.constant([1, 2])
    for i in tf.range(5):
        n = tf.abs(n * 3 - i) % 11 - n // 2
        small += tf.cast(i, tf.uint8) * tf.constant(60, tf.uint8)
        sizes = sizes * 2 + n
        with tf.device("CPU:0"):
            n = tf.maximum(n, -i)
        b = tf.sort(b) + tf.cast(n, tf.float32)
    return n, small, sizes, b


def gradients_of(function):
    """Returns the function that computes the gradients of a function's results."""

    def gradients(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = tf.add_n([tf.reduce_sum(y * y) for y in tf.nest.flatten(function(*inputs)) if y.dtype.is_floating])
        return [g for g in tape.gradient(loss, inputs) if g is not None]

    return gradients


LOOPS = [
    recurrent, gated, powers, newton, collatz, nested, sorts, scatters, random_walk, searches, prologue, counted,
    limited, large_rows, indexed, lists_within, chooses_entries, draws_of_loops, biases, from_the_end, numbers,
]  # fmt: skip
OF_LOOPS = [random(5, 2, 3), random(3, 4), random(4, 4), random(4)]


# ---- attention, batches ----------------------------------------------------------------------------------------------


def attention(x):
    scores = tf.matmul(x, x * 2.0, transpose_b=True) * 0.5
    return tf.matmul(tf.nn.softmax(scores), x + 1.0)


def masked_attention(x):
    scores = tf.matmul(x, x * 2.0, transpose_b=True) / tf.sqrt(5.0)
    scores += tf.reduce_mean(x, -1)[..., None, :]
    return tf.matmul(tf.nn.softmax(scores), x + 1.0)


def causal_attention(x):
    scores = tf.matmul(x, x * 2.0, transpose_b=True) * 0.5
    seen = tf.linalg.band_part(tf.ones([4, 4]), -1, 0) > 0.0
    return tf.matmul(tf.nn.softmax(tf.where(seen, scores, -1e9)), x + 1.0)


def biased_attention(x):
    scores = tf.einsum("bhqd,bhkd->bhqk", x[:, :, :2], x * 2.0) / 2.0 + BIAS
    return tf.einsum("bhqk,bhkd->bqhd", tf.nn.softmax(scores), x + 1.0)


def weights_of_attention(x):
    """Not attention: the weights are a result, and the softmax is over another axis, too."""
    scores = tf.matmul(x, x * 2.0, transpose_b=True)
    weights = tf.nn.softmax(scores)
    return tf.matmul(weights, x), weights, tf.matmul(tf.nn.softmax(scores, 1), x)


def dropped_attention(x):
    weights = tf.nn.softmax(tf.matmul(x, x * 2.0, transpose_b=True) * 0.5)
    return tf.matmul(tf.nn.experimental.stateless_dropout(weights, 0.5, [1, 2]), x + 1.0)


def loops_of_batch(x):
    def one(row):
        total = row[0]
        for i in tf.range(3):
            total = tf.tanh(total + row[i])
        return total

    return tf.vectorized_map(one, x)


def branches_of_batch(x):
    def one(row):
        return tf.cond(row[0] > 0.5, lambda: row * 2.0, lambda: tf.sort(row))

    return tf.vectorized_map(one, x)


def moves_of_batch(x):
    def one(row):
        part = tf.reshape(tf.concat([row, row[::-1]], 0), [2, -1])
        return tf.reduce_sum(part @ tf.transpose(part)), tf.gather(row, tf.argmax(row)), tf.cumsum(row)[1:]

    return tf.vectorized_map(one, x)


def lists_of_batch(x):
    def one(row):
        parts = tf.TensorArray(tf.float32, 3).unstack(row)
        for i in tf.range(3):
            parts = parts.write(i, parts.read(i) * 2.0 + row[0])
        return parts.stack(), parts.gather([2, 0])

    return tf.vectorized_map(one, x)


def trips_of_batch(x):
    """Loops that end after another number of iterations for each slice."""

    def one(row):
        total, count = row[0], 0
        while total < 2.0:
            total, count = total * 1.5 + row[1], count + 1
        return total, count

    return tf.vectorized_map(one, x)


def gradients_of_batch(x):
    weights = tf.constant([[0.5, 1.0, -1.0]] * 3)

    def one(row):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(tf.nn.softmax(tf.linalg.matvec(weights, tf.tanh(row))) * row)
        return tape.gradient(loss, weights)

    return tf.vectorized_map(one, x)


def cases_of_batch(x):
    def one(row):
        number = tf.cast(row[0] * 3.0, tf.int32)
        return tf.switch_case(number, [lambda: row, lambda: tf.cumsum(row), lambda: row[::-1] * 2.0])

    return tf.vectorized_map(one, x)


def jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x[0]) * tf.reduce_sum(x, 0)
    return tape.jacobian(y, x)


def hessian(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(x @ tf.transpose(x)))
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


# ---- convolutions ----------------------------------------------------------------------------------------------------


def convolution(images, filters, bias):
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, filters, 1, "SAME"), bias))
    y = tf.nn.conv2d(y, filters, [1, 2, 1, 1], [[0, 0], [2, 1], [0, 3], [0, 0]], dilations=[1, 1, 2, 1])
    return tf.nn.max_pool2d(y, 2, 2, "VALID")


BIAS = random(1, 3, 2, 4)
LARGE_WEIGHTS = [tf.TensorSpec([None, None, 900]), random(900, 300) / 900.0, random(300, 300) / 300.0, random(300)]
UNKNOWN = tf.TensorSpec([None, 4])
PROGRAMS = {
    **{f"jit: {name}": case for name, case in CLUSTERS.items()},
    "clusters: small": (threshold, [random(8)]),
    "clusters: large": (threshold, [random(1 << 16)]),
    "clusters: of some size": (threshold, [UNKNOWN]),
    "clusters: layer norm": (layer_norm, [random(300, 128), random(128), random(128)]),
    "clusters: gradient": (gradients_of(lambda x: softmax(tf.sin(x) * 2.0)), [random(300, 128)]),
    **{f"update: {f.__name__}": (f, [tf.constant(0.5)]) for f in (updates, reads_and_updates, loop_of_updates)},
    **{f"small: {function.__name__}": (function, SMALL) for function in FUNCTIONS},
    "small: unknown": (network, [UNKNOWN, *SMALL[1:]]),
    "gradient: branch": (gradients_of(branch), SMALL),
    "gradient: case": (gradients_of(case), SMALL),
    "gradient: two_calls": (gradients_of(two_calls), SMALL),
    **{f"loop: {function.__name__}": (function, OF_LOOPS) for function in LOOPS},
    **{f"gradient: {f.__name__}": (gradients_of(f), OF_LOOPS) for f in LOOPS if f not in (newton, collatz, counted)},
    "gradient: second order": (gradients_of(gradients_of(powers)), OF_LOOPS),
    **{
        f"loop: {f.__name__} of {dtype}": (f, [tf.cast(x, dtype) for x in OF_LOOPS])
        for f, dtype in ((repeats, "float64"), (repeats, "bfloat16"), (repeats, "int32"), (steps, "float64"))
    },
    "gradient: repeats of float64": (gradients_of(repeats), [tf.cast(x, tf.float64) for x in OF_LOOPS]),
    "loop: unknown": (recurrent, [tf.TensorSpec([None, None, 3]), *OF_LOOPS[1:]]),
    "gradient: unknown": (gradients_of(gated), [tf.TensorSpec([None, None, 3]), *OF_LOOPS[1:]]),
    "loop: large weights": (recurrent, LARGE_WEIGHTS),
    "gradient: large weights": (gradients_of(recurrent), LARGE_WEIGHTS),
    "convolution": (convolution, [random(2, 9, 7, 16), random(3, 3, 16, 16), random(16)]),
    "convolution: gradient": (gradients_of(convolution), [random(2, 9, 7, 16), random(3, 3, 16, 16), random(16)]),
    "jit loop: sorts": (sorts, OF_LOOPS),
    "jit loop: large rows": (large_rows, OF_LOOPS),
    "attention": (attention, [random(4000, 3, 4, 5)]),
    "attention: gradient": (gradients_of(attention), [random(4000, 3, 4, 5)]),
    "attention: masked gradient": (gradients_of(masked_attention), [random(4000, 3, 4, 5)]),
    "attention: small gradient": (gradients_of(attention), [random(2, 3, 4, 5)]),
    "attention: any length": (gradients_of(attention), [tf.TensorSpec([2, 3, None, 5])]),
    "attention: masked, any length": (gradients_of(masked_attention), [tf.TensorSpec([2, 3, None, 5])]),
    **{
        f"attention: {f.__name__}{' of gradients' * (g is not f)}": (g, [random(2, 3, 4, 5)])
        for f in (causal_attention, biased_attention, weights_of_attention, dropped_attention)
        for g in (f, gradients_of(f))
    },
    "batch: loops": (loops_of_batch, [random(5, 3)]),
    "batch: branches": (branches_of_batch, [random(5, 3)]),
    "batch: moves": (moves_of_batch, [random(5, 3)]),
    "batch: lists": (lists_of_batch, [random(5, 3)]),
    "batch: trips": (trips_of_batch, [random(5, 3)]),
    "batch: gradients": (gradients_of_batch, [random(5, 3)]),
    "batch: cases": (cases_of_batch, [random(5, 3)]),
    "batch: unknown": (moves_of_batch, [tf.TensorSpec([None, 3])]),
    **{f"slice: {f.__name__}": (f, [random(700, 3, 6)]) for f in SLICES},
    "slice: unknown": (one_row, [tf.TensorSpec([None, 3, 6])]),
    "batch: jacobian": (jacobian, [random(3, 4)]),
    "batch: hessian": (hessian, [random(3, 4)]),
}


# ---- what the compiler makes of them ---------------------------------------------------------------------------------


def compile_program(name, monkeypatch):
    """Compiles a program, and runs it once.

    Returns:
        Its results, and a text: the sources of its functions, the replacements, and the instructions of each kernel.
    """
    kernels, written, load, write = {}, [], Target.load, Written._compile
    monkeypatch.setattr(machine_code.target(), "lanes", LANES)
    monkeypatch.setattr(machine_code.target(), "has_fma", True)
    monkeypatch.setattr(loops, "_WORTH_COMPILING", float("inf"))  # kernels with loops compile once they have run long
    for products in ("products_are_slow", "narrow_products_are_slow"):
        monkeypatch.setattr(mkl, products, lambda: False)

    def noted(self, name, key, text):
        kernels.setdefault(f"{name} {key}", f"{name}: {instructions(text())}")
        return load(self, name, f"{key} in vectors of {LANES}", text)

    def noted_source(self):
        function = write(self)
        written.append(self.source.rstrip())
        return function

    monkeypatch.setattr(Target, "load", noted)
    monkeypatch.setattr(Written, "_compile", noted_source)
    function, arguments = PROGRAMS[name]
    concrete = tf.function(function, jit_compile=name.startswith("jit")).get_concrete_function(*arguments)
    results = concrete(*values_of(name))
    rewrites = PLACE.sub("", concrete.explain_rewrites())
    parts = [sorted(NUMBER.sub(r"\1", t) for t in texts) for texts in (written, kernels.values())]
    return results, "\n".join([*parts[0], NUMBER.sub(r"\1", rewrites), *parts[1]])


def values_of(name):
    """Returns the arguments of a program; sizes that it does not know are 2."""
    specs = PROGRAMS[name][1]
    return [random(*[d or 2 for d in a.shape]) if isinstance(a, tf.TensorSpec) else a for a in specs]


def instructions(text):
    """Returns the number of each instruction in a module of LLVM."""
    counts = collections.Counter(INSTRUCTION.findall(text))
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def read_record():
    """Returns the recorded texts of the programs."""
    parts = re.split(r"^==== (.*)\n", RECORD.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (text.rstrip("\n") for text in parts[2::2]), strict=True))


def check_results(name, results):
    """Compares a program's results with those of its function, which runs op by op."""
    eager = PROGRAMS[name][0](*values_of(name))
    for result, expected in zip(tf.nest.flatten(results), tf.nest.flatten(eager), strict=True):
        exact = [tf.cast(t, tf.float64) for t in (result, expected)]
        np.testing.assert_allclose(*exact, rtol=1e-4, atol=1e-5)


def main():
    """Prints the text of each program, and what is wrong with its results. It runs in a process of its own: ops choose
    their kernels once, here for another processor."""
    made = {}
    for name in PROGRAMS:
        try:
            with pytest.MonkeyPatch.context() as monkeypatch:
                results, text = compile_program(name, monkeypatch)
                if not name.startswith("update"):
                    check_results(name, results)
            made[name] = text, ""
        except Exception as error:
            made[name] = "", f"{type(error).__name__}: {error}"
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main()
