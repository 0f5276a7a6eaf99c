# ruff: noqa
# `tf` and `program` are given by case.py; the oddities are what is tested.


@program(2)
def return_in_if(x):
    if x > 1:
        return x * 2
    return x


@program(0)
def return_in_if_false(x):
    if x > 1:
        return x * 2
    return x


@program(2)
def return_in_both(x):
    if x > 1:
        return x * 2
    return x


@program(1)
def return_elif(x):
    if x > 1:
        return 10
    if x == 1:
        return 20
    return 30


@program(2)
def return_one_sided(x):
    if x > 1:
        return x


@program(2)
def return_dtype(x):
    if x > 1:
        return x
    return 2.0


@program(2)
def return_none(x):
    if x > 1:
        return x
    return None


@program(3)
def return_nested(x):
    if x > 0:
        if x > 2:
            return 1
        return 2
    return 3


@program(3)
def return_after_work(x):
    y = 0
    if x > 5:
        y = 1
        return y
    y = 2
    if x > 2:
        return y + 10
    return y


@program(3)
def return_tuple(x):
    if x > 1:
        return x, x + 1
    return x, x - 1


@program(3)
def return_in_function(x):
    def sign(v):
        if v > 0:
            return 1
        if v < 0:
            return -1
        return 0

    return sign(x) * 100 + sign(-x) * 10 + sign(x - x)


@program(3)
def return_python_condition(x):
    verbose = False
    if verbose:
        return "text"
    return x


@program(3)
def return_in_python_loop(x):
    for k in range(5):
        if k == 2:
            return x * k
    return x


@program(5)
def return_in_staged_loop(n):
    for i in tf.range(n):
        if i > 2:
            return i
    return -1


@program(5)
def return_in_while(n):
    while n > 0:
        n -= 1
        if n == 2:
            return n * 100
    return n


@program(0)
def break_while(x):
    while x < 10:
        x += 1
        if x == 4:
            break
    return x


@program(0)
def break_while_true(x):
    while tf.constant(True):
        x += 1
        if x > 6:
            break
    return x


@program(9)
def break_for(n):
    total = 0
    for i in tf.range(n):
        if i == 4:
            break
        total += i
    return total


@program([1, 2, -1, 4])
def break_for_tensor(x):
    total = 0
    for v in x:
        if v < 0:
            break
        total += v
    return total


@program(2)
def break_python_loop(x):
    for k in range(9):
        if k == 3:
            break
        x += k
    return x


@program(2)
def break_python_on_tensor(x):
    for k in range(9):
        if x > 5:
            break
        x += k
    return x


@program(4)
def break_nested(n):
    total = 0
    for i in tf.range(n):
        for j in tf.range(n):
            if j > i:
                break
            total += j
    return total


@program(6)
def continue_for(n):
    total = 0
    for i in tf.range(n):
        if i % 2 == 0:
            continue
        total += i
    return total


@program(0)
def continue_while(x):
    total = 0
    while x < 6:
        x += 1
        if x % 2 == 0:
            continue
        total += x
    return total


@program(2)
def continue_python(x):
    for k in range(5):
        if k == 2:
            continue
        x += k
    return x


@program(2)
def continue_python_on_tensor(x):
    for k in range(5):
        if x > 3:
            continue
        x += k
    return x


@program(20)
def continue_and_break(n):
    total = 0
    for i in tf.range(n):
        if i % 3 == 0:
            continue
        if i > 10:
            break
        total += i
    return total


@program(6)
def continue_with_else(n):
    total = 0
    for i in tf.range(n):
        if i < 2:
            continue
        if i == 4:
            total += 100
        else:
            total += i
    return total


@program(3)
def while_true_python(x):
    k = 0
    while True:
        k += 1
        if k > 3:
            break
        x += k
    return x


@program(3)
def while_true_on_tensor(x):
    k = 0
    while True:
        k += 1
        if x < k:
            break
    return k


@program([3, 8, 2])
def break_sets_flag(x):
    found = False
    for v in x:
        if v > 5:
            found = True
            break
    return found


@program([3, 8, 2])
def first_index(x):
    at = -1
    for i in tf.range(3):
        if x[i] == 2:
            at = i
            break
    return at


@program(2)
def assert_python(x):
    assert x is not None, "no x"
    return x


@program(2)
def assert_tensor(x):
    tf.debugging.assert_greater(x, 1)
    return x


@program(2)
def try_in_python(x):
    try:
        y = {}["missing"]
    except KeyError:
        y = x
    return y


@program(2)
def raise_in_python(x):
    if x is not None:
        raise ValueError("given")
    return x


@program(2)
def with_scope(x):
    with tf.name_scope("inner"):
        if x > 1:
            return x
        return -x
