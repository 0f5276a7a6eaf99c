"""The functions of `tf.data`: traced once, captures, control flow, random numbers. Expected values are TensorFlow's."""

import copy
import pickle
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.functions import debugging

Dataset = tf.data.Dataset
r4 = Dataset.range(4)


def values(dataset):
    return [tf.nest.map_structure(lambda x: x.tolist(), e) for e in dataset.as_numpy_iterator()]


def test_python_runs_once_and_sees_symbolic_tensors():
    seen = []

    def double(x):
        seen.append(repr(x))
        return x * 2

    dataset = r4.map(double)
    assert values(dataset) == values(dataset) == [0, 2, 4, 6]
    assert seen == ["<tf.Tensor 'args_0:0' shape=() dtype=int64>"]


def test_debug_mode_runs_python_for_each_element():
    seen = []

    def double(x):
        seen.append(tf.is_symbolic_tensor(x))
        return x * 2

    tf.data.experimental.enable_debug_mode()
    try:
        assert values(r4.map(double).batch(4)) == [[0, 2, 4, 6]]
    finally:
        debugging.clear()
    assert seen == [True, False, False, False, False]


def test_run_functions_eagerly_is_not_about_datasets():
    tf.config.run_functions_eagerly(True)
    try:
        with pytest.warns(UserWarning, match="does not apply to tf.data functions"):
            r4.map(lambda x: x)
    finally:
        tf.config.run_functions_eagerly(False)


def test_autograph():
    def tens(x):
        if x > 2:
            return x * 10
        for _ in tf.range(x):
            x += 1
        return x

    assert values(r4.map(tens)) == [0, 2, 4, 30]
    assert values(r4.filter(lambda x: x > 0 and x < 3)) == [1, 2]


def test_specs_come_from_the_trace():
    rows = Dataset.from_tensor_slices(np.ones([4, 3, 2], np.float32))
    assert rows.map(lambda x: tf.reshape(x, [-1])).element_spec == tf.TensorSpec([6], tf.float32)
    assert r4.map(lambda x: tf.range(x)).element_spec == tf.TensorSpec([None], tf.int64)
    assert r4.flat_map(lambda x: Dataset.range(6).batch(x + 1, drop_remainder=True)).element_spec == tf.TensorSpec(
        [None], tf.int64
    )
    assert r4.flat_map(lambda x: Dataset.range(6).batch(2, True)).element_spec == tf.TensorSpec([2], tf.int64)
    assert r4.map(lambda x: tf.sparse.from_dense([x, x])).element_spec == tf.SparseTensorSpec([2], tf.int64)


def test_variables_are_read_and_written_for_each_element():
    v = tf.Variable(1, dtype=tf.int64)

    def add(x):
        v.assign_add(1)
        return x + v

    assert values(r4.map(add)) == [2, 4, 6, 8]
    assert v.numpy() == 5
    w = tf.Variable(1, dtype=tf.int64)
    dataset = r4.map(lambda x: x * w).batch(4)
    w.assign(3)
    assert values(dataset) == [[0, 3, 6, 9]]


def test_random_numbers_differ_by_element_and_begin_anew_with_each_iterator():
    tf.random.set_seed(1)
    dataset = r4.map(lambda x: tf.random.uniform([]))
    expected = [0.81269646, 0.5272893, 0.8489425, 0.8928561]
    np.testing.assert_allclose(values(dataset), expected)
    np.testing.assert_allclose(values(dataset), expected)
    tf.random.set_seed(None)
    seeded = r4.map(lambda x: tf.random.uniform([], seed=3))
    np.testing.assert_allclose(values(seeded), [0.3869294, 0.6633445, 0.19575107, 0.9421699])
    assert len(set(values(Dataset.range(9).map(lambda x: tf.random.uniform([]))))) == 9


def test_captures_of_a_function_around():
    @tf.function
    def total(y):
        dataset = r4.map(lambda x: x * y).scan(y, lambda s, x: (s + x, s + x)).take(y)
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found, r4.map(lambda x: x * y).reduce(y, lambda s, x: s + x), dataset

    found, reduced, dataset = total(tf.constant(3, tf.int64))
    assert (found.numpy(), reduced.numpy(), values(dataset)) == (3 + 6 + 12, 21, [3, 6, 12])
    assert total(tf.constant(2, tf.int64))[1].numpy() == 14


def test_datasets_of_elements():
    assert values(r4.flat_map(lambda x: Dataset.range(x).map(lambda y: x * 10 + y))) == [10, 20, 21, 30, 31, 32]
    assert values(r4.interleave(lambda x: Dataset.from_tensors(x).repeat(x), 2)) == [1, 2, 2, 3, 3, 3]
    windows = r4.window(2).map(lambda w: w.reduce(np.int64(0), lambda a, b: a + b))
    assert values(windows) == [1, 5]
    assert values(r4.flat_map(lambda x: Dataset.from_tensor_slices([x, x]).skip(1).shard(1, 0))) == [0, 1, 2, 3]


