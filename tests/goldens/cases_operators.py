"""Python's operators on tensors and variables."""

from goldens.case import Group

GROUP = Group()

# Every arithmetic operator in both directions, with what can stand on the other side.
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**"]
OTHERS = [
    "2",
    "True",
    "[1, 2, 3]",
    "(3, 2, 1)",
    "np.array([3, 2, 1], np.float32)",
    "np.float32(2)",
    "np.int64(2)",
    "2.5",
]
GROUP.family("tf.constant([1., 2., 3.]) {op} {other}", op=ARITHMETIC, other=OTHERS)
GROUP.family("{other} {op} tf.constant([1., 2., 4.])", op=ARITHMETIC, other=["2", "2.5", "[1, 2, 3]", "(3, 2, 1)"])
GROUP.family("np.array([3, 2, 1], np.float32) {op} tf.constant([1., 2., 4.])", op=ARITHMETIC)
GROUP.family("tf.constant([[7, -7], [5, -5]]) {op} tf.constant([3, -3])", op=["+", "-", "*", "/", "//", "%"])
GROUP.family("tf.constant([7.5, -7.5]) {op} tf.constant([[2.0], [-2.0]])", op=["+", "-", "*", "/", "//", "%"])
GROUP.family(
    "tf.constant([3, 7], tf.{dtype}) {op} tf.constant(2, tf.{dtype})",
    op=ARITHMETIC,
    dtype="int64 float16 bfloat16 float64",
)
GROUP.family(
    "tf.constant([3, 7], tf.{dtype}) {op} 2",
    op=["+", "-", "*", "/", "//", "%"],
    dtype="int8 uint8 int16 uint16 uint32 uint64",
)
GROUP.family(
    "tf.constant([1+2j, 3-1j], tf.{dtype}) {op} (2-1j)", op=["+", "-", "*", "/", "**"], dtype="complex64 complex128"
)

# Comparison.
COMPARISON = ["<", "<=", ">", ">=", "==", "!="]
GROUP.family(
    "tf.constant([1, 2, 3]) {op} {other}",
    op=COMPARISON,
    other=["2", "[3, 2, 1]", "tf.constant(2)", "np.array([1, 1, 5])"],
)
GROUP.family("2.5 {op} tf.constant([1.5, 2.5, float('nan')])", op=COMPARISON)
GROUP.family("np.array([1, 2]) {op} tf.constant([2, 2])", op=COMPARISON)

# Logic and bits.
GROUP.family(
    "tf.constant([True, True, False]) {op} {other}",
    op="& | ^",
    other=["tf.constant([True, False, False])", "True", "[False, True, True]"],
)
GROUP.family("tf.constant([12, 10]) {op} {other}", op="& | ^", other=["tf.constant([10, 3])", "6"])
GROUP.family("True {op} tf.constant([True, False])", op="& | ^")

