"""ATen's kernels for several tensors or indices: which of them check sizes and indices, and who checks for the others.

`_foreach_copy_`, `as_strided`, `gather`, `scatter*`, `index*`, `masked_scatter`, `take`, `embedding_bag`, `col2im`,
`nll_loss`, `lu_unpack` of its own factors, `fft`, `split_with_sizes`, `repeat_interleave`, `bincount`, `searchsorted`,
`topk`, products, `torch.linalg`, sparse products, the backward functions of activations, and the convolutions of ATen
and oneDNN, packed or not, check what they are given: a probe of each with sizes and indices that don't fit, between
protected pages, gave errors. TapeFlow calls no `_cdist`, no CTC and no recurrent kernel of ATen.

The kernels below don't check. The ops that call them do. Attention takes keys and values of different lengths: its step
in functions checks them (`tests/graph/codegen/passes/test_recognizing.py`).
"""

import pytest

import tapeflow as tf

RAW = tf.raw_ops
IMAGES = tf.ones([2, 4, 4, 3000])
FEW, MANY = tf.ones([1]), tf.ones([3000])


def batch_norm(**changes):
    arguments = {"x": IMAGES, "scale": MANY, "offset": MANY, "mean": tf.zeros([0]), "variance": tf.zeros([0])}
    return RAW.FusedBatchNormV3(**(arguments | changes))


def batch_norm_gradient(**changes):
    arguments = {
        "y_backprop": IMAGES, "x": IMAGES, "scale": MANY, "reserve_space_1": MANY, "reserve_space_2": MANY,
        "reserve_space_3": tf.zeros([0]),
    }  # fmt: skip
    return RAW.FusedBatchNormGradV3(**(arguments | changes))


WINDOWS = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
WINDOWS_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
PLACES = tf.constant([[[[0]], [[100_000_000]]], [[[1]], [[2]]]], tf.int64)

# For each kernel that does not check: the raw ops that call it, with sizes or indices that it would take.
UNCHECKED = {
    "native_batch_norm": {
        "scale": lambda: batch_norm(scale=FEW),
        "offset": lambda: batch_norm(offset=FEW),
        "mean": lambda: batch_norm(mean=FEW, variance=MANY, is_training=False),
        "variance": lambda: batch_norm(mean=MANY, variance=FEW, is_training=False),
    },
    "native_batch_norm_backward": {
        "y_backprop": lambda: batch_norm_gradient(y_backprop=tf.ones([2, 1, 1, 3000])),
        "scale": lambda: batch_norm_gradient(scale=FEW),
        "reserve_space_1": lambda: batch_norm_gradient(reserve_space_1=FEW),
        "reserve_space_2": lambda: batch_norm_gradient(reserve_space_2=FEW),
        "mean": lambda: batch_norm_gradient(reserve_space_1=FEW, is_training=False),
    },
    "avg_pool2d_backward": {
        "batch": lambda: RAW.AvgPoolGrad(orig_input_shape=[900, 4, 4, 1], grad=tf.ones([1, 2, 2, 1]), **WINDOWS),
        "size": lambda: RAW.AvgPoolGrad(orig_input_shape=[1, 400, 400, 1], grad=tf.ones([1, 2, 2, 1]), **WINDOWS),
    },
    "avg_pool3d_backward": {
        "batch": lambda: RAW.AvgPool3DGrad(
            orig_input_shape=[900, 4, 4, 4, 1], grad=tf.ones([1, 2, 2, 2, 1]), **WINDOWS_3D),
        "channels": lambda: RAW.AvgPool3DGrad(
            orig_input_shape=[1, 4, 4, 4, 900], grad=tf.ones([1, 2, 2, 2, 1]), **WINDOWS_3D),
    },
    "max_pool2d_with_indices_backward": {
        "size": lambda: RAW.MaxPoolGrad(
            orig_input=tf.ones([2, 400, 400, 1]), orig_output=tf.ones([2, 2, 2, 1]), grad=tf.ones([2, 2, 2, 1]),
            **WINDOWS),
        "batch": lambda: RAW.MaxPoolGrad(
            orig_input=tf.ones([900, 4, 4, 1]), orig_output=tf.ones([1, 2, 2, 1]), grad=tf.ones([1, 2, 2, 1]),
            **WINDOWS),
        "indices": lambda: RAW.MaxPoolGradWithArgmax(
            input=tf.ones([2, 4, 2, 1]), grad=tf.ones([2, 2, 1, 1]), argmax=PLACES, **WINDOWS),
        "indices of the second derivative": lambda: RAW.MaxPoolGradGradWithArgmax(
            input=tf.ones([2, 4, 2, 1]), grad=tf.ones([2, 4, 2, 1]), argmax=PLACES, **WINDOWS),
    },
}  # fmt: skip


@pytest.mark.parametrize(("kernel", "argument"), [(k, a) for k, calls in UNCHECKED.items() for a in calls])
def test_ops_check_for_kernels_that_do_not(kernel, argument):
    call = UNCHECKED[kernel][argument]
    for function in (call, tf.function(call), tf.function(call, jit_compile=True)):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            function()
