"""What each pass over graphs does, seen in the source of the function that runs, and that results stay what they
were."""

import gc
import linecache
import random

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.graph.compiler import calling


def traced(function, *args):
    """A concrete function that has run twice, so that it is as fast as it gets, and what it gave."""
    made = tf.function(function)
    made(*args)
    return made.get_concrete_function(*args), made(*args)


def lines_with(source, text):
    return [line for line in source.splitlines() if text in line]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# ---- pruning ---------------------------------------------------------------------------------------------------------


def test_what_nobody_takes_does_not_run():
    def f(x):
        tf.exp(x)
        return x + 1.0

    concrete, _ = traced(f, tf.constant(1.0))
    assert "Exp" not in concrete.source()


def test_side_effects_stay():
    v = tf.Variable(0)

    def f(x):
        v.assign_add(1)
        tf.random.uniform([])
        return x + 1

    concrete, _ = traced(f, tf.constant(1))
    assert "AssignAddVariableOp" in concrete.source()
    assert "RandomUniform" not in concrete.source()
    assert v.numpy() == 2


# ---- folding ---------------------------------------------------------------------------------------------------------


def test_constants_are_computed_once():
    def f(x):
        return x * tf.sqrt(tf.constant(4.0) + 5.0)

    concrete, result = traced(f, tf.constant(2.0))
    assert "op_Sqrt" not in concrete.source() and "op_AddV2" not in concrete.source()
    assert float(result) == 6.0


def test_known_shapes_are_numbers():
    def f(x):
        return tf.reshape(x, [tf.shape(x)[1], -1])

    concrete, _ = traced(f, tf.ones([2, 3]))
    assert "(3, -1)" in concrete.source() and "Shape(" not in concrete.source()


def test_large_constants_are_not_kept():
    def f(x):
        return x + tf.zeros([1000, 1000])

    concrete, result = traced(f, tf.constant(1.0))
    assert len(lines_with(concrete.source(), "=")) >= 2
    assert result.shape == (1000, 1000)


def test_large_constants_of_large_constants_are_kept():
    """Frozen models join the parts of a table, which they hold anyway."""
    parts = [tf.constant(np.full([100, 300], i), tf.float32) for i in range(3)]

    def f(places):
        return tf.gather(tf.concat([tf.identity(p) for p in parts], 0), places)

    graph = tf.Graph()
    with graph.as_default():
        places = tf.compat.v1.placeholder(tf.int32, [2])
        table = tf.concat([tf.constant(p.numpy()) for p in parts], 0)
        rows = tf.gather(table, places)
    function = tf.compat.v1.wrap_function(
        lambda x: tf.import_graph_def(graph.as_graph_def(), {places.op.name: x}, [rows.name])[0],
        [tf.TensorSpec([2], tf.int32)],
    )
    assert "Concat" not in function.source()
    np.testing.assert_array_equal(function(tf.constant([0, 250])), f(tf.constant([0, 250])))


def test_what_changes_nothing_is_left_out():
    def f(x):
        y = tf.reshape(tf.identity(x), [2, 3])
        return tf.stop_gradient(tf.cast(y, tf.float32)) * 1.0 - 0.0

    concrete, result = traced(f, tf.ones([2, 3]))
    assert concrete.source().splitlines()[1].strip() == "return (x,)"
    assert result.shape == (2, 3)


def test_minus_zero_plus_zero_is_still_computed():
    result = tf.function(lambda x: x + 0.0)(tf.constant(-0.0))
    assert not np.signbit(result.numpy())


