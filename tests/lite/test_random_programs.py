"""Random small graphs in the runtime and in TapeFlow, for two batch sizes."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import assert_close, convert, run

UNARY = [
    tf.nn.relu, tf.nn.relu6, tf.tanh, tf.sigmoid, tf.nn.gelu, tf.abs, tf.square, tf.nn.softmax, tf.nn.elu, tf.sin,
    lambda x: tf.nn.leaky_relu(x, 0.1), lambda x: x * 1.0, lambda x: x + 0.0, lambda x: -x,
    lambda x: tf.exp(-tf.abs(x)), tf.nn.softplus, lambda x: tf.clip_by_value(x, -1.0, 1.0),
    lambda x: tf.sqrt(tf.abs(x) + 1.0),
]  # fmt: skip
BINARY = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, lambda x, y: x / (tf.abs(y) + 1.0),
          lambda x, y: tf.where(x > y, x, y * 0.5)]  # fmt: skip


def random_function(rng):
    """Returns a function of a batch of matrices, composed of 6 to 14 random calls."""
    constants = [rng.standard_normal(8).astype(np.float32) for _ in range(3)]
    weights = rng.standard_normal([8, 8]).astype(np.float32) / 3
    filters = rng.standard_normal([1, 3, 8, 8]).astype(np.float32) / 5

    def constant(x):
        c = constants[rng.integers(3)]
        return BINARY[rng.integers(3)](x, c if rng.random() < 0.7 else float(c[0]))

    moves = [
        lambda x: tf.reshape(tf.reshape(x, [-1, 32]), [-1, 4, 8]),
        lambda x: tf.transpose(tf.transpose(x, [0, 2, 1]), [0, 2, 1]),
        lambda x: tf.concat([x[:, 2:], x[:, :2]], axis=1),
        lambda x: tf.reverse(x, [1]),
        lambda x: x @ weights,
        lambda x: tf.nn.relu(x @ weights + constants[0]),
        lambda x: tf.nn.conv2d(x[:, tf.newaxis], filters, 1, "SAME")[:, 0] * constants[1] + constants[2],
        lambda x: x - tf.reduce_mean(x, axis=-1, keepdims=True),
        lambda x: tf.nn.softmax(tf.matmul(x, x, transpose_b=True)) @ x,
        lambda x: tf.cond(tf.reduce_sum(tf.abs(x)) > 9.0, lambda: x * 0.5, lambda: x + 1.0),
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) + constants[0]), [0, x])[1],
        lambda x: tf.stack(tf.unstack(x, axis=1), axis=1),
        lambda x: tf.gather(x, [3, 1, 0, 2], axis=1),
    ]
    plan = rng.integers(0, 4, rng.integers(6, 15))

    def function(x):
        nonlocal rng
        rng = np.random.default_rng(seed)  # each trace draws the same calls
        values = [x]
        for kind in plan:
            x = values[rng.integers(max(len(values) - 3, 0), len(values))]
            if kind == 0:
                x = UNARY[rng.integers(len(UNARY))](x)
            elif kind == 1:
                x = BINARY[rng.integers(len(BINARY))](x, values[rng.integers(len(values))])
            elif kind == 2:
                x = constant(x)
            else:
                x = moves[rng.integers(len(moves))](x)
            values.append(x)
        return values[-1], tf.reduce_max(values[-2], axis=[1, 2])

    seed = int(rng.integers(1 << 30))
    return function


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed):
    function = random_function(np.random.default_rng(seed))
    content = convert(function, tf.TensorSpec([None, 4, 8]))
    for batch in (1, 3):
        x = np.random.default_rng(seed).standard_normal([batch, 4, 8]).astype(np.float32)
        for got, want in zip(run(content, x), function(tf.constant(x)), strict=True):
            assert_close(got, want.numpy(), 1e-4)
