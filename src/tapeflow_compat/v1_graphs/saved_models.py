"""SavedModels that hold a graph and no objects, as TensorFlow 1 writes them: the graph as functions."""

from __future__ import annotations

import inspect
import itertools
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import meta_graph_pb2
from tensorboard.compat.proto.variable_pb2 import VariableDef

from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.signature import FunctionType, Signature
from tapeflow.graph.graphdef.calls import called_by, check_calls
from tapeflow.graph.graphdef.import_graph import Builder, add_graph_def, nodes_with_handles
from tapeflow.graph.graphdef.node_protos import (
    Output,
    ParsedNode,
    attr_of,
    definition_of,
    output_dtypes,
    shape_of,
    type_attr,
)
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import Graph
from tapeflow.graph.ir.variables import without_value
from tapeflow.lookup.tables import LookupTable, StaticHashTable
from tapeflow.saved_model.asset import Asset
from tapeflow.saved_model.messages import asset_path, variables_prefix
from tapeflow.saved_model.objects import LoadedObject
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.train.states import checkpoint_exists
from tapeflow_compat.v1_graphs.frames import Dataflow, dataflow_operation

if TYPE_CHECKING:
    from google.protobuf.message import Message

_ASSETS_KEY = "saved_model_assets"
LEGACY_INIT_OP_KEY = "legacy_init_op"
MAIN_OP_KEY = "saved_model_main_op"
INIT_OP = "__saved_model_init_op"  # the signature of the initializer, for servers
_TRAIN_OP = "__saved_model_train_op"

_numbers = itertools.count(1)  # of models, which hold state of their own


def main_op_of(meta: Message) -> str | None:
    """Returns the name of the operation to run after loading a `MetaGraphDef`, or None."""
    if INIT_OP in meta.signature_def:
        return meta.signature_def[INIT_OP].outputs[INIT_OP].name
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if key in meta.collection_def and meta.collection_def[key].node_list.value:
            return meta.collection_def[key].node_list.value[0]
    return None


def assets_of(meta: Message) -> Iterable[Any]:
    """Returns `AssetFileDef`s: names of files and their tensors. TensorFlow 1 writes them in a collection."""
    if meta.asset_file_def or _ASSETS_KEY not in meta.collection_def:
        return meta.asset_file_def
    return [
        meta_graph_pb2.AssetFileDef.FromString(packed.value)
        for packed in meta.collection_def[_ASSETS_KEY].any_list.value
    ]


class GraphTable(StaticHashTable):
    """A table of a graph, which an operation of the graph fills."""

    def __init__(self, key_dtype: DType, value_dtype: DType) -> None:
        default = "" if value_dtype is string else value_dtype.as_numpy_dtype(0)
        LookupTable.__init__(self, key_dtype, value_dtype, default, "HashTableV2")
        self._init_op = None


