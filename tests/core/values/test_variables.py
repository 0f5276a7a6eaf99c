"""What goldens can't show of variables: that memory is safe, copies, gradients, scopes, names."""

import copy
import pickle

import numpy as np
import pytest

import tapeflow as tf

LARGE = [300, 100]  # above the size from which variables update in place


def large(value=1.0):
    return tf.Variable(tf.fill(LARGE, value))


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


CHANGES = {
    "assign": lambda v: v.assign(tf.fill(LARGE, 9.0)),
    "assign_add": lambda v: v.assign_add(tf.ones(LARGE)),
    "assign_sub": lambda v: v.assign_sub(tf.ones(LARGE)),
    "scatter_add": lambda v: v.scatter_add(slices(np.ones([1, 100], np.float32), [0])),
    "scatter_update": lambda v: v.scatter_update(slices(np.full([1, 100], 9.0, np.float32), [0])),
    "scatter_mul": lambda v: v.scatter_mul(slices(np.full([1, 100], 9.0, np.float32), [0])),
    "scatter_nd_update": lambda v: v.scatter_nd_update([[0, 0]], [9.0]),
    "slice": lambda v: v[0].assign(tf.fill([100], 9.0)),
}


def updated(value=1.0):
    """Returns a variable whose last update wrote in place."""
    v = large(value - 1)
    v.assign_add(tf.ones(LARGE) / 2)
    v.assign_add(tf.ones(LARGE) / 2)
    return v


