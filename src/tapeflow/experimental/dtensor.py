"""`tf.experimental.dtensor`, which Keras imports whether or not it is used. There are no such tensors here."""

from typing import Any

_INSTEAD = "to train on many devices, use a strategy of tf.distribute."


class _Absent:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"TapeFlow has no tf.experimental.dtensor.{type(self).__name__}: {_INSTEAD}")


class DTensorDataset(_Absent):
    """A dataset of tensors laid out over a mesh of devices: libraries ask whether something is one. Nothing is.

    Raises:
        NotImplementedError: always.
    """


class DVariable(_Absent):
    """A variable laid out over a mesh of devices. Nothing is one.

    Raises:
        NotImplementedError: always.
    """


def __getattr__(name: str) -> Any:
    raise AttributeError(f"TapeFlow has no tf.experimental.dtensor.{name}: {_INSTEAD}")
