"""`tf.random`: the numbers are TensorFlow's own, for every seed; and what has no seed is distributed as it should
be."""

import gc
import threading
import zlib

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.rng import philox, seeds
from tapeflow.core.rng.philox import Philox

Invalid = tf.errors.InvalidArgumentError


def checksum(tensor):
    return zlib.crc32(np.ascontiguousarray(tensor.numpy()).tobytes())


# What TensorFlow 2.21 gives on a CPU: the CRC-32 of all bits.
EXACT = [
    ("tf.random.stateless_uniform([100001],[1,2])", 2422087553),
    ("tf.random.stateless_uniform([1001],[3,4],dtype=tf.float64)", 2886924046),
    ("tf.random.stateless_uniform([1001],[3,4],dtype=tf.float16)", 1702643274),
    ("tf.random.stateless_uniform([1001],[3,4],dtype=tf.bfloat16)", 690181900),
    ("tf.random.stateless_uniform([1001],[3,4],-7,1000,dtype=tf.int32)", 600387897),
    ("tf.random.stateless_uniform([1001],[3,4],-7,2**62,dtype=tf.int64)", 2979471558),
    ("tf.random.stateless_uniform([1001],[3,4],None,None,dtype=tf.uint32)", 3400572318),
    ("tf.random.stateless_uniform([1001],[3,4],None,None,dtype=tf.int64)", 1939015732),
    ("tf.random.stateless_normal([200001],[1,2])", 1534107792),
    ("tf.random.stateless_normal([1001],[3,4],dtype=tf.float16)", 1020899363),
    ("tf.random.stateless_normal([1001],[3,4],2.0,3.0)", 62593440),
    ("tf.random.stateless_truncated_normal([20001],[1,2])", 776317958),
    ("tf.random.stateless_gamma([500,3],[1,2],[.5,1.,3.])", 1233160455),
    ("tf.random.stateless_poisson([500,3],[1,2],[.5,5.,30.])", 3051997196),
    ("tf.random.stateless_binomial([500,4],[1,2],[10.,50.,100.,20.],[.3,.5,.9,.95])", 2175345327),
    ("tf.random.stateless_categorical([[1.,2.,3.,-np.inf],[0.,0.,0.,0.]],20,[1,2])", 4268896258),
    (
        "tf.random.stateless_parameterized_truncated_normal([10,3],[1,2],[0.,1.,2.],[1.,2.,.5],[-1.,3.,1.9],[1.,4.,2.1])",
        4001423114,
    ),
    ("tf.random.experimental.stateless_shuffle(tf.range(1000),[1,2])", 495133724),
    ("tf.random.experimental.index_shuffle(tf.range(200),[5,9],999)", 2768571851),
    ("tf.random.experimental.index_shuffle(tf.constant([1,5,2**40],tf.int64),[5,9],2**41)", 2374876148),
    ("tf.random.split([1,2],5)", 3426714991),
]


@pytest.mark.parametrize(("call", "expected"), EXACT)
def test_stateless_numbers_to_the_last_bit(call, expected):
    assert checksum(eval(call, {"tf": tf, "np": np})) == expected


# The numbers that TensorFlow 2.21 gives one after the other, after `tf.random.set_seed(1234)`.
SEQUENCE = [
    ("tf.random.normal([3])", [0.8369314074516296, -0.7342977523803711, 1.0402942895889282]),
    ("tf.random.normal([3])", [1.1468065977096558, 0.9645992517471313, 0.8783014416694641]),
    ("tf.random.uniform([3])", [0.5975098609924316, 0.30313777923583984, 0.997681736946106]),
    ("tf.random.uniform([3],maxval=100,dtype=tf.int32)", [1, 57, 18]),
    ("tf.random.truncated_normal([3])", [1.812171459197998, 0.7068177461624146, 0.5930927395820618]),
    (
        "tf.random.gamma([2],[0.5,1.0,2.0])",
        [
            [0.14474844932556152, 0.5170677304267883, 3.4123237133026123],
            [0.43723809719085693, 0.06679749488830566, 1.314864158630371],
        ],
    ),
    ("tf.random.poisson([3],[4.0,40.0])", [[3.0, 43.0], [1.0, 31.0], [5.0, 30.0]]),
    ("tf.random.categorical([[1.,2.,3.]],6)", [[2, 1, 1, 1, 2, 2]]),
    ("tf.random.shuffle(tf.range(8))", [0, 1, 3, 5, 6, 4, 2, 7]),
    ("tf.random.normal([2],dtype=tf.float64)", [-0.9437593738507711, -0.29303369104274457]),
    ("tf.random.uniform([3],-2.0,5.0)", [3.616476058959961, 2.803955078125, 0.47434401512145996]),
    ("tf.random.normal([2],seed=7)", [0.24783720076084137, 0.6263483166694641]),
    ("tf.random.normal([2],seed=7)", [-0.43757325410842896, 1.8310805559158325]),
    ("tf.random.uniform([2],seed=7)", [0.7970261573791504, 0.05996668338775635]),
    ("tf.random.uniform([1],seed=7)", [0.16996490955352783]),
]


