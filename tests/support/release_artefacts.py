"""The files that a release freezes, and how later versions use them.

`freeze` writes every kind of file that TapeFlow saves, with inputs and outputs. `results` loads the files of a release
and computes the outputs anew. A kind may be added. What a kind does with its files stays, as older releases have them.
"""

import contextlib
import json
import os
import pathlib
import runpy
import sys

import numpy as np

import tapeflow as tf

v1 = tf.compat.v1
KINDS = {}
OF_KERAS = ("keras", "hdf5", "checkpoint")  # these need the version of Keras that wrote them, or a newer one
X = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]
SEQUENCES = [[[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]], [[-1.0, 0.5], [0.25, 0.75], [2.0, -2.0]]]


def kind(**inputs):
    """Registers a kind of file: a class with `write(path)` and `run(path, **inputs)`."""

    def register(cls):
        KINDS[cls.__name__.lower()] = (cls, inputs)
        return cls

    return register


def weights(*shape):
    """Returns values without a pattern, the same in every version."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(1, count + 1) * 12.9898) * 0.5).astype(np.float32).reshape(shape)


def plain(value):
    """Returns a nest of tensors as lists, for JSON."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.SparseTensor):
        return plain([value.indices, value.values, value.dense_shape])
    value = value.numpy() if hasattr(value, "numpy") else value
    value = value.tolist() if hasattr(value, "tolist") else value
    return value.decode() if isinstance(value, bytes) else plain(value) if isinstance(value, list) else value


def set_weights(model):
    """Gives a Keras model values that are the same in every version."""
    model.set_weights([weights(*w.shape) for w in model.weights])
    return model


# ---- SavedModels -----------------------------------------------------------------------------------------------------


@kind(x=X)
class Functions:
    """Variables, several traces of one function, arguments that are Python values, a gradient."""

    def write(path):
        module = tf.Module()
        module.w = tf.Variable(weights(3, 2))
        module.parts = [tf.Variable(2.0), {"b": tf.Variable([1.0, -1.0])}]
        module.count = tf.Variable(0, dtype=tf.int64)

        @tf.function
        def call(x, scale=2.0, training=False):
            y = tf.matmul(x, module.w) * scale + module.parts[1]["b"]
            return {"y": tf.nn.relu(y) if training else tf.tanh(y), "n": module.count.assign_add(1)}

        for training in (False, True):
            call.get_concrete_function(tf.TensorSpec([None, 3]), 2.0, training)
        module.call = call
        tf.saved_model.save(module, path, call.get_concrete_function(tf.TensorSpec([None, 3]), 2.0, False))

    def run(path, x):
        loaded = tf.saved_model.load(path)
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            result = loaded.call(x, 2.0, False)
        served = loaded.signatures["serving_default"](x=x)
        gradient = tape.gradient(result["y"], loaded.w)
        return result, loaded.call(x, 2.0, training=True), served["y"], gradient, loaded.parts[0]


@kind(x=X, n=5)
class ControlFlow:
    """Conditionals and loops, in each other, and lists of tensors."""

    def write(path):
        module = tf.Module()
        module.v = tf.Variable(1.5)

        @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
        def call(x, n):
            rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            total = tf.zeros([3])
            for i in tf.range(n):
                row = x[i % tf.shape(x)[0]]
                if tf.reduce_sum(row) > 1.0:
                    total += row * module.v
                elif i > 2:
                    total -= row
                rows = rows.write(i, total)
            while tf.norm(total) > 1.0:
                total *= 0.5
            return total, rows.stack()

        module.call = call
        tf.saved_model.save(module, path)

    def run(path, x, n):
        loaded = tf.saved_model.load(path)
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            total, rows = loaded.call(x, n)
        return total, rows, tape.gradient(total, x)


@kind(words=["the", "nowhere", "sat"])
class Tables:
    """A table from a file, and the file as an asset."""

    def write(path):
        vocabulary = pathlib.Path(f"{path}.vocabulary.txt")
        vocabulary.write_text("the\ncat\nsat\n")
        index = tf.lookup.TextFileIndex
        module = tf.Module()
        module.static = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(vocabulary), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
            ),
            -1,
        )  # fmt: skip
        module.asset = tf.saved_model.Asset(vocabulary)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def call(words):
            return module.static.lookup(words), tf.strings.length(tf.strings.join([words, "!"]))

        module.call = call
        tf.saved_model.save(module, path)
        vocabulary.unlink()

    def run(path, words):
        loaded = tf.saved_model.load(path)
        return loaded.call(words), tf.io.read_file(loaded.asset.asset_path)


@kind(values=[1.0, 2.0, 3.0, 4.0], lengths=[3, 0, 1])
class Composites:
    """Ragged and sparse tensors as arguments and results."""

    def write(path):
        module = tf.Module()

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None]), tf.SparseTensorSpec([3, 2])])
        def call(ragged, sparse):
            return ragged * 2.0, tf.reduce_sum(ragged, 1), tf.sparse.map_values(tf.square, sparse)

        module.call = call
        tf.saved_model.save(module, path)

    def run(path, values, lengths):
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [3.0, -4.0], [3, 2])
        return tf.saved_model.load(path).call(tf.RaggedTensor.from_row_lengths(values, lengths), sparse)


