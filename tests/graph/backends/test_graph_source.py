"""The functions that `torch.compile` gets compute what their programs do, also as Python that nothing compiles."""

import itertools
import re

import pytest

import compiled_programs
import tapeflow as tf
from tapeflow.graph.backends import division, torch_compile

pytestmark = pytest.mark.usefixtures("for_gpus")

NAMES = [name for name in compiled_programs.PROGRAMS if not name.startswith("update")]


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    monkeypatch.setattr(torch_compile.TorchCompile, "compile", lambda self, function, **options: function)
    monkeypatch.setattr(division, "LEAST_COST", 0)


@pytest.mark.parametrize("name", NAMES)
def test_results(name):
    function, arguments = compiled_programs.PROGRAMS[name]
    concrete = tf.function(function, jit_compile=True).get_concrete_function(*arguments)
    compiled_programs.check_results(name, concrete(*compiled_programs.values_of(name)))


V, W = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(2.0)


@tf.function
def add_to_variable(y):
    V.assign_add(y)
    return V * 2.0


def changes(x):
    before = V.read_value()
    V.assign(before * x[0])
    V.assign_add(x[1])
    V.assign_sub(x[1] * W)
    return before, V + 1.0


def called(x):
    return add_to_variable(x[0]) + add_to_variable(x[1])


def values(x):
    """A shape that only the run can tell."""
    rows, _ = tf.split(tf.concat([x, x], 0), 2)
    return tf.reshape(rows, tf.cast(x[0, :1] * 0.0 + 6.0, tf.int32))


SOURCES = {
    changes: """
def changes(x, ReadVariableOp_resource, mul_1_ReadVariableOp_resource):
    ReadVariableOp = ReadVariableOp_resource
    strided_slice = run_kernel('StridedSlice', 0, x)
    mul = run_kernel('Mul', 1, ReadVariableOp, strided_slice)
    ReadVariableOp_resource = mul
    strided_slice_1 = run_kernel('StridedSlice', 2, x)
    ReadVariableOp_resource = op_AssignAddVariableOp(ReadVariableOp_resource, strided_slice_1)
    mul_1_ReadVariableOp = mul_1_ReadVariableOp_resource
    mul_1 = run_kernel('Mul', 3, strided_slice_1, mul_1_ReadVariableOp)
    ReadVariableOp_resource = op_AssignSubVariableOp(ReadVariableOp_resource, mul_1)
    ReadVariableOp_1 = ReadVariableOp_resource
    add = run_kernel('AddV2', 4, ReadVariableOp_1)
    return (ReadVariableOp, add, ReadVariableOp_resource)
""",
    called: """
def called(x, resource):
    strided_slice = run_kernel('StridedSlice', 0, x)
    resource = op_AssignAddVariableOp(resource, strided_slice)
    ReadVariableOp = resource
    mul = run_kernel('Mul', 1, ReadVariableOp)
    strided_slice_1 = run_kernel('StridedSlice', 2, x)
    resource = op_AssignAddVariableOp(resource, strided_slice_1)
    ReadVariableOp_1 = resource
    mul_1 = run_kernel('Mul', 3, ReadVariableOp_1)
    add = run_kernel('AddV2', 4, mul, mul_1)
    return (add, resource)
""",
    values: """
def values(x):
    concat = run_kernel('ConcatV2', 0, [x, x, ])
    split, split_1 = run_kernel('Split', 1, concat)
    strided_slice = run_kernel('StridedSlice', 2, x)
    mul = run_kernel('Mul', 3, strided_slice)
    add = run_kernel('AddV2', 4, mul)
    Cast = run_kernel('Cast', 5, add)
    Reshape = opaque('Reshape [(1, torch.float32)]', 6, [split, Cast], [6])[0]
    return (Reshape,)
""",
}


@pytest.mark.parametrize("function", SOURCES, ids=lambda f: f.__name__)
def test_sources(function):
    text = tf.function(function, jit_compile=True).experimental_get_compiler_ir(tf.TensorSpec([2, 3]))("hlo")
    numbers = itertools.count()
    assert re.sub(r"(?<=', )\d+", lambda _: str(next(numbers)), text) == SOURCES[function].lstrip()


@pytest.mark.parametrize("function", [changes, called])
def test_variables_change_as_in_eager_mode(function):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    outcomes = []
    for run in (function, tf.function(function, jit_compile=True)):
        V.assign([1.0, 2.0, 3.0])
        outcomes.append([t.numpy().tolist() for t in (*tf.nest.flatten(run(x)), *tf.nest.flatten(run(x)), V, W)])
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("changing", [tf.Variable.assign_add, tf.Variable.assign_sub])
def test_a_change_of_another_shape_is_an_error(changing):
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]))

    @tf.function(jit_compile=True)
    def change(x):
        changing(v, x)
        return v * 2.0

    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        change(tf.constant([1.0]))
    assert v.numpy().tolist() == [1.0, 2.0]
