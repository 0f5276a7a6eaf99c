"""A hash table that numbers strings: whether they come in few or many, lately or long ago."""

import random

import numpy as np
import pytest

from tapeflow.core.values.string_index import StringIndex
from tapeflow.core.values.strings import StringArray


@pytest.mark.parametrize("most", [1, 3, 40])
def test_numbers_are_those_of_a_dict(most):
    choose, index, expected = random.Random(most), StringIndex(), {}
    for _ in range(100):
        few = [b"%d" % choose.randrange(150) * choose.choice((1, 9)) for _ in range(choose.randrange(1, most + 1))]
        found = index.find(StringArray.of(few))
        assert found.tolist() == [expected.get(string, -1) for string in few] and found.dtype == np.int64
        if choose.random() < 0.7:
            numbers = index.add(StringArray.of(few))
            assert numbers.tolist() == [expected.setdefault(string, len(expected)) for string in few]
            assert numbers.dtype == np.int64
    assert len(index) == len(expected) and index.strings.tolist() == list(expected)
