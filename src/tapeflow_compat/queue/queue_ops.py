"""Queues and readers as operations of a graph: their kernels, outputs and nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import value_of
from tapeflow.core.session_resources import held_here
from tapeflow.core.types.dtypes import DType, bool_, int32, int64, resource, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object, held_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid
from tapeflow.graph.graphdef.builders import register
from tapeflow.graph.graphdef.node_protos import ParsedNode, attr_of, definition_of
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow_compat.queue.readers import RECORDS, Reading
from tapeflow_compat.queue.storage import Element, PaddedStorage, QueueStorage, ShuffledStorage, SortedStorage, rows_of

# ---- kernels of queues, on their storage and raw values --------------------------------------------------------------


def _enqueue(queue: QueueStorage, *components: Any, **attrs: Any) -> None:
    queue.enqueue([components])


def _enqueue_many(queue: QueueStorage, *components: Any, **attrs: Any) -> None:
    queue.enqueue(rows_of(components))


def _dequeue(queue: QueueStorage, **attrs: Any) -> Element:
    return queue.dequeue(1, 1)[0]


def _dequeue_many(queue: QueueStorage, n: Any, **attrs: Any) -> Element:
    return queue.stacked(queue.dequeue(_count(queue, "DequeueManyOp", n), int(n)))


def _dequeue_up_to(queue: QueueStorage, n: Any, **attrs: Any) -> Element:
    return queue.stacked(queue.dequeue(_count(queue, "DequeueUpToOp", n), 1))


def _count(queue: QueueStorage, op: str, n: Any) -> int:
    queue.check_batches()
    if int(n) < 0:
        raise invalid(f"{op} requested {int(n)} < 0 elements")
    return int(n)


def _close(queue: QueueStorage, cancel_pending_enqueues: bool = False, **attrs: Any) -> None:
    queue.close(cancel_pending_enqueues)


def _is_closed(queue: QueueStorage, **attrs: Any) -> Element:
    return (convert(queue.closed, bool_).value,)


def _size(queue: QueueStorage, **attrs: Any) -> Element:
    return (convert(len(queue), int32).value,)


# ---- kernels of readers ----------------------------------------------------------------------------------------------


def _read(reading: Reading, queue: QueueStorage) -> Element:
    ((key, value),) = reading.read(queue, 1)
    return StringArray.scalar(key), StringArray.scalar(value)


def _read_up_to(reading: Reading, queue: QueueStorage, most: Any) -> Element:
    records = reading.read(queue, int(most))
    return tuple(convert([record[i] for record in records], string).value for i in range(2))


def _state(reading: Reading) -> Element:
    return (StringArray.scalar(reading.state()),)


def _restore(reading: Reading, text: Any) -> None:
    reading.restore(text.item())


def _number(attribute: str) -> Callable[..., Any]:
    return lambda reading: (convert(getattr(reading, attribute), int64).value,)


KERNELS: dict[str, Callable[..., Any]] = {
    "QueueEnqueueV2": _enqueue,
    "QueueEnqueueManyV2": _enqueue_many,
    "QueueDequeueV2": _dequeue,
    "QueueDequeueManyV2": _dequeue_many,
    "QueueDequeueUpToV2": _dequeue_up_to,
    "QueueCloseV2": _close,
    "QueueIsClosedV2": _is_closed,
    "QueueSizeV2": _size,
    "ReaderReadV2": _read,
    "ReaderReadUpToV2": _read_up_to,
    "ReaderNumRecordsProducedV2": _number("produced"),
    "ReaderNumWorkUnitsCompletedV2": _number("finished"),
    "ReaderSerializeStateV2": _state,
    "ReaderRestoreStateV2": _restore,
    "ReaderResetV2": Reading.reset,
}
# The dtypes and shapes of their outputs, except elements of queues.
OUTPUTS: dict[str, list[tuple[DType, Any]]] = {
    "QueueIsClosedV2": [(bool_, [])],
    "QueueSizeV2": [(int32, [])],
    "ReaderReadV2": [(string, []), (string, [])],
    "ReaderReadUpToV2": [(string, [None]), (string, [None])],
    "ReaderNumRecordsProducedV2": [(int64, [])],
    "ReaderNumWorkUnitsCompletedV2": [(int64, [])],
    "ReaderSerializeStateV2": [(string, [])],
}
_READER, _QUEUE = (Reading, "reader"), (QueueStorage, "queue")
_TWO_HANDLES = frozenset({"ReaderReadV2", "ReaderReadUpToV2"})

# ---- creating queues -------------------------------------------------------------------------------------------------


def storage_of(op: str, name: str, attrs: dict[str, Any]) -> QueueStorage:
    """Creates the storage of a queue.

    Args:
        op: the name of the op that creates the queue.
        name: of the queue, for messages.
        attrs: of the op.

    Raises:
        InvalidArgumentError: they contradict each other.
    """
    dtypes, shapes = component_specs(op, attrs)
    if len(dtypes) != len(shapes):
        types = ", ".join(d.name for d in dtypes)
        raise invalid(f"Different number of component types.  Types: {types}, Shapes: {[s.as_list() for s in shapes]}")
    capacity = attrs["capacity"]
    if op == "RandomShuffleQueueV2":
        seeds = attrs["seed"], attrs["seed2"]
        seed = None if seeds == (0, 0) else repr(seeds)
        return ShuffledStorage(name, capacity, dtypes, shapes, attrs["min_after_dequeue"], seed)
    return _PLAIN[op](name, capacity, dtypes, shapes)


_PLAIN = {"FIFOQueueV2": QueueStorage, "PriorityQueueV2": SortedStorage, "PaddingFIFOQueueV2": PaddedStorage}
HOLDERS = frozenset({*_PLAIN, "RandomShuffleQueueV2", *RECORDS})  # ops that create a queue or a reader


def component_specs(op: str, attrs: dict[str, Any]) -> tuple[list[DType], list[TensorShape]]:
    """Returns the dtypes and shapes of the components of a queue's elements."""
    dtypes = list(attrs["component_types"])
    shapes = list(attrs["shapes"]) or [TensorShape(None)] * len(dtypes)
    if op == "PriorityQueueV2":
        return [int64, *dtypes], [TensorShape([]), *shapes]
    return dtypes, shapes


