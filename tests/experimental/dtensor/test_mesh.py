"""Meshes and layouts of DTensors: what they are made of, their texts and errors. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import outcome, read_rows
from tapeflow.experimental.dtensor import accelerators

D = tf.experimental.dtensor
U, Layout, Mesh = D.UNSHARDED, D.Layout, D.Mesh
NAMES = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(6)]
GPUS = [f"/job:localhost/replica:0/task:0/device:GPU:{i}" for i in range(6)]


def mesh(names=("x", "y"), shape=(3, 2), ids=None, local=None, devices=None, **options):
    ids = np.arange(np.prod(shape)).reshape(shape) if ids is None else ids
    return Mesh(
        list(names), ids, list(range(6)) if local is None else local, NAMES if devices is None else devices, **options
    )


M = mesh(mesh_name="grid")


def facts(m):
    return (
        m.name, m.dim_names, m.shape(), m.size, m.device_type(), m.local_device_ids(), m.num_local_devices(),
        m.strides, m.is_remote(), m.min_global_device_id(), len(m.global_devices()), m.to_string(),
    )  # fmt: skip


ROWS = read_rows(r"""
facts(M)
    ('grid'; ('x'; 'y'); (3; 2); 6; 'CPU'; (0; 1; 2; 3; 4; 5); 6; (2; 1); False; 0; 0;
    'grid|x=3,y=2|0,1,2,3,4,5|0,1,2,3,4,5|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1,/job:localhost/replica:0/task:0/device:CPU:2,/job:localhost/replica:0/task:0/device:CPU:3,/job:localhost/replica:0/task:0/device:CPU:4,/job:localhost/replica:0/task:0/device:CPU:5')
facts(mesh(['a'], [6]))
    (''; ('a'); (6); 6; 'CPU'; (0; 1; 2; 3; 4; 5); 6; (1); False; 0; 0;
    '|a=6|0,1,2,3,4,5|0,1,2,3,4,5|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1,/job:localhost/replica:0/task:0/device:CPU:2,/job:localhost/replica:0/task:0/device:CPU:3,/job:localhost/replica:0/task:0/device:CPU:4,/job:localhost/replica:0/task:0/device:CPU:5')
facts(mesh(local=[0, 1], devices=NAMES[:2], global_devices=NAMES))
    (''; ('x'; 'y'); (3; 2); 6; 'CPU'; (0; 1); 2; (2; 1); False; 0; 6;
    '|x=3,y=2|0,1,2,3,4,5|0,1|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1,/job:localhost/replica:0/task:0/device:CPU:2,/job:localhost/replica:0/task:0/device:CPU:3,/job:localhost/replica:0/task:0/device:CPU:4,/job:localhost/replica:0/task:0/device:CPU:5')
facts(mesh(devices=GPUS))
    (''; ('x'; 'y'); (3; 2); 6; 'GPU'; (0; 1; 2; 3; 4; 5); 6; (2; 1); False; 0; 0;
    '|x=3,y=2|0,1,2,3,4,5|0,1,2,3,4,5|/job:localhost/replica:0/task:0/device:GPU:0,/job:localhost/replica:0/task:0/device:GPU:1,/job:localhost/replica:0/task:0/device:GPU:2,/job:localhost/replica:0/task:0/device:GPU:3,/job:localhost/replica:0/task:0/device:GPU:4,/job:localhost/replica:0/task:0/device:GPU:5')
facts(mesh(ids=np.arange(6, 12).reshape([2, 3]), local=list(range(6, 12))))
    (''; ('x'; 'y'); (2; 3); 6; 'CPU'; (6; 7; 8; 9; 10; 11); 6; (3; 1); False; 6; 0;
    '|x=2,y=3|6,7,8,9,10,11|6,7,8,9,10,11|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1,/job:localhost/replica:0/task:0/device:CPU:2,/job:localhost/replica:0/task:0/device:CPU:3,/job:localhost/replica:0/task:0/device:CPU:4,/job:localhost/replica:0/task:0/device:CPU:5')
