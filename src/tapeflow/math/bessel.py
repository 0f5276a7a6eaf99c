"""The Bessel functions J0, J1, Y0 and Y1 to the digits of float64. (ATen's have seven between 0 and 25.)

Formulas by their numbers in the NIST Digital Library of Mathematical Functions (dlmf.nist.gov).
"""

from __future__ import annotations

import functools
import math

import torch

from tapeflow.core.values.tensor import is_traced

_EULER = 0.57721566490153286
_FAR = 25.0  # from here on the asymptotic series has all digits
_TERMS = 33  # J(2 * _TERMS + 2) vanishes up to _FAR
# Nodes per quarter of the circle. Up to _FAR, J(4 * _FEW_NODES) vanishes, for J0 and J1, and J(4 * _NODES - 2 * _TERMS)
# and all later ones do, for Y0 and Y1.
_FEW_NODES, _NODES = 20, 40


def bessel_j0_kernel(x: torch.Tensor) -> torch.Tensor:
    a = x.to(torch.float64).abs()
    return _join_ranges(x, a, _node_cosines(torch.clamp(a, max=_FAR), _FEW_NODES).mean(-1), 0, 0)


def bessel_j1_kernel(x: torch.Tensor) -> torch.Tensor:
    a = x.to(torch.float64).abs()
    return torch.sign(x) * _join_ranges(x, a, _node_sines(torch.clamp(a, max=_FAR), _FEW_NODES).mean(-1), 1, 0)


def bessel_y0_kernel(x: torch.Tensor) -> torch.Tensor:
    a = x.to(torch.float64)
    near = torch.clamp(a, 0.0, _FAR)
    return _join_ranges(x, a, 2 / math.pi * _neumann_expansion(near, _node_cosines(near, _NODES)), 0, 1)


def bessel_y1_kernel(x: torch.Tensor) -> torch.Tensor:
    a = x.to(torch.float64)
    near = torch.clamp(a, 0.0, _FAR)
    y = _neumann_expansion(near, _node_sines(near, _NODES))  # the derivative of Y0, with its sign changed
    return _join_ranges(x, a, 2 / math.pi * (y - _node_cosines(near, _FEW_NODES).mean(-1) / near), 1, 1)


def _neumann_expansion(x: torch.Tensor, waves: torch.Tensor) -> torch.Tensor:
    """Computes pi/2 times Y0 by 10.8.2: Y0 = 2/pi (log(x/2) + gamma) J0 - 4/pi sum of (-1)^k J(2k) / k."""
    logarithm = torch.log(x / 2) + _EULER
    return logarithm * waves.mean(-1) + 2 * (waves * _node_weights(x.device)).mean(-1)


def _join_ranges(x: torch.Tensor, a: torch.Tensor, near: torch.Tensor, order: int, kind: int) -> torch.Tensor:
    far = a > _FAR
    if is_traced(x):
        joined = torch.where(far, _hankel_expansion(a, order)[kind], near)
    else:
        joined = near.masked_scatter(far, _hankel_expansion(a[far], order)[kind])
    return torch.where(torch.isnan(a), a, joined.masked_fill(torch.isinf(a), 0)).to(x.dtype)


def _node_angles(nodes: int, device: torch.device) -> torch.Tensor:
    return (torch.arange(nodes, dtype=torch.float64, device=device) + 0.5) * (math.pi / 2 / nodes)


def _node_cosines(x: torch.Tensor, nodes: int) -> torch.Tensor:
    """Returns `cos(x sin t)` at nodes in a last dimension. Their mean is J0, by 10.9.1.

    The trapezoidal rule on a circle converges faster than any power.
    """
    return (x.unsqueeze(-1) * torch.sin(_node_angles(nodes, x.device))).cos_()


def _node_sines(x: torch.Tensor, nodes: int) -> torch.Tensor:
    """Returns `sin(x sin t) sin t` at nodes in a last dimension. Their mean is J1, by 10.9.1."""
    s = torch.sin(_node_angles(nodes, x.device))
    return (x.unsqueeze(-1) * s).sin_().mul_(s)


@functools.cache
def _node_weights(device: torch.device) -> torch.Tensor:
    """Returns at each node the sum of `-(-1)^k cos(2 k t) / k`, which takes J(2k) out of the integral of J0."""
    t = _node_angles(_NODES, device)
    total = torch.zeros_like(t)
    for k in range(1, _TERMS + 1):
        total -= (-1) ** k * torch.cos(2 * k * t) / k
    return total


def _hankel_expansion(x: torch.Tensor, order: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes J and Y by Hankel's expansions, 10.17.3 and 10.17.4."""
    x = torch.clamp(x, min=_FAR)
    term = torch.ones_like(x)
    sums = [torch.ones_like(x), torch.zeros_like(x)]
    for k in range(1, 24):
        term = term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        sums[k % 2] = sums[k % 2] + (term if k % 4 < 2 else -term)
    p, q = sums
    phase = x - (order / 2 + 0.25) * math.pi
    factor = torch.sqrt(2 / (math.pi * x))
    c, s = torch.cos(phase), torch.sin(phase)
    return factor * (p * c - q * s), factor * (p * s + q * c)
