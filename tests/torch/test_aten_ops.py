"""ATen's functions as operations of a graph: values, gradients, and which of them have operations of their own."""

import numpy as np
import pytest
import torch

import tapeflow as tf

F = torch.nn.functional


class Apply(torch.nn.Module):
    """Computes several functions of the same inputs."""

    def __init__(self, functions):
        super().__init__()
        self.functions = functions

    def forward(self, *inputs):
        return {name: function(*inputs) for name, function in self.functions.items()}


def draw(*shape, seed=0, low=-2.0, high=2.0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * (high - low) + low


X, Y, POSITIVE = draw(3, 4), draw(3, 4, seed=1), draw(3, 4, low=0.25, high=3.0)
WHOLE, OTHER = torch.tensor([[1, -2, 3], [4, 5, -6]]), torch.tensor([[2, -2, 1], [-4, 7, 6]])
CUBE = draw(2, 3, 4)

GROUPS = {
    "elementwise": (
        (X, Y, POSITIVE),
        {
            "relu": lambda x, y, p: F.relu(x), "tanh": lambda x, y, p: x.tanh(), "sigmoid": lambda x, y, p: x.sigmoid(),
            "exp": lambda x, y, p: x.exp(), "log": lambda x, y, p: p.log(), "log1p": lambda x, y, p: p.log1p(),
            "expm1": lambda x, y, p: x.expm1(), "sqrt": lambda x, y, p: p.sqrt(), "rsqrt": lambda x, y, p: p.rsqrt(),
            "neg": lambda x, y, p: -x, "abs": lambda x, y, p: x.abs(), "sin": lambda x, y, p: x.sin(),
            "cos": lambda x, y, p: x.cos(), "erf": lambda x, y, p: x.erf(), "floor": lambda x, y, p: x.floor(),
            "ceil": lambda x, y, p: x.ceil(), "round": lambda x, y, p: x.round(), "sign": lambda x, y, p: x.sign(),
            "reciprocal": lambda x, y, p: p.reciprocal(), "square": lambda x, y, p: x.square(),
            "not": lambda x, y, p: torch.logical_not(x > 0), "relu6": lambda x, y, p: F.relu6(4 * x),
            "silu": lambda x, y, p: F.silu(x), "hardtanh": lambda x, y, p: F.hardtanh(x),
            "hardtanh with bounds": lambda x, y, p: F.hardtanh(x, -0.5, 1.5),
            "leaky_relu": lambda x, y, p: F.leaky_relu(x),
            "leaky_relu with slope": lambda x, y, p: F.leaky_relu(x, 0.3),
            "elu": lambda x, y, p: F.elu(x), "hardsigmoid": lambda x, y, p: F.hardsigmoid(2 * x),
            "hardswish": lambda x, y, p: F.hardswish(2 * x), "clone": lambda x, y, p: x.clone(),
            "contiguous": lambda x, y, p: x.t().contiguous(), "detach": lambda x, y, p: x.detach() * y,
            "where": lambda x, y, p: torch.where(x > y, x, 2 * y), "zeros": lambda x, y, p: torch.zeros_like(x) + y,
            "masked_fill": lambda x, y, p: x.masked_fill(y > 0, 0.5), "cast": lambda x, y, p: x.double() * 3,
            "dropout": lambda x, y, p: F.dropout(x, 0.5, False),
        },
    ),
    "arithmetic": (
        (X, Y, POSITIVE),
        {
            "add": lambda x, y, p: x + y, "add scaled": lambda x, y, p: torch.add(x, y, alpha=3),
            "add a number": lambda x, y, p: x + 2, "add a scaled number": lambda x, y, p: torch.add(x, 2, alpha=3),
            "sub": lambda x, y, p: x - y, "sub scaled": lambda x, y, p: torch.sub(x, y, alpha=3),
            "sub a number": lambda x, y, p: x - 0.5, "rsub": lambda x, y, p: 0.5 - x,
            "mul": lambda x, y, p: x * y, "mul by a number": lambda x, y, p: x * 3, "div": lambda x, y, p: x / p,
            "div by a number": lambda x, y, p: x / 4, "max": lambda x, y, p: torch.maximum(x, y),
            "min": lambda x, y, p: torch.minimum(x, y), "squared": lambda x, y, p: x**2, "cubed": lambda x, y, p: x**3,
            "pow": lambda x, y, p: p**x, "eq": lambda x, y, p: x.round() == y.round(),
            "eq a number": lambda x, y, p: x.round() == 1, "ne": lambda x, y, p: x.round() != y.round(),
            "ne a number": lambda x, y, p: x.round() != 1, "lt": lambda x, y, p: x < y,
            "lt a number": lambda x, y, p: x < 1,
            "le": lambda x, y, p: x.round() <= y.round(), "le a number": lambda x, y, p: x.round() <= 1,
            "gt": lambda x, y, p: x > y, "gt a number": lambda x, y, p: x > 1,
            "ge": lambda x, y, p: x.round() >= y.round(), "ge a number": lambda x, y, p: x.round() >= 1,
            "broadcast": lambda x, y, p: x[:, None] - y[None, 0],
        },
    ),
    "of integers": (
        (WHOLE, OTHER),
        {
            "div": lambda x, y: x / y, "div by a number": lambda x, y: x / 4, "mul by a fraction": lambda x, y: x * 0.5,
            "add a fraction": lambda x, y: x + 0.5, "int32": lambda x, y: x.int() + y, "sum": lambda x, y: x.sum(),
            "sum of int32": lambda x, y: x.int().sum(1), "sum of flags": lambda x, y: (x > y).sum(0),
            "sum as floats": lambda x, y: x.sum(0, dtype=torch.float32), "compared": lambda x, y: x.int() < y,
            "compared with a fraction": lambda x, y: x > 2.5, "mean": lambda x, y: x.float().mean(),
            "mean as doubles": lambda x, y: x.float().mean(0, dtype=torch.float64),
        },
    ),
    "shapes": (
        (CUBE,),
        {
            "flatten": lambda x: x.flatten(), "flatten last": lambda x: x.flatten(1),
            "flatten first": lambda x: x.flatten(0, 1),
            "flatten from the end": lambda x: x.flatten(-2, -1), "view": lambda x: x.view(2, 12),
            "reshape": lambda x: x.reshape(4, -1), "permute": lambda x: x.permute(2, 0, 1),
            "transpose": lambda x: x.transpose(0, 2), "transpose from the end": lambda x: x.transpose(-1, -2),
            "t": lambda x: x[0].t() * 1, "t of a vector": lambda x: x[0, 0].t() * 1,
            "unsqueeze": lambda x: x.unsqueeze(1),
            "unsqueeze last": lambda x: x.unsqueeze(-1), "squeeze": lambda x: x[:, :1].squeeze(1),
            "squeeze nothing": lambda x: x.squeeze(1) * 1, "squeeze several": lambda x: x[:1, :, :1].squeeze((0, 2)),
            "expand": lambda x: x[:, :1].expand(2, 5, 4), "expand the rest": lambda x: x[0, 0].expand(3, -1),
            "select": lambda x: x.select(1, 2), "select last": lambda x: x[:, :, -1], "slice": lambda x: x[:, 1:],
            "slice with a step": lambda x: x[:, :, 0:4:2], "slice from the end": lambda x: x[..., -3:-1],
            "split": lambda x: x.split(2, dim=2)[1], "split unevenly": lambda x: x.split(3, -1)[1],
            "split with sizes": lambda x: x.split([1, 3], 2)[1], "chunk": lambda x: x.chunk(2, 1)[0],
            "cat": lambda x: torch.cat([x, 2 * x], 1), "cat of one": lambda x: torch.cat([x]) * 1,
            "cat last": lambda x: torch.cat([x, x + 1], -1), "stack": lambda x: torch.stack([x, -x]),
            "stack last": lambda x: torch.stack([x, -x], -1), "arange": lambda x: torch.arange(5) * 2,
            "arange from": lambda x: torch.arange(2, 7), "arange with a step": lambda x: torch.arange(1, 8, 3),
            "arange of floats": lambda x: torch.arange(4, dtype=torch.float32) / 2,
            "arange by fractions": lambda x: torch.arange(0, 1, 0.25),
            "index_select": lambda x: x.index_select(2, torch.tensor([3, 0])),
        },
    ),
    "reductions": (
        (CUBE,),
        {
            "mean": lambda x: x.mean(), "mean of a row": lambda x: x.mean(2),
            "mean of several": lambda x: x.mean((0, 2)),
            "mean kept": lambda x: x.mean(1, keepdim=True), "sum": lambda x: x.sum(),
            "sum of a row": lambda x: x.sum(-1),
            "sum kept": lambda x: x.sum((0, 1), keepdim=True),
            "sum as doubles": lambda x: x.sum(1, dtype=torch.float64),
            "amax": lambda x: x.amax(), "amax of rows": lambda x: x.amax(1),
            "amax kept": lambda x: x.amax((1, 2), True),
            "amin": lambda x: x.amin(), "amin of rows": lambda x: x.amin(-1, keepdim=True),
            "softmax": lambda x: x.softmax(-1), "softmax of the first": lambda x: x.softmax(0),
            "softmax of the middle": lambda x: x.softmax(1),
            "softmax as doubles": lambda x: x.softmax(2, torch.float64),
            "log_softmax": lambda x: x.log_softmax(-1), "log_softmax of the middle": lambda x: x.log_softmax(-2),
            "log_softmax as doubles": lambda x: x.log_softmax(1, torch.float64),
        },
    ),
    "products": (
        (CUBE, draw(2, 4, 5, seed=2), draw(6, 4, seed=3), draw(6, seed=4)),
        {
            "bmm": lambda x, y, w, b: x.bmm(y), "matmul of batches": lambda x, y, w, b: x @ y,
            "matmul of matrices": lambda x, y, w, b: x[0] @ y[1], "mm": lambda x, y, w, b: torch.mm(x[1], y[0]),
            "addmm": lambda x, y, w, b: torch.addmm(b, x[0], w.t()), "linear": lambda x, y, w, b: F.linear(x[0], w, b),
            "linear of batches": lambda x, y, w, b: F.linear(x, w, b),
            "linear alone": lambda x, y, w, b: F.linear(x, w),
            "embedding": lambda x, y, w, b: F.embedding(torch.tensor([[5, 0], [2, 2]]), w),
        },
    ),
    "images": (
        (draw(2, 4, 7, 9), draw(6, 4, 3, 2, seed=5), draw(6, seed=6)),
        {
            "conv": lambda x, w, b: F.conv2d(x, w), "conv with a bias": lambda x, w, b: F.conv2d(x, w, b),
            "conv with strides": lambda x, w, b: F.conv2d(x, w, b, (2, 3)),
            "conv with padding": lambda x, w, b: F.conv2d(x, w, b, 1, (2, 0)),
            "conv with one padding": lambda x, w, b: F.conv2d(x, w, b, 1, (0, 1)),
            "conv with dilations": lambda x, w, b: F.conv2d(x, w, b, dilation=(1, 2)),
            "conv of groups": lambda x, w, b: F.conv2d(x, w[:, :2], b, groups=2),
            "pool": lambda x, w, b: F.max_pool2d(x, (2, 3)),
            "pool with strides": lambda x, w, b: F.max_pool2d(x, 3, (1, 2)),
            "mean": lambda x, w, b: F.adaptive_avg_pool2d(x, 1),
            "chain": lambda x, w, b: F.relu(F.conv2d(x, w, b)) * 2 + F.conv2d(x, w).tanh(),
        },
    ),
}  # fmt: skip


def close(mine, theirs, name=""):
    assert tf.torch.to_torch(mine).dtype == theirs.dtype and tuple(mine.shape) == tuple(theirs.shape), name
    np.testing.assert_allclose(mine, theirs.detach(), rtol=2e-5, atol=2e-6, err_msg=name)


def function_of(functions, inputs, dynamic):
    layer = tf.torch.Layer(Apply(functions))
    shapes = [[None] * (i == 0 and dynamic) + list(x.shape)[i == 0 and dynamic :] for i, x in enumerate(inputs)]
    specs = [tf.TensorSpec(s, tf.torch.from_torch(x).dtype) for s, x in zip(shapes, inputs, strict=True)]
    return tf.function(lambda *args: layer(*args), input_signature=specs, autograph=False)


GROUPS["sizes that are not static"] = (
    (CUBE,),
    {
        "flatten": lambda x: x.flatten(), "flatten last": lambda x: x.flatten(1),
        "flatten first": lambda x: x.flatten(0, 1),
        "size": lambda x: x * x.shape[0], "reshape": lambda x: x.reshape(x.shape[0], -1),
        "view": lambda x: x.view(-1, 12),
        "expand": lambda x: x[:, :1].expand(-1, 5, -1), "expand the rest": lambda x: x[:, 0, 0].expand(3, -1),
        "arange": lambda x: torch.arange(x.shape[0]), "arange from": lambda x: torch.arange(1, x.shape[0] + 2, 2),
        "select": lambda x: x[-1], "slice": lambda x: x[1:, 1:], "slice to the end": lambda x: x[:-1],
        "split": lambda x: x.split(2, 2)[0], "cat": lambda x: torch.cat([x, x]), "mean": lambda x: x.mean(0),
        "sum": lambda x: x.sum((0, 1)), "softmax": lambda x: x.softmax(0), "linear": lambda x: F.linear(x, x[0]),
        "matmul": lambda x: x @ x.transpose(1, 2),
    },
)  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_values_and_gradients(group):
    inputs, functions = GROUPS[group]
    mine = [tf.torch.from_torch(x) for x in inputs]
    function = function_of(functions, inputs, group == "sizes that are not static")
    with tf.GradientTape() as tape:
        tape.watch(mine)
        results = function(*mine)
        smooth = [name for name, r in results.items() if r.dtype.is_floating]
        total = tf.add_n([tf.cast(tf.reduce_sum(results[n] * (1.0 + i)), tf.float32) for i, n in enumerate(smooth)])
    theirs = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    expected = Apply(functions)(*theirs)
    for name, result in expected.items():
        close(results[name], result, name)
    if theirs[0].requires_grad:
        sum((expected[n] * (1.0 + i)).sum().float() for i, n in enumerate(smooth)).backward()
        for gradient, x in zip(tape.gradient(total, mine), theirs, strict=True):
            np.testing.assert_allclose(tf.convert_to_tensor(gradient), x.grad, rtol=1e-3, atol=1e-4)
    operations = function.get_concrete_function().graph.get_operations()
    others = [op.get_attr("call") for op in operations if op.type == "Aten"]
    assert not [o for o in others if b"aten.arange" not in o], others
    assert len(operations) > len(functions)  # the module is no operation of its own


NO_OWN = {
    "elu with a slope": lambda x: F.elu(x, 0.5), "rsub scaled": lambda x: torch.rsub(x, 1.5, alpha=2),
    "pool with padding": lambda x: F.max_pool2d(x, 2, padding=1),
    "pool of parts": lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True),
    "pool with dilations": lambda x: F.max_pool2d(x, 2, 2, dilation=2),
    "means": lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
    "vector": lambda x: x @ x[0, 0, 0], "linear vector": lambda x: F.linear(x[0, 0, 0], x[0, 0]),
    "cumsum": lambda x: x.cumsum(1), "fractions": lambda x: torch.arange(0, 1, 0.25) + x[0, 0, 0, 0],
}  # fmt: skip


