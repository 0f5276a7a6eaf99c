"""Reductions, scans, segments, sorting and searching."""

from goldens.case import Group

GROUP = Group("""
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
x = tf.reshape(tf.range(24, dtype=tf.float32), [2, 3, 4]) / 4 - 2
i = tf.constant([[1, 5, 3], [4, 2, 6]])
b = tf.constant([[True, False, True], [True, True, True]])
""")

FLOATING = "sum mean max min prod std variance logsumexp euclidean_norm"
GROUP.family(
    "tf.math.reduce_{f}({x})", f=FLOATING, x=["m", "x", "tf.constant(3.5)", "[2.0, 4.0]", "tf.Variable([1.0, 4.0])"]
)
GROUP.family(
    "tf.math.reduce_{f}({x})",
    f=FLOATING,
    x=["m, axis=0", "m, 1", "m, -1, True", "m, [0, 1]", "x, axis=[0, 2]", "x, axis=(-1,), keepdims=True", "x, []"],
)
GROUP.family(
    "tf.math.reduce_{f}(tf.constant([1.5, -2.0, 3.0], tf.{dtype}))",
    f="sum mean max min prod",
    dtype="float16 bfloat16 float64",
)
GROUP.family(
    "tf.math.reduce_{f}(i{axis})", f="sum mean max min prod", axis=["", ", axis=0", ", axis=-1, keepdims=True"]
)
GROUP.family(
    "tf.math.reduce_{f}(tf.constant([100, 100, 7], tf.{dtype}))", f="sum max min prod mean", dtype="int8 uint8 int64"
)
GROUP.family("tf.math.reduce_{f}(tf.constant([1 + 2j, 3 - 1j]))", f="sum mean prod std variance euclidean_norm")
GROUP.family("tf.math.reduce_{f}(tf.zeros([{shape}]){axis})", f=FLOATING, shape="0 0,3", axis=["", ", axis=0"])
GROUP.family("tf.math.reduce_{f}([1.0, float('nan'), float('inf')])", f=FLOATING)
GROUP.family("tf.math.reduce_{f}(tf.zeros([0], tf.int32))", f="sum prod max min")
GROUP.family(
    "tf.reduce_{f}(b{axis})", f="all any", axis=["", ", axis=0", ", 1", ", axis=-1, keepdims=True", ", axis=[0, 1]"]
)
GROUP.family("tf.reduce_{f}(tf.zeros([0], tf.bool))", f="all any")
GROUP.family("tf.reduce_{f}(input_tensor=[True, False], axis=None, keepdims=False, name='r')", f="all any")
GROUP.family(
    "tf.reduce_{f}(input_tensor=[[1.0, 2.0]], axis=1, keepdims=True, name='r')", f="sum mean max min prod logsumexp"
)
GROUP.family("tf.reduce_{f}(tf.ragged.constant([[1., 2.], [], [3.]]), axis=1)", f="sum mean max min prod")

