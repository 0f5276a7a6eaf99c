"""`tf.__internal__`: the names of it that hosted libraries use."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from tapeflow.array.properties import is_tensor
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, TensorType
from tapeflow_compat.hosted.eager_context import eager_mode
from tapeflow_compat.hosted.smart_cond import smart_cond as _smart_cond

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
    "distribute": "tapeflow.hosted.distribute:",
    "autograph": "tapeflow.hosted.autograph:",
    "decorator": "tapeflow.hosted.decorators:",
    "dispatch": "tapeflow.hosted.dispatch:",
    "feature_column": "tapeflow.hosted.feature_columns:",
    "function": "tapeflow.hosted.functions:",
    "load_context": "tapeflow.hosted.keras_2",
    "get_name_scope": "tapeflow.core.scopes:get_current_name_scope",
    "mixed_precision": "tapeflow.hosted.keras_2:",
    "nest": "tapeflow.hosted.nests:",
    "ops": "tapeflow.hosted.ops:",
    "register_call_context_function": "tapeflow.hosted.keras_2",
    "register_clear_session_function": "tapeflow.hosted.keras_2",
    "register_get_session_function": "tapeflow.hosted.keras_2",
    "register_load_model_function": "tapeflow.hosted.keras_2",
    "saved_model": "tapeflow.hosted.saved_models:",
    "tracking": "tapeflow.hosted.tracking:",
    "test": "tapeflow.hosted.testing:",
    "train": "tapeflow.hosted.train:",
}


def __getattr__(name: str) -> Any:
    home = _ON_FIRST_USE.get(name)
    if home is None:
        raise AttributeError(
            f"TapeFlow has no tf.__internal__.{name}, which is not public in TensorFlow: use a public function for it."
        )
    home, colon, own_name = home.partition(":")
    module = importlib.import_module(home)
    value = globals()[name] = module if colon and not own_name else getattr(module, own_name or name)
    return value
