"""Texts, and what TensorFlow Text and TapeFlow make of them; `scripts/record.py text` records TensorFlow's answers."""

import random

_ARABIC, _ALEF, _SMILE, _ACUTE = "\u0645\u0631\u062d\u0628\u0627", "\u0627", "\U0001f642", "\u0301"
VOCABULARY = [
    *[
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[unused1]",
        "the",
        "qu",
        "##ick",
        "brown",
        "fox",
        "##es",
        "jump",
        "##ed",
        "##s",
        "a",
        "##a",
        "##b",
        "b",
        "cafe",
        "café",
        "##é",
        "東",
        "京",
        "語",
        "!",
        ",",
        ".",
    ],
    *[
        "-",
        "'",
        "##'",
        "#",
        "##",
        "##1",
        "1",
        "na",
        "##ive",
        "##ïve",
        "ss",
        "##ss",
        "strasse",
        "x",
        "##x",
        "y",
        "e",
        "##e",
        "é",
        "[",
        "]",
    ],
    *[_ARABIC, f"##{_ALEF}", _SMILE, f"##{_SMILE}", _ACUTE, f"##{_ACUTE}"],
]
_WORDS = [
    *[
        "the",
        "quick",
        "Brown",
        "foxes",
        "JUMPED",
        "café",
        "Café",
        "naïve",
        "Straße",
        "東京",
        "語x",
        "aab",
        "a'b",
        "##a",
        "##",
        "#",
        "[UNK]",
        "[unused1]",
        "x-y.",
        "11",
    ],
    *["ÅǄﬁ①", "한국어", "İıΣς", "x" * 120, _ARABIC, _SMILE],
]
_BETWEEN = [" ", "  ", "\t", "\n", "", "", "\0", "\u3000", "\u00a0", "\u200b", "\x07", "\xad", ", ", "!", _ACUTE, "。"]
_BETWEEN = [part.encode() for part in _BETWEEN] + [b"\xff", b"\xe6\x9d", b"\xed\xa0\x80"]


def texts(count, seed=5):
    """Returns random texts: of words, of what stands between them, and of any characters of the first planes."""
    draws = random.Random(seed)
    rows = [b"", b" ", b"the quick brown foxes jumped.", "Café, 東京!".encode()]
    while len(rows) < count:
        parts = []
        for _ in range(draws.choice([1, 2, 4, 8])):
            kind = draws.random()
            if kind < 0.1:
                code = draws.choice(
                    [draws.randrange(0x20, 0x3000), draws.randrange(0xE000, 0x10000), draws.randrange(0x1D400, 0x1F650)]
                )
                parts.append(chr(code).encode())
            else:
                parts.append(draws.choice(_WORDS).encode())
            parts.append(draws.choice(_BETWEEN[: 5 if draws.random() < 0.7 else None]))
        rows.append(b"".join(parts))
    return rows


def _table(tf):
    keys = tf.lookup.KeyValueTensorInitializer(VOCABULARY, tf.range(len(VOCABULARY), dtype=tf.int64))
    return tf.lookup.StaticVocabularyTable(keys, 1)


