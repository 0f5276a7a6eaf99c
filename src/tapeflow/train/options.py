"""`tf.train.CheckpointOptions`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from types import NoneType
from typing import Any

from tapeflow.train.sharding import ShardByTaskPolicy


@dataclasses.dataclass(eq=False, slots=True)
class CheckpointOptions:
    """Options for writing and reading checkpoints.

    Args:
        experimental_io_device: accepted, and has no effect: this process reads and writes.
        experimental_enable_async_checkpoint: the older name of `enable_async`.
        experimental_write_callbacks: functions to call after a write, without arguments or with the path.
        enable_async: the files are written while the program goes on; `sync`, the next save and the end of the process
            wait.
        experimental_skip_slot_variables: True to skip the slot variables of optimizers.
        experimental_sharding_callback: None or a `ShardByTaskPolicy`: a task writes one data file.

    Raises:
        NotImplementedError: there is another sharding callback.

    Example:
        >>> import tempfile
        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt", tf.train.CheckpointOptions(enable_async=True))
        >>> checkpoint.sync()
        >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").item()
        1.0
    """

    experimental_io_device: str | None = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: list[Callable[..., Any]] | None = None
    enable_async: bool = False
    experimental_skip_slot_variables: bool = False
    experimental_sharding_callback: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.experimental_sharding_callback, (ShardByTaskPolicy, NoneType)):
            raise NotImplementedError(
                "A task writes a checkpoint into one data file: experimental_sharding_callback can only be a "
                "ShardByTaskPolicy."
            )
        for callback in self.experimental_write_callbacks or ():
            if len(inspect.signature(callback).parameters) > 1:
                raise TypeError(f"A callback of a write takes the path or nothing, unlike {callback}.")
        self.enable_async = self.experimental_enable_async_checkpoint or self.enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
