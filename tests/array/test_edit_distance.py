"""Edit distances, beside a plain table."""

import numpy as np
import pytest

import tapeflow as tf


def _levenshtein(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1, j + 1] = min(table[i, j] + (x != y), table[i, j + 1] + 1, table[i + 1, j] + 1)
    return table[-1, -1]


def _random_sequences(rng, shape, kind):
    cells = {cell: rng.integers(0, 4, rng.integers(0, 7)) for cell in np.ndindex(shape) if rng.random() < 0.8}
    indices = [[*cell, i] for cell, values in cells.items() for i in range(len(values))]
    values = np.array([v for values in cells.values() for v in values], np.int64)
    values = {"int": values - 1, "float": np.array([0.0, -0.0, 1.5, np.nan], np.float32)[values],
              "string": np.array([b"", b"a", b"ab", b"b"])[values]}[kind]  # fmt: skip
    dense, at = {}, 0
    for cell, own in cells.items():
        dense[cell] = values[at : at + len(own)].tolist()
        at += len(own)
    sparse = tf.SparseTensor(np.reshape(indices, (-1, len(shape) + 1)).astype(np.int64), values, [*shape, 7])
    return dense, sparse


@pytest.mark.parametrize("kind", ["int", "float", "string"])
def test_edit_distances_of_random_sequences(kind):
    rng = np.random.default_rng(0)
    for shape in [(1,), (40,), (3, 5), (0,)]:
        (a, guess), (b, truth) = (_random_sequences(rng, shape, kind) for _ in range(2))
        expected = np.zeros(shape, np.float32)
        for cell in np.ndindex(shape):
            expected[cell] = _levenshtein(a.get(cell, []), b.get(cell, []))
        np.testing.assert_array_equal(tf.edit_distance(guess, truth, normalize=False).numpy(), expected)
        lengths = np.reshape([len(b.get(cell, [])) for cell in np.ndindex(shape)], shape)
        with np.errstate(all="ignore"):
            normalized = np.where(expected == 0, 0, expected / lengths)
        np.testing.assert_allclose(tf.edit_distance(guess, truth).numpy(), normalized.astype(np.float32), 1e-6)


def test_edit_distances_of_indices_in_another_order():
    guess = tf.SparseTensor([[1, 0], [0, 0], [1, 1], [0, 1]], [3, 1, 4, 2], [2, 2])
    truth = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 3, 5], [2, 2])
    assert tf.edit_distance(guess, truth, normalize=False).numpy().tolist() == [1.0, 1.0]


def test_edit_distance_refuses_components_that_do_not_go_together():
    arguments = {
        "hypothesis_indices": [[0, 0]], "hypothesis_values": [1], "hypothesis_shape": [1, 1],
        "truth_indices": [[0, 0]], "truth_values": [1], "truth_shape": [1, 1],
    }  # fmt: skip
    assert tf.raw_ops.EditDistance(**arguments).numpy().tolist() == [0.0]
    for changed in (
        {"truth_indices": [[1, 0]]}, {"truth_indices": [[-1, 0]]}, {"truth_indices": [[0, 0, 0]]},
        {"truth_values": [1, 2]}, {"hypothesis_indices": np.zeros((2, 2), np.int64)}, {"truth_shape": [1]},
        {"truth_shape": [1, 1, 1]},
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.raw_ops.EditDistance(**(arguments | changed))
