"""Functions of a few hundred numbers, as people call them a million times: control, filters, reinforcement learning,
small regressions and physics. JAX's are under `jit`.

The time of such a function is mostly that of calling it and of passing from op to op.
"""

import numpy as np

THREADS = 1

_rng = np.random.default_rng(0)


def _normal(*shape, scale=1.0):
    return (scale * _rng.standard_normal(shape)).astype(np.float32)


FEATURES, TARGETS = _normal(32, 8), _normal(32, 1)
NETWORK = [_normal(8, 16, scale=0.3), _normal(16, scale=0.1), _normal(16, 1, scale=0.3), _normal(1, scale=0.1)]
POLICY = [_normal(4, 16, scale=0.5), _normal(16, scale=0.1), _normal(16, 2, scale=0.3), _normal(2, scale=0.1)]
STATES, ACTIONS, RETURNS = _normal(20, 4), _rng.integers(0, 2, 20).astype(np.int32), _normal(20)
MOTION = np.eye(4, dtype=np.float32) + 0.1 * np.eye(4, k=2, dtype=np.float32)
SEEN = np.eye(2, 4, dtype=np.float32)
MEAN, SPREAD, MEASURED = _normal(4), np.eye(4, dtype=np.float32), _normal(2)
GRU = [_normal(1, 8), _normal(1, 16), _normal(8, 48, scale=0.3), _normal(16, 48, scale=0.25), _normal(48, scale=0.1)]
POINT = _normal(8)
TOKENS, PROJECTIONS = _normal(12, 16), [_normal(16, 16, scale=0.25) for _ in range(4)]
PENDULUM = np.array([1.0, 0.0], np.float32)
PLACES = np.linspace(-1.0, 1.0, 32, dtype=np.float32)[:, None]
WAVE = [_normal(1, 16), _normal(16, scale=0.1), _normal(16, 16, scale=0.25), _normal(16, scale=0.1), _normal(16, 1)]
SAMPLES, CENTERS, SHARES = _normal(64, 2), _normal(3, 2), _normal(3, scale=0.1)
CART, GAINS = _normal(4, scale=0.1), _normal(4, 1, scale=0.2)
CONTROL = _normal(4, 1, scale=0.1)
STEPS = 5


