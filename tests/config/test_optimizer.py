"""Settings of the optimization of graphs."""

import pytest

import tapeflow as tf
from tapeflow.core.settings import settings


def test_compiling_automatically(monkeypatch):
    monkeypatch.setattr(settings, "jit", "")
    for enabled, expected in ((True, "autoclustering"), (False, ""), ("autoclustering", "autoclustering")):
        tf.config.optimizer.set_jit(enabled)
        assert tf.config.optimizer.get_jit() == expected
    with pytest.raises(ValueError, match="`enabled` must be True, False or 'autoclustering', not 'x'"):
        tf.config.optimizer.set_jit("x")
    assert tf.config.optimizer.get_jit() == "autoclustering"


def test_options_add_up(monkeypatch):
    monkeypatch.setattr(settings, "optimizer_options", {})
    defaults = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    assert tf.config.optimizer.get_experimental_options() == defaults
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    options = tf.config.optimizer.get_experimental_options()
    assert options == {"constant_folding": False, "disable_model_pruning": False, "disable_meta_optimizer": True}
    options.clear()
    assert len(tf.config.optimizer.get_experimental_options()) == 3
