"""Connectionist temporal classification: the loss, and decoding. Numbers are recorded from TensorFlow."""

import itertools

import numpy as np
import pytest
from scipy import special

import tapeflow as tf

LOGITS = np.random.RandomState(0).randn(5, 2, 4).astype(np.float32)
INVALID = tf.errors.InvalidArgumentError


def by_all_alignments(logits, labels, blank):
    """The loss from its definition, of `[time, classes]`."""
    logs = special.log_softmax(logits.astype(np.float64), 1)
    total = -np.inf
    for path in itertools.product(range(logits.shape[1]), repeat=len(logits)):
        merged = [v for i, v in enumerate(path) if (not i or v != path[i - 1]) and v != blank]
        if merged == labels:
            total = np.logaddexp(total, sum(logs[t, v] for t, v in enumerate(path)))
    return -total


@pytest.mark.parametrize(("labels", "blank"), [([1, 2], 0), ([1, 1], 0), ([0, 3], 2), ([1], -1), ([], 0)])
def test_loss_is_the_sum_over_all_alignments(labels, blank):
    found = tf.nn.ctc_loss([labels or [0]], LOGITS[:, :1], [len(labels)], [5], blank_index=blank)
    np.testing.assert_allclose(found, [by_all_alignments(LOGITS[:, 0], labels, blank % 4)], rtol=1e-5)


def test_sparse_labels_give_the_same_loss():
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 1], [2, 2])
    found = tf.nn.ctc_loss(sparse, LOGITS, None, [5, 4], blank_index=0)
    np.testing.assert_allclose(found, [3.8038669, 2.249353], rtol=1e-6)
    dense = tf.nn.ctc_loss([[1, 2], [1, 0]], LOGITS, [2, 1], [5, 4], blank_index=0)
    np.testing.assert_allclose(found, dense, rtol=1e-6)


def test_batch_major_logits():
    found = tf.nn.ctc_loss([[1, 2], [1, 1]], LOGITS.transpose(1, 0, 2), [2, 2], [5, 4], False, blank_index=0)
    np.testing.assert_allclose(found, [3.8038673, 5.3695717], rtol=1e-6)


def test_a_labelling_without_time_has_a_finite_loss_and_gradient():
    logits = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.ctc_loss([[1, 1, 2], [1, 1, 1]], logits, [3, 3], [3, 4], blank_index=0)
    np.testing.assert_allclose(loss, [709.3401, 709.0873], rtol=1e-6)
    assert np.isfinite(tape.gradient(loss, logits)).all()


def test_no_steps_at_all():
    found = tf.nn.ctc_loss([[1, 2], [1, 1]], LOGITS, [1, 2], [0, 4], blank_index=0)
    np.testing.assert_allclose(found, [706.8936, 5.3695717], rtol=1e-6)


@pytest.mark.parametrize("blank", [0, 2])
def test_gradient(blank):
    labels = [[1, 3], [3, 3]]

    def loss(values):
        return tf.reduce_sum(tf.nn.ctc_loss(labels, values, [2, 2], [5, 4], blank_index=blank) * [1.0, 2.0])

    logits = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        y = loss(logits)
    g = tape.gradient(y, logits)
    for place in [(0, 0, 0), (1, 1, 3), (4, 0, 2), (4, 1, 1)]:
        step = np.zeros_like(LOGITS)
        step[place] = 1e-2
        numeric = (float(loss(LOGITS + step)) - float(loss(LOGITS - step))) / 2e-2
        np.testing.assert_allclose(g[place], numeric, rtol=2e-2, atol=1e-3)


@pytest.mark.parametrize(
    ("labels", "steps", "says"),
    [
        (tf.SparseTensor([[0, 0], [0, 1]], [1, 1], [1, 2]), [1], "Not enough time for target transition sequence"),
        (tf.SparseTensor([[0, 0]], [1], [1, 1]), [9], r"sequence_length\(0\) <= 5"),
        (tf.SparseTensor([[0, 0]], [7], [1, 1]), [2], "no class"),
        (tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [1, 1]), [2], "Labels length is zero"),
    ],
)
def test_sparse_labels_that_are_refused(labels, steps, says):
    with pytest.raises(INVALID, match=says):
        tf.nn.ctc_loss(labels, LOGITS[:, :1], None, steps, blank_index=0)


def test_sparse_labels_need_a_blank():
    with pytest.raises(ValueError, match="`blank_index` must be provided"):
        tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [1, 1]), LOGITS[:, :1], None, [2])


def test_beam_search_finds_what_tensorflow_finds():
    decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], beam_width=3, top_paths=3)
    assert [d.values.numpy().tolist() for d in decoded] == [[0, 0, 2, 1], [0, 0, 0, 2, 0], [2, 0, 0, 1]]
    assert [d.dense_shape.numpy().tolist() for d in decoded] == [[2, 3], [2, 3], [2, 2]]
    np.testing.assert_allclose(
        scores, [[-2.056244, -2.6588655, -2.817436], [-1.9905828, -2.186648, -2.5699687]], rtol=1e-6
    )


def test_a_wide_beam_gives_exact_probabilities():
    (best,), scores = tf.nn.ctc_beam_search_decoder(LOGITS[:, :1], [5])
    np.testing.assert_allclose(
        -scores[0, 0], by_all_alignments(LOGITS[:, 0], best.values.numpy().tolist(), 3), rtol=1e-5
    )


