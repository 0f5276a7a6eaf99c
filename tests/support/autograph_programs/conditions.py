# ruff: noqa
# `tf` and `program` are given by case.py; the oddities are what is tested.


@program(3)
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@program(-3)
def if_else_false(x):
    if x > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@program(3)
def if_only(x):
    if x > 0:
        x = x * 2
    return x


@program(-3)
def if_only_false(x):
    if x > 0:
        x = x * 2
    return x


@program(3)
def elif_first(x):
    if x > 0:
        y = 1
    elif x == 0:
        y = 2
    else:
        y = 3
    return y


@program(0)
def elif_second(x):
    if x > 0:
        y = 1
    elif x == 0:
        y = 2
    else:
        y = 3
    return y


@program(-1)
def elif_last(x):
    if x > 0:
        y = 1
    elif x == 0:
        y = 2
    else:
        y = 3
    return y


@program(1, -1)
def nested_if(x, y):
    if x > 0:
        if y > 0:
            z = x + y
        else:
            z = x - y
    else:
        z = x * y
    return z


@program(2.0)
def two_variables(x):
    a, b = x, x
    if x > 1.0:
        a = a + 1.0
    else:
        b = b + 1.0
    return a, b


@program(5, 3)
def swap(x, y):
    if x > y:
        x, y = y, x
    return x, y


@program(2)
def tuple_variable(x):
    if x > 1:
        p = (x, x + 1)
    else:
        p = (x, x - 1)
    return p


@program(2)
def list_variable(x):
    if x > 1:
        p = [x, x + 1]
    else:
        p = [x, x - 1]
    return p[0] + p[1]


@program(2)
def dict_variable(x):
    if x > 1:
        d = {"a": x}
    else:
        d = {"a": -x}
    return d["a"]


@program(2)
def dict_item(x):
    d = {"a": 1, "b": 2}
    if x > 1:
        d["a"] = 10
    return d["a"] + d["b"]


@program(2)
def list_item(x):
    v = [1, 2]
    if x > 1:
        v[0] = 10
    return v[0] + v[1]


@program(2)
def python_condition(x):
    flag = True
    if flag:
        y = x
    else:
        y = object()
    return y


@program(2)
def is_none(x):
    y = None
    if y is None:
        y = x
    return y


@program(2)
def python_structure_differs(x):
    training = False
    if training:
        y = (x, x)
    else:
        y = x
    return y


@program(2)
def undefined_in_else(x):
    if x > 1:
        y = x
    return y


@program(2)
def undefined_in_main(x):
    if x > 1:
        pass
    else:
        y = x
    return y


@program(2)
def dtype_differs(x):
    if x > 1:
        y = x
    else:
        y = 1.5
    return y


@program(2)
def structure_differs(x):
    if x > 1:
        y = (x, x)
    else:
        y = x
    return y


@program(2)
def none_in_one(x):
    y = None
    if x > 1:
        y = x
    return y


@program([1, 2])
def condition_of_vector(x):
    if x > 1:
        return x
    return x


@program(2)
def condition_of_number(x):
    if x:
        return x
    return x


@program(2)
def local_of_branch(x):
    y = 0
    if x > 1:
        t = x * 3
        y = t + 1
    return y


@program(2)
def shape_differs(x):
    if x > 1:
        y = tf.constant([1])
    else:
        y = tf.constant([1, 2])
    return y


@program(2)
def string_values(x):
    if x > 1:
        s = "big"
    else:
        s = "small"
    return s


@program(2)
def expression(x):
    return x * 2 if x > 1 else x


@program(0)
def expression_false(x):
    return x * 2 if x > 1 else x


@program(2)
def expression_of_numbers(x):
    return 1 if x > 1 else 0


@program(2)
def expression_nested(x):
    return 1 if x > 5 else (2 if x > 1 else 3)


@program(2)
def expression_dtype(x):
    return 1 if x > 1 else 2.0


@program(2)
def expression_none(x):
    return x if x > 1 else None


@program(2.0)
def expression_in_call(x):
    return tf.square(x if x > 1.0 else -x)


@program(2)
def expression_python(x):
    return x if x is not None else 0


@program(2)
def condition_in_function(x):
    def g(y):
        if y > 1:
            return y
        return -y

    return g(x) + g(-x)


@program([1, 2, 3])
def condition_on_shape(x):
    if x.shape[0] > 2:
        return x[:2]
    return x


@program(2, 3)
def condition_with_and(x, y):
    if x > 1 and y > 5:
        return 1
    return 0


@program(2)
def augmented(x):
    total = 0
    if x > 1:
        total += x
        total *= 2
    return total


@program(2)
def both_python(x):
    if x > 1:
        y = 5
    else:
        y = 5
    return y + x


@program(-2)
def assigned_before(x):
    y = x
    if x > 0:
        y = y + 1
    elif x < -1:
        y = y - 1
    return y
