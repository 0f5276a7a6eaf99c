"""The parameters of functions beneath their decorators; the results are TensorFlow's."""

import functools
import inspect

import pytest

from tapeflow_compat.tensorflow_python import decorators, deprecation


class Layer:
    def __init__(self, units=3, *args, name, **kwargs): ...

    def __call__(self, x, *args, y=1, **kwargs): ...

    def method(self, a, b=1): ...


class Derived(Layer):
    pass


class Plain:
    pass


def function(a, b=2, *args, c, d=1, **kwargs): ...


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (function, (["a", "b", "c", "d"], "args", "kwargs", (2, 1))),
        (Layer, (["self", "units", "name"], "args", "kwargs", (3,))),
        (Derived, (["self", "units", "name"], "args", "kwargs", (3,))),
        (Plain, ([], None, None, None)),
        (Layer(name="n"), (["self", "x", "y"], "args", "kwargs", (1,))),
        (Layer(name="n").method, (["self", "a", "b"], None, None, (1,))),
        (len, (["obj"], None, None, None)),
    ],
)
def test_parameters_in_the_form_of_python_2(target, expected):
    assert decorators.getargspec(target) == expected


@pytest.mark.parametrize(
    ("target", "names", "has_kwargs"),
    [
        (function, ("a", "b"), True),
        (Layer(name="n").method, ("a", "b"), False),
        (Layer(name="n"), ("x",), True),
        (functools.partial(function, 1), ("b",), True),
        (functools.partial(function, b=1), ("a",), True),
        (lambda *args: None, (), False),
    ],
)
def test_names_of_positional_parameters(target, names, has_kwargs):
    assert decorators.fn_args(target) == names
    assert decorators.has_kwargs(target) is has_kwargs


def test_the_outermost_declared_signature_counts():
    spec, other = decorators.getargspec(Layer.method), decorators.getargspec(len)
    inner = decorators.make_decorator(function, lambda *a, **k: 1, "inner", "doc", spec)
    middle = decorators.make_decorator(inner, lambda *a, **k: 2)
    outer = decorators.make_decorator(middle, lambda *a, **k: 3, "outer", decorator_argspec=other)
    assert decorators.getargspec(inner) is spec and decorators.getargspec(middle) is spec
    assert decorators.getargspec(outer) is other
    found, target = decorators.unwrap(outer)
    assert target is function
    assert [d.decorator_name for d in found] == ["outer", "decorator", "inner"]
    assert [d.decorated_target for d in found] == [middle, inner, function]
    assert [d.decorator_argspec for d in found] == [other, None, spec]
    assert (inner(), middle(), outer(), outer.__name__) == (1, 2, 3, "function")
    assert decorators.unwrap(Layer) == ([], Layer) and decorators.unwrap(3) == ([], 3)


def test_signatures_of_declared_parameters():
    spec = decorators.getargspec(lambda a, b=1, *c, **d: None)
    made = decorators.make_decorator(print, lambda *a, **k: None, decorator_argspec=spec)
    assert str(inspect.signature(made)) == "(a, b=1, *c, **d)"
    method = decorators.make_decorator(
        Layer(name="n").method, lambda *a: None, decorator_argspec=decorators.getargspec(Layer.method)
    )
    assert str(inspect.signature(method)) == "(a, b=1)"
    plain = decorators.make_decorator(
        Layer.method, lambda *a: None, decorator_argspec=decorators.getargspec(Layer.method)
    )
    assert str(inspect.signature(plain)) == "(self, a, b=1)"
    keyword = inspect.getfullargspec(lambda *, a, b=2: None)
    made = decorators.make_decorator(print, lambda **k: None, decorator_argspec=keyword)
    assert str(inspect.signature(made)) == "(*, a, b=2)"


def test_parameters_have_no_types():
    def typed(x: int, *, y: float = 2.0) -> str: ...

    spec = decorators.getfullargspec(decorators.make_decorator(typed, lambda *args: None))
    assert spec == (["x"], None, None, None, ["y"], {"y": 2.0}, {})


def test_deprecated_functions_stay_what_they_are():
    for decorate in (deprecation.deprecated, deprecation.deprecated_args, deprecation.deprecated_endpoints):
        assert decorate("2030-01-01", "instructions", warn_once=False)(len) is len
    assert deprecation.deprecated_alias("old", "new", len) is len
    with deprecation.silence():
        pass
