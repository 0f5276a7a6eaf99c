"""Jacobians, forward mode and gradients of one's own: in functions, around them, and mixed, against eager execution."""

import numpy as np
import pytest

import tapeflow as tf

X = tf.constant([[0.5, -1.0], [2.0, 0.25], [1.5, 3.0]])
ANY = tf.TensorSpec([None, None])
W = tf.Variable([[1.0, -2.0], [0.5, 3.0]])


def loop(x):
    y = x
    for _ in tf.range(3):
        y = y * tf.sin(y) + x
    return y


FUNCTIONS = {
    "elementwise": lambda x: tf.sin(x) * x,
    "matmul": lambda x: tf.tanh(x @ W),
    "reduction": lambda x: tf.reduce_sum(x**3.0, 1, keepdims=True) * x,
    "condition": lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x, lambda: -x),
    "loop": loop,
    "call": tf.function(lambda x: tf.exp(x) * tf.reduce_sum(x, 1, keepdims=True)),
    "map_fn": lambda x: tf.map_fn(lambda r: r * tf.reduce_sum(r), x),
    "gather": lambda x: tf.gather(x, [0, 0, 2]) * x,
}


def jacobian(f, x, **kwargs):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x, **kwargs)


def batch_jacobian(f, x, **kwargs):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return tape.batch_jacobian(y, x, **kwargs)


def forward(f, x, t):
    with tf.autodiff.ForwardAccumulator(x, t) as accumulator:
        y = f(x)
    return accumulator.jvp(y)


def converted(f):
    return tf.function(f, input_signature=[ANY])


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


CASES = [(jacobian, name) for name in FUNCTIONS]
CASES += [(batch_jacobian, name) for name in FUNCTIONS if name != "gather"]  # whose rows depend on other rows


@pytest.mark.parametrize("pfor", [True, False])
@pytest.mark.parametrize(("derivative", "name"), CASES)
def test_jacobians(derivative, name, pfor):
    f = FUNCTIONS[name]
    want = derivative(f, X)
    inside = converted(lambda x: derivative(f, x, experimental_use_pfor=pfor))
    close(inside(X), want)
    close(derivative(converted(f), X, experimental_use_pfor=pfor), want)


def test_jacobian_by_variables_and_of_what_is_not_connected():
    v, u = tf.Variable([1.0, 2.0]), tf.Variable([3.0])

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def jacobians(x):
        with tf.GradientTape(persistent=True) as tape:
            y = tf.reduce_sum(v) * x
        none = tape.jacobian(y, [v, u])
        zeros = tape.jacobian(y, u, unconnected_gradients="zero")
        assert none[0].shape.as_list() == [None, 2]
        assert none[1] is None
        return none[0], zeros

    of_v, zeros = jacobians(tf.constant([1.0, 2.0, 5.0]))
    assert of_v.numpy().tolist() == [[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]]
    assert zeros.numpy().tolist() == [[0.0], [0.0], [0.0]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode(name):
    f, t = FUNCTIONS[name], tf.cos(X)
    want = tf.einsum("abcd,cd->ab", jacobian(f, X), t)
    close(forward(f, X, t), want)
    close(tf.function(lambda x, t: forward(f, x, t), input_signature=[ANY, ANY])(X, t), want)
    close(forward(converted(f), X, t), want)


def test_forward_mode_of_rows():
    """What is taken from a tensor has a dense tangent."""

    def sums(x):
        rows = tf.RaggedTensor.from_tensor(x, lengths=[1, 0, 2])
        return tf.reduce_sum(rows[::-1] ** 2.0, 1)

    want = tf.einsum("abc,bc->a", jacobian(sums, X), tf.cos(X))
    close(forward(sums, X, tf.cos(X)), want)
    close(converted(lambda x: forward(sums, x, tf.cos(x)))(X), want)


def test_forward_mode_by_a_variable():
    v = tf.Variable([2.0, 3.0])
    f = tf.function(lambda: tf.reduce_sum(v * v * v))
    t = tf.constant([1.0, -1.0])
    with tf.autodiff.ForwardAccumulator(v, t) as accumulator:
        y = f()
    assert accumulator.jvp(y).numpy() == 12.0 - 27.0

    @tf.function
    def inside():
        with tf.autodiff.ForwardAccumulator(v, t) as accumulator:
            y = tf.reduce_sum(v * v * v)
        return accumulator.jvp(y)

    assert inside().numpy() == 12.0 - 27.0


@pytest.mark.parametrize("name", ["elementwise", "matmul", "reduction", "call", "condition", "loop"])
def test_forward_over_reverse(name):
    """The product of a Hessian and a vector."""
    f, t = FUNCTIONS[name], tf.cos(X)

    def gradient(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x))
        return tape.gradient(y, x)

    want = tf.einsum("abcd,cd->ab", jacobian(lambda x: gradient(f, x), X), t)
    close(forward(lambda x: gradient(f, x), X, t), want)
    close(tf.function(lambda x, t: forward(lambda x: gradient(f, x), x, t))(X, t), want)
    close(forward(tf.function(lambda x: gradient(f, x)), X, t), want)
    close(forward(lambda x: gradient(tf.function(f), x), X, t), want)


