"""The public `tf.compat.v1.train` namespace: optimizers, savers, sessions that train, and their inputs."""

from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.summary.writers import summary_iterator
from tapeflow_compat.compat.v1.train.batch_queues import (
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from tapeflow_compat.compat.v1.train.checkpoint_warm_start import VocabInfo, warm_start
from tapeflow_compat.compat.v1.train.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tapeflow_compat.compat.v1.train.looper import LooperThread
from tapeflow_compat.compat.v1.train.meta_graph import export_meta_graph, import_meta_graph
from tapeflow_compat.compat.v1.train.monitored import (
    MonitoredSession,
    MonitoredTrainingSession,
    SingularMonitoredSession,
)
from tapeflow_compat.compat.v1.train.optimizer import Optimizer
from tapeflow_compat.compat.v1.train.optimizers import (
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
from tapeflow_compat.compat.v1.train.producers import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from tapeflow_compat.compat.v1.train.progress_hooks import (
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    StepCounterHook,
    StopAtStepHook,
)
from tapeflow_compat.compat.v1.train.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from tapeflow_compat.compat.v1.train.saver import (
    NewCheckpointReader,
    Saver,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    init_from_checkpoint,
)
from tapeflow_compat.compat.v1.train.saver import exists as checkpoint_exists
from tapeflow_compat.compat.v1.train.saver import remove as remove_checkpoint
from tapeflow_compat.compat.v1.train.saver import write_checkpoint_state as update_checkpoint_state
from tapeflow_compat.compat.v1.train.saving_hooks import CheckpointSaverHook, CheckpointSaverListener, SummarySaverHook
from tapeflow_compat.compat.v1.train.scaffold import Scaffold
from tapeflow_compat.compat.v1.train.schedules import (
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
from tapeflow_compat.compat.v1.train.session_creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from tapeflow_compat.compat.v1.train.session_manager import SessionManager
from tapeflow_compat.compat.v1.train.supervisor import Supervisor, basic_train_loop

_find = names.finder("train")


def __getattr__(name: str) -> object:
    proto = message(name) if name in ("SaverDef", "ClusterDef", "JobDef") else None
    return _find(name) if proto is None else proto


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("train")})
