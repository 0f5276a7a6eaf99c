"""Sample inputs of a module, and checks of its converted forms on them.

A check of empty outputs says nothing, so a search finds sizes that give each output elements. `torch.export` may treat
a size as a constant, so checks run for two sizes if the model takes several.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.export import ExportedProgram

from tapeflow.core import aten
from tapeflow.torch.unconvertible import Unconvertible

if TYPE_CHECKING:
    from tapeflow.torch.module import Converted

_BATCHES = (4, 5)  # for an unknown first dimension
_SIZES = (3, 8, 33, 64, 96, 130, 257, 512, 1024)  # for the others: odd, even, and multiples of large powers of two
SMALL, LARGE = 3, 130  # for tracing modules of torch
_MOST = 1 << 26  # elements of an input

Run = Callable[[Sequence[torch.Tensor]], list[torch.Tensor]]


class Sample(NamedTuple):
    """Sample inputs, and the model's outputs for them."""

    inputs: Sequence[torch.Tensor]
    outputs: list[torch.Tensor]


class _Unfit(ValueError):
    """The model fails for an input, or an output is empty or NaN, which makes a check useless."""


def given_samples(model: Converted, inputs: Sequence[torch.Tensor]) -> list[Sample]:
    """Returns inputs of the user as a sample, and repeated along unknown dimensions if the model takes these too.

    Raises:
        ValueError: an output is empty or NaN, or the model fails.
    """
    sample = _sample_model(model, inputs)
    shapes = [shape for shape, _ in model.input_specs]
    is_single = 1 in _unknown_sizes(shapes, [x.shape for x in inputs])
    others = _usable_samples(model, _repeat_inputs(shapes, inputs), [])
    more = list(itertools.islice(others, 2 if is_single else 1))
    return more if is_single and len(more) == 2 else [sample, *more]  # torch.export treats a size of 1 as a constant


def random_samples(model: Converted, above: int = 0) -> list[Sample]:
    """Returns random inputs of one size, and of another if the model takes it.

    Args:
        model: the module.
        above: a size of the first sample exceeds this number.

    Raises:
        ValueError: for all sizes an output is empty or NaN, or the model fails.
    """
    errors: list[_Unfit] = []
    pairs = [(b, n) for b in _BATCHES for n in _SIZES] + [(n, n) for n in _SIZES]
    for first in pairs:
        sample = next(_usable_samples(model, _random_inputs(model, [first], above), errors), None)
        if sample is not None:
            break
    else:
        raise errors[0] if errors else _Unfit(f"The model takes no inputs with a size above {above}.")
    others = sorted(pairs, key=lambda p: (-sum(a != b for a, b in zip(p, first, strict=True)), p[1] < first[1]))
    shapes = [x.shape for x in sample.inputs]
    different = (x for x in _random_inputs(model, others) if [t.shape for t in x] != shapes)
    return [sample, *itertools.islice(_usable_samples(model, different, []), 1)]


def _random_inputs(model: Converted, pairs: Iterable[tuple[int, int]], above: int = 0) -> Iterator[list[torch.Tensor]]:
    """Yields random inputs, for pairs of a first unknown size and the other ones. No shapes come twice."""
    seen = set()
    for batch, size in pairs:
        shapes = [[(size if i else batch) if d is None else d for i, d in enumerate(s)] for s, _ in model.input_specs]
        largest = max(_unknown_sizes([s for s, _ in model.input_specs], shapes), default=above + 1)
        key = str(shapes)
        if key in seen or any(math.prod(s) > _MOST for s in shapes) or largest <= above:
            continue
        seen.add(key)
        generator = torch.Generator().manual_seed(0)
        samples = []
        for shape, (_, dtype) in zip(shapes, model.input_specs, strict=True):
            if dtype.is_floating_point or dtype.is_complex:
                samples.append(torch.rand(shape, generator=generator, dtype=dtype))
            else:
                samples.append(torch.randint(0, 2, shape, generator=generator).to(dtype))
        yield samples


def _unknown_sizes(static: Sequence[Sequence[int | None]], shapes: Sequence[Sequence[int]]) -> list[int]:
    """Returns the sizes of dimensions that are unknown in the static shapes."""
    pairs = [pair for two in zip(static, shapes, strict=True) for pair in zip(*two, strict=True)]
    return [n for d, n in pairs if d is None]


