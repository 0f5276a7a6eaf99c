"""Tokenizers by spaces and scripts. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from tapeflow import text
from traced_calls import check_row

C = tf.ragged.constant
W = tf.constant(["The greatest bat!", "", "東京 café's  gr", "\t ### b\u0301 \x00x", "UNWANTÉD,running"])

ROWS = read_rows(r"""
text.WhitespaceTokenizer().tokenize(W)
    string (5, None) [[b'The', b'greatest', b'bat!'], [], [b'\xe6\x9d\xb1\xe4\xba\xac', b"caf\xc3\xa9's", b'gr'],
    [b'###', b'b\xcc\x81', b'\x00x'], [b'UNWANT\xc3\x89D,running']]
text.WhitespaceTokenizer().tokenize_with_offsets([" a  b ", "", "\u3000x\u2003y"])
    (string (3, None) [[b'a', b'b'], [], [b'x\xe2\x80', b'y']]; int32 (3, None) [[1, 4], [], [3, 7]]; int32 (3,
    None) [[2, 5], [], [6, 8]])
text.WhitespaceTokenizer().tokenize("a b")
    string [2] [b'a', b'b']
text.WhitespaceTokenizer().tokenize(C([["a b"], ["c", " d"]]))
    string (2, None, None) [[[b'a', b'b']], [[b'c'], [b'd']]]
text.WhitespaceTokenizer().split(["a b"])
    string (1, None) [[b'a', b'b']]
text.UnicodeScriptTokenizer().tokenize(W)
    string (5, None) [[b'The', b'greatest', b'bat', b'!'], [], [b'\xe6\x9d\xb1\xe4\xba\xac', b'caf\xc3\xa9', b"'",
    b's', b'gr'], [b'###', b'b', b'\xcc\x81', b'\x00', b'x'], [b'UNWANT\xc3\x89D', b',', b'running']]
text.UnicodeScriptTokenizer().tokenize_with_offsets(["ab,cd 東京x", "\u0435\u0301 k"])
    (string (2, None) [[b'ab', b',', b'cd', b'\xe6\x9d\xb1\xe4\xba\xac', b'x'], [b'\xd0\xb5', b'\xcc\x81', b'k']];
    int64 (2, None) [[0, 2, 3, 6, 12], [0, 2, 5]]; int64 (2, None) [[2, 3, 5, 12, 13], [2, 4, 6]])
text.UnicodeScriptTokenizer(keep_whitespace=True).tokenize(["ab,cd 東京x", " y "])
    string (2, None) [[b'ab', b',', b'cd', b' ', b'\xe6\x9d\xb1\xe4\xba\xac', b'x'], [b' ', b'y', b' ']]
text.UnicodeScriptTokenizer(keep_whitespace=True).tokenize_with_offsets([" a\t b"])
    (string (1, None) [[b' ', b'a', b'\t ', b'b']]; int64 (1, None) [[0, 1, 2, 4]]; int64 (1, None) [[1, 2, 4, 5]])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, {**globals(), "text": text})
