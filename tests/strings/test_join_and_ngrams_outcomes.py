"""Joined strings, and n-grams. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

S = tf.strings
M = tf.constant([["ab", "cd ef"], ["", " x  y "]])

ROWS = read_rows("""
S.join(["a", "b"], "-")
    string [] b'a-b'
S.join([["a", "b"], "c"], "-")
    string [2] [b'a-c', b'b-c']
S.join([["a", "b"], ["c"]], "-")
    InvalidArgumentError
S.join([["a", "b"], ["c", "d", "e"]])
    InvalidArgumentError
S.join([])
    string [] b''
S.reduce_join(M)
    string [] b'abcd ef x y '
S.reduce_join(M, 0, separator="-")
    string [2] [b'ab-', b'cd ef- x y ']
S.reduce_join(M, [1, 0], separator="-")
    string [] b'ab-cd ef-- x y '
S.reduce_join(M, -1, True)
    string [2, 1] [[b'abcd ef'], [b' x y ']]
S.reduce_join(M, [])
    string [2, 2] [[b'ab', b'cd ef'], [b'', b' x y ']]
S.reduce_join(M, 2)
    OutOfRangeError
S.reduce_join(M, [0, 0])
    InvalidArgumentError
S.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, "-")
    string [3] [b'b', b'a-c', b'']
S.unsorted_segment_join(M, [1, 1], 2, "-")
    string [2, 2] [[b'', b''], [b'ab-', b'cd ef- x y ']]
S.unsorted_segment_join(["a"], [3], 3)
    InvalidArgumentError
S.unsorted_segment_join(["a"], [-1], 3)
    InvalidArgumentError
S.ngrams(["a", "b", "c"], 2)
    string [2] [b'a b', b'b c']
S.ngrams([["a", "b", "c"]], [1, 3], "-", ("<", ">"))
    string [1, 8] [[b'a', b'b', b'c', b'<-<-a', b'<-a-b', b'a-b-c', b'b-c->', b'c->->']]
S.ngrams(["a", "b"], 3, pad_values="_")
    string [4] [b'_ _ a', b'_ a b', b'a b _', b'b _ _']
S.ngrams(["a", "b"], 3)
    string [0] []
S.ngrams(["a", "b"], 3, preserve_short_sequences=True)
    string [1] [b'a b']
S.ngrams(["a", "b", "c"], 3, pad_values=("l", "r"), padding_width=1)
    string [3] [b'l a b', b'a b c', b'b c r']
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
