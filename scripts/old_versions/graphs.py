"""Graphs of TensorFlow 1, and functions of early TensorFlow 2: small models, saved by the version that runs this file.

    graphs.py write FOLDER [NAME ...]    writes each artefact into a folder of its name
    graphs.py check FOLDER               loads each in every way, and writes what happened to FOLDER/loads.json

An artefact of a graph has a checkpoint `m` with its meta graph, a SavedModel `saved`, and `io.npz`: the inputs `x` and
`t`, the outputs `y`, the losses of three training steps, and the outputs `y3` after them.
"""

# ruff: noqa: B905 (Python 3.7 has no such argument)
import json
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np

try:
    import tensorflow as tf
except ImportError:  # the tests read what is here
    import tapeflow as tf

v1 = tf.compat.v1
GRAPHS = {}  # by the artefact's name: a function from input and target to outputs and loss, and what else it has
FUNCTIONS = {}  # by the artefact's name: a function that writes it into a folder, under TensorFlow 2
CHECKPOINTS = {}  # the same under TensorFlow 1
VERSIONS = ["1.15.5", "2.0.4"]
FIXTURES = {
    "1.15.5": [
        "accumulated_ref", "adam_ref", "batch_norm_training_ref", "bidirectional_res", "cond_several_ref",
        "counters_ref", "decoder_ref", "dropout_res", "embedding_ref", "first_format", "ftrl_ref", "gru_ref",
        "iterator_ref", "keras_layers_ref", "loop_in_cond_res", "loop_in_loop_res", "loop_of_conds_ref", "lstm_ref",
        "mapped_res", "metrics_ref", "momentum_res", "of_function_res", "partitioned_ref", "plain_ref", "plain_res",
        "printed_res", "queue_ref", "random_in_loop_res", "scatters_ref", "shapes_in_loop_res", "slim_ref",
        "sparse_adagrad_res", "sparse_inputs_ref", "switch_case_res", "table_res", "unknown_shape_ref",
        "vocabulary_ref",
    ],
    "2.0.4": ["calls_with_gradients", "estimator", "loops_over_variable", "pipeline", "prints_to_file"],
}  # fmt: skip
LOADERS = ("saved_model.load", "v1.saved_model.load", "import_meta_graph")


def graph(resource=(False, True), optimizer="sgd", x=None, steps=3):
    """Registers a model: one artefact with reference variables (`_ref`), and one with resource variables (`_res`)."""

    def register(build):
        for use in resource:
            name = build.__name__ + ("_res" if use else "_ref")
            GRAPHS[name] = {"build": build, "resource": use, "optimizer": optimizer, "x": x, "steps": steps}
        return build

    return register


def function(write):
    """Registers a function that writes an artefact."""
    FUNCTIONS[write.__name__] = write
    return write


def checkpoint(write):
    """Registers a function of TensorFlow 1 that writes an artefact."""
    CHECKPOINTS[write.__name__] = write
    return write


def weights(name, shape, seed=0):
    values = np.random.RandomState(seed + sum(map(ord, name))).normal(size=shape).astype(np.float32) * 0.5
    return v1.get_variable(name, initializer=tf.constant(values))


def mean_square(y, t):
    return v1.reduce_mean(v1.squared_difference(y, t))


# ---- models ----------------------------------------------------------------------------------------------------------


@graph()
def plain(x, t):
    y = tf.tanh(tf.matmul(x, weights("w", [3, 2])) + weights("b", [2]))
    return y, mean_square(y, t)


@graph(optimizer="adam")
def adam(x, t):
    y = tf.tanh(tf.matmul(x, weights("w", [3, 2])) + weights("b", [2]))
    return y, mean_square(y, t)


@graph(optimizer="momentum")
def momentum(x, t):
    return plain(x, t)


@graph(optimizer="ftrl")
def ftrl(x, t):
    return plain(x, t)


@graph(optimizer="rmsprop")
def rmsprop(x, t):
    return plain(x, t)


@graph()
def cond(x, t):
    w, b = weights("w", [3, 2]), weights("b", [2])
    y = v1.cond(v1.reduce_sum(x) > 0.0, lambda: tf.matmul(x, w) * 2.0 + b, lambda: tf.matmul(x, w) - b)
    return y, mean_square(y, t)


