"""Models as files for torch and ONNX Runtime."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.__main__ import main

PROGRAM = """
import sys
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

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def decides(x):
        return tf.zeros(tf.cast(x, tf.int32)) + tf.boolean_mask(tf.ones([1]), tf.reduce_sum(x, keepdims=True) > 0.0)

    with pytest.raises(TypeError, match=r"torch.export can't trace the model at the line\n.* = "):
        tf.torch.convert(decides, "torch", tmp_path)
    with pytest.raises(ValueError, match="no format"):
        tf.torch.convert(decides, "tflite", tmp_path)
