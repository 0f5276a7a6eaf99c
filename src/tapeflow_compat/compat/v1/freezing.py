"""Replaces variables by constants in `GraphDef`s and in the functions of these.

A variable's resource is the output of a node, its handle. Once that node is a constant, so is the argument of each
function that receives the resource. An op that read the variable there now takes the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.protos import make_tensor_proto
from tapeflow.core.types.dtypes import int32
from tapeflow.graph.graphdef.export import constant_node
from tapeflow.graph.graphdef.node_protos import node_name, output_offsets
from tapeflow_compat.compat.v1.protos import message

if TYPE_CHECKING:
    from google.protobuf.message import Message

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# Of ops that call functions: the first input that is an argument, and the attr with the dtypes of these inputs.
_ARGUMENTS = {
    **dict.fromkeys(_CALLS, (0, "Tin")),
    **dict.fromkeys(("Case", "If", "StatelessCase", "StatelessIf"), (1, "Tin")),
    **dict.fromkeys(("StatelessWhile", "While"), (0, "T")),
}
# From ops on a variable's resource to ops on its value: their names, and the attrs of the first as attrs of the second.
_OF_VALUES = {
    "ReadVariableOp": ("Identity", {"dtype": "T"}),
    "ResourceGather": ("GatherV2", {"dtype": "Tparams", "Tindices": "Tindices", "batch_dims": "batch_dims"}),
    "ResourceGatherNd": ("GatherNd", {"dtype": "Tparams", "Tindices": "Tindices"}),
    "VariableShape": ("Shape", {"out_type": "out_type"}),
}


def freeze(graph_def: Message, values: Mapping[str, Any], inline: bool = False) -> Any:
    """Returns a graph with constants in the place of variables.

    Args:
        graph_def: a `GraphDef`.
        values: `TensorProto`s, by the names of the nodes that are variables' handles, or that constants replace.
        inline: whether the nodes of a called function replace the call.

    Returns:
        A `GraphDef`. Nodes that change a variable are as they were: it can't be imported with them.
    """
    library = _Library(graph_def.library, inline)
    nodes = library.inlined(graph_def.node, flat=True).nodes if inline else graph_def.node
    result = message("GraphDef")(versions=graph_def.versions)
    for node in library.frozen(_Resources(nodes, values), flat=True):
        result.node.append(constant_node(node.name, values[node.name], node.device) if node.name in values else node)
    result.library.function.extend(library.reachable(result.node))
    return result


class _Library:
    """The functions of a graph: the original ones, and variants with values for some of their resources."""

    def __init__(self, library: Any, inline: bool) -> None:
        self._functions = {function.signature.name: function for function in library.function}
        self._variants: dict[Any, str] = {}
        if inline:
            self._functions = {name: self._without_calls(name, ()) for name in self._functions}

    def reachable(self, nodes: Iterable[Any]) -> list[Any]:
        """Returns the functions that nodes need."""
        names: dict[str, None] = {}
        rest = list(nodes)
        while rest:
            for called in _functions_of(rest.pop()):
                if called.name in self._functions and called.name not in names:
                    names[called.name] = None
                    rest.extend(self._functions[called.name].node_def)
        return [self._functions[name] for name in names]

    # ---- calls -------------------------------------------------------------------------------------------------------

    def inlined(self, nodes: Iterable[Any], flat: bool, active: tuple[str, ...] = ()) -> _Inlined:
        """Returns nodes with the bodies of called functions in the place of calls.

        Args:
            nodes: `NodeDef`s.
            flat: whether the nodes are in a graph, with outputs named `node:index`. In a function, the names have a
                label too.
            active: the functions that are being inlined: their calls stay.
        """
        result = _Inlined()
        for node in nodes:
            name = node.attr["f"].func.name if node.op in _CALLS else ""
            if name in self._functions and name not in active:
                result.insert(node, self._without_calls(name, active), flat)
            else:
                result.nodes.append(node)
        for i, node in enumerate(result.nodes):
            if any(node_name(text) in result.outputs for text in node.input):
                result.nodes[i] = copy = _copy(node)
                copy.input[:] = [new for text in node.input for new in result.followed(text)]
        return result

    def _without_calls(self, name: str, active: tuple[str, ...]) -> Any:
        """Returns a function with the nodes of functions that it calls."""
        function = _copy(self._functions[name])
        inlined = self.inlined(function.node_def, False, (*active, name))
        _set_nodes(function, inlined.nodes)
        for label, text in function.ret.items():
            function.ret[label] = inlined.followed(text)[0]
        for label, effect in list(function.control_ret.items()):
            if effect in inlined.outputs:
                del function.control_ret[label]
                function.control_ret.update(
                    {f"{label}_{i}": t[1:] for i, t in enumerate(inlined.followed(f"^{effect}"))}
                )
        function.signature.control_output[:] = list(function.control_ret)
        return function

    # ---- resources ---------------------------------------------------------------------------------------------------

    def frozen(self, resources: _Resources, flat: bool) -> list[Any]:
        """Returns nodes that take values in the place of resources.

        Args:
            resources: the nodes, and the known values of their resources.
            flat: whether they stand in a graph.
        """
        result = []
        for node in resources.nodes:
            values = {i: value for i, text in enumerate(node.input) if (value := resources.value(text)) is not None}
            if values:
                node = _copy(node)
                if node.op in _OF_VALUES:
                    result += _of_value(node, values[0].dtype, flat)
                    continue
                if node.op in _PASSING:
                    node.attr["T"].type = values[0].dtype
                elif node.op in _ARGUMENTS:
                    self._pass_values(node, values)
            if any(text.partition(":")[0] in resources.reads for text in node.input):
                node = _copy(node)
                node.input[:] = [resources.renamed(text) for text in node.input]
            result.append(node)
        return result

    def _pass_values(self, node: Any, values: Mapping[int, Any]) -> None:
        """Lets a node call functions of values, in the place of functions of resources."""
        first, attr = _ARGUMENTS[node.op]
        arguments = {i - first: value for i, value in values.items()}
        for i, value in arguments.items():
            node.attr[attr].list.type[i] = value.dtype
            if attr == "T" and len(node.attr["output_shapes"].list.shape) > i:
                node.attr["output_shapes"].list.shape[i].CopyFrom(value.tensor_shape)
        for function in _functions_of(node):
            if function.name in self._functions:
                function.name = self._variant(function.name, arguments)

    def _variant(self, name: str, arguments: Mapping[int, Any]) -> str:
        """Returns the name of a function that takes values in the place of some arguments, by their index."""
        key = name, tuple((i, value.dtype, str(value.tensor_shape)) for i, value in arguments.items())
        if key in self._variants:
            return self._variants[key]
        new = self._variants[key] = f"{name}_frozen_{len(self._variants)}"
        self._functions[new] = function = _copy(self._functions[name])
        function.signature.name = new
        parameters = function.signature.input_arg
        resources = _Resources(function.node_def, {parameters[i].name: value for i, value in arguments.items()})
        for i, value in arguments.items():
            parameters[i].type = value.dtype
            function.arg_attr.pop(i, None)
        for result in function.signature.output_arg:
            text = function.ret[result.name]
            value = resources.value(text)
            if value is not None:
                result.type = value.dtype
            function.ret[result.name] = resources.renamed(text)
        _set_nodes(function, self.frozen(resources, flat=False))
        return new


_PASSING = frozenset({"Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration"})  # these give a resource on


class _Inlined:
    """Nodes, some of them of functions that were called.

    Attributes:
        nodes: `NodeDef`s.
        outputs: the outputs of calls, by their names.
        effects: the nodes that run with the calls.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.outputs: dict[str, list[str]] = {}
        self.effects: dict[str, list[str]] = {}

    def insert(self, call: Any, function: Any, flat: bool) -> None:
        """Adds the nodes of a function, in the place of a call."""
        inputs = [text for text in call.input if not text.startswith("^")]
        controls = call.input[len(inputs) :]
        arguments = {arg.name: text for arg, text in zip(function.signature.input_arg, inputs, strict=True)}
        body = {node.name: node for node in function.node_def}

        def of_caller(text: str) -> str:
            if text.startswith("^"):
                return f"^{node_name(arguments.get(text[1:], f'{call.name}/{text[1:]}'))}"
            if text in arguments:
                return arguments[text]
            if not flat:
                return f"{call.name}/{text}"
            name, label, index = (text.split(":") + ["0"])[:3]
            place = output_offsets(body[name])[label] + int(index)
            return f"{call.name}/{name}:{place}" if place else f"{call.name}/{name}"

        for node in function.node_def:
            self.nodes.append(copy := _copy(node))
            copy.name = f"{call.name}/{node.name}"
            copy.input[:] = [*map(of_caller, node.input), *controls]
        self.outputs[call.name] = [of_caller(function.ret[result.name]) for result in function.signature.output_arg]
        self.effects[call.name] = [f"{call.name}/{name}" for name in function.control_ret.values()]

    def followed(self, text: str) -> list[str]:
        """Returns the texts that take the place of an input."""
        name = node_name(text)
        if name not in self.outputs:
            return [text]
        if not text.startswith("^"):
            index = text.rpartition(":")[2]
            return self.followed(self.outputs[name][int(index) if index.isdigit() else 0])
        targets = dict.fromkeys([*map(node_name, self.outputs[name]), *self.effects[name]])
        return [new for target in targets for new in self.followed(f"^{target}")]


