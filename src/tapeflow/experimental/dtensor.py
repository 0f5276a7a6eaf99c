"""`tf.experimental.dtensor`, which Keras imports whether or not it is used. Nothing of it is here."""

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"TapeFlow has no tf.experimental.dtensor.{name}: to train on many devices, use a strategy of tf.distribute."
    )
