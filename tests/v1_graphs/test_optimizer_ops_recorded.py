"""The steps of optimizers as ops, recorded from TensorFlow 2.21."""

import inspect

import numpy as np
import pytest

import tapeflow as tf

NUMBERS = {
    "lr": 0.1, "alpha": 0.3, "beta1": 0.8, "beta2": 0.9, "beta1_power": 0.64, "beta2_power": 0.7, "epsilon": 0.01,
    "momentum": 0.6, "rho": 0.75, "l1": 0.2, "l2": 0.4, "l2_shrinkage": 0.15, "lr_power": -0.5, "logbase": 1.5,
    "sign_decay": 0.7, "beta": 0.85, "global_step": 3,
}  # fmt: skip
SLOTS = {
    "var", "m", "v", "vhat", "accum", "accum_update", "mg", "ms", "mom", "linear", "gradient_accumulator",
    "gradient_squared_accumulator",
}  # fmt: skip
BASE = np.arange(6.0).reshape(3, 2)
STARTS = [BASE * 0.5 - 1.0, 4.0 + BASE * 0.25, 3.0 + BASE * 0.5, 2.0 + BASE * 0.75]
GRADIENT = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.0]])

# The op, its attrs, and the values of the variable and its slots after a step. Sparse ops get the rows 2, 0 and 1.
STEPS = [
    (
        "ResourceApplyAdaMax",
        {},
        [
            [-1.348503485, -0.7637130802, -0.2847029855, 0.1989600438, 0.7721113575, 1.264784946],
            [3.4, 3, 3.7, 4.4, 3.7, 4.2],
            [2.7, 3.15, 3.6, 4.05, 4.5, 4.95],
        ],
    ),
    (
        "ResourceApplyAdadelta",
        {},
        [
            [-1.096089171, -0.3171107405, -0.05392498751, 0.2359690873, 1.161488879, 1.5],
            [3.25, 4.1875, 3.4375, 5.8125, 4.3125, 3.9375],
            [2.480828221, 3.461212031, 3.072697607, 5.117808072, 4.401966455, 4.125],
        ],
    ),
    (
        "ResourceApplyAdagrad",
        {},
        [
            [-1.04472136, -0.4303689376, -0.02294157339, 0.4190960165, 1.055708601, 1.5],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
        ],
    ),
    (
        "ResourceApplyAdagrad",
        {"update_slots": False},
        [[-1.05, -0.40298575, -0.02357022604, 0.3623505597, 1.067082039, 1.5], [4, 4.25, 4.5, 4.75, 5, 5.25]],
    ),
    (
        "ResourceApplyAdagradDA",
        {},
        [
            [-0.2075471698, -0.05772030431, -0.2016911979, -0.188443803, -0.1031080901, -0.1886250664],
            [5, 2.25, 5, 7.75, 3.5, 5.25],
            [4, 7.5, 4.25, 13.5, 7.25, 5.5],
        ],
    ),
    (
        "ResourceApplyAdagradV2",
        {},
        [[-1.04452225, -0.4306105208, -0.022836791, 0.4193136115, 1.05550247, 1.5], [5, 8.25, 4.75, 13.75, 7.25, 5.25]],
    ),
    (
        "ResourceApplyAdagradV2",
        {"update_slots": False},
        [[-1.049751244, -0.4034540666, -0.02345963625, 0.362979254, 1.066783375, 1.5], [4, 4.25, 4.5, 4.75, 5, 5.25]],
    ),
    (
        "ResourceApplyAdam",
        {},
        [
            [-1.307305509, -0.7409718458, -0.2941242198, 0.2004560387, 0.7422102879, 1.214071673],
            [3.4, 3, 3.7, 4.4, 3.7, 4.2],
            [2.8, 3.55, 3.625, 4.95, 4.725, 4.95],
        ],
    ),
    (
        "ResourceApplyAdam",
        {"use_nesterov": True},
        [
            [-1.263921202, -0.6606478972, -0.2432486791, 0.2195179271, 0.8146700989, 1.271257339],
            [3.4, 3, 3.7, 4.4, 3.7, 4.2],
            [2.8, 3.55, 3.625, 4.95, 4.725, 4.95],
        ],
    ),
    (
        "ResourceApplyAdamWithAmsgrad",
        {},
        [
            [-1.307305509, -0.7409718458, -0.2941242198, 0.2004560387, 0.749367749, 1.23462126],
            [3.4, 3, 3.7, 4.4, 3.7, 4.2],
            [2.8, 3.55, 3.625, 4.95, 4.725, 4.95],
            [2.8, 3.55, 3.625, 4.95, 5, 5.75],
        ],
    ),
    ("ResourceApplyAddSign", {}, [[-1.1, -0.58, -0.05, 0.2, 0.94, 1.5], [3.55, 3.3125, 3.9, 4.4875, 4.025, 4.4625]]),
    (
        "ResourceApplyCenteredRMSProp",
        {},
        [
            [-2.263920277, -2.042391828, -2.12888256, -2.188610276, -1.927805099, -1.95],
            [0.25, -0.425, 0.275, 0.975, -0.075, 0.375],
            [2.5, 3.625, 3.0625, 5.625, 4.3125, 4.125],
            [1.263920277, 1.542391828, 2.12888256, 2.688610276, 2.927805099, 3.45],
        ],
    ),
    (
        "ResourceApplyFtrl",
        {},
        [
            [-0.2659973643, -0.1813391735, -0.190311846, 0, 0.03120355448, -0.2235072391],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
            [6.360679775, 5.553642552, 4.5, -0.1432488589, -1.065144261, 5.5],
        ],
    ),
    (
        "ResourceApplyFtrl",
        {"lr_power": -0.3},
        [
            [-0.2851487073, -0.1527567177, -0.2565772, -0.1891245601, -0.07342015152, -0.3073260705],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
            [5.049400302, 3.19918312, 4.5, 4.503121786, 1.588935309, 5.5],
        ],
    ),
    (
        "ResourceApplyFtrl",
        {"multiply_linear_by_lr": True},
        [
            [-1.431766256, -1.248310663, -1.783620324, -1.060076533, -1.577405082, -2.31098051],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
            [3.336067977, 3.705364255, 4.05, 4.035675114, 4.393485574, 5.5],
        ],
    ),
    (
        "ResourceApplyFtrlV2",
        {},
        [
            [-0.2530443766, -0.1762583569, -0.190311846, 0, 0.02038331701, -0.2424842689],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
            [6.060679775, 5.403642552, 4.5, 0.006751141113, -0.7651442607, 5.95],
        ],
    ),
    (
        "ResourceApplyFtrlV2",
        {"multiply_linear_by_lr": True},
        [
            [-1.418813269, -1.243229846, -1.783620324, -1.064036303, -1.58822532, -2.32995754],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
            [3.306067977, 3.690364255, 4.05, 4.050675114, 4.423485574, 5.545],
        ],
    ),
    ("ResourceApplyGradientDescent", {}, [[-1.3, 0.1, -0.15, -0.4, 1.45, 1.5]]),
    ("ResourceApplyKerasMomentum", {}, [[1.3, 2.25, 2.65, 3.05, 4.15, 4.65], [2.3, 2.75, 2.65, 2.55, 3.15, 3.15]]),
    (
        "ResourceApplyKerasMomentum",
        {"use_nesterov": True},
        [[0.28, 1.35, 1.54, 1.73, 3.04, 3.39], [2.3, 2.75, 2.65, 2.55, 3.15, 3.15]],
    ),
    ("ResourceApplyMomentum", {}, [[-1.34, -0.555, -0.32, -0.085, 0.85, 1.185], [3.4, 0.55, 3.2, 5.85, 1.5, 3.15]]),
    (
        "ResourceApplyMomentum",
        {"use_nesterov": True},
        [[-1.304, -0.333, -0.242, -0.151, 1.06, 1.311], [3.4, 0.55, 3.2, 5.85, 1.5, 3.15]],
    ),
    (
        "ResourceApplyPowerSign",
        {},
        [
            [-1.285765112, -0.4300124502, -0.1428825559, -0.3572953354, 1.052490662, 1.5],
            [3.55, 3.3125, 3.9, 4.4875, 4.025, 4.4625],
        ],
    ),
    (
        "ResourceApplyProximalAdagrad",
        {},
        [
            [-1.017574168, -0.417590379, -0.0135168655, 0.409287354, 1.032935878, 1.465684203],
            [5, 8.25, 4.75, 13.75, 7.25, 5.25],
        ],
    ),
    (
        "ResourceApplyProximalGradientDescent",
        {},
        [[-1.107142857, 0.03571428571, -0.08035714286, -0.3035714286, 1.241071429, 1.285714286]],
    ),
    (
        "ResourceApplyRMSProp",
        {},
        [
            [-2.855384878, -2.502380935, -2.426928854, -2.324327301, -1.927852089, -1.8],
            [3.25, 4.1875, 3.4375, 5.8125, 4.3125, 3.9375],
            [1.855384878, 2.002380935, 2.426928854, 2.824327301, 2.927852089, 3.3],
        ],
    ),
    (
        "ResourceSparseApplyAdadelta",
        {},
        [
            [-1.049488844, -0.7408109292, 0.1511827971, 0.5, 0.8882244857, 1.711063382],
            [3.0625, 5.4375, 3.9375, 3.5625, 4, 4.9375],
            [2.311228641, 4.074747591, 3.571405953, 3.375, 4.06234414, 5.238693785],
        ],
    ),
    (
        "ResourceSparseApplyAdagrad",
        {},
        [
            [-1.024253563, -0.5824163384, 0.05773502692, 0.5, 0.959175171, 1.565759595],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
        ],
    ),
    (
        "ResourceSparseApplyAdagrad",
        {"update_slots": False},
        [[-1.025, -0.645521375, 0.07071067812, 0.5, 0.9552786405, 1.587287156], [4, 4.25, 4.5, 4.75, 5, 5.25]],
    ),
    (
        "ResourceSparseApplyAdagradDA",
        {},
        [
            [-0.2028317773, -0.181915971, -0.09160305344, -0.1851587174, -0.2101584571, -0.08275542458],
            [4.5, 7.25, 3, 4.75, 6, 3.25],
            [3.25, 12.5, 6.25, 4.5, 6, 9.5],
        ],
    ),
    (
        "ResourceSparseApplyAdagradV2",
        {},
        [
            [-1.024136483, -0.5821905436, 0.05751365675, 0.5, 0.95934116, 1.565544087],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
        ],
    ),
    (
        "ResourceSparseApplyAdagradV2",
        {"update_slots": False},
        [[-1.024875622, -0.6448189002, 0.07037890876, 0.5, 0.95547775, 1.586907859], [4, 4.25, 4.5, 4.75, 5, 5.25]],
    ),
    (
        "ResourceSparseApplyCenteredRMSProp",
        {},
        [
            [-2.23291986, -2.296308828, -2.020071016, -2.05, -2.051934914, -1.861606257],
            [0.125, 0.825, -0.225, 0.225, 0.55, -0.125],
            [2.3125, 4.875, 3.5625, 3.375, 4, 5.125],
            [1.23291986, 1.796308828, 2.020071016, 2.55, 3.051934914, 3.361606257],
        ],
    ),
    (
        "ResourceSparseApplyFtrl",
        {},
        [
            [-0.1828359359, -0.3815134688, -0.08588254473, -0.190311846, -0.1449218111, 0.2419249884],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
            [4.115528128, 14.39251066, 2.5, 4.5, 3.865782347, -7.751401265],
        ],
    ),
    (
        "ResourceSparseApplyFtrl",
        {"lr_power": -0.3},
        [
            [-0.2203949902, -0.4192510632, -0.1241005132, -0.2565772, -0.272851301, 0.04281499043],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
            [3.778191349, 9.637444967, 2.5, 4.5, 5.088867373, -1.068775109],
        ],
    ),
    (
        "ResourceSparseApplyFtrl",
        {"multiply_linear_by_lr": True},
        [
            [-1.443603349, -1.228275156, -1.430131071, -1.982783884, -1.923936734, -1.331096563],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
            [3.111552813, 4.589251066, 3.85, 4.5, 4.886578235, 4.174859873],
        ],
    ),
    (
        "ResourceSparseApplyFtrlV2",
        {},
        [
            [-0.1688274091, -0.3774812703, -0.08588254473, -0.1969506314, -0.1567819106, 0.227508294],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
            [3.815528128, 14.24251066, 2.5, 4.65, 4.165782347, -7.301401265],
        ],
    ),
    (
        "ResourceSparseApplyFtrlV2",
        {"multiply_linear_by_lr": True},
        [
            [-1.429594822, -1.224242957, -1.430131071, -1.98942267, -1.935796834, -1.345513257],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
            [3.081552813, 4.574251066, 3.85, 4.515, 4.916578235, 4.219859873],
        ],
    ),
    (
        "ResourceSparseApplyKerasMomentum",
        {},
        [[1.35, 1.75, 2.85, 3.35, 3.9, 4.85], [2.35, 2.25, 2.85, 2.85, 2.9, 3.35]],
    ),
    (
        "ResourceSparseApplyKerasMomentum",
        {"use_nesterov": True},
        [[0.36, 0.55, 1.86, 2.21, 2.64, 3.71], [2.35, 2.25, 2.85, 2.85, 2.9, 3.35]],
    ),
    ("ResourceSparseApplyMomentum", {}, [[-1.29, -1.055, -0.12, 0.215, 0.6, 1.385], [2.9, 5.55, 1.2, 2.85, 4, 1.15]]),
    (
        "ResourceSparseApplyMomentum",
        {"use_nesterov": True},
        [[-1.224, -1.133, 0.078, 0.329, 0.66, 1.631], [2.9, 5.55, 1.2, 2.85, 4, 1.15]],
    ),
    (
        "ResourceSparseApplyProximalAdagrad",
        {},
        [
            [-0.9952416138, -0.570651119, 0.04927833375, 0.4819775127, 0.9357298015, 1.538943574],
            [4.25, 13.25, 6.75, 4.75, 6, 9.25],
        ],
    ),
    (
        "ResourceSparseApplyProximalGradientDescent",
        {},
        [[-0.9732142857, -1.196428571, 0.3482142857, 0.3928571429, 0.5714285714, 1.821428571]],
    ),
    (
        "ResourceSparseApplyRMSProp",
        {},
        [
            [-2.828524895, -2.728535365, -2.324502914, -2.2, -2.049937617, -1.710083976],
            [3.0625, 5.4375, 3.9375, 3.5625, 4, 4.9375],
            [1.828524895, 2.228535365, 2.324502914, 2.7, 3.049937617, 3.210083976],
        ],
    ),
]


