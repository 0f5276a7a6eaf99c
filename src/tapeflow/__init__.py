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

if _typing.TYPE_CHECKING:  # loaded when they are first used, see `_ON_FIRST_USE`
    from keras import initializers, losses, metrics, optimizers

    from tapeflow import (
        audio,
        autograph,
        compat,
        data,
        distribute,
        experimental,
        feature_column,
        graph_util,
        image,
        io,
        keras,
        lookup,
        profiler,
        quantization,
        queue,
        ragged,
        random,
        raw_ops,
        saved_model,
        sets,
        signal,
        sparse,
        strings,
        summary,
        sysconfig,
        test,
        train,
        types,
        xla,
    )
    from tapeflow.control.batch_function import nondifferentiable_batch_function
    from tapeflow.control.vectorized_map import vectorized_map
    from tapeflow.graph.graphdef.import_graph import import_graph_def
    from tapeflow.nn.general_conv import conv, conv2d_backprop_filter_v2, conv2d_backprop_input_v2
    from tapeflow.ragged.ragged_ops import ragged_fill_empty_rows, ragged_fill_empty_rows_grad
    from tapeflow.ragged.spec import RaggedTensorSpec
    from tapeflow.ragged.tensor import RaggedTensor
    from tapeflow.random.permutation import random_index_shuffle
    from tapeflow.signal.fourier_ops import fftnd, ifftnd, irfftnd, rfftnd
    from tapeflow.sparse.tensor import SparseTensor, SparseTensorSpec
    from tapeflow.strings import as_string

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
_hooks.over_parts = _later("tapeflow.experimental.batchable_extension_type", "over_parts")
_hooks.converted = _later("tapeflow.autograph.conversion", "convert_function")
_hooks.user_code = _later("tapeflow.autograph.source_map", "UserCode")
_hooks.on_slices = _later("tapeflow.control.vectorized_map", "on_slices")

__version__ = version.VERSION
__git_version__ = version.GIT_VERSION
__compiler_version__ = version.COMPILER_VERSION
newaxis = None

# What is loaded when it is first asked for: namespaces, and the names at the top level that live in them.
_ON_FIRST_USE = {
    "__internal__": "tapeflow.tensorflow_python.internal",
    "__operators__": "tapeflow.tensorflow_python.operators",
    "RaggedTensor": "tapeflow.ragged.tensor",
    "RaggedTensorSpec": "tapeflow.ragged.spec",
    "SparseTensor": "tapeflow.sparse.tensor",
    "SparseTensorSpec": "tapeflow.sparse.tensor",
    "as_string": "tapeflow.strings",
    "audio": "tapeflow.audio",
    "autograph": "tapeflow.autograph",
    "compat": "tapeflow.compat",
    "conv": "tapeflow.nn.general_conv",
    "conv2d_backprop_filter_v2": "tapeflow.nn.general_conv",
    "conv2d_backprop_input_v2": "tapeflow.nn.general_conv",
    "experimental": "tapeflow.experimental",
    "distribute": "tapeflow.distribute",
    "data": "tapeflow.data",
    "feature_column": "tapeflow.feature_column",
    "fftnd": "tapeflow.signal.fourier_ops",
    "graph_util": "tapeflow.graph_util",
    "ifftnd": "tapeflow.signal.fourier_ops",
    "image": "tapeflow.image",
    "import_graph_def": "tapeflow.graph.graphdef.import_graph",
    "initializers": "tapeflow.keras",
    "io": "tapeflow.io",
    "irfftnd": "tapeflow.signal.fourier_ops",
    "keras": "tapeflow.keras",
    "lite": "tapeflow.lite",
    "load_library": "tapeflow.config.op_libraries",
    "load_op_library": "tapeflow.config.op_libraries",
    "lookup": "tapeflow.lookup",
    "losses": "tapeflow.keras",
    "metrics": "tapeflow.keras",
    "mlir": "tapeflow.core.unsupported",
    "nondifferentiable_batch_function": "tapeflow.control.batch_function",
    "optimizers": "tapeflow.keras",
    "profiler": "tapeflow.profiler",
    "quantization": "tapeflow.quantization",
    "queue": "tapeflow.queue",
    "ragged": "tapeflow.ragged",
    "random": "tapeflow.random",
    "random_index_shuffle": "tapeflow.random.permutation",
    "raw_ops": "tapeflow.raw_ops",
    "ragged_fill_empty_rows": "tapeflow.ragged.ragged_ops",
    "ragged_fill_empty_rows_grad": "tapeflow.ragged.ragged_ops",
    "rfftnd": "tapeflow.signal.fourier_ops",
    "saved_model": "tapeflow.saved_model",
    "sets": "tapeflow.sets",
    "signal": "tapeflow.signal",
    "sparse": "tapeflow.sparse",
    "strings": "tapeflow.strings",
    "torch": "tapeflow.torch",
    "train": "tapeflow.train",
    "summary": "tapeflow.summary",
    "sysconfig": "tapeflow.sysconfig",
    "test": "tapeflow.test",
    "tpu": "tapeflow.core.unsupported",
    "types": "tapeflow.types",
    "vectorized_map": "tapeflow.control.vectorized_map",
    "xla": "tapeflow.xla",
}