def test_numbers_after_set_seed():
    for _ in range(2):
        tf.random.set_seed(1234)
        for call, expected in SEQUENCE:
            np.testing.assert_allclose(eval(call, {"tf": tf}).numpy(), expected, rtol=1e-14, err_msg=call)


def test_doubles():
    found = tf.random.stateless_normal([3], [1, 2], dtype=tf.float64)
    np.testing.assert_allclose(found, [-0.14231180978961535, 0.7406072518219868, -1.4690476711664744], rtol=1e-7)
    found = tf.random.stateless_truncated_normal([2], (1, 2), mean=1, stddev=2, dtype=tf.float64)
    np.testing.assert_allclose(found, [0.71537638, 2.48121449], rtol=1e-7)


def test_op_seeds_alone_and_with_a_global_seed():
    first = tf.random.normal([2], seed=7).numpy()
    np.testing.assert_allclose(first, [-0.046945683658123016, -1.2039023637771606])
    np.testing.assert_allclose(tf.random.normal([2], seed=7), [-1.1940083503723145, -1.1085455417633057])
    tf.random.set_seed(0)
    np.testing.assert_allclose(tf.random.normal([2], seed=0), [0.12391895, 2.798774], rtol=1e-6)
    np.testing.assert_allclose(tf.random.normal([2], seed=-3), [0.23693202, -1.2490551], rtol=1e-6)
    tf.random.set_seed(-5)
    np.testing.assert_allclose(tf.random.normal([2]), [-0.48826247, 0.94061285], rtol=1e-6)
    tf.random.set_seed(np.array(3))
    a = tf.random.uniform([2]).numpy()
    tf.random.set_seed(3)
    assert tf.random.uniform([2]).numpy().tolist() == a.tolist()


def test_calls_of_one_seed_with_other_dtypes_are_other_streams():
    tf.random.set_seed(1)
    a = tf.random.uniform([2], seed=5).numpy()
    tf.random.uniform([2], dtype=tf.float64, seed=5)
    b = tf.random.uniform([2], seed=5).numpy()
    tf.random.set_seed(1)
    assert tf.random.uniform([2], seed=5).numpy().tolist() == a.tolist()
    assert tf.random.uniform([2], seed=5).numpy().tolist() == b.tolist()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.normal([4]),
        lambda: tf.random.uniform([4]),
        lambda: tf.random.uniform([4], maxval=2**30, dtype=tf.int32),
        lambda: tf.random.truncated_normal([4]),
        lambda: tf.random.gamma([4], 2.0),
        lambda: tf.random.poisson([4], 1e6),
        lambda: tf.random.categorical(tf.zeros([1, 1000]), 4),
        lambda: tf.random.shuffle(tf.range(100)),
    ],
)
def test_without_a_seed_every_call_gives_other_numbers_and_torch_is_left_alone(draw):
    state = torch.get_rng_state()
    assert draw().numpy().tolist() != draw().numpy().tolist()
    assert torch.equal(torch.get_rng_state(), state)


def test_threads_draw_other_numbers():
    found = []
    threads = [threading.Thread(target=lambda: found.append(tf.random.normal([8]).numpy().tolist())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(f) for f in found}) == 4


