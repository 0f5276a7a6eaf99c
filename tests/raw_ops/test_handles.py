"""Ops on stacks, tensor arrays, maps, staging areas and accumulators; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf

R = tf.raw_ops
INVALID = tf.errors.InvalidArgumentError


# ---- stacks ----------------------------------------------------------------------------------------------------------


def new_stack(size=-1, dtype=tf.int32, name=""):
    return R.StackV2(max_size=size, elem_type=dtype, stack_name=name)


def test_stacks():
    stack = new_stack(2)
    for i in (3, 5):
        assert R.StackPushV2(handle=stack, elem=[i]).numpy().tolist() == [i]
    with pytest.raises(INVALID, match=r"overflowed its max_size \(2\)"):
        R.StackPushV2(handle=stack, elem=7)
    assert [R.StackPopV2(handle=stack, elem_type=tf.int32).numpy().tolist() for _ in range(2)] == [[5], [3]]
    with pytest.raises(INVALID, match="is empty when calling Pop"):
        R.StackPopV2(handle=stack, elem_type=tf.int32)
    R.StackPushV2(handle=stack, elem=1)
    R.StackCloseV2(handle=stack)


def test_stacks_without_a_bound():
    stack = new_stack(dtype=tf.string)
    for text in ("a", "b", "c"):
        R.StackPushV2(handle=stack, elem=text, swap_memory=True)
    assert [R.StackPopV2(handle=stack, elem_type=tf.string).numpy() for _ in range(3)] == [b"c", b"b", b"a"]
    with pytest.raises(INVALID, match=r"overflowed its max_size \(0\)"):
        R.StackPushV2(handle=new_stack(0), elem=1)


# ---- tensor arrays ---------------------------------------------------------------------------------------------------


class Array:
    """A tensor array by its ops."""

    def __init__(self, size, dtype=tf.float32, **options):
        self.dtype = dtype
        self.handle, self.flow = R.TensorArrayV3(size=size, dtype=dtype, **options)

    def write(self, index, value):
        value = tf.convert_to_tensor(value, self.dtype)
        self.flow = R.TensorArrayWriteV3(handle=self.handle, index=index, value=value, flow_in=self.flow)

    def read(self, index):
        return R.TensorArrayReadV3(handle=self.handle, index=index, flow_in=self.flow, dtype=self.dtype).numpy()

    def size(self):
        return int(R.TensorArraySizeV3(handle=self.handle, flow_in=self.flow))

    def gradient(self, source="g"):
        array = Array.__new__(Array)
        array.dtype = self.dtype
        array.handle, array.flow = R.TensorArrayGradV3(handle=self.handle, flow_in=self.flow, source=source)
        return array


def test_elements_of_arrays():
    array = Array(3, clear_after_read=False)
    array.write(2, [1.0, 2.0])
    array.write(0, [3.0, 4.0])
    with pytest.raises(INVALID, match="Could not write to TensorArray index 0 because it has already been written to"):
        array.write(0, [5.0, 6.0])
    assert [array.read(i).tolist() for i in (2, 0, 2)] == [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]] and array.size() == 3
    with pytest.raises(INVALID):
        array.read(1)  # never written
    for index in (3, -1):
        with pytest.raises(
            INVALID, match=f"Tried to write to index {index} but array is not resizeable and size is: 3"
        ):
            array.write(index, [0.0, 0.0])
        with pytest.raises(INVALID, match=f"Tried to read from index {index} but array size is: 3"):
            array.read(index)
    R.TensorArrayCloseV3(handle=array.handle)


def test_elements_are_read_once():
    array = Array(1)
    array.write(0, 5.0)
    assert array.read(0) == 5.0
    with pytest.raises(INVALID, match="Could not read index 0 twice because it was cleared after a previous read"):
        array.read(0)


def test_arrays_grow():
    array = Array(1, dynamic_size=True, clear_after_read=False)
    array.write(3, 7.0)
    array.write(1, 8.0)
    assert array.size() == 4 and (array.read(3), array.read(1)) == (7.0, 8.0)


@pytest.mark.parametrize(
    ("dtype", "values"), [(tf.int64, [[1, 2], [3, 4], [5, 6]]), (tf.string, [[b"a"], [b"b"], [b"c"]])]
)
def test_many_elements(dtype, values):
    array = Array(3, dtype, clear_after_read=False)
    value = tf.constant(values, dtype)
    array.flow = R.TensorArrayScatterV3(handle=array.handle, indices=[2, 0, 1], value=value, flow_in=array.flow)
    gather = lambda indices: R.TensorArrayGatherV3(  # noqa: E731
        handle=array.handle, indices=indices, flow_in=array.flow, dtype=dtype
    )
    assert gather([0, 1, 2]).numpy().tolist() == [values[1], values[2], values[0]]
    assert gather([2, 2]).numpy().tolist() == [values[0]] * 2 and gather([1]).numpy().tolist() == [values[2]]
    joined, lengths = R.TensorArrayConcatV3(handle=array.handle, flow_in=array.flow, dtype=dtype)
    assert joined.numpy().tolist() == [*values[1], *values[2], *values[0]]
    assert lengths.numpy().tolist() == [len(values[0])] * 3 and lengths.dtype == tf.int64


def test_pieces_of_a_tensor():
    array = Array(2, tf.int32, clear_after_read=False)
    array.flow = R.TensorArraySplitV3(
        handle=array.handle, value=[[1, 1], [2, 2], [3, 3]], lengths=tf.constant([1, 2], tf.int64), flow_in=array.flow
    )
    assert [array.read(i).tolist() for i in range(2)] == [[[1, 1]], [[2, 2], [3, 3]]]


def test_gradients_of_arrays_are_sums():
    array = Array(2, clear_after_read=False)
    array.write(0, [1.0, 2.0])
    array.write(1, [1.0, 2.0])
    gradients = array.gradient()
    gradients.write(0, [1.0, 10.0])
    gradients.write(0, [2.0, 20.0])
    again, other = array.gradient(), array.gradient("h")
    assert again.read(0).tolist() == [3.0, 30.0] and again.size() == 2
    assert again.read(1).tolist() == [0.0, 0.0] and other.read(0).tolist() == [0.0, 0.0]


def test_gradients_with_a_shape_before():
    array = Array(1, clear_after_read=False)
    array.write(0, [1.0, 2.0])
    handle, flow = R.TensorArrayGradWithShape(handle=array.handle, flow_in=array.flow, shape_to_prepend=[3], source="g")
    read = R.TensorArrayReadV3(handle=handle, index=0, flow_in=flow, dtype=tf.float32)
    assert read.shape == [3, 2] and not read.numpy().any()


# ---- maps ------------------------------------------------------------------------------------------------------------


def test_maps():
    empty = R.EmptyTensorMap()
    one = R.TensorMapInsert(input_handle=empty, key=1, value=[1.5])
    two = R.TensorMapInsert(input_handle=one, key=2, value=[2.5])
    again = R.TensorMapInsert(input_handle=two, key=1, value=[9.0])

    def look(handle, key):
        return R.TensorMapLookup(input_handle=handle, key=key, value_dtype=tf.float32).numpy().tolist()

    assert [int(R.TensorMapSize(input_handle=m)) for m in (empty, one, two, again)] == [0, 1, 2, 2]
    assert (look(two, 1), look(two, 2), look(again, 1)) == ([1.5], [2.5], [9.0])
    erased = R.TensorMapErase(input_handle=two, key=1, value_dtype=tf.float32)
    assert [bool(R.TensorMapHasKey(input_handle=erased, key=k)) for k in (1, 2)] == [False, True]
    assert bool(R.TensorMapHasKey(input_handle=two, key=1))
    keys = R.TensorMapStackKeys(input_handle=two, key_dtype=tf.int32).numpy().tolist()
    assert sorted(keys) == [1, 2]
    with pytest.raises(INVALID, match="Trying to lookup non-existent key"):
        look(one, 2)
    with pytest.raises(INVALID, match="Trying to erase non-existent item"):
        R.TensorMapErase(input_handle=one, key=2, value_dtype=tf.float32)


def test_keys_of_maps():
    handle = R.EmptyTensorMap()
    keys = [1, tf.constant(1, tf.int64), [1], [1, 2], "1", ["1"]]
    for i, key in enumerate(keys):
        handle = R.TensorMapInsert(input_handle=handle, key=key, value=float(i))
    assert int(R.TensorMapSize(input_handle=handle)) == len(keys)
    for i, key in enumerate(keys):
        assert R.TensorMapLookup(input_handle=handle, key=key, value_dtype=tf.float32).numpy() == i


# ---- staging areas ---------------------------------------------------------------------------------------------------


def test_stages():
    area = {"shared_name": "test_stages", "container": ""}
    dtypes = {"dtypes": [tf.int32, tf.string], **area}
    for i in range(3):
        R.Stage(values=[i, str(i)], **area)
    assert int(R.StageSize(**dtypes)) == 3
    assert [t.numpy() for t in R.StagePeek(index=1, **dtypes)] == [1, b"1"]
    assert [t.numpy() for t in R.Unstage(**dtypes)] == [0, b"0"] and int(R.StageSize(**dtypes)) == 2
    R.StageClear(**dtypes)
    assert int(R.StageSize(**dtypes)) == 0
    assert int(R.StageSize(dtypes=[tf.int32], shared_name="test_stages_of_another")) == 0


@pytest.mark.parametrize("prefix", ["", "Ordered"])
def test_stages_with_keys(prefix):
    area = {"dtypes": [tf.int32, tf.float32], "shared_name": f"keys {prefix}"}

    def op(name, **arguments):
        arguments = {k: tf.constant(v, tf.int64) if k == "key" else v for k, v in arguments.items()}
        return getattr(R, f"{prefix}Map{name}")(**{**area, **arguments})

    op("Stage", key=5, indices=[0, 1], values=[50, 5.5])
    op("Stage", key=3, indices=[1], values=[3.5])
    assert (int(op("Size")), int(op("IncompleteSize"))) == (1, 1)
    op("Stage", key=3, indices=[0], values=[30])
    op("Stage", key=4, indices=[0, 1], values=[40, 4.5])
    assert (int(op("Size")), int(op("IncompleteSize"))) == (3, 0)
    assert [t.numpy() for t in op("Peek", key=3, indices=[0, 1])] == [30, 3.5] and int(op("Size")) == 3
    key, element = op("UnstageNoKey", indices=[0, 1])
    if prefix:
        assert int(key) == 3
    assert [float(t) for t in element] == [int(key) * 10, int(key) + 0.5] and int(op("Size")) == 2
    left = next(k for k in (3, 4, 5) if k != int(key))
    assert [t.numpy() for t in op("Unstage", key=left, indices=[0], dtypes=[tf.int32])] == [left * 10]
    assert (int(op("Size")), int(op("IncompleteSize"))) == (1, 1)
    op("Clear")
    assert (int(op("Size")), int(op("IncompleteSize"))) == (0, 0)


# ---- accumulators ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reduction", "expected"), [("MEAN", [2.0, 4.0]), ("SUM", [4.0, 8.0])])
def test_gradients_are_accumulated(reduction, expected):
    handle = R.ResourceConditionalAccumulator(dtype=tf.float32, shape=[2], reduction_type=reduction)

    def apply(step, gradient):
        R.ResourceAccumulatorApplyGradient(handle=handle, local_step=tf.constant(step, tf.int64), gradient=gradient)

    def take(number=1):
        found = R.ResourceAccumulatorTakeGradient(handle=handle, num_required=number, dtype=tf.float32)
        return found.numpy().tolist()

    def count():
        return int(R.ResourceAccumulatorNumAccumulated(handle=handle))

    apply(0, [1.0, 3.0])
    apply(0, [3.0, 5.0])
    assert count() == 2 and take(2) == expected and count() == 0
    apply(0, [100.0, 100.0])  # the step is 1 now
    assert count() == 0
    apply(1, [7.0, 9.0])
    assert take() == [7.0, 9.0]
    R.ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=tf.constant(5, tf.int64))
    apply(4, [1.0, 1.0])
    assert count() == 0
    apply(5, [1.0, 1.0])
    assert count() == 1
    for number in (0, -1):
        with pytest.raises(INVALID, match=f"Argument num_required must be positive, but was {number}"):
            take(number)
