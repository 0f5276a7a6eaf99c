"""An exported program as a Python file that needs torch alone, and its weights."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from tapeflow.core import aten
from tapeflow.core.values.tensor import flat_bytes
from tapeflow.torch.unconvertible import Unconvertible

_OpOverload: Any = type(torch.ops.aten.add.Tensor)
_HEAD = '''"""A model of TensorFlow, as calls of torch. It was written by `python -m tapeflow convert`.

Its weights are in `weights.safetensors` beside this file; trainable ones are parameters, all others buffers.
"""

import json
import operator
import os

import torch

TRAINABLE = {trainable}


def read_weights(path):
    """Returns the tensors of a file in the safetensors format, by their names."""
    dtypes = {dtypes}
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    weights = {{}}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        shape, dtype = entry["shape"], getattr(torch, dtypes[entry["dtype"]])
        weights[name] = torch.frombuffer(data[begin:end], dtype=dtype).reshape(shape) if end > begin else (
            torch.empty(shape, dtype=dtype))
    return weights


class Model(torch.nn.Module):
    """The model; `path` is the file of its weights."""

    def __init__(self, path=os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights.safetensors")):
        super().__init__()
        for name, value in read_weights(path).items():
            *scopes, last = name.split(".")
            home = self
            for scope in scopes:
                if scope not in home._modules:
                    home.add_module(scope, torch.nn.Module())
                home = home._modules[scope]
            if name in TRAINABLE:
                home.register_parameter(last, torch.nn.Parameter(value))
            else:
                home.register_buffer(last, value)

'''

_DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "F16": "float16", "BF16": "bfloat16",
    "I32": "int32", "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64",
    "C64": "complex64",
}  # fmt: skip
_CODES = {getattr(torch, name): code for code, name in _DTYPES.items()}


def write(program: ExportedProgram, names: list[str], folder: str | os.PathLike[str]) -> None:
    """Writes `model.py` and `weights.safetensors` into a folder.

    Args:
        program: the exported program.
        names: the names of its inputs.
        folder: the folder, which is created.

    Raises:
        Unconvertible: it has an operation that has no place in a file of calls.
    """
    os.makedirs(folder, exist_ok=True)
    weights: dict[str, torch.Tensor] = {}
    trainable: list[str] = []
    references: dict[str, str] = {}
    rest = iter(names)
    parameters = []
    for spec in program.graph_signature.input_specs:
        name = getattr(spec.arg, "name", "")
        if spec.kind is InputKind.USER_INPUT:
            parameters.append(next(rest))
            references[name] = parameters[-1]
            continue
        if spec.target is None:
            raise Unconvertible(f"{name} is a {spec.kind.name}, which has no place in a file of calls")
        state = program.state_dict if spec.target in program.state_dict else program.constants
        weights[spec.target] = state[spec.target].detach()
        references[name] = f"self.{spec.target}"
        if spec.kind is InputKind.PARAMETER:
            trainable.append(spec.target)
    (outputs,) = [node.args[0] for node in program.graph.nodes if node.op == "output"]
    body = _graph_lines(program.graph_module, references, set(parameters), weights)
    body += _ending_lines(program, outputs, references)
    lines = [f"    def forward({', '.join(['self', *parameters])}):", *(f"        {line}" for line in body)]
    head = _HEAD.format(trainable=_list_names(trainable), dtypes=_DTYPES)
    with open(os.path.join(folder, "model.py"), "w", encoding="utf-8") as file:
        file.write(head + "\n".join(lines) + "\n")
    write_weights(os.path.join(folder, "weights.safetensors"), weights)


def _list_names(names: list[str]) -> str:
    rows = "".join(f"    {name!r},\n" for name in names)
    return f"{{\n{rows}}}" if names else "set()"


def _graph_lines(graph_module: Any, references: dict[str, str], used: set[str], weights: dict[str, torch.Tensor],
           scope: str = "") -> list[str]:  # fmt: skip
    """Returns the lines of a graph's calls.

    Args:
        graph_module: the module of the graph.
        references: from nodes to their expressions; changed.
        used: names in use.
        weights: the weights by name; changed: constants of inner graphs are added.
        scope: the names of the graphs around it, each with a `.` after it.
    """
    lines = []
    for node in graph_module.graph.nodes:
        name = node.name if node.name not in used else f"{node.name}_value"
        if node.op == "get_attr":
            references[node.name] = name
            value = getattr(graph_module, node.target)
            if isinstance(value, torch.Tensor):
                weights[f"{scope}{node.target}"] = value.detach()
                references[node.name] = f"self.{scope}{node.target}"
            else:
                lines += _function_lines(name, value, weights, f"{scope}{node.target}.")
        elif node.op == "call_function":
            references[node.name] = name
            lines += _call_lines(node, name, references)
    return lines


def _function_lines(name: str, graph_module: Any, weights: dict[str, torch.Tensor], scope: str) -> list[str]:
    """Returns the lines of a function of a conditional or a loop. `_graph_lines` describes the arguments."""
    nodes = graph_module.graph.nodes
    parameters = [node.name for node in nodes if node.op == "placeholder"]
    references = {n: n for n in parameters}
    body = _graph_lines(graph_module, references, set(parameters), weights, scope)
    (output,) = [node.args[0] for node in nodes if node.op == "output"]
    body.append(f"return {_argument_expression(output, references)}")
    return [f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in body)]


def _call_lines(node: Node, name: str, references: dict[str, str]) -> list[str]:
    """Returns the lines of a call; a conditional or a loop is Python's own."""
    arguments = [_argument_expression(a, references) for a in node.args]
    if node.target is torch.ops.higher_order.cond:
        predicate, on_true, on_false, operands = arguments
        return [f"{name} = ({on_true} if {predicate} else {on_false})(*{operands})"]
    if node.target is torch.ops.higher_order.while_loop:
        condition, body, carried, others = arguments
        return [
            f"{name} = {carried}",
            f"while {condition}(*{name}, *{others}):",
            f"    {name} = {body}(*{name}, *{others})",
        ]
    arguments += [f"{key}={_argument_expression(a, references)}" for key, a in node.kwargs.items()]
    return [f"{name} = {_callee_name(node)}({', '.join(arguments)})"]


