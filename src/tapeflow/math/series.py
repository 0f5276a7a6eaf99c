"""Series and continued fractions of special functions, number by number.

Formulas by their numbers in the NIST Digital Library of Mathematical Functions (dlmf.nist.gov).
"""

from __future__ import annotations

import math

from tapeflow.core.loops import Float64s, exp, log, log1p, loop

_MOST_STEPS = 20_000
_INFINITE, _NAN = math.inf, math.nan
_LARGE = 1e100
_PRECISION = 1e-12
_MOST_EXPONENT = 80.0  # up to here powers of e are far from the limits of float32


@loop
def sum_zeta(x: Float64s, q: Float64s, size: int, results: Float64s) -> int:
    """Computes the Hurwitz zeta function to nine digits by Euler and Maclaurin's formula. Returns the number of results
    that are NaN, as `x` is at most 1, `q` is not positive, or a number is large."""
    others = 0
    for i in range(size):
        s, base = x[i], q[i]
        results[i] = _NAN
        if s > 1.0 and s < 100.0 and base > 1e-3 and base < 1e6 and abs(s * log(base)) < _MOST_EXPONENT:
            total = 0.0
            power = exp(-s * log(base))
            while base < 4.0 + 0.5 * s and power > _PRECISION * total:
                total += power
                base += 1.0
                power = exp(-s * log(base))
            if power < _PRECISION * total:
                power = 0.0  # the formula needs a larger base
            total += power * (0.5 + base / (s - 1.0))
            # Each term has two more factors of a rising factorial, and the next Bernoulli number.
            square, rising = 1.0 / (base * base), power * s / base
            total += rising / 12.0
            rising *= (s + 1.0) * (s + 2.0) * square
            total -= rising / 720.0
            rising *= (s + 3.0) * (s + 4.0) * square
            total += rising / 30240.0
            rising *= (s + 5.0) * (s + 6.0) * square
            total -= rising / 1209600.0
            rising *= (s + 7.0) * (s + 8.0) * square
            total += rising / 47900160.0
            rising *= (s + 9.0) * (s + 10.0) * square
            total -= rising * (691.0 / 1307674368000.0)
            rising *= (s + 11.0) * (s + 12.0) * square
            results[i] = total + rising / 74724249600.0
        else:
            others += 1
    return others


@loop
def integrate_beta(
    a: Float64s, b: Float64s, x: Float64s, log_betas: Float64s, size: int, tolerance: float, results: Float64s
) -> None:  # fmt: skip
    """Evaluates the continued fraction 8.17.22 from the front, as a quotient of two recurrences."""
    for i in range(size):
        p, q, y = a[i], b[i], x[i]
        results[i] = y if p > 0.0 and q > 0.0 and (y == 0.0 or y == 1.0) else _NAN
        if p > 0.0 and q > 0.0 and y > 0.0 and y < 1.0 and p < _INFINITE and q < _INFINITE:
            log_front = p * log(y) + q * log1p(-y) - log_betas[i]
            is_swapped = y > (p + 1.0) / (p + q + 2.0)
            if is_swapped:  # I_x(a, b) = 1 - I_(1-x)(b, a), 8.17.4
                p, q, y = q, p, 1.0 - y
            above, above2, below, below2 = 1.0, 1.0, 1.0, 0.0  # the last numerators and denominators, and those before
            value = 1.0
            for m in range(_MOST_STEPS):
                even = p + 2 * m
                odd = (p + m) * (p + q + m) * y / (even * (even + 1.0))
                above2, below2 = above - odd * above2, below - odd * below2
                even = (m + 1) * (q - 1.0 - m) * y / ((even + 1.0) * (even + 2.0))
                above, below = above2 + even * above, below2 + even * below
                before, value = value, below / above if above != 0.0 else _INFINITE
                if abs(value - before) <= tolerance * abs(value):
                    break
                if abs(above) > _LARGE:
                    above, above2, below, below2 = above / _LARGE, above2 / _LARGE, below / _LARGE, below2 / _LARGE
            value = exp(log_front) / p * value
            results[i] = 1.0 - value if is_swapped else value
