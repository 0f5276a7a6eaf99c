"""Clusters of Slurm."""

import os

import pytest

import tapeflow as tf
from tapeflow.distribute.cluster_resolver.slurm import expand_hosts, expand_tasks

Resolver = tf.distribute.cluster_resolver.SlurmClusterResolver


@pytest.fixture(name="step")
def set_step(monkeypatch):
    def step(**variables):
        defaults = {"PROCID": "0", "STEP_NUM_TASKS": "3", "STEP_NODELIST": "n[1-2]", "STEP_TASKS_PER_NODE": "2,1"}
        for name, value in {**defaults, **variables}.items():
            monkeypatch.setenv(f"SLURM_{name}", value)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    step()
    return step


def test_all_tasks_are_workers(step):
    step(PROCID="1")
    resolver = Resolver()
    assert resolver.get_task_info() == (None, None) and resolver.rpc_layer == "grpc"
    assert resolver.cluster_spec().as_dict() == {"worker": ["n1:8888", "n1:8889", "n2:8888"]}
    assert resolver.get_task_info() == (resolver.task_type, resolver.task_id) == ("worker", 1)
    assert resolver.master() == "grpc://n1:8889" and resolver.num_accelerators() == {"GPU": 0}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""


@pytest.mark.parametrize(("rank", "task"), [(0, ("chief", 0)), (1, ("worker", 0)), (2, ("worker", 1))])
def test_jobs_are_sorted(step, rank, task):
    step(PROCID=str(rank))
    resolver = Resolver({"worker": 2, "chief": 1}, port_base=1000, rpc_layer="x")
    spec = resolver.cluster_spec().as_dict()
    assert spec == {"chief": ["n1:1000"], "worker": ["n1:1001", "n2:1000"]} and resolver.get_task_info() == task
    assert resolver.master().startswith("x://")


def test_tasks_of_hosts(step):
    step(STEP_NODELIST="m2,m1")
    assert Resolver({"worker": 4}, tasks_per_node=2).cluster_spec().as_dict() == {
        "worker": ["m1:8888", "m1:8889", "m2:8888", "m2:8889"]
    }
    hosts = {"z": 1, "a": 2}
    resolver = Resolver(tasks_per_node=hosts)
    assert resolver.cluster_spec().as_dict() == {"worker": ["a:8888", "a:8889", "z:8888"]} and hosts == {"z": 1, "a": 2}


@pytest.mark.parametrize(
    ("rank", "options", "visible", "count"),
    [
        (0, {"gpus_per_node": 4}, "0,1", 2),
        (1, {"gpus_per_node": 4}, "2,3", 2),
        (2, {"gpus_per_node": 4}, "0,1", 2),
        (1, {"gpus_per_node": 4, "gpus_per_task": 1}, "1", 1),
        (1, {"gpus_per_node": 4, "auto_set_gpu": False}, "", 2),
        (1, {"gpus_per_node": 1}, "", 0),
    ],
)
def test_gpus_of_a_task(step, rank, options, visible, count):
    step(PROCID=str(rank))
    resolver = Resolver(**options)
    resolver.cluster_spec()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == visible and resolver.num_accelerators() == {"GPU": count}


def test_visible_gpus_are_divided(step, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    assert Resolver().num_accelerators() == {"GPU": 2}
    with pytest.raises(RuntimeError, match="Requested more GPUs per node than available"):
        Resolver(gpus_per_task=3)
    with pytest.raises(RuntimeError, match="Requested 2 tasks but only 3 were assigned"):
        Resolver({"worker": 2})


def test_missing_variables(step, monkeypatch):
    monkeypatch.delenv("SLURM_STEP_TASKS_PER_NODE")
    with pytest.raises(RuntimeError, match="SLURM_STEP_TASKS_PER_NODE not found"):
        Resolver()


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[09-11]", ["n09", "n10", "n11"]),
        ("n[1,5],m", ["n1", "n5", "m"]),
        ("a,b,c", ["a", "b", "c"]),
        ("[1-2]", ["1", "2"]),
        ("n-x[7]", ["n-x7"]),
    ],
)
def test_lists_of_hosts(text, hosts):
    assert expand_hosts(text) == hosts


def test_lists_of_numbers():
    assert expand_tasks("4") == [4] and expand_tasks("2(x3),10") == [2, 2, 2, 10]
    for text in ("", "2(x)", "a", "2,"):
        with pytest.raises(ValueError, match="Invalid tasks-per-node"):
            expand_tasks(text)
    for text in ("n[1-]", "n[]", "n]", "n[1][2]"):
        with pytest.raises(ValueError, match="Invalid hostlist"):
            expand_hosts(text)
