"""Selecting early: computes only the slice of a result that is used.

A decoding loop needs the model's output at one position, but the model computes all positions. Most layers compute each
row of the last axis from the same row of their input: activations, normalizations, softmax, products with weights. The
pass moves a slice of whole rows before the largest region of such steps whose results have no other use, and slices the
tensors at the region's frontier. A product of fewer rows may be summed in another order, so the last bits may differ
from eager results.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tapeflow.array.reshapes import reshape
from tapeflow.array.slicing import strided_slice_op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.patterns import Matcher
from tapeflow.graph.program.program import Program, Step, is_reshape, reduced_axes, substitute
from tapeflow.graph.program.simplify import prune
from tapeflow.linalg.products import batch_matmul, matmul_op
from tapeflow.nn.bias import bias_add_op


def select(program: Program) -> None:
    """Moves slices of rows before the steps that compute each row independently."""
    if not program.static or not any(map(_takes_rows, program.steps)):
        return
    prune(program)  # unused steps would end a region
    rowwise = _RowWise(program)
    for slice_ in filter(_takes_rows, [*program.steps]):
        region = _Region(rowwise, slice_)
        if region.computes:
            place = program.steps.index(slice_)
            program.steps[place : place + 1] = region.sliced_steps()
            prune(program)
            rowwise = _RowWise(program)


class _RowWise(Matcher):
    """A program whose steps may compute each row from the same row of their inputs.

    Attributes:
        operands: the row-wise inputs of steps, by the ids of their results.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.operands: dict[int, list[SymbolicTensor]] = {}
        # For each result, the tensor at the start of its row-wise chain. Tensors with one origin have as many rows.
        origins: dict[int, SymbolicTensor] = {}
        for step in program.steps:
            operands = _row_operands(step, origins)
            if operands:
                out = id(step.outputs[0])
                self.operands[out], origins[out] = operands, origins.get(id(operands[0]), operands[0])


