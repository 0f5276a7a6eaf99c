"""Ops on strings: options, borders, many and few elements, and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

S, C = tf.strings, tf.ragged.constant
W = tf.constant([["ab", "Cd é"], ["", "xyz東"]])
MANY = tf.constant([f"word {i} {'é' * (i % 3)}-" for i in range(70)])


def last(value):
    """Returns the last of many results, and their shape."""
    return value[-1], value[-2], value.shape


ROWS = read_rows(r"""
S.join(['a', ['b', 'c']])
    string [2] [b'ab', b'ac']
S.join([['a', 'd'], ['b', 'c']], separator='-')
    string [2] [b'a-b', b'd-c']
S.join([['a', 'd'], ['b', 'c']], '+')
    string [2] [b'a+b', b'd+c']
S.join(['a', 'b'], None)
    string [] b'ab'
S.join([])
    string [] b''
S.join(['a'])
    string [] b'a'
S.join([['a'], ['b', 'c']])
    InvalidArgumentError: Input shapes do not match: [1] vs. [2]
S.join([[['a']], ['b', 'c']])
    InvalidArgumentError: Input shapes do not match: [1,1] vs. [2]
S.join(tf.constant([['a', 'd'], ['b', 'c']]), '-')
    string [2] [b'a-b', b'd-c']
S.join([W, '!'])
    string [2, 2] [[b'ab!', b'Cd \xc3\xa9!'], [b'!', b'xyz\xe6\x9d\xb1!']]
last(S.join([MANY, MANY], '/'))
    (string [] b'word 69 -/word 69 -'; string [] b'word 68 \xc3\xa9\xc3\xa9-/word 68 \xc3\xa9\xc3\xa9-';
    TensorShape([70]))
S.reduce_join([['a', 'b'], ['c', 'd']])
    string [] b'abcd'
S.reduce_join([['a', 'b'], ['c', 'd']], 0)
    string [2] [b'ac', b'bd']
S.reduce_join([['a', 'b'], ['c', 'd']], axis=1, separator='-')
    string [2] [b'a-b', b'c-d']
S.reduce_join([['a', 'b'], ['c', 'd']], axis=-1, keepdims=True)
    string [2, 1] [[b'ab'], [b'cd']]
S.reduce_join([['a', 'b'], ['c', 'd']], axis=[0, 1])
    string [] b'acbd'
S.reduce_join([['a', 'b'], ['c', 'd']], axis=[1, 0], separator='.')
    string [] b'a.b.c.d'
S.reduce_join([['a', 'b'], ['c', 'd']], keepdims=True)
    string [1, 1] [[b'abcd']]
S.reduce_join([['a', 'b'], ['c', 'd']], axis=[])
    string [2, 2] [[b'a', b'b'], [b'c', b'd']]
S.reduce_join(['a', 'b'], separator=', ')
    string [] b'a, b'
S.reduce_join(['a', 'b'], 0, True)
    string [1] [b'ab']
S.reduce_join('a')
    string [] b'a'
S.reduce_join(tf.zeros([2, 0], tf.string), 1)
    string [2] [b'', b'']
S.reduce_join(['a'], 1)
    OutOfRangeError: Invalid reduction dimension 1 for input with 1 dimension(s)
S.reduce_join(['a'], -2)
    OutOfRangeError: Invalid reduction dimension -2 for input with 1 dimension(s)
S.reduce_join(['a'], [0, 0])
    InvalidArgumentError: Duplicate reduction dimension 0
S.reduce_join([['a']], [0, -2])
    InvalidArgumentError: Duplicate reduction dimension 0
S.unsorted_segment_join(['a', 'b', 'c'], [1, 0, 1], 3)
    string [3] [b'b', b'ac', b'']
S.unsorted_segment_join(['a', 'b', 'c'], [1, 0, 1], 2, separator='-')
    string [2] [b'b', b'a-c']
S.unsorted_segment_join(['a', 'b', 'c'], [1, -1, 1], 2, ':')
    InvalidArgumentError: segment_ids are not allowed to exceed num_segments or to have negative values.
S.unsorted_segment_join([['a', 'b'], ['c', 'd']], [1, 1], 2, ':')
    string [2, 2] [[b'', b''], [b'a:c', b'b:d']]
S.unsorted_segment_join([['a', 'b'], ['c', 'd']], [[1, 0], [1, 1]], 2, ':')
    string [2] [b'b', b'a:c:d']
