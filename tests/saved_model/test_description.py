"""`tapeflow show` prints what is in SavedModels, checkpoints and Keras's files."""

import pytest

import tapeflow as tf
from tapeflow.__main__ import main


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0]])

    @tf.function
    def call(self, x, scale=2):
        return tf.matmul(x, self.w) * scale


def test_a_saved_model(tmp_path, capsys):
    model = Model()
    call = model.call.get_concrete_function(tf.TensorSpec([None, 1], name="image"))
    tf.saved_model.save(model, tmp_path, signatures=call)
    assert main(["show", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"SavedModel {tmp_path}, tags serve, written by TensorFlow 2.21.0",
        "  signature serving_default",
        "    input image  float32  (None, 1)",
        "    output output_0  float32  (None, 2)",
        "  function call(x, scale): 1 trace",
        "  1 variables with 2 values, 8 bytes",
        "    w  float32  (1, 2)",
    ]


def test_other_files(tmp_path, capsys):
    path = tf.train.Checkpoint(model=Model()).write(str(tmp_path / "ckpt"))
    assert main(["show", path]) == 0
    assert capsys.readouterr().out == (
        f"Checkpoint {path}\n  1 variables with 2 values, 8 bytes\n    model/w  float32  (1, 2)\n"
    )
    keras = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    keras.save(tmp_path / "model.keras")
    assert main(["show", str(tmp_path / "model.keras")]) == 0
    assert "Total params: 8" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nothing", "nothing.keras"])
def test_no_file(name, tmp_path, capsys):
    assert main(["show", str(tmp_path / name)]) == 1
    assert capsys.readouterr().err.startswith(f"tapeflow show: {tmp_path / name}: ")
