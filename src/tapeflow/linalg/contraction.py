"""Sums of products over named or numbered dimensions: `einsum` and `tensordot`."""

from __future__ import annotations

import functools
import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import range_op
from tapeflow.array.gathers import gather_v2
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, reshape, transpose
from tapeflow.array.unranked import joined_dims, other_dimensions
from tapeflow.core.autodiff.gradients import conj, is_unranked, shape_of, sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices
from tapeflow.core.ops.by_shapes import by_shapes
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.definition import MANY, NotStatic, ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import broadcast, text
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.linalg.large_products import may_choose, product
from tapeflow.linalg.products import matmul
from tapeflow.math.arithmetic import add

_LABELS = string.ascii_lowercase[::-1] + string.ascii_uppercase[::-1]  # rarely used letters first
_EQUATION = re.compile(r"(?P<inputs>[a-zA-Z,.]*)(?P<arrow>->)?(?P<output>(?(arrow)[a-zA-Z.]*))")


@functools.lru_cache(4096)
def _parse_equation(equation: str) -> tuple[tuple[str, ...], str, str]:
    """Parses an equation.

    Returns:
        The subscripts of the inputs, the explicit or implicit subscripts of the output, and the complete equation.

    Raises:
        ValueError: the equation is malformed.
    """
    match = _EQUATION.fullmatch(equation.replace(" ", ""))
    if match is None:
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    inputs = match["inputs"].split(",")
    output = match["output"]
    for part in [*inputs, output]:
        if part.replace("...", "", 1).count("."):
            raise ValueError(f"Subscripts have incorrect format: {equation}")
    counts = Counter("".join(inputs).replace(".", ""))
    if not match["arrow"]:
        output = "..." if "..." in match["inputs"] else ""
        output += "".join(sorted(label for label, count in counts.items() if count == 1))
    for label, count in Counter(output.replace("...", "")).items():
        if count > 1:
            raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
        if label not in counts:
            raise ValueError(f"Output subscripts contain the label {label} not present in the input subscripts.")
    return tuple(inputs), output, f"{','.join(inputs)}->{output}"


@functools.lru_cache(4096)
def _split_at_ellipsis(equation: str) -> tuple[list[tuple[str, str, str]], str]:
    """Splits the labels of each input at its ellipsis. Also returns the labels of the output."""
    left, _, output = equation.partition("->")
    return [subscripts.partition("...") for subscripts in left.split(",")], output


def _label_lengths(inputs: Sequence[Any], equation: str) -> tuple[dict[str, Any], TensorShape]:
    """Returns the length of each label, and the shape that the ellipses broadcast to.

    Raises:
        InvalidArgumentError: the shapes do not fit the equation.
    """
    sizes: dict[str, Any] = {}
    ellipsis = TensorShape([])
    subscripts, output = _split_at_ellipsis(equation)
    if len(subscripts) != len(inputs):
        raise invalid(f"Expected {len(subscripts)} inputs for the equation {equation} but got: {len(inputs)}")
    for i, ((before, dots, after), shape) in enumerate(zip(subscripts, inputs, strict=True)):
        rank, named = len(shape), len(before) + len(after)
        if dots and rank < named:
            raise invalid(f"Expected input {i} to have rank at least {named} but got: {rank}")
        if not dots and rank != named:
            raise invalid(f"Expected input {i} to have rank {named} but got: {rank}")
        stop = rank - len(after)
        if dots and stop > len(before):
            ellipsis = broadcast(ellipsis, TensorShape(shape[len(before) : stop]))
        axes = [*range(len(before)), *range(stop, rank)]
        for label, axis in zip(before + after, axes, strict=True):
            size = shape[axis]
            if sizes.get(label) is None:
                sizes[label] = size
            elif size is not None and size != sizes[label]:
                raise invalid(
                    f"Expected dimension {sizes[label]} at axis {axis} of the input shaped {text(TensorShape(shape))} "
                    f"but got dimension {size}"
                )
    if ellipsis.rank and "..." not in output:
        raise invalid(
            f"Output contains {ellipsis.rank} broadcasting dimension(s) but no ellipsis (...) was found in the output "
            "subscripts."
        )
    return sizes, ellipsis


