"""`tf.experimental.dispatch_for_...`: functions that a program registers for functions of `tf` and its own types.

Ops ask the class of an argument that is no tensor (`__tf_dispatch__`), which looks up the registered functions here. A
function that is no op is replaced, at the first registration for it, by one that looks here before it runs: under all
its names in TapeFlow, but not where a program has stored it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.ops.definition import Op
from tapeflow.core.values.tensor import Tensor

Handler = TypeVar("Handler", bound=Callable[..., Any])


# The namespaces whose ops take elementwise handlers, if they are elementwise and have one or two tensors.
_NAMESPACES = (
    "tapeflow", "tapeflow.bitwise", "tapeflow.debugging", "tapeflow.io", "tapeflow.math", "tapeflow.math.special",
    "tapeflow.nn", "tapeflow.strings",
)  # fmt: skip
# Other functions that do: they are no ops, or only their first tensor or two count.
_UNARY = (
    "tf cast clip_by_value ones_like saturate_cast zeros_like",
    "tf.image adjust_brightness adjust_gamma convert_image_dtype random_brightness stateless_random_brightness",
    "tf.math angle conj erfcinv imag log_sigmoid nextafter real reciprocal_no_nan",
    "tf.nn gelu leaky_relu log_softmax swish",
    "tf.strings regex_full_match regex_replace substr to_hash_bucket_strong to_number unicode_transcode",
)
_BINARY = ("tf complex scalar_mul", "tf.math logical_xor", "tf.nn sigmoid_cross_entropy_with_logits")
# Elementwise ops that do not, in TensorFlow.
_EXCLUDED = ("tf guarantee_const", "tf.io decode_json_example", "tf.math igamma igammac nextafter polygamma")
_ASSERTS = (
    "tf.debugging assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near "
    "assert_none_equal",
)


class _Target(NamedTuple):
    """A registration for a function.

    Attributes:
        types: the types of the arguments that it is for, by parameter.
        call: is called with the arguments of the function.
        registered: the function that the program registered: `call` itself, or an elementwise handler.
    """

    types: Mapping[str, Any]
    call: Callable[..., Any]
    registered: Callable[..., Any]


class _Registry:
    """All registrations.

    Attributes:
        targets: by the key of a function: its op, or itself.
        originals: from functions that look here to those that they replace, which are no ops.
        handlers: elementwise handlers, by kind and types.
    """

    def __init__(self) -> None:
        self.lock = new_rlock()
        self.targets: dict[Any, list[_Target]] = {}
        self.originals: dict[Any, Any] = {}
        self.handlers: dict[tuple[str, Any], Callable[..., Any]] = {}


_registry = _Registry()


def dispatch_for_api(api: Callable[..., Any], *signatures: Mapping[Any, Any]) -> Callable[[Handler], Handler]:
    """Registers a function that `api` calls where arguments have certain types.

    The function has the same parameters. It may return `NotImplemented` to leave the call to `api`.

    Args:
        api: a function of `tf`.
        *signatures: dicts from parameters, by name or position, to types that their arguments must have: classes,
            `List[...]` and `Union[...]`; without any, the annotations of the decorated function.

    Returns:
        A decorator, which returns the function itself.

    Raises:
        ValueError: `api` is no function of `tf`; the parameters are others; a type is of another kind.

    Example:
        >>> class Masked(tf.experimental.ExtensionType):
        ...     values: tf.Tensor
        ...     mask: tf.Tensor
        >>> @tf.experimental.dispatch_for_api(tf.math.subtract, {"x": Masked})
        ... def masked_subtract(x, y, name=None):
        ...     return Masked(x.values - y, x.mask)
        >>> tf.math.subtract(Masked([3], [True]), 1).values.numpy().tolist()
        [2]
    """
    parameters = _api_parameters(api)
    for signature in signatures:
        for annotation in signature.values():
            _check_annotation(annotation)

    def decorate(target: Handler) -> Handler:
        own = inspect.signature(target)
        if [p.name for p in own.parameters.values()] != [p.name for p in parameters.parameters.values()]:
            raise ValueError(
                f"Dispatch function's signature {own} does not match API's signature {_plain_signature(parameters)}."
            )
        for types_of in signatures or [_annotated_types(target)]:
            _register_target(api, _Target(_by_name(types_of, parameters), target, target))
        return target

    return decorate


def dispatch_for_unary_elementwise_apis(x_type: object) -> Callable[[Handler], Handler]:
    """Registers a function that computes every elementwise function of one tensor, for a type.

    It is called as `handler(api, x)`, and applies `api`, a function of one argument, to the tensors in `x`.

    Args:
        x_type: the type of the argument: a class, `List[...]` or `Union[...]`.

    Returns:
        A decorator, which returns the function itself.

    Raises:
        ValueError: there is a handler for the type already.

    Example:
        >>> class Boxed(tf.experimental.ExtensionType):
        ...     inside: tf.Tensor
        >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Boxed)
        ... def handler(api, x):
        ...     return Boxed(api(x.inside))
        >>> tf.abs(Boxed([-1, 2])).inside.numpy().tolist()
        [1, 2]
    """
    return _elementwise_decorator("unary elementwise", (x_type,), lambda: _elementwise_apis(1, _UNARY))


def dispatch_for_binary_elementwise_apis(x_type: object, y_type: object) -> Callable[[Handler], Handler]:
    """Registers a function that computes every elementwise function of two tensors, for two types.

    It is called as `handler(api, x, y)`, and applies `api`, a function of two arguments, to the tensors in them.

    Args:
        x_type, y_type: the types of the arguments: classes, `List[...]` or `Union[...]`.

    Returns:
        A decorator, which returns the function itself.

    Raises:
        ValueError: there is a handler for the types already.

    Example:
        >>> class Wrapped(tf.experimental.ExtensionType):
        ...     inside: tf.Tensor
        >>> @tf.experimental.dispatch_for_binary_elementwise_apis(Wrapped, Wrapped)
        ... def handler(api, x, y):
        ...     return Wrapped(api(x.inside, y.inside))
        >>> tf.add(Wrapped([1, 2]), Wrapped([3, 4])).inside.numpy().tolist()
        [4, 6]
    """
    return _elementwise_decorator("binary elementwise", (x_type, y_type), lambda: _elementwise_apis(2, _BINARY))


def dispatch_for_binary_elementwise_assert_apis(x_type: object, y_type: object) -> Callable[[Handler], Handler]:
    """Registers a function that computes `tf.debugging.assert_equal` and its like, for two types.

    Args:
        x_type, y_type: the types of the arguments: classes, `List[...]` or `Union[...]`.

    Returns:
        A decorator, which returns the function itself.

    Raises:
        ValueError: there is a handler for the types already.

    Example:
        >>> class Held(tf.experimental.ExtensionType):
        ...     inside: tf.Tensor
        >>> @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Held, Held)
        ... def handler(api, x, y):
        ...     return api(x.inside, y.inside)
        >>> tf.debugging.assert_less(Held([1]), Held([3]))
    """
    return _elementwise_decorator("binary elementwise assert", (x_type, y_type), lambda: _named_functions(_ASSERTS))


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Removes the registrations of a decorated function.

    Args:
        dispatch_target: the function.

    Returns:
        None.

    Raises:
        ValueError: it was not registered.

    Example:
        >>> class Unit(tf.experimental.ExtensionType):
        ...     size: tf.Tensor
        >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Unit)
        ... def handler(api, x):
        ...     return Unit(api(x.size))
        >>> tf.experimental.unregister_dispatch_for(handler)
    """
    with _registry.lock:
        registered = False
        for key, targets in list(_registry.targets.items()):
            others = [t for t in targets if t.registered is not dispatch_target]
            registered = registered or len(others) < len(targets)
            _registry.targets[key] = others
        for kind in [k for k, handler in _registry.handlers.items() if handler is dispatch_target]:
            del _registry.handlers[kind]
    if not registered:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")


