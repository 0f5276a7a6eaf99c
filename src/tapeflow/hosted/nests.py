"""Nests up to the leaves of a shallower nest, and the paths to leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tapeflow.core.values import nest
from tapeflow.core.values.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]

Path = tuple[Any, ...]


def _container(structure: Any, expand_composites: bool = False) -> Any:
    return (nest._EXPANDED if expand_composites else nest._PLAIN)[type(structure)]


def _items(structure: Any, expand_composites: bool = False) -> list[tuple[Any, Any]]:
    """Returns the keys and values of a structure, in the order of `flatten`."""
    container = _container(structure, expand_composites)
    return list(zip(container.keys(structure), container.values(structure), strict=True))


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    return nest._is_namedtuple_type(type(instance))


def is_mapping(obj: Any) -> bool:
    """Returns whether an object is a mapping, such as a dict."""
    return isinstance(obj, Mapping)


def is_attrs(obj: Any) -> bool:
    """Returns whether an object is of a class defined with `attrs`."""
    return hasattr(type(obj), "__attrs_attrs__")


def sequence_like(instance: Any, args: Any) -> Any:
    """Returns a structure like `instance`, of one level, with other values."""
    return _container(instance).rebuild(instance, list(args))


def _yield_value(iterable: Any) -> Iterator[Any]:
    yield from _container(iterable).values(iterable)


def _yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    yield from _items(iterable)


def list_to_tuple(structure: Any) -> Any:
    """Returns a structure with tuples in the place of lists."""
    if not is_nested(structure):
        return structure
    values = [list_to_tuple(v) for _, v in _items(structure)]
    return tuple(values) if isinstance(structure, list) else sequence_like(structure, values)


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """Yields the path to each leaf, as a tuple of keys."""
    for path, _ in flatten_with_tuple_paths(nest, expand_composites):
        yield path


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[Path, Any]]:
    """Returns each leaf with its path."""
    if _container(structure, expand_composites) is None:
        return [((), structure)]
    return [
        ((key, *path), leaf)
        for key, value in _items(structure, expand_composites)
        for path, leaf in flatten_with_tuple_paths(value, expand_composites)
    ]


def flatten_with_joined_string_paths(structure: Any, separator: str = "/", expand_composites: bool = False) -> Any:
    """Returns each leaf with its path as a string."""
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Calls `map_structure` with a function that takes the path first."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


# ---- up to a shallower structure -------------------------------------------------------------------------------------


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that one structure is the upper part of another.

    Raises:
        TypeError: there is a value in the place of a structure, or structures are of different types.
        ValueError: structures have different lengths or keys.
    """
    if _container(shallow_tree, expand_composites) is None:
        return
    if _container(input_tree, expand_composites) is None:
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    both_mappings = isinstance(shallow_tree, Mapping) and isinstance(input_tree, Mapping)
    if check_types and not both_mappings and not nest._same_kind(shallow_tree, input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    shallow, full = _items(shallow_tree, expand_composites), _items(input_tree, expand_composites)
    if len(shallow) != len(full):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(full)}, while shallow structure has length {len(shallow)}."
        )
    if both_mappings and [k for k, _ in shallow] != [k for k, _ in full]:
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(input_tree)}, while shallow structure has keys {list(shallow_tree)}."
        )
    for (_, part), (_, value) in zip(shallow, full, strict=True):
        assert_shallow_structure(part, value, check_types, expand_composites)


def _up_to(shallow_tree: Any, input_tree: Any, expand_composites: bool = False) -> list[tuple[Path, Any]]:
    if _container(shallow_tree, expand_composites) is None:
        return [((), input_tree)]
    pairs = zip(_items(shallow_tree, expand_composites), _items(input_tree, expand_composites), strict=True)
    return [
        ((key, *path), leaf)
        for (key, part), (_, value) in pairs
        for path, leaf in _up_to(part, value, expand_composites)
    ]


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """Returns the parts of a structure at the leaves of a shallower one."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return [leaf for _, leaf in _up_to(shallow_tree, input_tree, expand_composites)]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Calls `map_structure` on the parts at the leaves of `shallow_tree`."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *values: func(*values), *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Calls `map_structure_up_to` with a function that takes the path first.

    Raises:
        ValueError: there are no structures.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types, expand_composites = kwargs.get("check_types", True), kwargs.get("expand_composites", False)
    for each in inputs:
        assert_shallow_structure(shallow_tree, each, check_types, expand_composites)
    columns = [_up_to(shallow_tree, each, expand_composites) for each in inputs]
    results = [func(pairs[0][0], *[leaf for _, leaf in pairs]) for pairs in zip(*columns, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """Returns the upper part of a structure, down to where a function stops.

    Args:
        traverse_fn: takes a structure; returns whether to traverse its parts, or a structure of such bools for them.
        structure: the structure to traverse.
        expand_composites: accepted for the recursion.

    Returns:
        A structure of bools: True for leaves that are reached, False for parts that are not traversed.

    Raises:
        TypeError: `traverse_fn` returns a structure for a leaf.
    """
    answer = traverse_fn(structure)
    if not is_nested(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        parts = [get_traverse_shallow_structure(traverse_fn, v, expand_composites) for _, v in _items(structure)]
        return sequence_like(structure, parts)
    parts = [
        get_traverse_shallow_structure(traverse_fn, value, expand_composites) if traversed else False
        for traversed, (_, value) in zip(flatten(answer), _items(structure), strict=True)
    ]
    return sequence_like(structure, parts)
