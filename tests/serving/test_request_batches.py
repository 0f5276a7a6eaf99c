"""Requests that share calls of a signature: which join, in what order, and what each gets."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tapeflow.core.values.strings import StringArray
from tapeflow.serving.configs import Batching
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.request_batches import Batcher

LONG = 1e6  # no test waits so long


class Signature:
    """A signature that adds one, refuses negative numbers, and records the first column of its calls."""

    def __init__(self, batched=True, rows=None):
        self.batched, self.calls, self._rows = batched, [], rows

    def run(self, arrays):
        x = np.asarray(arrays["x"])
        self.calls.append(x[:, :1].reshape(-1).tolist() if x.ndim else x.tolist())
        if (x < 0).any():
            raise BadRequest("negative")
        names = {n: a for n, a in arrays.items() if n != "x"}
        return {"y": x + 1 if self._rows is None else x[: self._rows] + 1, **names}


def rows(*numbers, width=1):
    return {"x": np.repeat(np.array(numbers, np.float32)[:, None], width, 1)}


def answer(requests, batching, signature=None, held=False):
    """Returns the answers to requests that come at once, and the calls; a held slot lets all join first."""
    signature = signature or Signature()

    async def ask():
        slots = asyncio.Semaphore(batching.threads)
        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(signature, executor, slots, batching)
            if held:
                await slots.acquire()
            tasks = [asyncio.ensure_future(batcher.run(r)) for r in requests]
            if held:
                for _ in range(10):
                    await asyncio.sleep(0)
                slots.release()
            return await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(ask()), signature.calls


def first(answers):
    return [a if isinstance(a, BaseException) else np.asarray(a["y"])[:, 0].tolist() for a in answers]


@pytest.mark.parametrize(("batching", "sizes", "expected"), [
    (Batching(4, LONG), [2, 2], [[0, 0, 1, 1]]),
    (Batching(4, LONG), [1, 1, 1, 1], [[0, 1, 2, 3]]),
    (Batching(4, LONG), [2, 2, 1, 3], [[0, 0, 1, 1], [2, 3, 3, 3]]),
    (Batching(4, LONG), [3, 2, 1, 2], [[0, 0, 0, 2], [1, 1, 3, 3]]),
    (Batching(4, 0.0), [1, 1, 1], [[0, 1, 2]]),
    (Batching(4, 0.0), [3, 3, 1], [[0, 0, 0, 2], [1, 1, 1]]),
    (Batching(4, LONG), [9, 4], [[0] * 9, [1] * 4]),
    (Batching(4, LONG, splits=True), [9, 3], [[0] * 4, [0] * 4, [0, 1, 1, 1]]),
    (Batching(4, LONG, splits=True), [4], [[0] * 4]),
    (Batching(4, 0.001), [1, 2], [[0, 1, 1]]),
])  # fmt: skip
def test_requests_that_join(batching, sizes, expected):
    requests = [rows(*[float(i)] * size) for i, size in enumerate(sizes)]
    answers, calls = answer(requests, batching, held=True)
    assert first(answers) == [[i + 1.0] * size for i, size in enumerate(sizes)]
    assert calls == expected


def test_a_batch_that_is_not_full_waits_for_its_time():
    answers, calls = answer([rows(1.0), rows(2.0)], Batching(8, 0.001))
    assert first(answers) == [[2.0], [3.0]] and calls == [[1.0, 2.0]]


@pytest.mark.parametrize(("allowed", "numbers", "call"), [
    ((4, 8), [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 3.0]),
    ((2, 4), [1.0, 2.0], [1.0, 2.0]),
    ((1, 2), [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    ((8,), [5.0], [5.0] * 8),
    ((), [1.0, 2.0], [1.0, 2.0]),
])  # fmt: skip
def test_calls_are_padded_to_allowed_sizes(allowed, numbers, call):
    batching = Batching(8, 0.0, allowed_rows=allowed)
    answers, calls = answer([rows(n) for n in numbers], batching, held=True)
    assert first(answers) == [[n + 1] for n in numbers] and calls == [call]


def test_no_rows_are_not_padded():
    (result,), calls = answer([{"x": np.zeros([0, 2], np.float32)}], Batching(8, 0.0, allowed_rows=(4,)))
    assert result["y"].shape == (0, 2) and calls == [[]]


def test_the_row_that_pads_is_of_the_last_request_with_rows():
    empty = {"x": np.zeros([0, 1], np.float32)}
    answers, calls = answer([rows(1.0), rows(2.0), empty], Batching(8, 0.0, allowed_rows=(4,)), held=True)
    assert first(answers) == [[2.0], [3.0], []] and calls == [[1.0, 2.0, 2.0, 2.0]]


@pytest.mark.parametrize("pads", [False, True])
def test_shapes_that_differ(pads):
    requests = [rows(1.0, width=1), rows(2.0, width=3), rows(4.0, width=3)]
    answers, calls = answer(requests, Batching(8, 0.0, pads_inputs=pads), held=True)
    assert calls == ([[1.0, 2.0, 4.0]] if pads else [[1.0], [2.0, 4.0]])
    assert [a["y"].tolist() for a in answers] == [[[2.0] * (3 if pads else 1)], [[3.0] * 3], [[5.0] * 3]]


def test_inputs_are_padded_by_their_first_element():
    words = [StringArray.of([b"a"], [1, 1]), StringArray.of([b"b", b"c"], [1, 2]), StringArray.of([], [1, 0])]
    requests = [{**rows(float(i + 1), width=1 + i % 2), "words": w} for i, w in enumerate(words)]
    answers, _ = answer(requests, Batching(8, 0.0, pads_inputs=True), held=True)
    assert [np.asarray(a["words"]).tolist() for a in answers] == [[[b"a", b"a"]], [[b"b", b"c"]], [[b"", b""]]]
    assert [a["y"].tolist() for a in answers] == [[[2.0, 2.0]], [[3.0, 3.0]], [[4.0, 4.0]]]
    empty = [{"x": np.zeros([1, 0], np.float32)}, rows(7.0)]
    answers, _ = answer(empty, Batching(8, 0.0, pads_inputs=True), held=True)
    assert [a["y"].tolist() for a in answers] == [[[1.0]], [[8.0]]]


def test_a_request_that_is_refused_fails_alone():
    answers, calls = answer([rows(1.0), rows(-1.0), rows(3.0)], Batching(8, 0.0), held=True)
    assert first(answers)[::2] == [[2.0], [4.0]] and str(answers[1]) == "negative"
    assert calls == [[1.0, -1.0, 3.0], [1.0], [-1.0], [3.0]]


def test_outputs_without_a_row_for_each_are_computed_again():
    answers, calls = answer([rows(1.0), rows(2.0)], Batching(8, 0.0), Signature(rows=1), held=True)
    assert first(answers) == [[2.0], [3.0]] and calls == [[1.0, 2.0], [1.0], [2.0]]


def test_signatures_without_rows_answer_each_request():
    requests = [{"x": np.float32(i)} for i in range(3)]
    answers, calls = answer(requests, Batching(8, LONG), Signature(batched=False))
    assert [float(a["y"]) for a in answers] == [1.0, 2.0, 3.0] and calls == [0.0, 1.0, 2.0]
    answers, _ = answer([{"x": np.float32(-1)}], Batching(8, LONG), Signature(batched=False))
    assert str(answers[0]) == "negative"


def test_inputs_with_different_numbers_of_rows_are_refused():
    (error,), calls = answer([{**rows(1.0, 2.0), "z": np.zeros([3])}], Batching(8, 0.0))
    assert str(error) == "The inputs have different numbers of rows: {'x': 2, 'z': 3}." and calls == []


@pytest.mark.parametrize(("limit", "sizes", "refused"), [
    (2, [2, 2, 2, 2, 1], [4]), (1, [2, 2, 2], [2]), (1, [9, 1], [1]), (None, [2] * 9, []), (1, [3, 1, 1], [2]),
])  # fmt: skip
def test_too_many_waiting_requests_are_refused(limit, sizes, refused):
    batching = Batching(4, 0.0, max_enqueued=limit)
    answers, _ = answer([rows(*[1.0] * n) for n in sizes], batching, held=True)
    assert [i for i, a in enumerate(answers) if isinstance(a, BadRequest)] == refused
    assert all(answers[i].status == 503 for i in refused)


def test_clients_that_have_gone_are_left_out():
    signature = Signature()

    async def ask():
        slots = asyncio.Semaphore(1)
        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(signature, executor, slots, Batching(8, 0.0))
            await slots.acquire()
            tasks = [asyncio.ensure_future(batcher.run(rows(float(i)))) for i in range(3)]
            await asyncio.sleep(0)
            tasks[1].cancel()
            await asyncio.sleep(0)
            slots.release()
            return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(ask())
    assert isinstance(answers[1], asyncio.CancelledError) and signature.calls == [[0.0, 2.0]]
    assert first([answers[0], answers[2]]) == [[1.0], [3.0]]


def test_calls_after_the_end_of_the_executor_fail():
    async def ask():
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        batcher = Batcher(Signature(), executor, asyncio.Semaphore(1), Batching(8, 0.0))
        return await asyncio.gather(*(batcher.run(rows(1.0)) for _ in range(2)), return_exceptions=True)

    assert [type(answer) for answer in asyncio.run(ask())] == [RuntimeError, RuntimeError]
