"""Decorators for libraries to declare their public names and documentation, and a registry of these names."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_symbols: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_names: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()


class tf_export:
    """A decorator that registers the public names of a class or function.

    Args:
        *names: the names.
        v1: the names in TensorFlow 1.
    """

    def __init__(self, *names: str, v1: Sequence[str] = (), **kwargs: Any) -> None:
        self.names, self.names_v1 = names, v1

    def __call__(self, symbol: Any) -> Any:
        with contextlib.suppress(TypeError):  # an object without weak references
            _names[symbol] = self.names
            for name in (*self.names, *(f"compat.v1.{n}" for n in self.names_v1)):
                _symbols[name] = symbol
        return symbol

    def export_constant(self, module_name: str, name: str) -> None:
        """Accepts the public name of a constant, without effect: it has that name already."""


keras_export = tf_export


def name_symbol(symbol: Any, name: str) -> None:
    """Sets the canonical name of a symbol, if it has none."""
    _names.setdefault(symbol, (name,))


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """Returns the first public name of a symbol: the name of its export, or its name below `tf`; or None."""
    names = _names.get(symbol) or _names.get(inspect.unwrap(symbol) if callable(symbol) else symbol)
    if names:
        return names[0]
    home, *rooms = str(getattr(symbol, "__module__", "")).split(".")
    if home not in ("tapeflow", "tensorflow") or api_name != "tensorflow":
        return None
    candidates = [".".join([*rooms[:depth], symbol.__name__]) for depth in range(len(rooms) + 1)]
    name = next((c for c in candidates if get_symbol_from_name(c) is symbol), None)
    return _canonical_names().get(name, name) if name else None


@functools.cache
def _canonical_names() -> dict[str, str]:
    """Returns the canonical names of functions with several names, by the other names; see `dispatch.py`."""
    lines = Path(__file__).with_name("dispatched.txt").read_text().splitlines()
    names = [line.partition(" > ")[0].removeprefix("- ").removeprefix("* ").split(" ") for line in lines]
    return {other: canonical for canonical, *others in names for other in others}


def get_symbol_from_name(name: str) -> Any:
    """Returns the symbol of a public name, such as "math.add", or None."""
    if name in _symbols:
        return _symbols[name]
    value: Any = sys.modules["tapeflow"]
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def unchanged(symbol: Any) -> Any:
    """Returns a class or function unchanged: a decorator about its documentation."""
    return symbol


do_not_generate_docs = do_not_doc_inheritable = do_not_doc_in_subclasses = unchanged
doc_in_current_and_subclasses = for_subclass_implementers = unchanged


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """Returns the names of a module that are public: those without an underscore before them."""
    return [name for name in vars(sys.modules[module_name]) if not name.startswith("_")]


def remove_undocumented(
    module_name: str, allowed_exception_list: Sequence[str] | None = None, doc_string_modules: Any = None
) -> None:
    """Accepts the name of a module, without effect: its names stay."""


def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Accepts the name of a symbol, without effect: none is hidden."""
