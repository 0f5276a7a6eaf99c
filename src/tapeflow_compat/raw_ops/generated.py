"""The functions of `tf.raw_ops`, made from the definitions of ops."""

from __future__ import annotations

import functools
import inspect
import pathlib
import re
import typing  # not `Any` by name: that is an op
from collections import namedtuple
from collections.abc import Callable

import numpy as np

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.device import machine
from tapeflow.core.ops import decompositions, op_def
from tapeflow.core.ops.attr_values import attr_value
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import find, load_all
from tapeflow.core.ops.op_def import OpDef
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.graphdef.builders import builder_of, load_services
from tapeflow.graph.ir.operation import GraphOp
from tapeflow_compat.raw_ops import absent, node_calls, references

# The Python names of inputs and attrs that differ from the registered names.
_AXIS = {"reduction_indices": "axis"}
RENAMED = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXIS),
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}


def _signature(definition: OpDef) -> inspect.Signature:
    """Returns the signature: inputs, attrs without a default, other attrs; those implied by inputs are left out."""
    attrs = [a for a in definition.attrs.values() if a.name not in op_def.implied_attrs(definition)]
    renamed = RENAMED.get(definition.name, {})
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [a.name for a in definition.inputs] + [a.name for a in attrs if not a.has_default]
    parameters = [inspect.Parameter(renamed.get(n, n), kind) for n in required]
    for attr in attrs:
        if attr.has_default:
            parameters.append(inspect.Parameter(renamed.get(attr.name, attr.name), kind, default=attr.default))
    return inspect.Signature([*parameters, inspect.Parameter("name", kind, default=None)])


