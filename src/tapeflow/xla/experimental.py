"""The public `tf.xla.experimental` namespace: earlier ways to say `tf.function(jit_compile=True)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.context import state
from tapeflow.core.values import nest
from tapeflow.function import function
from tapeflow.graph.ir.operation import Operation


def compile(computation: Callable[..., Any], inputs: list[Any] | None = None) -> Any:
    """Compiles a function as a whole, and calls it: as `tf.function(computation, jit_compile=True)(*inputs)`.

    Args:
        computation: takes as many arguments as there are inputs.
        inputs: a list of tensors and of nests of them.

    Returns:
        What the function gives: a list of its tensors, for one tensor too; a dict as it is.

    Raises:
        TypeError: `inputs` is no list.

    Example:
        >>> tf.xla.experimental.compile(lambda x: x + 1, [tf.constant(2)])[0].numpy().item()
        3
    """
    if inputs is not None and not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    result = function(computation, jit_compile=True)(*(inputs or []))
    if result is None:
        return None
    if isinstance(result, Mapping):
        return nest.map_structure(convert_to_tensor, result)
    outputs = nest.flatten(result) if isinstance(result, (list, tuple)) else [result]
    return [v if isinstance(v, Operation) else convert_to_tensor(v) for v in outputs]


@contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Returns a scope whose operations may be compiled together. Whole functions are compiled here, so that it changes nothing.

    Args:
        compile_ops: whether operations may be compiled, or a function of a `NodeDef` that says so.
        separate_compiled_gradients: whether gradients would be compiled apart.

    Raises:
        RuntimeError: ops run eagerly.

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
