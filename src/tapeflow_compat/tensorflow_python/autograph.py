"""`tf.__internal__.autograph`: the conversion of users' functions by libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.autograph.experimental import do_not_convert
from tapeflow.control.map_and_scan import as_traced
from tapeflow.core.context import state

__all__ = ["control_status_ctx", "do_not_convert", "tf_convert"]


def control_status_ctx() -> bool:
    """Returns True if functions are converted here, which they are while a function is traced."""
    return state.graph is not None and state.graph.building_function


def tf_convert(
    f: Callable[..., Any], ctx: Any, convert_by_default: bool = True, user_requested: bool = False
) -> Callable[..., Any]:
    """Returns the function converted by AutoGraph if a function is being traced, or else itself."""
    return as_traced(f)
