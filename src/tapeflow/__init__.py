"""TapeFlow: TensorFlow 2's eager runtime, in Python on ATen kernels. `import tapeflow as tf`."""

import functools as _functools
import os as _os
import sys as _sys
import typing as _typing

if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "TapeFlow needs Python's global interpreter lock, which this free-threaded Python runs without: set "
        "PYTHON_GIL=1 before it starts, or use another Python."
    )

from tapeflow.core.gc_pause import pause_collection as _paused  # isort: skip

# The objects of a program that has loaded torch itself may become garbage.
with _paused(freezes="torch" not in _sys.modules):
    from tapeflow.core import threads as _threads  # isort: skip  # first: it loads torch
    from tapeflow.core.processors import use_quota as _use_quota  # isort: skip

    from tapeflow import autodiff, bitwise, config, debugging, dtypes, errors, linalg, math, nest, nn, version
    from tapeflow.array.blocks import (
        batch_to_space,
        extract_volume_patches,
        required_space_to_batch_paddings,
        space_to_batch,
        space_to_batch_nd,
    )
    from tapeflow.array.concat_and_split import concat, parallel_stack, repeat, split, stack, tile, unstack
    from tapeflow.array.creation import (
        constant,
        convert_to_tensor,
        fill,
        ones,
        ones_like,
        range,
        register_tensor_conversion_function,
        zeros,
        zeros_like,
    )
    from tapeflow.array.dynamic_partition import dynamic_partition, dynamic_stitch
    from tapeflow.array.gathers import gather, gather_nd
    from tapeflow.array.identities import (
        check_pinned,
        group,
        guarantee_const,
        identity,
        identity_n,
        no_op,
        stop_gradient,
    )
    from tapeflow.array.identities import tuple_ as tuple
    from tapeflow.array.initializers import Constant as constant_initializer
    from tapeflow.array.initializers import Ones as ones_initializer
    from tapeflow.array.initializers import RandomNormal as random_normal_initializer
    from tapeflow.array.initializers import RandomUniform as random_uniform_initializer
    from tapeflow.array.initializers import Zeros as zeros_initializer
    from tapeflow.array.masks import boolean_mask, sequence_mask, where
    from tapeflow.array.padding import pad, reverse, reverse_sequence, roll
    from tapeflow.array.properties import (
        broadcast_dynamic_shape,
        broadcast_static_shape,
        ensure_shape,
        get_static_value,
        is_symbolic_tensor,
        is_tensor,
        rank,
        shape,
        shape_n,
        size,
    )
    from tapeflow.array.protos import make_ndarray, make_tensor_proto
    from tapeflow.array.ranges import eye, linspace, meshgrid, one_hot
    from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape, squeeze, transpose
    from tapeflow.array.scatters import (
        scatter_nd,
        tensor_scatter_nd_add,
        tensor_scatter_nd_max,
        tensor_scatter_nd_min,
        tensor_scatter_nd_sub,
        tensor_scatter_nd_update,
    )
    from tapeflow.array.slicing import slice, strided_slice
    from tapeflow.array.sorting import argsort, searchsorted, sort, unique, unique_with_counts, unravel_index
    from tapeflow.array.summaries import edit_distance, fingerprint, histogram_fixed_width, histogram_fixed_width_bins
    from tapeflow.array.tensor_text import print
    from tapeflow.autodiff import GradientTape
    from tapeflow.autodiff.custom_gradients import (
        AggregationMethod,
        custom_gradient,
        grad_pass_through,
        gradients,
        hessians,
        recompute_grad,
    )
    from tapeflow.autodiff.registered_gradients import RegisterGradient, no_gradient
    from tapeflow.autodiff.targets_and_sources import UnconnectedGradients
    from tapeflow.control.conditions_and_loops import Assert, case, cond, switch_case, while_loop
    from tapeflow.control.critical_section import CriticalSection
    from tapeflow.control.map_and_scan import foldl, foldr, map_fn, scan
    from tapeflow.control.optional import OptionalSpec
    from tapeflow.control.py_function import numpy_function, py_function
    from tapeflow.control.tensor_array import TensorArray, TensorArraySpec
    from tapeflow.core.device import device
    from tapeflow.core.device_spec import DeviceSpec
    from tapeflow.core.hooks import hooks as _hooks
    from tapeflow.core.hooks import later as _later
    from tapeflow.core.lazy_modules import load as _load_module
    from tapeflow.core.logger import get_logger
    from tapeflow.core.malloc import keep_pages as _keep_pages
    from tapeflow.core.ops.definition import load_all as _loaders_of_ops
    from tapeflow.core.public_names import publish as _publish
    from tapeflow.core.scopes import (
        control_dependencies,
        executing_eagerly,
        get_current_name_scope,
        init_scope,
        inside_function,
        name_scope,
        variable_creator_scope,
    )
    from tapeflow.core.types.dtypes import (
        DType,
        as_dtype,
        bfloat16,
        bool,
        complex64,
        complex128,
        double,
        float16,
        float32,
        float64,
        half,
        int8,
        int16,
        int32,
        int64,
        qint8,
        qint16,
        qint32,
        quint8,
        quint16,
        resource,
        string,
        uint8,
        uint16,
        uint32,
        uint64,
        variant,
    )
    from tapeflow.core.types.shape import TensorShape
    from tapeflow.core.types.spec import IndexedSlicesSpec, NoneTensorSpec, TensorSpec, TypeSpec, type_spec_from_value
    from tapeflow.core.values.indexed_slices import IndexedSlices
    from tapeflow.core.values.tensor import Tensor
    from tapeflow.core.values.variable import Variable, VariableAggregation, VariableSynchronization
    from tapeflow.debugging import assert_equal, assert_greater, assert_less, assert_rank
    from tapeflow.debugging.timestamp import timestamp
    from tapeflow.function import function
    from tapeflow.graph.graphdef.builders import load_services as _loaders_of_services
    from tapeflow.graph.ir.graph import Graph
    from tapeflow.graph.ir.operation import Operation
    from tapeflow.install import install_as_tensorflow
    from tapeflow.linalg import eig, eigvals, einsum, matmul, norm, tensordot
    from tapeflow.linalg import sqrtm as matrix_square_root
    from tapeflow.linalg.norms import clip_by_global_norm, clip_by_norm
    from tapeflow.math import (
        abs,
        acos,
        acosh,
        add,
        add_n,
        argmax,
        argmin,
        asin,
        asinh,
        atan,
        atan2,
        atanh,
        cos,
        cosh,
        cumsum,
        divide,
        equal,
        exp,
        floor,
        greater,
        greater_equal,
        less,
        less_equal,
        logical_and,
        logical_not,
        logical_or,
        maximum,
        minimum,
        multiply,
        negative,
        not_equal,
        pow,
        reduce_all,
        reduce_any,
        reduce_logsumexp,
        reduce_max,
        reduce_mean,
        reduce_min,
        reduce_prod,
        reduce_sum,
        round,
        scalar_mul,
        sigmoid,
        sign,
        sin,
        sinh,
        sqrt,
        square,
        subtract,
        tan,
        tanh,
        truediv,
    )
    from tapeflow.math import operators as _operators
    from tapeflow.math.casting import bitcast, cast, saturate_cast
    from tapeflow.math.complex import complex
    from tapeflow.math.division import realdiv, truncatediv, truncatemod
    from tapeflow.math.extrema import clip_by_value
    from tapeflow.math.topk import approx_top_k
    from tapeflow.tracking.module import Module

