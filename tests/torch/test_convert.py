"""Models as files for torch and ONNX Runtime."""

import os
import runpy
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.__main__ import main
from tapeflow.torch import sample_inputs

PROGRAM = """
import sys
import types
import numpy as np
import torch
from model import Model

x = torch.from_numpy(np.load("x.npy")).requires_grad_()
model = Model()
y = model(x)
y.sum().backward()
assert all(p.grad is not None for p in model.parameters())
assert not any(name.split(".")[0] in ("tapeflow", "tensorflow", "keras") for name in sys.modules)
np.save("y.npy", y.detach().numpy())
"""


@pytest.fixture(scope="module")
def model():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 3), name="image"),
            layers.Conv2D(4, 3, padding="same"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(3, activation="softmax"),
        ]
    )


@pytest.fixture(scope="module")
def keras_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.keras"
    model.save(path)
    return str(path)


def test_source_needs_torch_alone(model, keras_file, tmp_path, capsys):
    assert main(["convert", keras_file, "--to", "torch", "--output", str(tmp_path)]) == 0
    assert "largest difference" in capsys.readouterr().out
    x = np.random.default_rng(0).random((5, 8, 8, 3), np.float32)
    np.save(tmp_path / "x.npy", x)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env={"PATH": "", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), model(x, training=False), rtol=1e-4, atol=1e-6)
    source = (tmp_path / "model.py").read_text()
    assert "def forward(self, image):" in source
    assert "torch.ops.aten.convolution.default(" in source


def test_exported_program(model, keras_file, tmp_path):
    path = tmp_path / "model.pt2"
    assert main(["convert", keras_file, "--to", "pt2", "--output", str(path)]) == 0
    x = torch.rand(5, 8, 8, 3)
    result = torch.export.load(path).module()(x)
    np.testing.assert_allclose(result.detach(), model(tf.torch.from_torch(x), training=False), rtol=1e-4, atol=1e-6)


def test_onnx(model, keras_file, tmp_path):
    pytest.importorskip("onnxscript")
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    assert main(["convert", keras_file, "--to", "onnx", "--output", str(path)]) == 0
    x = np.random.default_rng(0).random((5, 8, 8, 3), np.float32)
    (result,) = onnxruntime.InferenceSession(path).run(None, {"image": x})
    np.testing.assert_allclose(result, model(x, training=False), rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs a C++ compiler")
def test_package_of_compiled_code(tmp_path):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    module = tf.torch.module(tf.function(lambda x: tf.nn.relu(x @ w)), tf.TensorSpec([None, 2]))
    assert tf.torch.convert(module, "aoti", tmp_path / "model.pt2") < 1e-5
    x = torch.rand(5, 2)
    result = torch._inductor.aoti_load_package(str(tmp_path / "model.pt2"))(x)
    np.testing.assert_allclose(result, torch.relu(x @ module.w.detach()), rtol=1e-5)


def test_saved_model_and_structures(tmp_path):
    module = tf.Module()
    module.w = tf.Variable([[1.0], [2.0]], name="scope/w")
    module.table = tf.constant([1, 0, 2], tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int32)])
    def f(x, i):
        rows = tf.shape(x)[0]
        return {"y": tf.reshape(x @ module.w, [rows]), "z": tf.gather(module.table, i)}

    tf.saved_model.save(module, tmp_path / "saved", signatures=f)
    assert tf.torch.convert(tmp_path / "saved", "torch", tmp_path / "out") == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["model.py", "weights.safetensors"]


def test_failures_are_said(tmp_path, capsys):
    assert main(["convert", str(tmp_path / "none.keras"), "--to", "torch"]) == 1
    assert "there is no model" in capsys.readouterr().err
    (tmp_path / "a.onnx").write_bytes(b"")
    assert main(["convert", str(tmp_path / "a.onnx"), "--to", "torch"]) == 1
    assert "tapeflow -m onnx2tf -i FILE" in capsys.readouterr().err

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def decides(x):
        return tf.zeros(tf.cast(x, tf.int32)) + tf.boolean_mask(tf.ones([1]), tf.reduce_sum(x, keepdims=True) > 0.0)

    with pytest.raises(TypeError, match=r"torch.export can't trace the model at the line\n.* = "):
        tf.torch.convert(decides, "torch", tmp_path, [torch.ones(2)])
    with pytest.raises(ValueError, match="no format"):
        tf.torch.convert(decides, "tflite", tmp_path)


# ---- checks ----------------------------------------------------------------------------------------------------------


def sequences(*layers):
    return tf.keras.Sequential([tf.keras.Input((None, 4)), *layers])


