"""Kernels on dtypes that ATen lacks, on strings, and their errors. Errors of torch are raised by kernels made here."""

import itertools

import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops import definition, kernels
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.values.strings import StringArray

NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def registry():
    """Removes the ops that a test declares."""
    before = dict(definition.registry)
    yield
    definition.registry.clear()
    definition.registry.update(before)


def declare(kernel, signature="x:T, y:T -> z:T; attr=T:type", shape=None, **options):
    """Returns an op of two tensors with a kernel."""

    @op(f"TestKernel{next(NUMBERS)}", kernel, shape=shape or (lambda x, y: x), signature=signature, **options)
    def function(x, y, name=None):
        """Is a test's."""

    return function


def wide_only(function, dtypes, seen=None):
    """Returns a kernel that takes tensors of some dtypes alone, as ATen's do."""

    def kernel(*values):
        for value in values:
            if isinstance(value, torch.Tensor) and value.dtype not in dtypes:
                raise NotImplementedError(f'"kernel" not implemented for {value.dtype}')
        if seen is not None:
            seen.append([v.dtype for v in values if isinstance(v, torch.Tensor)])
        return function(*values)

    return kernel


@pytest.mark.parametrize("dtype", kernels.COMPUTE_IN)
def test_values_are_computed_in_another_dtype(dtype):
    seen, wide = [], kernels.COMPUTE_IN[dtype]
    add = declare(wide_only(torch.add, {wide}, seen))
    x = torch.tensor([1, 0, 1]).to(dtype)
    found = add(tf.convert_to_tensor(x), tf.convert_to_tensor(x))
    assert found.value.dtype == dtype and seen == [[wide, wide]]
    assert found.numpy().tolist() == ([True, False, True] if dtype is torch.bool else [2, 0, 2])


def test_sums_wrap_in_the_wider_dtype():
    add = declare(wide_only(torch.add, {torch.int32, torch.int64}))
    assert add(tf.constant([250], tf.uint8), tf.constant([10], tf.uint8)).numpy().tolist() == [4]
    assert add(tf.constant([-128], tf.int8), tf.constant([-1], tf.int8)).numpy().tolist() == [127]


def test_other_inputs_keep_their_dtype():
    seen = []
    kernel = wide_only(lambda x, y: x * y.to(x.dtype), {torch.int32, torch.float64}, seen)
    times = declare(kernel, "x:T, y:U -> z:T; attr=T:type; attr=U:type")
    found = times(tf.constant([3], tf.int16), tf.constant([2.0], tf.float64))
    assert found.dtype is tf.int16 and found.numpy().tolist() == [6] and seen == [[torch.int32, torch.float64]]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.uint16, torch.uint32, torch.uint64])
def test_moves_view_the_bits(dtype):
    seen = []
    kernel = wide_only(lambda x, i: x[i], {*kernels.SAME_BITS.values(), torch.int64}, seen)
    take = declare(kernel, "x:T, i:int64 -> z:T; attr=T:type", moves=True)
    value = torch.tensor([1.0, 2.0, 3.0]).to(dtype)
    found = take(tf.convert_to_tensor(value), tf.constant([2, 0], tf.int64))
    assert found.value.dtype == dtype and found.value.float().tolist() == [3.0, 1.0]
    assert seen[-1] == [kernels.SAME_BITS[dtype.itemsize], torch.int64]


def test_unsigned_integers_are_ordered():
    kernel = wide_only(torch.maximum, {torch.int64})
    large, small = 2**63 + 5, 3
    greatest = declare(kernel, orders=True)
    found = greatest(tf.constant([large, small], tf.uint64), tf.constant([small, small], tf.uint64))
    assert found.numpy().tolist() == [large, small] and found.dtype is tf.uint64
    less = declare(wide_only(torch.lt, {torch.int64}), "x:T, y:T -> z:bool; attr=T:type", orders=True)
    assert less(tf.constant([large], tf.uint64), tf.constant([small], tf.uint64)).numpy().tolist() == [False]
    own = declare(torch.add, uint64=lambda x, y: x.clone())
    assert own(tf.constant([7], tf.uint64), tf.constant([1], tf.uint64)).numpy().tolist() == [7]
    assert own(tf.constant([7], tf.int64), tf.constant([1], tf.int64)).numpy().tolist() == [8]


def test_results_have_the_registered_dtypes():
    kernel = lambda x, y: (x.double(), y.to(torch.int32))  # noqa: E731
    pair = declare(kernel, "x:T, y:T -> a:T, b:int64; attr=T:type", lambda x, y: [x, y])
    a, b = pair(tf.constant([1.5]), tf.constant([2.0]))
    assert (a.dtype, b.dtype) == (tf.float32, tf.int64) and a.value.dtype == torch.float32
    assert b.value.dtype == torch.int64 and b.numpy().tolist() == [2]
    wrong = declare(lambda x, y: x, "x:T, y:T -> z:string; attr=T:type")
    with pytest.raises(tf.errors.UnimplementedError, match="is not implemented for string"):
        wrong(tf.constant([1.0]), tf.constant([1.0]))
    assert declare(lambda x, y: None, "x:T, y:T -> ; attr=T:type")(tf.constant(1.0), tf.constant(1.0)) is None


