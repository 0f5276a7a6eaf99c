"""Sizes that no memory holds are refused before anything is made of them."""

import os
import re

import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops import memory

RAW = tf.raw_ops
HUGE = 2**31 - 1
LAST = HUGE - 1  # an index
MOST_MEMORY = memory._most_memory.__wrapped__
IMAGES = [[[[1.0], [2.0]], [[3.0], [4.0]]]]


@pytest.fixture(autouse=True)
def _two_gigabytes(monkeypatch):
    """The memory of a small machine, so that a large one does not take the sizes here."""
    monkeypatch.setattr(memory, "_most_memory", lambda: 2**31)


def int64(*values):
    return tf.constant(values, tf.int64)


def tensor_list(count=3):
    return RAW.TensorListReserve(element_shape=[2], num_elements=count, element_dtype=tf.float32)


def ngrams(**changes):
    arguments = {
        "data": ["a", "b"], "data_splits": int64(0, 2), "separator": " ", "ngram_widths": [3], "left_pad": "a",
        "right_pad": "b", "pad_width": -1, "preserve_short_sequences": True,
    }  # fmt: skip
    return RAW.StringNGrams(**(arguments | changes))


CALLS = {
    "ResizeBilinear": lambda: RAW.ResizeBilinear(images=IMAGES, size=[HUGE, HUGE]),
    "ResizeBilinear row": lambda: RAW.ResizeBilinear(images=IMAGES, size=[1, HUGE]),
    "ResizeBicubic": lambda: RAW.ResizeBicubic(images=IMAGES, size=[HUGE, 1]),
    "ResizeNearestNeighbor": lambda: RAW.ResizeNearestNeighbor(images=IMAGES, size=[HUGE, HUGE]),
    "ResizeArea": lambda: RAW.ResizeArea(images=IMAGES, size=[HUGE, HUGE]),
    "ScaleAndTranslate": lambda: RAW.ScaleAndTranslate(
        images=IMAGES, size=[HUGE, HUGE], scale=[1.0, 1.0], translation=[0.0, 0.0]),
    "ImageProjectiveTransformV2": lambda: RAW.ImageProjectiveTransformV2(
        images=IMAGES, transforms=[[1.0, 0, 0, 0, 1, 0, 0, 0]], output_shape=[HUGE, HUGE], interpolation="NEAREST"),
    "ImageProjectiveTransformV3": lambda: RAW.ImageProjectiveTransformV3(
        images=IMAGES, transforms=[[1.0, 0, 0, 0, 1, 0, 0, 0]], output_shape=[HUGE, HUGE], fill_value=0.0,
        interpolation="BILINEAR"),
    "CropAndResize": lambda: RAW.CropAndResize(
        image=IMAGES, boxes=[[0.0, 0.0, 1.0, 1.0]], box_ind=[0], crop_size=[HUGE, HUGE]),
    "StringNGrams width": lambda: ngrams(ngram_widths=[2**30]),
    "TensorListScatterV2 index": lambda: RAW.TensorListScatterV2(
        tensor=[[1.0, 2.0]], indices=[LAST], element_shape=[2], num_elements=-1),
    "TensorListScatterV2 number": lambda: RAW.TensorListScatterV2(
        tensor=[[1.0, 2.0]], indices=[0], element_shape=[2], num_elements=HUGE),
    "TensorListScatter": lambda: RAW.TensorListScatter(tensor=[[1.0, 2.0]], indices=[LAST], element_shape=[2]),
    "TensorListScatterIntoExistingList": lambda: RAW.TensorListScatterIntoExistingList(
        input_handle=tensor_list(), tensor=[[1.0, 2.0]], indices=[LAST]),
    "TensorListResize": lambda: RAW.TensorListResize(input_handle=tensor_list(), size=HUGE),
    "TensorListSetItem": lambda: RAW.TensorListSetItem(
        input_handle=tensor_list(), index=LAST, item=[1.0, 2.0], resize_if_index_out_of_bounds=True),
    "TensorArrayV3": lambda: RAW.TensorArrayV3(size=HUGE, dtype=tf.float32),
    "DynamicStitch": lambda: tf.dynamic_stitch([[LAST]], [[1.0]]),
    "DynamicStitch strings": lambda: tf.dynamic_stitch([[LAST]], [["a"]]),
    "ParallelDynamicStitch": lambda: RAW.ParallelDynamicStitch(indices=[[LAST]], data=[[1.0]]),
    "SparseToDense": lambda: RAW.SparseToDense(
        sparse_indices=[1], output_shape=[HUGE], sparse_values=1.0, default_value=0.0),
    "Bincount": lambda: RAW.Bincount(arr=[1], size=HUGE, weights=tf.zeros([0])),
    "DenseBincount": lambda: RAW.DenseBincount(input=[[1], [2]], size=HUGE, weights=tf.zeros([0])),
    "RaggedBincount": lambda: RAW.RaggedBincount(splits=int64(0, 1), values=[1], size=HUGE, weights=tf.zeros([0])),
    "SegmentSum": lambda: tf.math.segment_sum([1.0], [LAST]),
    "SegmentMax": lambda: tf.math.segment_max([1.0], [LAST]),
    "UnsortedSegmentSum": lambda: tf.math.unsorted_segment_sum([1.0], [0], HUGE),
    "SparseSegmentMean": lambda: RAW.SparseSegmentMean(data=[[1.0]], indices=[0], segment_ids=[LAST]),
    "RFFT": lambda: RAW.RFFT(input=[1.0, 2.0], fft_length=[HUGE]),
    "IRFFT": lambda: RAW.IRFFT(input=tf.constant([1.0, 2.0], tf.complex64), fft_length=[HUGE]),
    "FFTND": lambda: RAW.FFTND(input=tf.constant([1.0, 2.0], tf.complex64), fft_length=[HUGE], axes=[0]),
    "AudioSpectrogram": lambda: RAW.AudioSpectrogram(input=[[1.0], [2.0]], window_size=HUGE, stride=1),
    "Mfcc": lambda: RAW.Mfcc(
        spectrogram=[[[1.0, 2.0]]], sample_rate=8000, filterbank_channel_count=HUGE, dct_coefficient_count=HUGE),
    "DecodePaddedRaw": lambda: RAW.DecodePaddedRaw(input_bytes=["a"], fixed_length=HUGE, out_type=tf.uint8),
    "AsString width": lambda: RAW.AsString(input=[1.0], width=HUGE),
    "AsString precision": lambda: RAW.AsString(input=[1.0], precision=HUGE),
    "NonMaxSuppressionV4": lambda: RAW.NonMaxSuppressionV4(
        boxes=[[0.0, 0.0, 1.0, 1.0]], scores=[1.0], max_output_size=HUGE, iou_threshold=0.5, score_threshold=0.0,
        pad_to_max_output_size=True),
    "HistogramFixedWidth": lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0], nbins=HUGE),
    "FractionalAvgPoolGrad": lambda: RAW.FractionalAvgPoolGrad(
        orig_input_tensor_shape=int64(1, HUGE, HUGE, 1), out_backprop=[[[[1.0]]]], row_pooling_sequence=int64(0, 1),
        col_pooling_sequence=int64(0, 1)),
    "outputs of DynamicPartition": lambda: tf.dynamic_partition([1, 2], [0, 1], HUGE),
    "outputs of Split": lambda: RAW.Split(axis=0, value=tf.zeros([0]), num_split=HUGE),
    "outputs of RaggedGather": lambda: RAW.RaggedGather(
        params_nested_splits=[int64(0, 1)], params_dense_values=[1.0], indices=[0], OUTPUT_RAGGED_RANK=HUGE),
    "eye": lambda: tf.eye(HUGE),
    "eye of many columns": lambda: tf.eye(2, HUGE, batch_shape=[3]),
    "frame": lambda: tf.signal.frame(tf.zeros([4]), HUGE, 1, pad_end=True),
}  # fmt: skip


