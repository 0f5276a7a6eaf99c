"""Resolvers that are told everything: addresses, settings, and unions of them."""

import pytest

import tapeflow as tf

resolvers = tf.distribute.cluster_resolver
SPEC = tf.train.ClusterSpec({"worker": ["b:1", "c:2"], "ps": {3: "e:1"}})


def simple(spec=SPEC, **kwargs):
    return resolvers.SimpleClusterResolver(spec, **kwargs)


@pytest.mark.parametrize(
    ("settings", "arguments", "expected"),
    [
        ({}, (), ""),
        ({"master": "m"}, (), "m"),
        ({"master": "m", "rpc_layer": "grpc"}, (), "grpc://m"),
        ({"master": "m", "rpc_layer": "grpc"}, (None, None, "x"), "x://m"),
        ({"master": "m", "task_type": "worker", "task_id": 1}, (), "m"),
        ({"master": "m"}, ("worker", 0), "b:1"),
        ({"master": "m", "rpc_layer": "grpc"}, ("ps", 3), "grpc://e:1"),
        ({"master": "m", "rpc_layer": "grpc"}, ("worker", 1, "x"), "x://c:2"),
        ({"master": "m"}, ("worker", None), "m"),
        ({"master": "m"}, (None, 0), "m"),
    ],
)
def test_masters(settings, arguments, expected):
    assert simple(**settings).master(*arguments) == expected
    union = resolvers.UnionResolver(simple(**settings), rpc_layer=settings.get("rpc_layer"))
    assert union.master(*arguments) == expected


def test_settings():
    resolver = simple(
        task_type="worker", task_id=1, environment="google", num_accelerators={"TPU": 8}, rpc_layer="grpc"
    )
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 1, "grpc")
    assert (resolver.environment, resolver.num_accelerators()) == ("google", {"TPU": 8})
    assert resolver.cluster_spec() is SPEC
    resolver.task_type, resolver.task_id, resolver.rpc_layer = "ps", 3, "x"
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("ps", 3, "x")
    plain = simple()
    assert (plain.task_type, plain.task_id, plain.rpc_layer, plain.environment) == (None, None, None, "")
    assert plain.num_accelerators() == {}
    with pytest.raises(TypeError, match="master must be a string"):
        simple(master=3)


def test_unions_have_the_first_resolvers_settings():
    first = simple(task_type="worker", task_id=0, environment="e", num_accelerators={"GPU": 2}, rpc_layer="grpc")
    second = simple(task_type="ps", task_id=3, environment="f", rpc_layer="x")
    union = resolvers.UnionResolver(first, second)
    assert (union.task_type, union.task_id, union.rpc_layer) == ("worker", 0, "grpc")
    assert (union.environment, union.num_accelerators()) == ("e", {"GPU": 2})
    own = resolvers.UnionResolver(second, task_type="chief", task_id=1, rpc_layer="y")
    assert (own.task_type, own.task_id, own.rpc_layer) == ("chief", 1, "y") and own.num_accelerators() == {}
    assert own.master("worker", 1) == "y://c:2"
    own.task_id = 5
    assert own.task_id == 5


def test_unions_of_clusters():
    def union(*specs):
        return resolvers.UnionResolver(*(simple(tf.train.ClusterSpec(s)) for s in specs)).cluster_spec().as_dict()

    assert union({"worker": ["a:1"]}, {"worker": ["b:1"], "ps": ["c:1"]}) == {"worker": ["a:1", "b:1"], "ps": ["c:1"]}
    assert union({"worker": {0: "a:1", 4: "b:1"}}, {"worker": {2: "c:1"}}) == {"worker": {0: "a:1", 2: "c:1", 4: "b:1"}}
    assert union({"worker": ["a:1"]}, {"worker": {2: "c:1"}}) == {"worker": {0: "a:1", 2: "c:1"}}
    with pytest.raises(KeyError, match="Duplicate keys detected"):
        union({"worker": {2: "a:1"}}, {"worker": {2: "c:1"}})
    with pytest.raises(KeyError, match="Duplicate keys detected"):
        union({"worker": ["a:1", "b:1"]}, {"worker": {1: "c:1", 5: "d:1"}})
    assert union({}) == {}


def test_accelerators_of_a_process_without_a_gpu(two_cpus):
    assert resolvers.TFConfigClusterResolver().num_accelerators() == {}
