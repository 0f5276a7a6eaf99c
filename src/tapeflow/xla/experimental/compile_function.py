"""Older forms of `tf.function(jit_compile=True)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.context import state
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow.function.function import function


def compile(
    computation: Callable[..., Any], inputs: list[Any] | None = None
) -> list[Tensor] | Mapping[str, Any] | None:
    """Compiles a function as a whole, and calls it: as `tf.function(computation, jit_compile=True)(*inputs)`.

    Args:
        computation: a function with one parameter per input.
        inputs: a list of tensors and nests of them.

    Returns:
        A list of the tensors of the result, also for a single tensor. A dict or None is returned unchanged.

    Raises:
        TypeError: `inputs` is not a list.

    Example:
        >>> tf.xla.experimental.compile(lambda x: x + 1, [tf.constant(2)])[0].numpy().item()
        3
    """
    if inputs is not None and not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    result: Any = function(computation, jit_compile=True)(*(inputs or []))
    if result is None:
        return None
    if isinstance(result, Mapping):
        return nest.map_structure(convert_to_tensor, result)
    outputs = nest.flatten(result) if isinstance(result, (list, tuple)) else [result]
    return [convert_to_tensor(v) for v in outputs]


@contextmanager
def jit_scope(
    compile_ops: bool | Callable[[Any], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Returns a scope whose operations may be compiled together; without effect, as whole functions are compiled.

    Args:
        compile_ops: whether operations may be compiled, or a function of a `NodeDef` that returns that; True by
            default.
        separate_compiled_gradients: whether gradients are compiled separately.

    Returns:
        A context manager.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> @tf.function
        ... def double(x):
        ...     with tf.xla.experimental.jit_scope():
        ...         return x * 2
        >>> double(tf.constant(2)).numpy().item()
        4
    """
    if state.graph is None:
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside "
            "tf.function."
        )
    yield