# Mean and variance of each distribution, which 20000 samples meet within five standard errors.
MOMENTS = [
    (lambda n: tf.random.normal([n], 2.0, 3.0), 2.0, 9.0),
    (lambda n: tf.random.uniform([n], -1.0, 3.0), 1.0, 16 / 12),
    (lambda n: tf.random.uniform([n], 0, 10, dtype=tf.int64), 4.5, 8.25),
    (lambda n: tf.random.truncated_normal([n]), 0.0, 0.7737413),
    (lambda n: tf.random.gamma([n], 2.0, 4.0), 0.5, 0.125),
    (lambda n: tf.random.gamma([n], 0.5), 0.5, 0.5),
    (lambda n: tf.random.poisson([n], 3.0), 3.0, 3.0),
    (lambda n: tf.random.poisson([n], 30.0, dtype=tf.int32), 30.0, 30.0),
    (lambda n: tf.random.categorical(tf.math.log([[0.2, 0.8]]), n)[0], 0.8, 0.16),
    (lambda n: tf.random.stateless_binomial([n], [1, 2], 100.0, 0.3), 30.0, 21.0),
    (lambda n: tf.random.stateless_binomial([n], [1, 2], 10.0, 0.9), 9.0, 0.9),
]


@pytest.mark.parametrize("seed", [None, 11])
@pytest.mark.parametrize(("draw", "mean", "variance"), MOMENTS)
def test_moments(draw, mean, variance, seed):
    tf.random.set_seed(seed)
    count = 20000
    found = draw(count).numpy().astype(np.float64)
    assert abs(found.mean() - mean) < 5 * np.sqrt(variance / count)
    assert abs(found.var() / variance - 1) < 0.15


def test_gradients_pass_to_parameters():
    scale = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(scale)
        y = tf.random.stateless_normal([2], [1, 2], stddev=scale)
    np.testing.assert_allclose(tape.gradient(y, scale), tf.random.stateless_normal([2], [1, 2]), rtol=1e-6)


