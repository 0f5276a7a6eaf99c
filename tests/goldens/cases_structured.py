"""`tf.experimental.StructuredTensor`: from Python values and fields, its parts, changes and errors, in functions and
datasets."""

from goldens.case import Group

GROUP = Group("""
S, R, D = tf.experimental.StructuredTensor, tf.experimental.RowPartition, tf.experimental.DynamicRaggedShape
a = S.from_pyval([{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}])
b = S.from_pyval([[{"x": 1}], [{"x": 2}, {"x": 3}]])
c = S.from_fields({"a": tf.reshape(tf.range(24.), [2, 3, 4])}, shape=[2, 3])
d = S.from_pyval([{"p": [{"q": 1}, {"q": 2}]}, {"p": [{"q": 3}]}])
empty = S.from_fields({}, shape=[3])
one = S.from_pyval({"s": {"t": 1.5}})
ragged = tf.ragged.constant
def known(s):
    return [str(s.shape), s.rank, repr(s.row_partitions), sorted(s.field_names())]
def pyval(s):
    return by_name(s.to_pyval())
def by_name(v):  # the order of fields is open
    return dict(sorted((k, by_name(w)) for k, w in v.items())) if type(v) is dict else (
        [by_name(w) for w in v] if type(v) is list else v)
def spec(s):
    return repr(tf.type_spec_from_value(s))
def run(function, *args):
    return tf.function(function, autograph=False)(*args)
def elements(s, *steps):
    ds = tf.data.Dataset.from_tensor_slices(s)
    for step in steps:
        ds = step(ds)
    return [repr(e) for e in ds]
""")

GROUP.values("""
[repr(a), repr(b), repr(c), repr(d), repr(empty), repr(one)]
known(a)
known(b)
known(c)
known(d)
known(empty)
known(one)
[spec(b), spec(c), spec(empty), spec(one)]
sorted(repr(item) for item in a._type_spec._field_specs.items())
[a.nrows(), b.nrows(), c.nrows(), one.nrows()]
[pyval(s) for s in (a, b, d, empty, one)]
pyval(c.merge_dims(0, 1))
pyval(S.from_fields({}, shape=[2, 3]))
known(S.from_shape(D.from_lengths([2, (1, 2)])))
pyval(S.from_shape(D.from_lengths([2, (1, 2)])))
repr(S.from_fields({"a": tf.zeros([2, 3]), "b": ragged([[1], [2, 3]])}, shape=[2]))
known(S.from_fields({"a": tf.zeros([2, 3]), "b": ragged([[1, 1, 1], [2, 3, 4]])}, shape=[2, None]))
known(S.from_fields({"a": ragged([[[1], [2]], [[3]]])}, shape=[None, None]))
known(S.from_fields({}, shape=[None], nrows=tf.constant(3)))
known(S.from_fields({}, shape=[2, None], row_partitions=[R.from_row_lengths([1, 2])]))
known(S.from_fields({"a": ragged([[1], [2, 3]])}, [None, None], row_partitions=[R.from_row_lengths([1, 2])]))
[known(S.from_fields_and_rank({"a": tf.zeros([2, 3])}, rank)) for rank in (0, 1, 2)]
spec(S.from_fields_and_rank({"a": ragged([[1]], row_splits_dtype=tf.int32)}, 2))
pyval(S.from_fields({"a": a, "c": [1, 2]}, shape=[2]))
[S.from_pyval(v) for v in ([1, 2], 3, [])]
[repr(S.from_pyval(v)) for v in ([{}, {}], [[{}], [{}, {}]], {})]
pyval(a[1:])
[pyval(a[0]), pyval(b[1]), pyval(b[1, 0]), pyval(c[1, 2]), pyval(d[0])]
[repr(b[:, :1]), repr(c[:, 1:]), repr(c[0]), repr(d[1:])]
[a[:, "b"], b[1, 1, "x"], a[0, "b", 1:], c[0, 1, "a", :2], one["s", "t"], repr(one[:, "t"]), a[()] is a]
repr(one["s"])
[repr(b.merge_dims(0, 1)), repr(c.merge_dims(0, -1))]
repr(a.partition_outer_dimension(R.from_row_lengths([0, 2])))
repr(c.partition_outer_dimension(R.from_uniform_row_length(1, 2)))
repr(d.partition_outer_dimension(R.from_uniform_row_length(2, 2)))
repr(a.with_updates({"c": [7, 8], "a": None}))
repr(a.with_updates({"a": lambda v: v * 2}))
repr(d.with_updates({("p", "z"): ragged([[5, 6], [7]])}))
repr(d.with_updates({("p", "q"): None, "r": ["x", "y"]}))
repr(d.promote(("p", "q"), "n"))
repr(S.from_pyval({"u": [{"v": [{"w": 1}]}, {"v": [{"w": 2}, {"w": 3}]}]}).promote(("u", "v", "w"), "n"))
[d.field_value(("p", "q")), d.field_value(["p", "q"]), a.field_value("a")]
[a.with_shape_dtype(tf.int32).nrows(), b.with_shape_dtype(tf.int32).row_partitions[0].row_splits()]
b.with_shape_dtype(tf.int32).field_value("x").row_splits.dtype
a == a
tf.nest.flatten(b, expand_composites=True)
repr(run(lambda s: s.with_updates({"c": s.field_value("a") * 2}), a))
repr(run(lambda s: s.merge_dims(0, 1), c))
repr(run(lambda s: s[0], c))
run(lambda s: s.nrows(), b)
run(lambda v: S.from_fields({"v": v}, shape=[None]).field_value("v"), tf.constant([1, 2]))
elements(a)
elements(b)
elements(c)
elements(d)
elements(a, lambda ds: ds.batch(2))
elements(b, lambda ds: ds.batch(2))
elements(c, lambda ds: ds.batch(2))
elements(empty, lambda ds: ds.batch(2))
elements(a, lambda ds: ds.map(lambda s: s.field_value("a")))
repr(tf.data.Dataset.from_tensor_slices(b).element_spec)
tf.map_fn(lambda s: s.field_value("a") * 2, a, fn_output_signature=tf.int32)
pyval(S.from_pyval([{"a": 1, "b": [3]}, {"a": 5, "b": []}], a._type_spec))
[pyval(S.from_pyval({"s": {"t": 2}}, one._type_spec)), pyval(S.from_pyval([[{"x": 1}], []], b._type_spec))]
repr(S.Spec._from_fields_and_rank({"a": tf.TensorSpec([2, None])}, 1))
repr(S.Spec._from_fields_and_rank({"a": tf.TensorSpec([2, None, 3])}, 2))
repr(S.Spec._from_fields_and_rank({"a": tf.RaggedTensorSpec([2, None])}, 2))
[a._type_spec.is_compatible_with(b), a._type_spec.is_compatible_with(a), str(b._type_spec.shape), b._type_spec.rank]
""")

