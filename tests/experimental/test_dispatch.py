"""Functions of types that a program adds: `tf.experimental.dispatch_for_*`. TensorFlow gave the outcomes."""

import typing

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------


E = tf.experimental


class Masked(E.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Other(E.ExtensionType):
    values: tf.Tensor


M, N = Masked([1.0, -2.0], [True, False]), Masked([3.0, 4.0], [True, True])
O = Other([5.0, 6.0])  # noqa: E741
T = tf.constant([7.0, 8.0])


EITHER = typing.Union[Masked, tf.Tensor]  # noqa: UP007
MANY = typing.List[Masked]  # noqa: UP006
TUPLES = typing.Tuple[Masked, ...]  # noqa: UP006


def use(decorate, target, *calls):
    """Registers a function, calls some others, and removes the function again."""
    decorate(target)
    try:
        return [call() for call in calls]
    finally:
        E.unregister_dispatch_for(target)


def outcome_of(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def unary(api, x):
    return Masked(api(x.values), x.mask)


def binary(api, x, y):
    x, y = [v if isinstance(v, Masked) else Masked(v, [True, True]) for v in (x, y)]
    return Masked(api(x.values, y.values), x.mask & y.mask)


def asserting(api, x, y):
    return api(x.values, y.values)


def add(x, y, name=None):
    return Masked(x.values + y.values, x.mask | y.mask)


def add_of_types(x: Masked, y: Masked, name=None):
    return Masked(x.values + y.values, x.mask | y.mask)


def concat(values, axis, name=None):
    return Masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))


def parts(x):
    return [x.values, x.mask] if isinstance(x, Masked) else x


def of_unary(*calls):
    return use(E.dispatch_for_unary_elementwise_apis(Masked), unary, *calls)


def of_binary(x_type, y_type, *calls):
    return use(E.dispatch_for_binary_elementwise_apis(x_type, y_type), binary, *calls)


def of_assert(*calls):
    return use(E.dispatch_for_binary_elementwise_assert_apis(Masked, Masked), asserting, *calls)


def of_api(api, signatures, target, *calls):
    return use(E.dispatch_for_api(api, *signatures), target, *calls)


