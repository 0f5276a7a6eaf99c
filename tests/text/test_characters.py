"""Folded and normalized characters, and tokenizers by them. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from tapeflow import text
from traced_calls import check_row

W = tf.constant(["The greatest bat!", "", "東京 café's  gr", "\t ### b\u0301 \x00x", "UNWANTÉD,running"])

ROWS = read_rows(r"""
text.UnicodeCharTokenizer().tokenize(W)
    int32 (5, None) [[84, 104, 101, 32, 103, 114, 101, 97, 116, 101, 115, 116, 32, 98, 97, 116, 33], [], [26481,
    20140, 32, 99, 97, 102, 233, 39, 115, 32, 32, 103, 114], [9, 32, 35, 35, 35, 32, 98, 769, 32, 0, 120], [85, 78,
    87, 65, 78, 84, 201, 68, 44, 114, 117, 110, 110, 105, 110, 103]]
text.UnicodeCharTokenizer().tokenize_with_offsets(["aé", "東"])
    (int32 (2, None) [[97, 233], [26481]]; int64 (2, None) [[0, 1], [0]]; int64 (2, None) [[1, 3], [3]])
text.UnicodeCharTokenizer().detokenize([[97, 233], [26481, 33]])
    string [2] [b'a\xc3\xa9', b'\xe6\x9d\xb1!']
text.case_fold_utf8(["STRASSE", "Straße", "ǅ", "İ", "Σς"])
    string [5] [b'strasse', b'strasse', b'd\xc5\xbe', b'i\xcc\x87', b'\xcf\x83\xcf\x83']
text.normalize_utf8(["e\u0301", "ﬁ", "Å", "한"], "NFC")
    string [4] [b'\xc3\xa9', b'\xef\xac\x81', b'\xc3\x85', b'\xed\x95\x9c']
text.normalize_utf8(["é", "ﬁ", "Å", "한"], "NFD")
    string [4] [b'e\xcc\x81', b'\xef\xac\x81', b'A\xcc\x8a', b'\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab']
text.normalize_utf8(["é", "ﬁ", "Å", "½"], "NFKC")
    string [4] [b'\xc3\xa9', b'fi', b'\xc3\x85', b'1\xe2\x81\x842']
text.normalize_utf8(["é", "ﬁ", "Å", "½"], "nfkd")
    string [4] [b'e\xcc\x81', b'fi', b'A\xcc\x8a', b'1\xe2\x81\x842']
text.normalize_utf8(["é"], "NFX")
    InvalidArgumentError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, {**globals(), "text": text})
