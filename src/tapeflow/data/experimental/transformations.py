"""Older forms of datasets' methods, as functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec

from tapeflow.array.creation import zeros
from tapeflow.control.optional import Optional
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import bool_, int64, string
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import elements
from tapeflow.data.dataset import Dataset
from tapeflow.data.functions import debugging
from tapeflow.data.iterators import Iterator
from tapeflow.data.node import integer
from tapeflow.data.sources.from_list import FromList
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import AUTOTUNE
from tapeflow.data.transformations.assert_cardinality import AssertCardinality
from tapeflow.data.transformations.copy_to_device import OnDevice
from tapeflow.data.transformations.group_by_reducer import GroupByReducer, Reducer
from tapeflow.io.example_parser import parse_example
from tapeflow.io.records import TFRecordWriter as RecordWriter

P = ParamSpec("P")
SHARD_HINT = -1
Transformation = Callable[[Dataset], Dataset]


def Counter(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = int64) -> Dataset:
    """Returns an infinite dataset of the numbers from `start` on; the older name of `Dataset.counter`.

    Args:
        start, step: scalar integers.
        dtype: the dtype of the elements.

    Returns:
        A dataset of scalars.

    Raises:
        TypeError: `start` or `step` is not of the dtype.

    Example:
        >>> [x.item() for x in tf.data.experimental.Counter(5, 2).take(3).as_numpy_iterator()]
        [5, 7, 9]
    """
    return Dataset.counter(start, step, dtype)


def assert_cardinality(expected_cardinality: TensorLike) -> Transformation:
    """Declares the number of elements of a dataset.

    Args:
        expected_cardinality: a scalar, the number of elements.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        FailedPreconditionError: at an iterator, if there are fewer or more.

    Example:
        >>> ds = tf.data.Dataset.range(4).filter(lambda x: x > 1)
        >>> len(ds.apply(tf.data.experimental.assert_cardinality(2)))
        2
    """
    return lambda dataset: Dataset(AssertCardinality(dataset._node, integer(expected_cardinality)))


def at(dataset: Dataset, index: TensorLike) -> Any:
    """Returns the element with a number.

    Args:
        dataset: the dataset.
        index: a scalar, the number of the element, from 0 on.

    Returns:
        The element, in its structure.

    Raises:
        OutOfRangeError: there is no such element.
        UnimplementedError: the cardinality of the dataset is unknown.

    Example:
        >>> tf.data.experimental.at(tf.data.Dataset.range(5).map(lambda x: x * x), 3).numpy().item()
        9
    """
    spec = dataset.element_spec
    if state.graph is None:
        return elements.Packer(spec)(dataset._node.element_at(integer(index)))
    outputs = ops.GetElementAtIndex(dataset._variant_tensor, index, *elements.element_attrs(spec))
    return elements.pack_element(spec, outputs)


def cardinality(dataset: Dataset) -> Tensor:
    """Returns the number of elements of a dataset; the older name of `Dataset.cardinality`.

    Args:
        dataset: the dataset.

    Returns:
        An int64 scalar; `INFINITE_CARDINALITY` and `UNKNOWN_CARDINALITY` are negative.

    Raises:
        AttributeError: `dataset` is not a dataset.

    Example:
        >>> tf.data.experimental.cardinality(tf.data.Dataset.range(5)).numpy().item()
        5
    """
    return dataset.cardinality()


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Moves the tensors of the elements to a device.

    Args:
        target_device: the name of the device.
        source_device: accepted, and has no effect.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: `target_device` is not the name of a device.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.copy_to_device("/cpu:0"))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 2]
    """
    return lambda dataset: Dataset(OnDevice(dataset._node, target_device))


def prefetch_to_device(device: str, buffer_size: TensorLike | None = None) -> Transformation:
    """Computes elements ahead, and moves their tensors to a device.

    Args:
        device: the name of the device.
        buffer_size: how many elements at most; None for a number chosen automatically.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: `device` is not the name of a device.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [0, 1, 2]
    """
    size = AUTOTUNE if buffer_size is None else buffer_size
    return lambda dataset: copy_to_device(device)(dataset).prefetch(size)


