"""Clusters of pods."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

import tapeflow as tf

Resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver
Location = tf.distribute.cluster_resolver.KubernetesExecutableLocation


def pod(name, address, phase="Running"):
    return SimpleNamespace(metadata=SimpleNamespace(name=name), status=SimpleNamespace(phase=phase, host_ip=address))


class Client:
    def __init__(self):
        self.selectors = []

    def list_pod_for_all_namespaces(self, label_selector):
        self.selectors.append(label_selector)
        return SimpleNamespace(items=[pod("b", f"{label_selector}.2"), pod("a", f"{label_selector}.1")])


def test_defaults():
    client = Client()
    resolver = Resolver(override_client=client)
    assert resolver.cluster_spec().as_dict() == {"worker": ["job-name=tensorflow.1:8470", "job-name=tensorflow.2:8470"]}
    assert client.selectors == ["job-name=tensorflow"] and resolver.rpc_layer == "grpc"
    assert (resolver.task_type, resolver.task_id) == (None, None)
    assert resolver.master("worker", 1) == "grpc://job-name=tensorflow.2:8470"


def test_jobs():
    resolver = Resolver({"ps": ["x"], "worker": ["z", "y"]}, 1234, "http", Client())
    assert resolver.cluster_spec().as_dict() == {
        "ps": ["x.1:1234", "x.2:1234"], "worker": ["z.1:1234", "z.2:1234", "y.1:1234", "y.2:1234"],
    }  # fmt: skip
    assert resolver.master("ps", 0) == "http://x.1:1234" and resolver.master() == ""


@pytest.mark.parametrize("location", list(Location))
def test_the_client_of_the_package(monkeypatch, location):
    loaded, package = [], ModuleType("kubernetes")
    package.client = SimpleNamespace(CoreV1Api=Client)
    package.config = SimpleNamespace(
        load_incluster_config=lambda: loaded.append(Location.WITHIN_CLUSTER),
        load_kube_config=lambda: loaded.append(Location.OFF_CLUSTER),
    )
    monkeypatch.setitem(sys.modules, "kubernetes", package)
    assert Resolver(executable_location=location).cluster_spec().num_tasks("worker") == 2
    assert loaded == [location]


def test_the_program_is_in_a_pod_by_default(monkeypatch):
    loaded, package = [], ModuleType("kubernetes")
    package.client = SimpleNamespace(CoreV1Api=Client)
    package.config = SimpleNamespace(load_incluster_config=lambda: loaded.append(True))
    monkeypatch.setitem(sys.modules, "kubernetes", package)
    Resolver()
    assert loaded == [True]