def take_step(name, options, gradient=GRADIENT, indices=(2, 0, 1)):
    """Returns the variables after a step, the slots after the first."""
    op = getattr(tf.raw_ops, name)
    variables, arguments = [], {}
    for parameter in inspect.signature(op).parameters:
        if parameter in SLOTS:
            start = BASE * 0.1 if parameter == "mg" else STARTS[len(variables)]  # below the root of the mean square
            variables.append(tf.Variable(start, dtype=tf.float64))
            arguments[parameter] = variables[-1].handle
        elif parameter in ("grad", "delta"):
            arguments[parameter] = tf.constant(gradient)
        elif parameter == "indices":
            arguments[parameter] = tf.constant(list(indices), tf.int64)
        elif parameter in NUMBERS:
            dtype = tf.int64 if parameter == "global_step" else tf.float64
            arguments[parameter] = tf.constant(options.get(parameter, NUMBERS[parameter]), dtype)
        elif parameter in options:
            arguments[parameter] = options[parameter]
    op(**arguments)
    return [v.numpy() for v in variables]


@pytest.mark.parametrize(("name", "options", "expected"), STEPS, ids=[f"{n}-{o}" for n, o, _ in STEPS])
def test_steps(name, options, expected):
    after = take_step(name, options)
    np.testing.assert_allclose([v.ravel() for v in after], expected, rtol=1e-8, atol=1e-10)