class _Resources:
    """The resources of variables in a graph or function, and the values in their place.

    Attributes:
        nodes: its `NodeDef`s.
        reads: the names of those that read a variable whose value is there.
    """

    def __init__(self, nodes: Iterable[Any], values: Mapping[str, Any]) -> None:
        self.nodes = list(nodes)
        self._by_name = {node.name: node for node in self.nodes}
        self._values = values
        reads = [node for node in self.nodes if node.op == "ReadVariableOp"]
        self.reads = {node.name for node in reads if self.value(node.input[0]) is not None}

    def value(self, text: str) -> Any:
        """Returns the `TensorProto` that is in the place of a resource, or None for everything else."""
        name, _, place = text.partition(":")
        if name in self._values:
            return self._values[name]
        node = self._by_name.get(name)
        if node is not None and node.op in _PASSING:
            return self.value(node.input[0])
        if node is None or "While" not in node.op:
            return None
        index = place.rpartition(":")[2]
        return self.value(node.input[int(index) if index.isdigit() else 0])

    def renamed(self, text: str) -> str:
        """Returns an input of a function's node, with the label of the output of a read as `Identity` has it."""
        name, _, place = text.partition(":")
        return f"{name}:output{place[5:]}" if place.startswith("value") and name in self.reads else text


def _of_value(node: Any, dtype: int, flat: bool) -> list[Any]:
    """Returns nodes on a value that replace a node on a resource."""
    op, attrs = _OF_VALUES[node.op]
    result = message("NodeDef")(name=node.name, op=op, input=node.input, device=node.device)
    for attr, new in attrs.items():
        if attr in node.attr:
            result.attr[new].CopyFrom(node.attr[attr])
    if op == "Shape":
        result.attr["T"].type = dtype
    if op != "GatherV2":
        return [result]
    result.attr["Taxis"].type = int32.as_datatype_enum
    axis = constant_node(f"{node.name}/axis", make_tensor_proto(node.attr["batch_dims"].i, "int32"), node.device)
    result.input.insert(2, axis.name if flat else f"{axis.name}:output:0")
    return [axis, result]


def _functions_of(node: Any) -> list[Any]:
    """Returns the functions that a node names."""
    values = node.attr.values()
    return [v.func for v in values if v.HasField("func")] + [f for v in values for f in v.list.func]


def _set_nodes(function: Any, nodes: Sequence[Any]) -> None:
    nodes = list(map(_copy, nodes))
    del function.node_def[:]
    function.node_def.extend(nodes)


def _copy(message: Message) -> Any:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy
