"""The lines of the user's code that operations name, against Python's own stack."""

import random
import traceback

import pytest

import tapeflow as tf


def lines(frames):
    """The functions and lines of this file, from the traced function on."""
    found = [(f.name, f.lineno) for f in frames if f.filename == __file__]
    return found[[name for name, _ in found].index("traced") :]


@pytest.mark.parametrize("seed", range(5))
def test_operations_name_all_their_callers(seed):
    rng, pairs = random.Random(seed), []

    def add(x):
        stack, y = traceback.extract_stack(), x + 1.0; pairs.append((stack, y)); return y  # noqa: E702  # fmt: skip

    def left(x, depth):
        x = add(x) if rng.random() < 0.5 else x
        return call(x, depth - 1) if depth else add(x)

    def right(x, depth):
        return [add(x), call(add(x), depth - 1) if depth else x][-1]

    def call(x, depth):
        if rng.random() < 0.5:
            return left(x, depth)
        return right(x, depth)

    @tf.function(autograph=False)
    def traced(x):
        for _ in range(20):
            x = call(x, rng.randrange(6))
        return x

    traced.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert len(pairs) > 20
    for stack, y in pairs:
        assert lines(y.op.traceback) == lines(stack)


def test_operations_of_one_line_share_their_callers():
    """The positions of callers take the memory of one for each place, however many operations it adds."""

    def add(x):
        return x + 1.0

    @tf.function(autograph=False)
    def traced(x):
        for _ in range(20):
            x = add(x)
        return add(x)

    graph = traced.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    adds = [o.position for o in graph.get_operations() if o.type == "AddV2"]
    assert len(adds) == 21 and len({id(caller) for _, _, caller in adds}) == 2
    assert adds[20][2] is not adds[19][2] and adds[20][2][2] is adds[0][2][2]
