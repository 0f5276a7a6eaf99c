"""`ParameterServerStrategy` in processes of their own: training, and workers and servers that die."""

import pytest

from worker_processes import clusters, run_workers
from worker_programs import parameter_servers


def test_training_is_that_of_one_process(tmp_path):
    alone = parameter_servers.train_alone()
    (chief,) = run_workers("parameter_servers", clusters(chief=1, worker=1, ps=2), "train", str(tmp_path), servers=3)
    assert chief.code == 0, chief.errors
    assert chief.result["losses"] == pytest.approx(alone["losses"], rel=1e-5)
    assert (chief.result["restored"], chief.result["steps"], chief.result["done"]) == (0, 40, True)
    assert chief.result["devices"] == [f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in range(2)]


def test_workers_and_servers_that_die(tmp_path):
    (chief,) = run_workers("parameter_servers", clusters(chief=1, worker=2, ps=1), "disturb", str(tmp_path), servers=3)
    assert chief.code == 0, chief.errors
    result = chief.result
    assert result["both"] == result["again"] == [True, [0, 1]]
    assert result["killed"][0]
    assert result["one"] == [True, [1]]
    assert result["stopped"][0]
    assert result["at least"]
    assert result["server"]
