"""`tf.compat.v1`: variables by name, their scopes, collections and initializers, in graphs and sessions."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
GV, LV = v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.LOCAL_VARIABLES
LOSSES = v1.GraphKeys.REGULARIZATION_LOSSES
shape = tf.TensorShape

def in_graph(build):
    with tf.Graph().as_default():
        return build()

def in_session(build):
    with tf.Graph().as_default(), v1.Session() as session:
        fetches = build()
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return session.run(fetches)

def names(variables):
    return [v.name for v in variables]

def reuse_all():
    v1.get_variable_scope().reuse_variables()

def with_parts(**parts):
    spec = v1.DeviceSpec(job="a", task=1)
    for name, value in parts.items():
        setattr(spec, name, value)
    return spec

def merged(spec, other):
    spec.merge_from(other)
    return spec

def variable(name="v", value=1.0, **kwargs):
    return v1.get_variable(name, initializer=value, use_resource=True, **kwargs)
""")

# ---- variables and collections ---------------------------------------------------------------------------------------

GROUP.snippets("""
# a variable's name, dtype and shape
def build():
    v = v1.get_variable("v", [2, 3], use_resource=True)
    return v.name, v.dtype, v.shape, v.trainable, v.op.name
in_graph(build)

# what TensorFlow 1's Variable takes
def build():
    v = v1.Variable(initial_value=2, trainable=False, collections=["mine", LV], name="w", dtype=tf.float64,
                    use_resource=True)
    found = [v1.get_collection("mine"), v1.global_variables(), v1.local_variables(), v1.trainable_variables()]
    return v.name, v.dtype, v.trainable, list(map(names, found))
in_graph(build)

# a variable that begins as a function says
in_session(lambda: v1.Variable(lambda: [1., 2.], name="f", use_resource=True))

# a variable of an eager program
v = v1.Variable([1., 2.], trainable=False, name="e")
v.numpy(), v.trainable, v.dtype, isinstance(v, tf.Variable)

# collections by their names
def build():
    for value in (1, 2):
        v1.add_to_collection("mine", value)
    v1.add_to_collections(["mine", "yours"], 3)
    v1.add_to_collections(["yours", "yours"], 4)
    v1.get_collection("mine").append(5)
    v1.get_collection_ref("mine").append(6)
    return [v1.get_collection(name) for name in ("mine", "yours", "nobody's")], v1.get_collection_ref("none")
in_graph(build)

# collections by the names of their items
def build():
    with v1.variable_scope("a"):
        variable("x"), variable("y", trainable=False)
    variable("ab"), variable("c", collections=[v1.GraphKeys.MODEL_VARIABLES, v1.GraphKeys.MOVING_AVERAGE_VARIABLES])
    kinds = [v1.global_variables, v1.trainable_variables, v1.local_variables, v1.model_variables,
             v1.moving_average_variables]
    found = [names(kind(scope)) for kind in kinds for scope in (None, "a", "a/", "c")]
    return found, names(v1.get_collection(GV, "a/x"))
in_graph(build)

# all variables, by the oldest name
def build():
    variable("x"), v1.get_local_variable("l", [], initializer=v1.zeros_initializer(), use_resource=True)
    return names(v1.all_variables()), names(v1.local_variables()), [v.trainable for v in v1.local_variables()]
in_graph(build)

# the names of collections
[(n, getattr(v1.GraphKeys, n)) for n in sorted(dir(v1.GraphKeys)) if n.isupper() and n[0] != "_" and n != "VARIABLES"]

# initializers of all, some and local variables
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        a, b = variable("a"), variable("b", 2)
        l = v1.get_local_variable("l", initializer=3., use_resource=True)
        missing = v1.report_uninitialized_variables()
        found = [session.run(missing).tolist()]
        session.run(v1.variables_initializer([a], name="some"))
        found.append(session.run([v1.is_variable_initialized(a), v1.is_variable_initialized(b), missing]))
        session.run(v1.initialize_variables([b]))
        found.append(session.run(v1.report_uninitialized_variables([a, l], name="some")).tolist())
        session.run(v1.initialize_local_variables())
        session.run([v1.global_variables_initializer(), v1.initialize_all_variables()])
        session.run(v1.local_variables_initializer())
        return found, session.run([a, b, l, missing])
run()

# initializers eagerly
found = v1.global_variables_initializer(), v1.local_variables_initializer(), v1.variables_initializer([])
*found, v1.is_variable_initialized(tf.Variable(1.))

# an assertion that variables have values
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        none = v1.assert_variables_initialized()
        a = variable("a")
        check = v1.assert_variables_initialized([a])
        session.run(a.initializer)
        session.run([check])
        return none
run()

# what variables can do in a graph
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        a = variable("a", [1., 2.])
        session.run(a.initializer)
        found = [session.run(v1.assign(a, [3., 4.])), session.run(v1.assign_add(a, [1., 1.], name="add"))]
        found.append(session.run(v1.assign_sub(a, [2., 2.], use_locking=True)))
        found += [session.run(a + 1), session.run(a.initial_value)]
        return found
run()
""")
GROUP.errors("""
in_graph(lambda: v1.Session().run(variable()))
in_graph(lambda: [v1.get_variable("v", [1]), v1.get_variable("v", [1])])
in_graph(lambda: v1.get_variable("v"))
in_graph(lambda: v1.get_variable("v", [None]))
in_graph(lambda: v1.get_variable("v", [2], initializer=tf.constant([1., 2.])))
in_graph(lambda: v1.get_variable("v", [2], dtype=tf.string, initializer=3))
in_graph(lambda: v1.Variable())
in_graph(lambda: v1.Variable(1.0, collections="mine"))
in_graph(lambda: v1.assign(v1.get_variable("v", [2]), [1., 2., 3.]))
""")

