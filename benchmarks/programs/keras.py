"""Keras as its users run it: a cell called eagerly, training steps around a tape, and an epoch of `fit`.

The models are those of TensorFlow's guides, on data made here: a convolutional network stepped eagerly, a dense
network stepped in a `tf.function` with its metrics, and that network trained by `fit` on 2,048 images in batches of
32, after an epoch that traces. TapeFlow and TensorFlow run the same Keras. What is compared is the output or the loss.
"""

import numpy as np

THREADS = 1

IMAGES, BATCH = 2048, 32
LEARNING_RATE = 1e-6  # thousands of steps must not end at a loss of zero: denormal numbers are slow

_rng = np.random.default_rng(0)
X = _rng.random([IMAGES, 28, 28, 1], np.float32)
Y = (X[:, :4, :4].mean((1, 2, 3)) * 10).astype(np.int64)
CELL = [(_rng.standard_normal(shape) * 0.3).astype(np.float32) for shape in ((10, 10), (10, 10), (10, 10))]
KERNELS = [(_rng.standard_normal(shape) * 0.1).astype(np.float32) for shape in ((10, 40), (10, 40))]


def set_weights(model):
    """The same weights under all frameworks."""
    rng = np.random.default_rng(1)
    model.set_weights([rng.standard_normal(w.shape).astype(np.float32) * 0.1 for w in model.get_weights()])
    return model


def setup(tf):
    keras = tf.keras
    images, labels = tf.constant(X[:BATCH]), tf.constant(Y[:BATCH])
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    cell = keras.layers.LSTMCell(10)
    x, h, c = (tf.constant(a) for a in CELL)
    cell(x, [h, c])
    cell.set_weights([*KERNELS, np.zeros(40, np.float32)])

    def convolutional():
        layers = keras.layers
        return set_weights(
            keras.Sequential([
                keras.Input((28, 28, 1)), layers.Conv2D(16, 3, activation="relu"),
                layers.Conv2D(16, 3, activation="relu"),
                layers.GlobalAveragePooling2D(), layers.Dense(10),
            ])
        )  # fmt: skip

    def dense():
        layers = [keras.Input((28, 28, 1)), keras.layers.Flatten(), keras.layers.Dense(128, activation="relu")]
        return set_weights(keras.Sequential([*layers, keras.layers.Dense(10)]))

    def new_step(model):
        optimizer = keras.optimizers.Adam(LEARNING_RATE)
        optimizer.build(model.trainable_variables)

        def step():
            with tf.GradientTape() as tape:
                loss = losses(labels, model(images, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return step

    def new_measured_step(model):
        step = new_step(model)
        mean, accuracy = keras.metrics.Mean(), keras.metrics.SparseCategoricalAccuracy()

        @tf.function
        def measured():
            loss = step()
            mean.update_state(loss)
            accuracy.update_state(labels, model(images, training=False))
            return loss

        return measured

    trained = dense()
    trained.compile(keras.optimizers.Adam(LEARNING_RATE), losses, metrics=["accuracy"])

    def fit():
        return trained.fit(X, Y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0).history["loss"][0]

    fit()

    return {
        "LSTMCell, eager call": lambda: cell(x, [h, c])[0],
        "MNIST conv net step, eager": new_step(convolutional()),
        "Fashion-MNIST step in a tf.function": new_measured_step(dense()),
        "fit, an epoch of 2,048 images": fit,
    }
