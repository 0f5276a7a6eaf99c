"""The public `tf.data` namespace: input pipelines."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.data import experimental, iterator_kernels, op_kernels
from tapeflow.data.dataset import Dataset
from tapeflow.data.files import FixedLengthRecordDatasetV2 as FixedLengthRecordDataset
from tapeflow.data.files import TextLineDatasetV2 as TextLineDataset
from tapeflow.data.files import TFRecordDatasetV2 as TFRecordDataset
from tapeflow.data.iterators import Iterator, IteratorSpec, NumpyIterator
from tapeflow.data.node import INFINITE as INFINITE_CARDINALITY
from tapeflow.data.node import UNKNOWN as UNKNOWN_CARDINALITY
from tapeflow.data.options import Options, ThreadingOptions
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import AUTOTUNE

_publish(globals(), "experimental")
