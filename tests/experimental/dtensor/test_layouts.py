"""What DTensors are beyond TensorFlow's goldens (`tests/goldens/cases_dtensor.py`)."""

import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.experimental import dtensor

U, Layout = dtensor.UNSHARDED, dtensor.Layout


@pytest.fixture(scope="module")
def mesh():
    return dtensor.create_mesh([("x", 3), ("y", 2)], devices=[f"CPU:{i}" for i in range(6)])


@pytest.fixture(scope="module")
def both(mesh):
    return dtensor.copy_to_mesh(tf.reshape(tf.range(12.0), [6, 2]), Layout(["x", "y"], mesh))


def whole(value):
    layout = dtensor.fetch_layout(value)
    return dtensor.relayout(value, Layout.replicated(layout.mesh, layout.rank)).numpy()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[1:4],
        lambda x: x[0],
        lambda x: tf.pad(x, [[1, 1], [0, 0]]),
        lambda x: tf.tile(x, [2, 1]),
        lambda x: tf.cumsum(x),
        lambda x: tf.sort(x, direction="DESCENDING"),
        lambda x: tf.math.top_k(x, 1)[0],
        lambda x: tf.split(x, 2, 1)[1],
        lambda x: tf.reshape(x, [4, 3]),
        lambda x: tf.squeeze(x[tf.newaxis]),
        lambda x: tf.argmax(x, 0),
        lambda x: tf.nn.softmax(x),
        lambda x: tf.nn.moments(x, [0])[1],
        lambda x: tf.linalg.inv(tf.matmul(x, x, transpose_a=True)),
        lambda x: tf.einsum("ij,kj->ik", x, x),
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(x[:, 1], tf.int32) % 2, x),
        lambda x: tf.math.reduce_std(x, 0),
        lambda x: tf.scatter_nd([[1], [0]], x[:2], [3, 2]),
        lambda x: tf.math.segment_sum(x, [0, 0, 1, 1, 2, 2]),
        lambda x: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), (0, x))[1],
        lambda x: tf.map_fn(lambda row: row * 2.0, x),
        lambda x: tf.nn.batch_normalization(x, tf.reduce_mean(x, 0), tf.ones([2]), None, None, 1e-3),
    ],
)
def test_values_are_those_of_plain_tensors(both, function):
    plain = tf.constant(whole(both))
    expected = function(plain).numpy()
    for call in (function, tf.function(function)):
        result = call(both)
        assert dtensor.is_dtensor(result)
        assert whole(result) == pytest.approx(expected, rel=1e-3)


def test_convolutions_are_divided_by_the_batch(mesh):
    images = np.random.default_rng(0).normal(size=(6, 4, 4, 2)).astype("float32")
    kernel = tf.constant(np.random.default_rng(1).normal(size=(2, 2, 2, 4)).astype("float32"))

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            y = tf.nn.max_pool2d(tf.nn.conv2d(x, kernel, 1, "SAME"), 2, 2, "SAME")
        return y, tape.gradient(y, kernel)

    expected = gradient(tf.constant(images))
    for specs in (["x", U, U, U], [U, "y", U, U]):
        y, dy = gradient(dtensor.copy_to_mesh(images, Layout(specs, mesh)))
        assert whole(y) == pytest.approx(expected[0].numpy(), abs=1e-5)
        assert whole(dy) == pytest.approx(expected[1].numpy(), abs=1e-4)
        assert dtensor.fetch_layout(y).sharding_specs[0] == specs[0]


