"""`tf.__internal__.feature_column`: the names that layers of Keras 2 need to read features."""

from tapeflow_compat.feature_column.configuration import deserialize_feature_column, serialize_feature_column
from tapeflow_compat.feature_column.protocol import (
    DenseColumn,
    FeatureColumn,
    FeatureTransformationCache,
    SequenceDenseColumn,
    StateManager,
)

__all__ = [
    "DenseColumn", "FeatureColumn", "FeatureTransformationCache", "SequenceDenseColumn", "StateManager",
    "deserialize_feature_column", "serialize_feature_column",
]  # fmt: skip
