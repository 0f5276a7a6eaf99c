"""The ops of pipelines: each builds the dataset of a variant from the datasets of its inputs.

Elements are flat: the functions take and return all tensors of an element, whatever its structure is. The kernels take
datasets, iterators, functions and Python numbers in the places of their handles and tensors.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow.core import errors
from tapeflow.core.ops import bare, op_def
from tapeflow.core.ops.shape_rules import no_results, scalar, unknown
from tapeflow.core.types.dtypes import FROM_TORCH, resource, string, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.held import boxed
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.data import structure
from tapeflow.data.dataset import Dataset
from tapeflow.data.iterators import OwnedIterator
from tapeflow.data.nodes import Node
from tapeflow.data.shuffling import RandomDatasetV2, ShuffleDataset
from tapeflow.data.structure import Element
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.graph.ir.session_resources import held_here

Kernel = Callable[..., Any]


# ---- arguments and results -------------------------------------------------------------------------------------------


class _Flat(Node):
    """A dataset whose elements are plain tuples of tensors."""

    _same_size = True

    def __init__(self, source: Dataset) -> None:
        super().__init__(tuple(structure.flatten(source.element_spec)), source)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return inputs[0]


def _plain(value: Any) -> Any:
    """Returns a raw value of numbers or strings as a Python value; strings as text."""
    items = value.tolist()
    if isinstance(value, np.ndarray):
        return [_text(v) for v in items] if isinstance(items, list) else _text(items)
    return items


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _tensor(value: Any) -> Any:
    """Converts a raw value to a tensor; returns a variable unchanged."""
    if hasattr(value, "_read"):
        return value
    return EagerTensor(value, string if isinstance(value, np.ndarray) else FROM_TORCH[value.dtype])


def _called(function: Any, others: Sequence[Any]) -> Kernel:
    """Returns a concrete function as a function of flat elements that adds the other arguments to their tensors."""

    def call(*element: Any) -> tuple[Any, ...]:
        tensors = [t._variant_tensor if isinstance(t, Dataset) else tf.convert_to_tensor(t) for t in element]
        args = [*tensors, *others]
        rest = [] if len(args) == len(function.body.inputs) else function.captured_inputs
        return tuple(function.body.call([*args, *rest]))

    return call


def _argument(definition: Any, value: Any) -> Any:
    """Returns an input as kernels here take it."""
    if definition.is_list and definition.type is variant:
        return [_Flat(v[()]) for v in value]
    if definition.is_list:
        return [_tensor(v) if definition.type is None else _plain(v) for v in value]
    if definition.type is variant:
        return _Flat(value[()]) if isinstance(value[()], Dataset) else value[()]
    if definition.type is resource:
        return value[()]
    return _tensor(value) if definition.type is None else _plain(value)


def _kernel(*names: str, shape: Kernel = scalar) -> Callable[[Kernel], Kernel]:
    """Decorates the kernel of ops: it takes the parameters that it names, and returns a dataset or raw values."""

    def decorate(function: Kernel) -> Kernel:
        code: Any = function.__code__
        accepted = code.co_varnames[: code.co_argcount]
        for name in names:
            inputs = {a.name: a for a in op_def.get(name).inputs}
            parameters = bare.parameters(name)

            def run(*values: Any, inputs: Any = inputs, parameters: Any = parameters) -> Any:
                by_name = dict(zip(parameters, values, strict=True))
                with executing_eagerly():
                    named = {n: _argument(inputs[n], by_name[n]) if n in inputs else by_name[n] for n in accepted
                             if n in by_name}  # fmt: skip
                    result = function(**named)
                return boxed(result) if isinstance(result, Dataset) else result

            bare.define(name, run, shape)
        return function

    return decorate


def _of_tensors(dataset: Dataset) -> Dataset:
    """Turns a dataset of tuples of one tensor into a dataset of tensors."""
    return dataset.map(lambda tensor: tensor)


# ---- sources ---------------------------------------------------------------------------------------------------------


@_kernel("TensorDataset")
def _tensors(components: Any) -> Dataset:
    return Dataset.from_tensors(tuple(components))


@_kernel("TensorSliceDataset")
def _slices(components: Any) -> Dataset:
    return Dataset.from_tensor_slices(tuple(components))


@_kernel("SparseTensorSliceDataset")
def _sparse_slices(indices: Any, values: Any, dense_shape: Any) -> Dataset:
    sparse = tf.SparseTensor(tf.constant(indices, tf.int64), values, tf.constant(dense_shape, tf.int64))
    return Dataset.from_tensor_slices(sparse).map(lambda s: (s.indices, s.values, s.dense_shape))


@_kernel("RangeDataset")
def _range(start: int, stop: int, step: int, output_types: Any) -> Dataset:
    return Dataset.range(start, stop, step, output_type=output_types[0])


def _seeded(dataset: Any, seed: int, seed2: int, renew: bool) -> Any:
    """Returns a shuffled or random dataset with both of its seeds."""
    if (seed, seed2) != (0, 0):
        dataset._seeds.base = seed, seed2
    dataset._seeds.renew = renew
    return dataset


@_kernel("RandomDataset")
def _random(seed: int, seed2: int) -> Dataset:
    return _seeded(RandomDatasetV2(), seed, seed2, False)


@_kernel("RandomDatasetV2")
def _random_v2(seed: int, seed2: int, rerandomize_each_iteration: bool) -> Dataset:
    return _seeded(RandomDatasetV2(), seed, seed2, bool(rerandomize_each_iteration))


@_kernel("TextLineDataset")
def _lines(filenames: Any, compression_type: str, buffer_size: int) -> Dataset:
    return tf.data.TextLineDataset(filenames, compression_type)


@_kernel("TFRecordDataset", "TFRecordDatasetV2")
def _records(filenames: Any, compression_type: str, buffer_size: int) -> Dataset:
    return tf.data.TFRecordDataset(filenames, compression_type)


@_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def _fixed(
    filenames: Any, header_bytes: int, record_bytes: int, footer_bytes: int, compression_type: str = ""
) -> Dataset:
    return tf.data.FixedLengthRecordDataset(
        filenames, record_bytes, header_bytes, footer_bytes, compression_type=compression_type
    )


@_kernel("CSVDataset", "CSVDatasetV2")
def _csv(
    filenames: Any, compression_type: str, header: bool, field_delim: str, use_quote_delim: bool, na_value: str,
    select_cols: Any, record_defaults: Any, exclude_cols: Any = None,
) -> Dataset:  # fmt: skip
    defaults = [d if tf.size(d) else d.dtype for d in record_defaults]
    return tf.data.experimental.CsvDataset(
        filenames, defaults, compression_type or None, None, header, field_delim, use_quote_delim, na_value,
        select_cols or None, exclude_cols or None,
    )  # fmt: skip


@_kernel("SqlDataset")
def _sql(driver_name: str, data_source_name: str, query: str, output_types: Any) -> Dataset:
    return tf.data.experimental.SqlDataset(driver_name, data_source_name, query, tuple(output_types))


@_kernel("MatchingFilesDataset")
def _matching(patterns: Any) -> Dataset:
    return Dataset.list_files(patterns, shuffle=False)


@_kernel("ListDataset")
def _list(tensors: Any, output_types: Any) -> Dataset:
    width = len(output_types)
    rows = [tuple(tensors[i : i + width]) for i in range(0, len(tensors), width)]
    return tf.data.experimental.from_list(rows)


@_kernel("GeneratorDataset")
def _generator(
    init_func_other_args: Any, next_func_other_args: Any, finalize_func_other_args: Any, init_func: Any, next_func: Any,
    finalize_func: Any, output_types: Any, output_shapes: Any,
) -> Dataset:  # fmt: skip
    def elements() -> Iterator[Any]:
        memory = _called(init_func, init_func_other_args)()
        try:
            while True:
                yield _called(next_func, next_func_other_args)(*memory)
        except errors.OutOfRangeError:
            _called(finalize_func, finalize_func_other_args)(*memory)

    return Dataset.from_generator(elements, output_signature=tuple(map(TensorSpec, output_shapes, output_types)))


@_kernel("LoadDataset")
def _load(path: str, compression: str, reader_func: Any, reader_func_other_args: Any) -> Dataset:
    return Dataset.load(path, compression=compression or None)


# ---- several datasets ------------------------------------------------------------------------------------------------


@_kernel("ZipDataset")
def _zip(input_datasets: Any) -> Dataset:
    return Dataset.zip(tuple(input_datasets))


@_kernel("ConcatenateDataset")
def _concatenate(input_dataset: Any, another_dataset: Any) -> Dataset:
    return input_dataset.concatenate(another_dataset)


@_kernel("DirectedInterleaveDataset")
def _directed(selector_input_dataset: Any, data_input_datasets: Any, stop_on_empty_dataset: bool) -> Dataset:
    selector = _of_tensors(selector_input_dataset)
    return Dataset.choose_from_datasets(data_input_datasets, selector, bool(stop_on_empty_dataset))


@_kernel("ChooseFastestDataset")
def _fastest(input_datasets: Any) -> Dataset:
    return input_datasets[0]


# ---- choosing and ordering -------------------------------------------------------------------------------------------


@_kernel("TakeDataset")
def _take(input_dataset: Any, count: int) -> Dataset:
    return input_dataset.take(count)


@_kernel("SkipDataset")
def _skip(input_dataset: Any, count: int) -> Dataset:
    return input_dataset.skip(count)


@_kernel("RepeatDataset")
def _repeat(input_dataset: Any, count: int) -> Dataset:
    return input_dataset.repeat(count)


@_kernel("ShardDataset")
def _shard(input_dataset: Any, num_shards: int, index: int) -> Dataset:
    return input_dataset.shard(num_shards, index)


@_kernel("CacheDataset", "CacheDatasetV2")
def _cache(input_dataset: Any, filename: str) -> Dataset:
    return input_dataset.cache(filename)


def _shuffled(source: Any, buffer_size: int, seed: int, seed2: int, renew: bool) -> Dataset:
    return _seeded(ShuffleDataset(source, buffer_size, None, renew), seed, seed2, renew)


@_kernel("ShuffleDataset", "ShuffleDatasetV3")
def _shuffle(input_dataset: Any, buffer_size: int, seed: int, seed2: int, reshuffle_each_iteration: Any) -> Dataset:
    return _shuffled(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration is not False)


@_kernel("ShuffleDatasetV2")
def _shuffle_v2(input_dataset: Any, buffer_size: int, seed_generator: Any) -> Dataset:
    return _shuffled(input_dataset, buffer_size, *seed_generator)


@_kernel("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2")
def _shuffle_and_repeat(
    input_dataset: Any, buffer_size: int, seed: int, seed2: int, count: int, reshuffle_each_iteration: Any
) -> Dataset:
    renew = reshuffle_each_iteration is not False
    return _shuffled(input_dataset, buffer_size, seed, seed2, renew).repeat(count)


@_kernel("UniqueDataset")
def _unique(input_dataset: Any) -> Dataset:
    return input_dataset.unique()


@_kernel("SamplingDataset")
def _sampling(input_dataset: Any, rate: float, seed: int, seed2: int) -> Dataset:
    generator = tf.random.Generator
    draw = generator.from_seed(seed ^ seed2) if seed or seed2 else generator.from_non_deterministic_state()
    return input_dataset.filter(lambda *_: draw.uniform([]) < rate)


@_kernel("IgnoreErrorsDataset")
def _ignore_errors(input_dataset: Any, log_warning: bool) -> Dataset:
    return input_dataset.ignore_errors(bool(log_warning))


@_kernel("AssertCardinalityDataset")
def _assert_cardinality(input_dataset: Any, cardinality: int) -> Dataset:
    return input_dataset.apply(tf.data.experimental.assert_cardinality(cardinality))


# What steers only how TensorFlow's runtime computes the elements.
@_kernel(
    "AssertNextDataset", "AssertPrevDataset", "AutoShardDataset", "BytesProducedStatsDataset", "FinalizeDataset",
    "LatencyStatsDataset", "MaxIntraOpParallelismDataset", "ModelDataset", "NonSerializableDataset", "OptimizeDataset",
    "OptimizeDatasetV2", "OptionsDataset", "PrivateThreadPoolDataset", "RewriteDataset", "SetStatsAggregatorDataset",
    "SleepDataset", "ThreadPoolDataset",
)  # fmt: skip
def _as_it_is(input_dataset: Any) -> Dataset:
    return input_dataset


@_kernel("PrefetchDataset")
def _prefetch(input_dataset: Any, buffer_size: int) -> Dataset:
    return input_dataset.prefetch(buffer_size)


# ---- batches ---------------------------------------------------------------------------------------------------------


@_kernel("BatchDataset", "BatchDatasetV2", "ParallelBatchDataset")
def _batch(input_dataset: Any, batch_size: int, drop_remainder: bool = False) -> Dataset:
    return input_dataset.batch(batch_size, drop_remainder)


@_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def _padded(
    input_dataset: Any, batch_size: int, padded_shapes: Any, padding_values: Any, drop_remainder: bool = False
) -> Dataset:
    return input_dataset.padded_batch(batch_size, tuple(padded_shapes), tuple(padding_values), drop_remainder)


@_kernel("DenseToSparseBatchDataset")
def _sparse_batch(input_dataset: Any, batch_size: int, row_shape: Any) -> Dataset:
    return _of_tensors(input_dataset).apply(tf.data.experimental.dense_to_sparse_batch(batch_size, row_shape))


@_kernel("RebatchDatasetV2")
def _rebatch(input_dataset: Any, batch_sizes: Any, drop_remainder: bool) -> Dataset:
    return input_dataset.rebatch(batch_sizes, drop_remainder)


@_kernel("UnbatchDataset")
def _unbatch(input_dataset: Any) -> Dataset:
    return input_dataset.unbatch()


@_kernel("WindowDataset")
def _window(input_dataset: Any, size: int, shift: int, stride: int, drop_remainder: bool) -> Dataset:
    return input_dataset.window(size, shift, stride, drop_remainder)


@_kernel("SlidingWindowDataset")
def _sliding(
    input_dataset: Any, window_size: int, window_shift: int, window_stride: int, drop_remainder: Any
) -> Dataset:
    windows = input_dataset.window(window_size, window_shift, window_stride, drop_remainder is not False)
    return windows.flat_map(lambda *parts: Dataset.zip(tuple(p.batch(window_size) for p in parts)))


# ---- functions -------------------------------------------------------------------------------------------------------


@_kernel("MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2")
def _map(input_dataset: Any, other_arguments: Any, f: Any) -> Dataset:
    return input_dataset.map(_called(f, other_arguments))


@_kernel("MapAndBatchDataset")
def _map_and_batch(input_dataset: Any, other_arguments: Any, batch_size: int, drop_remainder: bool, f: Any) -> Dataset:
    return input_dataset.map(_called(f, other_arguments)).batch(batch_size, drop_remainder)


@_kernel("FilterDataset", "ParallelFilterDataset")
def _filter(input_dataset: Any, other_arguments: Any, predicate: Any) -> Dataset:
    return input_dataset.filter(lambda *element: _called(predicate, other_arguments)(*element)[0])


@_kernel("TakeWhileDataset")
def _take_while(input_dataset: Any, other_arguments: Any, predicate: Any) -> Dataset:
    return input_dataset.take_while(lambda *element: _called(predicate, other_arguments)(*element)[0])


def _datasets_of(f: Any, others: Any, output_types: Any, output_shapes: Any) -> Kernel:
    """Returns a function from flat elements to the dataset of the variant that a concrete function returns."""
    specs = tuple(map(TensorSpec, output_shapes, output_types))
    return lambda *element: tf.data.experimental.from_variant(_called(f, others)(*element)[0], specs)


@_kernel("FlatMapDataset")
def _flat_map(input_dataset: Any, other_arguments: Any, f: Any, output_types: Any, output_shapes: Any) -> Dataset:
    return input_dataset.flat_map(_datasets_of(f, other_arguments, output_types, output_shapes))


@_kernel(
    "InterleaveDataset", "LegacyParallelInterleaveDatasetV2", "ParallelInterleaveDataset",
    "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4",
)  # fmt: skip
def _interleave(
    input_dataset: Any, other_arguments: Any, cycle_length: int, block_length: int, f: Any, output_types: Any,
    output_shapes: Any,
) -> Dataset:  # fmt: skip
    datasets = _datasets_of(f, other_arguments, output_types, output_shapes)
    return input_dataset.interleave(datasets, cycle_length if cycle_length > 0 else None, block_length)


@_kernel("ScanDataset")
def _scan(input_dataset: Any, initial_state: Any, other_arguments: Any, f: Any) -> Dataset:
    count = len(initial_state)

    def step(state: Any, *element: Any) -> Any:
        parts = element[0] if len(element) == 1 and isinstance(element[0], tuple) else element
        results = _called(f, other_arguments)(*state, *parts)
        return results[:count], results[count:]

    return input_dataset.scan(tuple(initial_state), step)


@_kernel("GroupByWindowDataset")
def _group_by_window(
    input_dataset: Any, key_func_other_arguments: Any, reduce_func_other_arguments: Any,
    window_size_func_other_arguments: Any, key_func: Any, reduce_func: Any, window_size_func: Any, output_types: Any,
    output_shapes: Any,
) -> Dataset:  # fmt: skip
    datasets = _datasets_of(reduce_func, reduce_func_other_arguments, output_types, output_shapes)
    return input_dataset.group_by_window(
        lambda *element: _called(key_func, key_func_other_arguments)(*element)[0],
        lambda key, window: datasets(key, tf.data.experimental.to_variant(window)),
        None,
        lambda key: _called(window_size_func, window_size_func_other_arguments)(key)[0],
    )


@_kernel("GroupByReducerDataset")
def _group_by_reducer(
    input_dataset: Any, key_func_other_arguments: Any, init_func_other_arguments: Any,
    reduce_func_other_arguments: Any, finalize_func_other_arguments: Any, key_func: Any, init_func: Any,
    reduce_func: Any, finalize_func: Any,
) -> Dataset:  # fmt: skip
    reducer = tf.data.experimental.Reducer(
        lambda key: _called(init_func, init_func_other_arguments)(key),
        lambda state, element: _called(reduce_func, reduce_func_other_arguments)(*state, *nest.flatten(element)),
        lambda *state: _called(finalize_func, finalize_func_other_arguments)(*nest.flatten(state)),
    )
    key = lambda *element: _called(key_func, key_func_other_arguments)(*nest.flatten(element))[0]  # noqa: E731
    return input_dataset.apply(tf.data.experimental.group_by_reducer(key, reducer))


@_kernel("ParseExampleDataset", "ParseExampleDatasetV2")
def _parse(
    input_dataset: Any, dense_defaults: Any, sparse_keys: Any, dense_keys: Any, sparse_types: Any, dense_shapes: Any,
    ragged_keys: Any, ragged_value_types: Any, ragged_split_types: Any,
) -> Dataset:  # fmt: skip
    def parse(serialized: Any) -> tuple[Any, ...]:
        parsed = tf.raw_ops.ParseExampleV2(
            serialized=serialized, names=tf.constant([], string), sparse_keys=tf.constant(list(sparse_keys), string),
            dense_keys=tf.constant(list(dense_keys), string), ragged_keys=tf.constant(list(ragged_keys or ()), string),
            dense_defaults=dense_defaults, num_sparse=len(sparse_types), sparse_types=list(sparse_types),
            ragged_value_types=list(ragged_value_types or ()), ragged_split_types=list(ragged_split_types or ()),
            dense_shapes=list(dense_shapes),
        )  # fmt: skip
        sparse = zip(parsed.sparse_indices, parsed.sparse_values, parsed.sparse_shapes, strict=True)
        ragged = zip(parsed.ragged_values, parsed.ragged_row_splits, strict=True)
        values = dict(zip(dense_keys, parsed.dense_values, strict=True))
        values |= {k: tf.SparseTensor(*parts) for k, parts in zip(sparse_keys, sparse, strict=True)}
        values |= {k: tf.RaggedTensor.from_row_splits(*r) for k, r in zip(ragged_keys or (), ragged, strict=True)}
        return tuple([values[key] for key in sorted(values)])

    return input_dataset.map(parse)


# ---- results ---------------------------------------------------------------------------------------------------------


def _raw(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([v.value for v in values])


@_kernel("ReduceDataset", shape=unknown)
def _reduce(input_dataset: Any, initial_state: Any, other_arguments: Any, f: Any) -> Any:
    def step(state: Any, element: Any) -> Any:
        return _called(f, other_arguments)(*state, *element)

    return _raw(input_dataset.reduce(tuple(initial_state), step))


@_kernel("DatasetCardinality")
def _cardinality(input_dataset: Any) -> Any:
    return input_dataset.cardinality().value


@_kernel("DatasetToSingleElement", shape=unknown)
def _single(dataset: Any) -> Any:
    return _raw(nest.flatten(dataset.get_single_element()))


@_kernel("GetElementAtIndex", shape=unknown)
def _at(dataset: Any, index: int) -> Any:
    return _raw(nest.flatten(tf.data.experimental.at(dataset, index)))


@_kernel("DatasetFingerprint")
def _fingerprint(input_dataset: Any) -> Any:
    return input_dataset.fingerprint().value


@_kernel("DatasetToTFRecord", shape=no_results)
def _to_records(input_dataset: Any, filename: str, compression_type: str) -> None:
    tf.data.experimental.TFRecordWriter(filename, compression_type or None).write(_of_tensors(input_dataset))


@_kernel("SaveDataset", shape=no_results)
def _save(input_dataset: Any, path: str, compression: str) -> None:
    os.makedirs(path, exist_ok=True)
    input_dataset.save(path, compression=compression or None)


@_kernel("WrapDatasetVariant", "UnwrapDatasetVariant")
def _wrapped(input_handle: Any) -> Any:
    return input_handle


# ---- iterators -------------------------------------------------------------------------------------------------------


class _Slot:
    """An iterator's place, which is empty until `MakeIterator` fills it."""

    def __init__(self) -> None:
        self.iterator: OwnedIterator | None = None

    def get_next(self) -> Any:
        """Returns the next element of the iterator."""
        return _iterator(self).get_next()

    def get_next_as_optional(self) -> Any:
        """Returns the next element of the iterator, if there is one, as an optional."""
        return _iterator(self).get_next_as_optional()


