"""The names of what graphs are made of: operations, the functions that they call, and what these have inside."""

from goldens.case import Group

GROUP = Group(r"""
import re
v = tf.Variable([2., 3.], name="v")
large = tf.ones([200])
f32, i32 = tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)
noted = []

def note(tensor):
    noted.append(f"{re.sub('[0-9]+$', 'N', tensor.graph.name)} {tensor}" if hasattr(tensor.graph, "name")
                 else str(tensor))
    return tensor

def notes(f, *specs):
    tf.function(f).get_concrete_function(*specs)
    return noted

def ops(f, *specs, of=""):
    graph = tf.function(f).get_concrete_function(*specs).graph
    return [f"{o.name} {o.type}" for o in graph.get_operations() if o.type not in ("Const", "NoOp") and of in o.name]

def cond(x, name=None):
    return tf.cond(x[0] > 0., lambda: note(x + 1.), lambda: note(x - 2.), name=name)

def in_scope(name, f):
    with tf.name_scope(name):
        return f()

def loop(n, x, limit=None, name=None):
    def test(i, s):
        return note(i) < n
    def body(i, s):
        return i + 1, note(s * v)
    found = tf.while_loop(test, body, [tf.constant(0), x], maximum_iterations=limit, name=name)
    return [note(t) for t in found]

def in_graph(f):
    with tf.Graph().as_default():
        f(tf.compat.v1.placeholder(tf.float32, [2], name="x"))
    return noted
""")

# ---- conditionals ----------------------------------------------------------------------------------------------------

GROUP.values("""
notes(lambda x: note(cond(x)), f32)
notes(lambda x: note(cond(cond(x))), f32)
notes(lambda x: note(cond(x, name="mine")), f32)
notes(lambda x: note(in_scope("a", lambda: cond(x))), f32)
notes(lambda x: cond(in_scope("a", lambda: x * x)), f32)
notes(lambda x: tf.cond(x[0] > 0., lambda: in_scope("b", lambda: note(x * 2.)), lambda: note(x * x)), f32)
notes(lambda x: tf.cond(x[0] > 0., lambda: cond(x + 1.), lambda: note(v * x)), f32)
notes(lambda x: [note(t) for t in tf.cond(x[0] > 0., lambda: (x, 1), lambda: (v, 2))], f32)
notes(lambda i, x: note(tf.switch_case(i, [lambda: note(x + 1.), lambda: note(x + 2.)])), i32, f32)
notes(lambda i, x: note(tf.switch_case(i, [lambda: note(x)], default=lambda: note(-x), name="s")), i32, f32)
notes(lambda x: note(tf.case([(x[0] > 1., lambda: note(x + 1.)), (x[1] > 0., lambda: note(x + 2.))])), f32)
ops(lambda x: cond(x), f32, of="cond")
ops(lambda x: tf.cond(x[0] > 0., lambda: v + x, lambda: x), f32, of="cond")
ops(lambda x: tf.cond(x[0] > 0., lambda: v.assign(x), lambda: x), f32, of="cond")
in_graph(lambda x: note(cond(x)))
in_graph(lambda x: note(in_scope("a", lambda: cond(cond(x)))))
""")

# ---- loops -----------------------------------------------------------------------------------------------------------

GROUP.values("""
notes(lambda n, x: loop(n, x), i32, f32)
notes(lambda n, x: loop(n, x, limit=4), i32, f32)
notes(lambda n, x: loop(n, loop(n, x, name="first")[1], name="second"), i32, f32)
notes(lambda n, x: in_scope("a", lambda: loop(n, x)), i32, f32)
in_graph(lambda x: [note(t) for t in tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, note(s * x)), [0, x])])
notes(lambda x: note(tf.map_fn(lambda a: note(a * 2.), x)), f32)
notes(lambda x: note(tf.map_fn(lambda a: note(a * 2.), x, name="m")), f32)
notes(lambda x: note(tf.scan(lambda a, b: note(a + b), x)), f32)
notes(lambda x: note(tf.foldl(lambda a, b: note(a * b), x)), f32)
notes(lambda x: note(tf.foldr(lambda a, b: note(a * b), x)), f32)
""")

# ---- arguments and scopes --------------------------------------------------------------------------------------------

GROUP.values("""
ops(lambda x: x * v + tf.reduce_sum(large), f32)
ops(lambda x: v * x + tf.square(v), f32)
ops(lambda x: tf.reduce_sum(large) + v, f32)
ops(lambda x: tf.concat([x, v, [1.]], 0), f32)
ops(lambda x: in_scope("a", lambda: x + 1.) + in_scope("a", lambda: x + 2.), f32)
ops(lambda x: in_scope("a", lambda: in_scope("a", lambda: tf.add(x, v) + x)), f32)
[o.name for o in tf.function(lambda x: x + [1., 2.]).get_concrete_function(f32).graph.get_operations()]
[o.name for o in tf.function(lambda x: tf.add(x, 1.)).get_concrete_function(f32).graph.get_operations()]
notes(lambda x: note(tf.function(lambda a: note(a * 2.))(x)), f32)
notes(lambda x: note(tf.function(lambda a: note(a * v))(x)), f32)
[t.name for t in tf.function(lambda x: x * v + tf.reduce_sum(large)).get_concrete_function(f32).inputs]
tf.function(lambda x: x * 2.).get_concrete_function(f32).name.decode().rstrip("0123456789")
""")

# ---- arrays ----------------------------------------------------------------------------------------------------------

GROUP.values("""
ops(lambda x: tf.TensorArray(tf.float32, 2).unstack(x).stack(), f32)
ops(lambda x: tf.TensorArray(tf.float32, 2, element_shape=[]).write(0, x[0]).read(0), f32, of="TensorArray")
ops(lambda x: tf.TensorArray(tf.float32, 2).scatter([1, 0], x).gather([0]), f32, of="Tensor")
""")
