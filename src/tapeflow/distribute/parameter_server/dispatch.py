"""The worker that this thread prepares something for, and its number in functions."""

from __future__ import annotations

import threading
from typing import Any

from tapeflow.core.context import override, state
from tapeflow.distribute.parameter_server.remote_functions import WORKER_INDEX

_MESSAGE = (
    "Cannot retrieve the worker index. `get_worker_idx_and_num_workers` should be called from within a tf.function "
    "being executed on a worker. This method should only be called from either a dataset_fn that is passed into "
    "`ClusterCoordinator.create_per_worker_dataset`, or a tf.function that is passed into "
    "`ClusterCoordinator.schedule`."
)


class _Dispatch(threading.local):
    worker: int | None = None  # the number of the worker


dispatch = _Dispatch()


def dispatching(worker: int) -> override:
    """Sets the worker for which this thread prepares arguments."""
    return override(dispatch, worker=worker)


def experimental_get_current_worker_index() -> Any:
    """Returns the number of the worker that a function runs on.

    Returns:
        An int64 scalar in a function for `ClusterCoordinator.schedule`; an int in a function that creates a dataset for
        `ClusterCoordinator.create_per_worker_dataset`.

    Raises:
        RuntimeError: it is called elsewhere.

    Example:
        >>> tf.distribute.coordinator.experimental_get_current_worker_index()
        Traceback (most recent call last):
        ...
        RuntimeError: Cannot retrieve the worker index...
    """
    if dispatch.worker is not None:
        return dispatch.worker
    if state.graph is None or not state.graph.building_function:
        raise RuntimeError(_MESSAGE)
    return state.graph.capture(WORKER_INDEX)
