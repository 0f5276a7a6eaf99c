"""The definition of an op, as a tape, a graph and the compiler use it.

There is one protocol. A registered op (`core/ops/op.py`), an op that only graphs have, a Python function with a
gradient of its own, and a kernel differentiated through torch are all an `Op`, which holds its gradient with
the residuals that this needs, its batching rule, and its traits.

Traits are facts about an op for other code to use. Passes, batching, `tf.data`'s rewriting, ragged and sparse dispatch,
export and capture read them; no list of op names stands anywhere else. `tests/core/ops/test_traits.py` runs every op
that declares a trait, to check it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapeflow.core.ops.layer import Activation, WeightLayer


class NotStatic(ValueError):
    """A rule needs a value that is not static. This is the only exception of shape rules, and of gradients in graphs,
    that is caught. A function that is no op's rule raises it to its caller."""

    def __init__(self, message: str = "A rank or a value is needed that is not known while a graph is built.") -> None:
        super().__init__(message)


MANY = 1 << 14  # elements: from here on a call of Python more is worth it


class Op:
    """An op: its kernel, its rules, and the traits that others may assume.

    Attributes:
        name: TensorFlow's registered name, or a private one for ops that only graphs have.
        kernel: takes raw values in the order of the parameters, and returns a raw value, a tuple of them, or None.
        registered: it is declared with `@op`, and eager programs call it.
        kinds: the kind of each argument: "tensor", "list" (of tensors), "host" (an input in TensorFlow that kernels
            take as Python numbers) or "attr"; None where every argument is a tensor.

        gradient: `gradient(call, *dys)`; by default, for a registered op, torch differentiates the kernel.
        gradient_name: of an operation's op whose gradient the program defines: the name that nodes have for it.
        differentiable: False where a tape stops on purpose.
        none_for_zero: the gradient takes None, not zeros, as the cotangent of an unused output.
        passes_gradient: the gradient equals the output's, dense or not.
        autograd: torch's autograd goes through the kernel, to the op's gradient; False for a kernel that writes in
            place, has no derivative in torch, or another one at some points.
        accumulate: `accumulate(call, dy, sums, owned)`, the gradient, added in place to sums that exist already.
        keep_inputs, keep_all_inputs, keep_outputs, keep_shapes, keep_dtypes: the gradient's residuals.

        batching: `batching(batch, *args)`, the op on a whole batch of slices; see `core/ops/batch_rules.py`.
        summed: `summed(batch, *args)`, the sum of the op's results over all slices of a batch, as one op.
        static_value: `static_value(*args)`, the integers of the result in nested tuples, with None for each that is not
            static; see `core/ops/static.py`.
        inline: `inline(*args)`, the expression that the compiler writes for a call: a function and a template with
            `{kernel}` and the tensors `{0}`, `{1}`, ...; or None.
        layer: `layer(*args)`, the kernels that take the weights prepared; see `core/ops/layer.py`.
        decomposition: writes the op in TensorFlow's own ones, for a `GraphDef`.

        element: the op's computation for one element, see `core/ops/elements.py`; makes the op elementwise.
        in_loops: `in_loops(b, *args)`, the op in the machine code of a loop, by the methods of
            `graph/compiler/loop_steps.py`.
        draws: the numbers of the words of a stream, see `core/rng/elements.py`. The op takes a shape, a key, a counter,
            an algorithm and a dtype.
        reduced: `reduced(b, x)`, the elements along an axis combined to one, see `core/ops/elements.py`.
        elementwise: each element of the result depends on the elements of the inputs at its own place alone, the inputs
            being broadcast against each other.
        row: `row(b, x)`, the elements of a row of the result, along the last axis, from that row of the first input;
            `b.reduce` combines the elements of a row, see `core/ops/elements.py`.
        commutative: the first two inputs can change places; TensorFlow's registry says so.
        linear: for sums of its inputs, of all of them at once, the result is the sum of the results.
        takes_sparse: a sparse tensor as the first input results in one with the op's results for its values.
        random: draws random numbers, and has no other effect.
        random_fill: fills the shape that is its first argument with random numbers, all of one distribution.
        identity: returns its first input unchanged.
        identity_if_same_shape: returns its first input unchanged if shape and dtype stay the same.
        neutral: the number that, as the other input, leaves an input unchanged (with the sign of a zero); of a
            commutative op on either side.
        fills: the number that all elements of the result are.
        reads_shape: reads only the shapes of its inputs.
        view: the result may share the memory of an input.
        allocates: each result always has memory of its own; no input is retained.
        exact_in_batches: its batching rule computes each slice by the same arithmetic in the same order as the op does.
            It goes without saying of ops that are elementwise, and of those that only move elements.
        early: it starts work that goes on beside other steps, so it runs as soon as its inputs are there; such steps
            keep their order among themselves.
        keeps_nothing: it retains no input and returns no view of one, but may return an input itself.
        for_many: a function that returns the kernel for calls whose first tensor has `MANY` elements or more, or None
            if `kernel` is as fast on this machine; called once, before the op first runs. By default it is the machine
            code of a form with functions.
        activation: the op's form as the last part of a larger kernel; see `core/ops/layer.py`.
        variants: from the name of an attr that is no parameter to the function of the inputs that computes the op where
            that attr is not its default, as `tf.raw_ops` allows.
        node_name: the name of an operation of a graph that the program does not name.
        constant_names: names that TensorFlow's Python functions give to constants, by the inputs that these are, where
            the two differ.
        default_axis: the axis that None stands for; by default all of them.
        control: "call", "conditional" or "loop" if it runs functions; "" for other ops.
    """

    name: str
    kernel: Callable[..., Any] | None = None
    registered = False
    control = ""
    kinds: tuple[str, ...] | None = None
    creates = False

    gradient: Callable[..., Any] | None = None
    gradient_name = ""
    differentiable = True
    none_for_zero = False
    passes_gradient = False
    autograd = True
    accumulate: Callable[..., Any] | None = None
    keep_inputs: tuple[int, ...] = ()
    keep_all_inputs = True  # for the gradient through torch
    keep_outputs = keep_shapes = keep_dtypes = False

    batching: Callable[..., Any] | None = None
    summed: Callable[..., Any] | None = None
    static_value: Callable[..., Any] | None = None
    inline: Any = None
    layer: Callable[..., WeightLayer | None] | None = None
    decomposition: Callable[..., Any] | None = None

    element: Callable[..., Any] | None = None
    reduced: Callable[..., Any] | None = None
    row: Callable[..., Any] | None = None
    in_loops: Callable[..., Any] | None = None
    draws: Callable[..., Any] | None = None
    elementwise = commutative = linear = takes_sparse = random = random_fill = False
    identity = identity_if_same_shape = reads_shape = False
    view = allocates = keeps_nothing = early = exact_in_batches = False
    neutral: float | None = None
    fills: float | None = None
    for_many: Callable[[], Callable[..., Any] | None] | None = None
    activation: Activation | None = None
    variants: Mapping[str, Callable[..., Any]] = MappingProxyType({})
    node_name = ""
    constant_names: Mapping[str, str] = MappingProxyType({})
    default_axis: int | None = None

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    # ---- arguments -----------------------------------------------------------------------------------------------

    def tensors(self, args: Sequence[Any]) -> list[Any]:
        """Returns the tensors among the arguments in one flat list: the inputs that a tape records."""
        if self.kinds is None:
            return list(args)
        flat: list[Any] = []
        for kind, arg in zip(self.kinds, args, strict=True):
            if kind == "tensor":
                flat.append(arg)
            elif kind == "list":
                flat.extend(arg)
        return flat

    def statics(self, args: Sequence[Any]) -> list[Any]:
        """Returns the other arguments, in the order of the parameters."""
        if self.kinds is None:
            return []
        return [arg for kind, arg in zip(self.kinds, args, strict=True) if kind not in ("tensor", "list")]

    def hosts(self, args: Sequence[Any]) -> list[Any]:
        """Returns the arguments that kernels take as Python numbers."""
        if self.kinds is None:
            return []
        return [arg for kind, arg in zip(self.kinds, args, strict=True) if kind == "host"]

    def map(
        self,
        tensor: Callable[..., Any],
        args: Sequence[Any],
        *others: Sequence[Any],
        host: Callable[..., Any] | None = None,
        attr: Callable[..., Any] | None = None,
    ) -> list[Any]:
        """Returns the arguments with a function applied to each, by its kind; those without a function stay.

        Args:
            tensor: called with each tensor, and with each tensor in a list.
            args: arguments in the order of the parameters.
            *others: parallel sequences, such as the values of a kernel: the functions are called with one item of each.
                Items without a function come from the last sequence.
            host: is called with the arguments that kernels take as Python numbers.
            attr: is called with attrs.
        """
        columns = (args, *others)
        kinds = self.kinds if self.kinds is not None else ("tensor",) * len(args)
        result: list[Any] = []
        for kind, *items in zip(kinds, *columns, strict=True):
            if kind == "list":
                result.append([tensor(*row) for row in zip(*items, strict=True)])
                continue
            function = tensor if kind == "tensor" else host if kind == "host" else attr
            result.append(items[-1] if function is None else function(*items))
        return result

    def with_tensors(self, tensors: Iterable[Any], statics: Iterable[Any], in_list: int = 0) -> list[Any]:
        """Returns the arguments with these tensors and these other values: the inverse of `tensors` and `statics`.

        Args:
            tensors: as returned by `tensors`.
            statics: as returned by `statics`.
            in_list: the number of tensors in the list, of an op that takes one.
        """
        rest, others = iter(tensors), iter(statics)
        return [
            next(rest) if kind == "tensor"
            else [next(rest) for _ in range(in_list)] if kind == "list"
            else next(others)
            for kind in self.kinds or ()
        ]  # fmt: skip

    # ---- gradient ------------------------------------------------------------------------------------------------

    def set_residuals(self, needs: str) -> None:
        """Sets the residuals of the gradient. A tape keeps nothing else alive.

        Args:
            needs: words of "inputs" (all), "input0", "input1", ... (some), "outputs", "shapes" and "dtypes" (the
                inputs' shapes and dtypes, read by `call.shape(i)` and `call.dtype(i)`).

        Raises:
            TypeError: there is another word.
        """
        words = needs.split()
        some = [w for w in words if w.startswith("input") and w != "inputs"]
        unknown = set(words) - {"inputs", "outputs", "shapes", "dtypes", *(w for w in some if w[5:].isdigit())}
        if unknown:
            raise TypeError(
                f"{self.name}: a gradient needs 'inputs', 'inputN', 'outputs', 'shapes' or 'dtypes', not {unknown}"
            )
        self.keep_all_inputs = "inputs" in words
        self.keep_inputs = tuple([int(w[5:]) for w in some])
        self.keep_outputs = "outputs" in words
        self.keep_shapes = "shapes" in words
        self.keep_dtypes = "dtypes" in words


