"""Trimmers count the items below any dimension."""

import re

import pytest

import tapeflow as tf
from tapeflow import text

WORDS = [[[1, 2], [3], [4, 5, 6]], [], [[7, 8, 9, 10]]]
OTHERS = [[[11], [12, 13]], [[14, 15]], [[16], [], [17]]]


def segments():
    return [tf.ragged.constant(rows, tf.int32, ragged_rank=2) for rows in (WORDS, OTHERS)]


def test_waterfall_fills_with_the_innermost_items():
    first, second = text.WaterfallTrimmer(5).trim(segments())
    assert first.to_list() == [[[1, 2], [3], [4, 5]], [], [[7, 8, 9, 10]]]
    assert second.to_list() == [[[], []], [[14, 15]], [[16], [], []]]


@pytest.mark.parametrize("axis", [1, -2])
def test_waterfall_fills_with_rows(axis):
    first, second = text.WaterfallTrimmer(4, axis=axis).trim(segments())
    assert first.to_list() == WORDS
    assert second.to_list() == [[[11]], [[14, 15]], [[16], [], [17]]]


def test_a_length_for_each_row():
    first, second = text.WaterfallTrimmer([4, 1, 6], axis=-1).trim(segments())
    assert first.to_list() == [[[1, 2], [3], [4]], [], [[7, 8, 9, 10]]]
    assert second.to_list() == [[[], []], [[14]], [[16], [], [17]]]


def test_round_robin_takes_innermost_items_in_turn():
    first, second = text.RoundRobinTrimmer(5, axis=-1).trim(segments())
    assert first.to_list() == [[[1, 2], [3], []], [], [[7, 8, 9]]]
    assert second.to_list() == [[[11], [12]], [[14, 15]], [[16], [], [17]]]


def test_shrinks_the_longest_by_its_innermost_items():
    first, second = text.ShrinkLongestTrimmer(5, axis=-1).trim(segments())
    assert first.to_list() == [[[1, 2], [], []], [], [[7, 8, 9]]]
    assert second.to_list() == [[[11], [12, 13]], [[14, 15]], [[16], [], [17]]]


@pytest.mark.parametrize("select", [text.FirstNItemSelector(3).get_selectable, text.WaterfallTrimmer(3, axis=2).trim])
def test_the_rank_bounds_the_axis(select):
    with pytest.raises(ValueError, match=re.escape("axis=2 out of bounds: expected -2<=axis<2")):
        select(*([segments()[0], 2] if "get" in select.__name__ else [segments()]))


@pytest.mark.parametrize(
    ("selector", "axis", "expected"),
    [
        (text.FirstNItemSelector(3), -1, [[[1, 1], [1], [0, 0, 0]], [], [[1, 1, 1, 0]]]),
        (text.FirstNItemSelector(3), 1, [[1, 1, 1], [], [1]]),
        (text.LastNItemSelector(3), -1, [[[0, 0], [0], [1, 1, 1]], [], [[0, 1, 1, 1]]]),
        (text.FirstNItemSelector([1, 2, 3]), -1, [[[1, 0], [0], [0, 0, 0]], [], [[1, 1, 1, 0]]]),
        (text.FirstNItemSelector([1, 2, 3]), 1, [[1, 0, 0], [], [1]]),
        (text.FirstNItemSelector(3, [3]), -1, [[[1, 1], [0], [1, 0, 0]], [], [[1, 1, 1, 0]]]),
        (text.FirstNItemSelector(3, [3]), 1, [[1, 0, 1], [], [1]]),
    ],
)
def test_selected_items(selector, axis, expected):  # as TensorFlow Text 2.21 selects them
    assert tf.cast(selector.get_selectable(segments()[0], axis), tf.int32).to_list() == expected