def of_op(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Returns the result of the function registered for an op and its arguments, or NotImplemented."""
    targets = _registry.targets.get(_api_key(function))
    if not targets:
        return NotImplemented
    return _dispatch_call(function, targets, args, {})


# ---- registering -----------------------------------------------------------------------------------------------------


def _api_key(api: Any) -> Any:
    """Returns the key of a function: the op that it is, or itself."""
    return api.op if _is_op(api) else _registry.originals.get(api, api)


def _is_op(api: object) -> bool:
    return getattr(getattr(api, "op", None), "function", None) is api


def _is_widened(api: Callable[..., Any]) -> bool:
    """Returns True if a function asks its arguments' classes itself, as an op does."""
    return getattr(api, "widened", None) is api


def _api_parameters(api: Callable[..., Any]) -> inspect.Signature:
    if not inspect.isfunction(api) or not str(api.__module__).startswith("tapeflow"):
        raise ValueError(f"{api} does not support dispatch.")
    return inspect.signature(api)


def _plain_signature(signature: inspect.Signature) -> inspect.Signature:
    """Returns a signature without annotations."""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return inspect.Signature(bare)


def _annotated_types(target: Callable[..., Any]) -> dict[str, Any]:
    annotations = {n: t for n, t in typing.get_type_hints(target).items() if n != "return"}
    if not annotations:
        raise ValueError(
            "The dispatch_for_api decorator must be called with at least one signature, or applied to a function that "
            "has type annotations on its parameters."
        )
    for annotation in annotations.values():
        _check_annotation(annotation)
    return annotations


def _check_annotation(annotation: Any) -> None:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType, list):
        for part in args:
            _check_annotation(part)
    elif not isinstance(annotation, type) or origin is not None:
        raise ValueError(
            f"Type annotation {annotation} is not currently supported by dispatch.  Supported annotations: type "
            "objects,  List[...], and Union[...]"
        )


