"""Strings in parts. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

S = tf.strings
T = tf.constant(["abc", "", "  Żółć\t", "日本語x", "a,b,,c", "\U0001f600!"])
M = tf.constant([["ab", "cd ef"], ["", " x  y "]])

ROWS = read_rows(r"""
S.bytes_split(T)
    string (6, None) [[b'a', b'b', b'c'], [], [b' ', b' ', b'\xc5', b'\xbb', b'\xc3', b'\xb3', b'\xc5', b'\x82',
    b'\xc4', b'\x87', b'\t'], [b'\xe6', b'\x97', b'\xa5', b'\xe6', b'\x9c', b'\xac', b'\xe8', b'\xaa', b'\x9e', b'x'],
    [b'a', b',', b'b', b',', b',', b'c'], [b'\xf0', b'\x9f', b'\x98', b'\x80', b'!']]
S.bytes_split("abc")
    string [3] [b'a', b'b', b'c']
S.bytes_split(M)
    string (2, 2, None) [[[b'a', b'b'], [b'c', b'd', b' ', b'e', b'f']], [[], [b' ', b'x', b' ', b' ', b'y', b' ']]]
S.bytes_split(tf.ragged.constant([["ab"], []], dtype=tf.string))
    string (2, None, None) [[[b'a', b'b']], []]
S.split(M)
    string (2, 2, None) [[[b'ab'], [b'cd', b'ef']], [[], [b'x', b'y']]]
S.split(T, ",")
    string (6, None) [[b'abc'], [b''], [b' \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87\t'],
    [b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9ex'], [b'a', b'b', b'', b'c'], [b'\xf0\x9f\x98\x80!']]
S.split(T, ",", 1)
    string (6, None) [[b'abc'], [b''], [b' \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87\t'],
    [b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9ex'], [b'a', b'b,,c'], [b'\xf0\x9f\x98\x80!']]
S.split("a b  c")
    string [3] [b'a', b'b', b'c']
S.split(" a b  c ", maxsplit=1)
    string [2] [b'a', b'b c ']
S.split("a--b--c", "--")
    string [3] [b'a', b'b', b'c']
S.split("a--b--c", "--", 1)
    string [2] [b'a', b'b--c']
S.split(["", " ", "a "])
    string (3, None) [[], [], [b'a']]
S.split(["", ",", "a,"], ",")
    string (3, None) [[b''], [b'', b''], [b'a', b'']]
S.split(["a b"], maxsplit=0)
    string (1, None) [[b'a b']]
S.split(["a b"], "")
    string (1, None) [[b'a', b'b']]
S.split([" \t a\nb\v c"])
    string (1, None) [[b'a', b'b', b'c']]
S.split(["a  b"], " ")
    string (1, None) [[b'a', b'', b'b']]
S.split(["a b c d"], " ", 2)
    string (1, None) [[b'a', b'b', b'c d']]
S.split([["a b"], ["c"]], " ")
    string (2, 1, None) [[[b'a', b'b']], [[b'c']]]
tf.compat.v1.strings.split(["a b", "c"])
    sparse int64 [3, 2] [[0, 0], [0, 1], [1, 0]] string [3] [b'a', b'b', b'c'] int64 [2] [2, 2]
tf.compat.v1.strings.split(["a b", ""], result_type="RaggedTensor")
    string (2, None) [[b'a', b'b'], []]
tf.compat.v1.string_split(["a b,c", "", ",d"], " ,")
    sparse int64 [4, 2] [[0, 0], [0, 1], [0, 2], [2, 0]] string [4] [b'a', b'b', b'c', b'd'] int64 [2] [3, 3]
tf.compat.v1.string_split(["a b,c", "", ",d"], " ,", skip_empty=False)
    sparse int64 [5, 2] [[0, 0], [0, 1], [0, 2], [2, 0], [2, 1]] string [5] [b'a', b'b', b'c', b'', b'd'] int64 [2] [3,
    3]
tf.compat.v1.string_split(["abc"], "")
    sparse int64 [3, 2] [[0, 0], [0, 1], [0, 2]] string [3] [b'a', b'b', b'c'] int64 [2] [1, 3]
sized(lambda x: S.split(x, ","), T)
    string (6, None) [[b'abc'], [b''], [b' \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87\t'],
    [b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9ex'], [b'a', b'b', b'', b'c'], [b'\xf0\x9f\x98\x80!']]
sized(lambda x: S.bytes_split(x), T)
    string (6, None) [[b'a', b'b', b'c'], [], [b' ', b' ', b'\xc5', b'\xbb', b'\xc3', b'\xb3', b'\xc5', b'\x82',
    b'\xc4', b'\x87', b'\t'], [b'\xe6', b'\x97', b'\xa5', b'\xe6', b'\x9c', b'\xac', b'\xe8', b'\xaa', b'\x9e', b'x'],
    [b'a', b',', b'b', b',', b',', b'c'], [b'\xf0', b'\x9f', b'\x98', b'\x80', b'!']]
static(lambda x: S.split(x), tf.TensorSpec([2], tf.string))
    ('(None,)'; '(None,)')
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
