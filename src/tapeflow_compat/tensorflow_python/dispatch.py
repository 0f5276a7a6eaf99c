"""`tf.__internal__.dispatch`: dispatchers. Libraries implement public functions for values of their own with them.

Keras 2 builds its functional models this way. An op offers a call to the dispatchers off its fast path
(`core/ops/dispatchers.py`). A public function that is no op is replaced, when the first dispatcher registers, by one
that offers its calls first: so programs without dispatchers pay nothing.

`dispatched.txt` lists the public functions that TensorFlow offers to dispatchers (`scripts/record.py dispatch`): the
canonical name, other names and, behind ">", the function that TensorFlow offers in its place and its parameters. Behind
"*" are functions that pass all arguments to dispatchers by keyword. Behind "-" are functions that dispatchers get only
after the function refuses its arguments: it calls ops, which dispatchers get first.
"""

from __future__ import annotations

import functools
import inspect
import json
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tapeflow.core.ops.dispatchers import dispatchers, offer_call
from tapeflow.core.ops.op import RegisteredOp
from tapeflow.experimental.dispatch import replace_functions
from tapeflow_compat.tensorflow_python import operators
from tapeflow_compat.tensorflow_python.decorators import make_decorator
from tapeflow_compat.tensorflow_python.exporting import get_symbol_from_name, name_symbol

NOT_SUPPORTED = object()


class GlobalOpDispatcher:
    """A dispatcher that may implement all public functions for values that are not tensors."""

    NOT_SUPPORTED = NOT_SUPPORTED

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Returns the result of the function `op`, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Registers the dispatcher for all public functions."""
        _global_dispatchers.append(self)
        _support_dispatch()


class OpDispatcher:
    """A dispatcher that may implement one public function for values that are not tensors."""

    NOT_SUPPORTED = NOT_SUPPORTED

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Returns the result of the function, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Registers the dispatcher for a function or a class method, before those for all functions."""
        if inspect.ismethod(op) and isinstance(op.__self__, type):
            op = _support_dispatch_of_method(op)
        _dispatchers_of.setdefault(inspect.unwrap(op), []).append(self)
        _support_dispatch()


_global_dispatchers: list[GlobalOpDispatcher] = []
_dispatchers_of: dict[Any, list[OpDispatcher]] = {}


