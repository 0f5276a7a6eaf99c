"""`tf.keras`: the genuine Keras on TapeFlow, and the spellings of TensorFlow 2.0 that are added to it."""

import pathlib
import subprocess
import sys
import textwrap

import h5py
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.transformations.batch import compute_batch_size

SOURCE = pathlib.Path(tf.__file__).parents[1]
keras = tf.keras


def run(source, **environment):
    environment = {"PYTHONPATH": str(SOURCE), "PATH": "", **environment}
    command = [sys.executable, "-c", textwrap.dedent(source)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


# ---- loading ---------------------------------------------------------------------------------------------------------


def test_import_tapeflow_does_not_import_keras():
    done = run(
        "import sys, tapeflow; assert 'keras' not in sys.modules; tapeflow.keras.layers; assert 'keras' in sys.modules"
    )
    assert done.returncode == 0, done.stderr


def test_keras_by_its_own_name_is_the_same():
    done = run("""
        import tapeflow
        tapeflow.install_as_tensorflow()
        import keras
        import tensorflow as tf
        from tensorflow.keras.layers import Dense
        assert Dense is keras.layers.Dense is tf.keras.layers.Dense
        assert hasattr(keras.metrics.Mean, "reset_states")
        assert keras.backend.backend() == "tensorflow"
    """)
    assert done.returncode == 0, done.stderr


def test_the_configured_backend_does_not_matter():
    source = "import os, tapeflow; tapeflow.keras.layers; assert os.environ['KERAS_BACKEND'] == 'torch'"
    done = run(source, KERAS_BACKEND="torch")
    assert done.returncode == 0, done.stderr


def test_keras_on_another_backend_is_refused():
    done = run("import keras, tapeflow; tapeflow.keras", KERAS_BACKEND="torch")
    assert "RuntimeError: Keras is imported already, on its 'torch' backend" in done.stderr
    assert "KERAS_BACKEND=tensorflow" in done.stderr


def test_the_real_tensorflow_is_refused():
    done = run(
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow'); import tapeflow; tapeflow.keras"
    )
    assert "RuntimeError: TensorFlow itself is imported already" in done.stderr


def test_the_state_of_keras_is_filled_again_after_clear_session():
    done = run("""
        import tapeflow as tf
        tf.keras.layers
        from keras.src.backend.common import global_state

        def asked_for_in_vain(call):
            missing = []

            def get(name, default=None, set_to_default=False, given=global_state.get_global_attribute):
                if not hasattr(global_state.GLOBAL_STATE_TRACKER, name):
                    missing.append(name)
                return given(name, default, set_to_default)

            global_state.get_global_attribute = get
            call()
            return missing

        def new_call():
            cell = tf.keras.layers.LSTMCell(4)
            inputs = tf.zeros([2, 3]), [tf.zeros([2, 4])] * 2
            cell(*inputs)
            return lambda: cell(*inputs)

        before = new_call()
        assert tf.keras.config.is_traceback_filtering_enabled()
        tf.keras.config.disable_traceback_filtering()
        tf.keras.utils.clear_session()
        assert tf.keras.config.is_traceback_filtering_enabled()
        after = new_call()
        assert asked_for_in_vain(before) == asked_for_in_vain(after) == []
    """)
    assert done.returncode == 0, done.stderr


# ---- variables -------------------------------------------------------------------------------------------------------


def test_variables_of_keras_are_tensors_and_sources():
    v = keras.Variable([1.0, 2.0])
    assert tf.is_tensor(v) and not isinstance(v, tf.Variable)
    assert not tf.is_tensor(keras.KerasTensor((2,)))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    by_keras, by_tensorflow = tape.gradient(y, [v, v.value])
    assert by_keras.numpy().tolist() == by_tensorflow.numpy().tolist() == [2.0, 4.0]


class Line(keras.Model):
    def __init__(self):
        super().__init__()
        self.W = tf.Variable(5.0, name="weight")
        self.others = [tf.Variable(10.0, name="bias"), tf.Variable(1, trainable=False, name="count")]

    def call(self, inputs):
        return inputs * self.W + self.others[0]


def test_tf_variables_set_on_a_model_are_its_weights():
    model = Line()
    assert isinstance(model.W, tf.Variable)
    assert [w.path for w in model.weights] == ["weight", "bias", "count"]
    assert [w.value is v for w, v in zip(model.trainable_weights, [model.W, model.others[0]], strict=True)] == [
        True,
        True,
    ]
    model.W = model.W
    assert len(model.weights) == 3
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.constant([1.0, 2.0])))
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    np.testing.assert_allclose([model.W.numpy(), model.others[0].numpy()], [4.7, 9.8], rtol=1e-6)


