"""Non-maximum suppression: of boxes that overlap, only the one with the highest score remains.

Sources: Neubeck and Van Gool, "Efficient non-maximum suppression", ICPR 2006; Bodla, Singh, Chellappa and Davis,
"Soft-NMS: improving object detection with one line of code", ICCV 2017.
"""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.reshapes import reshape
from tapeflow.core.loops import Int32s, Int64s, Numbers, exp, loop
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_rank, check_ranks_first, text, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.image.tiled_box_suppression import select_in_tiles

CombinedNonMaxSuppression = namedtuple(
    "CombinedNonMaxSuppression", ["nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"]
)

# ---- the algorithm ---------------------------------------------------------------------------------------------------


@loop
def _order_boxes(boxes: Numbers, n: int, corners: Numbers) -> None:
    """Writes the lower and upper corner of each box, and its area."""
    for i in range(n):
        y, x, y2, x2 = boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]
        corners[5 * i] = y2 if y2 < y else y
        corners[5 * i + 1] = x2 if x2 < x else x
        corners[5 * i + 2] = y2 if y2 > y else y
        corners[5 * i + 3] = x2 if x2 > x else x
        corners[5 * i + 4] = (corners[5 * i + 2] - corners[5 * i]) * (corners[5 * i + 3] - corners[5 * i + 1])


@loop
def _overlap_of_boxes(corners: Numbers, i: int, j: int) -> float:
    """Returns the intersection over union of two boxes."""
    area, area2 = corners[5 * i + 4], corners[5 * j + 4]
    if not (area > 0.0 and area2 > 0.0):
        return 0.0
    low, low2 = corners[5 * i], corners[5 * j]
    high, high2 = corners[5 * i + 2], corners[5 * j + 2]
    height = (high2 if high2 < high else high) - (low2 if low2 > low else low)
    low, low2 = corners[5 * i + 1], corners[5 * j + 1]
    high, high2 = corners[5 * i + 3], corners[5 * j + 3]
    width = (high2 if high2 < high else high) - (low2 if low2 > low else low)
    if height > 0.0 and width > 0.0:
        shared = height * width
        return shared / (area + area2 - shared)
    return 0.0


@loop
def _sift_down(heap: Int64s, size: int, scores: Numbers, place: int) -> None:
    """Moves a box down a heap, until its children have lower scores, or equal ones and larger numbers."""
    box = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            a, b = heap[child], heap[child + 1]
            if scores[b] > scores[a] or (scores[b] == scores[a] and b < a):
                child += 1
        a = heap[child]
        if scores[box] > scores[a] or (scores[box] == scores[a] and box < a):
            break
        heap[place] = a
        place = child
    heap[place] = box


