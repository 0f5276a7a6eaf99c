"""Values and gradients at ties, borders, NaN and the largest numbers, at once and in functions."""

from goldens.case import Group

GROUP = Group("""
nan = float('nan')
V = [0., 1., -1., .5, 2., 0., 3., 3., -0., 1.]
W = [0., 1., 1., .5, -2., 1., 3., 0., 0., 1.]
Z = tf.constant([[1 + 2j, 2], [3j, 4 - 1j]], tf.complex128)

def grad(f, *xs):
    xs = [tf.constant(x) for x in xs]

    def gradients(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        return tape.gradient(y, xs)

    return gradients(*xs), tf.function(gradients, autograph=False)(*xs)

x = tf.reshape(tf.range(24), [2, 3, 4])

def both(f, *xs):
    return f(*xs), tf.function(f, autograph=False)(*xs)
""")

GROUP.values("""
grad(lambda x: tf.sign(x) * tf.maximum(tf.abs(x) - 1.0, 0.0), V)
grad(lambda x: tf.nn.relu(x - 1.0) - tf.nn.relu(-x - 1.0), V)
grad(lambda x: tf.where(tf.abs(x) <= 1.0, 0.0, x - tf.sign(x)), V)
grad(lambda x: tf.clip_by_value(tf.abs(x), 0.0, 1.0), V)
grad(lambda x: tf.reduce_max(tf.nn.relu6(x)), V)
grad(lambda x, y: tf.experimental.numpy.logaddexp(x, y), V, W)
grad(lambda x: tf.experimental.numpy.logaddexp(x, x), V)
grad(lambda x, y: tf.reduce_logsumexp(tf.stack([x, y]), 0), V, W)
grad(lambda x, y: tf.maximum(tf.abs(x), tf.nn.relu(y)), V, W)
grad(lambda x, y: tf.where(x >= y, x, y) - tf.minimum(x, y), V, W)
grad(lambda x: tf.sqrt(tf.nn.relu6(x)), V)
grad(lambda x: tf.math.xlogy(x, tf.nn.relu6(x)), V)
grad(tf.nn.relu6, [nan, -1.0, 0.0, 6.0, 7.0])
grad(lambda x: tf.linalg.det(x), Z)
grad(lambda x: tf.math.real(tf.linalg.det(tf.stack([x, 2.0 * x]))), Z)
grad(lambda x: tf.math.abs(tf.linalg.det(x)), Z)
[tf.reduce_mean(tf.fill([n], tf.constant(300.0, tf.float16))) for n in (2, 16, 100, 218, 219, 300)]
[tf.reduce_mean(tf.fill([n, 3], tf.constant(60000.0, tf.float16)), 0) for n in (1, 2, 16, 17)]
[tf.reduce_mean(tf.fill([3, n], tf.constant(60000.0, tf.float16)), 1, keepdims=True) for n in (1, 2, 16, 17)]
[tf.reduce_mean(tf.fill([2, 3, n], tf.constant(30000.0, tf.float16)), (0, 2)) for n in (1, 2)]
tf.function(tf.reduce_mean)(tf.fill([4, 4], tf.constant(60000.0, tf.float16)))
tf.reduce_mean(tf.zeros([0, 3], tf.float16), 0)
both(lambda: tf.linspace(0.0, 1.0, True))
both(lambda: tf.linspace(2, 1, num=True))
tf.raw_ops.UnicodeDecode(input=[[['ab', 'c'], ['', 'd']]], input_encoding='UTF-8')
tf.raw_ops.UnicodeDecodeWithOffsets(input=[['ab', 'c'], ['', 'd']], input_encoding='UTF-8')
both(lambda a: tf.boolean_mask(x, [True, False, True], axis=a), tf.constant(1))
both(lambda a: tf.boolean_mask(x, [True, False, False, True], axis=a), tf.constant(2))
both(lambda a: tf.boolean_mask(x, [[True, False, True], [True] * 3], a), tf.constant(0))
""")
