"""The functions of TensorFlow's XLA bindings that Keras and `jax2tf` use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.creation import range as range_of
from tapeflow.array.properties import shape
from tapeflow.array.ranges import meshgrid
from tapeflow.array.scatters import tensor_scatter_nd_update
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum, minimum
from tapeflow.xla import call_module as modules


def dynamic_update_slice(x: TensorLike, updates: TensorLike, indices: TensorLike, name: str | None = None) -> Any:
    """Returns a copy of `x` with `updates` written over a part of it.

    Args:
        x: the tensor.
        updates: a tensor of the same rank, in no dimension larger than `x`.
        indices: the start of the part, a vector of `rank` integers, clipped to keep the part inside `x`.

    Returns:
        A tensor of the shape and dtype of `x`.
    """
    x, updates = convert_to_tensor(x), convert_to_tensor(updates)
    if x.shape.rank == 0:
        return updates
    indices = cast(convert_to_tensor(indices), "int64")
    sizes = shape(updates, "int64")
    starts = maximum(minimum(indices, shape(x, "int64") - sizes), 0)
    axes = [starts[i] + range_of(sizes[i]) for i in range(x.shape.rank)]
    return tensor_scatter_nd_update(x, stack(meshgrid(*axes, indexing="ij"), -1), updates)


def call_module(
    args: Sequence[Any], *, version: int = 4, module: str | bytes, Tout: DTypeLike, Sout: Any, **attrs: Any
) -> Any:
    """Runs a module of StableHLO, see `tapeflow/xla/call_module.py`.

    Returns:
        A list of tensors.
    """
    return modules.call_module(list(args), version, module, Sout, Tout, **attrs)


def call_module_maximum_supported_version() -> int:
    """Returns the newest version of the calling convention of modules that can be called."""
    return modules.NEWEST


def call_module_disable_check_platform() -> str:
    """Returns the word for the platform's check in `disabled_checks`."""
    return modules.PLATFORM_CHECK
