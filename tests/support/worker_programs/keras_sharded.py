"""A Keras model whose weights and optimizer's state are divided over processes, by `keras.distribution`."""

import json
import os
import sys

import numpy as np

import tapeflow as tf
from tapeflow.experimental import dtensor

keras = tf.keras
EPOCHS, BATCH = 2, 24


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(48, 6, 6, 2)).astype("float32"), rng.integers(0, 4, size=48)


def build():
    keras.utils.set_random_seed(3)
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((6, 6, 2)), layers.Conv2D(8, 3, activation="relu"), layers.BatchNormalization(), layers.Flatten(),
        layers.Dropout(0.25, seed=1), layers.Dense(8, activation="relu"), layers.Dense(4),
    ])  # fmt: skip
    model.compile(
        keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    return model


def train(model, path):
    x, y = data()
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH, drop_remainder=True)
    # A step that finds the end of the data would draw Dropout's next seed, where Keras does not know the end before.
    history = model.fit(dataset.repeat(), epochs=EPOCHS, steps_per_epoch=len(x) // BATCH, verbose=0).history
    result = {"history": history, "evaluated": model.evaluate(dataset, verbose=0)}
    result["predicted"] = model.predict(dataset, verbose=0).tolist()
    model.save(path)
    weights = model.get_weights()
    model.set_weights([0.0 * w for w in weights])
    model.load_weights(path)
    result["restored"] = all(np.array_equal(a, b) for a, b in zip(weights, model.get_weights(), strict=True))
    return result


def nbytes(variables):
    """Returns the number of bytes of variables, and of their parts on this process's devices."""
    parts = [dtensor.unpack(v.value) for v in variables]
    return sum(int(np.prod(v.shape)) * 4 for v in variables), sum(p[0].numpy().nbytes for p in parts)


def main(addresses, path):
    keras.distribution.initialize(addresses, 2)
    number = os.environ["KERAS_DISTRIBUTION_PROCESS_ID"]
    agreed = keras.random.randint([], 0, 1 << 30)  # of a seed that the processes agreed on
    mesh = keras.distribution.DeviceMesh((2,), ["batch"])
    layouts = keras.distribution.LayoutMap(mesh)
    layouts[".*conv2d.*kernel"] = (None, None, None, "batch")
    layouts[".*dense.*kernel"] = ("batch", None)
    layouts[".*(conv2d|dense).*bias"] = ("batch",)
    distribution = keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")
    with distribution.scope():
        model = build()
        result = train(model, f"{path}{number}.keras")
    sharded = [v for v in model.trainable_variables if "normalization" not in v.path]
    momenta = [v for v in model.optimizer.variables if len(v.shape) and "normalization" not in v.path]
    result["weights"], result["momenta"] = nbytes(sharded), nbytes(momenta)
    result["agreed"] = int(agreed)
    result["devices"] = keras.distribution.list_devices()
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
