"""What holds for every test."""

import os

import pytest

os.environ.setdefault("TAPEFLOW_CHECK_PASSES", "1")  # read once, when TapeFlow is imported

import tapeflow as tf
from tapeflow.core import device as devices
from tapeflow.core.settings import settings
from tapeflow.summary.summary_state import recording


@pytest.fixture(autouse=True)
def no_global_seed():
    """A test that sets the global seed decides nothing for the next one."""
    tf.random.set_seed(None)


@pytest.fixture(autouse=True)
def no_default_writer():
    """A test that sets a default writer of summaries sets it for itself."""
    recording.writer = None


@pytest.fixture(autouse=True)
def own_optimizer_options(monkeypatch):
    """A test that sets options of the optimizer sets them for itself: they can't be unset."""
    monkeypatch.setattr(settings, "optimizer_options", dict(settings.optimizer_options))


@pytest.fixture
def two_cpus(monkeypatch):
    """Two logical CPUs, as for a strategy."""
    found = [devices.Device("CPU", i, devices.CPU) for i in range(2)]
    monkeypatch.setattr(devices.machine, "_logical", found)


@pytest.fixture
def strategy(two_cpus):
    """A strategy with two replicas."""
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
