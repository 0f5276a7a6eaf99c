"""The public `tf.nn` namespace."""

import typing as _typing

from tapeflow.array.blocks import space_to_batch
from tapeflow.core.hooks import hooks as _hooks
from tapeflow.core.public_names import publish as _publish
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

_CELL_WRAPPERS = ("RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper")


def __getattr__(name: str) -> _typing.Any:
    if name not in _CELL_WRAPPERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_hooks.compat_module("rnn_cells"), name)


_publish(globals(), "experimental", *_CELL_WRAPPERS)
