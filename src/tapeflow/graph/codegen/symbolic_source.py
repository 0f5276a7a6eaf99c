"""Writing programs for torch's compilers, which see sizes as symbols.

A program computes shapes from shapes (`tf.shape(x)[0]`, then `tf.reshape(y, [n, -1])`). Written with tensors, this
would hide from `torch.compile` and `torch.export` that a size of the result is a size of an input. So if a number for a
kernel follows from sizes, it is written as arithmetic on `x.shape[0]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import numbers
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.control_flow_source import ControlFlowWriter
from tapeflow.graph.codegen.integer_text import IntegerText
from tapeflow.graph.program.program import Program, Step

_MOST = 32  # elements of a vector of sizes


class Sizes:
    """The expressions of integers that follow from sizes, by the steps that compute them.

    Args:
        name: returns the name of a tensor.
        constant: returns the raw value of a constant tensor, or None.

    Attributes:
        measured: the ids of the tensors whose shapes expressions name.
    """

    def __init__(self, name: Callable[[SymbolicTensor], str], constant: Callable[[SymbolicTensor], Any]) -> None:
        self._name, self._constant = name, constant
        self.measured: set[int] = set()
        self._steps: dict[int, Step] = {}  # by the ids of their outputs
        self._bound: dict[int, Any] = {}  # the expressions of tensors that no step computes, by their ids

    def add(self, program: Program) -> None:
        """Adds the steps of a program."""
        self._steps.update(program.producers)

    def bind(self, tensor: SymbolicTensor, expression: Any) -> None:
        """Has a tensor that is passed to a function stand for the expressions of a size, or of several in a list."""
        self._bound[id(tensor)] = expression

    def of(self, tensor: Any) -> Any:
        """Returns the expression of a scalar, or a list of expressions of a vector's elements; None if they aren't
        sizes."""
        if not isinstance(tensor, SymbolicTensor) or not tensor.dtype.is_integer:
            return None
        constant = self._constant(tensor)
        if constant is not None:
            value = numbers(constant)
            if isinstance(value, int):
                return repr(value)
            plain = isinstance(value, tuple) and len(value) <= _MOST and all(isinstance(v, int) for v in value)
            return list(map(repr, value)) if plain else None
        if id(tensor) in self._bound:
            return self._bound[id(tensor)]
        step = self._steps.get(id(tensor))
        if step is None:
            return None
        rule = _RULES.get(step.op.name) if step.registered else None
        return self._arithmetic(step) if rule is None else rule(self, step)

    def scalars(self, tensor: Any) -> list[SymbolicTensor] | None:
        """Returns the scalars that a vector is packed of, or None if it is not packed in this function."""
        step = self._steps.get(id(tensor))
        return list(step.args[0]) if step is not None and step.op is ops.Pack.op else None

    def whole(self, tensor: Any) -> str | None:
        """Returns the expression of a scalar that is a whole number, as a float or not; None if it is no size."""
        if isinstance(tensor, SymbolicTensor) and tensor.dtype.is_floating:
            constant = self._constant(tensor)
            if constant is not None:
                value = numbers(constant)
                return repr(int(value)) if isinstance(value, float) and value.is_integer() else None
            step = self._steps.get(id(tensor))
            return self.whole(step.args[0]) if step is not None and step.op is ops.Cast.op else None
        size = self.of(tensor)
        return size if isinstance(size, str) else None

    def _arithmetic(self, step: Step) -> Any:
        """Returns the expressions of an op that works element by element."""
        if not step.registered or step.op.element is None or not step.outputs[0].dtype.is_integer:
            return None
        operands = [self.of(t) for t in step.inputs]
        if any(o is None for o in operands):
            return None
        lengths = {len(o) for o in operands if isinstance(o, list)}
        text = IntegerText()
        if not lengths:
            return text.of(step, operands)
        if len(lengths) > 1:
            return None
        rows = zip(*[o if isinstance(o, list) else [o] * max(lengths) for o in operands], strict=True)
        results = [text.of(step, row) for row in rows]
        return None if None in results else results

    # ---- the ops that move sizes -------------------------------------------------------------------------------------

    def shape_of(self, tensor: Any) -> list[str] | None:
        """Returns the expressions of a tensor's sizes, or None if its rank is not static."""
        rank = tensor.shape.rank
        if rank is None or rank > _MOST:
            return None
        return [self._size(tensor, i) if d is None else repr(d) for i, d in enumerate(tensor.shape.as_list())]

    def _size(self, tensor: Any, i: int) -> str:
        """Returns the expression of a size, if possible as a size of an earlier tensor, so this one need not be
        computed."""
        step = self._steps.get(id(tensor))
        if step is not None and step.registered and step.op.elementwise:
            others = [t for t in step.inputs if t.shape.rank != 0]
            if len(others) == 1:
                return self._size(others[0], i)
        if step is not None and step.op is ops.Einsum.op and "." not in step.args[1]:
            operands, result = step.args[1].replace(" ", "").split("->")
            for operand, letters in zip(step.args[0], operands.split(","), strict=True):
                if result[i] in letters:
                    return self._size(operand, letters.index(result[i]))
        self.measured.add(id(tensor))
        return f"{self._name(tensor)}.shape[{i}]"

    def _part(self, step: Step) -> Any:
        whole, rank = self.of(step.args[0]), step.outputs[0].shape.rank
        spec = [_number_vector(self._constant, a) or () for a in step.args[1:4]]
        begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = step.args[4:9]
        if not isinstance(whole, list) or any(len(s) != 1 for s in spec) or ellipsis_mask or new_axis_mask:
            return None
        begin, end, stride = [s[0] for s in spec]
        if shrink_mask and rank == 0:
            return whole[begin]
        return whole[None if begin_mask else begin : None if end_mask else end : stride]

    def _packed(self, step: Step) -> Any:
        items = [self.of(t) for t in step.args[0]]
        return items if all(isinstance(i, str) for i in items) else None

    def _joined(self, step: Step) -> Any:
        lists = [self.of(t) for t in step.args[0]]
        return [i for items in lists for i in items] if all(isinstance(i, list) for i in lists) else None

    def _expanded(self, step: Step) -> Any:
        size = self.of(step.args[0])
        return [size] if isinstance(size, str) else None

    def _same(self, step: Step) -> Any:
        return self.of(step.args[0])

    def _picked(self, step: Step) -> Any:
        whole, index = self.of(step.args[0]), self._constant(step.args[1])
        if not isinstance(whole, list) or index is None:
            return None
        places = numbers(index)
        return whole[places] if isinstance(places, int) else [whole[i] for i in places]

    def _product(self, step: Step) -> Any:
        whole = self.of(step.args[0])
        return _product_of(whole) if isinstance(whole, list) and step.outputs[0].shape.rank == 0 else None

    def _count(self, step: Step) -> Any:
        sizes = self.shape_of(step.args[0])
        return None if sizes is None else _product_of(sizes)


