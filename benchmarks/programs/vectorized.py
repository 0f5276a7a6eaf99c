"""Many derivatives at once: Jacobians, gradients for each example, of a convolutional network too, a Hessian, and the
gradient of a vectorised map.

Each is computed by a call of its own in eager mode and by a traced function (`in a function`). PyTorch's are by
`torch.func`, JAX's by `jax.jit`.
"""

import numpy as np

THREADS = 1

BATCH, WIDTH, OUTPUTS = 64, 64, 32

_rng = np.random.default_rng(0)


def _normal(*shape, scale=1.0):
    return (scale * _rng.standard_normal(shape)).astype(np.float32)


SIZES = [WIDTH, WIDTH, WIDTH, OUTPUTS]
WEIGHTS = [_normal(a, b, scale=a**-0.5) for a, b in zip(SIZES, SIZES[1:], strict=False)]
BIASES = [_normal(b, scale=0.1) for b in SIZES[1:]]
FILTERS = [_normal(5, 5, 1, 16, scale=0.2), _normal(5, 5, 16, 32, scale=0.05)]
LAST, IMAGES = _normal(7 * 7 * 32, 10, scale=0.03), _normal(BATCH, 28, 28, 1)
LABELS = _rng.integers(0, 10, BATCH)
INPUT, INPUTS, TARGETS = _normal(WIDTH), _normal(BATCH, WIDTH), _normal(BATCH, OUTPUTS)


def setup(tf):
    weights, biases = [tf.Variable(a) for a in WEIGHTS], [tf.Variable(a) for a in BIASES]
    x, inputs, targets = tf.constant(INPUT), tf.constant(INPUTS), tf.constant(TARGETS)

    def network(h):
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = tf.tanh(tf.matmul(h, w) + b)
        return tf.matmul(h, weights[-1]) + biases[-1]

    def loss(example):
        h, target = example
        return tf.reduce_sum((network(h[None])[0] - target) ** 2.0)

    def jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = network(x[None])[0]
        return tape.jacobian(y, x)

    def batch_jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = network(x)
        return tape.batch_jacobian(y, x)

    def hessian(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(network(x[None]) ** 2.0)
            gradient = inner.gradient(y, x)
        return outer.jacobian(gradient, x)

    def gradients_of_examples(inputs, targets):
        def gradients(example):
            with tf.GradientTape() as tape:
                value = loss(example)
            return tape.gradient(value, weights + biases)

        return tf.vectorized_map(gradients, (inputs, targets))

    def gradient_of_map(inputs, targets):
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(tf.vectorized_map(loss, (inputs, targets)))
        return tape.gradient(value, weights + biases)

    filters, last = [tf.Variable(a) for a in FILTERS], tf.Variable(LAST)
    images, labels = tf.constant(IMAGES), tf.constant(LABELS)

    def image_loss(image, label):
        h = image[None]
        for f in filters:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(h, f, 1, "SAME")), 2, 2, "VALID")
        logits = tf.reshape(h, [-1, LAST.shape[0]]) @ last
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(label[None], logits))

    def image_gradients(example):
        with tf.GradientTape() as tape:
            value = image_loss(*example)
        return tape.gradient(value, [*filters, last])

    def gradients_of_images(images, labels):
        return tf.vectorized_map(image_gradients, (images, labels))

    def gradients_in_turn(images, labels):
        found = [image_gradients((images[i], labels[i])) for i in range(BATCH)]
        return [tf.stack(column) for column in zip(*found, strict=True)]

    def both(name, function, *args):
        traced = tf.function(function)
        return {name: lambda: function(*args), f"{name}, in a function": lambda: traced(*args)}

    return {
        **both("jacobian", jacobian, x),
        **both("batch_jacobian", batch_jacobian, inputs),
        **both("Hessian", hessian, x),
        **both("gradients of 64 examples", gradients_of_examples, inputs, targets),
        **both("gradient of a vectorized_map", gradient_of_map, inputs, targets),
        **both("gradients of 64 images", gradients_of_images, images, labels),
        "gradients of 64 images, in turn": lambda: gradients_in_turn(images, labels),
    }


