"""Functions whose values decide what is computed, as `torch.export` takes them."""

import numpy as np
import pytest
import torch

import tapeflow as tf

DYNAMIC = torch.export.Dim.DYNAMIC
X, INDEX = tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)
w = tf.Variable([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], name="w")
table = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))


def chooses(x):
    if tf.reduce_sum(x) > 0.0:
        y = x @ w + table[0]
    else:
        y = -x
    return y


def repeats(x):
    i = 0
    while tf.reduce_sum(x) < 100.0 and i < 50:
        x = x * 2.0 + 1.0
        i += 1
    return x, i


def nests(x):
    n = 0
    while tf.reduce_sum(x) < 100.0:
        if n % 2 == 0:
            x = tf.abs(x) * 2.0 + table[1]
        else:
            x = x + 1.0
        for j in tf.range(n):
            x = x + tf.cast(j, tf.float32)
        n += 1
    return x


def switches(x, i):
    return tf.switch_case(i, [lambda: x @ w, lambda: x + 1.0, lambda: x * 2.0])


def compares(x):
    s = tf.reduce_sum(x)
    return tf.case([(s < 1.0, lambda: x), (s < 10.0, lambda: x * 2.0)], default=lambda: x * 3.0)


def maps(x):
    return tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)


def scans(x):
    return tf.scan(lambda total, row: total + row, x)


def fills(x, i):
    array = tf.TensorArray(tf.float32, size=i + 1)  # an empty one of entries of unknown shape can't be stacked
    for j in tf.range(i + 1):
        array = array.write(j, x * tf.cast(j, tf.float32))
    return array.stack()


def reads(x, i):
    return tf.TensorArray(tf.float32, size=2).unstack(tf.stack([x[0], x[1]])).read(tf.minimum(i, 1))


def passes_arrays(x):
    array = tf.TensorArray(tf.float32, size=2)
    if tf.reduce_sum(x) > 0.0:
        array = array.write(0, x).write(1, x + 1.0)
    else:
        array = array.write(1, x)
    return array.stack()


def looks_up(x):
    total = tf.zeros([])
    for i in tf.range(tf.shape(x)[0]):
        total += x[i, 1] - x[-1, i % 3]
    return total


def goes_over_rows(x):
    total = tf.zeros([3])
    for row in x:
        total = total * 0.5 + row
    return total


def stops(x):
    for _ in tf.range(10):
        if tf.reduce_sum(x) > 50.0:
            break
        x = x * 2.0
    return x


def limits(x):
    return tf.while_loop(lambda x: tf.reduce_sum(x) < 1e3, lambda x: (x * 2.0,), [x], maximum_iterations=3)[0]


def reshapes(x):
    n = tf.shape(x)[0]
    y = tf.reshape(x, [n * 3]) if tf.reduce_sum(x) > 0.0 else tf.zeros([n * 3])
    return y + tf.cast(n, tf.float32)


FUNCTIONS = [
    chooses, repeats, nests, switches, compares, maps, scans, fills, reads, passes_arrays, looks_up, goes_over_rows,
    stops, limits, reshapes,
]  # fmt: skip


def samples_of(function, rows, i):
    x = torch.rand(rows, 3, generator=torch.Generator().manual_seed(i)) * (3 if i % 2 else -3)
    return [x] if function.__code__.co_argcount == 1 else [x, torch.tensor(i, dtype=torch.int32)]


def module_and_program(function):
    traced = tf.function(function)
    module = tf.torch.module(traced, *[X, INDEX][: function.__code__.co_argcount]).eval()
    shapes = ({0: DYNAMIC}, {})[: function.__code__.co_argcount]
    with torch.no_grad():
        samples = tuple(samples_of(function, 4, 1))
        return traced, module, torch.export.export(module, samples, dynamic_shapes=(shapes,))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_program_decides_by_values(function):
    traced, _, program = module_and_program(function)
    for rows, i in [(2, 0), (5, 1), (3, 2), (4, 3)]:
        samples = samples_of(function, rows, i)
        expected = tf.nest.flatten(traced(*map(tf.torch.from_torch, samples)))
        for result, e in zip(tf.nest.flatten(program.module()(*samples)), expected, strict=True):
            np.testing.assert_allclose(result.detach(), e, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", [nests, switches, scans, passes_arrays], ids=lambda f: f.__name__)
def test_files(function, tmp_path):
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    _, module, _ = module_and_program(function)
    samples = samples_of(function, 3, 1)
    assert tf.torch.convert(module, "torch", tmp_path / "source", samples) == 0.0
    assert tf.torch.convert(module, "pt2", tmp_path / "model.pt2", samples) == 0.0
    assert tf.torch.convert(module, "onnx", tmp_path / "model.onnx", samples) < 1e-5


def test_files_that_stand_alone_have_pythons_statements(tmp_path):
    _, module, _ = module_and_program(nests)
    tf.torch.convert(module, "torch", tmp_path, samples_of(nests, 3, 1))
    source = (tmp_path / "model.py").read_text()
    assert "while while_loop_cond_graph_0(*while_loop" in source
    assert "true_graph_0 if " in source


def test_source_stays_python_outside_of_export():
    module = tf.torch.module(tf.function(chooses), X)
    assert "    if Greater_1:" in module.source()
    assert "cond(" not in module.source()
    x = torch.ones(1, 3, requires_grad=True)
    module(x).sum().backward()
    assert x.grad.tolist() == [[6.0, 1.0, 2.0]]


def test_loops_that_constants_decide_are_written_out():
    _, _, program = module_and_program(lambda x: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * x), [0, x]))
    targets = [node.target for node in program.graph.nodes]
    assert targets.count(torch.ops.aten.mul.Tensor) == 3
    assert torch.ops.higher_order.while_loop not in targets


def test_what_torch_can_not_express_is_said():
    v = tf.Variable(0.0)

    def counts(x):
        if tf.reduce_sum(x) > 0.0:
            v.assign_add(1.0)
        return x

    with pytest.raises(TypeError, match=r"AssignAddVariableOp.*assign it after"):
        module_and_program(counts)

    def grows(x):
        y = tf.zeros([0, 3])
        for row in x:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None, 3]))])
            y = tf.concat([y, row[None]], 0)
        return y

    with pytest.raises(TypeError, match=r"while: a loop variable of shape .*TensorArray"):
        module_and_program(grows)
