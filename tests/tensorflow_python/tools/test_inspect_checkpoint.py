"""What `inspect_checkpoint` prints; the texts are those of TensorFlow 2.21."""

import argparse

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.tools import inspect_checkpoint


@pytest.fixture
def path(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("weights", initializer=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        v1.get_variable("bias", initializer=tf.constant([7, 8], tf.int64))
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path / "model"))


BIAS, WEIGHTS = "tensor: bias (int64) [2]\n", "tensor: weights (float32) [2, 3]\n"
BIAS_VALUES, WEIGHTS_VALUES = "[7 8]\n", "[[1. 2. 3.]\n [4. 5. 6.]]\n"
COUNT = "# Total number of params: 8\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((None, True), BIAS + BIAS_VALUES + WEIGHTS + WEIGHTS_VALUES + COUNT),
        ((None, False, True), BIAS + WEIGHTS + COUNT),
        (("bias", False), BIAS + BIAS_VALUES + COUNT),
        (("no", False), "Tensor no not found in checkpoint\n"),
        (("", False), "bias (DT_INT64) [2]\nweights (DT_FLOAT) [2,3]\n\n" + COUNT),
        (
            ("bias", False, False, "wei"),
            BIAS + BIAS_VALUES + "# Excluding 1 tensors (6 params) that match wei when counting.\n"
            "# Total number of params: 2\n",
        ),
    ],
)
def test_printed_tensors(path, arguments, expected, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file(path, *arguments)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("ending", [".meta", ".data-00000-of-00001", "-2.index"])
def test_names_of_files_are_no_checkpoints(path, ending, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file(path + ending, None, True)
    printed = capsys.readouterr().out
    assert "has no ending" in printed and f"Try --file_name={path}" in printed and "tensor:" not in printed


def test_files_that_are_not_there(tmp_path, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file(str(tmp_path / "no.thing"), None, True)
    printed = capsys.readouterr().out
    assert printed and "Try --file_name" not in printed


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["inspect_checkpoint", *arguments])
    with pytest.raises(SystemExit) as exit:
        inspect_checkpoint.main()
    return exit.value.code


def test_the_command(path, monkeypatch, capsys):
    assert run(monkeypatch, "--file_name", path, "--all_tensors") == 0
    assert capsys.readouterr().out == BIAS + BIAS_VALUES + WEIGHTS + WEIGHTS_VALUES + COUNT
    assert run(monkeypatch, f"--file_name={path}", "--all_tensor_names", "--count_exclude_pattern=bias") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(BIAS + WEIGHTS) and printed.endswith("# Total number of params: 6\n")
    assert run(monkeypatch, f"--file_name={path}", "--tensor_name=weights") == 0
    assert capsys.readouterr().out == WEIGHTS + WEIGHTS_VALUES + COUNT
    assert run(monkeypatch) == 1
    assert capsys.readouterr().out.startswith("usage: inspect_checkpoint")
    with np.printoptions():
        assert (
            run(monkeypatch, f"--file_name={path}", "--all_tensors", "--printoptions", "threshold=2", "edgeitems=1")
            == 0
        )
    assert "[7 8]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [("threshold=100", "threshold", 100), ("suppress=true", "suppress", True), ("suppress=0", "suppress", False),
     ("nanstr=N=N", "nanstr", "N=N"), ("linewidth=40", "linewidth", 40), ("suppress=1", "suppress", True)],
)  # fmt: skip
def test_options_of_printing(text, name, value):
    with np.printoptions():
        inspect_checkpoint.parse_numpy_printoption(text)
        assert np.get_printoptions()[name] == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threshold", "'threshold' is not in the form k=v."),
        ("=3", "'=3' is not in the form k=v."),
        ("nothing=3", "'nothing' is not a valid printoption."),
        ("formatter=3", "Setting 'formatter' from the command line is not supported."),
        ("threshold=many", "invalid literal for int"),
    ],
)
def test_options_that_are_refused(text, message):
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        inspect_checkpoint.parse_numpy_printoption(text)
