"""Public names of namespaces, and hooks that load later."""

import sys
import types

import pytest

import tapeflow as tf
from tapeflow.core import hooks
from tapeflow.core.public_names import publish


@pytest.fixture
def modules(monkeypatch):
    """A namespace, and a module with values that loads on first use."""
    later = types.ModuleType("tapeflow.probe.later")
    later.__spec__ = None
    later.first, later.second = 1, 2
    monkeypatch.setitem(sys.modules, "tapeflow.probe", types.ModuleType("tapeflow.probe"))
    monkeypatch.setitem(sys.modules, "tapeflow.probe.later", later)
    return later


def test_names_of_a_namespace():
    namespace = {"__name__": "tapeflow.probe", "b": 1, "a": print, "_hidden": 2, "sys": sys, "also_module": sys}
    publish(namespace, "also_module", "__special__")
    assert namespace["__all__"] == ["__special__", "a", "also_module", "b"]
    assert namespace["__dir__"]() == namespace["__all__"] and namespace["__dir__"]() is not namespace["__all__"]
    with pytest.raises(AttributeError, match=r"module 'tapeflow.probe' has no attribute 'missing'"):
        namespace["__getattr__"]("missing")
    complete = {"__name__": "tapeflow.probe", "a": 1}
    publish(complete)
    assert "__getattr__" not in complete and complete["__all__"] == ["a"]


def test_names_that_load_later(modules):
    namespace = {"__name__": "tapeflow.probe", "a": 1}
    publish(namespace, later={"tapeflow.probe.later": ["first", "_private"], "tapeflow.probe": ["later"]})
    assert namespace["__all__"] == ["a", "first", "later"] and "first" not in namespace
    assert namespace["__getattr__"]("first") == 1 and namespace["first"] == 1
    assert namespace["__getattr__"]("later") is modules and namespace["later"] is modules
    with pytest.raises(AttributeError, match="second"):
        namespace["__getattr__"]("second")
    own = {"__name__": "tapeflow.probe", "__getattr__": len}
    publish(own, "other")
    assert own["__getattr__"] is len and own["__all__"] == ["other"]


def test_functions_that_load_at_their_first_call(modules):
    calls = []

    def function(*args, **kwargs):
        calls.append((args, kwargs))
        return len(calls)

    modules.function = function
    call = hooks.later("tapeflow.probe.later", "function")
    assert not calls and call(1, k=2) == 1 and call() == 2
    modules.function = None  # it is looked up once
    assert call(3) == 3 and calls == [((1,), {"k": 2}), ((), {}), ((3,), {})]


def test_replicas_by_default():
    assert hooks.Hooks.replicas() == 1
    assert hooks.hooks.variable is tf.Variable
