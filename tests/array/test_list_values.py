"""Lists of tensors that share memory: every one keeps its entries, whatever is written to others."""

import random
import threading

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.array.list_values import (
    Rows,
    Sparse,
    WrittenList,
    Zeros,
    add_lists,
    with_entry,
    without_last,
    zeros_variant,
)
from tapeflow.core.values.tensor import EagerTensor


@pytest.mark.parametrize("seed", range(6))
def test_lists_are_what_lists_that_are_copied_are(seed):
    """Random writes to, and reads of, lists of any age, beside plain copies."""
    choose = random.Random(seed)
    lists = [(Sparse(3), [None] * 3), ((1, 2), [1, 2]), (WrittenList([7]), [7])]
    for step in range(400):
        made, plain = choose.choice(lists[-12:]) if choose.random() < 0.8 else choose.choice(lists)
        what = choose.random()
        if what < 0.5:
            place = choose.randrange(len(plain) + 1)
            made, plain = with_entry(made, place, step), [*plain[:place], step, *plain[place + 1 :]]
        elif what < 0.65 and plain:
            made, plain = without_last(made), plain[:-1]
        elif what < 0.9 and plain:
            place = choose.randrange(-len(plain), len(plain))
            assert made[place] == plain[place]
            continue
        else:
            assert (len(made), list(made), list(made[1:3])) == (len(plain), plain, plain[1:3])
            continue
        lists.append((made, plain))
    assert all(list(made) == plain for made, plain in lists)


def test_a_list_of_rows_is_a_list_of_their_tensors():
    tensor = torch.arange(6.0).reshape(3, 2)
    rows = Rows(tensor)
    assert len(rows) == 3 and [t.tolist() for t in rows] == tensor.tolist()
    assert rows[-1].tolist() == [4, 5] and [t.tolist() for t in rows[:2]] == [[0, 1], [2, 3]]
    written = with_entry(rows, 1, torch.zeros(2))
    assert [t.tolist() for t in written] == [[0, 1], [0, 0], [4, 5]] and rows[1].tolist() == [2, 3]
    assert add_lists(rows, rows).tensor.equal(2 * tensor)
    assert [t.tolist() for t in add_lists(rows, Rows(tensor[:1]))] == [[0, 2], [2, 3], [4, 5]]
    assert add_lists(Sparse(3), rows) is rows


def test_a_stacked_list_has_its_own_values_when_a_variable_changes():
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def stacked():
        array = tf.TensorArray(tf.float32, 2).unstack(variable)
        before = array.stack()
        variable.assign_add(tf.ones((2, 2)))
        return before, array.stack(), array.read(1)

    for value, expected in zip(stacked(), ([[1, 2], [3, 4]], [[1, 2], [3, 4]], [3, 4]), strict=True):
        assert value.numpy().tolist() == expected
    before = stacked()[0]
    variable.assign([[0.0, 0.0], [0.0, 0.0]])
    assert before.numpy().tolist() == [[2, 3], [4, 5]]


def test_writing_to_the_newest_list_takes_over_its_memory():
    first = with_entry([0] * 100, 5, 1)
    last = first
    for i in range(100):
        last = with_entry(last, i, i)
    assert last._line is first._line and last[99] == 99
    assert first[5] == 1 and list(first) == [0] * 5 + [1] + [0] * 94
    assert first._line is not last._line and list(last) == list(range(100))


def test_reading_a_former_list_copies_nothing_if_little_was_written_since():
    first = with_entry([0] * 8, 5, 1)
    last = with_entry(with_entry(first, 2, 7), 5, 9)
    assert (first[2], first[5], last[2], last[5]) == (0, 1, 7, 9)
    assert first._line is last._line


def test_threads_that_write_to_one_list_have_lists_of_their_own():
    start = with_entry([0] * 50, 0, 0)
    found = {}

    def fill(number):
        made = start
        for i in range(50):
            made = with_entry(made, i, number)
            assert made[i] == number
        found[number] = list(made)

    threads = [threading.Thread(target=fill, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [n] * 50 for n in range(1, 9)} and list(start) == [0] * 50


def test_sums():
    few = with_entry(Sparse(3), 1, 5)
    assert list(add_lists(few, with_entry(Sparse(3), 1, 2))) == [None, 7, None]
    assert list(add_lists((1, None, 3), few)) == list(add_lists(few, (1, None, 3))) == [1, 5, 3]
    assert list(add_lists([1], few)) == [1, 5, None]
    assert add_lists(Zeros(), few) is few and add_lists(few, Zeros()) is few
    assert list(add_lists([1, 2], (3, None, 4))) == [4, 2, 4]


def test_arrays_in_loops_keep_their_values():
    @tf.function
    def branches(x):
        start = tf.TensorArray(tf.float32, 4).unstack(x)
        kept = start.write(0, 10.0)
        other = start.write(0, 20.0)
        filled = kept
        for i in tf.range(4):
            filled = filled.write(i, filled.read(i) + other.read(i))
        return start.stack(), kept.stack(), other.stack(), filled.stack()

    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    for _ in range(2):
        assert [t.numpy().tolist() for t in branches(x)] == [
            [1.0, 2.0, 3.0, 4.0], [10.0, 2.0, 3.0, 4.0], [20.0, 2.0, 3.0, 4.0], [30.0, 4.0, 6.0, 8.0],
        ]  # fmt: skip


def test_gradients_of_arrays_written_over():
    """The values are TensorFlow's."""

    @tf.function
    def f(x):
        made = tf.TensorArray(tf.float32, 5, element_shape=[])
        for i in tf.range(5):
            made = made.write(i, x[i] * x[i])
        before = made
        for i in tf.range(1, 5):
            made = made.write(i, made.read(i - 1) * made.read(i))
        return tf.reduce_sum(made.stack()) + 3.0 * before.read(2)

    x = tf.constant([1.0, 2.0, 0.5, 1.5, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == pytest.approx(29.25)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [57.0, 27.5, 97.0, 30.0, 13.5], rtol=1e-6)


def test_zeros_of_any_length_are_read_as_zeros():
    zeros = EagerTensor(zeros_variant(), tf.variant)
    shape, raw = {"element_shape": [2], "element_dtype": tf.float32}, tf.raw_ops
    assert raw.TensorListGetItem(input_handle=zeros, index=3, **shape).numpy().tolist() == [0, 0]
    assert raw.TensorListGather(input_handle=zeros, indices=[2, 0], **shape).numpy().tolist() == [[0, 0]] * 2
    assert raw.TensorListGather(input_handle=zeros, indices=tf.zeros([0], tf.int32), **shape).shape == [0, 2]
    written = raw.TensorListSetItem(input_handle=zeros, index=1, item=[1.0, 2.0])
    assert raw.TensorListStack(input_handle=written, **shape).numpy().tolist() == [[0, 0], [1, 2]]
