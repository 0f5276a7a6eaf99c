"""Python functions as ops: `tf.py_function` and `tf.numpy_function`. In eager mode they are called directly."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert, datatype_name, from_array
from tapeflow.core.rng.seeds import own_streams
from tapeflow.core.tracebacks import user_traceback
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir.python_op import python_op

# The errors that Python errors inside a `py_function` become; all others become UnknownError.
_ERRORS: list[tuple[type[Exception], Callable[..., errors.OpError]]] = [
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
]


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: DTypeLike | TypeSpec | Sequence[DTypeLike | TypeSpec] = None,
    name: str | None = None,
) -> Any:
    """Calls a Python function on eager tensors; gradients pass through the ops that it runs.

    Args:
        func: takes a tensor for each in `inp`, and returns a value of `Tout`, or a list of them: a list is never one
            value. If it is None, a decorator is returned.
        inp: a list of values of any shapes that are converted to tensors, or composite tensors.
        Tout: a dtype or spec, or a list or tuple of them; empty for no result.

    Returns:
        A tensor, or a list of tensors if `Tout` is a list or tuple. The shapes are the shapes of `func`'s results.

    Raises:
        InvalidArgumentError: `func` raised a TypeError or ValueError, or did not return values of `Tout`.
        UnknownError: `func` raised another error.

    Example:
        >>> tf.py_function(lambda x: x.numpy() * 2, [tf.constant([1.0, 2.0])], tf.float32).numpy().tolist()
        [2.0, 4.0]
    """
    if func is None:  # a decorator of the other arguments
        return lambda f: lambda *args: py_function(f, args, Tout, name)
    args: Any = inp
    inputs = [x if hasattr(x, "_type_spec") and not hasattr(x, "_read") else convert(x) for x in args]
    many = isinstance(Tout, (list, tuple))
    types: list[Any] = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]
    if state.graph is not None:
        return _call_in_graph(func, inputs, types, many)
    try:
        results = _declared_results(called_outside(func, inputs), types, func)
    except errors.OpError:
        raise
    except Exception as error:
        raise error_of_op(error, f"[Op:EagerPyFunc] name: {name or ''}") from error
    return results if many else results[0]


def error_of_op(error: Exception, where: str) -> errors.OpError:
    """Returns the error of an op that calls Python, for an error that the Python code raised.

    Its message has the traceback: it may be all that a user sees of the error, which crosses graphs and threads.

    Args:
        error: the Python error.
        where: the op, as it appears in the message.
    """
    kind: Callable[..., errors.OpError] = next(
        (k for base, k in _ERRORS if isinstance(error, base)), errors.UnknownError
    )
    what = f"{type(error).__name__}: {error}"
    frames = traceback.format_tb(user_traceback(error.__traceback__))
    if frames:
        what = "\n".join([what, "Traceback (most recent call last):\n", *frames, f"{what}\n\n"])
    return kind(None, None, f"{what} {where}")


def called_outside(func: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Calls a program's function from an op. Its own random ops go on where the program's are."""
    with own_streams(None):
        return func(*args)


def _call_in_graph(func: Callable[..., Any], inputs: list[Any], types: list[Any], many: bool) -> Any:
    """Adds the call to the graph that this thread builds, and returns its outputs."""
    flat = nest.flatten(inputs, expand_composites=True)
    specs = [w if isinstance(w, TypeSpec) else TensorSpec(None, as_dtype(w).base_dtype) for w in types]

    def run(*values: Any) -> Any:
        arguments = nest.pack_sequence_as(inputs, list(values), expand_composites=True)
        return nest.flatten(py_function(func, arguments, types), expand_composites=True)

    operation = python_op("EagerPyFunc", run, flat, [t for s in specs for t in s.flatten()], differentiable=True)
    if not specs:
        return operation
    tensors = iter(operation.outputs)
    results = [s.from_tensors(tensors) for s in specs]
    return results if many else results[0]


def _declared_results(result: TensorLike | None, types: list[Any], func: Callable[..., Any]) -> list[Any]:
    """Returns the results of a function, in the dtypes and specs that were declared."""
    if result is None:
        values: list[Any] = []
    elif isinstance(result, (list, tuple)):
        values = list(result)[: len(types)]
    else:
        values = [result]
    if len(values) < len(types):
        raise _other_number(func, values, types, "EagerPyFunc")
    if values and not types:
        raise IndexError(f"{func!r} returned a value, but Tout is empty")
    return [_convert_result(value, kind, func) for value, kind in zip(values, types, strict=False)]


