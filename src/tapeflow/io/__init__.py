"""The public `tf.io` namespace: files, and the encodings of their contents."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.image.files import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from tapeflow.io import gfile, parse_ops
from tapeflow.io.csv import decode_csv
from tapeflow.io.encodings import decode_base64, decode_raw, encode_base64, parse_tensor, serialize_tensor
from tapeflow.io.example_parser import (
    decode_json_example,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from tapeflow.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from tapeflow.io.files import match_filenames_once, matching_files, read_file, write_file
from tapeflow.io.graphs import write_graph
from tapeflow.io.protos import decode_proto, encode_proto
from tapeflow.io.records import TFRecordOptions, TFRecordWriter, decode_compressed
from tapeflow.io.sparse import deserialize_many_sparse, serialize_many_sparse, serialize_sparse

_publish(globals(), "gfile")
