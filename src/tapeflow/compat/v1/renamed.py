"""Parameters that have an old and a new name, in the functions of TensorFlow 1."""

from __future__ import annotations

from typing import Any


def either(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """Returns the argument that was passed under the new name or under the old one.

    Raises:
        ValueError: both were passed.
    """
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old
