"""The static number of rows of crossed features: of the one input that tells it, and refused if two differ."""

import pytest

import tapeflow as tf

placeholder = tf.compat.v1.placeholder


def ragged(splits):
    """A ragged tensor with a static number of row splits, or None."""
    values = placeholder(tf.int64, [None])
    return tf.RaggedTensor.from_row_splits(values, placeholder(tf.int64, [splits]), validate=False)


def dense(*shape):
    return placeholder(tf.int64, shape)


@pytest.mark.parametrize(
    ("make", "splits"),
    [
        (lambda: [ragged(4), dense(None, 1)], 4),
        (lambda: [ragged(None), dense(3, 1)], 4),
        (lambda: [ragged(4), dense(3, 1)], 4),
        (lambda: [ragged(4), ragged(None)], 4),
        (lambda: [ragged(None), dense(None, 1)], None),
        (lambda: [ragged(None), placeholder(tf.int64, None)], None),
        (lambda: [ragged(4), dense(2, 1)], "inputs must all have the same batch dimension size"),
        (lambda: [ragged(4), ragged(3)], "inputs must all have the same batch dimension size"),
        (lambda: [ragged(None), dense(3)], "only supports inputs with rank=2"),
    ],
)
def test_row_splits(make, splits):
    with tf.Graph().as_default():
        if isinstance(splits, str):
            with pytest.raises(ValueError, match=splits):
                tf.ragged.cross_hashed(make())
        else:
            assert tf.ragged.cross_hashed(make()).row_splits.shape.as_list() == [splits]
