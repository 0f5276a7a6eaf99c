"""What holds for every test."""

import pytest

import tapeflow as tf


@pytest.fixture(autouse=True)
def no_global_seed():
    """A test that sets the global seed decides nothing for the next one."""
    tf.random.set_seed(None)
