# ruff: noqa
# The oddities are what is tested.
"""AutoGraph on Python values: converted code does exactly what Python does."""

import contextlib
import functools
import traceback

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.autograph.conversion import convert_function, converted_call

OFFSET = 10


def branches(x, y=3):
    if x > 0:
        z = x
    elif x == 0:
        z = 100
    else:
        z = -x
    return z + y if z else y


def early_return(x):
    if x < 0:
        if x < -5:
            return "very small"
        x = x + 1
    if x > 5:
        return "large"
    return x


def falls_off(x):
    if x > 0:
        return x


def breaks(n):
    total, k = 0, 0
    while True:
        k += 1
        if k % 2:
            continue
        if k > n:
            break
        total += k
    return total, k


def loop_else(n):
    seen = []
    for k in range(n):
        if k == 3:
            break
        seen.append(k)
    else:
        seen.append("else")
    while n > 0:
        n -= 1
        if n == 2:
            break
    else:
        seen.append("while else")
    return seen


def return_in_loops(n):
    for i in range(n):
        for j in range(i):
            if i * j > 6:
                return i, j
        else:
            continue
        return "never"
    return None


def try_finally(x):
    log = []
    for k in range(3):
        try:
            if k == x:
                log.append("continue")
                continue
            if k > x:
                return log
            log.append(1 // k)
        except ZeroDivisionError as error:
            log.append(str(error))
        else:
            log.append("else")
        finally:
            log.append("finally")
    return log


def with_swallow(x):
    for _ in range(2):
        with contextlib.suppress(ValueError):
            if x:
                raise ValueError
            y = 5
    return y


def nested_scopes(n):
    count = 0

    def step(by=1):
        nonlocal count
        if by > 0:
            count += by
        return count

    for k in range(n):
        step(k)
    return count, [step(0) for _ in range(2)], {k: v for k, v in zip("ab", range(n))}


def undefined(x):
    if x:
        y = 1
    return y


def deleted(x):
    y = 1
    if x:
        del y
    return y


def walrus(x):
    out = []
    while (n := x) > 0:
        x -= 1
        if (m := n % 2) and n > 1:
            out.append((n, m))
    return out, n


def matching(x):
    for item in x:
        match item:
            case [a, b] if a > b:
                continue
            case [a, *rest]:
                last = (a, rest)
            case {"key": v}:
                return v
            case str():
                break
            case _:
                last = item
    return last


def star(*args, key=2, **kwargs):
    return [*args, *(k for k in kwargs if kwargs[k] and k)], key if args else -key


def call_star(x):
    args = (x, 2) if x else ()
    return star(*args, **{"key": 3} if x > 1 else {}, other=1)


def chained(x):
    calls = []

    def middle():
        calls.append(x)
        return x

    return 0 < middle() <= 5 != x, calls, not x, (x and "yes") or "no"


def with_class(x):
    class Inner:
        value = x if x else 5

        def get(self):
            return self.value

    if x > 1:
        Inner.value += 1
    return Inner().get()


def with_global(x):
    global OFFSET
    if x:
        OFFSET += x
    return OFFSET


def swap_targets(pairs):
    d = {"a": 0}
    items = [0, 0]
    for d["a"], (items[0], *items[1:]) in pairs:
        pass
    return d, items


def mapped(xs):
    return list(map(lambda x: x if x > 1 else -x, xs)), list(filter(None, xs)), sum(xs), max(xs), sorted(xs)


def annotated(x):
    y: int = 0
    z: list[int]
    if x:
        y: int = 3
    return y


def recursion(n):
    return 1 if n == 0 else n * recursion(n - 1)


def outer_default(x):
    def inner(a, b=x if x else 7):
        return a + b

    return inner(1)


def asserting(x):
    assert x, f"it is {x}"
    return x


CASES = [
    (branches, [(1,), (0,), (-4,), (2, 8)]),
    (early_return, [(-9,), (-2,), (9,), (3,)]),
    (falls_off, [(1,), (-1,)]),
    (breaks, [(5,), (0,)]),
    (loop_else, [(2,), (5,), (0,)]),
    (return_in_loops, [(2,), (5,)]),
    (try_finally, [(0,), (1,), (5,)]),
    (with_swallow, [(0,), (1,)]),
    (nested_scopes, [(0,), (3,)]),
    (undefined, [(1,), (0,)]),
    (deleted, [(1,), (0,)]),
    (walrus, [(5,), (0,)]),
    (matching, [([[2, 1], [1, 2], 7],), ([{"key": 3}],), ([[1, 5], "stop", 8],), ([],)]),
    (call_star, [(0,), (1,), (2,)]),
    (chained, [(0,), (3,), (9,)]),
    (with_class, [(0,), (2,)]),
    (swap_targets, [([(1, (2, 3, 4))],)]),
    (mapped, [([1, 2, 0],)]),
    (annotated, [(0,), (1,)]),
    (recursion, [(10,)]),
    (outer_default, [(0,), (2,)]),
    (asserting, [(0,), (2,)]),
]


def outcome(function, args):
    try:
        return function(*args)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(("function", "args"), [
    pytest.param(f, a, id=f"{f.__name__}{a}") for f, calls in CASES for a in calls
])  # fmt: skip
def test_as_python(function, args):
    made = convert_function(function)
    assert made is not function
    assert outcome(made, args) == outcome(function, args)


def test_global_is_written():
    before = OFFSET
    assert convert_function(with_global)(5) == before + 5 == OFFSET


def test_what_needs_nothing_is_left_alone():
    def plain(x):
        y = tf.add(x, 1)
        if y is None:
            return 3
        return tf.square(y) * len("abc".upper())

    def generator(n):
        while n > 0:
            yield n
            n -= 1

    async def coroutine(n):
        return n if n else 0

    assert convert_function(generator) is generator
    assert convert_function(coroutine) is coroutine
    assert convert_function(tf.add) is tf.add
    assert convert_function(print) is print
    assert plain(1).numpy() == convert_function(plain)(1).numpy()


def test_methods_super_and_private_names():
    class Base:
        def go(self, x):
            return x + 1

    class Derived(Base):
        __secret = 5

        def go(self, x):
            if x > 0:
                y = super().go(x)
            else:
                y = self.__secret
            return y

        def __call__(self, x):
            return -x if x > 0 else x

    thing = Derived()
    assert convert_function(thing.go)(2) == 3
    assert convert_function(thing.go)(-2) == 5
    assert convert_function(thing)(2) == -2
    assert convert_function(functools.partial(thing.go, -1))() == 5


def test_lambdas_of_one_line():
    fs = [lambda x: 1 if x else 2, lambda x: 3 if x else 4, lambda x, y=5: (x and y)]  # fmt: skip
    assert [convert_function(f)(1) for f in fs] == [1, 3, 5]
    assert all(convert_function(f) is not f for f in fs)


def test_decorated_and_wrapped():
    def twice(f):
        @functools.wraps(f)
        def call(*args):
            return f(*args) * 2 if args else 0

        return call

    @twice
    def inner(x):
        return x if x > 1 else -x

    assert convert_function(inner)(3) == 6
    assert convert_function(inner)(-3) == 6


def test_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def f(x):
        return 1 if x else 0

    assert convert_function(f) is f
    assert converted_call(f) is f
    assert f(3) == 1


def test_a_librarys_function_is_converted_where_it_is_asked_for():
    def f(x):
        return tf.constant(1) if x > 0 else tf.constant(2)

    f.__module__ = "keras.src.somewhere"
    assert convert_function(f) is f
    assert tf.function(f)(tf.constant(3)).numpy() == 1
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: f(x))(tf.constant(3))


