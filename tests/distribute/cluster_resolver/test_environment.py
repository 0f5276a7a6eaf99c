"""Resolvers of environment variables."""

import json

import pytest

import tapeflow as tf
from tapeflow.distribute.cluster_resolver.environment import resolver_of_environment

resolvers = tf.distribute.cluster_resolver
TORCHRUN = {"RANK": "2", "WORLD_SIZE": "3", "MASTER_ADDR": "host", "MASTER_PORT": "29500"}
TWO = {"worker": ["b:1", "c:2"]}


@pytest.fixture(name="configure")
def set_environment(monkeypatch):
    def configure(variables=(), **config):
        for name in ("TF_CONFIG", *TORCHRUN):
            monkeypatch.delenv(name, raising=False)
        for name, value in dict(variables).items():
            monkeypatch.setenv(name, value)
        if config:
            monkeypatch.setenv("TF_CONFIG", json.dumps(config))

    return configure


def test_tf_config(configure):
    configure(cluster=TWO, task={"type": "worker", "index": "0"}, rpc_layer="grpc")
    resolver = resolvers.TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 0, "grpc")
    assert resolver.environment is None and resolver.master() == "grpc://b:1"
    assert resolver.master(task_id=1) == "grpc://c:2" and resolver.master("worker", 1, "") == "c:2"
    own = resolvers.TFConfigClusterResolver("worker", 1, "x", "google")
    assert (own.task_type, own.task_id, own.rpc_layer, own.environment) == ("worker", 1, "x", "google")
    assert own.master() == "x://c:2" and own.master(task_id=0) == "x://b:1"
    own.task_id, own.rpc_layer = 0, "y"
    assert own.master() == "y://b:1"


def test_a_cluster_of_one_has_no_master(configure):
    configure(cluster={"worker": ["b:1"]}, task={"type": "worker", "index": 0})
    assert resolvers.TFConfigClusterResolver().master() == ""
    configure(cluster={"worker": ["b:1"], "ps": ["c:1"]}, task={"type": "worker", "index": 0})
    assert resolvers.TFConfigClusterResolver().master() == "b:1"
    configure(cluster=TWO, session_master="")
    assert resolvers.TFConfigClusterResolver().master() == ""
    configure(task={"index": 1})
    resolver = resolvers.TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer, resolver.master()) == (None, 1, None, "")


def test_torchrun(configure):
    configure(TORCHRUN)
    resolver = resolvers.TorchrunClusterResolver()
    assert (resolver.task_type, resolver.task_id) == ("worker", 2)
    assert resolver.cluster_spec().as_dict() == {"worker": ["host:29500", "rank1", "rank2"]}
    assert resolver.master() == "rank2"
    configure({k: v for k, v in TORCHRUN.items() if k != "RANK"})
    with pytest.raises(ValueError, match="The environment lacks RANK: start"):
        resolvers.TorchrunClusterResolver()


def test_the_resolver_of_the_environment(configure):
    configure(TORCHRUN)
    assert type(resolver_of_environment()) is resolvers.TorchrunClusterResolver
    configure(TORCHRUN, cluster=TWO)
    assert type(resolver_of_environment()) is resolvers.TFConfigClusterResolver
    configure({**TORCHRUN, "TF_CONFIG": ""})
    assert type(resolver_of_environment()) is resolvers.TorchrunClusterResolver
    configure({k: v for k, v in TORCHRUN.items() if k != "MASTER_PORT"})
    assert type(resolver_of_environment()) is resolvers.TFConfigClusterResolver
