"""The public `tf.test` namespace: test cases, numerical gradients, benchmarks, and the availability of devices."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals(), "experimental")
