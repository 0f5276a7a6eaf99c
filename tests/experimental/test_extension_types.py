"""`tf.experimental.ExtensionType`, its specs and batches, and what is dispatched for it, as TensorFlow has them."""

import inspect
import typing
from collections.abc import Mapping

import numpy as np
import pytest

import tapeflow as tf

ExtensionType, BatchableExtensionType = tf.experimental.ExtensionType, tf.experimental.BatchableExtensionType


class Masked(ExtensionType):
    __name__ = "tapeflow_tests.Masked"
    values: tf.Tensor
    mask: tf.Tensor
    name: str = "n"


class Nested(ExtensionType):
    counts: tuple[int, ...]
    by_name: Mapping[str, tf.Tensor]
    scale: typing.Optional[float]  # noqa: UP045 (as most programs write it)
    kind: typing.Union[int, str]  # noqa: UP007
    dtype: tf.DType
    shape: tf.TensorShape
    inner: Masked
    pair: tuple[tf.Tensor, str]
    rows: tf.RaggedTensor
    flag: bool
    nothing: None


class Tree(ExtensionType):
    value: tf.Tensor
    child: typing.Optional["Tree"] = None


class Checked(ExtensionType):
    x: tf.Tensor
    y: tf.Tensor

    def __init__(self, x, y=None):
        self.x = x
        self.y = tf.zeros_like(x) if y is None else y

    def __validate__(self):
        self.x.shape.assert_is_compatible_with(self.y.shape)

    @property
    def shape(self):
        return self.x.shape


class WithSpec(ExtensionType):
    values: tf.Tensor

    class Spec:
        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)

        @property
        def shape(self):
            return self.values.shape


class Points(BatchableExtensionType):
    x: tf.Tensor
    y: tf.Tensor


class Rows(BatchableExtensionType):
    rows: tf.RaggedTensor
    at: Points


def masked(*values):
    return Masked(list(values), [True] * len(values))


def nested(**changes):
    fields = {
        "counts": [1, 2], "by_name": {"x": 1, "a": 2.0}, "scale": None, "kind": "s", "dtype": "float32",
        "shape": [1, None], "inner": masked(1), "pair": (1, "z"), "rows": tf.ragged.constant([[1], [2, 3]]),
        "flag": True, "nothing": None,
    }  # fmt: skip
    return Nested(**{**fields, **changes})


# ---- values ----------------------------------------------------------------------------------------------------------


def test_fields_are_converted_and_printed():
    m = Masked([1, 2], [True, False])
    assert repr(m) == (
        "Masked(values=<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>, "
        "mask=<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>, name='n')"
    )
    n = nested()
    assert n.counts == (1, 2) and n.dtype is tf.float32 and n.shape.as_list() == [1, None]
    assert repr(n.by_name).startswith("ImmutableDict({'x': <tf.Tensor") and n.pair[0].dtype is tf.int32
    assert tf.experimental.extension_type.as_dict(m)["name"] == "n"
    assert repr(Tree(1, Tree(2)).child).endswith("numpy=2>, child=None)")


def test_components_come_in_the_order_in_which_nests_are_flattened():
    class Ordered(tf.experimental.ExtensionType):
        y: tf.Tensor
        x: tf.Tensor
        parts: Mapping[str, tf.Tensor]
        _fields: tf.Tensor

    value = Ordered(1, 2, {"q": 3, "p": 4}, 5)
    assert [int(t) for t in tf.nest.flatten(value, expand_composites=True)] == [1, 2, 4, 3, 5]
    assert list(value.parts) == ["q", "p"]


