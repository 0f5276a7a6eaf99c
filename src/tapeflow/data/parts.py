"""The parts of pipelines: nodes, iterators and what else the methods of `Dataset` and the specs call.

They derive from those classes, and so are defined above them; each registers here by its name when it is loaded.
"""

from __future__ import annotations

from typing import Any


class Parts:
    """The registered definitions, as attributes: `parts.MapDataset(...)`."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no part of pipelines is registered as {name!r}: import tapeflow.data first")


parts = Parts()


def register(*definitions: Any) -> None:
    """Registers classes and functions under their names."""
    for definition in definitions:
        setattr(parts, definition.__name__, definition)