class GraphModel:
    """The graph of a SavedModel, with its variables.

    Args:
        meta: the `MetaGraphDef`.

    Attributes:
        variables: the variables, in the order of the graph; they have no values at first.
        tables: the tables, by their keys.
    """

    def __init__(self, meta: Any) -> None:
        self.meta = meta
        self._nodes = {n.name: n for n in nodes_with_handles(meta.graph_def)}
        self._library = {f.signature.name: f for f in meta.graph_def.library.function}
        check_calls(self._library, called_by(meta.graph_def.node))
        self._scope = f"model_{next(_numbers)}/"
        self.tables: dict[Any, GraphTable] = {}
        trainable = {
            VariableDef.FromString(data).variable_name.rpartition(":")[0]
            for data in meta.collection_def["trainable_variables"].bytes_list.value
        }
        self._variables: dict[tuple[str, str], Variable] = {}
        for node in self._nodes.values():
            if node.op == "VarHandleOp":
                definition = definition_of(node.op)
                container, name, dtype, shape = (
                    attr_of(node, definition, a) for a in ("container", "shared_name", "dtype", "shape")
                )
                variable = without_value(dtype, shape, name or node.name, not trainable or name in trainable)
                self._variables.setdefault((container, name or node.name), variable)
        self.variables = list(self._variables.values())

    @cached_property
    def graph(self) -> Graph:
        """The whole graph, to look names up in."""
        graph = Graph()
        with graph.as_default():
            add_graph_def(self.meta.graph_def, name="", accepts_any_op=True)
        return graph

    # ---- parts -------------------------------------------------------------------------------------------------------

    def part(self, feeds: Sequence[str], fetches: Any, name: str = "pruned") -> FuncGraph:
        """Returns a part of the graph as a function's graph.

        Args:
            feeds: the names of tensors: its inputs.
            fetches: a nest of names of tensors and operations: its outputs and side effects.
            name: the name of the function.

        Raises:
            KeyError: there is no tensor or operation of a name.
        """
        fed = [self._output(text) for text in feeds]
        targets = [self._output(text) for text in nest.flatten(fetches)]
        stubs = {output: self._stub(output) for output in fed}
        nodes = [*stubs.values(), *self._needed(targets, stubs)]
        graph = FuncGraph(name)
        graph.takes_control_flow = True
        with graph.as_default():
            inputs = {output: graph.input(self._spec(output), stub.name) for output, stub in stubs.items()}
            builder = self._builder(graph, {stubs[o].name: t for o, t in inputs.items()})
            builder.add_graph(nodes)
            if graph.has_control_flow:
                return self._as_dataflow(name, nodes, stubs, targets, fetches)

            def fetched(text: str) -> Any:
                output = self._output(text)
                if output[1] < 0:
                    return None
                return inputs[output] if output in inputs else builder.values[output[0]][output[1]]

            graph.structured_outputs = nest.map_structure(fetched, fetches)
            graph.outputs = [t for t in nest.flatten(graph.structured_outputs) if t is not None]
        return graph

    def _as_dataflow(
        self,
        name: str,
        nodes: Sequence[ParsedNode],
        stubs: Mapping[Output, ParsedNode],
        targets: Sequence[Output],
        fetches: Any,
    ) -> FuncGraph:
        """Returns a part of the graph with control flow that no function can express: one operation that runs it."""
        whole, graph = Graph(), FuncGraph(name)
        with whole.as_default():
            inner = {s.name: whole.placeholder(*self._dtype_and_shape(o), s.name) for o, s in stubs.items()}
            builder = self._builder(whole, inner)
            builder.add_graph(nodes)
        tensors = [builder.values[n][i] for n, i in targets if i >= 0 and (n, i) not in stubs]
        dataflow = Dataflow(list(inner.values()), tensors, [builder.operations[n] for n, i in targets if i < 0])
        with graph.as_default():
            inputs = {output: graph.input(self._spec(output), stub.name) for output, stub in stubs.items()}
            handles = [graph.capture_variable(v, v._name) for v in self.variables if v._id in builder.used_variables]

            results = iter(dataflow_operation(dataflow, list(inputs.values()), handles).outputs)

            def fetched(text: str) -> Any:
                output = self._output(text)
                return None if output[1] < 0 else inputs[output] if output in inputs else next(results)

            graph.structured_outputs = nest.map_structure(fetched, fetches)
            graph.outputs = [t for t in nest.flatten(graph.structured_outputs) if t is not None]
        return graph

    def _builder(self, graph: Graph, inputs: Mapping[str, SymbolicTensor]) -> Builder:
        builder = Builder(graph, self._library)
        builder.variables, builder.tables, builder.resource_scope = self._variables, self._table, self._scope
        builder.values.update((name, [tensor]) for name, tensor in inputs.items())
        builder.operations.update((name, tensor.op) for name, tensor in inputs.items())
        return builder

    def _table(self, key: Any, key_dtype: DType, value_dtype: DType) -> Tensor:
        """Returns the handle of a table."""
        if key not in self.tables:
            self.tables[key] = GraphTable(key_dtype, value_dtype)
        return self.tables[key].resource_handle

    def _output(self, text: str) -> Output:
        """Returns the output of a node that a name means; its index is -1 for an operation."""
        name, colon, index = text.rpartition(":")
        if not colon:
            name, index = text, "-1"
        if name not in self._nodes:
            kind = "a Tensor" if colon else "an Operation"
            raise KeyError(f"The name '{text}' refers to {kind} which does not exist. The graph has no '{name}'.")
        return name, int(index)

    def _dtype_and_shape(self, output: Output) -> tuple[Any, TensorShape]:
        node = self._nodes[output[0]]
        definition = definition_of(node.op)
        dtype, shape = output_dtypes(node, definition)[output[1]], TensorShape(None)
        if "_output_shapes" in node.attrs:
            shape = shape_of(node.attrs["_output_shapes"].list.shape[output[1]])
        elif "shape" in definition.attrs and node.op.startswith("Placeholder"):
            shape = attr_of(node, definition, "shape")
        return dtype, shape

    def _spec(self, output: Output) -> TensorSpec:
        dtype, shape = self._dtype_and_shape(output)
        return TensorSpec(shape, dtype)

    def _stub(self, output: Output) -> ParsedNode:
        """Returns a placeholder that replaces an output that is fed."""
        node = self._nodes[output[0]]
        name = node.name if node.op.startswith("Placeholder") else f"{node.name}/fed_{output[1]}"
        dtype, _ = self._dtype_and_shape(output)
        return ParsedNode(name, "Placeholder", [], [], {"dtype": type_attr(dtype)})

    def _needed(self, targets: Iterable[Output], stubs: Mapping[Output, ParsedNode]) -> list[ParsedNode]:
        """Returns the nodes that targets need, in the graph's order, with stubs in place of outputs that are fed."""
        names = {stub.name for stub in stubs.values()}
        needed: dict[str, ParsedNode] = {}
        stack = [name for name, index in targets if (name, index) not in stubs]
        while stack:
            node = self._nodes[stack.pop()]
            if node.name in needed or node.name in names:
                continue
            inputs = [(stubs[i].name, 0) if i in stubs else i for i in node.inputs]
            needed[node.name] = ParsedNode(node.name, node.op, inputs, node.controls, node.attrs, node.device)
            stack += [n for n, i in node.inputs if (n, i) not in stubs]
            stack += node.controls
        return [needed[n] for n in self._nodes if n in needed]

    # ---- functions ---------------------------------------------------------------------------------------------------

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None,
        are_keyword_args_also_positional: bool = False,
    ) -> GraphFunction:  # fmt: skip
        """Returns a function from some tensors of the graph to others.

        Args:
            feeds: a nest of tensors of the graph, or their names: the arguments, in this order or by the names of
                their operations.
            fetches: a nest of tensors and operations, or their names: the results of a call, None for operations.
            name: the name of the function.
            input_signature, are_keyword_args_also_positional: accepted, and without effect.

        Raises:
            ValueError: a feed is no tensor.
            KeyError: there is no tensor or operation of a name.
        """
        texts = [_name_of(t) for t in nest.flatten(feeds, expand_composites=True)]
        for text in texts:
            if ":" not in text:
                raise ValueError(f"All members of argument `feeds` must be tensors. Got the operation {text}.")
        fetched = nest.map_structure(_name_of, fetches, expand_composites=True)
        part = self.part(texts, fetched, name or "pruned")
        return GraphFunction(part, [text.rpartition(":")[0] for text in texts], self)

    def signature(self, key: str) -> GraphFunction:
        """Returns the function of a signature."""
        definition = self.meta.signature_def[key]
        names, texts = [], []
        for name, info in sorted(definition.inputs.items()):
            for suffix, text in _tensors_of(info):
                names.append(name + suffix)
                texts.append(text)
        fetches = {name: dict(_tensors_of(info)) for name, info in definition.outputs.items()}
        part = self.part(texts, fetches, f"signature_wrapper_{key}")
        part.structured_outputs = {name: _joined(tensors) for name, tensors in part.structured_outputs.items()}
        part.outputs = [
            t for t in nest.flatten(part.structured_outputs, expand_composites=True) if isinstance(t, SymbolicTensor)
        ]
        return GraphFunction(part, names, self, by_name=True)


