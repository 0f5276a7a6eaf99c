# ruff: noqa
# The oddities are what is tested.
"""Converted functions compute in graphs what Python computes of the same tensors at once."""

import logging

import numpy as np
import pytest

import tapeflow as tf

counter = 0


def same(function, *inputs):
    """Compares a function at once and in a graph, for each input."""
    traced = tf.function(function)
    for x in inputs:
        expected, found = function(tf.constant(x)), traced(tf.constant(x))
        assert tf.nest.map_structure(lambda t: np.asarray(t).tolist(), found) == tf.nest.map_structure(
            lambda t: np.asarray(t).tolist(), expected
        ), x


# ---- definitions inside ----------------------------------------------------------------------------------------------


def defaults(x):
    def inner(y, a=(x if x > 0 else -x), *, b=(1 if x > 1 else 2), c, d=None):
        return y + a * b + c if d is None else y

    return inner(x, c=3)


def defaults_of_lambdas(x):
    return (lambda y, a=(1 if x > 0 else 5), *, b=(10 if x > 1 else 20): y + a + b)(x)


def conditions_in_lambdas(x):
    f = lambda y: y * 2 if y > 0 else y - 1
    return f(x) + f(-x)


def lambda_hides_a_builtin(x):
    f = lambda isinstance: 1 if isinstance > 0 else 2
    return f(x)


def methods(x):
    class Inner:
        def get(self, y):
            if y > 0:
                y = y * 10
            return y

        @staticmethod
        def count(y):
            while y < 5:
                y = y + 2
            return y

        value = 7

    return Inner().get(x) + Inner.count(x) + Inner.value


def generators_inside(x):
    def numbers():
        for i in range(3):
            if i != 1:
                yield i

    total = x
    for i in numbers():
        total = total + i
    return total


def generator_expressions(x):
    return sum(i * x for i in range(3) if i > 0) + [j for j in range(2) if j][0]


class Base:
    def scale(self, x):
        return x * 3


class Derived(Base):
    def scale(self, x):
        if x > 0:
            return super().scale(x) + 1
        return super(Derived, self).scale(x) - 1

    def nested(self, x):
        f = lambda y: super(Derived, self).scale(y)
        g = lambda y: y if y > 0 else -y
        return f(g(x))

    def __private(self, x):
        return x + 100

    def private(self, __y):
        self.__value = __y
        if __y > 0:
            return self.__private(__y)
        return self.__value


def calls_of_super(x):
    return Derived().scale(x)


def super_in_lambdas(x):
    return Derived().nested(x)


def private_names(x):
    return Derived().private(x)


# ---- variables -------------------------------------------------------------------------------------------------------


def nonlocals(x):
    n = x

    def grow():
        nonlocal n
        if n > 0:
            n = n + 1
        else:
            n = n - 1

    grow()
    grow()
    return n


def declared_in_a_block(x):
    n = x

    def grow(deep):
        if deep:
            nonlocal n
            n = n * 2
        while n < 10:
            n = n + 3
        return n

    return grow(True) + n


def only_a_declaration_in_a_block(x):
    if x is not None:
        global counter
    if x > 0:
        y = x
    else:
        y = x * 2
    return y


def deletes(x):
    y = x * 2
    if x > 0:
        z = y
        del y
        y = z + 1
    return y


def deletes_items(x):
    items = {"a": x, "b": x}
    if x > 0:
        x = x + 1
    del items["a"]
    return items["b"], len(items), x


def annotations(x):
    y: int
    z: "nothing" = x
    if x > 0:
        z: float = x * 2
        w: "undefined name"
    return z


def annotated_attributes(x):
    class Box:
        pass

    box = Box()
    box.value: int = x
    if x > 0:
        box.value: int = x * 4
    return box.value


def augmented_items(x):
    values = [x, x]
    if x > 0:
        values[0] += 2
        values[1] *= values[0]
    return values


def augmented_attributes(x):
    class Box:
        value = x

    box = Box()
    for _ in tf.range(3):
        box.value += x
    return box.value


def defined_by_both_branches(x):
    if x > 0:
        y = x
        y += 1
    else:
        y = -x
    y *= 2
    return y


