"""Samplers of classes: shards of a vocabulary, and samplers that can't find what is asked for."""

import numpy as np
import pytest

import tapeflow as tf

UNIGRAMS = [1.0, 2.0, 3.0, 4.0, 5.0]


def sample(**changes):
    arguments = {
        "true_classes": [[0, 1]], "num_true": 2, "num_sampled": 2, "unique": True, "range_max": 5, "vocab_file": "",
        "distortion": 1.0, "num_reserved_ids": 0, "num_shards": 1, "shard": 0, "unigrams": UNIGRAMS, "seed": 3,
        "seed2": 4,
    }  # fmt: skip
    return tf.raw_ops.FixedUnigramCandidateSampler(**(arguments | changes))


def counts(result):
    return [row.numpy().reshape(-1).tolist() for row in result]


@pytest.mark.parametrize("name", ["tf.random", "tf.nn"])
def test_a_shard_numbers_its_own_classes(name):
    """Recorded from TensorFlow 2.21: of five classes, shard 0 has those of the weights 1, 3 and 5."""
    function = getattr(tf, name.removeprefix("tf.")).fixed_unigram_candidate_sampler
    shard = {"num_shards": 2, "shard": 0, "unigrams": UNIGRAMS}
    sampled, true, _ = function([[0, 1]], 2, 8, False, 3, **shard)
    assert set(sampled.numpy().tolist()) <= {0, 1, 2}
    assert true.numpy()[0].tolist() == pytest.approx([8 / 9, 8 * 3 / 9])
    with pytest.raises(tf.errors.InvalidArgumentError, match="range is 5 must be equal to weights size  3"):
        function([[0, 1]], 2, 3, True, 5, **shard)


