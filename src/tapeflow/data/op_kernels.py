"""The kernels of ops on datasets that no class of nodes declares: results, and transformations of other APIs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops import raw_kernels
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.shape_rules import no_results
from tapeflow.core.types.dtypes import DType, int64, string
from tapeflow.core.values.boxed_objects import box_object, held_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid
from tapeflow.data.dataset import Dataset
from tapeflow.data.elements import Element
from tapeflow.data.experimental.transformations import TFRecordWriter
from tapeflow.data.node import Node, declared_shapes, op_kernel, structure_node
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.random.generator import Generator
from tapeflow.sparse.tensor import SparseTensor

if TYPE_CHECKING:
    from tapeflow.lookup.tables import StaticHashTable

# ---- sources ---------------------------------------------------------------------------------------------------------


@op_kernel("SparseTensorSliceDataset")
def _sparse_slices(indices: Any, values: Any, dense_shape: Any) -> Any:
    sparse = SparseTensor(convert(indices, int64), values, convert(dense_shape, int64))
    return Dataset.from_tensor_slices(sparse).map(lambda s: (s.indices, s.values, s.dense_shape))


# ---- elements --------------------------------------------------------------------------------------------------------


@op_kernel("AnonymousMemoryCache", shape=lambda *_: [[], []])
def _memory_cache() -> Any:
    return box_object(None), box_object(None)


@op_kernel(
    "DummyMemoryCache", "DummyIterationCounter", "ThreadPoolHandle", "StatsAggregatorHandle", "StatsAggregatorHandleV2"
)
def _empty_handle() -> Any:
    return box_object(None)


@op_kernel("ChooseFastestDataset")
def _fastest_dataset(input_datasets: Sequence[Node]) -> Any:
    if not input_datasets:
        raise invalid("Value for attr 'N' of 0 must be at least minimum 2")
    return held_object(input_datasets[0], Node, "dataset")


@op_kernel("SamplingDataset")
def _sampling_dataset(input_dataset: Node, rate: float, seed: int, seed2: int) -> Any:
    draw = Generator.from_seed(seed ^ seed2) if seed or seed2 else Generator.from_non_deterministic_state()
    return Dataset(input_dataset).filter(lambda *_: draw.uniform([]) < rate)


# What steers only how TensorFlow's runtime computes the elements.
@op_kernel(
    "AssertNextDataset", "AssertPrevDataset", "AutoShardDataset", "BytesProducedStatsDataset", "FinalizeDataset",
    "LatencyStatsDataset", "MaxIntraOpParallelismDataset", "ModelDataset", "NonSerializableDataset", "OptimizeDataset",
    "OptimizeDatasetV2", "PrivateThreadPoolDataset", "RewriteDataset", "SetStatsAggregatorDataset", "SleepDataset",
    "ThreadPoolDataset",
)  # fmt: skip
def _as_it_is(input_dataset: Node) -> Any:
    return held_object(input_dataset, Node, "dataset")


@op_kernel("SlidingWindowDataset")
def _sliding_window_dataset(
    input_dataset: Node, window_size: int, window_shift: int, window_stride: int, drop_remainder: bool
) -> Any:
    windows = Dataset(input_dataset).window(window_size, window_shift, window_stride, drop_remainder is not False)
    return windows.flat_map(lambda *parts: Dataset.zip(tuple(p.batch(window_size) for p in parts)))


@op_kernel("ParseExampleDataset", "ParseExampleDatasetV2")
def _parse_example_dataset(
    input_dataset: Node, dense_defaults: Sequence[Any], sparse_keys: Sequence[bytes], dense_keys: Sequence[bytes],
    sparse_types: Sequence[DType], dense_shapes: Sequence[Any], ragged_keys: Sequence[bytes],
    ragged_value_types: Sequence[DType], ragged_split_types: Sequence[DType],
) -> Any:  # fmt: skip
    keys = [convert(list(k or ()), string) for k in (sparse_keys, dense_keys, ragged_keys)]

    def parse(serialized: Any) -> tuple[Any, ...]:
        results = iter(
            ops.ParseExampleV2(
                serialized, convert([], string), *keys, dense_defaults, len(sparse_types), list(sparse_types),
                list(ragged_value_types or ()), list(ragged_split_types or ()), list(dense_shapes),
            )
        )  # fmt: skip

        def take(like: Any) -> list[Any]:
            return [next(results) for _ in like or ()]

        indices, values, shapes = take(sparse_keys), take(sparse_keys), take(sparse_keys)
        parsed = dict(zip(dense_keys, take(dense_keys), strict=True))
        parsed |= {k: SparseTensor(*p) for k, *p in zip(sparse_keys, indices, values, shapes, strict=True)}
        flat, splits = take(ragged_keys), take(ragged_keys)
        parsed |= {k: RaggedTensor.from_row_splits(*p) for k, *p in zip(ragged_keys or (), flat, splits, strict=True)}
        return tuple([parsed[key] for key in sorted(parsed)])

    return Dataset(input_dataset).map(parse)


# ---- results ---------------------------------------------------------------------------------------------------------


@op_kernel("DatasetCardinality")
def _dataset_cardinality(input_dataset: Node) -> Any:
    return torch.tensor(input_dataset.cardinality())


@op_kernel("DatasetToSingleElement", shape=declared_shapes)
def _single_element(dataset: Node) -> Element:
    return dataset.only_element()


@op_kernel("GetElementAtIndex", shape=declared_shapes)
def _element_at(dataset: Node, index: int) -> Element:
    return dataset.element_at(index)


@op_kernel("DatasetFingerprint")
def _dataset_fingerprint(input_dataset: Node) -> Any:
    return Dataset(input_dataset).fingerprint().value


@op_kernel("DatasetToTFRecord", shape=no_results)
def _to_records(input_dataset: Node, filename: bytes, compression_type: bytes) -> None:
    records = Dataset(structure_node(input_dataset, input_dataset.spec[0]))
    TFRecordWriter(filename.decode(), compression_type.decode() or None).write(records)


@op_kernel("SaveDataset", shape=no_results)
def _save_dataset(input_dataset: Any, path: bytes, compression: Any) -> None:
    Dataset(input_dataset).save(path.decode(), compression=compression or None)


@raw_kernels.kernel_of("WrapDatasetVariant", "UnwrapDatasetVariant")
def _wrap_dataset(input_handle: Any) -> Any:
    return input_handle


@op_kernel("StatsAggregatorSummary")
def _no_statistics() -> Any:
    return StringArray.scalar(b"")


@op_kernel("InitializeTableFromDataset", shape=no_results)
def _fill_table(table_handle: StaticHashTable, dataset: Node) -> None:
    whole = Dataset(dataset).batch(2**62).take(1)
    pairs = next(iter(whole), None)
    if pairs is None:
        raise OutOfRangeError.of("end of iterator: the dataset that fills a table has no elements")
    table_handle.storage.fill(*pairs)