SPARSE = [(name, options) for name, options, _ in STEPS if "Sparse" in name]


@pytest.mark.parametrize(("name", "options"), SPARSE, ids=str)
def test_repeated_rows_are_summed(name, options):
    after = take_step(name, options, indices=(2, 0, 2))
    once = take_step(name, options, np.stack([GRADIENT[1], GRADIENT[0] + GRADIENT[2]]), indices=(0, 2))
    np.testing.assert_array_equal(after, once)
    np.testing.assert_array_equal(after[0][1], STARTS[0][1])  # the row without a gradient


def test_no_rows():
    after = take_step("ResourceSparseApplyMomentum", {}, np.zeros([0, 2]), indices=np.zeros([0], int))
    np.testing.assert_array_equal(after, STARTS[:2])


@pytest.mark.parametrize("indices", [(2, 0, 3), (-1, 0, 1)])
def test_rows_that_are_not_there(indices):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices must be in \[0, 3\), but there are some from"):
        take_step("ResourceSparseApplyMomentum", {}, indices=indices)


def test_gradients_of_another_shape():
    with pytest.raises(tf.errors.InvalidArgumentError, match="var and grad do not have the same shape"):
        take_step("ResourceApplyGradientDescent", {}, GRADIENT[:2])


def test_steps_keep_the_arguments():
    gradient = tf.constant(GRADIENT)
    variable = tf.Variable(STARTS[0])
    before = variable.read_value()
    tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=tf.constant(0.5, tf.float64), delta=gradient)
    np.testing.assert_array_equal(gradient, GRADIENT)
    np.testing.assert_array_equal(before, STARTS[0])
    np.testing.assert_allclose(variable, STARTS[0] - 0.5 * GRADIENT)
