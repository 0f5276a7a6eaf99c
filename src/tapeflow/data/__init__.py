"""The public `tf.data` namespace: input pipelines."""

from tapeflow.data.dataset import INFINITE as INFINITE_CARDINALITY
from tapeflow.data.dataset import UNKNOWN as UNKNOWN_CARDINALITY
from tapeflow.data.dataset import Dataset  # before all others: nodes derive from `Dataset`

# isort: split

from tapeflow.data import (
    access,
    experimental,
    generators,
    graph_defs,
    graph_iterators,
    grouping,
    nodes,
    op_kernels,
    sampling,
    saving,
    shuffling,
    tensorflow_positions,
)
from tapeflow.data.files import FixedLengthRecordDatasetV2 as FixedLengthRecordDataset
from tapeflow.data.files import TextLineDatasetV2 as TextLineDataset
from tapeflow.data.files import TFRecordDatasetV2 as TFRecordDataset
from tapeflow.data.iterators import Iterator, NumpyIterator
from tapeflow.data.options import Options, ThreadingOptions
from tapeflow.data.spec import DatasetSpec, IteratorSpec
from tapeflow.data.threads import AUTOTUNE

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec", "FixedLengthRecordDataset",
    "Iterator", "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
    "experimental",
]  # fmt: skip
__dir__ = __all__.copy
