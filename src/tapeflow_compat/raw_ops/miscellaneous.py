"""Forms and kernels of single ops that belong to no family: files, calls, audio, values that hold others."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import tapeflow as tf
import tapeflow_compat.raw_ops as raw
from tapeflow.control.optional import checked_components, components_in
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.decompositions import form
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import no_results, scalar, with_rank
from tapeflow.core.session_resources import held_here
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.graph.ir.variables import without_value
from tapeflow.lookup.storage import DenseStorage, MutableStorage, TableStorage
from tapeflow.lookup.table_ops import Table
from tapeflow.train.bundle import Bundle, write_bundle
from tapeflow.train.states import checkpoint_exists

_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"  # the shared name of variables that have none

# ---- tables ----------------------------------------------------------------------------------------------------------


def _dims(shape: ShapeLike) -> tuple[int, ...]:
    return () if shape is None else tuple(tf.TensorShape(shape).as_list())


@kernel_of("AnonymousHashTable", shape=scalar)
def _table(key_dtype: DType, value_dtype: DType) -> Any:
    return box_object(Table(TableStorage(key_dtype, value_dtype)))


@kernel_of("AnonymousMutableHashTable", "AnonymousMutableHashTableOfTensors", shape=scalar)
def _anonymous_mutable(key_dtype: DType, value_dtype: DType, value_shape: Any = None) -> Any:
    return box_object(Table(MutableStorage(key_dtype, value_dtype, (), _dims(value_shape))))


def _named_table(container: str, shared_name: str, storage: TableStorage) -> Any:
    if not shared_name:
        return box_object(Table(storage))
    return box_object(held_here(("Table", container, shared_name), lambda: Table(storage)))


@kernel_of("MutableHashTableV2", "MutableHashTableOfTensorsV2", shape=scalar)
def _mutable(
    container: str, shared_name: str, sharing: bool, key_dtype: DType, value_dtype: DType, value_shape: Any = None
) -> Any:
    return _named_table(container, shared_name, MutableStorage(key_dtype, value_dtype, (), _dims(value_shape)))


def _dense(empty_key: Any, deleted_key: Any, value_dtype: DType, value_shape: Any, buckets: int) -> TableStorage:
    key_dtype = string if isinstance(empty_key, StringArray) else FROM_TORCH[empty_key.dtype]
    empty, deleted = EagerTensor(empty_key, key_dtype), EagerTensor(deleted_key, key_dtype)
    return DenseStorage(value_dtype, _dims(value_shape), empty, deleted, buckets)


@kernel_of("MutableDenseHashTableV2", shape=scalar)
def _mutable_dense(
    empty_key: Any, deleted_key: Any, container: str, shared_name: str, sharing: bool, value_dtype: DType,
    value_shape: Any, buckets: int, load: float,
) -> Any:  # fmt: skip
    return _named_table(container, shared_name, _dense(empty_key, deleted_key, value_dtype, value_shape, buckets))


@kernel_of("AnonymousMutableDenseHashTable", shape=scalar)
def _anonymous_dense(
    empty_key: Any, deleted_key: Any, value_dtype: DType, value_shape: Any, buckets: int, load: float
) -> Any:
    return box_object(Table(_dense(empty_key, deleted_key, value_dtype, value_shape, buckets)))


# ---- variables -------------------------------------------------------------------------------------------------------


@kernel_of("VarHandleOp", shape=scalar)
def _var_handle(
    container: str, shared_name: str, debug_name: str, dtype: DType, shape: ShapeLike, allowed_devices: Any
) -> Any:
    def create() -> Any:
        return without_value(dtype, shape, shared_name or "VarHandleOp")

    if shared_name in ("", _ANONYMOUS):
        return box_object(create())
    return box_object(held_here(("VarHandleOp", container, shared_name), create))


@form("ResourceGatherNd")
def _gather_nd(resource: Tensor, indices: Tensor, dtype: DType) -> Any:
    return tf.gather_nd(raw.ReadVariableOp(resource=resource, dtype=dtype), indices)


@form("ResourceStridedSliceAssign")
def _slice_assign(
    ref: Tensor, begin: Tensor, end: Tensor, strides: Tensor, value: Tensor, begin_mask: int, end_mask: int,
    ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    changed = raw.TensorStridedSliceUpdate(
        input=raw.ReadVariableOp(resource=ref, dtype=value.dtype), begin=begin, end=end, strides=strides, value=value,
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
    )  # fmt: skip
    return raw.AssignVariableOp(resource=ref, value=changed)


@kernel_of("DestroyResourceOp", "ConsumeMutexLock", "SyncDevice", shape=no_results)
def _destroy(*_: Any) -> None:
    pass


# ---- files -----------------------------------------------------------------------------------------------------------


@form("SerializeTensor")
def _serialize(tensor: Tensor) -> Any:
    return tf.io.serialize_tensor(tensor)


@form("ParseTensor")
def _parse(serialized: Tensor, out_type: DType) -> Any:
    return tf.io.parse_tensor(serialized, out_type)


@form("WriteFile")
def _write_file(filename: Tensor, contents: Tensor) -> Any:
    return tf.io.write_file(filename, contents)


@form("ShardedFilespec")
def _filespec(basename: Tensor, num_shards: Tensor) -> Any:
    count = tf.strings.as_string(num_shards, width=5, fill="0")
    return tf.strings.join([basename, "-?????-of-", count])


def _text(value: Any) -> str:
    return value.item().decode() if isinstance(value, StringArray) else value.decode()


@kernel_of("MergeV2Checkpoints", shape=no_results)
def _merge_checkpoints(prefixes: Any, destination: Any, delete_old_dirs: bool, allow_missing: bool) -> None:
    names = [_text(p) for p in prefixes.reshape(-1).tolist()]
    missing = [name for name in names if not checkpoint_exists(name)]
    if missing and not allow_missing:
        raise invalid(f"allow_missing_files is false, and there is no checkpoint {missing[0]}.")
    bundles = [Bundle(name) for name in names if name not in missing]
    write_bundle(_text(destination), [(key, b.read(key)) for b in bundles for key in b.entries])


# ---- calls -----------------------------------------------------------------------------------------------------------


@form("RemoteCall")
def _remote_call(args: list[Tensor], f: Any) -> Any:
    return f.body.call(list(args))


@form("BatchFunction")
def _batch_function(in_tensors: list[Tensor], captured_tensors: list[Tensor], f: Any) -> Any:
    return f.body.call([*in_tensors, *captured_tensors])


@form("SymbolicGradient")
def _symbolic_gradient(input: list[Tensor], f: Any) -> Any:
    count = len(f.body.inputs)
    primals, cotangents = list(input[:count]), list(input[count:])
    with tf.GradientTape() as tape:
        tape.watch(primals)
        outputs = f.body.call(primals)
    return tape.gradient(outputs, primals, cotangents, tf.UnconnectedGradients.ZERO)


@form("MapDefun")
def _map_defun(arguments: list[Tensor], captured_inputs: list[Tensor], f: Any, output_types: Sequence[DType]) -> Any:
    specs = [tf.TensorSpec(None, t) for t in output_types]
    return tf.map_fn(
        lambda row: list(f.body.call([*row, *captured_inputs])), list(arguments), fn_output_signature=specs
    )


@form("For")
def _for(start: Tensor, limit: Tensor, delta: Any, input: list[Tensor], body: Any) -> Any:
    def step(i: Any, *values: Any) -> Any:
        return i + delta, *body.body.call([i, *values])

    return tf.while_loop(lambda i, *_: i < limit, step, [start, *input])[1:]


# ---- math ------------------------------------------------------------------------------------------------------------


@form("LinSpace")
def _lin_space(start: Tensor, stop: Tensor, num: Tensor) -> Any:
    return tf.linspace(start, stop, num)


@form("NearestNeighbors", shape=lambda *_: [None, None])
def _nearest(points: Tensor, centers: Tensor, k: Tensor) -> Any:
    differences = points[:, None] - centers[None]
    distances = tf.reduce_sum(differences * differences, -1)
    best = tf.math.top_k(-distances, tf.minimum(tf.cast(k, tf.int32), tf.shape(centers)[0]))
    return tf.cast(best.indices, tf.int64), -best.values


@form("SparseSplit")
def _sparse_split(split_dim: Any, indices: Any, values: Any, shape: Any, num_split: int) -> Any:
    parts = tf.sparse.split(tf.SparseTensor(indices, values, shape), num_split, split_dim)
    return [p.indices for p in parts], [p.values for p in parts], [p.dense_shape for p in parts]


@form("DebugNanCount")
def _nan_count(input: Tensor) -> Any:
    nans = tf.math.is_nan(input) if input.dtype.is_floating else tf.zeros([1], tf.bool)
    return tf.reshape(tf.math.count_nonzero(nans), [1])


@form("FakeParam")
def _fake_param(dtype: DType, shape: ShapeLike) -> Any:
    return tf.zeros([0 if d is None else d for d in tf.TensorShape(shape)], dtype)


@kernel_of("DeviceIndex", shape=scalar)
def _device_index(device_names: Sequence[str]) -> Any:
    names = list(device_names)
    return torch.tensor(names.index("CPU") if "CPU" in names else len(names), dtype=torch.int32)


# ---- convolutions ----------------------------------------------------------------------------------------------------


@form("FusedPadConv2D")
def _pad_conv(input: Tensor, paddings: Tensor, filter: Tensor, mode: str, strides: Sequence[int], padding: str) -> Any:
    return tf.nn.conv2d(tf.pad(input, paddings, mode), filter, list(strides), padding)


@form("FusedResizeAndPadConv2D")
def _resize_conv(
    input: Tensor,
    size: Tensor,
    paddings: Tensor,
    filter: Tensor,
    resize_align_corners: bool,
    mode: str,
    strides: Sequence[int],
    padding: str,
) -> Any:
    resized = raw.ResizeBilinear(images=input, size=size, align_corners=bool(resize_align_corners))
    return tf.nn.conv2d(tf.pad(tf.cast(resized, input.dtype), paddings, mode), filter, list(strides), padding)


# ---- audio -----------------------------------------------------------------------------------------------------------


def _transformed(window_size: int) -> int:
    """Returns the length of the transform of a window: the next power of 2."""
    if window_size < 2:
        raise invalid(f"window size has to be > 1, and is {window_size}")
    return int(2 ** math.ceil(math.log2(window_size)))


def _spectrogram_rule(input: TensorLike, window_size: int, stride: int, magnitude_squared: bool) -> TensorShape:
    if stride < 1:
        raise invalid(f"stride has to be > 0, and is {stride}")
    samples, channels = with_rank(input, 2)
    frames = None if samples is None else max(0, 1 + (samples - window_size) // stride)
    return TensorShape([channels, frames, _transformed(window_size) // 2 + 1])


@form("AudioSpectrogram", shape=_spectrogram_rule)
def _spectrogram(input: Tensor, window_size: int, stride: int, magnitude_squared: bool) -> Any:
    size = _transformed(window_size)
    check_memory([size], 64, UNFILLED)
    samples = input.shape[0]
    if samples is not None and samples < window_size:  # there is no frame to transform
        return tf.zeros([tf.shape(input)[1], 0, size // 2 + 1])
    spectra = tf.signal.stft(tf.transpose(input), window_size, stride, size, tf.signal.hann_window)
    power = tf.math.real(spectra * tf.math.conj(spectra))
    return power if magnitude_squared else tf.sqrt(power)


def _mel(frequency: float) -> float:
    return 1127.0 * math.log1p(frequency / 700.0)


def _mel_weights(bins: int, rate: float, low: float, high: float, channels: int) -> np.ndarray:
    """Returns the weights of a spectrum's bins in triangular channels, equally spaced in mel."""
    centers = _mel(low) + (_mel(high) - _mel(low)) / (channels + 1) * np.arange(1, channels + 2)
    width = 0.5 * rate / (bins - 1)
    weights = np.zeros((bins, channels))
    for i in range(int(1.5 + low / width), min(int(high / width), bins - 1) + 1):
        place = _mel(i * width)
        channel = int(np.searchsorted(centers[:channels], place)) - 1
        lower = centers[channel] if channel >= 0 else _mel(low)
        weight = (centers[channel + 1] - place) / (centers[channel + 1] - lower)
        if channel >= 0:
            weights[i, channel] += weight
        if channel + 1 < channels:
            weights[i, channel + 1] += 1 - weight
    return weights


