"""`tf.gradients` and `tf.hessians`: gradients as operations of the graph that is being built."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def session():
    """A session of a graph that is being built."""
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def types():
    return [o.type for o in v1.get_default_graph().get_operations()]


# ---- gradients -------------------------------------------------------------------------------------------------------


def test_a_source_that_another_leads_to(session):
    x = tf.constant(3.0)
    y = 2.0 * x
    assert session.run(tf.gradients(x * y, [x, y])) == [12.0, 3.0]
    assert session.run(tf.gradients(x * y, y)) == [3.0]
    assert session.run(tf.gradients(x + y, [x, y], stop_gradients=[x, y])) == [1.0, 1.0]
    assert session.run(tf.gradients(x, x)) == [1.0]


@pytest.mark.parametrize("form", [lambda f: f, tf.function], ids=["eager", "function"])
def test_tapes_watch_what_depends_on_what_they_watch(form):
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = 2.0 * x
            tape.watch(y)
            z = x * y
        return tape.gradient(z, [x, y])

    assert [g.numpy() for g in form(both)(tf.constant(3.0))] == [12.0, 3.0]


def test_what_gradients_begin_with(session):
    x = tf.constant([1.0, 2.0])
    y, z = x**2.0, x**3.0
    assert session.run(tf.gradients([y, z], [x], grad_ys=[[1.0, 10.0], None]))[0].tolist() == [5.0, 52.0]
    assert session.run(tf.gradients(y, [x], grad_ys=tf.constant([3.0, 4.0])))[0].tolist() == [6.0, 16.0]
    c = tf.constant([3.0 + 1.0j, 1.0])
    begin = tf.constant([1.0 + 0.0j, 2.0])
    assert session.run(tf.gradients(c * c, c, grad_ys=begin))[0].tolist() == [6.0 - 2.0j, 4.0]


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("gradients", [tf.gradients, v1.gradients])
def test_what_gradients_can_not_begin_with(gradients):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Length mismatch\. Passed 1 grad_ys for 2 ys"):
        gradients([x * x, x], [x], grad_ys=[x])
    with pytest.raises(TypeError, match="float64"):
        gradients(x * x, [x], grad_ys=[tf.constant([1.0, 2.0], tf.float64)])
    with pytest.raises(TypeError, match="must set grad_ys"):
        gradients(tf.constant(1.0j), [x])
    with pytest.raises(TypeError, match="must be numeric to obtain a default gradient"):
        gradients(tf.constant("a"), [x])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'some'"):
        gradients(x, [x], unconnected_gradients="some")
    with pytest.raises(ValueError, match="Invalid `aggregation_method` specified 99"):
        gradients(x, [x], aggregation_method=99)


@pytest.mark.usefixtures("session")
def test_integers_have_no_gradients():
    n = tf.constant([1, 2])
    assert tf.gradients(n, [n]) == [None]
    assert tf.gradients(tf.cast(n, tf.float32), [n]) == [None]


@pytest.mark.usefixtures("session")
def test_gradients_of_nothing():
    x = tf.constant(1.0)
    assert tf.gradients([], [x]) == [None]
    assert tf.gradients([x], []) == []


# ---- gradients in a function by what is outside of it ----------------------------------------------------------------


def sum_in_loop(f):
    return tf.while_loop(lambda i, _: i < 2, lambda i, total: (i + 1, total + f(i)), (0, tf.zeros(2)))[1]


def sum_in_autograph(f):
    total = tf.zeros(2)
    for i in tf.range(2):
        total += f(i)
    return total


def sum_in_map(f):
    return tf.reduce_sum(tf.map_fn(f, tf.range(2), fn_output_signature=tf.float32), 0)


def sum_vectorized(f):
    return tf.reduce_sum(tf.vectorized_map(f, tf.range(2)), 0)


def sum_in_branches(f):
    is_true = tf.reduce_all(f(0) > -100.0)
    number = tf.cast(is_true, tf.int32)
    return tf.cond(is_true, lambda: f(0), lambda: -f(0)) + tf.switch_case(number, [lambda: f(0), lambda: f(1)])


def sum_in_functions(f):
    return tf.function(lambda: f(0))() + tf.function(lambda: f(1))()


def sum_in_branch_in_loop(f):
    return sum_in_loop(lambda i: tf.cond(i > 0, lambda: f(i), lambda: f(0)))


INSIDE = [
    sum_in_loop, sum_in_autograph, sum_in_map, sum_vectorized, sum_in_branches, sum_in_functions, sum_in_branch_in_loop,
]  # fmt: skip


def scaled(x):
    """Returns `x * x`, with a gradient of its own."""

    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: 100.0 * dy

    return square(x)


OUTSIDE = {
    "operations": (lambda x: 3.0 * x * x, [6.0, 12.0]),
    "a gradient": (lambda x: tf.gradients(x**3.0, x)[0], [6.0, 12.0]),
    "a loop": (lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1], [4.0, 32.0]),
    "a branch": (lambda x: tf.cond(x[0] > 0.0, lambda: x * x, lambda: x), [2.0, 4.0]),
    "a function": (lambda x: tf.function(lambda t: t * t)(x), [2.0, 4.0]),
    "its own gradient": (scaled, [100.0, 100.0]),
}


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize(("outside", "expected"), OUTSIDE.values(), ids=OUTSIDE)
def test_gradients_in_a_function_reach_what_is_outside(inside, outside, expected):
    @tf.function
    def by_elements(x):
        y = outside(x)
        return inside(lambda i: tf.gradients(y[i], x)[0])

    assert by_elements(tf.constant([1.0, 2.0])).numpy().tolist() == expected


def test_gradients_in_a_loop_of_a_session(session):
    x = v1.placeholder(tf.float32, [2])
    v = v1.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=True)
    y = 3.0 * x * x * v
    by_x, by_v = (sum_in_loop(lambda i, s=s: tf.gradients(y[i], s)[0]) for s in (x, v))
    session.run(v.initializer)
    fetched = session.run([by_x, by_v, tf.gradients(by_x, x)[0]], {x: [1.0, 2.0]})
    assert [g.tolist() for g in fetched] == [[6.0, 24.0], [3.0, 12.0], [6.0, 12.0]]


@pytest.mark.parametrize("inside", INSIDE)
def test_gradients_in_a_function_add_the_paths_inside_and_outside(inside):
    @tf.function
    def by_all(x):
        y = x * x
        z = x * y
        return [
            inside(lambda _: tf.gradients(y * x, x)[0]),  # without an error, but wrong, if only the path inside counts
            inside(lambda _: tf.gradients(z * y, y)[0]),
            inside(lambda _: tf.gradients(z * x, x, stop_gradients=[y])[0]),
            inside(lambda _: tf.gradients(z * x, x, stop_gradients=[z])[0]),
            inside(lambda _: tf.gradients(y, x, grad_ys=x)[0]),
            inside(lambda _: tf.hessians(tf.reduce_sum(z), x)[0][1]),
        ]

    found = [g.numpy().tolist() for g in by_all(tf.constant([1.0, 2.0]))]
    assert found == [[6.0, 24.0], [4.0, 32.0], [4.0, 32.0], [2.0, 16.0], [4.0, 16.0], [0.0, 24.0]]


@pytest.mark.parametrize("inside", INSIDE)
def test_gradients_in_a_function_by_what_nothing_outside_leads_to(inside):
    @tf.function
    def by_constant(x):
        y, n = tf.stop_gradient(x), tf.cast(x, tf.int32)
        return [
            inside(lambda _: tf.fill([2], 1.0 if tf.gradients([y, tf.cast(n, tf.float32)], x) == [None] else 0.0)),
            inside(lambda _: tf.gradients(y, x, unconnected_gradients="zero")[0]),
        ]

    assert [g.numpy().tolist() for g in by_constant(tf.constant([1.0, 2.0]))] == [[2.0, 2.0], [0.0, 0.0]]


# ---- Hessians --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hessians", [tf.hessians, v1.hessians])
def test_hessians_of_several(hessians, session):
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2.0, 3.0])
    of_x, of_y = hessians(tf.reduce_sum(x**3.0) * tf.reduce_sum(y * y), [x, y])
    assert (of_x.shape, of_y.shape) == ((2, 2, 2, 2), (2, 2))
    want = np.zeros([2, 2, 2, 2])
    for i in np.ndindex(2, 2):
        want[i + i] = 6.0 * 13.0 * (2 * i[0] + i[1] + 1)
    found = session.run([of_x, of_y])
    np.testing.assert_allclose(found[0], want)
    np.testing.assert_allclose(found[1], 2.0 * 100.0 * np.eye(2))


def test_hessians_of_a_sum_and_of_a_scalar(session):
    x = tf.constant([1.0, 2.0])
    assert session.run(tf.hessians([tf.reduce_sum(x**3.0), x[0] * x[1]], x))[0].tolist() == [[6.0, 1.0], [1.0, 12.0]]
    s = tf.constant(2.0)
    assert session.run(tf.hessians(s**3.0, s)) == [12.0]


def test_hessians_that_are_zero(session):
    x = tf.constant([1.0, 2.0])
    for y in (tf.reduce_sum(x), tf.constant(3.0)):
        assert session.run(tf.hessians(y, x))[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_hessian_of_unknown_size(session):
    x = v1.placeholder(tf.float32, [None])
    (found,) = tf.hessians(tf.reduce_sum(x**3.0), x)
    assert found.shape.as_list() == [None, None]
    for values in ([1.0, 2.0, 3.0], [1.0]):
        np.testing.assert_allclose(session.run(found, {x: values}), 6.0 * np.diag(values))


def test_hessians_by_variables(session):
    v = v1.get_variable("v", initializer=tf.constant([1.0, 2.0]))
    (found,) = tf.hessians(tf.reduce_sum(tf.gather(v, [0, 0, 1]) ** 3.0), v)
    session.run(v1.global_variables_initializer())
    assert session.run(found).tolist() == [[12.0, 0.0], [0.0, 12.0]]


def test_all_rows_are_computed_at_once():
    counts = []
    for size in (3, 30):
        with tf.Graph().as_default():
            x = tf.ones([size])
            tf.hessians(tf.reduce_sum(tf.sin(x) * x), x)
            counts.append(len(types()))
            assert "Vectorized" not in types()
    assert counts[0] == counts[1]


def test_hessians_in_functions():
    f = tf.function(lambda x: tf.hessians(tf.reduce_sum(x**3.0) * x[0], x)[0])
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3.0) * x[0]
        first = inner.gradient(y, x)
    np.testing.assert_allclose(f(x), outer.jacobian(first, x))


@pytest.mark.usefixtures("session")
def test_hessians_check_their_arguments():
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="Invalid `aggregation_method` specified 77"):
        tf.hessians(x, x, aggregation_method=77)
    assert types().count("Shape") == 0