# ---- variable scopes -------------------------------------------------------------------------------------------------

GROUP.snippets("""
# names in scopes
def build():
    with v1.variable_scope("a"):
        x = variable("x")
        with v1.variable_scope("b") as b:
            y = variable("y")
    with v1.variable_scope(b, reuse=True) as again:
        z = variable("y")
    scopes = [b.name, again.name, b.original_name_scope, again.original_name_scope]
    return x.name, y.name, z is y, scopes, tf.add(1, 1).name
in_graph(build)

# scopes with default names get numbers
def build():
    found = []
    for _ in range(3):
        with v1.variable_scope(None, "layer") as scope:
            found += [scope.name, variable("w").name, tf.constant(1, name="c").name]
    with v1.variable_scope("layer"):
        found.append(variable("w2").name)
    return found
in_graph(build)

# scopes by the same name open another name scope
def build():
    found = []
    for _ in range(2):
        with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
            found += [variable("x").name, tf.constant(1, name="c").name]
    with v1.variable_scope("a", reuse=True, auxiliary_name_scope=False):
        found += [variable("x").name, tf.constant(1, name="c").name]
    return found
in_graph(build)

# what scopes say where nothing else is said
def build():
    with v1.variable_scope("a", initializer=v1.constant_initializer(4.0), dtype=tf.float64,
                           regularizer=lambda v: 2 * v, use_resource=True):
        x = v1.get_variable("x", [])
        with v1.variable_scope("b", initializer=v1.ones_initializer(), dtype=tf.float32):
            y = v1.get_variable("y", [], regularizer=v1.no_regularizer)
    return [x, y, *v1.get_collection(LOSSES)]
in_session(build)

# a scope in force
def build():
    scope = v1.get_variable_scope()
    found = [scope.name, bool(scope.reuse), scope.dtype, isinstance(scope, v1.VariableScope)]
    with v1.variable_scope("a") as a:
        a.reuse_variables()
        found += [v1.get_variable_scope() is a, a.reuse, a.name]
        a.set_dtype(tf.int32), a.set_initializer(3), a.set_regularizer(None), a.set_custom_getter(None)
        a.set_partitioner(None)
        found += [a.dtype, a.initializer, a.regularizer, a.custom_getter, a.partitioner, a.caching_device, a.constraint]
    return found
in_graph(build)

# variables below a scope
def build():
    with v1.variable_scope("a") as a:
        variable("x"), variable("y", trainable=False)
        v1.get_local_variable("l", initializer=1.0, use_resource=True)
    variable("z")
    found = [a.global_variables(), a.trainable_variables(), a.local_variables(), a.get_collection(GV)]
    return list(map(names, found))
in_graph(build)

# a getter between
def build():
    def getter(getter, name, *args, **kwargs):
        return getter(name + "_seen", *args, **kwargs) * 2.0
    with v1.variable_scope("a", custom_getter=getter):
        return v1.get_variable("x", initializer=3.0, use_resource=True)
in_session(build)

# a constraint and a regularizer
def build():
    v = v1.get_variable("x", initializer=3.0, regularizer=lambda v: v * 10, constraint=lambda v: v * 0,
                        use_resource=True)
    return v.constraint(v), v1.get_collection(LOSSES)
in_session(build)

# older names of scopes
def build():
    found = []
    with v1.variable_op_scope([], "a"), v1.op_scope([], "b") as scope:
        found += [variable("x").name, tf.constant(1, name="c").name, scope]
    with v1.variable_op_scope([], None, "d"), v1.op_scope([], None, "e") as scope:
        found += [variable("x").name, tf.constant(1, name="c").name, scope]
    return found
in_graph(build)

# name scopes
def build():
    found = []
    with v1.name_scope("a") as a, v1.name_scope(None, "b", [1]) as b:
        found += [a, b, tf.constant(1, name="c").name]
    with v1.name_scope("a") as second, v1.name_scope(a) as back, v1.name_scope("") as root:
        found += [second, back, root, tf.constant(1, name="c").name]
    scope = v1.name_scope(name="x", default_name="y", values=[])
    return found + [scope.name]
in_graph(build)

# name scopes eagerly
with v1.name_scope("a") as a, v1.name_scope("b") as b:
    found = a, b
found

# devices, colocation and containers
def build():
    with v1.device("/cpu:0"), v1.container("c"), v1.colocate_with(tf.constant(1)):
        return v1.Session().run(tf.constant(2) + 1)
in_graph(build)

# templates share their variables
def build():
    def layer(x, size):
        return x * v1.get_variable("w", [size], initializer=v1.ones_initializer(), use_resource=True)
    template = v1.make_template("layer", layer, size=2)
    other = v1.make_template("layer", layer, create_scope_now_=True, size=2)
    named = v1.make_template("layer", layer, unique_name_="mine", size=3)
    a, b, c, d = template(2.0), template(3.0), other(4.0), named(5.0)
    return names(v1.global_variables()), tf.add(1, 1).name
in_graph(build)

# variables of an eager template
def scale(x):
    return x * v1.get_variable("by", initializer=2.0)
template = v1.make_template("scale", scale)
template(3.0), template(4.0)
""")
GROUP.errors("""
in_graph(lambda: v1.variable_scope("a", reuse=5))
in_graph(lambda: v1.variable_scope(None).__enter__())
in_graph(lambda: v1.variable_scope(3).__enter__())
in_graph(lambda: v1.variable_scope(None, "a", reuse=True).__enter__())
in_graph(lambda: [v1.variable_scope("a", reuse=True).__enter__(), v1.get_variable("x", [])])
in_graph(lambda: [v1.get_variable("x", []), reuse_all(), v1.get_variable("x", [2])])
in_graph(lambda: [v1.get_variable("x", []), reuse_all(), v1.get_variable("x", [], tf.int32)])
v1.name_scope(3)
v1.name_scope(None, 3)
in_graph(lambda: v1.name_scope(None, None, [1]).__enter__())
in_graph(lambda: v1.make_template("a", lambda: variable("x"), create_scope_now_=True, x=3)())
""")

