"""What tests of `tensorflow.python` share."""

import gc

import pytest


@pytest.fixture
def few_objects():
    """The garbage collector has few objects to look at: tests that count objects run it again and again, and the
    process has millions of earlier tests."""
    gc.collect()
    gc.freeze()