def test_functions_without_an_operation_of_their_own():
    x = draw(2, 3, 5, 5)
    function = function_of(NO_OWN, [x], False)
    results = function(tf.torch.from_torch(x))
    for name, result in Apply(NO_OWN)(x).items():
        close(results[name], result, name)
    operations = function.get_concrete_function().graph.get_operations()
    assert sum(op.type == "Aten" for op in operations) >= len(NO_OWN)


IDS = torch.tensor([[2, 0], [-1, 1]])
MASK = torch.tensor([[True, False, True], [True, True, False], [False, True, True]])
DECOMPOSED = {
    "gelu": lambda x: F.gelu(x), "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "layer_norm": lambda x: F.layer_norm(x, [4]), "layer_norm of two": lambda x: F.layer_norm(x, [3, 4], eps=0.1),
    "layer_norm with scale": lambda x: F.layer_norm(x, [4], x[0, 0], x[1, 1]),
    "index": lambda x: x[:, IDS], "index first": lambda x: x[torch.tensor([1, -1, 0])],
    "attention": lambda x: F.scaled_dot_product_attention(x, x + 1, 2 * x),
    "causal attention": lambda x: F.scaled_dot_product_attention(x, x + 1, 2 * x, is_causal=True),
    "masked attention": lambda x: F.scaled_dot_product_attention(x, x + 1, 2 * x, MASK),
    "biased attention": lambda x: F.scaled_dot_product_attention(x, x + 1, 2 * x, MASK * 2.0),
    "scaled attention": lambda x: F.scaled_dot_product_attention(x, x + 1, 2 * x, scale=0.3),
}  # fmt: skip


def test_saved_models_have_operations_of_tensorflow(tmp_path):
    model = tf.Module()
    model.f = function_of(DECOMPOSED, [CUBE], True)
    tf.saved_model.save(model, tmp_path)
    results = tf.saved_model.load(tmp_path).f(tf.torch.from_torch(CUBE))
    own = model.f(tf.torch.from_torch(CUBE))
    for name, result in Apply(DECOMPOSED)(CUBE).items():
        close(own[name], result, name)
        close(results[name], result, name)
