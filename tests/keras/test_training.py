"""What users rely on when they train with Keras. The figures are TensorFlow's, for the same weights and data."""

import csv
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
layers = keras.layers
FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"

X = np.sin(np.arange(64 * 8, dtype=np.float32)).reshape(64, 8)
Y = (X[:, :1] > 0).astype(np.float32)
WORDS = (np.arange(6 * 5) * 7 % 11).reshape(6, 5).astype(np.int32)
TARGETS = np.cos(np.arange(6 * 4, dtype=np.float32)).reshape(6, 4)


def with_weights(model):
    """The same weights whatever the initializers give."""
    for i, weight in enumerate(model.weights):
        size = int(np.prod(weight.shape))
        weight.assign(np.sin(np.arange(size) + i).reshape(weight.shape) * 0.5)
    return model


def classifier(optimizer="sgd", **compiled):
    first = layers.Dense(4, activation="tanh", name="first")
    model = with_weights(
        keras.Sequential([keras.Input((8,)), first, layers.Dense(1, activation="sigmoid", name="last")])
    )
    model.compile(optimizer, "binary_crossentropy", **compiled)
    return model


# ---- recurrent layers ------------------------------------------------------------------------------------------------

RECURRENT = {
    "SimpleRNN": lambda **how: [layers.SimpleRNN(4, **how)],
    "LSTM": lambda **how: [layers.LSTM(4, **how)],
    "GRU": lambda **how: [layers.GRU(4, **how)],
    "Bidirectional": lambda **how: [layers.Bidirectional(layers.LSTM(2, **how))],
    "stacked cells": lambda **how: [layers.RNN([layers.LSTMCell(3), layers.GRUCell(4)], **how)],
    "TimeDistributed": lambda **how: [layers.TimeDistributed(layers.Dense(4)), layers.GRU(4, reset_after=False, **how)],
    "backwards": lambda **how: [
        layers.LSTM(3, return_sequences=True, go_backwards=True, zero_output_for_mask=True), layers.SimpleRNN(4, **how)
    ],
}  # fmt: skip
LOSSES = {
    "SimpleRNN": [0.585325, 0.548503],
    "LSTM": [0.552886, 0.551453],
    "GRU": [0.730539, 0.703223],
    "Bidirectional": [0.530795, 0.529602],
    "stacked cells": [0.718372, 0.700855],
    "TimeDistributed": [0.74582, 0.691314],
    "backwards": [0.586128, 0.564852],
    "classifier": [0.796808, 0.786724],
    "own": [1.611932, 1.3185],
}


def recurrent(name, **how):
    model = keras.Sequential(
        [keras.Input((5,), dtype="int32"), layers.Embedding(11, 3, mask_zero=True), *RECURRENT[name](**how)]
    )
    model = with_weights(model)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return model


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers(name, unroll):
    model = recurrent(name, unroll=unroll)
    eager = model(WORDS).numpy()
    history = model.fit(WORDS, TARGETS, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(history, LOSSES[name], rtol=1e-4)
    np.testing.assert_allclose(eager, recurrent(name, unroll=unroll).predict(WORDS, verbose=0), rtol=1e-4, atol=1e-6)


def test_a_stateful_layer_goes_on_from_its_state():
    model = with_weights(keras.Sequential([keras.Input(batch_shape=(2, 3, 2)), layers.LSTM(2, stateful=True)]))
    x = tf.reshape(tf.range(12.0), [2, 3, 2]) / 12.0
    first = model(x).numpy()
    second = model.predict(x, verbose=0)
    model.layers[0].reset_state()
    np.testing.assert_allclose(model.predict(x, verbose=0), first, rtol=1e-5)
    np.testing.assert_allclose(model(x), second, rtol=1e-5)
    assert not np.allclose(first, second)


# ---- optimizers and mixed precision ----------------------------------------------------------------------------------

EMBEDDED = {
    "sgd": [0.562571, 0.554694],
    "momentum": [0.646722, 0.466468],
    "rmsprop": [0.567332, 0.551849],
    "adam": [0.561341, 0.55362],
    "adagrad": [0.559895, 0.557804],
    "clipped": [0.584885, 0.522644],
    "accumulated": [0.564978, 0.524519],
}


@pytest.mark.parametrize("name", ["sgd", "momentum", "rmsprop", "adam", "adagrad", "clipped", "accumulated"])
def test_optimizers_update_embeddings_and_dense_weights(name):
    np.testing.assert_allclose(embedded(name), EMBEDDED[name], rtol=1e-4)


def embedded(name):
    optimizers = {
        "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        "clipped": lambda: keras.optimizers.Adam(0.01, global_clipnorm=0.5, weight_decay=0.01),
        "accumulated": lambda: keras.optimizers.Adam(0.01, gradient_accumulation_steps=2),
    }
    model = keras.Sequential(
        [keras.Input((5,), dtype="int32"), layers.Embedding(11, 3), layers.Flatten(), layers.Dense(4)]
    )
    with_weights(model).compile(optimizers[name]() if name in optimizers else name, "mse")
    return model.fit(WORDS, TARGETS, batch_size=2, epochs=2, shuffle=False, verbose=0).history["loss"]


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    keras.config.set_dtype_policy(policy)
    try:
        model = classifier()
        assert (
            model.layers[0].compute_dtype == policy.removeprefix("mixed_") and model.layers[0].kernel.dtype == "float32"
        )
        losses = model.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]
    finally:
        keras.config.set_dtype_policy("float32")
    assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer) == (policy == "mixed_float16")
    exact = classifier().fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, exact, rtol=0.02)


