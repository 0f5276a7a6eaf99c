"""Fields of extension types: the values they take and refuse, and the messages. TensorFlow gave the outcomes."""

import typing
from collections.abc import Mapping

import numpy as np
import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

ExtensionType, Batchable = tf.experimental.ExtensionType, tf.experimental.BatchableExtensionType


class Point(ExtensionType):
    x: tf.Tensor
    y: tf.Tensor = 0.0


class Holder(ExtensionType):
    numbers: tuple[int, ...]
    pair: tuple[int, str]
    table: Mapping[str, tf.Tensor]
    choice: typing.Union[int, str]  # noqa: UP007
    point: Point
    dtype: tf.DType
    shape: tf.TensorShape
    flag: bool
    rate: float
    nothing: None


class Track(Batchable):
    values: tf.Tensor
    name: str = "t"


GOOD = {
    "numbers": (1, 2),
    "pair": (3, "a"),
    "table": {"k": tf.constant([1])},
    "choice": "c",
    "point": Point(1, 2),
    "dtype": tf.int32,
    "shape": [2, None],
    "flag": True,
    "rate": 0.5,
    "nothing": None,
}


def holder(**changes):
    return Holder(**{**GOOD, **changes})


def fields(value):
    return {name: getattr(value, name) for name in ("numbers", "pair", "choice", "dtype", "shape", "flag", "rate")}


def define(annotation, **defaults):
    """Defines a type with one field."""
    return type("Defined", (ExtensionType,), {"__annotations__": {"v": annotation}, "__module__": __name__, **defaults})


def specs(value):
    return tf.nest.flatten(tf.type_spec_from_value(value), expand_composites=True)


