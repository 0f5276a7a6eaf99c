"""Limits and dtypes at the edge of what functions of TensorFlow 1 take."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
shape = tf.TensorShape

def in_graph(f):
    with tf.Graph().as_default():
        return f()

def summary(f, *args, **options):
    def run():
        with v1.Session() as session:
            found = v1.Summary.FromString(session.run(f("name", *args, **options)))
            return [(v.tag, v.WhichOneof("value"), v.simple_value, v.histo.num) for v in found.value]
    return in_graph(run)
""")
GROUP.values("""
list(v1.variable_axis_size_partitioner(1)(shape=shape([4]), dtype=tf.int8))
list(v1.variable_axis_size_partitioner(16, bytes_per_string_element=1)(shape=shape([40]), dtype=tf.string))
list(v1.variable_axis_size_partitioner(16, max_shards=1)(shape=shape([40]), dtype=tf.float32))
list(v1.variable_axis_size_partitioner(16, max_shards=3)(shape=shape([40]), dtype=tf.float32))
list(v1.variable_axis_size_partitioner(1 << 20)(shape=shape([40]), dtype=tf.float32))
list(v1.variable_axis_size_partitioner(8, axis=1)(shape=shape([2, 4]), dtype=tf.float32))
list(v1.min_max_variable_partitioner()(shape=shape([1 << 20]), dtype=tf.float32))
list(v1.min_max_variable_partitioner(4)(shape=shape([1 << 18]), dtype=tf.float32))
list(v1.min_max_variable_partitioner(4)(shape=shape([1 << 14]), dtype=tf.string))
list(v1.min_max_variable_partitioner(4)(shape=shape([1 << 15]), dtype=tf.string))
list(v1.min_max_variable_partitioner(4, axis=1, min_slice_size=8)(shape=shape([2, 3]), dtype=tf.float32))
list(v1.min_max_variable_partitioner(4, min_slice_size=1)(shape=shape([3]), dtype=tf.string))
list(v1.fixed_size_partitioner(1)(shape=shape([7, 2]), dtype=tf.float32))
list(v1.fixed_size_partitioner(9)(shape=shape([7, 2]), dtype=tf.float32))
list(v1.fixed_size_partitioner(2, axis=1)(shape=shape([7, 2]), dtype=tf.float32))
list(v1.min_max_variable_partitioner(0)(shape=shape([4]), dtype=tf.float32))
summary(v1.summary.scalar, 1.5)
summary(v1.summary.scalar, 3)
summary(v1.summary.scalar, np.uint8(3))
summary(v1.summary.scalar, np.float16(3))
summary(v1.summary.histogram, [1., 2.])
summary(v1.summary.histogram, [1, 2])
summary(v1.summary.scalar, 1.5, family="f")
""")
GROUP.errors("""
v1.decode_raw('ab')
v1.decode_raw(out_type=tf.uint8)
v1.decode_raw('ab', tf.uint8, bytes='c')
v1.variable_axis_size_partitioner(-1)
v1.variable_axis_size_partitioner(8, max_shards=-1)
summary(v1.summary.scalar, "text")
summary(v1.summary.scalar, True)
summary(v1.summary.scalar, 1j)
summary(v1.summary.histogram, ["text"])
summary(v1.summary.histogram, [1j])
summary(v1.summary.scalar, [1., 2.])
""")
