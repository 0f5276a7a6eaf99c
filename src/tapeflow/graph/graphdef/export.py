"""Graphs as `GraphDef` protos, in TensorFlow's own op names and attrs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, function_pb2, graph_pb2, node_def_pb2
from tensorboard.compat.proto.op_def_pb2 import OpDef as OpDefProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from tapeflow.array.identities import identity_n, identity_op
from tapeflow.array.protos import holds_tensors, make_tensor_proto
from tapeflow.core.context import state
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.op_def import ArgDef, AttrDef
from tapeflow.core.types.dtypes import DType, bool_, int32, resource, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.graphdef.node_protos import definition_of, unused_name
from tapeflow.graph.ir.attrs import attrs_of, dtype_of_value
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.names import numbered_name
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import substitute

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.graph.ir.graph import Graph

PRODUCER = 2397  # TensorFlow 2.21's version of the format


def graph_def(graph: Graph, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """Returns a graph as a `GraphDef`.

    Args:
        graph: the graph.
        from_version: omits the operations that the graph had at this `version`.
        add_shapes: adds an attr `_output_shapes` to every node.
    """
    proto = graph_pb2.GraphDef()
    proto.versions.producer = PRODUCER
    writer = FunctionWriter()
    for operation in graph.get_operations()[from_version or 0 :]:
        nodes = writer.nodes(operation)
        if add_shapes:
            shapes = nodes[-1].attr["_output_shapes"].list
            shapes.SetInParent()
            shapes.shape.extend(t.shape.as_proto() for t in operation.outputs)
        proto.node.extend(nodes)
    proto.library.function.extend(writer.library.values())
    return proto


def node_def(operation: Operation) -> Any:
    """Returns an operation as a `NodeDef`."""
    return FunctionWriter().nodes(operation)[-1]


GRADIENT_NAME = "_gradient_op_type"  # the attr of a node that names the gradient that the program defines for it


class ExportedGradient(NamedTuple):
    """An operation of a function whose gradient the program defines.

    Attributes:
        operation: the operation.
        node: its node.
        function: the name of the function that it is in.
    """

    operation: Operation
    node: Any
    function: str

    @property
    def name(self) -> str:
        """The gradient's name."""
        return self.node.attr[GRADIENT_NAME].s.decode()

    def rename(self, name: str) -> None:
        """Sets the gradient's name."""
        set_attr(self.node.attr[GRADIENT_NAME], name)


