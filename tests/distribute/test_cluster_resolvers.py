"""Cluster resolvers. What is expected is what TensorFlow 2.21 gave."""

import json
import os
from types import SimpleNamespace

import pytest

import tapeflow as tf
from tapeflow.distribute.cluster_resolver.slurm import expand_hosts, expand_tasks

resolvers = tf.distribute.cluster_resolver
CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:2"], "ps": {0: "d:1", 3: "e:1"}}


@pytest.fixture
def tf_config(monkeypatch):
    def set_config(**entries):
        monkeypatch.setenv("TF_CONFIG", json.dumps(entries))

    return set_config


def test_tf_config(tf_config):
    tf_config(cluster={"worker": ["b:1", "c:2"]}, task={"type": "worker", "index": "1"}, rpc_layer="grpc")
    resolver = resolvers.TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == {"worker": ["b:1", "c:2"]}
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 1, "grpc")
    assert resolver.master() == "grpc://c:2"
    assert resolver.master("worker", 0, "other") == "other://b:1"
    resolver.task_id = 0
    assert resolver.master() == "grpc://b:1"
    tf_config(session_master="target")
    assert resolver.master() == "target"
    tf_config()
    empty = resolvers.TFConfigClusterResolver()
    assert (empty.task_type, empty.task_id, empty.master()) == (None, None, "")
    assert not empty.cluster_spec()
    assert empty.num_accelerators() == {}


def test_torchrun(monkeypatch):
    with pytest.raises(ValueError, match="RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT: start the program with"):
        resolvers.TorchrunClusterResolver()
    for name, value in {"RANK": "1", "WORLD_SIZE": "3", "MASTER_ADDR": "host", "MASTER_PORT": "29500"}.items():
        monkeypatch.setenv(name, value)
    resolver = resolvers.TorchrunClusterResolver()
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)
    assert resolver.cluster_spec().num_tasks("worker") == 3
    assert resolver.master("worker", 0) == "host:29500"


def test_simple_and_union():
    simple = resolvers.SimpleClusterResolver(tf.train.ClusterSpec(CLUSTER), "m", "worker", 1, rpc_layer="grpc")
    assert simple.master() == "grpc://m"
    assert simple.master("ps", 3) == "grpc://e:1"
    assert simple.num_accelerators() == {}
    assert simple.environment == ""
    other = resolvers.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["f:1"], "ps": {1: "g:1"}}), num_accelerators={"GPU": 2}
    )
    union = resolvers.UnionResolver(other, simple)
    assert union.cluster_spec().as_dict() == {
        "worker": ["f:1", "b:1", "c:2"], "ps": {0: "d:1", 1: "g:1", 3: "e:1"}, "chief": ["a:1"],
    }  # fmt: skip
    assert union.num_accelerators() == {"GPU": 2}
    assert resolvers.UnionResolver(simple, other).task_id == 1
    with pytest.raises(KeyError, match="Duplicate keys detected"):
        resolvers.UnionResolver(simple, simple).cluster_spec()
    with pytest.raises(TypeError, match="cluster_spec must be a"):
        resolvers.SimpleClusterResolver({})
    with pytest.raises(ValueError, match="At least one"):
        resolvers.UnionResolver()
    with pytest.raises(ValueError, match="Unexpected kwargs"):
        resolvers.UnionResolver(simple, other=1)
    with pytest.raises(TypeError, match="sub-class"):
        resolvers.UnionResolver(1)


