"""The public `tf.compat.v1.metrics` namespace: numbers that are gathered batch by batch, in local variables.

Each function gives the value so far, and an operation that takes in a batch and gives the value with it.
"""

from tapeflow_compat.compat.v1.metrics.classes import mean_iou, mean_per_class_accuracy
from tapeflow_compat.compat.v1.metrics.counts import (
    false_negatives,
    false_positives,
    precision,
    recall,
    true_negatives,
    true_positives,
)
from tapeflow_compat.compat.v1.metrics.means import (
    accuracy,
    mean,
    mean_absolute_error,
    mean_cosine_distance,
    mean_relative_error,
    mean_squared_error,
    mean_tensor,
    percentage_below,
    root_mean_squared_error,
)
from tapeflow_compat.compat.v1.metrics.thresholds import (
    auc,
    false_negatives_at_thresholds,
    false_positives_at_thresholds,
    precision_at_thresholds,
    recall_at_thresholds,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
    true_negatives_at_thresholds,
    true_positives_at_thresholds,
)
from tapeflow_compat.compat.v1.metrics.top_k import (
    average_precision_at_k,
    precision_at_k,
    precision_at_top_k,
    recall_at_k,
    recall_at_top_k,
    sparse_average_precision_at_k,
    sparse_precision_at_k,
)
