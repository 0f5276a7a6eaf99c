"""`tf.raw_ops`: ops by their registered names."""

import inspect
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import op_def
from tapeflow.raw_ops import absent


def test_the_pages_count_the_absent_ops():
    """TensorFlow's ops on CPUs are those that `dir` shows, and the absent ones."""
    lacking = {name for name in op_def.names() if absent.is_absent(name)}
    assert not lacking & set(dir(tf.raw_ops)) and not any(hasattr(tf.raw_ops, name) for name in lacking)
    for page in ("README.md", "docs/start/not-there.md"):
        text = (pathlib.Path(__file__).parents[1] / page).read_text()
        assert f" {len(lacking)} raw ops are missing." in text, page


def parameters(name):
    return list(inspect.signature(getattr(tf.raw_ops, name)).parameters)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AddV2", ["x", "y", "name"]),
        ("Any", ["input", "axis", "keep_dims", "name"]),
        ("Sum", ["input", "axis", "keep_dims", "name"]),
        ("Split", ["axis", "value", "num_split", "name"]),
        ("MatMul", ["a", "b", "transpose_a", "transpose_b", "grad_a", "grad_b", "name"]),
        ("TopKV2", ["input", "k", "sorted", "index_type", "name"]),
        ("Cast", ["x", "DstT", "Truncate", "name"]),
        ("SparseReorder", ["input_indices", "input_values", "input_shape", "name"]),
    ],
)
def test_parameters_are_those_of_tensorflow(name, expected):
    assert parameters(name) == expected


def test_one_output():
    assert tf.raw_ops.Add(x=1, y=2).numpy() == 3
    assert tf.raw_ops.Sum(input=[[1, 2], [3, 4]], axis=0).numpy().tolist() == [4, 6]
    assert tf.raw_ops.Cast(x=1, DstT=tf.float32).dtype == tf.float32


def test_several_outputs_are_a_namedtuple():
    result = tf.raw_ops.TopKV2(input=[1, 3, 2], k=2, name="k")
    assert type(result).__name__ == "TopKV2"
    assert result.values.numpy().tolist() == [3, 2]
    assert result.indices.numpy().tolist() == [1, 2]


def test_a_list_output_is_a_list():
    assert [p.numpy().tolist() for p in tf.raw_ops.Split(axis=0, value=[1, 2], num_split=2)] == [[1], [2]]


