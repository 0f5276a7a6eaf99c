"""The public `tf.compat.v1.profiler` namespace: floating-point operations and parameters of a graph.

`profile` counts by name scope ("scope") or by kind of op ("op"), as TensorFlow's tfprof does. Times and memory are in
`tf.profiler.experimental`.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.protos import GraphNodeProto, MultiGraphNodeProto
from tapeflow.core.types.shape import TensorShape
from tapeflow.io import gfile
from tapeflow_compat.compat.v1.logging import warning
from tapeflow_compat.default_graph import get_default_graph
from tapeflow_compat.tensorflow_python.op_statistics import get_stats_for_node_def

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph

__all__ = ["GraphNodeProto", "MultiGraphNodeProto", "ProfileOptionBuilder", "Profiler", "profile"]
__dir__ = __all__.copy

_TRAINABLE = "_trainable_variables"
_SCOPE = "_kTFScopeParent"
_ROOT = "_TFProfRoot"
_PRINTED = ("max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes", "min_micros",
            "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops", "min_occurrence", "step",
            "order_by", "account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes",
            "hide_name_regexes", "account_displayed_op_only", "select", "output")  # fmt: skip
_HEADS = {"params": "# parameters", "float_ops": "# float_ops", "op_types": "op types", "occurrence": "op count"}
_DOCS = {
    "scope": "scope: nodes by their names, which are paths of scopes.",
    "op": "op: nodes by their kind, such as MatMul.",
    "float_ops": "flops: the number of floating-point operations.",
    "occurrence": "occurrence: the number of nodes.",
    "op_types": "op_types: the kinds of a node: its op and device.",
    "params": "param: the number of parameters, the elements of variables.",
}


def _defaults(**options: Any) -> dict[str, Any]:
    return {
        "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
        "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
        "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": True, "select": ["micros"],
        "step": -1, "output": "stdout", **options,
    }  # fmt: skip


class ProfileOptionBuilder:
    """Builds the options of `profile`.

    Args:
        options: the options to begin with.

    Example:
        >>> builder = tf.compat.v1.profiler.ProfileOptionBuilder
        >>> builder(builder.float_operation()).with_empty_output().build()["output"]
        'none'
    """

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        begin = _defaults(max_depth=100, account_displayed_op_only=False) if options is None else options
        self._options = copy.deepcopy(begin)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Returns the options that count the parameters of trainable variables."""
        return _defaults(account_type_regexes=[_TRAINABLE], select=["params"])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Returns the options that count floating-point operations."""
        return _defaults(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(
        min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0, min_cpu_micros: int = 0,
        min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Returns the options that show times and memory. `profile` refuses these."""
        return _defaults(
            min_micros=min_micros, min_bytes=min_bytes, min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes, order_by="micros", select=["micros", "bytes"],
        )  # fmt: skip

    def build(self) -> dict[str, Any]:
        """Returns the options."""
        return copy.deepcopy(self._options)

    def _set(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update({name: copy.copy(value) for name, value in options.items() if value is not None})
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows scopes down to a depth."""
        return self._set(max_depth=max_depth)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows only nodes with so many parameters."""
        return self._set(min_params=min_params)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows only nodes with so many floating-point operations."""
        return self._set(min_float_ops=min_float_ops)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows only kinds of so many nodes."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Sets the least time of a shown node. `profile` refuses this."""
        return self._set(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        """Sets the least memory of a shown node. `profile` refuses this."""
        return self._set(
            min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )  # fmt: skip

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Counts only nodes with such an op or device, or `_trainable_variables`."""
        return self._set(account_type_regexes=account_type_regexes)

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Shows only nodes with such names."""
        return self._set(
            start_name_regexes=start_name_regexes, show_name_regexes=show_name_regexes,
            hide_name_regexes=hide_name_regexes, trim_name_regexes=trim_name_regexes,
        )  # fmt: skip

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Counts only what is shown."""
        return self._set(account_displayed_op_only=is_true)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Shows some of "params", "float_ops", "occurrence" and "op_types"."""
        return self._set(select=attributes)

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sorts by "name", "params", "float_ops" or "occurrence"."""
        return self._set(order_by=attribute)

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Sets the step, which has no effect on these counts."""
        return self._set(step=step)

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints the profile."""
        return self._set(output="stdout")

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Prints nothing."""
        return self._set(output="none")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes the profile to a file."""
        return self._set(output=f"file:outfile={outfile}")


class _Node:
    """An operation, or a scope around some, in a profile."""

    def __init__(self, name: str, types: Sequence[str] = (_SCOPE,)) -> None:
        self.name, self.types = name, list(types)
        self.parameters = self.float_ops = 0
        self.shape: list[int] = []
        self.children: list[_Node] = []
        self.shown: list[_Node] = []
        self.total = [0, 0, 0]  # of parameters, operations and nodes

    def count(self, children: Iterable[_Node]) -> None:
        """Computes the totals of the node and of some below it."""
        own = [self.parameters, self.float_ops, 1]
        self.total = [sum(column) for column in zip(own, *[child.total for child in children], strict=True)]

    def to_proto(self) -> Any:
        """Returns the node as a message."""
        proto = GraphNodeProto(
            name=self.name, parameters=self.parameters, float_ops=self.float_ops, total_parameters=self.total[0],
            total_float_ops=self.total[1], total_definition_count=self.total[2],
            children=[child.to_proto() for child in self.shown],
        )  # fmt: skip
        if self.shape:
            shape = proto.shapes.add()
            for size in self.shape:
                shape.dim.add(size=size)
        return proto


def profile(
    graph: Graph | None = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: dict[str, Any] | None = None,
) -> Any:
    """Counts the floating-point operations or parameters of a graph, and prints them.

    Args:
        graph: the graph; by default the default one.
        run_meta, op_log: accepted, and without effect.
        cmd: "scope" for counts by name scope, "op" for counts by kind of op.
        options: of `ProfileOptionBuilder`; by default the parameters of trainable variables.

    Returns:
        A `GraphNodeProto` for "scope", a `MultiGraphNodeProto` for "op". `total_float_ops` and `total_parameters` are
        the sums.

    Raises:
        InvalidArgumentError: there is no such `cmd`, or an option is invalid.
        UnimplementedError: the options ask for times or memory.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     y = tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]))
        >>> builder = tf.compat.v1.profiler.ProfileOptionBuilder
        >>> options = builder(builder.float_operation()).with_empty_output().build()
        >>> tf.compat.v1.profiler.profile(graph, options=options).total_float_ops
        48
    """
    if cmd not in ("scope", "op"):
        if cmd in ("graph", "code"):
            raise errors.UnimplementedError.of(f"TapeFlow profiles by 'scope' and 'op', not by {cmd!r}.")
        raise errors.InvalidArgumentError.of(f"unknown cmd: {cmd}\n")
    options = _defaults(**(options or ProfileOptionBuilder.trainable_variables_parameter()))
    if not set(options["select"]) <= _HEADS.keys():
        raise errors.UnimplementedError.of(
            f"TapeFlow's profile has {', '.join(_HEADS)}. tf.profiler.experimental records times and memory."
        )
    nodes = _nodes_of(get_default_graph() if graph is None else graph)
    root, lines = _profile_scopes(nodes, options) if cmd == "scope" else _profile_kinds(nodes, options)
    _write_report(cmd, options, lines)
    return root


class Profiler:
    """Counts the floating-point operations and parameters of one graph.

    Args:
        graph: the graph; by default the default one.
        op_log: accepted, and without effect.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     y = tf.ones([2, 3]) * tf.ones([3])
        >>> profiler = tf.compat.v1.profiler.Profiler(graph)
        >>> builder = tf.compat.v1.profiler.ProfileOptionBuilder
        >>> options = builder(builder.float_operation()).with_empty_output().build()
        >>> profiler.profile_operations(options).total_float_ops
        6
    """

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._graph = get_default_graph() if graph is None else graph

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        """Returns the counts by name scope: see `profile`."""
        return profile(self._graph, cmd="scope", options=options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        """Returns the counts by kind of op: see `profile`."""
        return profile(self._graph, cmd="op", options=options)


def _nodes_of(graph: Graph) -> list[_Node]:
    """Returns the operations of a graph with their counts."""
    trainable = {variable.op.name for variable in graph.get_collection("trainable_variables")}
    nodes, unknown = [], 0
    for operation in graph.get_operations():
        definition = operation.node_def
        node = _Node(operation.name, [definition.op, *([definition.device] if definition.device else [])])
        if operation.name in trainable:
            node.types.append(_TRAINABLE)
        try:
            node.float_ops = int(get_stats_for_node_def(graph, definition, "flops").value or 0)
        except ValueError:
            unknown += 1
        if "shape" in definition.attr:
            shape = TensorShape(definition.attr["shape"].shape)
            if shape.is_fully_defined():
                node.shape = shape.as_list()
                node.parameters = math.prod(node.shape)
        nodes.append(node)
    if unknown:
        warning(f"{unknown} ops no flops stats due to incomplete shapes.")
    return nodes


def _matches(name: str, patterns: Iterable[str]) -> bool:
    try:
        return any(re.fullmatch(pattern, name) for pattern in patterns)
    except re.error as error:
        raise errors.InvalidArgumentError.of(f"{error.pattern!r} is not a regular expression: {error}") from None


def _is_counted(node: _Node, options: dict[str, Any]) -> bool:
    return any(_matches(kind, options["account_type_regexes"]) for kind in node.types)


def _is_shown(node: _Node, options: dict[str, Any], parameters: int, float_ops: int, occurrence: int) -> bool:
    enough = (
        parameters >= options["min_params"]
        and float_ops >= options["min_float_ops"]
        and occurrence >= options["min_occurrence"]
    )
    shown = _matches(node.name, options["show_name_regexes"])
    return enough and shown and not _matches(node.name, options["hide_name_regexes"])


def _head_line(options: dict[str, Any], occurrence: str) -> str:
    heads = {**_HEADS, "occurrence": f"{occurrence} (run|defined)"}
    return " | ".join(["node name", *(head for name, head in heads.items() if name in options["select"])])


def _sort_nodes(nodes: list[_Node], options: dict[str, Any], counts: Callable[[_Node], Sequence[int]]) -> list[_Node]:
    order = options["order_by"]
    nodes = sorted(nodes, key=lambda node: node.name)
    if order == "name":
        return nodes
    column = {"params": 0, "float_ops": 1, "occurrence": 2}.get(order)
    if column is None:
        orders = "'name', 'params', 'float_ops' or 'occurrence'"
        raise errors.InvalidArgumentError.of(f"order_by is {orders}, not {order!r}.")
    return sorted(nodes, key=lambda node: -counts(node)[column])


# ---- by scope --------------------------------------------------------------------------------------------------------


def _profile_scopes(nodes: list[_Node], options: dict[str, Any]) -> tuple[Any, list[str]]:
    root = _Node(_ROOT)
    by_name = {node.name: node for node in nodes}
    for node in nodes:
        place = node
        while place is not root:
            parent = place.name.rpartition("/")[0]
            is_new = parent != "" and parent not in by_name
            around = by_name.setdefault(parent, _Node(parent)) if parent else root
            around.children.append(place)
            place = around if is_new else root
    root.children = _counted(root.children, options)
    root.count(root.children)
    shown = root.children
    if ".*" not in options["start_name_regexes"]:
        shown = list(_starts(shown, options))
    root.shown = _sort_nodes(_shown(shown, options, 1), options, lambda node: node.total)
    if options["account_displayed_op_only"]:
        root.count(root.shown)
    return root.to_proto(), [_head_line(options, "op count"), *_scope_lines(root, options)]


def _counted(nodes: list[_Node], options: dict[str, Any]) -> list[_Node]:
    """Returns the nodes that count, or that have some below them, with their totals."""
    result = []
    for node in nodes:
        node.children = _counted(node.children, options)
        if node.children or _is_counted(node, options):
            node.count(node.children)
            result.append(node)
    return result


def _starts(nodes: list[_Node], options: dict[str, Any]) -> Iterable[_Node]:
    for node in nodes:
        if _matches(node.name, options["start_name_regexes"]):
            yield node
        else:
            yield from _starts(node.children, options)


def _shown(nodes: list[_Node], options: dict[str, Any], depth: int) -> list[_Node]:
    """Returns the nodes to show. Those below a hidden one take its place."""
    result = []
    for node in nodes:
        trimmed = _matches(node.name, options["trim_name_regexes"])
        below = [] if trimmed else _shown(node.children, options, depth + 1)
        if depth < options["max_depth"] and _is_shown(
            node, options, node.parameters, node.float_ops, options["min_occurrence"]
        ):
            node.shown = _sort_nodes(below, options, lambda node: node.total)
            if options["account_displayed_op_only"]:
                node.count(node.shown)
            result.append(node)
        else:
            result += below
    return result


def _scope_lines(node: _Node, options: dict[str, Any], indent: str = "") -> list[str]:
    select, is_root = options["select"], node.name == _ROOT
    cells = []
    for name, own, total, unit in (
        ("params", node.parameters, node.total[0], "params"), ("float_ops", node.float_ops, node.total[1], "flops")
    ):  # fmt: skip
        if name in select:
            if name == "params" and node.shape and node.parameters:
                cells.append("x".join(map(str, node.shape)))
            hidden = is_root or not _is_counted(node, options)
            cells.append(f"{'--' if hidden else _short(own)}/{_short(total)} {unit}")
    if "op_types" in select:
        cells.append("|".join(sorted(node.types)))
    if "occurrence" in select:
        cells.append(f"--/0|--/{node.total[2]}" if is_root else f"0/0|1/{node.total[2]}")
    lines = [f"{indent}{node.name} ({', '.join(cells)})"]
    for child in node.shown:
        lines += _scope_lines(child, options, f"{indent}  ")
    return lines


def _short(number: int) -> str:
    for size, unit in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.2f}{unit}"
    return str(number)


# ---- by kind of op ---------------------------------------------------------------------------------------------------


def _profile_kinds(nodes: list[_Node], options: dict[str, Any]) -> tuple[Any, list[str]]:
    kinds: dict[str, _Node] = {}
    for node in nodes:
        if _is_counted(node, options):
            kind = kinds.setdefault(node.types[0], _Node(node.types[0]))
            kind.parameters += node.parameters
            kind.float_ops += node.float_ops
            kind.children.append(node)

    def counts(kind: _Node) -> tuple[int, int, int]:
        return kind.parameters, kind.float_ops, len(kind.children)

    ordered = _sort_nodes(list(kinds.values()), options, counts)
    shown: list[_Node] = []
    parameters = float_ops = 0  # of a kind and all later ones: TensorFlow compares these sums with the minimums
    for kind in reversed(ordered):
        parameters += kind.parameters
        float_ops += kind.float_ops
        if _is_shown(kind, options, parameters, float_ops, len(kind.children)):
            shown.insert(0, kind)
    sums = [sum(column) for column in zip(*map(counts, shown), strict=True)] if shown else [0, 0, 0]
    proto, below = MultiGraphNodeProto(), [0, 0, 0]
    lines: list[str] = []
    for kind in reversed(shown):
        below = [a + b for a, b in zip(below, counts(kind), strict=True)]
        members = [
            GraphNodeProto(name=node.name, parameters=node.parameters, float_ops=node.float_ops)
            for node in sorted(kind.children, key=lambda node: node.name)
        ]
        around = MultiGraphNodeProto(
            name=kind.name, parameters=kind.parameters, float_ops=kind.float_ops, total_parameters=below[0],
            total_float_ops=below[1], graph_nodes=members,
        )  # fmt: skip
        if proto.name:
            around.children.append(proto)
        proto = around
        cells = []
        for name, own, total, whole in zip(("params", "float_ops"), counts(kind), below, sums, strict=False):
            if name in options["select"]:
                parts = f"({_percent(total, whole)}, {_percent(own, whole)})"
                cells.append(f"{f'{_short(own)} {name} {parts}':>30}")
        if "occurrence" in options["select"]:
            cells.append(f"{f'0|{len(kind.children)}':>10}")
        lines.insert(0, f"{kind.name:<25}{', '.join(cells)}")
    root = MultiGraphNodeProto(name=_ROOT, total_parameters=sums[0], total_float_ops=sums[1])
    if proto.name:
        root.children.append(proto)
    return root, [_head_line(options, "op occurrence"), *lines]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.2f}%"


# ---- the report ------------------------------------------------------------------------------------------------------


def _option_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _write_report(cmd: str, options: dict[str, Any], lines: list[str]) -> None:
    output, _, target = options["output"].partition(":")
    if output == "none":
        return
    texts = {name: _option_text(options.get(name, 0)) for name in _PRINTED}
    texts["select"] = _option_text(sorted(options["select"]))
    docs = [_DOCS[cmd], *(_DOCS[name] for name in sorted(options["select"]))]
    report = "\n".join([
        "", "=========================Options=============================",
        *(f"-{name:<27}{text}{':' if name == 'output' else ''}" for name, text in texts.items()), "",
        "==================Model Analysis Report======================", "", "Doc:", *docs, "", "Profile:", *lines, "",
        "======================End of Report==========================", "",
    ])  # fmt: skip
    if output == "file":
        with gfile.GFile(target.partition("outfile=")[2], "w") as file:
            file.write(report)
    elif output == "stdout":
        print(report)
    else:
        raise errors.InvalidArgumentError.of(f"output is 'stdout', 'none' or 'file:outfile=PATH', not {output!r}.")