# ---- reset_states ----------------------------------------------------------------------------------------------------


def test_reset_states_of_metrics():
    metric = keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    metric.reset_states()
    assert float(metric.result()) == 0.0


class Count(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign_add(1.0)

    def result(self):
        return self.count

    def reset_states(self):
        self.count.assign(100.0)


class CountOn(Count):
    def reset_states(self):
        super().reset_states()
        self.count.assign_add(1.0)


class CountFromZero(Count):
    def reset_states(self):
        keras.metrics.Metric.reset_states(self)


@pytest.mark.parametrize(("metric", "after"), [(Count, 100.0), (CountOn, 101.0), (CountFromZero, 0.0)])
def test_reset_states_overridden(metric, after):
    one = metric()
    one.update_state(None, None)
    one.reset_state()  # what Keras calls
    assert float(one.result()) == after
    one.update_state(None, None)
    one.reset_states()
    assert float(one.result()) == after


def test_reset_states_of_recurrent_layers():
    layer = keras.layers.SimpleRNN(2, stateful=True)
    layer(tf.ones([1, 3, 2]))
    layer.reset_states()
    assert layer.states[0].numpy().tolist() == [[0.0, 0.0]]


# ---- save_weights('weights') -----------------------------------------------------------------------------------------


def test_weights_in_the_checkpoint_format(tmp_path):
    model, other = Line(), Line()
    model.W.assign(7.0)
    assert model.save_weights(str(tmp_path / "weights")) is None
    assert {p.name for p in tmp_path.iterdir()} >= {"weights.index", "weights.data-00000-of-00001"}
    status = other.load_weights(str(tmp_path / "weights"))
    status.assert_existing_objects_matched()
    assert float(other.W) == 7.0
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.save_weights(tmp_path / "weights", overwrite=False)
    with pytest.raises(ValueError, match="not supported"):
        model.load_weights(str(tmp_path / "absent"))


class TwoLayers(keras.Model):
    def __init__(self, layer):
        super().__init__()
        self.first, self.second = layer(), layer()

    def call(self, inputs):
        return self.second(self.first(inputs))


class OwnDense(keras.layers.Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], 3), name="kernel")
        self.bias = self.add_weight(shape=(3,), name="bias")

    def call(self, inputs):
        return inputs @ self.kernel + self.bias


def numbered(model):
    """Fills each weight of a model with its number, and returns the model."""
    for i, weight in enumerate(model.weights):
        weight.assign(tf.fill(weight.shape, float(i + 1)))
    return model


def numbers(model):
    return [float(w.numpy().flat[0]) for w in model.weights]


@pytest.mark.parametrize("build", [lambda m: m(tf.ones([2, 3])), lambda m: m.predict(np.ones((2, 3)), verbose=0)])
@pytest.mark.parametrize("layer", [lambda: keras.layers.Dense(3), OwnDense])
def test_weights_of_a_model_that_is_not_built(tmp_path, layer, build):
    model, other = TwoLayers(layer), TwoLayers(layer)
    model(tf.ones([2, 3]))
    numbered(model).save_weights(tmp_path / "weights")
    status = other.load_weights(tmp_path / "weights")
    build(other)
    assert numbers(other) == [1.0, 2.0, 3.0, 4.0]
    assert [w is v for w, v in zip(other.weights, [other.first.kernel, other.first.bias], strict=False)] == [True] * 2
    np.testing.assert_array_equal(other(tf.ones([1, 3])), model(tf.ones([1, 3])))
    status.assert_existing_objects_matched()


def test_weights_of_another_shape_for_a_model_that_is_not_built(tmp_path):
    model, other = TwoLayers(OwnDense), TwoLayers(OwnDense)
    model(tf.ones([2, 3]))
    model.save_weights(tmp_path / "weights")
    other.load_weights(tmp_path / "weights").expect_partial()
    with pytest.raises(ValueError, match=r"incompatible tensor with shape \(3, 3\).*shape \(4, 3\)"):
        other(tf.ones([2, 4]))