def test_shards_after_reserved_ids():
    """The vocabulary's ids go on from the number of reserved ones that the shard has, as in TensorFlow 2.21."""
    sampled, true, _ = counts(sample(num_shards=2, shard=1, range_max=4, num_reserved_ids=2, unique=False))
    assert true == pytest.approx([0.0, 2 * 1 / 9]) and set(sampled) <= {1, 2, 3}
    _, true, _ = counts(sample(num_shards=2, shard=0, range_max=3, num_reserved_ids=1, unique=False))
    assert true == pytest.approx([0.0, 2 * 2 / 6])
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal to weights size  0"):
        sample(num_shards=2, shard=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unigrams": [1.0, 1.0, 0.0, 0.0, 0.0], "num_sampled": 3}, "only 2 have a weight other than 0"),
        ({"unigrams": [0.0] * 5}, "only 0 have a weight"),
        ({"unigrams": [1.0, 1e-30, 1e-30, 1e-30, 1e-30], "num_sampled": 3}, "too unlikely"),
        ({"num_reserved_ids": 3, "range_max": 8, "num_sampled": 6}, "only 5 have a weight"),
        ({"num_sampled": 6}, "Sampler's range is too small"),
        ({"num_sampled": 0}, "'num_sampled' of 0 must be at least minimum 1"),
        ({"num_sampled": 2**40, "unique": False}, "out of range for an int32"),
        ({"num_shards": 0}, "'num_shards' of 0 must be at least minimum 1"),
        ({"shard": -1}, "'shard' of -1 must be at least minimum 0"),
        ({"num_reserved_ids": 2**31 - 1}, "must be equal to weights size"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sample(**changes)


def test_weights_that_are_no_weights():
    """They give NaN, as in TensorFlow, and end."""
    for unigrams in ([0.0] * 5, [1.0, float("nan"), 1.0, 1.0, 1.0], [float("inf")] * 5, [-1.0, 1.0, 2.0, -2.0, 0.0]):
        result = sample(unigrams=unigrams, unique=False)
        assert result[0].shape == [2]


@pytest.mark.parametrize("name", ["Uniform", "LogUniform", "LearnedUnigram"])
@pytest.mark.parametrize("unique", [True, False])
def test_huge_samples(name, unique):
    op = getattr(tf.raw_ops, f"{name}CandidateSampler")
    huge = 2**31 - 1
    with pytest.raises((tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError)):
        op(true_classes=[[0]], num_true=1, num_sampled=huge, unique=unique, range_max=huge)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least minimum 1"):
        op(true_classes=[[0]], num_true=1, num_sampled=1, unique=unique, range_max=-(2**63))


def expected_counts(chances, tries, count):
    return chances * count if tries == count else -np.expm1(tries * np.log1p(-chances))


@pytest.mark.parametrize("name", ["Uniform", "LogUniform", "LearnedUnigram", "FixedUnigram"])
@pytest.mark.parametrize("count", [1, 7, 200])
def test_samples_follow_the_distribution_of_the_sampler(name, count):
    """Many samples, and the counts that are expected of them."""
    classes, rng = 20, np.random.default_rng(count)
    weights = rng.uniform(0.1, 2, classes)
    chances = {
        "Uniform": np.ones(classes), "LogUniform": np.log1p(1 / np.arange(1, classes + 1)),
        "LearnedUnigram": np.ones(classes), "FixedUnigram": weights,
    }[name]  # fmt: skip
    extra = {"unigrams": weights.tolist()} if name == "FixedUnigram" else {}
    seen = np.zeros(classes)
    for _ in range(40):
        true = rng.integers(0, classes, (3, 2))
        sampled, of_true, of_sampled = getattr(tf.raw_ops, f"{name}CandidateSampler")(
            true_classes=true, num_true=2, num_sampled=count, unique=False, range_max=classes, seed=5,
            seed2=count, **extra,
        )  # fmt: skip
        share = chances / chances.sum()
        np.testing.assert_allclose(of_true, expected_counts(share[true], count, count), 1e-5)
        np.testing.assert_allclose(of_sampled, expected_counts(share[sampled], count, count), 1e-5)
        if name == "LearnedUnigram":
            chances = chances + np.bincount(true.ravel(), minlength=classes)
        seen += np.bincount(sampled, minlength=classes)
    if count == 200 and name != "LearnedUnigram":
        np.testing.assert_allclose(seen / seen.sum(), share, atol=0.01)


@pytest.mark.parametrize("name", ["Uniform", "LogUniform", "LearnedUnigram"])
def test_unique_samples_are_all_classes_if_there_are_no_others(name):
    function = getattr(tf.raw_ops, f"{name}CandidateSampler")
    sampled, of_true, of_sampled = function(
        true_classes=[[3], [0]], num_true=1, num_sampled=30, unique=True, range_max=30, seed=1, seed2=2
    )
    assert sorted(sampled.numpy().tolist()) == list(range(30))
    assert (of_sampled.numpy() > 0).all() and (of_sampled.numpy() <= 1).all() and of_true.shape == [2, 1]


@pytest.mark.parametrize("wrong", [-1, 30, 2**40])
def test_true_classes_out_of_range_are_named(wrong):
    for name in ("Uniform", "LogUniform", "LearnedUnigram"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"out of range \[0, 30\), received {wrong}"):
            getattr(tf.raw_ops, f"{name}CandidateSampler")(
                true_classes=[[3], [wrong]], num_true=1, num_sampled=3, unique=True, range_max=30
            )
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"received {wrong}"):
        tf.nn.all_candidate_sampler([[3], [wrong]], 1, 30, True)


def test_accidental_hits_are_the_true_classes_among_the_sampled_ones():
    rng = np.random.default_rng(0)
    for batch, num_true, count in [(0, 1, 3), (5, 1, 0), (9, 3, 20), (300, 2, 200)]:
        true, sampled = rng.integers(-5, 30, (batch, num_true)), rng.integers(-5, 30, count)
        rows, places, weights = tf.nn.compute_accidental_hits(true, sampled, num_true)
        place = {value: i for i, value in enumerate(sampled.tolist())}
        hits = [(i, place[v]) for i, row in enumerate(true.tolist()) for v in row if v in place]
        assert list(zip(rows.numpy().tolist(), places.numpy().tolist(), strict=True)) == hits
        assert (weights.numpy() == np.finfo(np.float32).min).all() and rows.dtype == "int32" and places.dtype == "int64"
