"""Modules of StableHLO as an op. `jax.experimental.jax2tf` converts JAX's functions to such modules, for programs and
SavedModels.

JAX is loaded when the first module runs. It refines a module's shapes to the shapes of the arguments, and compiles and
runs the module.
"""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import errors
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid

# The versions of the calling convention: TensorFlow's op takes the same. From the sixth on, modules name platforms.
_OLDEST, _WITH_PLATFORMS, NEWEST = 4, 6, 10
_PLATFORM = "CPU"  # JAX runs modules on this platform
PLATFORM_CHECK = "platform"  # the check that `disabled_checks` can leave out
_ELEMENTS = {
    torch.bool: "i1", torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", torch.float64: "f64",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "ui8",
    torch.uint16: "ui16", torch.uint32: "ui32", torch.uint64: "ui64", torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}  # fmt: skip


def _declared_shapes(args: Any, version: int, module: str, Sout: Any, Tout: Any, *_: Any) -> Any:
    return [shape for shape, _ in itertools.zip_longest(Sout[: len(Tout)], Tout, fillvalue=TensorShape(None))]


@op(
    "XlaCallModule",
    signature="args:Tin -> output:Tout; attr=version:int; attr=module:string; attr=Sout:list(shape),min=0; "
    "attr=Tout:list(type),min=0; attr=Tin:list(type),min=0; attr=dim_args_spec:list(string),default=[]; "
    "attr=platforms:list(string),default=[]; attr=function_list:list(func),default=[]; "
    "attr=has_token_input_output:bool,default=false; attr=disabled_checks:list(string),default=[]; "
    "attr=use_shardy_partitioner:bool,default=false; is_stateful=true",
    shape=_declared_shapes,
)
def call_module(
    args: Any,
    version: int,
    module: str,
    Sout: Any,
    Tout: Any,
    dim_args_spec: Sequence[str] = (),
    platforms: Sequence[str] = (),
    function_list: Sequence[Any] = (),
    has_token_input_output: bool = False,
    disabled_checks: Sequence[str] = (),
    use_shardy_partitioner: bool = False,
) -> Any:
    """Runs a module of StableHLO, on the CPU.

    Args:
        args: the tensors that its function `main` takes, but for the index of the platform.
        version: an int, the version of the calling convention.
        module: a bytes string, the module serialized as a portable artifact.
        Sout, Tout: the shapes and dtypes of the results.
        dim_args_spec, has_token_input_output, use_shardy_partitioner: are not used.
        platforms: the platforms of the module. If there are several, `main` first takes the index of a platform.
        function_list: the functions of TensorFlow that the module calls.
        disabled_checks: the checks to skip: "platform".

    Returns:
        A list of tensors.

    Raises:
        InvalidArgumentError: the version is not supported, or the arguments are not those that the module takes.
        NotFoundError: the module is for other platforms.
        UnimplementedError: JAX is not installed, or the module calls functions or has ordered effects.
    """
    if any(not value.is_cpu for value in args):
        raise NotImplementedError("modules of StableHLO are not supported on this device")
    _check_version(version, platforms)
    if len(Sout) != len(Tout):
        raise invalid(f"The size of Sout ({len(Sout)}) must match the size of Tout ({len(Tout)})")
    if function_list:
        raise errors.UnimplementedError.of("XlaCallModule can't call TensorFlow functions from a module")
    if platforms and _PLATFORM not in platforms and PLATFORM_CHECK not in disabled_checks:
        raise errors.NotFoundError.of(
            f"The current platform {_PLATFORM} is not among the platforms required by the module: "
            f"[{', '.join(platforms)}]"
        )
    index = None
    if len(platforms) > 1:
        index = platforms.index(_PLATFORM) if _PLATFORM in platforms else 0
    values = args if index is None else [torch.tensor(index, dtype=torch.int32), *args]
    try:
        results = _compile_module(module, index is not None, tuple(map(_mlir_type, values))).run(values)
    except RuntimeError as error:  # JAX's own errors are of this class, and begin with the name of a status
        raise invalid(str(error).partition(": ")[2]) from error
    if len(results) != len(Tout):
        raise invalid(f"The module returns {len(results)} results, but Tout has {len(Tout)} dtypes")
    return results


@call_module.gradient()
def _(call: Call, *dys: Any) -> Any:
    raise LookupError("gradient registry has no entry for: XlaCallModule")


