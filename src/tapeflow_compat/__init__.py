"""Programs of other times: TensorFlow 1, names inside TensorFlow, feature columns, quantization, rare raw ops.

`tapeflow` loads these modules by its table of names and by `hooks.compat_module`. Nothing else there imports them.
Users find them in `tapeflow`: `tapeflow.compat.v1` is the file `tapeflow_compat/compat/v1/__init__.py`. Each exists
once, with the name that users and pickles know: `tapeflow_compat.compat.v1` is the very module `tapeflow.compat.v1`.
Code here imports by `tapeflow_compat`, which type checkers and editors find.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tapeflow.core.lazy_modules import load
from tapeflow.install import Existing


class _Finder(MetaPathFinder):
    """Finds `tapeflow_compat.x`: the module `tapeflow.x`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __name__:
            return None
        return ModuleSpec(fullname, Existing(functools.partial(load, f"tapeflow.{name}")))


sys.meta_path.insert(0, _Finder())