def keras_2_checkpoint(path, layer_names):
    """Writes weights 1, 2, ... in the form that Keras 2 gives to the weights of dense layers."""
    root = tf.train.Checkpoint()
    for i, name in enumerate(layer_names):
        layer = tf.Module()
        layer.kernel, layer.bias = tf.Variable(tf.fill([3, 3], 2.0 * i + 1)), tf.Variable(tf.fill([3], 2.0 * i + 2))
        setattr(root, name, layer)
    return root.write(str(path / "weights"))


@pytest.mark.parametrize("built", [False, True])
def test_weights_of_keras_2_in_a_sequential_model(tmp_path, built):
    path = keras_2_checkpoint(tmp_path, ["layer-0", "layer-1"])
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(3)])
    if built:
        model.build([None, 3])
    model.load_weights(path)
    model(tf.ones([1, 3]))
    assert numbers(model) == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("built", [False, True])
def test_weights_of_keras_2_in_a_subclassed_model(tmp_path, built):
    path = keras_2_checkpoint(tmp_path, ["first", "second"])
    model = TwoLayers(lambda: keras.layers.Dense(3))
    if built:
        model(tf.ones([1, 3]))
    model.load_weights(path)
    model(tf.ones([1, 3]))
    assert numbers(model) == [1.0, 2.0, 3.0, 4.0]


def test_weights_in_keras_own_format(tmp_path):
    model = keras.Sequential([keras.layers.Dense(2)])
    model(tf.ones([1, 3]))
    model.save_weights(tmp_path / "model.weights.h5")
    other = keras.Sequential([keras.layers.Dense(2)])
    other(tf.zeros([1, 3]))
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other.layers[0].kernel, model.layers[0].kernel)
    with h5py.File(tmp_path / "model.weights.h5") as file:
        assert sorted(file) == ["layers", "vars"]  # nothing twice


class Stack(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks, self.named = [Line(), Line()], {"x": Line()}
        self.convolution = keras.layers.DepthwiseConv2D(1)

    def call(self, inputs):
        return self.named["x"](self.blocks[1](self.blocks[0](self.convolution(inputs))))


def test_weights_of_keras_2_in_lists_and_of_depthwise_convolutions(tmp_path, caplog):
    old = tf.Module()
    old.blocks, old.named = [tf.Module(), tf.Module()], {"x": tf.Module()}
    for i, block in enumerate([*old.blocks, old.named["x"]]):
        block.W, block.others = tf.Variable(i + 2.0), [tf.Variable(0.0), tf.Variable(i)]
    old.convolution = tf.Module()
    old.convolution.depthwise_kernel, old.convolution.bias = tf.Variable(tf.ones([1, 1, 2, 1])), tf.Variable([7.0, 7.0])
    model = Stack()
    model(tf.ones([1, 2, 2, 2]))
    with caplog.at_level("WARNING", "tensorflow"):
        model.load_weights(tf.train.Checkpoint(old).write(str(tmp_path / "weights"))).assert_consumed()
    np.testing.assert_array_equal(model(tf.ones([1, 2, 2, 2])), tf.fill([1, 2, 2, 2], (1 + 7) * 2.0 * 3.0 * 4.0))
    assert not caplog.text
    other = Stack()
    other(tf.ones([1, 2, 2, 2]))
    model.save_weights(str(tmp_path / "again"))
    other.load_weights(str(tmp_path / "again")).assert_consumed()
    assert [w.numpy().tolist() for w in other.weights] == [w.numpy().tolist() for w in model.weights]


def test_numbers_of_layers_in_checkpoints_before_2_3():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(2)])
    names = model._names_of_edges(["layer-0", "layer_with_weights-0", "layer-1", "layer-2"])
    assert names == {"layer-0": "layer--1", "layer-1": "layer-0", "layer-2": "layer-1"}  # number 0 was the input layer
    assert model._names_of_edges(["layer-0", "layer-1", "optimizer"]) == {}


def test_weights_of_a_layer_under_other_names(tmp_path):
    old = tf.Module()
    old.convolution = tf.Module()
    old.convolution.filters, old.convolution.bias = tf.Variable(tf.ones([1, 1, 2, 1])), tf.Variable([7.0, 7.0])
    model = Stack()
    model(tf.ones([1, 2, 2, 2]))
    with pytest.raises(AssertionError, match=r"weights \['kernel'\] of layer .* under other names: \['filters'\]"):
        model.load_weights(tf.train.Checkpoint(old).write(str(tmp_path / "weights")))


