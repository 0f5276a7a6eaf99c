"""The public `tf.compat.v1` namespace: what of TensorFlow 1 libraries still use."""

from __future__ import annotations

from typing import Any

from tapeflow.compat.v1 import io
from tapeflow.compat.v1.defaults import (
    disable_eager_execution,
    enable_eager_execution,
    executing_eagerly_outside_functions,
    get_default_graph,
    get_default_session,
    reset_default_graph,
)
from tapeflow.compat.v1.session import InteractiveSession, Session
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
from tapeflow.core.context import state
from tapeflow.core.dtypes import as_dtype, int64
from tapeflow.core.shape import TensorShape


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of the graph being built, whose value is fed when the graph runs.

    Raises:
        RuntimeError: no graph is being built.
    """
    if state.graph is None:
        raise RuntimeError("tf.compat.v1.placeholder() is not compatible with eager execution.")
    return state.graph.placeholder(as_dtype(dtype), TensorShape(shape), name or "Placeholder")


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A sparse tensor of the graph being built, whose value is fed when the graph runs.

    Raises:
        RuntimeError: no graph is being built.
    """
    from tapeflow.sparse.tensor import SparseTensor

    name = name or "SparsePlaceholder"
    dims = TensorShape(shape)
    dense_shape: Any = dims.as_list() if dims.is_fully_defined() else placeholder(int64, [dims.rank], f"{name}/shape")
    sparse = SparseTensor(
        placeholder(int64, [None, dims.rank], f"{name}/indices"), placeholder(dtype, [None], f"{name}/values"), dense_shape
    )
    if dims.rank is not None:
        sparse.set_shape(dims)
    return sparse


def __getattr__(name: str) -> Any:
    if name == "SummaryMetadata":
        from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

        return SummaryMetadata
    raise AttributeError(f"module 'tapeflow.compat.v1' has no attribute {name!r}")
