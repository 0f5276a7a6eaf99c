"""Explanations of gradients that are None: the places at which the path from a source to a target breaks.

A tape records the calls that gradients pass through, and notes the others that take watched values. A function that
was called is one call on the tape, so its graph is searched too. Values that leave as NumPy arrays are no calls of ops:
the source text of the `with` block shows them.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.autodiff.targets_and_sources import seed_of
from tapeflow.core.autodiff.tape import Tape, id_of
from tapeflow.core.tracebacks import is_engine_file
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable

if TYPE_CHECKING:
    from tapeflow.autodiff.gradient_tape import GradientTape
    from tapeflow.core.ops.definition import Op

_LEAVING = ("numpy", "item", "tolist")
_STORING = ("assign", "assign_add", "assign_sub")
_CONVERSIONS = ("float", "int", "bool", "list")
_DEPTH = 3  # of functions that the block calls


class Place(NamedTuple):
    """A line of the user's program, and a sentence about it."""

    file: str
    line: int
    function: str
    reason: str

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        source = f"\n    {text}" if text else ""
        return f'  File "{self.file}", line {self.line}, in {self.function}{source}\n  {self.reason}'


def explain_gradients(
    tape: Tape, owner: GradientTape, targets: Sequence[Any], sources: Sequence[Any], frame: FrameType
) -> str:
    """Returns an explanation for the sources. See `GradientTape.explain_gradient`.

    Args:
        tape: the record.
        owner: the `GradientTape`, which the program's variables hold.
        targets: tensors.
        sources: tensors and variables.
        frame: the frame of the program that asks.
    """
    labels: dict[str, list[str]] = {}
    for source in sources:
        is_variable = isinstance(source, ReadAsTensor)
        label = source.name if is_variable else f"the {source.dtype.name} tensor of shape {source.shape}"
        labels.setdefault(_explain_one(tape, owner, targets, source, frame), []).append(label)
    return "\n".join(f"The gradient with respect to {', '.join(names)} is {text}" for text, names in labels.items())


def _explain_one(
    tape: Tape, owner: GradientTape, targets: Sequence[Any], source: Tensor | Variable, frame: FrameType
) -> str:
    start = "None."
    if not source.dtype.differentiable:
        return f"{start} It is {source.dtype.name}: only floating-point and complex values have gradients."
    wrong = [t.dtype.name for t in targets if not t.dtype.differentiable]
    if targets and len(wrong) == len(targets):
        return f"{start} The target is {', '.join(wrong)}: only floating-point and complex values have gradients."
    ids = _ids_of(tape, source)
    if ids.isdisjoint(tape.watched):
        places = list(_suspect_lines(owner, frame)) if isinstance(source, ReadAsTensor) and source.trainable else []
        found = f" Values leave the tape here:\n{_text_of(places)}" if places else ""
        return f"{start} {_why_not_watched(tape, source)}{found}"
    reached, calls = _reach_of(tape, ids)
    target_ids = {tape.reads.get(id_of(t), id_of(t)) for t in targets}
    if not target_ids.isdisjoint(reached) and tape.calls:
        return _explain_connected(tape, targets, source, _leading_to(target_ids, calls))
    if targets and target_ids.isdisjoint(tape.watched):
        start += " The target does not depend on anything that the tape watched."
    places = [*_breaks_of(tape, reached), *(p for call in calls for p in _breaks_inside(call.op, None))]
    places += [place for place in _suspect_lines(owner, frame) if place[:2] not in {p[:2] for p in places}]
    if places:
        return f"{start} Paths from it end here:\n{_text_of(places)}"
    if not tape.calls and (tape.persistent or ids.isdisjoint(tape.roots)):
        return f"{start} No op inside the tape used it."
    used = any(not ids.isdisjoint(call.input_ids) for call in tape.calls)
    if used or not tape.calls:
        return (
            f"{start} Its path ends without an op: values that become NumPy arrays, Python numbers or the first values "
            "of variables lose their gradients."
        )
    return f"{start} No op inside the tape used it. Ops before the `with` block are not recorded."


def _text_of(places: Sequence[Place]) -> str:
    """Returns the lines of places, without those in libraries if there are others."""
    own = [place for place in places if "site-packages" not in place.file]
    return "\n".join(map(str, sorted(set(own or places))))


