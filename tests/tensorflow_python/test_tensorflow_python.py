"""The names inside TensorFlow that TensorFlow Probability and Keras 2 import, as they import them."""

import abc
import collections
import importlib
import inspect
import os
import sys
import unittest.mock

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import tensorflow_python
from tapeflow.core.types.spec import DenseSpec, VariableSpec
from tapeflow.tensorflow_python import (
    conversion,
    decorators,
    eager_context,
    exporting,
    gradient_registry,
    keras_2,
    list_ops,
    monitoring,
    names,
    nests,
    object_identity,
    tracking,
    type_specs,
)

Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize("name", sorted(tensorflow_python.MODULES))
def test_every_name_is_where_the_table_says(name):
    tf.install_as_tensorflow()
    module = importlib.import_module(name)
    for attribute in tensorflow_python.MODULES[name].keys() - {"*"}:
        getattr(module, attribute)
    with pytest.raises(
        AttributeError, match=r"nothing_of_that_name, for which .* asks: it is not public in TensorFlow"
    ):
        module.nothing_of_that_name  # noqa: B018 (asking is the point)


# ---- structures ------------------------------------------------------------------------------------------------------

DEEP = {"b": [1, (2, 3)], "a": Point([4], 5)}
SHALLOW = {"b": [0, 0], "a": Point(0, 0)}


def test_structures_up_to_a_shallower_one():
    assert nests.flatten_up_to(SHALLOW, DEEP) == [[4], 5, 1, (2, 3)]
    assert nests.map_structure_up_to(SHALLOW, lambda v, w: (v, w), DEEP, DEEP)["b"] == [(1, 1), ((2, 3), (2, 3))]
    assert nests.flatten_with_tuple_paths(DEEP)[0] == (("a", "x", 0), 4)
    assert nests.flatten_with_joined_string_paths(DEEP)[-1] == ("b/1/1", 3)
    assert list(nests.yield_flat_paths([1, [2]])) == [(0,), (1, 0)]
    paths = nests.map_structure_with_tuple_paths(lambda path, v: (*path, v), {"a": [1, 2]})
    assert paths == {"a": [("a", 0, 1), ("a", 1, 2)]}
    assert nests.list_to_tuple([1, {"a": [2]}]) == (1, {"a": (2,)})


@pytest.mark.parametrize(
    ("shallow", "deep", "error", "message"),
    [
        ([0], 1, TypeError, "input must also be a sequence"),
        ([0], (1,), TypeError, "don't have the same sequence type"),
        ([0], [1, 2], ValueError, "don't have the same sequence length"),
        ({"a": 0}, {"b": 1}, ValueError, "keys are not a subset"),
    ],
)
def test_structures_that_are_no_part_of_another(shallow, deep, error, message):
    with pytest.raises(error, match=message):
        nests.assert_shallow_structure(shallow, deep)


def test_the_upper_part_that_a_function_asks_for():
    found = nests.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), [1, (2, 3), [4]])
    assert found == [True, False, [True]]
    with pytest.raises(TypeError, match="traverse_fn returned structure"):
        nests.get_traverse_shallow_structure(lambda s: [True], 1)


def test_structures_of_named_tuples():
    assert nests._sequence_like(Point(0, 0), [1, 2]) == Point(1, 2) and nests._sequence_like((0, 0), [1, 2]) == (1, 2)
    assert nests._sequence_like({"b": 1, "a": 2}, [1, 2]) == {"b": 2, "a": 1}
    nests.assert_shallow_structure((0, 0), Point(1, 2))  # a named tuple is a tuple
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        nests.assert_shallow_structure(Point(0, 0), (1, 2))
    derived = type("Derived", (Point,), {})
    assert nests._is_namedtuple(derived(1, 2)) and not nests._is_namedtuple(derived(1, 2), strict=True)
    flat = nests.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d"))})
    assert flat == {4: "a", 5: "b", 6: "c", 8: "d"}
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1"):
        nests.flatten_dict_items({(1, 2): (3,)})
    with pytest.raises(ValueError, match="this key is not unique: 1"):
        nests.flatten_dict_items({1: 2, (1, 3): (4, 5)})


# ---- specs of classes of a library -----------------------------------------------------------------------------------


