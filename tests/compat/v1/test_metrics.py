"""TensorFlow 1's metrics: what TensorFlow gave for the same batches, and what they refuse."""

import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.compat import v1
from v1_metric_programs import PROGRAMS, run

RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "fixtures" / "v1_metrics.json").read_text())


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in PROGRAMS])
def test_as_tensorflow(name):
    found, recorded = run(v1, name), RECORDED[name]
    assert found["variables"] == recorded["variables"]
    assert found["dtypes"] == recorded["dtypes"]
    for value, expected in zip(found["found"], recorded["found"], strict=True):
        np.testing.assert_allclose(value, expected, atol=2e-6)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if "average_precision" not in n])
def test_of_unknown_shapes_as_of_known_ones(name):
    for value, expected in zip(run(v1, name, has_shapes=False)["found"], RECORDED[name]["found"], strict=True):
        np.testing.assert_allclose(value, expected, atol=2e-6)


def test_collections_and_scopes():
    with tf.Graph().as_default():
        value, update = v1.metrics.mean([1.0], metrics_collections=["a", "b"], updates_collections="c")
        assert v1.get_collection("a") == v1.get_collection("b") == [value]
        assert v1.get_collection("c") == [update]
        assert (value.name, update.name) == ("mean/value:0", "mean/update_op:0")
        v1.metrics.mean([1.0])
        v1.metrics.precision([1], [1], name="mine")
        assert [v.name for v in v1.local_variables()] == [
            "mean/total:0", "mean/count:0", "mean_1/total:0", "mean_1/count:0", "mine/true_positives/count:0",
            "mine/false_positives/count:0",
        ]  # fmt: skip
        assert v1.global_variables() == v1.trainable_variables() == []


def test_reading_the_value_takes_nothing_in():
    with tf.Graph().as_default(), v1.Session() as sess:
        value, update = v1.metrics.accuracy([1, 1], [1, 0])
        sess.run(v1.local_variables_initializer())
        assert [sess.run(value) for _ in range(2)] == [0.0, 0.0]
        assert sess.run(update) == 0.5
        assert sess.run(value) == 0.5
        sess.run(v1.local_variables_initializer())
        assert sess.run(value) == 0.0


def test_shapes_that_are_known_only_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as sess:
        labels, predictions, weights = (v1.placeholder(d) for d in (tf.int64, tf.int64, tf.float32))
        _, update = v1.metrics.accuracy(labels, predictions, weights)
        sess.run(v1.local_variables_initializer())
        feed = {labels: [[1], [2], [3]], predictions: [1, 2, 0], weights: [[1.0], [2.0], [1.0]]}
        assert sess.run(update, feed) == 0.75


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda m: m.mean([1.0, 2.0], [1.0, 2.0, 3.0]), ValueError, "can not be broadcast"),
        (lambda m: m.accuracy([1, 2], [1, 2, 3]), ValueError, "incompatible"),
        (lambda m: m.auc([1], [0.5], curve="X"), ValueError, "Curve X is unknown"),
        (lambda m: m.auc([1], [0.5], summation_method="x"), ValueError, "Invalid summation_method"),
        (lambda m: m.auc([1], [1.5]), tf.errors.InvalidArgumentError, r"predictions must be in \[0, 1\]"),
        (lambda m: m.sensitivity_at_specificity([1], [0.5], 1.5), ValueError, r"`specificity` must be in the range"),
        (lambda m: m.average_precision_at_k([[1]], [[0.5]], 0), ValueError, "Invalid k=0"),
        (lambda m: m.precision_at_k([[[[1]]]], [[0.5]], 1), ValueError, "Unexpected labels shape"),
        (lambda m: m.true_positives([1, 0], [1, 0], [[[1.0]]]), ValueError, "rank"),
    ],
)
def test_errors(build, kind, message):
    with tf.Graph().as_default(), v1.Session() as sess, pytest.raises(kind, match=message):
        _, update = build(v1.metrics)
        sess.run(v1.local_variables_initializer())
        sess.run(update)


@pytest.mark.parametrize("name", sorted(n for n in vars(v1.metrics) if callable(getattr(v1.metrics, n))))
def test_eager_mode_has_none(name):
    with pytest.raises(RuntimeError, match=f"tf.metrics.{name} is not supported when eager execution"):
        getattr(v1.metrics, name)([1], [1], 1)
