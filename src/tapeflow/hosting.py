"""A stand-in for TensorFlow: after `install_as_tensorflow()`, `import tensorflow` imports TapeFlow.

`tensorflow.math` then is the very module `tapeflow.math`, and so is every other one. Only the import system is
changed, not package metadata: that is for the distribution in `as_tensorflow/`.

Keras imports TensorFlow. So `import keras` after `import tapeflow` installs TapeFlow in TensorFlow's place, unless
Keras is to use another backend or TensorFlow itself is there.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def install_as_tensorflow() -> None:
    """Makes `import tensorflow` import TapeFlow, in this process, from now on. Calling it again does nothing.

    Returns:
        None.

    Raises:
        RuntimeError: the real TensorFlow has been imported already.

    Example:
        >>> tf.install_as_tensorflow()
        >>> import tensorflow
        >>> tensorflow is tf
        True
    """
    tapeflow = sys.modules[__package__]
    present = sys.modules.get("tensorflow")
    if present is tapeflow:
        return
    if present is not None:
        raise RuntimeError(
            f"TensorFlow itself is imported already, from {getattr(present, '__file__', 'an unknown place')}: "
            "call install_as_tensorflow() before anything imports tensorflow."
        )
    sys.modules["tensorflow"] = tapeflow
    for home, names in CLASSES.items():
        for name, module in names.items():
            getattr(sys.modules[home], name).__module__ = module


# Libraries such as Keras tell values of TensorFlow without importing it: by the names of their classes' modules.
CLASSES = {
    "tapeflow.core.values.tensor": {
        "Tensor": "tensorflow.python.framework.tensor",
        "EagerTensor": "tensorflow.python.framework.ops",
    },
    "tapeflow.core.values.symbolic": {"SymbolicTensor": "tensorflow.python.framework.ops"},
    "tapeflow.core.values.indexed_slices": {"IndexedSlices": "tensorflow.python.framework.indexed_slices"},
    "tapeflow.core.values.variable": {"Variable": "tensorflow.python.ops.variables"},
}


def _is_installed() -> bool:
    return sys.modules.get("tensorflow") is sys.modules[__package__]


class _Finder(MetaPathFinder):
    """Finds `tensorflow.x.y`: the module `tapeflow.x.y`, or the module that `tapeflow.x` has as its `y`; and Keras."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "keras":
            return _keras_spec(fullname, path)
        if not fullname.startswith("tensorflow.") or not _is_installed():
            return None
        return ModuleSpec(fullname, _Loader(_tapeflow_module(fullname)))


def _keras_spec(fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Returns the spec of Keras itself; where it loads on TapeFlow, `tapeflow.keras` is loaded next, and adds to it."""
    spec = PathFinder.find_spec(fullname, path)
    if spec is None or spec.loader is None:
        return spec
    loader: Any = spec.loader
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        on_tensorflow = os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow"
        if on_tensorflow and "tensorflow" not in sys.modules and PathFinder.find_spec("tensorflow") is None:
            install_as_tensorflow()
        run(module)
        if module.backend.backend() == "tensorflow" and _is_installed():
            importlib.import_module("tapeflow.keras")

    loader.exec_module = exec_module
    return spec


class _Loader(Loader):
    """Loads a module that exists already, unchanged."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put its own there


def _tapeflow_module(fullname: str) -> ModuleType:
    from tapeflow import hosted  # its tables are needed by programs written for TensorFlow alone

    internal = hosted.module(fullname)
    if internal is not None:
        return internal
    parent, _, name = fullname.rpartition(".")
    below = fullname.removeprefix("tensorflow.")
    if f"{below}.".startswith("python.keras."):
        below = below.removeprefix("python.")  # Keras 2 there, of which these are the names that Keras 3 still has
    own_name = f"keras._tf_keras.{below}" if below.startswith("keras.") else f"tapeflow.{below}"
    module: Any = None
    try:
        module = importlib.import_module(own_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{own_name}.".startswith(f"{error.name}."):
            raise  # it is missing a module that TapeFlow's own needs
        module = getattr(importlib.import_module(parent), name, None)
    if not isinstance(module, ModuleType):
        raise ModuleNotFoundError(f"TapeFlow has no {fullname} yet.", name=fullname)
    return module


sys.meta_path.insert(0, _Finder())
