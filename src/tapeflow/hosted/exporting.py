"""Decorators by which libraries say what of them is public, and how it is documented; and the names that these give."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

_names: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()


class tf_export:
    """A decorator that notes the public names of a class or function.

    Args:
        *names: the names.
    """

    def __init__(self, *names: str, **kwargs: Any) -> None:
        self.names = names

    def __call__(self, symbol: Any) -> Any:
        with contextlib.suppress(TypeError):  # what can't be referred to weakly
            _names[symbol] = self.names
        return symbol

    def export_constant(self, module_name: str, name: str) -> None:
        """Notes the public name of a constant; it is found under its own."""


keras_export = tf_export


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """The first of the public names, or None."""
    names = _names.get(symbol)
    return names[0] if names else None


def get_symbol_from_name(name: str) -> Any:
    """The function of a public name, such as "math.add", or None."""
    import tapeflow

    value: Any = tapeflow
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def unchanged(symbol: Any) -> Any:
    """A decorator that gives a class or function as it is: how it is documented is not said here."""
    return symbol


do_not_generate_docs = do_not_doc_inheritable = do_not_doc_in_subclasses = unchanged
doc_in_current_and_subclasses = for_subclass_implementers = unchanged
