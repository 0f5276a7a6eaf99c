"""Fourier transforms beside NumPy's, and their gradients. They are linear: a gradient is the adjoint."""

import numpy as np
import pytest

import tapeflow as tf

RNG = np.random.default_rng(0)
SHAPE = (2, 4, 6, 5)


def complex_numbers(shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def check(transform, numpys, x, traced=True, tolerance=1e-9):
    """Checks the values, in a function of unknown shape too, and the gradient."""
    variable = tf.constant(x)
    expected = numpys(x)
    dy = complex_numbers(expected.shape) if np.iscomplexobj(expected) else RNG.normal(size=expected.shape)
    change = complex_numbers(x.shape) if np.iscomplexobj(x) else RNG.normal(size=x.shape)

    def differentiate(x, dy):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = transform(x)
        return y, tape.gradient(y, x, dy)

    unknown = [tf.TensorSpec([None] * x.ndim, x.dtype), tf.TensorSpec([None] * dy.ndim, dy.dtype)]
    for function in (differentiate, tf.function(differentiate, input_signature=unknown))[: 1 + traced]:
        y, dx = function(variable, tf.constant(dy))
        assert y.dtype == expected.dtype and dx.dtype == x.dtype and dx.shape == x.shape
        np.testing.assert_allclose(y, expected, tolerance, tolerance)
        product, moved = np.vdot(dx, change), np.vdot(dy, numpys(change))
        if not (np.iscomplexobj(x) and np.iscomplexobj(expected)):
            product, moved = product.real, moved.real
        np.testing.assert_allclose(product, moved, 1e-9, 1e-9)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("inverse", [False, True])
def test_complex_transforms(rank, inverse):
    name = ("i" if inverse else "") + "fft" + ("" if rank == 1 else f"{rank}d")
    axes = tuple(range(-rank, 0))
    numpys = np.fft.ifftn if inverse else np.fft.fftn
    function = getattr(tf.signal, name)
    check(function, lambda x: numpys(x, axes=axes), complex_numbers(SHAPE))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"rank of at least {rank}"):
        function(tf.zeros([3] * (rank - 1), tf.complex64))
    empty = tf.zeros([2] * (rank - 1) + [0], tf.complex64)
    assert function(empty).shape == empty.shape
    x = complex_numbers((3, *SHAPE[1:]))
    np.testing.assert_allclose(tf.vectorized_map(function, tf.constant(x)), numpys(x, axes=axes), 1e-9, 1e-9)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("lengths", [None, (4, 6, 5), (3, 7, 4), (5, 4, 8), (1, 2, 1), (2, 3, 9)])
def test_real_transforms(rank, lengths):
    name = "fft" if rank == 1 else f"fft{rank}d"
    lengths, axes = lengths and lengths[-rank:], tuple(range(-rank, 0))
    there, back = getattr(tf.signal, f"r{name}"), getattr(tf.signal, f"ir{name}")
    traced = lengths is None or lengths[-1] == 4
    check(lambda x: there(x, lengths), lambda x: np.fft.rfftn(x, lengths, axes), RNG.normal(size=SHAPE), traced)
    check(lambda x: back(x, lengths), lambda x: np.fft.irfftn(x, lengths, axes), complex_numbers(SHAPE), traced)
    if lengths:  # in a tensor

        def sized(x, n):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = back(x, n)
            return y, tape.gradient(y, x, tf.sin(y))

        x = tf.constant(complex_numbers(SHAPE))
        signature = [tf.TensorSpec(SHAPE, tf.complex128), tf.TensorSpec([rank], tf.int32)]
        results = tf.function(sized, input_signature=signature)(x, list(lengths))
        for result, expected in zip(results, sized(x, lengths), strict=True):
            np.testing.assert_allclose(result, expected, 1e-9, 1e-9)


@pytest.mark.parametrize("axes", [(0,), (2,), (1, 3), (3, 0), (0, 1, 2), (2, 3), (0, 1, 2, 3)])
@pytest.mark.parametrize("more", [0, 2, -1])
def test_transforms_over_any_dimensions(axes, more):
    lengths = [SHAPE[a] + more for a in axes]
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        numpys = getattr(np.fft, name)
        dtypes = {"rfftn": [tf.complex128], "irfftn": [tf.float64]}.get(name, [])
        function = getattr(tf, f"{name}d")
        x = RNG.normal(size=SHAPE) if name == "rfftn" else complex_numbers(SHAPE)
        variable = tf.constant(x)
        np.testing.assert_allclose(function(variable, lengths, axes, *dtypes), numpys(x, lengths, axes), 1e-9, 1e-9)
        expected = numpys(x, lengths, axes)
        change = RNG.normal(size=SHAPE) if name == "rfftn" else complex_numbers(SHAPE)
        dy = RNG.normal(size=expected.shape) if name == "irfftn" else complex_numbers(expected.shape)
        with tf.GradientTape() as tape:
            tape.watch(variable)
            y = function(variable, lengths, axes, *dtypes)
        dx = tape.gradient(y, variable, tf.constant(dy))
        products = np.vdot(dx, change), np.vdot(dy, numpys(change, lengths, axes))
        products = products if name in ("fftn", "ifftn") else [p.real for p in products]
        np.testing.assert_allclose(*products, 1e-9, 1e-9)


