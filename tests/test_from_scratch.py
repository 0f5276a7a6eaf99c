"""`examples/from_scratch.py`, which `docs/how/from-scratch.md` explains, against torch's own autograd."""

import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import examples.from_scratch as fs


def network(x, w, b, v):
    return fs.matmul(fs.tanh(fs.matmul(x, w) + b), v) - 0.5 * b


def torch_network(x, w, b, v):
    return torch.tanh(x @ w + b) @ v - 0.5 * b


@pytest.fixture
def values():
    torch.manual_seed(0)
    return [torch.randn(s) for s in ((5, 3), (3, 4), (4,), (4, 4))]


@pytest.mark.parametrize("called", [network, fs.function(network)], ids=["eager", "traced"])
def test_gradients_are_those_of_torch(called, values):
    tensors = [fs.EagerTensor(v) for v in values]
    with fs.Tape() as tape:
        for tensor in tensors:
            tape.watch(tensor)
        y = called(*tensors)
        target = fs.reduce_sum(y * y)
    wanted = [v.clone().requires_grad_() for v in values]
    result = torch_network(*wanted)
    (result * result).sum().backward()
    torch.testing.assert_close(y.value, result.detach())
    for found, leaf in zip(tape.gradient(target, tensors), wanted, strict=True):
        torch.testing.assert_close(found.value, leaf.grad)


def test_variables_of_a_function_have_gradients_and_updates(values):
    w = fs.Variable(values[1])

    @fs.function
    def step(x):
        with fs.Tape() as tape:
            loss = fs.reduce_sum(fs.tanh(x @ w))
        (gradient,) = tape.gradient(loss, [w])
        w.assign_sub(gradient)
        return w

    leaf = values[1].clone().requires_grad_()
    torch.tanh(values[0] @ leaf).sum().backward()
    after = step(fs.EagerTensor(values[0]))  # a read that stands after the update
    torch.testing.assert_close(after.value, values[1] - leaf.grad)
    torch.testing.assert_close(w.value, values[1] - leaf.grad)
    assert len(step.traces) == 1

    with fs.Tape() as tape:
        loss = fs.reduce_sum(fs.function(lambda x: x @ w)(fs.EagerTensor(values[0])))
    torch.testing.assert_close(tape.gradient(loss, [w])[0].value, values[0].sum(0)[:, None].expand(3, 4))


def test_the_passes_leave_the_result_and_drop_steps(values):
    def f(x, w, b):
        return (x @ w + b) * 1.0 + fs.tanh(b) * fs.tanh(b)

    source = fs.function(f).trace(*map(fs.EagerTensor, values[:3])).source
    assert source.count("op_Tanh") == 1 and source.count("op__FusedMatMul") == 1
    assert source.count(" = ") == 4, source


def test_a_second_gradient_around_a_function_is_refused(values):
    x = fs.EagerTensor(values[2])
    with fs.Tape() as outer:
        outer.watch(x)
        with fs.Tape() as inner:
            inner.watch(x)
            y = fs.reduce_sum(fs.function(lambda t: fs.tanh(t))(x))
        with pytest.raises(NotImplementedError, match="inside of the function"):
            inner.gradient(y, [x])
