"""Groups of workers that are threads of this process: sums, concatenations, broadcasts, and workers that fail."""

import pytest
import torch
import torch.distributed as c10d

import tapeflow as tf
from tapeflow.distribute import workers
from worker_processes import free_addresses
from worker_threads import SECONDS, fresh_groups, resolvers, run_threads


def in_groups(function, count=2, seconds=SECONDS):
    """Calls `function(group)` in each of so many workers, and returns the results or errors."""
    store = c10d.HashStore()
    with fresh_groups():
        calls = [lambda r=r: function(workers.WorkerGroup(store, r, count, "localhost", seconds)) for r in range(count)]
        return run_threads(calls)


def test_sums():
    def add(group):
        values = [torch.tensor([1.0, 2.0]) * (1 + group.rank), torch.full((1, 3), 10.0)]
        number = group.start(values)
        values[0].zero_()  # they may be changed afterwards
        sums = group.finish(number, values, 4)
        return number, [s.tolist() for s in sums], group.bytes_sent, group.collectives

    assert in_groups(add) == [(1, [[0.75, 1.5], [[5.0, 5.0, 5.0]]], 20, 1)] * 2


def test_a_single_value_is_copied():
    def add(group):
        value = torch.tensor([[1, 2]]) + group.rank
        number = group.start([value])
        second = group.start([torch.tensor(1 + 2j)])
        [total], [other] = group.finish(number, [value], 1), group.finish(second, [torch.tensor(0j)], 2)
        return value.tolist(), total.tolist(), other.item(), (number, second), group.bytes_sent

    first, second = in_groups(add)
    assert first == ([[1, 2]], [[3, 5]], 1 + 2j, (1, 2), 16 + 8)
    assert second == ([[2, 3]], *first[1:])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenations(axis):
    def gather(group):
        shape = [2, 3]
        shape[axis] += group.rank
        value = torch.full(shape, 1.0 + group.rank)
        return group.all_gather(value, axis)

    first, second = in_groups(gather)
    expected = torch.cat([torch.full([2, 3], 1.0), torch.full([2 + (axis == 0), 3 + (axis != 0)], 2.0)], axis)
    assert torch.equal(first, expected) and torch.equal(second, expected)


def test_concatenations_of_flags_and_of_nothing():
    def gather(group):
        flags = group.all_gather(torch.tensor([group.rank == 1] * group.rank, dtype=torch.bool), 0)
        return flags.tolist(), group.all_gather(torch.zeros(0, 2), 0).shape

    assert in_groups(gather, 3) == [([True, False, False], (0, 2))] * 3


def test_broadcasts():
    def send(group):
        value = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t() * (1 + group.rank)
        sent = group.broadcast(value, "v")
        return sent.tolist(), value.tolist()

    first, second = in_groups(send)
    assert first[0] == second[0] == [[1.0, 3.0], [2.0, 4.0]] and second[1] == [[2.0, 6.0], [4.0, 8.0]]


def test_broadcasts_of_other_dtypes():
    def send(group):
        return group.broadcast(torch.tensor([1], dtype=(torch.int32, torch.int64)[group.rank]), "v")

    for error in in_groups(send):
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert "worker 0 is at v: torch.int32 [1]; worker 1 is at v: torch.int64 [1]" in str(error)


def test_a_worker_that_does_not_come():
    def add(group):
        if group.rank:
            return "away"
        failures = []
        for _ in range(2):
            try:
                group.finish(group.start([torch.ones(1)]), [torch.ones(1)], 1)
            except tf.errors.OpError as error:
                failures.append(error)
        group.close()  # leaves the connections, on which another call may wait
        return failures

    (late, again), away = in_groups(add, seconds=0.2)
    assert away == "away" and isinstance(late, tf.errors.DeadlineExceededError)
    assert "Worker 0 of 2: a worker did not come to an all-reduce within 0.2 s. CommunicationOptions(" in late.message
    assert isinstance(again, tf.errors.DeadlineExceededError)
    assert again.message.startswith("An earlier collective failed: Worker 0 of 2")


def test_kinds_of_errors():
    class Broken:
        def allreduce(self, tensors):
            raise RuntimeError("Connection closed by peer")

    def add(group):
        group._gloo = Broken()
        return group.start([torch.ones(1)])

    (error,) = in_groups(add, 1)
    assert isinstance(error, tf.errors.UnavailableError)
    assert "Worker 0 of 1: a worker ended, or can't be reached, during an all-reduce. Look for" in error.message
    for text in ("Timed out waiting", "Wait timeout", "TIMEOUT"):
        assert workers._kind_of(RuntimeError(text)) is tf.errors.DeadlineExceededError


def test_a_closed_group_has_no_connection():
    def close(group):
        group.finish(group.start([torch.ones(1)]), [torch.ones(1)], 1)
        group.close()
        return group._gloo

    assert in_groups(close) == [None, None]

    def leave(group):
        group.start([torch.ones(1)])
        group.close()
        return group._gloo is not None

    assert in_groups(leave, 1) == [True]


def resolver_of(spec, task_type=None, task_id=None):
    cluster = tf.train.ClusterSpec(spec)
    return tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type=task_type, task_id=task_id)


def test_who_is_alone():
    assert workers.join(resolver_of({}), None, 0) is None
    assert workers.join(resolver_of({"worker": ["h:1"], "ps": ["h:2"]}, "worker", 0), None, 0) is None
    assert workers.join(resolver_of({"worker": ["h:1", "h:2"], "evaluator": ["h:3"]}, "evaluator", 0), None, 0) is None


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ((None, 0), "you must also specify `task_type` and `task_id`"),
        (("worker", None), "you must also specify `task_type` and `task_id`"),
        (("worker", 2), "The task worker:2 is not in the cluster"),
        (("chief", 0), "The task chief:0 is not in the cluster"),
        (("ps", 0), "runs chiefs, workers and evaluators, not a task 'ps'"),
    ],
)
def test_tasks_that_are_no_workers(task, message):
    with pytest.raises(ValueError, match=message):
        workers.join(resolver_of({"worker": ["h:1", "h:2"], "ps": ["h:3"]}, *task), None, 0)


def test_ranks():
    def join(resolver):
        group = workers.join(resolver, SECONDS, 7)
        group.finish(group.start([torch.ones(1)]), [torch.ones(1)], 1)  # all are there
        return group.rank, group.size, group.bytes_per_pack, group.timeout.total_seconds()

    with fresh_groups():
        joined = run_threads([lambda r=r: join(r) for r in resolvers(3, chief=True)])
    assert joined == [(0, 3, 7, SECONDS), (1, 3, 7, SECONDS), (2, 3, 7, SECONDS)]


def test_workers_of_torchrun(monkeypatch):
    (address,) = free_addresses(1)
    host, port = address.split(":")
    for name, value in {"WORLD_SIZE": "2", "MASTER_ADDR": host, "MASTER_PORT": port}.items():
        monkeypatch.setenv(name, value)
    found = []
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        found.append(tf.distribute.cluster_resolver.TorchrunClusterResolver())

    def join(resolver):
        group = workers.join(resolver, SECONDS, 0)
        return group.rank, group.all_gather(torch.tensor([group.rank]), 0).tolist()

    with fresh_groups():
        assert run_threads([lambda r=r: join(r) for r in found]) == [(0, [0, 1]), (1, [0, 1])]


def test_others_that_are_not_there():
    addresses = free_addresses(2)
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"Worker 1 of 2 could not meet the others at .* 0.5 s"):
        workers.join(resolver_of({"worker": addresses}, "worker", 1), 0.5, 0)
