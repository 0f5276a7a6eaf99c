"""`tf.train.CheckpointManager`: retains the last few checkpoints of a directory."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tapeflow.core import errors
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.variable import Variable
from tapeflow.io import gfile
from tapeflow.train.bundle import data_files
from tapeflow.train.checkpoint import Checkpoint, refuse_in_functions
from tapeflow.train.options import CheckpointOptions
from tapeflow.train.states import checkpoint_exists, get_checkpoint_state, update_checkpoint_state


class CheckpointManager:
    """Saves checkpoints into a directory, numbered, and deletes old ones.

    Args:
        checkpoint: the `tf.train.Checkpoint` to save.
        directory: the directory.
        max_to_keep: an int: how many checkpoints are retained; None for all of them.
        keep_checkpoint_every_n_hours: instead of deleting all old checkpoints, retains one for every so many hours.
        checkpoint_name: the first part of the checkpoints' names; "ckpt" by default.
        step_counter: counts the steps, for `checkpoint_interval`.
        checkpoint_interval: an int, the least number of steps between two checkpoints. `save` does nothing before.
        init_fn: a function without arguments. `restore_or_initialize` calls it if there is no checkpoint.
        last_checkpoint_step: an int, the step of the last checkpoint, if there is a checkpoint.

    Raises:
        ValueError: `max_to_keep` is not positive, or an interval is specified without a counter.

    Example:
        >>> import tempfile
        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
        >>> paths = [manager.save() for _ in range(3)]
        >>> manager.checkpoints == paths[1:]
        True
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint, self._max_to_keep = checkpoint, max_to_keep
        self._keep_every_n_hours = keep_checkpoint_every_n_hours
        self._directory = os.fspath(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter, self._interval = step_counter, checkpoint_interval
        self._last_step = last_checkpoint_step
        self._init_fn = init_fn
        # the checkpoints that may be deleted, and the times of their writing
        self._retained: OrderedDict[str, float] = OrderedDict()
        self._deleted: list[str] = []  # a killed process may leave some files of these
        self._latest: str | None = None
        self._last_preserved = time.time()
        self._take_over()

    def _take_over(self) -> None:
        """Continues from the state in the directory's `checkpoint` file."""
        state: Any = get_checkpoint_state(self._directory)
        if state is None:
            return
        self._latest = state.model_checkpoint_path
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        if len(times) != len(paths):
            times = [time.time()] * len(paths)
        if state.last_preserved_timestamp:
            self._last_preserved = state.last_preserved_timestamp
        self._retained.update((path, when) for path, when in zip(paths, times, strict=True) if checkpoint_exists(path))
        self._deleted = [path for path in paths if path not in self._retained]

    @property
    def directory(self) -> str:
        """The directory of the checkpoints."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """The least number of steps between two checkpoints."""
        return self._interval

    @property
    def checkpoint(self) -> Checkpoint:
        """The `tf.train.Checkpoint` that is saved."""
        return self._checkpoint

    @property
    def latest_checkpoint(self) -> str | None:
        """The name of the last checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The names of the checkpoints, oldest first, without those retained for `keep_checkpoint_every_n_hours`."""
        return list(self._retained)

    def _sweep(self) -> None:
        """Deletes the oldest checkpoints, if there are too many."""
        for path in set(self._deleted) - set(self._retained):
            remove_checkpoint(path)
        self._deleted.clear()
        while self._max_to_keep is not None and len(self._retained) > self._max_to_keep:
            path, written = self._retained.popitem(last=False)
            hours = self._keep_every_n_hours
            if hours is not None and written - self._last_preserved >= 3600 * hours:
                self._last_preserved = written
                continue
            remove_checkpoint(path)

    def _record(self) -> None:
        assert self._latest is not None
        update_checkpoint_state(
            self._directory, self._latest, list(self._retained), list(self._retained.values()), self._last_preserved
        )

    def save(
        self, checkpoint_number: TensorLike | None = None, check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:  # fmt: skip
        """Saves a checkpoint, and deletes the oldest if there are too many.

        Args:
            checkpoint_number: its number, an int or a tensor; by default the checkpoint's `save_counter`.
            check_interval: whether `checkpoint_interval` counts.
            options: with `enable_async`, the files are written while the program goes on.

        Returns:
            The name of the checkpoint, or None if the interval has not passed.

        Raises:
            NotImplementedError: this is in a `tf.function`.
        """
        refuse_in_functions("tf.train.CheckpointManager.save()", "tf.train.Checkpoint.write()")
        if self._interval is not None:
            assert self._step_counter is not None
            step = int(self._step_counter.numpy())
            if self._last_step is not None and (
                step == self._last_step or (check_interval and step < self._last_step + self._interval)
            ):
                return None
            self._last_step = step
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number: Any = counter if checkpoint_number is None else checkpoint_number
        path = f"{self._prefix}-{int(number)}"
        self._checkpoint._write(path, options, lambda: self._keep(path))
        return path

    def _keep(self, path: str) -> None:
        """Adds a checkpoint that was written."""
        self._latest = path
        self._retained.pop(path, None)
        self._retained[path] = time.time()
        # First say that it is there, and only then delete, so that the file never names a deleted one.
        self._record()
        self._sweep()
        self._record()

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint. If there is none, calls `init_fn`.

        Returns:
            The name of the checkpoint, or None.
        """
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                assert self._step_counter is not None
                self._last_step = int(self._step_counter.numpy())
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Waits for a save in the background (`CheckpointOptions.enable_async`)."""
        self._checkpoint.sync()


def remove_checkpoint(prefix: str) -> None:
    """Deletes a checkpoint's files. It starts with the index: without an index, the rest is not a checkpoint."""
    for path in [f"{prefix}.index", *data_files(prefix)]:
        with suppress(errors.NotFoundError):
            gfile.remove(path)
