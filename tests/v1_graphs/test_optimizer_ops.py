"""The steps of optimizers as ops, against the formulas of their papers."""

import numpy as np
import pytest

import tapeflow as tf

GRADIENT = np.array([1.0, -2.0, 3.0])
RATE, BETA1, BETA2, POWER1, POWER2, EPSILON = 0.1, 0.8, 0.9, 0.64, 0.7, 0.01


def ada_max(var, m, v):
    m = BETA1 * m + (1 - BETA1) * GRADIENT
    v = np.maximum(BETA2 * v, np.abs(GRADIENT))
    return var - RATE / (1 - POWER1) * m / (v + EPSILON), m, v


def ams_grad(var, m, v, vhat):
    m = BETA1 * m + (1 - BETA1) * GRADIENT
    v = BETA2 * v + (1 - BETA2) * GRADIENT**2
    vhat = np.maximum(vhat, v)
    return var - RATE * np.sqrt(1 - POWER2) / (1 - POWER1) * m / (np.sqrt(vhat) + EPSILON), m, v, vhat


STEPS = {
    "ResourceApplyAdaMax": (ada_max, {"beta1_power": POWER1}),
    "ResourceApplyAdamWithAmsgrad": (ams_grad, {"beta1_power": POWER1, "beta2_power": POWER2}),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_that_of_the_paper(name):
    step, powers = STEPS[name]
    names = ["var", "m", "v", "vhat"][: step.__code__.co_argcount]
    values = [np.array([1.0, 2.0, 3.0]) * (i + 1) for i in range(len(names))]
    variables = [tf.Variable(v, dtype=tf.float64) for v in values]
    numbers = {"lr": RATE, "beta1": BETA1, "beta2": BETA2, "epsilon": EPSILON, **powers}
    getattr(tf.raw_ops, name)(
        **{n: v.handle for n, v in zip(names, variables, strict=True)},
        grad=tf.constant(GRADIENT),
        **{n: tf.constant(v, tf.float64) for n, v in numbers.items()},
    )
    for variable, expected in zip(variables, step(*values), strict=True):
        np.testing.assert_allclose(variable, expected, rtol=1e-12)
