"""Registered ops: their declaration, and the careful path of a call.

An op has TensorFlow's registered name, a kernel from `torch.Tensor`s to `torch.Tensor`s, and a gradient. `@op(...)`
turns a declaration into the op's function: one short function, generated for the op's parameters (as `dataclasses`
generates `__init__`), that checks the types, calls the kernel, wraps the result and, only where a tape listens,
records. Everything unusual (Python numbers, arrays, variables, a dtype seen for the first time, an error) leaves that
path at the first check for `RegisteredOp.run`, which does the same carefully.

An op's input names, types and attrs in TensorFlow are read from `op_defs.txt`, never written twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from tapeflow.core import device as devices
from tapeflow.core.autodiff import vjp
from tapeflow.core.autodiff.tape import record
from tapeflow.core.context import detours, state
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.arguments import DefinedOp, Settled
from tapeflow.core.ops.convert import operand
from tapeflow.core.ops.definition import TRAITS, Op, aliases, registry
from tapeflow.core.ops.dispatchers import dispatchers, explicit_arguments, offer_call
from tapeflow.core.ops.elementwise_kernels import CompiledKernel, computes_function
from tapeflow.core.ops.kernels import compute
from tapeflow.core.ops.templates import function_of
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid


class RegisteredOp(DefinedOp):
    """An op that is declared with `@op`: its definition in TensorFlow's registry, and the careful path of a call.

    Attributes:
        kernel: `kernel(*arguments)`, in the order of the function's parameters: `torch.Tensor`s for tensors, lists of
            them for lists, plain Python values for the rest.
        string_kernel: the same for string tensors, which it gets as `StringArray`s; or None.
        uint64_kernel: the same for uint64 tensors, if ATen's kernel takes these for int64; or None.
        moves: the kernel only moves elements, so elements of a dtype that it lacks are moved as bits.
        creates: the kernel has no tensor to take its device from, and takes a `device=` instead.
        orders: the kernel only compares elements. Other values in the same order can stand in for them.
        shape: `shape(*arguments)`, the family's shape rule, with `TensorShape`s for tensors.
        shape_types: the type attrs whose dtypes the shape rule takes after the arguments.
        tensor_attrs: the type attrs of its tensors; "" stands for a fixed type.
        input_shape: a function from a tensor to the shape rule's argument: its shape.
        held_shape: the rule for the static shape of the matrix that the output, a variant, holds; or None.
        direct: from the types that decide the result's dtype (`key`) to that dtype, for those where a direct call of
            `kernel` has computed it.
    """

    # A tape reads these attributes of each call: slots are fastest.
    __slots__ = (
        "accumulate", "differentiable", "gradient", "keep_all_inputs", "keep_dtypes", "keep_inputs", "keep_outputs",
        "keep_shapes", "none_for_zero", "passes_gradient",
    )  # fmt: skip
    registered = True
    kernel: Callable[..., Any]
    kinds: tuple[str, ...]
    shape: Callable[..., Any]
    shape_types: Sequence[str] = ()
    input_shape: Callable[[Any], TensorShape] = attrgetter("shape")
    held_shape: Callable[..., TensorShape] | None = None

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        params: tuple[str, ...],
        host: Sequence[str],
        rename: dict[str, str],
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.params = params
        self.opdef = opdef = op_defs.get(name)
        arguments = opdef.inputs
        self.kinds = tuple(
            "attr" if i >= len(arguments) else "host" if param in host else "list" if arguments[i].is_list else "tensor"
            for i, param in enumerate(params)
        )
        self.attr_names = {p: rename.get(p, p) for p in params[len(arguments) :]}
        unknown = [p for p in host if p not in params[: len(arguments)]]
        unknown += [a for a in self.attr_names.values() if a not in opdef.attrs]
        if unknown or len(params) < len(arguments):
            raise TypeError(f"{name}{params} does not match {opdef.signature}: {unknown}")
        pairs = zip(arguments, self.kinds, strict=False)
        self.tensor_attrs = {a.type_attr for a, kind in pairs if kind in ("tensor", "list")}
        self.uniform = len(self.tensor_attrs) == 1 and None not in self.tensor_attrs
        self.single = len(opdef.outputs) == 1 and not opdef.outputs[0].is_list
        self.many = len(opdef.outputs) == 1 and bool(opdef.outputs[0].number_attr)
        self.several = len(opdef.outputs) > 1 and not any(o.number_attr or o.type_list_attr for o in opdef.outputs)
        if len(opdef.outputs) > 1:
            self.output_numbers = tuple([o.number_attr for o in opdef.outputs if o.number_attr])
        self.direct: dict[Any, DType | tuple[DType, ...]] = {}
        self.settled: dict[Any, Settled] = {}
        self.string_kernel: Callable[..., Any] | None = None
        self.uint64_kernel: Callable[..., Any] | None = None
        self.moves = self.creates = self.orders = self.promotes = False
        self.gradient = vjp.gradient  # until one is declared
        self.accumulate: Callable[..., Any] | None = None
        self.differentiable = self.keep_all_inputs = True
        self.keep_inputs: tuple[int, ...] = ()
        self.keep_outputs = self.keep_shapes = self.keep_dtypes = False
        self.none_for_zero = self.passes_gradient = False
        self.function = self.run

    @cached_property
    def kernel_for_many(self) -> Callable[..., Any] | None:
        """The kernel for calls whose first tensor has `MANY` elements or more; None if `kernel` is as fast."""
        if self.for_many is not None:
            return self.for_many()
        if not self.uniform or not computes_function(self):
            return None
        return CompiledKernel(self.name, self.function, self.kernel, len(self.kinds))

    @property
    def stateful(self) -> bool:
        """Returns True if it must run in its place even where its outputs are unused. Ops with seeds are stateful by
        TensorFlow's registry, but unused random numbers need not be drawn."""
        return self.opdef.stateful and not self.random

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return self.opdef.commutative

    def infer(
        self, args: Sequence[Any], types: dict[str, Any], count: int, host: Callable[[Any], Any] | None = None
    ) -> list[TensorShape]:
        """Returns the shapes of the outputs, by the shape rule.

        Args:
            args: the arguments.
            types: the type attrs.
            count: the number of outputs.
            host: is called with the arguments that kernels take as Python numbers.

        Raises:
            NotStatic: the rule needs more than is static.
            InvalidArgumentError, ValueError: the shapes of the inputs do not go together.
        """
        try:
            result = self.shape(*self.rule_arguments(args, host), *[types[attr] for attr in self.shape_types])
        except (IndexError, KeyError, ZeroDivisionError, OverflowError) as error:  # of arguments that no call has
            raise invalid(f"{self.name} can't take these arguments: {type(error).__name__}: {error}") from error
        return [result] * count if isinstance(result, TensorShape) else [TensorShape(shape) for shape in result]

    def rule_arguments(self, args: Sequence[Any], host: Callable[[Any], Any] | None) -> list[Any]:
        """Returns arguments as shape rules take them, with shapes for tensors; see `infer`."""
        return [
            self.input_shape(arg) if kind == "tensor"
            else [tensor.shape for tensor in arg] if kind == "list"
            else host(arg) if host is not None and kind == "host"
            else arg
            for kind, arg in zip(self.kinds, args, strict=True)
        ]  # fmt: skip

    # ---- the careful path ----------------------------------------------------------------------------------------

    def run(self, args: tuple[Any, ...], name: str | None = None, promotes: bool = False) -> Any:
        """Runs the op on anything convertible: converts, checks types, places, computes, records."""
        if detours and state.graph is not None:
            return state.graph.add(self, args, name, promotes)
        simple = self.simplified(args) if not detours else None
        if simple is not None:
            return self.function(*simple, name=name)
        result = self.dispatched(args)
        if result is not NotImplemented:
            return result
        arguments, types = self.convert_arguments(args, promotes or self.promotes, self.promotes and not promotes)
        key = self.key(arguments)
        values, exact = compute(self, arguments, types, name)
        outputs: Any
        if isinstance(values, (tuple, list)):
            outputs = [EagerTensor(v, d) for v, d in zip(values, self.output_dtypes(types, len(values)), strict=True)]
            if exact and outputs:
                self.direct[key] = self.result_dtypes(outputs)
        elif values is None:
            return None
        else:
            outputs = EagerTensor(values, self.output_dtypes(types, 1)[0])
            if exact:
                self.direct[key] = outputs.dtype
        flat_outputs = outputs if isinstance(outputs, list) else (outputs,)
        if state.devices:
            devices.stamp(flat_outputs)
        if state.tapes:
            record(self, self.tensors(arguments), self.statics(arguments), flat_outputs)
        return outputs

    def dispatched(self, args: Sequence[Any], function: Callable[..., Any] | None = None) -> Any:
        """Returns the op's result if an argument dispatches it (a ragged or sparse tensor, a program's own type), or
        else NotImplemented. In the place of a tensor, a list may hold values of a program's own type.

        Args:
            args: the arguments.
            function: the function that was called; by default the op's own function.
        """
        for kind, arg in zip(self.kinds, args, strict=True):
            listed = type(arg) in (list, tuple)
            for item in (arg if kind == "list" else arg[:1]) if listed else (arg,):
                dispatch = getattr(type(item), "__tf_dispatch__", None)
                if dispatch is None or (listed and kind != "list" and getattr(item, "_is_tensor", False)):
                    continue
                result = dispatch(item, function or self.function, args)
                if result is not NotImplemented:
                    return result
        if dispatchers:
            called = function or self.function
            return offer_call(called, *explicit_arguments(called, tuple(args)))
        return NotImplemented

    def result_dtypes(self, outputs: Sequence[Tensor]) -> DType | tuple[DType, ...]:
        """Returns the entry of `direct` for these outputs: one dtype, or a tuple with one per output."""
        return tuple([t.dtype for t in outputs]) if self.several else outputs[0].dtype

    def simplified(self, args: tuple[Any, ...]) -> list[Any] | None:
        """Returns the arguments with Python numbers as tensors, for calls that only those keep off the fast path; or
        None."""
        if not self.uniform:
            return None
        for kind, arg in zip(self.kinds, args, strict=True):
            if type(arg) is EagerTensor and kind == "tensor":
                break
        else:
            return None
        dtype = arg.dtype
        out: list[Any] | None = None
        for i, value in enumerate(args):
            if self.kinds[i] != "tensor" or type(value) is EagerTensor:
                continue
            try:
                if type(value) is float or type(value) is int:
                    out = out or list(args)
                    out[i] = operand(value, dtype)
            except (TypeError, ValueError):
                return None
        return out

    def operate(self, args: tuple[Any, ...], name: str | None = None) -> Any:
        """Calls `run` for a binary operator; an operand that it can't convert may implement the reflected operator."""
        try:
            return self.run(args, name)
        except (TypeError, ValueError):
            if isinstance(args[0], Tensor) and not isinstance(args[1], Tensor) and _has_reflected(args[1]):
                return NotImplemented
            raise

    def key(self, args: Sequence[Any]) -> Any:
        """Returns the numbers of the types in the arguments that decide the result's dtype: the key into `direct`."""
        if self.uniform and not self.keyed_params():
            for tensor in self.tensors(args):
                return tensor.dtype.as_datatype_enum
        types = [a.dtype.as_datatype_enum for kind, a in zip(self.kinds, args, strict=True) if kind == "tensor"]
        return (*types, *[args[i].as_datatype_enum for i in self.keyed_params()])

    @functools.cache  # noqa: B019 (ops live as long as the process)
    def keyed_params(self) -> tuple[int, ...]:
        """Returns the positions of the attrs that decide the result's dtype, as `output_type` does in ArgMax."""
        attrs = {o.type_attr for o in self.opdef.outputs}
        return tuple([i for i, p in enumerate(self.params) if self.attr_names.get(p) in attrs])

    def types_of(self, args: Sequence[Any], outputs: Sequence[Tensor]) -> dict[str, Any]:
        """Returns the type attrs of a call, and the lengths of its lists, as its arguments and its outputs tell them.

        Args:
            args: the arguments.
            outputs: the outputs, for type attrs that do not follow from the arguments.
        """
        types: dict[str, Any] = self.numbers(args) if len(self.opdef.outputs) > 1 else {}
        types |= {attr.name: args[i] for i, attr in self.attr_params() if "type" in attr.type and args[i] is not None}
        for kind, argument, arg in zip(self.kinds, self.opdef.inputs, args, strict=False):
            if argument.type_list_attr:
                types[argument.type_list_attr] = [t.dtype for t in arg]
            elif kind in ("tensor", "list") and argument.type_attr:
                for tensor in arg[:1] if kind == "list" else [arg]:
                    types.setdefault(argument.type_attr, tensor.dtype)
        rest = list(outputs)
        for out in self.opdef.outputs:
            count = types.get(out.number_attr, len(rest)) if out.number_attr else 1
            if out.type_list_attr:
                count = len(types.setdefault(out.type_list_attr, [t.dtype for t in rest]))
            elif out.type_attr and count:
                types.setdefault(out.type_attr, rest[0].dtype)
            del rest[:count]
        return types

    def output_dtypes(self, types: dict[str, Any], count: int) -> list[DType]:
        """Returns the dtypes of the `count` outputs by the op's type attrs."""
        outputs = self.opdef.outputs
        if self.single:
            return [outputs[0].type or types[outputs[0].type_attr]]
        result: list[DType] = []
        for out in outputs:
            if out.type_list_attr:
                result.extend(types[out.type_list_attr])
                continue
            dtype = out.type if out.type is not None else types[out.type_attr]
            result.extend([dtype] * (types.get(out.number_attr, count) if out.number_attr else 1))
        return result


