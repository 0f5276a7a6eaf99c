"""Conditionals and loops of a graph. Their functions are traced, and become `if`, `for` and `while` statements of the
compiled graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.identities import identity, identity_op
from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies, name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeSpec, CompositeTensor, without_variables
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.nest_paths import flatten_up_to
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.transform.body import Body
from tapeflow.graph.transform.conditionals import common, conditional
from tapeflow.math.casting import cast_op

# ---- conditionals ----------------------------------------------------------------------------------------------------


def branch(
    index: TensorLike, functions: Sequence[Callable[[], Any]], names: Sequence[str], op_name: str, name: str
) -> Any:
    """Calls the function that a scalar index selects, and returns its result.

    Args:
        index: the index of the function; or a boolean, which selects the first of two functions if true.
        functions: the branches.
        names: their names, as attrs of the operation.
        op_name: the operation's name in error messages.
        name: the operation's name.

    Returns:
        The result of the selected function, with symbolic tensors for all its tensors.

    Raises:
        TypeError: the functions do not return the same structure of the same dtypes.
    """
    scope = state.graph.reserved_name(name)
    graphs = []
    for function, label in zip(functions, names, strict=True):
        graph = _function_graph(scope, _LABELS.get(label, label))
        graph.trace(function, (), {})
        graphs.append(graph)
    _give_tensors_for_operations(graphs, convert(index).dtype)
    _unify_index_dtypes(graphs)
    _check_same_structure(graphs, names, op_name)
    captured, places = _captures_of(graphs)
    operation = conditional(convert(index), captured, [Body(g) for g in graphs], names, places, f"{scope}/")
    with name_scope(f"{scope}/"):
        return graphs[0].result_packer()(list(map(identity, operation.outputs)))


_LABELS = {"then_branch": "true", "else_branch": "false"}  # in the functions' names
_numbers = itertools.count()


def _function_graph(scope: str, label: str) -> FuncGraph:
    """Returns the graph for a function that an operation calls.

    Args:
        scope: the operation's name.
        label: the label of the function in the operation.
    """
    inherits = state.graph.building_function
    graph = FuncGraph(f"{scope.replace('/', '_')}_{label}_{next(_numbers)}", scope if inherits else "")
    graph.compiler = getattr(state.graph, "compiler", state.compiler)
    graph.names_results = True
    return graph


def _captures_of(graphs: Sequence[FuncGraph]) -> tuple[list[Any], list[list[int]]]:
    """Returns the captures of several graphs, each once, and for each graph the places of its captures among them."""
    captured: dict[int, Any] = {}
    for graph in graphs:
        for outer, _ in graph.captures:
            captured.setdefault(outer._id or id(outer), outer)
    keys = list(captured)
    return list(captured.values()), [[keys.index(outer._id or id(outer)) for outer, _ in g.captures] for g in graphs]


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Computes `tf.cond` for a predicate that is not static.

    Raises:
        InvalidArgumentError: the predicate is no boolean.
        TypeError: the functions do not return the same structure of the same dtypes.
    """
    pred = convert(pred)
    if not pred.dtype.is_bool:
        raise errors.InvalidArgumentError.of(
            f"Input 'pred' of tf.cond is of dtype {pred.dtype.name}, and must be bool."
        )
    return branch(pred, (true_fn, false_fn), ("then_branch", "else_branch"), "tf.cond", name or "cond")


def _give_tensors_for_operations(graphs: Sequence[FuncGraph], dtype: DType) -> None:
    """Replaces operations in the branches' results by the index of the branch, with a control dependency.

    What depends on the result then depends on the operation, in graphs that sessions run.

    Args:
        graphs: the branches.
        dtype: the dtype of the index.
    """
    flattened = [nest.flatten(g.structured_outputs, expand_composites=True) for g in graphs]
    if not any(isinstance(leaf, Operation) for leaves in flattened for leaf in leaves):
        return
    for i, graph in enumerate(graphs):
        selects = convert(i == 0 if dtype.is_bool else i, dtype)

        def after(leaf: Operation | Tensor, selects: Tensor = selects) -> Any:
            if not isinstance(leaf, Operation):
                return leaf
            with control_dependencies([leaf]):
                return identity_op(selects)

        with graph.as_default():
            graph.set_result(nest.map_structure(after, graph.structured_outputs))