def test_greedy_decoding():
    (decoded,), scores = tf.nn.ctc_greedy_decoder(LOGITS, [5, 4])
    assert decoded.values.numpy().tolist() == [0, 0, 2, 0]
    np.testing.assert_allclose(scores, [[-7.61535], [-5.025811]], rtol=1e-6)


@pytest.mark.parametrize(
    ("logits", "lengths", "options", "error"),
    [
        (LOGITS[0], [2], {}, INVALID),
        (LOGITS, [9, 1], {}, tf.errors.FailedPreconditionError),
        (LOGITS, [1], {}, tf.errors.FailedPreconditionError),
        (LOGITS, [1, 1], {"blank_index": 9}, INVALID),
    ],
)
def test_greedy_decoding_refuses(logits, lengths, options, error):
    with pytest.raises(error):
        tf.nn.ctc_greedy_decoder(logits, lengths, **options)


def test_more_paths_than_beams():
    with pytest.raises(INVALID, match="requested more paths than the beam width"):
        tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], beam_width=1, top_paths=2)


def test_labels_made_unique_and_collapsed():
    found = tf.nn.ctc_unique_labels([[3, 4, 4, 3], [0, 0, 1, 0]])
    assert [f.numpy().tolist() for f in found] == [[[3, 4, 0, 0], [0, 1, 0, 0]], [[0, 1, 1, 0], [0, 0, 1, 0]]]
    found = tf.nn.collapse_repeated([[1, 1, 2, 2, 0], [1, 2, 2, 3, 3]], [4, 5])
    assert [f.numpy().tolist() for f in found] == [[[1, 2, 0], [1, 2, 3]], [2, 3]]


@pytest.mark.parametrize("merge_repeated", [True, False])
@pytest.mark.parametrize("blank", [None, 0, -2])
@pytest.mark.parametrize("kind", ["plain", "ties", "nan"])
def test_greedy_decoder_takes_the_most_likely_class_at_each_step(merge_repeated, blank, kind):
    rng = np.random.default_rng(0)
    for time, batch, classes in [(1, 1, 2), (6, 3, 4), (40, 5, 30)]:
        logits = rng.normal(size=(time, batch, classes)).astype(np.float32)
        if kind == "ties":
            logits = logits.round()
        if kind == "nan":
            logits[0, 0, 1:] = np.nan
        lengths = rng.integers(0, time + 1, batch).astype(np.int32)
        lengths[0] = time
        (sparse,), scores = tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated, blank)
        own_blank = classes - 1 if blank is None else blank % classes
        rows = []
        for i in range(batch):
            path = np.nan_to_num(logits[: lengths[i], i], nan=-np.inf).argmax(1).tolist()  # NaN is never the greatest
            kept = [v for j, v in enumerate(path) if v != own_blank and not (merge_repeated and j and v == path[j - 1])]
            rows.append(kept)
            expected = -sum(logits[t, i, v] for t, v in enumerate(path))
            np.testing.assert_allclose(scores[i, 0], expected, 1e-5, 1e-5)
        assert sparse.indices.numpy().tolist() == [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
        assert sparse.values.numpy().tolist() == [v for row in rows for v in row]
        assert sparse.dense_shape.numpy().tolist() == [batch, max(map(len, rows))]


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_the_most_likely_labellings(seed):
    """With room for all labellings, the scores are sums over all alignments."""
    time, classes, top = 5, 3, 4
    logits = np.random.default_rng(seed).normal(size=(time, 2, classes)) * 2
    decoded, scores = tf.nn.ctc_beam_search_decoder(logits, [time, 3], 200, top)
    for example, steps in enumerate([time, 3]):
        logs = special.log_softmax(logits[:steps, example], 1)
        totals = {}
        for path in itertools.product(range(classes), repeat=steps):
            labels = tuple(v for i, v in enumerate(path) if (not i or v != path[i - 1]) and v != classes - 1)
            totals[labels] = np.logaddexp(totals.get(labels, -np.inf), sum(logs[t, v] for t, v in enumerate(path)))
        best = sorted(totals, key=totals.get, reverse=True)[:top]
        rows = [tf.sparse.to_dense(path, -1).numpy()[example] for path in decoded]
        assert [tuple(v for v in row if v >= 0) for row in rows] == best
        np.testing.assert_allclose(scores[example], [totals[labels] for labels in best], 1e-6)


def test_beam_search_grows_its_tree():
    logits = np.random.default_rng(0).normal(size=(150, 1, 40)).astype(np.float32)
    narrow = tf.nn.ctc_beam_search_decoder(logits, [150], 2)[1].numpy().item()
    wide = tf.nn.ctc_beam_search_decoder(logits, [150], 20)[1].numpy().item()
    assert narrow < wide < 0


def test_a_beam_may_be_wider_than_there_are_labellings():
    decoded, scores = tf.nn.ctc_beam_search_decoder(np.zeros((2, 1, 2), np.float32), [2], 2**31 - 1, 2)
    assert [path.values.numpy().tolist() for path in decoded] == [[0], []]
    np.testing.assert_allclose(scores, np.log([[0.75, 0.25]]), 1e-6)
