# Written by `scripts/record.py stubs`.
from tapeflow.data.threads import AUTOTUNE as AUTOTUNE
from tapeflow.data.dataset import Dataset as Dataset
from tapeflow.data.spec import DatasetSpec as DatasetSpec
from tapeflow.data.files import FixedLengthRecordDatasetV2 as _FixedLengthRecordDataset
FixedLengthRecordDataset = _FixedLengthRecordDataset
from tapeflow.data.node import INFINITE as _INFINITE_CARDINALITY
INFINITE_CARDINALITY = _INFINITE_CARDINALITY
from tapeflow.data.iterators import Iterator as Iterator
from tapeflow.data.iterators import IteratorSpec as IteratorSpec
from tapeflow.data.iterators import NumpyIterator as NumpyIterator
from tapeflow.data.options import Options as Options
from tapeflow.data.files import TFRecordDatasetV2 as _TFRecordDataset
TFRecordDataset = _TFRecordDataset
from tapeflow.data.files import TextLineDatasetV2 as _TextLineDataset
TextLineDataset = _TextLineDataset
from tapeflow.data.options import ThreadingOptions as ThreadingOptions
from tapeflow.data.node import UNKNOWN as _UNKNOWN_CARDINALITY
UNKNOWN_CARDINALITY = _UNKNOWN_CARDINALITY
from tapeflow.data import experimental as experimental
