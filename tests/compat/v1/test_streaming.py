"""Metrics of TensorFlow 1: their collections, and the ranks of labels, predictions and weights."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
metrics = v1.metrics


def value_of(make, feeds=None):
    """The value of a metric after one update."""
    with tf.Graph().as_default(), v1.Session() as sess:
        value, update = make()
        sess.run(v1.local_variables_initializer())
        feed = {v1.get_default_graph().get_tensor_by_name(name): x for name, x in (feeds or {}).items()}
        updated = sess.run(update, feed)
        assert sess.run(value) == updated
        return float(updated)


def test_collections():
    with tf.Graph().as_default():
        value, update = metrics.mean([1.0], metrics_collections=["m", "both"], updates_collections="u")
        assert v1.get_collection("m") == [value]
        assert v1.get_collection("u") == [update]
        assert v1.get_collection("both") == [value]
        assert [v.name for v in v1.local_variables()] == ["mean/total:0", "mean/count:0"]
        assert v1.get_collection(v1.GraphKeys.METRIC_VARIABLES) == v1.local_variables()
        metrics.mean([1.0], name="again")
        assert len(v1.get_collection("m")) == 1
        assert v1.local_variables()[-1].name == "again/count:0"
    with pytest.raises(RuntimeError, match=r"metrics.mean is not supported when eager execution is enabled"):
        metrics.mean([1.0])


@pytest.mark.parametrize(
    ("labels", "predictions", "weights", "expected"),
    [
        ([1, 0, 1], [1, 1, 1], None, 2 / 3),
        ([[1], [0], [1]], [1, 1, 1], None, 2 / 3),
        ([1, 0, 1], [[1], [1], [1]], None, 2 / 3),
        ([1, 0, 1], [1, 1, 1], [1.0, 2.0, 1.0], 0.5),
        ([1, 0, 1], [1, 1, 1], [[1.0], [2.0], [1.0]], 0.5),
        ([[1], [0], [1]], [[1], [1], [1]], [1.0, 2.0, 1.0], 0.5),
        ([1, 0, 1], [1, 1, 1], 3.0, 2 / 3),
    ],
)
def test_dimensions_of_one(labels, predictions, weights, expected):
    assert value_of(lambda: metrics.accuracy(labels, predictions, weights)) == pytest.approx(expected)

    def unknown():
        named = {"l": labels, "p": predictions, "w": weights}
        tensors = {name: v1.placeholder(tf.float32, name=name) for name, x in named.items() if x is not None}
        return metrics.accuracy(tensors["l"], tensors["p"], tensors.get("w"))

    feeds = {"l:0": np.float32(labels), "p:0": np.float32(predictions)}
    if weights is not None:
        feeds["w:0"] = np.float32(weights)
    assert value_of(unknown, feeds) == pytest.approx(expected)


def test_shapes_that_do_not_fit():
    with tf.Graph().as_default():
        for labels, predictions, weights in (
            ([1, 0], [1, 0, 1], None), ([[1, 0]], [1, 0, 1], None), ([1, 0, 1], [1, 0, 1], [1.0, 2.0]),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=r"(?i)shape|weights|compatible|broadcast"):
                metrics.accuracy(labels, predictions, weights)


def test_updates_accumulate():
    with tf.Graph().as_default(), v1.Session() as sess:
        x, w = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [None])
        value, update = metrics.mean(x, w)
        sess.run(v1.local_variables_initializer())
        assert sess.run(value) == 0.0
        assert sess.run(update, {x: [1.0, 5.0], w: [1.0, 0.0]}) == 1.0
        assert sess.run(update, {x: [4.0], w: [2.0]}) == 3.0 == sess.run(value)