def _by_name(annotations: Mapping[Any, Any], signature: inspect.Signature) -> dict[str, Any]:
    names = list(signature.parameters)
    result = {}
    for key, annotation in annotations.items():
        name = names[key] if isinstance(key, int) and key < len(names) else key
        if name not in names:
            raise ValueError(f"signature includes annotation for unknown parameter {key!r}.")
        result[name] = annotation
    return result


def _register_target(api: Callable[..., Any], target: _Target) -> None:
    with _registry.lock:
        key = _api_key(api)
        # A new list: another thread may be going through the old one.
        _registry.targets[key] = [*_registry.targets.get(key, ()), target]
        if not _is_op(api) and not _is_widened(api) and key not in _registry.originals.values():
            _registry.originals[_replace_function(key)] = key
        for annotation in target.types.values():
            for kind in _annotation_classes(annotation):
                _add_dispatch(kind)


def _annotation_classes(annotation: Any) -> list[type]:
    if typing.get_origin(annotation) is not None:
        return [c for part in typing.get_args(annotation) for c in _annotation_classes(part)]
    return [annotation]


def _add_dispatch(kind: Any) -> None:
    """Adds the method that ops look for to a class of the program."""
    ours = kind.__module__ == "builtins" or kind.__module__.startswith(("tapeflow", "tensorflow", "numpy"))
    if not ours and not hasattr(kind, "__tf_dispatch__"):
        kind.__tf_dispatch__ = lambda self, function, args: of_op(function, args)


