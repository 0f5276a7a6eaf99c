# ruff: noqa
# `tf` and `program` are given by case.py; the oddities are what is tested.


@program(0)
def while_simple(x):
    while x < 5:
        x = x + 2
    return x


@program(9)
def while_never(x):
    while x < 5:
        x = x + 2
    return x


@program(0)
def while_two(x):
    y = 1
    while x < 5:
        x += 1
        y *= 2
    return x, y


@program(3)
def while_nested(x):
    total = 0
    i = tf.constant(0)
    while i < x:
        j = tf.constant(0)
        while j < i:
            total += j
            j += 1
        i += 1
    return total


@program(10)
def while_if(x):
    odd = 0
    while x > 0:
        if x % 2 == 1:
            odd += 1
        x -= 1
    return odd


@program(6)
def while_collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(10)
def while_fibonacci(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a


@program(2)
def while_python(x):
    k = 0
    while k < 3:
        x = x * 2
        k += 1
    return x


@program(2)
def while_python_list(x):
    todo = [1, 2, 3]
    while todo:
        x += todo.pop()
    return x


@program(1)
def while_defined_inside(x):
    while x < 3:
        x += 1
        y = x * 2
    return y


@program(1)
def while_dtype(x):
    y = 1
    while x < 3:
        x += 1
        y = 1.5
    return y


@program(1)
def while_shape(x):
    y = tf.constant([1])
    while x < 3:
        x += 1
        y = tf.concat([y, [1]], 0)
    return y


@program(1)
def while_shape_invariant(x):
    y = tf.constant([1])
    while x < 3:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        x += 1
        y = tf.concat([y, [1]], 0)
    return y


@program(1)
def while_structure(x):
    y = (x,)
    while x < 3:
        x += 1
        y = (x, x)
    return y


@program(1)
def while_none_after(x):
    y = tf.constant(1)
    while x < 3:
        x += 1
        y = None
    return y


@program(1)
def while_none_before(x):
    y = None
    while x < 3:
        x += 1
        y = x
    return y


@program(1)
def while_used_before_defined(x):
    while x < 3:
        x += y
        y = x * 2
    return y


@program([1, 2])
def while_vector_condition(x):
    while x > 1:
        x -= 1
    return x


@program(3)
def while_number_condition(x):
    while x:
        x -= 1
    return x


@program(2.0)
def while_newton(x):
    y = x
    while tf.abs(y * y - x) > 1e-4:
        y = 0.5 * (y + x / y)
    return y


@program([1.0, 2.0])
def while_vector(x):
    while tf.reduce_sum(x) < 50.0:
        x = x * 2.0
    return x


@program(5)
def for_range(n):
    total = 0
    for i in tf.range(n):
        total += i
    return total


@program(5)
def for_range_start(n):
    total = 0
    for i in tf.range(1, n, 2):
        total += i * i
    return total


@program(5)
def for_range_down(n):
    total = 0
    for i in tf.range(n, 0, -2):
        total = total * 10 + i
    return total


@program(3.0)
def for_range_float(n):
    total = 0.0
    for i in tf.range(0.0, n, 0.5):
        total += i
    return total


@program(3)
def for_range_int64(n):
    total = tf.constant(0, tf.int64)
    for i in tf.range(tf.cast(n, tf.int64)):
        total += i
    return total


@program(4)
def for_python_range_of_tensor(n):
    total = 0
    for i in range(n):
        total += i
    return total


@program(9)
def for_python_range_step(n):
    total = 0
    for i in range(1, n, 3):
        total = total * 10 + i
    return total


@program(0)
def for_empty_range(n):
    total = 7
    for i in tf.range(n):
        total += i
    return total


@program(4)
def for_target_after(n):
    for i in tf.range(n):
        pass
    return i


@program([1, 2, 3])
def for_tensor(x):
    total = 0
    for v in x:
        total = total * 10 + v
    return total


@program([[1, 2], [3, 4]])
def for_matrix(x):
    total = tf.zeros([2], tf.int32)
    for row in x:
        total += row
    return total


@program([[1, 2], [3, 4]])
def for_matrix_nested(x):
    total = 0
    for row in x:
        for v in row:
            total = total * 10 + v
    return total


@program(3)
def for_scalar(x):
    for v in x:
        pass
    return x


@program(4)
def for_tensor_array(n):
    array = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        array = array.write(i, i * i)
    return array.stack()


@program(3)
def for_over_tensor_array(n):
    array = tf.TensorArray(tf.int32, size=3).unstack([1, 2, 3])
    total = n
    for v in array:
        total = total * 10 + v
    return total


@program(3)
def for_dynamic_tensor_array(n):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(n):
        array = array.write(i, tf.cast(i, tf.float32) + 0.5)
    return array.stack()


@program(2)
def for_python_list(x):
    for k in [1, 2, 3]:
        x = x * k
    return x


@program(2)
def for_python_dict(x):
    d = {"a": 1, "b": 2}
    for key, value in d.items():
        x = x * 10 + value
    return x


@program(2)
def for_python_list_with_if(x):
    for k in [1, 2, 3]:
        if x > 3:
            x = x - k
        else:
            x = x + k
    return x


@program(2)
def for_list_append_python(x):
    values = []
    for k in range(3):
        values.append(x * k)
    return tf.stack(values)


@program(2)
def for_enumerate_python(x):
    for i, v in enumerate([5, 6]):
        x = x * 10 + i + v
    return x


@program(2)
def for_zip_python(x):
    for a, b in zip([1, 2], (3, 4)):
        x += a * b
    return x


@program([3, 4])
def for_enumerate_tensor(x):
    total = 0
    for i, v in enumerate(x):
        total += i * v
    return total


@program(4)
def for_enumerate_range(n):
    total = 0
    for i, v in enumerate(tf.range(1, n)):
        total += i * v
    return total


@program([1, 2, 3], [4, 5, 6])
def for_zip_tensors(x, y):
    total = 0
    for a, b in zip(x, y):
        total += a * b
    return total


@program([1, -2, 3])
def for_if(x):
    positive = 0
    for v in x:
        if v > 0:
            positive += v
    return positive


@program([1, 9, 3])
def for_maximum(x):
    best = x[0]
    for v in x:
        best = v if v > best else best
    return best


@program(3)
def for_in_while(n):
    total = 0
    while n > 0:
        for i in tf.range(n):
            total += i
        n -= 1
    return total


@program(4)
def for_tuple_state(n):
    pair = (0, 1)
    for i in tf.range(n):
        pair = (pair[1], pair[0] + pair[1])
    return pair


@program(4)
def for_dict_state(n):
    d = {"sum": 0, "count": 0}
    for i in tf.range(n):
        d = {"sum": d["sum"] + i, "count": d["count"] + 1}
    return d["sum"], d["count"]


@program(4)
def for_dict_item(n):
    d = {"sum": 0}
    for i in tf.range(n):
        d["sum"] = d["sum"] + i
    return d["sum"]


@program(3)
def for_underscore(n):
    x = 1
    for _ in tf.range(n):
        x = x * 2
    return x


@program(9)
def for_maximum_iterations(n):
    x = 0
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        x += 1
    return x


@program(2)
def for_else_python(x):
    for k in [1, 2]:
        x += k
    else:
        x += 100
    return x


@program(2)
def for_comprehension(x):
    return sum([x * k for k in range(4)])


@program([[1.0, 1.0], [1.0, 0.0]])
def for_matmul_power(x):
    y = tf.eye(2)
    for i in tf.range(5):
        y = tf.matmul(y, x)
    return y


@program(2)
def for_string(n):
    s = tf.constant("")
    for i in tf.range(n):
        s = s + "ab"
    return s


@program(3)
def list_append_in_staged_loop(n):
    values = []
    for i in tf.range(n):
        values.append(i)
    return tf.stack(values)


def rows_of_unknown_shape():
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    return tf.data.Dataset.from_generator(lambda: iter(rows), output_types=tf.float32)


def rows_of_any_length():
    rows = [[1.0, 2.0], [3.0, 4.0, 5.0], [6.0]]
    return tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([None]))


