"""Calls of traced functions: what a call costs, arithmetic on large and on small tensors, a loop, and tracing with the
first call.

Arithmetic is measured with `jit_compile=True` too, JAX under `jit`.
"""

import numpy as np

THREADS = 1

BATCH, WIDTH, LAYERS, ITERATIONS = 8, 32, 10, 5000

_rng = np.random.default_rng(0)


def _normal(*shape, scale=1.0):
    return (scale * _rng.standard_normal(shape)).astype(np.float32)


SMALL = _normal(2, 2)
INPUT = _normal(BATCH, WIDTH)
WEIGHTS = [_normal(WIDTH, WIDTH, scale=WIDTH**-0.5) for _ in range(LAYERS)]
LARGE = _normal(1024, 1024)
CELL = [_normal(10, 10), _normal(10, 10), _normal(10, 10), _normal(10, 40), _normal(10, 40), _normal(40)]


def chain(tf, x):
    y = tf.tanh(x) * 2.0 + 1.0
    y = tf.sigmoid(y) - tf.exp(-y * y)
    return tf.nn.relu(y) * x + tf.sqrt(tf.abs(x))


def setup(tf):
    small = tf.constant(SMALL)
    one_op = tf.function(lambda x: x + 1.0)

    inputs = tf.constant(INPUT)
    weights = [tf.Variable(w) for w in WEIGHTS]

    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(tf.matmul(h, w))
            loss = tf.reduce_mean(h * h)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(1e-6 * g)
        return tf.cast(loss > 0.0, tf.float32)

    x, h0, c0, kernel, recurrent, bias = (tf.constant(a) for a in CELL)

    def cell(x, h, c):
        z = tf.matmul(x, kernel) + tf.matmul(h, recurrent) + bias
        i, f, g, o = tf.split(z, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c)

    @tf.function
    def loop(n):
        i = tf.constant(0)
        total = tf.constant(0.0)
        while i < n:
            total = total * 0.5 + 1.0
            i += 1
        return total

    n = tf.constant(ITERATIONS)

    def both(function, *args):
        plain, compiled = tf.function(function), tf.function(function, jit_compile=True)
        return {"": lambda: plain(*args), "jit_compile": lambda: compiled(*args)}

    def trace():
        f = tf.function(lambda x: tf.reduce_mean(tf.multiply(x**2, 3.0) + tf.nn.relu(x)))
        return f(small)

    return {
        "a one-op function": lambda: one_op(small),
        "elementwise chain, 1024x1024": both(lambda x: chain(tf, x), tf.constant(LARGE)),
        "10-layer MLP train step": both(step, inputs),
        "LSTM cell": both(cell, x, h0, c0),
        "5,000-iteration while": lambda: loop(n),
        "tracing and first call": trace,
    }


def setup_jax(jax):
    """JAX under `jit`, with variables as arguments and results, as it is written there."""
    jnp, lax = jax.numpy, jax.lax
    small, inputs = jnp.asarray(SMALL), jnp.asarray(INPUT)
    one_op = jax.jit(lambda x: x + 1.0)
    large = jnp.asarray(LARGE)
    weights = [jnp.asarray(w) for w in WEIGHTS]

    @jax.jit
    def chain(x):
        y = jnp.tanh(x) * 2.0 + 1.0
        y = jax.nn.sigmoid(y) - jnp.exp(-y * y)
        return jax.nn.relu(y) * x + jnp.sqrt(jnp.abs(x))

    def loss_of(weights, x):
        for w in weights:
            x = jax.nn.relu(x @ w)
        return jnp.mean(x * x)

    @jax.jit
    def step(weights, x):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x)
        changed = [w - 1e-6 * g for w, g in zip(weights, gradients, strict=True)]
        return changed, (loss > 0.0).astype(jnp.float32)

    def train():
        nonlocal weights
        weights, result = step(weights, inputs)
        return result.block_until_ready()

    x, h0, c0, kernel, recurrent, bias = (jnp.asarray(a) for a in CELL)

    @jax.jit
    def cell(x, h, c):
        z = x @ kernel + h @ recurrent + bias
        i, f, g, o = jnp.split(z, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c)

    @jax.jit
    def loop(n):
        def body(state):
            i, total = state
            return i + 1, total * 0.5 + 1.0

        return lax.while_loop(lambda state: state[0] < n, body, (jnp.int32(0), jnp.float32(0.0)))[1]

    n = jnp.int32(ITERATIONS)

    def trace():
        f = jax.jit(lambda x: jnp.mean(jnp.multiply(x**2, 3.0) + jax.nn.relu(x)))
        return f(small).block_until_ready()

    return {
        "a one-op function": lambda: one_op(small).block_until_ready(),
        "elementwise chain, 1024x1024": lambda: chain(large).block_until_ready(),
        "10-layer MLP train step": train,
        "LSTM cell": lambda: cell(x, h0, c0).block_until_ready(),
        "5,000-iteration while": lambda: loop(n).block_until_ready(),
        "tracing and first call": trace,
    }