def _einsum_rule(inputs: Sequence[TensorShape], equation: str) -> TensorShape:
    before, dots, after = _split_at_ellipsis(equation)[1].partition("...")
    if dots and any(s.rank is None for s in inputs):
        return TensorShape(None)
    subscripts = _split_at_ellipsis(equation)[0]
    if len(subscripts) == len(inputs):
        inputs = [s if s.rank is not None else TensorShape([None] * (len(first) + len(last)))
                  for s, (first, _, last) in zip(inputs, subscripts, strict=True)]  # fmt: skip
    sizes, ellipsis = _label_lengths([s.as_list() for s in inputs], equation)
    return TensorShape([*(sizes[n] for n in before), *(ellipsis.as_list() if dots else ()), *(sizes[n] for n in after)])


@functools.lru_cache(4096)
def _is_plain(equation: str) -> bool:
    """Returns True if an equation has no ellipsis, and no label twice in the output."""
    output = equation.partition("->")[2]
    return "." not in equation and len(set(output)) == len(output)


@op("Einsum", shape=_einsum_rule, node_name="einsum/Einsum")
def einsum_op(inputs: list[torch.Tensor], equation: str) -> torch.Tensor:
    """Sums products of one tensor or two, as an equation with all subscripts says."""
    plain = _is_plain(equation)
    if plain and not any(1 in x.shape for x in inputs):
        matrices = _as_matrices(equation) if len(inputs) == 2 and inputs[0].numel() >= MANY and may_choose() else None
        return torch.einsum(equation, *inputs) if matrices is None else _matrix_product(inputs[0], inputs[1], *matrices)
    sizes, _ = _label_lengths([x.shape for x in inputs], equation)  # torch would broadcast lengths of 1
    left, _, output = equation.partition("->")
    first = max(output.find("..."), 0)
    output = output.replace("...", "")
    labels = "".join(dict.fromkeys(output))
    if len(labels) == len(output):
        return torch.einsum(equation, *inputs)
    # A label twice in the output, as in gradients: the values go to a diagonal, the rest is zeros.
    values = torch.einsum(f"{left}->...{labels}", *inputs)
    batch = values.ndim - len(labels)
    out = values.new_zeros([*values.shape[:batch], *(sizes[n] for n in output)])
    strides = [sum(s for s, n in zip(out.stride()[batch:], output, strict=True) if n == label) for label in labels]
    out.as_strided(values.shape, [*out.stride()[:batch], *strides]).copy_(values)
    return out.movedim([*range(batch)], [*range(first, first + batch)]) if first and batch else out


@functools.lru_cache(4096)
def _as_matrices(equation: str) -> tuple[list[int], list[int], int, list[int]] | None:
    """Returns how one product of matrices computes a plain equation of two inputs, or None if it does not.

    Returns:
        The dimensions of the first input with the summed ones last, those of the second with the summed ones first,
        the number of summed dimensions, and the place of each dimension of the output in the product.
    """
    left, _, output = equation.partition("->")
    a, b = left.split(",")
    summed = [n for n in a if n in b]
    rows, columns = ([n for n in part if n not in summed] for part in (a, b))
    if sorted(rows + columns) != sorted(output) or len(set(a)) < len(a) or len(set(b)) < len(b):
        return None
    places = [(rows + columns).index(n) for n in output]
    return [a.index(n) for n in rows + summed], [b.index(n) for n in summed + columns], len(summed), places


def _matrix_product(
    x: torch.Tensor, y: torch.Tensor, first: list[int], second: list[int], summed: int, places: list[int]
) -> torch.Tensor:
    x, y = x.permute(first), y.permute(second)
    count = math.prod(y.shape[:summed])
    result = product(x.reshape(-1, count), y.reshape(count, -1))
    return result.view(*x.shape[: x.ndim - summed], *y.shape[summed:]).permute(places)


@einsum_op.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    (equation,) = call.attrs
    left, _, output = equation.partition("->")
    subscripts = left.split(",")
    turned = (
        _swap_subscripts(*subscripts, output) if len(subscripts) == 2 and call.inputs[0] is call.inputs[1] else None
    )
    if turned is not None:  # one product for both gradients
        x, y = call.inputs
        both = add(dy, dy if turned == output else einsum_op([dy], f"{turned}->{output}"))
        return [_einsum_gradient(both, output, [(conj(y), subscripts[1])], x, subscripts[0]), None]
    grads: list[Any] = []
    for i, wanted in enumerate(call.wanted):
        others = [(conj(x), s) for j, (x, s) in enumerate(zip(call.inputs, subscripts, strict=True)) if j != i]
        grads.append(_einsum_gradient(dy, output, others, call.inputs[i], subscripts[i]) if wanted else None)
    return grads


