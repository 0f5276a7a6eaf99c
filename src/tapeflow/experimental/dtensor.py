"""`tf.experimental.dtensor`, which Keras imports even where it is not used. TapeFlow has no such tensors."""

from typing import Any

_INSTEAD = "to train on many devices, use a strategy of tf.distribute."


class _Absent:
    """A class that cannot be instantiated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"TapeFlow has no tf.experimental.dtensor.{type(self).__name__}: {_INSTEAD}")


class DTensorDataset(_Absent):
    """A dataset of tensors laid out over a mesh of devices: libraries check for it with `isinstance`.

    Raises:
        NotImplementedError: always.
    """


class DVariable(_Absent):
    """A variable laid out over a mesh of devices: libraries check for it with `isinstance`.

    Raises:
        NotImplementedError: always.
    """


def __getattr__(name: str) -> Any:
    raise AttributeError(f"TapeFlow has no tf.experimental.dtensor.{name}: {_INSTEAD}")
