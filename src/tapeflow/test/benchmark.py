"""`tf.test.Benchmark`: measurements, and reports of them."""

from __future__ import annotations

import inspect
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from tapeflow.core.logger import get_logger
from tapeflow.core.protos import BenchmarkEntries
from tapeflow.test.case import TestCase

_kinds: list[type[Benchmark]] = []


class Benchmark:
    """A class whose methods named `benchmark...` measure something and call `report_benchmark`.

    In a program that ends with `tf.test.main()`, `python program.py --benchmarks=PATTERN` runs the matching benchmarks.
    With the environment variable `TEST_REPORT_FILE_PREFIX`, every report is also written to a file, as TensorFlow's
    `BenchmarkEntries` message. The name of the file begins with the variable's value.

    Example:
        >>> class SumBenchmark(tf.test.Benchmark):
        ...     def benchmark_sum(self):
        ...         self.report_benchmark(iters=10, wall_time=0.25)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _kinds.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Returns True if the class has no benchmarks."""
        return not any(name.startswith("benchmark") and callable(getattr(cls, name)) for name in dir(cls))

    def _get_name(self, overwrite_name: str | None = None) -> str:
        """Returns `Class.method` of the running benchmark."""
        if overwrite_name is None:
            frames = (info.frame for info in inspect.stack(0))
            own = (f.f_code.co_name for f in frames if f.f_locals.get("self") is self)
            overwrite_name = next((name for name in own if name.startswith("benchmark")), "_get_name")
        return f"{type(self).__name__}.{overwrite_name}"

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Reports a measurement.

        Args:
            iters: the number of runs.
            cpu_time: the CPU seconds of a run.
            wall_time: the seconds of a run.
            throughput: MB per second.
            extras: other numbers and strings, by name.
            name: a name in the place of the method's.
            metrics: dicts with `name`, `value`, and optionally `min_value` and `max_value`.

        Raises:
            TypeError: a metric is not a dict.
            OSError: there is a report of that name already.
        """
        full_name = self._get_name(name)
        times = {"cpu_time": cpu_time, "wall_time": wall_time}
        fields: dict[str, Any] = {"iters": iters, **times, "throughput": throughput}
        values = {field: value for field, value in fields.items() if value is not None}
        shown = ", ".join(f"{field}: {value}" for field, value in {**values, **(extras or {})}.items())
        get_logger().info("Benchmark [%s] %s", full_name, shown)
        for metric in metrics or ():
            if not isinstance(metric, dict):
                raise TypeError(f"a metric is a dict with a name and a value, not {metric!r}.")
        prefix = os.environ.get("TEST_REPORT_FILE_PREFIX")
        if prefix:
            path = prefix + full_name.replace("/", "__")
            if os.path.exists(path):
                raise OSError(f"There is a report of {full_name} already: {path}.")
            with open(path, "wb") as file:
                file.write(_report_entries(full_name, values, extras or {}, metrics or []).SerializeToString())

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Runs an operation of a session often, and reports the median of the times.

        Args:
            sess: the session.
            op_or_tensor: the operation, or a tensor of it.
            feed_dict: the feeds of the session.
            burn_iters: the number of runs before the measurement.
            min_iters: the number of measured runs.
            store_trace: not supported.
            store_memory_usage: accepted, and without effect.
            name: a name in the place of the method's.
            extras: other numbers and strings for the report, by name.
            mbs: the MB that a run moves, for the throughput.

        Returns:
            The report as a dict.

        Raises:
            NotImplementedError: `store_trace` is true.
        """
        if store_trace:
            raise NotImplementedError("TapeFlow records no traces of sessions: leave store_trace=False.")
        fetched = getattr(op_or_tensor, "op", op_or_tensor)  # the operation: its value need not be copied out
        for _ in range(burn_iters):
            sess.run(fetched, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(fetched, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        median = float(np.median(times))
        throughput = mbs / median if mbs else None
        spread: dict[str, Any] = {"wall_time_mean": float(np.mean(times)), "wall_time_stdev": float(np.std(times))}
        report: dict[str, Any] = {"iters": min_iters, "wall_time": median, "throughput": throughput, "name": name}
        report["extras"] = {**spread, **(extras or {})}
        self.report_benchmark(**report)
        return {**report, "name": self._get_name(name)}

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of a nest of tensors, as arrays.

        Args:
            tensors: a nest of tensors.

        Raises:
            ValueError: a value is not a tensor.
        """
        return TestCase("evaluate").evaluate(tensors)


def benchmark_config() -> ConfigProto:
    """Returns the configuration of sessions for measurements.

    Returns:
        A `ConfigProto` with the optimization of dependencies turned off.

    Example:
        >>> type(tf.test.benchmark_config()).__name__
        'ConfigProto'
    """
    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = RewriterConfig.OFF
    return config


def run_requested(argv: Sequence[str] | None) -> bool:
    """Runs the benchmarks that `--benchmarks=PATTERN` selects; returns False if there is no such argument."""
    arguments = sys.argv if argv is None else argv
    pattern = next((a.partition("=")[2] for a in arguments[1:] if re.match("--?benchmarks=", a)), None)
    if not pattern:
        return False
    for kind in _kinds:
        for name in [] if kind.is_abstract() else dir(kind):
            full_name = f"{kind.__module__}.{kind.__name__}.{name}"
            if name.startswith("benchmark") and (pattern == "all" or re.search(pattern, full_name)):
                getattr(kind(), name)()
    return True


def _report_entries(name: str, values: dict[str, Any], extras: dict[str, Any], metrics: list[dict[str, Any]]) -> Any:
    """Returns a report as a message."""
    report = BenchmarkEntries()
    entry = report.entry.add(name=name, **values)
    for key, value in extras.items():
        if isinstance(value, str):
            entry.extras[key].string_value = value
        else:
            entry.extras[key].double_value = float(value)
    for metric in metrics:
        new = entry.metrics.add(name=metric["name"], value=metric["value"])
        for bound in ("min_value", "max_value"):
            if metric.get(bound) is not None:
                getattr(new, bound).value = metric[bound]
    return report
