"""Forms of products of matrices and of einsum: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import assert_close, check, codes, convert, run

rng = np.random.default_rng(0)


def drawn(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def check_open(function, *inputs, static=()):
    """Compares a file whose dimensions are unknown, apart from `static`, with its function; returns the file."""
    specs = [tf.TensorSpec([d if i in static else None for i, d in enumerate(x.shape)], x.dtype) for x in inputs]
    content = convert(function, *specs)
    for got, expected in zip(run(content, *inputs), tf.nest.flatten(function(*map(tf.constant, inputs))), strict=True):
        assert got.shape == tuple(expected.shape)
        assert_close(got, expected.numpy(), 1e-5)
    return content


W, SQUARE = drawn(4, 5), drawn(4, 4)


@pytest.mark.parametrize(("function", "inputs", "expected"), [
    (lambda x: x @ W, [drawn(3, 4)], {"FULLY_CONNECTED": 1}),
    (lambda x: x @ W, [drawn(2, 3, 4)], {"FULLY_CONNECTED": 1}),
    (lambda x: tf.matmul(x, W, transpose_a=True), [drawn(4, 3)], {"TRANSPOSE": 1, "FULLY_CONNECTED": 1}),
    (lambda x: tf.matmul(x, W[None], transpose_a=True), [drawn(2, 4, 3)], {"TRANSPOSE": 1, "FULLY_CONNECTED": 1}),
    (lambda x: tf.matmul(x, W, transpose_b=True), [drawn(3, 5)], {"FULLY_CONNECTED": 1}),
    (lambda x: tf.matmul(x, W, adjoint_b=True), [drawn(2, 3, 5)], {"FULLY_CONNECTED": 1}),
    (lambda x: x @ W[None], [drawn(2, 3, 4)], {"FULLY_CONNECTED": 1}),
    (lambda x: x @ W[None, None], [drawn(3, 4)], {"BATCH_MATMUL": 1}),
    (lambda x: x @ np.stack([W, W]), [drawn(2, 3, 4)], {"BATCH_MATMUL": 1}),
    (lambda x: W @ x, [drawn(5, 3)], {"BATCH_MATMUL": 1}),
    (lambda x, y: x @ y, [drawn(3, 4), drawn(4, 2)], {"BATCH_MATMUL": 1}),
    (lambda x, y: tf.matmul(x, y, transpose_a=True), [drawn(4, 3), drawn(4, 2)], {"BATCH_MATMUL": 1}),
    (lambda x, y: tf.matmul(x, y, transpose_b=True), [drawn(2, 3, 4), drawn(2, 5, 4)], {"BATCH_MATMUL": 1}),
    (lambda x, y: tf.matmul(x, y, adjoint_a=True), [drawn(2, 4, 3), drawn(2, 4, 5)], {"BATCH_MATMUL": 1}),
    (lambda x: tf.einsum("ij,jk->ik", x, W), [drawn(3, 4)], {"FULLY_CONNECTED": 1}),
    (lambda x: tf.einsum("bij,jk->bik", x, W), [drawn(2, 3, 4)], {"FULLY_CONNECTED": 1}),
    (lambda x: tf.einsum("...j,jk->...k", x, W), [drawn(2, 3, 4)], {"FULLY_CONNECTED": 1}),
    (lambda x: tf.einsum("ij->ji", x), [drawn(3, 4)], {"TRANSPOSE": 1}),
    (lambda x: tf.einsum("ij->j", x), [drawn(3, 4)], {"SUM": 1}),
    (lambda x: tf.einsum("ij->", x), [drawn(3, 4)], {"SUM": 1}),
    (lambda x: tf.einsum("i...->...i", x), [drawn(3, 4, 2)], {"TRANSPOSE": 1}),
])  # fmt: skip
def test_operators_of_products(function, inputs, expected):
    content = check(function, *inputs, batch=False)
    assert codes(content) == expected


EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk->ki", (3, 4), (4, 5)), ("ij,kj->ik", (3, 4), (5, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bij,bkj->bik", (2, 3, 4), (2, 5, 4)),
    ("ijb,jkb->bik", (3, 4, 2), (4, 5, 2)), ("i,i->", (3,), (3,)), ("i,j->ij", (3,), (4,)), ("i,j->ji", (3,), (4,)),
    ("bi,bj->bij", (2, 3), (2, 4)), ("ij,ij->i", (3, 4), (3, 4)), ("ij,ij->ij", (3, 4), (3, 4)),
    ("ij,j->i", (3, 4), (4,)), ("i,ij->j", (3,), (3, 4)), ("ij,kl->ijkl", (2, 3), (4, 5)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)), ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("abc,bcd->ad", (2, 3, 4), (3, 4, 5)), ("abcd,cd->ab", (2, 3, 4, 5), (4, 5)), ("ijk,k->ij", (2, 3, 4), (4,)),
    ("ijk,jl->il", (2, 3, 4), (3, 5)), ("ij,jkl->ikl", (2, 3), (3, 4, 5)), ("ij,jkl->lik", (2, 3), (3, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("...i,...i->...", (2, 3), (2, 3)), ("b...,b->b...", (2, 3, 4), (2,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("ij,jk,k->i", (2, 3), (3, 4), (4,)), ("i,i,i->i", (3,), (3,), (3,)),
    ("ij,jk,il->kl", (2, 3), (3, 4), (2, 5)), ("ij , jk -> ik", (3, 4), (4, 5)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsums(case):
    equation, *shapes = case
    inputs = [drawn(*shape) for shape in shapes]
    check(lambda *xs: tf.einsum(equation, *xs), *inputs, batch=False, tolerance=1e-5)
    first, *others = inputs
    check(lambda x: tf.einsum(equation, x, *others), first, batch=False, tolerance=1e-5)


@pytest.mark.parametrize(("equation", "shapes", "static"), [
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)], (2,)),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)], (1, 3)),
    ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)], (2, 3)),
    ("bhqk,bkhd->bqhd", [(2, 3, 4, 6), (2, 6, 3, 5)], (1, 2, 3)),
    ("ij,jk->ik", [(3, 4), (4, 5)], ()),
    ("bi,bj->bij", [(2, 3), (2, 4)], (1,)),
])  # fmt: skip
def test_einsums_of_unknown_sizes(equation, shapes, static):
    check_open(lambda x, y: tf.einsum(equation, x, y), *[drawn(*shape) for shape in shapes], static=static)


@pytest.mark.parametrize(("equation", "weights"), [
    ("bsd,dhk->bshk", (4, 2, 3)), ("bsd,de->bse", (4, 5)), ("bshk,hkd->bsd", (2, 3, 4)), ("...d,de->...e", (4, 5)),
])  # fmt: skip
def test_layers_of_sequences_of_unknown_length(equation, weights):
    kernel = drawn(*weights)
    x = drawn(2, 3, 2, 3) if "shk," in equation else drawn(2, 3, 4)
    content = check_open(lambda x: tf.einsum(equation, x, kernel), x, static=range(2, x.ndim))
    assert codes(content).get("FULLY_CONNECTED", 0) == 1


def test_repeated_labels_have_no_form():
    with pytest.raises(TypeError, match="a repeated label of one operand has no form"):
        convert(lambda x: tf.einsum("ii->i", x), tf.TensorSpec([3, 3]))


@pytest.mark.parametrize("dtype", ["int32", "int8"])
def test_products_of_integers_have_no_form(dtype):
    with pytest.raises(TypeError, match="the runtime has no kernel of BATCH_MATMUL for"):
        convert(lambda x: tf.matmul(x, tf.ones([2, 2], dtype), output_type=tf.int32), tf.TensorSpec([2, 2], dtype))