S.unsorted_segment_join(['a', 'b', 'c'], [1, 2, 1], 2)
    InvalidArgumentError: segment_ids are not allowed to exceed num_segments or to have negative values.
S.unsorted_segment_join(['a', 'b', 'c'], [1, 0], 2)
    InvalidArgumentError: segment_ids must have a shape that begins inputs's: [2] vs. [3]
S.unsorted_segment_join(['a'], [0], -1)
    InvalidArgumentError: segment_ids are not allowed to exceed num_segments or to have negative values.
S.unsorted_segment_join([], tf.zeros([0], tf.int32), 2)
    string [2] [b'', b'']
S.ngrams(['a', 'b', 'c'], 2)
    string [2] [b'a b', b'b c']
S.ngrams(['a', 'b', 'c'], [1, 2])
    string [5] [b'a', b'b', b'c', b'a b', b'b c']
S.ngrams(['a', 'b', 'c'], (3, 1))
    string [4] [b'a b c', b'a', b'b', b'c']
S.ngrams(['a', 'b', 'c'], 2, separator='')
    string [2] [b'ab', b'bc']
S.ngrams(['a', 'b', 'c'], 5)
    string [0] []
S.ngrams(['a'], 2, preserve_short_sequences=True)
    string [1] [b'a']
S.ngrams(['a'], [2, 3], preserve_short_sequences=True)
    string [1] [b'a']
S.ngrams([], 2, preserve_short_sequences=True)
    string [0] []
S.ngrams(['a', 'b'], 3, pad_values='#')
    string [4] [b'# # a', b'# a b', b'a b #', b'b # #']
S.ngrams(['a', 'b'], 3, pad_values=('<', '>'))
    string [4] [b'< < a', b'< a b', b'a b >', b'b > >']
S.ngrams(['a', 'b'], 3, pad_values=('<', '>'), padding_width=1)
    string [2] [b'< a b', b'a b >']
S.ngrams(['a', 'b'], 2, pad_values=('<', '>'), padding_width=5)
    string [3] [b'< a', b'a b', b'b >']
S.ngrams(['a', 'b'], [2, 4], pad_values=('<', '>'))
    string [8] [b'< a', b'a b', b'b >', b'< < < a', b'< < a b', b'< a b >', b'a b > >', b'b > > >']
S.ngrams(['a', 'b'], 3, padding_width=1)
    ValueError: pad_values must be provided if padding_width is set.
S.ngrams(['a', 'b'], 3, pad_values='#', padding_width=0)
    ValueError: padding_width must be greater than 0. Received: 0
S.ngrams(['a', 'b'], 3, pad_values='#', padding_width=-1)
    ValueError: padding_width must be greater than 0. Received: -1
S.ngrams(['a', 'b'], 0)
    ValueError: All ngram_widths must be greater than 0. Received: 0
S.ngrams(['a', 'b'], [])
    string [0] []
S.ngrams(['a', 'b'], 'x')
    TypeError: '<' not supported between instances of 'str' and 'int'
S.ngrams(C([['a', 'b', 'c'], ['d'], []]), 2)
    string (3, None) [[b'a b', b'b c'], [], []]
S.ngrams(C([['a', 'b', 'c'], ['d'], []]), 2, preserve_short_sequences=True)
    string (3, None) [[b'a b', b'b c'], [b'd'], []]
S.ngrams(C([['a', 'b', 'c'], ['d'], []]), 2, pad_values='-')
    string (3, None) [[b'- a', b'a b', b'b c', b'c -'], [b'- d', b'd -'], [b'- -']]
S.ngrams(C([[['a', 'b', 'c']], [['d', 'e'], []]]), 2)
    string (2, None, None) [[[b'a b', b'b c']], [[b'd e'], []]]
S.ngrams([['a', 'b', 'c'], ['d', 'e', 'f']], 2)
    string [2, 2] [[b'a b', b'b c'], [b'd e', b'e f']]
S.ngrams([[['a', 'b'], ['d', 'e']]], 2)
    string [1, 2, 1] [[[b'a b'], [b'd e']]]
S.ngrams('a', 2)
    ValueError: ngrams needs at least one dimension to run along
S.ngrams(C([['a', 'b'], ['c']], row_splits_dtype=tf.int32), 2).row_splits.dtype
    tf.int32
