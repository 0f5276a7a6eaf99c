"""The basic tokenizer. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from tapeflow import text
from traced_calls import check_row

W = tf.constant(["The greatest bat!", "", "東京 café's  gr", "\t ### b\u0301 \x00x", "UNWANTÉD,running"])

ROWS = read_rows(r"""
text.BasicTokenizer().tokenize(W)
    AttributeError
text.BasicTokenizer(lower_case=True).tokenize(W)
    AttributeError
text.BasicTokenizer(lower_case=True).tokenize_with_offsets(W)
    AttributeError
text.BasicTokenizer(keep_whitespace=True).tokenize(["a b  c", "d\n"])
    AttributeError
text.BasicTokenizer(keep_whitespace=True, lower_case=True).tokenize(["A b", "c"])
    AttributeError
text.BasicTokenizer(preserve_unused_token=True).tokenize(["a [unused5] [unusedx] b", "[CLS]"])
    AttributeError
text.BasicTokenizer(preserve_unused_token=True, lower_case=True).tokenize(["A [unused5] [CLS] B"])
    AttributeError
text.BasicTokenizer(normalization_form="NFC").tokenize(["e\u0301 x"])
    AttributeError
text.BasicTokenizer(lower_case=True, normalization_form="NFC").tokenize(["E\u0301 x"])
    AttributeError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, {**globals(), "text": text})