@graph()
def cond_several(x, t):
    """Two results, an unused branch input, and a conditional in a conditional."""
    w, b = weights("w", [3, 2]), weights("b", [2])
    h = tf.matmul(x, w)

    def inner():
        return v1.cond(v1.reduce_sum(h) > 0.0, lambda: tf.tanh(h) + b, lambda: tf.sigmoid(h) * b)

    y, z = v1.cond(v1.reduce_mean(x) > -1.0, lambda: (inner(), h * 3.0), lambda: (h, b + h))
    y = y + 0.1 * z
    return y, mean_square(y, t)


@graph()
def switch_case(x, t):
    w, b = weights("w", [3, 2]), weights("b", [2])
    h = tf.matmul(x, w)
    n = v1.reduce_sum(x)
    y = v1.case([(n < -1.0, lambda: h * b), (n < 0.5, lambda: h - b)], default=lambda: h + b, exclusive=False)
    return y, mean_square(y, t)


@graph()
def loop(x, t):
    w, b = weights("w", [2, 2]), weights("b", [2])
    first = tf.matmul(x, weights("first", [3, 2]))
    y = v1.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + b)), [0, first])[1]
    return y, mean_square(y, t)


@graph(resource=(False,))
def loop_of_conds(x, t):
    w = weights("w", [2, 2])
    first = tf.matmul(x, weights("first", [3, 2]))

    def body(i, h):
        h = v1.cond(tf.equal(i % 2, 0), lambda: tf.tanh(tf.matmul(h, w)), lambda: h * 0.5)
        return i + 1, h

    y = v1.while_loop(lambda i, h: i < 4, body, [0, first])[1]
    return y, mean_square(y, t)


@graph()
def loop_in_loop(x, t):
    w = weights("w", [2, 2])
    first = tf.matmul(x, weights("first", [3, 2]))

    def body(i, h):
        inner = v1.while_loop(lambda j, g: j < i, lambda j, g: (j + 1, tf.tanh(tf.matmul(g, w))), [0, h])[1]
        return i + 1, inner + h

    y = v1.while_loop(lambda i, h: i < 3, body, [0, first])[1]
    return y, mean_square(y, t)


@graph()
def loop_in_cond(x, t):
    w = weights("w", [2, 2])
    first = tf.matmul(x, weights("first", [3, 2]))

    def run():
        return v1.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, first])[1]

    y = v1.cond(v1.reduce_sum(x) > -100.0, run, lambda: first)
    return y, mean_square(y, t)


@graph()
def mapped(x, t):
    w = weights("w", [3, 2])
    y = v1.map_fn(lambda row: tf.tanh(v1.reduce_sum(v1.expand_dims(row, 1) * w, 0)), x)
    return y, mean_square(y, t)


@graph()
def scanned(x, t):
    w = weights("w", [3, 2])
    y = v1.scan(lambda a, row: tf.tanh(a + row), tf.matmul(x, w), initializer=tf.zeros([2]))
    return y, mean_square(y, t)


@graph(x=(2, 4, 3))
def lstm(x, t):
    cell = v1.nn.rnn_cell.LSTMCell(2, initializer=v1.glorot_uniform_initializer(seed=3))
    y = v1.nn.dynamic_rnn(cell, x, sequence_length=[4, 2], dtype=tf.float32)[0]
    return y[:, -1] + y[:, 1], mean_square(y[:, -1] + y[:, 1], t)


@graph(x=(2, 4, 3), optimizer="adam")
def gru(x, t):
    cells = [v1.nn.rnn_cell.GRUCell(2, kernel_initializer=v1.glorot_uniform_initializer(seed=i)) for i in (1, 2)]
    y = v1.nn.dynamic_rnn(v1.nn.rnn_cell.MultiRNNCell(cells), x, dtype=tf.float32)[0]
    return y[:, -1], mean_square(y[:, -1], t)


