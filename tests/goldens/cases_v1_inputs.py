"""Inputs of TensorFlow 1: the queues, threads and summaries that batches and producers make, and what comes of them."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
train = v1.train
one = lambda: tf.constant(1)
def described(make):
    with tf.Graph().as_default() as graph:
        result = make()
        runner, = v1.get_collection("queue_runners")
        queue, = [op for op in graph.get_operations() if op.type.endswith("QueueV2")]
        attrs = [(k, queue.get_attr(k)) for k in ("capacity", "shared_name", "min_after_dequeue", "seed")
                 if k in queue.node_def.attr]
        summaries = [s.op.name for s in v1.get_collection("summaries")]
        outputs = [(t.name, t.op.type, t.shape) for t in tf.nest.flatten(result) if isinstance(t, tf.Tensor)]
        shapes = [[d.size for d in shape.dim] for shape in queue.get_attr("shapes")]
        return queue.type, attrs, shapes, [op.name for op in runner.enqueue_ops], summaries, outputs
def filled(make, steps=2):
    # The summary of how full the queue is, after each step that adds to it.
    with tf.Graph().as_default(), v1.Session() as sess:
        make()
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        runner, = v1.get_collection("queue_runners")
        summary, = v1.get_collection("summaries")
        found = []
        for _ in range(steps + 1):
            found.append(tf.compat.v1.Summary.FromString(sess.run(summary)).value[0].simple_value)
            for op in runner.enqueue_ops:
                sess.run(op)
        return found
def batches(make, steps=1):
    # What comes out, if each operation that adds to the queue ran so many times.
    with tf.Graph().as_default(), v1.Session() as sess:
        result = make()
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        runner, = v1.get_collection("queue_runners")
        for _ in range(steps):
            for op in runner.enqueue_ops:
                sess.run(op)
        return sess.run(result)
def row():
    return tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
def built(make):
    with tf.Graph().as_default():
        make()
""")

