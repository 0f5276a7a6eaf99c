"""What a program registers for functions of `tf` and its own types: `tf.experimental.dispatch_for_...`.

Ops ask the class of an argument that is no tensor (`__tf_dispatch__`), and so find what is registered here. A function
that is no op is exchanged, when something is first registered for it, for one that looks here before it runs: under
all names in TapeFlow, not where a program has taken it away to.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeflow.core.values.tensor import Tensor

_UNARY = (
    "tf abs acos acosh asin asinh atan atanh cast clip_by_value cos cosh exp floor negative ones_like round "
    "saturate_cast sigmoid sign sin sinh sqrt square tan tanh zeros_like",
    "tf.bitwise invert",
    "tf.debugging check_numerics",
    "tf.image adjust_brightness adjust_gamma convert_image_dtype random_brightness stateless_random_brightness",
    "tf.io decode_base64 decode_compressed encode_base64",
    "tf.math angle ceil conj digamma erf erfc erfcinv erfinv expm1 imag is_finite is_inf is_nan lgamma log log1p "
    "log_sigmoid logical_not ndtri nextafter real reciprocal reciprocal_no_nan rint rsqrt softplus",
    "tf.math.special bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 "
    "bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence",
    "tf.nn elu gelu leaky_relu log_softmax relu relu6 selu softsign swish",
    "tf.strings as_string length lower regex_full_match regex_replace strip substr to_hash_bucket "
    "to_hash_bucket_fast to_hash_bucket_strong to_number unicode_script unicode_transcode upper",
)
_BINARY = (
    "tf add complex divide equal greater greater_equal less less_equal logical_and logical_or maximum minimum multiply "
    "not_equal pow realdiv scalar_mul subtract truediv truncatediv truncatemod",
    "tf.bitwise bitwise_and bitwise_or bitwise_xor left_shift right_shift",
    "tf.math atan2 divide_no_nan floordiv floormod logical_xor multiply_no_nan squared_difference xdivy xlog1py xlogy "
    "zeta",
    "tf.nn sigmoid_cross_entropy_with_logits",
)
_ASSERTS = (
    "tf.debugging assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near "
    "assert_none_equal",
)


class _Target(NamedTuple):
    """Something registered for a function.

    Attributes:
        wanted: the types that arguments must be of, by parameter.
        call: what to call with the arguments of the function.
        registered: what the program registered: `call` itself, or an elementwise handler.
    """

    wanted: Mapping[str, Any]
    call: Callable[..., Any]
    registered: Callable[..., Any]


class _Registry:
    """What is registered.

    Attributes:
        targets: by what identifies a function: its op, or itself.
        originals: from functions that look here to those that are no ops and do not.
        handlers: elementwise handlers, by kind and types.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.targets: dict[Any, list[_Target]] = {}
        self.originals: dict[Any, Any] = {}
        self.handlers: dict[tuple[str, Any], Callable[..., Any]] = {}


_registry = _Registry()


