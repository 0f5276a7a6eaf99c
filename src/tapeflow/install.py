"""A stand-in for TensorFlow: after `install_as_tensorflow()`, `import tensorflow` imports TapeFlow.

`tensorflow.math` then is the very module `tapeflow.math`, and so is every other one. Only the import system is
changed, not package metadata: that is for the distribution in `as_tensorflow/`.

Keras imports TensorFlow. So `import keras` after `import tapeflow` installs TapeFlow in TensorFlow's place, unless
Keras is to use another backend or TensorFlow itself is there.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any

from tapeflow.core.hooks import hooks
from tapeflow.core.lazy_modules import is_incomplete, load, one_at_a_time


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


def uses_legacy_keras() -> bool:
    """Returns True if `tf.keras` is to be Keras 2, `tf_keras`."""
    return os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")


# Libraries such as Keras tell values of TensorFlow without importing it: by the names of their classes' modules.
CLASSES = {
    "tapeflow.core.values.tensor": {
        "Tensor": "tensorflow.python.framework.tensor",
        "EagerTensor": "tensorflow.python.framework.ops",
    },
    "tapeflow.core.values.symbolic": {"SymbolicTensor": "tensorflow.python.framework.ops"},
    "tapeflow.core.values.indexed_slices": {"IndexedSlices": "tensorflow.python.framework.indexed_slices"},
    "tapeflow.core.values.variable": {
        "Variable": "tensorflow.python.ops.variables",
        "ResourceVariable": "tensorflow.python.ops.resource_variable_ops",
    },
    "tapeflow.graph.ir.func_graph": {"FuncGraph": "tensorflow.python.framework.func_graph"},
}


def _is_installed() -> bool:
    return sys.modules.get("tensorflow") is sys.modules[__package__]


class _Finder(MetaPathFinder):
    """Finds `tensorflow.x.y`: the module `tapeflow.x.y`, or the module that `tapeflow.x` has as its `y`. Also finds
    Keras and `tensorflow_text`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "keras":
            return _keras_spec(fullname, path)
        if fullname.startswith("tapeflow."):
            return _in_turn(PathFinder.find_spec(fullname, path))
        if not f"{fullname}.".startswith(("tensorflow.", "tensorflow_text.")) or not _is_installed():
            return None
        name, _, rest = fullname.partition(".")
        if name == "tensorflow_text":
            return ModuleSpec(fullname, Existing(functools.partial(_text_module, rest)))
        return ModuleSpec(fullname, Existing(functools.partial(_tapeflow_module, fullname)))


