"""The elements of queues; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf

errors, v1 = tf.errors, tf.compat.v1


def fifo(capacity=5, dtypes=tf.int32, shapes=((),), **options):
    return tf.queue.FIFOQueue(capacity, dtypes, [list(s) for s in shapes], **options)


def plain(value):
    arrays = tf.nest.map_structure(lambda t: t.numpy(), value)
    return tf.nest.map_structure(lambda a: a.tolist() if hasattr(a, "tolist") else a, arrays)


# ---- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([[]], [[]]), ([[2]], [[2]]), (tf.TensorShape([2]), [[2]]), ([tf.TensorShape([2, 3])], [[2, 3]]),
        (((),), [[]]), ([2], [[2]]),
    ],
)  # fmt: skip
def test_shapes_of_one_component(shapes, expected):
    queue = tf.queue.FIFOQueue(2, tf.int32, shapes)
    assert [shape.as_list() for shape in queue.shapes] == expected and queue.dtypes == [tf.int32]


def test_shapes_that_are_no_list():
    for shapes in (2, "ab"):
        with pytest.raises(TypeError, match=r"shapes must be a TensorShape or a list or tuple of TensorShapes"):
            tf.queue.FIFOQueue(2, tf.int32, shapes)
    with pytest.raises(ValueError, match=r"All shapes must be fully defined: \[TensorShape\(\[None\]\)\]"):
        tf.queue.FIFOQueue(2, tf.int32, [[None]])


def test_queues_of_a_reference():
    queue = fifo(dtypes=[tf.int32, tf.float32], shapes=[(), (2,)])
    queue.enqueue([1, [2.0, 3.0]])
    same = tf.queue.QueueBase([tf.int32, tf.float32], [[], [2]], ["i", "f"], queue.queue_ref)
    assert plain(same.dequeue()) == {"i": 1, "f": [2.0, 3.0]} and same.names == ["i", "f"]
    with pytest.raises(ValueError, match=r"Queue shapes must have the same length as dtypes, received len\(shapes\)=1"):
        tf.queue.QueueBase([tf.int32, tf.float32], [[]], None, queue.queue_ref)
    with pytest.raises(
        ValueError, match=r"List of names must have the same length as the list of dtypes, .*len\(names\)=1"
    ):
        tf.queue.QueueBase([tf.int32, tf.float32], None, ["i"], queue.queue_ref)


def test_the_queue_at_a_position():
    queues = [fifo(shapes=[(2,)]), fifo(shapes=[(2,)]), fifo(shapes=[(3,)])]
    for i, queue in enumerate(queues):
        queue.enqueue([[i] * (3 if i == 2 else 2)])
    assert [s.as_list() for s in tf.queue.QueueBase.from_list(0, queues[:2]).shapes] == [[2]]
    assert tf.queue.QueueBase.from_list(0, queues).shapes[0].rank is None
    assert plain(tf.queue.QueueBase.from_list(2, queues).dequeue()) == [2, 2, 2]
    named = [fifo(names=["a"]), fifo(names=["b"])]
    with pytest.raises(TypeError, match="Queues do not have matching component names"):
        tf.queue.QueueBase.from_list(0, named)
    named[0].enqueue({"a": 3})
    assert plain(tf.queue.QueueBase.from_list(0, [named[0], fifo(names=["a"])]).dequeue()) == {"a": 3}
    for other in (None, queues[0], [queues[0], 3]):
        with pytest.raises(TypeError, match="A list of queues expected"):
            tf.queue.QueueBase.from_list(0, other)


def test_the_queue_at_a_position_in_a_graph():
    with tf.Graph().as_default(), v1.Session() as session:
        queues = [fifo() for _ in range(3)]
        session.run([queue.enqueue(10 + i) for i, queue in enumerate(queues)])
        index = v1.placeholder(tf.int32, [])
        taken = tf.queue.QueueBase.from_list(index, queues).dequeue()
        assert [session.run(taken, {index: i}) for i in (2, 0, 1)] == [12, 10, 11]
        assert taken.dtype == tf.int32 and taken.shape == []


# ---- adding ----------------------------------------------------------------------------------------------------------


def test_elements_have_the_shapes_of_the_queue():
    queue = fifo(dtypes=[tf.int32, tf.float32], shapes=[(2,), ()])
    queue.enqueue_many([[[1, 2], [3, 4]], [5.0, 6.0]])
    with pytest.raises(ValueError, match=r"Shapes? \(2,\) and \(3,\)|Shapes? \(3,\) and \(2,\)"):
        queue.enqueue([[1, 2, 3], 4.0])
    with pytest.raises(ValueError, match="incompatible"):
        queue.enqueue_many([[[1, 2, 3]], [4.0]])
    with pytest.raises(ValueError, match="Dimensions 1 and 2 are not compatible"):
        queue.enqueue_many([[[1, 2]], [4.0, 5.0]])
    assert plain(queue.size()) == 2 and plain(queue.dequeue()) == [[1, 2], 5.0]


def test_elements_are_converted_to_the_dtypes():
    queue = fifo(dtypes=[tf.int64, tf.float64], shapes=[(), ()])
    queue.enqueue((1, 2))
    number, other = queue.dequeue()
    assert number.dtype == tf.int64 and other.dtype == tf.float64 and (plain(number), plain(other)) == (1, 2.0)
    queue.enqueue_many(([], []))
    assert plain(queue.size()) == 0


def test_dictionaries_need_all_names():
    queue = fifo(dtypes=[tf.int32, tf.int32], shapes=[(), ()], names=["b", "a"])
    queue.enqueue({"a": 1, "b": 2})
    assert plain(queue.dequeue()) == {"b": 2, "a": 1}
    for wrong in ({"a": 1}, {"a": 1, "b": 2, "c": 3}):
        with pytest.raises(ValueError, match="Keys in dictionary to enqueue do not match names of Queue"):
            queue.enqueue(wrong)


# ---- removing --------------------------------------------------------------------------------------------------------


def test_several_elements():
    queue = fifo(10, [tf.int32, tf.string], [(), (2,)])
    queue.enqueue_many([list(range(4)), [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]])
    assert plain(queue.dequeue_many(tf.constant(2))) == [[0, 1], [[b"a", b"b"], [b"c", b"d"]]]
    assert plain(queue.dequeue_many(0)) == [[], []] and queue.dequeue_many(0)[1].shape == [0, 2]
    assert plain(queue.dequeue_up_to(1)) == [[2], [[b"e", b"f"]]]
    for take in (queue.dequeue_many, queue.dequeue_up_to):
        with pytest.raises(errors.InvalidArgumentError, match="requested -1 < 0 elements"):
            take(-1)
    assert plain(queue.size()) == 1


def test_elements_that_are_too_few_stay_in_their_order():
    queue = fifo(10)
    queue.enqueue_many([[3, 1, 2]])
    queue.close()
    with pytest.raises(errors.OutOfRangeError, match=r"requested 4, current size 3"):
        queue.dequeue_many(4)
    assert plain(queue.size()) == 3 and plain(queue.dequeue_many(3)) == [3, 1, 2]
    with pytest.raises(errors.OutOfRangeError):
        queue.dequeue_up_to(1)


def test_priorities_that_are_too_few_stay():
    queue = tf.queue.PriorityQueue(10, [tf.string], [[]])
    for priority, text in ((5, "e"), (-2, "a"), (3, "c")):
        queue.enqueue([tf.constant(priority, tf.int64), text])
    queue.close()
    with pytest.raises(errors.OutOfRangeError):
        queue.dequeue_many(4)
    assert plain(queue.dequeue_many(2)) == [[-2, 3], [b"a", b"c"]] and plain(queue.dequeue_up_to(3)) == [[5], [b"e"]]


def test_shuffled_elements_that_are_too_few_stay():
    queue = tf.queue.RandomShuffleQueue(10, 0, tf.int32, [[]])
    queue.enqueue_many([[3, 1, 2]])
    queue.close()
    with pytest.raises(errors.OutOfRangeError):
        queue.dequeue_many(4)
    assert sorted(plain(queue.dequeue_many(3))) == [1, 2, 3]


def test_padded_elements():
    queue = tf.queue.PaddingFIFOQueue(10, [tf.float64, tf.string, tf.bool], [[None, 2], [None], []])
    queue.enqueue([[[1.0, 2.0]], ["a", "b"], True])
    queue.enqueue([[[3.0, 4.0], [5.0, 6.0]], [], False])
    numbers, texts, flags = queue.dequeue_many(2)
    assert plain(numbers) == [[[1.0, 2.0], [0.0, 0.0]], [[3.0, 4.0], [5.0, 6.0]]] and numbers.dtype == tf.float64
    assert plain(texts) == [[b"a", b"b"], [b"", b""]] and plain(flags) == [True, False]
    empty = queue.dequeue_many(0)
    assert [t.shape.as_list() for t in empty] == [[0, 0, 2], [0, 0], [0]]
    with pytest.raises(ValueError, match=r"incompatible|Incompatible"):
        queue.enqueue([[[1.0]], ["a"], True])


def test_elements_without_shapes_are_taken_one_by_one():
    queue = tf.queue.FIFOQueue(5, [tf.int32, tf.string])
    assert [shape.rank for shape in queue.shapes] == [None, None]
    queue.enqueue([[1, 2], "a"])
    queue.enqueue_many([[3, 4], [["b"], ["c"]]])
    assert [plain(queue.dequeue()) for _ in range(3)] == [[[1, 2], b"a"], [3, [b"b"]], [4, [b"c"]]]
    with pytest.raises(errors.InvalidArgumentError, match="require the components to have specified shapes"):
        queue.dequeue_up_to(1)


# ---- state -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cancel", [True, False])
def test_closed_queues(cancel):
    queue = fifo()
    queue.enqueue(3)
    assert plain(queue.is_closed()) is False and queue.is_closed().dtype == tf.bool
    assert queue.close(cancel_pending_enqueues=cancel) is None
    assert plain(queue.is_closed()) is True and plain(queue.size()) == 1 and queue.size().dtype == tf.int32
    with pytest.raises(errors.CancelledError):
        queue.enqueue(1)
    assert plain(queue.dequeue()) == 3
    with pytest.raises(errors.OutOfRangeError):
        queue.dequeue()


def test_operations_of_names_and_shapes():
    with tf.Graph().as_default():
        queue = fifo(dtypes=[tf.int32, tf.float32], shapes=[(), (2,)], name="q")
        n = v1.placeholder(tf.int32, [])
        many, fixed, up_to = queue.dequeue_many(n), queue.dequeue_many(3), queue.dequeue_up_to(3, name="up")
        assert [t.shape.as_list() for t in many] == [[None], [None, 2]]
        assert [t.shape.as_list() for t in fixed] == [[3], [3, 2]]
        assert [t.shape.as_list() for t in up_to] == [[None], [None, 2]]
        assert [t.dtype for t in many] == [tf.int32, tf.float32]
        assert many[0].op.name == "q_DequeueMany" and up_to[0].op.name == "up"
        assert queue.dequeue()[0].op.name == "q_Dequeue" and queue.dequeue(name="take")[0].op.name == "take"
        assert queue.enqueue([1, [1.0, 2.0]]).name == "q_enqueue"
        assert queue.enqueue_many([[1], [[1.0, 2.0]]], name="add").name == "add"
        assert queue.enqueue_many([[1], [[1.0, 2.0]]]).name == "q_EnqueueMany"
        assert queue.size(name="count").op.name == "count" and queue.is_closed("shut").op.name == "shut"
        closed = [queue.close(name="end"), queue.close(cancel_pending_enqueues=True)]
        assert [c.node_def.attr["cancel_pending_enqueues"].b for c in closed] == [False, True]
        assert closed[0].name == "end" and queue.name == "q"


def test_graphs_of_all_operations_can_be_imported():
    with tf.Graph().as_default() as graph:
        queue = tf.queue.PriorityQueue(5, [tf.string], [[2]], name="q")
        queue.enqueue_many([tf.constant([3, 1, 2], tf.int64), [["a", "b"], ["c", "d"], ["e", "f"]]], name="add")
        queue.dequeue(name="one")
        queue.dequeue_many(1, name="many")
        queue.dequeue_up_to(1, name="up_to")
        queue.size(name="size")
        queue.is_closed(name="closed")
        queue.close(name="close")
    with tf.Graph().as_default() as imported, v1.Session() as session:
        tf.graph_util.import_graph_def(graph.as_graph_def(), name="")
        assert session.run("closed:0") is False or session.run("closed:0") == False  # noqa: E712 (a NumPy bool)
        session.run("add")
        assert session.run("size:0") == 3
        assert session.run(["one:0", "one:1"])[0] == 1
        assert session.run("many:1").tolist() == [[b"e", b"f"]]
        assert session.run("up_to:0").tolist() == [3]
        session.run("close")
        assert session.run("closed:0") == True  # noqa: E712
        shapes = {name: imported.get_tensor_by_name(name).shape for name in ("one:0", "one:1", "many:1", "up_to:1")}
    assert shapes["one:0"] == [] and shapes["one:1"] == [2] and shapes["many:1"] == [1, 2]
    assert shapes["up_to:1"].as_list() == [None, 2]
