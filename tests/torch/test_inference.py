"""Converted modules without gradients: computed by the kernels that TapeFlow compiles for itself."""

import copy

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.torch import inference


@pytest.fixture
def model():
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, use_bias=False, name="conv"),
            layers.BatchNormalization(name="batch"),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dense(2, name="dense"),
        ]
    )


@pytest.fixture
def uses(monkeypatch):
    """How often the compiled function answered."""
    answers = []
    results = inference.Inference.results

    def counted(*args):
        computed = results(*args)
        answers.append(computed is not None)
        return computed

    monkeypatch.setattr(inference.Inference, "results", counted)
    return answers


X = torch.rand(2, 8, 8, 3, generator=torch.Generator().manual_seed(0))


def check(module, uses, compiled=True):
    """Compares the results without and with gradients."""
    with torch.no_grad():
        result = module(X)
    np.testing.assert_allclose(result, module(X).detach(), rtol=1e-4, atol=1e-5)
    assert uses[-1:] == [compiled]


def test_results_follow_the_parameters(model, uses):
    module = tf.torch.module(model).eval()
    check(module, uses)
    with torch.no_grad():
        module.conv.kernel.mul_(2.0)
    check(module, uses)
    module.conv.kernel.data.add_(1.0)
    check(module, uses)
    module.batch.moving_mean.data = torch.full((4,), 3.0)
    check(module, uses)
    module.dense.kernel = torch.nn.Parameter(torch.rand_like(module.dense.kernel))
    check(module, uses)
    module.load_state_dict({n: torch.rand_like(p) for n, p in module.state_dict().items()})
    check(module, uses)
    state = {n: torch.rand_like(p) for n, p in module.state_dict().items()}
    with torch.no_grad():
        other = torch.func.functional_call(module, state, (X,))
    np.testing.assert_allclose(other, torch.func.functional_call(module, state, (X,)).detach(), rtol=1e-4, atol=1e-5)
    check(module, uses)


def test_training_updates_buffers(model, uses):
    module = tf.torch.module(model).train()
    twin = copy.deepcopy(module)
    with torch.no_grad():
        module(X)
    assert uses == [True]
    twin(X)
    for (name, mine), theirs in zip(module.state_dict().items(), twin.state_dict().values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6, err_msg=name)
    assert not np.array_equal(module.batch.moving_mean, tf.torch.module(model).batch.moving_mean)
    with torch.no_grad():
        copy.deepcopy(module)(X)
    assert uses == [True, True]


def test_where_torch_follows(model, uses):
    module = tf.torch.module(model).eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        module(X)
        torch.vmap(module)(X[None])
    with torch.no_grad():
        torch.export.export(module, (X,))
        module(X.permute(0, 2, 1, 3).requires_grad_())
    assert not any(uses[:-1])


def test_results_can_be_written_to(model):
    v = tf.Variable([1.0, 2.0], name="v")
    module = tf.torch.module(tf.function(lambda x: (x, v.read_value(), tf.constant([5.0]))), tf.TensorSpec([2]))
    x = torch.ones(2)
    for _ in range(2):
        with torch.no_grad():
            for result in module(x):
                result.fill_(7.0)
    assert (x.tolist(), module.v.tolist()) == ([1.0, 1.0], [1.0, 2.0])


def test_random_numbers_are_torchs(uses):
    module = tf.torch.module(tf.function(lambda x: x + tf.random.normal([2])), tf.TensorSpec([2]))
    with torch.no_grad():
        torch.manual_seed(3)
        first = module(torch.zeros(2))
        torch.manual_seed(3)
        assert torch.equal(module(torch.zeros(2)), first)
    assert not any(uses)


def test_filters_are_in_the_memory_of_the_variables(model):
    """Steps of torch's fused optimizers copy what is not contiguous."""
    assert all(p.is_contiguous() and torch._C._is_cow_tensor(p) for p in tf.torch.module(model).parameters())


@pytest.fixture(name="matrix")
def module_of_matrices():
    """A module of matrices of any height, with a weight and a constant."""
    w, constant = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"), tf.constant([0.5, 0.25])
    spec = tf.TensorSpec([None, 2])
    return tf.torch.module(tf.function(lambda x: tf.nn.relu(x @ w) + constant), spec).eval()


def of_matrix(x, w=((1.0, 2.0), (3.0, 4.0))):
    return torch.relu(x @ torch.tensor(w)) + torch.tensor([0.5, 0.25])


@pytest.mark.parametrize(
    ("x", "compiled"),
    [
        (torch.tensor([[1.0, -2.0]]), True),
        (torch.tensor([[1.0, -2.0], [3.0, 4.0], [5.0, 6.0]]), True),
        (torch.zeros(0, 2), True),
        (torch.nn.Parameter(torch.ones(1, 2)), False),
    ],
    ids=["one", "three", "none", "parameter"],
)
def test_inputs_that_are_computed_alone(matrix, uses, x, compiled):
    with torch.no_grad():
        result = matrix(x)
    np.testing.assert_allclose(result, of_matrix(x.detach()), rtol=1e-6)
    assert uses == [compiled]


def test_sizes_that_do_not_fit(uses):
    module = tf.torch.module(tf.function(lambda x: x * 2.0), tf.TensorSpec([2, None])).eval()
    with torch.no_grad():
        for shape, compiled in (([2, 5], True), ([3, 5], False), ([2], False)):
            assert module(torch.ones(shape)).tolist() == (2 * torch.ones(shape)).tolist()
            assert uses[-1] is compiled


def test_modules_of_other_dtypes(matrix, uses):
    x = torch.tensor([[1.0, -2.0]])
    with torch.no_grad():
        matrix(x)
        matrix.double()
        result = matrix(x.double())
    assert uses == [True, False] and result.dtype == torch.float64
    assert result.tolist() == [[0.5, 0.25]] and matrix.float()(x).tolist() == [[0.5, 0.25]]
    assert uses[-1] is False  # with gradients
    with torch.no_grad():
        assert matrix(x).tolist() == [[0.5, 0.25]] and uses[-1] is True


def test_parameters_that_are_views_of_others(matrix, uses):
    class Wrapped(torch.Tensor):
        pass

    x = torch.tensor([[1.0, 1.0]])
    with torch.no_grad():
        matrix.w = torch.nn.Parameter(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        assert matrix(x).tolist() == [[1.5, 1.25]] and uses[-1] is True
        del matrix.w
        matrix.w = torch.ones(2, 2).as_subclass(Wrapped)
        assert matrix(x).tolist() == [[2.5, 2.25]] and uses[-1] is False


def test_calls_inside_of_graphs(matrix, uses):
    x = torch.tensor([[1.0, -2.0]])
    with torch.no_grad(), tf.Graph().as_default():
        assert matrix(x).tolist() == [[0.5, 0.25]]
    assert uses == [False]
