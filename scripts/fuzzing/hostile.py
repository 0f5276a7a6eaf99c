"""Draws calls of raw ops as a hostile file would make them: shapes that don't fit together, huge and negative sizes,
empty, large and strided tensors, attrs out of their range.

Half of the calls are made of an op's definition alone, half are recorded calls with a few changes, which come further.
"""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np

from fuzzing import seeds
from fuzzing.drawing import (
    CHANGES,
    DTYPES,
    NUMBERS,
    REALS,
    TEXTS,
    Call,
    Drawer,
    alienate,
    arguments,
    arrays_of,
    drop,
    everywhere,
    resized,
    specials,
)  # fmt: skip
from fuzzing.values import LARGEST, kind_of
from tapeflow.core.ops import op_def
from tapeflow_compat.raw_ops.generated import RENAMED, without_kernel

# Ops that end or block the process, as they should, or work on files, sockets and sessions.
LEFT_OUT = seeds.words("""
Abort Assert CreateSummaryFileWriter CreateSummaryDbWriter MergeV2Checkpoints MutexLock Print PrintV2 ReadFile
RecordInput SaveDataset SaveDatasetV2 Save SaveSlices SaveV2 Snapshot SleepDataset WriteFile WriteGraphSummary
IteratorFromStringHandle DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4
RegisterDataset RegisterDatasetV2 BarrierTakeMany AccumulatorTakeGradient SparseAccumulatorTakeGradient
ResourceAccumulatorTakeGradient QueueDequeue QueueDequeueMany QueueDequeueUpTo QueueDequeueV2 QueueDequeueManyV2
QueueDequeueUpToV2 QueueEnqueue QueueEnqueueMany QueueEnqueueV2 QueueEnqueueManyV2 ReaderRead ReaderReadUpTo
ReaderReadV2 ReaderReadUpToV2 Stage StagePeek Unstage MapStage MapPeek MapUnstage MapUnstageNoKey OrderedMapStage
OrderedMapPeek OrderedMapUnstage OrderedMapUnstageNoKey DeleteSessionTensor GetSessionTensor GetSessionHandle PyFunc
PyFuncStateless EagerPyFunc
""")
SMALL = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8)
LARGE = (100, 1000, 4097, 30000)
HUGE = (*NUMBERS, 2**30, 65536, 100_000, -(2**63), 2**31 - 2, 2**62)
KINDS = {"float32": 40, "int32": 15, "int64": 10}  # how often a dtype is drawn for a type attr; others once
# Results of other ops, for what is not a tensor of numbers: the name of an op and its arguments.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("EmptyTensorList", {"element_shape": [2], "max_num_elements": 5, "element_dtype": {"dtype": "float32"}}),
    ("TensorListReserve", {"element_shape": [2], "num_elements": 3, "element_dtype": {"dtype": "float32"}}),
    ("TensorListReserve", {"element_shape": -1, "num_elements": 3, "element_dtype": {"dtype": "int32"}}),
    ("TensorListFromTensor", {"tensor": {"array": ["float32", [3, 2], [1.0] * 6]}, "element_shape": [2]}),
    ("TensorListFromTensor", {"tensor": {"array": ["int32", [2], [1, 2]]}, "element_shape": []}),
    ("EmptyTensorMap", {}),
    ("OptionalNone", {}),
    ("OptionalFromValue", {"components": [1.0, 2]}),
    ("RangeDataset", {"start": 0, "stop": 5, "step": 1, "output_types": [{"dtype": "int64"}],
                      "output_shapes": [{"shape": []}]}),
    ("TensorSliceDataset", {"components": [{"array": ["float32", [3, 2], [1.0] * 6]}],
                            "output_shapes": [{"shape": [2]}]}),
    ("RaggedTensorToVariant", {"rt_nested_splits": [{"array": ["int64", [3], [0, 1, 3]]}],
                               "rt_dense_values": {"array": ["float32", [3], [1.0, 2.0, 3.0]]},
                               "batched_input": False}),
    ("DenseToCSRSparseMatrix", {"dense_input": {"array": ["float32", [2, 2], [1.0, 0.0, 0.0, 2.0]]},
                                "indices": {"array": ["int64", [2, 2], [0, 0, 1, 1]]}}),
]  # fmt: skip
RESOURCES: list[tuple[str, dict[str, Any]]] = [
    ("MutableHashTableV2", {"key_dtype": {"dtype": "int64"}, "value_dtype": {"dtype": "float32"}}),
    ("MutableHashTableOfTensorsV2", {"key_dtype": {"dtype": "int64"}, "value_dtype": {"dtype": "float32"},
                                     "value_shape": {"shape": [2]}}),
    ("FIFOQueueV2", {"component_types": [{"dtype": "float32"}]}),
    ("VarHandleOp", {"dtype": {"dtype": "float32"}, "shape": {"shape": [2]}}),  # without a value
    ("StackV2", {"max_size": 3, "elem_type": {"dtype": "float32"}}),
    ("TensorArrayV3", {"size": 3, "dtype": {"dtype": "float32"}}),
    ("AnonymousSeedGenerator", {"seed": 1, "seed2": 2, "reshuffle": True}),
    ("ResourceConditionalAccumulator", {"dtype": {"dtype": "float32"}, "shape": {"shape": [2]}}),
]  # fmt: skip


