"""`tf.custom_gradient` and relatives: arguments, variables, and what a gradient function must return."""

import pytest

import tapeflow as tf

X = tf.constant([1.0, 2.0])


def run_both(function, *args):
    """The results of a function eagerly and traced."""
    return [function(*args), tf.function(function)(*args)]


def test_a_decorator_with_brackets():
    @tf.custom_gradient()
    def triple(x):
        """Triples."""
        return x * 1.0, lambda dy: dy * 3.0

    assert triple.__name__ == "triple" and triple.__doc__ == "Triples."

    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = triple(x)
        return tape.gradient(y, x)

    for gradient in run_both(differentiate, X):
        assert gradient.numpy().tolist() == [3.0, 3.0]
    assert triple(X).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="custom_gradient takes a function, not 3"):
        tf.custom_gradient(3)


def test_structures():
    @tf.custom_gradient
    def combine(a, b, *, scale=1.0):
        result = {"sum": a + b[0], "product": a * b[1] * scale}
        return result, lambda d_product, d_sum: (d_sum + 10.0 * d_product, [100.0 * d_sum, None])

    def differentiate(a, b, c):
        with tf.GradientTape() as tape:
            tape.watch([a, b, c])
            y = combine(a, [b, c], scale=2.0)
            total = tf.reduce_sum(y["sum"] + 1000.0 * y["product"])
        return y["product"], tape.gradient(total, [a, b, c])

    for product, (of_a, of_b, of_c) in run_both(differentiate, X, X + 1.0, X + 2.0):
        assert product.numpy().tolist() == [6.0, 16.0]
        assert of_a.numpy().tolist() == [10001.0, 10001.0] and of_b.numpy().tolist() == [100.0, 100.0] and of_c is None


def test_variables():
    v, w = tf.Variable(2.0, name="v"), tf.Variable(3.0, name="w")

    @tf.custom_gradient
    def scale(x):
        def gradient(dy, variables):
            assert [u.name for u in variables] == ["v:0", "w:0"]
            return dy * 7.0, [tf.reduce_sum(dy), tf.reduce_sum(dy) * 5.0]

        return x * v * w, gradient

    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scale(x)
        return tape.gradient(y, [x, v, w])

    for of_x, of_v, of_w in run_both(differentiate, X):
        assert of_x.numpy().tolist() == [7.0, 7.0] and of_v.numpy() == 2.0 and of_w.numpy() == 10.0


def test_one_variable_may_have_a_single_gradient():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def scale(x):
        return x * v, lambda dy, **kwargs: (dy, tf.reduce_sum(dy) * len(kwargs["variables"]))

    with tf.GradientTape() as tape:
        y = scale(X)
    assert tape.gradient(y, v).numpy() == 2.0


def test_variables_as_arguments():
    v = tf.Variable([1.0, 2.0])

    @tf.custom_gradient
    def double(x):
        return x * 2.0, lambda dy: dy * 5.0

    def differentiate():
        with tf.GradientTape() as tape:
            y = double(v)
        return tape.gradient(y, v)

    for gradient in run_both(differentiate):
        assert tf.convert_to_tensor(gradient).numpy().tolist() == [5.0, 5.0]


def gradient_of(result):
    @tf.custom_gradient
    def function(x, y):
        return x * y, result

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = function(X, 3.0)
    return tape.gradient(y, X)


def test_numbers_of_gradients():
    assert gradient_of(lambda dy: (dy, None)).numpy().tolist() == [1.0, 1.0]
    assert gradient_of(lambda dy: [None, dy]) is None
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1 instead"):
        gradient_of(lambda dy: dy)
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 3 instead"):
        gradient_of(lambda dy: (dy, dy, dy))


def test_gradients_of_variables_are_needed():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def forgets(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"), tf.GradientTape():
        forgets(X)
    assert forgets(X).numpy().tolist() == [2.0, 4.0]  # nothing is recorded

    @tf.custom_gradient
    def too_few(x):
        return x * v, lambda dy, variables: (dy, [])

    with tf.GradientTape() as tape:
        y = too_few(X)
    with pytest.raises(ValueError, match="Must return gradient for each variable"):
        tape.gradient(y, v)


def test_second_gradients():
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * x**2

    def differentiate(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = cube(x)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    for first, second in run_both(differentiate, X):
        assert first.numpy().tolist() == [3.0, 12.0] and second.numpy().tolist() == [6.0, 12.0]


def test_a_result_that_is_an_argument():
    @tf.custom_gradient
    def same(x):
        return x, lambda dy: dy * 4.0

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = same(X)
    assert y is not X and tape.gradient(y, X).numpy().tolist() == [4.0, 4.0]


def test_results_that_are_not_used():
    @tf.custom_gradient
    def two(x):
        return (x * 1.0, x * 2.0), lambda first, second: first + 10.0 * second

    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            first, _ = two(x)
        return tape.gradient(first, x)

    for gradient in run_both(differentiate, X):
        assert gradient.numpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("traced", [False, True])
def test_grad_pass_through_and_recompute(traced):
    v = tf.Variable(3.0)
    passing = tf.grad_pass_through(tf.round)
    recomputed = tf.recompute_grad(lambda x: tf.sin(x) * v)

    def differentiate(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a, b = passing(x * 2.5), recomputed(x)
        return a, tape.gradient(a, x), tape.gradient(b, [x, v])

    a, of_a, (of_b, of_v) = (tf.function(differentiate) if traced else differentiate)(X)
    assert a.numpy().tolist() == [2.0, 5.0] and of_a.numpy().tolist() == [2.5, 2.5]
    assert of_b.numpy() == pytest.approx((tf.cos(X) * 3.0).numpy())
    assert of_v.numpy() == pytest.approx(float(tf.reduce_sum(tf.sin(X))))
