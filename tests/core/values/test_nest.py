"""`tf.nest`. Results and error texts were recorded from TensorFlow 2.21."""

import array
import collections
import time
import types

import numpy as np
import pytest

from ids import stable
from nest_examples import (
    BA,
    DICT,
    AtomSpec,
    Attrs,
    DerivedBA,
    DerivedMasked,
    DifferentName,
    Masked,
    NoArgumentsMap,
    OtherBA,
    OwnDict,
    OwnList,
    OwnTuple,
    Pair,
    PairSpec,
    ReadOnlyMap,
    by_atom,
    by_structure,
    collect,
    outcome,
    tag,
)
from tapeflow import nest
from tapeflow.core.values import nest as core_nest
from tapeflow.core.values import nest_paths


@by_structure
def test_structures(structure, flat, paths, tagged):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == flat
    for result in nest.map_structure(tag, structure), nest.pack_sequence_as(structure, [tag(x) for x in flat]):
        assert type(result) is type(tagged)
        assert result == tagged
        if isinstance(tagged, collections.abc.Mapping):
            assert list(result) == list(structure)  # the order of the keys is kept
    assert list(nest_paths.yield_flat_paths(structure)) == paths
    assert nest_paths.flatten_with_tuple_paths(structure) == list(zip(paths, flat, strict=True))


@by_structure
def test_a_structure_has_its_own_structure(structure, flat, paths, tagged):
    nest.assert_same_structure(structure, structure)
    nest_paths.assert_shallow_structure(structure, structure)
    assert nest.map_structure(lambda x, y: tag(x), structure, structure) == tagged
    assert nest_paths.flatten_up_to(structure, structure) == flat
    assert nest_paths.map_structure_up_to(structure, tag, structure) == tagged


@by_atom
def test_atoms(atom):
    assert not nest.is_nested(atom)
    flat = nest.flatten(atom)
    assert len(flat) == 1
    assert flat[0] is atom
    assert nest.map_structure(lambda x: (x,), atom)[0] is atom
    assert nest.pack_sequence_as(atom, ["new"]) == "new"
    assert nest_paths.flatten_with_joined_string_paths(atom)[0][0] == ""


def test_flatten_gives_a_new_list():
    values = [1, 2]
    nest.flatten(values).append(3)
    assert values == [1, 2]
    assert nest.map_structure(lambda x: x, values) is not values


def test_default_factory_is_kept():
    mapped = nest.map_structure(tag, collections.defaultdict(list, b=1))
    assert mapped["new"] == []


def test_struct_time_is_a_tuple():
    mapped = nest.map_structure(lambda x: x + 1, time.gmtime(0))
    assert (type(mapped), mapped.tm_year, mapped.tm_isdst) == (time.struct_time, 1971, 1)


@pytest.mark.parametrize("structure", [bytearray(b"ab"), memoryview(b"ab"), array.array("i", [97, 98])])
def test_other_sequences_are_structures(structure):
    assert nest.flatten(structure) == [97, 98]


def test_types_that_are_made_on_the_fly_are_forgotten_again():
    table = core_nest._PLAIN
    for i in range(table._LIMIT + 10):
        assert nest.flatten(type(f"List{i}", (list,), {})([1])) == [1]
    assert len(table) <= table._LIMIT
    assert nest.flatten([1, {"a": 2}]) == [1, 2]


NOT_SORTABLE = (TypeError, "nest only supports dicts with sortable keys.")


@pytest.mark.parametrize(
    "call",
    [
        lambda d: nest.flatten(d),
        lambda d: nest.map_structure(tag, [d]),
        lambda d: nest.pack_sequence_as(d, [1, 2]),
        lambda d: nest.assert_same_structure(d, d),
    ],
)
def test_keys_that_cannot_be_sorted(call):
    assert outcome(call, {"a": 1, 2: 3}) == NOT_SORTABLE


