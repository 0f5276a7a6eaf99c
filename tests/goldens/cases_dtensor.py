"""`tf.experimental.dtensor`: meshes, layouts, and what ops make of them.

TensorFlow needs the logical devices that a mesh names, or its collectives wait forever. TapeFlow does not, and other
tests of the process have one device.
"""

from goldens.case import Group

GROUP = Group("""
if tf.__name__ == "tensorflow":
    six = [tf.config.LogicalDeviceConfiguration()] * 6
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], six)
names = [f"CPU:{i}" for i in range(6)]
D = tf.experimental.dtensor
U, L = D.UNSHARDED, D.Layout
mesh = D.create_mesh([("x", 3), ("y", 2)], devices=names)
line = D.create_mesh([("x", 2)], "named", devices=names[:2])
whole = D.copy_to_mesh(tf.reshape(tf.range(12.), [6, 2]), L.replicated(mesh, 2))
rows = D.relayout(whole, L(["x", U], mesh))
columns = D.relayout(whole, L([U, "y"], mesh))
both = D.relayout(whole, L(["x", "y"], mesh))
def specs(t):
    return D.fetch_layout(t).sharding_specs
def dataset(layouts, batched=None, size=4, **kwargs):
    ds = tf.data.Dataset.from_tensor_slices({"a": tf.range(16.), "b": tf.reshape(tf.range(32), [16, 2])})
    if batched:
        ds = ds.batch(batched[0], drop_remainder=batched[1])
        kwargs["dataset_already_batched"] = True
    return D.DTensorDataset(ds, global_batch_size=size, mesh=line, layouts=layouts, **kwargs)
divided = {"a": L(["x"], line), "b": L(["x", U], line)}
""")

GROUP.values("""
repr(mesh)
repr(line)
mesh.to_string()
mesh.shape()
mesh.dim_names
mesh.size
line.name
mesh["x"].size
mesh["y"].name
"x" in mesh
"z" in mesh
mesh.contains_dim("y")
mesh.dim_size("x")
mesh.device_type()
mesh.local_devices()
mesh.local_device_ids()
mesh.global_device_ids()
mesh.global_devices()
mesh.strides
mesh.coords(3)
[sorted(d.items()) for d in mesh.unravel_index().values()]
[sorted(d.items()) for d in mesh.local_device_locations()]
mesh.min_global_device_id()
mesh.host_mesh() == mesh
mesh.is_remote()
mesh.is_single_device()
mesh.num_local_devices()
mesh == D.create_mesh({"x": 3, "y": 2}, devices=names)
mesh == line
D.Mesh.from_string(mesh.to_string()) == mesh
repr(D.Mesh.from_device("CPU:0"))
repr(L.from_device("CPU:0"))
repr(D.create_mesh([("x", -1)], devices=names[:4]))
repr(D.create_mesh(devices=names[:4]))
repr(L(["x", U], mesh))
repr(L([], mesh))
L.replicated(mesh, 2).sharding_specs
L.batch_sharded(mesh, "x", 3).sharding_specs
L.batch_sharded(mesh, "x", 3, axis=1).sharding_specs
L.inner_sharded(mesh, "x", 3).sharding_specs
L(["x", U], mesh).rank
L(["x", U], mesh).shape
L(["x", U], mesh).num_shards(0)
L(["x", U], mesh).is_fully_replicated()
L(["x", U], mesh).is_batch_parallel()
L(["x", U], mesh).delete(0).sharding_specs
L(["x", U], mesh).delete([0, 1]).sharding_specs
L(["x", "y"], mesh).offset_to_shard()
L(["x", "y"], mesh).offset_tuple_to_global_index((2, 1))
L(["x", D.MATCH], mesh).sharding_specs
L(["x", U], mesh) == L(["x", U], D.create_mesh([("x", 6)], devices=names))
L(["x", U], mesh).global_shape_from_local_shape([2, 3])
L(["x", U], mesh).local_shape_from_global_shape([6, 3])
L.from_string(L(["x", U], mesh).to_string()) == L(["x", U], mesh)
L(["x", U], mesh).mesh == mesh
D.client_id()
D.num_clients()
D.job_name()
D.full_job_name()
D.jobs()
D.heartbeat_enabled()
D.preferred_device_type()
D.get_default_mesh()
D.barrier(mesh)
""")

