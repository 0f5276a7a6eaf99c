"""Updates of variables by optimizers: `ResourceApply...`, and `ResourceSparseApply...` for some rows.

Each is a rule: from the values of a variable and of its slots, a gradient, and numbers by their registered names, to
the new values. The dense op applies it to whole variables; the sparse one to the rows of the gradient, after summing
repeated rows. The parameters of the ops are read from their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.device import move_value
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.raw_kernels import define, parameters
from tapeflow.core.ops.shape_rules import no_results
from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.tensor import invalid
from tapeflow.core.values.variable import _assign_value
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.ir.operation import variable_in

Values = tuple[torch.Tensor, ...]


# ---- rules -----------------------------------------------------------------------------------------------------------


def _gradient_descent(var: torch.Tensor, delta: torch.Tensor, alpha: torch.Tensor) -> Values:
    return (var - alpha * delta,)


def _momentum(
    var: torch.Tensor,
    accum: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    momentum: torch.Tensor,
    use_nesterov: bool,
) -> Values:
    accum = accum * momentum + grad
    return var - (grad * lr + accum * momentum * lr if use_nesterov else accum * lr), accum


def _keras_momentum(
    var: torch.Tensor,
    accum: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    momentum: torch.Tensor,
    use_nesterov: bool,
) -> Values:
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


def _adam(
    var: torch.Tensor, m: torch.Tensor, v: torch.Tensor, grad: torch.Tensor, beta1_power: torch.Tensor,
    beta2_power: torch.Tensor, lr: torch.Tensor, beta1: torch.Tensor, beta2: torch.Tensor,
    epsilon: torch.Tensor, use_nesterov: bool,
) -> Values:  # fmt: skip
    """Computes a step of Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980), bias corrections included."""
    alpha = lr * torch.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    mean = m * beta1 + (1 - beta1) * grad if use_nesterov else m
    return var - mean * alpha / (torch.sqrt(v) + epsilon), m, v


def _adagrad(
    var: torch.Tensor, accum: torch.Tensor, grad: torch.Tensor, lr: torch.Tensor, update_slots: bool
) -> Values:
    """Computes a step of Adagrad (Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html)."""
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr * torch.rsqrt(accum), accum


def _adagrad_v2(
    var: torch.Tensor,
    accum: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    epsilon: torch.Tensor,
    update_slots: bool,
) -> Values:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (torch.sqrt(accum) + epsilon), accum


def _rms_prop(
    var: torch.Tensor,
    ms: torch.Tensor,
    mom: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    rho: torch.Tensor,
    momentum: torch.Tensor,
    epsilon: torch.Tensor,
) -> Values:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr * torch.rsqrt(ms + epsilon)
    return var - mom, ms, mom


def _centered_rms_prop(
    var: torch.Tensor,
    mg: torch.Tensor,
    ms: torch.Tensor,
    mom: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    rho: torch.Tensor,
    momentum: torch.Tensor,
    epsilon: torch.Tensor,
) -> Values:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr * torch.rsqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _adadelta(
    var: torch.Tensor,
    accum: torch.Tensor,
    accum_update: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    rho: torch.Tensor,
    epsilon: torch.Tensor,
) -> Values:
    """Computes a step of Adadelta (Zeiler 2012, https://arxiv.org/abs/1212.5701)."""
    accum = accum * rho + grad * grad * (1 - rho)
    step = torch.sqrt(accum_update + epsilon) * torch.rsqrt(accum + epsilon) * grad
    return var - step * lr, accum, accum_update * rho + step * step * (1 - rho)


def _power(accum: torch.Tensor, lr_power: torch.Tensor) -> Any:
    return torch.sqrt(accum) if float(lr_power) == -0.5 else accum**-lr_power


def _ftrl(
    var: torch.Tensor, accum: torch.Tensor, linear: torch.Tensor, grad: torch.Tensor, lr: torch.Tensor,
    l1: torch.Tensor, l2: torch.Tensor, lr_power: torch.Tensor, multiply_linear_by_lr: bool,
    l2_shrinkage: torch.Tensor | float = 0.0,
) -> Values:  # fmt: skip
    """Computes a step of FTRL (McMahan et al. 2013, https://research.google.com/pubs/archive/41159.pdf)."""
    total = accum + grad * grad
    before, after = _power(accum, lr_power), _power(total, lr_power)
    shrunk = grad + 2 * l2_shrinkage * var
    scale = lr if multiply_linear_by_lr else 1.0
    linear = linear + shrunk * scale - (after - before) * (scale / lr) * var
    solution = (linear.sign() * (l1 * scale) - linear) / (after * (scale / lr) + 2 * l2 * scale)
    return torch.where(linear.abs() > l1 * scale, solution, torch.zeros_like(solution)), total, linear


def _proximal_gradient_descent(
    var: torch.Tensor, delta: torch.Tensor, alpha: torch.Tensor, l1: torch.Tensor, l2: torch.Tensor
) -> Values:
    """Computes a step of gradient descent and then one towards zero: FOBOS (https://papers.nips.cc/paper/3793)."""
    step = var - delta * alpha
    return (step.sign() * torch.clamp_min(step.abs() - alpha * l1, 0) / (1 + l2 * alpha),)


def _proximal_adagrad(
    var: torch.Tensor, accum: torch.Tensor, grad: torch.Tensor, lr: torch.Tensor, l1: torch.Tensor, l2: torch.Tensor
) -> Values:
    accum = accum + grad * grad
    return *_proximal_gradient_descent(var, grad, lr * torch.rsqrt(accum), l1, l2), accum


def _adagrad_da(
    var: torch.Tensor,
    total: torch.Tensor,
    squares: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    l1: torch.Tensor,
    l2: torch.Tensor,
    global_step: torch.Tensor,
) -> Values:
    total, squares = total + grad, squares + grad * grad
    shrunk = total.sign() * torch.clamp_min(total.abs() - l1 * global_step, 0)
    return -lr * shrunk / (l2 * global_step * lr + torch.sqrt(squares)), total, squares


def _ada_max(
    var: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    grad: torch.Tensor,
    beta1_power: torch.Tensor,
    lr: torch.Tensor,
    beta1: torch.Tensor,
    beta2: torch.Tensor,
    epsilon: torch.Tensor,
) -> Values:
    """Computes a step of AdaMax (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980)."""
    m = m + (grad - m) * (1 - beta1)
    v = torch.maximum(beta2 * v, grad.abs())
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def _amsgrad(
    var: torch.Tensor, m: torch.Tensor, v: torch.Tensor, vhat: torch.Tensor, grad: torch.Tensor,
    beta1_power: torch.Tensor, beta2_power: torch.Tensor, lr: torch.Tensor, beta1: torch.Tensor, beta2: torch.Tensor,
    epsilon: torch.Tensor,
) -> Values:  # fmt: skip
    """Computes a step of AMSGrad (Reddi et al. 2018, https://arxiv.org/abs/1904.09237)."""
    alpha = lr * torch.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = torch.maximum(vhat, v)
    return var - m * alpha / (torch.sqrt(vhat) + epsilon), m, v, vhat


def _add_sign(
    var: torch.Tensor,
    m: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    alpha: torch.Tensor,
    sign_decay: torch.Tensor,
    beta: torch.Tensor,
) -> Values:
    """Computes a step of AddSign (Bello et al. 2017, https://arxiv.org/abs/1709.07417)."""
    m = m * beta + grad * (1 - beta)
    return var - lr * (alpha + sign_decay * grad.sign() * m.sign()) * grad, m


def _power_sign(
    var: torch.Tensor,
    m: torch.Tensor,
    grad: torch.Tensor,
    lr: torch.Tensor,
    logbase: torch.Tensor,
    sign_decay: torch.Tensor,
    beta: torch.Tensor,
) -> Values:
    m = m * beta + grad * (1 - beta)
    return var - lr * torch.exp(logbase * sign_decay * grad.sign() * m.sign()) * grad, m


# ---- ops -------------------------------------------------------------------------------------------------------------


def _kernel(rule: Callable[..., Values], names: Sequence[str], handles: Sequence[str]) -> Callable[..., None]:
    """Returns the kernel of a rule's op.

    Args:
        rule: the rule.
        names: the op's parameters.
        handles: the parameters that are handles of variables.
    """
    gradient = "delta" if "delta" in names else "grad"

    def kernel(*args: Any) -> None:
        arguments = dict(zip(names, args, strict=True))
        arguments.pop("use_locking")
        variables = [variable_in(arguments.pop(h)) for h in handles]
        grad, indices = arguments.pop(gradient), arguments.pop("indices", None)
        with Locked(variables):
            before = [v._value for v in variables]
            after = updated([t.value for t in before], grad, indices, arguments)
            for variable, tensor, value in zip(variables, before, after, strict=True):
                if value.shape != tensor.value.shape:
                    _assign_value(variable, value)  # raises the error, if its shape is static
                else:
                    variable._set(value, tensor)

    def updated(
        values: Sequence[torch.Tensor], grad: torch.Tensor, indices: torch.Tensor, arguments: dict[str, Any]
    ) -> Values:
        place = next((v.device for v in (*values, grad) if not v.is_cpu), None)
        if place is not None:  # a variable, or a number, may still be on the CPU
            values, grad = [move_value(v, place) for v in values], move_value(grad, place)
            indices = None if indices is None else move_value(indices, place)
            arguments = {n: move_value(v, place) if isinstance(v, torch.Tensor) else v for n, v in arguments.items()}
        if indices is None:
            if grad.shape != values[0].shape:
                raise invalid(f"var and grad do not have the same shape {list(values[0].shape)} {list(grad.shape)}")
            return rule(*values, grad, **arguments)
        rows, total = _summed_by_row(indices, grad, values[0])
        changed = rule(*[v[rows] for v in values], total, **arguments)
        return tuple([v.index_copy(0, rows, c) for v, c in zip(values, changed, strict=True)])

    return kernel


def _summed_by_row(indices: torch.Tensor, grad: torch.Tensor, whole: torch.Tensor) -> tuple[Any, Any]:
    """Returns the numbers of a gradient's rows, each once, and the sum of the gradients of each row."""
    rows, places = torch.unique(indices.to(torch.int64), return_inverse=True)
    if len(rows) and not 0 <= int(rows[0]) <= int(rows[-1]) < len(whole):
        raise invalid(
            f"indices must be in [0, {len(whole)}), but there are some from {int(rows[0])} to {int(rows[-1])}"
        )
    total = torch.zeros((len(rows), *grad.shape[1:]), dtype=grad.dtype, device=grad.device)
    return rows, total.index_add_(0, places, grad)


def _register(name: str, rule: Callable[..., Values]) -> None:
    """Registers the op of a rule, with the parameters of its definition."""
    handles = [a.name for a in op_defs.get(name).inputs if a.type is resource]
    define(name, _kernel(rule, parameters(name), handles), no_results)


_RULES: dict[str, Callable[..., Values]] = {
    "AdaMax": _ada_max,
    "Adadelta": _adadelta,
    "Adagrad": _adagrad,
    "AdagradDA": _adagrad_da,
    "AdagradV2": _adagrad_v2,
    "Adam": _adam,
    "AdamWithAmsgrad": _amsgrad,
    "AddSign": _add_sign,
    "CenteredRMSProp": _centered_rms_prop,
    "Ftrl": _ftrl,
    "FtrlV2": _ftrl,
    "GradientDescent": _gradient_descent,
    "KerasMomentum": _keras_momentum,
    "Momentum": _momentum,
    "PowerSign": _power_sign,
    "ProximalAdagrad": _proximal_adagrad,
    "ProximalGradientDescent": _proximal_gradient_descent,
    "RMSProp": _rms_prop,
}
_defined = set(op_defs.names())
for _name, _rule in _RULES.items():
    for _op in (f"ResourceApply{_name}", f"ResourceSparseApply{_name}"):
        if _op in _defined:
            _register(_op, _rule)
