"""The functions of machine code: of a loop, of its gradient, and of a part of a program."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.types.dtypes import DType, bool_, resource, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.compiler.instructions import I64, number, store_entry
from tapeflow.graph.compiler.loop_code import FEW, Code, Value
from tapeflow.graph.compiler.loop_control import UNRECORDED, Entries, Held, Variable, Version, numbers_of, write_loop
from tapeflow.graph.compiler.loop_steps import Steps, condition_of
from tapeflow.graph.compiler.qualification import KEPT, Parts
from tapeflow.graph.program.loops import Loop
from tapeflow.graph.program.program import Program


class _Function:
    """The function of a loop. It takes operands in memory.

    Attributes:
        code: its code.
        limit: the maximal trip count, a 64-bit integer.
        lists: for each operand, its list, or None for a tensor.
    """

    def __init__(self, most: int, is_gradient: bool = False) -> None:
        self.code = Code(most, is_gradient)
        self.limit = self.code.limit
        self.lists: list[Entries | None] = []
        self._variables: list[tuple[Variable, Any]] = []

    def _pointer(self, dtype: DType, may_change: bool) -> Any:
        """Returns the address of the next operand, and adds its entry to `lists`."""
        place = len(self.lists)
        self.lists.append(None)
        if dtype is resource:
            return place
        pointer = self.code.address(("operand", place))
        if dtype is variant:
            self.lists[-1] = Entries(pointer, self.code.entry(("length", place)), may_change)
        return pointer

    def variable(self, tensor: SymbolicTensor | TensorSpec) -> Variable | Entries:
        """Returns the variable of the next operand. The loop changes it."""
        code, pointer = self.code, self._pointer(tensor.dtype, True)
        if self.lists[-1] is not None:
            return self.lists[-1]
        shape = tuple(tensor.shape.as_list())
        variable = Variable(code, shape, tensor.dtype, pointer)
        if math.prod(shape) <= FEW:
            variable.store(code.settled(code.at(pointer, shape, tensor.dtype, False)))
            self._variables.append((variable, pointer))
        return variable

    def captured(self, tensor: SymbolicTensor | TensorSpec, ahead: bool = True) -> Held:
        """Returns the next operand. The loop does not change it. With `ahead`, its uses are hoisted."""
        pointer = self._pointer(tensor.dtype, False)
        if self.lists[-1] is not None:
            return self.lists[-1].last
        if tensor.dtype is resource:
            return pointer
        return self.code.settled(self.code.at(pointer, tuple(tensor.shape.as_list()), tensor.dtype, ahead))

    def unrecorded(self) -> Held:
        """Returns the placeholder of the next operand, a residual that is not recorded."""
        self.lists.append(None)
        return UNRECORDED.last

    def rows(self, tensor: SymbolicTensor | TensorSpec) -> Callable[[Any], Value]:
        """Returns a function from a row's index to that row of the next operand."""
        pointer, shape = self._pointer(tensor.dtype, False), tuple(tensor.shape.as_list())
        return lambda i: self.code.settled(self._row(pointer, shape, tensor.dtype, i))

    def _row(self, pointer: Any, shape: tuple[int, ...], dtype: DType, i: Any) -> Value:
        offset = self.code.b.mul(i, number(math.prod(shape)))
        return self.code.at(self.code.moved(pointer, offset, dtype), shape, dtype, False)

    def record(self, held: Held, i: Any) -> None:
        """Stores a tensor of an iteration in a row of memory. A loop-invariant tensor is stored only once."""
        code = self.code
        if isinstance(held, Version):
            code.entry(("recorded", (0,), bool_, True))
            return
        held = numbers_of(held)
        pointer = code.address(("recorded", held.shape, held.dtype, held.ahead))
        with code.placed(held.ahead):
            target = self._row(pointer, held.shape, held.dtype, number(0) if held.ahead else i)
            code.fill(target, held)

    def end(self, count: Any, going: Any) -> None:
        """Ends the function after the loop."""
        code, b = self.code, self.code.b
        for variable, pointer in self._variables:
            code.fill(code.at(pointer, variable.shape, variable.dtype, False), variable.load())
        for i, value in enumerate((count, b.zext(going, I64))):
            store_entry(b, value, code.arguments, i)
        b.ret_void()


