"""`tf.compat.v1`: tensors, arrangement and control flow by TensorFlow 1's argument names, defaults and order."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
i = tf.constant([[1, 5, 3], [4, 2, 6]])
x = tf.reshape(tf.range(24), [2, 3, 4])
b = tf.constant([[True, False, True], [True, True, True]])
image = tf.reshape(tf.range(32, dtype=tf.float32), [1, 4, 4, 2])
nm, ni = m.numpy(), i.numpy()

def in_graph(build):
    with tf.Graph().as_default(), v1.Session() as session:
        return session.run(build())

mapped_batches = v1.data.experimental.map_and_batch_with_legacy_function

def names_of_parts(value):
    return [t.name for t in tf.nest.flatten(value, expand_composites=True)]

def described(value):
    if isinstance(value, v1.ragged.RaggedTensorValue):
        return str(value.dtype), value.to_list(), [(str(s.dtype), s.tolist()) for s in value.nested_row_splits]
    return str(value.dtype), value.tolist()

def fed_ragged(placeholder, value, *args, **kwargs):
    with tf.Graph().as_default(), v1.Session() as session:
        x = placeholder(*args, **kwargs)
        return str(x.shape), session.run(tf.reduce_sum(x), {x: value})

def printed(run):
    import contextlib, os
    kept = os.dup(2)
    with open(os.path.join(tmp, "printed"), "w+") as file:
        os.dup2(file.fileno(), 2)
        try:
            with contextlib.redirect_stderr(file):
                run()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read()
""")

# ---- making tensors --------------------------------------------------------------------------------------------------

GROUP.values("""
v1.constant([[1, 2], [3, 4]], tf.int64)
v1.constant(value=2.5, dtype=tf.float64, shape=[2, 2], name="c", verify_shape=False)
v1.constant("text")
v1.constant(7, shape=[0, 2])
v1.constant([1., 2.], shape=[2, 1])
in_graph(lambda: v1.constant([1, 2], shape=[2, 3]))
in_graph(lambda: v1.constant(3, tf.float32, [2]))
in_graph(lambda: v1.constant([], tf.int32, [0]))
in_graph(lambda: v1.constant([1, 2], shape=[2], verify_shape=True))
v1.convert_to_tensor([1, 2])
v1.convert_to_tensor([1, 2], dtype_hint=tf.int64)
v1.convert_to_tensor([1.5, 2], preferred_dtype=tf.int32)
v1.convert_to_tensor(value=np.ones([2], np.float16), dtype=None, name="t")
v1.convert_to_tensor(tf.Variable([1, 2]), tf.int32)
v1.zeros_like(i)
v1.zeros_like(tensor=m, dtype=tf.int64, name="z", optimize=False)
v1.zeros_like(tf.constant(["a"]))
v1.zeros_like([[1, 2]], "float16")
v1.ones_like(m)
v1.ones_like(tensor=i, dtype=tf.bool, name="o", optimize=False)
v1.ones_like([], tf.complex64)
v1.shape(x)
v1.shape(input=m, name="s", out_type=tf.int64)
v1.shape([[1], [2]], None, tf.int64)
v1.shape(5)
v1.shape(tf.SparseTensor([[0, 0]], [1], [2, 3]))
v1.size(x)
v1.size(input=m, name="s", out_type=tf.int64)
v1.size([])
v1.size(tf.SparseTensor([[0, 0]], [1], [2, 3]))
in_graph(lambda: v1.shape(v1.placeholder_with_default([[1, 2]], [None, None])))
in_graph(lambda: v1.size(v1.placeholder_with_default([[1, 2]], [None, None]), out_type=tf.int64))
in_graph(lambda: v1.zeros_like(v1.placeholder_with_default([[1, 2]], [None, None])))
in_graph(lambda: v1.ones_like(v1.placeholder_with_default([[1, 2]], [None, None]), tf.float64))
""")
GROUP.errors("""
v1.convert_to_tensor([1, 2], dtype_hint=tf.int32, preferred_dtype=tf.int64)
v1.shape(m, out_type=tf.int64, input=m)
in_graph(lambda: v1.constant([1, 2, 3], shape=[2]))
in_graph(lambda: v1.constant([1, 2], shape=[3], verify_shape=True))
""")