ROWS = read_rows(r"""
of_unary(lambda: parts(tf.abs(M)), lambda: parts(tf.math.square(M)), lambda: parts(-M), lambda: parts(abs(M)))
    TypeError: bad operand type for unary -: 'Masked'
of_unary(lambda: parts(tf.nn.relu(M)), lambda: parts(tf.zeros_like(M)), lambda: parts(tf.ones_like(M)))
    ((float32 [2] [1, 0]; bool [2] [True, False]); (float32 [2] [0, 0]; bool [2] [True, False]); (float32 [2] [1, 1];
    bool [2] [True, False]))
of_unary(lambda: parts(tf.cast(M, tf.int32)), lambda: parts(tf.clip_by_value(M, -1.0, 0.5)))
    ((int32 [2] [1, -2]; bool [2] [True, False]); (float32 [2] [0.5, -1]; bool [2] [True, False]))
of_unary(lambda: parts(tf.nn.leaky_relu(M, 0.5)), lambda: parts(tf.math.real(M)), lambda: parts(tf.identity(M)))
    ((float32 [2] [1, -1]; bool [2] [True, False]); (float32 [2] [1, -2]; bool [2] [True, False]); (float32 [2] [1, -2];
    bool [2] [True, False]))
of_unary(lambda: parts(tf.function(tf.abs)(M)))
    ((float32 [2] [1, 2]; bool [2] [True, False]))
of_unary(lambda: outcome_of(lambda: tf.reduce_sum(M)), lambda: outcome_of(lambda: tf.add(M, M)))
    ('ValueError'; 'ValueError')
of_binary(Masked, Masked, lambda: parts(tf.add(M, N)), lambda: parts(M * N), lambda: parts(tf.maximum(M, N)))
    TypeError: unsupported operand type(s) for *: 'Masked' and 'Masked'
of_binary(Masked, Masked, lambda: parts(M - N), lambda: parts(M / N), lambda: parts(tf.math.squared_difference(M, N)))
    TypeError: unsupported operand type(s) for -: 'Masked' and 'Masked'
of_binary(Masked, Masked, lambda: parts(M > N), lambda: parts(tf.math.equal(M, N)))
    TypeError: '>' not supported between instances of 'Masked' and 'Masked'
of_binary(Masked, Masked, lambda: outcome_of(lambda: tf.add(M, T)), lambda: outcome_of(lambda: tf.add(T, M)))
    ('ValueError'; 'ValueError')
of_binary(Masked, tf.Tensor, lambda: parts(tf.add(M, T)), lambda: outcome_of(lambda: parts(tf.add(T, M))))
    ((float32 [2] [8, 6]; bool [2] [True, False]); 'ValueError')
of_binary(tf.Tensor, Masked, lambda: parts(tf.add(T, M)), lambda: outcome_of(lambda: parts(tf.add(M, T))))
    ((float32 [2] [8, 6]; bool [2] [True, False]); 'ValueError')
of_binary(Masked, EITHER, lambda: parts(tf.add(M, T)), lambda: parts(tf.add(M, N)))
    ((float32 [2] [8, 6]; bool [2] [True, False]); (float32 [2] [4, 2]; bool [2] [True, False]))
of_binary(Masked, Masked, lambda: parts(tf.function(tf.add)(M, N)), lambda: tf.add(T, T))
    ((float32 [2] [4, 2]; bool [2] [True, False]); float32 [2] [14, 16])
of_api(tf.add, [{'x': Masked, 'y': Masked}], add, lambda: parts(tf.add(M, N)), lambda: tf.add(T, T))
    ((float32 [2] [4, 2]; bool [2] [True, True]); float32 [2] [14, 16])
of_api(tf.add, [{0: Masked, 1: Masked}], add, lambda: parts(tf.add(M, N)), lambda: parts(M + N))
    TypeError: unsupported operand type(s) for +: 'Masked' and 'Masked'
of_api(tf.add, [{'x': Masked}], add, lambda: parts(tf.add(M, N)), lambda: parts(tf.add(x=M, y=N)))
    ((float32 [2] [4, 2]; bool [2] [True, True]); (float32 [2] [4, 2]; bool [2] [True, True]))
of_api(tf.add, [], add_of_types, lambda: parts(tf.add(M, N)))
    ((float32 [2] [4, 2]; bool [2] [True, True]))
of_api(tf.add, [], add, lambda: parts(tf.add(M, N)))
    ValueError: The dispatch_for_api decorator must be called with at least one signature, or applied to a function that
    has type annotations on its parameters.
of_api(tf.add, [{'z': Masked}], add)
    ValueError: signature includes annotation for unknown parameter 'z'.
of_api(tf.add, [{7: Masked}], add)
    ValueError: signature includes annotation for unknown parameter 7.
of_api(tf.add, [{'x': 3}], add)
    ValueError: Type annotation 3 is not currently supported by dispatch. Supported annotations: type objects,
    List[...], and Union[...]
of_api(tf.add, [{'x': TUPLES}], add)
    ValueError
of_api(tf.add, [{'x': Masked}], lambda a, b: a)
    ValueError
of_api(tf.concat, [{'values': MANY}], concat, lambda: parts(tf.concat([M, N], 0)))
    ((float32 [4] [1, -2, 3, 4]; bool [4] [True, False, True, True]))
of_api(tf.concat, [{'values': MANY}], concat, lambda: tf.concat([T, T], 0))
    (float32 [4] [7, 8, 7, 8])
of_api(tf.concat, [{'values': MANY}], concat, lambda: outcome_of(lambda: parts(tf.concat([M, T], 0))))
    ('ValueError')
of_api(tf.add, [{'x': Masked, 'y': Masked}, {'x': Masked, 'y': Other}], add, lambda: parts(tf.add(M, N)))
    ((float32 [2] [4, 2]; bool [2] [True, True]))
of_api(len, [{'x': Masked}], add)
    ValueError: <built-in function len> does not support dispatch.
of_api(print, [], add)
    ValueError: <built-in function print> does not support dispatch.
E.unregister_dispatch_for(add)
    ValueError
E.unregister_dispatch_for(len)
    ValueError: Function <built-in function len> was not registered using a `@dispatch_for_*` decorator.
outcome_of(lambda: M + T)
    'ValueError'
outcome_of(lambda: tf.concat([M, N], 0))
    'ValueError'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())


def test_asserts_of_an_added_type():
    ones, twos = Masked([1.0, 1.0], [True, True]), Masked([2.0, 2.0], [True, True])
    E.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)(asserting)
    try:
        tf.debugging.assert_equal(ones, ones)
        tf.debugging.assert_less(ones, twos)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.debugging.assert_equal(ones, twos)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.debugging.assert_greater(ones, twos)
        with pytest.raises(ValueError, match="already been registered"):
            E.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)(asserting)
    finally:
        E.unregister_dispatch_for(asserting)
    with pytest.raises(ValueError, match="was not registered"):
        E.unregister_dispatch_for(asserting)
