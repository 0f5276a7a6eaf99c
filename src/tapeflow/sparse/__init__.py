"""The public `tf.sparse` namespace: tensors that hold only the elements which are not zero."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.sparse.concat_and_slice import (
    concat,
    expand_dims,
    eye,
    fill_empty_rows,
    map_values,
    mask,
    reorder,
    reset_shape,
    reshape,
    retain,
    slice,
    split,
    transpose,
)
from tapeflow.sparse.dense import from_dense, sparse_dense_matmul, to_dense
from tapeflow.sparse.elementwise_merge import add, maximum, minimum
from tapeflow.sparse.feature_cross import cross, cross_hashed
from tapeflow.sparse.reduction import (
    bincount,
    reduce_max,
    reduce_sum,
    sampled_addmm,
    segment_mean,
    segment_sqrt_n,
    segment_sum,
    softmax,
    to_indicator,
)
from tapeflow.sparse.tensor import SparseTensor

_publish(globals())
