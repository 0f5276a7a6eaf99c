"""`tf.__internal__.feature_column`: what layers of Keras 2 read features by."""

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