def setup(tf):
    def constants(arrays):
        return [tf.constant(a) for a in arrays]

    def dense(x, w1, b1, w2, b2):
        return tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) + b2

    # ---- a regression with Adam ----
    weights = [tf.Variable(w) for w in NETWORK]
    first, second = ([tf.Variable(np.zeros_like(w)) for w in NETWORK] for _ in range(2))
    features, targets = constants([FEATURES, TARGETS])

    def regression(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((dense(x, *weights) - y) ** 2)
        for w, m, v, g in zip(weights, first, second, tape.gradient(loss, weights), strict=True):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            w.assign_sub(1e-6 * m / (tf.sqrt(v) + 1e-7))
        return tf.cast(loss > 0.0, tf.float32)

    # ---- a policy gradient ----
    policy, (states, actions, returns) = constants(POLICY), constants([STATES, ACTIONS, RETURNS])

    def policy_gradient(states, actions, returns):
        with tf.GradientTape() as tape:
            tape.watch(policy)
            logits = dense(states, *policy)
            chosen = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(actions, 2), axis=1)
            loss = -tf.reduce_mean(chosen * returns)
        return tape.gradient(loss, policy)

    # ---- a Kalman filter ----
    motion, seen = constants([MOTION, SEEN])
    mean, spread, measured = constants([MEAN, SPREAD, MEASURED])

    def kalman(mean, spread, measured):
        mean = tf.linalg.matvec(motion, mean)
        spread = motion @ spread @ tf.transpose(motion) + 0.01 * tf.eye(4)
        noise = seen @ spread @ tf.transpose(seen) + 0.1 * tf.eye(2)
        (a, b), (c, d) = tf.unstack(tf.unstack(noise)[0]), tf.unstack(tf.unstack(noise)[1])
        inverse = tf.reshape(tf.stack([d, -b, -c, a]), [2, 2]) / (a * d - b * c)
        gain = spread @ tf.transpose(seen) @ inverse
        mean += tf.linalg.matvec(gain, measured - tf.linalg.matvec(seen, mean))
        return mean, (tf.eye(4) - gain @ seen) @ spread

    # ---- a cell of a GRU ----
    gru = constants(GRU)

    def gru_cell(x, h, kernel, recurrent, bias):
        xz, xr, xh = tf.split(x @ kernel + bias, 3, axis=1)
        hz, hr, hh = tf.split(h @ recurrent, 3, axis=1)
        z, r = tf.sigmoid(xz + hz), tf.sigmoid(xr + hr)
        return z * h + (1.0 - z) * tf.tanh(xh + r * hh)

    # ---- a Hessian ----
    point, network = tf.constant(POINT), constants(NETWORK)

    def hessian(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(dense(x[None], *network) ** 2)
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    # ---- attention of twelve tokens ----
    tokens, projections = tf.constant(TOKENS), constants(PROJECTIONS)

    def attention(x, wq, wk, wv, wo):
        q, k, v = (tf.transpose(tf.reshape(x @ w, [12, 2, 8]), [1, 0, 2]) for w in (wq, wk, wv))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 8**-0.5)
        mixed = tf.reshape(tf.transpose(weights @ v, [1, 0, 2]), [12, 16])
        return x + mixed @ wo

    # ---- a pendulum ----
    pendulum = tf.constant(PENDULUM)

    def speeds(state):
        angle, speed = tf.unstack(state)
        return tf.stack([speed, -9.8 * tf.sin(angle) - 0.1 * speed])

    def swing(state):
        for _ in range(STEPS):
            k1 = speeds(state)
            k2 = speeds(state + 0.005 * k1)
            k3 = speeds(state + 0.005 * k2)
            k4 = speeds(state + 0.01 * k3)
            state = state + 0.01 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return state

    # ---- a physics-informed network: u'' + u = 0 ----
    places, wave = tf.constant(PLACES), constants(WAVE)

    def residual(x):
        with tf.GradientTape() as tape:
            tape.watch(wave)
            w1, b1, w2, b2, w3 = wave
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    u = tf.tanh(tf.tanh(x @ w1 + b1) @ w2 + b2) @ w3
                du = inner.gradient(u, x)
            loss = tf.reduce_mean((outer.gradient(du, x) + u) ** 2)
        return tape.gradient(loss, wave)

    # ---- a mixture of Gaussians ----
    samples, centers, shares = constants([SAMPLES, CENTERS, SHARES])

    def mixture(samples, centers, shares):
        with tf.GradientTape() as tape:
            tape.watch([centers, shares])
            squares = tf.reduce_sum((samples[:, None] - centers) ** 2, axis=2)
            logs = tf.reduce_logsumexp(tf.nn.log_softmax(shares) - 0.5 * squares, axis=1)
            loss = -tf.reduce_mean(logs)
        return tape.gradient(loss, [centers, shares])

    # ---- a controller and its gradient ----
    cart, gains, control = constants([CART, GAINS, CONTROL])

    def controller(state, gains):
        with tf.GradientTape() as tape:
            tape.watch(gains)
            cost = tf.constant(0.0)
            x = state[None]
            for _ in range(STEPS):
                u = tf.clip_by_value(x @ gains, -1.0, 1.0)
                x = x @ motion + u * tf.transpose(control)
                cost += tf.reduce_sum(x * x) + 0.1 * tf.reduce_sum(u * u)
        return tape.gradient(cost, gains)

    calls = {
        "regression with Adam": (regression, features, targets),
        "policy gradient": (policy_gradient, states, actions, returns),
        "Kalman filter": (kalman, mean, spread, measured),
        "GRU cell": (gru_cell, *gru),
        "Hessian of a small network": (hessian, point),
        "attention of 12 tokens": (attention, tokens, *projections),
        "five steps of a pendulum": (swing, pendulum),
        "physics-informed network": (residual, places),
        "mixture of Gaussians": (mixture, samples, centers, shares),
        "controller": (controller, cart, gains),
    }
    functions = {name: (tf.function(function), args) for name, (function, *args) in calls.items()}
    return {name: lambda f=f, args=args: f(*args) for name, (f, args) in functions.items()}


