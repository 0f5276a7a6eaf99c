"""`tf.compat.v1`: reductions, assertions, strings and parts of variables by TensorFlow 1's argument names."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
i = tf.constant([[1, 5, 3], [4, 2, 6]])
b = tf.constant([[True, False, True], [True, True, True]])
words = tf.constant([["a", "b"], ["c", "d"]])

def in_graph(build):
    with tf.Graph().as_default(), v1.Session() as session:
        fetches = build()
        session.run(v1.global_variables_initializer())
        return session.run(fetches)

def changed(function, indices, updates, first=[1., 2., 3.], **kwargs):
    v = tf.Variable(first)
    given = function(v, indices, updates, **kwargs)
    return v.numpy(), tf.convert_to_tensor(given)

def changed_in_graph(function, indices, updates, first=[1., 2., 3.]):
    def build():
        return function(v1.get_variable("v", initializer=tf.constant(first), use_resource=True), indices, updates)
    return in_graph(build)
""")

# ---- reductions ------------------------------------------------------------------------------------------------------

GROUP.family(
    "v1.reduce_{f}(m{how})",
    f="sum mean max min prod logsumexp",
    how=["", ", 1", ", axis=[0, 1]", ", -1, True", ", 0, None, 'r'", ", reduction_indices=0", ", keep_dims=True",
         ", reduction_indices=[1], keepdims=True", ", axis=[], keep_dims=False"],
)  # fmt: skip
GROUP.family("v1.reduce_{f}(i{how})", f="sum mean max min prod", how=["", ", 1", ", reduction_indices=[0]"])
GROUP.family(
    "v1.reduce_{f}(b{how})",
    f="all any",
    how=["", ", 1", ", axis=0, keepdims=True", ", reduction_indices=[0, 1], keep_dims=True", ", 0, None, 'r'"],
)
GROUP.family("v1.math.reduce_{f}(input_tensor=b, reduction_indices=1)", f="all any")
GROUP.family("v1.math.reduce_{f}(input_tensor=m, axis=1, keep_dims=True)", f="sum mean max min prod logsumexp")
GROUP.family(
    "v1.reduce_{f}({how})",
    f="sum max all",
    how=["m, axis=1, reduction_indices=1", "m, keepdims=True, keep_dims=True", "m, 5"],
    raises=True,
)
GROUP.values("""
v1.reduce_sum([])
v1.reduce_max(tf.zeros([0]))
v1.reduce_sum([[1, 2], [3, 4]], tf.constant(0))
v1.count_nonzero(i)
v1.count_nonzero([[0, 2], [3, 0]], 1)
v1.count_nonzero(input_tensor=[[0, 2], [3, 0]], axis=0, keepdims=True, dtype=tf.int32, name="c")
v1.count_nonzero(input=[[0, 2], [3, 0]], reduction_indices=[0, 1], keep_dims=True)
v1.count_nonzero(b, keep_dims=True)
v1.count_nonzero(["", "a"])
v1.math.count_nonzero(m, 0)
v1.argmax(i)
v1.argmin(i)
v1.argmax(i, 1)
v1.argmin(i, 1, "a")
v1.argmax(input=m, axis=-1, name="a", output_type=tf.int32)
v1.argmin(input=m, dimension=1, output_type=tf.int32)
v1.argmax(m, dimension=0)
v1.math.argmax(m, dimension=1)
v1.math.argmin(m, axis=1)
v1.arg_max(m, 0)
v1.arg_max(input=m, dimension=1, output_type=tf.int32, name="a")
v1.arg_min(m, 0)
v1.arg_min(input=m, dimension=1, output_type=tf.int32, name="a")
v1.norm(m)
v1.norm(m, 1)
v1.norm(m, ord=np.inf, axis=1)
v1.norm(m, "fro", [0, 1], True)
v1.norm(tensor=m, ord=2, axis=0, name="n", keep_dims=True)
v1.linalg.norm(m, keep_dims=True)
in_graph(lambda: v1.reduce_sum(v1.placeholder_with_default([[1., 2.]], [None, None]), reduction_indices=[1]))
in_graph(lambda: v1.reduce_mean(v1.placeholder_with_default([[1., 2.]], [None, None]), keep_dims=True))
in_graph(lambda: v1.argmax(v1.placeholder_with_default([[1., 2.]], [None, None]), dimension=1))
""")
GROUP.errors(
    """
v1.reduce_any(b, axis=1, reduction_indices=1)
v1.reduce_any(b, keepdims=True, keep_dims=False)
v1.count_nonzero()
v1.count_nonzero(i, input=i)
v1.count_nonzero(i, axis=0, reduction_indices=0)
v1.count_nonzero(i, keepdims=True, keep_dims=True)
v1.argmax(i, axis=1, dimension=1)
v1.argmin(i, 1, dimension=0)
v1.norm(m, keepdims=True, keep_dims=True)
""",
    message=True,
)
GROUP.errors("""
v1.argmax(i, 2)
v1.arg_max(i)
v1.norm(m, 3, [0, 1])
v1.norm(m, "x")
""")