def from_list(elements: list[Any], name: str | None = None) -> Dataset:
    """Returns a dataset of the elements of a list, which may differ in their shapes.

    Args:
        elements: a list of structures of tensors.

    Returns:
        A dataset of as many elements.

    Raises:
        ValueError: `elements` is no list, or empty.
        TypeError: the elements have no spec in common.

    Example:
        >>> tf.data.experimental.from_list([[1], [2, 3]]).element_spec
        TensorSpec(shape=(None,), dtype=tf.int32, name=None)
    """
    return Dataset(FromList.of(elements))


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """Returns the dataset that a scalar variant tensor holds.

    Args:
        variant: the tensor, a scalar.
        structure: the spec of the elements.

    Returns:
        The dataset.

    Example:
        >>> held = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
        >>> len(tf.data.experimental.from_variant(held, tf.TensorSpec([], tf.int64)))
        2
    """
    return DatasetSpec(structure)._from_components(variant)


def to_variant(dataset: Dataset) -> Tensor:
    """Returns a tensor that holds a dataset.

    Args:
        dataset: the dataset.

    Returns:
        A scalar variant tensor.

    Example:
        >>> held = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
        >>> len(tf.data.experimental.from_variant(held, tf.TensorSpec([], tf.int64)))
        2
    """
    return dataset._variant_tensor


def get_single_element(dataset: Dataset) -> Any:
    """Returns the only element of a dataset; the older name of `Dataset.get_single_element`.

    Args:
        dataset: the dataset.

    Returns:
        The element, in its structure.

    Raises:
        InvalidArgumentError: there is none, or more than one.

    Example:
        >>> tf.data.experimental.get_single_element(tf.data.Dataset.range(4, 5)).numpy().item()
        4
    """
    return dataset.get_single_element()


def get_next_as_optional(iterator: Iterator) -> Optional:
    """Returns the next element of an iterator, or nothing; the older name of `Iterator.get_next_as_optional`.

    Args:
        iterator: the iterator.

    Returns:
        A `tf.experimental.Optional`.

    Example:
        >>> bool(tf.data.experimental.get_next_as_optional(iter(tf.data.Dataset.range(0))).has_value())
        False
    """
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Dataset | Iterator) -> Any:
    """Returns the spec of the elements of a dataset or iterator.

    Args:
        dataset_or_iterator: the dataset or iterator.

    Returns:
        A structure of `tf.TypeSpec`s.

    Raises:
        TypeError: it is neither.

    Example:
        >>> tf.data.experimental.get_structure(tf.data.Dataset.range(2))
        TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


def enable_debug_mode() -> None:
    """Lets the functions of datasets created from now on run eagerly for each element, for debuggers.

    Raises:
        ValueError: a graph is being built.

    Example:
        >>> tf.data.experimental.enable_debug_mode()  # doctest: +SKIP
    """
    if state.graph is not None:
        raise ValueError("`enable_debug_mode()` is only supported in eager mode.")
    if not debugging:
        debugging.append(True)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """Reduces the elements of each key to one result, in the order of the keys.

    Args:
        key_func: returns an element's key, an int64 scalar.
        reducer: the functions that reduce them.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError, ValueError: a key is not an int64 scalar.

    Example:
        >>> sums = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s)
        >>> ds = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, sums))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [3, 5, 7]
    """
    return lambda dataset: Dataset(GroupByReducer.of(dataset._node, key_func, reducer))


def load(
    path: str | os.PathLike[str], element_spec: Any = None, compression: str | None = None,
    reader_func: Callable[..., Any] | None = None,
) -> Dataset:  # fmt: skip
    """Returns a saved dataset; the older name of `Dataset.load`.

    Args:
        path: the folder.
        element_spec: the spec of the elements; None for the saved one.
        compression: the compression it was saved with: None or "GZIP".
        reader_func: takes a dataset of shards and returns the dataset; by default elements of the shards come in turn.

    Returns:
        A dataset of the saved elements.

    Raises:
        NotFoundError: there is no saved dataset.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp()
        >>> tf.data.experimental.save(tf.data.Dataset.range(3), path)
        >>> len(tf.data.experimental.load(path))
        3
    """
    return Dataset.load(path, element_spec, compression, reader_func)


def save(
    dataset: Dataset, path: str | os.PathLike[str], compression: str | None = None,
    shard_func: Callable[..., Any] | None = None, checkpoint_args: Any = None,
) -> None:  # fmt: skip
    """Writes the elements of a dataset to a folder; the older name of `Dataset.save`.

    Args:
        dataset: the dataset.
        path: the folder.
        compression: None or "GZIP".
        shard_func: returns the number of an element's file, an int64 scalar.
        checkpoint_args: must be None.

    Raises:
        InvalidArgumentError: the compression is unknown.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp()
        >>> tf.data.experimental.save(tf.data.Dataset.range(3), path)
        >>> len(tf.data.Dataset.load(path))
        3
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


