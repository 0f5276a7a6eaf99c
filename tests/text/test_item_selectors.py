"""Selectors of items, choosers of masks and the masking of tokens. TensorFlow Text gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows
from tapeflow import text

C = tf.ragged.constant
R = C([[1, 2, 3, 4], [], [5, 1], [6]])
W = C([[[1, 2], [3], [4, 5]], [], [[1], [6, 7]]])
First, Last, Random = text.FirstNItemSelector, text.LastNItemSelector, text.RandomItemSelector
MASKS = text.MaskValuesChooser(100, mask_token=99, mask_token_rate=1.0, random_token_rate=0.0)


def unshuffled(rate, most=9, **options):
    return Random(most, rate, shuffle_fn=lambda x: tf.reverse(x, [0]), **options)


def parts(selector):
    return selector.max_selections_per_batch, selector.selection_rate, selector.unselectable_ids


def chosen(rate, random_rate, count=4000):
    """Returns which kinds of tokens are chosen: kept ones, masks, and others."""
    tf.random.set_seed(7)
    chooser = text.MaskValuesChooser(50, mask_token=77, mask_token_rate=rate, random_token_rate=random_rate)
    values = chooser.get_mask_values(tf.ragged.constant([[60] * count])).flat_values
    others = tf.boolean_mask(values, (values != 60) & (values != 77))
    counts = [tf.reduce_sum(tf.cast(values == n, tf.float32)) / count for n in (60, 77)]
    return [round(float(n), 1) for n in counts], not len(others) or (int(others[0]) >= 0 and max(others.numpy()) < 50)


ROWS = read_rows(r"""
First(2).get_selection_mask(R, axis=1)
    bool (4, None) [[True, True, False, False], [], [True, True], [True]]
First(2).get_selection_mask(R)
    bool (4, None) [[True, True, False, False], [], [True, True], [True]]
First(0).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, False, False], [], [False, False], [False]]
First(9).get_selection_mask(R, axis=-1)
    bool (4, None) [[True, True, True, True], [], [True, True], [True]]
First([1, 2, 0, 3]).get_selection_mask(R, axis=1)
    bool (4, None) [[True, False, False, False], [], [False, False], [True]]
First(tf.constant([1, 2, 0, 3], tf.int64)).get_selection_mask(R, axis=1)
    bool (4, None) [[True, False, False, False], [], [False, False], [True]]
First(2, unselectable_ids=[1]).get_selection_mask(R, axis=1)
    bool (4, None) [[False, True, True, False], [], [True, False], [True]]
First(2, unselectable_ids=[1, 3]).get_selection_mask(R, axis=1)
    bool (4, None) [[False, True, False, True], [], [True, False], [True]]
First(2, [2, 4, 5]).get_selectable(R, axis=1)
    bool (4, None) [[True, False, True, False], [], [False, True], [True]]
First(2, tf.constant([1, 5])).get_selection_mask(R, axis=1)
    bool (4, None) [[False, True, True, False], [], [False, False], [True]]
First(2, tf.constant([[1, 5]]))
    ValueError: `unselectable_ids` must have a rank of 1 or None, but was: 2
First(2, tf.constant(1))
    ValueError: `unselectable_ids` must have a rank of 1 or None, but was: 0
First(2, (1, 2))
    ValueError: `unselectable_ids` must be a list or a vector, instead it is a (1, 2)
First(2, 5)
    ValueError: `unselectable_ids` must be a list or a vector, instead it is a 5
First(2).unselectable_ids
    ()
First(2, [1, 2]).unselectable_ids
    (1; 2)
First(2, tf.constant([1, 5])).unselectable_ids
    (int32 [] 1; int32 [] 5)
Last(2).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, True, True], [], [True, True], [True]]
Last(1).get_selection_mask(R)
    bool (4, None) [[False, False, False, True], [], [False, True], [True]]
Last(0).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, False, False], [], [False, False], [False]]
Last([1, 2, 0, 3]).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, False, True], [], [False, False], [True]]
Last(2, unselectable_ids=[4]).get_selection_mask(R, axis=1)
    bool (4, None) [[False, True, True, False], [], [True, True], [True]]
First(2).get_selection_mask(W, axis=1)
    bool (3, None) [[True, True, False], [], [True, True]]
