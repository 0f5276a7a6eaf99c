"""Circulant operators: convolutions, which multiply and solve by the fast Fourier transform."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import range_op
from tapeflow.array.identities import identity
from tapeflow.array.padding import roll
from tapeflow.array.properties import rank, shape_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape, transpose
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, complex64, complex128
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_less, assert_positive
from tapeflow.linalg.diagonals import matrix_transpose
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.shapes import assert_nonzero, assert_real, dimensions, parameter
from tapeflow.math.casting import cast
from tapeflow.math.complex import imag, real
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import log
from tapeflow.math.reduction import reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum
from tapeflow.signal.fourier_ops import fft, fft2d, fft3d, ifft, ifft2d, ifft3d


def to_complex(x: Any) -> Any:
    """Returns a tensor in the complex dtype that holds its values."""
    if x.dtype.is_complex:
        return identity(x)
    return cast(x, complex128 if x.dtype.name == "float64" else complex64)


def _rotate_dimensions(x: Tensor, shift: int) -> Any:
    """Returns a tensor with its dimensions rotated to the right."""
    return transpose(x, roll(range_op(0, rank(x), 1), shift, 0))


class CirculantOperator(LinearOperator):
    """An operator `A @ x = ifft(spectrum * fft(x))`, in one to three dimensions."""

    block_depth: int  # the number of dimensions of the convolution
    _matrix_dimensions = {"spectrum": 1, "input_output_dtype": None}  # noqa: RUF012

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike,
        is_non_singular: bool | None,
        is_self_adjoint: bool | None,
        is_positive_definite: bool | None,
        is_square: bool | None,
        name: str | None,
    ) -> None:
        self._spectrum = parameter(spectrum)
        depth = self.block_depth
        if self._spectrum.shape.rank is not None and self._spectrum.shape.rank < depth:
            raise ValueError(f"Argument `spectrum` must have at least {depth} dimensions. Received: {self._spectrum}.")
        if not self._spectrum.dtype.is_complex:
            is_self_adjoint = hints.implied_hint(
                True, is_self_adjoint, "A real spectrum always corresponds to a self-adjoint operator."
            )
        is_square = hints.implied_hint(True, is_square, "A [[nested] block] circulant operator is always square.")
        super().__init__(
            as_dtype(input_output_dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def spectrum(self) -> Tensor | Variable:
        """The Fourier transform of the convolution kernel; its elements are the eigenvalues."""
        return self._spectrum

    @property
    def block_shape(self) -> TensorShape:
        """The static shape of the convolved array: the spectrum's without the batch."""
        return self._spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Tensor:
        """Returns the shape of the convolved array, as an int32 tensor."""
        shape = self.block_shape
        return self._as_tensor(shape) if shape.is_fully_defined() else shape_op(self._spectrum)[-self.block_depth :]

    def convolution_kernel(self, name: str | None = "convolution_kernel") -> Tensor:
        """Computes the convolution kernel: the spectrum's inverse transform, in the operator's dtype."""
        return self._out(self._ifft(self._spectrum))

    def assert_hermitian_spectrum(self, name: str | None = "assert_hermitian_spectrum") -> Any:
        """Asserts that the convolution kernel is real. Products with real arguments are then real.

        Raises:
            InvalidArgumentError: it is not.
        """
        imaginary = abs_op(imag(self._ifft(self._spectrum)))
        eps = float(np.finfo(imaginary.dtype.as_numpy_dtype).eps)
        limit = eps * cast(self.domain_dimension_tensor(), imaginary.dtype)
        return assert_less(imaginary, limit, message="Spectrum was not Hermitian")

    # ---- shapes ------------------------------------------------------------------------------------------------------

    def _shape(self) -> TensorShape:
        size = self.block_shape.num_elements()
        return self._spectrum.shape[: -self.block_depth] + [size, size]

    def _shape_tensor(self) -> Any:
        shape = shape_op(self._spectrum)
        size = reduce_prod(shape[-self.block_depth :])
        return concat([shape[: -self.block_depth], stack([size, size])], 0)

    def _unblockify(self, x: TensorLike) -> Any:
        """Joins the array's dimensions."""
        batch = dimensions(x)[: -self.block_depth]
        return reshape(x, [*batch, -1 if self.domain_dimension is None else self.domain_dimension])

    def _vectorize_then_blockify(self, matrix: Tensor) -> Any:
        """Returns the columns of matrices as arrays, in a new first dimension, for subclasses."""
        columns = _rotate_dimensions(matrix, 1)
        block_shape = self.block_shape.as_list() if self.block_shape.is_fully_defined() else self.block_shape_tensor()
        return reshape(columns, concat([dimensions(columns)[:-1], block_shape], 0))

    def _unblockify_then_matricize(self, vec: Tensor) -> Any:
        """Returns arrays as the columns of matrices, the reverse of `_vectorize_then_blockify`."""
        return _rotate_dimensions(self._unblockify(vec), -1)

    # ---- transforms --------------------------------------------------------------------------------------------------

    def _fft(self, x: TensorLike) -> Any:
        return (fft, fft2d, fft3d)[self.block_depth - 1](to_complex(x))

    def _ifft(self, x: TensorLike) -> Any:
        return (ifft, ifft2d, ifft3d)[self.block_depth - 1](to_complex(x))

    def _out(self, x: TensorLike) -> Any:
        """Casts a complex result to the operator's dtype."""
        return cast(x if self.dtype.is_complex else real(x), self.dtype)

    def _filter(self, x: TensorLike, adjoint_arg: bool, by: Tensor) -> Any:
        """Convolves the columns of `x`: multiplies their spectra by `by`."""
        # Transforms run over the last dimensions, so the columns become rows.
        rows = conj(x) if adjoint_arg else matrix_transpose(x)
        by = to_complex(by)
        rows = cast(to_complex(rows), by.dtype)
        arrays = reshape(rows, [*dimensions(rows)[:-1], *dimensions(by)[-self.block_depth :]])
        by = expand_dims(by, -self.block_depth - 1)
        return matrix_transpose(self._out(self._unblockify(self._ifft(by * self._fft(arrays)))))

    def _eigenvalues(self, adjoint: bool) -> Any:
        return conj(identity(self._spectrum)) if adjoint else self._spectrum

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._filter(x, adjoint_arg, self._eigenvalues(adjoint))

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._filter(rhs, adjoint_arg, 1.0 / self._eigenvalues(adjoint))

    # ---- by the eigenvalues ------------------------------------------------------------------------------------------

    def _eigvals(self) -> Any:
        return self._unblockify(identity(self._spectrum))

    def _determinant(self) -> Any:
        return self._out(to_complex(reduce_prod(self._eigvals(), -1)))

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(abs_op(self._eigvals())), -1), self.dtype)

    def _trace(self) -> Any:
        return self._out(to_complex(reduce_sum(self._eigvals(), -1)))

    def _diag_part(self) -> Any:
        mean = expand_dims(self._out(to_complex(reduce_mean(self._eigvals(), -1))), -1)
        return broadcast_to(mean, self.shape_tensor()[:-1])

    def _cond(self) -> Any:
        size = abs_op(self._eigvals())
        return reduce_max(size, -1) / reduce_min(size, -1)

    def _assert_non_singular(self) -> Any:
        return assert_nonzero(self._spectrum, "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(
            real(self._spectrum), message="Not positive definite:  Real part of spectrum was not all positive."
        )

    def _assert_self_adjoint(self) -> Any:
        return assert_real(self._spectrum, "Not self-adjoint:  The spectrum contained non-zero imaginary part.")

    def _linop_adjoint(self) -> LinearOperator:
        return type(self)(conj(identity(self._spectrum)), self.dtype, **hints.of(self))

    def _linop_inverse(self) -> LinearOperator:
        return type(self)(1.0 / self._spectrum, self.dtype, **hints.of(self))


