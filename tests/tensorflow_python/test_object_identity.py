"""Mappings and sets by identity; the results are those of TensorFlow 2.21."""

import gc

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.object_identity import (
    ObjectIdentityDictionary,
    ObjectIdentitySet,
    ObjectIdentityWeakKeyDictionary,
    ObjectIdentityWeakSet,
)


class Thing:
    """An object that equals all of its kind."""

    def __eq__(self, other):
        return isinstance(other, Thing)

    __hash__ = None


@pytest.mark.parametrize("kind", [ObjectIdentityDictionary, ObjectIdentityWeakKeyDictionary])
def test_dicts(kind):
    a, b, c = Thing(), Thing(), Thing()
    found = kind([(a, 1), (b, 2)])
    assert len(found) == 2 and (found[a], found.get(b), found.get(c), found.get(c, 7)) == (1, 2, None, 7)
    assert a in found and c not in found
    assert [key is expected for key, expected in zip(found, (a, b), strict=True)] == [True, True]
    found[a] = 3
    assert len(found) == 2 and found[a] == 3
    del found[a]
    assert len(found) == 1 and a not in found
    with pytest.raises(KeyError):
        found[a]
    with pytest.raises(KeyError):
        del found[a]
    assert found.pop(b) == 2 and len(found) == 0
    assert len(kind()) == 0 and kind(found) == found


@pytest.mark.parametrize("kind", [ObjectIdentitySet, ObjectIdentityWeakSet])
def test_sets(kind):
    a, b, c = Thing(), Thing(), Thing()
    found = kind([a])
    assert a in found and b not in found and 3 not in found
    found.add(a)
    assert len(found) == 1
    found.update([b, c, a])
    assert len(found) == 3 and {id(x) for x in found} == {id(a), id(b), id(c)}
    found.discard(Thing())
    found.discard(b)
    found.discard(b)
    assert len(found) == 2 and b not in found
    both, rest = found.intersection([a, b]), found.difference([a, b])
    assert type(both) is type(rest) is kind
    assert len(both) == len(rest) == 1 and a in both and c in rest
    assert len(found) == 2 and len(kind()) == 0


def test_weak_keys_are_forgotten():
    kept, lost = Thing(), Thing()
    weak, weak_set = ObjectIdentityWeakKeyDictionary([(kept, 1), (lost, 2)]), ObjectIdentityWeakSet([kept, lost])
    strong = ObjectIdentityDictionary([(kept, 1)])
    del lost
    gc.collect()
    assert len(weak) == len(weak_set) == 1 and weak[kept] == 1 and kept in weak_set
    del kept
    gc.collect()
    assert len(weak) == len(weak_set) == len(strong) == 1  # a strong one keeps it
    strong.clear()
    gc.collect()
    assert len(weak) == len(weak_set) == 0 and list(weak) == []


def test_variables_are_keys():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    found = ObjectIdentityWeakKeyDictionary([(v, "v"), (w, "w")])
    assert found[v] == "v" and found[w] == "w"
