"""Updates of variables in place: who has the memory, and what is dropped."""

import threading

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.context import override, state
from tapeflow.core.values.variable_updates import Locked, Owned

LARGE = 1 << 12  # float32s of 16 kB, from which updates take the memory back


def address(variable):
    return variable._memory().data_ptr()


def test_large_values_are_updated_in_place():
    for size, in_place in ((LARGE, True), (LARGE - 1, False)):
        v = tf.Variable(tf.zeros([size]))
        v.assign_add(tf.ones([size]))
        for update, amount in ((v.assign_add, 2.0), (v.assign_sub, 0.5)):
            before = address(v)
            update(tf.fill([size], amount))
            assert (address(v) == before) is in_place and (type(v._value) is Owned) is in_place
        assert v.numpy().min() == v.numpy().max() == 2.5


def test_memory_that_others_have_is_not_written_to():
    v = tf.Variable(tf.zeros([LARGE]))
    v.assign_add(tf.ones([LARGE]))
    seen = v.read_value()
    part, array = seen.value[:3], seen._numpy()
    v.assign_add(tf.ones([LARGE]))
    assert seen.numpy().max() == 1.0 and part.tolist() == [1.0] * 3 and array.max() == 1.0 and v.numpy().min() == 2.0
    del seen, part, array
    before = address(v)
    v.assign_add(tf.ones([LARGE]))
    assert address(v) == before and v.numpy().min() == 3.0


def test_reading_hands_the_memory_out():
    v = tf.Variable(tf.zeros([LARGE]))
    v.assign_add(tf.ones([LARGE]))
    tensor = v._value
    assert type(tensor) is Owned and tensor.shape == [LARGE] and type(tensor) is Owned  # a look at the shape is none
    value = tensor.value
    assert type(tensor) is not Owned and tensor.value is value and tensor.shape == [LARGE]
    v.assign_add(tf.ones([LARGE]))
    assert float(value[0]) == 1.0


def test_memory_of_torchs_autograd_is_not_taken():
    v = tf.Variable(tf.zeros([LARGE]))
    memory = torch.zeros(LARGE, requires_grad=True)
    v._set(memory)
    with torch.no_grad():
        v.assign_add(tf.ones([LARGE]))
    assert memory.max() == 0.0 and v.numpy().min() == 1.0


def test_scatters_have_memory_of_their_own():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    before = v.read_value()
    v.scatter_nd_add([[0, 1]], [5.0])
    assert before.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] and v.numpy().tolist() == [[1.0, 7.0], [3.0, 4.0]]
    transposed = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    v._set(transposed)  # memory in another order
    v.scatter_nd_add([[0, 1]], [5.0])
    assert v.numpy().tolist() == [[1.0, 8.0], [2.0, 4.0]] and transposed.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    text = tf.Variable(["a", "b"])
    seen = text.read_value()
    text.scatter_nd_update([[0]], ["c"])
    assert seen.numpy().tolist() == [b"a", b"b"] and text.numpy().tolist() == [b"c", b"b"]


def test_an_update_of_a_variable_that_was_assigned_meanwhile_is_dropped():
    v = tf.Variable([1.0])
    tensor, memory = v._begin()
    memory += 10.0
    v.assign([5.0])
    v._end(tensor, memory)
    assert v.numpy().tolist() == [5.0]
    before = v._value
    v._set(torch.tensor([7.0]), before)
    assert v.numpy().tolist() == [7.0]
    v._set(torch.tensor([9.0]), before)
    assert v.numpy().tolist() == [7.0]


@pytest.mark.parametrize("size", [3, LARGE])
@pytest.mark.parametrize("name", ["assign_add", "assign_sub", "scatter_nd_add"])
def test_no_update_is_lost(name, size):
    v = tf.Variable(tf.zeros([size]))
    ones = tf.ones([size])

    def update():
        for _ in range(60):
            if name == "scatter_nd_add":
                v.scatter_nd_add([[0]], [1.0])
            else:
                getattr(v, name)(ones)

    threads = [threading.Thread(target=update) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert abs(float(v[0])) == 240.0


def test_several_variables_are_locked_at_once():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    found = []

    def try_both():
        found.append([x._lock.acquire(blocking=False) for x in (v, w)])
        for x, got in zip((v, w), found[-1], strict=True):
            if got:
                x._lock.release()

    def in_thread():
        thread = threading.Thread(target=try_both)
        thread.start()
        thread.join()

    with Locked([v, w]):
        in_thread()
    in_thread()
    assert found == [[False, False], [True, True]]
    with pytest.raises(KeyError), Locked([v, w]):
        raise KeyError
    in_thread()
    assert found[-1] == [True, True]


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "uint8", "int8"])
def test_integers_wrap(dtype):
    v = tf.Variable(tf.cast([0, 5], dtype))
    largest = np.iinfo(dtype).max
    v.assign_sub(tf.cast([1, 1], dtype))
    assert v.numpy().tolist() == [largest if dtype != "int8" else -1, 4]
    v.assign_add(tf.cast([2, 2], dtype))
    assert v.numpy().tolist() == [1, 6] and v.dtype.name == dtype


def test_dtypes_without_sums():
    for value in ([True, False], ["a", "b"]):
        v = tf.Variable(value)
        for change in (v.assign_add, v.assign_sub):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"has no kernel for {v.dtype.name}"):
                change(value)
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        v.assign_sub([[1.0, 2.0]])
    assert raised.value.message == (
        "Cannot update variable with shape [2] using a Tensor with shape [1,2], shapes must be equal. "
        "[Op:AssignSubVariableOp] name: "
    )


def test_assignments_on_all_slices_at_once_are_refused():
    small, large = tf.Variable([1.0]), tf.Variable(tf.zeros([LARGE]))
    with override(state, on_slices=True):
        for call in (
            lambda: small.assign([2.0]),
            lambda: small.assign_add([2.0]),
            lambda: large.assign_add(tf.ones([LARGE])),
            lambda: small.scatter_nd_add([[0]], [1.0]),
        ):
            with pytest.raises(RuntimeError, match="an assignment happens once for each slice"):
                call()
    assert float(small[0]) == 1.0 and float(large[0]) == 0.0
