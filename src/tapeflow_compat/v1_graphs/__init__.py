"""Graphs of TensorFlow 1, rewritten to the ops of TensorFlow 2 while they are imported."""

from tapeflow_compat.v1_graphs.control_flow import functional
from tapeflow_compat.v1_graphs.reference_variables import without_references
from tapeflow_compat.v1_graphs.tensor_arrays import with_lists
from tapeflow_compat.v1_graphs.unconverted import add_unconverted, control_flow_operation

__all__ = ["add_unconverted", "control_flow_operation", "functional", "with_lists", "without_references"]
