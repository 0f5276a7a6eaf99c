"""Tokenizers by vocabularies: their options, places, tables and errors. TensorFlow Text gave the outcomes."""

import pathlib
import tempfile

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows
from tapeflow import text

C = tf.ragged.constant
VOCABULARY = ["[UNK]", "great", "##est", "!", "the", "##'", "東", "gr", "##e", "b", "##at", "[unused7]"]


def table(words=VOCABULARY, first=0):
    keys = tf.lookup.KeyValueTensorInitializer(words, tf.range(first, len(words) + first, dtype=tf.int64))
    return tf.lookup.StaticHashTable(keys, default_value=0)


def pieces(**options):
    return text.WordpieceTokenizer(table(), **options)


def fast(vocabulary=VOCABULARY, **options):
    return text.FastWordpieceTokenizer(vocabulary, **options)


def bert(**options):
    return text.BertTokenizer(table(), **options)


def of_file(tensor=False, **options):
    path = pathlib.Path(tempfile.mkdtemp(), "vocabulary.txt")
    path.write_text("\n".join(VOCABULARY))
    return text.WordpieceTokenizer(tf.constant(str(path)) if tensor else str(path), **options)


def in_graph(function, value, shape):
    return tf.function(function, input_signature=[tf.TensorSpec(shape, tf.string)], autograph=False)(value)