# ---- arranging -------------------------------------------------------------------------------------------------------

GROUP.values("""
v1.squeeze([[[1], [2]]])
v1.squeeze([[[1], [2]]], 0)
v1.squeeze([[[1], [2]]], axis=[0, 2])
v1.squeeze([[[1], [2]]], [-1], "s")
v1.squeeze([[[1], [2]]], squeeze_dims=2)
v1.squeeze(input=5)
v1.expand_dims([1, 2], 0)
v1.expand_dims([1, 2], axis=-1)
v1.expand_dims([1, 2], dim=1, name="e")
v1.expand_dims(input=tf.constant("a"), dim=0)
v1.transpose(x).shape
v1.transpose(i, [1, 0])
v1.transpose(a=x, perm=[0, 2, 1], name="t")
v1.transpose(tf.constant([[1 + 2j, 3 - 1j]]))
v1.transpose(tf.constant([[1 + 2j, 3 - 1j]]), None, "t", True)
v1.pad(i, [[1, 0], [0, 1]])
v1.pad(tensor=i, paddings=[[0, 0], [1, 1]], mode="REFLECT")
v1.pad(i, [[0, 0], [1, 1]], "symmetric", "p")
v1.pad(i, tf.constant([[1, 1], [0, 0]]), constant_values=-1)
v1.pad([b"a"], [[1, 0]], constant_values=b"p")
v1.where(b)
v1.where(condition=[True, False, True])
v1.where(b, m, tf.zeros_like(m), "w")
v1.where([True, False], x=i, y=-i)
v1.where([False, True], x, -x)
v1.where(tf.constant([True, False]), [1, 2], [3, 4])
v1.where(True, 1.0, 2.0)
v1.gather(m, [1, 0])
v1.gather(params=m, indices=[2, 0], axis=1)
v1.gather(m, 1, None, "g")
v1.gather(m, [[0], [1]], validate_indices=True)
v1.gather(m, [[0], [1]], batch_dims=1)
v1.gather(x, [[0, 2], [1, 1]], axis=2, batch_dims=1)
v1.gather(["a", "b"], [1])
v1.gather_nd(m, [[0, 1], [1, 2]])
v1.gather_nd(params=m, indices=[[1], [0]], name="g")
v1.gather_nd(m, [[1], [0]], None, 1)
v1.gather_nd(m, [1, 1])
v1.batch_gather(m, [[2, 0], [1, 1]])
v1.batch_gather(params=x, indices=[[0], [2]], name="g")
v1.boolean_mask(m, b)
v1.boolean_mask(tensor=m, mask=[True, False], name="mask")
v1.boolean_mask(m, [True, False, True], "mask", 1)
v1.boolean_mask([1, 2, 3], [True, False, True], axis=0)
v1.reverse_sequence(m, [2, 3], 1, 0)
v1.reverse_sequence(input=m, seq_lengths=[1, 2, 2], seq_axis=0, batch_axis=1)
v1.reverse_sequence(x, [2, 1], seq_dim=1)
v1.reverse_sequence(m, [2, 2], seq_dim=1, batch_dim=0, name="r")
v1.batch_to_space(tf.reshape(tf.range(8), [4, 1, 2, 1]), [[0, 0], [0, 1]], 2)
v1.batch_to_space(input=tf.reshape(tf.range(4), [4, 1, 1, 1]), crops=[[0, 0], [0, 0]], block_size=2, name="b")
v1.space_to_batch(tf.reshape(tf.range(8), [1, 2, 4, 1]), [[0, 0], [0, 0]], 2)
v1.space_to_batch(tf.reshape(tf.range(3), [1, 1, 3, 1]), paddings=[[1, 0], [0, 1]], block_size=2)
v1.space_to_depth(image, 2)
v1.depth_to_space(tf.reshape(tf.range(8), [1, 1, 1, 8]), block_size=2)
v1.depth_to_space(tf.reshape(tf.range(8), [1, 1, 1, 8]), 2, "d", "NHWC")
v1.nn.space_to_depth(image, 2)
v1.nn.depth_to_space(tf.reshape(tf.range(8), [1, 1, 1, 8]), 2)
v1.setdiff1d([1, 2, 3, 4, 2], [2, 4])
v1.setdiff1d(x=["a", "b"], y=["b"], index_dtype=tf.int64, name="d")
v1.setdiff1d([1, 2], [1, 2])
v1.setdiff1d([], [1.0])
v1.manip.gather_nd(m, [[0, 1]])
v1.manip.roll([1, 2, 3], 1, 0)
in_graph(lambda: v1.where(v1.placeholder_with_default([True, False], [None]), nm, -nm))
in_graph(lambda: v1.squeeze(v1.placeholder_with_default([[[1], [2]]], [None, None, None]), squeeze_dims=[0, 2]))
in_graph(lambda: v1.boolean_mask(nm, v1.placeholder_with_default([True, False], [None])))
""")
GROUP.errors("""
v1.gather(m, [5])
v1.gather(m, [0], axis=2)
v1.gather_nd(m, [[0, 9]])
v1.batch_gather(m, 1)
v1.pad(i, [[1, 0]])
v1.pad(i, [[1, 0], [0, 0]], "AROUND")
v1.reverse_sequence(m, [2, 3])
v1.reverse_sequence(m, [2, 9], 1)
v1.space_to_batch(image, [[0, 0], [0, 0]])
v1.space_to_batch(image, [[0, 0], [0, 0]], block_shape=[2, 2])
v1.batch_to_space(tf.reshape(tf.range(4), [4, 1, 1, 1]), [[0, 0], [0, 0]], block_size=[2, 2])
v1.setdiff1d([[1]], [1])
v1.transpose(m, [0, 0])
v1.boolean_mask(m, [True])
v1.boolean_mask(m, True)
v1.where([True, False, True], m, m)
""")
GROUP.errors(
    """
v1.squeeze([[1]], 0, squeeze_dims=0)
v1.squeeze([[1]], axis=[0], squeeze_dims=[0])
v1.expand_dims([1])
v1.expand_dims([1], 0, dim=0)
v1.where(b, m)
v1.where(b, y=m)
v1.reverse_sequence(m, [2, 2], 1, seq_dim=1)
v1.reverse_sequence(m, [2, 2], 1, 0, batch_dim=0)
v1.batch_to_space(image, [[0, 0], [0, 0]], 2, block_shape=[2, 2])
v1.space_to_batch(image, [[0, 0], [0, 0]], 2, block_shape=[2, 2])
""",
    message=True,
)