class FunctionOp(Op):
    """A Python function with a gradient of its own, `gradient(*dys)`, as a tape records a call of it."""

    keep_all_inputs = False

    def __init__(self, name: str, gradient: Callable[..., Any]) -> None:
        self.name = name
        self.gradient = lambda call, *dys: gradient(*dys)


TRAITS = frozenset(
    {"activation", "allocates", "autograd", "batching", "constant_names", "decomposition", "default_axis",
     "early", "element", "elementwise", "exact_in_batches", "fills", "for_many", "identity", "identity_if_same_shape",
     "draws", "in_loops", "inline", "keeps_nothing", "linear", "neutral", "node_name",
     "random", "random_fill", "reads_shape", "reduced", "row", "takes_sparse", "view"}
)  # fmt: skip


class _Ops:
    """Registered ops by their names, as functions: `ops.MatMul(a, b)`.

    Gradients, batching rules and the engine call ops through it, which saves imports between packages.
    """

    def __getattr__(self, name: str) -> Any:
        definition = find(name)
        if definition is None:
            raise AttributeError(f"no op is registered as {name!r}")
        function = definition.function
        setattr(self, name, function)  # from now on an attribute
        return function


registry: dict[str, Any] = {}  # every registered op by its name; filled as ops are defined
aliases: dict[str, str] = {}  # TensorFlow's other names of registered ops
ops = _Ops()
# A higher layer adds a function that loads the namespaces otherwise loaded at their first use.
load_all: list[Callable[[], None]] = []


def find(name: str) -> Any:
    """Returns the registered op of a name, or None; loads the namespaces that may define it."""
    name = aliases.get(name, name)
    if name not in registry:
        for load in load_all:
            load()
    return registry.get(name)
