"""The state of the data service's dispatcher, its sources, and its journal."""

import pytest

import tapeflow as tf
from tapeflow.data.experimental.service.state import Journal, Source, State

INFINITE, UNKNOWN = tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY


@pytest.mark.parametrize(("source", "repetition", "workers", "expected"), [
    (Source(100), 0, 1, range(12)),
    (Source(100), 0, 2, range(6)),
    (Source(100), 0, 100, range(1)),
    (Source(100, 0, 40), 0, 1, range(40, 47)),
    (Source(100, 0, 99), 0, 1, range(99, 100)),
    (Source(100, 0, 100), 0, 1, range(100, 100)),
    (Source(100, 0, 100), 1, 1, range(12)),
    (Source(100, 2, 100), 1, 1, range(0)),
    (Source(UNKNOWN, 0, 7), 0, 3, range(7, 8)),
    (Source(UNKNOWN, 0, 7), 1, 3, range(1)),
    (Source(0), 0, 1, range(0)),
])  # fmt: skip
def test_next_splits(source, repetition, workers, expected):
    assert source.next(repetition, workers) == expected


def test_endless_sources_hand_out_many():
    found = Source(INFINITE, 0, 50).next(0, 1000)
    assert found.start == 50
    assert len(found) > 1
    assert len(Source(10**9).next(0, 1)) == len(found)


@pytest.fixture
def state():
    state = State()
    for entry in (
        {"change": "dataset", "id": "d", "number": 1000},
        {"change": "job", "name": "j", "dataset": "d", "policy": 1, "consumers": 2, "cached": True},
        {"change": "iteration", "id": 1001, "job": "j", "repetition": 3, "sizes": [10, 20]},
        {"change": "client", "id": "c", "iteration": 1001},
        {"change": "client", "id": "e", "iteration": 1001},
        {"change": "task", "id": 1002, "iteration": 1001, "address": "a", "process": "p", "slot": 0, "fixed": False},
        {"change": "task", "id": 1003, "iteration": 1001, "address": "b", "process": "q", "slot": 1, "fixed": False},
        {"change": "splits", "task": 1002, "source": 0, "repetition": 0, "start": 0, "stop": 3},
        {"change": "splits", "task": 1002, "source": 1, "repetition": 1, "start": 4, "stop": 6},
    ):
        state.apply(entry)
    return state


def test_changes(state):
    assert (state.datasets, state.last, state.clients) == ({"d"}, 1003, {"c": 1001, "e": 1001})
    job, iteration = state.jobs["j"], state.iterations[1001]
    assert (job.dataset, job.policy, job.consumers, job.cached) == ("d", 1, 2, True)
    assert (iteration.job, iteration.repetition, iteration.clients, iteration.finished) == (job, 3, {"c", "e"}, False)
    assert iteration.sources == [Source(10, 0, 3), Source(20, 1, 6)]
    assert [t.id for t in iteration.slots()] == [1002, 1003]
    task = state.task(1002)
    assert (task.address, task.process, task.splits, task.consumed) == ("a", "p", [[0, 1, 2], [4, 5]], [0, 0])
    assert state.task(1) is None


def test_splits_that_nobody_got_are_handed_on(state):
    state.apply({"change": "dead", "task": 1002})
    task = state.task(1002)
    assert (task.dead, task.silent) == (True, {"c", "e"})
    state.apply({"change": "report", "client": "c", "consumed": [[1002, [1, 2]], [9, [1, 1]]]})
    assert task.silent == {"e"}
    state.apply({"change": "release", "client": "e", "consumed": [[1002, [2, 0]]]})
    assert task.silent == set()
    state.apply({"change": "lost", "task": 1002})
    iteration = state.iterations[1001]
    assert iteration.lost == [[[2], []]]
    assert list(iteration.tasks) == [1003]
    state.apply({"change": "task", "id": 1004, "iteration": 1001, "address": "b", "process": "q", "slot": 2,
                 "fixed": True})  # fmt: skip
    assert (state.task(1004).splits, state.task(1004).fixed, iteration.lost) == ([[2], []], True, [])


def test_nothing_is_lost_if_all_was_got(state):
    state.apply({"change": "dead", "task": 1002})
    state.apply({"change": "report", "client": "c", "consumed": [[1002, [3, 2]]]})
    state.apply({"change": "lost", "task": 1002})
    assert state.iterations[1001].lost == []
    state.apply({"change": "dead", "task": 1})
    state.apply({"change": "ended", "task": 1})
    state.apply({"change": "release", "client": "nobody", "consumed": []})
    for change in ({"change": "lost", "task": 1}, {"change": "splits", "task": 1, "source": 0, "repetition": 0,
                                                   "start": 0, "stop": 1}):  # fmt: skip
        with pytest.raises(KeyError):
            state.apply(change)


def test_the_end_of_iterations(state):
    state.apply({"change": "iteration", "id": 1005, "job": "j", "repetition": 4, "sizes": []})
    state.apply({"change": "ended", "task": 1003})
    assert state.task(1003).ended and not state.task(1002).ended
    state.apply({"change": "finished", "iteration": 1001})
    assert state.iterations[1001].finished
    assert (state.task(1002).splits, state.task(1002).consumed) == ([], [])
    state.apply({"change": "forgotten", "iteration": 1001})
    assert list(state.jobs) == ["j"]  # the other iteration is its
    state.apply({"change": "forgotten", "iteration": 1005})
    assert (state.jobs, state.iterations) == ({}, {})


def test_an_entry_of_everything(state):
    state.apply({"change": "dead", "task": 1003})
    copy = State()
    copy.apply({"change": "dataset", "id": "other", "number": 5000})
    copy.apply(state.entry())
    assert vars(copy) == vars(state)
    assert copy.entry() == state.entry()
    copy.apply({"change": "dataset", "id": "new", "number": 1})
    assert (copy.last, state.datasets) == (1003, {"d"})


def test_journals(tmp_path):
    journal = Journal(str(tmp_path))
    assert list(journal.read()) == []
    journal.write({"change": "a"})
    journal.write({"change": "b", "id": "ä"})
    assert list(Journal(str(tmp_path)).read()) == [{"change": "a"}, {"change": "b", "id": "ä"}]
    journal.replace({"change": "c"})
    journal.write({"change": "d"})
    assert list(journal.read()) == [{"change": "c"}, {"change": "d"}]
    journal.add_dataset("../x y", b"abc")
    journal.add_dataset("other", b"d")
    assert (journal.dataset("../x y"), journal.dataset("other")) == (b"abc", b"d")
    assert [p.name for p in tmp_path.iterdir()] == ["tf_data_dispatcher"]
