"""The options of a variable with copies on several devices: when and how they are brought together."""

import enum


class VariableSynchronization(enum.Enum):
    """The time when the copies of a distributed variable are brought together.

    Example:
        >>> tf.VariableSynchronization.ON_READ
        <VariableSynchronization.ON_READ: 3>
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The function that brings the copies of a distributed variable together.

    Example:
        >>> tf.VariableAggregation.MEAN
        <VariableAggregation.MEAN: 2>
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