def _unify_index_dtypes(graphs: Sequence[FuncGraph]) -> None:
    """Casts the indices of `IndexedSlices` to int64 in all graphs if their dtypes differ between graphs."""
    flattened = [nest.flatten(g.structured_outputs) for g in graphs]
    if len({len(leaves) for leaves in flattened}) > 1:
        return  # `_check_same_structure` reports it
    for leaves in zip(*flattened, strict=True):
        if all(isinstance(leaf, IndexedSlices) for leaf in leaves) and len({leaf.indices.dtype for leaf in leaves}) > 1:
            break
    else:
        return
    for graph in graphs:
        with graph.as_default():
            graph.set_result(nest.map_structure(_with_int64_indices, graph.structured_outputs))


def _with_int64_indices(value: IndexedSlices) -> Any:
    if not isinstance(value, IndexedSlices):
        return value
    return IndexedSlices(value.values, cast_op(value.indices, int64), value.dense_shape)


def _check_same_structure(graphs: Sequence[FuncGraph], names: Sequence[str], op_name: str) -> None:
    """Raises a TypeError if branches return different structures or dtypes."""
    first = graphs[0].structured_outputs
    for graph, label in zip(graphs[1:], names[1:], strict=True):
        other = graph.structured_outputs
        try:
            nest.assert_same_structure(first, other, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"true_fn and false_fn arguments to {op_name} must have the same number, type, and overall structure "
                f"of return values.\n\n{names[0]} gives {first}\n{label} gives {other}\n\nError details:\n{error}"
            ) from None
        for a, b in zip(nest.flatten(first, True), nest.flatten(other, True), strict=True):
            if isinstance(a, SymbolicTensor) != isinstance(b, SymbolicTensor):
                raise TypeError(
                    f"{op_name}: {names[0]} gives {a} where {label} gives {b}: both must give a tensor, or None."
                )
            if isinstance(a, SymbolicTensor) and a.dtype is not b.dtype:
                raise TypeError(
                    f"true_fn and false_fn arguments to {op_name} must have the same number, type, and overall "
                    f"structure of return values.\n\n{names[0]} output: {a}\n{label} output: {b}\n\nError "
                    f"details:\nTensor {a.name} and {b.name} have different types: {a.dtype.name} and {b.dtype.name}"
                )


# ---- loops -----------------------------------------------------------------------------------------------------------


