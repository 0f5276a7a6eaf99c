"""What the wrappers of cells do to inputs, states and outputs."""

import collections

import numpy as np
import pytest

import tapeflow as tf

MANY = 2000
LSTMState = collections.namedtuple("LSTMState", ["c", "h"])


class Same:
    """Its output is its input, and the new state the old one."""

    def __init__(self, size=1):
        self.state_size = self.output_size = size

    def __call__(self, inputs, state, factor=1.0):
        return tf.nest.map_structure(lambda x: x * factor, inputs), state

    def get_config(self):
        return {"size": self.state_size}


class Whole(Same):
    """A cell that makes its own states and variables."""

    built = False

    def build(self, inputs_shape):
        assert not self.built
        self.shape = inputs_shape

    def get_initial_state(self, batch_size=None):
        return tf.fill([batch_size, 1], 7.0)

    def zero_state(self, batch_size, dtype):
        return tf.fill([batch_size, 1], tf.constant(3, dtype))


def ones(*shape):
    return tf.ones(shape or [MANY, 1])


def kept(values):
    """The share of elements that dropout kept; those are divided by it."""
    values = values.numpy()
    share = np.mean(values != 0)
    assert share in (0, 1) or np.abs(values[values != 0] * share - 1).max() < 0.1
    return round(share, 1)


# ---- dropout ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variational", [False, True])
@pytest.mark.parametrize(("role", "expected"), [("input", (0.4, 1)), ("output", (0.4, 1)), ("state", (1, 0.4))])
def test_dropout_of_each_role(role, expected, variational):
    options = {"variational_recurrent": True, "input_size": [MANY], "dtype": tf.float32} if variational else {}
    cell = tf.nn.RNNCellDropoutWrapper(Same(MANY), **{f"{role}_keep_prob": 0.4}, **options, seed=1)
    assert tuple(map(kept, cell(ones(1, MANY), ones(1, MANY)))) == expected
    cell = tf.nn.RNNCellDropoutWrapper(Same(MANY), **{f"{role}_keep_prob": tf.constant(0.4)}, **options, seed=1)
    assert tuple(map(kept, cell(ones(1, MANY), ones(1, MANY)))) == expected


def test_variational_dropout_drops_the_same_in_every_step():
    options = {"input_keep_prob": 0.5, "output_keep_prob": 0.5, "input_size": [MANY], "dtype": tf.float32}
    for variational, equal in [(True, True), (False, False)]:
        cell = tf.nn.RNNCellDropoutWrapper(Same(MANY), variational_recurrent=variational, **options)
        first, second = (cell(ones(1, MANY), ones(1, MANY))[0].numpy() for _ in range(2))
        assert np.array_equal(first, second) == equal


def test_seeds_decide():
    def run(seed, role="output"):
        tf.random.set_seed(1)
        cell = tf.nn.RNNCellDropoutWrapper(Same(), **{f"{role}_keep_prob": 0.5}, seed=seed)
        return sum(cell(ones(), ones())).numpy().tolist()

    assert run(1) == run(1) != run(2)
    assert run(1, "state") != run(1) and run(1, "input") != run(1)


def test_structures_are_dropped_each_with_numbers_of_its_own():
    cell = tf.nn.RNNCellDropoutWrapper(Same(), output_keep_prob=0.5, seed=3)
    outputs, _ = cell({"a": ones(), "b": (ones(),)}, ones())
    assert outputs.keys() == {"a", "b"} and kept(outputs["a"]) == kept(outputs["b"][0]) == 0.5
    assert not np.array_equal(outputs["a"], outputs["b"][0])
    sizes = {"a": MANY, "b": tf.TensorShape([MANY])}
    cell = tf.nn.RNNCellDropoutWrapper(
        Same(sizes), output_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32, seed=3
    )
    outputs, _ = cell({"a": ones(1, MANY), "b": ones(1, MANY)}, {"a": ones(1, MANY), "b": ones(1, MANY)})
    assert kept(outputs["a"]) == 0.5 and not np.array_equal(outputs["a"], outputs["b"])


def test_the_memory_of_an_lstm_is_kept():
    cell = tf.nn.RNNCellDropoutWrapper(Same(), state_keep_prob=0.5, seed=1)
    _, state = cell(ones(), LSTMState(ones(), ones()))
    assert type(state) is LSTMState and (kept(state.c), kept(state.h)) == (1, 0.5)
    _, state = cell(ones(), (ones(), [LSTMState(ones(), ones())]))
    assert (kept(state[0]), kept(state[1][0].c), kept(state[1][0].h)) == (0.5, 1, 0.5)
    array = tf.TensorArray(tf.float32, 1)
    _, state = cell(ones(), (array, ones()))
    assert state[0] is array and kept(state[1]) == 0.5


VISITORS = {
    "nothing": (lambda part: False, (1, 1, 1)),
    "all": (lambda part: True, (0.5, 0.5, 0.5)),
    "dicts": (lambda part: not isinstance(part, dict), (0.5, 1, 0.5)),
    "lists": (lambda part: not isinstance(part, list), (0.5, 0.5, 1)),
    "a structure": (lambda part: (True, {"x": False}, [True]) if isinstance(part, tuple) else True, (0.5, 1, 0.5)),
}


@pytest.mark.parametrize("name", VISITORS)
def test_filters_of_the_state(name):
    visitor, expected = VISITORS[name]
    cell = tf.nn.RNNCellDropoutWrapper(
        Same(), state_keep_prob=0.5, output_keep_prob=0.5, seed=1, dropout_state_filter_visitor=visitor
    )
    output, state = cell(ones(), (ones(), {"x": ones()}, [ones()]))
    assert (kept(state[0]), kept(state[1]["x"]), kept(state[2][0])) == expected and kept(output) == 0.5


