"""Damaged files: each is read, or refused with one of TensorFlow's errors."""

import random

import pytest

from support.corruption import FORMATS, attempts


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_refused(name, tmp_path):
    outcomes = list(attempts(name, str(tmp_path), random.Random(7), 60))
    assert [repr(error) for refused, error in outcomes if not refused and error is not None] == []
    assert any(refused for refused, _ in outcomes)