def test_nothing_can_be_changed():
    m = masked(1)
    for change in (lambda: setattr(m, "values", 3), lambda: setattr(m, "other", 3), lambda: delattr(m, "values")):
        with pytest.raises(AttributeError, match=r"Cannot mutate attribute `\w+` outside the custom constructor"):
            change()
    with pytest.raises(TypeError, match="does not support item assignment"):
        nested().by_name["x"] = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Masked([1]), "missing a required argument: 'mask'"),
        (lambda: Masked(1, 2, "a", 4), "too many positional arguments"),
        (lambda: Masked(1, 2, foo=3), "got an unexpected keyword argument 'foo'"),
        (lambda: Masked(1, 2, 3), "name: expected 'str', got 'int'"),
        (lambda: nested(counts=[1, 2.5]), r"counts\[1\]: expected 'int', got 'float'"),
        (lambda: nested(by_name={2: 1.0}), r"by_name\[<key>\]: expected 'str', got 'int'"),
        (lambda: nested(scale=3), r"scale: expected (typing.Optional\[float\]|float \| None), got 'int'"),
        (lambda: nested(kind=2.5), r"kind: expected (typing.Union\[int, str\]|int \| str), got 'float'"),
        (lambda: nested(dtype="floaty"), "dtype: expected 'tf.DType', got 'str'"),
        (lambda: nested(inner=3), "inner: expected 'Masked', got 'int'"),
        (lambda: nested(pair=(1, "z", 2)), "pair: expected tuple with length 2"),
        (lambda: nested(rows=[1]), "rows: expected 'RaggedTensor', got 'list'"),
        (lambda: nested(flag=1), "flag: expected 'bool', got 'int'"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def define(annotation, **more):
    names = {"__annotations__": {"x": annotation}, "__module__": __name__, "__qualname__": "Made", **more}
    return type(ExtensionType)("Made", (ExtensionType,), names)


@pytest.mark.parametrize("annotation", [list[int], typing.Any, np.ndarray, object, tuple, tf.Variable, tf.TypeSpec])
def test_types_that_no_field_can_have(annotation):
    with pytest.raises(TypeError, match="In field 'x': Unsupported type annotation"):
        define(annotation)


def test_classes_that_are_refused():
    with pytest.raises(TypeError, match="default value for x: expected 'int', got 'str'"):
        define(int, x="s")
    with pytest.raises(ValueError, match=r"The field annotations for Made are invalid. Field 'self' is reserved"):
        define(int, __annotations__={"self": int})
    with pytest.raises(ValueError, match="Field y is missing a type annotation"):
        define(int, y=3)


def test_constructors_of_a_program():
    assert Checked([1, 2]).y.numpy().tolist() == [0, 0] and Checked([1, 2]).shape == [2]
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(1,\) are incompatible"):
        Checked([1, 2], [1])

    class Incomplete(ExtensionType):
        x: tf.Tensor
        y: tf.Tensor

        def __init__(self, x):
            self.x = x

    with pytest.raises(ValueError, match=r"Missing required fields: {'y'}"):
        Incomplete(1)


def test_subclasses_add_fields():
    class More(Masked):
        extra: int = 4

    assert list(inspect.signature(More).parameters) == ["values", "mask", "name", "extra"]
    assert More([1], [True]).extra == 4 and isinstance(More([1], [True]), Masked)


def test_equality_is_that_of_the_tensors():
    m = masked(1, 2)
    assert bool(m == masked(1, 2)) and not bool(m == masked(1, 3)) and bool(m != masked(1, 3))
    assert (m == masked(1)) is False and (m == 3) is False and (m == Masked([1, 2], [True, True], "other")) is False
    with pytest.raises(TypeError, match="unhashable type: 'Masked'"):
        hash(m)


# ---- specs -----------------------------------------------------------------------------------------------------------


def test_specs():
    spec = Masked.Spec(values=tf.TensorSpec([2]), mask=tf.TensorSpec(None, tf.bool), name="q")
    assert repr(spec) == (
        "Masked.Spec(values=TensorSpec(shape=(2,), dtype=tf.float32, name=None), "
        "mask=TensorSpec(shape=<unknown>, dtype=tf.bool, name=None), name='q')"
    )
    assert spec.is_compatible_with(Masked([1.0, 2.0], [True, False], "q")) and spec.value_type is Masked
    assert not spec.is_compatible_with(Masked([1.0, 2.0], [True, False]))
    assert tf.type_spec_from_value(masked(1)) == Masked.Spec.from_value(masked(2))
    common = tf.type_spec_from_value(masked(1)).most_specific_common_supertype([tf.type_spec_from_value(masked(1, 2))])
    assert common.values.shape.as_list() == [None] and issubclass(Masked.Spec, tf.experimental.ExtensionTypeSpec)
    with pytest.raises(TypeError, match=r"missing a required (keyword-only )?argument: 'name'"):
        Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec(None, tf.bool))
    assert "by_name={'x': TensorSpec(shape=(), " in repr(tf.type_spec_from_value(nested()))


def test_a_spec_of_the_program():
    assert WithSpec.Spec([2]).is_compatible_with(WithSpec([1.0, 2.0]))
    assert tf.type_spec_from_value(WithSpec([1.0])).shape.as_list() == [1]


# ---- functions, datasets, maps ---------------------------------------------------------------------------------------


def test_functions_take_and_give_them():
    traces = []

    @tf.function
    def doubled(m):
        traces.append(m.name)
        i = tf.constant(0)
        while i < 2:
            m = Masked(m.values * 2, m.mask, m.name)
            i += 1
        return m if tf.reduce_sum(m.values) > 100 else Masked(m.values + 1, m.mask, m.name)

    assert doubled(masked(1, 2)).values.numpy().tolist() == [5, 9]
    assert doubled(masked(3, 4)).values.numpy().tolist() == [13, 17] and traces == ["n"]
    doubled(Masked([1, 2], [True, True], "other"))
    assert traces == ["n", "other"]