@loop
def _select_best(
    boxes: Numbers, has_overlaps: int, scores: Numbers, n: int, limit: int, threshold: float, least: float,
    scale: float, heap: Int64s, compared: Int64s, selected: Int32s, selected_scores: Numbers,
) -> int:  # fmt: skip
    """Selects boxes, the best one first, and returns their number.

    Args:
        boxes: ordered boxes, see `_order_boxes`, or the overlaps of boxes, `[n, n]`.
        has_overlaps: `boxes` are overlaps.
        scores: the scores, which soft suppression changes.
        n: the number of boxes.
        limit: the largest number of boxes to select.
        threshold: boxes that overlap by more than this with a better one are suppressed.
        least: boxes with this score or a lower one are suppressed.
        scale: if not 0, a score is multiplied by `exp(scale * overlap ** 2)` for each better box instead.
        heap: a buffer of `n` numbers.
        compared: zeros, of each box: the number of selected boxes that it was compared with.
        selected, selected_scores: receive the boxes and their scores.
    """
    size, count = 0, 0
    for i in range(n):
        if scores[i] > least:
            heap[size] = i
            size += 1
    for i in range(size // 2 - 1, -1, -1):
        _sift_down(heap, size, scores, i)
    while size > 0 and count < limit:
        box = heap[0]
        score, suppressed = scores[box], 0
        for j in range(count - 1, compared[box] - 1, -1):
            other = selected[j]
            overlap = boxes[box * n + other] if has_overlaps else _overlap_of_boxes(boxes, box, other)
            if scale != 0.0:
                score *= exp(scale * overlap * overlap)
                if not score > least:
                    break
            elif overlap > threshold:
                suppressed = 1
                break
        compared[box] = count
        if not suppressed and score == scores[box]:
            selected[count], selected_scores[count] = box, score
            count += 1
            suppressed = 1
        if suppressed or not score > least:
            size -= 1
            heap[0] = heap[size]
        else:
            scores[box] = score
        _sift_down(heap, size, scores, 0)
    return count


def _select_boxes(
    boxes: torch.Tensor, scores: torch.Tensor, limit: int, threshold: float, least: float, sigma: float = 0.0,
    has_overlaps: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Returns the numbers of the selected boxes, int32, the best one first, and their scores; see `_select_best`."""
    n = scores.numel()
    limit = min(limit, n)
    numbers, selected = torch.zeros(2 * n, dtype=torch.int64), torch.empty(limit, dtype=torch.int32)
    best = torch.empty(limit)
    count = _select_best(
        boxes, has_overlaps, scores.clone() if sigma else scores, n, limit, threshold, least,
        -0.5 / sigma if sigma else 0.0, numbers[n:], numbers, selected, best,
    )  # fmt: skip
    return selected[:count], best[:count]


def _ordered_boxes(boxes: torch.Tensor) -> torch.Tensor:
    corners = torch.empty(len(boxes), 5)
    _order_boxes(boxes, len(boxes), corners)
    return corners


def _scalar_number(value: torch.Tensor, name: str) -> float:
    """Returns the number in a scalar."""
    if value.ndim:
        raise invalid(f"{name} must be 0-D, got shape {text(value.shape)}")
    return float(value)


def _box_count(value: int | tuple[int, ...]) -> int:
    """Returns a number of boxes, if it is valid."""
    if type(value) is not int:
        raise invalid(f"max_output_size must be 0-D, got shape {text(np.shape(value))}")
    if value < 0:
        raise invalid("output size must be non-negative")
    return value


def _iou_threshold(value: torch.Tensor) -> float:
    """Returns the threshold in a scalar, if it is in [0, 1]."""
    threshold = _scalar_number(value, "iou_threshold")
    if not 0 <= threshold <= 1:
        raise invalid("iou_threshold must be in [0, 1]")
    return threshold


def _check_boxes(boxes: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns ordered boxes and scores in float32 on the host, if their shapes are valid."""
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if scores.ndim != 1:
        raise invalid(f"scores must be 1-D{text(scores.shape)}")
    if scores.shape[0] != boxes.shape[0]:
        raise invalid(
            f"scores has incompatible shape (Dimensions must be equal, but are {boxes.shape[0]} and {scores.shape[0]})"
        )
    return _ordered_boxes(boxes.float().cpu().contiguous()), scores.float().cpu().contiguous()


# ---- ops -------------------------------------------------------------------------------------------------------------


def _suppress_boxes(
    boxes: torch.Tensor, scores: torch.Tensor, size: Any, iou: torch.Tensor, least: torch.Tensor, sigma: float = 0.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Selects boxes by the arguments of an op; see `_select_boxes`."""
    arrays, limit, threshold = _check_boxes(boxes, scores), _box_count(size), _iou_threshold(iou)
    return _select_boxes(*arrays, limit, threshold, _scalar_number(least, "score_threshold"), sigma)


def _suppress_kernel(boxes: torch.Tensor, *args: Any) -> torch.Tensor:
    return _suppress_boxes(boxes, *args)[0].to(boxes.device)


def _suppress_and_pad(
    pads: Any, boxes: torch.Tensor, scores: torch.Tensor, size: Any, *others: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the indices of the selected boxes, their scores, and their number."""
    indices, selected_scores = _suppress_boxes(boxes, scores, size, *others)
    count = torch.tensor(len(indices), dtype=torch.int32, device=boxes.device)
    if pads:
        check_memory([size], 4, UNFILLED)
        padding = (0, size - len(indices))
        indices, selected_scores = (torch.nn.functional.pad(x, padding) for x in (indices, selected_scores))
    return indices.to(boxes.device), selected_scores.to(boxes.device, scores.dtype), count


def _check_shapes(boxes: TensorShape, scores: TensorShape, columns: int | None = 4) -> None:
    count = with_rank(scores, 1)[0]
    boxes.assert_is_compatible_with([count, count if columns is None else columns])


def _boxes_rule(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a shape rule that first checks the ranks of boxes, scores, the number of boxes and the thresholds."""

    def check_count(boxes: TensorShape, scores: TensorShape, count: Any, *rest: Any) -> Any:
        check_rank(count, 0)
        if isinstance(count, tuple):
            raise invalid(f"Shape must be rank 0 but is rank {len(np.shape(count))}")
        return rule(boxes, scores, count, *rest)

    return check_ranks_first(check_count, 2, 1, None, 0, 0, 0)


def _unknown_length(boxes: TensorShape, scores: TensorShape, *_: Any, columns: int | None = 4) -> TensorShape:
    _check_shapes(boxes, scores, columns)
    return TensorShape([None])


@op("NonMaxSuppressionV3", kernel=_suppress_kernel, host=("max_output_size",), shape=_boxes_rule(_unknown_length))
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = -math.inf,
    name: str | None = None,
) -> Tensor:
    """Selects boxes: each one suppresses the boxes that overlap with it and have a lower score.

    Args:
        boxes: a float16 or float32 tensor of shape `[boxes, 4]`: `[y1, x1, y2, x2]`, two opposite corners.
        scores: a tensor of shape `[boxes]`, of the same dtype.
        max_output_size: the largest number of boxes to select, a scalar.
        iou_threshold: boxes overlap if their intersection over union is greater than this scalar; 0.5 by default.
        score_threshold: boxes with this score or a lower one are suppressed; a scalar. The default is -inf.

    Returns:
        The indices of the selected boxes, int32 of shape `[n]` with `n <= max_output_size`, the best box first.

    Raises:
        InvalidArgumentError: the shapes do not match, or the threshold is not in [0, 1].

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.7], max_output_size=3).numpy().tolist()
        [1, 2]
    """


def _padded_shapes(*args: Any) -> list[TensorShape]:
    _check_shapes(*args[:2])
    size, pads = args[2], args[-1]
    length = TensorShape([size if pads is True and type(size) is int else None])
    return [length, TensorShape([])]


# Returns the indices of the selected boxes, and their number.
_non_max_suppression_padded = defined_op(
    "NonMaxSuppressionV4",
    lambda *args: _suppress_and_pad(args[-1], *args[:-1])[::2],
    host=("max_output_size",),
    shape=_boxes_rule(_padded_shapes),
)


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = -math.inf,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """Selects boxes like `tf.image.non_max_suppression`, for batches, with a result of a static size.

    Args:
        boxes: a float32 tensor of shape `[..., boxes, 4]`: `[y1, x1, y2, x2]`. Boxes without a positive coordinate are
            padding.
        scores: a tensor of shape `[..., boxes]`.
        max_output_size: the largest number of boxes to select, a scalar.
        score_threshold: boxes with this score or a lower one are suppressed; a scalar. The default is -inf.
        iou_threshold: boxes overlap if their intersection over union is this scalar or greater; 0.5 by default.
        pad_to_max_output_size: pads the result with zeros to `max_output_size`. Required for batches.
        sorted_input: declares that the boxes are sorted by score, the best first.
        canonicalized_coordinates: declares that the first corner of each box is the lower one. Otherwise the first
            box tells for all boxes which corner is the lower one.
        tile_size: an int, the number of boxes that are compared with each other at once; 512 by default.

    Returns:
        `(indices, counts)`: int32 of shape `[..., max_output_size]`, or `[n]` with `n <= max_output_size` without
        padding, and int32 of shape `[...]`.

    Raises:
        ValueError: there is a batch, and no padding.
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> scores = [0.5, 0.9, 0.7]
        >>> numbers, count = tf.image.non_max_suppression_padded(boxes, scores, 3, pad_to_max_output_size=True)
        >>> numbers.numpy().tolist(), int(count)
        ([1, 2, 0], 2)
    """
    if not pad_to_max_output_size:
        unconverted: Any = boxes
        rank = unconverted.get_shape().rank
        if rank is not None and rank > 2:
            raise ValueError("'pad_to_max_output_size' (value False) must be True for batched input")
    corners, confidences = convert_to_tensor(boxes), convert_to_tensor(scores)
    if confidences.dtype is not float32:
        raise TypeError(f"`scores` must be float32, not {confidences.dtype.name}")
    if not (corners.dtype.is_floating or corners.dtype.is_integer):
        raise TypeError(f"`boxes` must be numbers, not {corners.dtype.name}")
    _check_sizes(corners.shape, confidences.shape)
    for threshold in (iou_threshold, score_threshold):
        if isinstance(threshold, Tensor) and threshold.dtype is not float32:
            raise TypeError(f"thresholds must be float32, not {threshold.dtype.name}")
    limit = convert_to_tensor(max_output_size)
    if limit.shape.rank:
        raise ValueError(f"`max_output_size` must be a scalar, got shape {limit.shape}")
    if limit.dtype is not int32:
        raise TypeError(f"`max_output_size` must be int32, not {limit.dtype.name}")
    batch, size = shape_of(corners)[:-2], shape_of(corners)[-2]
    indices, counts = select_in_tiles(
        reshape(corners, stack([-1, size, 4])), reshape(confidences, stack([-1, size])), max_output_size,
        iou_threshold, score_threshold, sorted_input, canonicalized_coordinates, tile_size,
    )  # fmt: skip
    counts = reshape(counts, batch)
    if not pad_to_max_output_size:
        return indices[0, :counts], counts
    return reshape(indices, concat([batch, [max_output_size]], 0)), counts


def _check_sizes(boxes: TensorShape, scores: TensorShape) -> None:
    """Checks static shapes. TensorFlow traces this function and so checks the same shapes, eagerly too.

    Raises:
        ValueError: the boxes do not have four numbers each, or the scores do not match them.
        InvalidArgumentError: the boxes belong to one image and the scores to several, or the other way round.
    """
    if boxes.rank is None:
        return
    if boxes.rank < 2:
        raise ValueError(f"slice index -2 of dimension 0 out of bounds: `boxes` has shape {boxes}")
    count = boxes[-2]
    for shape, size in ((boxes, 4), (scores, 1)):
        elements = shape.num_elements()
        if count is not None and elements is not None and (not count or elements % (size * count)):
            raise ValueError(f"Shape {shape} is not one of images with {count} times {size} numbers")
    batches = [shape.num_elements() // (size * count) if count and shape.is_fully_defined() else None
               for shape, size in ((boxes, 4), (scores, 1))]  # fmt: skip
    if None not in batches and batches[0] != batches[1]:
        wrong = f"Dimensions must be equal, but are {batches[0]} and {batches[1]}: the numbers of images"
        raise invalid(wrong) if 1 in batches else ValueError(wrong)


def _padded_score_shapes(*args: Any) -> list[TensorShape]:
    length, scalar = _padded_shapes(*args)
    return [length, length, scalar]


def _suppress_softly(*args: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    *others, soft_nms_sigma, pads = args
    sigma = _scalar_number(soft_nms_sigma, "soft_nms_sigma")
    if sigma < 0:
        raise invalid("soft_nms_sigma_val must be >= 0")
    return _suppress_and_pad(pads, *others, sigma)


# Returns the indices of the selected boxes, their scores, and their number.
_soft_non_max_suppression = defined_op(
    "NonMaxSuppressionV5", _suppress_softly, host=("max_output_size",), shape=_boxes_rule(_padded_score_shapes)
)


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = -math.inf,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Selects boxes like `tf.image.non_max_suppression`, with their scores; optionally by soft suppression.

    Args:
        boxes: a float16 or float32 tensor of shape `[boxes, 4]`: `[y1, x1, y2, x2]`, two opposite corners.
        scores: a tensor of shape `[boxes]`, of the same dtype.
        max_output_size: the largest number of boxes to select, a scalar.
        iou_threshold: boxes overlap if their intersection over union is greater than this scalar; 0.5 by default.
            Without effect if `soft_nms_sigma` is positive.
        score_threshold: boxes with this score or a lower one are suppressed; a scalar. The default is -inf.
        soft_nms_sigma: a scalar; if positive, scores are multiplied by `exp(-iou ** 2 / (2 * sigma))` for each better
            box, and no box is suppressed for its overlap; 0.0 by default.

    Returns:
        `(indices, scores)`: int32 of shape `[n]` with `n <= max_output_size`, and `n` scores of the dtype of `scores`.

    Raises:
        InvalidArgumentError: the shapes do not match, the threshold is not in [0, 1], or the sigma is negative.

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0]]
        >>> numbers, scores = tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8], 2, soft_nms_sigma=0.5)
        >>> numbers.numpy().tolist(), scores.numpy().round(3).tolist()
        ([0, 1], [0.8999999761581421, 0.35600000619888306])
    """
    indices, selected_scores, _ = _soft_non_max_suppression(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, False, name
    )
    return indices, selected_scores


def _suppress_overlaps_kernel(
    overlaps: torch.Tensor,
    scores: torch.Tensor,
    max_output_size: int | tuple[int, ...],
    overlap_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
) -> torch.Tensor:
    if overlaps.ndim != 2:
        raise invalid(f"overlaps must be 2-D{text(overlaps.shape)}")
    if overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square{text(overlaps.shape)}")
    if scores.shape != overlaps.shape[:1]:
        raise invalid(f"scores has incompatible shape {text(scores.shape)}")
    threshold = _scalar_number(overlap_threshold, "overlap_threshold")
    min_score = _scalar_number(score_threshold, "score_threshold")
    table, values = overlaps.cpu().contiguous(), scores.cpu().contiguous()
    indices, _ = _select_boxes(table, values, _box_count(max_output_size), threshold, min_score, has_overlaps=True)
    return indices.to(overlaps.device)


@op(
    "NonMaxSuppressionWithOverlaps",
    kernel=_suppress_overlaps_kernel,
    host=("max_output_size",),
    shape=_boxes_rule(functools.partial(_unknown_length, columns=None)),
)
def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = -math.inf,
    name: str | None = None,
) -> Tensor:
    """Selects items by their scores and overlaps, like `tf.image.non_max_suppression`.

    Args:
        overlaps: a float32 tensor of shape `[n, n]`: the overlaps of each item with the others.
        scores: a float32 tensor of shape `[n]`.
        max_output_size: the largest number of items to select, a scalar.
        overlap_threshold: items that overlap by more than this scalar with a better one are suppressed; 0.5 by default.
        score_threshold: items with this score or a lower one are suppressed; a scalar. The default is -inf.

    Returns:
        The indices of the selected items, int32 of shape `[m]` with `m <= max_output_size`, the best one first.

    Raises:
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.image.non_max_suppression_overlaps([[1.0, 0.8], [0.8, 1.0]], [0.5, 0.6], 2).numpy().tolist()
        [1]
    """


# ---- of several classes ----------------------------------------------------------------------------------------------


def _check_classes(boxes: torch.Tensor, scores: torch.Tensor, per_class: int, total: int) -> None:
    """Checks the arguments of `combined_non_max_suppression`."""
    if boxes.ndim != 4 or scores.ndim != 3:
        raise TypeError("the shape rule says what is wrong")
    if scores.shape[:1] != boxes.shape[:1]:
        raise invalid("boxes and scores must have same batch size")
    if boxes.shape[3] != 4:
        raise invalid("boxes must have 4 columns")
    if scores.shape[1] != boxes.shape[1]:
        raise invalid("scores has incompatible shape")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise invalid("third dimension of boxes must be either 1 or num classes")
    if type(per_class) is not int or per_class <= 0:
        raise invalid("max_size_per_class must be positive")
    if type(total) is not int or total <= 0:
        raise invalid("max_total_size must be > 0")


def _combined_shapes(
    boxes: TensorShape,
    scores: TensorShape,
    per_class: int,
    total: int,
    iou: TensorShape,
    least: TensorShape,
    pad_per_class: bool,
    *_: Any,
) -> list[TensorShape]:
    if boxes.rank not in (4, None):
        raise invalid(f"boxes must be 4-D{text(boxes)}")
    if scores.rank not in (3, None):
        raise invalid("scores has incompatible shape")
    if boxes.rank and boxes[3] not in (4, None):
        raise invalid(f"Dimension must be 4 but is {boxes[3]}")
    check_rank(per_class, 0)
    check_rank(total, 0)
    if type(total) is int and total < 1:
        raise invalid("max_total_size should be > 0")
    check_rank(iou, 0)
    check_rank(least, 0)
    boxes[:2].merge_with(scores[:2])
    if boxes.rank and scores.rank and boxes[2] not in (None, 1, scores[2]) and scores[2] is not None:
        raise invalid("third dimension of boxes must be either 1 or equal to the third dimension of scores")
    if pad_per_class and type(per_class) is int and per_class < 1:
        raise invalid("max_output_size_per_class must be > 0 if pad_per_class is set to true")
    batch = boxes[0] if boxes.rank else None
    length = total if type(total) is int else None
    if pad_per_class and length is not None:
        classes = scores[2] if scores.rank == 3 else None
        length = min(length, per_class * classes) if type(per_class) is int and classes is not None else None
    return [TensorShape([batch, *rest]) for rest in ([length, 4], [length], [length], [])]


@op("CombinedNonMaxSuppression", host=("max_output_size_per_class", "max_total_size"), shape=_combined_shapes)
def _combined_non_max_suppression(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    max_output_size_per_class: int,
    max_total_size: int,
    iou_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
) -> tuple[torch.Tensor, ...]:
    """Returns the selected boxes of all classes."""
    _check_classes(boxes, scores, max_output_size_per_class, max_total_size)
    threshold, min_score = _iou_threshold(iou_threshold), _scalar_number(score_threshold, "score_threshold")
    classes = scores.shape[2]
    length = min(max_total_size, max_output_size_per_class * classes) if pad_per_class else max_total_size
    images = len(boxes)
    out = torch.zeros(images, length, 4), torch.zeros(images, length), torch.zeros(images, length)
    counts = torch.zeros(images, dtype=torch.int32)
    if classes:
        of_class = boxes.cpu().transpose(1, 2).contiguous()  # [images, classes, boxes, 4]
        of_scores = scores.cpu().transpose(1, 2).contiguous()
        for image in range(images):
            ordered = [_ordered_boxes(one) for one in of_class[image]]
            ordered *= classes // len(ordered)
            found = [
                _select_boxes(*pair, max_output_size_per_class, threshold, min_score)
                for pair in zip(ordered, of_scores[image], strict=True)
            ]  # fmt: skip
            best, order = torch.cat([part for _, part in found]).sort(descending=True, stable=True)
            order = order[:length]
            number = torch.arange(classes).repeat_interleave(torch.tensor([len(part) for part, _ in found]))[order]
            box = torch.cat([part for part, _ in found])[order].long()
            counts[image] = count = len(order)
            out[0][image, :count] = of_class[image, number % boxes.shape[2], box]
            out[1][image, :count], out[2][image, :count] = best[:count], number
    if clip_boxes:
        out[0].clamp_(0, 1)
    return tuple([part.to(boxes.device) for part in (*out, counts)])


def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = -math.inf,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedNonMaxSuppression:
    """Selects boxes of each class like `tf.image.non_max_suppression`, and of these the best of each image.

    Args:
        boxes: a float32 tensor of shape `[batch, boxes, classes, 4]`, or `[batch, boxes, 1, 4]` for the same boxes in
            all classes.
        scores: a float32 tensor of shape `[batch, boxes, classes]`.
        max_output_size_per_class: the largest number of boxes of a class, a scalar.
        max_total_size: the largest number of boxes of an image, a scalar.
        iou_threshold: boxes overlap if their intersection over union is greater than this scalar; 0.5 by default.
        score_threshold: boxes with this score or a lower one are suppressed; a scalar. The default is -inf.
        pad_per_class: limits the size of the results to `max_output_size_per_class * classes`, if that is less than
            `max_total_size`.
        clip_boxes: clips coordinates to [0, 1]; True by default.

    Returns:
        `(nmsed_boxes, nmsed_scores, nmsed_classes, valid_detections)`: float32 of shapes
        `[batch, max_total_size, 4]`, `[batch, max_total_size]` and `[batch, max_total_size]`, with zeros after the last
        box, and int32 of shape `[batch]`.

    Raises:
        InvalidArgumentError: the shapes do not match, or a number is out of its range.

    Example:
        >>> boxes = tf.constant([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 0.9, 1.0]]]])
        >>> _, scores, classes, counts = tf.image.combined_non_max_suppression(boxes, [[[0.9, 0.1], [0.8, 0.3]]], 2, 3)
        >>> scores.numpy().round(1).tolist(), classes.numpy().tolist(), counts.numpy().tolist()
        ([[0.8999999761581421, 0.30000001192092896, 0.0]], [[0.0, 1.0, 0.0]], [2])
    """
    outputs: Any = _combined_non_max_suppression(
        boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold, pad_per_class,
        clip_boxes, name,
    )  # fmt: skip
    return CombinedNonMaxSuppression(*outputs)


not_differentiable(
    non_max_suppression, _non_max_suppression_padded, _soft_non_max_suppression, non_max_suppression_overlaps,
    _combined_non_max_suppression,
)  # fmt: skip
