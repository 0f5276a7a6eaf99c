"""The public `tf.nn` namespace."""

from tapeflow.nn.activations import crelu, elu, gelu, leaky_relu, relu, relu6, selu, silu, swish
from tapeflow.nn.avg_pooling import avg_pool, avg_pool1d, avg_pool2d, avg_pool3d
from tapeflow.nn.bias import bias_add
from tapeflow.nn.convolution import conv1d, conv2d, conv3d, convolution
from tapeflow.nn.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tapeflow.nn.max_pooling import max_pool, max_pool1d, max_pool2d, max_pool3d, max_pool_with_argmax
from tapeflow.nn.softmax import log_softmax, softmax
from tapeflow.nn.conv_transpose import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d_transpose,
    conv2d_transpose,
    conv3d_transpose,
    conv_transpose,
)
from tapeflow.nn.depthwise import (
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    separable_conv2d,
)
