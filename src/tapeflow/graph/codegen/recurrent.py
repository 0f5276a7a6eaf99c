"""Recurrent layers: loops that apply a cell to the entries of a list or tensor, computed by the cell's own kernels.

A step does not change the states of a row with a false mask. For masked sequences, the kernel therefore runs over
compacted rows, without the masked inputs. The output at a step is then the output after the last unmasked input so far.
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

# The place of a bias, and for a row of a matrix its index. None without a bias.
Bias = tuple[int, int | None] | None

_LAST, _ALL = -1, slice(None)  # steps


class Entries(NamedTuple):
    """A list or tensor. Each step reads its entry at the counter.

    Attributes:
        place: the place of the list or tensor.
        axis: the indexed axis of the tensor; None for a list.
        are_columns: True if each step reshapes its entry from a vector to a column. False for lists.
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
        """Returns the gradient of the list or tensor, from the gradients of its entries from `start` on."""
        if self.axis is None:
            return as_variant([*[None] * start, *gradients.unbind()] if start else Rows(gradients))
        zeros = torch.zeros_like(values[self.place])
        zeros.movedim(self.axis, 0)[start : start + len(gradients)] = gradients
        return zeros


class Target(NamedTuple):
    """A loop variable's use of the cell's outputs.

    Attributes:
        otherwise: the place of the value that replaces the output in rows with a false mask; None without a mask.
        entry: for a list, the index of the entry that all steps write; None if each step writes the entry at the
            counter.
    """

    otherwise: int | None
    entry: int | None = None


class Layer(NamedTuple):
    """A recurrent layer.

    A place is an index into the layer's values: the loop variables, the loop-invariant values, then the constants.

    Attributes:
        cell: returns the cell for a run.
        counter: the place of the counter.
        bound: the place of the counter's exclusive upper bound.
        inputs: the inputs.
        mask: the masks, or None.
        states: the places of the states.
        matrices: the places of the kernel and the recurrent kernel.
        biases: the biases.
        outputs: the uses of the outputs, by the places of loop variables.
        lists: the places of the loop variables in `outputs` that are lists of tensors.
        unread: the lists of states without readers: `Target.entry` of each, by its place.
        constants: the constants.
        ends_matter: True if the last value of a state other than the first has a use.
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

    The loop itself is the fallback: for zero steps, for unsupported dtypes or shapes, and if the cell's kernel would be
    slower.

    Args:
        loop: the loop.
        layer: its layer.
    """

    def __init__(self, loop: Loop, layer: Layer) -> None:
        self._loop, self._layer = loop, layer

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Computes the last values of the loop variables.

        If a gradient needs residuals, also returns the trip count and lists with the run as their only entry.

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
    """A run of a recurrent layer. The layer's gradient takes the run instead of residuals.

    Args:
        layer: the layer.
        count: the number of loop variables.
        values: the raw values before the first step: loop variables, loop-invariant values and constants.
        start, stop: the range of the counter.
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
        """True if the cell's kernel supports the values and is faster than the loop."""
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
            recorded: True if `gradients` will be called.
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
        """Returns the last value of a loop variable that is a list."""
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
        """Returns True if the steps write all entries of a list."""
        return self._start == 0 and self._stop == len(entries)

    def _outputs(self, y: torch.Tensor, target: Target, steps: Any) -> torch.Tensor:
        """Returns the outputs of one step or all steps, with replacements in rows with a false mask."""
        if self._order is None:
            return y[steps]
        outputs, others = self._order.expanded(y, steps), self._stands_in(target, steps)
        return torch.where(others, self._values[target.otherwise or 0], outputs) if others.any() else outputs

    def _stands_in(self, target: Target, steps: Any) -> torch.Tensor:
        """Returns True for rows whose output is replaced.

        A loop variable as replacement is the previous output. Its first value remains until the first unmasked step.
        """
        order = self._order
        assert order is not None and target.otherwise is not None
        return (order.counts[steps] == 0 if target.otherwise < self._count else ~order.mask[steps]).unsqueeze(-1)

    def gradients(self, cotangents: Mapping[int, Any], wanted: Container[int]) -> dict[int, Any]:
        """Returns the gradients of the layer's values that are not zeros, by their places.

        Args:
            cotangents: the cotangents of the loop variables, by their places.
            wanted: the places of the values whose gradients are requested. The result may contain others.
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
        """Backpropagates through `_outputs`: adds to the cell's cotangents `dy` and to the replacements' in `sums`."""
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
        """Adds a gradient to the sum of a value; None is zeros."""
        before = self.values.get(place)
        if gradient is not None:
            self.values[place] = gradient if before is None else before + gradient


class _Order:
    """The compaction of masked sequences: in each row, unmasked steps come first.

    Args:
        mask: `(steps, rows)`; False for masked steps.

    Attributes:
        mask: the mask.
        counts: the number of unmasked steps up to each step.
        idle: True for compacted steps beyond a row's last unmasked step.
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
        """Returns the compacted inputs, with zeros for idle steps."""
        return x.flatten(0, 1)[self._places].masked_fill_(self.idle.unsqueeze(-1), 0)

    def restored(self, dx: torch.Tensor) -> torch.Tensor:
        """Returns the gradient of the inputs, from the gradient of the compacted inputs."""
        zeros = dx.new_zeros(self.mask.numel(), dx.shape[-1])
        zeros[self._places.flatten()] = dx.flatten(0, 1)
        return zeros.view(*self.mask.shape, -1)

    def expanded(self, y: torch.Tensor, steps: Any) -> torch.Tensor:
        """Returns the outputs at one step or all steps, from compacted ones. Before the first they are arbitrary."""
        return y.flatten(0, 1)[self._latest[steps]]

    def add_expanded(self, dy: torch.Tensor, steps: Any, cotangent: torch.Tensor) -> None:
        """Adds the cotangents of `expanded`'s result to the cotangents of the compacted outputs."""
        dy.view(-1, dy.shape[-1]).index_add_(0, self._latest[steps].flatten(), cotangent.flatten(0, -2))


def _entry(entries: Sequence[Raw], place: int) -> Raw:
    """Returns an entry of a list; for `Rows`, without unpacking the others."""
    return entries.tensor[place] if isinstance(entries, Rows) else entries[place]


def _stacked(entries: Sequence[Raw | None], own: slice) -> Any:
    """Stacks entries of a list, with zeros for missing entries. Returns None if all are missing."""
    if isinstance(entries, Rows):
        return entries.tensor[own].contiguous()
    some = entries[own]
    first = next((t for t in some if t is not None), None)
    return None if first is None else torch.stack([torch.zeros_like(first) if t is None else t for t in some])


def _as_row(vector: torch.Tensor, row: int, matrix: torch.Tensor) -> torch.Tensor:
    """Returns a matrix of zeros with a vector as one row; `matrix` gives the shape."""
    zeros = torch.zeros_like(matrix)
    zeros[row] = vector
    return zeros
