"""Functions for nested structures: `tf.nest`.

A structure is a list, a tuple, a namedtuple, a dict or another mapping or sequence, the view of a mapping, an `attrs`
object, or an object with `__tf_flatten__` and `__tf_unflatten__`, whose items are structures or atoms. All else is an
atom: tensors, arrays, strings, numbers, sets, `None`. Mappings are ordered by their keys, so two dicts with the same
keys have the same structure.

With `expand_composites`, values composed of several tensors (ragged and sparse ones) and their specs are structures
too.

The functions that take apart and put together the values of a type are determined once for it, and looked up
afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MappingView, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.core.values.composite import CompositeSpec, CompositeTensor
from tapeflow.core.values.trackable import TrackedTuple

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import TensorLike

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


class _Container(NamedTuple):
    """The functions that take apart and put together the values of a type."""

    values: Callable[[Any], Sequence]  # the items, in the order of flatten
    keys: Callable[[Any], Iterable]  # the name of each item in a path
    rebuild: Callable[[Any, list], Any]  # a value of the same type, with these items


def sorted_keys(mapping: Mapping) -> list:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _mapping_values(mapping: Mapping) -> list:
    return [mapping[key] for key in sorted_keys(mapping)]


def _rebuild_dict(like: Mapping, items: list) -> dict:
    keys = sorted_keys(like)
    packed = dict(zip(keys, items, strict=True))
    return packed if keys == list(like) else {key: packed[key] for key in like}  # in the order of `like`


def _rebuild_mutable_mapping(like: MutableMapping, items: list) -> MutableMapping:
    packed: MutableMapping
    packed = defaultdict(like.default_factory) if type(like) is defaultdict else type(like)()
    for key, value in _rebuild_dict(like, items).items():
        packed[key] = value
    return packed


def _rebuild_mapping(like: Any, items: list) -> Any:
    try:
        return type(like)((key, value) for key, value in _rebuild_dict(like, items).items())
    except TypeError as e:
        raise TypeError(
            f"Error creating an object of type {type(like)} like {like}. Note that it must accept a single positional "
            f"argument representing an iterable of key-value pairs, in addition to self. Cause: {e}"
        ) from e


def _custom_values(value: Any) -> tuple:
    components = value.__tf_flatten__()[1]
    if not isinstance(components, tuple):
        raise AssertionError(f"{type(value).__name__}.__tf_flatten__ must give a tuple of components, not {components}")
    return components


def _item_indices(value: Any) -> range:
    return range(len(value))


def _return_unchanged(value: object) -> Any:
    return value


def _is_namedtuple_type(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return issubclass(cls, tuple) and isinstance(fields, Sequence) and all(isinstance(f, str) for f in fields)


_LIST = _Container(_return_unchanged, _item_indices, lambda like, items: items)
_DICT = _Container(_mapping_values, sorted_keys, _rebuild_dict)
_MUTABLE_MAPPING = _DICT._replace(rebuild=_rebuild_mutable_mapping)
_MAPPING = _DICT._replace(rebuild=_rebuild_mapping)
_VIEW = _LIST._replace(values=list)  # can't be built from its items, so packs into a list
_TUPLE = _Container(_return_unchanged, _item_indices, lambda like, items: tuple(items))
_NAMEDTUPLE = _Container(_return_unchanged, lambda value: value._fields, lambda like, items: type(like)(*items))
_SEQUENCE = _Container(list, _item_indices, lambda like, items: type(like)(items))
_ATTRS = _Container(
    lambda value: [getattr(value, attribute.name) for attribute in value.__attrs_attrs__],
    lambda value: [attribute.name for attribute in value.__attrs_attrs__],
    lambda like, items: type(like)(*items),
)
_CUSTOM = _Container(
    _custom_values,
    lambda value: range(len(_custom_values(value))),
    lambda like, items: like.__tf_unflatten__(like.__tf_flatten__()[0], tuple(items)),
)
_COMPOSITE_TENSOR = _Container(
    lambda value: (value._type_spec._to_components(value),),
    lambda value: (value._type_spec.value_type.__name__,),
    lambda like, items: like._type_spec._from_components(items[0]),
)
_COMPOSITE_SPEC = _Container(
    lambda spec: (spec._component_specs,),
    lambda spec: (spec.value_type.__name__,),  # as for the value: the two have equal paths
    lambda like, items: like._from_components(items[0]),
)
_EXACT = {list: _LIST, tuple: _TUPLE, TrackedTuple: _TUPLE, dict: _DICT, range: _VIEW}


def _container_of_type(cls: type, expand_composites: bool) -> _Container | None:
    if cls in _EXACT:
        return _EXACT[cls]
    if issubclass(cls, MutableMapping):
        return _MUTABLE_MAPPING
    if issubclass(cls, Mapping):
        return _MAPPING
    if issubclass(cls, MappingView):
        return _VIEW
    if _is_namedtuple_type(cls):
        return _NAMEDTUPLE
    if hasattr(cls, "__attrs_attrs__"):
        return _ATTRS
    if expand_composites and issubclass(cls, CompositeTensor):
        return _COMPOSITE_TENSOR
    if expand_composites and issubclass(cls, CompositeSpec) and cls._is_composite:
        return _COMPOSITE_SPEC
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _CUSTOM
    if issubclass(cls, Sequence) and not issubclass(cls, (str, bytes)):
        return _SEQUENCE
    return None


class _ContainerTable(dict):
    """A dict from each type seen so far to its `_Container`, or `None` for atoms."""

    _LIMIT = 4096  # bounds memory in a program that keeps creating types

    def __init__(self, expand_composites: bool):
        super().__init__()
        self._expand_composites = expand_composites

    def __missing__(self, cls: type) -> _Container | None:
        if len(self) >= self._LIMIT:
            self.clear()
        container = self[cls] = _container_of_type(cls, self._expand_composites)
        return container


_PLAIN = _ContainerTable(expand_composites=False)
_EXPANDED = _ContainerTable(expand_composites=True)


def is_nested(seq: object) -> bool:
    """Returns True if a value is a structure and not an atom.

    Args:
      seq: any value.

    Returns:
      A bool.

    Example:
    >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested("ab"), tf.nest.is_nested(tf.constant([1, 2]))
    (True, False, False)
    """
    return _PLAIN[type(seq)] is not None


def flatten(structure: Any, expand_composites: bool = False) -> list:
    """Returns the atoms of a structure in a list; of an atom, a list of that atom.

    Args:
      structure: a structure or an atom.
      expand_composites: whether to take ragged and sparse tensors apart into their component tensors.

    Returns:
      The atoms, in order.

    Raises:
      TypeError: if the keys of a dict can't be sorted.

    Example:
    >>> tf.nest.flatten({"b": [1, (2, 3)], "a": "x"})
    ['x', 1, 2, 3]
    """
    table = _EXPANDED if expand_composites else _PLAIN
    container = table[type(structure)]
    if container is None:
        return [structure]
    flat: list = []
    _flatten_into(flat, container.values(structure), table)
    return flat


def _flatten_into(flat: list, values: Sequence, table: _ContainerTable) -> None:
    for value in values:
        container = table[type(value)]
        if container is None:
            flat.append(value)
        else:
            _flatten_into(flat, container.values(value), table)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Gives a flat list the structure of `structure`: the inverse of `flatten`.

    Args:
      structure: the structure of the result; its atoms are not used.
      flat_sequence: as many items as `structure` has atoms.
      expand_composites: whether ragged and sparse tensors are to be put together from their component tensors.

    Returns:
      A structure like `structure`.

    Raises:
      TypeError: if `flat_sequence` is an atom, or the keys of a dict can't be sorted.
      ValueError: if the number of items is not the number of atoms.

    Example:
    >>> tf.nest.pack_sequence_as({"b": [0, (0, 0)], "a": 0}, [1, 2, 3, 4])
    {'b': [2, (3, 4)], 'a': 1}
    """
    table = _EXPANDED if expand_composites else _PLAIN
    if table[type(flat_sequence)] is None:
        raise TypeError(
            f"Attempted to pack value:\n  {_cut_text(flat_sequence)}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    container = table[type(structure)]
    if container is None:
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {_cut_text(structure)}\nHowever the input is "
                f"a sequence ({type(flat_sequence)}) of length {len(flat_sequence)}.\n  {_cut_text(flat_sequence)}\n"
                "nest cannot guarantee that it is safe to map one to the other."
            )
        return flat_sequence[0]
    try:
        index, items = _pack_items(container, structure, flat_sequence, 0, table)
    except IndexError:
        index = -1
    if index != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {len(flatten(structure, expand_composites))} atoms, but "
            f"flat_sequence had {len(flat_sequence)} items.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return container.rebuild(structure, items)