def dispatch_for_api(api: Callable[..., Any], *signatures: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """A decorator that has a function of `tf` call another one, where arguments are of given types.

    The other function has the same parameters. It may give `NotImplemented` to leave the call to `api`.

    Args:
        api: a function of `tf`.
        *signatures: dicts from parameters, by name or position, to types that their arguments must have: classes,
            `List[...]` and `Union[...]`; without any, the annotations of the decorated function.

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
    parameters = _parameters(api)
    for signature in signatures:
        for annotation in signature.values():
            _check_annotation(annotation)

    def decorate(target: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(target)
        if [p.name for p in own.parameters.values()] != [p.name for p in parameters.parameters.values()]:
            raise ValueError(
                f"Dispatch function's signature {own} does not match API's signature {_plain(parameters)}."
            )
        for wanted in signatures or [_annotated(target)]:
            _register(api, _Target(_by_name(wanted, parameters), target, target))
        return target

    return decorate


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Any], Any]:
    """A decorator for a function that does what every elementwise function of one tensor does, for a type.

    It is called as `handler(api, x)`, and applies `api`, a function of one argument, to the tensors in `x`.

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
    return _elementwise("unary", "A unary", _UNARY, (x_type,))


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """A decorator for a function that does what every elementwise function of two tensors does, for two types.

    It is called as `handler(api, x, y)`, and applies `api`, a function of two arguments, to the tensors in them.

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
    return _elementwise("binary", "A binary", _BINARY, (x_type, y_type))


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """`dispatch_for_binary_elementwise_apis` for `tf.debugging.assert_equal` and its like.

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
    return _elementwise("assert", "A binary", _ASSERTS, (x_type, y_type))


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Takes back what a decorated function was registered for.

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
        found = False
        for key, targets in list(_registry.targets.items()):
            left = [t for t in targets if t.registered is not dispatch_target]
            found = found or len(left) < len(targets)
            _registry.targets[key] = left
        for kind in [k for k, handler in _registry.handlers.items() if handler is dispatch_target]:
            del _registry.handlers[kind]
    if not found:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")


def of_op(function: Any, args: tuple[Any, ...]) -> Any:
    """What is registered for an op and these arguments, in the order of its parameters, or NotImplemented."""
    targets = _registry.targets.get(function.op)
    if not targets:
        return NotImplemented
    return _called(function, targets, args, {})


# ---- registering -----------------------------------------------------------------------------------------------------


def _key(api: Any) -> Any:
    """What stands for a function: the op that it is, or itself."""
    return api.op if _is_op(api) else _registry.originals.get(api, api)


def _is_op(api: Any) -> bool:
    return getattr(getattr(api, "op", None), "function", None) is api


def _parameters(api: Any) -> inspect.Signature:
    if not inspect.isfunction(api) or not str(api.__module__).startswith("tapeflow"):
        raise ValueError(f"{api} does not support dispatch.")
    return inspect.signature(api)


def _plain(signature: inspect.Signature) -> inspect.Signature:
    """A signature without annotations."""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return inspect.Signature(bare)


def _annotated(target: Any) -> dict[str, Any]:
    wanted = {n: t for n, t in typing.get_type_hints(target).items() if n != "return"}
    if not wanted:
        raise ValueError(
            "The dispatch_for_api decorator must be called with at least one signature, or applied to a function that "
            "has type annotations on its parameters."
        )
    for annotation in wanted.values():
        _check_annotation(annotation)
    return wanted


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


def _by_name(wanted: Mapping[Any, Any], signature: inspect.Signature) -> dict[str, Any]:
    names = list(signature.parameters)
    result = {}
    for which, annotation in wanted.items():
        name = names[which] if isinstance(which, int) and which < len(names) else which
        if name not in names:
            raise ValueError(f"signature includes annotation for unknown parameter {which!r}.")
        result[name] = annotation
    return result


def _register(api: Any, target: _Target) -> None:
    with _registry.lock:
        key = _key(api)
        # A new list: another thread may be going through the old one.
        _registry.targets[key] = [*_registry.targets.get(key, ()), target]
        if not _is_op(api) and key not in _registry.originals.values():
            _registry.originals[_exchange(key)] = key
        for annotation in target.wanted.values():
            for kind in _classes(annotation):
                _have_ops_ask(kind)


def _classes(annotation: Any) -> list[type]:
    if typing.get_origin(annotation) is not None:
        return [c for part in typing.get_args(annotation) for c in _classes(part)]
    return [annotation]


def _have_ops_ask(kind: Any) -> None:
    """Gives a program's own class the method that ops look for."""
    ours = kind.__module__ == "builtins" or kind.__module__.startswith(("tapeflow", "numpy"))
    if not ours and not hasattr(kind, "__tf_dispatch__"):
        kind.__tf_dispatch__ = lambda self, function, args: of_op(function, args)


def _exchange(function: Any) -> Any:
    """Puts a function that looks for what is registered in the place of one that does not."""

    @functools.wraps(function)
    def looking(*args: Any, **kwargs: Any) -> Any:
        result = _called(function, _registry.targets[function], args, kwargs)
        return function(*args, **kwargs) if result is NotImplemented else result

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "tapeflow" and isinstance(module, types.ModuleType):
            for attribute in [a for a, value in list(vars(module).items()) if value is function]:
                setattr(module, attribute, looking)
    return looking


def _elementwise(kind: str, title: str, apis: tuple[str, ...], wanted: tuple[Any, ...]) -> Callable[[Any], Any]:
    shown = wanted[0] if len(wanted) == 1 else wanted

    def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
        known = _registry.handlers.get((kind, wanted))
        if known is not None:
            what = "assert " if kind == "assert" else ""
            raise ValueError(
                f"{title} elementwise {what}dispatch handler ({known}) has already been registered for {shown}."
            )
        _registry.handlers[kind, wanted] = handler
        for api in _apis(apis):
            names = list(inspect.signature(api).parameters)
            # The first parameters are the tensors, whatever else there is.
            first = names[: len(wanted)]
            types_of = dict(zip(first, wanted, strict=True))
            _register(api, _Target(types_of, _elementwise_target(api, first, handler), handler))
        return handler

    return decorate


def _elementwise_target(api: Any, tensors: list[str], handler: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(api)
    plain = api if _is_op(api) else _key(api)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        values = [bound.pop(name) for name in tensors]
        if not bound:
            return handler(plain, *values)
        return handler(lambda *inner: plain(**dict(zip(tensors, inner, strict=True)), **bound), *values)

    return call


def _apis(lines: tuple[str, ...]) -> list[Any]:
    import tapeflow

    found = {}
    for line in lines:
        place, *names = line.split()
        module: Any = tapeflow
        for part in place.split(".")[1:]:
            module = getattr(module, part, None) or importlib.import_module(f"{module.__name__}.{part}")
        for name in names:
            api = getattr(module, name)
            found[_key(api)] = api
    return list(found.values())


# ---- calling ---------------------------------------------------------------------------------------------------------


def _called(function: Any, targets: list[_Target], args: Any, kwargs: Any) -> Any:
    """What the one target that fits gives, or NotImplemented.

    Raises:
        ValueError: several fit.
    """
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return NotImplemented  # the function itself says what is wrong
    fitting = [t for t in targets if all(n in bound and _fits(bound[n], a) for n, a in t.wanted.items())]
    fitting = [t for t in fitting if any(_is_of_a_program(bound[n]) for n in t.wanted)]
    if len(fitting) > 1:
        name = getattr(function, "__name__", "the function")
        raise ValueError(
            f"Multiple dispatch targets that were registered with tf.dispatch_for ({fitting[0].registered} and "
            f"{fitting[1].registered}) match the arguments to {name}"
        )
    return fitting[0].call(*args, **kwargs) if fitting else NotImplemented


def _fits(value: Any, annotation: Any) -> bool:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in args)
    if origin is list:
        return isinstance(value, (list, tuple)) and all(_fits(part, args[0]) for part in value)
    return isinstance(value, annotation)


def _is_of_a_program(value: Any) -> bool:
    """Whether ops do not know the value themselves: what is registered for tensors alone changes nothing."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_of_a_program, value))
    return not isinstance(value, (Tensor, bool, int, float, complex, str, bytes, type(None)))
