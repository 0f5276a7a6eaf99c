"""The public `tf.feature_column` namespace: how models of TensorFlow 1, and of Keras 2, read features by name."""

from tapeflow.core.public_names import publish as _publish
from tapeflow_compat.feature_column.columns import (
    bucketized_column,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    crossed_column,
    embedding_column,
    indicator_column,
    make_parse_example_spec,
    numeric_column,
    shared_embeddings,
    weighted_categorical_column,
)
from tapeflow_compat.feature_column.sequences import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)

_publish(globals())
