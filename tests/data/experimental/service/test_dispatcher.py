"""The dispatcher's methods, called as consumers and workers call them, with a clock that tests move."""

import pytest

import tapeflow as tf
from tapeflow.data.experimental.service import dispatcher as dispatchers

pytest.importorskip("grpc")
service = tf.data.experimental.service
OFF, DYNAMIC, DATA = service.ShardingPolicy.OFF, service.ShardingPolicy.DYNAMIC, service.ShardingPolicy.DATA
SPEC = tf.TensorSpec([], tf.int64)


class Clock:
    """Stands in for `time` in the dispatcher."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(dispatchers, "time", clock)
    return clock


@pytest.fixture
def start(clock, tmp_path):
    """Starts dispatchers, which end with the test."""
    started = []

    def start(**config):
        config.setdefault("work_dir", str(tmp_path))
        started.append(dispatchers.Dispatcher(service.DispatcherConfig(**config)))
        return started[-1]

    yield start
    for dispatcher in started:
        dispatcher.stop()


def register(dispatcher, id="data", sizes=(10,), cardinality=10, spec=SPEC):
    return dispatcher.register_dataset("message", spec, cardinality, list(sizes), None, id)


def read(dispatcher, client, policy=DYNAMIC, job="", consumers=None, cached=False, repetition=0, id="data"):
    dispatcher.open(client, id, policy.value, job, consumers, cached, repetition)


def tasks_of(dispatcher, client, consumed=(), unreachable=()):
    """The tasks that a consumer hears of: number, address, gone, ended."""
    return dispatcher.client_news(client, -1, list(consumed), list(unreachable), 0.0)[2]


def work(dispatcher, address="a:1", process="p", tasks=()):
    """The new tasks and the old ones that are over, for a worker."""
    _, new, over = dispatcher.worker_news(address, process, -1, list(tasks), 0.0)
    return new, over


def test_datasets(start):
    dispatcher = start()
    assert register(dispatcher, "mine") == register(dispatcher, "mine") == "mine"
    first, second = register(dispatcher, None), register(dispatcher, None)
    assert int(second) > int(first)
    assert dispatcher.metadata("mine") == [SPEC, 10]
    assert dispatcher.metadata("none") is None
    assert dispatcher.definition("mine") == ["message", 10, None]
    with pytest.raises(tf.errors.InvalidArgumentError, match="different element_spec"):
        register(dispatcher, "mine", spec=tf.TensorSpec([2], tf.int64))
    with pytest.raises(tf.errors.NotFoundError, match="Dataset id other not found"):
        read(dispatcher, "c", id="other")


def test_splits_are_handed_out_once(start):
    dispatcher = start()
    register(dispatcher)
    read(dispatcher, "c")
    assert tasks_of(dispatcher, "c") == []
    ((number, id, policy, index, workers, consumers, cached, fixed),), over = work(dispatcher)
    assert (id, policy, index, workers, consumers, cached, fixed) == ("data", DYNAMIC.value, 0, 0, None, False, None)
    assert over == []
    assert work(dispatcher, tasks=[number, 77]) == ([], [77])
    first = dispatcher.splits(number, 0, 0, 0)
    assert dispatcher.splits(number, 0, 0, 0) == first  # the answer was lost
    assert first == list(range(len(first))) and first
    found = [*first]
    while more := dispatcher.splits(number, 0, 0, len(found)):
        found += more
    assert found == list(range(10))
    assert dispatcher.splits(number, 0, 1, 10)[0] == 0
    assert tasks_of(dispatcher, "c") == [[number, "a:1", False, False]]
    with pytest.raises(tf.errors.NotFoundError, match="Task 999 is over"):
        dispatcher.splits(999, 0, 0, 0)


def test_an_iteration_ends_with_its_tasks(start):
    dispatcher = start()
    register(dispatcher)
    work(dispatcher, "a:1", "p")
    work(dispatcher, "b:1", "q")
    read(dispatcher, "c", OFF)
    first, second = [t[0] for t in tasks_of(dispatcher, "c")]
    dispatcher.ended("c", first)
    version, finished, tasks = dispatcher.client_news("c", -1, [], [], 0.0)
    assert (finished, [t[3] for t in tasks]) == (False, [True, False])
    dispatcher.ended("c", first)
    dispatcher.ended("c", 999)
    assert dispatcher.client_news("c", -1, [], [], 0.0)[0] == version
    dispatcher.ended("c", second)
    later, finished, tasks = dispatcher.client_news("c", -1, [], [], 0.0)
    assert (finished, [t[3] for t in tasks]) == (True, [True, True])
    assert later > version
    assert work(dispatcher, "a:1", "p", [first]) == ([], [first])


def test_jobs_of_one_name_are_shared(start):
    dispatcher = start()
    register(dispatcher)
    work(dispatcher)
    read(dispatcher, "c", job="j")
    read(dispatcher, "c", job="j")  # the answer was lost
    read(dispatcher, "d", job="j")
    read(dispatcher, "e", job="j", repetition=1)
    read(dispatcher, "f")
    tasks = [tasks_of(dispatcher, client)[0][0] for client in "cdef"]
    assert tasks[0] == tasks[1]
    assert len(set(tasks)) == 3
    for other in ({"policy": OFF}, {"consumers": 2}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="an existing job with different parameters"):
            read(dispatcher, "g", job="j", **other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Got input with cardinality 10"):
        read(dispatcher, "g", job="k", cached=True)
    register(dispatcher, "endless", cardinality=tf.data.INFINITE_CARDINALITY)
    read(dispatcher, "g", OFF, job="k", cached=True, id="endless")
    assert len(tasks_of(dispatcher, "g")) == 1


def test_consumers_that_go(start, clock):
    dispatcher = start()
    register(dispatcher)
    work(dispatcher)
    read(dispatcher, "alone")
    read(dispatcher, "c", job="j")
    (number, *_), = tasks_of(dispatcher, "alone")  # fmt: skip
    dispatcher.release("alone", [])
    dispatcher.release("nobody", [])
    assert work(dispatcher, tasks=[number])[1] == [number]
    with pytest.raises(tf.errors.NotFoundError, match="does not know this reader"):
        tasks_of(dispatcher, "alone")
    (shared, *_), = tasks_of(dispatcher, "c")  # fmt: skip
    dispatcher.release("c", [])
    assert work(dispatcher, tasks=[shared])[1] == []  # another consumer may come
    for seconds in (15, 299 - 15):
        clock.now += seconds
        assert work(dispatcher, tasks=[shared], process="p")[1] in ([], [shared])
    read(dispatcher, "d", job="j")
    assert tasks_of(dispatcher, "d")


def test_iterations_that_nobody_reads_are_forgotten(start, clock):
    for unused, kept in ((None, False), (2000, False), (400_000, True), (-1, True)):
        dispatcher = start(job_gc_timeout_ms=unused, worker_timeout_ms=10**9)
        register(dispatcher)
        work(dispatcher)
        read(dispatcher, "c", job="j")
        (number, *_), = tasks_of(dispatcher, "c")  # fmt: skip
        dispatcher.release("c", [])
        clock.now += 1 if unused == 2000 else 299
        assert work(dispatcher, tasks=[number])[1] == []
        clock.now += 2
        assert work(dispatcher, tasks=[number])[1] == ([] if kept else [number])


def test_silent_consumers_are_released(start, clock):
    dispatcher = start(worker_timeout_ms=10**9)
    register(dispatcher)
    work(dispatcher)
    read(dispatcher, "c")
    (number, *_), = tasks_of(dispatcher, "c")  # fmt: skip
    clock.now += 60
    assert work(dispatcher, tasks=[number])[1] == []
    clock.now += 1
    assert work(dispatcher, tasks=[number])[1] == [number]


@pytest.mark.parametrize(("timeout", "seconds"), [(None, 20), (5000, 5)])
def test_silent_workers_are_lost(start, clock, timeout, seconds):
    dispatcher = start(worker_timeout_ms=timeout)
    register(dispatcher)
    ((), ()), ((), ()) = work(dispatcher, "a:1", "p"), work(dispatcher, "b:1", "q")
    read(dispatcher, "c")
    first, second = tasks_of(dispatcher, "c")
    taken = dispatcher.splits(first[0], 0, 0, 0)
    assert dispatcher.worker_count == 2
    clock.now += seconds - 1
    work(dispatcher, "b:1", "q", [second[0]])
    clock.now += 1.5
    work(dispatcher, "b:1", "q", [second[0]])
    assert dispatcher.worker_count == 1
    with pytest.raises(tf.errors.NotFoundError, match="is over"):
        dispatcher.splits(first[0], 0, 0, 1)
    tasks = tasks_of(dispatcher, "c", consumed=[[first[0], [0]]])  # nothing of the lost splits has come
    assert [t[:3] for t in tasks] == [[second[0], "b:1", False], [tasks[1][0], "b:1", False]]
    (again,), over = work(dispatcher, "b:1", "q", [second[0]])
    assert (over, again[0]) == ([], tasks[1][0])
    assert again[-1] == [taken]


def test_a_worker_that_starts_again_loses_its_tasks(start):
    dispatcher = start()
    register(dispatcher)
    work(dispatcher, "a:1", "p")
    read(dispatcher, "c")
    (first, *_), = tasks_of(dispatcher, "c")  # fmt: skip
    (new,), _ = work(dispatcher, "a:1", "other")
    assert new[0] != first
    assert dispatcher.worker_count == 1
    tasks = tasks_of(dispatcher, "c", consumed=[[first, [0]]])
    assert [(t[0], t[2]) for t in tasks] == [(new[0], False)]


def test_workers_that_consumers_can_not_reach(start, monkeypatch):
    dispatcher = start()
    register(dispatcher)
    work(dispatcher, "a:1", "p")
    read(dispatcher, "c")
    (first, *_), = tasks_of(dispatcher, "c")  # fmt: skip
    asked = []

    def answers(address, process):
        asked.append((address, process))
        return len(asked) == 1

    monkeypatch.setattr(dispatchers, "_process_answers", answers)
    assert tasks_of(dispatcher, "c", unreachable=[first, 999]) == [[first, "a:1", False, False]]
    assert tasks_of(dispatcher, "c", unreachable=[first]) == [[first, "a:1", True, False]]
    assert asked == [("a:1", "p")] * 2
    assert dispatcher.worker_count == 0


def test_a_process_that_does_not_answer():
    assert not dispatchers._process_answers("localhost:1", "p")


def test_coordinated_reads_keep_their_places(start):
    dispatcher = start()
    register(dispatcher, cardinality=tf.data.INFINITE_CARDINALITY)
    work(dispatcher, "a:1", "p")
    work(dispatcher, "b:1", "q")
    read(dispatcher, "c", OFF, job="j", consumers=1)
    first, _ = tasks_of(dispatcher, "c")
    assert work(dispatcher, "new:1", "r") == ([], [])  # a worker that came later takes no part
    (again,), _ = work(dispatcher, "b:1", "s")
    tasks = tasks_of(dispatcher, "c")
    assert [t[0] for t in tasks] == [first[0], again[0]]
    assert again[5] == 1


def test_lists_of_workers(start):
    dispatcher = start(worker_addresses=["named:7", "host", "host:%port%"])
    register(dispatcher)
    for address, process in (("host:1", "p"), ("named:7", "q"), ("host:2", "r")):
        work(dispatcher, address, process)
    read(dispatcher, "c", DATA)
    found = {address: new[3:5] for address, process in (("host:1", "p"), ("named:7", "q"), ("host:2", "r"))
             for (new,) in [work(dispatcher, address, process)[0]]}  # fmt: skip
    assert found == {"named:7": [0, 3], "host:1": [1, 3], "host:2": [2, 3]}
    assert work(dispatcher, "other:1", "s") == ([], [])
    other = start()
    register(other)
    work(other)
    with pytest.raises(tf.errors.NotFoundError, match="Worker a:1 is not in the workers list"):
        read(other, "c", DATA)


def test_a_dispatcher_goes_on_from_its_journal(start, clock):
    dispatcher = start(fault_tolerant_mode=True)
    register(dispatcher)
    assert int(register(dispatcher, None)) > 0
    work(dispatcher)
    read(dispatcher, "c", job="j")
    (number, *_), = tasks_of(dispatcher, "c")  # fmt: skip
    taken = dispatcher.splits(number, 0, 0, 0)
    dispatcher.stop()
    again = start(fault_tolerant_mode=True)
    assert again.metadata("data") == [SPEC, 10]
    assert again.definition("data") == ["message", 10, None]
    assert again.worker_count == 1
    assert tasks_of(again, "c") == [[number, "a:1", False, False]]
    assert work(again, tasks=[number]) == ([], [])
    assert again.splits(number, 0, 0, len(taken))[0] == len(taken)
    assert int(register(again, None)) > number
    clock.now += 61
    work(again, tasks=[number])
    with pytest.raises(tf.errors.NotFoundError, match="does not know this reader"):
        tasks_of(again, "c")
    third = start(fault_tolerant_mode=True)
    assert third.metadata("data") == [SPEC, 10]


def test_a_dispatcher_without_a_journal_forgets(start):
    dispatcher = start()
    register(dispatcher)
    dispatcher.stop()
    assert start().metadata("data") is None


def test_news_wait_for_a_change(start):
    dispatcher = start()
    register(dispatcher)
    work(dispatcher)
    read(dispatcher, "c")
    version = dispatcher.client_news("c", -1, [], [], 60.0)[0]
    assert dispatcher.client_news("c", version, [], [], 0.0)[0] == version
    dispatcher.stop()
    assert dispatcher.client_news("c", version, [], [], 60.0)[0] == version
    assert dispatcher.worker_news("a:1", "p", version, [], 60.0)[0] == version
