"""What columns make of batches; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

F, api, v1 = tf.feature_column, tf.__internal__.feature_column, tf.compat.v1
WORDS = F.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
BATCH = {
    "w": [["a", "x"], ["b", ""], ["c", "a"]], "n": [[3, 9], [-1, 1], [0, 2]],
    "weights": [[1.0, 2.0], [0.5, 0.0], [3.0, 4.0]],
}  # fmt: skip
TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


class Layer(tf.Module):
    def add_weight(self, name, shape, dtype, initializer, trainable, use_resource, getter):
        return tf.Variable(initializer(shape, dtype=dtype), trainable=trainable, name=name)

    def _track_trackable(self, trackable, name, overwrite=False):
        pass


def initialize(shape, dtype=None, partition_info=None):
    return tf.constant(TABLE, dtype)


def dense(column, batch=BATCH):
    manager = api.StateManager(Layer(), trainable=True)
    column.create_state(manager)
    return column.get_dense_tensor(api.FeatureTransformationCache(batch), manager).numpy().tolist()


def ids(column, batch=BATCH):
    manager = api.StateManager(None, trainable=True)
    found, weights = column.get_sparse_tensors(api.FeatureTransformationCache(batch), manager)
    weights = None if weights is None else weights.values.numpy().tolist()
    return found.indices.numpy().tolist(), found.values.numpy().tolist(), weights


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (WORDS, ([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], [0, -1, 1, 2, 0], None)),
        (F.categorical_column_with_vocabulary_list("w", ["a", "b", "c"], default_value=2),
         ([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], [0, 2, 1, 2, 0], None)),
        (F.categorical_column_with_vocabulary_list("w", ["a"], num_oov_buckets=1),
         ([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], [0, 1, 1, 1, 0], None)),
        (F.categorical_column_with_vocabulary_list("n", [3, 1], dtype=tf.int32),
         ([[0, 0], [0, 1], [1, 1], [2, 0], [2, 1]], [0, -1, 1, -1, -1], None)),
        (F.categorical_column_with_identity("n", 3, default_value=1),
         ([[0, 0], [0, 1], [1, 1], [2, 0], [2, 1]], [1, 1, 1, 0, 2], None)),
        (F.weighted_categorical_column(F.categorical_column_with_identity("n", 10), "weights"),
         ([[0, 0], [0, 1], [1, 1], [2, 0], [2, 1]], [3, 9, 1, 0, 2], [1.0, 2.0, 0.5, 3.0, 4.0])),
    ],
)  # fmt: skip
def test_categories(column, expected):
    assert ids(column) == expected


def test_hashes():
    column = F.categorical_column_with_hash_bucket("w", 5)
    words = [b"a", b"x", b"b", b"c", b"a"]
    assert ids(column)[1] == tf.strings.to_hash_bucket_fast(words, 5).numpy().tolist() and column.num_buckets == 5
    numbers = F.categorical_column_with_hash_bucket("n", 5, dtype=tf.int64)
    assert ids(numbers)[1] == tf.strings.to_hash_bucket_fast(["3", "9", "1", "0", "2"], 5).numpy().tolist()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (F.categorical_column_with_vocabulary_list("n", ["a"]), "Column dtype and SparseTensors dtype must"),
        (F.categorical_column_with_hash_bucket("weights", 3), "dtype must be string or integer"),
        (F.categorical_column_with_identity("w", 3), "Invalid input, not integer"),
        (F.weighted_categorical_column(WORDS, "weights", tf.float64), "Bad dtype, expected"),
    ],
)
def test_features_of_other_dtypes(column, message):
    with pytest.raises(ValueError, match=message):
        ids(column)


@pytest.mark.parametrize("dtype", [tf.string, tf.int64])
@pytest.mark.parametrize("file_format", [None, "tfrecord_gzip"])
def test_words_of_a_file(tmp_path, dtype, file_format):
    words = ["b", "a"] if dtype == tf.string else ["9", "3"]
    path = str(tmp_path / "words")
    if file_format is None:
        (tmp_path / "words").write_text("\n".join(words) + "\n")
    else:
        with tf.io.TFRecordWriter(path, "GZIP") as writer:
            for word in words:
                writer.write(word.encode())
    key = "w" if dtype == tf.string else "n"
    options = {"vocabulary_size": 2, "dtype": dtype, "file_format": file_format}
    for others, other, count in (({"default_value": 7}, 7, 2), ({"num_oov_buckets": 1}, 2, 3)):
        column = F.categorical_column_with_vocabulary_file(key, path, **others, **options)
        expected = [1, other, 0, other, 1] if key == "w" else [1, 0, other, other, other]
        assert ids(column)[1] == expected and column.num_buckets == count


def test_tables_are_made_once():
    manager = api.StateManager(None, trainable=True)
    for _ in range(2):
        WORDS.get_sparse_tensors(api.FeatureTransformationCache(BATCH), manager)
        table = manager.get_resource(WORDS, "w_lookup")
    WORDS.get_sparse_tensors(api.FeatureTransformationCache(BATCH), manager)
    assert manager.get_resource(WORDS, "w_lookup") is table


def test_indicators():
    assert dense(F.indicator_column(WORDS)) == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    double = {"w": [["a", "a"], ["b", "a"]]}
    assert dense(F.indicator_column(WORDS), double) == [[2, 0, 0], [1, 1, 0]]
    weighted = F.indicator_column(F.weighted_categorical_column(WORDS, "weights"))
    assert dense(weighted) == [[1, 0, 0], [0, 0.5, 0], [4, 0, 3]]
    column = F.indicator_column(WORDS)
    assert (column.name, column.variable_shape.as_list(), column.parents) == ("w_indicator", [1, 3], [WORDS])
    assert column.parse_example_spec == {"w": tf.io.VarLenFeature(tf.string)}


@pytest.mark.parametrize(
    ("combiner", "options", "expected"),
    [
        ("sum", {}, [[1, 2], [3, 4], [6, 8]]), ("mean", {}, [[1, 2], [3, 4], [3, 4]]),
        ("sqrtn", {}, [[1, 2], [3, 4], [6 / np.sqrt(2), 8 / np.sqrt(2)]]),
        ("sum", {"max_norm": 1.0}, [[0.4472136, 0.8944272], [0.6, 0.8], [1.0873981, 1.6626484]]),
    ],
)  # fmt: skip
def test_embeddings(combiner, options, expected):
    column = F.embedding_column(WORDS, 2, combiner, initialize, **options)
    np.testing.assert_allclose(dense(column), expected, rtol=1e-6)
    assert (column.name, column.variable_shape.as_list()) == ("w_embedding", [2])


def test_embeddings_of_weighted_categories():
    column = F.embedding_column(F.weighted_categorical_column(WORDS, "weights"), 2, "sum", initialize)
    np.testing.assert_allclose(dense(column), [[1.0, 2.0], [1.5, 2.0], [19.0, 26.0]])


@pytest.mark.parametrize("dimension", [4, 9])
def test_tables_begin_with_small_numbers(dimension):
    column = F.embedding_column(WORDS, dimension)
    assert (column.combiner, column.max_norm, column.trainable) == ("mean", None, True)
    drawn = column.initializer([2000], dtype=tf.float32).numpy()
    assert abs(drawn.mean()) < 0.02 and abs(drawn).max() <= 2.0 / np.sqrt(dimension)
    assert abs(drawn.std() * np.sqrt(dimension) - 0.88) < 0.05  # of a normal distribution truncated at two


def test_examples_without_categories_are_zeros():
    batch = {"w": [["x"], ["b"]]}
    assert dense(F.embedding_column(WORDS, 2, "sum", initialize), batch) == [[0, 0], [3, 4]]
    unsafe = F.embedding_column(WORDS, 2, "sum", initialize, use_safe_embedding_lookup=False)
    assert dense(unsafe, {"w": [["b", "c"]]}) == [[8, 10]]


def test_columns_of_sequences():
    steps = F.sequence_categorical_column_with_vocabulary_list("s", ["a", "b", "c"])
    batch = {"s": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "b"], [2, 3])}
    manager = api.StateManager(Layer(), trainable=True)
    column = F.embedding_column(steps, 2, "sum", initialize)
    column.create_state(manager)
    found = column.get_sequence_dense_tensor(api.FeatureTransformationCache(batch), manager)
    assert found.dense_tensor.numpy().tolist() == [[[1, 2], [5, 6], [0, 0]], [[3, 4], [0, 0], [0, 0]]]
    assert found.sequence_length.numpy().tolist() == [2, 1] and found.sequence_length.dtype == tf.int64
    indicator = F.indicator_column(steps)
    found = indicator.get_sequence_dense_tensor(api.FeatureTransformationCache(batch), manager)
    assert found.dense_tensor.numpy().tolist()[0] == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert steps.name == "s" and steps.num_buckets == 3
    assert steps.parse_example_spec == {"s": tf.io.VarLenFeature(tf.string)}
    for kind, of_steps in (("embedding_column", column), ("indicator_column", indicator)):
        with pytest.raises(ValueError, match=f"In {kind}: .* must not be of type SequenceCategoricalColumn"):
            of_steps.get_dense_tensor(api.FeatureTransformationCache(batch), manager)
    with pytest.raises(ValueError, match="must be of type SequenceCategoricalColumn to use SequenceFeatures"):
        F.indicator_column(WORDS).get_sequence_dense_tensor(api.FeatureTransformationCache(BATCH), manager)


def test_steps_are_transformed_as_their_categories():
    steps = F.sequence_categorical_column_with_identity("n", 10)
    cache = api.FeatureTransformationCache({"n": [[3, 9], [1, -1]]})
    found = cache.get(steps, api.StateManager(None, True))
    assert found.values.numpy().tolist() == [3, 9, 1]


# ---- shared tables ---------------------------------------------------------------------------------------------------


def test_columns_share_a_table():
    with tf.Graph().as_default(), v1.Session() as session:
        other = F.categorical_column_with_vocabulary_list("v", ["c", "b", "a"])
        first, second = F.shared_embeddings([WORDS, other], 2, "sum", initialize, max_norm=None)
        assert first.variable_shape.as_list() == second.variable_shape.as_list() == [2]
        assert (first.name, second.name) == ("w_shared_embedding", "v_shared_embedding") and first._is_v2_column
        cache = api.FeatureTransformationCache({"w": [["a"], ["c"]], "v": [["a"], ["c"]]})
        manager = api.StateManager(None, True)
        found = [column.get_dense_tensor(cache, manager) for column in (first, second)]
        (table,) = v1.global_variables()
        assert table.shape == [3, 2] and table.name == "v_w_shared_embedding:0" and table.trainable
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        assert [t.tolist() for t in session.run(found)] == [[[1, 2], [5, 6]], [[5, 6], [1, 2]]]
        with pytest.raises(ValueError, match="SharedEmbeddingColumns are not supported in `linear_model`"):
            first._var_scope_name  # noqa: B018 (asking is the point)


def test_shared_tables_have_names_and_may_be_fixed():
    with tf.Graph().as_default():
        (column,) = F.shared_embeddings([WORDS], 4, shared_embedding_collection_name="mine", trainable=False)
        column.get_dense_tensor(api.FeatureTransformationCache(BATCH), api.StateManager(None, True))
        (table,) = v1.global_variables()
        assert table.name == "mine:0" and table.shape == [3, 4] and not table.trainable


NUMBERS = F.categorical_column_with_identity("n", 3)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([WORDS, NUMBERS], "all categorical_columns must have the same type"),
        ([NUMBERS, F.categorical_column_with_identity("m", 4)], "must have the same number of buckets"),
        ([F.bucketized_column(F.numeric_column("b"), [1.0]), NUMBERS], "must have the same type|CategoricalColumn"),
    ],
)
def test_columns_that_share_nothing(columns, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        F.shared_embeddings(columns, 2)


def test_weighted_columns_share_the_table_of_their_categories():
    with tf.Graph().as_default():
        weighted = F.weighted_categorical_column(NUMBERS, "weights")
        steps = F.sequence_categorical_column_with_identity("m", 3)
        names = [column.name for column in F.shared_embeddings([weighted, steps, NUMBERS], 2)]
    assert names == ["n_weighted_by_weights_shared_embedding", "m_shared_embedding", "n_shared_embedding"]
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        F.shared_embeddings([NUMBERS], 2)