@functools.lru_cache(4096)
def _swap_subscripts(first: str, second: str, output: str) -> str | None:
    """Returns the subscripts of the output after two inputs change places, or None if that does not just swap labels.

    In "ij,ik->jk" the inputs change places if the labels j and k do. The result is "kj".
    """
    if "." in first + second or len(first) != len(second) or len(set(output)) < len(output):
        return None
    labels: dict[str, str] = {}
    for a, b in zip(first, second, strict=True):
        if labels.setdefault(a, b) != b or labels.setdefault(b, a) != a:
            return None
    swapped = "".join([labels[label] for label in output])
    return swapped if set(swapped) == set(output) else None


def _einsum_gradient(dy: Tensor, output: str, others: list[tuple[Any, str]], x: Tensor, subscripts: str) -> Any:
    """Computes the gradient of one input: `dy` times the others, brought to the dimensions of `x`.

    Raises:
        NotStatic: there is an ellipsis of an unknown number of dimensions.
    """
    whole = shape_of(x)
    if is_unranked(whole) and "..." in subscripts:
        raise NotStatic
    shape = tuple([whole[i] for i in range(len(subscripts))] if is_unranked(whole) else whole)
    before, dots, after = subscripts.partition("...")
    ellipsis = shape[len(before) : len(shape) - len(after)]
    size = dict(zip(before + after, shape[: len(before)] + shape[len(shape) - len(after) :], strict=True))
    elsewhere = output + "".join(s for _, s in others)
    shared = "".join(n for n in size if n in elsewhere)
    summed = "".join(n for n in size if n not in elsewhere)
    left = ",".join([output, *(s for _, s in others)])
    dots = "..." if "..." in left else ""
    g = einsum_op([dy, *(o for o, _ in others)], f"{left}->{dots}{shared}")
    g = sum_to_shape(g, ellipsis + tuple([size[n] for n in shared]))
    if summed:
        g = reshape(g, tuple(shape_of(g)) + (1,) * len(summed))
        g = broadcast_to(g, ellipsis + tuple([size[n] for n in shared + summed]))
    dots = "..." if ellipsis else ""
    labels = before + dots + after
    return g if dots + shared + summed == labels else einsum_op([g], f"{dots}{shared}{summed}->{labels}")


@einsum_op.batching
def _(batch: Batch, inputs: list[Slices], equation: str) -> Any:
    left, arrow, output = equation.partition("->")
    if not arrow:
        raise NoRule
    label = next(c for c in _LABELS if c not in equation)
    parts = [label + p if x.stacked else p for p, x in zip(left.split(","), inputs, strict=True)]
    return batch.run([x.value for x in inputs], f"{','.join(parts)}->{label}{output.strip()}")


@by_shapes(1024)
def _plan_pairs(equation: str, shapes: tuple[tuple[int, ...], ...], optimize: str) -> list[tuple[Any, str]]:
    """Plans the contraction of many operands, two at a time.

    Returns:
        For each step the positions of its operands, from last to first, and its equation.
    """
    import opt_einsum

    (subscripts, output, _), ellipsis = _parse_equation(equation), ""
    if "..." in equation:  # one long dimension stands for all of an ellipsis
        ellipsis = next(n for n in map(chr, range(ord("a"), ord("z") + 1)) if n not in equation)
        packed = []
        for s, shape in zip(subscripts, shapes, strict=True):
            start, dots, rest = s.partition("...")
            end = len(shape) - len(rest)
            middle = (math.prod(shape[len(start) : end]),) if dots else ()
            packed.append(shape[: len(start)] + middle + shape[end:])
        longest = max(s[len(p.partition("...")[0])] for s, p in zip(packed, subscripts, strict=True) if "..." in p)
        for i, s in enumerate(subscripts):
            if "..." in s:
                at = s.index("...")
                packed[i] = (*packed[i][:at], longest, *packed[i][at + 1 :])
        shapes = tuple(packed)
    named = f"{','.join(subscripts)}->{output}".replace("...", ellipsis)
    _, info = opt_einsum.contract_path(named, *shapes, shapes=True, optimize=optimize)
    return [(step[0], step[2].replace(ellipsis, "...") if ellipsis else step[2]) for step in info.contraction_list]


def _planned_shapes(shapes: Sequence[TensorShape], equation: str) -> tuple[tuple[int, ...], ...]:
    """Returns the shapes that a contraction is planned for. A dimension that is not static gets the length of another
    dimension with the same label, or 1. An ellipsis of unknown rank has no dimensions."""
    ranked = [
        TensorShape([None] * (len(before) + len(after))) if x.rank is None else x
        for x, (before, _, after) in zip(shapes, _split_at_ellipsis(equation)[0], strict=True)
    ]
    lengths, _ = _label_lengths([x.as_list() for x in ranked], equation)
    planned = []
    for x, (before, dots, after) in zip(ranked, _split_at_ellipsis(equation)[0], strict=True):
        middle = x[len(before) : len(x) - len(after)] if dots else ()
        planned.append(tuple([d or 1 for d in (*map(lengths.get, before), *middle, *map(lengths.get, after))]))
    return tuple(planned)