# ---- assertions ------------------------------------------------------------------------------------------------------

GROUP.family(
    "v1.assert_{f}({how})",
    f="equal less_equal greater_equal",
    how=["i, i", "x=i, y=i, data=['d'], summarize=2, message='m', name='n'", "1, 1", "[], 1.0"],
)
GROUP.family("v1.assert_{f}({how})", f="less none_equal", how=["i, i + 1", "x=m, y=10., data=None", "[], 1."])
GROUP.family("v1.assert_{f}(i, i - 1)", f="greater none_equal")
GROUP.family(
    "v1.assert_{f}({of})", f="positive non_negative", of=["i", "x=m, data=[m], summarize=1, message='m', name='n'"]
)
GROUP.family("v1.assert_{f}({of})", f="negative non_positive", of=["-i", "x=-m, data=[m], summarize=1, message='m'"])
GROUP.family("v1.assert_{f}(i, [1, 2])", f="equal less greater less_equal greater_equal none_equal near", raises=True)
GROUP.family("v1.assert_{f}(i, 1 - i)", f="equal less less_equal near", raises=True)
GROUP.family(
    "v1.assert_{f}([1, 2], [2, 2], None, None, 'said')", f="equal greater_equal greater none_equal", raises=True
)
GROUP.family("v1.assert_{f}([-1, 0, 1], message='said')", f="positive negative non_positive non_negative", raises=True)
GROUP.values("""
v1.assert_near(m, m + 1e-7)
v1.assert_near(x=m, y=m + 0.5, rtol=0.0, atol=0.6, data=None, summarize=1, message="m", name="n")
v1.assert_near(1.0, 1.05, 0.1)
v1.assert_rank(m, 2)
v1.assert_rank(x=m, rank=tf.constant(2), data=[m], summarize=1, message="m", name="n")
v1.assert_rank_at_least(m, 1)
v1.assert_rank_at_least(x=m, rank=2, data=[m], summarize=1, message="m", name="n")
v1.assert_rank_in(m, [1, 2])
v1.assert_rank_in(x=m, ranks=(2,), data=[m], summarize=1, message="m", name="n")
v1.assert_integer(i)
v1.assert_integer(x=i, message="m", name="n")
v1.assert_type(i, tf.int32)
v1.assert_type(tensor=m, tf_type=tf.float32, message="m", name="n")
v1.assert_scalar(3)
v1.assert_scalar(tensor=tf.constant(2.5), name="n", message="m")
v1.verify_tensor_all_finite(m, "finite")
v1.verify_tensor_all_finite(x=[1.0, 2.0], message="finite", name="n")
v1.debugging.assert_all_finite(t=m, msg="finite")
v1.debugging.assert_equal(i, i)
v1.debugging.assert_rank(m, 2)
v1.debugging.is_finite(m)
""")
GROUP.errors("""
v1.assert_near(m, m + 1, data=[m])
v1.assert_rank(m, 3, message="said")
v1.assert_rank_at_least(m, 3)
v1.assert_rank_in(m, [1, 3])
v1.assert_integer(m)
v1.assert_type(m, tf.int32)

v1.assert_scalar(m)
v1.verify_tensor_all_finite([1.0, np.inf], "said")
v1.verify_tensor_all_finite(i, "said")
in_graph(lambda: v1.assert_equal(v1.placeholder_with_default([1, 2], [None]), [1, 3]))
in_graph(lambda: v1.assert_positive(v1.placeholder_with_default([1, -2], [None]), message="said"))
in_graph(lambda: v1.assert_rank(v1.placeholder_with_default([1, -2], None), 2))
""")
GROUP.errors(
    """
v1.verify_tensor_all_finite(m, "said", x=m)
v1.verify_tensor_all_finite(m, "said", message="said")
v1.verify_tensor_all_finite(m)
v1.verify_tensor_all_finite()
v1.assert_equal([1, 2, 3, 4], [1, 2, 3, 5], data=["d", 1.5], summarize=2, message="m")
v1.assert_less(1, [1, 2], ["d"], 2, "m")
v1.assert_positive([1, -2, 3, 4], data=["d", [1, 2, 3, 4]])
""",
    message=True,
)
GROUP.snippets("""
# assertions of a graph that hold
def build():
    x = v1.placeholder_with_default([1., 2.], [None])
    checks = [v1.assert_equal(x, [1., 2.]), v1.assert_less(x, 3.), v1.assert_greater(x, 0.),
              v1.assert_none_equal(x, 5.), v1.assert_less_equal(x, 2.), v1.assert_greater_equal(x, 1.),
              v1.assert_positive(x), v1.assert_non_negative(x), v1.assert_negative(-x), v1.assert_non_positive(-x),
              v1.assert_near(x, [1., 2.]), v1.assert_rank(x, 1), v1.assert_rank_at_least(x, 1),
              v1.assert_rank_in(x, [0, 1]), v1.assert_scalar(x[0]), v1.assert_type(x, tf.float32),
              v1.assert_integer(tf.cast(x, tf.int32))]
    with tf.control_dependencies([c for c in checks if isinstance(c, tf.Operation)]):
        return v1.verify_tensor_all_finite(x, "finite") + 1
in_graph(build)
""")