# Iterators and their places by their string handles, as long as something else holds them.
_by_string: weakref.WeakValueDictionary[str, _Slot | OwnedIterator] = weakref.WeakValueDictionary()


def _iterator(slot: Any) -> OwnedIterator:
    """Returns the iterator of a handle."""
    if isinstance(slot, OwnedIterator):
        return slot
    if slot.iterator is None:
        raise errors.FailedPreconditionError.of(
            "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer "
            "operation for this iterator before getting the next element."
        )
    return slot.iterator


@_kernel("AnonymousIterator", "AnonymousIteratorV3")
def _anonymous() -> Any:
    return boxed(_Slot())


@_kernel("Iterator", "IteratorV2")
def _shared(shared_name: str, container: str) -> Any:
    return boxed(held_here(("Iterator", container, shared_name), _Slot) if shared_name else _Slot())


@_kernel("AnonymousIteratorV2", shape=lambda *_: [[], []])
def _anonymous_v2() -> Any:
    return boxed(_Slot()), boxed(None)


@_kernel("MakeIterator", shape=no_results)
def _make(dataset: Any, iterator: Any) -> None:
    iterator.iterator = OwnedIterator(dataset)


@_kernel("OneShotIterator")
def _one_shot(dataset_factory: Any) -> Any:
    return boxed(OwnedIterator(_called(dataset_factory, ())()[0].value[()]))