def test_input_signatures():
    spec = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool), "n")
    function = tf.function(lambda m: m.values + 1, input_signature=[spec])
    assert function(masked(1)).numpy().tolist() == [2]
    with pytest.raises(TypeError, match="Binding inputs to"):
        function(Masked([1], [1]))


def test_nests_loops_and_gradients():
    m = masked(1.0, 2.0)
    assert [t.dtype for t in tf.nest.flatten(m, expand_composites=True)] == [tf.float32, tf.bool]
    assert tf.nest.flatten(m) == [m] and not tf.is_tensor(m)
    start = [tf.constant(0), m]
    _, after = tf.while_loop(lambda i, _: i < 3, lambda i, m: (i + 1, Masked(m.values * 2, m.mask)), start)
    assert after.values.numpy().tolist() == [8.0, 16.0]
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Masked(x, [True, True]).values * 3
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match=r"Attempt to convert a value \(Masked\("):
        tf.convert_to_tensor(m)


def test_saved_models_hold_functions_of_them(tmp_path):
    class Adder(tf.Module):
        @tf.function(input_signature=[Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), "n")])
        def add(self, m):
            return Masked(m.values + 1, m.mask)

    tf.saved_model.save(Adder(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    result = loaded.add(Masked([1.0], [True]))
    assert isinstance(result, Masked) and result.values.numpy().tolist() == [2.0]
    with pytest.raises(ValueError, match="No TypeSpec has been registered"):
        tf.type_spec_from_value(Tree(1)).experimental_as_proto()


def test_datasets_take_them_apart_and_stack_them():
    points = Points([[1, 2], [3, 4], [5, 6]], [1, 2, 3])
    ds = tf.data.Dataset.from_tensor_slices(points)
    assert [p.x.numpy().tolist() for p in ds] == [[1, 2], [3, 4], [5, 6]]
    batched = ds.map(lambda p: Points(p.x + 1, p.y)).batch(2)
    assert batched.element_spec.x.shape.as_list() == [None, 2]
    assert [p.x.shape.as_list() for p in batched] == [[2, 2], [1, 2]]
    assert [p.y.numpy().item() for p in batched.unbatch()] == [1, 2, 3]
    ragged = Rows(tf.ragged.constant([[[1], [2, 3]], [[4, 5, 6], []]]), Points([1, 2], [3, 4]))
    (back,) = tf.data.Dataset.from_tensor_slices(ragged).batch(2)
    assert back.rows.to_list() == ragged.rows.to_list() and back.at.y.numpy().tolist() == [3, 4]
    with pytest.raises(AttributeError, match="no attribute '_batch'"):
        tf.data.Dataset.from_tensors(masked(1)).batch(2)


def test_maps_take_slices_of_them_and_stack_them():
    points = Points([[1, 2], [3, 4]], [1, 2])
    assert tf.map_fn(lambda p: p.x * p.y, points, fn_output_signature=tf.int32).numpy().tolist() == [[1, 2], [6, 8]]
    mapped = tf.function(lambda p: tf.map_fn(lambda q: Points(q.x * 2, q.y), p))(points)
    assert mapped.x.numpy().tolist() == [[2, 4], [6, 8]]
    assert tf.vectorized_map(lambda p: p.x * p.y, points).numpy().tolist() == [[1, 2], [6, 8]]
    nested_ones = tf.vectorized_map(lambda t: t[0].y + t[1], (points, tf.constant([10, 20])))
    assert nested_ones.numpy().tolist() == [11, 22]
    ragged = Rows(tf.ragged.constant([[[1], [2, 3]], [[4, 5, 6], []]]), Points([1, 2], [3, 4]))
    again = tf.map_fn(lambda r: Rows(r.rows + 1, Points(r.at.x * 3, r.at.y)), ragged)
    assert again.rows.to_list() == [[[2], [3, 4]], [[5, 6, 7], []]] and again.at.x.numpy().tolist() == [3, 6]


# ---- dispatch --------------------------------------------------------------------------------------------------------


@pytest.fixture(name="register")
def registering():
    registered = []

    def register(decorator, function):
        registered.append(function)
        return decorator(function)

    yield register
    for function in registered:
        tf.experimental.unregister_dispatch_for(function)


def test_functions_of_a_program_for_apis(register):
    seen = []

    def add(x, y, name=None):
        seen.append(name)
        return Masked(x.values + y, x.mask)

    register(tf.experimental.dispatch_for_api(tf.add, {"x": Masked}), add)
    assert tf.add(masked(1), 2).values.numpy().tolist() == [3] and tf.add(x=masked(1), y=1, name="q").name == "n"
    assert tf.add(1, 2).numpy() == 3
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.add(1, masked(1))
    assert tf.function(tf.add)(masked(1), 3).values.numpy().tolist() == [4]


def test_functions_that_are_no_ops(register):
    def concat(values, axis, name="concat"):
        return Masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))

    register(tf.experimental.dispatch_for_api(tf.concat, {"values": typing.List[Masked]}), concat)  # noqa: UP006
    assert tf.concat([masked(1), masked(2, 3)], 0).values.numpy().tolist() == [1, 2, 3]
    assert tf.concat([[1], [2]], 0).numpy().tolist() == [1, 2]

    def softmax(logits: Masked, axis=None, name=None):
        return NotImplemented

    register(tf.experimental.dispatch_for_api(tf.nn.softmax), softmax)
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.nn.softmax(masked(1.0))