class Pair(tf.__internal__.CompositeTensor):
    def __init__(self, left, right):
        self.left, self.right = left, right

    @property
    def _type_spec(self):
        return PairSpec(*map(tf.type_spec_from_value, (self.left, self.right)))

    def _convert_variables_to_tensors(self):
        return Pair(*type_specs.convert_variables_to_tensors([self.left, self.right]))


@type_specs.register("tapeflow_tests.Pair")
class PairSpec(type_specs.BatchableTypeSpec):
    def __init__(self, left, right):
        self._specs = left, right

    value_type = Pair
    _component_specs = property(lambda self: self._specs)

    def _to_components(self, value):
        return value.left, value.right

    def _from_components(self, components):
        return Pair(*components)

    def _serialize(self):
        return self._specs


class BatchedPair(Pair):
    @property
    def _type_spec(self):
        return BatchedPairSpec(*map(tf.type_spec_from_value, (self.left, self.right)))

    def _convert_variables_to_tensors(self):
        return BatchedPair(*type_specs.convert_variables_to_tensors([self.left, self.right]))


@type_specs.register("tapeflow_tests.BatchedPair")
class BatchedPairSpec(PairSpec):
    value_type = BatchedPair

    def _from_components(self, components):
        return BatchedPair(*components)

    def _batch(self, size):
        return BatchedPairSpec(*[s._batch(size) for s in self._specs])

    def _unbatch(self):
        return BatchedPairSpec(*[s._unbatch() for s in self._specs])


class Shifted(tf.Module, tf.__internal__.CompositeTensor):
    """A variable plus one: like a tensor to its users, with the spec of a dense value."""

    def __init__(self, variable):
        self.variable = variable

    @property
    def _type_spec(self):
        return ShiftedSpec(self.variable.shape, self.variable.dtype)


class ShiftedSpec(DenseSpec):
    value_type = Shifted

    @property
    def _component_specs(self):
        return {"variable": VariableSpec(self.shape, self.dtype)}

    def _to_components(self, value):
        return {"variable": value.variable}

    def _from_components(self, components):
        return Shifted(**components)


def test_dense_values_of_a_library_are_composite():
    @tf.function
    def function(shifted):
        assert type(shifted) is Shifted and len(shifted.trainable_variables) == 1
        shifted.variable.assign_add([1.0, 1.0])
        return shifted

    shifted = Shifted(tf.Variable([1.0, 2.0]))
    assert type(function(shifted)) is Shifted
    assert shifted.variable.numpy().tolist() == [2.0, 3.0]


def test_specs_of_values_that_are_stacked():
    specs = [tf.TensorSpec([2]), tf.RaggedTensorSpec([2, None]), tf.SparseTensorSpec([2]), BatchedPairSpec(1, 2)]
    assert all(isinstance(spec, type_specs.BatchableTypeSpec) for spec in specs)
    others = [tf.OptionalSpec(specs[0]), tf.IndexedSlicesSpec(), VariableSpec([2])]
    assert not any(isinstance(spec, type_specs.BatchableTypeSpec) for spec in others)


def test_composite_values_of_a_library():
    pair = Pair(tf.constant([1.0]), tf.constant(2))
    assert tf.function(lambda p: p.left * 2)(pair).numpy().tolist() == [2.0]
    assert [t.dtype for t in tf.nest.flatten(pair, expand_composites=True)] == [tf.float32, tf.int32]
    spec = tf.type_spec_from_value(pair)
    assert spec._TypeSpec__is_compatible(spec._serialize(), spec._serialize())
    assert hash(spec._TypeSpec__make_cmp_key(spec._serialize())) == hash(spec._TypeSpec__make_cmp_key(spec._specs))
    assert type(spec).experimental_from_proto(spec.experimental_as_proto()) == spec
    converted = type_specs.convert_variables_to_tensors({"a": tf.Variable(1.0), "b": Pair(tf.Variable(2.0), 3)})
    assert tf.is_tensor(converted["a"]) and tf.is_tensor(converted["b"].left) and converted["b"].right == 3


# ---- functions, names, values ----------------------------------------------------------------------------------------