@graph(x=(2, 4, 3))
def bidirectional(x, t):
    forward, backward = (v1.nn.rnn_cell.BasicRNNCell(2, activation=tf.tanh, name=n) for n in ("f", "b"))
    with v1.variable_scope("", initializer=v1.glorot_uniform_initializer(seed=5)):
        (a, b), _ = v1.nn.bidirectional_dynamic_rnn(forward, backward, x, dtype=tf.float32)
    return a[:, -1] + b[:, 0], mean_square(a[:, -1] + b[:, 0], t)


@graph(x=(2, 8, 8, 1), optimizer="momentum")
def slim(x, t):
    from tensorflow.contrib import slim

    is_training = v1.placeholder_with_default(False, [], "is_training")
    normal = {"decay": 0.9, "updates_collections": None, "is_training": is_training}
    init = v1.glorot_uniform_initializer(seed=2)
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params=normal,
                        weights_initializer=init):  # fmt: skip
        net = slim.conv2d(x, 4, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.conv2d(net, 4, [3, 3], scope="conv2")
    y = slim.fully_connected(slim.flatten(net), 2, activation_fn=None, weights_initializer=init, scope="out")
    return y, mean_square(y, t)


@graph(x=(2, 3))
def dropout(x, t):
    """Dropout in one branch: the saved model runs the other."""
    train = v1.placeholder_with_default(False, [], name="is_training")
    w, b = weights("w", [3, 2]), weights("b", [2])
    h = v1.cond(train, lambda: v1.nn.dropout(x, rate=0.5, seed=1), lambda: x)
    y = tf.matmul(h, w) + b
    return y, mean_square(y, t)


@graph()
def table(x, t):
    names = tf.constant(["a", "b", "c"])
    values = tf.constant([0, 1, 2], tf.int64)
    lookup = v1.lookup if hasattr(v1.lookup, "StaticHashTable") else tf.lookup
    found = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(names, values), -1)
    keys = v1.placeholder_with_default(tf.constant(["c", "a"]), [None], name="keys")
    y = v1.gather(weights("w", [3, 2]), found.lookup(keys)) + tf.matmul(x, weights("v", [3, 2]))
    return y, mean_square(y, t)


@graph()
def vocabulary(x, t):
    """A table from a file, which is an asset."""
    path = os.path.join(os.environ["ARTEFACT"], "words.txt")
    with open(path, "w") as file:
        file.write("red\ngreen\nblue\n")
    from tensorflow.contrib import lookup

    found = lookup.index_table_from_file(path, num_oov_buckets=1)
    words = v1.placeholder_with_default(tf.constant(["blue", "pink"]), [None], name="words")
    y = v1.gather(weights("w", [4, 2]), found.lookup(words)) + tf.matmul(x, weights("v", [3, 2]))
    return y, mean_square(y, t)


@graph()
def partitioned(x, t):
    """A variable in two parts."""
    with v1.variable_scope("", partitioner=v1.fixed_size_partitioner(2)):
        w = v1.get_variable("w", [5, 2], initializer=v1.glorot_uniform_initializer(seed=1))
    y = v1.nn.embedding_lookup(w, [4, 1], partition_strategy="div") + tf.matmul(x, weights("v", [3, 2]))
    return y, mean_square(y, t)


@graph(optimizer="adam")
def embedding(x, t):
    """Gradients of rows."""
    y = v1.nn.embedding_lookup(weights("w", [5, 2]), [4, 1]) + tf.matmul(x, weights("v", [3, 2]))
    return y, mean_square(y, t)


@graph()
def counters(x, t):
    """Variables that a call changes, in branches and after other changes."""
    n = v1.get_variable("n", [], initializer=v1.zeros_initializer(), trainable=False)
    w = weights("w", [3, 2])
    with tf.control_dependencies([v1.assign(n, 2.0)]):
        twice = v1.assign_add(n, 3.0)
    with tf.control_dependencies([twice]):
        changed = v1.cond(v1.reduce_sum(x) > -100.0, lambda: v1.assign_sub(n, 1.0), lambda: v1.assign(n, 0.0))
    y = tf.matmul(x, w) * changed
    return y, mean_square(y, t)


