"""The derivative of a gamma-distributed number by the distribution's shape parameter."""

from __future__ import annotations

import torch

from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import broadcast


@op("RandomGammaGrad", shape=broadcast, elementwise=True)
def random_gamma_grad(alpha: torch.Tensor, sample: torch.Tensor) -> torch.Tensor:
    """Computes the derivative of gamma-distributed numbers by `alpha`.

    Computes `-dP(alpha, x)/dalpha / p(x)`: implicit differentiation of `P(alpha, x(alpha)) = u`.

    P is the regularized incomplete gamma function. It is differentiated by central differences of fourth order. Where
    its complement is smaller, the complement is differentiated instead, which loses fewer digits. Source: Figurnov et
    al., "Implicit Reparameterization Gradients", 2018.
    """
    a, x = torch.broadcast_tensors(alpha.double(), sample.double())
    step = 1e-3 * torch.where(a < 1, a, torch.sqrt(a))
    lower = torch.special.gammainc(a, x) < 0.5

    def probability(by: float) -> torch.Tensor:
        at = a + by * step
        return torch.where(lower, torch.special.gammainc(at, x), -torch.special.gammaincc(at, x))

    slope = (8 * (probability(1) - probability(-1)) - (probability(2) - probability(-2))) / (12 * step)
    density = torch.exp((a - 1) * torch.log(x) - x - torch.lgamma(a))
    return (-slope / density).to(sample.dtype)


not_differentiable(random_gamma_grad)