GROUP.family(
    "tf.math.{f}({x})",
    f="cumsum cumprod cumulative_logsumexp",
    x=["m", "m, axis=1", "m, axis=-1, exclusive=True", "m, axis=0, reverse=True", "m, 1, True, True", "tf.zeros([0])"],
)
GROUP.family("tf.math.{f}([1, 2, 3, 4])", f="cumsum cumprod")
GROUP.family(
    "tf.math.segment_{f}({x})",
    f="sum mean max min prod",
    x=[
        "[1., 2., 3., 4.], [0, 0, 1, 3]",
        "x[0], [0, 0, 2]",
        "[1, 2, 3], tf.constant([0, 1, 1], tf.int64)",
        "tf.zeros([0]), tf.zeros([0], tf.int32)",
    ],
)
GROUP.family(
    "tf.math.unsorted_segment_{f}({x})",
    f="sum mean max min prod sqrt_n",
    x=[
        "[1., 2., 3., 4.], [0, 2, 0, 2], 4",
        "x[0], [1, 0, 1], num_segments=2",
        "[1., 2.], [-1, 0], 2",
        "m, [[0, 1, 1], [1, 0, 2]], 3",
    ],
)
GROUP.family("tf.math.unsorted_segment_{f}([1, 2, 3], [0, 0, 2], 3)", f="sum max min prod")
GROUP.family(
    "tf.{f}({x})",
    f="argmax argmin",
    x=["m", "m, 1", "m, axis=-1", "[3, 1, 3]", "[1.0, float('nan'), 2.0]", "x, axis=2", "m, 0, tf.int32",
       "[True, False]", "tf.constant([1, 2], tf.uint8)", "input=[1, 2], axis=0, output_type=tf.int64, name='a'"],
)  # fmt: skip
GROUP.family("tf.sort({x})", x="""
[3, 1, 2]
m
m, axis=0
m, direction='DESCENDING'
[3.5, -1.0, 2.0], -1, 'ASCENDING'
x, axis=1, direction='DESCENDING'
tf.constant([3, 1, 2], tf.uint8)
tf.constant([3, 1, 2], tf.int64), direction='DESCENDING'
tf.zeros([0])
tf.constant([2.5, -1.0], tf.float16)
""")  # fmt: skip
GROUP.family("tf.argsort({x})", x="""
[3, 1, 2]
m
m, axis=0
m, direction='DESCENDING'
[2, 1, 2, 1], stable=True
[2, 1, 2, 1], direction='DESCENDING', stable=True
x, axis=1
tf.constant([3, 1, 2], tf.int8)
tf.zeros([0])
""")  # fmt: skip
GROUP.values("""
[tf.math.is_non_decreasing(tf.constant(v, tf.uint8)) for v in ([3, 1], [1, 1], [1, 200])]
[tf.math.is_strictly_increasing(tf.constant(v, tf.uint8)) for v in ([3, 1], [1, 1], [1, 200])]
[f(tf.constant([-100, 100], tf.int8)) for f in (tf.math.is_strictly_increasing, tf.math.is_non_decreasing)]
tf.reduce_mean(tf.fill([4], tf.constant(60000., tf.float16)))
tf.reduce_sum(tf.constant([[60000.], [60000.], [-60000.]], tf.float16), 0)
tf.math.top_k([1., 5., 3., 2.], 2)
tf.math.top_k(m, k=2)
tf.math.top_k([3, 1, 2])
tf.math.top_k(m, 2, sorted=False).values.shape
tf.math.top_k([1, 1, 1], 2)
tf.math.top_k([3, 1, 2], 0)
tf.math.top_k([3, 1, 2], 3, index_type=tf.int16)
tf.math.top_k(tf.constant([1.5, 2.5], tf.bfloat16), 1)
tf.math.top_k(input=[1, 2], k=1, sorted=True, name='t')
tf.nn.top_k([1., 5., 3.], 1).indices
tf.math.count_nonzero([0, 1, 2, 0])
tf.math.count_nonzero(m - 1, axis=0)
tf.math.count_nonzero([[0, 1], [1, 1]], axis=1, keepdims=True)
tf.math.count_nonzero(['', 'a', 'b'])
tf.math.count_nonzero([True, False])
tf.math.count_nonzero([1.0, 0.0], dtype=tf.int32)
tf.math.count_nonzero(tf.zeros([0]))
tf.math.bincount([1, 1, 2, 5])
tf.math.bincount([1, 1, 2], minlength=5)
tf.math.bincount([1, 5, 2], maxlength=3)
tf.math.bincount([1, 1, 2], weights=[0.5, 1.5, 2.0])
tf.math.bincount([[1, 1], [2, 0]], axis=-1)
tf.math.bincount([[1, 1], [2, 0]], axis=-1, binary_output=True)
tf.math.bincount([], minlength=3)
tf.math.bincount(tf.zeros([0], tf.int32))
tf.math.bincount([[1, 1], [2, 0]])
tf.math.bincount([1, 2], dtype=tf.int64)
tf.math.bincount([[1, 1], [2, 0]], weights=[[1., 2.], [3., 4.]], axis=-1)
tf.math.confusion_matrix([1, 2, 4], [2, 2, 4])
tf.math.confusion_matrix([0, 1], [1, 1], num_classes=3)
tf.math.confusion_matrix([0, 1], [1, 1], weights=[0.5, 2.0])
tf.math.confusion_matrix([0, 1], [1, 1], dtype=tf.float64)
tf.math.confusion_matrix(labels=[0, 1], predictions=[0, 1], num_classes=2, name='c')
tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
tf.histogram_fixed_width([1, 2, 3], [0, 4], nbins=2)
tf.histogram_fixed_width([1.0], [0.0, 2.0], 4, dtype=tf.int64)
tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
tf.unique([1, 1, 2, 4, 4, 4, 7])
tf.unique(['a', 'b', 'a'])
tf.unique([1.5, 1.5, 0.5], tf.int64)
tf.unique([])
tf.unique_with_counts([1, 1, 2, 4, 4])
tf.unique_with_counts(['a', 'b', 'a'], out_idx=tf.int64)
tf.searchsorted([1, 3, 5, 7], [0, 3, 4, 9])
tf.searchsorted([1, 3, 5, 7], [0, 3, 4, 9], side='right')
tf.searchsorted([1.0, 3.0], [2.0], 'left', tf.int64)
tf.searchsorted([[1, 3], [2, 6]], [[2, 3], [1, 7]])
tf.searchsorted(tf.zeros([0]), [1.0])
tf.where([True, False, True])
tf.where([[True, False], [False, True]])
tf.where([1, 0, 2])
tf.where([0.0, 0.5])
tf.where(tf.zeros([0, 2], tf.bool))
tf.where([True, False], [1, 2], [10, 20])
tf.where([[True], [False]], [1, 2], [[10, 20], [30, 40]])
tf.where(True, 1.0, [2.0, 3.0])
tf.where([True, False], x=1, y=0)
tf.where([True, False], 1.5, 2)
tf.where(condition=[True], x=['a'], y=['b'], name='w')
tf.where(m > 3, m, 0.0)
tf.where(m > 3, m, tf.zeros_like(m))
tf.where([True, False], [1.0, float('nan')], 0.0)
tf.where(tf.constant([True, False]), 1 + 2j, 0)
tf.reduce_sum(tf.IndexedSlices(tf.constant([[1., 2.]]), tf.constant([1]), tf.constant([3, 2])))
tf.reduce_sum(tf.constant([], tf.float32))
tf.reduce_sum(m, axis=tf.constant(1))
tf.reduce_sum(m, axis=tf.constant([0, 1]))
tf.reduce_sum(m, np.int64(0))
tf.reduce_sum([[1, 2], [3]][0])
tf.reduce_max([1])
tf.reduce_mean([1, 2, 4])
tf.reduce_mean([1.0])
tf.reduce_logsumexp([0.0, 0.0])
tf.reduce_logsumexp([-float('inf'), -float('inf')])
tf.reduce_logsumexp([1000.0, 1000.0])
tf.math.reduce_std([1.0, 2.0, 4.0])
tf.math.reduce_variance([[1.0, 2.0], [3.0, 4.0]], 0)
tf.norm([3.0, 4.0])
tf.norm(m)
tf.norm(m, ord=1)
tf.norm(m, ord=np.inf)
tf.norm(m, axis=1)
tf.norm(m, ord=1, axis=0, keepdims=True)
tf.norm(m, ord=np.inf, axis=-1)
tf.norm(m, ord='fro', axis=[0, 1])
tf.norm(m, ord=3, axis=1)
tf.norm(x, ord='euclidean', axis=[-2, -1])
tf.norm(tf.constant([3 + 4j], tf.complex64))
tf.norm(tensor=[1.0, 2.0], ord=2, name='n')
tf.norm(m, ord=2, axis=[0, 1])
tf.norm(m, ord=1, axis=(0, 1))
tf.math.bincount([1.5])
tf.searchsorted([[1, 2]], [1])
""")
GROUP.family("tf.math.reduce_{f}([1.0, 2.0], axis=1)", f=FLOATING, raises=True)
GROUP.family("tf.math.reduce_{f}([1.0, 2.0], axis=-2)", f=FLOATING, raises=True)
GROUP.family("tf.math.reduce_{f}('text')", f=FLOATING, raises=True)
GROUP.family("tf.math.reduce_{f}([True])", f="sum mean max min prod std logsumexp", raises=True)
GROUP.family("tf.math.reduce_{f}([1, 2])", f="std variance", raises=True)
GROUP.family("tf.math.{f}(m, axis=2)", f="cumsum cumprod cumulative_logsumexp", raises=True)
GROUP.family("tf.math.{f}(['a'])", f="cumsum cumprod cumulative_logsumexp", raises=True)
GROUP.family("tf.math.segment_{f}([1., 2.], [1, 0])", f="sum mean max min prod", raises=True)
GROUP.family("tf.math.segment_{f}([1., 2.], [0])", f="sum mean max min prod", raises=True)
GROUP.family("tf.math.unsorted_segment_{f}([1., 2.], [0, 5], 2)", f="sum max prod", raises=True)
GROUP.family("tf.math.unsorted_segment_{f}([1., 2.], [0], 2)", f="sum max prod", raises=True)
GROUP.family("tf.{f}(m, axis=2)", f="argmax argmin sort argsort", raises=True)
GROUP.family("tf.{f}(['b', 'a'])", f="argmax argmin sort argsort", raises=True)
GROUP.errors("""
tf.reduce_sum(m, axis=[0, 0])
tf.reduce_sum(m, axis='a')
tf.reduce_sum(m, axis=0.5)
tf.reduce_sum(None)
tf.reduce_sum([1.0], keep_dims=True)
tf.reduce_all([1, 0])
tf.reduce_any([0.0])
tf.reduce_all([True], axis=3)
tf.reduce_sum(tf.constant([1.0]), axis=tf.constant(4))
tf.argmax(3)
tf.argmax(tf.zeros([0]))
tf.argmax([1, 2], output_type=tf.float32)
tf.sort([1, 2], direction='UP')
tf.sort(5)
tf.sort([1 + 2j, 3])
tf.argsort([1, 2], direction='up')
tf.math.top_k([1, 2], 3)
tf.math.top_k(5)
tf.math.top_k([1, 2], -1)
tf.math.top_k(['a'], 1)
tf.math.bincount([-1])
tf.math.bincount([1, 2], weights=[1.0])
tf.math.bincount([1], axis=3)
tf.math.confusion_matrix([-1], [0])
tf.math.confusion_matrix([0], [5], num_classes=2)
tf.math.confusion_matrix([0, 1], [0])
tf.math.count_nonzero([1], axis=2)
tf.histogram_fixed_width([1.0], [5.0, 0.0])
tf.histogram_fixed_width([1.0], [0.0, 5.0], nbins=0)
tf.unique([[1, 2]])
tf.unique(5)
tf.searchsorted([1, 2], [1.5])
tf.searchsorted([1, 2], [1], side='middle')
tf.where([True, False], 1)
tf.where([True, False], [1, 2, 3], [4, 5, 6])
tf.where([True], 1, 'a')
tf.where([True], tf.constant(1), tf.constant(1.0))
tf.where(['a'])
tf.where(1, 2, 3)
tf.norm([1, 2])
tf.norm([1.0], ord='nope')
tf.norm(m, ord=-1)
tf.norm(m, axis=[0, 1, 2])
tf.norm(m, ord='fro', axis=0)
tf.norm([1.0], axis=3)
""")
