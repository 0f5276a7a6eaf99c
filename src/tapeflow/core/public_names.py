"""Public names: a namespace's `__init__` imports each of them once, and `publish` derives the rest from its imports.

Type checkers and editors read `.pyi` files beside the namespaces (`scripts/record.py stubs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from tapeflow.core.lazy_modules import load
from tapeflow.core.unsupported import below, names_below


def publish(namespace: dict[str, Any], *also: str, later: Mapping[str, Iterable[str]] | None = None) -> None:
    """Sets `__all__` and `__dir__` of a namespace: the names without an underscore that are no modules.

    Names that need TensorFlow's own binaries are public, too.

    Args:
        namespace: the globals of the module, at its end.
        also: other public names: modules, names with underscores, and those of the module's own `__getattr__`.
        later: names that load on first use, by the modules that define them. The namespace itself defines its modules.
            A name with underscores is the module.
    """
    path = namespace["__name__"].partition(".")[2]
    module_name = f"tapeflow.{path}".removesuffix(".")
    homes = {} if later is None else later
    names = {name for name, value in namespace.items() if not (name.startswith("_") or isinstance(value, ModuleType))}
    names.update(also, *homes.values(), names_below(path) if path else ())
    namespace["__all__"] = sorted(name for name in names if name in also or not name.startswith("_"))
    namespace["__dir__"] = namespace["__all__"].copy

    def __getattr__(name: str) -> Any:
        home = next((home for home, names in homes.items() if name in names), None)
        if home is None:
            return below(path)(name)
        module = load(f"{home}.{name}" if home == module_name else home)
        value = namespace[name] = module if home == module_name or name.startswith("_") else getattr(module, name)
        return value

    if "__getattr__" not in namespace and not names <= namespace.keys():
        namespace["__getattr__"] = __getattr__
