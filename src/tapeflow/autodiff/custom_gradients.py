"""Gradients that a program defines itself: `custom_gradient`, and functions built on it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, overload

from tapeflow.array.creation import zeros_like_op
from tapeflow.array.identities import identity_op
from tapeflow.autodiff import graph_gradients
from tapeflow.autodiff.gradient_tape import GradientTape
from tapeflow.autodiff.registered_gradients import new_name
from tapeflow.autodiff.targets_and_sources import UnconnectedGradients, gives_zeros
from tapeflow.core.autodiff.tape import Call, Tape, record_function
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import GraphOp


class AggregationMethod:
    """Methods of adding gradients, with TensorFlow's numbers. All have the same effect here.

    Example:
        >>> tf.AggregationMethod.DEFAULT == tf.AggregationMethod.ADD_N
        True
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@overload
def custom_gradient(f: None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@overload
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]: ...
def custom_gradient(f: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Decorates a function with its own gradient.

    Args:
        f: `f(*x)` returns `(y, grad_fn)`: its result (a nest of tensors), and a function that maps the gradients of the
            results to the gradients of the arguments. If `f` reads variables, `grad_fn` also takes `variables=`, and
            returns a pair: the gradients of the arguments, and a list of the variables' gradients. If `f` is None, a
            decorator is returned.

    Returns:
        A function of the same arguments that returns `y`.

    Raises:
        TypeError: `f` is not callable; or, in a call, `f` reads variables and `grad_fn` takes none.
        ValueError: in a gradient, `grad_fn` returns another number of gradients than there are arguments.

    Example:
        >>> @tf.custom_gradient
        ... def clipped(x):
        ...     return x * 1.0, lambda dy: tf.clip_by_value(dy, -1.0, 1.0)
        >>> x = tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = clipped(x) * 5.0
        >>> tape.gradient(y, x).numpy().item()
        1.0
    """
    if f is None:
        return custom_gradient
    if not callable(f):
        raise TypeError(f"custom_gradient takes a function, not {f!r}")

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _call_recorded(f, args, kwargs)

    return wrapped


def _call_recorded(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args = nest.map_structure(_convert_argument, args)
    inputs = [t for t in nest.flatten((args, kwargs), expand_composites=True) if isinstance(t, (Tensor, ReadAsTensor))]
    arguments = nest.flatten(args, expand_composites=True)
    if not state.tapes and state.graph is None:
        result, _ = f(*args, **kwargs)
        return nest.map_structure(_own_tensor, result, expand_composites=True)
    reads = Tape(persistent=False, watch_accessed=True)
    outer = state.tapes
    state.tapes = []
    reads.start()
    try:
        result, grad_fn = f(*args, **kwargs)
    finally:
        reads.stop()
        state.tapes = outer
    result = nest.map_structure(_own_tensor, result, expand_composites=True)
    input_ids = {id(t) for t in inputs}
    variables = [v for v in reads.variables.values() if id(v) not in input_ids]
    takes_variables = _takes_variables(grad_fn)
    if variables and not takes_variables:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
            f"{variables}"
        )
    outputs = nest.flatten(result, expand_composites=True)

    def gradient(*dys: Any) -> list[Any]:
        if variables:
            of_inputs, of_variables = grad_fn(*dys, variables=variables)
            of_variables = list(nest.flatten(of_variables)) if not isinstance(of_variables, Tensor) else [of_variables]
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            of_inputs, of_variables = grad_fn(*dys), []
        of_inputs = _flat_gradients(of_inputs)
        if len(of_inputs) != len(arguments):
            raise ValueError(
                f"custom_gradient function expected to return {len(arguments)} gradients, "
                f"but returned {len(of_inputs)} instead."
            )
        return [*of_inputs, *of_variables]

    if state.graph is not None:
        flat = _with_gradient(outputs, [*arguments, *variables], gradient)
        return nest.pack_sequence_as(result, flat, expand_composites=True)
    for tape in outer:
        for variable in [*variables, *(a for a in arguments if isinstance(a, ReadAsTensor))]:
            tape.variable_read(variable, variable._id)
    record_function(getattr(f, "__name__", "custom_gradient"), [*arguments, *variables], outputs, gradient)
    return result


def _with_gradient(outputs: list[Any], inputs: list[Any], gradient: Callable[..., list[Any]]) -> list[Any]:
    """Returns the outputs, in the graph that is being built, through an operation with this gradient."""
    count = len(outputs)

    def of_all(call: Call, *dys: Any) -> list[Any]:
        zeros = zeros_like_op
        filled = [zeros(o) if dy is None else dy for dy, o in zip(dys, call.outputs, strict=False)]
        return [*[None] * count, *gradient(*filled)]

    op = GraphOp("IdentityN", lambda *values: values[:count], gradient=of_all, gives_tuple=True)
    op.runs_python, op.view, op.gradient_name = False, True, new_name()
    specs = [(o.dtype, o.shape) for o in outputs]
    # Values of variables: TensorFlow's gradients go to them, and from there to the variables.
    return list(state.graph.node(op, [*outputs, *map(convert, inputs)], specs).outputs)


def _flat_gradients(value: TensorLike | None) -> list[Any]:
    """Returns the gradients in the result of a `grad_fn`; None and IndexedSlices are single ones."""
    if value is None or not isinstance(value, (list, tuple, dict)):
        return [value]
    return nest.flatten(value)


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(grad_fn).parameters
    except (TypeError, ValueError):
        return False
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _convert_argument(value: Tensor | Variable) -> Any:
    return value if isinstance(value, ReadAsTensor) else convert(value)


def _own_tensor(value: Tensor) -> Any:
    """Returns a tensor with a new identity, because a result of a function may be one of its arguments."""
    value = convert(value)
    return EagerTensor(value.value, value.dtype) if type(value) is EagerTensor else value


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function with a gradient that runs it again. A tape then keeps only its arguments alive.

    Args:
        f: a function of tensors.

    Returns:
        A function of the same arguments with the same results.

    Raises:
        TypeError: the returned function raises it if `f` can't be called.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.recompute_grad(lambda a: a * a)(x)
        >>> tape.gradient(y, x).numpy().item()
        6.0
    """

    @custom_gradient
    def recomputing(*args: Any, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)

        def grad(*dys: Any, variables: list[Variable] | None = None) -> Any:
            variables = variables or []
            with GradientTape() as tape:
                inputs = nest.map_structure(identity_op, list(args))  # outer tapes follow them to the arguments
                tape.watch([t for t in nest.flatten(inputs) if t.dtype.is_floating or t.dtype.is_complex])
                tape.watch(variables)
                again = f(*inputs, **kwargs)
            cotangents = tape.gradient(again, [*nest.flatten(inputs), *variables], output_gradients=list(dys))
            count = len(nest.flatten(inputs))
            return (cotangents[:count], cotangents[count:]) if variables else cotangents[:count]

        return result, grad

    return functools.wraps(f)(recomputing) if hasattr(f, "__name__") else recomputing


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function to pass gradients like the identity.

    Args:
        f: a function of one tensor, or with as many results as arguments, of equal shapes.

    Returns:
        A function of the same arguments with the same results.

    Raises:
        TypeError: the returned function raises it if `f` can't be called.

    Example:
        >>> x = tf.constant(1.5)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.grad_pass_through(tf.round)(x)
        >>> tape.gradient(y, x).numpy().item()
        1.0
    """

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*dys: Any, variables: Any = None) -> Any:
            cotangents = dys[0] if len(dys) == 1 and len(args) == 1 else list(dys)
            return (cotangents, [None] * len(variables)) if variables is not None else cotangents

        return f(*args, **kwargs), grad

    return passing


def gradients(
    ys: TensorLike | Mapping[Any, Any],
    xs: TensorLike | Mapping[Any, Any],
    grad_ys: TensorLike | Mapping[Any, Any] | None = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: TensorLike | Mapping[Any, Any] | None = None,
    unconnected_gradients: UnconnectedGradients | str | None = None,
) -> list[Any]:
    """Returns the gradients of the sum of `ys`, as tensors of the graph that is being built.

    Args:
        ys: tensors of any shapes, one or a nest.
        xs: tensors and variables of any shapes to differentiate by.
        grad_ys: the incoming gradients, one for each of `ys` and of its shape; by default ones.
        name: the name scope of the operations.
        gate_gradients, aggregation_method: accepted, and without effect.
        stop_gradients: tensors of any shapes that are treated as constants.
        unconnected_gradients: the gradient of an `x` that no `y` depends on, see `tf.UnconnectedGradients`.

    Returns:
        A list with a tensor (or `tf.IndexedSlices`) of the shape and dtype of `x`, or None, for each of `xs`.

    Raises:
        RuntimeError: no graph is being built.
        ValueError: `grad_ys` and `ys` differ in length, or `aggregation_method` is not in `tf.AggregationMethod`.
        TypeError: the dtype of an element of `grad_ys` differs from its `y`, or it is missing for a complex `y`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.constant(3.0)
        ...     print(sess.run(tf.gradients(x * x, x)))
        [np.float32(6.0)]
    """
    if state.graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are [0, 1, 2].")
    zeros = unconnected_gradients is not None and gives_zeros(unconnected_gradients)
    unconnected = UnconnectedGradients.ZERO if zeros else UnconnectedGradients.NONE
    return graph_gradients.gradients(ys, xs, grad_ys, name, stop_gradients, unconnected)


def hessians(
    ys: TensorLike | Mapping[Any, Any],
    xs: TensorLike | Mapping[Any, Any],
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    name: str = "hessians",
) -> list[Tensor]:
    """Returns the second derivatives of the sum of `ys` by each of `xs`, as tensors of the graph that is being built.

    All rows of a Hessian are computed at once.

    Args:
        ys: tensors of any shapes, one or a nest.
        xs: tensors and variables to differentiate by, of any shapes.
        gate_gradients, aggregation_method: accepted, and without effect.
        name: the name scope of the operations.

    Returns:
        A list with a tensor for each `x`. For an `x` of shape S, it has the shape S + S. It is zero if there is no
        second derivative.

    Raises:
        RuntimeError: no graph is being built.
        ValueError: `aggregation_method` is not in `tf.AggregationMethod`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.constant([1.0, 2.0])
        ...     print(sess.run(tf.hessians(tf.reduce_sum(x * x * x), x)[0]).tolist())
        [[6.0, 0.0], [0.0, 12.0]]
    """
    if state.graph is None or aggregation_method is not None:
        gradients([], [], aggregation_method=aggregation_method)  # raises the error
    return [graph_gradients.hessian(ys, x, name) for x in nest.flatten(xs)]
