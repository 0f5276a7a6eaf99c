"""Variables in parts, here with parts in this process."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.distribute.parameter_server.sharded import ShardedVariable


def in_parts(*sizes, columns=2, **kwargs):
    """Returns a variable whose rows are numbered, in parts of these sizes."""
    parts, start = [], 0
    for size in sizes:
        rows = tf.range(start, start + size, dtype=tf.float32)
        parts.append(tf.Variable(tf.tile(rows[:, None], [1, columns]) + [0.0, 0.5][:columns], **kwargs))
        start += size
    return ShardedVariable(parts, "w")


ROWS = [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5], [3.0, 3.5], [4.0, 4.5]]


def test_attributes():
    w = in_parts(2, 2, 1)
    assert (w.name, w.shape, w.dtype, w.trainable) == ("w", [5, 2], tf.float32, True)
    assert w.shape.rank == 2 and len(w.variables) == 3 and list(w) == w.variables
    assert not in_parts(1, 1, trainable=False).trainable
    assert ShardedVariable([tf.Variable([1])]).name == "ShardedVariable"
    assert w._unique_id.startswith("w_") and w._unique_id != in_parts(2)._unique_id


def test_reading():
    w = in_parts(2, 2, 1)
    assert w.numpy().tolist() == w.value().numpy().tolist() == w.read_value().numpy().tolist() == ROWS
    assert np.array(w).tolist() == ROWS and np.asarray(w, dtype=np.float64).dtype == np.float64
    assert tf.convert_to_tensor(w).numpy().tolist() == ROWS and tf.reduce_sum(w).numpy() == 22.5
    assert tf.add(w, 1.0).numpy()[4].tolist() == [5.0, 5.5]
    with pytest.raises(ValueError):
        tf.convert_to_tensor(w, tf.int32)


def test_operators():
    w = in_parts(2, 1)
    assert (w * 2.0).numpy().tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert (1.0 - w).numpy()[1].tolist() == [0.0, -0.5] and (-w).numpy()[2].tolist() == [-2.0, -2.5]
    assert (w > 1.2).numpy().tolist() == [[False, False], [False, True], [True, True]]
    assert w[1:, 0].numpy().tolist() == [1.0, 2.0] and (w @ tf.ones([2, 1])).numpy()[2].tolist() == [4.5]


@pytest.mark.parametrize("compile_it", [False, True])
def test_rows(compile_it):
    w = in_parts(2, 2, 1)

    def rows():
        ids = tf.constant([4, 0, 2])
        return (
            tf.gather(w, ids), tf.nn.embedding_lookup(w, ids), w.sparse_read(ids), tf.gather(w, ids, axis=0),
            tf.gather(w, [1], axis=1), tf.gather(w, tf.constant([[0, 0], [4, 0]])),
        )  # fmt: skip

    picked, looked_up, read, along, columns, nested = (tf.function(rows) if compile_it else rows)()
    for value in (picked, looked_up, read, along):
        assert value.numpy().tolist() == [ROWS[4], ROWS[0], ROWS[2]]
    assert columns.numpy().tolist() == [[row[1]] for row in ROWS]
    assert nested.numpy().tolist() == [[ROWS[0], ROWS[0]], [ROWS[4], ROWS[0]]]


def test_writing():
    w, delta = in_parts(2, 1), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    assert w.assign(delta) is w and w.numpy().tolist() == delta.tolist()
    assert w.assign_add(delta) is w and w.numpy().tolist() == (2 * delta).tolist()
    assert w.assign_sub(delta, read_value=False) is w and w.numpy().tolist() == delta.tolist()
    w.assign_sub([[1, 2], [3, 4], [5, 5]])
    assert w.numpy().tolist() == [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    assert [v.shape.as_list() for v in w.variables] == [[2, 2], [1, 2]]


@pytest.mark.parametrize("kind", ["add", "sub", "mul", "div", "min", "max", "update"])
def test_writes_of_rows(kind):
    w = in_parts(2, 2, 1)
    updates, ids = tf.constant([[16.0, 16.0], [8.0, 8.0]]), tf.constant([4, 2])
    method = getattr(w, f"scatter_{kind}")
    assert method(tf.IndexedSlices(updates, ids)) is w and method.__name__ == f"scatter_{kind}"
    row, last = np.array(ROWS[2], np.float32), np.array(ROWS[4], np.float32)
    formulas = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum,
        "max": np.maximum, "update": lambda old, new: np.full_like(old, new),
    }  # fmt: skip
    values = w.numpy()
    np.testing.assert_array_equal(values[2], formulas[kind](row, 8.0))
    np.testing.assert_array_equal(values[4], formulas[kind](last, 16.0))
    assert values[[0, 1, 3]].tolist() == [ROWS[0], ROWS[1], ROWS[3]]


def test_rows_of_the_edges_of_parts():
    w = in_parts(2, 2, 1)
    w.scatter_update(tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0], [4.0]]) * [[1.0, 1.0]], [0, 1, 2, 3]))
    assert w.numpy()[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 4.0]
    w.scatter_add(tf.IndexedSlices(tf.ones([2, 2]), tf.constant([4, 4], tf.int64)))
    assert w.numpy()[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 6.0]


def test_gradients():
    w = in_parts(2, 1)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w)
    assert [g.numpy().tolist() for g in tape.gradient(y, w.variables)] == [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    with tf.GradientTape() as tape, pytest.raises(AttributeError, match="no attribute 'handle'"):
        tape.gradient(w * 2.0, w)


def test_checkpoints(tmp_path):
    w = in_parts(2, 1)
    path = tf.train.Checkpoint(w=w).write(str(tmp_path / "c"))
    assert tf.train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE").tolist() == ROWS[:3]
    other = in_parts(1, 2)
    other.assign(tf.zeros([3, 2]))
    tf.train.Checkpoint(w=other).read(path).assert_consumed()
    assert other.numpy().tolist() == ROWS[:3] and other.variables[1].numpy().tolist() == ROWS[1:3]
