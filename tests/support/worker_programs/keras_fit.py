"""A Keras model under `MultiWorkerMirroredStrategy`: the program of TensorFlow's guide, on numbers of its own."""

import json

import numpy as np

import tapeflow as tf


def train(strategy):
    per_worker_batch_size = 16 // strategy.num_replicas_in_sync
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 8, 3)).astype("float32"), rng.integers(0, 4, size=60)
    global_batch_size = per_worker_batch_size * strategy.num_replicas_in_sync
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch_size)
    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.Input((8, 3)),
                tf.keras.layers.Conv1D(4, 3, activation="relu"),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(4),
            ]
        )
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(learning_rate=0.01),
            metrics=["accuracy"],
        )
        for i, weight in enumerate(model.trainable_variables):
            weight.assign(np.random.default_rng(i).normal(size=weight.shape, scale=0.3))
    history = model.fit(dataset.take(3).repeat(), epochs=3, steps_per_epoch=3, verbose=0).history
    evaluated = model.evaluate(dataset, verbose=0)
    from_arrays = model.fit(x[:48], y[:48], batch_size=16, epochs=1, shuffle=False, verbose=0).history
    predicted = model.predict(x[:32], batch_size=16, verbose=0)
    sent = [bytes_sent(strategy, lambda n=n: model.fit(dataset.take(n), verbose=0)) for n in (1, 3)]
    return {
        "history": history, "evaluated": evaluated, "arrays": from_arrays, "sent": (sent[1] - sent[0]) // 2,
        "predicted": [predicted.shape, float(np.square(predicted).sum())],
    }  # fmt: skip


def bytes_sent(strategy, train):
    """Returns the number of bytes that this worker passes to reductions meanwhile; none if it is alone."""
    group = getattr(strategy.extended, "_group", None)
    before = group.bytes_sent if group else 0
    train()
    return group.bytes_sent - before if group else 0


if __name__ == "__main__":
    print(json.dumps(train(tf.distribute.MultiWorkerMirroredStrategy())))
