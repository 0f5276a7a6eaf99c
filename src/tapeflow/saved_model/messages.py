"""The messages in a SavedModel's files: `saved_model.pb`, one message, and beside it a checkpoint of the variables."""

from __future__ import annotations

import functools
import inspect
import os
from collections import defaultdict, namedtuple
from inspect import Parameter
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import saved_object_graph_pb2
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from tapeflow.core.protos import SavedModel, declare_message
from tapeflow.core.types.spec_proto import from_proto, to_proto
from tapeflow.io import gfile
from tapeflow.io.atomic_replace import write_file

FILE = "saved_model.pb"
TEXT_FILE = "saved_model.pbtxt"
PARTS = r"variables|assets|assets\.extra|saved_model\.pb|fingerprint\.pb|keras_metadata\.pb"  # of the directory
VERSION = 1  # of the format

FullArgSpec = namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")


def variables_prefix(export_dir: str) -> str:
    """Returns the name of the checkpoint of a SavedModel's variables."""
    return os.path.join(export_dir, "variables", "variables")


def assets_directory(export_dir: str) -> str:
    """Returns the directory of a SavedModel's other files."""
    return os.path.join(export_dir, "assets")


def asset_path(export_dir: str, name: str) -> str:
    """Returns the path of an asset of a SavedModel.

    Raises:
        OSError: it would be outside of their directory.
    """
    path = os.path.normpath(os.path.join("assets", name))
    if os.path.isabs(name) or not path.startswith(f"assets{os.sep}"):
        raise OSError(f"The SavedModel at {export_dir} names a file outside of its assets: {name!r}.")
    return os.path.join(export_dir, path)


def contains_saved_model(export_dir: str | os.PathLike[str]) -> bool:
    """Returns True if a directory is a SavedModel's.

    Args:
        export_dir: the directory.

    Returns:
        True if it has a `saved_model.pb` or a `saved_model.pbtxt`.

    Raises:
        TypeError: `export_dir` is not a path.

    Example:
        >>> tf.saved_model.contains_saved_model("/no/such/directory")
        False
    """
    return any(os.path.exists(os.path.join(os.fspath(export_dir), name)) for name in (FILE, TEXT_FILE))


def write_model(export_dir: str, *meta_graphs: Any) -> bytes:
    """Writes `saved_model.pb`. Returns its bytes."""
    graphs = [m.SerializeToString(deterministic=True) for m in meta_graphs]
    content: bytes = SavedModel(saved_model_schema_version=VERSION, meta_graphs=graphs).SerializeToString()
    write_file(os.path.join(export_dir, FILE), content)
    return content


def read_model(export_dir: str) -> list[Any]:
    """Reads the `MetaGraphDef`s of a SavedModel.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
        PermissionDeniedError, ...: it can't be read.
    """
    path = os.path.join(export_dir, FILE)
    text = os.path.join(export_dir, TEXT_FILE)
    if not os.path.exists(path) and os.path.exists(text):
        return _read_text(text)
    if not os.path.exists(path):
        raise OSError(f"SavedModel file does not exist at: {export_dir}/{{saved_model.pbtxt|saved_model.pb}}")
    with gfile.GFile(path, "rb") as file:
        data = file.read()
    try:
        return [MetaGraphDef.FromString(m) for m in SavedModel.FromString(data).meta_graphs]
    except DecodeError as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None


@functools.cache
def _text_message() -> Any:
    """Returns the class of the message `SavedModel`, on TensorBoard's messages: in text, no field can be just bytes."""
    return declare_message("SavedModelText", saved_model_schema_version=(1, int), meta_graphs=(2, [MetaGraphDef]))


def _read_text(path: str) -> list[Any]:
    """Reads the `MetaGraphDef`s of a SavedModel in the form of text.

    Raises:
        OSError: it is damaged.
    """
    try:
        with gfile.GFile(path) as contents:
            parsed = text_format.Parse(contents.read(), _text_message()())
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None
    return list(parsed.meta_graphs)


def function_spec(signature: inspect.Signature, input_signature: Any = None) -> Any:
    """Returns the parameters of a Python function as a `FunctionSpec` message.

    Raises:
        ValueError: a default can't be written.
    """
    named: defaultdict[Any, list[Parameter]] = defaultdict(list)
    for parameter in signature.parameters.values():
        named[parameter.kind].append(parameter)
    positional = named[Parameter.POSITIONAL_ONLY] + named[Parameter.POSITIONAL_OR_KEYWORD]
    keywords = named[Parameter.KEYWORD_ONLY]
    defaults = tuple([p.default for p in positional if p.default is not p.empty])
    spec = FullArgSpec(
        args=[p.name for p in positional],
        varargs=next((p.name for p in named[Parameter.VAR_POSITIONAL]), None),
        varkw=next((p.name for p in named[Parameter.VAR_KEYWORD]), None),
        defaults=defaults or None,
        kwonlyargs=[p.name for p in keywords],
        kwonlydefaults={p.name: p.default for p in keywords if p.default is not p.empty} or None,
        annotations={},
    )
    proto = saved_object_graph_pb2.FunctionSpec()
    proto.fullargspec.CopyFrom(to_proto(spec))
    proto.input_signature.CopyFrom(to_proto(input_signature))
    return proto


def signature_of(proto: Message) -> inspect.Signature:
    """Returns the parameters that a `FunctionSpec` message describes; a method's first one is left out.

    Raises:
        ValueError: it describes none.
    """
    spec = from_proto(proto.fullargspec)
    if getattr(spec, "_fields", None) != FullArgSpec._fields:
        raise ValueError(f"A function is saved with no description of its parameters, but {spec!r}.")
    args = list(spec.args)[1:] if proto.is_method else list(spec.args)
    defaults, more = tuple(spec.defaults or ()), spec.kwonlydefaults or {}
    empty = Parameter.empty
    values = [empty] * (len(args) - len(defaults)) + list(defaults)
    parameters = [
        Parameter(_valid_name(name), Parameter.POSITIONAL_OR_KEYWORD, default=value)
        for name, value in zip(args, values, strict=True)
    ]
    if spec.varargs:
        parameters.append(Parameter(spec.varargs, Parameter.VAR_POSITIONAL))
    parameters += [
        Parameter(_valid_name(name), Parameter.KEYWORD_ONLY, default=more.get(name, empty))
        for name in spec.kwonlyargs or ()
    ]
    if spec.varkw:
        parameters.append(Parameter(spec.varkw, Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _valid_name(text: str) -> str:
    """Returns a valid name of a Python parameter for a name of TensorFlow, which may hold slashes and dots."""
    return text if text.isidentifier() else "".join(c if c.isalnum() else "_" for c in f"_{text}")