@_kernel("DeleteIterator", "DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator", shape=no_results)
def _delete() -> None:
    pass


def _get_next(handle: Any, *_: Any) -> Any:
    with executing_eagerly():
        return _raw(nest.flatten(_iterator(handle[()]).get_next(), expand_composites=True))


for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    bare.define(_name, _get_next)


@_kernel("IteratorGetNextAsOptional")
def _next_as_optional(iterator: Any) -> Any:
    optional = _iterator(iterator).get_next_as_optional()
    if not optional.has_value():
        return boxed(())
    return boxed(_raw(nest.flatten(optional.get_value(), expand_composites=True)))


@_kernel("IteratorToStringHandle")
def _to_string(resource_handle: Any) -> Any:
    name = f"iterator_{id(resource_handle)}"
    _by_string[name] = resource_handle
    return boxed(name.encode())


@_kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2")
def _from_string(string_handle: str) -> Any:
    iterator = _by_string.get(string_handle)
    if iterator is None:
        raise errors.NotFoundError.of(f"No iterator has the handle {string_handle!r}")
    return boxed(iterator)


@_kernel("IteratorGetDevice")
def _device(resource: Any) -> Any:
    return boxed(b"/job:localhost/replica:0/task:0/device:CPU:0")


@_kernel("SerializeIterator")
def _serialize(resource_handle: Any) -> Any:
    return boxed(_iterator(resource_handle).position())