# `import tapeflow.x` finds the modules of `tapeflow_compat`, too: the table `_ON_FIRST_USE` and users import them so.
__path__.append(_os.path.join(_os.path.dirname(_os.path.dirname(__file__)), "tapeflow_compat"))

_keep_pages()
_use_quota()


def _specs_of_protos() -> dict[int, _typing.Any]:
    """Returns the specs of higher layers by their numbers in `TypeSpecProto.TypeSpecClass`."""
    from tapeflow.data.iterators import IteratorSpec
    from tapeflow.data.spec import DatasetSpec
    from tapeflow.ragged.spec import RaggedTensorSpec
    from tapeflow.sparse.tensor import SparseTensorSpec

    return {
        1: SparseTensorSpec, 3: RaggedTensorSpec, 4: TensorArraySpec, 5: DatasetSpec, 6: IteratorSpec, 7: OptionalSpec,
    }  # fmt: skip


def _compat_module(name: str) -> _typing.Any:
    return _load_module(f"tapeflow.{name}")


def _internal_module(fullname: str) -> _typing.Any:
    return _load_module("tapeflow.tensorflow_python").module(fullname)


_hooks.compat_module = _compat_module
_hooks.internal_module = _internal_module
_hooks.specs_of_protos = _specs_of_protos
_hooks.array_of_proto = _later("tapeflow.array.protos", "make_ndarray")
_hooks.over_parts = _later("tapeflow.experimental.batchable_extension_type", "over_parts")
_hooks.converted = _later("tapeflow.autograph.conversion", "convert_function")
_hooks.user_code = _later("tapeflow.autograph.source_map", "UserCode")
_hooks.on_slices = _later("tapeflow.control.vectorized_map", "on_slices")

