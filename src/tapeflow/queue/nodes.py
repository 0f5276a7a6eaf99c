"""Queues as operations: their kernels, and how they stand in graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import DType, bool_, int32, int64, resource
from tapeflow.core.held import boxed
from tapeflow.core.shape import TensorShape
from tapeflow.core.tensor import invalid
from tapeflow.graph.operation import NodeOp, Operation
from tapeflow.queue.held import held_here
from tapeflow.queue.storage import Element, PaddedStorage, ShuffledStorage, SortedStorage, Storage, rows_of

# ---- kernels, on a queue's storage and raw values --------------------------------------------------------------------


def _enqueue(queue: Storage, *components: Any, **attrs: Any) -> None:
    queue.enqueue([components])


def _enqueue_many(queue: Storage, *components: Any, **attrs: Any) -> None:
    queue.enqueue(rows_of(components))


def _dequeue(queue: Storage, **attrs: Any) -> Element:
    return queue.dequeue(1, 1)[0]


def _dequeue_many(queue: Storage, n: Any, **attrs: Any) -> Element:
    return queue.stacked(queue.dequeue(_count(queue, "DequeueManyOp", n), int(n)))


def _dequeue_up_to(queue: Storage, n: Any, **attrs: Any) -> Element:
    return queue.stacked(queue.dequeue(_count(queue, "DequeueUpToOp", n), 1))


def _count(queue: Storage, op: str, n: Any) -> int:
    queue.check_batches()
    if int(n) < 0:
        raise invalid(f"{op} requested {int(n)} < 0 elements")
    return int(n)


def _close(queue: Storage, cancel_pending_enqueues: bool = False, **attrs: Any) -> None:
    queue.close(cancel_pending_enqueues)


def _is_closed(queue: Storage, **attrs: Any) -> Element:
    return (convert(queue.closed, bool_).value,)


def _size(queue: Storage, **attrs: Any) -> Element:
    return (convert(len(queue), int32).value,)


KERNELS: dict[str, Callable[..., Any]] = {
    "QueueEnqueueV2": _enqueue,
    "QueueEnqueueManyV2": _enqueue_many,
    "QueueDequeueV2": _dequeue,
    "QueueDequeueManyV2": _dequeue_many,
    "QueueDequeueUpToV2": _dequeue_up_to,
    "QueueCloseV2": _close,
    "QueueIsClosedV2": _is_closed,
    "QueueSizeV2": _size,
}

# ---- making queues ---------------------------------------------------------------------------------------------------


def storage_of(op: str, name: str, attrs: dict[str, Any]) -> Storage:
    """A new queue of the op of that name, as its attrs say.

    Raises:
        InvalidArgumentError: they contradict each other.
    """
    dtypes, shapes = component_specs(op, attrs)
    if len(dtypes) != len(shapes):
        given = ", ".join(d.name for d in dtypes)
        raise invalid(f"Different number of component types.  Types: {given}, Shapes: {[s.as_list() for s in shapes]}")
    capacity = attrs["capacity"]
    if op == "RandomShuffleQueueV2":
        seeds = attrs["seed"], attrs["seed2"]
        seed = None if seeds == (0, 0) else repr(seeds)
        return ShuffledStorage(name, capacity, dtypes, shapes, attrs["min_after_dequeue"], seed)
    made = {"FIFOQueueV2": Storage, "PriorityQueueV2": SortedStorage, "PaddingFIFOQueueV2": PaddedStorage}[op]
    return made(name, capacity, dtypes, shapes)


def component_specs(op: str, attrs: dict[str, Any]) -> tuple[list[DType], list[TensorShape]]:
    """The dtypes and shapes of the components of a queue's elements."""
    dtypes = list(attrs["component_types"])
    shapes = list(attrs["shapes"]) or [TensorShape(None)] * len(dtypes)
    if op == "PriorityQueueV2":
        return [int64, *dtypes], [TensorShape([]), *shapes]
    return dtypes, shapes


def handle_node(op: str, attrs: dict[str, Any], name: str) -> Operation:
    """An operation of the graph being built that gives a queue: in each session its own."""
    key: list[Any] = []

    def kernel() -> Any:
        def make() -> Storage:
            return storage_of(op, f"_0_{key[0][-1]}", attrs)

        return boxed(held_here((op, *key[0]), make))

    made = state.graph.node(NodeOp(op, kernel, stateful=True, attrs=attrs), (), [(resource, [])], name)
    key.append((attrs.get("container", ""), attrs.get("shared_name") or made.name))
    return made


def node(
    op: str, inputs: Sequence[Any], outputs: Sequence[tuple[DType, Any]], attrs: dict[str, Any], name: str
) -> Operation:
    """An operation of the graph being built that does something with a queue, the first one of its inputs."""
    kernel = KERNELS[op]
    made = NodeOp(
        op, lambda handle, *values: kernel(handle[()], *values, **attrs), stateful=True, attrs=attrs, gives_tuple=True
    )
    return state.graph.node(made, inputs, outputs, name)