def test_gradient_of_gamma():
    alpha = tf.constant([0.5, 1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = tf.random.stateless_gamma([2, 3], [1, 2], alpha)
    np.testing.assert_allclose(tape.gradient(y, alpha), [1.8916622, 3.3099451, 2.0781584], rtol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = tf.random.gamma([2], alpha, seed=3)
    np.testing.assert_allclose(tape.gradient(y, alpha), [0.27192035, 2.1715097, 2.315120], rtol=1e-5)


def test_gradient_of_gamma_is_exact_far_and_near():
    from tapeflow.random.gamma_gradient import random_gamma_grad

    alpha = tf.constant([0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1000.0], tf.float64)
    sample = tf.constant([0.01, 0.7, 1.0, 1.0, 12.0, 90.0, 1020.0], tf.float64)
    expected = [0.4227934381297029, 1.5867249444503853, 1.1735630272247275, 0.7507786921262597, 1.112329443018088,
                0.9498259498011444, 1.010102329225521]  # fmt: skip
    np.testing.assert_allclose(random_gamma_grad(alpha, sample), expected, rtol=1e-8)


# ---- Generator -------------------------------------------------------------------------------------------------------


def test_generator_gives_tensorflows_numbers():
    make = tf.random.Generator.from_seed
    np.testing.assert_allclose(make(1).normal([2]), [0.43842274, -0.53439844], rtol=1e-6)
    np.testing.assert_allclose(make(1).truncated_normal([3]), [0.43842274, -0.53439844, -0.07710262], rtol=1e-6)
    assert make(1).uniform([2], 5, 10, dtype=tf.int32).numpy().tolist() == [9, 9]
    assert make(1).uniform([2], None, dtype=tf.int32).numpy().tolist() == [-119223132, 1555169499]
    assert make(1).uniform_full_int([2]).numpy().tolist() == [6679402142117448868, 684265014234019051]
    assert make(1).binomial([3], counts=10.0, probs=0.5).numpy().tolist() == [5, 5, 7]
    assert make(1).make_seeds(2).numpy().tolist() == [[6679402142117448868, 684265014234019051], [0, 0]]
    assert [g.state.numpy().tolist() for g in make(1).split(2)] == [
        [0, 0, 6679402142117448868],
        [0, 0, 684265014234019051],
    ]
    found = tf.random.Generator.from_state([1, 2, 3], "philox").normal([2])
    np.testing.assert_allclose(found, [-0.26016375, -1.220522], rtol=1e-6)


def test_generator_state():
    g = tf.random.Generator.from_seed(1)
    g.normal([3])
    assert g.state.numpy().tolist() == [769, 0, 0]
    g.binomial([4, 2], counts=[10.0, 100.0], probs=[0.5, 0.6])
    assert g.state.numpy().tolist() == [179969, 0, 0]
    assert g.skip(5).numpy().tolist() == [179969, 0, 0]
    g.reset([-1, 5, 6])
    g.skip(1)
    assert g.state.numpy().tolist() == [255, 6, 6]
    g.reset_from_seed(9)
    assert g.state.numpy().tolist() == [9, 0, 0]
    g.reset_from_key_counter(1, [2, 3])
    assert g.state.numpy().tolist() == [2, 3, 1]
    assert int(g.key) == 1 and g.algorithm == 1
    assert isinstance(g.state, tf.Variable) and not g.state.trainable


def test_generators_share_or_copy_a_state():
    state = tf.Variable([1, 0, 0], dtype=tf.int64)
    g = tf.random.Generator.from_state(state, "philox")
    g.uniform([2])
    assert state.numpy()[0] == 513
    copied = tf.random.Generator(copy_from=g)
    copied.uniform([2])
    assert state.numpy()[0] == 513 and copied.state.numpy()[0] == 1025


@pytest.mark.parametrize(
    ("seed", "expected"),
    [(1, [1, 0, 0]), (2**70 + 5, [5, 64, 0]), (-1, [-1, -1, -1]), ([1], [0, 0, 1]), ([1, 2, 3, 4], [1, 2, 3])],
)
def test_states_of_seeds(seed, expected):
    assert tf.random.create_rng_state(seed, tf.random.Algorithm.PHILOX).numpy().tolist() == expected


def test_global_generator():
    assert tf.random.get_global_generator() is tf.random.get_global_generator()
    mine = tf.random.Generator.from_seed(1)
    tf.random.set_global_generator(mine)
    assert tf.random.experimental.get_global_generator() is mine
    other = tf.random.Generator.from_non_deterministic_state()
    assert other.state.numpy().tolist() != tf.random.Generator.from_non_deterministic_state().state.numpy().tolist()


# ---- permutations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [["a", "b", "c"], [[1, 2], [3, 4], [5, 6]], [], 5, [True, False]])
def test_shuffle_keeps_what_there_is(value):
    for shuffled in (tf.random.shuffle(value), tf.random.shuffle(value, seed=1),
                     tf.random.experimental.stateless_shuffle(value, [1, 2])):  # fmt: skip
        given = tf.convert_to_tensor(value)
        assert shuffled.dtype == given.dtype and shuffled.shape == given.shape
        assert sorted(map(str, np.atleast_1d(shuffled.numpy()))) == sorted(map(str, np.atleast_1d(given.numpy())))


@pytest.mark.parametrize("bound", [1, 2, 7, 255, 256, 300, 70000])
def test_index_shuffle_is_a_permutation(bound):
    count = min(bound + 1, 400)
    found = tf.random.experimental.index_shuffle(tf.range(count), [1, 2], bound).numpy()
    assert len(set(found.tolist())) == count
    assert found.min() >= 0 and found.max() <= bound


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        ("tf.random.normal(3)", Invalid, "shape must be a vector of {int32,int64}, got shape []"),
        ("tf.random.normal([-1])", Invalid, "Dimension -1 must be >= 0"),
        ("tf.random.normal([1.5])", Invalid, "Value for attr 'T' of float"),
        ("tf.random.normal([2], dtype=tf.int32)", TypeError, "Cannot convert 0.0 to EagerTensor of dtype int32"),
        ("tf.random.normal([2], dtype=tf.complex64)", Invalid, "complex64"),
        ("tf.random.normal([2], mean=[1.0, 2.0, 3.0])", Invalid, "Incompatible shapes: [2] vs. [3]"),
        ("tf.random.uniform([2], dtype=tf.int32)", ValueError, "Must specify maxval for integer dtype"),
        ("tf.random.uniform([2], 5, 5, dtype=tf.int32)", Invalid, "Need minval < maxval, got 5 >= 5"),
        ("tf.random.uniform([2], [1, 2], 5, dtype=tf.int32)", Invalid, "minval must be 0-D, got shape [2]"),
        ("tf.random.uniform([2], dtype=tf.bool)", ValueError, "Argument `dtype` got invalid value"),
        ("tf.random.gamma([2], 1, dtype=tf.int32)", ValueError, "not inexact"),
        ("tf.random.poisson([2], ['a'])", Invalid, "string"),
        ("tf.random.categorical([1.0, 2.0], 2)", Invalid, "logits should be a matrix, got shape [2]"),
        ("tf.random.categorical([[1.0]], -1)", Invalid, "num_samples should be non-negative, got -1"),
        ("tf.random.categorical(tf.zeros([2, 0]), 2)", Invalid, "num_classes should be positive, got 0"),
        ("tf.random.categorical([[1.0]], 2, tf.float32)", ValueError, "Accepted dtypes are (tf.int32, tf.int64)"),
        ("tf.random.categorical([[1, 2]], 2)", tf.errors.NotFoundError, "integers"),
        ("tf.random.stateless_uniform([2], [1])", Invalid, "seed must have shape [2], not [1]"),
        ("tf.random.stateless_uniform([2], [1.0, 2.0])", Invalid, "Tseed"),
        ("tf.random.stateless_uniform([2], [1, 2], alg='foo')", ValueError, "unsupported value foo"),
        ("tf.random.stateless_uniform([2], [1, 2], alg='threefry')", Invalid, "ThreeFry"),
        ("tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)", ValueError, "must be both None or not None"),
        ("tf.random.stateless_uniform([2], [1, 2], 0, 5, dtype=tf.uint32)", ValueError, "unsigned integers"),
        ("tf.random.stateless_gamma([2], [1, 2], [1.0, 2.0, 3.0])", Invalid, "Shape passed in must end with"),
        ("tf.random.stateless_binomial([2], [1, 2], [1.0, 2.0], [0.1, 0.2, 0.3])", Invalid, "compatible batch"),
        ("tf.random.stateless_parameterized_truncated_normal([2], [1, 2], 0.0, -1.0)", Invalid, "Invalid parameters"),
        ("tf.random.Generator.from_state([1, 2], 'philox')", ValueError, "Shapes (2,) and [3] are incompatible"),
        ("tf.random.Generator.from_seed(1, 'threefry').normal([1])", tf.errors.UnimplementedError, "ThreeFry"),
        ("tf.random.create_rng_state(1, 7)", ValueError, "unsupported value 7"),
        ("tf.random.experimental.index_shuffle(5, [1, 2], 3)", Invalid, "max_index must be >= index, but 3 < 5"),
    ],
)
def test_bad_arguments(call, error, says):
    with pytest.raises(error) as caught:
        eval(call, {"tf": tf})
    assert type(caught.value) is error
    assert says in str(caught.value)


def test_determinism_wants_a_seed(monkeypatch):
    from tapeflow.core.settings import settings

    monkeypatch.setattr(settings, "deterministic", True)
    with pytest.raises(RuntimeError, match="Random ops require a seed"):
        tf.random.normal([1])
    tf.random.normal([1], seed=1)


@pytest.mark.parametrize("counter", [0, 2**32 - 2, 2**64 - 3, 2**96 - 1, 2**128 - 2])
def test_blocks_are_the_same_however_they_are_computed(counter):
    from tapeflow.core.rng.philox import Philox, _tensor_blocks

    stream = Philox(0x0123456789ABCDEF, counter)
    together = stream.words(9, torch.device("cpu"))
    assert torch.equal(together, torch.cat([stream.skipped(i).words(1, torch.device("cpu")) for i in range(9)]))
    assert torch.equal(together, _tensor_blocks(stream, torch.arange(9)))
    at = stream.words_at(np.array([3, 0, 8]))
    assert np.array_equal(at.view(np.int32), together.numpy()[[3, 0, 8]])


def test_a_graph_knows_as_much_of_the_shape_as_of_the_numbers():
    shapes = []

    @tf.function
    def draw(x):
        sizes = tf.shape(x)
        shapes.extend(r.shape.as_list() for r in (tf.random.normal(sizes), tf.random.stateless_uniform(sizes, [1, 2])))
        shapes.append(tf.nn.dropout(x, 0.5).shape.as_list())

    draw.get_concrete_function(tf.TensorSpec([None, 3]))
    assert shapes == [[None, 3]] * 3


# ---- operations of graphs --------------------------------------------------------------------------------------------


def drawn(*tensors):
    return [round(float(t[0]), 6) for t in tensors]


def test_each_operation_of_a_function_has_a_stream_of_its_own():
    """The numbers are TensorFlow 2.21's."""
    tf.random.set_seed(1234)
    first, second = (tf.function(lambda: (tf.random.uniform([1]), tf.random.uniform([1]))) for _ in range(2))
    assert drawn(*first()) == drawn(*second()) == [0.130471, 0.168981]
    assert drawn(*first()) == drawn(*second()) != [0.130471, 0.168981]
    same = tf.function(lambda: (tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1)))
    assert drawn(*same()) == [0.168981, 0.168981]
    assert drawn(*same()) == [0.753908, 0.753908]
    tf.random.set_seed(1234)
    assert drawn(*same()) == [0.168981, 0.168981]