def dispatch(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Returns the result of the first dispatcher that implements a function for its arguments, or NotImplemented."""
    for dispatcher in _dispatchers_of.get(inspect.unwrap(function), ()):
        result = dispatcher.handle(args, kwargs)
        if result is not NOT_SUPPORTED:
            return result
    for of_all in _global_dispatchers:
        result = of_all.handle(function, args, kwargs)
        if result is not NOT_SUPPORTED:
            return result
    return NotImplemented


# ---- functions of libraries ------------------------------------------------------------------------------------------


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Decorates a function to accept values of other types: from implementations that `dispatch_for_types` adds, and
    from dispatchers if the function refuses its arguments."""
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
        except (TypeError, ValueError):  # a dispatcher may accept them
            result = dispatch(dispatching, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    if isinstance(target, type):
        return target
    vars(dispatching)["_for_types"] = for_types
    return dispatching


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """Returns a decorator for the implementation of `op` for arguments of these types."""

    def decorate(function: Callable[..., Any]) -> Any:
        op._for_types.append((types, function))
        return function

    return decorate


# ---- public functions ------------------------------------------------------------------------------------------------


class _Instead(NamedTuple):
    """The function that dispatchers get in place of another.

    Attributes:
        name: its canonical name.
        sources: from its parameters to the other function's.
        constants: from its parameters to values.
        lost: parameters of the other function that it lacks.
    """

    name: str
    sources: dict[str, str]
    constants: dict[str, Any]
    lost: frozenset[str]


class _Line(NamedTuple):
    """A line of `dispatched.txt`.

    Attributes:
        names: the names of the function, the canonical one first.
        first: dispatchers get the function itself before it runs; otherwise only if it refuses its arguments.
        complete: they get all of its arguments by keyword, the defaults too.
        instead: the function that they get instead, or None.
    """

    names: list[str]
    first: bool
    complete: bool
    instead: _Instead | None


def _lines() -> Iterator[_Line]:
    for line in Path(__file__).with_name("dispatched.txt").read_text().splitlines():
        names, _, words = line.partition(" > ")
        instead = None
        if words:
            target, *parameters = words.split(" ")
            sources, constants, lost = {}, {}, set()
            for word in parameters:
                parameter, colon, constant = word.partition(":")
                if word.startswith("!"):
                    lost.add(word[1:])
                elif colon:
                    constants[parameter] = json.loads(constant)
                else:
                    theirs, _, ours = word.partition("=")
                    sources[theirs] = ours or theirs
            instead = _Instead(target, sources, constants, frozenset(lost))
        of_function = names.removeprefix("- ").removeprefix("* ").split(" ")
        yield _Line(of_function, not names.startswith("- "), names.startswith("* "), instead)


_public: weakref.WeakKeyDictionary[Any, _Line] = weakref.WeakKeyDictionary()


@functools.cache
def _support_dispatch() -> None:
    """Has all public functions of `dispatched.txt` offer their calls, under their canonical names."""
    dispatchers.append(_dispatched)
    replacements: dict[Any, Any] = {}
    # A function that TensorFlow 1 has, too, has its newer name.
    for line in sorted(_lines(), key=lambda line: line.names[0].startswith("compat.")):
        for name in line.names:
            function = get_symbol_from_name(name)
            if not inspect.isroutine(function):
                continue
            plain = inspect.unwrap(function)
            name_symbol(plain, line.names[0])
            _public.setdefault(plain, line)
            if not isinstance(getattr(function, "op", None), RegisteredOp) and function not in replacements:
                replacements[function] = _offering(function) if line.first else _refusing(function)
    replace_functions(replacements)


def _offering(function: Callable[..., Any]) -> Any:
    """Returns a public function that offers its calls to the dispatchers before it runs."""

    def offering(*args: Any, **kwargs: Any) -> Any:
        result = offer_call(offering, args, kwargs)
        return function(*args, **kwargs) if result is NotImplemented else result

    return make_decorator(function, offering)


def _refusing(function: Callable[..., Any]) -> Any:
    """Returns a public function that offers its calls to the dispatchers if it refuses its arguments."""

    def refusing(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            result = offer_call(refusing, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    return make_decorator(function, refusing)


def _support_dispatch_of_method(method: Any) -> Any:
    """Has a class method offer its calls, with the class as the first argument; returns its function."""
    cls, function = method.__self__, method.__func__
    if inspect.unwrap(function) not in _dispatchers_of:
        setattr(cls, function.__name__, classmethod(_offering(function)))
    return function


def _dispatched(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls the dispatchers for a public function, or for the one that TensorFlow offers in its place."""
    if function in operators.OF_PYTHON:
        function = getattr(operators, operators.OF_PYTHON[function])
    plain = inspect.unwrap(function)
    line = _public.get(plain)
    if line is None:  # no public function
        return dispatch(function, args, kwargs) if plain in _dispatchers_of else NotImplemented
    instead = line.instead
    if line.complete:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = (), dict(bound.arguments)
    elif instead is not None:
        bound = inspect.signature(function).bind(*args, **kwargs)
        target = get_symbol_from_name(instead.name)
        if target is not None and instead.lost.isdisjoint(bound.arguments):
            bound.apply_defaults()
            values = {theirs: bound.arguments[ours] for theirs, ours in instead.sources.items()}
            values.update(instead.constants)
            accepted = inspect.signature(target).parameters
            if accepted.keys() >= values.keys():
                first = next(iter(values))
                function, args, kwargs = target, (values.pop(first),), values
    return dispatch(function, args, kwargs)
