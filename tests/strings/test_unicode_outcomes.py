"""Code points and encodings of strings. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

S = tf.strings
M = tf.constant([["ab", "cd ef"], ["", " x  y "]])
U = tf.constant(["Hello", "日本\U0001f600", b"a\xffb", b"\xc3", ""])
P = tf.ragged.constant([[72, 105], [], [0x65E5, 0x1F600]])

ROWS = read_rows(r"""
S.unicode_decode(U, "UTF-8")
    int32 (5, None) [[72, 101, 108, 108, 111], [26085, 26412, 128512], [97, 65533, 98], [65533], []]
S.unicode_decode(U, "UTF-8", errors="ignore")
    int32 (5, None) [[72, 101, 108, 108, 111], [26085, 26412, 128512], [97, 98], [], []]
S.unicode_decode(U, "UTF-8", errors="strict")
    InvalidArgumentError
S.unicode_decode(U, "UTF-8", replacement_char=33)
    int32 (5, None) [[72, 101, 108, 108, 111], [26085, 26412, 128512], [97, 33, 98], [33], []]
S.unicode_decode(["a\tb"], "UTF-8", replace_control_characters=True)
    int32 (1, None) [[97, 65533, 98]]
S.unicode_decode("日", "UTF-8")
    int32 [1] [26085]
S.unicode_decode([["a"], ["bc"]], "UTF-8")
    int32 (2, 1, None) [[[97]], [[98, 99]]]
S.unicode_decode([b"\x00a\x00b", b"\x65\xe5"], "UTF-16-BE")
    int32 (2, None) [[97, 98], [26085]]
S.unicode_decode([b"\x00\x00\x00a", b"\x00\x01\xf6\x00"], "UTF-32-BE")
    int32 (2, None) [[97], [128512]]
S.unicode_decode_with_offsets(U, "UTF-8")
    (int32 (5, None) [[72, 101, 108, 108, 111], [26085, 26412, 128512], [97, 65533, 98], [65533], []]; int64 (5, None)
    [[0, 1, 2, 3, 4], [0, 3, 6], [0, 1, 2], [0], []])
S.unicode_decode_with_offsets(U, "UTF-8", errors="ignore")
    (int32 (5, None) [[72, 101, 108, 108, 111], [26085, 26412, 128512], [97, 98], [], []]; int64 (5, None) [[0, 1, 2, 3,
    4], [0, 3, 6], [0, 2], [], []])
S.unicode_decode_with_offsets([b"\x00a\x00b"], "UTF-16-BE")
    (int32 (1, None) [[97, 98]]; int64 (1, None) [[0, 2]])
S.unicode_split(U, "UTF-8")
    string (5, None) [[b'H', b'e', b'l', b'l', b'o'], [b'\xe6\x97\xa5', b'\xe6\x9c\xac', b'\xf0\x9f\x98\x80'], [b'a',
    b'\xef\xbf\xbd', b'b'], [b'\xef\xbf\xbd'], []]
S.unicode_split(U, "UTF-8", errors="ignore")
    string (5, None) [[b'H', b'e', b'l', b'l', b'o'], [b'\xe6\x97\xa5', b'\xe6\x9c\xac', b'\xf0\x9f\x98\x80'], [b'a',
    b'b'], [], []]
S.unicode_split_with_offsets(U, "UTF-8")
    (string (5, None) [[b'H', b'e', b'l', b'l', b'o'], [b'\xe6\x97\xa5', b'\xe6\x9c\xac', b'\xf0\x9f\x98\x80'], [b'a',
    b'\xef\xbf\xbd', b'b'], [b'\xef\xbf\xbd'], []]; int64 (5, None) [[0, 1, 2, 3, 4], [0, 3, 6], [0, 1, 2], [0], []])
S.unicode_split("日本", "UTF-8")
    string [2] [b'\xe6\x97\xa5', b'\xe6\x9c\xac']
S.unicode_encode(P, "UTF-8")
    string [3] [b'Hi', b'', b'\xe6\x97\xa5\xf0\x9f\x98\x80']
S.unicode_encode(P, "UTF-16-BE")
    string [3] [b'\x00H\x00i', b'', b'e\xe5\xd8=\xde\x00']
