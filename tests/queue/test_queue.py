"""`tf.queue`: what queues hold and give, who waits for whom, and what is refused; in eager mode and in sessions."""

import subprocess
import sys
import threading

import pytest

import tapeflow as tf
from tapeflow.compat import v1

errors = tf.errors


def plain(value):
    return tf.nest.map_structure(lambda t: t.numpy().tolist() if t.dtype is not tf.string else _texts(t.numpy()), value)


def _texts(value):
    return value.decode() if isinstance(value, bytes) else [_texts(v) for v in value]


def in_thread(function):
    """Starts a function in a thread; gives the thread, and a list that gets its result or its exception."""
    results = []

    def run():
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, results


def until(condition):
    """Waits for what another thread does."""
    for _ in range(10_000):
        if condition():
            return
        threading.Event().wait(0.001)
    raise AssertionError("it did not happen")


# ---- kinds -----------------------------------------------------------------------------------------------------------


def test_elements_come_in_their_order():
    queue = tf.queue.FIFOQueue(5, [tf.int32, tf.string], shapes=[[], []])
    assert queue.enqueue([1, "a"]) is None
    queue.enqueue_many([[2, 3], ["b", "c"]])
    assert queue.size().numpy() == 3
    assert plain(queue.dequeue()) == [1, "a"]
    assert plain(queue.dequeue_many(2)) == [[2, 3], ["b", "c"]]
    assert (queue.dtypes, queue.names) == ([tf.int32, tf.string], None)
    assert queue.shapes == [tf.TensorShape([]), tf.TensorShape([])]
    assert queue.queue_ref.dtype is tf.resource


def test_one_component_stands_alone():
    queue = tf.queue.FIFOQueue(5, tf.float32, shapes=[2])
    queue.enqueue(tf.constant([1.0, 2.0]))
    queue.enqueue_many(tf.constant([[3.0, 4.0], [5.0, 6.0]]))
    assert plain(queue.dequeue()) == [1.0, 2.0]
    assert plain(queue.dequeue_many(2)) == [[3.0, 4.0], [5.0, 6.0]]
    assert plain(queue.dequeue_many(0)) == []


def test_components_by_their_names():
    queue = tf.queue.FIFOQueue(5, [tf.int32, tf.float32], shapes=[[], []], names=["i", "f"])
    queue.enqueue({"f": 2.0, "i": 1})
    queue.enqueue_many({"f": [3.0], "i": [4]})
    assert plain(queue.dequeue()) == {"i": 1, "f": 2.0}
    assert plain(queue.dequeue_many(1)) == {"i": [4], "f": [3.0]}


def test_shapes_that_are_not_known():
    queue = tf.queue.FIFOQueue(5, tf.int32)
    queue.enqueue([[1, 2]])
    queue.enqueue(7)
    assert [plain(queue.dequeue()) for _ in range(2)] == [[1, 2], 7]
    with pytest.raises(errors.InvalidArgumentError, match="FIFOQueue's DequeueMany and DequeueUpTo require the comp"):
        queue.dequeue_many(1)


def test_random_order_leaves_some_until_it_is_closed():
    queue = tf.queue.RandomShuffleQueue(100, 2, tf.int32, shapes=[[]], seed=3)
    queue.enqueue_many([list(range(50))])
    first = plain(queue.dequeue_many(48))
    assert sorted(first) != first and len(set(first)) == 48
    thread, results = in_thread(queue.dequeue)  # must wait: two are left
    assert not results
    queue.close()
    thread.join()
    rest = [plain(results[0]), plain(queue.dequeue())]
    assert sorted(first + rest) == list(range(50))
    with pytest.raises(errors.OutOfRangeError):
        queue.dequeue()


def test_random_order_is_the_same_for_a_seed():
    orders = []
    for _ in range(2):
        queue = tf.queue.RandomShuffleQueue(20, 0, tf.int32, shapes=[[]], seed=7)
        queue.enqueue_many([list(range(20))])
        orders.append(plain(queue.dequeue_many(20)))
    assert orders[0] == orders[1]


def test_smallest_priority_first():
    queue = tf.queue.PriorityQueue(10, [tf.string], shapes=[[]])
    for priority, text in ((3, "c"), (1, "a"), (2, "b"), (1, "a again")):
        queue.enqueue([priority, text])
    assert queue.dtypes == [tf.int64, tf.string]
    assert plain(queue.dequeue()) == [1, "a"]
    assert plain(queue.dequeue_many(3)) == [[1, 2, 3], ["a again", "b", "c"]]