S.lower(W)
    string [2, 2] [[b'ab', b'cd \xc3\xa9'], [b'', b'xyz\xe6\x9d\xb1']]
S.lower(W, encoding='utf-8')
    string [2, 2] [[b'ab', b'cd \xc3\xa9'], [b'', b'xyz\xe6\x9d\xb1']]
S.upper(W)
    string [2, 2] [[b'AB', b'CD \xc3\xa9'], [b'', b'XYZ\xe6\x9d\xb1']]
S.upper(W, encoding='utf-8')
    string [2, 2] [[b'AB', b'CD \xc3\x89'], [b'', b'XYZ\xe6\x9d\xb1']]
S.lower(['É'], encoding='other')
    InvalidArgumentError: only utf-8 or '' (no encoding) is supported, received other
last(S.upper(MANY, encoding='utf-8'))
    (string [] b'WORD 69 -'; string [] b'WORD 68 \xc3\x89\xc3\x89-'; TensorShape([70]))
last(S.lower(MANY))
    (string [] b'word 69 -'; string [] b'word 68 \xc3\xa9\xc3\xa9-'; TensorShape([70]))
S.strip(['  a b ', '\t\n', '', 'c\v\f'])
    string [4] [b'a b', b'', b'', b'c']
S.strip(W)
    string [2, 2] [[b'ab', b'Cd \xc3\xa9'], [b'', b'xyz\xe6\x9d\xb1']]
last(S.strip([f'  {i}\t' for i in range(70)]))
    (string [] b'69'; string [] b'68'; TensorShape([70]))
S.length(W)
    int32 [2, 2] [[2, 5], [0, 6]]
S.length(W, unit='UTF8_CHAR')
    int32 [2, 2] [[2, 4], [0, 4]]
S.length(W, 'BYTE')
    int32 [2, 2] [[2, 5], [0, 6]]
S.length(W, 'CHAR')
    InvalidArgumentError: Value for attr 'unit' of "CHAR" is not in the list of allowed values: "BYTE", "UTF8_CHAR"
last(S.length(MANY, unit='UTF8_CHAR'))
    (int32 [] 9; int32 [] 11; TensorShape([70]))
S.substr('hello', 1, 3)
    string [] b'ell'
S.substr('hello', -3, 2)
    string [] b'll'
S.substr('hello', 1, 99)
    string [] b'ello'
S.substr('hello', 5, 1)
    string [] b''
S.substr('hello', 6, 1)
    InvalidArgumentError: pos 6 out of range for string b'hello' at index 0
S.substr('hello', -6, 1)
    InvalidArgumentError: pos -6 out of range for string b'hello' at index 0
S.substr('aé東b', 1, 2, unit='UTF8_CHAR')
    string [] b'\xc3\xa9\xe6\x9d\xb1'
S.substr('aé東b', -2, 1, unit='UTF8_CHAR')
    string [] b'\xe6\x9d\xb1'
S.substr('aé東b', 1, 2)
    string [] b'\xc3\xa9'
S.substr(['hello', 'world'], [0, 1], [1, 2])
    string [2] [b'h', b'or']
S.substr(['hello', 'world'], 1, 2)
    string [2] [b'el', b'or']
S.substr('hello', [0, 1], [1, 2])
    string [2] [b'h', b'el']
S.substr(['hello', 'world'], [0, 1], 2)
    InvalidArgumentError: pos and len should have the same shape, got: [2] vs. []
S.substr([['hello'], ['world']], [[0, 1]], [[2, 1]])
    string [2, 2] [[b'he', b'e'], [b'wo', b'o']]
S.substr('aé東b', 5, 1, unit='UTF8_CHAR')
    InvalidArgumentError: pos 5 out of range for string b'aé東b' at index 0
S.substr('aé', -3, 1, unit='UTF8_CHAR')
    InvalidArgumentError: pos -3 out of range for string b'aé' at index 0
last(S.substr(MANY, 2, 4))
    (string [] b'rd 6'; string [] b'rd 6'; TensorShape([70]))
last(S.substr(MANY, -3, 2, unit='UTF8_CHAR'))
    (string [] b'9 '; string [] b'\xc3\xa9\xc3\xa9'; TensorShape([70]))
S.bytes_split(['hi', '', 'é'])
    string (3, None) [[b'h', b'i'], [], [b'\xc3', b'\xa9']]