def _other_number(func: Callable[..., Any], values: Sequence[Any], types: Sequence[Any], op: str) -> errors.OpError:
    """Returns the error for a function that returned another number of values than it should."""
    message = f"{func!r} returns {len(values)} values, but expects to see {len(types)} values. [Op:{op}]"
    return errors.InvalidArgumentError.of(message)


def _convert_result(value: int | np.ndarray, kind: DType, func: Callable[..., Any]) -> Any:
    if not isinstance(kind, TypeSpec) or kind._is_composite is False:
        if hasattr(value, "_type_spec") and not hasattr(value, "_read"):
            raise ValueError(f"py_function: func={func} returned {value}, which did not match Tout={kind}.")
        return convert(value, kind.dtype if isinstance(kind, TensorSpec) else as_dtype(kind).base_dtype)
    if not kind.is_compatible_with(value):
        raise ValueError(f"py_function: func={func} returned {value}, which did not match Tout={kind}.")
    return value


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: DTypeLike | Sequence[DTypeLike] = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function on NumPy arrays; no gradient passes.

    Args:
        func: takes an array for each in `inp`, and returns arrays. If it is None, a decorator is returned.
        inp: a list of values of any shapes that are converted to arrays.
        Tout: the dtypes of the results. In a graph, they must have exactly these: a Python float is a float64.
        stateful: True if two calls with equal inputs may differ. A graph must not merge or drop them then.

    Returns:
        A tensor; a list of tensors if `func` returns several; None if it returns None.

    Raises:
        InvalidArgumentError: when a graph runs, `func` raised a TypeError or ValueError, or returned another number of
            values or other dtypes than `Tout`.

    Example:
        >>> tf.numpy_function(np.sinh, [tf.constant([0.0])], tf.float32).numpy().tolist()
        [0.0]
    """
    if func is None:  # a decorator of the other arguments
        return lambda f: lambda *args: numpy_function(f, args, Tout, stateful, name)
    args: Any = inp
    if state.graph is not None:
        return _numpy_staged(func, [convert(x) for x in args], Tout, stateful)
    result = nest.flatten(called_outside(func, [np.array(x) for x in args]))
    tensors = [r if r is None else convert(r) for r in result]
    return tensors[0] if len(tensors) == 1 else tensors


def _numpy_staged(func: Callable[..., Any], inputs: list[Any], Tout: Any, stateful: bool) -> Any:
    """Adds the call to the graph that this thread builds, and returns its outputs."""
    many = isinstance(Tout, (list, tuple))
    specs = [TensorSpec(None, as_dtype(w).base_dtype) for w in (Tout if many else [Tout])]

    def run(*values: Any) -> Any:
        try:
            result = called_outside(func, [_copy_argument(v) for v in values])
            items = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
            arrays = [np.asarray(item) for item in items]
        except errors.OpError:
            raise
        except Exception as error:
            raise error_of_op(error, "[Op:PyFunc]") from error
        try:
            tensors = list(map(from_array, arrays))
        except ValueError as error:
            raise errors.InternalError.of(f"{error} [Op:PyFunc]") from error
        if len(tensors) != len(specs):
            raise _other_number(func, tensors, specs, "PyFunc")
        for i, (tensor, spec) in enumerate(zip(tensors, specs, strict=True)):
            if tensor.dtype is not spec.dtype:
                raise errors.InvalidArgumentError.of(
                    f"{i}-th value returned by {func!r} is {datatype_name(tensor.dtype)}, but expects "
                    f"{datatype_name(spec.dtype)} [Op:PyFunc]"
                )
        return tensors

    operation = python_op("PyFunc" if stateful else "PyFuncStateless", run, inputs, specs, stateful)
    if not specs:
        return operation
    return list(operation.outputs) if many else operation.outputs[0]


def _copy_argument(tensor: Tensor) -> Any:
    """Returns a copy of a tensor's elements: an array, or NumPy's number or bytes for a scalar."""
    array = np.array(tensor)
    return array if array.ndim else array[()]