def _ending_lines(program: ExportedProgram, outputs: Any, references: dict[str, str]) -> list[str]:
    """Returns the lines that change buffers and return the result."""
    lines, results = [], []
    for spec, value in zip(program.graph_signature.output_specs, outputs, strict=True):
        if spec.kind is OutputKind.BUFFER_MUTATION:
            lines.append(f"self.{spec.target}.copy_({_argument_expression(value, references)})")
        elif spec.kind is OutputKind.USER_OUTPUT:
            results.append(_Expression(_argument_expression(value, references)))
        else:
            raise Unconvertible(f"an output is a {spec.kind.name}, which has no place in a file of calls")
    structure = program.call_spec.out_spec
    return [*lines, f"return {aten.pytree.tree_unflatten(results, structure)!r}"]


class _Expression(str):
    """An expression that stands for its value in a structure."""

    __repr__ = str.__str__


def _callee_name(node: Node) -> str:
    target: Any = node.target
    if isinstance(target, _OpOverload):
        return f"torch.ops.{target}"
    name = getattr(target, "__name__", "")
    if getattr(target, "__module__", "") in ("_operator", "operator"):
        return f"operator.{name}"
    if getattr(torch, name, None) is target:
        return f"torch.{name}"
    raise Unconvertible(f"{node.name} calls {target}, which has no place in a file of calls")


def _argument_expression(value: Any, references: Mapping[str, str]) -> str:
    """Returns the expression of an argument."""
    if isinstance(value, Node):
        return references[value.name]
    if isinstance(value, (list, tuple)):
        items = [_argument_expression(v, references) for v in value]
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, torch.device):
        return f"torch.{value!r}" if not repr(value).startswith("torch") else repr(value)
    return str(value) if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)) else repr(value)


def write_weights(path: str, weights: Mapping[str, torch.Tensor]) -> None:
    """Writes tensors in the safetensors format.

    Args:
        path: the file.
        weights: the tensors, by their names.

    Raises:
        Unconvertible: the format lacks the dtype of one.
    """
    header: dict[str, Any] = {}
    tensors = []
    end = 0
    for name, tensor in weights.items():
        if tensor.dtype not in _CODES:
            raise Unconvertible(f"{name} is of dtype {tensor.dtype}, which safetensors lacks")
        begin, end = end, end + tensor.numel() * tensor.element_size()
        tensors.append(tensor.detach().cpu().contiguous())
        header[name] = {"dtype": _CODES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors:
            file.write(flat_bytes(tensor).numpy().tobytes())
