"""`vectorized_map` and Jacobians: at once, in chunks, slice by slice; in functions and under tapes; to second order."""

import re

import numpy as np
import pytest

import op_table
import tapeflow as tf
from slices import FORMS, MATRICES, C, W, X, close, gradient, results, slice_by_slice
from tapeflow.control.vectorized_map import on_slices
from tapeflow.graph.transform.batch import BatchOptions


def jacobian(f, x, method="jacobian", **options):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return getattr(tape, method)(y, x, **options)


def iterated(e):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * tf.sin(e) * C + W[0]), (0, e))[1]


def iterated_until(e):
    return tf.while_loop(lambda a: tf.reduce_sum(a * a) < 50.0, lambda a: (a * 1.5 + W[1],), (e,))[0]


@tf.function
def called_in_a_function(e):
    return tf.reduce_sum(iterated(e) * tf.cond(e[1] > 0.0, lambda: e * W[2], lambda: C))


def iterated_of_iterated(e):
    """Of as many iterations as the slice says, at most four of the outer loop."""

    def step(i, a):
        inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 0.5 + C), (0, a))[1]
        return i + 1, tf.cond(a[0] > 0.0, lambda: inner * W[0], lambda: a - inner)

    return tf.while_loop(lambda i, a: e[0] * 3.0 > tf.cast(i, tf.float64), step, (0, e), maximum_iterations=4)[1]


def pairs(e):
    """The pairs of neighbours, by an op whose gradient may go through its kernel."""
    return tf.image.extract_patches(tf.reshape(e, [1, 3, 1, 1]), [1, 2, 1, 1], [1] * 4, [1] * 4, "VALID")


