"""The public `tf.data.experimental` namespace."""

from tapeflow.control.optional import Optional
from tapeflow.core.public_names import publish as _publish
from tapeflow.data.experimental import service
from tapeflow.data.experimental.transformations import (
    SHARD_HINT,
    Counter,
    TFRecordWriter,
    assert_cardinality,
    at,
    bucket_by_sequence_length,
    cardinality,
    choose_from_datasets,
    copy_to_device,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    enable_debug_mode,
    enumerate_dataset,
    from_list,
    from_variant,
    get_next_as_optional,
    get_single_element,
    get_structure,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    load,
    map_and_batch,
    pad_to_cardinality,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    save,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    to_variant,
    unbatch,
    unique,
)
from tapeflow.data.files import CsvDatasetV2 as CsvDataset
from tapeflow.data.files import RandomDatasetV2 as RandomDataset
from tapeflow.data.files import SqlDatasetV2 as SqlDataset
from tapeflow.data.iterator_checkpoints import make_saveable_from_iterator
from tapeflow.data.node import INFINITE as INFINITE_CARDINALITY
from tapeflow.data.node import UNKNOWN as UNKNOWN_CARDINALITY
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
from tapeflow.data.threads import AUTOTUNE
from tapeflow.data.transformations.group_by_reducer import Reducer
from tapeflow.lookup.from_dataset import index_table_from_dataset, table_from_dataset
from tapeflow.lookup.initializers import DatasetInitializer

_publish(globals(), "service")
