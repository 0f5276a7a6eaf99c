"""Recurring: loops that are recurrent layers are computed by the kernels of their cells.

A layer's loop counts, reads an input of each step from a list or a tensor, and carries the states of an LSTM or a GRU,
which are products, sums and activations (see `cells.py`); those of an LSTM may be images, and its products
convolutions. It may write the outputs to lists, and the other states to lists that nothing reads, as `tf.scan` does.
Where a mask is false, states and outputs stay as they are. Results differ from those of single ops by rounding.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.cells import GRU, LSTM, Cell
from tapeflow.graph.codegen.convolutional_cells import ConvLSTM2D
from tapeflow.graph.codegen.producers import Producers, is_vector
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.codegen.recurrent import Bias, Entries, Layer, RecurrentLayer, Target
from tapeflow.graph.codegen.regions import LOOPS
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop


def recur(program: Program) -> None:
    """Replaces loops that are recurrent layers."""
    for step in program.steps:
        layer = _Patterns(step.op.kernel).layer() if step.name in LOOPS and not step.placed else None
        if layer is not None and not any(_matters(i, step, program) for i in layer.unread):
            layer = layer._replace(ends_matter=any(_matters(i, step, program) for i in layer.states[1:]))
            name = type(layer.cell()).__name__
            step.op = GraphOp(name, RecurrentLayer(step.op.kernel, layer), gives_tuple=True)


def _matters(output: int, loop: Step, program: Program) -> bool:
    """Tests whether a loop's output is used. Its gradient reads no more than the shape of one without a cotangent."""
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
        inputs: the input of a step.
        before, after: the states before the step, as places of loop variables, and after it.
        matrices, biases: as of `Layer`.
    """

    kind: Callable[[], Cell]
    inputs: Any
    before: list[int]
    after: list[Any]
    matrices: list[int]
    biases: list[Bias]


class _Convolution(NamedTuple):
    """A convolution that computes one gate.

    Attributes:
        image: the images.
        attrs: the attrs.
        filters, bias: the place of the filters of all gates, and of their biases; None without biases.
    """

    image: Any
    attrs: tuple[Any, ...]
    filters: int
    bias: int | None


class _Value(NamedTuple):
    """A value that a body computes in each step.

    Attributes:
        tensor: the value, where the mask is true.
        otherwise: the place of what it is elsewhere, or None.
        mask: the masks; None without a mask.
    """

    tensor: Any
    otherwise: int | None = None
    mask: Entries | None = None


class _Patterns(Producers):
    """The pattern of a recurrent layer in the body of a loop."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop.body.compiled.program)
        self._loop = loop
        places = [*range(loop.count), *(loop.count + i for i in loop.places[1])]
        self._places = {id(t): place for t, place in zip(self.program.inputs, places, strict=True)}
        self._constants: list[torch.Tensor] = []

    def layer(self) -> Layer | None:
        """Returns the layer that the loop is, or None."""
        loop = self._loop
        if loop.body.stateful or loop.condition.stateful or loop.prologue.counter is None:
            return None
        values: dict[int, _Value] = {}
        entries: dict[int, int | None] = {}
        for place, value in enumerate(self.program.outputs[: loop.count]):
            written = self.of(value, ops.TensorListSetItem)
            if written is not None:
                index, value = written.args[1:3]
                if not self._is_written(place, written.args):
                    return None
                entries[place] = None if self._is_counter(index) else index
            if place != loop.prologue.counter:
                values[place] = self._value(value)
        cells = (cell for v in values.values() for kind in (self._lstm, self._gru) for cell in kind(v.tensor))
        return next((layer for cell in cells if (layer := self._layer_of(cell, values, entries)) is not None), None)

    def _layer_of(self, cell: _Cell, values: dict[int, _Value], entries: dict[int, int | None]) -> Layer | None:
        """Returns the layer of a cell.

        Args:
            cell: the cell.
            values: what is written to each loop variable but the counter, by their places.
            entries: which entry is written of those that are lists; None for the one at the counter.
        """
        masks, counter = {v.mask for v in values.values()}, self._loop.prologue.counter
        inputs, bound = self._entries(cell.inputs), self._bound()
        if inputs is None or bound is None or counter is None or len(masks) > 1:
            return None
        others = {id(t) for t in cell.after[1:]}
        unread = {place: entry for place, entry in entries.items() if id(values[place].tensor) in others}
        values = {place: v for place, v in values.items() if place not in unread}
        entries = {place: entry for place, entry in entries.items() if place not in unread}
        if not self._is_all(cell, values, entries):
            return None
        outputs = {p: Target(v.otherwise, entries.get(p)) for p, v in values.items() if p not in cell.before[1:]}
        return Layer(
            cell.kind, counter, bound, inputs, masks.pop(), cell.before, cell.matrices, cell.biases, outputs,
            frozenset(entries), unread, self._constants,
        )  # fmt: skip

    def _is_all(self, cell: _Cell, values: dict[int, _Value], entries: dict[int, int | None]) -> bool:
        """Tests whether the loop variables are outputs and states alone, and states stay where the mask is false.

        Args:
            cell, values, entries: as of `_layer_of`.
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
            else:  # it is the output before
                stays = place not in states and otherwise not in entries and otherwise not in cell.before[1:]
                stays &= values[otherwise].otherwise == otherwise
            if not stays:
                return False
        return True

    # ---- loops ---------------------------------------------------------------------------------------------------

    def _is_counter(self, tensor: Any) -> bool:
        return self._places.get(id(tensor)) == self._loop.prologue.counter

    def _bound(self) -> int | None:
        """Returns the place of what the counter stays below, if nothing computes it."""
        loop, program = self._loop, self._loop.condition.compiled.program
        bound, constant = program.steps[-1].args[1], program.constant(program.steps[-1].args[1])
        if constant is not None:
            return self._place_of_constant(constant)
        captured = {id(t): place for t, place in zip(program.inputs[loop.count :], loop.places[0], strict=True)}
        return loop.count + captured[id(bound)] if id(bound) in captured else None

    def _is_written(self, place: int, args: Sequence[Any]) -> bool:
        """Tests whether each step writes the same entry of a loop variable, or the one at the counter."""
        entries, index, _, *resizes = args
        is_entry = self._is_counter(index) or (isinstance(index, int) and index >= 0)
        return self._places.get(id(entries)) == place and is_entry and not any(resizes)

    def _value(self, tensor: Any) -> _Value:
        """Returns what a tensor is where the mask is true, and elsewhere."""
        step = self.of(tensor, ops.SelectV2)
        if step is None:
            return _Value(tensor)
        condition, value, other = step.args
        tile = self.of(condition, ops.Tile)
        if tile is not None and isinstance(tile.args[1], tuple) and tile.args[1] == (1,) * (condition.shape.rank or 0):
            condition = tile.args[0]
        mask, otherwise = self._masks(condition), self._place(other)
        return _Value(tensor) if mask is None or otherwise is None else _Value(value, otherwise, mask)

    def _masks(self, condition: Any) -> Entries | None:
        """Returns what a condition is the entry of at the counter; a column may be made of one that is a vector."""
        step = self.producers.get(id(condition))
        if step is None or not _makes_column(step):
            return self._entries(condition)
        masks = self._entries(step.inputs[0])
        return None if masks is None or masks.axis is None else masks._replace(are_columns=True)

    def _entries(self, tensor: Any) -> Entries | None:
        """Returns what a tensor is the entry of at the counter: a list whose entries have one shape, or a tensor."""
        step = self.of(tensor, ops.TensorListGetItem)
        if step is not None:
            place = self._places.get(id(step.args[0])) if self._is_counter(step.args[1]) else None
            return Entries(place) if place is not None and place - self._loop.count in self._loop.uniform else None
        step = self.of(tensor, ops.StridedSlice) or self.of(tensor, ops.GatherV2)
        if step is None:
            return None
        place, axis = self._places.get(id(step.args[0]), -1), self._axis_at_counter(step)
        return Entries(place, axis) if place >= self._loop.count and axis is not None else None

    def _axis_at_counter(self, step: Step) -> int | None:
        """Returns the axis of which `StridedSlice` or `GatherV2` takes the entry at the counter, if it has all of the
        others."""
        if step.op is ops.GatherV2.op:
            _, indices, axis, _ = step.args
            return axis if self._is_counter(indices) and isinstance(axis, int) else None
        _, begin, _, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = step.args
        pack = self.of(begin, ops.Pack)
        if pack is None or ellipsis_mask or new_axis_mask:
            return None
        axes = range(len(pack.args[0]))
        axis = next((i for i in axes if shrink_axis_mask == 1 << i and self._is_counter(pack.args[0][i])), None)
        has_others = all(begin_mask & end_mask & 1 << i for i in axes if i != axis)
        return axis if has_others and strides == (1,) * len(axes) else None

    def _place(self, tensor: Any) -> int | None:
        """Returns the place of a value of the loop, which may be a variable to read, or a constant."""
        step, constant = self.producers.get(id(tensor)), self.program.constant(tensor)
        if isinstance(constant, torch.Tensor):
            return self._place_of_constant(constant)
        return self._places.get(id(tensor if step is None or step.op is not READ else step.args[0]))

    def _place_of_constant(self, value: torch.Tensor) -> int:
        """Adds a constant behind the loop's values, and returns its place."""
        self._constants.append(value)
        return self._loop.count + self._loop.captured + len(self._constants) - 1

    # ---- cells ---------------------------------------------------------------------------------------------------

    def _lstm(self, h: Any) -> Iterator[_Cell]:
        """Yields the LSTM that `h` is the output of."""
        for o, after in self.operands(h, ops.Mul):
            c = self._argument(after, ops.Tanh)
            for first, second in self.operands(c, ops.AddV2):
                factors = self.operands(first, ops.Mul), self.operands(second, ops.Mul)
                for (f, before), (i, g) in itertools.product(*factors):
                    gates = [self._argument(t, ops.Sigmoid) for t in (i, f, o)]
                    gates.insert(2, self._argument(g, ops.Tanh))
                    yield from self._convolutional(h, c, before, gates)
                    for products, bias in self._biased(self._whole(gates)):
                        for a, b in self.operands(products, ops.AddV2):
                            x, kernel, state, recurrent_kernel = *self._product(a), *self._product(b)
                            states = [self._places.get(id(t), -1) for t in (state, before)]
                            if kernel and recurrent_kernel and self._are_variables(states):
                                yield _Cell(LSTM, x, states, [h, c], [kernel, recurrent_kernel], [bias])

    def _convolutional(self, h: Any, c: Any, before: Any, gates: Sequence[Any]) -> Iterator[_Cell]:
        """Yields the LSTM with these gates, before their activations, if they are sums of convolutions."""
        sums = [self._convolutions(gate, number, len(gates)) for number, gate in enumerate(gates)]
        of_input, of_state = sums[0] or (None, None)
        if of_input is None or of_state is None or of_state.bias is not None:
            return
        if not all(s is not None and _are_alike(s[0], of_input) and _are_alike(s[1], of_state) for s in sums):
            return
        states = [self._places.get(id(t), -1) for t in (of_state.image, before)]
        if self._are_variables(states):
            bias = None if of_input.bias is None else (of_input.bias, None)
            kind = functools.partial(ConvLSTM2D, of_input.attrs, of_state.attrs)
            yield _Cell(kind, of_input.image, states, [h, c], [of_input.filters, of_state.filters], [bias])

    def _convolutions(self, gate: Any, number: int, count: int) -> tuple[_Convolution, _Convolution] | None:
        """Returns the convolutions of the input and of the state whose sum is the gate of this number."""
        for a, b in self.operands(gate, ops.AddV2):
            of_input, of_state = self._convolution(a, number, count), self._convolution(b, number, count)
            if of_input is None or of_state is None:
                continue
            if 0 <= self._places.get(id(of_state.image), -1) < self._loop.count:
                return of_input, of_state
        return None

    def _convolution(self, tensor: Any, number: int, count: int) -> _Convolution | None:
        """Returns the convolution, with a bias or without, that a gate is, if the filters are this part of all."""
        options = [(tensor, None), *self.operands(tensor, ops.BiasAdd), *self.operands(tensor, ops.AddV2)]
        for product, vector in options:
            step = self.of(product, ops.Conv2D)
            if step is None:
                continue
            bias = None if vector is None else self._place_of_part(self.unshaped(vector), number, count)
            filters = self._place_of_part(step.args[1], number, count)
            is_biased = bias is not None and is_vector(vector, product)
            if filters is not None and (vector is None or is_biased) and step.args[5] == "NHWC":
                return _Convolution(step.args[0], tuple(step.args[2:]), filters, bias)
        return None

    def _place_of_part(self, tensor: Any, number: int, count: int) -> int | None:
        """Returns the place of the tensor of which this one is the part of this number; None if it is not."""
        part = self._part(tensor)
        return self._place(part[0]) if part is not None and part[1:] == (number, count) else None

    def _gru(self, h: Any) -> Iterator[_Cell]:
        """Yields the GRU that `h` is the output of."""
        for first, second in self.operands(h, ops.AddV2):
            factors = self.operands(first, ops.Mul), self.operands(second, ops.Mul)
            for (gate, before), (share, n) in itertools.product(*factors):
                rest = self.of(share, ops.Sub)
                if rest is None or rest.args[1] is not gate or self.number(rest.args[0]) != 1:
                    continue
                z = self._argument(gate, ops.Sigmoid)
                sums = self.operands(z, ops.AddV2), self.operands(self._argument(n, ops.Tanh), ops.AddV2)
                for (xz, hz), (xn, reset) in itertools.product(*sums):
                    for r, hn in self.operands(reset, ops.Mul):
                        for xr, hr in self.operands(self._argument(r, ops.Sigmoid), ops.AddV2):
                            yield from self._gru_of(h, before, self._whole([xz, xr, xn]), self._whole([hz, hr, hn]))

    def _gru_of(self, h: Any, before: Any, of_input: Any, of_state: Any) -> Iterator[_Cell]:
        """Yields the GRU with these products of the input and of the state, if they are products."""
        for (a, bias), (b, recurrent_bias) in itertools.product(self._biased(of_input), self._biased(of_state)):
            x, kernel, state, recurrent_kernel = *self._product(a), *self._product(b)
            states = [self._places.get(id(before), -1)]
            if kernel and recurrent_kernel and state is before and self._are_variables(states):
                yield _Cell(GRU, x, states, [h], [kernel, recurrent_kernel], [bias, recurrent_bias])

    def _are_variables(self, places: list[int]) -> bool:
        return all(0 <= p < self._loop.count for p in places) and len({*places}) == len(places)

    def _argument(self, tensor: Any, op: Any) -> Any:
        """Returns the argument of the op that computes a tensor, if it is this one."""
        step = self.of(tensor, op)
        return None if step is None else step.args[0]

    def _product(self, tensor: Any) -> tuple[Any, int | None]:
        """Returns the tensor and the place of the matrix whose product a tensor is."""
        step = self.producers.get(id(tensor))
        if step is None or step.name != ops.MatMul.op.name or True in step.args[2:]:
            return None, None
        return step.args[0], self._place(step.args[1])

    def _biased(self, tensor: Any) -> Iterator[tuple[Any, Bias]]:
        """Yields what a tensor is the sum of a bias and."""
        yield tensor, None
        for op in (ops.BiasAdd, ops.AddV2):
            for summand, vector in self.operands(tensor, op):
                bias = self._bias(vector)
                if bias is not None:
                    yield summand, bias

    def _bias(self, tensor: Any) -> Bias:
        """Returns the place of a bias, which may be a row of a matrix."""
        place, row = self._place(tensor), None
        split = self.producers.get(id(self.unshaped(tensor)))
        if place is None and split is not None and split.op is ops.Split.op and _is_axis(split.args[0], 0):
            place, row = self._place(split.args[1]), self.unshaped(tensor).value_index
        return None if place is None or tensor.shape.rank != 1 else (place, row)

    def _whole(self, parts: Sequence[Any]) -> Any:
        """Returns the tensor that these are the equal parts of, from left to right; or None."""
        wholes = [self._part(t) for t in parts]
        whole = None if wholes[0] is None else wholes[0][0]
        alike = all(w is not None and w[0] is whole and w[1:] == (i, len(parts)) for i, w in enumerate(wholes))
        return whole if alike else None

    def _part(self, tensor: Any) -> tuple[Any, int, int] | None:
        """Returns the tensor of which this one is one of the equal parts along the last axis, which one, and the number
        of parts."""
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


