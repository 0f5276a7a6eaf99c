"""`tf.nondifferentiable_batch_function`: parts, padding, batches that wait, and errors."""

import threading

import pytest

import tapeflow as tf

LONG = 60_000_000  # microseconds: a batch waits until it is full


def batched(max_batch_size, timeout=0, threads=1, **options):
    """Returns a function that doubles its tensors and negates them, and the list of the batches that it computed."""
    batches = []

    @tf.nondifferentiable_batch_function(threads, max_batch_size, timeout, **options)
    def compute(x, *others):
        """Computes."""
        batches.append(x.numpy().tolist())
        return {"double": x * 2, "rest": [x + o for o in others]}

    return compute, batches


@pytest.mark.parametrize(
    ("size", "allowed", "expected"),
    [
        (1, None, [[0]]),
        (3, [2, 4], [[0, 1, 2, 0]]),
        (3, [4, 2, 3], [[0, 1, 2]]),
        (2, [4, 2], [[0, 1]]),
        (4, [2, 3], [[0, 1, 2, 3]]),
        (4, None, [[0, 1, 2, 3]]),
        (5, None, [[0, 1, 2, 3], [4]]),
        (5, [2, 4], [[0, 1, 2, 3], [4, 4]]),
        (8, None, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (9, [4], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 8, 8, 8]]),
    ],
)
def test_parts_and_padding(size, allowed, expected):
    compute, batches = batched(4, allowed_batch_sizes=allowed)
    x = tf.range(size)
    result = compute(x, x * 10, x * 100)
    assert batches == expected
    assert result["double"].numpy().tolist() == [2 * i for i in range(size)]
    assert result["rest"][0].numpy().tolist() == [11 * i for i in range(size)]
    assert result["rest"][1].numpy().tolist() == [101 * i for i in range(size)]


def test_long_calls_may_be_refused():
    compute, batches = batched(4, enable_large_batch_splitting=False)
    assert compute(tf.range(4))["double"].shape == [4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Task size 5 is larger than maximum input batch size 4"):
        compute(tf.range(5))
    assert batches == [[0, 1, 2, 3]]


@pytest.mark.parametrize("inputs", [(), (1,), ([1, 2], 3), ([1, 2], [1, 2, 3]), ([], [1])])
def test_inputs_have_one_first_dimension(inputs):
    compute, batches = batched(4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batching input tensors must have"):
        compute(*inputs)
    assert batches == []


def test_it_looks_like_the_function():
    compute, _ = batched(4)
    assert compute.__name__ == "compute" and compute.__doc__ == "Computes."


class Waiting:
    """A call in a thread of its own."""

    def __init__(self, function, *args):
        def call():
            try:
                self.result = function(*args)
            except Exception as error:
                self.result = error

        self.thread = threading.Thread(target=call, daemon=True)
        self.thread.start()

    def get(self):
        self.thread.join(60)
        return self.result


def test_a_full_batch_does_not_wait():
    compute, batches = batched(3, LONG)
    assert compute([1, 2, 3])["double"].numpy().tolist() == [2, 4, 6]
    calls = [Waiting(compute, [i]) for i in (5, 6, 7)]
    assert [c.get()["double"].numpy().tolist() for c in calls] == [[10], [12], [14]]
    assert sorted(batches[1]) == [5, 6, 7] and len(batches) == 2


def test_a_call_that_does_not_fit_closes_the_batch():
    compute, batches = batched(3, LONG)
    waiting = Waiting(compute, [1])
    for _ in range(10_000):  # until the other thread has begun its batch
        assert compute([2, 2, 2])["double"].numpy().tolist() == [4, 4, 4]
        if [1] in batches:
            break
    assert [1] in batches and waiting.get()["double"].numpy().tolist() == [2]


def test_errors_reach_the_caller_and_the_next_call_is_computed():
    @tf.nondifferentiable_batch_function(1, 4, 0)
    def divide(x):
        if x.numpy()[0] == 0:
            raise ZeroDivisionError("zero")
        return 6 // x

    with pytest.raises(ZeroDivisionError, match="zero"):
        divide([0])
    assert divide([2]).numpy().tolist() == [3]


def test_too_many_batches_are_refused():
    compute, batches = batched(2, LONG, max_enqueued_batches=1)
    waiting = Waiting(compute, [1])
    with pytest.raises(tf.errors.UnavailableError, match="The batch scheduling queue is full"):
        for _ in range(10_000):  # until the other thread has begun its batch
            compute([2, 2])
    assert compute([3])["double"].numpy().tolist() == [6]
    assert waiting.get()["double"].numpy().tolist() == [2] and sorted(batches[-1]) == [1, 3]
