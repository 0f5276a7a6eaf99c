"""What Keras 2 (`tf_keras`) tells TensorFlow about itself. Nothing here asks for it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Returns a decorator that lets `dispatch_for_types` say what a function does for other types than tensors."""
    if target is None:
        return add_dispatch_support
    for_types: list[tuple[tuple[type, ...], Callable[..., Any]]] = []

    @functools.wraps(target)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        for types, other in for_types:
            if any(isinstance(value, types) for value in (*args, *kwargs.values())):
                return other(*args, **kwargs)
        return target(*args, **kwargs)

    if isinstance(target, type):
        return target
    vars(dispatching)["_for_types"] = for_types
    return dispatching


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """Returns a decorator for a function that is called in the place of another, where an argument is of one of these types."""

    def decorate(function: Any) -> Any:
        op._for_types.append((types, function))
        return function

    return decorate


class GlobalOpDispatcher:
    """What may take over an op for arguments that are no tensors.

    Keras 2 has one for its symbolic tensors, the class that its module calls `KerasTensor`: ops ask that class.
    """

    NOT_SUPPORTED = object()

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """What it gives for the op, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op: Any = None) -> None:
        """Has the ops of symbolic tensors ask it; what it is to do for one function alone is not asked."""
        symbolic = getattr(sys.modules[type(self).__module__], "keras_tensor", None)
        if op is None and symbolic is not None:
            symbolic.KerasTensor.__tf_dispatch__ = lambda _, function, args: self._asked(function, args)

    def _asked(self, function: Any, args: tuple[Any, ...]) -> Any:
        result = self.handle(function, args, {})
        return NotImplemented if result is self.NOT_SUPPORTED else result


OpDispatcher = GlobalOpDispatcher


def register_call_context_function(*functions: Any) -> None:
    """Is accepted, and not asked."""


register_clear_session_function = register_get_session_function = register_load_model_function = (
    register_call_context_function
)
register_session_provider = register_loss_scale_wrapper = register_call_context_function


@contextmanager
def load_context(options: Any) -> Iterator[None]:
    """Returns the scope in which a model is loaded, with options that say from where: nothing here asks for them."""
    yield


class VersionedTypeRegistration:
    """How objects of a class would be made from a SavedModel; those loaded here are plain ones."""

    def __init__(self, **kwargs: Any) -> None:
        vars(self).update(kwargs)


def register_revived_type(identifier: str, predicate: Any, versions: Any) -> None:
    """Is accepted, and not asked."""


class StateManager:
    """What keeps the variables of feature columns, of which there are none here."""


def get_config() -> None:
    """Returns the `ConfigProto` of the runtime: there is none."""


def get_enclosing_xla_context() -> None:
    """Returns the context of XLA that operations are built in: there is none."""


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Returns whether a graph is compiled by XLA: it never is."""
    return False


load = SimpleNamespace(VersionedTypeRegistration=VersionedTypeRegistration, register_revived_type=register_revived_type)


def TF_ListPluggablePhysicalDevices() -> list[bytes]:
    """Returns the devices of plug-ins: there are none."""
    return []


class KerasModeKeys:
    """What a model is called for."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"
