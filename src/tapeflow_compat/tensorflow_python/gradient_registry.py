"""TensorFlow's registry of gradient functions under its own name, and calls that are recorded with entries of it."""

from __future__ import annotations

import types
from typing import Any

from tapeflow.autodiff.registered_gradients import function_of, registered
from tapeflow.core.autodiff.tape import record_function
from tapeflow.core.context import state

_gradient_registry = types.SimpleNamespace(_registry=registered)


def record_gradient(op_name: str, inputs: Any, attrs: Any, results: Any) -> None:
    """Records a call on the tapes of this thread, with the gradient that is registered under a name.

    Args:
        op_name: the name.
        inputs, results: the tensors.
        attrs: the attrs and their values, one after the other.

    Raises:
        LookupError: there is no such gradient.
    """
    if not state.tapes:
        return
    function = function_of(op_name)
    values = dict(zip(attrs[::2], attrs[1::2], strict=True)) if attrs else {}
    operation = types.SimpleNamespace(
        type=op_name, name=op_name, inputs=list(inputs), outputs=list(results), get_attr=values.__getitem__
    )
    record_function(op_name, inputs, results, lambda *dys: function(operation, *dys))
