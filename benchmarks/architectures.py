"""Architectures of Keras, keras-hub, TensorFlow's guides and TensorFlow 1, built by TensorFlow and by TapeFlow alike.

`torch_models.py` converts them to modules of torch. Weights are numbers of NumPy's generator, the same in both.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

Builder = Callable[[Any], Any]  # from `tensorflow` or `tapeflow` to a model of Keras
SMALL = {"weights": None, "classes": 5, "classifier_activation": None}

# Names of keras.applications, and the smallest images that they take.
APPLICATIONS = {
    "MobileNet": 32, "MobileNetV2": 32, "MobileNetV3Small": 32, "MobileNetV3Large": 32, "VGG16": 32, "ResNet50": 32,
    "ResNet50V2": 32, "DenseNet121": 32, "EfficientNetB0": 32, "EfficientNetV2B0": 32, "InceptionV3": 75,
    "InceptionResNetV2": 75, "Xception": 71, "ConvNeXtTiny": 32, "NASNetMobile": 32,
}  # fmt: skip


def applications() -> dict[str, Builder]:
    """Returns models of keras.applications by their names."""

    def build(tf: Any, name: str) -> Any:
        return getattr(tf.keras.applications, name)(**SMALL, input_shape=(APPLICATIONS[name], APPLICATIONS[name], 3))

    return {name: lambda tf, name=name: build(tf, name) for name in APPLICATIONS}


def guides() -> dict[str, Builder]:
    """Returns models such as TensorFlow's guides write them."""

    def convolutions(tf: Any) -> Any:
        layers = tf.keras.layers
        return tf.keras.Sequential(
            [
                tf.keras.Input((None, None, 1)),
                layers.Conv2D(16, 3, activation="relu"),
                layers.Conv2D(16, 3, activation="relu"),
                layers.GlobalAveragePooling2D(),
                layers.Dense(10),
            ]
        )

    def blocks(tf: Any) -> Any:
        layers = tf.keras.layers
        image = x = tf.keras.Input((16, 16, 3))
        for filters in (16, 32):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.Dropout(0.5)(tf.keras.activations.relu(layers.BatchNormalization()(x)))
        return tf.keras.Model(image, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))

    def dense(tf: Any) -> Any:
        layers = tf.keras.layers
        x = tf.keras.Input((32,))
        hidden = layers.Dense(64, activation="relu")(layers.Dense(64, activation="relu")(x))
        return tf.keras.Model(x, layers.Dense(10, activation="softmax")(hidden))

    def words(tf: Any) -> Any:
        layers = tf.keras.layers
        return tf.keras.Sequential(
            [
                tf.keras.Input((None,), dtype="int32"),
                layers.Embedding(50, 8),
                layers.LSTM(8, return_sequences=True),
                layers.Dropout(0.5),
                layers.Bidirectional(layers.GRU(8, return_sequences=True)),
                layers.Dense(50),
            ]
        )

    def masked(tf: Any) -> Any:
        layers = tf.keras.layers
        return tf.keras.Sequential(
            [
                tf.keras.Input((8,), dtype="int32"),
                layers.Embedding(50, 8, mask_zero=True),
                layers.LSTM(8),
                layers.Dense(2, activation="softmax"),
            ]
        )

    return {"guide: images": convolutions, "guide: blocks": blocks, "guide: dense": dense, "guide: words": words,
            "guide: masked words": masked}  # fmt: skip


