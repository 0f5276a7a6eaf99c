"""Queues: buffers between threads, or between the runs of a session."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.rng.seeds import op_seeds
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, int32, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.graph.ir.operation import GraphOp
from tapeflow_compat.queue.queue_ops import KERNELS, component_specs, handle_node, node, storage_of

_numbers = itertools.count()


class QueueBase:
    """The base of all queues.

    Args:
        dtypes: a list of the dtypes of an element's components.
        shapes: a list of the components' shapes, or None if they are unknown.
        names: a list of the components' names, or None.
        queue_ref: the queue, a scalar `tf.resource` tensor.

    Raises:
        ValueError: the numbers of dtypes, shapes and names differ.

    Example:
        >>> queue = tf.queue.FIFOQueue(2, tf.int32)
        >>> queue.enqueue(5)
        >>> same = tf.queue.QueueBase([tf.int32], None, None, queue.queue_ref)
        >>> same.dequeue().numpy().item()
        5
    """

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Any] | None, names: Any, queue_ref: Any) -> None:
        self._dtypes = [as_dtype(d) for d in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError(
                "Queue shapes must have the same length as dtypes, received "
                f"len(shapes)={len(shapes)}, len(dtypes)={len(self._dtypes)}"
            )
        self._shapes = (
            [TensorShape(s) for s in shapes] if shapes is not None else [TensorShape(None)] * len(self._dtypes)
        )
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError(
                "List of names must have the same length as the list of dtypes, received "
                f"len(names)={len(names)},len(dtypes)={len(self._dtypes)}"
            )
        self._names = None if names is None else list(names)
        self._queue_ref = queue_ref
        staged = isinstance(queue_ref, SymbolicTensor)
        self._name = queue_ref.op.name.rpartition("/")[2] if staged else queue_ref.value[()].name

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """Returns the queue at a position of a list.

        Args:
            index: an integer, or a scalar integer tensor, the number of a queue.
            queues: a list of queues with the same dtypes and names.

        Raises:
            TypeError: there are none, an item is no queue, or they differ.

        Example:
            >>> a, b = (tf.queue.FIFOQueue(5, tf.int32) for _ in range(2))
            >>> b.enqueue(7)
            >>> tf.queue.QueueBase.from_list(1, [a, b]).dequeue().numpy().item()
            7
        """
        if not queues or not isinstance(queues, (list, tuple)) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [
            parts[0] if all(str(p) == str(parts[0]) for p in parts) else TensorShape(None)
            for parts in zip(*[q.shapes for q in queues], strict=True)
        ]
        refs = [q.queue_ref for q in queues]
        if state.graph is None:
            position: Any = index
            chosen = refs[int(position)]
        else:
            op = GraphOp("SelectQueue", lambda at, *handles: handles[int(at)])
            chosen = state.graph.node(op, [convert(index, int32), *refs], [(resource, [])]).outputs[0]
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    def queue_ref(self) -> Tensor:
        """A scalar tensor that stands for the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name: in a graph, the name of the operation that creates the queue."""
        return self._queue_ref.op.name if isinstance(self._queue_ref, SymbolicTensor) else self._name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components of an element."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components of an element."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components of an element, or None."""
        return self._names

    # ---- adding ------------------------------------------------------------------------------------------------------

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Adds an element; waits until there is room for it.

        Args:
            vals: the components, in a list, or alone if there is one; in a dict by their names if they have any.
            name: a string, the operation's name.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            ValueError: the components have other shapes, or are a dict where the queue has no names, or the reverse.
            CancelledError: the queue is closed.

        Example:
            >>> queue = tf.queue.FIFOQueue(2, [tf.int32, tf.string])
            >>> queue.enqueue([1, "one"])
            >>> queue.size().numpy().item()
            1
        """
        with name_scope(name or f"{self._name}_enqueue") as scope:
            components = self._components(vals)
            for component, shape in zip(components, self._shapes, strict=True):
                component.shape.assert_is_compatible_with(shape)
            return self._run("QueueEnqueueV2", components, (), scope, Tcomponents=tuple(self._dtypes))

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Adds several elements, one by one; waits until there is room for the last one.

        Args:
            vals: see `enqueue`, each component with a first dimension for the elements.
            name: a string, the operation's name.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            ValueError: the components have other shapes.
            CancelledError: the queue is closed.

        Example:
            >>> queue = tf.queue.FIFOQueue(5, tf.int32)
            >>> queue.enqueue_many([[1, 2, 3]])
            >>> queue.size().numpy().item()
            3
        """
        with name_scope(name or f"{self._name}_EnqueueMany") as scope:
            components = self._components(vals)
            count = None
            for component, shape in zip(components, self._shapes, strict=True):
                rows = component.shape.with_rank_at_least(1)
                if None not in (count, rows[0] if rows.rank else None) and count != rows[0]:
                    raise ValueError(f"Dimensions {count} and {rows[0]} are not compatible")
                count = rows[0] if rows.rank and count is None else count
                rows[1:].assert_is_compatible_with(shape)
            return self._run("QueueEnqueueManyV2", components, (), scope, Tcomponents=tuple(self._dtypes))

    def _components(self, vals: Any) -> list[Tensor]:
        """Converts the components of elements to tensors."""
        if isinstance(vals, Mapping):
            if self._names is None:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: {sorted(vals)},Queue: "
                    f"{sorted(self._names)}"
                )
            values = [vals[name] for name in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        else:
            values = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        if len(values) != len(self._dtypes):
            raise errors.InvalidArgumentError.of(
                f"An element has {len(self._dtypes)} components, and {len(values)} are given: {vals}"
            )
        components = []
        for i, (value, dtype) in enumerate(zip(values, self._dtypes, strict=True)):
            tensor = convert(value, dtype)
            if state.graph is not None and isinstance(tensor, EagerTensor) and not isinstance(value, EagerTensor):
                tensor = state.graph.constant(tensor, f"component_{i}")
            components.append(tensor)
        return components

    # ---- removing ----------------------------------------------------------------------------------------------------

    def dequeue(self, name: str | None = None) -> Any:
        """Removes an element and returns it; waits until there is one.

        Args:
            name: a string, the operation's name.

        Returns:
            The components in a list, or alone if there is one; in a dict if they have names.

        Raises:
            OutOfRangeError: the queue is closed and empty.

        Example:
            >>> queue = tf.queue.FIFOQueue(2, tf.int32)
            >>> queue.enqueue(1)
            >>> queue.dequeue().numpy().item()
            1
        """
        components = self._run("QueueDequeueV2", [], self._shapes, name or f"{self._name}_Dequeue", **self._types())
        return self._element(components)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """Removes several elements and returns them; waits until there are as many.

        Args:
            n: an int or an int32 scalar tensor, the number of elements.
            name: a string, the operation's name.

        Returns:
            As `dequeue`, each component with a first dimension `n`.

        Raises:
            OutOfRangeError: the queue is closed, and has fewer; they stay in it.
            InvalidArgumentError: the shapes of the components are not specified, or `n` is negative.

        Example:
            >>> queue = tf.queue.FIFOQueue(5, tf.int32, shapes=[[]])
            >>> queue.enqueue_many([[1, 2, 3]])
            >>> queue.dequeue_many(2).numpy().tolist()
            [1, 2]
        """
        return self._several("QueueDequeueManyV2", n, name or f"{self._name}_DequeueMany", n)

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Any:
        """Removes several elements and returns them; waits until there are as many, or fewer in a closed queue.

        Args:
            n: an int or an int32 scalar tensor, the largest number of elements.
            name: a string, the operation's name.

        Returns:
            As `dequeue_many`, with `n` elements or fewer.

        Raises:
            OutOfRangeError: the queue is closed and empty.
            InvalidArgumentError: see `dequeue_many`.

        Example:
            >>> queue = tf.queue.FIFOQueue(5, tf.int32, shapes=[[]])
            >>> queue.enqueue_many([[1, 2, 3]])
            >>> queue.close()
            >>> queue.dequeue_up_to(5).numpy().tolist()
            [1, 2, 3]
        """
        return self._several("QueueDequeueUpToV2", n, name or f"{self._name}_DequeueUpTo", None)

    def _several(self, op: str, n: Any, name: str, length: Any) -> Any:
        with name_scope(name) as scope:
            count: Any = convert(n, int32)
            if state.graph is not None and isinstance(count, EagerTensor):
                count = state.graph.constant(count, "n")
            length = length if isinstance(length, int) and length >= 0 else None
            shapes = [TensorShape([length]).concatenate(shape) for shape in self._shapes]
            return self._element(self._run(op, [count], shapes, scope, **self._types()))

    def _types(self) -> dict[str, Any]:
        return {"component_types": tuple(self._dtypes)}

    def _element(self, components: Sequence[Tensor]) -> Any:
        """Returns components as a dict, a list, or alone."""
        if self._names is not None:
            return dict(zip(self._names, components, strict=True))
        return components[0] if len(components) == 1 else list(components)

    # ---- closing -----------------------------------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Closes the queue: nothing more can be added once the pending operations have ended; elements can be removed.

        Args:
            cancel_pending_enqueues: whether to cancel operations that wait to add; False by default.
            name: a string, the operation's name.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            CancelledError: the queue is closed already.

        Example:
            >>> queue = tf.queue.FIFOQueue(2, tf.int32)
            >>> queue.close()
            >>> queue.enqueue(1)
            Traceback (most recent call last):
            tapeflow.errors.CancelledError: FIFOQueue ... is closed. [Op:QueueEnqueueV2]...
        """
        return self._run(
            "QueueCloseV2", [], (), name or f"{self._name}_Close", cancel_pending_enqueues=cancel_pending_enqueues
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        """Returns a boolean scalar: True if nothing more can be added."""
        return self._run("QueueIsClosedV2", [], [TensorShape([])], name or f"{self._name}_Is_Closed", (bool_,))[0]

    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of elements, an int32 scalar."""
        return self._run("QueueSizeV2", [], [TensorShape([])], name or f"{self._name}_Size", (int32,))[0]

    def _run(
        self, op: str, tensors: list[Any], shapes: Sequence[Any], name: str, dtypes: Any = None, **attrs: Any
    ) -> Any:
        """Runs an operation on the queue, at once or when the graph runs."""
        dtypes = self._dtypes if dtypes is None else dtypes
        if state.graph is not None:
            specs = list(zip(dtypes, shapes, strict=True)) if shapes else []
            operation = node(op, [self._queue_ref, *tensors], specs, attrs, name)
            return operation.outputs if shapes else operation
        try:
            values = KERNELS[op](self._queue_ref.value[()], *[t.value for t in tensors], **attrs)
        except errors.OpError as error:
            kind: Any = type(error)
            raise kind(None, None, f"{error.message} [Op:{op}] name: {name.rstrip('/')}") from None
        return None if values is None else [EagerTensor(v, d) for v, d in zip(values, dtypes, strict=True)]


class _Queue(QueueBase):
    """A queue with an operation or a storage of its own.

    Args:
        op: the name of the op that creates it.
        partial: accepts shapes with unknown dimensions.
        capacity, dtypes, shapes, names, shared_name, name: see `FIFOQueue`.
        **attrs: other attrs of the op.
    """

    def __init__(
        self, op: str, capacity: int, dtypes: Any, shapes: Any, names: Any, shared_name: str | None, name: str | None,
        partial: bool = False, **attrs: Any,
    ) -> None:  # fmt: skip
        attrs = {
            "component_types": _type_list(dtypes), "shapes": _shape_list(shapes, partial), "capacity": capacity,
            **attrs, "container": "", "shared_name": shared_name or "",
        }  # fmt: skip
        ref: Tensor
        if state.graph is not None:
            ref = handle_node(op, attrs, name).outputs[0]
        else:
            ref = hold_object(storage_of(op, f"_{next(_numbers)}_{name}", attrs), resource)
        super().__init__(*component_specs(op, attrs), [names] if isinstance(names, str) else names, ref)


def _type_list(dtypes: Any) -> tuple[DType, ...]:
    return tuple(as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]))


