"""More functions for nested structures: with the path to each atom, and only down to the depth of another structure.

TensorFlow has them beside `tf.nest` for its own use. Libraries built on it, such as Keras, call them too. A path is a
tuple of the indices, keys and field names that lead from the structure to an atom.

In all of them `expand_composites` and `check_types` mean the same as in `tapeflow.nest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tapeflow.core.values.composite import CompositeSpec, CompositeTensor
from tapeflow.core.values.nest import (
    _EXPANDED,
    _PLAIN,
    _ContainerTable,
    _is_namedtuple_type,
    _same_kind,
    _same_namedtuples,
    _spec_of,
    pack_sequence_as,
)


def is_nested_or_composite(seq: object) -> bool:
    """Returns True if a value is a structure when composite tensors and their specs count as structures."""
    return _EXPANDED[type(seq)] is not None


def is_mapping(obj: object) -> bool:
    """Returns True if a value is a mapping."""
    return isinstance(obj, Mapping)


def is_attrs(obj: object) -> bool:
    """Returns True if a value is an instance of an `attrs` class."""
    return hasattr(type(obj), "__attrs_attrs__")


def is_namedtuple(instance: object, strict: bool = False) -> bool:
    """Returns True if a value is a namedtuple; if `strict`, of a class that is not derived from another namedtuple."""
    return _is_namedtuple_type(type(instance)) and (not strict or type(instance).__base__ is tuple)


def sequence_like(instance: Any, args: Sequence[Any]) -> Any:
    """Returns the items `args`, in their flattened order, as a structure like `instance`."""
    container = _EXPANDED[type(instance)]
    if container is None:
        raise TypeError(f"{type(instance).__name__} is no structure that items could be packed into: {instance}")
    return container.rebuild(instance, list(args))


def list_to_tuple(structure: Any) -> Any:
    """Returns the same structure with a tuple in place of each list. (`tf.data` takes a list for a tensor.)"""
    container = _PLAIN[type(structure)]
    if container is None:
        return structure
    items = [list_to_tuple(value) for value in container.values(structure)]
    return tuple(items) if isinstance(structure, list) else container.rebuild(structure, items)


# With paths.


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple]:
    """Yields the path to each atom, in the order of `flatten`."""
    for path, _ in _flatten_up_to(nest, nest, _EXPANDED if expand_composites else _PLAIN):
        yield path


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[tuple, Any]]:
    """Returns a `(path, atom)` for each atom.

    Args:
      structure: a structure or an atom.
      expand_composites: True to take ragged and sparse tensors apart into their component tensors.

    Returns:
      The pairs, in the order of `flatten`.

    Example:
    >>> from tapeflow.core.values import nest_paths
    >>> nest_paths.flatten_with_tuple_paths({"b": [1, 2], "a": 3})
    [(('a',), 3), (('b', 0), 1), (('b', 1), 2)]
    """
    return list(_flatten_up_to(structure, structure, _EXPANDED if expand_composites else _PLAIN))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Returns a `(path, atom)` for each atom, with the path as a string such as `"b/0"`."""
    return [
        (separator.join(map(str, path)), atom) for path, atom in flatten_with_tuple_paths(structure, expand_composites)
    ]


