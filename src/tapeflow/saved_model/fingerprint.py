"""The fingerprints of SavedModels, which tell whether two are the same program and values."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import types_pb2

from tapeflow.core.farmhash import fingerprint64, joined_fingerprint
from tapeflow.core.protos import FingerprintDef
from tapeflow.io.atomic_replace import write_file

_FILE = "fingerprint.pb"
_PRODUCER = 4  # the version of the hashes
_HASHES = (
    "saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
    "checkpoint_hash",
)  # fmt: skip


@dataclasses.dataclass(eq=False)
class Fingerprint:
    """A fingerprint: hashes of a SavedModel's parts.

    Attributes:
        saved_model_checksum: an int, the checksum of the file.
        graph_def_program_hash: an int, the hash of the graph.
        signature_def_hash: an int, the hash of the signatures.
        saved_object_graph_hash: an int, the hash of the objects.
        checkpoint_hash: an int, the hash of the checkpoint's index.
        version: an int, the version of the format.

    Example:
        >>> tf.saved_model.experimental.Fingerprint(1, 2, 3, 4, 5).singleprint()
        '2/3/4/5'
    """

    saved_model_checksum: int | None = None
    graph_def_program_hash: int | None = None
    signature_def_hash: int | None = None
    saved_object_graph_hash: int | None = None
    checkpoint_hash: int | None = None
    version: Any = None

    @classmethod
    def from_proto(cls, proto: Message) -> Fingerprint:
        """Returns the fingerprint in a `FingerprintDef`, or in its bytes.

        Raises:
            ValueError: it is not a fingerprint.
        """
        try:
            message = FingerprintDef.FromString(proto) if isinstance(proto, bytes) else proto
            return cls(**{name: getattr(message, name) for name in (*_HASHES, "version")})
        except (AttributeError, DecodeError) as error:
            raise ValueError(f"Given proto could not be deserialized as fingerprint.{error}") from None

    def __eq__(self, other: object) -> bool:
        return all(hasattr(other, name) and getattr(self, name) == getattr(other, name) for name in _HASHES)

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __str__(self) -> str:
        return "\n".join(["SavedModel Fingerprint", *(f"  {name}: {getattr(self, name)}" for name in _HASHES)])

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join(str(getattr(self, name)) for name in _HASHES)})"

    def singleprint(self) -> str:
        """Returns the hashes of the model's parts, but not of its file, as one text.

        Raises:
            ValueError: one is missing.
        """
        parts = [getattr(self, name) for name in _HASHES[1:]]
        if None in parts:
            raise ValueError("Encounted invalid fingerprint values when constructing singleprint.")
        return "/".join(map(str, parts))


def write_fingerprint(export_dir: str, model: bytes, variables: bytes, meta_graph: Any) -> None:
    """Writes the fingerprint of a SavedModel, with TensorFlow's hashes. TensorFlow adds a random identifier.

    Args:
        export_dir: the directory.
        model: the bytes of `saved_model.pb`.
        variables: the bytes of the index of the variables' checkpoint.
        meta_graph: the `MetaGraphDef`. Its graph is changed.
    """
    objects = meta_graph.object_graph_def.concrete_functions
    proto = FingerprintDef(
        saved_model_checksum=fingerprint64(model),
        graph_def_program_hash=_program_hash(meta_graph.graph_def),
        signature_def_hash=_entries_hash(meta_graph.signature_def, sorted(meta_graph.signature_def), str),
        saved_object_graph_hash=_entries_hash(objects, sorted(objects, key=trace_number), _base_name),
        checkpoint_hash=fingerprint64(variables),
    )
    proto.version.producer = _PRODUCER
    write_file(os.path.join(export_dir, _FILE), proto.SerializeToString())


def _program_hash(graph_def: Message) -> int:
    """Hashes the nodes of a graph, without what differs between machines: the functions' numbers, paths, versions."""
    for node in graph_def.node:
        if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            node.attr["f"].func.name = _base_name(node.attr["f"].func.name)
            if "config_proto" in node.attr:
                node.attr["config_proto"].s = b""
        elif node.op == "Const" and node.attr["dtype"].type == types_pb2.DT_STRING:
            node.attr["value"].Clear()
    for field in ("library", "versions"):
        graph_def.ClearField(field)
        getattr(graph_def, field).SetInParent()  # empty, but there
    return fingerprint64(graph_def.SerializeToString(deterministic=True))


def _entries_hash(messages: Any, keys: Iterable[str], name_of: Callable[[str], str]) -> int:
    """Hashes the names and messages of a map, in the order of `keys`."""
    word = 0
    for key in keys:
        word = joined_fingerprint(word, fingerprint64(name_of(key).encode()))
        word = joined_fingerprint(word, fingerprint64(messages[key].SerializeToString(deterministic=True)))
    return word


def _base_name(function: str) -> str:
    """Returns the name of a function without the number at its end."""
    return re.sub(r"(?<![^_])[0-9]+$", "", function)


def trace_number(function: str) -> int:
    """Returns the number at the end of a function's name."""
    return int(function[len(_base_name(function)) :] or 0)


def read_fingerprint(export_dir: str | os.PathLike[str]) -> Fingerprint:
    """Reads the fingerprint of a SavedModel.

    Args:
        export_dir: the directory.

    Returns:
        The fingerprint.

    Raises:
        FileNotFoundError: there is no fingerprint.

    Example:
        >>> import os, tempfile
        >>> path = tempfile.mkdtemp()
        >>> _ = open(os.path.join(path, "fingerprint.pb"), "wb").write(b"\\x08\\x07")
        >>> tf.saved_model.experimental.read_fingerprint(path).saved_model_checksum
        7
    """
    directory = os.fspath(export_dir)
    try:
        with open(os.path.join(directory, _FILE), "rb") as file:
            return Fingerprint.from_proto(file.read())
    except OSError:
        raise FileNotFoundError(
            f"SavedModel Fingerprint Error: Could not find fingerprint in directory: {directory}"
        ) from None
