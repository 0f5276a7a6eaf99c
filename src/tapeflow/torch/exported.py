"""The source of a module's forward function for `torch.export`, if control flow depends on values.

An `if` or `while` that constants decide stays Python's, and the exporter unrolls it: a loop over seven time steps
becomes seven copies of its body. An `if` or `while` that tensors decide becomes a call of `control.cond` or
`control.while_loop` with functions inside the forward function. These functions have no closures: they get all values
as arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.array.slicing import strided_slice_op
from tapeflow.core.types.dtypes import DType, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.codegen.symbolic_source import tensor_of
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.program.loops import LoopParts
from tapeflow.graph.program.program import Program, Step
from tapeflow.torch import control, lists
from tapeflow.torch.changes import is_change
from tapeflow.torch.source import ModuleWriter
from tapeflow.torch.unconvertible import Unconvertible


class ExportWriter(ModuleWriter):
    """Writes the source that `torch.export` traces. `ModuleWriter` describes the arguments."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Of the functions around the lines that are written: their parameters for constants, with the constants, and
        # the names that these would have.
        self._scopes: list[dict[int, tuple[str, Any, str]]] = []

    # ---- conditionals and loops ----------------------------------------------------------------------------------

    def _conditional(self, step: Step, indent: int) -> None:
        index, *values = step.args
        if self._is_static(index) or len(step.programs) == 1:
            super()._conditional(step, indent)
            return
        operands = _Operands(self, values)
        for inner, places in zip(step.programs, step.op.places.values(), strict=True):
            operands.add(inner.inputs, places)
        functions = []
        self._scopes.append({})
        for inner, label in zip(step.programs, step.op.bodies, strict=True):
            name = self.unique(f"{step.operation.name}_{label.removesuffix('_branch')}")
            functions.append((self._function(name, inner, operands, indent), name))
        passed = self._end_functions(functions, operands, [], indent)
        names = [name for _, name in functions]
        if index.dtype.is_integer:
            chosen = f"{self.named('case', control.case)}({self.reference(index)}, [{', '.join(names)}]"
        else:
            chosen = f"{self.named('cond', control.cond)}({self.reference(index)}, {', '.join(names)}"
        self.assign(step, f"{chosen}, [{passed}])", indent, True)

    def _nested_loop(self, step: Step, loop: LoopParts, indent: int) -> None:
        args = step.args[int(loop.limited) :]
        count = len(loop.variables)
        if loop.counter is not None and len(loop.condition.steps) == 1:
            bound = loop.test.args[1]
            outer = next((args[count + p] for p, own in loop.captured.items() if any(t is bound for t in own)), bound)
            self._constants.update(loop.condition.constants)
            if all(map(self._is_static, (args[loop.counter], outer, *step.args[: int(loop.limited)]))):
                super()._nested_loop(step, loop, indent)
                return
        operands = _Operands(self, args[count:])
        for place, tensors in loop.captured.items():
            operands.add(tensors, [place] * len(tensors))
        carried = []
        for pair in loop.variables:
            carried.append(self.unique(pair[1].op.name))
            for t in pair:
                self._set_forms(t, (None, carried[-1]))
        starts = [self.reference(t) for t in args[:count]]
        limit = ("", "")
        if loop.limited:
            limit = self.unique("iteration"), self.unique("limit")
            carried.append(limit[0])
            starts.append(f"{self.named('tensor_of', tensor_of)}(0)")
            operands.add_expression(limit[1], self.reference(step.args[0]))
        self._scopes.append({})
        names = [self.unique(f"{step.operation.name}_{label}") for label in ("cond", "body")]
        test, returned = (f" & ({limit[0]} < {limit[1]})", [f"{limit[0]} + 1"]) if loop.limited else ("", [])
        headers = [
            (self._function(names[0], loop.condition, operands, indent, test=test), names[0]),
            (self._function(names[1], loop.body, operands, indent, returned), names[1]),
        ]
        passed = self._end_functions(headers, operands, carried, indent)
        call = f"{self.named('while_loop', control.while_loop)}({', '.join(names)}, [{', '.join(starts)}], [{passed}])"
        self.assign(step, f"{call}[:{count}]" if loop.limited else call, indent, True)

    def _function(
        self, name: str, program: Program, operands: _Operands, indent: int, also: Sequence[str] = (),
        test: str | None = None,
    ) -> int:  # fmt: skip
        """Writes a function of a conditional or a loop without its first row; returns the number of that row.

        Args:
            name: the function's name.
            program: the function's program.
            operands: the function's operands.
            indent: the indentation.
            also: expressions for more results.
            test: an expression appended to the result of a condition, which is no tuple.
        """
        header = len(self._rows)
        self.row(indent, name)
        for tensor, expression in operands.sizes(program.inputs):
            self.names[id(tensor)] = self.unique(f"{tensor.op.name}_tensor")
            call = f"{self.named('tensor_of', tensor_of)}({expression}, dtype={tensor.dtype.torch})"
            self.row(indent + 1, f"{self.names[id(tensor)]} = {call}")
        self.block(program, indent + 1)
        results = [*map(self.reference, program.outputs), *also]
        if test is None:
            self.row(indent + 1, f"return ({', '.join(results)}{',' if len(results) == 1 else ''})")
        else:
            self.row(indent + 1, f"return {results[0]}{test}")
        return header

    def _end_functions(
        self, headers: Sequence[tuple[int, str]], operands: _Operands, carried: Sequence[str], indent: int
    ) -> str:
        """Writes the first rows of the functions of a step; returns the arguments of their call."""
        constants = self._scopes.pop().values()
        parameters = [*carried, *operands.parameters, *(parameter for parameter, _, _ in constants)]
        for row, name in headers:
            self._rows[row] = f"{'    ' * indent}def {name}({', '.join(parameters)}):"
        return ", ".join([*operands.expressions, *(self._constant(value, wish) for _, value, wish in constants)])

    def _is_static(self, tensor: SymbolicTensor) -> bool:
        """Returns True for a constant, and for the counter of a loop that an exporter follows."""
        return id(tensor) in self.numbers or isinstance(self._constants.get(id(tensor)), torch.Tensor)

    # ---- steps ---------------------------------------------------------------------------------------------------

    def step(self, step: Step, indent: int) -> None:
        if self._scopes and is_change(step):
            raise Unconvertible(
                f"{step.name} ({step.operation.name}) changes a variable in a conditional or a loop, which "
                "torch.export can't trace: return the value, and assign it after"
            )
        super().step(step, indent)

    def call(self, step: Step) -> str:
        if step.op is strided_slice_op.op and (call := self._item_at_places(step)) is not None:
            return call
        if not _is_on_lists(step):
            return super().call(step)
        arguments = step.op.map(self.reference, step.args, host=self._place, attr=self.literal)
        return f"{self.named(f'op_{step.name}', lists.kernel_of(step.op))}({', '.join(map(str, arguments))})"

    def _item_at_places(self, step: Step) -> str | None:
        """Returns the expression of a slice such as `x[i, 2:, j]`; None where no index is a tensor."""
        begin, end = (self.sizes.scalars(a) for a in step.args[1:3])
        strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = step.args[3:]
        if begin is None or end is None or ellipsis_mask or new_axis_mask:
            return None
        source = self.reference(step.args[0])
        bounds: list[tuple[str, str]] = []
        for i, (first, last) in enumerate(zip(begin, end, strict=True)):
            sizes = [self.sizes.of(first) or self.numbers.get(id(first)), self.sizes.of(last)]
            if shrink_mask >> i & 1 and sizes[0] is None:
                source = f"{self.named('at_place', lists.at_place)}({source}, {i}, {self.reference(first)})"
                sizes = ["0", "1"]
            elif shrink_mask >> i & 1:
                sizes[1] = f"{sizes[0]} + 1"
            sizes = ["0" if mask >> i & 1 else s for s, mask in zip(sizes, (begin_mask, end_mask), strict=True)]
            if None in sizes:
                return None
            bounds.append((sizes[0], sizes[1]))
        if source == self.reference(step.args[0]):
            return None
        spec = [f"({', '.join(numbers)},)" for numbers in zip(*bounds, strict=True)]
        spec += [self._host_argument(strides), *map(repr, step.args[4:])]
        return f"{self._kernel(step)}({source}, {', '.join(spec)})"

    def _place(self, arg: Any) -> str:
        """Returns the expression for a place in a list: as a number if it is static, or else as a tensor."""
        scalar = isinstance(arg, SymbolicTensor) and arg.shape.rank == 0
        if not scalar or id(arg) in self.numbers or id(arg) in self._constants or self.sizes.of(arg) is not None:
            return self._host_argument(arg)
        return self.reference(arg)

    def reference(self, tensor: SymbolicTensor) -> str:
        if self._scopes and id(tensor) not in self.names and id(tensor) not in self.numbers:
            value = self._constants.get(id(tensor))
            if isinstance(value, (torch.Tensor, Variable)):
                self.names[id(tensor)] = self._constant(value, tensor.op.name)
        return super().reference(tensor)

    def _constant(self, value: Any, wish: str) -> str:
        """Returns the expression for a constant: in a function inside the forward one, a parameter."""
        if self._scopes:
            return self._scopes[-1].setdefault(id(value), (self.unique(wish), value, wish))[0]
        if isinstance(value, Variable) or value.ndim:
            return f"self.{self._attributes(value, wish)}"
        return self.named(wish, value)

    def _box(self, dtype: DType, number: str) -> str:
        return f"{self.named('tensor_of', tensor_of)}({number}, dtype={dtype.torch})"