ROWS = read_rows(r"""
fields(holder())
    {numbers: (1; 2), pair: (3; 'a'), choice: 'c', dtype: tf.int32, shape: TensorShape([2, None]), flag: True, rate:
    0.5}
fields(holder(numbers=[1, 2, 3], shape=tf.TensorShape([1]), dtype='float32'))
    {numbers: (1; 2; 3), pair: (3; 'a'), choice: 'c', dtype: tf.float32, shape: TensorShape([1]), flag: True, rate:
    0.5}
holder(numbers=())
    Holder(numbers=(), pair=(3, 'a'), table=ImmutableDict({'k': <tf.Tensor: shape=(1,), dtype=int32,
    numpy=array([1], dtype=int32)>}), choice='c', point=Point(x=<tf.Tensor: shape=(), dtype=int32, numpy=1>,
    y=<tf.Tensor: shape=(), dtype=int32, numpy=2>), dtype=tf.int32, shape=TensorShape([2, None]), flag=True,
    rate=0.5, nothing=None)
holder(numbers=5)
    TypeError: numbers: expected tuple, got 'int'
holder(numbers=(1, 'a'))
    TypeError: numbers[1]: expected 'int', got 'str'
holder(pair=(1, 2))
    TypeError: pair[1]: expected 'str', got 'int'
holder(pair=(1,))
    TypeError: pair: expected tuple with length 2, got length 1
holder(pair=[1, 'b']).pair
    (1; 'b')
holder(pair='ab')
    TypeError: pair: expected tuple, got 'str'
holder(table={'k': 1, 'l': [2.5]}).table['l']
    float32 [1] [2.5]
holder(table=[1])
    TypeError: table: expected mapping, got 'list'
holder(table={1: 2})
    TypeError: table[<key>]: expected 'str', got 'int'
holder(table={'k': object()})
    TypeError: table['k']: expected a Tensor, got 'object'
holder(choice=5).choice
    5
holder(choice=1.5)
    TypeError: choice: expected typing.Union[int, str], got 'float'
holder(point=3)
    TypeError: point: expected 'Point', got 'int'
holder(point=Point(tf.constant([1.5]))).point.x
    float32 [1] [1.5]
holder(dtype='nothing')
    TypeError: dtype: expected 'tf.DType', got 'str'
holder(dtype=5.5)
    TypeError: dtype: expected 'tf.DType', got 'float'
holder(shape='a')
    TypeError: shape: expected 'tf.TensorShape', got 'str'
holder(shape=[[1]])
    TypeError: shape: expected 'tf.TensorShape', got 'list'
holder(flag=1)
    TypeError: flag: expected 'bool', got 'int'
holder(flag='a')
    TypeError: flag: expected 'bool', got 'str'
holder(rate='a')
    TypeError: rate: expected 'float', got 'str'
holder(rate=1)
    TypeError: rate: expected 'float', got 'int'
holder(nothing=0)
    TypeError: nothing: expected 'NoneType', got 'int'
Point(1).y
    float32 [] 0
Point(1, 'a').y
    string [] b'a'
Point(object())
    TypeError: x: expected a Tensor, got 'object'
Point()
    TypeError: missing a required argument: 'x'
Point(1, 2, 3)
    TypeError: too many positional arguments
Point(1, z=2)
    TypeError: got an unexpected keyword argument 'z'
Point(x=[1, 2], y=[[3]]).x
    int32 [2] [1, 2]
Point(tf.ragged.constant([[1], [2, 3]]))
    TypeError: x: expected a Tensor, got 'RaggedTensor'
define(int)(5).v
    5
define(int)('a')
    TypeError: v: expected 'int', got 'str'
define(int)(True).v
    True
define(str)('a').v
    'a'
define(bytes)(b'a').v
    b'a'
define(bool)(True).v
    True
define(float)(2.5).v
    2.5
define(type(None))(None).v
    None
define(list)
    TypeError: In field 'v': Unsupported type annotation 'list'
define(dict)
    TypeError: In field 'v': Unsupported type annotation 'dict'
define(object)
    TypeError: In field 'v': Unsupported type annotation 'object'
define(typing.List[int])
    TypeError: In field 'v': Unsupported type annotation typing.List[int]
define(tuple)
    TypeError: In field 'v': Unsupported type annotation 'tuple'
define(typing.Tuple)
    TypeError: In field 'v': Unsupported type annotation typing.Tuple
define(tuple[list, int])
    TypeError: In field 'v': Unsupported type annotation 'list'
define(Mapping)
    TypeError: In field 'v': Unsupported type annotation 'Mapping'
define(Mapping[str, list])
    TypeError: In field 'v': Unsupported type annotation 'list'
define(typing.Optional[int])(None).v
    None
define(typing.Optional[int])('a')
    TypeError: v: expected typing.Optional[int], got 'str'
define(typing.Union[int, list])
    TypeError: In field 'v': Unsupported type annotation 'list'
define(tuple[tf.Tensor, ...])(([1], 2.5)).v
    (int32 [1] [1]; float32 [] 2.5)
define(tuple[tuple[int, ...], ...])(((1, 2), ())).v
    ((1; 2); ())
define(Mapping[str, Mapping[str, int]])({'a': {'b': 1}}).v['a']['b']
    1
define(tf.RaggedTensor)(tf.ragged.constant([[1], []])).v
    int32 (2, None) [[1], []]
define(tf.RaggedTensor)([1])
    TypeError: v: expected 'RaggedTensor', got 'list'
define(tf.SparseTensor)([1])
    TypeError: v: expected 'SparseTensor', got 'list'
define(tf.TensorShape)(None).v
    TensorShape(None)
define(tf.TensorShape)(5).v
    TensorShape([5])
define(tf.DType)(float).v
    tf.float32
define('int')(7).v
    7
define(int, v=3)().v
    3
define(int, v='a')
    TypeError: default value for v: expected 'int', got 'str'
define(str, v='a')().v
    'a'
specs(Point(1, [2.5]))
    (TensorSpec(shape=(), dtype=tf.int32, name=None); TensorSpec(shape=(1,), dtype=tf.float32, name=None))
Point.Spec(tf.TensorSpec([]), tf.TensorSpec([2]))
    Point.Spec(x=TensorSpec(shape=(), dtype=tf.float32, name=None), y=TensorSpec(shape=(2,), dtype=tf.float32,
    name=None))
Point.Spec(tf.TensorSpec([]), 5)
    TypeError: y: expected a TensorSpec, got 'int'
Point.Spec(tf.TensorSpec([]), tf.RaggedTensorSpec([2, None]))
    TypeError: y: expected a TensorSpec, got 'RaggedTensorSpec'
Point.Spec(tf.RaggedTensorSpec([None], ragged_rank=0), tf.TensorSpec([]))
    Point.Spec(x=RaggedTensorSpec(TensorShape([None]), tf.float32, 0, tf.int64), y=TensorSpec(shape=(),
    dtype=tf.float32, name=None))
define(Point).Spec(5)
    TypeError: v: expected a TypeSpec for 'Point', got 'int'
define(Point).Spec(tf.TensorSpec([]))
    TypeError: v: expected a TypeSpec for 'Point', got 'TensorSpec'
define(Point).Spec(Point.Spec(tf.TensorSpec([]), tf.TensorSpec([]))).v.x
    TensorSpec(shape=(), dtype=tf.float32, name=None)
define(int).Spec(5).v
    5
define(int).Spec('a')
    TypeError: v: expected 'int', got 'str'
Point(1, 2) == Point(1, 2)
    bool [] True
Point(1, 2) == Point(1, 3)
    bool [] False
Point(1, 2) == Point([1], 2)
    False
Point(1, 2) == 5
    False
Point(1, 2) != Point(1, 3)
    bool [] True
holder() == holder()
    bool [] True
holder() == holder(flag=False)
    False
setattr(Point(1), 'x', 2)
    AttributeError: Cannot mutate attribute `x` outside the custom constructor of ExtensionType.
delattr(Point(1), 'x')
    AttributeError: Cannot mutate attribute `x` outside the custom constructor of ExtensionType.
hash(Point(1)) == hash(Point(1))
    TypeError: unhashable type: 'Point'
tf.nest.flatten(Point(1, 2), expand_composites=True)
    (int32 [] 1; int32 [] 2)
list(tf.data.Dataset.from_tensor_slices(Track([[1, 2], [3, 4]], 'n')).map(lambda t: t.values))
    (int32 [2] [1, 2]; int32 [2] [3, 4])
list(tf.data.Dataset.from_tensors(Track([1, 2])).batch(1).map(lambda t: t.values))
    (int32 [1, 2] [[1, 2]])
[t.name for t in [Track([1]), Track([1], 'z')]]
    ('t'; 'z')
tf.map_fn(lambda t: t.values * 2, Track([[1, 2], [3, 4]]), fn_output_signature=tf.int32)
    int32 [2, 2] [[2, 4], [6, 8]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_arrays_are_copied():
    values, table = np.array([1, 2]), {"k": tf.constant(1)}
    point, held = Point(values), holder(table=table)
    values[0], table["k"] = 9, tf.constant(9)
    assert point.x.numpy().tolist() == [1, 2] and held.table["k"].numpy() == 1
    with pytest.raises(TypeError):
        held.table["k"] = 5