def test_no_source_warns(caplog):
    namespace = {}
    exec("def f(x):\n    return 1 if x else 2\n", namespace)
    assert convert_function(namespace["f"]) is namespace["f"]
    assert "run it as-is" in caplog.text


@pytest.mark.parametrize("op", [tf.nn.softplus, tf.square, tf.strings.length], ids=lambda op: op.__name__)
def test_an_op_needs_no_conversion(op, caplog):
    x = tf.constant(["ab", "c"]) if op is tf.strings.length else tf.constant([1.0, 2.0])
    assert (tf.function(op)(x).numpy() == op(x).numpy()).all()
    assert not caplog.text


def test_tracebacks_show_the_users_code():
    def fails(x):
        for k in range(x):
            if k == 1:
                raise KeyError(k)

    with pytest.raises(KeyError) as caught:
        convert_function(fails)(3)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].line == "raise KeyError(k)"
    assert frames[-1].name == "fails"


def test_undefined_variable_message():
    with pytest.raises(UnboundLocalError, match="'y' is used before assignment"):
        convert_function(undefined)(0)


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = 0.0
    return x


def test_to_code_and_to_graph():
    code = tf.autograph.to_code(square_if_positive)
    assert "def tf__square_if_positive" in code
    assert "if_stmt" in code
    made = tf.autograph.to_graph(square_if_positive)
    assert made.__name__ == "tf__square_if_positive"
    assert made(tf.constant(3.0)).numpy() == 9.0
    assert made(-1.0) == 0.0
    with pytest.raises(ValueError, match="to_graph"):
        tf.autograph.to_graph(3)


