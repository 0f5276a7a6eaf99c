"""What holds for every test."""

import collections
import gc
import logging
import os
import pathlib

import pytest
import torch

import affected_tests

os.environ.setdefault("TAPEFLOW_CHECK_PASSES", "1")  # read once, when TapeFlow is imported

import tapeflow as tf
from tapeflow.core import device as devices
from tapeflow.core.settings import settings
from tapeflow.summary.summary_state import recording

# ---- the tests of a source file --------------------------------------------------------------------------------------

SECONDS = 60  # of processor time, for the tests of a file
FIRST = 6  # parameters of each test that has another file's name, before the others


def pytest_addoption(parser):
    parser.addoption("--of", metavar="FILE", help="run what can fail if a file of src breaks, the likeliest first")


def pytest_configure(config):
    if config.option.of:
        config.picked = affected_tests.Picked(pathlib.Path(config.option.of))
        config.args = [str(path) for path in config.picked.files()]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Leaves out parameters before they become tests: the op table has 40,000."""
    picked = getattr(metafunc.config, "picked", None)
    if not picked:
        return
    place = metafunc.definition.path, function_name(metafunc)
    for i, marker in enumerate(metafunc.definition.own_markers):
        if marker.name != "parametrize" or not isinstance(values := marker.args[1], list):
            continue
        kept = picked.parameters(*place, values) if picked.rank(*place) is not None else [0] * bool(values)
        ids = marker.kwargs.get("ids")
        changed = {"ids": [list(ids)[k] for k in kept]} if ids and not callable(ids) else {}
        metafunc.definition.own_markers[i] = pytest.mark.parametrize(
            marker.args[0], [values[k] for k in kept], *marker.args[2:], **{**marker.kwargs, **changed}
        ).mark


def function_name(of):
    """The name of a test's function, or of the class that it is in."""
    return of.cls.__name__ if of.cls else of.function.__name__


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if picked := getattr(config, "picked", None):
        ranks = {item: picked.rank(item.path, function_name(item)) for item in items}
        config.hook.pytest_deselected(items=[item for item in items if ranks[item] is None])
        kept = [item for item in items if ranks[item] is not None]
        first = set(first_parameters(kept, picked.own))
        items[:] = sorted(kept, key=lambda item: (item not in first, ranks[item]))
        config.picked_until = processor_time() + SECONDS


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Makes each test cheaper: pytest adds its handlers to all loggers that pass nothing on, such as 40 of torch."""
    for name, logger in logging.root.manager.loggerDict.items():
        if name.partition(".")[0] == "torch" and isinstance(logger, logging.Logger):
            logger.propagate = True
    freeze_objects()


def pytest_runtest_logfinish():
    if gc.get_stats()[2]["collections"] > full_collections:
        freeze_objects()


full_collections = 0  # of garbage, when objects were last frozen


def freeze_objects():
    """Leaves the objects that exist to no later collection of garbage: the tests, and modules of torch and Keras that
    some of them import, live until the end. Half the time of the compiler's tests went into such collections."""
    global full_collections
    gc.collect()
    gc.freeze()
    full_collections = gc.get_stats()[2]["collections"]


def first_parameters(items, own):
    """Some parameters of each test, and all of a table's and of the file's own tests.

    They run first, so that long tests leave time for others.
    """
    groups = collections.defaultdict(list)
    for item in items:
        groups[item.path, item.cls, item.originalname].append(item)
    for (path, _, _), group in groups.items():
        all_first = affected_tests.is_table(path) or (path, function_name(group[0])) in own
        yield from (group if all_first else group[:: -(-len(group) // FIRST)])


def processor_time():
    """The seconds of processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Leaves out the last tests if those before took long."""
    if processor_time() > getattr(item.config, "picked_until", float("inf")):
        item.config.picked_left = getattr(item.config, "picked_left", 0) + 1
        return True
    return None


def pytest_terminal_summary(terminalreporter, config):
    if left := getattr(config, "picked_left", 0):
        terminalreporter.line(f"{left} tests that are less likely to fail were left out after {SECONDS} seconds")


# ---- fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def own_seeds():
    """A test that sets the global seed decides nothing for the next one, and torch's draws are those of each run."""
    tf.random.set_seed(None)
    torch.default_generator.manual_seed(0)  # `torch.manual_seed` formats the stack for each kind of device
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


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