def _check_version(version: int, platforms: Sequence[str]) -> None:
    what = f"XlaCallModuleOp with version {version}"
    if version < _OLDEST:
        raise invalid(f"{what} is not supported anymore. Must be >= {_OLDEST}")
    if version > NEWEST:
        raise invalid(f"{what} is not supported by this build. Must be <= {NEWEST}")
    if version >= _WITH_PLATFORMS and not platforms:
        raise invalid(f"{what} must have non-empty platforms.")


def _mlir_type(value: torch.Tensor) -> str:
    """Returns the type of a tensor, in the notation of MLIR."""
    return f"tensor<{''.join(f'{size}x' for size in value.shape)}{_ELEMENTS[value.dtype]}>"


class _Program(NamedTuple):
    """A compiled module."""

    jax: Any
    executable: Any

    def run(self, values: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Runs the module. Tensors share memory with JAX."""
        with self.jax.enable_x64(True):  # else JAX makes 32 bits of 64
            arrays = [self.jax.dlpack.from_dlpack(value.contiguous()) for value in values]
        results = self.jax.block_until_ready(self.executable.execute(arrays))
        return tuple(torch.from_dlpack(result) for result in results)


@functools.lru_cache(maxsize=256)
def _compile_module(module: str, takes_index: bool, types: tuple[str, ...]) -> _Program:
    """Returns a module compiled for arguments of these types.

    Raises:
        InvalidArgumentError: it can't be read, or takes other arguments.
        UnimplementedError: JAX is not installed, or the module has ordered effects.
    """
    try:
        import jax  # both are heavy, and optional
        from jax.extend import backend, mlir
        from jax.extend.mlir import ir
        from jax.extend.mlir.dialects import stablehlo
    except ImportError as error:
        raise errors.UnimplementedError.of(
            "XlaCallModule runs modules that JAX compiled to StableHLO, for which JAX must be installed: "
            "pip install jax"
        ) from error
    context = ir.Context()
    stablehlo.register_dialect(context)
    serialized = module.encode(errors="surrogateescape")
    try:
        program = stablehlo.deserialize_portable_artifact(context, serialized)
    except Exception as error:  # of a class that MLIR does not name
        raise invalid(f"Cannot deserialize computation: {error}") from error
    with context, ir.Location.unknown():
        _refine_arguments(ir, stablehlo, ir.SymbolTable(program.operation)["main"], takes_index, types)
        refined = io.BytesIO()
        program.operation.write_bytecode(refined)
    static = mlir.refine_polymorphic_shapes(refined.getvalue())
    client = backend.get_backend(_PLATFORM.lower())
    options = backend.get_compile_options(num_replicas=1, num_partitions=1)
    return _Program(jax, client.compile_and_load(static, client.devices()[:1], options))


def _refine_arguments(ir: Any, stablehlo: Any, main: Any, takes_index: bool, types: Sequence[str]) -> None:
    """Gives a function arguments of static shapes. It converts them to its own dynamic shapes."""
    if any("stablehlo.token" in str(argument.type) for argument in main.arguments):
        raise errors.UnimplementedError.of("XlaCallModule can't run modules with ordered effects")
    count = len(main.arguments)
    if len(types) != count:
        raise invalid(
            f"Incorrect number of arguments passed to XlaCallModule = {len(types) - takes_index}. It must be called "
            f"with {count - takes_index} because the module main function takes {count} arguments of which "
            f"{int(takes_index)} platform index arguments, and 0 token arguments."
        )
    actual = [ir.RankedTensorType(ir.Type.parse(text)) for text in types]
    for i, (argument, new) in enumerate(zip(main.arguments, actual, strict=True)):
        old = ir.RankedTensorType(argument.type)
        if not _refines_type(old, new):
            which = f"argument {i - takes_index}, {old}"
            raise invalid(f"Error refining argument shapes: {new} is no refinement of {which}")
        if old != new:
            argument.set_type(new)
            with ir.InsertionPoint.at_block_begin(main.entry_block):
                converted = stablehlo.ConvertOp(old, argument)
            argument.replace_all_uses_except(converted.result, converted.operation)
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(actual, main.type.results))
    if "arg_attrs" in main.attributes:
        del main.attributes["arg_attrs"]  # an argument that was donated: others may hold the tensor


def _refines_type(old: Any, new: Any) -> bool:
    """Returns True if a static type has the element type of another one, and each of its static dimensions."""
    if old.element_type != new.element_type or old.rank != new.rank:
        return False
    return all(old.is_dynamic_dim(i) or old.get_dim_size(i) == new.get_dim_size(i) for i in range(old.rank))
