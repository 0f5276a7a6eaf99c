"""The public `tf.data.experimental` namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.dtypes import int64
from tapeflow.core.tensor import Tensor
from tapeflow.data import maps
from tapeflow.data.dataset import AUTOTUNE, Dataset
from tapeflow.data.dataset import INFINITE as INFINITE_CARDINALITY
from tapeflow.data.dataset import UNKNOWN as UNKNOWN_CARDINALITY
from tapeflow.data.files import CsvDatasetV2 as CsvDataset
from tapeflow.data.functions import debugging
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
from tapeflow.data.readers import make_batched_features_dataset, make_csv_dataset
from tapeflow.lookup.from_dataset import index_table_from_dataset, table_from_dataset
from tapeflow.lookup.initializers import DatasetInitializer
from tapeflow.optional import Optional

SHARD_HINT = -1
Transformation = Callable[[Dataset], Dataset]


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """Numbers from `start` on, without an end; the older name of `Dataset.counter`."""
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


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements a dataset has; the older name of `Dataset.cardinality`."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset; the older name of `Dataset.get_single_element`."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator, or nothing; the older name of `Iterator.get_next_as_optional`."""
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The spec of the elements of a dataset or iterator.

    Raises:
        TypeError: it is neither.
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator object, "
            f"but got {type(dataset_or_iterator)}."
        ) from None


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def enable_debug_mode() -> None:
    """Has the functions of datasets made from now on run eagerly for each element, so that one can step through them.

    Raises:
        ValueError: a graph is being built.
    """
    if state.graph is not None:
        raise ValueError("The debug mode can only be enabled in eager mode.")
    if not debugging:
        debugging.append(True)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None, window_size_func: Any = None
) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """For `Dataset.apply`: the older name of `Dataset.unique`."""
    return lambda dataset: dataset.unique()


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """For `Dataset.apply`: `Dataset.shuffle`, then `Dataset.repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Dataset:
    """The older name of `Dataset.choose_from_datasets`, which goes on when a dataset has ended."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)
