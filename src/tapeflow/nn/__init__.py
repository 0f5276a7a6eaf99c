"""The public `tf.nn` namespace."""

import typing as _typing

from tapeflow.array.blocks import space_to_batch
from tapeflow.core.hooks import hooks as _hooks
from tapeflow.math.normalize import l2_normalize
from tapeflow.math.sigmoid import sigmoid, softplus, softsign, tanh
from tapeflow.math.topk import approx_max_k, approx_min_k, in_top_k, top_k
from tapeflow.nn import batch_norm, experimental  # the first one registers its ops
from tapeflow.nn.activations import crelu, elu, gelu, leaky_relu, relu, relu6, selu, silu, swish
from tapeflow.nn.avg_pooling import avg_pool, avg_pool1d, avg_pool2d, avg_pool3d
from tapeflow.nn.bias import bias_add
from tapeflow.nn.candidate_sampling import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
)
from tapeflow.nn.conv import conv1d, conv2d, conv3d, convolution
from tapeflow.nn.conv_transposed import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d_transpose,
    conv2d_transpose,
    conv3d_transpose,
    conv_transpose,
)
from tapeflow.nn.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tapeflow.nn.ctc import collapse_repeated, ctc_loss, ctc_unique_labels
from tapeflow.nn.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from tapeflow.nn.depth import depth_to_space, space_to_depth
from tapeflow.nn.depthwise import (
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    separable_conv2d,
)
from tapeflow.nn.dilated import pool, with_space_to_batch
from tapeflow.nn.dropouts import dropout
from tapeflow.nn.embedding import embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse
from tapeflow.nn.fractional_pooling import fractional_avg_pool, fractional_max_pool
from tapeflow.nn.isotonic import isotonic_regression
from tapeflow.nn.losses import compute_average_loss, l2_loss, scale_regularization_loss
from tapeflow.nn.max_pooling import max_pool, max_pool1d, max_pool2d, max_pool3d, max_pool_with_argmax
from tapeflow.nn.morphology import dilation2d, erosion2d
from tapeflow.nn.response_normalization import local_response_normalization, lrn
from tapeflow.nn.sampled_losses import nce_loss, sampled_softmax_loss
from tapeflow.nn.softmaxes import log_softmax, softmax
from tapeflow.nn.statistics import (
    batch_norm_with_global_normalization,
    batch_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
    zero_fraction,
)

__all__ = [
    "RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper", "all_candidate_sampler", "approx_max_k",
    "approx_min_k", "atrous_conv2d", "atrous_conv2d_transpose", "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "batch_norm_with_global_normalization", "batch_normalization", "bias_add", "collapse_repeated",
    "compute_accidental_hits", "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose",
    "conv3d", "conv3d_transpose", "conv_transpose", "convolution", "crelu", "ctc_beam_search_decoder",
    "ctc_greedy_decoder", "ctc_loss", "ctc_unique_labels", "depth_to_space", "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input", "dilation2d", "dropout", "elu",
    "embedding_lookup", "embedding_lookup_sparse", "erosion2d", "experimental", "fixed_unigram_candidate_sampler",
    "fractional_avg_pool", "fractional_max_pool", "gelu", "in_top_k", "isotonic_regression", "l2_loss", "l2_normalize",
    "leaky_relu", "learned_unigram_candidate_sampler", "local_response_normalization", "log_poisson_loss",
    "log_softmax", "lrn", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_with_argmax", "moments",
    "nce_loss", "normalize_moments", "pool", "relu", "relu6", "safe_embedding_lookup_sparse", "sampled_softmax_loss",
    "scale_regularization_loss", "selu", "separable_conv2d", "sigmoid", "sigmoid_cross_entropy_with_logits", "silu",
    "softmax", "softmax_cross_entropy_with_logits", "softplus", "softsign", "space_to_batch", "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits", "sufficient_statistics", "swish", "tanh", "top_k",
    "weighted_cross_entropy_with_logits", "weighted_moments", "with_space_to_batch", "zero_fraction",
]  # fmt: skip
__dir__ = __all__.copy

RNNCellDeviceWrapper: _typing.Any  # the wrappers of cells load on first use
RNNCellDropoutWrapper: _typing.Any
RNNCellResidualWrapper: _typing.Any


def _load_wrapper(name: str) -> _typing.Any:
    """Loads a wrapper of recurrent cells."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_hooks.compat_module("rnn_cells"), name)


if not _typing.TYPE_CHECKING:  # a name that is not there is an error to a type checker
    __getattr__ = _load_wrapper