@kind(x=X)
class Graph:
    """A SavedModel of TensorFlow 1's form."""

    def write(path):
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 3], "x")
            w = v1.get_variable("w", initializer=weights(3, 2), use_resource=True)
            y = tf.nn.softmax(tf.matmul(x, w))
            session.run(v1.global_variables_initializer())
            v1.saved_model.simple_save(session, path, {"x": x}, {"y": y})

    def run(path, x):
        loaded = tf.saved_model.load(path)
        with tf.Graph().as_default(), v1.Session() as session:
            meta = v1.saved_model.load(session, ["serve"], path)
            signature = meta.signature_def["serving_default"]
            again = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: x})
        return loaded.signatures["serving_default"](x=tf.constant(x))["y"], again, loaded.variables[0]


@kind(x=SEQUENCES)
class Lstm:
    """A Keras model with recurrent layers, as a SavedModel."""

    def write(path):
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [tf.keras.Input([3, 2]), layers.LSTM(4, return_sequences=True), layers.GRU(3), layers.Dense(2)]
        )
        set_weights(model).export(path, verbose=False)

    def run(path, x):
        return tf.saved_model.load(path).serve(tf.constant(x)), tf.keras.layers.TFSMLayer(path, "serve")(tf.constant(x))


# ---- files of Keras --------------------------------------------------------------------------------------------------


def network():
    layers = tf.keras.layers
    inputs = tf.keras.Input([4, 4, 1], name="image")
    x = layers.Conv2D(2, 3, padding="same", activation="relu", name="convolution")(inputs)
    x = layers.BatchNormalization(name="normalization")(x)
    x = layers.Concatenate(name="both")([layers.Flatten(name="a")(x), layers.Flatten(name="b")(inputs)])
    model = tf.keras.Model(inputs, layers.Dense(3, activation="softmax", name="classes")(x), name="network")
    model.compile(tf.keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    set_weights(model)
    model.get_layer("normalization").set_weights([np.full(2, v, np.float32) for v in (1.5, 0.1, 0.2, 0.9)])
    model.train_on_batch(weights(2, 4, 4, 1), np.array([0, 2]))
    return model


IMAGES = weights(2, 4, 4, 1).round(3).tolist()


class _Model:
    """A compiled model with its optimizer, that goes on to train."""

    name = ""

    @classmethod
    def write(cls, path):
        os.makedirs(path)
        network().save(os.path.join(path, cls.name))

    @classmethod
    def run(cls, path, x):
        model = tf.keras.models.load_model(os.path.join(path, cls.name))
        before = model(tf.constant(x), training=False)
        losses = [float(model.train_on_batch(np.array(x, np.float32), np.array([1, 2]))) for _ in range(2)]
        return before, losses


@kind(x=IMAGES)
class Keras(_Model):
    name = "model.keras"


@kind(x=IMAGES)
class Hdf5(_Model):
    name = "model.h5"

    @classmethod
    def run(cls, path, x):  # Keras itself does not go on to train such a model with its optimizer
        model = tf.keras.models.load_model(os.path.join(path, cls.name))
        return model(tf.constant(x), training=False), model.predict_on_batch(np.array(x, np.float32))


@kind(x=IMAGES)
class Weights:
    """The weights alone, in both formats."""

    def write(path):
        os.makedirs(path)
        model = network()
        model.save_weights(os.path.join(path, "model.weights.h5"))
        model.save_weights(os.path.join(path, "checkpoint"))

    def run(path, x):
        results = []
        for name in ("model.weights.h5", "checkpoint"):
            model = network()
            for variable in model.weights:
                variable.assign(tf.zeros_like(variable))
            model.load_weights(os.path.join(path, name))
            results.append(model(tf.constant(x), training=False))
        return results


# ---- checkpoints -----------------------------------------------------------------------------------------------------


def training_state():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2, name="dense")])
    set_weights(model)
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
    state = {"step": tf.Variable(0, dtype=tf.int64), "text": tf.Variable("none"), "list": [tf.Variable([0.0, 0.0])]}
    return model, optimizer, tf.train.Checkpoint(model=model, optimizer=optimizer, state=state)


@kind()
class Checkpoint:
    """Objects, with a manager: a model, an optimizer with its moments, nested state."""

    def write(path):
        model, optimizer, checkpoint = training_state()
        for _ in range(2):
            optimizer.apply_gradients([(tf.ones(w.shape), w) for w in model.trainable_variables])
        checkpoint.state["step"].assign(7)
        checkpoint.state["text"].assign("seven")
        checkpoint.state["list"][0].assign([3.0, 4.0])
        tf.train.CheckpointManager(checkpoint, path, 2).save()

    def run(path):
        model, optimizer, checkpoint = training_state()
        latest = tf.train.CheckpointManager(checkpoint, path, 2).latest_checkpoint
        checkpoint.restore(latest).assert_consumed()
        optimizer.apply_gradients([(tf.ones(w.shape), w) for w in model.trainable_variables])
        return model.get_weights(), plain(checkpoint.state), sorted(name for name, _ in tf.train.list_variables(latest))


