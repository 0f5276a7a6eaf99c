"""Counts and times of requests, by the names that TensorFlow Serving gives them, in Prometheus's format."""

from __future__ import annotations

import bisect
from collections import Counter

_BOUNDS = [10 * 1.8**i for i in range(33)]  # microseconds: from 10 to about 20 minutes
STATUSES = {
    200: "OK", 400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL",
    501: "UNIMPLEMENTED", 503: "UNAVAILABLE",
}  # fmt: skip


class Metrics:
    """Counts requests by models and statuses, and the times of those that succeeded.

    Example:
        >>> from tapeflow.serving.metrics import Metrics
        >>> metrics = Metrics()
        >>> metrics.record("digits", "Predict", "REST", 404, 0.002)
        >>> print(metrics.text().splitlines()[1])
        :tensorflow:serving:request_count{model_name="digits",status="NOT_FOUND"} 1
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str]] = Counter()
        self._histograms: dict[tuple[str, str, str], list[int]] = {}
        self._microseconds: Counter[tuple[str, str, str]] = Counter()

    def record(self, model: str, method: str, entrypoint: str, status: int, seconds: float) -> None:
        """Adds a request.

        Args:
            model: the model's name.
            method: such as "Predict".
            entrypoint: "REST" or "GRPC".
            status: the status of HTTP.
            seconds: how long the answer took.
        """
        self._requests[model, STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "UNKNOWN")] += 1
        if status == 200:
            key, microseconds = (model, method, entrypoint), seconds * 1e6
            counts = self._histograms.setdefault(key, [0] * (len(_BOUNDS) + 1))
            counts[bisect.bisect_left(_BOUNDS, microseconds)] += 1
            self._microseconds[key] += round(microseconds)

    def text(self) -> str:
        """Returns all counts in Prometheus's format."""
        lines = ["# TYPE :tensorflow:serving:request_count counter"]
        for (model, status), count in sorted(self._requests.items()):
            labels = f'model_name="{_escape_label(model)}",status="{status}"'
            lines.append(f":tensorflow:serving:request_count{{{labels}}} {count}")
        name = ":tensorflow:serving:request_latency"
        lines.append(f"# TYPE {name} histogram")
        for key, counts in sorted(self._histograms.items()):
            model, method, entrypoint = key
            labels = f'model_name="{_escape_label(model)}",API="{method}",entrypoint="{entrypoint}"'
            total = 0
            for bound, count in zip([*map("{:g}".format, _BOUNDS), "+Inf"], counts, strict=True):
                total += count
                lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {total}')
            lines.append(f"{name}_sum{{{labels}}} {self._microseconds[key]}")
            lines.append(f"{name}_count{{{labels}}} {total}")
        return "\n".join(lines) + "\n"


def _escape_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