def unpacked(x):
    a, (b, *c) = x, (x + 1, x + 2, x + 3)
    while a < 4:
        a, (b, *c) = b, (c[0], c[1], a + 5)
    return a, b, c


def targets_of_loops(x):
    total = x
    for i, (a, b) in enumerate([(1, 2), (3, 4)]):
        if x > 0:
            total = total + i * a + b
    for i in tf.range(4):
        total = total + i
    return total, i


def documented(x):
    """A docstring, which stays."""
    if x > 0:
        x = x + 1
    return x


def nothing_but_a_docstring(x):
    def inner():
        """Nothing."""

    assert inner.__doc__ == "Nothing."
    if x > 0:
        return x
    return inner() or x * 2


# ---- expressions -----------------------------------------------------------------------------------------------------


def chains(x):
    return [
        0 < x < 3,
        0 <= x <= 2,
        3 > x > 0,
        2 >= x >= 0,
        x == x == 2,
        x != 1 != 2,
        0 < x == 2,
        x in [x] and 1 < 2 < 3,
        x is x is not None,
        1 in [1] not in [[2]],
    ]


def short_circuits(x):
    calls = []

    def note(value):
        calls.append(value)
        return value

    result = [note(1) < note(0) < note(2), False and note(3), True or note(4), not note(0)]
    return result, calls, (x > 0) and (x < 5), (x > 0) or (x < -5), not (x > 0)


def logic_of_values(x):
    return [0 or 5, [] or 3, 1 and 2, not [], (1 if [] else 2), None or x]


def logic_of_several(x):
    return (x > 0) and (x < 5) and (x > 1), (x > 4) or (x < 0) or (x > 1), not ((x > 0) and (x < 2))


def chosen(x):
    return (x if x > 0 else -x if x > -2 else x * 10), (1 if x is None else 2)


def assigned_inside(x):
    if (y := x + 1) > 0:
        return y + x
    return y if x is not None and (z := 2) else z


def assigned_inside_a_choice(x):
    a = (b := 3) if x is not None else (b := 4)
    return x + a + b


def assigned_inside_a_chain(x):
    inside = 0 < (y := 2) < 3
    return x + y if inside else x


def assigned_by_a_test(x):
    n = 0
    while (n := n + 1) < 5:
        x = x + n
    while (y := x * 2) < 50:
        x = x + 7
    return x, y, n


def kept_tests(x):
    import types

    found = []
    for v in (x, None, 1, [], len):
        if isinstance(v, int):
            found.append("int")
        elif v is None:
            found.append("none")
        elif callable(v) and not hasattr(v, "shape"):
            found.append("callable")
        elif hasattr(v, "shape"):
            found.append("tensor")
        elif not isinstance(v, types.ModuleType) and v not in ([1],):
            found.append("other")
    return x + len(found), [found.index(name) for name in ("tensor", "none", "int", "other", "callable")]


def hidden_builtins(x):
    isinstance = lambda v, k: v > 0
    if isinstance(x, int):
        y = x * 2
    else:
        y = x * 3
    return y


def replaced_builtins(x):
    total = x
    for i in range(x):
        total = total + i
    for a, b in zip(tf.range(3), tf.range(3, 6)):
        total = total + a * b
    for i, a in enumerate(tf.range(3)):
        total = total + i * a
    return total, len(tf.range(5)), int(x) + 1, float(x) / 2, abs(x), max(1, 2)


def methods_of_literals(x):
    text = ",".join(["a", "b"])
    if x > 0:
        x = x + len(text)
    return x


def asserted(x):
    assert x is not None, "nothing"
    assert x > -100, f"small: {x}"
    assert x < 100
    assert True, "never"
    if x > 0:
        assert x > 0
    return x


# ---- statements ------------------------------------------------------------------------------------------------------


def options_in_order(x):
    i = x
    for _ in tf.range(10):
        tf.autograph.experimental.set_loop_options(4, False, 10)
        i = i + 1
    while i < 40:
        tf.autograph.experimental.set_loop_options(maximum_iterations=100, parallel_iterations=2)
        i = i * 2 + 1
    return i


