"""Lists, dicts and tuples that a checkpoint can follow: the wrappers they get as attributes of a module.

A `ListWrapper` is a list and a `_DictWrapper` a dict. A change of the wrapper changes the original too; a change of the
original alone is detected when a checkpoint is saved, and refused. A tuple with objects to track becomes a
`TrackedTuple`, which compares and prints like the tuple. A named tuple is not wrapped.
"""

from __future__ import annotations

import collections
import copy
import itertools
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

from tapeflow.core.values.trackable import (
    CHECKPOINT,
    NoDependency,
    Trackable,
    TrackedTuple,
    tracked_tuple,
    wrap,
    wrappers,
)
from tapeflow.core.values.variable import Variable

_NOT_APPENDED = (
    "A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, __delslice__), or moved (sort). In "
    "order to support restoration on object creation, tracking is exclusively for append-only data structures."
)
_OTHER_KEYS = (
    "The wrapped dictionary contains a non-string key which maps to a trackable object or mutable data structure."
)


class TrackableDataStructure(Trackable):
    """The base of the containers that checkpoints follow, with the weights of the layers and variables in them."""

    __slots__ = ()
    _self_trainable = True  # TensorFlow's name
    _storage: Any  # the wrapped value

    @property
    def _values(self) -> Sequence[Any]:
        """The elements, in TensorFlow's order of iteration."""
        raise NotImplementedError

    def _weights(self, trainable: bool) -> list[Any]:
        elements = [v for v in self._values if isinstance(v, Trackable)]
        attribute = "trainable_variables" if trainable else "non_trainable_variables"
        of_elements = [getattr(e, attribute, ()) for e in elements]
        own = [e for e in elements if isinstance(e, Variable) and e.trainable is trainable]
        return [*itertools.chain.from_iterable(of_elements), *own]

    @property
    def trainable(self) -> bool:
        return self._self_trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_self_trainable"] = value

    @property
    def trainable_weights(self) -> list[Any]:
        return self._weights(True) if self._self_trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        return self._weights(False) if self._self_trainable else self._weights(True) + self._weights(False)

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables, non_trainable_variables, variables = trainable_weights, non_trainable_weights, weights

    @property
    def layers(self) -> list[Any]:
        """The layers in the container, those in containers in it among them."""
        nested = [v.layers if isinstance(v, TrackableDataStructure) else [v] for v in self._values]
        return [v for v in itertools.chain.from_iterable(nested) if hasattr(type(v), "trainable_weights")]

    @property
    def losses(self) -> list[Any]:
        return [loss for layer in self.layers for loss in getattr(layer, "losses", ())]

    @property
    def updates(self) -> list[Any]:
        return [update for layer in self.layers for update in getattr(layer, "updates", ())]

    def _track_element(self, value: Any, name: str) -> Any:
        """Returns an element as the container holds it: wrapped, and a child if it can be one."""
        value = wrap(value)
        child = _TupleWrapper(value) if isinstance(value, tuple) and not isinstance(value, Trackable) else value
        if isinstance(child, Trackable):
            self._track_trackable(child, name, overwrite=True)
        return value

    def _check_savable(self, kind: str, reason: str, outdated: bool) -> None:
        """Raises a ValueError if there is a reason against saving, or if the wrapped value was changed by itself."""
        name = kind.split()[1]
        if outdated and not reason:
            reason = (
                f"The wrapped {name} was modified outside the wrapper (its final value was {self._storage}), which "
                "breaks restoration on object creation."
            )
        if reason:
            raise ValueError(
                f"Unable to save the object {self!r} ({kind}). {reason}\n\nIf you don't need this {name} checkpointed, "
                "wrap it in a non-trackable object; it will be subsequently ignored."
            )


