"""Calls with bad arguments in branches that are not taken and loops that do not run: which are refused while traced."""

from goldens.case import Group

GROUP = Group("""
C = tf.constant

def untaken(call, *args):
    \"\"\"Says for each place of the arguments, and each kind of code that does not run, whether tracing fails.\"\"\"
    eager = [C(a) for a in args]

    def trace(structure, place):
        def run(taken):
            outside = [C(a) for a in args] if place == 'constants around' else [tf.identity(C(a)) for a in args]

            def branch():
                inside = {'numbers': lambda: args, 'constants': lambda: [C(a) for a in args], 'eager': lambda: eager,
                          'identities': lambda: [tf.identity(C(a)) for a in args]}
                result = call(*inside.get(place, lambda: outside)())
                tf.nest.map_structure(tf.identity, result)
                return 1

            if structure == 'cond':
                return tf.cond(taken, branch, lambda: 0)
            if structure == 'while':
                return tf.while_loop(lambda i: taken, lambda i: (i + branch(),), (C(0),))[0]
            inner = tf.function(branch, autograph=False)
            return tf.cond(taken, lambda: tf.cond(taken, inner, lambda: 0), lambda: 0)

        try:
            return int(tf.function(run, autograph=False)(C(False)))
        except Exception as error:
            return type(error).__name__

    places = ['numbers', 'constants', 'identities', 'eager', 'constants around', 'identities around']
    return {s: [trace(s, p) for p in places] for s in ('cond', 'while', 'functions')}

x, v = tf.zeros([4, 3]), tf.zeros([4])
""")

GROUP.values("""
untaken(lambda a, b: tf.range(a, b), 1, 0)
untaken(lambda a, b, c: tf.range(a, b, c), 1, 5, 0)
untaken(lambda s: tf.reshape(v, s), [4, 2])
untaken(lambda s: tf.reshape(v, s), [-1, 3])
untaken(lambda s: tf.reshape(v, s), [-5, 4])
untaken(lambda s: (tf.cond(v[0] > 0, lambda: s, lambda: -s), tf.reshape(v, s)), [4, 2])
untaken(lambda n: tf.reshape(v, [n, 3]), 2)
untaken(lambda n: tf.reshape(v, [n, 3]), -1)
untaken(lambda s: tf.fill(s, 1.0), [-3, 2])
untaken(lambda n: tf.zeros([n, 2]) + tf.zeros([2, 2]), 3)
untaken(lambda n: tf.zeros([n, 2]) + tf.zeros([2, 3]), 2)
untaken(lambda n: tf.matmul(tf.reshape(v, [2, n]), x), 2)
untaken(lambda n: tf.reshape(tf.range(n), [2, 2]), 3)
untaken(lambda n: tf.zeros([2])[tf.size(tf.zeros([n]))], 3)
untaken(lambda n: tf.concat([tf.zeros([n, 2]), x], 0), 3)
untaken(lambda n: tf.concat([tf.zeros([n, 2]), x], 1), 3)
untaken(lambda s: tf.broadcast_to(tf.zeros([3]), s), [4])
untaken(lambda a, b: tf.broadcast_dynamic_shape(a, b), [4], [3])
untaken(lambda a: tf.concat([tf.zeros([2, 3]), tf.zeros([2, 4])], a), 0)
untaken(lambda a: tf.concat([x, x], a), 5)
untaken(lambda a: tf.split(x, 2, axis=a), 1)
untaken(lambda s: tf.split(x, s, num=2), [3, 3])
untaken(lambda b, s: tf.slice(x, b, s), [0, 2], [2, 5])
untaken(lambda b, s: tf.slice(x, b, s), [1], [2])
untaken(lambda i: x[i], 9)
untaken(lambda s: x[::s], 0)
untaken(lambda i: tf.gather(x, i), [9])
untaken(lambda a: tf.gather(x, [0], axis=a), 5)
untaken(lambda a: tf.expand_dims(x, a), 5)
untaken(lambda m: tf.tile(x, m), [1])
untaken(lambda p: tf.transpose(x, p), [0, 5])
untaken(lambda p: tf.transpose(x, p), [0, 0])
untaken(lambda a: tf.reduce_sum(x, a), 3)
untaken(lambda a: tf.argmax(x, a), 3)
untaken(lambda a: tf.reverse(x, [a]), 3)
untaken(lambda d: tf.one_hot([0, 1], d), -1)
untaken(lambda k: tf.math.top_k(v, k).values, 7)
untaken(lambda n: tf.linspace(0.0, 1.0, n), -2)
untaken(lambda n: tf.eye(n), -2)
untaken(lambda s: tf.random.normal(s), [-1, 2])
untaken(lambda s: tf.scatter_nd([[1]], [[1.0]], s), [4])
untaken(lambda n: tf.math.unsorted_segment_sum(v, [0, 1, 2, 3], n), -1)
untaken(lambda b: tf.space_to_batch(tf.zeros([1, 4, 4, 1]), b, [[0, 0], [0, 0]]), [3, 3])
untaken(lambda n: tf.linalg.diag(v, num_rows=n), 1)
untaken(lambda k: tf.linalg.diag_part(tf.zeros([4, 4]), k=k), 9)
untaken(lambda n: tf.raw_ops.NthElement(input=v, n=n), 9)
untaken(lambda n: tf.sequence_mask([1, 2], n), -1)
untaken(lambda n: tf.random.categorical(tf.zeros([1, 3]), n), -1)
untaken(lambda s: tf.raw_ops.BroadcastTo(input=tf.zeros([2, 1]), shape=s), [3])
untaken(lambda y: tf.zeros([4], tf.int32) + y, [3, 2])
untaken(lambda n: tf.range(C(7) % n), 0)
untaken(lambda n: tf.zeros(tf.nn.relu(n) - 5), [2])
untaken(lambda n: tf.debugging.assert_equal(n, 3), 2)
untaken(lambda n: tf.ensure_shape(tf.zeros([n]), [3]), 2)
untaken(lambda n: tf.squeeze(tf.zeros([n, 2]), 0), 2)
untaken(lambda n: tf.stack([tf.zeros([n]), tf.zeros([3])]), 2)
untaken(lambda n: tf.nn.conv2d(tf.zeros([1, 4, 4, n]), tf.zeros([2, 2, 3, 1]), 1, 'SAME'), 2)
untaken(lambda n: tf.linalg.inv(tf.zeros([n, 2])), 3)
""")

GROUP.errors("""
tf.function(lambda: tf.range(1.0, 0.5), autograph=False).get_concrete_function()
tf.function(lambda: tf.range(1, 0), autograph=False).get_concrete_function()
tf.function(lambda: tf.raw_ops.Range(start=1, limit=0, delta=1), autograph=False).get_concrete_function()
""")
