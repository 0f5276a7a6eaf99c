"""Writes Keras models in every form, under whichever version of TensorFlow runs this: 1.15 to 2.21.

    python keras_models.py FOLDER [ARTEFACT ...]
    python keras_models.py pack FOLDER ARCHIVE

The second form packs a folder into an archive, such as those in `tests/fixtures/old_versions/keras_models`.

Each artefact is a folder with models that were trained for two steps, and `io.npz`: inputs `x0`, ..., targets `y`, the
outputs `out`, and the losses and outputs of three more steps, `losses` and `third`. Runs on Python 3.7 too.
"""

import os
import sys
import tarfile

import numpy as np
import tensorflow as tf

try:  # Keras 2 beside TensorFlow 2.16 and later
    import tf_keras as keras
except ImportError:
    keras = tf.keras

if tf.__version__.startswith("1."):
    tf.compat.v1.enable_v2_behavior()
VERSION = tuple(int(n) for n in tf.__version__.split(".")[:2])


def numbers(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape).astype(np.float32)


def adam():
    return keras.optimizers.Adam(0.01)


def momentum():
    return keras.optimizers.SGD(0.1, momentum=0.9)


class Scaled(keras.layers.Layer):
    """A layer of the program's own."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(int(shape[-1]), self.units))
        self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

    def call(self, inputs):
        return tf.matmul(inputs, self.kernel) * self.scale

    def get_config(self):
        config = super().get_config()
        config["units"] = self.units
        return config


class Subclassed(keras.Model):
    """A model of the program's own."""

    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(5, activation="tanh")
        self.blocks = [keras.layers.Dense(4, activation="relu"), keras.layers.Dense(4)]
        self.norm = keras.layers.LayerNormalization()
        self.last = keras.layers.Dense(2)

    def call(self, inputs):
        x = self.first(inputs)
        for block in self.blocks:
            x = block(x)
        return self.last(self.norm(x))


# ---- the artefacts ---------------------------------------------------------------------------------------------------


def dense(folder):
    layers = [keras.layers.Dense(6, activation="relu", input_shape=(4,)), keras.layers.Dense(2)]
    save(folder, keras.Sequential(layers), adam(), numbers(1, 5, 4), y=numbers(2, 5, 2))


def dense_momentum(folder):
    layers = [keras.layers.Dense(6, activation="elu", input_shape=(4,)), keras.layers.Dense(2)]
    save(folder, keras.Sequential(layers), momentum(), numbers(1, 5, 4), y=numbers(2, 5, 2))


def conv_norm(folder):
    layers = [
        keras.layers.Conv2D(3, 3, padding="same", input_shape=(6, 6, 2)),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.DepthwiseConv2D(2),
        keras.layers.MaxPool2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(2),
    ]
    save(folder, keras.Sequential(layers), momentum(), numbers(1, 4, 6, 6, 2), y=numbers(2, 4, 2))


def recurrent(folder):
    layers = [
        keras.layers.LSTM(3, return_sequences=True, input_shape=(5, 4)),
        keras.layers.Bidirectional(keras.layers.GRU(2)),
        keras.layers.Dense(2),
    ]
    save(folder, keras.Sequential(layers), adam(), numbers(1, 4, 5, 4), y=numbers(2, 4, 2))


def conv_lstm(folder):
    layers = [keras.layers.ConvLSTM2D(2, 2, input_shape=(3, 4, 4, 1)), keras.layers.Flatten(), keras.layers.Dense(1)]
    save(folder, keras.Sequential(layers), adam(), numbers(1, 2, 3, 4, 4, 1), y=numbers(2, 2, 1))


def two_inputs(folder):
    left, right = keras.Input((4,), name="left"), keras.Input((3,), name="right")
    shared = keras.layers.Dense(3, activation="tanh", name="shared")
    joined = keras.layers.concatenate([shared(left), shared(keras.layers.Dense(4)(right))])
    model = keras.Model([left, right], keras.layers.Dense(2)(joined))
    save(folder, model, adam(), numbers(1, 5, 4), numbers(3, 5, 3), y=numbers(2, 5, 2))


