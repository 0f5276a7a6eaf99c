# Written by `scripts/record.py stubs`.
from typing import Any
from tapeflow.test.benchmark import Benchmark as Benchmark
from tapeflow.test.case import TestCase as TestCase
from tapeflow.test.graph_defs import assert_equal_graph_def as assert_equal_graph_def
from tapeflow.test.benchmark import benchmark_config as benchmark_config
from tapeflow.test.gradients import compute_gradient as compute_gradient
create_local_cluster: Any
from tapeflow.test.decorators import disable_with_predicate as disable_with_predicate
from tapeflow.test import experimental as experimental
from tapeflow.test.availability import gpu_device_name as gpu_device_name
from tapeflow.test.availability import is_built_with_cuda as is_built_with_cuda
from tapeflow.test.availability import is_built_with_gpu_support as is_built_with_gpu_support
from tapeflow.test.availability import is_built_with_rocm as is_built_with_rocm
from tapeflow.test.availability import is_built_with_xla as is_built_with_xla
from tapeflow.test.availability import is_cpu_target_available as is_cpu_target_available
from tapeflow.test.availability import is_gpu_available as is_gpu_available
from tapeflow.test.runner import main as main
from tapeflow.test.decorators import with_eager_op_as_function as with_eager_op_as_function
