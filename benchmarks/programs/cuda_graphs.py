"""Training steps of many small ops on a GPU: a multilayer perceptron of 10 layers, 64 wide, with Adam.

Each call is 20 steps, of which the last loss is waited for. TapeFlow's step is compiled with CUDA graphs, compiled
without, and runs uncompiled; TensorFlow's is a `tf.function`, without and with `jit_compile=True`; PyTorch's runs
eagerly, and captured by hand. Without a GPU there is nothing to measure.
"""

import numpy as np

THREADS = 1
GPU = True

BATCH, WIDTH, LAYERS, STEPS = 32, 64, 10, 20
LEARNING_RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-7

_rng = np.random.default_rng(0)
INPUTS = _rng.standard_normal((BATCH, WIDTH)).astype(np.float32)
TARGETS = _rng.standard_normal((BATCH, WIDTH)).astype(np.float32)
WEIGHTS = [(_rng.standard_normal((WIDTH, WIDTH)) * (2 / WIDTH) ** 0.5).astype(np.float32) for _ in range(LAYERS)]


def setup(tf):
    if not tf.config.list_physical_devices("GPU"):
        raise RuntimeError("there is no GPU here")
    inputs, targets = tf.constant(INPUTS), tf.constant(TARGETS)

    def steps(**options):
        weights = [tf.Variable(w) for w in WEIGHTS]
        means = [tf.Variable(tf.zeros_like(w)) for w in weights]
        squares = [tf.Variable(tf.zeros_like(w)) for w in weights]
        beta1_power, beta2_power = tf.Variable(1.0), tf.Variable(1.0)

        @tf.function(**options)
        def step(x, y):
            with tf.GradientTape() as tape:
                h = x
                for w in weights:
                    h = tf.nn.relu(tf.matmul(h, w))
                loss = tf.reduce_mean(tf.square(h - y))
            gradients = tape.gradient(loss, weights)
            beta1_power.assign(beta1_power * BETA1)
            beta2_power.assign(beta2_power * BETA2)
            rate = LEARNING_RATE * tf.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
            for w, mean, square, gradient in zip(weights, means, squares, gradients, strict=True):
                mean.assign_add((gradient - mean) * (1.0 - BETA1))
                square.assign_add((tf.square(gradient) - square) * (1.0 - BETA2))
                w.assign_sub(rate * mean / (tf.sqrt(square) + EPSILON))
            return loss

        def run():
            for _ in range(STEPS):
                loss = step(inputs, targets)
            return loss.numpy()

        return run

    try:
        captured = steps(experimental_attributes={"cuda_graph": True})
        variants = {"": captured, "jit_compile": steps(jit_compile=True), "uncompiled": steps()}
    except ValueError:  # TensorFlow knows no such attribute
        variants = {"": steps(), "jit_compile": steps(jit_compile=True)}
    return {f"10-layer MLP, Adam, {STEPS} steps": variants}


def setup_torch(torch):
    if not torch.cuda.is_available():
        raise RuntimeError("there is no GPU here")
    inputs, targets = torch.tensor(INPUTS, device="cuda"), torch.tensor(TARGETS, device="cuda")

    def new_step(capturable):
        weights = [torch.tensor(w, device="cuda", requires_grad=True) for w in WEIGHTS]
        adam = torch.optim.Adam(weights, LEARNING_RATE, (BETA1, BETA2), EPSILON, capturable=capturable)

        def step():
            adam.zero_grad()
            h = inputs
            for w in weights:
                h = torch.relu(h @ w)
            loss = torch.mean((h - targets) ** 2)
            loss.backward()
            adam.step()
            return loss.detach()

        @torch.no_grad()
        def begin_anew():
            for w, first in zip(weights, WEIGHTS, strict=True):
                w.copy_(torch.from_numpy(first))
            for state in adam.state.values():
                for value in state.values():
                    value.zero_()

        return step, begin_anew

    def run(step):
        for _ in range(STEPS):
            loss = step()
        return loss.item()

    (eager, _), captured = new_step(capturable=False), _captured(torch, *new_step(capturable=True))
    return {f"10-layer MLP, Adam, {STEPS} steps": {"eager": lambda: run(eager), "captured": lambda: run(captured)}}


def _captured(torch, step, begin_anew):
    """A step as PyTorch's notes on CUDA graphs capture it, which then begins anew."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    begin_anew()

    def replay():
        graph.replay()
        return loss

    return replay
