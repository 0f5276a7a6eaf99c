"""Quantized files, behind TensorFlow's options."""

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("ai_edge_quantizer")

from lite_runtime import codes, run

rng = np.random.default_rng(0)
X = rng.standard_normal([16, 8, 8, 3]).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input([8, 8, 3], name="image"), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
            layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10, activation="softmax"),
        ]
    )  # fmt: skip


def converter_of(model, **options):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    for name, value in options.items():
        setattr(converter, name, value)
    return converter


def samples():
    for i in range(len(X)):
        yield [X[i : i + 1]]


DEFAULT = [tf.lite.Optimize.DEFAULT]
INT8 = tf.lite.TargetSpec([tf.lite.OpsSet.TFLITE_BUILTINS_INT8])


def difference(model, content):
    want = model(X).numpy()
    return np.abs(run(content, X)[0] - want).max() / np.abs(want).max()


def test_weights_in_int8(model):
    plain, small = converter_of(model).convert(), converter_of(model, optimizations=DEFAULT).convert()
    assert len(small) < 0.35 * len(plain)
    assert 0 < difference(model, small) < 0.02


def test_small_weights_stay_in_float():
    model = tf.keras.Sequential([tf.keras.Input([16]), tf.keras.layers.Dense(63)])
    plain, small = converter_of(model).convert(), converter_of(model, optimizations=DEFAULT).convert()
    assert len(small) >= len(plain) - 64


def test_weights_in_float16(model):
    plain = converter_of(model).convert()
    spec = tf.lite.TargetSpec(supported_types=[tf.float16])
    small = converter_of(model, optimizations=DEFAULT, target_spec=spec).convert()
    assert len(small) < 0.6 * len(plain)
    assert 0 < difference(model, small) < 1e-3


@pytest.mark.parametrize(
    "data", [samples, tf.lite.RepresentativeDataset(samples), lambda: ({"image": X[i : i + 4]} for i in (0, 4, 8))]
)
def test_activations_in_int8(model, data):
    content = converter_of(model, optimizations=DEFAULT, representative_dataset=data).convert()
    assert difference(model, content) < 0.02
    assert codes(content)["QUANTIZE"] == 1 and codes(content)["DEQUANTIZE"] == 1


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8])
def test_integer_inputs_and_outputs(model, dtype):
    content = converter_of(
        model, optimizations=DEFAULT, representative_dataset=samples, target_spec=INT8, inference_input_type=dtype,
        inference_output_type=dtype,
    ).convert()  # fmt: skip
    interpreter = tf.lite.Interpreter(model_content=content)
    (entry,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    assert entry["dtype"] == result["dtype"] == dtype.as_numpy_dtype
    scale, zero = entry["quantization"]
    limits = np.iinfo(entry["dtype"])
    quantized = np.clip(np.round(X / scale + zero), limits.min, limits.max).astype(entry["dtype"])
    interpreter.resize_tensor_input(entry["index"], X.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(entry["index"], quantized)
    interpreter.invoke()
    scale, zero = result["quantization"]
    got = (interpreter.get_tensor(result["index"]).astype(np.float32) - zero) * scale
    assert np.abs(got - model(X).numpy()).max() < 0.02


def test_probabilities_keep_their_precision():
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input([64]), layers.Dense(64), layers.Dense(2000, activation="softmax")])
    x = rng.standard_normal([16, 64]).astype(np.float32)
    data = {"optimizations": DEFAULT, "representative_dataset": lambda: ([x[i : i + 1]] for i in range(16))}
    want = model(x).numpy()
    got = run(converter_of(model, **data).convert(), x)[0]
    assert np.abs(got - want).max() < 0.1 * want.max() < 1 / 256  # below a step of int8
    integers = converter_of(model, **data, target_spec=INT8).convert()
    assert np.unique(run(integers, x)[0]).size < 5


def test_attention_keeps_its_precision():
    """Most weights of attention over many places are below a step of int8, too."""
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    inputs = tf.keras.Input([600, 8])
    outputs = layers.Dense(8)(layers.MultiHeadAttention(2, 16)(inputs, inputs))
    model = tf.keras.Model(inputs, outputs)
    x = rng.standard_normal([4, 600, 8]).astype(np.float32)
    data = {"optimizations": DEFAULT, "representative_dataset": lambda: ([x[i : i + 1]] for i in range(4))}
    want = model(x).numpy()
    errors = [
        np.abs(run(converter_of(model, **data, **kept).convert(), x)[0] - want).max() / np.abs(want).max()
        for kept in ({}, {"target_spec": INT8})
    ]
    assert errors[0] < 0.05 < errors[1]


def test_loops_stay_in_float():
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input([8, 24]), layers.LSTM(32), layers.Dense(64), layers.Dense(10)])
    x = X.reshape(16, 8, 24)
    content = converter_of(
        model, optimizations=DEFAULT, representative_dataset=lambda: ([x[i : i + 1]] for i in range(16))
    ).convert()
    want = model(x).numpy()
    assert np.abs(run(content, x)[0] - want).max() < 0.02 * np.abs(want).max()


def test_options_that_do_not_fit(model):
    with pytest.raises(ValueError, match="a `representative_dataset` must be specified"):
        converter_of(model, optimizations=DEFAULT, target_spec=INT8).convert()
    with pytest.raises(ValueError, match=r"The inference_input_type must be in tf\.float32, not tf\.int8"):
        converter_of(model, inference_input_type=tf.int8).convert()
    with pytest.raises(ValueError, match="The representative dataset has no samples"):
        converter_of(model, optimizations=DEFAULT, representative_dataset=lambda: iter([])).convert()
    with pytest.raises(ValueError, match="has 2 arrays, and the model takes 1: image"):
        converter_of(model, optimizations=DEFAULT, representative_dataset=lambda: iter([[X, X]])).convert()
