"""Files of weights, and programs in Python that need torch alone."""

import importlib.util
import json

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.torch import standalone
from tapeflow.torch.unconvertible import Unconvertible

DTYPES = {
    "BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16, "I32": torch.int32, "I64": torch.int64,
    "F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64, "C64": torch.complex64,
}  # fmt: skip


def test_weights_are_written_one_after_the_other(tmp_path):
    weights = {code: torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype).t() for code, dtype in DTYPES.items()}
    weights |= {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3)}
    standalone.write_weights(tmp_path / "w", weights)
    data = (tmp_path / "w").read_bytes()
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    header, rest = json.loads(data[8 : 8 + length]), data[8 + length :]
    assert list(header) == list(weights)
    end = 0
    for name, tensor in weights.items():
        entry = header[name]
        begin, end = end, end + tensor.numel() * tensor.element_size()
        assert entry["data_offsets"] == [begin, end] and entry["shape"] == list(tensor.shape)
        assert entry["dtype"] == (name if name in DTYPES else "F32")
        if end > begin:
            read = torch.frombuffer(bytearray(rest[begin:end]), dtype=tensor.dtype).reshape(tensor.shape)
            assert torch.equal(read, tensor)
    assert len(rest) == end


def test_dtypes_without_a_code(tmp_path):
    with pytest.raises(Unconvertible, match=r"w is of dtype torch.complex128, which safetensors lacks"):
        standalone.write_weights(tmp_path / "w", {"w": torch.zeros(1, dtype=torch.complex128)})


def model_of(folder):
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Model()


def written(module, samples, folder, names=None):
    with torch.no_grad():
        program = torch.export.export(module, samples).run_decompositions({})
    standalone.write(program, names or [f"x{i}" for i in range(len(samples))], folder)
    return model_of(folder)


class Structured(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.constant = torch.tensor([1.0, float("inf"), -2.0])

    def forward(self, x, add):
        self.steps.add_(2)
        y = self.linear(x).clamp(float("-inf"), 5.0)
        return {"y": (y, [y.sum(0, dtype=torch.float64) + add]), "one": (x,), "c": self.constant + 0}


def test_structures_buffers_and_numbers(tmp_path):
    module, samples = Structured(), (torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor(10.0))
    model = written(module, samples, tmp_path, ["x", "add_1"])
    assert sorted(n for n, _ in model.named_parameters()) == ["linear.bias", "linear.weight"]
    assert "steps" in dict(model.named_buffers()) and model.steps.dtype == torch.int64
    result, expected = model(*samples), module(*samples)
    assert list(result) == ["y", "one", "c"] and type(result["y"]) is tuple and type(result["y"][1]) is list
    np.testing.assert_allclose(result["y"][0].detach(), expected["y"][0].detach())
    np.testing.assert_allclose(result["y"][1][0].detach(), expected["y"][1][0].detach())
    assert result["one"][0].tolist() == samples[0].tolist() and result["c"].tolist() == [1.0, float("inf"), -2.0]
    assert int(model.steps) == 2
    source = (tmp_path / "model.py").read_text()
    assert "def forward(self, x, add_1):" in source and "float('-inf')" in source


def test_names_of_inputs_are_not_those_of_values(tmp_path):
    class Adds(torch.nn.Module):
        def forward(self, x, y):
            return (x + y) * x

    model = written(Adds(), (torch.ones(2), torch.ones(2)), tmp_path, ["mul", "add"])
    assert model(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 1.0])).tolist() == [6.0, 12.0]


def test_loops_and_conditionals(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")

    def grow(x):
        if tf.reduce_sum(x) > 0.0:
            y = x + w
        else:
            y = -x
        while tf.reduce_sum(y) < 20.0:
            y = y * 2.0 + w
        return y

    module = tf.torch.module(tf.function(grow), tf.TensorSpec([2])).eval()
    model = written(module, (torch.tensor([1.0, 1.0]),), tmp_path)
    for x in ([1.0, 1.0], [-1.0, -3.0], [50.0, 1.0]):
        np.testing.assert_allclose(model(torch.tensor(x)).detach(), grow(tf.constant(x)))
    source = (tmp_path / "model.py").read_text()
    assert "while " in source and " else " in source


def test_inputs_that_are_written_to(tmp_path):
    class Writes(torch.nn.Module):
        def forward(self, x):
            x.add_(1.0)
            return x * 2.0

    with pytest.raises(Unconvertible, match="an output is a USER_INPUT_MUTATION, which has no place in a file"):
        written(Writes(), (torch.ones(2),), tmp_path)
