"""The files and messages of a SavedModel: paths, binary and text forms, and the parameters of functions."""

import inspect
import os
import pathlib

import pytest
from google.protobuf import text_format

import tapeflow as tf
from tapeflow.saved_model import messages


def test_paths():
    assert messages.variables_prefix("m") == os.path.join("m", "variables", "variables")
    assert messages.assets_directory("m") == os.path.join("m", "assets")


@pytest.mark.parametrize(
    ("name", "path"), [("a.txt", "assets/a.txt"), ("b/c", "assets/b/c"), ("b/../c", "assets/c"), ("./a", "assets/a")]
)
def test_paths_of_assets(name, path):
    assert messages.asset_path("m", name) == os.path.join("m", *path.split("/"))


@pytest.mark.parametrize("name", ["../a", "..", ".", "", "/etc/passwd", "b/../../a", "../assets", "../assets2/a"])
def test_paths_outside_of_the_assets(name):
    with pytest.raises(OSError, match="names a file outside of its assets"):
        messages.asset_path("m", name)


def saved(folder):
    module = tf.Module()
    module.f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(folder))
    return folder


def test_text_and_binary_form(tmp_path):
    folder = saved(tmp_path / "m")
    (graph,) = messages.read_model(str(folder))
    whole = messages._text_message()(saved_model_schema_version=1, meta_graphs=[graph])
    text = folder / messages.TEXT_FILE
    text.write_text("nonsense")
    assert messages.read_model(str(folder))[0] == graph  # the binary form counts
    (folder / messages.FILE).unlink()
    for damaged in ("nonsense", "meta_graphs {", b"\xff\xfe"):
        text.write_bytes(damaged if isinstance(damaged, bytes) else damaged.encode())
        with pytest.raises(OSError, match=r"Cannot parse file .*saved_model\.pbtxt"):
            messages.read_model(str(folder))
    text.write_text(text_format.MessageToString(whole))
    assert messages.read_model(str(folder)) == [graph]
    assert tf.saved_model.load(str(folder)).f(3.0).numpy() == 6.0


def test_several_graphs(tmp_path):
    (graph,) = messages.read_model(str(saved(tmp_path / "m")))
    other = type(graph)()
    other.meta_info_def.tags.append("other")
    (tmp_path / "n").mkdir()
    content = messages.write_model(str(tmp_path / "n"), graph, other)
    assert (tmp_path / "n" / "saved_model.pb").read_bytes() == content
    assert messages.read_model(str(tmp_path / "n")) == [graph, other]
    (tmp_path / "n" / "saved_model.pb").write_bytes(b"\xff" * 9)
    with pytest.raises(OSError, match=r"Cannot parse file .*saved_model\.pb"):
        messages.read_model(str(tmp_path / "n"))


def test_folders_of_models(tmp_path):
    contains = tf.saved_model.contains_saved_model
    assert not contains(str(tmp_path)) and not contains(tmp_path / "none")
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        messages.read_model(str(tmp_path))
    for name in ("saved_model.pb", "saved_model.pbtxt"):
        (tmp_path / name).touch()
        assert contains(str(tmp_path)) and contains(pathlib.Path(tmp_path))
        (tmp_path / name).unlink()
    with pytest.raises(TypeError):
        contains(3)


def functions():
    def plain(a, b):
        """A function."""

    def defaults(a, b=1, *, c, d="x"):
        """A function."""

    def several(a, *rest, c=2.5, **others):
        """A function."""

    def keywords(*, c):
        """A function."""

    def positional(a, b=None, /, c=True):
        """A function."""

    return plain, defaults, several, keywords, positional, lambda: None


@pytest.mark.parametrize("function", functions(), ids=lambda f: f.__name__)
def test_parameters_are_read_as_written(function):
    signature = inspect.signature(function)
    proto = messages.function_spec(signature, [tf.TensorSpec([2], tf.int32)])
    found = messages.signature_of(proto)
    plain = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p
        for p in signature.parameters.values()
    ]
    assert found == inspect.Signature(plain)
    assert proto.input_signature.tuple_value.values or proto.input_signature.list_value.values


def test_the_first_parameter_of_a_method_is_left_out():
    proto = messages.function_spec(inspect.signature(lambda self, x, y=3: None))
    proto.is_method = True
    assert str(messages.signature_of(proto)) == "(x, y=3)"
    assert not proto.input_signature.HasField("tuple_value") and proto.input_signature.HasField("none_value")


def test_names_that_are_none_in_python():
    proto = messages.function_spec(inspect.signature(lambda a, *, b: None))
    argument, keyword = (
        next(p for p in proto.fullargspec.named_tuple_value.values if p.key == key).value.list_value.values[0]
        for key in ("args", "kwonlyargs")
    )
    argument.string_value, keyword.string_value = "dense/kernel:0", "1.5"
    assert str(messages.signature_of(proto)) == "(_dense_kernel_0, *, _1_5)"


def test_no_description_of_parameters():
    proto = messages.function_spec(inspect.signature(lambda a: None))
    proto.fullargspec.none_value.SetInParent()
    with pytest.raises(ValueError, match="saved with no description of its parameters, but None"):
        messages.signature_of(proto)
