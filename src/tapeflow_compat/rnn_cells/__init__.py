"""Wrappers of recurrent cells: `tf.nn.RNNCellDropoutWrapper` and its siblings."""

from tapeflow_compat.rnn_cells.wrappers import RNNCellDeviceWrapper, RNNCellDropoutWrapper, RNNCellResidualWrapper

__all__ = ["RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper"]
