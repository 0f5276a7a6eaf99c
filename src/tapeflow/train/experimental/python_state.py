"""Python state in checkpoints."""

from __future__ import annotations

import abc
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.trackable import Trackable


class PythonState(Trackable, metaclass=abc.ABCMeta):
    """The base class of objects whose state goes into a checkpoint as a string of bytes.

    Example:
        >>> class Position(tf.train.experimental.PythonState):
        ...     line = 0
        ...     def serialize(self):
        ...         return str(self.line)
        ...     def deserialize(self, string_value):
        ...         self.line = int(string_value)
        >>> import tempfile
        >>> position = Position()
        >>> path = tf.train.Checkpoint(position=position).write(tempfile.mkdtemp() + "/ckpt")
        >>> position.line = 5
        >>> status = tf.train.Checkpoint(position=position).read(path)
        >>> position.line
        0
    """

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """Returns the state.

        Returns:
            The state as a string of bytes.
        """

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Restores the state.

        Args:
            string_value: the bytes that `serialize` returned.
        """

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"py_state": convert(self.serialize(), string)}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.deserialize(restored_tensors["py_state"].numpy())
