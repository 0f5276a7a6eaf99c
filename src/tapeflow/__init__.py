"""TapeFlow: TensorFlow 2's eager runtime, in Python on ATen kernels. `import tapeflow as tf`."""

from tapeflow import autodiff, errors, linalg, math, nest, operators
from tapeflow.array.creation import constant, convert_to_tensor
from tapeflow.array.joining import concat
from tapeflow.array.shaping import broadcast_to, reshape
from tapeflow.autodiff import GradientTape, UnconnectedGradients
from tapeflow.core.device import DeviceScope as device
from tapeflow.core.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.shape import TensorShape
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable, VariableAggregation, VariableSynchronization
from tapeflow.linalg import eig, eigvals, einsum, matmul, norm, tensordot
from tapeflow.linalg import sqrtm as matrix_square_root
from tapeflow.linalg.norms import clip_by_global_norm, clip_by_norm
from tapeflow.math import add, divide, exp, multiply, negative, reduce_sum, subtract, truediv
from tapeflow.math.casting import cast