@graph(resource=(False,))
def scatters(x, t):
    n = v1.get_variable("n", [3], initializer=v1.zeros_initializer(), trainable=False)
    with tf.control_dependencies([v1.assign(n, [1.0, 2.0, 3.0])]):
        n = v1.scatter_add(n, [0, 0], [1.0, 1.0])
    with tf.control_dependencies([n]):
        y = tf.matmul(x * n, weights("w", [3, 2]))
    return y, mean_square(y, t)


@graph(steps=0)
def queue(x, t):
    """The inputs pass through a queue."""
    q = v1.FIFOQueue(10, [tf.float32], shapes=[[3]], name="fifo")
    enqueue = q.enqueue_many([x])
    v1.train.add_queue_runner(v1.train.QueueRunner(q, [enqueue]))
    with tf.control_dependencies([enqueue]):
        rows = q.dequeue_many(v1.shape(x)[0])
    y = tf.matmul(v1.reshape(rows, [-1, 3]), weights("w", [3, 2]))
    return y, mean_square(y, t)


@graph()
def averages(x, t):
    """Moving averages of variables, restored instead of these."""
    w = weights("w", [3, 2])
    y = tf.matmul(x, w)
    average = v1.train.ExponentialMovingAverage(0.5)
    loss = mean_square(y, t)
    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, average.apply([w]))
    return y + 0.0 * average.average(w)[:1], loss


@graph()
def of_function(x, t):
    """A call of a function, with a conditional and a loop in it."""
    w = weights("w", [3, 2])

    @tf.function
    def f(a, w):
        h = tf.matmul(a, w)
        h = tf.cond(tf.reduce_sum(h) > 0.0, lambda: h * 2.0, lambda: h + 1.0)
        return tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h)), [0, h])[1]

    y = f(x, w)
    return y, mean_square(y, t)


@graph()
def keras_layers(x, t):
    net = v1.layers.dense(x, 4, tf.nn.relu, kernel_initializer=v1.glorot_uniform_initializer(seed=1))
    net = v1.layers.batch_normalization(net, training=v1.placeholder_with_default(False, [], name="is_training"))
    y = v1.layers.dense(net, 2, kernel_initializer=v1.glorot_uniform_initializer(seed=2))
    return y, mean_square(y, t)


@graph()
def printed(x, t):
    """Prints and assertions, some in a branch."""
    y = v1.Print(tf.matmul(x, weights("w", [3, 2])), [v1.shape(x)], "shape")

    def checked():
        with tf.control_dependencies([v1.Assert(v1.reduce_all(v1.is_finite(y)), [y], name="check")]):
            return y * 2.0

    y = v1.cond(v1.reduce_sum(x) > -100.0, checked, lambda: y)
    return y, mean_square(y, t)


@graph(optimizer="momentum")
def schedule(x, t):
    """A learning rate that depends on the step, and clipped gradients."""
    return plain(x, t)


@graph(resource=(False,), optimizer="adam", x=(2, 6, 6, 1))
def batch_norm_training(x, t):
    """Moving averages that a training step updates, in branches."""
    train = v1.placeholder_with_default(False, [], name="is_training")
    net = v1.layers.conv2d(x, 3, 3, kernel_initializer=v1.glorot_uniform_initializer(seed=1))
    net = v1.nn.relu(v1.layers.batch_normalization(net, training=train, momentum=0.8))
    net = v1.layers.max_pooling2d(net, 2, 2)
    y = v1.layers.dense(v1.layers.flatten(net), 2, kernel_initializer=v1.glorot_uniform_initializer(seed=2))
    return y, mean_square(y, t)


@graph()
def accumulated(x, t):
    """Sums in temporary variables."""
    w = weights("w", [3, 2])
    y = v1.accumulate_n([tf.matmul(x, w), x[:, :2], 2.0 * x[:, 1:]])
    return y, mean_square(y, t)


@graph(optimizer="adagrad")
def sparse_adagrad(x, t):
    return embedding(x, t)


@graph(optimizer="rmsprop")
def sparse_rmsprop(x, t):
    return embedding(x, t)


@graph(optimizer="momentum")
def sparse_momentum(x, t):
    return embedding(x, t)


@graph(optimizer="adadelta")
def adadelta(x, t):
    return plain(x, t)


