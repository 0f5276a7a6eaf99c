"""Names that the cases of raw ops share."""

PREPARATION = """
R = tf.raw_ops
x = tf.constant([[4., 1., 3.], [2., 5., 9.]])
i = tf.constant([[4, 1, 3], [-2, 5, 9]])
v = tf.Variable([1., 2., 3.])
img = tf.reshape(tf.range(48, dtype=tf.float32), [1, 4, 4, 3])
O = dict(output_types=[tf.int64], output_shapes=[[]])

def i64(value):
    return tf.constant(value, tf.int64)

def rng(n=5):
    return R.RangeDataset(start=0, stop=n, step=1, output_types=[tf.int64], output_shapes=[[]])

def items(dataset, types=(tf.int64,), shapes=([],)):
    it = R.AnonymousIteratorV3(output_types=types, output_shapes=shapes)
    R.MakeIterator(dataset=dataset, iterator=it)
    out = []
    try:
        for _ in range(12):
            element = R.IteratorGetNext(iterator=it, output_types=types, output_shapes=shapes)
            out.append([t.numpy().tolist() if t.dtype != tf.variant else "variant" for t in element])
    except tf.errors.OutOfRangeError:
        pass
    return out

def fn(f, *specs):
    return tf.function(f, autograph=False).get_concrete_function(*[tf.TensorSpec([], s) for s in specs])
"""
