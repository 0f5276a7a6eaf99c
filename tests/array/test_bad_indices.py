"""`bad_indices_policy`: the same words everywhere. Expected: TensorFlow's."""

import pytest

import tapeflow as tf

CALLS = {
    "gather_nd": lambda policy: tf.gather_nd([1.0, 2.0], [[0]], bad_indices_policy=policy),
    "scatter_nd": lambda policy: tf.scatter_nd([[0]], [1.0], [3], bad_indices_policy=policy),
} | {
    name: lambda policy, name=name: getattr(tf, name)([1.0, 2.0], [[0]], [3.0], bad_indices_policy=policy)
    for name in map("tensor_scatter_nd_{}".format, ("add", "sub", "min", "max"))
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_unknown_policies_are_refused(name, wrap):
    for policy in ("foo", "error", "ignore"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Unknown bad indices handling attribute: {policy}"):
            wrap(lambda policy=policy: CALLS[name](policy))()
    results = [wrap(lambda p=p: CALLS[name](p))().numpy().tolist() for p in ("", "DEFAULT", "ERROR", "IGNORE")]
    assert results == results[:1] * 4


def test_indices_out_of_range_in_loops():
    @tf.function
    def total(x, count):
        s = 0.0
        for k in tf.range(count):
            s += tf.reduce_sum(tf.gather_nd(x, [[k]], bad_indices_policy="IGNORE"))
        return s

    assert total(tf.constant([1.0, 2.0, 3.0]), tf.constant(5)).numpy() == 6
