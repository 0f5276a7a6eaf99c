"""Tokenizers of `tensorflow_text` on 10,000 sentences."""

import importlib
import random

THREADS = 1
COUNT = 10_000

_random = random.Random(2)
_LETTERS = "etaoinshrdlucmfwypvbgkéüß"
_WORDS = ["".join(_random.choices(_LETTERS, k=_random.randint(2, 9))) for _ in range(5000)]
_PIECES = sorted(
    {word[:k] for word in _WORDS for k in (1, 3, 5)} | {"##" + word[-k:] for word in _WORDS for k in (1, 2, 3)}
)
VOCABULARY = ["[PAD]", "[UNK]", ",", ".", *_PIECES]


def _sentence():
    words = [_random.choice(_WORDS) + _random.choice(["", "", "", ","]) for _ in range(_random.randint(5, 25))]
    return " ".join(words).capitalize() + "."


SENTENCES = [_sentence() for _ in range(COUNT)]


def setup(tf):
    name = "tensorflow_text" if tf.__name__ == "tensorflow" else "tapeflow.text"
    text, x = importlib.import_module(name), tf.constant(SENTENCES)
    init = tf.lookup.KeyValueTensorInitializer(VOCABULARY, tf.range(len(VOCABULARY), dtype=tf.int64))
    bert = text.BertTokenizer(tf.lookup.StaticHashTable(init, 1), lower_case=True)
    fast = text.FastBertTokenizer(VOCABULARY, lower_case_nfd_strip_accents=True)
    rows = fast.tokenize(x)
    trimmer = text.RoundRobinTrimmer(20)
    return {
        "case_fold_utf8": lambda: text.case_fold_utf8(x),
        "normalize_utf8, NFD": lambda: text.normalize_utf8(x, "NFD"),
        "regex_split": lambda: text.regex_split(x, r"\s|\p{P}", r"\p{P}").flat_values,
        "WhitespaceTokenizer": lambda: text.WhitespaceTokenizer().tokenize(x).flat_values,
        "BertTokenizer": lambda: bert.tokenize(x).flat_values,
        "FastBertTokenizer": lambda: fast.tokenize(x).flat_values,
        "FastBertTokenizer, with offsets": lambda: fast.tokenize_with_offsets(x)[1].flat_values,
        "RoundRobinTrimmer": lambda: trimmer.trim([rows, rows])[0].flat_values,
    }
