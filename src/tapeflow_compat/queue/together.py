"""Runs of a session in which some operations wait for others on the same queue.

A session runs operations one after the other, in the order of the graph. If one waited for a queue, all others would
wait too, even the operations that it waits for. If this may happen, operations on queues have threads of their own, as
all operations have in TensorFlow. Operations that need not wait still run in the order of the graph.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.fork_locks import new_event
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import Operation, reachable
from tapeflow_compat.queue.waits import limit, observed, time_limit
from tapeflow_compat.v1_graphs.partial_runs import PartialRun

# Operations on queues that may wait, and the position of the queue among their inputs.
_ADDING = {"QueueEnqueueV2": 0, "QueueEnqueueManyV2": 0, "QueueCloseV2": 0}
_DEQUEUING = {
    "QueueDequeueV2": 0, "QueueDequeueManyV2": 0, "QueueDequeueUpToV2": 0, "ReaderReadV2": 1, "ReaderReadUpToV2": 1,
}  # fmt: skip
_WAITING = {*_ADDING, *_DEQUEUING}


class RunTogether:
    """A part of a graph, as a function of raw values that may wait for itself.

    Args:
        inputs: the tensors that are fed.
        outputs: the tensors that it returns.
        effects: operations that must run too.
        resources: from a variable to its value in this run.
    """

    def __init__(
        self,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Sequence[Operation],
        resources: Callable[[Any], Any],
    ) -> None:
        self._inputs, self._outputs, self._effects, self._resources = inputs, outputs, effects, resources

    def needed(self) -> bool:
        """Returns True if an operation takes from a queue and an independent one adds to it."""
        operations = reachable([*(t.op for t in self._outputs), *self._effects], {id(t) for t in self._inputs})
        dequeuing = [(o, o.inputs[_DEQUEUING[o.type]]) for o in operations if o.type in _DEQUEUING]
        adding = [(o, o.inputs[_ADDING[o.type]]) for o in operations if o.type in _ADDING]
        return any(
            takes is adds and taker not in reachable([adder]) and adder not in reachable([taker])
            for taker, takes in dequeuing
            for adder, adds in adding
        )

    def __call__(self, *values: Any) -> list[Any]:
        """Runs the operations on the values of the tensors that are fed."""
        fed = {id(t): value for t, value in zip(self._inputs, values, strict=True)}
        return _Run(self._resources).resume(fed, [*self._outputs, *self._effects])[: len(self._outputs)]


class _Run(PartialRun):
    """A run with a thread for each operation that may wait."""

    def resume(self, fed: dict[int, Any], fetches: Sequence[Any]) -> list[Any]:
        """Returns the values of tensors, and None for operations; `fed` holds values by the ids of tensors."""
        self._values.update(fed)
        left = self._missing(fetches)
        self._ended: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        self._stopped = new_event()
        threads: list[threading.Thread] = []
        ended = 0
        try:
            while left or ended < len(threads):
                ready = next((o for o in left if self._is_ready(o)), None)
                if ready is None:
                    error = self._ended.get()
                    ended += 1
                    if error is not None:
                        raise error
                    continue
                left.remove(ready)
                if ready.type in _WAITING:
                    threads.append(self._started(ready))
                else:
                    self._run(ready)
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()
        return [self._values[id(f)] if isinstance(f, SymbolicTensor) else None for f in fetches]

    def _is_ready(self, operation: Operation) -> bool:
        return all(id(t) in self._values for t in operation.inputs) and all(
            id(c) in self._done for c in operation._control_inputs
        )

    def _started(self, operation: Operation) -> threading.Thread:
        """Starts a thread that runs an operation; returns it when the operation has ended or begun to wait."""
        onward = new_event()
        seconds = limit()

        def work() -> None:
            error = None
            try:
                with time_limit(seconds), observed(onward.set, self._stopped):
                    self._run(operation)
            except Exception as raised:
                error = raised
            self._ended.put(error)
            onward.set()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        onward.wait()
        return thread