def _takes_keywords(name: str, call: Callable[[dict[str, typing.Any]], typing.Any], doc: str | None) -> typing.Any:
    """Returns the function of an op that takes keyword arguments.

    Args:
        name: the op.
        call: takes all arguments by name, defaults included.
        doc: the docstring.
    """
    signature = _signature(op_def.get(name))
    names = list(signature.parameters)

    def raw_op(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if args:
            raise TypeError(
                f"{raw_op.__name__} only takes keyword args (possible keys: {names}). Please pass these args as "
                "kwargs instead."
            )
        try:
            bound = signature.bind(**kwargs)
        except TypeError as error:
            raise TypeError(f"{raw_op.__name__}() {error}") from None
        bound.apply_defaults()
        return call(bound.arguments)

    raw_op.__name__ = raw_op.__qualname__ = op_def.snake_case(name)
    raw_op.__doc__ = doc
    raw_op.__signature__ = signature  # type: ignore[attr-defined]
    return raw_op


def _call_of(name: str, op: typing.Any) -> Callable[[dict[str, typing.Any]], typing.Any]:
    """Returns a function that calls a registered op with arguments by name."""
    definition = op_def.get(name)
    renamed = RENAMED.get(name, {})
    defaults = {renamed.get(a.name, a.name): a.default for a in definition.attrs.values()}
    inputs = [renamed.get(a.name, a.name) for a in definition.inputs]
    attrs = [renamed.get(op.attr_names[p], op.attr_names[p]) for p in op.params[len(inputs) :]]
    accepted = {*inputs, *attrs, "name"}
    results = _results(name) if len(definition.outputs) > 1 else None

    def call(arguments: dict[str, typing.Any]) -> typing.Any:
        function = op.function
        for attr in arguments.keys() - accepted:
            if not np.array_equal(arguments[attr], defaults[attr]):
                if attr not in op.variants:
                    raise NotImplementedError(
                        f"tf.raw_ops.{name}: attr {attr!r} can't be changed from its default here"
                    )
                function = op.variants[attr]
        result = function(*[arguments.get(p) for p in inputs + attrs], name=arguments["name"])
        return result if results is None else results(arguments, result)

    return call


def _results(name: str) -> Callable[[dict[str, typing.Any], typing.Any], typing.Any]:
    """Returns a function from an op's arguments and flat results to its result: a named tuple, a list, or a single
    value.

    In a graph the only result of an op without outputs is its operation.
    """
    definition = op_def.get(name)
    outputs = definition.outputs
    if len(outputs) > 1:
        result_type: typing.Any = namedtuple(name, [o.name for o in outputs])  # type: ignore[misc]
        return lambda arguments, results: result_type(*_grouped(definition, arguments, results))
    if outputs and outputs[0].is_list:
        return lambda arguments, results: results
    return lambda arguments, results: results[0] if results else None


def _grouped(definition: OpDef, arguments: dict[str, typing.Any], results: list[typing.Any]) -> list[typing.Any]:
    """Groups a flat list of results by output: a tensor or a list for each."""
    rest = iter(results)
    lists = {a.number_attr or a.type_list_attr: arguments[a.name] for a in definition.inputs if a.is_list}
    groups = []
    for out in definition.outputs:
        attr = out.number_attr or out.type_list_attr
        length: typing.Any = lists.get(attr, arguments.get(attr))
        length = len(length) if isinstance(length, (list, tuple)) else length
        groups.append([next(rest) for _ in range(length)] if out.is_list else next(rest))
    return groups


# Ops that libraries try on a GPU, and replace by others where there is no kernel.
OPTIONAL = frozenset({"CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"})


def _has_alternative(graph: typing.Any) -> bool:
    """Returns True if a graph belongs to a function with several alternative implementations."""
    while graph is not None and not getattr(graph, "is_alternative", False):
        graph = graph.around
    return graph is not None


def _no_kernel(name: str) -> Callable[..., typing.Any]:
    """Returns the function of an op without a kernel, which raises NotFoundError.

    In a graph the call is an operation, as it may never run. Libraries for GPUs call the op first and others after an
    error. So with a GPU, it is an operation only in a function that has an alternative.
    """
    definition, results = op_def.get(name), _results(name)

    def missing(*_: typing.Any) -> typing.NoReturn:
        raise errors.NotFoundError.of(f"No OpKernel was registered to support Op '{name}' [Op:{name}]")

    def call(arguments: dict[str, typing.Any]) -> typing.Any:
        if state.graph is None or (machine.has_gpu and not _has_alternative(state.graph)):
            missing()
        inputs = [convert(arguments[a.name]) for a in definition.inputs]
        attrs = {n: v for n, v in arguments.items() if n in definition.attrs}
        shapes = {f"output{end}": t.shape for end, t in zip(("", "_h", "_c"), inputs, strict=False)}
        shapes["output"] = TensorShape([None] * 3)
        other = inputs[0].dtype if inputs else variant  # of outputs whose number nobody knows
        dtypes = [o.type or attrs.get(o.type_attr) or other for o in definition.outputs]
        outputs = [(d, shapes.get(o.name, TensorShape(None))) for d, o in zip(dtypes, definition.outputs, strict=True)]
        op = GraphOp(name, missing, stateful=True, attrs=attrs, gives_tuple=True)
        return results(arguments, state.graph.node(op, inputs, outputs, arguments["name"]).outputs)

    return _takes_keywords(name, call, "Raises NotFoundError, as there is no kernel of this op.")


def _registered(name: str) -> typing.Any:
    """Returns the registered op of a name, or None. Loads the modules that register ops, services too."""
    op = find(name)
    if op is None:
        for load in load_services:
            load()
        op = find(name)
    return op


# Their next versions compute something else with the same arguments: other places of diagonals and of glimpses.
_CHANGED = frozenset({"ExtractGlimpse", "MatrixDiagV2", "MatrixSetDiagV2"})


def _newer(name: str) -> str | None:
    """Returns the registered op that is a newer form of an op, or None.

    The newer form has all its inputs and attrs, by name, though an attr may have become an input; the same outputs; and
    defaults for additions. It is the next version, or for `Batch...` the op that takes stacks of matrices now.
    """
    older, version = op_def.get(name), re.search(r"V(\d+)$", name)
    following = f"{name[: version.start()]}V{int(version[1]) + 1}" if version else f"{name}V2"
    for candidate in (following, name.removeprefix("Batch"), name.removeprefix("Experimental")):
        if candidate == name or name in _CHANGED or candidate not in op_def.names() or _registered(candidate) is None:
            continue
        newer = op_def.get(candidate)
        inputs, attrs = {a.name for a in newer.inputs}, newer.attrs
        names = {a.name for a in older.inputs} | {n for n in older.attrs if n not in op_def.implied_attrs(older)}
        required = inputs | {n for n, a in attrs.items() if not a.has_default and n not in op_def.implied_attrs(newer)}
        same_outputs = [o.name for o in older.outputs] == [o.name for o in newer.outputs]
        if same_outputs and required <= names <= inputs | set(attrs):
            return candidate
    return None


def _older_form(name: str, newer: str) -> Callable[..., typing.Any]:
    """Returns the function of an op that calls its newer form."""

    older, inputs = op_def.get(name), {a.name for a in op_def.get(newer).inputs}
    become_inputs = [attr for attr in older.attrs.values() if attr.name in inputs]

    def call(arguments: dict[str, typing.Any]) -> typing.Any:
        for attr in become_inputs:
            arguments[attr.name] = attr_value(older, attr, arguments[attr.name])
        result = raw_op(newer)(**arguments)
        fields = getattr(result, "_fields", None)
        return result if fields is None else namedtuple(name, fields)(*result)

    return _takes_keywords(name, call, f"Calls `tf.raw_ops.{newer}`, the newer form of this op.")


# ---- built ops -------------------------------------------------------------------------------------------------------


def _built(name: str, op: typing.Any) -> Callable[..., typing.Any]:
    """Returns the function of an op whose operations a builder adds to graphs.

    Args:
        name: the op.
        op: the registered op, which runs at once, or None.
    """
    build, results = builder_of(name), _results(name)
    at_once = None if op is None else _call_of(name, op)

    def call(arguments: dict[str, typing.Any]) -> typing.Any:
        if at_once is not None and state.graph is None:
            return at_once(arguments)
        label = arguments.pop("name")
        return results(arguments, node_calls.call(name, build, arguments, label))  # type: ignore[arg-type]

    return _takes_keywords(name, call, "Adds the operation to a graph, or runs it at once.")


def _formed(name: str) -> Callable[..., typing.Any]:
    """Returns the function of an op that is computed by others."""
    registered, results = {v: k for k, v in RENAMED.get(name, {}).items()}, _results(name)
    build = builder_of(name)  # of TensorFlow 1's control flow

    def call(arguments: dict[str, typing.Any]) -> typing.Any:
        graph = state.graph
        is_function = graph is not None and graph.building_function and not graph.takes_control_flow
        if build is not None and graph is not None and (not is_function or name in decompositions.eager_only):
            label = arguments.pop("name")
            return results(arguments, node_calls.call(name, build, arguments, label))
        arguments = {registered.get(n, n): v for n, v in arguments.items()}
        return results(arguments, decompositions.call(name, arguments))

    return _takes_keywords(name, call, decompositions.forms[name].__doc__)


# ---- references ------------------------------------------------------------------------------------------------------


def _of_references(name: str) -> Callable[..., typing.Any]:
    """Returns the function of an op on TensorFlow 1's references to variables and resources.

    As in TensorFlow it raises RuntimeError outside of graphs. In a graph, it calls the op on handles, since variables
    and resources have handles here.
    """
    definition = op_def.get(name)
    reference = next(a.name for a in (*definition.outputs, *definition.inputs) if a.is_ref)
    op = _registered(name)  # of a resource without a handle
    in_graph = None if op is None else _call_of(name, op)

    def call(arguments: dict[str, typing.Any]) -> typing.Any:
        if state.graph is None:
            raise RuntimeError(
                f"{op_def.snake_case(name)} op does not support eager execution. Arg '{reference}' is a ref."
            )
        return in_graph(arguments) if in_graph is not None else references.call(name, arguments, raw_op)

    return _takes_keywords(name, call, "Takes TensorFlow 1's references: for graphs alone.")


def _has_references(name: str) -> bool:
    definition = op_def.get(name)
    return any(a.is_ref for a in (*definition.inputs, *definition.outputs))


# ---- missing ops -----------------------------------------------------------------------------------------------------


@functools.cache
def without_kernel() -> frozenset[str]:
    """Returns the ops without a kernel in TensorFlow's own build for CPUs."""
    return frozenset(pathlib.Path(__file__).with_name("without_kernel.txt").read_text(encoding="utf-8").split())


def _function_of(name: str) -> Callable[..., typing.Any] | None:
    """Returns the function of an op, or None."""
    if not name[:1].isupper() or name not in op_def.names() or absent.is_absent(name):
        return None
    op = _registered(name)
    if name in decompositions.forms:
        return _formed(name)
    if builder_of(name) is not None:
        return _built(name, op)
    if op is not None and not _has_references(name):
        return _takes_keywords(name, _call_of(name, op), op.function.__doc__)
    newer = _newer(name)
    if newer is not None:
        return _older_form(name, newer)
    if _has_references(name):
        return _of_references(name)
    return _no_kernel(name) if name in without_kernel() else None


def raw_op(name: str) -> Callable[..., typing.Any]:
    """Returns the function of an op.

    Raises:
        AttributeError: there is none.
    """
    function = _no_kernel(name) if name in OPTIONAL else _function_of(name)
    if function is None:
        reason = f": {absent.reason(name)}" if name in op_def.names() else ""
        raise AttributeError(f"module 'tapeflow.raw_ops' has no attribute {name!r}{reason}")
    return function


def names() -> list[str]:
    """Returns the names of all ops that have functions."""
    for load in (*load_all, *load_services):
        load()
    return [n for n in op_def.names() if not absent.is_absent(n)]