class FunctionWriter:
    """Writes the nodes of a graph, and the functions that they call.

    Attributes:
        library: the `FunctionDef`s by name.
        own_gradients: the operations in functions whose gradients the program defines.
    """

    def __init__(self) -> None:
        self.library: dict[str, Any] = {}
        self.own_gradients: list[ExportedGradient] = []
        self._arguments: dict[str, Mapping[int, str]] = {}  # by function: their names, by the ids of their placeholders
        self._functions: dict[int, str] = {}  # the first function that is written of a graph, by the graph's id
        self._written: dict[Any, tuple[str, Any]] = {}  # names and bodies; a body in it keeps its id

    def add(self, name: str, body: Any) -> None:
        """Writes a body into the library, as a function of all its inputs."""
        proto = function_pb2.FunctionDef()
        self.library[name] = proto
        proto.signature.name = name
        used_names = set(body.graph._by_name) - {t.op.name for t in body.inputs}
        arguments = {id(t): _parameter_name(t, used_names) for t in body.inputs}
        for t in body.inputs:
            proto.signature.input_arg.add(name=arguments[id(t)], type=t.dtype.as_datatype_enum)
            proto.attr["_input_shapes"].list.shape.append(t.shape.as_proto())
        self._body(proto, body, arguments)
        used_names = set()
        for t in body.outputs:
            result = _parameter_name(t, used_names)
            proto.signature.output_arg.add(name=result, type=t.dtype.as_datatype_enum)
            proto.ret[result] = arguments.get(id(t)) or _result_name(t)

    def place_of(self, tensor: SymbolicTensor, graph: Graph, function: str) -> tuple[str, str]:
        """Returns the name of a tensor in its graph, and the name of its function.

        Args:
            tensor: a tensor of `graph` or of a graph around it.
            graph: the graph to write.
            function: the name of the function written for `graph`.
        """
        if tensor.graph is not graph:
            function = self._functions[id(tensor.graph)]
        argument = self._arguments[function].get(id(tensor))
        return (f"{argument}:0" if argument else f"{tensor.op.name}:{tensor.value_index}"), function

    def nodes(self, operation: Operation) -> list[Any]:
        """Returns the nodes of an operation: first the nodes of inputs that are not operations here."""
        nodes = [node for part in lower_operation(operation) for node in self._nodes(part)]
        if operation.op.gradient_name:
            set_attr(nodes[-1].attr[GRADIENT_NAME], operation.op.gradient_name)
        return nodes

    def _nodes(self, operation: Operation) -> list[Any]:
        op = operation.op
        node = node_def_pb2.NodeDef(name=operation.name, op=operation.type, device=operation.device)
        if _is_object(operation):
            return [_capture_constant(node, operation.outputs[0])]
        before: list[Any] = []
        if isinstance(op, GraphOp):
            node.input.extend(map(_input_name, operation.inputs))
        else:
            for argument, arg in zip(op.opdef.inputs, operation.args, strict=False):
                if isinstance(arg, SymbolicTensor):
                    node.input.append(_input_name(arg))
                elif type(arg) is list:
                    node.input.extend(map(_input_name, arg))
                else:
                    before += _host_nodes(operation, argument, arg)
                    node.input.append(before[-1].name)
        node.input.extend(f"^{c.name}" for c in operation._control_inputs)
        definitions = {} if isinstance(op, GraphOp) else op.opdef.attrs
        attrs = attrs_of(operation)
        if not isinstance(op, GraphOp) and op.alias and not _allows_attrs(op, attrs):
            node.op = op.alias
        for name, value in attrs.items():
            value = _as_defined(value, definitions[name].type) if name in definitions else value
            if hasattr(value, "body"):
                body = value.body
                node.attr[name].func.name = self._function(body, body.inputs, range(len(body.inputs)))
            elif value is not None:
                set_attr(node.attr[name], value)
        if isinstance(op, GraphOp) and op.bodies:
            before += self._calls(node, operation)
        return [*before, node]

    # ---- functions ---------------------------------------------------------------------------------------------------

    def _calls(self, node: Any, operation: Operation) -> list[Any]:
        """Writes the attrs of a node that calls functions, and these functions into the library.

        Returns:
            Nodes that come before it.
        """
        op, inputs = operation.op, operation.inputs
        if op.control == "loop":
            return self._loop(node, operation)
        values = inputs[op.steering :]
        set_attr(node.attr["Tin"], [t.dtype for t in values])
        set_attr(node.attr["Tout"], [t.dtype for t in operation.outputs])
        outputs = getattr(op, "results", None)
        names = {label: self._function(op.bodies[label], values, op.places[label], outputs) for label in op.bodies}
        if operation.type.endswith("If"):
            node.attr["Tcond"].type = inputs[0].dtype.as_datatype_enum
        if operation.type.endswith("Case"):
            for name in names.values():
                node.attr["branches"].list.func.add(name=name)
        else:
            for label, name in names.items():
                node.attr[label].func.name = name
        if op.steering:
            set_attr(node.attr["output_shapes"], [t.shape for t in operation.outputs])
        return []

    def _loop(self, node: Any, operation: Operation) -> list[Any]:
        """Writes the attrs of a loop, and its functions into the library.

        In TensorFlow, a counter and its limit come before the loop variables, and loop-invariant inputs are loop
        variables, too.

        Returns:
            Nodes that come before it.
        """
        op, inputs, name = operation.op, operation.inputs, operation.name
        values = inputs[op.steering :]
        counted, limited = op.first_output > 0, op.steering > 0
        before: list[Any] = []
        if counted:
            before.append(_export_constant(f"{name}/loop_counter", 0, int32))
            if not limited:
                before.append(_export_constant(f"{name}/maximum_iterations", -1, int32))
                node.input.insert(0, before[1].name)
            node.input.insert(0, before[0].name)
        set_attr(node.attr["T"], [int32] * op.first_output + [t.dtype for t in values])
        shapes = [t.shape for t in (*operation.outputs, *values[len(operation.outputs) :])]
        set_attr(node.attr["output_shapes"], [TensorShape([])] * op.first_output + shapes)
        for label in ("cond", "body"):
            node.attr[label].func.name = self._loop_function(operation, label, values)
        return before

    def _loop_function(self, operation: Operation, label: str, values: Sequence[Any]) -> str:
        """Writes the condition or the body of a loop; returns its name."""
        op, body, count = operation.op, operation.op.bodies[label], len(operation.outputs)
        arguments = [("loop_counter", int32), ("maximum_iterations", int32)][: op.first_output]
        proto, results = self._new_function(body, values, op.places[label], arguments)
        name = proto.signature.name
        if label == "cond":
            if op.steering:
                less = _add_node(proto, "loop_counter/less", "Less", ["loop_counter", "maximum_iterations"], T=int32)
                results = [(bool_, _add_node(proto, "loop_counter/and", "LogicalAnd", [less, results[0][1]]))]
        else:
            results += [(t.dtype, f"arg{i}") for i, t in enumerate(values[count:], count)]
            if op.first_output:
                proto.node_def.append(_export_constant("loop_counter/one", 1, int32))
                after = _add_node(
                    proto, "loop_counter/add", "AddV2", ["loop_counter", "loop_counter/one:output:0"], T=int32
                )
                results = [(int32, after), (int32, "maximum_iterations"), *results]
        _set_results(proto, results)
        return name

    def _function(
        self, body: Any, values: Sequence[Any], places: Sequence[int], outputs: Sequence[Any] | None = None
    ) -> str:
        """Writes a body into the library, as a function of all of `values`; returns its name.

        Args:
            body: the body.
            values: the arguments of the call.
            places: the places of the body's inputs among them.
            outputs: the tensors of its graph that the function returns, by default the body's outputs.
        """
        outputs = body.outputs if outputs is None else outputs
        key = id(body), tuple(map(id, outputs)), tuple(places), tuple(t.dtype for t in values)
        if key not in self._written:
            proto, results = self._new_function(body, values, places, outputs=outputs)
            _set_results(proto, results)
            self._written[key] = proto.signature.name, body
        return self._written[key][0]

    def _new_function(
        self,
        body: Any,
        values: Sequence[Any],
        places: Sequence[int],
        before: Sequence[tuple[str, DType]] = (),
        outputs: Sequence[Any] | None = None,
    ) -> tuple[Any, list[tuple[DType, str]]]:
        """Adds a function of all of `values` to the library, without its results.

        Args:
            body: the body.
            values: the arguments of the call.
            places: the places of the body's inputs among them.
            before: the names and dtypes of arguments before these.
            outputs: the tensors of the body's graph that the function returns, by default the body's outputs.

        Returns:
            The function, and the dtypes and names of its results.
        """
        proto = function_pb2.FunctionDef()
        proto.signature.name = name = self._unique(body.name)
        self.library[name] = proto
        for argument, dtype in (*before, *((f"arg{i}", t.dtype) for i, t in enumerate(values))):
            proto.signature.input_arg.add(name=argument, type=dtype.as_datatype_enum)
        arguments = {id(inner): f"arg{place}" for inner, place in zip(body.inputs, places, strict=True)}
        self._body(proto, body, arguments)
        outputs = body.outputs if outputs is None else outputs
        return proto, [(t.dtype, arguments.get(id(t)) or _result_name(t)) for t in outputs]

    def _unique(self, name: str) -> str:
        """Returns a name for a new function that no other function and no op has."""
        name = unique = re.sub(r"[^\w<>]", "_", name)
        count = len(self.library)
        while unique in self.library or _is_op(unique):
            unique, count = f"{name}_{count}", count + 1
        return unique

    def _body(self, proto: Any, body: Any, arguments: dict[int, str]) -> None:
        """Writes the nodes of a body into a function.

        Control inputs keep side effects in the order of the program.
        """
        self._arguments[proto.signature.name] = arguments
        self._functions.setdefault(id(body.graph), proto.signature.name)
        last: str | None = None
        reads: list[str] = []
        for operation in body.graph.get_operations():
            if operation.type == "Placeholder" and id(operation.outputs[0]) in arguments:
                continue
            if _is_object(operation):
                raise AssertionError(
                    f"The function {body.name!r} uses the {operation.outputs[0].dtype.name} {operation.name!r} from "
                    "outside of it, an 'untracked' resource, which a file cannot hold. Pass it as an argument."
                )
            nodes = self.nodes(operation)
            for node in nodes:
                _name_outputs(node, nodes, operation, arguments)
            if operation.stateful:
                after = [*reads, *([last] if last else ())]
                last, reads = operation.name, []
                proto.control_ret[operation.name] = operation.name
                proto.signature.control_output.append(operation.name)
                proto.signature.is_stateful = True
            elif operation.type == "ReadVariableOp":
                after = [last] if last else []
                reads.append(operation.name)
            else:
                after = []
            nodes[-1].input.extend(f"^{n}" for n in after if f"^{n}" not in nodes[-1].input)
            proto.node_def.extend(nodes)
            if operation.op.gradient_name:
                self.own_gradients.append(ExportedGradient(operation, proto.node_def[-1], proto.signature.name))


