"""Parts between matches, bytes, and n-grams. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from tapeflow import text
from traced_calls import check_row

C = tf.ragged.constant

ROWS = read_rows(r"""
text.ByteSplitter().split(["aé", "", "xyz"])
    uint8 (3, None) [[97, 195, 169], [], [120, 121, 122]]
text.ByteSplitter().split_with_offsets(["aé", ""])
    (uint8 (2, None) [[97, 195, 169], []]; int32 (2, None) [[0, 1, 2], []]; int32 (2, None) [[1, 2, 3], []])
text.RegexSplitter("\\s").split(["a b  c", ""])
    string (2, None) [[b'a', b'b', b'c'], []]
text.RegexSplitter(",|;").split_with_offsets(["a,b;;c", ";"])
    (string (2, None) [[b'a', b'b', b'c'], []]; int64 (2, None) [[0, 2, 5], []]; int64 (2, None) [[1, 3, 6], []])
text.RegexSplitter().split(["a\nb\r\nc"])
    string (1, None) [[b'a', b'b', b'c']]
text.regex_split(["a1b22c", ""], "\\d")
    string (2, None) [[b'a', b'b', b'c'], []]
text.regex_split(["a1b22c", ""], "\\d+", "\\d+")
    string (2, None) [[b'a', b'1', b'b', b'22', b'c'], []]
text.regex_split_with_offsets(["a1b22c", "7"], "\\d", "2")
    (string (2, None) [[b'a', b'b', b'2', b'2', b'c'], []]; int64 (2, None) [[0, 2, 3, 4, 5], []]; int64 (2, None)
    [[1, 3, 4, 5, 6], []])
text.regex_split_with_offsets("hello there", "\\s", "")
    (string (1, None) [[b'hello', b'there']]; int64 (1, None) [[0, 6]]; int64 (1, None) [[5, 11]])
text.ngrams([["a", "b", "c"]], 2, reduction_type=text.Reduction.STRING_JOIN)
    string [1, 2] [[b'a b', b'b c']]
text.ngrams([[1.0, 2.0, 3.0]], 2, reduction_type=text.Reduction.SUM)
    float32 [1, 2] [[3, 5]]
text.ngrams([[1.0, 2.0, 3.0]], 2, reduction_type=text.Reduction.MEAN)
    float32 [1, 2] [[1.5, 2.5]]
text.ngrams(C([["a", "b", "c"], ["d"]]), 2, reduction_type=text.Reduction.STRING_JOIN, string_separator="-")
    string (2, None) [[b'a-b', b'b-c'], []]
text.sliding_window([1, 2, 3, 4], 3)
    int32 [2, 3] [[1, 2, 3], [2, 3, 4]]
text.sliding_window([[1, 2, 3], [4, 5, 6]], 2, 1)
    int32 [2, 2, 2] [[[1, 2], [2, 3]], [[4, 5], [5, 6]]]
text.sliding_window(C([[1, 2, 3], [4], [5, 6]]), 2, 1)
    int32 (3, None, 2) [[[1, 2], [2, 3]], [], [[5, 6]]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, {**globals(), "text": text})
