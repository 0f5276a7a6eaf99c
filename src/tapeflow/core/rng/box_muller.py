"""Normal random numbers from uniform ones, by the Box-Muller transform, with TensorFlow's very bits on a CPU.

There TensorFlow calls the C library's `sinf`, `cosf` and `logf`. Their error is slightly above half a unit in the last
place, so only the same method gives the same last bit. Their method (by Arm: polynomials in double precision) is
applied here to whole arrays. Source of the coefficients: Arm Optimized Routines, `sincosf_data.c` and `logf_data.c`.
"""

from __future__ import annotations

import math

import numpy as np
import torch

LEAST = 1e-7  # a smaller uniform number counts as this: its logarithm stays finite
_CHUNK = 1 << 14  # pairs computed at once, few enough for the cache

_HALF_PI = float.fromhex("0x1.921FB54442D18p0")
_INVERSE_HALF_PI = float.fromhex("0x1.45F306DC9C883p-1")
_SIN = [float.fromhex(c) for c in ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")]
_COS = [
    float.fromhex(c)
    for c in ("-0x1.ffffffd0c621cp-2", "0x1.55553e1068f19p-5", "-0x1.6c087e89a359dp-10", "0x1.99343027bf8c3p-16")
]
_LOG_POLYNOMIAL = [float.fromhex(c) for c in ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")]
_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
_INVERSES, _LOGS = (
    np.array([float.fromhex(c) for c in column.split()])
    for column in (
        """0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0 0x1.3c995b0b80385p+0
        0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0
        0x1.0953f419900a7p+0 0x1p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1
        0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1""",
        """-0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 -0x1.b31d8a68224e9p-3
        -0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3 -0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4
        -0x1.252f438e10c1ep-5 0x0p+0 0x1.aa5aa5df25984p-5 0x1.c5e53aa362eb4p-4
        0x1.526e57720db08p-3 0x1.bc2860d22477p-3 0x1.1058bc8a07ee1p-2 0x1.4043057b6ee09p-2""",
    )
)


def normal_pairs(uniform: torch.Tensor) -> torch.Tensor:
    """Computes two normal numbers from each two uniform ones in [0, 1), all float32."""
    if uniform.device.type != "cpu":
        return _normal_pairs(uniform)
    numbers = uniform.numpy()
    out = np.empty_like(numbers)
    for start in range(0, len(numbers), 2 * _CHUNK):
        part = slice(start, start + 2 * _CHUNK)
        radius = np.sqrt(np.float32(-2) * log(np.maximum(numbers[part][0::2], np.float32(LEAST))))
        angle = (2 * math.pi * numbers[part][1::2].astype(np.float64)).astype(np.float32)
        sine, cosine = sine_and_cosine(angle)
        np.multiply(sine, radius, out=out[part][0::2])
        np.multiply(cosine, radius, out=out[part][1::2])
    return torch.from_numpy(out)


def wide_normal_pairs(uniform: torch.Tensor) -> torch.Tensor:
    """Computes two normal numbers from each two uniform ones in [0, 1), all float64.

    A few are computed with the C library's own functions, as in TensorFlow; many with ATen's functions, whose last bit
    may differ.
    """
    if len(uniform) > 2048 or uniform.device.type != "cpu":
        return _normal_pairs(uniform)
    out = []
    for u, v in uniform.reshape(-1, 2).tolist():
        radius, angle = math.sqrt(-2.0 * math.log(max(u, LEAST))), 2 * math.pi * v
        out += [math.sin(angle) * radius, math.cos(angle) * radius]
    return torch.tensor(out, dtype=torch.float64)


def _normal_pairs(uniform: torch.Tensor) -> torch.Tensor:
    """Applies the transform in the precision of the input, on any device."""
    radius = torch.sqrt(-2.0 * torch.log(torch.clamp(uniform[0::2], min=LEAST)))
    angle = 2 * math.pi * uniform[1::2]
    return torch.stack([torch.sin(angle) * radius, torch.cos(angle) * radius], 1).reshape(-1)


def log(x: np.ndarray) -> np.ndarray:
    """Computes the logarithm of positive, finite float32s."""
    bits = x.view(np.int32)
    offset = bits - 0x3F330000
    row = offset >> 19 & 15
    exponent = offset >> 23  # of 2: leaves a mantissa near one of 16 numbers with tabulated logarithms
    mantissa = (bits - (offset & -(1 << 23))).view(np.float32)
    r = mantissa * _INVERSES[row] - 1.0
    square = r * r
    y = _LOG_POLYNOMIAL[1] * r + _LOG_POLYNOMIAL[2]
    y += _LOG_POLYNOMIAL[0] * square
    return (y * square + (_LOGS[row] + exponent * _LN2 + r)).astype(np.float32)


def sine_and_cosine(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Computes the sine and the cosine of float32s in [0, 120)."""
    wide = x.astype(np.float64)
    quarter = (wide * (_INVERSE_HALF_PI * (1 << 24))).astype(np.int32) + (1 << 23) >> 24
    r = wide - quarter * _HALF_PI
    r2 = r * r
    r4 = r2 * r2
    cosine = (1.0 + r2 * _COS[0] + r4 * _COS[1]) + r4 * r2 * (_COS[2] + r2 * _COS[3])
    r3 = r2 * r
    sine = (r + r3 * _SIN[0]) + r3 * r2 * (_SIN[1] + r2 * _SIN[2])
    odd = (quarter & 1).astype(bool)
    sines, cosines = np.where(odd, cosine, sine), np.where(odd, sine, cosine)
    np.negative(sines, out=sines, where=(quarter & 2).astype(bool))
    np.negative(cosines, out=cosines, where=(quarter + 1 & 2).astype(bool))
    return sines.astype(np.float32), cosines.astype(np.float32)
