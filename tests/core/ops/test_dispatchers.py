"""Dispatchers, which implement functions for values of their own."""

import collections

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops import dispatchers
from tapeflow.core.ops.dispatchers import explicit_arguments, offer_call


class Foreign:
    """A value of another library."""


class Convertible:
    """A value that says how it becomes a tensor."""

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant(5.0)


@pytest.fixture
def offered(monkeypatch):
    """The calls that a dispatcher gets, which implements them for an argument "mine" alone."""
    calls = []

    def dispatcher(function, args, kwargs):
        calls.append((function, args, kwargs))
        return "implemented" if "mine" in args else NotImplemented

    monkeypatch.setattr(dispatchers, "dispatchers", [lambda *_: NotImplemented, dispatcher])
    return calls


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((Foreign(),), {}),
        ((1, Foreign()), {}),
        (([1, [Foreign()]],), {}),
        (((1, (2, Foreign())),), {}),
        (({"a": 1, "b": Foreign()},), {}),
        ((), {"x": Foreign()}),
        ((1,), {"x": 2, "y": [Foreign()]}),
    ],
)
def test_calls_with_foreign_values_are_offered(offered, args, kwargs):
    assert offer_call(max, args, kwargs) is NotImplemented
    assert offered == [(max, args, kwargs)]
    assert offer_call(max, (*args, "mine"), kwargs) == "implemented"
    assert len(offered) == 2


@pytest.mark.parametrize(
    "value",
    [1, "a", None, 2.5, tf.constant(1), tf.Variable(1), np.zeros(2), torch.zeros(2), [1, {"k": (2,)}], {}, tf.int32,
     tf.TensorSpec([2]), Convertible(), tf.ragged.constant([[1]]), max, collections.OrderedDict(a=1)],
)  # fmt: skip
def test_other_calls_are_not(offered, value):
    assert offer_call(max, (value, "mine"), {"k": value}) is NotImplemented
    assert offer_call(max, (), {}) is NotImplemented
    assert not offered


def test_the_first_result_counts(monkeypatch):
    monkeypatch.setattr(
        dispatchers, "dispatchers", [lambda *_: NotImplemented, lambda *_: None, lambda *_: pytest.fail("it is late")]
    )
    assert offer_call(max, (Foreign(),), {}) is None


def test_arguments_that_equal_their_defaults_are_left_out():
    default = [3]

    def function(a, b, c=1, d=default, name=None):
        return a, b, c, d, name

    assert explicit_arguments(function, (10, 20, 1, default)) == ((10, 20), {})
    assert explicit_arguments(function, (10, 20, 2, default)) == ((10, 20), {"c": 2})
    assert explicit_arguments(function, (10, 20, 1, [3])) == ((10, 20), {"d": [3]})  # not the default itself
    assert explicit_arguments(function, (10, 20)) == ((10, 20), {})
    assert explicit_arguments(function, (10,)) == ((10,), {})
    assert explicit_arguments(lambda x, name: 0, (10,)) == ((10,), {})


def test_ops_offer_their_calls():
    calls = []

    def dispatcher(function, args, kwargs):
        calls.append((function.__name__, args, kwargs))
        return "implemented"

    foreign, x = Foreign(), tf.constant([1.0, 2.0])
    dispatchers.dispatchers.append(dispatcher)
    try:
        assert tf.exp(foreign) == "implemented" and tf.add(x, foreign) == "implemented"
        assert tf.reduce_sum(foreign, 1) == "implemented"
        assert x + foreign == "implemented" and x * foreign == "implemented"
        assert tf.exp(x).numpy()[0] == pytest.approx(2.7182817) and (x + 1.0).numpy().tolist() == [2.0, 3.0]
    finally:
        dispatchers.dispatchers.remove(dispatcher)
    assert [name for name, *_ in calls][:2] == ["exp", "add"] and len(calls) == 5
    assert calls[0][1:] == ((foreign,), {}) and calls[1][1][1] is foreign
    assert all(any(a is foreign for a in args) for _, args, _ in calls)
    with pytest.raises((TypeError, ValueError)):
        tf.exp(foreign)