# ---- initializers ----------------------------------------------------------------------------------------------------

GROUP.family(
    "v1.{f}_initializer({how})",
    f="zeros ones",
    how=["dtype=tf.int32)([2]), v1.zeros_initializer().get_config(", ")([2, 0]), (", ")(shape=[1], dtype=tf.float64"],
)
GROUP.values("""
v1.constant_initializer()([2])
v1.constant_initializer(value=[[1, 2], [3, 4]], dtype=tf.int64)([2, 2])
v1.constant_initializer([1, 2, 3, 4])([2, 2], tf.float64)
v1.constant_initializer(np.arange(3))(shape=[3], dtype=tf.int32)
v1.constant_initializer([1, 2], verify_shape=True)([2])
v1.constant_initializer(True, tf.bool)([2])
v1.constant_initializer(2).get_config()
in_session(lambda: v1.constant_initializer([1, 2])([4]))
v1.initializers.identity()([2, 3])
v1.initializers.identity(gain=2.0, dtype=tf.float64)([2, 2])
v1.initializers.identity(3.0).get_config()
v1.zeros_initializer.from_config(v1.zeros_initializer(tf.int32).get_config())([1])
v1.random_uniform_initializer().get_config()
v1.random_uniform_initializer(minval=-1, maxval=1, seed=2, dtype=tf.float64).get_config()
v1.random_normal_initializer(1.0, 2.0, 3).get_config()
v1.truncated_normal_initializer(mean=1.0, stddev=2.0, seed=3, dtype=tf.float64).get_config()
v1.uniform_unit_scaling_initializer(2.0, 1).get_config()
v1.variance_scaling_initializer().get_config()
v1.variance_scaling_initializer(scale=2.0, mode="fan_avg", distribution="untruncated_normal", seed=1).get_config()
v1.orthogonal_initializer(gain=2.0, seed=1).get_config()
v1.glorot_uniform_initializer().get_config()
v1.glorot_normal_initializer(seed=2).get_config()
v1.initializers.he_normal().get_config(), v1.initializers.he_uniform(1).get_config()
v1.initializers.lecun_normal().get_config(), v1.initializers.lecun_uniform(seed=1).get_config()
v1.orthogonal_initializer().from_config({"gain": 1.0, "seed": None, "dtype": "float32"}).get_config()
bool(tf.reduce_max(tf.abs(v1.random_uniform_initializer(-2.0, 2.0)([100]))) <= 2.0)
bool(tf.reduce_max(tf.abs(v1.truncated_normal_initializer(stddev=3.0)([100]))) <= 6.0)
bool(tf.reduce_max(tf.abs(v1.initializers.he_uniform()([24, 100]))) <= 0.5)
bool(tf.reduce_max(tf.abs(v1.initializers.lecun_uniform()([12, 100]))) <= 0.5)
bool(tf.reduce_max(tf.abs(v1.uniform_unit_scaling_initializer()([12, 100]))) <= 0.5)
bool(abs(tf.math.reduce_std(v1.initializers.lecun_normal()([100, 200])) - 0.1) < 0.01)
bool(abs(tf.math.reduce_std(v1.initializers.he_normal()([200, 100])) - 0.1) < 0.01)
bool(abs(np.std(v1.variance_scaling_initializer(1.0, "fan_out", "untruncated_normal")([200, 100])) - 0.1) < 0.01)
(lambda q: np.allclose(q @ tf.transpose(q), 4 * np.eye(2), atol=1e-4))(v1.orthogonal_initializer(2.0)([2, 5]))
""")
GROUP.shapes("""
v1.random_uniform_initializer(0, 10, dtype=tf.int32)([2, 3])
v1.random_normal_initializer()([4], tf.float64)
v1.truncated_normal_initializer()([2])
v1.uniform_unit_scaling_initializer()([2, 3])
v1.variance_scaling_initializer(distribution="normal")([2, 3, 4])
v1.glorot_uniform_initializer()([2, 3])
v1.glorot_normal_initializer()([5])
v1.orthogonal_initializer()([3, 2, 4])
v1.initializers.he_normal()([2, 3])
in_session(lambda: v1.get_variable("v", [3, 4], use_resource=True))
in_session(lambda: v1.get_variable("v", [3], initializer=v1.random_normal_initializer, use_resource=True))
in_session(lambda: v1.get_variable("v", [3], tf.int32, use_resource=True))
in_session(lambda: v1.get_variable("v", initializer=lambda: tf.zeros([2]), use_resource=True))
""")
GROUP.errors(
    """
v1.variance_scaling_initializer(-1.0)
v1.variance_scaling_initializer(mode="fan")
v1.variance_scaling_initializer(distribution="gauss")
v1.constant_initializer(object())
v1.initializers.identity()([2, 2, 2])
v1.orthogonal_initializer()([2])
""",
    message=True,
)
GROUP.errors("""
v1.zeros_initializer(tf.int32, 3)
v1.constant_initializer([1, 2, 3])([2])
v1.constant_initializer([1, 2], verify_shape=True)([3])
v1.random_normal_initializer(dtype=tf.int32)([2])
v1.initializers.identity(dtype=tf.int32)
v1.truncated_normal_initializer(dtype=tf.int32)
v1.variance_scaling_initializer(dtype=tf.int32)
v1.uniform_unit_scaling_initializer(dtype=tf.int32)
v1.orthogonal_initializer(dtype=tf.int32)
""")

