"""Ops on one, two and ten strings, and a pipeline that looks words up."""

THREADS = 1


def setup(tf):
    strings, pairs = tf.strings, tf.lookup.KeyValueTensorInitializer
    table = tf.lookup.StaticHashTable(pairs([f"key {i}" for i in range(10)], range(10)), -1)
    words = tf.lookup.StaticHashTable(pairs([f"{i}" for i in range(10)], list("abcdefghij")), "z")
    mutable = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    pipeline = tf.data.Dataset.from_tensor_slices([f"key {i % 12}" for i in range(100)]).map(table.lookup)

    def of(size):
        values = [f"key {i}" for i in range(size)] if size else "key 1"
        x, y = tf.constant(values), tf.constant([v + "Q" for v in values] if size else "key 2")
        numbers = tf.constant([str(i) for i in range(size)] if size else "1")
        flags, counts = strings.length(x) > 9, tf.range(size)
        x64 = tf.io.encode_base64(x)
        calls = {
            "constant": lambda: tf.constant(values),
            "numpy": lambda: len(x.numpy()),
            "length": lambda: strings.length(x),
            "length, characters": lambda: strings.length(x, unit="UTF8_CHAR"),
            "substr": lambda: strings.substr(x, 1, 3),
            "lower": lambda: strings.lower(x),
            "strip": lambda: strings.strip(x),
            "split": lambda: strings.split(x),
            "join": lambda: strings.join([x, y], "-"),
            "to_number": lambda: strings.to_number(numbers),
            "regex_replace": lambda: strings.regex_replace(x, "e", "E"),
            "regex_full_match": lambda: strings.regex_full_match(x, "[a-z]+.*"),
            "to_hash_bucket_fast": lambda: strings.to_hash_bucket_fast(x, 1000),
            "to_hash_bucket": lambda: strings.to_hash_bucket(x, 1000),
            "unicode_decode": lambda: strings.unicode_decode(x, "UTF-8"),
            "encode_base64": lambda: tf.io.encode_base64(x),
            "decode_base64": lambda: tf.io.decode_base64(x64),
            "split at a space": lambda: strings.split(x, " "),
            "unicode_transcode": lambda: strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
            "equal": lambda: x == y,
            "where": lambda: tf.where(flags, x, y),
            "stack": lambda: tf.stack([x, y]),
            "identity": lambda: tf.identity(x),
            "expand_dims": lambda: tf.expand_dims(x, 0),
            "lookup": lambda: table.lookup(x),
            "lookup of strings": lambda: words.lookup(numbers),
            "insert": lambda: (mutable.insert(x, tf.ones_like(x, tf.int64)), x)[1],
            "decode_raw": lambda: tf.io.decode_raw(x, tf.uint8),
        }
        if size:
            calls |= {
                "reduce_join": lambda: strings.reduce_join(x),
                "as_string": lambda: tf.as_string(counts),
                "gather": lambda: tf.gather(x, counts),
                "concat": lambda: tf.concat([x, y], 0),
                "unstack": lambda: tf.unstack(x),
                "index": lambda: x[0],
                "slice": lambda: x[1:],
                "reverse": lambda: tf.reverse(x, [0]),
                "tile": lambda: tf.tile(x, [2]),
                "unique": lambda: tf.unique(x)[1],
                "reshape": lambda: tf.reshape(x, [1, -1]),
                "ngrams": lambda: strings.ngrams(x, 1),
                "bytes_split": lambda: strings.bytes_split(x),
                "boolean_mask": lambda: tf.boolean_mask(x, flags),
            }
        return calls

    by_size = {size: of(size) for size in (0, 2, 10)}
    names = by_size[10]
    out = {n: {f"{s or 'a scalar'}": calls[n] for s, calls in by_size.items() if n in calls} for n in names}
    out["a pipeline that looks words up"] = lambda: sum(1 for _ in pipeline)
    return out
