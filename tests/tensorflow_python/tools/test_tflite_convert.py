"""`tflite_convert` writes files with `tf.lite.TFLiteConverter`."""

import importlib.util

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.tensorflow_python.tools import tflite_convert


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["tflite_convert", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit:
        tflite_convert.main()
    return exit.value.code


@pytest.fixture
def saved(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": x * 2.0}, input_signature=[tf.TensorSpec([1, 3], name="x")])
    tf.saved_model.save(module, tmp_path / "model", signatures=module.f)
    return tmp_path / "model"


def test_a_file_for_the_runtime(saved, tmp_path, monkeypatch):
    pytest.importorskip("ai_edge_litert")
    path = tmp_path / "model.tflite"
    assert run(monkeypatch, "--saved_model_dir", saved, "--output_file", path) == 0
    runner = tf.lite.Interpreter(str(path)).get_signature_runner()
    np.testing.assert_allclose(runner(x=np.ones([1, 3], np.float32))["y"], [[2.0, 2.0, 2.0]])


def test_what_it_needs_is_said(saved, tmp_path, monkeypatch, capsys):
    if importlib.util.find_spec("ai_edge_litert") is not None:
        pytest.skip("the extra is installed")
    assert run(monkeypatch, "--saved_model_dir", saved, "--output_file", tmp_path / "model.tflite") == 1
    assert "pip install 'tapeflow[tflite]'" in capsys.readouterr().err
    assert run(monkeypatch, "--output_file", tmp_path / "model.tflite") == 2
    assert "one of the arguments --saved_model_dir --keras_model_file is required" in capsys.readouterr().err