def test_bucketize():
    bucketize = tf.raw_ops.Bucketize
    found = bucketize(input=[[-5.0, 0.0, 1.0], [10.0, 100.0, float("nan")]], boundaries=[0.0, 10.0, 100.0])
    assert found.dtype == tf.int32 and found.numpy().tolist() == [[0, 1, 1], [2, 3, 3]]
    assert bucketize(input=[-5, 0, 10], boundaries=[0, 10]).numpy().tolist() == [0, 1, 2]
    assert bucketize(input=tf.constant([5], tf.int64), boundaries=[]).numpy().tolist() == [0]
    assert bucketize(input=tf.constant([0.1, 0.3], tf.float64), boundaries=[0.1, 0.3]).numpy().tolist() == [0, 1]
    assert bucketize(input=[2**30 + 1, 16777217], boundaries=[16777217.0, 2.0**30]).numpy().tolist() == [2, 1]
    assert tf.function(lambda x: bucketize(input=x, boundaries=[1.0]))(tf.constant([0.0, 2.0])).numpy().tolist() == [
        0,
        1,
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected sorted boundaries"):
        bucketize(input=[1.0], boundaries=[2.0, 1.0])


def test_gradients_pass():
    x = tf.constant([1.0, -2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.Relu(features=x)
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tf.raw_ops.AddV2(1, 2),
            TypeError,
            r"add_v2 only takes keyword args \(possible keys: \['x', 'y', 'name'\]\)",
        ),
        (lambda: tf.raw_ops.AddV2(x=1), TypeError, "missing a required argument: 'y'"),
        (lambda: tf.raw_ops.AddV2(x=1, y=2, z=3), TypeError, "got an unexpected keyword argument 'z'"),
        (lambda: tf.raw_ops.NoSuchOp(x=1), AttributeError, "no attribute 'NoSuchOp'"),
        (lambda: tf.raw_ops.Cast(x=1.5, DstT=tf.int32, Truncate=True), NotImplementedError, "attr 'Truncate'"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_dir_names_ops():
    assert {"AddV2", "SparseReorder", "SetSize"} <= set(dir(tf.raw_ops))


def test_older_batch_norms_leave_two_tensors_for_their_gradient():
    x = tf.constant([[[[1.0, 2.0]], [[3.0, 5.0]]]])
    one, nothing = tf.ones(2), tf.zeros(0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        older = [
            raw_op(x=x, scale=one, offset=one, mean=nothing, variance=nothing)
            for raw_op in (tf.raw_ops.FusedBatchNorm, tf.raw_ops.FusedBatchNormV2)
        ]
        newest = tf.raw_ops.FusedBatchNormV3(x=x, scale=one, offset=one, mean=nothing, variance=nothing)
        losses = [tf.reduce_sum(result.y**3) for result in (*older, newest)]
    assert all(len(result) == 5 for result in older)
    gradients = [tape.gradient(loss, x).numpy() for loss in losses]
    for result, gradient in zip(older, gradients, strict=False):
        np.testing.assert_array_equal(result.y, newest.y)
        np.testing.assert_allclose(gradient, gradients[-1])


def test_earlier_diagonals_are_padded_at_their_ends():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        diagonals = tf.raw_ops.MatrixDiagPartV2(input=x, k=(0, 1), padding_value=0.0)
    assert diagonals.numpy().tolist() == [[2.0, 0.0], [1.0, 4.0]]
    gradient = tape.gradient(diagonals, x, tf.constant([[5.0, 9.0], [6.0, 7.0]]))
    assert gradient.numpy().tolist() == [[6.0, 5.0], [0.0, 7.0]]


def test_an_op_without_a_kernel_fails_where_it_runs():
    def lstm(x):
        state = tf.zeros([1, 2, 3])
        made = tf.raw_ops.CudnnRNN(input=x, input_h=state, input_c=state, params=tf.zeros([100]), rnn_mode="lstm")
        return made.output_h[-1]

    x = tf.ones([4, 2, 5])
    with pytest.raises(tf.errors.NotFoundError, match="No OpKernel was registered to support Op 'CudnnRNN'"):
        lstm(x)
    traced = tf.function(lstm).get_concrete_function(x)  # as libraries do to choose by the device
    assert traced.output_shapes == [2, 3]
    node = next(n for n in traced.graph.as_graph_def().node if n.op == "CudnnRNN")
    assert node.attr["rnn_mode"].s == b"lstm"
    with pytest.raises(tf.errors.NotFoundError, match="No OpKernel was registered to support Op 'CudnnRNN'"):
        traced(x)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("BatchCholesky", tf.linalg.cholesky),
        ("BatchMatrixInverse", tf.linalg.inv),
        ("BatchMatrixDeterminant", tf.linalg.det),
        ("BatchFFT", lambda input: tf.signal.fft(tf.cast(input, tf.complex64))),
    ],
)
def test_older_forms_call_their_newer_ones(name, function):
    stack = tf.constant([[[4.0, 1.0], [1.0, 3.0]]])
    value = tf.cast(stack, tf.complex64) if "FFT" in name else stack
    np.testing.assert_allclose(getattr(tf.raw_ops, name)(input=value), function(stack), rtol=1e-6)


def test_ops_of_optimizers_are_there():
    v = tf.Variable([1.0, 2.0])
    tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=[1.0, 1.0])
    assert v.numpy().tolist() == [0.5, 1.5]


def test_the_table_of_absent_ops_is_right():
    there = {name for name in op_def.names() if hasattr(tf.raw_ops, name)}
    assert there == {name for name in op_def.names() if not absent.is_absent(name)} == set(dir(tf.raw_ops))
    assert not hasattr(tf.raw_ops, "NoSuchOp") and not hasattr(tf.raw_ops, "reshape")
    with pytest.raises(AttributeError, match="no attribute 'ExtractGlimpse': its newer form places glimpses otherwise"):
        tf.raw_ops.ExtractGlimpse  # noqa: B018


def test_references_are_for_graphs_alone():
    with pytest.raises(RuntimeError, match=r"assign op does not support eager execution. Arg 'output_ref' is a ref."):
        tf.raw_ops.Assign(ref=tf.Variable(1.0), value=2.0)
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        session.run(v.initializer)
        assert session.run(tf.raw_ops.Assign(ref=v, value=[5.0, 6.0])).tolist() == [5.0, 6.0]
        assert session.run(tf.raw_ops.ScatterAdd(ref=v, indices=[0], updates=[1.0])).tolist() == [6.0, 6.0]
        queue = tf.raw_ops.FIFOQueue(component_types=[tf.float32])
        session.run(tf.raw_ops.QueueEnqueue(handle=queue, components=[3.0]))
        assert session.run(tf.raw_ops.QueueDequeue(handle=queue, component_types=[tf.float32])) == [3.0]


def test_ops_without_a_kernel_on_cpus_fail_when_they_run():
    with pytest.raises(tf.errors.NotFoundError, match="No OpKernel was registered to support Op 'NcclAllReduce'"):
        tf.raw_ops.NcclAllReduce(input=1.0, reduction="sum", num_devices=1, shared_name="a")


def test_built_ops_run_at_once_in_functions_and_under_tapes():
    v = tf.Variable([1.0, 2.0])
    tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=[1.0, 1.0])

    @tf.function
    def read():
        return tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32)

    assert read().numpy().tolist() == [2.0, 3.0]
    with tf.GradientTape() as tape:
        y = 3.0 * tf.raw_ops.ResourceGather(resource=v.handle, indices=[1], dtype=tf.float32)
    assert tf.convert_to_tensor(tape.gradient(y, v)).numpy().tolist() == [0.0, 3.0]
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2])
    tf.raw_ops.AssignVariableOp(resource=handle, value=[4.0, 5.0])
    assert tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32).numpy().tolist() == [4.0, 5.0]


