"""Recurring: computes loops that are recurrent layers by the kernels of their cells.

The loop of such a layer counts its iterations and reads one input per iteration from a list or a tensor. It carries the
states of an LSTM or a GRU (see `cells.py`). A convolutional LSTM has images as states. The loop may write the outputs
to lists. It may also write the other states to lists that nothing reads, as `tf.scan` does. A false mask leaves the
states and outputs of its row unchanged. Results differ from the results of single ops by rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.cells import GRU, LSTM, Cell
from tapeflow.graph.codegen.convolutional_cells import ConvLSTM2D
from tapeflow.graph.codegen.patterns import Call, Capture, Captures, Either, Matcher, Named, Number, Pattern, Via
from tapeflow.graph.codegen.program import Miss, Program, Step
from tapeflow.graph.codegen.recurrent import Bias, Entries, Layer, RecurrentLayer, Target
from tapeflow.graph.codegen.regions import LOOPS
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop


# ---- patterns --------------------------------------------------------------------------------------------------------


def _variable(name: str) -> Pattern:
    return Capture(name, lambda layer, tensor: layer.is_variable(tensor))


def _weights(name: str) -> Pattern:
    return Capture(name, lambda layer, tensor: layer.is_value(tensor))


def _part(number: int, count: int, pattern: Pattern) -> Pattern:
    """Returns the pattern of a tensor's part, one of `count` equal parts along the last axis."""
    return Via(lambda layer, tensor: layer.whole(tensor, number, count), pattern)


def _product(x: Pattern, kernel: str) -> Pattern:
    return Call(ops.MatMul, x, _weights(kernel), False, False)


def _biased(product: Pattern, vector: Pattern) -> Pattern:
    """Returns the pattern of a product with an optional bias."""
    return Either(product, Call(ops.BiasAdd, product, vector), Call(ops.AddV2, product, vector))


def _bias(name: str) -> Pattern:
    return Capture(name, lambda layer, tensor: layer.bias(tensor) is not None)


def _output_of_lstm(gate: Callable[[int], Pattern]) -> Pattern:
    """Returns the pattern of the output of an LSTM; `gate` returns the pattern of a gate before its activation."""
    i, f, g, o = [Call(op, gate(k)) for k, op in enumerate((ops.Sigmoid, ops.Sigmoid, ops.Tanh, ops.Sigmoid))]
    new_cell = Call(ops.AddV2, Call(ops.Mul, f, _variable("cell")), Call(ops.Mul, i, g), name="new cell")
    return Call(ops.Mul, o, Call(ops.Tanh, new_cell))


def _convolution(image: Pattern, name: str, kernel: str, gate: int) -> Pattern:
    strides, padding, paddings, dilations = [Capture(f"{name} attr {i}") for i in range(4)]
    return Call(ops.Conv2D, image, _part(gate, 4, _weights(kernel)), strides, padding, paddings, "NHWC", dilations)


def _sum_of_convolutions(gate: int) -> Pattern:
    bias = Via(lambda layer, tensor: layer.channels(tensor), _part(gate, 4, _weights("biases*")))
    of_input = _biased(_convolution(Capture("x"), "x", "kernel", gate), bias)
    return Call(ops.AddV2, of_input, _convolution(_variable("state"), "state", "recurrent kernel", gate))


@functools.cache
def _cells() -> tuple[Pattern, ...]:
    """Returns the patterns of the outputs of an LSTM, a convolutional LSTM and a GRU."""
    state = _variable("state")
    of_state = _product(state, "recurrent kernel")
    sums = Named("sums", _biased(Call(ops.AddV2, _product(Capture("x"), "kernel"), of_state), _bias("bias")))
    inputs = Named("inputs", _biased(_product(Capture("x"), "kernel"), _bias("bias")))
    states = Named("states", _biased(of_state, _bias("recurrent bias")))
    z, r = [Call(ops.Sigmoid, Call(ops.AddV2, _part(i, 3, inputs), _part(i, 3, states)), name="zr"[i]) for i in (0, 1)]
    n = Call(ops.Tanh, Call(ops.AddV2, _part(2, 3, inputs), Call(ops.Mul, r, _part(2, 3, states))))
    return (
        _output_of_lstm(lambda gate: _part(gate, 4, sums)),
        _output_of_lstm(_sum_of_convolutions),
        Call(ops.AddV2, Call(ops.Mul, z, state), Call(ops.Mul, Call(ops.Sub, Number(1.0), Capture("z")), n)),
    )


