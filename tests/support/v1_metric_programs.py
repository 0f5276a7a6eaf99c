"""Metrics of TensorFlow 1 over two batches, which TensorFlow and TapeFlow both compute, see
`compat/v1/test_metrics.py`.

Each program builds a metric of `tf` (`tensorflow.compat.v1`, or TapeFlow's) from a placeholder of labels and one of
predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _numbers(*shape: int, seed: float = 1.0) -> np.ndarray:
    """Numbers in [0, 1) without a pattern, the same everywhere."""
    return (np.sin(np.arange(1, np.prod(shape) + 1) * 12.9898 * seed) * 43758.5453 % 1).reshape(shape)


FLOATS = [(_numbers(6, seed=s).astype(np.float32), _numbers(6, seed=s + 1).astype(np.float32)) for s in (1, 2)]
CLASSES = [((_numbers(8, seed=s) * 4).astype(np.int64), (_numbers(8, seed=s + 5) * 4).astype(np.int64)) for s in (1, 2)]
TRUTHS = [((_numbers(12, seed=s) > 0.4).astype(np.int64), _numbers(12, seed=s + 3).astype(np.float32)) for s in (1, 2)]
VECTORS = [(_numbers(3, 2, seed=s).astype(np.float32), _numbers(3, 2, seed=s + 1).astype(np.float32)) for s in (1, 2)]
RANKED = [((_numbers(3, 2, seed=s) * 6).astype(int), _numbers(3, 6, seed=s + 2).astype(np.float32)) for s in (1, 2)]
WEIGHTS = [0.5, 2.0, 0.0, 1.0, 3.0, 0.25]


def _of(metric: str, /, *args: Any, **kwargs: Any) -> Callable[[Any, Any, Any], Any]:
    return lambda tf, labels, predictions: getattr(tf.metrics, metric)(labels, predictions, *args, **kwargs)


def _rounded(name: str, **kwargs: Any) -> Callable[[Any, Any, Any], Any]:
    return lambda tf, labels, predictions: getattr(tf.metrics, name)(labels, tf.round(predictions), **kwargs)


def _sparse(tf: Any, labels: Any) -> Any:
    """The labels of each example as a sparse tensor, without its first one being used twice."""
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 1]], tf.gather(tf.reshape(labels, [-1]), [0, 1, 2, 5]), [3, 2])


PROGRAMS: dict[str, tuple[list[Any], Callable[[Any, Any, Any], Any]]] = {
    "mean": (FLOATS, lambda tf, x, y: tf.metrics.mean(x)),
    "mean, weights": (FLOATS, lambda tf, x, y: tf.metrics.mean(x, WEIGHTS)),
    "mean, scalar weight": (FLOATS, lambda tf, x, y: tf.metrics.mean(x, 2.0)),
    "mean, row weights": (VECTORS, lambda tf, x, y: tf.metrics.mean(x, [[0.5], [1.0], [2.0]])),
    "mean, fewer dimensions": (VECTORS, lambda tf, x, y: tf.metrics.mean(x[:, :1], [0.5, 1.0, 2.0])),
    "mean, nothing": (FLOATS, lambda tf, x, y: tf.metrics.mean(x, 0.0)),
    "mean_tensor": (FLOATS, lambda tf, x, y: tf.metrics.mean_tensor(tf.ensure_shape(x, [6]))),
    "mean_tensor, weights": (FLOATS, lambda tf, x, y: tf.metrics.mean_tensor(tf.ensure_shape(x, [6]), WEIGHTS)),
    "accuracy": (CLASSES, _of("accuracy")),
    "accuracy, weights": (CLASSES, _of("accuracy", weights=[1.0, 2.0, 0.0, 0.5, 1.0, 1.0, 4.0, 1.0])),
    "accuracy, one more dimension": (CLASSES, lambda tf, x, y: tf.metrics.accuracy(x, tf.expand_dims(y, -1))),
    "accuracy, other dtypes": (CLASSES, lambda tf, x, y: tf.metrics.accuracy(x, tf.cast(y, tf.float32))),
    "mean_absolute_error": (FLOATS, _of("mean_absolute_error")),
    "mean_squared_error": (FLOATS, _of("mean_squared_error", weights=WEIGHTS)),
    "root_mean_squared_error": (FLOATS, _of("root_mean_squared_error")),
    "mean_relative_error": (FLOATS, _of("mean_relative_error", [1.0, 2.0, 0.0, 0.5, 0.25, 4.0])),
    "mean_cosine_distance": (VECTORS, _of("mean_cosine_distance", 1)),
    "percentage_below": (FLOATS, lambda tf, x, y: tf.metrics.percentage_below(x, 0.5)),
    "mean_iou": (CLASSES, _of("mean_iou", 5)),
    "mean_iou, weights": (
        CLASSES,
        lambda tf, x, y: tf.metrics.mean_iou(x, y, 4, tf.constant(np.arange(8), tf.float32)),
    ),
    "mean_per_class_accuracy": (CLASSES, _of("mean_per_class_accuracy", 5)),
    "mean_per_class_accuracy, weights": (
        CLASSES,
        lambda tf, x, y: tf.metrics.mean_per_class_accuracy(x, y, 4, tf.constant(np.arange(8), tf.float32)),
    ),
    **{
        kind: (TRUTHS, _rounded(kind))
        for kind in ("true_positives", "true_negatives", "false_positives", "false_negatives", "precision", "recall")
    },
    "precision, weights": (TRUTHS, _rounded("precision", weights=np.arange(12, dtype=np.float32))),
    "recall, nothing": (TRUTHS, lambda tf, x, y: tf.metrics.recall(tf.zeros_like(x), tf.round(y))),
    **{
        f"{kind}_at_thresholds": (TRUTHS, _of(f"{kind}_at_thresholds", [0.2, 0.5, 0.8]))
        for kind in ("true_positives", "true_negatives", "false_positives", "false_negatives", "precision", "recall")
    },
    "precision_at_thresholds, weights": (
        TRUTHS,
        _of("precision_at_thresholds", [0.3, 0.6], weights=np.arange(12, dtype=np.float32)),
    ),
    "auc": (TRUTHS, _of("auc")),
    "auc, weights": (TRUTHS, _of("auc", weights=np.arange(12, dtype=np.float32), num_thresholds=20)),
    "auc, thresholds": (TRUTHS, _of("auc", thresholds=[0.7, 0.2, 0.4])),
    **{
        f"auc, {curve}, {method}": (TRUTHS, _of("auc", curve=curve, summation_method=method, num_thresholds=50))
        for curve in ("ROC", "PR")
        for method in ("trapezoidal", "careful_interpolation", "minoring", "majoring")
    },
    "sensitivity_at_specificity": (TRUTHS, _of("sensitivity_at_specificity", 0.6)),
    "specificity_at_sensitivity": (TRUTHS, _of("specificity_at_sensitivity", 0.6)),
    "specificity_at_sensitivity, all": (TRUTHS, _of("specificity_at_sensitivity", 1.0, num_thresholds=7)),
    "precision_at_k": (RANKED, _of("precision_at_k", 3)),
    "precision_at_k, class": (RANKED, _of("precision_at_k", 3, class_id=2)),
    "precision_at_k, weights": (RANKED, _of("precision_at_k", 2, weights=[0.5, 1.0, 2.0])),
    "precision_at_k, one label": (RANKED, lambda tf, x, y: tf.metrics.precision_at_k(x[:, 0], y, 2)),
    "precision_at_k, sparse": (RANKED, lambda tf, x, y: tf.metrics.precision_at_k(_sparse(tf, x), y, 3)),
    "precision_at_top_k": (
        RANKED,
        lambda tf, x, y: tf.metrics.precision_at_top_k(x, tf.constant([[0, 1], [2, 3], [4, 5]], tf.int64)),
    ),
    "recall_at_k": (RANKED, _of("recall_at_k", 3)),
    "recall_at_k, class": (RANKED, _of("recall_at_k", 3, class_id=1, name="mine")),
    "recall_at_k, sparse class": (RANKED, lambda tf, x, y: tf.metrics.recall_at_k(_sparse(tf, x), y, 3, 3)),
    "recall_at_top_k": (
        RANKED,
        lambda tf, x, y: tf.metrics.recall_at_top_k(x, tf.constant([[0, 1], [2, 3], [4, 5]], tf.int64), k=2),
    ),
    "average_precision_at_k": (RANKED, _of("average_precision_at_k", 4)),
    "average_precision_at_k, weights": (RANKED, _of("average_precision_at_k", 3, weights=[0.5, 1.0, 2.0])),
    "average_precision_at_k, sparse": (
        RANKED,
        lambda tf, x, y: tf.metrics.average_precision_at_k(_sparse(tf, x), y, 4),
    ),
    "average_precision_at_k, unknown classes": (
        RANKED,
        lambda tf, x, y: tf.metrics.sparse_average_precision_at_k(tf.where(x > 3, x + 4, x), y, 2),
    ),
    "sparse_precision_at_k": (RANKED, _of("sparse_precision_at_k", 1)),
}  # fmt: skip


def run(tf: Any, name: str, has_shapes: bool = True) -> dict[str, Any]:
    """What a metric gives: its variables, the update of each batch, the value after each."""
    batches, build = PROGRAMS[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        labels, predictions = (
            tf.placeholder(a.dtype, [None, *a.shape[1:]] if has_shapes else None) for a in batches[0]
        )
        value, update = build(tf, labels, predictions)
        sess.run(tf.local_variables_initializer())
        found = [sess.run(value)]
        for batch in batches:
            found += [sess.run(update, dict(zip([labels, predictions], batch, strict=True))), sess.run(value)]
        return {
            "variables": sorted(v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)),
            "found": [np.asarray(v).astype(np.float64).round(6).tolist() for v in found],
            "dtypes": [v.dtype.name for v in found],
        }
