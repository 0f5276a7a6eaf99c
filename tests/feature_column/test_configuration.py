"""Feature columns as configurations, and columns from these."""

import pytest

import tapeflow as tf

F = tf.feature_column
api = tf.__internal__.feature_column
IDENTITY = F.categorical_column_with_identity("i", 3, default_value=1)
NUMBER = F.numeric_column("n", shape=(2,), default_value=1.5, dtype=tf.float64)
WORDS = F.categorical_column_with_vocabulary_list("w", ["a", "b"], num_oov_buckets=2)


def double(x):
    return 2 * x


COLUMNS = {
    "identity": IDENTITY,
    "numeric": NUMBER,
    "vocabulary": WORDS,
    "file": F.categorical_column_with_vocabulary_file("f", "words.txt", vocabulary_size=5, default_value=2),
    "hash": F.categorical_column_with_hash_bucket("h", 7, dtype=tf.int64),
    "buckets": F.bucketized_column(F.numeric_column("b"), [1.0, 2.5]),
    "crossed": F.crossed_column(["x", IDENTITY], 10, hash_key=4),
    "indicator": F.indicator_column(IDENTITY),
    "embedding": F.embedding_column(WORDS, 4, combiner="sum", max_norm=2.0, trainable=False),
    "weighted": F.weighted_categorical_column(IDENTITY, "weights", tf.float64),
    "sequence": F.sequence_numeric_column("s", shape=(3,), default_value=2.0),
    "sequence of classes": F.embedding_column(F.sequence_categorical_column_with_identity("q", 3), 2),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_survive(name):
    column = COLUMNS[name]
    written = api.serialize_feature_column(column)
    assert written["class_name"] == type(column).__name__ and list(written["config"]) == list(column._fields)
    again = api.deserialize_feature_column(written)
    assert api.serialize_feature_column(again) == written
    assert again.name == column.name and again._is_v2_column and type(again) is type(column)
    if name not in ("embedding", "sequence of classes"):  # whose initializers are other objects
        assert again == column


def test_keys_are_their_own_configurations():
    assert api.serialize_feature_column("x") == "x" == api.deserialize_feature_column("x")
    with pytest.raises(ValueError, match="is not a FeatureColumn"):
        api.serialize_feature_column(3)


def test_shared_columns_are_created_once():
    columns = [F.indicator_column(IDENTITY), F.embedding_column(IDENTITY, 2), NUMBER]
    again = [api.deserialize_feature_column(c, None, by_name) for by_name in ({},) for c in map(written, columns)]
    assert again[0].categorical_column is again[1].categorical_column
    apart = [api.deserialize_feature_column(written(c)) for c in columns]
    assert apart[0].categorical_column is not apart[1].categorical_column == IDENTITY
    by_name = {"NumericColumn:n": NUMBER}
    assert api.deserialize_feature_column(written(NUMBER), None, by_name) is NUMBER
    assert (
        api.deserialize_feature_column({**written(IDENTITY)}, None, by_name) is by_name["IdentityCategoricalColumn:i"]
    )


def written(column):
    return api.serialize_feature_column(column)


def test_functions_are_found_by_name():
    column = F.numeric_column("n", normalizer_fn=double)
    config = written(column)
    assert config["config"]["normalizer_fn"] == "double"
    again = api.deserialize_feature_column(config, {"double": double})
    assert again.normalizer_fn is double
    with pytest.raises(ValueError, match="Unknown object: double"):
        api.deserialize_feature_column(config)
    config["config"]["normalizer_fn"] = 3
    with pytest.raises(ValueError, match="Could not interpret serialized object: 3"):
        api.deserialize_feature_column(config)
    config["config"]["normalizer_fn"] = double
    assert api.deserialize_feature_column(config).normalizer_fn is double


def test_initializers_have_their_configurations():
    column = F.embedding_column(IDENTITY, 2, initializer=tf.keras.initializers.Constant(0.25))
    config = written(column)
    assert config["config"]["initializer"]["class_name"] == "Constant"
    assert config["config"]["initializer"]["config"]["value"] == 0.25
    again = api.deserialize_feature_column(config, {"Constant": tf.keras.initializers.Constant})
    assert again.initializer.value == 0.25


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (3, "Improper config format: 3"),
        ({"class_name": "NumericColumn"}, "Improper config format"),
        ({"config": {}}, "Improper config format"),
        ({"class_name": "Other", "config": {}}, "Unknown feature_column_v2: Other"),
        ({"class_name": "NumericColumn", "config": {"key": "n"}}, "Invalid config"),
        ({"class_name": "NumericColumn", "config": {**written(NUMBER)["config"], "more": 1}}, "Invalid config"),
    ],
)
def test_bad_configurations(config, message):
    with pytest.raises(ValueError, match=message):
        api.deserialize_feature_column(config)


