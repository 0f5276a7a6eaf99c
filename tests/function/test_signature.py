"""Parameters of functions, keys of traces, and specs of arguments."""

import collections
import functools
import inspect

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.types.spec import VariableSpec
from tapeflow.function.signature import (
    Signature,
    Variables,
    WeakKey,
    covers,
    describe_types,
    key_of,
    key_of_aliases,
    named_specs,
    spec_of,
    specs_of,
    without_aliases,
)

Pair = collections.namedtuple("Pair", "first second")
T = tf.TensorSpec


def key(value):
    return key_of(value, Variables())


class Unhashable:
    """Its instances are equal to each other, and have no hash."""

    __hash__ = None

    def __eq__(self, other):
        return True


class Equal:
    """Its instances are equal by their value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Equal) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


SHARED = [
    (1, 1),
    (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])),
    (tf.constant([1.0, 2.0]), np.array([3.0, 4.0], np.float32)),
    (tf.constant([1.0, 2.0]), torch.tensor([3.0, 4.0])),
    (tf.constant(1.0), np.float32(2.0)),
    (tf.constant([1.0, 2.0]), T([2])),
    ([1, (2, "a")], [1, (2, "a")]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (Equal(3), Equal(3)),
    (Pair(1, 2), Pair(1, 2)),
    (tf.Variable([1.0]), tf.Variable([2.0])),
    (tf.ragged.constant([[1], []]), tf.ragged.constant([[2], []])),
    (None, None),
    (collections.OrderedDict(a=1, b=2), collections.OrderedDict(a=1, b=2)),
]
DIFFERENT = [
    (1, True),
    (1, 1.0),
    (0, False),
    (1, tf.constant(1)),
    ("a", b"a"),
    (tf.constant([1.0, 2.0]), tf.constant([1, 2])),
    (tf.constant([1.0, 2.0]), tf.constant([1.0])),
    (tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0]])),
    ([1, 2], (1, 2)),
    ([1, 2], [1, 3]),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, [1]),
    (Equal(3), Equal(4)),
    (Pair(1, 2), (1, 2)),
    (Pair(1, 2), Pair(2, 1)),
    (tf.Variable([1.0]), tf.Variable([1.0], trainable=False)),
    (tf.Variable([1.0]), tf.Variable([1.0, 2.0])),
    (tf.Variable([1.0]), tf.constant([1.0])),
    (Unhashable(), Unhashable()),
    (lambda: 1, lambda: 1),
    (object(), object()),
    (T([None]), T([2])),
    (tf.ragged.constant([[1], []]), tf.ragged.constant([[1.0], []])),
    (None, 0),
    (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=1, a=2)),
]


@pytest.mark.parametrize(("first", "second"), SHARED)
def test_arguments_that_share_a_trace(first, second):
    assert key(first) == key(second) and hash(key(first)) == hash(key(second))
    assert covers(key(first), key(second)) and covers((key(first), 1), (key(second), 1))


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_arguments_with_traces_of_their_own(first, second):
    assert key(first) == key(first)
    assert key(first) != key(second) and key([first]) != key([second])


def test_tensors_of_arguments_are_collected_in_order():
    x, v, a = tf.constant(1.0), tf.Variable(2.0), np.float32(3.0)
    r = tf.ragged.constant([[4], [5, 6]])
    tensors = []
    key_of({"b": [x, 7, v], "a": (a, None), "c": r}, tensors)
    assert [float(t) for t in tensors[:3]] == [3.0, 1.0, 2.0] and tensors[1] is x and tensors[2] is v
    assert [t.numpy().tolist() for t in tensors[3:]] == [[4, 5, 6], [0, 1, 3]]
    variables = Variables()
    key_of({"b": [x, 7, v], "s": VariableSpec([2]), "t": T([None])}, variables)
    assert len(variables) == 2 and variables[0] is v and variables[1].shape == [2]
    variables.extend([x, v, None])
    assert len(variables) == 3


@pytest.mark.parametrize(
    ("general", "special", "expected"),
    [
        (T([None]), T([2]), True),
        (T([2]), T([None]), False),
        (T(None), T([2, 3]), True),
        (T([None, 3]), T([2, 3]), True),
        (T([None, 3]), T([2, 4]), False),
        (T([None]), T([2], tf.int32), False),
        ([T([None]), 1], [T([2]), 1], True),
        ([T([None]), 1], [T([2]), 2], False),
        ([T([None])], [T([2]), T([2])], False),
        (T([None]), 2, False),
        (VariableSpec([None]), VariableSpec([3]), True),
        (VariableSpec([3]), VariableSpec([None]), False),
        (VariableSpec([None]), VariableSpec([3], trainable=False), False),
        (VariableSpec([None]), T([3]), False),
        (tf.RaggedTensorSpec([None, None], tf.int32), tf.RaggedTensorSpec([2, None], tf.int32), True),
        (tf.RaggedTensorSpec([2, None], tf.int32), tf.RaggedTensorSpec([None, None], tf.int32), False),
    ],
)
def test_more_general_keys(general, special, expected):
    general, special = key_of(general, Variables()), key_of(special, Variables())
    assert covers(general, special) is expected
    assert covers((general, "x"), (special, "x")) is expected and covers((general,), (special, special)) is False


def test_keys_of_variables_that_are_the_same():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    assert key_of_aliases([v, w, v]) == ("aliases", 0, 1, 0) and key_of_aliases([w, v]) == ("aliases", 0, 1)
    x = tf.constant(1.0)
    found = without_aliases([v, x, w, v, x])
    assert len(found) == 4 and found[0] is v and found[1] is x and found[2] is w and found[3] is x


def test_weak_keys():
    class Thing:
        pass

    thing, other = Thing(), Thing()
    weak = WeakKey(thing)
    assert weak == WeakKey(thing) and hash(weak) == hash(WeakKey(thing)) and weak != WeakKey(other) and weak != thing
    assert repr(weak) == "<Thing object>"
    del thing
    assert weak != WeakKey(other) and not weak == weak  # noqa: SIM201
    number = 10**30
    assert WeakKey(number) == WeakKey(number)  # which takes no weak references


def test_specs_of_arguments():
    v, w = tf.Variable([1.0]), tf.Variable([[2]], trainable=False)
    given = (v, np.zeros([2, 3]), [w, v, "text"]), {"k": tf.constant(1), "r": tf.ragged.constant([[1]])}
    args, kwargs = specs_of(given)
    assert args[0] == VariableSpec([1], tf.float32, True, 0) and args[1] == T([2, 3], tf.float64)
    assert args[2] == [VariableSpec([1, 1], tf.int32, False, 1), args[0], "text"]
    assert kwargs["k"] == T([], tf.int32) and kwargs["r"] == tf.RaggedTensorSpec([1, None], tf.int32)
    assert spec_of("text") == "text" and spec_of(torch.zeros(2)) == T([2])


def test_named_specs():
    x = T([2])
    assert named_specs("a", x) == T([2], name="a") and named_specs("a", T([2], name="b")).name == "b"
    found = named_specs("a", [x, {"k": (x, 3)}, Pair(x, x)])
    assert found == [T([2], name="a_0"), {"k": (T([2], name="a_1_k_0"), 3)}, Pair(x, x)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "Literal[1]"),
        (None, "Literal[None]"),
        (b"a", "Literal[b'a']"),
        (1j, "Literal[1j]"),
        ([1, (2,)], "List[Literal[1], Tuple[Literal[2]]]"),
        ({"k": [True]}, "Dict[['k', List[Literal[True]]]]"),
        (T([2]), repr(T([2]))),
        (tf.float32, "Reference[tf.float32]"),
    ],
)
def test_texts_of_types(value, text):
    assert describe_types(value) == text


def sample(a, /, b, c=3, *, d, e=5):
    """A function with parameters of most kinds."""


def more(a, *rest, k=1, **others):
    """A function with the other kinds."""


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "expected"),
    [
        (sample, (1, 2), {"d": 4}, ((1, 2, 3), {"d": 4, "e": 5})),
        (sample, (1,), {"b": 2, "d": 4, "e": 6, "c": 7}, ((1, 2, 7), {"d": 4, "e": 6})),
        (more, (1, 2, 3), {}, ((1, 2, 3), {"k": 1})),
        (more, (1,), {"z": 2, "b": 3, "k": 4}, ((1,), {"b": 3, "k": 4, "z": 2})),
        (lambda: 0, (), {}, ((), {})),
        (lambda a, b=2: 0, (1,), {}, ((1, 2), {})),
        (lambda a, b=2: 0, (), {"a": 5}, ((5, 2), {})),
        (lambda *a: 0, (1, 2), {}, ((1, 2), {})),
        (lambda a=1, *b: 0, (), {}, ((1,), {})),
    ],
)
def test_arguments_in_canonical_form(function, args, kwargs, expected):
    given = dict(kwargs)
    found = Signature(function).bind(args, kwargs)
    assert found == expected and list(found[1]) == list(expected[1]) and kwargs == given
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    assert found == (bound.args, bound.kwargs)


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "said"),
    [
        (sample, (1, 2), {}, "missing a required argument: 'd'"),
        (sample, (), {"d": 4}, "missing a required argument: 'a'"),
        (sample, (1,), {"d": 4}, "missing a required argument: 'b'"),
        (sample, (1, 2, 3, 4), {"d": 4}, "too many positional arguments"),
        (sample, (1, 2), {"d": 4, "x": 5}, "got an unexpected keyword argument 'x'"),
        (sample, (1, 2), {"b": 4, "d": 4}, "multiple values for argument 'b'"),
        (more, (), {"k": 1}, "missing a required argument: 'a'"),
        (more, (1, 2), {"a": 1}, "multiple values for argument 'a'"),
        (lambda a: 0, (), {}, "missing a required argument: 'a'"),
        (lambda a: 0, (1, 2), {}, "too many positional arguments"),
    ],
)
def test_arguments_that_do_not_fit_the_parameters(function, args, kwargs, said):
    with pytest.raises(TypeError, match=said) as raised:
        Signature(function).bind(args, kwargs)
    assert str(raised.value).startswith("Binding inputs to tf.function failed due to `")
    assert f"Received args: {args} and kwargs: {kwargs} for signature: (" in str(raised.value)


def test_names_of_arguments():
    assert Signature(more).names((1, 2, 3), {"z": 1}) == ["a", "rest_0", "rest_1", "z"]
    assert Signature(sample).names((1, 2, 3), {"d": 1}) == ["a", "b", "c", "d"]
    assert Signature(sample).arg_names == ["a", "b", "c"] and Signature(sample).name == "sample"
    assert Signature(sample, bound=True).arg_names == ["b", "c"]
    partial = functools.partial(sample, 1)
    assert Signature(partial).arg_names == ["b", "c"] and Signature(partial).name == "partial"
    no_signature = Signature(type)  # which `inspect` does not know
    assert no_signature.bind((1, 2), {"k": 3}) == ((1, 2), {"k": 3})


def test_shown_parameters():
    expected = "(a, /, b, c=<captured_default_value>, *, d, e=<captured_default_value>)"
    assert Signature(sample).shown() == expected
    found = Signature(lambda x, y=2: x).shown([T([2])])
    assert found == f"(x: {T([2])!r}, y: Literal[2] = <captured_default_value>)"
