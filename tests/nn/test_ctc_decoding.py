"""Decoders of CTC, beside all alignments of short sequences."""

import itertools

import numpy as np
import pytest

import tapeflow as tf


def labelling(path, blank):
    """The labels of an alignment: equal neighbors are one, and blanks none."""
    return tuple(c for i, c in enumerate(path) if c != blank and (not i or c != path[i - 1]))


@pytest.mark.parametrize(("steps", "classes"), [(1, 2), (3, 3), (5, 3), (4, 4)])
def test_a_wide_beam_finds_the_most_likely_labellings(steps, classes):
    logits = np.random.default_rng(0).normal(size=(steps, 2, classes))
    decoded, scores = tf.nn.ctc_beam_search_decoder(tf.constant(logits), [steps, max(steps - 1, 1)], 1000, 2)
    for example, length in enumerate((steps, max(steps - 1, 1))):
        shares = np.exp(logits[:length, example])
        shares /= shares.sum(1, keepdims=True)
        found = {}
        for path in itertools.product(range(classes), repeat=length):
            labels = labelling(path, classes - 1)
            found[labels] = found.get(labels, 0.0) + np.prod(shares[range(length), path])
        best = sorted(found, key=found.get, reverse=True)
        for k in range(2):
            row = tf.sparse.to_dense(decoded[k], default_value=-1)[example].numpy()
            assert tuple(row[row >= 0]) == best[k]
            np.testing.assert_allclose(scores[example, k], np.log(found[best[k]]), 1e-6)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("blank", [None, 0, 1, -2])
def test_the_most_likely_class_of_each_step(merge, blank):
    logits, lengths = np.random.default_rng(0).normal(size=(9, 3, 3)).astype(np.float32), [9, 5, 0]
    decoded, scores = tf.nn.ctc_greedy_decoder(logits, lengths, merge, blank)
    rows = []
    for example, length in enumerate(lengths):
        path = logits[:length, example].argmax(1)
        kept = [c for i, c in enumerate(path) if not (merge and i and c == path[i - 1])]
        rows.append([c for c in kept if c != (2 if blank is None else blank % 3)])
        np.testing.assert_allclose(scores[example, 0], -logits[:length, example].max(1).sum(), 1e-6)
    (decoded,) = decoded
    assert decoded.dense_shape.numpy().tolist() == [3, max(map(len, rows))]
    assert decoded.values.numpy().tolist() == [c for row in rows for c in row]
    assert decoded.indices.numpy().tolist() == [[i, j] for i, row in enumerate(rows) for j in range(len(row))]


def test_defaults():
    logits = 9.0 * tf.one_hot([[1], [1], [0], [2]], 3)
    for options in ({}, {"merge_repeated": True}, {"blank_index": 2}):
        assert tf.nn.ctc_greedy_decoder(logits, [4], **options)[0][0].values.numpy().tolist() == [1, 0]
    decoded, scores = tf.nn.ctc_beam_search_decoder(logits, [4])
    assert len(decoded) == 1 and decoded[0].values.numpy().tolist() == [1, 0] and scores.shape == [1, 1]


DECODERS = [lambda x, n: tf.nn.ctc_greedy_decoder(x, n), lambda x, n: tf.nn.ctc_beam_search_decoder(x, n, 2)]
INVALID, PRECONDITION = tf.errors.InvalidArgumentError, tf.errors.FailedPreconditionError


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize(
    ("shape", "lengths", "error", "message"),
    [
        ((4, 2), [4, 4], INVALID, "not a 3-Tensor"),
        ((4, 2, 0), [4, 4], INVALID, "must not be empty"),
        ((4, 2, 3), [[4, 4]], INVALID, "not a vector"),
        ((4, 2, 3), [4], PRECONDITION, "batch_size: 2"),
        ((4, 2, 3), [4, 5], PRECONDITION, r"sequence_length\(1\) <= 4"),
    ],
)
def test_arguments_that_are_refused(decode, shape, lengths, error, message):
    with pytest.raises(error, match=message):
        decode(tf.zeros(shape), lengths)