GROUP.errors(
    """
mesh["q"]
mesh.dim_size("q")
L(["x", "x"], mesh)
L(["z"], mesh)
L(["x"], 3)
L.batch_sharded(mesh, "z", 3)
D.create_mesh([("x", 2)], devices=["CPU:0"])
D.create_mesh([("x", 1)], devices=["CPU:0"], device_type="GPU")
D.Mesh(["x"], [1], [0], ["CPU:0"])
D.Mesh(["x"], np.array([1, 3]), [0], ["CPU:0"])
D.Mesh(["x", "y"], np.array([0]), [0], ["CPU:0"])
D.Mesh(["x"], np.array([0]), [0], [])
D.Mesh(["x"], np.array([0, 1]), [0], ["CPU:0", "CPU:1"])
D.Mesh.from_string("abc")
D.create_distributed_mesh([("x", 6)])
D.initialize_accelerator_system()
D.shutdown_accelerator_system()
D.local_devices("FOO")
D.full_job_name(1)
D.fetch_layout(tf.constant(1))
D.unpack(tf.constant(1.))
D.check_layout(rows, L.replicated(mesh, 2))
D.pack([tf.constant([1., 2.])] * 5, L(["x"], mesh))
D.pack([tf.constant([1.]), tf.constant([1., 2.])] * 3, L(["x"], mesh))
D.DVariable(tf.ones([2]))
D.DVariable(rows, layout=L.replicated(mesh, 2))
both.numpy()
np.asarray(both)
D.default_mesh(3).__enter__()
dataset(divided, size=4, batch_dim="z")
dataset({"a": L([U], line), "b": divided["b"]}, batch_dim="x")
dataset({"a": L([U], line), "b": L([U], line)})
dataset(divided, batched=(2, False), batch_dim="x")
dataset(divided, batched=(3, True), batch_dim="x")
dataset(divided, tf_data_service_config=3)
""",
    message=True,
)

GROUP.errors("""
D.Mesh(["x"], np.array([0, 1]), [0, 1], ["CPU:0", "GPU:1"])
dataset(L(["x"], line), batch_dim="x")
tf.function(lambda: D.fetch_layout(rows))()
tf.function(lambda: D.is_dtensor(rows))()
tf.function(lambda: D.unpack(rows))()
""")

GROUP.values("""
repr(whole)
repr(both)
str(rows)
repr(D.copy_to_mesh(tf.reshape(tf.range(60.), [6, 10]) / 7, L.replicated(line, 2)))
repr(D.copy_to_mesh(tf.range(300), L(["x"], line)))
repr(D.copy_to_mesh([True, False], L.replicated(line, 1)))
repr(D.copy_to_mesh(tf.reshape(tf.range(24), [2, 3, 4]), L.replicated(line, 3)))
str(D.copy_to_mesh(1.5, L.replicated(line, 0)))
repr(D.copy_to_mesh(tf.constant(1 / 3, tf.float64), L.replicated(line, 0)))
whole.numpy()
rows.device == D.device_name()
rows.shape
[p.numpy() for p in D.unpack(both)]
[p.device for p in D.unpack(both)]
D.is_dtensor(rows), D.is_dtensor(tf.constant(1)), D.is_dtensor(3)
D.fetch_layout(1)
D.check_layout(rows, L(["x", U], mesh))
repr(D.pack([tf.constant([1., 2.])] * 6, L.replicated(mesh, 1)))
repr(D.pack([[1., 2.]] * 6, L(["x"], mesh)))
repr(D.call_with_layout(tf.zeros, L(["x", U], mesh), [6, 2]))
D.call_with_layout(tf.zeros, None, [2])
specs(D.relayout_like(whole, both))
repr(D.DVariable(rows, name="v"))
repr(D.DVariable(tf.range(6.), layout=L(["x"], mesh)))
repr(D.DVariable(rows).assign(whole))
repr(D.DVariable(rows).assign_add(rows))
specs(D.DVariable(rows).read_value())
D.DVariable(rows).layout == L(["x", U], mesh)
D.DVariable(rows).save_as_bf16
dataset(divided, batch_dim="x").element_spec
dataset(divided, batch_dim="x", batched=(2, True)).element_spec
len(dataset(divided, batch_dim="x"))
""")