def test_second_derivatives():
    f = FUNCTIONS["reduction"]

    def hessian(f, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(f(x))
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    want = hessian(f, X)
    close(converted(lambda x: hessian(f, x))(X), want)
    close(hessian(converted(f), X), want)


# ---- gradients of one's own ------------------------------------------------------------------------------------------


@tf.custom_gradient
def doubling(x):
    """The identity, whose gradient is twice what it should be."""
    return tf.identity(x), lambda dy: 2.0 * dy


@tf.custom_gradient
def two(x, y):
    a, b = x * y, x + y

    def grad(da, db):
        return da * y + db, da * x - db

    return (a, b), grad


@tf.custom_gradient
def scaled(x):
    """`x @ W`, with gradients for both that are 10 times too large."""
    y = x @ W

    def grad(dy, variables=None):
        assert variables == [W]
        return 10.0 * dy @ tf.transpose(W), [10.0 * tf.transpose(x) @ dy]

    return y, grad


CUSTOM = {
    "one": lambda x: doubling(x) * x,
    "nested": lambda x: doubling(doubling(x)),
    "two": lambda x: tf.add_n(two(x, tf.sin(x))),
    "unused result": lambda x: two(x, x)[1],
    "variables": lambda x: scaled(x) ** 2.0,
    "in a loop": lambda x: tf.map_fn(doubling, x) * x,
    "in a condition": lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: doubling(x), lambda: x),
    "recompute_grad": tf.recompute_grad(lambda x: tf.sin(x @ W) * x),
    "grad_pass_through": lambda x: tf.grad_pass_through(tf.round)(x * 2.0),
}


@pytest.mark.parametrize("name", CUSTOM)
def test_custom_gradients(name):
    f = CUSTOM[name]

    def gradients(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, W], unconnected_gradients="zero")

    for a, b, c in zip(
        gradients(f, X), converted(lambda x: gradients(f, x))(X), gradients(converted(f), X), strict=True
    ):
        close(b, a)
        close(c, a)


