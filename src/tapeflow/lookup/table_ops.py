"""The nodes of a `GraphDef` for tables. SavedModels create, fill and look up tables with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.session_resources import held_here, in_session
from tapeflow.core.types.dtypes import int64, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.graph.graphdef.builders import register
from tapeflow.graph.graphdef.import_graph import create_operation
from tapeflow.graph.graphdef.node_protos import ParsedNode, node_attr, type_attr
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.ir.python_op import python_op
from tapeflow.lookup.initializers import TextFileInitializer
from tapeflow.lookup.storage import DenseStorage, MutableStorage, TableStorage, storage_of


class Table(NamedTuple):
    """The value of the handle of a table that a graph creates.

    Attributes:
        storage: the keys and values.
    """

    storage: TableStorage


def empty_like(storage: TableStorage, shared_name: str = "", name: str | None = None) -> Operation:
    """Adds an operation that returns the handle of an empty table of the same kind, dtypes and shapes as another."""
    attrs = {"value_dtype": type_attr(storage.value_dtype), "shared_name": AttrValue(s=shared_name.encode())}
    op, inputs = "HashTableV2", []
    if isinstance(storage, DenseStorage):
        op, inputs = "MutableDenseHashTableV2", [storage.empty_key, storage.deleted_key]
        attrs["initial_num_buckets"] = AttrValue(i=storage.buckets)
    elif isinstance(storage, MutableStorage):
        op = "MutableHashTableOfTensorsV2" if storage.value_shape else "MutableHashTableV2"
    if storage.value_shape:
        attrs["value_shape"] = AttrValue(shape=TensorShape(storage.value_shape).as_proto())
    if not inputs:
        attrs["key_dtype"] = type_attr(storage.key_dtype)
    return create_operation(state.graph, op, inputs, attrs, name)


def fill(handle: Tensor, keys: Any, values: Any) -> Operation:
    """Adds an operation that fills a table with keys and values."""
    return python_op("LookupTableImportV2", lambda h, k, v: storage_of(h).fill(k, v), [handle, keys, values])


# ---- from nodes ------------------------------------------------------------------------------------------------------


def _with_attrs(node: ParsedNode, names: Sequence[str], operation: Operation) -> Operation:
    """Adds the attrs that the inputs do not determine. The operation can then be exported again."""
    operation.op.attrs = {name: node_attr(node, name) for name in names}
    return operation


def _import_table(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    dtypes = node_attr(node, "key_dtype"), node_attr(node, "value_dtype")
    shared_name = node_attr(node, "shared_name")
    key = "Table", node_attr(node, "container"), shared_name or builder.prefix + node.name
    if builder.tables is not None:
        return builder.graph.capture(builder.tables(key, *dtypes)).op

    def create() -> Table:
        return Table(TableStorage(*dtypes))

    attrs = {"key_dtype": dtypes[0], "value_dtype": dtypes[1], "shared_name": shared_name}
    op = GraphOp(
        node.op, lambda: box_object(held_here(key, create) if in_session() else create()), stateful=True, attrs=attrs
    )
    return state.graph.node(op, [], [(resource, [])])


def _import_fill_from_file(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    names = ("key_index", "value_index", "vocab_size", "delimiter", "offset")
    key_index, value_index, vocab_size, delimiter, offset = (node_attr(node, name) for name in names)

    def read(handle: EagerTensor, filename: EagerTensor) -> None:
        storage = storage_of(handle)
        lines = TextFileInitializer(
            filename, storage.key_dtype, key_index, storage.value_dtype, value_index,
            None if vocab_size < 0 else vocab_size, delimiter, value_index_offset=offset,
        )  # fmt: skip
        storage.fill(*lines.pairs(filename))

    return _with_attrs(node, names, python_op(node.op, read, inputs))


def _import_call(function: Callable[..., Any], *specs: Any) -> Callable[..., Operation]:
    """Returns the builder of an operation that calls a function with a table's storage and the other inputs."""
    return lambda _, node, inputs: python_op(node.op, lambda h, *ts: function(storage_of(h), *ts), inputs, specs)


def _import_find(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    _, keys, default = inputs
    shape = keys.shape if default.shape.rank == 0 else TensorShape(None)
    return python_op(node.op, lambda h, k, d: [storage_of(h).find(k, d)], inputs, [(default.dtype, shape)])


def _import_export(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    specs = [(node_attr(node, "Tkeys"), None), (node_attr(node, "Tvalues"), None)]
    operation = python_op(node.op, lambda h: storage_of(h).export(), inputs, specs)
    return _with_attrs(node, ("Tkeys", "Tvalues"), operation)


register({
    "HashTableV2": _import_table,
    "LookupTableImportV2": lambda _, node, inputs: fill(*inputs),
    "InitializeTableV2": lambda _, node, inputs: fill(*inputs),
    "InitializeTableFromTextFileV2": _import_fill_from_file,
    "LookupTableInsertV2": _import_call(lambda table, k, v: table.insert(k, v)),
    "LookupTableRemoveV2": _import_call(lambda table, k: table.remove(k)),
    "LookupTableFindV2": _import_find,
    "LookupTableSizeV2": _import_call(lambda table: [convert(len(table), int64)], (int64, [])),
    "LookupTableExportV2": _import_export,
})  # fmt: skip
