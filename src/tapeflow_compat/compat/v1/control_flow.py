"""Conditionals, loops, Python functions and gradients with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import control_flow, custom_gradients, functional, printing
from tapeflow.array import passing
from tapeflow.array.passing import identity
from tapeflow.autodiff.ends import UnconnectedGradients
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values import nest
from tapeflow.printing import element_text
from tapeflow.script import numpy_function
from tapeflow_compat.compat.v1.renamed import either
from tapeflow_compat.compat.v1.switches import control_flow_v2_enabled

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
    """Returns whether control flow becomes operations on functions, not TensorFlow 1's own operations."""
    return state.graph is not None and (control_flow_v2_enabled() or state.graph.building_function)


def _unpacked(result: Any, strict: bool) -> Any:
    """Unpacks a branch's result: a list of one element becomes that element, where TensorFlow 1 unpacks it."""
    single = isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if single and not strict and not _staged() else result


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False, name: str | None = None,
    fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """Calls one of two functions, as a predicate says, see `tf.cond`.

    Args:
        pred: a boolean scalar.
        true_fn, fn1: called without arguments if it is true, by either name.
        false_fn, fn2: the same if it is false. They give tensors in the same structure.
        strict: gives lists of one element as they are. Otherwise gives that element, eagerly, and in graphs after
            `disable_control_flow_v2`.

    Raises:
        TypeError: a function is missing, was passed under both names, or is no function.

    Example:
        >>> tf.compat.v1.cond(tf.constant(3) < 2, lambda: 1, lambda: 2)
        2
    """
    first = _function("true_fn", true_fn, "fn1", fn1)
    second = _function("false_fn", false_fn, "fn2", fn2)
    return _unpacked(control_flow.cond(pred, first, second, name), strict)


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
    return _unpacked(control_flow.case(pairs, default, exclusive, True, name), strict)


# ---- loops -----------------------------------------------------------------------------------------------------------


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
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

    outputs = control_flow.while_loop(
        cond, listed, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name
    )
    if state.graph is None:
        return outputs[0] if eager_alone else outputs
    flat = nest.flatten(outputs, expand_composites=True)
    staged = _staged()
    if not staged:  # there the structure is that of the results of `body`
        outputs = nest.pack_sequence_as(results, flat, expand_composites=True)
    if return_same_structure or len(flat) > 1:
        return outputs
    return flat[0] if staged else outputs[0]


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """Applies a function to each element along the first dimension, see `tf.map_fn`.

    Args:
        fn: takes an element (of each tensor of `elems`).
        elems: a tensor, or several of the same length in a structure.
        fn_output_signature, dtype: the dtype of what `fn` gives, by either name, in its structure; by default those of
            `elems`.
        parallel_iterations, back_prop, swap_memory, infer_shape: accepted, and without effect.

    Raises:
        TypeError: `fn` is no function.
        ValueError: the dtype was passed under both names.

    Example:
        >>> tf.compat.v1.map_fn(lambda x: x / 2, tf.constant([1, 2]), dtype=tf.float64).numpy().tolist()
        [0.5, 1.0]
    """
    signature = either("fn_output_signature", fn_output_signature, "dtype", dtype)
    return functional.map_fn(fn, elems, None, parallel_iterations, back_prop, swap_memory, infer_shape, name, signature)


def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Folds elements with a function and returns all intermediate results, see `tf.scan`.

    Args:
        fn: a function of its last result and an element.
        elems: a tensor, or several of the same length in a structure.
        initializer: its first argument at the beginning; by default the first element.
        reverse: goes from the last element to the first.
        parallel_iterations, back_prop, swap_memory, infer_shape: accepted, and without effect.

    Raises:
        TypeError: `fn` is no function.

    Example:
        >>> tf.compat.v1.scan(lambda total, x: total + x, tf.constant([1, 2, 3])).numpy().tolist()
        [1, 3, 6]
    """
    return functional.scan(
        fn, elems, initializer, parallel_iterations, back_prop, swap_memory, infer_shape, reverse, name
    )


def foldl(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Folds elements with a function, from the first one to the last one, see `tf.foldl`.

    The arguments are those of `scan`.

    Raises:
        TypeError: `fn` is no function.

    Example:
        >>> tf.compat.v1.foldl(lambda left, x: left - x, tf.constant([1, 2, 3])).numpy().item()
        -4
    """
    return functional.foldl(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def foldr(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Folds elements with a function, from the last one to the first one, see `tf.foldr`.

    The arguments are those of `scan`.

    Raises:
        TypeError: `fn` is no function.

    Example:
        >>> tf.compat.v1.foldr(lambda right, x: right - x, tf.constant([1, 2, 3])).numpy().item()
        0
    """
    return functional.foldr(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


# ---- order and Python functions --------------------------------------------------------------------------------------


def tuple_(tensors: Any, name: str | None = None, control_inputs: Any = None) -> Any:
    """Returns tensors that are available only when all of them are, and `control_inputs` have run; None stays None.

    Example:
        >>> [t.numpy().item() for t in tf.compat.v1.tuple([tf.constant(1), tf.constant(2)])]
        [1, 2]
    """
    return passing.tuple_(tensors, control_inputs, name)


def py_func(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """Calls a Python function with NumPy arrays, see `tf.numpy_function`.

    Args:
        func: takes an array for each of `inp`, and gives an array, or several.
        inp: tensors.
        Tout: the dtype of each array that it gives; eagerly, they keep theirs.
        stateful: whether it may give something else when it is called again.

    Raises:
        InvalidArgumentError: in a graph, it gives other dtypes.

    Example:
        >>> tf.compat.v1.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32).numpy().item()
        2.0
    """
    return numpy_function(func, inp, Tout, stateful, name)


def Print(
    input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
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
            printing.print((message or "") + "".join(texts))
        return np.int32(0)

    tensor = convert(input_)
    with control_dependencies([numpy_function(show, tensors, int32)]):
        return identity(tensor, name=name)


def _summary(value: Any, dtype: Any, limit: int) -> str:
    """Returns the first elements of an array as TensorFlow 1 printed them, row by row: `[[1 2 3]...]`."""
    value = np.asarray(value)
    shown = value.size if limit < 0 else min(limit, value.size)
    texts = iter([element_text(v, dtype) for v in value.reshape(-1)[:shown]])
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


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:  # fmt: skip
    """Returns the gradients of the sum of `ys`, as tensors of the graph that is being built, see `tf.gradients`.

    Args:
        ys, xs: tensors, or lists of them.
        grad_ys: the gradients of `ys`; by default ones.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: what to give for an x that no y depends on, None or zeros.
        colocate_gradients_with_ops, gate_gradients, aggregation_method: accepted, and without effect.

    Returns:
        A list with a gradient for each x.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.constant(3.0)
        ...     print(sess.run(tf.compat.v1.gradients(x * x, [x]))[0])
        6.0
    """
    return custom_gradients.gradients(
        ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients
    )


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> Any:  # fmt: skip
    """Returns the second derivatives of the sum of `ys`, as tensors of the graph that is being built, see
    `tf.hessians`.

    The arguments are those of `gradients`.

    Returns:
        A list with a tensor for each x, of its shape twice.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.constant([1.0, 2.0])
        ...     print(sess.run(tf.compat.v1.hessians(x[0] * x[0] * x[1], x))[0].tolist())
        [[4.0, 2.0], [2.0, 0.0]]
    """
    return custom_gradients.hessians(ys, xs, gate_gradients, aggregation_method, name)
