"""The owner of variables and tables of columns, and the cache of features; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf

F, api = tf.feature_column, tf.__internal__.feature_column


class Layer:
    def add_weight(self, name, shape, dtype, initializer, trainable, use_resource, getter):
        assert use_resource
        return tf.Variable(initializer(shape, dtype=dtype), trainable=trainable, name=name)

    def _track_trackable(self, trackable, name, overwrite=False):
        self.tracked = {**getattr(self, "tracked", {}), name: trackable}


class Plain(api.FeatureColumn):
    """A column of the feature "x"."""

    def __init__(self, name="plain", result=None):
        self._name, self._result, self.calls = name, result, []

    name = property(lambda self: self._name)
    parents = property(lambda self: ["x"])
    parse_example_spec = property(lambda self: {})
    _is_v2_column = property(lambda self: True)

    def transform_feature(self, transformation_cache, state_manager):
        self.calls.append(state_manager)
        return self._result

    def __str__(self):
        return self._name


class Trained(Plain):
    def transform_feature(self, transformation_cache, state_manager, training=None):
        return f"training: {training}"


def test_variables_of_columns():
    layer = Layer()
    manager, column, other = api.StateManager(layer, trainable=True), Plain("p"), Plain("q")
    ones = tf.compat.v1.ones_initializer()
    variable = manager.create_variable(column, "v", [2], tf.float32, initializer=ones)
    assert manager.get_variable(column, "v") is variable and variable.numpy().tolist() == [1.0, 1.0]
    assert layer.tracked["p/v"] is variable
    manager.create_variable(other, "v", [1], tf.float32, initializer=ones)
    with pytest.raises(ValueError, match="Variable already exists"):
        manager.create_variable(column, "v", [2], tf.float32, initializer=ones)
    for column_and_name in ((column, "w"), (Plain("r"), "v")):
        with pytest.raises(ValueError, match="Variable does not exist"):
            manager.get_variable(*column_and_name)
    with pytest.raises(NotImplementedError):
        api.StateManager(layer, True).add_variable(column, variable)


@pytest.mark.parametrize(
    ("manager", "own", "expected"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_variables_are_trained_if_both_say_so(manager, own, expected):
    manager = api.StateManager(Layer(), trainable=manager)
    ones = tf.compat.v1.ones_initializer()
    assert manager.create_variable(Plain(), "v", [1], tf.float32, own, initializer=ones).trainable is expected


def test_tables_of_columns():
    layer, column = Layer(), Plain("p")
    manager = api.StateManager(layer, trainable=True)
    assert layer._resources == {} and manager.has_resource(column, "t") is False
    with pytest.raises(ValueError, match="Resource does not exist"):
        manager.get_resource(column, "t")
    first, second = tf.Variable(1.0), tf.Variable(2.0)
    manager.add_resource(column, "t", first)
    assert manager.has_resource(column, "t") is True and manager.get_resource(column, "t") is first
    manager.add_resource(column, "t", second)
    assert manager.get_resource(column, "t") is second and layer._resources["p"]["t"] is first  # the first stays
    manager.add_resource(column, "u", "no trackable")
    assert "u" not in layer._resources["p"] and manager.get_resource(column, "u") == "no trackable"
    alone = api.StateManager(None, trainable=True)
    alone.add_resource(column, "t", first)
    assert alone.get_resource(column, "t") is first


def test_resources_of_a_layer_are_kept():
    layer, column = Layer(), Plain("p")
    layer._resources = {"p": {"t": 1}}
    api.StateManager(layer, True).add_resource(column, "t", tf.Variable(1.0))
    assert layer._resources == {"p": {"t": 1}}


# ---- the cache -------------------------------------------------------------------------------------------------------


def test_features_have_two_dimensions():
    features = {
        "vector": [1.0, 2.0], "matrix": [[1.0], [2.0]], "deep": [[[1.0]]],
        "sparse": tf.SparseTensor([[1]], ["a"], [3]), "wide": tf.SparseTensor([[1, 4]], ["a"], [3, 5]),
    }  # fmt: skip
    cache = api.FeatureTransformationCache(features)
    assert cache.get("vector", None).numpy().tolist() == [[1.0], [2.0]]
    assert cache.get("matrix", None).shape == [2, 1] and cache.get("deep", None).shape == [1, 1, 1]
    assert cache.get("sparse", None).shape == [3, 1] and cache.get("wide", None).shape == [3, 5]
    assert cache.get("sparse", None).indices.numpy().tolist() == [[1, 0]]
    assert cache.get("vector", None) is cache.get("vector", None)
    features["later"] = 3
    with pytest.raises(ValueError, match="Feature later is not in features dictionary"):
        cache.get("later", None)
    assert features["vector"] == [1.0, 2.0]


def test_features_without_dimensions():
    cache = api.FeatureTransformationCache({"x": 3.0})
    with pytest.raises(ValueError, match=r"Feature \(key: x\) cannot have rank 0"):
        cache.get("x", None)


def test_features_of_unknown_rank():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def transformed(x):
        return api.FeatureTransformationCache({"x": x}).get("x", None)

    assert transformed([1.0, 2.0]).numpy().tolist() == [[1.0], [2.0]]
    assert transformed([[1.0, 2.0]]).numpy().tolist() == [[1.0, 2.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        transformed(3.0)


def test_columns_are_transformed_once():
    column = Plain(result="transformed")
    cache = api.FeatureTransformationCache({})
    assert [cache.get(column, "manager") for _ in range(2)] == ["transformed"] * 2 and column.calls == ["manager"]
    with pytest.raises(ValueError, match="Column nothing is not supported"):
        cache.get(Plain("nothing"), None)
    with pytest.raises(TypeError, match='"key" must be either a "str" or "FeatureColumn"'):
        cache.get(3, None)
    assert cache.get(Trained(), None, training=True) == "training: True"
    assert cache.get(Trained(), None) == "training: None" and cache.get(column, None, training=True) == "transformed"


def test_columns_are_sorted_by_their_text():
    a, b = Plain("a"), Plain("b")
    assert a < b and b > a and not b < a and not a > b and sorted([b, a]) == [a, b]
    assert a < "b" and a._var_scope_name == "a" and a.create_state(None) is None
    for do in (a.get_config, lambda: Plain.from_config({})):
        with pytest.raises(NotImplementedError, match="Must be implemented in subclasses"):
            do()