def test_classes_of_the_user():
    with pytest.raises(ValueError, match="Expected FeatureColumn class"):
        api.deserialize_feature_column({"class_name": "Mine", "config": {}}, {"Mine": dict})
    kind = type(NUMBER)
    config = {**written(NUMBER), "class_name": "Mine"}
    assert api.deserialize_feature_column(config, {"Mine": kind}) == NUMBER


def test_lists_of_columns_share_what_they_are_made_of():
    from tapeflow_compat.feature_column import configuration

    columns = [F.indicator_column(IDENTITY), F.embedding_column(IDENTITY, 2), NUMBER, "key"]
    configs = configuration.serialize_feature_columns(columns)
    assert configs == [written(column) for column in columns]
    again = configuration.deserialize_feature_columns(configs, {})
    assert [type(column) for column in again] == [type(column) for column in columns]
    assert again[0].categorical_column is again[1].categorical_column == IDENTITY and again[3] == "key"


class Scaled:
    """An initializer of an object with a configuration."""

    def __init__(self, inner=None, factor=1.0):
        self.inner, self.factor = inner, factor

    def __call__(self, shape, dtype=None):
        return tf.fill(shape, self.factor)

    def get_config(self):
        return {"inner": self.inner, "factor": self.factor}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        made = cls(**config)
        made.custom = custom_objects
        return made


class Simple:
    def __init__(self, value=3):
        self.value = value

    def __call__(self, shape, dtype=None):
        return tf.fill(shape, 1.0)

    def get_config(self):
        return {"value": self.value}


def test_objects_within_objects():
    column = F.embedding_column(IDENTITY, 2, initializer=Scaled(Simple(7), 2.5))
    config = written(column)["config"]["initializer"]
    assert config["class_name"] == "Scaled" and config["config"]["factor"] == 2.5
    assert config["config"]["inner"]["class_name"] == "Simple" and config["config"]["inner"]["config"] == {"value": 7}
    custom = {"Scaled": Scaled, "Simple": Simple}
    again = api.deserialize_feature_column(written(column), custom).initializer
    assert (type(again.inner), again.inner.value, again.factor, again.custom) == (Simple, 7, 2.5, custom)
    functions = F.embedding_column(IDENTITY, 2, initializer=Scaled(double))
    assert written(functions)["config"]["initializer"]["config"]["inner"] == "double"
    again = api.deserialize_feature_column(written(functions), {**custom, "double": double}).initializer
    assert again.inner is double
    with pytest.raises(ValueError, match="Unknown object: Scaled"):
        api.deserialize_feature_column(written(column), {"Simple": Simple})


def test_classes_are_called_and_other_objects_refused():
    column = F.embedding_column(IDENTITY, 2, initializer=Simple())
    config = written(column)
    config["config"]["initializer"] = "Simple"
    assert type(api.deserialize_feature_column(config, {"Simple": Simple}).initializer) is Simple

    class Nameless:
        def __call__(self, x):
            return x

    with pytest.raises(ValueError, match="Cannot serialize"):
        written(F.numeric_column("n", normalizer_fn=Nameless()))
