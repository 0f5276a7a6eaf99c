"""`tf.random.Generator`: states, streams, draws and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R = tf.random
G = tf.random.Generator


def seeded(seed=5, **options):
    return G.from_seed(seed, **options)


def twice(draw, seed=5):
    """Draws twice from a generator, and returns its state after that, too."""
    g = seeded(seed)
    return [draw(g), draw(g), g.state.read_value()]


def state(g):
    return g.state.read_value()


def after(change, seed=5):
    """Returns the state of a generator that was changed, and a draw."""
    g = seeded(seed)
    change(g)
    return state(g), g.normal([2])


def in_function(draw):
    g = seeded()
    return [tf.function(lambda: draw(g))(), state(g)]


ROWS = read_rows(r"""
twice(lambda g: g.normal([3]))
    (float32 [3] [1.0279, 0.27974, -0.013479]; float32 [3] [-1.657, 0.98407, 1.1901]; int64 [3] [1541, 0, 0])
twice(lambda g: g.normal([2, 2], 1.0, 5.0))
    (float32 [2, 2] [[6.1393, 2.3987], [0.9326, 10.226]]; float32 [2, 2] [[-7.2451, 9.2519], [2.0925, -3.8561]]; int64
    [3] [2053, 0, 0])
twice(lambda g: g.normal([3], [1.0, 2.0, 3.0], 0.5))
    (float32 [3] [1.5139, 2.1399, 2.9933]; float32 [3] [0.1715, 2.492, 3.5951]; int64 [3] [1541, 0, 0])
twice(lambda g: g.normal([3], dtype=tf.float64))
    (float64 [3] [0.29186, -1.0778, 0.27007]; float64 [3] [1.5169, -0.69202, 0.13365]; int64 [3] [1541, 0, 0])
twice(lambda g: g.normal([]))
    (float32 [] 1.0279; float32 [] -1.3256; int64 [3] [517, 0, 0])
twice(lambda g: g.normal([0]))
    (float32 [0] []; float32 [0] []; int64 [3] [5, 0, 0])
twice(lambda g: g.truncated_normal([3]))
    (float32 [3] [1.0279, 0.27974, -0.013479]; float32 [3] [-1.657, 0.98407, 1.1901]; int64 [3] [1541, 0, 0])
twice(lambda g: g.truncated_normal([3], 1.0, 5.0))
    (float32 [3] [6.1393, 2.3987, 0.9326]; float32 [3] [-7.285, 5.9204, 6.9507]; int64 [3] [1541, 0, 0])
twice(lambda g: g.truncated_normal([3], dtype=tf.float64))
    (float64 [3] [0.29186, -1.0778, 0.82133]; float64 [3] [1.5169, -0.69202, 0.76783]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3]))
    (float32 [3] [0.56702, 0.20771, 0.18224]; float32 [3] [0.15614, 0.83529, 0.16477]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], 1, 5))
    (float32 [3] [3.2681, 1.8308, 1.729]; float32 [3] [1.6246, 4.3412, 1.6591]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], maxval=5.0))
    (float32 [3] [2.8351, 1.0385, 0.91119]; float32 [3] [0.78069, 4.1765, 0.82383]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], 1.0, 5.0, tf.float64))
    (float64 [3] [3.1445, 2.8316, 4.8242]; float64 [3] [1.9964, 2.2725, 2.8672]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], -3, 9, tf.int32))
    (int32 [3] [0, -1, 7]; int32 [3] [8, -1, 3]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], -3, 9, tf.int64))
    (int64 [3] [8, -1, 5]; int64 [3] [4, -1, -3]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], None, None, tf.int32))
    (int32 [3] [1934136315, 119182898, -1416146022]; int32 [3] [294911063, -1964315930, -577431802]; int64 [3] [1541, 0,
    0])
twice(lambda g: g.uniform([3], None, None, tf.uint64))
    (uint64 [3] [511886651086640123, 6557199171514225562, 14893558121450392568]; uint64 [3] [10010071395642637399,
    2211887210307065606, 3531897515660507136]; int64 [3] [1541, 0, 0])
twice(lambda g: g.uniform([3], None, 9, tf.int32))
    ValueError: For integer dtype <dtype: 'int32'>, minval and maxval must be both `None` or both non-`None`; got
    minval=None and maxval=9
