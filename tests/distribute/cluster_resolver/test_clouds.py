"""Clusters of Google's cloud."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

import tapeflow as tf

Resolver = tf.distribute.cluster_resolver.GCEClusterResolver


def answer(value):
    return SimpleNamespace(execute=lambda: value)


class Service:
    """Two pages of instances, whose addresses are in another order than their names."""

    def __init__(self):
        self.asked = []
        self.pages = [["a", "b"], ["c"]]
        self.addresses = {"a": "10.0.0.3", "b": "10.0.0.1", "c": "10.0.0.2"}

    def instanceGroups(self):
        return self

    instances = instanceGroups

    def listInstances(self, **request):
        self.asked.append(request)
        return self.page(0)

    def page(self, number):
        items = [{"instance": f"https://host/zones/z/instances/{name}"} for name in self.pages[number]]
        return answer({"items": items, "page": number})

    def listInstances_next(self, previous_request, previous_response):
        following = previous_response["page"] + 1
        return self.page(following) if following < len(self.pages) else None

    def get(self, project, zone, instance):
        assert (project, zone) == ("p", "z")
        return answer({"networkInterfaces": [{"networkIP": self.addresses[instance]}, {"networkIP": "none"}]})


def test_instances_of_a_group():
    service = Service()
    resolver = Resolver("p", "z", "g", 8470, service=service)
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]}
    group = {"project": "p", "zone": "z", "instanceGroup": "g"}
    assert service.asked == [{**group, "body": {"instanceState": "RUNNING"}, "orderBy": "name"}]
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 0, "grpc")
    assert resolver.master() == "grpc://10.0.0.1:8470" and resolver.master(task_id=2) == "grpc://10.0.0.3:8470"
    assert resolver.master("worker", 1, "x") == "x://10.0.0.2:8470"
    other = Resolver("p", "z", "g", 1, "chief", 2, "y", service=service)
    assert other.cluster_spec().jobs == ["chief"] and other.master() == "y://10.0.0.3:1"
    other.task_type = None
    assert other.cluster_spec().jobs == ["worker"] and other.master() == ""


@pytest.mark.parametrize(("given", "passed"), [({}, {}), ({"credentials": "c"}, {"credentials": "c"})])
def test_the_service_of_the_package(monkeypatch, given, passed):
    built, package = [], ModuleType("googleapiclient")

    def build(*args, **kwargs):
        built.append((args, kwargs))
        return Service()

    package.discovery = SimpleNamespace(build=build)
    monkeypatch.setitem(sys.modules, "googleapiclient", package)
    assert Resolver("p", "z", "g", 1, **given).cluster_spec().num_tasks("worker") == 3
    assert built == [(("compute", "v1"), passed)]


def test_there_is_no_tpu():
    with pytest.raises(ValueError, match="finds no TPU"):
        tf.distribute.cluster_resolver.TPUClusterResolver.connect("tpu", "zone", "project")