class LinearOperatorCirculant(CirculantOperator):
    """Circulant matrices: each column is the one before it, rotated down by one element.

    Their spectra, the Fourier transforms of their first columns, define them. A product is a circular convolution with
    the first column.

    Args:
        spectrum: a tensor of shape `[..., n]`; a real one makes the matrices self-adjoint, a Hermitian one (`s[-i] =
            conj(s[i])`) makes them real.
        input_output_dtype: the dtype of arguments and results; a real one needs a Hermitian spectrum. The default is
            complex64.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        ValueError: `spectrum` has too few dimensions, or a hint can't be true.

    Example:
        >>> column = tf.constant([2.0, 1.0, 0.0], tf.complex64)
        >>> operator = tf.linalg.LinearOperatorCirculant(tf.signal.fft(column), input_output_dtype=tf.float32)
        >>> np.allclose(operator.to_dense(), [[2.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]], atol=1e-6)
        True
    """

    block_depth = 1

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = "LinearOperatorCirculant",
    ) -> None:
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )


class LinearOperatorCirculant2D(CirculantOperator):
    """Block circulant matrices with circulant blocks: circular convolutions in two dimensions.

    Args:
        spectrum: a tensor of shape `[..., n0, n1]`; the matrices are of size n0 * n1. See
            `tf.linalg.LinearOperatorCirculant`.
        input_output_dtype: the dtype of arguments and results; a real one needs a Hermitian spectrum. The default is
            complex64.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        ValueError: `spectrum` has too few dimensions, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 3]), input_output_dtype=tf.float32)
        >>> np.allclose(operator.to_dense(), np.eye(6), atol=1e-6)
        True
    """

    block_depth = 2
    _matrix_dimensions = {"spectrum": 2, "input_output_dtype": None}  # noqa: RUF012

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = "LinearOperatorCirculant2D",
    ) -> None:
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )


class LinearOperatorCirculant3D(CirculantOperator):
    """Nested block circulant matrices: circular convolutions in three dimensions.

    Args:
        spectrum: a tensor of shape `[..., n0, n1, n2]`; the matrices are of size n0 * n1 * n2. See
            `tf.linalg.LinearOperatorCirculant`.
        input_output_dtype: the dtype of arguments and results; a real one needs a Hermitian spectrum. The default is
            complex64.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        ValueError: `spectrum` has too few dimensions, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 1, 2]), input_output_dtype=tf.float32)
        >>> operator.shape, operator.block_shape
        (TensorShape([4, 4]), TensorShape([2, 1, 2]))
    """

    block_depth = 3
    _matrix_dimensions = {"spectrum": 3, "input_output_dtype": None}  # noqa: RUF012

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = "LinearOperatorCirculant3D",
    ) -> None:
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
