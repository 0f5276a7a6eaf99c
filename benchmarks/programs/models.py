"""Whole Keras models: trained on a batch and asked for predictions by Keras, in a loop of one's own, and eagerly.

A model is built when it is first timed, so that `run.py --only models --benchmarks LSTM` builds no other. Under torch
and JAX, Keras runs on that backend, and has no loop of TensorFlow's.
"""

import functools
import importlib
import os

from zoo import MODELS, build

THREADS = 1

LEARNING_RATE = 1e-5
GENERATED = 16


class Model:
    """A model and the calls that are timed."""

    def __init__(self, keras, name):
        self.case = case = build(keras, name)
        self.model = case.model
        self.model.compile(keras.optimizers.Adam(LEARNING_RATE), case.loss)

    def train(self):
        return self.model.train_on_batch(self.case.x, self.case.y)

    def predict(self):
        return self.model.predict_on_batch(self.case.x)


class Loop:
    """A training step around a tape, and generation by a language model."""

    def __init__(self, tf, name):
        self.tf, self.case = tf, build(tf.keras, name)
        self.model = self.case.model
        self.loss = tf.keras.losses.get(self.case.loss)
        self.optimizer = tf.keras.optimizers.Adam(LEARNING_RATE)
        self.optimizer.build(self.model.trainable_variables)
        self.x, self.y = tf.constant(self.case.x), tf.constant(self.case.y)
        self.own_loop, self.generate = tf.function(self.eager), tf.function(self._generate)

    def eager(self):
        with self.tf.GradientTape() as tape:
            loss = self.tf.reduce_mean(self.loss(self.y, self.model(self.x, training=True)))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss

    def _generate(self):
        tf, tokens = self.tf, self.x
        for place in tf.range(GENERATED):
            words = tf.argmax(self.model(tokens)[:, place], -1, output_type=tf.int32)
            here = tf.one_hot(place + 1, tokens.shape[1], on_value=True, off_value=False, dtype=tf.bool)
            tokens = tf.where(here, words[:, None], tokens)
        return tokens


def setup(tf):
    calls = keras_calls(tf.keras)
    for name in MODELS:
        make = functools.cache(functools.partial(Loop, tf, name))
        for what, method in (("own loop in a tf.function", "own_loop"), ("eager step", "eager")):
            calls[f"{name}: {what}"] = later(make, method)
    calls[f"GPT: {GENERATED} words generated"] = later(functools.cache(functools.partial(Loop, tf, "GPT")), "generate")
    return dict(sorted(calls.items(), key=lambda item: list(MODELS).index(item[0].partition(": ")[0])))


def keras_calls(keras):
    calls = {}
    for name in MODELS:
        make = functools.cache(functools.partial(Model, keras, name))
        calls[f"{name}: train_on_batch"], calls[f"{name}: predict"] = later(make, "train"), later(make, "predict")
    return calls


def later(make, method):
    """Returns a call of a method of what is made at the first call."""
    return lambda: getattr(make(), method)()


def setup_torch(torch):
    return keras_calls(keras_on("torch"))


def setup_jax(jax):
    return keras_calls(keras_on("jax"))


def keras_on(backend):
    os.environ["KERAS_BACKEND"] = backend
    return importlib.import_module("keras")
