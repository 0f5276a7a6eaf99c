"""The public `tf.data.experimental` namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import access, bucketing, maps
from tapeflow.data.dataset import INFINITE as INFINITE_CARDINALITY
from tapeflow.data.dataset import UNKNOWN as UNKNOWN_CARDINALITY
from tapeflow.data.dataset import Dataset
from tapeflow.data.files import CsvDatasetV2 as CsvDataset
from tapeflow.data.functions import debugging
from tapeflow.data.grouping import GroupByReducerDataset, Reducer
from tapeflow.data.iterators import Iterator
from tapeflow.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from tapeflow.data.placing import OnDeviceDataset
from tapeflow.data.readers import make_batched_features_dataset, make_csv_dataset
from tapeflow.data.shuffling import RandomDatasetV2 as RandomDataset
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.sql import SqlDatasetV2 as SqlDataset
from tapeflow.data.threads import AUTOTUNE
from tapeflow.io.parsing import parse_example
from tapeflow.io.records import TFRecordWriter as RecordWriter
from tapeflow.lookup.from_dataset import index_table_from_dataset, table_from_dataset
from tapeflow.lookup.initializers import DatasetInitializer
from tapeflow.optional import Optional

SHARD_HINT = -1
Transformation = Callable[[Dataset], Dataset]


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """Numbers from `start` on, without an end; the older name of `Dataset.counter`.

    Example:
        >>> [x.item() for x in tf.data.experimental.Counter(5, 2).take(3).as_numpy_iterator()]
        [5, 7, 9]
    """
    return Dataset.counter(start, step, dtype)


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """For `Dataset.apply`: says how many elements there are.

    Raises:
        FailedPreconditionError: at an iterator, if there are fewer or more.

    Example:
        >>> ds = tf.data.Dataset.range(4).filter(lambda x: x > 1)
        >>> len(ds.apply(tf.data.experimental.assert_cardinality(2)))
        2
    """
    return lambda dataset: maps.AssertCardinalityDataset(dataset, expected_cardinality)


def at(dataset: Dataset, index: Any) -> Any:
    """The element of a dataset with a number.

    Raises:
        OutOfRangeError: there is none.
        UnimplementedError: it is not known how many elements there are.

    Example:
        >>> tf.data.experimental.at(tf.data.Dataset.range(5).map(lambda x: x * x), 3).numpy().item()
        9
    """
    return access.at(dataset, index)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.bucket_by_sequence_length`.

    Example:
        >>> ds = tf.data.Dataset.range(4).map(lambda x: tf.range(x))
        >>> ds = ds.apply(tf.data.experimental.bucket_by_sequence_length(tf.size, [2], [2, 2]))
        >>> [x.tolist() for x in ds.as_numpy_iterator()]
        [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements a dataset has; the older name of `Dataset.cardinality`.

    Example:
        >>> tf.data.experimental.cardinality(tf.data.Dataset.range(5)).numpy().item()
        5
    """
    return dataset.cardinality()


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """For `Dataset.apply`: the same elements, with their tensors on a device.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.copy_to_device("/cpu:0"))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 2]
    """
    return lambda dataset: OnDeviceDataset(dataset, target_device)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """For `Dataset.apply`: the same elements, made ahead, with their tensors on a device.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 2]
    """
    return lambda dataset: OnDeviceDataset(dataset, device).prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """The elements of a list, of one structure but perhaps of different shapes.

    Raises:
        ValueError: it is no list, or empty.
        TypeError: elements have nothing in common.

    Example:
        >>> tf.data.experimental.from_list([[1], [2, 3]]).element_spec
        TensorSpec(shape=(None,), dtype=tf.int32, name=None)
    """
    return access.ListDataset(elements)


def from_variant(variant: Any, structure: Any) -> Dataset:
    """The dataset that a scalar variant tensor holds, with elements of a spec.

    Example:
        >>> held = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
        >>> len(tf.data.experimental.from_variant(held, tf.TensorSpec([], tf.int64)))
        2
    """
    return DatasetSpec(structure)._from_components(variant)


