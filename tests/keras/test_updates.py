"""Loops that apply gradients eagerly: after some updates, Python code no longer runs for each variable."""

import copy
import gc
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.eager_context import disable_op_determinism

optimizers = tf.keras.optimizers
OPTIMIZERS = {
    "SGD": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "RMSprop": lambda: optimizers.RMSprop(0.01, centered=True),
    "Adam": lambda: optimizers.Adam(0.01, amsgrad=True),
    "AdamW": lambda: optimizers.AdamW(0.01, clipnorm=1.0),
    "a decay with a schedule": lambda: optimizers.AdamW(optimizers.schedules.InverseTimeDecay(0.1, 3, 0.5), 0.1),
    "Adadelta": lambda: optimizers.Adadelta(0.1),
    "Adagrad": lambda: optimizers.Adagrad(0.1, use_ema=True),
    "Adamax": lambda: optimizers.Adamax(0.01),
    "Adafactor": lambda: optimizers.Adafactor(0.01),
    "Nadam": lambda: optimizers.Nadam(0.01, gradient_accumulation_steps=2),
    "Ftrl": lambda: optimizers.Ftrl(0.01),
    "Lion": lambda: optimizers.Lion(0.01),
    "Lamb": lambda: optimizers.Lamb(0.01),
    "a schedule": lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)),
    "a loss scale": lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1), initial_scale=4.0),
}


class Training:
    """A loop over random batches: a dense layer, and rows of a table, as many as `rows` says for a step."""

    def __init__(self, optimizer, rows=lambda step: 6):
        self.random = np.random.default_rng(0)
        self.optimizer, self.rows, self.step = optimizer, rows, 0
        self.variables = [tf.Variable(self.normal(*shape)) for shape in ((7, 5), (5,), (20, 4))]

    def normal(self, *shape):
        return self.random.normal(size=shape).astype(np.float32)

    def run(self, steps):
        kernel, bias, table = self.variables
        for _ in range(steps):
            with tf.GradientTape() as tape:
                y = tf.tanh(self.normal(8, 7) @ kernel + bias)
                words = tf.gather(table, self.random.integers(0, 20, self.rows(self.step)))
                loss = tf.reduce_mean(y**2) + tf.reduce_sum(words**2)
                loss = getattr(self.optimizer, "scale_loss", lambda x: x)(loss)
            self.optimizer.apply_gradients(zip(tape.gradient(loss, self.variables), self.variables, strict=True))
            self.step += 1
        return [v.numpy() for v in self.variables]


@pytest.fixture
def calls(monkeypatch):
    """The variables that SGD's Python code updated."""
    updated, update = [], optimizers.SGD.update_step

    def update_step(self, gradient, variable, learning_rate):
        updated.append(variable)
        return update(self, gradient, variable, learning_rate)

    monkeypatch.setattr(optimizers.SGD, "update_step", update_step)
    return updated


@pytest.fixture
def determinism():
    """Starts the determinism of ops; the test's end stops it."""

    def start():
        tf.config.experimental.enable_op_determinism()
        tf.random.set_seed(0)  # random ops then need one

    yield start
    disable_op_determinism()


def same(ours, expected):
    for value, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_updates_are_those_of_the_python_code(name, determinism):
    training = Training(OPTIMIZERS[name]())
    values = training.run(14)
    determinism()
    same(values, Training(OPTIMIZERS[name]()).run(14))
    assert int(training.optimizer.iterations.numpy()) in (7, 14)


def test_python_code_runs_no_longer_for_each_update(calls):
    training = Training(optimizers.SGD(0.1))
    training.run(12)
    del calls[:]
    training.run(3)
    assert calls == []


def test_with_determinism_it_does(calls, determinism):
    determinism()
    Training(optimizers.SGD(0.1)).run(12)
    assert len(calls) == 36


def test_a_subclass_updates_in_python_each_time(calls):
    class Printing(optimizers.SGD):
        pass

    Training(Printing(0.1)).run(12)
    assert len(calls) == 36


def test_a_training_that_goes_on_from_a_checkpoint_has_the_same_bits(tmp_path):
    at_once = Training(optimizers.Adam(0.1))
    expected = at_once.run(18)
    first = Training(optimizers.Adam(0.1))
    first.run(12)
    path = tf.train.Checkpoint(optimizer=first.optimizer, variables=first.variables).save(str(tmp_path / "ckpt"))
    second = Training(optimizers.Adam(0.1))
    second.random, second.step = first.random, first.step
    second.optimizer.build(second.variables)
    tf.train.Checkpoint(optimizer=second.optimizer, variables=second.variables).restore(path)
    for value, other in zip(second.run(6), expected, strict=True):
        assert np.array_equal(value, other)


def test_attributes_that_change_with_each_update_stay_eager(calls):
    training = Training(optimizers.SGD(0.1, momentum=0.5))
    for step in range(24):
        training.optimizer.momentum = 0.5 + step / 100
        training.run(1)
    del calls[:]
    training.optimizer.momentum = 0.9
    training.run(1)
    assert len(calls) == 3


def test_numbers_of_rows_may_vary(calls):
    varying = Training(optimizers.SGD(0.1), rows=lambda step: 3 + step % 4)
    varying.run(12)
    del calls[:]
    varying.run(6)
    assert calls == []


@pytest.mark.parametrize("attribute", ["momentum", "learning_rate", "nesterov", "weight_decay"])
def test_a_changed_attribute_takes_effect(attribute, determinism):
    def values():
        training = Training(optimizers.SGD(0.1, momentum=0.5, weight_decay=0.5))
        training.run(12)
        setattr(training.optimizer, attribute, 0.25 if attribute != "nesterov" else True)
        return training.run(12)

    compiled = values()
    determinism()
    same(compiled, values())


def test_a_copy_has_updates_and_a_turn_of_its_own():
    training = Training(optimizers.SGD(0.1, momentum=0.9))
    training.run(12)
    before = [v.numpy() for v in training.optimizer.variables]
    copied = copy.deepcopy(training.optimizer)
    Training(copied).run(12)
    assert int(copied.iterations.numpy()) == 12
    for value, variable in zip(before, training.optimizer.variables, strict=True):
        assert np.array_equal(value, variable.numpy())


def test_an_optimizer_and_its_variables_are_freed():
    training = Training(optimizers.Adam(0.1))
    training.run(12)
    optimizer, kernel = weakref.ref(training.optimizer), weakref.ref(training.variables[0])
    del training
    gc.collect()
    assert optimizer() is None
    assert kernel() is None