def test_more_refusals():
    x = tf.zeros([4, 1, 3])
    for blank in (3, -4):
        with pytest.raises(INVALID, match="expected to be between -3 and 2"):
            tf.nn.ctc_greedy_decoder(x, [4], blank_index=blank)
    with pytest.raises(INVALID, match="more paths than the beam width"):
        tf.nn.ctc_beam_search_decoder(x, [4], 2, 3)
    with pytest.raises(INVALID, match="Less leaves"):
        tf.nn.ctc_beam_search_decoder(tf.zeros([1, 1, 2]), [1], 5, 3)


# Of beams that lose labellings on the way: seeds, and the labels and scores that TensorFlow gives.
NARROW = [
    (4, [[0, 3, 2, 0, 3, 1], [0, 1, 2, 0, 3, 1]], [-4.13526, -4.30165]),
    (61, [[0, 1, 0], [1, 0, 1, 0], [1, 1, 0]], [-1.66331, -1.8002, -1.9641]),
    (76, [[0, 2, 1, 2], [0, 1, 2], [1, 0, 2, 1, 2]], [-2.04662, -2.35568, -2.36367]),
    (143, [[0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]], [-2.03374, -2.0945, -2.51909]),
    (169, [[1, 1, 0], [1, 0, 1, 0], [1, 0, 0]], [-1.32571, -2.3012, -2.3308]),
    (170, [[3, 2, 0, 2, 0], [1, 2, 0, 2, 0], [3, 2, 0, 2, 3, 0]], [-3.17947, -3.73465, -4.00015]),
    (253, [[1, 0, 1], [1, 0, 1, 0, 1]], [-1.30915, -1.74817]),
    (263, [[1, 0, 0, 1, 0, 1]], [-1.35478]),
    (1, [[1, 0, 1], [1, 0, 2], [0, 1, 2]], [-3.66909, -3.8364, -4.00541]),
    (4, [[0, 3, 2, 0, 3, 1], [0, 1, 2, 0, 3, 1]], [-4.13526, -4.30165]),
    (6, [[2, 1, 0], [2, 1, 2]], [-3.68169, -3.81347]),
    (7, [[2, 1, 0, 1, 0], [1, 2, 1, 0, 1, 0], [1, 2, 1, 0, 1]], [-6.16504, -6.35113, -6.36125]),
    (8, [[1, 0, 1, 0], [1, 0, 1], [0, 1, 0]], [-2.75378, -3.25633, -3.6991]),
    (11, [[0], [0, 0]], [-0.53368, -0.92786]),
    (12, [[1, 0, 1, 0], [0, 1, 0], [1, 0, 1]], [-2.38948, -2.60016, -2.66541]),
    (13, [[3, 2, 1, 3, 1, 2, 0], [3, 2, 1, 0, 1, 2, 0], [3, 2, 1, 3, 1, 2, 3]], [-5.34616, -5.42736, -5.48755]),
    (14, [[1, 3, 1], [1, 0, 1]], [-2.43649, -2.61654]),
    (15, [[2, 1, 1, 0], [2, 1, 1, 2], [2, 1, 1, 2, 0]], [-6.04722, -6.07918, -6.15215]),
]


@pytest.mark.parametrize(("seed", "labels", "scores"), NARROW)
def test_a_narrow_beam_loses_the_labellings_that_tensorflow_loses(seed, labels, scores):
    rng = np.random.default_rng(seed)
    steps, classes = rng.integers(2, 12), rng.integers(2, 6)
    width = int(rng.integers(1, 14))
    paths = min(width, int(rng.integers(1, 4)))
    logits = (rng.uniform(-1, 1, (steps, 1, classes)) * rng.choice([0.3, 1, 3])).astype(np.float32)
    decoded, found = tf.nn.ctc_beam_search_decoder(logits, [int(steps)], width, paths)
    assert [path.values.numpy().tolist() for path in decoded] == labels
    np.testing.assert_allclose(found[0], scores, 0, 1e-4)
