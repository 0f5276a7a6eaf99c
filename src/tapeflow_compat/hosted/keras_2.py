"""The functions that register Keras 2 (`tf_keras`) with TensorFlow; most have no effect here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.config.execution import get_soft_device_placement
from tapeflow_compat import compat


def register_call_context_function(*functions: Any) -> None:
    """Accepts its arguments, without effect."""


register_clear_session_function = register_get_session_function = register_load_model_function = (
    register_call_context_function
)
register_session_provider = register_loss_scale_wrapper = register_call_context_function


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
