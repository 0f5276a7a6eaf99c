"""Keras models at small sizes, as the guides of Keras and TensorFlow write them, with a batch of data for each."""

from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A model, a batch that it is trained on, and the name of its loss."""

    model: Any
    x: np.ndarray
    y: np.ndarray
    loss: str


_CLASSES = "sparse_categorical_crossentropy"


def _normal(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _integers(limit, *shape):
    return np.random.default_rng(0).integers(0, limit, shape).astype(np.int32)


# --- images ----------------------------------------------------------------------------------


def _application(name):
    def build(keras):
        model = getattr(keras.applications, name)(weights=None, input_shape=(96, 96, 3), classes=10)
        return Case(model, _normal(8, 96, 96, 3), _integers(10, 8), _CLASSES)

    return build


def unet(keras):
    layers = keras.layers

    def double(x, filters):
        for _ in range(2):
            x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same")(x)))
        return x

    x = image = keras.Input((64, 64, 3))
    skipped = []
    for filters in (16, 32, 64):
        x = double(x, filters)
        skipped.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Dropout(0.2)(double(x, 128))
    for filters in (64, 32, 16):
        x = layers.Conv2DTranspose(filters, 2, strides=2)(x)
        x = double(layers.Concatenate()([x, skipped.pop()]), filters)
    model = keras.Model(image, layers.Conv2D(1, 1, activation="sigmoid")(x))
    return Case(model, _normal(4, 64, 64, 3), _integers(2, 4, 64, 64, 1), "binary_crossentropy")


def generator(keras):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((64,)), layers.Dense(7 * 7 * 64, use_bias=False), layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Reshape((7, 7, 64)), layers.Conv2DTranspose(64, 5, padding="same", use_bias=False),
        layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Conv2DTranspose(32, 5, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Conv2DTranspose(1, 5, strides=2, padding="same", use_bias=False, activation="tanh"),
    ])  # fmt: skip
    return Case(model, _normal(16, 64), np.tanh(_normal(16, 28, 28, 1)), "mse")


def discriminator(keras):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((28, 28, 1)), layers.Conv2D(32, 5, strides=2, padding="same"), layers.LeakyReLU(),
        layers.Dropout(0.3), layers.Conv2D(64, 5, strides=2, padding="same"), layers.LeakyReLU(), layers.Dropout(0.3),
        layers.Flatten(), layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    return Case(model, _normal(16, 28, 28, 1), _integers(2, 16, 1), "binary_crossentropy")


# --- attention -------------------------------------------------------------------------------


class _Positions:
    """Adds a learned vector for each place."""

    def __new__(cls, keras, length, width):
        class Positions(keras.layers.Layer):
            def build(self, shape):
                self.table = self.add_weight(shape=(length, width), initializer="uniform")

            def call(self, x):
                return x + self.table

        return Positions()


def _blocks(keras, x, count, heads, dropout=0.1, causal=False):
    """Transformer blocks that normalize first."""
    layers, width = keras.layers, x.shape[-1]
    for _ in range(count):
        normal = layers.LayerNormalization(epsilon=1e-6)(x)
        attention = layers.MultiHeadAttention(heads, width // heads, dropout=dropout)
        x = layers.Add()([x, attention(normal, normal, use_causal_mask=causal)])
        normal = layers.LayerNormalization(epsilon=1e-6)(x)
        normal = layers.Dense(width, name=None)(layers.Dense(4 * width, activation="gelu")(normal))
        x = layers.Add()([x, layers.Dropout(dropout)(normal)])
    return layers.LayerNormalization(epsilon=1e-6)(x)


def _language_model(keras, words, length, width, blocks, heads, causal):
    tokens = keras.Input((length,), dtype="int32")
    x = _Positions(keras, length, width)(keras.layers.Embedding(words, width)(tokens))
    x = _blocks(keras, keras.layers.Dropout(0.1)(x), blocks, heads, causal=causal)
    return keras.Model(tokens, keras.layers.Dense(words, activation="softmax")(x))


def transformer(keras):
    return Case(
        _language_model(keras, 1000, 64, 128, 4, 4, True), _integers(1000, 8, 64), _integers(1000, 8, 64), _CLASSES
    )


def bert(keras):
    return Case(
        _language_model(keras, 4000, 64, 256, 4, 4, False), _integers(4000, 4, 64), _integers(4000, 4, 64), _CLASSES
    )


def gpt(keras):
    return Case(
        _language_model(keras, 2000, 48, 192, 3, 3, True), _integers(2000, 4, 48), _integers(2000, 4, 48), _CLASSES
    )


def vit(keras):
    layers = keras.layers
    image = keras.Input((32, 32, 3))
    x = layers.Reshape((64, 96))(layers.Conv2D(96, 4, strides=4)(image))
    x = _blocks(keras, _Positions(keras, 64, 96)(x), 4, 4)
    model = keras.Model(image, layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling1D()(x)))
    return Case(model, _normal(8, 32, 32, 3), _integers(10, 8), _CLASSES)


# --- sequences -------------------------------------------------------------------------------


def bidirectional(keras):
    layers = keras.layers
    words = _integers(1000, 16, 80) + 1
    for row, length in enumerate(np.linspace(40, 80, 16).astype(int)):
        words[row, length:] = 0
    model = keras.Sequential([
        keras.Input((80,), dtype="int32"), layers.Embedding(1001, 64, mask_zero=True),
        layers.Bidirectional(layers.LSTM(64)), layers.Dense(64, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    return Case(model, words, _integers(2, 16, 1), "binary_crossentropy")


def encoder_decoder(keras):
    layers = keras.layers
    source, target = (keras.Input((length,), dtype="int32") for length in (30, 25))
    encoded, *states = layers.Bidirectional(layers.GRU(64, return_sequences=True, return_state=True))(
        layers.Embedding(500, 64)(source)
    )
    x = layers.GRU(128, return_sequences=True)(
        layers.Embedding(500, 64)(target), initial_state=layers.Concatenate()(states)
    )
    x = layers.Concatenate()([x, layers.AdditiveAttention()([x, encoded])])
    tokens = keras.Input((55,), dtype="int32")
    model = keras.Model([source, target], layers.Dense(500, activation="softmax")(x))
    model = keras.Model(tokens, model([tokens[:, :30], tokens[:, 30:]]))
    return Case(model, _integers(500, 16, 55), _integers(500, 16, 25), _CLASSES)


def convolutions(keras):
    layers = keras.layers
    x = signal = keras.Input((256, 8))
    for filters in (32, 64, 64):
        x = layers.ReLU()(layers.BatchNormalization()(layers.Conv1D(filters, 5, padding="same")(x)))
        x = layers.MaxPooling1D()(x)
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling1D()(x))
    return Case(
        keras.Model(signal, layers.Dense(5, activation="softmax")(x)), _normal(16, 256, 8), _integers(5, 16), _CLASSES
    )


def conv_lstm(keras):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((10, 32, 32, 1)), layers.ConvLSTM2D(16, 3, padding="same", return_sequences=True),
        layers.BatchNormalization(), layers.ConvLSTM2D(16, 3, padding="same"),
        layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
    ])  # fmt: skip
    return Case(model, _normal(4, 10, 32, 32, 1), _integers(2, 4, 32, 32, 1), "binary_crossentropy")


MODELS = {
    "ResNet50 96x96": _application("ResNet50"),
    "MobileNetV2 96x96": _application("MobileNetV2"),
    "EfficientNetB0 96x96": _application("EfficientNetB0"),
    "DenseNet121 96x96": _application("DenseNet121"),
    "U-Net 64x64": unet,
    "DCGAN's generator": generator,
    "DCGAN's discriminator": discriminator,
    "ViT 32x32": vit,
    "causal transformer 4x128": transformer,
    "BERT-small": bert,
    "GPT": gpt,
    "masked bidirectional LSTM, 80 steps": bidirectional,
    "GRU encoder-decoder with attention": encoder_decoder,
    "1-D convolutions": convolutions,
    "ConvLSTM": conv_lstm,
}


def build(keras, name):
    """Returns a case whose weights are the same under all frameworks."""
    keras.utils.set_random_seed(1)
    case = MODELS[name](keras)
    rng, model = np.random.default_rng(1), case.model
    model.set_weights([
        rng.standard_normal(w.shape).astype(np.float32) / np.sqrt(w[..., 0].size) if w.ndim > 1 else w
        for w in model.get_weights()
    ])  # fmt: skip
    return case
