"""Layers: computes a product with weights and the steps that follow it in one kernel, and prepares the weights once.

A bias, a normalization, the sum with a residual connection and an activation may follow a convolution or a product.
After training, a normalization is a factor and a summand for each channel. If factors and summands depend only on
variables, the pass multiplies them into the weights and adds them to one bias; `result_cache.py` then recomputes these
only when a variable has changed. The kernel applies the bias, the residual connection and the activation before it
writes the result. Inner results must have no other use. Results differ from eager results by rounding. An activation
may turn a NaN into its lower limit, as in TensorFlow's graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.array.padding import pad_op
from tapeflow.core.ops.layer import NO_ACTIVATION, Activation, WeightLayer
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.result_cache import Preparation, fixed_tensors
from tapeflow.graph.codegen.patterns import USED_ELSEWHERE, Call, Capture, Captures, Either, Matcher, Rule, Static
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import Program, Step
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.nn.bias import bias_add_op
from tapeflow.nn.conv import conv2_d
from tapeflow.nn.depthwise import depthwise_conv2d_op


def join_layers(program: Program) -> None:
    """Replaces each layer by two steps: one prepares the weights, the other computes the layer."""
    fixed = fixed_tensors(program) if any(step.op.layer is not None for step in program.steps) else None
    if fixed:
        layers = _Layers(program, fixed)
        layers.replace(layers.rules())
        program.steps = layers.steps()


class _Layer(NamedTuple):
    """A product with weights, and the steps after it that its kernel computes too.

    Attributes:
        kernels: the kernels.
        args: the input and the weights.
        product: the step of the product.
        steps: all steps, in program order.
        vectors: "mul", "add" or "sub" and a vector of the channels, for each step that combines these with the result.
        summand: the residual connection, or None.
        activation: the activation.
    """

    kernels: WeightLayer
    args: list[Any]
    product: Step
    steps: list[Step]
    vectors: tuple[tuple[str, SymbolicTensor], ...] = ()
    summand: SymbolicTensor | None = None
    activation: Activation = NO_ACTIVATION


class _Layers(Matcher):
    """The layers of a program.

    Rules match the steps in program order. Each rule appends one step to a layer, so long chains take linear time.

    Attributes:
        fixed: the ids of the tensors that depend only on variables.
        layers: the layers so far, by the ids of their results.
    """

    def __init__(self, program: Program, fixed: set[int]) -> None:
        super().__init__(program)
        self.fixed = fixed
        self.layers: dict[int, _Layer] = {}

    def rules(self) -> list[Rule]:
        """Returns the rules that start a layer, and that append a step to a layer."""
        products = tuple({step.name for step in self.program.steps if step.op.layer is not None})
        activations = tuple({step.name for step in self.program.steps if step.op.activation is not None})
        weights = Capture("weights", lambda layers, tensor: id(tensor) in layers.fixed)
        padded = Call(pad_op, Capture("image"), Static("amounts"), name="padded", once=True)
        convolutions = conv2_d, depthwise_conv2d_op
        layer = Capture("layer", lambda layers, tensor: layers.is_open(tensor, False))
        total = Capture("layer", lambda layers, tensor: layers.is_open(tensor, True))
        vector = Either(
            Capture("parameter", lambda layers, tensor: id(tensor) in layers.fixed and _is_vector(tensor)),
            Capture("constant", lambda layers, tensor: id(tensor) in layers.program.constants and _is_vector(tensor)),
        )
        return [
            Rule(Call(convolutions, padded, weights, Capture(), "VALID", Capture(), "NHWC"), self._start),
            Rule(Call(products, Capture(), weights), self._start),
            Rule(Call((multiply, add, subtract), layer, vector), self._add_vector, "layer", "parameter"),
            Rule(Call(bias_add_op, layer, vector, "NHWC"), self._add_vector, "layer", "parameter"),
            Rule(Call(add, layer, Capture("summand")), self._add_summand),
            Rule(Call(activations, total), self._activate),
        ]

    def is_open(self, tensor: Any, with_summand: bool) -> bool:
        """Returns True if a tensor is the result of a layer without activation, and possibly without summand."""
        layer = self.layers.get(id(tensor))
        return layer is not None and layer.activation is NO_ACTIVATION and (with_summand or layer.summand is None)

    def _start(self, step: Step, captures: Captures) -> str | None:
        """Starts a layer with a product. The kernel of a convolution also pads."""
        args, steps = step.args, [step]
        if captures["padded"] is not None:
            padding = tuple([n for row in captures["amounts"] for n in row])
            if None in padding or len(padding) != 8 or padding[:2] + padding[-2:] != (0, 0, 0, 0) or min(padding) < 0:
                return "the kernel can't pad like this"
            args = [captures["image"], *args[1:3], "EXPLICIT", padding, *args[5:]]
            steps = [self.producers[id(captures["padded"])], step]
        kernels = step.op.layer(*args)
        if kernels is None:
            return "there is no kernel"
        self.layers[id(step.outputs[0])] = _Layer(kernels, args[:2], step, steps)
        return None

    def _add_vector(self, step: Step, captures: Captures) -> str | None:
        """Appends the combination with a number, or with a vector of the channels."""
        layer, parameter = self.layers[id(captures["layer"])], captures["parameter"]
        vector = captures["constant"] if parameter is None else parameter
        before, after = captures["layer"].shape, step.outputs[0].shape
        if (after.rank, after[-1]) != (before.rank, layer.kernels.channels):
            return "the operand is larger than the result of the layer"
        change = "mul" if step.op is multiply.op else "sub" if step.op is subtract.op else "add"
        return self._append(step, captures["layer"], vectors=(*layer.vectors, (change, vector)))

    def _add_summand(self, step: Step, captures: Captures) -> str | None:
        """Appends the sum with a residual connection."""
        adding, summand = self.layers[id(captures["layer"])].kernels.adding, captures["summand"]
        if not _are_alike(captures["layer"], summand) or adding(NO_ACTIVATION) is None:
            return "there is no kernel for this summand"
        return self._append(step, captures["layer"], summand=summand)

    def _activate(self, step: Step, captures: Captures) -> str | None:
        """Appends an activation."""
        layer, activation = self.layers[id(captures["layer"])], step.op.activation
        if layer.summand is not None and layer.kernels.adding(activation) is None:
            return "there is no kernel for the activation of a sum"
        return self._append(step, captures["layer"], activation=activation)

    def _append(self, step: Step, result: SymbolicTensor, **parts: Any) -> str | None:
        """Appends a step to the layer with a result. Returns None, or the reason for not appending it."""
        if self.uses[id(result)] != 1:
            return f"the result of {self.producers[id(result)].name} is {USED_ELSEWHERE}"
        layer = self.layers.pop(id(result))
        self.layers[id(step.outputs[0])] = layer._replace(steps=[*layer.steps, step], **parts)
        return None

    def steps(self) -> list[Step]:
        """Returns the steps of the program, with each layer in the place of its last step."""
        ends = {id(layer.steps[-1]): _steps_of(layer) for layer in self.layers.values()}
        inner = {id(step) for layer in self.layers.values() for step in layer.steps[:-1]}
        return [new for step in self.program.steps if id(step) not in inner for new in ends.get(id(step), (step,))]


def _is_vector(tensor: SymbolicTensor) -> bool:
    """Returns True if a tensor is a number, or a vector of the last dimension."""
    shape = tensor.shape
    return shape.is_fully_defined() and (not shape.rank or shape[-1] == shape.num_elements())


def _are_alike(x: SymbolicTensor, y: SymbolicTensor) -> bool:
    """Returns True if two tensors have the same shape. The batch size may be unknown: the kernels check it."""
    sizes = [t.shape.as_list() if t.shape.rank else [None] for t in (x, y)]
    return x is not y and sizes[0] == sizes[1] and None not in sizes[0][1:]


def _steps_of(layer: _Layer) -> Sequence[Step]:
    """Returns the step that prepares the weights, and the step that computes the layer."""
    kernels, product, summand, (x, weights) = layer.kernels, layer.product, layer.summand, layer.args
    vectors = [weights, *(vector for _, vector in layer.vectors)]
    name = product.operation.name
    prepare = Preparation(f"{product.name}Weights", _weights_preparation(layer), gives_tuple=True)
    operation = Operation(product.operation.graph, prepare, f"{name}_weights", vectors)
    weights = SymbolicTensor(operation, 0, weights.dtype, weights.shape)
    operation.outputs.append(weights)
    of_bias = Operation(operation.graph, prepare, f"{name}_bias", vectors)
    bias = SymbolicTensor(of_bias, 0, weights.dtype, TensorShape([kernels.channels]))
    of_bias.outputs.append(bias)
    origins = [o for step in layer.steps for o in step.origins]
    args, template = [x, weights, bias], "{kernel}({0}, {1}, {2})"
    kernel, in_place = kernels.kernel(layer.activation), None
    adding = None if summand is None else kernels.adding(layer.activation)
    if adding is not None:
        kernel, in_place = adding
        args, template = [summand, *args], "{kernel}({0}, {1}, {2}, {3})"
    op = GraphOp("".join(step.name for step in layer.steps), kernel, template=template)
    op.allocates = True
    op.in_place = in_place
    return Step(prepare, vectors, [weights, bias], origins), Step(op, args, layer.steps[-1].outputs, origins)


def _weights_preparation(layer: _Layer) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """Returns a function that computes the prepared weights and one bias from the weights and vectors."""
    kernels, changes = layer.kernels, [change for change, _ in layer.vectors]

    def prepare(weights: torch.Tensor, *vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        factors, bias = None, weights.new_zeros(kernels.channels)
        for change, vector in zip(changes, vectors, strict=True):
            vector = vector.reshape(-1)
            if change == "mul":
                bias = bias * vector
                factors = vector.expand(kernels.channels) if factors is None else factors * vector
            else:
                bias = bias + vector if change == "add" else bias - vector
        return kernels.prepare(weights, factors), bias

    return prepare