def test_mappings_that_cannot_be_made_from_pairs():
    assert outcome(nest.map_structure, tag, NoArgumentsMap()) == (
        TypeError,
        "Error creating an object of type <class 'nest_examples.NoArgumentsMap'> like NoArgumentsMap({'b': 1, 'a': 2})"
        ". Note that it must accept a single positional argument representing an iterable of key-value pairs, in "
        "addition to self. Cause: NoArgumentsMap.__init__() takes 1 positional argument but 2 were given",
    )
    assert nest.flatten(types.MappingProxyType({"b": 1, "a": 2})) == [2, 1]


def test_custom_components_are_a_tuple():
    class Wrong(Masked):
        def __tf_flatten__(self):
            return (self.mask,), [self.value]

    with pytest.raises(AssertionError, match=r"Wrong.__tf_flatten__ must give a tuple of components, not \[2\]"):
        nest.flatten(Wrong(1, 2))


# pack_sequence_as


@pytest.mark.parametrize(
    "structure, flat, expected",
    [
        (1, [2], 2),
        (None, [1], 1),
        ([], [], []),
        ([1, [2]], (3, 4), [3, [4]]),
        ({"b": 1, "a": 2}, [3, 4], {"b": 4, "a": 3}),
        ([0, 0], range(2), [0, 1]),
        ([0], collections.deque([4]), [4]),
        ([0], {0: 5}, [5]),
    ],
)
def test_pack(structure, flat, expected):
    assert nest.pack_sequence_as(structure, flat) == expected


def wrong_length(structure_type, structure, flat_type, length, flat):
    return (
        f"The target structure is of type `<class '{structure_type}'>`\n  {structure}\nHowever the input is a sequence "
        f"(<class '{flat_type}'>) of length {length}.\n  {flat}\n"
        "nest cannot guarantee that it is safe to map one to the other."
    )


def wrong_count(atoms, items, structure, flat):
    return (
        f"Could not pack sequence. Structure had {atoms} atoms, but flat_sequence had {items} items.  "
        f"Structure: {structure}, flat_sequence: {flat}."
    )


def not_a_sequence(value, cls):
    return (
        f"Attempted to pack value:\n  {value}\ninto a structure, but found incompatible type `<class '{cls}'>` instead."
    )


@pytest.mark.parametrize(
    "structure, flat, error, message",
    [
        (1, [], ValueError, wrong_length("int", "1", "list", 0, "[]")),
        ("abc", (1, 2), ValueError, wrong_length("str", "abc", "tuple", 2, "(1, 2)")),
        (
            "x" * 200,
            [1] * 60,
            ValueError,
            wrong_length("str", "x" * 100 + "...", "list", 60, str([1] * 34)[:100] + "..."),
        ),
        ([1, 2], [3], ValueError, wrong_count(2, 1, "[1, 2]", "[3]")),
        ([1, 2], [3, 4, 5], ValueError, wrong_count(2, 3, "[1, 2]", "[3, 4, 5]")),
        ([[1, 2], 3], [4, 5], ValueError, wrong_count(3, 2, "[[1, 2], 3]", "[4, 5]")),
        ([], [1], ValueError, wrong_count(0, 1, "[]", "[1]")),
        (NoArgumentsMap(), [1], ValueError, wrong_count(2, 1, "NoArgumentsMap({'b': 1, 'a': 2})", "[1]")),
        (1, 5, TypeError, not_a_sequence("5", "int")),
        ([1], "a", TypeError, not_a_sequence("a", "str")),
        ([1], None, TypeError, not_a_sequence("None", "NoneType")),
        ([1], np.array([1]), TypeError, not_a_sequence("[1]", "numpy.ndarray")),
    ],
)
def test_pack_what_does_not_fit(structure, flat, error, message):
    assert outcome(nest.pack_sequence_as, structure, flat) == (error, message)


# map_structure