# ---- arithmetic ------------------------------------------------------------------------------------------------------

GROUP.family(
    "v1.to_{to}({of})",
    to="float double int32 int64 bfloat16 complex64 complex128",
    of=["3", "[1.75, -2.5]", "tf.constant([1, 2], tf.uint8)", "x=tf.constant([True, False]), name='n'"],
)
GROUP.family("v1.{f}({args})", f="div floor_div", args=["7, 2", "-7, 2", "7.5, 2.0", "x=[4, 5], y=[3], name='d'"])
GROUP.values("""
v1.to_float(tf.SparseTensor([[0, 1]], [3], [2, 2]))
v1.to_int32(tf.constant([1.5 + 2j]))
v1.div(tf.constant([-7, 7], tf.int8), tf.constant([2, -2], tf.int8))
v1.div(7., 0.)
v1.scalar_mul(2.0, m)
v1.scalar_mul(scalar=3, x=i, name="s")
v1.scalar_mul(tf.constant(2.0), tf.IndexedSlices(tf.constant([[1., 2.]]), tf.constant([1]), tf.constant([3, 2])))
v1.math.scalar_mul(2, i)
v1.clip_by_average_norm(m, 0.5)
v1.clip_by_average_norm(t=m, clip_norm=100.0, name="c")
v1.clip_by_average_norm([3.0, 4.0], tf.constant(1.25))
v1.bincount([1, 1, 2])
v1.bincount(arr=[1, 1, 2], weights=[0.5, 1.0, 2.0])
v1.bincount([1, 1, 2], minlength=5, dtype=tf.int64)
v1.bincount([1, 4, 2], None, None, 3)
v1.bincount([[1, 2], [2, 0]])
v1.bincount([], minlength=2, dtype=tf.float32)
v1.math.bincount([0, 3])
v1.confusion_matrix([0, 1, 2], [0, 2, 2])
v1.confusion_matrix(labels=[0, 1], predictions=[1, 1], num_classes=3)
v1.confusion_matrix([0, 1], [1, 1], None, tf.float32, "c", [0.5, 2.0])
v1.math.confusion_matrix([0, 1], [1, 1], dtype=tf.int64)
v1.confusion_matrix([[0], [1]], [1, 1])
v1.log([1.0, np.e])
v1.ceil([1.5, -1.5])
v1.lin_space(0.0, 1.0, 3)
v1.self_adjoint_eigvals([[2.0, 0.0], [0.0, 3.0]])
""")
GROUP.errors("""
v1.div("a", "b")
v1.div(1, 0)
v1.floor_div(1, 2.5)
v1.scalar_mul([1.0, 2.0], m)
v1.scalar_mul(2.5, i)
v1.bincount([-1])
v1.confusion_matrix([0, 3], [0, 1], 2)
v1.to_float("a")
""")