def to_variant(dataset: Dataset) -> Tensor:
    """A scalar variant tensor that holds a dataset.

    Example:
        >>> held = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
        >>> len(tf.data.experimental.from_variant(held, tf.TensorSpec([], tf.int64)))
        2
    """
    return dataset._variant_tensor


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset; the older name of `Dataset.get_single_element`.

    Example:
        >>> tf.data.experimental.get_single_element(tf.data.Dataset.range(4, 5)).numpy().item()
        4
    """
    return dataset.get_single_element()


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator, or nothing; the older name of `Iterator.get_next_as_optional`.

    Example:
        >>> bool(tf.data.experimental.get_next_as_optional(iter(tf.data.Dataset.range(0))).has_value())
        False
    """
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The spec of the elements of a dataset or iterator.

    Raises:
        TypeError: it is neither.

    Example:
        >>> tf.data.experimental.get_structure(tf.data.Dataset.range(2))
        TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        ) from None


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.ragged_batch`.

    Example:
        >>> ds = tf.data.Dataset.range(3).map(lambda x: tf.range(x))
        >>> next(iter(ds.apply(tf.data.experimental.dense_to_ragged_batch(3))))
        <tf.RaggedTensor [[], [0], [0, 1]]>
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def enable_debug_mode() -> None:
    """Has the functions of datasets made from now on run eagerly for each element, so that one can step through them.

    Raises:
        ValueError: a graph is being built.

    Example:
        >>> tf.data.experimental.enable_debug_mode()  # doctest: +SKIP
    """
    if state.graph is not None:
        raise ValueError("The debug mode can only be enabled in eager mode.")
    if not debugging:
        debugging.append(True)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.enumerate`.

    Example:
        >>> ds = tf.data.Dataset.range(2).map(lambda x: x * 10)
        >>> [(i.item(), x.item()) for i, x in ds.apply(tf.data.experimental.enumerate_dataset(5)).as_numpy_iterator()]
        [(5, 0), (6, 10)]
    """
    return lambda dataset: dataset.enumerate(start)


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None, window_size_func: Any = None
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.group_by_window`.

    Example:
        >>> ds = tf.data.Dataset.range(6)
        >>> ds = ds.apply(tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 3))
        >>> [x.tolist() for x in ds.as_numpy_iterator()]
        [[0, 2, 4], [1, 3, 5]]
    """
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """For `Dataset.apply`: for each key what a reducer makes of the elements that have it, in the order of the keys.

    Example:
        >>> sums = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s)
        >>> ds = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, sums))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [3, 5, 7]
    """
    return lambda dataset: GroupByReducerDataset(dataset, key_func, reducer)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.ignore_errors`.

    Example:
        >>> ds = tf.data.Dataset.range(3).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "x"))
        >>> ds = ds.apply(tf.data.experimental.ignore_errors())
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [1.0, 0.5]
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def load(
    path: Any, element_spec: Any = None, compression: str | None = None, reader_func: Callable[..., Any] | None = None
) -> Dataset:
    """The older name of `Dataset.load`.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp()
        >>> tf.data.experimental.save(tf.data.Dataset.range(3), path)
        >>> len(tf.data.experimental.load(path))
        3
    """
    return Dataset.load(path, element_spec, compression, reader_func)


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """The older name of `Dataset.save`.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp()
        >>> tf.data.experimental.save(tf.data.Dataset.range(3), path)
        >>> len(tf.data.Dataset.load(path))
        3
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.snapshot`.

    Example:
        >>> import tempfile
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.snapshot(tempfile.mkdtemp()))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 2]
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """For `Dataset.apply`: `Dataset.map`, then `Dataset.batch`.

    Example:
        >>> ds = tf.data.Dataset.range(4)
        >>> ds = ds.apply(tf.data.experimental.map_and_batch(lambda x: x * x, 2))
        >>> [x.tolist() for x in ds.as_numpy_iterator()]
        [[0, 1], [4, 9]]
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """For `Dataset.apply`: dicts of zeros behind the elements, which are dicts, until there are so many.

    Args:
        cardinality: how many.
        mask_key: the key under which each element says whether it is one of those there were.

    Raises:
        ValueError: elements are no dicts, or it is not known how many there are, or there are more.

    Example:
        >>> ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
        >>> ds = ds.apply(tf.data.experimental.pad_to_cardinality(3))
        >>> [(x["a"].item(), x["valid"].item()) for x in ds.as_numpy_iterator()]
        [(1, True), (2, True), (0, False)]
    """
    return lambda dataset: bucketing.pad_to_cardinality(dataset, cardinality, mask_key)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.interleave` with threads.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.range(x), 2))
        >>> sorted(x.item() for x in ds.as_numpy_iterator())
        [0, 0, 1]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, AUTOTUNE)


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Transformation:
    """For `Dataset.apply`: batches of serialized examples, parsed by `tf.io.parse_example`.

    Example:
        >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
        >>> ds = tf.data.Dataset.from_tensors(example).batch(1)
        >>> features = {"x": tf.io.FixedLenFeature([], tf.float32)}
        >>> next(iter(ds.apply(tf.data.experimental.parse_example_dataset(features))))["x"].numpy().tolist()
        [1.0]
    """
    return lambda dataset: dataset.map(lambda x: parse_example(x, features), num_parallel_calls, deterministic)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.rejection_resample`.

    Example:
        >>> ds = tf.data.Dataset.range(100).map(lambda x: x % 2)
        >>> ds = ds.apply(tf.data.experimental.rejection_resample(lambda x: x, [1.0, 0.0], [0.5, 0.5]))
        >>> {label.item() for label, _ in ds.as_numpy_iterator()}
        {0}
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.sparse_batch`.

    Example:
        >>> ds = tf.data.Dataset.range(3).map(lambda x: tf.range(x))
        >>> sparse = next(iter(ds.apply(tf.data.experimental.dense_to_sparse_batch(3, [4]))))
        >>> tf.sparse.to_dense(sparse).shape
        TensorShape([3, 4])
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """The older name of `Dataset.sample_from_datasets`.

    Example:
        >>> ones, twos = (tf.data.Dataset.from_tensors(x).repeat(5) for x in (1, 2))
        >>> ds = tf.data.experimental.sample_from_datasets([ones, twos], [1.0, 0.0])
        >>> [x.item() for x in ds.take(3).as_numpy_iterator()]
        [1, 1, 1]
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