@pytest.mark.parametrize("to", ["torch", "pt2", "onnx"])
def test_samples_are_long_enough_for_the_model(tmp_path, to):
    if to == "onnx":
        pytest.importorskip("onnxscript")
    layers = tf.keras.layers
    model = sequences(layers.Conv1D(2, 3, padding="same"), layers.Cropping1D(50), layers.Dense(3))
    path = tmp_path / f"model.{to}"
    assert tf.torch.convert(model, to, path) < 1e-5
    x = np.random.default_rng(0).random((2, 111, 4), np.float32)
    if to == "onnx":
        import onnxruntime

        (result,) = (session := onnxruntime.InferenceSession(path)).run(None, {session.get_inputs()[0].name: x})
    else:
        module = torch.export.load(path).module() if to == "pt2" else runpy.run_path(path / "model.py")["Model"]()
        result = module(torch.from_numpy(x)).detach().numpy()
    assert result.shape == (2, 11, 3)
    np.testing.assert_allclose(result, model(x), rtol=1e-4, atol=1e-5)


def test_a_part_that_is_empty_for_short_samples(tmp_path):
    f = tf.function(lambda x: tf.concat([x[:, :1], x[:, 50:] * 2.0], 1))
    tf.torch.convert(tf.torch.module(f, tf.TensorSpec([None, None])), "torch", tmp_path)
    x = torch.rand(2, 60)
    torch.testing.assert_close(
        runpy.run_path(tmp_path / "model.py")["Model"]()(x), torch.cat([x[:, :1], x[:, 50:] * 2], 1)
    )


@pytest.mark.parametrize("layer", [
    tf.keras.layers.Conv2D(2, 3, strides=2, padding="same"), tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.MaxPooling2D(3, 2, padding="same"), tf.keras.layers.AveragePooling2D(3, 2, padding="same"),
    tf.keras.layers.Conv2DTranspose(2, 3, strides=2, padding="same"), tf.keras.layers.UpSampling2D(2),
    tf.keras.layers.DepthwiseConv2D(3, strides=2, padding="same"),
], ids=lambda layer: layer.name)  # fmt: skip
def test_images_of_odd_and_even_sizes(tmp_path, layer):
    model = tf.keras.Sequential([tf.keras.Input((None, None, 3)), layer])
    tf.torch.convert(model, "torch", tmp_path)
    converted = runpy.run_path(tmp_path / "model.py")["Model"]()
    for height, width in [(5, 8), (8, 5), (16, 17), (4, 4)]:
        x = np.random.default_rng(0).random((2, height, width, 3), np.float32)
        result = converted(torch.from_numpy(x)).detach()
        np.testing.assert_allclose(result, model(x), rtol=1e-4, atol=1e-5)


