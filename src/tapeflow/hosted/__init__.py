"""The names inside TensorFlow that hosted libraries import, and no others.

`tensorflow.python.eager.context` is not public, but Keras imports it. `MODULES` lists such modules, and for each of
their names the module that defines it: here for Keras and TensorBoard, in `libraries.py` for TensorFlow Probability.
`tf.__internal__` is `tapeflow/hosted/internal.py`.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any

from tapeflow.hosted import libraries
from tapeflow.hosting import CLASSES

MODULES: dict[str, dict[str, str]] = {
    "tensorflow.python.util.deprecation": {"silence": "tapeflow.hosted.deprecation"},
    "tensorflow.core.util.event_pb2": {"Event": "tensorboard.compat.proto.event_pb2"},
    "tensorflow.compiler.tf2xla.python.xla": {"dynamic_update_slice": "tapeflow.hosted.xla"},
    "tensorflow.python.data.experimental.ops.distribute": {"compute_batch_size": "tapeflow.hosted.batch_size"},
    "tensorflow.python.eager.context": {
        "_reset_context": "tapeflow.hosted.eager_context",
        "async_wait": "tapeflow.hosted.eager_context",
        "context": "tapeflow.hosted.eager_context",
        "eager_mode": "tapeflow.hosted.eager_context",
    },
    "tensorflow.python.framework.config": {
        "disable_op_determinism": "tapeflow.hosted.eager_context",
        "enable_op_determinism": "tapeflow.config.experimental",
        "is_op_determinism_enabled": "tapeflow.hosted.eager_context",
    },
    "tensorflow.python.framework.tensor_util": {"is_tf_type": "tapeflow.hosted.internal"},
    "tensorflow.python.lib.io.tf_record": {"tf_record_iterator": "tapeflow.compat.v1.io"},
    "tensorflow.python.ops.math_ops": {"is_nan": "tapeflow.math"},
    "tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        "csr_sparse_matrix_to_sparse_tensor": "tapeflow.hosted.sparse_products",
        "sparse_matrix_sparse_mat_mul": "tapeflow.hosted.sparse_products",
        "sparse_tensor_to_csr_sparse_matrix": "tapeflow.hosted.sparse_products",
    },
    "tensorflow.python.trackable.data_structures": {
        "ListWrapper": "tapeflow.data_structures",
        "_DictWrapper": "tapeflow.data_structures",
    },
}
for _name, _homes in libraries.MODULES.items():
    MODULES[_name] = {**MODULES.get(_name, {}), **_homes}
for _home, _names in CLASSES.items():  # so that they can be pickled by name
    for _name, _module in _names.items():
        MODULES.setdefault(_module, {}).setdefault(_name, _home)
_PARENTS = {name.rpartition(".")[0] for name in MODULES} | {
    ".".join(name.split(".")[:depth]) for name in MODULES for depth in range(2, name.count(".") + 1)
}


@functools.cache
def module(fullname: str) -> ModuleType | None:
    """Returns the module in the place of one of TensorFlow's own, or None for a module that no library needs."""
    if fullname not in MODULES and fullname not in _PARENTS:
        return None
    new = ModuleType(fullname, f"The names of {fullname} that hosted libraries need.")
    if fullname in _PARENTS:
        new.__path__ = []
    homes = MODULES.get(fullname, {})

    def __getattr__(name: str) -> Any:
        if name not in homes:
            # Importing `tensorflow.core` sets this module as the attribute `core` of `tapeflow`.
            own = sys.modules.get(fullname.replace("tensorflow", "tapeflow", 1))
            if hasattr(own, name):
                return getattr(own, name)
            raise AttributeError(f"TapeFlow has no {fullname}.{name}: it is not public, and no library here needs it.")
        home, _, own_name = homes[name].partition(":")
        value = getattr(importlib.import_module(home), own_name or name)
        setattr(new, name, value)
        return value

    vars(new)["__getattr__"] = __getattr__
    return new
