"""A program that turns NumPy's behavior on, which can't be undone, and says what expressions give.

    python numpy_behavior.py MODULE OPTION=VALUE ...

Run with "tensorflow" as the module, it writes what `tests/fixtures/numpy_behavior.json` holds for the options.
"""

import importlib
import json
import sys

import numpy as np

tf = importlib.import_module(sys.argv[1])
tnp = tf.experimental.numpy
tnp.experimental_enable_numpy_behavior(**{k: json.loads(v) for k, v in (a.split("=") for a in sys.argv[2:])})

f, i, b = tf.constant([1.0, 2.0]), tf.constant([1, 2]), tf.constant([True, False])
m = tf.constant([[1, 2, 3], [4, 5, 6]])
x = tf.reshape(tf.range(24), [2, 3, 4])
var = tf.Variable([1.0, 2.0])
EXPRESSIONS = """
i + f
i + 2.5
2.5 + i
f + np.float64([1,2])
np.float64([1,2]) + f
f * i
i / 2
f // 2
i ** 2.5
2 ** f
i % f
i < 1.5
i == f
f != i
i >= np.float64(1.5)
i == None
b & [True, True]
b | b
i ^ tf.constant([1,2],tf.int64)
b + 1
b + b
b * b
b < b
-i
+i
var + 1
var + i
i + var
var * 2.5
f @ f
m @ [1., 2., 3.]
[1,2] @ m
m.T
m.ndim
m.size
m.reshape(3, 2)
m.reshape((3, -1))
m.reshape(6, order='F')
m.ravel()
m.flatten()
m.transpose()
m.transpose([0, 1])
m.astype(tf.float32)
m.astype(float)
m.clip(2, 4)
m.max()
m.min(axis=0)
m.mean()
m.mean(1)
m.tolist()
m.data
round(tf.constant([1.26]), 1)
round(f)
x[[0, 1]]
x[0, [0, 2]]
x[:, [0, 2]]
x[[0, 1], [1, 2]]
x[[0, 1], :, [1, 2]]
x[:, [0, 1], [1, 2]]
x[..., [0, 1]]
x[0, ..., [0, 1]]
x[..., [0, 1], 0]
x[[[0], [1]], [[0, 1]]]
x[:, None, [0]]
x[None, [0, -1]]
x[tf.constant([True, False])]
x[x > 5]
x[:, [True, False, True]]
x[:, :, tf.constant([0, 3])]
x[-1, -1]
x[tf.constant(1)]
x[np.int64(1)]
x[1:, ::2]
x[(0, 1)]
x[[0]]
x[:, [0], :, None]
x[1.5]
x['a']
x[True]
tnp.add(1, 2.5)
tnp.array(1.5)
tnp.zeros([1])
f + 1.5
i + 1.5
tf.constant([1.], tf.float16) + 1.5
tnp.ones([1])
tnp.mean([1, 2])
tnp.random.rand(1).dtype
tnp.linspace(0, 1, 2)
tf.constant(2.)+tf.constant(1)
tf.add(f, 1)
tf.constant([1.5]) + 1j
tf.function(lambda a, b: a + b)(i, f)
tf.function(lambda a: a[[0, 1], [1, 2]])(x)
tf.function(lambda a: a.T)(m)
tf.function(lambda a: a.tolist())(m)
"""


def result_of(expression):
    """What an expression gives, as text: a dtype, a shape and values, or the class of an error."""
    try:
        value = eval(expression)
    except Exception as error:
        return type(error).__name__
    if isinstance(value, tf.Tensor):
        return f"{value.dtype.name} {value.shape} {np.array(value).tolist()}"
    return repr(value)


print(json.dumps({e: result_of(e) for e in EXPRESSIONS.strip().splitlines()}, indent=0))