def cases(tf, text):
    """Returns functions of a vector of strings, by name."""
    table = _table(tf)
    bert = {"lower": {"lower_case": True}, "kept": {"keep_whitespace": True, "preserve_unused_token": True},
            "nfkc": {"normalization_form": "NFKC", "split_unknown_characters": True, "max_chars_per_token": 4},
            "plain": {"unknown_token": None, "max_bytes_per_word": 20}}  # fmt: skip
    found = {form: lambda x, form=form: text.normalize_utf8(x, form) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    found["fold"] = text.case_fold_utf8
    for name, options in bert.items():
        tokenizer = text.BertTokenizer(table, token_out_type=tf.string, **options)
        found[f"bert {name}"] = tokenizer.tokenize_with_offsets
    numbers = text.BertTokenizer(table, token_out_type=tf.int32, lower_case=True)
    found["bert numbers"] = numbers.tokenize
    found["bert back"] = lambda x: numbers.detokenize(numbers.tokenize(x).merge_dims(1, 2))
    fast = {
        "texts": {},
        "words": {"no_pretokenization": True},
        "suffix": {"suffix_indicator": "@@", "max_bytes_per_word": 30},
    }
    for name, options in fast.items():
        tokenizer = text.FastWordpieceTokenizer(
            VOCABULARY, token_out_type=tf.string, unknown_token="[UNK]", support_detokenization=True, **options
        )
        found[f"fast {name}"] = tokenizer.tokenize_with_offsets
    counted = text.FastBertTokenizer(VOCABULARY, lower_case_nfd_strip_accents=True, support_detokenization=True)
    found["fast bert"] = counted.tokenize_with_offsets
    found["fast bert back"] = lambda x: counted.detokenize(counted.tokenize(x))
    for lower in (False, True):
        normalizer = text.FastBertNormalizer(lower_case_nfd_strip_accents=lower)
        found[f"normalizer {lower}"] = normalizer.normalize_with_offsets
    for name in ("WhitespaceTokenizer", "UnicodeScriptTokenizer", "UnicodeCharTokenizer"):
        found[name] = getattr(text, name)().tokenize_with_offsets
    found["scripts and spaces"] = text.UnicodeScriptTokenizer(keep_whitespace=True).tokenize_with_offsets
    found["bytes"] = text.ByteSplitter().split_with_offsets
    patterns = {
        "spaces": (r"\s+", ""),
        "kept": (r"\s|\p{P}", r"\p{P}"),
        "gpt": (r"'s| ?\p{L}+| ?\p{N}+", ".+"),
        "edge": (r"\b[a-z]|é$", "é"),
    }
    for name, (delimiter, kept) in patterns.items():
        found[f"regex {name}"] = lambda x, d=delimiter, k=kept: text.regex_split_with_offsets(x, d, k)
    return found


def trims(tf, text):
    """Returns the results of trimmers and packers, by name."""
    draws = random.Random(8)
    rows = [[[draws.randrange(9) for _ in range(draws.randrange(7))] for _ in range(12)] for _ in range(3)]
    segments = [tf.ragged.constant(r, tf.int32) for r in rows]
    found = {}
    for name in ("RoundRobinTrimmer", "WaterfallTrimmer", "ShrinkLongestTrimmer"):
        for budget in (0, 1, 5, 8):
            trimmer = getattr(text, name)(budget)
            found[f"{name} {budget}"] = [*trimmer.trim(segments), *trimmer.generate_mask(segments)]
    found["combine"] = text.combine_segments(segments, 101, 102)
    found["concatenate"] = text.concatenate_segments(segments)
    found["pad"] = text.pad_model_inputs(segments[0], 4, pad_value=-1)
    for selector in (text.FirstNItemSelector(2, [3]), text.LastNItemSelector(2, [3, 4])):
        found[type(selector).__name__] = selector.get_selection_mask(segments[0], axis=1)
    chooser = text.MaskValuesChooser(9, 77, mask_token_rate=1.0, random_token_rate=0.0)
    found["mask"] = text.mask_language_model(segments[0], text.FirstNItemSelector(2, [3]), chooser)
    words = tf.ragged.constant([["a", "b", "c"], ["d"], []])
    found["ngrams"] = text.ngrams(words, 2, reduction_type=text.Reduction.STRING_JOIN, string_separator="|")
    found["sums"] = text.ngrams(segments[0], 3, reduction_type=text.Reduction.SUM)
    found["windows"] = text.sliding_window(segments[1], 2)
    return found


def sentencepieces(tf, text, model):
    """Returns functions of a vector of strings, by name.

    Args:
        tf, text: the libraries.
        model: the bytes of a model.
    """
    found = {}
    for name, options in {
        "numbers": {},
        "strings": {"out_type": tf.string, "add_bos": True, "add_eos": True, "reverse": True},
    }.items():
        tokenizer = text.SentencepieceTokenizer(model, **options)
        found[name] = tokenizer.tokenize_with_offsets
        found[f"{name} without places"] = tokenizer.tokenize
        found[f"{name} back"] = lambda x, t=tokenizer: t.detokenize(t.tokenize(x))
    return found


def plain(value):
    """Returns tensors as lists that JSON holds."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if hasattr(value, "numpy") or hasattr(value, "to_list"):
        return plain(value.to_list() if hasattr(value, "to_list") else value.numpy().tolist())
    return value


def tokenizers(tf, text, model):
    """Returns a module whose functions tokenize a vector of strings.

    Args:
        tf, text: the libraries.
        model: the bytes of a model of SentencePiece, for a module with that alone.
    """

    module, spec = tf.Module(), [tf.TensorSpec([None], tf.string)]
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(VOCABULARY, tf.range(len(VOCABULARY), dtype=tf.int64)), -1
    )
    module.parts = {
        "bert": text.BertTokenizer(table, lower_case=True),
        "fast": text.FastBertTokenizer(VOCABULARY, no_pretokenization=True),
        "spaces": text.WhitespaceTokenizer(),
        "scripts": text.UnicodeScriptTokenizer(),
        "regex": text.RegexSplitter(r"[\s,]"),
    }
    if model is not None:
        module.parts = {"sentencepiece": text.SentencepieceTokenizer(model)}
    for name, part in module.parts.items():
        setattr(module, name, tf.function(part.split_with_offsets, input_signature=spec, autograph=False))
    if model is not None:
        return module
    trimmer = text.RoundRobinTrimmer(6)
    first, second = module.parts["bert"], module.parts["fast"]

    def pack(x):
        segments = trimmer.trim([first.tokenize(x).merge_dims(1, 2), second.tokenize(x)])
        return text.pad_model_inputs(text.combine_segments(segments, 2, 3)[0], 12)

    module.pack = tf.function(pack, input_signature=spec, autograph=False)
    return module
