"""`tf.__internal__.tracking`: the classes that make Keras's layers and variables visible to checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core.types.aliases import DTypeLike
from tapeflow.core.values.trackable import (
    AutoTrackable,
    Trackable,
    no_automatic_dependency_tracking,
    sticky_attribute_assignment,
    wrap,
)
from tapeflow.tracking.data_structures import TrackableDataStructure
from tapeflow_compat.tensorflow_python.keras_2 import register_session_provider

__all__ = [
    "AutoTrackable", "CheckpointInitialValueCallable", "DelegatingTrackableMixin", "Trackable",
    "TrackableDataStructure", "no_automatic_dependency_tracking", "no_automatic_dependency_tracking_scope",
    "register_session_provider", "sticky_attribute_assignment", "wrap",
]  # fmt: skip


@contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Keeps attributes that are assigned to an object inside this context from becoming its children."""
    before = getattr(obj, "_setattr_tracking", True)
    obj._setattr_tracking = False
    try:
        yield
    finally:
        obj._setattr_tracking = before


class CheckpointInitialValueCallable:
    """The initial value of a variable from a checkpoint, for Keras 2's older optimizers.

    Args:
        checkpoint_position: the node of a variable in a checkpoint that is being restored.
    """

    def __init__(self, checkpoint_position: Any) -> None:
        self.checkpoint_position = checkpoint_position

    @property
    def restore_uid(self) -> int:
        """The number of the restoration."""
        return self.checkpoint_position.restore_uid

    def __call__(self, shape: Any = None, dtype: DTypeLike = None, shard_info: Any = None) -> Any:
        """Returns the value; the checkpoint determines shape and dtype."""
        return self.checkpoint_position.value()


class DelegatingTrackableMixin:
    """An object that wraps another one, and is saved like it.

    Args:
        trackable_obj: the wrapped object.
    """

    def __init__(self, trackable_obj: Any) -> None:
        self._trackable = trackable_obj

    def _trackable_children(self, *args: Any, **kwargs: Any) -> Any:
        return self._trackable._trackable_children(*args, **kwargs)

    def _track_trackable(self, trackable: Trackable, name: str, overwrite: bool = False) -> Any:
        return self._trackable._track_trackable(trackable, name, overwrite)

    def _lookup_dependency(self, name: str, *args: Any) -> Any:
        return self._trackable._lookup_dependency(name, *args)
