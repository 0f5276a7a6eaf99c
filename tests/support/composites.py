"""Ragged and sparse values: their specs with no dimension known, and whether two are the same."""

import numpy as np

import tapeflow as tf


def as_value(value):
    return value if isinstance(value, (tf.Tensor, tf.RaggedTensor, tf.SparseTensor)) else tf.constant(value)


def with_unknown_dims(value):
    spec = tf.type_spec_from_value(value)
    dims = [None] * spec.shape.rank
    if isinstance(value, tf.RaggedTensor):
        return tf.RaggedTensorSpec(dims, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
    return type(spec)(dims, spec.dtype)


def assert_same(got, want):
    tf.nest.assert_same_structure(got, want, expand_composites=True)
    for g, w in zip(tf.nest.flatten(got), tf.nest.flatten(want), strict=True):
        assert type(g) is type(w)
        assert w.shape.is_compatible_with(g.shape)
    for g, w in zip(tf.nest.flatten(got, True), tf.nest.flatten(want, True), strict=True):
        assert g.dtype is w.dtype
        np.testing.assert_array_equal(g.numpy(), w.numpy())
