"""The changeable form of a .tflite file: subgraphs of operators on tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.types.dtypes import DType, bfloat16, float16, float32
from tapeflow.core.values.symbolic import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.graph.ir.operation import Operation


def lite_dtype(dtype: DType) -> DType:
    """Returns the dtype that a file has for a dtype. The runtime computes half precision in float32."""
    return float32 if dtype in (float16, bfloat16) else dtype


def static_shape(tensor: SymbolicTensor) -> tuple[int | None, ...]:
    """Returns a tensor's static shape; of a list, a scalar's."""
    return () if tensor.shape.rank is None else tuple(tensor.shape.as_list())


class LiteTensor:
    """A tensor of a subgraph.

    Attributes:
        name: its name in the file.
        dtype: its dtype.
        shape: its static shape, with None for a dimension of any size. A file has no other unknown shapes: a tensor of
            unknown rank is a scalar there.
        value: the array of a constant, or None.
        partial: the numbers of an integer vector whose value is partly known, with None for the unknown ones; or None.
    """

    def __init__(
        self, name: str, dtype: DType, shape: Sequence[int | None], value: np.ndarray | None = None,
        partial: Sequence[int | None] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.dtype = name, dtype
        self.shape: tuple[Any, ...] = tuple(shape)
        self.value: Any = value
        self.partial = partial

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<{self.name} {self.dtype.name}{list(self.shape)}{'' if self.value is None else ' constant'}>"


class LiteOperator:
    """An operator of a subgraph.

    Attributes:
        code: its name among the schema's builtin operators, such as "CONV_2D".
        inputs: tensors. None stands for an optional input that is left out.
        outputs: tensors.
        options: the fields of its options, by the schema's names. A subgraph stands for its number.
        source: the operation that it came from, or None.
    """

    def __init__(
        self, code: str, inputs: Sequence[LiteTensor | None], outputs: Sequence[LiteTensor],
        options: dict[str, Any] | None = None, source: Operation | None = None,
    ) -> None:  # fmt: skip
        self.code, self.outputs = code, list(outputs)
        self.inputs: list[Any] = list(inputs)
        self.options, self.source = options or {}, source

    def __repr__(self) -> str:
        return f"{self.outputs} = {self.code}({self.inputs}, {self.options})"


class Subgraph:
    """A function of a file.

    Attributes:
        name: its name.
        inputs: tensors.
        outputs: tensors. A constant or an input may be among them.
        operators: in execution order.
    """

    def __init__(self, name: str, inputs: Sequence[LiteTensor] = ()) -> None:
        self.name, self.inputs = name, list(inputs)
        self.outputs: list[LiteTensor] = []
        self.operators: list[LiteOperator] = []

    def subgraphs(self) -> Iterable[Subgraph]:
        """Yields this subgraph and those that its operators call, each once."""
        seen: dict[int, Subgraph] = {}
        stack = [self]
        while stack:
            subgraph = stack.pop()
            if id(subgraph) not in seen:
                seen[id(subgraph)] = subgraph
                stack += [v for o in subgraph.operators for v in o.options.values() if isinstance(v, Subgraph)][::-1]
        return seen.values()

    def users(self) -> dict[int, list[LiteOperator]]:
        """Returns the operators that take each tensor, by the tensors' ids. An output has None among its users."""
        users: dict[int, list[Any]] = {}
        for operator in self.operators:
            for t in operator.inputs:
                users.setdefault(id(t), []).append(operator)
        for t in self.outputs:
            users.setdefault(id(t), []).append(None)
        return users


class Signature:
    """A function of a file that programs call by its name.

    Attributes:
        key: its name.
        subgraph: its computation.
        inputs: the names of the subgraph's inputs.
        outputs: the names of the subgraph's outputs.
    """

    def __init__(self, key: str, subgraph: Subgraph, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.key, self.subgraph = key, subgraph
        self.inputs, self.outputs = list(inputs), list(outputs)
