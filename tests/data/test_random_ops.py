"""Random ops in the functions of pipelines: their state belongs to the iterator that the program uses.

Expected values are positions in the stream of numbers that the global seed begins, recorded from TensorFlow.
"""

import contextlib

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
r3 = Dataset.range(3)


@pytest.fixture(autouse=True)
def global_seed():
    tf.random.set_seed(5)
    yield
    tf.random.set_seed(None)


def draw(*_):
    return tf.random.uniform([])


def drawn(count, seed=None):
    """Returns the first numbers of an iterator's stream, one call for each."""
    return list(Dataset.range(count).map(lambda _: tf.random.uniform([], seed=seed)).as_numpy_iterator())


def positions(values, seed=None):
    """Returns the positions of numbers in the stream."""
    stream = np.array(drawn(32, seed))
    return np.argmin(np.abs(np.ravel(list(values))[:, None] - stream), 1).tolist()


def test_the_stream_is_tensorflows():
    np.testing.assert_allclose(drawn(6), [0.18286, 0.67308, 0.93639, 0.38764, 0.06604, 0.48616], atol=5.1e-6)
    np.testing.assert_allclose(drawn(3, 7), [0.44746, 0.04831, 0.41755], atol=5.1e-6)


def of_groups(dataset):
    return dataset.group_by_window(lambda x: x % 2, lambda key, window: window.map(draw).batch(2), window_size=2)


def of_windows(dataset):
    return dataset.window(2).flat_map(lambda w: w.map(draw))


def in_a_branch(_):
    return tf.cond(tf.constant(value=True), draw, lambda: 0.0)


def in_a_loop(_):
    return tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, draw()), (0, 0.0))[1]


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.map(draw),
        lambda d: d.map(draw, num_parallel_calls=1),
        lambda d: d.map(draw, num_parallel_calls=1, deterministic=False),
        lambda d: d.map(draw).batch(2),
        lambda d: d.map(draw).padded_batch(2),
        lambda d: d.map(draw).batch(2, num_parallel_calls=2),
        lambda d: d.map(draw).prefetch(2),
        lambda d: d.map(draw).ignore_errors(),
        lambda d: d.map(tf.function(draw)),
        lambda d: d.map(in_a_branch),
        lambda d: d.map(in_a_loop),
        lambda d: d.map(lambda x: tf.map_fn(draw, tf.zeros(1))[0]),
        lambda d: d.flat_map(lambda x: Dataset.range(2).map(draw)),
        lambda d: d.flat_map(lambda x: Dataset.range(2).flat_map(lambda y: Dataset.range(2).map(draw))),
        lambda d: d.flat_map(lambda x: Dataset.from_tensors(draw())),
        lambda d: d.interleave(lambda x: Dataset.range(2).map(draw), cycle_length=2),
        lambda d: d.map(lambda x: Dataset.range(1).map(draw).get_single_element()),
        lambda d: d.scan(0, lambda state, x: (state, draw())),
        of_groups,
        of_windows,
    ],
)  # fmt: skip
def test_numbers_go_on_from_repetition_to_repetition_and_begin_anew_with_each_iterator(make):
    dataset = make(Dataset.range(4)).repeat(2)
    expected = list(range(sum(np.size(x) for x in dataset.as_numpy_iterator())))
    assert positions(np.concatenate([np.ravel(x) for x in dataset.as_numpy_iterator()])) == expected
    assert positions(np.concatenate([np.ravel(x) for x in dataset])) == expected


def test_seeds_of_ops():
    for seed in (5, None):
        tf.random.set_seed(seed)
        dataset = r3.map(lambda x: tf.random.uniform([], seed=7)).repeat(2)
        assert positions(dataset, seed=7) == [0, 1, 2, 3, 4, 5]


def test_predicates():
    assert list(Dataset.range(10).filter(lambda x: draw() < 0.5).repeat(2).as_numpy_iterator()) == [
        0, 3, 4, 5, 8, 4, 7, 8, 9
    ]  # fmt: skip
    assert list(Dataset.range(10).take_while(lambda x: draw() < 0.8).repeat(3).as_numpy_iterator()) == [
        0, 1, 0, 1, 2, 3, 4, 5, *range(10)
    ]  # fmt: skip


def test_reducers():
    reducer = tf.data.experimental.Reducer(lambda key: 0.0, lambda s, x: s + draw(), lambda s: s)
    groups = Dataset.range(2).apply(tf.data.experimental.group_by_reducer(lambda x: x, reducer))
    assert positions(groups.repeat(2)) == [0, 1, 2, 3]


