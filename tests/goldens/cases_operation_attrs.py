"""The attrs of operations in graphs."""

from goldens.case import Group

GROUP = Group(r"""
v1, raw = tf.compat.v1, tf.raw_ops
def made(value):
    return value if isinstance(value, tf.Operation) else value.op
def attrs(build):
    with tf.Graph().as_default():
        v1.set_random_seed(5)
        operation = made(build())
        names = sorted(n for n in operation.node_def.attr if n[0] != "_")
        return operation.type, [(n, str(operation.get_attr(n)).split()) for n in names]
def kept(build):
    # The attrs after a graph was written and read again.
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(5)
        name = made(build()).name
    def again():
        tf.import_graph_def(graph.as_graph_def(), name="")
        return v1.get_default_graph().get_operation_by_name(name)
    return attrs(again)
variable = lambda: v1.get_variable("v", [2], tf.float64, use_resource=True)
""")
BUILDERS = [
    "v1.placeholder(tf.int32, [2, None])",
    "v1.placeholder(tf.int32)",
    "v1.placeholder_with_default([1., 2.], [None])",
    "v1.placeholder_with_default(tf.constant(3, tf.int64), [])",
    "tf.constant([[1, 2]], tf.uint8)",
    "variable().assign_add([1., 2.], read_value=False)",
    "tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 2, [[0, 0], [1, 0], [0, 1], [0, 0]])",
    "tf.nn.max_pool2d(tf.ones([1, 4, 4, 1]), 2, 1, 'SAME')",
    "tf.concat([[1, 2], [3]], 0)",
    "tf.split(tf.ones([4]), 2)[0]",
    "tf.split(tf.ones([4]), [1, 3])[0]",
    "tf.stack([tf.constant(1.), 2.])",
    "tf.unstack(tf.ones([2, 3]), axis=1)[2]",
    "raw.IdentityN(input=[1, 2., 'a'])[0]",
    "tf.ones([4])[1:3]",
    "tf.ones([4, 4])[..., tf.newaxis, 0]",
    "tf.range(3)",
    "tf.cast([1.5], tf.int64)",
    "tf.reduce_sum([[1., 2.]], 1, keepdims=True)",
    "tf.argmax([[1., 2.]], 1, tf.int32)",
    "tf.matmul([[1., 2.]], [[1., 2.]], transpose_b=True)",
    "tf.linalg.matmul([[[1.]]], [[[2.]]], adjoint_a=True)",
    "tf.random.uniform([2], seed=3)",
    "tf.random.shuffle([1, 2])",
    "tf.nn.dropout(tf.ones([2]), .5).op.inputs[0]",
    "tf.strings.join(['a', 'b'], '-')",
    "tf.io.decode_csv(['1,a'], [[1], ['b']])[0]",
    "tf.debugging.Assert(True, [1, 'a'], summarize=5)",
    "tf.gather(tf.ones([3, 2]), [1], batch_dims=0)",
    "tf.where([True], [1], [2])",
    "tf.where([True, False])",
    "tf.squeeze(tf.ones([1, 2, 1]), [0, 2])",
    "tf.transpose(tf.ones([2, 3]))",
    "tf.image.resize(tf.ones([1, 2, 2, 1]), [4, 4])",
    "tf.quantization.fake_quant_with_min_max_args([1.], num_bits=4)",
    "tf.sparse.to_dense(tf.sparse.from_dense([[1, 0]]))",
    "tf.unique([1, 1])[0]",
    "tf.nn.bias_add(tf.ones([1, 2]), [1., 2.])",
    "tf.no_op()",
]
GROUP.family("attrs(lambda: {build})", build=BUILDERS)
GROUP.family("kept(lambda: {build})", build=[b for b in BUILDERS if "variable()" not in b])
