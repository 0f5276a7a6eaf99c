"""`tf.autograph`: conversions as functions and as source, and the log."""

import functools
import io
import logging

import pytest

import tapeflow as tf
from tapeflow.core.logger import get_logger


def sign(x, scale=2, *, add=0):
    """Returns a sign."""
    if x > 0:
        y = 1
    else:
        y = -1
    return y * scale + add


class Signs:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return sign(x, self.scale)

    def method(self, x):
        if x > 0:
            return self.scale
        return -self.scale


def in_graph(function, *args, **kwargs):
    """Calls a function while a graph is built, without the conversion of `tf.function`."""
    return int(tf.function(function, autograph=False)(*args, **kwargs))


@pytest.mark.parametrize(
    "make", [lambda: sign, lambda: tf.function(sign), lambda: tf.autograph.experimental.do_not_convert]
)
def test_names(make):
    converted = tf.autograph.to_graph(make())
    assert converted.__name__.startswith("tf__") and sign.__name__ == "sign"


def test_functions():
    converted = tf.autograph.to_graph(sign)
    for x, expected in ((3, 7), (-3, 1)):
        assert in_graph(lambda x: converted(x, 3, add=4), tf.constant(x)) == expected
    assert converted(1) == 2 and converted.__doc__ == "Returns a sign."
    assert tf.autograph.to_graph(tf.function(sign))(-1) == -2


def test_methods_and_objects():
    signs = Signs(5)
    for entity in (signs, signs.method, functools.partial(sign, scale=5), functools.partial(signs.method)):
        converted = tf.autograph.to_graph(entity)
        assert in_graph(converted, tf.constant(1)) == 5 and in_graph(converted, tf.constant(-1)) == -5


def test_lambdas():
    converted = tf.autograph.to_graph(lambda x: x if x > 0 else -x)
    assert in_graph(converted, tf.constant(-4)) == 4 and converted(-4) == 4
    assert converted.__name__ == "tf__lambda"


def test_what_is_no_function():
    for value in (3, "a", None):
        with pytest.raises(ValueError, match="to_graph takes a function, got"):
            tf.autograph.to_graph(value)
        with pytest.raises(ValueError, match="to_code takes a function or method, got"):
            tf.autograph.to_code(value)


def test_python_own_functions():
    assert tf.autograph.to_graph(len)([1, 2]) == 2


def test_source():
    source = tf.autograph.to_code(sign)
    assert source.startswith("def tf__sign(x, scale=None, *, add=None):") and "ag__.if_stmt(" in source
    assert tf.autograph.to_code(tf.function(sign)) == source
    method = tf.autograph.to_code(Signs(1).method)
    assert method.startswith("def tf__method(self, x):") == tf.autograph.to_code(Signs.method).startswith("def tf__")
    assert tf.autograph.to_code(Signs(1)).startswith("def tf____call__(self, x):")
    short = tf.autograph.to_code(lambda x: x if x > 0 else -x)
    assert short.startswith("tf__lam = lambda x: ag__.if_exp(") and short.endswith("\n")


def test_source_that_is_not_there():
    scope = {}
    exec("def f(x):\n    return x", scope)
    with pytest.raises(ValueError, match=r"Cannot convert .*can't be read from"):
        tf.autograph.to_code(scope["f"])


def test_features():
    printed = tf.autograph.to_graph(
        lambda x: print("value", x), experimental_optional_features=tf.autograph.experimental.Feature.BUILTIN_FUNCTIONS
    )
    plain = tf.autograph.to_graph(lambda x: print("value", x))
    for function, text in ((printed, "value 3"), (plain, "Tensor")):
        out = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", out)
            tf.function(function, autograph=False)(tf.constant(3))
        assert text in out.getvalue()


def test_decorators():
    convert = tf.autograph.experimental.do_not_convert
    for decorated in (convert(sign), convert()(sign)):
        assert decorated(1) == 2 and decorated.__name__ == "sign"
        with pytest.raises(Exception, match="bool"):
            tf.function(lambda x, f=decorated: f(x))(tf.constant(1))


@pytest.fixture(name="log")
def autograph_log():
    log = get_logger()
    level, handlers = log.level, list(log.handlers)
    yield log
    log.setLevel(level)
    log.handlers[:] = handlers


def test_verbosity(log, capsys):
    log.setLevel(logging.WARNING)
    handlers = list(log.handlers)
    tf.autograph.set_verbosity(0)
    assert log.level == logging.WARNING
    for level, expected in ((1, logging.INFO), (2, logging.INFO), (3, logging.DEBUG), (10, logging.DEBUG)):
        tf.autograph.set_verbosity(level)
        assert log.level == expected
    assert log.handlers == handlers
    for _ in range(2):  # not printed twice
        tf.autograph.set_verbosity(1, alsologtostdout=True)
    assert len(log.handlers) == len(handlers) + 1
    capsys.readouterr()
    tf.autograph.set_verbosity(1)
    assert log.handlers == handlers


def test_trace_prints_while_a_function_is_traced(capsys):
    @tf.function
    def f(x):
        tf.autograph.trace("tracing", 1)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == "tracing 1\n"