def test_layouts_that_do_not_fit(mesh, both):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Dimension 1 must be divisible by the sharding"):
        dtensor.relayout(both, Layout([U, "x"], mesh))
    with pytest.raises(tf.errors.InvalidArgumentError, match="A layout of rank 1 does not fit a tensor of shape"):
        dtensor.relayout(both, Layout(["x"], mesh))
    other = dtensor.create_mesh([("x", 2)], devices=["CPU:0"] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be on the same mesh"):
        both + dtensor.copy_to_mesh(1.0, Layout.replicated(other, 0))
    assert whole(dtensor.relayout(both, Layout(["x", U], other))).tolist() == whole(both).tolist()


def test_plain_tensors_are_replicated(both):
    # TensorFlow takes only scalars and small integers without `copy_to_mesh`.
    assert whole(both + tf.ones([6, 2])).tolist() == (whole(both) + 1).tolist()


def test_random_numbers_do_not_depend_on_the_layout(mesh):
    create = tf.function(tf.random.stateless_uniform)
    value = dtensor.call_with_layout(create, Layout(["x", "y"], mesh), shape=[6, 2], seed=[1, 2])
    assert whole(value).tolist() == tf.random.stateless_uniform([6, 2], seed=[1, 2]).numpy().tolist()


def test_sums_wait_for_a_use(mesh, both):
    column = dtensor.relayout(both, Layout(["x", U], mesh))
    total = tf.reduce_sum(column, 0)
    assert [p.is_partial() for p in total.value.spec.placements] == [True, False]
    assert dtensor.unpack(dtensor.relayout(total, Layout(["y"], mesh)))[1].numpy().tolist() == [36.0]
    assert dtensor.fetch_layout(total).sharding_specs == [U]
    assert total.numpy().tolist() == [30.0, 36.0]
    assert [p.is_partial() for p in total.value.spec.placements] == [False, False]


def test_relayout_in_functions_and_gradients(mesh, both):
    replicated, like = Layout.replicated(mesh, 2), Layout([U, "y"], mesh)

    @tf.function
    def function(x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = dtensor.relayout(x, replicated) ** 2 + dtensor.relayout_like(x, y)
        return z, tape.gradient(z, x), dtensor.relayout_like(x, y)

    z, dx, moved = function(both, dtensor.relayout(both, like))
    assert whole(z).tolist() == (whole(both) ** 2 + whole(both)).tolist()
    assert whole(dx).tolist() == (2 * whole(both) + 1).tolist()
    dtensor.check_layout(dx, Layout(["x", "y"], mesh))
    dtensor.check_layout(moved, like)


def test_variables(mesh, both):
    v = dtensor.DVariable(both, name="v")
    v.assign_sub(tf.ones([6, 2]))
    v.assign(v * 2.0)
    v.scatter_nd_update([[0, 0]], [7.0])
    dtensor.check_layout(v, Layout(["x", "y"], mesh))
    expected = 2 * (whole(both) - 1)
    expected[0, 0] = 7.0
    assert whole(v).tolist() == expected.tolist()
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign(tf.ones([2]))

    @tf.function
    def update():
        v.assign_add(v)
        return v + 1.0

    assert whole(update()).tolist() == (2 * expected + 1).tolist()
    assert whole(v).tolist() == (2 * expected).tolist()
    dtensor.check_layout(v, Layout(["x", "y"], mesh))


def test_texts_become_meshes_and_layouts_again(mesh):
    layout = Layout(["x", U, "y"], mesh)
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert pickle.loads(pickle.dumps(mesh)) == mesh
    assert {mesh: 1}[dtensor.Mesh.from_string(mesh.to_string())] == 1
    assert Layout.from_string(Layout.from_device("CPU:0").to_string()).is_single_device()


def test_datasets(mesh):
    data = tf.data.Dataset.from_tensor_slices({"a": tf.range(16.0), "b": tf.reshape(tf.range(32), [16, 2])})
    line = dtensor.create_mesh([("x", 2)], devices=["CPU:0"] * 2)
    layouts = {"a": Layout(["x"], line), "b": Layout(["x", U], line)}
    for options in ({}, {"prefetch": 2}):
        batches = list(
            dtensor.DTensorDataset(data, global_batch_size=4, mesh=line, layouts=layouts, batch_dim="x", **options)
        )
        assert len(batches) == 4
        assert [p.numpy().tolist() for p in dtensor.unpack(batches[1]["a"])] == [[4.0, 5.0], [6.0, 7.0]]
        assert [p.numpy().tolist() for p in dtensor.unpack(batches[1]["b"])] == [
            [[8, 9], [10, 11]],
            [[12, 13], [14, 15]],
        ]
    inner = {"a": Layout([U], line), "b": Layout([U, "x"], line)}
    (first, *_) = dtensor.DTensorDataset(data, global_batch_size=2, mesh=line, layouts=inner)
    assert [p.numpy().tolist() for p in dtensor.unpack(first["b"])] == [[[0], [2]], [[1], [3]]]


def test_several_clients(monkeypatch):
    monkeypatch.setenv("DTENSOR_JOBS", "localhost:1,localhost:2")
    monkeypatch.setenv("DTENSOR_CLIENT_ID", "1")
    assert (dtensor.num_clients(), dtensor.client_id(), dtensor.job_name()) == (2, 1, "worker")
    assert dtensor.full_job_name() == "worker/replica:0/task:1"
    assert dtensor.local_devices("CPU")[0].to_string() == "/job:worker/replica:0/task:1/device:CPU:0"
    monkeypatch.setenv("DTENSOR_CLIENT_ID", "2")
    with pytest.raises(ValueError, match="Environment variable DTENSOR_CLIENT_ID must be < 2, got 2"):
        dtensor.client_id()


def test_kernels_write_whole_statistics_of_channels():
    """ATen's batch normalization, into which these ops are joined, writes them though its schema does not say so."""
    mesh = dtensor.create_mesh([("batch", 2), ("model", 2)], devices=[f"CPU:{i}" for i in range(4)])
    x = tf.random.stateless_normal([16, 4, 4, 8], seed=[1, 2]) + 1.0
    expected = tf.nn.moments(x, [0, 1, 2])

    @tf.function
    def normalized(x):
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return mean, variance, tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)

    results = normalized(dtensor.relayout(x, Layout.batch_sharded(mesh, "batch", 4)))
    for result, value in zip(results, expected, strict=False):
        assert whole(result) == pytest.approx(value.numpy(), abs=1e-5)


@pytest.mark.parametrize("specs", [[U, U, U, "y"], [U, U, "y", U], ["y", U, U, U]])
def test_filters_in_any_layout(specs):
    mesh = dtensor.create_mesh([("x", 2), ("y", 2)], devices=[f"CPU:{i}" for i in range(4)])
    images, filters = (tf.random.stateless_normal(s, seed=[1, 2]) for s in ([4, 6, 6, 2], [2, 2, 2, 4]))
    divided = (
        dtensor.relayout(images, Layout.batch_sharded(mesh, "x", 4)),
        dtensor.relayout(filters, Layout(specs, mesh)),
    )

    def gradients(images, filters):
        with tf.GradientTape() as tape:
            tape.watch([images, filters])
            y = tf.nn.conv2d(images, filters, 1, "SAME") ** 2
        return y, *tape.gradient(y, [images, filters])

    for plain, on_mesh in zip(gradients(images, filters), gradients(*divided), strict=True):
        assert whole(on_mesh) == pytest.approx(plain.numpy(), rel=1e-4, abs=1e-4)


def test_functions_capture_them():
    mesh = dtensor.create_mesh([("x", 2)], devices=["CPU:0", "CPU:1"])
    captured = dtensor.relayout([1.0, 2.0], Layout(["x"], mesh))
    assert float(tf.function(lambda: tf.reduce_sum(captured * 2.0))()) == 6.0
