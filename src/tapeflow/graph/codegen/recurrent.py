"""Recurrent layers: loops that apply a cell to the entries of a list, computed by the cell's own kernels.

Where a mask is false, a step leaves the states of a row as they are. Of masked sequences, each row takes the inputs of
the steps that count, one after the other, and its output at a step is the one after as many inputs as have counted so
far.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tapeflow.array.list_values import Raw, Rows, Sparse, Zeros, as_variant
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.graph.codegen.cells import Cell, Weights
from tapeflow.graph.codegen.loop_records import returned

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop

Bias = tuple[int, int | None] | None  # the place of a bias, and which row of this matrix it is; None without a bias

_LAST, _ALL = -1, slice(None)  # steps


class Entries(NamedTuple):
    """A value of which each step reads the entry at the counter.

    Attributes:
        place: the place of the value: a list of tensors, or a tensor.
        axis: the axis of the tensor along which its entries lie; None for a list.
        are_columns: whether the entries are vectors of which each step makes a column. Only those of tensors.
    """

    place: int
    axis: int | None = None
    are_columns: bool = False

    def of(self, values: Sequence[Any]) -> Sequence[Raw]:
        """Returns the entries."""
        value = values[self.place]
        if self.axis is None:
            return value[()]
        rows = value.movedim(self.axis, 0)
        return Rows(rows.unsqueeze(-1) if self.are_columns else rows)

    def gradient(self, values: Sequence[Any], start: int, gradients: torch.Tensor) -> Any:
        """Returns the gradient of the value for those of its entries from a step on."""
        if self.axis is None:
            return as_variant([*[None] * start, *gradients.unbind()] if start else Rows(gradients))
        zeros = torch.zeros_like(values[self.place])
        zeros.movedim(self.axis, 0)[start : start + len(gradients)] = gradients
        return zeros


class Target(NamedTuple):
    """The use that a loop makes of the outputs of its cell.

    Attributes:
        otherwise: the place of the value that stands for the output where the mask is false; None if there is no mask.
        entry: of a list of tensors, the entry that each step writes; None if each writes its own.
    """

    otherwise: int | None
    entry: int | None = None


class Layer(NamedTuple):
    """A recurrent layer. Places are those of values: the loop's variables, what is invariant, then constants.

    Attributes:
        cell: returns its cell for a run.
        counter: the place of the variable that counts.
        bound: the place of what it stays below.
        inputs: the inputs.
        mask: the masks, or None.
        states: the places of the states.
        matrices: the places of the matrices that inputs, and the output of the step before, are multiplied by.
        biases: the biases.
        outputs: what becomes of the outputs, by the places of loop variables.
        lists: the places of those of them that are lists of tensors.
        unread: lists of the other states, which nothing reads: their places, and what each step writes, as of `Target`.
        constants: the constants.
        ends_matter: whether the last values of the states but the first have a use.
    """

    cell: Callable[[], Cell]
    counter: int
    bound: int
    inputs: Entries
    mask: Entries | None
    states: Sequence[int]
    matrices: Sequence[int]
    biases: Sequence[Bias]
    outputs: Mapping[int, Target]
    lists: frozenset[int]
    unread: Mapping[int, int | None]
    constants: Sequence[torch.Tensor]
    ends_matter: bool = True


class RecurrentLayer:
    """The kernel of a loop that is a recurrent layer.

    The loop itself runs where the cell's kernel does not serve: without a step, for values of other dtypes or shapes,
    and where it would take longer.

    Args:
        loop: the loop.
        layer: the layer that it is.
    """

    def __init__(self, loop: Loop, layer: Layer) -> None:
        self._loop, self._layer = loop, layer

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Computes the last values of the loop's variables, and lists that hold the run if a gradient needs residuals.

        Raises:
            OpError: an op failed.
        """
        loop, layer = self._loop, self._layer
        own = [*(values[1:] if loop.limited else values), *layer.constants]
        start, stop = int(own[layer.counter]), int(own[layer.bound])
        run = Run(layer, loop.count, own, start, min(stop, start + int(values[0])) if loop.limited else stop)
        if not run.suits:
            return loop(*values)
        finals = run.finals(loop.residuals is not None)
        return finals if loop.residuals is None else (*finals, *returned(run.trips, [[run]] * len(loop.residuals)))