def test_the_loss_scale_follows_what_overflows():
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(1.0), initial_scale=1024.0, dynamic_growth_steps=2
    )
    v, found = keras.Variable([1.0, 2.0]), []
    update = tf.function(lambda g: optimizer.apply([g], [v]))
    for gradient in ([1024.0, 0.0], [np.inf, 0.0], [1024.0, 1024.0], [1024.0, 0.0], [512.0, np.nan]):
        update(tf.constant(gradient))
        found.append((v.numpy().tolist(), float(optimizer.dynamic_scale)))
    assert found == [([0, 2], 1024), ([0, 2], 512), ([-2, 0], 512), ([-4, 0], 1024), ([-4, 0], 512)]


# ---- where the data comes from ---------------------------------------------------------------------------------------


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return X[i * 16 : i * 16 + 16], Y[i * 16 : i * 16 + 16]


def generated():
    while True:
        for i in range(4):
            yield X[i * 16 : i * 16 + 16], Y[i * 16 : i * 16 + 16]


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
def test_arrays_generators_and_datasets_train_alike():
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    expected = classifier().fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0).history["loss"]
    for data, how in (
        (generated(), {"steps_per_epoch": 4}),
        (Batches(), {"shuffle": False}),
        (Batches(workers=2), {"shuffle": False}),
        (dataset.map(lambda x, y: (x * 1.0, y)).prefetch(1), {}),
        (dataset.repeat(), {"steps_per_epoch": 4}),
    ):
        found = classifier().fit(data, epochs=2, verbose=0, **how).history["loss"]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(expected, LOSSES["classifier"], rtol=1e-4)


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
def test_weights_of_classes_and_samples():
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    by_class = classifier().fit(dataset, class_weight={0: 1.0, 1: 3.0}, verbose=0).history["loss"]
    weights = np.where(Y[:, 0] > 0, 3.0, 1.0)
    by_sample = classifier().fit(X, Y, sample_weight=weights, batch_size=16, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(by_class, by_sample, rtol=1e-5)


# ---- callbacks and files ---------------------------------------------------------------------------------------------


def test_callbacks(tmp_path):
    callbacks, seen = keras.callbacks, []
    model = classifier(metrics=["accuracy", keras.metrics.Precision(name="precision"), keras.metrics.AUC(name="auc")])
    model.fit(
        X, Y, batch_size=16, epochs=8, verbose=0, shuffle=False, validation_split=0.25,
        callbacks=[
            callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras", save_best_only=True),
            callbacks.EarlyStopping(patience=1, min_delta=10.0, start_from_epoch=1),
            callbacks.ReduceLROnPlateau(patience=1, min_delta=10.0, factor=0.5),
            callbacks.CSVLogger(tmp_path / "log.csv"),
            callbacks.TensorBoard(tmp_path / "board", histogram_freq=1),
            callbacks.BackupAndRestore(tmp_path / "backup"),
            callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append((epoch, logs["learning_rate"]))),
        ],
    )  # fmt: skip
    np.testing.assert_allclose(seen, [(0, 0.01), (1, 0.01), (2, 0.005)], rtol=1e-6)
    rows = list(csv.DictReader((tmp_path / "log.csv").open()))
    assert [row["epoch"] for row in rows] == ["0", "1", "2"] and {"val_auc", "precision", "learning_rate"} <= rows[
        0
    ].keys()
    assert {p.parent.name for p in tmp_path.glob("board/*/events*")} == {"train", "validation"}
    best = keras.models.load_model(max(tmp_path.glob("*.keras")))
    np.testing.assert_allclose(best.predict(X, verbose=0), model.predict(X, verbose=0), atol=0.05)