def test_custom_gradient_second_order():
    @tf.custom_gradient
    def cube(x):
        def grad(dy):
            return dy * 3.0 * x * x

        return x**3.0, grad

    def second(f, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    close(tf.function(lambda x: second(cube, x))(X), 6.0 * X)
    close(second(tf.function(cube), X), 6.0 * X)


def times(k):
    """Returns the identity, whose gradient is multiplied by `k`."""
    return tf.custom_gradient(lambda x: (tf.identity(x), lambda dy: dy * k))


def looped(x, k):
    for _ in tf.range(3):
        x = times(k)(x) * 2.0
    return x


def looped_twice(x, k):
    for _ in tf.range(2):
        for _ in tf.range(3):
            x = times(k)(x)
    return x


def chosen(x, k):
    if x > 0.0:
        x = times(k)(x)
    return x


def chosen_in_a_loop(x, k):
    for i in tf.range(4):
        if i % 2 == 0:
            x = times(k)(x)
        else:
            x = x * 2.0
    return x


def looped_in_a_branch(x, k):
    if x > 0.0:
        for _ in tf.range(3):
            x = times(k)(x)
    return x


def called(x, k):
    f = tf.function(times(k))
    return f(f(x))


def called_in_a_loop(x, k):
    f = tf.function(times(k))
    for _ in tf.range(3):
        x = f(x)
    return x


def computed_later(x, k):
    later = []
    f = tf.custom_gradient(lambda x: (tf.identity(x), lambda dy: dy * later[0]))
    for _ in tf.range(2):
        x = f(x)
    later.append(k * tf.stop_gradient(x) / x)
    return x


# functions, and the powers of `k` and factors that their gradients are; as TensorFlow's, where it does not fail
OUTSIDE = {
    looped: (3, 8.0),
    looped_twice: (6, 1.0),
    chosen: (1, 1.0),
    chosen_in_a_loop: (2, 4.0),
    looped_in_a_branch: (3, 1.0),
    called: (2, 1.0),
    called_in_a_loop: (3, 1.0),
    computed_later: (2, 1.0),
    lambda x, k: tf.reduce_sum(tf.map_fn(times(k), tf.stack([x, x]))): (1, 2.0),
}


@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("f", OUTSIDE)
def test_custom_gradients_that_take_outer_tensors(f, variable):
    """What the gradient alone takes, the body of a loop, a branch or a function does not capture."""
    (power, factor), f = OUTSIDE[f], tf.autograph.to_graph(f)
    x, k = tf.constant(2.0), tf.Variable(3.0) if variable else tf.constant(3.0)

    def gradient(f, x, k):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, k)
        return tape.gradient(y, x)

    def second(gradient):
        with tf.GradientTape() as tape:
            tape.watch(k)
            g = gradient()
        return tape.gradient(g, k)

    def v1():
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            k = tf.compat.v1.placeholder(tf.float32, [])
            return session.run(gradient(f, tf.constant(2.0), k), {k: 3.0})

    want, want_second = factor * 3.0**power, factor * power * 3.0 ** (power - 1)
    around, inside = tf.function(f), tf.function(lambda x, k: gradient(f, x, k))
    for g in (lambda: gradient(around, x, k), lambda: inside(x, k)):
        close(g(), want)
        close(second(g), want_second)
    close(tf.function(lambda: second(lambda: gradient(f, x, k)))(), want_second)
    close(tf.function(lambda xs: tf.vectorized_map(lambda x: gradient(f, x, k), xs))(tf.stack([x, x])), [want] * 2)
    close(v1(), want)


def test_custom_gradients_that_take_outer_tensors_are_saved(tmp_path):
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([])] * 2)
    def gradient(x, k):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.autograph.to_graph(chosen_in_a_loop)(x, k)
        return tape.gradient(y, x)

    module.gradient = gradient
    tf.saved_model.save(module, str(tmp_path))
    close(tf.saved_model.load(str(tmp_path)).gradient(2.0, 3.0), 36.0)


def test_a_custom_gradient_must_take_the_variables():
    @tf.custom_gradient
    def careless(x):
        return x @ W, lambda dy: dy

    with pytest.raises(TypeError, match="variables"):
        tf.function(careless)(X)