def test_frames_of_which_the_signal_has_none():
    assert tf.signal.frame(tf.zeros([4]), HUGE, 1).shape == [0, HUGE]


@pytest.mark.parametrize("name", CALLS)
def test_kernels_check_sizes_before_they_use_them(name):
    with pytest.raises(tf.errors.ResourceExhaustedError, match=re.escape("OOM when allocating")):
        CALLS[name]()


@pytest.mark.parametrize("name", ["ResizeBilinear", "DynamicStitch", "TensorListResize", "SegmentSum"])
def test_in_functions(name):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        tf.function(CALLS[name], autograph=False)()


def test_the_shape_is_written_as_in_tensorflow():
    with pytest.raises(tf.errors.ResourceExhaustedError, match=re.escape("tensor with shape[2,536870912]")):
        memory.check_memory([2, 2**29], 4)


def test_a_share_of_the_memory():
    memory.check_memory([2**29], 4)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=re.escape("OOM when allocating tensor with shape[536")):
        memory.check_memory([2**29 + 1], 4)
    memory.check_memory([2**27], 4, memory.UNFILLED)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        memory.check_memory([2**27 + 1], 4, memory.UNFILLED)
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        memory.check_memory([2**32, 2**32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        memory.check_memory([-1, 2])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA"), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 8 bytes"), True),
        (RuntimeError("Storage size calculation overflowed with sizes=[9]"), True),
        (ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger"), True),
        (ValueError("Maximum allowed dimension exceeded"), True),
        (RuntimeError("something else"), False),
        (ValueError("memory"), False),
    ],
)
def test_errors_that_say_that_memory_is_missing(error, expected):
    assert memory.is_out_of_memory(error) is expected


