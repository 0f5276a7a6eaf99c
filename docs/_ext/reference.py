"""Writes the pages of the reference before Sphinx reads them: one for each namespace, of its public names.

Public is what a namespace lists in `__all__`. Names that need TensorFlow's own binaries are left out. A name that
several namespaces have is documented where it is defined, or else where its path is shortest; the others link there.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

ELSEWHERE = {  # what others document, or what has a form of its own
    "tf.keras": "the genuine Keras, whose reference is at keras.io",
    "tf.initializers": "`tf.keras.initializers`",
    "tf.losses": "`tf.keras.losses`",
    "tf.metrics": "`tf.keras.metrics`",
    "tf.optimizers": "`tf.keras.optimizers`",
    "tf.compat": "TensorFlow 1: `tf.compat.v1` has the names and signatures of TensorFlow's own",
    "tf.raw_ops": "each registered op as a function: its inputs and attrs are its parameters, by name",
}


def namespaces(module: types.ModuleType, path: str) -> Iterator[tuple[str, types.ModuleType]]:
    """Yields the namespaces that have pages, by their paths: `tf`, `tf.math`, `tf.math.special`, ..."""
    yield path, module
    for name in public(module):
        value, inner = getattr(module, name), f"{path}.{name}"
        if inspect.ismodule(value) and inner not in ELSEWHERE and value.__name__.startswith("tapeflow."):
            yield from namespaces(value, inner)


def public(module: types.ModuleType) -> list[str]:
    """Returns the public names of a namespace."""
    names = [n for n in module.__all__ if not n.startswith("_") and not needs_binaries(getattr(module, n))]
    return sorted(names, key=str.lower)


def needs_binaries(value: Any) -> bool:
    """Returns True for what `tapeflow/core/unsupported.py` makes."""
    made = inspect.ismodule(value) and value.__spec__ is None
    return made or getattr(value, "__module__", None) == "tapeflow.core.unsupported"


def homes(modules: dict[str, types.ModuleType]) -> dict[int, str]:
    """Returns the path by which each class and function is documented, by its `id`."""
    paths: dict[int, list[str]] = {}
    for path, module in modules.items():
        for name in public(module):
            value = getattr(module, name)
            if callable(value) and str(value.__module__).startswith(("tapeflow", "tensorflow")):
                paths.setdefault(id(value), []).append(f"{path}.{name}")
    return {key: min(aliases, key=lambda p: rank(p, modules)) for key, aliases in paths.items()}


def rank(path: str, modules: dict[str, types.ModuleType]) -> tuple[bool, bool, int, str]:
    """Returns what paths of one thing are sorted by: those in the namespace that defines it first, then short ones."""
    space, _, name = path.rpartition(".")
    value = getattr(modules[space], name)
    defined = f"{value.__module__}.".startswith(f"{modules[space].__name__}.") and space != "tf"
    return not defined, name != getattr(value, "__name__", name), path.count("."), path


def page(path: str, module: types.ModuleType, home: dict[int, str], modules: dict[str, types.ModuleType]) -> str:
    """Returns a namespace's page, in reStructuredText, which docstrings are read as."""
    lines = [path, "=" * len(path), "", *summary(module), f".. py:currentmodule:: {path}", ""]
    sections: dict[str, list[str]] = {"Namespaces": [], "Classes": [], "Functions": [], "Values": [], "Also here": []}
    for name in public(module):
        value, full = getattr(module, name), f"{path}.{name}"
        if inspect.ismodule(value):
            sections["Namespaces"].append(f"- :doc:`{full}`" if full in modules else f"- ``{full}``: {elsewhere(full)}")
        elif id(value) not in home:
            shown = repr(value) if inspect.isclass(value) else type(value).__name__
            sections["Values"].append(f"- ``{full}``: ``{shown}``")
        elif home[id(value)] != full:
            sections["Also here"].append(f"- ``{full}`` is :py:obj:`{home[id(value)]}`")
        elif inspect.isclass(value):
            sections["Classes"] += [f".. autoclass:: {name}", "   :members:", ""]
        else:
            sections["Functions"] += [f".. autofunction:: {name}", ""]
    for title, content in sections.items():
        if content:
            lines += [title, "-" * len(title), "", *content, ""]
    return "\n".join(lines)


def summary(module: types.ModuleType) -> list[str]:
    """Returns the first paragraph of a namespace's docstring, as lines."""
    first = (module.__doc__ or "").strip().partition("\n\n")[0].splitlines()
    return [*first, ""] if first else []


def elsewhere(path: str) -> str:
    """Returns what there is to say of a namespace without a page."""
    return ELSEWHERE.get(path, "not a part of TapeFlow's reference").replace("`", "``")


links: dict[str, str] = {}  # where each public class and function is documented, by all of its paths
MARKS = re.compile(r"[*|]|(?<=\w)_(?!\w)")  # which reStructuredText would read as its own


def mark_up(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Changes a docstring from our form, where code stands in single backticks and all else is text, for Sphinx.

    A public name in backticks becomes a link to where it is documented, and other code a literal.
    """
    text = []
    # Napoleon would take what stands before a colon for a type; a colon at the start says that there is none.
    whole = re.sub(r"^( *Returns:\n +)", r"\1: ", "\n".join(lines), flags=re.MULTILINE)
    for paragraph in re.split(r"(\n[ ]*\n)", whole):
        if ">>> " in paragraph:
            text.append(paragraph)
            continue
        parts = re.split(r"(`[^`]+`)", paragraph)
        for i, part in enumerate(parts):
            if i % 2 == 0:
                parts[i] = MARKS.sub(r"\\\g<0>", part)
                continue
            path = part.strip("`").removesuffix("()")
            target = f"<{links[path]}>" if links.get(path) else ""
            code = f":py:obj:`{path} {target}`" if target else f"`{' '.join(part.split())}`"
            before, after = parts[i - 1][-1:], parts[i + 1][:1]
            parts[i] = ("\\ " if before.isalnum() else "") + code + ("\\ " if after.isalnum() else "")
        text.append("".join(parts))
    lines[:] = "".join(text).split("\n")


def write_pages(app: Any) -> None:
    """Writes the pages of all namespaces, and removes those of namespaces that are no more."""
    tf = importlib.import_module("tapeflow")
    modules = dict(namespaces(tf, "tf"))
    # autodoc imports modules by their names: so `tf.math.add` is what it finds, shows and links.
    sys.modules.update(modules)
    home = homes(modules)
    for path, module in modules.items():
        links.update((f"{path}.{name}", home.get(id(getattr(module, name)), "")) for name in public(module))
    folder = pathlib.Path(app.srcdir, "reference", "api")
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.stem not in modules:
            file.unlink()
    for path, module in modules.items():
        (folder / f"{path}.rst").write_text(page(path, module, home, modules), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", mark_up, priority=400)  # before napoleon
    return {"parallel_read_safe": True}