class TFRecordWriter:
    """Writes the elements of datasets, string scalars, as the records of a file.

    Args:
        filename: of the file.
        compression_type: "", "GZIP" or "ZLIB".

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> tf.data.experimental.TFRecordWriter(path).write(tf.data.Dataset.from_tensor_slices(["a", "b"]))
        >>> [x.numpy() for x in tf.data.TFRecordDataset(path)]
        [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename, self._compression_type = filename, compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes a dataset, in place of what is in the file.

        Raises:
            TypeError: it is no dataset of string scalars.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset.element_spec
        if not TensorSpec([], string).is_compatible_with(spec):
            raise TypeError(
                "Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a dataset "
                f"which produces elements with shapes {getattr(spec, 'shape', None)} and types "
                f"{getattr(spec, 'dtype', spec)!s}."
            )
        with RecordWriter(self._filename, self._compression_type) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.scan`.

    Example:
        >>> ds = tf.data.Dataset.range(4)
        >>> ds = ds.apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total + x)))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 3, 6]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.take_while`.

    Example:
        >>> ds = tf.data.Dataset.range(5)
        >>> ds = ds.apply(tf.data.experimental.take_while(lambda x: x < 2))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1]
    """
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.unbatch`.

    Example:
        >>> ds = tf.data.Dataset.range(4).batch(3)
        >>> ds = ds.apply(tf.data.experimental.unbatch())
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 2, 3]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.unique`.

    Example:
        >>> ds = tf.data.Dataset.range(5).map(lambda x: x % 2)
        >>> ds = ds.apply(tf.data.experimental.unique())
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1]
    """
    return lambda dataset: dataset.unique()


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """For `Dataset.apply`: `Dataset.shuffle`, then `Dataset.repeat`.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.shuffle_and_repeat(3, 2))
        >>> sorted(x.item() for x in ds.as_numpy_iterator())
        [0, 0, 1, 1, 2, 2]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Dataset:
    """The older name of `Dataset.choose_from_datasets`, which goes on when a dataset has ended.

    Example:
        >>> ones, twos = (tf.data.Dataset.from_tensors(x).repeat(5) for x in (1, 2))
        >>> choices = tf.data.Dataset.range(2).repeat(2)
        >>> [x.item() for x in tf.data.experimental.choose_from_datasets([ones, twos], choices).as_numpy_iterator()]
        [1, 2, 1, 2]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)
