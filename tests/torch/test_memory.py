"""Tensors of TapeFlow and of torch share memory until one is written to."""

import sys
import threading

import numpy as np
import pytest
import torch

import tapeflow as tf


def shares(a, b):
    """Whether two tensors of torch are in the same memory (reading the address for writing would part them)."""
    return torch._C._data_address(a) == torch._C._data_address(b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.bool, torch.complex64])
def test_from_torch_shares_memory_until_written_to(dtype):
    x = torch.ones(4, 5).to(dtype)
    t = tf.torch.from_torch(x)
    assert shares(x, t.value)
    x.zero_()
    assert not shares(x, t.value)
    assert tf.cast(t, tf.int32).numpy().tolist() == [[1] * 5] * 4


def test_from_torch_of_a_view_keeps_its_values():
    x = torch.arange(12.0).reshape(3, 4)
    t = tf.torch.from_torch(x.T[1:])
    x.zero_()
    np.testing.assert_array_equal(t, np.arange(12.0).reshape(3, 4).T[1:])


def test_from_torch_copies_what_numpy_owns():
    array = np.zeros(3, np.float32)
    t = tf.torch.from_torch(torch.from_numpy(array))
    array[:] = 1
    assert t.numpy().tolist() == [0, 0, 0]


def test_from_torch_leaves_autograd_behind():
    x = torch.ones(2, requires_grad=True)
    assert not tf.torch.from_torch(x * 2).value.requires_grad


def test_from_torch_refuses():
    with pytest.raises(TypeError, match="dense torch"):
        tf.torch.from_torch([1.0])
    with pytest.raises(TypeError, match="dense torch"):
        tf.torch.from_torch(torch.eye(2).to_sparse())


def test_to_torch_shares_memory_until_written_to():
    t = tf.random.normal([8, 8])
    before = t.numpy()
    x = tf.torch.to_torch(t)
    assert shares(x, t.value)
    x[0].fill_(7)
    x.numpy()[1] = 5
    np.testing.assert_array_equal(t, before)
    assert x[0, 0] == 7


def test_to_torch_of_a_variable_is_what_it_held():
    v = tf.Variable(tf.zeros([5000]))
    x = tf.torch.to_torch(v)
    v.assign_add(tf.ones([5000]))
    assert x.sum() == 0
    x.fill_(3)
    assert v.numpy().sum() == 5000


def test_to_torch_refuses():
    with pytest.raises(TypeError, match="no tensor"):
        tf.torch.to_torch(tf.constant("a"))
    with pytest.raises(TypeError, match="no value"):
        tf.function(lambda x: tf.torch.to_torch(x))(tf.ones(2))


def test_functions_of_torch_take_tensors():
    t, v, x = tf.constant([1.0, -2.0]), tf.Variable([3.0, 4.0]), torch.tensor([10.0, 20.0])
    for result, expected in [
        (torch.add(t, x), [11, 18]),
        (torch.stack([t, x])[0], [1, -2]),
        (torch.mul(v, other=t), [3, -8]),
        (torch.nn.functional.relu(t), [1, 0]),
        (x + t, [11, 18]),
        (torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU())(t), [1, 0]),
    ]:
        assert type(result) is torch.Tensor
        assert result.tolist() == expected
    assert isinstance(t + x, tf.Tensor)
    assert torch.nn.Linear(2, 3)(tf.ones([4, 2])).shape == (4, 3)


def test_functions_of_torch_never_write_to_tensors():
    t = tf.constant([[1.0, -2.0]])
    torch.nn.functional.relu(t, inplace=True)
    torch.transpose(t, 0, 1).zero_()
    torch.relu_(t)
    assert t.numpy().tolist() == [[1.0, -2.0]]
    with pytest.raises(TypeError, match="never changes"):
        torch.add(t, 1, out=t)
    x = torch.zeros(1, 2)
    x.copy_(t)
    assert x.tolist() == [[1.0, -2.0]]


def test_functions_of_torch_refuse_symbolic_tensors():
    with pytest.raises(TypeError, match="while a graph is built"):
        tf.function(lambda x: torch.add(x, 1))(tf.ones(2))


def test_dlpack_capsules_are_copies():
    t = tf.constant([1.0, 2.0])
    torch.from_dlpack(t).zero_()
    assert t.numpy().tolist() == [1.0, 2.0]
    assert np.from_dlpack(t).tolist() == [1.0, 2.0]
    x = torch.tensor([1.0, 2.0])
    u = tf.convert_to_tensor(x)
    x.zero_()
    assert u.numpy().tolist() == [1.0, 2.0]


def test_threads_may_read_what_is_written_elsewhere():
    t = tf.zeros([1000])
    wrong = []

    def write(i):
        for _ in range(50):
            tf.torch.to_torch(t).fill_(i)
            if tf.reduce_sum(t).numpy():
                wrong.append(i)

    threads = [threading.Thread(target=write, args=(i,)) for i in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_tensor_that_requires_a_gradient_is_warned_of_once(caplog):
    sys.modules["tapeflow.core.ops.convert"]._warn_of_lost_gradient.cache_clear()
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        tf.add(x, 1.0)
    tf.add(x.detach(), 1.0)
    assert not caplog.records
    for _ in range(2):
        tf.add(x, 1.0)
    (record,) = caplog.records
    assert "wrap the torch module in tf.torch.Layer" in record.getMessage()