_WITHOUT_OPS = frozenset({
    "compat", "distribute", "feature_column", "keras", "raw_ops", "saved_model", "tensorflow_python", "test", "torch",
    "xla",
})  # fmt: skip


@_functools.cache
def _load_all() -> None:
    """Imports the namespaces that are otherwise loaded on first use: an op was asked for by its name."""
    for home in sorted(set(_ON_FIRST_USE.values())):
        if home.split(".")[1] not in _WITHOUT_OPS:
            _load_module(home)


# What has builders for the nodes of a `GraphDef`, or ops that only `tf.raw_ops` and graphs that are read call.
_WITH_OPS_OF_GRAPHS = (
    "graph.graphdef.node_ops", "v1_graphs.optimizer_ops", "lookup.table_ops", "queue.queue_ops",
    "train.checkpoint_ops", "raw_ops.superseded_ops", "raw_ops.randoms", "raw_ops.gradients", "raw_ops.handles",
    "data", "raw_ops.cells", "raw_ops.miscellaneous", "raw_ops.sparse_matrices", "raw_ops.summaries",
    "raw_ops.summary_protos", "compat.v1.session_tensors", "xla.call_module", "text",
)  # fmt: skip


@_functools.cache
def _load_services() -> None:
    """Imports the modules with builders for the nodes of a `GraphDef`, before the first `GraphDef` is read."""
    for name in _WITH_OPS_OF_GRAPHS:
        _load_module(f"tapeflow.{name}")


_loaders_of_ops.append(_load_all)
_loaders_of_services.append(_load_services)


def _load_on_first_use(name: str) -> _typing.Any:
    """Loads a name of `_ON_FIRST_USE` when it is first used."""
    home = _ON_FIRST_USE.get(name)
    if home is None:
        raise AttributeError(f"module 'tapeflow' has no attribute {name!r}")
    module = _load_module(home)
    value = module if home == f"tapeflow.{name}" or name.startswith("__") else getattr(module, name)
    globals()[name] = value
    return value


if not _typing.TYPE_CHECKING:  # a name that is not there is an error to a type checker
    __getattr__ = _load_on_first_use