twice(lambda g: g.uniform([3], 1, None, tf.int32))
    ValueError: For integer dtype <dtype: 'int32'>, minval and maxval must be both `None` or both non-`None`; got
    minval=1 and maxval=None
twice(lambda g: g.uniform([3], dtype=tf.int32))
    ValueError: For integer dtype <dtype: 'int32'>, minval and maxval must be both `None` or both non-`None`; got
    minval=0 and maxval=None
twice(lambda g: g.uniform([3], 5, 5, tf.int32))
    InvalidArgumentError: Need minval < maxval, got 5 >= 5
twice(lambda g: g.uniform_full_int([2]))
    (uint64 [2] [511886651086640123, 6557199171514225562]; uint64 [2] [4747590091632429830, 10899996719483229615]; int64
    [3] [1029, 0, 0])
twice(lambda g: g.uniform_full_int([2], tf.int32))
    (int32 [2] [1934136315, 119182898]; int32 [2] [-689288442, 1105384456]; int64 [3] [1029, 0, 0])
twice(lambda g: g.uniform_full_int([2], dtype=tf.uint32))
    (uint32 [2] [1934136315, 119182898]; uint32 [2] [3605678854, 1105384456]; int64 [3] [1029, 0, 0])
twice(lambda g: g.binomial([3], 10.0, 0.5))
    (int32 [3] [5, 5, 4]; int32 [3] [6, 7, 4]; int64 [3] [153605, 0, 0])
twice(lambda g: g.binomial([3, 2], [10.0, 50.0], [0.3, 0.9]))
    (int32 [3, 2] [[3, 45], [4, 45], [3, 43]]; int32 [3, 2] [[3, 42], [2, 49], [3, 46]]; int64 [3] [307205, 0, 0])
twice(lambda g: g.binomial([3], 10.0, 0.5, tf.int64))
    (int64 [3] [5, 5, 4]; int64 [3] [6, 7, 4]; int64 [3] [153605, 0, 0])
twice(lambda g: g.binomial([3], 10.0, 0.5, dtype=tf.float32))
    (float32 [3] [5, 5, 4]; float32 [3] [6, 7, 4]; int64 [3] [153605, 0, 0])
twice(lambda g: g.binomial([2], [10.0, 9.0, 8.0], 0.5))
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
twice(lambda g: g.make_seeds())
    (int64 [2, 1] [[511886651086640123], [0]]; int64 [2, 1] [[4384105642301632058], [0]]; int64 [3] [517, 0, 0])
twice(lambda g: g.make_seeds(2))
    (int64 [2, 2] [[511886651086640123, 6557199171514225562], [0, 0]]; int64 [2, 2] [[4747590091632429830,
    -7546747354226322001], [0, 0]]; int64 [3] [1029, 0, 0])
twice(lambda g: [state(h) for h in g.split(2)])
    ((int64 [3] [0, 0, 511886651086640123]; int64 [3] [0, 0, 6557199171514225562]); (int64 [3] [0, 0,
    4747590091632429830]; int64 [3] [0, 0, -7546747354226322001]); int64 [3] [1029, 0, 0])
twice(lambda g: [state(h) for h in g.split()])
    ((int64 [3] [0, 0, 511886651086640123]); (int64 [3] [0, 0, 4384105642301632058]); int64 [3] [517, 0, 0])
twice(lambda g: g.skip(3))
    (int64 [3] [5, 0, 0]; int64 [3] [773, 0, 0]; int64 [3] [1541, 0, 0])
twice(lambda g: g.skip(tf.constant(2, tf.int64)))
    (int64 [3] [5, 0, 0]; int64 [3] [517, 0, 0]; int64 [3] [1029, 0, 0])
twice(lambda g: g.normal(tf.constant([2])))
    (float32 [2] [1.0279, 0.27974]; float32 [2] [-0.60377, 0.084365]; int64 [3] [1029, 0, 0])
twice(lambda g: g.normal((2, 1)))
    (float32 [2, 1] [[1.0279], [0.27974]]; float32 [2, 1] [[-0.60377], [0.084365]]; int64 [3] [1029, 0, 0])
twice(lambda g: g.normal(3))
    InvalidArgumentError: shape must be a vector of {int32,int64}, got shape []