class Run:
    """A run of a recurrent layer, which its gradient takes instead of residuals.

    Args:
        layer: the layer.
        count: the number of loop variables.
        values: the raw values of the loop's variables before the first step, and of what is invariant.
        start, stop: the first value of the counter, and the one after the last.
    """

    def __init__(self, layer: Layer, count: int, values: Sequence[Any], start: int, stop: int) -> None:
        self._layer, self._count = layer, count
        self._values = [v._value.value if hasattr(v, "_value") else v for v in values]
        self._start, self._stop = start, stop
        self._order: _Order | None = None
        self._cell = layer.cell()

    @property
    def trips(self) -> int:
        """The number of steps."""
        return self._stop - self._start

    @property
    def suits(self) -> bool:
        """True where the cell's kernel serves."""
        layer, values, start, stop = self._layer, self._values, self._start, self._stop
        entries = layer.inputs.of(values)
        if not 0 <= start < stop <= len(entries):
            return False
        x, states, weights = _entry(entries, start), [values[i] for i in layer.states], self._weights
        if not isinstance(x, torch.Tensor):
            return False
        others = [values[t.otherwise] for t in layer.outputs.values() if t.otherwise is not None]
        written = {**{i: layer.outputs[i].entry for i in layer.lists}, **layer.unread}
        last_entries = [(values[i][()], entry) for i, entry in written.items()]
        masks = () if layer.mask is None else layer.mask.of(values)
        tensors = [t for t in (x, *states, *others, *weights[:2], *weights.biases) if t is not None]
        return (
            all(t.dtype is x.dtype and by_value(t) for t in tensors)
            and all(t.shape == states[0].shape for t in (*states, *others))
            and (
                layer.mask is None or (stop <= len(masks) and x.ndim == 2 and _entry(masks, start).shape == (len(x), 1))
            )
            and all((stop - 1 if entry is None else entry) < len(entries) for entries, entry in last_entries)
            and self._cell.suits(stop - start, x, states, weights)
        )

    @property
    def _weights(self) -> Weights:
        layer, values = self._layer, self._values
        biases = [None if b is None else values[b[0]] if b[1] is None else values[b[0]][b[1]] for b in layer.biases]
        kernel, recurrent_kernel = [values[i] for i in layer.matrices]
        return Weights(kernel, recurrent_kernel, biases)

    def finals(self, recorded: bool) -> tuple[Any, ...]:
        """Returns the last values of the loop variables.

        Args:
            recorded: whether `gradients` will be called.
        """
        layer, values, own = self._layer, self._values, slice(self._start, self._stop)
        x, idle = _stacked(layer.inputs.of(values), own), None
        if layer.mask is not None:
            mask = _stacked(layer.mask.of(values), own).squeeze(-1)
            if not mask.all():
                self._order = _Order(mask)
                x, idle = self._order.compact(x), self._order.idle if layer.ends_matter else None
        y, others = self._cell.run(x, [values[i] for i in layer.states], self._weights, idle, recorded)
        self._shape = y.shape
        finals = list(values[: self._count])
        finals[layer.counter] = torch.tensor(self._stop, dtype=values[layer.counter].dtype)
        for place, state in zip(layer.states[1:], others, strict=True):
            finals[place] = state
        for place, target in layer.outputs.items():
            finals[place] = self._entries(y, place, target) if place in layer.lists else self._outputs(y, target, _LAST)
        return tuple(finals)

    def _entries(self, y: torch.Tensor, place: int, target: Target) -> Any:
        """Returns the list that a loop variable is in the end."""
        before = self._values[place][()]
        if target.entry is None and self._is_whole(before):
            return as_variant(Rows(self._outputs(y, target, _ALL)))
        entries = list(before)
        if target.entry is None:
            entries[self._start : self._stop] = self._outputs(y, target, _ALL).unbind()
        else:
            entries[target.entry] = self._outputs(y, target, _LAST)
        return as_variant(entries)

    def _is_whole(self, entries: Sequence[Raw]) -> bool:
        """Tests whether a list has an entry for each step, and no others."""
        return self._start == 0 and self._stop == len(entries)

    def _outputs(self, y: torch.Tensor, target: Target, steps: Any) -> torch.Tensor:
        """Returns the outputs of one or all steps, with what stands for them where the mask is false."""
        if self._order is None:
            return y[steps]
        outputs, others = self._order.expanded(y, steps), self._stands_in(target, steps)
        return torch.where(others, self._values[target.otherwise or 0], outputs) if others.any() else outputs

    def _stands_in(self, target: Target, steps: Any) -> torch.Tensor:
        """Returns where another value stands for the output. That of a variable is the output before, or the first."""
        order = self._order
        assert order is not None and target.otherwise is not None
        return (order.counts[steps] == 0 if target.otherwise < self._count else ~order.mask[steps]).unsqueeze(-1)

    def gradients(self, cotangents: Mapping[int, Any], wanted: Container[int]) -> dict[int, Any]:
        """Returns the gradients of the loop's values, by their places; without those that are zeros.

        Args:
            cotangents: the cotangents of the loop variables, by their places.
            wanted: the places of the values whose gradients are asked for; there may be others.
        """
        layer, sums = self._layer, _Sums()
        dy = self._values[layer.matrices[0]].new_zeros(self._shape)
        for place, target in layer.outputs.items():
            cotangent = cotangents.get(place)
            if place not in layer.lists:
                self._add_outputs(dy, target, _LAST, cotangent, sums)
            elif cotangent is not None and not isinstance(cotangent[()], Zeros):
                entries = cotangent[()]
                if target.entry is None:
                    own = slice(self._start, self._stop)
                    self._add_outputs(dy, target, _ALL, _stacked(entries, own), sums)
                    rest: Any = Sparse(len(entries))
                    if not self._is_whole(entries):
                        rest = [*entries[: own.start], *[None] * (own.stop - own.start), *entries[own.stop :]]
                else:
                    rest = list(entries)
                    self._add_outputs(dy, target, _LAST, rest[target.entry], sums)
                    rest[target.entry] = None
                sums.add(place, as_variant(rest))
        for_x, for_states = layer.inputs.place in wanted, any(i in wanted for i in layer.states)
        result = self._cell.gradients(dy, [cotangents.get(i) for i in layer.states[1:]], for_x, for_states)
        if for_x and result.x is not None:
            dx = result.x if self._order is None else self._order.restored(result.x)
            sums.add(layer.inputs.place, layer.inputs.gradient(self._values, self._start, dx))
        d_kernel, d_recurrent, d_biases = result.weights
        for place, gradient in zip(
            [*layer.states, *layer.matrices], [*result.states, d_kernel, d_recurrent], strict=True
        ):
            sums.add(place, gradient)
        for bias, d_bias in zip(layer.biases, d_biases, strict=True):
            if bias is not None and d_bias is not None:
                place, row = bias
                sums.add(place, d_bias if row is None else _as_row(d_bias, row, self._values[place]))
        return sums.values

    def _add_outputs(self, dy: torch.Tensor, target: Target, steps: Any, cotangent: Any, sums: _Sums) -> None:
        """Adds the cotangents of what `_outputs` returns to those of the cell's outputs, and to `sums`."""
        if cotangent is None:
            return
        if self._order is None:
            dy[steps] += cotangent
            return
        others = self._stands_in(target, steps)
        if others.any():
            assert target.otherwise is not None
            passed = torch.where(others, cotangent, 0)
            sums.add(target.otherwise, passed.sum(0) if steps is _ALL else passed)
            cotangent = torch.where(others, 0, cotangent)
        self._order.add_expanded(dy, steps, cotangent)