def names(tf: Any) -> list[str]:
    """The raw ops that are called."""
    left_out = {*LEFT_OUT, *without_kernel()}
    return [name for name in dir(tf.raw_ops) if name not in left_out and not _has_functions(name)]


def _has_functions(name: str) -> bool:
    return any("func" in attr.type for attr in op_def.get(name).attrs.values())


def draw(drawer: Drawer, rng: random.Random, name: str) -> Call:
    """A hostile call of an op.

    Args:
        drawer: has recorded calls as its seeds.
        rng: where the call comes from.
        name: the op.
    """
    recorded = drawer.seeds.get(f"raw_ops.{name}")
    if not recorded or rng.random() < 0.4:
        return of_definition(name, rng)
    call = copy.deepcopy(rng.choice(recorded))
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choices(list(HOSTILE), list(HOSTILE.values()))[0](drawer, call, rng)
    _lay_out(call, rng)
    return call


# ---- from a definition -----------------------------------------------------------------------------------------------


def of_definition(name: str, rng: random.Random) -> Call:
    """A call of an op whose arguments fit its definition in number and dtype."""
    definition, renamed = op_def.get(name), RENAMED.get(name, {})
    shape = _shape(rng)
    types = {a.name: _dtype(a.allowed, rng) for a in definition.attrs.values() if a.type == "type"}
    numbers = {a.number_attr: rng.choice((0, 1, 1, 2, 2, 3)) for a in definition.inputs if a.number_attr}
    kwargs: dict[str, Any] = {}
    for argument in definition.inputs:
        dtype = argument.type.name if argument.type else types.get(argument.type_attr, "float32")
        if argument.type_list_attr:
            node: Any = [_tensor(rng.choice(DTYPES), shape, rng) for _ in range(rng.choice((0, 1, 2, 3)))]
        elif argument.number_attr:
            node = [_tensor(dtype, shape, rng) for _ in range(numbers[argument.number_attr])]
        else:
            node = _tensor(dtype, shape, rng)
        kwargs[renamed.get(argument.name, argument.name)] = node
    for attr in definition.attrs.values():
        if attr.name not in op_def.implied_attrs(definition) and (not attr.has_default or rng.random() < 0.5):
            node = {"dtype": types[attr.name]} if attr.type == "type" else _attr(attr, rng)
            kwargs[renamed.get(attr.name, attr.name)] = node
    call = {"function": f"raw_ops.{name}", "args": [], "kwargs": kwargs}
    _lay_out(call, rng)
    return call


def _dtype(allowed: Any, rng: random.Random) -> str:
    dtypes = [dtype.name for dtype in allowed] if allowed else list(DTYPES)
    dtypes = [dtype for dtype in dtypes if dtype in DTYPES] or list(DTYPES)
    return rng.choices(dtypes, [KINDS.get(dtype, 2) for dtype in dtypes])[0]


def _shape(rng: random.Random) -> list[int]:
    shape = [rng.choice(SMALL) for _ in range(rng.choices((0, 1, 2, 3, 4, 5), (10, 25, 25, 15, 20, 5))[0])]
    return shape if math.prod(shape) <= LARGEST else shape[:2]


def _tensor(dtype: str, shape: list[int], rng: random.Random) -> Any:
    """A tensor of this dtype, often of another shape; a handle or a variant."""
    if dtype == "resource" and rng.random() < 0.6:
        return {"handle": _array("float32", shape, rng)}
    if dtype in ("resource", "variant"):
        function, kwargs = rng.choice(RESOURCES if dtype == "resource" else VARIANTS)
        return {"call": {"function": f"raw_ops.{function}", "args": [], "kwargs": copy.deepcopy(kwargs)}}
    how = rng.random()
    if how < 0.25:
        shape = _shape(rng)
    elif how < 0.4 and shape:
        axis = rng.randrange(len(shape))
        shape = [*shape[:axis], rng.choice(SMALL), *shape[axis + 1 :]]
    elif how < 0.65:
        shape = rng.choice(([], [1], [2], [3], [4], [len(shape)], shape[:1], shape[-1:], [len(shape), 2]))
    return {"tensor": _array(dtype, shape, rng)}


def _array(dtype: str, shape: list[int], rng: random.Random) -> list[Any]:
    if math.prod(shape) > LARGEST:
        shape = shape[:1]
    how = rng.choices(("small", "special", "huge"), (60, 20, 20))[0]
    return [dtype, shape, [_element(dtype, how, rng) for _ in range(math.prod(shape))]]


