"""The public `tf.test` namespace: test cases, numerical gradients, benchmarks, and the availability of devices."""

import typing as _typing

from tapeflow.core.unsupported import below as _below
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
from tapeflow.test.runner import main

__all__ = [
    "Benchmark", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient", "create_local_cluster",
    "disable_with_predicate", "experimental", "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support",
    "is_built_with_rocm", "is_built_with_xla", "is_cpu_target_available", "is_gpu_available", "main",
    "with_eager_op_as_function",
]  # fmt: skip
__dir__ = __all__.copy

if not _typing.TYPE_CHECKING:
    __getattr__ = _below("test")
