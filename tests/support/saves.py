"""All ways of saving, for tests and scripts/stress/kill_saves.py: each saves numbers and tells which one is there."""

import mmap
import os
import re
import shutil
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import tapeflow as tf

SIZE = 10_000


class Way(NamedTuple):
    """A way of saving into one folder, over and over.

    Attributes:
        save: saves a number, as a program does that was just started.
        load: returns the number that was saved last. Raises an error where nothing whole is there.
    """

    save: Callable[[int], None]
    load: Callable[[], int]


def _count(size):
    """Returns the number of elements or records of a file."""
    return max(3, min(100, size // 100))


def _one(values) -> int:
    """Returns the number that all values are."""
    first, *others = {int(value) for value in np.asarray(values).reshape(-1)}
    assert not others, "a mixture of two saves"
    return first


def _checkpoint(size):
    variables = [tf.Variable(np.zeros(size, np.float32)) for _ in range(2)]
    return tf.train.Checkpoint(variables=variables), variables


def _assign(variables, number):
    for variable in variables:
        variable.assign(tf.fill(variable.shape, float(number)))


def _read(path):
    reader = tf.train.load_checkpoint(path)
    keys = [key for key in reader.get_variable_to_shape_map() if key.startswith("variables/")]
    return _one([reader.get_tensor(key) for key in keys])


def checkpoint_write(folder, size=SIZE):
    checkpoint, variables = _checkpoint(size)
    prefix = os.path.join(folder, "model")

    def save(number):
        _assign(variables, number)
        checkpoint.write(prefix)

    return Way(save, lambda: _read(prefix))


def checkpoint_save(folder, size=SIZE):
    checkpoint, variables = _checkpoint(size)

    def save(number):
        _assign(variables, number)
        checkpoint.save_counter.assign(number - 1)
        checkpoint.save(os.path.join(folder, "model"))

    return Way(save, lambda: _read(tf.train.latest_checkpoint(folder)))


def checkpoint_manager(folder, size=SIZE):
    checkpoint, variables = _checkpoint(size)

    def manager():
        return tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)

    def save(number):
        _assign(variables, number)
        manager().save(checkpoint_number=number)

    def load():
        numbers = [_read(path) for path in manager().checkpoints]
        assert numbers[-1] == _read(manager().latest_checkpoint)
        return numbers[-1]

    return Way(save, load)


def saver(folder, size=SIZE):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        variable = v1.get_variable("v", initializer=np.zeros(size, np.float32))
        value = v1.placeholder(tf.float32)
        assign, writer = variable.assign(value), v1.train.Saver(max_to_keep=1)
    session = v1.Session(graph=graph)

    def save(number):
        session.run(assign, {value: np.full(size, number)})
        writer.recover_last_checkpoints(_listed())
        writer.save(session, os.path.join(folder, "model"), global_step=number)

    def _listed():
        state = tf.train.get_checkpoint_state(folder)
        return state.all_model_checkpoint_paths if state else []

    def load():
        path = tf.train.latest_checkpoint(folder)
        with tf.Graph().as_default():
            v1.train.import_meta_graph(f"{path}.meta")
        return _one(tf.train.load_variable(path, "v"))

    return Way(save, load)


def saved_model(folder, size=SIZE):
    """Models whose variables, constants and assets belong together, and of which every second has more variables."""
    path = os.path.join(folder, "model")

    def save(number):
        module = tf.Module()
        module.v = [tf.Variable(np.full(size, number, np.float32)) for _ in range(1 + number % 2)]
        with open(os.path.join(folder, "asset.txt"), "w") as file:
            file.write(str(number))
        module.asset = tf.saved_model.Asset(file.name)
        constant = tf.constant(np.full(3, number))
        module.f = tf.function(lambda: constant + 0, input_signature=[])
        tf.saved_model.save(module, path)

    def load():
        module = tf.saved_model.load(path)
        number = _one(module.f())
        with open(module.asset.asset_path.numpy()) as file:
            assert len(module.v) == 1 + number % 2 and int(file.read()) == number
        return _one([number, *(_one(v.numpy()) for v in module.v)])

    return Way(save, load)


def _keras(folder, name, save_as, load_into, size):
    keras = tf.keras
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(max(size // 4, 1)), keras.layers.Dense(1)])
    path = os.path.join(folder, name)

    def save(number):
        model.set_weights([np.full_like(w, number) for w in model.get_weights()])
        save_as(model, path)

    return Way(save, lambda: _one(np.concatenate([w.reshape(-1) for w in load_into(model, path).get_weights()])))


def keras_model(folder, size=SIZE):
    return _keras(folder, "m.keras", lambda m, p: m.save(p), lambda m, p: tf.keras.models.load_model(p), size)


def keras_weights(folder, size=SIZE):
    def load(model, path):
        model.load_weights(path)
        return model

    return _keras(folder, "m.weights.h5", lambda model, path: model.save_weights(path), load, size)


def keras_legacy(folder, size=SIZE):
    return _keras(folder, "m.h5", lambda m, p: m.save(p), lambda m, p: tf.keras.models.load_model(p), size)


def dataset_save(folder, size=SIZE):
    """Datasets of which every second has another dtype."""
    path = os.path.join(folder, "data")

    def save(number):
        dtype = tf.int64 if number % 2 else tf.float32
        tf.data.Dataset.from_tensor_slices(tf.fill([_count(size), 10], tf.cast(number, dtype))).save(path)

    def load():
        elements = list(tf.data.Dataset.load(path).as_numpy_iterator())
        assert len(elements) == _count(size)
        return _one(elements)

    return Way(save, load)


def _shared_numbers(count):
    """Returns numbers that a forked process sets for its parent too."""
    return np.frombuffer(mmap.mmap(-1, 8 * count), np.int64)


def _stored_by_iterating(folder, store, size):
    """`cache` and `snapshot`, which serve the stored elements, or else those of the source, and store them."""
    last, stored = _shared_numbers(1), os.path.join(folder, "data")

    def elements(number):
        source = tf.data.Dataset.from_tensor_slices(np.full([_count(size), 10], number))
        return list(store(source, os.path.join(stored, "here")).as_numpy_iterator())

    def save(number):
        last[:] = number
        shutil.rmtree(stored, ignore_errors=True)
        os.mkdir(stored)
        elements(number)

    def load():
        os.makedirs(stored, exist_ok=True)
        loaded = elements(last.item())
        assert len(loaded) == _count(size)
        return _one(loaded)

    return Way(save, load)


def dataset_cache(folder, size=SIZE):
    return _stored_by_iterating(folder, lambda source, path: source.cache(path), size)


def dataset_snapshot(folder, size=SIZE):
    return _stored_by_iterating(folder, lambda source, path: source.snapshot(path), size)


def record_writer(folder, size=SIZE):
    """Records that are flushed one by one: nothing of the file before is kept, but each flushed record is there."""
    path, count_path = os.path.join(folder, "records"), os.path.join(folder, "flushed")
    np.zeros(2, np.int64).tofile(count_path)

    def save(number):
        flushed = np.memmap(count_path, np.int64, "r+")  # written without a step, and copied with the folder
        flushed[:] = number, 0
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range(_count(size)):
                writer.write(str(number) * 1000)
                writer.flush()
                flushed[1] += 1

    def load():
        number, count = np.fromfile(count_path, np.int64).tolist()
        records = 0
        try:
            for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
                records += record == str(number).encode() * 1000
        except tf.errors.DataLossError:  # the record that was being written
            pass
        assert records >= count
        return number

    return Way(save, load)


WAYS = {
    "Checkpoint.write": checkpoint_write,
    "Checkpoint.save": checkpoint_save,
    "CheckpointManager.save": checkpoint_manager,
    "compat.v1 Saver.save": saver,
    "saved_model.save": saved_model,
    "Model.save(.keras)": keras_model,
    "Model.save_weights(.weights.h5)": keras_weights,
    "Model.save(.h5)": keras_legacy,
    "Dataset.save": dataset_save,
    "Dataset.cache(file)": dataset_cache,
    "Dataset.snapshot": dataset_snapshot,
    "TFRecordWriter": record_writer,
}


def leftovers(folder) -> list[str]:
    """Returns the temporary files and folders that are left."""
    names = [os.path.join(where, n) for where, folders, files in os.walk(folder) for n in [*folders, *files]]
    return [name for name in names if re.search(r"tempstate|tmp|-of-00002", os.path.basename(name))]
