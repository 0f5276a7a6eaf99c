"""The frames of Python in large functions."""

import pytest

import tapeflow as tf

resource = pytest.importorskip("resource")

STEPS, DEPTHS = 600, 150


def test_the_depth_of_the_caller_does_not_matter():
    filters = tf.ones([3, 3, 2, 2])

    @tf.function(autograph=False)
    def convolve(x):
        for _ in range(STEPS):
            x = tf.nn.conv2d(x, filters, 1, "SAME")
        return x

    def faults_at(depth):
        """Returns how often a call touches new pages of memory."""
        if depth:
            return faults_at(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        convolve(image)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    image = tf.zeros([1, 4, 4, 2])
    convolve(image)
    # If the frames of steps did not fit into a chunk, each step would touch a new one.
    assert max(map(faults_at, range(DEPTHS))) < STEPS // 2