def test_an_operation_in_a_loop_goes_on_with_its_stream():
    tf.random.set_seed(1234)

    @tf.function
    def f():
        total = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            total = total.write(i, tf.random.uniform([1], seed=1)[0])
        return total.stack()

    a, b = f().numpy(), f().numpy()
    assert len({*a, *b}) == 6


def test_each_session_begins_anew():
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(3)
        a, b, c = tf.random.normal([1], seed=1), tf.random.normal([1], seed=1), tf.random.normal([1])
        runs = []
        for _ in range(2):
            with tf.compat.v1.Session() as session:
                runs.append([drawn(*session.run([a, b, c])) for _ in range(2)])
    assert runs[0] == runs[1]
    (first, second), _ = runs
    assert first[0] == first[1] != first[2]
    assert second[0] == second[1] != first[0]


def test_dropped_functions_leave_no_streams():
    tf.random.set_seed(1)
    f = tf.function(lambda: tf.random.uniform([1], seed=1))
    f()
    before = len(seeds.state.streams._of_operations)
    del f
    gc.collect()
    assert len(seeds.state.streams._of_operations) == before - 1


@pytest.mark.parametrize(
    ("key", "counter"), [(0, 0), (2**64 - 1, 2**128 - 1), (7, 2**64 - 1), (5, 2**32 - 2), (2**40 + 3, 2**96 - 3)]
)
def test_the_words_of_a_stream_are_its_blocks(key, counter):
    device = torch.device("cpu")
    words = Philox(key, counter).words(2500, device)
    for start in (0, 1, 2047, 2049, 2496):
        few = Philox(key, counter).skipped(start).words(4, device)  # computed one by one
        np.testing.assert_array_equal(words[start : start + 4], few)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_many_numbers_are_those_of_the_stream_in_its_order(dtype):
    """More numbers than are converted at once."""
    stream, size = philox.from_seed([1, 2]), 4 if dtype == "float32" else 2
    many = tf.random.stateless_uniform([150_001], [1, 2], maxval=1 if dtype != "int64" else 1000, dtype=dtype)
    for block in (0, 16383, 16384, 32768):
        words = stream.skipped(block).words(3, torch.device("cpu"))
        convert = philox.to_range if dtype == "int64" else philox.to_uniform
        part = convert(words, getattr(torch, dtype), *((0, 1000) if dtype == "int64" else ()))
        np.testing.assert_array_equal(many[block * size : block * size + len(part)], part)


def test_scaled_numbers_are_the_same_under_a_tape():
    draw = lambda: tf.random.stateless_uniform([7], [1, 2], -0.3, 0.7)  # noqa: E731
    with tf.GradientTape():
        recorded = draw()
    np.testing.assert_array_equal(draw(), recorded)


def test_a_symbolic_seed_is_refused_in_the_words_that_libraries_look_for():
    with pytest.raises(TypeError, match="Expected int for argument 'seed2' not"):
        tf.function(lambda seed: tf.random.normal([2], seed=seed))(tf.constant(3))
