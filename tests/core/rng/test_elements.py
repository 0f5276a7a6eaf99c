"""Random numbers in the primitives of compiled loops: the same as those of Philox's kernels."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.rng import elements, philox
from tapeflow.core.rng.philox import Philox

CPU = torch.device("cpu")
SEEDS = [(0, 0), (3, 5), (-1, -2), (2**62, -(2**63)), (2**31, 2**63 - 1)]


class Numbers:
    """A builder that computes at once: each element is a scalar of NumPy, and numbers take the type of the element."""

    def number(self, value, dtype):
        return dtype.as_numpy_dtype(value)

    def convert(self, x, dtype):
        if isinstance(x, np.integer) and dtype.is_integer:
            return np.array(x).astype(dtype.as_numpy_dtype)[()]
        return dtype.as_numpy_dtype(x)

    def float_of_bits(self, x):
        return np.array(x).view(np.float32 if x.dtype == np.int32 else np.float64)[()]

    def select(self, condition, x, y):
        return x if condition else y


def _add_functions():
    functions = {
        "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor, "add": np.add,
        "sub": np.subtract, "mul": np.multiply, "less": np.less, "maximum": np.maximum, "shift_left": np.left_shift,
        "shift_right": np.right_shift, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    }  # fmt: skip
    for name, function in functions.items():

        def method(self, x, *others, function=function):
            with np.errstate(over="ignore"):
                return function(x, *[x.dtype.type(y) for y in others])

        setattr(Numbers, name, method)


_add_functions()
B = Numbers()


def stream_of(stream):
    """Returns the key and the halves of the counter of a stream."""
    return [np.uint64(n) for n in (stream.key, stream.counter & 2**64 - 1, stream.counter >> 64)]


@pytest.mark.parametrize("counter", [0, 7, 2**32 - 2, 2**64 - 2, 2**64 + 5, 2**96 - 1, (2**64 - 1) << 64])
@pytest.mark.parametrize("key", [0, 0x0123456789ABCDEF, 2**64 - 1])
def test_blocks(counter, key):
    stream = Philox(key, counter)
    for offset in (0, 1, 2, 100):
        expected = stream.skipped(offset).words(1, CPU).numpy().view(np.uint32)[0].tolist()
        assert [int(word) for word in elements.block_at(B, stream_of(stream), offset)] == expected


def test_words_are_joined():
    assert elements.join_words(B, np.uint64(0x89ABCDEF), np.uint64(0x01234567)) == 0x0123456789ABCDEF


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_keys_and_counters_of_seeds(seed, dtype):
    seed = [int(np.array(s).astype(dtype)) for s in seed]
    key, low, high = elements.key_and_counter(B, [dtype(s) for s in seed])
    assert low == 0 and Philox(int(key), int(high) << 64) == philox.from_seed(seed)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize(("dtype", "tolerance"), [(tf.float32, 2e-6), (tf.float64, 1e-14)])
def test_numbers(count, dtype, tolerance):
    stream = philox.from_seed((3, 5))
    for convert, expected in ((elements.uniform, philox.to_uniform), (elements.normal, philox.to_normal)):
        found = elements.draw_numbers(B, convert, count, stream_of(stream), dtype)
        assert {type(x) for x in found} == {dtype.as_numpy_dtype}
        wanted = philox.fill(stream, count, dtype.torch, CPU, expected).numpy()
        np.testing.assert_allclose(
            found, wanted, rtol=tolerance, atol=0 if expected is philox.to_uniform else tolerance
        )
        if convert is elements.uniform:
            assert np.array(found).tolist() == wanted.tolist()


def test_the_least_number_has_a_logarithm():
    for dtype, count in ((tf.float32, 2), (tf.float64, 4)):
        sine, cosine = elements.normal(B, [np.uint64(0)] * count, dtype)
        assert sine == 0.0 and cosine == pytest.approx(5.677693, rel=1e-5)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.int32])
def test_other_dtypes_are_not_compiled(dtype):
    with pytest.raises(Unsupported, match=f"random numbers of {dtype.name} are not compiled"):
        elements.draw_numbers(B, elements.uniform, 1, stream_of(Philox(0, 0)), dtype)
