"""`tf.__internal__.train`: functions of libraries that save weights and average variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import zeros
from tapeflow.core.scopes import init_scope, name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.distribute.context import get_replica_context, get_strategy
from tapeflow.distribute.replica_reductions import ReduceOp
from tapeflow.math.casting import cast
from tapeflow.train import states

if TYPE_CHECKING:
    from tapeflow.distribute.strategy import Strategy


def assign_moving_average(
    variable: Variable, value: TensorLike, decay: float | Tensor, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Moves an average towards a value, of replicas towards their mean: `average += (1 - decay) * (value - average)`.

    Args:
        variable: the average.
        value: a tensor of its shape.
        decay: a float below 1.
        zero_debias: whether the average has begun with zero, and the bias towards it is to be removed (section 3 of
            Kingma and Ba 2015, https://arxiv.org/abs/1412.6980). The sum before that and the number of steps are
            variables of the call, so they count steps only where it is part of a graph.
        name: of the operations.

    Returns:
        The variable.
    """

    def move(average: Variable, value: Any) -> Any:
        if not zero_debias:
            return average.assign_sub((average - value) * rate)
        own = average.name.partition(":")[0]
        with init_scope(), name_scope(""):
            biased = Variable(zeros(average.shape, average.dtype), trainable=False, name=f"{own}/biased")
            steps = Variable(zeros([], average.dtype), trainable=False, name=f"{own}/local_step")
        total = biased.assign_sub((biased - value) * rate)
        return average.assign(total / (1.0 - (1.0 - rate) ** steps.assign_add(1.0)))

    def update(strategy: Strategy, average: Variable, value: Any) -> Any:
        return strategy.extended.update(average, move, args=(value,))

    def reduce_and_update(strategy: Strategy, average: Variable, value: Any) -> Any:
        return update(strategy, average, strategy.extended.reduce_to(ReduceOp.MEAN, value, average))

    with name_scope(name or "AssignMovingAvg"):
        rate = cast(1.0 - decay, variable.dtype)
        replica = get_replica_context()
        if replica is not None:
            return replica.merge_call(reduce_and_update, args=(variable, value))
        return update(get_strategy(), variable, value)


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the name of the latest checkpoint to a file in their folder.

    Args:
        save_dir: the folder.
        model_checkpoint_path: the latest checkpoint.
        all_model_checkpoint_paths: all checkpoints, oldest first; by default only the latest.
        latest_filename: the name of the file; by default "checkpoint".
        save_relative_paths: without effect, as paths in the folder are written relative to it.
        all_model_checkpoint_timestamps: the times of all checkpoints in seconds since 1970.
        last_preserved_timestamp: the time of the last checkpoint that is kept for ever.
    """
    states.update_checkpoint_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths or (), all_model_checkpoint_timestamps or (),
        last_preserved_timestamp, latest_filename,
    )  # fmt: skip


def set_using_mixed_precision_policy(policy: bool) -> None:
    """Accepts the policy, without effect: graphs are not rewritten for narrower types."""


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Returns False: graphs are not rewritten for narrower types."""
    return False
