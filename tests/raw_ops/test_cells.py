"""Ops that compute recurrent cells: steps behind the longest sequence, peepholes, clipped states."""

import numpy as np
import pytest

import tapeflow as tf

R = tf.raw_ops
NAMES = ("i", "cs", "f", "o", "ci", "co", "h")
X = tf.reshape(tf.range(24.0), [3, 2, 4]) / 24 - 0.4
INPUTS = {
    "cs_prev": tf.reshape(tf.range(6.0), [2, 3]) / 9,
    "h_prev": tf.reshape(tf.range(6.0), [2, 3]) / 6 - 0.3,
    "w": tf.reshape(tf.range(84.0), [7, 12]) % 11 / 11 - 0.5,
    "wci": [0.1, 0.2, 0.3],
    "wcf": [0.3, 0.1, -0.2],
    "wco": [-0.4, 0.2, 0.5],
    "b": tf.range(12.0) / 12 - 0.4,
    "use_peephole": True,
}
UPSTREAM = tf.reshape(tf.range(18.0), [3, 2, 3]) / 10


def lstm(version, x, steps, **options):
    options = {**INPUTS, "cell_clip": 0.3, **options}
    return getattr(R, f"BlockLSTM{version}")(seq_len_max=tf.constant(steps, tf.int64), x=x, **options)


def gradients(version, x, steps, outputs, **options):
    upstream = UPSTREAM[: len(x)]
    return getattr(R, f"BlockLSTMGrad{version}")(
        seq_len_max=tf.constant(steps, tf.int64), x=x, **{**INPUTS, **options},
        **dict(zip(NAMES, outputs, strict=True)), cs_grad=upstream, h_grad=upstream * 0.5,
    )  # fmt: skip


@pytest.mark.parametrize("version", ["", "V2"])
def test_steps_behind_the_longest_sequence_are_zeros(version):
    short = lstm(version, X[:2], 2)
    for found, expected in zip(lstm(version, X, 2), short, strict=True):
        np.testing.assert_allclose(found[:2], expected, rtol=1e-6)
        assert not found[2].numpy().any()
    for found, expected in zip(lstm(version, X, 3), short, strict=True):
        np.testing.assert_allclose(found[:2], expected, rtol=1e-6)
        assert found[2].numpy().any()