def test_features():
    features = tf.autograph.experimental.Feature
    assert features.ALL in features.all()
    assert features.LISTS not in features.all_but(features.LISTS)
    made = tf.autograph.to_graph(square_if_positive, experimental_optional_features=features.ALL)
    assert made(2.0) == 4.0


def test_trace(capsys):
    tf.autograph.trace("a", 1)
    assert capsys.readouterr().out == "a 1\n"


def test_loop_options_in_a_block_of_the_loop():
    @tf.function
    def collected(n):
        state = {"values": tf.constant([0.0])}
        for i in tf.range(n):
            with tf.name_scope("step"):
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(state, {"values": tf.TensorShape([None])})]
                )
                state["values"] = tf.concat([state["values"], [tf.cast(i, tf.float32)]], 0)
        return state["values"]

    assert collected(tf.constant(3)).numpy().tolist() == [0.0, 0.0, 1.0, 2.0]


def test_loop_options_do_nothing_eagerly():
    def f(n):
        total = 0
        for k in tf.range(n):
            tf.autograph.experimental.set_loop_options(maximum_iterations=2, shape_invariants=[(total, None)])
            total += k
        return total

    assert int(convert_function(f)(4)) == int(f(4)) == 6


MADE_BY_A_LAMBDA = {"absolute": lambda: lambda x: tf.identity(x) if tf.reduce_sum(x) > 0.0 else tf.negative(x)}


def test_a_lambda_that_calls_into_an_imported_module():
    """Python writes such calls in another way where it knows that the name is a module's."""
    function = tf.function(MADE_BY_A_LAMBDA["absolute"]())
    assert function(tf.constant([-1.0, -2.0])).numpy().tolist() == [1.0, 2.0]
    assert function(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]


def test_operations_in_staged_statements_have_tensorflows_names():
    """Those of the user's own: what AutoGraph adds to count and to test comes after them."""
    noted = []

    @tf.function
    def f(x, n):
        if x > 0.0:
            y = x * 2.0
            noted.append(str(y))
        else:
            y = x - 1.0
        noted.append(str(y))
        s = 0.0
        for i in tf.range(n):
            s += tf.cast(i, tf.float32) * x
            noted.append(str(s))
            if s > 5.0:
                s = s - 1.0
                noted.append(str(s))
        return s, y

    f.get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([], tf.int32))
    assert [text.split('"')[1] for text in noted] == [
        "cond/mul:0", "cond/Identity:0", "while/add:0", "while/cond/sub:0",
    ]  # fmt: skip


# ---- datasets --------------------------------------------------------------------------------------------------------