@_kernel("DeserializeIterator", shape=no_results)
def _deserialize(resource_handle: Any, serialized: Any) -> None:
    _iterator(resource_handle).go_to(serialized)


# ---- seeds, caches and pools -----------------------------------------------------------------------------------------


@_kernel("AnonymousSeedGenerator", shape=lambda *_: [[], []])
def _seed_generator(seed: int, seed2: int, reshuffle: bool) -> Any:
    return boxed((seed, seed2, reshuffle)), boxed(None)


@_kernel("AnonymousRandomSeedGenerator", shape=lambda *_: [[], []])
def _random_seed_generator(seed: int, seed2: int) -> Any:
    return boxed((seed, seed2, True)), boxed(None)


@_kernel("DummySeedGenerator")
def _no_seeds() -> Any:
    return boxed((0, 0, True))


@_kernel("AnonymousMemoryCache", shape=lambda *_: [[], []])
def _memory_cache() -> Any:
    return boxed(None), boxed(None)


@_kernel("DummyMemoryCache", "DummyIterationCounter", "ThreadPoolHandle", "StatsAggregatorHandle",
         "StatsAggregatorHandleV2")  # fmt: skip
def _empty_handle() -> Any:
    return boxed(None)


@_kernel("StatsAggregatorSetSummaryWriter", shape=no_results)
def _no_writer() -> None:
    pass


@_kernel("StatsAggregatorSummary")
def _no_statistics() -> Any:
    return boxed(b"")


@_kernel("InitializeTableFromDataset", shape=no_results)
def _fill_table(table_handle: Any, dataset: Any) -> None:
    for key, value in dataset:
        table_handle.storage.fill(tf.reshape(key, [1]), tf.reshape(value, [1]))
