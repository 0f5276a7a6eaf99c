"""Input pipelines: an epoch of batches from arrays in memory and from files, and of small functions of numbers.

TapeFlow and TensorFlow run the same `tf.data` pipelines. torch has a `DataLoader` as one writes it for arrays; JAX has
no pipelines. What is returned and compared is a number that does not depend on the order of the elements.
"""

import atexit
import functools
import shutil
import tempfile

import numpy as np

THREADS = 1

ROWS, WIDTH, BATCH = 4096, 16, 32
NUMBERS, RECORDS = 8192, 1024

_rng = np.random.default_rng(0)
FEATURES = _rng.random([ROWS, WIDTH], np.float32)
LABELS = _rng.integers(0, 10, ROWS)
IMAGES = _rng.integers(0, 256, [RECORDS, 28, 28], np.uint8)
WORDS = [f"word{i}" for i in range(100)]


def setup(tf):
    dataset = tf.data.Dataset
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    shuffled = dataset.from_tensor_slices((FEATURES, LABELS)).shuffle(1000, seed=1).batch(BATCH)
    mapped = dataset.range(NUMBERS).map(lambda x: x * 2 + 1).batch(BATCH)
    single = dataset.from_tensor_slices(FEATURES).map(lambda x: x * 2.0)
    branches = dataset.range(NUMBERS).map(lambda x: tf.where(x % 3 == 0, -x, tf.reduce_sum([x, x]))).batch(BATCH)
    images = dataset.from_tensor_slices((IMAGES, LABELS[:RECORDS])).shuffle(RECORDS, seed=1)
    images = images.map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, label)).batch(BATCH).prefetch(2)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(WORDS, list(range(100))), -1)
    words = dataset.from_tensor_slices(WORDS * 20).batch(BATCH).map(table.lookup)
    resized = dataset.from_tensor_slices(IMAGES[..., None]).map(lambda image: tf.image.resize(image, [20, 20]))
    layers = tf.keras.layers
    augmenting = [
        layers.RandomFlip(), layers.RandomRotation(0.1), layers.RandomZoom(0.2), layers.RandomTranslation(0.1, 0.1),
        layers.RandomContrast(0.2),
    ]  # fmt: skip
    colors = np.repeat(IMAGES[:256, :, :, None], 3, 3).astype(np.float32)
    augmented = dataset.from_tensor_slices(colors).map(
        lambda image: functools.reduce(lambda i, layer: layer(i, training=True), augmenting, image)
    )
    pictures = [tf.io.encode_jpeg(np.repeat(image[..., None], 3, 2)).numpy() for image in IMAGES[:256]]
    decoded = dataset.from_tensor_slices(pictures).map(lambda j: tf.image.resize(tf.io.decode_jpeg(j, 3), [16, 16]))
    lower = dataset.from_tensor_slices(WORDS * 20).map(
        lambda word: tf.strings.regex_replace(tf.strings.lower(word), "[0-9]", "")
    )
    paths = dataset.from_tensor_slices(WORDS * 10).map(
        lambda word: tf.strings.split(tf.strings.join(["a", word, "b"], "/"), "/")[1]
    )
    fields = dataset.from_tensor_slices([f"{i},{i / 4},x" for i in range(RECORDS)])
    fields = fields.map(lambda line: tf.io.decode_csv(line, [0, 0.0, ""])[1]).batch(BATCH)

    def rows(pipeline):
        def epoch():
            count = 0
            for batch in pipeline:
                batch = batch[0] if isinstance(batch, tuple) else batch
                count += len(batch) if batch.shape else 1
            return tf.constant(count)

        return epoch

    return {
        f"slices, shuffle(1000), batch({BATCH}): {ROWS} rows": rows(shuffled),
        f"range, map, batch({BATCH}): {NUMBERS} numbers": rows(mapped),
        f"slices, map: {ROWS} rows": rows(single),
        f"range, map of 6 ops, batch({BATCH}): {NUMBERS} numbers": rows(branches),
        f"images, shuffle, map, batch({BATCH}): {RECORDS} of 28x28": rows(images),
        f"batch({BATCH}), map a table's lookup: {20 * len(WORDS)} words": rows(words),
        f"resize, batch({BATCH}): {RECORDS} of 28x28": rows(resized.batch(BATCH)),
        f"five augmentation layers, batch({BATCH}): {len(colors)} of 28x28": rows(augmented.batch(BATCH)),
        f"decode_jpeg, resize, batch({BATCH}): {len(pictures)} of 28x28": rows(decoded.batch(BATCH)),
        f"lower, regex_replace, batch({BATCH}): {20 * len(WORDS)} words": rows(lower.batch(BATCH)),
        f"join, split, batch({BATCH}): {10 * len(WORDS)} words": rows(paths.batch(BATCH)),
        f"decode_csv, batch({BATCH}): {RECORDS} lines": rows(fields),
        **{f"{name}: {RECORDS} records": rows(p) for name, p in _files(tf, folder).items()},
    }


def _files(tf, folder):
    """Pipelines over files, which each framework writes for itself."""
    records, text, table = (f"{folder}/{name}" for name in ("records", "text", "table"))
    with tf.io.TFRecordWriter(records) as writer:
        for row, label in zip(FEATURES[:RECORDS], LABELS, strict=False):
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.extend(row.tolist())
            example.features.feature["y"].int64_list.value.append(int(label))
            writer.write(example.SerializeToString())
    tf.io.write_file(text, "\n".join(f"line {i}" for i in range(RECORDS)))
    tf.io.write_file(table, "".join(f"{i},{i / 4},name{i}\n" for i in range(RECORDS)))
    features = {"x": tf.io.FixedLenFeature([WIDTH], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    rows = tf.data.experimental.CsvDataset(table, [tf.int32, tf.float32, tf.string])
    parsed = tf.data.TFRecordDataset(records).batch(BATCH).map(lambda r: tf.io.parse_example(r, features)["x"])
    return {
        f"TFRecords, batch({BATCH}), parse_example": parsed,
        f"lines of text, batch({BATCH})": tf.data.TextLineDataset(text).batch(BATCH),
        f"CSV rows, batch({BATCH})": rows.batch(BATCH),
    }


def setup_torch(torch):
    data = torch.utils.data
    arrays = data.TensorDataset(torch.from_numpy(FEATURES), torch.from_numpy(LABELS))
    loader = data.DataLoader(arrays, BATCH, shuffle=True)

    def epoch():
        return torch.tensor(sum(len(labels) for _, labels in loader))

    return {f"slices, shuffle(1000), batch({BATCH}): {ROWS} rows": epoch}


def setup_jax(jax):
    return {}
