"""Private names of torch: their lookup, and the fallbacks for those that a version lacks."""

import pytest
import torch

import tapeflow as tf
from tapeflow.core import aten


def test_paths():
    assert aten.resolve("torch:nn.functional.relu") is torch.nn.functional.relu
    assert aten.resolve("torch:") is torch
    for missing in ("torch:no_such_name", "no_such_module:name", "torch:ops.aten.no_such_op", "torch:nn.missing.relu"):
        assert aten.resolve(missing) is None


def test_names_are_looked_up_once(monkeypatch):
    monkeypatch.delitem(vars(aten), "lazy_clone", raising=False)
    assert aten.lazy_clone is torch._lazy_clone
    assert vars(aten)["lazy_clone"] is torch._lazy_clone
    with pytest.raises(AttributeError, match=r"module 'tapeflow.core.aten' has no attribute 'missing'"):
        aten.missing  # noqa: B018


def test_names_that_torch_has():
    assert aten.has() and aten.has("lazy_clone", "standard_gamma")
    assert aten.has_onednn() is torch.backends.mkldnn.is_available()


def test_a_name_that_torch_lacks(monkeypatch):
    monkeypatch.setitem(aten.PRIVATE, "another", "torch.nn:no_such.name")
    assert not aten.has("lazy_clone", "another") and not aten.has("another", "lazy_clone")
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"has no `torch.nn.no_such.name`, which TapeFlow needs"
    ) as e:
        aten.another  # noqa: B018
    assert f"PyTorch {torch.__version__}" in str(e.value) and "2.11 to 2.15 have it" in str(e.value)
    assert "another" not in vars(aten)


def test_an_op_without_its_direct_call_is_called_through_python():
    path = aten.PRIVATE["sigmoid_backward"]
    substitute = aten._find_substitute("sigmoid_backward", path)
    assert substitute is torch.ops.aten.sigmoid_backward.default
    assert aten._find_substitute("standard_gamma", aten.PRIVATE["standard_gamma"]) is None


def test_a_substitute_takes_the_place_of_a_name(monkeypatch):
    monkeypatch.delitem(vars(aten), "lazy_clone", raising=False)
    monkeypatch.setitem(aten.PRIVATE, "lazy_clone", "torch:_no_such_clone")
    assert aten.lazy_clone is torch.clone
    monkeypatch.delitem(vars(aten), "lazy_clone")


FALLBACKS = aten._FALLBACKS


def test_copies_to_several_tensors():
    targets, sources = [torch.zeros(2), torch.zeros(1, 3)], [torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0, 5.0]])]
    FALLBACKS["foreach_copy_"](targets, sources)
    assert [t.tolist() for t in targets] == [[1.0, 2.0], [[3.0, 4.0, 5.0]]]
    with pytest.raises(ValueError, match="shorter"):
        FALLBACKS["foreach_copy_"](targets, sources[:1])


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 3.0, 0.5])])
@pytest.mark.parametrize("reduction", range(3))
def test_negative_log_likelihoods(weight, reduction):
    scores = torch.tensor([[0.25, -1.0, 3.0], [2.0, 0.5, 0.0], [1.0, 2.0, 4.0]])
    chosen = torch.tensor([2, 1, 0])
    args = scores, chosen, weight, reduction, 0  # the last row is ignored
    torch.testing.assert_close(FALLBACKS["nll_loss_nd"](*args), aten.nll_loss_nd(*args))


@pytest.mark.parametrize("run", [FALLBACKS["run_backward"], aten.run_backward])
def test_gradients(run):
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    unused = torch.tensor([1.0], requires_grad=True)
    y = x**3
    first, nothing = run((y,), (torch.tensor([1.0, 10.0]),), True, True, (x, unused), True, accumulate_grad=False)
    assert first.tolist() == [12.0, 270.0] and nothing is None
    (second,) = run((first,), (torch.ones(2),), False, False, (x,), False, accumulate_grad=False)
    assert second.tolist() == [12.0, 180.0] and not second.requires_grad
    with pytest.raises(RuntimeError, match="retain_graph"):
        run((first,), (torch.ones(2),), False, False, (x,), False, accumulate_grad=False)


def test_tensors_that_a_transformation_wraps():
    seen = []

    def function(x):
        seen.append(FALLBACKS["is_batchedtensor"](x))
        return x * 2

    torch.func.vmap(function)(torch.ones(3, 2))
    assert seen == [True]
    assert not FALLBACKS["is_batchedtensor"](torch.ones(3))


def test_what_is_assumed_of_transformations_that_torch_does_not_tell():
    """They may be at work: these numbers are others than those of a thread without any."""
    for name in ("maybe_current_level", "len_torch_dispatch_stack", "len_torch_function_stack"):
        assert FALLBACKS[name]() != getattr(aten, name)()


def test_users_of_memory(monkeypatch):
    x = torch.zeros(4)
    assert aten.users(x) == 0
    view = x[1:]
    assert aten.users(x) == aten.users(view) == 1
    other = x.view(2, 2)
    assert aten.users(x) == 2
    del view, other
    assert aten.users(x) == 0
    monkeypatch.setattr(aten, "_count_of_one", 0)  # torch can't tell
    assert aten.users(x) == 1


@pytest.mark.parametrize("count", [None, lambda storage: 1, lambda storage: "text"])
def test_counts_of_users_that_can_not_be_right(monkeypatch, count):
    monkeypatch.setattr(aten, "resolve", lambda path: count)
    monkeypatch.setattr(aten, "_count", None)
    monkeypatch.setattr(aten, "_count_of_one", 0)
    assert aten.users(torch.zeros(2)) == 1