def test_functions_are_attrs():
    def concrete(function, *dtypes):
        return tf.function(function).get_concrete_function(*[tf.TensorSpec([], d) for d in dtypes])

    double = concrete(lambda x: x * 2.0, tf.float32)
    small = concrete(lambda x: x < 10.0, tf.float32)
    raw = tf.raw_ops
    assert raw.If(cond=True, input=[2.0], Tout=[tf.float32], then_branch=double, else_branch=double) == [4.0]
    assert raw.Case(branch_index=0, input=[2.0], Tout=[tf.float32], branches=[double, double]) == [4.0]
    assert raw.While(input=[2.0], cond=small, body=double) == [16.0]
    assert raw.StatefulPartitionedCall(args=[3.0], Tout=[tf.float32], f=double) == [6.0]


def test_forms_serve_graphs_that_are_read():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2, 3], name="x")
    proto = graph.as_graph_def()
    node = proto.node.add(name="parts", op="MatrixDiag", input=["x"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, y = tf.import_graph_def(proto, return_elements=["x:0", "parts:0"], name="")
        assert session.run(y, {x: np.ones([2, 3])}).tolist() == [np.eye(3).tolist()] * 2
        assert y.name == "parts:0"


# ---- handles of something else ---------------------------------------------------------------------------------------


def _stack():
    return tf.raw_ops.StackV2(max_size=2, elem_type=tf.float32)


WRONG_HANDLES = {
    "AssignVariableOp": lambda v: tf.raw_ops.AssignVariableOp(resource=_stack(), value=1.0),
    "AssignAddVariableOp": lambda v: tf.raw_ops.AssignAddVariableOp(resource=_stack(), value=1.0),
    "ResourceGather": lambda v: tf.raw_ops.ResourceGather(resource=_stack(), indices=[0], dtype=tf.float32),
    "ResourceScatterAdd": lambda v: tf.raw_ops.ResourceScatterAdd(resource=_stack(), indices=[0], updates=[1.0]),
    "StatefulUniform": lambda v: tf.raw_ops.StatefulUniform(resource=_stack(), algorithm=int64(1), shape=[2]),
    "LookupTableSizeV2": lambda v: tf.raw_ops.LookupTableSizeV2(table_handle=v.handle),
    "LookupTableExportV2": lambda v: tf.raw_ops.LookupTableExportV2(
        table_handle=v.handle, Tkeys=tf.int64, Tvalues=tf.int64),
    "InitializeTableV2": lambda v: tf.raw_ops.InitializeTableV2(table_handle=v.handle, keys=["a"], values=[1]),
    "QueueCloseV2": lambda v: tf.raw_ops.QueueCloseV2(handle=v.handle),
    "QueueSizeV2": lambda v: tf.raw_ops.QueueSizeV2(handle=_stack()),
    "ReaderResetV2": lambda v: tf.raw_ops.ReaderResetV2(reader_handle=v.handle),
    "StackPushV2": lambda v: tf.raw_ops.StackPushV2(handle=v.handle, elem=1.0),
    "TensorArrayReadV3": lambda v: tf.raw_ops.TensorArrayReadV3(
        handle=v.handle, index=0, flow_in=0.0, dtype=tf.float32),
    "TensorMapSize": lambda v: tf.raw_ops.TensorMapSize(input_handle=_list()),
    "OptimizeDataset": lambda v: tf.raw_ops.OptimizeDataset(
        input_dataset=_list(), optimizations=[], output_types=[tf.int64], output_shapes=[[]]),
}  # fmt: skip


def int64(value):
    return tf.constant(value, tf.int64)


def in_function(call):
    """A function of a call, without a result of the call that is an operation."""

    def run(*args):
        result = call(*args)
        return None if isinstance(result, tf.Operation) else result

    return tf.function(run, autograph=False)


def _list():
    return tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32)


@pytest.mark.parametrize("name", WRONG_HANDLES)
def test_handles_of_something_else_are_refused(name):
    """As a file may pass them; TensorFlow raises InvalidArgumentError, too."""
    variable = tf.Variable([1.0])
    for call in (WRONG_HANDLES[name], in_function(WRONG_HANDLES[name])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected the handle of a \w+"):
            call(variable)


def test_gradients_of_other_shapes_are_refused():
    """Also where torch differentiates the op's kernel."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.raw_ops.CropAndResizeGradImage(
            grads=tf.ones([1, 2, 2, 3]), boxes=[[0.0, 0.0, 1.0, 1.0]] * 2, box_ind=[0, 0], image_size=[1, 4, 4, 3],
            T=tf.float32,
        )  # fmt: skip


def test_the_gradient_of_scaled_images_has_the_batch_and_channels_of_the_cotangents():
    result = tf.raw_ops.ScaleAndTranslateGrad(
        grads=tf.ones([2, 3, 3, 4]), original_image=tf.ones([1, 2, 2, 1]), scale=[1.0, 1.0], translation=[0.0, 0.0]
    )
    assert result.shape == [2, 2, 2, 4]


def test_texts_that_are_no_text():
    def call():
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[b"\xff"], destination_prefix="x")

    for function in (call, tf.function(call), tf.function(call, jit_compile=True)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="can't decode"):
            function()


@pytest.mark.parametrize("use", [
    lambda v: tf.raw_ops.ReadVariableOp(resource=v, dtype=tf.float32),
    lambda v: tf.raw_ops.AssignAddVariableOp(resource=v, value=[1.0, 2.0]),
    lambda v: tf.raw_ops.ResourceApplyGradientDescent(var=v, alpha=1.0, delta=[1.0, 2.0]),
    lambda v: tf.raw_ops.ResourceScatterNdUpdate(ref=v, indices=[[0]], updates=[1.0]),
    lambda v: tf.raw_ops.VariableShape(input=v),
])  # fmt: skip
def test_variables_without_a_value(use):
    variable = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2])
    assert "<unavailable>" in repr(variable)
    returned = tf.function(lambda: tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2]))()
    for read in (returned.numpy, returned.value, returned.read_value):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find variable"):
            read()
    for call in (use, in_function(use)):
        with pytest.raises((tf.errors.FailedPreconditionError, tf.errors.NotFoundError), match="Could not find"):
            call(variable)
    tf.raw_ops.AssignVariableOp(resource=variable, value=[1.0, 2.0])
    use(variable)


def test_values_of_optionals_have_the_expected_types():
    optional = tf.raw_ops.OptionalFromValue(components=[1.0, b"a"])
    assert tf.raw_ops.OptionalGetValue(
        optional=optional, output_types=[tf.float32, tf.string], output_shapes=[None, []]
    )[1].numpy() == b"a"  # fmt: skip
    for types, shapes, message in (
        ([tf.float32], [[]], "has 2 components, expected 1"),
        ([tf.int32, tf.string], [[], []], "type for component 0"),
        ([tf.float32, tf.float32], [[], []], "type for component 1. Expected: float32. Actual: string"),
        ([tf.string, tf.string], [[], []], "type for component 0. Expected: string. Actual: float32"),
        ([tf.float32, tf.string], [[], [3]], r"shape for component 1. Expected: \[3\]. Actual: \[\]"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.raw_ops.OptionalGetValue(optional=optional, output_types=types, output_shapes=shapes)
    for call in (
        lambda: tf.raw_ops.OptionalHasValue(optional=_list()),
        lambda: tf.raw_ops.OptionalGetValue(optional=_list(), output_types=[tf.float32], output_shapes=[[2]]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be an optional"):
            call()


def test_shape_rules_refuse_what_they_can_not_read():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.SparseConcat(
            indices=[tf.constant([1], tf.int64), tf.constant([2], tf.int64)], values=[[1.0, 2.0], [3.0]],
            shapes=[tf.constant([1], tf.int64), tf.constant([-(2**63)], tf.int64)], concat_dim=0,
        )  # fmt: skip
    with pytest.raises(ValueError, match="QuantizeAndDequantizeV4Grad"):
        tf.function(
            lambda: tf.raw_ops.QuantizeAndDequantizeV4Grad(
                gradients=tf.ones([2, 3]), input=tf.ones([2, 3]), input_min=-1.0, input_max=1.0, axis=-5
            )
        )()


@pytest.mark.parametrize("number", [2**31 - 1, -1])
def test_numbers_of_outputs(number):
    for call in (
        lambda: tf.raw_ops.Unpack(value=tf.ones([8, 4]), num=number),
        lambda: tf.raw_ops.Split(axis=0, value=tf.ones([0]), num_split=number),
    ):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
            tf.function(call)()


def test_scattering_into_a_variable_without_elements():
    variable = tf.Variable(tf.zeros([4, 3, 0]))
    tf.raw_ops.ResourceScatterNdSub(
        ref=variable.handle, indices=tf.zeros([2, 0], tf.int32), updates=tf.zeros([2, 4, 3, 0])
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="need updates of shape"):
        tf.raw_ops.ResourceScatterNdSub(
            ref=variable.handle, indices=tf.zeros([0], tf.int32), updates=tf.zeros([4, 3, 1])
        )


@pytest.mark.parametrize(("x", "source", "target", "message"), [
    (3, "NHWC", "NCHW", r"input must be a vector or 2D tensor, but got shape \[\]"),
    ([[[1, 2]] * 4], "NHWC", "NCHW", "input must be a vector or 2D tensor"),
    ([1, 2, 3], "NHWC", "NCHW", r"1D input must be of size 2 or 4, but got shape \[3\]"),
    ([1, 2, 3, 4, 5], "NHWC", "NCHW", "1D input must be of size 2 or 4"),
    ([[1, 2, 3]] * 4, "NHWC", "NCHW", r"Second dimension of 2D input must be of size 2, but got shape \[4, 3\]"),
    ([1, 2], "", "", "Source format must be of length 4 or 5, received src_format = "),
    ([1, 2], "NHWC", "HWC", "Destination format must be of length 4 or 5, received dst_format = HWC"),
    ([1, 2], "NHWC", "NNNN", "must determine a permutation, got NHWC and NNNN"),
])  # fmt: skip
def test_permutations_of_data_formats_are_checked(x, source, target, message):
    def permute(x):
        return tf.raw_ops.DataFormatVecPermute(x=x, src_format=source, dst_format=target)

    unknown = tf.function(permute, input_signature=[tf.TensorSpec(None, tf.int32)])
    for call in (permute, unknown):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
            call(tf.constant(x))
    if not message.startswith(("input", "1D", "Second")):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
            tf.raw_ops.DataFormatDimMap(x=[0], src_format=source, dst_format=target)


def test_permutations_of_data_formats_of_unknown_rank():
    permute = tf.function(
        lambda x: tf.raw_ops.DataFormatVecPermute(x=x, src_format="NDHWC", dst_format="NCWHD"),
        input_signature=[tf.TensorSpec(None, tf.int32)],
    )
    assert permute([1, 2, 3]).numpy().tolist() == [3, 2, 1]
    assert permute([1, 2, 3, 4, 5]).numpy().tolist() == [1, 5, 4, 3, 2]
    assert permute([[1, 2], [3, 4], [5, 6]]).numpy().tolist() == [[5, 6], [3, 4], [1, 2]]


ENCODED = tf.raw_ops.RaggedTensorToVariant(
    rt_nested_splits=[tf.constant([0, 1, 3], tf.int64)], rt_dense_values=[1.0, 2.0, 3.0], batched_input=False
)
COMPOSITE = tf.raw_ops.CompositeTensorVariantFromComponents(components=[[1.0], 2], metadata="")
UNFIT = {
    "no indices": lambda: tf.raw_ops.Merge(inputs=[]),
    "a single bin": lambda: tf.raw_ops.Mfcc(spectrogram=[[[0.0]]], sample_rate=16000),
    "a vector of states": lambda: tf.raw_ops.GRUBlockCellGrad(
        x=[1.0], h_prev=[[1.0]], w_ru=[[1.0]], w_c=[[1.0]], b_ru=[1.0], b_c=[1.0], r=[[1.0]], u=[[1.0]], c=[[1.0]],
        d_h=[[1.0]]),
    "a ragged tensor": lambda: tf.raw_ops.CompositeTensorVariantToComponents(
        encoded=ENCODED, metadata="", Tcomponents=[tf.float32]),
    "components of other types": lambda: tf.raw_ops.CompositeTensorVariantToComponents(
        encoded=COMPOSITE, metadata="", Tcomponents=[tf.float32, tf.float32]),
    "fewer components": lambda: tf.raw_ops.CompositeTensorVariantToComponents(
        encoded=COMPOSITE, metadata="", Tcomponents=[tf.float32]),
    "an element of another shape": lambda: tf.raw_ops.UncompressElement(
        compressed=tf.raw_ops.CompressElement(components=[[1.0]]), output_types=[tf.float32], output_shapes=[[2]]),
    "a ragged tensor of another rank": lambda: tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=ENCODED, input_ragged_rank=1, output_ragged_rank=3, Tvalues=tf.float32),
    "ragged values of another type": lambda: tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=ENCODED, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.int32),
    "a gathered rank": lambda: tf.raw_ops.RaggedGather(
        params_nested_splits=[tf.constant([0, 1, 3], tf.int64)], params_dense_values=[1.0, 2.0, 3.0], indices=[0, 1],
        OUTPUT_RAGGED_RANK=2),
    "indices of rank 3": lambda: tf.raw_ops.SparseReorder(
        input_indices=tf.zeros([2, 2, 2], tf.int64), input_values=tf.zeros([2, 2]),
        input_shape=tf.constant([3, 3], tf.int64)),
    "fewer indices than values": lambda: tf.raw_ops.SparseReorder(
        input_indices=tf.zeros([2, 2], tf.int64), input_values=tf.zeros([3]),
        input_shape=tf.constant([3, 3], tf.int64)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_arguments_that_do_not_fit_together(name):
    for call in (UNFIT[name], tf.function(UNFIT[name], autograph=False)):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            call()


def test_no_steps_of_an_lstm():
    results = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(0, tf.int64), x=tf.zeros([0, 2, 3]), cs_prev=tf.zeros([2, 4]), h_prev=tf.zeros([2, 4]),
        w=tf.zeros([7, 16]), wci=tf.zeros([4]), wcf=tf.zeros([4]), wco=tf.zeros([4]), b=tf.zeros([16]),
    )  # fmt: skip
    assert [result.shape.as_list() for result in results] == [[0, 2, 4]] * 7