def einsum(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """Sums products of tensors over the dimensions that an equation names.

    The equation lists the subscripts of each input, a letter for each dimension, separated by commas. The subscripts of
    the output follow after `->`. Dimensions without a letter in the output are summed over. A letter twice in an input
    takes a diagonal. `...` stands for dimensions that broadcast. Without `->`, the output has the letters that occur
    once, in alphabetical order.

    Args:
        equation: such as `"ij,jk->ik"`.
        *inputs: tensors of one numeric dtype, each with one dimension for each letter of its term.
        **kwargs: `optimize`, the method that orders more than two inputs: "greedy" (the default), "optimal",
            "branch-2", "branch-all", "auto"; `name`.

    Returns:
        A tensor of that dtype, with the dimensions of the output's subscripts.

    Raises:
        ValueError: the equation is malformed, or is of another number of inputs.
        TypeError: there is another keyword argument.
        InvalidArgumentError: the shapes do not fit the equation.

    Example:
        >>> tf.einsum("ij,kj->ik", [[1, 2], [3, 4]], [[1, 1]]).numpy().tolist()
        [[3], [7]]
        >>> tf.einsum("ii", [[1, 2], [3, 4]]).numpy().item()
        5
    """
    name, optimize = None, "greedy"
    if kwargs:
        name, optimize = kwargs.pop("name", None), kwargs.pop("optimize", "greedy")
    if kwargs:
        unexpected = ", ".join(kwargs)
        raise TypeError(f"Invalid keyword arguments for einsum: {unexpected}. Valid arguments: name, optimize, greedy.")
    subscripts, _, resolved = _parse_equation(equation)
    if len(inputs) != len(subscripts):
        raise ValueError(f'Got {len(inputs)} inputs for equation "{equation}", expecting {len(subscripts)}')
    if len(inputs) <= 2:
        return einsum_op(list(inputs), resolved, name)
    operands = [convert(x) for x in inputs]
    shapes = _planned_shapes([x.shape for x in operands], resolved)
    for positions, step in _plan_pairs(equation, shapes, optimize):
        operands.append(einsum_op([operands.pop(i) for i in positions], step, name))
    return operands[0]


# ---- tensordot -------------------------------------------------------------------------------------------------------


def tensordot(a: TensorLike, b: TensorLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """Sums products over dimensions of `a` and `b`, as matrices are multiplied.

    Args:
        a, b: tensors of one numeric dtype, whose dimensions in `axes` have equal sizes.
        axes: an int `n` for the last `n` dimensions of `a` and the first `n` of `b`, or two lists of dimensions of `a`
            and `b`, which are paired in order.

    Returns:
        A tensor of that dtype. Its dimensions are the other dimensions of `a`, then the other dimensions of `b`.

    Raises:
        TypeError: `axes` is a string, or a pair of a list and an integer.
        ValueError: `axes` are not as described.
        IndexError: `axes` names a dimension that a tensor does not have.
        InvalidArgumentError: the dimensions differ in length.

    Example:
        >>> tf.tensordot([[1, 2], [3, 4]], [5, 6], axes=1).numpy().tolist()
        [17, 39]
    """
    left: Any = a if isinstance(a, Tensor) else convert(a)
    right: Any = b if isinstance(b, Tensor) else convert(b)
    if left.shape.rank is None or right.shape.rank is None or isinstance(axes, SymbolicTensor):
        return _unranked_tensordot(left, right, axes, name)
    shape_a, shape_b = tuple(shape_of(left)), tuple(shape_of(right))
    if isinstance(axes, (EagerTensor, np.ndarray)):
        of_a, of_b = _rows_of_axes(axes, len(shape_a), len(shape_b))
    else:
        of_a, of_b = _tensordot_axes(left, axes, len(shape_a))
    axes_a = [_positive_axis(i, len(shape_a)) for i in of_a]
    axes_b = [_positive_axis(i, len(shape_b)) for i in of_b]
    rows, free_a = _as_matrix(left, shape_a, axes_a, contracted_last=True)
    columns, free_b = _as_matrix(right, shape_b, axes_b, contracted_last=False)
    product = matmul(rows, columns)
    if len(free_a) == 1 == len(free_b):
        return product
    return reshape(product, [*free_a, *free_b], name)


def _rows_of_axes(axes: AxisLike, *ranks: int) -> list[Sequence[int]]:
    """Returns the axes that `tensordot` contracts, from the first two rows of a tensor or array.

    Raises:
        ValueError: it is a tensor of another dtype than int32.
        InvalidArgumentError: it does not have two rows, or it names a dimension that a tensor does not have.
    """
    matrix = convert(axes, int32).numpy()
    if matrix.ndim == 0:
        raise invalid("Attempting to slice scalar input.")
    if len(matrix) < 2:
        raise invalid(f"slice index {len(matrix)} of dimension 0 out of bounds. [Op:StridedSlice]")
    if matrix.ndim != 2:
        raise invalid("y should be a 1D vector. [Op:ListDiff]")
    rows = matrix[:2].tolist()
    for row, rank in zip(rows, ranks, strict=True):
        for i, axis in enumerate(row):
            if not -rank <= axis < rank:
                raise invalid(f"indices[{i}] = {axis} is not in [0, {rank}) [Op:GatherV2]")
    return rows


def _tensordot_axes(a: Tensor, axes: Any, rank: int) -> tuple[Sequence[int], Sequence[int]]:
    """Returns the axes of both tensors that `tensordot` contracts, some perhaps negative."""
    if isinstance(axes, (list, tuple)) and len(axes) == 2:
        numbers = [isinstance(a, (int, np.integer)) for a in axes]
        if numbers[0] != numbers[1] or any(isinstance(a, Tensor) and a.shape.rank == 0 for a in axes):
            raise TypeError("`axes` must be two integers, or two lists of them")
    axes = host_value(axes)
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > rank:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}.  Received {axes}, vs tensor "
                f"dimensions {rank}."
            )
        return range(rank - axes, rank), range(axes)
    if isinstance(axes, str):
        raise TypeError(f"Cannot convert {axes!r} to EagerTensor of dtype int32")
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {list(axes)}.")
    of_a, of_b = [(x,) if isinstance(x, int) else x for x in axes]
    if len(of_a) != len(of_b):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(of_a)} != {len(of_b)}.")
    return of_a, of_b


