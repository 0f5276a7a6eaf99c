"""Programs as they were written for TensorFlow 1, which TensorFlow and TapeFlow both run, see
`compat/v1/test_training.py`.

Each takes `tf` (`tensorflow.compat.v1`, or TapeFlow's) and a folder, begins with the same values everywhere, and
gives numbers.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np


def digits() -> tuple[Any, Any]:
    """The first 200 images of MNIST's sample in the examples, of every second row and column, with their labels."""
    data = np.load(pathlib.Path(__file__).parents[2] / "examples" / "data" / "mnist_sample.npz")
    return data["x_train"][:200, ::2, ::2].reshape(200, 196).astype(np.float32) / 255, data["y_train"][:200].astype(
        np.int64
    )


def softmax_regression(tf: Any, folder: str) -> dict[str, Any]:
    """The first program of TensorFlow's old tutorials: softmax regression on images of digits."""
    images, labels = digits()
    onehot = np.eye(10, dtype=np.float32)[labels]
    x = tf.placeholder(tf.float32, [None, 196])
    w = tf.Variable(tf.zeros([196, 10]), name="w")
    b = tf.Variable(tf.zeros([10]), name="b")
    y = tf.nn.softmax(tf.matmul(x, w) + b)
    y_ = tf.placeholder(tf.float32, [None, 10])
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
    correct = tf.equal(tf.argmax(y, dimension=1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(40):
            batch = slice(i % 4 * 50, i % 4 * 50 + 50)
            _, loss = sess.run([train_step, cross_entropy], feed_dict={x: images[batch], y_: onehot[batch]})
            losses.append(loss)
        found = accuracy.eval({x: images, y_: onehot})
        return {"losses": losses, "accuracy": found, "b": sess.run(b), "w": sess.run(w)[:3]}


def perceptron_with_saver(tf: Any, folder: str) -> dict[str, Any]:
    """A network of two layers with dropout, regularization, a decaying rate and momentum, saved and gone on with."""
    images, labels = digits()
    first = np.sin(np.arange(196 * 16)).reshape(196, 16).astype(np.float32) * 0.1
    second = np.cos(np.arange(160)).reshape(16, 10).astype(np.float32) * 0.3

    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 196], name="x")
        y = tf.placeholder(tf.int64, [None], name="y")
        keep = tf.placeholder_with_default(1.0, [], name="keep")

        def l2(v: Any) -> Any:
            return 0.001 * tf.nn.l2_loss(v)

        with tf.variable_scope("hidden", regularizer=l2):
            w = tf.get_variable("w", initializer=tf.constant(first))
            b = tf.get_variable("b", [16], initializer=tf.zeros_initializer(), regularizer=tf.no_regularizer)
            h = tf.nn.dropout(tf.nn.relu(tf.nn.xw_plus_b(x, w, b)), keep_prob=keep)
        with tf.variable_scope("out", regularizer=l2):
            logits = tf.matmul(h, tf.get_variable("w", initializer=tf.constant(second))) + tf.get_variable(
                "b", [10], initializer=tf.zeros_initializer()
            )
        tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
        loss = tf.losses.get_total_loss()
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.1, step, 10, 0.8, staircase=True)
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        pairs = optimizer.compute_gradients(loss)
        clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 2.0)
        train = optimizer.apply_gradients(list(zip(clipped, [v for _, v in pairs], strict=True)), global_step=step)
        return x, y, keep, loss, norm, rate, step, train

    def steps(sess: Any, built: Any, count: int) -> list[Any]:
        x, y, keep, loss, norm, rate, step, train = built
        return [
            sess.run([loss, norm, rate, step, train], {x: images[:100], y: labels[:100], keep: 1.0})[:3]
            for _ in range(count)
        ]

    with tf.Graph().as_default(), tf.Session() as sess:
        built = build()
        saver = tf.train.Saver(max_to_keep=2)
        sess.run(tf.global_variables_initializer())
        history = steps(sess, built, 12)
        path = saver.save(sess, f"{folder}/model", global_step=built[6])
        history += steps(sess, built, 6)
        names = [v.name for v in tf.trainable_variables()]
    with tf.Graph().as_default(), tf.Session() as sess:
        built = build()
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(folder))
        again = steps(sess, built, 6)
        return {
            "history": history, "again": again, "step": sess.run(built[6]), "names": names,
            "path": path.rpartition("/")[2],
            "b": sess.run(tf.trainable_variables()[3]),
        }  # fmt: skip


def linear_regression(tf: Any, folder: str) -> dict[str, Any]:
    """A line through points that are fed one by one, by several optimizers that share nothing."""
    xs = np.linspace(-1, 1, 21).astype(np.float32)
    ys = 3.0 * xs - 1.0 + 0.1 * np.sin(xs * 20).astype(np.float32)
    found: dict[str, Any] = {}
    makers = {
        "adam": lambda: tf.train.AdamOptimizer(0.1),
        "adagrad": lambda: tf.train.AdagradOptimizer(0.5),
        "rms_prop": lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
        "ftrl": lambda: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01),
        "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    }
    for name, make in makers.items():
        with tf.Graph().as_default():
            x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
            slope, offset = tf.Variable(0.0, name="slope"), tf.Variable(0.0, name="offset")
            loss = tf.square(slope * x + offset - y)
            train = make().minimize(loss, var_list=[slope, offset])
            with tf.Session() as sess:
                sess.run(tf.initialize_all_variables())
                step = sess.make_callable([train, loss], [x, y])
                losses = [step(a, b)[1] for _ in range(3) for a, b in zip(xs, ys, strict=True)]
                found[name] = [*sess.run([slope, offset]), losses[-1], [v.name for v in tf.global_variables()]]
    return found


def embedding(tf: Any, folder: str) -> dict[str, Any]:
    """A table whose rows are trained only where they are used."""
    table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(6, 2) / 10)
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
    train = tf.group(
        tf.train.AdagradOptimizer(0.5).minimize(loss),
        tf.train.MomentumOptimizer(0.01, 0.9, name="other").minimize(loss),
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train, {ids: [1, 4, 1]})
        return {"table": sess.run(table)}


PROGRAMS = {f.__name__: f for f in (softmax_regression, perceptron_with_saver, linear_regression, embedding)}


def plain(value: Any) -> Any:
    """A result as JSON has it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if isinstance(value, str) else np.asarray(value).astype(np.float64).round(6).tolist()
