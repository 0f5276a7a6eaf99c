"""Writing programs with conditionals and loops, as Python's `if` and `while`, and scalars as Python numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.parallel import run_all
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen import scalars
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.codegen.regions import Ahead, LoopRegion, Numbers, Region
from tapeflow.graph.codegen.writing import Writer

_BOXES = {dtype: scalars.box(dtype) for dtype in scalars.UNBOX}


class StructuredWriter(Writer):
    """Writes programs that may contain conditionals and loops.

    Attributes:
        numbers: the names of tensors that are held as numbers, by the tensors' ids.
    """

    def __init__(self) -> None:
        super().__init__()
        self.namespace.update(scalars.NAMES)
        self.numbers: dict[int, str] = {}
        self._number_dtypes: Numbers = {}
        self._regions: list[Region] = []
        self._originals: dict[int, dict[int, SymbolicTensor]] = {}  # `Region.originals`, by the ids of steps

    def write(self, name: str, program: Program, numbers: Sequence[SymbolicTensor] = ()) -> None:
        """Writes the function of a program; the inputs `numbers` are passed as Python numbers."""
        region = self._whole(program)
        self._number_dtypes.update((id(t), t.dtype) for t in numbers)
        if region.inner or numbers:
            region.find_numbers(self._number_dtypes)
            region.find_indices(self._number_dtypes)
        self._constants.update(program.constants)
        for t in program.inputs:
            self._set_name(t, self.unique(t.op.name))
        parameters = [self.numbers.get(id(t)) or self.names[id(t)] for t in program.inputs]
        self.row(0, f"def {name}({', '.join(parameters)}):")
        indent = self._write_errstate()
        self._region(region, indent)
        self.write_return(indent, list(map(self.reference, program.outputs)))

    def write_loop(self, name: str, loop: LoopRegion, captured: int, recorded: Sequence[int] | None) -> list[bool]:
        """Writes the function `name(limit, record, *loop variables, *captured values)` of a loop.

        Args:
            name: the function's name.
            loop: the loop.
            captured: the number of loop-invariant values.
            recorded: which of the values that are computed before the loop are recorded, besides the outputs of the
                body in each iteration that are no loop variables; None if nothing is.

        Returns:
            For each of these outputs, whether it is recorded as a number.
        """
        self._number_dtypes = loop.find_numbers()
        for region in loop.regions:
            region.find_indices(self._number_dtypes)
        limit, record = self.unique("limit"), self.unique("record")
        starts = [self.unique(f"{own.op.name}_start") for _, own in loop.variables]
        inputs = [loop.captured.get(place) for place in range(captured)]
        invariants = [self.unique("unused" if tensors is None else tensors[0].op.name) for tensors in inputs]
        self.row(0, f"def {name}({', '.join([limit, record, *starts, *invariants])}):")
        indent = self._write_errstate()
        forms = [(None, name) for name in starts], [(None, name) for name in invariants]
        names = self._loop(loop, limit, *forms, indent, None if recorded is None else (record, recorded))
        results = [self._boxed(own, name) for (_, own), name in zip(loop.variables, names, strict=True)]
        self.write_return(indent, results)
        return [id(t) in self._number_dtypes for t in loop.body.program.outputs[len(names) :]]

    def _whole(self, program: Program) -> Region:
        """Returns the region of a function's program."""
        return Region(program)

    def _write_errstate(self) -> int:
        """Has NumPy's floats overflow without a warning, as tensors do, and returns the indentation of the body."""
        if not any(dtype.is_floating for dtype in self._number_dtypes.values()):
            return 1
        self.row(1, f"with {self.named('errstate', np.errstate)}(all='ignore'):")
        return 2

    def values(self, local: dict[str, Any], step: Step) -> dict[int, Any]:
        values = self.named_values(local)
        for i, name in self.numbers.items():
            if name in local:
                values[i] = _BOXES[self._number_dtypes[i]](local[name])
        originals = self._originals.get(id(step), {})
        return self.with_aliases(values | {id(t): values[i] for i, t in originals.items() if i in values}, step)

    # ---- steps ---------------------------------------------------------------------------------------------------

    def _region(self, region: Region, indent: int) -> None:
        """Writes the steps of a region."""
        self._regions.append(region)
        self.block(region.program, indent)
        self._regions.pop()

    def step(self, step: Step, indent: int) -> None:
        region = self._regions[-1]
        if region.originals:
            self._originals[id(step)] = region.originals
        if id(step) in region.branches:
            self._conditional(step, region.branches[id(step)], indent)
        elif id(step) in region.loops:
            self._nested_loop(step, region.loops[id(step)], indent)
        elif id(step) in region.blocks:
            self._parallel(dict(zip(step.op.blocks, region.blocks[id(step)], strict=True)), indent)
        elif step.outputs and id(step.outputs[0]) in self._number_dtypes:
            expression = scalars.template(step) or ""
            name = self.unique(step.outputs[0].op.name)
            self.row(indent, f"{name} = {expression.format(*map(self._number, step.inputs))}", step)
            self.numbers[id(step.outputs[0])] = name
        elif id(step) not in region.packing_steps:
            super().step(step, indent)

    def _parallel(self, blocks: dict[str, Region], indent: int) -> None:
        """Writes parts that run at the same time, each as a function; `blocks` by the names of their devices."""
        functions, results = [], []
        for device, region in blocks.items():
            functions.append(self.unique(f"on_{device.rpartition('device:')[2]}"))
            self.row(indent, f"def {functions[-1]}():")
            self._region(region, indent + 1)
            held = [self.numbers.get(id(t)) or self.names[id(t)] for t in region.program.outputs]
            self.write_return(indent + 1, held)
            results.append(f"({', '.join(held)}{',' if len(held) == 1 else ''})")
        targets = "" if set(results) == {"()"} else f"{', '.join(results)} = "
        self.row(indent, f"{targets}{self.named('run_all', run_all)}({', '.join(functions)})")

    # ---- conditionals --------------------------------------------------------------------------------------------

    def _conditional(self, step: Step, branches: Sequence[tuple[Region, Sequence[int]]], indent: int) -> None:
        """Writes a conditional; `branches` as in `Region`."""
        index, *values = step.args
        names = [self.unique(t.op.name) for t in step.outputs]
        for i, (inner, places) in enumerate(branches):
            self.row(indent, self._branch_header(index, i, len(branches)))
            for t, place in zip(inner.program.inputs, places, strict=True):
                self._set_forms(t, self._forms(values[place]))
            rows = len(self._rows)
            self._region(inner, indent + 1)
            for name, own, out in zip(names, inner.program.outputs, step.outputs, strict=True):
                value = self._number(own) if id(out) in self._number_dtypes else self.reference(own)
                self.row(indent + 1, f"{name} = {value}")
            if len(self._rows) == rows:
                self.row(indent + 1, "pass")
        for name, out in zip(names, step.outputs, strict=True):
            self._set_name(out, name)

    def _branch_header(self, index: SymbolicTensor, i: int, count: int) -> str:
        """Returns the line that begins the branch with number `i` of `count`."""
        if i and i == count - 1:
            return "else:"
        if not index.dtype.is_integer:
            return f"if {self._test_value(index)}:"
        return f"{'elif' if i else 'if'} {self._test_value(index)} == {i}:" if count > 1 else "if True:"

    # ---- loops ---------------------------------------------------------------------------------------------------

    def _nested_loop(self, step: Step, loop: LoopRegion, indent: int) -> None:
        """Writes a loop inside another program."""
        args = step.args
        limit = ""
        if loop.limited:
            limit, args = f"int({self._test_value(args[0])})", args[1:]
        count = len(loop.variables)
        forms = [self._forms(t) for t in args]
        names = self._loop(loop, limit, forms[:count], forms[count:], indent)
        for out, name in zip(step.outputs, names, strict=True):
            self._set_name(out, name)

    def _loop(
        self,
        loop: LoopRegion,
        limit: str,
        starts: Sequence[Any],
        captured: Sequence[Any],
        indent: int,
        record: tuple[str, Sequence[int]] | None = None,
    ) -> list[str]:
        """Writes a loop.

        Args:
            loop: the loop.
            limit: the expression for the maximal trip count; unused if the loop has none.
            starts, captured: for the first values of loop variables, and for loop-invariant values: the expressions for
                the value as a number and as a tensor, each None if there is none.
            indent: the indentation.
            record: the name of the record, and which values that are computed before the loop it has; None without it.

        Returns:
            The names of the loop variables.
        """
        names = []
        for (of_condition, own), (number, tensor) in zip(loop.variables, starts, strict=True):
            name = self.unique(own.op.name)
            names.append(name)
            if id(own) in self._number_dtypes:
                self.row(indent, f"{name} = {number or scalars.UNBOX[own.dtype].format(tensor)}")
            else:
                self.row(indent, f"{name} = {tensor or self._box(own.dtype, number)}")
            for t in (of_condition, own):
                self._set_name(t, name)
        for place, tensors in loop.captured.items():
            number, tensor = captured[place]
            if id(tensors[0]) in self._number_dtypes and number is None:
                number = self.unique(f"{tensors[0].op.name}_number")
                self.row(indent, f"{number} = {scalars.UNBOX[tensors[0].dtype].format(tensor)}")
            for t in tensors:
                self._set_forms(t, (number, tensor))
        depth, dead = self._loop_header(loop, limit, names, indent, record)
        indent += depth
        self._region(loop.body, indent + 1)
        outputs = loop.body.program.outputs
        if record is not None:
            residuals = "".join(f"{self._as_held(t)}, " for t in outputs[len(names) :])
            self.row(indent + 1, f"{record[0]}.rows.append(({residuals}))")
        values = [
            self._number(out) if id(own) in self._number_dtypes else self.reference(out)
            for (_, own), out in zip(loop.variables, outputs, strict=False)
        ]
        changed = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
        if changed:
            self.row(indent + 1, f"{', '.join(n for n, _ in changed)} = {', '.join(v for _, v in changed)}")
        if dead:
            self.row(indent, f"del {', '.join(dead)}")
        return names

    def _loop_header(
        self, loop: LoopRegion, limit: str, names: Sequence[str], indent: int, record: tuple[str, Sequence[int]] | None
    ) -> tuple[int, list[str]]:
        """Writes the lines of a loop before its body.

        Args:
            loop: the loop.
            limit: the expression for the maximal trip count; unused if the loop has none.
            names: the names of the loop variables.
            indent: the indentation.
            record: as of `_loop`.

        Returns:
            How much deeper than these lines the loop is, and the names that have no use after it.
        """
        ahead = loop.ahead
        if ahead is not None and len(loop.from_ahead) > ahead.shared:
            return 1, self._counted_header(loop, ahead, limit, names, indent, record)
        waits = self.unique("first")
        if ahead is not None:
            self.row(indent, f"{waits} = True")
        self.row(indent, f"for _ in range({limit}):" if loop.limited else "while True:")
        self._region(loop.condition, indent + 1)
        self.row(indent + 1, f"if not {self._test_value(loop.condition.program.outputs[0])}:")
        self.row(indent + 2, "break")
        if ahead is not None:
            self.row(indent + 1, f"if {waits}:")
            self.row(indent + 2, f"{waits} = False")
            self._ahead(loop, ahead, indent + 2, record)
        return 0, []

    def _counted_header(
        self,
        loop: LoopRegion,
        ahead: Ahead,
        limit: str,
        names: Sequence[str],
        indent: int,
        record: tuple[str, Sequence[int]] | None,
    ) -> list[str]:
        """Writes the lines before the body of a loop with values that are computed for all iterations at once."""
        counter, program = names[ahead.counter or 0], ahead.region.program
        self._region(loop.condition, indent)
        stop, bound = self.unique("stop"), self._number(loop.condition.program.steps[-1].args[1])
        self.row(indent, f"{stop} = " + (f"min({bound}, {counter} + {limit})" if loop.limited else bound))
        self.row(indent, f"if {counter} < {stop}:")
        count, counters = map(self.unique, ("count", "counters"))
        self.row(indent + 1, f"{count} = {stop} - {counter}")
        dtype = self.named("counter_dtype", program.inputs[1].dtype.torch)
        self.row(indent + 1, f"{counters} = {self.named('arange', torch.arange)}({counter}, {stop}, dtype={dtype})")
        for t, name in zip(program.inputs, (count, counters), strict=False):
            self._set_name(t, name)
        self._ahead(loop, ahead, indent + 1, record)
        items: dict[str, str] = {}
        used = loop.body.program.use_counts()  # others are recorded alone
        for t, own in zip(program.outputs[ahead.shared :], loop.from_ahead[ahead.shared :], strict=True):
            stacked = self.reference(t)
            if id(own) not in used:
                continue
            if stacked not in items:
                items[stacked] = self.unique(own.op.name)
            self.names[id(own)] = items[stacked]
        values = "".join(f", {stacked}.unbind()" for stacked in items)
        self.row(indent + 1, f"for {', '.join([counter, *items.values()])} in zip(range({counter}, {stop}){values}):")
        return [*items, *items.values()]

    def _ahead(self, loop: LoopRegion, ahead: Ahead, indent: int, record: tuple[str, Sequence[int]] | None) -> None:
        """Writes what is computed before a loop, and has it recorded."""
        self._region(ahead.region, indent)
        outputs = ahead.region.program.outputs
        for t, own in zip(outputs[: ahead.shared], loop.from_ahead, strict=False):
            self._set_forms(own, self._forms(t))
        if record is not None and record[1]:
            self.row(indent, f"{record[0]}.ahead = ({''.join(f'{self.reference(outputs[i])}, ' for i in record[1])})")

    # ---- numbers -------------------------------------------------------------------------------------------------

    def _set_name(self, tensor: SymbolicTensor, name: str) -> None:
        """Records the name of a tensor, or of the number that it is held as."""
        (self.numbers if id(tensor) in self._number_dtypes else self.names)[id(tensor)] = name

    def _set_forms(self, tensor: SymbolicTensor, forms: tuple[str | None, str | None]) -> None:
        """Records the expressions that the input of a region has outside of it."""
        number, value = forms
        if number is not None:
            self.numbers[id(tensor)] = number
        if value is not None:
            self.names[id(tensor)] = value

    def _forms(self, tensor: SymbolicTensor) -> tuple[str | None, str | None]:
        """Returns the expressions for a value as a number and as a tensor, each None if there is none yet."""
        number = self.numbers.get(id(tensor))
        if number is None and id(tensor) in self._constants and scalars.may_be_number(tensor):
            number = self._number(tensor)
        has_tensor = id(tensor) in self.names or id(tensor) in self._constants or number is None
        return number, self.reference(tensor) if has_tensor else None

    def _number(self, tensor: SymbolicTensor) -> str:
        """Returns the expression for a scalar that is held as a number."""
        name = self.numbers.get(id(tensor))
        if name is not None:
            return name
        value = scalars.literal(self._constants[id(tensor)], tensor.dtype)
        return repr(value) if type(value) in (int, bool) else self.named(f"{tensor.op.name}_number", value)

    def _as_held(self, tensor: SymbolicTensor) -> str:
        """Returns the expression for a value as it is held: as a number, or as a tensor."""
        return self._number(tensor) if id(tensor) in self._number_dtypes else self.reference(tensor)

    def _test_value(self, tensor: SymbolicTensor) -> str:
        """Returns the expression for a scalar whose value alone matters, as a number or as a tensor."""
        if id(tensor) in self.numbers or isinstance(self._constants.get(id(tensor)), torch.Tensor):
            return self._number(tensor)
        return self.reference(tensor)

    def _boxed(self, tensor: SymbolicTensor, name: str) -> str:
        """Returns the expression for a tensor that has a name, perhaps as a number."""
        return self._box(tensor.dtype, name) if id(tensor) in self._number_dtypes else name

    def _box(self, dtype: DType, number: str) -> str:
        """Returns the expression for the tensor of a number."""
        return f"{self.named(f'{dtype.name}_tensor', _BOXES[dtype])}({number})"

    def reference(self, tensor: SymbolicTensor) -> str:
        if id(tensor) in self.numbers and id(tensor) not in self.names and id(tensor) not in self._constants:
            return self._boxed(tensor, self.numbers[id(tensor)])
        return super().reference(tensor)

    def host(self, tensor: SymbolicTensor) -> str:
        if id(tensor) in self.numbers:
            return self.numbers[id(tensor)]
        packed = self._regions[-1].packed.get(id(tensor))
        return super().host(tensor) if packed is None else f"({', '.join(map(self._number, packed))},)"
