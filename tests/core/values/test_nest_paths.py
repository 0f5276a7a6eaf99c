"""The relatives of `tf.nest` with paths. Results and error texts were recorded from TensorFlow 2.21."""

import pytest

import tapeflow as tf
from ids import stable
from nest_examples import (
    BA,
    Attrs,
    DerivedBA,
    DifferentName,
    Masked,
    OtherBA,
    OwnList,
    PairSpec,
    ReadOnlyMap,
    collect,
    outcome,
)
from tapeflow import nest
from tapeflow.core.values import nest_paths

# With paths.


def test_joined_string_paths():
    structure = {"a": [1, {2: 3}], "b": Attrs(1, 2), "c": Masked(1, (2,))}
    assert nest_paths.flatten_with_joined_string_paths(structure) == [
        ("a/0", 1),
        ("a/1/2", 3),
        ("b/z", 1),
        ("b/_y", 2),
        ("c/0/0", 2),
    ]
    assert nest_paths.flatten_with_joined_string_paths([1, [2]], separator=".") == [("0", 1), ("1.0", 2)]


def collect_all(*values, **kwargs):
    return (*values, kwargs)


def test_map_with_paths():
    structure = {"a": [1, 2], "b": BA(3, 4)}
    assert nest_paths.map_structure_with_paths(collect_all, structure, structure, k=1) == {
        "a": [("a/0", 1, 1, {"k": 1}), ("a/1", 2, 2, {"k": 1})],
        "b": BA(("b/b", 3, 3, {"k": 1}), ("b/a", 4, 4, {"k": 1})),
    }
    assert nest_paths.map_structure_with_tuple_paths(collect_all, structure) == {
        "a": [(("a", 0), 1, {}), (("a", 1), 2, {})],
        "b": BA((("b", "b"), 3, {}), (("b", "a"), 4, {})),
    }
    assert nest_paths.map_structure_with_paths(collect_all, 5) == ("", 5, {})
    assert nest_paths.map_structure_with_tuple_paths(collect_all, [1], (2,), check_types=False) == [((0,), 1, 2, {})]


# Up to the depth of another structure.

SHALLOW = [
    (1, [2], [[2]]),
    ([1], [2], [2]),
    ([0, [0, 0]], [(1, 2), [(3,), 4]], [(1, 2), (3,), 4]),
    ({"b": 0, "a": 0}, {"a": [1], "b": [2]}, [[1], [2]]),
    ({"a": 0}, ReadOnlyMap({"a": 1}), [1]),
    (OwnList([0]), [1], [1]),
    ([0], OwnList([1]), [1]),
    (BA(0, 0), OtherBA(1, 2), [1, 2]),
    (Attrs(0, 0), Attrs([1], 2), [[1], 2]),
    (Masked(0, 0), Masked(1, [2]), [[2]]),
]


@pytest.mark.parametrize("shallow, tree, expected", SHALLOW, ids=stable)
def test_up_to(shallow, tree, expected):
    nest_paths.assert_shallow_structure(shallow, tree)
    assert nest_paths.flatten_up_to(shallow, tree) == expected
    mapped = nest_paths.map_structure_up_to(shallow, collect_all, tree, tree, k=1)
    assert type(mapped) is type(shallow) or not nest.is_nested(shallow)
    assert nest_paths.flatten_up_to(shallow, mapped) == [(value, value, {"k": 1}) for value in expected]
    with_paths = nest_paths.flatten_with_tuple_paths_up_to(shallow, tree)
    assert with_paths == list(zip(nest_paths.yield_flat_paths(shallow), expected, strict=True))
    assert nest_paths.map_structure_with_tuple_paths_up_to(shallow, collect, tree) == nest.pack_sequence_as(
        shallow, with_paths
    )


def test_up_to_without_types():
    assert nest_paths.flatten_up_to([0, 0], (1, [2]), check_types=False) == [1, [2]]


MUST_BE_A_SEQUENCE = "If shallow structure is a sequence, input must also be a sequence. Input has type: <class '{}'>."
DIFFERENT_TYPE = (
    "The two structures don't have the same sequence type. Input structure has type <class '{}'>, while shallow "
    "structure has type <class '{}'>."
)
DIFFERENT_LENGTH = (
    "The two structures don't have the same sequence length. Input structure has length {}, while shallow structure "
    "has length {}."
)
ABSENT_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following keys that "
    "are not in the input_tree: {}."
)


@pytest.mark.parametrize(
    "shallow, tree, error, message",
    [
        ([1], 2, TypeError, MUST_BE_A_SEQUENCE.format("int")),
        ([1, [2]], [1, "ab"], TypeError, MUST_BE_A_SEQUENCE.format("str")),
        ([1], (1,), TypeError, DIFFERENT_TYPE.format("tuple", "list")),
        ({"a": 1}, [1], TypeError, DIFFERENT_TYPE.format("list", "dict")),
        (BA(1, 2), (1, 2), TypeError, DIFFERENT_TYPE.format("tuple", "nest_examples.BA")),
        (
            BA(1, 2),
            DifferentName(1, 2),
            TypeError,
            DIFFERENT_TYPE.format("nest_examples.DifferentName", "nest_examples.BA"),
        ),
        ([1, 2], [1], ValueError, DIFFERENT_LENGTH.format(1, 2)),
        ([1], [1, 2], ValueError, DIFFERENT_LENGTH.format(2, 1)),
        ({"a": 1}, {"a": 1, "b": 2}, ValueError, DIFFERENT_LENGTH.format(2, 1)),
        ({"b": 1, "a": 2}, {"a": 1, "c": 3}, ValueError, ABSENT_KEYS.format(["b"])),
    ],
    ids=stable,
)
def test_not_a_shallow_structure(shallow, tree, error, message):
    assert outcome(nest_paths.assert_shallow_structure, shallow, tree) == (error, message)
    assert outcome(nest_paths.flatten_up_to, shallow, tree) == (error, message)
    assert outcome(nest_paths.map_structure_up_to, shallow, collect, tree) == (error, message)


