"""The functions on structures that libraries import from inside TensorFlow, besides `tf.nest`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tapeflow.core.values.nest import (
    _PLAIN,
    _same_namedtuples,
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from tapeflow.core.values.nest_paths import (
    assert_shallow_structure,
    flatten_up_to,
    flatten_with_joined_string_paths,
    flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure,
    is_attrs,
    is_mapping,
    is_namedtuple,
    is_nested_or_composite,
    list_to_tuple,
    map_structure_up_to,
    map_structure_with_paths,
    map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to,
    sequence_like,
    yield_flat_paths,
)

__all__ = [
    "assert_same_structure", "assert_shallow_structure", "flatten", "flatten_up_to", "flatten_with_joined_string_paths",
    "flatten_with_tuple_paths", "flatten_with_tuple_paths_up_to", "get_traverse_shallow_structure", "is_attrs",
    "is_mapping", "is_namedtuple", "is_nested", "is_nested_or_composite", "is_sequence_or_composite", "list_to_tuple",
    "map_structure", "map_structure_up_to", "map_structure_with_paths", "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to", "pack_sequence_as", "same_namedtuples", "sequence_like", "yield_flat_paths",
]  # fmt: skip

is_sequence_or_composite = is_nested_or_composite
same_namedtuples = _same_namedtuples
_is_namedtuple = is_namedtuple
_sequence_like = sequence_like


def _yield_value(iterable: Any) -> Iterator[Any]:
    container: Any = _PLAIN[type(iterable)]
    yield from container.values(iterable)


def _yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    container: Any = _PLAIN[type(iterable)]
    yield from zip(container.keys(iterable), container.values(iterable), strict=True)


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """Returns a dict with the leaves of the keys for keys, and the leaves of the values for values.

    Args:
        dictionary: its keys and its values may be structures; each value is like its key.

    Raises:
        ValueError: a value has another number of leaves than its key, or two keys have a leaf in common.
    """
    leaves: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)}."
            )
        for leaf, part in zip(keys, values, strict=True):
            if leaf in leaves:
                raise ValueError(f"Cannot flatten dict because this key is not unique: {leaf}")
            leaves[leaf] = part
    return leaves
