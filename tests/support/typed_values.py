"""Results in a form that a table of rows can hold."""

import tapeflow as tf


def typed(value):
    """A structure of tensors, each as its dtype, its shape if that says more than its values, and its values."""
    if hasattr(value, "_fields"):
        value = tuple(value)
    return tf.nest.map_structure(_typed_tensor, value, expand_composites=False)


def _typed_tensor(value):
    if isinstance(value, tf.RaggedTensor):
        return "ragged", *map(_typed_tensor, (value.flat_values, *value.nested_row_splits))
    if isinstance(value, tf.SparseTensor):
        return "sparse", *map(_typed_tensor, (value.indices, value.values, value.dense_shape))
    if not isinstance(value, tf.Tensor):
        return value
    array = value.numpy()
    values = array if isinstance(array, bytes) else array.tolist()
    shape = [value.shape.as_list()] if 0 in value.shape else []
    return value.dtype.name, *shape, values
