"""The table of TFLite forms: for each op of TensorFlow, the function that adds its operators to a subgraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# A form takes the `Writer` of a subgraph, the call, and a tensor (or a list of tensors) for each input of the op's
# definition. It returns the tensor of the result, or a list of tensors.
Form = Callable[..., Any]

FORMS: dict[str, Form] = {}


def form(*names: str) -> Callable[[Form], Form]:
    """Adds a function to the table.

    Args:
        names: TensorFlow's names of ops.
    """

    def add(function: Form) -> Form:
        FORMS.update(dict.fromkeys(names, function))
        return function

    return add


class NoForm(Exception):
    """A call of an op has no form in TFLite. The argument says which calls have one."""