def _mfcc_rule(spectrogram: Any, sample_rate: Any, upper: float, lower: float, bands: int, count: int) -> TensorShape:
    with_rank(sample_rate, 0)
    return with_rank(spectrogram, 3)[:2] + [count]


@form("Mfcc", shape=_mfcc_rule)
def _mfcc(
    spectrogram: Tensor, sample_rate: Tensor, upper_frequency_limit: float, lower_frequency_limit: float,
    filterbank_channel_count: int, dct_coefficient_count: int,
) -> Any:  # fmt: skip
    rate, channels = float(tf.get_static_value(sample_rate)), filterbank_channel_count
    if channels < 1 or dct_coefficient_count < 1:
        raise invalid(f"There must be channels and coefficients, not {channels} and {dct_coefficient_count}")
    check_memory([spectrogram.shape[-1], channels], 16, UNFILLED)
    check_memory([channels, dct_coefficient_count], 32, UNFILLED)
    weights = _mel_weights(spectrogram.shape[-1], rate, lower_frequency_limit, upper_frequency_limit, channels)
    energies = tf.math.log(tf.maximum(tf.matmul(tf.sqrt(spectrogram), tf.constant(weights, tf.float32)), 1e-12))
    numbers = np.outer(np.arange(channels) + 0.5, np.arange(dct_coefficient_count))
    cosines = math.sqrt(2.0 / channels) * np.cos(math.pi / channels * numbers)
    return tf.matmul(energies, tf.constant(cosines, tf.float32))


