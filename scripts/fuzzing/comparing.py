"""Finds the differences between two runs of the same tasks, and groups them by cause."""

from __future__ import annotations

import collections
import dataclasses
import json
import re
from typing import Any

from fuzzing.drawing import FLUSHED
from fuzzing.outcomes import UP_TO_SIGN, Difference, beyond, compare
from fuzzing.values import kind_of, nodes, written

DRAWS = 6  # how often a call is run with its numbers moved by a few roundings before a difference counts


@dataclasses.dataclass
class Finding:
    """A call that differs in some modes in the same way."""

    call: dict[str, Any]
    kind: str
    detail: str
    modes: list[str]

    @property
    def cause(self) -> tuple[str, str]:
        return self.call["function"], self.kind


def compared(task: Any, outcomes: dict[str, Any]) -> bool:
    """TensorFlow's outcome is one to compare with: not a crash, nor something that it lacks or leaves open."""
    theirs = outcomes[task["id"]]
    if task["call"]["function"] in UP_TO_SIGN and task["mode"].startswith("gradient"):
        return False
    if any(rule(task, theirs) for rule in ACCIDENTS):
        return False
    eager = outcomes.get(task["id"].partition("/")[0] + "/eager", {})
    if _leaves_memory_unwritten(task, eager) or _turns_images_of_another_rank(task, theirs, eager):
        return False
    return not ({"crash", "hang", "skip"} & theirs.keys() or ("error" in theirs and beyond(theirs)))


def _fails_to_write_its_error(task: Any, theirs: Any) -> bool:
    """Bytes that are no text stand in the message, and decoding it fails; or an allocation does."""
    return theirs.get("error") in ("UnicodeDecodeError", "MemoryError")


def _reads_a_slice_in_python(task: Any, theirs: Any) -> bool:
    """TensorFlow traces a function of a slice, and so Python can't read a slice; TapeFlow calls the function itself,
    for each slice where it has to, and takes them for an axis or in a condition as it does eagerly."""
    return task["mode"] == "vectorized" and bool(_OF_SLICES.search(theirs.get("message", "")))


_OF_SLICES = re.compile(r"""symbolic\ `?(?:tf\.)?Tensor | any\ non-tensor\ type | return\ value\ of\ type\ Operation |
    Expected\ \w+\ for\ (?:'\w+'\ )?argument.*\ not\ \[?(?:<tf\.Tensor\ '|Tensor\(")loop_body""", re.X)  # fmt: skip


def _has_a_wrong_gradient(task: Any, theirs: Any) -> bool:
    """Gradients that TensorFlow lacks or has wrong, of another shape than the input."""
    function, message = task["call"]["function"], theirs.get("message", "")
    if not task["mode"].startswith("gradient"):
        return False
    return (
        function == "image.hsv_to_rgb"  # has none
        or (re.fullmatch(r"nn\.(silu|swish)", function) and _is_wrong_for_silu(task["call"]))
        or function == "nn.isotonic_regression"  # a vector's is a column, and a batch of batches loses a dimension
        or function == "linalg.eigh_tridiagonal"  # goes through the comparisons of a bisection
        or (function.endswith("bessel_i1") and _has_zero(task["call"]))  # is 1 at 0, where the derivative is 1/2
        or "Gradient not defined for fast=False" in message  # of linalg.lstsq
        or any(at.fullmatch(function) and why.search(message) for at, why in _WRONG_GRADIENTS)
    )


def _is_wrong_for_silu(call: Any) -> bool:
    """Tests whether complex numbers take part, which are not conjugated, or a `beta` of many numbers, whose gradient
    is one."""
    tensors = _tensors(call)
    return any(dtype.startswith("complex") for dtype, _, _ in tensors) or any(shape for _, shape, _ in tensors[1:])


# Functions whose gradients fail, and how they do.
_WRONG_GRADIENTS = [(re.compile(function), re.compile(message)) for function, message in (
    # of real transforms that are padded or cut to other lengths
    (
        r"signal\.(i?rfft(2d)?|(inverse_)?stft)",
        r"Incompatible shapes: .*\[Op:(AddV2|Mul)\]|must be >= 0 \[Op:Fill\]|Matrix size-incompatible: .*MatMul",
    ),
    (r"transpose", r"-\d+ is not between 0 and \d+ \[Op:InvertPermutation\]"),  # by negative dimensions
    (r"(experimental\.numpy\.)?sort|math\.top_k", r"Requires delta != 0: 0 \[Op:Range\]"),  # of no elements
    (r"linalg\.banded_triangular_solve", r"_diag_index is out of bound"),  # of more bands than there are diagonals
)]  # fmt: skip


def _tensors(call: Any) -> list[Any]:
    arguments = [*call["args"], *call["kwargs"].values()]
    return [node["tensor"] for node in nodes(arguments) if kind_of(node) == "tensor"]