def loop_code(loop: Loop, parts: Parts, most: int) -> tuple[Code, list[Entries | None]]:
    """Returns the code of a loop, and for each of its operands its list, or None for a tensor.

    The first entry of the table is the maximal trip count, which the code replaces by the trip count. The second one is
    the status: -1 after a failure, 1 if the condition still holds, otherwise 0. The third one is the number of
    instructions between two looks for signals. The next ones are the exception that a signal handler raised.

    Args:
        loop: the loop.
        parts: its programs. The operands are the inputs of the loop, and the results of the part before it.
        most: the most multiplications of a matrix product.

    Raises:
        Unsupported: the loop does not qualify.
    """
    function = _Function(most)
    variables = [function.variable(t) for t in parts.tensors[: loop.count]]
    captured = [function.captured(t) for t in parts.tensors[loop.count :]]
    shared = [function.captured(t) for t in parts.shared]
    rows = [function.rows(t) for t in parts.stacked]

    def iterate(state: list[Held], count: Any) -> list[Held]:
        inputs = [*state, *(captured[i] for i in loop.places[1]), *shared, *(row(count) for row in rows)]
        outputs = Steps(function.code, parts.body, inputs, count).outputs
        for held in outputs[loop.count :]:
            function.record(held, count)
        return outputs[: loop.count]

    test = condition_of(function.code, parts.condition, [captured[i] for i in loop.places[0]])
    function.end(*write_loop(function.code, variables, test, iterate, function.limit))
    return function.code, function.lists


def gradient_code(
    program: Program,
    following: Sequence[int | None],
    added: Sequence[int],
    is_shared: Sequence[bool | None],
    outputs: int,
    most: int,
) -> tuple[Code, list[Entries | None]]:
    """Returns the code of a loop's gradient; result as in `loop_code`, other arguments as in `NativeGradient`.

    Args:
        added: the places of the outputs that are summed.
        most: the most multiplications of a matrix product.

    Raises:
        Unsupported: the gradient does not qualify.
    """
    function, count = _Function(most, is_gradient=True), len(following)
    code, b = function.code, function.code.b
    cotangents = [function.variable(t) for t in program.inputs[:count]]
    captures = program.inputs[count:]
    values: list[Any] = [
        function.unrecorded() if is_same is None else function.captured(t) if is_same else function.rows(t)
        for t, is_same in zip(captures, is_shared, strict=True)
    ]
    sums = [function.variable(program.outputs[i]) for i in added]

    def iterate(state: list[Held], trip: Any) -> list[Held]:
        row = b.sub(b.sub(function.limit, trip), number(1))
        inputs = [held(row) if is_same is False else held for held, is_same in zip(values, is_shared, strict=True)]
        results = Steps(code, program, [*state[:count], *inputs]).outputs
        for held in results[outputs:]:
            function.record(held, row)
        after: list[Held] = []
        for held, place in zip(state, following, strict=False):
            zeros = code.zeros(held.shape, held.dtype) if isinstance(held, Value) else held
            after.append(held if place == KEPT else zeros if place is None else results[place])
        return after + [
            code.sum(numbers_of(x), numbers_of(results[i])) for x, i in zip(state[count:], added, strict=True)
        ]

    always = code.one.number(True, bool_).value
    function.end(*write_loop(code, [*cotangents, *sums], lambda state: always, iterate, function.limit))
    return code, function.lists


def function_code(part: Program, variables: Sequence[Any], most: int) -> tuple[Code, int]:
    """Returns the code of a part of a program, and the number of instructions that it runs.

    The first entries of the table are as in `loop_code`.

    Args:
        part: the part. Handles of the variables that it changes are its first inputs.
        variables: these variables.
        most: the most multiplications of a matrix product.

    Raises:
        Unsupported: the part does not qualify.
    """
    function, count = _Function(most), len(variables)
    code, place = function.code, function.code.place()
    changed: dict[int, Any] = {v._id: function.variable(TensorSpec(v.shape, v.dtype)) for v in variables}
    inputs = [*range(count), *[function.captured(t, ahead=False) for t in part.inputs[count:]]]
    values: dict[int, Held] = {i: variable.load(borrowed=True) for i, variable in changed.items()}
    steps = Steps(code, part, inputs, number(0), variables=values)
    for i, held in enumerate(map(numbers_of, steps.outputs)):
        code.fill(code.at(code.address(("output", i)), held.shape, held.dtype, False), held)
    prepared = [(variable, variable.prepared(values[i])) for i, variable in changed.items()]
    for variable, value in prepared:
        variable.store(dataclasses.replace(value, borrowed=False))
    work = code.work_since(place)
    function.end(number(0), code.one.number(False, bool_).value)
    return code, work
