"""The commands `tapeflow convert` and `tapeflow show`: what they write and return."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.torch.commands import convert_command, show_command


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    layer = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    layer.save(folder / "model.keras")
    layer.export(folder / "saved", verbose=False)
    np.savez(folder / "inputs.npz", np.ones([4, 2], np.float32))
    return folder


@pytest.mark.parametrize("name", ["model.keras", "saved"])
@pytest.mark.parametrize("kind", ["torch", "tflite"])
def test_status_says_whether_the_difference_is_tolerated(model, name, kind, capsys):
    arguments = [str(model / name), "--to", kind]
    assert convert_command(arguments) == 0
    written = model / (name.removesuffix(".keras") + {"torch": "_torch", "tflite": ".tflite"}[kind])
    assert written.exists() and str(written) in capsys.readouterr().out
    other = model / f"{name}-{kind}"
    assert convert_command([*arguments, "--tolerance", "-1", "--output", str(other)]) == 1
    assert other.exists() and str(other) in capsys.readouterr().out
    assert convert_command([*arguments, "--inputs", str(model / "inputs.npz"), "--tolerance", "0.01"]) == 0


@pytest.mark.parametrize("command", [show_command, lambda a: convert_command([*a, "--to", "torch"]),
                                     lambda a: convert_command([*a, "--to", "tflite"])])  # fmt: skip
@pytest.mark.parametrize("name", ["none", "none.keras", "none.h5"])
def test_status_of_a_missing_model(command, name, tmp_path, capsys):
    assert command([str(tmp_path / name)]) == 1
    assert str(tmp_path / name) in capsys.readouterr().err


def test_show(model, capsys):
    for name, text in (("model.keras", "dense"), ("saved", "serving_default")):
        assert show_command([str(model / name)]) == 0
        assert text in capsys.readouterr().out
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(str(model / "checkpoint"))
    assert show_command([path]) == 0
    assert "v  float32  (2,)" in capsys.readouterr().out
