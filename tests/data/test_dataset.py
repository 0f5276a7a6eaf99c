"""Methods of datasets. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset, plain

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r5, r6 = (Dataset.range(n) for n in (5, 6))

ROWS = [
    (
        lambda: r5.enumerate(),
        [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        5,
    ),
    (
        lambda: r5.enumerate(start=3),
        [(3, 0), (4, 1), (5, 2), (6, 3), (7, 4)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        5,
    ),
    (
        lambda: r5.map(lambda x: (x, -x)).enumerate(2),
        [(2, (0, 0)), (3, (1, -1)), (4, (2, -2)), (5, (3, -3)), (6, (4, -4))],
        (TensorSpec([], tf.int64), (TensorSpec([], tf.int64), TensorSpec([], tf.int64))),
        5,
    ),
    (lambda: Dataset.counter().take(3), [0, 1, 2], TensorSpec([], tf.int64), 3),
    (lambda: Dataset.counter(start=5, step=-2).take(3), [5, 3, 1], TensorSpec([], tf.int64), 3),
    (lambda: Dataset.counter(2, 3, tf.int32).take(3), [2, 5, 8], TensorSpec([], tf.int32), 3),
    (lambda: experimental.Counter(2, 3).take(2), [2, 5], TensorSpec([], tf.int64), 2),
    (lambda: r5.apply(lambda d: d.map(lambda x: x * 2)), [0, 2, 4, 6, 8], TensorSpec([], tf.int64), 5),
    (
        lambda: r5.apply(experimental.enumerate_dataset(4)),
        [(4, 0), (5, 1), (6, 2), (7, 3), (8, 4)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        5,
    ),
    (
        lambda: r5.apply(experimental.shuffle_and_repeat(3, count=2, seed=5)),
        [0, 2, 4, 1, 3, 1, 0, 3, 2, 4],
        TensorSpec([], tf.int64),
        10,
    ),
    (lambda: r5.batch(2).apply(experimental.unbatch()), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), -2),
    (lambda: r5.apply(experimental.take_while(lambda x: x < 2)), [0, 1], TensorSpec([], tf.int64), -2),
    (
        lambda: r5.apply(experimental.scan(np.int64(1), lambda s, x: (s * 2, s + x))),
        [1, 3, 6, 11, 20],
        TensorSpec([], tf.int64),
        5,
    ),
    (lambda: r5.map(lambda x: x % 2).apply(experimental.unique()), [0, 1], TensorSpec([], tf.int64), -2),
    (
        lambda: r5.apply(experimental.group_by_window(lambda x: x % 2, lambda k, w: w.batch(9), 2)),
        [[0, 2], [1, 3], [4]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: experimental.sample_from_datasets([r5, r6], [0.3, 0.7], seed=4),
        [0, 1, 2, 3, 4, 0, 5, 1, 2, 3, 4],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: experimental.sample_from_datasets([r5, r6], [0.3, 0.7], 4, True),
        [0, 1, 2, 3, 4, 0, 5],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: experimental.choose_from_datasets([r5, r6], Dataset.range(2).repeat(), True),
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: experimental.choose_from_datasets([r5.take(1), r6.take(2)], Dataset.range(2).repeat(3)),
        [0, 0, 1],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.sample_from_datasets([r5, r6], seed=8),
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.sample_from_datasets([r5, r6], weights=[0.2, 0.8], seed=8, stop_on_empty_dataset=True),
        [0, 1, 2, 3, 4, 5],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.sample_from_datasets([r5, r6], seed=8, rerandomize_each_iteration=True).repeat(2),
        [0, 1, 2, 3, 0, 4, 1, 2, 3, 5, 4, 0, 0, 1, 1, 2, 3, 2, 3, 4, 4, 5],
        TensorSpec([], tf.int64),
        -2,
    ),
    (lambda: Dataset.sample_from_datasets([r5], seed=8), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (
        lambda: r5.map(lambda x: {"a": x}).apply(experimental.pad_to_cardinality(7)),
        [
            {"a": 0, "valid": True},
            {"a": 1, "valid": True},
            {"a": 2, "valid": True},
            {"a": 3, "valid": True},
            {"a": 4, "valid": True},
            {"a": 0, "valid": False},
            {"a": 0, "valid": False},
        ],
        {"a": TensorSpec([], tf.int64), "valid": TensorSpec([], tf.bool)},
        7,
    ),
    (
        lambda: (
            r5.map(lambda x: {"a": x, "b": [1.5, 2.5]}).take(2).apply(experimental.pad_to_cardinality(3, mask_key="m"))
        ),
        [
            {"a": 0, "b": [1.5, 2.5], "m": True},
            {"a": 1, "b": [1.5, 2.5], "m": True},
            {"a": 0, "b": [0.0, 0.0], "m": False},
        ],
        {"a": TensorSpec([], tf.int64), "b": TensorSpec([2], tf.float32), "m": TensorSpec([], tf.bool)},
        3,
    ),
    (
        lambda: r5.map(lambda x: {"a": x}).apply(experimental.pad_to_cardinality(5)),
        [
            {"a": 0, "valid": True},
            {"a": 1, "valid": True},
            {"a": 2, "valid": True},
            {"a": 3, "valid": True},
            {"a": 4, "valid": True},
        ],
        {"a": TensorSpec([], tf.int64), "valid": TensorSpec([], tf.bool)},
        5,
    ),
    (lambda: r5.with_options(tf.data.Options()), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.shuffle(3, seed=5), [0, 2, 4, 1, 3], TensorSpec([], tf.int64), 5),
    (
        lambda: r5.shuffle(3, seed=5, reshuffle_each_iteration=False).repeat(2),
        [2, 1, 4, 3, 0, 2, 1, 4, 3, 0],
        TensorSpec([], tf.int64),
        10,
    ),
    (lambda: r5.shuffle(3, seed=5).repeat(2), [0, 2, 4, 1, 3, 1, 0, 3, 2, 4], TensorSpec([], tf.int64), 10),
    (lambda: r5.shuffle(1), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.shuffle(9, seed=2), [2, 0, 1, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.shuffle(tf.data.UNKNOWN_CARDINALITY, seed=2), [2, 0, 1, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.repeat().shuffle(3, seed=5).take(7), [0, 2, 4, 0, 1, 3, 2], TensorSpec([], tf.int64), 7),
    (
        lambda: r5.map(lambda x: 6 // (x - 1)).shuffle(3, seed=5),
        ["InvalidArgumentError", -6, 3, 2, 6],
        TensorSpec([], tf.int64),
        5,
    ),
    (
        lambda: r5.map(lambda x: 6 // (x - 3)).shuffle(2, seed=5),
        [-3, -2, "InvalidArgumentError", 6, -6],
        TensorSpec([], tf.int64),
        5,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 5)).shuffle(2, seed=5),
        [-2, -2, -3, -6, "InvalidArgumentError", -2],
        TensorSpec([], tf.int64),
        6,
    ),
    (
        lambda: r5.bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [2, 4], [2, 2, 1]),
        [[0, 1], [2, 3], [4]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r5.map(lambda x: tf.fill([x], 1)).bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [2, 4], [2, 3, 1]
        ),
        [[[0], [1]], [[1, 1, 1, 1]], [[1, 1, 0], [1, 1, 1]]],
        TensorSpec([None, None], tf.int32),
        -2,
    ),
    (
        lambda: r5.map(lambda x: tf.fill([x], 1)).bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [2, 4], [2, 2, 1], drop_remainder=True
        ),
        [[[0], [1]], [[1, 1, 0], [1, 1, 1]], [[1, 1, 1, 1]]],
        TensorSpec([None, None], tf.int32),
        -2,
    ),
    (
        lambda: (
            r5.take(4)
            .map(lambda x: tf.fill([x], 1))
            .bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 5], [2, 2, 1], pad_to_bucket_boundary=True)
        ),
        [[[0], [1]], [[1, 1, 0, 0], [1, 1, 1, 0]]],
        TensorSpec([None, None], tf.int32),
        -2,
    ),
    (
        lambda: r5.map(lambda x: tf.fill([x], 1)).bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3], [2, 2], padded_shapes=[5], padding_values=7
        ),
        [[[7, 7, 7, 7, 7], [1, 7, 7, 7, 7]], [[1, 1, 1, 7, 7], [1, 1, 1, 1, 7]], [[1, 1, 7, 7, 7]]],
        TensorSpec([None, 5], tf.int32),
        -2,
    ),
    (
        lambda: r5.map(lambda x: tf.fill([x], 1)).bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3], [2, 2], no_padding=True
        ),
        ["InvalidArgumentError", "InvalidArgumentError", [[1, 1]]],
        TensorSpec([None, None], tf.int32),
        -2,
    ),
    (
        lambda: r5.map(lambda x: tf.sparse.from_dense([x])).bucket_by_sequence_length(
            lambda x: tf.cast(x.dense_shape[0], tf.int32), [3], [2, 2], no_padding=True
        ),
        [([[1, 0]], [1], [2, 1]), ([[0, 0], [1, 0]], [2, 3], [2, 1]), ([[0, 0]], [4], [1, 1])],
        tf.SparseTensorSpec([None, 1], tf.int64),
        -2,
    ),
    (
        lambda: r5.map(lambda x: x % 2).rejection_resample(
            lambda x: tf.cast(x, tf.int32), [0.5, 0.5], [0.6, 0.4], seed=3
        ),
        [(0, 0), (1, 1), (1, 1), (1, 1), (0, 0)],
        (TensorSpec([], tf.int32), TensorSpec([], tf.int64)),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


VALUES = [
    (lambda: r5.cardinality(), 5),
    (lambda: r5.repeat().cardinality(), -1),
    (lambda: experimental.cardinality(r5.filter(lambda x: True)), -2),
    (lambda: len(r5), 5),
    (lambda: bool(r5.take(0)), True),
    (lambda: r5.take(1).get_single_element(), 0),
    (lambda: experimental.get_single_element(r5.skip(4)), 4),
    (lambda: experimental.at(r5, 3), 3),
    (lambda: experimental.at(r5.map(lambda x: (x, -x)), 4), (4, -4)),
    (lambda: experimental.at(r5.batch(2), 2), [4]),
    (lambda: experimental.at(r5.shuffle(5, seed=3, reshuffle_each_iteration=False), 1), 3),
    (lambda: experimental.get_structure(r5) == r5.element_spec, True),
    (lambda: experimental.get_structure(iter(r5)) == r5.element_spec, True),
    (lambda: r5.element_spec.dtype.name, "int64"),
    (lambda: iter(r5.batch(2)).element_spec.shape.as_list(), [None]),
    (lambda: list(r5.as_numpy_iterator()), [np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)]),
    (lambda: [x.numpy().tolist() for x in r5.ragged_batch(3)], [[0, 1, 2], [3, 4]]),
    (lambda: repr(r5), "<_RangeDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"),
    (lambda: repr(r5.map(lambda x: x)), "<_MapDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"),
    (
        lambda: repr(Dataset.from_tensor_slices([1])),
        "<_TensorSliceDataset element_spec=TensorSpec(shape=(), dtype=tf.int32, name=None)>",
    ),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert tf.nest.map_structure(plain, compute()) == expected


ERRORS = [
    (
        lambda: r5.apply(lambda d: 3),
        TypeError,
        "`transformation_func` must return a `tf.data.Dataset` object. Got <class 'int'>.",
    ),
    (lambda: r5.apply(experimental.unbatch()), ValueError, "Cannot unbatch an input with scalar components."),
    (
        lambda: r5.apply(experimental.copy_to_device("/nothing")),
        ValueError,
        "Unknown attribute 'nothing' is encountered while parsing the device spec: '/nothing'.",
    ),
    (lambda: Dataset.sample_from_datasets([]), ValueError, "Invalid `datasets`. `datasets` should not be empty."),
    (
        lambda: Dataset.sample_from_datasets([r5, r6], [0.5]),
        ValueError,
        "Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weight",
    ),
    (lambda: Dataset.sample_from_datasets([r5, 3]), AttributeError, "'int' object has no attribute '"),
    (
        lambda: r5.map(lambda x: {"a": x}).apply(experimental.pad_to_cardinality(4)),
        ValueError,
        "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target c",
    ),
    (
        lambda: r5.map(lambda x: {"a": x}).filter(lambda x: True).apply(experimental.pad_to_cardinality(9)),
        ValueError,
        "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardina",
    ),
    (
        lambda: r5.map(lambda x: {"a": x}).repeat().apply(experimental.pad_to_cardinality(9)),
        ValueError,
        "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardina",
    ),
    (
        lambda: r5.apply(experimental.pad_to_cardinality(9)),
        ValueError,
        "`pad_to_cardinality` requires its input dataset to be a dictionary.",
    ),
    (
        lambda: r5.shuffle(0),
        tf.errors.InvalidArgumentError,
        "buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:ShuffleDatasetV3] name: ",
    ),
    (
        lambda: r5.shuffle(-1),
        tf.errors.InvalidArgumentError,
        "buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:ShuffleDatasetV3] name: ",
    ),
    (
        lambda: r5.rejection_resample(lambda x: tf.cast(x, tf.float32), [0.5, 0.5]),
        TypeError,
        "Invalid `class_func`. `class_func` must return an integer sc",
    ),
    (lambda: len(r5.repeat()), TypeError, "The dataset is infinite."),
    (lambda: len(r5.filter(lambda x: True)), TypeError, "The dataset length is unknown."),
    (
        lambda: r5.get_single_element(),
        tf.errors.InvalidArgumentError,
        "Dataset had more than one element. [Op:DatasetToSingleElement] name: ",
    ),
    (
        lambda: r5.take(0).get_single_element(),
        tf.errors.InvalidArgumentError,
        "Dataset was empty. [Op:DatasetToSingleElement] name: ",
    ),
    (
        lambda: experimental.at(r5, 5),
        tf.errors.OutOfRangeError,
        "Index out of range [0, 5):5 [Op:GetElementAtIndex] name: ",
    ),
    (
        lambda: experimental.at(r5, -1),
        tf.errors.OutOfRangeError,
        "Index out of range [0, 5):-1 [Op:GetElementAtIndex] name: ",
    ),
    (
        lambda: experimental.get_structure(3),
        TypeError,
        "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.dat",
    ),
    (lambda: iter(3), TypeError, "'int' object is not iterable"),
    (
        lambda: list(r5.window(2).as_numpy_iterator()),
        TypeError,
        "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
