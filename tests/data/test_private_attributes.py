"""The private attributes of TensorFlow's objects that Keras 3.12 to 3.15 and tf_keras read. Values: TensorFlow's."""

import keras
import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
r4 = Dataset.range(4)


@pytest.mark.parametrize(
    ("dataset", "attributes"),
    [
        (r4.batch(2), {"_batch_size": 2, "_drop_remainder": False}),
        (r4.batch(2, drop_remainder=True), {"_batch_size": 2, "_drop_remainder": True}),
        (r4.batch(2, num_parallel_calls=2), {"_batch_size": 2, "_drop_remainder": False}),
        (r4.padded_batch(2), {"_batch_size": 2, "_drop_remainder": False}),
        (r4.ragged_batch(2), {"_batch_size": 2, "_drop_remainder": False}),
        (r4.map(lambda x: x), {}),
        (r4.batch(2).prefetch(1), {"_buffer_size": 1}),
        (r4.take(2), {"_count": 2}),
        (r4.repeat(3), {"_count": 3}),
        (r4.window(2), {"_drop_remainder": False}),
        (r4.shard(2, 1), {"_num_shards": 2, "_index": 1}),
    ],
)
def test_datasets(dataset, attributes):
    names = ("_batch_size", "_drop_remainder", "_buffer_size", "_count", "_num_shards", "_index")
    found = {name: getattr(dataset, name) for name in names if hasattr(dataset, name)}
    assert {name: value.numpy() for name, value in found.items()} == attributes
    assert all(value.dtype is (tf.bool if name == "_drop_remainder" else tf.int64) for name, value in found.items())
    source = dataset  # as tf_keras looks for it
    while hasattr(source, "_input_dataset"):
        source = source._input_dataset
    assert isinstance(source, Dataset)
    assert list(source.as_numpy_iterator()) == [0, 1, 2, 3]


def test_shapes_and_types():
    dataset = Dataset.from_tensor_slices({"a": np.zeros((2, 3), "f"), "b": ["x", "y"]})
    assert dataset._flat_shapes == [[3], []]
    assert dataset._flat_types == [tf.float32, tf.string]
    for name in ("_spec", "_nothing", "missing", "__deepcopy__"):
        assert not hasattr(dataset, name)


def test_variables_functions_and_strategies():
    variable = tf.Variable(1.0)
    for name in ("_unique_id", "_shared_name", "_serialize_to_tensors", "_restore_from_tensors", "_handle_name"):
        assert hasattr(variable, name)
    assert not hasattr(variable, "_distributed_container")
    assert hasattr(tf.function(lambda: 1), "_list_all_concrete_functions")
    assert hasattr(tf.distribute.get_strategy().extended, "_in_multi_worker_mode")
    assert tf.experimental.Optional.from_value(1)._element_spec == tf.TensorSpec([], tf.int32)
    assert tf.TensorSpec([2])._shape == [2]


def elements_of(dataset):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), e) for e in dataset]


def test_splits_of_batches_have_whole_samples():
    dataset = Dataset.from_tensor_slices(({"a": np.arange(10.0)}, np.arange(10))).batch(3)
    left, right = keras.utils.split_dataset(dataset, left_size=2)
    assert elements_of(left) == [({"a": [0.0, 1.0]}, [0, 1])]
    assert elements_of(right) == [
        ({"a": [2.0, 3.0, 4.0]}, [2, 3, 4]), ({"a": [5.0, 6.0, 7.0]}, [5, 6, 7]), ({"a": [8.0, 9.0]}, [8, 9])
    ]  # fmt: skip
    left, right = keras.utils.split_dataset(Dataset.range(6).padded_batch(2), left_size=2)
    assert (elements_of(left), elements_of(right)) == ([[0, 1]], [[2, 3], [4, 5]])
