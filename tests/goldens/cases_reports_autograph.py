"""What people report about AutoGraph and functions: loops, branches, effects while tracing, and traces made again."""

from goldens.case import Group

GROUP = Group()

GROUP.snippets("""
# the loop variable after the loop
@tf.function
def f(n):
    i = 0
    for i in tf.range(n):
        pass
    return i
(f(5), f(tf.constant(3)))

# the loop variable without a value before
@tf.function
def f(n):
    for i in tf.range(n):
        x = i * 2
    return x
f(tf.constant(3))

# branches of different shapes
@tf.function
def f(x):
    if x > 0:
        y = tf.zeros([2])
    else:
        y = tf.zeros([3])
    return y
(f(tf.constant(1.0)), f(tf.constant(-1.0)))

# return in one branch
@tf.function
def f(x):
    if x > 0:
        return x
    return -x
(f(tf.constant(-2.0)), f(tf.constant(2.0)))

# break and continue
@tf.function
def f(n):
    s = 0
    for i in tf.range(n):
        if i % 2 == 0:
            continue
        if i > 6:
            break
        s += i
    return s
f(tf.constant(10))

# else of a loop
@tf.function
def f(n):
    s = 0
    for i in range(n):
        s += i
    else:
        s = -1
    return s
f(3)

# a tensor that grows, with an invariant
@tf.function
def f(n):
    v = tf.constant([0])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [i]], 0)
    return v
f(tf.constant(3))

# a list appended to in a Python loop
@tf.function
def f(x):
    out = []
    for i in range(3):
        out.append(x * i)
    return tf.stack(out)
f(tf.constant(2))

# a TensorArray in a loop
@tf.function
def f(n):
    ta = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(n):
        ta = ta.write(i, i * i)
    return ta.stack()
f(tf.constant(4))

# a while loop over a tensor
@tf.function
def f(x):
    n = 0
    while x > 1.0:
        x = x / 2.0
        n += 1
    return n, x
f(tf.constant(20.0))

# a chained comparison and boolean operators
@tf.function
def f(x):
    if 0 < x < 10 and not x == 5 or x > 100:
        return "in"
    return "out"
[f(tf.constant(v)) for v in (3, 5, 50, 200)]

# a conditional expression
@tf.function
def f(x):
    return x if x > 0 else tf.zeros_like(x)
(f(tf.constant(1.0)), f(tf.constant(-1.0)))

# enumerate and zip
@tf.function
def f(x, y):
    s = tf.constant(0.0)
    for i, (a, b) in enumerate(zip(tf.unstack(x), tf.unstack(y))):
        s += float(i) * a * b
    return s
f(tf.constant([1.0, 2.0, 3.0]), tf.constant([4.0, 5.0, 6.0]))

# enumerate over a dataset
@tf.function
def f():
    s = tf.constant(0, tf.int64)
    for i, x in enumerate(tf.data.Dataset.range(4)):
        s += tf.cast(i, tf.int64) * x
    return s
f()

# a dataset with break
@tf.function
def f(ds):
    s = tf.constant(0, tf.int64)
    for x in ds:
        if x > 3:
            break
        s += x
    return s
f(tf.data.Dataset.range(10))

# len of a tensor
@tf.function(input_signature=[tf.TensorSpec([None, 2])])
def f(x):
    return len(x) + 1
f(tf.ones([3, 2]))

# print and append run once per trace
log = []
@tf.function
def f(x):
    log.append(getattr(x, "dtype", "Python"))
    return x + 1
f(tf.constant(1)); f(tf.constant(2)); f(tf.constant(1.0)); f(3); f(4)
log

# Python numbers make a trace each
log = []
@tf.function
def f(x):
    log.append(0)
    return x
for i in range(4):
    f(i)
for i in range(4):
    f(tf.constant(i))
len(log)

# keyword and positional arguments share a trace
log = []
@tf.function
def f(x, y=2):
    log.append(0)
    return x + y
f(1); f(1, 2); f(x=1); f(1, y=2)
len(log)

# shapes make a trace each
log = []
@tf.function
def f(x):
    log.append(x.shape.as_list())
    return tf.reduce_sum(x)
for n in (1, 2, 2, 3, 4):
    f(tf.ones([n]))
log

# reduce_retracing relaxes the shape
log = []
@tf.function(reduce_retracing=True)
def f(x):
    log.append(x.shape.as_list())
    return tf.reduce_sum(x)
for n in (1, 2, 2, 3, 4):
    f(tf.ones([n, 2]))
log

# a list and a tuple of tensors
log = []
@tf.function
def f(x):
    log.append(type(x).__name__)
    return x[0] + x[1]
f([tf.constant(1), tf.constant(2)]); f((tf.constant(1), tf.constant(2))); f([tf.constant(3), tf.constant(4)])
log

# NumPy arrays become tensors
log = []
@tf.function
def f(x):
    log.append((type(x).__name__, x.dtype.name))
    return x * 2
f(np.array([1.0, 2.0])); f(np.array([3.0, 4.0])); f(np.float32(1.0))
log

# a global that changes after the trace
scale = 2.0
@tf.function
def f(x):
    return x * scale
a = f(tf.constant(1.0))
scale = 3.0
(a, f(tf.constant(1.0)), f(tf.constant([1.0])))

# a variable that changes after the trace
scale = tf.Variable(2.0)
@tf.function
def f(x):
    return x * scale
a = f(tf.constant(1.0))
scale.assign(3.0)
(a, f(tf.constant(1.0)))

# a variable created once
class M(tf.Module):
    v = None
    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(1.0)
        return self.v.assign_add(x)
m = M()
(m(tf.constant(1.0)), m(tf.constant(1.0)), m.v)

# float() of a tensor in a function
@tf.function
def f(x):
    return float(x)
f(tf.constant(1.0))

# a tensor leaks out of a function
leak = []
@tf.function
def f(x):
    leak.append(x + 1)
    return x
f(tf.constant(1.0))
try:
    leak[0] + 1.0
except TypeError as error:
    text = str(error)
text[:120]

# range over a tensor
@tf.function
def f(n):
    s = 0
    for i in range(n):
        s += i
    return s
f(tf.constant(5))

# range over a tensor of floats
@tf.function
def f(n):
    s = 0.0
    for i in tf.range(n):
        s += i
    return s
f(tf.constant(3.5))

# try and except in a function
@tf.function
def f(x):
    try:
        y = tf.reshape(x, [3])
    except ValueError:
        y = tf.zeros([3])
    return y
f(tf.constant([1.0, 2.0]))

# a lambda in a loop
@tf.function
def f(x):
    fs = [lambda v, k=k: v * k for k in range(3)]
    return [g(x) for g in fs]
f(tf.constant(2))

# closures made in a loop
@tf.function
def f(x):
    fs = []
    for k in range(3):
        fs.append(lambda v: v * k)
    return [g(x) for g in fs]
f(tf.constant(2))

# a recursive function of Python numbers
@tf.function
def fact(n):
    if n <= 1:
        return tf.constant(1)
    return n * fact(n - 1)
fact(5)

# nested tuples and None as results
@tf.function
def f(x):
    return {"a": (x, None), "b": [x + 1, "text", 3, 2.5]}
f(tf.constant(1))

# a signature takes Python numbers
@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def f(x):
    return x * 2
(f(3), f(3.5), f(np.float32(1.0)))

# a signature and a keyword
@tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
def f(x, n):
    return x * tf.cast(n, tf.float32)
f(n=tf.constant(2), x=tf.constant(3.0))

# an object that can't be hashed as argument
@tf.function
def f(x, cfg):
    return x * cfg["k"]
f(tf.constant(2), {"k": 3})

# functions in a class keep a trace per object
log = []
class A:
    def __init__(self, k):
        self.k = k
    @tf.function
    def f(self, x):
        log.append(self.k)
        return x * self.k
a, b = A(2), A(3)
(a.f(tf.constant(1)), b.f(tf.constant(1)), a.f(tf.constant(5)), log)

# tf.print and side effects keep their order
v = tf.Variable(0)
@tf.function
def f():
    v.assign(1)
    a = v.read_value()
    v.assign_add(10)
    b = v.read_value()
    v.assign(a)
    return a, b
(f(), v)

# a Python function's default that is a tensor
@tf.function
def f(x, y=tf.constant(2.0)):
    return x * y
(f(tf.constant(3.0)), f(tf.constant(3.0), tf.constant(1.0)))

# nested loops with a condition on both
@tf.function
def f(n):
    c = 0
    for i in tf.range(n):
        for j in tf.range(i):
            if (i + j) % 3 == 0:
                c += 1
    return c
f(tf.constant(7))

# a dict changed in a loop
@tf.function
def f(n):
    d = {"s": 0, "p": 1}
    for i in tf.range(n):
        d["s"] += i
        d["p"] *= 2
    return d
f(tf.constant(4))

# an attribute changed in a loop
class Box:
    pass
@tf.function
def f(n):
    b = Box()
    b.s = 0
    for i in tf.range(n):
        b.s += i
    return b.s
f(tf.constant(4))

# a generator in a function
@tf.function
def f(x):
    def gen():
        for i in range(3):
            yield x * i
    return sum(gen())
f(tf.constant(2))

# tf.cond with a Python bool
tf.cond(True, lambda: tf.constant(1), lambda: tf.constant(2.0))

# switch_case out of range
[tf.switch_case(tf.constant(i), [lambda: tf.constant(10), lambda: tf.constant(20)]) for i in (0, 1, 5, -1)]

# tf.case with two true predicates
tf.case([(tf.constant(True), lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))], exclusive=True)

# map_fn that changes the dtype
tf.map_fn(lambda x: tf.cast(x, tf.float32) / 2, tf.constant([1, 2]), fn_output_signature=tf.float32)

# map_fn over a tuple
tf.map_fn(lambda t: t[0] * t[1], (tf.constant([1, 2]), tf.constant([3, 4])), fn_output_signature=tf.int32)

# foldl from the right
c = tf.constant([1, 2, 3])
(tf.foldl(lambda a, x: a - x, c), tf.foldr(lambda a, x: a - x, c))

# vectorized_map with a matrix product
m = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
tf.vectorized_map(lambda x: tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], x), m)

# while_loop with a tuple of one
tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [tf.constant(0)])

# while_loop with maximum_iterations
tf.while_loop(lambda i, s: True, lambda i, s: (i + 1, s + i), (0, 0), maximum_iterations=4)

# experimental_get_tracing_count
@tf.function
def f(x):
    return x
f(1); f(2); f(tf.constant(1)); f(tf.constant(5))
f.experimental_get_tracing_count()

# run_functions_eagerly turns numpy() on
@tf.function
def f(x):
    return x.numpy() + 1
tf.config.run_functions_eagerly(True)
try:
    y = f(tf.constant(1))
finally:
    tf.config.run_functions_eagerly(False)
int(y)

# py_function without a shape
@tf.function
def f(x):
    y = tf.py_function(lambda v: v.numpy() * 2, [x], tf.float32)
    return y, str(y.shape)
tf.function(lambda x: f(x)[0])(tf.constant([1.0, 2.0]))

# numpy_function that gives another dtype
tf.numpy_function(lambda v: v.astype(np.float64), [tf.constant([1.0])], tf.float32)
""")

