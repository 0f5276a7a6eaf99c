"""The names inside TensorFlow that hosted libraries import.

`tensorflow.python.ops.math_ops.reduce_sum` is public, as `tf.reduce_sum`: `names.py` lists such public names by module.
`tensorflow.python.eager.context.async_wait` is not public, but Keras imports it. `MODULES` lists modules with such
names, and for each name the module that defines it: here for Keras and TensorBoard, in `libraries.py` for others.
Protocol buffers are in `protos.py`. `tf.__internal__` is `tapeflow_compat/tensorflow_python/internal.py`.
"""

from __future__ import annotations

import dis
import functools
import sys
from types import FrameType, ModuleType
from typing import Any

from tapeflow.core.lazy_modules import load
from tapeflow.install import CLASSES
from tapeflow_compat.tensorflow_python import libraries, names, protos

MODULES: dict[str, dict[str, str]] = {
    "tensorflow.python.util.deprecation": {"silence": "tapeflow.tensorflow_python.deprecation"},
    "tensorflow.compiler.tf2xla.python.xla": {"*": "tapeflow.tensorflow_python.xla"},
    "tensorflow.python.data.experimental.ops.distribute": {"compute_batch_size": "tapeflow.data.transformations.batch"},
    "tensorflow.python.eager.context": {
        "_reset_context": "tapeflow.tensorflow_python.eager_context",
        "async_wait": "tapeflow.tensorflow_python.eager_context",
        "context": "tapeflow.tensorflow_python.eager_context",
        "eager_mode": "tapeflow.tensorflow_python.eager_context",
    },
    "tensorflow.python.framework.config": {
        "disable_op_determinism": "tapeflow.tensorflow_python.eager_context",
        "enable_op_determinism": "tapeflow.config.experimental",
        "is_op_determinism_enabled": "tapeflow.tensorflow_python.eager_context",
    },
    "tensorflow.python.framework.tensor_util": {"is_tf_type": "tapeflow.tensorflow_python.internal"},
    "tensorflow.python.lib.io.tf_record": {"tf_record_iterator": "tapeflow.compat.v1.io"},
    "tensorflow.python.ops.math_ops": {"is_nan": "tapeflow.math"},
    "tensorflow.python.trackable.data_structures": {
        "ListWrapper": "tapeflow.tracking.data_structures",
        "_DictWrapper": "tapeflow.tracking.data_structures",
    },
}
for _name, _homes in (*libraries.MODULES.items(), *protos.MODULES.items()):
    MODULES[_name] = {**MODULES.get(_name, {}), **_homes}
for _home, _names in CLASSES.items():  # makes them picklable by name
    for _name, _module in _names.items():
        MODULES.setdefault(_module, {}).setdefault(_name, _home)
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


@functools.cache
def _parents() -> set[str]:
    """Returns the packages that the modules stand in."""
    modules = {*MODULES, *names.public_names()}
    return {".".join(name.split(".")[:depth]) for name in modules for depth in range(2, name.count(".") + 1)}


@functools.cache
def module(fullname: str) -> ModuleType | None:
    """Returns the substitute for a module of TensorFlow's own, or None for an unknown module."""
    homes, paths = MODULES.get(fullname, {}), names.public_names().get(fullname, {})
    generated = names.is_generated(fullname)
    if fullname not in MODULES and not paths and not generated and fullname not in _parents():
        return None
    protos.declare_of(fullname)
    new = ModuleType(fullname, f"What {fullname} has that is public, or that hosted libraries need.")
    if fullname in _parents():
        new.__path__ = []

    def __getattr__(name: str) -> Any:
        # Importing `tensorflow.core` sets this module as the attribute `core` of `tapeflow`.
        own = sys.modules.get(fullname.replace("tensorflow", "tapeflow", 1))
        if name in homes:
            home, _, own_name = homes[name].partition(":")
            value = getattr(load(home), own_name or name)
        elif "*" in homes and not name.startswith("__") and hasattr(load(homes["*"]), name):
            value = getattr(load(homes["*"]), name)
        elif name in paths:
            try:
                value = names.public(paths[name])
            except AttributeError:
                raise _missing(fullname, name, paths[name], sys._getframe(1)) from None
        elif generated and not name.startswith("__") and (op := names.generated(name)) is not None:
            value = op
        elif hasattr(own, name):
            return getattr(own, name)
        elif not name.startswith("__") and module(f"{fullname}.{name}") is not None:  # imported with TensorFlow
            return load(f"{fullname}.{name}")
        else:
            try:
                value = names.moved(fullname, name)
            except AttributeError:
                raise _missing(fullname, name, None, sys._getframe(1)) from None
        setattr(new, name, value)
        return value

    vars(new)["__getattr__"] = __getattr__
    vars(new)["__dir__"] = lambda: sorted({*vars(new), *homes, *paths})
    return new


def _missing(module: str, name: str, path: str | None, frame: FrameType) -> AttributeError | ImportError:
    """Returns an error with the missing name, the module that asks for it, and the place to look.

    It is an ImportError in `from module import name`: there Python itself puts one, without a reason, in place of an
    AttributeError.
    """
    asking = frame.f_globals.get("__name__", "a program")
    reason = (
        f"it is the public tf.{path}, which TapeFlow lacks yet."
        if path
        else "it is not public in TensorFlow. Is there a name for it in TensorFlow's public API? That is where to look."
    )
    text = f"TapeFlow has no {module}.{name}, for which {asking} asks: {reason}"
    if frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM:
        return ImportError(text, name=module)
    return AttributeError(text, name=name)