def test_generators_of_elements():
    def repeated(n):
        yield from [n] * n

    spec = {"n": tf.TensorSpec([], tf.int64)}
    made = r4.interleave(
        lambda n: Dataset.from_generator(lambda k: ({"n": x} for x in repeated(k)), args=(n,), output_signature=spec)
    )
    assert sorted(x["n"] for x in values(made)) == [1, 2, 2, 3, 3, 3]


def test_states_may_grow():
    assert r4.reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0)).numpy().tolist() == [0, 1, 2, 3]
    grown = r4.scan(tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.size(s)))
    assert values(grown) == [0, 1, 2, 3]
    assert r4.reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * 2))[1].numpy() == 16


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (lambda x: tf.cast(x, tf.float32) / 255.0, True),
        (lambda x: tf.nn.relu(x - 2.0) * [1.0, 2.0, 3.0], True),
        (lambda x: (x, tf.constant([7.0])), True),
        (lambda x: tf.where(x > 4.0, tf.clip_by_value(x, 0.0, 8.0), [9.0, 8.0, 7.0]), True),
        (lambda x: tf.cast(x, tf.int32) // 2 - [1, 2, 3], True),
        (lambda x: tf.cumsum(x), False),
        (lambda x: x * tf.reduce_sum(x), False),  # the sum of a batch may differ in a bit
        (lambda x: x + tf.ones([2, 3]), True),
        (lambda x: tf.reduce_sum(tf.cast(x, tf.int64)), True),
        (lambda x: (tf.transpose(tf.stack([x, -x])), tf.concat([x, x], 0)[1:4], tf.gather(x, [2, 0])), True),
        (lambda x: tf.image.resize(tf.reshape(x, [3, 1, 1]), [5, 2]), True),
        (lambda x: tf.map_fn(lambda v: v * 2.0, x), False),
    ],
)
def test_what_works_element_by_element_works_on_batches(function, rows):
    dataset = Dataset.from_tensor_slices(np.arange(12, dtype=np.float32).reshape(4, 3)).map(function)
    assert (dataset._node.rows() is not None) is rows
    off = tf.data.Options()
    off.experimental_optimization.apply_default_optimizations = False
    assert values(dataset.batch(3)) == values(dataset.batch(3).with_options(off))
    chosen = dataset.shuffle(3, seed=1, reshuffle_each_iteration=False).skip(1).batch(2)
    assert values(chosen) == values(chosen.with_options(off))
    twice = dataset.skip(1).map(lambda *x: tf.nest.map_structure(lambda t: t * 2, x)).repeat(2).batch(2)
    assert values(twice) == values(twice.with_options(off))


def test_random_numbers_are_drawn_for_each_element():
    drawn = Dataset.range(4).map(lambda x: tf.random.uniform([], 0, 1 << 30, tf.int32))
    assert drawn._node.rows() is None
    (numbers,) = values(drawn.batch(4))
    assert len(set(numbers)) > 1


def test_functions_of_strings_work_on_batches():
    def cleaned(text):
        return tf.strings.regex_replace(tf.strings.lower(text), "[0-9]+", "_"), tf.strings.length(text)

    dataset = Dataset.from_tensor_slices(["Ab1", "", "C22d", "x", "Y9"]).map(cleaned)
    assert dataset._node.rows() is not None
    assert values(dataset.batch(2)) == [
        ([b"ab_", b""], [3, 0]), ([b"c_d", b"x"], [4, 1]), ([b"y_"], [2])
    ]  # fmt: skip