# ---- strings ---------------------------------------------------------------------------------------------------------

GROUP.values("""
v1.substr("tensor", 1, 3)
v1.substr(input=["tensor", "flow"], pos=[1, 2], len=[2, 1], name="s", unit="UTF8_CHAR")
v1.strings.substr("héllo", 1, 1)
v1.string_to_number("2.5")
v1.string_to_number(string_tensor=["1", "2"], out_type=tf.int64, name="n")
v1.string_to_number(input=["7"], out_type=tf.float64)
v1.strings.to_number(["1e3"])
v1.string_to_hash_bucket(["a", "b", "c"], 5)
v1.string_to_hash_bucket(string_tensor="a", num_buckets=3, name="h")
v1.string_to_hash_bucket(input="a", num_buckets=1000)
v1.strings.to_hash_bucket(["a"], 7)
v1.string_to_hash_bucket_fast(["a"], 7)
v1.string_to_hash_bucket_strong(["a"], 7, [1, 2])
v1.reduce_join(words)
v1.reduce_join(words, 0)
v1.reduce_join(inputs=words, axis=[1, 0], keep_dims=True, separator="-", name="r")
v1.reduce_join(words, reduction_indices=-1, keepdims=True)
v1.strings.reduce_join(words, 1, separator=", ")
v1.strings.length(["abc", "é"])
v1.strings.length(input=["abc", "é"], name="l", unit="UTF8_CHAR")
v1.string_join(["a", ["b", "c"]], "-")
v1.string_strip([" a "])
v1.as_string([1.5], precision=2)
v1.decode_base64("YQ")
v1.encode_base64("a")
""")
GROUP.errors("""
v1.substr("a", 5, 1)
v1.string_to_number("a")
v1.string_to_hash_bucket("a", 0)
v1.reduce_join(words, 2)
v1.strings.length("a", unit="WORD")
""")
GROUP.errors(
    """
v1.string_to_number()
v1.string_to_number("1", input="1")
v1.string_to_hash_bucket()
v1.string_to_hash_bucket("1", 3, input="1")
v1.reduce_join(words, 1, reduction_indices=1)
v1.reduce_join(words, 1, keep_dims=True, keepdims=True)
""",
    message=True,
)

