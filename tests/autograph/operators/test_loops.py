"""Loops of converted functions: ranges, items, shapes, and variables that change in them."""

import numpy as np
import pytest

import tapeflow as tf


def run(function, *args, **options):
    return tf.nest.map_structure(lambda t: np.asarray(t).tolist(), tf.function(function, **options)(*args))


def counted(n, start=0, step=1):
    items = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[])
    for i in range(start, n, step):
        items = items.write(items.size(), i)
    return items.stack()


@pytest.mark.parametrize(
    ("n", "start", "step"), [(5, 0, 1), (5, 2, 1), (0, 0, 1), (2, 5, 1), (9, 1, 3), (10, 1, 3), (0, 5, -2), (1, 5, -2)]
)
def test_ranges_of_tensors(n, start, step):
    for staged in ((1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 0), (0, 0, 1)):
        args = [tf.constant(v) if s else v for v, s in zip((n, start, step), staged, strict=True)]
        assert run(counted, *args) == list(range(start, n, step))


def counted_in_many_ways(n, one, total):
    for i in range(n):
        total = total * 10 + i
    for i in range(n, 0, -2):
        total = total * 10 + i
    for i in range(one, n):
        total = total * 10 + i
    for i, j in zip(range(n), range(1, n + 5, 3)):  # noqa: B905
        total += 100000000 * i * j
    return total, len(range(n)), len(range(2, n, 3))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_ranges_have_the_dtype_of_their_tensors(dtype):
    expected = counted_in_many_ways(4, 1, 0)
    for one in (1, tf.constant(1), tf.constant(1, dtype)):
        assert run(counted_in_many_ways, tf.constant(4, dtype), one, tf.constant(0, dtype)) == expected


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 2**31 - 1, 2**29), (0, -(2**31), -(2**29)), (5, 2**31 - 1, 2**31 - 10)]
)
def test_ranges_up_to_the_largest_integers(start, stop, step):
    @tf.function
    def count(stop, step):
        found = 0
        for _ in range(start, stop, step):
            found += 1
        return found

    assert count(tf.constant(stop), tf.constant(step)).numpy() == len(range(start, stop, step))
    assert count(tf.constant(stop), step).numpy() == len(range(start, stop, step))


def test_ranges_of_fractions():
    def count(limit, delta):
        total, last = tf.constant(0.0), tf.constant(-1.0)
        for x in tf.range(0.5, limit, delta):
            total, last = total + x, x
        return total, last

    assert run(count, tf.constant(2.1), tf.constant(0.5)) == (5.0, 2.0)
    assert run(count, tf.constant(-1.0), tf.constant(-0.5)) == (0.0, -0.5)
    assert run(count, tf.constant(0.5), tf.constant(0.5)) == (0.0, -1.0)


@pytest.mark.parametrize("known", [True, False])
def test_items_of_tensors(known):
    def rows(x):
        total = tf.zeros([2])
        for row in x:
            total = total * 10.0 + row
        return total

    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    signature = [tf.TensorSpec([3, 2] if known else [None, 2])]
    assert run(rows, x, input_signature=signature) == [135.0, 246.0]
    if not known:
        assert run(rows, x[:0], input_signature=signature) == [0.0, 0.0]


def test_items_of_other_values():
    def items(ragged, array_of, v):
        total = tf.constant(0)
        for row in ragged:
            total = total * 10 + tf.reduce_sum(row)
        for x in tf.TensorArray(tf.int32, 2).unstack(array_of):
            total = total * 10 + x
        for x in v:
            total = total * 10 + x
        return total

    v = tf.Variable([6, 7])
    ragged = tf.ragged.constant([[1, 1], [], [3]])
    assert run(lambda: items(ragged, tf.constant([4, 5]), v)) == 2034567


def test_zips():
    def pairs(x, y, n):
        total = tf.constant(0)
        for a, b in zip(x, y):  # noqa: B905
            total = total * 100 + a * b
        for a, b, i in zip(x, [7, 8, 9], range(n)):  # noqa: B905
            total += 1000000 * a * b * i
        return total

    assert run(pairs, tf.constant([1, 2, 3]), tf.constant([4, 5]), tf.constant(2)) == 410 + 1000000 * 16
    assert run(pairs, tf.constant([1]), tf.constant([4, 5]), tf.constant(9)) == 4


def test_enumerations():
    def number(x):
        total = tf.constant(0)
        for i, a in enumerate(x):
            total = total * 10 + i * a
        for i, a in enumerate(x, 3):
            total = total * 100 + i * a
        return total

    assert run(number, tf.constant([1, 2, 3])) == 26 * 10**6 + 3 * 10**4 + 8 * 100 + 15


def test_scalars_have_no_items():
    def items(x):
        for y in x:
            x += y
        return x

    with pytest.raises((ValueError, TypeError), match="scalar"):
        run(items, tf.constant(1))


