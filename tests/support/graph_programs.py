"""Graphs that TensorFlow and TapeFlow both build: what `test_graph_def.py` sends from one to the other.

A program builds a graph with the `tf` that it is given, and says what to feed, what to fetch, and which operations
to run before. Random ops are left out: their values are nobody's to compare.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np


@dataclasses.dataclass
class Built:
    """What a program built.

    Attributes:
        fetches: the tensors to compare.
        feeds: from placeholders to values.
        updates: operations to run, in turn, between initializing and fetching.
    """

    fetches: list[Any]
    feeds: dict[Any, Any] = dataclasses.field(default_factory=dict)
    updates: list[Any] = dataclasses.field(default_factory=list)


PROGRAMS: dict[str, Callable[[Any], Built]] = {}
WITH_CONTROL_FLOW: list[str] = []  # programs that are recorded with TensorFlow 1's control flow, too


def program(function: Callable[[Any], Built]) -> Callable[[Any], Built]:
    PROGRAMS[function.__name__] = function
    return function


def with_control_flow(function: Callable[[Any], Built]) -> Callable[[Any], Built]:
    WITH_CONTROL_FLOW.append(function.__name__)
    return program(function)


def matrix(tf: Any, name: str = "x") -> Any:
    return tf.compat.v1.placeholder(tf.float32, [None, 3], name=name)


VALUES = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]], np.float32)


# ---- kernels ---------------------------------------------------------------------------------------------------------


@program
def arithmetic(tf):
    x = matrix(tf)
    return Built([x + 1.0, x * x - 2.0, x / 3.0, -x, abs(x), x**2.0, x // 2.0, x % 2.0], {x: VALUES})


@program
def elementary_functions(tf):
    x = matrix(tf)
    return Built(
        [tf.exp(x), tf.tanh(x), tf.sigmoid(x), tf.sqrt(abs(x)), tf.math.log1p(abs(x)), tf.math.erf(x), tf.sin(x)],
        {x: VALUES},
    )


@program
def comparisons(tf):
    x = matrix(tf)
    return Built(
        [x > 0.0, tf.equal(x, 3.0), tf.logical_and(x > 0.0, x < 2.0), tf.where(x > 0.0, x, -x), tf.math.is_finite(x)],
        {x: VALUES},
    )


@program
def reductions(tf):
    x = matrix(tf)
    return Built(
        [
            tf.reduce_sum(x),
            tf.reduce_mean(x, 0),
            tf.reduce_max(x, 1, keepdims=True),
            tf.reduce_prod(x, [0, 1]),
            tf.reduce_any(x > 2.0),
            tf.reduce_logsumexp(x, -1),
            tf.argmax(x, 1),
            tf.math.cumsum(x, 1),
        ],
        {x: VALUES},
    )


@program
def shapes(tf):
    x = matrix(tf)
    return Built(
        [
            tf.shape(x),
            tf.size(x),
            tf.rank(x),
            tf.reshape(x, [3, -1]),
            tf.transpose(x),
            tf.expand_dims(x, 0),
            tf.zeros_like(x),
            tf.reshape(x, [tf.shape(x)[0] * 3]),
            tf.fill([tf.shape(x)[0]], 7),
        ],
        {x: VALUES},
    )


@program
def slices(tf):
    x = matrix(tf)
    return Built(
        [
            x[0],
            x[:, 1:],
            x[..., -1],
            x[::-1, ::2],
            x[:, tf.newaxis],
            tf.slice(x, [0, 1], [1, 2]),
            tf.gather(x, [1, 0, 1]),
            tf.gather(x, [2, 0], axis=1),
            tf.gather_nd(x, [[0, 1], [1, 2]]),
        ],
        {x: VALUES},
    )


@program
def joining(tf):
    x = matrix(tf)
    return Built(
        [
            tf.concat([x, x + 1.0], 0),
            tf.stack([x, x], 1),
            *tf.unstack(x, axis=1),
            *tf.split(x, 3, axis=1),
            tf.tile(x, [2, 1]),
            tf.pad(x, [[1, 0], [0, 2]]),
            tf.reverse(x, [1]),
        ],
        {x: VALUES},
    )


@program
def linear_algebra(tf):
    x = matrix(tf)
    square = tf.matmul(x, x, transpose_a=True) + tf.eye(3)
    return Built(
        [
            tf.matmul(x, x, transpose_b=True),
            tf.linalg.det(square),
            tf.linalg.inv(square),
            tf.linalg.cholesky(square),
            tf.einsum("ij,kj->ik", x, x),
            tf.linalg.diag_part(square),
            tf.norm(x),
        ],
        {x: VALUES},
    )


@program
def dtypes(tf):
    x = matrix(tf)
    i = tf.cast(x, tf.int32)
    return Built(
        [
            i,
            tf.cast(x, tf.float64),
            tf.cast(x, tf.bool),
            i // 2,
            tf.bitwise.bitwise_and(i, 3),
            tf.cast(i, tf.uint8),
            tf.complex(x, -x),
            tf.cast(tf.cast(x, tf.float16), tf.float32),
            tf.cast(i, tf.int64) << 3
            if hasattr(i, "__lshift__")
            else tf.bitwise.left_shift(tf.cast(i, tf.int64), tf.constant(3, tf.int64)),
        ],
        {x: VALUES},
    )


@program
def layers(tf):
    x = matrix(tf)
    h = tf.nn.relu(tf.matmul(x, tf.constant(np.linspace(-1, 1, 12).reshape(3, 4), tf.float32)) + [0.1, 0.2, 0.3, 0.4])
    labels = tf.constant([1, 3])
    return Built(
        [
            h,
            tf.nn.softmax(h),
            tf.nn.log_softmax(h),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, h),
            tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 4), h),
            tf.nn.bias_add(h, [1.0, 2.0, 3.0, 4.0]),
            tf.nn.l2_loss(h),
            tf.nn.elu(x),
            tf.nn.softplus(x),
            tf.nn.leaky_relu(x),
        ],
        {x: VALUES},
    )


@program
def images(tf):
    x = tf.constant(np.arange(2 * 6 * 6 * 2).reshape(2, 6, 6, 2) % 7, tf.float32)
    k = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * 4).reshape(3, 3, 2, 4), tf.float32)
    return Built(
        [
            tf.nn.conv2d(x, k, 1, "SAME"),
            tf.nn.conv2d(x, k, 2, "VALID"),
            tf.nn.max_pool2d(x, 2, 2, "VALID"),
            tf.nn.avg_pool2d(x, 3, 2, "SAME"),
            tf.nn.depthwise_conv2d(x, k[..., :1], [1, 1, 1, 1], "SAME"),
            tf.image.resize(x, [3, 3]),
            tf.nn.conv2d(x, k, 1, [[0, 0], [1, 2], [0, 1], [0, 0]]),
        ]
    )


@program
def segments(tf):
    x = matrix(tf)
    i = tf.constant([0, 0])
    return Built(
        [
            tf.math.segment_sum(x, i),
            tf.math.unsorted_segment_max(x, tf.constant([1, 0]), 3),
            tf.scatter_nd([[1]], x[:1], [3, 3]),
            tf.tensor_scatter_nd_update(x, [[0]], [[9.0, 9.0, 9.0]]),
            tf.one_hot([0, 2], 3, axis=0),
            tf.sequence_mask([1, 3], 4),
            *tf.unique(tf.constant([3, 1, 3])),
            *tf.math.top_k(x, 2),
            tf.sort(x),
            tf.argsort(x),
        ],
        {x: VALUES},
    )


@program
def strings(tf):
    s = tf.compat.v1.placeholder(tf.string, [None], name="s")
    return Built(
        [
            tf.strings.join([s, "!"]),
            tf.strings.length(s),
            tf.strings.upper(s),
            tf.strings.substr(s, 0, 2),
            s[0],
            tf.equal(s, "ab"),
            tf.strings.to_number(["1.5", "2"]),
            tf.strings.as_string(tf.constant([1, 2])),
            tf.strings.regex_replace(s, "a", "b"),
            tf.strings.to_hash_bucket_fast(s, 10),
            tf.strings.reduce_join(s, separator=","),
        ],
        {s: np.array(["ab", "c\u00e9", ""], object)},
    )


@program
def constants(tf):
    return Built(
        [
            tf.constant([[1, 2], [3, 4]], name="ints"),
            tf.constant(0.1, tf.float64),
            tf.constant(["a", "b"]),
            tf.zeros([40, 50]),
            tf.constant(True),
            tf.constant([], tf.float32),
            tf.ones([3], tf.int64),
            tf.constant(1 + 2j),
            tf.constant(1.5, tf.bfloat16) + 0.0 if False else tf.cast(tf.constant(1.5, tf.bfloat16), tf.float32),
            tf.range(5),
            tf.range(0.0, 1.0, 0.25),
            tf.linspace(0.0, 1.0, 5),
        ]
    )


@program
def names_and_devices(tf):
    with tf.name_scope("outer"), tf.device("/CPU:0"):
        x = tf.constant(2.0, name="x")
        with tf.name_scope("inner"):
            y = tf.multiply(x, 3.0, name="y")
    return Built([y, tf.identity(y, name="y"), tf.identity(x, name="outer_x")])


@program
def placeholders_with_defaults(tf):
    x = tf.compat.v1.placeholder_with_default(tf.constant([1.0, 2.0]), [None], name="x")
    y = tf.compat.v1.placeholder_with_default(tf.constant(3.0), [], name="y")
    return Built([x * y], {y: 5.0})


@program
def control_dependencies(tf):
    x = matrix(tf)
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(x < 10.0), [x])]):
        y = tf.identity(x)
    with tf.control_dependencies([tf.no_op(), y]):
        z = tf.constant(4.0)
    return Built([y, z], {x: VALUES})


# ---- gradients -------------------------------------------------------------------------------------------------------


@program
def gradients_of_arithmetic(tf):
    x = tf.compat.v1.placeholder(tf.float32, [2, 3], name="x")
    y = tf.reduce_sum(tf.square(x) * tf.sin(x) / (x + 5.0) - tf.exp(-x))
    return Built([y, *tf.gradients(y, [x])], {x: VALUES})


@program
def gradients_of_layers(tf):
    x = tf.compat.v1.placeholder(tf.float32, [2, 3], name="x")
    w = tf.constant(np.linspace(-1, 1, 12).reshape(3, 4), tf.float32)
    b = tf.constant([0.1, 0.2, 0.3, 0.4])
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant([1, 3]), tf.tanh(tf.matmul(x, w) + b))
    )
    return Built([loss, *tf.gradients(loss, [x, w, b])], {x: VALUES})


@program
def gradients_of_unknown_sizes(tf):
    x = matrix(tf)
    w = tf.constant(np.linspace(-1, 1, 12).reshape(3, 4), tf.float32)
    b = tf.constant([0.1, 0.2, 0.3, 0.4])
    loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + b)))
    return Built([loss, *tf.gradients(loss, [x, w, b])], {x: VALUES})


@program
def second_gradients(tf):
    x = tf.compat.v1.placeholder(tf.float32, [3], name="x")
    y = tf.reduce_sum(x * x * x)
    (g,) = tf.gradients(y, x)
    return Built([g, *tf.gradients(g, x)], {x: VALUES[0]})


# ---- variables -------------------------------------------------------------------------------------------------------


@program
def variables(tf):
    x = matrix(tf)
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    w = tf.Variable(tf.ones([3, 2]) * 0.5, name="w")
    return Built([tf.matmul(x * v, w), v, w[0]], {x: VALUES})


@program
def assignments(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    n = tf.Variable(0, name="n", trainable=False)
    with tf.control_dependencies([v.assign(v * 3.0)]):
        after = n.assign_add(1)
    return Built(
        [v.read_value(), n.read_value(), tf.reduce_sum(v)], updates=[after.op, v.assign_sub([1.0, 1.0]).op, after.op]
    )


@program
def initialized(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return Built([tf.compat.v1.is_variable_initialized(v), tf.shape(v)])


@program
def embeddings(tf):
    v = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3), name="table")
    i = tf.compat.v1.placeholder(tf.int32, [None], name="i")
    return Built([tf.nn.embedding_lookup(v, i), tf.gather(v, i)], {i: [3, 0, 3]})


@program
def parts_of_variables(tf):
    v = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="v")
    change = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]))
    updates = [v.scatter_add(change), v.scatter_update(change), v.scatter_nd_sub([[2, 1]], [3.0])]
    return Built([v.read_value()], updates=[update.op for update in updates])


# ---- calls and control flow ------------------------------------------------------------------------------------------


@program
def calls(tf):
    x = matrix(tf)

    @tf.function
    def double(a):
        return a * 2.0, tf.reduce_sum(a)

    @tf.function
    def nested(a):
        b, total = double(a)
        return double(b)[0] + total

    return Built([*double(x), nested(x)], {x: VALUES})


@program
def calls_with_variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")

    @tf.function
    def step(a):
        v.assign_add(a)
        before = v * 2.0
        v.assign_sub([1.0, 1.0])
        return before + v

    return Built([step(tf.constant([1.0, 1.0]))])


@with_control_flow
def conditional(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.0, lambda: x * x, lambda: tf.constant(-1.0), name="choice")
    return Built([y, y + 1.0], {x: 3.0})


@with_control_flow
def conditional_of_several(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    c = tf.constant([1.0, 2.0])
    a, b = tf.cond(x > 0.0, lambda: (x * c, c), lambda: (c, x + c))
    return Built([a, b], {x: -3.0})


@with_control_flow
def nested_conditionals(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    y = tf.cond(
        x > 0.0,
        lambda: tf.cond(x > 10.0, lambda: x * 100.0, lambda: x * 10.0),
        lambda: tf.cond(x < -5.0, lambda: -x, lambda: x),
    )
    return Built([y], {x: 4.0})


@with_control_flow
def conditionals_in_turn(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    positive = x > 0.0
    y = tf.cond(positive, lambda: x + 1.0, lambda: x - 1.0)
    z = tf.cond(positive, lambda: y * 2.0, lambda: y * 3.0)
    return Built([y, z], {x: 4.0})


@with_control_flow
def conditional_assignment(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    n = tf.Variable(5, name="n")
    x = tf.compat.v1.placeholder(tf.bool, [], name="x")
    y = tf.cond(
        x,
        lambda: v.assign_add([1.0, 1.0]).read_value() if False else tf.identity(v.assign_add([1.0, 1.0])),
        lambda: v + 0.0,
    )
    with tf.control_dependencies([y]):
        after = v.read_value()
    return Built([y, after, n.read_value()], {x: True})


@program
def switch_case(tf):
    i = tf.compat.v1.placeholder(tf.int32, [], name="i")
    x = tf.constant([1.0, 2.0])
    return Built([tf.switch_case(i, [lambda: x, lambda: x * 10.0, lambda: x * 100.0])], {i: 1})


@with_control_flow
def loop(tf):
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    i, total = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + i), [0, 0], name="counting")
    return Built([i, total], {n: 10})


@with_control_flow
def loop_with_captures(tf):
    x = matrix(tf)
    w = tf.constant(np.eye(3) * 0.5, tf.float32)
    limit = tf.reduce_sum(x) * 0.0 + 0.01
    y = tf.while_loop(lambda y: tf.reduce_max(abs(y)) > limit, lambda y: tf.matmul(y, w), [x])
    return Built(list(y) if isinstance(y, (list, tuple)) else [y], {x: VALUES})


@with_control_flow
def bounded_loop(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    y = tf.while_loop(lambda y: y < 1000.0, lambda y: [y * 2.0], [x], maximum_iterations=4)
    return Built(list(y) if isinstance(y, (list, tuple)) else [y], {x: 1.5})


@with_control_flow
def nested_loops(tf):
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")

    def outer(i, total):
        _, inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j), [0, total])
        return i + 1, inner

    return Built(list(tf.while_loop(lambda i, t: i < n, outer, [0, 0])), {n: 5})


@with_control_flow
def conditional_in_loop(tf):
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")

    def body(i, t):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: t + i, lambda: t * 2)

    return Built(list(tf.while_loop(lambda i, t: i < n, body, [0, 1])), {n: 7})


@with_control_flow
def loop_in_conditional(tf):
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    y = tf.cond(
        n > 3, lambda: tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + i), [0, 0])[1], lambda: n * 100
    )
    return Built([y], {n: 6})


@with_control_flow
def growing_loop(tf):
    x = tf.constant([[1.0, 2.0]])
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.concat([y, y], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return Built([y])


@program
def loop_over_variable(tf):
    v = tf.Variable(1.0, name="v")

    @tf.function
    def count(n):
        for _ in tf.range(n):
            v.assign_add(2.0)
        return v.read_value()

    return Built([count(tf.constant(3))])


@program
def tensor_lists(tf):
    @tf.function
    def squares(n):
        made = tf.TensorArray(tf.float32, size=n, element_shape=[])
        for i in tf.range(n):
            made = made.write(i, tf.cast(i * i, tf.float32))
        return made.stack()

    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    return Built([squares(n)], {n: 5})


@program
def map_and_scan(tf):
    x = tf.compat.v1.placeholder(tf.float32, [4], name="x")
    return Built(
        [tf.map_fn(lambda a: a * a, x), tf.scan(lambda a, b: a + b, x), tf.foldl(lambda a, b: a * b, x)],
        {x: [1.0, 2.0, 3.0, 4.0]},
    )


@program
def autograph(tf):
    @tf.function
    def collatz(n):
        steps = 0
        while tf.not_equal(n, 1):
            if tf.equal(n % 2, 0):
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    return Built([collatz(n)], {n: 27})


# ---- training --------------------------------------------------------------------------------------------------------


@program
def training(tf):
    v1 = tf.compat.v1
    x, labels = matrix(tf), v1.placeholder(tf.int64, [None], name="labels")
    w = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4), dtype=tf.float32, name="w")
    b = tf.Variable(tf.zeros([4]), name="b")
    logits = tf.matmul(tf.nn.relu(x) + 0.1, w) + b
    loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(0.5, step, 2, 0.5)
    train = v1.train.MomentumOptimizer(rate, 0.9, use_nesterov=True).minimize(loss, step)
    return Built([loss, w, b, step], {x: VALUES, labels: np.array([1, 3])}, [train] * 3)


@program
def training_by_adam(tf):
    v = tf.Variable([1.0, -2.0], name="v")
    loss = tf.reduce_sum(tf.square(v) * tf.sigmoid(v))
    return Built([loss, v], updates=[tf.compat.v1.train.AdamOptimizer(0.1).minimize(loss)] * 3)


@program
def training_of_rows(tf):
    v1 = tf.compat.v1
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2) / 10, name="table")
    ids = v1.placeholder(tf.int32, [None], name="ids")
    loss = tf.reduce_sum(tf.square(tf.gather(table, ids) - 1.0))
    trains = [v1.train.AdagradOptimizer(0.5).minimize(loss), v1.train.GradientDescentOptimizer(0.01).minimize(loss)]
    return Built([table], {ids: [1, 4, 1]}, trains * 2)


@program
def training_with_control_flow(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    v = tf.Variable(2.0, name="v")
    y = tf.cond(x > 0.0, lambda: v * x, lambda: v - x)
    return Built([y, v], {x: 3.0}, [v.assign_sub(0.1 * y).op] * 2)