def replace_functions(replacements: Mapping[Any, Any]) -> None:
    """Replaces functions by others, under all names that they have in TapeFlow."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "tapeflow" and isinstance(module, types.ModuleType):
            for attribute, value in list(vars(module).items()):
                if isinstance(value, types.FunctionType) and value in replacements:
                    setattr(module, attribute, replacements[value])


def _replace_function(function: Callable[..., Any]) -> Any:
    """Replaces a function by one that calls the registered functions first."""

    @functools.wraps(function)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        result = _dispatch_call(function, _registry.targets[function], args, kwargs)
        return function(*args, **kwargs) if result is NotImplemented else result

    replace_functions({function: dispatching})
    return dispatching


def _elementwise_decorator(
    kind: str, types_of: tuple[Any, ...], apis: Callable[[], list[Any]]
) -> Callable[[Handler], Handler]:
    """Returns the decorator that registers an elementwise handler.

    Args:
        kind: the name of the handlers in errors.
        types_of: the types of the first arguments, which are the tensors.
        apis: returns the functions that take the handler; called at the registration, as it loads their namespaces.
    """

    def decorate(handler: Handler) -> Handler:
        existing = _registry.handlers.get((kind, types_of))
        if existing is not None:
            text = types_of[0] if len(types_of) == 1 else types_of
            raise ValueError(f"A {kind} dispatch handler ({existing}) has already been registered for {text}.")
        _registry.handlers[kind, types_of] = handler
        for api in apis():
            first = list(inspect.signature(api).parameters)[: len(types_of)]
            _register_target(
                api, _Target(dict(zip(first, types_of, strict=True)), _elementwise_target(api, first, handler), handler)
            )
        return handler

    return decorate


def _elementwise_target(api: Callable[..., Any], tensors: list[str], handler: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(api)
    plain = api if _is_op(api) else _api_key(api)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        values = [bound.pop(name) for name in tensors]
        if not bound:
            return handler(plain, *values)
        return handler(lambda *inner: plain(**dict(zip(tensors, inner, strict=True)), **bound), *values)

    return call


def _elementwise_apis(tensors: int, others: tuple[str, ...]) -> list[Any]:
    """Returns the public elementwise ops of so many tensors, and other functions that are named."""
    apis = {_api_key(api): api for api in _named_functions(others)}
    excluded = set(map(_api_key, _named_functions(_EXCLUDED)))
    for namespace in _NAMESPACES:
        for api in list(vars(importlib.import_module(namespace)).values()):
            op = getattr(api, "op", None) if inspect.isfunction(api) else None
            if not isinstance(op, Op) or not op.elementwise or op.identity or _api_key(api) in excluded:
                continue
            if op.kinds is not None and op.kinds.count("tensor") == tensors:
                apis[_api_key(api)] = api
    return list(apis.values())


def _named_functions(lines: tuple[str, ...]) -> list[Any]:
    """Returns the functions in lines of a namespace and names in it."""
    functions = []
    for line in lines:
        namespace, *names = line.split()
        module = importlib.import_module(namespace.replace("tf", "tapeflow", 1))
        functions += [getattr(module, name) for name in names]
    return functions


# ---- calling ---------------------------------------------------------------------------------------------------------


def _dispatch_call(
    function: Callable[..., Any], targets: list[_Target], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Returns the result of the one target that fits, or NotImplemented.

    Raises:
        ValueError: several fit.
    """
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return NotImplemented  # the function itself raises the error
    fitting = [t for t in targets if all(n in bound and _value_fits(bound[n], a) for n, a in t.types.items())]
    fitting = [t for t in fitting if any(_is_of_a_program(bound[n]) for n in t.types)]
    if len(fitting) > 1:
        name = getattr(function, "__name__", "the function")
        raise ValueError(
            f"Multiple dispatch targets that were registered with tf.dispatch_for ({fitting[0].registered} and "
            f"{fitting[1].registered}) match the arguments to {name}"
        )
    return fitting[0].call(*args, **kwargs) if fitting else NotImplemented


def _value_fits(value: object, annotation: Any) -> bool:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return any(_value_fits(value, part) for part in args)
    if origin is list:
        return isinstance(value, (list, tuple)) and all(_value_fits(part, args[0]) for part in value)
    return isinstance(value, annotation)


def _is_of_a_program(value: object) -> bool:
    """Returns True if ops do not take the value themselves: registrations for tensors alone change nothing."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_of_a_program, value))
    return not isinstance(value, (Tensor, bool, int, float, complex, str, bytes, type(None)))
