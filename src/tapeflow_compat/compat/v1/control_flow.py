"""Conditionals, loops, Python functions and gradients with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array import tensor_text
from tapeflow.array.identities import identity
from tapeflow.array.tensor_text import element_text, printable
from tapeflow.control import conditions_and_loops
from tapeflow.control.py_function import numpy_function
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow_compat.compat.v1.behavior_flags import control_flow_v2_enabled

# ---- conditionals ----------------------------------------------------------------------------------------------------


def _function(name: str, function: Any, old_name: str, old: Any) -> Callable[..., Any]:
    """Returns a branch of `cond`, by either name."""
    if function is not None and old is not None:
        raise TypeError(f"cond(): '{name}' and '{old_name}' may not be set simultaneously.")
    branch = old if function is None else function
    if branch is None:
        raise TypeError(f"cond(): '{name}' argument required")
    if not callable(branch):
        raise TypeError(f"'{name}' must be callable.")
    return branch


def _staged() -> bool:
    """Returns True if control flow becomes operations on functions, not TensorFlow 1's own operations."""
    return state.graph is not None and (control_flow_v2_enabled() or state.graph.building_function)


def _unpacked(result: Any, strict: bool) -> Any:
    """Unpacks a list of one element, a branch's result, if TensorFlow 1 unpacks it."""
    single = isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if single and not strict and not _staged() else result


def cond(
    pred: Tensor, true_fn: Callable[..., Any] | None = None, false_fn: Any = None, strict: bool = False,
    name: str | None = None, fn1: Callable[..., Any] | None = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """Calls one of two functions, chosen by a predicate, see `tf.cond`.

    Args:
        pred: a boolean scalar.
        true_fn, fn1: a function without arguments, called if `pred` is true; by either name.
        false_fn, fn2: the same if `pred` is false. Both functions return tensors in the same structure.
        strict: whether lists of one element stay lists. By default the element is returned, eagerly, and in graphs
            after `disable_control_flow_v2`.

    Raises:
        TypeError: a function is missing, was passed under both names, or is no function.

    Example:
        >>> tf.compat.v1.cond(tf.constant(3) < 2, lambda: 1, lambda: 2)
        2
    """
    first = _function("true_fn", true_fn, "fn1", fn1)
    second = _function("false_fn", false_fn, "fn2", fn2)
    return _unpacked(conditions_and_loops.cond(pred, first, second, name), strict)


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """Calls the function of the first true predicate, see `tf.case`.

    Args:
        pred_fn_pairs: pairs of a boolean scalar and a function, in a list, or in a dict if their order means nothing.
        default: the function to call where no predicate is true.
        exclusive: checks that no more than one predicate is true.
        strict: see `cond`.

    Raises:
        TypeError: a pair is something else.
        InvalidArgumentError: no predicate is true, and there is no `default`.

    Example:
        >>> tf.compat.v1.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)])
        2
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    return _unpacked(conditions_and_loops.case(pairs, default, exclusive, True, name), strict)


# ---- loops -----------------------------------------------------------------------------------------------------------


def while_loop(
    cond: Any, body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Calls `body` on the loop variables as long as `cond` is true, see `tf.while_loop`.

    Args:
        cond: takes the loop variables and gives a boolean scalar.
        body: takes them and gives them anew, in the same structure; of a single one, it may give it alone.
        loop_vars: their first values, a list or a tuple.
        shape_invariants: the shapes that they keep, in the same structure.
        maximum_iterations: calls `body` no more often.
        return_same_structure: gives also a single loop variable in its list or tuple. Otherwise gives it alone;
            eagerly, only if `body` does, too.
        parallel_iterations, back_prop, swap_memory: accepted, and without effect.

    Raises:
        TypeError: `cond` or `body` is no function.
        ValueError: there are no loop variables.

    Example:
        >>> tf.compat.v1.while_loop(lambda x: x < 10, lambda x: x * 2, [tf.constant(1)]).numpy().item()
        16
    """
    if not callable(body):
        raise TypeError("'body' must be callable.")
    results = loop_vars
    eager_alone = False

    def listed(*values: Any) -> Any:
        nonlocal results, eager_alone
        results = body(*values)
        if not isinstance(results, (list, tuple)) and not (state.graph is None and return_same_structure):
            eager_alone = state.graph is None
            results = [results]
        return results

    outputs = conditions_and_loops.while_loop(
        cond, listed, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name
    )
    if state.graph is None:
        return outputs[0] if eager_alone else outputs
    flat = nest.flatten(outputs, expand_composites=True)
    staged = _staged()
    if not staged:  # in TensorFlow 1's graphs the results have the structure of `body`'s
        outputs = nest.pack_sequence_as(results, flat, expand_composites=True)
    if return_same_structure or len(flat) > 1:
        return outputs
    return flat[0] if staged else outputs[0]


# ---- order and Python functions --------------------------------------------------------------------------------------


def Print(
    input_: TensorLike, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns a tensor that prints others to the standard error stream when it is computed.

    Args:
        input_: the tensor to give.
        data: the tensors to print.
        message: what to print before them.
        first_n: prints that often only.
        summarize: the number of elements of each to print; by default 3, all of them if negative.

    Returns:
        A tensor equal to `input_`.

    Example:
        >>> x = tf.constant([1, 2])
        >>> tf.compat.v1.Print(x, [x], "x: ").numpy().tolist()  # prints x: [1 2]
        [1, 2]
    """
    left = -1 if first_n is None else first_n
    tensors = [convert(d) for d in data]
    dtypes = [t.dtype for t in tensors]

    def show(*values: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            limit = 3 if summarize is None else summarize
            texts = [_summary(v, d, limit) for v, d in zip(values, dtypes, strict=True)]
            tensor_text.print((message or "") + "".join(texts))
        return np.int32(0)

    tensor = convert(input_)
    with control_dependencies([numpy_function(show, tensors, int32)]):
        return identity(tensor, name=name)


def _summary(value: Any, dtype: Any, limit: int) -> str:
    """Returns the first elements of an array as TensorFlow 1 printed them, row by row: `[[1 2 3]...]`."""
    value = np.asarray(value)
    shown = value.size if limit < 0 else min(limit, value.size)
    texts = iter([printable(element_text(v, dtype)) for v in value.reshape(-1)[:shown]])
    left = shown

    def rows(shape: tuple[int, ...], inner: bool) -> str:
        nonlocal left
        if len(shape) <= 1:
            count = min(left, shape[0] if shape else 1)
            left -= count
            more = "..." if inner and count < shape[0] else ""
            return " ".join(next(texts) for _ in range(count)) + more
        return "".join([f"[{rows(shape[1:], True)}]" for _ in range(shape[0]) if left])

    return f"[{rows(value.shape, False)}{'...' if shown < value.size else ''}]"


# ---- gradients -------------------------------------------------------------------------------------------------------
