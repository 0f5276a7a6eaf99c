"""Lists of tensors in exported programs: as sequences, and as the rows of one tensor."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.array.tensor_list import (
    list_from_tensor,
    list_gather,
    list_get_item,
    list_length,
    list_push_back,
    list_reserve,
    list_scatter,
    list_set_item,
    list_stack,
)
from tapeflow.torch.lists import at_place, kernel_of, of_rows, rows_of, shape_is_open
from tapeflow.torch.unconvertible import Unconvertible

ROWS = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def place(number):
    return torch.tensor(number, dtype=torch.int32)


def get(variant, index):
    return kernel_of(list_get_item.op)(variant, index, (2,), tf.float32)


def test_rows():
    stacked = of_rows(ROWS)
    assert rows_of(stacked) is ROWS and not shape_is_open(stacked)
    assert get(stacked, 1).tolist() == [3.0, 4.0] == get(stacked, place(1)).tolist()
    assert kernel_of(list_length.op)(stacked).tolist() == 3
    assert kernel_of(list_stack.op)(stacked, (2,), tf.float32, -1) is ROWS
    picked = kernel_of(list_gather.op)(stacked, place([2, 0]), (2,), tf.float32)
    assert picked.tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert rows_of(kernel_of(list_from_tensor.op)(ROWS, (2,))) is ROWS


@pytest.mark.parametrize("index", [1, place(1)], ids=["number", "tensor"])
def test_rows_are_never_written_to(index):
    stacked = of_rows(ROWS)
    changed = kernel_of(list_set_item.op)(stacked, index, torch.tensor([7.0, 8.0]), False)
    assert (
        rows_of(changed).tolist() == [[1.0, 2.0], [7.0, 8.0], [5.0, 6.0]] and rows_of(stacked).tolist() == ROWS.tolist()
    )


def test_sequences_become_rows():
    empty = kernel_of(list_reserve.op)((2,), 3, tf.float32)
    assert shape_is_open(empty) and kernel_of(list_length.op)(empty).tolist() == 3
    assert rows_of(empty, ROWS).tolist() == [[0.0, 0.0]] * 3
    one = kernel_of(list_set_item.op)(empty, 1, ROWS[0], False)
    assert not shape_is_open(one) and rows_of(one).tolist() == [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    assert get(one, 1).tolist() == [1.0, 2.0] == get(one, place(1)).tolist()
    both = kernel_of(list_set_item.op)(one, place(2), ROWS[2], False)
    assert rows_of(both).tolist() == [[0.0, 0.0], [1.0, 2.0], [5.0, 6.0]]
    scattered = kernel_of(list_scatter.op)(one, ROWS[1:], place([2, 0]))
    assert rows_of(scattered).tolist() == [[5.0, 6.0], [1.0, 2.0], [3.0, 4.0]]


def test_whole_numbers_stay_whole():
    one = kernel_of(list_set_item.op)(kernel_of(list_reserve.op)((), 2, tf.int64), 1, torch.tensor(5), False)
    assert rows_of(one).tolist() == [0, 5] and rows_of(one).dtype == torch.int64


def test_the_length_of_rows_is_kept():
    for values in ((of_rows(ROWS), ROWS[0]), (of_rows(ROWS),)):
        with pytest.raises(Unconvertible, match="TensorListPushBack changes the length of a TensorArray"):
            kernel_of(list_push_back.op)(*values)


@pytest.mark.parametrize(
    ("axis", "number", "expected"), [(0, 1, [[3.0, 4.0]]), (0, -1, [[5.0, 6.0]]), (1, -2, [[1.0], [3.0], [5.0]])]
)
def test_parts_at_a_place(axis, number, expected):
    assert at_place(ROWS, axis, place(number)).tolist() == expected


def exported(function, *samples):
    traced = tf.function(function)
    module = tf.torch.module(traced, *[tf.TensorSpec(x.shape, tf.torch.from_torch(x).dtype) for x in samples]).eval()
    with torch.no_grad():
        program = torch.export.export(module, samples).module()
        results = [tf.torch.to_torch(traced(*map(tf.torch.from_torch, samples))), module(*samples), program(*samples)]
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-6)
    return results[0].tolist()


def test_arrays_in_loops_of_programs():
    def fill(x):
        array, i = tf.TensorArray(tf.float32, size=4, element_shape=[3]), 0
        while tf.reduce_sum(x) < 100.0 and i < 4:
            array = array.write(i, x)
            x, i = x * 2.0, i + 1
        return array.stack()

    x = torch.tensor([10.0, 20.0, 5.0])
    assert exported(fill, x) == [[10.0, 20.0, 5.0], [20.0, 40.0, 10.0], [0.0] * 3, [0.0] * 3]


def test_arrays_of_conditionals():
    def choose(x):
        array = tf.TensorArray(tf.float32, size=2, element_shape=[3]).write(0, x)
        if tf.reduce_sum(x) > 0.0:
            array = array.write(1, x + 1.0)
        else:
            array = array.write(1, -x)
        return tf.concat([array.stack(), array.gather([1])], 0) + tf.cast(array.size(), tf.float32)

    assert exported(choose, torch.tensor([1.0, 2.0, 3.0])) == [[3.0, 4.0, 5.0], [4.0, 5.0, 6.0], [4.0, 5.0, 6.0]]
    assert exported(choose, torch.tensor([-1.0, -2.0, 0.0])) == [[1.0, 0.0, 2.0], [3.0, 4.0, 2.0], [3.0, 4.0, 2.0]]
