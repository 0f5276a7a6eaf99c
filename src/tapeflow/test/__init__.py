"""The public `tf.test` namespace: test cases, numerical gradients, benchmarks, and what this installation can do."""

from __future__ import annotations

from typing import Any

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
from tapeflow.test.benchmark import Benchmark, benchmark_config
from tapeflow.test.case import TestCase
from tapeflow.test.decorators import disable_with_predicate, with_eager_op_as_function
from tapeflow.test.gradients import compute_gradient
from tapeflow.test.graph_defs import assert_equal_graph_def


def main(argv: Any = None) -> None:
    """Runs the tests of the program, or, with `--benchmarks=PATTERN`, those of its benchmarks that match.

    Args:
        argv: the command line, instead of `sys.argv`.

    Example:
        >>> tf.test.main()  # doctest: +SKIP
    """
    from tapeflow.test.benchmark import run_asked

    if not run_asked(argv):
        from absl.testing import absltest

        absltest.main(argv=argv)
