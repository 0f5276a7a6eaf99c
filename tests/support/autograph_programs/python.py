# ruff: noqa
# `tf` and `program` are given by case.py; the oddities are what is tested.


@program([1, 2, 3])
def len_vector(x):
    return len(x)


@program(3)
def len_list(x):
    return len([x, x]) + x


@program(2.7)
def int_of(x):
    return int(x)


@program(3)
def float_of(x):
    return float(x)


@program(-3)
def abs_of(x):
    return abs(x)


@program(3)
def max_python(x):
    return max(1, 2) + x


@program(3)
def sum_of_list(x):
    return sum([x, x, 1])


@program(3)
def map_lambda(x):
    return list(map(lambda v: v * 2 if x > 1 else v, [x, x + 1]))


@program(3)
def lambda_with_condition(x):
    f = lambda v: v if v > 0 else -v  # noqa: E731
    return f(x) + f(-x)


@program(3)
def lambda_default(x):
    f = lambda v, w=2: v * w if v > 0 else w  # noqa: E731
    return f(x) + f(-x, w=5)


@program(3)
def nested_closure(x):
    k = 10

    def add(v):
        return v + k if v > 0 else v - k

    return add(x) * add(-x)


@program(3)
def nested_nonlocal(x):
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count

    if x is not None:
        bump()
    return bump() + x


@program(3)
def recursion(x):
    def power(v, n):
        if n == 0:
            return tf.ones_like(v)
        return v * power(v, n - 1)

    return power(x, 4)


@program(3)
def star_arguments(x):
    def total(*args, **kwargs):
        result = 0
        for a in args:
            result += a
        for key in kwargs:
            result += kwargs[key]
        return result

    return total(x, 1, 2, k=x)


@program([1, 2, 3])
def unpacking(x):
    a, b, c = tf.unstack(x)
    if a < b:
        a, b = b, a
    return a, b, c


@program(3)
def object_attribute(x):
    class Box:
        value = 0

    box = Box()
    box.value = x
    if x > 1:
        box.value = box.value + 10
    return box.value


@program(3)
def object_attribute_loop(n):
    class Box:
        def __init__(self):
            self.value = tf.constant(0)

    box = Box()
    for i in tf.range(n):
        box.value = box.value + i
    return box.value


@program(3)
def method_call(x):
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, v):
            if v > 1:
                return v * self.k
            return v

    return Scale(4)(x)


@program(3)
def inheritance(x):
    class Base:
        def go(self, v):
            return v + 1

    class Derived(Base):
        def go(self, v):
            return super().go(v) * 2

    return Derived().go(x)


@program(3)
def decorated(x):
    def twice(f):
        def call(v):
            return f(f(v))

        return call

    @twice
    def step(v):
        return v + 1 if v > 0 else v

    return step(x)


@program(3)
def dict_comprehension(x):
    d = {k: x * k for k in range(3)}
    return d[1] + d[2]


@program(3)
def generator_expression(x):
    return sum(x * k for k in range(3) if k)


@program([1, 2, 3, 4])
def slicing(x):
    k = 2
    if k > 1:
        x = x[k:]
    return x


@program(3)
def walrus_in_python(x):
    if (k := 2) > 1:
        x = x * k
    return x


@program(3)
def format_string(x):
    name = f"{'a' if x is not None else 'b'}"
    return x if name == "a" else -x


@program(3)
def print_python(x):
    if x is None:
        print("none")
    return x


@program(3)
def undefined_read(x):
    if x is None:
        y = 3
    return y + x


@program(3)
def error_in_function(x):
    def g(v):
        raise ValueError("hello")

    return g(x)


@program(3)
def key_error(x):
    return {}["a"]


@program(3)
def global_name(x):
    return x + len(__name__) * 0


@program([1, -2, 3])
def map_fn_with_condition(x):
    return tf.map_fn(lambda v: v if v > 0 else -v, x)


@program(3.0)
def gradient_through_if(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        if x > 1.0:
            y = x * x
        else:
            y = x
    return tape.gradient(y, x)


@program(2.0)
def gradient_through_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for i in tf.range(3):
            y = y * x
    return tape.gradient(y, x)


@program(3)
def cond_inside(x):
    return tf.cond(x > 1, lambda: x * 2, lambda: x)


@program(3)
def delete_python(x):
    y = 5
    del y
    if x > 1:
        x = x + 1
    return x


@program(3)
def augmented_item(x):
    d = {"k": x}
    for j in range(2):
        d["k"] += j
    return d["k"]


@program(3)
def conditional_function(x):
    double = True
    f = tf.square if double else tf.identity
    return f(x)


@program(3)
def isinstance_check(x):
    if isinstance(x, tf.Tensor):
        return x + 1
    return x


@program([[1, 2], [3, 4]])
def shape_branch(x):
    if len(x.shape) == 2:
        x = tf.reduce_sum(x, 0)
    return x


@program(3)
def any_all_python(x):
    return x if any([0, 1]) and all([1, 1]) else -x