def _allows_attrs(op: Any, attrs: Mapping[str, Any]) -> bool:
    """Returns True if TensorFlow's definition of an op allows these attrs. AddV2, for example, refuses strings."""
    definitions = op.opdef.attrs
    return all(value in (definitions[name].allowed or [value]) for name, value in attrs.items() if name in definitions)


def _is_op(name: str) -> bool:
    """Returns True if TensorFlow has an op of this name."""
    try:
        op_defs.get(name)
    except LookupError:
        return False
    return True


def _name_outputs(node: Any, nodes: Sequence[Any], operation: Operation, arguments: dict[int, str]) -> None:
    """Renames a node's inputs as functions name them: by the arguments' names, or by an output's name and its place."""
    tensors = {_input_name(t): t for t in operation.inputs}
    own_nodes = {n.name: n for n in nodes}
    for i, text in enumerate(node.input):
        source, _, index = text.partition(":")
        if source in own_nodes:
            node.input[i] = f"{source}:{_output_at(own_nodes[source].op, int(index or 0), 1)}"
        elif not text.startswith("^"):
            node.input[i] = arguments.get(id(tensors[text])) or _result_name(tensors[text])


def _parameter_name(tensor: SymbolicTensor, used: set[str]) -> str:
    """Returns a name for an argument or result, derived from its operation's as in TensorFlow; adds it to `used`."""
    name = re.sub(r"\W", "_", tensor.op.name.lower().lstrip("0123456789_./")) or "unknown"
    name = numbered_name(name, used.__contains__)
    used.add(name)
    return name


