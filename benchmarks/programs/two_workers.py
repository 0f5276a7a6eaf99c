"""Training on two processes of one machine: a step of one's own, and an epoch of Keras's `fit`.

A dense network (784-512-512-10, a weight's gradient for each of 670,000 numbers) and a convolutional one (two 3x3
convolutions of 32 and 64 filters, a pooling, dense layers of 128 and 10 units: 1.2 million weights), 64 and 32 images a
worker, SGD with momentum. TapeFlow and TensorFlow run the same Keras models under `MultiWorkerMirroredStrategy`, in a
`tf.function`; torch runs its own modules under `DistributedDataParallel`. The same step stands beside it without a
strategy, and with one that has one replica. What is compared is the loss. Keras 3's `fit` fails under TensorFlow with
several workers (it converts a `PerReplica` to a tensor), so that an epoch has torch's alone beside it.

The worker of the runner starts the second process, and tells it by a line which step comes next.
"""

import atexit
import json
import os
import socket
import subprocess
import sys

import numpy as np

THREADS = 1  # each process has a core of two

RATE, MOMENTUM = 1e-4, 0.9  # a small rate: thousands of steps must not end at denormal numbers
NETWORKS = {"dense net": 64, "convolutional net": 32}  # and the images of each worker's step
STEPS = 8  # in an epoch of `fit`
PEER = "TAPEFLOW_BENCH_PEER"  # the framework that a second process runs


def images_of(worker, count):
    rng = np.random.default_rng(worker)
    return rng.random([count, 28, 28, 1], np.float32), rng.integers(0, 10, count)


def rank():
    return int(PEER in os.environ)


def together(framework, benchmarks):
    """Has the second process call the functions of two workers whenever this one does.

    Args:
        framework: the framework.
        benchmarks: the functions of both workers, by name.

    Returns:
        The functions for this process. The second process stays here and ends when this one does.
    """
    if rank():
        for line in sys.stdin:
            benchmarks[line.rstrip()]()
        os._exit(0)

    def called(name):
        def call():
            second.stdin.write(f"{name}\n")
            return benchmarks[name]()

        return call

    return {name: called(name) for name in benchmarks}


second = None


def start_second(framework):
    """Starts the second process, unless this is it, and sets the environment by which both meet."""
    global second
    if rank():
        return
    with socket.socket() as one, socket.socket() as other:
        for s in (one, other):
            s.bind(("127.0.0.1", 0))
        ports = [s.getsockname()[1] for s in (one, other)]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}

    def environment(index):
        config = {"cluster": cluster, "task": {"type": "worker", "index": index}}
        return {"TF_CONFIG": json.dumps(config), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ports[0]),
                "RANK": str(index), "WORLD_SIZE": "2"}  # fmt: skip

    os.environ.update(environment(0))
    worker = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "worker.py")
    second = subprocess.Popen(
        [sys.executable, worker, framework, os.path.abspath(__file__)], text=True, bufsize=1, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, env=os.environ | environment(1) | {PEER: framework},
    )  # fmt: skip
    atexit.register(second.kill)


def network(keras, name):
    """Returns a Keras model with the weights that it has in each framework."""
    layers = keras.layers
    if name == "dense net":
        middle = [layers.Flatten(), *[layers.Dense(512, activation="relu") for _ in range(2)]]
    else:
        middle = [
            layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(), layers.Flatten(), layers.Dense(128, activation="relu"),
        ]  # fmt: skip
    model = keras.Sequential([keras.Input((28, 28, 1)), *middle, layers.Dense(10)])
    rng = np.random.default_rng(1)
    model.set_weights([rng.standard_normal(w.shape).astype(np.float32) * 0.05 for w in model.get_weights()])
    return model