@functools.cache
def _selected() -> Pattern:
    """Returns the pattern of a `SelectV2`. A `Tile` with no effect may stand around the condition."""
    once = Capture("", lambda layer, repeats: type(repeats) is tuple and {*repeats} == {1})
    condition = Capture("condition")
    return Call(ops.SelectV2, Either(Call(ops.Tile, condition, once), condition), Capture("value"), Capture("other"))


# ---- the pass --------------------------------------------------------------------------------------------------------


def recur(program: Program) -> None:
    """Replaces loops that are recurrent layers by the kernels of their cells."""
    for step in program.steps:
        if step.name not in LOOPS or step.placed:
            continue
        body = _Body(step.op.kernel)
        layer = body.layer()
        if layer is None:
            program.misses += body.misses
            continue
        name = type(layer.cell()).__name__
        if any(_matters(i, step, program) for i in layer.unread):
            program.misses.append(Miss(name, step.operation, "a list of other states than the output is used"))
            continue
        layer = layer._replace(ends_matter=any(_matters(i, step, program) for i in layer.states[1:]))
        step.op = GraphOp(name, RecurrentLayer(step.op.kernel, layer), gives_tuple=True)


def _matters(output: int, loop: Step, program: Program) -> bool:
    """Returns True if a loop's output is used.

    The loop's gradient uses the outputs with a cotangent. It reads only the shapes of the others.
    """
    tensor, operation = loop.outputs[output], loop.operation
    users = [step for step in program.steps if any(t is tensor for t in step.inputs)]
    gradients = [None if step.registered else step.op.gradient_of for step in users]
    return any(t is tensor for t in program.outputs) or not all(
        g is not None and g.operation is operation and output not in g.targets for g in gradients
    )


class _Cell(NamedTuple):
    """A cell that a body computes.

    Attributes:
        kind: returns the cell.
        inputs: the tensor that the cell takes as input.
        before: the states before an iteration, as places of loop variables.
        after: the states after the iteration.
        matrices, biases: as in `Layer`.
    """

    kind: Callable[[], Cell]
    inputs: Any
    before: list[int]
    after: list[Any]
    matrices: list[int]
    biases: list[Bias]


class _Value(NamedTuple):
    """A value that a body computes in each iteration.

    Attributes:
        tensor: the value for rows with a true mask.
        otherwise: the place of the value for rows with a false mask; None without a mask.
        mask: the masks; None without a mask.
    """

    tensor: Any
    otherwise: int | None = None
    mask: Entries | None = None