# ---- control flow ----------------------------------------------------------------------------------------------------

GROUP.values("""
v1.cond(tf.constant(True), lambda: 1, lambda: 2)
v1.cond(pred=True, true_fn=lambda: [1, 2], false_fn=lambda: [3, 4])
v1.cond(tf.constant(False), lambda: (1,), lambda: (2,))
v1.cond(tf.constant(False), lambda: [1], lambda: [2], True, "c")
v1.cond(tf.constant(True), lambda: {"a": 1}, lambda: {"a": 2})
v1.cond(tf.constant(True), lambda: None, lambda: None)
v1.cond(tf.constant(True), fn1=lambda: tf.constant(1), fn2=lambda: tf.constant(2))
in_graph(lambda: v1.cond(v1.placeholder_with_default(False, []), lambda: nm + 1, lambda: nm))
in_graph(lambda: v1.cond(v1.placeholder_with_default(True, []), lambda: [nm[0, 0]], lambda: [nm[1, 1]]))
in_graph(lambda: v1.cond(v1.placeholder_with_default(True, []), lambda: [nm[0]], lambda: [nm[1]], strict=True))
v1.case([(tf.constant(False), lambda: 1)], default=lambda: 3)
v1.case(pred_fn_pairs=[(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=False, name="c")
v1.case([(tf.constant(True), lambda: [1])], strict=True)
in_graph(lambda: v1.case([(v1.placeholder_with_default(False, []), lambda: 1)], lambda: 2))
in_graph(lambda: v1.case([(v1.placeholder_with_default(True, []), lambda: 1)], lambda: 2, exclusive=True))
v1.while_loop(lambda a: a < 10, lambda a: a * 2, [1])
v1.while_loop(cond=lambda a: a < 10, body=lambda a: [a * 2], loop_vars=(tf.constant(1),))
v1.while_loop(lambda a, c: a < 10, lambda a, c: [a * 2, c + 1], [1, 0], maximum_iterations=2)
v1.while_loop(lambda a: a["n"] < 3, lambda a: {"n": a["n"] + 1}, [{"n": tf.constant(0)}])
in_graph(lambda: v1.while_loop(lambda a: a < 10, lambda a: a * 2, [v1.placeholder_with_default(1, [])]))
in_graph(lambda: v1.while_loop(lambda a, c: a < 9, lambda a, c: (a * 2, c + a), [1, 0], name="w"))
in_graph(lambda: v1.while_loop(lambda a: a < 9, lambda a: a + 2, [1], return_same_structure=True))
v1.map_fn(lambda a: a + 1, i)
v1.map_fn(fn=lambda a: (a, a * 2), elems=tf.constant([1, 2]), dtype=(tf.int32, tf.int32))
v1.map_fn(lambda a: a[0] + a[1], (tf.constant([1, 2]), tf.constant([3, 4])), dtype=tf.int32)
v1.map_fn(lambda a: tf.cast(a, tf.int64), i, fn_output_signature=tf.int64, parallel_iterations=2, name="m")
in_graph(lambda: v1.map_fn(lambda a: a * 2, ni, infer_shape=False, back_prop=False))
v1.scan(lambda a, c: a + c, tf.constant([1, 2, 3]), initializer=10)
v1.scan(fn=lambda a, c: a * c, elems=tf.constant([1., 2., 3.]), reverse=True)
in_graph(lambda: v1.scan(lambda a, c: a + c, tf.constant([1, 2, 3])))
v1.foldl(lambda a, c: a - c, tf.constant([1, 2, 3]))
v1.foldl(fn=lambda a, c: a - c, elems=tf.constant([1, 2, 3]), initializer=10)
v1.foldr(lambda a, c: a - c, tf.constant([1, 2, 3]))
v1.foldr(fn=lambda a, c: a - c, elems=tf.constant([1, 2, 3]), initializer=10, name="f")
in_graph(lambda: v1.foldl(lambda a, c: a - c, tf.constant([1, 2, 3])))
in_graph(lambda: v1.foldr(lambda a, c: a - c, tf.constant([1, 2, 3])))
v1.tuple([i, m])
v1.tuple([]), v1.tuple([None])
v1.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=True)
v1.while_loop(lambda a: a < 10, lambda a: [a * 2], [1], return_same_structure=True)
v1.py_func(lambda s: np.array([s.item() + b"!"], object), [tf.constant(["a"])], tf.string)
v1.tuple(tensors=[tf.constant(1), None, tf.constant(2)], name="t")
in_graph(lambda: v1.tuple([tf.constant(nm), tf.constant(ni)], control_inputs=[tf.no_op()]))
v1.py_func(lambda a, c: a + c, [1, 2], tf.int64)
v1.py_func(func=lambda a: (a, a * 2), inp=[np.float32(1.5)], Tout=[tf.float32, tf.float32], stateful=False)
v1.py_func(lambda: np.float32(3), [], tf.float32, name="p")
in_graph(lambda: v1.py_func(lambda a: a.sum(), [nm], tf.float32))
v1.Print(m, [m, i]).shape
v1.Print(input_=i, data=[], message="all: ", first_n=1, summarize=2, name="p")
in_graph(lambda: v1.Print(nm, [ni], "i = "))
""")
GROUP.values("""
printed(lambda: v1.Print(m, [m, i], "m, i: "))
printed(lambda: v1.Print(1, [x], summarize=7))
printed(lambda: v1.Print(1, [x], summarize=-1))
printed(lambda: v1.Print(1, [[1, 2, 3, 4], 5, 2.5, [1.25, 1e10]], None, None, 1))
printed(lambda: v1.Print(1, [[1, 2, 3, 4], 5, 2.5, True, [1.25, 1e10]], ""))
""")
GROUP.snippets("""
# what a graph prints, the first two times
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        y = v1.Print(nm, [ni], "i: ", first_n=2, summarize=4)
        [session.run(y) for _ in range(3)]
printed(run)

# lists of one element after disable_control_flow_v2
def build():
    true = v1.placeholder_with_default(True, [])
    return [v1.cond(true, lambda: [1], lambda: [2]), v1.case([(true, lambda: (3,))], lambda: (4,)),
            v1.cond(true, lambda: [1], lambda: [2], strict=True),
            v1.while_loop(lambda a: a < 5, lambda a: [a * 2], [1])]
v1.disable_control_flow_v2()
try:
    result = v1.control_flow_v2_enabled(), in_graph(build)
finally:
    v1.enable_control_flow_v2()
*result, v1.control_flow_v2_enabled()
""")
GROUP.errors("""
v1.case([], exclusive=True)
v1.case([(tf.constant(False), lambda: 1)])
v1.case({tf.constant(True): lambda: 1})
v1.case([(1, lambda: 1)])
v1.while_loop(1, lambda a: a, [1])
v1.while_loop(lambda a: a < 1, 1, [1])
v1.while_loop(lambda a: a < 1, lambda a: a, [])
v1.gradients(m, m)
v1.hessians(m, m)
""")
GROUP.errors(
    """
v1.cond(tf.constant(True))
v1.cond(tf.constant(True), lambda: 1)
v1.cond(tf.constant(True), lambda: 1, fn1=lambda: 1)
v1.cond(tf.constant(True), lambda: 1, lambda: 2, fn2=lambda: 1)
v1.cond(tf.constant(True), 1, lambda: 2)
""",
    message=True,
)