@graph()
def decoder(x, t):
    """A loop whose condition is data, with an array that grows."""
    w = weights("w", [2, 2])
    state = tf.matmul(x, weights("first", [3, 2]))

    def body(i, state, found):
        state = tf.tanh(tf.matmul(state, w)) + 0.1
        return i + 1, state, found.write(i, state)

    found = v1.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    loop = v1.while_loop(lambda i, s, f: tf.logical_and(i < 5, v1.reduce_max(s) > -9.0), body, [0, state, found])
    y = v1.reduce_mean(loop[2].stack(), 0) + loop[2].read(1)
    return y, mean_square(y, t)


@graph()
def random_in_loop(x, t):
    """Random numbers in a loop that training differentiates: they are scaled by zero."""
    w = weights("w", [3, 3])

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w)) + 0.0 * v1.random_uniform([3], seed=1)

    y = v1.while_loop(lambda i, h: i < 3, body, [0, x])[1][:, :2]
    return y, mean_square(y, t)


@graph()
def shapes_in_loop(x, t):
    """A loop variable that grows."""
    w = weights("w", [3, 2])
    rows = v1.while_loop(
        lambda i, r: i < 3, lambda i, r: (i + 1, tf.concat([r, x * tf.cast(i, tf.float32)], 0)), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])],
    )[1]  # fmt: skip
    y = tf.matmul(v1.reshape(rows, [-1, v1.shape(x)[0], 3])[-1] + v1.reduce_mean(rows, 0), w)
    return y, mean_square(y, t)


@graph()
def own_gradient(x, t):
    @tf.custom_gradient
    def clipped(v):
        return tf.identity(v), lambda dy: v1.clip_by_value(dy, -0.01, 0.01)

    y = clipped(tf.matmul(x, weights("w", [3, 2])))
    return y, mean_square(y, t)


@graph()
def metrics(x, t):
    """Local variables, and a metric that an initializer makes ready."""
    y = tf.matmul(x, weights("w", [3, 2]))
    value, update = v1.metrics.mean(y, name="mean")
    with tf.control_dependencies([update]):
        loss = mean_square(y, t)
    return y + 0.0 * value, loss


@graph()
def summaries(x, t):
    y = tf.matmul(x, weights("w", [3, 2]))
    v1.summary.scalar("mean", v1.reduce_mean(y))
    v1.summary.histogram("values", y)
    v1.summary.merge_all()
    return y, mean_square(y, t)


@graph(steps=0)
def iterator(x, t):
    """A pipeline of tf.data in the graph, whose functions have a conditional of TensorFlow 1."""
    numbers = tf.data.Dataset.range(100).map(lambda i: v1.cond(i > 1, lambda: i * 2, lambda: -i))
    number = v1.data.make_one_shot_iterator(numbers.repeat().batch(2).map(v1.reduce_max).take(1).repeat()).get_next()
    y = tf.matmul(x, weights("w", [3, 2])) * tf.cast(number, tf.float32)
    return y, mean_square(y, t)


@graph()
def sparse_inputs(x, t):
    sparse = v1.SparseTensor(tf.constant([[0, 1], [1, 2]], tf.int64), tf.constant([1.0, 2.0]), [2, 3])
    y = v1.sparse_tensor_dense_matmul(sparse, weights("w", [3, 2])) + tf.matmul(x, weights("v", [3, 2]))
    return y, mean_square(y, t)


@graph(resource=(False,))
def unknown_shape(x, t):
    """A variable whose shape changes."""
    n = v1.Variable(tf.zeros([1]), validate_shape=False, trainable=False, name="n")
    with tf.control_dependencies([v1.assign(n, [1.0, 2.0], validate_shape=False)]):
        y = tf.matmul(x, weights("w", [3, 2])) * n.read_value()
    return y, mean_square(y, t)


OPTIMIZERS = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "adam": lambda: v1.train.AdamOptimizer(0.05),
    "momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
}


