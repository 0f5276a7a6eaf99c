"""Values of replicas: how they are combined and taken apart, and how they become tensors."""

import collections

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.distribute.values import MirroredValues, PerReplica, local_results, regroup, select_replica

Pair = collections.namedtuple("Pair", "a b")

pytestmark = pytest.mark.usefixtures("two_cpus")


def test_a_single_replica_needs_no_wrapper():
    value = {"a": [1, object()]}
    assert regroup([value]) is value


def test_structures_are_combined():
    shared = object()
    one = {"a": [1, shared], "b": Pair(2, (3,)), "c": None}
    other = {"a": [10, shared], "b": Pair(20, (30,)), "c": None}
    whole = regroup([one, other])
    assert list(whole) == ["a", "b", "c"] and whole["c"] is None
    assert whole["a"][0].values == (1, 10) and whole["a"][1] is shared and type(whole["a"]) is list
    assert type(whole["b"]) is Pair and whole["b"].a.values == (2, 20) and whole["b"].b[0].values == (3, 30)
    ordered = regroup([collections.OrderedDict(z=1, a=2), collections.OrderedDict(z=3, a=4)])
    assert type(ordered) is collections.OrderedDict and [(k, v.values) for k, v in ordered.items()] == [
        ("z", (1, 3)),
        ("a", (2, 4)),
    ]


def test_other_structures_are_values():
    for one, other in (([1], [1, 2]), ((1,), [1]), ({"a": 1}, {"b": 1}), ([1], 1)):
        whole = regroup([one, other])
        assert type(whole) is PerReplica and whole.values == (one, other)
    assert type(regroup([1, 1000], MirroredValues)) is MirroredValues


def test_copies_are_their_variable(strategy):
    with strategy.scope():
        v, w = tf.Variable(1.0), tf.Variable(2.0)
    assert regroup(list(v.values)) is v
    assert regroup(list(reversed(v.values))) is not v
    assert regroup([v.values[0], w.values[1]]).values == (v.values[0], w.values[1])


def test_parts_for_a_replica(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    x = PerReplica([1, 2])
    assert select_replica(1, {"a": [x, 5]}) == {"a": [2, 5]} and select_replica(0, (x,)) == (1,)
    assert select_replica(1, [v])[0] is v and select_replica(1, [v], variables=True)[0] is v.values[1]


def test_results_for_all_replicas(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    x = PerReplica([1, 2])
    assert local_results(x, 2) == (1, 2) and local_results(v, 2) == v.values
    assert local_results([x, 3], 2) == ([1, 3], [2, 3]) and local_results([1, 3], 2) == ([1, 3],)
    assert local_results({"v": v}, 2)[1]["v"] is v.values[1]


def test_conversion_to_tensors(strategy):
    def number():
        return 1.0 + tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)

    x = strategy.run(number)
    with pytest.raises(ValueError, match="you are using a PerReplica object while not inside a replica context"):
        tf.convert_to_tensor(x)
    inside = strategy.run(lambda: tf.convert_to_tensor(x) * 10.0)
    assert [float(v) for v in inside.values] == [10.0, 20.0]
    mirrored = MirroredValues([3.0, 4.0])
    assert tf.convert_to_tensor(mirrored).numpy() == 3.0 and tf.cast(mirrored, tf.int32).numpy() == 3
    assert tf.convert_to_tensor(mirrored, tf.float64).dtype == tf.float64
    inside = strategy.run(lambda: tf.convert_to_tensor(mirrored) + 0.0)
    assert [float(v) for v in inside.values] == [3.0, 4.0]


def test_texts_of_values():
    x = PerReplica([1, "a"])
    assert str(x) == "PerReplica:{\n  0: 1,\n  1: a\n}" and repr(x) == "PerReplica:{\n  0: 1,\n  1: 'a'\n}"
    assert str(MirroredValues([1, 2])) == "Mirrored:{\n  0: 1,\n  1: 2\n}"


def test_specs_of_values(strategy):
    x = PerReplica([tf.ones([2]), tf.ones([3], tf.int32)])
    spec = tf.type_spec_from_value(x)
    assert tf.nest.flatten(spec, expand_composites=True) == [tf.TensorSpec([2]), tf.TensorSpec([3], tf.int32)]
    assert spec == tf.type_spec_from_value(x) != tf.type_spec_from_value(PerReplica(x.values[::-1]))
    parts = tf.nest.flatten(x, expand_composites=True)
    again = tf.nest.pack_sequence_as(x, [p + 1 for p in parts], expand_composites=True)
    assert [np.asarray(v).tolist() for v in again.values] == [[2.0, 2.0], [2, 2, 2]]
    returned = tf.function(lambda v: v)(x)
    assert [v.shape.as_list() for v in returned.values] == [[2], [3]]