def saved_model():
    a = keras.Input((4,), dtype="int32", name="words")
    b = keras.Input((3,), name="numbers")
    h = layers.Bidirectional(layers.GRU(2))(layers.Embedding(9, 2, mask_zero=True)(a))
    h = layers.BatchNormalization()(
        layers.Concatenate()([h, layers.Dense(2, activation="gelu", kernel_regularizer="l2")(b)])
    )
    model = with_weights(keras.Model({"words": a, "numbers": b}, layers.Dense(2, activation="softmax")(h)))
    model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
    return model


INPUTS = {"words": (np.arange(16) % 9).reshape(4, 4).astype(np.int32), "numbers": np.cos(np.arange(12.0)).reshape(4, 3)}


def test_a_model_that_tensorflow_saved_is_read_and_trained_on(tmp_path):
    recorded = np.load(FIXTURES / "keras_model.npz")
    model = keras.models.load_model(FIXTURES / "keras_model.keras")
    np.testing.assert_allclose(model.predict(INPUTS, verbose=0), recorded["before"], rtol=1e-4)
    assert int(model.optimizer.iterations) == 2
    model.fit(INPUTS, np.eye(2)[[0, 1, 0, 1]], epochs=1, verbose=0)
    np.testing.assert_allclose(model.predict(INPUTS, verbose=0), recorded["after"], rtol=1e-4)
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    again, weights = keras.models.load_model(tmp_path / "model.keras"), saved_model()
    weights.load_weights(tmp_path / "model.weights.h5")
    for other in (again, weights):
        np.testing.assert_allclose(other.predict(INPUTS, verbose=0), recorded["after"], rtol=1e-4)


# ---- models of one's own, and replicas -------------------------------------------------------------------------------


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)
        self.mean = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self(x, training=True)))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.mean.update_state(loss)
        return {"loss": self.mean.result(), "size": tf.shape(x)[0]}

    @property
    def metrics(self):
        return [self.mean]


def test_a_train_step_of_ones_own():
    model = Own()
    model(X[:1])
    with_weights(model).compile("sgd")
    history = model.fit(X, Y, batch_size=24, epochs=2, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], LOSSES["own"], rtol=1e-4)
    assert history["size"] == [16, 16]


MIRRORED = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import tapeflow as tf
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    from test_training import X, Y, classifier
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = classifier("adam", metrics=["accuracy"])
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    losses = model.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0).history["loss"]
    losses += model.fit(strategy.experimental_distribute_dataset(dataset), verbose=0).history["loss"]
    single = classifier("adam")
    expected = single.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    np.testing.assert_allclose(model.predict(X, verbose=0), single.predict(X, verbose=0), rtol=1e-3)
    assert [len(v.value.values) for v in model.trainable_variables] == [2] * 4
    print("alike")
"""


def test_fit_on_two_replicas_is_fit_on_the_whole_batch():
    here = pathlib.Path(__file__).parent
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(MIRRORED), str(here)]
    environment = {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "alike\n", done.stderr[-3000:]
