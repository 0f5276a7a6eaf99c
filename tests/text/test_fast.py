"""Fast tokenizers, and the normalizer before them. The outcomes are those of TensorFlow 2.21."""

import functools

import pytest

import tapeflow as tf
from outcomes import read_rows
from tapeflow import text
from traced_calls import check_row

C = tf.ragged.constant
V = ["[UNK]", "great", "##est", "##er", "!", "the", "b", "##at", "東", "gr", "##e", "é", "caf", "##é", "'", "##s"]
W = tf.constant(["The greatest bat!", "", "東京 café's  gr", "\t ### b\u0301 \x00x", "UNWANTÉD,running"])


@functools.cache  # building a model takes longer than using it
def fast(**options):
    return text.FastWordpieceTokenizer(V, unknown_token="[UNK]", **options)


@functools.cache
def bert(**options):
    return text.FastBertNormalizer(**options)


ROWS = read_rows(r"""
fast().tokenize(["greatest", "greatgreat", "bat", "x", "", "great er !b"])
    int64 (6, None) [[1, 2], [0], [6, 7], [0], [], [1, 0, 4, 6]]
fast().tokenize("greatest the bat")
    int64 [5] [1, 2, 5, 6, 7]
fast(token_out_type=tf.string).tokenize(["greatest bats!", "東é café"])
    string (2, None) [[b'great', b'##est', b'b', b'##at', b'##s', b'!'], [b'\xe6\x9d\xb1', b'\xc3\xa9', b'caf',
    b'##\xc3\xa9']]
fast(token_out_type=tf.string).tokenize_with_offsets(["greatest bats!", "東é café", ""])
    (string (3, None) [[b'great', b'##est', b'b', b'##at', b'##s', b'!'], [b'\xe6\x9d\xb1', b'\xc3\xa9', b'caf',
    b'##\xc3\xa9'], []]; int64 (3, None) [[0, 5, 9, 10, 12, 13], [0, 3, 6, 9], []]; int64 (3, None) [[5, 8, 10, 12,
    13, 14], [3, 5, 9, 11], []])
fast(no_pretokenization=True, token_out_type=tf.string).tokenize(["greatest", "great est", "bat!", "zz", ""])
    string (5, None) [[b'great', b'##est'], [b'[UNK]'], [b'[UNK]'], [b'[UNK]'], []]
fast(no_pretokenization=True).tokenize_with_offsets(["greatest", "great est"])
    (int64 (2, None) [[1, 2], [0]]; int64 (2, None) [[0, 5], [0]]; int64 (2, None) [[5, 8], [9]])
fast(max_bytes_per_word=6, token_out_type=tf.string).tokenize(["greatest bat", "greate"])
    string (2, None) [[b'[UNK]', b'b', b'##at'], [b'great', b'##e']]
fast(suffix_indicator="##", token_out_type=tf.string).tokenize([["greatest"], ["bat"]])
    string (2, 1, None) [[[b'great', b'##est']], [[b'b', b'##at']]]
fast(token_out_type=tf.string).tokenize(C([["greatest", "b"], [], ["!"]]))
    string (3, None, None) [[[b'great', b'##est'], [b'b']], [], [[b'!']]]
fast().detokenize([1, 2, 4])
    FailedPreconditionError
fast().detokenize([[1, 2], [6, 7]])
    FailedPreconditionError
fast().detokenize(C([[1, 3, 5], [], [9, 10]]))
    FailedPreconditionError
fast(support_detokenization=False).tokenize("greatest")
    int64 [2] [1, 2]
fast(support_detokenization=False).detokenize([1])
    FailedPreconditionError
fast().detokenize([99])
    FailedPreconditionError
fast().tokenize(["the the the the"] * 3).shape
    TensorShape([3, None])
sized(lambda w: fast().tokenize(w), ["greatest", "b"])
    int64 (2, None) [[1, 2], [6]]
sized(lambda w: fast(token_out_type=tf.string).tokenize_with_offsets(w), ["greatest", "b"])
    (string (2, None) [[b'great', b'##est'], [b'b']]; int64 (2, None) [[0, 5], [0]]; int64 (2, None) [[5, 8], [1]])
bert(lower_case_nfd_strip_accents=True).normalize(W)
    string [5] [b'the greatest bat!', b'', b"\xe6\x9d\xb1\xe4\xba\xac cafe's gr", b' ### b x', b'unwanted,running']
bert(lower_case_nfd_strip_accents=False).normalize(W)
    string [5] [b'The greatest bat!', b'', b"\xe6\x9d\xb1\xe4\xba\xac caf\xc3\xa9's gr", b' ### b\xcc\x81 x',
    b'UNWANT\xc3\x89D,running']
bert(lower_case_nfd_strip_accents=True).normalize_with_offsets(W)
    (string [5] [b'the greatest bat!', b'', b"\xe6\x9d\xb1\xe4\xba\xac cafe's gr", b' ### b x',
    b'unwanted,running']; int64 (5, None) [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17], [0], [0,
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18], [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12], [0, 1, 2, 3,
    4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]])
bert(lower_case_nfd_strip_accents=False).normalize_with_offsets(["A\x00b\tÉ", "中文"])
    (string [2] [b'A b \xc3\x89', b'\xe4\xb8\xad\xe6\x96\x87']; int64 (2, None) [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3,
    4, 5, 6]])
bert(lower_case_nfd_strip_accents=True).normalize(C([["ÀÉ"], []], dtype=tf.string))
    string (2, None) [[b'ae'], []]
text.FastBertTokenizer(V, token_out_type=tf.string, lower_case_nfd_strip_accents=True).tokenize(W)
    string (5, None) [[b'the', b'great', b'##est', b'b', b'##at', b'!'], [], [b'\xe6\x9d\xb1', b'[UNK]', b'caf',
    b'##e', b"'", b'[UNK]', b'gr'], [b'[UNK]', b'[UNK]', b'[UNK]', b'b', b'[UNK]'], [b'[UNK]', b'[UNK]', b'[UNK]']]
text.FastBertTokenizer(V, token_out_type=tf.string).tokenize(W)
    string (5, None) [[b'[UNK]', b'great', b'##est', b'b', b'##at', b'!'], [], [b'\xe6\x9d\xb1', b'[UNK]', b'caf',
    b'##\xc3\xa9', b"'", b'[UNK]', b'gr'], [b'[UNK]', b'[UNK]', b'[UNK]', b'[UNK]', b'[UNK]'], [b'[UNK]', b'[UNK]',
    b'[UNK]']]
text.FastBertTokenizer(V, lower_case_nfd_strip_accents=True).tokenize_with_offsets(W)
    (int64 (5, None) [[5, 1, 2, 6, 7, 4], [], [8, 0, 12, 10, 14, 0, 9], [0, 0, 0, 6, 0], [0, 0, 0]]; int64 (5, None)
    [[0, 4, 9, 13, 14, 16], [], [0, 3, 7, 10, 12, 13, 16], [2, 3, 4, 6, 11], [0, 9, 10]]; int64 (5, None) [[3, 9,
    12, 14, 16, 17], [], [3, 6, 10, 12, 13, 14, 18], [3, 4, 5, 9, 12], [9, 10, 17]])
text.FastBertTokenizer(V).detokenize([[1, 2], [6, 7]])
    FailedPreconditionError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