def write_graph(name, folder):
    """Builds a model, trains it for one step, saves it, and records three more steps."""
    entry = GRAPHS[name]
    os.environ["ARTEFACT"] = folder
    v1.reset_default_graph()
    with tf.Graph().as_default() as g, v1.Session(graph=g) as sess:
        v1.set_random_seed(7)
        values = np.random.RandomState(1).normal(size=entry["x"] or (2, 3)).astype(np.float32)
        target = np.random.RandomState(2).normal(size=(2, 2)).astype(np.float32)
        x = v1.placeholder(tf.float32, [None, *values.shape[1:]], name="x")
        t = v1.placeholder(tf.float32, [None, 2], name="t")
        with v1.variable_scope(v1.get_variable_scope(), use_resource=entry["resource"]):
            y, loss = entry["build"](x, t)
            y, loss = tf.identity(y, name="y"), tf.identity(loss, name="loss")
            if entry["steps"]:
                with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
                    step = v1.train.get_or_create_global_step()
                    train = OPTIMIZERS[entry["optimizer"]]().minimize(loss, global_step=step, name="train")
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
        feeds = {x: values, t: target}
        if entry["steps"]:
            sess.run(train, feeds)
        saver = v1.train.Saver()
        saver.save(sess, os.path.join(folder, "m"))
        ready = v1.group(v1.tables_initializer(), v1.local_variables_initializer())
        v1.saved_model.simple_save(sess, os.path.join(folder, "saved"), {"x": x}, {"y": y}, legacy_init_op=ready)
        arrays = {"x": values, "t": target, "y": sess.run(y, {x: values})}
        losses = [sess.run([loss, train], feeds)[0] for _ in range(entry["steps"])]
        arrays.update(losses=np.array(losses, np.float32), y3=sess.run(y, {x: values}))
        np.savez(os.path.join(folder, "io.npz"), **arrays)


# ---- checkpoints -----------------------------------------------------------------------------------------------------


@checkpoint
def first_format(folder):
    """Checkpoints in the format before TensorFlow 1.0: one file `m`, and the file of a shard."""
    values = {
        "float": np.arange(6, dtype=np.float32).reshape(2, 3), "double": np.float64(3.25),
        "half": np.float16([1.5, -2]), "long": np.arange(4), "byte": np.int8([-3, 4]),
        "bool": np.array([True, False]), "text": np.array([b"x", b"yy"]), "complex": np.complex64([1 + 2j]),
        "empty": np.zeros([0, 2], np.float32),
    }  # fmt: skip
    with tf.Graph().as_default(), v1.Session() as sess:
        for name, value in values.items():
            v1.get_variable(name, initializer=tf.constant(value))
        with v1.variable_scope("parts", partitioner=v1.fixed_size_partitioner(2)):
            whole = v1.get_variable("w", [5, 2], initializer=v1.glorot_uniform_initializer(seed=1))
        sess.run(v1.global_variables_initializer())
        v1.train.Saver(write_version=1, sharded=True).save(sess, os.path.join(folder, "shards"))
        v1.train.Saver(write_version=1).save(sess, os.path.join(folder, "m"))
        values["parts/w"] = np.concatenate(sess.run(list(whole)))
        np.savez(os.path.join(folder, "io.npz"), **{name.replace("/", "|"): value for name, value in values.items()})


# ---- functions -------------------------------------------------------------------------------------------------------


@function
def prints_to_file(folder):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def f(self, x):
            tf.print("sum", tf.reduce_sum(x), output_stream="file://" + os.path.join(folder, "printed.txt"))
            return x * 2.0

    save_module(Model(), folder)


@function
def calls_with_gradients(folder):
    """A function that calls others, whose calls name their gradients."""

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(np.random.RandomState(0).normal(size=(3, 2)).astype(np.float32))

        @tf.function
        def g(self, x):
            return tf.tanh(tf.matmul(x, self.w))

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def f(self, x):
            return self.g(x) + self.g(2.0 * x)

    save_module(Model(), folder)


@function
def loops_over_variable(folder):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(np.random.RandomState(0).normal(size=(3, 3)).astype(np.float32))

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def f(self, x):
            return tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, self.w))), [0, x])[1]

    save_module(Model(), folder)


