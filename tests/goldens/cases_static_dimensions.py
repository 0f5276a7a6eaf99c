"""Static shapes in functions: what broadcasts, shapes computed from shapes, and captured shapes keep of dimensions."""

from goldens.case import Group

GROUP = Group("""
def shapes(f, *specs):
    g = tf.function(f, autograph=False).get_concrete_function(*[tf.TensorSpec(s) for s in specs])
    return [t.shape for t in tf.nest.flatten(g.structured_outputs)]

def looped(size, x):
    s = size(x)
    draw = lambda i, z: (i + 1, tf.where(tf.random.uniform(s) < 0.5, z, tf.zeros(s)))
    return tf.while_loop(lambda i, z: i < 2, draw, (0, tf.zeros(s)))[1]

X = (None, 1, 50)
""")

GROUP.values("""
shapes(lambda x: looped(tf.shape, x), X)
shapes(lambda x: looped(lambda x: tf.concat([tf.shape(x)[:1], [1, 50]], 0), x), X)
shapes(lambda x: looped(lambda x: tf.stack([tf.shape(x)[0], 1, 50]), x), X)
shapes(lambda x: looped(lambda x: tf.cast(tf.shape(x, tf.int64), tf.int32), x), X)
shapes(lambda x: tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, tf.where(z > 0, z, x)), (0, x)), X)
shapes(lambda x: tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, tf.broadcast_to(z, tf.shape(x))), (0, x)), X)
shapes(lambda x: tf.cond(x[0, 0, 0] > 0, lambda: tf.zeros(tf.shape(x)), lambda: x), X)
shapes(lambda x: (lambda s: tf.cond(x[0, 0, 0] > 0, lambda: tf.zeros(s), lambda: tf.ones(s)))(tf.shape(x)), X)
shapes(lambda x: (lambda s: tf.function(lambda: tf.reshape(x, s))())(tf.shape(x)[:2]), (None, 1))
shapes(lambda x: [tf.zeros([n]) for n in tf.unstack(tf.shape(x))], X)
shapes(lambda x, y: [tf.zeros(s) for s in tf.shape_n([x, y])], X, (None, 3))
shapes(lambda x, y: [x + y, tf.where(x > 0, x, y), tf.maximum(x, y)], X, (None, None, 50))
shapes(lambda x, y: [x + y, tf.where(x > 0, x, y), tf.maximum(x, y)], (None, 1), (7, None))
shapes(lambda x: tf.broadcast_to(x, tf.broadcast_dynamic_shape(tf.shape(x), [4, 1, 1])), X)
shapes(lambda c, x, y: tf.raw_ops.Select(condition=c > 0, x=x, y=y), None, None, X)
shapes(lambda c, x, y: tf.raw_ops.Select(condition=c > 0, x=x, y=y), (None,), None, X)
shapes(lambda c, x, y: tf.raw_ops.Select(condition=c > 0, x=x, y=y), (3, 1, None), None, X)
shapes(lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y), X, None)
shapes(lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y), None, X)
""")

GROUP.errors("""
shapes(lambda c, x, y: tf.raw_ops.Select(condition=c > 0, x=x, y=y), (3,), (2, 1), None)
shapes(lambda c, x, y: tf.raw_ops.Select(condition=c > 0, x=x, y=y), (3, 1), (3, 2), None)
""")
