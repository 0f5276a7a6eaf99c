"""Tests that run once for each strategy, and what they import from `tensorflow.python.distribute`."""

import importlib
import unittest

import pytest
from absl.testing import parameterized

import tapeflow as tf

distribute = tf.__internal__.distribute.combinations
combine, STRATEGIES = distribute.combine, [distribute.default_strategy, distribute.one_device_strategy]


def run_tests(case):
    """Runs a class of tests; returns the errors, and why tests were skipped."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return [*result.failures, *result.errors], {reason for _, reason in result.skipped} - {"Not a test."}


def test_a_test_gets_each_strategy_in_each_mode():
    ran = []

    class Case(tf.test.TestCase, parameterized.TestCase):
        @distribute.generate(combine(distribution=STRATEGIES, mode=distribute.graph_and_eager_modes, n=[3]))
        def test_it(self, distribution, n):
            ran.append((type(distribution).__name__, tf.executing_eagerly(), n))

    assert run_tests(Case) == ([], set())
    names = {type(tf.distribute.get_strategy()).__name__, "OneDeviceStrategy"}
    assert set(ran) == {(name, mode, 3) for name in names for mode in (True, False)} and len(ran) == 4


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        ("tpu_strategy", "Test requires a TPU, but none are available."),
        ("multi_worker_mirrored_2x1_cpu", "Test requires several tasks."),
        ("mirrored_strategy_with_two_gpus", "Only 0 of 2 required GPUs are available."),
    ],
)
def test_what_is_missing_is_skipped(strategy, reason, monkeypatch):
    monkeypatch.setattr(importlib.import_module(distribute.__name__), "list_logical_devices", lambda kind: [])

    class Case(tf.test.TestCase, parameterized.TestCase):
        @distribute.generate(combine(distribution=getattr(distribute, strategy)))
        def test_it(self, distribution):
            raise AssertionError("it runs")

    errors, skipped = run_tests(Case)
    assert errors == [] and reason in next(iter(skipped))


def test_cluster_parameters_go_to_tests_that_ask_for_them():
    ran = []

    class Case(tf.test.TestCase, parameterized.TestCase):
        @distribute.generate(combine(num_workers=1, has_chief=False, mode="eager", required_gpus=0))
        def test_it(self, num_workers, num_ps):
            ran.append((num_workers, num_ps))

    assert run_tests(Case) == ([], set()) and ran == [(1, 0)]


def test_lists_of_combinations():
    assert distribute.concat(combine(a=1), combine(b=[2, 3])) == [{"a": 1}, {"b": 2}, {"b": 3}]
    assert [str(s) for s in distribute.strategies_minus_default_and_tpu] == [
        "OneDeviceCPU", "OneDeviceGPU", "MirroredCPUAndGPU", "Mirrored2GPUs",
    ]  # fmt: skip
    assert distribute.tf_function(lambda: tf.constant(3))().numpy() == 3
    assert distribute.in_main_process() and distribute.env().total_phsyical_gpus is None
