"""Checkpoints of workers that are about to be stopped. The job resumes from the checkpoint when it is restarted."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from tapeflow.core.logger import get_logger
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.variable import Variable
from tapeflow.distribute.workers import WorkerGroup, groups
from tapeflow.train.checkpoint import Checkpoint
from tapeflow.train.manager import CheckpointManager

_SECONDS_TO_SAVE = 30.0  # of a grace period, left for the checkpoint


@dataclasses.dataclass(eq=False)
class TerminationConfig:
    """Tells when a platform will stop a worker, and how the worker then ends.

    Args:
        termination_watcher_fn: a function without arguments that returns True if the platform will stop this worker. It
            is called at every step, and must not block. By default, True after the signal SIGTERM.
        exit_fn: a function without arguments that ends the program after the checkpoint; by default `sys.exit(42)`.
        grace_period: a float, the seconds between the notice and the end. Training goes on until 30 seconds before the
            end. By default 0: the worker saves and ends at once.
        save_fn: a function that saves the checkpoint instead of `CheckpointManager.save`.

    Example:
        >>> config = tf.distribute.experimental.TerminationConfig(exit_fn=lambda: None, grace_period=60)
        >>> config.grace_period
        60
    """

    termination_watcher_fn: Callable[[], bool] | None = None
    exit_fn: Callable[[], Any] | None = None
    grace_period: float | None = None
    save_fn: Callable[..., Any] | None = None


class PreemptionCheckpointHandler:
    """Saves a checkpoint on all workers when any of them is about to be stopped, and ends the program.

    The constructor restores the latest checkpoint. At every `run` the workers tell each other about notices, so all
    save at the same step; the first worker writes the file.

    Args:
        cluster_resolver: the resolver of the cluster, as for the strategy.
        checkpoint_or_checkpoint_manager: a `tf.train.Checkpoint`, or a `tf.train.CheckpointManager`.
        checkpoint_dir: the folder for a `tf.train.Checkpoint`.
        termination_config: a `tf.distribute.experimental.TerminationConfig`.

    Raises:
        ValueError: there is a checkpoint, but no folder.

    Example:
        >>> import tempfile
        >>> step = tf.Variable(0)
        >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        ...     tf.distribute.cluster_resolver.TFConfigClusterResolver(),
        ...     tf.train.Checkpoint(step=step),
        ...     tempfile.mkdtemp(),
        ...     tf.distribute.experimental.TerminationConfig(termination_watcher_fn=lambda: False),
        ... )
        >>> handler.run(step.assign_add, 1).numpy().item(), handler.total_run_calls
        (1, 1)
    """

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Checkpoint | CheckpointManager,
        checkpoint_dir: str | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        self._config = termination_config or TerminationConfig()
        self._group = _group_of(cluster_resolver)
        if isinstance(checkpoint_or_checkpoint_manager, CheckpointManager):
            self._manager = checkpoint_or_checkpoint_manager
        elif not checkpoint_dir:
            raise ValueError("`checkpoint_dir` must be specified when passing a `tf.train.Checkpoint`.")
        else:
            self._manager = CheckpointManager(checkpoint_or_checkpoint_manager, checkpoint_dir, max_to_keep=1)
        self._calls = 0  # since the checkpoint that was restored
        checkpoint: Any = self._manager.checkpoint
        if not hasattr(checkpoint, "checkpointed_runs"):
            checkpoint.checkpointed_runs = Variable(0, dtype=int64, trainable=False, name="checkpointed_runs")
        self._earlier_calls: Variable = checkpoint.checkpointed_runs
        self._noticed: float | None = None  # when this worker got notice
        self._got_signal = False
        self._manager.restore_or_initialize()
        if self._config.termination_watcher_fn is None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, *_: Any) -> None:
        self._got_signal = True

    @property
    def total_run_calls(self) -> int:
        """The number of calls of `run`, those before the program was started again included."""
        return int(self._earlier_calls.numpy()) + self._calls

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function that trains for a step; before it, saves a checkpoint and ends the program if need be.

        Args:
            distributed_train_function: the function.
            *args, **kwargs: its arguments.

        Returns:
            Its result.
        """
        self.save_checkpoint_if_preempted()
        result = distributed_train_function(*args, **kwargs)
        self._calls += 1
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Saves a checkpoint and ends the program, if a worker is about to be stopped. All workers call it together.

        Args:
            *args, **kwargs: the arguments of `TerminationConfig.save_fn`, or of `CheckpointManager.save`.
        """
        if not self._agreed(self._is_time()):
            return
        self._earlier_calls.assign_add(self._calls)
        self._calls = 0
        self._save(*args, **kwargs)
        self._agreed(True)  # nobody ends before the file is there
        (self._config.exit_fn or partial(sys.exit, 42))()  # not 0: a supervisor then restarts the program

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Iterator[None]:
        """Returns a scope for training without `run`: at its end a checkpoint is saved if a worker got notice."""
        yield
        self.save_checkpoint_if_preempted()

    def _is_time(self) -> bool:
        """Returns True if this worker got notice, and its grace period allows no more steps."""
        if self._noticed is None:
            notice = self._config.termination_watcher_fn
            if not (self._got_signal if notice is None else notice()):
                return False
            self._noticed = time.monotonic()
            get_logger().info("This worker is about to be stopped: all workers will save a checkpoint.")
        return time.monotonic() - self._noticed >= (self._config.grace_period or 0.0) - _SECONDS_TO_SAVE

    def _agreed(self, mine: bool) -> bool:
        """Returns True if any worker says so."""
        if self._group is None:
            return mine
        flag = [torch.tensor(int(mine))]
        return bool(self._group.finish(self._group.start(flag), flag, 1)[0])

    def _save(self, *args: Any, **kwargs: Any) -> None:
        if self._config.save_fn is not None:
            self._config.save_fn(*args, **kwargs)
        elif self._group is None or self._group.rank == 0:
            self._manager.save(*args, **kwargs)
        else:  # variables that are summed when they are read need all workers
            with tempfile.TemporaryDirectory() as folder:
                self._manager.checkpoint.write(os.path.join(folder, "checkpoint"))


def _group_of(resolver: Any) -> WorkerGroup | None:
    """Returns the last worker group that this process joined for such a cluster; None if it is alone."""
    count = sum(resolver.cluster_spec().num_tasks(j) for j in resolver.cluster_spec().jobs if j in ("chief", "worker"))
    return next((g for g in reversed(list(groups.values())) if g.size == count), None) if count > 1 else None


class PreemptionWatcher:
    """Watches for the end of a TPU's workers. TapeFlow has no TPUs, so there is never a message.

    Example:
        >>> tf.distribute.experimental.PreemptionWatcher().preemption_message is None
        True
    """

    def __init__(self) -> None: ...

    @property
    def preemption_message(self) -> str | None:
        """The message of the platform; None."""
        return None

    def block_until_worker_exit(self) -> None:
        """Returns at once: there are no workers to wait for."""
