"""Windows that slide over images, by NumPy: convolutions and pooling as they are defined."""

import itertools

import numpy as np


def borders(sizes, window, strides, rates, padding):
    """The paddings before and after each spatial dimension."""
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    if padding != "SAME":
        return list(padding)
    found = []
    for n, w, stride, rate in zip(sizes, window, strides, rates, strict=True):
        total = max((-(-n // stride) - 1) * stride + (w - 1) * rate + 1 - n, 0)
        found.append((total // 2, total - total // 2))
    return found


def places(x, window, strides, rates, padding, value=0):
    """Yields the place in the window, and the elements of `x`, `[batch, *spatial, channels]`, under it."""
    sides = borders(x.shape[1:-1], window, strides, rates, padding)
    wide = np.pad(x, [(0, 0), *sides, (0, 0)], constant_values=value)
    ends = [(w - 1) * r for w, r in zip(window, rates, strict=True)]
    counts = [(n - end - 1) // s + 1 for n, end, s in zip(wide.shape[1:-1], ends, strides, strict=True)]
    for place in itertools.product(*map(range, window)):
        starts = [p * r for p, r in zip(place, rates, strict=True)]
        under = [slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, counts, strides, strict=True)]
        yield place, wide[(slice(None), *under)]


def convolved(x, filters, strides, rates, padding):
    """Images, channels last, convolved with `[*window, channels / groups, results]`."""
    *window, depth, results = filters.shape
    groups = x.shape[-1] // depth
    total = 0
    for place, pixels in places(x, window, strides, rates, padding):
        pixels = pixels.reshape(*pixels.shape[:-1], groups, depth)
        weights = filters[place].reshape(depth, groups, results // groups)
        total = total + np.einsum("...gd,dgr->...gr", pixels, weights)
    return total.reshape(*total.shape[:-2], results)