def map_structure_with_tuple_paths(func: Callable, *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` with a `func(path, *atoms, **kwargs)`."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable, *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` with a `func(path, *atoms, **kwargs)`, with the path as a string such as `"b/0"`."""

    def func_of_tuple_path(path: tuple, *atoms: Any, **kwargs: Any) -> Any:
        return func("/".join(map(str, path)), *atoms, **kwargs)

    return map_structure_with_tuple_paths_up_to(structure[0], func_of_tuple_path, *structure, **kwargs)


# Up to the depth of another structure.


def flatten_up_to(
    shallow_tree: Sequence[Any], input_tree: Sequence[Any], check_types: bool = True, expand_composites: bool = False
) -> list:
    """Returns the values in `input_tree` at the places where `shallow_tree` has its atoms.

    Args:
      shallow_tree: a structure or an atom.
      input_tree: a structure that begins like `shallow_tree`.
      check_types: True if the types of structures have to be the same, and dicts have the same keys.
      expand_composites: True to take ragged and sparse tensors apart into their component tensors.

    Returns:
      The values in order.

    Raises:
      TypeError, ValueError: as `assert_shallow_structure`.

    Example:
    >>> from tapeflow.core.values import nest_paths
    >>> nest_paths.flatten_up_to([0, 0], [[1, 2], (3, 4)])
    [[1, 2], (3, 4)]
    """
    return [
        value for _, value in flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types, expand_composites)
    ]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Sequence[Any], input_tree: Sequence[Any], check_types: bool = True, expand_composites: bool = False
) -> list[tuple[tuple, Any]]:
    """`flatten_up_to` with the path to each value."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_flatten_up_to(shallow_tree, input_tree, _EXPANDED if expand_composites else _PLAIN))


def map_structure_up_to(shallow_tree: Any, func: Callable, *inputs: Any, **kwargs: Any) -> Any:
    """Applies `func` to the values in each of `inputs` at the places where `shallow_tree` has its atoms.

    Args:
      shallow_tree: the structure of the result.
      func: takes a value from each input, and `kwargs`.
      *inputs: structures that begin like `shallow_tree`.
      **kwargs: for `func`, apart from `check_types` and `expand_composites`.

    Raises:
      ValueError: if there are no inputs.
      TypeError, ValueError: as `assert_shallow_structure`.
    """

    def func_without_path(path: tuple, *values: Any, **kwargs: Any) -> Any:
        return func(*values, **kwargs)

    return map_structure_with_tuple_paths_up_to(shallow_tree, func_without_path, *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(shallow_tree: Any, func: Callable, *inputs: Any, **kwargs: Any) -> Any:
    """`map_structure_up_to` with a `func(path, *values, **kwargs)`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    flat = [flatten_with_tuple_paths_up_to(shallow_tree, tree, check_types, expand_composites) for tree in inputs]
    results = [
        func(places[0][0], *[value for _, value in places], **kwargs)  # all have the path of the first
        for places in zip(*flat, strict=True)
    ]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def _flatten_up_to(shallow: Any, tree: Any, table: _ContainerTable, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """Yields a `(path, value)` for each value in `tree` at the place where `shallow` has its atoms."""
    container = table[type(shallow)]
    if container is None:
        yield path, tree
        return
    tree_container = table[type(tree)]
    assert tree_container is not None  # checked by assert_shallow_structure
    branches = dict(zip(tree_container.keys(tree), tree_container.values(tree), strict=True))
    for key, value in zip(container.keys(shallow), container.values(shallow), strict=True):
        if key not in branches:
            raise KeyError(f"{key!r}: the input, a {type(tree).__name__}, has only {list(branches)} at path {path}")
        yield from _flatten_up_to(value, branches[key], table, (*path, key))


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises an error unless `input_tree` is like `shallow_tree`, with anything in place of its atoms.

    Raises:
      TypeError: if `shallow_tree` has a structure where `input_tree` has an atom or, with `check_types`, a structure of
            another type.
      ValueError: if the number of items, the keys of two dicts or the specs of two composite tensors differ.
    """
    table = _EXPANDED if expand_composites else _PLAIN
    container = table[type(shallow_tree)]
    if container is None:
        return
    input_container = table[type(input_tree)]
    if input_container is None:
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if check_types and not _has_type_of(input_tree, shallow_tree):
        raise _different_types(shallow_tree, input_tree)
    shallow_values, input_values = container.values(shallow_tree), input_container.values(input_tree)
    if _spec_of(shallow_tree) is not None or isinstance(input_tree, CompositeTensor):
        _assert_compatible_specs(shallow_tree, input_tree)
    elif len(input_values) != len(shallow_values):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_values)}, while shallow structure has length {len(shallow_values)}."
        )
    if isinstance(shallow_tree, Mapping):
        absent = set(shallow_tree) - set(input_tree)
        if absent:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following "
                f"keys that are not in the input_tree: {sorted(absent)}."
            )
    for shallow_value, input_value in zip(shallow_values, input_values, strict=True):
        assert_shallow_structure(shallow_value, input_value, check_types, expand_composites)


def _has_type_of(tree: list[Any], shallow: list[int]) -> bool:
    """Returns True if a structure has the shallow one's type, or a type that counts as the same."""
    return isinstance(tree, type(shallow)) or _same_namedtuples(tree, shallow) or _same_kind(tree, shallow)


def _different_types(shallow: object, tree: object) -> TypeError:
    return TypeError(
        "The two structures don't have the same sequence type. "
        f"Input structure has type {type(tree)}, while shallow structure has type {type(shallow)}."
    )


def _assert_compatible_specs(shallow: Any, tree: Any) -> None:
    shallow_spec, spec = _spec_of(shallow), _spec_of(tree)
    if isinstance(shallow, CompositeTensor) or isinstance(tree, CompositeTensor):
        if shallow_spec is None or spec is None:
            raise _different_types(shallow, tree)
        if shallow_spec.most_specific_common_supertype([spec]) is None:
            raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {shallow_spec} vs. {spec}")
    elif not isinstance(tree, CompositeSpec):
        raise TypeError(
            f"If shallow structure is a TypeSpec, input must also be a TypeSpec.  Input has type: {type(tree)}."
        )


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: dict[Any, Any] | int | Sequence[Any], expand_composites: bool = False
) -> Any:
    """Returns the part of a structure that a function chooses to enter, for `flatten_up_to` and `map_structure_up_to`.

    Args:
      traverse_fn: called with the structure and each one in it that is entered. Returns `True` or `False`: enter this
            one or not; or a structure like it, one level deep, with a `bool` for each item.
      structure: a structure or an atom.
      expand_composites: whether to ask about the components of composite tensors too.

    Returns:
      A structure of `bool`s.

    Raises:
      TypeError: if `traverse_fn` returns anything else.
    """
    to_traverse = traverse_fn(structure)
    table = _EXPANDED if expand_composites else _PLAIN
    container = table[type(structure)]
    if container is None:
        if not isinstance(to_traverse, bool):
            raise TypeError(f"traverse_fn returned structure: {to_traverse} for non-structure: {structure}")
        return to_traverse
    if to_traverse is False:
        return False
    values = container.values(structure)
    if to_traverse is True:
        branches: list = [True] * len(values)
    elif table[type(to_traverse)] is None:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {to_traverse} for input: {structure}")
    else:
        assert_shallow_structure(to_traverse, structure, expand_composites=expand_composites)
        branches = list(table[type(to_traverse)].values(to_traverse))
        if not all(isinstance(enter, bool) for enter in branches):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {to_traverse}  "
                f"for structure: {structure}"
            )
    items = [
        enter and get_traverse_shallow_structure(traverse_fn, value, expand_composites)
        for enter, value in zip(branches, values, strict=True)
    ]
    return container.rebuild(structure, items)