def options_inside_blocks(x):
    for _ in tf.range(3):
        with tf.name_scope("a"):
            tf.autograph.experimental.set_loop_options(parallel_iterations=2)
        if x is None:
            tf.autograph.experimental.set_loop_options(parallel_iterations=2)
        else:
            x = x + 1
    return x


def in_with_and_try(x):
    try:
        with tf.name_scope("a"):
            if x > 0:
                y = x + 1
            else:
                y = x - 1
    finally:
        done = True
    return y + int(done)


def loops_with_else(x):
    for i in range(3):
        if i == 5:
            break
    else:
        x = x + 100
    return x


def items_as_state(x):
    values = {"a": x, "b": [x, x]}
    for i in tf.range(3):
        values["a"] = values["a"] + i
        values["b"][1] = values["a"]
    if x > 0:
        values["b"][0] = values["a"] * 2
    return values["a"], values["b"]


def attributes_as_state(x):
    class Box:
        pass

    box = Box()
    box.n, box.inner = x, Box()
    box.inner.n = x
    while box.n < 10:
        box.n = box.n + 3
        box.inner.n += box.n
    if box.n > 11:
        box.n = box.inner.n
    return box.n, box.inner.n


def only_passes(x):
    if x > 0:
        pass
    else:
        ...
    while x > 100:
        pass
    return x


FUNCTIONS = [
    f for f in list(globals().values()) if getattr(f, "__code__", None) and f.__code__.co_varnames[:1] == ("x",)
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_computes_in_a_graph_what_it_computes_at_once(function, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tapeflow"), "disabled", False)
    same(function, 2, -3, 0)


def test_lambdas_of_iterations_keep_their_variables():
    @tf.function
    def values(x):
        found = []
        for i in range(3):
            y = x + i
            found.append(lambda: y)
            if x > 0:
                x = x + 1
        return [f() for f in found]

    assert [v.numpy() for v in values(tf.constant(2))] == [2, 4, 6]


def test_loops_stop_after_the_most_iterations():
    @tf.function
    def limited(x):
        for _ in tf.range(10):
            tf.autograph.experimental.set_loop_options(1, False, 3)
            x = x + 1
        while x < 100:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            x = x + 10
        return x

    assert limited(tf.constant(0)).numpy() == 23


def test_shapes_may_change_where_options_say_so():
    @tf.function
    def grown(x):
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, x], 0)
        return x

    assert grown(tf.constant([1.0])).shape == [8]


@pytest.mark.parametrize(("function", "name"), [
    (lambda x: [x for y in locals()], "locals"), (lambda x: eval("x"), "eval"), (lambda x: x if vars() else x, "vars"),
    (lambda x: x if dir() else x, "dir"), (lambda x: exec("1") or x, "exec"),
])  # fmt: skip
def test_functions_that_look_into_frames_stay(function, name, caplog):
    with caplog.at_level(logging.WARNING):
        tf.nest.flatten(tf.function(function)(tf.constant(1)))[0]
    assert f"{name}() looks into the function's frame" in caplog.text


def test_deleted_variables_are_undefined():
    def read(x):
        y = x
        if x > 0:
            y = x + 1
        del y
        return y

    def read_after_a_condition(x):
        y = x
        if x is not None:
            del y
        if x > 0:
            y += 1
        return y

    for function in (read, read_after_a_condition):
        with pytest.raises(UnboundLocalError, match="y"):
            function(tf.constant(1))
        with pytest.raises(UnboundLocalError, match="y"):
            tf.function(function)(tf.constant(1))


def test_globals_change():
    @tf.function
    def count(x):
        global counter
        if x is not None:
            counter = counter + 1
        if x > 0:
            x = x + counter
        return x

    before = counter
    assert count(tf.constant(1)).numpy() == before + 2
    assert counter == before + 1


@pytest.mark.parametrize(("message", "text"), [(None, ""), ("too small", "too small")])
def test_assertions_fail_when_the_graph_runs(message, text):
    @tf.function
    def checked(x):
        if message is None:
            assert x > 0
        else:
            assert x > 0, message
        return x

    assert checked(tf.constant(1)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        checked(tf.constant(-1))
