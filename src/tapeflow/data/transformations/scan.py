"""`Dataset.scan`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core.types.spec import spec_of
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, OpFunction, state_function
from tapeflow.data.node import Node, Unary, dataset_op


@dataset_op("ScanDataset")
class Scan(Unary):
    """The outputs of a function of each element and a state that it passes on.

    Args:
        input_dataset: the node of the elements.
        first: the first state, an element.
        state_spec: the spec of all states.
        f: returns a pair of the new state and an output.
    """

    first: Element
    state_spec: Any
    f: MappedFunction

    same_size = preserve_cardinality = True

    @classmethod
    def of_op(cls, input_dataset: Node, initial_state: list[Any], f: OpFunction) -> Scan:
        states, results = tuple(map(spec_of, initial_state)), f.result_specs
        output_spec = (results[: len(states)], results[len(states) :])
        function = f.typed((states, input_dataset.spec), lambda _: output_spec)
        return cls(input_dataset, tuple([t.value for t in initial_state]), states, function)

    @classmethod
    def of(cls, node: Node, initial_state: Any, scan_func: Callable[..., Any]) -> Scan:
        """Returns the node for a user's first state and function."""
        first, spec = elements.normalize_value(initial_state)
        name, who = "Dataset.scan()", "Invalid `scan_func`. "
        function, spec = state_function(scan_func, name, spec, node.spec, _state_of_pair, who)
        return cls(node, elements.to_element(first), spec, function)

    def element_spec(self) -> Any:
        return self.f.output_spec[1]

    @property
    def initial_state(self) -> list[Any]:
        """The tensors of the first state."""
        return elements.encode_values(self.first, elements.flatten(self.state_spec))

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        state, function = self.first, self.f.caller()
        size = len(state)

        def output(element: Element) -> Element:
            nonlocal state
            result = function((*state, *element))
            state = result[:size]
            return result[size:]

        return map(output, inputs[0])


def _state_of_pair(spec: Any) -> Any:
    if type(spec) is not tuple or len(spec) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but "
            f"its return type is {spec}."
        )
    return spec[0]
