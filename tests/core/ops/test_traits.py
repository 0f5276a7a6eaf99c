"""Every trait that an op declares holds: the op is run on what the op table gives it, and compared.

A trait that no row reaches with fitting arguments is skipped, and so counted.
"""

import functools
import math

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.definition import Op, registry
from tapeflow.core.ops.kernels import raw_arguments


def declaring(trait):
    """The ops that declare a trait."""
    names = sorted(n for n, op in registry.items() if getattr(op, trait) is not getattr(Op, trait))
    return pytest.mark.parametrize("name", names)


def each(calls, name, fits=lambda op, args, outputs: True):
    """The calls of an op whose arguments fit."""
    fitting = [c for c in calls.get(name, ()) if fits(*c)]
    if not fitting:
        pytest.skip(f"no row of the op table runs {name} with fitting arguments")
    return fitting


def equal(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def close(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "fc":
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(a, b)


def memory(tensor):
    return tensor.value.untyped_storage().data_ptr() if isinstance(tensor.value, torch.Tensor) else 0


@declaring("elementwise")
def test_elementwise(calls, name):
    """The op of elements in another order gives its results in that order."""
    for op, args, outputs in each(calls, name, lambda op, args, outputs: outputs[0].shape.num_elements() > 1):
        shape = outputs[0].shape
        order = np.random.default_rng(0).permutation(shape.num_elements())

        def shuffled(tensor, shape=shape, order=order):
            if tensor.shape.rank == 0:  # some inputs, as patterns, may be nothing else
                return tensor
            spread = np.broadcast_to(tensor.numpy(), shape.as_list())
            return tf.constant(spread.reshape(-1)[order], tensor.dtype)

        for result, out in zip(tf.nest.flatten(op.run(tuple(op.map(shuffled, args)))), outputs, strict=True):
            close(result.numpy(), out.numpy().reshape(-1)[order])


@declaring("row")
def test_row(calls, name):
    """The op of some rows gives these rows of its result."""
    for op, args, outputs in each(calls, name, lambda op, args, outputs: outputs[0].shape.rank > 1):
        (x, *others), (out,) = op.tensors(args), outputs
        part = op.run(tuple(op.with_tensors([x[1:], *others], op.statics(args))))
        close(part.numpy(), out.numpy()[1:])


@declaring("exact_in_batches")
def test_exact_in_batches(calls, name):
    """The op's batching rule gives each slice what the op gives it alone, to the bit."""
    for op, args, outputs in each(calls, name):
        halves = op.map(lambda t: t * tf.cast(0.5, t.dtype), args)
        stacked = op.map(lambda a, b: tf.stack([a, b]), args, halves)

        def of_slice(tensors, op=op, args=args):
            return op.run(tuple(op.with_tensors(tensors, op.statics(args))))

        both = tf.vectorized_map(of_slice, op.tensors(stacked), fallback_to_while_loop=False)
        for result, first, second in zip(
            tf.nest.flatten(both), outputs, tf.nest.flatten(op.run(tuple(halves))), strict=True
        ):
            equal(result[0], first)
            equal(result[1], second)


@declaring("commutative")
def test_commutative(calls, name):
    for op, args, outputs in each(calls, name):
        first, *rest = op.tensors(args)
        swapped = [*rest[:1], first, *rest[1:]]
        equal(
            op.run(tuple(op.with_tensors(swapped, op.statics(args), len(args[0]) if op.kinds[0] == "list" else 0))),
            outputs[0],
        )


@declaring("linear")
def test_linear(calls, name):
    """The results for two calls' inputs, added up, are the result for the sums of these."""
    for op, args, outputs in each(calls, name, lambda op, args, outputs: outputs[0].dtype.is_floating):
        doubled = op.map(lambda t: t * tf.cast(2.0, t.dtype), args)
        sums = op.map(lambda t: t * tf.cast(3.0, t.dtype), args)
        close(op.run(tuple(sums)), outputs[0] + op.run(tuple(doubled)))


@declaring("identity")
def test_identity(calls, name):
    for _, args, outputs in each(calls, name):
        equal(outputs[0], args[0])


@declaring("identity_if_same_shape")
def test_identity_if_same_shape(calls, name):
    def fits(op, args, outputs):
        return args[0].shape == outputs[0].shape and args[0].dtype == outputs[0].dtype

    for _, args, outputs in each(calls, name, fits):
        equal(outputs[0], args[0])


@declaring("neutral")
def test_neutral(name):
    op = registry[name]
    x = tf.constant([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan])
    results = [op.function(x, tf.constant(op.neutral))]
    results += [op.function(tf.constant(op.neutral), x)] if op.commutative else []
    for result in results:
        equal(result.numpy().view(np.int32)[:-1], x.numpy().view(np.int32)[:-1])


@declaring("fills")
def test_fills(calls, name):
    for op, _, outputs in each(calls, name):
        equal(outputs[0], np.full(outputs[0].shape, op.fills))


@declaring("random_fill")
def test_random_fill(name):
    bounds = (tf.constant(0), tf.constant(9)) if name == "RandomUniformInt" else ()
    dtype = {} if bounds else {"dtype": tf.float32}
    assert registry[name].random
    assert registry[name].function((3, 2), *bounds, seed=1, seed2=0, **dtype).shape == [3, 2]


@declaring("reads_shape")
def test_reads_shape(calls, name):
    for op, args, outputs in each(calls, name, lambda op, args, _: op.tensors(args)[0].dtype.torch is not None):
        results = op.run(tuple(op.map(tf.zeros_like, args)))
        for result, out in zip(tf.nest.flatten(results), outputs, strict=True):
            equal(result, out)


@declaring("allocates")
def test_allocates(calls, name):
    for op, args, _ in each(calls, name, lambda op, args, outputs: isinstance(outputs[0].value, torch.Tensor)):
        inputs = op.tensors(args)
        result = op.run(tuple(args))
        assert not {memory(t) for t in tf.nest.flatten(result) if memory(t)} & {memory(t) for t in inputs}
        assert not op.view and not op.identity


@declaring("keeps_nothing")
def test_keeps_nothing(calls, name):
    """The result is of memory of its own, or an input itself."""
    for op, args, _ in each(calls, name):
        for t in tf.nest.flatten(op.run(tuple(args))):
            for x in op.tensors(args):
                assert memory(t) != memory(x) or not memory(x) or t.shape == x.shape


@declaring("view")
def test_view(calls, name):
    """The op's result has the elements of its inputs, and no others. In some call it shares their memory."""
    shared = False
    for op, args, outputs in each(calls, name, lambda op, args, outputs: args[0] is not None):
        inputs, results = op.tensors(args), tf.nest.flatten(op.function(*args))
        shared |= bool({memory(t) for t in inputs if memory(t)} & {memory(t) for t in results})
        for found, given in ((results, inputs), (outputs, inputs)):
            equal(*(np.sort(np.concatenate([t.numpy().ravel() for t in tensors])) for tensors in (found, given)))
    assert shared


@declaring("for_many")
def test_for_many(calls, name):
    """The op's other kernel computes the same; which ops have one depends on the processor."""
    for op, args, outputs in each(calls, name, lambda op, args, outputs: outputs[0].dtype is tf.float32):
        if op.kernel_for_many is None:
            pytest.skip("the op's kernel is as fast on this processor")
        close(op.kernel_for_many(*raw_arguments(op, args)), outputs[0])


@declaring("inline")
def test_inline(calls, name):
    for op, args, outputs in each(calls, name, lambda op, args, outputs: outputs[0].dtype.is_floating):
        call = op.inline(*args)
        if call is not None:
            result = evaluated(*call, [t.value for t in op.tensors(args)])
            for value, output in zip(result if isinstance(result, (tuple, list)) else [result], outputs, strict=True):
                close(value, output)


def evaluated(kernel, template, values):
    names = [f"x{i}" for i in range(len(values))]
    return eval(template.format(*names, kernel="kernel"), {"kernel": kernel, **dict(zip(names, values, strict=True))})


@declaring("takes_sparse")
def test_takes_sparse(calls, name):
    """The op of a sparse tensor is one with the op's results for its values, at the same places."""
    for op, args, outputs in each(calls, name, lambda op, args, outputs: outputs[0].shape.rank):
        (x,), rank = op.tensors(args), outputs[0].shape.rank
        places = np.argwhere(np.arange(x.shape.num_elements()).reshape(x.shape) % 3 != 1).reshape(-1, rank)
        sparse = tf.SparseTensor(places, tf.gather_nd(x, places), x.shape)
        result = op.function(sparse, *op.statics(args))
        equal(result.indices, places)
        equal(result.dense_shape, x.shape)
        close(result.values, tf.gather_nd(outputs[0], places))


DRAWS = {  # arguments of which two draws are hardly ever equal
    "Multinomial": {"logits": np.zeros([1, 1000]), "num_samples": 20},
    "RandomGamma": {"shape": [20], "alpha": 2.0},
    "RandomPoissonV2": {"shape": [20], "rate": 1e6},
    "RandomShuffle": {"value": np.arange(100)},
    "RandomUniformInt": {"shape": [20], "minval": 0, "maxval": 10**6},
}


@declaring("random")
def test_random(name):
    """Each run of the op draws other numbers, also in a function, where equal operations would otherwise be shared. A
    function without their results does not run it."""
    draw = functools.partial(getattr(tf.raw_ops, name), **DRAWS.get(name, {"shape": [20], "dtype": tf.float32}))
    assert (draw().numpy() != draw().numpy()).any()
    pair = tf.function(lambda: (draw(), draw())).get_concrete_function()
    first, second = pair()
    assert (first.numpy() != second.numpy()).any()
    assert pair.source().count(f"op_{name}(") == 2

    def unused():
        draw()
        return tf.constant(1)

    assert f"op_{name}(" not in tf.function(unused).get_concrete_function().source()


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="oneDNN computes it")
@declaring("activation")
def test_activation(calls, name):
    def fits(op, args, outputs):
        return outputs[0].dtype is tf.float32 and outputs[0].value.numel()

    for op, args, outputs in each(calls, name, fits):
        x = args[0].value.reshape(1, 1, 1, -1)
        attrs = [0, 0], [1, 1], [1, 1], 1, *op.activation.arguments
        result = torch.ops.mkldnn._convolution_pointwise(x, torch.ones(1, 1, 1, 1), None, *attrs)
        close(result.reshape(args[0].value.shape), outputs[0])
