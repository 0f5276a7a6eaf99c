"""`tf.random.Generator`: random numbers from a state that is a variable."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat_v2, pack_op
from tapeflow.array.creation import zeros_like_op
from tapeflow.array.reshapes import reshape
from tapeflow.core import context, errors
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import not_differentiable
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.static import static_shape
from tapeflow.core.rng.philox import Philox
from tapeflow.core.settings import settings
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32, int64, uint64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.core.values.trackable import AutoTrackable
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.python_op import python_op
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.casting import bitcast, cast
from tapeflow.math.comparison import less
from tapeflow.random import rejection
from tapeflow.random.algorithms import Algorithm, AlgorithmLike, algorithm_number, unsupported_algorithm
from tapeflow.random.stateless import draw_scaled, stretch_numbers
from tapeflow.random.stateless_ops import (
    as_result,
    batches,
    created_shape,
    dimensions,
    integers_of,
    normal_of,
    range_of,
    truncated_normal_of,
    uniform_of,
)

_LOWEST = -(1 << 63)
_STATE_SIZES = {Algorithm.PHILOX.value: 3, Algorithm.THREEFRY.value: 2, Algorithm.AUTO_SELECT.value: 3}


def _as_signed(value: TensorLike) -> Any:
    """Converts Python ints of 64 bits, in a nest of lists, to the range of int64."""
    if isinstance(value, (list, tuple)):
        return [_as_signed(v) for v in value]
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def _state_tensor(value: TensorLike) -> Any:
    return cast(convert(_as_signed(value)), int64)


def _state_size(alg: Any) -> int:
    size = _STATE_SIZES.get(int(alg))
    if size is None:
        raise unsupported_algorithm(alg)
    return size


def create_rng_state(seed: TensorLike, alg: AlgorithmLike) -> Tensor:
    """Derives the state of a generator from a seed.

    Args:
        seed: an integer of any size, or some integers; excess ones are ignored, missing ones are 0.
        alg: the algorithm: its name, number, or `tf.random.Algorithm`.

    Returns:
        An int64 vector: for Philox the two halves of the counter, and the key.

    Raises:
        ValueError: there is no such algorithm.

    Example:
        >>> tf.random.create_rng_state(1, "philox").numpy().tolist()
        [1, 0, 0]
    """
    size = _state_size(algorithm_number(alg))
    if isinstance(seed, int):
        seed = [seed >> 64 * i & (1 << 64) - 1 for i in range(size)]
    state = reshape(_state_tensor(seed), (-1,))[:size]
    missing = size - state.shape[0]
    return concat_v2([convert([0] * missing, int64), state], 0) if missing else state


def _any_ints(shape: tuple[int, ...], dtype: DType, device: torch.device) -> torch.Tensor:
    dims = dimensions(shape)
    drawn = np.frombuffer(secrets.token_bytes(8 * math.prod(dims)), np.int64).copy()
    return torch.from_numpy(drawn).to(dtype.torch).reshape(dims).to(device)


# Draws unpredictable integers.
_draw_any_ints = defined_op("NonDeterministicInts", _any_ints, host=("shape",), shape=created_shape, creates=True)
not_differentiable(_draw_any_ints)


class Generator(AutoTrackable):
    """Draws random numbers from a state that is a variable, and so can be saved and restored.

    Created by `from_seed`, `from_state`, `from_key_counter` and `from_non_deterministic_state`.

    Args:
        copy_from: a generator to copy.
        state: the state, an int64 vector; a variable is shared, not copied.
        alg: the algorithm.

    Example:
        >>> g = tf.random.Generator.from_seed(1)
        >>> g.normal([2]).numpy().round(4).tolist()
        [0.438400000333786, -0.5343999862670898]
        >>> g.state.numpy().tolist()
        [513, 0, 0]
    """

    def __init__(
        self, copy_from: Generator | None = None, state: TensorLike | None = None, alg: AlgorithmLike = None
    ) -> None:
        if copy_from is not None:
            assert (alg or state) is None
            self._alg = copy_from.algorithm
            self._state_var = Variable(copy_from.state, dtype=int64, trainable=False, name="StateVar")
            return
        assert alg is not None and state is not None
        self._alg = algorithm_number(alg)
        initial = state if isinstance(state, Variable) else _state_tensor(state)
        _check_state_size(initial, _state_size(self._alg))
        shared = isinstance(state, Variable)
        self._state_var = initial if shared else Variable(initial, dtype=int64, trainable=False, name="StateVar")

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: AlgorithmLike = None) -> Generator:
        """Creates a generator from a seed, see `tf.random.create_rng_state`.

        Args:
            seed: an integer of any size, or some integers.
            alg: the algorithm, Philox by default.

        Returns:
            A `Generator`.

        Raises:
            ValueError: there is no such algorithm.

        Example:
            >>> tf.random.Generator.from_seed(1234).normal([2]).shape
            TensorShape([2])
        """
        alg = algorithm_number(Algorithm.PHILOX if alg is None else alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_state(cls, state: TensorLike, alg: AlgorithmLike) -> Generator:
        """Creates a generator that continues from a state.

        Args:
            state: an int64 vector, or a variable, which the generator shares.
            alg: the algorithm.

        Returns:
            A `Generator`.

        Raises:
            ValueError: the state is not of the algorithm's length.

        Example:
            >>> tf.random.Generator.from_state([1, 0, 0], alg="philox").key.numpy().item()
            0
        """
        return cls(alg=alg, state=state)

    @classmethod
    def from_key_counter(cls, key: TensorLike, counter: TensorLike, alg: AlgorithmLike) -> Generator:
        """Creates a generator from a key and a counter.

        Args:
            key: an integer scalar.
            counter: an integer vector.
            alg: the algorithm.

        Returns:
            A `Generator`.

        Raises:
            ValueError: they are not of the algorithm's lengths.

        Example:
            >>> g = tf.random.Generator.from_key_counter(key=3, counter=[1, 2], alg="philox")
            >>> g.state.numpy().tolist()
            [1, 2, 3]
        """
        number = algorithm_number(alg)
        return cls(state=_of_key_and_counter(key, counter, number), alg=number)

    @classmethod
    def from_non_deterministic_state(cls, alg: AlgorithmLike = None) -> Generator:
        """Creates a generator from an unpredictable state.

        Args:
            alg: the algorithm, Philox by default.

        Returns:
            A `Generator`.

        Raises:
            RuntimeError: determinism is enabled.

        Example:
            >>> tf.random.Generator.from_non_deterministic_state().state.shape
            TensorShape([3])
        """
        if settings.deterministic:
            raise RuntimeError('"from_non_deterministic_state" cannot be called when determinism is enabled.')
        alg = algorithm_number(Algorithm.PHILOX if alg is None else alg)
        return cls(state=_draw_any_ints((_state_size(alg),), int64), alg=alg)

    # ---- the state -------------------------------------------------------------------------------------------------

    @property
    def state(self) -> Variable:
        """The state: a variable."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The key, an int64 scalar: the last number of the state."""
        return self._state_var.read_value()[-1]

    def reset(self, state: TensorLike) -> None:
        """Replaces the state.

        Args:
            state: an integer vector.

        Raises:
            ValueError: it is not of the algorithm's length.

        Example:
            >>> g = tf.random.Generator.from_seed(1)
            >>> g.reset([5, 0, 7])
            >>> g.key.numpy().item()
            7
        """
        state = _state_tensor(state)
        _check_state_size(state, _state_size(self._alg))
        self._state_var.assign(state)

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Replaces the state with the state of a new seed; see `tf.random.create_rng_state`.

        Args:
            seed: an integer of any size, or some integers.

        Example:
            >>> g = tf.random.Generator.from_seed(1)
            >>> a = g.normal([2])
            >>> g.reset_from_seed(1)
            >>> bool(tf.reduce_all(g.normal([2]) == a))
            True
        """
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> None:
        """Replaces the state with a key and a counter.

        Args:
            key: an integer scalar.
            counter: an integer vector.

        Raises:
            ValueError: they are not of the algorithm's lengths.

        Example:
            >>> g = tf.random.Generator.from_seed(1)
            >>> g.reset_from_key_counter(key=3, counter=[1, 2])
            >>> g.state.numpy().tolist()
            [1, 2, 3]
        """
        self._state_var.assign(_of_key_and_counter(key, counter, self._alg))

    def skip(self, delta: TensorLike) -> Tensor:
        """Advances the counter as if numbers had been drawn.

        Args:
            delta: the number of numbers to skip, an integer or a scalar tensor.

        Returns:
            The state before the call, an int64 vector.

        Raises:
            UnimplementedError: the algorithm is ThreeFry.
            InvalidArgumentError: the state is not int64.

        Example:
            >>> g = tf.random.Generator.from_seed(1)
            >>> g.skip(2).numpy().tolist(), g.state.numpy().tolist()
            ([1, 0, 0], [513, 0, 0])
        """
        if self._alg == Algorithm.THREEFRY.value:
            raise errors.UnimplementedError.of("Non-XLA devices don't support the ThreeFry algorithm.")
        if self._state_var.dtype is not int64:
            raise errors.InvalidArgumentError.of(
                f"dtype of RNG state variable must be int64, not {self._state_var.dtype.name}"
            )
        before = self._state_var.read_value()
        blocks = multiply(cast(convert(delta), int64), 256)  # a number may take 256 words
        low = add(before[0], blocks)
        # The low half carries over if the sum, without a sign, is below the second summand.
        carries = less(add(low, _LOWEST), add(blocks, _LOWEST))
        high = add(before[1], cast(carries, int64))
        self._state_var.assign(pack_op([low, high, *_unstack_rows(before[2:])], 0))
        return before

    def _take(self, shape: Any) -> tuple[Any, Any, Any]:
        """Returns the key, counter and algorithm for numbers of a shape, and advances the state."""
        count = ops.Prod(shape, 0) if isinstance(shape, Tensor) else math.prod(dimensions(tuple(shape)))
        before = bitcast(self.skip(count), uint64)
        return before[2:3], before[:2], self._alg

    # ---- numbers ---------------------------------------------------------------------------------------------------

    def normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws normally distributed numbers, see `tf.random.normal`.

        Args:
            shape: the shape of the result.
            mean, stddev: the mean and the standard deviation; they broadcast to the shape.
            dtype: floating; float32 by default.

        Returns:
            A tensor of that shape and dtype. Gradients pass to `mean` and `stddev`.

        Raises:
            InvalidArgumentError: the dtype is not floating, or the parameters do not broadcast to the shape.

        Example:
            >>> tf.random.Generator.from_seed(1).normal([2], mean=10.0).shape
            TensorShape([2])
        """
        return self._draw_scaled(normal_of, shape, mean, stddev, dtype, name)

    def truncated_normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws normally distributed numbers near the mean, see `tf.random.truncated_normal`.

        Args:
            shape: the shape of the result.
            mean, stddev: the mean and the standard deviation; they broadcast to the shape.
            dtype: floating; float32 by default.

        Returns:
            A tensor of that shape and dtype. Gradients pass to `mean` and `stddev`.

        Raises:
            InvalidArgumentError: the dtype is not floating, or the parameters do not broadcast to the shape.

        Example:
            >>> g = tf.random.Generator.from_seed(1)
            >>> bool(tf.reduce_all(tf.abs(g.truncated_normal([1000])) < 2))
            True
        """
        return self._draw_scaled(truncated_normal_of, shape, mean, stddev, dtype, name)

    def _draw_scaled(self, draw: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str | None) -> Any:
        dims = _shape_argument(shape)
        return draw_scaled(lambda dtype: draw(dims, *self._take(dims), dtype), mean, stddev, dtype, name)

    def uniform(
        self,
        shape: ShapeLike,
        minval: TensorLike | None = 0,
        maxval: TensorLike | None = None,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws uniformly distributed numbers, see `tf.random.stateless_uniform`.

        Args:
            shape: the shape of the result.
            minval: the lower bound, which is included; 0 by default.
            maxval: the upper bound, which is not; 1 by default for floats. Integers with both bounds None are drawn
                from the whole range of their dtype.
            dtype: floating, or an integer dtype of 32 or 64 bits; float32 by default.

        Returns:
            A tensor of that shape and dtype. Gradients pass to the bounds.

        Raises:
            ValueError: one bound of integers is None.
            InvalidArgumentError: `minval >= maxval` for integers.

        Example:
            >>> x = tf.random.Generator.from_seed(1).uniform([100], 1, 7, dtype=tf.int32)
            >>> bool(tf.reduce_all((x >= 1) & (x < 7)))
            True
        """
        dtype, shape = as_dtype(dtype), _shape_argument(shape)
        if not dtype.is_integer:
            rnd = uniform_of(shape, *self._take(shape), dtype)
            return stretch_numbers(rnd, minval, 1 if maxval is None else maxval, dtype, name)
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype!s}, minval and maxval must be both `None` or both non-`None`; "
                f"got minval={minval} and maxval={maxval}"
            )
        if minval is None:
            return integers_of(shape, *self._take(shape), dtype, name)
        minval, maxval = convert(minval, dtype), convert(maxval, dtype)
        return range_of(shape, *self._take(shape), minval, maxval, name)

    def uniform_full_int(self, shape: ShapeLike, dtype: DTypeLike = uint64, name: str | None = None) -> Tensor:
        """Draws integers from the whole range of their dtype.

        Args:
            shape: the shape of the result.
            dtype: int32, int64, uint32 or uint64; uint64 by default.

        Returns:
            A tensor of that shape and dtype.

        Example:
            >>> tf.random.Generator.from_seed(1).uniform_full_int([2]).dtype
            tf.uint64
        """
        shape = _shape_argument(shape)
        return integers_of(shape, *self._take(shape), as_dtype(dtype), name)

    def binomial(
        self, shape: ShapeLike, counts: TensorLike, probs: TensorLike, dtype: DTypeLike = int32, name: str | None = None
    ) -> Tensor:
        """Draws binomially distributed numbers, see `tf.random.stateless_binomial`.

        Args:
            shape: the shape of the result; it ends with the broadcast shape of `counts` and `probs`.
            counts: the numbers of trials, floating.
            probs: the probabilities of success, of the same dtype.
            dtype: float16, float32, float64, int32 or int64; int32 by default.

        Returns:
            A tensor of that shape and dtype.

        Raises:
            InvalidArgumentError: the shape does not end so.

        Example:
            >>> x = tf.random.Generator.from_seed(1).binomial([100], counts=10.0, probs=0.5)
            >>> bool(tf.reduce_all((x >= 0) & (x <= 10)))
            True
        """
        trials: Any = convert(counts)
        chances: Any = probs if isinstance(probs, Tensor) else convert(probs, trials.dtype)
        to, dims = as_dtype(dtype), _shape_argument(shape)
        if context.state.graph is None:
            return self._binomial(dims, trials, chances, to)
        vector = dims if isinstance(dims, Tensor) else convert(dims, int32)
        return python_op(
            "StatefulRandomBinomial",
            lambda _, alg, dims, trials, chances: [self._binomial(host_value(dims), trials, chances, to)],
            [self._state_var, convert(self._alg, int64), vector, trials, chances],
            [(to, static_shape(vector))],
            attrs={"S": vector.dtype, "T": trials.dtype, "dtype": to},
        ).outputs[0]

    def _binomial(self, shape: tuple[int, ...], counts: Any, probs: Tensor, dtype: Any) -> EagerTensor:
        dims, (count, probability), samples = batches(shape, counts.value, probs.value)
        before = self.skip(len(count) * 2 * 100 * (samples + 3) // 4).numpy().astype(np.uint64).tolist()
        numbers = rejection.binomial(Philox(before[2], before[0] | before[1] << 64), count, probability, samples)
        return EagerTensor(as_result(numbers, dims, dtype.torch, counts.value.device), dtype)

    # ---- other generators --------------------------------------------------------------------------------------------

    def make_seeds(self, count: int = 1) -> Tensor:
        """Draws seeds for stateless ops.

        Args:
            count: an int, the number of seeds; 1 by default.

        Returns:
            An int64 tensor of shape `[2, count]`, with a seed in each column.

        Example:
            >>> tf.random.Generator.from_seed(1).make_seeds(2).shape
            TensorShape([2, 2])
        """
        keys = self.uniform_full_int([count], int64)
        return pack_op([keys, zeros_like_op(keys)], 0)

    def split(self, count: int = 1) -> list[Generator]:
        """Creates generators that are independent of each other and of this one.

        Args:
            count: an int, the number of generators; 1 by default.

        Returns:
            A list of `Generator`s.

        Example:
            >>> len(tf.random.Generator.from_seed(1).split(3))
            3
        """
        keys = _unstack_rows(self.uniform_full_int([count], int64))
        zeros = [0] * (_state_size(self._alg) - 1)
        return [Generator(state=[*zeros, key], alg=self._alg) for key in keys]


def _shape_argument(shape: Any) -> Any:
    """Returns a shape as a tuple, or as a symbolic tensor if it is one or has such dimensions."""
    value = host_value(shape)
    if isinstance(value, Tensor):
        return value
    if type(value) is tuple and any(isinstance(d, Tensor) for d in value):
        return convert(value)
    return dimensions(value)


def _unstack_rows(x: Tensor) -> list[Any]:
    return [x[i] for i in range(x.shape[0])]


def _check_state_size(state: Any, size: int) -> None:
    TensorShape(state.shape).assert_is_compatible_with([size])


def _of_key_and_counter(key: Any, counter: TensorLike, alg: int) -> Any:
    counter, key = _state_tensor(counter), _state_tensor(key)
    _check_state_size(counter, _state_size(alg) - 1)
    key.shape.assert_is_compatible_with([])
    return concat_v2([counter, reshape(key, (1,))], 0)


# ---- the global generator --------------------------------------------------------------------------------------------

_lock = new_lock()
_global: list[Generator] = []


def get_global_generator() -> Generator:
    """Returns the global generator, which functions may share. It is created on first use.

    Returns:
        A `Generator`.

    Raises:
        RuntimeError: determinism is enabled, and `set_global_generator` was not called.

    Example:
        >>> tf.random.get_global_generator().normal([2]).shape
        TensorShape([2])
    """
    with _lock:
        if not _global:
            if settings.deterministic:
                raise RuntimeError(
                    '"get_global_generator" cannot be called if determinism is enabled, unless "set_global_generator" '
                    'has already been called. Please call "set_global_generator" first.'
                )
            _global.append(Generator.from_non_deterministic_state())
        return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Replaces the global generator.

    Args:
        generator: the generator that `get_global_generator` returns from now on.

    Returns:
        None.

    Example:
        >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
        >>> tf.random.get_global_generator().normal([1]).numpy().round(4).tolist()
        [0.438400000333786]
    """
    with _lock:
        _global[:] = [generator]