def _name_of(element: Any) -> str:
    """Returns the name of a tensor or operation."""
    if isinstance(element, Variable):
        return f"{element._name}:0"
    return element if isinstance(element, str) else element.name


def _tensors_of(info: Any) -> list[tuple[str, str]]:
    """Returns the names of the tensors in a `TensorInfo` message, each after a suffix for the signature's name."""
    if info.WhichOneof("encoding") == "coo_sparse":
        parts = info.coo_sparse
        return [
            ("_indices", parts.indices_tensor_name), ("_values", parts.values_tensor_name),
            ("_dense_shape", parts.dense_shape_tensor_name),
        ]  # fmt: skip
    if info.WhichOneof("encoding") == "composite_tensor":
        return [(f"_{i}", part.name) for i, part in enumerate(info.composite_tensor.components)]
    return [("", info.name)]


def _joined(tensors: Mapping[str, Any]) -> Any:
    """Returns an output of a signature, a tensor or a sparse tensor."""
    if "_indices" in tensors:
        return SparseTensor(tensors["_indices"], tensors["_values"], tensors["_dense_shape"])
    return tensors[""] if "" in tensors else list(tensors.values())


class GraphFunction(ConcreteFunction):
    """A function that computes a part of a graph of TensorFlow 1.

    Args:
        graph: the part.
        names: the names of its inputs.
        model: the whole graph.
        by_name: True for a signature, whose arguments are passed by name.
    """

    def __init__(self, graph: FuncGraph, names: Sequence[str], model: GraphModel, by_name: bool = False) -> None:
        specs = [TensorSpec(t.shape, t.dtype, n) for n, t in zip(names, graph.inputs, strict=True)]
        super().__init__(graph, type_of_function(names, specs, by_name))
        self._argument_names = list(names)
        self._model = model

    @property
    def prune(self) -> Callable[..., GraphFunction]:
        """Returns a function of some tensors of the whole graph, see `tf.compat.v1.wrap_function`."""
        return self._model.prune

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with tensors, or values that convert to them, by position or name.

        Raises:
            TypeError: there are other arguments than it takes.
            InvalidArgumentError: a tensor has another dtype.
        """
        arguments = dict(zip(self._argument_names, args, strict=False))
        names = self._argument_names
        if len(args) > len(names) or any(n in arguments or n not in names for n in kwargs):
            raise TypeError(
                f"The function takes the tensors {names}; it was called with {len(args)} by position, and by name "
                f"{sorted(kwargs)}."
            )
        arguments.update(kwargs)
        missing = [name for name in names if name not in arguments]
        if missing:
            raise TypeError(f"The function takes the tensors {names}; missing required inputs: {', '.join(missing)}")
        tensors = zip([arguments[n] for n in names], self.graph.inputs, strict=True)
        return self.call_flat([v if isinstance(v, Tensor) else convert(v, t.dtype) for v, t in tensors])


def type_of_function(names: Sequence[str], specs: Sequence[Any], by_name: bool = False) -> FunctionType:
    """Returns the type of a function with these parameters, by position or name; `by_name`, by name alone."""

    def wrapped(*args: Any) -> Any:
        raise NotImplementedError

    kind = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
    plain = [re.sub(r"\W|^(?=\d)", "_", name) + ("_" if keyword.iskeyword(name) else "") for name in names]
    parameters = [inspect.Parameter(name, kind) for name in dict.fromkeys(plain)]
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by `inspect`
    signature = Signature(wrapped)
    if by_name:
        return FunctionType(signature, (), dict(zip(names, specs, strict=True)), list(names))
    return FunctionType(signature, tuple(specs), {}, signature.names(specs, {}))


# ---- loading ---------------------------------------------------------------------------------------------------------


class LoadedGraph(LoadedObject):
    """A loaded graph.

    Attributes:
        variables: its variables.
        signatures: a mapping of functions.
        asset_paths: its files.
        tables: its tables, which the initializer has filled.
    """

    def __init__(self, model: GraphModel) -> None:
        self._model = model
        self.variables = model.variables

    @property
    def graph(self) -> Graph:
        """The graph, to look names up in."""
        return self._model.graph

    @property
    def prune(self) -> Callable[..., GraphFunction]:
        """Returns a function from some tensors of the graph to others."""
        return self._model.prune


class _Signatures(Mapping[str, GraphFunction]):
    """The signatures of a graph, each built when it is first asked for."""

    def __init__(self, model: GraphModel) -> None:
        self._model = model
        self._names = [key for key in model.meta.signature_def if key not in (INIT_OP, _TRAIN_OP)]
        self._built: dict[str, GraphFunction] = {}

    def __getitem__(self, key: str) -> GraphFunction:
        if key not in self._names:
            raise KeyError(key)
        if key not in self._built:
            self._built[key] = self._model.signature(key)
        return self._built[key]

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"_SignatureMap({dict(self)})"


def load_graph(directory: str, meta: Message, restore: bool = True) -> LoadedGraph:
    """Returns the graph of a SavedModel, with the values of its variables, after its main operation has run.

    Args:
        directory: the directory of the SavedModel.
        meta: the `MetaGraphDef`.
        restore: False to leave the variables without values.

    Raises:
        UnimplementedError: the graph has an op that is not here.
    """
    model = GraphModel(meta)
    root = LoadedGraph(model)
    path = variables_prefix(directory)
    saver = meta.saver_def
    if restore and saver.restore_op_name and checkpoint_exists(path):
        part = model.part([saver.filename_tensor_name], [saver.restore_op_name.partition(":")[0]], "restore")
        GraphFunction(part, ["filename"], model)(convert(path, string))
    assets = {a.tensor_info.name: asset_path(directory, a.filename) for a in assets_of(meta)}
    root.asset_paths = [Asset(file) for file in assets.values()]
    main_op = main_op_of(meta)
    if main_op:
        part = model.part(list(assets), [main_op.partition(":")[0]], "initializer")
        GraphFunction(part, list(assets), model)(*[convert(file, string) for file in assets.values()])
    root.tables = list(model.tables.values())
    root.signatures = _Signatures(model)
    root.tensorflow_version = meta.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta.meta_info_def.tensorflow_git_version
    return root