def test_an_error_of_constants_is_raised_when_the_function_runs():
    function = tf.function(lambda x: x + tf.cast(tf.constant(1) // tf.constant(0), tf.float32))
    concrete = function.get_concrete_function(tf.TensorSpec([], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        concrete(tf.constant(1.0))


def test_a_session_may_feed_a_constant():
    with tf.Graph().as_default():
        a = tf.constant(3)
        b = a * 2
        with tf.compat.v1.Session() as session:
            assert session.run(b) == 6
            assert session.run(b, {a: 10}) == 20


# ---- sharing ---------------------------------------------------------------------------------------------------------


def test_the_same_is_computed_once():
    concrete, result = traced(lambda x: tf.exp(x) * 2.0 + tf.exp(x), tf.constant(0.0))
    assert len(lines_with(concrete.source(), "Exp(")) == 1
    assert float(result) == 3.0


def test_the_same_numbers_make_the_same():
    def f(x):
        return [tf.exp(x + tf.cast(tf.constant(n) // n, tf.float32)) for n in (3, 4, 5)]

    concrete, result = traced(f, tf.constant(0.0))
    assert len(lines_with(concrete.source(), "Exp(")) == 1
    np.testing.assert_allclose(result, [np.exp(1.0)] * 3, rtol=1e-6)


def test_numbers_of_different_types_are_not_the_same():
    def f(x):
        return tf.cast(x, tf.int32), tf.cast(x, tf.int64), tf.one_hot(0, 2, on_value=1), tf.one_hot(0, 2, on_value=1.0)

    _, result = traced(f, tf.constant(1.5))
    assert [r.dtype for r in result] == [tf.int32, tf.int64, tf.int32, tf.float32]


def test_random_numbers_differ():
    a, b = traced(lambda: (tf.random.normal([8]), tf.random.normal([8])))[1]
    assert np.any(a.numpy() != b.numpy())


def test_a_variable_is_read_again_after_a_change():
    v, w = tf.Variable(1.0), tf.Variable(10.0)

    def f():
        before = v + w
        v.assign_add(1.0)
        return before, v + w

    _, (before, after) = traced(f)
    assert (float(before), float(after)) == (12.0, 13.0)


def test_a_variable_is_read_again_after_a_call_that_may_change_it():
    v = tf.Variable(1.0)

    @tf.function
    def change():
        v.assign(v * 3.0)

    def f():
        before = v * 1.5
        change()
        return before, v * 1.5

    _, (before, after) = traced(f)
    assert (float(before), float(after)) == (4.5, 13.5)


# ---- products and what follows them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("add", [lambda y, b: y + b, lambda y, b: b + y, tf.nn.bias_add])
def test_product_with_bias(rng, add):
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((4, 3), (3, 5), (5,)))
    _, result = traced(lambda x: tf.nn.relu(add(x @ w, b)), x)
    np.testing.assert_allclose(result, np.maximum(x.numpy() @ w.numpy() + b.numpy(), 0), rtol=1e-5, atol=1e-6)


def test_transposed_product_with_bias(rng):
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((3, 4), (5, 3), (5,)))
    _, result = traced(lambda x: tf.matmul(x, w, transpose_a=True, transpose_b=True) + b, x)
    np.testing.assert_allclose(result, x.numpy().T @ w.numpy().T + b.numpy(), rtol=1e-5, atol=1e-6)


def test_a_product_that_is_needed_itself_is_not_passed_over(rng):
    x = tf.constant(rng.standard_normal((4, 4)), tf.float32)

    def f(x):
        y = x @ x
        return y, y + 1.0

    _, (product, total) = traced(f, x)
    np.testing.assert_array_equal(total, product.numpy() + 1.0)


def test_a_sum_that_is_larger_than_the_product(rng):
    x = tf.constant(rng.standard_normal((1, 3)), tf.float32)
    big = tf.ones([4, 1])
    _, result = traced(lambda x, y: tf.matmul(x, y) + big, x, tf.transpose(x))
    assert result.shape == (4, 1)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_convolution_with_bias_and_activation(rng, padding):
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((2, 9, 9, 3), (3, 3, 3, 4), (4,)))

    def f(x):
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 2, padding), b))

    _, result = traced(f, x)
    np.testing.assert_allclose(result, f(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("batch", [2, None])
def test_convolution_with_a_vector_that_is_added(rng, batch):
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((2, 9, 9, 3), (3, 3, 3, 4), (4,)))

    def f(x):
        return b + tf.nn.conv2d(x, w, 1, "SAME")

    concrete = tf.function(f).get_concrete_function(tf.TensorSpec([batch, 9, 9, 3]))
    np.testing.assert_allclose(concrete(x), f(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(1,), (), (9, 4), (1, 4)])
def test_convolution_with_what_is_no_bias(rng, shape):
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((2, 9, 9, 3), (3, 3, 3, 4), shape))
    f = lambda x: tf.nn.conv2d(x, w, 1, "SAME") + b  # noqa: E731
    _, result = traced(f, x)
    np.testing.assert_allclose(result, f(x), rtol=1e-5, atol=1e-5)


def test_sum_of_large_products(rng):
    a, b, c = (tf.constant(rng.standard_normal((100, 100)), tf.float32) for _ in range(3))
    _, result = traced(lambda a, b, c: a * b + c, a, b, c)
    np.testing.assert_allclose(result, a.numpy() * b.numpy() + c.numpy(), rtol=1e-5, atol=1e-6)


def test_shapes_that_are_the_same_are_shared(rng):
    a = tf.constant(rng.standard_normal((2, 3)), tf.float32)
    concrete, _ = traced(lambda a: tf.tile(a, tf.constant([1, 2])) * tf.sin(tf.tile(a, tf.constant([1, 2]))), a)
    assert len(lines_with(concrete.source(), "Tile(")) == 1


def test_errors_of_bound_kernels_name_the_op():
    f = tf.function(
        lambda x, w, b: tf.matmul(x, w) + b,
        input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, 2]), tf.TensorSpec([2])],
    )
    x, w, b = tf.ones([2, 3]), tf.ones([3, 2]), tf.ones([2])
    f(x, w, b)
    f(x, w, b)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Matrix size-incompatible: In\[0\]: \[2,4\], In\[1\]: \[3,2\]"
    ):
        f(tf.ones([2, 4]), w, b)