def test_checks_that_say_nothing_are_errors(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def empty(x):
        return {"all": x, "some": tf.boolean_mask(x, x[:, 0] > 2.0)}

    with pytest.raises(ValueError, match=r"output 1 is empty for inputs of shapes \[4, 3\].*Pass sample inputs"):
        tf.torch.convert(empty, "torch", tmp_path)
    with pytest.raises(ValueError, match=r"output 0 is NaN everywhere"):
        tf.torch.convert(tf.torch.module(tf.function(lambda x: tf.sqrt(-1.0 - x)), tf.TensorSpec([2])), "pt2", tmp_path)
    with pytest.raises(ValueError, match=r"output 0 is empty for inputs of shapes \[0, 3\]"):
        tf.torch.convert(
            tf.torch.module(tf.function(lambda x: x + 1.0), tf.TensorSpec([None, 3])), "pt2", tmp_path / "m.pt2",
            [torch.rand(0, 3)],
        )  # fmt: skip


def test_one_row_as_the_sample_leaves_the_batch_open(tmp_path):
    module = tf.torch.module(tf.function(lambda x: tf.nn.softmax(x)), tf.TensorSpec([None, 3]))
    tf.torch.convert(module, "pt2", tmp_path / "model.pt2", [torch.rand(1, 3)])
    assert torch.export.load(tmp_path / "model.pt2").module()(torch.rand(5, 3)).shape == (5, 3)


def test_differences():
    nan, inf = float("nan"), float("inf")

    def difference(expected, result):
        sample = sample_inputs.Sample([], [torch.tensor(expected)])
        return sample_inputs.largest_difference(lambda _: [torch.tensor(result)], [sample])

    assert difference([1.0, nan, inf], [1.5, nan, inf]) == 0.5
    assert difference([1.0, 2.0], [1.0, nan]) == inf
    assert difference([1.0, nan], [1.0, 2.0]) == inf
    with pytest.raises(TypeError, match=r"of shape \[2\] instead of \[1\]"):
        difference([1.0], [1.0, 1.0])

    def fail(_):
        raise AssertionError("Guard failed: x.size()[0] <= 49")

    with pytest.raises(TypeError, match=r"fails for inputs of shapes \[60\], which the model takes \(Guard failed"):
        sample_inputs.largest_difference(fail, [sample_inputs.Sample([torch.ones(60)], [torch.ones(1)])])


# ---- models that check and print -------------------------------------------------------------------------------------


class Checking(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def __call__(self, x):
        tf.debugging.assert_greater(x, -1.0, message="too small")
        tf.Assert(tf.reduce_all(x < 9.0), ["too large", x])
        if tf.reduce_any(x > 8.0):
            tf.print("large", x)
        tf.print("x is", x, "of", tf.shape(x))
        return x * 2.0


@pytest.mark.parametrize("to", ["torch", "onnx"])
def test_checks_and_printing_are_left_out(tmp_path, to, capsys, caplog):
    if to == "onnx":
        pytest.importorskip("onnxscript")
    model = Checking()
    tf.saved_model.save(model, tmp_path / "saved", signatures=model.__call__)
    path = tmp_path / f"model.{to}"
    assert main(["convert", str(tmp_path / "saved"), "--to", to, "--output", str(path)]) == 0, capsys.readouterr().err
    assert "leaves out what only checks, prints or records: Assert (Assert), Assert (Assert_1)" in caplog.text
    if to == "torch":
        source = (path / "model.py").read_text().partition("def forward")[2]
        assert "return" in source and source.count("\n") <= 6


def test_inputs_of_a_model_of_keras_2():
    class Model:  # what is used of one
        name, inputs, trainable_variables = "model", [], []

        def get_config(self):
            return {}

        def __call__(self, x, training):
            return x + (1.0 if training else 2.0)

    model, tensor = Model(), types.SimpleNamespace(shape=[None, 3], dtype="float32")
    tensor._keras_history = types.SimpleNamespace(layer=types.SimpleNamespace(name="image"))
    model.inputs = [tensor]
    module = tf.torch.module(model).eval()
    assert module.input_names == ["image"]
    assert module(torch.zeros(1, 3)).tolist() == [[2.0, 2.0, 2.0]]


@pytest.mark.parametrize(("format", "name"), [("onnx", "model.onnx"), ("torch", "model.pt2")])
def test_export_of_keras(model, format, name, tmp_path, capsys):
    path = tmp_path / name
    model.export(path, format=format)
    assert capsys.readouterr().out.endswith(f"Saved artifact at '{path}'.\n")
    images = np.random.default_rng(0).random([3, 8, 8, 3], np.float32)
    if format == "onnx":
        session = pytest.importorskip("onnxruntime").InferenceSession(str(path))
        result = session.run(None, {session.get_inputs()[0].name: images})[0]
    else:
        result = torch.export.load(str(path)).module()(torch.from_numpy(images)).detach().numpy()
    np.testing.assert_allclose(result, model.predict(images, verbose=0), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="takes no strict"):
        model.export(path, format=format, strict=True)


def test_export_of_keras_with_several_inputs_and_versions(tmp_path):
    onnx = pytest.importorskip("onnx")
    a, b = tf.keras.Input((4,), name="a"), tf.keras.Input((2,), name="b")
    model = tf.keras.Model({"a": a, "b": b}, tf.keras.layers.concatenate([a, b]) * 2.0)
    model.export(tmp_path / "m.onnx", format="onnx", opset_version=18, verbose=False)
    written = onnx.load(tmp_path / "m.onnx")
    assert [tensor.name for tensor in written.graph.input] == ["a", "b"]
    assert [opset.version for opset in written.opset_import if not opset.domain] == [18]
    with pytest.raises(ValueError, match=r"end with '\.pt2'"):
        model.export(tmp_path / "m.torch", format="torch")


def test_a_missing_extra_is_said(keras_file, tmp_path, monkeypatch, capsys):
    converting = sys.modules["tapeflow.torch.convert"]
    monkeypatch.setattr(converting, "find_spec", lambda name: None if name == "onnxscript" else object())
    assert main(["convert", keras_file, "--to", "onnx", "--output", str(tmp_path / "m.onnx")]) == 1
    assert capsys.readouterr().err.endswith("ONNX needs onnxscript: pip install 'tapeflow[onnx]'\n")
    assert not (tmp_path / "m.onnx").exists()