@pytest.mark.parametrize("share", [-0.1, 1.1])
@pytest.mark.parametrize("role", ["input", "state", "output"])
def test_shares_are_between_0_and_1(role, share):
    with pytest.raises(ValueError, match=f"{role}_keep_prob must be between 0 and 1"):
        tf.nn.RNNCellDropoutWrapper(Same(), **{f"{role}_keep_prob": share})
    for edge in (0, 1):
        tf.nn.RNNCellDropoutWrapper(Same(), **{f"{role}_keep_prob": edge})


def test_bad_arguments():
    with pytest.raises(ValueError, match="dtype must be provided"):
        tf.nn.RNNCellDropoutWrapper(Same(), variational_recurrent=True)
    with pytest.raises(ValueError, match="input_size is needed"):
        tf.nn.RNNCellDropoutWrapper(Same(), 0.5, variational_recurrent=True, dtype=tf.float32)
    with pytest.raises(TypeError, match="must be callable"):
        tf.nn.RNNCellDropoutWrapper(Same(), dropout_state_filter_visitor=3)
    for bad in (3, lambda inputs, state: None):
        with pytest.raises(TypeError, match="is no cell"):
            tf.nn.RNNCellResidualWrapper(bad)


# ---- other wrappers --------------------------------------------------------------------------------------------------


def test_residuals():
    cell = tf.nn.RNNCellResidualWrapper(Same())
    outputs, state = cell({"a": ones(1, 1)}, ones(1, 1) * 5.0, factor=3.0)
    assert outputs["a"].numpy().item() == 4.0 and state.numpy().item() == 5.0
    cell = tf.nn.RNNCellResidualWrapper(Same(), residual_fn=lambda inputs, outputs: inputs - outputs)
    outputs, state = cell(ones(1, 1), ones(1, 1), factor=3.0)
    assert outputs.numpy().item() == -2.0 and state.numpy().item() == 1.0
    with pytest.raises(ValueError, match="incompatible"):
        tf.nn.RNNCellResidualWrapper(lambda_cell(lambda x, s: (tf.ones([2, 3]), s)))(ones(1, 1), ones(1, 1))


def lambda_cell(function):
    function.state_size = function.output_size = 1
    return function


def test_members_are_those_of_the_cell():
    inner = Same(4)
    for wrapper in (tf.nn.RNNCellResidualWrapper(inner), tf.nn.RNNCellDeviceWrapper(inner, "cpu:0")):
        assert wrapper.wrapped_cell is inner and (wrapper.state_size, wrapper.output_size) == (4, 4)
        wrapper.build([1, 1])


def test_states():
    cell = tf.nn.RNNCellDeviceWrapper(Same([2, 3]), "cpu:0")
    zeros = cell.zero_state(5, tf.float64)
    assert [(z.shape.as_list(), z.dtype) for z in zeros] == [([5, 2], tf.float64), ([5, 3], tf.float64)]
    assert [z.shape.as_list() for z in cell.get_initial_state(ones(6, 1))] == [[6, 2], [6, 3]]
    assert [z.dtype for z in cell.get_initial_state(tf.zeros([6, 1], tf.float16))] == [tf.float16] * 2
    zeros = tf.nn.RNNCellDeviceWrapper(Same((tf.TensorShape([2, 3]), 4)), "cpu:0").zero_state(5, tf.float32)
    assert [z.shape.as_list() for z in zeros] == [[5, 2, 3], [5, 4]]
    cell = tf.nn.RNNCellDeviceWrapper(Whole(), "cpu:0")
    assert cell.zero_state(2, tf.float32).numpy().tolist() == [[3], [3]]
    assert cell.get_initial_state(batch_size=2, dtype=tf.float32).numpy().tolist() == [[7], [7]]


def test_cells_are_built_once():
    inner = Whole()
    cell = tf.nn.RNNCellResidualWrapper(inner)
    cell.build([3, 1])
    assert inner.built and inner.shape == [3, 1]
    cell.build([4, 1])
    assert inner.shape == [3, 1]


def test_configs():
    cell = tf.nn.RNNCellDropoutWrapper(Same(2), 0.5, 0.25, 0.75, seed=4, dtype=tf.float32, input_size=3, name="n")
    config = cell.get_config()
    assert config == {
        "cell": {"class_name": "Same", "config": {"size": 2}}, "name": "n", "input_keep_prob": 0.5,
        "state_keep_prob": 0.25, "output_keep_prob": 0.75, "seed": 4, "dtype": tf.float32, "input_size": 3,
        "variational_recurrent": False,
    }  # fmt: skip
    made = tf.nn.RNNCellDropoutWrapper.from_config(config, {"Same": Same})
    assert made.get_config() == config and "cell" in config
    assert tf.nn.RNNCellDropoutWrapper.from_config({**config, "cell": Same(3)}).state_size == 3
    with pytest.raises(ValueError, match="Unknown cell: Same"):
        tf.nn.RNNCellDropoutWrapper.from_config(config)
    assert tf.nn.RNNCellDeviceWrapper(Same(2), "cpu:0").get_config()["device"] == "cpu:0"
    assert tf.nn.RNNCellResidualWrapper(Same(2)).get_config()["cell"]["config"] == {"size": 2}
    for wrapper in (
        tf.nn.RNNCellDropoutWrapper(Same(), dropout_state_filter_visitor=lambda part: True),
        tf.nn.RNNCellResidualWrapper(Same(), residual_fn=lambda x, y: x),
    ):
        with pytest.raises(ValueError, match="cannot be described by a config"):
            wrapper.get_config()