def map_and_batch(
    map_func: Callable[..., Any], batch_size: TensorLike, num_parallel_batches: int | None = None,
    drop_remainder: bool = False, num_parallel_calls: TensorLike | None = None,
) -> Transformation:  # fmt: skip
    """Applies `Dataset.map`, then `Dataset.batch`.

    Args:
        map_func: takes an element.
        batch_size: the number of elements in a batch.
        num_parallel_batches: has no effect, and must not be given with `num_parallel_calls`.
        drop_remainder: whether to leave out a smaller last batch.
        num_parallel_calls: the number of threads; None for none.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        InvalidArgumentError: `batch_size` is not positive.
        ValueError: both `num_parallel_batches` and `num_parallel_calls` are given.

    Example:
        >>> ds = tf.data.Dataset.range(4)
        >>> ds = ds.apply(tf.data.experimental.map_and_batch(lambda x: x * x, 2))
        >>> [x.tolist() for x in ds.as_numpy_iterator()]
        [[0, 1], [4, 9]]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches}, and `num_parallel_calls` was, too."
        )
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """Appends dicts of zeros to a dataset of dicts, up to a number of elements.

    Args:
        cardinality: the number of elements.
        mask_key: the key of a boolean that is False for the appended elements.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: elements are no dicts, or the dataset's cardinality is unknown or greater.

    Example:
        >>> ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
        >>> ds = ds.apply(tf.data.experimental.pad_to_cardinality(3))
        >>> [(x["a"].item(), x["valid"].item()) for x in ds.as_numpy_iterator()]
        [(1, True), (2, True), (0, False)]
    """

    def padded(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        size = dataset._node.cardinality()
        if size < 0:
            raise ValueError(
                f"The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardinality {size}"
            )
        if size > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target cardinality "
                f"({cardinality}), but has cardinality {size}"
            )

        def nothing(_: object) -> Any:
            return {**elements.map_specs(lambda s: zeros(s.shape, s.dtype), spec), mask_key: convert(False, bool_)}

        valid = dataset.map(lambda x: {**x, mask_key: convert(True, bool_)})
        return valid.concatenate(Dataset.range(cardinality - size).map(nothing))

    return padded


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: TensorLike, block_length: TensorLike = 1, sloppy: bool = False,
    buffer_output_elements: TensorLike | None = None, prefetch_input_elements: TensorLike | None = None,
) -> Transformation:  # fmt: skip
    """Takes elements of several datasets in turn; the older name of `Dataset.interleave` with threads.

    Args:
        map_func: takes an element and returns a dataset.
        cycle_length: the number of datasets that take turns.
        block_length: the number of elements that each contributes in its turn.
        sloppy, buffer_output_elements, prefetch_input_elements: accepted, and have no effect.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: `map_func` does not return a dataset.
        InvalidArgumentError: `cycle_length` or `block_length` is not positive.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.range(x), 2))
        >>> sorted(x.item() for x in ds.as_numpy_iterator())
        [0, 0, 1]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, AUTOTUNE)