class _Body(Matcher):
    """The body of a loop that may be a recurrent layer.

    Attributes:
        misses: the near misses: states that multiply weights like a cell, and then differ.
    """

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop.body.compiled.program)
        self._loop = loop
        places = [*range(loop.count), *(loop.count + i for i in loop.places[1])]
        self._places = {id(t): place for t, place in zip(self.program.inputs, places, strict=True)}
        self._constants: list[torch.Tensor] = []
        self.misses: list[Miss] = []

    def layer(self) -> Layer | None:
        """Returns the recurrent layer that the loop computes, or None."""
        loop = self._loop
        if loop.body.stateful or loop.condition.stateful or loop.prologue.counter is None:
            return None
        values: dict[int, _Value] = {}
        entries: dict[int, int | None] = {}
        for place, value in enumerate(self.program.outputs[: loop.count]):
            written = self.step(value)
            if written is not None and written.op is ops.TensorListSetItem.op:
                index, value = written.args[1:3]
                if not self._is_written(place, written.args):
                    return None
                entries[place] = None if self._is_counter(index) else index
            if place != loop.prologue.counter:
                values[place] = self._value(value)
        for v in values.values():
            for cell in self._cells(v.tensor):
                layer = self._layer_of(cell, values, entries)
                if isinstance(layer, Layer):
                    return layer
                self._miss(type(cell.kind()).__name__, cell.after[0], layer)
        return None

    def _miss(self, name: str, tensor: Any, reason: str, instead: Operation | None = None) -> None:
        """Records a near miss at a tensor."""
        step = self.step(tensor)
        if step is not None:
            self.misses.append(Miss(name, step.operation, reason, instead))

    def _layer_of(self, cell: _Cell, values: dict[int, _Value], entries: dict[int, int | None]) -> Layer | str:
        """Returns the layer of a cell, or the reason for not being one.

        Args:
            cell: the cell.
            values: the new value of each loop variable except the counter, by place.
            entries: for each list, the index of the entry that is written, by place; None for the counter.
        """
        masks, counter = {v.mask for v in values.values()}, self._loop.prologue.counter
        inputs, bound = self._entries(cell.inputs), self._bound()
        if inputs is None:
            return "its input is not the entry of a list or tensor at the counter of the loop"
        if bound is None or counter is None:
            return "the number of iterations changes in the loop"
        if len(masks) > 1:
            return "its states have different masks, or some have none"
        others = {id(t) for t in cell.after[1:]}
        unread = {place: entry for place, entry in entries.items() if id(values[place].tensor) in others}
        values = {place: v for place, v in values.items() if place not in unread}
        entries = {place: entry for place, entry in entries.items() if place not in unread}
        if not self._is_all(cell, values, entries):
            return "the loop changes other values, too"
        outputs = {p: Target(v.otherwise, entries.get(p)) for p, v in values.items() if p not in cell.before[1:]}
        return Layer(
            cell.kind, counter, bound, inputs, masks.pop(), cell.before, cell.matrices, cell.biases, outputs,
            frozenset(entries), unread, self._constants,
        )  # fmt: skip

    def _is_all(self, cell: _Cell, values: dict[int, _Value], entries: dict[int, int | None]) -> bool:
        """Returns True if all loop variables are outputs and states, and a false mask leaves the states unchanged.

        Args:
            cell, values, entries: as in `_layer_of`.
        """
        states = dict(zip(cell.before, cell.after, strict=True))
        weights = {*cell.matrices, *(bias[0] for bias in cell.biases if bias is not None)}
        if not values.keys() >= states.keys() or states.keys() & entries.keys() or values.keys() & weights:
            return False
        for place, (tensor, otherwise, mask) in values.items():
            if tensor is not states.get(place, cell.after[0]):
                return False
            if mask is None or otherwise is None:
                continue
            if otherwise == place or otherwise not in values:
                stays = place not in states or otherwise == place
            else:  # the rows keep the output of the iteration before
                stays = place not in states and otherwise not in entries and otherwise not in cell.before[1:]
                stays &= values[otherwise].otherwise == otherwise
            if not stays:
                return False
        return True

    # ---- loops ---------------------------------------------------------------------------------------------------

    def _is_counter(self, tensor: Any) -> bool:
        return self._places.get(id(tensor)) == self._loop.prologue.counter

    def _bound(self) -> int | None:
        """Returns the place of the counter's upper bound if it is a constant or loop-invariant; otherwise None."""
        loop, program = self._loop, self._loop.condition.compiled.program
        bound, constant = program.steps[-1].args[1], program.constant(program.steps[-1].args[1])
        if constant is not None:
            return self._place_of_constant(constant)
        captured = {id(t): place for t, place in zip(program.inputs[loop.count :], loop.places[0], strict=True)}
        return loop.count + captured[id(bound)] if id(bound) in captured else None

    def _is_written(self, place: int, args: Sequence[Any]) -> bool:
        """Returns True if each iteration writes the entry at the counter, or always the same entry, of a list."""
        entries, index, _, *resizes = args
        is_entry = self._is_counter(index) or (isinstance(index, int) and index >= 0)
        return self._places.get(id(entries)) == place and is_entry and not any(resizes)

    def _value(self, tensor: Any) -> _Value:
        """Returns the values of a tensor for rows with a true and with a false mask."""
        for captures in self.matches(_selected(), tensor):
            mask, otherwise = self._masks(captures["condition"]), self._place(captures["other"])
            if mask is not None and otherwise is not None:
                return _Value(captures["value"], otherwise, mask)
        return _Value(tensor)

    def _masks(self, condition: Any) -> Entries | None:
        """Returns the masks whose entry at the counter is a condition. The body may reshape a vector to a column."""
        step = self.producers.get(id(condition))
        if step is None or not _makes_column(step):
            return self._entries(condition)
        masks = self._entries(step.inputs[0])
        return None if masks is None or masks.axis is None else masks._replace(are_columns=True)

    def _entries(self, tensor: Any) -> Entries | None:
        """Returns the list or tensor whose entry at the counter is this tensor; entries of a list have one shape."""
        step = self.step(tensor)
        if step is None:
            return None
        if step.op is ops.TensorListGetItem.op:
            place = self._places.get(id(step.args[0])) if self._is_counter(step.args[1]) else None
            return Entries(place) if place is not None and place - self._loop.count in self._loop.uniform else None
        if step.op not in (ops.StridedSlice.op, ops.GatherV2.op):
            return None
        place, axis = self._places.get(id(step.args[0]), -1), self._axis_at_counter(step)
        return Entries(place, axis) if place >= self._loop.count and axis is not None else None

    def _axis_at_counter(self, step: Step) -> int | None:
        """Returns the axis that `StridedSlice` or `GatherV2` indexes by the counter; None if it also slices others."""
        if step.op is ops.GatherV2.op:
            _, indices, axis, _ = step.args
            return axis if self._is_counter(indices) and isinstance(axis, int) else None
        _, begin, _, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = step.args
        pack = self.step(begin)
        if pack is None or pack.op is not ops.Pack.op or ellipsis_mask or new_axis_mask:
            return None
        axes = range(len(pack.args[0]))
        axis = next((i for i in axes if shrink_axis_mask == 1 << i and self._is_counter(pack.args[0][i])), None)
        has_others = all(begin_mask & end_mask & 1 << i for i in axes if i != axis)
        return axis if has_others and strides == (1,) * len(axes) else None

    def _read(self, tensor: Any) -> Any:
        """Returns the variable whose value a tensor is, or the tensor itself."""
        step = self.producers.get(id(tensor))
        return tensor if step is None or step.op is not READ else step.args[0]

    def _place(self, tensor: Any) -> int | None:
        """Returns the place of a value of the loop, a variable's value or a constant; None for other tensors."""
        constant = self.program.constant(tensor)
        if isinstance(constant, torch.Tensor):
            return self._place_of_constant(constant)
        return self._places.get(id(self._read(tensor)))

    def _place_of_constant(self, value: torch.Tensor) -> int:
        """Appends a constant to the loop's values, and returns its place."""
        self._constants.append(value)
        return self._loop.count + self._loop.captured + len(self._constants) - 1

    # ---- cells ---------------------------------------------------------------------------------------------------

    def _cells(self, h: Any) -> Iterator[_Cell]:
        """Yields the cells whose output may be `h`."""
        kinds = {"LSTM": self._lstm, "ConvLSTM2D": self._conv_lstm, "GRU": self._gru}
        for pattern, (name, cell_of) in zip(_cells(), kinds.items(), strict=True):
            matched = False
            for captures in self.matches(pattern, h):
                matched = True
                cell = cell_of(h, captures)
                if cell is not None and len({*cell.before}) == len(cell.before):
                    yield cell
            failure = self.failure
            if not matched and failure is not None and "recurrent kernel" in failure.captures.values:
                self._miss(name, h, failure.reason, failure.operation)

    def _lstm(self, h: Any, captures: Captures) -> _Cell:
        before, after = [self._places[id(captures[name])] for name in ("state", "cell")], [h, captures["new cell"]]
        return _Cell(LSTM, captures["x"], before, after, self._matrices(captures), [self.bias(captures["bias"])])

    def _conv_lstm(self, h: Any, captures: Captures) -> _Cell | None:
        biases = captures["biases*"]
        if biases and (len(biases) < 4 or any(t is not biases[0] for t in biases)):
            return None
        attrs = [[captures[f"{name} attr {i}"] for i in range(4)] for name in ("x", "state")]
        kind = functools.partial(ConvLSTM2D, *[(*a[:3], "NHWC", a[3]) for a in attrs])
        bias: Any = (self._place(biases[0]), None) if biases else None
        return self._lstm(h, captures)._replace(kind=kind, biases=[bias])

    def _gru(self, h: Any, captures: Captures) -> _Cell:
        biases = [self.bias(captures[name]) for name in ("bias", "recurrent bias")]
        return _Cell(GRU, captures["x"], [self._places[id(captures["state"])]], [h], self._matrices(captures), biases)

    def _matrices(self, captures: Captures) -> list[Any]:
        return [self._place(captures[name]) for name in ("kernel", "recurrent kernel")]

    def is_variable(self, tensor: Any) -> bool:
        """Returns True if a tensor is one of the loop's variables."""
        return 0 <= self._places.get(id(tensor), -1) < self._loop.count

    def is_value(self, tensor: Any) -> bool:
        """Returns True if a tensor is a value of the loop, or a constant."""
        return isinstance(self.program.constant(tensor), torch.Tensor) or id(self._read(tensor)) in self._places

    def bias(self, tensor: Any) -> Bias:
        """Returns the place of a bias and, for a row of a matrix, the row; None if the tensor is no bias."""
        if tensor is None or tensor.shape.rank != 1:
            return None
        row = self.before_views(tensor)
        split = self.producers.get(id(row))
        if split is not None and split.op is ops.Split.op and _is_axis(split.args[0], 0):
            place = self._place(split.args[1])
            return None if place is None else (place, row.value_index)
        place = self._place(tensor)
        return None if place is None else (place, None)

    def channels(self, tensor: Any) -> Any:
        """Returns a vector of the channels before reshapes added leading dimensions; None for other tensors."""
        return self.before_views(tensor) if all(d == 1 for d in tensor.shape.as_list()[:-1]) else None

    def whole(self, tensor: Any, number: int, count: int) -> Any:
        """Returns the tensor whose part `number` of `count` is this tensor, or None."""
        part = self._part(tensor)
        return part[0] if part is not None and part[1:] == (number, count) else None

    def _part(self, tensor: Any) -> tuple[Any, int, int] | None:
        """Returns the source, index and number of parts of a tensor that is one of equal parts along the last axis."""
        step = self.producers.get(id(tensor))
        rank = None if step is None else tensor.shape.rank
        if step is None or not rank:
            return None
        if step.op is ops.Split.op:
            is_last = _is_axis(step.args[0], rank - 1, -1)
            return (step.args[1], tensor.value_index, len(step.outputs)) if is_last else None
        if rank != 2:
            return None
        size, columns = tensor.shape[1], step.inputs[0].shape[-1] if step.inputs else None
        if step.op is not ops.StridedSlice.op or not size or columns is None or columns % size:
            return None
        begin = _first_column(step.args)
        return None if begin is None or begin % size else (step.args[0], begin // size, columns // size)


def _is_axis(axis: Any, *axes: int) -> bool:
    """Returns True if an op's axis argument is static and in `axes`."""
    return isinstance(axis, int) and axis in axes


def _makes_column(step: Step) -> bool:
    """Returns True if a step reshapes a vector to a column, as `x[:, tf.newaxis]` does."""
    if step.placed or not step.inputs or step.inputs[0].shape.rank != 1 or step.outputs[0].shape.rank != 2:
        return False
    if step.op is ops.StridedSlice.op:
        _, _, _, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, _ = step.args
        return strides == (1, 1) and bool(begin_mask & end_mask & 1) and not ellipsis_mask and new_axis_mask == 2
    return step.op in (ops.ExpandDims.op, ops.Reshape.op) and step.outputs[0].shape[1] == 1


def _first_column(args: Sequence[Any]) -> int | None:
    """Returns the first column of a matrix slice with all rows, from the arguments of `StridedSlice`, or None."""
    _, begin, end, strides, begin_mask, end_mask, *others = args
    if not all(isinstance(a, tuple) and len(a) == 2 for a in (begin, end, strides)) or any(others):
        return None
    if strides != (1, 1) or not begin_mask & end_mask & 1:
        return None
    return 0 if begin_mask & 2 else begin[1]
