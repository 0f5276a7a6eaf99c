"""The definitions of all ops by name, as TensorFlow's C API gives them."""

from __future__ import annotations

from typing import Any

from tapeflow import errors
from tapeflow.core.ops import op_def
from tapeflow.graph.graphdef.export import op_def_proto


class ApiDefMap:
    """The definitions of all ops."""

    def op_names(self) -> list[str]:
        """Returns the names of all ops."""
        return list(op_def.names())

    def get_op_def(self, op_name: str) -> Any:
        """Returns the `OpDef` of an op.

        Raises:
            ValueError: there is no op of that name.
        """
        try:
            return op_def_proto(op_name)
        except errors.NotFoundError:
            raise ValueError(f"No op_def found with op name {op_name}.") from None
