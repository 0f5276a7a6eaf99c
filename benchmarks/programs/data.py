"""Input pipelines: an epoch of batches from arrays in memory, and of small functions of numbers.

TapeFlow and TensorFlow run the same `tf.data` pipelines. torch has a `DataLoader` as one writes it for arrays; JAX has no
pipelines. What is returned and compared is a number that does not depend on the order of the elements.
"""

import numpy as np

THREADS = 1

ROWS, WIDTH, BATCH = 4096, 16, 32
NUMBERS = 8192

_rng = np.random.default_rng(0)
FEATURES = _rng.random([ROWS, WIDTH], np.float32)
LABELS = _rng.integers(0, 10, ROWS)


def setup(tf):
    dataset = tf.data.Dataset
    shuffled = dataset.from_tensor_slices((FEATURES, LABELS)).shuffle(1000, seed=1).batch(BATCH)
    mapped = dataset.range(NUMBERS).map(lambda x: x * 2 + 1).batch(BATCH)
    single = dataset.from_tensor_slices(FEATURES).map(lambda x: x * 2.0)

    def rows(pipeline):
        def epoch():
            count = 0
            for batch in pipeline:
                count += len(batch[0]) if isinstance(batch, tuple) else len(batch)
            return tf.constant(count)

        return epoch

    return {
        f"slices, shuffle(1000), batch({BATCH}): {ROWS} rows": rows(shuffled),
        f"range, map, batch({BATCH}): {NUMBERS} numbers": rows(mapped),
        f"slices, map: {ROWS} rows": rows(single),
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
