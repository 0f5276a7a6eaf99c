"""The public `tf.compat.v1` namespace: the names of TensorFlow 1 that libraries still use."""

from __future__ import annotations

from typing import Any

from tapeflow.core.lazy_modules import load
from tapeflow.core.types.dimension import Dimension
from tapeflow.core.values.variable import VariableAggregation
from tapeflow.version import COMPILER_VERSION, GIT_VERSION, GRAPH_DEF_VERSION, VERSION
from tapeflow_compat.compat.v1 import aliases, initializers, io, names
from tapeflow_compat.compat.v1.arithmetic import (
    clip_by_average_norm,
    div,
    set_random_seed,
    to_bfloat16,
    to_complex64,
    to_complex128,
    to_double,
    to_float,
    to_int32,
    to_int64,
)
from tapeflow_compat.compat.v1.arrays import (
    batch_gather,
    batch_to_space,
    constant,
    expand_dims,
    reverse_sequence,
    setdiff1d,
    space_to_batch,
    where,
)
from tapeflow_compat.compat.v1.behavior_flags import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    disable_resource_variables,
    disable_tensor_equality,
    disable_v2_behavior,
    disable_v2_tensorshape,
    enable_control_flow_v2,
    enable_resource_variables,
    enable_tensor_equality,
    enable_v2_behavior,
    enable_v2_tensorshape,
    resource_variables_enabled,
)
from tapeflow_compat.compat.v1.checks import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_scalar,
    assert_type,
    verify_tensor_all_finite,
)
from tapeflow_compat.compat.v1.control_flow import Print, case, cond, while_loop
from tapeflow_compat.compat.v1.device_spec import DeviceSpec
from tapeflow_compat.compat.v1.initializers import constant as constant_initializer
from tapeflow_compat.compat.v1.initializers import glorot_normal as glorot_normal_initializer
from tapeflow_compat.compat.v1.initializers import glorot_uniform as glorot_uniform_initializer
from tapeflow_compat.compat.v1.initializers import ones as ones_initializer
from tapeflow_compat.compat.v1.initializers import orthogonal as orthogonal_initializer
from tapeflow_compat.compat.v1.initializers import random_normal as random_normal_initializer
from tapeflow_compat.compat.v1.initializers import random_uniform as random_uniform_initializer
from tapeflow_compat.compat.v1.initializers import truncated_normal as truncated_normal_initializer
from tapeflow_compat.compat.v1.initializers import uniform_unit_scaling as uniform_unit_scaling_initializer
from tapeflow_compat.compat.v1.initializers import variance_scaling as variance_scaling_initializer
from tapeflow_compat.compat.v1.initializers import zeros as zeros_initializer
from tapeflow_compat.compat.v1.parsing import decode_raw
from tapeflow_compat.compat.v1.partitioners import (
    fixed_size_partitioner,
    min_max_variable_partitioner,
    no_regularizer,
    variable_axis_size_partitioner,
)
from tapeflow_compat.compat.v1.placeholders import placeholder, placeholder_with_default, sparse_placeholder
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.readers import (
    FixedLengthRecordReader,
    IdentityReader,
    ReaderBase,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from tapeflow_compat.compat.v1.scatter_updates import (
    batch_scatter_update,
    count_up_to,
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
)
from tapeflow_compat.compat.v1.scopes import (
    colocate_with,
    container,
    executing_eagerly,
    name_scope,
    op_scope,
    variable_op_scope,
)
from tapeflow_compat.compat.v1.session import InteractiveSession, Session
from tapeflow_compat.compat.v1.string_functions import string_to_hash_bucket
from tapeflow_compat.compat.v1.tables import initialize_all_tables, tables_initializer
from tapeflow_compat.compat.v1.templates import make_template
from tapeflow_compat.compat.v1.variable_scopes import (
    AUTO_REUSE,
    VariableScope,
    create_partitioned_variables,
    get_local_variable,
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tapeflow_compat.compat.v1.variable_scopes import VariableV1 as Variable
from tapeflow_compat.compat.v1.variables import (
    GraphKeys,
    add_to_collection,
    add_to_collections,
    all_variables,
    assert_variables_initialized,
    assign,
    assign_add,
    assign_sub,
    get_collection,
    get_collection_ref,
    global_variables,
    global_variables_initializer,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    is_variable_initialized,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
    trainable_variables,
    variables_initializer,
)
from tapeflow_compat.compat.v1.wrapping import wrap_function
from tapeflow_compat.default_graph import (
    disable_eager_execution,
    enable_eager_execution,
    executing_eagerly_outside_functions,
    get_default_graph,
    get_default_session,
    reset_default_graph,
)

_find = names.finder()
globals().update({name: _find(name) for name in aliases.listed() if "." not in name})
__version__ = VERSION


# With functions of their own.
_NAMESPACES = frozenset({
    "data", "feature_column", "graph_util", "logging", "losses", "math", "metrics", "nn", "profiler", "summary",
    "train",
})  # fmt: skip


# Namespaces that are modules of others.
_ELSEWHERE = {"app": "absl.app", "compat": "tapeflow.compat", "flags": "absl.flags", "test": "tapeflow.compat.v1.test"}


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return load(f"tapeflow.compat.v1.{name}")
    if name in ("dimension_at_index", "dimension_value"):
        return getattr(load("tapeflow.compat"), name)
    if name == "SparseTensorValue":
        return load("tapeflow.sparse.tensor").SparseTensorValue
    if name in _ELSEWHERE:
        return load(_ELSEWHERE[name])
    proto = message(name)
    return _find(name) if proto is None else proto


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed()})