First(2).get_selection_mask(W, axis=2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
First(2).get_selection_mask(W, axis=-1)
    bool (3, None, None) [[[True, True], [False], [False, False]], [], [[True], [True, False]]]
First(2).get_selection_mask(W, axis=-2)
    bool (3, None) [[True, True, False], [], [True, True]]
Last(1).get_selection_mask(W, axis=1)
    bool (3, None) [[False, False, True], [], [False, True]]
First(2, unselectable_ids=[3]).get_selection_mask(W, axis=1)
    bool (3, None) [[True, False, True], [], [True, True]]
First(2, unselectable_ids=[1]).get_selection_mask(W, axis=2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
First(2).get_selection_mask(R, axis=2)
    ValueError: inner_axis=2 out of bounds: expected -2<=inner_axis<2
unshuffled(0.5).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, True, True], [], [False, True], [True]]
unshuffled(0.5).get_selection_mask(R)
    bool (4, None) [[False, False, True, True], [], [False, True], [True]]
unshuffled(0.3).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, True, True], [], [False, True], [True]]
unshuffled(1.0, most=1).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, False, True], [], [False, True], [True]]
unshuffled(0.0).get_selection_mask(R, axis=1)
    bool (4, None) [[False, False, False, False], [], [False, False], [False]]
unshuffled(1.0, unselectable_ids=[1, 6]).get_selection_mask(R, axis=1)
    bool (4, None) [[False, True, True, True], [], [True, False], [False]]
unshuffled(0.5).get_selection_mask(W, axis=1)
    bool (3, None) [[False, True, True], [], [False, True]]
unshuffled(0.5).get_selection_mask(W, axis=2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
parts(unshuffled(0.5, most=3, unselectable_ids=[2]))
    (3; 0.5; (2))
Random(2, 0.5).max_selections_per_batch
    2
Random(2, None)
    ValueError: `selection_rate` cannot be None
Random(2, 0.5, shuffle_fn=tf.negative).shuffle_fn(tf.constant([3]))
    int32 [1] [-3]
MASKS.mask_token
    99
MASKS.random_token_rate
    0
MASKS.vocab_size
    100
text.MaskValuesChooser(10, 3).random_token_rate
    0.1
text.MaskValuesChooser(10, 3, mask_token_rate=None)
    ValueError: `mask_token_rate` cannot be None
text.MaskValuesChooser(10, 3, random_token_rate=None)
    ValueError: `random_token_rate` cannot be None
text.MaskValuesChooser(10, 3, 0.9, 0.2).get_mask_values(R)
    InvalidArgumentError: Expected 'False' to be true. Summarized data: b'mask_token_rate + random_token_rate must
    be <= 1'
MASKS.get_mask_values(R)
    int32 (4, None) [[99, 99, 99, 99], [], [99, 99], [99]]
MASKS.get_mask_values(tf.cast(R, tf.int64))
    int64 (4, None) [[99, 99, 99, 99], [], [99, 99], [99]]
MASKS.get_mask_values(W)
    int32 (3, None, None) [[[99, 99], [99], [99, 99]], [], [[99], [99, 99]]]
text.MaskValuesChooser(100, 99, 0.0, 0.0).get_mask_values(R)
    int32 (4, None) [[1, 2, 3, 4], [], [5, 1], [6]]
chosen(0.5, 0.3)
    ((0.2; 0.5); bool True)
chosen(0.0, 1.0)
    ((0; 0); bool True)
chosen(1.0, 0.0)
    ((0; 1); True)
chosen(0.2, 0.0)
    ((0.8; 0.2); True)
text.mask_language_model(R, First(2), MASKS)
    (int32 (4, None) [[99, 99, 3, 4], [], [99, 99], [99]]; int64 (4, None) [[0, 1], [], [0, 1], [0]]; int32 (4,
    None) [[1, 2], [], [5, 1], [6]])
text.mask_language_model(R, First(2, [1]), MASKS, axis=1)
    (int32 (4, None) [[1, 99, 99, 4], [], [99, 1], [99]]; int64 (4, None) [[1, 2], [], [0], [0]]; int32 (4, None)
    [[2, 3], [], [5], [6]])
text.mask_language_model(W, First(1), MASKS, axis=1)
    (int32 (3, None) [[99, 99, 3, 4, 5], [], [99, 6, 7]]; int64 (3, None) [[0, 1], [], [0]]; int32 (3, None) [[1,
    2], [], [1]])
text.mask_language_model(W, First(1), MASKS, axis=2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
text.mask_language_model(R, unshuffled(0.5), MASKS)
    (int32 (4, None) [[1, 2, 99, 99], [], [5, 99], [99]]; int64 (4, None) [[2, 3], [], [1], [0]]; int32 (4, None)
    [[3, 4], [], [1], [6]])
text.mask_language_model(tf.cast(R, tf.int64), Last(1), MASKS)
    (int64 (4, None) [[1, 2, 3, 99], [], [5, 99], [99]]; int64 (4, None) [[3], [], [1], [0]]; int64 (4, None) [[4],
    [], [1], [6]])
text.mask_language_model(R, [1], MASKS)
    ValueError: `item_selector` must be an instance of `ItemSelector`
text.mask_language_model(R, First(2), 5)
    ValueError: `mask_values_chooser` must be an instance of `MaskValuesChooser`
text.WaterfallTrimmer(3).generate_mask([C([[1, 2]]), C([[3, 4]])])
    (bool (1, None) [[True, True]]; bool (1, None) [[True, False]])
text.WaterfallTrimmer(3).trim([C([[1, 2], []]), C([[3, 4], [5, 6, 7, 8]]), C([[9], [10]])])
    (int32 (2, None) [[1, 2], []]; int32 (2, None) [[3], [5, 6, 7]]; int32 (2, None) [[], []])
text.WaterfallTrimmer(0).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[]]; int32 (1, None) [[]])
text.WaterfallTrimmer([1, 3]).trim([C([[1, 2], []]), C([[3, 4], [5, 6, 7, 8]])])
    (int32 (2, None) [[1], []]; int32 (2, None) [[], [5, 6, 7]])