def handle_node(op: str, attrs: dict[str, Any], name: str | None) -> Operation:
    """Adds an operation to the graph being built whose output is a queue or a reader: in each session its own."""
    key: list[Any] = []

    def kernel() -> Any:
        def create() -> Any:
            return Reading(op, attrs) if op in RECORDS else storage_of(op, f"_0_{key[0][-1]}", attrs)

        return box_object(held_here((op, *key[0]), create))

    operation = state.graph.node(GraphOp(op, kernel, stateful=True, attrs=attrs), (), [(resource, [])], name)
    key.append((attrs.get("container", ""), attrs.get("shared_name") or operation.name))
    return operation


def node(
    op: str, inputs: Sequence[Any], outputs: Sequence[tuple[DType, Any]], attrs: dict[str, Any], name: str | None
) -> Operation:
    """Adds an operation to the graph being built that works with a queue or a reader, its first input."""
    kernel, kinds = KERNELS[op], [_READER if op.startswith("Reader") else _QUEUE]
    if op in _TWO_HANDLES:
        kinds.append(_QUEUE)

    def run(*values: Any) -> Any:
        objects = [held_object(value, *kind) for value, kind in zip(values, kinds, strict=False)]
        return kernel(*objects, *values[len(kinds) :], **attrs)

    return state.graph.node(GraphOp(op, run, stateful=True, attrs=attrs, gives_tuple=True), inputs, outputs, name)


def imported(builder: Any, described: ParsedNode, inputs: list[Any]) -> Operation:
    """Adds the operation of a `GraphDef`'s node."""
    definition = definition_of(described.op)
    attrs = {name: attr_of(described, definition, name) for name in definition.attrs}
    if described.op in HOLDERS:
        return handle_node(described.op, attrs, described.name)
    if "component_types" in attrs:
        outputs = list(zip(attrs["component_types"], _element_shapes(described.op, inputs, attrs), strict=True))
    else:
        outputs = OUTPUTS.get(described.op, [])
    used = {} if described.op.startswith("Reader") else attrs
    return node(described.op, inputs, outputs, used, described.name)


def _element_shapes(op: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> list[TensorShape]:
    """Returns the static shapes of the elements that an operation takes from a queue."""
    queue = inputs[0].op
    if queue.type not in HOLDERS:
        return [TensorShape(None)] * len(attrs["component_types"])
    _, shapes = component_specs(queue.type, queue.op.attrs)
    if op == "QueueDequeueV2":
        return shapes
    count = value_of(inputs[1]) if op == "QueueDequeueManyV2" else None
    return [TensorShape([None if count is None else int(count)]).concatenate(s) for s in shapes]


_OF_QUEUES = (
    "FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2", "QueueCloseV2",
    "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueDequeueV2", "QueueEnqueueManyV2", "QueueEnqueueV2",
    "QueueIsClosedV2", "QueueSizeV2",
)  # fmt: skip
_OF_READERS = (
    "FixedLengthRecordReaderV2", "IdentityReaderV2", "TFRecordReaderV2", "TextLineReaderV2", "WholeFileReaderV2",
    "ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompletedV2", "ReaderReadUpToV2", "ReaderReadV2", "ReaderResetV2",
    "ReaderRestoreStateV2", "ReaderSerializeStateV2",
)  # fmt: skip
register(dict.fromkeys((*_OF_QUEUES, *_OF_READERS), imported))
