"""Python functions as ops: `tf.py_function` and `tf.numpy_function`. Eagerly they are called as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor

# What a Python error inside a `py_function` becomes; everything else is UnknownError.
_ERRORS: list[tuple[type[Exception], Callable[..., errors.OpError]]] = [
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
]


def py_function(
    func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, name: str | None = None
) -> Any:
    """Calls a Python function on eager tensors; gradients pass through the ops that it runs.

    Args:
        func: takes a tensor for each in `inp`, and gives values of `Tout`. Without it, gives a decorator of functions.
        inp: a list of tensors, or of what converts to them; composite tensors stay as they are.
        Tout: a dtype or spec, or a list or tuple of them; empty for no result.

    Returns:
        A tensor, or a list of them where `Tout` is a list or tuple.

    Raises:
        InvalidArgumentError: `func` raised a TypeError or ValueError, or gave something else than `Tout`.
        UnknownError: `func` raised another error.

    Example:
        >>> tf.py_function(lambda x: x.numpy() * 2, [tf.constant([1.0, 2.0])], tf.float32).numpy().tolist()
        [2.0, 4.0]
    """
    if func is None:  # a decorator of the other arguments
        return lambda f: lambda *args: py_function(f, args, Tout, name)
    inputs = [x if hasattr(x, "_type_spec") and not hasattr(x, "_read") else convert(x) for x in inp]
    many = isinstance(Tout, (list, tuple))
    wanted = list(Tout) if many else [Tout]
    if state.graph is not None:
        return _staged(func, inputs, wanted, many)
    try:
        results = _results(func(*inputs), wanted, func)
    except errors.OpError:
        raise
    except Exception as error:
        raise error_of_op(error, f"[Op:EagerPyFunc] name: {name or ''}") from error
    return results if many else results[0]


def error_of_op(error: Exception, where: str) -> errors.OpError:
    """What an op that calls Python raises when the Python raised something.

    Args:
        error: what was raised.
        where: which op it was, to stand in the message.
    """
    kind: Callable[..., errors.OpError] = next(
        (k for base, k in _ERRORS if isinstance(error, base)), errors.UnknownError
    )
    return kind(None, None, f"{type(error).__name__}: {error} {where}")


def _staged(func: Callable[..., Any], inputs: list[Any], wanted: list[Any], many: bool) -> Any:
    """The call as an operation of the graph that this thread builds."""
    from tapeflow.graph.ir.python_op import python_op

    flat = nest.flatten(inputs, expand_composites=True)
    specs = [w if isinstance(w, TypeSpec) else TensorSpec(None, as_dtype(w).base_dtype) for w in wanted]

    def run(*values: Any) -> Any:
        given = nest.pack_sequence_as(inputs, list(values), expand_composites=True)
        return nest.flatten(py_function(func, given, wanted), expand_composites=True)

    made = python_op("EagerPyFunc", run, flat, [t for s in specs for t in s.flatten()], differentiable=True)
    if not specs:
        return made
    tensors = iter(made.outputs)
    results = [s.from_tensors(tensors) for s in specs]
    return results if many else results[0]


def _results(result: Any, wanted: list[Any], func: Any) -> list[Any]:
    """What a function gave, in the dtypes and specs that were declared."""
    if result is None:
        found: list[Any] = []
    elif isinstance(result, (list, tuple)) and (len(wanted) != 1 or isinstance(wanted[0], TypeSpec) or _nested(result)):
        found = list(result)
    else:
        found = [result]
    if len(found) < len(wanted):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{func!r} returns {len(found)} values, but expects to see {len(wanted)} values. [Op:EagerPyFunc]",
        )
    if found and not wanted:
        raise IndexError(f"{func!r} returned a value, but Tout is empty")
    return [_converted(value, kind, func) for value, kind in zip(found, wanted, strict=False)]


def _nested(result: Any) -> bool:
    """Whether a list is one of tensors and arrays, rather than of numbers."""
    return any(isinstance(r, (EagerTensor, np.ndarray)) for r in result)


def _converted(value: Any, kind: Any, func: Any) -> Any:
    if not isinstance(kind, TypeSpec) or kind._is_composite is False:
        if hasattr(value, "_type_spec") and not hasattr(value, "_read"):
            raise ValueError(f"py_function: func={func} returned {value}, which did not match Tout={kind}.")
        return convert(value, kind.dtype if isinstance(kind, TensorSpec) else as_dtype(kind).base_dtype)
    if not kind.is_compatible_with(value):
        raise ValueError(f"py_function: func={func} returned {value}, which did not match Tout={kind}.")
    return value


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function on NumPy arrays; no gradient passes.

    Args:
        func: takes an array for each in `inp`, and gives arrays.
        inp: a list of tensors, or of what converts to them.
        Tout: the dtypes of the results; only graphs need it.
        stateful: means nothing to eager execution.

    Returns:
        A tensor; a list of them where `func` gives several; None where it gives None.

    Example:
        >>> tf.numpy_function(np.sinh, [tf.constant([0.0])], tf.float32).numpy().tolist()
        [0.0]
    """
    if func is None:  # a decorator of the other arguments
        return lambda f: lambda *args: numpy_function(f, args, Tout, stateful, name)
    if state.graph is not None:
        return _numpy_staged(func, inp, Tout, stateful)
    result = nest.flatten(func(*[np.array(x) for x in inp]))
    tensors = [r if r is None else convert(r) for r in result]
    return tensors[0] if len(tensors) == 1 else tensors


def _numpy_staged(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool) -> Any:
    """The call as an operation of the graph that this thread builds."""
    from tapeflow.graph.ir.python_op import python_op

    many = isinstance(Tout, (list, tuple))
    specs = [TensorSpec(None, as_dtype(w).base_dtype) for w in (Tout if many else [Tout])]

    def run(*values: Any) -> Any:
        found = numpy_function(func, values, Tout)
        return found if isinstance(found, (list, tuple)) else [found]

    made = python_op("PyFunc" if stateful else "PyFuncStateless", run, [convert(x) for x in inp], specs, stateful)
    if not specs:
        return made
    return list(made.outputs) if many else made.outputs[0]
