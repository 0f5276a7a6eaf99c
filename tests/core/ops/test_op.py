"""Registered ops: their declarations, and calls off the fast path. The ops here are declared by the tests."""

import itertools

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops import definition
from tapeflow.core.ops.definition import MANY, Op, ops
from tapeflow.core.ops.op import converting, gradient_of, not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.shape import TensorShape

NUMBERS = itertools.count()
SIGNATURE = "x:T -> y:T; attr=factor:float,default=2; attr=T:type"


@pytest.fixture(autouse=True)
def registry():
    """Removes the ops that a test declares."""
    before = dict(definition.registry), dict(definition.aliases)
    yield
    for known, saved in zip((definition.registry, definition.aliases), before, strict=True):
        known.clear()
        known.update(saved)


def declare(signature=SIGNATURE, **options):
    """Returns an op that multiplies."""

    @op(f"TestTimes{next(NUMBERS)}", shape=options.pop("shape", same), signature=signature, **options)
    def times(x, factor=2.0):
        """Multiplies."""
        return x * factor

    return times


def test_a_declared_op():
    times = declare()
    x = tf.constant([1.0, 3.0])
    assert times(x).numpy().tolist() == [2.0, 6.0] and times(x, 5.0).numpy().tolist() == [5.0, 15.0]
    assert times(3.0).numpy() == 6.0 and times([1, 2], 3).dtype is tf.int32
    name = times.op.name
    assert definition.find(name) is times.op and getattr(ops, name) is times and repr(times.op) == f"<op {name}>"
    assert times.op.kinds == ("tensor", "attr") and times.op.attr_names == {"factor": "factor"}
    assert times.op.uniform and times.op.single and not times.op.many and not times.op.several
    assert not times.op.elementwise and not times.op.stateful and not times.op.commutative
    assert times.__doc__ == "Multiplies." and times.__defaults__ == (2.0, None)

    @tf.function(autograph=False)
    def function(x):
        y = times(x, 4.0, name="named")
        assert y.op.name == "named" and y.op.type == name and y.shape.as_list() == [None]
        return y

    assert function.get_concrete_function(tf.TensorSpec([None]))(x).numpy().tolist() == [4.0, 12.0]


def test_gradients():
    times = declare()

    @times.gradient(needs="input0 shapes")
    def _(call, dy):
        assert list(call.shape(0)) == [2]
        return times(dy, call.attrs[0]) + 0.0 * call.inputs[0]

    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = times(x, 5.0)
    assert tape.gradient(y, x).numpy().tolist() == [5.0, 5.0]
    assert times.op.keep_inputs == (0,) and times.op.keep_shapes and not times.op.keep_all_inputs


def test_an_op_without_a_gradient_is_differentiated_by_torch():
    times, constant = declare(), declare()
    not_differentiable(constant)
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = times(x, 5.0), constant(x)
    assert tape.gradient(y, x).numpy().tolist() == [5.0, 5.0]
    assert tape.gradient(z, x) is None


@pytest.mark.parametrize(
    ("needs", "kept"),
    [
        ("", (False, (), False, False, False)),
        ("inputs", (True, (), False, False, False)),
        ("input0 input1", (False, (0, 1), False, False, False)),
        ("outputs", (False, (), True, False, False)),
        ("shapes dtypes", (False, (), False, True, True)),
        ("inputs outputs shapes", (True, (), True, True, False)),
    ],
)
def test_residuals(needs, kept):
    times = declare()
    gradient_of(times.op, needs, none_for_zero=True)(lambda call, dy: dy)
    op = times.op
    assert (op.keep_all_inputs, op.keep_inputs, op.keep_outputs, op.keep_shapes, op.keep_dtypes) == kept
    assert op.none_for_zero


@pytest.mark.parametrize("needs", ["input", "inputx", "output", "inputs x"])
def test_residuals_of_other_names(needs):
    with pytest.raises(TypeError, match=r"a gradient needs 'inputs', 'inputN', 'outputs', 'shapes' or 'dtypes'"):
        declare().gradient(needs=needs)