text.WaterfallTrimmer(2).trim([C([[b'a', b'b', b'c']]), C([[b'd']])])
    (string (1, None) [[b'a', b'b']]; string (1, None) [[]])
text.RoundRobinTrimmer(3).trim([C([[1, 2, 3], []]), C([[4, 5], [6, 7, 8, 9]]), C([[10], [11]])])
    (int32 (2, None) [[1], []]; int32 (2, None) [[4], [6, 7]]; int32 (2, None) [[10], [11]])
text.RoundRobinTrimmer(3).generate_mask([C([[1, 2, 3], []]), C([[4, 5], [6, 7, 8, 9]]), C([[10], [11]])])
    (bool (2, None) [[True, False, False], []]; bool (2, None) [[True, False], [True, True, False, False]]; bool (2,
    None) [[True], [True]])
text.RoundRobinTrimmer(7).trim([C([[1, 2, 3, 4, 5]]), C([[6]]), C([[7, 8, 9, 10]])])
    (int32 (1, None) [[1, 2, 3]]; int32 (1, None) [[6]]; int32 (1, None) [[7, 8, 9]])
text.RoundRobinTrimmer(8).trim([C([[1, 2, 3, 4, 5]]), C([[6]]), C([[7, 8, 9, 10]])])
    (int32 (1, None) [[1, 2, 3, 4]]; int32 (1, None) [[6]]; int32 (1, None) [[7, 8, 9]])
text.RoundRobinTrimmer(1).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[1]]; int32 (1, None) [[]])
text.RoundRobinTrimmer(0).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[]]; int32 (1, None) [[]])
text.RoundRobinTrimmer(-1).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[]]; int32 (1, None) [[]])
text.RoundRobinTrimmer(99).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[1, 2]]; int32 (1, None) [[3, 4]])
text.RoundRobinTrimmer(3).trim([C([['a', 'b']]), C([['c', 'd']])])
    (string (1, None) [[b'a', b'b']]; string (1, None) [[b'c']])
text.ShrinkLongestTrimmer(3).trim([C([[1, 2, 3], []]), C([[4, 5], [6, 7, 8, 9]])])
    (int32 (2, None) [[1], []]; int32 (2, None) [[4, 5], [6, 7, 8]])
text.ShrinkLongestTrimmer(3).generate_mask([C([[1, 2, 3], []]), C([[4, 5], [6, 7, 8, 9]])])
    (bool (2, None) [[True, False, False], []]; bool (2, None) [[True, True], [True, True, True, False]])
text.ShrinkLongestTrimmer(0).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[]]; int32 (1, None) [[]])
text.ShrinkLongestTrimmer(4).trim([C([[1, 2]]), C([[3, 4]])])
    (int32 (1, None) [[1, 2]]; int32 (1, None) [[3, 4]])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