def test_a_function_has_the_parameters_that_its_decorator_declares(tmp_path):
    """Keras 2 saves each layer's call under a decorator with the call's parameters."""

    class Layer(tf.Module):
        def call(self, inputs, training=False, mask=None):
            return inputs * (2.0 if training else 1.0)

    module = Layer()
    declared = decorators.getfullargspec(module.call)
    made = decorators.make_decorator(module.call, lambda *a, **k: module.call(*a, **k), decorator_argspec=declared)
    again = decorators.make_decorator(made, lambda *a, **k: made(*a, **k))
    assert str(inspect.signature(made)) == str(inspect.signature(again)) == "(inputs, training=False, mask=None)"
    module.f = tf.function(again)
    for training in (True, False):
        module.f.get_concrete_function(tf.TensorSpec([None], tf.float32), training=training, mask=None)
    tf.saved_model.save(module, tmp_path)
    f = tf.saved_model.load(tmp_path).f
    x = tf.constant([1.0])
    assert [r.numpy().tolist() for r in (f(x), f(x, True), f(inputs=x, training=True, mask=None), f(x, mask=None))] == [
        [1.0], [2.0], [2.0], [1.0],
    ]  # fmt: skip
    everything = inspect.getfullargspec(lambda a, b=1, *c, d, e=2, **f: None)
    made = decorators.make_decorator(print, lambda *a, **k: None, decorator_argspec=everything)
    assert str(inspect.signature(made)) == "(a, b=1, *c, d, e=2, **f)"


def test_decorated_functions():
    def target(x: int):
        """Text."""
        return x

    made = decorators.make_decorator(target, lambda *args: target(*args) + 1, "plus_one")
    found, inner = decorators.unwrap(made)
    assert made(1) == 2 and made.__doc__ == "Text." and inner is target
    assert [d.decorator_name for d in found] == ["plus_one"] and decorators.unwrap(target) == ([], target)
    assert decorators.getfullargspec(target).annotations == {}
    assert decorators.getargspec(made) == (["x"], None, None, None)

    class Layer:
        def __init__(self, units=3, *args, name, **kwargs): ...

        def __call__(self, inputs): ...

    assert decorators.getargspec(Layer) == (["self", "units", "name"], "args", "kwargs", (3,))
    assert decorators.getargspec(Layer(name="")).args == ["self", "inputs"]


def test_public_names():
    @exporting.keras_export("keras.layers.Thing", "keras.Thing")
    class Thing:
        pass

    assert exporting.get_canonical_name_for_symbol(Thing) == "keras.layers.Thing"
    assert exporting.get_canonical_name_for_symbol(Point) is None
    assert exporting.get_symbol_from_name("math.add") is tf.math.add and exporting.get_symbol_from_name("no.no") is None


def test_conversion():
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert conversion.convert_to_tensor_or_composite(ragged) is ragged
    assert conversion.convert_to_tensor_or_composite(1, tf.int64).dtype is tf.int64
    assert conversion.constant_value_as_shape(tf.constant([2, -1])).as_list() == [2, None]
    assert conversion.pfor(lambda i: i * 2, 3).numpy().tolist() == [0, 2, 4]
    drawn = conversion.parameterized_truncated_normal([1000], 5.0, 1.0, 4.0, 6.0, seed=1).numpy()
    assert drawn.min() >= 4.0 and drawn.max() <= 6.0 and abs(drawn.mean() - 5.0) < 0.1
    x = tf.constant(1.0)
    assert tf.function(lambda v: conversion.with_dependencies([tf.no_op()], v))(x).numpy() == 1.0


def test_attributes_that_are_no_children():
    module = tf.Module()
    with tracking.no_automatic_dependency_tracking_scope(module):
        module.plain = [1]
    module.tracked = [1]
    assert type(module.plain) is list and type(module.tracked) is not list


def test_whether_a_tape_watches():
    x, v = tf.constant(1.0), tf.Variable(1.0)
    watched = eager_context.should_record_backprop
    with tf.GradientTape() as tape:
        assert not watched([x]) and watched([tf.convert_to_tensor(v)])
        tape.watch(x)
        assert watched([x]) and watched([tf.constant(2.0), x * 2.0]) and not watched([])
    assert not watched([x])


def test_modules_are_attributes_of_their_packages():
    tf.install_as_tensorflow()
    import tensorflow.python as internal

    assert internal.eager.tape is importlib.import_module("tensorflow.python.eager.tape")
    assert not hasattr(internal, "nothing")