def setup_torch(torch):
    weights, biases = [torch.tensor(a) for a in WEIGHTS], [torch.tensor(a) for a in BIASES]
    x, inputs, targets = torch.tensor(INPUT), torch.tensor(INPUTS), torch.tensor(TARGETS)
    from torch.func import grad, hessian, jacrev, vmap

    def network(parameters, h):
        weights, biases = parameters
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.tanh(h @ w + b)
        return h @ weights[-1] + biases[-1]

    def loss(parameters, h, target):
        return torch.sum((network(parameters, h) - target) ** 2)

    parameters = weights, biases
    of_examples = vmap(grad(loss), (None, 0, 0))
    of_map = grad(lambda p: torch.mean(vmap(loss, (None, 0, 0))(p, inputs, targets)))
    jacobian = jacrev(lambda x: network(parameters, x))
    second = hessian(lambda x: torch.sum(network(parameters, x) ** 2))

    def flat(gradients):
        return [*gradients[0], *gradients[1]]

    filters, last = [torch.tensor(a).permute(3, 2, 0, 1).contiguous() for a in FILTERS], torch.tensor(LAST)
    images, labels = torch.tensor(IMAGES).permute(0, 3, 1, 2).contiguous(), torch.tensor(LABELS)

    def image_loss(parameters, image, label):
        *filters, last = parameters
        h = image[None]
        for f in filters:
            h = torch.max_pool2d(torch.relu(torch.conv2d(h, f, padding=2)), 2)
        logits = h.permute(0, 2, 3, 1).reshape(1, -1) @ last
        return torch.nn.functional.cross_entropy(logits, label[None])

    def gradients_of_images():
        *of_filters, of_last = vmap(grad(image_loss), (None, 0, 0))((*filters, last), images, labels)
        return [*(g.permute(0, 3, 4, 2, 1) for g in of_filters), of_last]

    return {
        "jacobian": lambda: jacobian(x),
        "batch_jacobian": lambda: vmap(jacobian)(inputs),
        "Hessian": lambda: second(x),
        "gradients of 64 examples": lambda: flat(of_examples(parameters, inputs, targets)),
        "gradient of a vectorized_map": lambda: flat(of_map(parameters)),
        "gradients of 64 images": gradients_of_images,
    }


def setup_jax(jax):
    jnp = jax.numpy
    parameters = jax.tree.map(jnp.asarray, (WEIGHTS, BIASES))
    x, inputs, targets = (jnp.asarray(a) for a in (INPUT, INPUTS, TARGETS))

    def network(parameters, h):
        weights, biases = parameters
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = jnp.tanh(h @ w + b)
        return h @ weights[-1] + biases[-1]

    def loss(parameters, h, target):
        return jnp.sum((network(parameters, h) - target) ** 2)

    def mean(parameters, inputs, targets):
        return jnp.mean(jax.vmap(loss, (None, 0, 0))(parameters, inputs, targets))

    jacobian = jax.jacrev(network, 1)

    def image_loss(parameters, image, label):
        *filters, last = parameters
        h = image[None]
        for f in filters:
            h = jax.nn.relu(
                jax.lax.conv_general_dilated(h, f, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            )
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return -jax.nn.log_softmax(h.reshape(-1) @ last)[label]

    network_of_images = jax.tree.map(jnp.asarray, ([*FILTERS, LAST], IMAGES, LABELS))
    jitted = {
        "gradients of 64 images": (jax.vmap(jax.grad(image_loss), (None, 0, 0)), network_of_images),
        "jacobian": (jacobian, (parameters, x)),
        "batch_jacobian": (jax.vmap(jacobian, (None, 0)), (parameters, inputs)),
        "Hessian": (jax.hessian(lambda p, x: jnp.sum(network(p, x) ** 2), 1), (parameters, x)),
        "gradients of 64 examples": (jax.vmap(jax.grad(loss), (None, 0, 0)), (parameters, inputs, targets)),
        "gradient of a vectorized_map": (jax.grad(mean), (parameters, inputs, targets)),
    }

    def call(function, args):
        compiled = jax.jit(function)
        return lambda: [a.block_until_ready() for a in jax.tree.leaves(compiled(*args))]

    return {f"{name}, in a function": call(*what) for name, what in jitted.items()}