def _shape_list(shapes: Any, partial: bool) -> tuple[TensorShape, ...]:
    """Returns the shapes of components in a tuple.

    Args:
        shapes: a list of shapes, a single one, or None where they are not specified.
        partial: accepts unknown dimensions.

    Raises:
        TypeError: they are no list.
        ValueError: a shape is not fully defined, or not even its rank.
    """
    if shapes is None:
        return ()
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise TypeError(f"shapes must be a TensorShape or a list or tuple of TensorShapes, got {type(shapes)} instead.")
    if all(s is None or isinstance(s, int) for s in shapes):
        shapes = [shapes]
    result = tuple(TensorShape(s) for s in shapes)
    if not partial and not all(s.is_fully_defined() for s in result):
        raise ValueError(f"All shapes must be fully defined: {list(result)}")
    if any(s.rank is None for s in result):
        raise ValueError(f"All shapes must have a defined rank: {list(result)}")
    return result


class FIFOQueue(_Queue):
    """A queue whose elements are removed in the order of their addition.

    Args:
        capacity: an int, the largest number of elements; negative for no limit.
        dtypes: a list of the dtypes of an element's components, or the dtype of its only component.
        shapes: a list of the components' shapes; needed to remove several elements at once.
        names: a list of the components' names, for elements that are dicts; None by default.
        shared_name: a string; in a graph, queues with the same name are one queue.
        name: a string, the operation's name.

    Raises:
        ValueError: the numbers of dtypes, shapes and names differ, or a shape is not fully defined.

    Example:
        >>> queue = tf.queue.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []])
        >>> queue.enqueue_many([[1, 2], ["one", "two"]])
        >>> number, text = queue.dequeue()
        >>> number.numpy().item(), text.numpy()
        (1, b'one')
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | ShapeLike = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        super().__init__("FIFOQueueV2", capacity, dtypes, shapes, names, shared_name, name)


class RandomShuffleQueue(_Queue):
    """A queue whose elements are removed in random order.

    Args:
        capacity: an int, the largest number of elements; negative for no limit.
        min_after_dequeue: an int, the number of elements that stay to choose from until the queue is closed.
        dtypes, shapes, names, shared_name, name: see `FIFOQueue`.
        seed: an int, the seed of the random order, see `tf.random.set_seed`.

    Raises:
        InvalidArgumentError: `min_after_dequeue` is negative, or leaves no room.
        ValueError: see `FIFOQueue`.

    Example:
        >>> queue = tf.queue.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=1)
        >>> queue.enqueue_many([[1, 2, 3, 4]])
        >>> sorted(queue.dequeue_many(4).numpy().tolist())
        [1, 2, 3, 4]
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | ShapeLike = None,
        names: str | Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str | None = "random_shuffle_queue",
    ) -> None:
        seed1, seed2 = op_seeds(seed)
        super().__init__(
            "RandomShuffleQueueV2", capacity, dtypes, shapes, names, shared_name, name,
            min_after_dequeue=min_after_dequeue, seed=seed1, seed2=seed2,
        )  # fmt: skip