def test_declarations_that_are_refused():
    with pytest.raises(TypeError, match=r"no op has the traits \['other', 'unknown'\]"):
        declare(unknown=True, other=1, view=True)
    for refused in (
        lambda: declare("a:T, b:T, c:T -> y:T; attr=T:type"),  # too few parameters
        lambda: declare("x:T -> y:T; attr=scale:float; attr=T:type"),  # no attr has the parameter's name
        lambda: declare(host=("missing",)),
        lambda: declare(host=("factor",)),  # it is no input
    ):
        with pytest.raises(TypeError, match="does not match"):
            refused()
    with pytest.raises(LookupError, match="No op is named 'TestNoSuchOp'"):

        @op("TestNoSuchOp", shape=same)
        def missing(x):
            return x

    with pytest.raises(AttributeError, match="no op is registered as 'TestNoSuchOp'"):
        ops.TestNoSuchOp  # noqa: B018


def test_attrs_may_have_other_names():
    signature = SIGNATURE.replace("factor", "scale")
    times = declare(signature, rename={"factor": "scale"}, alias="TestAlias")
    assert times.op.attr_names == {"factor": "scale"} and definition.find("TestAlias") is times.op
    with tf.Graph().as_default():
        assert times(tf.constant(1.0), 3.0).op.get_attr("scale") == 3.0


def test_inputs_that_kernels_take_as_numbers():
    times = declare("x:T, factor:int32 -> y:T; attr=T:type", host=("factor",))
    assert times.op.kinds == ("tensor", "host")
    assert times(tf.constant([1.0, 2.0]), tf.constant(3)).numpy().tolist() == [3.0, 6.0]
    assert times(tf.constant([1.0]), np.int64(4)).numpy().tolist() == [4.0]
    assert times([1.0], 5).numpy().tolist() == [5.0]


def test_kernels_for_other_dtypes():
    def join(x, factor):
        return x[:1]

    @op(f"TestMoves{next(NUMBERS)}", shape=lambda x: TensorShape([1]), signature="x:T -> y:T; attr=T:type", moves=True)
    def first(x):
        return x[:1]

    for value in (["a", "b"], [1, 2], [True, False], [1j, 2]):
        assert first(tf.constant(value)).numpy().tolist() == tf.constant(value).numpy()[:1].tolist()
    assert declare(strings=join)(tf.constant(["a", "b"])).numpy().tolist() == [b"a"]
    with pytest.raises(tf.errors.UnimplementedError, match="has no kernel for string tensors"):
        declare()(tf.constant(["a", "b"]))


def test_kernels_for_many_elements():
    calls = []

    def many(x, y):
        calls.append(x.numel())
        return x + y

    signature = "x:T, y:T -> z:T; attr=T:type"

    @op(f"TestMany{next(NUMBERS)}", torch.add, shape=lambda x, y: x, signature=signature, for_many=lambda: many)
    def function(x, y, name=None):
        """Is a test's."""

    for size in (MANY - 1, MANY, MANY, MANY + 1):
        x = tf.ones([size])
        assert function(x, x).numpy().max() == 2.0
    assert calls == [MANY, MANY, MANY + 1]
    assert declare().op.kernel_for_many is None


def test_traits_are_attributes():
    times = declare(view=True, node_name="times", element=lambda b, x, factor: b.mul(x, factor))
    assert times.op.view is True and times.op.node_name == "times" and times.op.elementwise
    assert declare().op.view is False


@pytest.mark.parametrize(
    "error", [IndexError("index"), KeyError("key"), ZeroDivisionError("zero"), OverflowError("large")]
)
def test_errors_of_shape_rules(error):
    def shape(x, factor):
        raise error

    times = declare(shape=shape)
    said = f"{times.op.name} can't take these arguments: {type(error).__name__}: "
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        times.op.infer([tf.constant(1.0), 2.0], {}, 1)