def while_loop(x, limit):
    steps = 0
    while tf.reduce_sum(x) < limit:
        x = x * 2.0
        steps += 1
    return x, steps


def test_while_loops():
    assert run(while_loop, tf.constant([1.0, 2.0]), tf.constant(20.0)) == ([8.0, 16.0], 3)
    assert run(while_loop, tf.constant([1.0, 2.0]), tf.constant(3.0)) == ([1.0, 2.0], 0)
    assert run(while_loop, tf.constant([1.0, 2.0]), tf.constant(3.5)) == ([2.0, 4.0], 1)


def test_tests_with_effects():
    v = tf.Variable(0)

    def loop(n):
        total = tf.constant(0)
        while v.assign_add(1) < n:
            total += v
        return total

    assert run(loop, tf.constant(4)) == 6 and v.numpy() == 4
    assert run(loop, tf.constant(4)) == 0 and v.numpy() == 5


def test_loops_that_become_staged():
    def loop(n):
        i = 0
        while i < 3:
            i = i + n if i == 2 else i + 1
        return i

    assert run(loop, tf.constant(5)) == 7
    assert run(loop, 5) == 7


CHANGES = {
    "a dtype": (lambda x: change_dtype(x), TypeError, "'x' has dtype int32 before the loop, but dtype float32 after"),
    "a shape": (lambda x: change_shape(x), ValueError, r"'y' has shape \(1,\) before the loop, but shape \(2,\) after"),
    "a structure": (lambda x: change_structure(x), TypeError, "'y' does not have the same nested structure"),
    "to None": (lambda x: change_to_none(x), ValueError, "'y' is None at the end of the iteration"),
    "an object": (lambda x: change_object(x), TypeError, "'y' is"),
    "to nothing": (lambda x: delete_it(x), ValueError, "'y' must be defined at the end of the iteration"),
}


def change_dtype(x):
    while x < 10:
        x = tf.cast(x, tf.float32)
    return x


def change_shape(x):
    y = tf.zeros([1])
    while x < 10:
        y = tf.concat([y, y], 0)
        x += 1
    return y


def change_structure(x):
    y = [x]
    while x < 10:
        y = [x, x]
        x += 1
    return y


def change_to_none(x):
    y = x
    while x < 10:
        y = None
        x += 1
    return y


def change_object(x):
    y = "a"
    while x < 10:
        y = "b"
        x += 1
    return tf.constant(y)


def delete_it(x):
    y = x
    while x < 10:
        del y
        x += 1
    return x


@pytest.mark.parametrize("name", CHANGES)
def test_variables_keep_their_kind(name):
    function, error, message = CHANGES[name]
    with pytest.raises(error, match=message):
        run(function, tf.constant(1))


def test_shape_invariants():
    def grow(n):
        y, z = tf.zeros([1, 2]), (tf.zeros([1]), tf.zeros([2]))
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(y, tf.TensorShape([None, 2])), (z, (tf.TensorShape([None]), tf.TensorShape([2])))]
            )
            y = tf.concat([y, tf.fill([1, 2], tf.cast(i, tf.float32))], 0)
            z = tf.concat([z[0], z[0]], 0), z[1] + 1.0
        return y, z

    y, z = run(grow, tf.constant(2))
    assert y == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]] and z == ([0.0] * 4, [2.0, 2.0])


def test_the_most_iterations():
    def loop(x):
        while x > 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3, parallel_iterations=1)
            x += 1
        return x

    assert run(loop, tf.constant(1)) == 4


def test_variables_of_the_first_iteration():
    def last(n):
        for i in tf.range(n):
            y = i * 2
        return y

    assert run(last, tf.constant(3)) == 4
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError, UnboundLocalError)):
        run(last, tf.constant(0))


def test_the_target_after_the_loop():
    def target(n):
        for i in tf.range(n):  # noqa: B007
            tf.no_op()
        return i

    assert run(target, tf.constant(3)) == 2


def test_breaks():
    def find(x, wanted):
        place = -1
        for i, y in enumerate(x):
            if y == wanted:
                place = i
                break
        return place

    x = tf.constant([5, 7, 9])
    assert [run(find, x, tf.constant(v)) for v in (5, 9, 8)] == [0, 2, -1]

    def over_python(x):
        for i in [1, 2, 3]:
            if x > i:
                break
        return i

    assert run(over_python, 2) == 1
    with pytest.raises(NotImplementedError, match="a break or return inside a loop over a Python iterable"):
        run(over_python, tf.constant(2))


def test_loops_over_datasets_change_shapes():
    def join(dataset):
        y = tf.zeros([0], tf.int64)
        for batch in dataset:
            y = tf.concat([y, batch], 0)
        return y

    assert run(join, tf.data.Dataset.range(5).batch(2)) == [0, 1, 2, 3, 4]