# ---- parts of variables ----------------------------------------------------------------------------------------------

GROUP.family(
    "{run}(v1.scatter_{f}, {what})",
    f="update add sub mul div max min",
    run="changed changed_in_graph",
    what=["[0, 2], [7., 8.]", "1, 5.", "[[0], [1]], [[2.], [4.]]", "[1], [[4., 0.5]], [[1., 2.], [3., 4.]]"],
)
GROUP.family("changed(v1.scatter_{f}, [0, 0], [4, 3], [1, 2])", f="add sub mul max min")
GROUP.family(
    "{run}(v1.scatter_nd_{f}, {what})",
    f="update add sub",
    run="changed changed_in_graph",
    what=["[[0], [2]], [7., 8.]", "[[1, 0]], [5.], [[1., 2.], [3., 4.]]", "[[1]], [[5., 6.]], [[1., 2.], [3., 4.]]"],
)
GROUP.family("changed(v1.scatter_{f}, [0], [4.], use_locking=True, name='n')", f="update add sub mul div max min")
GROUP.family("changed(v1.scatter_nd_{f}, [[0]], [4.], use_locking=True, name='n')", f="update add sub")
GROUP.family("changed(v1.scatter_{f}, [3], [4.])", f="update add max nd_add", raises=True)
GROUP.family("changed(v1.scatter_{f}, [0], [4., 5.])", f="update add", raises=True)
GROUP.values("""
v1.assign(tf.Variable([1., 2.]), [3., 4.]).numpy()
v1.assign(ref=tf.Variable(1), value=2, validate_shape=True, use_locking=True, name="a").numpy()
v1.assign_add(tf.Variable([1, 2]), [3, 4]).numpy()
v1.assign_add(ref=tf.Variable(1.), value=2., use_locking=True, name="a").numpy()
v1.assign_sub(tf.Variable([1, 2]), [3, 4]).numpy()
v1.assign_sub(ref=tf.Variable(1.), value=2., use_locking=False, name="a").numpy()
in_graph(lambda: v1.assign(v1.Variable([1., 2.]), [3., 4.]))
in_graph(lambda: v1.assign_add(v1.Variable([1., 2.]), [3., 4.]))
in_graph(lambda: v1.assign_sub(v1.Variable([1., 2.]), [3., 4.]))
""")
GROUP.errors("""
v1.assign(tf.Variable([1., 2.]), [3.])
v1.assign(tf.constant([1., 2.]), [3., 4.])
v1.assign_add(tf.Variable(1), 1.5)
v1.assign_sub(tf.Variable([1.]), [1., 2.])
""")
GROUP.values("""
changed(v1.batch_scatter_update, [[0], [2]], [[8.], [9.]], [[1., 2., 3.], [4., 5., 6.]])
changed(v1.batch_scatter_update, [0, 2], [8., 9.], [1., 2., 3.])
changed(v1.batch_scatter_update, tf.constant([[[1, 0]]], tf.int64), tf.ones([1, 1, 2, 2]), tf.zeros([1, 1, 2, 2]))
changed_in_graph(v1.batch_scatter_update, [[0], [2]], [[8.], [9.]], [[1., 2., 3.], [4., 5., 6.]])
changed(v1.batch_scatter_update, [[0], [1]], [[8.], [9.]], [[1., 2.], [3., 4.]], use_locking=False, name="b")
v1.quantize_v2([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8, "MIN_COMBINED", "q", "HALF_AWAY_FROM_ZERO")
v1.quantize_v2([-1.0, 0.3, 1.0], -1.0, 1.0, tf.qint8, mode="SCALED", round_mode="HALF_TO_EVEN", narrow_range=True)
""")
GROUP.errors("""
changed(v1.batch_scatter_update, [[3]], [[8.]], [[1., 2.]])
""")