def _ids_of(tape: Tape, source: Tensor | Variable) -> set[int]:
    """Returns the ids of a tensor, or of all reads of a variable."""
    i = id_of(source)
    return {tape.reads.get(i, i), *tape.more.get(i, ())}


def _why_not_watched(tape: Tape, source: Tensor | Variable) -> str:
    if not isinstance(source, ReadAsTensor):
        return (
            "The tape did not watch it: call tape.watch(tensor) in the `with` block, before the ops. Only trainable "
            "variables are watched without a call."
        )
    if not source.trainable:
        return "The variable is not trainable, so the tape did not watch it: call tape.watch(variable) before the ops."
    if not tape.watch_accessed:
        return "The tape has watch_accessed_variables=False: call tape.watch(variable) before the ops."
    return (
        "No op inside the tape read the variable. A value that was read before the `with` block is a constant to the "
        "tape, and so is the value of a variable that a loss does not use."
    )


def _reach_of(tape: Tape, ids: set[int]) -> tuple[set[int], list[Any]]:
    """Returns the ids of everything on the tape that depends on some tensors, and the calls between."""
    reached, calls = set(ids), []
    for call in tape.calls:
        if not reached.isdisjoint(call.input_ids):
            calls.append(call)
            reached.update((call.output_id,) if call.output_id else call.output_ids)
    reached.discard(0)
    return reached, calls


def _leading_to(ids: set[int], calls: Sequence[Any]) -> list[Any]:
    """Returns the calls that some tensors depend on."""
    needed, leading = set(ids), []
    for call in reversed(calls):
        if not needed.isdisjoint((call.output_id,) if call.output_id else call.output_ids):
            needed.update(call.input_ids)
            leading.append(call)
    return leading[::-1]


def _breaks_of(tape: Tape, reached: set[int]) -> Iterator[Place]:
    """Yields the noted places that some tensors enter. Without a record, it yields all."""
    for (code, offset, _), noted in tape.breaks.items():
        if not tape.calls or not reached.isdisjoint(noted.input_ids):
            yield _code_place(code, offset, _op_reason(noted.op, noted.dtype))


