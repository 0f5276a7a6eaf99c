"""`tf.__internal__.saved_model` and its kin: the names that Keras 2 needs to write and read SavedModels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.spec_proto import from_proto, to_proto
from tapeflow.saved_model import revived, saving
from tapeflow.saved_model.loading import load_partial
from tapeflow.saved_model.messages import read_model
from tapeflow_compat.tensorflow_python.object_identity import ObjectIdentityDictionary

if TYPE_CHECKING:
    from google.protobuf.message import Message

__all__ = ["decode_proto", "encode_structure", "load", "load_partial", "parse_saved_model", "save_and_return_nodes"]

decode_proto, encode_structure = from_proto, to_proto


def save_and_return_nodes(
    obj: Any, export_dir: str, signatures: Any = None, options: Any = None, experimental_skip_checkpoint: bool = False
) -> tuple[list[Any], Any]:
    """Saves an object; returns the saved objects, and the references that lead from the root to each.

    Args:
        obj, export_dir, signatures, options: see `tf.saved_model.save`.
        experimental_skip_checkpoint: accepted, and without effect.
    """
    objects, paths = saving.save_and_return_nodes(obj, export_dir, signatures, options)
    references = [[SimpleNamespace(name=name) for name in path] for path in paths]
    return objects, ObjectIdentityDictionary(zip(objects, references, strict=True))


def parse_saved_model(export_dir: str) -> Any:
    """Returns the graphs of a SavedModel, as `meta_graphs`."""
    return SimpleNamespace(meta_graphs=read_model(export_dir))


def _get_setter(proto: Message) -> Any:
    registered = revived.read_by(proto)
    return None if registered is None else registered.setter


load = SimpleNamespace(
    VersionedTypeRegistration=revived.Registration,
    register_revived_type=revived.register,
    registered_identifiers=revived.identifiers,
    get_setter=_get_setter,
)
