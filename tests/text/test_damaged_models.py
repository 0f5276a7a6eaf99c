"""Models of tokenizers that are damaged give errors, or tokens, and never more."""

import random

import pytest

import tapeflow as tf
from tapeflow import text
from tapeflow.text import trimmers
from tapeflow.text.flat_models import FlatTable, write_table

TEXTS = ["the quick, brown fox", "東京 a", "", "x" * 200, "thé"]
PIECES = ["[UNK]", "the", "qu", "##ick", "brown", ",", "##s", "a"]


@pytest.mark.parametrize("kind", ["pieces", "words", "normalizer"])
def test_damaged_models(kind):
    if kind == "normalizer":
        model = text.build_fast_bert_normalizer_model(False)
    else:
        model = text.build_fast_wordpiece_model(PIECES, 100, "##", "[UNK]", kind == "words", True)
    draws, texts = random.Random(4), tf.constant(TEXTS)
    for _ in range(300):
        damaged = bytearray(model)
        for _ in range(draws.choice([1, 1, 3, 40])):
            damaged[draws.randrange(draws.choice([100, len(damaged)]))] = draws.randrange(256)
        damaged = damaged[: draws.choice([len(damaged), len(damaged), draws.randrange(len(damaged))])]
        try:
            if kind == "normalizer":
                text.FastBertNormalizer(model_buffer=bytes(damaged)).normalize_with_offsets(texts)
            else:
                tokenizer = text.FastWordpieceTokenizer(model_buffer=bytes(damaged))
                tokenizer.tokenize_with_offsets(texts)
                tokenizer.detokenize([[0, 1, 2, 3]])
        except tf.errors.OpError:
            pass


def test_flat_tables():
    fields = [7, b"text", [b"a", b"", b"longer"], -1]
    table = FlatTable(write_table(fields))
    assert (table.number(0, "I"), table.text(1), table.texts(2), table.number(3, "i")) == (7, b"text", fields[2], -1)
    assert table.number(9, "I") == 0 and table.texts(9) == []
    for data in (b"", b"\0", b"\xff" * 40):
        with pytest.raises(tf.errors.InvalidArgumentError, match="damaged"):
            FlatTable(data)


def test_row_splits_that_do_not_fit():
    for splits in ([0, 9], [0, 2], [1, 3], [0, 4, 3], []):
        with pytest.raises(tf.errors.InvalidArgumentError, match="row splits"):
            trimmers._trim_op(2, [tf.constant([1, 2, 3])], [tf.constant(splits, tf.int64)])


def test_errors_of_users():
    with pytest.raises(RuntimeError, match="unique"):
        text.FastWordpieceTokenizer(["[UNK]", "a", "a"])
    with pytest.raises(RuntimeError, match="unk_token"):
        text.FastWordpieceTokenizer(["a"])
    with pytest.raises(TypeError, match="lookup table"):
        text.WordpieceTokenizer(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="normalization form"):
        text.normalize_utf8("a", "NFX")
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty string"):
        text.regex_split(["aab"] * 9, "x*")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        text.regex_split(["a"], "(")
    with pytest.raises(tf.errors.FailedPreconditionError, match="support_detokenization"):
        text.FastWordpieceTokenizer(["[UNK]"], no_pretokenization=True).detokenize([[0]])
    with pytest.raises(tf.errors.OutOfRangeError, match="out of bounds: 5"):
        text.FastWordpieceTokenizer(["[UNK]"], no_pretokenization=True, support_detokenization=True).detokenize([[5]])
