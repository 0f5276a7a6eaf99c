"""A module of torch inside a `tf.function`: its operations are the graph's."""

import copy
import logging

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops import op_def

nn = torch.nn


class Block(nn.Module):
    """A block of ResNet with a head."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False), nn.Conv2d(4, 4, 3, padding=1)
        self.grouped = nn.Conv2d(4, 4, 1, groups=2)
        self.norm1, self.norm2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.relu, self.pool, self.head = nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Linear(4, 5)

    def forward(self, x):
        x = self.relu(self.norm1(self.conv1(x)))
        x = self.relu(x + self.norm2(self.grouped(self.conv2(x)))) * 0.5
        return self.head(nn.functional.adaptive_avg_pool2d(self.pool(x), 1).flatten(1))


class Attention(nn.Module):
    """A transformer's layer on token ids."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.position = nn.Parameter(torch.randn(16, 8))
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.norm, self.inner, self.outer = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, ids, mask=None):
        batch, length = ids.shape
        x = self.embedding(ids) + self.position[torch.arange(length)]
        q, k, v = [p(x).view(batch, length, 2, 4).transpose(1, 2) for p in (self.query, self.key, self.value)]
        seen = None if mask is None else mask[:, None, None, :].bool()
        y = nn.functional.scaled_dot_product_attention(q, k, v, seen)
        x = self.norm(x + y.transpose(1, 2).reshape(batch, length, 8))
        return {"states": x + self.outer(nn.functional.gelu(self.inner(x))), "mean": x.mean(1)}


def images(batch=3):
    return torch.randn(batch, 3, 12, 12, generator=torch.Generator().manual_seed(batch))


def ids(batch=3):
    return torch.randint(0, 11, (batch, 7), generator=torch.Generator().manual_seed(batch), dtype=torch.int32)


CASES = {
    "block": (Block, images),
    "attention": (Attention, ids),
    "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), lambda n=3: torch.randn(n, 5, 8)),
    "sequence": (lambda: nn.Sequential(nn.LSTM(4, 3, batch_first=True)), lambda n=3: torch.randn(n, 5, 4)),
    "normalized": (
        lambda: nn.Sequential(nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4), nn.SiLU(), nn.GroupNorm(2, 4), nn.Softmax(1)),
        lambda n=3: torch.randn(n, 3, 9),
    ),
}


@pytest.fixture(autouse=True)
def seeds():
    torch.manual_seed(0)


def flat(result):
    return [t for t in tf.nest.flatten(result) if hasattr(t, "dtype")]


def warnings_in(caplog):
    """What this library logged, apart from warnings of many traces."""
    return [r for r in caplog.records if r.name == "tensorflow" and "retracing" not in r.getMessage()]


def function_of(layer, x, **options):
    spec = tf.TensorSpec([None, *x.shape[1:]], tf.torch.from_torch(x).dtype)
    return tf.function(lambda x: layer(x), input_signature=[spec], **options)