# ---- gradients and random numbers ------------------------------------------------------------------------------------

GROUP.snippets("""
# gradients of two variables
def build():
    a, c = tf.constant([1., 2.]), tf.constant(3.)
    return v1.gradients(a * c, [a, c])
in_graph(build)

# gradients with grad_ys, and what is not connected
def build():
    a, c = tf.constant([1., 2.]), tf.constant(3.)
    return [g for g in v1.gradients(ys=a * a, xs=[a, c], grad_ys=[tf.constant([1., 10.])]) if g is not None]
in_graph(build)

# gradients that stop, and zeros for what is not connected
def build():
    a, c = tf.constant([1., 2.]), tf.constant(3.)
    d = a * c
    stopped = v1.gradients(d * a, [a], stop_gradients=[d])
    return [*stopped, *v1.gradients(d, [tf.constant(1.)], unconnected_gradients="zero")]
in_graph(build)

# hessians of a vector
def build():
    a = tf.constant([1., 2.])
    return v1.hessians(a[0] ** 3 * a[1], a)
in_graph(build)

# a seed makes the same numbers again
v1.set_random_seed(7)
first = v1.random_uniform([3])
v1.set_random_seed(7)
bool(tf.reduce_all(first == v1.random_uniform([3])))
""")
GROUP.shapes("""
v1.multinomial([[0.0, 1.0]], 3)
v1.multinomial(logits=[[0.0, 1.0], [2.0, 1.0]], num_samples=2, seed=1, name="m", output_dtype=tf.int32)
v1.random.multinomial(tf.constant([[0.5, 0.5]]), 4)
v1.random_poisson(3.0, [2])
v1.random_poisson(lam=[1.0, 2.0], shape=[3], dtype=tf.float64, seed=1, name="p")
v1.random.poisson([[1.0]], [2])
v1.random_normal([2, 3])
v1.random_uniform([2], 0, 5, tf.int32)
v1.truncated_normal([2], dtype=tf.float64)
v1.random_gamma([3], 2.0)
v1.random_shuffle([1, 2, 3])
v1.random_crop(m, [1, 2])
""")
GROUP.errors("""
v1.multinomial([0.0, 1.0], 3)
""")