LOOKS = {
    "value": lambda v: v.value(),
    "read_value": lambda v: v.read_value(),
    "convert": lambda v: tf.convert_to_tensor(v),
    "slice": lambda v: v[0:1],
    "reshape": lambda v: tf.reshape(v, [-1]),
    "transpose": lambda v: tf.transpose(v),
    "identity": lambda v: tf.identity(v),
    "numpy": lambda v: v.numpy(),
    "asarray": lambda v: np.asarray(v),
    "row": lambda v: v[0],
    "rows": lambda v: next(iter(v)),
    "saved": lambda v: v._serialize_to_tensors()["VARIABLE_VALUE"],
    "in a function": lambda v: tf.function(lambda: v.value())(),
    "as NumPy's": lambda v: v.value()._numpy(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("make", [large, updated])
def test_what_was_read_never_changes(make, change, look):
    v = make()
    seen = look(v)
    before = np.array(seen)
    change(v)
    np.testing.assert_array_equal(np.array(seen), before)
    assert v.numpy()[0, 0] != 1.0
    change(v)
    np.testing.assert_array_equal(np.array(seen), before)


def test_what_a_tape_has_read_never_changes():
    v = updated(2.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            seen = v.value()
            y = tf.reduce_sum(v * v)
            v.assign_add(tf.ones(LARGE))
        gradient = tape.gradient(y, v)
        np.testing.assert_array_equal(gradient, 2 * seen)
    assert v.numpy()[0, 0] == 4.0


def test_a_tensor_read_for_one_tape_is_a_constant_for_the_next():
    v = tf.Variable(3.0)
    with tf.GradientTape():
        seen = v.value()
    with tf.GradientTape() as tape:
        y = seen * v
    assert tape.gradient(y, v) == 3.0


def test_what_was_assigned_is_not_written_to():
    v = large()
    value = tf.fill(LARGE, 5.0)
    v.assign(value)
    v.assign_add(tf.ones(LARGE))
    assert value.numpy().max() == 5.0
    array = np.full(LARGE, 2.0, np.float32)
    w = tf.Variable(array)
    w.assign_add(tf.ones(LARGE))
    assert array.max() == 2.0


def test_it_updates_in_place_where_nobody_looks():
    v = large()
    v.assign_add(tf.ones(LARGE))
    memory = v._value.value.data_ptr()
    v.assign_add(tf.ones(LARGE))
    v.scatter_add(slices(np.ones([1, 100], np.float32), [0]))
    assert v._value.value.data_ptr() == memory
    assert v.numpy()[:2, 0].tolist() == [4.0, 3.0]


def test_small_ones_update_in_place_after_a_scatter():
    v = tf.Variable([1.0, 2.0])
    v.scatter_add(slices([1.0], [0]))
    memory = v._memory().data_ptr()
    for _ in range(3):
        v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.0])
    assert v._memory().data_ptr() == memory
    assert v.numpy().tolist() == [4.5, 5.0]


def test_it_updates_in_place_once_nobody_looks_any_more():
    v = updated()
    seen = v.value()
    memory = seen.value.data_ptr()
    del seen
    tf.reduce_sum(v * 2.0)
    v.assign_add(tf.ones(LARGE))
    assert v._value.value.data_ptr() == memory


def test_gradients_before_and_after_an_assignment():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        before = v * 2.0
        v.assign([9.0, 9.0, 9.0])
        after = v * v
    assert tape.gradient([before, after], v).numpy().tolist() == [20.0, 20.0, 20.0]


def test_gradient_through_what_an_assignment_gives():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        updated = v.assign_add([1.0, 1.0])
        y = updated * updated
    assert tape.gradient(y, v).numpy().tolist() == [4.0, 6.0]


def test_in_place_updates_leave_the_tape_right():
    v = large(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
        v.assign_add(tf.ones(LARGE))
    assert tape.gradient(y, v).numpy()[0, 0] == 4.0


def test_an_assignment_gives_the_variable_under_another_name():
    v = tf.Variable(1.0, name="v")
    w = v.assign(2.0)
    assert repr(w) == "<tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=2.0>" and w.op is None
    assert isinstance(w, tf.Variable)
    w.assign_add(1.0)
    assert v.numpy() == w.numpy() == 3.0
    v.custom = 5
    assert w.custom == 5


def test_copies():
    v = tf.Variable([1.0], name="v", trainable=False)
    assert copy.copy(v) is v
    for w in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        w.assign([2.0])
        assert (v.numpy(), w.name, w.trainable) == ([1.0], "v:0", False)


def test_a_subclass_with_a_dtype_of_its_own():
    class Scaled(tf.Variable):
        @property
        def dtype(self):
            return self._dtype

    v = Scaled([1.0, 2.0], dtype=tf.float64)
    assert v.dtype is v._dtype is tf.float64
    assert (v * 2.0).numpy().tolist() == v.assign_add([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    assert tf.function(lambda: v + 1.0)().dtype is tf.float64


def test_what_variables_are_not():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(v)
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0
    with pytest.raises(ValueError, match="not compatible"):
        v.set_shape([3])
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.Variable(5).count_up_to(5)


def test_scatter_checks_its_arguments():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 2\)"):
        v.scatter_add(slices([[1.0, 1.0], [1.0, 1.0]], [0, 5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"updates\.shape"):
        v.scatter_add(slices([[1.0, 1.0, 1.0]], [0]))
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_add(tf.ones([2, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into shape"):
        v.scatter_nd_add([[0, 2]], [1.0])
    assert v.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "int8", "uint8", "int64", "uint16", "uint32", "complex64"]
)
def test_scatter_takes_every_number(dtype):
    v = tf.Variable(tf.cast([1, 2, 3], dtype))
    two = tf.cast([2, 2], dtype)
    v.scatter_add(tf.IndexedSlices(two, [0, 0]))
    v.scatter_mul(tf.IndexedSlices(two, [1, 1]))
    v.scatter_div(tf.IndexedSlices(tf.cast([3], dtype), [2]))
    v.scatter_nd_update([[2]], tf.cast([7], dtype))
    assert tf.cast(v, "int32").numpy().tolist() == [5, 8, 7]


@pytest.mark.parametrize("method", ["scatter_max", "scatter_min", "scatter_nd_max"])
def test_complex_numbers_have_no_order(method):
    v = tf.Variable([1 + 2j])
    arguments = ([[0]], [3 + 4j]) if "nd" in method else (slices([3 + 4j], [0]),)
    with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel"):
        getattr(v, method)(*arguments)


def test_booleans_are_not_added_to_rows():
    with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel"):
        tf.Variable([True]).scatter_add(slices([True], [0]))


@pytest.mark.parametrize("size", [1, 1 << 16])  # the larger one is updated in place
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_sums_of_unsigned_integers_wrap(dtype, traced, size):
    v = tf.Variable(tf.fill([size], tf.constant(2, dtype)))

    def update():
        v.assign_sub(tf.fill([size], tf.constant(3, dtype)))
        return v.assign_add(tf.zeros([size], dtype))

    result = (tf.function(update) if traced else update)().numpy()
    assert set(result.tolist()) == {v.dtype.max}


def test_name_scopes():
    with tf.name_scope("a"):
        with tf.name_scope("b") as scope:
            assert scope == "a/b/"
            assert tf.Variable(1.0, name="v").name == "a/b/v:0"
        with tf.name_scope("b"), tf.name_scope("c/"):
            assert tf.Variable(1.0, name="v").name == "c/v:0"
        with tf.name_scope(""):
            assert tf.Variable(1.0, name="v").name == "v:0"
        assert tf.get_current_name_scope() == "a"
    with pytest.raises(ValueError, match="must be a string"):
        tf.name_scope(5)


def test_variable_creators_are_given_every_parameter():
    seen = {}

    def create(next_creator, **kwargs):
        seen.update(kwargs)
        return next_creator(**kwargs)

    with tf.variable_creator_scope(create):
        tf.Variable(1.0, name="v")
    assert (seen["initial_value"], seen["name"], seen["trainable"], seen["validate_shape"]) == (1.0, "v", None, True)
    assert seen["synchronization"] is tf.VariableSynchronization.AUTO
    assert seen["aggregation"] is tf.VariableAggregation.NONE and seen["shape"] is None


def test_variable_creators_are_asked_from_the_inside():
    asked = []

    def creator(word):
        def create(next_creator, **kwargs):
            asked.append(word)
            return next_creator(**{**kwargs, "name": f"{word}_{kwargs['name']}"})

        return create

    with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("inner")):
        v = tf.Variable(1.0, True, name="v")
    assert asked == ["inner", "outer"]
    assert v.name == "outer_inner_v:0"


PARTS = {
    "scatter_update": ([[9.0, 9.0]], [1]),
    "scatter_add": ([[1.0, 2.0], [3.0, 4.0]], [1, 1]),
    "scatter_sub": ([[1.0, 2.0], [3.0, 4.0]], [1, 1]),
    "scatter_mul": ([[2.0, 2.0]], [2]),
    "scatter_div": ([[2.0, 2.0]], [2]),
    "scatter_max": ([[4.0, 0.0]], [1]),
    "scatter_min": ([[4.0, 0.0]], [1]),
    "batch_scatter_update": ([[9.0], [8.0], [7.0]], [[0], [1], [0]]),
    "scatter_nd_update": ([9.0, 8.0], [[0, 1], [2, 0]]),
    "scatter_nd_add": ([9.0, 8.0], [[0, 1], [0, 1]]),
    "scatter_nd_sub": ([9.0, 8.0], [[0, 1], [2, 0]]),
}


@pytest.mark.parametrize("method", PARTS)
def test_parts_are_assigned_when_a_function_runs(method):
    values, indices = (tf.constant(part) for part in PARTS[method])
    start = tf.reshape(tf.range(6.0), [3, 2])
    eager, staged = tf.Variable(start), tf.Variable(start)

    def change(v, values, indices):
        if "nd" in method:
            return getattr(v, method)(indices, values) * 1.0
        return getattr(v, method)(tf.IndexedSlices(values, indices)) * 1.0

    function = tf.function(lambda *parts: change(staged, *parts))
    for _ in range(2):
        expected = change(eager, values, indices)
        np.testing.assert_array_equal(function(values, indices), expected)
    np.testing.assert_array_equal(staged, eager)
    assert not np.array_equal(staged, start)


def test_a_function_says_which_row_is_out_of_range():
    v = tf.Variable([1.0, 2.0])
    add = tf.function(lambda i: v.scatter_add(tf.IndexedSlices([1.0], i)).read_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 2\)"):
        add([5])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_references_are_ordered_so_that_they_may_be_keys_of_nests():
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    assert (a.ref() < b.ref()) is not (a.ref() > b.ref())
    assert sorted(tf.nest.flatten({a.ref(): 1, b.ref(): 2})) == [1, 2]
    with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped object"):
        a.ref() < 3  # noqa: B015


def test_a_program_says_what_a_variable_of_its_own_is_read_as():
    class Doubled(tf.Variable):
        def __init__(self, value):
            self.held = value

        dtype = property(lambda self: self.held.dtype)

    tf.register_tensor_conversion_function(
        Doubled, lambda v, dtype=None, name=None, as_ref=False: tf.cast(v.held * 2.0, dtype or v.held.dtype)
    )
    v = Doubled(tf.constant([1.0, 2.0]))
    assert (v + 1.0).numpy().tolist() == (1.0 + v).numpy().tolist() == [3.0, 5.0]
    assert tf.reduce_sum(v).numpy() == 6.0
    assert tf.Variable([1.0]).value().numpy() == [1.0]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (lambda h: tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32), tf.errors.FailedPreconditionError),
        (lambda h: tf.raw_ops.AssignAddVariableOp(resource=h, value=[1.0]), tf.errors.NotFoundError),
        (lambda h: tf.raw_ops.VariableShape(input=h), tf.errors.NotFoundError),
        (lambda h: tf.raw_ops.ResourceScatterAdd(resource=h, indices=[0], updates=[1.0]), tf.errors.NotFoundError),
        (lambda h: tf.raw_ops.ResourceScatterNdAdd(ref=h, indices=[[0]], updates=[1.0]), tf.errors.NotFoundError),
    ],
)
def test_a_handle_without_a_value_has_the_error_of_its_op(use, kind, traced):
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[1])

    def call():
        result = use(handle)
        return result if isinstance(result, tf.Tensor) else None

    with pytest.raises(kind, match="Could not find resource: localhost/"):
        (tf.function(call) if traced else call)()
    assert not tf.raw_ops.VarIsInitializedOp(resource=handle)
