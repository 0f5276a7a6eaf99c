"""Models that Keras saved under TensorFlow 1.15 to 2.21, loaded in every way: they compute the same, and train on.

`scripts/old_versions/keras_models.py` wrote them. Each has the outputs `out` of its version, and the losses and outputs
`third` of three more steps.
"""

import pathlib
import tarfile

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.saved_model.loading import load_partial

keras = tf.keras
ARCHIVES = pathlib.Path(__file__).parents[1] / "fixtures" / "old_versions" / "keras_models"
VERSIONS = sorted(path.name.removesuffix(".tar.xz") for path in ARCHIVES.glob("*.tar.xz"))
MODELS = ["conv_lstm", "conv_norm", "dense", "dense_momentum", "own_layer", "recurrent", "string_lookup", "text"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Returns a function from a version and the name of an artefact to the artefact's folder."""
    unpacked = {}

    def find(version, name):
        if version not in unpacked:
            unpacked[version] = tmp_path_factory.mktemp(version)
            with tarfile.open(ARCHIVES / f"{version}.tar.xz") as archive:
                archive.extractall(unpacked[version], filter="data")
        path = unpacked[version] / name
        if not path.exists():
            pytest.skip(f"TensorFlow {version} has no {name}")
        return path

    return find


def recorded(path):
    arrays = np.load(path / "io.npz")
    x = arrays["x0"]
    return tf.constant(x.astype(object) if x.dtype.kind == "S" else x), arrays


def assert_same(actual, expected, of_largest=2e-5):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=of_largest * np.abs(expected).max())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("version", VERSIONS)
def test_saved_models(folder, version, name):
    path = folder(version, name)
    x, arrays = recorded(path)
    model = tf.saved_model.load(str(path / "savedmodel"))
    assert_same(model(x, training=False), arrays["out"])
    [by_signature] = model.signatures["serving_default"](x).values()
    assert_same(by_signature, arrays["out"])
    [by_layer] = keras.layers.TFSMLayer(str(path / "savedmodel"), call_endpoint="serving_default")(x).values()
    assert_same(by_layer, arrays["out"])


@pytest.mark.parametrize("version", VERSIONS)
def test_saved_models_of_two_inputs_and_of_a_class(folder, version):
    path = folder(version, "two_inputs")
    x, arrays = recorded(path)
    model = tf.saved_model.load(str(path / "savedmodel"))
    right = tf.constant(arrays["x1"])
    assert_same(model([x, right], training=False), arrays["out"])
    [by_signature] = model.signatures["serving_default"](left=x, right=right).values()
    assert_same(by_signature, arrays["out"])

    x, arrays = recorded(folder(version, "subclassed"))
    model = tf.saved_model.load(str(folder(version, "subclassed") / "savedmodel"))
    assert_same(model(x), arrays["out"])


@pytest.mark.parametrize("name", ["text", "dense"])
@pytest.mark.parametrize("version", VERSIONS)
def test_loaded_models_are_saved_again(folder, version, name, tmp_path):
    path = folder(version, name)
    x, arrays = recorded(path)
    tf.saved_model.save(tf.saved_model.load(str(path / "savedmodel")), str(tmp_path / "first"))
    tf.saved_model.save(tf.saved_model.load(str(tmp_path / "first")), str(tmp_path / "second"))
    assert_same(tf.saved_model.load(str(tmp_path / "second"))(x, training=False), arrays["out"])


@pytest.mark.parametrize("version", VERSIONS)
def test_loaded_models_train_on(folder, version):
    path = folder(version, "dense_momentum")
    x, arrays = recorded(path)
    model = tf.saved_model.load(str(path / "savedmodel"))
    variables, optimizer = model.trainable_variables, model.optimizer
    if not hasattr(optimizer, "get_slot"):
        pytest.skip(f"the optimizers of TensorFlow {version} have no slots")
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - arrays["y"]) ** 2)
        losses.append(loss.numpy())
        for variable, gradient in zip(variables, tape.gradient(loss, list(variables)), strict=True):
            momentum = optimizer.get_slot(variable, "momentum")
            momentum.assign(0.9 * momentum - 0.1 * gradient)
            variable.assign_add(momentum)
    assert_same(losses, arrays["losses"], 1e-5)
    assert_same(model(x, training=False), arrays["third"], 1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_torch_modules(folder, version):
    path = folder(version, "dense")
    arrays = np.load(path / "io.npz")
    module = tf.torch.module(str(path / "savedmodel"))
    [result] = module(torch.from_numpy(arrays["x0"])).values()
    assert_same(result.detach().numpy(), arrays["out"])


@pytest.mark.parametrize("version", VERSIONS)
def test_weights_in_hdf5(folder, version):
    path = folder(version, "dense")
    x, arrays = recorded(path)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(2)])
    model.load_weights(path / "weights.h5")
    assert_same(model(x), arrays["out"])