def _repeat_inputs(
    shapes: Sequence[Sequence[int | None]], inputs: Sequence[torch.Tensor]
) -> Iterator[list[torch.Tensor]]:
    """Yields inputs repeated along all unknown dimensions, or the first ones."""
    for count, rank in itertools.product((2, 3), (None, 1)):
        repeats = [[count if d is None and i < (rank or len(s)) else 1 for i, d in enumerate(s)] for s in shapes]
        if any(n > 1 for r in repeats for n in r):
            yield [x.repeat(r) for x, r in zip(inputs, repeats, strict=True)]


def _usable_samples(
    model: Converted, candidates: Iterable[Sequence[torch.Tensor]], errors: list[_Unfit]
) -> Iterator[Sample]:
    """Yields the usable samples, and adds the errors of the others to `errors`."""
    for inputs in candidates:
        try:
            yield _sample_model(model, inputs)
        except _Unfit as error:
            errors.append(error)


def _sample_model(model: Converted, inputs: Sequence[torch.Tensor]) -> Sample:
    try:
        outputs = [o.detach() for o in aten.pytree.tree_leaves(model(*inputs))]
    except Exception as error:  # of any kernel
        raise _Unfit(f"The model fails for {_describe_inputs(inputs)}: {first_line(error)}") from error
    if not outputs:
        raise _Unfit("The model has no outputs.")
    for i, output in enumerate(outputs):
        problem = "empty" if not output.numel() else "NaN everywhere" if bool(output.isnan().all()) else None
        if problem is not None:
            raise _Unfit(
                f"The converted model can't be checked: output {i} is {problem} for {_describe_inputs(inputs)}. Pass "
                "sample inputs for which it is not (`inputs`, or --inputs)."
            )
    return Sample(inputs, outputs)


def _describe_inputs(inputs: Sequence[torch.Tensor]) -> str:
    return f"inputs of shapes {', '.join(str(list(x.shape)) for x in inputs)}"


def first_line(error: BaseException) -> str:
    """Returns the first line of an error's text, or its type without one."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


# ---- converted forms -------------------------------------------------------------------------------------------------


def largest_size(program: ExportedProgram) -> int | None:
    """Returns the smallest of the limits that a program has for unknown sizes of its inputs; None without limits.

    The tracer sets one where it takes a tensor for empty, for example.
    """
    inputs = [n.meta["val"] for n in program.graph.nodes if n.op == "placeholder"]
    own = {str(d) for x in inputs if isinstance(x, torch.Tensor) for d in x.shape if isinstance(d, torch.SymInt)}
    limits = [r.upper for symbol, r in program.range_constraints.items() if str(symbol) in own]
    return min((int(n) for n in limits if n.is_Integer), default=None)


def largest_difference(run: Run, samples: Sequence[Sample]) -> float:
    """Returns the largest difference of an output from the model's.

    Args:
        run: computes the outputs of the converted model.
        samples: the samples.

    Raises:
        Unconvertible: it fails for a sample, or an output has another shape.
    """
    differences = []
    for sample in samples:
        where = _describe_inputs(sample.inputs)
        try:
            results = run(sample.inputs)
        except Exception as error:  # of torch or ONNX Runtime
            raise Unconvertible(
                f"the converted model fails for {where}, which the model takes ({first_line(error)}): give the "
                "model's inputs fixed sizes"
            ) from error
        for i, (expected, result) in enumerate(zip(sample.outputs, results, strict=True)):
            if expected.shape != result.shape:
                raise Unconvertible(
                    f"output {i} of the converted model is of shape {list(result.shape)} instead of "
                    f"{list(expected.shape)} for {where}: give the model's inputs fixed sizes"
                )
            differences.append(_result_difference(expected, result))
    return max(differences)


def _result_difference(expected: torch.Tensor, result: torch.Tensor) -> float:
    kind = torch.complex128 if expected.is_complex() else torch.float64
    expected, result = expected.to(kind), result.detach().to(kind)
    same = (expected == result) | (expected.isnan() & result.isnan())
    return (expected - result).abs().nan_to_num(nan=math.inf).masked_fill(same, 0.0).max().item()
