"""The functions by which Keras 2 (`tf_keras`) registers itself with TensorFlow; most have no effect here."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow import compat
from tapeflow.config.execution import get_soft_device_placement


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Decorates a function so that `dispatch_for_types` can add implementations for other types than tensors, and
    dispatchers for all ops implement it where it refuses its arguments."""
    if target is None:
        return add_dispatch_support
    for_types: list[tuple[tuple[type, ...], Callable[..., Any]]] = []

    @functools.wraps(target)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        for types, other in for_types:
            if any(isinstance(value, types) for value in (*args, *kwargs.values())):
                return other(*args, **kwargs)
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):  # it may be an op to what it called with its arguments
            for dispatcher in _of_all_ops:
                result = dispatcher.handle(dispatching, args, kwargs)
                if result is not dispatcher.NOT_SUPPORTED:
                    return result
            raise

    if isinstance(target, type):
        return target
    vars(dispatching)["_for_types"] = for_types
    return dispatching


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """Returns a decorator for the implementation of `op` where an argument is of one of these types."""

    def decorate(function: Any) -> Any:
        op._for_types.append((types, function))
        return function

    return decorate


class GlobalOpDispatcher:
    """A dispatcher that may implement ops for arguments that are not tensors.

    Keras 2 has one for its symbolic tensors, the class `KerasTensor` of its module; ops call the hook of that class.
    """

    NOT_SUPPORTED = object()

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Returns the result of the op, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Registers the dispatcher for all ops of symbolic tensors."""
        _of_all_ops.append(self)
        symbolic = getattr(sys.modules[type(self).__module__], "keras_tensor", None)
        if symbolic is not None:
            symbolic.KerasTensor.__tf_dispatch__ = lambda _, function, args: self._dispatch(function, args)

    def _dispatch(self, function: Any, args: tuple[Any, ...]) -> Any:
        for dispatcher in _of_one_op.get(function, ()):
            result = dispatcher.handle(args, {})
            if result is not dispatcher.NOT_SUPPORTED:
                return result
        result = self.handle(function, args, {})
        return NotImplemented if result is self.NOT_SUPPORTED else result


_of_all_ops: list[GlobalOpDispatcher] = []
_of_one_op: dict[Any, list[OpDispatcher]] = {}


class OpDispatcher:
    """A dispatcher that may implement one op for arguments that are not tensors."""

    NOT_SUPPORTED = GlobalOpDispatcher.NOT_SUPPORTED

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Returns the result of the op, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Registers the dispatcher for an op of symbolic tensors, before those for all."""
        _of_one_op.setdefault(op, []).append(self)


def register_call_context_function(*functions: Any) -> None:
    """Accepts its arguments, without effect."""


register_clear_session_function = register_get_session_function = register_load_model_function = (
    register_call_context_function
)
register_session_provider = register_loss_scale_wrapper = register_call_context_function


@contextmanager
def load_context(options: Any) -> Iterator[None]:
    """Returns the scope in which a model is loaded; the options have no effect."""
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
