"""The public `tf.saved_model.experimental` namespace."""

import enum as _enum

from tapeflow.saved_model.fingerprint import Fingerprint, read_fingerprint
from tapeflow.tracking.resources import TrackableResource


class VariablePolicy(_enum.Enum):
    """The policies for saving distributed variables and devices; accepted, and has no effect.

    Example:
        >>> policy = tf.saved_model.experimental.VariablePolicy.NONE
        >>> options = tf.saved_model.SaveOptions(experimental_variable_policy=policy)
    """

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


__all__ = ["Fingerprint", "TrackableResource", "VariablePolicy", "read_fingerprint"]
__dir__ = __all__.copy
