"""The public `tf.io` namespace: files, and the encodings of what is in them."""

from tapeflow.io import gfile
from tapeflow.io.encoding import decode_base64, decode_raw, encode_base64, parse_tensor, serialize_tensor
from tapeflow.io.files import matching_files, read_file, write_file