def _are_alike(convolution: Any, other: Any) -> bool:
    """Tests whether two convolutions, which compute gates, have all but their numbers in common."""
    return convolution.image is other.image and convolution[1:] == other[1:]


def _is_axis(axis: Any, *axes: int) -> bool:
    """Tests whether the axis that an op takes is static, and one of these."""
    return isinstance(axis, int) and axis in axes


def _makes_column(step: Step) -> bool:
    """Tests whether a step makes a column of a vector, `x[:, tf.newaxis]`."""
    if step.placed or not step.inputs or step.inputs[0].shape.rank != 1 or step.outputs[0].shape.rank != 2:
        return False
    if step.op is ops.StridedSlice.op:
        _, _, _, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, _ = step.args
        return strides == (1, 1) and bool(begin_mask & end_mask & 1) and not ellipsis_mask and new_axis_mask == 2
    return step.op in (ops.ExpandDims.op, ops.Reshape.op) and step.outputs[0].shape[1] == 1


def _first_column(args: Sequence[Any]) -> int | None:
    """Returns the first column that a slice of a matrix has, if it has all rows; arguments as of `StridedSlice`."""
    _, begin, end, strides, begin_mask, end_mask, *others = args
    if not all(isinstance(a, tuple) and len(a) == 2 for a in (begin, end, strides)) or any(others):
        return None
    if strides != (1, 1) or not begin_mask & end_mask & 1:
        return None
    return 0 if begin_mask & 2 else begin[1]
