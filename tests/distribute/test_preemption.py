"""Checkpoints before a program is stopped: alone, and with two workers that are threads of this process."""

import signal
import types

import pytest
import torch.distributed as c10d

import tapeflow as tf
from tapeflow.distribute import preemption, workers
from worker_threads import SECONDS, fresh_groups, run_threads

Handler = tf.distribute.experimental.PreemptionCheckpointHandler
Config = tf.distribute.experimental.TerminationConfig
ALONE = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({}))


@pytest.fixture(autouse=True)
def usual_signals():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def saved_steps(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".index")


def test_notice_saves_and_ends(tmp_path):
    step, notices, ended = tf.Variable(0), [False, False, True, False], []
    config = Config(termination_watcher_fn=lambda: notices.pop(0), exit_fn=lambda: ended.append(step.numpy()))
    handler = Handler(ALONE, tf.train.Checkpoint(step=step), str(tmp_path), config)
    assert [int(handler.run(step.assign_add, 2)) for _ in range(2)] == [2, 4]
    assert (handler.total_run_calls, ended, saved_steps(tmp_path)) == (2, [], [])
    assert int(handler.run(lambda by: step.assign_add(by), by=3)) == 7  # after the exit, which does nothing here
    assert (handler.total_run_calls, ended, saved_steps(tmp_path)) == (3, [4], ["ckpt-1.index"])
    again = tf.Variable(0)
    handler = Handler(ALONE, tf.train.Checkpoint(step=again), str(tmp_path), Config(lambda: False))
    assert (again.numpy(), handler.total_run_calls) == (4, 2)
    handler.run(again.assign_add, 1)
    assert handler.total_run_calls == 3


def test_the_program_ends_with_a_status(tmp_path):
    handler = Handler(ALONE, tf.train.Checkpoint(), str(tmp_path), Config(lambda: True))
    with pytest.raises(SystemExit) as ended:
        handler.run(lambda: 1)
    assert ended.value.code == 42 and saved_steps(tmp_path) == ["ckpt-1.index"]


def test_a_signal_is_notice(tmp_path):
    ended, step = [], tf.Variable(1)
    config = Config(exit_fn=lambda: ended.append(True))
    handler = Handler(ALONE, tf.train.Checkpoint(step=step), str(tmp_path), config)
    handler.run(lambda: signal.raise_signal(signal.SIGTERM))
    assert ended == [] and saved_steps(tmp_path) == []
    handler.save_checkpoint_if_preempted()
    assert ended == [True] and saved_steps(tmp_path) == ["ckpt-1.index"]


def test_a_watcher_replaces_the_signal(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    Handler(ALONE, tf.train.Checkpoint(), str(tmp_path), Config(termination_watcher_fn=lambda: False))
    assert signal.getsignal(signal.SIGTERM) is before


def test_threads_other_than_the_first_take_no_signal(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    (handler,) = run_threads([lambda: Handler(ALONE, tf.train.Checkpoint(), str(tmp_path))])
    assert isinstance(handler, Handler) and signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("grace", "seconds", "ends"), [(None, 0, 1), (30.0, 0, 1), (31.0, 0, 0), (31.0, 1.5, 1)])
def test_the_grace_period_leaves_time_for_steps(tmp_path, monkeypatch, grace, seconds, ends):
    now, ended, notices = [1000.0], [], [True]
    monkeypatch.setattr(preemption.time, "monotonic", lambda: now[0])
    config = Config(lambda: notices.pop(), exit_fn=lambda: ended.append(True), grace_period=grace)
    handler = Handler(ALONE, tf.train.Checkpoint(), str(tmp_path), config)
    if seconds:
        handler.save_checkpoint_if_preempted()
        assert ended == []
    now[0] += seconds
    handler.save_checkpoint_if_preempted()  # notice came once: the watcher is not asked again
    assert len(ended) == ends


def test_another_way_to_save(tmp_path):
    calls = []
    config = Config(lambda: True, exit_fn=lambda: None, save_fn=lambda *args, **kwargs: calls.append((args, kwargs)))
    handler = Handler(ALONE, tf.train.Checkpoint(), str(tmp_path), config)
    handler.save_checkpoint_if_preempted(7, options=None)
    assert calls == [((7,), {"options": None})] and saved_steps(tmp_path) == []


def test_arguments_go_to_the_manager(tmp_path):
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=tf.Variable(3)), str(tmp_path), max_to_keep=5)
    handler = Handler(ALONE, manager, termination_config=Config(lambda: True, exit_fn=lambda: None))
    for number in (5, 9):
        handler.save_checkpoint_if_preempted(checkpoint_number=number)
    assert saved_steps(tmp_path) == ["ckpt-5.index", "ckpt-9.index"]


def test_a_folder_keeps_one_checkpoint(tmp_path):
    handler = Handler(ALONE, tf.train.Checkpoint(), str(tmp_path), Config(lambda: True, exit_fn=lambda: None))
    for _ in range(2):
        handler.save_checkpoint_if_preempted()
    assert saved_steps(tmp_path) == ["ckpt-2.index"]
    with pytest.raises(ValueError, match="`checkpoint_dir` must be specified"):
        Handler(ALONE, tf.train.Checkpoint())


def test_a_scope_ends_with_a_checkpoint(tmp_path):
    notices, ended = [False, True], []
    config = Config(lambda: notices.pop(0), exit_fn=lambda: ended.append(True))
    handler = Handler(ALONE, tf.train.Checkpoint(), str(tmp_path), config)
    for count in (0, 1):
        with handler.watch_preemption_scope():
            assert ended == []
        assert len(ended) == count


def test_all_workers_save_at_the_step_at_which_one_got_notice(tmp_path, monkeypatch):
    cluster = tf.train.ClusterSpec({"chief": ["h:1"], "worker": ["h:2"], "ps": ["h:3"]})
    resolver, store = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster), c10d.HashStore()
    with fresh_groups():
        groups = run_threads([lambda r=r: workers.WorkerGroup(store, r, 2, "localhost", SECONDS) for r in range(2)])
        handlers, ended, steps = [], [], [tf.Variable(0), tf.Variable(0)]
        for rank, group in enumerate(groups):  # in a process of its own, a worker has one group
            monkeypatch.setattr(preemption, "groups", {0: group, 1: types.SimpleNamespace(size=3)})
            config = Config(lambda rank=rank: rank == 1 and steps[1] == 2, lambda rank=rank: ended.append(rank))
            checkpoint = tf.train.Checkpoint(step=steps[rank])
            handlers.append(Handler(resolver, checkpoint, str(tmp_path / f"{rank}"), config))

        def train(rank):
            while rank not in ended:
                handlers[rank].run(steps[rank].assign_add, 1)
            return handlers[rank].total_run_calls

        assert run_threads([lambda r=r: train(r) for r in range(2)]) == [3, 3]
    assert sorted(ended) == [0, 1] and (steps[0].numpy(), steps[1].numpy()) == (3, 3)
    assert saved_steps(tmp_path / "0") == ["ckpt-1.index"] and not (tmp_path / "1").exists()
    restored = tf.train.load_checkpoint(str(tmp_path / "0"))
    assert restored.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE") == 2
