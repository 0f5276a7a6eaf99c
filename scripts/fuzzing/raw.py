"""Calls of raw ops to begin with, and how they are loosened so that shapes are inferred of what is partly static."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

from fuzzing import seeds
from fuzzing.drawing import Drawer, arrays_of
from fuzzing.modes import differentiated
from fuzzing.values import NotDescribed, describe, inputs_of, kind_of
from tapeflow.core.ops import op_def
from tapeflow.raw_ops.generated import RENAMED

Call = dict[str, Any]
# The groups of goldens that call raw ops.
GROUPS = seeds.words("raw_data raw_forms raw_handles raw_ops image linalg nn nn_conv sparse sparse_matrices strings")
EACH = 20  # calls of one op to begin with


def functions(tf: Any) -> dict[str, Callable[..., Any]]:
    """The raw ops, by the names under which they are called."""
    return {f"raw_ops.{name}": getattr(tf.raw_ops, name) for name in dir(tf.raw_ops) if name not in LEFT_OUT}


# Ops that are made of names, files and functions, or have no shape to infer.
LEFT_OUT = seeds.words("""
Assert Const FakeParam NoOp Placeholder PlaceholderV2 PlaceholderWithDefault PrintV2 Print ReadFile WriteFile
ReadVariableOp RestoreV2 SaveV2 VarHandleOp
""")


def raw_seeds(tf: Any) -> dict[str, list[Call]]:
    """Calls of each raw op: those within recorded calls of functions and their gradients, and those of the goldens."""
    named = functions(tf)
    several: dict[str, list[Call]] = {name: [] for name in named}
    within = (_of_graph(tf, named, call) for calls in seeds.seeds(tf).values() for call in calls)
    for call in itertools.chain(seeds.of_goldens(tf, named, GROUPS), *within):
        there = several[call["function"]]
        if call not in there and len(there) < EACH:
            there.append(call)
    return {name: calls for name, calls in several.items() if calls}


def _of_graph(tf: Any, named: dict[str, Any], call: Call) -> Iterator[Call]:
    """The calls of raw ops that a function's call, and its gradient, make in a graph."""
    operations: list[Any] = []

    def function() -> Any:
        differentiated(call, tf, inputs_of(call, tf))
        there = tf.compat.v1.get_default_graph().get_operations()
        operations[:] = [o for o in there if f"raw_ops.{o.type}" in named and hasattr(o.op, "attr_names")]
        return [list(operation.inputs) for operation in operations]

    try:
        inputs = tf.function(function, autograph=False)()
    except Exception:  # whatever a recorded call raises: many are there to fail
        return
    for operation, values in zip(operations, inputs, strict=True):
        try:
            yield _described(tf, operation, iter(values))
        except (NotDescribed, ValueError, TypeError):
            continue


def _described(tf: Any, operation: Any, tensors: Iterator[Any]) -> Call:
    """The call of an operation's op, with the values of the tensors that it takes."""
    op, definition = operation.op, op_def.get(operation.type)
    renamed = RENAMED.get(operation.type, {})
    kwargs = {}
    for argument, value in zip(definition.inputs, operation.args, strict=False):
        dtype = argument.type or operation.types.get(argument.type_attr) or tf.int32
        several = [next(tensors) if isinstance(v, tf.Tensor) else v for v in value] if argument.is_list else value
        if isinstance(value, tf.Tensor):
            several = next(tensors)
        elif not argument.is_list:
            several = tf.constant(value, dtype)  # the op takes it as a Python value
        kwargs[renamed.get(argument.name, argument.name)] = describe(several, tf)
    attrs = slice(len(definition.inputs), None)
    for parameter, value in zip(op.params[attrs], operation.args[attrs], strict=False):
        name = op.attr_names[parameter]
        if name not in op_def.implied_attrs(definition):
            kwargs[renamed.get(name, name)] = describe(value, tf)
    return {"function": f"raw_ops.{operation.type}", "args": [], "kwargs": kwargs}


def draw(drawer: Drawer, rng: random.Random, only: str) -> Call:
    """A call of a raw op of whose tensors the values or no more than shapes are static, in whole or in part."""
    call = drawer.draw(rng, only)
    for place in arrays_of(call):
        if kind_of(place.node) == "tensor":
            dtype, shape, _ = place.node["tensor"]
            chosen = rng.choices(("value", "shape", "some", "rank", "nothing"), (30, 35, 15, 10, 10))[0]
            some = [n if rng.random() < 0.5 else None for n in shape]
            shapes = {"shape": shape, "some": some, "rank": [None] * len(shape), "nothing": None}
            place.node = {"array": place.node["tensor"]} if chosen == "value" else {"spec": [dtype, shapes[chosen]]}
    return call