GROUP.errors(
    """
    a[None]
    a["a"]
    a["a", 0]
    a[...]
    one[0]
    b.merge_dims(1, 0)
    b.merge_dims(0, 5)
    a.partition_outer_dimension([1, 1])
    one.partition_outer_dimension(R.from_row_lengths([1]))
    d.field_value(("p", "nope"))
    d.field_value("x")
    d.promote(("p",), "x")
    d.promote("p", "x")
    d.promote(("p", "q"), 3)
    a.with_updates({"z": None})
    a.with_updates({"z": lambda x: x})
    a.with_updates({("z", "y"): 1})
    a.with_updates({"a": 1, ("a", "b"): 2})
    a.with_updates({"a": [1]})
    a.with_updates({"": [1, 2]})
    d.with_updates({("p", "q"): [1]})
    S.from_fields([1])
    S.from_fields({}, shape=None)
    S.from_fields({}, row_partitions=[R.from_row_lengths([1])], shape=[None])
    S.from_fields({}, shape=(), nrows=3)
    S.from_fields({}, shape=[None, None, None], row_partitions=[R.from_row_lengths([1])])
    S.from_fields({}, shape=[None])
    S.from_fields({}, shape=[None, None])
    S.from_fields({1: 2})
    S.from_fields({"a b": 2})
    S.from_fields({"a": [1], "b": [1, 2]}, shape=[None])
    S.from_fields({"a": tf.zeros([2, 3]), "b": ragged([[1], [2, 3]])}, shape=[2, None])
    S.from_fields({"a": [1, 2]}, shape=[3])
    S.from_fields({"a": [1, 2]}, shape=[None], nrows=3)
    S.from_fields_and_rank({}, 1)
    S.from_fields_and_rank({"a": 1}, -1)
    S.from_fields_and_rank({"a": 1}, "x")
    S.from_pyval([{"a": 1}, {"b": 2}])
    S.from_pyval([{"a": 1}, [{"a": 2}]])
    S.from_pyval([{"a": 1}, {"a": "x"}])
    S.from_pyval([{"a": 1}, 3])
    S.from_pyval([{"x": 2}], one._type_spec)
    S.from_pyval(3, one._type_spec)
    S.Spec._from_fields_and_rank({"a": tf.RaggedTensorSpec([2, None])}, 3)
    hash(a)
    """,
    message=True,
)

GROUP.errors("""
S.from_fields({"a": object()})
S.from_fields({"a": 1}, shape=[1])
""")
