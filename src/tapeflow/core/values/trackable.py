"""Trackable objects: the objects that a checkpoint walks through, by the names of their edges.

A trackable object names its children; one with state of its own also saves it as tensors and restores it. An edge of a
checkpoint that the object does not have yet stays with the object, as a deferred restoration, until the child is set.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CHECKPOINT = "checkpoint"  # the save types, as children are asked for
SAVED_MODEL = "savedmodel"


class TrackableReference:
    """A child of a trackable object, and the name of the edge to it.

    It is no tuple: Keras saves the layers in tuples, and would save these a second time.

    Attributes:
        name: the name.
        ref: the child.
    """

    __slots__ = ("name", "ref")

    def __init__(self, name: str, ref: Any) -> None:
        self.name, self.ref = name, ref

    def __iter__(self) -> Iterator[Any]:
        return iter((self.name, self.ref))

    def __repr__(self) -> str:
        return f"TrackableReference(name={self.name}, ref={self.ref})"


class Trackable:
    """The base class of the objects that checkpoints save: variables, modules, layers, optimizers.

    A subclass with children adds them by `_track_trackable` or overrides `_trackable_children`; one with state
    overrides `_serialize_to_tensors` and `_restore_from_tensors`.
    """

    # Created at their first use: being trackable costs a variable nothing until then.
    __slots__ = ()

    _self_unconditional_checkpoint_dependencies: list[TrackableReference]
    _self_unconditional_dependency_names: dict[str, Any]
    _self_unconditional_deferred_dependencies: dict[str, list[Any]]
    _self_update_uid: int

    def _maybe_initialize_trackable(self) -> None:
        if not hasattr(self, "_self_unconditional_dependency_names"):
            attributes = self.__dict__
            attributes["_self_unconditional_checkpoint_dependencies"] = []
            attributes["_self_unconditional_dependency_names"] = {}
            attributes["_self_unconditional_deferred_dependencies"] = {}
            attributes["_self_update_uid"] = -1

    # ---- in a SavedModel ---------------------------------------------------------------------------------------------

    @property
    def _object_identifier(self) -> str:
        return "_generic_user_object"

    @property
    def _tracking_metadata(self) -> str:
        return ""

    # ---- edges -------------------------------------------------------------------------------------------------------

    @property
    def _setattr_tracking(self) -> bool:
        return getattr(self, "_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self.__dict__["_self_setattr_tracking"] = value

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        self._maybe_initialize_trackable()
        return self._self_unconditional_checkpoint_dependencies

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        """Restorations that wait for a child, by its name."""
        self._maybe_initialize_trackable()
        return self._self_unconditional_deferred_dependencies

    def _no_dependency(self, value: Any) -> Any:
        return value

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes `trackable` this object's child, and restores it if a checkpoint has been waiting for it.

        Raises:
            TypeError: it is not trackable.
            ValueError: another child has that name, and `overwrite` is False.
        """
        self._maybe_initialize_trackable()
        if not isinstance(trackable, Trackable):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type Trackable. Got type "
                f"{type(trackable)}."
            )
        names = self._self_unconditional_dependency_names
        current = names.get(name)
        if current is not None and current is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already "
                "declared as a dependency. Names must be unique (or overwrite=True)."
            )
        edges = self._self_unconditional_checkpoint_dependencies
        edge = TrackableReference(name, trackable)
        if name not in names:
            edges.append(edge)
        elif current is not trackable:
            edges[next(i for i, e in enumerate(edges) if e.name == name)] = edge
        names[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Callable[..., Any] | None = None,
        getter: Callable[..., Any] | None = None,
        overwrite: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Returns a variable created by `getter`, as this object's child; for layers of Keras 2."""
        if getter is None:
            raise TypeError("a function that creates the variable is needed as `getter`.")
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)
        return self._track_trackable(variable, name, overwrite) if isinstance(variable, Trackable) else variable

    def _delete_tracking(self, name: str) -> None:
        """Removes the child of that name, if there is one."""
        names = getattr(self, "_self_unconditional_dependency_names", {})
        if names.pop(name, None) is not None:
            edges = self._self_unconditional_checkpoint_dependencies
            edges[:] = [edge for edge in edges if edge.name != name]

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        """Returns the children by name, in order of their creation."""
        return dict(getattr(self, "_self_unconditional_checkpoint_dependencies", ()))

    def _lookup_dependency(self, name: str, cached_dependencies: dict[str, Any] | None = None) -> Any:
        """Returns the child of that name, or None."""
        children = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return children.get(name)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores a child that was not there when this object was restored."""
        waiting = getattr(self, "_self_unconditional_deferred_dependencies", None)
        if waiting:
            for position in sorted(waiting.pop(name, ()), key=lambda p: p.restoration.uid):
                position.restore(trackable)

    # ---- state -------------------------------------------------------------------------------------------------------

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """Returns the object's state: tensors (or Python strings) by name.

        Raises:
            NotImplementedError: it has none of its own.
        """
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Restores the object's state from the result of `_serialize_to_tensors`."""
        raise NotImplementedError

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Returns no saveables: TensorFlow's former way of saving, before `_serialize_to_tensors`."""
        return {}


