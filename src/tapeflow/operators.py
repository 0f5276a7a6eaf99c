"""The operators of tensors and variables: Python's symbols bound to the ops they stand for.

`x + y` is the op's own function, with no layer in between. The reflected forms swap the operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.op import operator
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.math import add, multiply, negative, subtract


def _reflected(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def reflected(self: Any, other: Any) -> Any:
        return function(other, self)

    reflected.__name__ = reflected.__qualname__ = name
    return reflected


_BINARY = {"add": add, "sub": subtract, "mul": multiply}
_UNARY = {"neg": negative}

for _name, _function in _BINARY.items():
    for _type in (Tensor, Variable):
        setattr(_type, f"__{_name}__", operator(_function, f"__{_name}__"))
        setattr(_type, f"__r{_name}__", _reflected(operator(_function, f"__{_name}__"), f"__r{_name}__"))
for _name, _function in _UNARY.items():
    for _type in (Tensor, Variable):
        setattr(_type, f"__{_name}__", _function)
