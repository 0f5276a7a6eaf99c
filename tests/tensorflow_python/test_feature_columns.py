"""Feature columns with the layers of Keras 2, for which a module with `add_weight` stands."""

import tapeflow as tf

COLUMNS = tf.__internal__.feature_column


class Layer(tf.Module):
    def add_weight(self, name, shape, dtype, initializer, trainable, use_resource, getter):
        return getter(name, shape, dtype, initializer, trainable=trainable)


def embedding():
    words = tf.feature_column.categorical_column_with_vocabulary_list("w", ["a", "b"])
    return tf.feature_column.embedding_column(words, 2, initializer=tf.compat.v1.ones_initializer())


def test_a_layer_holds_variables_and_tables():
    column, layer = embedding(), Layer()
    manager = COLUMNS.StateManager(layer, trainable=True)
    with tf.Graph().as_default():
        column.create_state(manager)
        column.get_dense_tensor(COLUMNS.FeatureTransformationCache({"w": ["b"]}), manager)
    variable = manager.get_variable(column, "embedding_weights")
    assert layer._trackable_children()["w_embedding/embedding_weights"] is variable
    table = manager.get_resource(column.categorical_column, "w_lookup")
    assert layer._resources["w"]["w_lookup"] is table


def test_what_is_not_trained_stays_so():
    for trains, column_trains in ((True, False), (False, True)):
        manager = COLUMNS.StateManager(Layer(), trainable=trains)
        column = embedding()._replace(trainable=column_trains)
        with tf.Graph().as_default():
            column.create_state(manager)
        assert not manager.get_variable(column, "embedding_weights").trainable


def test_libraries_find_the_classes_of_columns():
    from tapeflow.tensorflow_python.libraries import MODULES

    names = MODULES["tensorflow.python.feature_column.feature_column_v2"]
    assert names["EmbeddingColumn"] == type(embedding()).__module__