GROUP.values("""
-tf.constant([1, -2])
-tf.constant([1.5, float('inf'), 0.0])
-tf.constant(1 + 2j)
~tf.constant([True, False])
~tf.constant([0, 5, -1])
abs(tf.constant([-1, 2]))
abs(tf.constant([-1.5, 2]))
abs(tf.constant(3 + 4j))
tf.constant([[1., 2.], [3., 4.]]) @ tf.constant([[1., 0.], [0., 2.]])
tf.constant([[1., 2.], [3., 4.]]) @ [[1., 0.], [0., 2.]]
[[1., 0.], [0., 2.]] @ tf.constant([[1., 2.], [3., 4.]])
np.eye(2, dtype=np.float32) @ tf.constant([[1., 2.], [3., 4.]])
tf.constant([[1., 2.], [3., 4.]]) @ np.ones([2, 1], np.float32)
tf.ones([2, 3, 4]) @ tf.ones([4, 2])
tf.ones([5, 1, 2, 3]) @ tf.ones([4, 3, 2])
tf.constant([[1, 2], [3, 4]]) @ tf.constant([[1, 2], [3, 4]])
tf.constant([1, 2]) + tf.constant([[1], [2]])
tf.zeros([0, 3]) + tf.ones([3])
tf.zeros([0]) * 2.0
tf.constant(3) + tf.constant(4)
tf.constant('a') + tf.constant(['b', 'c'])
tf.constant('a') + 'b'
'a' + tf.constant('b')
tf.constant(['x']) + b'y'
tf.constant('a') == 'a'
tf.constant(['a', 'b']) == tf.constant(['a', 'c'])
tf.constant('a') != 'b'
tf.constant([1, 2]) == tf.constant([1, 2, 3])
tf.constant([1, 2]) != tf.constant([1, 2, 3])
tf.constant([1, 2]) == None
tf.constant([1, 2]) != None
tf.constant([1, 2]) == [1, 2, 3]
tf.constant(True) == True
tf.constant([True]) != False
bool(tf.constant(3))
bool(tf.constant(0.0))
bool(tf.constant([1]))
bool(tf.constant(''))
bool(tf.constant('a'))
int(tf.constant(3.7))
float(tf.constant(3))
complex(tf.constant(1 + 2j))
complex(tf.constant(1.0))
len(tf.constant([1, 2, 3]))
len(tf.zeros([2, 5]))
list(tf.constant([1, 2]))
list(tf.constant(['a', 'b']))
[10, 20, 30][tf.constant(1)]
list(range(tf.constant(3)))
hex(tf.constant(255))
tf.constant(5).__index__()
tf.constant(2.0) in [tf.constant(2.0)]
3 in tf.constant([1, 2, 3])
np.add(tf.constant([1, 2]), 1)
np.sum(tf.constant([1, 2, 3]))
np.sqrt(tf.constant([4.0]))
np.array(tf.constant([[1, 2]]))
np.asarray(tf.constant(1.5))
tf.constant([1.0, 2.0]).__array__()
float(tf.constant(1.5, tf.bfloat16))
tf.constant(2) ** 3
2 ** tf.constant([1, 2, 3])
2.0 ** tf.constant([1., 2., -1.])
tf.constant(-2) ** 3
tf.constant(0) ** 0
tf.constant(-8.0) ** (1 / 3)
tf.constant(5) / tf.constant(2)
tf.constant(5, tf.int64) / 2
tf.constant(5, tf.int8) / tf.constant(2, tf.int8)
tf.constant(5, tf.int16) / 2
tf.constant(5, tf.uint8) / 2
tf.constant(5.5) // 2
tf.constant(-5) // 2
tf.constant(-5) % 3
tf.constant(5) % -3
tf.constant(-5.5) % 3
tf.constant(5.5) % -3
tf.constant([1.0, 0.0, -1.0]) / 0.0
tf.constant(5.0) // 0.0
tf.constant(5.0) % 0.0
tf.constant(2147483647) + 1
tf.constant(127, tf.int8) + 1
tf.constant(0, tf.uint8) - 1
tf.constant(300, tf.int16) * 300
tf.constant(1, tf.int64) + 2 ** 40
tf.constant(1.0) + np.float32(2)
tf.constant(1.0) + 3
tf.constant([1.0, 2.0]) + np.array([1, 2])
tf.constant(1.0, tf.float64) + np.array([1.5])
tf.constant(1, tf.int64) + np.int64(3)
tf.Variable(3.0) + 1
1 - tf.Variable(3.0)
tf.Variable([1.0, 2.0]) * tf.Variable([3.0, 4.0])
tf.Variable([1.0, 2.0]) * tf.constant([3.0, 4.0])
tf.constant([1.0, 2.0]) / tf.Variable([4.0, 5.0])
tf.Variable([1, 2]) ** 2
-tf.Variable([1, 2])
abs(tf.Variable([-1, 2]))
~tf.Variable([True])
tf.Variable([[1., 2.]]) @ tf.Variable([[1.], [2.]])
tf.Variable([1, 5]) < 3
tf.Variable([1, 5]) == tf.Variable([1, 4])
tf.Variable([1, 5]) != [1, 4]
3 // tf.Variable([2, 5])
7 % tf.Variable([2, 5])
2 ** tf.Variable([2, 3])
True & tf.Variable([True, False])
bool(tf.Variable(1))
int(tf.Variable(7))
float(tf.Variable(7.5))
bool(tf.Variable(0.0))
len(list(tf.Variable([1, 2, 3])))
tf.constant([1, 2, 3]).shape[0] + 1
tf.constant([1.0, 2.0]) + tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([0]), tf.constant([1, 2]))
tf.constant(1.0) + np.float64([1.5])
tf.constant(1) + np.array([1.5])
tf.constant(1, tf.int8) + 200
tf.constant(1) + 2 ** 40
tf.constant(1, tf.uint8) + (-1)
tf.constant(1) & True
bool(tf.zeros([0]))
""")

GROUP.snippets("""
# in-place operators make new tensors
x = y = tf.constant([1.0, 2.0])
x += 1
x *= 2
x -= 0.5
x /= 2
x **= 2
x //= 1
x %= 3
(x, y)

# in-place logic
x = tf.constant([True, False])
x &= True
x |= False
x ^= True
x

# a chain of comparisons on scalars
x = tf.constant(2)
1 < x < 3

# and, or, not on scalars
x = tf.constant(True)
y = tf.constant(False)
[x and y, x or y, not x]

# if on a scalar
'yes' if tf.constant([[1]]) else 'no'

# sum of a list of tensors
sum([tf.constant(1.0), tf.constant(2.0), tf.constant([3.0])])

# max of scalars
max(tf.constant(1.0), tf.constant(2.0))

# sorted scalars
sorted([tf.constant(3), tf.constant(1), tf.constant(2)])

# iterating unpacks the first axis
a, b = tf.constant([[1, 2], [3, 4]])
[b, a]

# a tensor's ref can be a key
x = tf.constant(1)
table = {x.ref(): 'one'}
(table[x.ref()], x.ref() == x.ref(), x.ref().deref() is x)

# equality of variables
v = tf.Variable(1)
(v == v, v.ref() == v.ref())

# a class with __radd__ is asked
class Other:
    def __radd__(self, other):
        return 'radd'
    def __rmul__(self, other):
        return 'rmul'
try:
    given = tf.constant(1) + Other()
except Exception as error:
    given = type(error).__name__
given

# iteration over a variable
[int(x) for x in tf.Variable([1, 2])]

# enumerate rows
[(i, x) for i, x in enumerate(tf.constant([[1.0], [2.0]]))]
""")

