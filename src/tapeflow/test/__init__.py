"""The public `tf.test` namespace: test cases, numerical gradients, benchmarks, and the availability of devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl.testing import absltest

from tapeflow.binaries import below
from tapeflow.test import experimental
from tapeflow.test.availability import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_cpu_target_available,
    is_gpu_available,
)
from tapeflow.test.benchmark import Benchmark, benchmark_config, run_requested
from tapeflow.test.case import TestCase
from tapeflow.test.decorators import disable_with_predicate, with_eager_op_as_function
from tapeflow.test.gradients import compute_gradient
from tapeflow.test.graph_defs import assert_equal_graph_def

__all__ = [
    "Benchmark", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient", "disable_with_predicate",
    "experimental", "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm",
    "is_built_with_xla", "is_cpu_target_available", "is_gpu_available", "main", "with_eager_op_as_function",
]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the program, or, with `--benchmarks=PATTERN`, the benchmarks that match.

    Args:
        argv: the command line; by default `sys.argv`.

    Returns:
        None; tests end the process.

    Example:
        >>> tf.test.main()  # doctest: +SKIP
    """
    if not run_requested(argv):
        absltest.main(argv=argv)


if not TYPE_CHECKING:
    __getattr__ = below("test")
