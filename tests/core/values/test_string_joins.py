"""Joins of strings, of few and of many."""

import numpy as np
import pytest

from tapeflow.core.values.string_joins import join_elements, join_segments
from tapeflow.core.values.strings import StringArray


def texts_of(count, rng):
    random = np.random.default_rng(rng)
    return [bytes(random.integers(0, 256, int(size)).astype(np.uint8)) for size in random.integers(0, 25, count)]


@pytest.mark.parametrize("count", [0, 1, 32, 33, 100])
@pytest.mark.parametrize("separator", [b"", b"-", b", "])
def test_elements(count, separator):
    a, b = texts_of(count, 1), texts_of(count, 2)
    first, second, scalar = StringArray.of(a), StringArray.of(b), StringArray.scalar(b"same")
    for arrays, expected in (
        ([first], a),
        ([first, second], [separator.join(pair) for pair in zip(a, b, strict=True)]),
        ([scalar, first, scalar], [separator.join((b"same", text, b"same")) for text in a]),
    ):
        found = join_elements(arrays, (count,), separator)
        assert found.shape == (count,) and found.tolist() == expected
    if count == 100:
        assert (
            join_elements([first.reshape(20, 5), scalar], (20, 5), separator).tolist()[3][4]
            == a[19] + separator + b"same"
        )
    assert join_elements([scalar, scalar], (), separator).item() == b"same" + separator + b"same"


@pytest.mark.parametrize("count", [5, 33, 90])
@pytest.mark.parametrize("separator", [b"", b"--"])
@pytest.mark.parametrize("drops_empty", [False, True])
def test_segments(count, separator, drops_empty):
    texts = texts_of(count, 3)
    texts[0] = texts[1] = texts[3] = b""
    places = np.array([0, 1, 2, 3, 4, *np.random.default_rng(4).integers(0, count, count)])
    splits = np.array([0, 0, 4, 5, len(places), len(places)])
    expected = []
    for start, stop in zip(splits, splits[1:], strict=False):
        words = [texts[i] for i in places[start:stop]]
        while drops_empty and words and not words[0]:
            words.pop(0)
        expected.append(separator.join(words))
    found = join_segments(StringArray.of(texts), places, splits, separator, (5, 1), drops_empty)
    assert found.shape == (5, 1) and [row[0] for row in found.tolist()] == expected
