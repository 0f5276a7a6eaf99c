"""The operators for `while` and `for`.

A value defines how a graph loops over it by a method

    __tf_autograph_for__(self, loop: Loop) -> None

It is called where a graph is being built, and ends in one call of `loop.over(...)`. For example, for a dataset:

    def __tf_autograph_for__(self, loop):
        iterator = iter(self)
        loop.over((iterator.get_next_as_optional(),),
                  more=lambda optional: optional.has_value(),
                  take=lambda optional: (optional.get_value(), (iterator.get_next_as_optional(),)))
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.creation import range as tf_range
from tapeflow.array.gathers import gather
from tapeflow.array.properties import shape, size
from tapeflow.autograph.operators.builtins import StagedRange, StagedZip, is_staged_iterable
from tapeflow.autograph.operators.conditions import dtype_of, specs_of, zeros_of_spec
from tapeflow.autograph.operators.staged_values import (
    as_tensor,
    checked_condition,
    graph_being_built,
    is_staged,
    is_tensor_leaf,
)
from tapeflow.autograph.operators.variables import Undefined, UndefinedReturnValue, require_values
from tapeflow.control.conditions_and_loops import while_loop
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import logical_and, logical_or
from tapeflow.math.elementwise import sign_op
from tapeflow.math.extrema import maximum, minimum

State = tuple[Any, ...]


class _WiderShape(Exception):
    """A variable of a loop changes its shape. The loop is staged again with a shape that fits both.

    Args:
        variable: its value before the loop.
        shape: the wider shape.
    """

    def __init__(self, variable: Any, shape: TensorShape) -> None:
        self.variable, self.shape = variable, shape


@dataclasses.dataclass
class StagedLoop:
    """A loop that is about to be staged.

    Attributes:
        body: runs one iteration on the loop's variables; takes the item (nothing for a `while`).
        test: returns whether to continue, by the variables alone; or None.
        get_state, set_state: functions that return and assign the variables.
        names: the names of the variables.
        options: the options of `set_loop_options`, and `iterate_names`, the name of the target of a `for`.
    """

    body: Callable[..., None]
    test: Callable[[], Any] | None
    get_state: Callable[[], State]
    set_state: Callable[[State], None]
    names: Sequence[str]
    options: dict[str, Any]
    _relaxed: bool = dataclasses.field(default=False, init=False)
    _invented: list[Any] = dataclasses.field(default_factory=list, init=False)  # values of undefined variables
    _undefined: list[str] = dataclasses.field(default_factory=list, init=False)  # variables that need an iteration

    def __post_init__(self) -> None:
        invariants: list[Any] = []  # pairs of a value before the loop and its shape
        for variable, invariant in self.options.get("shape_invariants") or ():
            if nest.is_nested(variable):
                invariants += zip(nest.flatten(variable), nest.flatten(invariant), strict=True)
            else:
                invariants.append((variable, invariant))
        self.options = {**self.options, "shape_invariants": invariants}

    def over(
        self,
        start: State,
        more: Callable[..., Any],
        take: Callable[..., tuple[Any, Any]],
        relaxed: bool = False,
        first: Any = None,
    ) -> None:
        """Stages the loop.

        Args:
            start: the first state of the iteration itself: a tuple of tensors.
            more: returns, by this state, whether there is another item.
            take: returns, by this state, the item and the next state, or a function that returns the next state after
                the body.
            relaxed: whether variables may change their shapes from iteration to iteration.
            first: the value of the target before the first iteration, if it has none; else None.
        """
        self._relaxed = relaxed
        target = self.options.pop("iterate_names", None)
        if first is not None and target in self.names:
            values = zip(self.names, self.get_state(), strict=True)
            self.set_state(tuple([first if n == target and isinstance(v, Undefined) else v for n, v in values]))
        before = self._defined(start, take)
        flat = nest.flatten(before)
        varying = [k for k, v in enumerate(flat) if is_tensor_leaf(v)]
        initial = [as_tensor(flat[k]) for k in varying]
        current = list(flat)

        def enter(tensors: Sequence[Any]) -> None:
            for k, tensor in zip(varying, tensors, strict=True):
                current[k] = tensor
            self.set_state(tuple(nest.pack_sequence_as(before, current)))

        def go_on(carried: State, tensors: Sequence[Any]) -> Any:
            enter(tensors)
            going = more(*carried)
            if self.test is not None:
                test = self.test()
                going = test if going is True else logical_and(going, test)
            return checked_condition(as_tensor(going), "while loop")

        def step(carried: State, tensors: Sequence[Any]) -> Any:
            enter(tensors)
            item, carried = take(*carried)
            self._run_body(item)
            carried = carried() if callable(carried) else carried
            after = self.get_state()
            self._verify(before, after)
            leaves = nest.flatten(after)
            return carried, [as_tensor(leaves[k]) for k in varying]

        options = {k: v for k, v in self.options.items() if k != "shape_invariants"}
        while True:
            invariants = self._invariants(start, initial, flat, varying)
            try:
                _, final = while_loop(go_on, step, (tuple(start), initial), shape_invariants=invariants, **options)
                break
            except _WiderShape as wider:
                self.set_state(before)
                self.options["shape_invariants"].insert(0, (wider.variable, wider.shape))
            except BaseException:
                self.set_state(before)
                raise
        enter(final)
        if self._undefined:
            self._require_iteration(start, more, before)

    def _require_iteration(self, start: State, more: Callable[..., Any], before: State) -> None:
        """Makes the graph fail if the loop never runs, and variables that it defines so have no values."""
        after = self.get_state()
        self.set_state(before)
        going = more(*start)
        if going is True and self.test is not None:
            going = self.test()
        known = value_of(going) if isinstance(going, SymbolicTensor) else going
        if known is not None and bool(known):
            self.set_state(after)
            return
        missing = [name in self._undefined for name in self.names]
        values = iter(require_values([v for v, m in zip(after, missing, strict=True) if m], going, self._undefined))
        self.set_state(tuple([next(values) if m else v for v, m in zip(after, missing, strict=True)]))

    def _run_body(self, item: Any) -> None:
        if item is NOTHING:
            self.body()
        else:
            self.body(item)

    def _defined(self, start: State, take: Callable[..., tuple[Any, Any]]) -> State:
        """Returns the variables before the loop, with zeros for undefined ones, by their specs after one iteration."""
        before = self.get_state()
        if not any(isinstance(v, Undefined) or v is None for v in before):
            return before

        def once() -> State:
            self._run_body(take(*map(_unknown_value, start))[0])
            return self.get_state()

        try:
            after = specs_of(once)
        except Exception as error:
            missing = [n for n, v in zip(self.names, before, strict=True) if isinstance(v, Undefined)]
            if not missing:
                raise
            raise ValueError(
                f"'{missing[0]}' must be defined before the loop\nNote: AutoGraph tried to define it automatically, "
                f"but ran into a {type(error).__name__}: {error}"
            ) from None
        finally:
            self.set_state(before)
        filled = []
        for name, value, spec in zip(self.names, before, after, strict=True):
            empty = isinstance(value, Undefined) or value is None
            fills = empty and not isinstance(spec, Undefined)
            if fills and spec is not None and not isinstance(value, UndefinedReturnValue):
                self._undefined.append(name)
            filled.append(nest.map_structure(zeros_of_spec, spec) if fills else value)
            if empty:
                self._invented += nest.flatten(filled[-1])
            if fills:
                pairs = zip(nest.flatten(filled[-1]), nest.flatten(spec), strict=True)
                tensors = [(v, s.shape) for v, s in pairs if isinstance(s, TensorSpec)]
                self.options["shape_invariants"] += [(v, s) for v, s in tensors if not s.is_fully_defined()]
        return tuple(filled)

    def _verify(self, before: State, after: State) -> None:
        """Checks that the variables have the same structures, dtypes and shapes after an iteration as before.

        Raises:
            ValueError: one became None or undefined, or changed its shape.
            TypeError: one changed its dtype or structure.
        """
        for name, old, new in zip(self.names, before, after, strict=True):
            if new is None and old is not None:
                raise ValueError(f"'{name}' is None at the end of the iteration.")
            if isinstance(new, Undefined) and not isinstance(old, Undefined):
                raise ValueError(f"'{name}' must be defined at the end of the iteration.")
            try:
                nest.assert_same_structure(old, new, expand_composites=True)
            except (ValueError, TypeError) as error:
                raise TypeError(
                    f"'{name}' does not have the same nested structure after one iteration.\n\n{error}"
                ) from None
            for one, two in zip(nest.flatten(old), nest.flatten(new), strict=True):
                self._verify_leaf(name, one, two)

    def _verify_leaf(self, name: str, old: Any, new: Any) -> None:
        if not (is_tensor_leaf(old) and is_tensor_leaf(new)):
            if old is not new and not isinstance(new, Undefined):
                raise TypeError(
                    f"'{name}' is {old!r} before the loop, but {new!r} after one iteration; in a loop of the "
                    "graph a value that changes must be a tensor"
                )
            return
        first, second = dtype_of(old), dtype_of(new)
        if first != second:
            raise TypeError(f"'{name}' has dtype {first} before the loop, but dtype {second} after one iteration")
        if not hasattr(new, "shape") or not hasattr(as_tensor(old), "shape"):
            return
        was, now = self._invariant_of(old), as_tensor(new).shape
        if self._relaxed and (general := was.most_specific_compatible_shape(now)) != was:
            if any(old is value for value in self._invented):
                raise ValueError(f"'{name}' must be defined before the loop, as its shape changes in it")
            raise _WiderShape(old, general)
        if not was.is_compatible_with(now) or (was.is_fully_defined() and not now.is_fully_defined()):
            raise ValueError(
                f"'{name}' has shape {was} before the loop, but shape {now} after one iteration. Use "
                "tf.autograph.experimental.set_loop_options to set shape invariants."
            )

    def _invariant_of(self, value: Any) -> Any:
        for variable, invariant in self.options.get("shape_invariants") or ():
            if variable is value:
                return TensorShape(getattr(invariant, "shape", invariant))
        return as_tensor(value).shape

    def _invariants(self, start: State, initial: list[Any], flat: list[Any], varying: list[int]) -> Any:
        if not self.options.get("shape_invariants"):
            return None
        return tuple(map(_shape_invariant, start)), [
            self._invariant_of(flat[k]) if hasattr(v, "shape") else _shape_invariant(v)
            for k, v in zip(varying, initial, strict=True)
        ]


def _unknown_value(value: Any) -> Any:
    """Returns a tensor of the current graph with the dtype and shape of a tensor of numbers, whose value is unknown."""
    if not isinstance(value, Tensor) or value.dtype.torch is None:
        return value
    return state.graph.placeholder(value.dtype, value.shape, "start")


def _shape_invariant(value: Any) -> Any:
    return value.shape if hasattr(value, "shape") else value._type_spec


NOTHING = object()  # stands for the item of a `while`


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """Runs `while test(): body()`; in the graph from the first test that returns a tensor of it.

    Args:
        options: the options of `set_loop_options`, and `test_assigns` if the test assigns variables.
    """
    assigns = options.pop("test_assigns", False)
    while True:
        graph = graph_being_built()
        mark = len(graph.operations) if graph is not None else 0
        going = test()
        if is_staged(going):
            checked_condition(going, "while loop")
            break
        if not going:
            return
        body()
    if not assigns and not any(op.stateful for op in graph.operations[mark:]):
        StagedLoop(body, test, get_state, set_state, names, options).over((), lambda: True, lambda: (NOTHING, ()))
        return
    # The test has effects, and ran once already: each iteration runs it for the next one.
    following: list[Any] = []

    def body_and_test() -> None:
        body()
        following[:] = [as_tensor(test())]

    loop = StagedLoop(body_and_test, None, get_state, set_state, names, options)
    loop.over((going,), lambda going: going, lambda _: (NOTHING, lambda: tuple(following)))


def for_stmt(
    iterable: Any,
    test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """Runs `for item in iterable: body(item)`, as long as `test`, if there is one, returns true.

    Args:
        iterable: a tensor of the graph, a range or zip of such, a `TensorArray`, a value with `__tf_autograph_for__`,
            or any iterable of Python.
    """
    staged = None
    if is_staged_iterable(iterable):
        staged = _count_items(iterable)
    elif graph_being_built() is not None:
        if hook := getattr(type(iterable), "__tf_autograph_for__", None):
            hook(iterable, StagedLoop(body, test, get_state, set_state, names, options))
            return
        if hasattr(iterable, "unstack") and hasattr(iterable, "read"):
            staged = _count_items(iterable)
    if staged is not None:
        loop = StagedLoop(body, test, get_state, set_state, names, options)
        bounds = _range_bounds(iterable)
        start, limit, delta = bounds or (0, 0, 0)
        first = None if bounds is None else as_tensor(start)
        if bounds is not None and _counts_up(bounds):
            loop.over((as_tensor(start),), lambda i: i < limit, lambda i: (i, lambda: (i + 1,)), first=first)
        elif first is not None and first.dtype.is_floating:  # each item has the rounding of the one before
            loop.over(
                (as_tensor(start),),
                lambda x: logical_or(logical_and(delta > 0, x < limit), logical_and(delta < 0, x > limit)),
                lambda x: (x, lambda: (x + delta,)),
                first=first,
            )
        else:
            count, item = staged
            loop.over((as_tensor(0),), lambda i: i < count, lambda i: (item(i), lambda: (i + 1,)), first=first)
        return
    if test is None:
        for item in iterable:
            body(item)
        return
    iterator = iter(iterable)
    for item in iterator:
        body(item)
        going = test()
        if is_staged(going):
            raise NotImplementedError(
                "a break or return inside a loop over a Python iterable depends on a tensor, which is known only when "
                "the graph runs; loop over a tensor, such as tf.range(n), instead"
            )
        if not going:
            break


def _count_items(iterable: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Returns the number of items, and a function that returns the item at an index."""
    if isinstance(iterable, StagedZip):
        parts = [_count_items(p) if is_staged_iterable(p) else _of_python(p) for p in iterable.parts]
        count = functools.reduce(_least_count, [count for count, _ in parts])
        return count, lambda i: tuple(item(i) for _, item in parts)
    bounds = _range_bounds(iterable)
    if bounds is not None:
        start, limit, delta = bounds
        return _range_size(start, limit, delta), lambda i: start + _index_like(i, start, delta) * delta
    if hasattr(iterable, "read") and hasattr(iterable, "unstack"):
        return iterable.size(), iterable.read
    value = iterable if hasattr(iterable, "nested_row_splits") else as_tensor(iterable)
    if value.shape.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {value.shape}")
    count = value.shape[0] if value.shape.rank is not None else None
    if count is None:
        count = value.nrows() if hasattr(value, "nrows") else shape(value)[0]
    return count, lambda i: value[i]


