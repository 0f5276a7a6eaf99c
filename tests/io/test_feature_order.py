"""The order of the results of `tf.io.parse_example`, recorded from TensorFlow, and its messages."""

import pytest

import tapeflow as tf

FEATURES = {
    "F": tf.io.FixedLenFeature([], tf.int64),
    "V": tf.io.VarLenFeature(tf.int64),
    "R": tf.io.RaggedFeature(tf.int64),
    "Q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    "P": tf.io.RaggedFeature(tf.int64, value_key="d", partitions=[tf.io.RaggedFeature.UniformRowLength(1)]),
}


def example(**features):
    made = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=values)) for name, values in features.items()
    }  # fmt: skip
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


text = example(a=[2], b=[1], c=[3], d=[1, 2])


@pytest.mark.parametrize(
    ("kinds", "keys"),
    [
        ("FVQ", "abc"), ("FRQ", "bca"), ("FQV", "bac"), ("FQR", "acb"), ("FPR", "cba"), ("FPQ", "bca"), ("VQF", "cab"),
        ("VPR", "cba"), ("RQF", "abc"), ("RPF", "bca"), ("PRF", "bac"), ("FFF", "abc"),
    ],
)  # fmt: skip
def test_keys(kinds, keys):
    features = {key: FEATURES[kind] for key, kind in zip("cab", kinds, strict=True)}
    assert "".join(tf.io.parse_single_example(text, features)) == keys
    assert "".join(tf.io.parse_example([text], features)) == keys
    dataset = tf.data.Dataset.from_tensors(text).map(lambda t: tf.io.parse_single_example(t, features))
    assert "".join(dataset.element_spec) == keys
    assert "".join(next(iter(dataset))) == keys


def test_messages_name_an_example_if_there_are_several():
    missing, floats = {"z": tf.io.FixedLenFeature([], tf.float32)}, {"b": tf.io.FixedLenFeature([], tf.float32)}
    for features, message in (
        (missing, "Feature: z (data type: float) is required but could not be found."),
        (floats, "Key: b.  Data types don't match. Data type: int64 but expected type: float"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.io.parse_single_example(text, features)
        assert str(caught.value).startswith(message)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: <unknown>, Key: b, Index: 0\.  Data types don't"):
        tf.io.parse_example([text], floats)