def test_shapes_of_several_outputs():
    times = declare(shape=lambda x, factor: [[2], [None, 3]])
    assert times.op.infer([tf.constant(1.0), 2.0], {}, 2) == [TensorShape([2]), TensorShape([None, 3])]
    assert declare().op.infer([tf.zeros([4, 5]), 2.0], {}, 2) == [TensorShape([4, 5])] * 2


class Dispatching:
    """A program's own value."""

    def __init__(self, result):
        self.result = result

    def __tf_dispatch__(self, function, args):
        return self.result if self.result is NotImplemented else (self.result, function, args)


def test_values_of_a_programs_own_type():
    times = declare()
    mine = Dispatching("mine")
    assert times(mine, 3.0) == ("mine", times, (mine, 3.0))
    assert times([mine]) == ("mine", times, ([mine], 2.0))
    with pytest.raises(ValueError, match="mixed types"):  # the first one alone is asked
        times([1.0, mine])
    pack = ops.Pack
    assert pack([tf.constant(1.0), mine], 0)[:2] == ("mine", pack)
    add = ops.AddV2
    assert add(Dispatching(NotImplemented), mine)[0] == "mine"


def test_python_numbers_beside_tensors():
    add = ops.AddV2
    x = tf.constant([1, 2], tf.int64)
    assert add(x, 7919).numpy().tolist() == [7920, 7921]  # a number that no call has cached
    assert add.op.simplified((x, 3))[1].dtype is tf.int64 and add.op.simplified((x, 3))[0] is x
    assert add.op.simplified((3, x))[0].numpy() == 3
    for args in ((x, x), (1, 2), (x, 1.5), (x, [1]), ([1], 2)):
        assert add.op.simplified(args) is None
    assert add(x, 3).dtype is add(3, x).dtype is tf.int64


class Reflected:
    """A value that adds itself to tensors."""

    def __radd__(self, other):
        return "reflected"


def test_operands_that_reflect_the_operator():
    x = tf.constant([1.0])
    assert x + Reflected() == "reflected"
    for wrong in (object(), None):
        with pytest.raises((TypeError, ValueError)):
            x + wrong


def test_attrs_are_converted_before_the_op_sees_them():
    times = declare()
    public = converting(factor=float)(times)

    def declared(x, factor=2.0, name=None):
        """Is public."""

    public = public(declared) if not hasattr(public, "op") else public
    assert public(tf.constant([1.0]), "3").numpy().tolist() == [3.0]
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        times(tf.constant([1.0]), "3")


def test_arguments_by_their_kinds():
    concat, pad = ops.ConcatV2.op, ops.Pad.op
    a, b = tf.constant([1]), tf.constant([2])
    assert concat.kinds == ("list", "host") and pad.kinds == ("tensor", "host")
    found = concat.tensors([[a, b], 0])
    assert len(found) == 2 and found[0] is a and found[1] is b
    assert concat.statics([[a, b], 0]) == [0] and concat.hosts([[a, b], 0]) == [0]
    assert concat.with_tensors([1, 2, 3], ["axis"], 3) == [[1, 2, 3], "axis"]
    assert pad.with_tensors(["x"], ["paddings"]) == ["x", "paddings"]
    assert concat.map(str, [[1, 2], 0]) == [["1", "2"], 0]
    assert concat.map(str, [[1, 2], 0], host=lambda axis: axis - 1) == [["1", "2"], -1]
    assert concat.map(lambda x, y: x + y, [[1, 2], 0], [[10, 20], 5]) == [[11, 22], 5]
    assert declare().op.map(str, [1, 2.0], attr=lambda factor: -factor) == ["1", -2.0]
    bare = Op.__new__(Op)
    bare.kinds = None
    assert bare.tensors((1, 2)) == [1, 2] and bare.statics((1, 2)) == bare.hosts((1, 2)) == []
    assert bare.map(str, (1, 2)) == ["1", "2"]
