"""`if` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.creation import zeros
from tapeflow.autograph.operators.staged_values import (
    PYTHON_VALUES,
    as_tensor,
    checked_condition,
    is_staged,
    is_tensor_leaf,
)
from tapeflow.autograph.operators.variables import Undefined, UndefinedReturnValue
from tapeflow.control.conditions_and_loops import cond
from tapeflow.control.tensor_array import TensorArray, TensorArraySpec
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.spec import TensorSpec, TypeSpec, type_spec_from_value
from tapeflow.core.values import nest
from tapeflow.graph.ir.func_graph import FuncGraph

_BRANCHES = ("main", "else")


def if_stmt(
    condition: TensorLike,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
    outputs: int,
) -> None:
    """Runs `if condition: body() else: orelse()`.

    Args:
        condition: a tensor of the graph if the graph takes the branch; else a Python value.
        body, orelse: the branches, which read and write variables around them.
        get_state, set_state: functions that return and assign these variables.
        names: the names of the variables.
        outputs: the number of variables, the first ones, that are read afterwards; the others only in the branches.
    """
    if not is_staged(condition):
        if condition:
            body()
        else:
            orelse()
        return
    condition = checked_condition(condition, "if statement")
    before = get_state()

    def branch(function: Callable[[], None]) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            set_state(before)
            try:
                function()
                return list(get_state()[:outputs])
            finally:
                set_state(before)

        return run

    results = _stage_condition(condition, branch(body), branch(orelse), names[:outputs])
    set_state((*results, *before[outputs:]))


def if_exp(condition: Any, body: Callable[[], Any], orelse: Callable[[], Any], text: str) -> Any:
    """Returns `body() if condition else orelse()`; `text` is the condition's source."""
    if not is_staged(condition):
        return body() if condition else orelse()
    condition = checked_condition(condition, "conditional expression")
    return _stage_condition(condition, lambda: [body()], lambda: [orelse()], [text])[0]


def _stage_condition(
    condition: Any, body: Callable[[], list[Any]], orelse: Callable[[], list[Any]], names: Sequence[str]
) -> list[Any]:
    """Returns the variables after a staged condition: tensors, and Python values that are equal in both branches."""
    branches = _complete_branches(body, orelse, names)
    traced: list[Any] = []  # the variables after each branch

    def tracing(k: int) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            values = branches[k]()
            traced[k:] = [values]
            if k == 1:
                for name, one, other in zip(names, traced[0], values, strict=True):
                    _verify_kinds(name, one, other)
            return [as_tensor(v) for v in nest.flatten(values) if is_tensor_leaf(v)]

        return run

    tensors = cond(condition, tracing(0), tracing(1))
    remaining = iter(tensors if isinstance(tensors, (list, tuple)) else [] if tensors is None else [tensors])
    leaves = []
    for one, other in zip(nest.flatten(traced[0]), nest.flatten(traced[1]), strict=True):
        tensor = next(remaining) if is_tensor_leaf(one) else one
        leaves.append(one if type(one) is type(other) is bool and one is other else tensor)
    return nest.pack_sequence_as(traced[0], leaves)


def _complete_branches(
    body: Callable[[], list[Any]], orelse: Callable[[], list[Any]], names: Sequence[str]
) -> list[Callable[[], list[Any]]]:
    """Returns the branches. If only one sets a return value, and a flag records it, the other returns zeros for it."""
    values = [k for k, name in enumerate(names) if name.startswith("retval_")]
    flags = [name for name in names if name.startswith("do_return")]
    if not values or not flags:
        return [body, orelse]
    k = values[0]
    tried = [specs_of(branch, k) for branch in (body, orelse)]

    def filled(branch: Callable[[], list[Any]], other: Any) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            results = branch()
            if isinstance(results[k], Undefined) and not isinstance(other, Undefined):
                results[k] = nest.map_structure(zeros_of_spec, other)
            return results

        return run

    return [filled(body, tried[1]), filled(orelse, tried[0])]


def specs_of(function: Callable[[], Any], index: int | None = None) -> Any:
    """Returns the specs of a function's results, or of the result at an index, by tracing it in a temporary graph."""
    scratch = FuncGraph("scratch")
    with scratch.as_default():
        results = function()
        value = results if index is None else results[index]
        return nest.map_structure(lambda v: type_spec_from_value(as_tensor(v)) if is_tensor_leaf(v) else v, value)


def zeros_of_spec(spec: Any) -> Any:
    """Returns zeros of a spec, with 1 for unknown dimensions; any other value unchanged."""
    if isinstance(spec, TensorSpec):
        shape = [] if spec.shape.rank is None else [1 if n is None else n for n in spec.shape.as_list()]
        return zeros(shape, spec.dtype)
    if isinstance(spec, TensorArraySpec):
        return TensorArray(spec._dtype, 0, dynamic_size=True, element_shape=spec._element_shape)
    if isinstance(spec, TypeSpec):
        return nest.pack_sequence_as(
            spec, [zeros_of_spec(s) for s in nest.flatten(spec._component_specs)], expand_composites=True
        )
    return spec


def _verify_kinds(name: str, main: Any, other: Any) -> None:
    """Checks that a variable is of one kind after both branches.

    Raises:
        ValueError: it is undefined or None after one branch only.
        TypeError: its structure or dtypes differ.
    """
    for value, branch in zip((main, other), _BRANCHES, strict=True):
        if isinstance(value, Undefined) and not (isinstance(main, Undefined) and isinstance(other, Undefined)):
            if isinstance(value, UndefinedReturnValue):
                raise ValueError(f"the {branch} branch must also have a return statement.")
            raise ValueError(f"'{name}' must also be initialized in the {branch} branch")
    for value, branch in zip((main, other), _BRANCHES, strict=True):
        if value is None and main is not other:
            raise ValueError(f"'{name}' is None at the end of the {branch} branch.")
    try:
        nest.assert_same_structure(main, other)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"'{name}' must have the same nested structure in the main and else branches:\n\n{error}"
        ) from None
    for one, two in zip(nest.flatten(main), nest.flatten(other), strict=True):
        if is_tensor_leaf(one) and is_tensor_leaf(two):
            first, second = dtype_of(one), dtype_of(two)
            if first != second:
                raise TypeError(f"'{name}' has dtype {first} in the main branch, but dtype {second} in the else branch")
        elif one is not two and not (type(one) is type(two) and isinstance(one, Undefined)):
            raise TypeError(
                f"'{name}' is {one!r} in the main branch, but {two!r} in the else branch; where a tensor decides "
                "which, both must be tensors, or the same object"
            )


def dtype_of(value: Any) -> str:
    """Returns the name of the dtype that a value has as a tensor, or of the class of a composite value."""
    if isinstance(value, PYTHON_VALUES):
        value = as_tensor(value)
    return value.dtype.name if hasattr(value, "dtype") else value._type_spec.value_type.__name__