class _Sums:
    """Sums of gradients, by the places of values."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def add(self, place: int, gradient: Any) -> None:
        """Adds a gradient, None for zeros, to that of a value."""
        before = self.values.get(place)
        if gradient is not None:
            self.values[place] = gradient if before is None else before + gradient


class _Order:
    """The order of the steps of masked sequences: for each row those where the mask is true, then others.

    Args:
        mask: `(steps, rows)`.

    Attributes:
        mask: the mask.
        counts: for each step, for how many steps up to it the mask is true.
        idle: where a row has no more of these steps.
    """

    def __init__(self, mask: torch.Tensor) -> None:
        self.mask, self.counts = mask, mask.cumsum(0)
        lengths, rows = self.counts[-1], torch.arange(mask.shape[1], device=mask.device)
        longest = max(int(lengths.max()), 1)
        order = torch.argsort(mask.logical_not().to(torch.uint8), dim=0, stable=True)[:longest]
        self.idle = torch.arange(longest, device=mask.device).unsqueeze(-1) >= lengths
        self._places = order * len(rows) + rows
        self._latest = (self.counts - 1).clamp_(0) * len(rows) + rows

    def compact(self, x: torch.Tensor) -> torch.Tensor:
        """Returns inputs in this order, with zeros for idle steps."""
        return x.flatten(0, 1)[self._places].masked_fill_(self.idle.unsqueeze(-1), 0)

    def restored(self, dx: torch.Tensor) -> torch.Tensor:
        """Returns the gradient of the inputs for that of `compact`."""
        zeros = dx.new_zeros(self.mask.numel(), dx.shape[-1])
        zeros[self._places.flatten()] = dx.flatten(0, 1)
        return zeros.view(*self.mask.shape, -1)

    def expanded(self, y: torch.Tensor, steps: Any) -> torch.Tensor:
        """Returns the latest outputs at one or all steps, and any where there is none yet."""
        return y.flatten(0, 1)[self._latest[steps]]

    def add_expanded(self, dy: torch.Tensor, steps: Any, cotangent: torch.Tensor) -> None:
        """Adds the cotangents of what `expanded` returns to those of the outputs."""
        dy.view(-1, dy.shape[-1]).index_add_(0, self._latest[steps].flatten(), cotangent.flatten(0, -2))


def _entry(entries: Sequence[Raw], place: int) -> Raw:
    """Returns an entry of a list, of one of rows without the others."""
    return entries.tensor[place] if isinstance(entries, Rows) else entries[place]


def _stacked(entries: Sequence[Raw | None], own: slice) -> Any:
    """Returns entries of a list stacked, with zeros for those that are missing; None if all are."""
    if isinstance(entries, Rows):
        return entries.tensor[own].contiguous()
    some = entries[own]
    first = next((t for t in some if t is not None), None)
    return None if first is None else torch.stack([torch.zeros_like(first) if t is None else t for t in some])


def _as_row(vector: torch.Tensor, row: int, matrix: torch.Tensor) -> torch.Tensor:
    """Returns a vector as one row of zeros like a matrix."""
    zeros = torch.zeros_like(matrix)
    zeros[row] = vector
    return zeros