def _has_reflected(value: object) -> bool:
    return any(hasattr(type(value), m) for m in ("__tf_reflected__", "__radd__")) and not isinstance(
        value, (int, float, complex, str, bytes, list, tuple)
    )


# ---- declaring ops ---------------------------------------------------------------------------------------------------


P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Rule = TypeVar("Rule", bound=Callable[..., Any])


class OpFunction(Protocol[P, R]):
    """An op as a function, with decorators that declare its gradient and its rules."""

    op: RegisteredOp

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def gradient(self, needs: str = "", none_for_zero: bool = False) -> Callable[[Rule], Rule]:
        """Declares the gradient, see `gradient_of`."""

    def accumulate(self, rule: Rule) -> Rule:
        """Declares a gradient that is added to sums in one kernel, as a product of matrices can be.

        It is called as `accumulate(call, dy, sums, owned)`. If an input's id is in `owned`, `sums[id]` is the tensor
        that sums its gradients. The function adds to these sums in place and returns None for such inputs, and
        gradients for the others.
        """

    def batching(self, rule: Rule) -> Rule:
        """Declares the op's computation for a whole batch of slices, see `core/ops/batch_rules.py`."""

    def summed(self, rule: Rule) -> Rule:
        """Declares the sum of the op's results over all slices of a batch: `rule(batch, *args)`, see `batching`."""

    def static_value(self, rule: Rule) -> Rule:
        """Declares the static values of results whose inputs are not static, or only in part, such as a shape.

        `rule(*args)` takes the arguments of an operation; `elements` and `host_static` of `core/ops/static.py` read
        their static values. It returns integers in nested tuples, with None for each that is not static, or raises
        NotStatic. The rule of an op with several outputs returns a tuple of these.
        """

    def inline(self, rule: Rule) -> Rule:
        """Declares the expression that the compiler writes for a call: `rule(*args)` returns a function and a template
        of `{kernel}` and the tensors `{0}`, `{1}`, ..., or None."""

    def layer(self, rule: Rule) -> Rule:
        """Declares kernels that take the weights prepared: `rule(*args)` takes the arguments of an operation. The
        second argument is the weights. The rule returns a `WeightLayer`, see `core/ops/layer.py`, or None."""

    def decomposition(self, rule: Rule) -> Rule:
        """Declares the operations of TensorFlow that stand for the op in a `GraphDef`: `rule(operation)`."""