def _unranked_tensordot(a: Tensor, b: Tensor, axes: Any, name: str | None) -> Any:
    """Computes `tensordot` in a graph if a rank is unknown."""
    numbers = host_value(axes)
    if isinstance(numbers, SymbolicTensor):
        axes_a, axes_b = (convert(numbers[i], int32) % rank_op(x) for i, x in enumerate((a, b)))
    elif isinstance(numbers, int):
        if numbers < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {numbers}.")
        rank = rank_op(a)
        axes_a, axes_b = range_op(rank - numbers, rank, 1), range_op(0, numbers, 1)
    else:
        of_both = _tensordot_axes(a, axes, 0)
        axes_a, axes_b = (convert(list(of), int32) % rank_op(x) for x, of in zip((a, b), of_both, strict=True))
    matrices, lengths = [], []
    for x, contracted, contracted_last in ((a, axes_a, True), (b, axes_b, False)):
        free, dims = other_dimensions(x, contracted), shape_op(x)
        parts = (free, contracted) if contracted_last else (contracted, free)
        sizes = [ops.Prod(gather_v2(dims, part, 0, 0), 0) for part in parts]
        matrices.append(reshape(transpose(x, joined_dims(*parts)), sizes))
        lengths.append(gather_v2(dims, free, 0, 0))
    return reshape(matmul(matrices[0], matrices[1]), joined_dims(*lengths), name)


def _positive_axis(i: int, rank: int) -> int:
    """Returns an axis as one that is not negative."""
    if not -rank <= i < rank:
        raise IndexError(f"there is no dimension {i} in a tensor of rank {rank}")
    return i % rank


def _as_matrix(x: Tensor, shape: tuple[Any, ...], axes: list[int], contracted_last: bool) -> tuple[Any, list[int]]:
    """Returns a tensor as a matrix of its free and its contracted dimensions, and the lengths of the free ones."""
    free = [i for i in range(len(shape)) if i not in axes]
    order = free + axes if contracted_last else axes + free
    if order != list(range(len(shape))):
        x = transpose(x, order)
    lengths = [shape[i] for i in free]
    if len(free) == 1 == len(axes):
        return x, lengths
    rows, contracted = math.prod(lengths), math.prod([shape[i] for i in axes])
    return reshape(x, [rows, contracted] if contracted_last else [contracted, rows]), lengths
