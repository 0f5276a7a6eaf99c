"""The public `tf.compat.v1.train` namespace: optimizers, schedules of learning rates, savers."""

from tapeflow.compat.v1 import names
from tapeflow.compat.v1.protos import message
from tapeflow.compat.v1.summary.writers import summary_iterator
from tapeflow.compat.v1.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from tapeflow.compat.v1.train.meta_graph import export_meta_graph, import_meta_graph
from tapeflow.compat.v1.train.optimizer import Optimizer
from tapeflow.compat.v1.train.optimizers import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
    RMSPropOptimizer,
)
from tapeflow.compat.v1.train.saver import Saver, get_checkpoint_mtimes, init_from_checkpoint
from tapeflow.compat.v1.train.saver import exists as checkpoint_exists
from tapeflow.compat.v1.train.saver import remove as remove_checkpoint
from tapeflow.compat.v1.train.saver import write_checkpoint_state as update_checkpoint_state
from tapeflow.compat.v1.train.schedules import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from tapeflow.train.reader import CheckpointReader as NewCheckpointReader

_find = names.finder("train")


def __getattr__(name: str) -> object:
    found = message(name) if name in ("SaverDef", "ClusterDef", "JobDef") else None
    return _find(name) if found is None else found


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("train")})