@overload
def op(
    name: str, kernel: Callable[..., Any], *, shape: Callable[..., Any], **options: Any
) -> Callable[[Callable[P, R]], OpFunction[P, R]]: ...


@overload
def op(
    name: str, kernel: None = None, *, shape: Callable[..., Any], **options: Any
) -> Callable[[Callable[..., Any]], OpFunction[..., Any]]: ...


def op(
    name: str,
    kernel: Callable[..., Any] | None = None,
    *,
    host: Sequence[str] = (),
    shape: Callable[..., Any],
    shape_types: Sequence[str] = (),
    strings: Callable[..., Any] | bool | None = None,
    moves: bool = False,
    creates: bool = False,
    orders: bool = False,
    uint64: Callable[..., Any] | None = None,
    promotes: bool = False,
    rename: dict[str, str] | None = None,
    signature: str = "",
    alias: str = "",
    **traits: Any,
) -> Callable[[Callable[..., Any]], OpFunction[..., Any]]:
    """Declares an op. The decorated function declares parameters, defaults and documentation; its body is never run.
    Where there is no `kernel`, the function is the kernel, and the op's function takes a `name` behind its parameters.

    The parameters are TensorFlow's registered inputs in their order (under any name), then attrs by their registered
    names, then `name`.

    Args:
        name: TensorFlow's registered op name.
        kernel: takes the parameters in order, tensors as `torch.Tensor`, and returns a `torch.Tensor` or a tuple of
            them. It never changes its inputs. It may raise TensorFlow's errors. By default the decorated function.
        host: parameters that are inputs in TensorFlow and Python numbers to the kernel (shapes, axes, paddings).
        shape: the family's shape rule, see `core/ops/shape_rules.py`.
        input_shape: a function from a tensor to the shape rule's argument: its shape.
        held_shape: the rule for the static shape of the matrix that the output, a variant, holds; or None.
        strings: the kernel for string tensors, on `StringArray`s; True where it is the same.
        moves: the kernel only moves elements, and so works for every dtype there is.
        creates: the kernel takes `device=` as it has no tensor inputs.
        orders: the kernel only compares elements; uint64, which ATen can't compare, is then compared as int64.
        uint64: the kernel for uint64 inputs, if ATen's takes them for int64.
        promotes: a Python value that does not fit the other operand's dtype keeps its own (and so is a dtype
            mismatch), as in TensorFlow's arithmetic operators; otherwise it is a TypeError. The function converts its
            first argument without a look at the second.
        rename: from a parameter's name to the attr's, if they differ.
        signature: inputs, outputs and attrs of an op that TensorFlow lacks, see `op_def.declare`.
        alias: another registered op that takes the same arguments, and gives the same.
        **traits: facts about the op for other code: the attributes of `Op` named in `TRAITS`.

    Returns:
        A decorator that returns the op's function; see `OpFunction` for its own decorators.

    Raises:
        TypeError: the parameters do not match the registration, or there is no such trait.
    """
    if signature:
        op_defs.declare(name, signature)
    if not TRAITS.issuperset(traits):
        raise TypeError(f"{name}: no op has the traits {sorted(traits.keys() - TRAITS)}")

    def decorate(declared: Callable[..., Any]) -> Any:
        code = declared.__code__
        params = code.co_varnames[: code.co_argcount]
        if kernel is not None and params[-1:] != ("name",):
            raise TypeError(f"the last parameter of {declared.__name__} must be 'name'")
        inputs = params if kernel is None else params[:-1]
        new = RegisteredOp(name, kernel or declared, inputs, host, rename or {})
        new.shape, new.shape_types = shape, shape_types
        new.string_kernel = new.kernel if strings is True else strings or None
        new.uint64_kernel = uint64
        new.moves, new.creates, new.orders, new.promotes = moves, creates, orders, promotes
        for trait, value in traits.items():
            setattr(new, trait, value)
        if new.element is not None:
            new.elementwise = True
        function: Any = function_of(new, declared, new.run)
        if kernel is None:
            function.__defaults__ = (*(declared.__defaults__ or ()), None)
        function.op = new
        function.gradient = functools.partial(gradient_of, new)
        for attribute in ("accumulate", "batching", "summed", "static_value", "inline", "layer", "decomposition"):
            setattr(function, attribute, functools.partial(_declare_rule, new, attribute))
        new.function = function
        registry[name] = new
        if alias:
            new.alias = alias
            aliases[alias] = name
        return function

    return decorate


