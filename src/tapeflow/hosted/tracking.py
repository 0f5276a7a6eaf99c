"""`tf.__internal__.tracking`: what Keras's layers and variables are to a checkpoint."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.core.trackable import AutoTrackable, Trackable

__all__ = ["AutoTrackable", "Trackable", "no_automatic_dependency_tracking"]


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method: what it sets on its object is no part of a checkpoint."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return untracked
