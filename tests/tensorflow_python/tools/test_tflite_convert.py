"""`tflite_convert` writes files with `tf.lite.TFLiteConverter`."""

import importlib.util
import types

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


class Converter:
    """Stands for `tf.lite.TFLiteConverter`: keeps what it is told."""

    made: list = []  # noqa: RUF012

    def __init__(self, *source):
        self.source, self.optimizations, self.inference_input_type, self.inference_output_type = source, [], None, None
        self.target_spec = types.SimpleNamespace(supported_types=[], supported_ops=None)
        self.made.append(self)

    @classmethod
    def from_saved_model(cls, path, signature_keys, tags):
        return cls("saved", path, signature_keys, tags)

    @classmethod
    def from_keras_model(cls, model):
        return cls("keras", model)

    def convert(self):
        return b"converted"


@pytest.fixture
def convert(monkeypatch, tmp_path):
    lite = types.SimpleNamespace(TFLiteConverter=Converter, Optimize=tf.lite.Optimize, OpsSet=tf.lite.OpsSet)
    models = types.SimpleNamespace(load_model=lambda path, compile: (path, compile))
    stand_in = types.SimpleNamespace(
        lite=lite, keras=types.SimpleNamespace(models=models), dtypes=tf.dtypes, float16=tf.float16
    )
    monkeypatch.setattr(tflite_convert, "load", lambda name: stand_in)

    def convert(*arguments):
        assert run(monkeypatch, "--output_file", tmp_path / "out", *arguments) == 0
        assert (tmp_path / "out").read_bytes() == b"converted"
        return Converter.made.pop()

    return convert


def test_models_of_both_kinds(convert):
    plain = convert("--saved_model_dir", "folder")
    assert plain.source == ("saved", "folder", None, ["serve"])
    assert (plain.optimizations, plain.allow_custom_ops, plain.inference_input_type) == ([], False, None)
    assert plain.target_spec.supported_types == [] and plain.target_spec.supported_ops is None
    options = ("--saved_model_tag_set", "a, b", "--saved_model_signature_key", "key", "--allow_custom_ops")
    other = convert("--saved_model_dir", "folder", *options)
    assert other.source == ("saved", "folder", ["key"], ["a", "b"]) and other.allow_custom_ops is True
    assert convert("--keras_model_file", "model.keras").source == ("keras", ("model.keras", False))


def test_flags_of_numbers(convert):
    model = ("--saved_model_dir", "folder")
    quantized = convert(*model, "--post_training_quantize")
    assert quantized.optimizations == [tf.lite.Optimize.DEFAULT] and quantized.target_spec.supported_types == []
    assert convert(*model, "--post_training_quantize", "--quantize_to_float16").target_spec.supported_types == [
        tf.float16
    ]
    assert convert(*model, "--quantize_to_float16").target_spec.supported_types == []
    for flag, dtype in (("QUANTIZED_UINT8", tf.uint8), ("INT8", tf.int8), ("FLOAT", tf.float32), ("uint8", tf.uint8)):
        found = convert(*model, "--inference_input_type", flag)
        assert (found.inference_input_type, found.inference_output_type) == (dtype, None)
    found = convert(*model, "--inference_type=int8", "--target_ops", "TFLITE_BUILTINS,SELECT_TF_OPS")
    assert (found.inference_input_type, found.inference_output_type) == (None, tf.int8)
    assert found.target_spec.supported_ops == [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