@pytest.mark.parametrize("version", VERSIONS)
def test_checkpoints_of_older_optimizers(folder, version):
    path = folder(version, "v1_optimizer")
    x, arrays = recorded(path)
    model, optimizer = tf.Module(), tf.compat.v1.train.AdamOptimizer(0.1)
    model.w, model.b = tf.Variable(tf.zeros([4, 2])), tf.Variable(tf.zeros([2]))
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).read(str(path / "checkpoint" / "c"))

    def loss():
        return tf.reduce_mean((x @ model.w + model.b - arrays["y"]) ** 2)

    losses = []
    for _ in range(3):
        losses.append(float(loss()))
        optimizer.minimize(loss, var_list=[model.w, model.b])
    status.assert_consumed()
    assert_same(losses, arrays["losses"], 1e-5)
    assert_same(model.w, arrays["third"], 1e-5)


def test_objects_without_a_value_in_the_saved_model(folder):
    """A library's object, for the root of a SavedModel, whose class has another table now."""
    path = str(folder("2.8.4", "text") / "savedmodel")
    root = tf.train.Checkpoint()
    root.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    root.table.insert(["a"], [1])
    with pytest.raises(AssertionError, match=r"not bound to values.*tf\.saved_model\.load"):
        load_partial(path, {"root": (root, setattr)})


# ---- positions in datasets -------------------------------------------------------------------------------------------


def datasets():
    dataset = tf.data.Dataset
    return {
        "range": dataset.range(20),
        "slices": dataset.from_tensor_slices({"a": np.arange(12), "b": np.arange(12.0)}).batch(3),
        "map": dataset.range(20).map(lambda x: x * 2).prefetch(2),
        "shuffle": dataset.range(20).shuffle(5, seed=3),
        "training": dataset.range(20).shuffle(8, seed=1).repeat().batch(4).map(lambda x: x + 1).prefetch(2),
        "epochs": dataset.range(6).batch(2).shuffle(5, seed=1).repeat(3),
        "unseeded": dataset.range(20).shuffle(5),
        "part": dataset.range(20).skip(2).take(10).repeat(2),
        "joined": dataset.range(100).map(lambda x: x * 2, num_parallel_calls=2).batch(4).prefetch(1),
        "renewed": dataset.range(10).shuffle(6, seed=2).batch(2).repeat(3),
        "kept": dataset.range(6).shuffle(6, seed=2, reshuffle_each_iteration=False).repeat(3),
    }


def position(folder, version, name):
    path = folder(version, "iterator") / name
    if not path.with_suffix(".npz").exists():
        pytest.skip(f"TensorFlow {version} can't save this iterator")
    return str(path)


@pytest.mark.parametrize("name", datasets())
@pytest.mark.parametrize("version", VERSIONS)
def test_iterators_go_on(folder, version, name):
    path = position(folder, version, name)
    iterator = iter(datasets()[name])
    next(iterator)  # it goes back too
    tf.train.Checkpoint(iterator=iterator).read(path).assert_consumed()
    expected = [array for _, array in sorted(np.load(f"{path}.npz").items())]
    following = [tf.nest.flatten(next(iterator)) for _ in range(len(expected[0]))]
    for i, column in enumerate(expected):
        np.testing.assert_array_equal([element[i] for element in following], column)


def test_iterators_whose_position_is_not_known(folder):
    iterator = iter(tf.data.Dataset.range(20).filter(lambda x: x % 2 == 0))
    with pytest.raises(tf.errors.UnimplementedError, match=r"has a node 'Filter'.*dataset\.skip"):
        tf.train.Checkpoint(iterator=iterator).read(position(folder, "2.8.4", "filter"))


@pytest.mark.parametrize(
    ("name", "dataset", "message"),
    [
        ("shuffle", tf.data.Dataset.range(20).shuffle(5, seed=4), "began with the seeds"),
        ("shuffle", tf.data.Dataset.range(20), "this one has nothing"),
        ("range", tf.data.Dataset.range(20).batch(2), "this one has BatchDataset besides"),
        ("map", tf.data.Dataset.range(20).map(lambda x: x * 3).prefetch(2), "the next elements are others"),
    ],
)
def test_iterators_over_other_datasets(folder, name, dataset, message):
    iterator = iter(dataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.train.Checkpoint(iterator=iterator).read(position(folder, "2.8.4", name))
