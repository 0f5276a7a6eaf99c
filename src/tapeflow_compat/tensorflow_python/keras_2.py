"""Registers Keras 2 (`tf_keras`) with TensorFlow. Most functions have no effect here.

Keras 2 applies `safe_mode` to `.keras` files alone. Here it applies to files in HDF5 and to SavedModels, too: they hold
the code of Lambda layers, which runs when the model is loaded and called.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.config.execution import get_soft_device_placement
from tapeflow_compat import compat

ENABLE_CONTROL_FLOW_V2 = True  # programs set it, without effect


def register_call_context_function(*functions: Any) -> None:
    """Accepts its arguments, without effect."""


register_clear_session_function = register_get_session_function = register_call_context_function
register_session_provider = register_loss_scale_wrapper = register_call_context_function


def register_load_model_function(load: Callable[..., Any]) -> None:
    """Replaces the function of Keras 2 that loads files in HDF5 and SavedModels by one in safe mode.

    Args:
        load: the function, which its module registers.
    """
    scopes = importlib.import_module("tf_keras.src.saving.serialization_lib")

    @functools.wraps(load)
    def load_model(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1)  # `tf_keras.saving.load_model`, which does not pass its argument on
        safe_mode = caller.f_locals.get("safe_mode", True) if caller.f_code.co_name == "load_model" else True
        enabled = scopes.in_safe_mode()
        with scopes.SafeModeScope(safe_mode if enabled is None else enabled):
            return load(*args, **kwargs)

    vars(sys.modules[load.__module__])[load.__name__] = load_model


@contextmanager
def load_context(options: Any) -> Iterator[None]:
    """Returns the scope for loading a model; the options have no effect."""
    yield


def get_config() -> Any:
    """Returns the options of the runtime for sessions, a `ConfigProto`."""
    return compat.v1.ConfigProto(allow_soft_placement=get_soft_device_placement())


def get_enclosing_xla_context() -> None:
    """Returns None: no operation is built in a context of XLA."""


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Returns False: no graph is compiled by XLA."""
    return False


def TF_ListPluggablePhysicalDevices() -> list[bytes]:
    """Returns an empty list: there are no devices of plug-ins."""
    return []


class KerasModeKeys:
    """The purposes of a call of a model."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"