# Mixed dtypes and what can't be converted.
GROUP.family("tf.constant(1) {op} tf.constant(1.0)", op=[*ARITHMETIC, "<", "<=", ">", ">="], raises=True)
GROUP.family("tf.constant([1, 2]) {op} 1.5", op=["+", "-", "*", "//", "%", "**", "<", ">="], raises=True)
GROUP.family("1.5 {op} tf.constant([1, 2])", op=["+", "-", "*", "//", "%", "**"], raises=True)
GROUP.family("tf.constant([1., 2.]) {op} tf.constant([1., 2., 3.])", op=[*ARITHMETIC, "<", ">="], raises=True)
GROUP.family("tf.constant([1., 2.]) {op} 'a'", op=[*ARITHMETIC, "<", "@"], raises=True)
GROUP.family("tf.constant([1., 2.]) {op} None", op=[*ARITHMETIC, "<", "@", "&"], raises=True)
GROUP.family("tf.constant([True]) {op} tf.constant([True])", op=["+", "-", "/", "//", "%", "**"], raises=True)
GROUP.errors("""
+tf.constant([1.0])
tf.constant(1, tf.int32) + tf.constant(1, tf.int64)
tf.constant(1.0) + tf.constant(1.0, tf.float64)
tf.constant(1.0) + 1j
-tf.constant([True])
-tf.constant('a')
-tf.constant(1, tf.uint8)
~tf.constant(1.0)
abs(tf.constant('a'))
tf.constant(1.0) & tf.constant(1.0)
tf.constant([True]) & 1
tf.constant('a') < tf.constant('b')
tf.constant('a') - tf.constant('b')
tf.constant('a') + 1
1 + tf.constant('a')
tf.constant(1 + 2j) < tf.constant(1 + 2j)
tf.constant(1 + 2j) % 2
tf.constant(1) // 0
tf.constant([1, 2]) // tf.constant([1, 0])
tf.constant(1) % 0
tf.constant(2) ** -1
bool(tf.constant([1, 2]))
bool(tf.zeros([2, 2]))
int(tf.constant([1, 2]))
float(tf.constant('a'))
int(tf.constant('a'))
len(tf.constant(1))
list(tf.constant(1))
[1, 2, 3][tf.constant([1])]
hash(tf.constant(1))
{tf.constant(1): 1}
hash(tf.Variable(1))
len(tf.Variable(1.0))
tf.constant([1, 2]) < tf.constant([1, 2, 3])
tf.constant([[1., 2.]]) @ tf.constant([[1., 2.]])
tf.constant([1., 2.]) @ tf.constant([1., 2.])
tf.constant([[1]]) @ tf.constant([[1.0]])
tf.ones([2, 2, 3]) @ tf.ones([3, 3, 2])
tf.constant(1.0) @ tf.constant(1.0)
tf.constant([1.0]) + tf.ones([2, 2]).shape
'a' in tf.constant([1])
tf.Variable(1) + tf.Variable(1.0)
tf.Variable([1.0, 2.0]) + [1.0, 2.0, 3.0]
[1.0, 'a'] + tf.constant([1.0])
{} + tf.constant(1)
tf.constant([1.0]) + object()
tf.constant([1.0]) << 1
tf.constant([1, 2]) == 'a'
tf.constant(1) == tf.constant(1.0)
tf.constant(1) != tf.constant(1.0)
[1, 2, 3][tf.Variable(1)]
""")

# A bool is a number in a function.

GROUP.values("""
tf.function(lambda x: x % True)(tf.constant([3, 4], tf.bfloat16))
tf.function(lambda x: True - x)(tf.constant([3, 4], tf.uint8))
tf.function(lambda x: (x + True, x - True, True * x, x / True, x ** True))(tf.constant([1 + 2j]))
tf.function(lambda x: (x + True, x - True, True * x, x / True, x // True))(tf.constant([3, 4], tf.int8))
tf.raw_ops.NotEqual(x=[1, 2], y=[1, 2, 3], incompatible_shape_error=False)
tf.raw_ops.Equal(x=[1, 2], y=[1, 2, 3], incompatible_shape_error=False)
tf.raw_ops.Equal(x=[1, 2], y=[1, 3], incompatible_shape_error=False)
tf.function(lambda x, y: (x == y, x != y))(tf.constant([1, 2]), tf.constant([1, 2, 3]))
""")

GROUP.errors("""
tf.constant([3, 4], tf.bfloat16) % True
tf.constant([3, 4], tf.int8) - True
""")