def _range_bounds(iterable: Any) -> tuple[Any, Any, Any] | None:
    """Returns start, limit and delta of a range, or of an operation `Range`; None for other iterables."""
    if isinstance(iterable, StagedRange):
        return iterable.start, iterable.limit, iterable.delta
    if is_staged(iterable) and not hasattr(iterable, "assign"):
        source = getattr(iterable, "op", None)
        if source is not None and getattr(source, "type", None) == "Range":
            return tuple(source.inputs)
    return None


def _counts_up(bounds: tuple[Any, Any, Any]) -> bool:
    """Returns True if a range is of integers of one dtype with a step of one."""
    start, limit, delta = [convert(v) for v in bounds]
    step = value_of(delta) if isinstance(delta, SymbolicTensor) else delta.value
    return start.dtype is limit.dtype and start.dtype.is_integer and step is not None and int(step) == 1


def _of_python(iterable: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Returns the result of `_count_items` for a Python iterable beside a tensor in a `zip`."""
    values = convert(list(iterable))
    return values.shape[0], lambda i: gather(values, i)


def _range_size(start: Any, limit: Any, delta: Any) -> Any:
    """Returns the number of items of a range as int32: none if the step leads away from the limit."""
    if isinstance(delta, int) and delta == 1:
        return maximum(limit - start, 0)
    if getattr(delta, "dtype", int32).is_floating:
        return size(tf_range(start, limit, delta))
    one = (delta > 0) - (delta < 0) if isinstance(delta, int) else sign_op(delta)
    return cast(maximum((limit - start - one) // delta + 1, 0), int32)  # a sum with `delta` might wrap around


def _index_like(index: Any, *values: Any) -> Any:
    dtypes = [v.dtype for v in values if hasattr(v, "dtype")]
    return cast(index, dtypes[0]) if dtypes else index


def _least_count(one: Any, other: Any) -> Any:
    if isinstance(one, int):  # a tensor comes first, whose dtype the other takes
        one, other = other, one
    return min(one, other) if isinstance(one, int) else minimum(one, other)