@kind()
class Saver:
    """A checkpoint of a graph's variables."""

    def write(path):
        os.makedirs(path)
        with tf.Graph().as_default(), v1.Session() as session:
            v1.get_variable("scope/w", initializer=weights(3, 2))
            v1.get_variable("step", initializer=np.int64(3))
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, os.path.join(path, "model"), 3)

    def run(path):
        latest = tf.train.latest_checkpoint(path)
        with tf.Graph().as_default(), v1.Session() as session:
            saver = v1.train.import_meta_graph(f"{latest}.meta")
            saver.restore(session, latest)
            values = session.run({v.name: v.read_value() for v in v1.global_variables()})
        return values, tf.train.load_variable(latest, "scope/w")


def pipeline():
    dataset = tf.data.Dataset.range(40).map(lambda n: n * n).shuffle(8, seed=5).batch(3).repeat(2).prefetch(1)
    return iter(dataset)


@kind()
class Iterator:
    """The position in a dataset."""

    def write(path):
        os.makedirs(path)
        iterator = pipeline()
        for _ in range(4):
            next(iterator)
        tf.train.Checkpoint(iterator=iterator).write(os.path.join(path, "iterator"))

    def run(path):
        iterator = pipeline()
        tf.train.Checkpoint(iterator=iterator).read(os.path.join(path, "iterator")).assert_consumed()
        return [next(iterator) for _ in range(3)], sum(1 for _ in iterator)


# ---- others ----------------------------------------------------------------------------------------------------------


@kind(x=IMAGES)
class Torch:
    """A model that was converted to a module of PyTorch, which needs PyTorch alone."""

    def write(path):
        tf.torch.convert(network(), "torch", path)

    def run(path, x):
        import torch

        modules = set(sys.modules)
        sys.path.insert(0, path)
        try:
            module = runpy.run_path(os.path.join(path, "model.py"))["Model"]()
        finally:
            sys.path.remove(path)
            for name in set(sys.modules) - modules:
                if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") == path:
                    del sys.modules[name]
        with torch.no_grad():
            return module(torch.tensor(x))


@kind()
class Data:
    """Records, events, a saved dataset and a graph."""

    def write(path):
        os.makedirs(path)
        with tf.io.TFRecordWriter(os.path.join(path, "records"), "GZIP") as writer:
            for i in range(3):
                feature = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i, i * i]))}
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
        with tf.summary.create_file_writer(os.path.join(path, "events")).as_default():
            for step in range(2):
                tf.summary.scalar("loss", 0.5 / (step + 1), step=step)
        elements = {"a": [[1, 2], [3, 4]], "b": tf.ragged.constant([["x"], ["y", "z"]])}
        tf.data.Dataset.from_tensor_slices(elements).save(os.path.join(path, "dataset"))
        with tf.Graph().as_default() as graph:
            tf.square(v1.placeholder(tf.float32, [None], "x"), name="y")
        tf.io.write_graph(graph, path, "graph.pb", as_text=False)

    def run(path):
        records = tf.data.TFRecordDataset(os.path.join(path, "records"), "GZIP")
        parsed = [tf.io.parse_single_example(r, {"n": tf.io.FixedLenFeature([2], tf.int64)}) for r in records]
        events = [
            [event.step, tf.make_ndarray(value.tensor)]
            for name in os.listdir(os.path.join(path, "events"))
            for event in v1.train.summary_iterator(os.path.join(path, "events", name))
            for value in event.summary.value
        ]
        proto = v1.GraphDef.FromString(pathlib.Path(path, "graph.pb").read_bytes())
        with tf.Graph().as_default(), v1.Session() as session:
            (y,) = tf.import_graph_def(proto, return_elements=["y:0"], name="")
            squares = session.run(y, {"x:0": [1.0, -3.0]})
        return parsed, events, list(tf.data.Dataset.load(os.path.join(path, "dataset"))), squares


# ---- freezing and checking -------------------------------------------------------------------------------------------


def freeze(folder):
    """Writes the files of all kinds, and `expected.json` with inputs and outputs."""
    os.makedirs(folder)
    expected = {}
    for name, (cls, inputs) in KINDS.items():
        with contextlib.chdir(folder):
            cls.write(name)  # no file holds an absolute path
            expected[name] = {"inputs": inputs, "outputs": plain(cls.run(name, **inputs))}
        if name in OF_KERAS:
            expected[name]["keras"] = tf.keras.__version__
    pathlib.Path(folder, "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def expected(folder):
    """Returns the inputs and outputs of a release, by the kinds of files."""
    return json.loads(pathlib.Path(folder, "expected.json").read_text())


def results(folder, name, inputs):
    """Returns the outputs that files of a release give now."""
    return plain(KINDS[name][0].run(os.path.join(folder, name), **inputs))
