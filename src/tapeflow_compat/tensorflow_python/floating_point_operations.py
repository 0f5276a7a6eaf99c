"""The numbers of floating-point operations of ops, by TensorFlow's formulas: the statistic "flops"."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from tapeflow_compat.compat.v1.graph_util import tensor_shape_from_node_def_name
from tapeflow_compat.tensorflow_python.op_statistics import OpStats, RegisterStatistics

_PER_INPUT = {"AssignAdd": 1, "AssignSub": 1, "BiasAdd": 1, "Log": 1, "Neg": 1, "Reciprocal": 1, "Rsqrt": 2,
              "Softmax": 5, "Square": 1}  # fmt: skip
_PER_OUTPUT = {
    **dict.fromkeys(
        ("Add", "AddV2", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "Maximum", "Minimum", "Mul",
         "NotEqual", "Pow", "RealDiv", "Sub"), 1,
    ), "RsqrtGrad": 4, "SquaredDifference": 2,
}  # fmt: skip
_REDUCTIONS = {"ArgMax": 0, "ArgMin": 0, "BiasAddGrad": 0, "Mean": 1, "Sum": 0}


def register_flops() -> None:
    """Registers the functions of the statistic."""
    for op, each in _PER_INPUT.items():
        _register(op, partial(_per_input, each))
    for op, each in _PER_OUTPUT.items():
        _register(op, partial(_per_output, each))
    for op, last in _REDUCTIONS.items():
        _register(op, partial(_reduction, last))
    for op, number in _OTHERS.items():
        _register(op, number)


class _Node:
    """A node of a graph, with the sizes of its tensors."""

    def __init__(self, graph: Any, definition: Any) -> None:
        self._graph, self.definition = graph, definition
        self.attr = definition.attr

    def shape(self, name: str) -> list[int]:
        """Returns a static shape.

        Raises:
            ValueError: it is not known.
        """
        shape = tensor_shape_from_node_def_name(self._graph, name)
        shape.assert_is_fully_defined()
        return list(shape.as_list())

    def input(self, i: int) -> int:
        """Returns the number of elements of an input."""
        return math.prod(self.input_shape(i))

    def input_shape(self, i: int) -> list[int]:
        """Returns the static shape of an input."""
        return self.shape(self.definition.input[i])

    def output(self) -> int:
        """Returns the number of elements of the output."""
        return math.prod(self.shape(self.definition.name))

    def window(self) -> int:
        """Returns the number of elements of a pool's window.

        Raises:
            ValueError: the channels are not last.
        """
        self.check_layout()
        return math.prod(self.attr["ksize"].list.i)

    def stride(self) -> int:
        """Returns the product of the strides of a convolution.

        Raises:
            ValueError: the channels are not last.
        """
        self.check_layout()
        strides = self.attr["strides"].list.i
        return int(strides[1] * strides[2])

    def check_layout(self) -> None:
        """Raises ValueError unless the channels are last."""
        if self.attr["data_format"].s != b"NHWC":
            raise ValueError("Only NHWC format is supported in flops computations")


def _register(op: str, number: Callable[[_Node], float]) -> None:
    RegisterStatistics(op, "flops")(lambda graph, node: OpStats("flops", number(_Node(graph, node))))


def _per_input(each: int, node: _Node) -> int:
    return node.input(0) * each


def _per_output(each: int, node: _Node) -> int:
    return node.output() * each


def _reduction(last: int, node: _Node) -> int:
    return node.input(0) + node.output() * (last - 1)


def _matrix_product(node: _Node) -> int:
    transposed = node.attr["transpose_a"].b
    return node.input_shape(0)[-2 if transposed else -1] * node.output() * 2


def _convolution(node: _Node) -> int:
    node.input_shape(0)
    return node.output() * math.prod(node.input_shape(1)[:-1]) * 2


def _depthwise(node: _Node) -> int:
    node.input_shape(0)
    return node.output() * math.prod(node.input_shape(1)[:2]) * 2


def _gradient_of_image(node: _Node) -> float:
    return 2 * node.output() * node.input(1) / (node.shape(node.definition.name)[-1] * node.stride())


def _gradient_of_filters(node: _Node) -> float:
    return 2 * node.input(0) * node.output() / (node.input_shape(0)[-1] * node.stride())


_OTHERS: dict[str, Callable[[_Node], float]] = {
    "AddN": lambda node: node.input(0) * (len(node.definition.input) - 1),
    "AvgPool": lambda node: node.window() * node.output(),
    "AvgPoolGrad": lambda node: node.window() * node.input(1) * 2,
    "BatchMatMul": _matrix_product,
    "BatchMatMulV2": _matrix_product,
    "BatchMatMulV3": _matrix_product,
    "Conv2D": _convolution,
    "Conv2DBackpropFilter": _gradient_of_filters,
    "Conv2DBackpropInput": _gradient_of_image,
    "Conv3D": _convolution,
    "DepthwiseConv2dNative": _depthwise,
    "Dilation2D": _depthwise,
    "L2Loss": lambda node: node.input(0) * 3 - 1,
    "MatMul": _matrix_product,
    "MaxPool": lambda node: node.window() * node.output(),
    "MaxPoolGrad": lambda node: (node.window() + 1) * node.input(1),
}