def parse_example_dataset(
    features: dict[str, Any], num_parallel_calls: TensorLike = 1, deterministic: bool | None = None
) -> Transformation:
    """Parses batches of serialized examples with `tf.io.parse_example`.

    Args:
        features: the features, as for `tf.io.parse_example`.
        num_parallel_calls: the number of threads.
        deterministic: whether the threads' results keep the order of the elements.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: `features` is empty.
        InvalidArgumentError: an element is not a serialized `tf.train.Example` with these features.

    Example:
        >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
        >>> ds = tf.data.Dataset.from_tensors(example).batch(1)
        >>> features = {"x": tf.io.FixedLenFeature([], tf.float32)}
        >>> next(iter(ds.apply(tf.data.experimental.parse_example_dataset(features))))["x"].numpy().tolist()
        [1.0]
    """
    return lambda dataset: dataset.map(lambda x: parse_example(x, features), num_parallel_calls, deterministic)


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: TensorLike | Dataset | None = None, seed: TensorLike | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:  # fmt: skip
    """Takes each element from a dataset drawn at random; the older name of `Dataset.sample_from_datasets`.

    Args:
        datasets: a list of datasets.
        weights: a probability for each, as floats, or a dataset of such vectors; all the same for None.
        seed: the seed of the choices.
        stop_on_empty_dataset: whether the first dataset that ends ends all.

    Returns:
        A dataset of the drawn elements.

    Raises:
        ValueError: there are no datasets, or the number of weights differs from theirs.

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
        filename: the path of the file.
        compression_type: "", "GZIP" or "ZLIB".

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> tf.data.experimental.TFRecordWriter(path).write(tf.data.Dataset.from_tensor_slices(["a", "b"]))
        >>> [x.numpy() for x in tf.data.TFRecordDataset(path)]
        [b'a', b'b']
    """

    def __init__(self, filename: str | os.PathLike[str], compression_type: str | None = None) -> None:
        self._filename, self._compression_type = filename, compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes a dataset, in place of the file's contents.

        Args:
            dataset: a dataset of string scalars.

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


def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: TensorLike | None = None
) -> Transformation:
    """Applies `Dataset.shuffle`, then `Dataset.repeat`.

    Args:
        buffer_size: from how many elements each is drawn.
        count: how often the elements are repeated; without an end for None and -1.
        seed: the seed of the order.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        InvalidArgumentError: `buffer_size` is not positive.

    Example:
        >>> ds = tf.data.Dataset.range(3)
        >>> ds = ds.apply(tf.data.experimental.shuffle_and_repeat(3, 2))
        >>> sorted(x.item() for x in ds.as_numpy_iterator())
        [0, 0, 1, 1, 2, 2]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Takes each element from the dataset whose number another holds; the older name of `Dataset.choose_from_datasets`.

    Args:
        datasets: a list of datasets.
        choice_dataset: a dataset of int64 scalars, the numbers.
        stop_on_empty_dataset: whether the first dataset that ends ends all.

    Returns:
        A dataset of the chosen elements.

    Raises:
        TypeError: the choices are not int64 scalars.
        ValueError: there are no datasets.

    Example:
        >>> ones, twos = (tf.data.Dataset.from_tensors(x).repeat(5) for x in (1, 2))
        >>> choices = tf.data.Dataset.range(2).repeat(2)
        >>> [x.item() for x in tf.data.experimental.choose_from_datasets([ones, twos], choices).as_numpy_iterator()]
        [1, 2, 1, 2]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


# ---- older forms of methods ------------------------------------------------------------------------------------------


def _make_transformation(name: str, method: Callable[Concatenate[Dataset, P], Dataset]) -> Callable[P, Transformation]:
    """Returns the function that binds the arguments of a method and returns a function for `Dataset.apply`."""

    def function(*args: P.args, **kwargs: P.kwargs) -> Transformation:
        return lambda dataset: method(dataset, *args, **kwargs)

    _, *own = inspect.signature(method).parameters.values()
    signature = inspect.Signature([p for p in own if p.name != "name"], return_annotation="Transformation")
    summary = f"Returns `Dataset.{method.__name__}` with these arguments, as a function for `Dataset.apply`."
    sections = (method.__doc__ or "").partition("\n\n")[2]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\n{sections}"
    function.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` reads it
    return function


bucket_by_sequence_length = _make_transformation("bucket_by_sequence_length", Dataset.bucket_by_sequence_length)
dense_to_ragged_batch = _make_transformation("dense_to_ragged_batch", Dataset.ragged_batch)
dense_to_sparse_batch = _make_transformation("dense_to_sparse_batch", Dataset.sparse_batch)
enumerate_dataset = _make_transformation("enumerate_dataset", Dataset.enumerate)
group_by_window = _make_transformation("group_by_window", Dataset.group_by_window)
ignore_errors = _make_transformation("ignore_errors", Dataset.ignore_errors)
rejection_resample = _make_transformation("rejection_resample", Dataset.rejection_resample)
scan = _make_transformation("scan", Dataset.scan)
snapshot = _make_transformation("snapshot", Dataset.snapshot)
take_while = _make_transformation("take_while", Dataset.take_while)
unbatch = _make_transformation("unbatch", Dataset.unbatch)
unique = _make_transformation("unique", Dataset.unique)