def _has_zero(call: Any) -> bool:
    return any(value == 0 for _, _, values in _tensors(call) for value in values)


def _divides_complex_numbers_by_zero(task: Any, theirs: Any) -> bool:
    """Is NaN for as many numbers as a processor takes at once, and infinite for the rest."""
    names = ("divide", "truediv", "realdiv", "math.xdivy", "math.xlogy", "experimental.numpy.true_divide")
    tensors = _tensors(task["call"])
    zero = any(value == [0, 0] for dtype, _, values in tensors if dtype.startswith("complex") for value in values)
    return task["call"]["function"] in names and zero


def _rolls_the_batch(task: Any, theirs: Any) -> bool:
    """Counts a negative axis from the end, and adds one for the batch nevertheless."""
    call = task["call"]
    axis = call["kwargs"].get("axis", call["args"][2:3])
    return task["mode"] == "vectorized" and call["function"] == "roll" and "-" in json.dumps(axis)


def _leaves_memory_unwritten(task: Any, eager: Any) -> bool:
    """What windows and transforms of nothing give is what stood in memory: the gradients where images, or all windows,
    are empty, and the inverse transform of no frequencies."""
    function, mode = task["call"]["function"], task["mode"]
    takes_nothing = any(0 in shape for _, shape, _ in _tensors(task["call"]))
    if mode.startswith("gradient") and re.match(r"nn\..*(conv|pool)", function):
        result = eager.get("result")
        return takes_nothing or (isinstance(result, dict) and "t" in result and 0 in result["t"][1])
    return takes_nothing and bool(re.match(r"signal\.(irfft|inverse_stft)", function))


def _averages_beyond_the_image(task: Any, theirs: Any) -> bool:
    """Divides the gradient of a mean by another number of elements than the mean, if a window is larger than the
    image."""
    call = task["call"]
    if not task["mode"].startswith("gradient") or not re.fullmatch(r"nn\.(avg_)?pool(1d|2d|3d)?", call["function"]):
        return False
    images = _tensors(call)[:1]
    window = json.dumps(call["kwargs"].get("ksize", call["kwargs"].get("window_shape", call["args"][1:2])))
    largest = max(map(int, re.findall(r"\d+", window)), default=0)
    return any(largest > min(shape[1:], default=0) for _, shape, _ in images)


def _spreads_infinities(task: Any, theirs: Any) -> bool:
    """Where an infinite or NaN number makes results infinite and where NaN depends on the order of the operations; of
    the largest numbers, NaN is one or not by its place. A depthwise convolution's gradient multiplies the padding by
    infinite filters."""
    function = (
        r"signal\.i?r?fft\w*|linalg\.(solve|lstsq|inv|cholesky\w*)|(nn\.)?approx_\w+_k|"
        r"nn\.depthwise_conv2d_backprop\w+"
    )
    numbers = [v for _, _, values in _tensors(task["call"]) for v in values]
    flat = [part for v in numbers for part in (v if isinstance(v, list) else [v])]
    return bool(re.fullmatch(function, task["call"]["function"])) and any(
        isinstance(v, str) or (isinstance(v, float) and not abs(v) < 1e38) for v in flat
    )


def _misplaces_values(task: Any, theirs: Any) -> bool:
    """Gives the values in the order of sorted indices beside the indices as they were."""
    if task["call"]["function"] != "sparse.softmax" or "result" not in theirs:
        return False
    tensors = _tensors(task["call"])
    if not tensors or len(tensors[0][1]) != 2:
        return False
    _, (count, rank), places = tensors[0]
    rows = [places[i * rank : (i + 1) * rank] for i in range(count)]
    return rows != sorted(rows)


def _leaves_order_open(task: Any, theirs: Any) -> bool:
    """Gives the largest numbers in the order of a heap."""
    return task["call"]["function"].endswith("top_k") and task["call"]["kwargs"].get("sorted") is False


def _formats_the_whole_batch(task: Any, theirs: Any) -> bool:
    """Each slice's text is that of all slices."""
    return task["mode"] == "vectorized" and task["call"]["function"] == "strings.format"


def _runs_off_its_lists(theirs: Any) -> bool:
    """Code of its own reads an element that a list of dimensions lacks, before anything looks at the arguments: a bare
    IndexError of Python's lists, whose class no op and no check has. The call is to be refused, by any class."""
    return theirs.get("error") == "IndexError" and bool(_OF_LISTS.fullmatch(theirs["message"]))


_OF_LISTS = re.compile(r"(list|tuple)( assignment)? index out of range")


def _loses_the_remainder(task: Any, theirs: Any) -> bool:
    """What remains of numbers beyond any precision depends on how many a processor takes at once."""
    large = any(
        isinstance(v, (int, float)) and abs(v) > 1e30 for _, _, values in _tensors(task["call"]) for v in values
    )
    return large and task["mode"] == "vectorized" and task["call"]["function"].endswith(("mod", "floormod"))


