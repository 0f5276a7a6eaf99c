"""Serialized `tf.train.Example`s of Python lists."""

import tapeflow as tf


def feature(values):
    """A feature of bytes, floats or ints."""
    if not values:
        return tf.train.Feature()
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def features(lists):
    return tf.train.Features(feature={key: feature(values) for key, values in lists.items()})


def example(**lists):
    return tf.train.Example(features=features(lists)).SerializeToString()


def sequence(context, **lists):
    """A sequence example with a list of steps for each key."""
    steps = {key: tf.train.FeatureList(feature=[feature(v) for v in rows]) for key, rows in lists.items()}
    lists = tf.train.FeatureLists(feature_list=steps)
    return tf.train.SequenceExample(context=features(context), feature_lists=lists).SerializeToString()