__version__ = version.VERSION
__git_version__ = version.GIT_VERSION
__compiler_version__ = version.COMPILER_VERSION
newaxis = None

# What loads on first use, by its modules: namespaces, and the names at the top level that live in them.
_ON_FIRST_USE = {
    "tapeflow": [
        "audio", "autograph", "compat", "data", "distribute", "experimental", "feature_column", "graph_util", "image",
        "io", "keras", "lite", "lookup", "profiler", "quantization", "queue", "ragged", "random", "raw_ops",
        "saved_model", "sets", "signal", "sparse", "strings", "summary", "sysconfig", "test", "torch", "train", "types",
        "xla",
    ],
    "tapeflow.config.op_libraries": ["load_library", "load_op_library"],
    "tapeflow.control.batch_function": ["nondifferentiable_batch_function"],
    "tapeflow.control.vectorized_map": ["vectorized_map"],
    "tapeflow.core.unsupported": ["mlir", "tpu"],
    "tapeflow.graph.graphdef.import_graph": ["import_graph_def"],
    "tapeflow.keras": ["initializers", "losses", "metrics", "optimizers"],
    "tapeflow.nn.general_conv": ["conv", "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2"],
    "tapeflow.ragged.ragged_ops": ["ragged_fill_empty_rows", "ragged_fill_empty_rows_grad"],
    "tapeflow.ragged.spec": ["RaggedTensorSpec"],
    "tapeflow.ragged.tensor": ["RaggedTensor"],
    "tapeflow.random.permutation": ["random_index_shuffle"],
    "tapeflow.signal.fourier_ops": ["fftnd", "ifftnd", "irfftnd", "rfftnd"],
    "tapeflow.sparse.tensor": ["SparseTensor", "SparseTensorSpec"],
    "tapeflow.strings": ["as_string"],
    "tapeflow.tensorflow_python.internal": ["__internal__"],
    "tapeflow.tensorflow_python.operators": ["__operators__"],
}  # fmt: skip
_WITHOUT_OPS = frozenset({
    "compat", "distribute", "feature_column", "keras", "raw_ops", "saved_model", "tensorflow_python", "test", "torch",
    "xla",
})  # fmt: skip


@_functools.cache
def _load_all() -> None:
    """Imports the namespaces that are otherwise loaded on first use: an op was asked for by its name."""
    namespaces = [f"tapeflow.{name}" for name in _ON_FIRST_USE["tapeflow"]]
    for home in sorted({*namespaces, *_ON_FIRST_USE} - {"tapeflow"}):
        if home.split(".")[1] not in _WITHOUT_OPS:
            _load_module(home)


# What has builders for the nodes of a `GraphDef`, or ops that only `tf.raw_ops` and graphs that are read call.
_WITH_OPS_OF_GRAPHS = (
    "graph.graphdef.node_ops", "v1_graphs.optimizer_ops", "v1_graphs.savers", "lookup.table_ops", "queue.queue_ops",
    "raw_ops.superseded_ops", "raw_ops.randoms", "raw_ops.gradients", "raw_ops.handles", "data", "raw_ops.cells",
    "raw_ops.miscellaneous", "raw_ops.sparse_matrices", "raw_ops.summaries", "raw_ops.summary_protos",
    "compat.v1.session_tensors", "xla.call_module", "text",
)  # fmt: skip


@_functools.cache
def _load_services() -> None:
    """Imports the modules with builders for the nodes of a `GraphDef`, before the first `GraphDef` is read."""
    for name in _WITH_OPS_OF_GRAPHS:
        _load_module(f"tapeflow.{name}")


_loaders_of_ops.append(_load_all)
_loaders_of_services.append(_load_services)

_publish(
    globals(), "autodiff", "bitwise", "config", "debugging", "dtypes", "errors", "linalg", "math", "nest", "nn",
    "version", "__compiler_version__", "__git_version__", "__version__", later=_ON_FIRST_USE,
)  # fmt: skip
