"""The command-line tools print and write what TensorFlow's do: `scripts/record.py command_line` recorded it."""

import importlib
import json
import pathlib
import re
import shutil

import numpy as np
import pytest

import tapeflow as tf

FIXTURES = pathlib.Path(__file__).parents[2] / "fixtures"
RECORDED = json.loads((FIXTURES / "command_line" / "outputs.json").read_text())
GRAPH = str(FIXTURES / "command_line" / "graph")


@pytest.fixture(autouse=True, scope="module")
def hosted():
    tf.install_as_tensorflow()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the models and inputs of the recorded commands, which leave files there."""
    path = tmp_path_factory.mktemp("models")
    for home in ("command_line/model", "saved_model", "v1_saved_model"):
        shutil.copytree(FIXTURES / home, path / pathlib.Path(home).name)
    np.save(path / "x.npy", np.ones([2, 2], np.float32))
    np.savez(path / "x.npz", a=np.zeros([1, 2]), b=np.arange(4.0).reshape(2, 2))
    return path


def tool(name):
    return importlib.import_module(f"tensorflow.python.tools.{name}")


def run(monkeypatch, name, *arguments):
    """Runs the `main` of a tool, and returns the exit status."""
    monkeypatch.setattr("sys.argv", [name, *arguments])
    with pytest.raises(SystemExit) as exit:
        tool(name).main()
    return exit.value.code or 0


def in_order(text):
    """Text with the members of printed sets, names after "choose from", and traces of a function in one order."""
    functions = text.split("\n  Function Name: ")
    for i, function in enumerate(functions):
        first, *traces = re.split(r"    Option #\d+\n", function.rstrip())
        functions[i] = "    Option\n".join([first, *sorted(trace.rstrip() for trace in traces)])
    text = "\n".join(functions)
    text = re.sub(r"\{('\w+'(, '\w+')*)\}", lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}", text)
    return re.sub(r"(?<=choose from: )\w+(, \w+)*", lambda m: ", ".join(sorted(m[0].split(", "))), text)


@pytest.mark.parametrize("number", range(len(RECORDED["saved_model_cli"])))
def test_saved_model_cli(number, folder, monkeypatch, capsys):
    arguments, output, error, status = RECORDED["saved_model_cli"][number]
    monkeypatch.chdir(folder)
    shutil.rmtree("out", ignore_errors=True)
    if "already exists" in error:
        run(monkeypatch, "saved_model_cli", *arguments)
        capsys.readouterr()
    assert run(monkeypatch, "saved_model_cli", *arguments) == status
    printed = capsys.readouterr()
    assert in_order(printed.out) == in_order(output)
    last = printed.err.strip().removeprefix("saved_model_cli: ").removesuffix("/{saved_model.pbtxt|saved_model.pb}")
    assert in_order(last) == in_order(error)


def test_saved_model_cli_says_what_it_can_not_do(monkeypatch, capsys, tmp_path):
    assert run(monkeypatch, "saved_model_cli", "convert", "--dir", "x", "--output_dir", "y", "tensorrt") == 1
    assert "needs TensorRT, which is part of TensorFlow's binaries" in capsys.readouterr().err
    assert run(monkeypatch, "saved_model_cli", "show") == 2
    assert "required: --dir" in capsys.readouterr().err
    path = tmp_path / "x.pkl"
    path.write_bytes(b"\x80\x04cos\nsystem\n")
    flags = ("--tag_set", "serve", "--signature_def", "ints", "--inputs", f"i={path}")
    assert run(monkeypatch, "saved_model_cli", "run", "--dir", str(FIXTURES / "command_line/model"), *flags) == 1
    assert "Pickles are not loaded" in capsys.readouterr().err


def nodes(graph):
    return sorted([node.name, node.op, *node.input] for node in graph.node)


def values(graph_def):
    x = np.random.default_rng(0).normal(size=[2, 6, 6, 2]).astype("float32")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.graph_util.import_graph_def(graph_def, name="")
        return session.run("y:0", {"x:0": x})


@pytest.fixture(scope="module")
def frozen():
    return tool("freeze_graph").freeze_graph(
        f"{GRAPH}/graph.pb", "", True, f"{GRAPH}/values", "y", None, None, "", True, ""
    )


def test_freeze_graph(frozen):
    assert nodes(frozen) == RECORDED["graph"]["freeze_graph"]


def test_optimize_for_inference_keeps_the_values(frozen):
    optimize = tool("optimize_for_inference_lib").optimize_for_inference
    optimized = optimize(frozen, ["x"], ["y"], tf.float32.as_datatype_enum)
    assert nodes(optimized) == RECORDED["graph"]["optimize_for_inference"]
    np.testing.assert_allclose(values(optimized), values(frozen), rtol=1e-4, atol=1e-4)


def test_strip_unused(frozen):
    strip = tool("strip_unused_lib").strip_unused
    assert nodes(strip(frozen, ["Relu"], ["y"], tf.float32.as_datatype_enum)) == RECORDED["graph"]["strip_unused"]
    with pytest.raises(KeyError, match="not found"):
        strip(frozen, ["nothing"], ["y"], 1)


@pytest.mark.parametrize("arguments", [k for k in RECORDED["graph"] if k.startswith("[")])
def test_inspect_checkpoint(arguments, capsys):
    tool("inspect_checkpoint").print_tensors_in_checkpoint_file(f"{GRAPH}/values", *json.loads(arguments))
    assert capsys.readouterr().out == RECORDED["graph"][arguments]


def test_the_graph_tools_as_commands(monkeypatch, tmp_path, capsys):
    a, b, c = (str(tmp_path / name) for name in "abc")
    graph = ("--input_graph", f"{GRAPH}/graph.pb", "--input_binary=true", "--output_node_names", "y")
    assert run(monkeypatch, "freeze_graph", *graph, "--input_checkpoint", f"{GRAPH}/values", "--output_graph", a) == 0
    names = ("--input_names", "x", "--output_names", "y")
    assert run(monkeypatch, "optimize_for_inference", "--input", a, "--output", b, *names) == 0
    names = ("--input_node_names=Relu", "--output_node_names=y", "--output_graph", c)
    assert run(monkeypatch, "strip_unused", "--input_graph", a, "--input_binary", *names) == 0
    sizes = [pathlib.Path(path).stat().st_size for path in (a, b, c)]
    assert sizes[0] > sizes[1] > sizes[2] and capsys.readouterr().out == "12 ops in the final graph.\n"
    assert run(monkeypatch, "freeze_graph", *graph, "--input_checkpoint", "nothing", "--output_graph", a) == 1
    assert "Input checkpoint 'nothing' doesn't exist!" in capsys.readouterr().err
    as_text = (*graph[:2], *graph[3:], "--input_checkpoint", f"{GRAPH}/values")
    assert run(monkeypatch, "freeze_graph", *as_text) == 1
    assert "pass --input_binary for a .pb file" in capsys.readouterr().err
