"""Structures of every kind that `tf.nest` knows, with what is in them. Recorded from TensorFlow 2.21."""

import collections
import dataclasses
import types
import typing

import attrs
import numpy as np
import pytest
import torch

from ids import stable
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeSpec, CompositeTensor

BA = collections.namedtuple("BA", "b a")
OtherBA = collections.namedtuple("BA", "b a")
DifferentName = collections.namedtuple("DifferentName", "b a")


class DerivedBA(BA):
    pass


class TypedBA(typing.NamedTuple):
    b: int
    a: int


@attrs.define
class Attrs:
    z: object
    _y: object


@dataclasses.dataclass
class Masked:
    """A dataclass that says what is in it."""

    mask: object
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


class DerivedMasked(Masked):
    pass


@dataclasses.dataclass
class Plain:
    x: int


class ReadOnlyMap(collections.abc.Mapping):
    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)

    def __eq__(self, other):
        return type(other) is type(self) and list(self.items()) == list(other.items())

    def __repr__(self):
        return f"{type(self).__name__}({self.items_})"


class NoArgumentsMap(ReadOnlyMap):
    def __init__(self):
        super().__init__({"b": 1, "a": 2})


class WritableMap(ReadOnlyMap, collections.abc.MutableMapping):
    def __init__(self):
        super().__init__({})

    def __setitem__(self, key, value):
        self.items_[key] = value

    def __delitem__(self, key):
        del self.items_[key]


class OwnSequence(collections.abc.Sequence):
    def __init__(self, items):
        self.items_ = list(items)

    def __getitem__(self, index):
        return self.items_[index]

    def __len__(self):
        return len(self.items_)

    def __eq__(self, other):
        return type(other) is type(self) and self.items_ == other.items_

    def __repr__(self):
        return f"OwnSequence({self.items_})"


class OwnList(list):
    pass


class OwnTuple(tuple):
    pass


class OwnDict(dict):
    pass


@dataclasses.dataclass(eq=False)
class Pair(CompositeTensor):
    """A composite value of two parts."""

    first: object
    second: object
    kind: str = "int"

    @property
    def _type_spec(self):
        return PairSpec(self.kind)


@dataclasses.dataclass(frozen=True)
class PairSpec(CompositeSpec):
    kind: str = "int"
    value_type = Pair

    @property
    def _component_specs(self):
        return ["first spec", "second spec"]

    def _to_components(self, value):
        return [value.first, value.second]

    def _from_components(self, components):
        return Pair(*components, self.kind)

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None


class AtomSpec(CompositeSpec):
    """The spec of a plain tensor."""

    _is_composite = False


def writable(**items):
    result = WritableMap()
    result.update(items)
    return result


def outcome(function, *arguments, **kwargs):
    """What the call gives, or the class and text of the error it raises."""
    try:
        return function(*arguments, **kwargs)
    except Exception as e:
        return type(e), str(e)


def collect(*values):
    return values


def tag(x):
    return f"<{x}>"


DICT = {"b": 1, "a": [2, (3, 4)]}