@pytest.mark.parametrize("count", [2, 40])
def test_strings_are_moved_by_their_places(count):
    texts = [b"%d" % i for i in range(count)]
    x, rest = tf.constant(texts), tf.constant([b"x"] * count)
    assert tf.reverse(x, [0]).numpy().tolist() == texts[::-1]
    assert tf.pad(x, [[1, 0]]).numpy().tolist() == [b"", *texts]
    assert tf.stack([x, rest]).numpy().tolist() == [texts, [b"x"] * count]
    a, b = tf.split(x, 2)
    assert a.numpy().tolist() == texts[: count // 2] and b.numpy().tolist() == texts[count // 2 :]
    assert tf.reverse(x[:0], [0]).numpy().tolist() == []
    pick = declare(lambda x, y: (torch.cat([x, y])[:3], y.new_ones(1)), "x:T, y:T -> a:T, b:int64; attr=T:type",
                   lambda x, y: [[3], [1]], moves=True)  # fmt: skip
    first, number = pick(x, rest)
    assert first.numpy().tolist() == [*texts, b"x"][:3] and number.numpy().tolist() == [1]


def test_ops_without_a_kernel_for_strings():
    add = declare(torch.add)
    with pytest.raises(tf.errors.UnimplementedError, match=f"{add.op.name} has no kernel for string tensors"):
        add(tf.constant(["a"]), tf.constant(["b"]))
    joined = declare(torch.add, strings=lambda x, y: StringArray.of([*map(bytes.__add__, x.flat, y.flat)]))
    assert joined(tf.constant(["a"]), tf.constant(["b"])).numpy().tolist() == [b"ab"]
    with pytest.raises(TypeError, match="moves nothing"):
        kernels._moved_dtype(ops.Shape.op, [1])


def failing(error):
    """Returns an op whose kernel raises an error."""

    def kernel(x, y):
        raise error

    return declare(kernel)


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (RuntimeError("some reason\nand more"), "InvalidArgumentError",
         r"can't take x: float32\[2\], y: float32\[\]: some reason \[Op:"),
        (NotImplementedError("no reason"), "UnimplementedError", "can't take x: .*: no reason"),
        (RuntimeError('"add_cpu" not implemented for Half'), "UnimplementedError", "not implemented for Half"),
        (RuntimeError("it is not supported"), "UnimplementedError", "it is not supported"),
        (RuntimeError("torch.add and at::add and aten::add"), "InvalidArgumentError", ": add and add and add"),
        (RuntimeError(""), "InvalidArgumentError", "RuntimeError"),
        (RuntimeError("integer multiplication overflow"), "InvalidArgumentError", "would have more than 2\\*\\*63 - 1"),
        (MemoryError("x"), "ResourceExhaustedError", r"OOM when allocating tensor with shape\[2\] and type float"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 80 bytes"),
         "ResourceExhaustedError", r"shape\[2\] and type float: tried to allocate 80 bytes"),
        (ValueError("array is too big"), "ResourceExhaustedError", "OOM when allocating"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "InvalidArgumentError", "Expected text: "),
        (IndexError("an index"), "InvalidArgumentError", "can't take x: .*: an index"),
        (tf.errors.NotFoundError(None, None, "own"), "NotFoundError", r"^own \[Op:TestKernel\d+\] name: here$"),
    ],
)  # fmt: skip
def test_errors_of_kernels(error, kind, said):
    add = failing(error)
    with pytest.raises(getattr(tf.errors, kind), match=said) as raised:
        add(tf.constant([1.0, 2.0]), tf.constant(1.0), name="here")
    assert "name: here" in str(raised.value) and f"[Op:{add.op.name}]" in str(raised.value)


def test_errors_that_stay_as_they_are():
    with pytest.raises(ValueError, match=r"^own words$") as raised:
        failing(ValueError("own words"))(tf.constant(1.0), tf.constant(1.0))
    assert type(raised.value) is ValueError


def test_the_error_of_the_shape_rule_comes_first():
    def shape(x, y):
        raise ValueError("the rule says so")

    def kernel(x, y):
        raise RuntimeError("torch says so")

    with pytest.raises(tf.errors.InvalidArgumentError, match="the rule says so"):
        declare(kernel, shape=shape)(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])


def test_values_are_described():
    assert kernels.describe(tf.zeros([2, 3])) == "float32[2, 3]" and kernels.describe("a") == "'a'"
    assert kernels.describe([tf.zeros([]), tf.zeros([1], tf.int32)]) == "[float32[], int32[1]]"
    assert kernels.describe([]) == "[]" and kernels.describe([1, 2]) == "[1, 2]" and kernels.describe(None) == "None"


def test_tensors_on_one_device():
    x, y = torch.ones(2), torch.ones(2, device="meta")
    assert kernels.on_same_device([x, [x, 3], "a"]) is None
    moved = kernels.on_same_device([x, [y, 3]])
    assert moved[0].device.type == moved[1][0].device.type == "meta" and moved[1][1] == 3
    calls = []

    def kernel(*values, **named):
        calls.append((values, named))
        if len(calls) == 1:
            raise RuntimeError("two devices")
        return "result"

    assert kernels.on_one_device(kernel)(x, [y], alpha=3) == "result"
    assert calls[1][0][0].device.type == "meta" and calls[1][1] == {"alpha": 3}
    calls.clear()
    with pytest.raises(RuntimeError, match="two devices"):
        kernels.on_one_device(kernel)(x)
    first, rest = kernels.on_cpu(lambda a, b: (a, b))(x, [x, 1])
    assert first.tolist() == rest[0].tolist() == [1.0, 1.0] and rest[1] == 1
