"""Models in files of Keras that somebody wrote to do harm. No code of theirs runs, and no other file is read."""

import json
import zipfile
from contextlib import suppress

import h5py
import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
FORMATS = ["keras", "h5"]
WEIGHTS = "model.weights.h5"


def dense():
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2, name="d")])
    model.compile("adam", "mse")
    return model


def with_code(mark):
    """Returns a model with a Lambda layer that creates a file when it runs."""
    create = lambda x: (open(mark, "w").close(), x)[1]  # noqa: E731 (Keras marshals lambdas alone)
    return keras.Sequential([keras.Input([3]), keras.layers.Lambda(create, output_shape=(3,))])


def members(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(path, files):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in files.items():
            file.writestr(name, data)


def saved(folder, kind, model=None):
    path = str(folder / f"model.{kind}")
    (model or dense()).save(path)
    return path


def change_layer(path, layer):
    """Replaces the Dense layer in the configuration of a model."""
    if path.endswith(".h5"):
        with h5py.File(path, "a") as file:
            config = json.loads(file.attrs["model_config"])
            config["config"]["layers"][1] = layer
            file.attrs["model_config"] = json.dumps(config)
    else:
        files = members(path)
        config = json.loads(files["config.json"])
        config["config"]["layers"][1] = layer
        write(path, {**files, "config.json": json.dumps(config)})


def change_kernel(path, folder, change):
    """Changes the dataset of the Dense layer's kernel, by a function of the group and its name."""
    file = path
    if path.endswith(".keras"):
        files, file = members(path), folder / "weights.h5"
        file.write_bytes(files[WEIGHTS])
    with h5py.File(file, "a") as weights:
        found = []
        weights.visititems(lambda name, item: found.append(name) if getattr(item, "shape", None) == (3, 2) else None)
        kernel = next(name for name in found if "optimizer" not in name)
        del weights[kernel]
        change(weights, kernel)
    if path.endswith(".keras"):
        write(path, {**files, WEIGHTS: file.read_bytes()})


# ---- code ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_the_code_of_lambda_layers(kind, tmp_path):
    mark = tmp_path / "executed"
    path = saved(tmp_path, kind, with_code(str(mark)))
    mark.unlink(missing_ok=True)
    with pytest.raises(ValueError, match="safe_mode=False"):
        keras.models.load_model(path)
    assert not mark.exists()
    keras.models.load_model(path, safe_mode=False)(np.zeros([1, 3], np.float32))
    assert mark.exists()


def test_the_code_in_a_configuration(tmp_path):
    mark = tmp_path / "executed"
    model = with_code(str(mark))
    config, text = model.get_config(), model.to_json()
    mark.unlink(missing_ok=True)
    for load in (lambda: keras.Sequential.from_config(config), lambda: keras.models.model_from_json(text)):
        with pytest.raises(ValueError, match="safe_mode=False"):
            load()
    assert not mark.exists()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "function", [("os", "system"), ("subprocess", "Popen"), ("tapeflow.io", "write_file"), ("keras.utils", "get_file")]
)
def test_functions_and_classes_by_their_import_paths(kind, function, tmp_path):
    module, name = function
    mark = tmp_path / "executed"
    path = saved(tmp_path, kind)
    arguments = {"command": f"touch {mark}", "args": f"touch {mark}", "shell": True}
    layer = {"module": module, "class_name": name, "config": arguments, "registered_name": name}
    change_layer(path, layer)
    with pytest.raises((TypeError, ValueError)):
        keras.models.load_model(path)
    by_name = {"module": module, "class_name": "function", "config": name, "registered_name": name}
    path = saved(tmp_path, kind)
    config = {"units": 2, "activation": by_name, "name": "d"}
    change_layer(path, {"module": "keras.layers", "class_name": "Dense", "config": config, "registered_name": None})
    with pytest.raises((TypeError, ValueError)):
        keras.models.load_model(path)
    assert not mark.exists()


# ---- other files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_weights_in_other_files(kind, tmp_path):
    other, raw = tmp_path / "other.h5", tmp_path / "raw"
    raw.write_bytes(bytes(24))
    with h5py.File(other, "w") as file:
        file["k"] = np.zeros([3, 2], np.float32)

    def link(weights, name):
        weights[name] = h5py.ExternalLink(str(other), "/k")

    def storage(weights, name):
        weights.create_dataset(name, (3, 2), "f4", external=[(str(raw), 0, 24)])

    def virtual(weights, name):
        layout = h5py.VirtualLayout((3, 2), "f4")
        layout[:] = h5py.VirtualSource(str(other), "k", (3, 2))
        weights.create_virtual_dataset(name, layout)

    for change in (link, storage, virtual):
        path = saved(tmp_path, kind)
        change_kernel(path, tmp_path, change)
        with pytest.raises(ValueError, match="Not allowed"):
            keras.models.load_model(path)
        if kind == "h5":
            with pytest.raises(ValueError, match="Not allowed"):
                dense().load_weights(path)


@pytest.mark.parametrize("kind", FORMATS)
def test_weights_of_terabytes(kind, tmp_path):
    path = saved(tmp_path, kind)
    huge = {"shape": (1 << 40, 2), "dtype": "f4", "chunks": (1024, 2), "compression": "gzip"}
    change_kernel(path, tmp_path, lambda weights, name: weights.create_dataset(name, **huge))
    with pytest.raises(ValueError, match="Not allowed"):
        keras.models.load_model(path)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_layer_of_terabytes(kind, tmp_path):
    path = saved(tmp_path, kind)
    config = {"units": 1 << 45, "name": "d"}
    change_layer(path, {"module": "keras.layers", "class_name": "Dense", "config": config, "registered_name": None})
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        keras.models.load_model(path)


def test_members_outside_of_the_archive(tmp_path):
    path = saved(tmp_path, "keras")
    outside = tmp_path / "outside"
    write(path, {**members(path), str(outside): "x", "../" * 20 + str(outside)[1:]: "x", "assets/a": "x"})
    with suppress(AttributeError):  # of Keras 3.12.4; later ones skip these members
        keras.models.load_model(path)
    assert not outside.exists()


# ---- damage ----------------------------------------------------------------------------------------------------------


def test_archives_without_what_a_model_needs(tmp_path):
    path = saved(tmp_path, "keras")
    files = members(path)
    wrong = [
        {"metadata.json": "{}"},
        {**files, "config.json": "[" * 100_000 + "]" * 100_000},
        {**files, "config.json": "{nonsense"},
        {name: data for name, data in files.items() if name != WEIGHTS},
    ]
    for each in wrong:
        write(path, each)
        with pytest.raises(ValueError):  # each has a message of its own
            keras.models.load_model(path)


def test_files_in_hdf5_without_what_a_model_needs(tmp_path):
    def without_weights(file):
        del file["model_weights"]

    def with_another_layer(file):
        file["model_weights"].attrs["layer_names"] = [b"nowhere"]

    for change in (without_weights, with_another_layer):
        path = saved(tmp_path, "h5")
        with h5py.File(path, "a") as file:
            change(file)
        with pytest.raises(ValueError, match=r"model\.h5 can't be loaded: it is damaged, or no model of Keras"):
            keras.models.load_model(path)
