"""Rewrites of a subgraph: fewer and larger operators with the same results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import float32
from tapeflow.lite.forms.elementwise import expand_erf
from tapeflow.lite.lower import FileState, Writer
from tapeflow.lite.program import LiteOperator, LiteTensor, Subgraph

# For operators with weights and a bias: the places of both among the inputs, and the axis of the weights for outputs.
_LAYERS = {
    "CONV_2D": (1, 2, 0), "DEPTHWISE_CONV_2D": (1, 2, 3), "FULLY_CONNECTED": (1, 2, 0), "TRANSPOSE_CONV": (1, 3, 0),
    "CONV_3D": (1, 2, 4), "CONV_3D_TRANSPOSE": (1, 3, 3),
}  # fmt: skip
_ACTIVATIONS = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}  # their numbers among fused activations
_FUSES_ACTIVATION = {"ADD", "SUB", "MUL", "DIV", "AVERAGE_POOL_2D", "MAX_POOL_2D", *_LAYERS}
_SAME, _VALID = 0, 1
_EFFECTS = {"ASSIGN_VARIABLE", "CALL_ONCE", "HASHTABLE_IMPORT", "WHILE", "IF"}


def optimize(subgraph: Subgraph, state: FileState) -> None:
    """Rewrites a subgraph in place."""
    rewriter = _Rewriter(subgraph, state)
    rewriter.remove_unused()
    for rewrite in (rewriter.fuse_gelu, rewriter.fuse_hard_swish, rewriter.drop_neutral, rewriter.merge_moves,
                    rewriter.fold_scale_of_input, rewriter.fold_into_weights, rewriter.fuse_padding,
                    rewriter.fuse_activation, rewriter.keep_dimensions):  # fmt: skip
        rewriter.apply(rewrite)
    rewriter.expand()
    rewriter.drop_zero_biases()
    rewriter.remove_unused()


class _Rewriter:
    """Rewrites one subgraph.

    Args:
        subgraph: the subgraph.
        state: the state of its file.
    """

    def __init__(self, subgraph: Subgraph, state: FileState) -> None:
        self.subgraph, self.state = subgraph, state
        self.users: dict[int, list[Any]] = {}
        self.makers: dict[int, LiteOperator] = {}

    def apply(self, rewrite: Callable[[LiteOperator], bool]) -> None:
        """Calls a rewrite on each operator. It returns True if it replaced the operator, which is then removed."""
        self._index()
        remaining = []
        for operator in self.subgraph.operators:
            if rewrite(operator):
                for t in operator.inputs:
                    self.users[id(t)] = [u for u in self.users.get(id(t), ()) if u is not operator]
            else:
                remaining.append(operator)
        self.subgraph.operators = remaining
        self.remove_unused()

    def _index(self) -> None:
        self.users = self.subgraph.users()
        self.makers = {id(t): o for o in self.subgraph.operators for t in o.outputs}

    def remove_unused(self) -> None:
        """Removes operators without an effect whose results nothing takes."""
        needed = set(map(id, self.subgraph.outputs))
        remaining = []
        for operator in reversed(self.subgraph.operators):
            if operator.code in _EFFECTS or any(id(t) in needed for t in operator.outputs):
                needed.update(id(t) for t in operator.inputs)
                remaining.append(operator)
        self.subgraph.operators = remaining[::-1]

    # ---- queries -------------------------------------------------------------------------------------------------

    def _maker(self, tensor: LiteTensor | None, code: str | None = None) -> LiteOperator | None:
        """Returns the operator that computes a tensor, if it has this code."""
        maker = self.makers.get(id(tensor))
        return maker if maker is not None and (code is None or maker.code == code) else None

    def _is_private(self, tensor: LiteTensor) -> bool:
        """Returns True if a tensor has one use, and is no output of the subgraph."""
        users = self.users.get(id(tensor), ())
        return len(users) == 1 and users[0] is not None

    def _orders(self, operator: LiteOperator | None) -> Sequence[list[Any]]:
        """Returns the operands of an operator in both orders; none without an operator."""
        return () if operator is None else (operator.inputs, operator.inputs[::-1])

    def _operand(self, tensor: LiteTensor | None, code: str, number: float) -> LiteTensor | None:
        """Returns `x` if an operator computes a tensor from `x` and a number, or None."""
        maker = self._maker(tensor, code)
        if maker is None or maker.options.get("fusedActivationFunction"):
            return None
        for x, c in self._orders(maker)[: 2 if code in ("ADD", "MUL") else 1]:
            if c is not None and c.value is not None and c.value.size == 1 and c.dtype is float32 and x is not None:
                return x if math.isclose(c.value.item(), number, rel_tol=1e-6) else None
        return None

    def _multiplied(self, tensor: LiteTensor | None, factor: float) -> LiteTensor | None:
        """Returns `x` if a tensor is `x * factor`, or `x / (1 / factor)`, or None."""
        x = self._operand(tensor, "MUL", factor)
        return self._operand(tensor, "DIV", 1 / factor) if x is None else x

    def _replace(self, operator: LiteOperator, code: str, x: LiteTensor | None, **options: Any) -> bool:
        """Puts an operator of `x` in the place of one whose result it computes."""
        operator.code, operator.inputs, operator.options = code, [x], options
        self._index()
        return False

    # ---- activations ---------------------------------------------------------------------------------------------

    def fuse_gelu(self, operator: LiteOperator) -> bool:
        """Replaces `x / 2 * (1 + erf(x / sqrt(2)))`, or the formula with `tanh`, by one operator."""
        if operator.code != "MUL":
            return False
        pairs = [(gate, self._multiplied(half, 0.5)) for gate, half in self._orders(operator)]
        product = self._maker(self._operand(operator.outputs[0], "MUL", 0.5), "MUL")
        for gate, x in (*pairs, *self._orders(product)):
            gelu = self._gelu_gate(gate)
            if gelu is not None and gelu[0] is x:
                return self._replace(operator, "GELU", x, approximate=gelu[1])
        return False

    def _gelu_gate(self, tensor: LiteTensor | None) -> tuple[LiteTensor, bool] | None:
        """Returns the input of `1 + erf(x / sqrt(2))`, and whether it is the approximation by `tanh`."""
        smooth = self._operand(tensor, "ADD", 1.0)
        erf, tanh = self._maker(smooth, "ERF"), self._maker(smooth, "TANH")
        if erf is not None:
            x = self._multiplied(erf.inputs[0], math.sqrt(0.5))
            return None if x is None else (x, False)
        scaled = None if tanh is None else self._operand(tanh.inputs[0], "MUL", math.sqrt(2 / math.pi))
        for x, term in self._orders(self._maker(scaled, "ADD")):
            if self._is_cube(self._operand(term, "MUL", 0.044715), x):
                return x, True
        return None

    def _is_cube(self, tensor: LiteTensor | None, x: LiteTensor) -> bool:
        if self._operand(tensor, "POW", 3.0) is x:
            return True
        for one, other in self._orders(self._maker(tensor, "MUL")):
            square = self._maker(one, "MUL") or self._maker(one, "SQUARE")
            if other is x and square is not None and all(t is x for t in square.inputs):
                return True
        return False

    def fuse_hard_swish(self, operator: LiteOperator) -> bool:
        """Replaces `x * relu6(x + 3) / 6` by one operator."""
        for x, gate in self._orders(operator) if operator.code == "MUL" else ():
            relu = self._maker(self._multiplied(gate, 1 / 6), "RELU6")
            if relu is not None and self._operand(relu.inputs[0], "ADD", 3.0) is x:
                return self._replace(operator, "HARD_SWISH", x)
        return False

    def fuse_activation(self, operator: LiteOperator) -> bool:
        """Lets the operator before a rectifier compute it."""
        number = _ACTIVATIONS.get(operator.code)
        x = operator.inputs[0] if operator.inputs else None
        maker = self._through_reshapes(x)
        if number is None or maker is None or maker.code not in _FUSES_ACTIVATION or x is None:
            return False
        if maker.options.get("fusedActivationFunction") or x.dtype is not float32:
            return False
        maker.options["fusedActivationFunction"] = number
        return self._bypass(operator, x)

    def _through_reshapes(self, tensor: LiteTensor | None, keeps_last: bool = False) -> LiteOperator | None:
        """Returns the operator that computes a private tensor, before reshapes of it.

        Args:
            tensor: the tensor.
            keeps_last: True if the reshapes must keep the last dimension.
        """
        while tensor is not None and self._is_private(tensor):
            maker = self._maker(tensor)
            if maker is None or maker.code != "RESHAPE":
                return maker
            before = maker.inputs[0]
            if keeps_last and (before is None or not before.shape or before.shape[-1:] != tensor.shape[-1:]):
                return None
            tensor = before
        return None

    def _bypass(self, operator: LiteOperator, x: LiteTensor) -> bool:
        """Lets the operator that computes `x` compute the result of an operator that takes it; returns True."""
        maker, result = self.makers[id(x)], operator.outputs[0]
        maker.outputs = [result if t is x else t for t in maker.outputs]
        self.makers[id(result)] = maker
        return True

    # ---- weights -------------------------------------------------------------------------------------------------

    def fold_into_weights(self, operator: LiteOperator) -> bool:
        """Folds a sum or product with a constant for each channel into the weights and the bias before it."""
        if operator.code not in ("ADD", "SUB", "MUL", "DIV") or operator.outputs[0].dtype is not float32:
            return False
        for place in (0, 1):
            constant, x = operator.inputs[place], operator.inputs[1 - place]
            if constant is None or constant.value is None or x is None or x.value is not None:
                continue
            if place == 0 and operator.code in ("SUB", "DIV"):
                continue
            maker = self._through_reshapes(x, keeps_last=True)
            if maker is None or maker.code not in _LAYERS or maker.options.get("fusedActivationFunction"):
                continue
            if operator.outputs[0].shape != x.shape:
                continue
            if self._fold(maker, operator.code, constant.value):
                return self._bypass(operator, x)
        return False

    def _fold(self, layer: LiteOperator, code: str, value: np.ndarray) -> bool:
        """Changes the weights and bias of a layer whose result is combined with a constant. Returns False if the
        constant differs along other dimensions than the last one."""
        at, of_bias, axis = _LAYERS[layer.code]
        weights, bias = layer.inputs[at], layer.inputs[of_bias] if len(layer.inputs) > of_bias else None
        if weights is None or weights.value is None or bias is None or bias.value is None:
            return False
        if any(d != 1 for d in value.shape[:-1]):
            return False
        channels = bias.value.shape[0]
        numbers = np.broadcast_to(value.reshape(-1), (channels,)).astype(np.float64)
        new_bias = bias.value.astype(np.float64)
        if code in ("ADD", "SUB"):
            new_bias = new_bias + numbers if code == "ADD" else new_bias - numbers
        else:
            with np.errstate(divide="ignore"):
                factor = numbers if code == "MUL" else 1 / numbers
            shape = [1] * weights.rank
            shape[axis] = channels
            scaled = _with_numbers(weights, weights.value * factor.reshape(shape))
            if not np.isfinite(scaled.value).all():
                return False
            layer.inputs[at] = scaled
            new_bias = new_bias * factor
        layer.inputs[of_bias] = _with_numbers(bias, new_bias)
        return True

    def drop_neutral(self, operator: LiteOperator) -> bool:
        """Removes sums with zero and products with one."""
        neutral = {"ADD": 0, "SUB": 0, "MUL": 1, "DIV": 1}.get(operator.code)
        for place in (0, 1) if operator.code in ("ADD", "MUL") else (1,):
            if neutral is None or operator.options.get("fusedActivationFunction"):
                return False
            constant, x = operator.inputs[place], operator.inputs[1 - place]
            if constant is not None and constant.value is not None and x is not None and x.value is None:
                remaining = x.shape == operator.outputs[0].shape and constant.rank <= x.rank and (
                    constant.value.size == 1 or None not in x.shape[1:]
                )  # fmt: skip
                if remaining and (constant.value == neutral).all():
                    return self._alias(operator, x)
        return False

    def fold_scale_of_input(self, operator: LiteOperator) -> bool:
        """Folds a product with a constant for each channel into the weights after it, also past padding by zeros."""
        if operator.code not in ("MUL", "DIV") or operator.outputs[0].dtype is not float32:
            return False
        scaled, constant = operator.inputs
        if operator.code == "MUL" and scaled is not None and scaled.value is not None:
            scaled, constant = constant, scaled
        if constant is None or constant.value is None or scaled is None or any(d != 1 for d in constant.shape[:-1]):
            return False
        if operator.options.get("fusedActivationFunction") or scaled.shape != operator.outputs[0].shape:
            return False
        result = operator.outputs[0]
        layer = self._only_user(result)
        if layer is not None and layer.code == "PAD":
            layer = self._only_user(layer.outputs[0])
        if layer is None or layer.code not in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            return False
        weights = layer.inputs[1]
        if weights is None or weights.value is None or scaled.shape[-1] != weights.shape[-1]:
            return False
        factor = constant.value.reshape(-1).astype(np.float64)
        with np.errstate(divide="ignore"):
            new = _with_numbers(weights, weights.value * (factor if operator.code == "MUL" else 1 / factor))
        if not np.isfinite(new.value).all():
            return False
        layer.inputs[1] = new
        return self._alias(operator, scaled)

    def _only_user(self, tensor: LiteTensor) -> LiteOperator | None:
        """Returns the operator that takes a private tensor as its first input, or None."""
        users = self.users.get(id(tensor), [])
        return users[0] if self._is_private(tensor) and users[0].inputs[0] is tensor else None

    def fuse_padding(self, operator: LiteOperator) -> bool:
        """Lets a convolution pad its input itself, if that is padded as SAME pads it."""
        if operator.code not in ("CONV_2D", "DEPTHWISE_CONV_2D") or operator.options["padding"] != _VALID:
            return False
        pad = self._maker(operator.inputs[0], "PAD")
        if pad is None or not self._is_private(pad.outputs[0]):
            return False
        x, edges = pad.inputs[0], pad.inputs[1].value
        if edges is None or x.rank != 4 or None in x.shape[1:]:
            return False
        expected = [(0, 0)]
        for axis, letter in ((1, "H"), (2, "W")):
            window = (operator.inputs[1].shape[axis] - 1) * operator.options[f"dilation{letter}Factor"] + 1
            step, size = operator.options[f"stride{letter}"], x.shape[axis]
            total = max((-(-size // step) - 1) * step + window - size, 0)
            expected.append((total // 2, total - total // 2))
        if not np.array_equal(edges, [*expected, (0, 0)]):
            return False
        operator.inputs[0], operator.options["padding"] = x, _SAME
        return False

    def keep_dimensions(self, operator: LiteOperator) -> bool:
        """Lets a fully connected layer between two reshapes take the dimensions of its input."""
        if operator.code != "RESHAPE":
            return False
        result = operator.outputs[0]
        layer = self._through_reshapes(operator.inputs[0])
        before = self._maker(layer.inputs[0], "RESHAPE") if layer is not None else None
        x = before.inputs[0] if before is not None else None
        if layer is None or layer.code != "FULLY_CONNECTED" or x is None or x.rank <= 2:
            return False
        if layer.outputs[0] is not operator.inputs[0] or x.shape[-1] != layer.inputs[0].shape[-1]:
            return False
        if x.shape[:-1] != result.shape[:-1] or result.shape[-1] != layer.outputs[0].shape[-1] or None in x.shape[1:]:
            return False
        layer.inputs[0], layer.options["keepNumDims"] = x, True
        return self._bypass(operator, operator.inputs[0])

    def drop_zero_biases(self) -> None:
        """Leaves out biases of zeros where they are optional."""
        for operator in self.subgraph.operators:
            if operator.code in ("FULLY_CONNECTED", "TRANSPOSE_CONV"):
                bias = operator.inputs[-1]
                if bias.value is not None and not bias.value.any():
                    operator.inputs[-1:] = [None] if operator.code == "FULLY_CONNECTED" else []

    # ---- moves ---------------------------------------------------------------------------------------------------

    def merge_moves(self, operator: LiteOperator) -> bool:
        """Merges two reshapes or transposes in a row, and removes those that change nothing."""
        if operator.code not in ("RESHAPE", "TRANSPOSE") or operator.inputs[1] is None:
            return False
        x, argument = operator.inputs
        before = self._maker(x, operator.code)
        if argument.value is None or x is None:
            return False
        if before is not None and before.inputs[1] is not None and before.inputs[1].value is not None:
            if operator.code == "TRANSPOSE":
                operator.inputs[1] = argument = _with_numbers(argument, before.inputs[1].value[argument.value])
            operator.inputs[0] = x = before.inputs[0]
            self._index()
        same = operator.outputs[0].shape == x.shape and x.shape.count(None) <= 1
        if operator.code == "TRANSPOSE":
            same = list(argument.value) == list(range(len(argument.value)))
        return bool(same) and self._alias(operator, x)

    def _alias(self, operator: LiteOperator, x: LiteTensor) -> bool:
        """Lets the users of an operator's result take its input instead. Returns False for a result that is an
        output of the subgraph."""
        result = operator.outputs[0]
        users = self.users.get(id(result), [])
        if any(t is result for t in self.subgraph.outputs):
            return False
        for user in users:
            user.inputs = [x if t is result else t for t in user.inputs]
        self.users.setdefault(id(x), []).extend(users)
        return True

    # ---- operators that the runtime lacks ------------------------------------------------------------------------

    def expand(self) -> None:
        """Replaces the error function by operators that the runtime has."""
        operators: list[LiteOperator] = []
        for operator in self.subgraph.operators:
            if operator.code != "ERF":
                operators.append(operator)
                continue
            scratch = Writer(Subgraph(""), self.state, operator.source)
            expand_erf(scratch, operator.inputs[0])
            scratch.subgraph.operators[-1].outputs = operator.outputs
            operators += scratch.subgraph.operators
        self.subgraph.operators = operators


def _with_numbers(tensor: LiteTensor, numbers: np.ndarray) -> LiteTensor:
    """Returns a constant like another one, with other numbers."""
    return LiteTensor(tensor.name, tensor.dtype, numbers.shape, numbers.astype(tensor.value.dtype))
