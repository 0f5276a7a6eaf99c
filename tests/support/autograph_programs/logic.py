# ruff: noqa
# `tf` and `program` are given by case.py; the oddities are what is tested.


@program(True, False)
def and_tensors(x, y):
    return x and y


@program(True, False)
def or_tensors(x, y):
    return x or y


@program(True)
def not_tensor(x):
    return not x


@program(3)
def and_three(x):
    return x > 1 and x < 5 and x != 4


@program(9)
def or_three(x):
    return x < 1 or x > 5 or x == 3


@program(3)
def mixed(x):
    return (x > 1 and x < 2) or not x > 5


@program(3)
def and_python_first(x):
    flag = True
    return flag and x > 1


@program(3)
def and_python_false(x):
    flag = False
    return flag and x > 1


@program(3)
def or_python_first(x):
    return None or x


@program(3)
def and_dtype(x):
    return x > 1 and 5


@program(3)
def not_number(x):
    return not x


@program(3)
def not_python(x):
    flag = []
    return x if not flag else -x


@program(3)
def chained(x):
    return 1 < x < 5


@program(7)
def chained_false(x):
    return 1 < x < 5


@program(3)
def chained_three(x):
    return 0 <= x <= 3 < 10


@program(3, 3)
def chained_equal(x, y):
    return x == y == 3


@program(3)
def chained_in_if(x):
    if 1 < x < 5:
        return 1
    return 0


@program(3)
def chained_python(x):
    k = 2
    return x if 1 < k < 5 else -x


@program([1, 2], [1, 3])
def equality(x, y):
    return x == y


@program([1, 2], [1, 3])
def inequality(x, y):
    return x != y


@program(0)
def short_circuit(x):
    return x != 0 and 6 // tf.maximum(x, 1) > 2


@program(3)
def membership_python(x):
    return x if "a" in {"a": 1} else -x


@program(3)
def membership_tensor(x):
    return x in [1, 3]


@program(3)
def is_not(x):
    return x if x is not None and True else 0


@program(0)
def while_and(x):
    y = 10
    while x < 5 and y > 7:
        x += 1
        y -= 1
    return x, y


@program(0)
def while_not(x):
    done = False
    while not done:
        x += 1
        done = x > 3
    return x