def hub() -> dict[str, Builder]:
    """Returns small models of keras-hub by their names."""
    text = {"vocabulary_size": 50, "num_layers": 2, "num_heads": 2, "intermediate_dim": 32}
    positions = {**text, "hidden_dim": 16, "max_sequence_length": 12}
    electra = {"vocab_size": 50, "num_layers": 2, "num_heads": 2, "intermediate_dim": 32, "hidden_dim": 16,
               "embedding_dim": 8, "max_sequence_length": 12}  # fmt: skip
    llama = {"vocabulary_size": 50, "num_layers": 2, "num_query_heads": 2, "num_key_value_heads": 1, "hidden_dim": 16,
             "intermediate_dim": 32}  # fmt: skip
    vit = {"image_shape": (32, 32, 3), "patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 16,
           "mlp_dim": 32}  # fmt: skip
    resnet = {"input_conv_filters": [64], "input_conv_kernel_sizes": [7], "stackwise_num_filters": [64, 128],
              "stackwise_num_blocks": [1, 1], "stackwise_num_strides": [1, 2], "block_type": "basic_block",
              "image_shape": (32, 32, 3)}  # fmt: skip
    models: dict[str, tuple[str, dict[str, Any]]] = {
        "BERT": ("Bert", positions),
        "DistilBERT": ("DistilBert", positions),
        "RoBERTa": ("Roberta", positions),
        "ALBERT": ("Albert", {**positions, "embedding_dim": 8}),
        "DeBERTaV3": ("DebertaV3", {**positions, "bucket_size": 6}),
        "ELECTRA": ("Electra", electra),
        "GPT-2": ("GPT2", positions),
        "OPT": ("OPT", positions),
        "Llama": ("Llama", llama),
        "T5": ("T5", {**text, "hidden_dim": 16}),
        "BART": ("Bart", positions),
        "ViT": ("ViT", vit),
        "ResNet (hub)": ("ResNet", resnet),
    }

    def build(tf: Any, name: str) -> Any:
        import keras_hub

        kind, options = models[name]
        return getattr(keras_hub.models, f"{kind}Backbone")(**options)

    return {name: lambda tf, name=name: build(tf, name) for name in models}


def set_weights(model: Any) -> None:
    """Gives a model of Keras the weights that all builds of it have."""
    rng = np.random.default_rng(0)
    for variable in model.variables:
        shape = tuple(variable.shape)
        if variable.dtype != "float32":
            continue
        if len(shape) < 2:  # which begin as constants
            variable.assign(np.asarray(variable) + rng.uniform(-0.1, 0.1, shape).astype(np.float32))
        else:
            variable.assign(rng.normal(0, np.prod(shape[:-1]) ** -0.5, shape).astype(np.float32))


def inputs_of(model: Any, batch: int) -> list[np.ndarray]:
    """Returns sample inputs of a model of Keras, in the order of `model.inputs`."""
    rng = np.random.default_rng(batch)
    samples = []
    for t in model.inputs:
        shape = [batch, *(8 if d is None else d for d in t.shape[1:])]
        if "int" in t.dtype or t.dtype == "bool":
            high = 2 if "mask" in t.name or "segment" in t.name else 40
            ids = np.ones(shape) if "mask" in t.name else rng.integers(0, high, shape)
            samples.append(ids.astype(t.dtype))
        else:
            samples.append(rng.random(shape, np.float32))
    return samples


# ---- files that TensorFlow writes ------------------------------------------------------------------------------------


def functions(tf: Any) -> dict[str, Callable[..., Any]]:
    """Returns functions of a tensor of shape [n, 3] whose values decide what is computed, for SavedModels."""
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(3, 3)).astype(np.float32), name="w")
    v = tf.Variable(rng.normal(size=(3,)).astype(np.float32), name="v")

    def conditional(x: Any) -> Any:
        if tf.reduce_sum(x) > 1.0:
            return tf.nn.relu(x @ w) + v
        return tf.tanh(x) * v

    def loop(x: Any) -> Any:
        i = 0
        while tf.reduce_sum(tf.abs(x)) < 50.0 and i < 20:
            x = x * 1.5 + v
            i += 1
        return x @ w

    def nested(x: Any) -> Any:
        for i in tf.range(4):
            if i % 2 == 0:
                x = tf.tanh(x @ w)
            else:
                x = x + v * tf.cast(i, tf.float32)
        return x

    def recurrent(x: Any) -> Any:
        states = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
        h = tf.zeros([3])
        for i in tf.range(tf.shape(x)[0]):
            h = tf.tanh(tf.linalg.matvec(w, h) + x[i])
            states = states.write(i, h)
        return states.stack()

    def choice(x: Any) -> Any:
        i = tf.cast(tf.reduce_sum(x), tf.int32) % 3
        return tf.switch_case(i, [lambda: x @ w, lambda: x * v, lambda: tf.exp(x)])

    def mapped(x: Any) -> Any:
        return tf.map_fn(lambda row: tf.nn.softmax(row * v), x)

    return {"conditional": conditional, "loop": loop, "nested": nested, "recurrent": recurrent, "choice": choice,
            "map": mapped}  # fmt: skip