# ---- ragged tensors, and specs ---------------------------------------------------------------------------------------

GROUP.family(
    "described(v1.ragged.constant_value({what}))",
    what=[
        "[[1, 2], [], [3]]", "[[1.5], [2]]", "[['a', 'bb'], ['c']]", "[['a'], ['c']], tf.string", "[]", "[[], []]", "3",
        "[1, 2]", "[[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1", "[[1]], tf.float32", "[[b'a']]", "[[True]]",
        "[[[1, 2]], []], inner_shape=(2,)", "[[[1], []], [[2, 3]]], 'int16', row_splits_dtype=tf.int32",
    ],
)  # fmt: skip
GROUP.errors("""
v1.ragged.constant_value([1, [2]])
v1.ragged.constant_value([[1]], ragged_rank=2)
v1.ragged.placeholder(tf.int32, 1)
""")
GROUP.values("""
fed_ragged(v1.ragged.placeholder, v1.ragged.constant_value([[1, 2], [3]], "int32"), tf.int32, 1)
fed_ragged(v1.ragged.placeholder, v1.ragged.constant_value([[[1., 2.]], []], "float32", 1), tf.float32, 1, [2], "r")
fed_ragged(v1.ragged.placeholder, [1, 2], tf.int32, 0, value_shape=[2])
in_graph(lambda: tf.constant(names_of_parts(v1.ragged.placeholder(tf.int32, 2))))
v1.data.experimental.TensorStructure(tf.int32, [2])
v1.data.experimental.SparseTensorStructure(tf.int32, [2])
v1.data.experimental.TensorArrayStructure(tf.int32, [2], False, True)
v1.data.experimental.RaggedTensorStructure(tf.int32, [2, None], 1)
list(tf.data.Dataset.range(4).apply(mapped_batches(lambda x: x * x, 3)))
list(tf.data.Dataset.range(4).apply(mapped_batches(lambda x: x, 3, None, True)))
""")
