"""Forward and backward passes whose arithmetic is small: what a tape costs, op by op.

Every program gives the gradients of its loss with respect to all its weights. JAX is measured as it is most often
written in a notebook (`jax.grad`, eager) and as it is meant to be used (`jax.jit` around it).
"""

import numpy as np

THREADS = 1

BATCH, WIDTH, LAYERS, STEPS = 8, 32, 10, 20

_rng = np.random.default_rng(0)


def _normal(*shape, scale=1.0):
    return (scale * _rng.standard_normal(shape)).astype(np.float32)


MLP_INPUT = _normal(BATCH, WIDTH)
MLP_WEIGHTS = [_normal(WIDTH, WIDTH, scale=WIDTH**-0.5) for _ in range(LAYERS)]
MLP_BIASES = [_normal(WIDTH, scale=0.1) for _ in range(LAYERS)]

RNN_INPUTS = [_normal(BATCH, WIDTH) for _ in range(STEPS)]
RNN_STATE = np.zeros([BATCH, WIDTH], np.float32)
RNN_WEIGHTS = [_normal(WIDTH, WIDTH, scale=0.5 * WIDTH**-0.5), _normal(WIDTH, WIDTH, scale=0.5 * WIDTH**-0.5)]
RNN_BIAS = _normal(WIDTH, scale=0.1)


def setup(tf):
    w = tf.Variable([[1.0]])

    def quadratic():
        with tf.GradientTape() as tape:
            loss = w * w + 2.0 * w + 5.0
        return tape.gradient(loss, w)

    mlp_input = tf.constant(MLP_INPUT)
    mlp_weights = [tf.Variable(a) for a in MLP_WEIGHTS]
    mlp_biases = [tf.Variable(a) for a in MLP_BIASES]

    def mlp():
        with tf.GradientTape() as tape:
            h = mlp_input
            for weights, bias in zip(mlp_weights, mlp_biases, strict=True):
                h = tf.nn.relu(tf.matmul(h, weights) + bias)
            loss = tf.reduce_mean(h * h)
        return tape.gradient(loss, mlp_weights + mlp_biases)

    rnn_inputs, state = [tf.constant(a) for a in RNN_INPUTS], tf.constant(RNN_STATE)
    w_input, w_state = (tf.Variable(a) for a in RNN_WEIGHTS)
    rnn_bias = tf.Variable(RNN_BIAS)

    def rnn():
        with tf.GradientTape() as tape:
            h = state
            for x in rnn_inputs:
                h = tf.tanh(tf.matmul(x, w_input) + tf.matmul(h, w_state) + rnn_bias)
            loss = tf.reduce_mean(h * h)
        return tape.gradient(loss, [w_input, w_state, rnn_bias])

    return {"w*w + 2.*w + 5.": quadratic, "10-layer MLP": mlp, "20-step tanh RNN": rnn}


def setup_torch(torch):
    def weight(array):
        return torch.tensor(array, requires_grad=True)

    w = weight([[1.0]])

    def quadratic():
        loss = w * w + 2.0 * w + 5.0
        return torch.autograd.grad(loss, w)

    mlp_input = torch.tensor(MLP_INPUT)
    mlp_weights, mlp_biases = [weight(a) for a in MLP_WEIGHTS], [weight(a) for a in MLP_BIASES]

    def mlp():
        h = mlp_input
        for weights, bias in zip(mlp_weights, mlp_biases, strict=True):
            h = torch.relu(h @ weights + bias)
        loss = torch.mean(h * h)
        return torch.autograd.grad(loss, mlp_weights + mlp_biases)

    rnn_inputs, state = [torch.tensor(a) for a in RNN_INPUTS], torch.tensor(RNN_STATE)
    w_input, w_state = (weight(a) for a in RNN_WEIGHTS)
    rnn_bias = weight(RNN_BIAS)

    def rnn():
        h = state
        for x in rnn_inputs:
            h = torch.tanh(x @ w_input + h @ w_state + rnn_bias)
        loss = torch.mean(h * h)
        return torch.autograd.grad(loss, [w_input, w_state, rnn_bias])

    return {"w*w + 2.*w + 5.": quadratic, "10-layer MLP": mlp, "20-step tanh RNN": rnn}


def setup_jax(jax):
    jnp = jax.numpy

    def quadratic_loss(w):
        return jnp.sum(w * w + 2.0 * w + 5.0)

    def mlp_loss(parameters, h):
        for w, b in zip(parameters[:LAYERS], parameters[LAYERS:], strict=True):
            h = jax.nn.relu(h @ w + b)
        return jnp.mean(h * h)

    def rnn_loss(parameters, h, inputs):
        w_input, w_state, bias = parameters
        for x in inputs:
            h = jnp.tanh(x @ w_input + h @ w_state + bias)
        return jnp.mean(h * h)

    def eager_and_jit(loss, *arguments):
        arguments = jax.tree.map(jnp.asarray, arguments)
        eager = jax.grad(loss)
        jitted = jax.jit(eager)
        return {"eager": lambda: eager(*arguments), "jit": lambda: jitted(*arguments)}

    return {
        "w*w + 2.*w + 5.": eager_and_jit(quadratic_loss, np.ones([1, 1], np.float32)),
        "10-layer MLP": eager_and_jit(mlp_loss, [*MLP_WEIGHTS, *MLP_BIASES], MLP_INPUT),
        "20-step tanh RNN": eager_and_jit(rnn_loss, [*RNN_WEIGHTS, RNN_BIAS], RNN_STATE, RNN_INPUTS),
    }
