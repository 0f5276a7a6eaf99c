"""Random strings, and ops on them: `draws(tf, seed)` gives what TensorFlow and TapeFlow are to give alike."""

import hashlib
import random

LETTERS = ["a", "B", "ab", " ", "\t", ",", ".", "1", "-", "é", "Ω", "日", "\U0001d11e", "_", "0x"]
BYTES = [
    b"\0", b"\xff", b"\xc3", b"\xa9", b"\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80",
    b"\xe6\x97",
]  # fmt: skip
PATTERNS = [
    "[^a-z]", r"\s+", "a*", "(a|ab)(.)", "é", ".", r"\bB", "^a", "[[:punct:]]", "(?i)b", r"\d{1,2}", "b+?", "", "a$",
    r"\W",
]  # fmt: skip
GROUPS = [
    r"(\w+)(\W)?", "(a)|(B)", "(?P<x>.)(.)?", "([^b]*)b", "(?:(a)|(b)|(é))+", "()a", r"\b(\w)", "((a)(B))", "^(.)(.)*$",
    "(a|ab)(1|é)?(.*)", "(a*)*", "(?i)(ab)",
]  # fmt: skip
ORDERS = [r"\2\1", r"[\1]", r"\3", r"\1\0\1", r"\1\x"]
REWRITES = ["", "x", r"<\0>", r"\1", r"\\", "日"]
SEPARATORS = ["", ",", "ab", " ", "é", "\0"]
NUMBERS = ["1", " -2.5 ", "+7", "1e3", "inf", "-nan", "0x1F", "1_0", "", "9" * 30, "1e-400", "16777217.0000001"]
NUMBERS += ["\v3\n"]


