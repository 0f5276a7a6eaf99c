"""Checkpoints in graphs that are read: the operations that TensorFlow 1's savers are made of."""

from __future__ import annotations

from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import string
from tapeflow.graph.graphdef.builders import register
from tapeflow.graph.graphdef.node_protos import Node, attr_of, definition_of
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import python_op
from tapeflow.train.bundle import Bundle, write_bundle


def _build_save(builder: Any, node: Node, inputs: list[Any]) -> Operation:
    def save(prefix: Any, names: Any, slices: Any, *tensors: Any) -> None:
        _check_slices(slices)
        write_bundle(_text(prefix), zip(map(_text, names.value), tensors, strict=True))

    return python_op(node.op, save, inputs)


def _build_restore(builder: Any, node: Node, inputs: list[Any]) -> Operation:
    dtypes = attr_of(node, definition_of(node.op), "dtypes")

    def restore(prefix: Any, names: Any, slices: Any) -> list[Any]:
        _check_slices(slices)
        bundle = Bundle(_text(prefix))
        return [bundle.read(_text(name)) for name in names.value]

    return python_op(node.op, restore, inputs, [(dtype, None) for dtype in dtypes])


def _build_sharded_name(builder: Any, node: Node, inputs: list[Any]) -> Operation:
    def name(base: Any, shard: Any, shards: Any) -> list[Any]:
        return [convert(f"{_text(base)}-{int(shard):05d}-of-{int(shards):05d}")]

    return python_op(node.op, name, inputs, [(string, [])])


def _text(value: Any) -> str:
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.decode()


def _check_slices(slices: Any) -> None:
    if any(s for s in slices.value.reshape(-1)):
        raise errors.UnimplementedError(None, None, "Variables in several parts can't be saved or restored by a graph")


register({"SaveV2": _build_save, "RestoreV2": _build_restore, "ShardedFilename": _build_sharded_name})
