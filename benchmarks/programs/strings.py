"""Ops on 100,000 strings of 3 to 18 characters, a layer for text, and ops on one string."""

import random

THREADS = 1
COUNT = 100_000

_random = random.Random(1)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ  ,."
WORDS = ["".join(_random.choices(_LETTERS, k=_random.randint(3, 18))) for _ in range(COUNT)]
NUMBERS = [str(_random.random() * 1000)[:8] for _ in range(COUNT)]
FEW = _random.choices(WORDS[:5000], k=COUNT)
TEXTS = [" ".join(_random.choices(FEW, k=2)) for _ in range(COUNT // 10)]


def setup(tf):
    x, y, few, numbers = map(tf.constant, (WORDS, WORDS[::-1], FEW, NUMBERS))
    counts, reverse = tf.range(COUNT), tf.range(COUNT - 1, -1, -1)
    rows, one = tf.reshape(x, [-1, 10]), tf.constant("Hello, World")
    pairs = tf.lookup.KeyValueTensorInitializer(WORDS[:5000], list(range(5000)))
    table = tf.lookup.StaticHashTable(pairs, -1)
    layer, texts = tf.keras.layers.TextVectorization(), tf.constant(TEXTS)
    layer.adapt(texts)

    def adapt():
        new = tf.keras.layers.TextVectorization(max_tokens=1000)
        new.adapt(texts)
        return tf.constant(new.vocabulary_size())

    strings = tf.strings
    return {
        "length": lambda: strings.length(x),
        "length, characters": lambda: strings.length(x, unit="UTF8_CHAR"),
        "substr": lambda: strings.substr(x, 1, 5),
        "lower": lambda: strings.lower(x),
        "strip": lambda: strings.strip(x),
        "split": lambda: strings.split(x).flat_values,
        "split at a comma": lambda: strings.split(x, ",").flat_values,
        "bytes_split": lambda: strings.bytes_split(x).flat_values,
        "join": lambda: strings.join([x, y], "-"),
        "reduce_join": lambda: strings.reduce_join(rows, -1),
        "ngrams": lambda: strings.ngrams(rows, 2),
        "to_number": lambda: strings.to_number(numbers),
        "as_string": lambda: tf.as_string(counts),
        "regex_replace": lambda: strings.regex_replace(x, "[^a-z]", ""),
        "regex_replace, a group": lambda: strings.regex_replace(x, "([a-z]+)A", r"<\1>"),
        "regex_full_match": lambda: strings.regex_full_match(x, "[a-z]+.*"),
        "unicode_decode": lambda: strings.unicode_decode(x, "UTF-8").flat_values,
        "unicode_split": lambda: strings.unicode_split(x, "UTF-8").flat_values,
        "encode_base64": lambda: tf.io.encode_base64(x),
        "unique": lambda: tf.unique(few)[1],
        "equal": lambda: x == y,
        "gather": lambda: tf.gather(x, reverse),
        "concat": lambda: tf.concat([x, y], 0),
        "where": lambda: tf.where(strings.length(x) > 8, x, y),
        "constant from a list": lambda: tf.constant(WORDS),
        "numpy": lambda: tf.constant(len(x.numpy())),
        "to_hash_bucket_fast": lambda: strings.to_hash_bucket_fast(x, 1000),
        "lookup in a table": lambda: table.lookup(few),
        f"TextVectorization of {len(TEXTS)} texts: adapt": adapt,
        f"TextVectorization of {len(TEXTS)} texts: call": lambda: layer(texts),
        "one string: length": lambda: strings.length(one),
        "one string: substr": lambda: strings.substr(one, 1, 3),
        "one string: lower": lambda: strings.lower(one),
        "one string: strip": lambda: strings.strip(one),
        "one string: split": lambda: strings.split(one),
        "one string: join": lambda: strings.join([one, one]),
        "one string: to_number": lambda: strings.to_number("1.5"),
        "one string: regex_replace": lambda: strings.regex_replace(one, "l+", "L"),
        "one string: equal": lambda: one == one,
        "one string: lookup": lambda: table.lookup(one),
    }
