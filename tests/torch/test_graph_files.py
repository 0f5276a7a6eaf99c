"""Modules of TensorFlow 1's files."""

import runpy

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.__main__ import main

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


@pytest.fixture(params=[False, True], ids=["references", "resources"])
def files(request, tmp_path):
    """A folder with a frozen graph and a checkpoint, and the graph's results."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w = v1.get_variable("dense/w", initializer=X.T @ X, use_resource=request.param)
        scale = v1.get_variable("scale", initializer=2.0, trainable=False, use_resource=request.param)
        y = tf.nn.relu(tf.matmul(x, w) * scale, name="y")
        more = tf.cond(tf.reduce_sum(y) > 1e6, lambda: y, lambda: -y)
        tf.identity(more, name="z")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            results = session.run(["y:0", "z:0"], {x: X})
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
            (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
            v1.train.Saver().save(session, tmp_path / "model")
            v1.saved_model.simple_save(session, tmp_path / "saved", {"images": x}, {"output": y})
    return tmp_path, results


def test_frozen_graph(files):
    folder, (y, _) = files
    module = tf.torch.module(folder / "frozen.pb")
    assert module.input_names == ["x"]
    np.testing.assert_allclose(module(torch.from_numpy(X)), y, rtol=1e-5)


def test_checkpoint(files):
    folder, (y, z) = files
    module = tf.torch.module(folder / "model", outputs=["y:0", "z"])
    assert [n for n, _ in module.named_parameters()] == ["dense.w"]
    assert [n for n, _ in module.named_buffers()] == ["scale"]
    results = module(torch.from_numpy(X))
    np.testing.assert_allclose(results["y"].detach(), y, rtol=1e-5)
    np.testing.assert_allclose(results["z"].detach(), z, rtol=1e-5)
    results["y"].sum().backward()
    assert module.dense.w.grad.abs().sum() > 0


def test_results_are_what_nothing_uses(files):
    folder, (_, z) = files
    np.testing.assert_allclose(tf.torch.module(folder / "model.meta")(torch.from_numpy(X)).detach(), z, rtol=1e-5)


def test_saved_model(files):
    folder, (y, _) = files
    module = tf.torch.module(folder / "saved")
    assert module.input_names == ["images"]
    np.testing.assert_allclose(module(images=torch.from_numpy(X))["output"].detach(), y, rtol=1e-5)


def test_command(files, capsys):
    folder, _ = files
    arguments = ["convert", str(folder / "model"), "--to", "torch", "--outputs", "y", "--output", str(folder / "out")]
    assert main(arguments) == 0, capsys.readouterr().err
    assert main(["convert", str(folder / "frozen.pb"), "--to", "pt2", "--output", str(folder / "out.pt2")]) == 0


class Cell:
    """A recurrent cell without an input matrix."""

    output_size = state_size = 3

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 3], dtype)

    def __call__(self, inputs, state):
        state = tf.tanh(inputs + state @ v1.get_variable("w", [3, 3]))
        return state, state


def test_sequences_of_unknown_length(tmp_path, capsys):
    """A recurrent layer in two directions, as TensorFlow 1 writes it."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, None, 3], name="x")
        n = v1.placeholder(tf.int32, [None], name="n")
        both, _ = v1.nn.bidirectional_dynamic_rnn(Cell(), Cell(), x, n, dtype=tf.float32)
        tf.concat(both, -1, name="y")
        session.run(v1.global_variables_initializer())
        frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        inputs = np.stack([X, X[::-1], X * 2.0]), np.array([4, 1, 3], np.int32)
        wanted = session.run("y:0", dict(zip([x, n], inputs, strict=True)))
    (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
    arguments = ["convert", str(tmp_path / "frozen.pb"), "--to", "pt2", "--output", str(tmp_path / "out.pt2")]
    assert main(arguments) == 0, capsys.readouterr().err
    exported = torch.export.load(tmp_path / "out.pt2").module()
    np.testing.assert_allclose(exported(*map(torch.from_numpy, inputs)), wanted, rtol=1e-5, atol=1e-6)


def test_what_is_missing(files):
    folder, _ = files
    with pytest.raises(ValueError, match="no operation 'none'"):
        tf.torch.module(folder / "model", outputs=["none"])
    with pytest.raises(OSError, match=r"none\.pb"):
        tf.torch.module(folder / "none.pb")
    (folder / "broken.pb").write_bytes(b"\xff\xfe")
    with pytest.raises(OSError, match="no GraphDef"):
        tf.torch.module(folder / "broken.pb")


def frozen(path, build):
    with tf.Graph().as_default() as graph:
        build()
        path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


@pytest.mark.parametrize("name", ["is_training", "batch_normalization_1/keras_learning_phase", "dropout/training"])
def test_inference_is_chosen_where_a_placeholder_decides(tmp_path, capsys, name):
    def build():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        training = v1.placeholder_with_default(True, [], name=name)
        doubles = v1.placeholder_with_default(True, [], name="doubles")
        x = tf.cond(doubles, lambda: x * 2.0, lambda: x)
        tf.identity(tf.cond(training, lambda: x + 100.0, lambda: x), name="y")

    path, x = frozen(tmp_path / "model.pb", build), torch.from_numpy(X)
    np.testing.assert_allclose(tf.torch.module(path, outputs=["y"])(x), X * 2.0)
    np.testing.assert_allclose(tf.torch.module(path, outputs=["y"], training=True)(x), X * 2.0 + 100.0)
    arguments = ["convert", str(path), "--to", "torch", "--outputs", "y", "--output", str(tmp_path / "out")]
    for more, added in ([], 0.0), (["--training"], 100.0):
        assert main([*arguments, *more]) == 0, capsys.readouterr().err
        model = runpy.run_path(tmp_path / "out" / "model.py")["Model"]()
        np.testing.assert_allclose(model(x), X * 2.0 + added)


def test_an_input_without_a_rank(tmp_path, capsys):
    path = frozen(tmp_path / "model.pb", lambda: tf.identity(v1.placeholder(tf.float32, name="x") * 2.0, name="y"))
    assert main(["convert", str(path), "--to", "torch"]) == 1
    assert "model.pb: the input 'x' has no static rank: give its placeholder" in capsys.readouterr().err