def test_several_nodes_of_one_function():
    d = Dataset.range(2).map(draw)
    assert positions(d.concatenate(d).repeat(2)) == [0, 1, 0, 1, 2, 3, 2, 3]
    assert positions(d.concatenate(d).concatenate(d.take(1)).repeat(2)) == [0, 1, 0, 1, 0, 2, 3, 2, 3, 1]
    assert positions(Dataset.zip((d, d)).map(lambda a, b: tf.stack([a, b]))) == [0, 0, 1, 1]
    assert positions(Dataset.zip((d, r3.flat_map(lambda x: d))).map(lambda a, b: tf.stack([a, b]))) == [0, 0, 1, 1]
    assert positions(r3.take(2).flat_map(lambda x: d.concatenate(d))) == list(range(8))
    function = tf.function(draw)
    both = Dataset.zip((r3.map(function), r3.map(function))).map(lambda a, b: tf.stack([a, b]))
    assert positions(both) == [0, 0, 1, 1, 2, 2]
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    assert positions(d.concatenate(d).with_options(options)) == [0, 1, 2, 3]


def test_each_reduction_is_an_iterator():
    d = r3.map(draw)
    total = sum(drawn(6))
    for _ in range(2):
        assert d.repeat(2).reduce(0.0, lambda a, b: a + b).numpy() == pytest.approx(total)
        assert r3.repeat(2).reduce(0.0, lambda a, b: a + draw()).numpy() == pytest.approx(total)
    sums = [x.item() for x in r3.map(lambda x: d.reduce(0.0, lambda a, b: a + b)).repeat(2).as_numpy_iterator()]
    np.testing.assert_allclose(sums, [sum(drawn(3))] * 6, rtol=1e-6)


def test_single_elements_go_on():
    d = Dataset.range(1).map(draw)
    assert positions([d.get_single_element(), d.get_single_element()]) == [0, 1]

    @tf.function
    def single():
        return Dataset.range(2).flat_map(lambda x: Dataset.range(2).map(draw)).batch(4).get_single_element()

    assert positions([single(), single()]) == list(range(8))


def test_iterators_in_functions_and_sessions():
    @tf.function
    def numbers():
        iterator = iter(r3.map(draw).repeat(2))
        return tf.stack([next(iterator) for _ in range(6)])

    assert positions([numbers(), numbers()]) == [*range(6), *range(6)]

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(5)
        iterator = tf.compat.v1.data.make_initializable_iterator(r3.map(draw).repeat(2))
        following, found = iterator.get_next(), []
        for _ in range(2):
            session.run(iterator.initializer)
            found += [session.run(following) for _ in range(6)]
    assert positions(found) == [*range(6), *range(6)]


def test_python_that_iterates_in_a_pipeline():
    """It is a program of its own: its iterators begin anew."""
    d = r3.map(draw)

    def generate():
        yield from d

    signature = tf.TensorSpec([], tf.float32)
    repeated = Dataset.from_generator(generate, output_signature=signature).repeat(2)
    assert positions(repeated) == [0, 1, 2, 0, 1, 2]
    first = r3.map(lambda x: draw() + 10 * tf.py_function(lambda: next(iter(d)), [], tf.float32)).repeat(2)
    np.testing.assert_allclose(list(first), [x + 10 * drawn(1)[0] for x in drawn(6)], rtol=1e-6)


def test_python_in_a_pipeline_draws_from_the_programs_streams():
    def eager():
        return tf.random.uniform([], seed=7)

    def both(x):
        return draw() * 0 + tf.py_function(eager, [], tf.float32)

    before = [eager().numpy() for _ in range(9)]
    tf.random.set_seed(5)
    dataset = r3.map(both)
    assert [x.item() for x in [*dataset.as_numpy_iterator(), *dataset.repeat(2).as_numpy_iterator()]] == before


def test_positions_of_iterators(tmp_path):
    dataset = r3.flat_map(lambda x: Dataset.range(2).map(draw)).repeat(2)
    iterator = iter(dataset)
    first = [next(iterator) for _ in range(5)]
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "position"))
    restored = iter(dataset)
    tf.train.Checkpoint(iterator=restored).restore(path)
    assert positions([*first, *restored]) == list(range(12))


def test_several_iterators_and_saved_datasets(tmp_path):
    d = r3.map(draw).repeat(2)
    one, two = iter(d), iter(d)
    assert positions([next(one), next(two), next(one), next(two)]) == [0, 0, 1, 1]
    d.save(str(tmp_path / "saved"))
    assert positions(Dataset.load(str(tmp_path / "saved"))) == list(range(6))


def test_layers_go_on_as_their_seed_generators_do():
    layer = tf.keras.layers.Dropout(0.5, seed=4)
    dataset = Dataset.from_tensor_slices(np.full((2, 4), 0.5, "f")).map(lambda x: layer(x, training=True)).repeat(2)
    expected = [
        [[1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 1, 0]],
        [[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 0], [1, 0, 1, 1]],
    ]
    assert [[x.tolist() for x in dataset.as_numpy_iterator()] for _ in range(2)] == expected


def test_errors_leave_the_programs_streams_alone():
    def fail(x):
        return draw() + tf.cast(tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "infinite"), tf.float32)

    tf.random.set_seed(5)
    expected = tf.random.uniform([], seed=1).numpy()
    tf.random.set_seed(5)
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        list(r3.map(fail).repeat(2))
    assert tf.random.uniform([], seed=1).numpy() == expected
