"""Python's built-in functions in converted functions: with tensors they give what they give with numbers."""

import pytest

import tapeflow as tf

NUMBERS = [3, 1, 4, 1, 5]
CALLS = {
    "max of two": lambda v, a, b: max(a, b),
    "max of three": lambda v, a, b: max(a, 7, b),
    "max of a list": lambda v, a, b: max([a, b]),
    "max of a tuple": lambda v, a, b: max((b, a, 3)),
    "max of a list of one": lambda v, a, b: max([a]),
    "max of a vector": lambda v, a, b: max(v),
    "max of numbers": lambda v, a, b: max([1, 2]) + a,
    "min of two": lambda v, a, b: min(a, b),
    "min of a list": lambda v, a, b: min([b, a]),
    "min of a vector": lambda v, a, b: min(v),
    "sum of a vector": lambda v, a, b: sum(v),
    "sum from a start": lambda v, a, b: sum(v, 10),
    "sum of a list": lambda v, a, b: sum([a, b, 1]),
    "len": lambda v, a, b: len(v) + len([a, b]),
    "int": lambda v, a, b: int(a) + int(True),
    "float": lambda v, a, b: float(a) / 2,
    "sorted": lambda v, a, b: sorted(v),
    "sorted backwards": lambda v, a, b: sorted(v, reverse=True),
    "sorted numbers": lambda v, a, b: sorted([3, 1], key=lambda x: -x) + [a],
    "map": lambda v, a, b: list(map(lambda x, y: x - y, [a, b], [b, 1])),
    "filter": lambda v, a, b: list(filter(lambda x: x > 1, [1, 2, 3])) + [a],
    "filter of none": lambda v, a, b: list(filter(None, [0, 2])) + [a],
    "zip": lambda v, a, b: [x * y for x, y in zip([a, b], [2, 3])],  # noqa: B905
    "enumerate": lambda v, a, b: [i * x for i, x in enumerate([a, b], 1)],
}


@pytest.mark.parametrize("name", CALLS)
def test_tensors_give_what_numbers_give(name):
    expected = CALLS[name](NUMBERS, 2, 6)
    found = tf.function(CALLS[name])(*map(tf.constant, (NUMBERS, 2, 6)))
    assert tf.nest.map_structure(float, tf.nest.flatten(expected)) == [
        float(x) for t in tf.nest.flatten(found) for x in tf.reshape(tf.cast(t, tf.float64), [-1])
    ]


def loops(v, n):
    total = tf.constant(0)
    for i in range(1, n, 2):
        total += i
    for i, x in enumerate(v, 5):
        total += i * x
    for x, y in zip(v, v * 2):  # noqa: B905
        total += x * y
    return total


def test_loops_over_staged_iterables():
    assert int(tf.function(loops)(tf.constant(NUMBERS), tf.constant(8))) == 16 + 102 + 104


@pytest.mark.parametrize("values", [[True, True], [True, False], [False, False], []])
def test_any_and_all_of_vectors_and_datasets(values):
    vector = tf.constant(values, tf.bool)
    dataset = tf.data.Dataset.from_tensor_slices(vector)
    for given in (vector, dataset):
        found = tf.function(lambda given=given: (any(given), all(given)))()
        assert [bool(x) for x in found] == [any(values), all(values)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: max(tf.reshape(v, [5, 1])), "needs one of rank 1"),
        (lambda v: min(v[0]), "needs one of rank 1"),
        (lambda v: sorted(v, key=lambda x: -x), "takes no key"),
        (lambda v: any(tf.data.Dataset.from_tensor_slices(v)), "only supports datasets that return bool scalars"),
    ],
)
def test_what_tensors_do_not_have(call, message):
    with pytest.raises(ValueError, match=message):
        tf.function(call)(tf.constant(NUMBERS))


def test_lengths():
    def lengths(v, n):
        return len(range(n)), len(range(1, n, 2)), len(v), len(v[0])

    function = tf.function(lengths, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
    assert [int(x) for x in function(tf.ones([5, 3]), tf.constant(6))] == [6, 3, 5, 3]
    with pytest.raises(ValueError, match="len requires a non-scalar tensor"):
        tf.function(lambda n: len(n))(tf.constant(3))


def test_lengths_of_datasets():
    dataset = tf.data.Dataset.range(5).batch(2)
    assert int(tf.function(lambda: len(dataset))()) == 3
    endless = dataset.repeat()
    with pytest.raises(tf.errors.InvalidArgumentError, match="definitive cardinality"):
        tf.function(lambda: len(endless))()


def test_numbers_from_texts():
    whole, fraction = tf.function(lambda t: (int(t), float(t)))(tf.constant("12"))
    assert (whole.dtype, fraction.dtype) == (tf.int32, tf.float32) and (int(whole), float(fraction)) == (12, 12.0)
    assert int(tf.function(lambda x: int(x))(tf.constant(2.75))) == 2
    assert float(tf.function(lambda x: float(x) / 4)(tf.constant(3))) == 0.75
    assert int(tf.function(lambda x: x + int("11", 2))(tf.constant(1))) == 4
    assert float(tf.function(lambda x: x + float("0.5"))(tf.constant(1.0))) == 1.5


def test_iterations_of_datasets():
    first, second = tf.data.Dataset.range(1, 4), tf.data.Dataset.range(10, 13)

    @tf.function
    def total():
        sums = tf.constant(0, tf.int64)
        for a, b in zip(first, second):  # noqa: B905
            sums += a * b
        for i, a in enumerate(first, 5):
            sums += 1000 * i * a
        for y in map(lambda a, b: a - b, first, second):
            sums += 100000 * y
        for y in filter(lambda a: a > 1, first):
            sums += 10000000 * y
        return sums

    assert int(total()) == 10 + 22 + 36 + 1000 * (5 + 12 + 21) + 100000 * -27 + 10000000 * 5
    pairs = [tuple(map(int, p)) for p in zip(first, second)]  # noqa: B905
    assert pairs == [(1, 10), (2, 11), (3, 12)]


def test_extremes_with_options():
    def extremes(v):
        return max([], default=5) + v, max([3, -4], key=abs) + v, min(3, -4) + v

    assert [int(x) for x in tf.function(extremes)(tf.constant(1))] == [6, -3, -3]


def test_functions_of_matrices():
    m = tf.constant([[3, 1], [2, 5]])
    results = tf.function(lambda m: (sum(m), sum(m, 10), any(m > 2), all(m > 1), sorted(m)))(m)
    expected = [[5, 6], [15, 16], [True, True], [True, False], [[1, 3], [2, 5]]]
    assert [r.numpy().tolist() for r in results] == expected