S.bytes_split('hi')
    string [2] [b'h', b'i']
S.bytes_split(C([['hi'], ['', 'a']]))
    string (2, None, None) [[[b'h', b'i']], [[], [b'a']]]
S.split(['a b  c', '', ' d '])
    string (3, None) [[b'a', b'b', b'c'], [], [b'd']]
S.split('a,b,,c', ',')
    string [4] [b'a', b'b', b'', b'c']
S.split(['a,b,,c', ',', ''], sep=',')
    string (3, None) [[b'a', b'b', b'', b'c'], [b'', b''], [b'']]
S.split(['a--b-c'], '--')
    string (1, None) [[b'a', b'b-c']]
S.split(['a b c d'], maxsplit=2)
    string (1, None) [[b'a', b'b', b'c d']]
S.split(['a,b,c'], ',', maxsplit=1)
    string (1, None) [[b'a', b'b,c']]
S.split(['a,b,c'], ',', maxsplit=0)
    string (1, None) [[b'a,b,c']]
S.split([['a b'], ['c']])
    string (2, 1, None) [[[b'a', b'b']], [[b'c']]]
S.split(C([['a b'], ['c', '']]))
    string (2, None, None) [[[b'a', b'b']], [[b'c'], []]]
S.to_number(['1.5', '-2e3', ' 7 '])
    float32 [3] [1.5, -2000, 7]
S.to_number(['12', '-3'], tf.int32)
    int32 [2] [12, -3]
S.to_number(['12'], out_type=tf.int64)
    int64 [1] [12]
S.to_number(['0x10', '1e-3'], tf.float64)
    float64 [2] [16, 0.001]
S.to_number('a')
    InvalidArgumentError: StringToNumberOp could not correctly convert string: a
S.to_number('')
    InvalidArgumentError: StringToNumberOp could not correctly convert string:
S.to_number(['3000000000'], tf.int32)
    InvalidArgumentError: StringToNumberOp could not correctly convert string: 3000000000
S.to_number(['1_0'])
    InvalidArgumentError: StringToNumberOp could not correctly convert string: 1_0
S.to_number(['1.5'], tf.int32)
    InvalidArgumentError: StringToNumberOp could not correctly convert string: 1.5
S.to_number('1e999', tf.float64)
    float64 [] inf
S.to_number('-1e999')
    float32 [] -inf
S.as_string([1, -2, 300])
    string [3] [b'1', b'-2', b'300']
S.as_string([1.5, -2.25])
    string [2] [b'1.500000', b'-2.250000']
S.as_string([1.5, -2.25], precision=3)
    string [2] [b'1.500', b'-2.250']
S.as_string([1234.5], scientific=True)
    string [1] [b'1.234500e+03']
S.as_string([1234.5, 1e10], shortest=True)
    string [2] [b'1234.5', b'1e+10']
S.as_string([1.5], precision=2, scientific=True)
    string [1] [b'1.50e+00']
S.as_string([1.5], shortest=True, scientific=True)
    InvalidArgumentError: Cannot select both scientific and shortest notation
S.as_string([True, False])
    string [2] [b'true', b'false']
S.as_string([1 + 2.5j])
    string [1] [b'(1.000000,2.500000)']
S.as_string([1 - 2.5j], precision=1)
    string [1] [b'(1.0,-2.5)']
S.as_string([5, -7], width=4)
    string [2] [b' 5', b' -7']
S.as_string([5, -7], width=4, fill='0')
    string [2] [b'0005', b'-007']
S.as_string([5, -7], width=4, fill='-')
    string [2] [b'5 ', b'-7 ']
S.as_string([5, -7], width=4, fill='+')
    string [2] [b' +5', b' -7']
S.as_string([5, 7], fill=' ')
    string [2] [b' 5', b' 7']
S.as_string([5], fill='#')
    string [1] [b'5']
S.as_string([1.5, float('nan'), float('inf'), -float('inf')])
    string [4] [b'1.500000', b'nan', b'inf', b'-inf']
S.as_string([1.5, float('nan'), -float('inf')], width=6, fill='0')
    string [3] [b'1.500000', b' nan', b' -inf']
S.as_string(['a', 'bc'], width=3)
    string [2] [b' a', b' bc']
S.as_string(['a', 'bc'], width=3, fill='-')
    string [2] [b'a ', b'bc ']
S.as_string([5], precision=2)
    InvalidArgumentError: precision not supported for datatype int32
