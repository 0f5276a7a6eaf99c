"""Decorators that record the function they decorate."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import contextmanager
from inspect import FullArgSpec, Parameter, getdoc, getmro, isclass, signature
from typing import Any, NamedTuple

__all__ = ["Parameter", "contextmanager", "getdoc", "getmro", "isclass", "signature"]

_inspect = inspect


def getfullargspec(obj: Any) -> FullArgSpec:
    """Returns the parameters of a function beneath its decorators, without types, as libraries compare them with those
    of their functions."""
    _, target = unwrap(getattr(obj, "python_function", obj))
    return inspect.getfullargspec(target)._replace(annotations={})


class ArgSpec(NamedTuple):
    """The parameters of a function in the form of Python 2: those that are keyword-only stand after the others."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(obj: Any) -> ArgSpec:
    """Returns the parameters of a callable, beneath its decorators."""
    decorators, target = unwrap(obj)
    declared = next((d.decorator_argspec for d in decorators if d.decorator_argspec is not None), None)
    if declared is not None:
        return declared
    spec = inspect.getfullargspec(target)
    defaults = (*(spec.defaults or ()), *(spec.kwonlydefaults or {}).values())
    return ArgSpec([*spec.args, *spec.kwonlyargs], spec.varargs, spec.varkw, defaults or None)


class Decorator:
    """One of the decorators of a function.

    Attributes:
        decorated_target: the decorated function.
        decorator_name: the name of the decorator.
        decorator_argspec: the signature of the result, or None.
    """

    def __init__(self, decorated_target: Any, decorator_name: str, decorator_argspec: Any) -> None:
        self.decorated_target = decorated_target
        self.decorator_name = decorator_name
        self.decorator_argspec = decorator_argspec


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """Copies the name and documentation of a target to a function, and records it as a decorator of the target."""
    functools.update_wrapper(decorator_func, target)
    if decorator_argspec is not None:
        decorator_func.__signature__ = _signature_of(decorator_argspec, inspect.ismethod(unwrap(target)[1]))
    decorator_func._tf_decorator = Decorator(target, decorator_name or "decorator", decorator_argspec)
    return decorator_func


def _signature_of(spec: Any, bound: bool) -> inspect.Signature:
    """Returns the signature that a `FullArgSpec` or `ArgSpec` describes, for bound methods without the object."""
    optional = dict(zip(reversed(spec.args), reversed(spec.defaults or ()), strict=False))
    parameters = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=optional.get(name, Parameter.empty))
        for name in spec.args[bound:]
    ]
    if spec.varargs is not None:
        parameters.append(Parameter(spec.varargs, Parameter.VAR_POSITIONAL))
    for name in getattr(spec, "kwonlyargs", ()):
        default = (spec.kwonlydefaults or {}).get(name, Parameter.empty)
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
    keywords = spec.varkw if isinstance(spec, FullArgSpec) else spec.keywords
    if keywords is not None:
        parameters.append(Parameter(keywords, Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


TFDecorator = Decorator


def unwrap(maybe_tf_decorator: Any) -> tuple[list[Decorator], Any]:
    """Returns the decorators of a function, the outermost first, and the function without them."""
    decorators: list[Decorator] = []
    while not isinstance(maybe_tf_decorator, type):
        decorator = vars(maybe_tf_decorator).get("_tf_decorator") if hasattr(maybe_tf_decorator, "__dict__") else None
        if not isinstance(decorator, Decorator):
            break
        decorators.append(decorator)
        maybe_tf_decorator = decorator.decorated_target
    return decorators, maybe_tf_decorator


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the positional parameters of a function; a bound method's own object is left out."""
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(name for name, p in signature(fn).parameters.items() if p.kind in positional)


def has_kwargs(fn: Callable[..., Any]) -> bool:
    """Returns True if a function takes arguments of any name."""
    return any(p.kind is Parameter.VAR_KEYWORD for p in signature(fn).parameters.values())