# ---- the order of changes --------------------------------------------------------------------------------------------


def test_one_variable_changed_again_and_again_keeps_its_order():
    v = tf.Variable([1.0, 2.0])

    def f():
        for _ in range(4):
            v.assign_add(v * 0.5)
            v.assign_sub([1.0, 1.0])
        return v + 0.0

    eager = tf.Variable([1.0, 2.0])
    for _ in range(8):
        for _ in range(1):
            eager.assign_add(eager * 0.5)
            eager.assign_sub([1.0, 1.0])
    _, result = traced(f)
    np.testing.assert_array_equal(result, eager)


def test_reads_before_and_after_changes():
    variables = [tf.Variable(float(i)) for i in range(4)]

    def f():
        before = [v * 2.0 for v in variables]
        for v in variables:
            v.assign_add(1.0)
        return before, [v * 2.0 for v in variables]

    _, (before, after) = traced(f)
    assert [float(b) for b in before] == [2.0, 4.0, 6.0, 8.0]
    assert [float(a) for a in after] == [4.0, 6.0, 8.0, 10.0]


def test_operands_of_unknown_rank():
    def products(*xs):
        results = [x * y for x, y in zip(xs, xs[1:], strict=False)]
        for result in results:
            result.set_shape([2])
        return results

    f = tf.function(products, input_signature=[tf.TensorSpec(None)] * 8)
    results = f(*[tf.constant([1.0, float(i)]) for i in range(8)])
    assert [r.numpy().tolist() for r in results] == [[1.0, i * (i + 1.0)] for i in range(7)]


def test_variables_of_unknown_shape_among_others():
    unknown = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    others = [tf.Variable([1.0 * i, 2.0]) for i in range(4)]

    def f():
        value = unknown.read_value()
        value.set_shape([2])
        for v in others:
            v.assign_add(tf.sqrt(value) * 2.0)
        return value + others[0]

    _, result = traced(f)
    np.testing.assert_allclose(result, [1.0 + 4.0, 2.0 + 2.0 + 4.0 * 2.0**0.5], rtol=1e-6)


# ---- reuse of memory -------------------------------------------------------------------------------------------------


