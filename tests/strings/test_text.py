"""Lengths, cases, parts and hashes of strings. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

S = tf.strings
T = tf.constant(["abc", "", "  Żółć\t", "日本語x", "a,b,,c", "\U0001f600!"])
U = tf.constant(["Hello", "日本\U0001f600", b"a\xffb", b"\xc3", ""])

ROWS = read_rows(r"""
S.length(T)
    int32 [6] [3, 0, 11, 10, 6, 5]
S.length(T, "UTF8_CHAR")
    int32 [6] [3, 0, 7, 4, 6, 2]
S.length(U, "UTF8_CHAR")
    int32 [5] [5, 3, 3, 1, 0]
S.length(T, "BITS")
    InvalidArgumentError
S.lower(T)
    string [6] [b'abc', b'', b' \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87\t', b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9ex',
    b'a,b,,c', b'\xf0\x9f\x98\x80!']
S.lower(T, encoding="utf-8")
    string [6] [b'abc', b'', b' \xc5\xbc\xc3\xb3\xc5\x82\xc4\x87\t', b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9ex',
    b'a,b,,c', b'\xf0\x9f\x98\x80!']
S.upper(T)
    string [6] [b'ABC', b'', b' \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87\t', b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9eX',
    b'A,B,,C', b'\xf0\x9f\x98\x80!']
S.upper(T, encoding="utf-8")
    string [6] [b'ABC', b'', b' \xc5\xbb\xc3\x93\xc5\x81\xc4\x86\t', b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9eX',
    b'A,B,,C', b'\xf0\x9f\x98\x80!']
S.lower(T, encoding="latin")
    InvalidArgumentError
S.upper(["ß", "ǆ", "ŉ"], encoding="utf-8")
    string [3] [b'SS', b'\xc7\x84', b'\xca\xbcN']
S.lower(["İ", "Σ", "ǅ"], encoding="utf-8")
    string [3] [b'i\xcc\x87', b'\xcf\x83', b'\xc7\x86']
S.strip(T)
    string [6] [b'abc', b'', b'\xc5\xbb\xc3\xb3\xc5\x82\xc4\x87', b'\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9ex', b'a,b,,c',
    b'\xf0\x9f\x98\x80!']
S.strip([" \n\v\f\r\t a b \0 ", "\u3000x"])
    string [2] [b'a b \x00', b'\xe3\x80\x80x']
S.substr(T[:1], 1, 1)
    string [1] [b'b']
S.substr(["hello", "world"], [0, 2], [2, 9])
    string [2] [b'he', b'rld']
S.substr(["hello", "world"], -3, 2)
    string [2] [b'll', b'rl']
S.substr(["hello", "world"], [[1], [2]], [[2], [1]])
    string [2, 2] [[b'el', b'or'], [b'l', b'r']]
S.substr(["日本語", "abc"], 1, 1, unit="UTF8_CHAR")
    string [2] [b'\xe6\x9c\xac', b'b']
S.substr(["日本語", "abc"], -2, 2, unit="UTF8_CHAR")
    string [2] [b'\xe6\x9c\xac\xe8\xaa\x9e', b'bc']
S.substr(["日本語", "abc"], 1, 2)
    string [2] [b'\x97\xa5', b'bc']
S.substr(["ab"], 2, 1)
    string [1] [b'']
S.substr(["ab"], 3, 1)
    InvalidArgumentError
S.substr(["ab"], -3, 1)
    InvalidArgumentError
S.substr(["ab"], 1, -1)
    string [1] [b'b']
S.substr(["日本"], 3, 1, unit="UTF8_CHAR")
    InvalidArgumentError
S.substr(["日本"], 2, 1, unit="UTF8_CHAR")
    string [1] [b'']
S.substr(["ab"], [0, 1, 2], [1, 1, 1])
    string [3] [b'a', b'b', b'']
S.substr(["ab"], 0, 1, unit="X")
    InvalidArgumentError
S.substr("hello", 1, 3)
    string [] b'ell'
S.substr([["ab", "cd"]], [[0, 1]], [[1, 1]])
    string [1, 2] [[b'a', b'd']]
S.substr(["ab"], [[0, 1]], [[1, 1]])
    string [1, 2] [[b'a', b'b']]
unranked(lambda x: S.length(x), T)
    int32 [6] [3, 0, 11, 10, 6, 5]
sized(lambda x, p, n: S.substr(x, p, n), ["hello", "world"], [1, 2], [2, 2])
    string [2] [b'el', b'rl']
static(lambda x: S.substr(x, [1, 2], [1, 2]), tf.TensorSpec([None], tf.string))
    '(2,)'
static(lambda x: S.substr(x, [1, 2], [1]), tf.TensorSpec([2], tf.string))
    ValueError
static(lambda x: S.substr(x, 1, 1), tf.TensorSpec([2, None], tf.string))
    '(2, None)'
static(lambda x: S.length(x), tf.TensorSpec([2, None], tf.string))
    '(2, None)'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
