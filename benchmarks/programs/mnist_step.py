"""One training step of the eager guide's convolutional network on 32 images of 28 x 28.

Two 3x3 convolutions of 16 filters with ReLU (no padding), the mean over each image, a dense layer to 10 logits, sparse
softmax cross-entropy, the gradients of all six weights and an Adam update. TensorFlow runs eagerly and as a
`tf.function`; torch in channels_last with `torch.optim.Adam`; JAX with the whole step under `jit`. What is returned and
compared is the loss.
"""

import numpy as np

THREADS = 1  # on two cores, two threads mostly wait for each other as soon as anything else runs

BATCH = 32
LEARNING_RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-7

_rng = np.random.default_rng(0)
IMAGES = _rng.random([BATCH, 28, 28, 1], np.float32)
LABELS = _rng.integers(0, 10, BATCH)
KERNEL1 = (_rng.standard_normal([3, 3, 1, 16]) * 0.3).astype(np.float32)
KERNEL2 = (_rng.standard_normal([3, 3, 16, 16]) * 0.1).astype(np.float32)
DENSE = (_rng.standard_normal([16, 10]) * 0.25).astype(np.float32)


def setup(tf):
    images, labels = tf.constant(IMAGES), tf.constant(LABELS, dtype=tf.int64)

    def new_step():
        kernel1, bias1 = tf.Variable(KERNEL1), tf.Variable(tf.zeros([16]))
        kernel2, bias2 = tf.Variable(KERNEL2), tf.Variable(tf.zeros([16]))
        dense, bias3 = tf.Variable(DENSE), tf.Variable(tf.zeros([10]))
        variables = [kernel1, bias1, kernel2, bias2, dense, bias3]
        means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        beta1_power, beta2_power = tf.Variable(1.0), tf.Variable(1.0)

        def step():
            with tf.GradientTape() as tape:
                x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel1, 1, "VALID"), bias1))
                x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel2, 1, "VALID"), bias2))
                logits = tf.matmul(tf.reduce_mean(x, axis=[1, 2]), dense) + bias3
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.reduce_mean(losses)
            gradients = tape.gradient(loss, variables)

            beta1_power.assign(beta1_power * BETA1)
            beta2_power.assign(beta2_power * BETA2)
            rate = LEARNING_RATE * tf.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
            for variable, mean, square, gradient in zip(variables, means, squares, gradients, strict=True):
                mean.assign_add((gradient - mean) * (1.0 - BETA1))
                square.assign_add((tf.square(gradient) - square) * (1.0 - BETA2))
                variable.assign_sub(rate * mean / (tf.sqrt(square) + EPSILON))
            return loss

        return step

    variants = {"eager": new_step()}
    if hasattr(tf, "function"):
        variants["graph"] = tf.function(new_step())
    return {"MNIST conv net, Adam": variants}


def setup_torch(torch):
    nn = torch.nn
    images = torch.tensor(IMAGES).permute(0, 3, 1, 2)  # a view: NHWC is torch's channels_last
    labels = torch.tensor(LABELS)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 10),
    )  # fmt: skip
    with torch.no_grad():
        for layer, weights in ((model[0], KERNEL1), (model[2], KERNEL2)):
            layer.weight.copy_(torch.tensor(weights).permute(3, 2, 0, 1))
            layer.bias.zero_()
        model[6].weight.copy_(torch.tensor(DENSE).T)
        model[6].bias.zero_()
    model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE, (BETA1, BETA2), EPSILON)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return {"MNIST conv net, Adam": step}


def setup_jax(jax):
    jnp, lax = jax.numpy, jax.lax
    images, labels = jnp.asarray(IMAGES), jnp.asarray(LABELS)

    def conv_relu(x, kernel, bias):
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.nn.relu(lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=layout) + bias)

    def loss_of(parameters):
        kernel1, bias1, kernel2, bias2, dense, bias3 = parameters
        x = conv_relu(conv_relu(images, kernel1, bias1), kernel2, bias2)
        logits = jnp.mean(x, axis=(1, 2)) @ dense + bias3
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(BATCH), labels])

    @jax.jit
    def update(parameters, means, squares, count):
        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        count = count + 1.0
        rate = LEARNING_RATE * jnp.sqrt(1.0 - BETA2**count) / (1.0 - BETA1**count)
        means = jax.tree.map(lambda m, g: m + (g - m) * (1.0 - BETA1), means, gradients)
        squares = jax.tree.map(lambda s, g: s + (g * g - s) * (1.0 - BETA2), squares, gradients)
        parameters = jax.tree.map(lambda p, m, s: p - rate * m / (jnp.sqrt(s) + EPSILON), parameters, means, squares)
        return loss, (parameters, means, squares, count)

    parameters = [KERNEL1, np.zeros(16, np.float32), KERNEL2, np.zeros(16, np.float32), DENSE, np.zeros(10, np.float32)]
    parameters = [jnp.asarray(p) for p in parameters]
    zeros = [jnp.zeros_like(p) for p in parameters]
    state = (parameters, zeros, zeros, jnp.asarray(0.0))

    def step():
        nonlocal state
        loss, state = update(*state)
        return loss

    return {"MNIST conv net, Adam": {"jit": step}}
