# Written by `scripts/record.py stubs`.
from typing import Any
from tapeflow.data.threads import AUTOTUNE as AUTOTUNE
from tapeflow.data.options import AutoShardPolicy as AutoShardPolicy
from tapeflow.data.options import AutotuneAlgorithm as AutotuneAlgorithm
from tapeflow.data.options import AutotuneOptions as AutotuneOptions
from tapeflow.data.experimental.transformations import Counter as Counter
from tapeflow.data.files import CsvDatasetV2 as _CsvDataset
CsvDataset = _CsvDataset
from tapeflow.lookup.initializers import DatasetInitializer as DatasetInitializer
from tapeflow.data.options import DistributeOptions as DistributeOptions
from tapeflow.data.options import ExternalStatePolicy as ExternalStatePolicy
from tapeflow.data.node import INFINITE as _INFINITE_CARDINALITY
INFINITE_CARDINALITY = _INFINITE_CARDINALITY
from tapeflow.data.options import OptimizationOptions as OptimizationOptions
from tapeflow.control.optional import Optional as Optional
from tapeflow.data.files import RandomDatasetV2 as _RandomDataset
RandomDataset = _RandomDataset
from tapeflow.data.transformations.group_by_reducer import Reducer as Reducer
from tapeflow.data.experimental.transformations import SHARD_HINT as SHARD_HINT
from tapeflow.data.options import ServiceOptions as ServiceOptions
from tapeflow.data.files import SqlDatasetV2 as _SqlDataset
SqlDataset = _SqlDataset
from tapeflow.data.experimental.transformations import TFRecordWriter as TFRecordWriter
from tapeflow.data.options import ThreadingOptions as ThreadingOptions
from tapeflow.data.node import UNKNOWN as _UNKNOWN_CARDINALITY
UNKNOWN_CARDINALITY = _UNKNOWN_CARDINALITY
from tapeflow.data.experimental.transformations import assert_cardinality as assert_cardinality
from tapeflow.data.experimental.transformations import at as at
from tapeflow.data.experimental.transformations import bucket_by_sequence_length as bucket_by_sequence_length
from tapeflow.data.experimental.transformations import cardinality as cardinality
from tapeflow.data.experimental.transformations import choose_from_datasets as choose_from_datasets
from tapeflow.data.experimental.transformations import copy_to_device as copy_to_device
from tapeflow.data.experimental.transformations import dense_to_ragged_batch as dense_to_ragged_batch
from tapeflow.data.experimental.transformations import dense_to_sparse_batch as dense_to_sparse_batch
distributed_save: Any
from tapeflow.data.experimental.transformations import enable_debug_mode as enable_debug_mode
from tapeflow.data.experimental.transformations import enumerate_dataset as enumerate_dataset
from tapeflow.data.experimental.transformations import from_list as from_list
from tapeflow.data.experimental.transformations import from_variant as from_variant
get_model_proto: Any
from tapeflow.data.experimental.transformations import get_next_as_optional as get_next_as_optional
from tapeflow.data.experimental.transformations import get_single_element as get_single_element
from tapeflow.data.experimental.transformations import get_structure as get_structure
from tapeflow.data.experimental.transformations import group_by_reducer as group_by_reducer
from tapeflow.data.experimental.transformations import group_by_window as group_by_window
from tapeflow.data.experimental.transformations import ignore_errors as ignore_errors
from tapeflow.lookup.from_dataset import index_table_from_dataset as index_table_from_dataset
from tapeflow.data.experimental.transformations import load as load
from tapeflow.data.readers import make_batched_features_dataset as make_batched_features_dataset
from tapeflow.data.readers import make_csv_dataset as make_csv_dataset
from tapeflow.data.iterator_checkpoints import make_saveable_from_iterator as make_saveable_from_iterator
from tapeflow.data.experimental.transformations import map_and_batch as map_and_batch
from tapeflow.data.experimental.transformations import pad_to_cardinality as pad_to_cardinality
from tapeflow.data.experimental.transformations import parallel_interleave as parallel_interleave
from tapeflow.data.experimental.transformations import parse_example_dataset as parse_example_dataset
from tapeflow.data.experimental.transformations import prefetch_to_device as prefetch_to_device
from tapeflow.data.experimental.transformations import rejection_resample as rejection_resample
from tapeflow.data.experimental.transformations import sample_from_datasets as sample_from_datasets
from tapeflow.data.experimental.transformations import save as save
from tapeflow.data.experimental.transformations import scan as scan
from tapeflow.data.experimental import service as service
from tapeflow.data.experimental.transformations import shuffle_and_repeat as shuffle_and_repeat
from tapeflow.data.experimental.transformations import snapshot as snapshot
from tapeflow.lookup.from_dataset import table_from_dataset as table_from_dataset
from tapeflow.data.experimental.transformations import take_while as take_while
from tapeflow.data.experimental.transformations import to_variant as to_variant
from tapeflow.data.experimental.transformations import unbatch as unbatch
from tapeflow.data.experimental.transformations import unique as unique