facts(mesh(devices=[tf.DeviceSpec.from_string(n) for n in NAMES]))
    (''; ('x'; 'y'); (3; 2); 6; 'CPU'; (0; 1; 2; 3; 4; 5); 6; (2; 1); False; 0; 0;
    '|x=3,y=2|0,1,2,3,4,5|0,1,2,3,4,5|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1,/job:localhost/replica:0/task:0/device:CPU:2,/job:localhost/replica:0/task:0/device:CPU:3,/job:localhost/replica:0/task:0/device:CPU:4,/job:localhost/replica:0/task:0/device:CPU:5')
mesh(ids=[[0, 1, 2], [3, 4, 5]])
    ValueError: Variable global_device_ids must be an ndarray.
mesh(ids=np.zeros([0, 2], int))
    ValueError: Variable global_device_ids must be non-empty.
mesh(ids=np.array([[0, 2], [1, 3], [4, 5]]))
    ValueError: global_device_ids must sequentially increase: [[0 2]
mesh(['x'])
    ValueError: Number of mesh dimensions does not match number of dimension names.
mesh(local=(0, 1, 2, 3, 4, 5))
    ValueError: Variable local_device_ids must be a list of integers.
mesh(devices=tuple(NAMES))
    ValueError: Variable local_devices must be a list of DeviceSpecs.
mesh(global_devices=tuple(NAMES))
    ValueError: Variable global_devices must be a list of DeviceSpecs.
mesh(local=[], devices=[])
    ValueError: Empty list of devices not allowed.
mesh(local=[], devices=[], global_devices=NAMES).is_remote()
    True
mesh(devices=NAMES[:5] + NAMES[:1])
    ValueError: Duplicate devices found in mesh specification ['/job:localhost/replica:0/task:0/device:CPU:0',
    '/job:localhost/replica:0/task:0/device:CPU:0'].
mesh(local=[0, 1])
    ValueError: Variable local_device_ids does not have same size as local_devices.
mesh(['x'], [1], local=[0, 1], devices=NAMES[:2])
    ValueError: Cannot have more local than gobal device IDs.
mesh(['x'], [1], local=[0], devices=['/job:localhost'])
    ValueError: device_type is required
mesh(use_xla_spmd=True)
    ValueError: XLA SPMD is not currently not supported for CPU mesh.
mesh(use_xla_spmd=False).use_xla_spmd()
    False
M['x'].size
    3
M['y'].name
    'y'
M['z']
    ValueError: Dimension z does not exist in mesh.Available dimensions: x,y
'x' in M
    True
'z' in M
    False
M.dim_size('y')
    2
M.dim_size('z')
    ValueError: Dimension z does not exist in mesh.Available dimensions: x,y
M.contains_dim('x')
    True
M.coords(3)
    int32 [2] [1, 1]
M.coords(5)
    int32 [2] [2, 1]
M.unravel_index()
    {0: {x: 0, y: 0}, 1: {x: 0, y: 1}, 2: {x: 1, y: 0}, 3: {x: 1, y: 1}, 4: {x: 2, y: 0}, 5: {x: 2, y: 1}}
M.local_device_locations()
    ({x: 0, y: 0}; {x: 0, y: 1}; {x: 1, y: 0}; {x: 1, y: 1}; {x: 2, y: 0}; {x: 2, y: 1})
mesh(local=[4, 5], devices=NAMES[:2]).local_device_locations()
    ({x: 2, y: 0}; {x: 2, y: 1})
M.host_mesh() == M
    True
mesh(devices=GPUS, mesh_name='g').host_mesh().local_devices()
    ('/job:localhost/replica:0/task:0/device:CPU:0'; '/job:localhost/replica:0/task:0/device:CPU:1';
    '/job:localhost/replica:0/task:0/device:CPU:2'; '/job:localhost/replica:0/task:0/device:CPU:3';
    '/job:localhost/replica:0/task:0/device:CPU:4'; '/job:localhost/replica:0/task:0/device:CPU:5')
mesh(devices=GPUS).host_mesh().device_type()
    'CPU'
mesh(devices=GPUS).host_mesh().shape()
    (3; 2)
Mesh.from_string(M.to_string()) == M
    True
Mesh.from_string('|x=2,y=1|0,1|0,1|/job:localhost/task:0/device:CPU:0,/job:localhost/task:0/device:CPU:1').shape()
    (2; 1)
Mesh.from_string('|x=2|0,1|0,1|/job:localhost/task:0/device:CPU:0').shape()
    ValueError: Input string is invalid: |x=2|0,1|0,1|/job:localhost/task:0/device:CPU:0
Mesh.from_string('a|b')
    ValueError: Input string is invalid: a|b
M == mesh()
    False
M == mesh(mesh_name='grid')
    True
hash(M) == hash(mesh(mesh_name='grid'))
    True
Layout(['x', U], M).to_string()
    'sharding_specs:x,unsharded,
    mesh:grid|x=3,y=2|0,1,2,3,4,5|0,1,2,3,4,5|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1,/job:localhost/replica:0/task:0/device:CPU:2,/job:localhost/replica:0/task:0/device:CPU:3,/job:localhost/replica:0/task:0/device:CPU:4,/job:localhost/replica:0/task:0/device:CPU:5'
Layout(['x', 'y'], M).sharding_specs
    ('x'; 'y')
Layout(['x', 'y'], M).rank
    2
Layout(['x', U, 'y'], M).num_shards(0)
    3
Layout(['x', U, 'y'], M).num_shards(1)
    1
Layout(['x', U, 'y'], M).num_shards(2)
    2
Layout(['x', 'y'], M).shape
    (3; 2)
Layout(['x', U], M).is_fully_replicated()
    False
Layout([U, U], M).is_fully_replicated()
    True
Layout(['x', 'x'], M)
    ValueError: Mesh dimension x was repeated in sharding specification ['x', 'x']. Mesh dimensions must be unique
    in a layout.
Layout(['z'], M)
    ValueError: z: A dimension sharding must either be a valid mesh dimension or UNSHARDED.
Layout([5], M)
    ValueError: 5: A dimension sharding must either be a valid mesh dimension or UNSHARDED.
Layout(['x'], 5)
    ValueError: mesh is not a valid Mesh object.
Layout.replicated(M, 2).sharding_specs
    ('unsharded'; 'unsharded')
Layout.replicated(M, 0).rank
    0
Layout.batch_sharded(M, 'x', 3).sharding_specs
    ('x'; 'unsharded'; 'unsharded')
Layout.batch_sharded(M, 'x', 3, axis=1).sharding_specs
    ('unsharded'; 'x'; 'unsharded')
Layout.inner_sharded(M, 'y', 2).sharding_specs
    ('unsharded'; 'y')
Layout.batch_sharded(M, 'x', 1).rank
    1
Layout(['x', 'y'], M).global_shape_from_local_shape(tf.TensorShape([2, 3]))
    (6; 6)
Layout(['x', U], M).local_shape_from_global_shape(tf.TensorShape([6, 4]))
    (2; 4)
Layout(['x', 'y'], M).local_shape_from_global_shape([6, 4])
    (2; 2)
Layout(['x', U], M).offset_to_shard()
    ((0; 0); (0; 0); (1; 0); (1; 0); (2; 0); (2; 0))
Layout(['x', 'y'], M).offset_tuple_to_global_index((1, 1))
    3
Layout(['x', U], M).delete([0]).sharding_specs
    ('unsharded')
Layout(['x', U], M).delete([1]).sharding_specs
    ('x')
Layout(['x', U], M) == Layout(['x', U], M)
    True
Layout(['x', U], M) == Layout([U, 'x'], M)
    False
Layout(['x', U], M) == 5
    False
hash(Layout(['x', U], M)) == hash(Layout(['x', U], M))
    True
Layout.from_string(Layout(['x', U], M).to_string()) == Layout(['x', U], M)
    True
Layout.from_string('a')
    ValueError: Expected 2 items but found 1a
Layout.from_string('sharding_specs:x, mesh:a|b')
    ValueError: Input string is invalid: a|b
Layout.from_string('x, mesh:')
    ValueError: Expected 2 items but found 1x, mesh:
U
    'unsharded'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_meshes_of_a_process():
    assert D.create_mesh().dim_names == ["x"]
    line = D.create_mesh([("b", -1)], devices=["CPU:0"] * 3, mesh_name="line")
    assert line.shape() == [3] and line.name == "line" and line.dim_names == ["b"]
    grid = D.create_mesh({"x": 3, "y": 2}, devices=["CPU:0"] * 6)
    assert grid.shape() == [3, 2] and grid.dim_names == ["x", "y"] and grid.local_device_ids() == list(range(6))
    assert D.create_mesh([("x", 1)], devices=["CPU:0"], device_type="cpu").device_type() == "CPU"
    assert D.create_mesh([("x", 1)], devices=[tf.DeviceSpec.from_string("CPU:0")]).local_devices() == [
        "/job:localhost/replica:0/task:0/device:CPU:0"
    ]
    with pytest.raises(ValueError, match=r"length of devices \(1\) must be equal to total size of the mesh"):
        D.create_mesh([("x", 2)], devices=["CPU:0"])
    with pytest.raises(ValueError, match="must be equal to total size"):
        D.create_mesh([("x", -1), ("y", 1)], devices=["CPU:0"])
    with pytest.raises(ValueError, match="Conflicting devices"):
        D.create_mesh([("x", 1)], devices=["CPU:0"], device_type="GPU")


def test_accelerators_start_and_stop():
    with pytest.raises(ValueError, match="Accelerator system is not initialized"):
        D.shutdown_accelerator_system()
    with pytest.raises(ValueError, match="Accelerators are uninitialized"):
        D.create_distributed_mesh([("x", 1)])
    with pytest.raises(ValueError, match="Unknown device_type OTHER"):
        D.initialize_accelerator_system("other", experimental_reset_context=True)
    with pytest.raises(tf.errors.UnimplementedError, match="no TPUs"):
        D.initialize_accelerator_system("TPU", experimental_reset_context=True)
    tf.config.list_logical_devices()
    with pytest.raises(ValueError, match="TensorFlow has already been initialized"):
        D.initialize_accelerator_system("CPU")
    assert D.initialize_accelerator_system("cpu", experimental_reset_context=True) == "CPU"
    try:
        with pytest.raises(ValueError, match="Accelerator system has already been initialized"):
            D.initialize_accelerator_system("CPU", experimental_reset_context=True)
        own = D.create_distributed_mesh({"x": 3, "y": 1}, "all", local_devices=["CPU:0"] * 3)
        assert own.shape() == [3, 1] and own.dim_names == ["x", "y"] and own.name == "all"
        assert own.local_device_ids() == [0, 1, 2] and own.global_device_ids().tolist() == [[0], [1], [2]]
        with pytest.raises(ValueError, match=r"\(2 per client \* 1 clients = 2\) must be equal to total size"):
            D.create_distributed_mesh([("x", 3)], local_devices=["CPU:0"] * 2)
        with pytest.raises(ValueError, match="Conflicting devices"):
            D.create_distributed_mesh([("x", 1)], local_devices=["CPU:0"], device_type="GPU")
        D.barrier(own, "here", 5)
    finally:
        D.shutdown_accelerator_system()
    with pytest.raises(ValueError, match="Accelerator system is not initialized"):
        D.shutdown_accelerator_system()


def test_errors_of_collectives_are_tensorflows():
    reporting = accelerators.reporting
    with (
        pytest.raises(tf.errors.DeadlineExceededError, match="a client did not come in time to the sum"),
        reporting("the sum"),
    ):
        raise RuntimeError("Timed out after 5 ms")
    with pytest.raises(tf.errors.DeadlineExceededError), reporting("the sum"):
        raise OSError("a TIMEOUT")
    with (
        pytest.raises(tf.errors.UnavailableError, match="Client 0 of 1: a client ended, or can't be reached"),
        reporting("the sum"),
    ):
        raise OSError("connection closed")
    with pytest.raises(KeyError), reporting("the sum"):
        raise KeyError("other")


def test_what_is_packed_has_one_kind():
    line = D.create_mesh([("x", 2)], devices=["CPU:0"] * 2)
    packed = D.pack([[1, 2], [3, 4]], Layout(["x"], line))
    assert D.fetch_layout(packed).sharding_specs == ["x"] and packed.shape == [4]
    assert [part.numpy().tolist() for part in D.unpack(packed)] == [[1, 2], [3, 4]]
    words = D.pack([["a"], ["a"]], Layout([U], line))
    assert words.numpy().tolist() == [b"a"]
    with pytest.raises(tf.errors.UnimplementedError, match="Strings can't be divided"):
        D.pack([["a"], ["b"]], Layout(["x"], line))
    with pytest.raises(tf.errors.UnimplementedError, match="no sparse tensors"):
        D.pack([tf.sparse.from_dense([1]), tf.sparse.from_dense([1])], Layout([U], line))
