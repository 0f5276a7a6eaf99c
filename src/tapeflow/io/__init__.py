"""The public `tf.io` namespace: files, and the encodings of their contents."""

import typing as _typing

from tapeflow.core.unsupported import below as _below
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

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed", "decode_csv",
    "decode_gif", "decode_image", "decode_jpeg", "decode_json_example", "decode_jxl", "decode_png", "decode_proto",
    "decode_raw", "decode_webp", "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png",
    "encode_proto", "extract_jpeg_shape", "gfile", "is_jpeg", "match_filenames_once", "matching_files", "parse_example",
    "parse_sequence_example", "parse_single_example", "parse_single_sequence_example", "parse_tensor", "read_file",
    "serialize_many_sparse", "serialize_sparse", "serialize_tensor", "write_file", "write_graph",
]  # fmt: skip
__dir__ = __all__.copy


if not _typing.TYPE_CHECKING:
    __getattr__ = _below("io")
