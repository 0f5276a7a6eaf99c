"""Non-maximum suppression of many boxes at once: `tf.image.non_max_suppression_padded`.

The boxes of an image are sorted by score and cut into tiles. Matrices compare the boxes of a tile with the boxes of all
earlier tiles, then with each other. From then on, a suppressed box is a box of zeros.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tapeflow.array.concat_and_split import concat, split
from tapeflow.array.creation import range as range_of
from tapeflow.array.creation import zeros
from tapeflow.array.gathers import gather
from tapeflow.array.masks import where
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.reshapes import expand_dims
from tapeflow.array.sorting import argsort
from tapeflow.core.hooks import hooks
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, less_equal, logical_and, logical_or
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor

_TINY = 1e-8  # added to each union, so that nothing is divided by 0


def select_in_tiles(
    boxes: Any,
    scores: Tensor,
    limit: TensorLike,
    threshold: TensorLike,
    min_score: TensorLike,
    sorted_input: bool,
    canonicalized: bool,
    tile_size: Any,
) -> tuple[Any, Any]:
    """Selects boxes in each image of a batch.

    Args:
        boxes: numbers, `[images, boxes, 4]`. Boxes without a positive coordinate are padding.
        scores: float32, `[images, boxes]`.
        limit: the largest number of boxes to select in an image, an int32 scalar.
        threshold: boxes that overlap by this or more with a better one are suppressed.
        min_score: boxes with this score or a lower one are suppressed.
        sorted_input: the boxes are sorted, the best first.
        canonicalized: the first corner of each box is the lower one. Otherwise the first box of the first image says
            for all boxes which corner is the lower one.
        tile_size: the number of boxes in a tile.

    Returns:
        `(indices, counts)`: int32 of shape `[images, limit]`, zeros after the last selected box, and of `[images]`.
    """
    if not (isinstance(min_score, float) and min_score == -math.inf):
        eligible = logical_or(greater(scores, min_score), equal(min_score, -math.inf))
        scores = scores * cast(eligible, scores.dtype)
        boxes = boxes * cast(expand_dims(eligible, 2), boxes.dtype)
    if not canonicalized:
        boxes = _lower_corner_first(boxes)
    boxes = cast(boxes, float32)
    order = None
    if not sorted_input:
        order = argsort(scores, axis=1, direction="DESCENDING")
        boxes = gather(boxes, order, axis=1, batch_dims=1)
    images, number = shape_of(boxes)[0], shape_of(boxes)[1]
    tiles = (number + tile_size - 1) // tile_size

    def unfinished(boxes: Tensor, counts: Tensor, number: TensorLike) -> Any:
        return logical_and(reduce_min(counts) < limit, number < tiles)

    def suppressed(boxes: Any, counts: Any, number: Any) -> Any:
        start = number * tile_size
        before, tile, after = boxes[:, :start], boxes[:, start : start + tile_size], boxes[:, start + tile_size :]
        clear = reduce_all(_box_overlaps(before, tile) < threshold, 1)
        tile = tile * expand_dims(cast(clear, float32), 2)
        tile = tile * expand_dims(1.0 - cast(_suppressed_by_tile(tile, threshold), float32), 2)
        counts = counts + reduce_sum(cast(_chosen_boxes(tile), int32), 1)
        return concat([before, tile, after], 1), counts, number + 1

    shapes = [TensorShape([None, None, 4]), TensorShape([None]), TensorShape([])]
    boxes, counts, _ = hooks.while_loop(unfinished, suppressed, [boxes, zeros([images], int32), 0], shapes)
    counts = minimum(counts, limit)
    indices = argsort(cast(_chosen_boxes(boxes), int32), axis=1, direction="DESCENDING")[:, :limit]
    if order is not None:
        indices = gather(order, indices, axis=1, batch_dims=1)
    indices = pad(indices, [[0, 0], [0, maximum(limit - number, 0)]])
    return where(range_of(limit) < expand_dims(counts, 1), indices, 0), counts


def _lower_corner_first(boxes: Tensor) -> Any:
    """Returns boxes with the lower corner first, if the first box is like all others."""
    first, second = split(boxes, 2, axis=2)
    ordered = less_equal(first[0, 0], second[0, 0])
    return concat([where(ordered, first, second), where(ordered, second, first)], 2)


def _box_overlaps(rows: Tensor, columns: Tensor) -> Any:
    """Returns the intersection over union of boxes, `[images, rows, columns]`.

    Boxes with the higher corner first have areas of another sign.
    """
    y1, x1, y2, x2 = (expand_dims(rows[..., i], 2) for i in range(4))
    v1, u1, v2, u2 = (expand_dims(columns[..., i], 1) for i in range(4))
    height, width = minimum(y2, v2) - maximum(y1, v1), minimum(x2, u2) - maximum(x1, u1)
    shared = maximum(width, 0.0) * maximum(height, 0.0)
    return shared / ((y2 - y1) * (x2 - x1) + (v2 - v1) * (u2 - u1) - shared + _TINY)


def _suppressed_by_tile(tile: Tensor, threshold: TensorLike) -> Any:
    """Returns for each box of a tile whether a better box of the tile suppresses it, `[images, boxes]`.

    In each round, the boxes that no other suppresses suppress others, and these stop to suppress.
    """
    places = range_of(shape_of(tile)[1])
    better = expand_dims(places, 1) < places
    overlaps = _box_overlaps(tile, tile)
    overlaps = overlaps * cast(logical_and(better, overlaps >= threshold), float32)
    least_change = maximum(threshold, 0.0)  # with a negative one, the rounds would not end

    def changing(overlaps: Tensor, total: Tensor, changed: Tensor) -> Any:
        return changed

    def round_of(overlaps: Tensor, total: Tensor, changed: Tensor) -> Any:
        free = cast(reduce_max(overlaps, 1) < threshold, float32)
        staying = cast(reduce_max(expand_dims(free, 2) * overlaps, 1) < threshold, float32)
        overlaps = expand_dims(staying, 2) * overlaps
        left = reduce_sum(overlaps, [1, 2])
        return overlaps, left, reduce_any(total - left > least_change)

    state = [overlaps, reduce_sum(overlaps, [1, 2]), reduce_any(True)]
    overlaps, _, _ = hooks.while_loop(changing, round_of, state)
    return reduce_sum(overlaps, 1) > 0.0


def _chosen_boxes(boxes: Tensor) -> Any:
    return reduce_any(boxes > 0.0, 2)
