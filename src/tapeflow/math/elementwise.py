"""Functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.op import op
from tapeflow.core.shape_rules import same
from tapeflow.core.tape import Call
from tapeflow.math.arithmetic import multiply
from tapeflow.math.gradients import conj


@op("Exp", kernel=torch.exp, shape=same)
def exp(x: Any, name: str | None = None) -> Any:
    """Computes `e ** x` element by element.

    Args:
        x: floating or complex.

    Example:
        >>> tf.exp([0.0, 1.0]).numpy().tolist()
        [1.0, 2.7182817459106445]
    """


@exp.gradient(needs="outputs")
def _(call: Call, dy: Any) -> Any:
    return multiply(dy, conj(call.outputs[0]))
