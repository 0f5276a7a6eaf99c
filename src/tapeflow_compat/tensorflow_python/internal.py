"""`tf.__internal__`: the names of it that hosted libraries use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tapeflow.array.properties import is_tensor
from tapeflow.core.lazy_modules import load
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, TensorType
from tapeflow_compat.tensorflow_python.eager_context import eager_mode
from tapeflow_compat.tensorflow_python.smart_cond import smart_cond as _smart_cond

__all__ = ["CompositeTensor", "EagerTensor", "eager_context", "is_tf_type", "smart_cond", "tf2", "types"]

is_tf_type = is_tensor
types = SimpleNamespace(Tensor=TensorType)
smart_cond = SimpleNamespace(smart_cond=_smart_cond)
eager_context = SimpleNamespace(eager_mode=eager_mode)
tf2 = SimpleNamespace(enabled=lambda: True)

# Names whose modules are loaded on first use; a colon precedes another name there, or nothing for the module itself.
_ON_FIRST_USE = {
    "FuncGraph": "tapeflow.graph.ir.func_graph",
    "SymbolicTensor": "tapeflow.core.values.symbolic",
    "distribute": "tapeflow.tensorflow_python.distribute:",
    "autograph": "tapeflow.tensorflow_python.autograph:",
    "decorator": "tapeflow.tensorflow_python.decorators:",
    "dispatch": "tapeflow.tensorflow_python.dispatch:",
    "feature_column": "tapeflow.tensorflow_python.feature_columns:",
    "function": "tapeflow.tensorflow_python.function_class:",
    "load_context": "tapeflow.tensorflow_python.keras_2",
    "get_name_scope": "tapeflow.core.scopes:get_current_name_scope",
    "mixed_precision": "tapeflow.tensorflow_python.keras_2:",
    "nest": "tapeflow.tensorflow_python.nests:",
    "ops": "tapeflow.tensorflow_python.ops:",
    "register_call_context_function": "tapeflow.tensorflow_python.keras_2",
    "register_clear_session_function": "tapeflow.tensorflow_python.keras_2",
    "register_get_session_function": "tapeflow.tensorflow_python.keras_2",
    "register_load_model_function": "tapeflow.tensorflow_python.keras_2",
    "saved_model": "tapeflow.tensorflow_python.saved_models:",
    "tracking": "tapeflow.tensorflow_python.tracking:",
    "test": "tapeflow.tensorflow_python.testing:",
    "train": "tapeflow.tensorflow_python.train:",
}


def __getattr__(name: str) -> Any:
    home = _ON_FIRST_USE.get(name)
    if home is None:
        raise AttributeError(
            f"TapeFlow has no tf.__internal__.{name}, which is not public in TensorFlow: use a public function for it."
        )
    home, colon, own_name = home.partition(":")
    module = load(home)
    value = globals()[name] = module if colon and not own_name else getattr(module, own_name or name)
    return value