def _declare_rule(op: Op, attribute: str, rule: Rule) -> Rule:
    setattr(op, attribute, rule)
    return rule


def operator(
    function: Any, name: str, slow: Callable[..., Any] | None = None, public: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Returns an op's function as a binary operator of `Tensor`; NotImplemented for operands that it can't convert.

    Args:
        function: the op's function.
        name: the operator's, such as `__add__`.
        slow: `slow(args, name)` for calls off the fast path, if the operator's rules differ from the op's.
        public: the function that dispatchers get, by default the op's.
    """
    public = public or function
    slow = slow or function.op.operate
    short = name.strip("_").removeprefix("r") if name.startswith("__r") else name.strip("_")

    def named(args: tuple[Any, ...], name: str | None = None) -> Any:
        if dispatchers:
            result = offer_call(public, args, {"name": name} if short in OPERATORS else {})
            if result is not NotImplemented:
                return result
        return slow(args, short if name is None and short in OPERATORS and state.graph is not None else name)

    method = function_of(function.op, function, named)
    method.__name__ = method.__qualname__ = name
    return method


# The operators that give their name to an operation of a graph.
OPERATORS = frozenset({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow"})


def widen(function: Any, slow: Callable[..., Any]) -> Callable[[Any], Any]:
    """Decorates the declaration of a public function that calls an op for tensors of the op's own dtypes, and
    `slow(args, name)` for all other arguments. So the public function is as fast as the op's.
    """

    def dispatching(args: tuple[Any, ...], name: str | None = None) -> Any:
        result = function.op.dispatched(args, public)
        return slow(args, name) if result is NotImplemented else result

    public: Any = None

    def decorate(declared: Any) -> Any:
        nonlocal public
        public = function_of(function.op, declared, dispatching)
        public.op, public.widened = function.op, public
        return public

    return decorate


def converting(**attrs: Callable[[Any], Any]) -> Callable[[Rule], Rule]:
    """Decorates an op's function if the public one converts arguments for attrs before the op sees them. The op's own
    function, which `tf.raw_ops` calls, takes arguments as its definition lists them.

    Args:
        **attrs: by parameter, the conversion: `bool` for any truth value.
    """

    def decorate(function: Any) -> Any:
        op = function.op
        conversions = [attrs.get(param) for param in op.params]

        def slow(args: tuple[Any, ...], name: str | None) -> Any:
            pairs = zip(conversions, args, strict=True)
            return op.run(tuple([arg if convert is None else convert(arg) for convert, arg in pairs]), name)

        return widen(function, slow)(function)

    return decorate


def gradient_of(
    op: Op, needs: str = "", none_for_zero: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares an op's gradient, `gradient(call, *dys)`, which returns one gradient (or None) for each tensor input.

    Args:
        op: the op.
        needs: the residuals that the gradient reads; see `Op.set_residuals`.
        none_for_zero: for an op of several outputs: the gradient takes None as the cotangent of an unused output, and
            saves the work for it; otherwise it gets zeros.
    """
    op.set_residuals(needs)
    op.none_for_zero = none_for_zero

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        op.gradient = function
        return function

    return decorate


def not_differentiable(*functions: Any) -> None:
    """Declares that ops have no gradient: a tape stops there, and does not differentiate their kernels."""
    for function in functions:
        function.op.differentiable = False