@pytest.mark.parametrize("version", ["", "V2"])
def test_steps_behind_the_longest_sequence_have_no_gradients(version):
    short = gradients(version, X[:2], 2, lstm(version, X[:2], 2))
    found = gradients(version, X, 2, lstm(version, X, 2))
    np.testing.assert_allclose(found[0][:2], short[0], rtol=1e-6)
    assert not found[0][2].numpy().any()
    for one, other in zip(found[1:], short[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


SUMS = {
    "": [7.622840404510498, 2.0186614990234375, 12.57231330871582, 10.485610008239746, -0.07627052068710327,
                 1.9700714349746704, 1.1063634157180786],
    "V2": [7.632199287414551, 2.244292736053467, 8.906554222106934, 10.575923919677734, 2.6510672569274902,
                   2.2157411575317383, 1.2896651029586792],
}  # fmt: skip


@pytest.mark.parametrize("version", ["", "V2"])
def test_sums_of_outputs(version):
    options = {} if version else {"forget_bias": 0.7}
    found = [float(tf.reduce_sum(output)) for output in lstm(version, X, 3, **options)]
    np.testing.assert_allclose(found, SUMS[version], rtol=1e-5)


@pytest.mark.parametrize(("version", "sums"), [
    ("", [0.64, 4.616, 1.594, 1.053, 0.0, 0.0, 0.0, 7.429]),
    ("V2", [3.113, 1.899, -1.508, 1.235, 0.0, 0.0, 0.0, 5.096]),
])  # fmt: skip
def test_without_peepholes_their_gradients_are_zeros(version, sums):
    options = {} if version else {"forget_bias": 0.7}
    found = gradients(version, X, 2, lstm(version, X, 2, **options), use_peephole=False)
    np.testing.assert_allclose([float(tf.reduce_sum(g)) for g in found], sums, atol=1e-3)


@pytest.mark.parametrize("clip", [0.15, 0.0, -1.0])
def test_only_a_positive_number_clips_the_state(clip):
    state = lstm("V2", X, 3, cell_clip=clip)[1].numpy()
    assert bool(abs(state).max() <= np.float32(0.15)) is (clip > 0)
    np.testing.assert_array_equal(state, lstm("V2", X, 3, cell_clip=clip if clip > 0 else 1e9)[1])


@pytest.mark.parametrize("peephole", [True, False])
def test_a_sequence_is_cells_in_turn(peephole):
    cs, h = INPUTS["cs_prev"], INPUTS["h_prev"]
    whole = lstm("", X, 3, use_peephole=peephole, forget_bias=0.5)
    for t in range(3):
        options = {**INPUTS, "cs_prev": cs, "h_prev": h, "use_peephole": peephole, "cell_clip": 0.3}
        step = R.LSTMBlockCell(x=X[t], **options, forget_bias=0.5)
        for one, other in zip(step, whole, strict=True):
            np.testing.assert_allclose(one, other[t], rtol=1e-6)
        cs, h = step[1], step[6]


@pytest.mark.parametrize("name", ["BlockLSTM", "BlockLSTMV2"])
def test_no_steps(name):
    outputs = lstm(name[9:], tf.zeros([0, 2, 4]), 0)
    assert [output.shape.as_list() for output in outputs] == [[0, 2, 3]] * 7


def test_the_gradient_of_a_cell_is_that_of_its_formula():
    inputs = [tf.constant(INPUTS[n]) for n in ("cs_prev", "wci", "wcf", "wco")]
    options = {"w": INPUTS["w"], "b": INPUTS["b"], "h_prev": INPUTS["h_prev"], "use_peephole": True, "cell_clip": 0.0}
    with tf.GradientTape() as tape:
        tape.watch([*inputs, INPUTS["b"]])
        cs_prev, wci, wcf, wco = inputs
        parts = tf.split(tf.concat([X[0], INPUTS["h_prev"]], 1) @ INPUTS["w"] + INPUTS["b"], 4, axis=1)
        i, f = tf.sigmoid(parts[0] + cs_prev * wci), tf.sigmoid(parts[2] + 0.25 + cs_prev * wcf)
        cs = tf.tanh(parts[1]) * i + cs_prev * f
        h = tf.sigmoid(parts[3] + cs * wco) * tf.tanh(cs)
        loss = tf.reduce_sum(cs * UPSTREAM[0]) + tf.reduce_sum(h * UPSTREAM[1])
    expected = tape.gradient(loss, [*inputs, INPUTS["b"]])
    cell = R.LSTMBlockCell(x=X[0], cs_prev=cs_prev, wci=wci, wcf=wcf, wco=wco, forget_bias=0.25, **options)
    np.testing.assert_allclose(cell.h, h, rtol=1e-5)
    del options["cell_clip"]
    found = R.LSTMBlockCellGrad(
        x=X[0], cs_prev=cs_prev, wci=wci, wcf=wcf, wco=wco, **options, **dict(zip(NAMES[:6], cell[:6], strict=True)),
        cs_grad=UPSTREAM[0], h_grad=UPSTREAM[1],
    )  # fmt: skip
    for one, other in zip((found[0], *found[2:]), expected[:4], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(tf.reduce_sum(found[1], 0), expected[4], rtol=1e-4)


def test_the_gradient_of_a_gated_unit_is_that_of_its_formula():
    x, h_prev = X[0], INPUTS["h_prev"]
    w_ru, w_c = INPUTS["w"][:, :6], INPUTS["w"][:, 6:9]
    b_ru, b_c = tf.range(6.0) / 6, tf.constant([0.1, -0.2, 0.3])
    with tf.GradientTape() as tape:
        tape.watch([x, h_prev, b_c, b_ru])
        r, u = tf.split(tf.sigmoid(tf.concat([x, h_prev], 1) @ w_ru + b_ru), 2, axis=1)
        c = tf.tanh(tf.concat([x, h_prev * r], 1) @ w_c + b_c)
        h = (1 - u) * c + u * h_prev
    expected = tape.gradient(h, [x, h_prev, b_c, b_ru], UPSTREAM[0])
    found = R.GRUBlockCell(x=x, h_prev=h_prev, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c)
    for one, other in zip(found, (r, u, c, h), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    found = R.GRUBlockCellGrad(
        x=x, h_prev=h_prev, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c, r=r, u=u, c=c, d_h=UPSTREAM[0]
    )
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
    np.testing.assert_allclose(tf.reduce_sum(found[2], 0), expected[2], rtol=1e-5)
    np.testing.assert_allclose(tf.reduce_sum(found[3], 0), expected[3], rtol=1e-5)
