"""The changes between TensorFlow 1 and 2, read from `table.txt`, which `scripts/record.py upgrade_table` writes."""

from __future__ import annotations

import functools
import pathlib
from collections import defaultdict


class Table:
    """The changes.

    Attributes:
        renames: new names by old ones.
        parameters: the names of a function's positional arguments; None for those that stay positional.
        keywords: the new names of keyword arguments, by function; None for removed ones.
        notes: what to say about a name, as a key of `notes.NOTES`.
        arguments: by function, the arguments that need a look, with their places.
    """

    def __init__(self, text: str) -> None:
        self.renames: dict[str, str] = {}
        self.parameters: dict[str, list[str | None]] = {}
        self.keywords: dict[str, dict[str, str | None]] = {}
        self.notes: dict[str, str] = {}
        self.addons: dict[str, str] = {}
        self.arguments: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for line in text.splitlines():
            kind, *words = line.split()
            if kind == "compat.v1":
                self.renames.update({f"tf.{word}": f"tf.compat.v1.{word}" for word in words})
            elif kind == "rename":
                self.renames[words[0]] = words[1]
            elif kind == "parameters":
                self.parameters[words[0]] = [None if word == "-" else word for word in words[1:]]
            elif kind == "keywords":
                pairs = (word.partition("=") for word in words[1:])
                self.keywords[words[0]] = {old: new or None for old, _, new in pairs}
            elif kind == "note":
                self.notes.update(dict.fromkeys(words[1:], words[0]))
            elif kind == "addons":
                self.addons[words[0]] = words[1]
            else:
                self.arguments[words[0]].append((words[1], int(words[2])))


@functools.cache
def read_table() -> Table:
    """Returns the changes."""
    return Table(pathlib.Path(__file__).with_name("table.txt").read_text())


def full_name(name: str) -> str:
    """Returns a name in `tf.contrib` by its name after `from tensorflow.contrib import layers as contrib_layers`."""
    return name.replace("contrib_", "tf.contrib.", 1) if name.startswith("contrib_") else name
