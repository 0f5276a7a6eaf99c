"""Points of images that lie between pixels, computed one after the other."""

from __future__ import annotations

from tapeflow.core.loops import Int32s, Numbers, loop, simd_range

FILL_MODES = ["CONSTANT", "REFLECT", "WRAP", "NEAREST"]

_FAR = 1e15  # coordinates from here on are not mapped; they would overflow


@loop
def crop_boxes(
    images: Numbers, height: int, width: int, channels: int, boxes: Numbers, indices: Int32s, count: int, rows: int,
    columns: int, nearest: int, outside: float, crops: Numbers,
) -> None:  # fmt: skip
    """Resizes boxes of images.

    Args:
        images: `[batch, height, width, channels]`.
        boxes: `[count, 4]`, with rows `[y1, x1, y2, x2]`. 0 is the first pixel of an image, 1 the last one.
        indices: the image of each box.
        rows, columns: the size of a crop.
        nearest: takes the nearest pixel instead of a weighted mean.
        outside: the value of points outside of the image.
        crops: the result, `[count, rows, columns, channels]`.
    """
    at = 0
    for box in range(count):
        first = indices[box] * height * width
        y1, x1, y2, x2 = boxes[4 * box], boxes[4 * box + 1], boxes[4 * box + 2], boxes[4 * box + 3]
        for i in range(rows):
            y = 0.5 * (y1 + y2) * (height - 1)
            if rows > 1:
                y = y1 * (height - 1) + (y2 - y1) * (height - 1) / (rows - 1) * i
            for j in range(columns):
                x = 0.5 * (x1 + x2) * (width - 1)
                if columns > 1:
                    x = x1 * (width - 1) + (x2 - x1) * (width - 1) / (columns - 1) * j
                if y >= 0.0 and y <= height - 1 and x >= 0.0 and x <= width - 1:
                    top, left = int(y), int(x)
                    down, right = y - top, x - left
                    if nearest:
                        source = (first + (top + (down >= 0.5)) * width + left + (right >= 0.5)) * channels - at
                        for k in simd_range(at, at + channels):
                            crops[k] = images[source + k]
                    else:
                        # If a point is on a pixel, the next one does not count, even if it is infinite.
                        next_row, next_column = (down > 0.0) * width * channels, (right > 0.0) * channels
                        source = (first + top * width + left) * channels - at
                        for k in simd_range(at, at + channels):
                            a, b = images[source + k], images[source + k + next_row]
                            upper = a + (images[source + k + next_column] - a) * right
                            lower = b + (images[source + k + next_row + next_column] - b) * right
                            crops[k] = upper + (lower - upper) * down
                else:
                    for k in range(at, at + channels):
                        crops[k] = outside
                at += channels


@loop
def _map_inside(point: float, length: int, mode: int) -> float:
    """Returns the coordinate in an image whose pixel a fill mode uses for a coordinate outside."""
    inside, last = point, length - 1
    if mode > 0 and (point < 0.0 or point > last):
        if mode < 3 and point > -_FAR and point < _FAR and length > 1:
            if mode == 1:
                inside = point - 2 * length * int(point / (2 * length))
                if inside < 0.0:
                    inside = inside + 2 * length if inside < -length else -inside - 1.0
                elif inside >= length:
                    inside = 2 * length - inside - 1.0
            elif point < 0.0:
                inside = point + length * (int(-point / last) + 1)
            else:
                inside = point - length * int(point / last)
        if inside < 0.0:
            inside = 0.0
        elif inside > last:
            inside = float(last)
    return inside


@loop
def project_images(
    images: Numbers, batch: int, height: int, width: int, channels: int, transforms: Numbers, step: int, rows: int,
    columns: int, mode: int, nearest: int, fill: float, out: Numbers,
) -> None:  # fmt: skip
    """Transforms images by projections from output to input points.

    Args:
        images: `[batch, height, width, channels]`.
        transforms: rows of 8 numbers.
        step: from one image to the next in `transforms`: 8, or 0 if all have the same.
        rows, columns: the size of the result.
        mode: the number of a fill mode in `FILL_MODES`.
        nearest: takes the nearest pixel instead of a weighted mean.
        fill: the value of pixels outside.
        out: the result, `[batch, rows, columns, channels]`.
    """
    at = 0
    for image in range(batch):
        t = image * step
        first = image * height * width
        for i in range(rows):
            for j in range(columns):
                depth = transforms[t + 6] * j + transforms[t + 7] * i + 1.0
                y = (transforms[t + 3] * j + transforms[t + 4] * i + transforms[t + 5]) / depth
                x = (transforms[t] * j + transforms[t + 1] * i + transforms[t + 2]) / depth
                y, x = _map_inside(y, height, mode), _map_inside(x, width, mode)
                if depth == 0.0 or not (y > -1.0 and y < height and x > -1.0 and x < width):
                    for k in range(at, at + channels):
                        out[k] = fill
                elif nearest:
                    row = int(y + 0.5) if y >= 0.0 else int(y - 0.5)
                    column = int(x + 0.5) if x >= 0.0 else int(x - 0.5)
                    inside = row >= 0 and row < height and column >= 0 and column < width
                    source = (first + row * width + column) * channels - at
                    for k in range(at, at + channels):
                        out[k] = images[source + k] if inside else fill
                else:
                    top, left = int(y) if y >= 0.0 else -1, int(x) if x >= 0.0 else -1
                    down, right = y - top, x - left
                    up, back = float(top + 1) - y, float(left + 1) - x
                    has_top, has_bottom = top >= 0, top + 1 < height
                    has_left, has_right = left >= 0, left + 1 < width
                    source = (first + top * width + left) * channels - at
                    below = source + width * channels
                    for k in range(at, at + channels):
                        a = images[source + k] if has_top and has_left else fill
                        b = images[source + channels + k] if has_top and has_right else fill
                        c = images[below + k] if has_bottom and has_left else fill
                        d = images[below + channels + k] if has_bottom and has_right else fill
                        out[k] = up * (back * a + right * b) + down * (back * c + right * d)
                at += channels