def test_padding():
    queue = tf.queue.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[[None], [None, 2]])
    queue.enqueue([[1, 2], [["a", "b"]]])
    queue.enqueue([[3], [["c", "d"], ["e", "f"]]])
    numbers, texts = plain(queue.dequeue_many(2))
    assert numbers == [[1, 2], [3, 0]]
    assert texts == [[["a", "b"], ["", ""]], [["c", "d"], ["e", "f"]]]


def test_one_of_a_list():
    queues = [tf.queue.FIFOQueue(5, tf.int32, shapes=[[]]) for _ in range(2)]
    queues[1].enqueue(7)
    assert plain(tf.queue.QueueBase.from_list(1, queues).dequeue()) == 7
    with pytest.raises(TypeError, match="A list of queues expected"):
        tf.queue.QueueBase.from_list(0, [])
    with pytest.raises(TypeError, match="matching component dtypes"):
        tf.queue.QueueBase.from_list(0, [queues[0], tf.queue.FIFOQueue(5, tf.float32)])


def test_dtypes_that_torch_stacks_and_that_it_does_not():
    for dtype in (tf.bool, tf.uint16, tf.complex64, tf.bfloat16):
        queue = tf.queue.FIFOQueue(3, dtype, shapes=[[2]])
        values = tf.cast(tf.constant([[0, 1], [1, 0]]), dtype)
        queue.enqueue_many([values])
        assert bool(tf.reduce_all(queue.dequeue_many(2) == values))


def test_in_functions():
    queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])

    @tf.function
    def pass_through(x):
        queue.enqueue(x)
        queue.enqueue(x + 1)
        return queue.dequeue(), queue.dequeue_many(1), queue.size()

    assert plain(pass_through(5)) == (5, [6], 0)


# ---- closing and waiting ---------------------------------------------------------------------------------------------


def test_closing():
    queue = tf.queue.FIFOQueue(5, tf.int32, shapes=[[]])
    queue.enqueue_many([[1, 2, 3]])
    queue.close()
    assert queue.is_closed().numpy()
    with pytest.raises(errors.CancelledError, match="is closed"):
        queue.enqueue(4)
    with pytest.raises(errors.CancelledError, match="already closed"):
        queue.close()
    with pytest.raises(errors.OutOfRangeError, match=r"insufficient elements \(requested 4, current size 3\)"):
        queue.dequeue_many(4)
    assert plain(queue.dequeue()) == 1
    assert plain(queue.dequeue_up_to(5)) == [2, 3]
    for take in (queue.dequeue, lambda: queue.dequeue_up_to(2)):
        with pytest.raises(errors.OutOfRangeError, match="current size 0"):
            take()


def test_taking_waits_for_an_element():
    queue = tf.queue.FIFOQueue(5, tf.int32, shapes=[[]])
    thread, results = in_thread(lambda: queue.dequeue_many(3))
    queue.enqueue_many([[1, 2]])
    assert not results
    queue.enqueue(3)
    thread.join()
    assert plain(results[0]) == [1, 2, 3]


def test_more_is_taken_and_added_at_once_than_there_is_room_for():
    queue = tf.queue.FIFOQueue(2, tf.int32, shapes=[[]])
    thread, results = in_thread(lambda: queue.dequeue_many(6))
    queue.enqueue_many([list(range(8))])
    thread.join()
    assert plain(results[0]) == [0, 1, 2, 3, 4, 5]
    assert queue.size().numpy() == 2


def test_what_waits_to_be_added_is_added_before_a_queue_closes():
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    queue.enqueue(1)
    adding, added = in_thread(lambda: queue.enqueue(2))
    until(lambda: len(queue.queue_ref.value[()]._adding) == 1)
    closing, closed = in_thread(queue.close)
    until(lambda: len(queue.queue_ref.value[()]._adding) == 2)
    assert not queue.is_closed().numpy()
    assert plain(queue.dequeue()) == 1
    adding.join()
    closing.join()
    assert (added, closed, plain(queue.dequeue())) == ([None], [None], 2)


def test_what_waits_to_be_added_can_be_given_up():
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    queue.enqueue(1)
    threads = [in_thread(lambda: queue.enqueue(2)) for _ in range(3)]
    until(lambda: len(queue.queue_ref.value[()]._adding) == 3)
    queue.close(cancel_pending_enqueues=True)
    for thread, results in threads:
        thread.join()
        assert isinstance(results[0], errors.CancelledError) and "was cancelled" in str(results[0])
    assert plain(queue.dequeue()) == 1