NUMBERS = tf.data.Dataset.range(4)
TRUTHS = NUMBERS.map(lambda x: x > 1)


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda: map(lambda x: x + 1, NUMBERS).reduce(tf.constant(0, tf.int64), tf.add), 10),
        (lambda: map(lambda x, y: x * y, NUMBERS, NUMBERS).reduce(tf.constant(0, tf.int64), tf.add), 14),
        (lambda: tf.stack(list(map(lambda x, y: x * y, NUMBERS, [1, 2, 3]))), [0, 2, 6]),
        (lambda: filter(lambda x: x > 1, NUMBERS).reduce(tf.constant(0, tf.int64), tf.add), 5),
        (lambda: any(TRUTHS), True),
        (lambda: all(TRUTHS), False),
        (lambda: any(TRUTHS.take(0)), False),
        (lambda: all(TRUTHS.take(0)), True),
        (lambda: len(NUMBERS), 4),
    ],
)
def test_functions_of_python_take_datasets_of_a_graph(function, result):
    traced = tf.function(function)()
    assert traced.numpy().tolist() == result
    assert traced.dtype is (tf.bool if type(result) is bool else tf.int64 if type(result) is int else traced.dtype)


def test_a_loop_over_a_mapped_dataset():
    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for x in map(lambda x: x + 1, NUMBERS):
            result += x
        return result

    assert total().numpy() == 10


def test_datasets_and_optionals_that_a_loop_changes():
    """Each iteration has another class of dataset, but the same type."""

    @tf.function
    def function(n):
        dataset = tf.data.Dataset.range(10)
        last = tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
        for i in tf.range(n):
            dataset = dataset.filter(lambda x: x != tf.cast(i, tf.int64))
            if i > 1:
                last = tf.experimental.Optional.from_value(i)
        return dataset.reduce(tf.constant(0, tf.int64), lambda a, b: a + b), last.has_value()

    assert [t.numpy() for t in function(tf.constant(4))] == [39, True]
    assert [t.numpy() for t in function(tf.constant(1))] == [45, False]


def test_a_dataset_that_changes_its_elements_in_a_loop():
    @tf.function
    def function(n):
        dataset = tf.data.Dataset.range(3)
        for _ in tf.range(n):
            dataset = dataset.map(lambda x: tf.cast(x, tf.float32))
        return dataset

    with pytest.raises(TypeError, match="'dataset' does not have the same nested structure after one iteration"):
        function(tf.constant(2))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize(
    ("start", "limit", "delta"), [(0.0, 1.0, 0.1), (2.0, 0.0, -0.7), (0.0, 0.3, 0.1), (1.0, 0.0, 1)]
)
def test_ranges_of_floats_add_up_their_steps(dtype, start, limit, delta):
    """As in TensorFlow, each number has the rounding of those before it."""

    @tf.function
    def function(start, limit, delta):
        numbers = tf.TensorArray(dtype, 0, dynamic_size=True)
        for x in tf.range(start, limit, delta):
            numbers = numbers.write(numbers.size(), x)
        return numbers.stack()

    x, expected = dtype.as_numpy_dtype(start), []
    while (x < limit) if delta > 0 else (x > limit):
        expected.append(x)
        x = x + dtype.as_numpy_dtype(delta)
    result = function(*[tf.constant(v, dtype) for v in (start, limit, delta)])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda: any(NUMBERS), 'the "any" builtin only supports datasets that return bool scalars'),
        (lambda: all(NUMBERS), 'the "all" builtin only supports datasets that return bool scalars'),
        (lambda: len(NUMBERS.filter(lambda x: x > 1)), "definitive cardinality"),
        (lambda: len(NUMBERS.repeat()), "definitive cardinality"),
    ],
)
def test_datasets_that_functions_of_python_refuse(function, error):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=error):
        tf.function(function)()


@pytest.mark.parametrize("autograph", [True, False])
def test_iterating_over_a_dataset_in_python_while_tracing_ends(autograph):
    with pytest.raises(ValueError, match="unusually high number"):
        tf.function(lambda: list(map(lambda x: x, iter(NUMBERS))), autograph=autograph)()


def test_datasets_have_no_length_in_a_graph_that_is_not_converted():
    with pytest.raises(TypeError, match="only supports `len` in eager mode"):
        tf.function(lambda: len(NUMBERS), autograph=False)()
