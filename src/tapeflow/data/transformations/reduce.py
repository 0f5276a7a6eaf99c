"""`Dataset.reduce`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.op_def import NO_DEFAULT
from tapeflow.core.types.spec import spec_of
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, OpFunction, state_function
from tapeflow.data.node import Node, add_operation, declared_shapes, op_kernel
from tapeflow.data.threads import IteratorState, running, working_for


def reduce_node(node: Node, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """Returns the state after a user's function has run for all elements, as the user sees it."""
    initial, first_spec = elements.normalize_value(initial_state)
    function, spec = state_function(reduce_func, "reduce()", first_spec, node.spec, lambda s: s)
    if state.graph is None:
        return elements.Packer(spec)(_run_reduction(node, elements.to_element(initial), function))
    types, shapes = elements.element_attrs(spec)
    fields = {
        "input_dataset": node.variant,
        "initial_state": elements.encode_values(elements.flatten(initial), elements.flatten(first_spec)),
        "f": function,
        "output_types": types,
        "output_shapes": shapes,
    }
    return elements.pack_element(spec, add_operation("ReduceDataset", lambda name, _: fields.get(name, NO_DEFAULT)))


def _run_reduction(node: Node, state: Element, function: MappedFunction) -> Element:
    with working_for(IteratorState(running.state and running.state.log)):
        step = function.caller()
        for element in node.outermost().iterate():
            state = step((*state, *element))
    return state


@op_kernel("ReduceDataset", shape=declared_shapes)
def _reduce_dataset(input_dataset: Node, initial_state: list[Any], f: OpFunction) -> Element:
    function = f.typed((tuple(map(spec_of, initial_state)), input_dataset.spec))
    return _run_reduction(input_dataset, tuple([t.value for t in initial_state]), function)