ROWS = read_rows(r"""
pieces().tokenize(['greatest', 'greate', 'x', ''])
    int64 (4, None) [[1, 2], [1, 8], [0], []]
pieces().tokenize_with_offsets(['greatest', 'greate', 'x', ''])
    (int64 (4, None) [[1, 2], [1, 8], [0], []]; int64 (4, None) [[0, 5], [0, 5], [0], []]; int64 (4, None) [[5, 8],
    [5, 6], [1], []])
pieces().split(['greatest', 'x'])
    int64 (2, None) [[1, 2], [0]]
pieces().split_with_offsets(['greatest', 'x'])
    (int64 (2, None) [[1, 2], [0]]; int64 (2, None) [[0, 5], [0]]; int64 (2, None) [[5, 8], [1]])
pieces().tokenize('greatest')
    int64 [2] [1, 2]
pieces().tokenize([['greatest', 'b'], ['x', 'the']])
    int64 (2, 2, None) [[[1, 2], [9]], [[0], [4]]]
pieces().tokenize(C([['greatest'], ['x', 'the']]))
    int64 (2, None, None) [[[1, 2]], [[0], [4]]]
pieces().tokenize(C([[['greatest'], []], [['x', 'the']]]))
    int64 (2, None, None, None) [[[[1, 2]], []], [[[0], [4]]]]
pieces(token_out_type=tf.int32).tokenize(['greatest', 'x'])
    int32 (2, None) [[1, 2], [0]]
pieces(token_out_type=tf.string).tokenize(['greatest', 'x'])
    string (2, None) [[b'great', b'##est'], [b'[UNK]']]
pieces(token_out_type='string', unknown_token=None).tokenize(['greatest', 'x'])
    string (2, None) [[b'great', b'##est'], [b'x']]
pieces(unknown_token='b').tokenize(['greatest', 'x'])
    int64 (2, None) [[1, 2], [9]]
pieces(max_bytes_per_word=7).tokenize(['greatest', 'greates', 'greate'])
    int64 (3, None) [[0], [0], [1, 8]]
pieces(max_bytes_per_word=8).tokenize(['greatest'])
    int64 (1, None) [[1, 2]]
pieces(max_chars_per_token=4).tokenize(['greatest'])
    int64 (1, None) [[7, 8, 10, 2]]
pieces(max_chars_per_token=5).tokenize(['greatest'])
    int64 (1, None) [[1, 2]]
pieces(max_chars_per_token=2, token_out_type=tf.string).tokenize(['greatest', '東'])
    string (2, None) [[b'[UNK]'], [b'\xe6\x9d\xb1']]
pieces(split_unknown_characters=True, token_out_type=tf.string).tokenize(['grx', 'xgr', 'greatx東', '東x'])
    string (4, None) [[b'gr', b'##[UNK]'], [b'[UNK]', b'##[UNK]', b'##[UNK]'], [b'great', b'##[UNK]', b'##[UNK]'],
    [b'\xe6\x9d\xb1', b'##[UNK]']]
pieces(split_unknown_characters=True).tokenize_with_offsets(['grx', 'é東'])
    (int64 (2, None) [[7, 0], [0, 0]]; int64 (2, None) [[0, 2], [0, 2]]; int64 (2, None) [[2, 3], [2, 5]])
pieces(suffix_indicator='@').tokenize(['greatest'])
    int64 (1, None) [[0]]
pieces().vocab_size()
    int64 [] 12
of_file().tokenize(['greatest', 'x'])
    int64 (2, None) [[1, 2], [0]]
of_file(tensor=True).tokenize(['greatest', 'x'])
    int64 (2, None) [[1, 2], [0]]
of_file().vocab_size()
    int64 [] 13
of_file().detokenize([[1, 2, 99]])
    string (1, None) [[b'greatest', b'[UNK]']]
text.WordpieceTokenizer(5)
    TypeError: Unable to build a lookup table from 5
text.WordpieceTokenizer(['a'])
    TypeError: Unable to build a lookup table from ['a']
pieces().detokenize([[1, 2], [4, 3]])
    string (2, None) [[b'greatest'], [b'the', b'!']]
pieces().detokenize(C([[1, 2, 3], [4], []]))
    string (3, None) [[b'greatest', b'!'], [b'the'], [b'']]
pieces().detokenize(C([[1, 2, 99], [0]]))
    string (2, None) [[b'greatest', b'[UNK]'], [b'[UNK]']]
pieces(unknown_token='?').detokenize(C([[99], [1, 2]]))
    string (2, None) [[b'?'], [b'greatest']]
pieces().detokenize(tf.constant([[4, 5, 1]], tf.int32))
    string (1, None) [[b"the'", b'great']]
text.WordpieceTokenizer(table(first=1)).detokenize([[1]])
    InvalidArgumentError: Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data:
    b'`detokenize` only works with vocabulary tables whose numbers are those from 0 to the last one'
in_graph(pieces().tokenize, ['greatest', 'x'], [None])
    int64 (2, None) [[1, 2], [0]]
in_graph(lambda x: pieces().tokenize(x), ['greatest', 'x'], None)
    ValueError: Rank of `input` must be statically known.
bert().tokenize(['the greatest!', 'Great'])
    int64 (2, None, None) [[[4], [1, 2], [3]], [[0]]]
bert().tokenize_with_offsets(['the  greatest!', 'Great'])
    (int64 (2, None, None) [[[4], [1, 2], [3]], [[0]]]; int64 (2, None, None) [[[0], [5, 10], [13]], [[0]]]; int64
    (2, None, None) [[[3], [10, 13], [14]], [[5]]])
bert(lower_case=True).tokenize(['The GREATest!'])
    int64 (1, None, None) [[[4], [1, 2], [3]]]
bert(lower_case=True, token_out_type=tf.string).tokenize(['The GRÉAT [unused7]'])
    string (1, None, None) [[[b'the'], [b'great'], [b'[UNK]'], [b'[UNK]'], [b'[UNK]']]]
bert(preserve_unused_token=True).tokenize(['the [unused7] b'])
    int64 (1, None, None) [[[4], [11], [9]]]
bert(keep_whitespace=True, token_out_type=tf.string).tokenize(['the  b'])
    string (1, None, None) [[[b'the'], [b'[UNK]'], [b'b']]]
bert(normalization_form='NFKC', token_out_type=tf.string).tokenize(['\uff42 the'])
    string (1, None, None) [[[b'b'], [b'the']]]
bert(lower_case=True, normalization_form='NFC')
    ValueError: `lower_case` strips accents. When `lower_case` is set, `normalization_form` is 'NFD'.
bert(lower_case=True, normalization_form='NFD').tokenize(['B'])
    int64 (1, None, None) [[[9]]]
bert(max_bytes_per_word=4).tokenize(['great the'])
    int64 (1, None, None) [[[0], [4]]]
bert(suffix_indicator='@').tokenize(['greatest'])
    int64 (1, None, None) [[[0]]]
bert(max_chars_per_token=2).tokenize(['greatest gr'])
    int64 (1, None, None) [[[0], [7]]]
bert(unknown_token='b').tokenize(['xyz'])
    int64 (1, None, None) [[[9]]]
bert(split_unknown_characters=True).tokenize(['grx'])
    int64 (1, None, None) [[[7, 0]]]
bert().detokenize([[1, 2, 4]])
    string (1, None) [[b'greatest', b'the']]
bert().tokenize('the')
    int64 (1, None, None) [[[4]]]
fast().tokenize(['the greatest!', 'Great x', ''])
    int64 (3, None) [[4, 1, 2, 3], [0, 0], []]
fast().tokenize_with_offsets(['the  greatest!', 'x東'])
    (int64 (2, None) [[4, 1, 2, 3], [0, 6]]; int64 (2, None) [[0, 5, 10, 13], [0, 1]]; int64 (2, None) [[3, 10, 13,
    14], [1, 4]])
fast(token_out_type=tf.string).tokenize(['the greatest x'])
    string (1, None) [[b'the', b'great', b'##est', b'[UNK]']]
fast(token_out_type=tf.int32).tokenize('the greatest')
    int32 [3] [4, 1, 2]
fast(max_bytes_per_word=7).tokenize(['greatest the'])
    int64 (1, None) [[0, 4]]
fast(max_bytes_per_word=8).tokenize(['greatest the'])
    int64 (1, None) [[1, 2, 4]]
fast(unknown_token='b').tokenize(['x'])
    int64 (1, None) [[9]]
fast(unknown_token='nothing').tokenize(['x'])
    RuntimeError: Cannot find unk_token in the vocab!
fast(no_pretokenization=True).tokenize(['greatest', 'the b', "the'"])
    int64 (3, None) [[1, 2], [0], [4, 5]]
fast(suffix_indicator='').tokenize(['greatgr'])
    int64 (1, None) [[1, 7]]
fast(['[UNK]', 'a', 'a'])
    RuntimeError: Tokens in the vocabulary must be unique.
fast([])
    RuntimeError: Cannot find unk_token in the vocab!
fast(['[UNK]', 'a' * 257]).tokenize(['a'])
    RuntimeError: Vocab token utf8 length (excluding suffix indicator) exceeds the max supported (256):
    b'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
fast(['[UNK]', 'a' * 256]).tokenize(['a' * 90])
    int64 (1, None) [[0]]
fast(['[UNK]', '##' + 'a' * 300]).tokenize(['a'])
    RuntimeError: Vocab token utf8 length (excluding suffix indicator) exceeds the max supported (256):
    b'##aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
fast(['[UNK]', 'a', '##b', '@@c'], suffix_indicator='@@').tokenize(['ac ab'])
    int64 (1, None) [[1, 3, 0]]
fast(['[UNK]', 'a'], support_detokenization=True).tokenize(['aa a'])
    int64 (1, None) [[0, 1]]
fast(support_detokenization=True).detokenize([[1, 2, 4]])
    string [1] [b'greatest the']
fast(support_detokenization=True).detokenize([1, 2, 4])
    string [] b'greatest the'
fast(support_detokenization=True).detokenize(3)
    InvalidArgumentError: Attempting to slice scalar input.
fast(support_detokenization=True).detokenize(C([[1, 2, 4], [2, 1], []]))
    string [3] [b'greatest the', b'##est great', b'']
fast(support_detokenization=True).detokenize(C([[[1, 2], [4]], [[2, 1]]]))
    string (2, None) [[b'greatest', b'the'], [b'##est great']]
fast(support_detokenization=True).detokenize([[99]])
    OutOfRangeError: Token ID out of bounds: 99
fast(support_detokenization=True).detokenize([[11, 0]])
    string [1] [b'[unused7] [UNK]']
fast().detokenize([[1]])
    FailedPreconditionError: Detokenize function is only enabled when support_detokenization is true. Build the
    model again with it.
in_graph(lambda x: fast().tokenize(x), ['greatest', 'x'], None)
    ValueError: Rank of `input` must be statically known.
in_graph(fast().tokenize, ['greatest', 'x'], [2])
    int64 (2, None) [[1, 2], [0]]
text.FastBertNormalizer(lower_case_nfd_strip_accents=True).normalize(['Café', 'ÅǄ', '東 a\u200bb', ''])
    string [4] [b'cafe', b'adz', b'\xe6\x9d\xb1 ab', b'']
text.FastBertNormalizer().normalize(['Café', 'a\u200bb\x07', ''])
    string [3] [b'Caf\xc3\xa9', b'a b ', b'']
text.FastBertNormalizer().normalize('Ab')
    string [] b'Ab'
text.FastBertNormalizer(lower_case_nfd_strip_accents=True).normalize(C([['É'], ['a', 'B']]))
    string (2, None) [[b'e'], [b'a', b'b']]
text.FastBertNormalizer(lower_case_nfd_strip_accents=True).normalize_with_offsets(['Éa', 'ﬁ', ''])
    (string [3] [b'ea', b'fi', b'']; int64 (3, None) [[0, 2, 3], [0, 0, 3], [0]])
text.FastBertNormalizer(lower_case_nfd_strip_accents=True).normalize_with_offsets('Aé')
    (string [] b'ae'; int64 [3] [0, 1, 3])
text.FastBertNormalizer(lower_case_nfd_strip_accents=True).normalize_with_offsets(C([['É'], ['a', 'bß']]))
    (string (2, None) [[b'e'], [b'a', b'bss']]; int64 (2, None, None) [[[0, 2]], [[0, 1], [0, 1, 1, 3]]])
text.FastBertTokenizer(VOCABULARY).tokenize(['the greatest!'])
    int64 (1, None) [[4, 1, 2, 3]]
text.FastBertTokenizer(VOCABULARY, lower_case_nfd_strip_accents=True).tokenize_with_offsets(['The GRÉATest!'])
    (int64 (1, None) [[4, 1, 2, 3]]; int64 (1, None) [[0, 4, 10, 13]]; int64 (1, None) [[3, 10, 13, 14]])
text.FastBertTokenizer(VOCABULARY, token_out_type=tf.string, max_bytes_per_word=4).tokenize(['the great'])
    string (1, None) [[b'the', b'[UNK]']]
text.FastBertTokenizer(VOCABULARY, support_detokenization=True).detokenize([[1, 2, 4]])
    string [1] [b'greatest the']
text.regex_split(['a,b', 'c'], ',')
    string (2, None) [[b'a', b'b'], [b'c']]
text.regex_split(['a,b', 'c'], ',', ',')
    string (2, None) [[b'a', b',', b'b'], [b'c']]
text.regex_split('a,b', ',')
    string (1, None) [[b'a', b'b']]
text.regex_split([['a,b', 'c'], ['d', ',']], ',')
    string (2, 2, None) [[[b'a', b'b'], [b'c']], [[b'd'], []]]
text.regex_split(C([['a,b'], ['d', ',']]), ',')
    string (2, None, None) [[[b'a', b'b']], [[b'd'], []]]
text.regex_split_with_offsets('a,bé,c', ',')
    (string (1, None) [[b'a', b'b\xc3\xa9', b'c']]; int64 (1, None) [[0, 2, 6]]; int64 (1, None) [[1, 5, 7]])
text.regex_split_with_offsets(['a, b;c', ''], '[,; ]+', ';')
    (string (2, None) [[b'a', b'b', b';', b'c'], []]; int64 (2, None) [[0, 3, 4, 5], []]; int64 (2, None) [[1, 4, 5,
    6], []])
text.regex_split_with_offsets(['aé1b22c'], '(\\d)+', '2+')
    (string (1, None) [[b'a\xc3\xa9', b'b', b'22', b'c']]; int64 (1, None) [[0, 4, 5, 7]]; int64 (1, None) [[3, 5,
    7, 8]])
text.regex_split(['a'], '(')
    InvalidArgumentError: Invalid pattern: ((), error: missing ): (()
text.regex_split(['a' * 3 + '-'] * 70, '-').shape
    TensorShape([70, None])
text.regex_split(['a-b'] * 70, '-')[69]
    string [2] [b'a', b'b']
text.RegexSplitter().split(['one\ntwo\r\nthree'])
    string (1, None) [[b'one', b'two', b'three']]
text.RegexSplitter('x').split('1x2')
    string (1, None) [[b'1', b'2']]
text.RegexSplitter('x').split_with_offsets(['1x2'])
    (string (1, None) [[b'1', b'2']]; int64 (1, None) [[0, 2]]; int64 (1, None) [[1, 3]])
text.WhitespaceTokenizer().tokenize(['a  b', ' c\t', ''])
    string (3, None) [[b'a', b'b'], [b'c'], []]
text.WhitespaceTokenizer().tokenize_with_offsets(['a  b', ' é\u3000ü '])
    (string (2, None) [[b'a', b'b'], [b'\xc3\xa9\xe3\x80', b'\xc3\xbc']]; int32 (2, None) [[0, 3], [1, 6]]; int32
    (2, None) [[1, 4], [5, 8]])
text.WhitespaceTokenizer().split('a b')
    string [2] [b'a', b'b']
text.WhitespaceTokenizer().split_with_offsets('a b')
    (string [2] [b'a', b'b']; int32 [2] [0, 2]; int32 [2] [1, 3])
text.UnicodeScriptTokenizer().tokenize(['\u041c\u0438\u0440 world!', 'a1', ''])
    string (3, None) [[b'\xd0\x9c\xd0\xb8\xd1\x80', b'world', b'!'], [b'a', b'1'], []]
text.UnicodeScriptTokenizer(keep_whitespace=True).tokenize(['a  b ', ' '])
    string (2, None) [[b'a', b' ', b'b', b' '], [b' ']]
text.UnicodeScriptTokenizer().tokenize_with_offsets(['a  b\u041c\u0438\u0440', '東a'])
    (string (2, None) [[b'a', b'b', b'\xd0\x9c\xd0\xb8\xd1\x80'], [b'\xe6\x9d\xb1', b'a']]; int64 (2, None) [[0, 3,
    4], [0, 3]]; int64 (2, None) [[1, 4, 10], [3, 4]])
text.UnicodeScriptTokenizer(True).tokenize_with_offsets(['a  b\u041c\u0438\u0440', ' 東'])
    (string (2, None) [[b'a', b' ', b'b', b'\xd0\x9c\xd0\xb8\xd1\x80'], [b' ', b'\xe6\x9d\xb1']]; int64 (2, None)
    [[0, 1, 3, 4], [0, 1]]; int64 (2, None) [[1, 3, 4, 10], [1, 4]])
text.UnicodeCharTokenizer().tokenize_with_offsets(['aé', '', '東'])
    (int32 (3, None) [[97, 233], [], [26481]]; int64 (3, None) [[0, 1], [], [0]]; int64 (3, None) [[1, 3], [], [3]])
text.UnicodeCharTokenizer().detokenize([[97, 233], [0x6771, 98]])
    string [2] [b'a\xc3\xa9', b'\xe6\x9d\xb1b']
text.ByteSplitter().split_with_offsets(['hi', '', 'é'])
    (uint8 (3, None) [[104, 105], [], [195, 169]]; int32 (3, None) [[0, 1], [], [0, 1]]; int32 (3, None) [[1, 2],
    [], [1, 2]])
text.ByteSplitter().split('hi')
    uint8 [2] [104, 105]
text.normalize_utf8(['é', 'ﬁ'], 'NFKD')
    string [2] [b'e\xcc\x81', b'fi']
text.normalize_utf8(['e\u0301'])
    string [1] [b'\xc3\xa9']
text.normalize_utf8(['a'], 'NFX')
    InvalidArgumentError: Unknown normalization form: NFX. Use one of NFC, NFD, NFKC, NFKD.
text.case_fold_utf8(['Ab', 'Straße', ''])
    string [3] [b'ab', b'strasse', b'']
text.case_fold_utf8(C([['A'], ['É', 'İ']]))
    string (2, None) [[b'a'], [b'\xc3\xa9', b'i\xcc\x87']]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


class _Both(text.TokenizerWithOffsets, text.Detokenizer):
    def tokenize_with_offsets(self, input):
        return input, 1, 2


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (text.Tokenizer, "tokenize"),
        (text.TokenizerWithOffsets, "tokenize_with_offsets"),
        (text.TokenizerWithOffsets, "split_with_offsets"),
        (text.Splitter, "split"),
        (text.SplitterWithOffsets, "split_with_offsets"),
        (text.Detokenizer, "detokenize"),
    ],
)
def test_bases_are_abstract(kind, method):
    with pytest.raises((TypeError, NotImplementedError), match=r"[aA]bstract"):
        getattr(kind(), method)(["a"])


def test_tokenizers_with_offsets_split():
    both = _Both()
    assert both.split_with_offsets(["a"]) == (["a"], 1, 2)
    assert both.tokenize(["a"]) == both.split(["a"]) == ["a"]
    with pytest.raises(NotImplementedError, match="Abstract"):
        both.detokenize([1])
