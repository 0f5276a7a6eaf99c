"""Decorators of tests."""

import unittest

import pytest

import tapeflow as tf


def test_a_predicate_is_asked_when_the_test_runs():
    answers = [False, True]

    @tf.test.disable_with_predicate(pred=lambda: answers.pop(0), skip_message="not now")
    def test_sum(self, a, b=0):
        """Adds."""
        return self, a, b

    assert test_sum.__name__ == "test_sum" and test_sum.__doc__ == "Adds."
    assert test_sum("case", 1, b=2) == ("case", 1, 2)
    with pytest.raises(unittest.SkipTest, match="not now"):
        test_sum("case", 1)
