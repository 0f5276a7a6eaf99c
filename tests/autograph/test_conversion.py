"""Which functions are converted, and what their conversions keep."""

import functools
import logging

import pytest

import tapeflow as tf
from tapeflow.autograph.conversion import DO_NOT_CONVERT, convert_function, converted_call, is_converted_code

X = tf.constant(3)


def signed(x, scale=2, *rest, offset=1, **named):
    """Text."""
    if x > 0:
        x = x * scale + offset
    return x


def plain(x):
    return x + 1


def converted(function):
    return is_converted_code(function.__code__)


def test_a_function_keeps_what_belongs_to_it():
    new = convert_function(signed)
    assert converted(new) and not converted(signed)
    assert (new.__name__, new.__qualname__) == ("signed", "signed")
    assert new.__defaults__ == (2,) and new.__kwdefaults__ == {"offset": 1}
    assert new.__globals__ is globals() and new.__doc__ == "Text."
    assert int(new(X)) == 7 and int(new(X, 3, 4, 5, offset=0, other=2)) == 9
    assert new.__code__.co_filename == __file__ and new.__code__.co_varnames[0] == "x"


def test_functions_without_anything_to_convert_stay():
    assert convert_function(plain) is plain
    assert convert_function(pow) is pow
    assert convert_function(tf.abs) is tf.abs


def test_conversions_are_not_converted_again():
    new = convert_function(signed)
    assert convert_function(new) is new
    assert convert_function(signed).__code__ is new.__code__


def test_methods():
    class Model:
        factor = 2

        def scale(self, x):
            if x > 0:
                x = x * self.factor
            return x

        @classmethod
        def count(cls, x):
            while x < 10:
                x = x + cls.factor
            return x

        @staticmethod
        def half(x):
            return x // 2 if x > 0 else x

        def nothing(self):
            return self

        def __call__(self, x):
            return self.scale(x) if x > 0 else x

    model = Model()
    for method, expected in ((model.scale, 6), (model.count, 11), (model.half, 1), (model, 6)):
        new = converted_call(method)
        assert int(new(X)) == expected
        assert converted(getattr(new, "__func__", new))
    assert converted_call(model.scale).__self__ is model and converted_call(Model.count).__self__ is Model
    assert converted_call(model.nothing).__func__ is Model.nothing
    assert converted_call(model).__self__ is model
    assert converted_call(Model) is Model


def test_partial_functions():
    new = converted_call(functools.partial(signed, offset=10))
    assert isinstance(new, functools.partial) and converted(new.func) and int(new(X, 1)) == 13
    kept = functools.partial(plain, 1)
    assert converted_call(kept) is kept


def test_objects_without_a_call_in_python_stay():
    for value in (tf.constant(1), {}.get, [].append, str, type, object(), 3):
        assert converted_call(value) is value


@pytest.mark.parametrize(
    "function", [range, enumerate, zip, len, int, float, max, min, sum, any, all, sorted, map, filter]
)
def test_builtins_that_take_tensors_are_replaced(function):
    assert converted_call(function) is not function


@pytest.mark.parametrize("function", [print, abs, pow, str, list, isinstance])
def test_other_builtins_stay(function):
    assert converted_call(function) is function


def test_marked_functions_stay():
    def marked(x):
        return x if x > 0 else -x

    setattr(marked, DO_NOT_CONVERT, True)
    assert convert_function(marked) is marked
    decorated = tf.autograph.experimental.do_not_convert(signed)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: decorated(x))(X)

    def marked_later(x):
        return x if x > 0 else -x

    assert convert_function(marked_later) is not marked_later
    setattr(marked_later, DO_NOT_CONVERT, True)
    assert convert_function(marked_later) is marked_later


def test_functions_of_libraries_are_converted_on_request():
    function = functools.cmp_to_key
    assert convert_function(function) is function

    def of_a_library(x):
        return x if x > 0 else -x

    of_a_library.__module__ = "numpy.linalg"
    assert convert_function(of_a_library) is of_a_library
    assert converted(convert_function(of_a_library, libraries=True))


def test_generators_and_coroutines_stay():
    def generator(x):
        if x:
            yield x

    async def coroutine(x):
        return x if x else None

    async def asynchronous(x):
        if x:
            yield x

    for function in (generator, coroutine, asynchronous):
        assert convert_function(function) is function


def test_functions_without_source_stay_with_a_warning(caplog):
    names = {}
    exec("def nowhere(x):\n    return x if x > 0 else -x", names)
    with caplog.at_level(logging.WARNING):
        assert convert_function(names["nowhere"]) is names["nowhere"]
    assert "AutoGraph could not transform" in caplog.text
    caplog.clear()
    convert_function(names["nowhere"])
    assert "AutoGraph" not in caplog.text


def test_variables_around_are_shared():
    count = 0

    def counts(x):
        nonlocal count
        if x > 0:
            count = count + 1
        return count

    new = convert_function(counts)
    assert [int(new(1)), int(new(1)), count, int(new(-1))] == [1, 2, 2, 2]


def test_functions_of_one_code_have_their_own_variables():
    def make(n):
        def add(x, m=n):
            return x + n if x > 0 else x - m

        return add

    one, two = convert_function(make(1)), convert_function(make(2))
    assert one.__code__ is two.__code__
    assert [one(5), two(5), one(-5), two(-5)] == [6, 7, -6, -7]


def factorial(x):
    return x * factorial(x - 1) if x > 1 else 1


def test_functions_call_themselves_by_their_names():
    assert convert_function(factorial)(5) == 120


def test_annotations_and_decorators_are_not_evaluated():
    calls = []

    def decorate(function):
        calls.append(function)
        return function

    @decorate
    def annotated(x: "missing" = calls.append(1), *, y: calls.append(2) = 3) -> calls.append(4):  # noqa: F821, B008
        return y if x else None

    before = len(calls)
    assert convert_function(annotated)(1) == 3
    assert len(calls) == before


def test_lambdas():
    f, g = (lambda x: x if x > 0 else -x), (lambda x: x)
    assert converted(convert_function(f)) and convert_function(g) is g
    assert [convert_function(f)(n) for n in (2, -2)] == [2, 2]


class Outer:
    class _Inner:
        def __init__(self):
            self.__value = 5

        def value(self, __other):
            def get():
                return self.__value

            return get() + __other if __other > 0 else self.__value

    def __private(self):
        return 1

    def calls(self, x):
        return self.__private() + x if x > 0 else self.__init__ and 0


def test_private_names_belong_to_their_class():
    inner = Outer._Inner()
    assert [convert_function(inner.value)(n) for n in (1, -1)] == [6, 5]
    assert [convert_function(Outer().calls)(n) for n in (1, -1)] == [2, 0]


def test_features(capfd):
    @functools.partial(tf.function, experimental_autograph_options=tf.autograph.experimental.Feature.ALL)
    def prints(x):
        print("value", x)
        return x

    def prints_in_python(x):
        print("traced")
        return x

    assert int(prints(X)) == int(prints(X)) == 3
    assert "".join(capfd.readouterr()).count("value 3") == 2
    traced = tf.function(prints_in_python)
    traced(X), traced(X)
    assert capfd.readouterr().out.count("traced") == 1