def v1_graphs(tf: Any) -> dict[str, Callable[[Any], Any]]:
    """Returns functions that build graphs of TensorFlow 1 on a placeholder of shape [None, 8, 8, 3]."""
    v1 = tf.compat.v1
    rng = np.random.default_rng(1)

    def weights(*shape: int) -> Any:
        return tf.constant(rng.normal(0, 0.3, shape).astype(np.float32))

    def network(x: Any) -> Any:
        y = tf.nn.relu(v1.nn.conv2d(x, weights(3, 3, 3, 4), [1, 2, 2, 1], "SAME") + weights(4))
        y, _, _ = v1.nn.fused_batch_norm(y, weights(4), weights(4), weights(4), tf.exp(weights(4)), is_training=False)
        y = v1.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        return v1.nn.softmax(tf.matmul(tf.reshape(y, [-1, 16]), weights(16, 5)))

    def residuals(x: Any) -> Any:
        y = v1.nn.conv2d(x, weights(1, 1, 3, 4), [1, 1, 1, 1], "SAME")
        for _ in range(2):
            y += tf.nn.relu(v1.nn.depthwise_conv2d(y, weights(3, 3, 4, 1), [1, 1, 1, 1], "SAME"))
        return tf.reduce_mean(v1.nn.lrn(y), [1, 2])

    def control_flow(x: Any) -> Any:
        y = tf.reduce_mean(x, [1, 2])
        y = v1.cond(tf.reduce_sum(y) > 1.0, lambda: y * 2.0, lambda: y - 1.0)
        return v1.while_loop(lambda y: tf.reduce_sum(tf.abs(y)) < 30.0, lambda y: y * 1.5 + 0.1, [y])

    def old_control_flow(x: Any) -> Any:
        v1.disable_control_flow_v2()
        try:
            return control_flow(x)
        finally:
            v1.enable_control_flow_v2()

    return {"network": network, "residuals": residuals, "control flow": control_flow,
            "Switch and Merge": old_control_flow}  # fmt: skip


def write_files(tf: Any, folder: str) -> dict[str, Callable[[np.ndarray], list[np.ndarray]]]:
    """Writes SavedModels and frozen graphs; returns functions that compute their results and the gradient of the input.

    Args:
        tf: TensorFlow.
        folder: the folder to write them into, under their names.
    """
    runs: dict[str, Callable[[np.ndarray], list[np.ndarray]]] = {}
    for name, function in functions(tf).items():
        root = tf.Module()
        root.variables_ = [c.cell_contents for c in function.__closure__ if isinstance(c.cell_contents, tf.Variable)]
        root.f = tf.function(function, input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
        tf.saved_model.save(root, os.path.join(folder, f"SavedModel: {name}"))
        runs[f"SavedModel: {name}"] = lambda x, f=root.f: _results(tf, f, x)
    for name, build in v1_graphs(tf).items():
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, [None, 8, 8, 3], "x")
            y = tf.identity(build(x), "y")
            # without what the gradient adds to loops
            part = tf.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["y"])
            (dx,) = tf.gradients(tf.reduce_mean(y * y), [x])
        tf.io.write_graph(part, folder, f"TensorFlow 1: {name}.pb", as_text=False)

        def run(value: np.ndarray, graph: Any = graph, x: Any = x, results: Any = (y, dx)) -> list[np.ndarray]:
            with tf.compat.v1.Session(graph=graph) as session:
                return session.run(list(results), {x: value})

        runs[f"TensorFlow 1: {name}.pb"] = run
    return runs


def _results(tf: Any, function: Callable[..., Any], x: np.ndarray) -> list[np.ndarray]:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        loss = tf.reduce_mean(y * y)
    return [y.numpy(), tape.gradient(loss, x).numpy()]


def input_of_file(name: str, batch: int) -> np.ndarray:
    """Returns a sample input of a file that `write_files` writes."""
    shape = (batch, 3) if name.startswith("SavedModel") else (batch, 8, 8, 3)
    return np.random.default_rng(batch).random(shape, np.float32)