def _add_node(proto: Message, name: str, op: str, inputs: Sequence[str], **types: DType) -> str:
    """Adds a node to a function; returns the name of its output."""
    node = proto.node_def.add(name=name, op=op)
    node.input.extend(inputs)
    for attr, dtype in types.items():
        node.attr[attr].type = dtype.as_datatype_enum
    return f"{name}:{_output_at(op, 0, 1)}"


def _set_results(proto: Message, results: Sequence[tuple[DType, str]]) -> None:
    """Sets the results of a function."""
    for i, (dtype, source) in enumerate(results):
        proto.signature.output_arg.add(name=f"out{i}", type=dtype.as_datatype_enum)
        proto.ret[f"out{i}"] = source


def _input_name(tensor: SymbolicTensor) -> str:
    """Returns the name of a tensor as nodes of a graph name it."""
    return tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}:{tensor.value_index}"


def _result_name(tensor: SymbolicTensor) -> str:
    """Returns the name of a tensor as nodes of a function name it."""
    op = tensor.op
    kind = op.type if isinstance(op.op, GraphOp) and op.op.lowered is None else lower_operation(op)[-1].type
    return f"{op.name}:{_output_at(kind, tensor.value_index, len(op.outputs), op)}"


def _output_at(kind: str, index: int, count: int, operation: Operation | None = None) -> str:
    """Returns the name of an op's output, of `count` outputs in all, and the place under that name.

    Args:
        kind: the op.
        index: the output's number.
        count: the number of outputs.
        operation: the operation, whose attrs say how long each of several lists is.
    """
    try:
        outputs = op_defs.get(kind).outputs
    except LookupError:
        return f"output:{index}"
    lists = sum(out.is_list for out in outputs)
    attrs = attrs_of(operation) if lists > 1 and operation is not None else {}
    start = 0
    for out in outputs:
        length = attrs.get(out.number_attr or out.type_list_attr, count - len(outputs) + lists)
        length = length if isinstance(length, int) else len(length)
        size = length if out.is_list else 1
        if index < start + size:
            return f"{out.name}:{index - start}"
        start += size
    return f"output:{index}"


