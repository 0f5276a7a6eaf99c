"""Parts of structures, as TensorFlow 2.21 yields them."""

import collections

import pytest

from tapeflow_compat.tensorflow_python import nests

Point = collections.namedtuple("Point", "y x")


@pytest.mark.parametrize(
    ("structure", "keys", "values"),
    [({"b": 1, "a": 2}, ["a", "b"], [2, 1]), ([5, 6], [0, 1], [5, 6]), ((7,), [0], [7])],
)
def test_items_of_structures(structure, keys, values):
    assert list(nests._yield_value(structure)) == values
    assert list(nests._yield_sorted_items(structure)) == list(zip(keys, values, strict=True))


def test_leaves_of_keys_and_values():
    assert nests.flatten_dict_items({}) == {}
    assert nests.flatten_dict_items({("a", "b"): [1, 2], "c": 3}) == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(ValueError, match=r"Could not flatten dictionary. Key had 1 elements, but value had 2\."):
        nests.flatten_dict_items({"a": (1, 2)})


def test_named_tuples_are_alike_by_their_fields():
    assert nests.same_namedtuples(Point(1, 2), Point(3, 4)) is True
    assert nests.same_namedtuples(Point(1, 2), collections.namedtuple("Point", "x y")(1, 2)) is False