twice(lambda g: g.normal([-1]))
    InvalidArgumentError: Dimension -1 must be >= 0
twice(lambda g: g.normal([2], dtype=tf.int32))
    TypeError: Cannot convert 0.0 to EagerTensor of dtype int32
twice(lambda g: g.uniform([tf.constant(2), 1]))
    (float32 [2, 1] [[0.56702], [0.20771]]; float32 [2, 1] [[0.83041], [0.7721]]; int64 [3] [1029, 0, 0])
in_function(lambda g: g.normal([2]))
    (float32 [2] [1.0279, 0.27974]; int64 [3] [517, 0, 0])
in_function(lambda g: g.uniform([2], 1, 9, tf.int32))
    (int32 [2] [4, 3]; int64 [3] [517, 0, 0])
in_function(lambda g: g.binomial([2], 10.0, 0.5))
    (int32 [2] [5, 5]; int64 [3] [64005, 0, 0])
in_function(lambda g: g.make_seeds(2))
    (int64 [2, 2] [[511886651086640123, 6557199171514225562], [0, 0]]; int64 [3] [517, 0, 0])
in_function(lambda g: g.normal([tf.constant(2) + tf.cast(g.state[0] * 0, tf.int32)]))
    (float32 [2] [1.0279, 0.27974]; int64 [3] [517, 0, 0])
in_function(lambda g: g.key)
    (int64 [] 0; int64 [3] [5, 0, 0])
[state(seeded(s)) for s in (0, 1, -1, 2**64 + 5, 2**130)]
    (int64 [3] [0, 0, 0]; int64 [3] [1, 0, 0]; int64 [3] [-1, -1, -1]; int64 [3] [5, 1, 0]; int64 [3] [0, 0, 4])