# ---- values ----------------------------------------------------------------------------------------------------------


def _host_nodes(operation: Operation, argument: Any, value: Any) -> list[Any]:
    """Returns nodes for a host argument. The output of the last node is the argument.

    The argument is a constant, unless it lists all dimensions of a tensor of unknown rank.
    """
    label = operation.op.constant_names.get(argument.name, argument.name)
    value, dtype = host_constant(operation, argument, value)
    if value is None:
        return _all_dimensions(operation, label)
    name = unused_name(f"{operation.name}/{label}", operation.graph._by_name)
    dtype = dtype or dtype_of_value(value)
    return [_export_constant(name, np.asarray(value, dtype.as_numpy_dtype), dtype)]


def host_constant(operation: Operation, argument: ArgDef, value: Any) -> tuple[Any, DType | None]:
    """Returns a host argument as numbers, and their dtype if the op settles it.

    The numbers are None for all dimensions of a tensor of unknown rank.
    """
    dtype = attrs_of(operation).get(argument.type_attr) if argument.type_attr else argument.type
    rank = operation.inputs[0].shape.rank if operation.inputs else None
    every = None if rank is None else list(range(rank))
    return next((v for v in (value, operation.op.default_axis) if v is not None), every), dtype


def _all_dimensions(operation: Operation, label: str) -> list[Any]:
    """Returns nodes that list all dimensions of an operation's first input, whose rank is not static."""
    tensor, name = operation.inputs[0], f"{operation.name}/{label}"
    rank = node_def_pb2.NodeDef(name=f"{name}/rank", op="Rank", input=[_input_name(tensor)])
    rank.attr["T"].type = tensor.dtype.as_datatype_enum
    bounds = [_export_constant(f"{name}/start", 0, int32), _export_constant(f"{name}/delta", 1, int32)]
    numbers = node_def_pb2.NodeDef(name=name, op="Range", input=[bounds[0].name, rank.name, bounds[1].name])
    numbers.attr["Tidx"].type = int32.as_datatype_enum
    return [rank, *bounds, numbers]


def constant_node(name: str, value: Any, device: str = "") -> Any:
    """Returns the `NodeDef` of a constant, whose value is a `TensorProto`."""
    node = node_def_pb2.NodeDef(name=name, op="Const", device=device)
    node.attr["dtype"].type = value.dtype
    node.attr["value"].tensor.CopyFrom(value)
    return node


def _export_constant(name: str, value: Any, dtype: DType) -> Any:
    return constant_node(name, make_tensor_proto(value, dtype))


def _as_defined(value: Any, kind: str) -> Any:
    """Returns an attr's value in its type: shapes as `TensorShape`, and a single item of a list as a list."""
    if kind == "shape":
        return TensorShape(value)
    if kind.startswith("list(") and value is not None:
        items = value if isinstance(value, (list, tuple)) else [value]
        return [TensorShape(item) for item in items] if kind == "list(shape)" else items
    return value


def _is_object(operation: Operation) -> bool:
    """Returns True if an operation is a constant that no file can hold, such as a dataset from outside."""
    if operation.type != "Const" or operation.outputs[0].dtype not in (resource, variant):
        return False
    return operation.outputs[0].dtype is resource or not holds_tensors(operation.op.attrs["value"].value)


def _capture_constant(node: Any, tensor: SymbolicTensor) -> Any:
    """Makes a node an input of its graph: TensorFlow captures such constants."""
    node.op = "Placeholder"
    set_attr(node.attr["dtype"], tensor.dtype)
    set_attr(node.attr["shape"], tensor.shape)
    return node


