# Written by `scripts/record.py v1_stub`.
from typing import Any

from tapeflow_compat.compat.v1 import *

def arg_max(input: Any, dimension: Any, output_type: Any = ..., name: Any = ...) -> Any: ...
def arg_min(input: Any, dimension: Any, output_type: Any = ..., name: Any = ...) -> Any: ...
def argmax(input: Any, axis: Any = ..., name: Any = ..., dimension: Any = ..., output_type: Any = ...) -> Any: ...
def argmin(input: Any, axis: Any = ..., name: Any = ..., dimension: Any = ..., output_type: Any = ...) -> Any: ...
def assert_rank(
    x: Any, rank: Any, data: Any = ..., summarize: Any = ..., message: Any = ..., name: Any = ...
) -> Any: ...
def assert_rank_at_least(
    x: Any, rank: Any, data: Any = ..., summarize: Any = ..., message: Any = ..., name: Any = ...
) -> Any: ...
def assert_rank_in(
    x: Any, ranks: Any, data: Any = ..., summarize: Any = ..., message: Any = ..., name: Any = ...
) -> Any: ...
def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: Any = ...) -> Any: ...
def bincount(arr: Any, weights: Any = ..., minlength: Any = ..., maxlength: Any = ..., dtype: Any = ...) -> Any: ...
def boolean_mask(tensor: Any, mask: Any, name: Any = ..., axis: Any = ...) -> Any: ...
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = ..., dtype: Any = ..., name: Any = ..., weights: Any = ...
) -> Any: ...
def convert_to_tensor(
    value: Any, dtype: Any = ..., name: Any = ..., preferred_dtype: Any = ..., dtype_hint: Any = ...
) -> Any: ...
def count_nonzero(
    input_tensor: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    dtype: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
    input: Any = ...,
) -> Any: ...
def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: Any = ...,
    use_quote_delim: Any = ...,
    name: Any = ...,
    na_value: Any = ...,
    select_cols: Any = ...,
) -> Any: ...
def depth_to_space(input: Any, block_size: Any, name: Any = ..., data_format: Any = ...) -> Any: ...
def device(device_name_or_function: Any) -> Any: ...
def extract_image_patches(
    images: Any,
    ksizes: Any = ...,
    strides: Any = ...,
    rates: Any = ...,
    padding: Any = ...,
    name: Any = ...,
    sizes: Any = ...,
) -> Any: ...
def floor_div(x: Any, y: Any, name: Any = ...) -> Any: ...
def foldl(
    fn: Any,
    elems: Any,
    initializer: Any = ...,
    parallel_iterations: Any = ...,
    back_prop: Any = ...,
    swap_memory: Any = ...,
    name: Any = ...,
) -> Any: ...
def foldr(
    fn: Any,
    elems: Any,
    initializer: Any = ...,
    parallel_iterations: Any = ...,
    back_prop: Any = ...,
    swap_memory: Any = ...,
    name: Any = ...,
) -> Any: ...
def gather(
    params: Any, indices: Any, validate_indices: Any = ..., name: Any = ..., axis: Any = ..., batch_dims: Any = ...
) -> Any: ...
def gather_nd(
    params: Any, indices: Any, name: Any = ..., batch_dims: Any = ..., bad_indices_policy: Any = ...
) -> Any: ...
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = ...,
    name: Any = ...,
    colocate_gradients_with_ops: Any = ...,
    gate_gradients: Any = ...,
    aggregation_method: Any = ...,
    stop_gradients: Any = ...,
    unconnected_gradients: Any = ...,
) -> Any: ...
def hessians(
    ys: Any,
    xs: Any,
    name: Any = ...,
    colocate_gradients_with_ops: Any = ...,
    gate_gradients: Any = ...,
    aggregation_method: Any = ...,
) -> Any: ...
def map_fn(
    fn: Any,
    elems: Any,
    dtype: Any = ...,
    parallel_iterations: Any = ...,
    back_prop: Any = ...,
    swap_memory: Any = ...,
    infer_shape: Any = ...,
    name: Any = ...,
    fn_output_signature: Any = ...,
) -> Any: ...
def multinomial(logits: Any, num_samples: Any, seed: Any = ..., name: Any = ..., output_dtype: Any = ...) -> Any: ...
def norm(
    tensor: Any, ord: Any = ..., axis: Any = ..., keepdims: Any = ..., name: Any = ..., keep_dims: Any = ...
) -> Any: ...
def ones_like(tensor: Any, dtype: Any = ..., name: Any = ..., optimize: Any = ...) -> Any: ...
def pad(tensor: Any, paddings: Any, mode: Any = ..., name: Any = ..., constant_values: Any = ...) -> Any: ...
def parse_example(serialized: Any, features: Any, name: Any = ..., example_names: Any = ...) -> Any: ...
def parse_single_example(serialized: Any, features: Any, name: Any = ..., example_names: Any = ...) -> Any: ...
def py_func(func: Any, inp: Any, Tout: Any, stateful: Any = ..., name: Any = ...) -> Any: ...
def quantize_v2(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: Any = ...,
    name: Any = ...,
    round_mode: Any = ...,
    narrow_range: Any = ...,
    axis: Any = ...,
    ensure_minimum_range: Any = ...,
) -> Any: ...
def random_poisson(lam: Any, shape: Any, dtype: Any = ..., seed: Any = ..., name: Any = ...) -> Any: ...
def reduce_all(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_any(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_join(
    inputs: Any,
    axis: Any = ...,
    keep_dims: Any = ...,
    separator: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keepdims: Any = ...,
) -> Any: ...
def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_max(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_mean(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_min(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_prod(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def reduce_sum(
    input_tensor: Any,
    axis: Any = ...,
    keepdims: Any = ...,
    name: Any = ...,
    reduction_indices: Any = ...,
    keep_dims: Any = ...,
) -> Any: ...
def scalar_mul(scalar: Any, x: Any, name: Any = ...) -> Any: ...
def scan(
    fn: Any,
    elems: Any,
    initializer: Any = ...,
    parallel_iterations: Any = ...,
    back_prop: Any = ...,
    swap_memory: Any = ...,
    infer_shape: Any = ...,
    reverse: Any = ...,
    name: Any = ...,
) -> Any: ...
def serialize_many_sparse(sp_input: Any, name: Any = ..., out_type: Any = ...) -> Any: ...
def serialize_sparse(sp_input: Any, name: Any = ..., out_type: Any = ...) -> Any: ...
def shape(input: Any, name: Any = ..., out_type: Any = ...) -> Any: ...
def size(input: Any, name: Any = ..., out_type: Any = ...) -> Any: ...
def space_to_depth(input: Any, block_size: Any, name: Any = ..., data_format: Any = ...) -> Any: ...
def sparse_add(a: Any, b: Any, threshold: Any = ..., thresh: Any = ...) -> Any: ...
def squeeze(input: Any, axis: Any = ..., name: Any = ..., squeeze_dims: Any = ...) -> Any: ...
def string_to_number(string_tensor: Any = ..., out_type: Any = ..., name: Any = ..., input: Any = ...) -> Any: ...
def substr(input: Any, pos: Any, len: Any, name: Any = ..., unit: Any = ...) -> Any: ...
def transpose(a: Any, perm: Any = ..., name: Any = ..., conjugate: Any = ...) -> Any: ...
def tuple(tensors: Any, name: Any = ..., control_inputs: Any = ...) -> Any: ...
def zeros_like(tensor: Any, dtype: Any = ..., name: Any = ..., optimize: Any = ...) -> Any: ...
def __getattr__(name: str) -> Any: ...