def _keras_spec(fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Returns the spec of Keras. If Keras loads on TapeFlow, `tapeflow.keras` is loaded next, and adds to it."""

    def run_keras(run: Callable[[ModuleType], None], module: ModuleType) -> None:
        on_tensorflow = os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow"
        if on_tensorflow and "tensorflow" not in sys.modules and PathFinder.find_spec("tensorflow") is None:
            install_as_tensorflow()
        run(module)
        ours = module.backend.backend() == "tensorflow" and _is_installed() and not uses_legacy_keras()
        if ours and "tapeflow.keras" not in sys.modules:  # another thread, or this one, loads it
            importlib.import_module("tapeflow.keras")

    return _in_turn(PathFinder.find_spec(fullname, path), run_keras)


def _in_turn(
    spec: ModuleSpec | None, around: Callable[[Callable[[ModuleType], None], ModuleType], None] | None = None
) -> ModuleSpec | None:
    """Returns a spec whose module is loaded when no other thread loads one. It runs by `around(run, module)` if given.

    The turn begins before Python creates the module. Otherwise another thread could find it in `sys.modules`, and use
    it when this thread unlocks it to wait.
    """
    loader: Any = spec and spec.loader
    run, create = getattr(loader, "exec_module", None), getattr(loader, "create_module", None)
    if run is None or create is None:
        return spec
    turn = ExitStack()
    specs: list[Any] = []

    def create_module(spec: ModuleSpec) -> ModuleType | None:
        turn.enter_context(one_at_a_time(spec))
        module = sys.modules.get(spec.name)
        if module is None:
            return create(spec)
        specs.append(module.__spec__)
        return module

    def exec_module(module: ModuleType) -> None:
        with turn:
            if specs:
                module.__spec__ = specs.pop()  # the import system has put the new one there
            elif around is None:
                run(module)
            else:
                around(run, module)

    loader.create_module, loader.exec_module = create_module, exec_module
    return spec


class _Withholding(ModuleType):
    """A package that does not become the home of the next incomplete module.

    While a module is imported, its own modules may import it by another name. Python then sets it as an attribute of
    its package, and other threads would find it there. The package gets it again when the module is complete.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and is_incomplete(value):
            super().__setattr__("__class__", ModuleType)
        else:
            super().__setattr__(name, value)


class Existing(Loader):
    """Loads a module that another name finds, unchanged.

    Args:
        find: returns the module. It may import, and finders may not: Python holds a lock of all threads while they run.
    """

    def __init__(self, find: Callable[[], ModuleType]) -> None:
        self._find = find

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        with one_at_a_time():
            module = self._find()
        self._spec = module.__spec__
        if is_incomplete(module):
            spec._initializing = True  # type: ignore[attr-defined]  # it is the module's spec for a moment
            parent = sys.modules[spec.name.rpartition(".")[0]]
            parent.__class__ = _Withholding
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put its own there

    def get_code(self, fullname: str) -> CodeType:
        """Returns the program that `python -m` runs: a call of the module's `main`."""
        return compile(f"from {fullname} import main\nmain()", f"<{fullname}>", "exec")


# Keras 2's places for the modules that TensorFlow once had: inner modules, layers for graphs, the API of TensorFlow 1.
_KERAS_2 = {
    "tensorflow.python.keras": "tf_keras.src",
    **{
        f"tensorflow.python.layers.{name}": f"tf_keras.src.legacy_tf_layers.{name}"
        for name in ("base", "convolutional", "core", "normalization", "pooling")
    },
    "tensorflow.python.ops.rnn_cell": "tf_keras.src.layers.rnn.legacy_cells",
    "tensorflow.python.ops.rnn_cell_impl": "tf_keras.src.layers.rnn.legacy_cells",
    "tensorflow.compat.v1.keras": "tf_keras.api._v1.keras",
    "tensorflow.compat.v1.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
    "tensorflow.compat.v1.nn.rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
}


def _keras_2_module(fullname: str) -> str | None:
    """Returns the module of Keras 2 that replaces a module of TensorFlow, if Keras 2 is installed."""
    for place, home in _KERAS_2.items():
        if f"{fullname}.".startswith(f"{place}.") and importlib.util.find_spec("tf_keras") is not None:
            return home + fullname.removeprefix(place)
    return None


def keras_2(fullname: str) -> ModuleType | None:
    """Returns the module of Keras 2 for a module of TensorFlow, or None if the module never was Keras.

    Raises:
        ImportError: Keras 2 is not installed.
    """
    if fullname not in _KERAS_2:
        return None
    home = _keras_2_module(fullname)
    if home is None:
        raise ImportError(f"{fullname} is Keras 2's, which is not installed: `pip install --no-deps tf_keras`.")
    install_as_tensorflow()
    return load(home)


def _own_module(fullname: str) -> str:
    """Returns the name of the module in place of a module of TensorFlow."""
    below = fullname.removeprefix("tensorflow.").removeprefix("compat.v2.")
    if f"{below}.".startswith("python.keras."):
        below = below.removeprefix("python.")  # Keras 2 stands there; Keras 3 still has some of its names
    if not f"{below}.".startswith("keras."):
        return f"tapeflow.{below}"
    return f"tf_keras.api._v2.{below}" if uses_legacy_keras() else f"keras._tf_keras.{below}"


def _tapeflow_module(fullname: str) -> ModuleType:
    internal = hooks.internal_module(fullname)
    if internal is not None:
        return internal
    parent, _, name = fullname.rpartition(".")
    own_name = _keras_2_module(fullname) or _own_module(fullname)
    module: Any = None
    try:
        module = load(own_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{own_name}.".startswith(f"{error.name}."):
            raise  # it is missing a module that TapeFlow's own needs
        module = getattr(load(parent), name, None)
    if not isinstance(module, ModuleType):
        raise ModuleNotFoundError(f"TapeFlow has no {fullname} yet.", name=fullname)
    return module


def _text_module(rest: str) -> ModuleType:
    """Returns the module in place of TensorFlow Text, which needs TensorFlow's binaries."""
    if rest:
        raise ModuleNotFoundError(f"TapeFlow has no tensorflow_text.{rest}.", name=f"tensorflow_text.{rest}")
    return load("tapeflow.text")


sys.meta_path.insert(0, _Finder())