# ---- values that hold others -----------------------------------------------------------------------------------------


@kernel_of("CompositeTensorVariantFromComponents", "CompressElement", shape=scalar)
def _components(components: Sequence[Any], metadata: str = "") -> Any:
    return box_object(tuple(components))


@kernel_of("CompositeTensorVariantToComponents")
def _held_components(encoded: Any, metadata: str, types: Sequence[DType]) -> Any:
    components = components_in(encoded, "a composite tensor")
    return checked_components(components, types, [None] * len(types), "composite tensor")


@kernel_of("UncompressElement")
def _held_element(compressed: Any, types: Sequence[DType], shapes: Sequence[Any]) -> Any:
    return checked_components(components_in(compressed, "an element"), types, shapes, "element")


class _Lock:
    """A mutex that is locked until the variant that holds this is freed."""

    def __init__(self, mutex: threading.Lock) -> None:
        self._mutex = mutex
        mutex.acquire()

    def __del__(self) -> None:
        self._mutex.release()


@kernel_of("MutexV2", shape=scalar)
def _mutex(container: str, shared_name: str) -> Any:
    if not shared_name:
        return box_object(new_lock())
    return box_object(held_here(("Mutex", container, shared_name), new_lock))


@kernel_of("MutexLock", shape=scalar)
def _lock(mutex: Any) -> Any:
    return box_object(_Lock(mutex[()]))