def test_up_to_follows_keys():
    with pytest.raises(KeyError, match=r"'b': the input, a tuple, has only \[0, 1\] at path \(\)"):
        nest_paths.flatten_up_to(BA(1, 2), (1, 2), check_types=False)


def test_map_up_to_needs_an_input():
    assert outcome(nest_paths.map_structure_up_to, [1], collect) == (ValueError, "Cannot map over no sequences")


@pytest.mark.parametrize(
    "traverse, structure, expected",
    [
        (lambda s: True, [1, [2]], [True, [True]]),
        (lambda s: False, [1], False),
        (lambda s: True, 5, True),
        (lambda s: not isinstance(s, tuple), [1, (2, 3), [4]], [True, False, [True]]),
        (lambda s: [True, False] if isinstance(s, list) else True, [(1, 2), (3, 4)], [(True, True), False]),
        (
            lambda s: {"a": True, "b": False} if isinstance(s, dict) else isinstance(s, list),
            {"a": [1, (2,)], "b": [3]},
            {"a": [False, False], "b": False},
        ),
        (lambda s: 1, [1], (TypeError, "traverse_fn returned a non-bool scalar: 1 for input: [1]")),
        (lambda s: None, 5, (TypeError, "traverse_fn returned structure: None for non-structure: 5")),
        (lambda s: [True], 1, (TypeError, "traverse_fn returned structure: [True] for non-structure: 1")),
        (
            lambda s: [[True]],
            [[1]],
            (TypeError, "traverse_fn didn't return a depth=1 structure of bools.  saw: [[True]]  for structure: [[1]]"),
        ),
        (lambda s: [True], [1, 2], (ValueError, DIFFERENT_LENGTH.format(2, 1))),
    ],
)
def test_get_traverse_shallow_structure(traverse, structure, expected):
    assert outcome(nest_paths.get_traverse_shallow_structure, traverse, structure) == expected


# The rest of what libraries call.


def test_list_to_tuple():
    structure = [1, {"a": [2, (3,)], "b": BA(1, [2])}, OwnList([1])]
    assert nest_paths.list_to_tuple(structure) == (1, {"a": (2, (3,)), "b": BA(1, (2,))}, (1,))
    assert nest_paths.list_to_tuple(5) == 5


def test_sequence_like():
    assert nest_paths.sequence_like({"b": 0, "a": 0}, (1, 2)) == {"b": 2, "a": 1}
    assert nest_paths.sequence_like((0,), [[1]]) == ([1],)
    assert nest_paths.sequence_like(PairSpec("k"), [(1, 2)]).second == 2
    with pytest.raises(TypeError, match="int is no structure"):
        nest_paths.sequence_like(5, [1])


@pytest.mark.parametrize(
    "value, kinds",
    [
        ({}, ["mapping"]),
        (ReadOnlyMap({}), ["mapping"]),
        (Attrs(1, 2), ["attrs"]),
        (BA(1, 2), ["namedtuple", "plain namedtuple"]),
        (DerivedBA(1, 2), ["namedtuple"]),
        ((1, 2), []),
        (Attrs, []),
    ],
    ids=stable,
)
def test_kinds(value, kinds):
    found = {
        "mapping": nest_paths.is_mapping(value),
        "attrs": nest_paths.is_attrs(value),
        "namedtuple": nest_paths.is_namedtuple(value),
        "plain namedtuple": nest_paths.is_namedtuple(value, strict=True),
    }
    assert [kind for kind, is_it in found.items() if is_it] == kinds


# Composite tensors and their specs: whether each value has the structure of another one, or the error's initial.

COMPOSITES = {
    "ints": lambda: tf.ragged.constant([[1, 2], [3]], tf.int32),
    "floats": lambda: tf.ragged.constant([[1, 2], [3]], tf.float32),
    "deep": lambda: tf.ragged.constant([[[1]]]),
    "sparse": lambda: tf.sparse.eye(2),
    "spec": lambda: tf.RaggedTensorSpec([2, None], tf.int32),
    "wide spec": lambda: tf.RaggedTensorSpec([None, None], tf.int32),
    "float spec": lambda: tf.RaggedTensorSpec([2, None], tf.float32),
    "sparse spec": lambda: tf.SparseTensorSpec([2, 2]),
    "list": lambda: [1, 2],
    "tensor": lambda: tf.constant(1),
    "tensor spec": lambda: tf.TensorSpec([]),
}


@pytest.mark.parametrize(
    ("shallow", "expected"),
    [
        ("ints", "ok V V V ok ok V V T T T"),
        ("sparse", "V V V ok V V V ok T T T"),
        ("spec", "ok V V V ok ok ok V T T T"),
        ("sparse spec", "V V V ok V V V ok T T T"),
        ("list", "T T T T T T T T ok T T"),
        ("tensor", "ok ok ok ok ok ok ok ok ok ok ok"),
    ],
)
def test_shallow_structures_of_composites(shallow, expected):
    found = []
    for make in COMPOSITES.values():
        try:
            nest_paths.assert_shallow_structure(COMPOSITES[shallow](), make(), expand_composites=True)
        except (TypeError, ValueError) as error:
            found.append(type(error).__name__[0])
        else:
            found.append("ok")
    assert " ".join(found) == expected
