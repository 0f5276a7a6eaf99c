"""Conditions and loops as functions, and assertions. In eager mode they are Python's own control flow."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.array.concat_and_split import stack
from tapeflow.array.tensor_text import element_text, escape_bytes, printable
from tapeflow.control.tensor_array import TensorArray
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.arguments import is_tensor_like
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies, name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.spec import type_spec_from_value
from tapeflow.core.values import nest
from tapeflow.core.values.composite import without_variables
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, invalid
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import assert_op
from tapeflow.graph.transform import control_flow as staged
from tapeflow.math.casting import cast
from tapeflow.math.reduction import count_nonzero


def cond(
    pred: TensorLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Returns `true_fn()` if `pred` is true, else `false_fn()`.

    Args:
        pred: a boolean scalar.
        true_fn, false_fn: functions without arguments. In a graph both are traced, and must return nests of tensors
            of the same structure and dtypes.

    Returns:
        The result of the function that was called; in a graph, a nest of tensors.

    Raises:
        TypeError: `true_fn` or `false_fn` is not callable.

    Example:
        >>> x = tf.constant(2.0)
        >>> tf.cond(x > 1.0, lambda: x * 10.0, lambda: x).numpy().item()
        20.0
    """
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if type(pred) is not bool and not is_tensor_like(pred):
        pred = convert(pred)
    if is_symbolic(pred):
        return staged.cond(pred, true_fn, false_fn, name)
    return true_fn() if pred else false_fn()


def is_symbolic(value: Any) -> bool:
    """Returns True if a value is a tensor of a graph, or a variable while one is built."""
    return isinstance(value, SymbolicTensor) or (state.graph is not None and isinstance(value, ReadAsTensor))