class PaddingFIFOQueue(_Queue):
    """A `FIFOQueue` that returns elements of different lengths at once, padded with zeros or empty strings.

    Args:
        capacity: an int, the largest number of elements; negative for no limit.
        dtypes: a list of the dtypes of an element's components.
        shapes: a list of the components' shapes, with None for lengths that may differ.
        names, shared_name, name: see `FIFOQueue`.

    Raises:
        ValueError: the numbers of dtypes, shapes and names differ, or a rank is not defined.

    Example:
        >>> queue = tf.queue.PaddingFIFOQueue(10, tf.int32, shapes=[[None]])
        >>> queue.enqueue([[1, 2, 3]])
        >>> queue.enqueue([[4]])
        >>> queue.dequeue_many(2).numpy().tolist()
        [[1, 2, 3], [4, 0, 0]]
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | ShapeLike,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "padding_fifo_queue",
    ) -> None:
        types, count = _type_list(dtypes), len(_shape_list(shapes, partial=True))
        if shapes is None:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        if len(types) != count:
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(types)} dtypes and {count} shapes."
            )
        super().__init__("PaddingFIFOQueueV2", capacity, types, shapes, names, shared_name, name, partial=True)


class PriorityQueue(_Queue):
    """A queue whose element with the smallest priority is removed first.

    Args:
        capacity: an int, the largest number of elements; negative for no limit.
        types: a list of the dtypes of an element's components, without the first component: the priority, an int64
            scalar.
        shapes: a list of the shapes of these components.
        names, shared_name, name: see `FIFOQueue`; the priority has a name, too.

    Raises:
        ValueError: see `FIFOQueue`.

    Example:
        >>> queue = tf.queue.PriorityQueue(10, tf.string, shapes=[[]])
        >>> queue.enqueue([2, "later"])
        >>> queue.enqueue([1, "first"])
        >>> queue.dequeue()[1].numpy()
        b'first'
    """

    def __init__(
        self,
        capacity: int,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | ShapeLike = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "priority_queue",
    ) -> None:
        super().__init__("PriorityQueueV2", capacity, types, shapes, names, shared_name, name)