# Layouts of results. Those that TensorFlow's rules and torch's choose alike.
GROUP.values("""
specs(rows + columns)
specs(rows + 1.)
specs(both * rows)
specs(-both)
specs(tf.exp(both))
specs(tf.nn.relu(both))
specs(tf.cast(both, tf.int32))
specs(tf.zeros_like(both))
specs(both == rows)
specs(tf.where(both > 3., both, 0.))
specs(tf.reduce_sum(both, 0))
specs(tf.reduce_sum(both, 1))
specs(tf.reduce_sum(both))
specs(tf.reduce_mean(both))
specs(tf.reduce_max(both, 1))
specs(tf.matmul(rows, columns, transpose_b=True))
specs(tf.matmul(rows, rows, transpose_a=True))
specs(tf.transpose(both))
specs(tf.reshape(both, [12]))
specs(tf.expand_dims(both, 0))
specs(tf.concat([rows, columns], 0))
specs(tf.nn.softmax(rows))
specs(tf.argmax(rows, 1))
specs(tf.gather(both, [0, 1]))
specs(tf.one_hot(tf.cast(rows, tf.int32), 3))
specs(tf.stack([rows, rows]))
float(tf.reduce_sum(both))
tf.reduce_max(both).numpy()
tf.reduce_mean(both).numpy()
bool(tf.reduce_all(both < 20.))
[p.numpy() for p in D.unpack(tf.matmul(both, both, transpose_b=True))][0].shape[1]
""")

GROUP.snippets("""
# ops on a default mesh
with D.default_mesh(mesh):
    values = tf.ones([2]), tf.add(tf.constant(1.), 2.), tf.Variable(1.)
    same = D.get_default_mesh() == mesh
same, [repr(v) for v in values]

# gradients in a function
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        tape.watch(y)
        loss = tf.reduce_mean(tf.matmul(x, y) ** 2)
    return loss, tape.gradient(loss, y), D.relayout(x, L.replicated(mesh, 2))
[repr(r) for r in step(rows, D.copy_to_mesh(tf.ones([2, 2]), L.replicated(mesh, 2)))]

# a checkpoint
v = D.DVariable(tf.range(6.), layout=L(["x"], mesh))
checkpoint = D.DTensorCheckpoint(mesh, v=v)
path = checkpoint.save(tmp + "/ck")
v.assign(D.call_with_layout(tf.zeros, L(["x"], mesh), [6]))
checkpoint.restore(path).assert_consumed()
other = tf.train.Checkpoint(v=tf.Variable(tf.zeros([6])))
other.restore(path)
repr(v), other.v.numpy(), tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")

# saved by names
v = D.DVariable(tf.range(6.), layout=L(["x"], mesh))
D.name_based_save(mesh, tmp + "/named", {"v": v})
restored = D.name_based_restore(mesh, tmp + "/named", {"v": v})
tf.train.list_variables(tmp + "/named"), repr(restored["v"])

# saved in bfloat16
v = D.DVariable(tf.range(6.), layout=L(["x"], mesh))
D.enable_save_as_bf16([v])
D.DTensorCheckpoint(mesh, v=v).write(tmp + "/b")
v.save_as_bf16, tf.train.load_variable(tmp + "/b", "v/.ATTRIBUTES/VARIABLE_VALUE").dtype.name
""")