S.unicode_encode(P, "UTF-32-BE")
    string [3] [b'\x00\x00\x00H\x00\x00\x00i', b'', b'\x00\x00e\xe5\x00\x01\xf6\x00']
S.unicode_encode([72, 105], "UTF-8")
    string [] b'Hi'
S.unicode_encode([[72], [105]], "UTF-8")
    string [2] [b'H', b'i']
S.unicode_encode([0xD800, 65], "UTF-8")
    string [] b'\xef\xbf\xbdA'
S.unicode_encode([0x110000, 65], "UTF-8")
    string [] b'\xef\xbf\xbdA'
S.unicode_encode([0xD800, 65], "UTF-8", errors="ignore")
    string [] b'A'
S.unicode_encode([0xD800, 65], "UTF-8", errors="strict")
    InvalidArgumentError
S.unicode_encode([0xD800, 65], "UTF-8", replacement_char=33)
    string [] b'!A'
S.unicode_encode([-1, 65], "UTF-8")
    string [] b'\xef\xbf\xbdA'
S.unicode_encode(65, "UTF-8")
    ValueError
S.unicode_encode([65], "LATIN")
    InvalidArgumentError
S.unicode_transcode(U, "UTF-8", "UTF-8")
    string [5] [b'Hello', b'\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x98\x80', b'a\xef\xbf\xbdb', b'\xef\xbf\xbd', b'']
S.unicode_transcode(U, "UTF-8", "UTF-16-BE")
    string [5] [b'\x00H\x00e\x00l\x00l\x00o', b'e\xe5g,\xd8=\xde\x00', b'\x00a\xff\xfd\x00b', b'\xff\xfd', b'']
S.unicode_transcode(U, "UTF-8", "UTF-8", errors="ignore")
    string [5] [b'Hello', b'\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x98\x80', b'ab', b'', b'']
S.unicode_transcode(U, "UTF-8", "UTF-8", errors="strict")
    InvalidArgumentError
S.unicode_transcode(U, "UTF-8", "UTF-8", replacement_char=ord("!"))
    string [5] [b'Hello', b'\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x98\x80', b'a!b', b'!', b'']
S.unicode_transcode(["a\tb\x7f"], "UTF-8", "UTF-8", replace_control_characters=True)
    string [1] [b'a\xef\xbf\xbdb\x7f']
S.unicode_transcode([b"\x00a\xd8\x00\x00b"], "UTF-16-BE", "UTF-8")
    string [1] [b'a\xef\xbf\xbdb']
S.unicode_transcode([b"\xe9a"], "ISO-8859-1", "UTF-8")
    string [1] [b'\xc3\xa9a']
S.unicode_transcode([b"\xa4"], "ISO-8859-15", "UTF-8")
    string [1] [b'\xe2\x82\xac']
S.unicode_transcode([b"\x83"], "SHIFT_JIS", "UTF-8")
    string [1] [b'\xef\xbf\xbd']
S.unicode_transcode(["a"], "no-such", "UTF-8")
    InvalidArgumentError
S.unicode_script([65, 0x65E5, 0x3B1, 32, 0x10FFFF, -1, 0x110000])
    int32 [7] [25, 17, 14, 0, 103, -1, -1]
sized(lambda x: S.unicode_decode(x, "UTF-8"), U)
    int32 (5, None) [[72, 101, 108, 108, 111], [26085, 26412, 128512], [97, 65533, 98], [65533], []]
sized(lambda x: S.unicode_decode_with_offsets(x, "UTF-8"), M)
    (int32 (2, None, None) [[[97, 98], [99, 100, 32, 101, 102]], [[], [32, 120, 32, 32, 121, 32]]]; int64 (2, None,
    None) [[[0, 1], [0, 1, 2, 3, 4]], [[], [0, 1, 2, 3, 4, 5]]])
static(lambda x: S.unicode_decode(x, "UTF-8"), tf.TensorSpec([2], tf.string))
    ('(None,)'; '(3,)')
static(lambda x: S.unicode_decode(x, "UTF-8"), tf.TensorSpec([], tf.string))
    '(None,)'
static(lambda x: S.unicode_encode(x, "UTF-8"), tf.TensorSpec([2, 3], tf.int32))
    '(2,)'
static(lambda x: S.unicode_encode(x, "UTF-8"), tf.TensorSpec([3], tf.int32))
    '()'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
