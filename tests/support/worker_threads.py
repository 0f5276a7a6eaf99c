"""Runs the workers of a job as threads of this process, each with a strategy of its own."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tapeflow as tf
from tapeflow.distribute import workers
from worker_processes import free_addresses

SECONDS = 60.0  # a bound for a machine that is busy, not an expectation


def resolvers(count: int, chief: bool = False) -> list[Any]:
    """Returns the resolver of each worker of a cluster of so many, of which the first may be the chief."""
    jobs = [("chief", 0)] * chief + [("worker", i) for i in range(count - chief)]
    addresses = free_addresses(count)
    spec: dict[str, list[str]] = {}
    for (job, _), address in zip(jobs, addresses, strict=True):
        spec.setdefault(job, []).append(address)
    cluster = tf.train.ClusterSpec(spec)
    return [
        tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type=job, task_id=i, rpc_layer="grpc")
        for job, i in jobs
    ]


def run_threads(calls: list[Callable[[], Any]]) -> list[Any]:
    """Returns the results of functions that run at the same time, or the errors that they raised."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(timeout=SECONDS) for future in [pool.submit(outcome, call) for call in calls]]


def run_workers_in_threads(function: Callable[[Any], Any], count: int = 2, options: Any = None, chief: bool = False):
    """Calls `function(strategy)` in each of so many workers, and returns the results or errors.

    Args:
        function: takes the worker's `MultiWorkerMirroredStrategy`.
        count: the number of workers.
        options: the `CommunicationOptions`; by default a timeout of a minute.
        chief: whether the first worker is the chief.
    """
    options = options or tf.distribute.experimental.CommunicationOptions(timeout_seconds=SECONDS)
    everyone_is_done = threading.Barrier(count)

    def work(resolver: Any) -> Any:
        try:
            return function(tf.distribute.MultiWorkerMirroredStrategy(resolver, options))
        finally:  # nobody closes a connection that others use
            everyone_is_done.wait(SECONDS)

    with fresh_groups():
        return run_threads([lambda r=r: work(r) for r in resolvers(count, chief)])


@contextlib.contextmanager
def fresh_groups() -> Iterator[None]:
    """Closes and forgets the groups of workers that a block forms."""
    before = set(workers.groups)
    try:
        yield
    finally:
        for key in set(workers.groups) - before:
            workers.groups.pop(key).close()