def test_words_for_missing_memory():
    tried, silent = RuntimeError("Tried to allocate 2.50 GiB (GPU 0)"), MemoryError()
    shape = tf.TensorShape([2, 3])
    for arguments, said in (
        ((silent,), "OOM when allocating memory"),
        ((tried,), "OOM when allocating 2.50 GiB"),
        ((tried, tf.TensorShape([None, 3]), tf.float32), "OOM when allocating 2.50 GiB"),
        ((silent, shape), "OOM when allocating tensor with shape[2,3]"),
        ((silent, shape, tf.float32), "OOM when allocating tensor with shape[2,3] and type float"),
        ((tried, shape), "OOM when allocating tensor with shape[2,3]: tried to allocate 2.50 GiB"),
    ):
        error = memory.out_of_memory(*arguments)
        assert isinstance(error, tf.errors.ResourceExhaustedError) and error.message == said


def test_limits_of_memory(monkeypatch):
    monkeypatch.setattr(memory, "_most_memory", lambda: 2**28)
    fitting = ([2**26], 4, 1.0), ([2**24, 4], 1, 0.25), ([], 2**28, 1.0), ([2**25, 0, 2**20], 8, 1.0)
    for dims, itemsize, share in fitting:
        memory.check_memory(dims, itemsize, share)
    for dims, itemsize, share in (([2**26 + 1], 4, 1.0), ([2**24, 5], 1, 0.25), ([3, 2**26], 2, 1.0)):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating tensor with shape"):
            memory.check_memory(dims, itemsize, share)
    memory.check_memory(iter([2**26]))  # of four bytes each
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"shape\[67108865\]"):
        memory.check_memory(iter([2**26 + 1]))
    memory.check_outputs(2**16)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        memory.check_outputs(2**16 + 1)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        memory.check_memory([-1])


def test_memory_of_a_container(monkeypatch, tmp_path):
    limits = tmp_path / "limit", tmp_path / "max", tmp_path / "missing"
    limits[0].write_text("123456\n")
    limits[1].write_text("max\n")
    monkeypatch.setattr(memory, "_LIMITS", tuple(map(str, limits)))
    assert MOST_MEMORY() == 123456
    monkeypatch.setattr(memory, "_LIMITS", tuple(map(str, limits[1:])))
    assert MOST_MEMORY() == min(2**47, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
