"""Specs of classes of one's own, and what two specs have in common. TensorFlow passes these tests, too."""

import collections

import pytest

import tapeflow as tf

Point = collections.namedtuple("Point", "x y")


class BoxSpec(tf.TypeSpec):
    """The spec of a list of two tensors, with any serialization."""

    value_type = list

    def __init__(self, *state):
        self.state, self.specs = state, [tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)]

    def _serialize(self):
        return self.state

    @property
    def _component_specs(self):
        return self.specs

    def _to_components(self, value):
        return list(value)

    def _from_components(self, components):
        return ["box", *components]


class OtherSpec(BoxSpec):
    """The same, of another class."""


T, S = tf.TensorSpec, tf.TensorShape

# Two states, whether the first is compatible with the second, whether it is a subtype, and their common supertype.
PAIRS = [
    ((1, "a"), (1, "a"), True, True, (1, "a")),
    ((1, "a"), (1, "b"), False, False, None),
    ((1,), (1, 2), False, False, None),
    (([1, 2],), ([1, 2],), True, True, ([1, 2],)),
    (([1, 2],), ([1, 3],), False, False, None),
    (([1, 2],), ([1],), False, False, None),
    (([1, 2],), ((1, 2),), False, False, None),
    (({"a": 1, "b": 2},), ({"b": 2, "a": 1},), True, True, ({"a": 1, "b": 2},)),
    (({"a": 1},), ({"b": 1},), False, False, None),
    (({"a": 1},), ({"a": 2},), False, False, None),
    (({"a": S([2])},), ({"a": S([3])},), False, False, ({"a": S([None])},)),
    ((S([2, 3]),), (S([2, None]),), True, True, (S([2, None]),)),
    ((S([2, None]),), (S([2, 3]),), True, False, (S([2, None]),)),
    ((S([2, 3]),), (S([4, 3]),), False, False, (S([None, 3]),)),
    ((S([2]),), (S([2, 3]),), False, False, (S(None),)),
    ((tf.int32, [S([1])]), (tf.int32, [S([2])]), False, False, (tf.int32, [S([None])])),
    ((tf.int32,), (tf.int64,), False, False, None),
    ((T([2], tf.int32),), (T([3], tf.int32),), False, False, (T([None], tf.int32),)),
    ((T([2], tf.int32),), (T([None], tf.int32),), True, True, (T([None], tf.int32),)),
    ((T([2], tf.int32),), (T([2], tf.int64),), False, False, None),
    (([S([1]), T([1])],), ([S([2]), T([2])],), False, False, ([S([None]), T([None])],)),
]


@pytest.mark.parametrize(("first", "second", "compatible", "subtype", "common"), PAIRS)
def test_states_of_specs(first, second, compatible, subtype, common):
    a, b = BoxSpec(*first), BoxSpec(*second)
    assert a.is_compatible_with(b) is compatible
    assert a.is_subtype_of(b) is subtype
    found = a.most_specific_common_supertype([b])
    assert (found is None) if common is None else found == BoxSpec(*common)
    if common is None:
        with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
            a.most_specific_compatible_type(b)
    else:
        assert a.most_specific_compatible_type(b) == BoxSpec(*common)
    assert not a.is_compatible_with(OtherSpec(*first)) and not a.is_subtype_of(OtherSpec(*first))
    assert a.most_specific_common_supertype([OtherSpec(*first)]) is None


def test_several_specs():
    specs = [BoxSpec(S(dims), "x") for dims in ([2, 3], [2, 4], [5, 4])]
    assert specs[0].most_specific_common_supertype(specs[1:2]) == BoxSpec(S([2, None]), "x")
    assert specs[0].most_specific_common_supertype(specs[1:]) == BoxSpec(S([None, None]), "x")
    assert specs[0].most_specific_common_supertype([]) == specs[0]
    assert specs[0].most_specific_common_supertype([specs[1], OtherSpec(S([2, 3]), "x")]) is None
    assert specs[0].most_specific_common_supertype([specs[1], BoxSpec(S([2, 3]), "y")]) is None


def test_named_tuples_in_specs_keep_their_type():
    common = BoxSpec(Point(S([1]), 2)).most_specific_common_supertype([BoxSpec(Point(S([3]), 2))])
    assert common == BoxSpec(Point(S([None]), 2)) and type(common.state[0]) is Point


def test_equal_specs():
    a, b = BoxSpec(1, [2, {"k": "v"}]), BoxSpec(1, [2, {"k": "v"}])
    assert (a == b, a != b) == (True, False) and hash(a) == hash(b)
    for other in (BoxSpec(1, [2, {"k": "w"}]), OtherSpec(1, [2, {"k": "v"}]), 7):
        assert (a == other, a != other) == (False, True)
    assert len({a, b, OtherSpec(1, [2, {"k": "v"}])}) == 2
    assert repr(BoxSpec(1, "a")) == "BoxSpec(1, 'a')"


def test_functions_take_the_values_of_a_spec_apart():
    spec = BoxSpec(1)
    x, n = tf.constant([1.0, 2.0]), tf.constant(3)
    assert [t.shape.as_list() for t in tf.nest.flatten(spec, expand_composites=True)] == [[2], []]
    assert tf.nest.pack_sequence_as(spec, [x, n], expand_composites=True)[0] == "box"
    assert spec.is_compatible_with(BoxSpec(1)) and not spec.is_compatible_with(x)
