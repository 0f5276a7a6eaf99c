"""The private names of torch that TapeFlow uses.

`aten.NAME` is looked up at its first use, not at TapeFlow's import. Each name has a fallback in torch's public
functions, or raises an error that names the missing function. `tests/core/test_unchecked_kernels.py` lists the kernels
of ATen that check neither sizes nor indices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import errors
from tapeflow.core.lazy_modules import load

OLDEST, NEWEST = "2.11", "2.15"  # the versions of torch that have all of these, or a fallback

# Names here, and where torch has them: a module, and attributes in it.
PRIVATE: dict[str, str] = {
    # memory
    "storage_use_count": "torch._C:_storage_Use_Count",
    "lazy_clone": "torch:_lazy_clone",
    "is_cow_tensor": "torch._C:_is_cow_tensor",
    "increment_version": "torch._C:_increment_version",
    # ATen's ops, called without the Python around them
    "nll_loss_nd": "torch._C._nn:nll_loss_nd",
    "sigmoid_backward": "torch:ops.aten.sigmoid_backward.default._op",
    "tanh_backward": "torch:ops.aten.tanh_backward.default._op",
    "leaky_relu_backward": "torch:ops.aten.leaky_relu_backward.default._op",
    "flash_attention": "torch:ops.aten._scaled_dot_product_flash_attention_for_cpu.default._op",
    "flash_attention_backward": "torch:ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default._op",
    "threshold_backward_into": "torch:ops.aten.threshold_backward.grad_input._op",
    "upsample_bilinear2d": "torch:ops.aten.upsample_bilinear2d.vec._op",
    "standard_gamma": "torch:_standard_gamma",
    "foreach_copy_": "torch:_foreach_copy_",
    # oneDNN
    "onednn_convolve": "torch:ops.mkldnn._convolution_pointwise.default._op",
    "onednn_convolve_and_add": "torch:ops.mkldnn._convolution_pointwise.binary._op",
    "onednn_convolve_and_add_": "torch:ops.mkldnn._convolution_pointwise_.binary._op",
    "onednn_linear": "torch:ops.mkldnn._linear_pointwise.default._op",
    "onednn_packed_filters": "torch:ops.mkldnn._reorder_convolution_weight",
    "onednn_packed_matrix": "torch:ops.mkldnn._reorder_linear_weight",
    # autograd, transformations and modes
    "run_backward": "torch:autograd.Variable._execution_engine.run_backward",
    "set_grad_enabled": "torch._C:_set_grad_enabled",
    "is_batchedtensor": "torch._C._functorch:is_batchedtensor",
    "maybe_current_level": "torch._C._functorch:maybe_current_level",
    "len_torch_dispatch_stack": "torch._C:_len_torch_dispatch_stack",
    "len_torch_function_stack": "torch._C:_len_torch_function_stack",
    "disabled_torch_function": "torch._C:_disabled_torch_function_impl",
    "make_wrapper_subclass": "torch:Tensor._make_wrapper_subclass",
    "pytree": "torch.utils._pytree:",
    # tensors without memory
    "FakeTensorMode": "torch._subclasses.fake_tensor:FakeTensorMode",
    "DataDependentOutputException": "torch._subclasses.fake_tensor:DataDependentOutputException",
    "DynamicOutputShapeException": "torch._subclasses.fake_tensor:DynamicOutputShapeException",
    # compilers and exporters
    "compile_fx": "torch._inductor.compile_fx:compile_fx",
    "compile_fx_inner": "torch._inductor.compile_fx:compile_fx_inner",
    "inductor_config": "torch._inductor:config",
    "DynamoError": "torch._dynamo.exc:TorchDynamoException",
    "BackendCompilerFailed": "torch._dynamo.exc:BackendCompilerFailed",
    "FailOnRecompileLimitHit": "torch._dynamo.exc:FailOnRecompileLimitHit",
    "maybe_mark_dynamic": "torch._dynamo:maybe_mark_dynamic",
    "InvalidCxxCompiler": "torch._inductor.exc:InvalidCxxCompiler",
    "aoti_compile_and_package": "torch._inductor:aoti_compile_and_package",
    "aoti_load_package": "torch._inductor:aoti_load_package",
    "inlined_by_dynamo": "torch._dynamo.trace_rules:BUILTIN_INLINE_WHEN_CALLED",
    "onnx_core": "torch.onnx._internal.exporter._core:",
    "ONNXRegistry": "torch.onnx._internal.exporter._registration:ONNXRegistry",
    # distributed tensors
    "DTensorSpec": "torch.distributed.tensor._dtensor_spec:DTensorSpec",
    "TensorMeta": "torch.distributed.tensor._dtensor_spec:TensorMeta",
    "OpSchema": "torch.distributed.tensor._op_schema:OpSchema",
    "OutputSharding": "torch.distributed.tensor._op_schema:OutputSharding",
    "sharding_propagator": "torch.distributed.tensor:DTensor._op_dispatcher.sharding_propagator",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    path = PRIVATE.get(name)
    if path is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = resolve(path)
    if value is None:
        value = _find_substitute(name, path)
    if value is None:
        what = path.strip(":").replace(":", ".")
        raise errors.UnimplementedError.of(
            f"PyTorch {torch.__version__} has no `{what}`, which TapeFlow needs for this. Versions {OLDEST} to "
            f'{NEWEST} have it: pip install "torch>=2.11,<2.16"'
        )
    globals()[name] = value
    return value


def resolve(path: str) -> Any:
    """Returns the value at a path, "module:attribute.attribute", or None."""
    module, attributes = path.split(":")
    try:
        value: Any = load(module)
        for attribute in filter(None, attributes.split(".")):
            value = getattr(value, attribute)
    except (AttributeError, ImportError, RuntimeError):  # `torch.ops` may raise RuntimeError
        return None
    return value


def has(*names: str) -> bool:
    """Returns True if torch has all the names."""
    return all(resolve(PRIVATE[name]) is not None for name in names)


@functools.cache
def has_onednn() -> bool:
    """Returns True if torch has oneDNN, with the functions that TapeFlow calls."""
    return torch.backends.mkldnn.is_available() and has(*(name for name in PRIVATE if name.startswith("onednn_")))


# ---- fallbacks -------------------------------------------------------------------------------------------------------


def _find_substitute(name: str, path: str) -> Any:
    """Returns the substitute for a name that torch lacks, or None."""
    if path.endswith("._op"):
        return resolve(path.removesuffix("._op"))
    return _FALLBACKS.get(name)


def _copy_each(targets: Sequence[torch.Tensor], sources: Sequence[torch.Tensor]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)


def _negative_log_likelihood(
    scores: torch.Tensor, chosen: torch.Tensor, weight: torch.Tensor | None, reduction: int, ignored: int
) -> torch.Tensor:
    how = ("none", "mean", "sum")[reduction]
    return torch.nn.functional.nll_loss(scores, chosen, weight, ignore_index=ignored, reduction=how)


def _autograd_gradients(
    outputs: Any, dys: Any, keep: bool, create: bool, sources: Any, unused: bool, accumulate_grad: bool
) -> Any:
    return torch.autograd.grad(outputs, sources, dys, retain_graph=keep, create_graph=create, allow_unused=unused)


def _has_no_memory(tensor: torch.Tensor) -> bool:
    """Returns True for tensors that torch's transformations wrap."""
    try:
        tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return True
    return False