def subclassed(folder):
    save(folder, Subclassed(), adam(), numbers(1, 5, 4), y=numbers(2, 5, 2), h5=False)


def own_layer(folder):
    layers = [Scaled(3, input_shape=(4,)), keras.layers.Dense(2)]
    save(folder, keras.Sequential(layers), adam(), numbers(1, 5, 4), y=numbers(2, 5, 2))


def text(folder):
    if VERSION < (2, 3):
        return
    preprocessing = keras.layers.experimental.preprocessing if VERSION < (2, 6) else keras.layers
    vectorize = preprocessing.TextVectorization(max_tokens=12, output_sequence_length=4)
    vectorize.adapt(np.array([["the quick brown fox"], ["jumps over the lazy dog"], ["the fox"]]))
    layers = [keras.Input((1,), dtype="string"), vectorize, keras.layers.Embedding(12, 3)]
    layers += [keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)]
    x = np.array([["The fox jumps"], ["unknown WORDS the"], [""]], dtype=object)
    save(folder, keras.Sequential(layers), adam(), x, y=numbers(2, 3, 1), h5=False)


def string_lookup(folder):
    if VERSION < (2, 3):
        return
    preprocessing = keras.layers.experimental.preprocessing if VERSION < (2, 6) else keras.layers
    lookup = preprocessing.StringLookup()
    lookup.adapt(np.array([["a"], ["b"], ["b"], ["c"]]))
    inputs = keras.Input((2,), dtype="string")
    outputs = keras.layers.Dense(1)(keras.layers.Flatten()(keras.layers.Embedding(6, 3)(lookup(inputs))))
    x = np.array([["a", "b"], ["c", "z"]], dtype=object)
    save(folder, keras.Model(inputs, outputs), adam(), x, y=numbers(2, 2, 1), h5=False)


def legacy_optimizer(folder):
    """Keras's optimizers of before 2.11, in versions that have newer ones."""
    if VERSION < (2, 11):
        return
    layers = [keras.layers.Dense(6, activation="relu", input_shape=(4,)), keras.layers.Dense(2)]
    optimizer = keras.optimizers.legacy.Adam(0.01)
    save(folder, keras.Sequential(layers), optimizer, numbers(1, 5, 4), y=numbers(2, 5, 2), h5=False)


def v1_optimizer(folder):
    """A checkpoint of variables, and of an optimizer of TensorFlow 1 that runs eagerly."""
    module = tf.Module()
    module.w, module.b = tf.Variable(numbers(1, 4, 2), name="w"), tf.Variable(numbers(2, 2), name="b")
    optimizer, x, y = tf.compat.v1.train.AdamOptimizer(0.1), numbers(3, 5, 4), numbers(4, 5, 2)

    def loss():
        return tf.reduce_mean((tf.matmul(x, module.w) + module.b - y) ** 2)

    def step():
        value = loss().numpy()
        optimizer.minimize(loss, var_list=[module.w, module.b])
        return value

    step(), step()
    tf.train.Checkpoint(model=module, optimizer=optimizer).write(os.path.join(folder, "checkpoint", "c"))
    losses = [step() for _ in range(3)]
    np.savez(os.path.join(folder, "io.npz"), x0=x, y=y, losses=losses, third=module.w.numpy())


