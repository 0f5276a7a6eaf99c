"""The collections of a graph: lists of values that programs add, by name."""

from __future__ import annotations

import re
from typing import Any


class Collections:
    """The part of a graph that holds its collections."""

    def __init__(self) -> None:
        super().__init__()
        self._collections: dict[Any, list[Any]] = {}

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to the collection of that name.

        Example:
            >>> g = tf.Graph()
            >>> g.add_to_collection("numbers", 1)
            >>> g.get_collection("numbers")
            [1]
        """
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections."""
        for name in (names,) if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Returns a copy of a collection; with `scope`, only values with a name that begins with a match of the regular
        expression.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     v, w = tf.Variable(1.0, name="a/v"), tf.Variable(1.0, name="b/w")
            >>> [x.name for x in g.get_collection("variables", "a/")]
            ['a/v:0']
        """
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        match = re.compile(scope).match
        return [v for v in items if hasattr(v, "name") and match(v.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Returns the collection itself."""
        return self._collections.setdefault(name, [])

    @property
    def collections(self) -> list[Any]:
        """The names of all collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """Returns the names of all collections."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name: Any) -> None:
        """Empties a collection."""
        self._collections.pop(name, None)