def setup(tf):
    framework = "tapeflow" if "tapeflow" in tf.__name__ else "tensorflow"
    start_second(framework)
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        os.environ.pop(name, None)
    workers = tf.distribute.MultiWorkerMirroredStrategy()
    keras = tf.keras
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")

    def step_of(name, strategy, replicas):
        x, y = (tf.constant(a) for a in images_of(rank() if strategy is workers else 0, NETWORKS[name]))
        with strategy.scope():
            model, optimizer = network(keras, name), keras.optimizers.SGD(RATE, MOMENTUM)
            optimizer.build(model.trainable_variables)
        size = float(NETWORKS[name] * replicas)

        def step(x, y):
            with tf.GradientTape() as tape:
                loss = losses(y, model(x, training=True)) / size
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        run = tf.function(lambda x, y: strategy.run(step, args=(x, y)))
        return lambda: run(x, y)

    class NoStrategy:
        scope = staticmethod(lambda: tf.name_scope(""))
        run = staticmethod(lambda function, args: function(*args))

    def epoch_of(name):
        x, y = images_of(0, 2 * NETWORKS[name] * STEPS)
        with workers.scope():
            model, optimizer = network(keras, name), keras.optimizers.SGD(RATE, MOMENTUM)
            model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(2 * NETWORKS[name])
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
        data = data.with_options(options)
        return lambda: model.fit(data, epochs=1, verbose=0).history["loss"][0]

    both = {f"{name}, two workers": step_of(name, workers, 2) for name in NETWORKS}
    if framework == "tapeflow":
        both |= {f"{name}, an epoch of fit, two workers": epoch_of(name) for name in NETWORKS}
    alone = {f"{name}, no strategy": step_of(name, NoStrategy, 1) for name in NETWORKS}
    mirrored = tf.distribute.MirroredStrategy(["CPU:0"])
    alone |= {f"{name}, one replica": step_of(name, mirrored, 1) for name in NETWORKS}
    return together(framework, both) | alone


def setup_torch(torch):
    start_second("torch")
    torch.distributed.init_process_group("gloo")
    nn = torch.nn
    torch.set_num_threads(THREADS)

    def network(name):
        if name == "dense net":
            model = nn.Sequential(
                nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
            )
        else:
            model = nn.Sequential(
                nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10),
            )  # fmt: skip
        # The weights of the Keras models, in torch's layouts.
        rng = np.random.default_rng(1)
        with torch.no_grad():
            for layer in model:
                if not hasattr(layer, "weight"):
                    continue
                shape = layer.weight.shape
                if len(shape) == 4:
                    weights = rng.standard_normal([*shape[2:], shape[1], shape[0]]).astype(np.float32) * 0.05
                    layer.weight.copy_(torch.tensor(weights).permute(3, 2, 0, 1))
                else:
                    weights = rng.standard_normal([shape[1], shape[0]]).astype(np.float32) * 0.05
                    if shape[1] == 9216:  # Keras flattens NHWC
                        weights = weights.reshape(12, 12, 64, -1).transpose(2, 0, 1, 3).reshape(9216, -1)
                    layer.weight.copy_(torch.tensor(weights).T)
                bias = rng.standard_normal(layer.bias.shape).astype(np.float32) * 0.05
                layer.bias.copy_(torch.tensor(bias))
        return model.to(memory_format=torch.channels_last)

    def step_of(name, distributed):
        x, y = images_of(rank() if distributed else 0, NETWORKS[name])
        images, labels = torch.tensor(x).permute(0, 3, 1, 2), torch.tensor(y)
        model = network(name)
        if distributed:
            model = nn.parallel.DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)

        def step(images=images, labels=labels):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            return loss.detach() / (2 if distributed else 1)

        return step

    def epoch_of(name):
        count = NETWORKS[name]
        x, y = images_of(0, 2 * count * STEPS)
        rows = np.concatenate([np.arange(count) + count * (2 * i + rank()) for i in range(STEPS)])
        data = torch.utils.data.TensorDataset(torch.tensor(x[rows]).permute(0, 3, 1, 2), torch.tensor(y[rows]))
        batches = torch.utils.data.DataLoader(data, count)
        step = step_of(name, True)

        def epoch():
            total = sum(2 * float(step(images, labels)) for images, labels in batches)
            mean = torch.tensor([total / STEPS / 2])
            torch.distributed.all_reduce(mean)
            return mean

        return epoch

    both = {f"{name}, two workers": step_of(name, True) for name in NETWORKS}
    both |= {f"{name}, an epoch of fit, two workers": epoch_of(name) for name in NETWORKS}
    return together("torch", both) | {f"{name}, no strategy": step_of(name, False) for name in NETWORKS}
