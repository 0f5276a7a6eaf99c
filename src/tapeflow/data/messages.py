"""Datasets as messages, so that another process can iterate over them: no code travels, and nothing is pickled.

A message consists of Python values, specs and tensors (`transport/calls.py`). A node is its class and its fields; a
user's function its trace as `FunctionDef`s, with its captures: tensors, variables and tables by their values. An
operation that builds a dataset when a graph runs is a node of TensorFlow's op for calls of Python, whose token is the
message of what it builds.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from tapeflow.core.context import state
from tapeflow.core.errors import NotFoundError, UnimplementedError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import FROM_TORCH, DType, resource, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TypeSpec, spec_of
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.held import held
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.data import options
from tapeflow.data.dataset import Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.nodes import Node
from tapeflow.data.parts import register
from tapeflow.data.shuffling import Seeds
from tapeflow.data.staged import Creation, Pipeline, StagedDataset, variant_of
from tapeflow.graph.graphdef.builders import register as register_builders
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.io.csv import CsvParser
from tapeflow.lookup.nodes import Table
from tapeflow.lookup.storage import Storage
from tapeflow.lookup.tables import LookupTable
from tapeflow.transport.calls import from_bytes, to_bytes
from tapeflow.transport.functions import definitions_of, graph_of

_PLAIN = (type(None), bool, int, float, str, DType, TensorShape)
_LOCAL = ("_rewritten", "_input_datasets")  # fields of nodes that belong to the process
# Classes of values that stand in fields, and consist of fields themselves.
_RECORDS: dict[str, type] = {
    cls.__name__: cls
    for cls in (CsvParser, options.AutotuneOptions, options.DistributeOptions, options.OptimizationOptions,
                options.Options, options.ServiceOptions, options.ThreadingOptions)
}  # fmt: skip
_ENUMS: dict[str, type] = {
    cls.__name__: cls for cls in (options.AutoShardPolicy, options.AutotuneAlgorithm, options.ExternalStatePolicy)
}
_PACKAGE, _ROOMS = "tapeflow.", ("data.", "raw_ops.datasets")  # where classes of nodes are
_PYTHON = "PyFuncStateless"  # TensorFlow's op for calls of Python


def message_of(dataset: Any) -> bytes:
    """Returns a dataset as a message.

    Raises:
        UnimplementedError: it can't travel, as it calls Python, or holds what stays in this process.
    """
    return to_bytes(_Writer({}).value(dataset))


def dataset_of(message: bytes) -> Any:
    """Returns the dataset that a message holds.

    Raises:
        UnimplementedError: it can't run in this process.
        ValueError: it is no such message.
    """
    return _read(message, [])


def _kind_of(cls: Any) -> str:
    """Returns the name of a class of nodes, by which another process finds it, whatever it has imported.

    Raises:
        UnimplementedError: it is none of this package's.
    """
    module, name = cls.__module__.removeprefix(_PACKAGE), cls.__name__
    if not module.startswith(_ROOMS) or getattr(sys.modules[cls.__module__], name, None) is not cls:
        raise _stays(cls)
    return f"{module}:{name}"


@functools.cache
def _class_of(kind: str) -> Any:
    """Returns the class of nodes of that name.

    Raises:
        ValueError: there is none.
    """
    module, _, name = kind.partition(":")
    try:
        cls = getattr(importlib.import_module(_PACKAGE + module), name, None) if module.startswith(_ROOMS) else None
    except ModuleNotFoundError:
        cls = None
    if not (isinstance(cls, type) and issubclass(cls, Node)):
        raise ValueError(f"There is no kind of dataset {kind!r}.")
    return cls


def _stays(value: Any) -> UnimplementedError:
    what = value.__name__ if isinstance(value, type) else type(value).__name__
    return UnimplementedError.of(f"A dataset with a {what} can't travel to another process.")


# ---- writing ---------------------------------------------------------------------------------------------------------


class _Writer:
    """Turns values into messages.

    Args:
        inputs: the places of the operation's inputs, by the ids of the tensors and datasets that stand for them.
    """

    def __init__(self, inputs: dict[int, int]) -> None:
        self._inputs = inputs

    def value(self, value: Any) -> Any:
        """Returns the message of a value: what is plain as it is, else a dict of one item that says what it is."""
        if isinstance(value, _PLAIN):
            return value
        place = self._inputs.get(id(value))
        if place is not None:
            return {"input": [place, self.value(getattr(value, "element_spec", None))]}
        for kinds, name, write in self._cases:
            if isinstance(value, kinds):
                return {name: write(self, value)}
        if type(value).__name__ in _RECORDS:
            fields = {name: self.value(item) for name, item in vars(value).items()}
            return {"record": [type(value).__name__, fields]}
        raise _stays(value)

    def _items(self, values: Any) -> list[Any]:
        return [self.value(v) for v in values]

    def _dict(self, value: dict[Any, Any]) -> list[Any]:
        return [[self.value(k), self.value(v)] for k, v in value.items()]

    def _named_tuple(self, value: Any) -> Any:
        return [type(value).__name__, list(value._fields), self._items(value)]

    def _tensor(self, value: EagerTensor) -> Any:
        if value.dtype not in (resource, variant):
            return {"plain": value}
        content = value.value[()]
        if isinstance(content, Dataset):
            return {"of": self.value(content)}
        if isinstance(content, (LookupTable, Table)):
            storage = content.storage
            shapes = [list(storage.key_shape), list(storage.value_shape)]
            return {"table": [storage.key_dtype, storage.value_dtype, shapes, storage.export()]}
        raise _stays(content)

    def _variable(self, value: Variable) -> Any:
        return [value.value(), value.shape]

    def _composite(self, value: CompositeTensor) -> Any:
        return [spec_of(value), self._items(nest.flatten(value, expand_composites=True))]

    def _function(self, function: MappedFunction) -> Any:
        body = function._body
        arguments = len(body.inputs) - len(function._captured)
        return {
            "name": [function._name, body.name],
            "specs": self.value([function._spec, function.output_spec]),
            "definitions": definitions_of(body),
            "arguments": [spec_of(t) for t in body.inputs[:arguments]],
            "captures": self._items(function._captured),
        }

    def _dataset(self, dataset: Dataset) -> Any:
        if not isinstance(dataset, Node):
            inputs = dataset._inputs()
            if isinstance(dataset, StagedDataset) or len(inputs) != 1:
                raise _stays(dataset)
            return {"over": self.value(inputs[0])}
        kind = _kind_of(type(dataset))
        fields = {n: self.value(v) for n, v in vars(dataset).items() if n not in _LOCAL}
        return {"kind": kind, "fields": fields, "inputs": self._items(dataset._inputs())}

    def _creation(self, creation: Creation) -> Any:
        kind = _kind_of(creation.kind)
        args = self.value([list(creation.args), creation.kwargs])
        return [kind, args, self.value(creation.element_spec)]

    # The first case whose class fits says how a value is written; `_Reader` has a method for each name.
    _cases: Sequence[tuple[Any, str, Callable[[_Writer, Any], Any]]] = (
        (Creation, "creation", _creation),
        (Dataset, "dataset", _dataset),
        (MappedFunction, "function", _function),
        (Seeds, "seeds", lambda self, v: [None if v.drawn else list(v.base), v.renew]),
        (Variable, "variable", _variable),
        (EagerTensor, "tensor", _tensor),
        (torch.Tensor, "bare", lambda self, v: EagerTensor(v, FROM_TORCH[v.dtype])),
        (np.ndarray, "array", lambda self, v: EagerTensor(v, string) if v.dtype == object else convert(v)),
        (TypeSpec, "spec", lambda self, v: v),
        (CompositeTensor, "composite", _composite),
        (bytes, "bytes", lambda self, v: v),
        (range, "range", lambda self, v: [v.start, v.stop, v.step]),
        (tuple(_ENUMS.values()), "enum", lambda self, v: [type(v).__name__, v.value]),
        (frozenset, "set", lambda self, v: self._items(sorted(v))),
        (dict, "dict", _dict),
        (list, "list", _items),
        (tuple, "tuple", lambda self, v: self._items(v) if type(v) is tuple else {"named": self._named_tuple(v)}),
    )


# ---- reading ---------------------------------------------------------------------------------------------------------


def _read(message: bytes, inputs: Sequence[SymbolicTensor]) -> Any:
    """Returns the value of a message.

    Raises:
        ValueError: it is no message of a `_Writer`.
    """
    try:
        return _Reader(inputs).value(from_bytes(message))
    except (AttributeError, DecodeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"This is no message of a dataset: {error}") from error


class _Reader:
    """Turns messages into values.

    Args:
        inputs: the tensors of the graph that stand where the message says "input".
    """

    def __init__(self, inputs: Sequence[SymbolicTensor]) -> None:
        self._inputs = inputs

    def value(self, message: Any) -> Any:
        """Returns the value of a message.

        Raises:
            ValueError: it is no message of a `_Writer`.
        """
        if isinstance(message, _PLAIN):
            return message
        if type(message) is not dict or len(message) != 1:
            raise ValueError(f"no part of a dataset's message: {message!r}")
        [(name, content)] = message.items()
        read = getattr(self, f"_{name}", None)
        if read is None:
            raise ValueError(f"a dataset's message holds a value of the unknown kind {name!r}")
        return read(content)

    def _list(self, content: Any) -> list[Any]:
        return [self.value(item) for item in content]

    def _tuple(self, content: Any) -> Any:
        if type(content) is dict:
            name, keys, items = content["named"]
            return namedtuple(name, keys)(*self._list(items))
        return tuple(self._list(content))

    def _set(self, content: Any) -> frozenset[Any]:
        return frozenset(self._list(content))

    def _dict(self, content: Any) -> dict[Any, Any]:
        return {self.value(k): self.value(v) for k, v in content}

    def _input(self, content: Any) -> Any:
        place, spec = content
        tensor = self._inputs[place]
        return tensor if spec is None else StagedDataset(tensor, self.value(spec))

    def _seeds(self, content: Any) -> Seeds:
        base, renew = content
        seeds = Seeds(None, renew)
        if base is not None:
            seeds.base, seeds.drawn = (base[0], base[1]), False
        return seeds

    def _variable(self, content: Any) -> Variable:
        value, shape = content
        return Variable(value, shape=shape)

    def _tensor(self, content: Any) -> EagerTensor:
        if "plain" in content:
            return content["plain"]
        if "of" in content:
            return held(self.value(content["of"]), variant)
        key_dtype, value_dtype, shapes, pairs = content["table"]
        storage = Storage(key_dtype, value_dtype, *shapes)
        storage.fill(*pairs)
        return held(Table(storage), resource)

    def _bare(self, content: EagerTensor) -> Any:
        return content.value

    def _array(self, content: EagerTensor) -> Any:
        return content.numpy() if content.dtype is not string else content.value

    def _spec(self, content: Any) -> Any:
        return content

    def _composite(self, content: Any) -> Any:
        spec, parts = content
        return nest.pack_sequence_as(spec, self._list(parts), expand_composites=True)

    def _bytes(self, content: EagerTensor) -> bytes:
        return content.value[()]

    def _range(self, content: Any) -> range:
        return range(*content)

    def _enum(self, content: Any) -> Any:
        name, value = content
        return _ENUMS[name](value)

    def _record(self, content: Any) -> Any:
        name, fields = content
        kind: Any = _RECORDS[name]
        record = kind.__new__(kind)
        for field, item in fields.items():
            object.__setattr__(record, field, self.value(item))
        return record

    def _function(self, content: Any) -> MappedFunction:
        name, graph_name = content["name"]
        spec, output_spec = self.value(content["specs"])
        captures = self._list(content["captures"])

        def inputs(graph: FuncGraph) -> list[Any]:
            arguments = [graph.input(s, "args") for s in content["arguments"]]
            variables = [isinstance(c, Variable) for c in captures]
            return arguments + [
                graph.capture_variable(c) if v else graph.capture(c) for c, v in zip(captures, variables, strict=True)
            ]

        try:
            graph = graph_of(graph_name, content["definitions"], inputs)
        except (ValueError, NotFoundError) as error:
            raise UnimplementedError.of(
                f"The function {graph_name} passed to {name} can't travel to another process, as it calls Python "
                f"there: {error}"
            ) from error
        return MappedFunction.of_graph(graph, name, spec, output_spec)

    def _dataset(self, content: Any) -> Any:
        if "over" in content:
            return self.value(content["over"])
        node = object.__new__(_class_of(content["kind"]))
        vars(node).update({name: self.value(field) for name, field in content["fields"].items()})
        node._input_datasets = tuple(self._list(content["inputs"]))
        return node

    def _creation(self, content: Any) -> StagedDataset:
        kind, arguments, spec = content
        args, kwargs = self.value(arguments)
        return Creation.of(_class_of(kind), args, kwargs, self.value(spec)).staged()


# ---- operations that build datasets ----------------------------------------------------------------------------------


def lowered(definition: Creation | Pipeline, operation: Operation) -> list[Operation]:
    """Returns the operation that stands for one in a `GraphDef` that builds a dataset."""
    places = {id(value): i for i, value in enumerate(definition.inputs)}
    try:
        value = definition.dataset if isinstance(definition, Pipeline) else definition
        token = to_bytes(_Writer(places).value(value))
    except UnimplementedError:
        return [operation]
    types = {"Tin": [t.dtype for t in operation.inputs], "Tout": [variant]}
    op = GraphOp(_PYTHON, attrs={"token": token, **types})
    written = Operation(operation.graph, op, operation.name, operation.args)
    written.device, written.outputs = operation.device, operation.outputs
    written._control_inputs = operation._control_inputs
    return [written]


def _built(builder: Any, node: Any, inputs: list[Any]) -> Operation:
    token = node.attrs["token"].s
    try:
        dataset = _read(token, inputs)
    except ValueError as error:
        raise NotFoundError.of(f"Node '{node.name}' calls Python of another process: {error}") from error
    tensor: Any = dataset._symbolic if isinstance(dataset, StagedDataset) else variant_of(dataset)
    return tensor.op if isinstance(tensor, SymbolicTensor) else state.graph.capture(tensor).op


register_builders({_PYTHON: _built})
register(lowered)
