"""Inputs that the flags of `saved_model_cli` name; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.tools import saved_model_cli as cli


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "x.npy", np.array([1, 2]))
    np.savez(tmp_path / "one.npz", a=np.array([3.0]))
    np.savez(tmp_path / "two.npz", a=np.array([3.0]), b=np.array([[4.0]]))
    (tmp_path / "text").write_text("no array")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("x=a.npy", {"x": ("a.npy", None)}),
        ("x=a.npz[name];y=/b/c.npy;", {"x": ("a.npz", "name"), "y": ("/b/c.npy", None)}),
    ],
)
def test_files_of_inputs(text, expected):
    assert cli.preprocess_inputs_arg_string(text) == expected


@pytest.mark.parametrize("text", ["x", "x=", "=a", "x=a[", "x=[a]", "x=a[b]c"])
def test_inputs_of_another_form(text):
    with pytest.raises(
        RuntimeError, match=r'--inputs ".*" format is incorrect. Please follow"<input_key>=<filename>", or'
    ):
        cli.preprocess_inputs_arg_string(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}), ("x=[[1.0, 2]]", {"x": [[1.0, 2]]}), ("x= 'a=b';y=(1, None)", {"x": "a=b", "y": (1, None)}),
    ],
)  # fmt: skip
def test_literals(text, expected):
    assert cli.preprocess_input_exprs_arg_string(text) == expected


@pytest.mark.parametrize(
    ("text", "safe", "message"),
    [
        ("x", True, r'--input_exprs "x" format is incorrect. Please follow"<input_key>=<python expression>"'),
        ("x=1;y", True, r'--input_exprs "x=1;y" format is incorrect'),
        ("x=open('a')", True, r"""Expression "open\('a'\)" is not a valid python literal."""),
        ("x=[", True, r'Expression "\[" is not a valid python literal.'),
        ("x=1", False, "TapeFlow evaluates only literals"),
    ],
)
def test_programs_are_not_run(text, safe, message):
    with pytest.raises(RuntimeError, match=message):
        cli.preprocess_input_exprs_arg_string(text, safe=safe)


def test_examples():
    text = "x=[{'f': [1.5, 2], 'i': [3, 4], 's': ['a', b'b'], 'empty': []}, {'i': [5]}]"
    found = cli.preprocess_input_examples_arg_string(text)
    assert list(found) == ["x"] and len(found["x"]) == 2
    first, second = (tf.train.Example.FromString(e).features.feature for e in found["x"])
    assert list(first["f"].float_list.value) == [1.5, 2.0] and list(first["i"].int64_list.value) == [3, 4]
    assert list(first["s"].bytes_list.value) == [b"a", b"b"] and list(second["i"].int64_list.value) == [5]
    assert "empty" in first and not list(first["empty"].float_list.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x={'a': [1]}", "tf.Example input must be a list of dictionaries, but \"{'a': \\[1\\]}\" is <class 'dict'>"),
        ("x=[{'a': 1}]", "feature value must be a list, but a: \"1\" is <class 'int'>"),
        ("x=[{'a': [None]}]", "Type <class 'NoneType'> for value None is not supported for tf.train.Feature"),
        ("x=[{'a': [(1,)]}]", r"Type <class 'tuple'> for value \(1,\) is not supported for tf.train.Feature"),
    ],
)
def test_examples_of_another_form(text, message):
    with pytest.raises(ValueError, match=message):
        cli.preprocess_input_examples_arg_string(text)


def test_arrays_of_files(files):
    def load(text):
        return {k: np.asarray(v).tolist() for k, v in cli.load_inputs_from_input_arg_string(text, "", "").items()}

    assert load(f"x={files}/x.npy") == {"x": [1, 2]}
    assert load(f"x={files}/x.npy[ignored]") == {"x": [1, 2]}
    assert load(f"x={files}/one.npz;y={files}/two.npz[b]") == {"x": [3.0], "y": [[4.0]]}
    with pytest.raises(
        RuntimeError, match=r"two.npz contains more than one ndarrays. Please specify the name of ndarray"
    ):
        load(f"x={files}/two.npz")
    with pytest.raises(RuntimeError, match=r'two.npz does not contain variable with name "c"'):
        load(f"x={files}/two.npz[c]")
    with pytest.raises(ValueError, match=r"text is not a .npy or .npz file. Pickles are not loaded: they run code."):
        load(f"x={files}/text")


def test_a_literal_comes_before_a_file_and_an_example_before_both(files):
    found = cli.load_inputs_from_input_arg_string(
        f"x={files}/x.npy;y={files}/x.npy", "x=[5];z=[6]", "z=[{'i': [7]}];w=[{'i': [8]}]"
    )
    assert sorted(found) == ["w", "x", "y", "z"] and found["x"] == [5] and found["y"].tolist() == [1, 2]
    assert tf.train.Example.FromString(found["z"][0]).features.feature["i"].int64_list.value[0] == 7


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("saved") / "model")
    module = tf.Module()
    module.f = tf.function(
        lambda x, y: {"b": x - y, "a": x + y},
        input_signature=[tf.TensorSpec([None], tf.float32, "x"), tf.TensorSpec([None], tf.float32, "y")],
    )
    tf.saved_model.save(module, path, signatures=module.f)
    return path


INPUTS = {"x": np.array([5.0, 7.0], np.float32), "y": np.array([1.0, 2.0], np.float32)}


def test_a_signature_is_called(model, tmp_path, capsys):
    cli.run_saved_model_with_feed_dict(model, "serve", "serving_default", INPUTS, None, False)
    assert capsys.readouterr().out == "Result for output key a:\n[6. 9.]\nResult for output key b:\n[4. 5.]\n"
    out = tmp_path / "new" / "out"
    for overwrite in (False, True):
        cli.run_saved_model_with_feed_dict(model, "serve", "serving_default", INPUTS, str(out), overwrite)
    assert f"Output b is saved to {out}/b.npy" in capsys.readouterr().out
    assert np.load(out / "a.npy").tolist() == [6.0, 9.0] and np.load(out / "b.npy").tolist() == [4.0, 5.0]
    with pytest.raises(RuntimeError, match=r'Output file .*a.npy already exists. Add "--overwrite" to overwrite'):
        cli.run_saved_model_with_feed_dict(model, "serve", "serving_default", INPUTS, str(out), False)


@pytest.mark.parametrize(
    ("tags", "signature", "inputs", "error", "message"),
    [
        ("serve", "no", INPUTS, ValueError, 'Could not find signature "no". Please choose from: .*serving_default'),
        ("serve", "serving_default", {"z": 1}, ValueError, '"z" is not a valid input key. Please choose from "'),
        ("no", "serving_default", INPUTS, RuntimeError, "MetaGraphDef associated with tag-set no could not be found"),
    ],
)
def test_signatures_that_are_not_there(model, tags, signature, inputs, error, message):
    with pytest.raises(error, match=message):
        cli.run_saved_model_with_feed_dict(model, tags, signature, inputs, None, False)


def main(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["saved_model_cli", *arguments])
    with pytest.raises(SystemExit) as exit:
        cli.main()
    return exit.value.code


@pytest.mark.parametrize("flag", ["init_tpu", "use_tfrt", "tf_debug"])
def test_flags_that_are_not_supported(flag, monkeypatch, capsys, model):
    run = ("run", "--dir", model, "--tag_set", "serve", "--signature_def", "serving_default")
    inputs = ("--input_exprs", "x=[1.0];y=[2.0]")
    assert main(monkeypatch, *run, *inputs, f"--{flag}") == 1
    assert f"RuntimeError: --{flag} is not supported." in capsys.readouterr().err
    assert main(monkeypatch, *run, *inputs, f"--{flag}=false") == 0
    assert capsys.readouterr().out == "Result for output key a:\n[3.]\nResult for output key b:\n[-1.]\n"
    assert main(monkeypatch, *run) == 1
    assert "At least one of --inputs, --input_exprs or --input_examples must be required" in capsys.readouterr().err


def test_scans_of_a_list(monkeypatch, capsys, model):
    assert main(monkeypatch, "scan", "--dir", model, "--op_denylist", "Sub,Conv2D") == 0
    assert "contains the following denylisted ops: {'Sub'}" in capsys.readouterr().out
    assert main(monkeypatch, "scan", "--dir", model, "--tag_set", "serve", "--op_denylist", "Conv2D") == 0
    assert "does not contain the default denylisted ops: {'Conv2D'}" in capsys.readouterr().out


def test_ops_of_functions_that_are_called():
    @tf.function
    def inner(x):
        return tf.square(x)

    with tf.Graph().as_default() as graph:
        inner(tf.constant(2.0)) + 1.0
    used = cli.used_ops(graph.as_graph_def())
    assert {"Square", "AddV2", "Const"} <= used and not any(name.startswith("__inference") for name in used)