__all__ = [
    "AggregationMethod", "Assert", "CriticalSection", "DType", "DeviceSpec", "GradientTape", "Graph", "IndexedSlices",
    "IndexedSlicesSpec", "Module", "NoneTensorSpec", "Operation", "OptionalSpec", "RaggedTensor", "RaggedTensorSpec",
    "RegisterGradient", "SparseTensor", "SparseTensorSpec", "Tensor", "TensorArray", "TensorArraySpec", "TensorShape",
    "TensorSpec", "TypeSpec", "UnconnectedGradients", "Variable", "VariableAggregation", "VariableSynchronization",
    "__compiler_version__", "__git_version__", "__version__", "abs", "acos", "acosh", "add", "add_n", "approx_top_k",
    "argmax", "argmin", "argsort", "as_dtype", "as_string", "asin", "asinh", "assert_equal", "assert_greater",
    "assert_less", "assert_rank", "atan", "atan2", "atanh", "audio", "autodiff", "autograph", "batch_to_space",
    "bfloat16", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape", "broadcast_static_shape",
    "broadcast_to", "case", "cast", "check_pinned", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "compat",
    "complex", "complex64", "complex128", "concat", "cond", "config", "constant", "constant_initializer",
    "control_dependencies", "conv", "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2", "convert_to_tensor", "cos",
    "cosh", "cumsum", "custom_gradient", "data", "debugging", "device", "distribute", "divide", "double", "dtypes",
    "dynamic_partition", "dynamic_stitch", "edit_distance", "eig", "eigvals", "einsum", "ensure_shape", "equal",
    "errors", "executing_eagerly", "exp", "expand_dims", "experimental", "extract_volume_patches", "eye",
    "feature_column", "fftnd", "fill", "fingerprint", "float16", "float32", "float64", "floor", "foldl", "foldr",
    "function", "gather", "gather_nd", "get_current_name_scope", "get_logger", "get_static_value", "grad_pass_through",
    "gradients", "graph_util", "greater", "greater_equal", "group", "guarantee_const", "half", "hessians",
    "histogram_fixed_width", "histogram_fixed_width_bins", "identity", "identity_n", "ifftnd", "image",
    "import_graph_def", "init_scope", "initializers", "inside_function", "install_as_tensorflow", "int8", "int16",
    "int32", "int64", "io", "irfftnd", "is_symbolic_tensor", "is_tensor", "keras", "less", "less_equal", "linalg",
    "linspace", "lite", "load_library", "load_op_library", "logical_and", "logical_not", "logical_or", "lookup",
    "losses", "make_ndarray", "make_tensor_proto", "map_fn", "math", "matmul", "matrix_square_root", "maximum",
    "meshgrid", "metrics", "minimum", "mlir", "multiply", "name_scope", "negative", "nest", "newaxis", "nn",
    "no_gradient", "no_op", "nondifferentiable_batch_function", "norm", "not_equal", "numpy_function", "one_hot",
    "ones", "ones_initializer", "ones_like", "optimizers", "pad", "parallel_stack", "pow", "print", "profiler",
    "py_function", "qint8", "qint16", "qint32", "quantization", "queue", "quint8", "quint16", "ragged",
    "ragged_fill_empty_rows", "ragged_fill_empty_rows_grad", "random", "random_index_shuffle",
    "random_normal_initializer", "random_uniform_initializer", "range", "rank", "raw_ops", "realdiv", "recompute_grad",
    "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "register_tensor_conversion_function", "repeat", "required_space_to_batch_paddings", "reshape",
    "resource", "reverse", "reverse_sequence", "rfftnd", "roll", "round", "saturate_cast", "saved_model", "scalar_mul",
    "scan", "scatter_nd", "searchsorted", "sequence_mask", "sets", "shape", "shape_n", "sigmoid", "sign", "signal",
    "sin", "sinh", "size", "slice", "sort", "space_to_batch", "space_to_batch_nd", "sparse", "split", "sqrt", "square",
    "squeeze", "stack", "stop_gradient", "strided_slice", "string", "strings", "subtract", "summary", "switch_case",
    "sysconfig", "tan", "tanh", "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensordot", "test", "tile", "timestamp", "torch", "tpu",
    "train", "transpose", "truediv", "truncatediv", "truncatemod", "tuple", "type_spec_from_value", "types", "uint8",
    "uint16", "uint32", "uint64", "unique", "unique_with_counts", "unravel_index", "unstack", "variable_creator_scope",
    "variant", "vectorized_map", "version", "where", "while_loop", "xla", "zeros", "zeros_initializer", "zeros_like",
]  # fmt: skip
__dir__ = __all__.copy
