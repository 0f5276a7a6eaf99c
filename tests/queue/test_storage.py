"""The storage of queues: the order of elements, checks of shapes, closing."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.values.strings import StringArray
from tapeflow_compat.queue.storage import PaddedStorage, QueueStorage, ShuffledStorage, SortedStorage, rows_of


def numbers(*values):
    return [(torch.tensor(v),) for v in values]


def taken(elements):
    return [int(element[0]) for element in elements]


def storage(kind=QueueStorage, capacity=10, shapes=([],), dtypes=(tf.int64,), **options):
    return kind("q", capacity, list(dtypes), [tf.TensorShape(s) for s in shapes], **options)


def test_first_in_first_out():
    queue = storage()
    queue.enqueue(numbers(3, 1, 2))
    assert len(queue) == 3 and taken(queue.dequeue(2, 2)) == [3, 1] and len(queue) == 1
    queue.enqueue(numbers(5))
    assert taken(queue.dequeue(2, 2)) == [2, 5] and queue.dequeue(0, 0) == []


@pytest.mark.parametrize("kind", [QueueStorage, SortedStorage])
def test_elements_of_a_failed_request_are_put_back_in_their_order(kind):
    queue = storage(kind)
    queue.enqueue(numbers(1, 2, 3))
    queue.close(False)
    with pytest.raises(
        tf.errors.OutOfRangeError, match=r"'q' is closed and has insufficient elements \(requested 5, current size 3\)"
    ):
        queue.dequeue(5, 5)
    assert taken(queue.dequeue(5, 1)) == [1, 2, 3]


def test_equal_priorities_keep_the_order_of_arrival():
    queue = storage(SortedStorage, dtypes=(tf.int64, tf.int64), shapes=([], []))
    queue.enqueue([(torch.tensor(p), torch.tensor(v)) for p, v in ((2, 0), (1, 1), (2, 2), (1, 3))])
    assert [int(v) for _, v in queue.dequeue(4, 4)] == [1, 3, 0, 2]


def test_shuffled_elements():
    orders = []
    for seed in (1, 1, 2):
        queue = storage(ShuffledStorage, 100, at_least=0, seed=seed)
        queue.enqueue(numbers(*range(30)))
        orders.append(taken(queue.dequeue(30, 30)))
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == list(range(30)) != orders[0]
    assert len({order[0] for order in orders}) > 1 or len({order[-1] for order in orders}) > 1


def test_shuffled_elements_stay_until_the_queue_is_closed():
    queue = storage(ShuffledStorage, at_least=2, seed=1)
    queue.enqueue(numbers(1, 2, 3))
    assert queue._available() == 1
    queue.dequeue(1, 1)
    assert queue._available() == 0
    queue.close(False)
    assert queue._available() == 2 and queue.closed


@pytest.mark.parametrize(
    ("capacity", "at_least", "message"),
    [(3, -1, "min_after_dequeue -1 must be >= 0"), (3, 3, "min_after_dequeue 3 must be < capacity 3"),
     (0, 0, "min_after_dequeue 0 must be < capacity 0")],
)  # fmt: skip
def test_shuffled_queues_have_room(capacity, at_least, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        storage(ShuffledStorage, capacity, at_least=at_least, seed=1)


def test_shuffled_queues_without_a_bound():
    queue = storage(ShuffledStorage, -1, at_least=5, seed=1)
    queue.enqueue(numbers(*range(50)))
    assert len(queue) == 50 and storage(ShuffledStorage, 4, at_least=3, seed=1) is not None


@pytest.mark.parametrize(
    ("shape", "value", "message"),
    [
        ([2], torch.zeros(3), r"Shape mismatch in tuple component 1. Expected \[2\], got \[3\]"),
        ([None, 2], torch.zeros(3), r"Shape mismatch in tuple component 1. Expected \[\?,2\], got \[3\]"),
        ([], torch.zeros(2, 3), r"Shape mismatch in tuple component 1. Expected \[\], got \[2,3\]"),
    ],
)
def test_shapes_of_elements_are_checked(shape, value, message):
    queue = storage(dtypes=(tf.int64, tf.float32), shapes=([], shape))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        queue.enqueue([(torch.tensor(1), value)])
    assert len(queue) == 0


def test_a_queue_is_closed_once():
    queue = storage()
    queue.close(True)
    for cancel in (True, False):
        with pytest.raises(tf.errors.CancelledError, match="Queue 'q' is already closed"):
            queue.close(cancel)
    with pytest.raises(tf.errors.CancelledError, match="FIFOQueue 'q' is closed"):
        queue.enqueue(numbers(1))


def test_cancelled_queues():
    queue = storage()
    queue.enqueue(numbers(1))
    queue.cancel()
    for operation in (lambda: queue.enqueue(numbers(2)), lambda: queue.dequeue(1, 1)):
        with pytest.raises(tf.errors.CancelledError, match="FIFOQueue 'q': the operation was cancelled"):
            operation()
    assert len(queue) == 1


# ---- stacks ----------------------------------------------------------------------------------------------------------


def test_stacks_of_all_kinds():
    queue = storage(dtypes=(tf.int64, tf.string, tf.variant), shapes=([], [1], []))
    boxes = [np.array(object(), object) for _ in range(2)]
    elements = [(torch.tensor(i), StringArray.of([text], [1]), box)
                for i, text, box in zip((3, 4), (b"a", b"b"), boxes, strict=True)]  # fmt: skip
    stacked = queue.stacked(elements)
    assert stacked[0].tolist() == [3, 4] and stacked[1].shape == (2, 1) and stacked[1].tolist() == [[b"a"], [b"b"]]
    assert stacked[2].shape == (2,) and [stacked[2][i] is boxes[i][()] for i in range(2)] == [True, True]


def test_stacks_of_nothing():
    queue = storage(PaddedStorage, dtypes=(tf.int32, tf.string, tf.variant), shapes=([2, None], [None], []))
    empty = queue.stacked([])
    assert [tuple(value.shape) for value in empty] == [(0, 2, 0), (0, 0), (0,)]
    assert empty[0].dtype == torch.int32 and empty[2].dtype == object


def test_stacks_need_shapes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="FIFOQueue's DequeueMany and DequeueUpTo require"):
        storage(shapes=([None],)).stacked([])
    assert storage(PaddedStorage, shapes=([None],)).check_batches() is None


def test_padding_is_at_the_ends():
    queue = storage(PaddedStorage, dtypes=(tf.int64, tf.string), shapes=([None, None], [None]))
    elements = [
        (torch.tensor([[1, 2]]), StringArray.of([b"a"], [1])),
        (torch.tensor([[3], [4], [5]]), StringArray.of([b"b", b"c"], [2])),
    ]
    stacked = queue.stacked(elements)
    assert stacked[0].tolist() == [[[1, 2], [0, 0], [0, 0]], [[3, 0], [4, 0], [5, 0]]]
    assert stacked[1].tolist() == [[b"a", b""], [b"b", b"c"]]
    assert elements[0][0].tolist() == [[1, 2]]


def test_rows_of_components():
    rows = rows_of([torch.tensor([[1, 2], [3, 4]]), StringArray.of([b"a", b"b"], [2])])
    assert [(number.tolist(), text.item()) for number, text in rows] == [([1, 2], b"a"), ([3, 4], b"b")]
    assert rows_of([]) == [] and rows_of([torch.zeros(0, 3)]) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="tuple component 1 must have at least one dimension"):
        rows_of([torch.zeros(2), torch.tensor(1.0)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Component 1 has 3, and should have 2"):
        rows_of([torch.zeros(2), torch.zeros(3)])
