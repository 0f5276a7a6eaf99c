"""The layouts of convolutions: the positions of windows, and ATen's order of dimensions."""

from __future__ import annotations

import operator
from typing import NamedTuple

from tapeflow.core.ops.by_shapes import by_shapes
from tapeflow.core.values.tensor import invalid
from tapeflow.nn.windows import TO_FIRST, TO_LAST, Geometry, channels_last, spatial, window_geometry

_FILTER_TO_FIRST = {3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
_FILTER_TO_LAST = {3: (2, 1, 0), 4: (2, 3, 1, 0), 5: (2, 3, 4, 1, 0)}


class Layout(NamedTuple):
    """The layout of a convolution, for one set of shapes and attrs.

    Attributes:
        geometry: the positions of the windows.
        output: the shape of the result.
        empty: there is nothing to compute.
        rates: the dilations along the spatial dimensions.
        border: the padding that ATen adds, which is the same on both sides.
        rest: the geometry with the padding that is left, which images get before ATen sees them.
        zeros: a zero for each spatial dimension.
        groups: the number of groups that the channels are divided into.
        channels_last: the channels are the last dimension.
        pointwise: each result follows from the pixel in its place alone: a product of two matrices, with channels last.
        to_first, from_first, filter_to_first, filter_from_first: permutations to ATen's order of dimensions, and back.
    """

    geometry: Geometry
    output: tuple[int, ...]
    empty: bool
    rates: tuple[int, ...]
    border: tuple[int, ...]
    rest: Geometry
    zeros: tuple[int, ...]
    groups: int
    channels_last: bool
    pointwise: bool
    to_first: tuple[int, ...]
    from_first: tuple[int, ...]
    filter_to_first: tuple[int, ...]
    filter_from_first: tuple[int, ...]


@by_shapes(4096)
def convolution_layout(
    op: str,
    image: tuple[int, ...],
    filters: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    explicit: tuple[int, ...],
    data_format: str,
    dilations: tuple[int, ...],
) -> Layout:
    """Lays a convolution out.

    Raises:
        InvalidArgumentError: the arguments do not go together.
    """
    dims = 3 if op.startswith("Conv3D") else 2
    for name, shape in (("input", image), ("filter", filters)):
        if len(shape) != dims + 2:
            raise invalid(f"{name} must be {dims + 2}-dimensional: {list(shape)}")
    if 0 in filters[:-1] and op in ("Conv2D", "Conv3D"):  # the sums of the others are 0
        raise invalid(f"filter must not have zero elements (i.e. all dimensions must be non-zero): {list(filters)}")
    geometry = window_geometry(
        op, spatial(image, data_format), filters[:dims], strides, dilations, padding, explicit, data_format
    )
    last = channels_last(data_format)
    channels = image[-1 if last else 1]
    if not filters[-2] or channels % filters[-2]:
        raise invalid(f"input depth must be evenly divisible by filter depth: {channels} vs {filters[-2]}")
    groups = channels // filters[-2]
    if groups and filters[-1] % groups:
        raise invalid(f"output depth must be evenly divisible by number of groups: {filters[-1]} vs {groups}")
    as_is = tuple(range(dims + 2))
    sides = zip(geometry.before, geometry.after, strict=True)
    border = tuple([min(side) if all(type(n) is int for n in side) else 0 for side in sides])
    before, after = (tuple(map(operator.sub, side, border)) for side in (geometry.before, geometry.after))
    single = set(filters[:dims]) == set(geometry.strides) == {1} and groups == 1
    return Layout(
        geometry=geometry,
        output=(image[0], *geometry.out, filters[-1]) if last else (image[0], filters[-1], *geometry.out),
        empty=0 in image or 0 in geometry.out or 0 in filters,
        rates=spatial(dilations, data_format),
        border=border,
        rest=geometry._replace(before=before, after=after),
        zeros=(0,) * dims,
        groups=groups,
        channels_last=last,
        pointwise=single and last and geometry.out == tuple(image[1:-1]),
        to_first=TO_FIRST[dims + 2] if last else as_is,
        from_first=TO_LAST[dims + 2] if last else as_is,
        filter_to_first=_FILTER_TO_FIRST[dims + 2],
        filter_from_first=_FILTER_TO_LAST[dims + 2],
    )