# ---- partitioners and switches ---------------------------------------------------------------------------------------

GROUP.values("""
list(v1.fixed_size_partitioner(3)(shape=shape([7, 2]), dtype=tf.float32))
list(v1.fixed_size_partitioner(num_shards=3, axis=1)(shape=shape([7, 2]), dtype=tf.float32))
list(v1.variable_axis_size_partitioner(64)(shape=shape([16, 4]), dtype=tf.float32))
list(v1.variable_axis_size_partitioner(64, axis=1, max_shards=2)(shape=shape([4, 16]), dtype=tf.float64))
list(v1.variable_axis_size_partitioner(64, bytes_per_string_element=8)(shape=shape([16]), dtype=tf.string))
list(v1.min_max_variable_partitioner(4, min_slice_size=16)(shape=shape([16, 4]), dtype=tf.float32))
list(v1.min_max_variable_partitioner(max_partitions=40, axis=1, min_slice_size=64)(shape([4, 16]), dtype=tf.float32))
list(v1.variable_axis_size_partitioner(8, max_shards=0)(shape=shape([4]), dtype=tf.float32))
list(v1.min_max_variable_partitioner(0)(shape=shape([4]), dtype=tf.float32))
list(v1.min_max_variable_partitioner()(shape=shape([16, 4]), dtype=tf.float32))
v1.no_regularizer(tf.constant(1.0))
v1.executing_eagerly(), in_graph(v1.executing_eagerly), v1.executing_eagerly_outside_functions()
in_graph(v1.executing_eagerly_outside_functions)
v1.resource_variables_enabled(), v1.control_flow_v2_enabled()
v1.get_default_session()
in_graph(lambda: v1.get_default_graph() is tf.constant(1).graph)
v1.enable_eager_execution(), v1.enable_v2_tensorshape(), v1.enable_tensor_equality(), v1.enable_resource_variables()
v1.enable_control_flow_v2(), v1.enable_v2_behavior()
in_graph(lambda: v1.losses.get_losses())
""")
GROUP.errors("""
v1.variable_axis_size_partitioner(0)
v1.variable_axis_size_partitioner(8, bytes_per_string_element=0)
v1.fixed_size_partitioner(2, axis=3)(shape=shape([7, 2]), dtype=tf.float32)
in_graph(v1.reset_default_graph)
""")

