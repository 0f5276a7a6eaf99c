"""The public `tf.compat.v1` namespace: what of TensorFlow 1 libraries still use."""

from __future__ import annotations

from typing import Any

from tapeflow.compat.v1 import initializers, io, names
from tapeflow.compat.v1.defaults import (
    disable_eager_execution,
    enable_eager_execution,
    executing_eagerly_outside_functions,
    get_default_graph,
    get_default_session,
    reset_default_graph,
)
from tapeflow.compat.v1.initializers import constant as constant_initializer
from tapeflow.compat.v1.initializers import glorot_normal as glorot_normal_initializer
from tapeflow.compat.v1.initializers import glorot_uniform as glorot_uniform_initializer
from tapeflow.compat.v1.initializers import ones as ones_initializer
from tapeflow.compat.v1.initializers import orthogonal as orthogonal_initializer
from tapeflow.compat.v1.initializers import random_normal as random_normal_initializer
from tapeflow.compat.v1.initializers import random_uniform as random_uniform_initializer
from tapeflow.compat.v1.initializers import truncated_normal as truncated_normal_initializer
from tapeflow.compat.v1.initializers import uniform_unit_scaling as uniform_unit_scaling_initializer
from tapeflow.compat.v1.initializers import variance_scaling as variance_scaling_initializer
from tapeflow.compat.v1.initializers import zeros as zeros_initializer
from tapeflow.compat.v1.placeholders import placeholder, placeholder_with_default, sparse_placeholder
from tapeflow.compat.v1.protos import message
from tapeflow.compat.v1.session import InteractiveSession, Session
from tapeflow.compat.v1.variable_scopes import (
    AUTO_REUSE,
    VariableScope,
    fixed_size_partitioner,
    get_local_variable,
    get_variable,
    get_variable_scope,
    make_template,
    min_max_variable_partitioner,
    no_regularizer,
    variable_axis_size_partitioner,
    variable_scope,
)
from tapeflow.compat.v1.variable_scopes import VariableV1 as Variable
from tapeflow.compat.v1.variables import (
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

_find = names.finder()


def __getattr__(name: str) -> Any:
    found = message(name)
    return _find(name) if found is None else found


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed()})
