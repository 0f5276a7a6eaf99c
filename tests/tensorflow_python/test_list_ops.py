"""Lists of tensors; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import list_ops

ROWS = [[1, 2, 3], [4, 5, 6]]


def rows(element_shape=(3,)):
    return list_ops.tensor_list_from_tensor(tf.constant(ROWS), element_shape)


def entries(handle, dtype=tf.int32):
    return list_ops.tensor_list_stack(handle, dtype).numpy().tolist()


def shape_of(handle):
    return list_ops.tensor_list_element_shape(handle, tf.int32).numpy().tolist()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(None, -1), ([], []), ([2, None], [2, -1]), (lambda: tf.constant([3]), [3]), (lambda: tf.TensorShape([4]), [4])],
)
def test_shapes_of_entries(shape, expected):
    shape = shape() if callable(shape) else shape
    assert shape_of(list_ops.empty_tensor_list(shape, tf.int32)) == expected
    assert shape_of(list_ops.tensor_list_reserve(shape, 2, tf.float32)) == expected


def test_empty_lists_grow_to_their_bound():
    empty = list_ops.empty_tensor_list([], tf.int32)
    assert int(list_ops.tensor_list_length(empty)) == 0
    grown = empty
    for i in range(3):
        grown = list_ops.tensor_list_push_back(grown, i + 5)
    assert entries(grown) == [5, 6, 7] and int(list_ops.tensor_list_length(empty)) == 0
    bounded = list_ops.tensor_list_push_back(list_ops.empty_tensor_list([], tf.int32, max_num_elements=2), 1)
    bounded = list_ops.tensor_list_push_back(bounded, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="full list"):
        list_ops.tensor_list_push_back(bounded, 3)


def test_entries_that_are_not_written_are_zero():
    reserved = list_ops.tensor_list_reserve([2], 3, tf.float32)
    reserved = list_ops.tensor_list_set_item(reserved, 1, [1.5, 2.5])
    assert entries(reserved, tf.float32) == [[0.0, 0.0], [1.5, 2.5], [0.0, 0.0]]
    assert list_ops.tensor_list_get_item(reserved, 2, tf.float32).numpy().tolist() == [0.0, 0.0]
    unknown = list_ops.tensor_list_reserve(None, 2, tf.int64)
    assert list_ops.tensor_list_get_item(unknown, 0, tf.int64, [3]).numpy().tolist() == [0, 0, 0]


def test_slices_are_entries():
    handle = rows()
    assert int(list_ops.tensor_list_length(handle)) == 2 and shape_of(handle) == [3]
    assert list_ops.tensor_list_get_item(handle, 1, tf.int32).numpy().tolist() == [4, 5, 6]
    shorter, last = list_ops.tensor_list_pop_back(handle, tf.int32)
    assert last.numpy().tolist() == [4, 5, 6] and entries(shorter) == [[1, 2, 3]] and entries(handle) == ROWS


def test_entries_are_replaced_in_a_new_list():
    handle = rows()
    changed = list_ops.tensor_list_set_item(handle, 0, tf.constant([7, 8, 9]))
    assert entries(changed) == [[7, 8, 9], [4, 5, 6]] and entries(handle) == ROWS
    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to modify element 3 in a list with 2 elements"):
        list_ops.tensor_list_set_item(handle, 3, tf.constant([7, 8, 9]))
    longer = list_ops.tensor_list_set_item(handle, 3, tf.constant([7, 8, 9]), resize_if_index_out_of_bounds=True)
    assert entries(longer) == [*ROWS, [0, 0, 0], [7, 8, 9]]
    assert int(list_ops.tensor_list_length(list_ops.tensor_list_resize(handle, 5))) == 5


def test_entries_at_indices():
    assert list_ops.tensor_list_gather(rows(), [1, 0, 1], tf.int32).numpy().tolist() == [
        [4, 5, 6],
        [1, 2, 3],
        [4, 5, 6],
    ]
    found = list_ops.tensor_list_gather(rows(), tf.constant([], tf.int32), tf.int32, element_shape=[3])
    assert found.shape == [0, 3]


def test_slices_go_to_indices():
    scattered = list_ops.tensor_list_scatter(tf.constant(ROWS), [2, 0], [3])
    assert entries(scattered) == [[4, 5, 6], [0, 0, 0], [1, 2, 3]] and shape_of(scattered) == [3]
    into = list_ops.tensor_list_scatter(tf.constant([[9, 9, 9]]), [1], input_handle=rows())
    assert entries(into) == [[1, 2, 3], [9, 9, 9]]


def test_all_entries_as_one_tensor():
    assert list_ops.tensor_list_stack(rows(), tf.int32, num_elements=2, element_shape=[3]).shape == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a list with 3 elements but got a list with 2"):
        list_ops.tensor_list_stack(rows(), tf.int32, num_elements=3)
    empty = list_ops.empty_tensor_list(None, tf.float32)
    assert list_ops.tensor_list_stack(empty, tf.float32, element_shape=[4]).shape == [0, 4]
    joined = list_ops.tensor_list_concat_lists(rows(), rows(), tf.int32)
    assert entries(joined) == ROWS + ROWS


def test_pieces_of_a_tensor():
    split = list_ops.tensor_list_split(tf.constant([[1], [2], [3]]), [None, 1], tf.constant([1, 2], tf.int64))
    assert list_ops.tensor_list_get_item(split, 1, tf.int32).numpy().tolist() == [[2], [3]]
    assert list_ops.tensor_list_concat(split, tf.int32, [None, 1]).numpy().tolist() == [[1], [2], [3]]
    assert list_ops.tensor_list_concat(rows(), tf.int32).numpy().tolist() == [1, 2, 3, 4, 5, 6]