def setup_jax(jax):
    jnp = jax.numpy

    def arrays(values):
        return [jnp.asarray(a) for a in values]

    def dense(x, w1, b1, w2, b2):
        return jnp.tanh(x @ w1 + b1) @ w2 + b2

    def loss_of(weights, x, y):
        return jnp.mean((dense(x, *weights) - y) ** 2)

    held = [arrays(NETWORK), *(arrays([np.zeros_like(w) for w in NETWORK]) for _ in range(2))]
    features, targets = arrays([FEATURES, TARGETS])

    @jax.jit
    def regression(held, x, y):
        weights, first, second = held
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        first = [0.9 * m + 0.1 * g for m, g in zip(first, grads, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, grads, strict=True)]
        moved = zip(weights, first, second, strict=True)
        weights = [w - 1e-6 * m / (jnp.sqrt(v) + 1e-7) for w, m, v in moved]
        return [weights, first, second], (loss > 0.0).astype(jnp.float32)

    def train():
        held[:], result = regression(held, features, targets)
        return result

    policy, (states, actions, returns) = arrays(POLICY), arrays([STATES, ACTIONS, RETURNS])

    @jax.jit
    def policy_gradient(policy, states, actions, returns):
        def loss(policy):
            logs = jax.nn.log_softmax(dense(states, *policy))
            return -jnp.mean(jnp.sum(logs * jax.nn.one_hot(actions, 2), axis=1) * returns)

        return jax.grad(loss)(policy)

    motion, seen, mean, spread, measured = arrays([MOTION, SEEN, MEAN, SPREAD, MEASURED])

    @jax.jit
    def kalman(mean, spread, measured):
        mean = motion @ mean
        spread = motion @ spread @ motion.T + 0.01 * jnp.eye(4)
        (a, b), (c, d) = seen @ spread @ seen.T + 0.1 * jnp.eye(2)
        inverse = jnp.stack([d, -b, -c, a]).reshape(2, 2) / (a * d - b * c)
        gain = spread @ seen.T @ inverse
        mean += gain @ (measured - seen @ mean)
        return mean, (jnp.eye(4) - gain @ seen) @ spread

    gru = arrays(GRU)

    @jax.jit
    def gru_cell(x, h, kernel, recurrent, bias):
        xz, xr, xh = jnp.split(x @ kernel + bias, 3, axis=1)
        hz, hr, hh = jnp.split(h @ recurrent, 3, axis=1)
        z, r = jax.nn.sigmoid(xz + hz), jax.nn.sigmoid(xr + hr)
        return z * h + (1.0 - z) * jnp.tanh(xh + r * hh)

    point, network = jnp.asarray(POINT), arrays(NETWORK)
    hessian = jax.jit(jax.hessian(lambda x: jnp.sum(dense(x[None], *network) ** 2)))
    tokens, projections = jnp.asarray(TOKENS), arrays(PROJECTIONS)

    @jax.jit
    def attention(x, wq, wk, wv, wo):
        q, k, v = ((x @ w).reshape(12, 2, 8).transpose(1, 0, 2) for w in (wq, wk, wv))
        weights = jax.nn.softmax(q @ k.transpose(0, 2, 1) * 8**-0.5)
        return x + (weights @ v).transpose(1, 0, 2).reshape(12, 16) @ wo

    pendulum = jnp.asarray(PENDULUM)

    def speeds(state):
        angle, speed = state
        return jnp.stack([speed, -9.8 * jnp.sin(angle) - 0.1 * speed])

    @jax.jit
    def swing(state):
        for _ in range(STEPS):
            k1 = speeds(state)
            k2 = speeds(state + 0.005 * k1)
            k3 = speeds(state + 0.005 * k2)
            k4 = speeds(state + 0.01 * k3)
            state = state + 0.01 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return state

    places, wave = jnp.asarray(PLACES), arrays(WAVE)

    @jax.jit
    def residual(wave, x):
        def loss(wave):
            w1, b1, w2, b2, w3 = wave

            def u(x):
                return jnp.tanh(jnp.tanh(x @ w1 + b1) @ w2 + b2) @ w3

            def slope(x):
                return jax.grad(lambda x: jnp.sum(u(x)))(x)

            curvature = jax.grad(lambda x: jnp.sum(slope(x)))(x)
            return jnp.mean((curvature + u(x)) ** 2)

        return jax.grad(loss)(wave)

    samples, centers, shares = arrays([SAMPLES, CENTERS, SHARES])

    @jax.jit
    def mixture(samples, centers, shares):
        def loss(centers, shares):
            squares = jnp.sum((samples[:, None] - centers) ** 2, axis=2)
            return -jnp.mean(jax.nn.logsumexp(jax.nn.log_softmax(shares) - 0.5 * squares, axis=1))

        return jax.grad(loss, (0, 1))(centers, shares)

    cart, gains, control = arrays([CART, GAINS, CONTROL])

    @jax.jit
    def controller(state, gains):
        def cost(gains):
            x, total = state[None], 0.0
            for _ in range(STEPS):
                u = jnp.clip(x @ gains, -1.0, 1.0)
                x = x @ motion + u * control.T
                total += jnp.sum(x * x) + 0.1 * jnp.sum(u * u)
            return total

        return jax.grad(cost)(gains)

    return {
        "regression with Adam": train,
        "policy gradient": lambda: policy_gradient(policy, states, actions, returns),
        "Kalman filter": lambda: kalman(mean, spread, measured),
        "GRU cell": lambda: gru_cell(*gru),
        "Hessian of a small network": lambda: hessian(point),
        "attention of 12 tokens": lambda: attention(tokens, *projections),
        "five steps of a pendulum": lambda: swing(pendulum),
        "physics-informed network": lambda: residual(wave, places),
        "mixture of Gaussians": lambda: mixture(samples, centers, shares),
        "controller": lambda: controller(cart, gains),
    }