def _mutating_method(method: str) -> Any:
    """Returns a method of `list` that does more than append."""

    def mutate(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._mutated(*args)
        getattr(self._storage, method)(*args, **kwargs)
        return getattr(list, method)(self, *args, **kwargs)

    mutate.__name__ = method
    return mutate


class ListWrapper(TrackableDataStructure, list):
    """A list whose elements are children of the list, by their position.

    Args:
        wrapped_list: the original, which changes with the wrapper.

    Example:
        >>> module = tf.Module()
        >>> module.layers = [tf.Variable(1.0)]
        >>> module.layers.append(tf.Variable(2.0))
        >>> type(module.layers).__name__, isinstance(module.layers, list)
        ('ListWrapper', True)
    """

    def __init__(self, wrapped_list: Iterable[Any] = ()) -> None:
        list.__init__(self)
        self._storage = wrapped_list if type(wrapped_list) is list else list(wrapped_list)
        self._non_append_mutation = False
        for i, value in enumerate(self._storage):
            value = self._track_element(value, str(i))
            list.append(self, value)
            self._storage[i] = value

    @property
    def _values(self) -> Sequence[Any]:
        return self

    def append(self, value: Any) -> None:
        """Adds an element, restored if a checkpoint has been waiting for it."""
        value = self._track_element(value, str(len(self)))
        list.append(self, value)
        self._storage.append(value)

    def extend(self, values: Iterable[Any]) -> None:
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc]  # typeshed wants what `+` takes
        self.extend(values)
        return self

    def __imul__(self, count: Any) -> Any:  # type: ignore[misc]  # typeshed wants what `*` takes
        elements = list(self)
        if count <= 0:
            self.clear()
        for _ in range(count - 1):
            self.extend(elements)
        return self

    def _mutated(self, *added: Any) -> None:
        """Notes that children may have moved; elements that are no children may come and go."""
        self._non_append_mutation |= any(isinstance(v, Trackable) for v in (*self, *added))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            value = [wrap(v) for v in value]
            self._mutated(*value)
        else:
            list.__getitem__(self, key)  # there has to be one
            key = range(len(self))[key]
            if isinstance(self[key], Trackable):
                self._non_append_mutation = True
            value = self._track_element(value, str(key))
        list.__setitem__(self, key, value)
        self._storage[key] = value

    insert = _mutating_method("insert")
    pop = _mutating_method("pop")
    remove = _mutating_method("remove")
    sort = _mutating_method("sort")
    reverse = _mutating_method("reverse")
    clear = _mutating_method("clear")
    __delitem__ = _mutating_method("__delitem__")

    def copy(self) -> Any:
        return ListWrapper(list(self))

    def __copy__(self) -> Any:
        return ListWrapper(list(self))

    def __deepcopy__(self, memo: Any) -> Any:
        return ListWrapper([copy.deepcopy(value, memo) for value in self])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (ListWrapper, (list(self),))

    def __hash__(self) -> int:  # type: ignore[override]  # by identity; the wrapped list has no hash
        return id(self)

    def __repr__(self) -> str:
        return f"ListWrapper({list.__repr__(self)})"

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        reason = _NOT_APPENDED if self._non_append_mutation else ""
        outdated = list(map(id, self)) != list(map(id, self._storage))
        self._check_savable("a list wrapper constructed to track trackable TensorFlow objects", reason, outdated)
        return super()._trackable_children(save_type, **kwargs)


class _DictWrapper(TrackableDataStructure, dict):
    """A dict whose values are children of the dict, by their keys.

    Args:
        wrapped_dict: the original, which changes with the wrapper.
        **items: further items.
    """

    def __init__(self, wrapped_dict: Any = (), **items: Any) -> None:
        dict.__init__(self)
        self._storage = wrapped_dict if isinstance(wrapped_dict, dict) and not items else dict(wrapped_dict, **items)
        self._non_string_key = False
        for key, value in list(self._storage.items()):
            self[key] = value

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # An OrderedDict is still one to `isinstance`.
        storage = self.__dict__.get("_storage")
        return _DictWrapper if storage is None or type(storage) is dict else type(storage)

    @property
    def _values(self) -> Sequence[Any]:
        return [self[key] for key in sorted(self, key=str)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            value = self._track_element(value, key)
        else:
            value = wrap(value)
            self._non_string_key |= isinstance(value, Trackable)
        dict.__setitem__(self, key, value)
        self._storage[key] = value

    def __delitem__(self, key: Any) -> None:
        dict.__delitem__(self, key)
        del self._storage[key]
        if isinstance(key, str):
            self._delete_tracking(key)

    def pop(self, key: Any, *default: Any) -> Any:
        if default and key not in self:
            return default[0]
        value = self[key]
        del self[key]
        return value

    update = MutableMapping.update

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]  # typeshed wants what `|` takes
        self.update(other)
        return self

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> Any:
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    def copy(self) -> Any:
        return self._storage.copy()

    def __copy__(self) -> Any:
        return _DictWrapper(self._storage.copy())

    def __deepcopy__(self, memo: Any) -> Any:
        return _DictWrapper(copy.deepcopy(self._storage, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_DictWrapper, (self._storage,))

    def __hash__(self) -> int:  # type: ignore[override]  # by identity; the wrapped dict has no hash
        return id(self)

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        reason = _OTHER_KEYS if self._non_string_key else ""
        outdated = len(self) != len(self._storage) or any(self._storage.get(k, self) is not v for k, v in self.items())
        self._check_savable("a dictionary wrapper constructed automatically on attribute assignment", reason, outdated)
        return super()._trackable_children(save_type, **kwargs)


class _TupleWrapper(TrackableDataStructure):
    """The node of a tuple in a checkpoint: its elements are the children, by position and by their fields' names."""

    def __init__(self, original: tuple[Any, ...]) -> None:
        self.__wrapped__ = original
        fields = getattr(original, "_fields", None)
        for i, value in enumerate(original):
            self._track_element(value, str(i))
            if fields is not None:
                self._track_element(value, fields[i])

    @property
    def _values(self) -> Sequence[Any]:
        return self.__wrapped__


def _wrapped_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns a tuple with the lists and dicts in it wrapped; tracked, if it is plain and has objects to track."""
    elements = [wrap(v) for v in value]
    if type(value) is tuple and any(isinstance(v, (Trackable, TrackedTuple)) for v in elements):
        return TrackedTuple(elements)
    if all(a is b for a, b in zip(elements, value, strict=True)):
        return value
    return value._make(elements) if hasattr(value, "_make") else tuple(elements)


def _track_value(value: tuple[Any, ...]) -> _TupleWrapper | None:
    wrapper = _TupleWrapper(value)
    return wrapper if wrapper._trackable_children() else None


wrappers[list] = ListWrapper
wrappers[dict] = wrappers[collections.OrderedDict] = _DictWrapper
wrappers[tuple] = _wrapped_tuple
tracked_tuple[:] = [_track_value]

__all__ = ["ListWrapper", "NoDependency", "TrackableDataStructure", "wrap"]