@pytest.mark.parametrize(
    "structures, kwargs, expected",
    [
        ((1, 2), {}, (1, 2)),
        (([], []), {}, []),
        (([1], [2], [3]), {}, [(1, 2, 3)]),
        (([[1, 2], 3], [[4, 5], 6]), {}, [[(1, 4), (2, 5)], (3, 6)]),
        (({"b": 1, "a": 2}, collections.OrderedDict(a=4, b=3)), {}, {"b": (1, 3), "a": (2, 4)}),
        ((BA(1, 2), OtherBA(3, 4)), {}, BA((1, 3), (2, 4))),
        ((Attrs(1, 2), Attrs(3, 4)), {}, Attrs((1, 3), (2, 4))),
        ((Masked(1, 2), Masked(3, 4)), {}, Masked(1, (2, 4))),
        (([1, (2,)], (3, [4])), {"check_types": False}, [(1, 3), ((2, 4),)]),
        (({"a": 1}, {"b": 2}), {"check_types": False}, {"a": (1, 2)}),
        (([1],), {"check_types": None, "expand_composites": 0}, [(1,)]),
    ],
)
def test_map(structures, kwargs, expected):
    result = nest.map_structure(collect, *structures, **kwargs)
    assert type(result) is type(expected)
    assert result == expected


def test_map_calls_in_order():
    seen = []
    nest.map_structure(seen.append, {"b": [1, 2], "a": (3, {"z": 4})})
    assert seen == [3, 4, 1, 2]


def test_errors_of_the_function_pass_through():
    with pytest.raises(ZeroDivisionError):
        nest.map_structure(lambda x: 1 / x, [1, [0]])


KEYWORDS = "Only valid keyword arguments are `check_types` and `expand_composites`, not: "


@pytest.mark.parametrize(
    "arguments, kwargs, expected",
    [
        ((3, [1]), {}, (TypeError, "func must be callable, got: 3")),
        ((None,), {}, (TypeError, "func must be callable, got: None")),
        ((collect,), {}, (ValueError, "Must provide at least one structure")),
        ((collect, [1]), {"foo": 1}, (ValueError, KEYWORDS + "`foo`")),
        ((collect, [1]), {"foo": 1, "check_types": True, "bar": 2}, (ValueError, KEYWORDS + "`foo`, `bar`")),
    ],
)
def test_map_called_wrongly(arguments, kwargs, expected):
    assert outcome(nest.map_structure, *arguments, **kwargs) == expected


# assert_same_structure