GROUP.snippets(
    """
# a loop that never runs
@tf.function
def f(n):
    for i in tf.range(n):
        x = i * 2
    return x
f(tf.constant(0))

# a value of one branch only
@tf.function
def f(x):
    if x > 0:
        y = x
    return y
f(tf.constant(1.0))

# branches of different dtypes
@tf.function
def f(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y
f(tf.constant(1.0))

# None in one branch
@tf.function
def f(x):
    if x > 0:
        return x
f(tf.constant(-2.0))

# return from inside a loop
@tf.function
def f(x):
    for i in tf.range(10):
        if i * i > x:
            return i
    return -1
(f(tf.constant(20)), f(tf.constant(1000)))

# a tensor that grows
@tf.function
def f(n):
    v = tf.constant([0])
    for i in tf.range(n):
        v = tf.concat([v, [i]], 0)
    return v
f(tf.constant(3))

# a loop variable that changes its dtype
@tf.function
def f(n):
    s = 0
    for i in tf.range(n):
        s = s + tf.cast(i, tf.float32)
    return s
f(tf.constant(3))

# a boolean operator on vectors
@tf.function
def f(x):
    if x > 0 and x < 2:
        return 1
    return 0
f(tf.constant([1.0, 2.0]))

# if on a tensor without AutoGraph
@tf.function(autograph=False)
def f(x):
    if x > 0:
        return x
    return -x
f(tf.constant(1.0))

# iterating over a tensor without AutoGraph
@tf.function(autograph=False)
def f(x):
    return sum(v for v in x)
f(tf.constant([1.0, 2.0]))

# a list comprehension over a tensor
@tf.function
def f(x):
    return tf.add_n([v * 2 for v in x])
f(tf.constant([1.0, 2.0]))

# a comprehension over a tensor of unknown length
@tf.function(input_signature=[tf.TensorSpec([None])])
def f(x):
    return tf.add_n([v * 2 for v in x])
f(tf.constant([1.0, 2.0]))

# unpacking a tensor
@tf.function
def f(x):
    a, b = x
    return a - b
f(tf.constant([5.0, 2.0]))

# unpacking a tensor of unknown length
@tf.function(input_signature=[tf.TensorSpec([None])])
def f(x):
    a, b = x
    return a - b
f(tf.constant([5.0, 2.0]))

# a variable created in a function
@tf.function
def f(x):
    v = tf.Variable(1.0)
    return v + x
f(1.0)

# numpy() in a function
@tf.function
def f(x):
    return x.numpy()
f(tf.constant(1.0))

# assert in a function
@tf.function
def f(x):
    assert x > 0, "x must be positive"
    return x
f(tf.constant(-1.0))

# raise in a branch
@tf.function
def f(x):
    if x > 0:
        raise ValueError("never")
    return x
f(tf.constant(-1.0))

# while True with break
@tf.function
def f(x):
    while True:
        x = x * 2
        if x > 100:
            break
    return x
f(tf.constant(3))

# slices assigned to
@tf.function
def f(x):
    x[0] = 1.0
    return x
f(tf.constant([3.0, 2.0]))

# super() in a converted method
class A(tf.Module):
    def f(self, x):
        return x + 1
class B(A):
    @tf.function
    def f(self, x):
        if x > 0:
            x = super().f(x)
        return x
(B().f(tf.constant(1)), B().f(tf.constant(-1)))
""",
    raises=True,
)

GROUP.snippets(
    """
# a list appended to in a loop
@tf.function
def f(n):
    out = []
    for i in tf.range(n):
        out.append(i)
    return out
f(tf.constant(3))

# a signature refuses another dtype
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    return x
f(tf.constant([1], tf.int32))

# a signature refuses another rank
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    return x
f(tf.constant([[1.0]]))

# too many arguments
@tf.function
def f(x):
    return x
f(1, 2)

# an argument that is missing
@tf.function
def f(x, y):
    return x
f(1)

# map_fn that changes the dtype without saying so
tf.map_fn(lambda x: tf.cast(x, tf.float32) / 2, tf.constant([1, 2]))

# scan with an initializer of another shape
tf.scan(lambda a, x: tf.concat([a, [x]], 0), tf.constant([1, 2]), tf.constant([0]))
""",
    raises=True,
    message=True,
)