@program(0)
def dataset_shape_unknown(x):
    last, total = tf.zeros([2]), tf.zeros([])
    for row in rows_of_unknown_shape():
        last, total = row, total + row
    return last, total


@program(0)
def dataset_shape_any_length(x):
    last = tf.zeros([2])
    for row in rows_of_any_length():
        last = row
    return last


@program(0)
def dataset_shape_of_batches(x):
    last = tf.zeros([], tf.int64)
    for batch in tf.data.Dataset.range(5).batch(2):
        last = batch
    return last


@program(0)
def dataset_shape_grows(x):
    y = tf.zeros([2])
    for row in rows_of_any_length():
        y = tf.concat([y, row], 0)
    return y


@program(0)
def dataset_shape_in_structures(x):
    kept = {"a": tf.zeros([1]), "b": (tf.zeros([2]), 0)}
    for row in rows_of_any_length():
        kept = {"a": row, "b": (tf.concat([row, row], 0), kept["b"][1] + 1)}
    return kept["a"], kept["b"]


@program(0)
def dataset_shape_with_break(x):
    last = tf.zeros([1])
    for i, row in rows_of_any_length().enumerate():
        last = row
        if tf.size(row) == 3:
            break
    return last


@program(0)
def dataset_shape_undefined_before(x):
    for row in rows_of_any_length():
        last = row
    return last


@program(2)
def range_shape_grows(x):
    y = tf.zeros([2])
    for _ in tf.range(x):
        y = tf.concat([y, [1.0]], 0)
    return y