@function
def pipeline(folder):
    """A function with a pipeline of tf.data, whose functions capture a variable and a tensor."""

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable([1.0, 2.0, 3.0])

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def f(self, x):
            rows = tf.data.Dataset.from_tensor_slices(x).map(lambda row: row * self.scale + x[0])
            rows = rows.filter(lambda row: tf.reduce_sum(row) > -100.0).concatenate(rows.take(1)).batch(2)
            return rows.reduce(tf.zeros([3]), lambda total, row: total + tf.reduce_sum(row, 0))

    save_module(Model(), folder, steps=0)


@function
def estimator(folder):
    """An estimator's export, whose serving function parses examples, and looks words up in a file."""
    words = os.path.join(folder, "words.txt")
    with open(words, "w") as file:
        file.write("ann\nbob\n")
    column = tf.feature_column.categorical_column_with_vocabulary_file("name", words, num_oov_buckets=1)
    columns = [tf.feature_column.embedding_column(column, 2), tf.feature_column.numeric_column("age")]
    features = {"name": [["ann"], ["bob"], ["eve"]], "age": [[0.5], [3.0], [-1.0]]}
    model = tf.estimator.DNNClassifier([4], columns, model_dir=os.path.join(folder, "model"))
    model.train(lambda: tf.data.Dataset.from_tensors((features, [[1], [0], [1]])).repeat(4))
    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    export = model.export_saved_model(os.path.join(folder, "export"), receiver).decode()
    os.rename(export, os.path.join(folder, "saved"))
    examples = []
    for name, age in zip(features["name"], features["age"]):
        example = tf.train.Example()
        example.features.feature["name"].bytes_list.value.append(name[0].encode())
        example.features.feature["age"].float_list.value.append(age[0])
        examples.append(example.SerializeToString())
    results = tf.saved_model.load(os.path.join(folder, "saved")).signatures["predict"](tf.constant(examples))
    np.savez(
        os.path.join(folder, "io.npz"), examples=np.array(examples), logits=results["logits"].numpy(),
        classes=results["classes"].numpy().astype(bytes),
    )  # fmt: skip
    for name in ("model", "export"):
        shutil.rmtree(os.path.join(folder, name))


def save_module(module, folder, steps=3):
    """Saves a module, and records its outputs, the gradients of their sum, and three steps of gradient descent."""
    tf.saved_model.save(module, os.path.join(folder, "saved"), signatures=module.f)
    x = np.random.RandomState(1).normal(size=(2, 3)).astype(np.float32)
    arrays = {"x": x, "y": module.f(tf.constant(x)).numpy()}
    for i in range(steps if module.variables else 0):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(module.f(tf.constant(x)) ** 2)
        grads = tape.gradient(loss, module.variables)
        for j, (variable, grad) in enumerate(zip(module.variables, grads)):
            arrays[f"grad{i}_{j}"] = grad.numpy()
            variable.assign_sub(0.1 * grad)
    arrays["y3"] = module.f(tf.constant(x)).numpy()
    np.savez(os.path.join(folder, "io.npz"), **arrays)


# ---- writing and checking --------------------------------------------------------------------------------------------


def write(home, names):
    eager = tf.__version__ >= "2"
    os.makedirs(home, exist_ok=True)
    os.chdir(home)  # the names of files in artefacts are relative
    writers = FUNCTIONS if eager else CHECKPOINTS
    for name in names or sorted(set(writers) | set(() if eager else GRAPHS)):
        os.makedirs(name)
        try:
            writers[name](name) if name in writers else write_graph(name, name)
        except Exception as error:
            shutil.rmtree(name)
            print(f"{name}: {type(error).__name__}: {error}")