last(S.as_string(tf.range(-35, 35) * 12345))
    (string [] b'419730'; string [] b'407385'; TensorShape([70]))
last(S.as_string(tf.constant([2 ** 63 - 1] * 69 + [-2 ** 63], tf.int64)))
    (string [] b'-9223372036854775808'; string [] b'9223372036854775807'; TensorShape([70]))
last(S.as_string(tf.range(70.0) / 4, precision=1))
    (string [] b'17.2'; string [] b'17.0'; TensorShape([70]))
last(S.as_string(tf.cast(tf.range(70), tf.uint8), width=5))
    (string [] b' 69'; string [] b' 68'; TensorShape([70]))
S.as_string(tf.constant([2 ** 64 - 1], tf.uint64))
    string [1] [b'18446744073709551615']
S.as_string(tf.constant([-128, 127], tf.int8))
    string [2] [b'-128', b'127']
S.format('a {} b', [1])
    string [] b'a 1 b'
S.format('{} and {}', (1.5, ['x', 'y']))
    string [] b'1.5 and ["x" "y"]'
S.format('% and {}', 5, placeholder='%')
    TypeError: object of type 'int' has no len()
S.format('{}', tf.range(10))
    string [] b'[0 1 2 ... 7 8 9]'
S.format('{}', tf.range(10), summarize=1)
    string [] b'[0 ... 9]'
S.format('{}', tf.range(10), summarize=-1)
    string [] b'[0 1 2 3 4 5 6 7 8 9]'
S.format('{}', [[1, 2], [3, 4]])
    ValueError: The template expects 1 tensors, but the inputs only has 2. Please ensure the number of placeholders
    in template matches inputs length.
S.format('{} {}', 5)
    TypeError: object of type 'int' has no len()
S.format('none', [])
    string [] b'none'
S.regex_replace(['ab12', 'c3'], '[0-9]+', '#')
    string [2] [b'ab#', b'c#']
S.regex_replace('a1b2', '([a-z])([0-9])', r'\2\1')
    string [] b'1a2b'
S.regex_replace('a1b2', '[0-9]', '', replace_global=False)
    string [] b'ab2'
