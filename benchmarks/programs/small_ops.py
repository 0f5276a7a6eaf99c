"""Single ops on tiny tensors: what a call costs before any arithmetic worth the name.

The torch column is the bare torch call with gradients off, so it is the floor for anything that runs on ATen.
JAX has no variables; the lines on variables leave it out.
"""

import numpy as np

THREADS = 1

MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
OTHER = np.array([[0.5, -1.0], [2.0, 4.0]], np.float32)
VECTOR = np.linspace(-2.0, 2.0, 10, dtype=np.float32)
INDICES = np.array([9, 0, 3], np.int32)
MASK = np.array([[True, False], [False, True]])


def setup(tf):
    x, y, vector = tf.constant(MATRIX), tf.constant(OTHER), tf.constant(VECTOR)
    indices, mask = tf.constant(INDICES), tf.constant(MASK)
    counter, variable = tf.Variable(MATRIX), tf.Variable(MATRIX)
    return {
        "add": lambda: tf.add(x, y),
        "subtract": lambda: tf.subtract(x, y),
        "multiply": lambda: tf.multiply(x, y),
        "divide": lambda: tf.divide(x, y),
        "maximum": lambda: tf.maximum(x, y),
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "equal": lambda: tf.equal(x, y),
        "exp": lambda: tf.exp(x),
        "square": lambda: tf.square(x),
        "tanh": lambda: tf.tanh(vector),
        "sigmoid": lambda: tf.sigmoid(vector),
        "relu": lambda: tf.nn.relu(vector),
        "softmax": lambda: tf.nn.softmax(vector),
        "matmul": lambda: tf.matmul(x, y),
        "reduce_sum": lambda: tf.reduce_sum(x),
        "reduce_mean, axis": lambda: tf.reduce_mean(x, axis=1),
        "argmax": lambda: tf.argmax(x, axis=1),
        "reshape": lambda: tf.reshape(x, [4]),
        "transpose": lambda: tf.transpose(x),
        "expand_dims": lambda: tf.expand_dims(x, 0),
        "concat": lambda: tf.concat([x, y], axis=0),
        "stack": lambda: tf.stack([x, y]),
        "x[0]": lambda: x[0],
        "x[1:, None]": lambda: x[1:, None],
        "where": lambda: tf.where(mask, x, y),
        "gather": lambda: tf.gather(vector, indices),
        "one_hot": lambda: tf.one_hot(indices, 10),
        "cast": lambda: tf.cast(x, tf.int32),
        "convert a list": lambda: tf.convert_to_tensor([[1.0, 2.0], [3.0, 4.0]]),
        "constant": lambda: tf.constant(1.0),
        "zeros": lambda: tf.zeros([2, 2]),
        "variable.assign_add": lambda: counter.assign_add(x),
        "variable * 2.0": lambda: variable * 2.0,
    }


def setup_torch(torch):
    torch.set_grad_enabled(False)
    x, y, vector = torch.tensor(MATRIX), torch.tensor(OTHER), torch.tensor(VECTOR)
    indices, mask = torch.tensor(INDICES), torch.tensor(MASK)
    labels = indices.long()
    counter, variable = torch.tensor(MATRIX), torch.tensor(MATRIX)
    return {
        "add": lambda: torch.add(x, y),
        "subtract": lambda: torch.sub(x, y),
        "multiply": lambda: torch.mul(x, y),
        "divide": lambda: torch.div(x, y),
        "maximum": lambda: torch.maximum(x, y),
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "equal": lambda: torch.eq(x, y),
        "exp": lambda: torch.exp(x),
        "square": lambda: torch.square(x),
        "tanh": lambda: torch.tanh(vector),
        "sigmoid": lambda: torch.sigmoid(vector),
        "relu": lambda: torch.relu(vector),
        "softmax": lambda: torch.softmax(vector, -1),
        "matmul": lambda: torch.matmul(x, y),
        "reduce_sum": lambda: torch.sum(x),
        "reduce_mean, axis": lambda: torch.mean(x, dim=1),
        "argmax": lambda: torch.argmax(x, dim=1),
        "reshape": lambda: torch.reshape(x, [4]),
        "transpose": lambda: torch.transpose(x, 0, 1),
        "expand_dims": lambda: torch.unsqueeze(x, 0),
        "concat": lambda: torch.cat([x, y], dim=0),
        "stack": lambda: torch.stack([x, y]),
        "x[0]": lambda: x[0],
        "x[1:, None]": lambda: x[1:, None],
        "where": lambda: torch.where(mask, x, y),
        "gather": lambda: torch.index_select(vector, 0, indices),
        "one_hot": lambda: torch.nn.functional.one_hot(labels, 10).float(),
        "cast": lambda: x.to(torch.int32),
        "convert a list": lambda: torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        "constant": lambda: torch.tensor(1.0),
        "zeros": lambda: torch.zeros([2, 2]),
        "variable.assign_add": lambda: counter.add_(x),
        "variable * 2.0": lambda: variable * 2.0,
    }


def setup_jax(jax):
    jnp = jax.numpy
    x, y, vector = jnp.asarray(MATRIX), jnp.asarray(OTHER), jnp.asarray(VECTOR)
    indices, mask = jnp.asarray(INDICES), jnp.asarray(MASK)
    return {
        "add": lambda: jnp.add(x, y),
        "subtract": lambda: jnp.subtract(x, y),
        "multiply": lambda: jnp.multiply(x, y),
        "divide": lambda: jnp.divide(x, y),
        "maximum": lambda: jnp.maximum(x, y),
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "equal": lambda: jnp.equal(x, y),
        "exp": lambda: jnp.exp(x),
        "square": lambda: jnp.square(x),
        "tanh": lambda: jnp.tanh(vector),
        "sigmoid": lambda: jax.nn.sigmoid(vector),
        "relu": lambda: jax.nn.relu(vector),
        "softmax": lambda: jax.nn.softmax(vector),
        "matmul": lambda: jnp.matmul(x, y),
        "reduce_sum": lambda: jnp.sum(x),
        "reduce_mean, axis": lambda: jnp.mean(x, axis=1),
        "argmax": lambda: jnp.argmax(x, axis=1),
        "reshape": lambda: jnp.reshape(x, (4,)),
        "transpose": lambda: jnp.transpose(x),
        "expand_dims": lambda: jnp.expand_dims(x, 0),
        "concat": lambda: jnp.concatenate([x, y], axis=0),
        "stack": lambda: jnp.stack([x, y]),
        "x[0]": lambda: x[0],
        "x[1:, None]": lambda: x[1:, None],
        "where": lambda: jnp.where(mask, x, y),
        "gather": lambda: jnp.take(vector, indices, axis=0),
        "one_hot": lambda: jax.nn.one_hot(indices, 10),
        "cast": lambda: x.astype(jnp.int32),
        "convert a list": lambda: jnp.asarray([[1.0, 2.0], [3.0, 4.0]]),
        "constant": lambda: jnp.asarray(1.0),
        "zeros": lambda: jnp.zeros((2, 2)),
    }