def _code_place(code: CodeType, offset: int, reason: str) -> Place:
    line = next(islice(code.co_positions(), offset // 2, None))[0] or code.co_firstlineno
    return Place(code.co_filename, line, code.co_name, reason)


def _op_reason(op: Op, dtype: DType | None) -> str:
    if dtype is not None and not dtype.differentiable:
        return f"{op.name} returns {dtype.name}: only floating-point and complex values have gradients."
    if op.identity:
        return f"{op.name} ends gradients on purpose."
    if op.name.startswith("Assign"):
        return f"No gradient passes through an assignment to a variable ({op.name})."
    return f"{op.name} has no gradient."


def _breaks_inside(op: Any, starts: set[int] | None) -> Iterator[Place]:
    """Yields the places inside a function at which gradients end.

    Args:
        op: the op of a call.
        starts: the positions of the inputs that gradients are asked for; None for all.
    """
    body = getattr(op, "body", None)
    if body is None:
        return
    reached = {id(t) for i, t in enumerate(body.inputs) if starts is None or i in starts}
    for operation in body.graph.get_operations():
        if reached.isdisjoint(map(id, operation.inputs)):
            continue
        smooth = [t for t in operation.outputs if t.dtype.differentiable]
        if smooth and operation.op.differentiable:
            reached.update(map(id, smooth))
            yield from _breaks_inside(operation.op, {i for i, t in enumerate(operation.inputs) if id(t) in reached})
        elif operation.position is not None and operation.outputs and not operation.op.reads_shape:
            code, offset, _ = operation.position
            yield _code_place(code, offset, _op_reason(operation.op, operation.outputs[0].dtype))


def _explain_connected(tape: Tape, targets: Sequence[Any], source: Any, calls: Sequence[Any]) -> str:
    """Explains the gradient if a path of recorded calls leads from the source to the target."""
    smooth = [t for t in targets if t.dtype.differentiable]
    grads = {tape.reads.get(id_of(t), id_of(t)): seed_of(t, None) for t in smooth}
    (gradient,) = tape.backward(list(tape.calls), grads, [id_of(source)], keep=True)
    if gradient is not None:
        return "not None."
    places = [place for call in calls for place in _breaks_inside(call.op, None)]
    if places:
        return "None. Inside functions, paths from it end here:\n" + _text_of(places)
    names = ", ".join(dict.fromkeys(call.op.name for call in calls))
    return f"None. The gradient of one of these returns None for it: {names}."


# ---- the text of the program -----------------------------------------------------------------------------------------


def _suspect_lines(owner: GradientTape, frame: FrameType) -> Iterator[Place]:
    """Yields the lines of a tape's `with` block, and of functions that it calls, at which values leave the tape.

    Args:
        owner: the `GradientTape`.
        frame: the frame of the block, or of a function that it calls.
    """
    caller: FrameType | None = frame
    while caller is not None:
        yield from _suspects_of(owner, caller)
        caller = caller.f_back


def _suspects_of(owner: GradientTape, frame: FrameType) -> Iterator[Place]:
    code, names = frame.f_code, {**frame.f_globals, **frame.f_locals}
    tree, first = _tree_of(code)
    for node in ast.walk(tree):
        if not isinstance(node, ast.With):
            continue
        bound = [item.optional_vars.id for item in node.items if isinstance(item.optional_vars, ast.Name)]
        if any(names.get(name) is owner for name in bound) and not is_engine_file[code.co_filename]:
            yield from _leaving_lines(node.body, names, code.co_filename, first, code.co_name, _DEPTH, set())


def _tree_of(thing: Any) -> tuple[ast.AST, int]:
    """Returns the tree of the source of code or a function, and the number of lines before it."""
    try:
        whole = getattr(thing, "co_name", "") == "<module>"
        lines, first = (linecache.getlines(thing.co_filename), 1) if whole else inspect.getsourcelines(thing)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], []), 0
    return tree, max(first - 1, 0)


def _leaving_lines(
    body: Iterable[ast.AST], names: dict[str, Any], file: str, first: int, function: str, depth: int, seen: set[Any]
) -> Iterator[Place]:
    for node in (n for statement in body for n in ast.walk(statement) if isinstance(n, ast.Call)):
        called = _called_object(node.func, names)
        reason = _leaving_reason(node, called)
        if reason is not None:
            yield Place(file, first + node.lineno, function, reason)
        elif isinstance(called, FunctionType) and depth and called not in seen:
            inner = inspect.unwrap(called)
            if isinstance(inner, FunctionType) and not is_engine_file[inner.__code__.co_filename]:
                seen.add(called)
                tree, start = _tree_of(inner)
                own = {**inner.__globals__, **inspect.getclosurevars(inner).nonlocals}
                file_of_inner, name = inner.__code__.co_filename, inner.__name__
                yield from _leaving_lines([tree], own, file_of_inner, start, name, depth - 1, seen)


def _called_object(node: ast.AST, names: dict[str, Any]) -> Any:
    """Returns the object that an expression such as `np.sum` names, or None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        home = _called_object(node.value, names)
        if type(home).__name__ == "module" or isinstance(home, type):
            return getattr(home, node.attr, None)
    return None


def _leaving_reason(node: ast.Call, called: Any) -> str | None:
    """Returns the reason if a call's result has no gradient because no op computes it."""
    method = node.func.attr if isinstance(node.func, ast.Attribute) else None
    if called is None and method in _LEAVING:
        return f"{method}() gives values without gradients: compute with ops instead."
    if called is None and method in _STORING:
        return f"No gradient passes through {method}: use the tensor itself."
    if isinstance(node.func, ast.Name) and node.func.id in _CONVERSIONS and called is None:
        return f"{node.func.id}() gives a Python value without a gradient: use tf.cast or the tensor itself."
    if getattr(called, "__name__", "") == "Variable" and isinstance(called, type):
        return "A variable begins with a copy of a value, through which no gradient passes."
    home = getattr(called, "__module__", None) or type(called).__module__
    if home.split(".")[0] == "numpy":
        return "NumPy's functions give values without gradients: use the functions of tf."
    return None