S.regex_replace('a', '(', 'b')
    InvalidArgumentError: Invalid pattern: (, error: missing ): (
S.regex_replace('aa', 'a', r'\3')
    string [] b'aa'
S.regex_replace(['ab', ''], '', '-')
    string [2] [b'-a-b-', b'-']
last(S.regex_replace(MANY, 'é+', '*'))
    (string [] b'word 69 -'; string [] b'word 68 *-'; TensorShape([70]))
last(S.regex_replace(MANY, 'o|r', '<\\0>', replace_global=False))
    (string [] b'w<o>rd 69 -'; string [] b'w<o>rd 68 \xc3\xa9\xc3\xa9-'; TensorShape([70]))
S.regex_full_match(['ab', 'abc', ''], 'ab?')
    bool [3] [True, False, False]
S.regex_full_match('a', '(')
    InvalidArgumentError: Invalid pattern: (, error: missing ): (
last(S.regex_full_match(MANY, 'word [0-9]+ é*-'))
    (bool [] True; bool [] True; TensorShape([70]))
S.to_hash_bucket(['a', '', 'é'], 1000)
    int64 [3] [868, 899, 665]
S.to_hash_bucket_fast(['a', '', 'é', 'x' * 100], 2 ** 40)
    int64 [4] [436859794915, 254201053263, 987519208641, 791688940063]
S.to_hash_bucket_strong(['a', '', 'é', 'x' * 100], 2 ** 40, [1, 2])
    int64 [4] [201166748918, 231421486971, 273209561599, 984105661719]
S.to_hash_bucket(['a'], 0)
    InvalidArgumentError: Value for attr 'num_buckets' of 0 must be at least minimum 1
S.to_hash_bucket_fast(['a'], 1)
    int64 [1] [0]
S.to_hash_bucket_strong(['a'], 5, [1])
    InvalidArgumentError: Key must have 2 elements
last(S.to_hash_bucket_fast(MANY, 100))
    (int64 [] 4; int64 [] 48; TensorShape([70]))
S.unicode_decode(['aé', '', '東'], 'UTF-8')
    int32 (3, None) [[97, 233], [], [26481]]
S.unicode_decode('aé', 'UTF-8')
    int32 [2] [97, 233]
S.unicode_decode([b'a\xff'], 'UTF-8')
    int32 (1, None) [[97, 65533]]
S.unicode_decode([b'a\xff'], 'UTF-8', errors='ignore')
    int32 (1, None) [[97]]
S.unicode_decode([b'a\xff'], 'UTF-8', errors='strict')
    InvalidArgumentError: Invalid formatting on input string
S.unicode_decode([b'a\xff'], 'UTF-8', replacement_char=63)
    int32 (1, None) [[97, 63]]
S.unicode_decode([b'a\x01'], 'UTF-8', replace_control_characters=True)
    int32 (1, None) [[97, 65533]]
S.unicode_decode([b'\x00a\x00b'], 'UTF-16-BE')
    int32 (1, None) [[97, 98]]
S.unicode_decode(['a'], 'UTF-7')
    int32 (1, None) [[97]]
S.unicode_decode_with_offsets(['aé東', ''], 'UTF-8')
    (int32 (2, None) [[97, 233, 26481], []]; int64 (2, None) [[0, 1, 3], []])
S.unicode_encode([[97, 233], [0x6771, 98]], 'UTF-8')
    string [2] [b'a\xc3\xa9', b'\xe6\x9d\xb1b']
S.unicode_encode([97, 233], 'UTF-16-BE')
    string [] b'\x00a\x00\xe9'
S.unicode_encode(C([[97], [], [233, 98]]), 'UTF-32-BE')
    string [3] [b'\x00\x00\x00a', b'', b'\x00\x00\x00\xe9\x00\x00\x00b']
S.unicode_encode([97, 0x110000], 'UTF-8')
    string [] b'a\xef\xbf\xbd'
S.unicode_encode([97, 0x110000], 'UTF-8', errors='ignore')
    string [] b'a'
S.unicode_encode([97, 0x110000], 'UTF-8', errors='strict')
    InvalidArgumentError: Code point is out of range for Unicode, or a noncharacter: 1114112
S.unicode_encode([97, 0xD800], 'UTF-8', replacement_char=63)
    string [] b'a?'
S.unicode_split(['aé', '', '東b'], 'UTF-8')
    string (3, None) [[b'a', b'\xc3\xa9'], [], [b'\xe6\x9d\xb1', b'b']]
S.unicode_split('aé', 'UTF-8')
    string [2] [b'a', b'\xc3\xa9']
S.unicode_split_with_offsets(['aé東'], 'UTF-8')
    (string (1, None) [[b'a', b'\xc3\xa9', b'\xe6\x9d\xb1']]; int64 (1, None) [[0, 1, 3]])
S.unicode_split([b'a\xffb'], 'UTF-8', errors='ignore')
    string (1, None) [[b'a', b'b']]
S.unicode_transcode(['aé', ''], 'UTF-8', 'UTF-16-BE')
    string [2] [b'\x00a\x00\xe9', b'']
S.unicode_transcode([b'a\xff'], 'UTF-8', 'UTF-8')
    string [1] [b'a\xef\xbf\xbd']
S.unicode_transcode([b'a\xff\x01'], 'UTF-8', 'UTF-8', errors='ignore')
    string [1] [b'a\x01']
S.unicode_transcode([b'a\xff'], 'UTF-8', 'UTF-8', errors='strict')
    InvalidArgumentError: Invalid formatting on input string
S.unicode_transcode([b'a\xff\x01'], 'UTF-8', 'UTF-8', replacement_char=33, replace_control_characters=True)
    string [1] [b'a!!']
S.unicode_transcode(['é'], 'UTF-8', 'ASCII')
    InvalidArgumentError: Value for attr 'output_encoding' of "ASCII" is not in the list of allowed values: "UTF-8",
    "UTF-16-BE", "UTF-32-BE"
last(S.unicode_transcode(MANY, 'UTF-8', 'UTF-16-BE'))
    (string [] b'\x00w\x00o\x00r\x00d\x00 \x006\x009\x00 \x00-'; string [] b'\x00w\x00o\x00r\x00d\x00 \x006\x008\x00
    \x00\xe9\x00\xe9\x00-'; TensorShape([70]))
S.unicode_script([97, 0x41F, 0x6771, 32, -1, 0x110000])
    int32 [6] [25, 8, 17, 0, -1, -1]
S.unicode_script(ord('é'))
    int32 [] 25
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
