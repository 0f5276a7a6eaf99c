"""Changes of variables in clusters: what is computed for them, and when it takes place."""

import gc

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import mkl


def clusters(concrete):
    """How many parts of a function are machine code."""
    return concrete.source(kernels=True).count('define internal void @"body"(') + concrete.source().count("op_Native")


def compiled(update, *args):
    """A function with everything in clusters that may be, and the results of three calls."""
    function = tf.function(update, jit_compile=True)
    results = [function(*args) for _ in range(3)]
    return function.get_concrete_function(*args), results


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32", "uint8"])
@pytest.mark.parametrize("shape", [[3], [200, 100], [2, 1, 3], [0, 4]], ids=str)
@pytest.mark.parametrize(
    "change",
    [
        lambda v, x: v.assign_add((x - v) * 2),
        lambda v, x: v.assign_sub(x * x * 2),
        lambda v, x: v.assign(v * x + 1),
        lambda v, x: v.assign(tf.maximum(x[..., :1] * 2, v)),
        lambda v, x: (v.assign_add(x * 2), v.assign(v * v - x), v.assign_sub(v * x)),
    ],
    ids=["add", "subtract", "assign", "broadcast", "three times"],
)
def test_a_change_and_what_leads_to_it_are_one_step(change, shape, dtype):
    rng = np.random.default_rng(0)
    x = tf.constant(rng.integers(0, 4, shape), dtype)
    eager, staged = (tf.Variable(tf.cast(tf.fill(shape, 3), dtype)) for _ in range(2))

    def update(x):
        change(staged, x)

    concrete, _ = compiled(update, x)
    for _ in range(3):
        change(eager, x)
    assert clusters(concrete) == 1 and "op_Assign" not in concrete.source()
    assert "ReadVariableOp = " not in concrete.source()
    np.testing.assert_array_equal(staged.numpy(), eager.numpy())


def test_a_change_of_another_shape_is_the_error_of_its_op():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.float32)])
    def update(x):
        v.assign_add(x * 2.0 + 1.0)

    update(tf.ones([3]))
    message = r"Cannot update variable with shape \[3\] using a Tensor with shape \[1\], shapes must be equal"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        update(tf.ones([1]))
    np.testing.assert_array_equal(v, [4.0, 5.0, 6.0])


def test_results_of_other_use_are_returned_too():
    v = tf.Variable([1.0, 2.0])

    def update(x):
        step = x * 0.5
        v.assign_sub(step)
        return step

    _, results = compiled(update, tf.constant([2.0, 4.0]))
    np.testing.assert_array_equal(results[0], [1.0, 2.0])
    np.testing.assert_array_equal(v, [-2.0, -4.0])


