"""How much memory a training step needs: a conv net of 8 layers on 64 images of 64 x 64, and an MLP of 8 layers.

Forward pass, softmax cross-entropy, gradients and plain SGD. Torch is in channels_last, JAX has the whole step under
`jit` with its old weights donated. The runner measures each in a fresh process.
"""

import itertools

import numpy as np

THREADS = 2
ALLOCATIONS = True  # what ATen allocates is measured too

LAYERS, CLASSES, LEARNING_RATE = 8, 10, 0.01
CONV_BATCH, CONV_SIZE, CONV_CHANNELS = 64, 64, 32
MLP_BATCH, MLP_WIDTH = 4096, 1024


def _conv_data():
    rng = np.random.default_rng(0)
    images = rng.standard_normal([CONV_BATCH, CONV_SIZE, CONV_SIZE, 3], np.float32)
    labels = rng.integers(0, CLASSES, CONV_BATCH)
    sizes = [3] + [CONV_CHANNELS] * LAYERS
    kernels = [
        rng.standard_normal([3, 3, fan_in, fan_out], np.float32) * np.float32((2 / (9 * fan_in)) ** 0.5)
        for fan_in, fan_out in itertools.pairwise(sizes)
    ]
    dense = rng.standard_normal([CONV_CHANNELS, CLASSES], np.float32) * np.float32(0.1)
    return images, labels, kernels, dense


def _mlp_data():
    rng = np.random.default_rng(0)
    x = rng.standard_normal([MLP_BATCH, MLP_WIDTH], np.float32)
    labels = rng.integers(0, CLASSES, MLP_BATCH)
    scale = np.float32((2 / MLP_WIDTH) ** 0.5)
    weights = [rng.standard_normal([MLP_WIDTH, MLP_WIDTH], np.float32) * scale for _ in range(LAYERS)]
    dense = rng.standard_normal([MLP_WIDTH, CLASSES], np.float32) * scale
    return x, labels, weights, dense


def setup(tf):
    def training_step(data, forward):
        inputs, labels, weights, dense = data()
        inputs, labels = tf.constant(inputs), tf.constant(labels, dtype=tf.int64)
        weights, dense = [tf.Variable(w) for w in weights], tf.Variable(dense)
        biases = [tf.Variable(tf.zeros(w.shape[-1:])) for w in weights]
        variables = [*weights, *biases, dense]

        def step():
            with tf.GradientTape() as tape:
                logits = tf.matmul(forward(inputs, weights, biases), dense)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.reduce_mean(losses)
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(LEARNING_RATE * gradient)
            return loss

        return step

    def conv_net(x, kernels, biases):
        for kernel, bias in zip(kernels, biases, strict=True):
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), bias))
        return tf.reduce_mean(x, axis=[1, 2])

    def mlp(x, weights, biases):
        for w, bias in zip(weights, biases, strict=True):
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), bias))
        return x

    steps = {"conv net": lambda: training_step(_conv_data, conv_net), "MLP": lambda: training_step(_mlp_data, mlp)}
    return steps | {f"{name} as a tf.function": lambda make=make: tf.function(make()) for name, make in steps.items()}


def setup_torch(torch):
    nn = torch.nn

    def training_step(model, inputs, labels):
        optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE)
        labels = torch.tensor(labels)

        def step():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    def fill(layer, weights):
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weights))
            if layer.bias is not None:
                layer.bias.zero_()
        return layer

    def conv_net():
        images, labels, kernels, dense = _conv_data()
        layers = []
        for kernel in kernels:
            conv = nn.Conv2d(kernel.shape[2], kernel.shape[3], 3, padding=1)
            layers += [fill(conv, kernel.transpose(3, 2, 0, 1)), nn.ReLU()]
        head = fill(nn.Linear(*dense.shape, bias=False), dense.T)
        model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), head)
        model = model.to(memory_format=torch.channels_last)
        return training_step(model, torch.tensor(images).permute(0, 3, 1, 2), labels)

    def mlp():
        x, labels, weights, dense = _mlp_data()
        layers = []
        for w in weights:
            layers += [fill(nn.Linear(*w.shape), w.T), nn.ReLU()]
        model = nn.Sequential(*layers, fill(nn.Linear(*dense.shape, bias=False), dense.T))
        return training_step(model, torch.tensor(x), labels)

    return {"conv net": conv_net, "MLP": mlp}


def setup_jax(jax):
    jnp = jax.numpy

    def training_step(data, forward):
        inputs, labels, weights, dense = jax.tree.map(jnp.asarray, data())
        parameters = (weights, [jnp.zeros(w.shape[-1]) for w in weights], dense)

        def loss_of(parameters):
            weights, biases, dense = parameters
            logits = forward(inputs, weights, biases) @ dense
            return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels])

        def update(parameters):
            loss, gradients = jax.value_and_grad(loss_of)(parameters)
            return loss, jax.tree.map(lambda p, g: p - LEARNING_RATE * g, parameters, gradients)

        update = jax.jit(update, donate_argnums=0)

        def step():
            nonlocal parameters
            loss, parameters = update(parameters)
            return loss

        return step

    def conv_net(x, kernels, biases):
        layout = ("NHWC", "HWIO", "NHWC")
        for kernel, bias in zip(kernels, biases, strict=True):
            x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout) + bias
            x = jax.nn.relu(x)
        return jnp.mean(x, axis=(1, 2))

    def mlp(x, weights, biases):
        for w, bias in zip(weights, biases, strict=True):
            x = jax.nn.relu(x @ w + bias)
        return x

    return {"conv net": lambda: training_step(_conv_data, conv_net), "MLP": lambda: training_step(_mlp_data, mlp)}