def case(
    pred_fn_pairs: Sequence[tuple[TensorLike, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str | None = "case",
) -> Any:
    """Calls the function of the first true predicate.

    Args:
        pred_fn_pairs: pairs of a boolean scalar tensor and a function without arguments.
        default: called if no predicate is true.
        exclusive: at most one predicate may be true.
        strict: accepted, and without effect.

    Returns:
        The result of the function that was called; in a graph, a nest of tensors.

    Raises:
        InvalidArgumentError: no predicate is true and there is no default, or several are true though `exclusive`.
        TypeError: a predicate is not a boolean tensor, or a function is not callable.
        ValueError: there are no pairs, or they are a dict (which has no order) and not `exclusive`.

    Example:
        >>> x = tf.constant(5)
        >>> tf.case([(x < 3, lambda: "small"), (x < 10, lambda: "medium")], default=lambda: "large")
        'medium'
    """
    if not isinstance(pred_fn_pairs, (list, tuple, Mapping)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}")
    if isinstance(pred_fn_pairs, Mapping):
        if not exclusive:
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when `exclusive=False` "
                "and eager mode is enabled."
            )
        pred_fn_pairs = list(pred_fn_pairs.items())
    if not pred_fn_pairs:
        raise ValueError("'pred_fn_pairs' must hold at least one pair.")
    predicates, functions = zip(*[_checked_pair(pair) for pair in pred_fn_pairs], strict=True)
    if default is not None and not callable(default):
        raise TypeError(f"'default' must be callable, got: {default}")
    if any(map(is_symbolic, predicates)):
        return _staged_case(predicates, functions, default, exclusive, name)
    values = [bool(p) for p in predicates]
    # Without a default the last function is the default of the others, and its predicate is not checked.
    if exclusive and sum(values if default is not None else values[:-1]) > 1:
        raise _no_case("exclusive=True: more than 1 conditions (?, ?) evaluated as True", values)
    for value, function in zip(values, functions, strict=True):
        if value:
            return function()
    if default is None:
        raise _no_case("None of conditions evaluated as True", values)
    return default()


def _staged_case(
    predicates: Sequence[Any], functions: Sequence[Callable[[], Any]], default: Any, exclusive: bool, name: str | None
) -> Any:
    """Builds `case` in a graph: a chain of conditionals. Without a default, it ends with the last function."""
    chain = default
    if default is None:
        chain = functools.partial(_checked_last, predicates, functions[-1])
        predicates, functions = predicates[:-1], functions[:-1]
    checks = [_at_most_one(predicates)] if exclusive and predicates else []
    with name_scope(name or "case"), control_dependencies(checks):
        for predicate, function in zip(predicates[::-1], functions[::-1], strict=True):
            chain = functools.partial(cond, predicate, function, chain)
        return chain()


def _checked_last(predicates: Sequence[Any], function: Callable[[], Any]) -> Any:
    """Calls the last function of `case`, and checks that the last predicate is true."""
    data = ["Input error: None of conditions evaluated as True:", stack(predicates)]
    with control_dependencies([Assert(predicates[-1], data, len(predicates))]):
        return function()


def _at_most_one(predicates: Sequence[Any]) -> Operation | None:
    values = stack(predicates)
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    problem = f"Input error: exclusive=True: more than 1 conditions ({names}) evaluated as True:"
    return Assert(count_nonzero(values) <= 1, [problem, values], len(predicates))


def _checked_pair(pair: Any) -> tuple[Any, Callable[[], Any]]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {_static_bool(pair)}.")
    pred, function = pair
    pred = pred.deref() if hasattr(pred, "deref") else pred
    if not is_tensor_like(pred):
        raise TypeError(f"pred must be a Tensor, got: {pred}")
    if not pred.dtype.is_bool:
        raise TypeError(f"pred must be a boolean Tensor, got one of {pred.dtype.name}.")
    if not callable(function):
        raise TypeError(f"The function of pred {_static_bool(pred)} must be callable, got: {function}")
    return pred, function


def _static_bool(value: Any) -> Any:
    return bool(value) if isinstance(value, EagerTensor) and value.dtype.is_bool and not value.ndim else value


def _no_case(problem: str, values: Sequence[bool]) -> Exception:
    return _assertion_error(convert(False), [convert(f"Input error: {problem}:"), convert(list(values))], len(values))


def switch_case(
    branch_index: TensorLike,
    branch_fns: Mapping[int, Callable[..., Any]] | Sequence[Callable[..., Any]] | Sequence[tuple[int, Any]],
    default: Callable[[], Any] | None = None,
    name: str | None = "switch_case",
) -> Any:
    """Calls the function of an index.

    Args:
        branch_index: an integer scalar tensor.
        branch_fns: functions without arguments in a list, or a dict or pairs of an index and a function.
        default: called for an index without a function; by default the function of the greatest index.

    Returns:
        The result of the function that was called; in a graph, a nest of tensors.

    Raises:
        TypeError: the index is not an integer tensor, or a function is not callable.
        InvalidArgumentError: the index is not a scalar.
        ValueError: there are no functions, or the indices are not 0, 1, 2, ...

    Example:
        >>> tf.switch_case(tf.constant(1), [lambda: "a", lambda: "b"])
        'b'
    """
    if not is_tensor_like(branch_index):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    index: Any = branch_index
    if not index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {index.dtype}")
    if index.shape.rank not in (0, None):
        raise invalid(f"'branch_index' must be a scalar, got one of shape {index.shape}")
    branches = _indexed_branches(branch_fns)
    if default is not None and not callable(default):
        raise TypeError(f"Argument `default` must be callable, got {default}")
    if is_symbolic(index):
        functions = [branches[i] for i in sorted(branches)]
        return _staged_switch(index, functions if default is None else [*functions, default], name)
    return branches.get(int(index), default or branches[max(branches)])()


def _staged_switch(branch_index: Any, functions: Sequence[Callable[[], Any]], name: str | None) -> Any:
    """Builds `switch_case` in a graph. The last function is also the default."""
    labels = [f"branch{i}" for i in range(len(functions))]
    with name_scope(name or "switch_case"):
        index = convert(branch_index)
        index = index if index.dtype is int32 else cast(index, int32)
        return staged.branch(index, functions, labels, "tf.switch_case", "indexed_case")


def _indexed_branches(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    """Returns the functions by their index."""
    if isinstance(branch_fns, Mapping):
        pairs = list(branch_fns.items())
    elif not isinstance(branch_fns, (list, tuple)):
        raise TypeError(f"'branch_fns' must be a list, tuple, or dict. Received: {type(branch_fns)}")
    else:
        pairs = list(enumerate(branch_fns) if all(map(callable, branch_fns)) else branch_fns)
    if not pairs:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], int):
            raise TypeError(f"Key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    indices = sorted(k for k, _ in pairs)
    if indices != list(range(len(pairs))):
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {indices}")
    return dict(pairs)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Sequence[Any] | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Repeats `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true.

    Args:
        cond: takes the loop variables and returns a boolean scalar.
        body: takes the loop variables and returns new ones, in the same structure.
        loop_vars: a list or tuple of tensors, or nests of them.
        shape_invariants: the shapes of the loop variables in all iterations, needed if a graph can't derive them.
        parallel_iterations, back_prop, swap_memory: accepted, and without effect.
        maximum_iterations: the most iterations, an integer scalar.

    Returns:
        The last loop variables, as tensors, in the structure of `loop_vars`.

    Raises:
        TypeError: `cond` or `body` is not callable, or `body` returns no list or tuple.
        ValueError: there are no loop variables, or their structure changes.

    Example:
        >>> i, total = tf.while_loop(lambda i, total: i < 4, lambda i, total: (i + 1, total + i), (0, 0))
        >>> total.numpy().item()
        6
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    if state.graph is not None:
        return staged.while_loop(cond, body, loop_vars, shape_invariants, maximum_iterations, name)
    loop_vars = nest.map_structure(without_variables, loop_vars)
    structure = nest.map_structure(type_spec_from_value, list(loop_vars))
    limit: Any = maximum_iterations
    for _ in itertools.count() if limit is None else range(int(limit)):
        if not cond(*loop_vars):
            break
        result = body(*loop_vars)
        if not isinstance(result, (list, tuple)):
            raise TypeError(f"'body' must give a list or tuple of {len(structure)} loop variables, not {result!r}")
        loop_vars = nest.map_structure(without_variables, result)
        nest.assert_same_structure(structure, list(loop_vars))
    return nest.map_structure(_convert_unless_array, loop_vars, expand_composites=True)


def _convert_unless_array(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert(value)


def Assert(
    condition: TensorLike, data: Sequence[TensorLike], summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Raises an error unless `condition` is true.

    Args:
        condition: a boolean scalar.
        data: tensors of any shape to show in the error.
        summarize: the number of elements of each to show; 3 by default, all for -1.

    Returns:
        None; in a graph, the operation that checks.

    Raises:
        InvalidArgumentError: `condition` is not true.
        TypeError: `data` is not a list or tuple.

    Example:
        >>> tf.Assert(tf.constant(2) > 1, ["too small"])
    """
    if not isinstance(data, (list, tuple)):
        raise TypeError("values must be a sequence.")
    tensors = [convert(d) for d in data]
    summarize = 3 if summarize is None else summarize
    if state.graph is None:
        if not condition:
            raise _assertion_error(condition, tensors, summarize)
        return None
    if not data:
        raise ValueError("Attr 'T' of 'Assert' Op passed list of length 0 less than minimum 1.")
    return assert_op(check_assertion(summarize), convert(condition), tensors, summarize)


def check_assertion(summarize: int) -> Callable[..., None]:
    """Returns the function that an `Assert` in a graph runs. It takes the condition and the data.

    Args:
        summarize: the number of elements of each tensor in the message; all for -1.
    """

    def check(holds: Any, *shown: Any) -> None:
        if not holds:
            elements = " ".join([f"[{_first_elements(d, summarize)}]" for d in shown])
            raise invalid(f"assertion failed: {printable(elements)}")

    return check


def _first_elements(tensor: EagerTensor, count: int) -> str:
    """Returns the first elements of a tensor as TensorFlow's graphs write them: rows in brackets without commas."""
    array = tensor._array()
    size = array.size
    left = count if 0 <= count < size else size

    def written(part: Any, depth: int) -> str:
        nonlocal left
        if depth == array.ndim:
            left -= 1
            return escape_bytes(part) if isinstance(part, bytes) else element_text(part, tensor.dtype)
        texts = [written(item, depth + 1) for item in itertools.takewhile(lambda _: left, part)]
        if depth + 1 < array.ndim:
            return "".join(f"[{text}]" for text in texts)
        return " ".join(texts) + ("..." if depth and len(texts) < len(part) else "")

    text = written(array if array.ndim else array[()], 0)
    return f"{text}..." if 0 <= count < size else text


def _assertion_error(condition: Any, data: Sequence[EagerTensor], summarize: int) -> Exception:
    summary = "\n".join(_summarize_tensor(d, summarize) for d in data)
    return invalid(f"Expected '{condition!s}' to be true. Summarized data: {summary}")


def _summarize_tensor(tensor: EagerTensor, count: int) -> str:
    flat = tensor._array().reshape(-1)
    shown = flat if count < 0 or len(flat) <= count else flat[:count]
    return ", ".join([str(v) for v in shown] + (["..."] if len(shown) < len(flat) else []))


hooks.while_loop, hooks.cond, hooks.check = while_loop, cond, Assert