def _computes_in_python(task: Any, theirs: Any) -> bool:
    """Code of its own multiplies or subtracts lists, which it forgets to convert to tensors."""
    return bool(
        re.match(
            r"can't multiply sequence by|unsupported operand type\(s\) for -: (?:'\w+' and )?'list'",
            theirs.get("message", ""),
        )
    )


def _wants_static_sizes(task: Any, theirs: Any) -> bool:
    """Code of its own takes sizes for static that are not: it converts a shape to a tensor, or iterates over a tensor,
    that it made itself."""
    message, function = theirs.get("message", ""), task["call"]["function"]
    if re.search(r"Iterating over a symbolic|fftnd/strided_slice|Shape must be rank \d+ but .* Pad\[", message):
        return bool(re.fullmatch(r"signal\.i?r?fftnd", function))
    if message == "None values not supported.":
        return function == "nn.depthwise_conv2d" and task["mode"].endswith(("unknown_sizes", "unknown_rank"))
    return bool(_OF_SIZES.match(message)) and '{"shape":' not in json.dumps(task["call"])


_OF_SIZES = re.compile(r"Cannot convert a partially known TensorShape|Cannot infer argument `num` from shape \(None,\)")


def _compares_unknown_shapes(task: Any, theirs: Any) -> bool:
    """Shape functions that take what is not static for different: the number of diagonals, a rank of -1."""
    message = theirs.get("message", "")
    several = re.search("MatrixSetDiagV[23]", message) and "Shapes must be equal rank" in message and "?" in message
    rows = (
        task["mode"].endswith(("unknown_sizes", "inferred"))
        and "The number of rows of `diagonal` doesn't match" in message
    )
    return bool(several) or rows or "Shape must be rank -1" in message


def _turns_images_of_another_rank(task: Any, theirs: Any, eager: Any) -> bool:
    """Takes the branch for batches, or for one image, where the other is due: it gives other than it does eagerly."""
    if task["mode"] != "unknown_rank" or not re.match(r"image\.(transpose|rot90|flip_)", task["call"]["function"]):
        return False
    return theirs.get("result", theirs.get("error")) != eager.get("result", eager.get("error"))


def _ignores_dilations(task: Any, theirs: Any) -> bool:
    """Computes the gradients of a depthwise convolution as if it had no dilations."""
    call = task["call"]
    dilations = json.dumps(call["kwargs"].get("dilations", call["args"][6:7]))
    return call["function"].startswith("nn.depthwise_conv2d_backprop") and bool(re.search("[2-9]", dilations))


def _loses_a_check(task: Any, theirs: Any) -> bool:
    """Its graph optimizer replaces a reduction by one that reads no axes: nothing says then that one is repeated, or
    that there is no such dimension. Where it does not, and eagerly, the call is refused."""
    call = task["call"]
    tensor, axis = (*call["args"], None, None)[:2]
    axis = call["kwargs"].get("axis", axis)
    axis = axis["tensor"][2] if isinstance(axis, dict) and "tensor" in axis else axis
    if not re.fullmatch(r"(math\.)?reduce_\w+", call["function"]) or not isinstance(axis, list):
        return False
    repeated = len({json.dumps(a) for a in axis}) < len(axis)
    rank = len(tensor["tensor"][1]) if isinstance(tensor, dict) and "tensor" in tensor else 8
    outside = any(type(a) is int and not -rank <= a < rank for a in axis)
    return (repeated or outside) and "result" in theirs and task["mode"] not in ("eager", "again")


def _infers_a_wrong_shape(task: Any, theirs: Any) -> bool:
    """The static shape is not that of the result."""
    result, static = theirs.get("result"), theirs.get("static")
    if not isinstance(result, dict) or "t" not in result or not static or type(static[0]) is not list:
        return False
    shape = result["t"][1]
    return len(shape) != len(static[0]) or any(m not in (None, n) for m, n in zip(static[0], shape, strict=True))