[state(seeded(s)) for s in ([1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [[1, 2], [3, 4]])]
    (int64 [3] [0, 0, 1]; int64 [3] [0, 1, 2]; int64 [3] [1, 2, 3]; int64 [3] [1, 2, 3]; int64 [3] [1, 2, 3])
state(seeded([2**63, 1]))
    int64 [3] [0, -9223372036854775808, 1]
state(seeded(tf.constant([1, 2])))
    int64 [3] [0, 1, 2]
state(seeded(5, alg='philox'))
    int64 [3] [5, 0, 0]
state(seeded(5, alg=1))
    int64 [3] [5, 0, 0]
state(seeded(5, alg='threefry'))
    int64 [2] [5, 0]
state(seeded(5, alg=R.Algorithm.THREEFRY))
    int64 [2] [5, 0]
state(seeded(5, alg='auto_select'))
    int64 [3] [5, 0, 0]
seeded(5, alg='threefry').normal([2])
    UnimplementedError: Non-XLA devices don't support the ThreeFry algorithm.
seeded(5, alg='other')
    ValueError: Argument `alg` got unsupported value other. Supported values are philox for the Philox algorithm,
    threefry for the ThreeFry algorithm, and auto_select for auto-selection.
seeded(5, alg=1.5)
    TypeError: Can't convert argument `alg` (of value 1.5 and type <class 'float'>) to int.
[seeded(5, alg=a).algorithm for a in (None, 1, 2, 'philox', 'threefry', R.Algorithm.PHILOX)]
    (1; 1; 2; 1; 2; 1)
seeded().key
    int64 [] 0
state(G.from_state([1, 2, 3], 'philox'))
    int64 [3] [1, 2, 3]
G.from_state([1, 2, 3], 'philox').normal([2])
    float32 [2] [-0.26016, -1.2205]
state(G.from_state(tf.constant([1, 2, 3], tf.int64), 1))
    int64 [3] [1, 2, 3]
state(G.from_state([1, 2], 'threefry'))
    int64 [2] [1, 2]
G.from_state([1, 2], 'philox')
    ValueError: Shapes (2,) and [3] are incompatible
G.from_state([1, 2, 3], 'threefry')
    ValueError: Shapes (3,) and [2] are incompatible
G.from_state([1, 2, 3], None)
    AssertionError:
state(G.from_state(seeded().state, 'philox'))
    int64 [3] [5, 0, 0]
state(G.from_key_counter(7, [1, 2], 'philox'))
    int64 [3] [1, 2, 7]
G.from_key_counter(7, [1, 2], 'philox').normal([2])
    float32 [2] [-1.6158, 1.4011]
state(G.from_key_counter(7, [1], 'threefry'))
    int64 [2] [1, 7]
G.from_key_counter(7, [1], 'philox')
    ValueError: Shapes (1,) and [2] are incompatible
G.from_key_counter([7], [1, 2], 'philox')
    ValueError: Shapes (1,) and [] are incompatible
G.from_non_deterministic_state().state.shape
    TensorShape([3])
G.from_non_deterministic_state(alg='threefry').state.shape
    TensorShape([2])
G.from_non_deterministic_state(alg='philox').algorithm
    1
state(G(copy_from=seeded()))
    int64 [3] [5, 0, 0]
G(copy_from=seeded(5, alg='threefry')).algorithm
    2
G(copy_from=seeded(), alg='philox')
    AssertionError:
G(copy_from=seeded(), state=[1, 2, 3])
    AssertionError:
G(state=[1, 2, 3])
    AssertionError:
G(alg='philox')
    AssertionError:
G()
    AssertionError:
state(G(state=[1, 2, 3], alg='philox'))
    int64 [3] [1, 2, 3]
G.from_state(tf.Variable([1, 2, 3], dtype=tf.int32), 'philox').normal([2])
    InvalidArgumentError: dtype of RNG state variable must be int64, not int32
after(lambda g: g.reset([7, 8, 9]))
    (int64 [3] [7, 8, 9]; float32 [2] [0.81943, 0.098411])
after(lambda g: g.reset(tf.constant([7, 8, 9], tf.int64)))
    (int64 [3] [7, 8, 9]; float32 [2] [0.81943, 0.098411])
after(lambda g: g.reset([7, 8]))
    ValueError: Shapes (2,) and [3] are incompatible
after(lambda g: g.reset_from_seed(11))
    (int64 [3] [11, 0, 0]; float32 [2] [0.27306, -0.29926])
after(lambda g: g.reset_from_seed([1, 2]))
    (int64 [3] [0, 1, 2]; float32 [2] [1.1883, -1.2064])
after(lambda g: g.reset_from_key_counter(7, [1, 2]))
    (int64 [3] [1, 2, 7]; float32 [2] [-1.6158, 1.4011])
after(lambda g: g.reset_from_key_counter(7, [1]))
    ValueError: Shapes (1,) and [2] are incompatible
after(lambda g: g.reset_from_key_counter([7], [1, 2]))
    ValueError: Shapes (1,) and [] are incompatible
after(lambda g: g.skip(5))
    (int64 [3] [1285, 0, 0]; float32 [2] [-0.098063, -0.25429])
after(lambda g: g.skip(2**60))
    (int64 [3] [5, 0, 0]; float32 [2] [1.0279, 0.27974])
after(lambda g: g.reset([-1, 0, 9]) or g.skip(1))
    (int64 [3] [255, 1, 9]; float32 [2] [0.69212, -0.6])
after(lambda g: g.reset([-1, -1, 9]) or g.skip(1))
    (int64 [3] [255, 0, 9]; float32 [2] [-0.47233, -0.66068])
R.create_rng_state(5, 'philox')
    int64 [3] [5, 0, 0]
R.create_rng_state(5, 'threefry')
    int64 [2] [5, 0]
R.create_rng_state([1, 2], 1)
    int64 [3] [0, 1, 2]
R.create_rng_state([1, 2, 3, 4], 'philox')
    int64 [3] [1, 2, 3]
R.create_rng_state(2**70, 'philox')
    int64 [3] [0, 64, 0]
R.create_rng_state(-1, 'philox')
    int64 [3] [-1, -1, -1]
R.create_rng_state(5, 'other')
    ValueError: Argument `alg` got unsupported value other. Supported values are philox for the Philox algorithm,
    threefry for the ThreeFry algorithm, and auto_select for auto-selection.
R.create_rng_state(tf.constant([5]), 'philox')
    int64 [3] [0, 0, 5]
[R.set_global_generator(seeded()), R.get_global_generator().normal([2]), R.get_global_generator().normal([2])][1:]
    (float32 [2] [1.0279, 0.27974]; float32 [2] [-0.60377, 0.084365])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
