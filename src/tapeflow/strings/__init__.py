"""The public `tf.strings` namespace: ops on tensors of `bytes`."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.strings.formatting import as_string, format, to_number
from tapeflow.strings.hash_buckets import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from tapeflow.strings.join_and_ngrams import join, ngrams, reduce_join, unsorted_segment_join
from tapeflow.strings.regex import regex_full_match, regex_replace
from tapeflow.strings.split_text import bytes_split, split
from tapeflow.strings.text import length, lower, strip, substr, upper
from tapeflow.strings.unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)

_publish(globals())