def _product_of(sizes: Sequence[str]) -> str:
    factor = math.prod(int(i) for i in sizes if i.isdigit())
    return f"({' * '.join([i for i in sizes if not i.isdigit()] + [repr(factor)])})"


def tensor_of(sizes: Any, dtype: torch.dtype = torch.int32, device: torch.device | None = None) -> torch.Tensor:
    """Returns the tensor of a size or of several, which may be symbols."""
    numbers = [
        torch.scalar_tensor(n, dtype=dtype, device=device) for n in (sizes if isinstance(sizes, tuple) else (sizes,))
    ]
    if not isinstance(sizes, tuple):
        return numbers[0]
    return torch.stack(numbers) if numbers else torch.empty(0, dtype=dtype, device=device)


def _number_vector(constant: Callable[[Any], Any], arg: Any) -> tuple[int, ...] | None:
    """Returns a vector that a kernel takes as Python numbers, or None if it is not constant."""
    if isinstance(arg, SymbolicTensor):
        value = constant(arg)
        return None if value is None else numbers(value)
    return tuple(arg) if isinstance(arg, (tuple, list)) else None


_RULES: dict[str, Callable[[Sizes, Step], Any]] = {
    op.op.name: rule
    for op, rule in [
        (ops.Shape, lambda sizes, step: sizes.shape_of(step.args[0])), (ops.StridedSlice, Sizes._part),
        (ops.Pack, Sizes._packed), (ops.ConcatV2, Sizes._joined), (ops.Cast, Sizes._same),
        (ops.Identity, Sizes._same), (ops.ExpandDims, Sizes._expanded), (ops.GatherV2, Sizes._picked),
        (ops.Prod, Sizes._product), (ops.Size, Sizes._count),
    ]
}  # fmt: skip


class SymbolicWriter(ControlFlowWriter):
    """Writes programs with Python numbers for the sizes of tensors, and called functions inline.

    Attributes:
        sizes: the expressions of sizes.
        device: the expression for the device of tensors that are computed from sizes.
    """

    deletes = False
    device = "None"

    def __init__(self) -> None:
        super().__init__()
        self.namespace["torch"] = torch
        self._used_names.add("torch")
        self.sizes = Sizes(self.reference, lambda t: self._constants.get(id(t)))

    def block(self, program: Program, indent: int) -> None:
        self.sizes.add(program)
        self._constants.update(program.constants)
        super().block(program, indent)

    def bounds(self, step: Step) -> list[str] | None:
        """Returns the bounds of a range as Python numbers, or None if they do not follow from sizes."""
        bounds = [self.sizes.whole(t) for t in step.args] if step.op is ops.Range.op else [None]
        return None if None in bounds else bounds  # type: ignore[return-value]

    def size_call(self, step: Step) -> str | None:
        """Returns the expression of a step that computes sizes or a range from sizes, or None for other steps."""
        if not step.registered or len(step.outputs) != 1:
            return None
        (out,), bounds = step.outputs, self.bounds(step)
        options = f"dtype={out.dtype.torch}, device={self.device}"
        if bounds is not None:
            return f"torch.arange({', '.join(bounds)}, {options})"
        sizes = self.sizes.of(out)
        return None if sizes is None else f"{self.helper(tensor_of)}({self._host_argument(out)}, {options})"

    def helper(self, function: Callable[..., Any], wish: str = "") -> str:
        """Returns the name of a function in the source; `wish` replaces the function's own."""
        return self.named(wish or function.__name__, function)

    def inline(self, step: Step, indent: int) -> None:
        """Writes the steps of a function that is called."""
        inner = step.programs[0].copied()
        inner.replace_tensors()  # the values of a call outlive the next one
        for t, arg in zip(inner.inputs, step.args, strict=True):
            self._set_forms(t, self._forms(arg))
        self.block(inner, indent)
        for t, own in zip(step.outputs, inner.outputs, strict=True):
            self._set_forms(t, self._forms(own))

    def _host_argument(self, arg: Any) -> str:
        sizes = self.sizes.of(arg)
        if sizes is None or id(arg) in self.numbers:
            return super()._host_argument(arg)
        return sizes if isinstance(sizes, str) else f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
