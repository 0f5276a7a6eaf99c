"""Strategies of one process: `MirroredStrategy`, and `OneDeviceStrategy`.

Each replica runs in a thread of its own. Only one thread runs at a time: a replica runs until it waits for the others
in `merge_call`, or ends. So traces and tapes are written in order, and a variable that the first replica creates exists
when the others reach it. Replicas on GPUs overlap, since CUDA's queues are asynchronous. Replicas on logical CPUs share
the threads of each kernel.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tapeflow.autograph.conversion import convert_function
from tapeflow.core import device as devices
from tapeflow.core.context import state
from tapeflow.core.errors import NotFoundError
from tapeflow.distribute.context import move_thread, place
from tapeflow.distribute.replica_reductions import CrossDeviceOps
from tapeflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended
from tapeflow.distribute.values import regroup, select_replica
from tapeflow.distribute.variables import make_distributed
from tapeflow.function.function import Function, Options


class _Abandoned(BaseException):
    """Ends a replica that waits for others which will never come."""


class _MirroredReplicaContext(ReplicaContext):
    """The context of a replica that runs in a thread."""

    def __init__(self, strategy: Strategy, index: int, thread: _ReplicaThread) -> None:
        super().__init__(strategy, index)
        self._thread = thread

    def merge_call(self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        self._require_running()
        return self._thread.wait_for_others(merge_fn, tuple(args), kwargs or {})


class _ReplicaThread:
    """Runs one replica in a thread, whenever `advance` is called, until it waits or ends.

    It has a thread and is none, as `threading.Thread` takes more names for itself with each version of Python.
    """

    def __init__(self, strategy: Strategy, index: int, call: Callable[[], Any], variables: list[Any]) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._context = _MirroredReplicaContext(strategy, index, self)
        self._device = strategy.extended.worker_devices[index]
        self._call, self.index = call, index
        self.variables = variables  # the variables that the replicas created, in a list that all threads share
        self.variables_so_far = 0  # the number of them that this replica has come to
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._inherited = self._state_to_inherit()
        self._abandoned = False
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.merge: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None = None
        self.merged: Any = None

    def _state_to_inherit(self) -> list[tuple[Any, dict[str, Any]]]:
        """Returns the state of the thread that runs the strategy, for the replica's thread to start with."""
        from tapeflow.summary.summary_state import recording  # here, as it loads TensorBoard

        def copied(value: Any) -> Any:
            return list(value) if type(value) is list else value

        return [(local, {k: copied(v) for k, v in vars(local).items()}) for local in (state, recording)]

    def start(self) -> None:
        """Starts the thread, which waits for `advance`."""
        self._thread.start()

    def _run(self) -> None:
        self._go.acquire()
        try:
            for local, values in self._inherited:
                vars(local).update(values)
            if self.index:  # the first replica writes the summaries
                self._inherited[1][0].in_replica = False
            if not self._abandoned:
                with self._context, devices.device(self._device):
                    self.result = self._call()
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            self._stopped.release()

    def advance(self) -> None:
        """Runs the replica until it waits or ends."""
        self.merge = None
        self._go.release()
        self._stopped.acquire()

    def wait_for_others(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Hands over a `merge_call` of the replica, and returns this replica's part of the result."""
        self.merge = function, args, kwargs
        self._stopped.release()
        self._go.acquire()
        if self._abandoned:
            raise _Abandoned
        return select_replica(self.index, self.merged)

    def abandon(self) -> None:
        """Ends the thread, wherever it waits."""
        if not self.done:
            self._abandoned = True
            self._go.release()
        if self._thread.ident is not None:  # it has started
            self._thread.join()


def _run_replicas(strategy: Strategy, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs all replicas, from one `merge_call` to the next, and returns their results regrouped."""
    variables: list[Any] = []

    def call(index: int) -> Callable[[], Any]:
        return lambda: fn(*select_replica(index, args), **select_replica(index, kwargs))

    threads = [_ReplicaThread(strategy, i, call(i), variables) for i in range(len(strategy.extended.worker_devices))]
    try:
        for thread in threads:
            thread.start()
        while not all(t.done for t in threads):
            for thread in threads:
                thread.advance()
                if thread.error is not None:
                    raise thread.error
            if any(t.done for t in threads) and not all(t.done for t in threads):
                raise RuntimeError("Some replicas made a different number of replica_context().merge_call() calls.")
            if not threads[0].done:
                _run_merge_calls(strategy, threads)
    finally:
        for thread in threads:
            thread.abandon()
    return regroup([t.result for t in threads])


def _run_merge_calls(strategy: Strategy, threads: Sequence[_ReplicaThread]) -> None:
    calls = [t.merge for t in threads if t.merge is not None]
    function = calls[0][0]
    merged_args = regroup([args for _, args, _ in calls])
    merged_kwargs = regroup([kwargs for _, _, kwargs in calls])
    with move_thread(strategy, None):
        merged = function(strategy, *merged_args, **merged_kwargs)
    for thread in threads:
        thread.merged = merged


class MirroredExtended(StrategyExtended):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._functions: weakref.WeakKeyDictionary[Function, Function] = weakref.WeakKeyDictionary()

    def _make_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        thread = getattr(place.replica, "_thread", None)
        if thread is None:
            return self._create_variable(next_creator, kwargs)
        # The first replica creates the variable, and the others get the same one.
        if thread.variables_so_far == len(thread.variables):
            with devices.device(None):
                thread.variables.append(self._create_variable(next_creator, kwargs))
        thread.variables_so_far += 1
        return thread.variables[thread.variables_so_far - 1]

    def _create_variable(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
        return make_distributed(self._strategy, next_creator, kwargs)

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if len(self._devices) == 1:
            return super()._call_for_each_replica(fn, args, kwargs)
        if isinstance(fn, Function):
            return self._as_one_function(fn)(tuple(args), kwargs)
        return _run_replicas(self._strategy, fn, tuple(args), kwargs)

    def _as_one_function(self, fn: Function) -> Function:
        """Returns a `tf.function` that runs all replicas of a function: one trace then holds their `merge_call`s."""
        whole = self._functions.get(fn)
        if whole is None:
            wrapped = weakref.ref(fn)

            def run_replicas(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                function: Any = wrapped()
                call = function.python_function
                call = convert_function(call) if function._options.autograph else call
                return _run_replicas(self._strategy, call, args, kwargs)

            whole = self._functions[fn] = Function(run_replicas, Options(autograph=False))
        return whole


def full_name(name: str) -> str:
    """Returns the full name of a device."""
    spec = devices.DeviceSpec.from_string(name)
    return f"{devices.PREFIX}{spec.device_type or 'CPU'}:{spec.device_index or 0}"


def default_devices() -> list[str]:
    """Returns the names of all GPUs, or of all CPUs where there are no GPUs."""
    logical = devices.logical_devices()
    return [d.name for d in logical if d.kind == "GPU"] or [d.name for d in logical]


class MirroredStrategy(Strategy):
    """Trains on several devices of one process together: each has a copy of every variable, and a part of every batch.

    Args:
        devices: the names of the devices; by default all GPUs, or all logical CPUs where there are no GPUs.
        cross_device_ops: a `tf.distribute.CrossDeviceOps`, which reduces their values.

    Raises:
        AssertionError: a device is named twice.
        ValueError: a name is not a device's, or `devices` is a string.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> strategy.run(lambda: v * 2.0).numpy().item()
        2.0
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: CrossDeviceOps | None = None) -> None:
        if isinstance(devices, str):
            raise ValueError(f"`devices` is a list of names, not the string {devices!r}")
        names = tuple(full_name(d) for d in devices) if devices else tuple(default_devices())
        if len(set(names)) != len(names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
        super().__init__(MirroredExtended(self, names, cross_device_ops))


class TPUStrategy(Strategy):
    """A strategy for TPUs, which TapeFlow has no kernels for; programs may test whether a strategy is one.

    Raises:
        NotFoundError: always.

    Example:
        >>> isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy)
        False
    """

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        raise NotFoundError.of(
            "tf.distribute.TPUStrategy found no TPU: TapeFlow runs on CPUs and GPUs. Use "
            "tf.distribute.MirroredStrategy or tf.distribute.OneDeviceStrategy."
        )


class OneDeviceStrategy(Strategy):
    """Runs on one device, and puts variables there.

    Args:
        device: the name of the device.

    Raises:
        ValueError: `device` is not a device's name.

    Example:
        >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> strategy.run(lambda: v + 1.0).numpy().item()
        2.0
    """

    def __init__(self, device: str) -> None:
        super().__init__(_OneDeviceExtended(self, (full_name(device),)))


class _OneDeviceExtended(StrategyExtended):
    def _make_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        with self._on_device(0):
            return super()._make_variable(next_creator, **kwargs)

    def _on_device(self, index: int) -> AbstractContextManager[Any]:
        return devices.device(self._devices[0])