def test_second_derivatives_of_loops_by_variables():
    """The gradient of a gradient is of the variable's dtype, not that of its handle."""
    w = tf.Variable([2.0, 3.0])

    @tf.function
    def second(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), (0, x))[1]
            g = tape.gradient(y, w)  # 3 x w**2
            s = tf.reduce_sum(g * g)
        return outer.gradient(s, w)

    found = second(tf.constant([1.0, 2.0]))
    assert found.dtype == tf.float32
    np.testing.assert_allclose(found, [36.0 * 2.0**3, 36.0 * 4.0 * 3.0**3])


def test_second_derivatives_of_python_functions():
    """They depend on what the function takes, too."""
    square = tf.function(lambda x: tf.py_function(lambda a: a * a, [x], tf.float64))
    x = tf.constant([1.0, 2.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x) ** 2.0
        g = tape.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(g, x), 12.0 * x.numpy() ** 2)


def test_tapes_go_on_where_a_graph_is_entered_again():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.compat.v1.get_default_graph().as_default():
                y = x * 2.0
        return tape.gradient(y, x)

    assert slope(tf.constant(1.0)).numpy() == 2.0


def test_gradients_stand_in_scopes_named_after_those_of_what_they_are_of():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            with tf.name_scope("net"):
                y = tf.nn.relu(tf.matmul(x, w))
            loss = tf.reduce_sum(y)
        with tf.name_scope("update"):
            (dw,) = tape.gradient(loss, [w])
            return w.assign_sub(dw)

    names = {op.type: op.name for op in train.get_concrete_function(tf.ones([3, 2])).graph.get_operations()}
    assert names["ReluGrad"] == "gradient_tape/net/ReluGrad"
    assert names["AssignSubVariableOp"].startswith("update/")

    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("s"):
            y = tf.exp(x)
        tf.gradients(y, x)
        with tf.name_scope("k"):
            tf.gradients(y, x, name="mine")
    products = [op.name for op in graph.get_operations() if op.type == "Mul"]
    assert [name.rpartition("/")[0] for name in products] == ["gradients/s/Exp_grad", "k/mine/s/Exp_grad"]


def _looped(v):
    return tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + v), (0, tf.constant(0.0)))[1]


def _summed(v):
    total = 0.0
    for _ in tf.range(3):
        total = total + v
    return total


@pytest.mark.parametrize(
    ("uses", "derivative"),
    [
        (_looped, 10.0),
        (_summed, 3.0),
        (lambda v: tf.cond(v > 0.0, lambda: v * 2.0, lambda: v), 2.0),
        (lambda v: tf.switch_case(tf.constant(1), [lambda: v, lambda: v * 5.0]), 5.0),
        (lambda v: tf.function(lambda: v * 3.0)(), 3.0),
        (lambda v: tf.reduce_sum(tf.map_fn(lambda x: x * v, tf.constant([1.0, 2.0]))), 3.0),
    ],
)
def test_gradients_with_respect_to_constants_pass_inner_functions(uses, derivative):
    @tf.function
    def gradient():
        x = tf.constant(1.0)
        return tf.gradients(uses(x), [x])[0]

    @tf.function
    def tangent():
        x = tf.constant(1.0)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = uses(x)
        return accumulator.jvp(y)

    assert gradient().numpy() == derivative and tangent().numpy() == derivative


@pytest.mark.parametrize("method", ["gradient", "jacobian", "batch_jacobian"])
def test_a_function_differentiates_softmax_that_ran_before_it(method):
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.softmax(x * 2)
    wanted = tf.map_fn(lambda row: tf.linalg.diag(row) - row[:, None] * row, y) * 2
    result = tf.function(lambda: getattr(tape, method)(y, x))()
    if method == "gradient":
        wanted = tf.reduce_sum(wanted, 1)
    elif method == "jacobian":
        result = tf.stack([result[0, :, 0], result[1, :, 1]])
    np.testing.assert_allclose(result, wanted, atol=1e-6)
    if method != "gradient":  # the persistent tape traces for itself
        np.testing.assert_allclose(tape.batch_jacobian(y, x), wanted, atol=1e-6)