def test_weights_that_a_checkpoint_lacks(tmp_path, caplog):
    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = Line(), Line()

    old = tf.Module()
    old.encoder = tf.Module()
    old.encoder.W = tf.Variable(7.0)
    path = tf.train.Checkpoint(old).write(str(tmp_path / "other"))
    with pytest.raises(AssertionError, match=r"matched a weight of model.*values of encoder/W.*\.h5"):
        Two().load_weights(path)

    old.first = old.encoder
    path, model = tf.train.Checkpoint(old).write(str(tmp_path / "part")), Two()
    with caplog.at_level("WARNING", "tensorflow"):
        model.load_weights(path).expect_partial()
    assert float(model.first.W) == 7.0 and "no value for 5 of the 6 weights" in caplog.text


@pytest.mark.parametrize(
    ("dataset", "size"),
    [
        (tf.data.Dataset.range(8).batch(4).shuffle(2).prefetch(1), 4),
        (tf.data.Dataset.range(8).batch(4, drop_remainder=True).map(lambda x: 2 * x), 4),
        (tf.data.Dataset.range(8).batch(4).map(lambda x: 2 * x), -1),
        (tf.data.Dataset.zip(tf.data.Dataset.range(8).batch(4), tf.data.Dataset.range(8).batch(2)), -1),
        (tf.data.Dataset.range(8).padded_batch(3).concatenate(tf.data.Dataset.range(8).batch(3)), 3),
    ],
)
def test_how_long_batches_are(dataset, size):
    found = compute_batch_size(dataset)
    assert found.numpy() == size and found.dtype is tf.int64


def test_specs_have_names():
    import tensorflow.python.framework.type_spec_registry as registry

    kinds = (tf.TensorSpec, tf.RaggedTensorSpec, tf.SparseTensorSpec)
    assert [registry.get_name(kind) for kind in kinds] == [f"tf.{kind.__name__}" for kind in kinds]
    assert all(registry.lookup(registry.get_name(kind)) is kind for kind in kinds)
    with pytest.raises(ValueError, match=r"No TypeSpec has been registered with name 'tf\.Other'"):
        registry.lookup("tf.Other")


# ---- training in functions -------------------------------------------------------------------------------------------


def classifier(**compiled):
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)]
    model = keras.Sequential(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"], jit_compile=False, **compiled)
    return model


def test_a_model_fits_in_functions_as_eagerly():
    x = np.random.RandomState(0).rand(40, 4).astype("float32")
    y = (x[:, 0] * 3).astype("int64")
    eager = classifier(run_eagerly=True).fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=False).history
    model = classifier()
    staged = model.fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=False).history
    assert not model.run_eagerly
    np.testing.assert_allclose(staged["loss"], eager["loss"], rtol=1e-5)
    assert staged["accuracy"] == eager["accuracy"]
    loss, accuracy = model.evaluate(x, y, verbose=0)
    predicted = model.predict(x, verbose=0)
    assert predicted.shape == (40, 3)
    np.testing.assert_allclose(accuracy, np.mean(predicted.argmax(-1) == y), rtol=1e-6)
    assert loss < eager["loss"][0]


def test_a_model_takes_several_batches_in_one_function():
    dataset = tf.data.Dataset.from_tensor_slices((np.ones([12, 2], "float32"), np.zeros(12, "int64"))).batch(3)
    model = classifier(steps_per_execution=2)
    history = model.fit(dataset, epochs=2, verbose=0, validation_data=dataset).history
    assert history["loss"][1] < history["loss"][0] and history["val_loss"][1] < history["loss"][1]


def test_keras_namespaces_at_the_top_level():
    assert tf.optimizers is tf.keras.optimizers and tf.losses is tf.keras.losses
    assert tf.metrics is tf.keras.metrics and tf.initializers is tf.keras.initializers


def test_exported_models_train_on(tmp_path):
    """Gradients reach the variables that a loaded export lists as trainable."""
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, "tanh"), tf.keras.layers.Dense(1)])
    model.export(str(tmp_path), verbose=False)
    loaded, x = tf.saved_model.load(str(tmp_path)), tf.constant([[1.0, -2.0, 0.5]])
    gradients = []
    for call, variables in (
        (model, [v.value for v in model.trainable_variables]), (loaded.serve, loaded.trainable_variables),
    ):  # fmt: skip
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(call(x) ** 2)
        gradients.append(tape.gradient(loss, variables))
    for got, want in zip(*gradients, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
