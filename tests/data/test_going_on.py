"""Iterators go on after an error, and their shuffles draw seeds when they begin. All results are those of TensorFlow
2.21."""

import pytest

import tapeflow as tf

_E = "error"
_Dataset = tf.data.Dataset


def _failing(x):
    """Fails for 3 and 4."""
    zero = tf.where((x == 3) | (x == 4), tf.zeros_like(x), tf.ones_like(x))
    return 100 // zero * 0 + x


def _mapped(n=8):
    return _Dataset.range(n).map(_failing)


def _results(dataset, most=14):
    results, iterator = [], iter(dataset)
    for _ in range(most):
        try:
            results.append(tf.nest.map_structure(lambda t: t.numpy().tolist(), next(iterator)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError:
            results.append(_E)
    return results


_SINGLE = [0, 1, 2, _E, _E, 5, 6, 7]
_CASES = {
    "map": (_mapped, _SINGLE),
    "parallel_map": (lambda: _Dataset.range(8).map(_failing, num_parallel_calls=2), _SINGLE),
    "tuned_map": (lambda: _Dataset.range(8).map(_failing, num_parallel_calls=tf.data.AUTOTUNE), _SINGLE),
    "batch": (lambda: _mapped().batch(3), [[0, 1, 2], _E, [6, 7]]),
    "batch_drop": (lambda: _mapped().batch(3, drop_remainder=True), [[0, 1, 2], _E]),
    "parallel_map_batch": (
        lambda: _Dataset.range(8).map(_failing, num_parallel_calls=2).batch(3), [[0, 1, 2], _E, [6, 7]]
    ),
    "padded_batch": (
        lambda: _mapped().map(lambda x: tf.reshape(x, [1])).padded_batch(2), [[[0], [1]], _E, _E, [[5], [6]], [[7]]]
    ),
    "rebatch": (lambda: _mapped().batch(2).rebatch(3), [_E, _E, [6, 7]]),
    "unbatch": (lambda: _mapped().batch(2).unbatch(), [0, 1, _E, _E, 6, 7]),
    "window": (lambda: _mapped().window(2).flat_map(lambda w: w.batch(2)), [[0, 1], _E, _E, [6, 7]]),
    "prefetch": (lambda: _mapped().prefetch(1), _SINGLE),
    "tuned_prefetch": (lambda: _mapped().prefetch(tf.data.AUTOTUNE), _SINGLE),
    "filter": (lambda: _Dataset.range(8).filter(lambda x: _failing(x) >= 0), _SINGLE),
    "take_while": (lambda: _Dataset.range(8).take_while(lambda x: _failing(x) >= 0), _SINGLE),
    "shuffle": (lambda: _mapped().shuffle(3, seed=1), [1, _E, _E, 5, 0, 7, 2, 6]),
    "shuffle_all": (lambda: _mapped().shuffle(100, seed=1), [_E, _E, 6, 7, 1, 2, 5, 0]),
    "repeat": (lambda: _mapped(5).repeat(2), [0, 1, 2, _E, _E] * 2),
    "take": (lambda: _mapped().take(5), [0, 1, 2, _E, _E, 5, 6]),
    "skip": (lambda: _mapped().skip(2), [2, _E, _E, 5, 6, 7]),
    "skip_errors": (lambda: _mapped().skip(4), [_E, _E]),
    "shard": (lambda: _mapped().shard(2, 1), [1, _E, _E, 5, 7]),
    "cache": (lambda: _mapped(5).cache().repeat(2), [0, 1, 2, _E, _E, 0, 1, 2]),
    "zip": (
        lambda: _Dataset.zip((_mapped(6), _Dataset.range(10, 16))), [(0, 10), (1, 11), (2, 12), _E, _E, (5, 15)]
    ),
    "concatenate": (lambda: _mapped(5).concatenate(_Dataset.range(50, 52)), [0, 1, 2, _E, _E, 50, 51]),
    "flat_map": (
        lambda: _Dataset.range(6).flat_map(lambda x: _Dataset.from_tensors(_failing(x)).repeat(2)),
        [0, 0, 1, 1, 2, 2, _E, _E, 5, 5],
    ),
    "flat_map_inner": (
        lambda: _Dataset.range(2).flat_map(lambda x: _Dataset.range(2, 6).map(_failing)), [2, _E, _E, 5] * 2
    ),
    "interleave": (
        lambda: _Dataset.range(6).interleave(lambda x: _Dataset.from_tensors(_failing(x)).repeat(2), cycle_length=2),
        [0, 1, 0, 1, 2, _E, _E, 5, 2, 5],
    ),
    "interleave_inner": (
        lambda: _Dataset.range(2).interleave(lambda x: _Dataset.range(2, 6).map(_failing), cycle_length=2),
        [2, 2, _E, _E, 5, _E, _E, 5],
    ),
    "parallel_interleave": (
        lambda: _Dataset.range(2).interleave(
            lambda x: _Dataset.range(2, 6).map(_failing), cycle_length=2, num_parallel_calls=2, deterministic=True
        ),
        [2, 2, _E, _E, _E, _E, 5, 5],
    ),
    "scan": (
        lambda: _Dataset.range(8).scan(tf.constant(0, tf.int64), lambda s, x: (s + _failing(x), s + x)),
        [0, 1, 3, _E, _E, 8, 14, 21],
    ),
    "unique": (lambda: _mapped().unique(), _SINGLE),
    "enumerate": (lambda: _mapped(6).enumerate(), [(0, 0), (1, 1), (2, 2), _E, _E, (5, 5)]),
    "group_by_window": (
        lambda: _mapped().group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2),
        [[0, 2], _E, _E, [1, 5], [6], [7]],
    ),
    "choose": (
        lambda: _Dataset.choose_from_datasets([_mapped(5), _Dataset.range(50, 55)], _Dataset.range(2).repeat(6)),
        [0, 50, 1, 51, 2, 52, _E, 53, _E, 54],
    ),
    "ignore_errors": (lambda: _mapped().ignore_errors(), [0, 1, 2, 5, 6, 7]),
    "ignore_errors_in_batches": (lambda: _mapped().batch(3).ignore_errors(), [[0, 1, 2], [6, 7]]),
}  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
def test_iteration_goes_on_after_an_error(name):
    make, expected = _CASES[name]
    assert _results(make()) == expected


def test_a_restored_iterator_has_passed_the_same_errors():
    dataset = _mapped()
    iterator = dataset.as_numpy_iterator()
    for _ in range(4):
        try:
            next(iterator)
        except tf.errors.InvalidArgumentError:
            failed = True
    assert failed
    other = dataset.as_numpy_iterator()
    other.restore(iterator.save())
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(other)
    assert [x.item() for x in other] == [5, 6, 7]


_OVER = {
    "shuffle": lambda d: d,
    "batch": lambda d: d.batch(3).unbatch(),
    "cache": lambda d: d.cache(),
    "take": lambda d: d.take(8),
    "repeat": lambda d: d.repeat(1),
    "map": lambda d: d.map(lambda x: x, num_parallel_calls=2).prefetch(1),
    "flat_map": lambda d: d.flat_map(_Dataset.from_tensors),
    "zip": lambda d: _Dataset.zip((d, _Dataset.range(8))).map(lambda x, y: x),
    "concatenate": lambda d: d.concatenate(_Dataset.range(0)),
    "padded_batch": lambda d: d.padded_batch(3).unbatch(),
}


@pytest.mark.parametrize("name", _OVER)
def test_shuffles_draw_their_seeds_when_the_iterator_begins(name):
    tf.random.set_seed(3)
    dataset = _OVER[name](_Dataset.range(8).shuffle(8))
    first, second = iter(dataset), iter(dataset)
    in_second = [x.numpy().item() for x in second]
    assert [x.numpy().item() for x in first] == [3, 4, 0, 2, 6, 1, 7, 5]
    assert in_second == [0, 6, 1, 4, 5, 3, 2, 7]
