"""Writing programs with conditionals and loops, as Python's `if`, `while` and `for`.

A loop that counts its iterations becomes a `for` over a range. Its counter is a Python number. So are the indices,
sizes and tests computed from it. They become tensors only if a kernel needs a tensor.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.array.concat_and_split import pack_op
from tapeflow.core.types.dtypes import DType, bool_, int32, int64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.integer_text import IntegerText
from tapeflow.graph.codegen.step_source import Writer
from tapeflow.graph.ir.operation import symbolic_in
from tapeflow.graph.program.loops import LoopParts
from tapeflow.graph.program.program import Program, Step
from tapeflow.graph.program.simplify import prune

_TENSORS = {dtype: functools.partial(torch.tensor, dtype=dtype.torch) for dtype in (int32, int64, bool_)}
_WRAPPED: dict[DType, Callable[[int], int]] = {  # Python's integers do not wrap around
    int32: lambda n: (n + 0x80000000 & 0xFFFFFFFF) - 0x80000000,
    int64: lambda n: (n + 0x8000000000000000 & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000,
}
# The expressions for a value: as a Python number, and as a tensor.
Forms = tuple[str | None, str | None]


class ControlFlowWriter(Writer):
    """Writes programs that may contain conditionals and loops.

    Attributes:
        numbers: the expressions of values held as Python numbers, by the tensors' ids.
    """

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[int, str] = {}
        self._dtypes: dict[int, DType] = {}  # of the tensors with forms
        self._packed: dict[int, list[SymbolicTensor]] = {}  # see `packed_scalars`

    def write_loop(self, name: str, loop: LoopParts, captured: int, recorded: Sequence[int] | None) -> None:
        """Writes the function `name(limit, record, *loop variables, *captured values)` of a loop.

        Args:
            name: the function's name.
            loop: the loop.
            captured: the number of loop-invariant values.
            recorded: the indices of hoisted values to record. Each iteration also records the body's outputs after the
                loop variables. None records nothing.
        """
        loop.limit, record = self.unique("limit"), self.unique("record")
        if recorded is not None:
            loop.record, loop.recorded = record, recorded
        starts = [self.unique(f"{own.op.name}_start") for _, own in loop.variables]
        inputs = [loop.captured.get(place) for place in range(captured)]
        invariants = [self.unique("unused" if tensors is None else tensors[0].op.name) for tensors in inputs]
        self.row(0, f"def {name}({', '.join([loop.limit, record, *starts, *invariants])}):")
        forms = [(None, name) for name in starts], [(None, name) for name in invariants]
        results = self._loop(loop, *forms, 1)
        tensors = [self._tensor(form, own.dtype) for (_, own), form in zip(loop.variables, results, strict=True)]
        self.write_return(1, tensors)

    def named_values(self, local: dict[str, Any]) -> dict[int, Any]:
        values = super().named_values(local)
        for i, name in self.numbers.items():
            if name in local:
                values[i] = _TENSORS[self._dtypes[i]](local[name])
        return values

    # ---- steps ---------------------------------------------------------------------------------------------------

    def block(self, program: Program, indent: int) -> None:
        for step in program.steps:
            self._packed.pop(id(step.outputs[0]) if step.outputs else 0, None)
        self._packed.update(packed_scalars(program))
        super().block(program, indent)

    def step(self, step: Step, indent: int) -> None:
        if step.is_written and step.op.control == "loop":
            self._nested_loop(step, LoopParts(step.programs, step.op.kernel), indent)
        elif step.is_written:
            self._conditional(step, indent)
        elif (expression := self._number_of(step)) is not None:
            name = self.unique(step.outputs[0].op.name)
            self.row(indent, f"{name} = {expression}", step)
            self._set_forms(step.outputs[0], (name, None))
        elif not step.outputs or id(step.outputs[0]) not in self._packed:
            for t in step.outputs:
                self.numbers.pop(id(t), None)  # from another call of the same function
            super().step(step, indent)

    def _number_of(self, step: Step) -> str | None:
        """Returns the expression of a step that computes a Python number from Python numbers; None for others."""
        if not step.registered or step.op.element is None or step.placed or step.outputs[0].shape.rank != 0:
            return None
        others = [t for t in step.inputs if id(t) not in self.numbers]
        constants = [self._constants.get(id(t)) for t in others]
        if len(others) == len(step.inputs) or not all(isinstance(value, torch.Tensor) for value in constants):
            return None
        text = IntegerText(self._wrap_integer).of(step, list(map(self._host_argument, step.inputs)))
        return text[1:-1] if text is not None and text.startswith("(") else text

    def _wrap_integer(self, text: str, dtype: DType) -> str:
        """Returns the expression for an integer that wraps around."""
        return f"{self.named(dtype.name, _WRAPPED[dtype])}{text}"

    # ---- conditionals --------------------------------------------------------------------------------------------

    def _conditional(self, step: Step, indent: int) -> None:
        """Writes a conditional."""
        names = [self.unique(t.op.name) for t in step.outputs]
        for i, (inner, operands) in enumerate(step.inner):
            self.row(indent, self._branch_header(step.args[0], i, len(step.programs)))
            for t, operand in zip(inner.inputs, operands, strict=True):
                self._set_forms(t, self._forms(operand))
            rows = len(self._rows)
            self.block(inner, indent + 1)
            for name, own in zip(names, inner.outputs, strict=False):
                self.row(indent + 1, f"{name} = {self.reference(own)}")
            if len(self._rows) == rows:
                self.row(indent + 1, "pass")
        for name, out in zip(names, step.outputs, strict=True):
            self._set_forms(out, (None, name))

    def _branch_header(self, index: SymbolicTensor, i: int, count: int) -> str:
        """Returns the line that begins the branch with number `i` of `count`."""
        if i and i == count - 1:
            return "else:"
        if not index.dtype.is_integer:
            return f"if {self._test_value(index)}:"
        return f"{'elif' if i else 'if'} {self._test_value(index)} == {i}:" if count > 1 else "if True:"

    # ---- loops ---------------------------------------------------------------------------------------------------

    def _nested_loop(self, step: Step, loop: LoopParts, indent: int) -> None:
        """Writes a loop inside another program."""
        args, count = step.args, len(loop.variables)
        if loop.limited:
            loop.limit, args = f"int({self._test_value(args[0])})", args[1:]
        forms = [self._forms(t) for t in args]
        results = self._loop(loop, forms[:count], forms[count:], indent)
        for out, form in zip(step.outputs, results, strict=True):
            self._set_forms(out, form)

    def _loop(self, loop: LoopParts, starts: Sequence[Forms], captured: Sequence[Forms], indent: int) -> list[Forms]:
        """Writes a loop, and returns the values of the loop variables after it.

        Args:
            loop: the loop.
            starts, captured: the first values of loop variables, and loop-invariant values.
            indent: the indentation.
        """
        names = [self.unique(own.op.name) for _, own in loop.variables]
        results: list[Forms] = []
        for i, (pair, name, start) in enumerate(zip(loop.variables, names, starts, strict=True)):
            if i != loop.counter:
                first = self._number(start) if i in loop.numbers else self._tensor(start, pair[1].dtype)
                self.row(indent, f"{name} = {first}")
            results.append((name, None) if i in loop.numbers else (None, name))
            for t in pair:
                self._set_forms(t, results[-1])
        for place, tensors in loop.captured.items():
            for t in tensors:
                self._set_forms(t, captured[place])
        dead: list[str] = []
        if loop.counter is None:
            self._conditional_header(loop, indent)
        else:
            counter = names[loop.counter]
            begin = self._once(self._number(starts[loop.counter]), f"{counter}_start", indent)
            stop, dead = self._counted_header(loop, counter, begin, indent)
            results[loop.counter] = f"max({begin}, {stop})", None
            indent += loop.ahead is not None
        rows = len(self._rows)
        self.block(loop.body, indent + 1)
        outputs = loop.body.outputs
        if loop.record:
            residuals = "".join(f"{self.reference(t)}, " for t in outputs[len(names) :])
            self.row(indent + 1, f"{loop.record}.rows.append(({residuals}))")
        after = [self.numbers[id(t)] if i in loop.numbers else self.reference(t)
                 for i, t in enumerate(outputs[: len(names)])]  # fmt: skip
        changed = [(name, value) for name, value in zip(names, after, strict=True) if name != value]
        if changed:
            self.row(indent + 1, f"{', '.join(n for n, _ in changed)} = {', '.join(v for _, v in changed)}")
        elif len(self._rows) == rows:
            self.row(indent + 1, "pass")
        if dead:
            self.row(indent, f"del {', '.join(dead)}")
        return results

    def _conditional_header(self, loop: LoopParts, indent: int) -> None:
        """Writes the lines before the body of a loop that tests its condition."""
        first = self.unique("first")
        if loop.ahead is not None:
            self.row(indent, f"{first} = True")
        self.row(indent, f"for _ in range({loop.limit}):" if loop.limited else "while True:")
        self.block(loop.condition, indent + 1)
        self.row(indent + 1, f"if not {self._test_value(loop.condition.outputs[0])}:")
        self.row(indent + 2, "break")
        if loop.ahead is not None:
            self.row(indent + 1, f"if {first}:")
            self.row(indent + 2, f"{first} = False")
            self._ahead(loop, indent + 2)

    def _counted_header(self, loop: LoopParts, counter: str, start: str, indent: int) -> tuple[str, list[str]]:
        """Writes the lines before the body of a loop that counts its iterations.

        Args:
            loop: the loop.
            counter: the name of the counter.
            start: the expression for its first value.
            indent: the indentation.

        Returns:
            The expression for the end of the range, and the names without a use after the loop.
        """
        others = copy.copy(loop.condition)
        others.steps = [step for step in others.steps if step is not loop.test]
        self.block(others, indent)
        bound = self._host_argument(loop.test.args[1])
        stop = self._once(f"min({bound}, {start} + {loop.limit})" if loop.limited else bound, "stop", indent)
        values, items = f"range({start}, {stop})", {}
        if loop.ahead is not None:
            self.row(indent, f"if {start} < {stop}:")
            indent += 1
            items = self._stacked(loop, start, stop, indent)
        body, i = copy.copy(loop.body), loop.counter or 0
        body.outputs = [*body.outputs[:i], body.inputs[i], *body.outputs[i + 1 :]]  # the range counts
        prune(body)
        loop.body = body
        if items:
            values = f"zip({', '.join([values, *(f'{stacked}.unbind()' for stacked in items)])})"
        self.row(indent, f"for {', '.join([counter, *items.values()])} in {values}:")
        return stop, [*items, *items.values()]

    def _stacked(self, loop: LoopParts, start: str, stop: str, indent: int) -> dict[str, str]:
        """Writes the hoisted part of a counting loop.

        Returns:
            The names of the values in an iteration, by the names of the stacked tensors.
        """
        program, shared = loop.ahead or loop.body, loop.shared
        if len(loop.from_ahead) > shared:
            count, counters = map(self.unique, ("count", "counters"))
            self.row(indent, f"{count} = {stop} - {start}")
            dtype = self.named("counter_dtype", program.inputs[1].dtype.torch)
            self.row(indent, f"{counters} = {self.named('arange', torch.arange)}({start}, {stop}, dtype={dtype})")
            self._set_forms(program.inputs[0], (count, None))
            self._set_forms(program.inputs[1], (None, counters))
        self._ahead(loop, indent)
        items: dict[str, str] = {}
        used = loop.body.use_counts()  # unused ones are only recorded
        for t, own in zip(program.outputs[shared:], loop.from_ahead[shared:], strict=True):
            if id(own) in used:
                name = items.setdefault(self.reference(t), self.unique(own.op.name))
                self._set_forms(own, (None, name))
        return items

    def _ahead(self, loop: LoopParts, indent: int) -> None:
        """Writes the hoisted part of a loop, and the line that records its values."""
        program = loop.ahead or loop.body
        self.block(program, indent)
        outputs = program.outputs
        for t, own in zip(outputs[: loop.shared], loop.from_ahead, strict=False):
            self._set_forms(own, self._forms(t))
        if loop.recorded:
            values = "".join(f"{self.reference(outputs[i])}, " for i in loop.recorded)
            self.row(indent, f"{loop.record}.ahead = ({values})")

    # ---- values --------------------------------------------------------------------------------------------------

    def _set_forms(self, tensor: SymbolicTensor, forms: Forms) -> None:
        """Sets the expressions for a value, and discards earlier ones from another call of the same function."""
        for known, expression in zip((self.numbers, self.names), forms, strict=True):
            known.pop(id(tensor), None)
            if expression is not None:
                known[id(tensor)] = expression
        self._dtypes[id(tensor)] = tensor.dtype

    def _forms(self, tensor: SymbolicTensor) -> Forms:
        """Returns the expressions for a value."""
        number, constant = self.numbers.get(id(tensor)), self._constants.get(id(tensor))
        if number is None and tensor.dtype.is_integer and isinstance(constant, torch.Tensor) and not constant.ndim:
            number = repr(constant.item())
        has_tensor = number is None or constant is not None or id(tensor) in self.names
        return number, self.reference(tensor) if has_tensor else None

    def _number(self, forms: Forms) -> str:
        """Returns the expression for a scalar as a Python number."""
        number, tensor = forms
        return f"host({tensor})" if number is None else number

    def _tensor(self, forms: Forms, dtype: DType) -> str:
        """Returns the expression for a value as a tensor."""
        number, tensor = forms
        return self._box(dtype, number or "") if tensor is None else tensor

    def _box(self, dtype: DType, number: str) -> str:
        """Returns the expression that makes a tensor from a number."""
        return f"{self.named(f'{dtype.name}_tensor', _TENSORS[dtype])}({number})"

    def _once(self, expression: str, wish: str, indent: int) -> str:
        """Returns an expression without cost: a name or number stays, other expressions are assigned to a name."""
        if re.fullmatch(r"-?\w+", expression):
            return expression
        name = self.unique(wish)
        self.row(indent, f"{name} = {expression}")
        return name

    def _test_value(self, tensor: SymbolicTensor) -> str:
        """Returns the expression for a scalar in a test, as a number or as a tensor."""
        constant = self._constants.get(id(tensor))
        if isinstance(constant, torch.Tensor):
            return repr(constant.item())
        return self.numbers.get(id(tensor)) or self.reference(tensor)

    def reference(self, tensor: SymbolicTensor) -> str:
        if id(tensor) in self.numbers and id(tensor) not in self.names and id(tensor) not in self._constants:
            return self._box(tensor.dtype, self.numbers[id(tensor)])
        return super().reference(tensor)

    def host(self, tensor: SymbolicTensor) -> str:
        if id(tensor) in self.numbers:
            return self.numbers[id(tensor)]
        packed = self._packed.get(id(tensor))
        return super().host(tensor) if packed is None else f"({', '.join(map(self._host_argument, packed))},)"


def packed_scalars(program: Program) -> dict[int, list[SymbolicTensor]]:
    """Returns the scalars of index vectors that kernels take only as Python numbers, such as shapes.

    These vectors need no tensor.

    Returns:
        The scalars, by the ids of the vectors.
    """
    as_tensors = {id(t) for t in program.outputs}
    for step in program.steps:
        as_tensors.update(id(t) for t in symbolic_in(step.op.tensors(step.args)))
    packs = [s for s in program.steps if s.op is pack_op.op and id(s.outputs[0]) not in as_tensors]
    return {
        id(step.outputs[0]): step.args[0] for step in packs
        if all(t.shape.rank == 0 and t.dtype.is_integer for t in step.args[0])
    }  # fmt: skip