def string(rng, large=False):
    """A random string; a large one of a megabyte."""
    kind = rng.randrange(8)
    pieces = [p.encode() for p in LETTERS] + (BYTES if kind > 4 else [])
    text = b"".join(rng.choices(pieces, k=0 if kind == 0 else rng.randrange(12)))
    return (text or b"ab,") * (1_000_000 // len(text or b"ab,")) if large else text


def calls(tf, rng):
    """Pairs of a name and a function without arguments, of which each computes something of the same random strings."""
    size = rng.choice([0, 1, 2, 5, 30, 300])
    values = [string(rng, large=size == 5 and i == 0 and rng.random() < 0.1) for i in range(size)]
    others = [string(rng) for _ in range(size)]
    places = [rng.randrange(-6, 7) for _ in range(size)]
    counts = [rng.randrange(-1, 6) for _ in range(size)]
    indices = [rng.randrange(size) for _ in range(2 * size)] if size else []
    x, y = tf.constant(values, tf.string, [size]), tf.constant(others, tf.string, [size])
    pos, length = tf.constant(places, tf.int32, [size]), tf.constant(counts, tf.int32, [size])
    at = tf.constant(indices, tf.int32, [len(indices)])
    few = tf.constant(rng.choices([*values[:3], b"z"], k=20))
    numbers = tf.constant(rng.choices(NUMBERS, k=1) + [str(rng.uniform(-1e6, 1e6)) for _ in range(size)])
    pattern, rewrite, separator = rng.choice(PATTERNS), rng.choice(REWRITES), rng.choice(SEPARATORS)
    unit, one, most = rng.choice(["BYTE", "UTF8_CHAR"]), rng.randrange(-3, 4), rng.choice([-1, 0, 1, 2])
    split, segments = rng.choice([1, 2, 5]), tf.constant([rng.randrange(4) for _ in range(size)], tf.int32, [size])
    rows = tf.reshape(x[: size - size % split], [-1, split])
    s = tf.strings
    encoding = rng.choice(["UTF-8", "UTF-8", "UTF-16-BE"])
    errors = rng.choice(["replace", "ignore"])
    known = list(dict.fromkeys(values)) or [b""]
    cells = [rng.choice([v, b'"' + v.replace(b'"', b'""') + b'"', b""]) for v in others for _ in (0, 1)]
    lines = tf.constant([b",".join(cells[2 * i : 2 * i + 2]) for i in range(size)], tf.string, [size])
    groups, order = rng.choice(GROUPS), rng.choice(ORDERS)
    bytes_of = [tf.train.BytesList(value=values[i : i + 2]) for i in range(0, size, 2)]
    features = [tf.train.Features(feature={"a": tf.train.Feature(bytes_list=each)}) for each in bytes_of]
    examples = [tf.train.Example(features=each).SerializeToString() for each in features] or [b""]
    ragged = {"a": tf.io.RaggedFeature(tf.string), "b": tf.io.FixedLenFeature([], tf.string, default_value="é")}
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(known, list(range(len(known)))), -1)
    return {
        "length": lambda: s.length(x, unit=unit),
        "substr": lambda: s.substr(x, pos, length, unit),
        "substr of one place": lambda: s.substr(x, one, 3, unit),
        "lower": lambda: (s.lower(x), s.upper(x)),
        "strip": lambda: s.strip(x),
        "split": lambda: s.split(x, separator, most),
        "bytes_split": lambda: s.bytes_split(x),
        "join": lambda: s.join([x, y, "-", x], separator),
        "reduce_join": lambda: (s.reduce_join(rows, 0, separator=separator), s.reduce_join(rows, [1, 0])),
        "unsorted_segment_join": lambda: s.unsorted_segment_join(x, segments, 4, separator),
        "ngrams": lambda: s.ngrams(rows, [1, 2], separator, pad_values=("<", "é")),
        "to_number": lambda: (s.to_number(numbers), s.to_number(numbers, tf.float64)),
        "to_number, whole": lambda: s.to_number(numbers, tf.int32),
        "as_string": lambda: (tf.as_string(at), tf.as_string(length, width=4)),
        "regex_replace": lambda: s.regex_replace(x, pattern, rewrite, replace_global=most < 0),
        "regex_replace, groups": lambda: s.regex_replace(x, groups, order, replace_global=most < 0),
        "decode_csv": lambda: tf.io.decode_csv(lines, [["d"], [""]], use_quote_delim=most < 0),
        "parse_example": lambda: [v for _, v in sorted(tf.io.parse_example(examples, ragged).items())],
        "serialize_tensor": lambda: tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.string),
        "format": lambda: s.format("{} is {}", (x, rows), summarize=split),
        "regex_full_match": lambda: s.regex_full_match(x, pattern),
        "unicode_decode": lambda: s.unicode_decode_with_offsets(x, encoding, errors),
        "unicode_split": lambda: s.unicode_split(x, "UTF-8", errors),
        "unicode_transcode": lambda: s.unicode_transcode(x, "UTF-8", encoding, errors, 63, most < 0),
        "encode_base64": lambda: tf.io.encode_base64(x, pad=most < 0),
        "decode_base64": lambda: tf.io.decode_base64(tf.io.encode_base64(x)),
        "decode_raw": lambda: tf.io.decode_raw(x, tf.uint8, fixed_length=4),
        "unique": lambda: (*tf.unique(few), tf.unique_with_counts(few)[2]),
        "equal": lambda: (x == y, x != x, tf.equal(few, b"z")),
        "gather": lambda: tf.gather(x, at),
        "concat": lambda: (tf.concat([x, y, few], 0), tf.stack([x, y], 1)),
        "where": lambda: tf.where(x == y, x, y),
        "scatter_nd": lambda: tf.scatter_nd(tf.reshape(segments, [-1, 1]), x, [4]),
        "add": lambda: (x + y, x + "-"),
        "slices": lambda: (x[1:], x[::-2], rows[:, -1], tf.reverse(rows, [1]), tf.transpose(rows)),
        "pad": lambda: (tf.pad(x, [[1, 2]]), tf.tile(x, [2]), tf.boolean_mask(x, x != y)),
        "hashes": lambda: (s.to_hash_bucket_fast(x, 97), s.to_hash_bucket(x, 97)),
        "strong hashes": lambda: s.to_hash_bucket_strong(x, 97, [3, -4]),
        "fingerprint": lambda: tf.fingerprint(rows),
        "lookup": lambda: (table.lookup(x), table.lookup(y), table.lookup(few)),
        "ragged": lambda: tf.RaggedTensor.from_value_rowids(x, tf.sort(segments), 4).to_tensor("?"),
    }  # fmt: skip


def described(result):
    """A text that says everything of a result."""
    if isinstance(result, tuple | list):
        return "(" + ";".join(map(described, result)) + ")"
    if hasattr(result, "flat_values"):
        return described([result.flat_values, *result.nested_row_splits])
    value = result.numpy()
    return f"{result.dtype.name}{result.shape.as_list()}{value.tolist() if result.shape.rank else value!r}"


def draws(tf, seed):
    """The outcome of each call for a seed: a short hash, or the class of the error."""
    outcomes = {}
    for name, call in calls(tf, random.Random(seed)).items():
        try:
            outcomes[name] = hashlib.sha256(described(call()).encode()).hexdigest()[:8]
        except UnicodeDecodeError:  # TensorFlow's message quotes bytes that are no text
            outcomes[name] = "InvalidArgumentError"
        except Exception as error:
            outcomes[name] = type(error).__name__
    return outcomes