X = tf.constant(complex_numbers((3, 4)))
INVALID = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    ("lengths", "axes", "message"),
    [
        ([2], [0, 1], "must have shape .2"),
        ([2, 2, 2], [0, 1], "must have shape .2"),
        ([2, -1], [0, 1], "non-negative"),
        ([2, 2], [0, 2], "must have the dimensions"),
        ([2, 2], [-3, 1], "must have the dimensions"),
        ([2, 2], [0, -2], "unique"),
    ],
)
def test_lengths_and_dimensions_that_are_refused(lengths, axes, message):
    for function in (tf.fftnd, tf.ifftnd, tf.irfftnd):
        with pytest.raises(INVALID, match=message):
            function(X, lengths, axes)


def test_transforms_of_no_elements():
    for function, dtype in ((tf.signal.rfft, tf.float32), (tf.signal.irfft, tf.complex64)):
        result = function(tf.zeros([2, 0], dtype), [4])
        assert result.shape == [2, 3 if dtype is tf.float32 else 4]
        np.testing.assert_array_equal(result, np.zeros(result.shape))
        assert function(tf.zeros([0, 5], dtype), [4]).shape == [0, 3 if dtype is tf.float32 else 4]
        assert function(tf.ones([2, 5], dtype), [0]).shape == [2, 0]
    with pytest.raises(INVALID, match="must have length of at least 4 but got: 3"):
        tf.signal.rfft(tf.zeros([0, 3]), [4])
    with pytest.raises(INVALID, match="must have length of at least 3 but got: 2"):
        tf.signal.irfft(tf.zeros([0, 2], tf.complex64), [4])


def test_static_shapes():
    def shape_of(function, *specs):
        found = tf.function(function).get_concrete_function(*specs).output_shapes
        return None if found.rank is None else found.as_list()

    def real_of(*dims, dtype=tf.float32):
        return tf.TensorSpec(dims, dtype)

    sizes, complex_of = (lambda n: real_of(n, dtype=tf.int32)), (lambda *dims: real_of(*dims, dtype=tf.complex64))
    rfft = lambda x, n: tf.raw_ops.RFFT(input=x, fft_length=n)  # noqa: E731
    rfft2d = lambda x, n: tf.raw_ops.RFFT2D(input=x, fft_length=n)  # noqa: E731
    irfft = lambda x, n: tf.raw_ops.IRFFT(input=x, fft_length=n)  # noqa: E731
    assert shape_of(lambda x: tf.signal.rfft(x, [7]), real_of(2, None)) == [None, 4]
    assert shape_of(lambda x: tf.signal.rfft(x, [7]), real_of(2, 9)) == [2, 4]
    assert shape_of(lambda x: rfft(x, [6]), real_of(None, 5)) == [None, 4]
    assert shape_of(lambda x: rfft(x, [7]), real_of(2, 3, None)) == [2, 3, 4]
    assert shape_of(lambda x: irfft(x, [7]), complex_of(2, 3, None)) == [2, 3, 7]
    assert shape_of(lambda x: rfft2d(x, [4, 6]), real_of(2, 3, None)) == [2, 4, 4]
    assert shape_of(rfft, real_of(2, 5), sizes(1)) == [2, None]
    assert shape_of(rfft2d, real_of(2, 5, 6), sizes(2)) == [2, None, None]
    assert shape_of(rfft, tf.TensorSpec(None), sizes(1)) is None
    for call, specs in (
        (rfft2d, [real_of(2, 5, 6), sizes(1)]),
        (rfft, [real_of(2, 5), sizes(2)]),
        (rfft2d, [real_of(2), sizes(2)]),
        (lambda x: rfft(x, [4, 6]), [real_of(2, 5)]),
        (tf.signal.fft2d, [complex_of(5)]),
    ):
        with pytest.raises(ValueError, match=r"Dimension must be|rank"):
            shape_of(call, *specs)