def _pack_items(
    container: _Container, structure: Any, flat: Sequence[Any], index: int, table: _ContainerTable
) -> tuple[int, list]:
    """Returns the new items of a structure, and the index of the first item of `flat` not used."""
    items = []
    for value in container.values(structure):
        inner = table[type(value)]
        if inner is None:
            item = flat[index]
            index += 1
        else:
            index, inner_items = _pack_items(inner, value, flat, index, table)
            item = inner.rebuild(value, inner_items)
        items.append(item)
    return index, items


def _cut_text(value: TensorLike | None) -> str:
    text = str(value)
    return text if len(text) <= 100 else text[:100] + "..."


def map_structure(func: Callable, *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to each atom of a structure, or to the atoms in the same place of several.

    Args:
      func: takes an atom of each structure.
      *structure: one structure or more, of the same form.
      **kwargs: `check_types=True`, whether the types of structures have to be the same, and
            `expand_composites=False`, whether to take ragged and sparse tensors apart.

    Returns:
      The results of `func`, in the form of the first structure.

    Raises:
      TypeError: if `func` can't be called, or the types of two structures differ.
      ValueError: if there is no structure, two of them don't have the same form, or a keyword is none of these.

    Example:
    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
    {'a': 11, 'b': (22, 33)}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types, expand_composites = True, False
    if kwargs:
        check_types = kwargs.pop("check_types", True)
        expand_composites = kwargs.pop("expand_composites", False)
        if kwargs:
            raise ValueError(
                f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{'`, `'.join(kwargs)}`"
            )
    table = _EXPANDED if expand_composites else _PLAIN
    first = structure[0]
    container = table[type(first)]
    if len(structure) == 1:
        return func(first) if container is None else _map_one(func, container, first, table)
    for other in structure[1:]:
        assert_same_structure(first, other, check_types, expand_composites)
    return func(*structure) if container is None else _map_many(func, container, structure, table)


def _map_one(func: Callable, container: _Container, structure: Any, table: _ContainerTable) -> Any:
    items = []
    for value in container.values(structure):
        inner = table[type(value)]
        items.append(func(value) if inner is None else _map_one(func, inner, value, table))
    return container.rebuild(structure, items)


def _map_many(func: Callable, container: _Container, structures: tuple, table: _ContainerTable) -> Any:
    items = []
    for values in zip(*[table[type(s)].values(s) for s in structures], strict=True):
        inner = table[type(values[0])]
        items.append(func(*values) if inner is None else _map_many(func, inner, values, table))
    return container.rebuild(structures[0], items)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises an error unless two structures have the same form. Atoms are not compared.

    Args:
      nest1: a structure or an atom.
      nest2: a structure or an atom.
      check_types: whether the types of structures have to be the same, and dicts to have the same keys. All lists
            count as one type, all mappings too, and namedtuples of the same name and fields.
      expand_composites: whether to compare the specs of ragged and sparse tensors.

    Raises:
      TypeError: if the types of two structures differ.
      ValueError: if a structure stands where the other has an atom, or the number of items, the keys of two dicts or
            the specs of two composite tensors differ.

    Example:
    >>> tf.nest.assert_same_structure([1, (2, 3)], ["a", ("b", "c")])
    >>> tf.nest.assert_same_structure([1], (1,), check_types=False)
    """
    mismatch = _find_mismatch(nest1, nest2, check_types, _EXPANDED if expand_composites else _PLAIN)
    if mismatch is None:
        return
    error, difference = mismatch
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_type_text(nest1)}\n\nSecond structure: {_type_text(nest2)}\n\n"
        f"More specifically: {difference}\n"
        f"Entire first structure:\n{map_structure(_to_dot, nest1)}\n"
        f"Entire second structure:\n{map_structure(_to_dot, nest2)}"
    )


def _find_mismatch(a: Any, b: Any, check_types: bool, table: _ContainerTable) -> tuple[type[Exception], str] | None:
    """Returns the first place where two structures differ, as an error class and a sentence; `None` if they don't."""
    container_a, container_b = table[type(a)], table[type(b)]
    if container_a is None or container_b is None:
        if container_a is container_b:
            return None
        nested, atom = (b, a) if container_a is None else (a, b)
        return ValueError, (
            f'Substructure "{_type_text(nested)}" is a sequence, while substructure "{_type_text(atom)}" is not'
        )
    if check_types:
        if type(a) is not type(b) and not _same_kind(a, b):
            return TypeError, (
                f"The two namedtuples don't have the same sequence type. First structure {_type_text(a)} has type "
                f"{type(a).__name__}, while second structure {_type_text(b)} has type {type(b).__name__}"
            )
        if container_a.keys is sorted_keys and a.keys() != b.keys():
            return ValueError, (
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_type_text(list(a))}, while second structure has keys {_type_text(list(b))}"
            )
    if container_a is _COMPOSITE_TENSOR or container_b is _COMPOSITE_TENSOR:
        spec_a, spec_b = _spec_of(a), _spec_of(b)
        if spec_a is None or spec_b is None or spec_a.most_specific_common_supertype([spec_b]) is None:
            return ValueError, (
                "Incompatible CompositeTensor TypeSpecs: "
                f"{_type_text(a if spec_a is None else spec_a)} vs. {_type_text(b if spec_b is None else spec_b)}"
            )
    values_a, values_b = container_a.values(a), container_b.values(b)
    for value_a, value_b in zip(values_a, values_b, strict=False):
        mismatch = _find_mismatch(value_a, value_b, check_types, table)
        if mismatch is not None:
            return mismatch
    if len(values_a) != len(values_b):
        return ValueError, (
            "The two structures don't have the same number of elements. "
            f"First structure: {_type_text(a)}. Second structure: {_type_text(b)}"
        )
    return None


def _same_kind(a: object, b: object) -> bool:
    """Returns True if two structures of different types count as the same type."""
    if {type(a), type(b)} == {tuple, TrackedTuple}:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        # Plain namedtuples only: a class derived from one is a type of its own.
        both_plain = type(a).__base__ is tuple and type(b).__base__ is tuple
        return both_plain and _same_namedtuples(a, b)
    return (
        (isinstance(a, list) and isinstance(b, list))
        or (isinstance(a, Mapping) and isinstance(b, Mapping))
        or (_spec_of(a) is not None and _spec_of(b) is not None)
    )


def _same_namedtuples(a: Any, b: Any) -> bool:
    """Returns True if two tuples are namedtuples of the same name and fields."""
    types = type(a), type(b)
    return all(map(_is_namedtuple_type, types)) and a._fields == b._fields and types[0].__name__ == types[1].__name__


def _spec_of(value: Any) -> Any:
    """Returns the spec of a composite tensor, a spec itself, and `None` for anything else."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    return value if isinstance(value, CompositeSpec) else None


def _type_text(value: object) -> str:
    return f"type={type(value).__name__} str={value}"


class _Dot:
    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


def _to_dot(atom: object) -> _Dot:
    return _DOT