class _Operands:
    """The operands of the functions of a conditional or a loop.

    Attributes:
        parameters: the names of the functions' parameters.
        expressions: the expressions of their arguments.

    Args:
        writer: the writer.
        values: the operands of the step.
    """

    def __init__(self, writer: ExportWriter, values: Sequence[SymbolicTensor]) -> None:
        self._writer, self._values = writer, values
        self.parameters: list[str] = []
        self.expressions: list[str] = []
        self._sizes: dict[int, Any] = {}  # the parameters that stand for a size or sizes, by the operands' places
        self._places: dict[int, str] = {}
        self._of_inputs: dict[int, str] = {}  # the expressions of inputs that are sizes

    def add_expression(self, parameter: str, expression: str) -> None:
        """Adds a parameter."""
        self.parameters.append(parameter)
        self.expressions.append(expression)

    def add(self, inputs: Sequence[SymbolicTensor], places: Sequence[int]) -> None:
        """Has a program's inputs stand for operands."""
        writer = self._writer
        for t, place in zip(inputs, places, strict=False):
            value = self._values[place]
            if id(value) in writer.numbers:
                writer.numbers[id(t)] = writer.numbers[id(value)]
            elif id(value) in writer._constants:
                writer._constants[id(t)] = writer._constants[id(value)]
            elif (sizes := writer.sizes.of(value)) is not None:
                self._add_sizes(t, place, sizes)
            else:
                if place not in self._places:
                    self._places[place] = writer.unique(value.op.name)
                    self.add_expression(self._places[place], writer.reference(value))
                writer.names[id(t)] = self._places[place]

    def _add_sizes(self, tensor: SymbolicTensor, place: int, sizes: Any) -> None:
        writer = self._writer
        if place not in self._sizes:
            several = sizes if isinstance(sizes, list) else [sizes]
            names = [writer.unique(f"{self._values[place].op.name}_size") for _ in several]
            for name, size in zip(names, several, strict=True):
                self.add_expression(name, size)
            self._sizes[place] = names if isinstance(sizes, list) else names[0]
        names = self._sizes[place]
        writer.sizes.bind(tensor, names)
        self._of_inputs[id(tensor)] = names if isinstance(names, str) else f"tuple([{', '.join(names)}])"

    def sizes(self, inputs: Sequence[SymbolicTensor]) -> list[tuple[SymbolicTensor, str]]:
        """Returns the inputs of a program that are sizes, with their expressions."""
        return [(t, self._of_inputs[id(t)]) for t in inputs if id(t) in self._of_inputs]


def _is_on_lists(step: Step) -> bool:
    """Returns True if a step's kernel takes or gives a list of tensors."""
    tensors = [*step.inputs, *step.outputs]
    return step.registered and any(t.dtype is variant and variable_of(t) is None for t in tensors)