# ---- names of devices ------------------------------------------------------------------------------------------------

GROUP.values("""
v1.DeviceSpec(job="a", device_type="cpu").to_string()
with_parts(job="b", device_type="gpu", device_index="2", replica=1, task=None).to_string()
with_parts(job=None).to_string()
v1.DeviceSpec(job="a").parse_from_string("/replica:1/task:2/cpu:3").to_string()
merged(v1.DeviceSpec.from_string("/job:a/task:1"), tf.DeviceSpec(task=3, device_type="CPU")).to_string()
type(v1.DeviceSpec(job="a").make_merged_spec(tf.DeviceSpec(task=1))).__mro__[0] is v1.DeviceSpec
v1.DeviceSpec(job="a").replace(task=1).to_string()
v1.DeviceSpec(job="a") == v1.DeviceSpec(job="a"), v1.DeviceSpec(job="a") == tf.DeviceSpec(job="a")
hash(v1.DeviceSpec(job="a")) == hash(v1.DeviceSpec.from_string("/job:a")), issubclass(v1.DeviceSpec, tf.DeviceSpec)
""")
GROUP.errors("""
with_parts(task="x")
tf.DeviceSpec(job="a").__setattr__("job", "b")
v1.DeviceSpec().parse_from_string("/nothing:1")
""")