@pytest.fixture
def allocated(monkeypatch):
    """The shapes of tensors that machine code allocates."""
    shapes = []

    def strided(shape, strides, dtype):
        shapes.append(shape)
        return torch.empty_strided(shape, strides, dtype=dtype)

    monkeypatch.setitem(calling.NAMES, "strided", strided)
    return shapes


def test_activations_take_the_memory_of_what_they_are_of(rng, allocated):
    x = tf.constant(rng.standard_normal((256, 256)), tf.float32)
    concrete, result = traced(lambda x: tf.nn.relu6(x @ x), x)
    assert "op_Relu6(" in concrete.source(kernels=True) and not allocated
    np.testing.assert_array_equal(result, tf.nn.relu6(x @ x))
    traced(lambda x: tf.nn.relu6(x) * tf.exp(x), x)  # the memory of an input is left alone
    assert allocated


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.nn.relu(x) + x,  # an input
        lambda x: (lambda y: (y, tf.nn.relu(y)))(x @ x),  # an output
        lambda x: (lambda y: (tf.reshape(y, [-1]), tf.nn.relu(y)))(x @ x),  # a view of it is an output
        lambda x: (lambda y: tf.nn.relu(y) * tf.transpose(y))(x @ x),  # a view is taken later
        lambda x: (lambda y: tf.nn.relu(y) + tf.exp(y))(x @ x),  # taken later
        lambda x: (lambda y: [tf.exp(y), tf.exp(tf.identity(y)) + y])(x @ x),
        lambda x: (lambda y: y * y)(x @ x),  # both operands at once
        lambda x: tf.constant(2.0, shape=[256, 256]) * 3.0 + x,
    ],
)
def test_memory_that_others_see_is_left_alone(rng, function):
    x = tf.constant(rng.standard_normal((256, 256)), tf.float32)
    kept = x.numpy().copy()
    _, result = traced(function, x)
    for a, b in zip(tf.nest.flatten(result), tf.nest.flatten(function(x)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_array_equal(x, kept)


def test_memory_that_a_variable_took_is_left_alone(rng):
    x = tf.constant(rng.standard_normal((256, 256)), tf.float32)
    v = tf.Variable(tf.zeros([256, 256]))

    def f(x):
        y = x @ x
        v.assign(y)
        return tf.nn.relu(y)

    traced(f, x)
    np.testing.assert_array_equal(v, x @ x)


def test_memory_that_a_list_took_is_left_alone(rng):
    x = tf.constant(rng.standard_normal((256, 256)), tf.float32)

    def f(x):
        y = x @ x
        array = tf.TensorArray(tf.float32, 1).write(0, y)
        return tf.nn.relu(y), array.read(0)

    _, (_, kept) = traced(f, x)
    np.testing.assert_array_equal(kept, x @ x)


def test_gradients_with_reused_memory(rng, allocated):
    x = tf.constant(rng.standard_normal((256, 256)), tf.float32)
    weights = [tf.Variable(rng.standard_normal((256, 256)) / 16, dtype=tf.float32) for _ in range(3)]

    def f(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(h @ w + 0.1)
            loss = tf.reduce_mean(h * h)
        return tape.gradient(loss, weights)

    concrete, result = traced(f, x)
    assert len(lines_with(concrete.source(), "= op_ReluGrad")) == 2 and not allocated
    for a, b in zip(result, f(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


# ---- binding ---------------------------------------------------------------------------------------------------------


def test_choices_by_attrs_are_made_once(rng):
    a, b = (tf.constant(rng.standard_normal((3, 3)), tf.float32) for _ in range(2))
    concrete, result = traced(lambda a, b: tf.matmul(a, b, transpose_a=True), a, b)
    assert ".t()" in concrete.source() and "True" not in concrete.source()
    np.testing.assert_allclose(result, a.numpy().T @ b.numpy(), rtol=1e-5)


# ---- all of them -----------------------------------------------------------------------------------------------------


def test_a_dropped_function_leaves_nothing():
    def sources():
        return [name for name in linecache.cache if name.startswith("<function dropped")]

    def dropped(x):
        return tf.nn.relu(x @ x + 1.0)

    function = tf.function(dropped)
    function(tf.ones([4, 4]))
    function(tf.ones([4, 4]))
    assert sources()
    del function
    gc.collect()
    traced(lambda x: x + 1.0, tf.ones([2]))  # what is written next forgets it
    assert not sources()


def test_a_function_may_go_while_tracebacks_are_shown(monkeypatch):
    class Cache(dict):
        """What linecache goes through, with a collection in its midst."""

        def keys(self):
            names = list(super().keys())
            functions.clear()
            gc.collect()
            return names

    functions = [traced(lambda x: x * 2.0, tf.ones([2]))]
    monkeypatch.setattr(linecache, "cache", Cache(linecache.cache))
    linecache.checkcache()


def random_program(seed, length=25):
    """A function that adds up, multiplies, looks at and assigns what it has made so far, in an order that the seed
    decides."""

    def function(tensors, variables):
        pick = random.Random(seed)
        pool, results = list(tensors), []
        for _ in range(length):
            a, b, v = pick.choice(pool), pick.choice(pool), pick.choice(variables)
            make = pick.choice(
                [
                    lambda a, b, v: a + b,
                    lambda a, b, v: a * b - a,
                    lambda a, b, v: tf.nn.relu(a),
                    lambda a, b, v: tf.matmul(a, b, transpose_b=True) * 0.05 + b,
                    lambda a, b, v: tf.nn.bias_add(tf.matmul(a, b) * 0.01, a[0]),
                    lambda a, b, v: tf.transpose(a),
                    lambda a, b, v: tf.reshape(tf.reshape(a, [-1]), a.shape),
                    lambda a, b, v: tf.sigmoid(a) / 2.0,
                    lambda a, b, v: v * 1.5,
                    lambda a, b, v: v.assign_add(tf.tanh(a) * 0.1) + 0.0,
                    lambda a, b, v: v.assign(tf.tanh(b)) * 1.0,
                    lambda a, b, v: tf.identity(a),
                ]
            )
            pool.append(tf.clip_by_value(make(a, b, v), -3.0, 3.0))
            if pick.random() < 0.2:
                results.append(pool[-1])
        return [*results, pool[-1]]

    return function


@pytest.mark.parametrize("size", [4, 100])
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_give_what_they_give_eagerly(rng, seed, size):
    program = random_program(seed)
    arrays = [rng.standard_normal((size, size)).astype(np.float32) for _ in range(3)]
    tensors = [tf.constant(a) for a in arrays]
    eager, staged = ([tf.Variable(a * 0.5) for a in arrays] for _ in range(2))
    function = tf.function(lambda *tensors: program(tensors, staged))
    expected, found = [], []
    for _ in range(3):
        expected += [t.numpy().copy() for t in program(tensors, eager)]
        found += function(*tensors)
    # none was written over later
    for a, b in zip([*found, *staged, *tensors], [*expected, *eager, *arrays], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


PARTS = [
    np.s_[1:3, :, 2:], np.s_[..., 1:4], np.s_[:, 5:2], np.s_[1, ..., 2:3], np.s_[::2], np.s_[:, -3:],
    np.s_[:, None, 2:4], np.s_[10:], np.s_[::-1, 1:], np.s_[2],
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_slices_and_their_gradients_are_bound_to_their_indices(part):
    x = tf.reshape(tf.range(120.0), (4, 6, 5))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)[part] * 2.0
            z = y * y
        return y, tape.gradient(z, x)

    for result, expected in zip(tf.function(f)(x), f(x), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_splits_are_bound_to_their_sizes(axis):
    x = tf.reshape(tf.range(64.0), (4, 4, 4))
    f = tf.function(lambda x: tf.split(x, 2, axis))
    for result, expected in zip(f(x), tf.split(x, 2, axis), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert "op_Split(x, [2, 2], " in f.get_concrete_function(x).source()
