"""The fingerprints that TensorFlow writes into SavedModels, to tell whether two are the same program and values."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from google.protobuf.message import DecodeError

from tapeflow.core.protos import FingerprintDef

_FILE = "fingerprint.pb"
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
    def from_proto(cls, proto: Any) -> Fingerprint:
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


def read_fingerprint(export_dir: str | os.PathLike[str]) -> Fingerprint:
    """Reads the fingerprint of a SavedModel that TensorFlow wrote. (TapeFlow writes none.)

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
