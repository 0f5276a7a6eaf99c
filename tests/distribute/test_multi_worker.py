"""`MultiWorkerMirroredStrategy` in two processes, which train as one replica does with the global batch.

What replicas say to each other is what TensorFlow 2.21 gave with two processes.
"""

import signal

import pytest

import tapeflow as tf
from worker_processes import run_workers, tf_configs, torchrun_environments
from worker_programs import keras_fit, own_loop

BOTH = {
    "sum": "3.0", "mean": ["1.5", "3.0"], "whole": "1.5",
    "rows": "[[1.0, 1.0], [2.0, 2.0], [2.0, 2.0]]", "complex": "(3-3j)",
}  # fmt: skip
SAID = {
    "number": "3.0", "along": "[1.5]", "gather": "[[1.0, 2.0], [1.0, 2.0]]",
    "flags": "[[False], [False], [True], [True]]", "context": ["2", "True"],
}  # fmt: skip


def test_two_workers_train_as_one(tmp_path):
    alone = own_loop.train(tf.distribute.MultiWorkerMirroredStrategy(), str(tmp_path / "alone"))
    workers = run_workers("own_loop", tf_configs(2), str(tmp_path / "both"))
    for number, worker in enumerate(workers):
        assert worker.code == 0, worker.errors
        said, trained = worker.result["said"], worker.result["trained"]
        gradient = str(4.0 * (number + 1))
        assert said == SAID | {
            "eager": BOTH | {"gradient": gradient}, "traced": BOTH | {"gradient": gradient},
            "own": [str(number)], "device": [f"/job:worker/replica:0/task:{number}/device:CPU:0"],
        }  # fmt: skip
        assert trained.keys() == alone.keys()
        for name, values in alone.items():
            assert trained[name] == pytest.approx(values, rel=1e-5, abs=1e-5), name
        assert worker.result["uneven"] == [[6.0, 10.0, 11.0, 15.0, 19.0]] * 3
    restored = tf.train.load_checkpoint(str(tmp_path / "both"))
    assert restored.get_tensor("total/.ATTRIBUTES/VARIABLE_VALUE") == pytest.approx(alone["total"], rel=1e-5)
    assert sorted(p.name for p in (tmp_path / "both").iterdir()) == [
        "checkpoint", "ckpt-1.data-00000-of-00001", "ckpt-1.index"
    ]  # fmt: skip


def test_keras_models():
    alone = keras_fit.train(tf.distribute.MultiWorkerMirroredStrategy())
    assert alone["sent"] == 0
    weights, logs = 3 * 3 * 4 + 4 + 6 * 4 * 4 + 4, 2
    for worker in run_workers("keras_fit", tf_configs(2)):
        assert worker.code == 0, worker.errors
        assert worker.result.keys() == alone.keys()
        assert worker.result["evaluated"] == pytest.approx(alone["evaluated"], rel=0.2)
        for history in ("history", "arrays"):
            for name, values in alone[history].items():
                assert worker.result[history][name] == pytest.approx(values, rel=1e-5, abs=1e-5), name
        assert worker.result["sent"] == 4 * (weights + logs)  # in a step: each gradient once, the loss and the accuracy
        assert worker.result["predicted"][0] == list(alone["predicted"][0])
        assert worker.result["predicted"][1] == pytest.approx(alone["predicted"][1], rel=1e-4)


def test_keras_goes_on_from_its_backup(tmp_path):
    whole, _ = run_workers("backups", tf_configs(2), str(tmp_path / "whole"), "go")
    assert whole.code == 0, whole.errors
    _, dead = run_workers("backups", tf_configs(2), str(tmp_path / "again"), "die")
    assert dead.code == -signal.SIGKILL
    for worker in run_workers("backups", tf_configs(2), str(tmp_path / "again"), "go"):
        assert worker.code == 0, worker.errors
        assert worker.result["epochs"] == [2, 3]
        assert worker.result["losses"] == pytest.approx(whole.result["losses"][2:], rel=1e-5)
    assert [p.name for p in (tmp_path / "again").iterdir()] == ["model.keras"]


def test_a_worker_that_dies_is_noticed():
    left, dead = run_workers("faults", torchrun_environments(2), "die", "60")
    assert dead.code == -signal.SIGKILL
    assert left.code == 0, left.errors
    (kind, message), (later, again) = left.result["failures"]
    assert kind == later == "UnavailableError"
    assert "Worker 0 of 2: a worker ended, or can't be reached, during an all-reduce" in message
    assert "start all workers again: training goes on from the last checkpoint" in message
    assert again.startswith("An earlier collective failed: Worker 0 of 2")


def test_a_worker_that_hangs_is_noticed():
    left, _ = run_workers("faults", tf_configs(2), "hang", "2")
    assert left.code == 0, left.errors
    (kind, message), (later, _) = left.result["failures"]
    assert kind == later == "DeadlineExceededError"
    assert "a worker did not come to an all-reduce within 2 s" in message
    assert "CommunicationOptions(timeout_seconds=)" in message


def test_workers_that_create_different_variables():
    for worker in run_workers("faults", tf_configs(2), "differ", "60"):
        assert worker.code == 0, worker.errors
        kind, message = worker.result["failures"][0]
        assert kind == "InvalidArgumentError"
        assert (
            "worker 0 is at variable v:0: torch.float32 []; worker 1 is at variable v:0: torch.float32 [2]" in message
        )


def test_a_worker_that_gets_notice_saves_on_all(tmp_path):
    interrupted = run_workers("preempted", tf_configs(2), str(tmp_path))
    assert [w.code for w in interrupted] == [42, 42], interrupted[0].errors
    assert sorted(p.name for p in tmp_path.iterdir() if "index" in p.name) == ["ckpt-1.index"]
    for worker in run_workers("preempted", tf_configs(2), str(tmp_path)):
        assert worker.code == 0, worker.errors
        assert worker.result == {"started": 3, "weight": 1.5**6, "total": 3.0 * 6, "runs": 6}