def test_a_batch_after_one_that_failed():
    elements = iter(Dataset.from_tensor_slices(["1", "2", "x", "4", "5"]).map(tf.strings.to_number).batch(2))
    assert next(elements).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string: x"):
        next(elements)
    assert next(elements).numpy().tolist() == [5.0]
    with pytest.raises(StopIteration):
        next(elements)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: r4.map(3), ValueError, "must be a callable"),
        (lambda: r4.map(lambda x: x + 1.0), TypeError, "type float32 that does not match type int64"),
        (lambda: r4.reduce(np.int32(0), lambda s, x: x), TypeError, "Expected .*int32.*got .*int64"),
        (lambda: r4.reduce((0, 1), lambda s, x: s[0]), tf.errors.InvalidArgumentError, "initial_state=2, output=1"),
        (lambda: r4.scan(0, lambda s, x: s), TypeError, "should return a pair"),
        (lambda: r4.group_by_window(lambda x: 1.0, lambda k, d: d, 2), TypeError, "1.0"),
        (lambda: r4.group_by_window(lambda x: x, lambda k, d: k, 2), TypeError, "Invalid `reduce_func`"),
        (
            lambda: values(r4.map(lambda x: tf.debugging.check_numerics(tf.cast(x, tf.float32) / 0.0, "bad"))),
            tf.errors.InvalidArgumentError,
            "bad : Tensor had NaN values",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def noted(dataset_of, made, expected):
    """Takes three elements of a generator that notes each; waits until it has made as many as expected."""
    reached = threading.Event()

    def generator():
        for i in range(8):
            made.append(i)
            if len(made) == expected:
                reached.set()
            yield i

    source = Dataset.from_generator(generator, output_signature=tf.TensorSpec([], tf.int64))
    iterator = iter(dataset_of(source))
    taken = [int(next(iterator)) for _ in range(3)]
    assert reached.wait(20)
    return taken, iterator


def test_slow_elements_are_computed_ahead(monkeypatch):
    monkeypatch.setattr("tapeflow.data.threads._SLOW", 0.0)  # whatever takes time is slow
    made = []
    taken, iterator = noted(lambda ds: ds.map(lambda x: x * 2), made, 5)
    assert taken == [0, 2, 4]
    assert [int(x) for x in iterator] == [6, 8, 10, 12, 14]


@pytest.mark.parametrize("option", ["experimental_optimization.inject_prefetch", "autotune.enabled"])
def test_options_turn_computing_ahead_off(monkeypatch, option):
    monkeypatch.setattr("tapeflow.data.threads._SLOW", 0.0)
    options = tf.data.Options()
    group, name = option.split(".")
    setattr(getattr(options, group), name, False)
    made = []
    noted(lambda ds: ds.with_options(options), made, 3)
    assert made == [0, 1, 2]


def test_what_is_quick_is_not_computed_ahead(monkeypatch):
    monkeypatch.setattr("tapeflow.data.threads._SLOW", 1e9)
    made = []
    noted(lambda ds: ds, made, 3)
    assert made == [0, 1, 2]


def test_arrays_are_never_computed_ahead(monkeypatch):
    started = []
    monkeypatch.setattr("tapeflow.data.threads._SLOW", 0.0)
    monkeypatch.setattr("tapeflow.data.threads.start", lambda *args: started.append(args))
    assert values(r4.map(lambda x: x + 1).batch(2)) == [[1, 2], [3, 4]]
    assert not started


def test_datasets_are_copied_but_not_pickled():
    for value in (r4, r4.map(lambda x: x), iter(r4)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="can't be pickled"):
            pickle.dumps(value)
    assert values(copy.copy(r4.shuffle(4, seed=1))) == values(r4.shuffle(4, seed=1))
    assert r4 != Dataset.range(4) and r4 == r4 and len({r4, Dataset.range(4)}) == 2


@pytest.mark.parametrize(
    ("pipeline", "op", "way"),
    [
        (lambda ds, f: ds.map(f), "MapDataset:1", "Map"),
        (lambda ds, f: ds.map(f, num_parallel_calls=2), "ParallelMapDatasetV2:1", "ParallelMapV2"),
        (lambda ds, f: ds.repeat(2).map(f).map(lambda x: x).prefetch(1), "MapDataset:2", "Prefetch::Map::Map"),
        (lambda ds, f: ds.filter(lambda x: f(x) > 0), "FilterDataset:1", "Filter"),
        (lambda ds, f: ds.flat_map(lambda x: tf.data.Dataset.from_tensors(f(x))), "FlatMapDataset:1", "FlatMap"),
        (lambda ds, f: ds.interleave(lambda x: ds.map(f)), "MapDataset:1", r"Interleave\[0\]::Map"),
        (lambda ds, f: tf.data.Dataset.zip(ds, ds.map(f)), "MapDataset:1", r"Zip\[1\]::Map"),
    ],
)
def test_errors_of_functions_name_the_transformation(pipeline, op, way):
    dataset = pipeline(tf.data.Dataset.range(3), lambda x: tf.gather([1, 2], x))
    start = f"Error in user-defined function passed to {op} transformation with iterator: Iterator::Root::{way}: "
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{start}indices = 2 is not in \[0, 2\)\n\n") as caught:
        list(dataset)
    assert "Detected at node GatherV2" in str(caught.value) and "lambda x: tf.gather" in str(caught.value)


def test_errors_of_scan_name_no_transformation():
    dataset = tf.data.Dataset.range(3).scan(0, lambda s, x: (s, tf.gather([1, 2], x)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Graph execution error"):
        list(dataset)