_FALLBACKS: dict[str, Any] = {
    "lazy_clone": torch.clone,
    "increment_version": torch.autograd.graph.increment_version,
    "nll_loss_nd": _negative_log_likelihood,
    "foreach_copy_": _copy_each,
    "run_backward": _autograd_gradients,
    "set_grad_enabled": torch.set_grad_enabled,
    "is_batchedtensor": _has_no_memory,
    "maybe_current_level": lambda: 0,  # there may be a transformation at work
    "len_torch_dispatch_stack": lambda: 1,
    "len_torch_function_stack": lambda: 1,
    "inlined_by_dynamo": set(),  # with an older torch, Dynamo looks into no package named `tensorflow`
}


# ---- memory ----------------------------------------------------------------------------------------------------------

_count: Callable[[int], int] | None = None  # None before the first call of `users`
_count_of_one = 0  # of memory that one tensor uses; 0 if torch can't tell


def users(tensor: torch.Tensor) -> int:
    """Returns the number of other tensors that use a tensor's memory; 1 if torch can't tell."""
    if _count is None:
        _find_count()
    if not _count_of_one:
        return 1
    return _count(tensor.untyped_storage()._cdata) - _count_of_one  # type: ignore[misc]


def _find_count() -> None:
    """Finds the function that counts the tensors that use memory, and tries it."""
    global _count, _count_of_one
    count = resolve(PRIVATE["storage_use_count"])
    try:
        tensor = torch.empty(2)
        counts = [count(tensor.untyped_storage()._cdata)]
        view = tensor[:1]
        counts.append(count(tensor.untyped_storage()._cdata))
        del view
        counts.append(count(tensor.untyped_storage()._cdata))
        works = counts == [counts[0], counts[0] + 1, counts[0]]
    except (AttributeError, TypeError):
        works = False
    _count_of_one, _count = (counts[0], count) if works else (0, int)
