"""Mappings and sets that compare by identity, for keys that compare otherwise, as variables do."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSet
from typing import Any

from tapeflow.core.values.tensor import Reference


class _WeakReference(Reference):
    """A key that does not keep its object alive; the container forgets it with the object."""

    __slots__ = ("_hash",)

    def __init__(self, wrapped: Any, forget: Any = None) -> None:
        super().__init__(weakref.ref(wrapped, None if forget is None else lambda _: forget(self)))
        self._hash = id(wrapped)

    def deref(self) -> Any:
        return self._wrapped()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Reference) and self.deref() is not None and self.deref() is other.deref()
        )

    def __hash__(self) -> int:
        return self._hash


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dict whose keys compare by identity.

    Args:
        items: a mapping, or pairs of keys and values.

    Example:
        >>> from tapeflow.tensorflow_python.object_identity import ObjectIdentityDictionary
        >>> v = tf.Variable(1.0)
        >>> ObjectIdentityDictionary([(v, "v")])[v]
        'v'
    """

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        self._storage: dict[Reference, Any] = {}
        self.update(items)

    def _key(self, key: Any) -> Reference:
        return Reference(key)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[Reference(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[Reference(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (reference.deref() for reference in list(self._storage))


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """A dict whose keys compare by identity, and are forgotten when nothing else holds them."""

    def _key(self, key: Any) -> Reference:
        return _WeakReference(key, lambda reference: self._storage.pop(reference, None))


class ObjectIdentitySet(MutableSet[Any]):
    """A set whose elements compare by identity.

    Args:
        items: the elements.
    """

    _mapping: type[ObjectIdentityDictionary] = ObjectIdentityDictionary

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._elements = self._mapping((item, None) for item in items)

    def __contains__(self, item: object) -> bool:
        return item in self._elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def add(self, value: Any) -> None:
        """Adds an element."""
        self._elements[value] = None

    def discard(self, value: Any) -> None:
        """Removes an element, if it is there."""
        self._elements.pop(value, None)

    def update(self, items: Iterable[Any]) -> None:
        """Adds elements."""
        for item in items:
            self.add(item)

    def intersection(self, items: Iterable[Any]) -> Any:
        """Returns the set of the elements that are among others, too."""
        return self & type(self)(items)

    def difference(self, items: Iterable[Any]) -> Any:
        """Returns the set of the elements that are not among others."""
        return self - type(self)(items)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """A set whose elements compare by identity, and are forgotten when nothing else holds them."""

    _mapping = ObjectIdentityWeakKeyDictionary