def test_many_threads_lose_and_double_nothing():
    queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])
    adding = [in_thread(lambda k=k: queue.enqueue_many([list(range(k * 50, k * 50 + 50))])) for k in range(4)]
    taking = [in_thread(lambda: [queue.dequeue().numpy().item() for _ in range(40)]) for _ in range(5)]
    for thread, _ in adding + taking:
        thread.join()
    assert sorted(n for _, results in taking for n in results[0]) == list(range(200))


@pytest.mark.parametrize("daemon", [True, False])
def test_a_thread_that_waits_keeps_no_program_from_ending(daemon):
    program = (
        "import threading, tapeflow as tf\n"
        "queue = tf.queue.FIFOQueue(1, tf.int32)\n"
        f"threading.Thread(target=queue.dequeue, daemon={daemon}).start()\n"
        "print('done', flush=True)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.stdout, ended.returncode) == ("done\n", 0)


# ---- in sessions -----------------------------------------------------------------------------------------------------


def test_operations_have_tensorflows_names_and_shapes():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], [2]])
        add = queue.enqueue([1, ["a", "b"]])
        many, up_to = queue.dequeue_many(2), queue.dequeue_up_to(2)
        assert (queue.name, add.name, add.type) == ("fifo_queue", "fifo_queue_enqueue", "QueueEnqueueV2")
        assert [t.name for t in add.inputs] == [
            "fifo_queue:0", "fifo_queue_enqueue/component_0:0", "fifo_queue_enqueue/component_1:0",
        ]  # fmt: skip
        assert [(t.name, t.shape.as_list()) for t in many] == [
            ("fifo_queue_DequeueMany:0", [2]), ("fifo_queue_DequeueMany:1", [2, 2]),
        ]  # fmt: skip
        assert [t.shape.as_list() for t in up_to] == [[None], [None, 2]]
        assert [queue.close().name, queue.close(True).name] == ["fifo_queue_Close", "fifo_queue_Close_1"]
        assert (queue.size().name, queue.is_closed().name) == ("fifo_queue_Size:0", "fifo_queue_Is_Closed:0")
        node = queue.queue_ref.op.node_def
        assert (node.op, node.attr["capacity"].i, node.attr["shapes"].list.shape[1].dim[0].size) == (
            "FIFOQueueV2",
            3,
            2,
        )


def test_each_session_has_its_own():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="numbers")
        add, size = queue.enqueue(1), queue.size()
        same = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="numbers").size()
        other = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]]).size()
        with v1.Session() as one, v1.Session() as two:
            one.run(add)
            assert one.run([size, same, other]) == [1, 1, 0]
            assert two.run([size, same, other]) == [0, 0, 0]


def test_a_session_that_closes_cancels_what_waits():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])
        take, size = queue.dequeue(), queue.size()
    sess = v1.Session(graph=take.graph)
    sess.run(size)
    thread, results = in_thread(lambda: sess.run(take))
    storage = next(iter(sess._resources._resources.values()))
    until(lambda: storage._dequeuing)
    sess.close()
    thread.join()
    assert isinstance(results[0], errors.CancelledError)


def test_a_run_may_wait_for_a_time_only():
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])
        take, add = queue.dequeue(), queue.enqueue(5)
        with pytest.raises(errors.DeadlineExceededError):
            sess.run(take, options=v1.RunOptions(timeout_in_ms=20))
        sess.run(add)
        assert sess.run(take) == 5


def test_graphs_of_queues_can_be_imported():
    with tf.Graph().as_default() as graph:
        queue = tf.queue.PaddingFIFOQueue(3, tf.int32, shapes=[[None]], name="queue")
        queue.enqueue([[1, 2]], name="add")
        queue.enqueue([[3]], name="add_short")
        queue.dequeue_many(2, name="take")
        queue.close(name="close")
    with tf.Graph().as_default(), v1.Session() as sess:
        tf.import_graph_def(graph.as_graph_def(), name="")
        sess.run(["add", "add_short"])
        assert sess.run("take:0").tolist() == [[1, 2], [3, 0]]
        sess.run("close")
        with pytest.raises(errors.CancelledError):
            sess.run("add")


# ---- errors ----------------------------------------------------------------------------------------------------------


def _queue(**options):
    return tf.queue.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], []], **options)