# Functions of a slice, and what is left in a graph of those that are no ops on batches; None where that may change.
FUNCTIONS = {
    "elementwise": (lambda e: tf.sin(e) * C + tf.reduce_sum(e**3.0), ""),
    "products": (lambda e: tf.tanh(tf.matmul(e[None], W)[0]) * C, ""),
    "what all slices share": (lambda e: tf.exp(tf.reduce_sum(W @ W * C) / 9.0) * e + tf.reduce_sum(W * W), ""),
    "nothing of the slice": (lambda e: W * C, ""),
    "gather": (lambda e: tf.gather(W, [2, 0]) * e, ""),
    "random order of axes": (lambda e: tf.transpose(tf.reshape(tf.tensordot(e, e, 0) * W, [3, 3, 1]), [2, 1, 0]), ""),
    "call": (tf.function(lambda e: tf.reduce_sum(e * W, 1) * e), ""),
    "condition": (lambda e: tf.cond(e[0] > 0.0, lambda: e * C * tf.reduce_sum(W), lambda: -e * e * W[0]), ""),
    "condition of nothing": (lambda e: tf.cond(tf.reduce_sum(W) > 0.0, lambda: e * C, lambda: -e * W[0]), ""),
    "cases": (
        lambda e: tf.switch_case(tf.argmax(e, output_type=tf.int32), [lambda: e, lambda: e * W[1], lambda: C]), ""),
    "loop": (iterated, "While"),
    "loop of its own length": (iterated_until, "While"),
    "loop of loops": (iterated_of_iterated, "While"),
    "map_fn": (lambda e: tf.map_fn(lambda r: r * tf.reduce_sum(e) * W[0, 0], e), "While"),
    "sorted segments": (lambda e: tf.math.segment_sum(e * W[0], [0, 0, 1]), ""),
    "a gradient through a kernel": (
        lambda e: gradient(lambda s: tf.reduce_sum(pairs(tf.sin(s) * W[1]) ** 3.0), e), None),
    "segments": (lambda e: tf.math.unsorted_segment_sum(e * W[0], [0, -1, 0], 2), ""),
    "an op without a rule": (lambda e: tf.linalg.tensor_diag(e * W[0]), "Vectorized"),
    "scatter": (lambda e: tf.tensor_scatter_nd_add(W, [[0], [2]], tf.stack([e, e * e])), ""),
    "elements": (lambda e: tf.gather_nd(e, [[2], [0], [2]]) * tf.scatter_nd([[1], [1]], e[:2], [3]), ""),
    "elements of its own": (
        lambda e: tf.stack([W[tf.argmax(e), 0], W[..., tf.argmax(e) - 3][1], tf.stack([e, C])[:, tf.argmin(e)][0]]),
        ""),
    "parts of its own": (
        lambda e: gradient(lambda s: tf.reduce_sum(tf.stack([s, C])[:, tf.argmin(e)] ** 2.0) * W[0, 0], e), ""),
    "Python": (lambda e: tf.py_function(lambda a: a * a, [e], tf.float64) * W[0], "While"),
    "nested": (lambda e: tf.vectorized_map(lambda s: s * tf.reduce_sum(e) * W[1], e), ""),
    "gradient": (lambda e: gradient(lambda s: tf.reduce_sum(tf.sin(s) * W * s), e), ""),
    "gradient of a loop": (lambda e: gradient(lambda s: tf.reduce_sum(iterated(s)), e), "While"),
    "gradient of a loop of its own length": (
        lambda e: gradient(lambda s: tf.reduce_sum(iterated_until(s)), e), "While"),
    "gradient of a condition": (
        lambda e: gradient(lambda s: tf.reduce_sum(tf.cond(e[0] > 0.0, lambda: s * s * W[0], lambda: s * C)), e), ""),
    "gradient by what all slices share": (
        lambda e: gradient(lambda w: tf.reduce_sum(tf.cond(e[0] > 0.0, lambda: e * w**2.0, lambda: tf.sin(w))), W), ""),
    "gradient of a call": (lambda e: gradient(called_in_a_function, e), "While"),
    "jacobian": (lambda e: jacobian(lambda s: tf.sin(s) * tf.reduce_sum(s * W[2]), e), ""),
}  # fmt: skip
MANNERS = {
    "at once": lambda f, x: tf.vectorized_map(f, x, warn=False),
    "in chunks": lambda f, x: on_slices(f, x, BatchOptions(warn=False, chunk=3)),
    "by a loop": lambda f, x: on_slices(f, x, BatchOptions(warn=False), at_once=False),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_to_second_order(name, form):
    f, _ = FUNCTIONS[name]
    want = results(lambda x: slice_by_slice(f, x), X)
    for manner in list(MANNERS.values())[: 1 if form == "unknown" else None]:
        close(FORMS[form](lambda x, manner=manner: results(lambda x: manner(f, x), x))(X), want)
        if form != "eager":
            close(results(FORMS[form](lambda x, manner=manner: manner(f, x)), X), want)


@pytest.mark.parametrize("name", [name for name, (_, left) in FUNCTIONS.items() if left is not None])
def test_what_graphs_are_made_of(name):
    f, left = FUNCTIONS[name]
    graph = tf.function(lambda x: tf.vectorized_map(f, x, warn=False)).get_concrete_function(MATRICES).graph
    types = {o.type.removeprefix("Stateless") for o in graph.get_operations()}
    assert types & {"Vectorized", "While"} == {left} - {""}


# ---- each op ---------------------------------------------------------------------------------------------------------


def rows():
    """The rows whose first sample has arrays; the module says which ops can't be called on less than all of them."""
    return [pytest.param(row, id=f"{row}-{i}") for i, row in enumerate(op_table.all_rows()) if row.samples]


# The rows with samples that are computed slice by slice, and the op that has no rule for them.
ONE_BY_ONE = {
    "boolean_mask": "Where",
    "image.non_max_suppression": "NonMaxSuppressionV3",
    "image.non_max_suppression_overlaps": "NonMaxSuppressionWithOverlaps",
    "math.bincount": "DenseBincount",
    "math.invert_permutation": "InvertPermutation",
}


@pytest.mark.parametrize("row", rows())
def test_each_op_at_once(row):
    """All ops of the table, with slices of all arguments, and of some where the others are captured."""
    compared, without_rules = compare(row)
    assert without_rules <= {ONE_BY_ONE.get(row.name)}
    if not compared:
        pytest.skip("no sample has slices")


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_each_op_that_is_listed_is_computed_slice_by_slice(name):
    without_rules = [compare(row)[1] for row in op_table.all_rows() if row.name == name and row.samples]
    assert set.union(*without_rules) == {ONE_BY_ONE[name]}


def compare(row):
    """Compares batches of a row's samples with slices; gives how many it compared, and the ops without a rule."""
    dtype = "float64" if "float64" in row.dtypes else row.dtypes[-1]
    compared, without_rules = 0, set()
    for args, kwargs in row.samples[:2]:
        given = [op_table.cast(a, dtype) for a in args]
        given = [tf.constant(a) if isinstance(a, np.ndarray) and a.dtype.kind in "iub" else a for a in given]
        every = [i for i, a in enumerate(given) if isinstance(a, tf.Tensor)]
        for places in [every] if len(every) < 2 else [every, every[:1], every[1:]]:
            samples = slices_and_results(row.function, given, kwargs, places)
            if samples is None:
                continue
            compared += 1
            try:
                check_batch(*samples, at_once=True)
            except ValueError as error:
                without_rules.add(re.match(r"No pfor vectorization defined for (\w+)", str(error))[1])
                check_batch(*samples, at_once=False)
    return compared, without_rules


def slices_and_results(function, given, kwargs, places):
    """Returns the op as a function of a slice of the arguments in some places, two slices, and what it gives for each
    of them; or None where they can't be slices."""

    def call(slices):
        own = list(given)
        for i, s in zip(places, slices, strict=True):
            own[i] = s
        return function(*own, **kwargs)

    floats = [given[i].dtype.is_floating or given[i].dtype.is_complex for i in places]
    slices = [[given[i] * 0.97 if f and smaller else given[i] for i, f in zip(places, floats, strict=True)]
              for smaller in (False, True)]  # fmt: skip
    try:
        want = [tf.nest.flatten(call(s)) for s in slices]
    except tf.errors.InvalidArgumentError:
        return None  # the arguments belong together
    if not places or not all(isinstance(t, tf.Tensor) for t in want[0]):
        return None
    if any(a.shape != b.shape for a, b in zip(*want, strict=True)):
        return None
    return call, slices, want


def check_batch(call, slices, want, at_once):
    """The function gives for both slices what it gives for each of them, by rules for batches or in any way."""
    mapped = tf.function(
        lambda *batch: tf.vectorized_map(call, list(batch), fallback_to_while_loop=not at_once, warn=False),
        autograph=False,
    )
    found = tf.nest.flatten(mapped(*map(tf.stack, zip(*slices, strict=True))))
    for got, *both in zip(found, *want, strict=True):
        assert got.dtype == both[0].dtype
        # Ops that have no float64 may round differently in a batch: kernels for several elements at once do.
        rtol = {tf.float32: 1e-6, tf.float16: 1e-3}.get(both[0].dtype, 1e-9)
        np.testing.assert_allclose(got.numpy(), np.stack(both), rtol=rtol, atol=1e-10)


# ---- what slices are taken of ----------------------------------------------------------------------------------------

PAIR = [MATRICES, MATRICES]


@pytest.mark.parametrize("signature", [None, PAIR], ids=["known", "unknown"])
def test_a_first_dimension_of_one_is_broadcast(signature):
    def products(a, b):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = tf.vectorized_map(lambda e: e["a"] * e["b"], {"a": a, "b": b})
        return [y, *tape.gradient(y, [a, b])]

    f = tf.function(products, input_signature=signature) if signature else tf.function(products)
    ones = np.ones([4, 1])
    for call in (products, f):
        close(call(X, X[:1]), [X * X[:1], ones * X[:1], tf.reduce_sum(X, 0, keepdims=True)])
        close(call(X[:1], X), [X * X[:1], tf.reduce_sum(X, 0, keepdims=True), ones * X[:1]])
        close(call(X[:1], X[:1]), [X[:1] ** 2.0, X[:1], X[:1]])
        with pytest.raises(Exception, match=r"first dimensions|Incompatible shapes") as wrong:
            call(X, X[:2])
        assert isinstance(wrong.value, (tf.errors.InvalidArgumentError, ValueError))


@pytest.mark.parametrize("manner", ["at once", "in chunks"])
@pytest.mark.parametrize("form", FORMS)
def test_no_slices(form, manner):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = MANNERS[manner](lambda e: tf.reduce_sum(e) * W * tf.sort(e), x)
        return y, tape.gradient(y, [x, W])

    y, (by_x, by_w) = FORMS[form](f)(tf.zeros([0, 3], tf.float64))
    assert (y.shape, by_x.shape) == ((0, 3, 3), (0, 3))
    np.testing.assert_array_equal(by_w, np.zeros([3, 3]))


def test_unknown_ranks():
    f = tf.function(lambda x: tf.vectorized_map(lambda e: tf.reduce_sum(e) * e, x),
                    input_signature=[tf.TensorSpec(None, tf.float64)])  # fmt: skip
    for x in (X, tf.reshape(X, [2, 3, 2])):
        np.testing.assert_allclose(f(x), [e.numpy().sum() * e.numpy() for e in x])


def test_structures_and_what_is_no_tensor():
    @tf.function
    def f(x):
        return tf.vectorized_map(lambda e: {"none": None, "text": "a", "pair": (e, 5)}, x)

    found = f(tf.constant([1.0, 2.0]))
    assert found["none"] is None
    assert found["text"].numpy().tolist() == [b"a", b"a"]
    assert [t.numpy().tolist() for t in found["pair"]] == [[1.0, 2.0], [5, 5]]


COMPOSITES = {
    "ragged slices": (
        lambda: tf.vectorized_map(lambda e: e * 2, tf.ragged.constant([[1, 2], [], [3]])), [[2, 4], [], [6]]),
    "sparse results": (
        lambda: tf.sparse.to_dense(tf.vectorized_map(lambda e: tf.sparse.from_dense([e, 0]), tf.constant([1, 2]))),
        [[1, 0], [2, 0]]),
    "indexed slices": (
        lambda: tf.vectorized_map(lambda e: tf.IndexedSlices([e], [1], [3]), tf.constant([1, 2])),
        [[0, 1, 0], [0, 2, 0]]),
    "strings": (lambda: tf.vectorized_map(tf.strings.length, tf.constant(["a", "bcd"])), [1, 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSITES)
def test_what_is_no_tensor_of_numbers(name):
    call, want = COMPOSITES[name]
    for form in (call, tf.function(call)):
        found = form()
        assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == want


# ---- once for each slice ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [lambda f: f, tf.function], ids=["eager", "function"])
def test_random_numbers_are_each_slices_own(form):
    draws = {
        "uniform": lambda e: tf.random.uniform([3], seed=3),
        "normal": lambda e: tf.random.normal([3]),
        "integers": lambda e: tf.random.uniform([3], 0, 1000, tf.int32, seed=1),
        "categories": lambda e: tf.random.categorical(tf.zeros([1, 1000]), 3, seed=1)[0],
        "order": lambda e: tf.random.shuffle(tf.range(10), seed=1),
        "within a call": tf.function(lambda e: tf.random.uniform([3], seed=3)),
        "within a conditional of all": lambda e: tf.cond(
            tf.reduce_sum(W * W) > 0.0, lambda: tf.random.uniform([3], seed=3), lambda: tf.zeros([3])
        ),
        "within a conditional": lambda e: tf.cond(
            e > 0.0, lambda: tf.random.uniform([3], seed=3), lambda: tf.zeros([3])
        ),
    }
    for name, draw in draws.items():
        rows = form(lambda x, draw=draw: tf.vectorized_map(draw, x, warn=False))(tf.ones([4])).numpy().tolist()
        assert len({tuple(row) for row in rows}) == 4, name


def test_numbers_of_one_seed_are_those_of_one_call():
    """As TensorFlow draws them: all slices' in one."""
    tf.random.set_seed(5)
    found = tf.vectorized_map(lambda e: tf.random.uniform([2], seed=3), tf.zeros([3]))
    tf.random.set_seed(5)
    np.testing.assert_array_equal(found, tf.random.uniform([3, 2], seed=3))


# What TensorFlow draws for three slices after `tf.random.set_seed(5)`, and what it draws next.
DRAWN = {
    "uniform": (lambda e: tf.random.uniform([], seed=3), [0.28868, 0.68892, 0.68994], [0.46892, 0.18237, 0.76518]),
    "of no seed": (lambda e: tf.random.uniform([2])[1], [0.68999, 0.45222, 0.95606], [0.48743, 0.67618, 0.86238]),
    "two of one seed": (lambda e: tf.random.uniform([], seed=3) - tf.random.uniform([], seed=3), [0.0] * 3, [0.0] * 3),
    "integers": (lambda e: tf.random.uniform([2], 0, 100, tf.int32, seed=3)[0], [70, 58, 54], [39, 27, 12]),
    "normal": (lambda e: tf.random.normal([2], seed=3)[0], [-1.4617, 0.49283, -0.68229], [0.22225, -1.76049, 0.35261]),
    "gamma": (lambda e: tf.random.gamma([2], e + 1.0, seed=3)[0], [0.73304, 1.74516, 2.46703],
              [0.10967, 7.27081, 1.85801]),
    "categories": (lambda e: tf.random.categorical(tf.zeros([1, 10]), 3, seed=3)[0, 1], [5, 9, 5], [5, 1, 2]),
    "order": (lambda e: tf.random.shuffle(tf.range(6), seed=3)[0], [2, 0, 0], [0, 3, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_numbers_that_seeds_decide(name):
    """A function's operations go on with their streams; in eager mode each call makes new operations."""
    draw, first, second = DRAWN[name]

    def mapped(x):
        return tf.vectorized_map(draw, x, warn=False)

    for form, later in ((mapped, first), (tf.function(mapped, autograph=False), second)):
        tf.random.set_seed(5)
        close([form(tf.constant([0.0, 1.0, 2.0])) for _ in range(2)], [first, later], 1e-5)


def test_numbers_without_state_are_the_same_for_all_slices():
    found = tf.vectorized_map(lambda e: tf.random.stateless_uniform([2], seed=[1, 2]), tf.zeros([3])).numpy()
    assert (found == found[0]).all()


@pytest.mark.parametrize("form", [lambda f: f, tf.function], ids=["eager", "function"])
def test_assignments_happen_once_for_each_slice(form):
    v = tf.Variable(1.0)
    total = form(lambda x: tf.vectorized_map(lambda e: v.assign_add(e), x, warn=False))(tf.constant([1.0, 2.0, 3.0]))
    assert total.numpy().tolist() == [2.0, 4.0, 7.0]
    assert v.numpy() == 7.0


@pytest.mark.parametrize("form", [lambda f: f, tf.function], ids=["eager", "function"])
def test_checks_of_values(form):
    def checked(x):
        def one(e):
            tf.debugging.assert_positive(e)
            return tf.debugging.check_numerics(e, "no number") * 2.0

        return tf.vectorized_map(one, x, warn=False)

    f = form(checked)
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    for wrong in ([1.0, -1.0], [1.0, np.inf]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(wrong))


# ---- falling back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [lambda e: tf.range(tf.cast(e[0] * 0.0, tf.int32) + 3), lambda e: tf.numpy_function(np.sin, [e], tf.float64)],
    ids=["range", "NumPy"],
)
@pytest.mark.parametrize("form", [lambda f: f, tf.function], ids=["eager", "function"])
def test_what_is_not_computed_at_once_is_told_or_refused(form, f, caplog):
    form(lambda x: tf.vectorized_map(f, x))(X)
    assert "one by one" in caplog.text
    caplog.clear()
    form(lambda x: tf.vectorized_map(f, x, warn=False))(X)
    assert "one by one" not in caplog.text
    with pytest.raises(ValueError, match="No pfor vectorization defined"):
        form(lambda x: tf.vectorized_map(f, x, fallback_to_while_loop=False))(X)


def test_the_programs_own_errors_are_told():
    f = tf.function(lambda x: tf.vectorized_map(lambda i: tf.gather([1.0, 2.0], i), x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="7 is not in"):
        f(tf.constant([1, 7]))
    segments = tf.function(lambda x: tf.vectorized_map(lambda i: tf.math.unsorted_segment_sum([1.0, 2.0], i, 2), x))
    with pytest.raises(tf.errors.InvalidArgumentError):
        segments(tf.constant([[0, 2], [0, 1]]))  # 2 is not the first segment of the next slice
    different = tf.function(lambda x: tf.vectorized_map(lambda n: tf.range(n), x, warn=False))
    assert different(tf.constant([2, 2])).numpy().tolist() == [[0, 1], [0, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes"):
        different(tf.constant([2, 3]))


@pytest.mark.parametrize("name", ["map_fn", "an op without a rule"])
def test_gradients_by_constants_of_the_graph(name):
    f, _ = FUNCTIONS[name]

    @tf.function
    def inside():
        x = tf.constant(X.numpy())
        return gradient(lambda x: tf.vectorized_map(f, x), x)

    np.testing.assert_allclose(inside(), gradient(lambda x: slice_by_slice(f, x), X))


def test_gradients_that_add_up_are_computed_at_once(recwarn):
    """Adding products to a sum in place would go through the slices, of which torch warns."""

    def gradients(e):
        with tf.GradientTape() as tape:
            h = e[None]
            for _ in range(3):
                h = tf.tanh(h @ W)
            loss = tf.reduce_sum(h)
        return tape.gradient(loss, W)

    found = tf.vectorized_map(gradients, X)
    assert not [w for w in recwarn if "performance drop" in str(w.message)]
    close(found, [gradients(e) for e in X])


def test_it_is_traced_once():
    calls = []

    @tf.function
    def f(x):
        return tf.vectorized_map(lambda e: calls.append(e.shape) or e * 2.0, x)

    f(X)
    f(X + 1.0)
    assert calls == [tf.TensorShape([3])]


# ---- Jacobians -------------------------------------------------------------------------------------------------------


def mlp(x):
    return tf.tanh(tf.matmul(tf.nn.softplus(tf.matmul(x, W) + C), W))


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
@pytest.mark.parametrize("options", [{}, {"parallel_iterations": 2}, {"experimental_use_pfor": False}], ids=str)
def test_jacobians(method, options):
    want = jacobian(mlp, X, method)
    for form in FORMS.values():
        close([form(lambda x: jacobian(mlp, x, method, **options))(X)], [want])
    with tf.GradientTape() as tape:  # one that records
        tape.watch(X)
        found = jacobian(mlp, X, method, **options)
        total = tf.reduce_sum(found * found)
    inside = tf.function(lambda x: gradient(lambda x: tf.reduce_sum(jacobian(mlp, x, method, **options) ** 2.0), x))
    close([found, tape.gradient(total, X)], [want, inside(X)])


def test_a_jacobian_is_the_limit_of_differences():
    found = tf.function(lambda x: jacobian(mlp, x))(X).numpy()
    step, x = 1e-6, X.numpy()
    for i in np.ndindex(4, 3):
        d = np.zeros([4, 3])
        d[i] = step
        np.testing.assert_allclose(
            found[:, :, i[0], i[1]], (mlp(x + d) - mlp(x - d)) / (2 * step), rtol=1e-6, atol=1e-8
        )


def branched(e):
    return tf.cond(e[0] > 0.0, lambda: tf.linalg.matvec(W, e) * e, lambda: e * C)


@pytest.mark.parametrize("f", [iterated, branched, lambda e: tf.map_fn(lambda r: r * r * W[0], e)])
def test_jacobians_through_loops_and_conditionals(f):
    """The loop or conditional runs once; the rows share what it keeps."""
    staged = tf.function(lambda x: jacobian(f, x))
    for x in (X[0], X[1]):
        close([staged(x)], [jacobian(f, x)])
    types = [o.type.removeprefix("Stateless") for o in staged.get_concrete_function(X[0]).graph.get_operations()]
    assert types.count("While") + types.count("If") == 1


def test_jacobians_of_jacobians():
    def third(x):
        return jacobian(lambda x: jacobian(lambda x: jacobian(lambda x: tf.reduce_sum(x**4.0), x), x), x)

    x = np.array([1.0, 2.0])
    want = np.zeros([2, 2, 2])
    want[[0, 1], [0, 1], [0, 1]] = 24.0 * x
    close([third(tf.constant(x)), tf.function(third)(tf.constant(x))], [want, want])


def test_jacobians_by_several_sources():
    def all_of(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, C])
            y = tf.linalg.matvec(W, x) * C
        return tape.jacobian(y, {"x": x, "w": W, "c": C}), tape.jacobian(y, X)

    found, none = tf.function(all_of)(X[0])
    assert none is None
    np.testing.assert_allclose(found["x"], C[:, None] * W)
    np.testing.assert_allclose(found["w"], np.einsum("i,ij,k->ijk", C, np.eye(3), X[0]))
    np.testing.assert_allclose(found["c"], np.diag(tf.linalg.matvec(W, X[0])))


def test_shapes_of_slices():
    """Ops that read shapes see that of a slice, or of what slices share."""
    f = tf.function(lambda x: tf.vectorized_map(lambda e: [*tf.shape_n([e, x]), tf.size(e), tf.rank(e)], x))
    own, whole, size, rank = f(tf.ones([4, 2]))
    assert own.numpy().tolist() == [[2]] * 4 and whole.numpy().tolist() == [[4, 2]] * 4
    assert size.numpy().tolist() == [2] * 4 and rank.numpy().tolist() == [1] * 4


# ---- GraphDefs -------------------------------------------------------------------------------------------------------


def diagonal(e):
    return tf.linalg.tensor_diag(e * C) * tf.reduce_sum(e)


def mapped(e):
    return tf.map_fn(lambda r: r * tf.reduce_sum(e) + C[0], e)


@pytest.mark.parametrize(("f", "left"), [(diagonal, "Vectorized"), (mapped, "StatelessWhile")])
def test_graph_defs_have_tensorflows_ops_only(f, left):
    """What runs at once here goes through the slices in a loop there; so does its gradient."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float64, [None, 3], "x")
        y = tf.vectorized_map(f, x, warn=False)
        assert any(o.type == left for o in graph.get_operations())
        fetches = [tf.identity(t, f"out{i}") for i, t in enumerate([y, tf.gradients(y, x)[0]])]
        with tf.compat.v1.Session() as session:
            want = session.run(fetches, {x: X.numpy()})
    proto = graph.as_graph_def()
    functions = [node for function in proto.library.function for node in function.node_def]
    assert "Vectorized" not in {node.op for node in [*proto.node, *functions]}
    with tf.Graph().as_default():
        outputs = tf.import_graph_def(proto, return_elements=[f"out{i}:0" for i in range(len(want))], name="")
        with tf.compat.v1.Session() as session:
            close(session.run(outputs, {"x:0": X.numpy()}), want)