def _element(dtype: str, how: str, rng: random.Random) -> Any:
    if how == "special":
        return copy.deepcopy(rng.choice(specials(dtype)))
    if dtype == "string":
        return rng.choice(TEXTS)
    if dtype == "bool":
        return rng.random() < 0.5
    if dtype.startswith("complex"):
        return [rng.choice(REALS), 1.0]
    if "int" not in dtype:
        return rng.choice(REALS) if how == "huge" else rng.choice((0.0, 0.5, 1.0, -1.0, 2.0, 3.0))
    limits = np.iinfo(dtype)
    value = rng.choice(HUGE) if how == "huge" and rng.random() < 0.5 else rng.choice((0, 1, 1, 2, 3, 4, -1))
    return min(max(value, int(limits.min)), int(limits.max))


def _attr(attr: op_def.AttrDef, rng: random.Random) -> Any:
    if attr.type.startswith("list("):
        item = attr._replace(type=attr.type[5:-1], allowed=attr.allowed if attr.type == "list(type)" else None)
        return [_attr(item, rng) for _ in range(rng.choice((0, 1, 2, 3, 4, 4, 5)))]
    if attr.type == "int":
        return rng.choice(HUGE) if rng.random() < 0.25 else rng.choice((0, 1, 1, 1, 2, 2, 3, 4, -1))
    if attr.type == "float":
        return rng.choice(REALS)
    if attr.type == "bool":
        return rng.random() < 0.5
    if attr.type == "string":
        return rng.choice([t.decode() if isinstance(t, bytes) else t for t in attr.allowed or ()] * 3 + ["", "wrong"])
    if attr.type == "type":
        return {"dtype": _dtype(attr.allowed, rng)}
    if attr.type == "shape":
        sizes = [rng.choice((None, 0, 1, 2, 3, *(HUGE if rng.random() < 0.1 else ()))) for _ in _shape(rng)]
        return {"shape": rng.choice((None, [n for n in sizes if n is None or n >= 0]))}
    return {"array": _array("float32", _shape(rng), rng)}


# ---- changes of a recorded call --------------------------------------------------------------------------------------


def scatter_shapes(drawer: Drawer, call: Call, rng: random.Random) -> None:
    """Gives some of the arrays shapes of their own."""
    for place in arrays_of(call):
        if rng.random() < 0.4:
            description = place.node[kind_of(place.node)]
            shape = list(description[1])
            if not shape or rng.random() < 0.3:
                shape = _shape(rng)
            else:
                shape[rng.randrange(len(shape))] = rng.choice(SMALL)
            resized(description, shape)


def enlarge(drawer: Drawer, call: Call, rng: random.Random) -> None:
    """Makes one axis of an array large."""
    places = [place for place in arrays_of(call) if kind_of(place.node) == "tensor" and place.node["tensor"][1]]
    if places:
        place = rng.choice(places)
        dtype, shape, values = copy.deepcopy(place.node["tensor"])
        shape[rng.randrange(len(shape))] = rng.choice(LARGE)
        if values and math.prod(shape) <= 4_000_000:
            place.node = {"strided": [dtype, shape, values]}


def exceed(drawer: Drawer, call: Call, rng: random.Random) -> None:
    """Puts huge, negative and other integers into an array of integers."""
    places = [p for p in arrays_of(call) if "int" in p.node[kind_of(p.node)][0] and p.node[kind_of(p.node)][2]]
    places = [p for p in places if not p.node[kind_of(p.node)][0].startswith("q")]
    if places:
        place = rng.choice(places)
        dtype, _, values = place.node[kind_of(place.node)]
        for _ in range(rng.choice((1, 1, 2, len(values)))):
            values[rng.randrange(len(values))] = _element(dtype, "huge", rng)


def attribute(drawer: Drawer, call: Call, rng: random.Random) -> None:
    """Draws an attr anew."""
    definition = op_def.get(call["function"].removeprefix("raw_ops."))
    renamed = RENAMED.get(definition.name, {})
    attrs = [attr for attr in definition.attrs.values() if attr.name not in op_def.implied_attrs(definition)]
    if attrs:
        attr = rng.choice(attrs)
        call["kwargs"][renamed.get(attr.name, attr.name)] = _attr(attr, rng)


def renumber(drawer: Drawer, call: Call, rng: random.Random) -> None:
    """Puts another integer in the place of a Python number."""
    numbers = [place for place in everywhere(call) if type(place.node) is int]
    if numbers:
        rng.choice(numbers).node = rng.choice(HUGE if rng.random() < 0.5 else SMALL)


def _lay_out(call: Call, rng: random.Random) -> None:
    """Lays the elements of some tensors out in another order."""
    for place in arguments(call):
        if kind_of(place.node) == "tensor" and place.node["tensor"][2] and rng.random() < 0.2:
            place.node = {"strided": place.node["tensor"]}


# The changes, and how often each is chosen.
HOSTILE = {
    **{change: weight for change, weight in CHANGES.items() if change not in (alienate, drop)},
    scatter_shapes: 60, enlarge: 20, exceed: 40, attribute: 30, renumber: 15,
}  # fmt: skip
