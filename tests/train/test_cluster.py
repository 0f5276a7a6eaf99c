"""`tf.train.ClusterSpec`. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf

Spec = tf.train.ClusterSpec
WORKERS = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
SPARSE = {"worker": {5: "f", 2: "c"}, "empty": []}


def definition():
    message = tf.train.ClusterDef()
    for name, tasks in (("worker", {0: "a:1", 1: "b:2"}), ("ps", {0: "c:3"})):
        job = message.job.add(name=name)
        for i, address in tasks.items():
            job.tasks[i] = address
    return message


@pytest.mark.parametrize("make", [lambda: WORKERS, lambda: Spec(WORKERS), definition])
def test_clusters(make):
    spec = Spec(make())
    assert sorted(spec.jobs) == ["ps", "worker"] and spec.as_dict() == WORKERS and bool(spec)
    assert spec.num_tasks("worker") == 2 and spec.num_tasks("ps") == 1
    assert spec.task_indices("worker") == [0, 1] and spec.job_tasks("worker") == ["a:1", "b:2"]
    assert [spec.task_address("worker", i) for i in (0, 1)] == ["a:1", "b:2"]
    assert spec == Spec(WORKERS) and spec != Spec({"worker": ["a:1", "b:2"]}) and spec != WORKERS
    found = spec.as_cluster_def()
    assert isinstance(found, tf.train.ClusterDef)
    assert sorted((job.name, dict(job.tasks)) for job in found.job) == [
        ("ps", {0: "c:3"}),
        ("worker", {0: "a:1", 1: "b:2"}),
    ]
    assert repr(spec) == "ClusterSpec({'ps': ['c:3'], 'worker': ['a:1', 'b:2']})"


def test_numbers_that_are_left_out():
    spec = Spec(SPARSE)
    assert spec.as_dict() == {"worker": {2: "c", 5: "f"}, "empty": {}}
    assert spec.task_indices("worker") == [2, 5] and spec.num_tasks("worker") == 2
    assert spec.job_tasks("worker") == [None, None, "c", None, None, "f"]
    assert spec.task_address("worker", 5) == "f"
    assert spec.task_indices("empty") == [] and spec.num_tasks("empty") == 0
    with pytest.raises(ValueError, match="No task with index 0 in job 'worker'"):
        spec.task_address("worker", 0)
    assert Spec({"worker": {1: "b", 0: "a"}}).as_dict() == {"worker": ["a", "b"]}
    assert Spec(spec.as_cluster_def()) == spec and not Spec({}) and Spec({}).jobs == []
    assert Spec({"worker": ("a", b"b")}).as_dict() == {"worker": ["a", "b"]}


@pytest.mark.parametrize(
    "call",
    [
        lambda spec: spec.num_tasks("chief"),
        lambda spec: spec.task_indices("chief"),
        lambda spec: spec.job_tasks("chief"),
        lambda spec: spec.task_address("chief", 0),
    ],
)
def test_unknown_jobs(call):
    with pytest.raises(ValueError, match="No such job in cluster: 'chief'"):
        call(Spec(WORKERS))


@pytest.mark.parametrize(
    "cluster", [None, ["a:1"], "a:1", {"worker": 1}, {"worker": "a:1"}, {"worker": [1]}, {1: ["a"]}]
)
def test_what_is_no_cluster(cluster):
    with pytest.raises(TypeError):
        Spec(cluster)