def iterator(folder):
    """Checkpoints of iterators over datasets, each with the next elements."""
    dataset = tf.data.Dataset
    slices = {"a": np.arange(12), "b": np.arange(12.0)}
    datasets = {
        "range": dataset.range(20),
        "slices": dataset.from_tensor_slices(slices).batch(3),
        "map": dataset.range(20).map(lambda x: x * 2).prefetch(2),
        "shuffle": dataset.range(20).shuffle(5, seed=3),
        "training": dataset.range(20).shuffle(8, seed=1).repeat().batch(4).map(lambda x: x + 1).prefetch(2),
        "epochs": dataset.range(6).batch(2).shuffle(5, seed=1).repeat(3),
        "unseeded": dataset.range(20).shuffle(5),
        "part": dataset.range(20).skip(2).take(10).repeat(2),
        "joined": dataset.range(100).map(lambda x: x * 2, num_parallel_calls=2).batch(4).prefetch(1),
        "renewed": dataset.range(10).shuffle(6, seed=2).batch(2).repeat(3),
        "kept": dataset.range(6).shuffle(6, seed=2, reshuffle_each_iteration=False).repeat(3),
        "filter": dataset.range(20).filter(lambda x: x % 2 == 0),
    }
    for name, elements in datasets.items():
        it = iter(elements)
        for _ in range(4 if name == "epochs" else 3):
            next(it)
        try:
            tf.train.Checkpoint(iterator=it).write(os.path.join(folder, name))
        except tf.errors.FailedPreconditionError:  # before 2.3, iterators with random elements can't be saved
            continue
        flat = [tf.nest.flatten(next(it)) for _ in range(6 if name in ("shuffle", "training", "unseeded") else 1)]
        np.savez(os.path.join(folder, name + ".npz"), *[[e[i].numpy() for e in flat] for i in range(len(flat[0]))])


# ---- saving ----------------------------------------------------------------------------------------------------------


def save(folder, model, optimizer, *inputs, **kwargs):
    """Trains a model for two steps and saves it in every form, then trains it for three more.

    Args:
        folder: the folder.
        model, optimizer: both.
        inputs: of the model.
        y: the targets.
        h5: False if the model can't be saved in this format.
    """
    y, h5 = kwargs["y"], kwargs.get("h5", True)
    tensors, y = [tf.constant(x) for x in inputs], tf.constant(y)
    inputs_of_model = tensors if len(tensors) > 1 else tensors[0]
    model(inputs_of_model)  # builds it
    model.set_weights([_start(i, w) for i, w in enumerate(model.get_weights())])
    model.compile(optimizer, "mse")

    def step():
        return float(np.ravel(model.train_on_batch(inputs_of_model, y))[0])

    step(), step()
    model.save(os.path.join(folder, "savedmodel"), save_format="tf")
    model.save_weights(os.path.join(folder, "weights", "w"), save_format="tf")
    if h5:
        model.save(os.path.join(folder, "model.h5"), save_format="h5")
        model.save_weights(os.path.join(folder, "weights.h5"), save_format="h5")
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    checkpoint.write(os.path.join(folder, "checkpoint", "c"))
    out = model.predict_on_batch(inputs_of_model)
    losses = [step() for _ in range(3)]
    arrays = {f"x{i}": x.astype("S") if x.dtype == object else x for i, x in enumerate(inputs)}
    third = np.asarray(model.predict_on_batch(inputs_of_model))
    np.savez(os.path.join(folder, "io.npz"), y=y.numpy(), losses=losses, third=third, out=np.asarray(out), **arrays)


def _start(i, weight):
    """Returns a weight as a model begins with it: positive where it may be a variance."""
    if weight.dtype.kind != "f":
        return weight
    return 0.5 * numbers(100 + i, *weight.shape) if weight.ndim > 1 else 0.5 + 0.1 * np.abs(numbers(i, *weight.shape))


ARTEFACTS = [dense, dense_momentum, conv_norm, recurrent, conv_lstm, two_inputs, subclassed, own_layer, text,
             string_lookup, legacy_optimizer, v1_optimizer, iterator]  # fmt: skip


def pack(folder, archive):
    """Packs a folder into an archive without times and owners."""

    def plain(info):
        info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
        return info

    with tarfile.open(archive, "w:xz") as file:
        for name in sorted(os.listdir(folder)):
            file.add(os.path.join(folder, name), name, filter=plain)


def main(folder, *names):
    for artefact in ARTEFACTS:
        if names and artefact.__name__ not in names:
            continue
        path = os.path.join(folder, artefact.__name__)
        if not os.path.isdir(path):
            os.makedirs(path)
        try:
            artefact(path)
        except Exception as error:  # the other artefacts are of use without this one
            print(artefact.__name__, type(error).__name__, str(error)[:300])
        keras.backend.clear_session()
    print("TensorFlow", tf.__version__)


if __name__ == "__main__":
    pack(*sys.argv[2:]) if sys.argv[1] == "pack" else main(*sys.argv[1:])