def load_and_run(tf, folder, loader):
    """Returns the outputs, losses and later outputs of an artefact, loaded in one of the ways.

    A wrapped graph is trained by a tape around its signature; the other ways run the training operation of the graph.
    """
    io = np.load(os.path.join(folder, "io.npz"))
    v1 = tf.compat.v1
    if loader == "saved_model.load":
        loaded = tf.saved_model.load(os.path.join(folder, "saved"))
        f = loaded.signatures["serving_default"]
        y = f(x=tf.constant(io["x"]))["y"].numpy()
        if not len(io["losses"]):
            return {"y": y}
        losses = []
        trained = [v for v in loaded.variables if v.trainable]
        for _ in io["losses"]:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.math.squared_difference(f(x=tf.constant(io["x"]))["y"], io["t"]))
            losses.append(loss.numpy())
            grads = tape.gradient(loss, trained)
            if all(g is None for g in grads):
                raise AssertionError("no gradients")
            if GRAPHS[os.path.basename(folder)]["optimizer"] != "sgd":
                return {"y": y, "first_loss": losses[0]}
            for variable, grad in zip(trained, grads):
                if grad is not None:
                    variable.assign_sub(0.1 * tf.convert_to_tensor(grad))
        return {"y": y, "losses": np.array(losses), "y3": f(x=tf.constant(io["x"]))["y"].numpy()}
    with tf.Graph().as_default() as g, v1.Session(graph=g) as sess:
        if loader == "v1.saved_model.load":
            v1.saved_model.load(sess, ["serve"], os.path.join(folder, "saved"))
        else:
            saver = v1.train.import_meta_graph(os.path.join(folder, "m.meta"))
            saver.restore(sess, os.path.join(folder, "m"))
            tables = g.get_collection("table_initializer")
            sess.run(tables)
            sess.run([v.initializer for v in v1.local_variables()])
        results = {"y": sess.run("y:0", {"x:0": io["x"]})}
        feeds = {"x:0": io["x"], "t:0": io["t"]}
        results["losses"] = np.array([sess.run(["loss:0", "train"], feeds)[0] for _ in io["losses"]], np.float32)
        results["y3"] = sess.run("y:0", {"x:0": io["x"]})
        return results


def load_and_call(tf, folder, loader):
    """Returns the outputs and gradients of an artefact of a function, and its outputs after three steps."""
    io = np.load(os.path.join(folder, "io.npz"))
    v1 = tf.compat.v1
    if loader != "saved_model.load":
        with tf.Graph().as_default() as g, v1.Session(graph=g) as sess:
            meta = v1.saved_model.load(sess, ["serve"], os.path.join(folder, "saved"))
            signature = meta.signature_def["serving_default"]
            (x,), (y,) = signature.inputs.values(), signature.outputs.values()
            return {"y": sess.run(y.name, {x.name: io["x"]})}
    module = tf.saved_model.load(os.path.join(folder, "saved"))
    results = {"y": module.f(tf.constant(io["x"])).numpy()}
    variables = [module.w] if hasattr(module, "w") else []
    for i in range(3 if variables else 0):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(module.f(tf.constant(io["x"])) ** 2)
        for j, (variable, grad) in enumerate(zip(variables, tape.gradient(loss, variables))):
            results[f"grad{i}_{j}"] = grad.numpy()
            variable.assign_sub(0.1 * grad)
    results["y3"] = module.f(tf.constant(io["x"])).numpy()
    return results


def difference(folder, results):
    """Returns the largest difference of results from the recorded ones, relative to the largest value."""
    io = np.load(os.path.join(folder, "io.npz"))
    expected = dict(io)
    if len(expected.get("losses", ())):
        expected["first_loss"] = io["losses"][0]
    worst = 0.0
    for name, value in results.items():
        if np.size(value):
            scale = np.abs(expected[name]).max()
            worst = max(worst, float(np.abs(value - expected[name]).max() / (scale or 1.0)))
    return worst


def check(tf, home, names=()):
    """Returns what each loader does with each artefact: the largest relative difference, or the error."""
    found = {}
    os.chdir(home)
    for name in names or sorted(n for n in os.listdir(home) if n in GRAPHS or (n in FUNCTIONS and n != "estimator")):
        run = load_and_run if name in GRAPHS else load_and_call
        for loader in LOADERS if name in GRAPHS else LOADERS[:2]:
            try:
                found[f"{name} {loader}"] = difference(name, run(tf, name, loader))
            except Exception as error:
                text = str(error).split("\n\n")[0][:300]
                found[f"{name} {loader}"] = f"{type(error).__name__}: {text}"
    return found


if __name__ == "__main__":
    command, home, names = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
    if command == "write":
        write(home, names)
    else:
        results = check(tf, home, names)
        with open(os.path.join(home, "loads.json"), "w") as file:
            json.dump(results, file, indent=1, sort_keys=True)
        for key, value in sorted(results.items()):
            print(key, value)