def test_classes_that_are_no_extension_types(register):
    class Length:
        def __init__(self, metres):
            self.metres = metres

    def negative(x, name=None):
        return Length(-x.metres)

    register(tf.experimental.dispatch_for_api(tf.negative, {"x": Length}), negative)
    assert tf.negative(Length(2)).metres == -2


def test_elementwise_functions(register):
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    def binary(api, x, y):
        return Masked(api(x.values, y if not isinstance(y, Masked) else y.values), x.mask)

    def check(api, x, y):
        return api(x.values, y.values)

    register(tf.experimental.dispatch_for_unary_elementwise_apis(Masked), unary)
    either = typing.Union[Masked, tf.Tensor, float]  # noqa: UP007
    register(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, either), binary)
    register(tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked), check)
    m = masked(1.0, -2.0)
    assert tf.abs(m).values.numpy().tolist() == [1.0, 2.0]
    assert tf.cast(m, tf.int32).values.dtype is tf.int32 and tf.clip_by_value(m, 0, 1).values.numpy().tolist() == [1, 0]
    np.testing.assert_allclose(tf.nn.gelu(m, approximate=True).values, tf.nn.gelu(m.values, approximate=True))
    assert tf.maximum(m, m).values.numpy().tolist() == [1.0, -2.0]
    assert tf.pow(m, 2.0).values.numpy().tolist() == [1.0, 4.0]
    tf.debugging.assert_equal(m, m)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(m, m)
    with pytest.raises(ValueError, match="has already been registered for"):
        tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(lambda api, x: x)
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.reduce_sum(m)


def test_several_that_fit(register):
    def one(x, y, name=None):
        return 1

    def two(x, y, name=None):
        return 2

    register(tf.experimental.dispatch_for_api(tf.subtract, {"x": Masked}), one)
    register(tf.experimental.dispatch_for_api(tf.subtract, {"y": Masked}), two)
    assert tf.subtract(masked(1), 1) == 1 and tf.subtract(1, masked(1)) == 2
    with pytest.raises(ValueError, match="Multiple dispatch targets that were registered"):
        tf.subtract(masked(1), masked(1))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda f: tf.experimental.dispatch_for_api(tf.add, {"z": Masked})(f), "annotation for unknown parameter 'z'"),
        (lambda f: tf.experimental.dispatch_for_api(tf.abs, {"x": Masked})(f), "does not match API's signature"),
        (lambda f: tf.experimental.dispatch_for_api(tf.add)(f), "must be called with at least one signature"),
        (lambda f: tf.experimental.dispatch_for_api(len, {"x": Masked})(f), "does not support dispatch"),
        (lambda f: tf.experimental.dispatch_for_api(tf.add, {"x": 3})(f), "annotation 3 is not currently supported"),
        (tf.experimental.unregister_dispatch_for, r"was not registered using a `@dispatch_for_\*` decorator"),
    ],
)
def test_what_can_not_be_registered(attempt, message):
    def function(x, y, name=None):
        return x

    with pytest.raises(ValueError, match=message):
        attempt(function)


def test_lists_in_the_place_of_a_tensor(register):
    register(tf.experimental.dispatch_for_api(tf.subtract, {"x": list[Masked]}), lambda x, y, name=None: len(x))
    assert tf.subtract([masked(1), masked(2)], 1) == 2


def test_slices_of_extension_types_hold_tensors():
    points = Points([[1.0, 2.0], [3.0, 4.0]], [1, 2])
    for point in tf.data.Dataset.from_tensor_slices(points):
        assert isinstance(point.x, tf.Tensor) and isinstance(point.y, tf.Tensor)
    for point in tf.data.Dataset.from_tensors(points).unbatch():
        assert isinstance(point.x, tf.Tensor) and isinstance(point.y, tf.Tensor)
    mapped = tf.data.Dataset.from_tensor_slices(points).map(lambda p: p.x)
    assert [x.numpy().tolist() for x in mapped] == [[1, 2], [3, 4]]
