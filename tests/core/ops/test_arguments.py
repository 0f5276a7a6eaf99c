"""Arguments of ops: which calls take them, with what dtypes, and which errors the others raise. TensorFlow's outcomes.

Each row has a call, and its outcome eagerly and in a graph: the dtype and the value or the shape of each result, or the
beginning of the error. None stands for an outcome that differs from TensorFlow's.
"""

import numpy as np
import pytest

import tapeflow as tf

ROWS = [
    ("raw.Sum(input=x, axis=0)", [("float32", [4.0, 6.0])], [("float32", "(2,)")]),
    ("raw.Sum(input=x, axis=-1, keep_dims=True)", [("float32", [[3.0], [7.0]])], [("float32", "(2, 1)")]),
    (
        "raw.Sum(input=x, axis=f)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'reduction_indices' has DataType float32 not i",
    ),
    (
        "raw.Sum(input=[[1.0]], axis=f)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'reduction_indices' has DataType float32 not i",
    ),
    ("raw.Sum(input=x, axis=1.5)", "TypeError: Cannot convert 1.5 to EagerTensor of dtype int32", None),
    (
        "raw.Sum(input=x, axis=[0.5])",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        None,
    ),
    (
        'raw.Sum(input=x, axis="a")',
        "InvalidArgumentError: Value for attr 'Tidx' of string is not in the list of allowed values: in",
        None,
    ),
    ("raw.Sum(input=x, axis=True)", [("float32", [3.0, 7.0])], [("float32", "(2,)")]),
    ("raw.Sum(input=x, axis=np.float32(1.0))", [("float32", [3.0, 7.0])], [("float32", "(2,)")]),
    ("raw.Sum(input=x, axis=np.array([0, 1]))", [("float32", 10.0)], [("float32", "()")]),
    ("raw.Sum(input=x, axis=tf.constant([0, 1], tf.int64))", [("float32", 10.0)], [("float32", "()")]),
    (
        "raw.Sum(input=x, axis=tf.constant([0], tf.int16))",
        "InvalidArgumentError: Value for attr 'Tidx' of int16 is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'reduction_indices' has DataType int16 not in ",
    ),
    ('raw.Sum(input=x, axis=[0, "a"])', "ValueError: Can't convert Python sequence with mixed types to Tensor.", None),
    ("raw.Sum(input=x, axis=[0, None])", "ValueError: Can't convert Python sequence with mixed types to Tensor.", None),
    ("raw.Sum(input=x, axis=[True])", [("float32", [3.0, 7.0])], [("float32", "(2,)")]),
    (
        'raw.Sum(input="a", axis=0)',
        "InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values: float",
        None,
    ),
    ("raw.Sum(input=[1, 2], axis=0)", [("int32", 3)], [("int32", "()")]),
    (
        "raw.Sum(input=x, axis=0, keep_dims=1)",
        "TypeError: Expected bool for argument 'keep_dims' not 1.",
        "TypeError: Expected bool for argument 'keep_dims' not 1.",
    ),
    ("raw.Sum(input=x, axis=0, keep_dims=None)", [("float32", [4.0, 6.0])], [("float32", "(2,)")]),
    (
        'raw.Sum(input=x, axis=0, keep_dims="a")',
        "TypeError: Expected bool for argument 'keep_dims' not 'a'.",
        "TypeError: Expected bool for argument 'keep_dims' not 'a'.",
    ),
    ("raw.Reshape(tensor=x, shape=[4])", [("float32", [1.0, 2.0, 3.0, 4.0])], [("float32", "(4,)")]),
    ("raw.Reshape(tensor=x, shape=(2, -1))", [("float32", [[1.0, 2.0], [3.0, 4.0]])], [("float32", "(2, 2)")]),
    ("raw.Reshape(tensor=x, shape=np.array([4]))", [("float32", [1.0, 2.0, 3.0, 4.0])], [("float32", "(4,)")]),
    (
        "raw.Reshape(tensor=x, shape=tf.constant([4.0]))",
        "InvalidArgumentError: Value for attr 'Tshape' of float is not in the list of allowed values: i",
        "TypeError: Value passed to parameter 'shape' has DataType float32 not in list of al",
    ),
    (
        "raw.Reshape(tensor=x, shape=[4.0])",
        "InvalidArgumentError: Value for attr 'Tshape' of float is not in the list of allowed values: i",
        None,
    ),
    ("raw.Reshape(tensor=x, shape=4.0)", "TypeError: Cannot convert 4.0 to EagerTensor of dtype int32", None),
    (
        "raw.Reshape(tensor=x, shape=None)",
        "ValueError: Attempt to convert a value (None) with an unsupported type (<class 'None",
        None,
    ),
    (
        "raw.Reshape(tensor=x, shape=[2**63])",
        "ValueError: Can't convert Python sequence with out-of-range integer to Tensor.",
        None,
    ),
    ("raw.Reshape(tensor=x, shape=[np.int64(4)])", [("float32", [1.0, 2.0, 3.0, 4.0])], [("float32", "(4,)")]),
    ("raw.Reshape(tensor=x, shape=[tf.constant(4)])", [("float32", [1.0, 2.0, 3.0, 4.0])], [("float32", "(4,)")]),
    ("raw.Reshape(tensor=x, shape=[i, 2])", [("float32", [[1.0, 2.0], [3.0, 4.0]])], [("float32", "(2, 2)")]),
    (
        "raw.ConcatV2(values=[x, x], axis=0)",
        [("float32", [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 4.0]])],
        [("float32", "(4, 2)")],
    ),
    (
        "raw.ConcatV2(values=[x, [[1.0, 2.0]]], axis=0)",
        [("float32", [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])],
        [("float32", "(3, 2)")],
    ),
    (
        "raw.ConcatV2(values=[[[1, 2]], x], axis=0)",
        [("float32", [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])],
        [("float32", "(3, 2)")],
    ),
    (
        "raw.ConcatV2(values=[x, i2], axis=0)",
        "InvalidArgumentError: cannot compute ConcatV2 as input #1(zero-based) was expected to be a flo",
        None,
    ),
    (
        "raw.ConcatV2(values=x, axis=0)",
        [("float32", [1.0, 2.0, 3.0, 4.0])],
        "TypeError: Expected list for 'values' argument to 'concat_v2' Op, not <tf.Tensor 'C",
    ),
    (
        "raw.ConcatV2(values=[], axis=0)",
        None,
        "ValueError: List argument 'values' to 'ConcatV2' Op with length 0 shorter than minim",
    ),
    (
        "raw.ConcatV2(values=3, axis=0)",
        "TypeError: Expected list for 'values' argument to 'concat_v2' Op, not 3.",
        "TypeError: Expected list for 'values' argument to 'concat_v2' Op, not 3.",
    ),
    ("raw.ConcatV2(values=[x, x], axis=0.0)", "TypeError: Cannot convert 0.0 to EagerTensor of dtype int32", None),
    (
        "raw.ConcatV2(values=[x, x], axis=f)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'axis' has DataType float32 not in list of all",
    ),
    ('raw.ConcatV2(values=[x, "a"], axis=0)', "TypeError: Cannot convert 'a' to EagerTensor of dtype float", None),
    (
        "raw.ConcatV2(values=np.ones([2, 2, 2]), axis=0)",
        "ValueError: expected a sequence for attr N, got an ndarray with rank 3 instead",
        "TypeError: Expected list for 'values' argument to 'concat_v2' Op, not array([[[1., ",
    ),
    ("raw.Pack(values=[1, 2], axis=0)", [("int32", [1, 2])], [("int32", "(2,)")]),
    ("raw.Pack(values=[1, 2.5])", "TypeError: Cannot convert 2.5 to EagerTensor of dtype int32", None),
    ("raw.Pack(values=[1, f])", [("float32", [1.0, 0.5])], [("float32", "(2,)")]),
    ("raw.Pack(values=[f, 1])", [("float32", [0.5, 1.0])], [("float32", "(2,)")]),
    ('raw.Pack(values=[f, "a"])', "TypeError: Cannot convert 'a' to EagerTensor of dtype float", None),
    (
        "raw.Pack(values=x)",
        [("float32", [[1.0, 2.0], [3.0, 4.0]])],
        "TypeError: Expected list for 'values' argument to 'pack' Op, not <tf.Tensor 'Const:",
    ),
    (
        'raw.Pack(values=[x, x], axis="a")',
        "TypeError: Expected int for argument 'axis' not 'a'.",
        "TypeError: Expected int for argument 'axis' not 'a'.",
    ),
    (
        "raw.Pack(values=[x, x], axis=1.7)",
        [("float32", [[[1.0, 2.0], [1.0, 2.0]], [[3.0, 4.0], [3.0, 4.0]]])],
        [("float32", "(2, 2, 2)")],
    ),
    (
        "raw.Pack(values=[x, x], axis=None)",
        [("float32", [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]])],
        [("float32", "(2, 2, 2)")],
    ),
    ("raw.AddV2(x=x, y=1)", [("float32", [[2.0, 3.0], [4.0, 5.0]])], [("float32", "(2, 2)")]),
    ("raw.AddV2(x=x, y=1.5)", [("float32", [[2.5, 3.5], [4.5, 5.5]])], [("float32", "(2, 2)")]),
    (
        "raw.AddV2(x=1.5, y=i2)",
        None,
        "TypeError: Input 'y' of 'AddV2' Op has type int32 that does not match type float32 ",
    ),
    (
        "raw.AddV2(x=i2, y=x)",
        "InvalidArgumentError: cannot compute AddV2 as input #1(zero-based) was expected to be a int32 ",
        "TypeError: Input 'y' of 'AddV2' Op has type float32 that does not match type int32 ",
    ),
    (
        "raw.AddV2(x=x, y=None)",
        "ValueError: Attempt to convert a value (None) with an unsupported type (<class 'None",
        None,
    ),
    ("raw.AddV2(x=x, y=np.float64(2.0))", [("float32", [[3.0, 4.0], [5.0, 6.0]])], [("float32", "(2, 2)")]),
    ("raw.AddV2(x=x, y=np.ones([2, 2]))", [("float32", [[2.0, 3.0], [4.0, 5.0]])], [("float32", "(2, 2)")]),
    ("raw.AddV2(x=i2, y=np.float64(2.5))", [("int32", [[3, 4], [5, 6]])], [("int32", "(2, 2)")]),
    (
        "raw.AddV2(x=True, y=False)",
        "InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: bfloat1",
        None,
    ),
    ("raw.MatMul(a=x, b=x, transpose_a=True)", [("float32", [[10.0, 14.0], [14.0, 20.0]])], [("float32", "(2, 2)")]),
    (
        "raw.MatMul(a=x, b=x, transpose_a=1)",
        "TypeError: Expected bool for argument 'transpose_a' not 1.",
        "TypeError: Expected bool for argument 'transpose_a' not 1.",
    ),
    ("raw.MatMul(a=x, b=[[1, 2], [3, 4]])", [("float32", [[7.0, 10.0], [15.0, 22.0]])], [("float32", "(2, 2)")]),
    (
        "raw.MatMul(a=x, b=i2)",
        None,
        "TypeError: Input 'b' of 'MatMul' Op has type int32 that does not match type float32",
    ),
    ('raw.MatMul(a="a", b=x)', "TypeError: Cannot convert 'a' to EagerTensor of dtype float", None),
    (
        "raw.OneHot(indices=[0, 1], depth=2, on_value=1.0, off_value=0.0)",
        [("float32", [[1.0, 0.0], [0.0, 1.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        "raw.OneHot(indices=[0, 1], depth=2, on_value=5, off_value=0, axis=0)",
        [("int32", [[5, 0], [0, 5]])],
        [("int32", "(2, 2)")],
    ),
    ("raw.OneHot(indices=i, depth=i, on_value=1.0, off_value=0)", [("float32", [0.0, 0.0])], [("float32", "(2,)")]),
    (
        "raw.OneHot(indices=[0.5], depth=2, on_value=1.0, off_value=0.0)",
        "InvalidArgumentError: Value for attr 'TI' of float is not in the list of allowed values: uint8",
        None,
    ),
    (
        "raw.OneHot(indices=[0], depth=2.0, on_value=1.0, off_value=0.0)",
        "TypeError: Cannot convert 2.0 to EagerTensor of dtype int32",
        None,
    ),
    (
        "raw.OneHot(indices=[0], depth=f, on_value=1.0, off_value=0.0)",
        "ValueError: Tensor conversion requested dtype int32 for Tensor with dtype float32: <",
        "TypeError: Input 'depth' of 'OneHot' Op has type float32 that does not match expect",
    ),
    ("raw.Cast(x=x, DstT=tf.int32)", [("int32", [[1, 2], [3, 4]])], [("int32", "(2, 2)")]),
    ('raw.Cast(x=x, DstT="int32")', [("int32", [[1, 2], [3, 4]])], [("int32", "(2, 2)")]),
    (
        "raw.Cast(x=x, DstT=None)",
        "TypeError: Expected DataType for argument 'DstT' not None.",
        "TypeError: Expected DataType for argument 'DstT' not None.",
    ),
    ("raw.LeakyRelu(features=x, alpha=1)", [("float32", [[1.0, 2.0], [3.0, 4.0]])], [("float32", "(2, 2)")]),
    (
        'raw.LeakyRelu(features=x, alpha="a")',
        "TypeError: Expected float for argument 'alpha' not 'a'.",
        "TypeError: Expected float for argument 'alpha' not 'a'.",
    ),
    ("raw.LeakyRelu(features=x, alpha=None)", [("float32", [[1.0, 2.0], [3.0, 4.0]])], [("float32", "(2, 2)")]),
    ("raw.LeakyRelu(features=[-1.0], alpha=0.5)", [("float32", [-0.5])], [("float32", "(1,)")]),
    (
        "raw.LeakyRelu(features=i2, alpha=0.5)",
        "InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: half, ",
        None,
    ),
    (
        "raw.StridedSlice(input=x, begin=[0], end=[1], strides=[1])",
        [("float32", [[1.0, 2.0]])],
        [("float32", "(1, 2)")],
    ),
    (
        "raw.StridedSlice(input=x, begin=tf.constant([0]), end=tf.constant([1], tf.int64), strides=[1])",
        None,
        "TypeError: Input 'end' of 'StridedSlice' Op has type int64 that does not match type",
    ),
    (
        'raw.StridedSlice(input=x, begin=[0], end=[1], strides=[1], begin_mask="a")',
        "TypeError: Expected int for argument 'begin_mask' not 'a'.",
        "TypeError: Expected int for argument 'begin_mask' not 'a'.",
    ),
    (
        "raw.Split(axis=0, value=x, num_split=2)",
        [("float32", [[1.0, 2.0]]), ("float32", [[3.0, 4.0]])],
        [("float32", "(1, 2)"), ("float32", "(1, 2)")],
    ),
    (
        "raw.Split(axis=0, value=x, num_split=2.0)",
        [("float32", [[1.0, 2.0]]), ("float32", [[3.0, 4.0]])],
        [("float32", "(1, 2)"), ("float32", "(1, 2)")],
    ),
    (
        "raw.Split(axis=f, value=x, num_split=2)",
        "InvalidArgumentError: cannot compute Split as input #0(zero-based) was expected to be a int32 ",
        "TypeError: Input 'split_dim' of 'Split' Op has type float32 that does not match exp",
    ),
    (
        "raw.Split(axis=0, value=x, num_split=None)",
        "TypeError: Expected int for argument 'num_split' not None.",
        "TypeError: Expected int for argument 'num_split' not None.",
    ),
    ("raw.Transpose(x=x, perm=[1, 0])", [("float32", [[1.0, 3.0], [2.0, 4.0]])], [("float32", "(2, 2)")]),
    (
        "raw.Transpose(x=x, perm=[1.0, 0])",
        "InvalidArgumentError: Value for attr 'Tperm' of float is not in the list of allowed values: in",
        None,
    ),
    (
        "raw.Transpose(x=x, perm=tf.constant([1, 0], tf.int8))",
        "InvalidArgumentError: Value for attr 'Tperm' of int8 is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'perm' has DataType int8 not in list of allowe",
    ),
    ("raw.GatherV2(params=x, indices=[1], axis=0)", [("float32", [[3.0, 4.0]])], [("float32", "(1, 2)")]),
    (
        "raw.GatherV2(params=x, indices=[1.0], axis=0)",
        "InvalidArgumentError: Value for attr 'Tindices' of float is not in the list of allowed values:",
        None,
    ),
    (
        "raw.GatherV2(params=x, indices=i, axis=0, batch_dims=0)",
        "InvalidArgumentError: indices = 2 is not in [0, 2)",
        [("float32", "(2,)")],
    ),
    (
        "raw.GatherV2(params=x, indices=f, axis=0)",
        "InvalidArgumentError: Value for attr 'Tindices' of float is not in the list of allowed values:",
        None,
    ),
    (
        "raw.GatherV2(params=x, indices=1, axis=f)",
        "InvalidArgumentError: Value for attr 'Taxis' of float is not in the list of allowed values: in",
        "TypeError: Value passed to parameter 'axis' has DataType float32 not in list of all",
    ),
    (
        "raw.GatherV2(params=[1, 2], indices=1, axis=f)",
        "InvalidArgumentError: Value for attr 'Taxis' of float is not in the list of allowed values: in",
        "TypeError: Value passed to parameter 'axis' has DataType float32 not in list of all",
    ),
    ("raw.Fill(dims=[2], value=3)", [("int32", [3, 3])], [("int32", "(2,)")]),
    (
        "raw.Fill(dims=[2.5], value=3)",
        "InvalidArgumentError: Value for attr 'index_type' of float is not in the list of allowed value",
        None,
    ),
    (
        "raw.Fill(dims=2, value=3)",
        [("int32", [3, 3])],
        "ValueError: Shape must be rank 1 but is rank 0 for '{{node Fill}} = Fill[T=DT_INT32,",
    ),
    (
        "raw.Fill(dims=tf.constant([2.0]), value=3)",
        "InvalidArgumentError: Value for attr 'index_type' of float is not in the list of allowed value",
        "TypeError: Value passed to parameter 'dims' has DataType float32 not in list of all",
    ),
    ("raw.Range(start=0, limit=3, delta=1)", [("int32", [0, 1, 2])], [("int32", "(3,)")]),
    ("raw.Range(start=0, limit=3.5, delta=1)", "TypeError: Cannot convert 3.5 to EagerTensor of dtype int32", None),
    (
        "raw.Range(start=0.0, limit=3, delta=1)",
        "TypeError: Cannot convert 0.0 to EagerTensor of dtype int32",
        [("float32", "(3,)")],
    ),
    ("raw.Range(start=i, limit=3.5, delta=1)", "TypeError: Cannot convert 3.5 to EagerTensor of dtype int32", None),
    ("raw.Select(condition=[True, False], x=[1, 2], y=[3, 4])", [("int32", [1, 4])], [("int32", "(2,)")]),
    (
        "raw.Select(condition=[1, 0], x=[1, 2], y=[3, 4])",
        "TypeError: Cannot convert [1, 0] to EagerTensor of dtype bool",
        None,
    ),
    (
        "raw.Select(condition=i2, x=x, y=x)",
        "InvalidArgumentError: cannot compute Select as input #0(zero-based) was expected to be a bool ",
        None,
    ),
    ("raw.Squeeze(input=[[1]], axis=[0])", [("int32", [1])], [("int32", "(1,)")]),
    ("raw.Squeeze(input=[[1]], axis=None)", [("int32", 1)], [("int32", "()")]),
    ("raw.AddN(inputs=[x, x])", [("float32", [[2.0, 4.0], [6.0, 8.0]])], [("float32", "(2, 2)")]),
    (
        "raw.AddN(inputs=[x, 1.0])",
        "InvalidArgumentError: Inputs to operation AddN of type AddN must have the same size and shape.",
        None,
    ),
    (
        "raw.AddN(inputs=[])",
        None,
        "ValueError: List argument 'inputs' to 'AddN' Op with length 0 shorter than minimum l",
    ),
    ("raw.AddN(inputs=[1, 2])", [("int32", 3)], [("int32", "()")]),
    (
        'raw.Conv2D(input=tf.ones([1, 2, 2, 1]), filter=tf.ones([1, 1, 1, 1]), strides=1, padding="SAME")',
        "TypeError: Expected list for 'strides' argument to 'conv2d' Op, not 1.",
        "TypeError: Expected list for 'strides' argument to 'conv2d' Op, not 1.",
    ),
    (
        "raw.Conv2D(input=tf.ones([1, 2, 2, 1]), filter=tf.ones([1, 1, 1, 1]), strides=[1, 1, 1, 1], padding=3)",
        "TypeError: Expected string for argument 'padding' not 3.",
        "TypeError: Expected string for argument 'padding' not 3.",
    ),
    (
        'raw.Conv2D(input=tf.ones([1, 2, 2, 1]), filter=[[[[2.0]]]], strides=[1, 1, 1, 1], padding=b"SAME")',
        [("float32", [[[[2.0], [2.0]], [[2.0], [2.0]]]])],
        [("float32", "(1, 2, 2, 1)")],
    ),
    ('raw.StringJoin(inputs=["a", "b"], separator="-")', [("string", ["b'a-b'"])], [("string", "()")]),
    (
        'raw.StringJoin(inputs=["a", 1], separator="-")',
        "TypeError: Cannot convert 1 to EagerTensor of dtype string",
        None,
    ),
    (
        'raw.StringJoin(inputs=["a", "b"], separator=1)',
        "TypeError: Expected string for argument 'separator' not 1.",
        "TypeError: Expected string for argument 'separator' not 1.",
    ),
    ("raw.EnsureShape(input=x, shape=[2, None])", [("float32", [[1.0, 2.0], [3.0, 4.0]])], [("float32", "(2, 2)")]),
    ("raw.EnsureShape(input=x, shape=tf.TensorShape(None))", [("float32", [[1.0, 2.0], [3.0, 4.0]])], None),
    ("raw.BroadcastTo(input=f, shape=[2])", [("float32", [0.5, 0.5])], [("float32", "(2,)")]),
    (
        "raw.BroadcastTo(input=f, shape=[2.0])",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        None,
    ),
    ("raw.ArgMax(input=x, dimension=0, output_type=tf.int32)", [("int32", [1, 1])], [("int32", "(2,)")]),
    ("raw.ArgMax(input=x, dimension=0.0)", "TypeError: Cannot convert 0.0 to EagerTensor of dtype int32", None),
    (
        "raw.ArgMax(input=x, dimension=f)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'dimension' has DataType float32 not in list o",
    ),
    (
        "raw.ArgMax(input=[1, 2], dimension=f)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'dimension' has DataType float32 not in list o",
    ),
    (
        "raw.ArgMax(input=x, dimension=0, output_type=tf.float32)",
        "InvalidArgumentError: Value for attr 'output_type' of float is not in the list of allowed valu",
        None,
    ),
    (
        "raw.TopKV2(input=x, k=1)",
        [("float32", [[2.0], [4.0]]), ("int32", [[1], [1]])],
        [("float32", "(2, 1)"), ("int32", "(2, 1)")],
    ),
    ("raw.TopKV2(input=x, k=1.5)", "TypeError: Cannot convert 1.5 to EagerTensor of dtype int32", None),
    (
        "raw.TopKV2(input=x, k=tf.constant(1, tf.int64))",
        [("float32", [[2.0], [4.0]]), ("int32", [[1], [1]])],
        [("float32", "(2, 1)"), ("int32", "(2, 1)")],
    ),
    (
        "raw.Pad(input=x, paddings=[[0, 1], [0, 0]])",
        [("float32", [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])],
        [("float32", "(3, 2)")],
    ),
    (
        "raw.Pad(input=x, paddings=[[0, 1.5], [0, 0]])",
        "InvalidArgumentError: Value for attr 'Tpaddings' of float is not in the list of allowed values",
        None,
    ),
    (
        "raw.Tile(input=x, multiples=[1, 2])",
        [("float32", [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]])],
        [("float32", "(2, 4)")],
    ),
    ("raw.Tile(input=x, multiples=[1, 2**31])", None, [("float32", "(2, 4294967296)")]),
    ("raw.Cumsum(x=x, axis=0, exclusive=True)", [("float32", [[0.0, 0.0], [1.0, 2.0]])], [("float32", "(2, 2)")]),
    ("raw.Cumsum(x=x, axis=[0])", None, [("float32", "(2, 2)")]),
    (
        "raw.Cumsum(x=x, axis=f, exclusive=True)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'axis' has DataType float32 not in list of all",
    ),
    (
        "raw.Split(axis=f, value=[1.0, 2.0], num_split=2)",
        "ValueError: Tensor conversion requested dtype int32 for Tensor with dtype float32: <",
        "TypeError: Input 'split_dim' of 'Split' Op has type float32 that does not match exp",
    ),
    (
        "raw.Split(axis=tf.constant(0, tf.int64), value=x, num_split=2)",
        "InvalidArgumentError: cannot compute Split as input #0(zero-based) was expected to be a int32 ",
        "TypeError: Input 'split_dim' of 'Split' Op has type int64 that does not match expec",
    ),
    (
        "raw.Split(axis=tf.constant(0, tf.int64), value=[1.0, 2.0], num_split=2)",
        "ValueError: Tensor conversion requested dtype int32 for Tensor with dtype int64: <tf",
        "TypeError: Input 'split_dim' of 'Split' Op has type int64 that does not match expec",
    ),
    (
        "raw.Split(axis=True, value=x, num_split=2)",
        [("float32", [[1.0], [3.0]]), ("float32", [[2.0], [4.0]])],
        [("float32", "(2, 1)"), ("float32", "(2, 1)")],
    ),
    (
        "raw.Split(axis=np.int64(1), value=x, num_split=2)",
        [("float32", [[1.0], [3.0]]), ("float32", [[2.0], [4.0]])],
        [("float32", "(2, 1)"), ("float32", "(2, 1)")],
    ),
    (
        "raw.Split(axis=2**31, value=x, num_split=2)",
        "InvalidArgumentError: -input rank(-2) <= split_dim < input rank (2), but got -2147483648",
        None,
    ),
    (
        "raw.OneHot(indices=i, depth=tf.constant(2, tf.int64), on_value=1.0, off_value=0.0)",
        "InvalidArgumentError: cannot compute OneHot as input #1(zero-based) was expected to be a int32",
        "TypeError: Input 'depth' of 'OneHot' Op has type int64 that does not match expected",
    ),
    (
        "raw.OneHot(indices=[1], depth=tf.constant(2, tf.int64), on_value=1.0, off_value=0.0)",
        "ValueError: Tensor conversion requested dtype int32 for Tensor with dtype int64: <tf",
        "TypeError: Input 'depth' of 'OneHot' Op has type int64 that does not match expected",
    ),
    (
        "raw.OneHot(indices=i, depth=np.float32(2.7), on_value=1.0, off_value=0.0)",
        [("float32", [0.0, 0.0])],
        [("float32", "(2,)")],
    ),
    (
        "raw.ResizeBilinear(images=tf.ones([1, 2, 2, 1]), size=tf.constant([3, 2], tf.int64))",
        "InvalidArgumentError: cannot compute ResizeBilinear as input #1(zero-based) was expected to be",
        "TypeError: Input 'size' of 'ResizeBilinear' Op has type int64 that does not match e",
    ),
    (
        "raw.ResizeBilinear(images=[[[[1.0]]]], size=tf.constant([3, 2], tf.int64))",
        "ValueError: Tensor conversion requested dtype int32 for Tensor with dtype int64: <tf",
        "TypeError: Input 'size' of 'ResizeBilinear' Op has type int64 that does not match e",
    ),
    (
        "raw.ResizeNearestNeighbor(images=tf.ones([1, 1, 1, 1]), size=np.array([2, 1]))",
        [("float32", [[[[1.0]], [[1.0]]]])],
        [("float32", "(1, 2, 1, 1)")],
    ),
    (
        "raw.ResizeNearestNeighbor(images=tf.ones([1, 1, 1, 1]), size=np.array([2.9, 1.2]))",
        [("float32", [[[[1.0]], [[1.0]]]])],
        [("float32", "(1, 2, 1, 1)")],
    ),
    (
        "raw.ResizeNearestNeighbor(images=tf.ones([1, 1, 1, 1]), size=[[1, 2]])",
        None,
        "ValueError: Shape must be rank 1 but is rank 2 for '{{node ResizeNearestNeighbor}} =",
    ),
    ("raw.Reshape(tensor=x, shape=np.array([4.0]))", [("float32", [1.0, 2.0, 3.0, 4.0])], [("float32", "(4,)")]),
    (
        "raw.Reshape(tensor=x, shape=[[4]])",
        "InvalidArgumentError: sizes input must be 1-D, not [1,1]",
        "ValueError: Shape must be rank 1 but is rank 2 for '{{node Reshape}} = Reshape[T=DT_",
    ),
    (
        "raw.Reshape(tensor=[1, 2], shape=tf.constant([2.0]))",
        "InvalidArgumentError: Value for attr 'Tshape' of float is not in the list of allowed values: i",
        "TypeError: Value passed to parameter 'shape' has DataType float32 not in list of al",
    ),
    (
        'raw.Reshape(tensor=x, shape=b"a")',
        "InvalidArgumentError: Value for attr 'Tshape' of string is not in the list of allowed values: ",
        None,
    ),
    (
        "raw.Reshape(tensor=x, shape=tf.float32)",
        "ValueError: Attempt to convert a value (tf.float32) with an unsupported type (<class",
        None,
    ),
    ("raw.ExpandDims(input=x, axis=0)", [("float32", [[[1.0, 2.0], [3.0, 4.0]]])], [("float32", "(1, 2, 2)")]),
    ("raw.ExpandDims(input=x, axis=[0])", [("float32", [[[1.0, 2.0], [3.0, 4.0]]])], [("float32", "(1, 2, 2)")]),
    ("raw.ExpandDims(input=x, axis=0.0)", "TypeError: Cannot convert 0.0 to EagerTensor of dtype int32", None),
    ("raw.ExpandDims(input=x, axis=np.int8(0))", [("float32", [[[1.0, 2.0], [3.0, 4.0]]])], [("float32", "(1, 2, 2)")]),
    (
        "raw.ExpandDims(input=x, axis=tf.constant(0, tf.int8))",
        "InvalidArgumentError: Value for attr 'Tdim' of int8 is not in the list of allowed values: int3",
        "TypeError: Value passed to parameter 'dim' has DataType int8 not in list of allowed",
    ),
    ("raw.ExpandDims(input=x, axis=2**40)", [("float32", [[[1.0, 2.0], [3.0, 4.0]]])], None),
    ("raw.Roll(input=x, shift=1, axis=0)", [("float32", [[3.0, 4.0], [1.0, 2.0]])], [("float32", "(2, 2)")]),
    (
        "raw.Roll(input=x, shift=tf.constant(1, tf.int64), axis=tf.constant(0, tf.int32))",
        [("float32", [[3.0, 4.0], [1.0, 2.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        "raw.Roll(input=x, shift=1.5, axis=0)",
        "InvalidArgumentError: Value for attr 'Tshift' of float is not in the list of allowed values: i",
        None,
    ),
    ("raw.ReverseV2(tensor=x, axis=[0])", [("float32", [[3.0, 4.0], [1.0, 2.0]])], [("float32", "(2, 2)")]),
    (
        "raw.ReverseV2(tensor=x, axis=[0.0])",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        None,
    ),
    (
        "raw.ReverseV2(tensor=x, axis=f)",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'axis' has DataType float32 not in list of all",
    ),
    ("raw.LinSpace(start=0.0, stop=1.0, num=3)", [("float32", [0.0, 0.5, 1.0])], [("float32", "(3,)")]),
    (
        "raw.LinSpace(start=0, stop=1, num=3)",
        "InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: bfloat",
        None,
    ),
    ("raw.LinSpace(start=0.0, stop=1.0, num=3.0)", "TypeError: Cannot convert 3.0 to EagerTensor of dtype int32", None),
    ("raw.LinSpace(start=f, stop=1, num=2)", [("float32", [0.5, 1.0])], [("float32", "(2,)")]),
    ("raw.Where(condition=[True, False])", [("int64", [[0]])], [("int64", "(None, 1)")]),
    ("raw.Where(condition=[1.5, 0.0])", [("int64", [[0]])], [("int64", "(None, 1)")]),
    (
        "raw.IdentityN(input=[x, 1])",
        [("float32", [[1.0, 2.0], [3.0, 4.0]]), ("int32", 1)],
        [("float32", "(2, 2)"), ("int32", "()")],
    ),
    ("raw.IdentityN(input=x)", [("float32", [1.0, 2.0]), ("float32", [3.0, 4.0])], None),
    (
        "raw.ShapeN(input=[x, x], out_type=tf.int64)",
        [("int64", [2, 2]), ("int64", [2, 2])],
        [("int64", "(2,)"), ("int64", "(2,)")],
    ),
    (
        "raw.ShapeN(input=[x, i2])",
        "InvalidArgumentError: cannot compute ShapeN as input #1(zero-based) was expected to be a float",
        None,
    ),
    ("raw.DynamicStitch(indices=[[0], [1]], data=[[1.0], [2.0]])", [("float32", [1.0, 2.0])], None),
    (
        "raw.DynamicStitch(indices=[[0], [1]], data=[[1.0]])",
        "ValueError: List argument 'data' to 'dynamic_stitch' Op with length 1 must match len",
        "ValueError: List argument 'data' to 'dynamic_stitch' Op with length 1 must match len",
    ),
    (
        "raw.ParallelDynamicStitch(indices=[[0]], data=[[1.0], [2.0]])",
        "ValueError: List argument 'data' to 'parallel_dynamic_stitch' Op with length 2 must ",
        "ValueError: List argument 'data' to 'parallel_dynamic_stitch' Op with length 2 must ",
    ),
    (
        "raw.Bitcast(input=x, type=tf.int32)",
        [("int32", [[1065353216, 1073741824], [1077936128, 1082130432]])],
        [("int32", "(2, 2)")],
    ),
    ('raw.Bitcast(input=[1.5], type="int32")', [("int32", [1069547520])], [("int32", "(1,)")]),
    (
        "raw.Cumsum(x=[1, 2], axis=tf.constant(0.5))",
        "InvalidArgumentError: Value for attr 'Tidx' of float is not in the list of allowed values: int",
        "TypeError: Value passed to parameter 'axis' has DataType float32 not in list of all",
    ),
    (
        "raw.Cumsum(x=x, axis=tf.constant(1, tf.int64), reverse=True)",
        [("float32", [[3.0, 2.0], [7.0, 4.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        "raw.MatrixBandPart(input=x, num_lower=0, num_upper=-1)",
        [("float32", [[1.0, 2.0], [0.0, 4.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        "raw.MatrixBandPart(input=x, num_lower=0.5, num_upper=-1)",
        "TypeError: Cannot convert 0.5 to EagerTensor of dtype int64",
        None,
    ),
    (
        "raw.MatrixBandPart(input=x, num_lower=i, num_upper=tf.constant(1, tf.int64))",
        "InvalidArgumentError: cannot compute MatrixBandPart as input #2(zero-based) was expected to be",
        "TypeError: Input 'num_upper' of 'MatrixBandPart' Op has type int64 that does not ma",
    ),
    (
        "raw.UnsortedSegmentSum(data=x, segment_ids=[0, 1], num_segments=2)",
        [("float32", [[1.0, 2.0], [3.0, 4.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        "raw.UnsortedSegmentSum(data=x, segment_ids=[0.0, 1], num_segments=2)",
        "InvalidArgumentError: Value for attr 'Tindices' of float is not in the list of allowed values:",
        None,
    ),
    (
        "raw.UnsortedSegmentSum(data=x, segment_ids=[0, 1], num_segments=2.5)",
        "InvalidArgumentError: Value for attr 'Tnumsegments' of float is not in the list of allowed val",
        None,
    ),
    (
        "raw.UnsortedSegmentSum(data=x, segment_ids=[0, 1], num_segments=f)",
        "InvalidArgumentError: Value for attr 'Tnumsegments' of float is not in the list of allowed val",
        "TypeError: Value passed to parameter 'num_segments' has DataType float32 not in lis",
    ),
    ('raw.Substr(input="abc", pos=1, len=1)', [("string", ["b'b'"])], [("string", "()")]),
    ('raw.Substr(input="abc", pos=1, len=1.0)', "TypeError: Cannot convert 1.0 to EagerTensor of dtype int32", None),
    (
        'raw.Substr(input="abc", pos=i, len=tf.constant(1, tf.int64))',
        "InvalidArgumentError: cannot compute Substr as input #2(zero-based) was expected to be a int32",
        "TypeError: Input 'len' of 'Substr' Op has type int64 that does not match type int32",
    ),
    (
        'raw.StringSplitV2(input=["a b"], sep=" ", maxsplit=1.5)',
        [("int64", [[0, 0], [0, 1]]), ("string", ["b'a'", "b'b'"]), ("int64", [1, 2])],
        [("int64", "(None, 2)"), ("string", "(None,)"), ("int64", "(2,)")],
    ),
    (
        'raw.AsString(input=x, precision="a")',
        "TypeError: Expected int for argument 'precision' not 'a'.",
        "TypeError: Expected int for argument 'precision' not 'a'.",
    ),
    ("raw.AsString(input=[1.5], precision=1)", [("string", ["b'1.5'"])], [("string", "(1,)")]),
    ("raw.Max(input=x, axis=np.array(0), keep_dims=False)", [("float32", [3.0, 4.0])], [("float32", "(2,)")]),
    ("raw.Max(input=x, axis=np.array([0.5]))", [("float32", [3.0, 4.0])], [("float32", "(2,)")]),
    ("raw.All(input=[True, False], axis=0)", [("bool", False)], [("bool", "()")]),
    ("raw.All(input=[1, 0], axis=0)", "TypeError: Cannot convert [1, 0] to EagerTensor of dtype bool", None),
    (
        "raw.All(input=x, axis=0)",
        "InvalidArgumentError: cannot compute All as input #0(zero-based) was expected to be a bool ten",
        None,
    ),
    ("raw.LogicalAnd(x=True, y=[True, False])", [("bool", [True, False])], [("bool", "(2,)")]),
    ("raw.LogicalAnd(x=1, y=True)", "TypeError: Cannot convert 1 to EagerTensor of dtype bool", None),
    ("raw.Maximum(x=x, y=2)", [("float32", [[2.0, 2.0], [3.0, 4.0]])], [("float32", "(2, 2)")]),
    (
        "raw.Maximum(x=x, y=i)",
        "InvalidArgumentError: cannot compute Maximum as input #1(zero-based) was expected to be a floa",
        "TypeError: Input 'y' of 'Maximum' Op has type int32 that does not match type float3",
    ),
    (
        "raw.Maximum(x=1, y=x)",
        [("float32", [[1.0, 2.0], [3.0, 4.0]])],
        "TypeError: Input 'y' of 'Maximum' Op has type float32 that does not match type int3",
    ),
    ("raw.Pow(x=x, y=2)", [("float32", [[1.0, 4.0], [9.0, 16.0]])], [("float32", "(2, 2)")]),
    ("raw.Less(x=1, y=2.5)", "TypeError: Cannot convert 2.5 to EagerTensor of dtype int32", None),
    (
        "raw.Equal(x=x, y=1, incompatible_shape_error=False)",
        [("bool", [[True, False], [False, False]])],
        [("bool", "(2, 2)")],
    ),
    ("raw.BiasAdd(value=x, bias=[1, 2])", [("float32", [[2.0, 4.0], [4.0, 6.0]])], [("float32", "(2, 2)")]),
    (
        'raw.BiasAdd(value=x, bias=[1.0, 2.0], data_format="NHWC")',
        [("float32", [[2.0, 4.0], [4.0, 6.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        'raw.BiasAdd(value=x, bias=[1.0, 2.0], data_format="WRONG")',
        "InvalidArgumentError: Value for attr 'data_format' of \"WRONG\" is not in the list of allowed va",
        None,
    ),
    (
        "raw.Softmax(logits=[1, 2])",
        "InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: half, ",
        None,
    ),
    (
        "raw.Softmax(logits=i2)",
        "InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: half, ",
        None,
    ),
    (
        'raw.MaxPool(input=tf.ones([1, 2, 2, 1]), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="WRONG")',
        "InvalidArgumentError: Value for attr 'padding' of \"WRONG\" is not in the list of allowed values",
        None,
    ),
    (
        'raw.MaxPool(input=tf.ones([1, 2, 2, 1]), ksize=[1, 2, 2, 1], strides=[1, 1.5, 1, 1], padding="VALID")',
        [("float32", [[[[1.0]]]])],
        [("float32", "(1, 1, 1, 1)")],
    ),
    (
        'raw.MaxPool(input=tf.ones([1, 2, 2, 1]), ksize=(1, 2, 2, 1), strides=np.array([1, 1, 1, 1]), padding="VALID")',
        "TypeError: Expected list for 'strides' argument to 'max_pool' Op, not array([1, 1, ",
        "TypeError: Expected list for 'strides' argument to 'max_pool' Op, not array([1, 1, ",
    ),
    (
        "raw.ClipByValue(t=x, clip_value_min=2, clip_value_max=3.0)",
        [("float32", [[2.0, 2.0], [3.0, 3.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        "raw.ClipByValue(t=x, clip_value_min=i, clip_value_max=3.0)",
        "InvalidArgumentError: cannot compute ClipByValue as input #1(zero-based) was expected to be a ",
        "TypeError: Input 'clip_value_min' of 'ClipByValue' Op has type int32 that does not ",
    ),
    (
        'raw.Einsum(inputs=[x, x], equation="ij,jk->ik")',
        [("float32", [[7.0, 10.0], [15.0, 22.0]])],
        [("float32", "(2, 2)")],
    ),
    (
        'raw.Einsum(inputs=x, equation="ij->ji")',
        None,
        "TypeError: Expected list for 'inputs' argument to 'einsum' Op, not <tf.Tensor 'Cons",
    ),
    (
        "raw.Einsum(inputs=[x], equation=3)",
        "TypeError: Expected string for argument 'equation' not 3.",
        "TypeError: Expected string for argument 'equation' not 3.",
    ),
]


def run(call):
    """Returns the results of a call of a raw op, or its error."""
    names = {
        "x": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "i2": tf.constant([[1, 2], [3, 4]]),
        "i": tf.constant(2),
        "f": tf.constant(0.5),
    }
    try:
        result = eval(call, {"tf": tf, "np": np, "raw": tf.raw_ops, **names})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return list(result) if isinstance(result, (list, tuple)) else [result]


def value_of(tensor):
    array = np.asarray(tensor)
    return array.tolist() if tensor.dtype is not tf.string else [str(v) for v in array.reshape(-1)]


@pytest.mark.parametrize(("call", "eager", "graph"), ROWS, ids=[row[0] for row in ROWS])
def test_outcomes_are_those_of_tensorflow(call, eager, graph):
    outcomes = []
    with tf.Graph().as_default():
        found = run(call)
        outcomes.append(found if isinstance(found, str) else [(t.dtype.name, str(t.shape)) for t in found])
    found = run(call)
    outcomes.append(found if isinstance(found, str) else [(t.dtype.name, value_of(t)) for t in found])
    for outcome, expected in zip(outcomes, (graph, eager), strict=True):
        if isinstance(expected, str):
            assert isinstance(outcome, str) and outcome.startswith(expected)
        elif expected is not None:
            assert outcome == expected
