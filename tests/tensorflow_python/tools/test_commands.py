"""Flags as TensorFlow's programs take them."""

import argparse

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tapeflow as tf
from tapeflow_compat.tensorflow_python.tools import commands


def parse(*arguments, default=False):
    parser = argparse.ArgumentParser("program")
    commands.add_switch(parser, "flag", "a switch", default)
    commands.add_text(parser, "name", "a text", "none")
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "default", "expected"),
    [
        ([], False, False), ([], True, True), (["--flag"], False, True), (["-flag"], False, True),
        (["--noflag"], True, False), (["--flag=false"], True, False), (["--flag", "F"], True, False),
        (["--flag=0"], True, False), (["--flag=no"], True, False), (["--flag=True"], False, True),
        (["--flag=t"], False, True), (["--flag=1"], False, True), (["--flag", "YES"], False, True),
    ],
)  # fmt: skip
def test_switches(arguments, default, expected):
    assert parse(*arguments, default=default).flag is expected


def test_switches_of_other_values(capsys):
    with pytest.raises(SystemExit) as exit:
        parse("--flag=perhaps")
    assert exit.value.code == 2 and "'perhaps' is neither true nor false" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"), [([], "none"), (["--name", "a"], "a"), (["--name=a"], "a"), (["-name", "a"], "a")]
)
def test_texts(arguments, expected):
    assert parse(*arguments).name == expected


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3), (-1, -1)])
def test_a_command_ends_the_process(result, status):
    with pytest.raises(SystemExit) as exit:
        commands.run_command("program", lambda: result)
    assert exit.value.code == status


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("bad"), "program: ValueError: bad"), (KeyError("key"), "program: KeyError: key"),
        (OSError("file"), "program: OSError: file"), (KeyError(), "program: KeyError:"),
        (tf.errors.NotFoundError(None, None, "lost"), "program: NotFoundError: lost"),
    ],
)  # fmt: skip
def test_errors_are_one_line(error, line, capsys):
    def command():
        raise error

    with pytest.raises(SystemExit) as exit:
        commands.run_command("program", command)
    printed = capsys.readouterr()
    assert exit.value.code == 1 and printed.err.strip() == line and printed.out == ""


def test_other_errors_are_raised():
    with pytest.raises(ZeroDivisionError):
        commands.run_command("program", lambda: 1 / 0)


def test_messages_in_files(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="one")
    graph_def = graph.as_graph_def()
    binary, text = tmp_path / "binary", tmp_path / "text"
    binary.write_bytes(graph_def.SerializeToString())
    text.write_text(str(graph_def))
    for path, is_binary in ((binary, True), (text, False)):
        message = GraphDef()
        assert commands.read_message(str(path), message, is_binary, "File") is message
        assert [node.name for node in message.node] == ["one"]
    with pytest.raises(
        ValueError, match=r"File '.*binary' is not a message in text; pass --input_binary for a \.pb file: "
    ):
        commands.read_message(str(binary), GraphDef(), False, "File")
    with pytest.raises(ValueError, match=r"File '.*text' is not a message in binary: "):
        commands.read_message(str(text), GraphDef(), True, "File")
    with pytest.raises(OSError, match=r"File '.*nothing' does not exist!"):
        commands.read_message(str(tmp_path / "nothing"), GraphDef(), True, "File")


@pytest.mark.parametrize(("text", "names"), [("", []), ("a", ["a"]), (" a, b,,c ,", ["a", "b", "c"])])
def test_names_in_a_text(text, names):
    assert commands.split_names(text) == names
    if names:
        assert commands.check_names(names, "flag") is None
    else:
        with pytest.raises(ValueError, match="flag must contain at least one non-empty item"):
            commands.check_names(names, "flag")