def test_slurm(monkeypatch):
    for name, value in {
        "PROCID": "3", "STEP_NUM_TASKS": "5", "STEP_NODELIST": "t02n[13,41],t0", "STEP_TASKS_PER_NODE": "2(x2),1",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    resolver = resolvers.SlurmClusterResolver(
        {"ps": 1, "worker": 4}, port_base=1337, gpus_per_node=4, gpus_per_task=2, auto_set_gpu=True
    )
    assert resolver.get_task_info() == (None, None)
    assert resolver.cluster_spec().as_dict() == {
        "ps": ["t0:1337"], "worker": ["t02n13:1337", "t02n13:1338", "t02n41:1337", "t02n41:1338"],
    }  # fmt: skip
    assert resolver.get_task_info() == ("worker", 2)
    assert resolver.master() == "grpc://t02n41:1337"
    assert resolver.num_accelerators() == {"GPU": 2}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
    with pytest.raises(RuntimeError, match="Requested 7 tasks but only 5 were assigned"):
        resolvers.SlurmClusterResolver({"worker": 7}, gpus_per_node=0)
    with pytest.raises(RuntimeError, match="more GPUs per node"):
        resolvers.SlurmClusterResolver(gpus_per_node=2, gpus_per_task=2)
    monkeypatch.delenv("SLURM_PROCID")
    with pytest.raises(RuntimeError, match="SLURM_PROCID not found in environment"):
        resolvers.SlurmClusterResolver()


def test_lists_of_slurm():
    assert expand_hosts("n[1-2],m5,o[3-4,6,08-10]") == ["n1", "n2", "m5", "o3", "o4", "o6", "o08", "o09", "o10"]
    assert expand_hosts("n1") == ["n1"]
    assert expand_tasks("3(x2),2,1") == [3, 3, 2, 1]
    for text in ("n[1-2", "n[a]", "n[1]x"):
        with pytest.raises(ValueError, match="Invalid hostlist format"):
            expand_hosts(text)
    with pytest.raises(ValueError, match="Invalid tasks-per-node list format"):
        expand_tasks("3(2)")


def test_kubernetes():
    def pod(name, phase="Running"):
        return SimpleNamespace(
            metadata=SimpleNamespace(name=name), status=SimpleNamespace(phase=phase, host_ip=f"10.0.0.{name}")
        )

    pods = {"job=a": [pod("2"), pod("1")], "job=b": [pod("3")], "job=c": [pod("4", "Pending")]}
    client = SimpleNamespace(
        list_pod_for_all_namespaces=lambda label_selector: SimpleNamespace(items=pods[label_selector])
    )
    resolver = resolvers.KubernetesClusterResolver({"worker": ["job=a", "job=b"]}, override_client=client)
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]}
    assert resolver.master() == ""
    resolver.task_type, resolver.task_id = "worker", 1
    assert resolver.master() == "grpc://10.0.0.2:8470"
    with pytest.raises(RuntimeError, match='Pod "4" is not running; phase: "Pending"'):
        resolvers.KubernetesClusterResolver({"worker": ["job=c"]}, override_client=client).cluster_spec()
    with pytest.raises(ImportError, match="pip install kubernetes"):
        resolvers.KubernetesClusterResolver()
    with pytest.raises(ValueError, match="location provided is invalid"):
        resolvers.KubernetesClusterResolver(executable_location=1)


def test_clouds():
    with pytest.raises(ImportError, match="googleapiclient must be installed"):
        resolvers.GCEClusterResolver("project", "zone", "group", 8470)

    def answer(value):
        return SimpleNamespace(execute=lambda: value)

    group = SimpleNamespace(
        listInstances=lambda **_: answer({"items": [{"instance": "zones/z/instances/one"}]}),
        listInstances_next=lambda **_: None,
    )
    machines = SimpleNamespace(get=lambda **_: answer({"networkInterfaces": [{"networkIP": "10.1.2.3"}]}))
    service = SimpleNamespace(instanceGroups=lambda: group, instances=lambda: machines)
    resolver = resolvers.GCEClusterResolver("project", "zone", "group", 8470, service=service)
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.1.2.3:8470"]}
    assert resolver.master() == "grpc://10.1.2.3:8470"
    for kind in (ValueError, tf.errors.NotFoundError):
        with pytest.raises(kind, match="finds no TPU"):
            resolvers.TPUClusterResolver()
        with pytest.raises(kind, match="finds no TPU"):
            resolvers.TPUClusterResolver.connect()


def test_clusters_that_a_strategy_refuses(tf_config):
    for task, message in [
        ({}, "must also specify `task_type` and `task_id`"),
        ({"type": "worker", "index": 2}, "The task worker:2 is not in the cluster"),
        ({"type": "ps", "index": 0}, "not a task 'ps'"),
    ]:
        tf_config(cluster={"worker": ["a:1", "b:1"], "ps": ["c:1"]}, task=task)
        with pytest.raises(ValueError, match=message):
            tf.distribute.MultiWorkerMirroredStrategy()
    tf_config(cluster={"worker": ["a:1", "b:1"], "evaluator": ["c:1"]}, task={"type": "evaluator", "index": 0})
    assert tf.distribute.MultiWorkerMirroredStrategy().num_replicas_in_sync == 1
