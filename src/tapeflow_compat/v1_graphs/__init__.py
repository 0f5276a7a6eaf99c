"""Graphs of TensorFlow 1, rewritten to the ops of TensorFlow 2 while they are imported."""

from tapeflow_compat.v1_graphs.control_flow import functional
from tapeflow_compat.v1_graphs.reference_variables import without_references
from tapeflow_compat.v1_graphs.tensor_arrays import with_lists

__all__ = ["functional", "with_lists", "without_references"]