def types(function):
    return {op.type for op in function.get_concrete_function().graph.get_operations()}


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients(name, training, caplog):
    build, inputs = CASES[name]
    module = build().train(training)
    twin = copy.deepcopy(module)
    layer = tf.torch.Layer(module)

    @tf.function(input_signature=[tf.TensorSpec([None, *inputs().shape[1:]], tf.torch.from_torch(inputs()).dtype)])
    def step(x):
        with tf.GradientTape() as tape:
            results = flat(layer(x))
            loss = sum(tf.reduce_sum(r**2) for r in results)
        return results, tape.gradient(loss, layer.trainable_variables)

    for batch in (3, 2):
        x = inputs(batch)
        results, gradients = step(tf.torch.from_torch(x))
        expected = flat(twin(x))
        for mine, theirs in zip(results, expected, strict=True):
            np.testing.assert_allclose(mine, theirs.detach(), rtol=1e-4, atol=1e-5)
        wanted = torch.autograd.grad(sum((r**2).sum() for r in expected), list(twin.parameters()))
        for mine, theirs in zip(map(tf.convert_to_tensor, gradients), wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)
    for mine, theirs in zip(module.buffers(), twin.buffers(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    assert type(module).__name__ not in types(step)
    assert not warnings_in(caplog)


def test_operations_are_tensorflows():
    found = types(function_of(tf.torch.Layer(Block().eval()), images()))
    assert {"Conv2D", "FusedBatchNormV3", "Relu", "MaxPool", "MatMul", "BiasAdd"} <= found


def test_passes_fold_normalizations():
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    function = function_of(tf.torch.Layer(module), images())
    source = function.get_concrete_function().source()
    assert source.count("op_Transpose(") <= 3, source
    np.testing.assert_allclose(function(tf.torch.from_torch(images())), module(images()).detach(), rtol=1e-4, atol=1e-5)


def test_dropout():
    layer = tf.torch.Layer(nn.Sequential(nn.Dropout(0.5), nn.Identity()))
    function = tf.function(lambda x, training: layer(x, training=training))
    ones = tf.ones([100, 100])
    assert tf.reduce_all(function(ones, False) == 1.0)
    first, second = function(ones, True), function(ones, True)
    assert set(np.unique(first)) == {0.0, 2.0}
    assert 0.4 < np.mean(first.numpy() == 0.0) < 0.6
    assert not np.array_equal(first, second)


class DroppedAttention(nn.Module):
    def __init__(self, *args, **named):
        super().__init__()
        self.args, self.named = args, named

    def forward(self, x):
        identity = torch.eye(8).expand(x.shape[0], 8, 8)
        return nn.functional.scaled_dot_product_attention(x, x, identity, *self.args, **self.named)


@pytest.mark.parametrize(("args", "named"), [((), {"dropout_p": 0.5}), ((None, 0.5), {}), ((None, 0.5, False), {})])
def test_dropout_of_attention(args, named, caplog):
    layer = tf.torch.Layer(DroppedAttention(*args, **named))
    function = function_of(layer, torch.zeros(50, 8, 8))
    weights = function(tf.zeros([50, 8, 8]))
    assert set(np.unique(weights)) == {0.0, 2.0 / 8.0}
    assert 0.4 < np.mean(weights.numpy() == 0.0) < 0.6
    assert not warnings_in(caplog)


def test_compiled_by_inductor(caplog):
    module = Block().eval()
    function = function_of(tf.torch.Layer(module), images(), jit_compile=True)
    for _ in range(2):
        result = function(tf.torch.from_torch(images()))
    np.testing.assert_allclose(result, module(images()).detach(), rtol=1e-4, atol=1e-5)
    assert not warnings_in(caplog)


@pytest.mark.parametrize("name", ["block", "attention"])
def test_saved_model_is_tensorflows(name, tmp_path):
    build, inputs = CASES[name]
    module = build().eval()
    model = tf.Module()
    model.layer = tf.torch.Layer(module)
    model.f = function_of(model.layer, inputs())
    tf.saved_model.save(model, tmp_path)
    graph = model.f.get_concrete_function().graph.as_graph_def()
    assert {n.op for n in graph.node} <= set(op_def.names())
    loaded = tf.saved_model.load(tmp_path)
    x = inputs(4)
    for mine, theirs in zip(flat(loaded.f(tf.torch.from_torch(x))), flat(module(x)), strict=True):
        np.testing.assert_allclose(mine, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_captured_once_for_each_mode_and_signature(monkeypatch):
    calls = []
    export = torch.export.export
    monkeypatch.setattr(torch.export, "export", lambda *args, **kwargs: calls.append(1) or export(*args, **kwargs))
    layer = tf.torch.Layer(nn.Linear(3, 2))
    for _ in range(2):
        function = tf.function(lambda x, training: layer(layer(x) @ tf.ones([2, 3]), training=training))
        for training in (False, True):
            function(tf.ones([4, 3]), training)
    assert len(calls) == 2
    tf.function(layer)(tf.ones([5, 3]))
    assert len(calls) == 3


class Decides(nn.Module):
    def forward(self, x):
        return x * 2.0 if x.sum() > 0 else x


def test_what_can_not_be_captured_is_one_operation(caplog):
    layer = tf.torch.Layer(Decides())
    function = tf.function(layer)
    with caplog.at_level(logging.WARNING):
        assert function(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
        assert function(tf.constant([-1.0, -2.0])).numpy().tolist() == [-1.0, -2.0]
        tf.function(layer)(tf.constant([1.0, 2.0]))
    (record,) = warnings_in(caplog)
    assert "Decides is one operation" in record.getMessage()


def test_writes_to_inputs_are_not_seen():
    layer = tf.torch.Layer(nn.ReLU(inplace=True))
    x = tf.constant([-1.0, 1.0])
    result, same = tf.function(lambda x: (layer(x), x * 1.0))(x)
    assert (result.numpy().tolist(), same.numpy().tolist(), x.numpy().tolist()) == ([0, 1], [-1, 1], [-1, 1])


class Middle(nn.Module):
    """What is left of long sequences without 50 steps at either end; a number decides that it is one operation."""

    def __init__(self, captured):
        super().__init__()
        self.captured = captured

    def forward(self, x):
        middle = x[:, 50:-50]
        return middle * 2 if self.captured else middle * (2 if x.sum().item() > -1 else 3)


@pytest.mark.parametrize("module", [Middle(True), Middle(False), nn.Conv1d(1, 1, 40)], ids=["empty", "item", "conv"])
def test_long_inputs_of_unknown_size(module):
    layer = tf.torch.Layer(module)
    rank = 3 if isinstance(module, nn.Conv1d) else 2
    x = torch.rand(2, 1, 120)[:, 0] if rank == 2 else torch.rand(2, 1, 120)
    f = tf.function(layer.__call__, autograph=False)
    spec = tf.TensorSpec([None, 1, None] if rank == 3 else [None, None])
    concrete = f.get_concrete_function(spec)
    assert None in concrete.structured_outputs.shape and 0 not in concrete.structured_outputs.shape
    np.testing.assert_allclose(concrete(tf.torch.from_torch(x)), module(x).detach(), rtol=1e-5, atol=1e-6)
