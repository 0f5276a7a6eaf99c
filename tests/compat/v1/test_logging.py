"""The logger: levels, conditions, and messages."""

import logging

import pytest

import tapeflow as tf

log = tf.compat.v1.logging


@pytest.fixture(autouse=True)
def messages(caplog):
    logger, before = logging.getLogger("tensorflow"), log.get_verbosity()
    propagates, logger.propagate = logger.propagate, True
    log.set_verbosity(log.DEBUG)
    yield lambda: [(r.levelname, r.getMessage()) for r in caplog.records]
    logger.propagate = propagates
    log.set_verbosity(before)


def test_levels(messages):
    assert [log.DEBUG, log.INFO, log.WARN, log.ERROR, log.FATAL] == [10, 20, 30, 40, 50]
    for name in ("debug", "info", "warn", "warning", "error", "fatal"):
        getattr(log, name)("%s of %d", name, 2)
    log.log(log.INFO, "plain %s", "x")
    log.vlog(log.ERROR, "v")
    log.TaskLevelStatusMessage("lost")
    assert messages() == [
        ("DEBUG", "debug of 2"), ("INFO", "info of 2"), ("WARNING", "warn of 2"), ("WARNING", "warning of 2"),
        ("ERROR", "error of 2"), ("CRITICAL", "fatal of 2"), ("INFO", "plain x"), ("ERROR", "v"), ("ERROR", "lost"),
    ]  # fmt: skip


def test_verbosity(messages):
    log.set_verbosity(log.ERROR)
    assert log.get_verbosity() == log.ERROR
    log.warn("silent")
    log.error("loud")
    log.set_verbosity("INFO")
    assert log.get_verbosity() == log.INFO
    assert messages() == [("ERROR", "loud")]


def test_conditions(messages):
    log.log_if(log.INFO, "yes", True)
    log.log_if(log.INFO, "no", False)
    for i in range(5):
        log.log_every_n(log.INFO, "every %d", 2, i)
        log.log_first_n(log.INFO, "first %d", 2, i)
    assert [m for _, m in messages()] == ["yes", "every 0", "first 0", "first 1", "every 2", "every 4"]


def test_buffers_are_flushed():
    flushed = []

    class Handler(logging.Handler):
        def emit(self, record):
            pass

        def flush(self):
            flushed.append(True)

    handler = Handler()
    logging.getLogger("tensorflow").addHandler(handler)
    try:
        log.flush()
    finally:
        logging.getLogger("tensorflow").removeHandler(handler)
    assert flushed[0] is True