@pytest.mark.parametrize(
    "a, b",
    [
        (1, "a"),
        (None, 1),
        (1, Pair(1, 2)),
        ([1, (2,)], ["a", (None,)]),
        ({"b": 1, "a": 2}, {"a": 1, "b": 2}),
        (OwnList([1]), [1]),
        (OwnDict(a=1), {"a": 2}),
        (collections.OrderedDict(b=1, a=2), {"a": 1, "b": 1}),
        (ReadOnlyMap({"a": 1}), {"a": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (BA(1, 2), OtherBA(1, 2)),
        (DerivedBA(1, 2), DerivedBA(3, 4)),
        (Masked(1, 2), Masked(3, 4)),
        (DICT.keys(), DICT.keys()),
        (range(2), range(1, 3)),
    ],
    ids=stable,
)
def test_same_structure(a, b):
    nest.assert_same_structure(a, b)
    nest.assert_same_structure(b, a, check_types=False)


def different_types(a, b):
    return (
        "The two namedtuples don't have the same sequence type. First structure "
        f"type={type(a).__name__} str={a} has type {type(a).__name__}, while second structure "
        f"type={type(b).__name__} str={b} has type {type(b).__name__}"
    )


def different_keys(a, b):
    return (
        "The two dictionaries don't have the same set of keys. First structure has keys "
        f"type=list str={a}, while second structure has keys type=list str={b}"
    )


def different_counts(a, b):
    return (
        "The two structures don't have the same number of elements. First structure: "
        f"type={type(a).__name__} str={a}. Second structure: type={type(b).__name__} str={b}"
    )


def one_is_an_atom(nested, atom):
    return (
        f'Substructure "type={type(nested).__name__} str={nested}" is a sequence, while substructure '
        f'"type={type(atom).__name__} str={atom}" is not'
    )


# Two structures, the error class, the difference that it names, and both with dots for atoms. Then, whether they count
# as the same when types are not checked.
DIFFERENT = [
    (1, [1], ValueError, one_is_an_atom([1], 1), ".", "[.]", False),
    ([1, [2]], [1, 2], ValueError, one_is_an_atom([2], 2), "[., [.]]", "[., .]", False),
    ("ab", (1,), ValueError, one_is_an_atom((1,), "ab"), ".", "(.,)", False),
    ([1, 2], [1], ValueError, different_counts([1, 2], [1]), "[., .]", "[.]", False),
    ([], [1], ValueError, different_counts([], [1]), "[]", "[.]", False),
    ([1], (1,), TypeError, different_types([1], (1,)), "[.]", "(.,)", True),
    ([[1], (2, 3)], [[1], [2, 3]], TypeError, different_types((2, 3), [2, 3]), "[[.], (., .)]", "[[.], [., .]]", True),
    ({"a": 1}, [1], TypeError, different_types({"a": 1}, [1]), "{'a': .}", "[.]", True),
    (OwnTuple((1,)), (1,), TypeError, different_types(OwnTuple((1,)), (1,)), "(.,)", "(.,)", True),
    (BA(1, 2), (1, 2), TypeError, different_types(BA(1, 2), (1, 2)), "BA(b=., a=.)", "(., .)", True),
    (
        BA(1, 2),
        DifferentName(1, 2),
        TypeError,
        different_types(BA(1, 2), DifferentName(1, 2)),
        "BA(b=., a=.)",
        "DifferentName(b=., a=.)",
        True,
    ),
    (
        DerivedBA(1, 2),
        BA(1, 2),
        TypeError,
        different_types(DerivedBA(1, 2), BA(1, 2)),
        "DerivedBA(b=., a=.)",
        "BA(b=., a=.)",
        True,
    ),
    (
        Masked(1, 2),
        DerivedMasked(1, 2),
        TypeError,
        different_types(Masked(1, 2), DerivedMasked(1, 2)),
        "Masked(mask=1, value=.)",
        "DerivedMasked(mask=1, value=.)",
        True,
    ),
    (range(2), [0, 1], TypeError, different_types(range(2), [0, 1]), "[., .]", "[., .]", True),
    ({"a": 1}, {"b": 1}, ValueError, different_keys(["a"], ["b"]), "{'a': .}", "{'b': .}", True),
    (
        {"a": 1},
        ReadOnlyMap({"b": 1, "a": 2}),
        ValueError,
        different_keys(["a"], ["b", "a"]),
        "{'a': .}",
        "ReadOnlyMap({'b': ., 'a': .})",
        False,
    ),
    (
        {"b": [1], "a": 2},
        {"b": 1, "a": [2]},
        ValueError,
        one_is_an_atom([2], 2),
        "{'b': [.], 'a': .}",
        "{'b': ., 'a': [.]}",
        False,
    ),
]


@pytest.mark.parametrize("a, b, error, difference, dots_a, dots_b, same_without_types", DIFFERENT, ids=stable)
def test_different_structures(a, b, error, difference, dots_a, dots_b, same_without_types):
    expected = (
        error,
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: type={type(a).__name__} str={a}\n\n"
        f"Second structure: type={type(b).__name__} str={b}\n\n"
        f"More specifically: {difference}\n"
        f"Entire first structure:\n{dots_a}\nEntire second structure:\n{dots_b}",
    )
    assert outcome(nest.assert_same_structure, a, b) == expected
    assert outcome(nest.map_structure, collect, a, b) == expected
    if same_without_types:
        nest.assert_same_structure(a, b, check_types=False)
    else:
        assert outcome(nest.assert_same_structure, a, b, check_types=False)[0] is ValueError


def test_counts_differ_only_after_the_items_in_common():
    assert "is a sequence, while" in outcome(nest.assert_same_structure, [[1], 2], [1])[1]


# Composite tensors.


def test_composites_are_atoms_unless_expanded():
    pair = Pair(1, 2)
    assert nest.flatten([pair, 3]) == [pair, 3]
    assert nest.flatten([pair, 3], expand_composites=True) == [1, 2, 3]
    assert nest.flatten(Pair(1, (2, Pair(3, 4))), expand_composites=True) == [1, 2, 3, 4]
    assert not nest.is_nested(pair)
    assert nest_paths.is_nested_or_composite(pair)


def test_pack_and_map_composites():
    packed = nest.pack_sequence_as({"a": Pair(0, 0), "b": 0}, [1, 2, 3], expand_composites=True)
    assert (packed["a"].first, packed["a"].second, packed["b"]) == (1, 2, 3)
    mapped = nest.map_structure(collect, [Pair(1, 2)], [Pair(3, 4)], expand_composites=True)
    assert (mapped[0].first, mapped[0].second) == ((1, 3), (2, 4))


def test_specs_have_the_structure_of_their_values():
    assert nest.flatten([PairSpec(), 1]) == [PairSpec(), 1]
    assert nest.flatten([PairSpec(), 1], expand_composites=True) == ["first spec", "second spec", 1]
    packed = nest.pack_sequence_as(PairSpec("float"), [1.0, 2.0], expand_composites=True)
    assert (packed.first, packed.second, packed.kind) == (1.0, 2.0, "float")
    paths = [(0, "Pair", 0), (0, "Pair", 1)]
    assert list(nest_paths.yield_flat_paths([PairSpec()], expand_composites=True)) == paths
    assert list(nest_paths.yield_flat_paths([Pair(1, 2)], expand_composites=True)) == paths
    nest.assert_same_structure([PairSpec()], [Pair(1, 2)], expand_composites=True)
    nest.assert_same_structure(PairSpec("int"), PairSpec("float"), expand_composites=True)


def test_specs_of_plain_tensors_are_atoms():
    spec = AtomSpec()
    assert nest.flatten([spec], expand_composites=True) == [spec]


def test_composites_of_different_specs():
    a, b = Pair(1, 2, "int"), Pair(1.0, 2.0, "float")
    nest.assert_same_structure(a, b)
    difference = "Incompatible CompositeTensor TypeSpecs: type=PairSpec str=PairSpec(kind='int') vs. "
    for check_types in True, False:
        error, message = outcome(nest.assert_same_structure, a, b, check_types, expand_composites=True)
        assert error is ValueError
        assert difference + "type=PairSpec str=PairSpec(kind='float')\nEntire first structure:\n.\n" in message
    assert outcome(nest_paths.assert_shallow_structure, a, b, expand_composites=True) == (
        ValueError,
        "Incompatible CompositeTensor TypeSpecs: PairSpec(kind='int') vs. PairSpec(kind='float')",
    )


@pytest.mark.parametrize("other", [[1, 2], (1,)])
def test_a_composite_is_no_list(other):
    error, message = outcome(nest.assert_same_structure, Pair(1, 2), other, expand_composites=True)
    assert error is TypeError
    assert "don't have the same sequence type" in message
    assert outcome(nest.assert_same_structure, Pair(1, 2), 1, expand_composites=True)[0] is ValueError
    for pair in Pair(1, 2), PairSpec():
        assert outcome(nest_paths.assert_shallow_structure, pair, other, expand_composites=True)[0] is TypeError
        assert outcome(nest_paths.assert_shallow_structure, pair, 1, expand_composites=True)[0] is TypeError