GROUP.values("""
described(lambda: train.batch([one()], 4))
described(lambda: train.batch([one()], 4, 3, 7, shared_name="s", name="n"))
described(lambda: train.batch([[1, 2]], 4, enqueue_many=True))
described(lambda: train.batch([[1, 2]], 4, 2, 9, True, [[]], True, True, "s", "n"))
described(lambda: train.batch([one()], 4, allow_smaller_final_batch=True))
described(lambda: train.batch([tf.zeros([2, 3]), tf.zeros([3, 1])], 4, 1, 8, False))
described(lambda: train.batch([tf.zeros([2, 3]), tf.zeros([2, 1])], 4, 1, 8, True))
described(lambda: train.batch([v1.placeholder(tf.int32, [None])], 4, shapes=[[2]]))
described(lambda: train.batch([v1.placeholder(tf.int32, [None])], 4, dynamic_pad=True))
described(lambda: train.batch([v1.placeholder(tf.float32)], 2, shapes=[[2]]))
described(lambda: train.batch({"b": 1, "a": tf.zeros([2])}, 4))
described(lambda: train.maybe_batch([one()], True, 4))
described(lambda: train.maybe_batch([one()], False, 4))
described(lambda: train.maybe_batch([one()], tf.equal(one(), 1), 4))
described(lambda: train.maybe_batch([[1, 2]], [True, False], 4, 2, 9, True, [[]], True, True, "s", "n"))
described(lambda: train.batch_join([[one()], [one()]], 4))
described(lambda: train.batch_join([[[1, 2]], [[3, 4]]], 4, 9, True, [[]], True, True, "s", "n"))
described(lambda: train.batch_join([[tf.zeros([3])], [v1.placeholder(tf.float32, [None])]], 4))
described(lambda: train.batch_join([{"a": 1, "b": 2.0}, {"b": 3.0, "a": 4}], 4))
described(lambda: train.maybe_batch_join([[one()], [one()]], True, 4))
described(lambda: train.maybe_batch_join([[[1, 2]], [[3, 4]]], [True, False], 4, 9, True, [[]], True, True, "s", "n"))
described(lambda: train.shuffle_batch([one()], 4, 9, 5))
described(lambda: train.shuffle_batch([[1, 2]], 4, 9, 5, 2, 3, True, [[]], True, "s", "n"))
described(lambda: train.maybe_shuffle_batch([one()], 4, 9, 5, True))
described(lambda: train.maybe_shuffle_batch([[1, 2]], 4, 9, 5, [True, False], 2, 3, True, [[]], True, "s", "n"))
described(lambda: train.shuffle_batch_join([[one()], [one()]], 4, 9, 5))
described(lambda: train.shuffle_batch_join([[[1, 2]], [[3, 4]]], 4, 9, 5, 3, True, [[]], True, "s", "n"))
described(lambda: train.maybe_shuffle_batch_join([[one()], [one()]], 4, 9, 5, True))
described(lambda: train.maybe_shuffle_batch_join([[[1]], [[3]]], 4, 9, 5, [True], 3, True, [[]], True, "s", "n"))
described(lambda: train.shuffle_batch([one()], 4, 6, 5))
described(lambda: train.input_producer([1, 2], [], 2, True, 3, 7, "s", "summary", "n", "f"))
described(lambda: train.input_producer([[1, 2]], shuffle=False))
described(lambda: train.string_input_producer(["a", "b"], 2, True, 3, 7, "s", "n", "f"))
described(lambda: train.string_input_producer(["a", "b"]))
described(lambda: train.range_input_producer(3))
described(lambda: train.range_input_producer(3, 2, False, 3, 7, "s", "n"))
described(lambda: train.slice_input_producer([[1, 2], [3, 4]]))
described(lambda: train.slice_input_producer([[1, 2], [3, 4]], 2, False, 3, 7, "s", "n"))
filled(lambda: train.batch([one()], 4, capacity=8))
filled(lambda: train.batch_join([[[1, 2]], [[3]]], 4, capacity=16, enqueue_many=True))
filled(lambda: train.shuffle_batch([one()], 4, 6, 1), 3)
filled(lambda: train.maybe_batch([one()], False, 4, capacity=8))
filled(lambda: train.maybe_batch([one()], tf.equal(one(), 1), 4, capacity=8))
filled(lambda: train.maybe_batch([one()], tf.equal(one(), 2), 4, capacity=8))
filled(lambda: train.range_input_producer(3, capacity=9))
batches(lambda: train.batch([one(), tf.constant([2.0, 3.0])], 2), 2)
batches(lambda: train.batch({"b": one(), "a": "x"}, 1))
batches(lambda: train.batch([1], 1))
batches(lambda: train.batch([row()], 2), 2)
batches(lambda: train.batch([row(), 7], 2), 2)
batches(lambda: train.batch([row()], 2, enqueue_many=True))
batches(lambda: train.batch({"s": row(), "d": [1, 2, 3]}, 3, enqueue_many=True))
batches(lambda: train.maybe_batch([row(), [4, 5, 6]], [True, False, True], 2, enqueue_many=True))
batches(lambda: train.batch_join([[row(), 1], [row(), 2]], 2))
batches(lambda: train.maybe_batch([[1, 2, 3]], tf.equal(one(), 1), 3, enqueue_many=True))
batches(lambda: train.batch([tf.constant([1, 2])], 1, dynamic_pad=True, shapes=[[None]]))
batches(lambda: train.batch([["a", "b", "c"]], 5, enqueue_many=True, allow_smaller_final_batch=True), 2)
""")

GROUP.errors("""
train.batch([1], 2)
train.shuffle_batch([1], 2, 3, 1)
train.maybe_shuffle_batch([1], 2, 3, 5, True)
train.maybe_shuffle_batch_join([], 2, 3, 5, True)
built(lambda: train.batch([], 2))
built(lambda: train.batch({}, 2))
built(lambda: train.batch_join([], 2))
built(lambda: train.batch([v1.placeholder(tf.float32)], 2))
built(lambda: train.batch([v1.placeholder(tf.float32, [None])], 2))
built(lambda: train.batch([one()], 2, enqueue_many=True))
built(lambda: train.batch_join([[1.0], [2]], 2))
built(lambda: train.batch_join([[[1.0]], [2.0]], 2))
built(lambda: train.batch_join([{"a": 1}, {"b": 1}], 2))
built(lambda: train.batch_join([{"a": 1}, {"a": 1, "b": 1}], 2))
built(lambda: train.shuffle_batch_join([{"a": 1}, {"b": 1}], 2, 5, 2))
built(lambda: train.shuffle_batch([1], 2, 3, 3))
built(lambda: train.maybe_batch([1], [True], 2))
built(lambda: train.maybe_batch([[1]], [[True]], 2, enqueue_many=True))
built(lambda: train.maybe_batch([1], v1.placeholder(tf.bool), 2))
built(lambda: train.string_input_producer([]))
built(lambda: train.slice_input_producer([]))
built(lambda: train.input_producer(v1.placeholder(tf.int32)))
built(lambda: train.input_producer([[1, 2]], element_shape=[3]))
built(lambda: train.limit_epochs(1, 0))
built(lambda: train.limit_epochs(1, -1))
""")