def set_attr(attr: attr_value_pb2.AttrValue, value: Any) -> None:
    """Writes an attr's value."""
    if isinstance(value, (EagerTensor, np.ndarray)):
        attr.tensor.CopyFrom(make_tensor_proto(value))
    elif isinstance(value, (list, tuple)):
        attr.list.SetInParent()
        for item in value:
            field, encoded = _attr_field(item)
            getattr(attr.list, field).append(encoded)
    else:
        field, encoded = _attr_field(value)
        if field == "shape":
            attr.shape.CopyFrom(encoded)
        else:
            setattr(attr, field, encoded)


def _attr_field(value: Any) -> tuple[str, Any]:
    """Returns the field of an `AttrValue` for a Python value, and the encoded value."""
    if isinstance(value, DType):
        return "type", value.as_datatype_enum
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, (int, np.integer)):
        return "i", int(value)
    if isinstance(value, (float, np.floating)):
        return "f", float(value)
    if isinstance(value, (str, bytes)):
        return "s", value.encode(errors="surrogateescape") if isinstance(value, str) else value
    if isinstance(value, TensorShape):
        return "shape", value.as_proto()
    raise TypeError(f"{value!r} can't be the value of an attr in a GraphDef")


# ---- definitions -----------------------------------------------------------------------------------------------------


def versions() -> VersionDef:
    """Returns the version of the graphs that are written."""
    return VersionDef(producer=PRODUCER)


def op_def_proto(name: str) -> OpDefProto:
    """Returns the definition of an op.

    Raises:
        NotFoundError: no op has that name.
    """
    definition = definition_of(name)
    proto = OpDefProto(name=name, is_stateful=definition.stateful, is_commutative=definition.commutative)
    for argument in definition.inputs:
        _describe_argument(proto.input_arg.add(), argument)
    for argument in definition.outputs:
        _describe_argument(proto.output_arg.add(), argument)
    for attr in definition.attrs.values():
        _describe_attr(proto.attr.add(), attr)
    return proto


def _describe_argument(proto: Message, argument: ArgDef) -> None:
    proto.name, proto.is_ref = argument.name, argument.is_ref
    if argument.type is not None:
        proto.type = argument.type.as_datatype_enum
    for field in ("type_attr", "number_attr", "type_list_attr"):
        if getattr(argument, field):
            setattr(proto, field, getattr(argument, field))


def _describe_attr(proto: Message, attr: AttrDef) -> None:
    proto.name, proto.type = attr.name, attr.type
    if attr.has_default:
        set_attr(proto.default_value, TensorShape(attr.default) if attr.type == "shape" else attr.default)
    if attr.minimum is not None:
        proto.has_minimum, proto.minimum = True, attr.minimum
    if attr.allowed is not None:
        set_attr(proto.allowed_values, list(attr.allowed))


# ---- operations that TensorFlow lacks --------------------------------------------------------------------------------


def lower_operation(operation: Operation) -> list[Operation]:
    """Returns the operations that replace an operation in a `GraphDef`. The last one has its name and outputs."""
    op = operation.op
    if not isinstance(op, GraphOp):
        return [operation] if op.decomposition is None else _decompose_operation(operation)
    return [operation] if op.lowered is None else op.lowered(operation)


def _decompose_operation(operation: Operation) -> list[Operation]:
    """Returns TensorFlow operations that replace an operation without an op or a kernel in TensorFlow."""
    scratch = FuncGraph(operation.name, operation.name)
    inner = {id(t): scratch.input(t, "input") for t in operation.inputs}
    with scratch.as_default():
        state.name_scope = operation.name
        result = operation.op.decomposition(*substitute(operation.args, inner))
        if result is None:
            return [operation]
        if isinstance(result, list):
            result = identity_n(result)[0]
        elif len(result.op.outputs) != 1:
            result = identity_op(result)
    outer = {id(own): t for own, t in zip(inner.values(), operation.inputs, strict=True)}
    parts = [p for part in scratch.get_operations() if part.type != "Placeholder" for p in lower_operation(part)]
    for part in parts:
        part.args, part.device = substitute(part.args, outer), operation.device
    last = next(part for part in parts if part.outputs is result.op.outputs)
    last.name, last.outputs, last._control_inputs = operation.name, operation.outputs, operation._control_inputs
    return [*(part for part in parts if part is not last), last]
