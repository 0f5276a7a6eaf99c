"""Training on two logical CPUs of one process: a step under `MirroredStrategy`, beside one of the same batch without.

The networks of `two_workers`, with 64 images a replica for the dense one and 32 for the convolutional, SGD with
momentum. Each framework may use two processors, for replicas at the same time or for the kernels of one. What is
compared is the loss.
"""

import pathlib
import runpy

import numpy as np

THREADS = 2

RATE, MOMENTUM = 1e-4, 0.9  # a small rate: thousands of steps must not end at denormal numbers
NETWORKS = {"dense net": 128, "convolutional net": 64}  # and the images of a step


def setup(tf):
    logical = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], logical)
    keras = tf.keras
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
    network = runpy.run_path(str(pathlib.Path(__file__).with_name("two_workers.py")))["network"]

    def step_of(name, strategy):
        count = NETWORKS[name]
        with strategy.scope():
            model = network(keras, name)
            optimizer = keras.optimizers.SGD(RATE, MOMENTUM)
            optimizer.build(model.trainable_variables)
        rng = np.random.default_rng(0)
        images, labels = rng.random([count, 28, 28, 1], np.float32), rng.integers(0, 10, count)
        data = tf.data.Dataset.from_tensors((images, labels))
        x, y = next(iter(strategy.experimental_distribute_dataset(data)))

        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(losses(y, model(x, training=True))) / count
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        step = tf.function(lambda x, y: strategy.reduce("SUM", strategy.run(replica, args=(x, y)), axis=None))
        return lambda: step(x, y)

    mirrored = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    strategies = {"two replicas": mirrored, "no strategy": tf.distribute.get_strategy()}
    return {f"{name}, {of}": step_of(name, strategy) for name in NETWORKS for of, strategy in strategies.items()}
