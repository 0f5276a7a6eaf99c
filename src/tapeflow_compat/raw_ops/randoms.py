"""Forms of the older ops that draw random numbers: from a seed, or from the state in a variable."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
import tapeflow_compat.raw_ops as raw
from tapeflow.core.ops.decompositions import form
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.graph.ir.operation import variable_in
from tapeflow.random.algorithms import key_counter_alg

_PHILOX = 1


def _key(seed: Any) -> dict[str, Any]:
    key, counter, alg = key_counter_alg(seed, _PHILOX)
    return {"key": key, "counter": counter, "alg": alg}


# ---- from a seed -----------------------------------------------------------------------------------------------------


@form("StatelessRandomUniform")
def _uniform(shape: Tensor, seed: Tensor, dtype: DType) -> Any:
    return raw.StatelessRandomUniformV2(shape=shape, **_key(seed), dtype=dtype)


@form("StatelessRandomNormal")
def _normal(shape: Any, seed: Any, dtype: Any) -> Any:
    return raw.StatelessRandomNormalV2(shape=shape, **_key(seed), dtype=dtype)


@form("StatelessTruncatedNormal")
def _truncated(shape: Any, seed: Any, dtype: Any) -> Any:
    return raw.StatelessTruncatedNormalV2(shape=shape, **_key(seed), dtype=dtype)


@form("StatelessRandomUniformFullInt")
def _full_int(shape: Any, seed: Any, dtype: Any) -> Any:
    return raw.StatelessRandomUniformFullIntV2(shape=shape, **_key(seed), dtype=dtype)


@form("StatelessRandomUniformInt")
def _int(shape: Any, seed: Any, minval: Any, maxval: Any) -> Any:
    return raw.StatelessRandomUniformIntV2(shape=shape, **_key(seed), minval=minval, maxval=maxval)


@form("StatelessRandomGammaV2")
def _gamma(shape: Any, seed: Any, alpha: Any) -> Any:
    return raw.StatelessRandomGammaV3(shape=shape, **_key(seed), alpha=alpha)


@form("StatelessRandomGetAlg")
def _get_alg() -> Any:
    return tf.constant(_PHILOX)


@form("StatelessRandomGetKeyCounterAlg")
def _key_counter_alg(seed: Tensor) -> Any:
    return (*raw.StatelessRandomGetKeyCounter(seed=seed), tf.constant(_PHILOX))


@form("ParameterizedTruncatedNormal")
def _parameterized(
    shape: Tensor, means: Tensor, stdevs: Tensor, minvals: Tensor, maxvals: Tensor, seed: int, seed2: int
) -> Any:
    seeds = [seed, seed2] if seed or seed2 else tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)
    return tf.random.stateless_parameterized_truncated_normal(shape, seeds, means, stdevs, minvals, maxvals)


# ---- from a state ----------------------------------------------------------------------------------------------------


def _generator(resource: Any) -> Any:
    """Returns a generator on the state that a handle's variable holds."""
    if isinstance(resource, SymbolicTensor):
        raise NotStatic
    variable = variable_in(resource.value if isinstance(resource, EagerTensor) else resource)
    return tf.random.Generator(state=variable, alg="philox")


@form("StatefulUniform")
def _stateful_uniform(resource: Tensor, shape: Tensor, dtype: DType) -> Any:
    return _generator(resource).uniform(shape, dtype=dtype)


@form("StatefulUniformInt")
def _stateful_int(resource: Tensor, shape: Tensor, minval: Tensor, maxval: Tensor) -> Any:
    return _generator(resource).uniform(shape, minval, maxval, minval.dtype)


@form("StatefulUniformFullInt")
def _stateful_full_int(resource: Tensor, shape: Tensor, dtype: DType) -> Any:
    return _generator(resource).uniform_full_int(shape, dtype)


@form("StatefulStandardNormal", "StatefulStandardNormalV2")
def _stateful_normal(resource: Tensor, shape: Tensor, dtype: DType) -> Any:
    return _generator(resource).normal(shape, dtype=dtype)


@form("StatefulTruncatedNormal")
def _stateful_truncated(resource: Tensor, shape: Tensor, dtype: DType) -> Any:
    return _generator(resource).truncated_normal(shape, dtype=dtype)


@form("StatefulRandomBinomial")
def _stateful_binomial(resource: Tensor, shape: Tensor, counts: Tensor, probs: Tensor, dtype: DType) -> Any:
    return _generator(resource).binomial(shape, counts, probs, dtype)


@form("RngSkip")
def _skip(resource: Tensor, delta: Tensor) -> None:
    _generator(resource).skip(delta)


@form("RngReadAndSkip")
def _read_and_skip(resource: Tensor, delta: Tensor) -> Any:
    return _generator(resource).skip(tf.cast(delta, tf.int64))
