"""Raw ops on TensorFlow 1's references, in graphs: calls of the ops that take handles instead."""

from __future__ import annotations

import typing
from collections.abc import Callable

from tapeflow.core.context import state
from tapeflow.core.ops import op_def
from tapeflow.core.values.variable import Variable
from tapeflow_compat.v1_graphs.reference_variables import op_on_handles


def call(name: str, arguments: dict[str, typing.Any], raw_op: Callable[[str], typing.Any]) -> typing.Any:
    """Calls, in a graph, the op on handles that stands for an op on references.

    Args:
        name: the op.
        arguments: by the names of its parameters.
        raw_op: returns the raw op of a name.

    Returns:
        Its results. If the op on handles has none, the new value of the variable in the first argument.

    Raises:
        NotImplementedError: no op on handles does the same.
    """
    form = op_on_handles(name)
    if form is None:
        raise NotImplementedError(f"tf.raw_ops.{name} takes references, which variables and resources here are not")
    definition, target = op_def.get(name), op_def.get(form)
    attrs = {n: v for n, v in arguments.items() if n in target.attrs and n not in op_def.implied_attrs(target)}
    values = [arguments[a.name] for a in definition.inputs]
    inputs = [v.handle if isinstance(v, Variable) and a.is_ref else v
              for v, a in zip(values, definition.inputs, strict=True)]  # fmt: skip
    named = {a.name: v for a, v in zip(target.inputs, inputs, strict=True)}
    result = raw_op(form)(**named, **attrs, name=arguments.get("name"))
    if target.outputs or not isinstance(values[0], Variable):
        return result
    return state.graph.read_of(values[0], after=result)