def has_state(trackable: Any) -> bool:
    """Returns True if an object has state of its own to save."""
    return type(trackable)._serialize_to_tensors is not Trackable._serialize_to_tensors


class NoDependency:
    """Marks a value that becomes an attribute unchanged and is no part of a checkpoint."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class TrackedTuple(tuple):
    """A tuple of objects to track, the value of an attribute. JAX registers this type, so it differs from `tuple`, as
    in TensorFlow."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return tuple, (list(self),)


# From the type of a value to the function that wraps it when it is set as an attribute: filled by
# `tapeflow/tracking/data_structures.py`.
wrappers: dict[type, Callable[[Any], Any]] = {}


def wrap(value: Any) -> Any:
    """Returns a list or dict in a wrapper that a checkpoint can follow; any other value unchanged."""
    wrapper = wrappers.get(type(value))
    if wrapper is not None:
        return wrapper(value)
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, tuple) and not isinstance(value, Trackable):
        return wrappers[tuple](value) if tuple in wrappers else value
    return value


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Makes `value` a child of `trackable`, if it can be one.

    Returns:
        The attribute's new value.
    """
    if isinstance(value, NoDependency):
        return value.value
    value = wrap(value)
    child = value if isinstance(value, Trackable) else _tracked_form(value)
    if child is not None:
        trackable._track_trackable(child, name=name, overwrite=True)
    return value


tracked_tuple: list[Callable[[tuple], Any]] = []  # one function, from tapeflow/tracking/data_structures.py


def _tracked_form(value: Any) -> Any:
    return tracked_tuple[0](value) if isinstance(value, tuple) and tracked_tuple else None


# Types that no checkpoint can follow: their values are set at once.
_PLAIN = frozenset({int, float, str, bool, bytes, type(None), type, type(lambda: 0)})


function_types: list[type] = []  # functions, which a SavedModel holds too: filled by `tapeflow/function`


class AutoTrackable(Trackable):
    """A trackable object whose attributes are its children.

    As in TensorFlow, an attribute that is set to a plain value later leaves the child of that name; `del` removes it.
    """

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        children = super()._trackable_children(save_type, **kwargs)
        if save_type != SAVED_MODEL:
            return children
        kinds = tuple(function_types)
        names = [name for name in dir(self) if isinstance(inspect.getattr_static(self, name, None), kinds)]
        return children | {name: getattr(self, name) for name in names}

    def __setattr__(self, name: str, value: Any) -> None:
        if (
            type(value) not in _PLAIN
            and self.__dict__.get(name, self) is not value
            and getattr(self, "_self_setattr_tracking", True)
        ):
            value = sticky_attribute_assignment(self, name, value)
        object.__setattr__(self, name, value)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def __delattr__(self, name: str) -> None:
        self._delete_tracking(name)
        object.__delattr__(self, name)


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method: the attributes that it sets are no part of a checkpoint."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@contextmanager
def no_automatic_dependency_tracking_scope(trackable: Any) -> Iterator[None]:
    """Keeps attributes that are set on the object inside this context out of its checkpoints."""
    before = getattr(trackable, "_self_setattr_tracking", True)
    trackable._self_setattr_tracking = False
    try:
        yield
    finally:
        trackable._self_setattr_tracking = before