def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Sequence[Any] | None = None,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Computes `tf.while_loop` in a graph.

    Returns:
        The final values of the loop variables, in the structure of `loop_vars`.

    Raises:
        TypeError: a loop variable changes its dtype.
        ValueError: a loop variable changes its structure, or changes its shape without a shape invariant.
    """
    structure = nest.map_structure(_as_tensor, loop_vars)
    flat = [state.graph.capture(t) for t in nest.flatten(structure, expand_composites=True)]
    if shape_invariants is None:
        shapes = [t.shape for t in flat]
    else:
        shapes = _invariant_shapes(structure, shape_invariants)
        for t, s in zip(flat, shapes, strict=True):
            if not s.is_compatible_with(t.shape):
                raise ValueError(
                    f"The shape invariant specified for {t.name} is not compatible with the initial shape of the loop "
                    f"variable. It enters the loop with shape {t.shape}, but the specified shape invariant is {s}."
                )
    scope = state.graph.reserved_name(name or "while")
    graphs = []
    for function, label in (
        (condition, "cond"),
        (lambda *values: _check_result(body(*values), structure, shapes), "body"),
    ):
        graph = _function_graph(scope, label)
        with name_scope(graph.scope and f"{graph.scope}/"):
            inputs = [graph.input(TensorSpec(s, t.dtype), "Placeholder") for t, s in zip(flat, shapes, strict=True)]
            if label == "body":  # TensorFlow's body first returns the counter and the limit
                for _ in range(2):
                    graph.unique_name(identity_op.op.name)
        graph.trace(function, tuple(nest.pack_sequence_as(structure, inputs, expand_composites=True)), {})
        graphs.append(graph)
    condition_body, loop_body = (Body(g) for g in graphs)
    if len(condition_body.outputs) != 1 or not condition_body.outputs[0].dtype.is_bool:
        raise TypeError(
            f"The condition of a while_loop must give one boolean scalar, not {graphs[0].structured_outputs}."
        )
    captured, (in_condition, in_body) = _captures_of(graphs)
    limit = None if maximum_iterations is None else convert(maximum_iterations, int32)
    if limit is not None and limit.shape.rank not in (0, None):
        raise errors.InvalidArgumentError.of(f"maximum_iterations must be a scalar, but it has shape {limit.shape}")
    if isinstance(limit, EagerTensor):
        limit = state.graph.constant(limit, f"{scope}/maximum_iterations/")
    specs = [(t.dtype, common([s, o.shape])) for t, s, o in zip(flat, shapes, loop_body.outputs, strict=True)]
    places = in_condition, in_body
    from tapeflow.graph.transform.loops import loop

    operation = loop(flat, captured, condition_body, loop_body, places, specs, limit, f"{scope}/", counted=True)
    finals: list[Any] = operation.outputs[: len(flat)]
    if not state.graph.building_function:
        finals = [identity(t, name=f"{scope}/Identity_{t.value_index}/") for t in finals]
    return nest.pack_sequence_as(structure, finals, expand_composites=True)


def _invariant_shapes(structure: Sequence[TensorLike], invariants: Sequence[Any]) -> list[TensorShape]:
    """Returns the shape invariants of the tensors of the loop variables."""
    shapes: list[TensorShape] = []
    for value, invariant in zip(
        nest.flatten(structure), flatten_up_to(structure, invariants, check_types=False), strict=True
    ):
        if isinstance(value, CompositeTensor):
            spec: Any = invariant if isinstance(invariant, CompositeSpec) else value._type_spec
            shapes += [s.shape for s in nest.flatten(spec._component_specs, expand_composites=True)]
        else:
            shapes.append(TensorShape(getattr(invariant, "shape", invariant)))
    return shapes


def _as_tensor(value: Any) -> Any:
    if isinstance(value, Tensor) or (hasattr(value, "_type_spec") and not hasattr(value, "_read")):
        return without_variables(value)
    return convert(value)


def _check_result(result: Sequence[Any], structure: Sequence[Any], shapes: Sequence[TensorShape]) -> Any:
    """Returns the body's result as tensors in the structure of the loop variables.

    Raises:
        TypeError: an iteration changes the dtype of a loop variable.
        ValueError: an iteration changes the structure, or a shape violates its invariant.
    """
    if not isinstance(result, (list, tuple)):
        result = [result]
    result = nest.map_structure(without_variables, result)
    nest.assert_same_structure(structure, result, check_types=False, expand_composites=True)
    tensors = []
    for i, (before, value) in enumerate(
        zip(nest.flatten(structure, expand_composites=True), nest.flatten(result, expand_composites=True), strict=True)
    ):
        tensor = (
            value
            if isinstance(value, Tensor)
            else convert(value, before.dtype if isinstance(value, (int, float)) else None)
        )
        if tensor.dtype is not before.dtype:
            raise TypeError(
                f"Loop variable {i} enters the loop with dtype {before.dtype.name} and has dtype {tensor.dtype.name} "
                "after an iteration: it must stay the same. Cast it, or give it its later dtype before the loop."
            )
        if not _invariant_covers(shapes[i], tensor.shape):
            raise ValueError(
                f"Input tensor {before!r} enters the loop with shape {before.shape}, but has shape {tensor.shape} "
                "after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` "
                "argument of tf.while_loop to specify a less-specific shape."
            )
        tensors.append(tensor)
    return nest.pack_sequence_as(structure, tensors, expand_composites=True)


def _invariant_covers(invariant: TensorShape, shape: TensorShape) -> bool:
    """Returns True if `shape` satisfies `invariant`: no dimension differs from one that the invariant fixes."""
    if invariant.rank is None:
        return True
    if shape.rank != invariant.rank:
        return False
    return all(a is None or a == b for a, b in zip(invariant, shape, strict=True))
