"""Evaluations of checkpoints in sessions: `tensorflow.python.training.evaluation`, which tf-slim builds on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.dtypes import int64
from tapeflow.graph.ir.graph import current_graph
from tapeflow_compat.compat.v1.initializers import Zeros
from tapeflow_compat.compat.v1.train.hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tapeflow_compat.compat.v1.train.monitored import MonitoredSession
from tapeflow_compat.compat.v1.train.progress_hooks import FinalOpsHook
from tapeflow_compat.compat.v1.train.scaffold import Scaffold
from tapeflow_compat.compat.v1.train.session_creators import ChiefSessionCreator
from tapeflow_compat.compat.v1.variable_scopes import get_variable
from tapeflow_compat.compat.v1.variables import GraphKeys


def _get_or_create_eval_step() -> Any:
    """Returns the variable that counts the evaluations of a graph.

    Raises:
        ValueError: the graph has several.
    """
    steps = current_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(steps) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if steps:
        return steps[0]
    return get_variable(
        "eval_step", shape=[], dtype=int64, initializer=Zeros(), trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )  # fmt: skip


class _StopAfterNEvalsHook(SessionRunHook):
    """Ends a session after some evaluations.

    Args:
        num_evals: their number.
        log_progress: accepted, without effect.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._most = num_evals
        self._completed: Any = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        """Sets the tensor that counts the evaluations."""
        self._completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs({"evals_completed": self._completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._most is not None and run_values.results["evals_completed"] >= self._most:
            run_context.request_stop()


def _evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Any = None,
) -> Any:
    """Restores a checkpoint, runs `eval_ops` until a hook ends the session, and returns what `final_ops` gives then.

    Args:
        checkpoint_path: the checkpoint; with None, variables are initialized.
        master: the address of a server.
        scaffold: a `Scaffold`, the operations that the session needs; by default the graph's operations.
        eval_ops: a tensor or operation, or a list or dict of them.
        feed_dict: what to feed to them.
        final_ops: what to fetch at the end.
        final_ops_feed_dict: what to feed then.
        hooks: hooks of the session.
        config: the session's configuration.
    """
    completed = _get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        completed = completed.assign_add(1, use_locking=True, read_value=True)
        if isinstance(eval_ops, dict):
            eval_ops = {**eval_ops, "update_eval_step": completed}
        elif isinstance(eval_ops, (tuple, list)):
            eval_ops = [*eval_ops, completed]
        else:
            eval_ops = [eval_ops, completed]
    for hook in hooks:
        if hasattr(hook, "_set_evals_completed_tensor"):
            hook._set_evals_completed_tensor(completed)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config
    )
    with MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    return final.final_ops_values
