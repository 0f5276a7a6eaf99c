"""The public `tf.raw_ops` namespace: every op by its registered name, with keyword arguments only.

No op is listed here: its signature is read from its definition when it is first used.
"""

from __future__ import annotations

import inspect
import re
import typing  # not `Any` by name: that is an op
from collections import namedtuple
from collections.abc import Callable

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.device import machine
from tapeflow.core.ops import op_def
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import aliases, find, load_all, registry
from tapeflow.core.ops.op_def import OpDef
from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.graphdef.builders import load_services
from tapeflow.graph.ir.operation import GraphOp

# The Python names of inputs and attrs, where they differ from the registered ones.
_AXIS = {"reduction_indices": "axis"}
_RENAMED = {
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
    attrs = [a for a in definition.attrs.values() if a.name not in op_def.implied(definition)]
    renamed = _RENAMED.get(definition.name, {})
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [a.name for a in definition.inputs] + [a.name for a in attrs if not a.has_default]
    parameters = [inspect.Parameter(renamed.get(n, n), kind) for n in required]
    for attr in attrs:
        if attr.has_default:
            parameters.append(inspect.Parameter(renamed.get(attr.name, attr.name), kind, default=attr.default))
    return inspect.Signature([*parameters, inspect.Parameter("name", kind, default=None)])


def _check_keywords(function: Callable[..., typing.Any], names: list[str], args: tuple[typing.Any, ...]) -> None:
    if args:
        raise TypeError(
            f"{function.__name__} only takes keyword args (possible keys: {names}). Please pass these args as kwargs "
            "instead."
        )


def _bound(
    function: Callable[..., typing.Any], signature: inspect.Signature, kwargs: dict[str, typing.Any]
) -> dict[str, typing.Any]:
    """Returns all arguments by name, defaults included."""
    try:
        bound = signature.bind(**kwargs)
    except TypeError as error:
        raise TypeError(f"{function.__name__}() {error}") from None
    bound.apply_defaults()
    return bound.arguments


def _raw_op(name: str, op: typing.Any) -> Callable[..., typing.Any]:
    """Returns the function of an op that takes keyword arguments."""
    definition = op_def.get(name)
    signature = _signature(definition)
    names = list(signature.parameters)
    renamed = _RENAMED.get(name, {})
    inputs = [renamed.get(a.name, a.name) for a in definition.inputs]
    attrs = [renamed.get(op.attr_names[p], op.attr_names[p]) for p in op.params[len(inputs) :]]
    accepted = {*inputs, *attrs, "name"}
    outputs = definition.outputs
    result_type: typing.Any = namedtuple(name, [o.name for o in outputs]) if len(outputs) > 1 else None

    def raw_op(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        _check_keywords(raw_op, names, args)
        arguments = _bound(raw_op, signature, kwargs)
        function = op.function
        for attr in arguments.keys() - accepted:
            if arguments[attr] != signature.parameters[attr].default:
                if attr not in op.variants:
                    raise NotImplementedError(
                        f"tf.raw_ops.{name}: attr {attr!r} can't be changed from its default here"
                    )
                function = op.variants[attr]
        result = function(*[arguments.get(p) for p in inputs + attrs], name=arguments["name"])
        return result if result_type is None else result_type(*_grouped(definition, arguments, result))

    raw_op.__name__ = raw_op.__qualname__ = op_def.snake_case(name)
    raw_op.__doc__ = op.function.__doc__
    raw_op.__signature__ = signature  # type: ignore[attr-defined]
    return raw_op


def _grouped(definition: OpDef, arguments: dict[str, typing.Any], results: list[typing.Any]) -> list[typing.Any]:
    """Groups a flat list of results by output: a tensor or a list for each."""
    rest = iter(results)
    lists = {a.number_attr or a.type_list_attr: arguments[a.name] for a in definition.inputs if a.is_list}
    groups = []
    for out in definition.outputs:
        attr = out.number_attr or out.type_list_attr
        length = lists.get(attr, arguments.get(attr))
        length = len(length) if isinstance(length, (list, tuple)) else length
        groups.append([next(rest) for _ in range(length)] if out.is_list else next(rest))
    return groups


# Ops that libraries try on a GPU, and replace by others where there is no kernel.
_OPTIONAL = frozenset({"CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"})


def _has_alternative(graph: typing.Any) -> bool:
    """Returns whether a graph is inside one of several alternative implementations of a function."""
    while graph is not None and not getattr(graph, "is_alternative", False):
        graph = graph.around
    return graph is not None


def _no_kernel(name: str) -> Callable[..., typing.Any]:
    """Returns the function of an op without a kernel, which raises NotFoundError.

    In a graph the call is an operation, as it may never run. On a GPU, where libraries call the op first and others
    after an error, it is one only in a function that has an alternative.
    """
    definition = op_def.get(name)
    signature = _signature(definition)

    def missing(*_: typing.Any) -> typing.NoReturn:
        raise errors.NotFoundError.of(f"No OpKernel was registered to support Op '{name}' [Op:{name}]")

    def raw_op(**kwargs: typing.Any) -> typing.Any:
        if state.graph is None or (machine.has_gpu and not _has_alternative(state.graph)):
            missing()
        bound = signature.bind(**kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        label = arguments.pop("name")
        inputs = [convert(arguments.pop(a.name)) for a in definition.inputs]
        shapes = {f"output{end}": t.shape for end, t in zip(("", "_h", "_c"), inputs, strict=False)}
        shapes["output"] = TensorShape([None] * 3)
        outputs = [(o.type or inputs[0].dtype, shapes.get(o.name, TensorShape(None))) for o in definition.outputs]
        op = GraphOp(name, missing, stateful=True, attrs=arguments, gives_tuple=True)
        operation = state.graph.node(op, inputs, outputs, label)
        return namedtuple(name, [o.name for o in definition.outputs])(*operation.outputs)

    return raw_op


def _registered(name: str) -> typing.Any:
    """Returns the registered op of a name, or None; loads what registers ops, services too."""
    op = find(name)
    if op is None:
        for load in load_services:
            load()
        op = find(name)
    return op


# Their next versions compute something else with the same arguments: other places of diagonals and of glimpses.
_CHANGED = frozenset({"ExtractGlimpse", "MatrixDiagV2", "MatrixSetDiagV2"})


def _newer(name: str) -> str | None:
    """Returns the registered op of which an op is an older form, or None.

    The newer form has all its inputs and attrs, by name, though an attr may have become an input, the same outputs, and
    defaults for what is new. It is the next version, or the op that `Batch...` was for stacks of matrices.
    """
    older, version = op_def.get(name), re.search(r"V(\d+)$", name)
    following = f"{name[: version.start()]}V{int(version[1]) + 1}" if version else f"{name}V2"
    for candidate in (following, name.removeprefix("Batch")):
        if candidate == name or name in _CHANGED or candidate not in op_def.names() or _registered(candidate) is None:
            continue
        newer = op_def.get(candidate)
        inputs, attrs = {a.name for a in newer.inputs}, newer.attrs
        names = {a.name for a in older.inputs} | {n for n in older.attrs if n not in op_def.implied(older)}
        required = inputs | {n for n, a in attrs.items() if not a.has_default and n not in op_def.implied(newer)}
        same_outputs = [o.name for o in older.outputs] == [o.name for o in newer.outputs]
        if same_outputs and required <= names <= inputs | set(attrs):
            return candidate
    return None


def _older_form(name: str, newer: str) -> Callable[..., typing.Any]:
    """Returns the function of an op that calls its newer form."""
    signature = _signature(op_def.get(name))
    names = list(signature.parameters)

    def raw_op(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        _check_keywords(raw_op, names, args)
        bound = _bound(raw_op, signature, kwargs)
        result = __getattr__(newer)(**bound)
        fields = getattr(result, "_fields", None)
        return result if fields is None else namedtuple(name, fields)(*result)

    raw_op.__name__ = raw_op.__qualname__ = op_def.snake_case(name)
    raw_op.__doc__ = f"Calls `tf.raw_ops.{newer}`, the newer form of this op."
    raw_op.__signature__ = signature  # type: ignore[attr-defined]
    return raw_op


def __getattr__(name: str) -> typing.Any:
    if name in _OPTIONAL:
        return _no_kernel(name)
    known = name[:1].isupper() and name in op_def.names()
    op = _registered(name) if known else None
    newer = _newer(name) if known and op is None else None
    if op is None and newer is None:
        raise AttributeError(f"module 'tapeflow.raw_ops' has no attribute {name!r}")
    function = globals()[name] = _raw_op(name, op) if newer is None else _older_form(name, newer)
    return function


def __dir__() -> list[str]:
    for load in (*load_all, *load_services):
        load()
    return sorted(n for n in op_def.names() if n in registry or n in aliases or _newer(n) is not None)