class _Region:
    """The row-wise steps before a slice: they compute each row of its operand from the same row of other tensors.

    Attributes:
        steps: the steps, in program order.
        frontier: the row-wise inputs of the region, by their ids.
    """

    def __init__(self, rowwise: _RowWise, slice_: Step) -> None:
        self._rowwise, self._slice, self._x, self._out = rowwise, slice_, slice_.args[0], slice_.outputs[0]
        self._may_reshape = _has_sizes(self._x) and _has_sizes(self._out)
        self.steps: list[Step] = []
        self.frontier = {id(self._x): self._x}
        if self._joins(self._x, 1):
            self._grow()

    def _joins(self, tensor: SymbolicTensor, uses: int) -> bool:
        """Returns True if a tensor's step joins the region. `uses` is the tensor's use count inside the region."""
        if id(tensor) not in self._rowwise.operands or self._rowwise.uses[id(tensor)] != uses:
            return False
        step = self._rowwise.producers[id(tensor)]
        return self._may_reshape or not (is_reshape(step) or self._needs_matrix(step))

    def _grow(self) -> None:
        """Adds all steps that join the region."""
        uses, steps = Counter([id(self._x)]), self._rowwise.program.steps
        for step in reversed(steps[: steps.index(self._slice)]):
            t = step.outputs[0] if len(step.outputs) == 1 else None
            if t is not None and id(t) in self.frontier and self._joins(t, uses[id(t)]):
                operands = self._rowwise.operands[id(t)]
                self.steps.insert(0, step)
                del self.frontier[id(t)]
                uses.update(map(id, operands))
                self.frontier.update((id(operand), operand) for operand in operands)

    @property
    def computes(self) -> bool:
        """True if a slice before the region saves work."""
        return any(not is_reshape(step) for step in self.steps)

    def _needs_matrix(self, step: Step) -> bool:
        """Returns True if a step must reshape the slice to a matrix to compute it."""
        rank = self._out.shape.rank
        return rank != 2 and (_is_matrix_product(step) or (rank == 1 and not _takes_vectors(step)))

    def sliced_steps(self) -> list[Step]:
        """Returns steps that slice the frontier and then compute the rows."""
        self._new: list[Step] = []
        sliced = {i: self._sliced(t) for i, t in self.frontier.items()}
        for step in self.steps:
            out = step.outputs[0]
            if is_reshape(step):
                sliced[id(out)] = sliced[id(step.args[0])]
            else:
                sliced[id(out)] = self._computed(step, sliced)
        self._new[-1].outputs = [self._out]
        return self._new

    def _sliced(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Returns the rows of a frontier tensor at the positions of the slice."""
        lead = self._x.shape.as_list()[:-1]
        if tensor.shape.as_list()[:-1] != lead:
            tensor = self._add_reshape(tensor, [*lead, tensor.shape[-1]], self._slice)
        result = self._tensor(self._slice, self._shape_with(tensor.shape[-1]), tensor.dtype)
        self._new.append(Step(self._slice.op, [tensor, *self._slice.args[1:]], [result], self._slice.origins))
        return result

    def _computed(self, step: Step, sliced: dict[int, SymbolicTensor]) -> SymbolicTensor:
        """Returns the result of a step for the rows."""
        shape = self._shape_with(step.outputs[0].shape[-1])
        if step.op.elementwise:
            others = {id(t): self._as_vector(t, step) for t in step.inputs if id(t) not in sliced}
            return self._add(step, substitute(step.args, {**others, **sliced}), shape)
        x, *args = step.args
        part = sliced[id(x)]
        if step.op.reduced is not None:
            args[0] = -1
        if not self._needs_matrix(step):
            return self._add(step, [part, *args], shape)
        part = self._add_reshape(part, [None, part.shape[-1]], step)
        return self._add_reshape(self._add(step, [part, *args], [None, shape[-1]]), shape, step)

    def _as_vector(self, tensor: SymbolicTensor, step: Step) -> SymbolicTensor:
        """Returns an operand that is shared by all rows, without leading dimensions."""
        before = self._rowwise.before_views(tensor)
        if tensor.shape.rank < 2 or before.shape.rank == 1:
            return tensor if tensor.shape.rank < 2 else before
        return self._add_reshape(tensor, [tensor.shape[-1]], step)

    def _shape_with(self, size: int | None) -> list[int | None]:
        """Returns the shape of the slice with another last dimension."""
        return [*self._out.shape.as_list()[:-1], size]

    def _add(self, step: Step, args: list[Any], shape: list[int | None]) -> SymbolicTensor:
        """Adds a step like one of the region, and returns its result."""
        result = self._tensor(step, shape, step.outputs[0].dtype)
        self._new.append(Step(step.op, args, [result], [*self._slice.origins, *step.origins]))
        return result

    def _add_reshape(self, tensor: SymbolicTensor, shape: list[int | None], step: Step) -> SymbolicTensor:
        """Adds a reshape of a tensor for a step, and returns its result."""
        result = self._tensor(step, shape, tensor.dtype)
        sizes = tuple([-1 if d is None else d for d in shape])
        self._new.append(Step(reshape.op, [tensor, sizes], [result], step.origins))
        return result

    @staticmethod
    def _tensor(step: Step, shape: list[int | None], dtype: Any) -> SymbolicTensor:
        """Returns a new tensor with the name of a step's result."""
        out = step.outputs[0]
        return SymbolicTensor(out.op, out.value_index, dtype, TensorShape(shape))


def _takes_rows(step: Step) -> bool:
    """Returns True if a step slices a floating-point tensor, keeps its last axis whole and adds no axis."""
    if step.op is not strided_slice_op.op:
        return False
    x, begin, _, _, _, _, ellipsis_mask, new_axis_mask, _ = step.args
    if step.placed or not x.dtype.is_floating or x.shape.rank is None or ellipsis_mask or new_axis_mask:
        return False
    count = begin.shape.num_elements() if isinstance(begin, SymbolicTensor) else len(begin)
    return count is not None and count < x.shape.rank and bool(step.outputs[0].shape.rank)


def _has_sizes(tensor: SymbolicTensor) -> bool:
    """Returns True if a reshape can restore the leading dimensions: at most one is not static, and none is 0."""
    sizes = tensor.shape.as_list()[:-1]
    return sizes.count(None) <= 1 and 0 not in sizes


def _row_operands(step: Step, origins: dict[int, SymbolicTensor]) -> list[SymbolicTensor]:
    """Returns the row-wise inputs of a step; none if the step is not row-wise.

    Args:
        step: the step.
        origins: for tensors, the start of their row-wise chain, by the tensors' ids. Inputs of unknown size must have
            the same origin.
    """
    if not step.pure or step.placed or step.must_run or len(step.outputs) != 1 or not step.inputs:
        return []
    out, x = step.outputs[0], step.inputs[0]
    rank = out.shape.rank or 0
    if rank < 2:
        return []
    if step.op.elementwise:
        operands = [t for t in step.inputs if not _is_for_all_rows(t, out)]
        lead = out.shape.as_list()[:-1]
        if any(t.shape.rank != rank or t.shape.as_list()[:-1] != lead for t in operands):
            return []
        sources = {id(origins.get(id(t), t)) for t in operands}
        return operands if None not in lead or len(sources) == 1 else []
    if (x.shape.rank or 0) < 2:
        return []
    size = x.shape[-1]
    if is_reshape(step):
        keeps = bool(size) and size == out.shape[-1] and (_has_sizes(x) and _has_sizes(out))
    elif step.op.reduced is not None:
        keeps = reduced_axes(step) == {-1} and out.shape.rank == x.shape.rank
    elif step.op is bias_add_op.op:
        keeps = step.args[2] == "NHWC"
    else:
        keeps = step.op.row is not None or (bool(size and out.shape[-1]) and _is_product(step))
    return [x] if keeps else []


def _is_for_all_rows(tensor: SymbolicTensor, result: SymbolicTensor) -> bool:
    """Returns True if all rows of a result share a tensor: a scalar, a vector, or one row."""
    rank = tensor.shape.rank
    if rank is None or rank > result.shape.rank:
        return False
    lead = tensor.shape.as_list()[:-1]
    return rank < 2 or (lead != result.shape.as_list()[:-1] and all(d == 1 for d in lead))


def _is_matrix_product(step: Step) -> bool:
    return step.name == matmul_op.op.name


def _is_product(step: Step) -> bool:
    """Returns True if a step multiplies each row by one matrix."""
    if step.op is batch_matmul.op:
        return step.args[1].shape.rank == 2 and not step.args[2]
    return _is_matrix_product(step) and not (len(step.args) > 2 and step.args[2])


def _takes_vectors(step: Step) -> bool:
    return step.op.elementwise or step.op.row is not None or step.op.reduced is not None