def test_the_rate_of_a_change_may_be_a_variable_that_changes():
    v, rate = tf.Variable([1.0, 1.0]), tf.Variable(1.0)

    def update(x):
        v.assign_sub(x * rate)
        rate.assign(rate * 0.5)

    compiled(update, tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(v, [1.0 - 1.75, 1.0 - 3.5])


# ---- what reads see --------------------------------------------------------------------------------------------------


def test_reads_before_between_and_after_changes_find_their_values():
    v = tf.Variable([1.0, 2.0])

    def update(x):
        before = v.read_value()
        v.assign_add(x * before)
        between = v.read_value()
        v.assign_add(between * 2.0)
        after = v.read_value()
        return before, between, after, after + before

    concrete, results = compiled(update, tf.constant([1.0, 3.0]))
    assert clusters(concrete) == 1
    value = np.array([1.0, 2.0])
    for result in results:
        between = value + [1.0, 3.0] * value
        after = between + between * 2.0
        for tensor, expected in zip(result, (value, between, after, after + value), strict=True):
            np.testing.assert_array_equal(tensor, expected)
        value = after


def test_a_value_that_somebody_holds_stays_as_it_was():
    v = tf.Variable(np.arange(20000.0))
    step = tf.function(lambda: v.assign_add(v * 0.5 + 1.0), jit_compile=True)
    step()
    before, view = v.read_value(), v.read_value()[3:]
    copy = before.numpy().copy()
    step()
    np.testing.assert_array_equal(before, copy)
    np.testing.assert_array_equal(view, copy[3:])
    np.testing.assert_array_equal(v, copy * 1.5 + 1.0)


def test_a_variable_keeps_its_memory():
    v = tf.Variable(np.arange(20000.0))
    step = tf.function(lambda: v.assign_add(v * 0.5 + 1.0), jit_compile=True)
    step()
    address = v._memory().data_ptr()
    for _ in range(3):
        step()
        gc.collect()
        assert v._memory().data_ptr() == address


def test_other_effects_keep_their_place_between_changes(capfd):
    v = tf.Variable([1.0, 2.0])

    def update(x):
        v.assign_add(x * v)
        tf.print(v)
        v.assign(v * 2.0 - x)
        tf.print(v)

    concrete, _ = compiled(update, tf.constant([1.0, 1.0]))
    assert clusters(concrete) == 2
    assert capfd.readouterr().err.splitlines()[:2] == ["[2 4]", "[3 7]"]


def test_one_variable_leads_to_the_change_of_another_and_back():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    def update():
        a.assign_add(b * 0.5)
        b.assign_sub(a * 0.25)
        a.assign(a * b)

    compiled(update)
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(3):
        x = x + y * 0.5
        y = y - x * 0.25
        x = x * y
    np.testing.assert_array_equal(a, x.astype(np.float32))
    np.testing.assert_array_equal(b, y.astype(np.float32))


def test_a_change_by_its_own_mean_reads_before_it_writes():
    """Rows are read twice: for their mean, and to be changed."""
    v = tf.Variable(np.arange(4 * 37.0).reshape(4, 37))
    expected = v.numpy()

    def update():
        v.assign(v - tf.reduce_mean(v, -1, keepdims=True) * 0.5)

    concrete, _ = compiled(update)
    for _ in range(3):
        expected = expected - expected.mean(-1, keepdims=True) * 0.5
    assert clusters(concrete) == 1
    np.testing.assert_allclose(v, expected, rtol=1e-14)


# ---- optimizers ------------------------------------------------------------------------------------------------------


def adam(variables, slots, gradients):
    for v, (mean, square), g in zip(variables, slots, gradients, strict=True):
        mean.assign_add((g - mean) * 0.1)
        square.assign_add((tf.square(g) - square) * 0.01)
        v.assign_sub(0.5 * mean / (tf.sqrt(square) + 1e-7))


def problem():
    shapes = [[3, 4], [4], [4, 2], [2], [100, 100]]
    variables = [tf.Variable(tf.ones(s, tf.float64) * (i + 1)) for i, s in enumerate(shapes)]
    slots = [(tf.Variable(tf.zeros(s, tf.float64)), tf.Variable(tf.zeros(s, tf.float64))) for s in shapes]
    gradients = [tf.ones(s, tf.float64) * 0.25 * (i + 1) for i, s in enumerate(shapes)]
    return variables, slots, gradients


def optimized(update, gradients=None):
    """The function that updates variables, which have then become what they become eagerly."""
    eager, staged = problem(), problem()
    gradients = gradients or eager[2]
    step = tf.function(lambda gradients: update(*staged[:2], gradients))
    for _ in range(3):
        given = update(*eager[:2], gradients)
        again = step(gradients)
    for a, b in zip(tf.nest.flatten((eager[:2], given or ())), tf.nest.flatten((staged[:2], again or ())), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    return step.get_concrete_function(gradients)


@pytest.mark.parametrize("products_are_slow", [False, True])  # then, native functions with products may be larger
def test_adam_updates_small_variables_at_once_and_each_large_one_in_a_loop(products_are_slow, monkeypatch):
    monkeypatch.setattr(mkl, "products_are_slow", lambda: products_are_slow)
    concrete = optimized(adam)
    assert clusters(concrete) == 2
    assert not any(name in concrete.source() for name in ("op_Sqrt", "op_Square", "op_Assign", "_value.value"))


def test_adam_takes_gradients_of_any_layout():
    gradients = [tf.transpose(tf.reshape(tf.range(1.0, tf.size(g, tf.float64) + 1.0), g.shape[::-1]))
                 for g in problem()[2]]  # fmt: skip
    assert clusters(optimized(adam, gradients)) == 2


def test_adam_is_done_before_anybody_looks():
    def update(variables, slots, gradients):
        before = [tf.identity(v) for v in variables]
        adam(variables[:3], slots[:3], gradients[:3])
        between = variables[0] * 2.0, slots[1][0] * 2.0
        adam(variables[3:], slots[3:], gradients[3:])
        adam(variables, slots, gradients)
        return before, between, slots[0][1] + 1.0

    optimized(update)


def test_adam_leaves_what_was_read_before_as_it_was():
    variables, slots, gradients = problem()
    step = tf.function(lambda: adam(variables, slots, gradients))
    step()
    step()
    before = [v.value() for v in variables]
    copies = [b.numpy() for b in before]
    step()
    for value, copy, v in zip(before, copies, variables, strict=True):
        np.testing.assert_array_equal(value, copy)
        assert not np.array_equal(v, copy)


def mean_is_read_before(v, mean, square, g):
    before = tf.identity(mean)
    mean.assign_add((g - mean) * 0.1)
    square.assign_add((tf.square(g) - square) * 0.01)
    v.assign_sub(0.5 * before / (tf.sqrt(square) + 1e-7))


def mean_is_changed_again(v, mean, square, g):
    mean.assign_add((g - mean) * 0.1)
    square.assign_add((tf.square(g) - square) * 0.01)
    moved = mean + 0.0
    mean.assign(mean * 0.5)
    v.assign_sub(0.5 * mean / (tf.sqrt(square) + 1e-7))
    v.assign_sub(moved)


def all_in_one(v, mean, square, g):
    mean.assign_add((g - mean) * 0.1)
    square.assign_add((tf.square(g) - square) * 0.01)
    mean.assign_sub(0.5 * mean / (tf.sqrt(square) + 1e-7))


def by_turns(v, mean, square, g):
    """Each change depends on a product with the value that another one left."""
    mean.assign_add(g * 0.1)
    total = tf.reduce_sum(mean)
    square.assign_add(mean * total)
    mean.assign(mean - square)
    v.assign_sub(mean * total)


@pytest.mark.parametrize("change", [mean_is_read_before, mean_is_changed_again, all_in_one, by_turns])
def test_other_optimizers(change):
    def update(variables, slots, gradients):
        for v, slot, g in zip(variables, slots, gradients, strict=True):
            change(v, *slot, g)

    optimized(update)


# ---- random programs -------------------------------------------------------------------------------------------------


def random_update(rng):
    """A function of variables and an input: reads, changes, and what lies between, in random order."""
    plan = [(rng.choice(["read", "compute", "reduce", "reverse", "change", "change"]), *rng.integers(0, 1 << 30, 3))
            for _ in range(rng.integers(4, 25))]  # fmt: skip

    def update(variables, x):
        values = [x]
        for kind, a, b, c in plan:
            v, p, q = variables[a % len(variables)], values[b % len(values)], values[c % len(values)]
            if kind == "read":
                values.append(v.read_value())
            elif kind == "compute":
                values.append([p + q * 0.5, p * 0.25 - q, tf.maximum(p, q)][a % 3])
            elif kind == "reduce":
                values.append(p - tf.reduce_max(q, a % 2 - 1, keepdims=True) * 0.5)
            elif kind == "reverse":
                values.append(tf.reverse(p, [a % 2]))
            else:
                [v.assign, v.assign_add, v.assign_sub][c % 3](p * 0.5)
        return values[:: 1 + plan[0][1] % 3]

    return update


@pytest.mark.parametrize("seed", range(60))
def test_random_orders(seed):
    rng = np.random.default_rng(seed)
    update, shape = random_update(rng), [4, 6]
    starts = [rng.integers(-64, 64, shape).astype(np.float64) for _ in range(3)]
    eager, staged = ([tf.Variable(s) for s in starts] for _ in range(2))
    step = tf.function(lambda x: update(staged, x), jit_compile=True)
    for i in range(3):
        x = tf.constant(rng.integers(-8, 8, shape).astype(np.float64) + i)
        for expected, actual in zip(update(eager, x), step(x), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-13)
    np.testing.assert_allclose([v.numpy() for v in staged], [v.numpy() for v in eager], rtol=1e-13)