@pytest.mark.parametrize(
    ("do", "kind", "message"),
    [
        (lambda: _queue().enqueue([1]), errors.InvalidArgumentError, "2 components, and 1"),
        (lambda: _queue().enqueue([1.5, "a"]), TypeError, "Cannot convert 1.5"),
        (lambda: _queue().enqueue([[1], "a"]), ValueError, r"Shapes \(1,\) and \(\) are incompatible"),
        (lambda: _queue().enqueue_many([[1, 2], ["a"]]), ValueError, "Dimensions 2 and 1 are not compatible"),
        (lambda: _queue().enqueue_many([1, "a"]), ValueError, r"Shape \(\) must have rank at least 1"),
        (lambda: _queue().enqueue({"a": 1}), ValueError, "must have names to enqueue a dictionary"),
        (lambda: _queue(names=["i", "s"]).enqueue([1, "a"]), ValueError, "must enqueue a dictionary"),
        (lambda: _queue(names=["i", "s"]).enqueue({"i": 1}), ValueError, r"Dictionary: \['i'\],Queue: \['i', 's'\]"),
        (lambda: _queue(names=["i"]), ValueError, "same length as the list of dtypes"),
        (lambda: tf.queue.FIFOQueue(3, [tf.int32], shapes=[[], []]), errors.InvalidArgumentError, "Different number"),
        (lambda: tf.queue.FIFOQueue(3, tf.int32, shapes=[[None]]), ValueError, "must be fully defined"),
        (lambda: _queue().dequeue_many(-1), errors.InvalidArgumentError, "requested -1 < 0 elements"),
        (lambda: tf.queue.RandomShuffleQueue(3, 5, tf.int32), errors.InvalidArgumentError, "5 must be < capacity 3"),
        (lambda: tf.queue.RandomShuffleQueue(3, -1, tf.int32), errors.InvalidArgumentError, "must be >= 0"),
        (lambda: tf.queue.PaddingFIFOQueue(3, tf.int32, None), ValueError, "a list of shapes must be provided"),
        (lambda: tf.queue.PaddingFIFOQueue(3, [tf.int32], [[None]] * 2), ValueError, "1 dtypes and 2 shapes"),
        (lambda: tf.queue.PaddingFIFOQueue(3, tf.int32, [tf.TensorShape(None)]), ValueError, "a defined rank"),
    ],
)  # fmt: skip
def test_errors(do, kind, message):
    with pytest.raises(kind, match=message):
        do()


# ---- operations of one run that wait for each other ------------------------------------------------------------------


@pytest.fixture
def run():
    """What runs fetches in a session, and gives up after some seconds."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        options = tf.compat.v1.RunOptions(timeout_in_ms=20_000)
        yield lambda fetches, feeds=None: session.run(fetches, feeds, options)


def test_a_run_takes_what_it_adds_later_itself(run):
    queue = tf.queue.FIFOQueue(10, tf.float32, [[]])
    x = tf.compat.v1.placeholder(tf.float32, [])
    taken, added = queue.dequeue(), queue.enqueue(x * 2.0)
    assert run([taken + 1.0, added], {x: 2.0}) == [5.0, None]
    assert run([added, taken], {x: 3.0}) == [None, 6.0]
    assert run(queue.size()) == 0


def test_a_run_adds_as_there_is_room(run):
    queue = tf.queue.FIFOQueue(1, tf.float32, [[]])
    added, taken = queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.dequeue_many(3)
    assert run([added, taken])[1].tolist() == [1.0, 2.0, 3.0]


def test_a_run_goes_on_with_what_it_took(run):
    queue = tf.queue.FIFOQueue(10, tf.float32, [[]])
    taken = queue.dequeue()
    again = queue.enqueue(taken + 1.0)
    assert run([taken, again, queue.enqueue(1.0)]) == [1.0, None, None]
    assert run(queue.dequeue()) == 2.0


def test_closing_ends_the_wait_of_the_same_run(run):
    queue = tf.queue.FIFOQueue(10, tf.float32, [[]])
    with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
        run([queue.dequeue(), queue.close()])


def test_what_fails_ends_the_wait_of_the_same_run(run):
    queue = tf.queue.FIFOQueue(10, tf.float32, [[]])
    taken = queue.dequeue()
    added = queue.enqueue(tf.debugging.check_numerics(tf.constant(float("nan")), "a bad number"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="a bad number"):
        run([taken, added])
    assert run([taken, queue.enqueue(1.0)]) == [1.0, None]


def test_a_run_may_take_too_long_for_itself():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        queue = tf.queue.FIFOQueue(10, tf.float32, [[]])
        several, one = queue.dequeue_many(2), queue.enqueue(1.0)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run([several, one], options=tf.compat.v1.RunOptions(timeout_in_ms=50))
        assert session.run(queue.size()) == 1


def test_a_run_in_parts_adds_to_a_queue():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        queue = tf.queue.FIFOQueue(10, tf.float32, [[]])
        x = tf.compat.v1.placeholder(tf.float32, [])
        added = queue.enqueue(x)
        session.partial_run(session.partial_run_setup([added], [x]), added, {x: 1.0})
        assert session.run(queue.dequeue()) == 1.0