# Outcomes of TensorFlow's that are accidents, and why TapeFlow does not copy them; such calls are not counted. A rule
# looks at what TensorFlow did, and where it can at the text of an error, so that it excuses no more than that.
ACCIDENTS = (
    # What failed is the making of the message, or memory was short: nothing is said of the call.
    _fails_to_write_its_error,
    # The mode asks for one function of a slice, which TensorFlow traces; only errors that say so are excused.
    _reads_a_slice_in_python,
    # Bugs of named functions' gradients, vectorizations and texts, which contradict the functions themselves.
    _has_a_wrong_gradient, _averages_beyond_the_image, _formats_the_whole_batch, _rolls_the_batch, _misplaces_values,
    _leaves_order_open,
    # The result is that of the processor's vectors, and differs between elements of one tensor.
    _divides_complex_numbers_by_zero, _loses_the_remainder, _spreads_infinities,
    # Python's arithmetic of lists, before anything is a tensor: only its two messages are excused.
    _computes_in_python,
    # Functions that take what is not static for static, or unknown for different: only their own messages are excused.
    _wants_static_sizes, _compares_unknown_shapes,
    # Another op's gradient.
    _ignores_dilations,
    # What its optimizer of graphs writes anew passes, though it is refused as it was written.
    _loses_a_check,
    # The static shape is not that of TensorFlow's own result.
    _infers_a_wrong_shape,
)  # fmt: skip


def differences(tasks: list[Any], theirs: dict[str, Any], ours: dict[str, Any], spread: dict[str, list[Any]]
                ) -> dict[str, Difference]:  # fmt: skip
    """The tasks whose outcomes differ, by id."""
    found = {}
    for task in tasks:
        i = task["id"]
        difference = compare(theirs[i], ours[i], task["call"], spread.get(i)) if compared(task, theirs) else None
        if difference and not (difference.kind == "error class" and _runs_off_its_lists(theirs[i])):
            found[i] = difference
    return found


def doubtful(tasks: list[Any], found: dict[str, Difference]) -> list[Any]:
    """Tasks that run their call again with its numbers moved: of those whose values alone differ."""
    return [{**task, "id": f"{task['id']}~{k}", "perturb": k} for task in tasks
            if task["id"] in found and found[task["id"]].kind == "value" for k in (*range(DRAWS), FLUSHED)]  # fmt: skip


def by_task(outcomes: dict[str, Any]) -> dict[str, list[Any]]:
    """The outcomes of `doubtful` tasks, by the id of the task they are of."""
    several: dict[str, list[Any]] = collections.defaultdict(list)
    for name, outcome in outcomes.items():
        several[name.partition("~")[0]].append(outcome)
    return several


def findings(tasks: list[Any], found: dict[str, Difference]) -> list[Finding]:
    """The differences by call: one for all modes in which it differs in the same way."""
    merged: dict[tuple[int, str], Finding] = {}
    for task in tasks:
        difference = found.get(task["id"])
        if difference:
            key = (task["id"].partition("/")[0], difference.kind)
            finding = merged.setdefault(key, Finding(task["call"], difference.kind, difference.detail, []))
            finding.modes.append(task["mode"])
    return list(merged.values())


def rates(tasks: list[Any], theirs: dict[str, Any], found: dict[str, Difference]) -> list[str]:
    """Lines that say how many calls of each mode have the same outcome, and of those that both refuse how many fail by
    an error of the same class."""
    total, same, left_out, refused, other_class = (collections.Counter() for _ in range(5))
    for task in tasks:
        if compared(task, theirs):
            kind = found[task["id"]].kind if task["id"] in found else ""
            total[task["mode"]] += 1
            same[task["mode"]] += not kind
            refused[task["mode"]] += "error" in theirs[task["id"]] and kind != "accepts"
            other_class[task["mode"]] += kind in ("error class", "words of torch")
        elif "skip" not in theirs[task["id"]]:
            left_out[task["mode"]] += 1
    lines = []
    for mode in total:
        rest = f"; TensorFlow crashed, hung or lacks something in {left_out[mode]}" if left_out[mode] else ""
        lines.append(f"{mode}: same outcome in {100 * same[mode] / total[mode]:.1f}% of {total[mode]:,} calls{rest}")
        if refused[mode]:
            equal = 100 - 100 * other_class[mode] / refused[mode]
            lines.append(f"{mode}: same error class in {equal:.1f}% of {refused[mode]:,} calls that both refuse")
    return lines


def report(several: list[Finding]) -> list[str]:
    """The differences grouped by function and kind, most frequent first, each with its shortest example."""
    groups: dict[tuple[str, str], list[Finding]] = collections.defaultdict(list)
    for finding in several:
        groups[finding.cause].append(finding)
    lines = []
    for (function, kind), group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        shortest = min(group, key=lambda finding: (len(finding.modes) < 2, len(json.dumps(finding.call))))
        modes = collections.Counter(mode for finding in group for mode in finding.modes)
        where = ", ".join(f"{mode} {n}" for mode, n in modes.most_common())
        lines.append(f"{len(group)}x {function}: {kind} ({where})")
        lines.append(f"      {written(shortest.call)[:400]}  [{shortest.modes[0]}]")
        lines.append(f"      {shortest.detail}")
    return lines


def kinds(several: list[Finding]) -> list[str]:
    """How many calls differ in each way."""
    count = collections.Counter(finding.kind for finding in several)
    return [f"{n:5d}  {kind}" for kind, n in count.most_common()]