def test_a_variable_that_wraps_another():
    class Kind(abc.ABC):
        @abc.abstractmethod
        def value(self): ...

    class Doubled(tf.Variable, Kind):
        def __init__(self, variable):
            self.variable = variable

        def value(self):
            return 2.0 * self.variable._dense_var_to_tensor()

    Doubled._OverloadAllOperators()
    doubled = Doubled(tf.Variable([1.0, 2.0]))
    assert (doubled + 1.0).numpy().tolist() == [3.0, 5.0] and (1.0 - doubled)[0].numpy() == -1.0
    assert doubled[1].numpy() == 4.0 and conversion.slice_of_variable(doubled, 0).numpy() == 2.0
    with pytest.raises(ValueError, match="Incompatible type conversion"):
        doubled.variable._dense_var_to_tensor(tf.int32)


def test_a_class_that_derives_from_an_abstract_variable():
    class Constant(tf.Variable):
        def __init__(self):
            with pytest.raises(NotImplementedError):
                super().__init__(name="constant")

    assert isinstance(Constant(), tf.Variable)


def test_lists_of_tensors():
    entries = list_ops.tensor_list_reserve([None, 2], 2, tf.float32)
    entries = list_ops.tensor_list_set_item(entries, 0, tf.ones([1, 2]))
    entries = list_ops.tensor_list_set_item(entries, 1, tf.zeros([3, 2]))
    assert list_ops.tensor_list_concat(entries, tf.float32).shape == [4, 2]
    assert list_ops.tensor_list_get_item(entries, 1, tf.float32, [None, 2]).shape == [3, 2]
    assert list_ops.tensor_list_element_shape(entries, tf.int32).numpy().tolist() == [-1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Item element shape: \\[3\\] list shape: \\[\\?,2\\]"):
        list_ops.tensor_list_set_item(entries, 1, tf.zeros([3]))
    entries = list_ops.tensor_list_push_back(list_ops.empty_tensor_list(None, tf.int64, 1), tf.constant(7, tf.int64))
    assert list_ops.tensor_list_stack(entries, tf.int64).numpy().tolist() == [7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="full list"):
        list_ops.tensor_list_push_back(entries, tf.constant(7, tf.int64))
    rows = list_ops.tensor_list_from_tensor(tf.reshape(tf.range(6), [3, 2]), [2])
    assert list_ops.tensor_list_gather(rows, [2, 0], tf.int32).numpy().tolist() == [[4, 5], [0, 1]]
    shorter, last = list_ops.tensor_list_pop_back(rows, tf.int32)
    assert int(list_ops.tensor_list_length(shorter)) == 2 and last.numpy().tolist() == [4, 5]
    pieces = list_ops.tensor_list_split(tf.range(3), [None], tf.constant([1, 2], tf.int64))
    assert list_ops.tensor_list_get_item(pieces, 1, tf.int32).numpy().tolist() == [1, 2]
    scattered = list_ops.tensor_list_scatter(tf.range(2), [2, 0], [])
    assert list_ops.tensor_list_stack(scattered, tf.int32).numpy().tolist() == [1, 0, 0]


def test_a_seed_from_a_seed():
    assert conversion.gen_new_seed(None, "salt") is None
    assert [conversion.gen_new_seed(seed, "salt") for seed in (0, 42)] == [1185174420, 776072436]


def test_operators_of_a_class_use_its_own_value():
    class Doubled(tf.Variable):
        def __init__(self, value):
            self._doubled = value

        dtype = tf.float32

        def value(self):
            if self._doubled is None:
                raise ValueError("no value")
            return tf.constant(2.0 * self._doubled)

        def __sub__(self, other):
            return "own"

    tf.register_tensor_conversion_function(Doubled, lambda value, *args, **kwargs: tf.constant(0.0))
    doubled = Doubled(1.5)
    results = [doubled + 1.0, 1.0 + doubled, sum([doubled, doubled]), doubled * doubled, -doubled]
    assert [float(x) for x in results] == [4.0, 4.0, 3.0, 0.0, -3.0]  # the other operand is converted
    assert doubled - 1.0 == "own"
    with pytest.raises(ValueError, match="no value"):
        sum([Doubled(None)])


def test_a_scope_of_graphs_may_be_reset():
    with eager_context.graph_mode():
        before = tf.compat.v1.get_default_graph()
        with eager_context.graph_mode():
            assert tf.compat.v1.get_default_graph() is before and not tf.executing_eagerly()
        tf.compat.v1.reset_default_graph()
        assert tf.compat.v1.get_default_graph() is not before and not tf.executing_eagerly()
    assert tf.executing_eagerly()


def test_entries_of_the_gradient_registry_may_be_replaced_and_put_back():
    registry = gradient_registry._gradient_registry._registry
    x = tf.constant([-1.0, 2.0])

    def gradient():
        def of_relu(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.relu(x)
            return tape.gradient(y, x).numpy().tolist() if tf.executing_eagerly() else tape.gradient(y, x)

        return of_relu(x), tf.function(of_relu)(x).numpy().tolist()

    assert "Relu" in registry and "Nothing" not in registry and "Add" not in registry and "Exp" in [*registry]
    own = registry["Relu"]["type"]
    assert gradient() == ([0.0, 1.0], [0.0, 1.0])
    registry["Relu"]["type"] = lambda op, dy: own(op, dy) * 10.0 + op.inputs[0] + op.outputs[0]
    registry["mine"] = {"type": lambda op, dy: dy * op.get_attr("factor"), "location": registry["Relu"]["location"]}
    try:
        assert gradient() == ([-1.0, 14.0], [-1.0, 14.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(3.0)
            gradient_registry.record_gradient("mine", [x], ("factor", 5.0), [y])
        assert tape.gradient(y, x).numpy() == 5.0
    finally:
        registry["Relu"]["type"] = own
        del registry["mine"]
    assert gradient() == ([0.0, 1.0], [0.0, 1.0])
    with tf.GradientTape(), pytest.raises(LookupError, match="gradient registry has no entry for: mine"):
        gradient_registry.record_gradient("mine", [x], (), [x])


def test_the_gradient_registry_is_that_of_registered_gradients():
    registry = gradient_registry._gradient_registry._registry
    try:
        registry["Thrice"] = {"type": lambda op, dy: dy * 3.0}
        with pytest.raises(KeyError, match="two gradient with name 'Thrice'"):
            tf.RegisterGradient("Thrice")(len)
        own = tf.RegisterGradient("FourTimes")(lambda op, dy: dy * 4.0)
        assert registry["FourTimes"]["type"] is own and "FourTimes" in [*registry]
        with tf.Graph().as_default() as graph:
            x = tf.constant(-1.0)
            with graph.gradient_override_map({"Identity": "Thrice", "Relu": "FourTimes", "Neg": "Square"}):
                results = tf.identity(x), tf.nn.relu(x), -x
            gradients = [tf.gradients(y, x)[0] for y in results]
        with tf.compat.v1.Session(graph=graph) as session:
            assert session.run(gradients) == [3.0, 4.0, -2.0]
        with pytest.raises(KeyError, match="two gradient with name 'Relu'"):
            tf.RegisterGradient("Relu")(len)
    finally:
        del registry["Thrice"], registry["FourTimes"]


def test_bound_functions_may_be_forgotten():
    class Model:
        @tf.function
        def call(self, x):
            return x + 1.0

    model = Model()
    assert model.call(1.0) == 2.0
    Model.call._descriptor_cache.clear()  # as zfit does
    assert model.call(1.0) == 2.0


def test_operators_by_name():
    assert tf.__operators__.add(tf.constant(1), 2).numpy() == 3
    assert tf.__operators__.getitem(tf.constant([1, 2]), 1).numpy() == 2


def test_a_class_may_refuse_to_be_true_as_tensors_do():
    class Deferred:
        __bool__ = tf.Tensor.__bool__

    tf.register_tensor_conversion_function(Deferred, lambda *args, **kwargs: tf.constant(0.0))
    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        bool(Deferred())


def test_names_that_a_library_exports():
    @exporting.keras_export("keras.layers.Mine", v1=["keras.layers.Older"])
    class Mine:
        pass

    assert exporting.get_symbol_from_name("keras.layers.Mine") is Mine  # not that of another Keras
    assert exporting.get_symbol_from_name("compat.v1.keras.layers.Older") is Mine
    assert exporting.get_canonical_name_for_symbol(Mine) == "keras.layers.Mine"
    assert exporting.get_canonical_name_for_symbol(tf.nn.relu) == "nn.relu"
    assert exporting.get_canonical_name_for_symbol(tf.add) == "math.add"
    assert exporting.get_canonical_name_for_symbol(tf.RaggedTensor) == "RaggedTensor"
    assert exporting.get_canonical_name_for_symbol(tf.concat, api_name="keras") is None
    for function in (tf.nn.relu, tf.concat, tf.linalg.inv):
        assert exporting.get_symbol_from_name(exporting.get_canonical_name_for_symbol(function)) is function


def test_the_graphs_around_a_function_end_in_one_that_has_none_around():
    seen = []

    @tf.function
    def outer(x):
        seen.append(tf.compat.v1.get_default_graph())
        return inner(x)

    @tf.function
    def inner(x):
        seen.append(tf.compat.v1.get_default_graph())
        return x + 1.0

    assert outer(1.0).numpy() == 2.0
    assert seen[1].outer_graph is seen[0]
    assert type(seen[0].outer_graph) is tf.Graph and not hasattr(seen[0].outer_graph, "outer_graph")
    assert seen[1]._get_control_flow_context() is None
    assert seen[1].get_operations()[0]._get_control_flow_context() is None


def test_what_keras_2_asks_of_internals():
    internal = tf.__internal__
    with internal.load_context(None):
        pass
    assert isinstance(tf.Module(), internal.tracking.AutoTrackable)
    module = tf.Module()
    module.parts = [tf.Variable(1.0)]
    assert isinstance(module.parts, internal.tracking.TrackableDataStructure)
    for none in (internal.distribute.ShardedVariable, internal.tracking.CheckpointInitialValueCallable):
        assert not isinstance(tf.Variable(1.0), none)


def test_modules_of_one_name_do_not_hide_each_other():
    tf.install_as_tensorflow()
    hosted_core = importlib.import_module("tensorflow.core")
    assert tf.core.types.spec is sys.modules["tapeflow.core.types.spec"]
    assert importlib.import_module("tapeflow.core") is not hosted_core
    with pytest.raises(AttributeError, match="it is not public in TensorFlow"):
        hosted_core.nothing_of_that_name  # noqa: B018 (asking is the point)


# ---- public names in the modules inside TensorFlow -------------------------------------------------------------------


def test_public_names_are_those_of_tensorflow():
    tf.install_as_tensorflow()
    from tensorflow.python.eager import def_function
    from tensorflow.python.framework import dtypes, ops, smart_cond
    from tensorflow.python.ops import array_ops, gen_nn_ops, lookup_ops, math_ops
    from tensorflow.python.training import saver

    assert array_ops.gather is tf.compat.v1.gather and array_ops.gather_v2 is tf.gather  # the two differ
    assert math_ops.reduce_sum is tf.reduce_sum and math_ops.neg is tf.negative
    assert dtypes.float32 is tf.float32 and lookup_ops.StaticHashTable is tf.lookup.StaticHashTable
    assert ops.Graph is tf.Graph and def_function.function is tf.function and saver.Saver is tf.compat.v1.train.Saver
    assert isinstance(tf.function(abs), def_function.Function)
    assert smart_cond.smart_constant_value(tf.constant(True)) is True
    assert gen_nn_ops.conv2d(tf.ones([1, 1, 1, 1]), tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME").numpy() == 1
    assert not hasattr(gen_nn_ops, "no_such_op")


def test_most_public_names_are_there():
    """What is missing is in the README: devices that are not here, Keras 2's columns, servers."""
    tf.install_as_tensorflow()
    paths = names.public_names()
    absent = {m: [n for n in paths[m] if not hasattr(importlib.import_module(m), n)] for m in paths}
    assert sum(map(len, absent.values())) <= 0.15 * sum(map(len, paths.values()))
    for room in ("ops.array_ops", "ops.math_ops", "ops.variables", "framework.dtypes", "util.nest", "client.session"):
        assert len(absent[f"tensorflow.python.{room}"]) <= 1, absent[f"tensorflow.python.{room}"]


@pytest.mark.parametrize(
    ("module", "name", "reason"),
    [
        ("eager.context", "nothing_here", "it is not public in TensorFlow"),
        ("ops", "nothing_here", "it is not public in TensorFlow"),
        ("tpu.tpu", "rewrite", "it is the public tf.compat.v1.tpu.rewrite, which TapeFlow lacks yet"),
    ],
)
def test_an_import_says_what_is_missing_and_who_asks(module, name, reason):
    tf.install_as_tensorflow()
    text = f"TapeFlow has no tensorflow.python.{module}.{name}, for which a.library asks: {reason}"
    with pytest.raises(ImportError, match=text):
        exec(f"from tensorflow.python.{module} import {name}", {"__name__": "a.library"})


def test_keras_inside_tensorflow_is_keras():
    tf.install_as_tensorflow()
    from tensorflow.python.keras import layers

    assert layers.Dense is tf.keras.layers.Dense
    with pytest.raises(ModuleNotFoundError, match=r"TapeFlow has no tensorflow\.python\.keras\.engine yet"):
        importlib.import_module("tensorflow.python.keras.engine")


def test_mappings_by_identity():
    keys = [tf.Variable(1.0), tf.Variable(1.0)]
    by_key = object_identity.ObjectIdentityDictionary([(keys[0], "a"), (keys[1], "b")])
    assert by_key[keys[0]] == "a" and by_key.pop(keys[1]) == "b" and list(by_key) == keys[:1] and keys[1] not in by_key
    both = object_identity.ObjectIdentitySet(keys)
    assert len(both) == 2 and keys[0] in both.intersection(keys[:1]) and len(both.difference(keys)) == 0
    weak = object_identity.ObjectIdentityWeakSet(keys)
    assert len(weak) == 2 and keys[1] in weak
    del both, by_key, keys[1:]
    assert len(weak) == 1 and keys[0] in weak


def test_metrics_of_a_library():
    gauge = monitoring.BoolGauge("/a/gauge", "Description.", "label")
    gauge.get_cell("one").set(True)
    assert gauge.get_cell("one").value() is True
    counter = monitoring.Counter("/a/counter", "Description.")
    counter.get_cell().increase_by(2)
    assert counter.get_cell().value() == 2


# ---- averages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zero_debias", "values"), [(True, [[3, 4], [3, 4]]), (False, [[1.5, 2.5], [1.875, 2.875]])])
def test_moving_averages(zero_debias, values):
    assign = tf.__internal__.train.assign_moving_average
    average = tf.Variable([1.0, 2.0])
    for value in values:
        assign(average, [3.0, 4.0], 0.75, zero_debias=zero_debias)
        assert average.numpy().tolist() == value
    with tf.Graph().as_default():
        average = tf.compat.v1.get_variable("v", initializer=tf.constant([1.0, 2.0]))
        assigned = assign(average, tf.constant([3.0, 4.0]), 0.75, zero_debias=zero_debias)
        names = [v.name for v in tf.compat.v1.global_variables()]
        assert names == ["v:0", "v/biased:0", "v/local_step:0"][: 3 if zero_debias else 1]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert [session.run(assigned).tolist() for _ in values] == values


def test_replicas_average_their_mean():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        average = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def step():
        value = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        tf.__internal__.train.assign_moving_average(average, value, 0.0, zero_debias=False)

    strategy.run(step)
    assert average.numpy() == 0.5


def test_programs_note_what_they_like_at_operations():
    with tf.Graph().as_default():
        operation = tf.constant(1).op
    operation._unconditional_update = True
    assert operation._unconditional_update


# ---- what tests of Keras 2 and of TensorFlow Probability ask for -----------------------------------------------------


def test_parameters_of_traced_functions():
    @tf.function
    def f(a, b=2, *, c=3): ...

    spec = decorators.getfullargspec(f)
    assert (spec.args, spec.defaults, spec.kwonlyargs) == (["a", "b"], (2,), ["c"])


def test_ragged_tensors_of_equal_rows():
    first, other, deeper = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1, 2], [3]]), [[[1, 2]], [[3]]]
    conversion.assert_splits_match([first.nested_row_splits] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inputs must have identical ragged splits"):
        conversion.assert_splits_match([first.nested_row_splits, other.nested_row_splits])
    with pytest.raises(ValueError, match="Inputs must have identical ragged splits"):
        conversion.assert_splits_match([first.nested_row_splits, tf.ragged.constant(deeper).nested_row_splits])


def test_options_of_the_runtime_and_structures():
    assert keras_2.get_config().allow_soft_placement
    spec = tf.TensorSpec([2, None])
    saved_model = tf.__internal__.saved_model
    assert saved_model.decode_proto(saved_model.encode_structure([spec])) == [spec]


def test_what_tests_of_version_1_have():
    test = tf.compat.v1.test
    assert os.path.isdir(test.get_temp_dir()) and test.get_temp_dir() == test.get_temp_dir()
    assert test.mock is unittest.mock and test.TestCase is tf.test.TestCase


def test_paths_of_sources(monkeypatch):
    monkeypatch.setenv("TEST_SRCDIR", "/sources")
    assert tf.compat.v1.test.test_src_dir_path("a") == "/sources/org_tensorflow/tensorflow/a"


def test_functions_dispatch_a_type_to_itself():
    class Symbol:
        def __tf_dispatch__(self, function, args):
            return function

    values = Symbol(), 1.0, 2.0
    for function in (tf.abs, tf.sign, tf.round, tf.squeeze, tf.truediv, tf.divide, tf.math.divide_no_nan):
        assert function(*values[: 2 if "div" in function.__name__ else 1]) is function
    assert tf.clip_by_value(*values) is tf.clip_by_value
    assert tf.stack([values[0], 1.0]) is tf.stack and tf.concat([values[0], [1.0]], 0) is tf.concat


def test_the_array_of_a_string_is_its_bytes():
    assert tf.constant("a")._numpy() == b"a" and np.asarray(tf.constant("a")).dtype == object
    assert tf.constant(["a"])._numpy().tolist() == [b"a"]


PARTS = {"eager": lambda f: f(), "function": lambda f: tf.function(f)()}


@pytest.mark.parametrize("run", PARTS.values(), ids=PARTS)
def test_control_flow_takes_composite_values_of_variables(run):
    pair = Pair(tf.Variable([1.0, 2.0]), tf.Variable([1, 1]))
    doubled = lambda p: Pair(p.left * 2.0, p.right)  # noqa: E731
    looped = run(lambda: tf.while_loop(lambda i, p: i < 2, lambda i, p: (i + 1, doubled(p)), (0, pair))[1].left)
    assert looped.numpy().tolist() == [4.0, 8.0]
    kept = run(lambda: tf.while_loop(lambda i, p: i < 2, lambda i, p: (i + 1, pair), (0, pair))[1].left)
    assert kept.numpy().tolist() == [1.0, 2.0]
    chosen = run(lambda: tf.cond(tf.reduce_sum(pair.left) > 0.0, lambda: pair, lambda: doubled(pair)).left)
    assert tf.convert_to_tensor(chosen).numpy().tolist() == [1.0, 2.0]
    (mapped,) = tf.data.Dataset.range(1).map(lambda i: pair)
    assert isinstance(mapped.left, tf.Tensor)


@pytest.mark.parametrize("run", PARTS.values(), ids=PARTS)
def test_maps_take_and_stack_values_of_a_library(run):
    pair = BatchedPair(tf.Variable([1.0, 2.0]), tf.Variable([3, 4]))
    one = BatchedPair(tf.constant(0.0), tf.constant(0))._type_spec
    left = run(lambda: tf.map_fn(lambda p: p.left * 2.0, pair, fn_output_signature=tf.float32))
    assert left.numpy().tolist() == [2.0, 4.0]
    assert run(lambda: tf.vectorized_map(lambda p: p.left * 2.0, pair)).numpy().tolist() == [2.0, 4.0]
    stacked = run(lambda: tf.map_fn(lambda p: BatchedPair(p.left + 1.0, p.right), pair, fn_output_signature=one))
    assert stacked.left.numpy().tolist() == [2.0, 3.0] and stacked.right.numpy().tolist() == [3, 4]
    assert [p.right.numpy() for p in tf.data.Dataset.from_tensor_slices(stacked)] == [3, 4]


def test_a_loop_takes_a_linear_operator_of_a_variable():
    operator = tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0]))

    @tf.function
    def doubled():
        double = lambda i, o: (i + 1, tf.linalg.LinearOperatorDiag(o.diag_part() * 2.0))  # noqa: E731
        return tf.while_loop(lambda i, o: i < 2, double, (0, operator))[1].to_dense()

    assert doubled().numpy().tolist() == [[4.0, 0.0], [0.0, 8.0]]