# A structure, its atoms, their paths, and the structure with each atom tagged.
STRUCTURES = [
    ([], [], [], []),
    ((), [], [], ()),
    ({}, [], [], {}),
    ([[], [1]], [1], [(1, 0)], [[], ["<1>"]]),
    ([1, [2, 3], (4,)], [1, 2, 3, 4], [(0,), (1, 0), (1, 1), (2, 0)], ["<1>", ["<2>", "<3>"], ("<4>",)]),
    ((None, "ab"), [None, "ab"], [(0,), (1,)], ("<None>", "<ab>")),
    (BA(1, [2, 3]), [1, 2, 3], [("b",), ("a", 0), ("a", 1)], BA("<1>", ["<2>", "<3>"])),
    (DerivedBA(1, 2), [1, 2], [("b",), ("a",)], DerivedBA("<1>", "<2>")),
    (TypedBA(1, 2), [1, 2], [("b",), ("a",)], TypedBA("<1>", "<2>")),
    (DICT, [2, 3, 4, 1], [("a", 0), ("a", 1, 0), ("a", 1, 1), ("b",)], {"b": "<1>", "a": ["<2>", ("<3>", "<4>")]}),
    ({3: "x", 1: "y"}, ["y", "x"], [(1,), (3,)], {3: "<x>", 1: "<y>"}),
    ({(2, 1): 1, (1, 2): 2}, [2, 1], [((1, 2),), ((2, 1),)], {(2, 1): "<1>", (1, 2): "<2>"}),
    ({None: 1}, [1], [(None,)], {None: "<1>"}),
    (collections.OrderedDict(z=1, a=2), [2, 1], [("a",), ("z",)], collections.OrderedDict(z="<1>", a="<2>")),
    (
        collections.defaultdict(list, b=1, a=2),
        [2, 1],
        [("a",), ("b",)],
        collections.defaultdict(list, b="<1>", a="<2>"),
    ),
    (collections.Counter("aab"), [2, 1], [("a",), ("b",)], collections.Counter(a="<2>", b="<1>")),
    (ReadOnlyMap({"b": 1, "a": [2]}), [2, 1], [("a", 0), ("b",)], ReadOnlyMap({"b": "<1>", "a": ["<2>"]})),
    (writable(b=1, a=[2]), [2, 1], [("a", 0), ("b",)], writable(b="<1>", a=["<2>"])),
    (DICT.keys(), ["b", "a"], [(0,), (1,)], ["<b>", "<a>"]),
    (DICT.values(), [1, 2, 3, 4], [(0,), (1, 0), (1, 1, 0), (1, 1, 1)], ["<1>", ["<2>", ("<3>", "<4>")]]),
    ({"a": 1}.items(), ["a", 1], [(0, 0), (0, 1)], [("<a>", "<1>")]),
    (Attrs(1, [2]), [1, 2], [("z",), ("_y", 0)], Attrs("<1>", ["<2>"])),
    (Masked(True, [1, 2]), [1, 2], [(0, 0), (0, 1)], Masked(True, ["<1>", "<2>"])),
    (OwnList([1, 2]), [1, 2], [(0,), (1,)], OwnList(["<1>", "<2>"])),
    (OwnTuple((1, 2)), [1, 2], [(0,), (1,)], OwnTuple(("<1>", "<2>"))),
    (OwnDict(b=1, a=2), [2, 1], [("a",), ("b",)], OwnDict(b="<1>", a="<2>")),
    (OwnSequence([1, [2]]), [1, 2], [(0,), (1, 0)], OwnSequence(["<1>", ["<2>"]])),
    (collections.UserList([1, 2]), [1, 2], [(0,), (1,)], collections.UserList(["<1>", "<2>"])),
    (collections.UserDict(b=1, a=2), [2, 1], [("a",), ("b",)], collections.UserDict(b="<1>", a="<2>")),
    (collections.deque([1, 2]), [1, 2], [(0,), (1,)], collections.deque(["<1>", "<2>"])),
    (range(3), [0, 1, 2], [(0,), (1,), (2,)], ["<0>", "<1>", "<2>"]),
    (
        {"k": [{"z": (1,), "y": BA(Attrs(1, 2), Masked(0, (7, 8)))}]},
        [1, 2, 7, 8, 1],
        [
            ("k", 0, "y", "b", "z"),
            ("k", 0, "y", "b", "_y"),
            ("k", 0, "y", "a", 0, 0),
            ("k", 0, "y", "a", 0, 1),
            ("k", 0, "z", 0),
        ],
        {"k": [{"z": ("<1>",), "y": BA(Attrs("<1>", "<2>"), Masked(0, ("<7>", "<8>")))}]},
    ),
]
by_structure = pytest.mark.parametrize(
    "structure, flat, paths, tagged", STRUCTURES, ids=[stable(row[0]) for row in STRUCTURES]
)

ATOMS = [
    5,
    "abc",
    b"ab",
    None,
    {1},
    frozenset([1]),
    (i for i in ()),
    np.array([1, 2]),
    torch.zeros(2),
    np.float32(1),
    np.zeros(1, dtype=[("a", "i4")])[0],
    TensorShape([1, 2]),
    Plain(1),
    types.SimpleNamespace(a=1),
    list,
    BA,
    Attrs,
    Masked,
    Pair(1, 2),
    PairSpec(),
]
by_atom = pytest.mark.parametrize("atom", ATOMS, ids=[stable(atom) for atom in ATOMS])
