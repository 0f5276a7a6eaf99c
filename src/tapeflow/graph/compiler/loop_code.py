"""The machine code of a native loop, in LLVM's language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from tapeflow.core.ops.elements import Element
from tapeflow.graph.compiler.expressions import Node, below, emitted
from tapeflow.graph.compiler.vectors import MEMORY, Vectors

_i64 = ir.IntType(64)
_pointer = ir.PointerType()


def text(inputs: Sequence[Sequence[Node]], condition: Node, after: Sequence[Sequence[Node]]) -> str:
    """Returns the module of a loop, with `{name}` for its name.

    Args:
        inputs: the elements of each tensor that the loop takes: of the loop variables first.
        condition: the expression of the condition.
        after: the elements of each loop variable after an iteration.
    """
    module = ir.Module("loop")
    kind = ir.FunctionType(ir.VoidType(), [_i64, *[_pointer] * (len(inputs) + len(after))])
    loop = ir.Function(module, kind, "kernel")
    limit, *pointers = loop.args
    entry, head, body, end = (loop.append_basic_block(name) for name in ("entry", "head", "body", "end"))
    b = ir.IRBuilder(entry)
    vectors = Vectors(module, 1)
    vectors.block = b
    first = {
        node: _loaded(vectors, pointer, i, node)
        for nodes, pointer in zip(inputs, pointers, strict=False)
        for i, node in enumerate(nodes)
    }
    b.branch(head)
    b.position_at_end(head)
    count = b.phi(_i64)
    count.add_incoming(ir.Constant(_i64, 0), entry)
    values: dict[Node, Any] = dict(first)
    variables = [node for nodes in inputs[: len(after)] for node in nodes]
    for node in variables:
        values[node] = b.phi(first[node].type)
        values[node].add_incoming(first[node], entry)
    goes_on = b.and_(_computed(condition, values, vectors), b.icmp_signed("<", count, limit))
    before = dict(values)
    b.cbranch(goes_on, body, end)
    b.position_at_end(body)
    results = [_computed(node, values, vectors) for nodes in after for node in nodes]
    following = b.add(count, ir.Constant(_i64, 1))
    b.branch(head)
    count.add_incoming(following, body)
    for node, result in zip(variables, results, strict=True):
        before[node].add_incoming(result, body)
    b.position_at_end(end)
    for nodes, pointer in zip(inputs[: len(after)], pointers[len(inputs) :], strict=True):
        for i, node in enumerate(nodes):
            value = vectors.stored(Element(before[node], node.dtype))
            b.store(value, _at(b, pointer, i, node), align=node.dtype.size)
    b.ret_void()
    return str(module).replace('@"kernel"', '@"{name}"')


def _at(b: ir.IRBuilder, pointer: Any, i: int, node: Node) -> Any:
    return b.gep(pointer, [ir.Constant(_i64, i)], source_etype=MEMORY[node.dtype])


def _loaded(vectors: Vectors, pointer: Any, i: int, node: Node) -> Any:
    b = vectors.block
    value = b.load(_at(b, pointer, i, node), typ=MEMORY[node.dtype], align=node.dtype.size)
    return vectors.loaded(value, node.dtype).value


def _computed(node: Node, values: dict[Node, Any], vectors: Vectors) -> Any:
    """Returns the value of an expression, and adds it and those below it to the known ones."""
    for below_it in below([node], values.__contains__):
        if below_it not in values:
            values[below_it] = emitted(below_it, vectors, [values[o] for o in below_it.operands])
    return values[node]
