"""Layers: computes a product with weights and the steps that follow it in one kernel, and prepares the weights once.

A bias, a normalization, the sum with a residual connection and an activation may follow a convolution or a product.
After training, a normalization is a factor and a summand for each channel. If factors and summands depend only on
variables, the pass multiplies them into the weights and adds them to one bias; `caching.py` then recomputes these only
when a variable has changed. The kernel applies the bias, the residual connection and the activation before it writes
the result. Inner results must have no other use. Results differ from eager results by rounding. An activation may turn
a NaN into its lower limit, as in TensorFlow's graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.layer import NO_ACTIVATION, Activation, WeightLayer
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.caching import Preparation, fixed_tensors
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp, Operation


def join_layers(program: Program) -> None:
    """Replaces each layer by two steps: one prepares the weights, the other computes the layer."""
    if any(step.op.layer is not None for step in program.steps):
        fixed = fixed_tensors(program)
        joining = _Joining(program, fixed)
        for step in program.steps:
            joining.add(step)
        program.steps = joining.steps()


class _Chain:
    """A layer and the steps that follow it so far."""

    def __init__(self, layer: WeightLayer, step: Step) -> None:
        self.layer = layer
        self.steps = [*layer.steps, step]
        self.product = step
        self.vectors: list[tuple[str, SymbolicTensor]] = []  # "mul", "add" or "sub", and a vector of the channels
        self.summand: SymbolicTensor | None = None
        self.activation: Activation = NO_ACTIVATION


class _Joining:
    """The state of a walk through a program."""

    def __init__(self, program: Program, fixed: set[int]) -> None:
        self._program = program
        self._uses = program.use_counts()
        self._fixed = fixed
        self._producers: dict[int, Step] = {}
        self._chains: dict[int, _Chain] = {}  # by the id of the last result

    def add(self, step: Step) -> None:
        """Starts a layer with a step, or appends the step to the layer before it."""
        if step.registered and step.native and not step.placed:
            if step.op.layer is not None:
                self._start(step)
            else:
                self._extend(step)
        for tensor in step.outputs:
            self._producers[id(tensor)] = step

    def steps(self) -> list[Step]:
        """Returns the steps of the program, with each layer in the place of its last step."""
        ends = {id(chain.steps[-1]): chain for chain in self._chains.values()}
        joined = {id(step) for chain in ends.values() for step in chain.steps}
        result: list[Step] = []
        for step in self._program.steps:
            if id(step) in ends:
                result += _steps_of(ends[id(step)])
            elif id(step) not in joined:
                result.append(step)
        return result

    def _producer(self, tensor: Any, op: Any) -> Step | None:
        """Returns the step that computes a tensor, if the step has this op and the tensor has no other use."""
        step = self._producers.get(id(tensor))
        if step is None or step.op is not op or step.placed or self._uses[id(tensor)] != 1:
            return None
        return step

    def _start(self, step: Step) -> None:
        layer = step.op.layer(step, self._producer)
        if layer is not None and id(layer.weights) in self._fixed:
            self._chains[id(step.outputs[0])] = _Chain(layer, step)

    def _extend(self, step: Step) -> None:
        tensors = step.inputs
        for tensor, other in (tensors, tensors[::-1])[: 2 if step.op.commutative else 1] if len(tensors) == 2 else ():
            chain = self._open_chain(tensor)
            if chain is None or chain.summand is not None:
                continue
            change = _change(step)
            if change is not None and self._is_vector(other, chain.layer.channels):
                chain.vectors.append((change, other))
            elif step.op is ops.AddV2.op and _are_alike(tensor, other) and chain.layer.adding(NO_ACTIVATION):
                chain.summand = other
            else:
                continue
            self._move(chain, tensor, step)
            return
        activation = step.op.activation
        chain = self._open_chain(tensors[0]) if activation is not None else None
        if chain is not None and (chain.summand is None or chain.layer.adding(activation) is not None):
            chain.activation = activation
            self._move(chain, tensors[0], step)

    def _open_chain(self, tensor: SymbolicTensor) -> _Chain | None:
        """Returns the layer that computes a tensor, if the layer can grow and the tensor has no other use."""
        chain = self._chains.get(id(tensor))
        if chain is None or chain.activation is not NO_ACTIVATION or self._uses[id(tensor)] != 1:
            return None
        return chain

    def _move(self, chain: _Chain, tensor: SymbolicTensor, step: Step) -> None:
        chain.steps.append(step)
        self._chains[id(step.outputs[0])] = self._chains.pop(id(tensor))

    def _is_vector(self, tensor: SymbolicTensor, channels: int) -> bool:
        """Returns True if a tensor depends on variables only, and has one number per channel or one for all."""
        if id(tensor) not in self._fixed and not isinstance(self._program.constant(tensor), torch.Tensor):
            return False
        shape = tensor.shape
        return shape.is_fully_defined() and shape.rank <= 4 and shape.num_elements() in (1, channels) and (
            not shape.rank or shape[-1] == shape.num_elements()
        )  # fmt: skip


def _are_alike(x: SymbolicTensor, y: SymbolicTensor) -> bool:
    """Returns True if two tensors have the same shape. The batch size may be unknown: the kernels check it."""
    sizes = [t.shape.as_list() if t.shape.rank else [None] for t in (x, y)]
    return x is not y and sizes[0] == sizes[1] and None not in sizes[0][1:]


def _change(step: Step) -> str | None:
    """Returns "mul", "add" or "sub" for a step that combines its operands this way; None for other steps."""
    if step.op is ops.Mul.op:
        return "mul"
    if step.op is ops.AddV2.op or (step.op is ops.BiasAdd.op and step.args[2] == "NHWC"):
        return "add"
    return "sub" if step.op is ops.Sub.op else None


def _steps_of(chain: _Chain) -> Sequence[Step]:
    """Returns the step that prepares the weights, and the step that computes the layer."""
    layer, product = chain.layer, chain.product
    changes = [change for change, _ in chain.vectors]
    vectors = [layer.weights, *(vector for _, vector in chain.vectors)]
    name = product.operation.name
    prepare = Preparation(f"{product.name}Weights", _preparation(layer, changes), gives_tuple=True)
    operation = Operation(product.operation.graph, prepare, f"{name}_weights", vectors)
    weights = SymbolicTensor(operation, 0, layer.weights.dtype, layer.weights.shape)
    operation.outputs.append(weights)
    of_bias = Operation(operation.graph, prepare, f"{name}_bias", vectors)
    bias = SymbolicTensor(of_bias, 0, weights.dtype, TensorShape([layer.channels]))
    of_bias.outputs.append(bias)
    origins = [o for step in chain.steps for o in step.origins]
    args, template = [layer.input, weights, bias], "{kernel}({0}, {1}, {2})"
    kernel, in_place = layer.kernel(chain.activation), None
    adding = None if chain.summand is None else layer.adding(chain.activation)
    if adding is not None:
        kernel, in_place = adding
        args, template = [chain.summand, *args], "{kernel}({0}, {1}, {2}, {3})"
    op = GraphOp("".join(step.name for step in chain.steps), kernel, template=template)
    op.allocates = True
    op.in_place = None if in_place is None else lambda *_: (in_place, template)
    return Step(prepare, vectors, [weights, bias], origins), Step(op, args, chain.steps[-1].outputs, origins)


def _preparation(layer: WeightLayer, changes: Sequence[str]) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """Returns a function that computes the prepared weights and one bias from the weights and vectors."""

    def prepare(weights: torch.Tensor, *vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        factors, bias = None, weights.new_zeros(layer.channels)
        for change, vector in zip(changes, vectors, strict=True):
            vector = vector.reshape(-1)
            if change == "mul":
                bias = bias * vector
                factors = vector.expand(layer.channels) if factors is None else factors * vector
            else:
                bias = bias + vector if change == "add" else bias - vector
        return layer.prepare(weights, factors), bias

    return prepare
