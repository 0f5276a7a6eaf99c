"""Seeds of ops, and the positions of their streams."""

import gc

import pytest
import torch

import tapeflow as tf
from tapeflow.core.context import override, state
from tapeflow.core.rng import seeds
from tapeflow.core.rng.philox import from_seeds
from tapeflow.core.settings import settings


@pytest.fixture(autouse=True)
def without_a_seed():
    """Begins and ends without a global seed."""
    tf.random.set_seed(None)
    yield
    tf.random.set_seed(None)


MODULUS, DEFAULT = 2**31 - 1, 87654321


@pytest.mark.parametrize(
    ("global_seed", "seed", "expected"),
    [
        (None, None, (0, 0)),
        (None, 7, (DEFAULT, 7)),
        (None, 0, (DEFAULT, 0)),
        (3, 7, (3, 7)),
        (0, 0, (0, MODULUS)),
        (MODULUS + 3, MODULUS + 4, (3, 4)),
        (-1, -2, (MODULUS - 1, MODULUS - 2)),
        (MODULUS, 0, (0, MODULUS)),
    ],
)
def test_seeds_of_ops(global_seed, seed, expected):
    tf.random.set_seed(global_seed)
    assert seeds.lasting_seeds(seed) == expected and seeds.op_seeds(seed) == expected


def test_seeds_follow_from_the_global_seed():
    tf.random.set_seed(5)
    first = [seeds.op_seeds(None) for _ in range(3)]
    tf.random.set_seed(tf.constant(5))
    assert [seeds.op_seeds(None) for _ in range(3)] == first and len(set(first)) == 3
    assert {a for a, _ in first} == {5}
    with tf.Graph().as_default():
        assert [seeds.op_seeds(None) for _ in range(3)] == [(5, 0), (5, 1), (5, 2)]
    with tf.Graph().as_default():
        assert seeds.op_seeds(None) == (5, 0)
    with pytest.raises(TypeError):
        tf.random.set_seed([1, 2])


def test_determinism_wants_a_seed(monkeypatch):
    monkeypatch.setattr(settings, "deterministic", True)
    with pytest.raises(RuntimeError, match="Random ops require a seed to be set when determinism is enabled"):
        seeds.op_seeds(None)
    assert seeds.op_seeds(3) == (DEFAULT, 3)
    tf.random.set_seed(1)
    assert seeds.op_seeds(None)[0] == 1


def test_streams_go_on():
    assert seeds.reserve("op", 1, 2, 10) == from_seeds(1, 2)
    assert seeds.reserve("op", 1, 2, 5) == from_seeds(1, 2).skipped(10)
    assert seeds.reserve("op", 1, 2, 1) == from_seeds(1, 2).skipped(15)
    for other in (("other", 1, 2), ("op", 2, 2), ("op", 1, 3), (("op", "attr"), 1, 2)):
        assert seeds.reserve(*other, 1) == from_seeds(*other[1:])
    tf.random.set_seed(None)
    assert seeds.reserve("op", 1, 2, 1) == from_seeds(1, 2)
    assert seeds.reserve("op", 0, 0, 1) != seeds.reserve("op", 0, 0, 1)
    assert [seeds.reserve("op", 0, 5, 1) for _ in range(2)] == [from_seeds(0, 5), from_seeds(0, 5).skipped(1)]


def test_ops_without_a_seed_of_their_own_begin_a_stream():
    tf.random.set_seed(5)
    pair = seeds.op_seeds(None)
    assert seeds.reserve("op", *pair, 10) == from_seeds(*pair)  # which is not continued
    assert seeds.reserve("op", *pair, 10) == from_seeds(*pair)
    assert seeds.reserve("op", *pair, 10) == from_seeds(*pair).skipped(10)
    lasting = seeds.lasting_seeds(None)
    assert seeds.reserve("op", *lasting, 10) == from_seeds(*lasting)
    assert seeds.reserve("op", *lasting, 10) == from_seeds(*lasting).skipped(10)


class Operation:
    """An operation of a graph."""


def test_each_operation_and_session_has_its_streams():
    first, second = Operation(), Operation()
    draw = lambda: seeds.reserve("op", 1, 2, 10)  # noqa: E731
    of_first, of_second = seeds.of_operation(first, draw), seeds.of_operation(second, draw)
    assert of_first() == of_second() == draw() == from_seeds(1, 2)
    assert of_first() == of_second() == draw() == from_seeds(1, 2).skipped(10)
    own = seeds.Streams()
    with seeds.own_streams(own):
        assert draw() == of_first() == from_seeds(1, 2)
        with seeds.own_streams(None):
            assert draw() == from_seeds(1, 2).skipped(20)
        assert draw() == from_seeds(1, 2).skipped(10)
    own.clear()
    with seeds.own_streams(own):
        assert draw() == of_first() == from_seeds(1, 2)
    assert draw() == from_seeds(1, 2).skipped(30)

    def fails():
        raise KeyError

    with pytest.raises(KeyError):
        seeds.of_operation(first, fails)()
    assert draw() == from_seeds(1, 2).skipped(40)  # no operation's any more
    assert len(own._of_operations) == 1
    del first, of_first
    gc.collect()
    assert len(own._of_operations) == 0


def test_draws_for_all_slices_at_once_are_refused():
    with override(state, on_slices=True):
        for call in (lambda: seeds.op_seeds(3), lambda: seeds.reserve("op", 1, 2, 3)):
            with pytest.raises(RuntimeError, match="a draw of random numbers happens once for each slice"):
                call()
        assert seeds.op_seeds(None) == (0, 0)


def test_generators_of_torch():
    generator = seeds.torch_generator(torch.device("cpu"))
    assert seeds.torch_generator(torch.device("cpu")) is generator is not torch.default_generator
